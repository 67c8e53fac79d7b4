/* Pyramids in parts: over several contexts, and from files piece by piece, draw the pixels of the whole; what is refused. */
#include "mips.h"
#include "device/backend.h"
#include "formats/scratch.h"

static tsr_mip *build(tsr_context *context, tsr_size3 n, tsr_dtype dtype, tsr_mip_format format, uint64_t *seed)
{
    tsr_mip_options o = TSR_MIP_OPTIONS;
    void *data = random_values(dtype, n, seed);
    tsr_volume *volume = on_device(context, dtype, n, data);
    tsr_mip *mip;
    o.format = format;
    o.key = (tsr_mip_key)(test_random(seed) % 4);
    o.levels = 1 + (int32_t)(test_random(seed) % 3);
    o.element = test_random(seed) % 4 ? TSR_MIP_CUBE2 : TSR_MIP_CROSS6;
    require_ok(tsr_mip_build(context, volume, &o, &mip));
    tsr_volume_destroy(&volume);
    free(data);
    return mip;
}

static tsr_mip_render_options random_options(uint64_t *seed, int64_t coefficients, int k)
{
    tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
    o.mode = (tsr_mip_mode)(k % 3);
    if (k % 4) o.count = 1 + (int64_t)(test_random(seed) % (uint64_t)coefficients);
    if (k % 5 == 0) o.finest = 1;
    if (o.mode == TSR_MIP_EXACT && k % 2) {
        o.slab = 1;
        o.slab_lower = -10;
        o.slab_upper = 4;
    }
    return o;
}

static void require_same(const uint32_t *a, const uint32_t *b, int64_t pixels, const char *what, int k)
{
    for (int64_t i = 0; i < pixels; i++)
        if (a[i] != b[i]) fail_msg("%s, picture %d: pixel %lld is %u, expected %u", what, k, (long long)i, a[i], b[i]);
}

enum { WIDTH = 60, HEIGHT = 44, PIXELS = WIDTH * HEIGHT };

/* Two and three contexts of one device stand for as many devices. */
static void groups_draw_the_whole(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *contexts[3];
    for (int k = 0; k < 3; k++) contexts[k] = test_context();
    for (int m = 0; m < (test_is_slow() ? 2 : 3); m++) {
        const tsr_size3 n = { 40 + (int64_t)(test_random(&seed) % 50), 33, 1 + (int64_t)(test_random(&seed) % 70) };
        tsr_mip *mip = build(contexts[0], n, m % 2 ? TSR_U8 : TSR_U16, TSR_MIP_BRICKS, &seed);
        const int64_t all = tsr_mip_describe(mip)->coefficients;
        tsr_mip_group *group;
        tsr_mip_frame *frame;
        require_ok(tsr_mip_group_create(contexts, 2 + m % 2, mip, &group));
        assert_int_equal(tsr_mip_group_describe(group)->coefficients, all);
        assert_true(tsr_mip_group_describe(group)->device_bytes <= tsr_mip_describe(mip)->device_bytes);
        require_ok(tsr_mip_frame_create(contexts[0], WIDTH, HEIGHT, &frame));
        for (int k = 0; k < 6; k++) {
            const tsr_mip_view view = k % 3 ? random_view(&seed, 0.7) : aligned_view(k);
            const tsr_mip_render_options o = random_options(&seed, all, k);
            tsr_mip_statistics s = TSR_MIP_STATISTICS;
            uint32_t *want = drawn(mip, contexts[0], &view, &o, WIDTH, HEIGHT);
            require_ok(tsr_mip_group_render(group, &view, &o, frame, &s));
            uint32_t *got = pixels_of(frame, WIDTH, HEIGHT);
            require_same(got, want, PIXELS, "group", k);
            assert_true(s.drawn == (o.count ? o.count : all));
            free(got);
            free(want);
        }
        tsr_mip_frame_destroy(&frame);
        tsr_mip_group_destroy(&group);
        tsr_mip_destroy(&mip);
    }
    for (int k = 0; k < 3; k++) tsr_context_destroy(&contexts[k]);
}

