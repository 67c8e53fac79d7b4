/* mip/mip_view.h: the inside of frames, and from a view to the plain data of a picture. */
#ifndef TSR_MIP_MIP_VIEW_H
#define TSR_MIP_MIP_VIEW_H

#include "mip/mip_pyramid.h"
#include "mip/mip_ops.h"

enum { TSR_MIP_OFFSETS = TSR_MIP_LEVELS + 1 }; /* sets of an element's projections: one per level of the cascade, the closing's */

/* A view as integers, and the picture that is drawn: smaller by `repeat` (across, down), framed by `left` and `top` pixels and as many more. */
typedef struct tsr_mip_setup {
    tsr_mip_projection p;
    int32_t repeat[2], width, height;
    int32_t left, top, full_width, full_height;
    int32_t oblique;
    tsr_mip_offsets set[TSR_MIP_OFFSETS + 1]; /* [j]: of the expansion of level j + 1; [TSR_MIP_LEVELS]: of the closing */
    double scale[2];                          /* largest pixels per voxel, across and down */
} tsr_mip_setup;

/* `cascade`: with a margin for what expands into the picture. */
tsr_status tsr_mip_setup_make(const tsr_mip_view *view, tsr_size3 size, int32_t levels, const int8_t (*points)[4], int32_t count, int cube2,
                              int32_t width, int32_t height, int cascade, tsr_mip_setup *setup);

struct tsr_mip_frame {
    tsr_context *context;
    int32_t width, height;
    uint32_t *picture;
    uint32_t *images; /* level pictures, finest first, then the dilated one */
    int64_t image_bytes;
    uint16_t *scratch;
    int64_t scratch_bytes;
    int16_t *offsets;
    int64_t offset_bytes;
    const tsr_mip *mip; /* what was drawn last, for refinement */
    tsr_mip_view view;
    tsr_mip_render_options options;
    int64_t count;
    double fit[5]; /* of times: weight, sums of K, t, K^2, K t */
};

tsr_status tsr_mip_options_check(const tsr_mip_render_options *options, tsr_dtype dtype, int32_t *lower, int32_t *upper);
/* Closing, repetition: from the drawn picture (device) to the frame's. */
tsr_status tsr_mip_finish_frame(tsr_mip_frame *frame, const tsr_mip_setup *setup, tsr_mip_close close, const uint32_t *drawn, uint32_t *dilated);
/* The job's spans, from its projection, covers and shift. */
void tsr_mip_find_spans(tsr_mip_job *job);
/* Drawing in steps. begin: checks, and the number of coefficients (*view NULL becomes the plain one). room: memory, an empty picture unless it is refined.
 * draw: what is selected of a pyramid, or of a part of one; `expand`: level pictures of the cascade into the next ones as they are done, else
 * tsr_mip_picture_expand from the second highest level down. end: closing, and what the frame remembers. */
typedef struct tsr_mip_picture {
    tsr_mip *mip;
    tsr_mip_frame *frame;
    tsr_mip_render_options options;
    tsr_mip_setup setup;
    tsr_mip_job job;
    uint32_t *level[TSR_MIP_LEVELS + 1]; /* device; [0]: the drawn picture, the others behind it */
    int32_t width[TSR_MIP_LEVELS + 1], height[TSR_MIP_LEVELS + 1];
    uint32_t *dilated;
    int64_t pixels; /* of all level pictures */
} tsr_mip_picture;
tsr_status tsr_mip_picture_begin(tsr_mip_picture *p, tsr_mip *mip, const tsr_mip_view **view, const tsr_mip_render_options *options,
                                 tsr_mip_frame *frame, int64_t *count);
tsr_status tsr_mip_check_refine(const tsr_mip_picture *p, const tsr_mip_view *view, int64_t count);
tsr_status tsr_mip_list(tsr_mip *mip); /* after a selection: its bricks or pieces in order */
tsr_status tsr_mip_picture_room(tsr_mip_picture *p);
tsr_status tsr_mip_picture_draw(tsr_mip_picture *p, const tsr_mip *mip, int expand);
tsr_status tsr_mip_picture_expand(tsr_mip_picture *p, int32_t j);
tsr_status tsr_mip_picture_end(tsr_mip_picture *p, const tsr_mip_view *view, int64_t count, double begin, tsr_mip_statistics *statistics);

/* Grows a frame's memory; the content is lost where it grows. */
tsr_status tsr_mip_frame_reserve(tsr_mip_frame *frame, int64_t images, int64_t scratch, int64_t offsets);

#endif
