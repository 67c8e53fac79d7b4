/* Points, rays and gaps of region trees against brute force; rays that pass more than there is room for; trees beyond 2^31 leaves. */
#include <math.h>

#include "region/region_tree.h"
#include "region_trees.h"

static void *upload(tsr_context *context, const void *data, size_t bytes)
{
    void *memory;
    require_ok(tsr_device_allocate(context, bytes, &memory));
    require_ok(tsr_device_move(context, memory, NULL, data, bytes));
    return memory;
}

static void check_points(tsr_context *context, tsr_region_tree *device, const tsr_region_tree *tree, tsr_size3 n)
{
    const int64_t count = (n.x + 2) * (n.y + 2) * (n.z + 2);
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    int32_t *positions = malloc((size_t)count * 12);
    tsr_region_hit *hits = malloc((size_t)count * sizeof *hits);
    int64_t *owner = malloc((size_t)(n.x * n.y * n.z) * sizeof *owner);
    memset(owner, 0xff, (size_t)(n.x * n.y * n.z) * sizeof *owner);
    for (int64_t l = 0; l < info.leaves; l++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[l], info.dimensions);
        for (int64_t z = q.z; z < q.z + (info.dimensions == 3 ? q.side : 1); z++)
            for (int64_t y = q.y; y < q.y + q.side; y++)
                for (int64_t x = q.x; x < q.x + q.side; x++) {
                    assert_int_equal(owner[(z * n.y + y) * n.x + x], -1); /* covered once */
                    owner[(z * n.y + y) * n.x + x] = l;
                }
    }
    for (int64_t i = 0; i < count; i++) {
        positions[3 * i] = (int32_t)(i % (n.x + 2) - 1);
        positions[3 * i + 1] = (int32_t)(i / (n.x + 2) % (n.y + 2) - 1);
        positions[3 * i + 2] = (int32_t)(i / (n.x + 2) / (n.y + 2) - 1);
    }
    void *there = upload(context, positions, (size_t)count * 12), *result;
    require_ok(tsr_device_allocate(context, (size_t)count * sizeof *hits, &result));
    for (int linear = 0; linear < 2; linear++) {
        require_ok(linear ? tsr_region_tree_search(device, there, count, result) : tsr_region_tree_find(device, there, count, result));
        require_ok(tsr_device_move(NULL, hits, context, result, (size_t)count * sizeof *hits));
        for (int64_t i = 0; i < count; i++) {
            const int32_t *p = positions + 3 * i;
            const int out = p[0] < 0 || p[1] < 0 || p[2] < 0 || p[0] >= n.x || p[1] >= n.y || p[2] >= n.z;
            assert_int_equal(hits[i].leaf, out ? -2 : owner[(p[2] * n.y + p[1]) * n.x + p[0]]);
            if (out) continue;
            for (int k = 0; k < 3; k++) assert_true(hits[i].lower[k] <= p[k] && p[k] < hits[i].lower[k] + (1 << hits[i].level));
            if (hits[i].leaf < 0) /* the cube is empty */
                for (int64_t z = hits[i].lower[2]; z < n.z && z < hits[i].lower[2] + (1 << hits[i].level); z++)
                    for (int64_t y = hits[i].lower[1]; y < n.y && y < hits[i].lower[1] + (1 << hits[i].level); y++)
                        for (int64_t x = hits[i].lower[0]; x < n.x && x < hits[i].lower[0] + (1 << hits[i].level); x++)
                            assert_int_equal(owner[(z * n.y + y) * n.x + x], -1);
        }
    }
    tsr_device_release(context, there, (size_t)count * 12);
    tsr_device_release(context, result, (size_t)count * sizeof *hits);
    free(positions);
    free(hits);
    free(owner);
}

