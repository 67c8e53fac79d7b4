/* light/matter.c: volumes that light travels through: made from the caller's, with gradients and the grid of blocks. */
#include <math.h>
#include <stdlib.h>

#include "core/parallel.h"
#include "light/light.h"
#include "tessera/filter.h"

enum { LARGEST = 2048 };

tsr_status tsr_light_require(tsr_context *context, const tsr_light_matter *matter)
{
    if (!context) TSR_FAIL(TSR_ERROR_ARGUMENT, "context is NULL");
    if (!matter) TSR_FAIL(TSR_ERROR_ARGUMENT, "matter is NULL");
    if (matter->context != context) TSR_FAIL(TSR_ERROR_ARGUMENT, "matter: made on another context, expected the one of this call");
    return TSR_OK;
}

tsr_status tsr_light_arrays_create(tsr_light_arrays *a, float **array)
{
    const int64_t voxels = tsr_light_voxels(a->size);
    *array = calloc((size_t)voxels, 4 * sizeof(float));
    if (!*array) TSR_FAIL(TSR_ERROR_MEMORY, "no %lld bytes for %d x %d x %d voxels", (long long)voxels * 16, a->size[0], a->size[1], a->size[2]);
    return TSR_OK;
}
void tsr_light_arrays_destroy(tsr_light_arrays *a)
{
    free(a->index);
    free(a->dim);
    free(a->scatter);
    free(a->emit);
    free(a->skin);
    free(a->edge);
    free(a->cells);
    a->index = a->dim = a->scatter = a->emit = a->skin = a->edge = NULL;
    a->cells = NULL;
}

/* ---- gradients and blocks ---- */

static void gradient_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_light_arrays *a = (const tsr_light_arrays *)user;
    const int32_t *n = a->size;
    const int64_t step[3] = { 4, (int64_t)n[0] * 4, (int64_t)n[0] * n[1] * 4 };
    (void)worker;
    for (int64_t r = begin; r < end; r++)
        for (int32_t x = 0; x < n[0]; x++) {
            float *v = a->index + (r * n[0] + x) * 4;
            const int64_t at[3] = { x, r % n[1], r / n[1] };
            for (int k = 0; k < 3; k++) {
                const int low = at[k] > 0, high = at[k] + 1 < n[k];
                v[1 + k] = (v[high ? step[k] : 0] - v[low ? -step[k] : 0]) / (float)(low + high);
            }
        }
}

/* Normals of exact surfaces: differences of the distance between voxels to which the same surface is nearest; 0 where walls are so thin, or corners so sharp, that these say little. */
static void edge_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_light_arrays *a = (const tsr_light_arrays *)user;
    const int32_t *n = a->size;
    const int64_t step[3] = { 1, n[0], (int64_t)n[0] * n[1] };
    (void)worker;
    for (int64_t r = begin; r < end; r++)
        for (int32_t x = 0; x < n[0]; x++) {
            const int64_t i = r * n[0] + x, at[3] = { x, r % n[1], r / n[1] };
            float *v = a->edge + i * 4, length = 0.0f;
            if (!a->cells[i]) continue;
            for (int k = 0; k < 3; k++) {
                const int low = at[k] > 0 && a->cells[i - step[k]] == a->cells[i], high = at[k] + 1 < n[k] && a->cells[i + step[k]] == a->cells[i];
                if (low + high) v[1 + k] = (v[high ? 4 * step[k] : 0] - v[low ? -4 * step[k] : 0]) / (float)(low + high);
                length += v[1 + k] * v[1 + k];
            }
            length = sqrtf(length);
            for (int k = 0; k < 3; k++) v[1 + k] = length > 0.7f ? v[1 + k] / length : 0.0f;
        }
}
/* Whether the surface nearest to voxel i is alone: no other one is nearer to the places THICK voxels before and behind it. Between surfaces so close to each other that their soft edges meet
 * patches would be torn to pieces; light goes through the edges there. */
