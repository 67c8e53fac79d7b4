#define _GNU_SOURCE /* strndup */
/* light/scene_parse.c: the text of a scene: a line a thing, words and numbers. docs/formats/light-scene.md says it in full. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/number.h"
#include "io/stream.h"
#include "light/light_scene.h"
#include "light/scene_grid.h"

enum { WORDS = 512, LINE = 16384, LONGEST = 1 << 20, DEEPEST = 4 };

typedef struct reader {
    tsr_light_scene *scene;
    const char *name, *folder;
    int line;
    char text[LINE];
    char *word[WORDS];
    int words, at; /* words of the line, the next of them */
    int has_box, has_camera;
    int depth;             /* of a scene within a scene: its materials and shapes alone count */
    double offset[3];      /* where that one stands */
    int32_t own_materials; /* the first of its own: those of others are not seen, but for air */
} reader;

#define WRONG(r, ...) return wrong((r), __VA_ARGS__)
static tsr_status wrong(const reader *r, const char *format, ...) TSR_PRINTF(2, 3);
static tsr_status wrong(const reader *r, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return TSR_FAILED(TSR_ERROR_FORMAT, "%s, line %d: %s", r->name, r->line, text);
}

/* What reading a file says, with the line that names the file. */
static tsr_status of_line(const reader *r, tsr_status status)
{
    if (status != TSR_OK) TSR_FAIL(status, "%s, line %d: %s", r->name, r->line, tsr_error_message());
    return TSR_OK;
}

static int more(const reader *r) { return r->at < r->words; }
static int is_next(reader *r, const char *word)
{
    if (!more(r) || strcmp(r->word[r->at], word) != 0) return 0;
    r->at++;
    return 1;
}
static int next_is_number(const reader *r)
{
    char *end;
    if (!more(r)) return 0;
    tsr_number_parse(r->word[r->at], &end);
    return end != r->word[r->at] && !*end;
}

static tsr_status real(reader *r, const char *what, double lower, double upper, double *to)
{
    char *end;
    if (!more(r)) WRONG(r, "the line ends where %s is expected", what);
    const char *word = r->word[r->at++];
    const double v = tsr_number_parse(word, &end);
    if (end == word || *end) WRONG(r, "'%.60s' is no number, expected %s", word, what);
    if (!(v >= lower && v <= upper)) WRONG(r, "%s is %.60s, expected %g to %g", what, word, lower, upper);
    *to = v;
    return TSR_OK;
}
static tsr_status reals(reader *r, const char *what, double lower, double upper, int count, double *to)
{
    for (int k = 0; k < count; k++) TSR_TRY(real(r, what, lower, upper, to + k));
    return TSR_OK;
}
static tsr_status whole(reader *r, const char *what, double lower, double upper, int32_t *to)
{
    double v;
    TSR_TRY(real(r, what, lower, upper, &v));
    if (v != floor(v)) WRONG(r, "%s is %g, expected a whole number", what, v);
    *to = (int32_t)v;
    return TSR_OK;
}
static tsr_status words(reader *r, const char *what, const char **to)
{
    if (!more(r)) WRONG(r, "the line ends where %s is expected", what);
    *to = r->word[r->at++];
    return TSR_OK;
}
/* A file that the scene names: beside the scene. */
static tsr_status path_of(reader *r, char *to, size_t room)
{
    const char *name = NULL;
    TSR_TRY(words(r, "a file", &name));
    if (name[0] == '/' || strstr(name, "..")) WRONG(r, "file '%.100s': expected one beside the scene or in a folder below", name);
    const int n = r->folder && *r->folder ? snprintf(to, room, "%s/%s", r->folder, name) : snprintf(to, room, "%s", name);
    if (n < 0 || (size_t)n >= room) WRONG(r, "the name of file '%.60s...' is too long", name);
    return TSR_OK;
}

static const double big = 1e6, bright = 1e9;

/* ---- lines ---- */

static tsr_status read_box(reader *r)
{
    tsr_light_scene *s = r->scene;
    TSR_TRY(reals(r, "a bound", -big, big, 3, s->low));
    TSR_TRY(reals(r, "a bound", -big, big, 3, s->high));
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        if (!(s->high[k] > s->low[k])) WRONG(r, "the box ends at %g where it begins at %g", s->high[k], s->low[k]);
        longest = fmax(longest, s->high[k] - s->low[k]);
    }
    for (int k = 0; k < 3; k++)
        if (s->high[k] - s->low[k] < longest / 256)
            WRONG(r, "the box is %g long and %g thin, expected at most 256 to 1", longest, s->high[k] - s->low[k]);
    r->has_box = 1;
    return TSR_OK;
}

static tsr_status find_material(reader *r, int32_t *to)
{
    const char *name = NULL;
    TSR_TRY(words(r, "a material", &name));
    for (int32_t i = 0; i < r->scene->materials; i = i ? i + 1 : r->own_materials)
        if (!strcmp(r->scene->material[i].name, name)) {
            *to = i;
            return TSR_OK;
        }
    WRONG(r, "there is no material '%.60s' above", name);
}