/* Interval of a ray in a box. */
static int clip(const tsr_region_ray *r, const double lower[3], const double upper[3], double *a, double *b)
{
    *a = 0;
    *b = r->most;
    for (int k = 0; k < 3; k++) {
        if (r->direction[k] == 0) {
            if (r->origin[k] < lower[k] || r->origin[k] >= upper[k]) return 0;
            continue;
        }
        const double s = (lower[k] - r->origin[k]) / r->direction[k], t = (upper[k] - r->origin[k]) / r->direction[k];
        *a = fmax(*a, fmin(s, t));
        *b = fmin(*b, fmax(s, t));
    }
    return *b - *a > 1e-9;
}

/* In the world of a turned, stretched and shifted grid: the middle of a voxel is its index and a half, and a ray through one kept voxel leaves it after its
 * width in the world. */
static void world_of_a_tree(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_geometry place = { .affine = { { 0, -3, 0, 10 }, { 2, 0, 0, 20 }, { 0, 0, 4, 30 } } };
    tsr_volume *host, *volume;
    tsr_region_tree *tree;
    tsr_region_options options = TSR_REGION_OPTIONS;
    tsr_region_ray ray;
    tsr_region_span span;
    int32_t found;
    double position[3];
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 8, 8, 8 }, &place, &host));
    ((uint8_t *)tsr_volume_data(host))[(5 * 8 + 4) * 8 + 3] = 1;
    require_ok(tsr_volume_copy(host, context, &volume));
    options.classifier = TSR_PYRAMID_NONZERO;
    require_ok(tsr_region_tree_make(context, (const tsr_volume *const[]){ volume }, 1, &options, &tree));
    /* voxel (3, 4, 5) has its middle at (10 - 3 * 4, 20 + 2 * 3, 30 + 4 * 5) */
    require_ok(tsr_region_tree_from_world(tree, (tsr_vec3){ -2, 26, 50 }, position));
    assert_true(fabs(position[0] - 3.5) < 1e-12 && fabs(position[1] - 4.5) < 1e-12 && fabs(position[2] - 5.5) < 1e-12);
    /* along the world's x, which is the grid's -y: from 100 before the middle, through 3 units of the voxel */
    require_ok(tsr_region_ray_from_world(tree, (tsr_vec3){ -102, 26, 50 }, (tsr_vec3){ 1, 0, 0 }, 1000, &ray));
    void *there = upload(context, &ray, sizeof ray), *result, *number;
    require_ok(tsr_device_allocate(context, sizeof span, &result));
    require_ok(tsr_device_allocate(context, sizeof found, &number));
    require_ok(tsr_region_tree_rays(tree, there, 1, 1, 0, result, number));
    require_ok(tsr_device_move(NULL, &found, context, number, sizeof found));
    require_ok(tsr_device_move(NULL, &span, context, result, sizeof span));
    assert_int_equal(found, 1);
    assert_true(fabs(span.enter - 98.5) < 1e-9 && fabs(span.leave - 101.5) < 1e-9);
    tsr_device_release(context, there, sizeof ray);
    tsr_device_release(context, result, sizeof span);
    tsr_device_release(context, number, sizeof found);
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    tsr_context_destroy(&context);
}

