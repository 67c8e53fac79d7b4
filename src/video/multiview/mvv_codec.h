/* video/multiview/mvv_codec.h: what writing and reading share with the codecs. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_CODEC_H
#define TSR_VIDEO_MULTIVIEW_MVV_CODEC_H

#include "video/multiview/mvv_file.h"

typedef struct tsr_mvv_writing {
    tsr_mvv_head head;
    const tsr_multiview_view *view; /* host memory; visible NULL where masks are not coded */
    tsr_multiview_view device;      /* the same where it is coded on a device; then planes of `view` are empty */
    tsr_chunk_writer *writer;
    tsr_context *context;
    tsr_multiview_allocation allocation;
    const tsr_progress *progress;
    int64_t stream_bytes[3];
} tsr_mvv_writing;

typedef struct tsr_mvv_reading {
    const tsr_chunk_reader *reader;
    const tsr_mvv_head *head;
    tsr_context *context;
    int32_t first_step, first_camera; /* the first of `view` */
    tsr_multiview_view view;          /* host memory, of the steps and cameras asked for; planes are filled, masks are there */
    /* Masks of the steps from mask_step on and the cameras from mask_camera on, mask_cameras of them; NULL: every texel is relevant. */
    uint64_t *masks;
    int32_t mask_step, mask_steps, mask_camera, mask_cameras;
    const uint64_t *atlas;
    uint8_t *device_plane[3]; /* on a device: where the textures are to be, and their masks (NULL: none) */
    const uint64_t *device_visible;
    double keep; /* share of each embedded stream's rate that is read, 1: all */
    const tsr_progress *progress;
} tsr_mvv_reading;

/* Mask of step t and camera c, counted in the file. */
static inline const uint64_t *tsr_mvv_reading_mask(const tsr_mvv_reading *r, int64_t t, int64_t c)
{
    if (!r->masks) return NULL;
    return r->masks + ((t - r->mask_step) * r->mask_cameras + c - r->mask_camera) * tsr_mvv_words(r->head->width) * r->head->height;
}

/* Bytes that a stream of `texels` texels at so many bits each may take, at least 1. */
static inline int64_t tsr_mvv_budget(double bpp, int64_t texels)
{
    const double bytes = bpp * (double)texels / 8;
    return bytes < 1 ? 1 : bytes > 9e15 ? (int64_t)9e15 : (int64_t)bytes;
}

tsr_status tsr_mvv_raw_write(tsr_mvv_writing *w);
tsr_status tsr_mvv_raw_read(const tsr_mvv_reading *r);
tsr_status tsr_mvv_spiht_write(tsr_mvv_writing *w);
tsr_status tsr_mvv_spiht_read(const tsr_mvv_reading *r);
/* Is this coded on the device of the context? Then straight into the object, or from it. */
int tsr_mvv_spiht_on_device(const tsr_context *context, const tsr_mvv_head *h);
tsr_status tsr_mvv_spiht_read_device(const tsr_mvv_reading *r);
tsr_status tsr_mvv_spiht_write_device(tsr_mvv_writing *w);
tsr_status tsr_mvv_diff_write(tsr_mvv_writing *w);
tsr_status tsr_mvv_diff_read(const tsr_mvv_reading *r);
/* Likewise: streams on the processor, all else on the device. */
int tsr_mvv_diff_on_device(const tsr_context *context, const tsr_mvv_head *h);
tsr_status tsr_mvv_diff_read_device(const tsr_mvv_reading *r);

/* A texture of which nothing is known. */
static inline void tsr_mvv_grey(uint8_t *texture, int64_t texels) { memset(texture, 128, (size_t)texels); }

#endif
