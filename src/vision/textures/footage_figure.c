/* vision/textures/footage_figure.c: the figures of generated footage: what they are made of and how they move. */
#include <math.h>
#include <string.h>

#include "vision/textures/footage.h"
#include "volume/deterministic.h"

/* A bone and the ellipsoid on it. Angles about x, y, z in turns: rest + swing sin(beats t + phase). */
typedef struct bone {
    int32_t parent;
    double joint[3], centre[3], axes[3]; /* in the parent's frame; in its own */
    double rest[3], swing[3], phase;
} bone;

static const bone dancer[TSR_FOOTAGE_PARTS_MOST] = {
    { -1, { 0, 0, 0.97 }, { 0, 0, 0 }, { 0.16, 0.11, 0.12 }, { 0, 0, 0 }, { 0.01, 0.015, 0.03 }, 0 },
    { 0, { 0, 0, 0.08 }, { 0, 0, 0.10 }, { 0.14, 0.10, 0.14 }, { 0, 0, 0 }, { 0.015, 0.01, 0.02 }, 0.15 },
    { 1, { 0, 0, 0.18 }, { 0, 0, 0.14 }, { 0.19, 0.12, 0.20 }, { 0, 0, 0 }, { 0.015, 0.015, 0.03 }, 0.3 },
    { 2, { 0, 0, 0.33 }, { 0, 0, 0.13 }, { 0.09, 0.105, 0.13 }, { 0, 0, 0 }, { 0.02, 0.02, 0.06 }, 0.45 },
    { 2, { 0.20, 0, 0.25 }, { 0.01, 0, -0.14 }, { 0.05, 0.05, 0.16 }, { 0, -0.16, 0 }, { 0.06, 0.10, 0 }, 0.1 },
    { 2, { -0.20, 0, 0.25 }, { -0.01, 0, -0.14 }, { 0.05, 0.05, 0.16 }, { 0, 0.16, 0 }, { 0.06, 0.10, 0 }, 0.6 },
    { 4, { 0, 0, -0.28 }, { 0, 0, -0.12 }, { 0.042, 0.042, 0.15 }, { -0.12, -0.05, 0 }, { 0.08, 0.04, 0.03 }, 0.35 },
    { 5, { 0, 0, -0.28 }, { 0, 0, -0.12 }, { 0.042, 0.042, 0.15 }, { -0.12, 0.05, 0 }, { 0.08, 0.04, 0.03 }, 0.8 },
    { 6, { 0, 0, -0.26 }, { 0, 0, -0.06 }, { 0.04, 0.025, 0.08 }, { 0, 0, 0 }, { 0.06, 0.03, 0.05 }, 0.2 },
    { 7, { 0, 0, -0.26 }, { 0, 0, -0.06 }, { 0.04, 0.025, 0.08 }, { 0, 0, 0 }, { 0.06, 0.03, 0.05 }, 0.7 },
    { 0, { 0.09, 0, -0.05 }, { 0, 0, -0.20 }, { 0.08, 0.085, 0.24 }, { -0.03, -0.02, 0 }, { 0.09, 0.02, 0 }, 0.0 },
    { 0, { -0.09, 0, -0.05 }, { 0, 0, -0.20 }, { 0.08, 0.085, 0.24 }, { -0.03, 0.02, 0 }, { 0.09, 0.02, 0 }, 0.5 },
    { 10, { 0, 0, -0.42 }, { 0, 0, -0.19 }, { 0.055, 0.06, 0.23 }, { 0.08, 0, 0 }, { 0.07, 0, 0 }, 0.2 },
    { 11, { 0, 0, -0.42 }, { 0, 0, -0.19 }, { 0.055, 0.06, 0.23 }, { 0.08, 0, 0 }, { 0.07, 0, 0 }, 0.7 },
    { 12, { 0, 0, -0.41 }, { 0, -0.06, -0.03 }, { 0.04, 0.12, 0.04 }, { -0.02, 0, 0 }, { 0.03, 0, 0 }, 0.1 },
    { 13, { 0, 0, -0.41 }, { 0, -0.06, -0.03 }, { 0.04, 0.12, 0.04 }, { -0.02, 0, 0 }, { 0.03, 0, 0 }, 0.6 },
};
/* Charts in sixteenths of the atlas: left, top, width, height. */
static const int charts[TSR_FOOTAGE_PARTS_MOST][4] = {
    { 0, 5, 6, 4 },  { 6, 5, 6, 4 },   { 0, 0, 8, 5 }, { 12, 5, 4, 4 }, { 8, 9, 4, 4 }, { 12, 9, 4, 4 }, { 0, 13, 4, 3 },  { 4, 13, 4, 3 },
    { 8, 13, 2, 3 }, { 10, 13, 2, 3 }, { 8, 0, 4, 5 }, { 12, 0, 4, 5 }, { 0, 9, 4, 4 }, { 4, 9, 4, 4 },  { 12, 13, 2, 3 }, { 14, 13, 2, 3 },
};