static void check_rays(tsr_context *context, tsr_region_tree *device, const tsr_region_tree *tree, uint64_t *seed)
{
    enum { ROOM = 200, RAYS = 1500 };
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    const double side = (double)((int64_t)1 << info.top);
    tsr_region_ray *rays = malloc(RAYS * sizeof *rays);
    tsr_region_span *spans = malloc((size_t)RAYS * ROOM * sizeof *spans);
    int32_t found[RAYS], first[RAYS];
    for (int i = 0; i < RAYS; i++) {
        rays[i].most = i % 5 ? 1e6 : test_uniform(seed) * side;
        for (int k = 0; k < 3; k++) {
            rays[i].origin[k] = (test_uniform(seed) * 1.6 - 0.3) * side;
            rays[i].direction[k] = test_uniform(seed) * 2 - 1;
            if (i % 3 == 0) rays[i].origin[k] = floor(rays[i].origin[k]); /* on faces and edges */
            if (i % 4 == 1 && k != i / 4 % 3) rays[i].direction[k] = 0;   /* along an axis */
            if (i % 4 == 2 && k == i / 4 % 3) rays[i].direction[k] = 0;
            if (info.dimensions == 2 && k == 2 && i % 2) rays[i].direction[k] = 0;
            if (info.dimensions == 2 && k == 2) rays[i].origin[k] = test_uniform(seed);
        }
    }
    rays[0].direction[0] = rays[0].direction[1] = rays[0].direction[2] = 0;
    rays[1].direction[1] = NAN;
    rays[2].direction[1] = 1e-310; /* whose inverse is not finite */
    rays[2].origin[1] = floor(0.4 * side);
    void *there = upload(context, rays, RAYS * sizeof *rays), *result, *number;
    require_ok(tsr_device_allocate(context, (size_t)RAYS * ROOM * sizeof *spans, &result));
    require_ok(tsr_device_allocate(context, sizeof found, &number));
    require_ok(tsr_region_tree_rays(device, there, RAYS, 0, 1, NULL, number));
    require_ok(tsr_device_move(NULL, first, context, number, sizeof first));
    require_ok(tsr_region_tree_rays(device, there, RAYS, ROOM, 0, result, number));
    require_ok(tsr_device_move(NULL, found, context, number, sizeof found));
    require_ok(tsr_device_move(NULL, spans, context, result, (size_t)RAYS * ROOM * sizeof *spans));
    assert_true(found[0] == 0 && found[1] == 0);
    for (int i = 2; i < RAYS; i++) {
        assert_int_equal(first[i], found[i] > 0);
        if (rays[i].direction[0] == 0 && rays[i].direction[1] == 0 && rays[i].direction[2] == 0) {
            assert_int_equal(found[i], 0);
            continue;
        }
        assert_true(found[i] <= ROOM);
        for (int64_t l = 0; l < info.leaves; l++) {
            const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[l], info.dimensions);
            const double lower[3] = { (double)q.x, (double)q.y, (double)q.z },
                         upper[3] = { (double)(q.x + q.side), (double)(q.y + q.side), (double)(q.z + (info.dimensions == 3 ? q.side : 1)) };
            double a, b;
            int hit = 0;
            for (int k = 0; k < found[i]; k++)
                if (spans[i * ROOM + k].leaf == l) hit = k + 1;
            if (clip(&rays[i], lower, upper, &a, &b) != (hit > 0)) {
                if (hit && spans[i * ROOM + hit - 1].leave - spans[i * ROOM + hit - 1].enter < 1e-8) continue; /* touched at a corner */
                fail_msg("ray %d leaf %d: %s, brute force [%g, %g]", i, (int)l, hit ? "found" : "missed", a, b);
            }
            if (hit)
                assert_true(fabs(spans[i * ROOM + hit - 1].enter - a) < 1e-9 * (1 + a) && fabs(spans[i * ROOM + hit - 1].leave - b) < 1e-9 * (1 + b));
        }
        for (int k = 1; k < found[i]; k++) assert_true(spans[i * ROOM + k].enter >= spans[i * ROOM + k - 1].leave);
    }
    tsr_device_release(context, there, RAYS * sizeof *rays);
    tsr_device_release(context, result, (size_t)RAYS * ROOM * sizeof *spans);
    tsr_device_release(context, number, sizeof found);
    free(rays);
    free(spans);
}

