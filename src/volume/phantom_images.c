/* volume/phantom_images.c: grey-value phantoms with a truth mask (docs/theory/segmentation.md 9). Lengths in units of the scene (half the longest axis) unless
 * said otherwise. */
#include "volume/phantom.h"

static double square(double v) { return v * v; }

/* ---- tumour: head of nested ellipsoids, tumour = smooth union of three to five balls ------------------------------------------ */

enum { HEAD_BALLS = 5 };

/* number: smallest half axis, then 4 per ball (centre, radius), world units. */
static tsr_status tumour_prepare(tsr_scene *s)
{
    double m = s->half[0] < s->half[1] ? s->half[0] : s->half[1], sign[3], centre[3];
    const double place[3] = { 0.28, 0.16, 0.08 };
    if (s->half[2] < m) m = s->half[2];
    s->number[0] = m;
    s->count = 3 + (int32_t)(tsr_det_random(s->seed, 0) % 3);
    for (int a = 0; a < 3; a++) {
        sign[a] = tsr_det_random(s->seed, 1 + (uint64_t)a) & 1 ? 1 : -1;
        centre[a] = sign[a] * place[a] * s->half[a];
    }
    for (int32_t i = 0; i < s->count; i++) {
        double *ball = &s->number[1 + 4 * i];
        uint64_t draw = 16 + 4 * (uint64_t)i;
        for (int a = 0; a < 3; a++) ball[a] = centre[a] + m * tsr_scene_random(s, draw + (uint64_t)a, -0.1, 0.1);
        ball[3] = m * tsr_scene_random(s, draw + 3, 0.2, 0.28);
    }
    return TSR_OK;
}

/* Union that rounds the crease over a width k. */
static double smooth_union(double a, double b, double k)
{
    double t = 0.5 + 0.5 * (b - a) / k;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return b + (a - b) * t - k * t * (1 - t);
}

static double tumour_distance(const tsr_scene *s, double x, double y, double z)
{
    double d = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const double *ball = &s->number[1 + 4 * i];
        double own = tsr_length3(x - ball[0], y - ball[1], z - ball[2]) - ball[3];
        d = i == 0 ? own : smooth_union(d, own, 0.08 * s->number[0]);
    }
    return d;
}

/* Squared radius of (x, y, z) in an ellipsoid, all relative to the half axes. */
static double ellipsoid_level(double x, double y, double z, double ax, double ay, double az)
{
    return square(x / ax) + square(y / ay) + square(z / az);
}

static void tumour_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz), v = y / s->half[1], w = z / s->half[2];
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double x = tsr_scene_centred(s, 0, ix), u = x / s->half[0], q = ellipsoid_level(u, v, w, 0.92, 0.92, 0.95);
        double ventricle = ellipsoid_level((u < 0 ? -u : u) - 0.13, v - 0.05, w - 0.05, 0.07, 0.3, 0.16);
        int tumour = tumour_distance(s, x, y, z) < 0;
        values[ix] = tumour ? 0.7f : q > 1 ? 0.0f : q > square(0.93) ? 0.9f : q > square(0.87) ? 0.25f : ventricle < 1 ? 0.15f : 0.45f;
        if (truth) truth[ix] = (uint8_t)tumour;
    }
}

/* ---- cortex: r(theta, phi) = R (1 + a sum sin(m theta) cos(n phi)), without angles: multiple angles by recurrence --------------------------- */

static double multiple_sine(double s, double c, int m) /* sin(m t) from sin t, cos t */
{
    double before = 0, now = s;
    for (int i = 1; i < m; i++) {
        double next = 2 * c * now - before;
        before = now;
        now = next;
    }
    return now;
}
static double multiple_cosine(double c, int n)
{
    double before = 1, now = c;
    for (int i = 1; i < n; i++) {
        double next = 2 * c * now - before;
        before = now;
        now = next;
    }
    return now;
}

static double cortex_radius(double x, double y, double z, double r)
{
    static const int terms[3][2] = { { 7, 9 }, { 11, 6 }, { 5, 14 } };
    double flat = sqrt(x * x + y * y), sum = 0;
    if (r == 0) return 1;
    for (int i = 0; i < 3; i++) sum += multiple_sine(flat / r, z / r, terms[i][0]) * multiple_cosine(flat > 0 ? x / flat : 1, terms[i][1]);
    return 1 + 0.12 * sum;
}

static void cortex_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double radius = 0.66 * s->unit, y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz);
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double x = tsr_scene_centred(s, 0, ix), r = tsr_length3(x, y, z), surface = radius * cortex_radius(x, y, z, r);
        int inside = r < surface;
        values[ix] = inside ? 0.6f : r < 0.95 * s->unit ? 0.25f : 0.05f;
        if (truth) truth[ix] = (uint8_t)inside;
    }
}

