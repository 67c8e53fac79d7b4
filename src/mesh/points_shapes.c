/* mesh/points_shapes.c: clouds of points on surfaces whose distance, genus and volume are known (docs/theory/reconstruction.md 10). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "volume/deterministic.h"
#include "mesh/points.h"

/* A stream of uniform numbers; sample i of a cloud has a stream of its own, so that samples do not depend on one another. */
typedef struct draw {
    uint64_t seed, at;
} draw;
static double next(draw *d) { return tsr_det_uniform(d->seed, d->at++); }

typedef struct shape {
    tsr_points_shape info;
    /* A point of the surface and its outward normal; 0: rejected, draw again. */
    int (*sample)(draw *d, double p[3], double n[3]);
    double (*distance)(const double p[3]);
} shape;

static const double TWO_PI = 6.283185307179586477;

static double norm(const double v[3]) { return sqrt((v[0] * v[0] + v[1] * v[1]) + v[2] * v[2]); }

static void direction(draw *d, double n[3])
{
    double s, c, z = 2 * next(d) - 1, r = sqrt(1 - z * z);
    tsr_det_sincos_turns(next(d), &s, &c);
    n[0] = r * c;
    n[1] = r * s;
    n[2] = z;
}

/* ---- spheres -------------------------------------------------------------------------------------------------------------------------- */

static void on_sphere(draw *d, double x, double radius, double sign, double p[3], double n[3])
{
    direction(d, n);
    for (int k = 0; k < 3; k++) {
        p[k] = n[k] * radius;
        n[k] *= sign;
    }
    p[0] += x;
}
static double from_sphere(const double p[3], double x, double radius)
{
    const double v[3] = { p[0] - x, p[1], p[2] };
    return norm(v) - radius;
}
static int sphere_sample(draw *d, double p[3], double n[3])
{
    on_sphere(d, 0, 0.8, 1, p, n);
    return 1;
}
static double sphere_distance(const double p[3]) { return from_sphere(p, 0, 0.8); }

static int bodies_sample(draw *d, double p[3], double n[3])
{
    int large = next(d) < 0.2025 / (0.2025 + 0.09); /* in the ratio of the areas */
    on_sphere(d, large ? -0.5 : 0.6, large ? 0.45 : 0.3, 1, p, n);
    return 1;
}
static double bodies_distance(const double p[3]) { return fmin(from_sphere(p, -0.5, 0.45), from_sphere(p, 0.6, 0.3)); }

static int shells_sample(draw *d, double p[3], double n[3])
{
    int outer = next(d) < 0.64 / (0.64 + 0.16);
    on_sphere(d, 0, outer ? 0.8 : 0.4, outer ? 1 : -1, p, n);
    return 1;
}
static double shells_distance(const double p[3]) { return fmax(from_sphere(p, 0, 0.8), -from_sphere(p, 0, 0.4)); }

/* ---- tori ----------------------------------------------------------------------------------------------------------------------------- */

static int on_torus(draw *d, double large, double small, double p[3], double n[3])
{
    double su, cu, sv, cv;
    tsr_det_sincos_turns(next(d), &su, &cu);
    tsr_det_sincos_turns(next(d), &sv, &cv);
    if (next(d) * (large + small) > large + small * cv) return 0; /* area element */
    n[0] = cv * cu;
    n[1] = cv * su;
    n[2] = sv;
    p[0] = large * cu + small * n[0];
    p[1] = large * su + small * n[1];
    p[2] = small * sv;
    return 1;
}
static double from_torus(double x, double y, double z, double large, double small)
{
    double ring = sqrt(x * x + y * y) - large;
    return sqrt(ring * ring + z * z) - small;
}
static int torus_sample(draw *d, double p[3], double n[3]) { return on_torus(d, 0.7, 0.25, p, n); }
static double torus_distance(const double p[3]) { return from_torus(p[0], p[1], p[2], 0.7, 0.25); }

