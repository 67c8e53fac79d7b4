/* Depth maps to meshes: cells merge level by level, leaves are marked by their corners, rings of marked pixels become triangles. */
#include "tessera/depth_map.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "camera/camera.h"
#include "core/parallel.h"
#include "mesh/mesh.h"
#include "volume/volume.h"
#include "volume/voxel.h"
#include "vision/depth_mesh.h"

enum { LEVELS = 32, CORNER = 1, MIDDLE = 2 };

struct level {
    int32_t width, height;
    uint8_t *leaf;
}; /* of squares of 2^level cells: 1 = one leaf, 2 = has leaves below */

struct leaf {
    int32_t x, y, side;
};

struct map {
    tsr_depth_mesh_options o;
    int32_t width, height, levels;
    double *q; /* NAN = hole */
    struct level level[LEVELS];
    uint8_t *mark;    /* of pixels */
    uint32_t *number; /* of vertices */
    struct leaf *leaf;
    int64_t leaves, cells, vertices, triangles;
    float *error; /* of depths, -1 = not covered */
    double worst; /* of them, unrounded */
    tsr_geometry geometry;
    tsr_space space;
    int pinhole; /* inverse depths are linear on planes, else depths */
    tsr_camera_rays rays;
};

static void destroy(struct map *m)
{
    for (int l = 0; l < LEVELS; l++) free(m->level[l].leaf);
    free(m->q);
    free(m->mark);
    free(m->number);
    free(m->leaf);
    free(m->error);
}

static tsr_status no_memory(const struct map *m)
{
    TSR_FAIL(TSR_ERROR_MEMORY, "depth mesh: out of host memory for %d x %d pixels", m->width, m->height);
}

/* ---- values -------------------------------------------------------------------------------------------------------------------- */

static double q_of(const struct map *m, double value)
{
    const double q = !m->pinhole ? value : m->o.disparity > 0 ? value / m->o.disparity : 1.0 / value;
    return isfinite(value) && isfinite(q) && (!m->o.camera || q > 0) ? q : (double)NAN;
}
static double depth_of(const struct map *m, double q) { return m->pinhole ? 1.0 / q : q; }

static tsr_status read_values(struct map *m, const tsr_volume *depth)
{
    const int64_t pixels = (int64_t)m->width * m->height;
    m->q = (double *)malloc((size_t)pixels * sizeof *m->q);
    m->mark = (uint8_t *)calloc((size_t)pixels, 1);
    m->number = (uint32_t *)malloc((size_t)pixels * sizeof *m->number);
    m->error = (float *)malloc((size_t)pixels * sizeof *m->error);
    if (!m->q || !m->mark || !m->number || !m->error) return no_memory(m);
    for (int64_t i = 0; i < pixels; i++) {
        m->q[i] = q_of(m, tsr_voxel_real(tsr_voxel_load(depth->data, depth->dtype, i), depth->slope, depth->intercept));
        m->error[i] = -1;
    }
    return TSR_OK;
}

/* May the two pixels be joined. */
static int joined(const struct map *m, int64_t a, int64_t b)
{
    if (isnan(m->q[a]) || isnan(m->q[b])) return 0;
    return m->o.discontinuity == 0 || fabs(depth_of(m, m->q[a]) - depth_of(m, m->q[b])) <= m->o.discontinuity;
}

static int cell_joined(const struct map *m, int32_t x, int32_t y)
{
    const int64_t a = (int64_t)y * m->width + x, b = a + m->width;
    return joined(m, a, a + 1) && joined(m, b, b + 1) && joined(m, a, b) && joined(m, a + 1, b + 1) && joined(m, a, b + 1);
}

/* ---- merging ------------------------------------------------------------------------------------------------------------------- */

/* Half of what is allowed: vertices that neighbours put on the edges move the surface by up to as much again. */
static int fits(const struct map *m, int32_t x, int32_t y, int32_t side)
{
    const double *q = m->q + (int64_t)y * m->width + x;
    const int64_t row = m->width;
    const double base = q[0];
    const tsr_depth_leaf leaf = { { 0.0, q[side] - base, q[side * row] - base, q[side * row + side] - base }, q[side / 2 * row + side / 2] - base };
    double most = 0, least = (double)INFINITY;
    for (int32_t v = 0; v <= side; v++)
        for (int32_t u = 0; u <= side; u++) {
            const double d = q[v * row + u] - base;
            most = fmax(most, fmax(fabs(tsr_depth_two(&leaf, u, v, side) - d), fabs(tsr_depth_fan(&leaf, u, v, side) - d)));
            least = fmin(least, q[v * row + u]);
        }
    return most <= 0.5 * tsr_depth_allowance(least, m->o.tolerance, m->pinhole);
}

