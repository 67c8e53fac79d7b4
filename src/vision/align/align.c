/* vision/align/align.c: candidates from wide to narrow, the best of them refined. docs/theory/calibration.md 9. */
#include "tessera/align.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "core/mix.h"
#include "vision/align/align.h"
#include "vision/calibration/dense.h"
#include "vision/lens_ops.h"

enum { LEVELS = 4, BEST_MOST = 256, SAMPLES_MOST = 2048 };

typedef struct state {
    tsr_pinhole camera;
    double cost;
} state;

typedef struct search {
    tsr_context *context;
    tsr_align_options o;
    tsr_align_model model;
    tsr_align_level level[LEVELS];
    int which[TSR_ALIGN_UNKNOWNS], count;
    double box[TSR_ALIGN_UNKNOWNS]; /* half of its edges */
    state *best;
    int32_t kept;
    int64_t judged;
} search;

/* Coordinate d of point n of an additive sequence (the generalised golden ratio of the dimension), moved by the seed; -1 to 1. */
static double evenly(uint64_t seed, int64_t n, int d, int dimensions)
{
    double g = 1.5;
    for (int k = 0; k < 40; k++) g = pow(1 + g, 1.0 / (dimensions + 1));
    const double start = (double)(tsr_mix64(seed + (uint64_t)d * TSR_GOLDEN_STEP) >> 11) * 0x1p-53, v = start + (double)(n + 1) * pow(g, -(d + 1));
    return 2 * (v - floor(v)) - 1;
}

static int by_cost(const void *a, const void *b)
{
    const state *x = (const state *)a, *y = (const state *)b;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* Costs of `count` cameras on a level, on the device. */
static tsr_status judge(search *s, const tsr_align_level *l, const tsr_align_samples *samples, state *list, int32_t count)
{
    const size_t sample_bytes = (size_t)samples->count * 6 * sizeof(float), map_bytes = (size_t)l->width * (size_t)l->height * TSR_ALIGN_DIRECTIONS;
    const size_t candidate_bytes = (size_t)count * sizeof(tsr_align_candidate), cost_bytes = (size_t)count * sizeof(uint32_t);
    void *device[4] = { NULL };
    const size_t bytes[4] = { sample_bytes, map_bytes, candidate_bytes, cost_bytes };
    tsr_status status = TSR_OK;
    float *sample = (float *)malloc(sample_bytes + 1);
    tsr_align_candidate *candidate = (tsr_align_candidate *)malloc(candidate_bytes);
    uint32_t *cost = (uint32_t *)malloc(cost_bytes);
    if (!sample || !candidate || !cost) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for %d candidates", count);
    for (int64_t i = 0; i < samples->count; i++)
        for (int k = 0; k < 3; k++) {
            sample[k * samples->count + i] = (float)(samples->at[i][k] - s->model.middle[k]);
            sample[(3 + k) * samples->count + i] = (float)samples->along[i][k];
        }
    for (int32_t i = 0; i < count; i++) candidate[i] = tsr_align_candidate_of(&list[i].camera, s->model.middle, l->scale);
    for (int k = 0; k < 4; k++) TSR_TRY_GOTO(tsr_device_allocate(s->context, bytes[k], &device[k]), end);
    const void *const from[3] = { sample, l->distance, candidate };
    for (int k = 0; k < 3; k++) TSR_TRY_GOTO(s->context->backend->upload(s->context->queue, device[k], from[k], bytes[k]), end);
    const tsr_align_job job = { .width = l->width, .height = l->height, .samples = (int32_t)samples->count, .candidates = count, .sample = (const float *)device[0],
                                .distance = (const uint8_t *)device[1], .candidate = (const tsr_align_candidate *)device[2], .cost = (uint32_t *)device[3] };
    TSR_TRY_GOTO(s->context->backend->lens->align(s->context->queue, &job), end);
    TSR_TRY_GOTO(s->context->backend->download(s->context->queue, cost, device[3], cost_bytes), end);
    TSR_TRY_GOTO(s->context->backend->synchronize(s->context->queue), end);
    for (int32_t i = 0; i < count; i++) list[i].cost = cost[i];
    s->judged += count;
end:
    for (int k = 0; k < 4; k++)
        if (device[k]) tsr_device_release(s->context, device[k], bytes[k]);
    free(sample);
    free(candidate);
    free(cost);
    return status;
}

/* Those of the best that are not the same as a better one: nowhere in the picture further apart than a pixel of the level. */
static int32_t distinct(const search *s, const tsr_align_level *l, const tsr_align_samples *samples, state *list, int32_t count, int32_t most)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count && kept < most; i++) {
        int same = 0;
        for (int32_t k = 0; k < kept && !same; k++) {
            double furthest = 0;
            for (int n = 0; n < 8 && furthest < l->scale; n++) {
                const double *x = samples->at[samples->count * n / 8];
                double pixel[2][2];
                for (int side = 0; side < 2; side++) {
                    const tsr_pinhole *c = side ? &list[k].camera : &list[i].camera;
                    double e[3];
                    for (int r = 0; r < 3; r++) e[r] = c->rotation[r][0] * x[0] + c->rotation[r][1] * x[1] + c->rotation[r][2] * x[2] + c->translation[r];
                    for (int r = 0; r < 2; r++) pixel[side][r] = (r ? c->fy : c->fx) * e[r] / (e[2] > 1e-12 ? e[2] : 1e-12);
                }
                furthest = fmax(furthest, hypot(pixel[0][0] - pixel[1][0], pixel[0][1] - pixel[1][1]));
            }
            same = furthest < l->scale;
        }
        if (!same) list[kept++] = list[i];
    }
    (void)s;
    return kept;
}

