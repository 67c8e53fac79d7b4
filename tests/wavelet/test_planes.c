/* Planes of several levels: on a GPU two or three of them go in one launch (src/wavelet/wavelet_tiles_cuda.cu) where filter, extents and places allow it. Extents
 * that end before, at and behind the end of a tile, more levels than one launch takes, batches, volumes of planes: the same bits as the CPU, and the same
 * transforms refused because a value leaves 16 bits, wherever in the plane and in the levels it does. */
#include "device/backend.h"

#include "context.h"

typedef struct plane {
    tsr_dtype dtype;
    int32_t dimensions;
    int64_t size[3], count;
    tsr_wavelet_options options;
    tsr_context *cpu;
    tsr_wavelet_plan *mine, *theirs;
    char *samples, *expected, *got;
    void *memory[2];
    size_t bytes;
} plane;

static void plane_begin(plane *p)
{
    p->count = p->size[0] * p->size[1] * p->size[2] * (p->options.batch ? p->options.batch : 1);
    p->bytes = (size_t)p->count * tsr_dtype_size(p->dtype);
    require_ok(tsr_wavelet_plan_create(context, p->dtype, p->dimensions, p->size, &p->options, &p->mine));
    require_ok(tsr_wavelet_plan_create(p->cpu, p->dtype, p->dimensions, p->size, &p->options, &p->theirs));
    for (int k = 0; k < 2; k++) require_ok(tsr_device_allocate(context, p->bytes, &p->memory[k]));
    p->samples = (char *)calloc(1, p->bytes);
    p->expected = (char *)malloc(p->bytes);
    p->got = (char *)malloc(p->bytes);
    assert_true(p->samples && p->expected && p->got);
}

static void plane_end(plane *p)
{
    for (int k = 0; k < 2; k++) tsr_device_release(context, p->memory[k], p->bytes);
    tsr_wavelet_plan_destroy(&p->mine);
    tsr_wavelet_plan_destroy(&p->theirs);
    free(p->samples);
    free(p->expected);
    free(p->got);
}

static void put(const plane *p, int64_t i, int32_t v)
{
    if (p->dtype == TSR_I16) ((int16_t *)(void *)p->samples)[i] = (int16_t)v;
    else ((float *)(void *)p->samples)[i] = (float)v / 7;
}

/* Transforms p->samples on the CPU and here; are both refused? */
static int plane_transform(plane *p, int inverse)
{
    tsr_status theirs, mine;
    require_ok(tsr_device_move(context, p->memory[0], NULL, p->samples, p->bytes));
    if (inverse) {
        theirs = tsr_wavelet_inverse(p->theirs, p->samples, p->expected, NULL);
        mine = tsr_wavelet_inverse(p->mine, p->memory[0], p->memory[1], NULL);
    } else {
        theirs = tsr_wavelet_forward(p->theirs, p->samples, p->expected, NULL);
        mine = tsr_wavelet_forward(p->mine, p->memory[0], p->memory[1], NULL);
    }
    if (theirs != mine)
        fail_msg("%lld x %lld, %s: status %d, the CPU's %d", (long long)p->size[0], (long long)p->size[1], inverse ? "inverse" : "forward", (int)mine,
                 (int)theirs);
    if (mine != TSR_OK) return 1;
    require_ok(tsr_device_move(NULL, p->got, context, p->memory[1], p->bytes));
    const size_t element = tsr_dtype_size(p->dtype);
    for (int64_t i = 0; i < p->count; i++)
        if (memcmp(p->got + (size_t)i * element, p->expected + (size_t)i * element, element))
            fail_msg("%s %s %lld x %lld, %d levels, boundary %d, %s: another value than the CPU's at %lld, %lld", tsr_dtype_name(p->dtype),
                     tsr_wavelet_filter_name(p->options.filter), (long long)p->size[0], (long long)p->size[1], p->options.levels,
                     (int)p->options.boundary, inverse ? "inverse" : "forward", (long long)(i % p->size[0]), (long long)(i / p->size[0]));
    return 0;
}

static const tsr_wavelet_filter filters[] = { TSR_WAVELET_LEGALL53, TSR_WAVELET_HAAR, TSR_WAVELET_JPEG53 };

