/* mesh/unstructured.c: cells taken apart into tetrahedra, and the edges that these share. */
#include "mesh/unstructured.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "volume/voxel.h"

/* Faces of a cell by its corners, counter-clockwise seen from outside, -1 after the last of three. */
typedef struct cell_shape {
    int corners, faces;
    int8_t face[6][4];
} cell_shape;
static const cell_shape tetrahedron = { 4, 4, { { 0, 2, 1, -1 }, { 0, 1, 3, -1 }, { 1, 2, 3, -1 }, { 0, 3, 2, -1 } } };
static const cell_shape hexahedron = { 8, 6, { { 0, 3, 2, 1 }, { 4, 5, 6, 7 }, { 0, 1, 5, 4 }, { 1, 2, 6, 5 }, { 2, 3, 7, 6 }, { 3, 0, 4, 7 } } };
static const cell_shape voxel = { 8, 6, { { 0, 2, 3, 1 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 }, { 1, 3, 7, 5 }, { 3, 2, 6, 7 }, { 2, 0, 4, 6 } } };
static const cell_shape wedge = { 6, 5, { { 0, 1, 2, -1 }, { 3, 5, 4, -1 }, { 0, 3, 4, 1 }, { 1, 4, 5, 2 }, { 2, 5, 3, 0 } } };
static const cell_shape pyramid = { 5, 5, { { 0, 3, 2, 1 }, { 0, 1, 4, -1 }, { 1, 2, 4, -1 }, { 2, 3, 4, -1 }, { 3, 0, 4, -1 } } };
enum { MOST_TETRAHEDRA = 6 };

/* NULL: a cell without volume. */
static const cell_shape *shape_of(int type)
{
    switch (type) {
    case TSR_CELL_TETRAHEDRON: return &tetrahedron;
    case TSR_CELL_VOXEL: return &voxel;
    case TSR_CELL_HEXAHEDRON: return &hexahedron;
    case TSR_CELL_WEDGE: return &wedge;
    case TSR_CELL_PYRAMID: return &pyramid;
    default: return NULL;
    }
}
/* Corners of a type, 0 if there may be any number. */
static int corners_of(int type)
{
    static const int flat[10] = { 0, 1, 0, 2, 0, 3, 0, 0, 4, 4 };
    const cell_shape *shape = shape_of(type);
    return shape ? shape->corners : type < 10 ? flat[type] : 0;
}

/* Six times the volume of a tetrahedron. */
static double volume_of(const double *points, const uint32_t t[4])
{
    double e[3][3];
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) e[k][r] = points[3 * (int64_t)t[k + 1] + r] - points[3 * (int64_t)t[0] + r];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Tetrahedra of a cell from its smallest point on; returns how many. *turned: they had to be turned over. */
static int take_apart(const cell_shape *shape, const uint32_t *corners, const double *points, uint32_t to[MOST_TETRAHEDRA][4], int *turned)
{
    uint32_t apex = corners[0];
    double volume = 0;
    int count = 0;
    for (int k = 1; k < shape->corners; k++) apex = corners[k] < apex ? corners[k] : apex;
    for (int f = 0; f < shape->faces; f++) {
        const int sides = shape->face[f][3] < 0 ? 3 : 4;
        uint32_t face[4] = { 0, 0, 0, 0 };
        int least = 0, holds = 0;
        for (int k = 0; k < sides; k++) {
            face[k] = corners[shape->face[f][k]];
            least = face[k] < face[least] ? k : least;
            holds |= face[k] == apex;
        }
        for (int k = 1; k + 1 < sides && !holds; k++) {
            const uint32_t b = face[(least + k) % sides], c = face[(least + k + 1) % sides];
            const uint32_t t[4] = { apex, face[least], b, c };
            if (face[least] == b || face[least] == c || b == c) continue;
            memcpy(to[count++], t, sizeof t);
            volume += volume_of(points, t);
        }
    }
    *turned = volume < 0;
    for (int k = 0; k < count && *turned; k++) {
        const uint32_t second = to[k][1];
        to[k][1] = to[k][2];
        to[k][2] = second;
    }
    return count;
}

