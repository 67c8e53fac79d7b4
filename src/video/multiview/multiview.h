/* video/multiview/multiview.h: the object behind tessera/multiview.h, and its textures on the host, where the codecs work. */
#ifndef TSR_VIDEO_MULTIVIEW_MULTIVIEW_H
#define TSR_VIDEO_MULTIVIEW_MULTIVIEW_H

#include "device/backend.h"
#include "io/little_endian.h"
#include "tessera/multiview.h"

struct tsr_multiview {
    tsr_context *context;
    tsr_multiview_view view; /* pointers of the device; one block of `bytes` */
    void *block;
    size_t bytes;
    int32_t rate[2];
    char **names; /* of each camera; NULL: "" */
    uint8_t *model;
    size_t model_size;
};

static inline int64_t tsr_mvv_words(int32_t width) { return ((int64_t)width + 63) / 64; }
static inline int64_t tsr_mvv_texels(const tsr_multiview_view *v) { return (int64_t)v->width * v->height; }
static inline int64_t tsr_mvv_mask_words(const tsr_multiview_view *v) { return tsr_mvv_words(v->width) * v->height; }
/* Texture and mask of step t and camera c; the mask NULL: every texel. */
static inline uint8_t *tsr_mvv_texture(const tsr_multiview_view *v, int p, int64_t t, int64_t c)
{
    return v->plane[p] + (t * v->cameras + c) * tsr_mvv_texels(v);
}
static inline uint64_t *tsr_mvv_mask(const tsr_multiview_view *v, int64_t t, int64_t c)
{
    return v->visible ? v->visible + (t * v->cameras + c) * tsr_mvv_mask_words(v) : NULL;
}
static inline int tsr_mvv_bit(const uint64_t *row, int64_t u) { return (int)(row[u >> 6] >> (u & 63) & 1); }
/* Eight bits in eight bytes of 0 or 1, the lowest bit in the lowest byte. */
static inline uint64_t tsr_mvv_spread(uint64_t bits)
{
    const uint64_t ones = 0x0101010101010101ull, each = (bits & 255) * ones & 0x8040201008040201ull;
    return (each + 0x7f * ones) >> 7 & ones;
}
/* A row of a mask, a byte a texel. */
static inline void tsr_mvv_mask_bytes(const uint64_t *row, int64_t width, uint8_t *to)
{
    int64_t u = 0;
    for (; u + 8 <= width; u += 8) tsr_put_u64(to + u, tsr_mvv_spread(row[u >> 6] >> (u & 63)));
    for (; u < width; u++) to[u] = (uint8_t)tsr_mvv_bit(row, u);
}

/* The same on the host: `view` is the object's own on the CPU, else memory of its own with what is wanted of the device's content. */
typedef enum tsr_mvv_wanted { TSR_MVV_NOTHING = 0, TSR_MVV_MASKS, TSR_MVV_ALL } tsr_mvv_wanted;
typedef struct tsr_mvv_host {
    tsr_multiview_view view;
    void *block; /* NULL: the object's */
} tsr_mvv_host;
tsr_status tsr_mvv_host_open(const tsr_multiview *multiview, tsr_mvv_wanted wanted, tsr_mvv_host *host);
tsr_status tsr_mvv_host_upload(const tsr_mvv_host *host, tsr_multiview *multiview);
void tsr_mvv_host_close(tsr_mvv_host *host);

#endif
