/* fluid/fluid_sky.c: skies: the built-in ones and panoramas, resampled to an octahedral map; the sun and the light from all sides. */
#include <math.h>
#include <string.h>

#include "core/parallel.h"
#include "fluid/fluid.h"
#include "volume/deterministic.h"

enum { SIZE = TSR_FLUID_SKY_SIZE, SIDE = SIZE + 2 };

typedef struct sky {
    const char *name;
    double zenith[3], horizon[3], ground[3]; /* radiance */
    double sun[2];                           /* azimuth, elevation, degrees */
    double sun_color[3], glow[3], glow_power;
    double clouds, cloud_color[3];
} sky;

static const sky skies[] = {
    { "day",
      { 0.06, 0.16, 0.42 },
      { 0.42, 0.53, 0.64 },
      { 0.13, 0.12, 0.11 },
      { 215, 42 },
      { 1.45, 1.32, 1.12 },
      { 0.8, 0.7, 0.5 },
      24,
      0.8,
      { 0.92, 0.91, 0.90 } },
    { "sunset",
      { 0.06, 0.10, 0.28 },
      { 1.05, 0.48, 0.20 },
      { 0.09, 0.06, 0.06 },
      { 150, 9 },
      { 2.6, 1.25, 0.5 },
      { 2.2, 0.9, 0.25 },
      14,
      0.8,
      { 1.0, 0.5, 0.34 } },
    { "overcast",
      { 0.62, 0.66, 0.72 },
      { 0.80, 0.82, 0.84 },
      { 0.20, 0.20, 0.20 },
      { 200, 60 },
      { 0.5, 0.5, 0.5 },
      { 0.15, 0.15, 0.15 },
      6,
      0.5,
      { 0.95, 0.96, 0.98 } },
    { "studio", { 0.20, 0.20, 0.21 }, { 0.34, 0.34, 0.35 }, { 0.22, 0.22, 0.22 }, { 220, 52 }, { 1.6, 1.6, 1.6 }, { 0, 0, 0 }, 8, 0, { 0, 0, 0 } },
    { "night",
      { 0.006, 0.009, 0.024 },
      { 0.022, 0.030, 0.055 },
      { 0.006, 0.006, 0.008 },
      { 215, 40 },
      { 0.16, 0.19, 0.26 },
      { 0.10, 0.12, 0.17 },
      60,
      0.3,
      { 0.03, 0.035, 0.05 } },
};
enum { SKIES = sizeof skies / sizeof *skies };

static double lattice(int64_t i, int64_t j) { return (double)(tsr_det_random((uint64_t)i * 0x9e3779b9u + 77, (uint64_t)j) >> 11) * 0x1p-53; }
static double value_noise(double x, double y)
{
    const double i = floor(x), j = floor(y), fx = x - i, fy = y - j, u = fx * fx * (3 - 2 * fx), v = fy * fy * (3 - 2 * fy);
    const int64_t a = (int64_t)i, b = (int64_t)j;
    const double top = lattice(a, b) + u * (lattice(a + 1, b) - lattice(a, b)),
                 low = lattice(a, b + 1) + u * (lattice(a + 1, b + 1) - lattice(a, b + 1));
    return top + v * (low - top);
}
static double clouds(double x, double y)
{
    double sum = 0, weight = 0.5;
    for (int k = 0; k < 6; k++, weight *= 0.5) {
        sum += weight * value_noise(x, y);
        const double t = 1.6 * x + 1.2 * y;
        y = -1.2 * x + 1.6 * y + 5.3;
        x = t + 1.7;
    }
    return sum;
}

static void direction_of(const double degrees[2], double d[3])
{
    double s, c, se, ce;
    tsr_det_sincos_turns(degrees[0] / 360, &s, &c);
    tsr_det_sincos_turns(degrees[1] / 360, &se, &ce);
    d[0] = c * ce;
    d[1] = s * ce;
    d[2] = se;
}

/* Panels of light in a studio: a soft box overhead and two strips. */
static double panel(const double d[3], const double towards[3], const double wide[3], double w, double h)
{
    const double up[3] = { towards[1] * wide[2] - towards[2] * wide[1], towards[2] * wide[0] - towards[0] * wide[2],
                           towards[0] * wide[1] - towards[1] * wide[0] };
    const double z = d[0] * towards[0] + d[1] * towards[1] + d[2] * towards[2];
    if (z <= 0.05) return 0;
    const double x = fabs(d[0] * wide[0] + d[1] * wide[1] + d[2] * wide[2]) / z, y = fabs(d[0] * up[0] + d[1] * up[1] + d[2] * up[2]) / z;
    const double a = fmin(fmax((w - x) / 0.05, 0), 1), b = fmin(fmax((h - y) / 0.05, 0), 1);
    return a * b;
}