/* Walks over the cells. With corners_to NULL counts tetrahedra and checks; else stores. */
static tsr_status walk(const tsr_unstructured_source *s, tsr_unstructured_info *info, uint32_t *corners_to)
{
    int64_t at = 0, tetrahedra = 0;
    info->cells = info->passed_over = info->turned = 0;
    for (int64_t n = 0; n < s->cell_count; n++) {
        const int type = s->types ? s->types[n] : TSR_CELL_TETRAHEDRON, fixed = corners_of(type);
        const cell_shape *shape = shape_of(type);
        if (type < 1 || type > TSR_CELL_PYRAMID)
            TSR_FAIL(type > TSR_CELL_PYRAMID ? TSR_ERROR_UNSUPPORTED : TSR_ERROR_ARGUMENT,
                     "cell %lld: type %d, expected 10 to 14 (tetrahedron, voxel, hexahedron, wedge, pyramid) or 1 to 9 (without volume)",
                     (long long)n, type);
        if (!s->starts && !fixed) TSR_FAIL(TSR_ERROR_ARGUMENT, "cell %lld: type %d has any number of corners, expected starts", (long long)n, type);
        const int64_t first = s->starts ? s->starts[n] : at, end = s->starts ? s->starts[n + 1] : at + fixed;
        if (first != at || end < first || end > s->corner_count || (fixed && end - first != fixed))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "cell %lld of type %d: corners %lld to %lld of %lld, expected %d from %lld on", (long long)n, type,
                     (long long)first, (long long)end, (long long)s->corner_count, fixed, (long long)at);
        for (int64_t k = first; k < end && !corners_to; k++)
            if (s->corners[k] >= s->point_count)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "cell %lld: corner is point %lu, expected 0 to %lld", (long long)n, (unsigned long)s->corners[k],
                         (long long)s->point_count - 1);
        at = end;
        if (!shape) {
            info->passed_over++;
            continue;
        }
        uint32_t made[MOST_TETRAHEDRA][4];
        int turned;
        const int count = take_apart(shape, s->corners + first, s->points, made, &turned);
        if (corners_to && count) memcpy(corners_to + 4 * tetrahedra, made, (size_t)count * sizeof made[0]);
        tetrahedra += count;
        info->cells++;
        info->turned += turned;
    }
    if (at != s->corner_count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%lld corners given, the cells have %lld", (long long)s->corner_count, (long long)at);
    info->tetrahedra = tetrahedra;
    return TSR_OK;
}

static const int8_t ends[TSR_TETRA_EDGES][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } };
static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
/* Sorts and keeps each once; returns how many. Most points have some ten edges, met up to six times each. */
static int64_t sort_once(uint32_t *of, int64_t n)
{
    int64_t kept = 0;
    if (n > 64) qsort(of, (size_t)n, sizeof *of, ascending);
    else
        for (int64_t i = 1; i < n; i++) {
            const uint32_t own = of[i];
            int64_t k = i;
            for (; k > 0 && of[k - 1] > own; k--) of[k] = of[k - 1];
            of[k] = own;
        }
    for (int64_t i = 0; i < n; i++)
        if (!kept || of[kept - 1] != of[i]) of[kept++] = of[i];
    return kept;
}

