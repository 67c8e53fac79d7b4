/* vision/rig_edit/rig_edit_match.c: what each camera makes of light, gain by colour, vignetting and response, from places of the proxy that several see. In logarithms
 * the unknowns are linear: all cameras at once, in closed form. docs/theory/calibration.md 10. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vision/calibration/dense.h"
#include "vision/rig_edit/rig_edit.h"
#include "vision/rig_edit/rig_edit_draw.h"

enum { ACROSS = 128, PLACES_MOST = 40000, LEAST_PLACES = 60, TURNS = 10, OWN = 6, DARKEST = 6, BRIGHTEST = 250 };

/* One place of the proxy in one camera's picture. */
typedef struct sight {
    int32_t place, camera;
    double light[3], far; /* logarithms of the values, 255 = 0; squared distance from the centre in half diagonals */
} sight;

typedef struct matching {
    sight *sight;
    int64_t count, room;
    int32_t places, cameras;
    int32_t at[EDIT_CAMERAS]; /* of a camera's unknowns; -1: it stays */
    int vignette, response, own, n;
    edit_tone tone[EDIT_CAMERAS];
    double *normal, *right, *far; /* n x n, n; grey values */
    double bound;                 /* of Huber's function, grey values */
} matching;

/* ---- places that cameras share ------------------------------------------------------------------------------------------------ */

static int sight_of(const tsr_shade_camera *raw, const float x[3], sight *s)
{
    float u, v, rgb[3];
    if (!tsr_shade_find(raw, x, &u, &v) || !tsr_shade_take(raw, u, v, rgb)) return 0;
    for (int k = 0; k < 3; k++) {
        if (!(rgb[k] >= (float)DARKEST && rgb[k] <= (float)BRIGHTEST)) return 0; /* of what is cut off nothing is known */
        s->light[k] = log((double)rgb[k] / 255);
    }
    const double dx = (double)(u - raw->c[0]), dy = (double)(v - raw->c[1]);
    s->far = (dx * dx + dy * dy) * (double)raw->half;
    return 1;
}

