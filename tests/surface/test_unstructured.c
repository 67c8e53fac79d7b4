/* Unstructured grids: how cells come apart, and marching tetrahedra. Oracles: the volume of cells, faces that fit, the part of each tetrahedron that is inside,
 * worked out by itself (summed: the volume that the mesh encloses), cut edges counted on a regular grid, planes. */
#include "support.h"

#include <math.h>

#include "mesh/unstructured.h"

/* ---- grids to cut ------------------------------------------------------------------------------------------------------------------------ */

typedef struct soup {
    double *points, *values;
    uint8_t *types;
    uint32_t *corners;
    int64_t point_count, cells, corner_count;
} soup;
static void soup_free(soup *s)
{
    free(s->points);
    free(s->values);
    free(s->types);
    free(s->corners);
}
static void soup_cell(soup *s, int type, int count, const uint32_t *corners)
{
    s->types[s->cells++] = (uint8_t)type;
    memcpy(s->corners + s->corner_count, corners, (size_t)count * sizeof *corners);
    s->corner_count += count;
}
static tsr_unstructured_source source_of(const soup *s)
{
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    source.point_count = s->point_count;
    source.cell_count = s->cells;
    source.corner_count = s->corner_count;
    source.points = s->points;
    source.values = s->values;
    source.types = s->types;
    source.corners = s->corners;
    return source;
}

/* A block of n^3 places, each a hexahedron, a voxel, six pyramids, twelve tetrahedra or (whole columns) two wedges, some turned over; points numbered at
 * random. */
static soup mixed(int n, uint64_t *seed)
{
    const int m = n + 1, corners = m * m * m, all = corners + n * n * n;
    soup s = { .points = malloc((size_t)all * 24),
               .values = calloc((size_t)all, 8),
               .types = malloc((size_t)(12 * n * n * n)),
               .corners = malloc((size_t)(48 * n * n * n) * 4),
               .point_count = all };
    uint32_t *number = malloc((size_t)all * sizeof *number);
    for (int k = 0; k < all; k++) number[k] = (uint32_t)k;
    for (int k = all - 1; k > 0; k--) {
        const int other = (int)(test_random(seed) % (uint64_t)(k + 1));
        const uint32_t own = number[k];
        number[k] = number[other];
        number[other] = own;
    }
    for (int z = 0; z < m; z++)
        for (int y = 0; y < m; y++)
            for (int x = 0; x < m; x++) {
                double *p = s.points + 3 * number[(z * m + y) * m + x];
                p[0] = x;
                p[1] = y;
                p[2] = z;
            }
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                const int middle = corners + (z * n + y) * n + x;
                uint32_t v[8];
                double *p = s.points + 3 * number[middle];
                p[0] = x + 0.5;
                p[1] = y + 0.5;
                p[2] = z + 0.5;
                for (int k = 0; k < 8; k++) v[k] = number[((z + (k >> 2)) * m + y + (k >> 1 & 1)) * m + x + (k & 1)];
                const uint32_t h[8] = { v[0], v[1], v[3], v[2], v[4], v[5], v[7], v[6] },
                               turned[8] = { v[4], v[5], v[7], v[6], v[0], v[1], v[3], v[2] };
                static const int face[6][4] = { { 0, 1, 3, 2 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 }, { 1, 3, 7, 5 }, { 3, 2, 6, 7 }, { 2, 0, 4, 6 } };
                const uint64_t kind = (x * 7 + y * 5) % 6 == 0 ? 5 : test_random(seed) % 5;
                if (kind == 0) soup_cell(&s, TSR_CELL_HEXAHEDRON, 8, h);
                if (kind == 1) soup_cell(&s, TSR_CELL_HEXAHEDRON, 8, turned);
                if (kind == 2) soup_cell(&s, TSR_CELL_VOXEL, 8, v);
                for (int f = 0; f < 6 && (kind == 3 || kind == 4); f++) {
                    uint32_t q[5];
                    int least = 0;
                    for (int k = 0; k < 4; k++) q[k] = v[face[f][k]];
                    q[4] = number[middle];
                    if (kind == 3) {
                        soup_cell(&s, TSR_CELL_PYRAMID, 5, q);
                        continue;
                    }
                    for (int k = 1; k < 4; k++) least = q[k] < q[least] ? k : least;
                    for (int k = 1; k < 3; k++)
                        soup_cell(&s, TSR_CELL_TETRAHEDRON, 4, (uint32_t[4]){ q[least], q[(least + k) % 4], q[(least + k + 1) % 4], q[4] });
                }
                if (kind == 5) {
                    soup_cell(&s, TSR_CELL_WEDGE, 6, (uint32_t[6]){ v[0], v[1], v[2], v[4], v[5], v[6] });
                    soup_cell(&s, TSR_CELL_WEDGE, 6, (uint32_t[6]){ v[7], v[5], v[6], v[3], v[1], v[2] });
                }
            }
    free(number);
    return s;
}

