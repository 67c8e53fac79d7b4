/* render/stack.c: pictures of volumes of which only some slices are in memory at a time: a block of them is read, drawn, and given back. */
#include "render/stack.h"

#include <math.h>
#include <string.h>

#include "render/scene.h"

enum { BLOCK = 8 /* gaps between slices */, BAND_PIXELS = 1 << 17 /* that a CPU draws between two reports, some tenths of a second */ };

/* A stack as it was given, checked: extents, where its first voxel lies in the list or volume, and how it lies in the world. */
struct source {
    const tsr_stack *stack;
    tsr_context *context;
    int64_t first[3];
    tsr_size3 size;
    tsr_geometry geometry;
};

/* What a block is of the whole. */
struct share {
    const tsr_progress *progress;
    double from, size;
};

static tsr_status open_source(tsr_context *context, const tsr_stack *stack, struct source *s)
{
    const int given = (stack->volume != NULL) + (stack->tiles != NULL) + (stack->read != NULL);
    if (given != 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "stack: %d of volume, tiles and read are given, expected one", given);
    *s = (struct source){ .stack = stack, .context = context, .size = stack->size, .geometry = stack->geometry };
    if (stack->volume) {
        TSR_TRY(tsr_volume_require(context, stack->volume, "volume of the stack"));
        s->size = stack->volume->size;
        s->geometry = stack->volume->geometry;
    } else if (stack->tiles) {
        int64_t upper[3];
        if (stack->tiles->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "stack: the tile list lives in another context");
        TSR_TRY(tsr_tiles_need_f32(stack->tiles, "pictures of slices"));
        s->size = tsr_tiles_domain(stack->tiles);
        s->geometry = stack->tiles->geometry;
        if (!s->size.x) {
            TSR_TRY(tsr_tiles_bounds(stack->tiles, s->first, upper));
            s->size = (tsr_size3){ upper[0] - s->first[0], upper[1] - s->first[1], upper[2] - s->first[2] };
            const tsr_vec3 origin = tsr_geometry_to_world(&s->geometry, (tsr_vec3){ (double)s->first[0], (double)s->first[1], (double)s->first[2] });
            s->geometry.affine[0][3] = origin.x;
            s->geometry.affine[1][3] = origin.y;
            s->geometry.affine[2][3] = origin.z;
        }
    }
    const int64_t n[3] = { s->size.x, s->size.y, s->size.z };
    for (int k = 0; k < 3; k++)
        if (n[k] < 1 || n[k] > 1 << 20) TSR_FAIL(TSR_ERROR_ARGUMENT, "stack: %lld voxels along %c, expected 1 to 2^20", (long long)n[k], "xyz"[k]);
    TSR_TRY(tsr_geometry_check(&s->geometry));
    return TSR_OK;
}

/* Voxels of `size` from `first` on (of the stack) as float32 on the device. */
static tsr_status read_box(const struct source *s, const int64_t first[3], tsr_size3 size, tsr_volume **box)
{
    tsr_status status;
    *box = NULL;
    if (s->stack->tiles) {
        const int64_t from[3] = { s->first[0] + first[0], s->first[1] + first[1], s->first[2] + first[2] };
        TSR_TRY(tsr_volume_create(s->context, TSR_F32, size, NULL, box));
        TSR_TRY_GOTO(tsr_tiles_store_box(s->stack->tiles, from, *box), fail);
        return TSR_OK;
    }
    tsr_volume *part = NULL;
    if (s->stack->volume) {
        const tsr_size3 begin = { first[0], first[1], first[2] }, end = { first[0] + size.x, first[1] + size.y, first[2] + size.z };
        TSR_TRY(tsr_volume_crop(s->context, s->stack->volume, begin, end, &part));
        status = tsr_volume_convert(s->context, part, TSR_F32, box);
    } else {
        TSR_TRY(tsr_volume_create(NULL, TSR_F32, size, NULL, &part));
        status = s->stack->read(s->stack->user, first, part);
        if (status == TSR_OK) status = tsr_volume_copy(part, s->context, box);
    }
    tsr_volume_destroy(&part);
    TSR_TRY(status);
    return TSR_OK;
fail:
    tsr_volume_destroy(box);
    return status;
}

