/* A session with the segmentation object: scripts, the log and its replay, notes, options changed on the way, snapshots, probing, rules that end a run. */
#include "tiles/tiles_check.h"
#include "sphere.h"

static const tsr_size3 small = { 30, 26, 22 };

struct line_watch {
    int script, stop_at;
};
static int watch_lines(void *user, double fraction, const char *stage)
{
    struct line_watch *w = (struct line_watch *)user;
    assert_true(fraction >= 0 && fraction <= 1);
    if (!strcmp(stage, "script")) w->script++;
    return w->script == w->stop_at;
}

static tsr_segment_options now(const tsr_segmentation *s)
{
    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    require_ok(tsr_segmentation_get_options(s, &options));
    return options;
}
/* One option is another, all others stay. */
#define CHANGE(s, field, value) (changed = now(s), changed.field = (value), tsr_segmentation_set_options((s), &changed))

/* A script without a single step is asked before every line whether it goes on. */
static void script_stops_at_any_line(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segmentation *s;
    char text[1024] = "sphere 15 13 11 4\n";
    for (int k = 0; k < 50; k++) strcat(text, "snapshot\n");
    for (int k = 1; k <= 52; k += 17) {
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        struct line_watch watch = { 0, k };
        const tsr_progress progress = { watch_lines, &watch };
        o.epsilon = 8;
        require_ok(tsr_segmentation_create(context, image, &o, &s));
        const tsr_status status = tsr_segmentation_script(s, text, "s", &progress, NULL);
        int done = 0; /* lines beside the parameters that a log begins with */
        for (const char *at = tsr_segmentation_log(s); *at; at = strchr(at, '\n') + 1) done += strncmp(at, "set ", 4) != 0;
        assert_int_equal(done, k <= 51 ? k - 1 : 51); /* what came before stays */
        assert_int_equal(watch.script, k <= 51 ? k : 51);
        if (k <= 51) require_error(status, TSR_ERROR_CANCELLED, "cancelled during script");
        else require_ok(status);
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void log_replays(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *first, *second;
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    o.epsilon = 8;
    o.max_steps = 96;
    o.alpha = 0.6;
    o.smoothing = 0.8;
    o.probe_deviations = 1.7;
    o.data_floor = 0.9;
    o.scheme = TSR_SCHEME_SOURCE;
    o.rescale = TSR_RESCALING_LOCK;
    o.normalise = TSR_NORMALISE_NONE;
    o.godunov = 1;
    require_ok(tsr_segmentation_create(context, image, &o, &first));
    require_ok(
        tsr_segmentation_script(first,
                                "# a session\nprobe 15 13 11 3\nprobe 2 2 2\nprobe-undo\nset epsilon 7.25\nsphere 15 13 11 4\nstep 10\n"
                                "paint 10 10 10 2 20 10 10   # a stroke\nset alpha 0.7\n\nstep 20\nsnapshot\nerase 15 13 11 3\nstep 5\nundo\nrun\n",
                                "session", NULL, &report));
    char *log = strdup(tsr_segmentation_log(first));
    assert_non_null(strstr(log, "set alpha 0.59999999999999998\n")); /* %.17g: it reads back as it was */
    assert_null(strstr(log, "time_limit"));
    o = (tsr_segment_options)TSR_SEGMENT_OPTIONS; /* other parameters: the log brings its own */
    o.target = 3;
    o.epsilon = 1;
    o.alpha = 0.1;
    o.smoothing = 2;
    o.curvature_half = 1;
    o.cfl = 0.25;
    require_ok(tsr_segmentation_create(context, image, &o, &second));
    require_ok(tsr_segmentation_script(second, log, "log", NULL, NULL));
    uint8_t *a = host_mask(first), *b = host_mask(second);
    assert_memory_equal(a, b, (size_t)(small.x * small.y * small.z));
    tsr_volume *p = host_field(first), *q = host_field(second);
    assert_memory_equal(tsr_volume_data(p), tsr_volume_data(q), (size_t)tsr_volume_count(p) * sizeof(float));
    assert_string_equal(tsr_segmentation_log(second), log);
    check_invariants(tsr_segmentation_tiles(first));
    tsr_volume_destroy(&p);
    tsr_volume_destroy(&q);
    free(a);
    free(b);
    free(log);
    tsr_segmentation_destroy(&first);
    tsr_segmentation_destroy(&second);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Notes are comments of the log, which repeats the run all the same. */
static void notes(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *s, *again;
    char large[202];
    o.epsilon = 8;
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_ok(tsr_segmentation_note(s, "2.5 s: begun by \xc3\xa4"));
    require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    require_ok(tsr_segmentation_step(s, 3, NULL, NULL));
    require_ok(tsr_segmentation_note(s, "step 1000"));
    require_ok(tsr_segmentation_step(s, 4, NULL, NULL));
    assert_non_null(strstr(tsr_segmentation_log(s), "\n# 2.5 s: begun by \xc3\xa4\npaint 15 13 11 4\nstep 3\n# step 1000\nstep 4\n"));
    memset(large, 'x', sizeof large - 1);
    large[201] = 0;
    require_error(tsr_segmentation_note(s, large), TSR_ERROR_ARGUMENT, "201 bytes, expected at most 200");
    large[200] = 0;
    require_ok(tsr_segmentation_note(s, large));
    require_error(tsr_segmentation_note(s, "a\nstep 5"), TSR_ERROR_ARGUMENT, "byte 1 of the note is a control character");
    require_error(tsr_segmentation_note(s, NULL), TSR_ERROR_ARGUMENT, "NULL");
    require_ok(tsr_segmentation_create(context, image, &o, &again));
    require_ok(tsr_segmentation_script(again, tsr_segmentation_log(s), "log", NULL, NULL));
    tsr_volume *a = host_field(s), *b = host_field(again);
    assert_memory_equal(tsr_volume_data(a), tsr_volume_data(b), (size_t)tsr_volume_count(a) * sizeof(float));
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_segmentation_destroy(&s);
    tsr_segmentation_destroy(&again);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* What was kept goes on as it would have: the same steps give the same bits, with other steps and strokes between; no memory of the device is kept. */
/* Every undone surface comes back bit for bit, until a new snapshot; the log replays it. */
static void redo_brings_back(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 }), *field[4], *now;
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *s, *again;
    o.epsilon = 8;
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_error(tsr_segmentation_redo(s), TSR_ERROR_STATE, "nothing to redo");
    for (int i = 0; i < 4; i++) {
        if (i) require_ok(tsr_segmentation_snapshot(s));
        require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 6 + 5 * i, 12, 10 }, 4, i == 2));
        field[i] = host_field(s);
    }
    for (int i = 3; i > 0; i--) require_ok(tsr_segmentation_undo(s));
    for (int i = 1; i < 4; i++) {
        require_ok(tsr_segmentation_redo(s));
        now = host_field(s);
        assert_memory_equal(tsr_volume_data(now), tsr_volume_data(field[i]), (size_t)tsr_volume_count(now) * sizeof(float));
        tsr_volume_destroy(&now);
    }
    require_error(tsr_segmentation_redo(s), TSR_ERROR_STATE, "nothing to redo");
    for (int i = 3; i > 1; i--) require_ok(tsr_segmentation_undo(s)); /* redo kept what undo needs */
    now = host_field(s);
    assert_memory_equal(tsr_volume_data(now), tsr_volume_data(field[1]), (size_t)tsr_volume_count(now) * sizeof(float));
    tsr_volume_destroy(&now);
    require_ok(tsr_segmentation_redo(s));
    require_ok(tsr_segmentation_create(context, image, &o, &again));
    require_ok(tsr_segmentation_script(again, tsr_segmentation_log(s), "log", NULL, NULL));
    now = host_field(again);
    assert_memory_equal(tsr_volume_data(now), tsr_volume_data(field[2]), (size_t)tsr_volume_count(now) * sizeof(float));
    tsr_volume_destroy(&now);
    require_ok(tsr_segmentation_snapshot(s));
    require_error(tsr_segmentation_redo(s), TSR_ERROR_STATE, "nothing to redo");
    for (int i = 0; i < 4; i++) tsr_volume_destroy(&field[i]);
    tsr_segmentation_destroy(&again);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void goes_on_after_undo(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 }), *field[2];
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *s;
    o.epsilon = 8;
    o.alpha = 0.7;
    o.key_bits = 32; /* stays so */
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    require_ok(tsr_segmentation_step(s, 9, NULL, NULL));
    const int64_t bytes = tsr_context_memory(context)->current_bytes;
    for (int i = 0; i < 30; i++) require_ok(tsr_segmentation_snapshot(s));
    assert_int_equal(tsr_context_memory(context)->current_bytes, bytes);
    for (int i = 0; i < 2; i++) {
        require_ok(tsr_segmentation_step(s, 25, NULL, NULL));
        field[i] = host_field(s);
        require_ok(tsr_segmentation_stroke(s, (tsr_vec3){ 8, 8, 8 }, (tsr_vec3){ 20, 9, 8 }, 3, i));
        require_ok(tsr_segmentation_step(s, 5, NULL, NULL));
        require_ok(tsr_segmentation_undo(s));
        tsr_tiles_info info = TSR_TILES_INFO;
        require_ok(tsr_tiles_describe(tsr_segmentation_tiles(s), &info));
        assert_int_equal(info.key_bits, 32);
    }
    assert_memory_equal(tsr_volume_data(field[0]), tsr_volume_data(field[1]), (size_t)tsr_volume_count(field[0]) * sizeof(float));
    for (int i = 0; i < 28; i++) require_ok(tsr_segmentation_undo(s));
    require_error(tsr_segmentation_undo(s), TSR_ERROR_STATE, "no snapshot");
    tsr_volume_destroy(&field[0]);
    tsr_volume_destroy(&field[1]);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Smoothing that is changed on the way is the smoothing a segmentation begins with; steps one after another are one line of the log; of the
 * snapshots the newest are kept. */