/* ---- the oracle -------------------------------------------------------------------------------------------------------------------------- */

static double volume6(const double *a, const double *b, const double *c, const double *d)
{
    double e[3][3];
    const double *other[3] = { b, c, d };
    for (int k = 0; k < 3; k++)
        for (int r = 0; r < 3; r++) e[k][r] = other[k][r] - a[r];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}
static void cut_point(const soup *s, uint32_t a, uint32_t b, double iso, double p[3])
{
    const double t = (iso - s->values[a]) / (s->values[b] - s->values[a]);
    for (int r = 0; r < 3; r++) p[r] = s->points[3 * a + r] * (1 - t) + s->points[3 * b + r] * t;
}
/* Volume of the part of a tetrahedron that is inside; *cuts: its cut edges. */
static double inside_volume(const soup *s, const uint32_t t[4], double iso, int *cuts)
{
    uint32_t in[4], out[4];
    int ins = 0, outs = 0;
    for (int k = 0; k < 4; k++)
        if (s->values[t[k]] >= iso) in[ins++] = t[k];
        else out[outs++] = t[k];
    *cuts = ins * outs;
    const double whole = fabs(volume6(s->points + 3 * t[0], s->points + 3 * t[1], s->points + 3 * t[2], s->points + 3 * t[3])) / 6;
    if (!ins || !outs) return ins ? whole : 0;
    if (ins != 2) {
        const uint32_t lone = ins == 1 ? in[0] : out[0], *others = ins == 1 ? out : in;
        double p[3][3];
        for (int k = 0; k < 3; k++) cut_point(s, lone, others[k], iso, p[k]);
        const double corner = fabs(volume6(s->points + 3 * lone, p[0], p[1], p[2])) / 6;
        return ins == 1 ? corner : whole - corner;
    }
    double p[4][3]; /* a prism of two triangles: in0 p0 p1, in1 p2 p3 */
    for (int k = 0; k < 4; k++) cut_point(s, in[k >> 1], out[k & 1], iso, p[k]);
    const double *a = s->points + 3 * in[0], *b = s->points + 3 * in[1];
    return (fabs(volume6(a, p[0], p[1], b)) + fabs(volume6(p[0], p[1], b, p[2])) + fabs(volume6(p[1], b, p[2], p[3]))) / 6;
}

