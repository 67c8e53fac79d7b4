/* Pyramids drawn further: pictures grow with the number of coefficients, a picture that is gone on with is the one drawn at once, and a frame that holds another
 * picture is refused. */
#include "mips.h"

static tsr_mip *build(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *data, const tsr_mip_options *options)
{
    tsr_volume *volume = on_device(context, dtype, n, data);
    tsr_mip *mip;
    require_ok(tsr_mip_build(context, volume, options, &mip));
    tsr_volume_destroy(&volume);
    return mip;
}

/* Pictures grow with K, refinement gives the same as drawing at once, and the error falls. */
static void refines(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    enum { SIDE = 32, PIXELS = 48 };
    uint8_t *data = vessels(SIDE, 5, 8, &seed);
    const tsr_size3 n = { SIDE, SIDE, SIDE };
    for (int format = 0; format < 4; format++)
        for (int mode = 0; mode < 3; mode++) {
            tsr_mip_options o = TSR_MIP_OPTIONS;
            o.format = (tsr_mip_format)format;
            tsr_mip *mip = build(context, TSR_U8, n, data, &o);
            const int64_t all = tsr_mip_describe(mip)->coefficients;
            const tsr_mip_view view = tsr_mip_orbit(30 + 20 * format, 25, 1);
            tsr_mip_frame *frame, *full;
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            tsr_mip_errors errors = TSR_MIP_ERRORS, before = { .relative = INFINITY };
            uint32_t *last = NULL;
            r.mode = (tsr_mip_mode)mode;
            r.close = TSR_MIP_CLOSE_OFF;
            require_ok(tsr_mip_frame_create(context, PIXELS, PIXELS, &frame));
            require_ok(tsr_mip_frame_create(context, PIXELS, PIXELS, &full));
            require_ok(tsr_mip_render(mip, &view, &r, full, NULL));
            for (int step = 1; step <= 5; step++) {
                tsr_mip_statistics s = TSR_MIP_STATISTICS;
                r.fraction = 0;
                r.count = step == 5 ? all : all * step * step / 30;
                r.refine = step > 1;
                require_ok(tsr_mip_render(mip, &view, &r, frame, &s));
                assert_int_equal(s.drawn, r.count);
                require_ok(tsr_mip_compare(frame, full, &errors));
                uint32_t *image = pixels_of(frame, PIXELS, PIXELS);
                r.refine = 0;
                uint32_t *once = drawn(mip, context, &view, &r, PIXELS, PIXELS);
                for (int i = 0; i < PIXELS * PIXELS; i++)
                    if (image[i] != once[i])
                        fail_msg("refined, step %d: pixel (%d, %d) is %u, expected %u", step, i % PIXELS, i / PIXELS, image[i], once[i]);
                for (int i = 0; last && i < PIXELS * PIXELS; i++) assert_true(image[i] >= last[i]);
                assert_true(errors.relative <= before.relative);
                before = errors;
                free(once);
                free(last);
                last = image;
            }
            assert_true(errors.different == 0 && errors.relative == 0 && errors.median == 0 && errors.maximum == 0);
            r.refine = 1;
            r.count = all / 2;
            require_error(tsr_mip_render(mip, &view, &r, frame, NULL), TSR_ERROR_ARGUMENT, "expected no fewer");
            r.count = all;
            r.lower = 7;
            require_error(tsr_mip_render(mip, &view, &r, frame, NULL), TSR_ERROR_STATE, "holds no picture");
            free(last);
            tsr_mip_frame_destroy(&frame);
            tsr_mip_frame_destroy(&full);
            tsr_mip_destroy(&mip);
        }
    free(data);
    tsr_context_destroy(&context);
}

/* Any one thing about the picture that is not what it was: the frame cannot be gone on with, and keeps what it has. The same again can. */
static void another_picture_is_refused(void **state)
{
    (void)state;
    enum { SIDE = 12, PIXELS = 20, WAYS = 15 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    uint8_t *data = vessels(SIDE, 3, 8, &seed);
    tsr_mip *mip = build(context, TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, data, NULL),
            *other = build(context, TSR_U8, (tsr_size3){ SIDE, SIDE, SIDE }, data, NULL);
    const int64_t all = tsr_mip_describe(mip)->coefficients;
    tsr_mip_frame *frame;
    require_ok(tsr_mip_frame_create(context, PIXELS, PIXELS, &frame));
    for (int way = -1; way < WAYS; way++) {
        tsr_mip_view view = tsr_mip_orbit(30, 25, 1);
        tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
        view.stretch = (tsr_vec3){ 1, 1.5, 2 };
        r.mode = TSR_MIP_EXACT;
        r.count = all / 2;
        r.lower = 3;
        r.upper = 200;
        r.slab = way != 14;
        r.slab_lower = -5;
        r.slab_upper = 5;
        require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
        uint32_t *before = pixels_of(frame, PIXELS, PIXELS);
        r.refine = 1;
        r.count = way % 2 ? all / 2 : all; /* not fewer */
        if (way >= 0 && way < 4) view.rotation[way] += 0.25;
        if (way == 4) view.zoom = 1.25;
        if (way == 5) view.stretch.x = 1.25;
        if (way == 6) view.stretch.y = 1.25;
        if (way == 7) view.stretch.z = 1.25;
        if (way == 8) r.lower = 4;
        if (way == 9) r.upper = 199;
        if (way == 10) r.slab_lower = -5.5;
        if (way == 11) r.slab_upper = 5.5;
        if (way == 12) r.slab = 0;
        if (way == 13) r.finest = 1;
        if (way == 14) r.mode = TSR_MIP_SPLAT;
        if (way < 0) {
            require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
        } else {
            uint32_t *after;
            require_error(tsr_mip_render(mip, &view, &r, frame, NULL), TSR_ERROR_STATE, "the frame holds no picture of this pyramid with this view");
            after = pixels_of(frame, PIXELS, PIXELS);
            assert_memory_equal(before, after, PIXELS * PIXELS * 4);
            free(after);
        }
        free(before);
    }
    tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
    const tsr_mip_view view = tsr_mip_orbit(30, 25, 1);
    require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
    r.refine = 1;
    require_error(tsr_mip_render(other, &view, &r, frame, NULL), TSR_ERROR_STATE, "holds no picture of this pyramid");
    r.refine = 0;
    r.count = 1;
    require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
    r.refine = 1; /* one on to one, one on to two, not back */
    require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
    r.count = 2;
    require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
    r.count = 1;
    require_error(tsr_mip_render(mip, &view, &r, frame, NULL), TSR_ERROR_ARGUMENT, "expected no fewer");
    tsr_mip_frame_destroy(&frame);
    tsr_mip_destroy(&mip);
    tsr_mip_destroy(&other);
    free(data);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(refines), cmocka_unit_test(another_picture_is_refused) };
    return cmocka_run_group_tests_name("refinement", tests, NULL, NULL);
}