/* One in the plane z = 0 round (-0.3, 0, 0), one in the plane y = 0 round (0.3, 0, 0): each passes through the hole of the other. */
static int linked_sample(draw *d, double p[3], double n[3])
{
    int second = next(d) < 0.5;
    if (!on_torus(d, 0.55, 0.14, p, n)) return 0;
    p[0] += second ? 0.3 : -0.3;
    if (!second) return 1;
    double swap = p[1];
    p[1] = p[2];
    p[2] = swap;
    swap = n[1];
    n[1] = n[2];
    n[2] = swap;
    return 1;
}
static double linked_distance(const double p[3])
{
    return fmin(from_torus(p[0] + 0.3, p[1], p[2], 0.55, 0.14), from_torus(p[0] - 0.3, p[2], p[1], 0.55, 0.14));
}

/* ---- a box with round edges: 6 faces, 12 quarter cylinders, 8 octants of a sphere ------------------------------------------------------ */

static const double BOX[3] = { 0.75, 0.55, 0.35 }, ROUND = 0.08; /* half extents of the flat faces, radius */

static int box_sample(draw *d, double p[3], double n[3])
{
    double area[7], total = 0; /* pairs of faces normal to x y z; cylinders along x y z; sphere */
    for (int k = 0; k < 3; k++) {
        area[k] = 8 * BOX[(k + 1) % 3] * BOX[(k + 2) % 3];
        area[3 + k] = 2 * BOX[k] * TWO_PI * ROUND;
    }
    area[6] = 2 * TWO_PI * ROUND * ROUND;
    for (int i = 0; i < 7; i++) total += area[i];
    double choice = next(d) * total;
    int part = 0;
    while (part < 6 && choice >= area[part]) choice -= area[part++];
    const int k = part % 3, a = (k + 1) % 3, b = (k + 2) % 3;
    if (part == 6) {
        direction(d, n);
    } else if (part >= 3) {
        n[k] = 0;
        tsr_det_sincos_turns(next(d), &n[a], &n[b]);
    } else {
        n[k] = next(d) < 0.5 ? -1 : 1;
        n[a] = n[b] = 0;
    }
    for (int i = 0; i < 3; i++) {
        double core = n[i] > 0 ? BOX[i] : n[i] < 0 ? -BOX[i] : (2 * next(d) - 1) * BOX[i];
        p[i] = core + ROUND * n[i];
    }
    return 1;
}
static double box_distance(const double p[3])
{
    double out[3], inner = -1e300;
    for (int k = 0; k < 3; k++) {
        double q = fabs(p[k]) - BOX[k];
        inner = fmax(inner, q);
        out[k] = fmax(q, 0);
    }
    return norm(out) + fmin(inner, 0) - ROUND;
}

/* ---- tube round a trefoil knot --------------------------------------------------------------------------------------------------------- */

static const double KNOT = 0.29, TUBE = 0.09; /* scale of the curve, radius of the tube */

