/* vision/rig_edit/rig_edit_draw.c: panes: what a camera saw with the proxy over it, and the proxy with all pictures on it from anywhere. docs/theory/calibration.md 10. */
#include "vision/rig_edit/rig_edit_draw.h"
#include "vision/rig_edit/rig_edit_isa.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "device/backend.h"

enum { SHADOW_WIDTH = 480, DOTS = 60000, LOUPE = 168, TILE = 32 };
static const double loupe_times = 8;

/* ---- shaders --------------------------------------------------------------------------------------------------------------------- */

void edit_place(const tsr_pinhole *c, const double at[2], double depth, const double middle[3], float x[3])
{
    const double y[3] = { at[0] * depth - c->translation[0], at[1] * depth - c->translation[1], depth - c->translation[2] };
    for (int k = 0; k < 3; k++) x[k] = (float)(c->rotation[0][k] * y[0] + c->rotation[1][k] * y[1] + c->rotation[2][k] * y[2] - middle[k]);
}

int edit_see(const tsr_pinhole *c, const tsr_view_model *model, const tsr_vec3 *p, double pixel[2])
{
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = c->rotation[i][0] * p->x + c->rotation[i][1] * p->y + c->rotation[i][2] * p->z + c->translation[i];
    return tsr_view_project(model, x, pixel, NULL, NULL);
}

static int has_lens(const tsr_pinhole *c)
{
    return c->k[0] != 0 || c->k[1] != 0 || c->k[2] != 0 || c->k[3] != 0 || c->k[4] != 0 || c->k[5] != 0 || c->p[0] != 0 || c->p[1] != 0;
}

/* Squared radius that the picture's corners have without the lens, and a little more. */
static double radius_of(const tsr_pinhole *c)
{
    const tsr_view_model m = tsr_view_model_of(c);
    double most = 0;
    if (!has_lens(c)) return 1e30;
    for (int i = 0; i < 4; i++) {
        const double corner[2] = { i & 1 ? c->width : 0, i & 2 ? c->height : 0 };
        double at[2];
        if (tsr_view_normalise(&m, corner, at)) most = fmax(most, at[0] * at[0] + at[1] * at[1]);
    }
    return 1.02 * most;
}

/* The farthest of each place's neighbours: slanted faces do not hide themselves. */
static tsr_status make_least(edit_depths *d)
{
    const int32_t w = d->view.width, h = d->view.height;
    float *row = (float *)malloc(((size_t)w * (size_t)h + (size_t)w) * sizeof *row), *to = row + w;
    if (!row) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for a shadow of %d x %d places", w, h);
    d->least_room = row;
    d->least = to;
    for (int32_t y = 0; y < h; y++) {
        const float *p = d->view.inverse + (int64_t)y * w, *above = y > 0 ? p - w : p, *below = y + 1 < h ? p + w : p;
        for (int32_t x = 0; x < w; x++) row[x] = tsr_minf(p[x], tsr_minf(above[x], below[x]));
        for (int32_t x = 0; x < w; x++) to[(int64_t)y * w + x] = tsr_minf(row[x], tsr_minf(row[x > 0 ? x - 1 : x], row[x + 1 < w ? x + 1 : x]));
    }
    return TSR_OK;
}

