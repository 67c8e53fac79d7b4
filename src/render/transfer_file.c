/* render/transfer_file.c: transfer functions as text, see docs/formats/transfer.md. */
#include <math.h>
#include <string.h>

#include "io/stream.h"
#include "io/text.h"
#include "render/scene.h"

enum { MAGIC_VERSION = 1, MOST_BYTES = 1 << 20 };

static const char *const shape_names[] = { "gaussian", "box", "triangle" };
static const char *const axis_names[] = { "value", "gradient", "level" };

/* One line being read. */
struct reader {
    tsr_text text;
    const char *name;
    int64_t line;
};

static tsr_status number(struct reader *r, const char *what, float *value)
{
    double v = 0;
    char shown[32];
    tsr_word word;
    if (!tsr_text_word(&r->text, &word)) TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: the line ends, expected %s", r->name, (long long)r->line, what);
    if (tsr_word_double(word, &v) != TSR_TEXT_OK || !isfinite(v) || fabs(v) > 3e38)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: '%s' given, expected %s: a finite number", r->name, (long long)r->line, tsr_word_show(word, shown),
                 what);
    *value = (float)v;
    return TSR_OK;
}

static int hexadecimal(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* #rrggbb, or three numbers from 0 to 1. */
static tsr_status color(struct reader *r, tsr_color *c)
{
    float *const part[3] = { &c->r, &c->g, &c->b };
    tsr_text before = r->text;
    tsr_word word;
    char shown[32];
    if (tsr_text_word(&r->text, &word) && word.text[0] == '#') {
        int good = word.size == 7;
        for (int k = 0; k < 3 && good; k++) {
            int high = hexadecimal(word.text[1 + 2 * k]), low = hexadecimal(word.text[2 + 2 * k]);
            good = high >= 0 && low >= 0;
            *part[k] = (float)(16 * high + low) / 255.0f;
        }
        if (!good)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: color '%s', expected #rrggbb or three numbers from 0 to 1", r->name, (long long)r->line,
                     tsr_word_show(word, shown));
        return TSR_OK;
    }
    r->text = before;
    for (int k = 0; k < 3; k++) {
        TSR_TRY(number(r, "a colour", part[k]));
        if (!(*part[k] >= 0 && *part[k] <= 1))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: color %g, expected three numbers from 0 to 1 or #rrggbb", r->name, (long long)r->line,
                     (double)*part[k]);
    }
    return TSR_OK;
}

/* Axes named one after the other, at least one. */
static tsr_status axes(struct reader *r, int32_t *beyond)
{
    for (int any = 0;; any = 1) {
        tsr_text before = r->text;
        tsr_word word = { NULL, 0 };
        int axis = -1;
        if (tsr_text_word(&r->text, &word))
            for (int k = 0; k < 3; k++)
                if (tsr_word_is(word, axis_names[k])) axis = k;
        /* "gradient" and "level" are also keywords; those are followed by a number */
        tsr_text after = r->text;
        double ignored;
        if (axis > 0 && tsr_text_double(&after, &ignored) == TSR_TEXT_OK) axis = -1;
        if (axis < 0) {
            r->text = before;
            if (!any) TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: beyond: expected value, gradient or level", r->name, (long long)r->line);
            return TSR_OK;
        }
        if (*beyond >> axis & 1) TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: beyond: %s is given twice", r->name, (long long)r->line, axis_names[axis]);
        *beyond |= 1 << axis;
    }
}

enum { HAS_ALPHA = 1, HAS_COLOR = 2, HAS_GRADIENT = 4, HAS_LEVEL = 8, HAS_SHEAR = 16, HAS_BEYOND = 32 };