/* Of the first level, three of four: the camera turns and zooms where it stands. From afar that does what a step aside does, and four numbers are covered far
 * more densely than seven. */
static void turned(const search *s, int32_t n, double *step)
{
    int m = 0;
    for (int k = 0; k < s->count; k++) {
        const int w = s->which[k];
        const double wider = w < 3 ? 1 + s->o.distance / s->box[0] : 1 + s->o.distance / s->box[6];
        step[k] = w < 3 || w == 6 ? wider * s->box[w] * evenly(s->o.seed + 31, n, m++, 4) : 0;
    }
}

/* One level: candidates round each of the best, the best of these polished. */
static tsr_status narrow(search *s, int index, tsr_align_samples *samples)
{
    const tsr_align_level *l = &s->level[index];
    const int32_t each = s->o.candidates / s->kept, count = each * s->kept;
    state *list = (state *)malloc((size_t)count * sizeof *list);
    tsr_status status = TSR_OK;
    if (!list) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %d candidates", count);
    TSR_TRY_GOTO(tsr_align_samples_take(&s->model, &s->best[0].camera, 1.0 * l->scale, index == LEVELS - 1 ? SAMPLES_MOST / 3 : SAMPLES_MOST / 2,
                                        index == LEVELS - 1 ? 0.25 * s->best[0].camera.width : 4 * l->scale, samples),
                 end);
    if (samples->count < 2 * s->count) TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "align: the camera sees %lld places of the proxy's lines, expected more", (long long)samples->count);
    for (int32_t i = 0; i < count; i++) {
        const int32_t from = i / each, n = i % each;
        list[i].camera = s->best[from].camera;
        if (!n) continue; /* itself */
        double step[TSR_ALIGN_UNKNOWNS];
        if (index == LEVELS - 1 && n % 4) turned(s, n, step);
        else
            for (int k = 0; k < s->count; k++) step[k] = s->box[s->which[k]] * evenly(s->o.seed + (uint64_t)index * 977 + (uint64_t)from, n, k, s->count);
        tsr_align_step(&list[i].camera, s->which, s->count, step);
    }
    TSR_TRY_GOTO(judge(s, l, samples, list, count), end);
    qsort(list, (size_t)count, sizeof *list, by_cost);
    int32_t kept = distinct(s, l, samples, list, count, index == LEVELS - 1 ? 4 * s->o.best : s->o.best); /* far off, ranks say little */
    for (int32_t i = 0; i < kept; i++) {
        tsr_align_fit fit;
        tsr_align_polish(l, samples, s->which, s->count, 12, &list[i].camera, &fit);
        list[i].cost = fit.cost;
    }
    qsort(list, (size_t)kept, sizeof *list, by_cost);
    s->kept = distinct(s, l, samples, list, kept, index > 1 ? s->o.best : (s->o.best + 1) / 2);
    memcpy(s->best, list, (size_t)s->kept * sizeof *list);
    for (int k = 0; k < TSR_ALIGN_UNKNOWNS; k++) s->box[k] *= 0.35;
