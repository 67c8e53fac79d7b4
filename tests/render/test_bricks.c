/* What is known of bricks before rays are cast, against float64 loops over the volume: ranges, slopes that no sample exceeds, least and largest value,
 * the window, and on the CPU the blocks of cells that a surface passes. */
#include "render/scene.h"
#include "scenes.h"

enum { SX = 43, SY = 21, SZ = 26 };

static const tsr_vec3 spacing = { 0.7, 1.0, 1.6 };

/* Smooth in one half, rough in the other, a block of NaN. */
static tsr_volume *make(tsr_context *context, float *values, int flat, uint64_t *random)
{
    tsr_geometry g = tsr_geometry_make(spacing, (tsr_vec3){ 3, -2, 5 }, TSR_SPACE_RAS);
    tsr_volume *host, *device;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ SX, SY, SZ }, &g, &host));
    for (int i = 0; i < SX * SY * SZ; i++) {
        const int x = i % SX, y = i / SX % SY, z = i / (SX * SY);
        const double smooth = 3.0 * sin(0.3 * x) + 2.0 * cos(0.2 * y + 0.1 * z), rough = x > 24 ? 40.0 * test_uniform(random) : 0.0;
        values[i] = flat ? NAN : (float)(smooth + rough - 2.0);
        if (!flat && x >= 8 && x < 14 && y < 4 && z < 17) values[i] = NAN;
    }
    memcpy(tsr_volume_data(host), values, sizeof(float) * SX * SY * SZ);
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static double value_at(const float *v, const double p[3])
{
    const int size[3] = { SX, SY, SZ };
    int cell[3];
    double f[3], sum = 0;
    for (int k = 0; k < 3; k++) {
        const double at = fmin(fmax(p[k], 0), size[k] - 1);
        cell[k] = (int)fmin(floor(at), size[k] - 2);
        f[k] = at - cell[k];
    }
    for (int i = 0; i < 8; i++) {
        const int x = cell[0] + (i & 1), y = cell[1] + (i >> 1 & 1), z = cell[2] + (i >> 2);
        sum += (i & 1 ? f[0] : 1 - f[0]) * (i & 2 ? f[1] : 1 - f[1]) * (i & 4 ? f[2] : 1 - f[2]) * (double)v[(z * SY + y) * SX + x];
    }
    return sum;
}

/* Length of the gradient in the world, as samples are lit: differences over a voxel to each side. */
static double slope_at(const float *v, const double p[3])
{
    const double step[3] = { spacing.x, spacing.y, spacing.z };
    double squares = 0;
    for (int k = 0; k < 3; k++) {
        double a[3] = { p[0], p[1], p[2] }, b[3] = { p[0], p[1], p[2] };
        a[k] -= 1;
        b[k] += 1;
        const double g = (value_at(v, b) - value_at(v, a)) / (2 * step[k]);
        squares += g * g;
    }
    return sqrt(squares);
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void ranges_and_slopes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    static float values[SX * SY * SZ], most[1024];
    tsr_volume *volume = make(context, values, 0, &random);
    tsr_scene *scene;
    tsr_scene_info info = TSR_SCENE_INFO;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_scene_describe(scene, &info));
    const tsr_dense *d = scene->source;
    const size_t count = (size_t)d->brick_count;
    float *range = (float *)malloc(count * 8), *slope = (float *)malloc(count * 4);
    require_ok(context->backend->download(context->queue, range, d->range, count * 8));
    require_ok(context->backend->download(context->queue, slope, d->slope, count * 4));
    int valid = 0, bounded = 0;
    for (int b = 0; b < (int)count; b++) {
        const int at[3] = { b % d->bricks[0], b / d->bricks[0] % d->bricks[1], b / (d->bricks[0] * d->bricks[1]) };
        double low = INFINITY, high = -INFINITY, steepest = 0;
        int border = 0, broken = 0;
        for (int k = 0; k < 3; k++) border |= at[k] == 0 || at[k] == d->bricks[k] - 1;
        for (int z = 8 * at[2]; z < SZ && z <= 8 * at[2] + 8; z++)
            for (int y = 8 * at[1]; y < SY && y <= 8 * at[1] + 8; y++)
                for (int x = 8 * at[0]; x < SX && x <= 8 * at[0] + 8; x++) {
                    const double v = (double)values[(z * SY + y) * SX + x];
                    if (!isnan(v)) {
                        low = fmin(low, v);
                        high = fmax(high, v);
                    }
                    const double g = border ? 0 : slope_at(values, (const double[3]){ x, y, z });
                    broken |= isnan(g);
                    steepest = fmax(steepest, isnan(g) ? 0 : g);
                }
        if (low <= high) {
            assert_true((double)range[2 * b] == low && (double)range[2 * b + 1] == high);
            most[valid++] = (float)high;
        } else {
            assert_true(range[2 * b] > range[2 * b + 1]);
        }
        if (border || broken) { /* nothing is promised */
            assert_true(slope[b] > 1e30f);
            continue;
        }
        bounded++;
        assert_true((double)slope[b] < 1.001 * steepest + 1e-2);
        for (int i = 0; i < 200; i++) {
            double p[3];
            for (int k = 0; k < 3; k++) p[k] = 8 * at[k] + 8 * test_uniform(&random);
            assert_true(slope_at(values, p) <= (double)slope[b]);
        }
    }
    assert_true(bounded >= 3);
    qsort(most, (size_t)valid, sizeof *most, ascending);
    assert_true(info.window_high == (double)most[(valid - 1) * 98 / 100]);
    assert_true(info.maximum == (double)most[valid - 1]);
    assert_int_equal(info.nan_voxels, 6 * 4 * 17);
    free(range);
    free(slope);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    volume = make(context, values, 1, &random);
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_scene_describe(scene, &info));
    assert_true(info.minimum == 0 && info.maximum == 0 && info.window_low == 0 && info.window_high == 1);
    assert_int_equal(info.nan_voxels, SX * SY * SZ);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* Windows come from the finite values, whatever share of the bricks has infinite ones; what rays are to meet stays in the bricks' ranges. */
