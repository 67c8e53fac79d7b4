/* vision/views/analytic.c: scenes whose truth is known, and their pictures. */
#include "tessera/analytic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "camera/camera.h"
#include "camera/lens.h"
#include "core/mix.h"
#include "core/parallel.h"
#include "core/srgb.h"
#include "vision/views/analytic_solids.h"

#define RED              \
    {                    \
        0.75, 0.22, 0.16 \
    }
#define SAND             \
    {                    \
        0.80, 0.62, 0.38 \
    }
#define GREEN            \
    {                    \
        0.24, 0.58, 0.26 \
    }
#define BLUE             \
    {                    \
        0.20, 0.36, 0.75 \
    }
#define GREY             \
    {                    \
        0.65, 0.65, 0.65 \
    }
#define DARK                \
    {                       \
        0.010, 0.010, 0.012 \
    }
#define SKIN             \
    {                    \
        0.85, 0.55, 0.42 \
    }
enum { SOLIDS_MOST = 24 };

typedef struct scene {
    tsr_analytic_info info;
    int count;
    tsr_solid solid[SOLIDS_MOST];
} scene;

#define NEW TSR_JOIN_NEW
#define CUT TSR_JOIN_CUT
#define AND TSR_JOIN_AND
#define BALL TSR_SOLID_ELLIPSOID
#define BOX TSR_SOLID_BOX
#define TUBE TSR_SOLID_CYLINDER
#define HALF TSR_SOLID_HALF_SPACE