static int by_words(const void *a, const void *b) { return memcmp(a, b, 12); }
static void sorted3(uint32_t f[3])
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2 - i; k++)
            if (f[k] > f[k + 1]) {
                const uint32_t own = f[k];
                f[k] = f[k + 1];
                f[k + 1] = own;
            }
}
static int on_border(const double *p, int n)
{
    for (int r = 0; r < 3; r++)
        if (p[r] == 0 || p[r] == n) return 1;
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------------------- */

/* Each kind of cell alone, its points numbered in every way: the tetrahedra are positive, as many as promised, and fill it. */
static void cells_come_apart(void **state)
{
    (void)state;
    static const double cube[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 1, 0, 1 }, { 1, 1, 1 }, { 0, 1, 1 } };
    static const struct {
        int type, corners, tetrahedra, at[8];
        double volume6;
    } kinds[] = { { TSR_CELL_TETRAHEDRON, 4, 1, { 0, 1, 3, 4 }, 1 },
                  { TSR_CELL_PYRAMID, 5, 2, { 0, 1, 2, 3, 4 }, 2 },
                  { TSR_CELL_WEDGE, 6, 3, { 0, 3, 1, 4, 7, 5 }, 3 },
                  { TSR_CELL_HEXAHEDRON, 8, 6, { 0, 1, 2, 3, 4, 5, 6, 7 }, 6 },
                  { TSR_CELL_VOXEL, 8, 6, { 0, 1, 3, 2, 4, 5, 7, 6 }, 6 } };
    uint64_t seed = test_seed();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int turn = 0; turn < 200; turn++) {
            double points[8][3];
            uint32_t number[8], corners[8];
            for (uint32_t i = 0; i < 8; i++) number[i] = i;
            for (int i = 7; i > 0; i--) {
                const int other = (int)(test_random(&seed) % (uint64_t)(i + 1));
                const uint32_t own = number[i];
                number[i] = number[other];
                number[other] = own;
            }
            for (int i = 0; i < 8; i++) memcpy(points[number[i]], cube[i], sizeof cube[0]);
            if (turn & 1) /* mirrored: the cell is turned over */
                for (int i = 0; i < 8; i++) points[i][2] = -points[i][2];
            for (int i = 0; i < kinds[k].corners; i++) corners[i] = number[kinds[k].at[i]];
            const uint8_t type = (uint8_t)kinds[k].type;
            tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
            source.point_count = 8;
            source.cell_count = 1;
            source.corner_count = kinds[k].corners;
            source.points = &points[0][0];
            source.types = &type;
            source.corners = corners;
            tsr_unstructured *grid;
            require_ok(tsr_unstructured_create(NULL, &source, &grid));
            assert_int_equal(grid->info.tetrahedra, kinds[k].tetrahedra);
            double sum = 0;
            for (int64_t t = 0; t < grid->info.tetrahedra; t++) {
                const uint32_t *c = grid->corners + 4 * t;
                const double v = volume6(points[c[0]], points[c[1]], points[c[2]], points[c[3]]);
                assert_true(v > 0);
                sum += v;
            }
            assert_true(fabs(sum - kinds[k].volume6) < 1e-12);
            tsr_unstructured_destroy(&grid);
        }
}

/* All tetrahedra of a mixed block: every face inside belongs to two of them, those of one lie on the border, and together they fill it. */
static void neighbours_fit(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int turn = 0; turn < (test_is_slow() ? 2 : 6); turn++) {
        const int n = 3 + turn % 3;
        soup s = mixed(n, &seed);
        const tsr_unstructured_source source = source_of(&s);
        tsr_unstructured *grid;
        require_ok(tsr_unstructured_create(NULL, &source, &grid));
        assert_int_equal(grid->info.cells, s.cells);
        const int64_t count = grid->info.tetrahedra;
        uint32_t(*faces)[3] = malloc((size_t)count * 48);
        double volume = 0;
        for (int64_t t = 0; t < count; t++) {
            const uint32_t *c = grid->corners + 4 * t;
            volume += volume6(s.points + 3 * c[0], s.points + 3 * c[1], s.points + 3 * c[2], s.points + 3 * c[3]) / 6;
            for (int k = 0; k < 4; k++) {
                for (int r = 0; r < 3; r++) faces[4 * t + k][r] = c[(k + 1 + r) % 4];
                sorted3(faces[4 * t + k]);
            }
            for (int k = 0; k < TSR_TETRA_EDGES; k++) { /* its edges are what they should be */
                static const int end[6][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } };
                const uint32_t *e = grid->edges + 2 * (int64_t)grid->edges_of[6 * t + k], a = c[end[k][0]], b = c[end[k][1]];
                assert_true(e[0] < e[1] && e[0] == (a < b ? a : b) && e[1] == (a < b ? b : a));
            }
        }
        assert_true(fabs(volume - n * n * n) < 1e-9);
        for (int64_t e = 1; e < grid->info.edges; e++) {
            const uint32_t *a = grid->edges + 2 * e - 2, *b = a + 2;
            assert_true(a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]));
        }
        qsort(faces, (size_t)(4 * count), sizeof *faces, by_words);
        for (int64_t f = 0; f < 4 * count;) {
            int64_t same = f;
            while (same < 4 * count && !memcmp(faces[same], faces[f], 12)) same++;
            assert_true(same - f <= 2);
            if (same - f == 1) { /* all three corners on one side of the block */
                int together = 0;
                for (int r = 0; r < 3; r++)
                    for (int side = 0; side < 2; side++) {
                        int on = 0;
                        for (int k = 0; k < 3; k++) on += s.points[3 * faces[f][k] + r] == side * n;
                        together |= on == 3;
                    }
                assert_true(together);
            }
            f = same;
        }
        free(faces);
        tsr_unstructured_destroy(&grid);
        soup_free(&s);
    }
}