/* A pyramid that lies in the host's memory is dealt out to other devices: none of them has held the whole. */
static void groups_of_a_pyramid_on_the_host(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    const tsr_size3 n = { 70, 50, 40 };
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_context *contexts[2] = { test_context(), test_context() }, *host;
    tsr_mip_group *group;
    tsr_mip_frame *frame;
    options.device = "cpu";
    require_ok(tsr_context_create(&options, &host));
    tsr_mip *mip = build(host, n, TSR_U8, TSR_MIP_BRICKS, &seed);
    const tsr_mip_info whole = *tsr_mip_describe(mip);
    const tsr_mip_view view = random_view(&seed, 0.7);
    uint32_t *want = drawn(mip, host, &view, NULL, WIDTH, HEIGHT);
    tsr_context_reset_peak(contexts[1]);
    require_ok(tsr_mip_group_create(contexts, 2, mip, &group));
    assert_true(tsr_context_memory(contexts[1])->peak_bytes < whole.device_bytes);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&host);
    require_ok(tsr_mip_frame_create(contexts[0], WIDTH, HEIGHT, &frame));
    require_ok(tsr_mip_group_render(group, &view, NULL, frame, NULL));
    uint32_t *got = pixels_of(frame, WIDTH, HEIGHT);
    require_same(got, want, PIXELS, "group of the host's", 0);
    free(got);
    free(want);
    tsr_mip_frame_destroy(&frame);
    tsr_mip_group_destroy(&group);
    for (int k = 0; k < 2; k++) tsr_context_destroy(&contexts[k]);
}

/* The least limit that a file can be drawn with, by the error's word; one byte less is refused. */
static int64_t least_limit(tsr_context *context, const char *path)
{
    tsr_mip_stream_options options = TSR_MIP_STREAM_OPTIONS;
    tsr_mip_stream *stream;
    long long least = 0;
    options.memory_limit = 1;
    require_error(tsr_mip_stream_create(context, path, &options, &stream), TSR_ERROR_CAPACITY, "memory_limit is 1, expected at least");
    assert_null(stream);
    assert_int_equal(sscanf(strstr(tsr_error_message(), "at least"), "at least %lld", &least), 1);
    options.memory_limit = least - 1;
    require_error(tsr_mip_stream_create(context, path, &options, &stream), TSR_ERROR_CAPACITY, "expected at least");
    return least;
}

static void streams_draw_the_whole(void **state)
{
    static const int64_t limits[4] = { 1, 2, 3, 0 }; /* times the least */
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const char *path = scratch("stream.mip");
    for (int m = 0; m < (test_is_slow() ? 4 : 8); m++) { /* all formats; the smallest pieces of values of 8 bits, whose bins are few */
        const tsr_size3 n = { 30 + (int64_t)(test_random(&seed) % 30), 35, 1 + (int64_t)(test_random(&seed) % 40) };
        const int wide = m % 3 == 2;
        tsr_mip *mip = build(context, n, wide ? TSR_U16 : TSR_U8, (tsr_mip_format)(m % 4), &seed);
        const tsr_mip_info whole = *tsr_mip_describe(mip);
        const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
        require_ok(tsr_mip_write(mip, path, &write));
        tsr_mip_stream_options options = TSR_MIP_STREAM_OPTIONS;
        const int64_t least = least_limit(context, path);
        options.memory_limit = least * limits[wide ? 1 + m % 3 : m / 2 % 4];
        tsr_mip_stream *stream;
        tsr_mip_frame *frame;
        require_ok(tsr_mip_stream_create(context, path, &options, &stream));
        const tsr_mip_info info = *tsr_mip_stream_describe(stream);
        assert_int_equal(info.coefficients, whole.coefficients);
        for (int j = 0; j <= whole.levels; j++) assert_int_equal(info.by_level[j], whole.by_level[j]);
        if (options.memory_limit == least && whole.bricks > 4) assert_true(info.device_bytes < whole.device_bytes);
        require_ok(tsr_mip_frame_create(context, WIDTH, HEIGHT, &frame));
        for (int k = 0; k < 3; k++) {
            const tsr_mip_view view = k % 3 ? random_view(&seed, 0.7) : aligned_view(k + m);
            const tsr_mip_render_options o = random_options(&seed, whole.coefficients, k + m);
            char what[96];
            snprintf(what, sizeof what, "stream of format %d, limit %lld", (int)whole.format, (long long)options.memory_limit);
            uint32_t *want = drawn(mip, context, &view, &o, WIDTH, HEIGHT);
            require_ok(tsr_mip_stream_render(stream, &view, &o, frame, NULL));
            uint32_t *got = pixels_of(frame, WIDTH, HEIGHT);
            require_same(got, want, PIXELS, what, k);
            free(got);
            free(want);
        }
        tsr_mip_frame_destroy(&frame);
        tsr_mip_stream_destroy(&stream);
        tsr_mip_destroy(&mip);
    }
    tsr_context_destroy(&context);
}

static int stop_at_once(void *user, double fraction, const char *stage)
{
    (void)fraction;
    (void)stage;
    return *(int *)user;
}

