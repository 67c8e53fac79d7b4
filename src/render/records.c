/* Surface records: extraction, expansion to a mesh, pictures. */
#include <math.h>
#include <string.h>

#include "render/records_ops.h"
#include "render/scene.h"
#include "tessera/primitives.h"

struct tsr_records {
    tsr_context *context;
    tsr_geometry geometry;
    double isovalue;
    int64_t count, origin[3];
    int64_t lower[3], upper[3]; /* half-open box of the cells' corners that can be met, in voxels */
    void *memory;
    uint64_t *values; /* in `memory`, one after the other */
    uint16_t *positions;
    uint8_t *cases;
};

static int64_t record_bytes(int64_t count) { return count * TSR_RECORD_BYTES; }

/* Sums of counts (one more than there are items) on the device; the last, their total, on the host. */
static tsr_status places(tsr_context *c, tsr_dtype dtype, const void *counts, int64_t items, uint64_t *sums, uint64_t *total)
{
    tsr_status status;
    void *workspace = NULL;
    size_t bytes = 0;
    TSR_TRY(tsr_scan_workspace(c, items + 1, &bytes));
    TSR_TRY(tsr_device_allocate(c, bytes, &workspace));
    TSR_TRY_GOTO(tsr_scan(c, TSR_SCAN_EXCLUSIVE, dtype, counts, items + 1, TSR_U64, sums, workspace, bytes), done);
    TSR_TRY_GOTO(c->backend->download(c->queue, total, sums + items, sizeof *total), done);
done:
    tsr_device_release(c, workspace, bytes);
    return status;
}

/* Where the surface can lie, and the voxel from which positions count. */
static tsr_status set_box(const tsr_tiles *tiles, tsr_records *r)
{
    const tsr_tile_pool *pool = &tiles->pool;
    int within = pool->bounded;
    for (int k = 0; k < 3; k++) within = within && pool->domain[k] <= 65536;
    if (within) {
        for (int k = 0; k < 3; k++) r->upper[k] = pool->domain[k];
        return TSR_OK;
    }
    TSR_TRY(tsr_tiles_bounds(tiles, r->lower, r->upper));
    for (int k = 0; k < 3; k++) { /* cells that begin in missing tiles reach a voxel beyond on both sides */
        r->lower[k]--;
        r->upper[k]++;
        r->origin[k] = r->lower[k];
        if (r->upper[k] - r->lower[k] > 65536)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: the tiles reach over %lld voxels along %c, expected at most 65534 (positions are 16 bits)",
                     (long long)(r->upper[k] - r->lower[k] - 2), 'x' + k);
    }
    return TSR_OK;
}

static tsr_status take(tsr_context *c, int64_t count, tsr_records *r)
{
    if (count >= (int64_t)1 << (32 - TSR_RECORD_TRIANGLE_BITS))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: the surface cuts %lld cells, expected fewer than 2^29", (long long)count);
    if (count == 0) return TSR_OK;
    if (tsr_device_allocate(c, (size_t)record_bytes(count), &r->memory) != TSR_OK)
        TSR_FAIL(TSR_ERROR_MEMORY, "records: no device memory for %lld records of 15 bytes", (long long)count);
    r->count = count;
    r->values = (uint64_t *)r->memory;
    r->positions = (uint16_t *)(void *)(r->values + count);
    r->cases = (uint8_t *)(r->positions + 3 * count);
    return TSR_OK;
}

