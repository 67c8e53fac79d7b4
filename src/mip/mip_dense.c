/* mip/mip_dense.c: the dense reference: rays through the volume itself. */
#include <math.h>
#include <stdlib.h>

#include "volume/volume.h"
#include "mip/mip_view.h"

struct tsr_mip_dense {
    tsr_context *context;
    const tsr_volume *volume;
    tsr_mip_rays rays;
    uint16_t *most; /* device, per brick of 8^3 */
    int64_t bricks;
    int32_t largest;
};

tsr_status tsr_mip_dense_create(tsr_context *context, const tsr_volume *volume, tsr_mip_dense **dense)
{
    TSR_RETURNS(dense);
    TSR_NEEDS(context, volume);
    tsr_status status;
    uint16_t *most = NULL;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (volume->dtype != TSR_U8 && volume->dtype != TSR_U16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: the volume is %s, expected u8 or u16: convert it", tsr_dtype_name(volume->dtype));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **dense, (void **)dense));
    tsr_mip_dense *d = *dense;
    *d = (tsr_mip_dense){ .context = context, .volume = volume };
    const int64_t n[3] = { volume->size.x, volume->size.y, volume->size.z };
    for (int k = 0; k < 3; k++) {
        if (n[k] > 1 << 24) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "mip: extent %c is %lld, expected at most 2^24", "xyz"[k], (long long)n[k]);
        d->rays.size[k] = (int32_t)n[k];
        d->rays.bricks[k] = (int32_t)tsr_ceil_div(n[k], TSR_MIP_RAY_BRICK);
    }
    d->rays.data = volume->data;
    d->rays.bytes = volume->dtype == TSR_U8 ? 1 : 2;
    d->bricks = tsr_adjunction_cells(d->rays.bricks);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)d->bricks * 2, (void **)&d->most), fail);
    d->rays.most = d->most;
    TSR_TRY_GOTO(context->backend->mip->bricks(context->queue, &d->rays, d->most), fail);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)d->bricks * 2, (void **)&most), fail);
    status = tsr_device_move(NULL, most, context, d->most, (size_t)d->bricks * 2);
    for (int64_t i = 0; i < d->bricks && status == TSR_OK; i++) d->largest = tsr_maxi(d->largest, most[i]);
    tsr_host_release(NULL, most, (size_t)d->bricks * 2);
    if (status == TSR_OK) return TSR_OK;
fail:
    tsr_mip_dense_destroy(dense);
    return status;
}

void tsr_mip_dense_destroy(tsr_mip_dense **dense)
{
    if (!dense || !*dense) return;
    tsr_mip_dense *d = *dense;
    *dense = NULL;
    if (d->most) tsr_device_release(d->context, d->most, (size_t)d->bricks * 2);
    tsr_host_release(&d->context->host_allocator, d, sizeof *d);
}

tsr_status tsr_mip_dense_render(tsr_mip_dense *dense, const tsr_mip_view *view, const tsr_mip_render_options *options, tsr_mip_frame *frame)
{
    TSR_NEEDS(dense, frame);
    tsr_mip_render_options own;
    tsr_mip_setup s;
    tsr_adjunction element = { 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (dense->context != frame->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: the frame belongs to another context than the volume");
    own.mode = TSR_MIP_EXACT;
    tsr_mip_rays r = dense->rays;
    TSR_TRY(tsr_mip_options_check(&own, dense->volume->dtype, &r.lower, &r.upper));
    TSR_TRY(tsr_mip_element_points(own.element, own.points, own.point_count, &element));
    TSR_TRY(tsr_mip_setup_make(view, dense->volume->size, 0, (const int8_t(*)[4])element.point, element.points, element.cube2, frame->width,
                               frame->height, 0, &s));
    frame->mip = NULL;
    const int64_t pixels = (int64_t)s.width * s.height;
    TSR_TRY(tsr_mip_frame_reserve(frame, 2 * pixels * 4, 0, 0));
    double most = 0; /* voxels of a slice per pixel are 1 / |determinant|: the fewest */
    for (int k = 0; k < 3; k++) {
        const int a = k == 0, b = k == 2 ? 1 : 2;
        const double determinant = (double)s.p.u[a] * s.p.v[b] - (double)s.p.u[b] * s.p.v[a];
        if (!(fabs(determinant) > most)) continue;
        most = fabs(determinant);
        r.inverse = 1 / determinant;
        r.axis[0] = k;
        r.axis[1] = a;
        r.axis[2] = b;
    }
    if (!(most > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: zoom %g is too small for rays", view ? view->zoom : 1.0);
    r.backwards = s.p.w[r.axis[0]] < 0;
    r.p = s.p;
    r.width = s.width;
    r.height = s.height;
    r.saturated = dense->volume->dtype == TSR_U8 ? 255 : 65535;
    r.largest = tsr_mini(dense->largest, r.upper + 1);
    r.slices = own.slices != 0;
    r.slab = own.slab != 0;
    r.slab_lower = llround(65536 * own.slab_lower);
    r.slab_upper = llround(65536 * own.slab_upper);
    r.image = frame->images;
    TSR_TRY(frame->context->backend->mip->cast(frame->context->queue, &r));
    TSR_TRY(tsr_mip_finish_frame(frame, &s, own.close, r.image, frame->images + pixels));
    return TSR_OK;
}
