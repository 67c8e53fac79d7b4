/* vision/rig_edit/rig_edit_canvas.c: a projector is a camera the other way round: what it must show so that a canvas with colours of its own looks as is wanted.
 * docs/theory/calibration.md 10. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "device/backend.h"
#include "vision/rig_edit/rig_edit_draw.h"

static const double usual_gamma = 2.2, bright_share = 0.01;
enum { DIM_STEPS = 1200 };
static const double dim_octaves = 6; /* of dims on both sides of 1 that are told apart */

typedef struct canvas {
    const edit_shader *shader;
    const edit_depths *depths;
    tsr_view_model model;
    int32_t projector, wanted, lit, dark; /* dark -1: none */
    double linear[256], gamma, dim;
    tsr_image *image;
    int64_t *seen, *wants;        /* by row */
    int64_t (*by_dim)[DIM_STEPS]; /* of each worker: pixels by the dim up to which they have light enough */
} canvas;

static double light_at(const canvas *c, float value)
{
    const int32_t low = (int32_t)value, high = low < 255 ? low + 1 : low;
    return c->linear[low] + (double)(value - (float)low) * (c->linear[high] - c->linear[low]);
}

/* The place of the proxy that a pixel of the projector lights: 0 if there is none. */
static int place_of(const canvas *c, int32_t x, int32_t y, float place[3])
{
    const tsr_pinhole *p = &c->depths->camera;
    const tsr_align_depths *d = &c->depths->view;
    const double pixel[2] = { x + 0.5, y + 0.5 };
    double at[2];
    if (!tsr_view_normalise(&c->model, pixel, at)) return 0;
    const double u = floor((p->fx * at[0] + p->cx) / d->scale), v = floor((p->fy * at[1] + p->cy) / d->scale);
    if (!(u >= 0 && v >= 0 && u < d->width && v < d->height)) return 0;
    const float inverse = d->inverse[(int64_t)v * d->width + (int64_t)u];
    if (!(inverse > 0.0f)) return 0;
    edit_place(p, at, 1 / (double)inverse, c->shader->middle, place);
    return 1;
}

static void row_of(const canvas *c, int32_t y, int worker)
{
    const tsr_shade_camera *s = c->shader->camera;
    for (int32_t x = 0; x < c->image->width; x++) {
        float place[3], want[3], lit[3], dark[3] = { 0 };
        double most = 0, enough = HUGE_VAL;
        uint8_t *to = c->image->pixels + 3 * ((size_t)y * (size_t)c->image->width + (size_t)x);
        if (!place_of(c, x, y, place) || !tsr_shade_place(&s[c->lit], place, lit)) continue;
        if (c->dark >= 0 && !tsr_shade_place(&s[c->dark], place, dark)) continue;
        if (c->wanted == c->projector) {
            const tsr_shade_camera *own = &s[c->projector];
            if (!tsr_shade_take(own, (float)((x + 0.5) / (double)own->scale), (float)((y + 0.5) / (double)own->scale), want)) continue;
        } else if (!tsr_shade_place(&s[c->wanted], place, want)) continue;
        for (int k = 0; k < 3; k++) {
            const double black = light_at(c, dark[k]), white = light_at(c, lit[k]), wish = light_at(c, want[k]), more = c->dim * wish - black;
            const double light = more > 0 ? (white > black ? more / (white - black) : 2) : 0;
            most = fmax(most, light);
            enough = fmin(enough, wish > 0 ? fmax(white, black) / wish : HUGE_VAL);
            to[k] = (uint8_t)(255 * pow(fmin(1, light), 1 / c->gamma) + 0.5);
        }
        c->seen[y]++;
        c->wants[y] += most > 1;
        c->by_dim[worker][(int)fmax(0, fmin(DIM_STEPS - 1, (log2(fmax(enough, 1e-6)) / dim_octaves + 1) * DIM_STEPS / 2))]++;
    }
}

static void rows(void *user, int64_t begin, int64_t end, int worker)
{
    for (int64_t y = begin; y < end; y++) row_of((const canvas *)user, (int32_t)y, worker);
}

static tsr_status named(const tsr_rig_editor *e, const char *what, const char *name, int32_t *index)
{
    for (*index = 0; *index < e->cameras; ++*index)
        if (!strcmp(e->image[*index].name, name)) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "options.%s: there is no camera '%s', expected one of the %d that were loaded", what, name, e->cameras);
}

