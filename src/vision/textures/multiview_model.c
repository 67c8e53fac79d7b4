/* vision/textures/multiview_model.c: models: checks and copies. */
#include "vision/textures/multiview_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/textures/textures_math.h"
#include "volume/deterministic.h"

enum { SMALL_PICTURE = 1 << 18 }; /* pixels */

static size_t corner_bytes(const tsr_multiview_parts *p) { return (size_t)p->triangles * 3 * sizeof(uint32_t); }
static size_t place_bytes(const tsr_multiview_parts *p) { return (size_t)p->places * 2 * sizeof(float); }
static size_t position_bytes(const tsr_multiview_parts *p) { return (size_t)p->steps * (size_t)p->vertices * 3 * sizeof(float); }
static size_t camera_bytes(const tsr_multiview_parts *p) { return (size_t)p->camera_steps * (size_t)p->cameras * sizeof(tsr_camera); }
static size_t picture_bytes(const tsr_multiview_parts *p) { return (size_t)p->cameras * 2 * sizeof(int32_t); }
static size_t box_bytes(const tsr_multiview_parts *p) { return (size_t)p->steps * sizeof(tsr_box); }

tsr_status tsr_multiview_check_sizes(const char *what, tsr_status code, const tsr_multiview_parts *p)
{
    if (p->width < 1 || p->height < 1 || p->width > TSR_MULTIVIEW_ATLAS_MOST || p->height > TSR_MULTIVIEW_ATLAS_MOST)
        TSR_FAIL(code, "%.200s: an atlas of %d x %d texels, expected 1 to %d each", what, p->width, p->height, TSR_MULTIVIEW_ATLAS_MOST);
    if (p->cameras < 1 || p->cameras > TSR_MULTIVIEW_CAMERAS_MOST)
        TSR_FAIL(code, "%.200s: %d cameras, expected 1 to %d", what, p->cameras, TSR_MULTIVIEW_CAMERAS_MOST);
    if (p->steps < 1 || p->steps > TSR_MULTIVIEW_STEPS_MOST)
        TSR_FAIL(code, "%.200s: %d steps, expected 1 to %d", what, p->steps, TSR_MULTIVIEW_STEPS_MOST);
    if (p->camera_steps != 1 && p->camera_steps != p->steps)
        TSR_FAIL(code, "%.200s: cameras of %d steps, expected 1 (they stand still) or %d", what, p->camera_steps, p->steps);
    if (p->triangles < 1 || p->triangles > TSR_MULTIVIEW_TRIANGLES_MOST)
        TSR_FAIL(code, "%.200s: %lld triangles, expected 1 to %d", what, (long long)p->triangles, TSR_MULTIVIEW_TRIANGLES_MOST);
    if (p->vertices < 1 || p->vertices > 3ll * TSR_MULTIVIEW_TRIANGLES_MOST || p->places < 1 || p->places > 3ll * TSR_MULTIVIEW_TRIANGLES_MOST)
        TSR_FAIL(code, "%.200s: %lld vertices and %lld places of the atlas, expected 1 to %lld each", what, (long long)p->vertices,
                 (long long)p->places, 3ll * TSR_MULTIVIEW_TRIANGLES_MOST);
    if (p->vertices > (INT64_MAX / 64) / p->steps) TSR_FAIL(code, "%.200s: too many vertices and steps", what);
    return TSR_OK;
}

/* Below 0 means none, and stays so when the rules are taken again. */
static double or_default(double value, double standard) { return value == 0 ? standard : value < 0 ? -1 : value; }

