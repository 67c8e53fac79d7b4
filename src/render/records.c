/* Surface records: extraction, expansion to a mesh. */
#include <math.h>
#include <string.h>

#include "render/records_list.h"
#include "tessera/primitives.h"

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

static int64_t step_down(int64_t v)
{
    return v >= 0 ? v / TSR_RECORDS_STEP * TSR_RECORDS_STEP : -tsr_ceil_div(-v, TSR_RECORDS_STEP) * TSR_RECORDS_STEP;
}

tsr_status tsr_records_set_box(const tsr_tiles *tiles, int centred, tsr_records *r)
{
    const tsr_tile_pool *pool = &tiles->pool;
    int within = pool->bounded;
    for (int k = 0; k < 3; k++) within = within && pool->domain[k] <= 65536;
    r->fixed = within;
    for (int k = 0; k < 3; k++) {
        r->origin[k] = r->lower[k] = 0;
        r->upper[k] = pool->domain[k];
    }
    if (within) return TSR_OK;
    TSR_TRY(tsr_tiles_bounds(tiles, r->lower, r->upper));
    for (int k = 0; k < 3; k++) { /* cells that begin in missing tiles reach a voxel beyond on both sides */
        r->lower[k]--;
        r->upper[k]++;
        if (r->upper[k] - r->lower[k] > 65536)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: the tiles reach over %lld voxels along %c, expected at most 65534 (positions are 16 bits)",
                     (long long)(r->upper[k] - r->lower[k] - 2), 'x' + k);
        r->origin[k] = r->lower[k];
        if (!centred) continue;
        r->origin[k] = r->lower[k] + (r->upper[k] - r->lower[k]) / 2 - 32768;
        r->lower[k] = tsr_max64(step_down(r->lower[k]), r->origin[k]);
        r->upper[k] = tsr_min64(-step_down(-r->upper[k]), r->origin[k] + 65536);
    }
    return TSR_OK;
}

tsr_status tsr_records_take(tsr_records *r, int64_t room)
{
    void *memory;
    if (tsr_device_allocate(r->context, (size_t)record_bytes(room), &memory) != TSR_OK)
        TSR_FAIL(TSR_ERROR_MEMORY, "records: no device memory for %lld records of 15 bytes", (long long)room);
    r->memory = memory;
    r->room = room;
    r->values = (uint64_t *)memory;
    r->positions = (uint16_t *)(void *)(r->values + room);
    r->cases = (uint8_t *)(r->positions + 3 * room);
    return TSR_OK;
}

static tsr_status take(int64_t count, tsr_records *r)
{
    if (count >= (int64_t)1 << (32 - TSR_RECORD_TRIANGLE_BITS))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "records: the surface cuts %lld cells, expected fewer than 2^29", (long long)count);
    if (count == 0) return TSR_OK;
    TSR_TRY(tsr_records_take(r, count));
    r->count = r->kept = count;
    return TSR_OK;
}

tsr_status tsr_records_lay(tsr_context *context, const tsr_tiles *tiles, double isovalue, tsr_records_job *job, tsr_tile_state *state)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!tiles) TSR_FAIL(TSR_ERROR_ARGUMENT, "tiles is NULL");
    if (tiles->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "tiles live in another context: copy them with tsr_tiles_copy");
    const tsr_tile_pool *pool = &tiles->pool;
    TSR_TRY(tsr_tiles_need_f32(tiles, "records"));
    if (!(fabs(isovalue) < (double)pool->band))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "records: isovalue is %g, expected between -%g and %g, the band of the tile list", isovalue, (double)pool->band,
                 (double)pool->band);
    TSR_TRY(tsr_geometry_check(&tiles->geometry));
    TSR_TRY(tsr_tiles_read_state(tiles, state));
    *job = (tsr_records_job){ .phi = pool->phi[state->phi],
                              .keys = tsr_pool_keys(pool, state->list),
                              .ids = pool->id[state->list],
                              .neighbours = pool->neighbours,
                              .log2_edge = pool->log2_edge,
                              .bounded = pool->bounded,
                              .domain = { pool->domain[0], pool->domain[1], pool->domain[2] },
                              .tiles = state->count,
                              .isovalue = (float)isovalue,
                              .scale = 128.0f / pool->band };
    if ((double)job->isovalue < isovalue) job->isovalue = nextafterf(job->isovalue, INFINITY); /* v < isovalue is the same of floats */
    return TSR_OK;
}

