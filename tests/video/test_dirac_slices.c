/* Slices coded and decoded on a device, several pictures at once: the bytes and the samples of the CPU, to the bit. */
#include "context.h"
#include "dirac_films.h"
#include "device/backend.h"
#include "dirac_model_bits.h"
#include "video/slices/picture_graph.h"

static tsr_context *host;

static tsr_dirac_encode_options some_options(uint64_t *seed, film *f)
{
    static const tsr_chroma chromas[] = { TSR_CHROMA_420, TSR_CHROMA_422, TSR_CHROMA_444 };
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    *f = (film){ .format = { .width = 2 * model_between(seed, 8, 50),
                             .height = 4 * model_between(seed, 4, 16),
                             .chroma = chromas[model_below(seed, 3)],
                             .bits = model_between(seed, 8, 12) },
                 .speed = { 1.5, -0.75 },
                 .contrast = 0.5 };
    o.format = f->format;
    o.wavelet = model_between(seed, 1, 7);
    o.depth = model_between(seed, 1, 4);
    o.fields = model_chance(seed, 4);
    o.interlaced = o.fields ? 1 + model_below(seed, 2) : 0;
    if (model_chance(seed, 3)) {
        o.slice[0] = 8 << o.depth;
        o.slice[1] = 4 << o.depth;
    }
    if (model_chance(seed, 4)) {
        o.wavelet_horizontal = model_between(seed, 1, 7);
        o.depth_horizontal = model_below(seed, 2);
        o.slice[0] = o.slice[1] = 0;
    }
    o.fragment = model_chance(seed, 4) ? model_between(seed, 1, 5) : 0;
    o.compatible = model_chance(seed, 4);
    switch (model_below(seed, 4)) {
    case 0: o.lossless = 1; break;
    case 1: o.quantiser = 1 + model_below(seed, 40); break;
    case 2: o.bit_rate = 25 * 8 * (int64_t)o.format.width * o.format.height; break;
    default: o.picture_bytes = (int64_t)o.format.width * o.format.height / model_between(seed, 1, 4) + 200;
    }
    return o;
}

static void encode_on(tsr_context *where, const film *f, const tsr_dirac_encode_options *o, int frames, film_bytes *stream)
{
    tsr_context *const own = context;
    context = where;
    film_encode(f, frames, o, stream);
    context = own;
}

/* All frames behind one another; *damaged of them. */
static void decode_on(tsr_context *where, const film_bytes *stream, int32_t ahead, film_bytes *frames, int *damaged)
{
    tsr_dirac_decode_options o = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    int more = 1;
    frames->size = 0;
    *damaged = 0;
    o.ahead = ahead;
    require_ok(tsr_dirac_decoder_create(where, &o, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream->at, stream->size));
    require_ok(tsr_dirac_decoder_end(decoder));
    while (more) {
        require_ok(tsr_dirac_decoder_next(decoder, &frame, &info, &more));
        if (!more) break;
        film_append(frames, frame.plane[0], (size_t)frame.bytes);
        *damaged += info.damaged;
    }
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
}

static void device_and_host_agree(void **state)
{
    uint64_t seed = test_seed();
    film_bytes there = { 0 }, here = { 0 }, shown = { 0 }, expected = { 0 };
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 4 : 24); turn++) {
        film f;
        tsr_dirac_encode_options o = some_options(&seed, &f);
        int damaged = 0, damaged_here = 0;
        const int frames = 5;
        encode_on(host, &f, &o, frames, &here);
        o.ahead = model_between(&seed, 1, 4);
        encode_on(context, &f, &o, frames, &there);
        if (there.size != here.size || memcmp(there.at, here.at, here.size))
            fail_msg("turn %d: %zu bytes, on the CPU %zu (wavelet %d, depth %d, ahead %d)", turn, there.size, here.size, o.wavelet, o.depth, o.ahead);
        for (int hurt = 0; hurt < 2; hurt++) { /* whole; with bytes that are wrong */
            for (int k = 0; hurt && k < 6; k++) here.at[model_between(&seed, 60, (int)here.size - 14)] ^= (unsigned char)model_between(&seed, 1, 255);
            decode_on(host, &here, 1, &expected, &damaged_here);
            decode_on(context, &here, model_between(&seed, 1, 5), &shown, &damaged);
            if (shown.size != expected.size || damaged != damaged_here || memcmp(shown.at, expected.at, expected.size))
                fail_msg("turn %d, %s: other samples than on the CPU (wavelet %d, depth %d)", turn, hurt ? "damaged" : "whole", o.wavelet, o.depth);
        }
    }
    free(there.at);
    free(here.at);
    free(shown.at);
    free(expected.at);
}

