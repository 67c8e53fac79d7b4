#include "surface/surface.h"

#include <float.h>
#include <math.h>

#include "mesh/mesh.h"
#include "volume/volume.h"

/* Smallest value of the element type that is >= iso: v >= iso is v >= that, and v < iso is v < that, in the type's own arithmetic. */
static void side_of(tsr_side *side, tsr_dtype dtype, double iso, int below)
{
    static const struct {
        double lower, upper;
    } range[TSR_DTYPE_COUNT] = {
        [TSR_U8] = { 0, UINT8_MAX },   [TSR_I8] = { INT8_MIN, INT8_MAX },    [TSR_U16] = { 0, UINT16_MAX }, [TSR_I16] = { INT16_MIN, INT16_MAX },
        [TSR_U32] = { 0, UINT32_MAX }, [TSR_I32] = { INT32_MIN, INT32_MAX }, [TSR_U64] = { 0, 0x1p64 },     [TSR_I64] = { -0x1p63, 0x1p63 },
    };
    *side = (tsr_side){ .below = below, .invert = below, .d = iso };
    if (dtype == TSR_F64) return;
    if (dtype == TSR_F32) {
        side->f = iso > (double)FLT_MAX ? (float)INFINITY : iso < -(double)FLT_MAX ? (iso < -DBL_MAX ? -(float)INFINITY : -FLT_MAX) : (float)iso;
        if ((double)side->f < iso) side->f = nextafterf(side->f, (float)INFINITY);
        return;
    }
    double least = ceil(iso), lower = range[dtype].lower, upper = range[dtype].upper;
    int wide = dtype == TSR_U64 || dtype == TSR_I64; /* 2^64 and 2^63 are beyond the type */
    if (least <= lower) least = lower;
    if (wide ? least >= upper : least > upper) { /* no value reaches it: "always", inverted */
        least = lower;
        side->invert = !below;
    }
    side->i = dtype == TSR_U64 ? 0 : (int64_t)least;
    side->u = least > 0 ? (uint64_t)least : 0;
}

tsr_status tsr_surface_prepare(tsr_surface_grid *g, const tsr_surface_options *own, tsr_dtype dtype, double slope, double intercept,
                               const tsr_geometry *geometry)
{
    if (isnan(own->isovalue)) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: isovalue is NaN, expected a number");
    if ((unsigned)own->inside > TSR_SURFACE_INSIDE_BELOW)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: inside is %d, expected above or below", (int)own->inside);
    if ((unsigned)own->normals > TSR_SURFACE_NORMALS_TRILINEAR)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: normals is %d, expected none, forward, central or trilinear", (int)own->normals);
    if ((unsigned)own->ambiguity > TSR_SURFACE_DECIDE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: ambiguity is %d, expected separate inside, separate outside or decide", (int)own->ambiguity);
    if ((unsigned)own->nan > TSR_SURFACE_NAN_FAIL) TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: nan is %d, expected outside or fail", (int)own->nan);
    TSR_TRY(tsr_geometry_check(geometry));
    double determinant = tsr_geometry_determinant(geometry);
    const double(*a)[4] = geometry->affine;
    int below = (own->inside == TSR_SURFACE_INSIDE_BELOW) != (slope < 0);
    g->dtype = dtype;
    g->isovalue = (own->isovalue - intercept) / slope;
    /* A negative slope turns the sides round: real v < iso is stored s > t, which "above" with ties inside cannot say exactly. */
    if (slope < 0) g->isovalue = nextafter(g->isovalue, (double)INFINITY);
    g->normals = (int32_t)own->normals;
    /* The triangles that separate the outside corners are those of the complement, turned round. */
    g->flip = own->ambiguity == TSR_SURFACE_SEPARATE_OUTSIDE ? 255 : 0;
    g->decide = own->ambiguity == TSR_SURFACE_DECIDE;
    g->mirrored = (determinant < 0) != (g->flip != 0);
    g->cut = own->midpoints ? (double)NAN : g->isovalue;
    g->own = INT64_MAX;
    g->refuse = own->nan == TSR_SURFACE_NAN_FAIL;
    for (int r = 0; r < 3; r++) {
        int r1 = (r + 1) % 3, r2 = (r + 2) % 3;
        for (int c = 0; c < 4; c++) g->affine[r][c] = a[r][c];
        for (int c = 0; c < 3; c++) { /* cofactors / determinant = inverse transposed */
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            g->gradient[r][c] = (a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1]) / determinant * (below ? 1 : -1);
        }
    }
    side_of(&g->side, dtype, g->isovalue, below);
    return TSR_OK;
}