static void infinities(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    static float values[SX * SY * SZ], most[1024];
    for (int every = 1; every <= 10; every += 9) { /* all, and one in ten */
        tsr_volume *volume = make(context, values, 0, &random), *host;
        tsr_scene *scene;
        tsr_scene_info info = TSR_SCENE_INFO;
        double low = INFINITY, high = -INFINITY;
        int valid = 0;
        for (int i = 0; i < SX * SY * SZ; i++) {
            if (i % every == 0) values[i] = i % (2 * every) ? -INFINITY : INFINITY;
            if (!isfinite(values[i])) continue;
            low = fmin(low, (double)values[i]);
            high = fmax(high, (double)values[i]);
        }
        tsr_volume_destroy(&volume);
        require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ SX, SY, SZ }, NULL, &host));
        memcpy(tsr_volume_data(host), values, sizeof values);
        require_ok(tsr_volume_copy(host, context, &volume));
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_scene_set_volume(scene, volume));
        require_ok(tsr_scene_describe(scene, &info));
        const tsr_dense *d = scene->source;
        float *range = (float *)malloc((size_t)d->brick_count * 8);
        require_ok(context->backend->download(context->queue, range, d->range, (size_t)d->brick_count * 8));
        for (int b = 0; b < (int)d->brick_count; b++) {
            const int at[3] = { b % d->bricks[0], b / d->bricks[0] % d->bricks[1], b / (d->bricks[0] * d->bricks[1]) };
            float largest = -INFINITY;
            int endless = 0;
            for (int z = 8 * at[2]; z < SZ && z <= 8 * at[2] + 8; z++)
                for (int y = 8 * at[1]; y < SY && y <= 8 * at[1] + 8; y++)
                    for (int x = 8 * at[0]; x < SX && x <= 8 * at[0] + 8; x++) {
                        const float v = values[(z * SY + y) * SX + x];
                        endless |= v == INFINITY;
                        if (isfinite(v)) largest = fmaxf(largest, v);
                    }
            if (endless) assert_true(range[2 * b + 1] == INFINITY);
            if (largest > -INFINITY) most[valid++] = largest;
        }
        if (every == 1) {
            assert_true(info.minimum == 0 && info.maximum == 0 && info.window_low == 0 && info.window_high == 1);
        } else {
            qsort(most, (size_t)valid, sizeof *most, ascending);
            assert_true(info.minimum == low && info.window_low == low && info.maximum == high);
            assert_true(info.window_high == (double)most[(valid - 1) * 98 / 100]);
        }
        free(range);
        tsr_scene_destroy(&scene);
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&host);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* A block of 2^3 cells is marked if and only if its 27 voxels lie on both sides; where the backend has no use for blocks there are none. */
static void blocks_of_cells(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t random = test_seed();
    static float values[SX * SY * SZ];
    tsr_volume *volume = make(context, values, 0, &random);
    tsr_scene *scene;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0.5, 1));
    assert_true((scene->surface_cells != NULL) == (tsr_context_device(context).kind == TSR_DEVICE_CPU));
    const tsr_dense *d = scene->surface;
    int marked = 0, clear = 0;
    for (int b = 0; b < (int)d->brick_count && scene->surface_cells; b++) {
        const int at[3] = { b % d->bricks[0], b / d->bricks[0] % d->bricks[1], b / (d->bricks[0] * d->bricks[1]) };
        if (scene->surface_skip[b]) {
            assert_true(scene->surface_cells[b] == 0);
            continue;
        }
        for (int block = 0; block < 64; block++) {
            int inside = 0, outside = 0;
            for (int i = 0; i < 27; i++) {
                const int x = 8 * at[0] + 2 * (block & 3) + i % 3, y = 8 * at[1] + 2 * (block >> 2 & 3) + i / 3 % 3,
                          z = 8 * at[2] + 2 * (block >> 4) + i / 9;
                const float v = values[((z < SZ ? z : SZ - 1) * SY + (y < SY ? y : SY - 1)) * SX + (x < SX ? x : SX - 1)];
                if (v < 0.5f) inside = 1;
                else outside = 1;
            }
            assert_int_equal((int)(scene->surface_cells[b] >> block & 1), inside && outside);
            marked += inside && outside;
            clear += !(inside && outside);
        }
    }
    if (scene->surface_cells) assert_true(marked > 100 && clear > 100);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ranges_and_slopes), cmocka_unit_test(infinities), cmocka_unit_test(blocks_of_cells) };
    return cmocka_run_group_tests_name("bricks", tests, NULL, NULL);
}