static tsr_status check(const tsr_rig_compensate_options *o, double *gamma, double *response, double *dim)
{
    *gamma = o->gamma == 0 ? usual_gamma : o->gamma;
    *response = o->response == 0 ? usual_gamma : o->response;
    *dim = o->dim == 0 ? 1 : o->dim;
    if (!o->projector || !o->lit)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "options.%s is missing, expected the name of a camera", o->projector ? "lit" : "projector");
    if (!(*gamma >= 0.2 && *gamma <= 5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "options.gamma is %g, expected 0.2 to 5", o->gamma);
    if (!(*response >= 0.2 && *response <= 5)) TSR_FAIL(TSR_ERROR_ARGUMENT, "options.response is %g, expected 0.2 to 5", o->response);
    if (!(*dim >= 0.01 && *dim <= 10)) TSR_FAIL(TSR_ERROR_ARGUMENT, "options.dim is %g, expected 0.01 to 10", o->dim);
    return TSR_OK;
}

/* Sums of rows and workers; the brightness at which all but a hundredth has light enough. */
static void report_of(const canvas *c, int32_t height, int32_t workers, tsr_rig_compensated *r)
{
    const double pixels = (double)c->image->width * height;
    int64_t seen = 0, wants = 0, below = 0;
    int step = 0;
    for (int32_t y = 0; y < height; y++) seen += c->seen[y], wants += c->wants[y];
    for (; step < DIM_STEPS; step++) {
        for (int32_t t = 0; t < workers; t++) below += c->by_dim[t][step];
        if ((double)below > bright_share * (double)seen) break;
    }
    r->canvas = (double)seen / pixels;
    r->short_of_light = seen ? (double)wants / (double)seen : 0;
    r->enough = exp2((2.0 * step / DIM_STEPS - 1) * dim_octaves);
}

tsr_status tsr_rig_editor_compensate(tsr_rig_editor *e, const tsr_rig_compensate_options *options, tsr_image *image, tsr_rig_compensated *compensated)
{
    TSR_NEEDS(e, options, image);
    tsr_rig_compensate_options o;
    tsr_rig_compensated own = { .enough = 1 };
    canvas c = { .dark = -1, .image = image };
    edit_depths depths = { .proxy = 0 };
    edit_shader *shader = NULL;
    tsr_status status;
    double response;
    *image = (tsr_image){ 0 };
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check(&o, &c.gamma, &response, &c.dim));
    TSR_TRY(named(e, "projector", o.projector, &c.projector));
    TSR_TRY(named(e, "lit", o.lit, &c.lit));
    if (o.dark) TSR_TRY(named(e, "dark", o.dark, &c.dark));
    c.wanted = c.projector;
    if (o.wanted) TSR_TRY(named(e, "wanted", o.wanted, &c.wanted));
    if (!e->surface.triangles) TSR_FAIL(TSR_ERROR_STATE, "compensate: there is no proxy yet: load the canvas first");
    const tsr_pinhole *p = &e->now.camera[c.projector];
    const int32_t workers = e->context->threads > 0 ? e->context->threads : 1;
    for (int v = 0; v < 256; v++) c.linear[v] = pow(v / 255.0, response);
    c.model = tsr_view_model_of(p);
    shader = (edit_shader *)malloc(sizeof *shader);
    c.seen = (int64_t *)calloc((size_t)p->height * 2, sizeof *c.seen);
    c.by_dim = calloc((size_t)workers, sizeof *c.by_dim);
    if (!shader || !c.seen || !c.by_dim) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for a compensation image");
    c.wants = c.seen + p->height;
    TSR_TRY_GOTO(edit_shader_make(e, &e->now, 1, 1, shader), end);
    TSR_TRY_GOTO(edit_depths_of(e, p, 1, &depths), end);
    TSR_TRY_GOTO(tsr_image_create(p->width, p->height, 3, image), end);
    memset(image->pixels, 0, (size_t)p->width * (size_t)p->height * 3);
    c.shader = shader;
    c.depths = &depths;
    tsr_parallel(e->context->threads, p->height, 8, rows, &c);
    report_of(&c, p->height, workers, &own);
    if (own.canvas == 0)
        TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "compensate: no pixel of '%s' lies on a part of the proxy that '%s' sees: are both where they stand?",
                      o.projector, o.lit);
    if (compensated) TSR_TRY_GOTO(TSR_STRUCT_GIVE(compensated, &own), end);
end:
    if (status != TSR_OK) tsr_image_destroy(image);
    edit_depths_release(&depths);
    free(shader);
    free(c.seen);
    free(c.by_dim);
    return status;
}
