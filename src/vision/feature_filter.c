/* vision/feature_filter.c: filters as text and as inclusive integers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vision/features.h"
#include "core/number.h"

static const char *const names[TSR_FEATURE_FILTERS] = { "luminance", "box", "distance", "hsv", "mask", "motion", "gradient", "smooth" };

static int32_t ceiling(double v) { return (int32_t)ceil(v); }
static int32_t bottom(double v) { return (int32_t)floor(v); }

static tsr_status check_range(const char *where, const tsr_feature_filter *f, int32_t c, double most)
{
    if (f->lower[c] >= 0 && f->lower[c] <= most && f->upper[c] >= 0 && f->upper[c] <= most) return TSR_OK;
    TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s from %g to %g, expected numbers from 0 to %g", where, names[f->kind], f->lower[c], f->upper[c], most);
}

/* Which greys pass, if they are one interval. */
static void find_bytes(tsr_feature_test *t)
{
    int changes = 0, before = 0;
    t->low = 1;
    t->high = 0;
    for (int32_t v = 0; v < 256; v++) {
        const int passes = tsr_pixel_passes(t, (tsr_pixel){ v, v, v });
        changes += passes != before;
        if (passes && !before) t->low = v;
        if (passes) t->high = v;
        before = passes;
    }
    t->bytes = changes <= 2;
}