/* ---- liver: an ellipsoid with a tree of capsules that branch in two; truth 1 = parenchyma, 2 = vessel --------------------------------------- */

enum { LIVER_LEVELS = 7, LIVER_VESSELS = (1 << LIVER_LEVELS) - 1 };
struct vessel { double a[3], b[3], radius; };

static tsr_status liver_prepare(tsr_scene *s)
{
    s->memory_bytes = LIVER_VESSELS * sizeof(struct vessel);
    TSR_TRY(tsr_host_allocate(NULL, s->memory_bytes, &s->memory));
    struct vessel *tree = (struct vessel *)s->memory;
    double length = 0.42 * s->unit, radius = 0.07 * s->unit;
    tree[0] = (struct vessel){ { -0.75 * s->unit, 0, 0 }, { -0.33 * s->unit, 0, 0 }, radius };
    for (int32_t i = 1; i < LIVER_VESSELS; i++) { /* heap order: children of i are 2i + 1 and 2i + 2 */
        const struct vessel *parent = &tree[(i - 1) / 2];
        if ((i & (i + 1)) == 0) {
            length *= 0.78;
            radius *= 0.75;
        }
        double d[3], side[3], norm = 0, dot = 0;
        for (int a = 0; a < 3; a++) d[a] = parent->b[a] - parent->a[a];
        double size = tsr_length3(d[0], d[1], d[2]);
        for (int a = 0; a < 3; a++) { /* siblings lean to opposite sides */
            side[a] = tsr_scene_random(s, 3 * (uint64_t)((i - 1) / 2) + (uint64_t)a, -1, 1);
            dot += side[a] * d[a] / size;
        }
        for (int a = 0; a < 3; a++) side[a] -= dot * d[a] / size;
        norm = tsr_length3(side[0], side[1], side[2]);
        for (int a = 0; a < 3; a++) side[a] *= (i & 1 ? 1 : -1) / (norm > 0.05 ? norm : 0.05);
        struct vessel *own = &tree[i];
        own->radius = radius;
        for (int a = 0; a < 3; a++) {
            own->a[a] = parent->b[a];
            own->b[a] = own->a[a] + length * (0.8 * d[a] / size + 0.6 * side[a]);
        }
    }
    return TSR_OK;
}

static void liver_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    const struct vessel *tree = (const struct vessel *)s->memory;
    int32_t near[LIVER_VESSELS], found = 0;
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz);
    for (int32_t i = 0; i < LIVER_VESSELS; i++) { /* only the vessels that this row can meet */
        const struct vessel *t = &tree[i];
        double y0 = t->a[1] < t->b[1] ? t->a[1] : t->b[1], y1 = t->a[1] + t->b[1] - y0, z0 = t->a[2] < t->b[2] ? t->a[2] : t->b[2],
               z1 = t->a[2] + t->b[2] - z0;
        double slack = 1.001 * t->radius;
        if (y > y0 - slack && y < y1 + slack && z > z0 - slack && z < z1 + slack) near[found++] = i;
    }
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double x = tsr_scene_centred(s, 0, ix), bumps = 1 + 0.05 * tsr_det_sin(5 * x / s->unit) * tsr_det_cos(4 * y / s->unit);
        int liver = ellipsoid_level(x, y, z, 0.88 * s->unit * bumps, 0.62 * s->unit * bumps, 0.55 * s->unit * bumps) < 1, vessel = 0;
        for (int32_t k = 0; k < found && liver && !vessel; k++)
            vessel = tsr_segment_distance(x, y, z, tree[near[k]].a, tree[near[k]].b) < tree[near[k]].radius;
        values[ix] = vessel ? 0.8f : liver ? 0.5f : 0.25f;
        if (truth) truth[ix] = (uint8_t)(vessel ? 2 : liver);
    }
}

/* ---- membrane: gyroid sheet and tubes through it, at low signal to noise ------------------------------------------------------ */

enum { MEMBRANE_TUBES = 12 };

/* number: 3 per tube: x, y, radius in world units. */
static tsr_status membrane_prepare(tsr_scene *s)
{
    s->count = MEMBRANE_TUBES;
    for (int32_t i = 0; i < s->count; i++) {
        s->number[3 * i] = tsr_scene_random(s, 3 * (uint64_t)i, -0.9, 0.9) * s->half[0];
        s->number[3 * i + 1] = tsr_scene_random(s, 3 * (uint64_t)i + 1, -0.9, 0.9) * s->half[1];
        s->number[3 * i + 2] = tsr_scene_random(s, 3 * (uint64_t)i + 2, 0.02, 0.035) * s->unit;
    }
    return TSR_OK;
}

