/* Cameras fitted by hand: steps forth and back, what each move does to a picture (checked by projections written here), closed forms, sessions that repeat to the bit, panes
 * against pictures drawn by other code. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RADIANS (3.14159265358979323846 / 180)

static tsr_pinhole truth_of(int which)
{
    tsr_camera c = { .fov = 40 };
    tsr_pinhole p;
    require_ok(tsr_camera_look_at(&c, which ? (tsr_vec3){ 20, -80, 26 } : (tsr_vec3){ -10, -75, 22 },
                                  which ? (tsr_vec3){ 10, 0, 0 } : (tsr_vec3){ 15, -2, 0 }, (tsr_vec3){ 0, 0, 1 }));
    require_ok(tsr_camera_to_pinhole(&c, 640, 360, &p));
    return p;
}

/* The pinhole once more, by itself. */
static double see(const tsr_pinhole *c, tsr_vec3 x, double pixel[2])
{
    double e[3];
    for (int i = 0; i < 3; i++) e[i] = c->rotation[i][0] * x.x + c->rotation[i][1] * x.y + c->rotation[i][2] * x.z + c->translation[i];
    const double a = e[0] / e[2], b = e[1] / e[2], r2 = a * a + b * b, g = 1 + c->k[0] * r2 + c->k[1] * r2 * r2;
    pixel[0] = c->fx * a * g + c->cx;
    pixel[1] = c->fy * b * g + c->cy;
    return e[2];
}

static void eye_of(const tsr_pinhole *c, double eye[3])
{
    for (int k = 0; k < 3; k++)
        eye[k] = -(c->rotation[0][k] * c->translation[0] + c->rotation[1][k] * c->translation[1] + c->rotation[2][k] * c->translation[2]);
}

struct bench {
    tsr_context *context;
    tsr_rig_editor *editor;
};

/* Names of pictures are those that `begin` writes. */
static int path_of(void *user, const char *name, char *path, size_t room, char *error, size_t error_room)
{
    (void)user;
    if (strchr(name, '/')) {
        snprintf(error, error_room, "%s: a path", name);
        return -1;
    }
    snprintf(path, room, "rig-edit-%s", name);
    return 0;
}

static tsr_image pictures[2]; /* drawn once for all tests */

static void begin(struct bench *b)
{
    tsr_rig_editor_options o = TSR_RIG_EDITOR_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    memset(b, 0, sizeof *b);
    b->context = test_context();
    o.path = path_of;
    write.overwrite = 1;
    for (int i = 0; i < 2; i++) {
        const tsr_pinhole c = truth_of(i);
        if (!pictures[i].pixels) require_ok(tsr_pitch_draw(&c, NULL, &pictures[i]));
        require_ok(tsr_image_write(&pictures[i], i ? "rig-edit-b.png" : "rig-edit-a.png", &write));
    }
    require_ok(tsr_rig_editor_create(b->context, &o, &b->editor));
}

static void end(struct bench *b)
{
    tsr_rig_editor_destroy(&b->editor);
    tsr_context_destroy(&b->context);
    unlink("rig-edit-a.png");
    unlink("rig-edit-b.png");
}

static void run(struct bench *b, const char *line)
{
    const tsr_status status = tsr_rig_editor_run(b->editor, line);
    if (status != TSR_OK) fail_msg("%s: %s", line, tsr_error_message());
}
static void refused(struct bench *b, const char *line, const char *with)
{
    if (tsr_rig_editor_run(b->editor, line) == TSR_OK) fail_msg("%s: not refused", line);
    if (!strstr(tsr_error_message(), with)) fail_msg("%s: %s", line, tsr_error_message());
}

static tsr_pinhole camera(struct bench *b, int32_t index)
{
    tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_rig_editor_get_camera(b->editor, index, &c));
    return c.pinhole;
}

static void put(struct bench *b, const tsr_pinhole *c)
{
    /* through numbers alone, as a page does */
    char line[128];
    double eye[3];
    eye_of(c, eye);
    const double *f = c->rotation[2];
    snprintf(line, sizeof line, "set yaw %.17g", atan2(f[0], f[1]) / RADIANS), run(b, line);
    snprintf(line, sizeof line, "set pitch %.17g", asin(f[2]) / RADIANS), run(b, line);
    run(b, "set roll 0");
    snprintf(line, sizeof line, "set fov %.17g", 2 * atan(0.5 * c->height / c->fy) / RADIANS), run(b, line);
    for (int k = 0; k < 3; k++) snprintf(line, sizeof line, "set %c %.17g", 'x' + k, eye[k]), run(b, line);
}

static double worst_of(const tsr_pinhole *a, const tsr_pinhole *b)
{
    double worst = 0;
    for (int i = 0; i < 25; i++) {
        const tsr_vec3 x = { -20.0 + 12 * (i % 5), -25.0 + 12 * (i / 5), 0 };
        double p[2], q[2];
        see(a, x, p);
        see(b, x, q);
        worst = fmax(worst, hypot(p[0] - q[0], p[1] - q[1]));
    }
    return worst;
}

static void numbers(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    const tsr_pinhole truth = truth_of(0);
    put(&b, &truth);
    tsr_pinhole c = camera(&b, 0);
    assert_true(worst_of(&c, &truth) < 1e-8);
    tsr_rig_editor_camera all = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_rig_editor_get_camera(b.editor, 0, &all));
    assert_true(all.edge >= 0 && all.edge < 1.5); /* the lines lie on their edges */
    assert_true(fabs(all.value[TSR_RIG_FOV] - 40) < 1e-9 && fabs(all.value[TSR_RIG_X] + 10) < 1e-9);
    run(&b, "turn 3 0 0");
    require_ok(tsr_rig_editor_get_camera(b.editor, 0, &all));
    assert_true(all.edge > 3);
    end(&b);
}