tsr_status tsr_records_extract(tsr_context *context, const tsr_tiles *tiles, double isovalue, tsr_records **records)
{
    tsr_status status;
    tsr_tile_state state;
    uint64_t total = 0;
    void *memory = NULL;
    *records = NULL;
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "tiles is NULL");
    if (tiles->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "tiles live in another context: copy them with tsr_tiles_copy");
    const tsr_tile_pool *pool = &tiles->pool;
    TSR_TRY(tsr_tiles_need_f32(tiles, "records"));
    if (!(fabs(isovalue) < (double)pool->band))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "records: isovalue is %g, expected between -%g and %g, the band of the tile list", isovalue, (double)pool->band,
                 (double)pool->band);
    TSR_TRY(tsr_geometry_check(&tiles->geometry));
    TSR_TRY(tsr_tiles_read_state(tiles, &state));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **records, (void **)records));
    tsr_records *r = *records;
    memset(r, 0, sizeof *r);
    r->context = context;
    r->geometry = tiles->geometry;
    r->isovalue = isovalue;
    const size_t bytes = ((size_t)state.count + 1) * (sizeof(uint64_t) + sizeof(uint32_t));
    if (state.count > 0) {
        TSR_TRY_GOTO(set_box(tiles, r), done);
        TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &memory), done);
        uint64_t *sums = (uint64_t *)memory;
        tsr_records_job job = { .phi = pool->phi[state.phi],
                                .keys = tsr_pool_keys(pool, state.list),
                                .ids = pool->id[state.list],
                                .neighbours = pool->neighbours,
                                .log2_edge = pool->log2_edge,
                                .bounded = pool->bounded,
                                .tiles = state.count,
                                .isovalue = (float)isovalue,
                                .scale = 128.0f / pool->band,
                                .places = sums,
                                .counts = (uint32_t *)(void *)(sums + state.count + 1) };
        if ((double)job.isovalue < isovalue) job.isovalue = nextafterf(job.isovalue, INFINITY); /* v < isovalue is the same of floats */
        for (int k = 0; k < 3; k++) {
            job.domain[k] = pool->domain[k];
            job.origin[k] = r->origin[k];
        }
        TSR_TRY_GOTO(context->backend->render->records->count(context->queue, &job), done);
        TSR_TRY_GOTO(places(context, TSR_U32, job.counts, state.count, sums, &total), done);
        TSR_TRY_GOTO(take(context, (int64_t)total, r), done);
        job.positions = r->positions;
        job.cases = r->cases;
        job.values = r->values;
        if (total) TSR_TRY_GOTO(context->backend->render->records->extract(context->queue, &job), done);
    }
    status = TSR_OK;
done:
    tsr_device_release(context, memory, memory ? bytes : 0);
    if (status != TSR_OK) tsr_records_destroy(records);
    return status;
}

void tsr_records_destroy(tsr_records **records)
{
    if (!records || !*records) return;
    tsr_records *r = *records;
    *records = NULL;
    if (r->memory) tsr_device_release(r->context, r->memory, (size_t)record_bytes(r->count));
    tsr_host_release(&r->context->host_allocator, r, sizeof *r);
}

int64_t tsr_records_count(const tsr_records *records) { return records->count; }
double tsr_records_isovalue(const tsr_records *records) { return records->isovalue; }
const tsr_geometry *tsr_records_geometry(const tsr_records *records) { return &records->geometry; }

tsr_status tsr_records_download(const tsr_records *r, int64_t (*positions)[3], uint8_t *cases, uint8_t (*values)[8])
{
    uint16_t chunk[3 * 1024];
    if (!r) TSR_FAIL(TSR_ERROR_ARGUMENT, "records is NULL");
    const tsr_context *c = r->context;
    if (r->count == 0) return TSR_OK;
    if (cases) TSR_TRY(c->backend->download(c->queue, cases, r->cases, (size_t)r->count));
    if (values) TSR_TRY(c->backend->download(c->queue, values, r->values, (size_t)r->count * 8)); /* corner 0 first: hosts are little-endian */
    for (int64_t from = 0; positions && from < r->count; from += 1024) {
        const int64_t n = tsr_min64(1024, r->count - from);
        TSR_TRY(c->backend->download(c->queue, chunk, r->positions + 3 * from, (size_t)n * 6));
        for (int64_t i = 0; i < 3 * n; i++) positions[from + i / 3][i % 3] = r->origin[i % 3] + chunk[i];
    }
    return TSR_OK;
}