static void low_delay_too(void **state)
{
    uint64_t seed = test_seed();
    film_bytes stream = { 0 }, shown = { 0 }, expected = { 0 };
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 2 : 8); turn++) {
        film f;
        int damaged = 0;
        tsr_dirac_encode_options o = some_options(&seed, &f);
        o.coding = TSR_DIRAC_CODING_LOW_DELAY;
        o.lossless = 0;
        o.quantiser = 0;
        o.bit_rate = 0;
        o.picture_bytes = 3 * (int64_t)o.format.width * o.format.height / 2 + 500;
        encode_on(host, &f, &o, 4, &expected);
        o.ahead = 3;
        encode_on(context, &f, &o, 4, &stream);
        if (stream.size != expected.size || memcmp(stream.at, expected.at, expected.size))
            fail_msg("turn %d: %zu bytes, on the CPU %zu (wavelet %d, depth %d, fragment %d)", turn, stream.size, expected.size, o.wavelet, o.depth,
                     o.fragment);
        decode_on(host, &stream, 1, &expected, &damaged);
        decode_on(context, &stream, 3, &shown, &damaged);
        assert_int_equal(damaged, 0);
        assert_int_equal(shown.size, expected.size);
        assert_memory_equal(shown.at, expected.at, expected.size);
    }
    free(stream.at);
    free(shown.at);
    free(expected.at);
}

/* Core syntax with variable-length codes: sub-bands are coded and decoded on the device. */
static void variable_codes_too(void **state)
{
    uint64_t seed = test_seed();
    film_bytes stream = { 0 }, shown = { 0 }, expected = { 0 };
    (void)state;
    for (int turn = 0; turn < (test_is_slow() ? 3 : 12); turn++) {
        film f;
        int damaged = 0, damaged_here = 0;
        tsr_dirac_encode_options o = some_options(&seed, &f);
        o.coding = TSR_DIRAC_CODING_VARIABLE;
        o.wavelet_horizontal = o.depth_horizontal = o.fragment = 0;
        o.slice[0] = o.slice[1] = 0;
        o.picture_bytes = 0;
        encode_on(host, &f, &o, 3, &expected);
        encode_on(context, &f, &o, 3, &stream);
        if (stream.size != expected.size || memcmp(stream.at, expected.at, expected.size))
            fail_msg("turn %d: %zu bytes, on the CPU %zu (wavelet %d, depth %d)", turn, stream.size, expected.size, o.wavelet, o.depth);
        for (int hurt = 0; hurt < 2; hurt++) { /* whole; with bytes that are wrong */
            for (int k = 0; hurt && k < 6; k++)
                stream.at[model_between(&seed, 60, (int)stream.size - 14)] ^= (unsigned char)model_between(&seed, 1, 255);
            decode_on(host, &stream, 1, &expected, &damaged_here);
            decode_on(context, &stream, 1, &shown, &damaged);
            if (shown.size != expected.size || damaged != damaged_here || memcmp(shown.at, expected.at, expected.size))
                fail_msg("turn %d, %s: other samples than on the CPU (wavelet %d, depth %d)", turn, hurt ? "damaged" : "whole", o.wavelet, o.depth);
        }
    }
    free(stream.at);
    free(shown.at);
    free(expected.at);
}