static void moves(void **unused)
{
    (void)unused;
    struct bench b;
    double p[2], q[2], before[3], after[3];
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    tsr_pinhole truth = truth_of(0);
    put(&b, &truth);
    tsr_pinhole c = camera(&b, 0), d;
    /* turned to the right by 5 degrees: what was 5 degrees to the right of the axis is on it; the eye stays */
    double e[3] = { sin(5 * RADIANS), 0, cos(5 * RADIANS) }, x[3];
    eye_of(&c, before);
    for (int k = 0; k < 3; k++) x[k] = before[k] + 50 * (c.rotation[0][k] * e[0] + c.rotation[1][k] * e[1] + c.rotation[2][k] * e[2]);
    run(&b, "turn 5 0 0");
    d = camera(&b, 0);
    see(&d, (tsr_vec3){ x[0], x[1], x[2] }, p);
    assert_true(fabs(p[0] - d.cx) < 1e-9 && fabs(p[1] - d.cy) < 1e-9);
    eye_of(&d, after);
    for (int k = 0; k < 3; k++) assert_true(fabs(after[k] - before[k]) < 1e-9);
    run(&b, "undo");
    /* up: what was above the axis is on it */
    for (int k = 0; k < 3; k++) x[k] = before[k] + 50 * (-sin(4 * RADIANS) * c.rotation[1][k] + cos(4 * RADIANS) * c.rotation[2][k]);
    run(&b, "turn 0 4 0");
    d = camera(&b, 0);
    see(&d, (tsr_vec3){ x[0], x[1], x[2] }, p);
    assert_true(fabs(p[1] - d.cy) < 1e-9);
    run(&b, "undo");
    /* moves along the camera's axes and the world's */
    run(&b, "move 1 2 3");
    d = camera(&b, 0);
    eye_of(&d, after);
    for (int k = 0; k < 3; k++) assert_true(fabs(after[k] - before[k] - (c.rotation[0][k] - 2 * c.rotation[1][k] + 3 * c.rotation[2][k])) < 1e-9);
    run(&b, "undo");
    run(&b, "lock y");
    run(&b, "shift 1 2 3");
    d = camera(&b, 0);
    eye_of(&d, after);
    assert_true(fabs(after[0] - before[0] - 1) < 1e-9 && fabs(after[1] - before[1]) < 1e-9 && fabs(after[2] - before[2] - 3) < 1e-9);
    run(&b, "undo");
    run(&b, "unlock y");
    /* orbit: the point stays where it is seen, as far away as before */
    const tsr_vec3 pivot = { 12, 3, 1 };
    const double depth = see(&c, pivot, p);
    run(&b, "orbit 20 7 12 3 1");
    d = camera(&b, 0);
    assert_true(fabs(see(&d, pivot, q) - depth) < 1e-9 && fabs(p[0] - q[0]) < 1e-8 && fabs(p[1] - q[1]) < 1e-8 && worst_of(&c, &d) > 5);
    run(&b, "undo");
    /* dolly zoom: what is as deep as the point keeps its size */
    tsr_vec3 beside = { pivot.x + 4 * c.rotation[0][0], pivot.y + 4 * c.rotation[0][1], pivot.z + 4 * c.rotation[0][2] };
    double r[2], s[2];
    see(&c, beside, r);
    run(&b, "dolly -8 12 3 1");
    d = camera(&b, 0);
    see(&d, pivot, q);
    see(&d, beside, s);
    assert_true(fabs((r[0] - p[0]) - (s[0] - q[0])) < 1e-8 && d.fy > 1.1 * c.fy);
    refused(&b, "lock spin", "no parameter");
    run(&b, "lock fov");
    refused(&b, "set fov 30", "locked");
    end(&b);
}

static void steps(void **unused)
{
    (void)unused;
    struct bench b;
    unsigned seed = 0;
    uint64_t state = 88172645463325252ull + seed;
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    enum { EDITS = 300 };
    tsr_pinhole *kept = malloc((EDITS + 1) * sizeof *kept);
    kept[0] = camera(&b, 0);
    for (int i = 1; i <= EDITS; i++) {
        char line[160];
        double v[3];
        for (int k = 0; k < 3; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            v[k] = 2 * (double)(state >> 11) * 0x1p-53 - 1;
        }
        if (i % 3 == 0) snprintf(line, sizeof line, "turn %.9g %.9g %.9g", v[0], v[1], v[2]);
        else if (i % 3 == 1) snprintf(line, sizeof line, "move %.9g %.9g %.9g", v[0], v[1], v[2]);
        else snprintf(line, sizeof line, "add fov %.9g", v[0]);
        run(&b, line);
        kept[i] = camera(&b, 0);
    }
    for (int i = EDITS - 1; i >= 0; i--) {
        run(&b, "undo");
        const tsr_pinhole c = camera(&b, 0);
        assert_memory_equal(&c, &kept[i], sizeof c);
    }
    refused(&b, "undo", "no step");
    for (int i = 1; i <= EDITS; i++) run(&b, "redo");
    const tsr_pinhole last = camera(&b, 0);
    assert_memory_equal(&last, &kept[EDITS], sizeof last);
    refused(&b, "redo", "no step");
    /* pieces of a drag are one step */
    run(&b, "turn 1 0 0");
    for (int i = 0; i < 20; i++) run(&b, "+ turn 0.1 0 0");
    run(&b, "undo");
    tsr_pinhole c = camera(&b, 0);
    assert_memory_equal(&c, &kept[EDITS], sizeof c);
    /* more than are kept: the oldest go, the others come back */
    for (int i = 0; i < TSR_RIG_EDITOR_STEPS + 40; i++) run(&b, "turn 0.01 0.01 -0.01");
    int back = 0;
    while (tsr_rig_editor_run(b.editor, "undo") == TSR_OK) back++;
    assert_int_equal(back, TSR_RIG_EDITOR_STEPS);
    /* the same script, the same bits */
    struct bench other;
    begin(&other);
    char *script = strdup(tsr_rig_editor_script(b.editor));
    for (char *p = strtok(script, "\n"); p; p = strtok(NULL, "\n")) run(&other, p);
    const tsr_pinhole a = camera(&b, 0), o = camera(&other, 0);
    assert_memory_equal(&a, &o, sizeof a);
    assert_string_equal(tsr_rig_editor_script(b.editor), tsr_rig_editor_script(other.editor));
    free(script);
    free(kept);
    end(&other);
    end(&b);
}