static tsr_status keywords(struct reader *r, struct tsr_transfer_gaussian *g, int allowed)
{
    static const char *const names[] = { "alpha", "color", "gradient", "level", "shear", "beyond" };
    int seen = 0;
    tsr_word word;
    char shown[32];
    while (tsr_text_word(&r->text, &word)) {
        int which = -1;
        for (int k = 0; k < 6; k++)
            if ((allowed >> k & 1) && tsr_word_is(word, names[k])) which = k;
        if (which < 0)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: '%s' given, expected alpha, color%s", r->name, (long long)r->line, tsr_word_show(word, shown),
                     allowed & HAS_GRADIENT ? ", gradient, level, shear or beyond" : "");
        if (seen >> which & 1) TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: %s is given twice", r->name, (long long)r->line, names[which]);
        seen |= 1 << which;
        switch (which) {
        case 0: TSR_TRY(number(r, "alpha", &g->alpha)); break;
        case 1: TSR_TRY(color(r, &g->color)); break;
        case 2:
            TSR_TRY(number(r, "the gradient's centre", &g->gradient_centre));
            TSR_TRY(number(r, "the gradient's width", &g->gradient_width));
            break;
        case 3:
            TSR_TRY(number(r, "the level's centre", &g->level_centre));
            TSR_TRY(number(r, "the level's width", &g->level_width));
            break;
        case 4:
            for (int k = 0; k < 3; k++) TSR_TRY(number(r, "a shear", &g->shear[k]));
            break;
        default: TSR_TRY(axes(r, &g->beyond)); break;
        }
    }
    if (!(seen & HAS_ALPHA) || !(seen & HAS_COLOR))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: %s is missing", r->name, (long long)r->line, seen & HAS_ALPHA ? "color" : "alpha");
    if (!(g->alpha >= 0 && g->alpha <= 1))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: alpha %g, expected 0 to 1", r->name, (long long)r->line, (double)g->alpha);
    return TSR_OK;
}