tsr_status tsr_mask_rules_take(const char *what, const tsr_mask_rules *rules, tsr_mask_rules *taken)
{
    if (!isfinite(rules->bias) || rules->bias > 1e6)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: a bias of %g quanta, expected a number up to 10^6", what, rules->bias);
    if (!isfinite(rules->slope) || rules->slope > 1e6)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: %g times the slope, expected a number up to 10^6", what, rules->slope);
    if (!isfinite(rules->slope_most) || rules->slope_most > 1)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: at most %g of the range, expected a number up to 1", what, rules->slope_most);
    if (!(rules->cos_min >= 0 && rules->cos_min <= 1))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: a least cosine of %g, expected 0 to 1", what, rules->cos_min);
    if (rules->scale < 0 || rules->scale > 8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: depth maps %d times as fine as pictures, expected 1 to 8", what, rules->scale);
    taken->bias = or_default(rules->bias, 1.5);
    taken->slope = or_default(rules->slope, 0.125);
    taken->slope_most = or_default(rules->slope_most, 1.0 / 16);
    taken->cos_min = rules->cos_min;
    taken->vote = rules->vote != 0;
    taken->scale = rules->scale; /* 0: once pictures are known */
    return TSR_OK;
}

tsr_status tsr_multiview_model_allocate(const tsr_multiview_parts *parts, tsr_multiview_model **model)
{
    tsr_status status;
    void *memory[6] = { NULL };
    const size_t bytes[6] = { corner_bytes(parts),   corner_bytes(parts), place_bytes(parts),
                              position_bytes(parts), camera_bytes(parts), picture_bytes(parts) };
    *model = NULL;
    TSR_TRY(tsr_host_allocate(NULL, sizeof **model, (void **)model));
    tsr_multiview_model *m = *model;
    *m = (tsr_multiview_model){ .parts = *parts };
    m->parts.struct_size = sizeof m->parts;
    m->parts.triangle = m->parts.corner = NULL;
    m->parts.place = m->parts.position = NULL;
    m->parts.camera = NULL;
    m->parts.picture = NULL;
    for (int i = 0; i < 6; i++) {
        TSR_TRY_GOTO(tsr_host_allocate(NULL, bytes[i], &memory[i]), fail);
        if (i == 0) m->parts.triangle = (uint32_t *)memory[i];
        if (i == 1) m->parts.corner = (uint32_t *)memory[i];
        if (i == 2) m->parts.place = (float *)memory[i];
        if (i == 3) m->parts.position = (float *)memory[i];
        if (i == 4) m->parts.camera = (tsr_camera *)memory[i];
        if (i == 5) m->parts.picture = (int32_t *)memory[i];
    }
    TSR_TRY_GOTO(tsr_host_allocate(NULL, box_bytes(parts), (void **)&m->box), fail);
    return TSR_OK;
fail:
    tsr_multiview_model_destroy(model);
    return status;
}

/* The model's own arrays are written before anyone else sees them. */
#define OWN(type, pointer) ((type *)(uintptr_t)(pointer))

void tsr_multiview_model_destroy(tsr_multiview_model **model)
{
    if (!model || !*model) return;
    tsr_multiview_model *m = *model;
    tsr_host_release(NULL, OWN(uint32_t, m->parts.triangle), corner_bytes(&m->parts));
    tsr_host_release(NULL, OWN(uint32_t, m->parts.corner), corner_bytes(&m->parts));
    tsr_host_release(NULL, OWN(float, m->parts.place), place_bytes(&m->parts));
    tsr_host_release(NULL, OWN(float, m->parts.position), position_bytes(&m->parts));
    tsr_host_release(NULL, OWN(tsr_camera, m->parts.camera), camera_bytes(&m->parts));
    tsr_host_release(NULL, OWN(int32_t, m->parts.picture), picture_bytes(&m->parts));
    tsr_host_release(NULL, m->box, box_bytes(&m->parts));
    tsr_host_release(NULL, m, sizeof *m);
    *model = NULL;
}

static tsr_status check_mesh(const char *what, tsr_status code, const tsr_multiview_parts *p)
{
    for (int64_t i = 0; i < 3 * p->triangles; i++) {
        if (p->triangle[i] >= p->vertices)
            TSR_FAIL(code, "%.200s: triangle %lld has vertex %u, expected 0 to %lld", what, (long long)(i / 3), p->triangle[i],
                     (long long)p->vertices - 1);
        if (p->corner[i] >= p->places)
            TSR_FAIL(code, "%.200s: triangle %lld has place %u of the atlas, expected 0 to %lld", what, (long long)(i / 3), p->corner[i],
                     (long long)p->places - 1);
        const float *uv = p->place + 2 * (int64_t)p->corner[i];
        if (!(uv[0] >= 0 && uv[0] <= 1 && uv[1] >= 0 && uv[1] <= 1))
            TSR_FAIL(code, "%.200s: triangle %lld has u, v = %g, %g, expected 0 to 1 each: an atlas does not repeat (unwrap makes one)", what, (long long)(i / 3),
                     (double)uv[0], (double)uv[1]);
    }
    return TSR_OK;
}

static tsr_status check_cameras(const char *what, tsr_status code, const tsr_multiview_parts *p)
{
    const int32_t most = TSR_MULTIVIEW_PICTURE_MOST / p->rules.scale;
    for (int32_t c = 0; c < p->cameras; c++)
        if (p->picture[2 * c] < 1 || p->picture[2 * c + 1] < 1 || p->picture[2 * c] > most || p->picture[2 * c + 1] > most)
            TSR_FAIL(code, "%.200s: camera %d has pictures of %d x %d pixels, expected 1 to %d each (with depth maps %d times as fine)", what, c,
                     p->picture[2 * c], p->picture[2 * c + 1], most, p->rules.scale);
    for (int64_t i = 0; i < (int64_t)p->camera_steps * p->cameras; i++)
        if (tsr_camera_check(&p->camera[i]) != TSR_OK) {
            char why[512];
            strncpy(why, tsr_error_message(), sizeof why - 1);
            why[sizeof why - 1] = 0;
            TSR_FAIL(code, "%.200s: camera %lld of step %lld: %s", what, (long long)(i % p->cameras), (long long)(i / p->cameras), why);
        }
    return TSR_OK;
}

/* Boundaries of what small pictures show are drawn finer: docs/theory/multiview-textures.md 2 says what that is worth. */
static int32_t scale_for(const tsr_multiview_parts *p)
{
    int64_t most = 0;
    for (int32_t c = 0; c < p->cameras; c++) most = tsr_max64(most, (int64_t)p->picture[2 * c] * p->picture[2 * c + 1]);
    return most <= SMALL_PICTURE ? 3 : 2;
}

tsr_status tsr_multiview_model_complete(const char *what, tsr_status code, tsr_multiview_model *model)
{
    const tsr_multiview_parts *p = &model->parts;
    if (p->rules.scale == 0) model->parts.rules.scale = scale_for(p);
    TSR_TRY(check_mesh(what, code, p));
    TSR_TRY(check_cameras(what, code, p));
    for (int32_t t = 0; t < p->steps; t++) {
        const float *at = p->position + (int64_t)t * p->vertices * 3;
        double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
        for (int64_t i = 0; i < p->vertices; i++)
            for (int k = 0; k < 3; k++) {
                const double v = (double)at[3 * i + k];
                if (!isfinite(v))
                    TSR_FAIL(code, "%.200s: vertex %lld of step %d is no finite position: %g, %g, %g", what, (long long)i, t, (double)at[3 * i],
                             (double)at[3 * i + 1], (double)at[3 * i + 2]);
                low[k] = v < low[k] ? v : low[k];
                high[k] = v > high[k] ? v : high[k];
            }
        model->box[t] = (tsr_box){ { low[0], low[1], low[2] }, { high[0], high[1], high[2] } };
    }
    return TSR_OK;
}

tsr_status tsr_multiview_model_create(const tsr_multiview_parts *parts, tsr_multiview_model **model)
{
    TSR_RETURNS(model);
    tsr_status status;
    tsr_multiview_parts p;
    if (!parts) TSR_FAIL(TSR_ERROR_ARGUMENT, "parts are NULL");
    TSR_TRY(TSR_OPTIONS_TAKE(&p, parts));
    if (!p.triangle || !p.place || !p.position || !p.camera || !p.picture)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "model: its %s NULL",
                 !p.triangle   ? "triangles are"
                 : !p.place    ? "places of the atlas are"
                 : !p.position ? "positions are"
                 : !p.camera   ? "cameras are"
                               : "sizes of pictures are");
    if (!p.corner && p.places == 0) p.places = p.vertices;
    if (!p.corner && p.places != p.vertices)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "model: %lld places of the atlas for %lld vertices and no numbers of corners, expected as many",
                 (long long)p.places, (long long)p.vertices);
    TSR_TRY(tsr_multiview_check_sizes("model", TSR_ERROR_ARGUMENT, &p));
    TSR_TRY(tsr_mask_rules_take("model", &parts->rules, &p.rules));
    TSR_TRY(tsr_multiview_model_allocate(&p, model));
    tsr_multiview_parts *own = &(*model)->parts;
    memcpy(OWN(uint32_t, own->triangle), p.triangle, corner_bytes(&p));
    memcpy(OWN(uint32_t, own->corner), p.corner ? p.corner : p.triangle, corner_bytes(&p));
    memcpy(OWN(float, own->place), p.place, place_bytes(&p));
    memcpy(OWN(float, own->position), p.position, position_bytes(&p));
    memcpy(OWN(tsr_camera, own->camera), p.camera, camera_bytes(&p));
    memcpy(OWN(int32_t, own->picture), p.picture, picture_bytes(&p));
    TSR_TRY_GOTO(tsr_multiview_model_complete("model", TSR_ERROR_ARGUMENT, *model), fail);
    return TSR_OK;