static tsr_mesh *surface_of(tsr_context *context, const tsr_unstructured_source *source, const tsr_surface_options *options,
                            tsr_surface_report *report)
{
    tsr_unstructured *grid;
    tsr_mesh *mesh, *host;
    require_ok(tsr_unstructured_create(context, source, &grid));
    require_ok(tsr_surface_extract_unstructured(context, grid, options, &mesh, report));
    require_ok(tsr_mesh_copy(mesh, NULL, &host));
    tsr_mesh_destroy(&mesh);
    tsr_unstructured_destroy(&grid);
    return host;
}

/* Noise in a mixed block, outside at its border: a closed oriented mesh around the volume that the tetrahedra say, a vertex for each cut edge; the same bits
 * on every backend; inside and outside exchanged: the same vertices, the triangles turned. */
static void noise_is_enclosed(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 2);
    for (int turn = 0; turn < (test_is_slow() ? 2 : 5); turn++) {
        const int n = 4 + turn;
        soup s = mixed(n, &seed);
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        tsr_surface_report report = TSR_SURFACE_REPORT;
        tsr_mesh_measures measures = TSR_MESH_MEASURES;
        for (int64_t p = 0; p < s.point_count; p++) s.values[p] = on_border(s.points + 3 * p, n) ? -1 : 2 * test_uniform(&seed) - 0.7;
        options.isovalue = 0.1;
        const tsr_unstructured_source source = source_of(&s);
        tsr_mesh *mesh = surface_of(context, &source, &options, &report), *again = surface_of(cpu, &source, &options, NULL);
        tsr_unstructured *grid;
        require_ok(tsr_unstructured_create(NULL, &source, &grid));
        double volume = 0;
        int64_t cut = 0;
        for (int64_t t = 0; t < grid->info.tetrahedra; t++) {
            int cuts;
            volume += inside_volume(&s, grid->corners + 4 * t, options.isovalue, &cuts);
        }
        for (int64_t e = 0; e < grid->info.edges; e++)
            cut += (s.values[grid->edges[2 * e]] >= options.isovalue) != (s.values[grid->edges[2 * e + 1]] >= options.isovalue);
        assert_int_equal(report.cells, grid->info.tetrahedra);
        assert_int_equal(report.not_a_number, 0);
        assert_int_equal(tsr_mesh_vertex_count(mesh), cut);
        require_ok(tsr_mesh_measure(mesh, &measures));
        assert_true(cut > 100 && measures.boundary_edges == 0 && measures.misoriented_edges == 0 && measures.nonmanifold_edges == 0);
        assert_true(fabs(measures.volume - volume) < 1e-5 * volume);
        assert_int_equal(tsr_mesh_vertex_count(again), cut);
        assert_memory_equal(tsr_mesh_vertices(again), tsr_mesh_vertices(mesh), (size_t)cut * 12);
        const int64_t triangles = tsr_mesh_triangle_count(mesh);
        assert_int_equal(tsr_mesh_triangle_count(again), triangles);
        assert_memory_equal(tsr_mesh_triangles(again), tsr_mesh_triangles(mesh), (size_t)triangles * 12);
        tsr_mesh_destroy(&again);
        options.inside = TSR_SURFACE_INSIDE_BELOW; /* no value is the isovalue */
        again = surface_of(context, &source, &options, NULL);
        assert_memory_equal(tsr_mesh_vertices(again), tsr_mesh_vertices(mesh), (size_t)cut * 12);
        require_ok(tsr_mesh_measure(again, &measures));
        assert_true(fabs(measures.volume + volume) < 1e-5 * volume);
        tsr_mesh_destroy(&again);
        tsr_mesh_destroy(&mesh);
        tsr_unstructured_destroy(&grid);
        soup_free(&s);
    }
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&context);
}