static void queries(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 sizes[] = { { 29, 16, 1 }, { 16, 16, 16 }, { 13, 18, 7 }, { 1, 1, 1 } };
    static uint8_t data[16 * 18 * 16];
    tsr_context *context = test_context();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const tsr_size3 n = sizes[s];
        const int64_t cells = n.x * n.y * n.z;
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.classifier = TSR_PYRAMID_NONZERO;
        clumps(&seed, n, 3, data);
        data[0] = 1;
        tsr_region_tree *device = make(context, TSR_U8, n, (const void *const[]){ data }, 1, &o), *tree;
        require_ok(tsr_region_tree_copy(device, NULL, &tree));
        check_points(context, device, tree, n);
        for (int k = test_is_slow() ? 16 : 0; k < 17; k++) check_rays(context, device, tree, &seed); /* 10^5 rays in all */
        /* means of a field over the leaves, painted */
        const int64_t leaves = tsr_region_tree_describe(tree)->leaves;
        float *field = malloc((size_t)cells * sizeof *field), *means = malloc((size_t)leaves * sizeof *means);
        tsr_volume *host, *there, *painted, *back;
        void *memory;
        for (int64_t i = 0; i < cells; i++) field[i] = (float)test_uniform(&seed);
        require_ok(tsr_volume_wrap(NULL, TSR_F32, n, NULL, field, NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &there));
        require_ok(tsr_device_allocate(context, (size_t)leaves * sizeof *means, &memory));
        require_ok(tsr_region_tree_means(device, there, memory));
        require_ok(tsr_device_move(NULL, means, context, memory, (size_t)leaves * sizeof *means));
        require_ok(tsr_region_tree_paint(device, TSR_F32, memory, -1, &painted));
        require_ok(tsr_volume_copy(painted, NULL, &back));
        const float *values = tsr_volume_data_const(back);
        for (int64_t l = 0; l < leaves; l++) {
            const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[l], n.z > 1 ? 3 : 2);
            const int64_t deep = n.z > 1 ? q.side : 1;
            double sum = 0;
            for (int64_t i = 0; i < q.side * q.side * deep; i++) {
                const int64_t at = ((q.z + i / q.side / q.side) * n.y + q.y + i / q.side % q.side) * n.x + q.x + i % q.side;
                sum += field[at];
                assert_true(values[at] == means[l]);
            }
            assert_true(fabs(means[l] - sum / (double)(q.side * q.side * deep)) < 1e-6);
        }
        for (int64_t i = 0; i < cells; i++) assert_int_equal(values[i] == -1, data[i] == 0);
        tsr_device_release(context, memory, (size_t)leaves * sizeof *means);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&there);
        tsr_volume_destroy(&painted);
        tsr_volume_destroy(&back);
        free(field);
        free(means);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&device);
    }
    tsr_context_destroy(&context);
}

