/* compress/codec.h: a compressed volume between its voxels and its file: how voxels become integers, how a brick becomes streams, what the file says. */
#ifndef TSR_COMPRESS_CODEC_H
#define TSR_COMPRESS_CODEC_H

#include <stdio.h>

#include "volume/volume.h"
#include "io/spool.h"
#include "io/stream.h"
#include "tessera/compress.h"
#include "tessera/wavelet.h"
#include "compress/bitplanes.h"
#include "wavelet/poll.h"
#include "compress/rans_isa.h"
#include "compress/samples.h"

#define TSR_TSC_MAGIC "\x93TSC\r\n\x1a\n"
enum {
    TSR_TSC_HEADER = 256,
    TSR_TSC_LEVELS = 6,
    TSR_TSC_STREAMS = TSR_TSC_LEVELS + 2, /* approximation, details of each level, exceptions */
    TSR_TSC_LAYERS = 32,
    TSR_TSC_EDGE = 256,     /* of a brick that is asked for, */
    TSR_TSC_LONG = 1 << 22, /* and of those that have no other extents to speak of */
    TSR_TSC_BRICK = 1 << 22 /* voxels of a brick at most */
};

/* One piece of the file: a layer of a stream of a brick. */
typedef struct tsr_tsc_piece {
    int64_t offset; /* in the file */
    uint32_t bytes, sum;
    uint8_t passes, there; /* there: the file is long enough for it */
} tsr_tsc_piece;

typedef struct tsr_tsc {
    int32_t image, map, coder, levels, layers, order, streams, resolutions, exceptions;
    int32_t raw; /* to be written: some brick is as it was */
    tsr_dtype dtype;
    int64_t size[3], bricks[3], brick_count, pieces;
    int32_t edge[3];
    tsr_geometry geometry;
    double slope, intercept, base_real, step, max_error;
    int64_t base;
    tsr_rans_model model; /* of the coder rans */
    tsr_tsc_piece *piece; /* [brick][stream][layer] */
    tsr_volume *meta;     /* one voxel: holder of the metadata, or NULL */
    int64_t first, bytes; /* of the pieces; of the complete file */
} tsr_tsc;

/* May samples of this type be an image's? */
static inline int tsr_tsc_takes_image(tsr_dtype dtype) { return dtype == TSR_U8 || dtype == TSR_U16; }

static inline tsr_code_map tsr_tsc_code_map(const tsr_tsc *t) { return (tsr_code_map){ t->map, t->dtype, t->base, t->base_real, t->step }; }

void tsr_tsc_clear(tsr_tsc *t);
/* Derived fields: bricks, streams, pieces. TSR_ERROR_ARGUMENT if the grid is impossible; `name` begins the message. */
tsr_status tsr_tsc_complete(tsr_tsc *t, const char *name);
tsr_status tsr_tsc_read(tsr_input *input, tsr_tsc *t);
/* The same of a file, which stays open. memory_limit 0: none. */
tsr_status tsr_tsc_open(const char *path, int64_t memory_limit, const tsr_progress *progress, tsr_input **input, tsr_tsc *t);
/* Is piece k there and undamaged? `content` is the whole file. */
int tsr_tsc_piece_good(const tsr_tsc *t, int64_t k, const uint8_t *content);
/* Number k of the file's order, 0 <= k < pieces, as an index of `piece`. */
int64_t tsr_tsc_ordered(const tsr_tsc *t, int64_t k);
/* Writes header, metadata of `volume` (may be NULL), directory and pieces; bytes[i] of piece i, some of them mapped from `spool` (may be NULL). Sets
 * sums and offsets. */
tsr_status tsr_tsc_write(tsr_tsc *t, const tsr_volume *volume, const uint8_t *const *bytes, tsr_spool *spool, const char *path,
                         const tsr_write_options *options, int64_t *file_bytes);