static tsr_status read_material(reader *r)
{
    tsr_light_scene *s = r->scene;
    const char *name = NULL;
    TSR_TRY(words(r, "a name", &name));
    if (s->materials == TSR_SCENE_MATERIALS) WRONG(r, "more than %d materials", TSR_SCENE_MATERIALS);
    if (strlen(name) >= TSR_SCENE_NAME) WRONG(r, "the name '%.60s...' is longer than %d letters", name, TSR_SCENE_NAME - 1);
    for (int32_t i = 0; i < s->materials; i = i ? i + 1 : r->own_materials)
        if (!strcmp(s->material[i].name, name)) WRONG(r, "there is a material '%.60s' already", name);
    tsr_scene_material *m = &s->material[s->materials];
    *m = (tsr_scene_material){ .index = 1 };
    strcpy(m->name, name);
    while (more(r)) {
        if (is_next(r, "index")) TSR_TRY(real(r, "index", 0.05, 10, &m->index));
        else if (is_next(r, "absorb")) TSR_TRY(reals(r, "absorb", 0, bright, 3, m->absorb));
        else if (is_next(r, "scatter")) TSR_TRY(reals(r, "scatter", 0, bright, 3, m->scatter));
        else if (is_next(r, "g")) TSR_TRY(real(r, "g", -0.99, 0.99, &m->g));
        else if (is_next(r, "emit")) TSR_TRY(reals(r, "emit", 0, bright, 3, m->emit));
        else if (is_next(r, "opaque")) {
            m->opaque = 1;
            TSR_TRY(reals(r, "the colour of what is opaque", 0, 1, 3, m->color));
        } else if (is_next(r, "noise")) {
            double seed;
            TSR_TRY(real(r, "size of the noise", 1e-4, big, &m->noise_size));
            TSR_TRY(real(r, "contrast of the noise", 0, 1000, &m->noise_contrast));
            TSR_TRY(real(r, "seed of the noise", 0, 1e9, &seed));
            m->noise_seed = (uint64_t)seed;
        } else WRONG(r, "'%.60s': expected index, absorb, scatter, g, emit, opaque or noise", r->word[r->at]);
    }
    s->materials++;
    return TSR_OK;
}

static void bound(tsr_scene_shape *s, double x0, double y0, double z0, double x1, double y1, double z1)
{
    const double low[3] = { x0, y0, z0 }, high[3] = { x1, y1, z1 };
    memcpy(s->low, low, sizeof low);
    memcpy(s->high, high, sizeof high);
}

/* Pairs of a closed outline; `curve`: through them runs a closed curve of Catmull and Rom, but for pairs behind the word "corner". */
static tsr_status read_outline(reader *r, const char *what, double least, tsr_scene_shape *shape, double low[2], double high[2])
{
    const int curve = is_next(r, "curve");
    double *given = malloc(sizeof(double) * 2 * WORDS);
    unsigned char *sharp = calloc(WORDS, 1);
    int32_t n = 0;
    tsr_status status = TSR_OK;
    if (!given || !sharp) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "no memory for an outline");
    while (more(r) && status == TSR_OK) {
        if (is_next(r, "corner")) sharp[n] = 1;
        status = reals(r, what, -big, big, 2, given + 2 * n);
        if (status == TSR_OK && given[2 * n] < least) status = wrong(r, "%s is %g, expected at least %g", what, given[2 * n], least);
        n++;
    }
    if (status == TSR_OK && n < 3) status = wrong(r, "%d points, expected 3 at least", n);
    if (status != TSR_OK) goto end;
    const int32_t parts = curve ? TSR_SCENE_CURVE : 1;
    shape->points = malloc(sizeof(double) * 2 * (size_t)(n * parts));
    if (!shape->points) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "no memory for an outline");
    shape->count = n * parts;
    for (int k = 0; k < 2; k++) {
        low[k] = 1e300;
        high[k] = -1e300;
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < parts; j++) {
            const int32_t next = (i + 1) % n, before = sharp[i] ? i : (i + n - 1) % n, after = sharp[next] ? next : (i + 2) % n;
            const double t = (double)j / parts;
            for (int k = 0; k < 2; k++) {
                const double a = given[2 * before + k], b = given[2 * i + k], c = given[2 * next + k], d = given[2 * after + k];
                double v = b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
                if (!k) v = fmax(v, least);
                shape->points[2 * (i * parts + j) + k] = v;
                low[k] = fmin(low[k], v);
                high[k] = fmax(high[k], v);
            }
        }
end:
    free(given);
    free(sharp);
    return status;
}