fail:
    tsr_multiview_model_destroy(model);
    return status;
}

tsr_multiview_parts tsr_multiview_model_parts(const tsr_multiview_model *model)
{
    return model ? model->parts : (tsr_multiview_parts)TSR_MULTIVIEW_PARTS;
}

tsr_status tsr_multiview_model_jitter(const tsr_multiview_model *model, double sigma, int rigid, uint64_t seed, tsr_multiview_model **jittered)
{
    TSR_RETURNS(jittered);
    TSR_NEEDS(model);
    if (!(sigma >= 0) || !isfinite(sigma)) TSR_FAIL(TSR_ERROR_ARGUMENT, "model: moved by %g, expected a number of 0 or more", sigma);
    TSR_TRY(tsr_multiview_model_create(&model->parts, jittered));
    float *position = OWN(float, (*jittered)->parts.position);
    const int64_t step = 3 * model->parts.vertices;
    for (int64_t i = 0; i < step * model->parts.steps; i++) {
        double a, b;
        tsr_det_normal_pair(seed, (uint64_t)(rigid ? i / step * 3 + i % 3 : i), &a, &b);
        position[i] = (float)((double)position[i] + sigma * a);
    }
    return tsr_multiview_model_complete("model", TSR_ERROR_ARGUMENT, *jittered);
}
