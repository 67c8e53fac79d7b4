/* vision/align/pitch.c: a football pitch as lines, and as a camera sees it. Measures of the Laws of the Game in metres. */
#include <math.h>
#include <string.h>

#include "core/mix.h"
#include "vision/align/align.h"
#include "vision/calibration/dense.h"

#define PI 3.14159265358979323846
static const double half_long = 52.5, half_wide = 34, area_deep = 16.5, area_wide = 20.16, small_deep = 5.5, small_wide = 9.16, radius = 9.15, mark = 11, half_line = 0.06,
                    goal_wide = 3.66, goal_high = 2.44, bar = 0.06;

/* ---- lines --------------------------------------------------------------------------------------------------------------------- */

typedef struct list {
    tsr_align_line *line;
    int64_t count;
} list;
static void add(list *l, tsr_vec3 from, tsr_vec3 to, tsr_vec3 across)
{
    if (l->line) l->line[l->count] = (tsr_align_line){ from, to, across };
    l->count++;
}
static void painted(list *l, double ax, double ay, double bx, double by)
{
    const double length = hypot(bx - ax, by - ay);
    add(l, (tsr_vec3){ ax, ay, 0 }, (tsr_vec3){ bx, by, 0 }, (tsr_vec3){ 2 * half_line * (ay - by) / length, 2 * half_line * (bx - ax) / length, 0 });
}
static void arc(list *l, double x, double y, double r, double from, double to)
{
    const int n = (int)ceil(r * (to - from) / 0.5);
    for (int k = 0; k < n; k++) {
        const double a = from + (to - from) * k / n, b = from + (to - from) * (k + 1) / n;
        painted(l, x + r * cos(a), y + r * sin(a), x + r * cos(b), y + r * sin(b));
    }
}

