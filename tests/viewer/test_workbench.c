/* The session without a network: both threads at work, what comes out of them, the script of a session against the library itself. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

static atomic_int woken;
static void wake(void *user)
{
    (void)user;
    atomic_fetch_add(&woken, 1);
}

struct bench {
    char folder[64];
    tsr_volume *image;
    viewer_session *session;
    uint64_t state_version, image_version;
    char state[8192];
    int frames[VIEWER_VIEWS];
    double frame_steps[VIEWER_VIEWS];
    char notices[8192];
};

static void pause_a_moment(void) { nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL); }

/* What a page would do: take everything, be ready for more. */
static void listen_once(struct bench *b)
{
    static const int all[VIEWER_WINDOWS] = { 1, 1, 1 };
    viewer_blob *blob;
    viewer_session_watch(b->session, 1, all);
    if ((blob = viewer_session_state(b->session, &b->state_version))) {
        assert_true(blob->size < sizeof b->state);
        memcpy(b->state, blob->bytes + VIEWER_PAD, blob->size);
        b->state[blob->size] = 0;
        viewer_blob_release(&blob);
    }
    while ((blob = viewer_session_notice(b->session))) {
        size_t used = strlen(b->notices);
        if (used + blob->size + 2 < sizeof b->notices) {
            memcpy(b->notices + used, blob->bytes + VIEWER_PAD, blob->size);
            strcpy(b->notices + used + blob->size, "\n");
        }
        viewer_blob_release(&blob);
    }
    for (int v = 0; v < VIEWER_VIEWS; v++) {
        if (!(blob = viewer_session_frame(b->session, v))) continue;
        const uint8_t *bytes = blob->bytes + VIEWER_PAD;
        assert_true(blob->binary && blob->size > VIEWER_FRAME_HEADER && !memcmp(bytes, "TSRF", 4) && bytes[5] == v);
        assert_true(bytes[VIEWER_FRAME_HEADER] == 0xff && bytes[VIEWER_FRAME_HEADER + 1] == 0xd8); /* a JPEG file */
        b->frames[v]++;
        b->frame_steps[v] = bytes[28] | bytes[29] << 8 | bytes[30] << 16;
        viewer_blob_release(&blob);
    }
}