/* The curve (sin t + 2 sin 2t, cos t - 2 cos 2t, -sin 3t) and its first two derivatives, t in turns. */
static void knot(double turns, double c[3], double c1[3], double c2[3])
{
    double s[4], k[4];
    for (int i = 1; i < 4; i++) tsr_det_sincos_turns(turns * i, &s[i], &k[i]);
    c[0] = KNOT * (s[1] + 2 * s[2]);
    c[1] = KNOT * (k[1] - 2 * k[2]);
    c[2] = -KNOT * s[3];
    c1[0] = KNOT * (k[1] + 4 * k[2]);
    c1[1] = KNOT * (-s[1] + 4 * s[2]);
    c1[2] = -KNOT * 3 * k[3];
    c2[0] = KNOT * (-s[1] - 8 * s[2]);
    c2[1] = KNOT * (-k[1] + 8 * k[2]);
    c2[2] = KNOT * 9 * s[3];
}
static int trefoil_sample(draw *d, double p[3], double n[3])
{
    double c[3], t[3], second[3], b[3], sa, ca;
    knot(next(d), c, t, second);
    double speed = norm(t), along = 0;
    for (int k = 0; k < 3; k++) t[k] /= speed;
    for (int k = 0; k < 3; k++) along += second[k] * t[k];
    for (int k = 0; k < 3; k++) second[k] -= along * t[k];
    double bend = norm(second), curvature = bend / (speed * speed);
    for (int k = 0; k < 3; k++) second[k] /= bend;
    for (int k = 0; k < 3; k++) b[k] = t[(k + 1) % 3] * second[(k + 2) % 3] - t[(k + 2) % 3] * second[(k + 1) % 3];
    tsr_det_sincos_turns(next(d), &sa, &ca);
    if (next(d) * 2.2 > speed * (1 - curvature * TUBE * ca)) return 0; /* speed is below 5.9 KNOT = 1.7 */
    for (int k = 0; k < 3; k++) {
        n[k] = ca * second[k] + sa * b[k];
        p[k] = c[k] + TUBE * n[k];
    }
    return 1;
}
static double knot_distance2(const double p[3], double turns)
{
    double c[3], c1[3], c2[3];
    knot(turns, c, c1, c2);
    return ((p[0] - c[0]) * (p[0] - c[0]) + (p[1] - c[1]) * (p[1] - c[1])) + (p[2] - c[2]) * (p[2] - c[2]);
}
static double trefoil_distance(const double p[3])
{
    enum { STEPS = 240 };
    double best = 1e300, at = 0, wide = 1.0 / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double v = knot_distance2(p, i * wide);
        if (v < best) {
            best = v;
            at = i * wide;
        }
    }
    for (int i = 0; i < 40; i++, wide *= 0.6) /* closes in on the minimum, which the first pass has bracketed */
        for (int side = -1; side <= 1; side += 2) {
            double v = knot_distance2(p, at + side * wide);
            if (v < best) {
                best = v;
                at += side * wide;
            }
        }
    return sqrt(best) - TUBE;
}

/* ---- sphere with detail over six octaves ------------------------------------------------------------------------------------------------ */

static double lattice(int64_t x, int64_t y, int64_t z)
{
    return 2 * tsr_det_uniform(4711, ((uint64_t)x * 73856093u) ^ ((uint64_t)y * 19349663u) ^ ((uint64_t)z * 83492791u)) - 1;
}
/* Values at the corners of a lattice, smoothly between: -1 to 1. */
static double value_noise(double x, double y, double z)
{
    const double f[3] = { floor(x), floor(y), floor(z) };
    double w[3] = { x - f[0], y - f[1], z - f[2] }, sum = 0;
    for (int k = 0; k < 3; k++) w[k] = w[k] * w[k] * (3 - 2 * w[k]);
    for (int c = 0; c < 8; c++) {
        double share = (c & 1 ? w[0] : 1 - w[0]) * (c & 2 ? w[1] : 1 - w[1]) * (c & 4 ? w[2] : 1 - w[2]);
        sum += share * lattice((int64_t)f[0] + (c & 1), (int64_t)f[1] + (c >> 1 & 1), (int64_t)f[2] + (c >> 2));
    }
    return sum;
}
/* Radius in a direction; the finest octave has detail of about 1/1000 of the box and 0.0006 of its height, like a scan of a statue. */
static double displaced_radius(const double n[3])
{
    double r = 0.75, height = 0.08, f = 2.5;
    for (int octave = 0; octave < 6; octave++, height *= 0.42, f *= 2.3) r += height * value_noise(n[0] * f + 31, n[1] * f + 57, n[2] * f + 11);
    return r;
}
static void displaced_normal(const double u[3], double n[3])
{
    const double h = 1e-5;
    double slope[3], along = 0; /* gradient of r along the unit sphere */
    for (int k = 0; k < 3; k++) {
        double a[3] = { u[0], u[1], u[2] }, b[3] = { u[0], u[1], u[2] };
        a[k] += h;
        b[k] -= h;
        const double la = norm(a), lb = norm(b);
        for (int i = 0; i < 3; i++) {
            a[i] /= la;
            b[i] /= lb;
        }
        slope[k] = (displaced_radius(a) - displaced_radius(b)) / (2 * h);
    }
    for (int k = 0; k < 3; k++) along += slope[k] * u[k];
    const double r = displaced_radius(u);
    for (int k = 0; k < 3; k++) n[k] = u[k] - (slope[k] - along * u[k]) / r;
    const double length = norm(n);
    for (int k = 0; k < 3; k++) n[k] /= length;
}
static int displaced_sample(draw *d, double p[3], double n[3])
{
    double u[3];
    direction(d, u);
    const double r = displaced_radius(u);
    if (next(d) > r * r) return 0; /* area of the sphere of this radius; r < 1 */
    displaced_normal(u, n);
    for (int k = 0; k < 3; k++) p[k] = r * u[k];
    return 1;
}
static double displaced_distance(const double p[3])
{
    const double r = norm(p);
    double u[3], n[3], slant = 0;
    if (!(r > 0)) return -0.6;
    for (int k = 0; k < 3; k++) u[k] = p[k] / r;
    displaced_normal(u, n);
    for (int k = 0; k < 3; k++) slant += n[k] * u[k];
    return (r - displaced_radius(u)) * slant;
}