tsr_status edit_shader_make(tsr_rig_editor *e, const edit_state *state, double pixel, int shadow, edit_shader *s)
{
    memset(s, 0, sizeof *s);
    for (int k = 0; k < 3; k++) s->middle[k] = e->lines.middle[k];
    for (int32_t i = 0; i < e->cameras; i++) {
        const tsr_pinhole *c = &state->camera[i];
        tsr_shade_camera *to = &s->camera[i];
        int size = 0;
        while (size + 1 < e->image[i].sizes && ldexp(1, size + 1) <= pixel * 1.2) size++;
        const tsr_image *image = &e->image[i].at[size];
        const tsr_align_candidate q = tsr_align_candidate_of(c, s->middle, ldexp(1, size));
        memcpy(to->m, q.m, sizeof to->m);
        memcpy(to->f, q.f, sizeof to->f);
        memcpy(to->c, q.c, sizeof to->c);
        for (int k = 0; k < 6; k++) to->k[k] = (float)c->k[k];
        for (int k = 0; k < 2; k++) to->p[k] = (float)c->p[k];
        to->limit = (float)radius_of(c);
        to->pixels = image->pixels;
        to->width = image->width;
        to->height = image->height;
        to->scale = (float)ldexp(1, size);
        to->half = (float)(4 / ((double)image->width * image->width + (double)image->height * image->height));
        to->tone = edit_tone_of(e, state, i);
        if (!shadow || !e->surface.triangles) continue;
        edit_depths *d = &e->shadow[i];
        TSR_TRY(edit_depths_of(e, c, fmax(1, (double)c->width / SHADOW_WIDTH), d));
        if (!e->mesh) continue; /* the ground alone hides nothing */
        if (!d->least) TSR_TRY(make_least(d));
        to->least = d->least;
        to->shadow_width = d->view.width;
        to->shadow_height = d->view.height;
        for (int k = 0; k < 2; k++) {
            to->shadow_f[k] = (float)((k ? c->fy : c->fx) / d->view.scale);
            to->shadow_c[k] = (float)((k ? c->cy : c->cx) / d->view.scale);
        }
        to->bias = 2e-3f;
    }
    return TSR_OK;
}

/* ---- layers ---------------------------------------------------------------------------------------------------------------------- */

/* A view at the size of the pane: the camera's numbers are in its pixels. own: the camera whose picture it is, from image pixel `corner` on in steps of `pixel`. */
typedef struct view {
    tsr_pinhole c;
    int own;
    double corner[2], pixel;
    const edit_state *state;
    const tsr_rig_pane *pane;
} view;

typedef struct layers {
    tsr_rig_editor *e;
    const view *v;
    const edit_shader *shader;
    const edit_depths *depths;
    tsr_view_model model; /* of the pane, to take the lens off */
    tsr_shade_path path[EDIT_CAMERAS];
    int lens, first, others;
    uint8_t *a, *b; /* [4] each; b NULL: not wanted */
    tsr_image *image;
} layers;

/* From the axes of a pane to those of a camera. */
static tsr_shade_path path_of(const tsr_pinhole *pane, const tsr_pinhole *c)
{
    tsr_shade_path path;
    for (int i = 0; i < 3; i++) {
        double shift = c->translation[i];
        for (int k = 0; k < 3; k++) {
            double turn = 0;
            for (int m = 0; m < 3; m++) turn += c->rotation[i][m] * pane->rotation[k][m];
            path.turn[3 * i + k] = (float)turn;
            shift -= turn * pane->translation[k];
        }
        path.shift[i] = (float)shift;
    }
    return path;
}

/* The means of what was added, where something was. */
static void put(const tsr_shade_sum *sum, int32_t count, uint8_t *to)
{
    for (int32_t i = 0; i < count; i++, to += 4) {
        const uint32_t n = sum->seen[i];
        if (!n) continue;
        for (int k = 0; k < 3; k++) to[k] = (uint8_t)(n == 1 ? (sum->rgb[k][i] + 128) >> 8 : (sum->rgb[k][i] / n + 128) >> 8);
        to[3] = 255;
    }
}