/* Carves the working memory out of one allocation; `base` NULL only counts. lists: the device's arrays. */
static int64_t carve(tsr_surface_grid *g, int64_t extra, int lists, char *base)
{
    int64_t at = 0;
#define TAKE(field, type, count)                                   \
    do {                                                           \
        g->field = base ? (type *)(void *)(base + at) : NULL;      \
        at += ((count) * (int64_t)sizeof(type) + 255) / 256 * 256; \
    } while (0)
    TAKE(totals, tsr_surface_totals, 1);
    TAKE(bits, uint32_t, g->words);
    TAKE(prefix, uint16_t, g->words);
    TAKE(block_sum, uint32_t, g->blocks);
    TAKE(block_vertex, uint32_t, g->blocks);
    TAKE(block_triangle, uint64_t, g->blocks);
    TAKE(active, uint32_t, g->blocks);
    if (lists) {
        TAKE(list_word, uint8_t, g->blocks * TSR_BLOCK_WORDS);
        TAKE(list_before, uint32_t, g->blocks * TSR_BLOCK_WORDS);
        TAKE(list_count, uint32_t, g->blocks);
        TAKE(list_first, uint64_t, g->blocks);
        TAKE(list_turn, uint32_t, tsr_ceil_div(g->words, TSR_LIST_GRAIN));
        TAKE(groups, uint64_t, 4 * tsr_ceil_div(g->blocks, 1024));
    } else {
        TAKE(busy, uint32_t, g->blocks * (TSR_BLOCK_WORDS / 32));
        TAKE(place, uint64_t, g->blocks);
    }
    TAKE(slot_of, uint32_t, extra);
#undef TAKE
    return at;
}

tsr_status tsr_surface_lay(tsr_surface_grid *g, tsr_size3 size)
{
    const int64_t stored[3] = { size.x, size.y, size.z };
    for (int k = 0; k < 3; k++) {
        g->stored[k] = stored[k];
        g->size[k] = stored[k] + 2 * g->pad;
    }
    if (g->size[0] < 2 || g->size[1] < 2 || g->size[2] < 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: volume of %lld x %lld x %lld, expected at least 2 samples along each axis (or close)",
                 (long long)stored[0], (long long)stored[1], (long long)stored[2]);
    g->row_words = tsr_ceil_div(g->size[0], 32);
    g->words = g->row_words * g->size[1] * g->size[2];
    if (g->words <= (int64_t)INT32_MAX) {
        g->by_row = tsr_divisor_of((uint32_t)g->row_words);
        g->by_plane = tsr_divisor_of((uint32_t)g->size[1]);
    }
    if (g->words >> TSR_BLOCK_SHIFT > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: volume of %lld x %lld x %lld, expected fewer than 2^45 samples", (long long)stored[0],
                 (long long)stored[1], (long long)stored[2]);
    return TSR_OK;
}

tsr_status tsr_surface_check_samples(const tsr_surface_grid *g, uint64_t not_a_number)
{
    if (g->refuse && not_a_number)
        TSR_FAIL(TSR_ERROR_STATE, "surface: %llu samples are not a number, expected none (nan: fail)", (unsigned long long)not_a_number);
    return TSR_OK;
}