static const scene scenes[] = {
    { { "plane", "a plane square to the view of a camera in front" }, 1, { { NEW, HALF, { 0, 0, 0 }, { 0, -1, 0 }, GREY, 3 } } },
    { { "slant", "a plane that recedes to the right" }, 1, { { NEW, HALF, { 0, 0, 0 }, { -0.5, -1, 0.2 }, SAND, 3 } } },
    { { "sphere", "a sphere of radius 1" }, 1, { { NEW, BALL, { 0, 0, 0 }, { 1, 1, 1 }, BLUE, 3 } } },
    { { "box", "a box" }, 1, { { NEW, BOX, { 0, 0, 0 }, { 0.9, 0.6, 0.7 }, GREEN, 3 } } },
    { { "torus", "a torus about the z axis, radii 0.8 and 0.35" }, 1, { { NEW, TSR_SOLID_TORUS, { 0, 0, 0 }, { 0.8, 0.35, 0 }, RED, 3 } } },
    { { "cavity",
      "a sphere with a spherical hollow that is open to the front" },
      2,
      { { NEW, BALL, { 0, 0, 0 }, { 1, 1, 1 }, BLUE, 3 }, { CUT, BALL, { 0, -0.8, 0.1 }, { 0.6, 0.6, 0.6 }, SAND, 4 } } },
    { { "spheres",
      "two spheres, one partly before the other" },
      2,
      { { NEW, BALL, { -0.45, -0.7, 0 }, { 0.55, 0.55, 0.55 }, RED, 3 }, { NEW, BALL, { 0.4, 0.5, 0.15 }, { 0.8, 0.8, 0.8 }, GREEN, 3 } } },
    { { "head",
      "an ellipsoid with eyes, a nose and a brimmed cap" },
      7,
      { { NEW, BALL, { 0, 0, 0 }, { 0.72, 0.85, 1 }, SKIN, 2 },
        { CUT, BALL, { -0.28, -0.84, 0.18 }, { 0.16, 0.14, 0.11 }, SAND, 4 },
        { CUT, BALL, { 0.28, -0.84, 0.18 }, { 0.16, 0.14, 0.11 }, SAND, 4 },
        { NEW, BALL, { 0, -0.84, -0.05 }, { 0.11, 0.22, 0.17 }, SKIN, 4 },
        { NEW, TUBE, { 0, -0.1, 0.5 }, { 1.1, 0.03, 2 }, RED, 3 },
        { NEW, BALL, { 0, 0, 0.5 }, { 0.8, 0.9, 0.65 }, RED, 3 },
        { AND, HALF, { 0, 0, 0.5 }, { 0, 0, -1 }, RED, 3 } } },
    { { "rod",
      "a thin rod in front of a wall" },
      2,
      { { NEW, HALF, { 0, 1, 0 }, { 0, -1, 0 }, SAND, 3 }, { NEW, TUBE, { 0.05, -0.6, 0 }, { 0.03, 2, 2 }, RED, 6 } } },
    { { "layers",
      "a window in one plane, a second plane behind it" },
      3,
      { { NEW, HALF, { 0, 1, 0 }, { 0, -1, 0 }, GREEN, 3 },
        { NEW, BOX, { 0, 0, 0 }, { 4, 0.02, 4 }, SAND, 3 },
        { CUT, BOX, { 0.2, 0, 0 }, { 0.7, 1, 0.6 }, SAND, 3 } } },
    { { "stairs",
      "five steps" },
      5,
      { { NEW, BOX, { 0, 0.8, -0.3 }, { 1.2, 0.2, 1.3 }, GREY, 3 },
        { NEW, BOX, { 0, 0.4, -0.5 }, { 1.2, 0.2, 1.1 }, SAND, 3 },
        { NEW, BOX, { 0, 0, -0.7 }, { 1.2, 0.2, 0.9 }, GREEN, 3 },
        { NEW, BOX, { 0, -0.4, -0.9 }, { 1.2, 0.2, 0.7 }, BLUE, 3 },
        { NEW, BOX, { 0, -0.8, -1.1 }, { 1.2, 0.2, 0.5 }, RED, 3 } } },
    { { "curtain",
      "a sphere between a dark curtain and a plain patch" },
      4,
      { { NEW, HALF, { 0, 1.2, 0 }, { 0, -1, 0 }, SAND, 3 },
        { NEW, BALL, { 0, 0, 0 }, { 0.6, 0.6, 0.6 }, BLUE, 3 },
        { NEW, BOX, { -1.1, 0.6, 0 }, { 0.4, 0.05, 1.4 }, DARK, 3 },
        { NEW, BOX, { 1.1, 0.4, 0 }, { 0.4, 0.05, 0.8 }, GREY, 0 } } },
    { { "car",
      "a car of boxes and cylinders" },
      15,
      { { NEW, BOX, { 0, 0, -0.1 }, { 1.4, 0.6, 0.25 }, RED, 3 },
        { CUT, TUBE, { -0.85, 0, -0.35 }, { 0.32, 2, 1 }, DARK, 0 },
        { CUT, TUBE, { 0.85, 0, -0.35 }, { 0.32, 2, 1 }, DARK, 0 },
        { NEW, BOX, { 0.1, 0, 0.36 }, { 0.75, 0.52, 0.24 }, RED, 3 },
        { CUT, HALF, { -0.65, 0, 0.15 }, { 1, 0, -1 }, RED, 3 },
        { CUT, HALF, { 0.85, 0, 0.15 }, { -1, 0, -1 }, RED, 3 },
        { CUT, BOX, { 0.1, 0, 0.36 }, { 0.42, 1, 0.14 }, BLUE, 3 },
        { NEW, BOX, { 0.1, 0, 0.36 }, { 0.5, 0.48, 0.2 }, BLUE, 3 },
        { NEW, TUBE, { -0.85, -0.48, -0.35 }, { 0.25, 0.12, 1 }, GREY, 5 },
        { NEW, TUBE, { 0.85, -0.48, -0.35 }, { 0.25, 0.12, 1 }, GREY, 5 },
        { NEW, TUBE, { -0.85, 0.48, -0.35 }, { 0.25, 0.12, 1 }, GREY, 5 },
        { NEW, TUBE, { 0.85, 0.48, -0.35 }, { 0.25, 0.12, 1 }, GREY, 5 },
        { NEW, BALL, { -1.4, -0.4, -0.05 }, { 0.05, 0.12, 0.1 }, SAND, 3 },
        { NEW, BALL, { -1.4, 0.4, -0.05 }, { 0.05, 0.12, 0.1 }, SAND, 3 },
        { NEW, HALF, { 0, 0, -0.6 }, { 0, 0, 1 }, GREEN, 2 } } },
};
static const tsr_solid backdrop = { TSR_JOIN_ROOM, TSR_SOLID_BOX, { 0, 0, 0 }, { 6, 6, 6 }, SAND, 1.5 };

const tsr_analytic_info *tsr_analytic_at(int32_t index)
{
    return index >= 0 && index < (int32_t)(sizeof scenes / sizeof *scenes) ? &scenes[index].info : NULL;
}

/* Solids of a scene with what the options add; at most SOLIDS_MOST + 1. */
static tsr_status gather(const char *name, const tsr_analytic_options *o, tsr_solid *solids, int *count)
{
    const scene *s = NULL;
    char names[300] = "";
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (name && !strcmp(name, scenes[i].info.name)) s = &scenes[i];
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, scenes[i].info.name, sizeof names - strlen(names) - 1);
    }
    if (!s) TSR_FAIL(TSR_ERROR_ARGUMENT, "scene '%.40s', expected one of %s", name ? name : "", names);
    memcpy(solids, s->solid, (size_t)s->count * sizeof *solids);
    *count = s->count;
    if (o->backdrop) solids[(*count)++] = backdrop;
    return TSR_OK;
}