/* Gaps against a march through the voxels: the planes that a ray crosses, sorted, give the voxels it is in. */
static void gaps_equal_a_march(void **state)
{
    (void)state;
    enum { RAYS = 400, ROOM = 64 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 13, 9, 18 }, { 29, 17, 1 }, { 11, 6, 5 } };
    static uint8_t data[18 * 16 * 16];
    static tsr_region_ray rays[RAYS];
    static tsr_region_span spans[RAYS * ROOM];
    int32_t found[RAYS];
    int many = 0;
    for (size_t s = 0; s < 4; s++) {
        const tsr_size3 n = sizes[s];
        const double extent[3] = { (double)n.x, (double)n.y, (double)n.z };
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.classifier = TSR_PYRAMID_NONZERO;
        clumps(&seed, n, 2, data);
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) data[i] = !data[i] && i % n.x % 5 != 2; /* holes in what is kept, several along x */
        if (s == 3) memset(data, 0, sizeof data);
        tsr_region_tree *tree = make(context, TSR_U8, n, (const void *const[]){ data }, 1, &o);
        for (int i = 0; i < RAYS; i++) {
            rays[i].most = i % 7 ? 1e6 : 8;
            for (int k = 0; k < 3; k++) {
                rays[i].origin[k] = (test_uniform(&seed) * 1.4 - 0.2) * extent[k];
                rays[i].direction[k] = test_uniform(&seed) * 2 - 1;
                if (i % 4 == 1 && k != i / 4 % 3) rays[i].direction[k] = 0;
            }
        }
        void *from = upload(context, rays, sizeof rays), *to, *number;
        require_ok(tsr_device_allocate(context, sizeof spans, &to));
        require_ok(tsr_device_allocate(context, sizeof found, &number));
        require_ok(tsr_region_tree_gaps(tree, from, RAYS, ROOM, to, number));
        require_ok(tsr_device_move(NULL, spans, context, to, sizeof spans));
        require_ok(tsr_device_move(NULL, found, context, number, sizeof found));
        for (int i = 0; i < RAYS; i++) {
            double begin = 0, end = rays[i].most, cut[200];
            int cuts = 0, k = 0;
            for (int a = 0; a < 3; a++) {
                const double d = rays[i].direction[a], p = rays[i].origin[a];
                if (d == 0) {
                    if (p < 0 || p >= extent[a]) end = -1;
                    continue;
                }
                begin = fmax(begin, fmin(-p / d, (extent[a] - p) / d));
                end = fmin(end, fmax(-p / d, (extent[a] - p) / d));
                for (int c = 0; c <= (int)extent[a]; c++) cut[cuts++] = (c - p) / d;
            }
            if (end <= begin) {
                assert_int_equal(found[i], 0);
                continue;
            }
            for (int a = 0; a < cuts; a++) cut[a] = fmin(fmax(cut[a], begin), end);
            cut[cuts++] = begin;
            cut[cuts++] = end;
            for (int a = 1; a < cuts; a++) /* sorted by insertion */
                for (int b = a; b > 0 && cut[b] < cut[b - 1]; b--) {
                    const double swap = cut[b];
                    cut[b] = cut[b - 1];
                    cut[b - 1] = swap;
                }
            double open = -1;
            for (int a = 0; a < cuts; a++) {
                int empty = 0;
                if (a + 1 < cuts) {
                    if (cut[a + 1] - cut[a] < 1e-9) continue;
                    const double t = 0.5 * (cut[a] + cut[a + 1]);
                    const int64_t x = (int64_t)floor(rays[i].origin[0] + t * rays[i].direction[0]),
                                  y = (int64_t)floor(rays[i].origin[1] + t * rays[i].direction[1]),
                                  z = (int64_t)floor(rays[i].origin[2] + t * rays[i].direction[2]);
                    empty = !data[(z * n.y + y) * n.x + x];
                }
                if (empty && open < 0) open = cut[a];
                if (empty || open < 0) continue;
                while (k < found[i] && spans[i * ROOM + k].leave - spans[i * ROOM + k].enter < 1e-8) k++; /* a corner touched */
                assert_true(k < found[i] && spans[i * ROOM + k].leaf == -1);
                assert_true(fabs(spans[i * ROOM + k].enter - open) < 1e-8 && fabs(spans[i * ROOM + k].leave - cut[a]) < 1e-8);
                many += ++k > 1;
                open = -1;
            }
            while (k < found[i] && spans[i * ROOM + k].leave - spans[i * ROOM + k].enter < 1e-8) k++;
            assert_int_equal(k, found[i]);
        }
        tsr_device_release(context, from, sizeof rays);
        tsr_device_release(context, to, sizeof spans);
        tsr_device_release(context, number, sizeof found);
        tsr_region_tree_destroy(&tree);
    }
    assert_true(many > 0);
    tsr_context_destroy(&context);
}