enum { THICK = 3 };
static int alone(const tsr_light_arrays *a, int64_t i)
{
    const float *e = a->edge + i * 4;
    const int32_t *n = a->size;
    const int64_t at[3] = { i % n[0], i / n[0] % n[1], i / n[0] / n[1] };
    for (int side = -1; side <= 1; side += 2) {
        int64_t to = 0;
        float expected = e[0];
        int beyond = 0;
        for (int k = 2; k >= 0; k--) {
            const int64_t p = at[k] + lroundf(((float)(side * THICK) - e[0]) * e[1 + k]);
            beyond |= p < 0 || p >= n[k];
            expected += (float)(p - at[k]) * e[1 + k];
            to = to * n[k] + p;
        }
        if (!beyond && !(a->cells[to] == a->cells[i] && fabsf(a->edge[to * 4] - expected) < 0.5f)) return 0;
    }
    return 1;
}
/* Voxels whose nearest surface is not alone lose their normal. */
static void alone_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const tsr_light_arrays *a = (const tsr_light_arrays *)user;
    (void)worker;
    for (int64_t i = begin * a->size[0]; i < end * a->size[0]; i++) {
        float *e = a->edge + i * 4;
        if (a->cells[i] && !alone(a, i)) e[1] = e[2] = e[3] = 0.0f;
    }
}
/* From voxels to cells: where the eight have the same surface nearest and about the same normal. Cell i needs none of the voxels before. */
static void edge_cells(const tsr_light_arrays *a)
{
    const int32_t *n = a->size;
    const int64_t row = n[0], slice = (int64_t)n[0] * n[1], voxels = tsr_light_voxels(n);
    for (int64_t i = 0; i < voxels; i++) {
        uint8_t *own = &a->cells[i];
        if (!*own) continue;
        float sum[3] = { 0 };
        int same = i % row + 1 < n[0] && i / row % n[1] + 1 < n[1] && i / slice + 1 < n[2];
        for (int c = 0; c < 8 && same; c++) {
            const int64_t at = i + (c & 1) + (c >> 1 & 1) * row + (c >> 2) * slice;
            same = a->cells[at] == *own;
            for (int k = 0; k < 3; k++) sum[k] += 0.125f * a->edge[at * 4 + 1 + k];
        }
        if (!same || !(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] > 0.8f)) *own = 0;
    }
}

/* Voxels that leave light as it is: the index does not change there, or, where light is refracted at a surface, that is a step away at least. */
typedef struct quiet_job {
    const tsr_light_arrays *a;
    const uint8_t *from;
    uint8_t *to;
    int axis;
} quiet_job;
static void quiet_voxels(void *user, int64_t begin, int64_t end, int worker)
{
    const quiet_job *j = (const quiet_job *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const float *n = j->a->index + i * 4, *e = j->a->edge + i * 4;
        const int known = j->a->cells[i] && (e[1] != 0.0f || e[2] != 0.0f || e[3] != 0.0f);
        j->to[i] = known ? fabsf(e[0]) >= 1.0f : n[1] == 0.0f && n[2] == 0.0f && n[3] == 0.0f;
    }
}
/* From one voxel before a cell to one behind it along an axis, all of them. */
static void quiet_along(void *user, int64_t begin, int64_t end, int worker)
{
    const quiet_job *j = (const quiet_job *)user;
    const int32_t *n = j->a->size, length = n[j->axis];
    const int64_t step = j->axis == 0 ? 1 : j->axis == 1 ? n[0] : (int64_t)n[0] * n[1];
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int64_t at = i / step % length;
        uint8_t all = j->from[i];
        if (at > 0) all &= j->from[i - step];
        if (at + 1 < length) all &= j->from[i + step];
        if (at + 2 < length) all &= j->from[i + 2 * step];
        j->to[i] = all;
    }
}
static tsr_status mark_straight(const tsr_light_arrays *a, uint8_t *quiet[2], int threads)
{
    const int64_t voxels = tsr_light_voxels(a->size);
    for (int k = 0; k < 2; k++) {
        quiet[k] = malloc((size_t)voxels);
        if (!quiet[k]) TSR_FAIL(TSR_ERROR_MEMORY, "no %lld bytes for cells", (long long)voxels);
    }
    quiet_job job = { .a = a, .to = quiet[0] };
    tsr_parallel(threads, voxels, 65536, quiet_voxels, &job);
    for (job.axis = 0; job.axis < 3; job.axis++) {
        job.from = quiet[job.axis & 1];
        job.to = quiet[1 - (job.axis & 1)];
        tsr_parallel(threads, voxels, 65536, quiet_along, &job);
    }
    edge_cells(a);
    for (int64_t i = 0; i < voxels; i++)
        if (job.to[i]) a->cells[i] = TSR_LIGHT_STRAIGHT;
    return TSR_OK;
}

typedef struct block_job {
    const tsr_light_arrays *a;
    int32_t blocks[3];
    uint8_t *coarse;
} block_job;