/* Rays and depths of pixels (x0, y) and its neighbours; 0: there is nothing of the proxy. */
static int run_of(const layers *l, int32_t x0, int32_t y, tsr_shade_run *run)
{
    const view *v = l->v;
    const tsr_align_depths *d = &l->depths->view;
    float most = 0;
    memset(run->inverse, 0, sizeof run->inverse);
    if (!d->inverse) return 0;
    if (!l->lens) {
        const double across = 1 / v->c.fx, down = (y + 0.5 - v->c.cy) / v->c.fy;
        memcpy(run->inverse, d->inverse + (int64_t)y * d->width + x0, (size_t)run->count * sizeof *run->inverse);
        for (int32_t i = 0; i < TSR_SHADE_RUN; i++) {
            run->x[i] = (float)((x0 + i + 0.5 - v->c.cx) * across);
            run->y[i] = (float)down;
        }
    } else {
        memset(run->x, 0, sizeof run->x);
        memset(run->y, 0, sizeof run->y);
        for (int32_t i = 0; i < run->count; i++) {
            const double pixel[2] = { x0 + i + 0.5, y + 0.5 };
            double at[2];
            if (!tsr_view_normalise(&l->model, pixel, at)) continue;
            const double u = floor(v->c.fx * at[0] + v->c.cx), w = floor(v->c.fy * at[1] + v->c.cy);
            if (!(u >= 0 && w >= 0 && u < v->c.width && w < v->c.height)) continue;
            run->x[i] = (float)at[0];
            run->y[i] = (float)at[1];
            run->inverse[i] = d->inverse[(int64_t)w * d->width + (int64_t)u];
        }
    }
    for (int32_t i = 0; i < run->count; i++) most = run->inverse[i] > most ? run->inverse[i] : most;
    return most > 0.0f;
}

static void shade_run(const layers *l, int32_t x0, int32_t y)
{
    const view *v = l->v;
    const tsr_shade_camera *camera = l->shader->camera;
    const int64_t at = 4 * ((int64_t)y * v->c.width + x0);
    tsr_shade_run run = { .count = tsr_mini(TSR_SHADE_RUN, v->c.width - x0) };
    tsr_shade_sum sum;
    if (v->own >= 0) {
        const double scale = (double)camera[v->own].scale;
        memset(&sum, 0, sizeof sum);
        TSR_ISA_SELECT(tsr_shade_own)
        (&camera[v->own], (v->corner[0] + (x0 + 0.5) * v->pixel) / scale, (v->corner[1] + (y + 0.5) * v->pixel) / scale, v->pixel / scale, run.count,
         &sum);
        put(&sum, run.count, l->a + at);
        if (!l->b) return;
    }
    if (!run_of(l, x0, y, &run)) return;
    if (v->own < 0 && l->e->cameras) {
        memset(&sum, 0, sizeof sum);
        TSR_ISA_SELECT(tsr_shade_row)(&camera[l->first], &l->path[l->first], &run, &sum);
        put(&sum, run.count, l->a + at);
    }
    memset(&sum, 0, sizeof sum);
    for (int32_t k = 0; k < l->e->cameras && l->others; k++)
        if (k != l->first) TSR_ISA_SELECT(tsr_shade_row)(&camera[k], &l->path[k], &run, &sum);
    if (l->b) put(&sum, run.count, l->b + at);
    for (int32_t i = 0; i < run.count && v->own < 0; i++) {
        uint8_t *p = l->a + at + 4 * i;
        if (!(run.inverse[i] > 0.0f) || sum.seen[i] || p[3]) continue;
        p[0] = p[1] = p[2] = 74; /* the surface that nobody sees */
        p[3] = 254;
    }
}
static void shade_rows(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    const layers *l = (const layers *)user;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < l->v->c.width; x += TSR_SHADE_RUN) shade_run(l, x, (int32_t)y);
}

static int slope_of(const uint8_t *layer, int32_t width, int32_t height, int32_t x, int32_t y)
{
    const int32_t left = x > 0 ? x - 1 : 0, right = x + 1 < width ? x + 1 : x, above = y > 0 ? y - 1 : 0, below = y + 1 < height ? y + 1 : y;
#define GREEN(i, j) ((int)layer[4 * ((int64_t)(j)*width + (i)) + 1])
    return abs(GREEN(right, y) - GREEN(left, y)) + abs(GREEN(x, below) - GREEN(x, above));
#undef GREEN
}

