/* vision/rig_edit/rig_edit_measure.c: pictures of cameras made ready, and what is said of a camera while it is moved: pairs, edges, colours. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/rig_edit/rig_edit.h"
#include "vision/rig_edit/rig_edit_draw.h"

enum { EDGE_WIDTH = 1280, EDGE_SAMPLES = 1500, GRID = 48 };

void edit_image_release(edit_image *i)
{
    for (int k = 0; k < EDIT_SIZES; k++) tsr_image_destroy(&i->at[k]);
    tsr_align_levels_release(2, i->level);
    memset(i, 0, sizeof *i);
}

static tsr_status halve(const tsr_image *from, tsr_image *to)
{
    const int32_t w = from->width / 2, h = from->height / 2;
    TSR_TRY(tsr_image_create(w, h, 3, to));
    for (int32_t y = 0; y < h; y++) {
        const uint8_t *p = from->pixels + (size_t)2 * y * 3 * from->width, *q = p + (size_t)3 * from->width;
        uint8_t *out = to->pixels + (size_t)y * 3 * w;
        for (int32_t x = 0; x < w; x++)
            for (int k = 0; k < 3; k++) out[3 * x + k] = (uint8_t)((p[6 * x + k] + p[6 * x + 3 + k] + q[6 * x + k] + q[6 * x + 3 + k] + 2) / 4);
    }
    return TSR_OK;
}

tsr_status edit_image_take(edit_image *to, tsr_image *image, double contrast)
{
    tsr_status status;
    tsr_image *first = &to->at[0];
    TSR_TRY_GOTO(tsr_image_create(image->width, image->height, 3, first), end);
    const int64_t n = (int64_t)image->width * image->height;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) first->pixels[3 * i + k] = image->pixels[i * image->channels + (image->channels > 2 ? k : 0)];
    to->sizes = 1;
    to->shrunk = 1;
    while (to->sizes < EDIT_SIZES && to->at[to->sizes - 1].width >= 64 && to->at[to->sizes - 1].height >= 64) {
        TSR_TRY_GOTO(halve(&to->at[to->sizes - 1], &to->at[to->sizes]), end);
        to->sizes++;
    }
    int edges = 0;
    while (edges + 1 < to->sizes && to->at[edges].width > EDGE_WIDTH) edges++;
    to->shrunk = ldexp(1, edges);
    if (to->at[edges].width >= 64 && to->at[edges].height >= 64) TSR_TRY_GOTO(tsr_align_levels_make(&to->at[edges], contrast, 2, to->level), end);
end:
    tsr_image_destroy(image);
    if (status != TSR_OK) edit_image_release(to);
    return status;
}

/* Root of the mean squared distance of the camera's pairs. */
static double pair_rms(const tsr_rig_editor *e, int32_t index, int32_t *count)
{
    const tsr_pinhole *c = &e->now.camera[index];
    const tsr_view_model model = tsr_view_model_of(c);
    double sum = 0;
    *count = 0;
    for (int32_t i = 0; i < e->now.pairs; i++) {
        const edit_pair *p = &e->now.pair[i];
        double pixel[2];
        if (p->camera != index) continue;
        ++*count;
        if (!edit_see(c, &model, &p->point, pixel)) sum = HUGE_VAL; /* behind it */
        else sum += pow(pixel[0] - p->pixel[0], 2) + pow(pixel[1] - p->pixel[1], 2);
    }
    return *count ? sqrt(sum / *count) : 0;
}