static int holds(const tsr_light_arrays *a, int64_t i, float first)
{
    const float *n = a->index + i * 4;
    int h = n[0] != first || n[1] != 0.0f || n[2] != 0.0f || n[3] != 0.0f ? TSR_LIGHT_BENDS : 0;
    if (a->dim) {
        const float *d = a->dim + i * 4;
        if (d[0] > 0.0f || d[1] > 0.0f || d[2] > 0.0f) h |= TSR_LIGHT_DIMS;
        if (d[3] > 0.0f) h |= TSR_LIGHT_STOPS;
    }
    if (a->scatter && (a->scatter[i * 4] > 0.0f || a->scatter[i * 4 + 1] > 0.0f || a->scatter[i * 4 + 2] > 0.0f)) h |= TSR_LIGHT_SCATTERS;
    if (a->emit && (a->emit[i * 4] > 0.0f || a->emit[i * 4 + 1] > 0.0f || a->emit[i * 4 + 2] > 0.0f)) h |= TSR_LIGHT_EMITS;
    return h;
}

static void block_layer(void *user, int64_t begin, int64_t end, int worker)
{
    const block_job *j = (const block_job *)user;
    const int32_t *n = j->a->size;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        const int32_t b[3] = { (int32_t)(i % j->blocks[0]), (int32_t)(i / j->blocks[0] % j->blocks[1]), (int32_t)(i / j->blocks[0] / j->blocks[1]) };
        int32_t low[3], high[3];
        int all = 0;
        for (int k = 0; k < 3; k++) {
            low[k] = tsr_maxi(b[k] * TSR_LIGHT_BLOCK - 2, 0);
            high[k] = tsr_mini(b[k] * TSR_LIGHT_BLOCK + TSR_LIGHT_BLOCK + 2, n[k]);
        }
        const float first = j->a->index[(((int64_t)low[2] * n[1] + low[1]) * n[0] + low[0]) * 4];
        for (int32_t z = low[2]; z < high[2]; z++)
            for (int32_t y = low[1]; y < high[1]; y++)
                for (int32_t x = low[0]; x < high[0]; x++) all |= holds(j->a, ((int64_t)z * n[1] + y) * n[0] + x, first);
        j->coarse[i] = (uint8_t)all;
    }
}

/* How far around nothing is: 1 for an empty block, more while all its neighbours are. */
static int64_t spread(const block_job *j)
{
    const int32_t *b = j->blocks;
    int64_t empty = 0;
    for (int64_t i = 0; i < (int64_t)b[0] * b[1] * b[2]; i++)
        if (!j->coarse[i]) {
            j->coarse[i] = 1 << TSR_LIGHT_FAR;
            empty++;
        }
    for (int r = 2; r <= 7; r++)
        for (int32_t z = 0; z < b[2]; z++)
            for (int32_t y = 0; y < b[1]; y++)
                for (int32_t x = 0; x < b[0]; x++) {
                    uint8_t *own = &j->coarse[((int64_t)z * b[1] + y) * b[0] + x];
                    int least = *own >> TSR_LIGHT_FAR == r - 1 ? r : 0;
                    for (int32_t k = 0; k < 27 && least; k++) {
                        const int32_t nx = x + k % 3 - 1, ny = y + k / 3 % 3 - 1, nz = z + k / 9 - 1;
                        if (nx < 0 || ny < 0 || nz < 0 || nx >= b[0] || ny >= b[1] || nz >= b[2]) continue;
                        if (j->coarse[((int64_t)nz * b[1] + ny) * b[0] + nx] >> TSR_LIGHT_FAR < r - 1) least = 0;
                    }
                    if (least) *own = (uint8_t)(r << TSR_LIGHT_FAR);
                }
    return empty;
}

/* ---- to the device ---- */

static tsr_status upload(tsr_light_matter *m, const void *from, size_t bytes, void **to)
{
    TSR_TRY(tsr_device_allocate(m->context, bytes, to));
    m->bytes += (int64_t)bytes;
    return tsr_device_move(m->context, *to, NULL, from, bytes);
}