static void membrane_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz), sy, cy, sz, cz, waves = 2.5 / (2 * s->unit); /* periods per world unit */
    tsr_det_sincos_turns(y * waves, &sy, &cy);
    tsr_det_sincos_turns(z * waves, &sz, &cz);
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double x = tsr_scene_centred(s, 0, ix), sx, cx;
        tsr_det_sincos_turns(x * waves, &sx, &cx);
        double g = sx * cy + sy * cz + sz * cx;
        int inside = (g < 0 ? -g : g) < 0.25;
        for (int32_t i = 0; i < s->count && !inside; i++)
            inside = square(x - s->number[3 * i]) + square(y - s->number[3 * i + 1]) < square(s->number[3 * i + 2]);
        values[ix] = inside ? 0.7f : 0.35f;
        if (truth) truth[ix] = (uint8_t)inside;
    }
}

/* ---- test images with exact answers ------------------------------------------------------------------------------------------- */

/* I = distance from the centre in world units; with T = 0 the speed is epsilon - r. parameter = epsilon, the radius of the truth ball. */
static void ramp_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz), radius = s->parameter > 0 ? s->parameter : 0.5 * s->unit;
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double r = tsr_length3(tsr_scene_centred(s, 0, ix), y, z);
        values[ix] = (float)r;
        if (truth) truth[ix] = (uint8_t)(r < radius);
    }
}

/* Two balls of radius 0.3 at +-0.55 along x, joined by a tunnel of radius `parameter` (default 0.05). Truth 1, 3: balls; 2: tunnel outside them. */
static void leak_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz), at = 0.55 * s->unit, radius = 0.3 * s->unit;
    double tunnel = s->parameter > 0 ? s->parameter : 0.05 * s->unit;
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double x = tsr_scene_centred(s, 0, ix);
        int label = tsr_length3(x + at, y, z) < radius                    ? 1
                    : tsr_length3(x - at, y, z) < radius                  ? 3
                    : (x > -at && x < at && sqrt(y * y + z * z) < tunnel) ? 2
                                                                          : 0;
        values[ix] = label ? 1.0f : 0.0f;
        if (truth) truth[ix] = (uint8_t)label;
    }
}

/* Ball of radius `parameter` (default 0.6), 1 inside, 0 outside. */
static void step_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz), radius = s->parameter > 0 ? s->parameter : 0.6 * s->unit;
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        int inside = tsr_length3(tsr_scene_centred(s, 0, ix), y, z) < radius;
        values[ix] = inside ? 1.0f : 0.0f;
        if (truth) truth[ix] = (uint8_t)inside;
    }
}

#define IMAGE(name, description, nx, ny, nz, noise, blur, prepare, row) \
    { { name, description, TSR_PHANTOM_IMAGE, { nx, ny, nz }, noise, blur }, prepare, row }

const tsr_phantom tsr_phantom_images[] = {
    IMAGE("phantom_tumour", "head with skull, CSF, brain 0.45, ventricles 0.15 and a tumour of 0.7; truth: tumour", 256, 256, 175, 0.05, 1,
          tumour_prepare, tumour_row),
    IMAGE("phantom_cortex", "deeply folded ball of 0.6 in 0.25; truth: ball", 256, 256, 256, 0.03, 1, NULL, cortex_row),
    IMAGE("phantom_liver", "organ of 0.5 with a vessel tree of 0.8 in 0.25; truth: 1 organ, 2 vessels", 256, 256, 256, 0.03, 1, liver_prepare,
          liver_row),
    IMAGE("phantom_membrane", "gyroid sheet and tubes of 0.7 in 0.35, low signal to noise; truth: sheet and tubes", 512, 512, 61, 0.15, 1,
          membrane_prepare, membrane_row),
    IMAGE("ramp_ball", "distance from the centre in world units; truth: ball of radius parameter (half the half-axis)", 64, 64, 64, 0, 0, NULL,
          ramp_row),
    IMAGE("leak", "two balls joined by a tunnel of radius parameter; truth: 1, 3 balls, 2 tunnel", 128, 64, 64, 0, 0, NULL, leak_row),
    IMAGE("step_edge", "ball of radius parameter, 1 inside and 0 outside; truth: ball", 64, 64, 64, 0, 0, NULL, step_row),
};
const int32_t tsr_phantom_image_count = (int32_t)(sizeof tsr_phantom_images / sizeof *tsr_phantom_images);