/* The edges: for every point those to larger ones, gathered by counting. `first`: [points + 1], scratch; `other`: [6 tetrahedra], scratch. */
static tsr_status make_edges(tsr_unstructured *u, int64_t *first, uint32_t *other)
{
    const int64_t points = u->info.points, all = u->info.tetrahedra * TSR_TETRA_EDGES;
    memset(first, 0, (size_t)(points + 1) * sizeof *first);
#define ENDS(k)                                                                                                                                 \
    const uint32_t *t = u->corners + 4 * ((k) / TSR_TETRA_EDGES), p = t[ends[(k) % TSR_TETRA_EDGES][0]], q = t[ends[(k) % TSR_TETRA_EDGES][1]], \
                   a = p < q ? p : q, b = p < q ? q : p
    for (int64_t k = 0; k < all; k++) {
        ENDS(k);
        (void)b;
        first[a + 1]++;
    }
    for (int64_t p = 0; p < points; p++) first[p + 1] += first[p];
    for (int64_t k = 0; k < all; k++) {
        ENDS(k);
        other[first[a]++] = b; /* leaves first[a] at the end of its own */
    }
    int64_t kept = 0, begin = 0;
    for (int64_t p = 0; p < points; p++) {
        const int64_t end = first[p], own = sort_once(other + begin, end - begin);
        memmove(other + kept, other + begin, (size_t)own * sizeof *other);
        begin = end;
        first[p] = kept;
        kept += own;
    }
    first[points] = kept;
    u->info.edges = kept;
    if (kept > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "unstructured grid: %lld edges, expected at most %u", (long long)kept, UINT32_MAX);
    if (kept) TSR_TRY(tsr_host_allocate(NULL, (size_t)kept * 2 * sizeof *u->edges, (void **)&u->edges));
    for (int64_t p = 0; p < points; p++)
        for (int64_t k = first[p]; k < first[p + 1]; k++) {
            u->edges[2 * k] = (uint32_t)p;
            u->edges[2 * k + 1] = other[k];
        }
    for (int64_t k = 0; k < all; k++) {
        ENDS(k);
        int64_t low = first[a], high = first[a + 1];
        while (high - low > 1) {
            const int64_t middle = low + (high - low) / 2;
            if (other[middle] <= b) low = middle;
            else high = middle;
        }
        u->edges_of[k] = (uint32_t)low;
    }
#undef ENDS
    return TSR_OK;
}

typedef struct part {
    void **of;
    int64_t bytes;
} part;
enum { PARTS = 5 };
/* The arrays of a grid and their sizes. */
static void parts_of(tsr_unstructured *u, part parts[PARTS])
{
    const tsr_unstructured_info *i = &u->info;
    const part all[PARTS] = { { (void **)&u->points, i->points * 3 * (int64_t)sizeof(double) },
                              { (void **)&u->values, i->points * (int64_t)sizeof(double) },
                              { (void **)&u->corners, i->tetrahedra * 4 * (int64_t)sizeof(uint32_t) },
                              { (void **)&u->edges, i->edges * 2 * (int64_t)sizeof(uint32_t) },
                              { (void **)&u->edges_of, i->tetrahedra * TSR_TETRA_EDGES * (int64_t)sizeof(uint32_t) } };
    memcpy(parts, all, sizeof all);
}

static tsr_status check_source(const tsr_unstructured_source *s)
{
    if (s->point_count < 0 || s->cell_count < 0 || s->corner_count < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "unstructured grid: %lld points, %lld cells, %lld corners, expected none below 0", (long long)s->point_count,
                 (long long)s->cell_count, (long long)s->corner_count);
    if (s->point_count > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "unstructured grid: %lld points, expected at most %u", (long long)s->point_count, UINT32_MAX);
    if ((s->point_count && !s->points) || (s->corner_count && !s->corners))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "unstructured grid: points or corners is NULL");
    if ((unsigned)s->space > TSR_SPACE_LPS) TSR_FAIL(TSR_ERROR_ARGUMENT, "unstructured grid: space is %d, expected none, RAS or LPS", (int)s->space);
    for (int64_t k = 0; k < 3 * s->point_count; k++)
        if (!(fabs(s->points[k]) <= (double)FLT_MAX)) /* vertices are float32 */
            TSR_FAIL(TSR_ERROR_ARGUMENT, "point %lld: %c is %g, expected a finite number of at most %g", (long long)(k / 3), 'x' + (int)(k % 3),
                     s->points[k], (double)FLT_MAX);
    return TSR_OK;
}