tsr_status tsr_light_matter_take(tsr_context *context, tsr_light_arrays *a, tsr_light_matter **matter)
{
    tsr_status status;
    tsr_light_matter *m = NULL;
    block_job job = { .a = a };
    const int64_t voxels = tsr_light_voxels(a->size);
    const int threads = tsr_context_threads(context);
    int64_t blocks = 1, empty;
    uint8_t *quiet[2] = { NULL, NULL };
    *matter = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *m, (void **)&m));
    memset(m, 0, sizeof *m);
    m->context = context;
    m->voxel = a->voxel;
    m->least_index = INFINITY;
    m->most_index = 0;
    for (int k = 0; k < 3; k++) {
        m->origin[k] = a->origin[k];
        m->medium.size[k] = a->size[k];
        m->medium.upper[k] = (float)a->size[k] - 0.5f;
        m->medium.blocks[k] = job.blocks[k] = (a->size[k] + TSR_LIGHT_BLOCK - 1) / TSR_LIGHT_BLOCK;
        blocks *= job.blocks[k];
    }
    m->medium.bend = 1.0f;
    for (int64_t i = 0; i < voxels; i++) {
        m->least_index = fmin(m->least_index, (double)a->index[i * 4]);
        m->most_index = fmax(m->most_index, (double)a->index[i * 4]);
    }
    tsr_parallel(threads, (int64_t)a->size[1] * a->size[2], 16, gradient_rows, a);
    if (a->edge) {
        tsr_parallel(threads, (int64_t)a->size[1] * a->size[2], 16, edge_rows, a);
        tsr_parallel(threads, (int64_t)a->size[1] * a->size[2], 16, alone_rows, a);
        TSR_TRY_GOTO(mark_straight(a, quiet, threads), fail);
    }
    job.coarse = calloc((size_t)blocks, 1);
    if (!job.coarse) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "no %lld bytes for blocks", (long long)blocks);
    tsr_parallel(threads, blocks, 64, block_layer, &job);
    empty = spread(&job);
    m->empty = (double)empty / (double)blocks;
    const size_t bytes = (size_t)voxels * 16;
    TSR_TRY_GOTO(upload(m, a->index, bytes, (void **)(uintptr_t)&m->medium.index), fail);
    if (a->dim) TSR_TRY_GOTO(upload(m, a->dim, bytes, (void **)(uintptr_t)&m->medium.dim), fail);
    if (a->scatter) TSR_TRY_GOTO(upload(m, a->scatter, bytes, (void **)(uintptr_t)&m->medium.scatter), fail);
    if (a->emit) TSR_TRY_GOTO(upload(m, a->emit, bytes, (void **)(uintptr_t)&m->medium.emit), fail);
    if (a->skin) TSR_TRY_GOTO(upload(m, a->skin, bytes, (void **)(uintptr_t)&m->medium.skin), fail);
    if (a->edge) {
        TSR_TRY_GOTO(upload(m, a->edge, bytes, (void **)(uintptr_t)&m->medium.edge), fail);
        TSR_TRY_GOTO(upload(m, a->cells, (size_t)voxels, (void **)(uintptr_t)&m->medium.cells), fail);
        TSR_TRY_GOTO(upload(m, a->sides, sizeof a->sides, (void **)(uintptr_t)&m->medium.sides), fail);
    }
    TSR_TRY_GOTO(upload(m, job.coarse, (size_t)blocks, (void **)(uintptr_t)&m->medium.coarse), fail);
    free(job.coarse);
    free(quiet[0]);
    free(quiet[1]);
    *matter = m;
    return TSR_OK;
fail:
    free(job.coarse);
    free(quiet[0]);
    free(quiet[1]);
    tsr_light_matter_destroy(&m);
    return status;
}

void tsr_light_matter_destroy(tsr_light_matter **matter)
{
    if (!matter || !*matter) return;
    tsr_light_matter *m = *matter;
    const int64_t voxels = tsr_light_voxels(m->medium.size), blocks = tsr_light_voxels(m->medium.blocks);
    const void *arrays[] = { m->medium.index, m->medium.dim, m->medium.scatter, m->medium.emit, m->medium.skin, m->medium.edge };
    *matter = NULL;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tsr_device_release(m->context, (void *)(uintptr_t)arrays[i], (size_t)voxels * 16);
    tsr_device_release(m->context, (void *)(uintptr_t)m->medium.coarse, (size_t)blocks);
    tsr_device_release(m->context, (void *)(uintptr_t)m->medium.cells, (size_t)voxels);
    tsr_device_release(m->context, (void *)(uintptr_t)m->medium.sides, TSR_LIGHT_SIDES * sizeof(float));
    tsr_host_release(NULL, m, sizeof *m);
}