/* A and B in one pixel. */
static void blend(const view *v, const uint8_t *a, const uint8_t *b, int32_t x, int32_t y, uint8_t rgb[3])
{
    const int32_t width = v->c.width, height = v->c.height;
    const int64_t i = 4 * ((int64_t)y * width + x);
    const uint8_t *p = a + i, *q = b ? b + i : NULL;
    const double mix = v->pane->mix;
    if (!p[3] && !(q && q[3])) { /* nothing: dark above, darker below, as in the other modes */
        const int dark = 20 * y / height;
        rgb[0] = (uint8_t)(46 - dark), rgb[1] = (uint8_t)(48 - dark), rgb[2] = (uint8_t)(54 - dark);
        return;
    }
    const int both = q && q[3] == 255 && p[3] == 255;
    const uint8_t *one = p[3] == 255 || !q || !q[3] ? p : q;
    int from_b = 0;
    memcpy(rgb, one, 3);
    switch (v->pane->blend) {
    case TSR_RIG_BLEND_CHECKER: from_b = ((x / TILE) ^ (y / TILE)) & 1; break;
    case TSR_RIG_BLEND_STRIPES: from_b = (x / TILE) & 1; break;
    case TSR_RIG_BLEND_ONION: from_b = x >= mix * width; break;
    case TSR_RIG_BLEND_DIFFERENCE:
        for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(both ? abs((int)p[k] - (int)q[k]) : one[k] / 4);
        return;
    case TSR_RIG_BLEND_EDGES:
        if (q && q[3]) {
            const double s = fmin(1, mix * slope_of(b, width, height, x, y) / 40.0);
            const double red[3] = { 255, 70, 40 };
            for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(rgb[k] + s * (red[k] - rgb[k]));
        }
        return;
    default:
        if (both)
            for (int k = 0; k < 3; k++) rgb[k] = (uint8_t)(p[k] + mix * (q[k] - p[k]) + 0.5);
        return;
    }
    if (both && from_b) memcpy(rgb, q, 3);
}

static void blend_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const layers *l = (const layers *)user;
    const int32_t width = l->v->c.width;
    (void)worker;
    for (int32_t y = (int32_t)begin; y < (int32_t)end; y++)
        for (int32_t x = 0; x < width; x++) blend(l->v, l->a, l->b, x, y, l->image->pixels + 3 * ((size_t)y * (size_t)width + (size_t)x));
}

/* ---- marks ------------------------------------------------------------------------------------------------------------------------ */

static void dot(tsr_image *image, double x, double y, double radius, const uint8_t rgb[3])
{
    const double reach = radius + 0.5;
    if (!(x > -reach && y > -reach && x < image->width + reach && y < image->height + reach)) return;
    const int32_t x0 = x > radius ? (int32_t)(x - radius) : 0, x1 = tsr_mini(image->width - 1, (int32_t)(x + radius) + 1),
                  y0 = y > radius ? (int32_t)(y - radius) : 0, y1 = tsr_mini(image->height - 1, (int32_t)(y + radius) + 1);
    for (int32_t j = y0; j <= y1; j++)
        for (int32_t i = x0; i <= x1; i++) {
            const double u = i + 0.5 - x, v = j + 0.5 - y, far = u * u + v * v;
            if (!(far < reach * reach)) continue;
            const double cover = fmin(1, reach - sqrt(far));
            uint8_t *p = image->pixels + 3 * ((int64_t)j * image->width + i);
            for (int k = 0; k < 3; k++) p[k] = (uint8_t)(p[k] + cover * (rgb[k] - p[k]) + 0.5);
        }
}

static void stroke(tsr_image *image, const double a[2], const double b[2], double radius, const uint8_t rgb[3])
{
    const double length = hypot(b[0] - a[0], b[1] - a[1]);
    const int steps = (int)fmin(8000, ceil(length));
    for (int i = 0; i <= steps; i++) {
        const double t = steps ? (double)i / steps : 0;
        dot(image, a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), radius, rgb);
    }
}

static void to_pane(const view *v, const double pixel[2], double at[2])
{
    for (int k = 0; k < 2; k++) at[k] = (pixel[k] - v->corner[k]) / v->pixel;
}