int64_t tsr_pitch_lines(tsr_align_line *line)
{
    list l = { line, 0 };
    for (int s = -1; s <= 1; s += 2) {
        painted(&l, -half_long, s * half_wide, half_long, s * half_wide);
        painted(&l, s * half_long, -half_wide, s * half_long, half_wide);
        const double area = s * (half_long - area_deep), small = s * (half_long - small_deep), spot = s * (half_long - mark), open = acos((area_deep - mark) / radius);
        painted(&l, area, -area_wide, area, area_wide);
        painted(&l, small, -small_wide, small, small_wide);
        for (int t = -1; t <= 1; t += 2) {
            painted(&l, area, t * area_wide, s * half_long, t * area_wide);
            painted(&l, small, t * small_wide, s * half_long, t * small_wide);
            const double corner = s > 0 ? (t > 0 ? PI : PI / 2) : t > 0 ? 1.5 * PI : 0;
            arc(&l, s * half_long, t * half_wide, 1, corner, corner + PI / 2);
            add(&l, (tsr_vec3){ s * half_long, t * (goal_wide + bar), 0 }, (tsr_vec3){ s * half_long, t * (goal_wide + bar), goal_high }, (tsr_vec3){ 0, 2 * bar, 0 });
        }
        add(&l, (tsr_vec3){ s * half_long, -goal_wide, goal_high + bar }, (tsr_vec3){ s * half_long, goal_wide, goal_high + bar }, (tsr_vec3){ 0, 0, 2 * bar });
        arc(&l, spot, 0, radius, (s > 0 ? PI : 0) - open, (s > 0 ? PI : 0) + open);
    }
    painted(&l, 0, -half_wide, 0, half_wide);
    arc(&l, 0, 0, radius, 0, 2 * PI);
    return l.count;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

/* How far a place is from the middle of the nearest painted line; the pitch is its own mirror image both ways. */
static double to_line(double x, double y)
{
    x = fabs(x);
    y = fabs(y);
    double d = 1e9;
    const double area = half_long - area_deep, small = half_long - small_deep, spot = half_long - mark;
#define NEARER(v) d = fmin(d, (v))
    if (y <= half_wide + half_line) {
        NEARER(fabs(x - half_long));
        NEARER(x);
    }
    if (x <= half_long + half_line) NEARER(fabs(y - half_wide));
    if (x >= area && x <= half_long) NEARER(fabs(y - area_wide));
    if (x >= small && x <= half_long) NEARER(fabs(y - small_wide));
    if (y <= area_wide + half_line) NEARER(fabs(x - area));
    if (y <= small_wide + half_line) NEARER(fabs(x - small));
    NEARER(fabs(hypot(x, y) - radius));
    if (x < area) NEARER(fabs(hypot(x - spot, y) - radius));
    if (x < half_long && y < half_wide) NEARER(fabs(hypot(x - half_long, y - half_wide) - 1));
    NEARER(hypot(x, y) - 0.05);
    NEARER(hypot(x - spot, y) - 0.05);
#undef NEARER
    return d;
}

static double chance(uint64_t seed, uint64_t n) { return ((double)(tsr_mix64(seed + (n + 1) * TSR_GOLDEN_STEP) >> 11) + 0.5) * 0x1p-53; }

/* A strip of the picture between two places of the world, as wide as it appears: posts, bars, people. */
static void strip(const tsr_pinhole *c, const double from[3], const double to[3], double wide, double value, double blur, tsr_image *image)
{
    const tsr_view_model model = tsr_view_model_of(c);
    double end[2][2], reach = 0;
    const double *x[2] = { from, to };
    for (int k = 0; k < 2; k++) {
        double e[3];
        for (int i = 0; i < 3; i++) e[i] = c->rotation[i][0] * x[k][0] + c->rotation[i][1] * x[k][1] + c->rotation[i][2] * x[k][2] + c->translation[i];
        if (!(e[2] > 0.1) || !tsr_view_project(&model, e, end[k], NULL, NULL)) return;
        reach += 0.25 * wide * c->fx / e[2];
    }
    const double length = hypot(end[1][0] - end[0][0], end[1][1] - end[0][1]), u[2] = { (end[1][0] - end[0][0]) / length, (end[1][1] - end[0][1]) / length };
    const double low[2] = { fmin(end[0][0], end[1][0]) - reach - blur, fmin(end[0][1], end[1][1]) - reach - blur };
    const double high[2] = { fmax(end[0][0], end[1][0]) + reach + blur, fmax(end[0][1], end[1][1]) + reach + blur };
    for (int32_t j = (int32_t)fmax(0, low[1]); j < image->height && j <= high[1]; j++)
        for (int32_t i = (int32_t)fmax(0, low[0]); i < image->width && i <= high[0]; i++) {
            const double dx = i + 0.5 - end[0][0], dy = j + 0.5 - end[0][1], along = dx * u[0] + dy * u[1], across = fabs(dy * u[0] - dx * u[1]);
            const double a = fmin(1, fmax(0, (reach - across) / blur + 0.5)), b = fmin(1, fmax(0, fmin(along, length - along) / blur + 0.5));
            uint8_t *p = image->pixels + (int64_t)j * image->width + i;
            *p = (uint8_t)(*p + a * b * (value - *p) + 0.5);
        }
}

tsr_status tsr_pitch_draw(const tsr_pinhole *camera, const tsr_pitch_options *options, tsr_image *image)
{
    TSR_NEEDS(camera, image);
    enum { SAMPLES = 32 };
    tsr_pitch_options o;
    double back[3][3], h[3][3];
    *image = (tsr_image){ 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    o.blur = o.blur == 0 ? 2 : o.blur;
    if (!(o.blur >= 0.1 && o.blur <= 100)) TSR_FAIL(TSR_ERROR_ARGUMENT, "pitch: blur is %g pixels, expected 0.1 to 100", o.blur);
    if (!(o.noise >= 0 && o.noise <= 255)) TSR_FAIL(TSR_ERROR_ARGUMENT, "pitch: noise is %g grey values, expected 0 to 255", o.noise);
    if (o.players < 0 || o.players > 1000) TSR_FAIL(TSR_ERROR_ARGUMENT, "pitch: players is %d, expected 0 to 1000", o.players);
    if (camera->width < 1 || camera->height < 1 || camera->width > 32768 || camera->height > 32768 || !(camera->fx > 0 && camera->fy > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pitch: camera of %d x %d pixels and focal lengths %g and %g, expected 1 to 32768 pixels and numbers above 0", camera->width,
                 camera->height, camera->fx, camera->fy);
    for (int i = 0; i < 3; i++) {
        h[i][0] = camera->rotation[i][0];
        h[i][1] = camera->rotation[i][1];
        h[i][2] = camera->translation[i];
    }
    if (!tsr_dense_invert3((const double(*)[3])h, back)) TSR_FAIL(TSR_ERROR_ARGUMENT, "pitch: the camera lies in the plane of the pitch");
    const tsr_view_model model = tsr_view_model_of(camera);
    TSR_TRY(tsr_image_create(camera->width, camera->height, 1, image));
    for (int32_t y = 0; y < camera->height; y++)
        for (int32_t x = 0; x < camera->width; x++) {
            double sum = 0;
            for (int k = 0; k < SAMPLES; k++) {
                const double pixel[2] = { x + 0.5 + o.blur * (((11 * k) % SAMPLES + 0.5) / SAMPLES - 0.5), y + 0.5 + o.blur * ((k + 0.5) / SAMPLES - 0.5) };
                double p[2];
                if (!tsr_view_normalise(&model, pixel, p)) continue;
                const double scale = back[2][0] * p[0] + back[2][1] * p[1] + back[2][2];
                if (!(scale > 0)) {
                    sum += 150; /* sky and stands */
                    continue;
                }
                const double u = (back[0][0] * p[0] + back[0][1] * p[1] + back[0][2]) / scale, v = (back[1][0] * p[0] + back[1][1] * p[1] + back[1][2]) / scale;
                if (fabs(u) > half_long + 8 || fabs(v) > half_wide + 8) sum += 120;
                else sum += to_line(u, v) <= half_line ? 225 : (int)floor((u + half_long) / 5.25) & 1 ? 84 : 92;
            }
            image->pixels[(int64_t)y * camera->width + x] = (uint8_t)(sum / SAMPLES + 0.5);
        }
    for (int s = -1; s <= 1; s += 2) {
        const double foot[2][3] = { { s * half_long, -goal_wide - bar, 0 }, { s * half_long, goal_wide + bar, 0 } };
        const double head[2][3] = { { s * half_long, -goal_wide - bar, goal_high + 2 * bar }, { s * half_long, goal_wide + bar, goal_high + 2 * bar } };
        const double left[3] = { s * half_long, -goal_wide, goal_high + bar }, right[3] = { s * half_long, goal_wide, goal_high + bar };
        for (int k = 0; k < 2; k++) strip(camera, foot[k], head[k], 2 * bar, 235, o.blur, image);
        strip(camera, left, right, 2 * bar, 235, o.blur, image);
    }
    for (int32_t n = 0; n < o.players; n++) {
        const double at[3] = { (2 * chance(o.seed, 3 * (uint64_t)n) - 1) * half_long, (2 * chance(o.seed, 3 * (uint64_t)n + 1) - 1) * half_wide, 0 };
        const double hip[3] = { at[0], at[1], 0.9 }, top[3] = { at[0], at[1], 1.8 };
        strip(camera, at, hip, 0.45, 55, o.blur, image);
        strip(camera, hip, top, 0.55, chance(o.seed, 3 * (uint64_t)n + 2) < 0.5 ? 30 : 190, o.blur, image);
    }
    for (int64_t i = 0; o.noise > 0 && i < (int64_t)camera->width * camera->height; i++) {
        const double g = sqrt(-2 * log(chance(o.seed + 77, 2 * (uint64_t)i))) * cos(2 * PI * chance(o.seed + 77, 2 * (uint64_t)i + 1));
        image->pixels[i] = (uint8_t)fmin(255, fmax(0, image->pixels[i] + o.noise * g + 0.5));
    }
    return TSR_OK;
}