/* Letters as tubes, standing in a plane of x and z, read from -y. */
static tsr_status read_strokes(reader *r, tsr_scene_shape *shape)
{
    double at[3], height;
    TSR_TRY(reals(r, "a place", -big, big, 3, at));
    TSR_TRY(real(r, "height of the letters", 1e-6, big, &height));
    TSR_TRY(real(r, "radius of the strokes", 1e-6, big, &shape->p[0]));
    const double unit = height / 6, radius = shape->p[0];
    double pen = at[0];
    int32_t room = 0;
    for (; more(r); r->at++, pen += 4 * unit) { /* a blank between words */
        for (const char *c = r->word[r->at]; *c; c++, pen += 5.5 * unit) {
            const char *s = tsr_scene_strokes(*c);
            double last[2] = { 0 };
            int begun = 0;
            if (!s) WRONG(r, "the letter '%c' has no strokes here, expected A to Z, 0 to 9, '-' or '.'", *c >= ' ' && *c < 127 ? *c : '?');
            for (; *s; s++) {
                if (*s == '|') begun = 0;
                if (*s < '0' || *s > '9') continue;
                const double x = pen + (s[0] - '0') * unit, z = at[2] + (s[1] - '0') * unit;
                s++;
                if (begun) {
                    if (shape->count == room) {
                        room = room ? 2 * room : 64;
                        double *grown = room <= TSR_SCENE_POINTS ? realloc(shape->points, sizeof(double) * 6 * (size_t)room) : NULL;
                        if (!grown) WRONG(r, "the text is too long");
                        shape->points = grown;
                    }
                    const double segment[6] = { last[0], at[1], last[1], x, at[1], z };
                    memcpy(shape->points + 6 * shape->count++, segment, sizeof segment);
                }
                last[0] = x;
                last[1] = z;
                begun = 1;
            }
        }
    }
    if (!shape->count) WRONG(r, "there is no text");
    bound(shape, at[0] - radius, at[1] - radius, at[2] - radius, pen + radius, at[1] + radius, at[2] + height + radius);
    return TSR_OK;
}