/* Where the pairs of the camera lie, where they are seen, and what lies between; its vanishing lines. */
static void draw_pairs(const tsr_rig_editor *e, const view *v, tsr_image *image)
{
    static const uint8_t placed[3] = { 255, 205, 60 }, seen[3] = { 90, 200, 250 },
                         axis[3][3] = { { 255, 107, 107 }, { 107, 217, 104 }, { 90, 170, 255 } };
    const tsr_view_model m = tsr_view_model_of(&v->c);
    for (int32_t i = 0; i < v->state->pairs; i++) {
        const edit_pair *p = &v->state->pair[i];
        double at[2], to[2];
        if (p->camera != e->active) continue;
        const int there = edit_see(&v->c, &m, &p->point, at);
        if (v->own >= 0) {
            to_pane(v, p->pixel, to);
            if (there) stroke(image, to, at, 0.7, seen);
            for (int k = 0; k < 4; k++) {
                const double out[2] = { to[0] + (k & 1 ? 8 : -8) * (k < 2), to[1] + (k & 1 ? 8 : -8) * (k > 1) };
                stroke(image, to, out, 0.8, placed);
            }
        }
        if (there) dot(image, at[0], at[1], 3.2, seen);
    }
    for (int32_t i = 0; v->own >= 0 && i < v->state->lines; i++) {
        const edit_line *l = &v->state->line[i];
        double from[2], to[2];
        if (l->camera != e->active) continue;
        to_pane(v, l->end[0], from);
        to_pane(v, l->end[1], to);
        stroke(image, from, to, 1, axis[l->axis]);
    }
}

/* Other cameras as pyramids. */
static void draw_cameras(const tsr_rig_editor *e, const view *v, tsr_image *image)
{
    static const uint8_t plain[3] = { 120, 190, 255 }, chosen[3] = { 255, 205, 60 };
    const tsr_view_model m = tsr_view_model_of(&v->c);
    for (int32_t i = 0; i < e->cameras; i++) {
        const tsr_pinhole *c = &v->state->camera[i];
        const double size = 0.06 * e->diameter, zero[3] = { 0, 0, 0 };
        double p[5][2];
        int seen = 1;
        for (int k = 0; k < 5; k++) {
            const double at[2] = { ((k & 1 ? c->width : 0) - c->cx) / c->fx, ((k & 2 ? c->height : 0) - c->cy) / c->fy };
            float x[3];
            edit_place(c, at, k < 4 ? size : 0, zero, x);
            const tsr_vec3 world = { (double)x[0], (double)x[1], (double)x[2] };
            seen &= edit_see(&v->c, &m, &world, p[k]);
        }
        if (!seen) continue;
        static const int edge[8][2] = { { 4, 0 }, { 4, 1 }, { 4, 2 }, { 4, 3 }, { 0, 1 }, { 1, 3 }, { 3, 2 }, { 2, 0 } };
        for (int k = 0; k < 8; k++) stroke(image, p[edge[k][0]], p[edge[k][1]], i == e->active ? 1.2 : 0.7, i == e->active ? chosen : plain);
    }
}

static tsr_status draw_lines(const tsr_rig_editor *e, const view *v, tsr_image *image)
{
    static const uint8_t red[3] = { 255, 50, 40 };
    const tsr_view_model m = tsr_view_model_of(&v->c);
    tsr_align_samples s = { 0 };
    const tsr_status status = tsr_align_samples_take(&e->lines, &v->c, 0.8, DOTS, 0, &s);
    for (int64_t i = 0; status == TSR_OK && i < s.count; i++) {
        double at[2];
        const tsr_vec3 p = { s.at[i][0], s.at[i][1], s.at[i][2] };
        if (edit_see(&v->c, &m, &p, at)) dot(image, at[0], at[1], 0.6, red);
    }
    tsr_align_samples_release(&s);
    return status;
}

/* ---- panes ------------------------------------------------------------------------------------------------------------------------ */

static const edit_state *state_of(const tsr_rig_editor *e, const tsr_rig_pane *pane)
{
    return !pane->before ? &e->now : e->snapshots ? &e->snapshot[e->snapshots - 1].state : &e->start;
}