tsr_status tsr_light_matter_describe(const tsr_light_matter *m, tsr_light_matter_info *info)
{
    if (!m || !info) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", m ? "info" : "matter");
    tsr_light_matter_info own = {
        .struct_size = sizeof own, .voxel = m->voxel, .least_index = m->least_index, .most_index = m->most_index, .empty = m->empty, .bytes = m->bytes
    };
    double low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = m->origin[k] - 0.5 * m->voxel;
        high[k] = low[k] + m->medium.size[k] * m->voxel;
    }
    own.size = (tsr_size3){ m->medium.size[0], m->medium.size[1], m->medium.size[2] };
    own.bounds = (tsr_box){ { low[0], low[1], low[2] }, { high[0], high[1], high[2] } };
    return TSR_STRUCT_GIVE(info, &own);
}

/* ---- from volumes ---- */

/* Real values of a volume, on the host. */
static tsr_status values(tsr_context *context, const tsr_volume *volume, double smooth, tsr_volume **host)
{
    tsr_status status;
    tsr_volume *device = NULL, *real = NULL, *soft = NULL;
    *host = NULL;
    TSR_TRY(tsr_volume_copy(volume, context, &device));
    TSR_TRY_GOTO(tsr_volume_convert(context, device, TSR_F32, &real), end);
    if (smooth > 0) {
        tsr_smooth_options o = TSR_SMOOTH_OPTIONS;
        o.sigma = smooth;
        o.in_voxels = 1;
        TSR_TRY_GOTO(tsr_volume_smooth(context, real, &o, &soft), end);
    }
    TSR_TRY_GOTO(tsr_volume_copy(soft ? soft : real, NULL, host), end);
    status = TSR_OK;
end:
    tsr_volume_destroy(&soft);
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&device);
    return status;
}

typedef struct channel_rule {
    const char *name;
    double lower, upper; /* values allowed */
    int open;            /* the bounds themselves are not */
} channel_rule;

static tsr_status fill(tsr_context *context, const tsr_volume *volume, double smooth, double scale, channel_rule rule, tsr_light_arrays *a,
                       float **array, int channel)
{
    tsr_volume *host = NULL;
    const int64_t voxels = tsr_light_voxels(a->size);
    if (!*array) TSR_TRY(tsr_light_arrays_create(a, array));
    TSR_TRY(values(context, volume, 0, &host));
    const float *from = (const float *)tsr_volume_data_const(host);
    for (int64_t i = 0; i < voxels; i++) {
        const double v = (double)from[i];
        if (v > rule.lower && v < rule.upper) continue;
        if (!rule.open && (v == rule.lower || v == rule.upper)) continue;
        const tsr_status status =
            TSR_FAILED(TSR_ERROR_ARGUMENT, "%s is %g at voxel (%lld, %lld, %lld), expected %s %g %s %g", rule.name, v, (long long)(i % a->size[0]),
                       (long long)(i / a->size[0] % a->size[1]), (long long)(i / a->size[0] / a->size[1]), rule.open ? "above" : "at least",
                       rule.lower, rule.open ? "and below" : "and at most", rule.upper);
        tsr_volume_destroy(&host);
        return status;
    }
    if (smooth > 0) {
        tsr_volume_destroy(&host);
        TSR_TRY(values(context, volume, smooth, &host));
        from = (const float *)tsr_volume_data_const(host);
    }
    for (int64_t i = 0; i < voxels; i++) (*array)[i * 4 + channel] = (float)((double)from[i] * scale);
    tsr_volume_destroy(&host);
    return TSR_OK;
}

static tsr_status take_geometry(const tsr_volume *volume, tsr_light_arrays *a)
{
    const tsr_geometry *g = tsr_volume_geometry(volume);
    const tsr_size3 n = tsr_volume_size(volume);
    const double h = g->affine[0][0];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (fabs(g->affine[r][c] - (r == c ? h : 0)) > 1e-6 * fabs(h) || !(h > 0))
                TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                         "the volumes' voxels are no cubes along the axes of the world (row %d of the matrix is %g %g %g): resample "
                         "them first",
                         r, g->affine[r][0], g->affine[r][1], g->affine[r][2]);
    if (n.x < 2 || n.y < 2 || n.z < 2 || n.x > LARGEST || n.y > LARGEST || n.z > LARGEST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volumes of %lld x %lld x %lld voxels, expected 2 to %d along each axis", (long long)n.x, (long long)n.y,
                 (long long)n.z, LARGEST);
    *a = (tsr_light_arrays){ .size = { (int32_t)n.x, (int32_t)n.y, (int32_t)n.z }, .voxel = h };
    for (int k = 0; k < 3; k++) a->origin[k] = g->affine[k][3];
    return TSR_OK;
}

