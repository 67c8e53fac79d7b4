/* wavelet/pad.c: volumes made longer by their last samples, as Dirac pads pictures, and cut again. Copies by the backend's own loop: on any device. */
#include "wavelet/volume_dwt.h"

static tsr_wavelet_array array_of(const tsr_volume *v, const int64_t from[3])
{
    const int64_t nx = v->size.x, ny = v->size.y;
    tsr_wavelet_array a = { (char *)v->data + ((from[2] * ny + from[1]) * nx + from[0]) * (int64_t)tsr_dtype_size(v->dtype), { 1, nx, nx * ny } };
    return a;
}

/* to[at ...] = from[0 ...], `size` of them. */
static tsr_status move(tsr_context *context, const tsr_volume *from, const int64_t begin[3], tsr_volume *to, const int64_t at[3],
                       const int64_t size[3])
{
    const int64_t extents[TSR_WAVELET_DIMENSIONS] = { size[0], size[1], size[2], 1, 1 };
    const tsr_wavelet_array a = array_of(from, begin), b = array_of(to, at);
    return context->backend->wavelet->copy(context->queue, tsr_dtype_size(from->dtype), extents, &a, &b);
}

void tsr_dwt_padded_size(const int64_t size[3], uint32_t axes, int32_t levels, int64_t padded[3])
{
    const int64_t unit = (int64_t)1 << levels;
    for (int a = 0; a < 3; a++) padded[a] = size[a] > 1 && (axes >> a & 1) ? tsr_ceil_div(size[a], unit) * unit : size[a];
}

tsr_status tsr_dwt_resize(tsr_context *context, const tsr_volume *v, const int64_t size[3], tsr_volume **resized)
{
    const int64_t had[3] = { v->size.x, v->size.y, v->size.z }, origin[3] = { 0, 0, 0 };
    int64_t filled[3];
    tsr_status status;
    TSR_TRY(tsr_volume_create_like(context, v, v->dtype, (tsr_size3){ size[0], size[1], size[2] }, &v->geometry, resized));
    (*resized)->slope = v->slope;
    (*resized)->intercept = v->intercept;
    for (int a = 0; a < 3; a++) filled[a] = tsr_min64(had[a], size[a]);
    TSR_TRY_GOTO(move(context, v, origin, *resized, origin, filled), fail);
    for (int a = 0; a < 3; a++) { /* the last column, then the last row of those, then the last slice, again and again */
        int64_t last[3] = { 0, 0, 0 }, piece[3] = { filled[0], filled[1], filled[2] };
        last[a] = filled[a] - 1;
        piece[a] = 1;
        for (; filled[a] < size[a]; filled[a]++) {
            int64_t at[3] = { 0, 0, 0 };
            at[a] = filled[a];
            TSR_TRY_GOTO(move(context, *resized, last, *resized, at, piece), fail);
        }
    }
    return TSR_OK;
fail:
    tsr_volume_destroy(resized);
    return status;
}
