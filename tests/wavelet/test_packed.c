/* Planes of int16: by fidelity on a GPU samples stay packed by twos (src/wavelet/packed_cuda.cu); small ones by 5/3, of several levels, have the shortest
 * segments (march.h). Sizes that end anywhere in a lane's words, a warp's strip and a turn of rows, against the CPU's int16: the same bits, and the same
 * transforms refused because a value leaves 16 bits. The CPU's int32, another text, says which values those are. */
#include "device/backend.h"

#include "context.h"

typedef struct plane {
    int64_t size[2], batch, count;
    tsr_wavelet_options options;
    tsr_context *cpu;
    tsr_wavelet_plan *mine, *theirs, *wide;
    int16_t *samples, *expected, *got;
    int32_t *shadow[2];
    void *memory[2], *work;
    size_t bytes, work_bytes;
} plane;

static void plane_begin(plane *p)
{
    tsr_wavelet_info info = TSR_WAVELET_INFO;
    p->count = p->size[0] * p->size[1] * (p->batch ? p->batch : 1);
    p->bytes = (size_t)p->count * sizeof(int16_t);
    require_ok(tsr_wavelet_plan_create(context, TSR_I16, 2, p->size, &p->options, &p->mine));
    require_ok(tsr_wavelet_plan_create(p->cpu, TSR_I16, 2, p->size, &p->options, &p->theirs));
    require_ok(tsr_wavelet_plan_create(p->cpu, TSR_I32, 2, p->size, &p->options, &p->wide));
    tsr_wavelet_plan_describe(p->mine, &info);
    p->work_bytes = (size_t)info.workspace_bytes;
    for (int k = 0; k < 2; k++) require_ok(tsr_device_allocate(context, p->bytes, &p->memory[k]));
    for (int k = 0; k < 2; k++) assert_non_null(p->shadow[k] = (int32_t *)malloc(2 * p->bytes));
    require_ok(tsr_device_allocate(context, p->work_bytes, &p->work));
    p->samples = (int16_t *)malloc(p->bytes);
    p->expected = (int16_t *)malloc(p->bytes);
    p->got = (int16_t *)malloc(p->bytes);
    assert_true(p->samples && p->expected && p->got);
}

static void plane_end(plane *p)
{
    for (int k = 0; k < 2; k++) tsr_device_release(context, p->memory[k], p->bytes);
    for (int k = 0; k < 2; k++) free(p->shadow[k]);
    tsr_device_release(context, p->work, p->work_bytes);
    tsr_wavelet_plan_destroy(&p->mine);
    tsr_wavelet_plan_destroy(&p->theirs);
    tsr_wavelet_plan_destroy(&p->wide);
    free(p->samples);
    free(p->expected);
    free(p->got);
}

/* Transforms p->samples on the CPU and here; are both refused? */
static int plane_transform(plane *p, int inverse)
{
    tsr_status theirs, mine;
    require_ok(tsr_device_move(context, p->memory[0], NULL, p->samples, p->bytes));
    if (inverse) {
        theirs = tsr_wavelet_inverse(p->theirs, p->samples, p->expected, NULL);
        mine = tsr_wavelet_inverse(p->mine, p->memory[0], p->memory[1], p->work);
    } else {
        theirs = tsr_wavelet_forward(p->theirs, p->samples, p->expected, NULL);
        mine = tsr_wavelet_forward(p->mine, p->memory[0], p->memory[1], p->work);
    }
    if (theirs != mine)
        fail_msg("%lld x %lld, boundary %d, %s: status %d, the CPU's %d", (long long)p->size[0], (long long)p->size[1], (int)p->options.boundary,
                 inverse ? "inverse" : "forward", (int)mine, (int)theirs);
    if (mine != TSR_OK) return 1;
    require_ok(tsr_device_move(NULL, p->got, context, p->memory[1], p->bytes));
    for (int64_t i = 0; i < p->count; i++)
        if (p->got[i] != p->expected[i])
            fail_msg("%lld x %lld, boundary %d, %s: %d at %lld, %lld, the CPU's is %d", (long long)p->size[0], (long long)p->size[1],
                     (int)p->options.boundary, inverse ? "inverse" : "forward", (int)p->got[i], (long long)(i % p->size[0]),
                     (long long)(i / p->size[0]), (int)p->expected[i]);
    return 0;
}

static int16_t noise(uint64_t *random, int amplitude) { return (int16_t)((int)(test_random(random) % (2U * (unsigned)amplitude)) - amplitude); }

