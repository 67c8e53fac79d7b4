/* volume/phantom_scenes.c: level-set phantoms: signed distances and other functions, negative inside (docs/theory/surfaces.md 9,
 * docs/theory/levelset.md 9). Lengths in units of the scene (half the longest axis) unless said otherwise. */
#include "volume/phantom.h"

static double smaller(double a, double b) { return a < b ? a : b; }
static double larger(double a, double b) { return a > b ? a : b; }
static double magnitude(double a) { return a < 0 ? -a : a; }

/* A row function from a function of one world point. */
#define POINT_ROW(name)                                                                                                       \
    static void name##_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)                         \
    {                                                                                                                         \
        double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz);                                              \
        for (int64_t ix = 0; ix < s->size[0]; ix++) {                                                                         \
            values[ix] = (float)name(s, tsr_scene_centred(s, 0, ix), y, z);                                                   \
            if (truth) truth[ix] = (uint8_t)(values[ix] < 0);                                                                 \
        }                                                                                                                     \
    }

/* ---- exact signed distances --------------------------------------------------------------------------------------------------- */

static double sphere(const tsr_scene *s, double x, double y, double z) { return tsr_length3(x, y, z) - 0.75 * s->unit; }
POINT_ROW(sphere)

static double plane(const tsr_scene *s, double x, double y, double z)
{
    (void)x;
    (void)y;
    return z + s->half[2] - s->spacing[2] * (double)(s->size[2] / 2); /* 0 on the samples of slice nz/2 */
}
POINT_ROW(plane)

static double box(const tsr_scene *s, double x, double y, double z)
{
    double dx = magnitude(x) - 0.6 * s->unit, dy = magnitude(y) - 0.45 * s->unit, dz = magnitude(z) - 0.35 * s->unit;
    return tsr_length3(larger(dx, 0), larger(dy, 0), larger(dz, 0)) + smaller(larger(dx, larger(dy, dz)), 0);
}
POINT_ROW(box)

static double two_spheres(const tsr_scene *s, double x, double y, double z)
{
    double at = 0.35 * s->unit;
    return smaller(tsr_length3(x - at, y, z), tsr_length3(x + at, y, z)) - 0.3 * s->unit;
}
POINT_ROW(two_spheres)

/* Exact outside; inside, near the joints, the nearer of the parts' distances. */
static double dumbbell(const tsr_scene *s, double x, double y, double z)
{
    const double a[3] = { -0.5 * s->unit, 0, 0 }, b[3] = { 0.5 * s->unit, 0, 0 };
    double balls = smaller(tsr_length3(x - a[0], y, z), tsr_length3(x - b[0], y, z)) - 0.3 * s->unit;
    return smaller(balls, tsr_segment_distance(x, y, z, a, b) - 0.1 * s->unit);
}
POINT_ROW(dumbbell)

/* Sphere of radius 0.15 at (0.35, 0.35, 0.35) of the unit cube, whose edge is the longest axis in voxels; samples at cell centres (i + 1/2)/G. */
static double enright(const tsr_scene *s, double x, double y, double z)
{
    double edge = 0, p[3] = { x, y, z };
    for (int a = 0; a < 3; a++) {
        edge = larger(edge, s->spacing[a] * (double)s->size[a]);
        p[a] += s->spacing[a] * (double)s->size[a] * 0.5;
    }
    return tsr_length3(p[0] - 0.35 * edge, p[1] - 0.35 * edge, p[2] - 0.35 * edge) - 0.15 * edge;
}
POINT_ROW(enright)

/* Semi-axes 0.8, 0.5, 0.35. The foot point solves sum (a y / (t + a^2))^2 = 1 (Eberly, Distance from a Point to an Ellipsoid): the
 * left side is convex and falling in t > -c^2 (c the smallest semi-axis), so Newton from a point left of the root climbs to it. */