/* A linear field: the mesh lies in the plane and has the area of its section; with midpoints its vertices are those of their edges. */
static void planes_are_planes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const int n = 4;
    soup s = mixed(n, &seed);
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    for (int64_t p = 0; p < s.point_count; p++) s.values[p] = 3 - s.points[3 * p + 2] - 0.5 * s.points[3 * p];
    options.isovalue = 0.75; /* z = 2.25 - x / 2, from 2.25 to 0.25 over the block */
    const tsr_unstructured_source source = source_of(&s);
    tsr_mesh *mesh = surface_of(context, &source, &options, NULL);
    for (int64_t k = 0; k < tsr_mesh_vertex_count(mesh); k++) {
        const float *p = tsr_mesh_vertices(mesh) + 3 * k;
        assert_true(fabs((double)p[2] + 0.5 * (double)p[0] - 2.25) < 1e-6);
    }
    require_ok(tsr_mesh_measure(mesh, &measures));
    assert_true(fabs(measures.area - 16 * sqrt(1.25)) < 1e-5);
    assert_true(measures.misoriented_edges == 0 && measures.nonmanifold_edges == 0 && measures.euler == 1);
    for (int64_t k = 0; k < tsr_mesh_triangle_count(mesh); k++) { /* seen from below, outside, they are counter-clockwise: values fall with z */
        const uint32_t *t = tsr_mesh_triangles(mesh) + 3 * k;
        const float *v = tsr_mesh_vertices(mesh), *a = v + 3 * t[0], *b = v + 3 * t[1], *c = v + 3 * t[2];
        assert_true((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > -1e-6f);
    }
    tsr_mesh_destroy(&mesh);
    options.midpoints = 1;
    mesh = surface_of(context, &source, &options, NULL);
    for (int64_t k = 0; k < 3 * tsr_mesh_vertex_count(mesh); k++) {
        const double four = 4 * (double)tsr_mesh_vertices(mesh)[k]; /* points lie at halves */
        assert_true(four == floor(four));
    }
    tsr_mesh_destroy(&mesh);
    soup_free(&s);
    tsr_context_destroy(&context);
}