static void product(const double (*a)[3], const double (*b)[3], double (*to)[3])
{
    double r[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) r[i][k] = a[i][0] * b[0][k] + a[i][1] * b[1][k] + a[i][2] * b[2][k];
    memcpy(to, r, sizeof r);
}
/* About x, then y, then z, in turns. */
static void turn_by(const double turns[3], double (*to)[3])
{
    double s, c;
    tsr_det_sincos_turns(turns[0], &s, &c);
    const double x[3][3] = { { 1, 0, 0 }, { 0, c, -s }, { 0, s, c } };
    tsr_det_sincos_turns(turns[1], &s, &c);
    const double y[3][3] = { { c, 0, s }, { 0, 1, 0 }, { -s, 0, c } };
    tsr_det_sincos_turns(turns[2], &s, &c);
    const double z[3][3] = { { c, -s, 0 }, { s, c, 0 }, { 0, 0, 1 } };
    product(y, x, to);
    product(z, (const double(*)[3])to, to);
}

void tsr_footage_pose_step(const tsr_footage *f, int32_t step, tsr_footage_pose *pose)
{
    const double seconds = (double)step / 25;
    double s, c;
    if (f->o.scene != TSR_FOOTAGE_DANCER) {
        const double turns[3] = { f->box ? 0 : 0.03, f->box ? 0 : 0.05, f->box ? 0.06 : 0.15 * seconds };
        turn_by(turns, pose->turn);
        pose->at[0] = pose->at[1] = 0;
        pose->at[2] = 0.9;
        return;
    }
    double joint[TSR_FOOTAGE_PARTS_MOST][3];
    for (int i = 0; i < TSR_FOOTAGE_PARTS_MOST; i++) {
        const bone *b = &dancer[i];
        double turns[3], own[3][3];
        tsr_det_sincos_turns(0.8 * seconds + b->phase, &s, &c);
        for (int k = 0; k < 3; k++) turns[k] = b->rest[k] + b->swing[k] * s;
        if (b->parent < 0) turns[2] += 0.12 * seconds;
        turn_by(turns, own);
        if (b->parent < 0) {
            tsr_det_sincos_turns(0.4 * seconds, &s, &c);
            joint[i][0] = b->joint[0] + 0.12 * s;
            joint[i][1] = b->joint[1] + 0.06 * (1 - c);
            tsr_det_sincos_turns(1.6 * seconds, &s, &c);
            joint[i][2] = b->joint[2] + 0.02 * s;
            memcpy(pose[i].turn, own, sizeof own);
        } else {
            const tsr_footage_pose *p = &pose[b->parent];
            for (int k = 0; k < 3; k++) joint[i][k] = joint[b->parent][k] + tsr_footage_dot(p->turn[k], b->joint);
            product((const double(*)[3])p->turn, (const double(*)[3])own, pose[i].turn);
        }
        for (int k = 0; k < 3; k++) pose[i].at[k] = joint[i][k] + tsr_footage_dot(pose[i].turn[k], b->centre);
    }
}

void tsr_footage_shapes(tsr_footage *f)
{
    const double margin = 2.0 / (double)f->o.atlas;
    f->box = f->o.scene == TSR_FOOTAGE_CUBE;
    f->parts = f->o.scene == TSR_FOOTAGE_DANCER ? TSR_FOOTAGE_PARTS_MOST : f->box ? 6 : 1;
    for (int i = 0; i < f->parts; i++) {
        int place[4] = { 0, 0, 16, 16 };
        double axes[3] = { 0.5, 0.5, 0.5 };
        if (f->o.scene == TSR_FOOTAGE_DANCER) {
            memcpy(place, charts[i], sizeof place);
            memcpy(axes, dancer[i].axes, sizeof axes);
        } else if (f->box) {
            place[0] = 5 * (i % 3);
            place[1] = 5 * (i / 3);
            place[2] = place[3] = 5;
        }
        memcpy(f->axes[i], axes, sizeof axes);
        f->chart[i][0] = place[0] / 16.0 + margin;
        f->chart[i][1] = 1 - (place[1] + place[3]) / 16.0 + margin;
        f->chart[i][2] = (place[0] + place[2]) / 16.0 - margin;
        f->chart[i][3] = 1 - place[1] / 16.0 - margin;
    }
}

/* ---- skin -------------------------------------------------------------------------------------------------------------------------- */