static tsr_status read_shape(reader *r)
{
    tsr_light_scene *s = r->scene;
    const char *kind = NULL;
    if (s->shapes == TSR_SCENE_SHAPES) WRONG(r, "more than %d shapes", TSR_SCENE_SHAPES);
    tsr_scene_shape *h = &s->shape[s->shapes];
    double *p = h->p, low[2], high[2];
    *h = (tsr_scene_shape){ .material = 0 };
    s->shapes++; /* what it holds is freed with the scene */
    TSR_TRY(words(r, "a kind of shape", &kind));
    TSR_TRY(find_material(r, &h->material));
    if (!strcmp(kind, "sphere")) {
        h->kind = TSR_SHAPE_SPHERE;
        TSR_TRY(reals(r, "a centre", -big, big, 3, p));
        TSR_TRY(real(r, "a radius", 1e-6, big, p + 3));
        bound(h, p[0] - p[3], p[1] - p[3], p[2] - p[3], p[0] + p[3], p[1] + p[3], p[2] + p[3]);
    } else if (!strcmp(kind, "ellipsoid")) {
        h->kind = TSR_SHAPE_ELLIPSOID;
        TSR_TRY(reals(r, "a centre", -big, big, 3, p));
        TSR_TRY(reals(r, "a radius", 1e-6, big, 3, p + 3));
        p[6] = 2;
        if (next_is_number(r)) TSR_TRY(real(r, "an exponent", 1, 64, p + 6));
        bound(h, p[0] - p[3], p[1] - p[4], p[2] - p[5], p[0] + p[3], p[1] + p[4], p[2] + p[5]);
    } else if (!strcmp(kind, "box")) {
        h->kind = TSR_SHAPE_BOX;
        TSR_TRY(reals(r, "a bound", -big, big, 6, p));
        for (int k = 0; k < 3; k++)
            if (!(p[3 + k] > p[k])) WRONG(r, "the box ends at %g where it begins at %g", p[3 + k], p[k]);
        if (next_is_number(r)) TSR_TRY(real(r, "a rounding", 0, fmin(p[3] - p[0], fmin(p[4] - p[1], p[5] - p[2])) / 2, p + 6));
        bound(h, p[0], p[1], p[2], p[3], p[4], p[5]);
    } else if (!strcmp(kind, "cylinder")) {
        h->kind = TSR_SHAPE_CYLINDER;
        TSR_TRY(reals(r, "a place", -big, big, 4, p));
        if (!(p[3] > p[2])) WRONG(r, "the cylinder ends at %g where it begins at %g", p[3], p[2]);
        TSR_TRY(real(r, "a radius", 1e-6, big, p + 4));
        if (next_is_number(r)) TSR_TRY(real(r, "a rounding", 0, fmin(p[4], (p[3] - p[2]) / 2), p + 5));
        bound(h, p[0] - p[4], p[1] - p[4], p[2], p[0] + p[4], p[1] + p[4], p[3]);
    } else if (!strcmp(kind, "torus")) {
        h->kind = TSR_SHAPE_TORUS;
        TSR_TRY(reals(r, "a centre", -big, big, 3, p));
        TSR_TRY(reals(r, "a radius", 1e-6, big, 2, p + 3));
        bound(h, p[0] - p[3] - p[4], p[1] - p[3] - p[4], p[2] - p[4], p[0] + p[3] + p[4], p[1] + p[3] + p[4], p[2] + p[4]);
    } else if (!strcmp(kind, "revolve")) {
        h->kind = TSR_SHAPE_REVOLVE;
        TSR_TRY(reals(r, "the axis", -big, big, 2, p));
        TSR_TRY(read_outline(r, "a radius or height", 0, h, low, high));
        bound(h, p[0] - high[0], p[1] - high[0], low[1], p[0] + high[0], p[1] + high[0], high[1]);
    } else if (!strcmp(kind, "prism")) {
        h->kind = TSR_SHAPE_PRISM;
        TSR_TRY(reals(r, "an end", -big, big, 2, p));
        if (!(p[1] > p[0])) WRONG(r, "the prism ends at %g where it begins at %g", p[1], p[0]);
        TSR_TRY(read_outline(r, "a corner", -big, h, low, high));
        bound(h, low[0], p[0], low[1], high[0], p[1], high[1]);
    } else if (!strcmp(kind, "text")) {
        h->kind = TSR_SHAPE_STROKES;
        TSR_TRY(read_strokes(r, h));
    } else if (!strcmp(kind, "mesh") || !strcmp(kind, "volume")) {
        char path[4096];
        double size, range[2] = { 0, 1 };
        h->kind = TSR_SHAPE_GRID;
        TSR_TRY(path_of(r, path, sizeof path));
        TSR_TRY(reals(r, "a centre", -big, big, 3, p));
        TSR_TRY(real(r, "a size", 1e-6, big, &size));
        if (kind[0] == 'v' && more(r)) {
            TSR_TRY(reals(r, "a value", -1e30, 1e30, 2, range));
            if (range[0] == range[1]) WRONG(r, "values from %g to %g, expected two", range[0], range[1]);
        }
        TSR_TRY(of_line(r, kind[0] == 'v' ? tsr_scene_grid_volume(path, p, size, range, h) : tsr_scene_grid_mesh(path, p, size, s, h)));
    } else WRONG(r, "'%.60s' is no shape, expected sphere, ellipsoid, box, cylinder, torus, revolve, prism, text, mesh or volume", kind);
    if (h->kind != TSR_SHAPE_GRID && is_next(r, "clip")) {
        TSR_TRY(reals(r, "a height", -big, big, 2, h->clip));
        if (!(h->clip[1] > h->clip[0])) WRONG(r, "clip from %g to %g, expected two heights, the lower first", h->clip[0], h->clip[1]);
    }
    for (int k = 0; k < 3; k++) {
        h->offset[k] = r->offset[k];
        h->low[k] += r->offset[k];
        h->high[k] += r->offset[k];
    }
    return TSR_OK;
}

static tsr_status read_light(reader *r)
{
    tsr_light_scene *s = r->scene;
    const char *kind = NULL;
    if (s->lights == TSR_SCENE_LIGHTS) WRONG(r, "more than %d lights", TSR_SCENE_LIGHTS);
    tsr_light_source *l = &s->light[s->lights];
    *l = (tsr_light_source){ .kind = TSR_LIGHT_DIRECTIONAL };
    TSR_TRY(words(r, "a kind of light", &kind));
    if (!strcmp(kind, "directional")) TSR_TRY(reals(r, "a direction", -big, big, 3, l->direction));
    else if (!strcmp(kind, "point")) {
        l->kind = TSR_LIGHT_POINT;
        TSR_TRY(reals(r, "a place", -big, big, 3, l->position));
    } else if (!strcmp(kind, "spot")) {
        l->kind = TSR_LIGHT_SPOT;
        TSR_TRY(reals(r, "a place", -big, big, 3, l->position));
        TSR_TRY(reals(r, "a direction", -big, big, 3, l->direction));
        TSR_TRY(real(r, "angle of the cone", 0.1, 89, &l->angle));
        TSR_TRY(real(r, "softness of the cone", 0, 1, &l->soft));
    } else WRONG(r, "'%.60s' is no light, expected directional, point or spot", kind);
    if (l->kind != TSR_LIGHT_POINT && !(fabs(l->direction[0]) + fabs(l->direction[1]) + fabs(l->direction[2]) > 1e-6))
        WRONG(r, "the light's direction is 0");
    TSR_TRY(reals(r, "a colour", 0, bright, 3, l->color));
    if (is_next(r, "mask")) {
        char path[4096];
        if (l->kind == TSR_LIGHT_POINT) WRONG(r, "a point light has no mask, expected a spot");
        TSR_TRY(path_of(r, path, sizeof path));
        TSR_TRY(of_line(r, tsr_image_read(path, NULL, &s->mask[s->lights])));
        if (s->mask[s->lights].channels != 1 && s->mask[s->lights].channels != 3) {
            tsr_image_destroy(&s->mask[s->lights]);
            WRONG(r, "the mask has transparency, expected grey or colour");
        }
        l->mask = &s->mask[s->lights];
    }
    s->lights++;
    return TSR_OK;
}