static int says(const struct bench *b, const char *text) { return strstr(b->state, text) != NULL; }
static double number(const struct bench *b, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(b->state, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : -1;
}
#define UNTIL(condition)                                                                                         \
    do {                                                                                                         \
        int tries_ = 0;                                                                                          \
        for (listen_once(b); !(condition); listen_once(b)) {                                                     \
            if (++tries_ > 300000) fail_msg("%s: never; state %s; notices %s", #condition, b->state, b->notices); \
            pause_a_moment();                                                                                    \
        }                                                                                                        \
    } while (0)

static void command(struct bench *b, const char *text)
{
    viewer_command c;
    char error[256];
    if (viewer_parse(text, strlen(text), &c, error, sizeof error)) fail_msg("%s: %s", text, error);
    while (viewer_session_command(b->session, &c, error, sizeof error)) pause_a_moment(); /* the queue is full */
}

static void path_of(const struct bench *b, const char *name, char path[128]) { snprintf(path, 128, "%s/%s", b->folder, name); }

static struct bench *open_bench_that(double alone_seconds)
{
    struct bench *b = (struct bench *)calloc(1, sizeof *b);
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    char path[128], error[256] = "";
    assert_non_null(b);
    strcpy(b->folder, "workbench-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    options.size = (tsr_size3){ 40, 44, 36 };
    require_ok(tsr_phantom_make("phantom_tumour", &options, &b->image, NULL));
    path_of(b, "head.nrrd", path);
    require_ok(tsr_volume_write(b->image, path, NULL));
    tsr_volume_destroy(&b->image);
    viewer_options session = {
        .folder = b->folder, .file = "head.nrrd", .device = "cpu", .threads = 2, .alone_seconds = alone_seconds, .segment = TSR_SEGMENT_OPTIONS
    };
    session.segment.target = (double)NAN; /* guessed */
    if (viewer_session_create(&session, wake, NULL, &b->session, error, sizeof error)) fail_msg("%s", error);
    UNTIL(says(b, "\"name\":\"head.nrrd\""));
    static const char *const views[] = { "source", "speed", "volume" };
    for (int v = 0; v < 3; v++) { /* the others are hidden */
        char text[128];
        snprintf(text, sizeof text, "{\"type\":\"view\",\"view\":\"%s\",\"width\":48,\"height\":40}", views[v]);
        command(b, text);
    }
    UNTIL(b->frames[0] && b->frames[1] && b->frames[2]);
    return b;
}

static struct bench *open_bench(void) { return open_bench_that(0); }

static void close_bench(struct bench *b)
{
    static const char *const names[] = { "head.nrrd", "mask.nii.gz", "run.session", "mesh.ply", "picture.png" };
    char path[128];
    viewer_session_destroy(&b->session);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(b, names[i], path);
        unlink(path);
    }
    assert_int_equal(rmdir(b->folder), 0); /* nothing else was left there */
    free(b);
}

/* The script of a session, with edits in the middle of a run, gives the library the same mask. */
static void replay(void **unused)
{
    (void)unused;
    struct bench *b = open_bench();
    command(b, "{\"type\":\"probe\",\"at\":[15,26,16],\"radius\":3}");
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":0.8}");
    command(b, "{\"type\":\"set\",\"name\":\"smoothing\",\"value\":0.5}");
    command(b, "{\"type\":\"paint\",\"from\":[15,26,16],\"radius\":4,\"begin\":true}");
    command(b, "{\"type\":\"start\"}");
    UNTIL(number(b, "steps") > 20);
    command(b, "{\"type\":\"erase\",\"from\":[18,26,16],\"to\":[20,27,16],\"radius\":2,\"begin\":true}");
    command(b, "{\"type\":\"set\",\"name\":\"target\",\"value\":0.66}");
    int shown = b->frames[VIEWER_VOLUME];
    UNTIL(b->frames[VIEWER_VOLUME] > shown + 2 && b->frame_steps[VIEWER_VOLUME] > 20);
    command(b, "{\"type\":\"pause\"}");
    UNTIL(says(b, "\"running\":false"));
    command(b, "{\"type\":\"step\",\"count\":5}");
    command(b, "{\"type\":\"undo\"}");
    command(b, "{\"type\":\"step\",\"count\":2}");
    command(b, "{\"type\":\"save\",\"what\":\"mask\",\"name\":\"mask.nii.gz\"}");
    command(b, "{\"type\":\"save\",\"what\":\"session\",\"name\":\"run.session\"}");
    command(b, "{\"type\":\"save\",\"what\":\"mesh\",\"name\":\"mesh.ply\"}");
    command(b, "{\"type\":\"save\",\"what\":\"picture\",\"name\":\"picture.png\"}");
    UNTIL(strstr(b->notices, "mesh.ply") && strstr(b->notices, "picture.png"));
    assert_null(strstr(b->notices, "\"error\""));

    tsr_context *context = test_context_on("cpu", 1);
    tsr_segment_options options = TSR_SEGMENT_OPTIONS;
    options.epsilon = 1;
    tsr_volume *image, *saved, *mask;
    tsr_segmentation *segmentation;
    char path[128], script[16384];
    path_of(b, "head.nrrd", path);
    require_ok(tsr_volume_read(path, NULL, &image));
    path_of(b, "mask.nii.gz", path);
    require_ok(tsr_volume_read(path, NULL, &saved));
    path_of(b, "run.session", path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    script[fread(script, 1, sizeof script - 1, file)] = 0;
    fclose(file);
    require_ok(tsr_segmentation_create(context, image, &options, &segmentation));
    require_ok(tsr_segmentation_script(segmentation, script, "run.session", NULL, NULL));
    require_ok(tsr_segmentation_mask(segmentation, &mask));
    assert_int_equal(tsr_volume_count(mask), tsr_volume_count(saved));
    assert_memory_equal(tsr_volume_data(mask), tsr_volume_data(saved), (size_t)tsr_volume_count(mask));
    assert_true(memchr(tsr_volume_data(mask), 1, (size_t)tsr_volume_count(mask)) != NULL);
    tsr_volume_destroy(&mask);
    tsr_segmentation_destroy(&segmentation);
    tsr_volume_destroy(&saved);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
    close_bench(b);
}

/* Loading while it runs, files that are none, the end in the middle of a run: nothing hangs, nothing is left. */
static void upheaval(void **unused)
{
    (void)unused;
    struct bench *b = open_bench();
    command(b, "{\"type\":\"start\"}");
    UNTIL(strstr(b->notices, "no surface to move"));
    command(b, "{\"type\":\"set\",\"name\":\"data_weight\",\"value\":0}"); /* no speed at all: it runs for ever and stays where it is */
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":1}");
    command(b, "{\"type\":\"paint\",\"from\":[15,26,16],\"radius\":5,\"begin\":true}");
    command(b, "{\"type\":\"start\"}");
    UNTIL(number(b, "steps") > 4);
    command(b, "{\"type\":\"load\",\"name\":\"none.nrrd\"}");
    UNTIL(strstr(b->notices, "none.nrrd: no such file"));
    assert_true(says(b, "\"running\":true")); /* what failed changed nothing */
    command(b, "{\"type\":\"load\",\"name\":\"head.nrrd\"}");
    UNTIL(says(b, "\"running\":false") && number(b, "steps") == 0);
    uint64_t none = 0;
    viewer_blob *histogram = viewer_session_histogram(b->session, &none);
    assert_non_null(histogram);
    viewer_blob_release(&histogram);
    assert_null(viewer_session_histogram(b->session, &none)); /* told once */
    for (int i = 0; i < 40; i++) {
        char text[160];
        snprintf(text, sizeof text, "{\"type\":\"paint\",\"from\":[%d,20,18],\"radius\":2,\"begin\":true}", 4 + i % 30);
        command(b, text);
        command(b, "{\"type\":\"view\",\"view\":\"volume\",\"mode\":\"mip\",\"azimuth\":10}");
        command(b, "{\"type\":\"pick\",\"x\":0.5,\"y\":0.5,\"action\":\"probe\",\"radius\":1}");
        command(b, "{\"type\":\"view\",\"view\":\"volume\",\"mode\":\"surface\"}");
    }
    UNTIL(number(b, "undo") == VIEWER_UNDO_LEVELS); /* memory of undo is bounded */
    command(b, "{\"type\":\"start\"}");
    UNTIL(number(b, "steps") > 2);
    assert_true(atomic_load(&woken) > 0);
    close_bench(b); /* in the middle of the run */
}

/* Undo and redo over strokes, and over a reset, which is a level of its own. Volumes are what tell the surfaces apart. */
static void redo(void **unused)
{
    (void)unused;
    struct bench *b = open_bench();
    command(b, "{\"type\":\"paint\",\"from\":[15,26,16],\"radius\":4,\"begin\":true}");
    UNTIL(number(b, "inside_voxels") > 0 && number(b, "undo") == 1);
    assert_true(says(b, "\"unsaved\":true"));
    const double one = number(b, "inside_voxels");
    command(b, "{\"type\":\"paint\",\"from\":[28,26,16],\"radius\":5,\"begin\":true}");
    UNTIL(number(b, "undo") == 2);
    const double two = number(b, "inside_voxels");
    assert_true(two > one + 100 && number(b, "redo") == 0);
    command(b, "{\"type\":\"undo\"}");
    UNTIL(number(b, "redo") == 1);
    assert_true(number(b, "inside_voxels") == one && number(b, "undo") == 1);
    command(b, "{\"type\":\"redo\"}");
    UNTIL(number(b, "redo") == 0);
    assert_true(number(b, "inside_voxels") == two && number(b, "undo") == 2);
    command(b, "{\"type\":\"redo\"}");
    UNTIL(strstr(b->notices, "nothing to redo"));
    command(b, "{\"type\":\"reset\"}");
    UNTIL(says(b, "\"surface\":false"));
    command(b, "{\"type\":\"undo\"}");
    UNTIL(number(b, "redo") == 1);
    assert_true(number(b, "inside_voxels") == two);
    command(b, "{\"type\":\"redo\"}");
    UNTIL(number(b, "redo") == 0);
    assert_true(says(b, "\"surface\":false") && number(b, "undo") == 1);
    command(b, "{\"type\":\"undo\"}");
    command(b, "{\"type\":\"paint\",\"from\":[15,10,16],\"radius\":3,\"begin\":true}"); /* something new: there is no way forward any more */
    UNTIL(number(b, "undo") == 3);
    assert_true(number(b, "redo") == 0);
    command(b, "{\"type\":\"save\",\"what\":\"session\",\"name\":\"run.session\"}");
    UNTIL(says(b, "\"unsaved\":false"));
    close_bench(b);
}

/* A surface that stays where it is ends its run by itself; one that vanishes says what to change; nothing is not saved. */
static void ends(void **unused)
{
    (void)unused;
    struct bench *b = open_bench();
    command(b, "{\"type\":\"save\",\"what\":\"mask\",\"name\":\"mask.nii.gz\"}");
    UNTIL(strstr(b->notices, "mask.nii.gz: not saved: there is no surface"));
    command(b, "{\"type\":\"set\",\"name\":\"data_weight\",\"value\":0}");
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":1}");
    command(b, "{\"type\":\"paint\",\"from\":[15,26,16],\"radius\":5,\"begin\":true}");
    command(b, "{\"type\":\"start\"}");
    UNTIL(strstr(b->notices, "has settled"));
    UNTIL(says(b, "\"running\":false"));
    assert_true(number(b, "steps") >= 500 && number(b, "steps") < 1e6);
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":0}"); /* curvature alone */
    command(b, "{\"type\":\"start\"}");
    UNTIL(strstr(b->notices, "\"warning\""));
    assert_non_null(strstr(b->notices, "The surface has shrunk to 1 voxel(s)"));
    assert_non_null(strstr(b->notices, "(alpha) nearer to 1"));
    command(b, "{\"type\":\"set\",\"name\":\"data_weight\",\"value\":1}");
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":1}");
    command(b, "{\"type\":\"set\",\"name\":\"target\",\"value\":100}");
    command(b, "{\"type\":\"start\"}");
    UNTIL(strstr(b->notices, "The surface vanished"));
    command(b, "{\"type\":\"save\",\"what\":\"field\",\"name\":\"field.nrrd\"}");
    UNTIL(strstr(b->notices, "field.nrrd: not saved"));
    close_bench(b); /* sees that there are no files */
}