/* One that is large enough for a GPU to pack it; by 5/3 for segments that are not short. */
static void large(void **state)
{
    (void)state;
    static const tsr_wavelet_filter filters[] = { TSR_WAVELET_FIDELITY, TSR_WAVELET_LEGALL53 };
    uint64_t random = test_seed();
    tsr_context *cpu = test_context_on("cpu", 1);
    for (int k = 0; k < 2; k++) {
        const tsr_wavelet_options none = TSR_WAVELET_OPTIONS;
        plane p = { .size = { 4104, 4099 }, .cpu = cpu, .options = none };
        if (tsr_context_device(context).kind != TSR_DEVICE_CUDA) p.size[0] = 480, p.size[1] = k ? 403 : 203;
        p.options.filter = filters[k];
        p.options.levels = 1 + k;
        plane_begin(&p);
        for (int inverse = 0; inverse < 2; inverse++) {
            for (int64_t i = 0; i < p.count; i++) p.samples[i] = noise(&random, 1 << (k ? 9 : 11));
            assert_int_equal(plane_transform(&p, inverse), 0);
        }
        plane_end(&p);
    }
    tsr_context_destroy(&cpu);
}

static void sizes_of(tsr_wavelet_filter filter, int32_t levels)
{
    static const int64_t width[] = { 16, 24, 224, 232, 456 }, height[] = { 16, 17, 18, 19, 23, 32, 37, 54, 101 };
    uint64_t random = test_seed();
    tsr_context *cpu = test_context_on("cpu", 1);
    for (int boundary = 0; boundary < 4; boundary++)
        for (int y = 0; y < 9; y++) {
            const tsr_wavelet_options none = TSR_WAVELET_OPTIONS;
            plane p = { .size = { width[(y + boundary) % 5], height[y] }, .cpu = cpu, .options = none };
            p.options.filter = filter;
            p.options.boundary = (tsr_wavelet_boundary)boundary;
            p.options.levels = levels;
            p.options.layout = y % 3 == 2 ? TSR_WAVELET_SUBBANDS : TSR_WAVELET_MALLAT;
            if (y % 4 == 1) p.options.batch = p.batch = 2;
            if (boundary == TSR_WAVELET_PERIODIC) p.size[1] = p.size[1] >> levels << levels;
            plane_begin(&p);
            for (int inverse = 0; inverse < 2; inverse++) {
                for (int64_t i = 0; i < p.count; i++) p.samples[i] = noise(&random, 1 << (filter == TSR_WAVELET_FIDELITY ? 11 : 9));
                assert_int_equal(plane_transform(&p, inverse), 0);
            }
            plane_end(&p);
        }
    tsr_context_destroy(&cpu);
}

static void sizes(void **state)
{
    (void)state;
    sizes_of(TSR_WAVELET_FIDELITY, 1);
    sizes_of(TSR_WAVELET_LEGALL53, 2);
    sizes_of(TSR_WAVELET_JPEG53, 3);
}

/* A patch of one value somewhere: at which size is it too large? Coefficients of int32 that are, along x alone or in the end, are refused. */
static void too_large_of(tsr_wavelet_filter filter, int32_t levels)
{
    uint64_t random = test_seed();
    const tsr_wavelet_options none = TSR_WAVELET_OPTIONS;
    plane p = { .size = { 240, 44 }, .cpu = test_context_on("cpu", 1), .options = none };
    int refused = 0, runs = test_is_slow() ? 20 : 100;
    p.options.filter = filter;
    p.options.levels = levels;
    plane_begin(&p);
    for (int run = 0; run < runs; run++) {
        const int inverse = run & 1;
        int32_t most = 0;
        memset(p.samples, 0, p.bytes);
        const int32_t v = 4000 + (int32_t)(test_random(&random) % 8000), width = 1 + (int32_t)(test_random(&random) % 16);
        const int64_t x = (int64_t)(test_random(&random) % (uint64_t)(p.size[0] - width)),
                      y = (int64_t)(test_random(&random) % (uint64_t)(p.size[1] - width));
        for (int32_t k = 0; k < width * width; k++) p.samples[(y + k / width) * p.size[0] + x + k % width] = (int16_t)(run & 2 ? -v : v);
        for (int64_t i = 0; i < p.count; i++) p.shadow[0][i] = p.samples[i];
        if (inverse) require_ok(tsr_wavelet_inverse(p.wide, p.shadow[0], p.shadow[1], NULL));
        else require_ok(tsr_wavelet_forward(p.wide, p.shadow[0], p.shadow[1], NULL));
        for (int64_t i = 0; i < p.count; i++) most = abs(p.shadow[1][i]) > most ? abs(p.shadow[1][i]) : most;
        const int was = plane_transform(&p, inverse);
        if (most > 32768) assert_int_equal(was, 1);
        refused += was;
    }
    assert_in_range(refused, 1, runs - 1);
    plane_end(&p);
    tsr_context_destroy(&p.cpu);
}

static void too_large(void **state)
{
    (void)state;
    too_large_of(TSR_WAVELET_FIDELITY, 1);
    too_large_of(TSR_WAVELET_LEGALL53, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(large), cmocka_unit_test(too_large) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