/* On the host. */
static tsr_status build(const tsr_unstructured_source *s, tsr_unstructured **grid)
{
    tsr_unstructured *u = NULL;
    tsr_status status;
    int64_t *first = NULL;
    uint32_t *other = NULL;
    TSR_TRY(check_source(s));
    TSR_TRY(tsr_host_allocate(NULL, sizeof *u, (void **)&u));
    *u = (tsr_unstructured){ .info = { .points = s->point_count, .space = s->space } };
    *grid = u;
    TSR_TRY_GOTO(walk(s, &u->info, NULL), done);
    const int64_t points = s->point_count, tetrahedra = u->info.tetrahedra;
    if (points) {
        TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)points * 3 * sizeof(double), (void **)&u->points), done);
        TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)points * sizeof(double), (void **)&u->values), done);
        memcpy(u->points, s->points, (size_t)points * 3 * sizeof(double));
        if (s->values) memcpy(u->values, s->values, (size_t)points * sizeof(double));
        else memset(u->values, 0, (size_t)points * sizeof(double));
    }
    if (tetrahedra) {
        TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)tetrahedra * 4 * sizeof(uint32_t), (void **)&u->corners), done);
        TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)tetrahedra * TSR_TETRA_EDGES * sizeof(uint32_t), (void **)&u->edges_of), done);
        TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)(points + 1) * sizeof *first, (void **)&first), done);
        TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)tetrahedra * TSR_TETRA_EDGES * sizeof *other, (void **)&other), done);
        TSR_TRY_GOTO(walk(s, &u->info, u->corners), done);
        TSR_TRY_GOTO(make_edges(u, first, other), done);
    }
    part parts[PARTS];
    parts_of(u, parts);
    for (int k = 0; k < PARTS; k++) u->info.bytes += parts[k].bytes;
done:
    tsr_host_release(NULL, first, 0);
    tsr_host_release(NULL, other, 0);
    if (status != TSR_OK) tsr_unstructured_destroy(grid);
    return status;
}

tsr_status tsr_unstructured_create(tsr_context *context, const tsr_unstructured_source *source, tsr_unstructured **grid)
{
    TSR_RETURNS(grid);
    tsr_unstructured_source own;
    tsr_unstructured *host = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, source));
    TSR_TRY(build(&own, &host));
    if (!context) {
        *grid = host;
        return TSR_OK;
    }
    const tsr_status status = tsr_unstructured_copy(host, context, grid);
    tsr_unstructured_destroy(&host);
    return status;
}

void tsr_unstructured_destroy(tsr_unstructured **grid)
{
    part parts[PARTS];
    if (!grid || !*grid) return;
    tsr_unstructured *u = *grid;
    *grid = NULL;
    parts_of(u, parts);
    for (int k = 0; k < PARTS; k++)
        if (u->context) tsr_device_release(u->context, *parts[k].of, (size_t)parts[k].bytes);
        else tsr_host_release(NULL, *parts[k].of, (size_t)parts[k].bytes);
    tsr_host_release(NULL, u, sizeof *u);
}

tsr_status tsr_unstructured_copy(const tsr_unstructured *grid, tsr_context *context, tsr_unstructured **copy)
{
    TSR_RETURNS(copy);
    TSR_NEEDS(grid);
    tsr_status status = TSR_OK;
    tsr_unstructured *u = NULL, from;
    part to[PARTS], own[PARTS];
    if (context && grid->context && grid->context != context)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "unstructured grid lives in another context: copy it to the host");
    from = *grid;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *u, (void **)&u));
    *u = (tsr_unstructured){ .context = context, .info = grid->info };
    *copy = u;
    parts_of(u, to);
    parts_of(&from, own);
    for (int k = 0; k < PARTS; k++) {
        const size_t bytes = (size_t)to[k].bytes;
        if (!bytes) continue;
        TSR_TRY_GOTO(context ? tsr_device_allocate(context, bytes, to[k].of) : tsr_host_allocate(NULL, bytes, to[k].of), fail);
        if (context && grid->context) TSR_TRY_GOTO(context->backend->copy(context->queue, *to[k].of, *own[k].of, bytes), fail);
        else if (context) TSR_TRY_GOTO(context->backend->upload(context->queue, *to[k].of, *own[k].of, bytes), fail);
        else if (grid->context) TSR_TRY_GOTO(grid->context->backend->download(grid->context->queue, *to[k].of, *own[k].of, bytes), fail);
        else memcpy(*to[k].of, *own[k].of, bytes);
    }
    if (context) TSR_TRY_GOTO(context->backend->synchronize(context->queue), fail); /* the arrays of a host grid may go */
    return TSR_OK;