static tsr_status read_floor(reader *r)
{
    tsr_light_ground *g = &r->scene->options.ground;
    tsr_light_floor_look *f = &r->scene->view.floor;
    int second = 0;
    g->present = 1;
    TSR_TRY(real(r, "the floor's height", -big, big, &g->height));
    for (int k = 0; k < 3; k++) f->color[k] = 0.5;
    while (more(r)) {
        if (is_next(r, "extent")) TSR_TRY(real(r, "extent", 1e-3, big, &g->extent));
        else if (is_next(r, "texels")) TSR_TRY(whole(r, "texels", 2, 8192, &g->texels));
        else if (is_next(r, "color")) TSR_TRY(reals(r, "color", 0, 1, 3, f->color));
        else if (is_next(r, "second")) {
            second = 1;
            TSR_TRY(reals(r, "second", 0, 1, 3, f->second));
        } else if (is_next(r, "square")) TSR_TRY(real(r, "square", 1e-3, big, &f->square));
        else if (is_next(r, "ambient")) TSR_TRY(reals(r, "ambient", 0, bright, 3, f->ambient));
        else if (is_next(r, "fade")) TSR_TRY(real(r, "fade", 1e-3, big, &f->fade));
        else if (is_next(r, "gloss")) TSR_TRY(real(r, "gloss", 0, 1, &f->gloss));
        else WRONG(r, "'%.60s': expected extent, texels, color, second, square, ambient, fade or gloss", r->word[r->at]);
    }
    if (!second) memcpy(f->second, f->color, sizeof f->second);
    return TSR_OK;
}

static tsr_status read_panel(reader *r)
{
    tsr_light_scene *s = r->scene;
    if (s->view.surroundings.panel_count == 8) WRONG(r, "more than 8 panels");
    tsr_light_panel *p = &s->panel[s->view.surroundings.panel_count];
    TSR_TRY(reals(r, "a direction", -big, big, 3, p->direction));
    if (!(fabs(p->direction[0]) + fabs(p->direction[1]) + fabs(p->direction[2]) > 1e-6)) WRONG(r, "the panel's direction is 0");
    TSR_TRY(real(r, "a width in degrees", 0.01, 169, &p->width));
    TSR_TRY(real(r, "a height in degrees", 0.01, 169, &p->height));
    TSR_TRY(reals(r, "a colour", 0, bright, 3, p->color));
    s->view.surroundings.panel_count++;
    s->view.surroundings.panels = s->panel;
    return TSR_OK;
}

static tsr_status read_panorama(reader *r)
{
    tsr_light_scene *s = r->scene;
    char path[4096];
    if (s->map) WRONG(r, "a second panorama");
    TSR_TRY(path_of(r, path, sizeof path));
    TSR_TRY(of_line(r, tsr_panorama_read(path, NULL, &s->map)));
    s->view.surroundings.map = s->map;
    while (more(r)) {
        if (is_next(r, "turn")) TSR_TRY(real(r, "turn", -360, 360, &s->view.surroundings.turn));
        else if (is_next(r, "scale")) TSR_TRY(real(r, "scale", 1e-9, bright, &s->view.surroundings.scale));
        else WRONG(r, "'%.60s': expected turn or scale", r->word[r->at]);
    }
    return TSR_OK;
}

static tsr_status read_camera(reader *r)
{
    double p[6], up[3] = { 0, 0, 1 };
    tsr_camera *c = &r->scene->camera;
    TSR_TRY(reals(r, "a place", -big, big, 6, p));
    TSR_TRY(real(r, "the field of view", 0.1, 170, &c->fov));
    if (next_is_number(r)) TSR_TRY(reals(r, "the direction upwards", -big, big, 3, up));
    if (tsr_camera_look_at(c, (tsr_vec3){ p[0], p[1], p[2] }, (tsr_vec3){ p[3], p[4], p[5] }, (tsr_vec3){ up[0], up[1], up[2] }) != TSR_OK)
        WRONG(r, "the camera looks nowhere, or straight up: %.200s", tsr_error_message());
    r->has_camera = 1;
    return TSR_OK;
}