static void refuses(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_size3 n = { 40, 40, 40 };
    tsr_mip *mip = build(context, n, TSR_U8, TSR_MIP_BRICKS, &seed), *list = build(context, n, TSR_U8, TSR_MIP_LIST6, &seed);
    tsr_mip_group *group;
    tsr_mip_stream *stream;
    tsr_mip_frame *frame;
    char path[512];
    int stop = 1;
    require_error(tsr_mip_group_create(&context, 0, mip, &group), TSR_ERROR_ARGUMENT, "0 contexts, expected 1 to 64");
    require_error(tsr_mip_group_create(&context, 1, list, &group), TSR_ERROR_ARGUMENT, "format bricks");
    require_error(tsr_mip_group_create(NULL, 1, mip, &group), TSR_ERROR_ARGUMENT, "NULL");
    assert_null(group);
    snprintf(path, sizeof path, "%s", scratch("refuse.mip"));
    const char *packed = scratch("refuse.mip.gz");
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
    require_ok(tsr_mip_write(mip, path, &write));
    require_ok(tsr_mip_write(mip, packed, &write));
    require_error(tsr_mip_stream_create(context, packed, NULL, &stream), TSR_ERROR_UNSUPPORTED, "needs a plain file");
    tsr_mip_stream_options options = TSR_MIP_STREAM_OPTIONS;
    options.memory_limit = -1;
    require_error(tsr_mip_stream_create(context, path, &options, &stream), TSR_ERROR_ARGUMENT, "memory_limit is -1");
    options.memory_limit = least_limit(context, path);
    options.progress = (tsr_progress){ stop_at_once, &stop };
    require_error(tsr_mip_stream_create(context, path, &options, &stream), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(stream);
    stop = 0;
    require_ok(tsr_mip_stream_create(context, path, &options, &stream));
    require_ok(tsr_mip_frame_create(context, 20, 20, &frame));
    tsr_mip_render_options o = TSR_MIP_RENDER_OPTIONS;
    o.refine = 1;
    require_error(tsr_mip_stream_render(stream, NULL, &o, frame, NULL), TSR_ERROR_ARGUMENT, "refine is for pyramids in memory");
    o.refine = 0;
    stop = 1;
    require_error(tsr_mip_stream_render(stream, NULL, &o, frame, NULL), TSR_ERROR_CANCELLED, "cancelled");
    stop = 0;
    /* the file changes while it is open: the last residual becomes 0 */
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, -1, SEEK_END);
    fputc(0, f);
    fclose(f);
    require_error(tsr_mip_stream_render(stream, NULL, &o, frame, NULL), TSR_ERROR_FORMAT, "out of order or range");
    tsr_mip_frame_destroy(&frame);
    tsr_mip_stream_destroy(&stream);
    require_error(tsr_mip_stream_create(context, path, NULL, &stream), TSR_ERROR_FORMAT, "the file is damaged");
    tsr_mip_destroy(&list);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

/* Any bit of the file, most of which no other check sees. */
static void streams_see_damage(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    char path[512];
    snprintf(path, sizeof path, "%s", scratch("damage.mip"));
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
    for (int m = 0; m < 4; m++) {
        tsr_mip *mip = build(context, (tsr_size3){ 50, 45, 61 }, m % 2 ? TSR_U8 : TSR_U16, (tsr_mip_format)m, &seed);
        tsr_mip_stream *stream;
        require_ok(tsr_mip_write(mip, path, &write));
        FILE *f = fopen(path, "r+b");
        assert_non_null(f);
        fseek(f, 0, SEEK_END);
        const long size = ftell(f);
        assert_true(size > 2 << 16); /* steps of the sum */
        for (int k = 0; k < 12; k++) {
            const long at = k == 0 ? 256 /* the matrix */ : k == 1 ? size - 1 : 760 + (long)(test_random(&seed) % (uint64_t)(size - 760));
            fseek(f, at, SEEK_SET);
            const int own = fgetc(f), other = own ^ 1 << (k == 0 ? 0 : test_random(&seed) % 8);
            fseek(f, at, SEEK_SET);
            fputc(other, f);
            fflush(f);
            require_error(tsr_mip_stream_create(context, path, NULL, &stream), TSR_ERROR_FORMAT, "the file is damaged");
            assert_null(stream);
            fseek(f, at, SEEK_SET);
            fputc(own, f);
            fflush(f);
        }
        fclose(f);
        require_ok(tsr_mip_stream_create(context, path, NULL, &stream));
        tsr_mip_stream_destroy(&stream);
        tsr_mip_destroy(&mip);
    }
    tsr_context_destroy(&context);
}

/* A pyramid can be cancelled at any report, and leaves no memory behind. */
static int stop_at(void *user, double fraction, const char *stage)
{
    double *calls = (double *)user; /* calls left, last fraction */
    (void)stage;
    if (!(fraction >= calls[1] && fraction <= 1)) fail_msg("progress went from %g to %g", calls[1], fraction);
    calls[1] = fraction;
    return calls[0]-- <= 0;
}
static void cancelled(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    uint8_t *voxels = vessels(12, 2, 9, &seed);
    tsr_volume *volume = on_device(context, TSR_U8, (tsr_size3){ 12, 12, 12 }, voxels);
    tsr_mip_options options = TSR_MIP_OPTIONS;
    const int64_t before = tsr_context_memory(context)->current_bytes;
    int reports = 0;
    options.hide = options.measure = 1;
    for (int format = 0; format < 2; format++) {
        options.format = format ? TSR_MIP_LIST4 : TSR_MIP_BRICKS;
        for (int calls = 0;; calls++) {
            double left[2] = { calls, 0 };
            tsr_mip *mip;
            options.progress = (tsr_progress){ stop_at, left };
            const tsr_status status = tsr_mip_build(context, volume, &options, &mip);
            if (status == TSR_OK) {
                tsr_mip_destroy(&mip);
                reports += calls;
                break;
            }
            assert_int_equal(status, TSR_ERROR_CANCELLED);
            assert_null(mip);
            assert_int_equal(tsr_context_memory(context)->current_bytes, before);
            calls += calls > 12 ? 15 : 0; /* of the errors' 48 some will do */
        }
    }
    assert_true(reports > 80); /* both formats */
    free(voxels);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
}

/* A device's memory of which only so much is granted. */
typedef struct room {
    tsr_context *context;
    size_t left;
} room;
static void *take(void *user, size_t bytes, size_t alignment)
{
    room *r = (room *)user;
    void *memory = NULL;
    (void)alignment;
    if (bytes > r->left) return NULL;
    require_ok(r->context->backend->allocate(r->context->queue, bytes, &memory));
    r->left -= bytes;
    return memory;
}
static void give(void *user, void *memory, size_t bytes)
{
    room *r = (room *)user;
    r->left += bytes;
    r->context->backend->release(r->context->queue, memory, bytes);
}

/* A pyramid that has no room says what it takes and what to do; pieces of it, or a part that is kept, have room. */
static void short_of_memory(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const char *device = getenv("TESSERA_DEVICE");
    tsr_mip *mip = build(context, (tsr_size3){ 70, 65, 64 }, TSR_U8, TSR_MIP_BRICKS, &seed), *back;
    const tsr_mip_info info = *tsr_mip_describe(mip);
    const char *path = scratch("short.mip");
    const tsr_write_options write = { .struct_size = sizeof write, .overwrite = 1 };
    require_ok(tsr_mip_write(mip, path, &write));
    room little = { .left = (size_t)info.device_bytes - 1 };
    tsr_context_options o = TSR_CONTEXT_OPTIONS;
    tsr_context *small;
    char words[96];
    long long needed = 0, coefficients = 0, of_them = 0;
    o.device = device && *device ? device : "cpu";
    o.device_allocator = (tsr_allocator){ take, give, &little };
    require_ok(tsr_context_create(&o, &small));
    little.context = small;
    snprintf(words, sizeof words, "no room for %lld bytes", (long long)info.device_bytes);
    require_error(tsr_mip_read(small, path, NULL, &back), TSR_ERROR_MEMORY, words);
    assert_null(back);
    assert_int_equal(sscanf(strstr(tsr_error_message(), "no room"), "no room for %lld bytes, of which %lld coefficients take %lld", &needed,
                            &coefficients, &of_them),
                     3);
    assert_int_equal(coefficients, info.coefficients);
    assert_true(of_them > coefficients && of_them < needed);
    assert_non_null(strstr(tsr_error_message(), "--keep"));
    assert_non_null(strstr(tsr_error_message(), "--stream"));
    assert_int_equal(little.left, (size_t)info.device_bytes - 1);
    tsr_mip_stream_options pieces = TSR_MIP_STREAM_OPTIONS;
    tsr_mip_stream *stream;
    pieces.memory_limit = least_limit(context, path);
    require_ok(tsr_mip_stream_create(small, path, &pieces, &stream));
    tsr_mip_stream_destroy(&stream);
    little.left++;
    require_ok(tsr_mip_read(small, path, NULL, &back));
    tsr_mip_destroy(&back);
    tsr_context_destroy(&small);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(groups_draw_the_whole),
                                        cmocka_unit_test(groups_of_a_pyramid_on_the_host),
                                        cmocka_unit_test(streams_draw_the_whole),
                                        cmocka_unit_test(streams_see_damage),
                                        cmocka_unit_test(refuses),
                                        cmocka_unit_test(short_of_memory),
                                        cmocka_unit_test(cancelled) };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
