/* bench/peers/openjpeg_slices.h: a volume of u8, i16 or u16 through OpenJPEG, slice by slice; slices are shared out among the threads. */
#ifndef TSR_PEERS_OPENJPEG_SLICES_H
#define TSR_PEERS_OPENJPEG_SLICES_H

#include "core/parallel.h"
#include "openjpeg_planes.h"
#include "tessera/tessera.h"

typedef struct openjpeg_slices {
    const tsr_volume *volume;
    openjpeg_options options;
    int threads, *good;      /* good[z]: the last call did slice z */
    openjpeg_stream *stream; /* by slice */
    unsigned char *back;     /* decoded voxels, in the volume's type */
} openjpeg_slices;

static inline void openjpeg_slices_end(openjpeg_slices *s)
{
    for (int64_t z = 0; s->stream && z < tsr_volume_size(s->volume).z; z++) free(s->stream[z].data);
    free(s->stream);
    free(s->good);
    free(s->back);
    *s = (openjpeg_slices){ 0 };
}

/* `bits` a voxel, 0: without loss. Returns 1, or 0 for types that OpenJPEG has not and for want of memory. */
static inline int openjpeg_slices_begin(openjpeg_slices *s, const tsr_volume *volume, double bits, int threads)
{
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    const int wide = dtype != TSR_U8, depth = wide ? 16 : 8;
    const size_t slices = (size_t)tsr_volume_size(volume).z;
    if (dtype != TSR_U8 && dtype != TSR_I16 && dtype != TSR_U16) return 0;
    *s = (openjpeg_slices){ .volume = volume, .threads = threads };
    s->options = (openjpeg_options){ depth, dtype == TSR_I16, 5, bits > 0, bits > 0 ? (float)(depth / bits) : 0.0F };
    s->stream = (openjpeg_stream *)calloc(slices, sizeof *s->stream);
    s->good = (int *)calloc(slices, sizeof *s->good);
    s->back = (unsigned char *)malloc((size_t)tsr_volume_count(volume) * (size_t)(depth / 8));
    if (s->stream && s->good && s->back) return 1;
    openjpeg_slices_end(s);
    return 0;
}

static void openjpeg_slices_encode_some(void *user, int64_t begin, int64_t end, int worker)
{
    openjpeg_slices *s = (openjpeg_slices *)user;
    const tsr_size3 size = tsr_volume_size(s->volume);
    const size_t n = (size_t)(size.x * size.y);
    const void *voxels = tsr_volume_data_const(s->volume);
    int32_t *plane = (int32_t *)malloc(n * sizeof *plane);
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        const size_t at = (size_t)z * n;
        for (size_t i = 0; plane && i < n; i++)
            plane[i] = s->options.bits == 8   ? ((const uint8_t *)voxels)[at + i]
                       : s->options.is_signed ? ((const int16_t *)voxels)[at + i]
                                              : ((const uint16_t *)voxels)[at + i];
        s->good[z] = plane && openjpeg_encode(plane, (int32_t)size.x, (int32_t)size.y, &s->options, &s->stream[z]);
    }
    free(plane);
}

static void openjpeg_slices_decode_some(void *user, int64_t begin, int64_t end, int worker)
{
    openjpeg_slices *s = (openjpeg_slices *)user;
    const tsr_size3 size = tsr_volume_size(s->volume);
    const size_t n = (size_t)(size.x * size.y);
    int32_t *plane = (int32_t *)malloc(n * sizeof *plane), width, height;
    (void)worker;
    for (int64_t z = begin; z < end; z++) {
        const size_t at = (size_t)z * n;
        s->good[z] = plane && openjpeg_decode(&s->stream[z], 0, plane, &width, &height) && width == size.x && height == size.y;
        for (size_t i = 0; s->good[z] && i < n; i++) {
            if (s->options.bits == 8) s->back[at + i] = (uint8_t)plane[i];
            else ((uint16_t *)s->back)[at + i] = (uint16_t)plane[i];
        }
    }
    free(plane);
}

static inline tsr_status openjpeg_slices_all(openjpeg_slices *s, tsr_parallel_body body)
{
    const int64_t slices = tsr_volume_size(s->volume).z;
    tsr_parallel(s->threads, slices, 1, body, s);
    for (int64_t z = 0; z < slices; z++)
        if (!s->good[z]) return TSR_ERROR_UNSUPPORTED;
    return TSR_OK;
}
static inline tsr_status openjpeg_slices_encode(void *user) { return openjpeg_slices_all((openjpeg_slices *)user, openjpeg_slices_encode_some); }
static inline tsr_status openjpeg_slices_decode(void *user) { return openjpeg_slices_all((openjpeg_slices *)user, openjpeg_slices_decode_some); }

static inline double openjpeg_slices_bytes(const openjpeg_slices *s)
{
    double sum = 0;
    for (int64_t z = 0; z < tsr_volume_size(s->volume).z; z++) sum += (double)s->stream[z].bytes;
    return sum;
}

#endif