/* Records as kernels see them; positions in the world relative to `centre`. */
static void view_of(const tsr_records *r, tsr_vec3 centre, int outside, tsr_records_view *v)
{
    const double(*a)[4] = r->geometry.affine, determinant = tsr_geometry_determinant(&r->geometry), to[3] = { centre.x, centre.y, centre.z };
    *v = (tsr_records_view){ .count = r->count, .positions = r->positions, .cases = r->cases, .values = r->values };
    v->flip = outside ? 255 : 0; /* the triangles that separate the outside corners are those of the complement, turned round */
    v->mirrored = (determinant < 0) != (outside != 0);
    for (int k = 0; k < 3; k++) {
        int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        v->affine[k][3] = a[k][3] - to[k];
        for (int c = 0; c < 3; c++) { /* cofactors / determinant = inverse transposed */
            int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            v->affine[k][c] = a[k][c];
            v->affine[k][3] += a[k][c] * (double)r->origin[c];
            v->gradient[k][c] = (float)((a[k1][c1] * a[k2][c2] - a[k1][c2] * a[k2][c1]) / determinant);
        }
    }
}

tsr_status tsr_records_mesh(const tsr_records *r, tsr_surface_ambiguity ambiguity, tsr_mesh **mesh)
{
    tsr_status status;
    tsr_records_expand job = { 0 };
    uint64_t total = 0;
    void *memory = NULL;
    *mesh = NULL;
    if (!r) TSR_FAIL(TSR_ERROR_ARGUMENT, "records is NULL");
    if (ambiguity == TSR_SURFACE_DECIDE)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "records: ambiguity is decide, expected separate inside or separate outside (decide with tsr_surface_extract_tiles)");
    if ((unsigned)ambiguity > TSR_SURFACE_DECIDE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "records: ambiguity is %d, expected separate inside or separate outside", (int)ambiguity);
    tsr_context *c = r->context;
    const size_t bytes = ((size_t)r->count + 1) * (sizeof(uint64_t) + 1);
    if (r->count) {
        view_of(r, (tsr_vec3){ 0, 0, 0 }, ambiguity == TSR_SURFACE_SEPARATE_OUTSIDE, &job.view);
        TSR_TRY(tsr_device_allocate(c, bytes, &memory));
        uint64_t *sums = (uint64_t *)memory;
        job.places = sums;
        job.counts = (uint8_t *)(sums + r->count + 1);
        TSR_TRY_GOTO(c->backend->render->records->expand_count(c->queue, &job), done);
        TSR_TRY_GOTO(places(c, TSR_U8, job.counts, r->count, sums, &total), done);
    }
    if (total > UINT32_MAX / 3)
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, done, "records: %llu triangles, expected at most %u (three vertices each)", (unsigned long long)total,
                      UINT32_MAX / 3);
    TSR_TRY_GOTO(tsr_mesh_create(c, 3 * (int64_t)total, (int64_t)total, 0, mesh), done);
    tsr_mesh_set_space(*mesh, r->geometry.space);
    job.vertices = tsr_mesh_vertices(*mesh);
    job.triangles = tsr_mesh_triangles(*mesh);
    if (total) TSR_TRY_GOTO(c->backend->render->records->expand(c->queue, &job), done);
    status = TSR_OK;
done:
    tsr_device_release(c, memory, memory ? bytes : 0);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}

