/* Nothing crosses the bus between the stages of a pipeline on resident arrays: the emulator counts every copy between host and device. */
#include "support.h"

#include <dlfcn.h>

#include "device/backend.h"

typedef void (*count_function)(int64_t counts[4]);

/* Copies since the last call: uploads, bytes, downloads, bytes. */
static void since(count_function count, int64_t last[4], int64_t moved[4])
{
    int64_t now[4];
    count(now);
    for (int k = 0; k < 4; k++) {
        moved[k] = now[k] - last[k];
        last[k] = now[k];
    }
}

/* Conversion, threshold, a pyramid and its list, scan, gather, scatter, segments, segmented scan, a reduction: ten stages, of which each reads what another wrote. */
static void ten_stages(void **state)
{
    (void)state;
    enum { NX = 20, NY = 12, NZ = 6, N = NX * NY * NZ };
    const char *modules = getenv("TESSERA_MODULES");
    char path[4096];
    tsr_context *context = test_context();
    snprintf(path, sizeof path, "%s/libtessera_emu.so", modules && *modules ? modules : MODULES);
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (!library) fail_msg("the emulator is not loaded from %s", path);
    void *symbol = dlsym(library, "tsr_emu_transfers");
    count_function count;
    assert_non_null(symbol);
    memcpy(&count, &symbol, sizeof count);
    const tsr_size3 size = { NX, NY, NZ };
    static float values[N];
    for (int i = 0; i < N; i++) values[i] = (float)(i % 37) - (float)(i % 5);
    tsr_volume *host, *volume, *smooth = NULL, *whole = NULL, *mask = NULL, *sums = NULL, *order = NULL, *moved_values = NULL, *places = NULL,
                               *work = NULL;
    tsr_pyramid_options options = TSR_PYRAMID_OPTIONS;
    tsr_smooth_options gentle = TSR_SMOOTH_OPTIONS;
    tsr_pyramid *pyramid;
    int64_t last[4] = { 0 }, moved[4];
    require_ok(tsr_volume_wrap(NULL, TSR_F32, size, NULL, values, NULL, NULL, &host));
    since(count, last, moved);
    require_ok(tsr_volume_copy(host, context, &volume));
    since(count, last, moved);
    assert_true(moved[0] == 1 && moved[1] == (int64_t)sizeof values && moved[2] == 0);
    require_ok(tsr_volume_create(context, TSR_U32, size, NULL, &sums));
    require_ok(tsr_volume_create(context, TSR_U32, size, NULL, &order));
    require_ok(tsr_volume_create(context, TSR_U32, size, NULL, &moved_values));
    require_ok(tsr_volume_create(context, TSR_U64, size, NULL, &places));
    require_ok(tsr_volume_create(context, TSR_U8, (tsr_size3){ 1 << 20, 1, 1 }, NULL, &work));
    gentle.sigma = 1;
    options.classifier = TSR_PYRAMID_NONZERO;
    require_ok(tsr_pyramid_create(context, size, &options, &pyramid));
    since(count, last, moved);
    require_ok(tsr_volume_smooth(context, volume, &gentle, &smooth)); /* brings its weights, and asks whether all values are finite */
    since(count, last, moved);
    if (moved[0] != 1 || moved[1] >= 256 || moved[2] != 1 || moved[3] > 8)
        fail_msg("smoothing: %d uploads of %d bytes, %d downloads of %d", (int)moved[0], (int)moved[1], (int)moved[2], (int)moved[3]);
    void *memory = tsr_volume_data(work);
    uint32_t *sum = (uint32_t *)tsr_volume_data(sums), *index = (uint32_t *)tsr_volume_data(order),
             *other = (uint32_t *)tsr_volume_data(moved_values);
    uint64_t *start = (uint64_t *)tsr_volume_data(places), *found = start + N - 1;
    require_ok(tsr_volume_convert(context, volume, TSR_I16, &whole));                                                                       /* 1 */
    require_ok(tsr_volume_threshold(context, whole, 3, 20, &mask));                                                                         /* 2 */
    require_ok(tsr_pyramid_build(pyramid, mask));                                                                                           /* 3 */
    require_ok(tsr_pyramid_indices(pyramid, 0, N, TSR_U32, index));                                                                         /* 4 */
    require_ok(tsr_scan(context, TSR_SCAN_INCLUSIVE, TSR_U8, tsr_volume_data(mask), N, TSR_U32, sum, memory, 1 << 20));                     /* 5 */
    require_ok(tsr_gather(context, sum, 4, N, TSR_U32, index, N, NULL, other));                                                             /* 6 */
    require_ok(tsr_scatter(context, TSR_SCATTER_LAST, other, 4, TSR_U32, index, N, sum, N, NULL, memory, 1 << 20));                         /* 7 */
    require_ok(tsr_segments_from_flags(context, (const uint8_t *)tsr_volume_data(mask), N, TSR_U64, start, N / 2, found, memory, 1 << 20)); /* 8 */
    require_ok(
        tsr_segmented_scan(context, TSR_SCAN_EXCLUSIVE, TSR_U32, sum, N, NULL, TSR_U64, start, N / 4, TSR_U32, other, memory, 1 << 20)); /* 9 */
    require_ok(tsr_reduce(context, TSR_REDUCE_SUM, TSR_U32, other, N, (tsr_reduced *)(void *)found, memory, 1 << 20));                   /* 10 */
    require_ok(tsr_context_synchronize(context));
    since(count, last, moved);
    for (int k = 0; k < 4; k++) assert_int_equal(moved[k], 0);
    tsr_reduced total;
    require_ok(tsr_device_move(NULL, &total, context, found, sizeof total));
    since(count, last, moved);
    assert_true(moved[0] == 0 && moved[2] == 1 && moved[3] == 8);
    tsr_pyramid_destroy(&pyramid);
    tsr_volume *all[] = { host, volume, smooth, whole, mask, sums, order, moved_values, places, work };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) tsr_volume_destroy(&all[k]);
    tsr_context_destroy(&context);
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ten_stages) };
    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