static tsr_status read_simulate(reader *r)
{
    tsr_light_options *o = &r->scene->options;
    while (more(r)) {
        if (is_next(r, "go-on")) o->go_on = 1;
        else if (is_next(r, "no-fresnel")) o->no_fresnel = 1;
        else if (is_next(r, "rk4")) o->integrator = TSR_LIGHT_RK4;
        else if (is_next(r, "gather")) o->record = TSR_LIGHT_GATHER;
        else if (is_next(r, "layers")) TSR_TRY(whole(r, "layers", 1, 4, &o->layers));
        else if (is_next(r, "grid")) TSR_TRY(whole(r, "grid", 2, 1024, &o->grid));
        else if (is_next(r, "extent")) TSR_TRY(real(r, "extent", 0.1, 16, &o->extent));
        else if (is_next(r, "cfl")) TSR_TRY(real(r, "cfl", 0.01, 1, &o->cfl));
        else if (is_next(r, "dispersion")) TSR_TRY(real(r, "dispersion", 0, 0.49, &o->dispersion));
        else if (is_next(r, "least-area")) TSR_TRY(real(r, "least-area", 1e-6, 100, &o->least_area));
        else if (is_next(r, "faint")) TSR_TRY(real(r, "faint", 1e-9, 0.5, &o->faint));
        else WRONG(r, "'%.60s': expected go-on, no-fresnel, rk4, gather, layers, grid, extent, cfl, faint, dispersion or least-area", r->word[r->at]);
    }
    if (o->record == TSR_LIGHT_GATHER && o->layers > 1) WRONG(r, "layers are of the strongest rays, not of gathered light");
    return TSR_OK;
}

static tsr_status read_view(reader *r)
{
    tsr_light_view_options *o = &r->scene->view;
    while (more(r)) {
        if (is_next(r, "size")) {
            TSR_TRY(whole(r, "width", 1, 16384, &o->width));
            TSR_TRY(whole(r, "height", 1, 16384, &o->height));
        } else if (is_next(r, "samples")) TSR_TRY(whole(r, "samples", 1, 4096, &o->samples));
        else if (is_next(r, "step")) TSR_TRY(real(r, "step", 0.02, 4, &o->step));
        else if (is_next(r, "reflections")) {
            TSR_TRY(whole(r, "reflections", 0, 4, &o->reflections));
            if (!o->reflections) o->reflections = -1;
        } else if (is_next(r, "dispersion")) TSR_TRY(real(r, "dispersion", 0, 0.49, &o->dispersion));
        else WRONG(r, "'%.60s': expected size, samples, step, reflections or dispersion", r->word[r->at]);
    }
    return TSR_OK;
}

static tsr_status read_tone(reader *r)
{
    tsr_light_tone_options *o = &r->scene->tone;
    while (more(r)) {
        if (is_next(r, "exposure")) TSR_TRY(real(r, "exposure", 1e-9, bright, &o->exposure));
        else if (is_next(r, "key")) TSR_TRY(real(r, "key", 1e-3, 100, &o->key));
        else if (is_next(r, "white")) TSR_TRY(real(r, "white", 0.01, big, &o->white));
        else WRONG(r, "'%.60s': expected exposure, key or white", r->word[r->at]);
    }
    return TSR_OK;
}

/* The text of a scene and the folder it lies in (NULL: the working directory), to be freed. */
static tsr_status load_text(const char *path, char **text, char **folder)
{
    const tsr_input_options settings = { .memory_limit = LONGEST };
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    *text = *folder = NULL;
    TSR_TRY(tsr_input_open(path, &settings, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    if (status == TSR_OK && memchr(bytes, '\0', size)) status = TSR_FAILED(TSR_ERROR_FORMAT, "%s: has bytes of value 0, no text of a scene", path);
    if (status == TSR_OK) {
        const char *slash = strrchr(path, '/');
        *text = malloc(size + 1);
        *folder = slash ? strndup(path, (size_t)(slash - path)) : NULL;
        if (!*text || (slash && !*folder)) status = TSR_FAILED(TSR_ERROR_MEMORY, "no memory for a text of %zu bytes", size);
    }
    if (status == TSR_OK) {
        memcpy(*text, bytes, size);
        (*text)[size] = '\0';
    } else {
        free(*text);
        free(*folder);
        *text = *folder = NULL;
    }
    tsr_input_close(&input);
    return status;
}

static tsr_status parse(reader *r, const char *text);
/* Another scene, of a file or of the library, at a place: its materials and shapes. */
static tsr_status read_scene(reader *r)
{
    const tsr_light_scene_info *known = NULL;
    char path[4096], *text = NULL, *folder = NULL;
    double at[3];
    reader *part = NULL;
    tsr_status status;
    if (r->depth == DEEPEST) WRONG(r, "scenes within scenes within scenes: expected at most %d of them in each other", DEEPEST);
    if (r->scene->parts++ == TSR_SCENE_PARTS) WRONG(r, "more than %d scenes within it", TSR_SCENE_PARTS);
    for (int32_t i = 0; more(r); i++) {
        known = tsr_light_scene_at(i);
        if (!known || !strcmp(known->name, r->word[r->at])) break;
    }
    TSR_TRY(path_of(r, path, sizeof path));
    TSR_TRY(reals(r, "a place", -big, big, 3, at));
    if (!known) TSR_TRY(of_line(r, load_text(path, &text, &folder)));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, sizeof *part, (void **)&part), end);
    *part = (reader){
        .scene = r->scene, .name = known ? known->name : path, .folder = folder, .depth = r->depth + 1, .own_materials = r->scene->materials
    };
    for (int k = 0; k < 3; k++) part->offset[k] = r->offset[k] + at[k];
    TSR_TRY_GOTO(parse(part, known ? known->text : text), end);
end:
    tsr_host_release(NULL, part, sizeof *part);
    free(text);
    free(folder);
    return status;
}