/* ---- colour --------------------------------------------------------------------------------------------------------------------- */

static double smooth(double f) { return f * f * (3 - 2 * f); }

/* Random values on the corners of a lattice, three at once, smoothed between them; mean 1/2. */
static void lattice(tsr_vec3 p, uint64_t octave, double value[3])
{
    const double f[3] = { floor(p.x), floor(p.y), floor(p.z) }, w[3] = { smooth(p.x - f[0]), smooth(p.y - f[1]), smooth(p.z - f[2]) };
    for (int c = 0; c < 8; c++) {
        uint64_t h = octave * TSR_GOLDEN_STEP;
        double weight = 1;
        for (int a = 0; a < 3; a++) {
            const int up = c >> a & 1;
            h = tsr_mix64(h ^ (uint64_t)((int64_t)f[a] + up));
            weight *= up ? w[a] : 1 - w[a];
        }
        for (int k = 0; k < 3; k++) value[k] += weight * (double)(h >> (20 * k) & 0xfffff) * 0x1p-20;
    }
}

static void shade(const tsr_analytic_options *o, const tsr_span *hit, tsr_vec3 at, double color[3])
{
    static const double weights[5] = { 0.8, 0.8, 0.7, 0.6, 0.45 };
    const tsr_solid *s = hit->of[0];
    double pattern[3] = { 1, 1, 1 };
    if (s->detail > 0 && !o->untextured) {
        double sum[3] = { 0.5, 0.5, 0.5 }, scale = s->detail;
        for (int octave = 0; octave < 5; octave++, scale *= 2) {
            double v[3] = { 0, 0, 0 };
            lattice(tsr_vec3_scale(at, scale), (uint64_t)octave + 1, v);
            for (int k = 0; k < 3; k++) sum[k] += weights[octave] * (0.3 * v[k] + 0.7 * v[0] - 0.5);
        }
        for (int k = 0; k < 3; k++) pattern[k] = 0.15 + 1.15 * fmin(1, fmax(0, sum[k]));
    }
    const tsr_vec3 light = { -0.36, -0.8, 0.48 }; /* unit */
    const double lambert = s->join == TSR_JOIN_ROOM ? 0.75 : 0.5 + 0.5 * fmax(0, tsr_vec3_dot(hit->normal[0], light));
    for (int k = 0; k < 3; k++) color[k] = fmin(1, s->color[k] * pattern[k] * lambert);
}