/* A sphere in a regular grid: closed, of the right kind, of second order; vertices as many as cut edges of the seven directions. */
static void regular_grids(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    double error[2];
    for (int turn = 0; turn < 2; turn++) {
        const int n = test_is_slow() ? 8 << turn : 16 << turn;
        const double radius = 0.4 * n, middle = 0.5 * (n - 1);
        tsr_volume *volume;
        tsr_unstructured *grid;
        tsr_mesh *mesh, *host;
        tsr_mesh_measures measures = TSR_MESH_MEASURES;
        tsr_surface_options options = TSR_SURFACE_OPTIONS;
        require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ n, n, n }, NULL, &volume));
        require_ok(tsr_volume_set_scaling(volume, 2, -1));
        float *f = (float *)tsr_volume_data(volume);
        for (int z = 0, v = 0; z < n; z++)
            for (int y = 0; y < n; y++)
                for (int x = 0; x < n; x++, v++) {
                    const double i = x - middle, j = y - middle, k = z - middle;
                    f[v] = (float)((sqrt(i * i + j * j + k * k) - radius + 1) / 2);
                }
        options.inside = TSR_SURFACE_INSIDE_BELOW;
        require_ok(tsr_unstructured_from_volume(context, volume, &grid));
        require_ok(tsr_surface_extract_unstructured(context, grid, &options, &mesh, NULL));
        require_ok(tsr_mesh_copy(mesh, NULL, &host));
        require_ok(tsr_mesh_measure(host, &measures));
        int64_t cut = 0;
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++)
                for (int x = 0; x < n; x++)
                    for (int d = 1; d < 8; d++) {
                        const int i = x + (d & 1), j = y + (d >> 1 & 1), k = z + (d >> 2);
                        if (i < n && j < n && k < n) cut += (2 * f[(z * n + y) * n + x] - 1 < 0) != (2 * f[(k * n + j) * n + i] - 1 < 0);
                    }
        assert_int_equal(tsr_mesh_vertex_count(host), cut);
        assert_int_equal(tsr_mesh_triangle_count(host), 2 * cut - 4);
        assert_true(measures.boundary_edges == 0 && measures.misoriented_edges == 0 && measures.euler == 2);
        error[turn] = 1 - measures.volume / (4 * M_PI / 3 * radius * radius * radius);
        assert_true(error[turn] > 0 && error[turn] < (n >= 32 ? 0.01 : 0.1));
        tsr_mesh_destroy(&host);
        tsr_mesh_destroy(&mesh);
        tsr_unstructured_destroy(&grid);
        tsr_volume_destroy(&volume);
    }
    assert_true(error[0] / error[1] > 3.5 && error[0] / error[1] < 5);
    tsr_context_destroy(&context);
}