static double ellipsoid(const tsr_scene *s, double x, double y, double z)
{
    const double axes[3] = { 0.8 * s->unit, 0.5 * s->unit, 0.35 * s->unit }, p[3] = { magnitude(x), magnitude(y), magnitude(z) };
    double smallest = axes[2], t = -smallest * smallest, foot[3] = { 0 }, level = -1, rest = 1;
    for (int a = 0; a < 3; a++) {
        t = larger(t, axes[a] * p[a] - axes[a] * axes[a]); /* where this axis alone makes the sum 1 */
        level += p[a] / axes[a] * (p[a] / axes[a]);
    }
    for (int a = 0; a < 2; a++) {
        foot[a] = axes[a] * axes[a] * p[a] / (axes[a] * axes[a] - smallest * smallest);
        rest -= foot[a] / axes[a] * (foot[a] / axes[a]);
    }
    if (p[2] == 0 && rest > 0) { /* on the plane of symmetry, near the centre: the foot leaves the plane */
        foot[2] = smallest * sqrt(rest);
    } else {
        for (int step = 0; step < 64; step++) {
            double f = -1, slope = 0;
            for (int a = 0; a < 3; a++) {
                double d = t + axes[a] * axes[a], q = d > 0 ? axes[a] * p[a] / d : 0;
                f += q * q;
                slope -= d > 0 ? 2 * q * q / d : 0;
            }
            double next = slope < 0 ? t - f / slope : t;
            if (!(next > t)) break;
            t = next;
        }
        for (int a = 0; a < 3; a++) {
            double d = t + axes[a] * axes[a];
            foot[a] = d > 0 ? axes[a] * axes[a] * p[a] / d : 0;
        }
    }
    double distance = tsr_length3(p[0] - foot[0], p[1] - foot[1], p[2] - foot[2]);
    return level < 0 ? -distance : distance;
}
POINT_ROW(ellipsoid)

/* ---- torus and Cayley cubic: signs from exact integers, so that counts are the same everywhere ---------------------------------------------- */

__extension__ typedef __int128 wide_integer;

/* R = 3/5, r = 1/4. With X = 2i - n + 1, D = n - 1: inside iff (400 S + 119 D^2)^2 < 230400 D^2 (X^2 + Y^2), S = X^2 + Y^2 + Z^2. */
static int torus_inside(int64_t x, int64_t y, int64_t z, int64_t d)
{
    wide_integer left = 400 * ((wide_integer)x * x + (wide_integer)y * y + (wide_integer)z * z) + 119 * (wide_integer)d * d;
    return left * left < 230400 * (wide_integer)d * d * ((wide_integer)x * x + (wide_integer)y * y);
}

static int64_t longest(const tsr_scene *s)
{
    int64_t n = s->size[0] > s->size[1] ? s->size[0] : s->size[1];
    return n > s->size[2] ? n : s->size[2];
}

static void torus_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz);
    int exact = s->spacing[0] == s->spacing[1] && s->spacing[1] == s->spacing[2];
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        double x = tsr_scene_centred(s, 0, ix), ring = sqrt(x * x + y * y) - 0.6 * s->unit, d = sqrt(ring * ring + z * z) - 0.25 * s->unit;
        if (exact) {
            int inside = torus_inside(2 * ix - s->size[0] + 1, 2 * iy - s->size[1] + 1, 2 * iz - s->size[2] + 1, longest(s) - 1);
            if (inside != (d < 0)) d = inside ? -1e-30 : 0; /* rounding moved a sample that lies almost on the surface */
        }
        values[ix] = (float)d;
        if (truth) truth[ix] = (uint8_t)(values[ix] < 0);
    }
}

/* 16xyz + 4(x^2 + y^2 + z^2) - 1 on [-1, 1]^3, from the integers 16XYZ + 4DS - D^3. */
static void cayley_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    wide_integer d = longest(s) - 1, y = 2 * iy - s->size[1] + 1, z = 2 * iz - s->size[2] + 1;
    double cube = (double)d * (double)d * (double)d;
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        wide_integer x = 2 * ix - s->size[0] + 1, f = 16 * x * y * z + 4 * d * (x * x + y * y + z * z) - d * d * d;
        values[ix] = (float)((double)f / cube);
        if (truth) truth[ix] = (uint8_t)(f < 0);
    }
}

/* ---- spiral: Archimedean centre line in the plane, extruded ------------------------------------------------------------------- */

enum { SPIRAL_SEGMENTS = 1536 };

/* number[0]: world length of 1/128 of the longest axis; memory: the polyline's points. */
static tsr_status spiral_prepare(tsr_scene *s)
{
    s->memory_bytes = (SPIRAL_SEGMENTS + 1) * 2 * sizeof(double);
    TSR_TRY(tsr_host_allocate(NULL, s->memory_bytes, &s->memory));
    double *points = (double *)s->memory, scale = s->number[0] = (2 * s->unit + s->spacing[0]) / 128;
    for (int i = 0; i <= SPIRAL_SEGMENTS; i++) {
        double t = (double)i / SPIRAL_SEGMENTS, r = (12 + 32 * t) * scale, sine, cosine;
        tsr_det_sincos_turns(2.5 * t, &sine, &cosine);
        points[2 * i] = r * cosine;
        points[2 * i + 1] = r * sine;
    }
    return TSR_OK;
}