end:
    free(list);
    return status;
}

/* Lines to their edges, with a reach that shrinks. What is seen is asked again where the camera has moved. */
static tsr_status settle(search *s, tsr_align_samples *samples, tsr_align_fit *best)
{
    int32_t winner = 0;
    tsr_align_fit fit = { 0 };
    const int32_t tried = s->kept < 12 ? s->kept : 12;
    best->cost = 1e300;
    for (int32_t i = 0; i < tried; i++) {
        tsr_pinhole c = s->best[i].camera;
        TSR_TRY(tsr_align_samples_take(&s->model, &c, 2, SAMPLES_MOST, 0, samples));
        if (s->o.refine_only || s->level[2].distance) tsr_align_snap(&s->level[1], samples, s->o.refine_only ? 8 : 5, s->o.refine_only ? 8 : 5, 0.7 * s->o.contrast, s->which, s->count, 15, &c, &fit);
        tsr_align_snap(&s->level[0], samples, 5, 5, s->o.contrast, s->which, s->count, 10, &c, &fit);
        tsr_align_snap(&s->level[0], samples, 3, 2, s->o.contrast, s->which, s->count, 8, &c, &fit);
        s->best[i].camera = c;
        if (fit.cost < best->cost) *best = fit, winner = i;
    }
    s->best[0] = s->best[winner];
    static const double reach[5][2] = { { 4, 4 }, { 3, 3 }, { 2.5, 2 }, { 2.5, 1.2 }, { 2.5, 0.9 } };
    for (int k = 0; k < 5; k++) {
        TSR_TRY(tsr_align_samples_take(&s->model, &s->best[0].camera, 1, 2 * SAMPLES_MOST, 0, samples));
        tsr_align_snap(&s->level[0], samples, reach[k][0], reach[k][1], s->o.contrast, s->which, s->count, 12, &s->best[0].camera, best);
    }
    return TSR_OK;
}