static const shape shapes[] = {
    { { "points-sphere", "sphere of radius 0.8", 1, 0 }, sphere_sample, sphere_distance },
    { { "points-torus", "torus of radii 0.7 and 0.25", 1, 1 }, torus_sample, torus_distance },
    { { "points-linked-tori", "two tori through each other's holes", 2, 2 }, linked_sample, linked_distance },
    { { "points-box", "box with flat faces and edges of radius 0.08", 1, 0 }, box_sample, box_distance },
    { { "points-trefoil", "tube of radius 0.09 round a trefoil knot", 1, 1 }, trefoil_sample, trefoil_distance },
    { { "points-displaced", "sphere with detail over six octaves", 1, 0 }, displaced_sample, displaced_distance },
    { { "points-bodies", "two spheres apart", 2, 0 }, bodies_sample, bodies_distance },
    { { "points-shells", "a sphere inside a sphere: a hollow body", 2, 0 }, shells_sample, shells_distance },
};
enum { SHAPES = (int)(sizeof shapes / sizeof *shapes) };

const tsr_points_shape *tsr_points_shape_at(int32_t index) { return index >= 0 && index < SHAPES ? &shapes[index].info : NULL; }

static tsr_status find(const char *name, const shape **found)
{
    char names[256] = "";
    if (!name) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: name is NULL");
    for (int i = 0; i < SHAPES; i++) {
        if (!strcmp(shapes[i].info.name, name)) {
            *found = &shapes[i];
            return TSR_OK;
        }
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", shapes[i].info.name);
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "points: shape '%.40s' is not known, expected one of %s", name, names);
}

tsr_status tsr_points_shape_distance(const char *name, const double position[3], double *distance)
{
    TSR_NEEDS(name, distance);
    const shape *s = NULL;
    TSR_TRY(find(name, &s));
    *distance = s->distance(position);
    return TSR_OK;
}

/* ---- clouds ----------------------------------------------------------------------------------------------------------------------------- */

enum { PATCHES_MOST = 64, DRAWS = 1 << 12 /* counters of one sample */ };

typedef struct cloud {
    const shape *shape;
    tsr_points_options o;
    double patch[PATCHES_MOST][3];
} cloud;

static void sample(const shape *s, uint64_t seed, uint64_t i, draw *d, double p[3], double n[3])
{
    *d = (draw){ seed, i * DRAWS };
    while (!s->sample(d, p, n)) continue;
}

/* Sample i, drawn again while it falls into a patch or the density rejects it. */
static void cloud_sample(const cloud *c, int64_t i, double p[3], double n[3])
{
    draw d = { c->o.seed, (uint64_t)i * DRAWS };
    for (int tries = 0; tries < 500; tries++) {
        int accepted = c->shape->sample(&d, p, n);
        if (!accepted) continue;
        if (c->o.density > 1) {
            double x = fmin(fmax((p[0] + 1) / 2, 0), 1);
            accepted = next(&d) * c->o.density < 1 + (c->o.density - 1) * x;
        }
        for (int m = 0; m < c->o.missing && accepted; m++) {
            const double v[3] = { p[0] - c->patch[m][0], p[1] - c->patch[m][1], p[2] - c->patch[m][2] };
            accepted = norm(v) > c->o.missing_radius;
        }
        if (accepted) return;
    }
}