struct merge {
    const struct map *map;
    int32_t l;
    int allowed;
};

static void merge_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const struct merge *job = (const struct merge *)user;
    const struct map *m = job->map;
    const struct level *below = &m->level[job->l - 1], *own = &m->level[job->l];
    const int32_t side = 1 << job->l;
    (void)worker;
    for (int32_t y = (int32_t)begin; y < (int32_t)end; y++)
        for (int32_t x = 0; x < own->width; x++) {
            int all = 1, any = 0;
            for (int c = 0; c < 4; c++) {
                const int32_t cx = 2 * x + (c & 1), cy = 2 * y + (c >> 1);
                const int child = cx < below->width && cy < below->height ? below->leaf[(int64_t)cy * below->width + cx] : 0;
                all &= child == 1;
                any |= child;
            }
            if (all) all = job->allowed && (x + 1) * side < m->width && (y + 1) * side < m->height && fits(m, x * side, y * side, side);
            own->leaf[(int64_t)y * own->width + x] = (uint8_t)(all ? 1 : any ? 2 : 0);
        }
}

static tsr_status merge_all(struct map *m)
{
    const int threads = m->o.threads ? m->o.threads : tsr_parallel_default_threads();
    for (int32_t l = 0; l < LEVELS; l++) {
        const int32_t width = l ? (m->level[l - 1].width + 1) / 2 : m->width - 1, height = l ? (m->level[l - 1].height + 1) / 2 : m->height - 1;
        m->level[l] = (struct level){ width, height, (uint8_t *)calloc((size_t)width * (size_t)height, 1) };
        if (!m->level[l].leaf) return no_memory(m);
        m->levels = l + 1;
        TSR_PROGRESS(&m->o.progress, 0.5 * l / 16, "merging");
        if (!l) {
            for (int32_t y = 0; y < height; y++)
                for (int32_t x = 0; x < width; x++) m->cells += m->level[0].leaf[(int64_t)y * width + x] = (uint8_t)cell_joined(m, x, y);
        } else {
            struct merge job = { m, l, !m->o.most_side || (1 << l) <= m->o.most_side };
            tsr_parallel(threads, height, 4, merge_rows, &job);
        }
        if (width == 1 && height == 1) return TSR_OK;
    }
    return TSR_OK;
}

/* In Morton order. `to` NULL: counts. */
static void list_leaves(struct map *m, int32_t l, int32_t x, int32_t y, struct leaf *to)
{
    if (x >= m->level[l].width || y >= m->level[l].height) return;
    const int kind = m->level[l].leaf[(int64_t)y * m->level[l].width + x];
    if (kind == 1) {
        if (to) to[m->leaves] = (struct leaf){ x << l, y << l, 1 << l };
        m->leaves++;
    }
    for (int c = 0; c < 4 && kind == 2; c++) list_leaves(m, l - 1, 2 * x + (c & 1), 2 * y + (c >> 1), to);
}

static tsr_status take_leaves(struct map *m)
{
    list_leaves(m, m->levels - 1, 0, 0, NULL);
    if (!m->leaves)
        TSR_FAIL(TSR_ERROR_STATE, "depth mesh: no four neighbouring pixels of %d x %d are valid and within the discontinuity of one another",
                 m->width, m->height);
    m->leaf = (struct leaf *)malloc((size_t)m->leaves * sizeof *m->leaf);
    if (!m->leaf) return no_memory(m);
    m->leaves = 0;
    list_leaves(m, m->levels - 1, 0, 0, m->leaf);
    return TSR_OK;
}

/* ---- triangles ------------------------------------------------------------------------------------------------------------------- */

/* Marked pixels round a leaf, from (0, 0) along the upper edge. Returns how many; the first `room` to `ring`. */
static int64_t ring_of(const struct map *m, const struct leaf *l, int64_t *ring, int64_t room)
{
    static const int step[4][2] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
    int64_t at = (int64_t)l->y * m->width + l->x, count = 0;
    for (int e = 0; e < 4; e++)
        for (int32_t i = 0; i < l->side; i++) {
            if (m->mark[at] == CORNER) {
                if (count < room) ring[count] = at;
                count++;
            }
            at += step[e][0] + (int64_t)step[e][1] * m->width;
        }
    return count;
}
static int64_t middle_of(const struct map *m, const struct leaf *l) { return (int64_t)(l->y + l->side / 2) * m->width + l->x + l->side / 2; }