/* Slices of a fixed size whose matrix leaves no quantiser that is coarse enough. */
static void what_does_not_fit_is_refused(void **state)
{
    const film f = { .format = { .width = 64, .height = 32, .chroma = TSR_CHROMA_420, .bits = 8 }, .contrast = 0.5 };
    const int32_t matrix[4] = { 200, 200, 200, 200 };
    tsr_video_frame frame = { .bytes = 0 };
    (void)state;
    film_frame(&f, 0, &frame);
    for (int low_delay = 0; low_delay < 2; low_delay++) {
        tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
        tsr_dirac_encoder *encoder = NULL;
        const void *bytes = NULL;
        size_t size = 0;
        o.format = f.format;
        o.coding = low_delay ? TSR_DIRAC_CODING_LOW_DELAY : TSR_DIRAC_CODING_HIGH_QUALITY;
        o.depth = 1;
        o.matrix = matrix;
        o.matrix_count = 4;
        o.picture_bytes = 200;
        require_ok(tsr_dirac_encoder_create(context, &o, &encoder));
        assert_int_equal(tsr_dirac_encoder_frame(encoder, &frame, &bytes, &size), TSR_ERROR_CAPACITY);
        assert_non_null(strstr(tsr_error_message(), "do not fit with the coarsest quantiser"));
        tsr_dirac_encoder_destroy(&encoder);
    }
    tsr_video_frame_destroy(&frame);
}

/* From device memory to device memory, with the time of each stage. */
static void frames_stay_on_the_device(void **state)
{
    const film f = { .format = { .width = 96, .height = 64, .chroma = TSR_CHROMA_422, .bits = 10 }, .speed = { 1, 2 }, .contrast = 0.5 };
    tsr_dirac_encode_options o = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_decode_options d = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_profile coded = TSR_DIRAC_PROFILE, decoded = TSR_DIRAC_PROFILE;
    tsr_dirac_encoder *encoder = NULL;
    tsr_dirac_decoder *decoder = NULL;
    tsr_dirac_device_frame there = TSR_DIRAC_DEVICE_FRAME;
    tsr_video_frame frame[5] = { { .bytes = 0 } };
    film_bytes stream = { 0 };
    void *planes = NULL, *back = NULL;
    const void *bytes = NULL;
    size_t size = 0;
    int more = 1, count = 0;
    (void)state;
    coded.synchronise = decoded.synchronise = 1;
    o.format = f.format;
    o.lossless = 1;
    o.ahead = 2;
    o.profile = &coded;
    require_ok(tsr_dirac_encoder_create(context, &o, &encoder));
    for (int t = 0; t < 5; t++) {
        film_frame(&f, t, &frame[t]);
        if (!planes) require_ok(tsr_device_allocate(context, (size_t)frame[t].bytes, &planes));
        require_ok(context->backend->upload(context->queue, planes, frame[t].plane[0], (size_t)frame[t].bytes));
        require_ok(tsr_dirac_encoder_frame_on_device(encoder, planes, &bytes, &size));
        if (context->device.kind != TSR_DEVICE_CPU) assert_int_equal(size != 0, t % 2);
        film_append(&stream, bytes, size);
    }
    require_ok(tsr_dirac_encoder_end(encoder, &bytes, &size));
    film_append(&stream, bytes, size);
    d.ahead = 3;
    d.profile = &decoded;
    require_ok(tsr_dirac_decoder_create(context, &d, &decoder));
    require_ok(tsr_dirac_decoder_push(decoder, stream.at, stream.size));
    require_ok(tsr_dirac_decoder_end(decoder));
    back = malloc((size_t)frame[0].bytes);
    assert_non_null(back);
    for (;;) {
        require_ok(tsr_dirac_decoder_next_on_device(decoder, &there, NULL, &more));
        if (!more) break;
        assert_int_equal(there.bytes, frame[count].bytes);
        require_ok(context->backend->download(context->queue, back, there.plane[0], (size_t)there.bytes));
        assert_memory_equal(back, frame[count].plane[0], (size_t)there.bytes);
        count++;
    }
    assert_int_equal(count, 5);
    assert_int_equal(decoded.pictures[0], 5);
    for (int k = TSR_DIRAC_RESIDUAL_DECODE; k <= TSR_DIRAC_COMBINE; k++) {
        assert_true(decoded.seconds[k][0] > 0 && decoded.seconds[k][1] == 0);
        if (context->device.kind != TSR_DEVICE_CPU) assert_true(coded.seconds[k][0] > 0);
    }
    for (int t = 0; t < 5; t++) tsr_video_frame_destroy(&frame[t]);
    tsr_device_release(context, planes, (size_t)there.bytes);
    tsr_dirac_decoder_destroy(&decoder);
    tsr_dirac_encoder_destroy(&encoder);
    free(stream.at);
    free(back);
}

