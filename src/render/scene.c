#include "render/scene.h"
#include "tessera/records.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t align_up(size_t bytes) { return (bytes + 255) & ~(size_t)255; }

/* ---- dense volumes -------------------------------------------------------------------------------------------------------------- */

static void dense_release(tsr_context *context, tsr_dense **dense)
{
    tsr_dense *d = *dense;
    *dense = NULL;
    if (!d || --d->users > 0) return;
    tsr_volume_destroy(&d->owned);
    tsr_device_release(context, d->range, (size_t)d->brick_count * 8);
    tsr_device_release(context, d->slope, (size_t)d->brick_count * 4);
    free(d);
}

static tsr_status set_matrix(const tsr_geometry *g, const int32_t first[3], tsr_vec3 centre, tsr_field *f)
{
    tsr_vec3 zero, unit[3];
    TSR_TRY(tsr_geometry_to_index(g, centre, &zero));
    for (int k = 0; k < 3; k++) { /* columns of the inverse matrix */
        tsr_vec3 p = { g->affine[0][3] + (k == 0), g->affine[1][3] + (k == 1), g->affine[2][3] + (k == 2) };
        TSR_TRY(tsr_geometry_to_index(g, p, &unit[k]));
    }
    const double offset[3] = { zero.x - first[0], zero.y - first[1], zero.z - first[2] };
    for (int c = 0; c < 3; c++) {
        f->from_world[0][c] = (float)unit[c].x;
        f->from_world[1][c] = (float)unit[c].y;
        f->from_world[2][c] = (float)unit[c].z;
    }
    for (int r = 0; r < 3; r++) f->from_world[r][3] = (float)offset[r];
    tsr_vec3 spacing = tsr_geometry_spacing(g);
    f->spacing = (float)fmin(spacing.x, fmin(spacing.y, spacing.z));
    return TSR_OK;
}

static tsr_status brick_source(const tsr_dense *d, tsr_brick_source *source)
{
    tsr_field field;
    TSR_TRY(set_matrix(&d->geometry, (const int32_t[3]){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 0 }, &field));
    source->values = d->values;
    source->most = INFINITY;
    for (int k = 0; k < 3; k++) {
        source->size[k] = d->size[k];
        source->bricks[k] = d->bricks[k];
        for (int c = 0; c < 3; c++) source->matrix[k][c] = field.from_world[k][c];
    }
    return TSR_OK;
}

static tsr_status measure_values(tsr_context *context, const tsr_brick_source *source, int64_t bricks, float *range, float *slope,
                                 tsr_brick_counts *counts, tsr_brick_summary *found)
{
    TSR_TRY(context->backend->fill(context->queue, counts, 0, sizeof *counts));
    TSR_TRY(context->backend->render->ranges(context->queue, source, range, slope, counts));
    TSR_TRY(context->backend->render->summarize(context->queue, range, bricks, counts));
    TSR_TRY(context->backend->download(context->queue, found, counts, sizeof *found));
    return TSR_OK;
}

/* Ranges of the bricks, and from them least and largest value and a window. Rays meet infinite values, so the bricks' ranges hold them; a window cannot. */
static tsr_status measure(tsr_context *context, tsr_dense *d)
{
    tsr_status status;
    tsr_brick_source source;
    tsr_brick_summary found;
    tsr_brick_counts *counts = NULL;
    float *finite = NULL; /* ranges, slopes */
    const size_t bytes = (size_t)d->brick_count * 12;
    TSR_TRY(brick_source(d, &source));
    TSR_TRY_GOTO(tsr_device_allocate(context, sizeof *counts, (void **)&counts), done);
    TSR_TRY_GOTO(measure_values(context, &source, d->brick_count, d->range, d->slope, counts, &found), done);
    if (found.bricks > 0 && !(isfinite(tsr_key_float(~found.lowest)) && isfinite(tsr_key_float(found.highest)))) {
        TSR_TRY_GOTO(tsr_device_allocate(context, bytes, (void **)&finite), done);
        source.most = FLT_MAX;
        TSR_TRY_GOTO(measure_values(context, &source, d->brick_count, finite, finite + 2 * d->brick_count, counts, &found), done);
    }
    const int any = found.bricks > 0; /* else all is NaN or infinite */
    d->nan_voxels = (int64_t)found.nan_count;
    d->minimum = d->window_low = any ? (double)tsr_key_float(~found.lowest) : 0;
    d->maximum = any ? (double)tsr_key_float(found.highest) : 0;
    d->window_high = any ? (double)tsr_key_float(found.key) : 0;
    if (!(d->window_high > d->window_low)) d->window_high = d->maximum > d->minimum ? d->maximum : d->minimum + 1;
done:
    tsr_device_release(context, finite, bytes);
    tsr_device_release(context, counts, sizeof *counts);
    return status;
}