static void mark_vertices(struct map *m)
{
    for (int64_t i = 0; i < m->leaves; i++) {
        const struct leaf *l = &m->leaf[i];
        for (int c = 0; c < 4; c++) m->mark[(int64_t)(l->y + (c >> 1) * l->side) * m->width + l->x + (c & 1) * l->side] = CORNER;
    }
    for (int64_t i = 0; i < m->leaves; i++) {
        const int64_t ring = ring_of(m, &m->leaf[i], NULL, 0);
        m->triangles += ring == 4 ? 2 : ring;
        if (ring > 4) m->mark[middle_of(m, &m->leaf[i])] = MIDDLE;
    }
    for (int64_t i = 0; i < (int64_t)m->width * m->height; i++)
        if (m->mark[i]) m->number[i] = (uint32_t)m->vertices++;
}

/* Depth errors at the pixels of one triangle, whose corners are pixels. */
static void measure(struct map *m, const int64_t corner[3])
{
    int32_t x[3], y[3];
    for (int k = 0; k < 3; k++) {
        x[k] = (int32_t)(corner[k] % m->width);
        y[k] = (int32_t)(corner[k] / m->width);
    }
    const int32_t x0 = tsr_mini(x[0], tsr_mini(x[1], x[2])), x1 = tsr_maxi(x[0], tsr_maxi(x[1], x[2]));
    const int32_t y0 = tsr_mini(y[0], tsr_mini(y[1], y[2])), y1 = tsr_maxi(y[0], tsr_maxi(y[1], y[2]));
    const int64_t ax = x[1] - x[0], ay = y[1] - y[0], bx = x[2] - x[0], by = y[2] - y[0], area = ax * by - ay * bx, sign = area < 0 ? -1 : 1;
    const double base = m->q[corner[0]], dq1 = m->q[corner[1]] - base, dq2 = m->q[corner[2]] - base;
    for (int32_t py = y0; py <= y1; py++)
        for (int32_t px = x0; px <= x1; px++) {
            const int64_t cx = px - x[0], cy = py - y[0], w1 = sign * (cx * by - cy * bx), w2 = sign * (ax * cy - ay * cx);
            if (w1 < 0 || w2 < 0 || w1 + w2 > sign * area) continue;
            const int64_t i = (int64_t)py * m->width + px;
            const double q = base + ((double)w1 * dq1 + (double)w2 * dq2) / (double)(sign * area);
            const double error = fabs(depth_of(m, q) - depth_of(m, m->q[i]));
            if (error > m->worst) m->worst = error;
            if ((float)error > m->error[i]) m->error[i] = (float)error;
        }
}

static void put_triangle(struct map *m, int64_t a, int64_t b, int64_t c, int flip, uint32_t **to)
{
    const int64_t corner[3] = { a, b, c };
    for (int k = 0; k < 3; k++) (*to)[k] = m->number[corner[k && flip ? 3 - k : k]];
    *to += 3;
    measure(m, corner);
}

/* The ring runs with the image's axes: right, down, left, up. Seen along the eye's axis (z away from the viewer) that is clockwise. */
static tsr_status put_triangles(struct map *m, int flip, uint32_t *to)
{
    int64_t *ring = NULL, room = 0;
    for (int64_t i = 0; i < m->leaves; i++) {
        const struct leaf *l = &m->leaf[i];
        if (4 * (int64_t)l->side > room) {
            room = 4 * (int64_t)l->side;
            int64_t *grown = (int64_t *)realloc(ring, (size_t)room * sizeof *ring);
            if (!grown) free(ring);
            if (!grown) return no_memory(m);
            ring = grown;
        }
        const int64_t count = ring_of(m, l, ring, room), middle = middle_of(m, l);
        if (count == 4) {
            put_triangle(m, ring[0], ring[1], ring[2], flip, &to);
            put_triangle(m, ring[0], ring[2], ring[3], flip, &to);
        }
        for (int64_t k = 0; k < count && count > 4; k++) put_triangle(m, middle, ring[k], ring[(k + 1) % count], flip, &to);
    }
    free(ring);
    return TSR_OK;
}

static tsr_status put_vertices(const struct map *m, float *to)
{
    const tsr_geometry *g = &m->geometry;
    const tsr_vec3 spacing = tsr_geometry_spacing(g);
    for (int64_t i = 0; i < (int64_t)m->width * m->height; i++) {
        if (!m->mark[i]) continue;
        const double pixel[2] = { (double)(i % m->width), (double)(i / m->width) }, z = depth_of(m, m->q[i]);
        double world[3];
        if (m->o.camera) {
            tsr_vec3 p, direction;
            tsr_camera_rays_at(&m->rays, pixel[0] + 0.5, pixel[1] + 0.5, &p, &direction);
            world[0] = p.x + z * direction.x;
            world[1] = p.y + z * direction.y;
            world[2] = p.z + z * direction.z;
        } else {
            for (int r = 0; r < 3; r++)
                world[r] = g->affine[r][0] * pixel[0] + g->affine[r][1] * pixel[1] + g->affine[r][3] + z * g->affine[r][2] / spacing.z;
        }
        for (int r = 0; r < 3; r++) {
            if (!(fabs(world[r]) <= (double)FLT_MAX))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: pixel (%lld, %lld) of depth %g comes to (%g, %g, %g), expected numbers that float32 holds",
                         (long long)(i % m->width), (long long)(i / m->width), z, world[0], world[1], world[2]);
            to[3 * (int64_t)m->number[i] + r] = (float)world[r];
        }
    }
    return TSR_OK;
}