static tsr_status check_totals(const tsr_surface_grid *g, const tsr_surface_totals *totals)
{
    TSR_TRY(tsr_surface_check_samples(g, totals->not_a_number));
    if (totals->torn) TSR_FAIL(TSR_ERROR_STATE, "surface: a sign change of the tile list lies beside a tile that is not stored");
    if (totals->vertices + g->base > UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: %llu vertices, expected at most 4294967295 (indices are 32 bits): extract parts",
                 (unsigned long long)totals->vertices + g->base);
    return TSR_OK;
}

/* Writes what was counted; `again`: into the arrays of *mesh, if they are large enough. */
static tsr_status emit(tsr_context *context, const tsr_surface_grid *g, const tsr_surface_totals *totals, int again, tsr_mesh **mesh)
{
    TSR_TRY((again ? tsr_mesh_refill : tsr_mesh_create)(context, (int64_t)totals->vertices, (int64_t)totals->triangles,
                                                        g->normals != TSR_SURFACE_NORMALS_NONE, mesh));
    const tsr_surface_output output = { .vertices = tsr_mesh_vertices(*mesh),
                                        .normals = tsr_mesh_normals(*mesh),
                                        .triangles = tsr_mesh_triangles(*mesh),
                                        .active_blocks = totals->active_blocks,
                                        .list_words = (int64_t)totals->list_words,
                                        .vertex_count = (int64_t)totals->vertices,
                                        .triangle_count = (int64_t)totals->triangles };
    if (totals->active_blocks) TSR_TRY(context->backend->surface->emit(context->queue, g, &output));
    return TSR_OK;
}

/* The mesh of a counted grid. */
static tsr_status make(tsr_context *context, tsr_surface_grid *g, int32_t number, int again, tsr_mesh **mesh, tsr_surface_totals *totals)
{
    TSR_TRY(context->backend->surface->totals(context->queue, g, number, totals));
    TSR_TRY(check_totals(g, totals));
    TSR_TRY(emit(context, g, totals, again, mesh));
    return TSR_OK;
}

/* Into the mesh that there is, before its size is known: what fits need not wait. */
static tsr_status make_again(tsr_context *context, tsr_surface_grid *g, int64_t list_words, tsr_mesh **mesh, tsr_surface_totals *totals)
{
    tsr_surface_output room = {
        .vertices = tsr_mesh_vertices(*mesh), .normals = tsr_mesh_normals(*mesh), .triangles = tsr_mesh_triangles(*mesh), .list_words = list_words
    };
    tsr_mesh_room(*mesh, g->normals != TSR_SURFACE_NORMALS_NONE, &room.vertex_count, &room.triangle_count);
    TSR_TRY(context->backend->surface->extract(context->queue, g, &room, totals));
    TSR_TRY(check_totals(g, totals));
    if ((int64_t)totals->vertices > room.vertex_count || (int64_t)totals->triangles > room.triangle_count) TSR_TRY(emit(context, g, totals, 1, mesh));
    else TSR_TRY(tsr_mesh_refill(context, (int64_t)totals->vertices, (int64_t)totals->triangles, g->normals != TSR_SURFACE_NORMALS_NONE, mesh));
    return TSR_OK;
}

static tsr_status workspace_grow(tsr_surface_workspace *w, int64_t bytes)
{
    if (bytes <= w->bytes) return TSR_OK;
    tsr_device_release(w->context, w->memory, (size_t)w->bytes);
    w->memory = NULL;
    w->bytes = w->clear = 0;
    TSR_TRY(tsr_device_allocate(w->context, (size_t)bytes, &w->memory));
    w->bytes = bytes;
    return TSR_OK;
}