tsr_status tsr_analytic_trace(const char *name, const tsr_analytic_options *options, tsr_vec3 origin, tsr_vec3 direction, double *t, tsr_vec3 *normal)
{
    TSR_NEEDS(t);
    tsr_analytic_options o;
    tsr_solid solids[SOLIDS_MOST + 1];
    tsr_span hit;
    int count;
    *t = (double)INFINITY;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(gather(name, &o, solids, &count));
    if (!tsr_vec3_finite(origin) || !tsr_vec3_finite(direction) || !(tsr_vec3_length(direction) > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "ray: expected finite numbers and a direction that is not 0");
    if (tsr_solids_hit(solids, count, origin, direction, 1e-9, &hit)) *t = hit.t[0];
    if (normal) *normal = hit.normal[0];
    return TSR_OK;
}

tsr_status tsr_analytic_color(const char *name, const tsr_analytic_options *options, tsr_vec3 origin, tsr_vec3 direction, double color[3])
{
    TSR_NEEDS(name);
    tsr_analytic_options o;
    tsr_solid solids[SOLIDS_MOST + 1];
    tsr_span hit;
    int count;
    if (!color) TSR_FAIL(TSR_ERROR_ARGUMENT, "color is NULL");
    memset(color, 0, 3 * sizeof *color);
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(gather(name, &o, solids, &count));
    if (tsr_solids_hit(solids, count, origin, direction, 1e-9, &hit))
        shade(&o, &hit, tsr_vec3_add(origin, tsr_vec3_scale(direction, hit.t[0])), color);
    return TSR_OK;
}

/* ---- pictures ------------------------------------------------------------------------------------------------------------------ */

typedef struct job {
    tsr_analytic_options o;
    tsr_solid solids[SOLIDS_MOST + 1];
    int count, distorts;
    int32_t width, height, samples, row;
    tsr_camera_rays rays;
    tsr_lens_map lens;
    double clip[2];
    float *color; /* [height][width][3] linear */
    float *depth;
    uint8_t *pixels;
    float *kernel, *blurred;
    int32_t reach;
} job;

/* 0: the camera sees nothing there. */
static int sees(const job *j, double x, double y, tsr_span *hit, tsr_vec3 *at)
{
    tsr_vec3 origin, direction;
    if (j->distorts) {
        const double seen[2] = { (x - j->lens.centre[0]) / j->lens.half, (y - j->lens.centre[1]) / j->lens.half_y };
        double added[2];
        if (!tsr_lens_remove(&j->lens.lens, seen, added)) return 0;
        x += added[0] * j->lens.half;
        y += added[1] * j->lens.half_y;
    }
    tsr_camera_rays_at(&j->rays, x, y, &origin, &direction);
    if (!tsr_solids_hit(j->solids, j->count, origin, direction, j->clip[0], hit) || hit->t[0] > j->clip[1]) return 0;
    *at = tsr_vec3_add(origin, tsr_vec3_scale(direction, hit->t[0]));
    return 1;
}

static void draw_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const job *j = (const job *)user;
    (void)worker;
    for (int64_t y = j->row + begin; y < j->row + end; y++)
        for (int32_t x = 0; x < j->width; x++) {
            const int64_t i = y * j->width + x;
            tsr_span hit;
            tsr_vec3 at;
            if (j->depth) j->depth[i] = sees(j, x + 0.5, (double)y + 0.5, &hit, &at) ? (float)hit.t[0] : 0;
            if (!j->color) continue;
            double sum[3] = { 0, 0, 0 };
            for (int32_t s = 0; s < j->samples * j->samples; s++) {
                double c[3];
                const double u = (s % j->samples + 0.5) / j->samples, v = (s / j->samples + 0.5) / j->samples;
                if (!sees(j, x + u, (double)y + v, &hit, &at)) continue;
                shade(&j->o, &hit, at, c);
                for (int k = 0; k < 3; k++) sum[k] += c[k];
            }
            for (int k = 0; k < 3; k++) j->color[3 * i + k] = (float)(sum[k] / (j->samples * j->samples));
        }
}

/* One line after the other: blurred along x into the other array, which is transposed: twice gives the picture back. */
static void blur_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const job *j = (const job *)user;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < j->width; x++)
            for (int k = 0; k < 3; k++) {
                float sum = 0;
                for (int32_t r = -j->reach; r <= j->reach; r++) {
                    const int32_t at = x + r < 0 ? 0 : x + r >= j->width ? j->width - 1 : x + r;
                    sum += j->kernel[r + j->reach] * j->color[3 * (y * j->width + at) + k];
                }
                j->blurred[3 * ((int64_t)x * j->height + y) + k] = sum;
            }
}

