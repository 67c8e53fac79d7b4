/* Memory of a device: copies there, back and within it, and fills, of sizes on both sides of what a thread takes at a time; nothing beside them changes. */
#include "device/backend.h"
#include "support.h"

enum { MIB = 1 << 20, MOST = 9 * MIB + 7, MARGIN = 64 };

static uint8_t byte_of(int64_t i) { return (uint8_t)(i * 131 + (i >> 8) * 7 + (i >> 16)); }

static void blocks(void **state)
{
    (void)state;
    static const int64_t sizes[] = { 0, 1, 63, 4096, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 8 * MIB, MOST };
    tsr_context *context = test_context();
    const tsr_backend *b = context->backend;
    uint8_t *given = malloc(MOST + 2 * MARGIN), *back = malloc(MOST + 2 * MARGIN);
    void *first, *second;
    require_ok(tsr_device_allocate(context, MOST + 2 * MARGIN, &first));
    require_ok(tsr_device_allocate(context, MOST + 2 * MARGIN, &second));
    for (int64_t i = 0; i < MOST + 2 * MARGIN; i++) given[i] = byte_of(i);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t n = sizes[k];
        /* all of it to 0xa5, then a part of it from the host, a part of that to the other, and back into a part */
        require_ok(b->fill(context->queue, first, 0xa5, MOST + 2 * MARGIN));
        require_ok(b->fill(context->queue, second, 0x5a, MOST + 2 * MARGIN));
        require_ok(b->upload(context->queue, (char *)first + MARGIN, given, (size_t)n));
        require_ok(b->copy(context->queue, (char *)second + MARGIN, (char *)first + MARGIN, (size_t)n));
        require_ok(b->download(context->queue, back, first, MOST + 2 * MARGIN));
        for (int64_t i = 0; i < MOST + 2 * MARGIN; i++) {
            const uint8_t expected = i < MARGIN || i >= n + MARGIN ? 0xa5 : byte_of(i - MARGIN);
            if (back[i] != expected) fail_msg("upload of %lld: byte %lld is %d, expected %d", (long long)n, (long long)i, back[i], expected);
        }
        memset(back, 0x77, MOST + 2 * MARGIN);
        require_ok(b->download(context->queue, back + MARGIN, (char *)second + MARGIN, (size_t)n));
        for (int64_t i = 0; i < MOST + 2 * MARGIN; i++) {
            const uint8_t expected = i < MARGIN || i >= n + MARGIN ? 0x77 : byte_of(i - MARGIN);
            if (back[i] != expected)
                fail_msg("copy and download of %lld: byte %lld is %d, expected %d", (long long)n, (long long)i, back[i], expected);
        }
        require_ok(b->fill(context->queue, (char *)second + MARGIN, 0x3c, (size_t)n));
        require_ok(b->download(context->queue, back, second, MOST + 2 * MARGIN));
        for (int64_t i = 0; i < MOST + 2 * MARGIN; i++)
            if (back[i] != (i < MARGIN || i >= n + MARGIN ? 0x5a : 0x3c))
                fail_msg("fill of %lld: byte %lld is %d", (long long)n, (long long)i, back[i]);
        /* and by the public call, from and to the host and within the device */
        require_ok(tsr_device_move(context, first, NULL, given, (size_t)n));
        require_ok(tsr_device_move(context, second, context, first, (size_t)n));
        require_ok(tsr_device_move(NULL, back, context, second, (size_t)n));
        assert_memory_equal(back, given, (size_t)n);
    }
    tsr_device_release(context, first, MOST + 2 * MARGIN);
    tsr_device_release(context, second, MOST + 2 * MARGIN);
    free(given);
    free(back);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(blocks) };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