static tsr_status check(cloud *c)
{
    tsr_points_options *o = &c->o;
    if (!o->count) o->count = 40000;
    if (o->count < 1 || o->count > INT32_MAX / 2)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: count is %lld, expected 1 to 1073741823", (long long)o->count);
    if (!(o->noise >= 0 && o->noise <= 10)) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: noise is %g, expected 0 to 10", o->noise);
    if (!(o->outliers >= 0 && o->outliers <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: outliers is %g, expected a share from 0 to 1", o->outliers);
    if (o->density == 0) o->density = 1;
    if (!(o->density >= 1 && o->density <= 100)) TSR_FAIL(TSR_ERROR_ARGUMENT, "points: density is %g, expected a ratio from 1 to 100", o->density);
    if (o->missing < 0 || o->missing > PATCHES_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: missing is %d, expected 0 to %d patches", o->missing, (int)PATCHES_MOST);
    if (o->missing_radius == 0) o->missing_radius = 0.15;
    if (!(o->missing_radius > 0 && o->missing_radius <= 0.5))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "points: missing_radius is %g, expected more than 0 and at most 0.5", o->missing_radius);
    return TSR_OK;
}

tsr_status tsr_points_make(const char *name, const tsr_points_options *options, tsr_points **points)
{
    TSR_RETURNS(points);
    TSR_NEEDS(name);
    cloud c;
    draw d;
    double n[3], p[3];
    memset(&c, 0, sizeof c);
    TSR_TRY(TSR_OPTIONS_TAKE(&c.o, options));
    TSR_TRY(find(name, &c.shape));
    TSR_TRY(check(&c));
    for (int m = 0; m < c.o.missing; m++) sample(c.shape, c.o.seed + 0x51, (uint64_t)m, &d, c.patch[m], n);
    const int64_t outliers = (int64_t)floor(c.o.outliers * (double)c.o.count + 0.5);
    TSR_TRY(tsr_points_create(NULL, c.o.count + outliers, c.o.normals ? TSR_POINTS_NORMALS : 0, points));
    tsr_points *out = *points;
    double reach[3] = { 0, 0, 0 };
    for (int64_t i = 0; i < c.o.count + outliers; i++) {
        if ((i & 0xffff) == 0 && tsr_progress_report(&c.o.progress, (double)i / (double)(c.o.count + outliers), "making points")) {
            tsr_points_destroy(points);
            TSR_FAIL(TSR_ERROR_CANCELLED, "cancelled while making points");
        }
        if (i < c.o.count) {
            cloud_sample(&c, i, p, n);
            for (int k = 0; k < 3; k++) reach[k] = fmax(reach[k], fabs(p[k]));
        } else {
            d = (draw){ c.o.seed + 0x52, (uint64_t)(i - c.o.count) * 4 };
            for (int k = 0; k < 3; k++) {
                p[k] = (2 * next(&d) - 1) * 1.1 * reach[k];
                n[k] = 0;
            }
        }
        if (c.o.noise > 0 && i < c.o.count) {
            double e[4];
            tsr_det_normal_pair(c.o.seed + 0x53, 2 * (uint64_t)i, &e[0], &e[1]);
            tsr_det_normal_pair(c.o.seed + 0x53, 2 * (uint64_t)i + 1, &e[2], &e[3]);
            for (int k = 0; k < 3; k++) p[k] += c.o.noise * e[k];
        }
        for (int k = 0; k < 3; k++) {
            out->positions[3 * i + k] = (float)p[k];
            if (out->normals) out->normals[3 * i + k] = (float)n[k];
        }
    }
    return TSR_OK;
}
