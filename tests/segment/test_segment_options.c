/* The options of a segmentation: their limits from both sides, by name and in the struct; what cannot change afterwards, one thing at a time; what a change of
 * several becomes. */
#include <math.h>

#include "segment/segment.h"
#include "support.h"

typedef struct limit {
    const char *name;
    double lower, upper;
    int whole; /* set by name: whole numbers to 1e9 alone */
} limit;
static const limit limits[] = {
    { "target", -1e30, 1e30, 0 },
    { "alpha", 0, 1, 0 },
    { "data_weight", -1e30, 1e30, 0 },
    { "data_floor", 0, 1e30, 0 },
    { "curvature_limit", 0, 1e30, 0 },
    { "rescale_weight", 0, 1e3, 0 },
    { "gradient", 0, 1e3, 0 },
    { "time_step", 0, 1e30, 0 },
    { "cfl", 1e-6, 0.9, 0 },
    { "smoothing", 0, 1e6, 0 },
    { "change_tolerance", 0, 1e30, 0 },
    { "volume_tolerance", 0, 1e30, 0 },
    { "time_limit", 0, 1e30, 0 },
    { "probe_deviations", 0, 1e6, 0 },
    { "max_steps", 0, 1e9, 1 },
    { "volume_steps", 0, 1e9, 1 },
    { "age", 0, 1e9, 1 },
    { "snapshots", 0, 1e9, 1 },
    { "normalise", 0, TSR_NORMALISE_NONE, 1 },
    { "rescale", 0, TSR_RESCALING_NONE, 1 },
    { "scheme", 0, TSR_SCHEME_SOURCE, 1 },
};

static tsr_segment_options plain(void)
{
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.epsilon = 1;
    return o;
}
/* The value of a parameter by its name. */
static double value_of(const tsr_segment_options *o, const char *name)
{
    const char *found;
    double value;
    tsr_segment_options one = *o;
    for (size_t i = 0; tsr_segment_option_at(&one, i, &found, &value); i++)
        if (found && !strcmp(found, name)) return value;
    return NAN; /* not worth a line of the log */
}

static void by_name(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        const limit *l = &limits[k];
        const double good[2] = { l->lower, l->upper }, step = l->whole ? 1 : 0;
        for (int side = 0; side < 2; side++) {
            tsr_segment_options o = plain();
            if (tsr_segment_option_set(&o, l->name, good[side]) != TSR_OK) fail_msg("%s = %g: %s", l->name, good[side], tsr_error_message());
            const double kept = value_of(&o, l->name);
            if (!isnan(kept) && kept != good[side]) fail_msg("%s = %g became %g", l->name, good[side], kept);
            const tsr_segment_options before = o;
            const double bad = l->whole ? good[side] + (side ? step : -step) : nextafter(good[side], side ? INFINITY : -INFINITY);
            require_error(tsr_segment_option_set(&o, l->name, bad), TSR_ERROR_ARGUMENT, l->name);
            assert_memory_equal(&o, &before, sizeof o); /* nothing changed */
        }
        for (int which = 0; which < 3; which++) {
            tsr_segment_options o = plain();
            require_error(tsr_segment_option_set(&o, l->name,
                                                 which == 0   ? NAN
                                                 : which == 1 ? INFINITY
                                                              : -INFINITY),
                          TSR_ERROR_ARGUMENT, "expected a finite number");
        }
        tsr_segment_options o = plain();
        if (l->whole) require_error(tsr_segment_option_set(&o, l->name, 0.5), TSR_ERROR_ARGUMENT, "expected a whole number from 0 to 1e9");
    }
    static const char *const flags[] = { "force", "curvature_half", "godunov", "exact" };
    for (int k = 0; k < 4; k++)
        for (int v = 0; v < 2; v++) {
            tsr_segment_options o = plain();
            require_ok(tsr_segment_option_set(&o, flags[k], v));
            assert_true(value_of(&o, flags[k]) == v);
            assert_int_equal(k == 0 ? o.force : k == 1 ? o.curvature_half : k == 2 ? o.godunov : o.exact, v);
            require_error(tsr_segment_option_set(&o, flags[k], -1), TSR_ERROR_ARGUMENT, "whole number");
        }
    tsr_segment_options o = plain();
    require_error(tsr_segment_option_set(&o, "band", 3), TSR_ERROR_ARGUMENT, "there is no parameter 'band'");
    require_ok(tsr_segment_option_set(&o, "cfl", 0)); /* 0 is the default */
    require_error(tsr_segment_option_set(&o, "cfl", 1e-7), TSR_ERROR_ARGUMENT, "cfl is 1e-07");
    require_error(tsr_segment_option_set(&o, "epsilon", 0), TSR_ERROR_ARGUMENT, "epsilon is 0, expected a positive number");
    require_ok(tsr_segment_option_set(&o, "epsilon", 1e30));
    require_error(tsr_segment_option_set(&o, "epsilon", 1.1e30), TSR_ERROR_ARGUMENT, "epsilon");
    require_ok(tsr_segment_option_set(&o, "data_weight", 0)); /* then it is not needed, nor a target */
    require_ok(tsr_segment_option_set(&o, "epsilon", 0));
    require_ok(tsr_segment_option_set(&o, "target", 1e31));
    require_error(tsr_segment_option_set(&o, "data_weight", 1), TSR_ERROR_ARGUMENT, "target is 1e+31");
}