/* Room for fewer spans than a ray has: the first of them, the number of all, nothing written beyond; the rays that are cut say so by found > room. */
static void rays_beyond_their_room(void **state)
{
    (void)state;
    enum { RAYS = 150, ROOM = 64, GUARD = 8 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 16, 16, 16 }, { 29, 17, 1 } };
    const int32_t rooms[] = { 0, 1, 2, 5 };
    static uint8_t data[16 * 16 * 16];
    static tsr_region_ray rays[RAYS];
    static tsr_region_span all[RAYS * ROOM], some[RAYS * ROOM + GUARD];
    int32_t number[RAYS], found[RAYS];
    int cut = 0, whole = 0;
    void *result, *counts;
    require_ok(tsr_device_allocate(context, sizeof some, &result));
    require_ok(tsr_device_allocate(context, sizeof found, &counts));
    for (size_t s = 0; s < 2; s++) {
        const tsr_size3 n = sizes[s];
        tsr_region_options o = TSR_REGION_OPTIONS;
        o.classifier = TSR_PYRAMID_NONZERO;
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) data[i] = test_random(&seed) % 2; /* many small leaves, many gaps */
        tsr_region_tree *tree = make(context, TSR_U8, n, (const void *const[]){ data }, 1, &o);
        for (int i = 0; i < RAYS; i++) {
            rays[i].most = 1e6;
            for (int k = 0; k < 3; k++) {
                rays[i].origin[k] = test_uniform(&seed) * (k == 2 && n.z == 1 ? 1 : 14) + (k < 2 && i % 2 ? -15 : 0);
                rays[i].direction[k] = k == 2 && n.z == 1 ? 0 : test_uniform(&seed) * 2 - (i % 2 ? 0 : 1);
            }
        }
        void *there = upload(context, rays, sizeof rays);
        for (int gaps = 0; gaps < 2; gaps++) {
            require_ok(gaps ? tsr_region_tree_gaps(tree, there, RAYS, ROOM, result, counts)
                            : tsr_region_tree_rays(tree, there, RAYS, ROOM, 0, result, counts));
            require_ok(tsr_device_move(NULL, number, context, counts, sizeof number));
            require_ok(tsr_device_move(NULL, all, context, result, sizeof all));
            for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++) {
                const int32_t room = rooms[r];
                for (int i = 0; i < RAYS * ROOM + GUARD; i++) some[i] = (tsr_region_span){ -77, -7, -7 };
                require_ok(tsr_device_move(context, result, NULL, some, sizeof some));
                require_ok(gaps ? tsr_region_tree_gaps(tree, there, RAYS, room, result, counts)
                                : tsr_region_tree_rays(tree, there, RAYS, room, 0, result, counts));
                require_ok(tsr_device_move(NULL, found, context, counts, sizeof found));
                require_ok(tsr_device_move(NULL, some, context, result, sizeof some));
                for (int i = 0; i < RAYS; i++) {
                    assert_true(number[i] <= ROOM);
                    assert_int_equal(found[i], number[i]); /* of all, whatever the room */
                    for (int k = 0; k < room; k++) {
                        const tsr_region_span *a = &all[i * ROOM + k], *b = &some[i * room + k];
                        if (k < found[i]) assert_true(a->leaf == b->leaf && a->enter == b->enter && a->leave == b->leave);
                        else assert_int_equal(b->leaf, -77);
                    }
                    cut += found[i] > room;
                    whole += found[i] > 0 && found[i] <= room;
                }
                for (int i = RAYS * room; i < RAYS * ROOM + GUARD; i++) assert_int_equal(some[i].leaf, -77);
            }
        }
        require_error(tsr_region_tree_rays(tree, there, RAYS, -1, 0, result, counts), TSR_ERROR_ARGUMENT, "room is -1");
        require_error(tsr_region_tree_gaps(tree, there, RAYS, 1, NULL, counts), TSR_ERROR_ARGUMENT, "spans is NULL");
        tsr_device_release(context, there, sizeof rays);
        tsr_region_tree_destroy(&tree);
    }
    assert_true(cut > 500 && whole > 50);
    tsr_device_release(context, result, sizeof some);
    tsr_device_release(context, counts, sizeof found);
    tsr_context_destroy(&context);
}