/* Without a page a run is paused after a while, and the next page is told. */
static void alone(void **unused)
{
    (void)unused;
    static const int none[VIEWER_WINDOWS] = { 0 };
    struct bench *b = open_bench_that(0.3);
    command(b, "{\"type\":\"set\",\"name\":\"data_weight\",\"value\":0}");
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":1}");
    command(b, "{\"type\":\"paint\",\"from\":[15,26,16],\"radius\":5,\"begin\":true}");
    command(b, "{\"type\":\"start\"}");
    UNTIL(number(b, "steps") > 4);
    assert_true(says(b, "\"running\":true"));
    viewer_session_watch(b->session, 0, none);
    nanosleep(&(struct timespec){ .tv_nsec = 700000000 }, NULL);
    UNTIL(strstr(b->notices, "no page was open"));
    UNTIL(says(b, "\"running\":false"));
    close_bench(b);
}

/* Pieces of a stroke that wait become one where it is straight; a bend, a new stroke or another radius begins another. */
static void waiting_pieces(void **unused)
{
    (void)unused;
    struct bench *b = open_bench();
    char text[160];
    command(b, "{\"type\":\"set\",\"name\":\"data_weight\",\"value\":0}");
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":1}");
    command(b, "{\"type\":\"paint\",\"from\":[5,5,18],\"radius\":4,\"begin\":true}");
    UNTIL(says(b, "\"surface\":true") && number(b, "alpha") == 1);
    command(b, "{\"type\":\"step\",\"count\":100000}"); /* everything else waits */
    UNTIL(says(b, "\"running\":true"));
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "{\"type\":\"paint\",\"from\":[%d,20,18],\"to\":[%d,20,18],\"radius\":4,\"input\":%d}", 5 + i, 6 + i, 100 + i);
        command(b, text);
    }
    viewer_session *s = b->session;
    pthread_mutex_lock(&s->lock);
    const int straight = s->queue_count;
    const viewer_command joined = s->queue[s->queue_first];
    pthread_mutex_unlock(&s->lock);
    command(b, "{\"type\":\"paint\",\"from\":[25,20,18],\"to\":[25,30,18],\"radius\":4}");
    command(b, "{\"type\":\"paint\",\"from\":[25,30,18],\"to\":[25,31,18],\"radius\":3}");
    command(b, "{\"type\":\"paint\",\"from\":[25,31,18],\"to\":[25,20,18],\"radius\":3}");
    pthread_mutex_lock(&s->lock);
    const int bent = s->queue_count;
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < 60; i++) {
        snprintf(text, sizeof text, "{\"type\":\"erase\",\"from\":[%.9f,%.9f,18],\"to\":[%.9f,%.9f,18],\"radius\":4}", 20 + 10 * cos(0.1 * i),
                 20 + 10 * sin(0.1 * i), 20 + 10 * cos(0.1 * i + 0.1), 20 + 10 * sin(0.1 * i + 0.1));
        command(b, text);
    }
    pthread_mutex_lock(&s->lock);
    const int pieces = s->queue_count - bent;
    double far = 0;
    for (int i = bent; i < s->queue_count; i++) {
        const viewer_command *c = &s->queue[(s->queue_first + i) % VIEWER_QUEUE];
        const double middle = hypot(0.5 * (c->from[0] + c->to[0]) - 20, 0.5 * (c->from[1] + c->to[1]) - 20);
        far = fmax(far, 10 - middle);
    }
    pthread_mutex_unlock(&s->lock);
    command(b, "{\"type\":\"pause\"}");
    assert_int_equal(straight, 1);
    assert_true(joined.from[0] == 5 && joined.to[0] == 25 && joined.to[1] == 20 && joined.input == 119);
    assert_int_equal(bent, 4);
    /* A circle in small steps: every piece stays within an eighth of the radius of the brush (0.5) of it. Its sagitta says so. */
    assert_true(pieces >= 4 && pieces < 40 && far > 0 && far < 0.5);
    close_bench(b);
}