static int open_both(void **state)
{
    tsr_context_options cpu = TSR_CONTEXT_OPTIONS;
    cpu.device = "cpu";
    require_ok(tsr_context_create(&cpu, &host));
    return open_context(state);
}
static int close_both(void **state)
{
    assert_int_equal(tsr_context_memory(host)->current_bytes, 0);
    tsr_context_destroy(&host);
    return close_context(state);
}

/* A byte of device memory counts what is really done. */
typedef struct asked {
    uint8_t *memory;
    int byte, calls, fails;
} asked;

static tsr_status fill_once_more(void *user)
{
    asked *a = user;
    a->calls++;
    if (a->fails) TSR_FAIL(TSR_ERROR_INTERNAL, "it fails");
    return context->backend->fill(context->queue, a->memory, a->byte, 64);
}

static void require_filled(asked *a, tsr_picture_graph *graph, int64_t key, int byte, int calls)
{
    uint8_t found[64];
    a->byte = byte;
    require_ok(context->backend->fill(context->queue, a->memory, 0, 64));
    require_ok(tsr_picture_graph_run(graph, context, &key, 1, fill_once_more, a));
    require_ok(context->backend->download(context->queue, found, a->memory, 64));
    for (int k = 0; k < 64; k++) assert_int_equal(found[k], byte);
    assert_int_equal(a->calls, calls);
}

/* Once as it is, once recorded, then from the record, until the key is another; each time the work is done. */
static void work_that_comes_again_is_recorded(void **state)
{
    const int recorded = context->backend->dirac->record != NULL;
    asked a = { .calls = 0 };
    tsr_picture_graph graph = { .calls = 0 };
    int64_t key = 3;
    (void)state;
    require_ok(tsr_device_allocate(context, 64, (void **)&a.memory));
    for (int turn = 1; turn <= 5; turn++) require_filled(&a, &graph, 1, 7, recorded && turn > 2 ? 2 : turn);
    a.calls = 0;
    require_filled(&a, &graph, 2, 9, 1);
    require_filled(&a, &graph, 1, 11, 2);
    a.fails = 1; /* while it is recorded: done without from then on */
    for (int turn = 0; turn < 2; turn++)
        require_error(tsr_picture_graph_run(&graph, context, &key, 1, fill_once_more, &a), TSR_ERROR_INTERNAL, "it fails");
    a.fails = a.calls = 0;
    for (int turn = 1; turn <= 3; turn++) require_filled(&a, &graph, 3, 13, turn);
    tsr_picture_graph_free(&graph);
    tsr_device_release(context, a.memory, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_and_host_agree),     cmocka_unit_test(low_delay_too),
        cmocka_unit_test(variable_codes_too),        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(frames_stay_on_the_device), cmocka_unit_test(work_that_comes_again_is_recorded),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