static tsr_status dense_create(tsr_context *context, const tsr_volume *volume, const char *name, tsr_dense **dense)
{
    tsr_status status;
    *dense = NULL;
    TSR_TRY(tsr_volume_require(context, volume, name));
    tsr_size3 size = tsr_volume_size(volume);
    if (size.x > 32768 || size.y > 32768 || size.z > 32768)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: extents %lld x %lld x %lld, expected at most 32768 each", name, (long long)size.x, (long long)size.y,
                 (long long)size.z);
    tsr_dense *d = (tsr_dense *)calloc(1, sizeof *d);
    if (!d) TSR_FAIL(TSR_ERROR_MEMORY, "scene: out of host memory");
    d->users = 1;
    d->volume = volume;
    d->geometry = *tsr_volume_geometry(volume);
    const int64_t extents[3] = { size.x, size.y, size.z };
    d->brick_count = 1;
    for (int k = 0; k < 3; k++) {
        d->size[k] = (int32_t)extents[k];
        d->bricks[k] = (int32_t)tsr_ceil_div(extents[k] > 1 ? extents[k] - 1 : 1, 8);
        d->brick_count *= d->bricks[k];
    }
    double slope, intercept;
    tsr_volume_scaling(volume, &slope, &intercept);
    d->values = (const float *)tsr_volume_data_const(volume);
    if (tsr_volume_dtype(volume) != TSR_F32 || slope != 1 || intercept != 0) {
        TSR_TRY_GOTO(tsr_volume_convert(context, volume, TSR_F32, &d->owned), fail);
        d->values = (const float *)tsr_volume_data_const(d->owned);
    }
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)d->brick_count * 8, (void **)&d->range), fail);
    TSR_TRY_GOTO(tsr_device_allocate(context, (size_t)d->brick_count * 4, (void **)&d->slope), fail);
    TSR_TRY_GOTO(measure(context, d), fail);
    *dense = d;
    return TSR_OK;
fail:
    dense_release(context, &d);
    return status;
}

static tsr_box bounds_empty(void) { return (tsr_box){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } }; }
static void bounds_add(tsr_box *b, tsr_vec3 p)
{
    b->lower = (tsr_vec3){ fmin(b->lower.x, p.x), fmin(b->lower.y, p.y), fmin(b->lower.z, p.z) };
    b->upper = (tsr_vec3){ fmax(b->upper.x, p.x), fmax(b->upper.y, p.y), fmax(b->upper.z, p.z) };
}
/* World box of the index box [low, high]. */
static void bounds_box(tsr_box *b, const tsr_geometry *g, const double low[3], const double high[3])
{
    for (int i = 0; i < 8; i++)
        bounds_add(b, tsr_geometry_to_world(g, (tsr_vec3){ i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2] }));
}

static void dense_bounds(const tsr_dense *d, tsr_box *b)
{
    const double low[3] = { 0, 0, 0 }, high[3] = { d->size[0] - 1, d->size[1] - 1, d->size[2] - 1 };
    bounds_box(b, &d->geometry, low, high);
}

