/* region/region_tiles.c: a tree tile by tile: load a tile and a voxel around it, build, keep its lists, go on. */
#include "region/region_tiles.h"

#include <stdio.h>
#include <string.h>

#include "volume/volume.h"

enum { MOST_TILES = 1 << 24 };

struct run {
    tsr_context *context;
    const tsr_region_source *source;
    tsr_region_options options;
    tsr_region_merge *merge;
    int64_t side, margin; /* voxels around a tile that its rule looks at */
    int means;
};

/* The level of the tiles; one tile if it holds all. */
static tsr_status plan(const tsr_region_source *s, const tsr_region_tiling *tiling, int32_t dimensions, int32_t *level)
{
    const int64_t least = dimensions == 3 ? 8 : 16, most = (int64_t)1 << (dimensions == 3 ? 19 : 28);
    const int64_t side = tiling->tile      ? tiling->tile
                         : dimensions == 3 ? TSR_REGION_TILE
                                           : 4096,
                  longest = tsr_max64(s->size.x, tsr_max64(s->size.y, s->size.z));
    if (side < least || side > most || (side & (side - 1)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: tile is %lld, expected a power of two from %lld to %lld", (long long)side, (long long)least,
                 (long long)most);
    const int64_t tiles = tsr_ceil_div(s->size.x, side) * tsr_ceil_div(s->size.y, side) * tsr_ceil_div(s->size.z, side);
    if (tiles > MOST_TILES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: %lld tiles of %lld voxels, expected up to %d: use larger tiles", (long long)tiles,
                 (long long)side, (int)MOST_TILES);
    *level = 0;
    while (((int64_t)1 << *level) < side && ((int64_t)1 << *level) < longest) ++*level;
    return TSR_OK;
}

/* A tile of one value, from few voxels, if it is one: *done. */
static tsr_status add_uniform(struct run *r, const int64_t tile[3], const int64_t lower[3], tsr_size3 size, int *done)
{
    tsr_region_pyramid *pyramid = NULL;
    tsr_volume *channels[TSR_REGION_CHANNELS] = { NULL };
    tsr_region_options options = r->options;
    tsr_status status;
    const int32_t shift = r->options.top - TSR_REGION_BLOCK_LEVEL;
    const tsr_size3 few = { TSR_REGION_BLOCK, TSR_REGION_BLOCK, TSR_REGION_BLOCK };
    *done = 0;
    if (!r->source->uniform || r->margin || r->options.dimensions != 3 || shift < 1 || size.x < r->side || size.y < r->side || size.z < r->side)
        return TSR_OK;
    TSR_TRY_GOTO(r->source->uniform(r->source->user, lower, size, channels), done);
    if (!channels[0]) goto done;
    options.top = TSR_REGION_BLOCK_LEVEL;
    TSR_TRY_GOTO(tsr_region_pyramid_create(r->context, few, &options, &pyramid), done);
    TSR_TRY_GOTO(tsr_region_pyramid_build(pyramid, (const tsr_volume *const *)channels, r->source->channels), done);
    TSR_TRY_GOTO(tsr_region_merge_add(r->merge, pyramid, tile, shift, (const tsr_volume *const *)channels, r->means ? r->source->channels : 0), done);
    TSR_TRY_GOTO(tsr_context_synchronize(r->context), done);
    *done = 1;
done:
    for (int32_t c = 0; c < TSR_REGION_CHANNELS; c++) tsr_volume_destroy(&channels[c]);
    tsr_region_pyramid_destroy(&pyramid);
    return status;
}

static tsr_status add_tile(struct run *r, const int64_t tile[3])
{
    const tsr_size3 all = r->source->size;
    const int64_t n[3] = { all.x, all.y, all.z };
    tsr_region_pyramid *pyramid = NULL;
    tsr_volume *channels[TSR_REGION_CHANNELS] = { NULL }, *inner[TSR_REGION_CHANNELS] = { NULL };
    int64_t from[3], to[3], lower[3], extent[3];
    tsr_status status;
    for (int k = 0; k < 3; k++) {
        const int64_t begin = tile[k] * r->side, end = tsr_min64(begin + r->side, n[k]);
        from[k] = tsr_max64(begin - r->margin, 0);
        to[k] = tsr_min64(end + r->margin, n[k]);
        lower[k] = begin - from[k];
        extent[k] = end - begin;
    }
    const tsr_size3 size = { extent[0], extent[1], extent[2] };
    int added = 0;
    TSR_TRY(add_uniform(r, tile, (const int64_t[3]){ tile[0] * r->side, tile[1] * r->side, tile[2] * r->side }, size, &added));
    if (added) return TSR_OK;
    TSR_TRY_GOTO(tsr_region_pyramid_create(r->context, size, &r->options, &pyramid), done);
    TSR_TRY_GOTO(r->source->load(r->source->user, from, (tsr_size3){ to[0] - from[0], to[1] - from[1], to[2] - from[2] }, channels), done);
    status = tsr_region_pyramid_build_part(pyramid, (const tsr_volume *const *)channels, r->source->channels, lower);
    if (status != TSR_OK && r->options.nan == TSR_REGION_NAN_FAIL) { /* indices of the message are the tile's */
        char why[400];
        snprintf(why, sizeof why, "%s", tsr_error_message());
        TSR_FAIL_GOTO(status, done, "in the tile whose first voxel is (%lld, %lld, %lld): %s", (long long)from[0], (long long)from[1],
                      (long long)from[2], why);
    }
    if (status != TSR_OK) goto done;
    if (r->means && r->margin) { /* means read volumes of the tile's own size */
        const int64_t begin[3] = { tile[0] * r->side, tile[1] * r->side, tile[2] * r->side };
        TSR_TRY_GOTO(r->source->load(r->source->user, begin, size, inner), done);
    }
    TSR_TRY_GOTO(tsr_region_merge_add(r->merge, pyramid, tile, 0, (const tsr_volume *const *)(r->margin ? inner : channels),
                                      r->means ? r->source->channels : 0),
                 done);
    TSR_TRY_GOTO(tsr_context_synchronize(r->context), done);
done:
    for (int32_t c = 0; c < TSR_REGION_CHANNELS; c++) {
        tsr_volume_destroy(&channels[c]);
        tsr_volume_destroy(&inner[c]);
    }
    tsr_region_pyramid_destroy(&pyramid);
    return status;
}

int64_t tsr_region_tiles_side(const tsr_region_tiling *tiling)
{
    const int64_t side = tiling && tiling->tile ? tiling->tile : TSR_REGION_TILE;
    return side >= 8 && !(side & (side - 1)) ? side : 0;
}

tsr_status tsr_region_tree_from_source(tsr_context *context, const tsr_region_source *source, const tsr_region_options *options,
                                       const tsr_region_tiling *tiling, tsr_region_tree **tree, tsr_volume **values)
{
    tsr_region_tiling how;
    struct run r = { .context = context, .source = source };
    tsr_status status;
    int32_t level = 0;
    *tree = NULL;
    if (values) *values = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&r.options, options));
    TSR_TRY(TSR_OPTIONS_TAKE(&how, tiling));
    const tsr_region_options *o = &r.options;
    r.means = how.means && values && !o->nodes_only;
    r.margin = o->gradient || o->rule == TSR_REGION_EDGES || o->rule == TSR_REGION_LINEAR ||
               (o->rule == TSR_REGION_CLASSES && !tsr_classifier_local(o->classifier));
    if (!r.options.dimensions) r.options.dimensions = source->size.z > 1 ? 3 : 2;
    if (r.options.top) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: top is %d, expected 0", r.options.top);
    TSR_TRY(plan(source, &how, r.options.dimensions, &level));
    TSR_TRY(tsr_region_merge_create(&r.options, level, &r.merge));
    r.side = (int64_t)1 << level;
    r.options.top = level;
    const tsr_size3 n = source->size;
    const int64_t nx = tsr_ceil_div(n.x, r.side), ny = tsr_ceil_div(n.y, r.side), nz = tsr_ceil_div(n.z, r.side);
    for (int64_t i = 0; i < nx * ny * nz; i++) {
        const int64_t tile[3] = { i % nx, i / nx % ny, i / nx / ny };
        if (tsr_progress_report(&how.progress, (double)i / (double)(nx * ny * nz), "tiles"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled after %lld of %lld tiles", (long long)i, (long long)(nx * ny * nz));
        TSR_TRY_GOTO(add_tile(&r, tile), done);
    }
    TSR_TRY_GOTO(tsr_region_merge_tree(r.merge, (const int64_t[3]){ 0, 0, 0 }, n, &source->geometry, tree, values), done);
done:
    tsr_region_merge_destroy(&r.merge);
    return status;
}

/* ---- from host volumes --------------------------------------------------------------------------------------------------------------------- */

struct host_source {
    tsr_context *context;
    const tsr_volume *const *channels;
    int32_t count;
};

/* A box of a host volume on the device. */
static tsr_status cut(tsr_context *context, const tsr_volume *v, const int64_t lower[3], tsr_size3 size, tsr_volume **part)
{
    const size_t voxel = tsr_dtype_size(v->dtype), row = (size_t)size.x * voxel;
    tsr_volume *host = NULL;
    tsr_status status;
    TSR_TRY(tsr_volume_create_like(NULL, v, v->dtype, size, &v->geometry, &host));
    TSR_TRY_GOTO(tsr_volume_set_scaling(host, v->slope, v->intercept), done);
    for (int64_t z = 0; z < size.z; z++)
        for (int64_t y = 0; y < size.y; y++)
            memcpy((char *)host->data + (size_t)(z * size.y + y) * row,
                   (const char *)v->data + (size_t)(((lower[2] + z) * v->size.y + lower[1] + y) * v->size.x + lower[0]) * voxel, row);
    if (context->device.kind == TSR_DEVICE_CPU) {
        *part = host;
        return TSR_OK;
    }
    TSR_TRY_GOTO(tsr_volume_copy(host, context, part), done);
done:
    tsr_volume_destroy(&host);
    return status;
}

static tsr_status load_host(void *user, const int64_t lower[3], tsr_size3 size, tsr_volume **channels)
{
    const struct host_source *s = (const struct host_source *)user;
    for (int32_t c = 0; c < s->count; c++) TSR_TRY(cut(s->context, s->channels[c], lower, size, &channels[c]));
    return TSR_OK;
}

tsr_status tsr_region_tree_make_tiled(tsr_context *context, const tsr_volume *const *channels, int32_t count, const tsr_region_options *options,
                                      const tsr_region_tiling *tiling, tsr_region_tree **tree, tsr_volume **values)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(context);
    if (values) *values = NULL;
    if (!channels || count < 1 || count > TSR_REGION_CHANNELS) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: %d channels, expected 1 to 4", count);
    for (int32_t c = 0; c < count; c++) {
        const tsr_volume *v = channels[c];
        if (!v) TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: channel %d is NULL", c);
        if (v->context && v->context->device.kind != TSR_DEVICE_CPU)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: channel %d lies on a device, expected host memory", c);
        const tsr_size3 n = v->size, first = channels[0]->size;
        if (n.x != first.x || n.y != first.y || n.z != first.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "region tiles: channel %d has another size than channel 0", c);
    }
    struct host_source host = { context, channels, count };
    const tsr_region_source source = { channels[0]->size, channels[0]->geometry, count, load_host, NULL, &host };
    TSR_TRY(tsr_region_tree_from_source(context, &source, options, tiling, tree, values));
    return TSR_OK;
}