tsr_status tsr_records_extract(tsr_context *context, const tsr_tiles *tiles, double isovalue, tsr_records **records)
{
    TSR_RETURNS(records);
    TSR_NEEDS(context, tiles);
    tsr_status status;
    tsr_tile_state state;
    tsr_records_job job;
    uint64_t total = 0;
    void *memory = NULL;
    TSR_TRY(tsr_records_lay(context, tiles, isovalue, &job, &state));
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **records, (void **)records));
    tsr_records *r = *records;
    *r = (tsr_records){ .context = context, .geometry = tiles->geometry, .isovalue = isovalue };
    const size_t bytes = ((size_t)state.count + 1) * (sizeof(uint64_t) + sizeof(uint32_t));
    if (state.count > 0) {
        TSR_TRY_GOTO(tsr_records_set_box(tiles, 0, r), done);
        TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &memory), done);
        uint64_t *sums = (uint64_t *)memory;
        job.places = sums;
        job.counts = (uint32_t *)(void *)(sums + state.count + 1);
        for (int k = 0; k < 3; k++) job.origin[k] = r->origin[k];
        TSR_TRY_GOTO(context->backend->render->records->count(context->queue, &job), done);
        TSR_TRY_GOTO(places(context, TSR_U32, job.counts, state.count, sums, &total), done);
        TSR_TRY_GOTO(take((int64_t)total, r), done);
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
    if (r->memory) tsr_device_release(r->context, r->memory, (size_t)record_bytes(r->room));
    tsr_host_release(&r->context->host_allocator, r, sizeof *r);
}

int64_t tsr_records_count(const tsr_records *records) { return records ? records->kept : 0; }
double tsr_records_isovalue(const tsr_records *records) { return records ? records->isovalue : 0; }
const tsr_geometry *tsr_records_geometry(const tsr_records *records) { return &records->geometry; }

tsr_status tsr_records_download(const tsr_records *records, int64_t (*positions)[3], uint8_t *cases, uint8_t (*values)[8])
{
    TSR_NEEDS(records);
    enum { CHUNK = 1024 };
    uint16_t place[3 * CHUNK];
    uint8_t code[CHUNK], value[CHUNK][8]; /* corner 0 first: hosts are little-endian */
    int64_t to = 0;
    const tsr_context *c = records->context;
    for (int64_t from = 0; from < records->count; from += CHUNK) {
        const int64_t n = tsr_min64(CHUNK, records->count - from);
        TSR_TRY(c->backend->download(c->queue, code, records->cases + from, (size_t)n));
        if (values) TSR_TRY(c->backend->download(c->queue, value, records->values + from, (size_t)n * 8));
        if (positions) TSR_TRY(c->backend->download(c->queue, place, records->positions + 3 * from, (size_t)n * 6));
        for (int64_t i = 0; i < n; i++) {
            if (!code[i]) continue; /* a gap */
            if (cases) cases[to] = code[i];
            if (values) memcpy(values[to], value[i], 8);
            for (int k = 0; positions && k < 3; k++) positions[to][k] = records->origin[k] + place[3 * i + k];
            to++;
        }
    }
    return TSR_OK;
}

void tsr_records_view_of(const tsr_records *r, tsr_vec3 centre, int outside, tsr_records_view *v)
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

tsr_status tsr_records_mesh(const tsr_records *records, tsr_surface_ambiguity ambiguity, tsr_mesh **mesh)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(records);
    tsr_status status;
    tsr_records_expand job = { 0 };
    uint64_t total = 0;
    void *memory = NULL;
    if (ambiguity == TSR_SURFACE_DECIDE)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "records: ambiguity is decide, expected separate inside or separate outside (decide with tsr_surface_extract_tiles)");
    if ((unsigned)ambiguity > TSR_SURFACE_DECIDE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "records: ambiguity is %d, expected separate inside or separate outside", (int)ambiguity);
    tsr_context *c = records->context;
    const size_t bytes = ((size_t)records->count + 1) * (sizeof(uint64_t) + 1);
    if (records->count) {
        tsr_records_view_of(records, (tsr_vec3){ 0, 0, 0 }, ambiguity == TSR_SURFACE_SEPARATE_OUTSIDE, &job.view);
        TSR_TRY(tsr_device_allocate(c, bytes, &memory));
        uint64_t *sums = (uint64_t *)memory;
        job.places = sums;
        job.counts = (uint8_t *)(sums + records->count + 1);
        TSR_TRY_GOTO(c->backend->render->records->expand_count(c->queue, &job), done);
        TSR_TRY_GOTO(places(c, TSR_U8, job.counts, records->count, sums, &total), done);
    }
    if (total > UINT32_MAX / 3)
        TSR_FAIL_GOTO(TSR_ERROR_UNSUPPORTED, done, "records: %llu triangles, expected at most %u (three vertices each)", (unsigned long long)total,
                      UINT32_MAX / 3);
    TSR_TRY_GOTO(tsr_mesh_create(c, 3 * (int64_t)total, (int64_t)total, 0, mesh), done);
    tsr_mesh_set_space(*mesh, records->geometry.space);
    job.vertices = tsr_mesh_vertices(*mesh);
    job.triangles = tsr_mesh_triangles(*mesh);
    if (total) TSR_TRY_GOTO(c->backend->render->records->expand(c->queue, &job), done);
    status = TSR_OK;
done:
    tsr_device_release(c, memory, memory ? bytes : 0);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    return status;
}