static tsr_status view_of(const tsr_rig_editor *e, const tsr_rig_pane *pane, int32_t width, int32_t height, view *v)
{
    *v = (view){ .own = -1, .pixel = 1, .state = state_of(e, pane), .pane = pane };
    if (width < 8 || height < 8 || width > 16384 || height > 16384)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pane of %d x %d pixels, expected 8 to 16384 each way", width, height);
    if (!pane->from_camera) {
        if (!e->surface.triangles) TSR_FAIL(TSR_ERROR_STATE, "pane: there is no proxy yet");
        TSR_TRY(tsr_camera_to_pinhole(&pane->view, width, height, &v->c));
        return TSR_OK;
    }
    if (!e->cameras) TSR_FAIL(TSR_ERROR_STATE, "pane: there is no camera yet");
    if (!(pane->zoom >= 0 && pane->zoom <= 1000) || !isfinite(pane->pan[0] + pane->pan[1]))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pane: zoom %g and pan (%g, %g), expected 0 to 1000 and finite numbers", pane->zoom, pane->pan[0], pane->pan[1]);
    v->own = e->active;
    v->c = v->state->camera[e->active];
    const double zoom = pane->zoom > 0 ? pane->zoom : 1, w = v->c.width, h = v->c.height;
    v->pixel = fmax(w / width, h / height) / zoom;
    v->corner[0] = 0.5 * w - pane->pan[0] - 0.5 * width * v->pixel;
    v->corner[1] = 0.5 * h - pane->pan[1] - 0.5 * height * v->pixel;
    v->c.fx /= v->pixel;
    v->c.fy /= v->pixel;
    v->c.cx = (v->c.cx - v->corner[0]) / v->pixel;
    v->c.cy = (v->c.cy - v->corner[1]) / v->pixel;
    v->c.width = width;
    v->c.height = height;
    return TSR_OK;
}

/* Pixels of the active camera's picture a pixel of the pane, about. */
static double pixel_of(const tsr_rig_editor *e, const view *v)
{
    if (v->own >= 0) return v->pixel;
    if (!e->cameras) return 1;
    const tsr_pinhole *c = &v->state->camera[e->active];
    double mine = v->c.translation[2], theirs = c->translation[2];
    for (int k = 0; k < 3; k++) {
        mine += v->c.rotation[2][k] * e->lines.middle[k];
        theirs += c->rotation[2][k] * e->lines.middle[k];
    }
    return mine > 0 && theirs > 0 ? c->fx / theirs * mine / v->c.fx : 1;
}

static tsr_status draw_view(tsr_rig_editor *e, const view *v, tsr_image *image)
{
    const tsr_rig_pane *pane = v->pane;
    const size_t n = (size_t)v->c.width * (size_t)v->c.height;
    edit_shader shader;
    edit_depths own = { .proxy = 0 };
    layers l = { .e = e, .v = v, .shader = &shader, .depths = &own, .model = tsr_view_model_of(&v->c), .lens = has_lens(&v->c), .first = e->active };
    tsr_status status;
    TSR_TRY(tsr_image_create(v->c.width, v->c.height, 3, image));
    l.others = e->cameras > 1 && e->surface.triangles && (pane->blend != TSR_RIG_BLEND_ALPHA || pane->mix > 0 || v->own < 0);
    assert(n > 0); /* view_of has looked */
    l.a = (uint8_t *)calloc(n, 4);
    if (l.others) l.b = (uint8_t *)calloc(n, 4);
    if (!l.a || (l.others && !l.b)) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for a pane of %zu pixels", n);
    TSR_TRY_GOTO(edit_shader_make(e, v->state, pixel_of(e, v), !pane->no_shadow, &shader), end);
    if (l.others || v->own < 0) {
        edit_depths *depths = v->own < 0 && n > LOUPE * LOUPE ? &e->seen : &own; /* a view that stands still while cameras move is kept */
        TSR_TRY_GOTO(edit_depths_of(e, &v->c, 1, depths), end);
        l.depths = depths;
    }
    if (v->own < 0 && !e->cameras) l.others = 0;
    l.image = image;
    for (int32_t i = 0; i < e->cameras; i++) l.path[i] = path_of(&v->c, &v->state->camera[i]);
    tsr_parallel(e->context->threads, v->c.height, 8, shade_rows, &l);
    tsr_parallel(e->context->threads, v->c.height, 16, blend_rows, &l);
    if (!pane->no_lines && e->lines.edges) TSR_TRY_GOTO(draw_lines(e, v, image), end);
    if (v->own < 0) draw_cameras(e, v, image);
    draw_pairs(e, v, image);
end:
    edit_depths_release(&own);
    free(l.a);
    free(l.b);
    if (status != TSR_OK) tsr_image_destroy(image);
    return status;
}

