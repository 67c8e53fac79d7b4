/* vision/rig_edit/rig_edit_commands.c: commands in words, and those that move cameras, lock parameters, place pairs and lines. docs/formats/rig-session.md. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/dense.h"
#include "vision/rig_edit/rig_edit.h"

#define RADIANS (3.14159265358979323846 / 180)
static const double far_off = 1e12; /* numbers of commands are below it */

/* ---- words --------------------------------------------------------------------------------------------------------------------- */

tsr_status edit_split(const char *line, edit_words *w)
{
    const size_t n = strlen(line);
    w->count = w->continues = 0;
    if (n >= sizeof w->text) TSR_FAIL(TSR_ERROR_ARGUMENT, "a command of %zu bytes, expected fewer than %zu", n, sizeof w->text);
    memcpy(w->text, line, n + 1);
    for (char *p = w->text; *p;) {
        while (isspace((unsigned char)*p)) *p++ = 0;
        if (!*p || (*p == '#' && !w->count)) break;
        if (*p == '+' && !w->count && !w->continues && isspace((unsigned char)p[1])) {
            w->continues = 1;
            p++;
            continue;
        }
        if (w->count == EDIT_WORDS) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: a command of more than %d words", w->word[0], EDIT_WORDS);
        w->word[w->count++] = p;
        for (; *p && !isspace((unsigned char)*p); p++)
            if (!isprint((unsigned char)*p)) TSR_FAIL(TSR_ERROR_ARGUMENT, "a command with an unprintable character");
    }
    return TSR_OK;
}

tsr_status edit_number(const edit_words *w, int index, const char *what, double lower, double upper, double *value)
{
    char *end;
    *value = strtod(w->word[index], &end);
    if (end == w->word[index] || *end || !(*value >= lower && *value <= upper))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: '%.40s', expected a number from %.6g to %.6g", what, w->word[index], lower, upper);
    return TSR_OK;
}

tsr_status edit_counts(const edit_words *w, int least, int most, const char *form)
{
    if (w->count - 1 < least || w->count - 1 > most)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s with %d words behind it, expected %s", w->word[0], w->count - 1, form);
    return TSR_OK;
}

static tsr_status numbers(const edit_words *w, int from, int count, double *value)
{
    for (int i = 0; i < count; i++) TSR_TRY(edit_number(w, from + i, w->word[0], -far_off, far_off, &value[i]));
    return TSR_OK;
}

static const char *const names[TSR_RIG_PARAMETERS] = { "yaw", "pitch", "roll", "x", "y", "z", "fov", "aspect", "cx", "cy", "k1", "k2", "p1", "p2" };

const char *tsr_rig_editor_parameter_name(int32_t parameter) { return parameter >= 0 && parameter < TSR_RIG_PARAMETERS ? names[parameter] : NULL; }