tsr_status tsr_surface_run(tsr_context *context, tsr_surface_grid *g, int32_t count, int64_t extra, tsr_space space, tsr_surface_workspace *workspace,
                           tsr_mesh **meshes, tsr_surface_report *reports)
{
    const tsr_surface_ops *ops = context->backend->surface;
    tsr_surface_workspace once = { .context = context }, *w = workspace ? workspace : &once;
    tsr_status status;
    tsr_surface_totals totals = { 0 };
    const int fits = workspace && workspace->mesh && ops->extract;
    for (int32_t k = 0; k < count; k++) g[k].blocks = tsr_ceil_div(g->words, TSR_BLOCK_WORDS);
    int64_t bytes = carve(g, extra, ops->extract != NULL, NULL);
    TSR_TRY(workspace_grow(w, bytes * count));
    for (int32_t k = 0; k < count; k++) carve(&g[k], extra, ops->extract != NULL, (char *)w->memory + bytes * k);
    g->store = w->store;
    g->clear = w->clear;
    status = fits ? make_again(context, g, w->list_words, meshes, &totals) : ops->count(context->queue, g, count);
    for (int32_t k = 0; k < count; k++) {
        int64_t taken = 0;
        if (status == TSR_OK && !fits) status = make(context, &g[k], k, workspace != NULL, &meshes[k], &totals);
        if (status == TSR_OK) tsr_mesh_set_space(meshes[k], space);
        w->list_words = (int64_t)totals.list_words;
        if (workspace) workspace->store = g->store;
        else if (ops->finish) taken = ops->finish(&g[k]);
        if (reports && status == TSR_OK) reports[k] = (tsr_surface_report){ .cells = reports[k].cells, .not_a_number = (int64_t)totals.not_a_number, .work_bytes = bytes + taken };
    }
    for (int32_t k = 0; k < count && status != TSR_OK; k++) tsr_mesh_destroy(&meshes[k]);
    w->clear = status == TSR_OK && g->words > 0;
    if (!workspace) tsr_device_release(context, once.memory, (size_t)once.bytes);
    return status;
}

tsr_status tsr_surface_lay_volume(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, const double *isovalues,
                                  int32_t count, tsr_surface_grid *g, tsr_surface_report *reports)
{
    tsr_surface_options own = *options;
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    for (int32_t k = 0; k < count; k++) {
        g[k] = (tsr_surface_grid){ .width = 32, .data = volume->data, .pad = own.close != 0 };
        own.isovalue = isovalues[k];
        TSR_TRY(tsr_surface_prepare(&g[k], &own, volume->dtype, volume->slope, volume->intercept, &volume->geometry));
        TSR_TRY(tsr_surface_lay(&g[k], volume->size));
        if (reports) reports[k].cells = (g->size[0] - 1) * (g->size[1] - 1) * (g->size[2] - 1);
    }
    return TSR_OK;
}

/* The first report says how far apart they lie: by the size that the caller knows. */
static tsr_status give_reports(tsr_surface_report *reports, const tsr_surface_report *made, int32_t count)
{
    size_t size;
    if (!reports) return TSR_OK;
    memcpy(&size, reports, sizeof size);
    for (int32_t k = 0; k < count; k++) {
        unsigned char *to = (unsigned char *)reports + (size_t)k * size;
        memcpy(to, &size, sizeof size);
        TSR_TRY(tsr_struct_give(to, &made[k], sizeof made[k], "reports"));
    }
    return TSR_OK;
}

tsr_status tsr_surface_extract_several(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, const double *isovalues,
                                       int32_t count, tsr_mesh **meshes, tsr_surface_report *reports)
{
    TSR_NEEDS(volume, isovalues, meshes);
    tsr_surface_options own;
    tsr_surface_grid g[TSR_SURFACE_SEVERAL];
    tsr_surface_report made[TSR_SURFACE_SEVERAL] = { TSR_SURFACE_REPORT };
    if (count < 1 || count > TSR_SURFACE_SEVERAL)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface: %d isovalues, expected 1 to %d", (int)count, (int)TSR_SURFACE_SEVERAL);
    for (int32_t k = 0; k < count; k++) meshes[k] = NULL;
    TSR_TRY(TSR_STRUCT_BEGUN(reports));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_surface_lay_volume(context, volume, &own, isovalues, count, g, made));
    TSR_TRY(tsr_surface_run(context, g, count, 0, volume->geometry.space, NULL, meshes, made));
    return give_reports(reports, made, count);
}