/* A drag in the 3-D window is one stroke with one level of undo, and does not climb what it paints. */
static void stroke_in_3d(void **unused)
{
    (void)unused;
    struct bench *b = open_bench();
    command(b, "{\"type\":\"view\",\"view\":\"volume\",\"width\":200,\"height\":200,\"mode\":\"surface\",\"azimuth\":0,\"elevation\":0}");
    command(b, "{\"type\":\"paint\",\"from\":[10,22,18],\"to\":[30,22,18],\"radius\":6,\"begin\":true}");
    command(b, "{\"type\":\"set\",\"name\":\"alpha\",\"value\":1,\"input\":7}");
    UNTIL(says(b, "\"surface\":true") && number(b, "alpha") == 1 && number(b, "undo") == 1);
    int shown = b->frames[VIEWER_VOLUME];
    command(b, "{\"type\":\"view\",\"view\":\"volume\",\"zoom\":1.01}");
    UNTIL(b->frames[VIEWER_VOLUME] > shown + 1);
    double before = number(b, "inside_voxels");
    for (int i = 0; i < 12; i++) { /* to and fro over the middle, as slowly as pictures of it come */
        char text[128];
        const double x = 0.5 + 0.08 * (i % 4 < 2 ? i % 2 : 1 - i % 2);
        snprintf(text, sizeof text, "{\"type\":\"pick\",\"x\":%g,\"y\":0.5,\"action\":\"paint\",\"radius\":4,\"begin\":%s}", x, i ? "false" : "true");
        command(b, text);
        if (i == 3) {
            UNTIL(number(b, "undo") == 2 && number(b, "inside_voxels") > before);
            shown = b->frames[VIEWER_VOLUME];
            UNTIL(b->frames[VIEWER_VOLUME] > shown || number(b, "inside_voxels") > before);
            before = number(b, "inside_voxels");
        }
        for (int k = 0; k < 20; k++) {
            listen_once(b);
            pause_a_moment();
        }
    }
    assert_true(number(b, "undo") == 2);
    assert_true(number(b, "inside_voxels") < 1.1 * before);
    close_bench(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(replay),        cmocka_unit_test(upheaval), cmocka_unit_test(redo),
                                        cmocka_unit_test(ends),          cmocka_unit_test(alone),    cmocka_unit_test(stroke_in_3d),
                                        cmocka_unit_test(waiting_pieces) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