static tsr_status keep(matching *m, const sight *s)
{
    if (m->count == m->room) {
        const int64_t room = 2 * m->room + 8192;
        sight *grown = (sight *)realloc(m->sight, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for %lld places", (long long)room);
        m->sight = grown;
        m->room = room;
    }
    m->sight[m->count++] = *s;
    return TSR_OK;
}

/* Places on a grid of the pictures of cameras that are free, as other cameras see them, too. */
static tsr_status take_places(tsr_rig_editor *e, matching *m)
{
    edit_shader *shader = (edit_shader *)malloc(sizeof *shader);
    tsr_status status = TSR_OK;
    int32_t movers = 0, each;
    if (!shader) TSR_FAIL(TSR_ERROR_MEMORY, "out of host memory for shaders");
    for (int32_t i = 0; i < e->cameras; i++) movers += m->at[i] >= 0;
    each = PLACES_MOST / movers;
    for (int32_t index = 0; index < e->cameras; index++) {
        if (m->at[index] < 0) continue;
        const tsr_pinhole *c = &e->now.camera[index];
        TSR_TRY_GOTO(edit_shader_make(e, &e->now, (double)c->width / ACROSS, 1, shader), end);
        for (int32_t i = 0; i < e->cameras; i++) shader->camera[i].tone = NULL;
        const edit_depths *d = &e->shadow[index];
        const int32_t step = tsr_maxi((d->view.width + ACROSS - 1) / ACROSS, (int32_t)ceil(sqrt((double)d->view.width * d->view.height / each)));
        for (int32_t j = step / 2; j < d->view.height; j += step)
            for (int32_t i = step / 2; i < d->view.width; i += step) {
                const float inverse = d->view.inverse[(int64_t)j * d->view.width + i];
                const double at[2] = { ((i + 0.5) * d->view.scale - c->cx) / c->fx, ((j + 0.5) * d->view.scale - c->cy) / c->fy };
                float x[3];
                sight s = { .place = m->places };
                const int64_t before = m->count;
                if (!(inverse > 0.0f)) continue;
                edit_place(c, at, 1 / (double)inverse, shader->middle, x);
                for (s.camera = 0; s.camera < e->cameras; s.camera++)
                    if (sight_of(&shader->camera[s.camera], x, &s)) TSR_TRY_GOTO(keep(m, &s), end);
                if (m->count - before < 2) m->count = before;
                else m->places++;
            }
    }
end:
    free(shader);
    return status;
}

/* ---- least squares -------------------------------------------------------------------------------------------------------------- */

/* The logarithm of the light that a camera saw. */
static double light_of(const edit_tone *t, const sight *s, int k)
{
    return exp(-t->power) * s->light[k] - t->gain[k] - s->far * (t->fall[0] + s->far * t->fall[1]);
}

/* Its derivatives: the unknown and the number, by gain, response, vignetting. That by the response is taken where the mean of the light is, not at the camera's own value, whose
 * noise would make every response look weaker than it is. */
static int slopes_of(const matching *m, const sight *s, int k, double mean, int32_t which[4], double slope[4])
{
    const int32_t at = m->at[s->camera];
    const edit_tone *t = &m->tone[s->camera];
    int n = 0;
    if (at < 0) return 0;
    which[n] = at + k, slope[n++] = -1;
    if (m->response) which[n] = at + 3, slope[n++] = (mean + t->gain[k] + s->far * (t->fall[0] + s->far * t->fall[1])) * exp(t->power);
    if (m->vignette) {
        const int32_t from = at + 3 + m->response;
        which[n] = from, slope[n++] = -s->far;
        which[n] = from + 1, slope[n++] = -s->far * s->far;
    }
    return n;
}

/* One colour of one place: residuals to the mean, which is eliminated. Returns the largest in grey values; adds to the equations where they are wanted. */
static double add_place(matching *m, const sight *s, int32_t count, int k, int adds)
{
    double mean = 0, most = 0, slope[4], middle[OWN * EDIT_CAMERAS], r;
    int32_t which[4], touched[4 * EDIT_CAMERAS], touches = 0;
    for (int32_t i = 0; i < count; i++) mean += light_of(&m->tone[s[i].camera], &s[i], k) / count;
    const double grey = 255 * exp(fmin(0, mean));
    for (int32_t i = 0; i < count; i++) most = fmax(most, grey * fabs(light_of(&m->tone[s[i].camera], &s[i], k) - mean));
    if (!adds) return most;
    const double weight = grey * grey * (most > m->bound ? m->bound / most : 1);
    for (int32_t i = 0; i < count; i++) {
        const int n = slopes_of(m, &s[i], k, mean, which, slope);
        r = light_of(&m->tone[s[i].camera], &s[i], k) - mean;
        for (int a = 0; a < n; a++) {
            m->right[which[a]] -= weight * slope[a] * r;
            middle[touches] = slope[a] / count;
            touched[touches++] = which[a];
            for (int b = 0; b < n; b++) m->normal[(int64_t)which[a] * m->n + which[b]] += weight * slope[a] * slope[b];
        }
    }
    for (int32_t a = 0; a < touches; a++)
        for (int32_t b = 0; b < touches; b++) m->normal[(int64_t)touched[a] * m->n + touched[b]] -= weight * count * middle[a] * middle[b];
    return most;
}

static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Over all places: their largest residuals, sorted; with `adds` the equations. */
static int64_t pass(matching *m, int adds)
{
    int64_t n = 0;
    if (adds) {
        memset(m->normal, 0, sizeof *m->normal * (size_t)m->n * (size_t)m->n);
        memset(m->right, 0, sizeof *m->right * (size_t)m->n);
    }
    for (int64_t i = 0; i < m->count;) {
        int64_t end = i + 1;
        while (end < m->count && m->sight[end].place == m->sight[i].place) end++;
        for (int k = 0; k < 3; k++) m->far[n++] = add_place(m, m->sight + i, (int32_t)(end - i), k, adds);
        i = end;
    }
    if (!adds) qsort(m->far, (size_t)n, sizeof *m->far, rising);
    return n;
}

static tsr_status solve(matching *m)
{
    double *const x = m->right;
    for (int turn = 0; turn < TURNS; turn++) {
        const int64_t n = pass(m, 0);
        m->bound = fmax(2, 2 * m->far[n / 2]);
        pass(m, 1);
        const double condition = edit_condition(m->n, m->normal, NULL);
        if (!(condition > 0 && condition < 1e10) || !tsr_dense_cholesky(m->n, m->normal, NULL))
            TSR_FAIL(TSR_ERROR_STATE,
                     "match: what the cameras share does not tell gain, vignetting and response apart: expected places all over their pictures, "
                     "dark ones and bright ones, or fewer words");
        tsr_dense_solve(m->n, m->normal, x);
        for (int32_t c = 0; c < m->cameras; c++) {
            if (m->at[c] < 0) continue;
            edit_tone *t = &m->tone[c];
            const double *step = x + m->at[c];
            for (int k = 0; k < 3; k++) t->gain[k] += step[k];
            if (m->response) t->power = -log(fmax(0.05, exp(-t->power) + step[3]));
            for (int k = 0; k < 2 && m->vignette; k++) t->fall[k] += step[3 + m->response + k];
        }
    }
    return TSR_OK;
}

/* ---- the command, and what undoes a tone ---------------------------------------------------------------------------------------- */

static tsr_status check(const tsr_rig_editor *e, const matching *m)
{
    for (int32_t i = 0; i < m->cameras; i++) {
        const edit_tone *t = &m->tone[i];
        const double most = fmax(fabs(t->gain[0]), fmax(fabs(t->gain[1]), fabs(t->gain[2])));
        if (m->at[i] < 0 || (most < 3 && fabs(t->power) < 1.5 && fabs(t->fall[0] + t->fall[1]) < 3)) continue;
        TSR_FAIL(TSR_ERROR_STATE, "match: '%s' would be %.2g times as bright with the response %.2g: do the cameras see the same there?",
                 e->image[i].name, exp(most), exp(t->power));
    }
    return TSR_OK;
}

tsr_status edit_match(tsr_rig_editor *e, const edit_words *w)
{
    matching m = { .cameras = e->cameras };
    int all = 0;
    int32_t found[EDIT_CAMERAS] = { 0 };
    tsr_status status;
    TSR_TRY(edit_counts(w, 0, 3, "match [vignette] [response] [all], or match none"));
    for (int i = 1; i < w->count; i++) {
        if (!strcmp(w->word[i], "none") && w->count == 2) {
            e->now.tone[e->active] = (edit_tone){ .power = 0 };
            return TSR_OK;
        }
        if (!strcmp(w->word[i], "vignette")) m.vignette = 1;
        else if (!strcmp(w->word[i], "response")) m.response = 1;
        else if (!strcmp(w->word[i], "all")) all = 1;
        else TSR_FAIL(TSR_ERROR_ARGUMENT, "match: '%.40s', expected vignette, response, all, or none by itself", w->word[i]);
    }
    if (!e->surface.triangles) TSR_FAIL(TSR_ERROR_STATE, "match: there is no proxy yet: load one first");
    if (e->cameras < 2) TSR_FAIL(TSR_ERROR_STATE, "match: there is one camera, expected two and more that see the same part of the proxy");
    m.own = 3 + m.response + 2 * m.vignette;
    for (int32_t i = 0; i < e->cameras; i++) { /* of all, the first is what the others are measured by */
        m.at[i] = (all ? i > 0 : i == e->active) ? m.n : -1;
        m.tone[i] = m.at[i] < 0 ? e->now.tone[i] : (edit_tone){ .power = 0 };
        m.n += m.at[i] < 0 ? 0 : m.own;
    }
    TSR_TRY_GOTO(take_places(e, &m), end);
    for (int64_t i = 0; i < m.count; i++) found[m.sight[i].camera]++;
    for (int32_t i = 0; i < e->cameras; i++)
        if (m.at[i] >= 0 && found[i] < LEAST_PLACES)
            TSR_FAIL_GOTO(TSR_ERROR_STATE, end,
                          "match: '%s' shares fewer than %d places of the proxy with other cameras, neither too dark nor too bright",
                          e->image[i].name, LEAST_PLACES);
    const size_t n = (size_t)m.n;
    assert(n > 0); /* one camera at least is free */
    m.normal = (double *)malloc((n * n + n + 3 * (size_t)m.places) * sizeof *m.normal);
    if (!m.normal) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "out of host memory for %d unknowns", m.n);
    m.right = m.normal + n * n;
    m.far = m.right + n;
    TSR_TRY_GOTO(solve(&m), end);
    TSR_TRY_GOTO(check(e, &m), end);
    memcpy(e->now.tone, m.tone, sizeof *m.tone * (size_t)e->cameras);
end:
    free(m.sight);
    free(m.normal);
    return status;
}

const tsr_shade_tone *edit_tone_of(const tsr_rig_editor *e, const edit_state *state, int32_t index)
{
    static const edit_tone none = { .power = 0 };
    const edit_tone *t = &state->tone[index];
    tsr_shade_tone *to = &e->tone[index];
    if (!memcmp(t, &none, sizeof none)) return NULL;
    for (int k = 0; k < 3; k++)
        for (int v = 0; v < 256; v++) to->value[k][v] = v ? (float)(255 * exp(exp(-t->power) * log(v / 255.0) - t->gain[k])) : 0;
    for (int i = 0; i <= TSR_SHADE_FALL; i++) {
        const double far = (double)i / TSR_SHADE_FALL_STEPS;
        to->fall[i] = (float)exp(fmin(10, -far * (t->fall[0] + far * t->fall[1])));
    }
    return to;
}