#define NAME_OF(names, value) ((size_t)(value) < sizeof(names) / sizeof *(names) ? (names)[value] : "unknown")

static tsr_status check_options(const tsr_render_options *o)
{
    static const char *const modes[] = { "auto", "surface", "volume", "combined", "mip" };
    static const char *const regions[] = { "all", "inside", "outside", "tint" };
    static const char *const lookups[] = { "none", "table", "preintegrated" };
    if (o->mode != TSR_RENDER_AUTO && o->mode != TSR_RENDER_VOLUME)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: render mode %s, expected auto or volume", NAME_OF(modes, o->mode));
    if (o->region != TSR_REGION_ALL) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: region %s, expected all", NAME_OF(regions, o->region));
    if (o->lookup != TSR_LOOKUP_NONE) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: lookup %s, expected none", NAME_OF(lookups, o->lookup));
    if (o->supersampling > 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: supersampling %d, expected 1", o->supersampling);
    if (o->surface_transfer) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: surface_transfer is set, expected none: `transfer` shows the stack's values");
    if (o->pass != 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: pass %d, expected 0", o->pass);
    if (o->clip && o->clip_face == TSR_CLIP_QUAD) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: clip_face quad, expected cap or open");
    return TSR_OK;
}

/* What is known without looking at the voxels. */
static void describe(const struct source *s, const tsr_dense *dense, const tsr_render_options *o, tsr_scene_info *info)
{
    memset(info, 0, sizeof *info);
    info->has_volume = 1;
    tsr_dense_describe(dense, info);
    info->window_low = s->stack->window_low;
    info->window_high = s->stack->window_high;
    if (info->window_low == 0 && info->window_high == 0 && o->transfer && o->transfer->points > 0) {
        info->window_low = (double)o->transfer->point[0].value;
        info->window_high = (double)o->transfer->point[o->transfer->points - 1].value;
    }
    if (!(info->window_high > info->window_low)) info->window_high = info->window_low + 1;
    info->minimum = info->window_low;
    info->maximum = info->window_high;
}

/* The axis that the view mostly follows, and which way; all rays must go that way. */
static tsr_status choose_axis(const tsr_frame *f, const tsr_geometry *g, int32_t *axis, int *up)
{
    const tsr_vec3 h = tsr_geometry_spacing(g);
    const float spacing[3] = { (float)h.x, (float)h.y, (float)h.z };
    const tsr_float3 d = tsr_field_direction(&f->volume, f->forward);
    *axis = 0;
    for (int32_t k = 1; k < 3; k++)
        if (tsr_absf(tsr_get3(d, k)) * spacing[k] > tsr_absf(tsr_get3(d, *axis)) * spacing[*axis]) *axis = k;
    *up = tsr_get3(d, *axis) > 0.0f;
    for (int i = 0; i < 4; i++) {
        const tsr_ray ray = tsr_pixel_ray(f, i & 1 ? f->width - 1 : 0, i & 2 ? f->height - 1 : 0, 0, 0);
        const float along = tsr_get3(tsr_field_direction(&f->volume, ray.d), *axis);
        if (*up ? !(along > 0.0f) : !(along < 0.0f))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: rays of one picture go both ways along %c, expected a narrower fov or an orthographic camera",
                     "xyz"[*axis]);
    }
    return TSR_OK;
}

/* The rows of a block: on a CPU a band of them after the other, so that large pictures can be cancelled between. */
static tsr_status draw_rows(const struct source *s, const tsr_transfer_linear *transfer, const tsr_frame *f, tsr_stack_block *b,
                            const struct share *share, tsr_picture *picture)
{
    const tsr_context *context = s->context;
    const int on_cpu = context->device.kind == TSR_DEVICE_CPU;
    const int32_t band = on_cpu ? tsr_maxi(BAND_PIXELS / f->width, 4 * context->threads) : f->height;
    for (int32_t y = 0; y < f->height; y = b->lower_row) {
        if (y > 0) TSR_PROGRESS(share->progress, share->from + share->size * y / f->height, "slices");
        b->upper_row = y;
        b->lower_row = f->height - y > band ? y + band : f->height;
        TSR_TRY(context->backend->render->stack(context->queue, f, transfer, b, picture->rgba, picture->depth));
    }
    TSR_TRY(context->backend->synchronize(context->queue)); /* the slices go */
    return TSR_OK;
}

/* Reads and draws what lies between slices `first` and `last`. */
static tsr_status draw_block(const struct source *s, const tsr_transfer_linear *transfer, tsr_frame *f, tsr_stack_block *b, const struct share *share,
                             tsr_picture *picture)
{
    int64_t from[3] = { 0, 0, 0 }, size[3] = { s->size.x, s->size.y, s->size.z };
    tsr_volume *box;
    const int32_t a = b->axis, n = (int32_t)size[a];
    b->base = tsr_maxi(b->first - 1, 0); /* gradients reach a slice further */
    from[a] = b->base;
    size[a] = tsr_mini(b->last + 1, n - 1) - b->base + 1;
    TSR_TRY(read_box(s, from, (tsr_size3){ size[0], size[1], size[2] }, &box));
    f->volume = b->whole;
    f->volume.size[a] = (int32_t)size[a];
    f->volume.from_world[a][3] -= (float)b->base;
    f->volume.values = (const float *)box->data;
    const tsr_status status = draw_rows(s, transfer, f, b, share, picture);
    tsr_volume_destroy(&box);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status draw_all(const struct source *s, const tsr_transfer_linear *transfer, tsr_frame *f, const tsr_progress *progress,
                           tsr_picture *picture)
{
    tsr_stack_block b = { .whole = f->volume };
    int up;
    TSR_TRY(choose_axis(f, &s->geometry, &b.axis, &up));
    const int32_t gaps = tsr_maxi(f->volume.size[b.axis] - 1, 1), blocks = (gaps + BLOCK - 1) / BLOCK;
    TSR_PROGRESS(progress, 0, "slices");
    for (int32_t i = 0; i < blocks; i++) {
        b.first = (up ? i : blocks - 1 - i) * BLOCK;
        b.last = tsr_mini(b.first + BLOCK, gaps);
        b.begin = i == 0;
        b.end = i == blocks - 1;
        const struct share share = { progress, (double)i / blocks, 1.0 / blocks };
        TSR_TRY(draw_block(s, transfer, f, &b, &share, picture));
        TSR_PROGRESS(progress, (double)(i + 1) / blocks, "slices");
    }
    return TSR_OK;
}

tsr_status tsr_render_stack(tsr_context *context, const tsr_stack *stack, const tsr_camera *camera, const tsr_render_options *options,
                            tsr_picture *picture)
{
    TSR_NEEDS(context, stack, camera, picture);
    tsr_stack given;
    tsr_render_options o;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_frame frame;
    tsr_transfer_linear transfer;
    struct source s;
    if (picture->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "the picture belongs to another context than the stack");
    picture->drawn_by = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&given, stack));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o));
    TSR_TRY(open_source(context, &given, &s));
    tsr_dense dense = { .geometry = s.geometry, .size = { (int32_t)s.size.x, (int32_t)s.size.y, (int32_t)s.size.z } };
    for (int k = 0; k < 3; k++) dense.bricks[k] = (dense.size[k] + 7) / 8;
    describe(&s, &dense, &o, &info);
    memset(&frame, 0, sizeof frame);
    memset(&transfer, 0, sizeof transfer);
    frame.width = picture->width;
    frame.height = picture->height;
    frame.samples = 1;
    const tsr_vec3 centre = tsr_vec3_scale(tsr_vec3_add(info.bounds.lower, info.bounds.upper), 0.5);
    TSR_TRY(tsr_frame_set_camera(camera, &info, centre, &frame));
    TSR_TRY(tsr_frame_set_step(&info, &o, &frame));
    TSR_TRY(tsr_frame_set_clip(1, &o, centre, &frame));
    TSR_TRY(tsr_frame_set_look(&info, &o, &frame));
    frame.show_volume = 1;
    TSR_TRY(tsr_dense_field(&dense, centre, &frame.volume));
    TSR_TRY(tsr_frame_set_medium(&info, &o, &transfer, &frame));
    if (transfer.needs_level)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "stack: a transfer function of the level-set value, expected one of value and gradient");
    TSR_TRY(draw_all(&s, &transfer, &frame, &o.progress, picture));
    return TSR_OK;
}