static tsr_status primitive(struct reader *r, tsr_word kind, tsr_transfer *t)
{
    struct tsr_transfer_gaussian g;
    char shown[32];
    memset(&g, 0, sizeof g);
    if (tsr_word_is(kind, "point")) {
        if (t->points == TSR_TRANSFER_POINTS)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: more than %d points", r->name, (long long)r->line, TSR_TRANSFER_POINTS);
        struct tsr_transfer_point *p = &t->point[t->points];
        TSR_TRY(number(r, "the value of a point", &p->value));
        TSR_TRY(keywords(r, &g, HAS_ALPHA | HAS_COLOR));
        p->alpha = g.alpha;
        p->color = g.color;
        if (t->points > 0 && !(p->value > t->point[t->points - 1].value))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: point at %g, expected more than the %g before it", r->name, (long long)r->line, (double)p->value,
                     (double)t->point[t->points - 1].value);
        t->points++;
        return TSR_OK;
    }
    int shape = 0;
    while (shape < 3 && !tsr_word_is(kind, shape_names[shape])) shape++;
    if (shape == 3)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: '%s' given, expected point, gaussian, box or triangle", r->name, (long long)r->line,
                 tsr_word_show(kind, shown));
    if (t->gaussians == TSR_TRANSFER_GAUSSIANS)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: more than %d primitives", r->name, (long long)r->line, TSR_TRANSFER_GAUSSIANS);
    g.shape = (tsr_transfer_shape)shape;
    TSR_TRY(number(r, "the centre", &g.centre));
    TSR_TRY(number(r, "the width", &g.width));
    TSR_TRY(keywords(r, &g, 63));
    if (!(g.width > 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: width %g, expected more than 0", r->name, (long long)r->line, (double)g.width);
    if (!(g.gradient_width >= 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: gradient width %g, expected 0 or more", r->name, (long long)r->line, (double)g.gradient_width);
    if (!(g.level_width >= 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: level width %g, expected 0 or more", r->name, (long long)r->line, (double)g.level_width);
    if (g.beyond && (g.shear[0] != 0 || g.shear[1] != 0 || g.shear[2] != 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: beyond and shear, expected no shear beside beyond", r->name, (long long)r->line);
    t->gaussian[t->gaussians++] = g;
    return TSR_OK;
}

tsr_status tsr_transfer_read_text(const char *text, size_t length, const char *name, tsr_transfer *transfer)
{
    tsr_transfer_linear checked;
    tsr_transfer t;
    int begun = 0;
    if (!text || !transfer) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %s is NULL", text ? "transfer" : "text");
    name = name ? name : "transfer function";
    if (length > MOST_BYTES) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %zu bytes, expected at most %d", name, length, MOST_BYTES);
    memset(&t, 0, sizeof t);
    tsr_text whole = tsr_text_make(text, length), line;
    struct reader r = { .name = name };
    while (tsr_text_line(&whole, &line)) {
        const char *mark = line.at;
        tsr_word word;
        while (mark < line.end && (*mark == ' ' || *mark == '\t')) mark++;
        if (mark < line.end && *mark != '#') /* else the whole line is a comment; within a line a '#' with a blank behind it begins one */
            while (mark < line.end && !(*mark == '#' && (mark + 1 == line.end || mark[1] == ' ' || mark[1] == '\t'))) mark++;
        r.line++;
        r.text = line;
        r.text.end = mark;
        if (!tsr_text_word(&r.text, &word)) continue;
        if (!begun) {
            int64_t version = 0;
            if (!tsr_word_is(word, "tessera-transfer") || tsr_text_integer(&r.text, &version) != TSR_TEXT_OK)
                TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: not a transfer function, expected 'tessera-transfer 1'", name, (long long)r.line);
            if (version != MAGIC_VERSION)
                TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s:%lld: version %lld, expected %d", name, (long long)r.line, (long long)version, MAGIC_VERSION);
            if (tsr_text_word(&r.text, &word)) TSR_FAIL(TSR_ERROR_FORMAT, "%s:%lld: words after the version, expected none", name, (long long)r.line);
            begun = 1;
            continue;
        }
        TSR_TRY(primitive(&r, word, &t));
    }
    if (!begun) TSR_FAIL(TSR_ERROR_FORMAT, "%s: not a transfer function, expected 'tessera-transfer 1'", name);
    tsr_status status = tsr_transfer_check(&t, &checked);
    if (status != TSR_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %s", name, tsr_error_message());
    *transfer = t;
    return TSR_OK;
}

tsr_status tsr_transfer_read(const char *path, tsr_transfer *transfer)
{
    tsr_input_options settings = { .memory_limit = MOST_BYTES };
    tsr_input *input = NULL;
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (!path || !transfer) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %s is NULL", path ? "transfer" : "path");
    TSR_TRY(tsr_input_open(path, &settings, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    if (status == TSR_OK) status = tsr_transfer_read_text((const char *)bytes, size, path, transfer);
    tsr_input_close(&input);
    TSR_TRY(status);
    return TSR_OK;
}

static char *put(char *at, const char *before, float value) { return tsr_put_float(tsr_put_text(at, before), value); }

static char *put_look(char *at, float alpha, tsr_color c)
{
    at = put(put(at, " alpha ", alpha), " color ", c.r);
    return put(put(at, " ", c.g), " ", c.b);
}

static tsr_status write_all(tsr_output *out, const tsr_transfer *t)
{
    char line[512], *at; /* at most 14 numbers of 16 characters and their names */
    TSR_TRY(tsr_output_printf(out, "tessera-transfer %d\n", MAGIC_VERSION));
    for (int i = 0; i < t->points; i++) {
        at = put_look(put(line, "point ", t->point[i].value), t->point[i].alpha, t->point[i].color);
        *at++ = '\n';
        TSR_TRY(tsr_output_write(out, line, (size_t)(at - line)));
    }
    for (int i = 0; i < t->gaussians; i++) {
        const struct tsr_transfer_gaussian *g = &t->gaussian[i];
        at = put(tsr_put_text(line, shape_names[g->shape]), " ", g->centre);
        at = put_look(put(at, " ", g->width), g->alpha, g->color);
        if (g->gradient_width != 0 || g->gradient_centre != 0) at = put(put(at, " gradient ", g->gradient_centre), " ", g->gradient_width);
        if (g->level_width != 0 || g->level_centre != 0) at = put(put(at, " level ", g->level_centre), " ", g->level_width);
        if (g->shear[0] != 0 || g->shear[1] != 0 || g->shear[2] != 0)
            at = put(put(put(at, " shear ", g->shear[0]), " ", g->shear[1]), " ", g->shear[2]);
        if (g->beyond) at = tsr_put_text(at, " beyond");
        for (int k = 0; k < 3; k++)
            if (g->beyond >> k & 1) at = tsr_put_text(tsr_put_text(at, " "), axis_names[k]);
        *at++ = '\n';
        TSR_TRY(tsr_output_write(out, line, (size_t)(at - line)));
    }
    return TSR_OK;
}

tsr_status tsr_transfer_write(const tsr_transfer *transfer, const char *path, const tsr_write_options *options)
{
    tsr_transfer_linear checked;
    tsr_write_options own;
    tsr_output *out = NULL;
    if (!path || !transfer) TSR_FAIL(TSR_ERROR_ARGUMENT, "transfer function: %s is NULL", path ? "transfer" : "path");
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_transfer_check(transfer, &checked));
    TSR_TRY(tsr_output_open(path, &own, &out));
    return tsr_output_finish(&out, write_all(out, transfer));
}