/* Mean distance of lines from edges, pixels of the picture. */
static tsr_status edge_distance(const tsr_rig_editor *e, int32_t index, double *mean)
{
    const edit_image *image = &e->image[index];
    const tsr_align_level *l = &image->level[1];
    const tsr_pinhole *c = &e->now.camera[index];
    const double scale = image->shrunk * l->scale;
    tsr_align_samples s = { 0 };
    *mean = -1;
    if (!l->distance || !e->lines.edges || c->fisheye) return TSR_OK;
    const tsr_status status = tsr_align_samples_take(&e->lines, c, 2 * scale, EDGE_SAMPLES, 0, &s);
    const tsr_align_candidate camera = tsr_align_candidate_of(c, e->lines.middle, scale);
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; status == TSR_OK && i < s.count; i++) {
        float x[3], along[3];
        for (int k = 0; k < 3; k++) {
            x[k] = (float)(s.at[i][k] - e->lines.middle[k]);
            along[k] = (float)s.along[i][k];
        }
        const int32_t at = tsr_align_place(&camera, l->width, l->height, x[0], x[1], x[2], along[0], along[1], along[2]);
        if (at < 0) continue;
        sum += (double)l->distance[at] * (double)l->unit;
        count++;
    }
    if (count) *mean = scale * sum / (double)count;
    tsr_align_samples_release(&s);
    return status;
}

/* Mean difference of colours to the other cameras, over a grid of the camera's picture. */
static tsr_status colour_difference(tsr_rig_editor *e, int32_t index, double *mean)
{
    edit_shader shader;
    const tsr_pinhole *c = &e->now.camera[index];
    double sum = 0;
    int64_t count = 0;
    *mean = -1;
    if (e->cameras < 2 || !e->surface.triangles) return TSR_OK;
    TSR_TRY(edit_shader_make(e, &e->now, (double)c->width / GRID, 1, &shader));
    const edit_depths *d = &e->shadow[index];
    for (int32_t j = 0; j < d->view.height; j += (d->view.height + GRID - 1) / GRID)
        for (int32_t i = 0; i < d->view.width; i += (d->view.width + GRID - 1) / GRID) {
            const float inverse = d->view.inverse[(int64_t)j * d->view.width + i];
            const double at[2] = { ((i + 0.5) * d->view.scale - c->cx) / c->fx, ((j + 0.5) * d->view.scale - c->cy) / c->fy };
            float x[3], own[3], other[3];
            if (!(inverse > 0.0f)) continue;
            edit_place(c, at, 1 / (double)inverse, shader.middle, x);
            if (!tsr_shade_place(&shader.camera[index], x, own)) continue;
            for (int32_t k = 0; k < e->cameras; k++) {
                if (k == index || !tsr_shade_place(&shader.camera[k], x, other)) continue;
                for (int m = 0; m < 3; m++) sum += fabs((double)own[m] - (double)other[m]) / 3;
                count++;
            }
        }
    if (count) *mean = sum / (double)count;
    return TSR_OK;
}

tsr_status tsr_rig_editor_get_camera(tsr_rig_editor *e, int32_t index, tsr_rig_editor_camera *camera)
{
    TSR_NEEDS(e, camera);
    tsr_rig_editor_camera own = { .edge = -1, .difference = -1 };
    if (index < 0 || index >= e->cameras) TSR_FAIL(TSR_ERROR_ARGUMENT, "camera %d, expected 0 to %d", index, e->cameras - 1);
    own.pinhole = e->now.camera[index];
    own.name = e->image[index].name;
    for (int k = 0; k < TSR_RIG_PARAMETERS; k++) own.value[k] = edit_value(&own.pinhole, k);
    memcpy(own.sigma, e->now.sigma[index], sizeof own.sigma);
    own.condition = e->now.condition[index];
    own.locked = e->now.locked[index];
    const edit_tone *tone = &e->now.tone[index];
    for (int k = 0; k < 3; k++) own.gain[k] = exp(tone->gain[k]);
    own.response = exp(tone->power);
    memcpy(own.vignetting, tone->fall, sizeof own.vignetting);
    own.pair_rms = pair_rms(e, index, &own.pairs);
    TSR_TRY(edge_distance(e, index, &own.edge));
    TSR_TRY(colour_difference(e, index, &own.difference));
    return TSR_STRUCT_GIVE(camera, &own);
}