tsr_status tsr_surface_extract(tsr_context *context, const tsr_volume *volume, const tsr_surface_options *options, tsr_mesh **mesh,
                               tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    tsr_surface_options own;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    own.struct_size = sizeof own; /* taken once more */
    TSR_TRY(tsr_surface_extract_several(context, volume, &own, &own.isovalue, 1, mesh, report));
    return TSR_OK;
}

tsr_status tsr_surface_workspace_create(tsr_context *context, tsr_surface_workspace **workspace)
{
    TSR_NEEDS(context);
    *workspace = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **workspace, (void **)workspace));
    **workspace = (tsr_surface_workspace){ .context = context };
    return TSR_OK;
}

void tsr_surface_workspace_destroy(tsr_surface_workspace **workspace)
{
    if (!workspace || !*workspace) return;
    tsr_surface_workspace *w = *workspace;
    tsr_surface_grid g = { .store = w->store };
    const tsr_surface_ops *ops = w->context->backend->surface;
    if (ops->finish) (void)ops->finish(&g);
    tsr_mesh_destroy(&w->mesh);
    tsr_device_release(w->context, w->memory, (size_t)w->bytes);
    tsr_host_release(NULL, w, sizeof *w);
    *workspace = NULL;
}

tsr_status tsr_surface_extract_again(tsr_surface_workspace *workspace, const tsr_volume *volume, const tsr_surface_options *options,
                                     const tsr_mesh **mesh, tsr_surface_report *report)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(workspace, volume);
    tsr_surface_options own;
    tsr_surface_grid g;
    tsr_surface_report made = TSR_SURFACE_REPORT;
    TSR_TRY(TSR_STRUCT_BEGUN(report));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_surface_lay_volume(workspace->context, volume, &own, &own.isovalue, 1, &g, &made));
    TSR_TRY(tsr_surface_run(workspace->context, &g, 1, 0, volume->geometry.space, workspace, &workspace->mesh, &made));
    *mesh = workspace->mesh;
    return TSR_STRUCT_GIVE(report, &made);
}

tsr_status tsr_surface_unindex(tsr_context *context, const tsr_mesh *mesh, tsr_mesh **unindexed)
{
    TSR_RETURNS(unindexed);
    TSR_NEEDS(context, mesh);
    tsr_status status;
    if (mesh->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh lives in another context: copy it with tsr_mesh_copy");
    if (mesh->triangle_count > (int64_t)UINT32_MAX / 3)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: %lld triangles without an index, expected at most %u (three vertices each)",
                 (long long)mesh->triangle_count, UINT32_MAX / 3);
    TSR_TRY(tsr_mesh_create(context, 3 * mesh->triangle_count, mesh->triangle_count, mesh->normals != NULL, unindexed));
    (*unindexed)->space = mesh->space;
    memcpy((*unindexed)->origin, mesh->origin, sizeof mesh->origin);
    const tsr_surface_output from = { mesh->vertices, mesh->normals, mesh->triangles, 0, 0, mesh->vertex_count, mesh->triangle_count, NULL };
    const tsr_surface_output to = {
        (*unindexed)->vertices, (*unindexed)->normals, (*unindexed)->triangles, 0, 0, 3 * mesh->triangle_count, mesh->triangle_count, NULL
    };
    if (mesh->triangle_count) TSR_TRY_GOTO(context->backend->surface->unindex(context->queue, &from, mesh->triangle_count, &to), fail);
    return TSR_OK;
fail:
    tsr_mesh_destroy(unindexed);
    return status;
}
