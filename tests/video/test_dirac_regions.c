/* The two ways to predict overlapped blocks on a device: the library's, by regions, which may store samples at once, and the bench's, which gathers
 * (bench/predict_gather.h). Both must say what predict.h says of each sample. That predict.h is right is other suites' business (test_dirac_syntax). */
#include <dlfcn.h>

#include "context.h"
#include "dirac_model_bits.h"
#include "predict_gather.h"
#include "video/dirac/dirac_ops.h"
#include "video/dirac/predict_regions.h"

static predict_gather_call by_gathering;
static tsr_context *on_cpu;
static void *module;

/* In the emulator's module; of a GPU a module of the bench, which need not be there. */
static void open_rival(void)
{
    const char *folder = getenv("TESSERA_MODULES"), *device = getenv("TESSERA_DEVICE");
    const int emulated = !device || strcmp(device, "cuda") != 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "lib", emulated ? "libtessera_emu.so" : "libbench_predict_gather.so");
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module) *(void **)&by_gathering = dlsym(module, "predict_by_gathering");
    if (emulated && !by_gathering) fail_msg("%s: %s", path, dlerror());
    if (!by_gathering) print_message("no kernel that gathers: %s\n", dlerror());
}

typedef struct blocks_case {
    int32_t length[2], separation[2];
} blocks_case;

/* The presets, then blocks that do not overlap, that overlap by half, the largest, and others along x than along y. */
static const blocks_case shapes[] = {
    { { 8, 8 }, { 4, 4 } },     { { 12, 12 }, { 8, 8 } }, { { 16, 16 }, { 12, 12 } }, { { 24, 24 }, { 16, 16 } },
    { { 8, 8 }, { 8, 8 } },     { { 4, 4 }, { 4, 4 } },   { { 16, 16 }, { 8, 8 } },   { { 64, 64 }, { 32, 32 } },
    { { 64, 64 }, { 64, 64 } }, { { 8, 24 }, { 8, 12 } }, { { 32, 12 }, { 16, 8 } },  { { 20, 16 }, { 12, 16 } },
};
enum { PRESETS = 4, SHAPES = sizeof shapes / sizeof *shapes, MARK = 0x5a5a5a5a, BESIDE = 3 };

static tsr_dirac_predict_job some_job(uint64_t *seed, const blocks_case *shape)
{
    tsr_dirac_predict_job j = { .bytes = 2, .component = model_below(seed, 3), .depth = model_chance(seed, 3) ? 10 : model_chance(seed, 4) ? 16 : 8 };
    j.down[0] = j.component && model_chance(seed, 2);
    j.down[1] = j.down[0] && model_chance(seed, 2);
    j.width = model_chance(seed, 6) ? model_between(seed, 1, 12) : model_between(seed, 13, 300);
    j.height = model_chance(seed, 6) ? model_between(seed, 1, 12) : model_between(seed, 13, 90);
    j.stride = j.width + BESIDE;
    j.p.references = 1 + model_below(seed, 2);
    j.p.precision = model_below(seed, 4);
    j.p.weight_bits = 1;
    j.p.weight[0] = j.p.weight[1] = 1;
    j.p.weighted = model_chance(seed, 2);
    if (j.p.weighted) {
        j.p.weight_bits = model_below(seed, 7);
        for (int r = 0; r < 2; r++) j.p.weight[r] = model_between(seed, -20, 80);
    }
    j.p.has_global = model_chance(seed, 4);
    for (int r = 0; r < 2; r++)
        j.p.global[r] = (tsr_dirac_global){ .pan = { model_between(seed, -40, 40), model_between(seed, -40, 40) },
                                            .zoom = { model_between(seed, -9, 9), model_between(seed, -9, 9), model_between(seed, -9, 9), 3 },
                                            .zoom_exponent = 6,
                                            .perspective = { 1, -1 },
                                            .perspective_exponent = 9 };
    for (int k = 0; k < 2; k++) {
        const int32_t luma = (k ? j.height : j.width) << j.down[k], super = 4 * shape->separation[k];
        j.p.length[k] = shape->length[k];
        j.p.separation[k] = shape->separation[k];
        *(k ? &j.p.blocks_y : &j.p.blocks_x) = 4 * ((luma + super - 1) / super);
    }
    return j;
}

/* Mostly vectors that stay within the picture, so that both ways' quick paths are taken, some that leave it, some far away. */
static void some_blocks(uint64_t *seed, const tsr_dirac_predict_job *j, tsr_dirac_block *blocks)
{
    const int32_t calm = model_chance(seed, 3); /* neighbours say the same: vectors of a warp have as many places */
    for (int32_t k = 0; k < j->p.blocks_x * j->p.blocks_y; k++) {
        tsr_dirac_block *b = &blocks[k];
        const int32_t far = model_chance(seed, 20) ? 20000 : model_chance(seed, 4) ? 300 : 12;
        if (k && calm && !model_chance(seed, 9)) {
            *b = blocks[k - 1];
            continue;
        }
        *b = (tsr_dirac_block){ .mode = (uint8_t)model_below(seed, j->p.references == 2 ? 4 : 2) };
        b->global = b->mode && j->p.has_global && model_chance(seed, 3);
        for (int r = 0; r < 2; r++)
            for (int axis = 0; axis < 2; axis++) b->vector[r][axis] = (int16_t)model_between(seed, -far, far);
        for (int c = 0; c < 3; c++) b->dc[c] = (int16_t)model_between(seed, -(1 << (j->depth - 1)), (1 << (j->depth - 1)) - 1);
    }
}