/* Standard deviations and the condition number from the normal equations of the matched samples. */
static void report(const search *s, const tsr_align_fit *fit, int64_t samples, tsr_align_result *r)
{
    const int n = s->count;
    double scaled[TSR_ALIGN_UNKNOWNS * TSR_ALIGN_UNKNOWNS], value[TSR_ALIGN_UNKNOWNS], vector[TSR_ALIGN_UNKNOWNS * TSR_ALIGN_UNKNOWNS], sigma[TSR_ALIGN_UNKNOWNS] = { 0 };
    static const char *const names[TSR_ALIGN_UNKNOWNS] = { "rotation x", "rotation y", "rotation z", "place x", "place y", "place z", "focal length", "centre x", "centre y", "k1",
                                                           "k2" };
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double d = sqrt(fit->normal[a * n + a] * fit->normal[b * n + b]);
            scaled[a * n + b] = d > 0 ? fit->normal[a * n + b] / d : a == b;
        }
    tsr_dense_eigen(n, scaled, value, vector);
    r->condition = value[0] > 0 ? value[n - 1] / value[0] : (double)INFINITY;
    for (int a = 0; a < n; a++) {
        double sum = 0;
        for (int k = 0; k < n; k++) sum += value[k] > 0 ? vector[k * n + a] * vector[k * n + a] / value[k] : (double)INFINITY;
        sigma[s->which[a]] = fit->rms * sqrt(sum / fit->normal[a * n + a]);
    }
    if (r->condition > 1e6) {
        int first = 0, second = 1;
        for (int a = 0; a < n; a++)
            if (fabs(vector[a]) > fabs(vector[first])) first = a;
        if (second == first) second = 0;
        for (int a = 0; a < n; a++)
            if (a != first && fabs(vector[a]) > fabs(vector[second])) second = a;
        tsr_remark("align: the lines do not tell %s from %s (condition number %.1e): hold one of them", names[s->which[first]], names[s->which[second]], r->condition);
    }
    memcpy(r->sigma.rotation, sigma, sizeof r->sigma.rotation);
    memcpy(r->sigma.translation, sigma + 3, sizeof r->sigma.translation);
    r->sigma.fx = sigma[6] * r->camera.fx;
    r->sigma.fy = sigma[6] * r->camera.fy;
    r->sigma.cx = sigma[7];
    r->sigma.cy = sigma[8];
    r->sigma.k[0] = sigma[9];
    r->sigma.k[1] = sigma[10];
    r->samples = samples;
    r->matched = fit->matched;
    r->rms = fit->rms;
    r->candidates = s->judged;
}