static tsr_status fill_all(tsr_context *context, const tsr_light_volumes *v, tsr_light_arrays *a)
{
    static const char *const dims[] = { "extinction[0]", "extinction[1]", "extinction[2]" };
    static const char *const scatters[] = { "scattering[0]", "scattering[1]", "scattering[2]" };
    static const char *const emits[] = { "emission[0]", "emission[1]", "emission[2]" };
    static const char *const colors[] = { "color[0]", "color[1]", "color[2]" };
    const int64_t voxels = tsr_light_voxels(a->size);
    const double far_ = 1e30, h = a->voxel;
    if (v->index) TSR_TRY(fill(context, v->index, v->smooth, 1, (channel_rule){ "index", 0, 100, 1 }, a, &a->index, 0));
    else {
        TSR_TRY(tsr_light_arrays_create(a, &a->index));
        for (int64_t i = 0; i < voxels; i++) a->index[i * 4] = 1.0f;
    }
    for (int k = 0; k < 3; k++) {
        if (v->extinction[k]) TSR_TRY(fill(context, v->extinction[k], 0, h, (channel_rule){ dims[k], 0, far_, 0 }, a, &a->dim, k));
        if (v->scattering[k]) TSR_TRY(fill(context, v->scattering[k], 0, h, (channel_rule){ scatters[k], 0, far_, 0 }, a, &a->scatter, k));
        if (v->emission[k]) TSR_TRY(fill(context, v->emission[k], 0, h, (channel_rule){ emits[k], 0, far_, 0 }, a, &a->emit, k));
        if (v->color[k]) TSR_TRY(fill(context, v->color[k], 0, 1, (channel_rule){ colors[k], 0, 1, 0 }, a, &a->skin, k));
    }
    if (v->asymmetry) TSR_TRY(fill(context, v->asymmetry, 0, 1, (channel_rule){ "asymmetry", -1, 1, 1 }, a, &a->scatter, 3));
    if (v->opaque) TSR_TRY(fill(context, v->opaque, 0, 1, (channel_rule){ "opaque", 0, 1, 0 }, a, &a->dim, 3));
    for (int64_t i = 0; a->scatter && i < voxels; i++)
        for (int k = 0; k < 3; k++) {
            const float s = a->scatter[i * 4 + k], t = a->dim ? a->dim[i * 4 + k] : 0.0f;
            if (s > t * 1.00001f)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "scattering[%d] is %g at voxel %lld, more than the extinction there (%g), of which it is a part", k,
                         (double)s / h, (long long)i, (double)t / h);
        }
    return TSR_OK;
}

tsr_status tsr_light_matter_create(tsr_context *context, const tsr_light_volumes *volumes, tsr_light_matter **matter)
{
    TSR_RETURNS(matter);
    tsr_light_volumes v;
    tsr_light_arrays a = { 0 };
    const tsr_volume *first = NULL;
    if (!context || !volumes) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", context ? "volumes" : "context");
    TSR_TRY(TSR_OPTIONS_TAKE(&v, volumes));
    if (!(v.smooth >= 0 && v.smooth <= 16)) TSR_FAIL(TSR_ERROR_ARGUMENT, "smooth is %g, expected 0 to 16 voxels", v.smooth);
    const tsr_volume *all[16] = { v.index,         v.extinction[0], v.extinction[1], v.extinction[2], v.scattering[0],
                                  v.scattering[1], v.scattering[2], v.emission[0],   v.emission[1],   v.emission[2],
                                  v.asymmetry,     v.opaque,        v.color[0],      v.color[1],      v.color[2] };
    for (int i = 0; i < 15; i++) {
        if (!all[i]) continue;
        if (!first) first = all[i];
        const tsr_size3 n = tsr_volume_size(all[i]), m = tsr_volume_size(first);
        if (n.x != m.x || n.y != m.y || n.z != m.z)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "volumes of %lld x %lld x %lld and %lld x %lld x %lld voxels, expected one size", (long long)m.x,
                     (long long)m.y, (long long)m.z, (long long)n.x, (long long)n.y, (long long)n.z);
    }
    if (!first) TSR_FAIL(TSR_ERROR_ARGUMENT, "no volume is given, expected one at least");
    TSR_TRY(take_geometry(first, &a));
    tsr_status status = fill_all(context, &v, &a);
    if (status == TSR_OK) status = tsr_light_matter_take(context, &a, matter);
    tsr_light_arrays_destroy(&a);
    return status == TSR_OK ? TSR_OK : tsr_frame_at(status, __func__, __FILE__, __LINE__);
}