/* A pyramid whose top says more than lists can hold (written there, since no volume that fits here has as many): the numbers are told, no list is made. */
static void more_leaves_than_lists_hold(void **state)
{
    (void)state;
    static uint8_t data[16 * 16 * 16];
    const tsr_size3 n = { 16, 16, 16 };
    static const struct {
        int64_t counts[2];
        int nodes_only;
        const char *message;
    } cases[] = {
        { { 2147483648, 613566757 }, 0, "2147483648 leaves and 613566757 nodes" },
        { { 4294967297, 1 }, 0, "4294967297 leaves and 1 nodes" },
        { { 9000000000000, 1 }, 0, "9000000000000 leaves" },
        { { 5, 2147483648 }, 0, "5 leaves and 2147483648 nodes" },
        { { 15032385537, 2147483648 }, 1, "2147483648 nodes" },
    };
    tsr_context *context = test_context();
    for (int i = 0; i < 16 * 16 * 16; i++) data[i] = (i ^ i / 16 ^ i / 256) % 2;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_region_pyramid *p;
        tsr_region_tree *tree, *none;
        tsr_region_info info = TSR_REGION_INFO;
        tsr_volume *host, *v;
        o.classifier = TSR_PYRAMID_NONZERO;
        o.nodes_only = cases[c].nodes_only;
        require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, data, NULL, NULL, &host));
        require_ok(tsr_volume_copy(host, context, &v));
        require_ok(tsr_region_pyramid_create(context, n, &o, &p));
        require_ok(tsr_region_pyramid_build(p, (const tsr_volume *const[]){ v }, 1));
        require_ok(tsr_region_tree_extract(p, &tree));
        assert_int_equal(tsr_region_tree_describe(tree)->leaves, 2048);
        require_ok(tsr_context_synchronize(context));
        require_ok(tsr_device_move(context, p->regions.level[p->regions.top].counts, NULL, cases[c].counts, sizeof cases[c].counts));
        require_ok(tsr_region_pyramid_describe(p, &info));
        assert_true(info.leaves == cases[c].counts[0] && info.nodes == cases[c].counts[1] && info.root == TSR_REGION_NODE);
        require_error(tsr_region_tree_extract(p, &none), TSR_ERROR_CAPACITY, cases[c].message);
        assert_null(none);
        require_error(tsr_region_tree_renew(p, tree), TSR_ERROR_CAPACITY, cases[c].message);
        assert_int_equal(tsr_region_tree_describe(tree)->leaves, 2048); /* as before */
        assert_int_equal(tsr_region_tree_describe(tree)->nodes, 585);
        tsr_region_tree_destroy(&tree);
        tsr_region_pyramid_destroy(&p);
        tsr_volume_destroy(&v);
        tsr_volume_destroy(&host);
    }
    tsr_context_destroy(&context);
}

