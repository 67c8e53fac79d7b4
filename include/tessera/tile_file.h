/* tessera/tile_file.h: tile lists in files. Formats: "tsr", our own (docs/formats/tsr.md), and "nvdb", NanoVDB float level sets. OpenVDB's .vdb
 * goes through the program tessera-vdb, which the command line starts; the library only recognises it.
 *
 * A .tsr file holds a list exactly: keys, stored values, the signs of the absent neighbours, domain, geometry, background. Reading gives the same
 * list bit for bit (ids of tiles apart, which are given in list order) on every device and thread count. It also carries channels (any number of
 * elements per tile) and metadata. A .nvdb file holds the active voxels, the signs beside them and the geometry; what is read from it is an unbounded
 * list, managed once so that every tile the band faces is there. Level sets that do not close (clipped, cut, of open meshes) are read as they are: the
 * list has the value of the file at every voxel, and a jump where the inside ends without a band. Of a list with a domain a .nvdb file holds the
 * outside beyond it; one in two dimensions is TSR_ERROR_UNSUPPORTED.
 *
 * Writers write beside the target and rename. Readers check every size before memory is taken; a damaged file is TSR_ERROR_FORMAT with the file,
 * the field or chunk, its value and what was expected.
 * Source: docs/theory/editing.md 9 (what is stored), docs/theory/tiles.md 6 (16-bit values). Class: exact. */
#ifndef TESSERA_TILE_FILE_H
#define TESSERA_TILE_FILE_H

#include "tessera/io.h"
#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a .tsr file keeps the values. Q16: q = round(phi * 32767 / band); only voxels of the value +-band get +-32767 and none of them another
 * code, a negative value never becomes 0: active set and inside are exact, values within band / 32767. Reading gives float32 again. */
typedef enum tsr_tiles_values { TSR_TILES_F32 = 0, TSR_TILES_Q16 } tsr_tiles_values;

typedef struct tsr_tiles_meta { const char *key, *value; } tsr_tiles_meta;

/* Something per tile beside the field: `elements` of one type for each tile, [count][elements] in list order, in host memory. */
typedef struct tsr_tiles_channel {
    const char *name;
    tsr_dtype dtype;
    int32_t elements;        /* 1 to 4096 */
    const void *data;
} tsr_tiles_channel;

typedef struct tsr_tiles_write_options {
    size_t struct_size;
    const char *format;      /* "tsr" or "nvdb"; NULL = by extension */
    int overwrite;           /* 0: an existing file is an error */
    int compression;         /* 0 = the default, -1 = none, 1..9 = level (tsr: zstd, default 1; nvdb: zlib, default none) */
    tsr_tiles_values values; /* tsr only */
    int raw;                 /* tsr only: values page-aligned and uncompressed, to be mapped: tile i at values_offset + i * edge^3 * size */
    const char *name;        /* nvdb: name of the grid, at most 255 bytes; NULL = "tessera" */
    const tsr_tiles_meta *meta;         /* BORROWS; tsr only; keys and values of at most 65535 bytes */
    const tsr_tiles_channel *channels;  /* BORROWS; tsr only; at most 64 */
    int32_t meta_count, channel_count;
    tsr_progress progress;
} tsr_tiles_write_options;
#define TSR_TILES_WRITE_OPTIONS TSR_SIZED(tsr_tiles_write_options)

/* BORROWS the list, which may live on any device; waits for its queue. Packs chunks on the threads of its context; the bytes do not depend on
 * their number. Path "-" is standard output (format must be given). TSR_ERROR_UNSUPPORTED: what the format cannot hold. */
TSR_API tsr_status tsr_tiles_write(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options) TSR_CHECKED;

/* What a file carries beside the list. */
typedef struct tsr_tiles_extras tsr_tiles_extras;
TSR_API void tsr_tiles_extras_destroy(tsr_tiles_extras **extras);
/* Enumerate with index 0.. until it returns 0. RETURNS VIEWS, valid as long as the extras. Keys of nvdb files begin with "nvdb.". */
TSR_API int tsr_tiles_extras_meta_at(const tsr_tiles_extras *extras, int32_t index, tsr_tiles_meta *meta);
TSR_API int tsr_tiles_extras_channel_at(const tsr_tiles_extras *extras, int32_t index, tsr_tiles_channel *channel);

typedef struct tsr_tiles_read_options {
    size_t struct_size;
    const char *format;      /* NULL = recognise */
    int64_t memory_limit;    /* refuse files whose list needs more bytes; 0 = physical memory */
    const char *grid;        /* nvdb: name of the grid; NULL = the first level set */
    int32_t edge;            /* nvdb: 4 or 8, 0 = 8; tsr keeps its own */
    tsr_tiles_extras **extras; /* NULL = not wanted; RETURNS NEW there, also without content */
    tsr_progress progress;
} tsr_tiles_read_options;
#define TSR_TILES_READ_OPTIONS TSR_SIZED(tsr_tiles_read_options)

/* RETURNS NEW list on the context's device. `options` may be NULL. Path "-" is standard input. Errors: TSR_ERROR_IO, _FORMAT, _UNSUPPORTED (a
 * newer version, a grid that is no level set), _MEMORY, _CAPACITY. */
TSR_API tsr_status tsr_tiles_read(tsr_context *context, const char *path, const tsr_tiles_read_options *options, tsr_tiles **tiles) TSR_CHECKED;

typedef struct tsr_tiles_file_info {
    size_t struct_size;
    char format[8], name[256];   /* name: of the grid (nvdb) */
    int32_t version[3];          /* of the format */
    int32_t edge, paged;
    int64_t count, file_bytes;   /* tiles; file_bytes -1 for pipes */
    double band;
    tsr_geometry geometry;
    tsr_size3 domain;            /* zero = unbounded */
    tsr_tiles_values values;
    int raw;
    int64_t values_offset;       /* of the first tile in a raw file, else 0 */
    const char *codec;           /* "none", "zstd" or "zip" */
    int32_t meta_count, channel_count, grids;
    int64_t active_voxels;       /* as the file says; -1 = it does not */
} tsr_tiles_file_info;
#define TSR_TILES_FILE_INFO TSR_SIZED(tsr_tiles_file_info)
/* Reads the header alone. `extras` may be NULL; channels come without data. */
TSR_API tsr_status tsr_tiles_file_describe(const char *path, const tsr_tiles_read_options *options, tsr_tiles_file_info *info) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