/* Lines that count of a scene alone. */
static int is_of_whole(const char *word)
{
    static const char *const words[] = { "box",      "resolution", "smooth", "light",    "floor", "sky", "panel",
                                         "panorama", "ambient",    "camera", "simulate", "view",  "tone" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i])) return 1;
    return 0;
}

static tsr_status read_line(reader *r)
{
    tsr_light_scene *s = r->scene;
    tsr_light_surroundings *a = &s->view.surroundings;
    const char *first = r->word[r->at++];
    if (r->depth && is_of_whole(first)) return TSR_OK;
    if (!strcmp(first, "box")) TSR_TRY(read_box(r));
    else if (!strcmp(first, "resolution")) TSR_TRY(whole(r, "resolution", 8, 1024, &s->resolution));
    else if (!strcmp(first, "smooth")) {
        TSR_TRY(real(r, "smooth", 0.1, 8, &s->smooth));
        s->soft = is_next(r, "through");
    } else if (!strcmp(first, "material")) TSR_TRY(read_material(r));
    else if (!strcmp(first, "shape")) TSR_TRY(read_shape(r));
    else if (!strcmp(first, "scene")) TSR_TRY(read_scene(r));
    else if (!strcmp(first, "light")) TSR_TRY(read_light(r));
    else if (!strcmp(first, "floor")) TSR_TRY(read_floor(r));
    else if (!strcmp(first, "sky")) {
        TSR_TRY(reals(r, "a colour", 0, bright, 3, a->lower));
        TSR_TRY(reals(r, "a colour", 0, bright, 3, a->horizon));
        TSR_TRY(reals(r, "a colour", 0, bright, 3, a->upper));
    } else if (!strcmp(first, "panel")) TSR_TRY(read_panel(r));
    else if (!strcmp(first, "panorama")) TSR_TRY(read_panorama(r));
    else if (!strcmp(first, "ambient")) TSR_TRY(reals(r, "a colour", 0, bright, 3, s->view.ambient));
    else if (!strcmp(first, "camera")) TSR_TRY(read_camera(r));
    else if (!strcmp(first, "simulate")) TSR_TRY(read_simulate(r));
    else if (!strcmp(first, "view")) TSR_TRY(read_view(r));
    else if (!strcmp(first, "tone")) TSR_TRY(read_tone(r));
    else
        WRONG(r,
              "'%.60s': expected box, resolution, smooth, material, shape, scene, light, floor, sky, panel, panorama, ambient, camera, simulate, "
              "view or tone",
              first);
    if (more(r)) WRONG(r, "'%.60s': expected the end of the line", r->word[r->at]);
    return TSR_OK;
}

/* The next line's words; a backslash at its end joins it with the one below. 0 at the end of the text. */
static tsr_status take_line(reader *r, const char **text, int *got)
{
    size_t n = 0;
    *got = 0;
    if (!**text) return TSR_OK;
    *got = 1;
    for (;; (*text)++) {
        const char c = **text;
        if (c == '\\' && ((*text)[1] == '\n' || ((*text)[1] == '\r' && (*text)[2] == '\n'))) {
            *text += (*text)[1] == '\r' ? 2 : 1;
            r->line++;
            if (n + 1 >= LINE) WRONG(r, "the line is longer than %d letters", LINE - 2);
            r->text[n++] = ' ';
            continue;
        }
        if (!c || c == '\n') break;
        if (n + 1 >= LINE) WRONG(r, "the line is longer than %d letters", LINE - 2);
        r->text[n++] = c;
    }
    if (**text) (*text)++;
    r->text[n] = '\0';
    r->words = r->at = 0;
    char *p = r->text;
    for (;;) {
        while (*p == ' ' || *p == '\t' || *p == '\r') p++;
        if (!*p || *p == '#') return TSR_OK;
        if (r->words == WORDS) WRONG(r, "more than %d words in a line", WORDS);
        r->word[r->words++] = p;
        while (*p && *p != ' ' && *p != '\t' && *p != '\r' && *p != '#') p++;
        if (!*p) return TSR_OK;
        const int ends = *p == '#';
        *p++ = '\0';
        if (ends) return TSR_OK;
    }
}