/* 10^5 edits: rows of the rotation stay orthonormal. */
static void orthonormal(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    for (int i = 0; i < (test_is_slow() ? 5000 : 100000); i++) run(&b, i & 1 ? "+ turn 0.37 -0.21 0.9" : "+ orbit 0.1 0.05 3 2 0");
    const tsr_pinhole c = camera(&b, 0);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double dot = 0;
            for (int m = 0; m < 3; m++) dot += c.rotation[i][m] * c.rotation[k][m];
            assert_true(fabs(dot - (i == k)) < 1e-12);
        }
    end(&b);
}

static void whole_rig(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    run(&b, "image b.png");
    tsr_pinhole one = truth_of(0), two = truth_of(1);
    run(&b, "camera 0");
    put(&b, &one);
    run(&b, "camera 1");
    put(&b, &two);
    run(&b, "rig on");
    run(&b, "turn 4 -2 1");
    run(&b, "move 1 0.5 -2");
    /* the relative pose is as before */
    const tsr_pinhole p = camera(&b, 0), q = camera(&b, 1);
    double before[3], after[3], ep[3], eq[3], e1[3], e2[3];
    eye_of(&p, ep), eye_of(&q, eq), eye_of(&one, e1), eye_of(&two, e2);
    for (int i = 0; i < 3; i++) {
        before[i] = after[i] = 0;
        for (int k = 0; k < 3; k++) {
            before[i] += one.rotation[i][k] * (e2[k] - e1[k]);
            after[i] += p.rotation[i][k] * (eq[k] - ep[k]);
        }
        assert_true(fabs(before[i] - after[i]) < 1e-8);
        for (int k = 0; k < 3; k++) {
            double r = 0, s = 0;
            for (int m = 0; m < 3; m++) r += two.rotation[i][m] * one.rotation[k][m], s += q.rotation[i][m] * p.rotation[k][m];
            assert_true(fabs(r - s) < 1e-9);
        }
    }
    end(&b);
}

static const tsr_vec3 places[8] = { { -52.5, -34, 0 }, { 0, -34, 0 },    { 52.5, -34, 0 },  { 0, 34, 0 },
                                    { 52.5, 34, 0 },   { 36, 20.16, 0 }, { 36, -20.16, 0 }, { 52.5, 3.72, 2.44 } };

static int pairs(struct bench *b, const tsr_pinhole *truth, double noise)
{
    int placed = 0;
    for (int i = 0; i < 8; i++) {
        char line[200];
        double p[2];
        if (!(see(truth, places[i], p) > 0) || p[0] < 2 || p[1] < 2 || p[0] > truth->width - 2 || p[1] > truth->height - 2) continue;
        snprintf(line, sizeof line, "pair %.9g %.9g %.9g %.12g %.12g", places[i].x, places[i].y, places[i].z, p[0] + noise * ((i * 7) % 5 - 2),
                 p[1] + noise * ((i * 3) % 5 - 2));
        run(b, line);
        placed++;
    }
    return placed;
}

static void solves(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    refused(&b, "solve", "no camera");
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    refused(&b, "solve", "at least 3");
    const tsr_pinhole truth = truth_of(0);
    const int n = pairs(&b, &truth, 0);
    assert_true(n >= 5);
    run(&b, "solve");
    tsr_pinhole c = camera(&b, 0);
    assert_true(worst_of(&c, &truth) < 1e-5);
    tsr_rig_editor_camera all = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_rig_editor_get_camera(b.editor, 0, &all));
    assert_true(all.pairs == n && all.pair_rms < 1e-6 && all.condition >= 1);
    run(&b, "undo");
    run(&b, "redo");
    run(&b, "unpair all");
    refused(&b, "unpair 0", "0");
    run(&b, "reset");
    pairs(&b, &truth, 0.5);
    run(&b, "solve");
    c = camera(&b, 0);
    require_ok(tsr_rig_editor_get_camera(b.editor, 0, &all));
    assert_true(worst_of(&c, &truth) < 4 && worst_of(&c, &truth) > 0.01 && all.sigma[TSR_RIG_FOV] > 0);
    run(&b, "refine");
    c = camera(&b, 0);
    if (!(worst_of(&c, &truth) < 0.3)) fail_msg("%g pixels", worst_of(&c, &truth));
    /* on a line: said, and nothing changes */
    run(&b, "unpair all");
    for (int i = 0; i < 5; i++) {
        char line[100];
        snprintf(line, sizeof line, "pair %d -34 0 %d 200", 10 * i, 100 * i + 20);
        run(&b, line);
    }
    const tsr_pinhole before = camera(&b, 0);
    refused(&b, "solve", "line");
    const tsr_pinhole after = camera(&b, 0);
    assert_memory_equal(&before, &after, sizeof before);
    end(&b);
}

static void pair_at(struct bench *b, const tsr_pinhole *truth, tsr_vec3 seen, tsr_vec3 given)
{
    char line[200];
    double pixel[2];
    assert_true(see(truth, seen, pixel) > 0);
    snprintf(line, sizeof line, "pair %.17g %.17g %.17g %.17g %.17g", given.x, given.y, given.z, pixel[0], pixel[1]);
    run(b, line);
}