static tsr_status check(search *s, const tsr_image *image, const tsr_pinhole *start)
{
    tsr_align_options *o = &s->o;
    if (!image->pixels || image->width < 64 || image->height < 64 || image->width > 32768 || image->height > 32768)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: picture of %d x %d pixels, expected 64 to 32768 each way", image->width, image->height);
    if (image->channels != 1 && image->channels != 3 && image->channels != 4)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: picture of %d channels, expected 1, 3 or 4", image->channels);
    if (start->width != image->width || start->height != image->height)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: the picture has %d x %d pixels, the start %d x %d, expected the same", image->width, image->height, start->width, start->height);
    if (start->fisheye) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "align: the start has a fish-eye lens, expected none or k1 and k2");
    const double *r = &start->rotation[0][0];
    for (int k = 0; k < 9; k++)
        if (!isfinite(r[k])) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: start.rotation has a number that is not finite");
    if (!(start->fx > 0 && start->fy > 0 && isfinite(start->fx + start->fy + start->cx + start->cy + start->translation[0] + start->translation[1] + start->translation[2])))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: the start has focal lengths %g and %g, expected finite numbers above 0 (and a finite place)", start->fx, start->fy);
    if (o->free & ~(uint32_t)(TSR_FREE_FOCAL | TSR_FREE_CENTRE | TSR_FREE_K1 | TSR_FREE_K2 | TSR_FREE_POSE_ONLY))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: free is %#x, expected TSR_FREE_FOCAL, CENTRE, K1, K2 or POSE_ONLY", o->free);
    o->free = o->free ? o->free : TSR_FREE_FOCAL;
    o->degrees = o->degrees == 0 ? 6 : o->degrees;
    o->distance = o->distance == 0 ? 0.06 : o->distance;
    o->field = o->field == 0 ? 0.12 : o->field;
    o->candidates = o->candidates ? o->candidates : 8192;
    o->best = o->best ? o->best : 32;
    o->contrast = o->contrast == 0 ? 4 : o->contrast;
    if (!(o->degrees > 0 && o->degrees <= 90)) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: degrees is %g, expected above 0, at most 90", o->degrees);
    if (!(o->distance > 0 && o->distance <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: distance is %g, expected above 0, at most 1", o->distance);
    if (!(o->field > 0 && o->field <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: field is %g, expected above 0, at most 1", o->field);
    if (o->best < 1 || o->best > BEST_MOST) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: best is %d, expected 1 to %d", o->best, BEST_MOST);
    if (o->candidates < 2 * o->best || o->candidates > 1 << 20)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: candidates is %d, expected %d (twice best) to %d", o->candidates, 2 * o->best, 1 << 20);
    if (!(o->contrast > 0 && o->contrast < 256)) TSR_FAIL(TSR_ERROR_ARGUMENT, "align: contrast is %g, expected above 0, below 256", o->contrast);
    return TSR_OK;
}

static tsr_status visible(const search *s, const tsr_pinhole *start, int64_t seen)
{
    int64_t behind = 0;
    for (int64_t i = 0; i < s->model.edges; i++) {
        const double *m = s->model.edge[i].middle;
        behind += !(start->rotation[2][0] * m[0] + start->rotation[2][1] * m[1] + start->rotation[2][2] * m[2] + start->translation[2] > 0);
    }
    if (seen < 4 * TSR_ALIGN_UNKNOWNS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "align: the start sees too little of the proxy: of %lld lines %.0f %% are behind the camera, %lld places of the others are in the picture",
                 (long long)s->model.edges, 100.0 * (double)behind / (double)s->model.edges, (long long)seen);
    return TSR_OK;
}

tsr_status tsr_align_edges(tsr_context *context, const tsr_image *image, const tsr_align_proxy *proxy, const tsr_pinhole *start, const tsr_align_options *options,
                           tsr_align_result *result)
{
    TSR_NEEDS(context, image, proxy, start, result);
    TSR_TRY(TSR_STRUCT_BEGUN(result));
    tsr_align_result found = TSR_ALIGN_RESULT;
    search s = { .context = context };
    tsr_align_samples samples = { 0 };
    tsr_align_fit fit;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&s.o, options));
    TSR_TRY(check(&s, image, start));
    TSR_TRY(tsr_align_model_make(proxy, &s.model));
    s.count = tsr_align_unknowns(s.o.free, s.which);
    s.best = (state *)calloc(BEST_MOST, sizeof *s.best);
    if (!s.best) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for %d cameras", BEST_MOST);
    s.best[0].camera = *start;
    s.kept = 1;
    TSR_TRY_GOTO(tsr_align_samples_take(&s.model, start, 2, SAMPLES_MOST, 0, &samples), end);
    TSR_TRY_GOTO(visible(&s, start, samples.count), end);
    TSR_PROGRESS(&s.o.progress, 0.05, "edges");
    TSR_TRY_GOTO(tsr_align_levels_make(image, s.o.contrast, LEVELS, s.level), end);
    double away = 0;
    for (int i = 0; i < 3; i++) {
        double e = start->translation[i];
        for (int k = 0; k < 3; k++) e += start->rotation[i][k] * s.model.middle[k];
        away += e * e;
    }
    away = sqrt(away);
    const double turn = s.o.degrees * 3.14159265358979323846 / 180;
    for (int k = 0; k < 3; k++) s.box[k] = turn, s.box[3 + k] = s.o.distance * away;
    s.box[6] = s.o.field;
    s.box[7] = s.box[8] = 0.02 * image->width;
    s.box[9] = 0.1;
    s.box[10] = 0.05;
    for (int k = LEVELS - 1; k >= 1 && !s.o.refine_only; k--) {
        TSR_TRY_GOTO(narrow(&s, k, &samples), end);
        TSR_PROGRESS(&s.o.progress, 0.1 + 0.2 * (LEVELS - k), "candidates");
    }
    TSR_TRY_GOTO(settle(&s, &samples, &fit), end);
    found.camera = s.best[0].camera;
    report(&s, &fit, samples.count, &found);
    TSR_TRY_GOTO(TSR_STRUCT_GIVE(result, &found), end);
    if (5 * fit.matched < samples.count)
        TSR_FAIL_GOTO(TSR_ERROR_STATE, end, "align: %lld of %lld places of lines have an edge within a pixel, expected a fifth: another start, or a lower contrast",
                      (long long)fit.matched, (long long)samples.count);
end:
    tsr_align_levels_release(LEVELS, s.level);
    tsr_align_samples_release(&samples);
    tsr_align_model_release(&s.model);
    free(s.best);
    return status;
}