static double gaussian(uint64_t seed, uint64_t n)
{
    const uint64_t a = tsr_mix64(seed * TSR_GOLDEN_STEP + 2 * n + 1), b = tsr_mix64(a + 0x632be59bd9b4e019ull * (n + 1));
    const double u = ((double)(a >> 11) + 1) * 0x1p-53, v = (double)(b >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
static void encode_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const job *j = (const job *)user;
    const double gain = j->o.gain != 0 ? j->o.gain : 1;
    (void)worker;
    for (int64_t i = begin * j->width * 3; i < end * j->width * 3; i++) {
        const double c = (double)j->color[i], s = tsr_srgb_of_linear(c);
        double grey = gain * 255 * s + j->o.bias;
        if (j->o.noise > 0) grey += j->o.noise * gaussian(j->o.seed, (uint64_t)i);
        j->pixels[i] = (uint8_t)fmin(255, fmax(0, floor(grey + 0.5)));
    }
}

static tsr_status blur(job *j)
{
    const size_t bytes = (size_t)j->width * (size_t)j->height * 3 * sizeof(float);
    j->reach = (int32_t)ceil(3 * j->o.blur);
    j->kernel = (float *)malloc((size_t)(2 * j->reach + 1) * sizeof(float));
    j->blurred = (float *)malloc(bytes);
    if (!j->kernel || !j->blurred) TSR_FAIL(TSR_ERROR_MEMORY, "scene: out of host memory for %d x %d pixels", j->width, j->height);
    double sum = 0;
    for (int32_t r = -j->reach; r <= j->reach; r++) sum += exp(-0.5 * r * r / (j->o.blur * j->o.blur));
    for (int32_t r = -j->reach; r <= j->reach; r++) j->kernel[r + j->reach] = (float)(exp(-0.5 * r * r / (j->o.blur * j->o.blur)) / sum);
    for (int pass = 0; pass < 2; pass++) {
        tsr_parallel(j->o.threads, j->height, 8, blur_rows, j);
        float *swap = j->color;
        j->color = j->blurred;
        j->blurred = swap;
        const int32_t side = j->width;
        j->width = j->height;
        j->height = side;
    }
    return TSR_OK;
}

static tsr_status draw(job *j, tsr_image *image)
{
    enum { BAND = 32 };
    const size_t bytes = (size_t)j->width * (size_t)j->height * 3 * sizeof(float);
    if (image) {
        j->color = (float *)malloc(bytes);
        if (!j->color) TSR_FAIL(TSR_ERROR_MEMORY, "scene: out of host memory for %d x %d pixels", j->width, j->height);
    }
    for (j->row = 0; j->row < j->height; j->row += BAND) {
        TSR_PROGRESS(&j->o.progress, (double)j->row / j->height, "scene");
        tsr_parallel(j->o.threads, j->height - j->row < BAND ? j->height - j->row : BAND, 1, draw_rows, j);
    }
    if (!image) return TSR_OK;
    if (j->o.blur > 0) TSR_TRY(blur(j));
    TSR_TRY(tsr_image_create(j->width, j->height, 3, image));
    j->pixels = image->pixels;
    tsr_parallel(j->o.threads, j->height, 8, encode_rows, j);
    return TSR_OK;
}

static tsr_status check(const tsr_analytic_options *o)
{
    if (o->supersampling < 0 || o->supersampling > 16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "scene: supersampling is %d, expected 1 to 16 (0 = 4)", o->supersampling);
    if (!(o->noise >= 0 && o->noise <= 1e3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "scene: noise is %g, expected 0 to 1000 grey values", o->noise);
    if (!(o->blur >= 0 && o->blur <= 100)) TSR_FAIL(TSR_ERROR_ARGUMENT, "scene: blur is %g, expected 0 to 100 pixels", o->blur);
    if (!(o->gain >= 0 && o->gain <= 100) || !(fabs(o->bias) <= 255))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "scene: gain %g and bias %g, expected a gain of 0 to 100 and a bias of -255 to 255", o->gain, o->bias);
    if (o->threads < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "scene: threads is %d, expected 0 or more", o->threads);
    return TSR_OK;
}

tsr_status tsr_analytic_render(const char *name, const tsr_camera *camera, int32_t width, int32_t height, const tsr_analytic_options *options,
                               tsr_image *image, float *depth)
{
    TSR_NEEDS(camera);
    job j = { .width = width, .height = height, .depth = depth };
    if (image) memset(image, 0, sizeof *image);
    TSR_TRY(TSR_OPTIONS_TAKE(&j.o, options));
    TSR_TRY(gather(name, &j.o, j.solids, &j.count));
    TSR_TRY(check(&j.o));
    TSR_TRY(tsr_camera_check(camera));
    if (width < 1 || height < 1 || width > 65536 || height > 65536)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "scene: a picture of %d x %d pixels, expected 1 to 65536", width, height);
    tsr_camera ideal = *camera;
    memset(&ideal.lens, 0, sizeof ideal.lens);
    TSR_TRY(tsr_camera_rays_make("scene", &ideal, width, height, &j.rays));
    j.distorts = tsr_lens_distorts(&camera->lens);
    if (j.distorts) {
        const tsr_lens lens = tsr_camera_lens(camera, width, height);
        TSR_TRY(tsr_lens_map_make("scene", &lens, width, height, 1, &j.lens));
    }
    if (j.distorts && camera->projection == TSR_PROJECTION_MATRIX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "scene: a lens and a matrix in one camera, expected a pinhole with a lens");
    const int clips = camera->projection != TSR_PROJECTION_MATRIX && (camera->clip[0] != 0 || camera->clip[1] != 0);
    j.clip[0] = clips ? camera->clip[0] : camera->projection == TSR_ORTHOGRAPHIC ? 0 : 1e-9;
    j.clip[1] = clips ? camera->clip[1] : (double)INFINITY;
    j.samples = j.o.supersampling ? j.o.supersampling : 4;
    if (j.o.threads == 0) j.o.threads = tsr_parallel_default_threads();
    const tsr_status status = draw(&j, image);
    free(j.color);
    free(j.blurred);
    free(j.kernel);
    if (status != TSR_OK && image) tsr_image_destroy(image);
    return status;
}