/* Bytes of a file with the pieces as they are, for rate control. */
int64_t tsr_tsc_measure(const tsr_tsc *t, const tsr_volume *volume);
tsr_compress_info tsr_tsc_describe(const tsr_tsc *t);
tsr_status tsr_tsc_decode(tsr_input *input, const tsr_tsc *t, const tsr_decompress_options *options, tsr_volume **volume, tsr_compress_info *info);
/* The voxels in a nameless file (`beside` as in tsr_spool_open) instead of memory, of which options->memory_limit is used; *header RETURNS NEW
 * volume that has all but the voxels: its data must not be touched. */
tsr_status tsr_tsc_decode_spool(tsr_input *input, const tsr_tsc *t, const tsr_decompress_options *options, const char *beside, tsr_spool **spool,
                                tsr_volume **header, tsr_compress_info *info);

/* What options ask for: extents, place and bricks. */
typedef struct tsr_tsc_region {
    tsr_size3 size;
    tsr_geometry geometry;
    int64_t origin[3]; /* in the reduced resolution */
    int64_t grid[2][3];
} tsr_tsc_region;
tsr_status tsr_tsc_find_region(const tsr_tsc *t, const tsr_decompress_options *options, const char *name, tsr_tsc_region *region);
/* A volume with the file's metadata, in memory of `context`; `data`: where the voxels are, or NULL for room of its own. */
tsr_status tsr_tsc_create_volume(const tsr_tsc *t, tsr_context *context, tsr_size3 extents, const tsr_geometry *g, void *data, tsr_volume **volume);

/* ---- bricks ----------------------------------------------------------------------------------------------------------------------------------- */

enum { TSR_CODEC_BANDS = 1 + TSR_PLANES_BANDS * TSR_TSC_LEVELS };
typedef struct tsr_codec_bands {
    int32_t count, level[TSR_CODEC_BANDS]; /* level 0: the approximation */
    int64_t offset[TSR_CODEC_BANDS];
    tsr_planes_band band[TSR_CODEC_BANDS];
} tsr_codec_bands;

/* Plans of the shapes that bricks have: full or the last along each axis. Immutable, used by all threads. */
typedef struct tsr_codec {
    const tsr_tsc *t;
    int32_t reduce;
    tsr_context *context;
    tsr_wavelet_plan *plan[8];
    tsr_codec_bands bands[8];
    int32_t
        narrow_bits[TSR_TSC_LEVELS + 1]; /* to encode by fast or rans: voxels of so many bits have coefficients of 16, by the levels of the brick */
    tsr_rans_lookup *lookup;             /* of the coder rans, made of the file's model; to decode */
    tsr_rans_counts *counts;             /* not NULL: streams by rans are counted, not coded. BORROWED */
    double least;                        /* planes of real coefficients whose value in samples is less are not coded; 0: all are */
} tsr_codec;
/* encodes: with what an encoder asks for; it takes time. */
tsr_status tsr_codec_create(const tsr_tsc *t, int32_t reduce, int encodes, tsr_codec *codec);
void tsr_codec_destroy(tsr_codec *codec);

typedef struct tsr_brick {
    int64_t origin[3];
    int32_t size[3], reduced[3]; /* extents; at the codec's resolution */
    int64_t count, reduced_count;
    int shape;
} tsr_brick;
tsr_brick tsr_codec_brick(const tsr_codec *codec, int64_t index);

/* `samples`: int32, or float32 where the map is REAL; overwritten. One stream per resolution (those without samples stay empty); the caller frees
 * stream[k].bytes, also after a failure. The poll (may be NULL) is asked now and then. */
tsr_status tsr_brick_encode(const tsr_codec *codec, const tsr_brick *brick, void *samples, const tsr_poll *poll, tsr_planes_stream *stream);
/* How many coefficients of a brick of the map REAL there are by the power of two of what they are in the samples: number k counts those from
 * 2^(k - TSR_CODEC_OCTAVE) steps to twice that, the first smaller ones as well. `samples` are overwritten. */