static void bits(void **state)
{
    (void)state;
    static const struct {
        int64_t size[3];
        int32_t levels, dimensions, batch;
        tsr_wavelet_layout layout;
    } cases[] = { { { 128, 64, 1 }, 3, 2, 0, TSR_WAVELET_MALLAT },  { { 144, 71, 1 }, 3, 2, 0, TSR_WAVELET_SUBBANDS },
                  { { 272, 203, 1 }, 3, 2, 0, TSR_WAVELET_MALLAT }, { { 80, 193, 1 }, 2, 2, 3, TSR_WAVELET_MALLAT },
                  { { 512, 260, 1 }, 5, 2, 0, TSR_WAVELET_MALLAT }, { { 64, 67, 1 }, 4, 2, 2, TSR_WAVELET_SUBBANDS },
                  { { 384, 130, 3 }, 3, 3, 0, TSR_WAVELET_MALLAT }, { { 264, 90, 1 }, 3, 2, 0, TSR_WAVELET_MALLAT } };
    uint64_t random = test_seed();
    tsr_context *cpu = test_context_on("cpu", 1);
    for (int c = 0; c < 8; c++)
        for (int f = 0; f < 3; f++) {
            const tsr_wavelet_options none = TSR_WAVELET_OPTIONS;
            plane p = { .dtype = (c + f) & 1 ? TSR_F32 : TSR_I16, .dimensions = cases[c].dimensions, .cpu = cpu, .options = none };
            memcpy(p.size, cases[c].size, sizeof p.size);
            p.options.filter = filters[f];
            p.options.boundary = c & 1 ? TSR_WAVELET_SYMMETRIC : TSR_WAVELET_CLAMP;
            p.options.levels = cases[c].levels;
            p.options.layout = cases[c].layout;
            p.options.batch = cases[c].batch;
            p.options.axes = 3; /* slices of a volume are planes */
            plane_begin(&p);
            for (int inverse = 0; inverse < 2; inverse++) {
                for (int64_t i = 0; i < p.count; i++) put(&p, i, (int32_t)(test_random(&random) % 200) - 100);
                assert_int_equal(plane_transform(&p, inverse), 0);
            }
            plane_end(&p);
        }
    tsr_context_destroy(&cpu);
}

/* A patch somewhere, of one value, or back of either sign in all bands of the first level: at some sizes it leaves 16 bits at the first level, at some
 * at the last one only, and at some not. */
static void too_large(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    const tsr_wavelet_options none = TSR_WAVELET_OPTIONS;
    const int runs = test_is_slow() ? 40 : 160;
    plane p = { .dtype = TSR_I16, .dimensions = 2, .size = { 272, 150, 1 }, .cpu = test_context_on("cpu", 1), .options = none };
    int refused[2] = { 0, 0 };
    p.options.levels = 3;
    plane_begin(&p);
    for (int run = 0; run < runs; run++) {
        const int inverse = run & 1;
        const int64_t nx = inverse ? p.size[0] / 2 : p.size[0], ny = inverse ? p.size[1] / 2 : p.size[1];
        const int32_t v = (inverse ? 12000 : 2000) + (int32_t)(test_random(&random) % (inverse ? 20000 : 6000)),
                      width = 1 + (int32_t)(test_random(&random) % 40);
        const int64_t x = (int64_t)(test_random(&random) % (uint64_t)(nx - width)), y = (int64_t)(test_random(&random) % (uint64_t)(ny - width));
        memset(p.samples, 0, p.bytes);
        for (int32_t k = 0; k < width * width; k++) {
            const int64_t at = (y + k / width) * p.size[0] + x + k % width;
            for (int b = 0; b < (inverse ? 4 : 1); b++)
                put(&p, at + (b & 1) * nx + (b >> 1) * ny * p.size[0], (inverse ? test_random(&random) & 1 : run & 2) ? -v : v);
        }
        refused[inverse] += plane_transform(&p, inverse);
    }
    for (int inverse = 0; inverse < 2; inverse++) assert_in_range(refused[inverse], runs / 20, runs / 2 - runs / 20);
    plane_end(&p);
    tsr_context_destroy(&p.cpu);
}

/* What the plan says that it moves: 1920 x 1080 in one launch on a GPU, 16 megabytes of float32 two levels at a time on a CPU, level by level elsewhere. */
static void bytes_moved(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        tsr_wavelet_filter filter;
        int64_t size[2];
        int32_t levels;
        struct {
            int64_t forward, inverse;
        } cpu, gpu; /* samples that are read and written */
    } cases[] = {
        { TSR_I16, TSR_WAVELET_LEGALL53, { 1920, 1080 }, 3, { 2721600, 2721600 }, { 2073600, 2073600 } },
        { TSR_F32, TSR_WAVELET_HAAR, { 256, 64 }, 4, { 21760, 21760 }, { 16640, 16640 } }, /* three, and the last one */
        { TSR_I16, TSR_WAVELET_DD97, { 1920, 1080 }, 3, { 2721600, 2721600 }, { 2721600, 2721600 } },
        { TSR_F32, TSR_WAVELET_DAUB97, { 2048, 2048 }, 3, { 4194304 + 262144, 5505024 }, { 5505024, 5505024 } },
    };
    const int gpu = tsr_context_device(context).kind != TSR_DEVICE_CPU;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tsr_wavelet_plan *plan = NULL;
        tsr_wavelet_info info = TSR_WAVELET_INFO;
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.filter = cases[k].filter;
        o.levels = cases[k].levels;
        require_ok(tsr_wavelet_plan_create(context, cases[k].dtype, 2, cases[k].size, &o, &plan));
        tsr_wavelet_plan_describe(plan, &info);
        const int64_t each = 2 * (int64_t)tsr_dtype_size(cases[k].dtype);
        assert_int_equal(info.forward_bytes, each * (gpu ? cases[k].gpu.forward : cases[k].cpu.forward));
        assert_int_equal(info.inverse_bytes, each * (gpu ? cases[k].gpu.inverse : cases[k].cpu.inverse));
        tsr_wavelet_plan_destroy(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bits), cmocka_unit_test(too_large), cmocka_unit_test(bytes_moved) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