/* The same eight times as large, in a circle about the place. */
static tsr_status draw_loupe(tsr_rig_editor *e, const view *v, tsr_image *image)
{
    const double at[2] = { v->pane->loupe[0] * v->c.width, v->pane->loupe[1] * v->c.height };
    view near = *v;
    tsr_image part = { 0 };
    near.c.width = near.c.height = LOUPE;
    near.c.fx *= loupe_times;
    near.c.fy *= loupe_times;
    near.c.cx = (near.c.cx - at[0]) * loupe_times + 0.5 * LOUPE;
    near.c.cy = (near.c.cy - at[1]) * loupe_times + 0.5 * LOUPE;
    near.pixel /= loupe_times;
    for (int k = 0; k < 2; k++) near.corner[k] = v->corner[k] + at[k] * v->pixel - 0.5 * LOUPE * near.pixel;
    TSR_TRY(draw_view(e, &near, &part));
    const double side = at[0] > 0.5 * v->c.width ? -1 : 1, middle[2] = { at[0] + side * 0.62 * LOUPE, at[1] }; /* beside the hand */
    for (int32_t j = 0; j < LOUPE; j++)
        for (int32_t i = 0; i < LOUPE; i++) {
            const double r = hypot(i + 0.5 - 0.5 * LOUPE, j + 0.5 - 0.5 * LOUPE);
            const int32_t x = (int32_t)floor(middle[0]) - LOUPE / 2 + i, y = (int32_t)floor(middle[1]) - LOUPE / 2 + j;
            if (r > 0.5 * LOUPE || x < 0 || y < 0 || x >= image->width || y >= image->height) continue;
            const uint8_t rim[3] = { 240, 240, 240 }, cross[3] = { 255, 255, 0 };
            const int hair = (abs(i - LOUPE / 2) < 1 || abs(j - LOUPE / 2) < 1) && r > 6 && r < 20;
            memcpy(image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x),
                   r > 0.5 * LOUPE - 2 ? rim
                   : hair              ? cross
                                       : part.pixels + 3 * (j * LOUPE + i),
                   3);
        }
    tsr_image_destroy(&part);
    return TSR_OK;
}