static void *host_memory(size_t bytes)
{
    void *memory = calloc(1, bytes);
    assert_non_null(memory);
    return memory;
}

static void *on_device_memory(const void *host, size_t bytes)
{
    void *memory = NULL;
    require_ok(tsr_device_allocate(context, bytes, &memory));
    require_ok(context->backend->upload(context->queue, memory, host, bytes));
    return memory;
}

/* What a way said: between rows there must be what was there. */
static void compare(const tsr_dirac_predict_job *j, const int32_t *said, const int32_t *expected, const char *way, int shape)
{
    for (int32_t y = 0; y < j->height; y++)
        for (int32_t x = 0; x < j->stride; x++) {
            const int32_t is = said[y * j->stride + x], should = x < j->width ? expected[y * j->width + x] : MARK;
            if (is != should)
                fail_msg("%s: blocks %d, %d x %d, component %d, precision %d, weighted %d: at (%d, %d) %d instead of %d", way, shape, j->width,
                         j->height, j->component, j->p.precision, j->p.weighted, x, y, is, should);
        }
}

/* Stored with a residue: the plane and the reference, clamped; nothing beside. Of a picture without a residue or a reference neither is there. */
static void stored(uint64_t *seed, const tsr_dirac_predict_job *on_device, const int32_t *expected, int shape)
{
    tsr_dirac_predict_job j = *on_device;
    const int32_t half = 1 << (j.depth - 1), bytes = j.depth > 8 ? 2 : 1, has_residue = !model_chance(seed, 5),
                  is_reference = model_chance(seed, 2);
    const size_t rows = (size_t)(j.stride * j.height), tight = (size_t)j.width * (size_t)j.height;
    int32_t *residue = (int32_t *)host_memory(rows * sizeof *residue);
    uint8_t *plane = (uint8_t *)host_memory(rows * (size_t)bytes);
    int16_t *reference = (int16_t *)host_memory(tight * sizeof *reference);
    for (size_t k = 0; k < rows; k++) residue[k] = model_chance(seed, 50) ? INT32_MAX : model_between(seed, -half / 2, half / 2);
    memset(plane, MARK & 0xff, rows * (size_t)bytes);
    tsr_dirac_store_job store = {
        .stride = j.stride, .plane_stride = j.stride, .width = j.width, .height = j.height, .bytes = bytes, .depth = j.depth
    };
    void *const residue_there = on_device_memory(residue, rows * sizeof *residue);
    store.residue = has_residue ? (const int32_t *)residue_there : NULL;
    store.plane = on_device_memory(plane, rows * (size_t)bytes);
    void *const reference_there = on_device_memory(reference, tight * sizeof *reference);
    store.reference = is_reference ? reference_there : NULL;
    store.reference_bytes = 2;
    j.store = &store;
    j.predicted = NULL;
    require_ok(context->backend->dirac->predict(context->queue, &j));
    require_ok(context->backend->download(context->queue, plane, store.plane, rows * (size_t)bytes));
    require_ok(context->backend->download(context->queue, reference, reference_there, tight * sizeof *reference));
    for (int32_t y = 0; y < j.height; y++)
        for (int32_t x = 0; x < j.stride; x++) {
            const int64_t at = y * j.stride + x, on = (int64_t)y * j.width + x;
            const int32_t shown = bytes == 1 ? plane[at] : ((const uint16_t *)(const void *)plane)[at], beside = bytes == 1 ? 0x5a : 0x5a5a;
            int64_t sum = x < j.width ? (int64_t)expected[on] + (has_residue ? residue[at] : 0) : 0;
            sum = sum < -half ? -half : sum > half - 1 ? half - 1 : sum;
            if (shown != (x < j.width ? sum + half : beside) || (x < j.width && reference[on] != (is_reference ? sum : 0)))
                fail_msg("stored: blocks %d, %d x %d, %d bits, component %d: at (%d, %d) %d and %d instead of %d", shape, j.width, j.height, j.depth,
                         j.component, x, y, shown, x < j.width ? reference[on] : 0, (int)sum);
        }
    tsr_device_release(context, residue_there, rows * sizeof *residue);
    tsr_device_release(context, store.plane, rows * (size_t)bytes);
    tsr_device_release(context, reference_there, tight * sizeof *reference);
    free(residue);
    free(plane);
    free(reference);
}