/* ---- all ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status check(const tsr_volume *depth, const tsr_depth_mesh_options *o)
{
    if (!depth || tsr_volume_device(depth).kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: depth is %s, expected a host volume", depth ? "on a device" : "NULL");
    const tsr_size3 n = depth->size;
    if (n.z != 1 || n.x < 2 || n.y < 2 || n.x > 65536 || n.y > 65536)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: a map of %lld x %lld x %lld, expected one slice of 2 x 2 to 65536 x 65536 pixels", (long long)n.x,
                 (long long)n.y, (long long)n.z);
    if (!(o->tolerance >= 0) || !isfinite(o->tolerance))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: tolerance is %g, expected 0 or more", o->tolerance);
    if (!(o->discontinuity >= 0) || !isfinite(o->discontinuity))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: discontinuity is %g, expected 0 or more", o->discontinuity);
    if (o->most_side < 0 || (o->most_side & (o->most_side - 1)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: most_side is %d, expected 0 or a power of two", o->most_side);
    if (o->threads < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: threads is %d, expected 0 or more", o->threads);
    if (o->camera && o->camera->projection == TSR_PROJECTION_MATRIX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "depth mesh: the camera's projection is a matrix, expected a pinhole or an orthographic camera");
    const int pinhole = o->camera && o->camera->projection == TSR_PERSPECTIVE;
    if (!(o->disparity >= 0) || !isfinite(o->disparity) || (o->disparity > 0 && !pinhole))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "depth mesh: disparity is %g, expected 0 or, with a pinhole camera, more", o->disparity);
    return TSR_OK;
}

static tsr_depth_mesh_info sum_up(const struct map *m)
{
    double sum = 0;
    int64_t covered = 0;
    for (int64_t i = 0; i < (int64_t)m->width * m->height; i++) {
        if (m->error[i] < 0) continue;
        sum += (double)m->error[i] * (double)m->error[i];
        covered++;
    }
    return (tsr_depth_mesh_info){ .cells = m->cells,
                                  .leaves = m->leaves,
                                  .vertices = m->vertices,
                                  .triangles = m->triangles,
                                  .max_error = m->worst,
                                  .rms_error = covered ? sqrt(sum / (double)covered) : 0 };
}

static tsr_status build(struct map *m, const tsr_volume *depth, tsr_mesh **mesh)
{
    TSR_TRY(read_values(m, depth));
    TSR_TRY(merge_all(m));
    TSR_TRY(take_leaves(m));
    mark_vertices(m);
    TSR_PROGRESS(&m->o.progress, 0.7, "triangles");
    TSR_TRY(tsr_mesh_create(NULL, m->vertices, m->triangles, 0, mesh));
    const int flip = m->o.camera != NULL || tsr_geometry_determinant(&m->geometry) < 0;
    TSR_TRY(put_vertices(m, (*mesh)->vertices));
    TSR_TRY(put_triangles(m, flip, (*mesh)->triangles));
    (*mesh)->space = m->o.camera ? TSR_SPACE_NONE : m->geometry.space;
    return TSR_OK;
}

tsr_status tsr_depth_mesh(const tsr_volume *depth, const tsr_depth_mesh_options *options, tsr_mesh **mesh, tsr_depth_mesh_info *info)
{
    TSR_RETURNS(mesh);
    TSR_NEEDS(depth);
    TSR_TRY(TSR_STRUCT_BEGUN(info));
    struct map m = { .width = 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&m.o, options));
    TSR_TRY(check(depth, &m.o));
    m.width = (int32_t)depth->size.x;
    m.height = (int32_t)depth->size.y;
    m.geometry = depth->geometry;
    m.pinhole = m.o.camera && m.o.camera->projection == TSR_PERSPECTIVE;
    if (m.o.camera) TSR_TRY(tsr_camera_rays_make("depth mesh", m.o.camera, m.width, m.height, &m.rays));
    tsr_status status = build(&m, depth, mesh);
    if (status != TSR_OK) tsr_mesh_destroy(mesh);
    if (status == TSR_OK && info) {
        const tsr_depth_mesh_info own = sum_up(&m);
        status = TSR_STRUCT_GIVE(info, &own);
    }
    destroy(&m);
    return status;
}