static double lattice(uint64_t seed, int64_t x, int64_t y, int64_t z)
{
    return tsr_det_uniform(seed, (uint64_t)(x + 4096) << 40 | (uint64_t)(y + 4096) << 20 | (uint64_t)(z + 4096));
}
/* Noise of values on a lattice of unit steps, smooth between: -1 to 1. */
static double noise(uint64_t seed, double x, double y, double z)
{
    const double p[3] = { x, y, z };
    int64_t i[3];
    double f[3];
    for (int k = 0; k < 3; k++) {
        const double whole = floor(p[k]), t = p[k] - whole;
        i[k] = (int64_t)whole;
        f[k] = t * t * (3 - 2 * t);
    }
    double sum = 0;
    for (int n = 0; n < 8; n++) {
        double w = 1;
        for (int k = 0; k < 3; k++) w *= n >> k & 1 ? f[k] : 1 - f[k];
        sum += w * lattice(seed, i[0] + (n & 1), i[1] + (n >> 1 & 1), i[2] + (n >> 2 & 1));
    }
    return 2 * sum - 1;
}

/* Five columns of seven dots. */
static int dot_of(char letter, int column, int row)
{
    static const struct {
        char letter;
        uint8_t row[7];
    } font[] = { { 'T', { 0x1f, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04 } },
                 { 'E', { 0x1f, 0x10, 0x10, 0x1e, 0x10, 0x10, 0x1f } },
                 { 'S', { 0x0f, 0x10, 0x10, 0x0e, 0x01, 0x01, 0x1e } },
                 { 'R', { 0x1e, 0x11, 0x11, 0x1e, 0x14, 0x12, 0x11 } },
                 { 'A', { 0x0e, 0x11, 0x11, 0x1f, 0x11, 0x11, 0x11 } } };
    for (size_t i = 0; i < sizeof font / sizeof *font; i++)
        if (font[i].letter == letter) return font[i].row[row] >> (4 - column) & 1;
    return 0;
}
/* Is a place of a strip, 0 to 1 along and down, on the text? */
static int on_text(double along, double down)
{
    static const char text[] = "TESSERA";
    const int letters = (int)sizeof text - 1;
    if (!(along >= 0 && along < 1 && down >= 0 && down < 1)) return 0;
    const int column = (int)(along * 6 * letters), row = (int)(down * 7);
    return column % 6 < 5 && dot_of(text[column / 6], column % 6, row);
}

/* Half turns round z, -1 to 1, by a polynomial's arc tangent (Abramowitz and Stegun 4.4.49): the same everywhere. */
static double around(double x, double y)
{
    const double ax = fabs(x), ay = fabs(y), t = ax > ay ? ay / ax : ay > 0 ? ax / ay : 0, q = t * t;
    double a = t * (0.9998660 + q * (-0.3302995 + q * (0.1801410 + q * (-0.0851330 + q * 0.0208351)))) * 0.31830988618379067;
    if (ay > ax) a = 0.5 - a;
    if (x < 0) a = 1 - a;
    return y < 0 ? -a : a;
}

void tsr_footage_skin(const tsr_footage *f, int32_t part, const double own[3], double rgb[3])
{
    static const double tones[8][3] = { { 52, 78, 140 }, { 66, 120, 190 },  { 190, 60, 52 }, { 214, 168, 132 },
                                        { 196, 70, 60 }, { 214, 168, 132 }, { 60, 72, 110 }, { 120, 84, 52 } };
    static const int tone_of[TSR_FOOTAGE_PARTS_MOST] = { 0, 1, 2, 3, 4, 4, 5, 5, 3, 3, 6, 6, 6, 6, 7, 7 };
    const double *axes = f->axes[part];
    const double tall = own[2] / axes[2], turn = around(own[0], own[1]);
    const int tone = f->o.scene == TSR_FOOTAGE_DANCER ? tone_of[part] : part % 8;
    double grain = 0, size = 7;
    for (int n = 0; n < 3; n++, size *= 2)
        grain += noise(17 + 31ull * (uint64_t)n + 101ull * (uint64_t)part, own[0] * size, own[1] * size, own[2] * size) / (n + 1);
    double bright = 1 + 0.22 * grain;
    if (f->o.scene == TSR_FOOTAGE_DANCER ? part == 0 || part == 1 || part == 10 || part == 11 : part % 2 == 0) { /* stripes, soft at their edges */
        double s, c;
        tsr_det_sincos_turns(f->box ? 6 * own[2] : 4 * tall, &s, &c);
        bright *= 1 + 0.35 * s / (0.25 + fabs(s));
    }
    for (int k = 0; k < 3; k++) rgb[k] = tones[tone][k] * bright;
    const int text = f->box ? on_text(own[0] * (own[1] > 0 ? -1 : 1) / 0.8 + 0.5, 0.5 - own[2] / 0.2) && fabs(own[1]) > 0.49
                            : (part == 2 || f->o.scene == TSR_FOOTAGE_SPHERE) && on_text((turn + 0.5) / 0.62 + 0.5, 0.62 - tall * 1.6);
    if (text)
        for (int k = 0; k < 3; k++) rgb[k] = 236 - 8 * k;
    for (int k = 0; k < 3; k++) rgb[k] = rgb[k] < 0 ? 0 : rgb[k] > 255 ? 255 : rgb[k];
}