static tsr_status pane_check(const tsr_rig_pane *given, tsr_rig_pane *pane)
{
    TSR_TRY(TSR_OPTIONS_TAKE(pane, given));
    if (!(pane->mix >= 0 && pane->mix <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "pane: mix is %g, expected 0 to 1", pane->mix);
    if ((int)pane->blend < 0 || pane->blend > TSR_RIG_BLEND_ONION)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pane: blend is %d, expected 0 to %d", (int)pane->blend, TSR_RIG_BLEND_ONION);
    for (int k = 0; k < 2; k++)
        if (!(pane->loupe[k] >= 0 && pane->loupe[k] <= 1)) TSR_FAIL(TSR_ERROR_ARGUMENT, "pane: loupe at %g, expected 0 to 1", pane->loupe[k]);
    return TSR_OK;
}

tsr_status tsr_rig_editor_draw(tsr_rig_editor *e, const tsr_rig_pane *given, int32_t width, int32_t height, tsr_image *image)
{
    TSR_NEEDS(e, given, image);
    tsr_rig_pane pane;
    view v;
    *image = (tsr_image){ 0 };
    TSR_TRY(pane_check(given, &pane));
    TSR_TRY(view_of(e, &pane, width, height, &v));
    TSR_TRY(draw_view(e, &v, image));
    if (pane.loupe[0] == 0 && pane.loupe[1] == 0) return TSR_OK;
    const tsr_status status = draw_loupe(e, &v, image);
    if (status != TSR_OK) tsr_image_destroy(image);
    return status;
}

/* ---- picks ------------------------------------------------------------------------------------------------------------------------ */

/* The nearest corner or crossing of the proxy's lines, within so many pixels. */
static int snapped(const tsr_rig_editor *e, const view *v, const double at[2], double reach, tsr_vec3 *point)
{
    const tsr_view_model m = tsr_view_model_of(&v->c);
    double least = reach, pixel[2];
    int found = 0;
    for (int64_t i = 0; i < e->corners; i++) {
        if (!edit_see(&v->c, &m, &e->corner[i], pixel) || !(hypot(pixel[0] - at[0], pixel[1] - at[1]) < least)) continue;
        least = hypot(pixel[0] - at[0], pixel[1] - at[1]);
        *point = e->corner[i];
        found = 1;
    }
    return found;
}

/* Inverse depth between pixels: linear over a plane. At the border of a surface that of the pixel. */
static double between(const tsr_align_depths *d, double u, double w)
{
    const double x = fmin(fmax(u - 0.5, 0), d->width - 1), y = fmin(fmax(w - 0.5, 0), d->height - 1);
    const int32_t i = (int32_t)fmin(x, d->width - 2), j = (int32_t)fmin(y, d->height - 2);
    const float *p = d->inverse + (int64_t)j * d->width + i;
    const double q[4] = { (double)p[0], (double)p[1], (double)p[d->width], (double)p[d->width + 1] }, a = x - i, b = y - j;
    const double low = fmin(fmin(q[0], q[1]), fmin(q[2], q[3])), high = fmax(fmax(q[0], q[1]), fmax(q[2], q[3]));
    if (low > 0.9 * high) return (q[0] + a * (q[1] - q[0])) * (1 - b) + (q[2] + a * (q[3] - q[2])) * b;
    return (double)d->inverse[(int64_t)fmin(w, d->height - 1) * d->width + (int64_t)fmin(u, d->width - 1)];
}

tsr_status tsr_rig_editor_pick(tsr_rig_editor *e, const tsr_rig_pane *given, int32_t width, int32_t height, const double at[2], double snap,
                               double pixel[2], tsr_vec3 *point, int *found)
{
    TSR_NEEDS(e, given, at, pixel, point);
    tsr_rig_pane pane;
    view v;
    TSR_TRY(pane_check(given, &pane));
    TSR_TRY(view_of(e, &pane, width, height, &v));
    if (!(at[0] >= 0 && at[1] >= 0 && at[0] <= width && at[1] <= height) || !(snap >= 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "pick at (%g, %g) with snap %g, expected a place of the pane and 0 or more", at[0], at[1], snap);
    for (int k = 0; k < 2; k++) pixel[k] = v.own >= 0 ? v.corner[k] + at[k] * v.pixel : 0;
    *point = (tsr_vec3){ 0, 0, 0 };
    if (!found) return TSR_OK;
    *found = snap > 0 && snapped(e, &v, at, snap, point);
    if (*found || !e->surface.triangles) return TSR_OK;
    const tsr_view_model m = tsr_view_model_of(&v.c);
    const double zero[3] = { 0, 0, 0 };
    double place[2];
    edit_depths depths = { .proxy = 0 };
    float x[3];
    if (!tsr_view_normalise(&m, at, place)) return TSR_OK;
    const double u = v.c.fx * place[0] + v.c.cx, w = v.c.fy * place[1] + v.c.cy;
    if (!(u >= 0 && w >= 0 && u < width && w < height)) return TSR_OK;
    TSR_TRY(edit_depths_of(e, &v.c, 1, &depths));
    const double inverse = between(&depths.view, u, w);
    if (inverse > 0) {
        edit_place(&v.c, place, 1 / inverse, zero, x);
        *point = (tsr_vec3){ (double)x[0], (double)x[1], (double)x[2] };
        *found = 1;
    }
    edit_depths_release(&depths);
    return TSR_OK;
}