/* Values that change; NaN; nothing; corners that fall together; what is refused. */
static void values_and_edges(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    double points[8][3], values[8] = { 1, 0, 0, 0, 0, 0, 0, 0 }, none[8] = { 0 };
    const uint32_t corners[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    const uint8_t type = TSR_CELL_VOXEL;
    for (int k = 0; k < 8; k++)
        for (int r = 0; r < 3; r++) points[k][r] = k >> r & 1;
    tsr_unstructured_source source = TSR_UNSTRUCTURED_SOURCE;
    source.point_count = 8;
    source.cell_count = 1;
    source.corner_count = 8;
    source.points = &points[0][0];
    source.values = values;
    source.types = &type;
    source.corners = corners;
    source.space = TSR_SPACE_LPS;
    tsr_surface_options options = TSR_SURFACE_OPTIONS;
    tsr_surface_report report = TSR_SURFACE_REPORT;
    tsr_unstructured *grid, *host;
    tsr_unstructured_info info;
    tsr_mesh *mesh;
    options.isovalue = 0.5;
    require_ok(tsr_unstructured_create(context, &source, &grid));
    info = *tsr_unstructured_describe(grid);
    assert_true(info.points == 8 && info.cells == 1 && info.tetrahedra == 6 && info.edges == 19 && info.turned == 0);
    require_ok(tsr_surface_extract_unstructured(context, grid, &options, &mesh, &report));
    assert_int_equal(tsr_mesh_vertex_count(mesh), 7); /* all six tetrahedra meet in the corner */
    assert_int_equal(tsr_mesh_triangle_count(mesh), 6);
    assert_int_equal(tsr_mesh_space(mesh), TSR_SPACE_LPS);
    tsr_mesh_destroy(&mesh);
    require_ok(tsr_unstructured_set_values(grid, none));
    require_ok(tsr_surface_extract_unstructured(context, grid, &options, &mesh, &report));
    assert_true(tsr_mesh_vertex_count(mesh) == 0 && tsr_mesh_triangle_count(mesh) == 0);
    tsr_mesh_destroy(&mesh);
    none[0] = 1;
    none[7] = none[3] = NAN;
    require_ok(tsr_unstructured_set_values(grid, none));
    require_ok(tsr_surface_extract_unstructured(context, grid, &options, &mesh, &report));
    assert_int_equal(report.not_a_number, 2);
    assert_int_equal(tsr_mesh_vertex_count(mesh), 7);
    tsr_mesh_destroy(&mesh);
    options.nan = TSR_SURFACE_NAN_FAIL;
    require_error(tsr_surface_extract_unstructured(context, grid, &options, &mesh, NULL), TSR_ERROR_STATE, "2 samples are not a number");
    assert_null(mesh);
    options.nan = TSR_SURFACE_NAN_OUTSIDE;
    require_ok(tsr_unstructured_copy(grid, NULL, &host));
    assert_memory_equal(host->points, points, sizeof points);
    require_error(tsr_surface_extract_unstructured(context, host, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "another context");
    options.normals = TSR_SURFACE_NORMALS_CENTRAL;
    require_error(tsr_surface_extract_unstructured(context, grid, &options, &mesh, NULL), TSR_ERROR_UNSUPPORTED, "normals");
    options.normals = TSR_SURFACE_NORMALS_NONE;
    options.close = 1;
    require_error(tsr_surface_extract_unstructured(context, grid, &options, &mesh, NULL), TSR_ERROR_UNSUPPORTED, "close");
    options.close = 0;
    options.isovalue = NAN;
    require_error(tsr_surface_extract_unstructured(context, grid, &options, &mesh, NULL), TSR_ERROR_ARGUMENT, "isovalue");
    options.isovalue = 0.5;
    tsr_unstructured_destroy(&host);
    tsr_unstructured_destroy(&grid);

    /* a hexahedron drawn together to a wedge: three tetrahedra; cells without volume are passed over */
    const uint32_t drawn[12] = { 0, 1, 3, 3, 4, 5, 7, 7, 0, 1, 2, 3 };
    const uint8_t two[2] = { TSR_CELL_HEXAHEDRON, 9 };
    source.corners = drawn;
    source.types = two;
    source.cell_count = 2;
    source.corner_count = 12;
    require_ok(tsr_unstructured_create(NULL, &source, &host));
    info = *tsr_unstructured_describe(host);
    assert_true(info.tetrahedra == 3 && info.cells == 1 && info.passed_over == 1);
    tsr_unstructured_destroy(&host);

    /* nothing at all */
    tsr_unstructured_source empty = TSR_UNSTRUCTURED_SOURCE;
    require_ok(tsr_unstructured_create(context, &empty, &grid));
    require_ok(tsr_surface_extract_unstructured(context, grid, NULL, &mesh, &report));
    assert_true(tsr_mesh_triangle_count(mesh) == 0 && report.cells == 0);
    tsr_mesh_destroy(&mesh);
    tsr_unstructured_destroy(&grid);

    const uint8_t curved[2] = { 24, 9 }, many[2] = { TSR_CELL_HEXAHEDRON, 7 };
    source.types = curved;
    require_error(tsr_unstructured_create(NULL, &source, &host), TSR_ERROR_UNSUPPORTED, "cell 0: type 24");
    source.types = many;
    require_error(tsr_unstructured_create(NULL, &source, &host), TSR_ERROR_ARGUMENT, "expected starts");
    source.types = two;
    source.corner_count = 11;
    require_error(tsr_unstructured_create(NULL, &source, &host), TSR_ERROR_ARGUMENT, "cell 1 of type 9");
    source.corner_count = 12;
    source.point_count = 7;
    require_error(tsr_unstructured_create(NULL, &source, &host), TSR_ERROR_ARGUMENT, "corner is point 7, expected 0 to 6");
    source.point_count = 8;
    points[5][1] = INFINITY;
    require_error(tsr_unstructured_create(NULL, &source, &host), TSR_ERROR_ARGUMENT, "point 5: y is inf");
    points[5][1] = -3.5e38; /* a vertex of float32 would be infinite */
    require_error(tsr_unstructured_create(NULL, &source, &host), TSR_ERROR_ARGUMENT, "point 5: y is -3.5e+38, expected a finite number of at most");
    assert_null(host);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(cells_come_apart),  cmocka_unit_test(neighbours_fit), cmocka_unit_test(noise_is_enclosed),
                                        cmocka_unit_test(planes_are_planes), cmocka_unit_test(regular_grids),  cmocka_unit_test(values_and_edges) };
    return cmocka_run_group_tests_name("unstructured", tests, NULL, NULL);
}