/* Index box of the bricks in which the field changes sign. */
static tsr_status find_surface_box(tsr_scene *scene)
{
    const tsr_dense *d = scene->surface;
    tsr_context *c = scene->context;
    float *range = (float *)malloc((size_t)d->brick_count * 8);
    if (!range) TSR_FAIL(TSR_ERROR_MEMORY, "scene: out of host memory for the ranges of %lld bricks", (long long)d->brick_count);
    const tsr_status status = c->backend->download(c->queue, range, d->range, (size_t)d->brick_count * 8);
    scene->boxed = 0;
    for (int64_t b = 0; b < d->brick_count && status == TSR_OK; b++) {
        float least = range[2 * b], most = range[2 * b + 1];
        if (!(least <= most)) continue;
        int inside = scene->inside_below ? (double)least < scene->isovalue : (double)most > scene->isovalue;
        int outside = scene->inside_below ? (double)most >= scene->isovalue : (double)least <= scene->isovalue;
        if (!inside || !outside) continue;
        const int32_t at[3] = { (int32_t)(b % d->bricks[0]), (int32_t)(b / d->bricks[0] % d->bricks[1]),
                                (int32_t)(b / ((int64_t)d->bricks[0] * d->bricks[1])) };
        for (int k = 0; k < 3; k++) {
            double from = 8.0 * at[k], to = fmin(from + 8, d->size[k] - 1);
            scene->box_low[k] = scene->boxed ? fmin(scene->box_low[k], from) : from;
            scene->box_high[k] = scene->boxed ? fmax(scene->box_high[k], to) : to;
        }
        scene->boxed = 1;
    }
    free(range);
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- fields --------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_dense_field(const tsr_dense *d, tsr_vec3 centre, tsr_field *f)
{
    const int32_t first[3] = { 0, 0, 0 };
    memset(f, 0, sizeof *f);
    TSR_TRY(set_matrix(&d->geometry, first, centre, f));
    f->kind = TSR_FIELD_DENSE;
    memcpy(f->size, d->size, sizeof f->size);
    memcpy(f->bricks, d->bricks, sizeof f->bricks);
    f->log2_edge = TSR_BRICK_LOG2;
    f->scale = 1;
    f->values = d->values;
    f->range = d->range;
    f->slope = d->slope;
    return TSR_OK;
}

tsr_status tsr_scene_surface_field(const tsr_scene *s, tsr_vec3 centre, tsr_field *f)
{
    memset(f, 0, sizeof *f);
    f->kind = s->surface_kind;
    if (s->surface_kind == TSR_FIELD_DENSE) {
        TSR_TRY(tsr_dense_field(s->surface, centre, f));
        f->scale = s->inside_below ? 1.0f : -1.0f;
        f->offset = (float)(s->inside_below ? -s->isovalue : s->isovalue);
        f->cells = s->surface_cells;
    } else if (s->surface_kind == TSR_FIELD_TILES) {
        const int32_t edge = 1 << s->log2_edge, first[3] = { s->tile_origin[0] * edge, s->tile_origin[1] * edge, s->tile_origin[2] * edge };
        TSR_TRY(set_matrix(&s->tile_geometry, first, centre, f));
        memcpy(f->size, s->tile_size, sizeof f->size);
        memcpy(f->bricks, s->tile_bricks, sizeof f->bricks);
        f->log2_edge = s->log2_edge;
        f->scale = 1;
        f->offset = (float)-s->tile_isovalue;
        f->values = s->tile_values;
        f->table = s->table;
    }
    f->skip = s->surface_skip;
    return TSR_OK;
}

/* ---- the scene ------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_scene_create(tsr_context *context, tsr_scene **scene)
{
    TSR_RETURNS(scene);
    TSR_NEEDS(context);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **scene, (void **)scene));
    memset(*scene, 0, sizeof **scene);
    (*scene)->context = context;
    return TSR_OK;
}

static void clear_source(tsr_scene *s)
{
    if (!s->source) return;
    size_t bytes = align_up((size_t)s->source->brick_count);
    tsr_device_release(s->context, s->source_skip, bytes);
    tsr_device_release(s->context, s->source_scratch, bytes);
    s->source_skip = s->source_scratch = NULL;
    dense_release(s->context, &s->source);
}

void tsr_scene_clear_surface(tsr_scene *s)
{
    if (!s) return;
    if (s->surface) tsr_device_release(s->context, s->surface_cells, (size_t)s->surface->brick_count * 8);
    s->surface_cells = NULL;
    dense_release(s->context, &s->surface);
    tsr_device_release(s->context, s->surface_skip, s->surface_skip_bytes);
    tsr_device_release(s->context, s->surface_scratch, s->surface_skip_bytes);
    tsr_device_release(s->context, s->shell_skip, s->surface_skip_bytes);
    tsr_device_release(s->context, s->shell_scratch, s->surface_skip_bytes);
    if (s->table) tsr_device_release(s->context, s->table, (size_t)s->tile_bricks[0] * (size_t)s->tile_bricks[1] * (size_t)s->tile_bricks[2] * 4);
    if (s->bvh.nodes) {
        tsr_device_release(s->context, (void *)(uintptr_t)s->bvh.nodes, s->node_bytes);
        tsr_device_release(s->context, (void *)(uintptr_t)s->bvh.corners, s->corner_bytes);
        tsr_device_release(s->context, (void *)(uintptr_t)s->bvh.normals, s->corner_bytes);
    }
    s->surface_skip = s->surface_scratch = s->shell_skip = s->shell_scratch = NULL;
    s->surface_skip_bytes = 0;
    s->table = NULL;
    s->tile_values = NULL;
    s->records = NULL;
    s->tile_isovalue = 0;
    memset(&s->bvh, 0, sizeof s->bvh);
    s->surface_kind = TSR_FIELD_NONE;
    s->boxed = 0;
}

void tsr_scene_destroy(tsr_scene **scene)
{
    if (!scene || !*scene) return;
    tsr_scene *s = *scene;
    *scene = NULL;
    tsr_scene_drop_lookup(s);
    tsr_scene_clear_surface(s);
    clear_source(s);
    tsr_host_release(&s->context->host_allocator, s, sizeof *s);
}

tsr_status tsr_scene_set_volume(tsr_scene *scene, const tsr_volume *volume)
{
    TSR_NEEDS(scene);
    tsr_status status;
    tsr_dense *d = NULL;
    uint8_t *skip = NULL, *scratch = NULL;
    size_t bytes = 0;
    if (volume) {
        TSR_TRY(dense_create(scene->context, volume, "volume", &d));
        bytes = align_up((size_t)d->brick_count);
        TSR_TRY_GOTO(tsr_device_allocate(scene->context, bytes, (void **)&skip), fail);
        TSR_TRY_GOTO(tsr_device_allocate(scene->context, bytes, (void **)&scratch), fail);
    }
    clear_source(scene);
    scene->source = d;
    scene->source_skip = skip;
    scene->source_scratch = scratch;
    return TSR_OK;
fail:
    tsr_device_release(scene->context, skip, bytes);
    dense_release(scene->context, &d);
    return status;
}

static tsr_status allocate_skips(tsr_scene *s, int64_t bricks)
{
    s->surface_skip_bytes = align_up((size_t)bricks);
    TSR_TRY(tsr_device_allocate(s->context, s->surface_skip_bytes, (void **)&s->surface_skip));
    TSR_TRY(tsr_device_allocate(s->context, s->surface_skip_bytes, (void **)&s->surface_scratch));
    return TSR_OK;
}

tsr_status tsr_scene_set_surface_volume(tsr_scene *scene, const tsr_volume *volume, double isovalue, int inside_below)
{
    TSR_NEEDS(scene);
    tsr_status status;
    if (!isfinite(isovalue)) TSR_FAIL(TSR_ERROR_ARGUMENT, "isovalue %g, expected a finite number", isovalue);
    tsr_dense *d = NULL;
    if (volume && scene->source && scene->source->volume == volume) {
        d = scene->source;
        d->users++;
    } else {
        TSR_TRY(dense_create(scene->context, volume, "surface volume", &d));
    }
    tsr_scene_clear_surface(scene);
    scene->surface = d;
    scene->isovalue = isovalue;
    scene->inside_below = inside_below != 0;
    scene->surface_kind = TSR_FIELD_DENSE;
    TSR_TRY_GOTO(find_surface_box(scene), fail);
    tsr_brick_test test = { 0 };
    test.surface = 1;
    test.scale = scene->inside_below ? 1.0f : -1.0f;
    test.offset = (float)(scene->inside_below ? -isovalue : isovalue);
    TSR_TRY_GOTO(allocate_skips(scene, d->brick_count), fail);
    TSR_TRY_GOTO(
        scene->context->backend->render->skips(scene->context->queue, d->range, d->bricks, &test, scene->surface_skip, scene->surface_scratch), fail);
    if (scene->context->backend->render->cells) {
        tsr_brick_source source;
        TSR_TRY_GOTO(brick_source(d, &source), fail);
        TSR_TRY_GOTO(tsr_device_allocate(scene->context, (size_t)d->brick_count * 8, (void **)&scene->surface_cells), fail);
        TSR_TRY_GOTO(scene->context->backend->render->cells(scene->context->queue, &source, &test, scene->surface_skip, scene->surface_cells), fail);
    }
    return TSR_OK;
fail:
    tsr_scene_clear_surface(scene);
    return status;
}

/* Box of the stored tiles in tile coordinates, from their keys. */
static tsr_status tile_box(const tsr_tiles *tiles, const tsr_tile_state *state, int32_t low[3], int32_t high[3])
{
    uint64_t *keys = (uint64_t *)malloc((size_t)state->count * sizeof *keys);
    if (!keys) TSR_FAIL(TSR_ERROR_MEMORY, "scene: out of host memory for %d tile keys", state->count);
    tsr_status status = tsr_tiles_get_keys(tiles, state->list, state->count, keys);
    for (int32_t i = 0; status == TSR_OK && i < state->count; i++) {
        const int32_t at[3] = { tsr_key_x(keys[i]), tsr_key_y(keys[i]), tsr_key_z(keys[i]) };
        for (int k = 0; k < 3; k++) {
            low[k] = i ? tsr_mini(low[k], at[k]) : at[k];
            high[k] = i ? tsr_maxi(high[k], at[k]) : at[k];
        }
    }
    free(keys);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_scene_set_surface_tiles(tsr_scene *scene, const tsr_tiles *tiles)
{
    TSR_NEEDS(scene, tiles);
    tsr_status status;
    if (tiles->context != scene->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "the tile list belongs to another context: copy it with tsr_tiles_copy");
    TSR_TRY(tsr_tiles_need_f32(tiles, "scene"));
    tsr_tile_state state;
    TSR_TRY(scene->context->backend->download(scene->context->queue, &state, tiles->pool.state, sizeof state));
    if (state.count == 0) TSR_FAIL(TSR_ERROR_STATE, "the tile list is empty: there is no surface to draw");
    int32_t low[3] = { 0 }, high[3] = { 0 };
    TSR_TRY(tile_box(tiles, &state, low, high));
    int64_t count = 1;
    for (int k = 0; k < 3; k++) count *= high[k] - low[k] + 1;
    if (count > (int64_t)1 << 31)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "the stored tiles span %d x %d x %d tiles, expected a box of at most 2^31", high[0] - low[0] + 1,
                 high[1] - low[1] + 1, high[2] - low[2] + 1);
    tsr_scene_clear_surface(scene);
    scene->surface_kind = TSR_FIELD_TILES;
    scene->log2_edge = tiles->pool.log2_edge;
    scene->tile_geometry = tiles->geometry;
    scene->tile_values = tiles->pool.phi[state.phi];
    scene->tile_band = tiles->pool.band;
    for (int k = 0; k < 3; k++) {
        scene->tile_origin[k] = low[k];
        scene->tile_bricks[k] = high[k] - low[k] + 1;
        scene->tile_size[k] = scene->tile_bricks[k] << scene->log2_edge;
        if (tiles->pool.bounded) scene->tile_size[k] = tsr_mini(scene->tile_size[k], tiles->pool.domain[k] - (low[k] << scene->log2_edge));
    }
    TSR_TRY_GOTO(tsr_device_allocate(scene->context, (size_t)count * 4, (void **)&scene->table), fail);
    TSR_TRY_GOTO(allocate_skips(scene, count), fail);
    TSR_TRY_GOTO(scene->context->backend->render->tile_table(scene->context->queue, &tiles->pool, &state, scene->tile_origin, scene->tile_bricks,
                                                             scene->table, scene->surface_skip, scene->surface_scratch),
                 fail);
    return TSR_OK;
fail:
    tsr_scene_clear_surface(scene);
    return status;
}

tsr_status tsr_scene_set_surface_records(tsr_scene *scene, const tsr_records *records, int cull)
{
    TSR_NEEDS(scene, records);
    if (scene->surface_kind != TSR_FIELD_TILES)
        TSR_FAIL(TSR_ERROR_STATE,
                 "records: the scene's surface is no tile list: set the list that they came from first (tsr_scene_set_surface_tiles)");
    TSR_TRY(tsr_records_belong(records, scene->context, &scene->tile_geometry));
    scene->records = records;
    scene->tile_isovalue = tsr_records_isovalue(records);
    scene->cull = cull != 0;
    return TSR_OK;
}

tsr_status tsr_scene_set_surface_mesh(tsr_scene *scene, const tsr_mesh *mesh)
{
    TSR_NEEDS(scene, mesh);
    tsr_status status;
    tsr_mesh *copy = NULL;
    tsr_bvh_host host;
    if (mesh->context && mesh->context->device.kind != TSR_DEVICE_CPU) TSR_TRY(tsr_mesh_copy(mesh, NULL, &copy));
    status = tsr_bvh_build(copy ? copy : mesh, &host);
    tsr_mesh_destroy(&copy);
    TSR_TRY(status);
    tsr_scene_clear_surface(scene);
    scene->surface_kind = TSR_FIELD_MESH;
    scene->node_bytes = (size_t)host.node_count * sizeof(tsr_bvh_node);
    scene->corner_bytes = (size_t)host.triangles * 36;
    scene->mesh_origin = host.origin;
    scene->mesh_bounds = host.bounds;
    scene->mesh_space = mesh->space;
    scene->bvh.triangles = host.triangles;
    const tsr_backend *backend = scene->context->backend;
    void *nodes = NULL, *corners = NULL, *normals = NULL;
    TSR_TRY_GOTO(tsr_device_allocate(scene->context, scene->node_bytes, &nodes), fail);
    scene->bvh.nodes = (const tsr_bvh_node *)nodes;
    TSR_TRY_GOTO(tsr_device_allocate(scene->context, scene->corner_bytes, &corners), fail);
    scene->bvh.corners = (const float *)corners;
    TSR_TRY_GOTO(tsr_device_allocate(scene->context, scene->corner_bytes, &normals), fail);
    scene->bvh.normals = (const float *)normals;
    TSR_TRY_GOTO(backend->upload(scene->context->queue, nodes, host.nodes, scene->node_bytes), fail);
    TSR_TRY_GOTO(backend->upload(scene->context->queue, corners, host.corners, scene->corner_bytes), fail);
    TSR_TRY_GOTO(backend->upload(scene->context->queue, normals, host.normals, scene->corner_bytes), fail);
    tsr_bvh_free(&host);
    return TSR_OK;
fail:
    tsr_bvh_free(&host);
    tsr_scene_clear_surface(scene);
    return status;
}

static int surface_bounds(const tsr_scene *s, tsr_box *b)
{
    double low[3], high[3];
    *b = bounds_empty();
    if (s->surface_kind == TSR_FIELD_MESH) {
        *b = s->mesh_bounds;
        return 1;
    }
    if (s->surface_kind == TSR_FIELD_TILES) {
        for (int k = 0; k < 3; k++) {
            low[k] = (double)s->tile_origin[k] * (1 << s->log2_edge);
            high[k] = low[k] + s->tile_size[k] - 1;
        }
        bounds_box(b, &s->tile_geometry, low, high);
        return 1;
    }
    if (!s->boxed) return 0;
    bounds_box(b, &s->surface->geometry, s->box_low, s->box_high);
    return 1;
}

static tsr_space surface_space(const tsr_scene *s)
{
    return s->surface_kind == TSR_FIELD_MESH    ? s->mesh_space
           : s->surface_kind == TSR_FIELD_TILES ? s->tile_geometry.space
                                                : s->surface->geometry.space;
}

static double finest(const tsr_geometry *g)
{
    tsr_vec3 s = tsr_geometry_spacing(g);
    return fmin(s.x, fmin(s.y, s.z));
}

void tsr_dense_describe(const tsr_dense *d, tsr_scene_info *info)
{
    info->bounds = bounds_empty();
    dense_bounds(d, &info->bounds);
    info->space = d->geometry.space;
    info->spacing = finest(&d->geometry);
}

tsr_status tsr_scene_describe(const tsr_scene *s, tsr_scene_info *info)
{
    static const char *const names[] = { "none", "RAS", "LPS" };
    if (!s || !info) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", s ? "info" : "scene");
    tsr_scene_info own = TSR_SCENE_INFO;
    TSR_TRY(TSR_STRUCT_GIVE(info, &own));
    own.has_volume = s->source != NULL;
    own.has_surface = s->surface_kind != TSR_FIELD_NONE;
    if (!own.has_volume && !own.has_surface) TSR_FAIL(TSR_ERROR_STATE, "the scene is empty: set a volume or a surface first");
    own.bounds = bounds_empty();
    if (s->source) {
        tsr_dense_describe(s->source, &own);
        own.minimum = s->source->minimum;
        own.maximum = s->source->maximum;
        own.window_low = s->source->window_low;
        own.window_high = s->source->window_high;
        own.nan_voxels = s->source->nan_voxels;
    }
    if (own.has_surface) {
        tsr_space space = surface_space(s);
        if (s->source && space != own.space && space != TSR_SPACE_NONE && own.space != TSR_SPACE_NONE)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "the volume's world is %s and the surface's %s: convert one with tsr_geometry_convert", names[own.space],
                     names[space]);
        if (!s->source || own.space == TSR_SPACE_NONE) own.space = space;
        int found = surface_bounds(s, &own.surface_bounds);
        if (s->surface_kind == TSR_FIELD_DENSE) {
            dense_bounds(s->surface, &own.bounds);
        } else {
            bounds_add(&own.bounds, own.surface_bounds.lower);
            bounds_add(&own.bounds, own.surface_bounds.upper);
        }
        if (!found) own.surface_bounds = own.bounds;
        if (!s->source && s->surface_kind == TSR_FIELD_DENSE) own.spacing = finest(&s->surface->geometry);
        if (!s->source && s->surface_kind == TSR_FIELD_TILES) own.spacing = finest(&s->tile_geometry);
        if (!s->source && s->surface_kind == TSR_FIELD_MESH) own.spacing = tsr_vec3_length(tsr_vec3_sub(own.bounds.upper, own.bounds.lower)) / 256;
    } else {
        own.surface_bounds = own.bounds;
    }
    if (!(own.spacing > 0)) own.spacing = 1; /* a mesh of one point */
    own.device_bytes = (int64_t)s->surface_skip_bytes * (s->shell_skip ? 4 : 2) + (int64_t)s->lookup.bytes +
                       (int64_t)(s->node_bytes + 2 * s->corner_bytes) * (s->bvh.nodes != NULL);
    if (s->table) own.device_bytes += (int64_t)s->tile_bricks[0] * s->tile_bricks[1] * s->tile_bricks[2] * 4;
    const tsr_dense *held[2] = { s->source, s->surface == s->source ? NULL : s->surface };
    for (int i = 0; i < 2; i++)
        if (held[i]) own.device_bytes += (held[i]->owned ? tsr_volume_count(held[i]->owned) * 4 : 0) + held[i]->brick_count * 12;
    if (s->surface_cells) own.device_bytes += s->surface->brick_count * 8;
    if (s->source) own.device_bytes += 2 * (int64_t)align_up((size_t)s->source->brick_count);
    return TSR_STRUCT_GIVE(info, &own);
}