static void on_the_device(uint64_t *seed, const tsr_dirac_predict_job *host, const int32_t *expected, int shape)
{
    const size_t grid = sizeof(int16_t) * 4 * (size_t)host->width * (size_t)host->height,
                 bytes = sizeof(int32_t) * (size_t)(host->stride * host->height);
    const size_t block_bytes = sizeof(tsr_dirac_block) * (size_t)(host->p.blocks_x * host->p.blocks_y);
    int32_t *said = (int32_t *)host_memory(bytes);
    tsr_dirac_predict_job j = *host;
    tsr_dirac_block *const blocks = (tsr_dirac_block *)on_device_memory(host->blocks, block_bytes);
    void *references[2];
    for (int r = 0; r < 2; r++) j.reference[r] = references[r] = on_device_memory(host->reference[r], grid);
    j.blocks = blocks;
    for (int way = 0; way < 1 + (by_gathering != NULL); way++) {
        for (size_t k = 0; k < bytes / sizeof *said; k++) said[k] = MARK;
        j.predicted = (int32_t *)on_device_memory(said, bytes);
        if (way) assert_true(by_gathering(context->queue, &j));
        else require_ok(context->backend->dirac->predict(context->queue, &j));
        require_ok(context->backend->download(context->queue, said, j.predicted, bytes));
        tsr_device_release(context, j.predicted, bytes);
        compare(&j, said, expected, way ? "gathered" : "by regions", shape);
    }
    stored(seed, &j, expected, shape);
    for (int r = 0; r < 2; r++) tsr_device_release(context, references[r], grid);
    tsr_device_release(context, blocks, block_bytes);
    free(said);
}

static void compare_ways(uint64_t *seed, int shape)
{
    tsr_dirac_predict_job j = some_job(seed, &shapes[shape]);
    const size_t plane = (size_t)j.width * (size_t)j.height;
    const int32_t half = 1 << (j.depth - 1);
    tsr_dirac_block *blocks = (tsr_dirac_block *)host_memory(sizeof *blocks * (size_t)(j.p.blocks_x * j.p.blocks_y));
    int16_t *grids = (int16_t *)host_memory(2 * 4 * plane * sizeof *grids);
    int32_t *expected = (int32_t *)host_memory(plane * sizeof *expected);
    some_blocks(seed, &j, blocks);
    j.blocks = blocks;
    for (int r = 0; r < 2; r++) {
        int16_t *grid = grids + (size_t)r * 4 * plane;
        for (size_t k = 0; k < plane; k++) grid[k] = (int16_t)model_between(seed, -half, half - 1);
        const tsr_dirac_half_job halved = { .grid = grid, .bytes = 2, .width = j.width, .height = j.height, .low = -half, .high = half - 1 };
        if (j.p.precision) require_ok(on_cpu->backend->dirac->half(on_cpu->queue, &halved));
        j.reference[r] = grid;
    }
    for (int32_t y = 0; y < j.height; y++)
        for (int32_t x = 0; x < j.width; x++) expected[y * j.width + x] = tsr_dirac_predict_sample(&j, x, y);
    on_the_device(seed, &j, expected, shape);
    free(blocks);
    free(grids);
    free(expected);
}

static void all_ways_agree(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 10 : 40); turn++)
        for (int shape = 0; shape < SHAPES; shape++)
            if (shape < PRESETS || turn % 2 == 0) compare_ways(&seed, shape);
}

/* The parts of an axis: each sample is in one of them, once, and its block is the one that covers it. */
static void regions_part_an_axis(void **state)
{
    uint64_t seed = test_seed();
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int turn = 0; turn < 60; turn++) {
            const tsr_dirac_predict_job j = some_job(&seed, &shapes[shape]);
            for (int axis = 0; axis < 2; axis++) {
                const tsr_dirac_axis a = tsr_dirac_axis_of(&j, axis);
                int32_t next[2] = { 0, 0 }, band[2] = { 0, 0 };
                for (int32_t x = 0; x < a.size; x++) {
                    int32_t first, block, begin, end;
                    const int kind = tsr_dirac_cover(x, a.e.length, a.e.separation, a.e.count, &first) - 1;
                    assert_int_equal(tsr_dirac_axis_place(&a, kind, next[kind], &block), x);
                    assert_int_equal(block, first);
                    next[kind]++;
                    band[kind] = block;
                    tsr_dirac_axis_band(&a, kind, band[kind], &begin, &end);
                    assert_true(begin <= x && x < end && block < a.bands[kind]);
                    if (kind == TSR_DIRAC_REGION_INTERIOR) assert_int_equal(gather_weight(&a.e, x, block), 8);
                    else {
                        assert_int_equal(tsr_dirac_axis_weight(&a, x - begin, block), gather_weight(&a.e, x, block));
                        assert_int_equal(8 - tsr_dirac_axis_weight(&a, x - begin, block), gather_weight(&a.e, x, block + 1));
                    }
                }
                for (int kind = 0; kind < 2; kind++) assert_int_equal(next[kind], a.places[kind]);
            }
        }
}

static int open_all(void **state)
{
    on_cpu = test_context_on("cpu", 1);
    open_rival();
    return open_context(state);
}
static int close_all(void **state)
{
    tsr_context_destroy(&on_cpu);
    const int failed = close_context(state);
    if (module) dlclose(module);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(regions_part_an_axis), cmocka_unit_test(all_ways_agree) };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