static void sky_at(const sky *s, const double d[3], double c[3])
{
    double sun[3];
    direction_of(s->sun, sun);
    const double toward = d[0] * sun[0] + d[1] * sun[1] + d[2] * sun[2], height = fmax(d[2], 0);
    const double rise = 1 - (1 - height) * (1 - height) * (1 - height);
    for (int k = 0; k < 3; k++) c[k] = s->horizon[k] + (s->zenith[k] - s->horizon[k]) * rise;
    if (s->clouds > 0 && d[2] > 0.02) {
        const double far_ = 1 / (d[2] + 0.06), n = clouds(2.1 * d[0] * far_ + 11, 2.1 * d[1] * far_ + 3);
        const double cover = fmin(fmax((n - 0.47) / 0.22, 0), 1) * s->clouds * fmin(d[2] / 0.18, 1),
                     lit = 1 + 0.5 * fmax(toward, 0) - 0.5 * (n - 0.47);
        for (int k = 0; k < 3; k++) c[k] += (s->cloud_color[k] * lit - c[k]) * cover;
    }
    if (toward > 0) {
        const double glow = tsr_det_exp(s->glow_power * (toward - 1)), disc = toward > 0.9996 ? 12 : 0;
        for (int k = 0; k < 3; k++) c[k] += s->glow[k] * glow + s->sun_color[k] * disc;
    }
    if (!strcmp(s->name, "studio")) {
        const double over[3] = { 0, 0, 1 }, x[3] = { 1, 0, 0 }, left[3] = { 0.8, -0.6, 0 }, right[3] = { -0.8, -0.6, 0 }, z[3] = { 0, 0, 1 };
        const double light = 3.2 * panel(d, over, x, 0.75, 0.5) + 1.8 * panel(d, left, z, 0.7, 0.14) + 1.2 * panel(d, right, z, 0.7, 0.08);
        for (int k = 0; k < 3; k++) c[k] += light;
    }
    if (d[2] < 0) { /* the ground, met softly */
        const double t = fmin(-d[2] / 0.04, 1);
        for (int k = 0; k < 3; k++) c[k] += (s->ground[k] * (1 + 0.6 * (1 + d[2])) - c[k]) * t;
    }
}

/* Middle of texel (i, j), border texels folded over: its direction. */
static void texel_direction(int32_t i, int32_t j, double d[3])
{
    double u = 2 * (i - 0.5) / SIZE - 1, v = 2 * (j - 0.5) / SIZE - 1;
    if (fabs(u) > 1) { /* over an edge: the mirror image of the other half of that edge */
        u = (u > 0 ? 2 : -2) - u;
        v = -v;
    }
    if (fabs(v) > 1) {
        v = (v > 0 ? 2 : -2) - v;
        u = -u;
    }
    const double z = 1 - fabs(u) - fabs(v);
    double x = u, y = v;
    if (z < 0) {
        x = (u >= 0 ? 1 : -1) * (1 - fabs(v));
        y = (v >= 0 ? 1 : -1) * (1 - fabs(u));
    }
    const double length = sqrt(x * x + y * y + z * z);
    d[0] = x / length;
    d[1] = y / length;
    d[2] = z / length;
}

typedef struct filling {
    const sky *sky;
    const float *light; /* [3][height][width] */
    int32_t width, height;
    float *map;
} filling;

static double turns_of(double x, double y) /* angle of (x, y) in turns, [0, 1), to 1e-9: Newton on the sine of the difference */
{
    const double length = sqrt(x * x + y * y);
    if (!(length > 0)) return 0;
    x /= length;
    y /= length;
    double t = fabs(x) > fabs(y) ? (x > 0 ? 0.0 : 0.5) : (y > 0 ? 0.25 : 0.75);
    for (int k = 0; k < 8; k++) {
        double s, c;
        tsr_det_sincos_turns(t, &s, &c);
        t += (y * c - x * s) / 6.283185307179586;
    }
    return t - floor(t);
}