/* Cameras from all pairs at once: one lens for both, and places of the proxy that are wrong: if those may move, what is left fits without an error. */
static void together(void **unused)
{
    (void)unused;
    static const double place[8][3] = { { -20, -20, 0 }, { 20, -25, 0 }, { 25, 20, 0 },  { -25, 15, 2 },
                                        { 0, 0, 4 },     { 10, -10, 3 }, { -10, -5, 1 }, { 15, 8, 2.5 } };
    struct bench b;
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    refused(&b, "solve all", "no camera has three pairs");
    run(&b, "image b.png");
    tsr_pinhole truth[2] = { truth_of(0), truth_of(1) }, c;
    for (int i = 0; i < 2; i++) truth[i].k[0] = -0.1; /* of one kind */
    for (int i = 0; i < 2; i++) {
        run(&b, i ? "camera 1" : "camera 0");
        for (int k = 0; k < (i ? 4 : 8); k++) { /* not the same places, so that none is tied to the other camera's */
            const tsr_vec3 x = { place[k][0] + 3 * i, place[k][1] - 2 * i, place[k][2] + i };
            pair_at(&b, &truth[i], x, x);
        }
    }
    run(&b, "solve"); /* four pairs say nothing of the lens: k1 is taken for something else */
    c = camera(&b, 1);
    const double alone = worst_of(&c, &truth[1]);
    run(&b, "solve all shared k1");
    for (int i = 0; i < 2; i++) {
        c = camera(&b, i);
        if (!(worst_of(&c, &truth[i]) < 1e-3)) fail_msg("camera %d: %.4f pixels off", i, worst_of(&c, &truth[i]));
    }
    assert_true(alone > 0.1 && camera(&b, 0).fx == camera(&b, 1).fx && fabs(camera(&b, 1).k[0] + 0.1) < 1e-5);
    tsr_rig_editor_camera all = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &all));
    assert_true(all.sigma[TSR_RIG_FOV] >= 0 && all.pair_rms < 1e-3);
    /* three more places, seen by both, are given up to a metre wrong */
    for (int k = 0; k < 3; k++) {
        const tsr_vec3 seen = { -15 + 14.0 * k, 5 - 8.0 * k, 1 }, given = { seen.x + 0.8, seen.y - 0.6 + 0.5 * k, seen.z + 0.4 };
        for (int i = 0; i < 2; i++) {
            run(&b, i ? "camera 1" : "camera 0");
            pair_at(&b, &truth[i], seen, given);
        }
    }
    run(&b, "solve all shared k1");
    double fixed = 0, moving = 0;
    for (int i = 0; i < 2; i++) c = camera(&b, i), fixed = fmax(fixed, worst_of(&c, &truth[i]));
    run(&b, "solve all shared points 100 k1");
    for (int i = 0; i < 2; i++) c = camera(&b, i), moving = fmax(moving, worst_of(&c, &truth[i]));
    if (!(fixed > 0.5 && moving < 0.02)) fail_msg("%.3f pixels off with the places held, %.4f with free ones", fixed, moving);
    run(&b, "solve all shared points 1e-7 k1"); /* as good as held */
    double held = 0;
    for (int i = 0; i < 2; i++) c = camera(&b, i), held = fmax(held, worst_of(&c, &truth[i]));
    if (!(fabs(held - fixed) < 0.01 * fixed)) fail_msg("%.4f pixels with places that hardly move, %.4f with none", held, fixed);
    refused(&b, "solve all points 0", "from 1e-09");
    refused(&b, "solve all points", "'points', expected");
    refused(&b, "solve all together", "'together', expected");
    run(&b, "undo");
    end(&b);
}

/* A camera from what another one sees, whose picture is darker and has less contrast; beyond `solve` and edges: nothing but colours is used. */
static void colours(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    tsr_image image;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    const tsr_pinhole truth[2] = { truth_of(0), truth_of(1) };
    require_ok(tsr_pitch_draw(&truth[1], NULL, &image));
    for (int64_t i = 0; i < (int64_t)image.width * image.height * image.channels; i++) image.pixels[i] = (uint8_t)(0.7 * image.pixels[i] + 25.5);
    require_ok(tsr_image_write(&image, "rig-edit-b.png", &write));
    tsr_image_destroy(&image);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    put(&b, &truth[0]);
    refused(&b, "refine colours", "one camera");
    run(&b, "image b.png");
    refused(&b, "refine wide colours", "expected one of them");
    put(&b, &truth[1]);
    run(&b, "turn 0.4 -0.3 0.3");
    run(&b, "shift 0.4 -0.5 0.3");
    run(&b, "add fov 0.6");
    tsr_pinhole c = camera(&b, 1);
    const double before = worst_of(&c, &truth[1]);
    run(&b, "refine colours");
    c = camera(&b, 1);
    const double after = worst_of(&c, &truth[1]);
    if (!(before > 5 && after < 0.5)) fail_msg("%.2f pixels off before, %.3f after", before, after);
    tsr_rig_editor_camera all = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &all));
    assert_true(all.sigma[TSR_RIG_YAW] > 0 && all.sigma[TSR_RIG_YAW] < 0.1 && all.sigma[TSR_RIG_FOV] > 0 && all.condition > 1 && all.condition < 1e6);
    c = camera(&b, 0);
    assert_true(worst_of(&c, &truth[0]) < 1e-5); /* the other one stays */
    run(&b, "undo");
    c = camera(&b, 1);
    assert_true(fabs(worst_of(&c, &truth[1]) - before) < 1e-12);
    run(&b, "lock fov"); /* held */
    const double fy = camera(&b, 1).fy;
    run(&b, "refine colours");
    assert_true(camera(&b, 1).fy == fy);
    /* looks elsewhere: nothing is shared */
    run(&b, "turn 170 0 0");
    refused(&b, "refine colours", "shares fewer than");
    end(&b);
}

/* What a camera makes of light, once more: value = 255 (gain light exp(a r^2 + b r^4))^response, r in half diagonals. */
static void tint(tsr_image *image, const double gain[3], double response, double a, double b)
{
    const double half = 0.25 * ((double)image->width * image->width + (double)image->height * image->height);
    for (int32_t y = 0; y < image->height; y++)
        for (int32_t x = 0; x < image->width; x++)
            for (int k = 0; k < image->channels; k++) {
                uint8_t *p = image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * (size_t)image->channels + k;
                const double r2 = (pow(x + 0.5 - 0.5 * image->width, 2) + pow(y + 0.5 - 0.5 * image->height, 2)) / half;
                *p = (uint8_t)fmin(255, 255 * pow(gain[k] * *p / 255 * exp(r2 * (a + r2 * b)), response) + 0.5);
            }
}

