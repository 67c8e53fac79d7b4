/* mesh/voxelize.c: host logic of mesh to level set: checks, sizes, memory, the order of the passes. */
#include "tessera/voxelize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/memory_limit.h"
#include "mesh/mesh.h"
#include "tiles/tiles.h"
#include "volume/volume.h"
#include "mesh/voxelize_job.h"
#include "tessera/primitives.h"
#include "tessera/tiles.h"

enum { MOST_FRACTION = 20, FIXED_BITS = 30, TILES_AT_ONCE = 1 << 14, ROWS_AT_ONCE = 1 << 24 }; /* looks at progress between so many */

/* ---- memory ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_status take(struct tsr_vox_job *j, int64_t bytes, const char *what, void **memory)
{
    int slot = 0;
    *memory = NULL;
    while (slot < TSR_VOX_PIECES && j->piece[slot].memory) slot++;
    TSR_ASSERT(slot < TSR_VOX_PIECES);
    if (j->options.memory_limit > 0 && j->held + bytes > j->options.memory_limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "voxelize: %lld bytes for %s make %lld in all, the memory_limit is %lld", (long long)bytes, what,
                 (long long)(j->held + bytes), (long long)j->options.memory_limit);
    TSR_TRY(tsr_device_allocate(j->context, (size_t)bytes, memory));
    j->piece[slot].memory = *memory;
    j->piece[slot].bytes = (size_t)bytes;
    j->piece[slot].kept = 0;
    j->held += bytes;
    j->report.work_bytes = tsr_max64(j->report.work_bytes, j->held);
    return TSR_OK;
}
#define TAKE(field, count, what) take(j, (int64_t)(count) * (int64_t)sizeof *(field), (what), (void **)&(field))

static void give(struct tsr_vox_job *j, const void *memory)
{
    for (int slot = 0; memory && slot < TSR_VOX_PIECES; slot++)
        if (j->piece[slot].memory == memory) {
            tsr_device_release(j->context, j->piece[slot].memory, j->piece[slot].bytes);
            j->held -= (int64_t)j->piece[slot].bytes;
            j->piece[slot].memory = NULL;
            return;
        }
}

tsr_status tsr_vox_take_copy(struct tsr_vox_job *j, const void *host, int64_t bytes, const char *what, const void **copy)
{
    void *memory;
    TSR_TRY(take(j, bytes, what, &memory));
    *copy = memory;
    for (int slot = 0; slot < TSR_VOX_PIECES; slot++)
        if (j->piece[slot].memory == memory) j->piece[slot].kept = 1;
    TSR_TRY(j->context->backend->upload(j->context->queue, memory, host, (size_t)bytes));
    return TSR_OK;
}

static void release_pass(struct tsr_vox_job *j)
{
    for (int slot = 0; slot < TSR_VOX_PIECES; slot++)
        if (!j->piece[slot].kept) give(j, j->piece[slot].memory);
}

static void release(struct tsr_vox_job *j)
{
    for (int slot = 0; slot < TSR_VOX_PIECES; slot++) give(j, j->piece[slot].memory);
    tsr_vox_boundary_free(&j->boundary);
    free(j->holes);
    j->holes = NULL;
}

/* ---- what the caller gave ---------------------------------------------------------------------------------------------------------------- */