static void panorama_at(const filling *f, const double d[3], double c[3])
{
    const double level = sqrt(d[0] * d[0] + d[1] * d[1]);
    double x = (turns_of(d[0], d[1])), y = turns_of(d[2], level) * 2; /* polar angle over pi */
    x = (0.5 - x) - floor(0.5 - x);
    const double px = x * f->width - 0.5, py = fmin(fmax(y * f->height - 0.5, 0), f->height - 1), i = floor(px), j = floor(py), fx = px - i,
                 fy = py - j;
    const int64_t x0 = (int64_t)(i < 0 ? i + f->width : i) % f->width, x1 = (x0 + 1) % f->width, y0 = (int64_t)j,
                  y1 = y0 + 1 < f->height ? y0 + 1 : y0;
    for (int k = 0; k < 3; k++) {
        const float *plane = f->light + (int64_t)k * f->width * f->height;
        const double a = (double)plane[y0 * f->width + x0], b = (double)plane[y0 * f->width + x1];
        const double e = (double)plane[y1 * f->width + x0], g = (double)plane[y1 * f->width + x1];
        c[k] = (a + fx * (b - a)) * (1 - fy) + (e + fx * (g - e)) * fy;
    }
}

static void fill_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const filling *f = (const filling *)user;
    (void)worker;
    for (int64_t j = begin; j < end; j++)
        for (int32_t i = 0; i < SIDE; i++) {
            double d[3], c[3];
            float *to = f->map + 4 * (j * SIDE + i);
            texel_direction(i, (int32_t)j, d);
            if (f->sky) sky_at(f->sky, d, c);
            else panorama_at(f, d, c);
            for (int k = 0; k < 3; k++) to[k] = (float)c[k];
            to[3] = 0;
        }
}

/* Light from all sides by the first two bands of spherical harmonics, cosine-weighted: irradiance / pi = L0 + 2/3 ... of the linear band. */
static void measure(tsr_fluid *f, int with_sun)
{
    double sum[4][3] = { { 0 } }, total = 0, brightest = -1, sun[3] = { 0, 0, 1 }, bright[3] = { 0, 0, 0 };
    for (int32_t j = 1; j <= SIZE; j++)
        for (int32_t i = 1; i <= SIZE; i++) {
            const float *t = f->sky_map + 4 * (j * SIDE + i);
            double d[3];
            texel_direction(i, j, d);
            const double one = fabs(d[0]) + fabs(d[1]) + fabs(d[2]), solid = one * one * one; /* of a texel, up to a factor */
            total += solid;
            for (int k = 0; k < 3; k++) {
                const double v = fmin((double)t[k], 4.0) * solid; /* the sun's own light is counted apart */
                sum[0][k] += v;
                for (int m = 0; m < 3; m++) sum[1 + m][k] += v * d[m];
            }
            const double luminance = 0.2126 * (double)t[0] + 0.7152 * (double)t[1] + 0.0722 * (double)t[2];
            if (luminance > brightest) {
                brightest = luminance;
                for (int m = 0; m < 3; m++) {
                    sun[m] = d[m];
                    bright[m] = (double)t[m];
                }
            }
        }
    for (int k = 0; k < 3; k++) {
        f->light.ambient[0][k] = (float)(sum[0][k] / total);
        for (int m = 0; m < 3; m++) f->light.ambient[1 + m][k] = (float)(2.0 * sum[1 + m][k] / total);
    }
    if (!with_sun) return;
    f->light.sun = tsr_f3((float)sun[0], (float)sun[1], (float)sun[2]);
    const double most = fmax(fmax(bright[0], bright[1]), fmax(bright[2], 1e-6)), strength = fmin(most, 2.5);
    f->light.sun_color = tsr_f3((float)(bright[0] / most * strength), (float)(bright[1] / most * strength), (float)(bright[2] / most * strength));
}

void tsr_fluid_level_axes(tsr_vec3 up, tsr_vec3 axes[3])
{
    if (!axes) return;
    up = tsr_vec3_scale(up, 1 / tsr_vec3_length(up));
    /* x of the frame: the world's x, or y where x is nearly upright; for z up the frame is the world's. */
    tsr_vec3 x = fabs(up.x) < 0.9 ? (tsr_vec3){ 1, 0, 0 } : (tsr_vec3){ 0, 1, 0 };
    x = tsr_vec3_sub(x, tsr_vec3_scale(up, tsr_vec3_dot(x, up)));
    x = tsr_vec3_scale(x, 1 / tsr_vec3_length(x));
    axes[0] = x;
    axes[1] = (tsr_vec3){ up.y * x.z - up.z * x.y, up.z * x.x - up.x * x.z, up.x * x.y - up.y * x.x };
    axes[2] = up;
}