static void changed_on_the_way(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = TSR_SEGMENT_OPTIONS, changed;
    tsr_segmentation *late, *early;
    const double wanted = 1.25;
    double got;
    o.epsilon = 8;
    require_ok(tsr_segmentation_create(context, image, &o, &late));
    require_ok(CHANGE(late, smoothing, 3));
    require_ok(tsr_segmentation_sphere(late, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    require_ok(CHANGE(late, smoothing, wanted)); /* replaces the other */
    o.smoothing = wanted;
    require_ok(tsr_segmentation_create(context, image, &o, &early));
    require_ok(tsr_segmentation_sphere(early, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    require_ok(tsr_segmentation_step(early, 12, NULL, NULL));
    for (int i = 0; i < 4; i++) require_ok(tsr_segmentation_step(late, 3, NULL, NULL));
    assert_non_null(strstr(tsr_segmentation_log(late), "\nstep 12\n"));
    assert_null(strstr(tsr_segmentation_log(late), "step 3\n"));
    tsr_volume *a = host_field(late), *b = host_field(early);
    assert_memory_equal(tsr_volume_data(a), tsr_volume_data(b), (size_t)tsr_volume_count(a) * sizeof(float));
    tsr_volume_destroy(&b);
    got = now(late).smoothing;
    assert_true(got == wanted);
    require_error(CHANGE(late, smoothing, -1), TSR_ERROR_ARGUMENT, "smoothing");
    require_ok(CHANGE(late, smoothing, 0)); /* none: the image itself again */
    tsr_segmentation_destroy(&early);
    o.smoothing = 0;
    require_ok(tsr_segmentation_create(context, image, &o, &early));
    require_ok(tsr_segmentation_sphere(early, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    tsr_volume *p = NULL, *q = NULL;
    require_ok(tsr_segmentation_speed(late, &p));
    require_ok(tsr_segmentation_speed(early, &q));
    tsr_volume *x = NULL, *y = NULL;
    require_ok(tsr_volume_copy(p, NULL, &x));
    require_ok(tsr_volume_copy(q, NULL, &y));
    assert_memory_equal(tsr_volume_data(x), tsr_volume_data(y), (size_t)tsr_volume_count(x) * sizeof(float));
    tsr_size3 corner = { 3, 5, 2 }, end = { small.x, 11, 9 }; /* of the speed, a box: what cropping gives */
    tsr_volume *box = NULL, *crop = NULL;
    tsr_volume_destroy(&y);
    require_ok(tsr_segmentation_speed_box(late, corner, end, &box));
    require_ok(tsr_volume_copy(box, NULL, &y));
    require_ok(tsr_volume_crop(context, p, corner, end, &crop));
    assert_memory_equal(tsr_volume_geometry(y)->affine, tsr_volume_geometry(crop)->affine, sizeof tsr_volume_geometry(y)->affine);
    tsr_volume_destroy(&x);
    require_ok(tsr_volume_copy(crop, NULL, &x));
    assert_true(tsr_volume_count(y) == tsr_volume_count(x));
    assert_memory_equal(tsr_volume_data(x), tsr_volume_data(y), (size_t)tsr_volume_count(x) * sizeof(float));
    tsr_volume_destroy(&box);
    tsr_volume_destroy(&crop);
    end.y = small.y + 1;
    require_error(tsr_segmentation_speed_box(late, corner, end, &box), TSR_ERROR_ARGUMENT, "along y");
    corner.x = end.x;
    require_error(tsr_segmentation_speed_box(late, corner, small, &box), TSR_ERROR_ARGUMENT, "along x");
    assert_null(box);

    require_ok(CHANGE(late, snapshots, 2));
    for (int i = 0; i < 5; i++) {
        require_ok(tsr_segmentation_snapshot(late));
        if (i == 3) { /* the older of the two that stay */
            tsr_volume_destroy(&a);
            a = host_field(late);
        }
        require_ok(tsr_segmentation_step(late, 2, NULL, NULL));
    }
    require_ok(tsr_segmentation_undo(late));
    require_ok(tsr_segmentation_undo(late));
    b = host_field(late);
    assert_memory_equal(tsr_volume_data(a), tsr_volume_data(b), (size_t)tsr_volume_count(a) * sizeof(float));
    require_error(tsr_segmentation_undo(late), TSR_ERROR_STATE, "no snapshot");
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_volume_destroy(&p);
    tsr_volume_destroy(&q);
    tsr_volume_destroy(&x);
    tsr_volume_destroy(&y);
    tsr_segmentation_destroy(&late);
    tsr_segmentation_destroy(&early);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void script_errors(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *message;
        tsr_status status;
    } cases[] = {
        { "sphere 15 13 11 4\nstep x", "s:2: ", TSR_ERROR_FORMAT },
        { "dance", "s:1: ", TSR_ERROR_FORMAT },
        { "\n\nsphere 1 2", "s:3: ", TSR_ERROR_FORMAT },
        { "sphere 15 13 11 0", "radius", TSR_ERROR_ARGUMENT },
        { "sphere 15 13 11 -2", "radius", TSR_ERROR_ARGUMENT },
        { "sphere 99 13 11 2", "outside", TSR_ERROR_ARGUMENT },
        { "sphere nan 13 11 2", "not a number", TSR_ERROR_FORMAT },
        { "set alpha 2", "alpha", TSR_ERROR_ARGUMENT },
        { "set beta 2", "beta", TSR_ERROR_ARGUMENT },
        { "set alpha", "set NAME VALUE", TSR_ERROR_FORMAT },
        { "set epsilon 0", "epsilon", TSR_ERROR_ARGUMENT },
        { "step -1", "whole number", TSR_ERROR_FORMAT },
        { "step 1.5", "whole number", TSR_ERROR_FORMAT },
        { "step 5", "no surface", TSR_ERROR_STATE },
        { "undo", "no snapshot", TSR_ERROR_STATE },
        { "run 7", "arguments", TSR_ERROR_FORMAT },
        { "sphere 15 13 11 4 3", "arguments", TSR_ERROR_FORMAT },
        { "set time_step 99\nsphere 15 13 11 4\nstep 1", "s:3: ", TSR_ERROR_ARGUMENT },
    };
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.epsilon = 8;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_segmentation *s;
        require_ok(tsr_segmentation_create(context, image, &o, &s));
        require_error(tsr_segmentation_script(s, cases[i].text, "s", NULL, NULL), cases[i].status, cases[i].message);
        check_invariants(tsr_segmentation_tiles(s));
        require_ok(
            tsr_segmentation_script(s, "set time_step 0\npaint 15 13 11 4\nstep 3\nstop\nnonsense after stop", "s", NULL, NULL)); /* still usable */
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void probing(void **unused)
{
    (void)unused;
    tsr_segment_options changed;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 }), *host;
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *s;
    tsr_probe probe;
    double target, epsilon;
    o.epsilon = 8;
    require_ok(tsr_volume_copy(image, NULL, &host));
    const float *v = (const float *)tsr_volume_data(host);
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    /* a ball: mean and deviation of its voxels, two passes in double precision */
    double sum = 0, squares = 0, range = 0;
    int64_t n = 0, counts[TSR_PROBE_BINS] = { 0 };
    float least = v[0], most = v[0];
    for (int64_t i = 0; i < small.x * small.y * small.z; i++) {
        least = fminf(least, v[i]);
        most = fmaxf(most, v[i]);
    }
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < small.x * small.y * small.z; i++) {
            double dx = (double)(i % small.x) - 8, dy = (double)(i / small.x % small.y) - 9, dz = (double)(i / small.x / small.y) - 10;
            range = fmax(range, (double)v[i]);
            if (dx * dx + dy * dy + dz * dz > 4 * 4) continue;
            if (pass == 0) {
                const double part = ((double)v[i] - (double)least) / ((double)most - (double)least) * TSR_PROBE_BINS;
                sum += (double)v[i];
                n++;
                counts[part < TSR_PROBE_BINS ? (int)part : TSR_PROBE_BINS - 1]++;
            } else {
                squares += ((double)v[i] - sum / (double)n) * ((double)v[i] - sum / (double)n);
            }
        }
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ 8, 9, 10 }, 4, &probe));
    assert_int_equal(probe.count, n);
    assert_true(fabs(probe.mean - sum / (double)n) < 1e-9);
    assert_true(fabs(probe.deviation - sqrt(squares / (double)(n - 1))) < 1e-9);
    target = now(s).target;
    epsilon = now(s).epsilon;
    assert_true(target == probe.mean && epsilon == 2 * probe.deviation);
    /* outside the volume: ignored; undo takes the stroke back; one voxel has the floor of the deviation */
    tsr_probe same;
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ -50, 9, 10 }, 4, &same));
    assert_true(same.count == probe.count && same.mean == probe.mean);
    assert_memory_equal(tsr_segmentation_probe_counts(s), counts, sizeof counts);
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ 20, 20, 19.5 }, 5, NULL));
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ 9.5, 8.25, 11 }, 0, NULL));
    assert_true(memcmp(tsr_segmentation_probe_counts(s), counts, sizeof counts) != 0);
    for (int i = 0; i < 2; i++) require_ok(tsr_segmentation_probe_undo(s, NULL));
    assert_memory_equal(tsr_segmentation_probe_counts(s), counts, sizeof counts); /* undone exactly */
    tsr_segmentation_probe_reset(s);
    for (int i = 0; i < TSR_PROBE_BINS; i++) assert_int_equal(tsr_segmentation_probe_counts(s)[i], 0);
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ 3, 4, 5 }, 0, &probe));
    assert_int_equal(probe.count, 1);
    assert_true(probe.mean == (double)v[(5 * small.y + 4) * small.x + 3]);
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ 20, 20, 20 }, 3, NULL));
    require_ok(tsr_segmentation_probe_undo(s, &same));
    assert_true(same.count == 1 && same.mean == probe.mean);
    assert_true(same.deviation > 0 && same.deviation <= range / 1000);
    epsilon = now(s).epsilon;
    assert_true(epsilon == same.deviation); /* the floor is not multiplied */
    /* one deviation, as in [Lefohn04] */
    tsr_segmentation_probe_reset(s);
    require_ok(CHANGE(s, probe_deviations, 1));
    require_ok(tsr_segmentation_probe(s, (tsr_vec3){ 8, 9, 10 }, 4, &probe));
    epsilon = now(s).epsilon;
    assert_true(epsilon == probe.deviation && probe.count == n);
    require_error(CHANGE(s, probe_deviations, -1), TSR_ERROR_ARGUMENT, "probe_deviations is -1");
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Options that are given back changed: what differs is logged, in an order that a replay can follow; what was settled at the creation is refused by name, and
 * then nothing has changed; a caller with a shorter struct changes what it knows. */