static tsr_status check_options(const tsr_render_options *o)
{
    if (o->mode != TSR_RENDER_AUTO && o->mode != TSR_RENDER_SURFACE)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: render mode %d, expected auto or surface", (int)o->mode);
    static const char hint[] = "draw a scene with the tile list and tsr_scene_set_surface_records";
    if (o->clip) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: clip is set, expected none (%s)", hint);
    if (o->surface_layers < 0 || o->surface_layers > TSR_RECORD_LAYERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "surface_layers %d, expected 1 to 64 (0 = 1)", o->surface_layers);
    if (o->ambient_occlusion > 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: ambient_occlusion is %g, expected none (%s)", o->ambient_occlusion, hint);
    if (o->transfer || o->surface_transfer) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: a transfer function is set, expected none");
    if (o->pass < 0 || o->pass >= 1 << 20) TSR_FAIL(TSR_ERROR_ARGUMENT, "pass %d, expected 0 to 2^20 - 1", o->pass);
    return TSR_OK;
}

/* World box of the voxels. */
static tsr_bounds bounds_of(const tsr_records *r)
{
    tsr_bounds b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int i = 0; i < 8; i++) {
        const tsr_vec3 at = { (double)(i & 1 ? r->upper[0] - 1 : r->lower[0]), (double)(i & 2 ? r->upper[1] - 1 : r->lower[1]),
                              (double)(i & 4 ? r->upper[2] - 1 : r->lower[2]) };
        const tsr_vec3 p = tsr_geometry_to_world(&r->geometry, at);
        b.lower = (tsr_vec3){ fmin(b.lower.x, p.x), fmin(b.lower.y, p.y), fmin(b.lower.z, p.z) };
        b.upper = (tsr_vec3){ fmax(b.upper.x, p.x), fmax(b.upper.y, p.y), fmax(b.upper.z, p.z) };
    }
    return b;
}

tsr_status tsr_records_draw(const tsr_records *r, const tsr_camera *camera, const tsr_render_options *options, int cull, tsr_picture *picture)
{
    tsr_render_options o;
    tsr_frame frame;
    tsr_transfer_linear none;
    if (!r) TSR_FAIL(TSR_ERROR_ARGUMENT, "records is NULL");
    if (!picture) TSR_FAIL(TSR_ERROR_ARGUMENT, "picture is NULL");
    if (picture->context != r->context) TSR_FAIL(TSR_ERROR_ARGUMENT, "the picture belongs to another context than the records");
    if (r->count == 0) TSR_FAIL(TSR_ERROR_STATE, "records: there are none to draw, the tile list has no surface");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o));
    memset(&frame, 0, sizeof frame);
    memset(&none, 0, sizeof none);
    tsr_frame *f = &frame;
    const tsr_scene_info info = { .bounds = bounds_of(r), .window_high = 1 };
    const tsr_vec3 centre = tsr_vec3_scale(tsr_vec3_add(info.bounds.lower, info.bounds.upper), 0.5);
    f->width = picture->width;
    f->height = picture->height;
    TSR_TRY(tsr_frame_supersampling(o.supersampling, &f->samples));
    TSR_TRY(tsr_frame_set_camera(camera, &info, centre, f));
    TSR_TRY(tsr_frame_set_look(&info, &o, f));
    f->occlusion = 0;
    f->show_surface = 1;
    f->layers = o.surface_layers ? o.surface_layers : 1;
    const tsr_vec3 spacing = tsr_geometry_spacing(&r->geometry);
    f->dt = (float)fmin(spacing.x, fmin(spacing.y, spacing.z));
    f->inverse_dt = 1 / f->dt;
    f->flat = o.flat != 0;
    f->pass = o.pass;
    TSR_TRY(tsr_records_paint(r, centre, f, &none, cull, &o.progress, picture));
    return TSR_OK;
}

tsr_status tsr_records_belong(const tsr_records *r, const tsr_context *context, const tsr_geometry *geometry)
{
    if (r->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "records: they live in another context than the scene");
    if (r->count == 0) TSR_FAIL(TSR_ERROR_STATE, "records: there are none to draw, the tile list has no surface");
    for (int k = 0; k < 12; k++)
        if (r->geometry.affine[k / 4][k % 4] != geometry->affine[k / 4][k % 4] || r->geometry.space != geometry->space)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "records: they lie elsewhere than the scene's tile list, expected those of that list");
    return TSR_OK;
}