/* Gain, vignetting and response of a camera come out as they were put in; nothing else moves; pictures are shown without them. */
static void tones(void **unused)
{
    (void)unused;
    static const double gain[3] = { 0.8, 0.95, 0.7 }, response = 1.25, fall[2] = { -0.3, -0.2 };
    struct bench b;
    begin(&b);
    tsr_image image = { 0 }, grey;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
    write.overwrite = 1;
    const tsr_pinhole truth[2] = { truth_of(0), truth_of(1) };
    require_ok(tsr_pitch_draw(&truth[1], NULL, &grey));
    require_ok(tsr_image_create(grey.width, grey.height, 3, &image));
    for (int64_t i = 0; i < (int64_t)grey.width * grey.height; i++)
        for (int k = 0; k < 3; k++) image.pixels[3 * i + k] = grey.pixels[i * grey.channels + (grey.channels > 2 ? k : 0)];
    tint(&image, gain, response, fall[0], fall[1]);
    require_ok(tsr_image_write(&image, "rig-edit-b.png", &write));
    tsr_image_destroy(&image);
    tsr_image_destroy(&grey);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    put(&b, &truth[0]);
    refused(&b, "match", "one camera");
    run(&b, "image b.png");
    put(&b, &truth[1]);
    refused(&b, "match sideways", "'sideways', expected vignette");
    refused(&b, "match none all", "'none', expected vignette");
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
    const double before = c.difference;
    assert_true(c.response == 1 && c.gain[0] == 1 && c.gain[2] == 1 && c.vignetting[0] == 0);
    run(&b, "match");
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
    const double plain = c.difference;
    assert_true(c.response == 1 && c.vignetting[0] == 0 && c.gain[0] < 0.9);
    for (int all = 0; all < 2; all++) {
        run(&b, all ? "camera 0" : "camera 1");
        run(&b, all ? "match vignette response all" : "match vignette response");
        require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
        for (int k = 0; k < 3; k++)
            if (!(fabs(c.gain[k] / gain[k] - 1) < 0.04))
                fail_msg("gain %g %g %g, expected %g %g %g; response %g, expected %g; corners %g, expected %g; differences %g, %g, %g", c.gain[0],
                         c.gain[1], c.gain[2], gain[0], gain[1], gain[2], c.response, response, exp(c.vignetting[0] + c.vignetting[1]),
                         exp(fall[0] + fall[1]), before, plain, c.difference);
        const double corner = exp(c.vignetting[0] + c.vignetting[1]), wanted = exp(fall[0] + fall[1]);
        if (!(fabs(c.response - response) < 0.06 && fabs(corner - wanted) < 0.06))
            fail_msg("response %g, corners %g, expected %g", c.response, corner, wanted);
        if (!(plain < 0.8 * before && c.difference < 0.6 * plain)) fail_msg("differences %g, %g, %g", before, plain, c.difference);
        require_ok(tsr_rig_editor_get_camera(b.editor, 0, &c));
        assert_true(c.response == 1 && c.gain[1] == 1); /* the first is what others are measured by */
        run(&b, "undo");
    }
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
    assert_true(fabs(c.difference - plain) < 1e-12);
    run(&b, "camera 1");
    run(&b, "match none");
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
    assert_true(fabs(c.difference - before) < 1e-12 && c.gain[0] == 1);
    /* the pane of a camera shows its picture without what was found: as the other pitch is */
    run(&b, "match vignette response");
    tsr_rig_pane pane = TSR_RIG_PANE;
    pane.from_camera = pane.no_lines = 1;
    require_ok(tsr_rig_editor_draw(b.editor, &pane, 640, 360, &image));
    require_ok(tsr_pitch_draw(&truth[1], NULL, &grey));
    double sum = 0;
    for (int64_t i = 0; i < 640 * 360; i++) sum += fabs((double)image.pixels[3 * i] - (double)grey.pixels[i * grey.channels]) / (640 * 360);
    if (!(sum < 4)) fail_msg("%.2f grey values", sum);
    tsr_image_destroy(&image);
    tsr_image_destroy(&grey);
    run(&b, "turn 170 0 0");
    refused(&b, "match", "shares fewer than");
    end(&b);
}

/* ---- a wall with a pattern, lit by a projector, in formulas of their own ---- */

static double paint(double x, double z) { return 0.6 + 0.25 * sin(2.1 * x) * cos(2.7 * z) + 0.1 * sin(5 * z + 1); }
static double wish(double u, double v)
{
    return 0.12 + 0.08 * sin(0.03 * u) * sin(0.04 * v) + 0.05 * (u > 160);
} /* light at a pixel of the projector */

static int on_wall(const tsr_pinhole *c, double u, double v, double *x, double *z)
{
    double eye[3], d[3];
    eye_of(c, eye);
    for (int k = 0; k < 3; k++) d[k] = c->rotation[0][k] * (u - c->cx) / c->fx + c->rotation[1][k] * (v - c->cy) / c->fy + c->rotation[2][k];
    *x = eye[0] - d[0] * eye[1] / d[1];
    *z = eye[2] - d[2] * eye[1] / d[1];
    return fabs(*x) < 3 && fabs(*z) < 2;
}

/* What the viewer sees while the projector shows a picture (NULL: white; dark: nothing), with some light of the room. */
static void take(const tsr_pinhole *viewer, const tsr_pinhole *projector, const tsr_image *shown, int dark, tsr_image *image)
{
    require_ok(tsr_image_create(viewer->width, viewer->height, 3, image));
    for (int32_t v = 0; v < viewer->height; v++)
        for (int32_t u = 0; u < viewer->width; u++) {
            double x, z, p[2], light = 0;
            if (!on_wall(viewer, u + 0.5, v + 0.5, &x, &z)) continue;
            const tsr_vec3 at = { x, 0, z };
            if (!dark && see(projector, at, p) > 0 && p[0] > 0.5 && p[1] > 0.5 && p[0] < projector->width - 0.5 && p[1] < projector->height - 0.5) {
                light = 1;
                if (shown) {
                    const int i = (int)(p[0] - 0.5), k = (int)(p[1] - 0.5);
                    const double a = p[0] - 0.5 - i, b = p[1] - 0.5 - k;
                    const uint8_t *q = shown->pixels + 3 * (k * shown->width + i);
                    light = pow(
                        ((1 - a) * (1 - b) * q[0] + a * (1 - b) * q[3] + (1 - a) * b * q[3 * shown->width] + a * b * q[3 * shown->width + 3]) / 255,
                        2.2);
                }
            }
            memset(image->pixels + 3 * (v * viewer->width + u), (int)(255 * pow(paint(x, z) * (0.02 + 0.9 * light), 1 / 2.2) + 0.5), 3);
        }
}