static tsr_status parse(reader *r, const char *text)
{
    int got, first = 1;
    for (r->line = 1;; r->line++) {
        TSR_TRY(take_line(r, &text, &got));
        if (!got) break;
        if (!r->words) continue;
        if (first) {
            if (strcmp(r->word[0], "tessera-light") != 0) WRONG(r, "'%.60s': a scene begins with 'tessera-light 1'", r->word[0]);
            if (r->words != 2 || strcmp(r->word[1], "1") != 0)
                WRONG(r, "version '%.60s' of scenes: this program reads version 1", r->words > 1 ? r->word[1] : "");
            first = 0;
            continue;
        }
        TSR_TRY(read_line(r));
    }
    if (first) WRONG(r, "the text is empty, expected 'tessera-light 1'");
    if (r->depth) return TSR_OK;
    if (!r->has_box) WRONG(r, "there is no box, expected 'box X Y Z X Y Z' around the shapes");
    if (!r->has_camera) WRONG(r, "there is no camera, expected 'camera X Y Z X Y Z DEGREES'");
    const tsr_light_ground *g = &r->scene->options.ground;
    if (g->present && g->height > r->scene->low[2] + 1e-9 * fabs(r->scene->low[2]))
        WRONG(r, "the floor's height is %g, expected at most %g, where the box begins", g->height, r->scene->low[2]);
    r->scene->view.sources = r->scene->light;
    r->scene->view.source_count = r->scene->lights;
    return TSR_OK;
}

tsr_status tsr_light_scene_parse(const char *text, const char *name, const char *folder, tsr_light_scene **scene)
{
    TSR_RETURNS(scene);
    TSR_NEEDS(text);
    reader *r = NULL;
    tsr_status status;
    if (strlen(text) > LONGEST) TSR_FAIL(TSR_ERROR_FORMAT, "%s: longer than %d bytes, no scene", name ? name : "scene", LONGEST);
    TSR_TRY(tsr_host_allocate(NULL, sizeof *r, (void **)&r));
    memset(r, 0, sizeof *r);
    tsr_light_scene *s = NULL;
    TSR_TRY_GOTO(tsr_host_allocate(NULL, sizeof *s, (void **)&s), end);
    memset(s, 0, sizeof *s);
    s->resolution = 128;
    s->smooth = 0.7;
    s->options = (tsr_light_options)TSR_LIGHT_OPTIONS;
    s->options.integrator = TSR_LIGHT_LEAP;
    s->view = (tsr_light_view_options)TSR_LIGHT_VIEW_OPTIONS;
    s->tone = (tsr_light_tone_options)TSR_LIGHT_TONE_OPTIONS;
    s->material[0] = (tsr_scene_material){ .name = "air", .index = 1 };
    s->materials = 1;
    *r = (reader){ .scene = s, .name = name ? name : "scene", .folder = folder, .own_materials = 1 };
    TSR_TRY_GOTO(parse(r, text), end);
    *scene = s;
    s = NULL;
    status = TSR_OK;
end:
    tsr_light_scene_destroy(&s);
    tsr_host_release(NULL, r, sizeof *r);
    return status;
}

tsr_status tsr_light_scene_read(const char *path, const tsr_read_options *options, tsr_light_scene **scene)
{
    TSR_RETURNS(scene);
    TSR_NEEDS(path);
    char *text, *folder;
    (void)options;
    TSR_TRY(load_text(path, &text, &folder));
    const tsr_status status = tsr_light_scene_parse(text, path, folder, scene);
    free(text);
    free(folder);
    TSR_TRY(status);
    return TSR_OK;
}

void tsr_light_scene_destroy(tsr_light_scene **scene)
{
    if (!scene || !*scene) return;
    tsr_light_scene *s = *scene;
    *scene = NULL;
    for (int32_t i = 0; i < TSR_SCENE_SHAPES; i++) {
        free(s->shape[i].points);
        tsr_volume_destroy(&s->shape[i].grid);
    }
    for (int32_t i = 0; i < TSR_SCENE_LIGHTS; i++) tsr_image_destroy(&s->mask[i]);
    tsr_volume_destroy(&s->map);
    tsr_host_release(NULL, s, sizeof *s);
}

const tsr_light_source *tsr_light_scene_sources(const tsr_light_scene *scene, int32_t *count)
{
    if (count) *count = scene ? scene->lights : 0;
    return scene ? scene->light : NULL;
}
const tsr_camera *tsr_light_scene_camera(const tsr_light_scene *scene) { return scene ? &scene->camera : NULL; }
const tsr_light_options *tsr_light_scene_options(const tsr_light_scene *scene) { return scene ? &scene->options : NULL; }
const tsr_light_view_options *tsr_light_scene_view(const tsr_light_scene *scene) { return scene ? &scene->view : NULL; }
const tsr_light_tone_options *tsr_light_scene_tone(const tsr_light_scene *scene) { return scene ? &scene->tone : NULL; }