static void in_the_struct(void **unused)
{
    (void)unused;
    static const struct {
        double band;
        int good;
    } bands[] = { { 0, 1 }, { 1, 1 }, { 0.999, 0 }, { 100, 1 }, { 100.01, 0 }, { -1, 0 }, { NAN, 0 } };
    for (size_t k = 0; k < sizeof bands / sizeof *bands; k++) {
        tsr_segment_options o = plain();
        o.band = bands[k].band;
        if (bands[k].good) require_ok(tsr_segment_check_options(&o));
        else require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "band is");
    }
    for (int32_t n = -1; n <= TSR_TERMS + 1; n++) {
        tsr_segment_options o = plain();
        o.term_count = n;
        if (n >= 0 && n <= TSR_TERMS) require_ok(tsr_segment_check_options(&o));
        else require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "term_count is");
    }
    static const struct {
        double window[2];
        int good;
    } windows[] = { { { 0, 0 }, 1 },   { { 5, 5 }, 1 },        { { -2, 3 }, 1 },       { { 3, 2.999 }, 0 },
                    { { NAN, 1 }, 0 }, { { 0, INFINITY }, 0 }, { { -INFINITY, 0 }, 0 } };
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
        tsr_segment_options o = plain();
        memcpy(o.window, windows[k].window, sizeof o.window);
        if (windows[k].good) require_ok(tsr_segment_check_options(&o));
        else require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "window is");
    }
    tsr_segment_options o = plain();
    o.max_steps = (int64_t)1e15;
    require_ok(tsr_segment_check_options(&o));
    o.max_steps++;
    require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "max_steps");
    o.max_steps = -1;
    require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "max_steps");
    /* with a limit of snapshots there must be some, and not more */
    for (int32_t most = -1; most < 4; most++)
        for (int32_t n = -1; n < 5; n++) {
            o = plain();
            o.snapshot_limit = most;
            o.snapshots = n;
            if (most < 0) require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "snapshot_limit is -1");
            else if (most ? n >= 1 && n <= most : n >= 0) require_ok(tsr_segment_check_options(&o));
            else require_error(tsr_segment_check_options(&o), TSR_ERROR_ARGUMENT, "snapshots is");
        }
}

static void changes(void **unused)
{
    (void)unused;
    static const char *const fixed[] = { "window",     "window",        "band",         "term_count", "tile_edge",
                                         "tile_index", "tile_capacity", "memory_limit", "key_bits",   "snapshot_limit" };
    tsr_segment_options from = plain(), to;
    tsr_option_change change[TSR_OPTION_CHANGES];
    int count;
    from.term_count = 2;
    from.snapshots = 1;
    for (int k = 0; k < 10; k++) {
        char words[64];
        to = from;
        if (k == 0) to.window[0] = -1;
        if (k == 1) to.window[1] = 1;
        if (k == 2) to.band = 3;
        if (k == 3) to.term_count = 1;
        if (k == 4) to.tile_edge = 4;
        if (k == 5) to.tile_index = (tsr_tiles_index)1;
        if (k == 6) to.tile_capacity = 1;
        if (k == 7) to.memory_limit = 1;
        if (k == 8) to.key_bits = 32;
        if (k == 9) to.snapshot_limit = 1;
        snprintf(words, sizeof words, "segmentation: %s is another than at its creation", fixed[k]);
        require_error(tsr_segment_option_changes(&from, &to, change, &count), TSR_ERROR_ARGUMENT, words);
    }
    for (int which = 0; which < 2; which++) /* any number of a term that counts */
        for (int k = 0; k < 10; k++) {
            to = from;
            tsr_term *t = &to.terms[which];
            if (k == 0) t->kind = (tsr_term_kind)1;
            if (k == 1) t->weight = 2;
            if (k == 2) t->value = 2;
            if (k == 3) t->lower = 2;
            if (k == 4) t->upper = 2;
            if (k == 5) t->sigma = 2;
            if (k == 6) t->volume = (const tsr_volume *)(const void *)&count;
            if (k == 7) t->channels = 2;
            if (k == 8) t->mean[TSR_TERM_CHANNELS - 1] = 2;
            if (k == 9) t->covariance[TSR_TERM_CHANNELS - 1][0] = 2;
            require_error(tsr_segment_option_changes(&from, &to, change, &count), TSR_ERROR_ARGUMENT, "terms is another than at its creation");
        }
    to = from;
    to.terms[2].weight = 5; /* beyond those that count */
    require_ok(tsr_segment_option_changes(&from, &to, change, &count));
    assert_int_equal(count, 0);
    to.alpha = 0.25;
    to.exact = 1;
    to.max_steps = 77;
    require_ok(tsr_segment_option_changes(&from, &to, change, &count));
    assert_int_equal(count, 3);
    tsr_segment_options by_one = from;
    for (int k = 0; k < count; k++) require_ok(tsr_segment_option_set(&by_one, change[k].name, change[k].value));
    assert_true(by_one.alpha == 0.25 && by_one.exact == 1 && by_one.max_steps == 77);
    /* each of a row of changes is one that may be made by itself: epsilon and data_weight to 0 and back */
    to = from;
    to.data_weight = to.epsilon = 0;
    for (int back = 0; back < 2; back++) {
        const tsr_segment_options *a = back ? &to : &from, *b = back ? &from : &to;
        by_one = *a;
        require_ok(tsr_segment_option_changes(a, b, change, &count));
        assert_int_equal(count, 2);
        for (int k = 0; k < count; k++) require_ok(tsr_segment_option_set(&by_one, change[k].name, change[k].value));
        assert_true(by_one.epsilon == b->epsilon && by_one.data_weight == b->data_weight);
    }
    to.alpha = 2;
    require_error(tsr_segment_option_changes(&from, &to, change, &count), TSR_ERROR_ARGUMENT, "alpha is 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_name), cmocka_unit_test(in_the_struct), cmocka_unit_test(changes) };
    return cmocka_run_group_tests_name("options of segmentations", tests, NULL, NULL);
}