fail:
    tsr_unstructured_destroy(copy);
    return status;
}

const tsr_unstructured_info *tsr_unstructured_describe(const tsr_unstructured *grid)
{
    static const tsr_unstructured_info none;
    return grid ? &grid->info : &none;
}

tsr_status tsr_unstructured_set_values(tsr_unstructured *grid, const double *values)
{
    TSR_NEEDS(grid, values);
    const size_t bytes = (size_t)grid->info.points * sizeof *values;
    if (!grid->context) memcpy(grid->values, values, bytes);
    else if (bytes) TSR_TRY(grid->context->backend->upload(grid->context->queue, grid->values, values, bytes));
    return TSR_OK;
}

tsr_status tsr_unstructured_from_volume(tsr_context *context, const tsr_volume *volume, tsr_unstructured **grid)
{
    TSR_RETURNS(grid);
    TSR_NEEDS(volume);
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    tsr_status status;
    double *points = NULL, *values = NULL;
    uint32_t *corners = NULL;
    uint8_t *types = NULL;
    if (volume->context && volume->context->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volume lives on a device, expected host memory");
    const tsr_size3 n = volume->size;
    const int64_t count = tsr_volume_count(volume);
    if (n.x < 2 || n.y < 2 || n.z < 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "volume of %lld x %lld x %lld, expected at least 2 samples along each axis", (long long)n.x, (long long)n.y,
                 (long long)n.z);
    if (count > (int64_t)UINT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "volume of %lld samples, expected at most %u", (long long)count, UINT32_MAX);
    source.point_count = count;
    source.cell_count = (n.x - 1) * (n.y - 1) * (n.z - 1);
    source.corner_count = 8 * source.cell_count;
    source.space = volume->geometry.space;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)count * 3 * sizeof *points, (void **)&points), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)count * sizeof *values, (void **)&values), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)source.corner_count * sizeof *corners, (void **)&corners), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, (size_t)source.cell_count, (void **)&types), done);
    memset(types, TSR_CELL_VOXEL, (size_t)source.cell_count);
    uint32_t *corner = corners;
    for (int64_t z = 0, v = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++)
            for (int64_t x = 0; x < n.x; x++, v++) {
                const double(*a)[4] = volume->geometry.affine;
                for (int r = 0; r < 3; r++) points[3 * v + r] = a[r][0] * (double)x + a[r][1] * (double)y + a[r][2] * (double)z + a[r][3];
                values[v] = tsr_voxel_load(volume->data, volume->dtype, v) * volume->slope + volume->intercept;
                if (x + 1 == n.x || y + 1 == n.y || z + 1 == n.z) continue;
                for (int k = 0; k < 8; k++) *corner++ = (uint32_t)(v + (k & 1) + (k >> 1 & 1) * n.x + (k >> 2) * n.x * n.y);
            }
    source.points = points;
    source.values = values;
    source.corners = corners;
    source.types = types;
    TSR_TRY_GOTO(tsr_unstructured_create(context, &source, grid), done);
done:
    tsr_host_release(NULL, points, 0);
    tsr_host_release(NULL, values, 0);
    tsr_host_release(NULL, corners, 0);
    tsr_host_release(NULL, types, 0);
    return status;
}