tsr_status tsr_feature_test_make(const char *where, const tsr_feature_filter *f, tsr_feature_test *t)
{
    if ((unsigned)f->kind >= TSR_FEATURE_FILTERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: kind is %d, expected one of tsr_feature_filter_kind (0 to %d)", where, (int)f->kind,
                 TSR_FEATURE_FILTERS - 1);
    *t = (tsr_feature_test){ .kind = (int32_t)f->kind, .local = f->kind <= TSR_FEATURE_MASK };
    if (f->kind <= TSR_FEATURE_BOX) {
        for (int32_t c = 0; c < (f->kind == TSR_FEATURE_BOX ? 3 : 1); c++) {
            TSR_TRY(check_range(where, f, c, 255));
            if (f->lower[c] > f->upper[c])
                TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s from %g to %g, expected lower <= upper", where, names[f->kind], f->lower[c], f->upper[c]);
            t->lower[c] = ceiling(f->lower[c]);
            t->upper[c] = bottom(f->upper[c]);
            if (t->lower[c] > t->upper[c]) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: no whole number from %g to %g", where, f->lower[c], f->upper[c]);
        }
    } else if (f->kind == TSR_FEATURE_HSV) {
        for (int32_t c = 0; c < 3; c++) {
            TSR_TRY(check_range(where, f, c, c ? 255 : 360));
            if (c && f->lower[c] > f->upper[c])
                TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: hsv from %g to %g, expected lower <= upper (but for the hue)", where, f->lower[c], f->upper[c]);
            t->lower[c] = ceiling(f->lower[c] * (c ? 1.0 : 1536.0 / 360.0));
            t->upper[c] = bottom(f->upper[c] * (c ? 1.0 : 1536.0 / 360.0));
        }
    } else if (f->kind == TSR_FEATURE_MASK) {
        if (!(f->lower[0] >= 1 && f->lower[0] <= 255)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: mask %g, expected bits from 1 to 255", where, f->lower[0]);
        t->lower[0] = bottom(f->lower[0]);
    } else {
        const double v = f->threshold;
        if (!(v >= 0 && v <= 1000)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: %s threshold is %g, expected 0 to 1000", where, names[f->kind], v);
        t->threshold = f->kind == TSR_FEATURE_DISTANCE   ? bottom(v * v)
                       : f->kind == TSR_FEATURE_GRADIENT ? ceiling(4 * v * v)
                       : f->kind == TSR_FEATURE_MOTION   ? ceiling(v)
                                                         : bottom(v);
        for (int32_t c = 0; c < 3 && f->kind == TSR_FEATURE_DISTANCE; c++) {
            if (!(f->lower[c] >= 0 && f->lower[c] <= 255))
                TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: distance from the colour %g, %g, %g, expected numbers from 0 to 255", where, f->lower[0],
                         f->lower[1], f->lower[2]);
            t->lower[c] = bottom(f->lower[c] + 0.5);
        }
    }
    if (t->local) find_bytes(t);
    return TSR_OK;
}

/* ---- text ---------------------------------------------------------------------------------------------------------------------------------- */

/* "#rrggbb" into three numbers; NULL if it is none, else what follows. */
static const char *take_color(const char *s, double rgb[3])
{
    char digits[3] = { 0 };
    if (*s++ != '#') return NULL;
    for (int c = 0; c < 3; c++, s += 2) {
        if (!s[0] || !strchr("0123456789abcdefABCDEF", s[0]) || !s[1] || !strchr("0123456789abcdefABCDEF", s[1])) return NULL;
        memcpy(digits, s, 2);
        rgb[c] = (double)strtol(digits, NULL, 16);
    }
    return s;
}
static const char *take_number(const char *s, double *v)
{
    char *end = NULL;
    if (!s || !*s || !strchr("0123456789.", *s)) return NULL;
    *v = tsr_number_parse(s, &end);
    return end == s || !isfinite(*v) ? NULL : end;
}
static const char *take_sign(const char *s, char sign) { return s && *s == sign ? s + 1 : NULL; }
static const char *take_range(const char *s, double *lower, double *upper) { return take_number(take_sign(take_number(s, lower), ':'), upper); }

tsr_status tsr_feature_filter_parse(const char *text, tsr_feature_filter *filter)
{
    TSR_NEEDS(filter);
    static const char *const forms[TSR_FEATURE_FILTERS] = {
        "luminance=LOWER:UPPER", "box=#rrggbb:#rrggbb",      "distance=#rrggbb:RADIUS", "hsv=HUE:HUE,SATURATION:SATURATION,VALUE:VALUE", "mask=BITS",
        "motion=DIFFERENCE",     "gradient=GREYS_PER_PIXEL", "smooth=DIFFERENCE"
    };
    *filter = (tsr_feature_filter){ 0 };
    const char *s = text ? strchr(text, '=') : NULL;
    int kind = 0;
    if (!s) TSR_FAIL(TSR_ERROR_ARGUMENT, "filter '%s', expected a form like %s or %s", text ? text : "", forms[0], forms[2]);
    while (kind < TSR_FEATURE_FILTERS && (strncmp(text, names[kind], (size_t)(s - text)) || strlen(names[kind]) != (size_t)(s - text))) kind++;
    if (kind == TSR_FEATURE_FILTERS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "filter '%s', expected one of: luminance box distance hsv mask motion gradient smooth", text);
    tsr_feature_filter f = { .kind = (tsr_feature_filter_kind)kind };
    s++;
    switch (f.kind) {
    case TSR_FEATURE_LUMINANCE: s = take_range(s, &f.lower[0], &f.upper[0]); break;
    case TSR_FEATURE_BOX:
        s = take_color(s, f.lower);
        s = take_sign(s, ':');
        s = s ? take_color(s, f.upper) : NULL;
        break;
    case TSR_FEATURE_DISTANCE: s = take_number(take_sign(take_color(s, f.lower), ':'), &f.threshold); break;
    case TSR_FEATURE_HSV:
        s = take_range(s, &f.lower[0], &f.upper[0]);
        s = take_range(take_sign(s, ','), &f.lower[1], &f.upper[1]);
        s = take_range(take_sign(s, ','), &f.lower[2], &f.upper[2]);
        break;
    case TSR_FEATURE_MASK: s = take_number(s, &f.lower[0]); break;
    default: s = take_number(s, &f.threshold);
    }
    if (!s || *s) TSR_FAIL(TSR_ERROR_ARGUMENT, "filter '%s', expected the form %s", text, forms[kind]);
    tsr_feature_test test;
    TSR_TRY(tsr_feature_test_make("filter", &f, &test));
    *filter = f;
    return TSR_OK;
}