/* Records between two reports. The pixels decide on processors: a few records may cover a large picture. */
static int64_t piece_of(const tsr_context *c, const tsr_records_draw_job *job, const tsr_progress *progress)
{
    if (!progress->report) return job->view.count;
    if (c->device.kind == TSR_DEVICE_CUDA) return (int64_t)1 << 24;
    const int64_t work = 4 * tsr_record_sheet(&job->frame) + 64 * job->view.count,
                  pieces = 1 + work / (c->device.kind == TSR_DEVICE_EMU ? (int64_t)1 << 20 : (int64_t)c->threads << 21);
    return tsr_max64(1, job->view.count / pieces);
}

/* No hit anywhere in one layer. */
static tsr_status clear(const tsr_context *c, const tsr_records_draw_job *job, const tsr_progress *progress)
{
    uint64_t *hits = job->hits + job->layer * tsr_record_sheet(&job->frame);
    const int64_t count = tsr_record_sheet(&job->frame), piece = progress->report ? (int64_t)1 << 22 : count;
    for (int64_t from = 0; from < count; from += piece) {
        TSR_TRY(c->backend->fill(c->queue, hits + from, 0xff, (size_t)tsr_min64(piece, count - from) * sizeof *hits));
        TSR_PROGRESS(progress, (double)job->layer / (2.0 * job->layers), "records");
    }
    return TSR_OK;
}

/* The hits of one layer; a report after each piece. */
static tsr_status splat(const tsr_context *c, tsr_records_draw_job *job, const tsr_progress *progress)
{
    const double layers = 2.0 * job->layers;
    const int64_t piece = piece_of(c, job, progress);
    TSR_TRY(clear(c, job, progress));
    for (job->from = 0; job->from < job->view.count; job->from = job->to) {
        job->to = tsr_min64(job->view.count, job->from + piece);
        TSR_TRY(c->backend->render->records->splat(c->queue, job));
        if (!progress->report) continue;
        TSR_TRY(c->backend->synchronize(c->queue));
        TSR_PROGRESS(progress, ((double)job->layer + (double)job->to / (double)job->view.count) / layers, "records");
    }
    return TSR_OK;
}

tsr_status tsr_records_paint(const tsr_records *r, tsr_vec3 centre, const tsr_frame *frame, const tsr_transfer_linear *transfer, int cull,
                             const tsr_progress *progress, tsr_picture *picture)
{
    tsr_status status;
    tsr_context *c = r->context;
    tsr_records_draw_job job;
    memset(&job, 0, sizeof job);
    job.frame = *frame;
    if (frame->opacity >= 1) job.frame.layers = 1; /* nothing shows through */
    job.layers = job.frame.layers;
    job.cull = cull != 0;
    view_of(r, centre, 0, &job.view);
    const int32_t rows = frame->height, band = tsr_band_rows(c, progress, frame->width, rows, frame->samples);
    const double size = (double)tsr_record_sheet(&job.frame) * job.layers * (double)sizeof *job.hits;
    if (size > (double)((int64_t)1 << 40))
        TSR_FAIL(TSR_ERROR_MEMORY, "records: %.3g bytes for the hits of %d layers, expected fewer layers or a smaller picture", size,
                 (int)job.layers);
    const size_t bytes = (size_t)size;
    TSR_PROGRESS(progress, 0, "records");
    TSR_TRY(tsr_device_allocate(c, bytes, (void **)&job.hits));
    for (job.layer = 0; job.layer < job.layers; job.layer++) TSR_TRY_GOTO(splat(c, &job, progress), done);
    for (int32_t row = 0; row < rows; row += band) {
        const int32_t end = tsr_mini(rows - row, band) + row;
        TSR_TRY_GOTO(c->backend->render->records->draw(c->queue, &job, transfer, row, end, picture->rgba, picture->depth), done);
        TSR_TRY_GOTO(tsr_band_done(c, progress, rows + end, 2 * rows), done);
    }
done:
    tsr_device_release(c, job.hits, bytes);
    return status;
}