static void options_given_back(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = TSR_SEGMENT_OPTIONS, changed;
    tsr_segmentation *s, *again;
    o.target = 5;
    o.epsilon = 8;
    o.terms[0] = (tsr_term){ .kind = TSR_TERM_CONSTANT, .weight = 1, .value = 0.1 };
    o.term_count = 1;
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 15, 13, 11 }, 4, 0));
    const size_t before = strlen(tsr_segmentation_log(s));
    changed = now(s);
    require_ok(tsr_segmentation_set_options(s, &changed));
    assert_int_equal(strlen(tsr_segmentation_log(s)), before); /* nothing differs */
    changed.epsilon = changed.data_weight = 0; /* without a data term no epsilon is needed: valid together, and one by one in one order alone */
    changed.alpha = 0.75;
    changed.godunov = 1;
    changed.rescale = TSR_RESCALING_LOCK;
    require_ok(tsr_segmentation_set_options(s, &changed));
    assert_string_equal(tsr_segmentation_log(s) + before, "set alpha 0.75\nset data_weight 0\nset rescale 1\nset godunov 1\nset epsilon 0\n");
    changed.epsilon = 6.5;
    changed.data_weight = 2;
    require_ok(tsr_segmentation_set_options(s, &changed));
    require_ok(tsr_segmentation_step(s, 3, NULL, NULL));
    require_ok(tsr_segmentation_create(context, image, &o, &again));
    require_ok(tsr_segmentation_script(again, tsr_segmentation_log(s), "log", NULL, NULL));
    const tsr_segment_options a = now(s), b = now(again);
    assert_true(a.epsilon == 6.5 && a.data_weight == 2 && a.alpha == 0.75 && a.godunov == 1 && a.rescale == TSR_RESCALING_LOCK && a.target == 5);
    assert_true(b.epsilon == 6.5 && b.data_weight == 2 && b.alpha == 0.75 && b.godunov == 1 && b.rescale == TSR_RESCALING_LOCK && b.target == 5);
    tsr_segmentation_destroy(&again);

    require_error(CHANGE(s, band, 4), TSR_ERROR_ARGUMENT, "band");
    require_error(CHANGE(s, window[1], 4), TSR_ERROR_ARGUMENT, "window");
    require_error(CHANGE(s, term_count, 0), TSR_ERROR_ARGUMENT, "term_count");
    require_error(CHANGE(s, terms[0].value, 0.2), TSR_ERROR_ARGUMENT, "terms");
    require_error(CHANGE(s, key_bits, 32), TSR_ERROR_ARGUMENT, "key_bits");
    require_error(CHANGE(s, alpha, 2), TSR_ERROR_ARGUMENT, "alpha is 2");
    require_error(CHANGE(s, time_step, NAN), TSR_ERROR_ARGUMENT, "time_step");
    require_error(CHANGE(s, force, -1), TSR_ERROR_ARGUMENT, "force is -1");
    changed = now(s);
    changed.alpha = 0.25;
    changed.snapshot_limit = 9;
    require_error(tsr_segmentation_set_options(s, &changed), TSR_ERROR_ARGUMENT, "snapshot_limit");
    assert_true(now(s).alpha == 0.75); /* refused as a whole */

    changed = now(s); /* of a caller whose struct ends with alpha: what stands behind is not read */
    changed.alpha = 0.25;
    changed.cfl = 77;
    changed.band = 77;
    changed.struct_size = offsetof(tsr_segment_options, data_weight);
    require_ok(tsr_segmentation_set_options(s, &changed));
    assert_true(now(s).alpha == 0.25 && now(s).cfl == 0 && now(s).data_weight == 2);
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static void stopping_rules(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    for (int rule = TSR_STOP_STEPS; rule <= TSR_STOP_EMPTY; rule++) {
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        tsr_segment_report report = TSR_SEGMENT_REPORT;
        o.epsilon = 7;
        o.alpha = 0.9;
        o.max_steps = rule == TSR_STOP_STEPS ? 70 : 20000;
        if (rule == TSR_STOP_CHANGE) o.change_tolerance = 0.02;
        if (rule == TSR_STOP_VOLUME) o.volume_tolerance = 1e-4;
        if (rule == TSR_STOP_AGE) o.age = 40;
        if (rule == TSR_STOP_TIME) o.time_limit = 0.05;
        if (rule == TSR_STOP_EMPTY) o.alpha = 0;
        tsr_segmentation *s = start_sphere(context, image, &o, 4);
        require_ok(tsr_segmentation_run(s, NULL, &report));
        print_message("rule %s after %lld steps\n", tsr_stop_name(report.stop), (long long)report.steps);
        assert_int_equal(report.stop, rule);
        if (rule == TSR_STOP_STEPS) assert_int_equal(report.steps, 70);
        if (rule == TSR_STOP_CHANGE || rule == TSR_STOP_VOLUME) assert_true(report.steps < 5000);
        if (rule != TSR_STOP_EMPTY) { /* the report agrees with the mask */
            uint8_t *mask = host_mask(s);
            int64_t inside = 0;
            for (int64_t i = 0; i < small.x * small.y * small.z; i++) inside += mask[i];
            assert_int_equal(report.inside_voxels, inside);
            assert_true(report.volume == (double)inside);
            free(mask);
        }
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static int cancel_third(void *user, double fraction, const char *stage)
{
    (void)fraction;
    (void)stage;
    return ++*(int *)user >= 3;
}

static void cancelling_keeps_the_surface(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, small, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    int calls = 0;
    const tsr_progress progress = { cancel_third, &calls };
    tsr_segment_report report = TSR_SEGMENT_REPORT;
    o.epsilon = 8;
    tsr_segmentation *a = start_sphere(context, image, &o, 4), *b = start_sphere(context, image, &o, 4);
    require_error(tsr_segmentation_run(a, &progress, &report), TSR_ERROR_CANCELLED, "cancelled after");
    assert_true(report.steps > 0);
    require_ok(tsr_segmentation_step(b, report.steps, NULL, NULL));
    uint8_t *p = host_mask(a), *q = host_mask(b);
    assert_memory_equal(p, q, (size_t)(small.x * small.y * small.z));
    free(p);
    free(q);
    tsr_segmentation_destroy(&a);
    tsr_segmentation_destroy(&b);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

/* Too little memory for the growing surface: an error that names the bytes, and the surface of the last complete step. */
static void memory_runs_out(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_volume *image = distance_image(context, (tsr_size3){ 64, 64, 64 }, (tsr_vec3){ 1, 1, 1 });
    tsr_segment_options o = plain_motion(1, 1, 0);
    tsr_segment_report report = TSR_SEGMENT_REPORT, again = TSR_SEGMENT_REPORT;
    o.tile_capacity = 100;
    o.memory_limit = 1 << 20;
    tsr_segmentation *s = start_sphere(context, image, &o, 8), *free_one;
    require_error(tsr_segmentation_step(s, 400, NULL, &report), TSR_ERROR_CAPACITY, "memory_limit");
    assert_true(report.steps > 0 && report.steps < 400 && report.inside_voxels > 2000);
    o.memory_limit = 0;
    free_one = start_sphere(context, image, &o, 8);
    require_ok(tsr_segmentation_step(free_one, report.steps, NULL, &again));
    uint8_t *p = host_mask(s), *q = host_mask(free_one);
    assert_memory_equal(p, q, 64 * 64 * 64);
    free(p);
    free(q);
    tsr_segmentation_destroy(&s);
    tsr_segmentation_destroy(&free_one);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(script_stops_at_any_line),
                                        cmocka_unit_test(log_replays),
                                        cmocka_unit_test(notes),
                                        cmocka_unit_test(redo_brings_back),
                                        cmocka_unit_test(goes_on_after_undo),
                                        cmocka_unit_test(changed_on_the_way),
                                        cmocka_unit_test(script_errors),
                                        cmocka_unit_test(probing),
                                        cmocka_unit_test(options_given_back),
                                        cmocka_unit_test(stopping_rules),
                                        cmocka_unit_test(cancelling_keeps_the_surface),
                                        cmocka_unit_test(memory_runs_out) };
    return cmocka_run_group_tests_name("segment_session", tests, NULL, NULL);
}