int edit_parameter(const char *name)
{
    for (int i = 0; i < TSR_RIG_PARAMETERS; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

/* ---- cameras as numbers ---------------------------------------------------------------------------------------------------------- */

static void eye_of(const tsr_pinhole *c, double eye[3])
{
    for (int k = 0; k < 3; k++)
        eye[k] = -(c->rotation[0][k] * c->translation[0] + c->rotation[1][k] * c->translation[1] + c->rotation[2][k] * c->translation[2]);
}

static void stand_at(tsr_pinhole *c, const double eye[3])
{
    for (int i = 0; i < 3; i++) c->translation[i] = -(c->rotation[i][0] * eye[0] + c->rotation[i][1] * eye[1] + c->rotation[i][2] * eye[2]);
}

/* Heading from +y to +x, rise above the plane z = 0, turn about the axis: a rotation by them, and back. */
static void rotation_of(const double angle[3], double r[3][3])
{
    const double cy = cos(angle[0] * RADIANS), sy = sin(angle[0] * RADIANS), cp = cos(angle[1] * RADIANS), sp = sin(angle[1] * RADIANS),
                 cr = cos(angle[2] * RADIANS), sr = sin(angle[2] * RADIANS);
    const double f[3] = { sy * cp, cy * cp, sp }, right[3] = { cy, -sy, 0 }, down[3] = { sy * sp, cy * sp, -cp };
    for (int k = 0; k < 3; k++) {
        r[0][k] = cr * right[k] + sr * down[k];
        r[1][k] = cr * down[k] - sr * right[k];
        r[2][k] = f[k];
    }
}

static void angles_of(const double r[3][3], double angle[3])
{
    const double *f = r[2];
    angle[1] = asin(fmax(-1, fmin(1, f[2]))) / RADIANS;
    angle[0] = hypot(f[0], f[1]) > 1e-9 ? atan2(f[0], f[1]) / RADIANS : 0;
    double plain[3][3];
    const double flat[3] = { angle[0], angle[1], 0 };
    rotation_of(flat, plain);
    double along = 0, down = 0;
    for (int k = 0; k < 3; k++) {
        along += r[0][k] * plain[0][k];
        down += r[0][k] * plain[1][k];
    }
    angle[2] = atan2(down, along) / RADIANS;
}

double edit_value(const tsr_pinhole *c, int parameter)
{
    double v[3];
    if (parameter <= TSR_RIG_ROLL) {
        angles_of((const double(*)[3])c->rotation, v);
        return v[parameter];
    }
    if (parameter <= TSR_RIG_Z) {
        eye_of(c, v);
        return v[parameter - TSR_RIG_X];
    }
    switch (parameter) {
    case TSR_RIG_FOV: return 2 * atan(0.5 * c->height / c->fy) / RADIANS;
    case TSR_RIG_ASPECT: return c->fy / c->fx;
    case TSR_RIG_CX: return c->cx;
    case TSR_RIG_CY: return c->cy;
    case TSR_RIG_K1: return c->k[0];
    case TSR_RIG_K2: return c->k[1];
    case TSR_RIG_P1: return c->p[0];
    default: return c->p[1];
    }
}

static tsr_status in_range(int parameter, double value, double lower, double upper)
{
    if (!(value >= lower && value <= upper)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %.6g, expected %g to %g", names[parameter], value, lower, upper);
    return TSR_OK;
}

static tsr_status put_value(tsr_pinhole *c, int parameter, double value)
{
    double v[3], eye[3];
    if (parameter <= TSR_RIG_ROLL) {
        TSR_TRY(in_range(parameter, value, parameter == TSR_RIG_PITCH ? -90 : -36000, parameter == TSR_RIG_PITCH ? 90 : 36000));
        angles_of((const double(*)[3])c->rotation, v);
        eye_of(c, eye);
        v[parameter] = value;
        rotation_of(v, c->rotation);
        tsr_dense_rotation(c->rotation);
        stand_at(c, eye);
        return TSR_OK;
    }
    if (parameter <= TSR_RIG_Z) {
        TSR_TRY(in_range(parameter, value, -far_off, far_off));
        eye_of(c, eye);
        eye[parameter - TSR_RIG_X] = value;
        stand_at(c, eye);
        return TSR_OK;
    }
    const double ratio = c->fy / c->fx;
    switch (parameter) {
    case TSR_RIG_FOV:
        TSR_TRY(in_range(parameter, value, 0.1, 170));
        c->fy = 0.5 * c->height / tan(0.5 * value * RADIANS);
        c->fx = c->fy / ratio;
        break;
    case TSR_RIG_ASPECT:
        TSR_TRY(in_range(parameter, value, 0.1, 10));
        c->fx = c->fy / value;
        break;
    case TSR_RIG_CX:
        TSR_TRY(in_range(parameter, value, -c->width, 2.0 * c->width));
        c->cx = value;
        break;
    case TSR_RIG_CY:
        TSR_TRY(in_range(parameter, value, -c->height, 2.0 * c->height));
        c->cy = value;
        break;
    default: {
        const double most = parameter <= TSR_RIG_K2 ? 10 : 1;
        TSR_TRY(in_range(parameter, value, -most, most));
        *(parameter == TSR_RIG_K1 ? &c->k[0] : parameter == TSR_RIG_K2 ? &c->k[1] : parameter == TSR_RIG_P1 ? &c->p[0] : &c->p[1]) = value;
    }
    }
    return TSR_OK;
}

/* The lens must show every pixel of the image: the largest radius that it does is said. */
static tsr_status lens_holds(const tsr_pinhole *c)
{
    const tsr_view_model m = tsr_view_model_of(c);
    const double middle[2] = { c->cx, c->cy };
    for (int i = 0; i < 8; i++) {
        const double end[2] = { c->width * 0.5 * (i % 3), c->height * 0.5 * (i / 3) },
                     far_corner[2] = { i == 7 ? c->width : end[0], i == 7 ? c->height : end[1] };
        double place[2], good = 0;
        if (tsr_view_normalise(&m, far_corner, place)) continue;
        for (int n = 0; n < 64; n++) {
            const double t = (n + 1) / 64.0, at[2] = { middle[0] + t * (far_corner[0] - middle[0]), middle[1] + t * (far_corner[1] - middle[1]) };
            if (!tsr_view_normalise(&m, at, place)) break;
            good = t;
        }
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "the lens shows nothing at (%.0f, %.0f): it can be inverted up to %.0f pixels from its centre, expected the whole image",
                 far_corner[0], far_corner[1], good * hypot(far_corner[0] - middle[0], far_corner[1] - middle[1]));
    }
    return TSR_OK;
}

/* ---- moves --------------------------------------------------------------------------------------------------------------------- */

static tsr_pose pose_of(const tsr_pinhole *c)
{
    tsr_pose p;
    memcpy(p.rotation, c->rotation, sizeof p.rotation);
    memcpy(p.translation, c->translation, sizeof p.translation);
    return p;
}
static void put_pose(tsr_pinhole *c, const tsr_pose *p)
{
    memcpy(c->rotation, p->rotation, sizeof p->rotation);
    memcpy(c->translation, p->translation, sizeof p->translation);
    tsr_dense_rotation(c->rotation);
}

static tsr_pinhole *active(tsr_rig_editor *e) { return &e->now.camera[e->active]; }
static uint32_t locks(const tsr_rig_editor *e) { return e->now.locked[e->active]; }
static int held(const tsr_rig_editor *e, int parameter) { return (int)(locks(e) >> parameter & 1); }

static tsr_status is_free(const tsr_rig_editor *e, int parameter)
{
    if (held(e, parameter)) TSR_FAIL(TSR_ERROR_STATE, "%s is locked", names[parameter]);
    return TSR_OK;
}

/* After a move of the active camera: locked coordinates as before, the others of the rig along. */
static void settle(tsr_rig_editor *e, const tsr_pinhole *before)
{
    tsr_pinhole *c = active(e);
    double eye[3], was[3];
    eye_of(c, eye);
    eye_of(before, was);
    int restored = 0;
    for (int k = 0; k < 3; k++)
        if (held(e, TSR_RIG_X + k) && eye[k] != was[k]) eye[k] = was[k], restored = 1;
    if (restored) stand_at(c, eye);
    if (!e->rig) return;
    const tsr_pose old = pose_of(before), new_ = pose_of(c), back = tsr_pose_inverse(&old), along = tsr_pose_compose(&back, &new_);
    for (int i = 0; i < e->cameras; i++) {
        if (i == e->active) continue;
        const tsr_pose own = pose_of(&e->now.camera[i]), moved = tsr_pose_compose(&own, &along);
        put_pose(&e->now.camera[i], &moved);
    }
}

static tsr_status turn(tsr_rig_editor *e, const edit_words *w)
{
    double v[3];
    TSR_TRY(edit_counts(w, 3, 3, "turn YAW PITCH ROLL, degrees"));
    TSR_TRY(numbers(w, 1, 3, v));
    for (int k = 0; k < 3; k++)
        if (held(e, TSR_RIG_YAW + k)) v[k] = 0;
    const tsr_pinhole before = *active(e);
    tsr_pose p = pose_of(&before);
    const double step[6] = { -v[1] * RADIANS, -v[0] * RADIANS, -v[2] * RADIANS, 0, 0, 0 };
    tsr_pose_step(&p, step);
    put_pose(active(e), &p);
    settle(e, &before);
    return TSR_OK;
}

/* move: right, up, forward, as the camera sees it; shift: along the world's axes. */
static tsr_status move(tsr_rig_editor *e, const edit_words *w, int world)
{
    double v[3], eye[3];
    TSR_TRY(edit_counts(w, 3, 3, world ? "shift X Y Z" : "move RIGHT UP FORWARD"));
    TSR_TRY(numbers(w, 1, 3, v));
    const tsr_pinhole before = *active(e);
    tsr_pinhole *c = active(e);
    if (world) {
        eye_of(c, eye);
        for (int k = 0; k < 3; k++) eye[k] += v[k];
        stand_at(c, eye);
    } else {
        c->translation[0] -= v[0];
        c->translation[1] += v[1];
        c->translation[2] -= v[2];
    }
    settle(e, &before);
    return TSR_OK;
}

/* About a point: first round the vertical, then over the camera's own horizon. The point stays where it is seen. */
static tsr_status orbit(tsr_rig_editor *e, const edit_words *w)
{
    double v[5];
    TSR_TRY(edit_counts(w, 5, 5, "orbit AROUND OVER X Y Z: degrees, and the point"));
    TSR_TRY(numbers(w, 1, 5, v));
    const tsr_pinhole before = *active(e);
    tsr_pinhole *c = active(e);
    double round[3][3], over[3][3], q[3][3], r[3][3], eye[3];
    const double up[3] = { 0, 0, v[0] * RADIANS },
                 side[3] = { -v[1] * RADIANS * c->rotation[0][0], -v[1] * RADIANS * c->rotation[0][1], -v[1] * RADIANS * c->rotation[0][2] };
    tsr_dense_turn(up, round);
    tsr_dense_turn(side, over);
    tsr_dense_multiply3((const double(*)[3])round, (const double(*)[3])over, q);
    eye_of(c, eye);
    double from[3] = { eye[0] - v[2], eye[1] - v[3], eye[2] - v[4] }, back[3][3];
    for (int i = 0; i < 3; i++) {
        eye[i] = v[2 + i] + q[i][0] * from[0] + q[i][1] * from[1] + q[i][2] * from[2];
        for (int k = 0; k < 3; k++) back[i][k] = q[k][i];
    }
    tsr_dense_multiply3((const double(*)[3])c->rotation, (const double(*)[3])back, r);
    memcpy(c->rotation, r, sizeof r);
    tsr_dense_rotation(c->rotation);
    stand_at(c, eye);
    settle(e, &before);
    return TSR_OK;
}

/* Field of view and distance together: what lies as deep as the point keeps its size. */
static tsr_status dolly(tsr_rig_editor *e, const edit_words *w)
{
    double v[4];
    TSR_TRY(edit_counts(w, 4, 4, "dolly DEGREES X Y Z: of the field of view, and the point"));
    TSR_TRY(numbers(w, 1, 4, v));
    TSR_TRY(is_free(e, TSR_RIG_FOV));
    const tsr_pinhole before = *active(e);
    tsr_pinhole *c = active(e);
    const double depth = c->rotation[2][0] * v[1] + c->rotation[2][1] * v[2] + c->rotation[2][2] * v[3] + c->translation[2];
    if (!(depth > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "dolly: the point lies behind the camera, expected one that it sees");
    TSR_TRY(put_value(c, TSR_RIG_FOV, edit_value(c, TSR_RIG_FOV) + v[0]));
    c->translation[2] += depth * (c->fy / before.fy - 1);
    settle(e, &before);
    return TSR_OK;
}

static tsr_status set(tsr_rig_editor *e, const edit_words *w, int add)
{
    double v;
    TSR_TRY(edit_counts(w, 2, 2, add ? "add PARAMETER NUMBER" : "set PARAMETER NUMBER"));
    const int parameter = edit_parameter(w->word[1]);
    if (parameter < 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: '%.40s' is no parameter, expected yaw, pitch, roll, x, y, z, fov, aspect, cx, cy, k1, k2, p1 or p2",
                 w->word[0], w->word[1]);
    TSR_TRY(edit_number(w, 2, w->word[1], -far_off, far_off, &v));
    TSR_TRY(is_free(e, parameter));
    const tsr_pinhole before = *active(e);
    TSR_TRY(put_value(active(e), parameter, add ? edit_value(&before, parameter) + v : v));
    if (parameter >= TSR_RIG_CX) TSR_TRY(lens_holds(active(e)));
    if (parameter <= TSR_RIG_Z) settle(e, &before);
    return TSR_OK;
}

static tsr_status lock(tsr_rig_editor *e, const edit_words *w, int on)
{
    TSR_TRY(edit_counts(w, 1, EDIT_WORDS, "lock PARAMETER ..."));
    uint32_t bits = 0;
    for (int i = 1; i < w->count; i++) {
        const int parameter = edit_parameter(w->word[i]);
        if (parameter < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: '%.40s' is no parameter", w->word[0], w->word[i]);
        bits |= 1u << parameter;
    }
    uint32_t *locked = &e->now.locked[e->active];
    *locked = on ? *locked | bits : *locked & ~bits;
    return TSR_OK;
}

/* ---- pairs and lines ------------------------------------------------------------------------------------------------------------- */

static tsr_status in_image(const tsr_rig_editor *e, const char *what, const double pixel[2])
{
    const tsr_pinhole *c = &e->now.camera[e->active];
    if (!(pixel[0] >= 0 && pixel[1] >= 0 && pixel[0] <= c->width && pixel[1] <= c->height))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: pixel (%g, %g), expected one of the image of %d x %d", what, pixel[0], pixel[1], c->width, c->height);
    return TSR_OK;
}

static tsr_status pair(tsr_rig_editor *e, const edit_words *w)
{
    double v[5];
    TSR_TRY(edit_counts(w, 5, 5, "pair X Y Z U V: a point of the proxy, and the pixel where it is seen"));
    TSR_TRY(numbers(w, 1, 5, v));
    TSR_TRY(in_image(e, "pair", v + 3));
    if (e->now.pairs == EDIT_PAIRS) TSR_FAIL(TSR_ERROR_STATE, "pair: there are %d, expected at most as many", EDIT_PAIRS);
    e->now.pair[e->now.pairs++] = (edit_pair){ e->active, { v[0], v[1], v[2] }, { v[3], v[4] } };
    return TSR_OK;
}

static tsr_status line_of(tsr_rig_editor *e, const edit_words *w)
{
    double v[4];
    TSR_TRY(edit_counts(w, 5, 5, "line AXIS U V U V: x, y or z, and the ends of a line of the image along it"));
    const char *axis = w->word[1];
    if (!(*axis >= 'x' && *axis <= 'z' && !axis[1])) TSR_FAIL(TSR_ERROR_ARGUMENT, "line: '%.40s', expected the axis x, y or z", axis);
    TSR_TRY(numbers(w, 2, 4, v));
    for (int k = 0; k < 2; k++) TSR_TRY(in_image(e, "line", v + 2 * k));
    if (!(hypot(v[2] - v[0], v[3] - v[1]) >= 2)) TSR_FAIL(TSR_ERROR_ARGUMENT, "line: shorter than two pixels");
    if (e->now.lines == EDIT_LINES) TSR_FAIL(TSR_ERROR_STATE, "line: there are %d, expected at most as many", EDIT_LINES);
    e->now.line[e->now.lines++] = (edit_line){ e->active, *axis - 'x', { { v[0], v[1] }, { v[2], v[3] } } };
    return TSR_OK;
}

/* The n-th of the active camera, from 0; or all of it. */
static tsr_status drop(tsr_rig_editor *e, const edit_words *w, int lines)
{
    const int32_t count = lines ? e->now.lines : e->now.pairs;
    double wanted = -1;
    int32_t kept = 0, own = 0;
    TSR_TRY(edit_counts(w, 1, 1, lines ? "unline NUMBER or all" : "unpair NUMBER or all"));
    if (strcmp(w->word[1], "all")) TSR_TRY(edit_number(w, 1, w->word[0], 0, count - 1, &wanted));
    for (int32_t i = 0; i < count; i++) {
        const int mine = (lines ? e->now.line[i].camera : e->now.pair[i].camera) == e->active;
        if (mine && (wanted < 0 || own++ == (int32_t)wanted)) continue;
        if (lines) e->now.line[kept++] = e->now.line[i];
        else e->now.pair[kept++] = e->now.pair[i];
    }
    if (kept == count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the camera has %d, expected a number below it", w->word[0], own);
    if (lines) memset(e->now.line + kept, 0, (size_t)(count - kept) * sizeof *e->now.line);
    else memset(e->now.pair + kept, 0, (size_t)(count - kept) * sizeof *e->now.pair);
    *(lines ? &e->now.lines : &e->now.pairs) = kept;
    return TSR_OK;
}

static tsr_status reset(tsr_rig_editor *e, const edit_words *w)
{
    TSR_TRY(edit_counts(w, 0, 0, "reset"));
    *active(e) = e->start.camera[e->active];
    e->now.tone[e->active] = e->start.tone[e->active];
    return TSR_OK;
}

tsr_status edit_command(tsr_rig_editor *e, const edit_words *w, int *known)
{
    const char *what = w->word[0];
    static const char *const all[] = { "turn", "move",   "shift", "orbit",  "dolly", "set",   "add",    "lock",   "unlock",
                                       "pair", "unpair", "line",  "unline", "reset", "solve", "vanish", "refine", "match" };
    enum { COMMANDS = sizeof all / sizeof *all };
    int n = 0;
    while (n < COMMANDS && strcmp(what, all[n])) n++;
    *known = n < COMMANDS;
    if (!*known) return TSR_OK;
    if (!e->cameras) TSR_FAIL(TSR_ERROR_STATE, "%s: there is no camera yet: load an image or cameras first", what);
    switch (n) {
    case 0: return turn(e, w);
    case 1:
    case 2: return move(e, w, n == 2);
    case 3: return orbit(e, w);
    case 4: return dolly(e, w);
    case 5:
    case 6: return set(e, w, n == 6);
    case 7:
    case 8: return lock(e, w, n == 7);
    case 9: return pair(e, w);
    case 10:
    case 12: return drop(e, w, n == 12);
    case 11: return line_of(e, w);
    case 13: return reset(e, w);
    case 14: return edit_solve(e, w);
    case 15: return edit_vanish(e, w);
    case 17: return edit_match(e, w);
    default: return edit_refine(e, w);
    }
}