static tsr_status check_mesh(const tsr_context *context, const tsr_mesh *mesh)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh is NULL");
    int on_host = !mesh->context || mesh->context->device.kind == TSR_DEVICE_CPU;
    if (mesh->context != context && !(on_host && context->device.kind == TSR_DEVICE_CPU))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: it lives on %s, the context is %s: copy it with tsr_mesh_copy",
                 tsr_device_kind_name(tsr_mesh_device(mesh).kind), tsr_device_kind_name(context->device.kind));
    if (mesh->triangle_count == 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh: it has no triangles (%lld vertices)", (long long)mesh->vertex_count);
    if (mesh->triangle_count >= (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mesh: %lld triangles, expected fewer than 4294967295", (long long)mesh->triangle_count);
    return TSR_OK;
}

/* Spacing, unit axes and origin from the geometry; axes must be orthogonal: distances are measured along them. */
static tsr_status set_axes(struct tsr_vox_job *j)
{
    const tsr_voxelize_options *o = &j->options;
    const double given[3] = { o->spacing.x, o->spacing.y, o->spacing.z }, origin[3] = { o->origin.x, o->origin.y, o->origin.z };
    if (o->geometry) {
        TSR_TRY(tsr_geometry_check(o->geometry));
        j->geometry = *o->geometry;
    } else {
        for (int k = 0; k < 3; k++) {
            if (!(given[k] > 0) || !isfinite(given[k]))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: spacing along %c is %g, expected a positive number", 'x' + k, given[k]);
            if (!isfinite(origin[k])) TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: origin along %c is %g, expected a finite number", 'x' + k, origin[k]);
        }
        j->geometry = tsr_geometry_make(o->spacing, o->origin, j->mesh->space);
    }
    tsr_vec3 h = tsr_geometry_spacing(&j->geometry);
    const double spacing[3] = { h.x, h.y, h.z };
    double smallest = fmin(h.x, fmin(h.y, h.z)), largest = fmax(h.x, fmax(h.y, h.z));
    if (largest > 1000 * smallest || smallest < 1e-15 || largest > 1e15)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: spacing is %g x %g x %g, expected 1e-15 to 1e15, the largest at most 1000 times the smallest", h.x,
                 h.y, h.z);
    for (int k = 0; k < 3; k++) {
        j->g.spacing[k] = spacing[k];
        j->g.inverse[k] = 1 / spacing[k];
        j->g.h[k] = (float)spacing[k];
        j->g.origin[k] = j->geometry.affine[k][3] - j->mesh->origin[k]; /* as the vertices count */
        for (int r = 0; r < 3; r++) j->g.axis[k][r] = j->geometry.affine[r][k] / spacing[k];
    }
    TSR_TRY(tsr_geometry_check_perpendicular(&j->geometry, "voxelize: geometry"));
    j->g.mirrored = tsr_geometry_determinant(&j->geometry) < 0;
    return TSR_OK;
}

static tsr_status set_options(struct tsr_vox_job *j)
{
    tsr_voxelize_options *o = &j->options;
    tsr_vox_grid *g = &j->g;
    double smallest = fmin(g->spacing[0], fmin(g->spacing[1], g->spacing[2])), largest = fmax(g->spacing[0], fmax(g->spacing[1], g->spacing[2]));
    if (o->band == 0) o->band = tsr_band_default((tsr_vec3){ g->spacing[0], g->spacing[1], g->spacing[2] }, 3);
    if (!(o->band >= smallest && o->band <= 1000 * smallest))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: band is %g, expected 1 to 1000 voxels of %g", o->band, smallest);
    if (o->edge == 0) o->edge = 8;
    if (o->edge != 4 && o->edge != 8) TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: edge is %d, expected 4 or 8", o->edge);
    if ((unsigned)o->rule > TSR_VOXELIZE_SHELL)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: rule is %d, expected nonzero, even-odd, positive or shell", (int)o->rule);
    if (o->rule == TSR_VOXELIZE_SHELL && o->thickness == 0) o->thickness = 2 * largest;
    if (o->rule == TSR_VOXELIZE_SHELL && !(o->thickness > 0 && o->thickness <= 1000 * smallest))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: thickness is %g, expected more than 0, at most 1000 voxels of %g", o->thickness, smallest);
    if (o->memory_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: memory_limit is %lld, expected 0 (none) or more", (long long)o->memory_limit);
    g->rule = (int32_t)o->rule;
    g->log2_edge = o->edge == 8 ? 3 : 2;
    g->band = (float)o->band;
    g->shell = o->rule == TSR_VOXELIZE_SHELL ? (float)(0.5 * o->thickness) : 0;
    g->reach = g->band + g->shell;
    g->touch = fmaxf(g->reach, (float)largest) * 1.001f;
    g->vertices = j->mesh->vertex_count;
    g->triangles = j->mesh->triangle_count;
    g->vertex = j->mesh->vertices;
    g->corner = g->faced = j->mesh->triangles;
    return TSR_OK;
}

/* ---- extent ------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status name_bad_vertex(const struct tsr_vox_job *j, int64_t vertex)
{
    float p[3] = { 0, 0, 0 };
    TSR_TRY(j->context->backend->download(j->context->queue, p, j->mesh->vertices + 3 * vertex, sizeof p));
    TSR_FAIL(TSR_ERROR_FORMAT, "mesh: vertex %lld is (%g, %g, %g), expected finite numbers", (long long)vertex, (double)p[0], (double)p[1],
             (double)p[2]);
}
static tsr_status name_bad_corner(const struct tsr_vox_job *j, int64_t at)
{
    uint32_t index = 0;
    TSR_TRY(j->context->backend->download(j->context->queue, &index, j->mesh->triangles + at, sizeof index));
    TSR_FAIL(TSR_ERROR_FORMAT, "mesh: corner %d of triangle %lld is vertex %u, expected less than %lld", (int)(at % 3), (long long)(at / 3), index,
             (long long)j->mesh->vertex_count);
}

/* Box of tiles, bits of packed keys, the fixed positions' origin and unit. */
static tsr_status set_extent(struct tsr_vox_job *j)
{
    tsr_vox_grid *g = &j->g;
    double longest = 1;
    int32_t bits[3];
    for (int k = 0; k < 3; k++) {
        double lower = tsr_vox_unorder(j->found.lower[k]), upper = tsr_vox_unorder(j->found.upper[k]), h = g->spacing[k], touch = (double)g->touch;
        const double limit = (double)(TSR_KEY_BIAS - 4) * (double)(1 << g->log2_edge);
        if (!((lower - touch) / h > -limit && (upper + touch) / h < limit))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "voxelize: the mesh spans voxels %.0f to %.0f along %c, expected within +-%.0f: use a larger spacing, here %.3g, or an origin "
                     "near it",
                     lower / h, upper / h, 'x' + k, limit, 1.01 * (fmax(fabs(lower), fabs(upper)) + touch) / limit);
        tsr_vox_range(g, k, lower - touch, upper + touch, &g->first[k], &g->last[k]);
        j->lower[k] = g->first[k];
        j->upper[k] = g->last[k];
        for (int64_t i = 0; i < j->hole_count; i++) {
            const int32_t at = k == 0 ? tsr_key_x(j->holes[i]) : k == 1 ? tsr_key_y(j->holes[i]) : tsr_key_z(j->holes[i]);
            g->first[k] = at < g->first[k] ? at : g->first[k];
            g->last[k] = at > g->last[k] ? at : g->last[k];
        }
        g->base[k] = tsr_vox_floor(lower / h) - 1;
        longest = fmax(longest, (upper - lower) / h + 4);
        bits[k] = 0;
        while ((int64_t)1 << bits[k] < (int64_t)g->last[k] - g->first[k] + 1) bits[k]++;
    }
    g->shift[1] = bits[0];
    g->shift[2] = bits[0] + bits[1];
    g->shift[0] = bits[0] + bits[1] + bits[2];
    g->fraction = FIXED_BITS;
    while (g->fraction > 1 && longest * ldexp(1, g->fraction) > ldexp(1, FIXED_BITS)) g->fraction--;
    if (g->fraction > MOST_FRACTION) g->fraction = MOST_FRACTION;
    if (j->found.rows > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "voxelize: the triangles meet about %lld rows of tiles, expected fewer than 4294967296: use a larger spacing",
                 (long long)j->found.rows);
    return TSR_OK;
}

static tsr_status survey(struct tsr_vox_job *j)
{
    const tsr_backend *backend = j->context->backend;
    TSR_TRY(TAKE(j->summary, 1, "the summary"));
    TSR_TRY(backend->voxelize->survey(j->context->queue, &j->g, j->summary));
    TSR_TRY(backend->download(j->context->queue, &j->found, j->summary, sizeof j->found));
    if (j->found.bad_vertex != INT64_MAX) TSR_TRY(name_bad_vertex(j, j->found.bad_vertex));
    if (j->found.bad_corner != INT64_MAX) TSR_TRY(name_bad_corner(j, j->found.bad_corner));
    TSR_TRY(set_extent(j));
    return TSR_OK;
}

/* ---- bins ------------------------------------------------------------------------------------------------------------------------------------ */

/* Frames and counts of the triangles. A CPU takes minutes where they are large in tiles, and looks at the progress between slices of about ROWS_AT_ONCE rows. */
static tsr_status frames_in_slices(struct tsr_vox_job *j, double from, double to)
{
    const int64_t n = j->g.triangles, least = 512;
    const int slices = j->context->device.kind == TSR_DEVICE_CPU && j->found.rows > ROWS_AT_ONCE;
    const int64_t most = slices ? tsr_max64((int64_t)((double)n * ROWS_AT_ONCE / (double)j->found.rows), least) : n;
    int64_t begin = 0;
    do {
        tsr_vox_grid slice = j->g;
        slice.triangles = tsr_min64(most, n - begin);
        slice.corner += 3 * begin;
        if (slice.triangle) slice.triangle += begin;
        slice.count += begin;
        if (slice.few) slice.few += begin;
        if (begin) slice.vertices = 0; /* their positions are made */
        TSR_PROGRESS(&j->options.progress, from + (to - from) * (double)begin / (double)tsr_max64(n, 1), "triangles");
        TSR_TRY(j->context->backend->voxelize->frames(j->context->queue, &slice, j->summary));
        begin += most;
    } while (begin < n);
    return TSR_OK;
}

static tsr_status frames(struct tsr_vox_job *j)
{
    tsr_vox_grid *g = &j->g;
    const tsr_backend *backend = j->context->backend;
    size_t bytes;
    void *workspace;
    uint64_t total;
    TSR_TRY(TAKE(g->fixed, g->vertices, "positions"));
    TSR_TRY(TAKE(g->count, g->triangles, "counts"));
    if (backend->voxelize->cells) TSR_TRY(TAKE(g->few, g->triangles, "boxes"));
    else TSR_TRY(TAKE(g->triangle, g->triangles, "triangles"));
    TSR_TRY(TAKE(g->offset, g->triangles, "offsets"));
    TSR_TRY(tsr_scan_workspace(j->context, g->triangles, &bytes));
    TSR_TRY(take(j, (int64_t)bytes, "a scan", &workspace));
    TSR_TRY(frames_in_slices(j, 0.05, 0.2));
    TSR_TRY(tsr_scan(j->context, TSR_SCAN_INCLUSIVE, TSR_U32, g->count, g->triangles, TSR_U64, g->offset, workspace, bytes));
    TSR_TRY(backend->download(j->context->queue, &total, g->offset + g->triangles - 1, sizeof total));
    TSR_TRY(backend->download(j->context->queue, &j->found, j->summary, sizeof j->found));
    give(j, workspace);
    j->report.degenerate_triangles = j->found.degenerate;
    if ((j->found.edges != 0 || j->inverted) && !j->sorted_out) TSR_TRY(tsr_vox_open_mesh(j));
    j->sorted_out = 1;
    g->pairs = (int64_t)total + j->hole_count;
    if (total + (uint64_t)j->hole_count >= UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "voxelize: %llu pairs of tile and triangle, expected fewer than 4294967295: use a larger spacing",
                 (unsigned long long)total);
    j->report.pairs = g->pairs;
    return TSR_OK;
}

/* Packed, within the tiles of this pass. */
static tsr_status put_holes(const struct tsr_vox_job *j, uint64_t *keys)
{
    if (!j->hole_count) return TSR_OK;
    uint64_t *packed = (uint64_t *)malloc((size_t)j->hole_count * sizeof *packed);
    if (!packed) TSR_FAIL(TSR_ERROR_MEMORY, "voxelize: out of memory for %lld tiles across holes", (long long)j->hole_count);
    for (int64_t i = 0; i < j->hole_count; i++) {
        const uint64_t key = j->holes[i];
        packed[i] = tsr_vox_pack(&j->g, tsr_key_x(key), tsr_key_y(key), tsr_key_z(key));
    }
    tsr_status status = j->context->backend->upload(j->context->queue, keys, packed, (size_t)j->hole_count * sizeof *packed);
    if (status == TSR_OK) status = tsr_context_synchronize(j->context);
    free(packed);
    return status;
}

/* Tiles of the box, or 0 where they are too many for a counter each. */
static int64_t cells_of(const struct tsr_vox_job *j)
{
    const tsr_vox_grid *g = &j->g;
    const int64_t most = 8 * g->pairs + (1 << 16);
    int64_t cells = 1;
    for (int k = 0; k < 3; k++) {
        const int64_t n = (int64_t)g->last[k] - g->first[k] + 1;
        if (n > most / cells) return 0;
        cells *= n;
    }
    return cells <= (int64_t)UINT32_MAX && j->context->backend->voxelize->cells ? cells : 0;
}

/* By counting: 8 bytes a pair, and 4 a tile of the box. */
static tsr_status bins_by_cells(struct tsr_vox_job *j, int64_t cells)
{
    tsr_vox_grid *g = &j->g;
    const tsr_voxelize_ops *ops = j->context->backend->voxelize;
    uint32_t *times;
    TSR_TRY(TAKE(g->cell, g->pairs, "tiles of triangles"));
    TSR_TRY(TAKE(times, cells, "counters of tiles"));
    TSR_TRY(ops->cells(j->context->queue, g, j->holes, j->hole_count));
    give(j, g->few);
    give(j, g->count);
    g->tiles = ops->count_cells(g, times, cells);
    TSR_TRY(TAKE(g->start, g->tiles + 1, "starts of bins"));
    TSR_TRY(TAKE(g->tile_key, g->tiles, "keys of tiles"));
    TSR_TRY(TAKE(g->sorted_owner, g->pairs, "triangles of tiles"));
    ops->deal(g, times, cells);
    give(j, times);
    give(j, g->cell);
    give(j, g->offset);
    return TSR_OK;
}

static tsr_status bins_by_sorting(struct tsr_vox_job *j)
{
    tsr_vox_grid *g = &j->g;
    tsr_context *context = j->context;
    const tsr_backend *backend = context->backend;
    size_t bytes;
    void *workspace;
    uint64_t *found;
    uint32_t end = (uint32_t)g->pairs;
    TSR_TRY(TAKE(g->key, g->pairs, "keys"));
    TSR_TRY(TAKE(g->owner, g->pairs, "owners of keys"));
    TSR_TRY(TAKE(g->sorted_key, g->pairs, "sorted keys"));
    TSR_TRY(TAKE(g->sorted_owner, g->pairs, "owners of sorted keys"));
    TSR_TRY(tsr_sort_workspace(context, TSR_U64, 1, g->pairs, &bytes));
    TSR_TRY(take(j, (int64_t)bytes, "sorting", &workspace));
    TSR_TRY(backend->voxelize->pairs(context->queue, g));
    int64_t of_triangles = g->pairs - j->hole_count;
    TSR_TRY(put_holes(j, g->key + of_triangles));
    TSR_TRY(backend->fill(context->queue, g->owner + of_triangles, 0xff, (size_t)j->hole_count * sizeof *g->owner));
    TSR_TRY(tsr_sort(context, TSR_U64, g->key, g->sorted_key, g->owner, g->sorted_owner, g->pairs, 0, g->shift[0], workspace, bytes));
    give(j, workspace);
    give(j, g->key);
    give(j, g->owner);
    give(j, g->count);
    give(j, g->few);
    give(j, g->offset);
    TSR_TRY(TAKE(g->head, g->pairs, "heads of bins"));
    TSR_TRY(TAKE(found, 1, "a count"));
    TSR_TRY(backend->voxelize->heads(context->queue, g));
    const tsr_predicate set = { .kind = TSR_KEEP_NONZERO };
    TSR_TRY(tsr_count_host(context, set, TSR_U8, g->head, g->pairs, &g->tiles));
    TSR_TRY(TAKE(g->start, g->tiles + 1, "starts of bins"));
    TSR_TRY(tsr_select_workspace(context, g->pairs, &bytes));
    TSR_TRY(take(j, (int64_t)bytes, "bins", &workspace));
    TSR_TRY(tsr_select_indices(context, set, TSR_U8, g->head, g->pairs, TSR_U32, g->start, g->tiles, found, workspace, bytes));
    TSR_TRY(backend->upload(context->queue, g->start + g->tiles, &end, sizeof end));
    give(j, workspace);
    give(j, g->head);
    return TSR_OK;
}

static tsr_status bins(struct tsr_vox_job *j)
{
    const int64_t cells = cells_of(j);
    j->g.tile_key = NULL; /* of a pass before */
    TSR_TRY(cells ? bins_by_cells(j, cells) : bins_by_sorting(j));
    return TSR_OK;
}

/* ---- the list ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status make_list(struct tsr_vox_job *j, tsr_tiles **tiles)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    int64_t voxels = (int64_t)1 << (3 * j->g.log2_edge), wanted = j->g.tiles + j->g.tiles / 4 + TSR_TILE_FIRST + 64;
    options.edge = j->options.edge;
    options.band = j->options.band;
    options.capacity = wanted;
    options.memory_limit = j->options.memory_limit;
    int64_t least = wanted * 2 * voxels * (int64_t)sizeof(float);
    if (wanted > (int64_t)1 << 30)
        TSR_FAIL(TSR_ERROR_CAPACITY, "voxelize: %lld tiles, at most 2^30 are possible: use a larger spacing", (long long)j->g.tiles);
    if (options.memory_limit > 0 && j->held + least > options.memory_limit)
        TSR_FAIL(TSR_ERROR_CAPACITY, "voxelize: %lld tiles make %lld bytes in all, the memory_limit is %lld", (long long)j->g.tiles,
                 (long long)(j->held + least), (long long)options.memory_limit);
    TSR_TRY(tsr_tiles_create(j->context, &j->geometry, &options, tiles));
    return TSR_OK;
}

static tsr_status fill_list(struct tsr_vox_job *j, tsr_tiles *list)
{
    tsr_vox_grid *g = &j->g;
    tsr_context *context = j->context;
    const tsr_voxelize_ops *ops = context->backend->voxelize;
    tsr_tile_state state;
    TSR_TRY(tsr_tiles_read_state(list, &state));
    state.count = (int32_t)g->tiles;
    state.free_count = list->pool.capacity - TSR_TILE_FIRST - state.count;
    TSR_TRY(context->backend->upload(context->queue, list->pool.state, &state, sizeof state));
    if (g->rule != TSR_VOX_RULE_SHELL) {
        TSR_TRY(TAKE(g->before, g->tiles << (2 * g->log2_edge), "winding numbers"));
        TSR_TRY(TAKE(g->after, g->tiles, "winding numbers"));
    }
    if (g->node) {
        TSR_TRY(TAKE(g->exit, g->tiles << (2 * g->log2_edge), "winding numbers"));
        TSR_TRY(TAKE(g->face, g->tiles, "sides of tiles"));
    }
    const int64_t part = context->device.kind == TSR_DEVICE_CPU ? TILES_AT_ONCE : g->tiles;
    for (int64_t t = 0; t < g->tiles; t += part) {
        TSR_PROGRESS(&j->options.progress, 0.4 + 0.4 * (double)t / (double)g->tiles, "distances");
        TSR_TRY(ops->fill(context->queue, g, &list->pool, t, tsr_min64(t + part, g->tiles)));
    }
    TSR_PROGRESS(&j->options.progress, 0.8, "signs");
    if (g->before) TSR_TRY(ops->wind(context->queue, g, &list->pool));
    TSR_TRY(ops->sign(context->queue, g, &list->pool));
    return TSR_OK;
}

static tsr_status finish_list(const struct tsr_vox_job *j, tsr_tiles *list)
{
    TSR_PROGRESS(&j->options.progress, 0.9, "tile management");
    TSR_TRY(j->context->backend->tiles->refresh(j->context->queue, &list->pool));
    TSR_TRY(tsr_tiles_manage(list));
    return TSR_OK;
}

/* Are there numbers of both signs in a consistent mesh? Then a closed piece is inside out, and where it overlaps others they add up to 0. */
static tsr_status look_for_inverted(struct tsr_vox_job *j, int *again)
{
    const tsr_vox_grid *g = &j->g;
    const int64_t rows = g->tiles << (2 * g->log2_edge);
    tsr_reduced least, most;
    if (g->rule != TSR_VOX_RULE_NONZERO || j->inverted || j->found.edges != 0 || !g->before) return TSR_OK;
    TSR_TRY(tsr_reduce_host(j->context, TSR_REDUCE_MIN, TSR_I32, g->before, rows, &least));
    if (least.i >= 0) return TSR_OK;
    TSR_TRY(tsr_reduce_host(j->context, TSR_REDUCE_MAX, TSR_I32, g->before, rows, &most));
    if (most.i <= 0) return TSR_OK;
    j->inverted = 1;
    j->sorted_out = 0;
    *again = 1;
    return TSR_OK;
}

static tsr_status convert(struct tsr_vox_job *j, tsr_tiles **tiles)
{
    tsr_status status;
    tsr_tiles_info info = TSR_TILES_INFO;
    int again = 0;
    for (int pass = 0; pass == 0 || again; pass++) {
        again = 0;
        tsr_tiles_destroy(tiles);
        release_pass(j);
        TSR_TRY(survey(j));
        TSR_TRY(frames(j));
        TSR_PROGRESS(&j->options.progress, 0.2, "bins");
        TSR_TRY(bins(j));
        TSR_PROGRESS(&j->options.progress, 0.4, "distances");
        TSR_TRY(make_list(j, tiles));
        TSR_TRY_GOTO(fill_list(j, *tiles), fail);
        if (j->g.node) TSR_TRY_GOTO(tsr_vox_close_list(j, *tiles, pass > 0, &again), fail);
        else TSR_TRY_GOTO(look_for_inverted(j, &again), fail);
    }
    TSR_TRY_GOTO(finish_list(j, *tiles), fail);
    if (j->g.node) TSR_TRY_GOTO(tsr_vox_measure_closing(j, *tiles), fail);
    TSR_TRY_GOTO(tsr_tiles_describe(*tiles, &info), fail);
    j->report.tiles = info.count;
    return TSR_OK;
fail:
    tsr_tiles_destroy(tiles);
    return status;
}

static tsr_status begin(struct tsr_vox_job *j, tsr_context *context, const tsr_mesh *mesh, const tsr_voxelize_options *options)
{
    memset(j, 0, sizeof *j);
    TSR_TRY(TSR_OPTIONS_TAKE(&j->options, options));
    TSR_TRY(check_mesh(context, mesh));
    j->context = context;
    j->mesh = mesh;
    j->report.triangles = mesh->triangle_count;
    TSR_TRY(set_axes(j));
    TSR_TRY(set_options(j));
    return TSR_OK;
}

tsr_status tsr_tiles_from_mesh(tsr_context *context, const tsr_mesh *mesh, const tsr_voxelize_options *options, tsr_tiles **tiles,
                               tsr_voxelize_report *report)
{
    TSR_RETURNS(tiles);
    struct tsr_vox_job j;
    const tsr_voxelize_report nothing = TSR_VOXELIZE_REPORT;
    TSR_TRY(TSR_STRUCT_GIVE(report, &nothing));
    TSR_TRY(begin(&j, context, mesh, options));
    tsr_status status = convert(&j, tiles);
    release(&j);
    TSR_TRY(TSR_STRUCT_GIVE(report, &j.report));
    TSR_TRY(status);
    return TSR_OK;
}

/* ---- dense ------------------------------------------------------------------------------------------------------------------------------------- */

/* Grid of the volume: the caller's, or the mesh with its band and one voxel more, on the caller's lattice. */
static tsr_status dense_grid(struct tsr_vox_job *j, tsr_size3 *size)
{
    int64_t first[3], extent[3];
    if (j->options.size.x || j->options.size.y || j->options.size.z) {
        *size = j->options.size;
        return TSR_OK;
    }
    TSR_TRY(survey(j));
    for (int k = 0; k < 3; k++) {
        double lower = tsr_vox_unorder(j->found.lower[k]) - (double)j->g.touch, upper = tsr_vox_unorder(j->found.upper[k]) + (double)j->g.touch;
        first[k] = tsr_vox_floor(lower / j->g.spacing[k]) - 1;
        extent[k] = tsr_vox_ceil(upper / j->g.spacing[k]) + 2 - first[k];
    }
    *size = (tsr_size3){ extent[0], extent[1], extent[2] };
    tsr_vec3 corner = tsr_geometry_to_world(&j->geometry, (tsr_vec3){ (double)first[0], (double)first[1], (double)first[2] });
    j->geometry.affine[0][3] = corner.x;
    j->geometry.affine[1][3] = corner.y;
    j->geometry.affine[2][3] = corner.z;
    release(j);
    return TSR_OK;
}

tsr_status tsr_volume_from_mesh(tsr_context *context, const tsr_mesh *mesh, tsr_dtype dtype, const tsr_voxelize_options *options, tsr_volume **volume,
                                tsr_voxelize_report *report)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(context, mesh);
    struct tsr_vox_job j;
    tsr_status status;
    tsr_size3 size;
    tsr_tiles *tiles = NULL;
    int64_t bytes;
    const tsr_voxelize_report nothing = TSR_VOXELIZE_REPORT;
    TSR_TRY(TSR_STRUCT_GIVE(report, &nothing));
    if (dtype != TSR_F32 && dtype != TSR_U8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "voxelize: element type %s, expected f32 (field) or u8 (mask)", tsr_dtype_name(dtype));
    TSR_TRY(begin(&j, context, mesh, options));
    TSR_TRY_GOTO(dense_grid(&j, &size), done);
    TSR_TRY_GOTO(tsr_size_bytes(size, tsr_dtype_size(dtype), "voxelize: size", &bytes), done);
    const int64_t limit = tsr_memory_most(context, j.options.memory_limit);
    if (bytes > limit)
        TSR_FAIL_GOTO(TSR_ERROR_CAPACITY, done,
                      "voxelize: a volume of %lld x %lld x %lld takes %lld bytes, %s is %lld: use a larger spacing or a tile list", (long long)size.x,
                      (long long)size.y, (long long)size.z, (long long)bytes, tsr_memory_limit_name(j.options.memory_limit), (long long)limit);
    j.options.geometry = &j.geometry; /* with the origin found */
    tsr_voxelize_options own = j.options;
    own.struct_size = sizeof own;
    if (j.options.memory_limit > 0) own.memory_limit -= bytes;
    if (j.options.memory_limit > 0 && own.memory_limit == 0) own.memory_limit = 1;
    TSR_TRY_GOTO(tsr_tiles_from_mesh(context, mesh, &own, &tiles, report), done);
    TSR_TRY_GOTO(tsr_volume_create(context, dtype, size, &j.geometry, volume), done);
    TSR_TRY_GOTO(tsr_tiles_store(tiles, *volume), done);
    TSR_TRY_GOTO(tsr_context_synchronize(context), done);
done:
    release(&j);
    tsr_tiles_destroy(&tiles);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}