enum { TSR_CODEC_OCTAVES = 64, TSR_CODEC_OCTAVE = 16 };
tsr_status tsr_brick_look(const tsr_codec *codec, const tsr_brick *brick, float *samples, int64_t octaves[TSR_CODEC_OCTAVES]);
/* The layers of each stream, one after the other. */
typedef struct tsr_brick_stream {
    const uint8_t *bytes;
    size_t size;
    int32_t passes;
} tsr_brick_stream;
/* Which voxels of a brick, at the codec's resolution, go where. */
typedef struct tsr_brick_target {
    int64_t from[3], count[3];
    void *voxels;    /* the first of them */
    int64_t step[2]; /* voxels from row to row, from slice to slice */
} tsr_brick_target;
static inline tsr_brick_target tsr_brick_packed(const tsr_brick *b, void *voxels)
{
    return (tsr_brick_target){
        { 0, 0, 0 }, { b->reduced[0], b->reduced[1], b->reduced[2] }, voxels, { b->reduced[0], (int64_t)b->reduced[0] * b->reduced[1] }
    };
}
/* `count` bricks of the same extents; of the coders fast and rans TSR_FAST_TOGETHER of them are faster than one at a time. Any bytes give voxels, but for
 * TSR_ERROR_FORMAT where streams contradict themselves: *failed is the number of that brick, those before it are done. */
tsr_status tsr_bricks_decode(const tsr_codec *codec, const tsr_brick *brick, int32_t count, const tsr_brick_stream (*stream)[TSR_TSC_STREAMS],
                             const tsr_brick_target *target, const tsr_poll *poll, int32_t *failed);

/* ---- voxels ----------------------------------------------------------------------------------------------------------------------------------- */

/* A box of voxels to coded samples. Exceptions (voxels that the map cannot give back well enough) become u32 number, u32 index, ... and the voxels'
 * bytes, in *exceptions (malloc; NULL if there are none). */
tsr_status tsr_map_forward(const tsr_tsc *t, const tsr_volume *volume, const tsr_brick *brick, void *samples, uint8_t **exceptions, size_t *bytes);
/* Samples of a brick at the codec's resolution to voxels, packed. */
void tsr_map_inverse(const tsr_tsc *t, const tsr_brick *brick, const void *samples, void *voxels);
/* TSR_ERROR_FORMAT if the list contradicts itself. With reduce > 0 only exceptions at voxels that are kept count. */
tsr_status tsr_map_exceptions(const tsr_tsc *t, int32_t reduce, const tsr_brick *brick, const uint8_t *list, size_t bytes, void *voxels);

/* ---- quality ---------------------------------------------------------------------------------------------------------------------------------- */

/* Where streams are cut so that every byte takes away as much squared error as possible: a cut `i` keeps the first i entries. */
typedef struct tsr_cut_entry {
    float slope;    /* error taken away per byte */
    int32_t passes; /* of the stream that are kept with this entry */
    int64_t stream;
} tsr_cut_entry;
typedef struct tsr_cut {
    const tsr_planes_stream *stream; /* [streams], each with passes */
    int64_t streams, count;
    tsr_cut_entry *entry;  /* [count], by falling slopes */
    double *bytes, *error; /* [count + 1] of all streams, by the cut; the error as the coefficients have it, where none is lost by rounding */
} tsr_cut;
tsr_status tsr_cut_create(const tsr_planes_stream *stream, int64_t streams, tsr_cut *cut);
void tsr_cut_destroy(tsr_cut *cut);
/* The largest cut of at most so many bytes; the smallest with at most this error, or all. */
int64_t tsr_cut_by_bytes(const tsr_cut *cut, double bytes);
int64_t tsr_cut_by_error(const tsr_cut *cut, double error);
/* Bytes of a stream that its first n passes need. */
uint32_t tsr_cut_bytes(const tsr_planes_stream *stream, int32_t n);

#endif