/* Distance in the plane. Segments are looked at near the turn angles where the curve can be closest: first every 16th point, then around the best. */
static double spiral_distance(const double *points, double x, double y)
{
    double best = 1e300, coarse[SPIRAL_SEGMENTS / 16 + 1];
    for (int i = 0; i <= SPIRAL_SEGMENTS / 16; i++) {
        double dx = points[32 * i] - x, dy = points[32 * i + 1] - y;
        coarse[i] = dx * dx + dy * dy;
        best = smaller(best, coarse[i]);
    }
    double step = tsr_length3(points[2 * SPIRAL_SEGMENTS] - points[2 * SPIRAL_SEGMENTS - 32],
                              points[2 * SPIRAL_SEGMENTS + 1] - points[2 * SPIRAL_SEGMENTS - 31], 0);
    double bound = (sqrt(best) + step) * (sqrt(best) + step), distance = 1e300;
    for (int i = 0; i < SPIRAL_SEGMENTS; i++) {
        if (smaller(coarse[i / 16], coarse[i / 16 + 1]) > bound) continue; /* a point between two coarse ones is within a step of either */
        const double a[3] = { points[2 * i], points[2 * i + 1], 0 }, b[3] = { points[2 * i + 2], points[2 * i + 3], 0 };
        distance = smaller(distance, tsr_segment_distance(x, y, 0, a, b));
    }
    return distance;
}

static double spiral_solid(const tsr_scene *s, double flat, double z)
{
    double across = flat - 5 * s->number[0], along = magnitude(z) - 20 * s->number[0];
    return smaller(larger(across, along), 0) + tsr_length3(larger(across, 0), larger(along, 0), 0);
}

static void spiral_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    double y = tsr_scene_centred(s, 1, iy), z = tsr_scene_centred(s, 2, iz);
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        values[ix] = (float)spiral_solid(s, spiral_distance((const double *)s->memory, tsr_scene_centred(s, 0, ix), y), z);
        if (truth) truth[ix] = (uint8_t)(values[ix] < 0);
    }
}

/* ---- other functions ---------------------------------------------------------------------------------------------------------- */

/* Schwarz's gyroid, two periods per half axis; negative on one side. */
static double gyroid(const tsr_scene *s, double x, double y, double z)
{
    double sx, cx, sy, cy, sz, cz, waves = 2 / s->unit;
    tsr_det_sincos_turns(x * waves, &sx, &cx);
    tsr_det_sincos_turns(y * waves, &sy, &cy);
    tsr_det_sincos_turns(z * waves, &sz, &cz);
    return sx * cy + sy * cz + sz * cx;
}
POINT_ROW(gyroid)

/* Shell |g| < 0.4 around it, cut by a ball; divided by the largest gradient: never more than the distance. */
static double gyroid_shell(const tsr_scene *s, double x, double y, double z)
{
    double steepest = 1.7320508075688772 * 6.283185307179586477 * 2 / s->unit;
    return larger((magnitude(gyroid(s, x, y, z)) - 0.4) / steepest, tsr_length3(x, y, z) - 0.9 * s->unit);
}
POINT_ROW(gyroid_shell)

enum { METABALLS = 8 };
static tsr_status metaballs_prepare(tsr_scene *s)
{
    s->count = METABALLS;
    for (int32_t i = 0; i < s->count; i++) {
        for (uint64_t a = 0; a < 3; a++) s->number[4 * i + (int)a] = s->unit * tsr_scene_random(s, 4 * (uint64_t)i + a, -0.55, 0.55);
        s->number[4 * i + 3] = s->unit * tsr_scene_random(s, 4 * (uint64_t)i + 3, 0.1, 0.2);
    }
    return TSR_OK;
}
static double metaballs(const tsr_scene *s, double x, double y, double z)
{
    double sum = 0;
    for (int32_t i = 0; i < s->count; i++) {
        const double *b = &s->number[4 * i];
        double dx = x - b[0], dy = y - b[1], dz = z - b[2];
        sum += b[3] * b[3] / larger(dx * dx + dy * dy + dz * dz, 1e-12 * s->unit * s->unit);
    }
    return 1 - smaller(sum, 1e6);
}
POINT_ROW(metaballs)