/* The light as it is: the sky's own, turned. */
tsr_fluid_light tsr_fluid_turned_light(const tsr_fluid *f)
{
    tsr_fluid_light l = f->light;
    double s, c;
    tsr_det_sincos_turns(f->turn / 360, &s, &c);
    const float cosine = (float)c, sine = (float)s;
    l.turn[0] = cosine;
    l.turn[1] = sine;
    l.sun.x = cosine * f->light.sun.x - sine * f->light.sun.y;
    l.sun.y = sine * f->light.sun.x + cosine * f->light.sun.y;
    for (int k = 0; k < 3; k++) {
        l.ambient[1][k] = cosine * f->light.ambient[1][k] - sine * f->light.ambient[2][k];
        l.ambient[2][k] = sine * f->light.ambient[1][k] + cosine * f->light.ambient[2][k];
    }
    return l;
}

static tsr_status take_up(const tsr_fluid *fluid, tsr_vec3 up)
{
    if (!fluid) TSR_FAIL(TSR_ERROR_ARGUMENT, "fluid is NULL");
    const double length = tsr_vec3_length(up);
    if (!(length > 0 && length < 1e150)) TSR_FAIL(TSR_ERROR_ARGUMENT, "up is (%g, %g, %g), expected a direction", up.x, up.y, up.z);
    return TSR_OK;
}

tsr_status tsr_fluid_set_sky(tsr_fluid *fluid, const char *name, tsr_vec3 up)
{
    TSR_NEEDS(fluid, name);
    const sky *found = NULL;
    TSR_TRY(take_up(fluid, up));
    for (int k = 0; k < SKIES; k++)
        if (!strcmp(name, skies[k].name)) found = &skies[k];
    if (!found) TSR_FAIL(TSR_ERROR_ARGUMENT, "sky '%s' is unknown, expected day, sunset, overcast, studio or night (or a .hdr file)", name);
    filling f = { .sky = found, .map = fluid->sky_map };
    tsr_parallel(fluid->context->threads, SIDE, 8, fill_rows, &f);
    fluid->up = up;
    fluid->sky_fresh = 0;
    fluid->has_backdrop = 0;
    measure(fluid, 0);
    double d[3];
    direction_of(found->sun, d);
    fluid->light.sun = tsr_f3((float)d[0], (float)d[1], (float)d[2]);
    fluid->light.sun_color = tsr_f3((float)found->sun_color[0], (float)found->sun_color[1], (float)found->sun_color[2]);
    return TSR_OK;
}

tsr_status tsr_fluid_set_panorama(tsr_fluid *fluid, const tsr_volume *map, tsr_vec3 up)
{
    TSR_NEEDS(fluid, map);
    const tsr_size3 n = tsr_volume_size(map);
    TSR_TRY(take_up(fluid, up));
    if (tsr_volume_dtype(map) != TSR_F32 || tsr_volume_device(map).kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "panorama: %s%s, expected f32 on the host", tsr_dtype_name(tsr_volume_dtype(map)),
                 tsr_volume_device(map).kind != TSR_DEVICE_CPU ? " on a device" : "");
    if (n.x < 2 || n.y < 2 || n.z != 3 || n.x > INT32_MAX || n.y > INT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "panorama of %lld x %lld x %lld, expected at least 2 x 2 pixels of 3 channels", (long long)n.x, (long long)n.y,
                 (long long)n.z);
    const float *light = (const float *)tsr_volume_data_const(map);
    for (int64_t i = 0; i < tsr_volume_count(map); i++)
        if (!(light[i] >= 0 && light[i] < 1e30f))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "panorama: value %g at pixel %lld, expected light that is finite and not negative", (double)light[i],
                     (long long)(i % (n.x * n.y)));
    filling f = { .light = light, .width = (int32_t)n.x, .height = (int32_t)n.y, .map = fluid->sky_map };
    tsr_parallel(fluid->context->threads, SIDE, 8, fill_rows, &f);
    fluid->up = up;
    fluid->sky_fresh = 0;
    fluid->has_backdrop = 0;
    measure(fluid, 1);
    return TSR_OK;
}

tsr_status tsr_fluid_adjust_sky(tsr_fluid *fluid, double turn, double level)
{
    TSR_NEEDS(fluid);
    if (!(fabs(turn) <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "turn is %g, expected degrees", turn);
    if (!(level >= 0 && level <= 1e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "level is %g, expected 0 to 1e6", level);
    fluid->turn = turn;
    fluid->light.level = (float)level;
    return TSR_OK;
}