/* Mean, variance, least and most of every leaf, by long double over its voxels; values far from 0, NaN, infinities; of another volume than the tree's. */
static void statistics_of_leaves(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 sizes[] = { { 29, 17, 1 }, { 16, 16, 16 }, { 13, 18, 7 }, { 1, 1, 1 } };
    static uint8_t data[16 * 18 * 16];
    static float field[16 * 18 * 16];
    int large = 0, strange = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const tsr_size3 n = sizes[s];
        const int64_t cells = n.x * n.y * n.z;
        tsr_region_options o = TSR_REGION_OPTIONS;
        tsr_volume *host, *there;
        o.classifier = TSR_PYRAMID_NONZERO;
        clumps(&seed, n, 3, data);
        for (int64_t i = 0; i < cells; i++) data[i] |= i % n.x < 4 && i / n.x % n.y < 4 && i / n.x / n.y < 4; /* a large leaf at least */
        for (int64_t i = 0; i < cells; i++) field[i] = (float)(1e6 + test_uniform(&seed)); /* sums of squares would lose the variance */
        if (s == 1)
            for (int64_t i = 0; i < cells; i += 97) field[i] = i % 4 == 0 ? NAN : i % 4 == 1 ? INFINITY : i % 4 == 2 ? -INFINITY : 7;
        tsr_region_tree *device = make(context, TSR_U8, n, (const void *const[]){ data }, 1, &o), *tree;
        require_ok(tsr_region_tree_copy(device, NULL, &tree));
        require_ok(tsr_volume_wrap(NULL, TSR_F32, n, NULL, field, NULL, NULL, &host));
        require_ok(tsr_volume_set_scaling(host, 2, -3));
        require_ok(tsr_volume_copy(host, context, &there));
        const int64_t leaves = tsr_region_tree_describe(tree)->leaves;
        tsr_region_statistics *result = malloc((size_t)leaves * sizeof *result);
        float *means = malloc((size_t)leaves * sizeof *means);
        void *memory;
        require_ok(tsr_device_allocate(context, (size_t)leaves * sizeof *result, &memory));
        require_ok(tsr_region_tree_means(device, there, memory));
        require_ok(tsr_device_move(NULL, means, context, memory, (size_t)leaves * sizeof *means));
        require_ok(tsr_region_tree_statistics(device, there, memory));
        require_ok(tsr_device_move(NULL, result, context, memory, (size_t)leaves * sizeof *result));
        for (int64_t l = 0; l < leaves; l++) {
            const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(tree)[l], n.z > 1 ? 3 : 2);
            const int64_t voxels = q.side * q.side * (n.z > 1 ? q.side : 1);
            long double sum = 0, squares = 0;
            double least = NAN, most = NAN;
            for (int pass = 0; pass < 2; pass++)
                for (int64_t i = 0; i < voxels; i++) {
                    const int64_t at = ((q.z + i / q.side / q.side) * n.y + q.y + i / q.side % q.side) * n.x + q.x + i % q.side;
                    const double value = field[at] * 2.0 - 3.0;
                    if (pass) squares += (value - sum / (long double)voxels) * (value - sum / (long double)voxels);
                    else sum += value;
                    least = fmin(least, value); /* a number beats NaN */
                    most = fmax(most, value);
                }
            const double mean = (double)(sum / (long double)voxels), variance = (double)(squares / (long double)voxels);
            assert_true(isnan(least) ? isnan(result[l].least) && isnan(result[l].most) : result[l].least == least && result[l].most == most);
            assert_true(isnan(mean) ? isnan(result[l].mean) : result[l].mean == mean || fabs(result[l].mean - mean) < 1e-9);
            assert_true(isnan(variance) ? isnan(result[l].variance) : fabs(result[l].variance - variance) < 1e-9 * (1 + variance));
            if (!isnan(mean)) assert_true(means[l] == (float)result[l].mean); /* the same sums */
            large += voxels > 32 && variance > 0.1;
            strange += isnan(variance) && !isnan(least);
        }
        if (s == 0) {
            tsr_volume *other;
            require_ok(tsr_volume_create(context, TSR_F32, (tsr_size3){ 29, 18, 1 }, NULL, &other));
            require_error(tsr_region_tree_statistics(device, other, memory), TSR_ERROR_ARGUMENT, "volume of 29 x 18 x 1, expected 29 x 17 x 1");
            require_error(tsr_region_tree_statistics(device, there, NULL), TSR_ERROR_ARGUMENT, "statistics is NULL");
            require_error(tsr_region_tree_statistics(tree, there, memory), TSR_ERROR_ARGUMENT, "lies on the host");
            tsr_volume_destroy(&other);
        }
        tsr_device_release(context, memory, (size_t)leaves * sizeof *result);
        tsr_volume_destroy(&host);
        tsr_volume_destroy(&there);
        tsr_region_tree_destroy(&tree);
        tsr_region_tree_destroy(&device);
        free(result);
        free(means);
    }
    assert_true(large > 0 && strange > 0);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(world_of_a_tree),        cmocka_unit_test(queries),
                                        cmocka_unit_test(statistics_of_leaves),   cmocka_unit_test(gaps_equal_a_march),
                                        cmocka_unit_test(rays_beyond_their_room), cmocka_unit_test(more_leaves_than_lists_hold) };
    return cmocka_run_group_tests_name("queries of region trees", tests, NULL, NULL);
}