/* Sphere with a displacement of five octaves of lattice noise: a detailed closed surface at any resolution. */
static double lattice(const tsr_scene *s, uint64_t octave, double x, double y, double z)
{
    double cell[3] = { floor(x), floor(y), floor(z) }, f[3] = { x - cell[0], y - cell[1], z - cell[2] }, sum = 0;
    for (int a = 0; a < 3; a++) f[a] = f[a] * f[a] * (3 - 2 * f[a]);
    for (int corner = 0; corner < 8; corner++) {
        uint64_t key = octave;
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            int up = corner >> a & 1;
            key = tsr_det_random(key, (uint64_t)((int64_t)cell[a] + up + (1 << 20)));
            weight *= up ? f[a] : 1 - f[a];
        }
        sum += weight * (2 * tsr_det_uniform(s->seed, key) - 1);
    }
    return sum;
}
static double bumpy(const tsr_scene *s, double x, double y, double z)
{
    double r = tsr_length3(x, y, z), height = 0, amplitude = 0.12, frequency = 3;
    for (uint64_t octave = 0; octave < 5 && r > 0; octave++) {
        height += amplitude * lattice(s, octave, frequency * x / r, frequency * y / r, frequency * z / r);
        amplitude *= 0.5;
        frequency *= 2;
    }
    return r - 0.6 * s->unit * (1 + height);
}
POINT_ROW(bumpy)

static void checkerboard_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        int inside = (int)((ix + iy + iz) & 1);
        values[ix] = inside ? -1.0f : 1.0f;
        if (truth) truth[ix] = (uint8_t)inside;
    }
}

static void noise_row(const tsr_scene *s, int64_t iy, int64_t iz, float *values, uint8_t *truth)
{
    for (int64_t ix = 0; ix < s->size[0]; ix++) {
        values[ix] = (float)(2 * tsr_det_uniform(s->seed, (uint64_t)((iz * s->size[1] + iy) * s->size[0] + ix)) - 1);
        if (truth) truth[ix] = (uint8_t)(values[ix] < 0);
    }
}

#define SHAPE(name, description, kind, n, prepare) { { #name, description, kind, { n, n, n }, 0, 0 }, prepare, name##_row }

const tsr_phantom tsr_phantom_shapes[] = {
    SHAPE(sphere, "sphere of radius 3/4 of the half axis", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(torus, "torus of radii 3/5 and 1/4", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(box, "box of half sizes 0.6, 0.45, 0.35", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(ellipsoid, "ellipsoid of semi-axes 0.8, 0.5, 0.35", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(two_spheres, "two spheres of radius 0.3 with a gap of 0.1", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(dumbbell, "two spheres of radius 0.3 joined by a bar of radius 0.1", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(spiral, "extruded Archimedean spiral of 2.5 turns", TSR_PHANTOM_DISTANCE, 128, spiral_prepare),
    SHAPE(enright, "sphere of radius 0.15 at 0.35 of the unit cube, for the deformation test", TSR_PHANTOM_DISTANCE, 128, NULL),
    SHAPE(plane, "half space below slice nz/2, whose samples are exactly 0", TSR_PHANTOM_DISTANCE, 64, NULL),
    SHAPE(cayley, "Cayley cubic 16xyz + 4(x^2 + y^2 + z^2) - 1 with exact signs", TSR_PHANTOM_FIELD, 128, NULL),
    SHAPE(gyroid, "gyroid, four periods along the longest axis", TSR_PHANTOM_FIELD, 128, NULL),
    SHAPE(gyroid_shell, "shell around the gyroid, cut by a ball", TSR_PHANTOM_FIELD, 128, NULL),
    SHAPE(metaballs, "eight metaballs at places chosen by the seed", TSR_PHANTOM_FIELD, 128, metaballs_prepare),
    SHAPE(bumpy, "sphere with five octaves of displacement noise", TSR_PHANTOM_FIELD, 256, NULL),
    SHAPE(checkerboard, "alternating -1 and 1: every edge is crossed", TSR_PHANTOM_FIELD, 32, NULL),
    SHAPE(noise, "uniform random values in (-1, 1)", TSR_PHANTOM_FIELD, 64, NULL),
};
const int32_t tsr_phantom_shape_count = (int32_t)(sizeof tsr_phantom_shapes / sizeof *tsr_phantom_shapes);