static void canvases(void **unused)
{
    (void)unused;
    static const char *const name[3] = { "rig-edit-show.png", "rig-edit-lit.png", "rig-edit-dark.png" };
    static const float v[4][3] = { { -3, 0, -2 }, { 3, 0, -2 }, { 3, 0, 2 }, { -3, 0, 2 } };
    static const uint32_t t[6] = { 0, 1, 2, 0, 2, 3 };
    struct bench b;
    tsr_image image[3] = { { 0 } }, made = { 0 }, after = { 0 }, plain = { 0 };
    tsr_pinhole projector, viewer;
    tsr_camera c = { .fov = 32 }, d = { .fov = 44 };
    tsr_mesh *mesh = NULL;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_rig_compensate_options o = TSR_RIG_COMPENSATE_OPTIONS;
    tsr_rig_compensated report = TSR_RIG_COMPENSATED;
    write.overwrite = 1;
    begin(&b);
    require_ok(tsr_camera_look_at(&c, (tsr_vec3){ 0.4, -5, 0.2 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    require_ok(tsr_camera_look_at(&d, (tsr_vec3){ -1.5, -5.5, 0.8 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    require_ok(tsr_camera_to_pinhole(&c, 320, 240, &projector));
    require_ok(tsr_camera_to_pinhole(&d, 480, 360, &viewer));
    require_ok(tsr_mesh_create(NULL, 4, 2, 0, &mesh));
    memcpy(tsr_mesh_vertices(mesh), v, sizeof v);
    memcpy(tsr_mesh_triangles(mesh), t, sizeof t);
    require_ok(tsr_mesh_write(mesh, "rig-edit-canvas.ply", &write));
    tsr_mesh_destroy(&mesh);
    require_ok(tsr_image_create(320, 240, 3, &image[0]));
    for (int i = 0; i < 320 * 240; i++) memset(image[0].pixels + 3 * i, (int)(255 * pow(wish(i % 320 + 0.5, i / 320 + 0.5), 1 / 2.2) + 0.5), 3);
    take(&viewer, &projector, NULL, 0, &image[1]);
    take(&viewer, &projector, NULL, 1, &image[2]);
    run(&b, "proxy canvas.ply");
    for (int i = 0; i < 3; i++) {
        require_ok(tsr_image_write(&image[i], name[i], &write));
        run(&b, i == 0 ? "image show.png" : i == 1 ? "image lit.png" : "image dark.png");
        put(&b, i ? &viewer : &projector);
        unlink(name[i]);
    }
    unlink("rig-edit-canvas.ply");
    assert_int_equal(tsr_rig_editor_compensate(b.editor, &o, &made, NULL), TSR_ERROR_ARGUMENT);
    o.projector = "show", o.lit = "nobody";
    assert_int_equal(tsr_rig_editor_compensate(b.editor, &o, &made, NULL), TSR_ERROR_ARGUMENT);
    assert_non_null(strstr(tsr_error_message(), "no camera 'nobody'"));
    o.lit = "lit", o.dark = "dark", o.gamma = 9;
    assert_int_equal(tsr_rig_editor_compensate(b.editor, &o, &made, NULL), TSR_ERROR_ARGUMENT);
    o.gamma = 0;
    require_ok(tsr_rig_editor_compensate(b.editor, &o, &made, &report));
    if (!(report.canvas > 0.95 && report.short_of_light < 0.01 && report.enough > 1))
        fail_msg("%g %g %g", report.canvas, report.short_of_light, report.enough);
    take(&viewer, &projector, &made, 0, &after);
    take(&viewer, &projector, &image[0], 0, &plain);
    double error[2] = { 0 };
    int count = 0;
    for (int32_t y = 0; y < viewer.height; y++)
        for (int32_t x = 0; x < viewer.width; x++) {
            double wx, wz, p[2];
            if (!on_wall(&viewer, x + 0.5, y + 0.5, &wx, &wz)) continue;
            see(&projector, (tsr_vec3){ wx, 0, wz }, p);
            if (!(p[0] > 8 && p[1] > 8 && p[0] < 312 && p[1] < 232) || fabs(p[0] - 160) < 4) continue;
            const double wanted = 255 * pow(wish(p[0], p[1]), 1 / 2.2);
            error[0] += fabs(after.pixels[3 * (y * viewer.width + x)] - wanted);
            error[1] += fabs(plain.pixels[3 * (y * viewer.width + x)] - wanted);
            count++;
        }
    if (!(count > 20000 && error[0] / count < 1.5 && error[1] / count > 10))
        fail_msg("%d pixels: %.2f grey values off, %.2f without", count, error[0] / count, error[1] / count);
    tsr_image_destroy(&made);
    o.dim = 6; /* more than there is: said, and how much is left out */
    require_ok(tsr_rig_editor_compensate(b.editor, &o, &made, &report));
    assert_true(report.short_of_light > 0.2 && report.enough < 6);
    tsr_image_destroy(&made);
    o.dim = report.enough;
    require_ok(tsr_rig_editor_compensate(b.editor, &o, &made, &report));
    if (!(report.short_of_light <= 0.0101)) fail_msg("%g at %g", report.short_of_light, o.dim);
    tsr_image_destroy(&made);
    run(&b, "camera 0");
    run(&b, "turn 180 0 0");
    assert_int_equal(tsr_rig_editor_compensate(b.editor, &o, &made, &report), TSR_ERROR_STATE);
    for (int i = 0; i < 3; i++) tsr_image_destroy(&image[i]);
    tsr_image_destroy(&after);
    tsr_image_destroy(&plain);
    end(&b);
}

/* Seen head-on, field of view and distance are one: said by all three ways to solve. */
static void head_on(void **unused)
{
    (void)unused;
    struct bench b;
    char remarks[1024];
    begin(&b);
    tsr_camera above = { .fov = 40 };
    tsr_pinhole truth;
    tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_camera_look_at(&above, (tsr_vec3){ 0, 0, 70 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    require_ok(tsr_camera_to_pinhole(&above, 640, 360, &truth));
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    put(&b, &truth);
    for (int i = 0; i < 6; i++) pair_at(&b, &truth, (tsr_vec3){ -20 + 8 * i, 9 - 7 * (i % 4), 0 }, (tsr_vec3){ -20 + 8 * i, 9 - 7 * (i % 4), 0 });
    tsr_remarks_take(remarks, sizeof remarks);
    run(&b, "solve all");
    require_ok(tsr_rig_editor_get_camera(b.editor, 0, &c));
    tsr_remarks_take(remarks, sizeof remarks);
    if (!(c.condition > 1e6 && strstr(remarks, "solve"))) fail_msg("condition %g, remarks '%s'", c.condition, remarks);
    run(&b, "lock fov");
    run(&b, "solve all");
    require_ok(tsr_rig_editor_get_camera(b.editor, 0, &c));
    if (!(c.condition >= 1 && c.condition < 1e6)) fail_msg("condition %g", c.condition);
    end(&b);
}

static void vanishing(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    const tsr_pinhole truth = truth_of(0);
    double eye[3];
    put(&b, &truth);
    run(&b, "turn 6 -3 2");
    run(&b, "add fov 4");
    refused(&b, "vanish", "expected two");
    static const double lines[4][5] = { { 0, 0, -34, 30, -34 }, { 0, 0, 20.16, 36, 20.16 }, { 1, 0, -30, 0, 30 }, { 1, 36, -20, 36, 20 } };
    for (int i = 0; i < 4; i++) {
        char line[200];
        double p[2], q[2];
        see(&truth, (tsr_vec3){ lines[i][1], lines[i][2], 0 }, p);
        see(&truth, (tsr_vec3){ lines[i][3], lines[i][4], 0 }, q);
        snprintf(line, sizeof line, "line %c %.12g %.12g %.12g %.12g", "xy"[(int)lines[i][0]], p[0], p[1], q[0], q[1]);
        run(&b, line);
    }
    run(&b, "vanish");
    const tsr_pinhole c = camera(&b, 0);
    assert_true(fabs(c.fy / truth.fy - 1) < 1e-6);
    for (int i = 0; i < 9; i++) assert_true(fabs(c.rotation[i / 3][i % 3] - truth.rotation[i / 3][i % 3]) < 1e-6);
    eye_of(&c, eye);
    assert_true(fabs(eye[0] + 10) < 1e-8); /* where it stands is not said by lines */
    end(&b);
}

/* Panes: the camera's own picture is the picture; from the true camera the pitch from above is the pitch. */
static void panes(void **unused)
{
    (void)unused;
    struct bench b;
    tsr_image image = { 0 }, drawn = { 0 };
    tsr_rig_pane pane = TSR_RIG_PANE;
    begin(&b);
    pane.from_camera = 1;
    pane.no_lines = 1;
    assert_int_equal(tsr_rig_editor_draw(b.editor, &pane, 64, 64, &image), TSR_ERROR_STATE);
    run(&b, "proxy pitch");
    run(&b, "image a.png");
    const tsr_pinhole truth = truth_of(0);
    put(&b, &truth);
    require_ok(tsr_rig_editor_draw(b.editor, &pane, 640, 360, &image));
    require_ok(tsr_pitch_draw(&truth, NULL, &drawn));
    for (int64_t i = 0; i < 640 * 360; i++) assert_true(abs((int)image.pixels[3 * i] - (int)drawn.pixels[i]) <= 1);
    tsr_image_destroy(&image);
    tsr_image_destroy(&drawn);
    /* another eye: what the picture shows of the plane, against the pitch drawn from there */
    tsr_camera above = { .fov = 30 };
    require_ok(tsr_camera_look_at(&above, (tsr_vec3){ 12, -40, 60 }, (tsr_vec3){ 12, -5, 0 }, (tsr_vec3){ 0, 0, 1 }));
    pane.from_camera = 0;
    pane.view = above;
    tsr_pinhole view;
    require_ok(tsr_camera_to_pinhole(&above, 320, 240, &view));
    require_ok(tsr_rig_editor_draw(b.editor, &pane, 320, 240, &image));
    require_ok(tsr_pitch_draw(&view, NULL, &drawn));
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < 320 * 240; i++) {
        const uint8_t *p = image.pixels + 3 * i;
        if (p[0] != p[1] || p[1] != p[2] || p[0] == 74) continue; /* marks, background, what nobody saw */
        sum += pow((double)p[0] - drawn.pixels[i], 2);
        count++;
    }
    const double psnr = 10 * log10(255 * 255 / (sum / (double)count));
    if (!(count > 320 * 240 / 3 && psnr > 25)) fail_msg("%lld pixels, %.1f dB", (long long)count, psnr);
    tsr_image_destroy(&image);
    tsr_image_destroy(&drawn);
    /* with another camera the two differ less where both are right */
    double right, wrong;
    run(&b, "image b.png");
    const tsr_pinhole second = truth_of(1);
    put(&b, &second);
    tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
    right = c.difference;
    run(&b, "turn 2 0 0");
    require_ok(tsr_rig_editor_get_camera(b.editor, 1, &c));
    wrong = c.difference;
    if (!(right >= 0 && right < 0.6 * wrong)) fail_msg("%g and %g", right, wrong);
    for (int blend = 0; blend <= TSR_RIG_BLEND_ONION; blend++) {
        pane.blend = (tsr_rig_blend)blend;
        pane.mix = 0.5;
        pane.loupe[0] = pane.loupe[1] = blend & 1 ? 0.5 : 0;
        require_ok(tsr_rig_editor_draw(b.editor, &pane, 200, 150, &image));
        tsr_image_destroy(&image);
    }
    /* picks: a place of the plane and back; corners draw the hand */
    double at[2], pixel[2];
    tsr_vec3 point;
    int found;
    pane.loupe[0] = pane.loupe[1] = 0;
    pane.from_camera = 1;
    see(&second, (tsr_vec3){ 3, 7, 0 }, at);
    run(&b, "undo");
    require_ok(tsr_rig_editor_pick(b.editor, &pane, 640, 360, at, 0, pixel, &point, &found));
    if (!(found && fabs(pixel[0] - at[0]) < 1e-9 && hypot(point.x - 3, point.y - 7) < 1e-3 && fabs(point.z) < 1e-3))
        fail_msg("%d: %g %g %g", found, point.x, point.y, point.z);
    see(&second, (tsr_vec3){ 36, -20.16, 0 }, at);
    at[0] += 4;
    require_ok(tsr_rig_editor_pick(b.editor, &pane, 640, 360, at, 8, pixel, &point, &found));
    assert_true(found && point.x == 36 && point.y == -20.16);
    end(&b);
}

/* A box in front of a wall: what it hides gets none of the picture. */
static void hidden(void **unused)
{
    (void)unused;
    struct bench b;
    tsr_mesh *mesh = NULL;
    tsr_image image = { 0 };
    begin(&b);
    require_ok(tsr_mesh_create(NULL, 8, 4, 0, &mesh));
    static const float v[8][3] = { { -10, 0, -10 }, { 10, 0, -10 }, { 10, 0, 10 }, { -10, 0, 10 },
                                   { -2, -5, -2 },  { 2, -5, -2 },  { 2, -5, 2 },  { -2, -5, 2 } };
    static const uint32_t t[12] = { 0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7 };
    memcpy(tsr_mesh_vertices(mesh), v, sizeof v);
    memcpy(tsr_mesh_triangles(mesh), t, sizeof t);
    const char *file = "rig-edit-wall.ply";
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    require_ok(tsr_mesh_write(mesh, file, &write));
    tsr_mesh_destroy(&mesh);
    run(&b, "proxy wall.ply");
    unlink(file);
    run(&b, "image a.png");
    run(&b, "set yaw 0"), run(&b, "set pitch 0"), run(&b, "set roll 0"), run(&b, "set x 0"), run(&b, "set y -25"), run(&b, "set z 0"),
        run(&b, "set fov 60");
    tsr_rig_pane pane = TSR_RIG_PANE;
    pane.view = (tsr_camera){ .fov = 60 };
    pane.no_lines = 1;
    require_ok(
        tsr_camera_look_at(&pane.view, (tsr_vec3){ 18, -25, 0 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 })); /* sees the wall behind the box */
    int grey[2];
    for (int shadow = 0; shadow < 2; shadow++) {
        pane.no_shadow = !shadow;
        require_ok(tsr_rig_editor_draw(b.editor, &pane, 320, 240, &image));
        tsr_pinhole p;
        double at[2];
        require_ok(tsr_camera_to_pinhole(&pane.view, 320, 240, &p));
        see(&p, (tsr_vec3){ 0, 0, 0 }, at); /* the middle of the wall, which the camera does not see */
        const uint8_t *q = image.pixels + 3 * ((int)at[1] * 320 + (int)at[0]);
        grey[shadow] = q[0] == 74 && q[1] == 74;
        tsr_image_destroy(&image);
    }
    assert_true(!grey[0] && grey[1]);
    end(&b);
}

static void bad(void **unused)
{
    (void)unused;
    struct bench b;
    begin(&b);
    refused(&b, "jump 3", "no command");
    refused(&b, "refine", "no camera");
    refused(&b, "image none.png", "none.png");
    refused(&b, "image /etc/passwd", "a path");
    run(&b, "image a.png");
    refused(&b, "refine", "no proxy");
    refused(&b, "proxy missing.ply", "missing.ply");
    run(&b, "proxy pitch");
    refused(&b, "turn 1 2", "expected turn");
    refused(&b, "turn 1 2 nan", "expected a number");
    refused(&b, "turn 1 2 1e300", "expected a number");
    refused(&b, "set fov 0", "expected 0.1");
    refused(&b, "set k1 -9", "shows nothing");
    refused(&b, "pair 1 2 3 -5 9", "expected one of the image");
    refused(&b, "line w 1 1 9 9", "expected the axis");
    refused(&b, "camera 1", "expected a number");
    refused(&b, "restore x", "no snapshot");
    refused(&b, "rig maybe", "on or off");
    refused(&b, "dolly 1 0 -900 0", "behind");
    run(&b, "# a remark");
    run(&b, "");
    run(&b, "snapshot s");
    run(&b, "turn 9 0 0");
    run(&b, "restore s");
    char longer[1200];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    refused(&b, longer, "bytes");
    tsr_rig *rig = NULL;
    require_ok(tsr_rig_editor_get_rig(b.editor, &rig));
    assert_int_equal(tsr_rig_count(rig), 1);
    tsr_rig_destroy(&rig);
    end(&b);
}

/* A telephone's picture, stored lying and to be turned by its EXIF orientation: with the camera of a file that counts pixels as they are stored, as COLMAP does, it lies;
 * alone it stands. */
static void turned(void **unused)
{
    (void)unused;
    struct bench b;
    tsr_rig_camera c;
    static const uint8_t exif[36] = { 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0, 'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 6 };
    tsr_write_options write = TSR_WRITE_OPTIONS;
    uint8_t *bytes = (uint8_t *)malloc(1 << 20);
    write.overwrite = 1;
    begin(&b);
    require_ok(tsr_image_write(&pictures[0], "rig-edit-c.jpg", &write));
    FILE *f = fopen("rig-edit-c.jpg", "rb");
    assert_true(f && bytes);
    const size_t size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    assert_non_null(f = fopen("rig-edit-c.jpg", "wb"));
    assert_true(fwrite(bytes, 1, 2, f) == 2 && fwrite(exif, 1, sizeof exif, f) == sizeof exif && fwrite(bytes + 2, 1, size - 2, f) == size - 2);
    fclose(f);
    assert_non_null(f = fopen("rig-edit-c.json", "w"));
    fputs("{\"w\": 640, \"h\": 360, \"fl_x\": 500, \"frames\": [{\"file_path\": \"c.jpg\", \"transform_matrix\": "
          "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}",
          f);
    fclose(f);
    run(&b, "cameras c.json");
    run(&b, "image c.jpg");
    for (int i = 0; i < 2; i++) {
        tsr_rig *rig;
        require_ok(tsr_rig_editor_get_rig(b.editor, &rig));
        require_ok(tsr_rig_get(rig, i, &c));
        assert_true(c.width == (i ? 360 : 640) && c.height == (i ? 640 : 360));
        tsr_rig_destroy(&rig);
    }
    end(&b);
    free(bytes);
    unlink("rig-edit-c.jpg");
    unlink("rig-edit-c.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers),     cmocka_unit_test(moves),     cmocka_unit_test(steps),
                                        cmocka_unit_test(orthonormal), cmocka_unit_test(whole_rig), cmocka_unit_test(solves),
                                        cmocka_unit_test(together),    cmocka_unit_test(colours),   cmocka_unit_test(tones),
                                        cmocka_unit_test(canvases),    cmocka_unit_test(head_on),   cmocka_unit_test(vanishing),
                                        cmocka_unit_test(panes),       cmocka_unit_test(hidden),    cmocka_unit_test(bad),
                                        cmocka_unit_test(turned) };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 0; i < 2; i++) tsr_image_destroy(&pictures[i]);
    return failed;
}
