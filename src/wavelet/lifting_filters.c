/* wavelet/lifting_filters.c: the filters of docs/theory/wavelets.md 2 and what follows from their taps alone. */
#include "wavelet/lifting_filters.h"
#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const filter_names[TSR_WAVELET_FILTERS] = { "legall53", "haar",   "dd97",    "dd137",   "daub97",    "fidelity",
                                                               "jpeg53",   "custom", "minhaar", "maxlift", "adaptive53" };
static const char *const boundary_names[TSR_WAVELET_BOUNDARIES] = { "clamp", "symmetric", "periodic", "zero" };
static const char *const rule_names[TSR_WAVELET_RULES] = { "sum", "max", "min", "max0", "min0", "adaptive" };
static const char *const layout_names[TSR_WAVELET_LAYOUTS] = { "mallat", "interleaved", "split", "subbands" };

#define STEP(parity, sign, first, count, rounding, shift, ...)                                  \
    {                                                                                           \
        parity, sign, first, count, rounding, shift, { __VA_ARGS__ }, { 0 }, TSR_WAVELET_SUM, 0 \
    }
#define RULE(parity, sign, first, count, rounding, shift, rule, ...)                 \
    {                                                                                \
        parity, sign, first, count, rounding, shift, { __VA_ARGS__ }, { 0 }, rule, 0 \
    }
#define PREDICT_FOUR STEP(1, -1, -3, 4, 8, 4, -1, 9, 9, -1)
#define UPDATE_TWO STEP(0, 1, -1, 2, 2, 2, 1, 1)

static const struct {
    int32_t count, dirac_bits;
    double scale;
    tsr_wavelet_step steps[4];
} filters[TSR_WAVELET_FILTERS] = {
    [TSR_WAVELET_LEGALL53] = { 2, 1, 1.4142135623730951, { STEP(1, -1, -1, 2, 1, 1, 1, 1), UPDATE_TWO } },
    [TSR_WAVELET_HAAR] = { 2, 1, 1.4142135623730951, { STEP(1, -1, -1, 1, 0, 0, 1), STEP(0, 1, 1, 1, 1, 1, 1) } },
    [TSR_WAVELET_DD97] = { 2, 1, 1.4142135623730951, { PREDICT_FOUR, UPDATE_TWO } },
    [TSR_WAVELET_DD137] = { 2, 1, 1.4142135623730951, { PREDICT_FOUR, STEP(0, 1, -3, 4, 16, 5, -1, 9, 9, -1) } },
    [TSR_WAVELET_DAUB97] = { 4,
                             1,
                             1.149604398860241,
                             { { 1, -1, -1, 2, 2048, 12, { 6497, 6497 }, { 1.586134342059924, 1.586134342059924 }, TSR_WAVELET_SUM, 0 },
                               { 0, -1, -1, 2, 2048, 12, { 217, 217 }, { 0.052980118572961, 0.052980118572961 }, TSR_WAVELET_SUM, 0 },
                               { 1, 1, -1, 2, 2048, 12, { 3616, 3616 }, { 0.882911075530934, 0.882911075530934 }, TSR_WAVELET_SUM, 0 },
                               { 0, 1, -1, 2, 2048, 12, { 1817, 1817 }, { 0.443506852043971, 0.443506852043971 }, TSR_WAVELET_SUM, 0 } } },
    [TSR_WAVELET_FIDELITY] = { 2,
                               0,
                               0.7071067811865476,
                               { STEP(0, 1, -7, 8, 128, 8, -8, 21, -46, 161, 161, -46, 21, -8),
                                 STEP(1, -1, -7, 8, 128, 8, -2, 10, -25, 81, 81, -25, 10, -2) } },
    [TSR_WAVELET_JPEG53] = { 2, 0, 1.4142135623730951, { STEP(1, -1, -1, 2, 0, 1, 1, 1), UPDATE_TWO } },
    [TSR_WAVELET_MINHAAR] = { 2, 0, 1, { STEP(1, -1, -1, 1, 0, 0, 1), RULE(0, 1, 1, 1, 0, 0, TSR_WAVELET_MINIMUM0, 1) } },
    [TSR_WAVELET_MAXLIFT] = { 2, 0, 1, { RULE(1, -1, -1, 2, 0, 0, TSR_WAVELET_MAXIMUM, 1, 1), RULE(0, 1, -1, 2, 0, 0, TSR_WAVELET_MAXIMUM0, 1, 1) } },
    [TSR_WAVELET_ADAPTIVE53] = { 2, 1, 1.4142135623730951, { STEP(1, -1, -1, 2, 1, 1, 1, 1), RULE(0, 1, -1, 2, 2, 2, TSR_WAVELET_ADAPTIVE, 1, 1) } },
};

static int is_named(tsr_wavelet_filter filter) { return (unsigned)filter < TSR_WAVELET_FILTERS && filter != TSR_WAVELET_CUSTOM; }

const char *tsr_wavelet_filter_name(tsr_wavelet_filter filter) { return (unsigned)filter < TSR_WAVELET_FILTERS ? filter_names[filter] : NULL; }
const char *tsr_wavelet_boundary_name(tsr_wavelet_boundary b) { return (unsigned)b < TSR_WAVELET_BOUNDARIES ? boundary_names[b] : NULL; }
const char *tsr_wavelet_layout_name(tsr_wavelet_layout layout) { return (unsigned)layout < TSR_WAVELET_LAYOUTS ? layout_names[layout] : NULL; }

tsr_status tsr_wavelet_filter_parse(const char *name, tsr_wavelet_filter *filter)
{
    TSR_NEEDS(filter);
    for (int f = 0; name && f < TSR_WAVELET_FILTERS; f++)
        if (is_named((tsr_wavelet_filter)f) && !strcmp(name, filter_names[f])) {
            *filter = (tsr_wavelet_filter)f;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet filter '%.40s': expected one of legall53 haar dd97 dd137 daub97 fidelity jpeg53 minhaar maxlift adaptive53",
             name ? name : "(null)");
}

int32_t tsr_wavelet_filter_steps(tsr_wavelet_filter filter, tsr_wavelet_step steps[TSR_WAVELET_STEPS], double *scale)
{
    if (!is_named(filter)) return 0;
    if (steps) memcpy(steps, filters[filter].steps, (size_t)filters[filter].count * sizeof *steps);
    if (scale) *scale = filters[filter].scale;
    return filters[filter].count;
}

int32_t tsr_lift_dirac_bits(tsr_wavelet_filter filter) { return (unsigned)filter < TSR_WAVELET_FILTERS ? filters[filter].dirac_bits : 0; }

/* ---- custom steps ------------------------------------------------------------------------------------------------------------------------- */

static double real_tap(const tsr_wavelet_step *s, int k)
{
    for (int i = 0; i < s->count; i++)
        if (s->real[i] != 0.0) return s->real[k];
    return ldexp((double)s->tap[k], -s->shift);
}

static tsr_status check_step(const tsr_wavelet_step *s, int32_t number)
{
    if (s->parity != 0 && s->parity != 1) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: parity is %d, expected 0 or 1", number, s->parity);
    if (s->sign != 1 && s->sign != -1) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: sign is %d, expected 1 or -1", number, s->sign);
    if (s->count < 1 || s->count > TSR_WAVELET_TAPS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: count is %d, expected 1 to %d taps", number, s->count, TSR_WAVELET_TAPS);
    if (!(s->first & 1) || s->first < -15 || s->first > 15 || s->first + 2 * (s->count - 1) > 15)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: %d taps from offset %d, expected odd offsets within -15 to 15", number, s->count, s->first);
    if (s->shift < 0 || s->shift > 30) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: shift is %d, expected 0 to 30", number, s->shift);
    if ((unsigned)s->rule >= TSR_WAVELET_RULES)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: rule is %d, expected a tsr_wavelet_rule", number, (int)s->rule);
    if (!(s->threshold >= 0 && s->threshold < 1e300))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: threshold is %g, expected 0 or more", number, s->threshold);
    for (int k = 0; k < s->count; k++)
        if (!isfinite(s->real[k]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: real tap %d is %g, expected a finite number", number, k, s->real[k]);
    return TSR_OK;
}

tsr_status tsr_lift_check(const tsr_wavelet_step *steps, int32_t count, tsr_dtype dtype, int32_t shift)
{
    const double accumulator = dtype == TSR_I16 ? 0x1p31 : 0x1p63;
    double largest[2] = { dtype == TSR_I16 ? ldexp(1, 15 + shift) : 0x1p31, 0 }; /* of the samples of a parity so far */
    largest[1] = largest[0];
    for (int32_t n = 0; n < count; n++) {
        const tsr_wavelet_step *s = &steps[n];
        TSR_TRY(check_step(s, n));
        if (n && s->parity == steps[n - 1].parity)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: parity is %d as of the step before, expected steps that alternate", n, s->parity);
        if (dtype == TSR_F32 || dtype == TSR_F64) continue;
        double sum = fabs((double)s->rounding) + ldexp(1, s->shift); /* the latter where the sign is in the taps: march.h */
        for (int k = 0; k < s->count; k++) sum += fabs((double)s->tap[k]) * largest[!s->parity];
        if (sum >= accumulator)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: the sum of its taps can reach %.3g for %s samples, expected less than %.3g", n, sum,
                     tsr_dtype_name(dtype), accumulator);
        if (dtype == TSR_I16) largest[s->parity] += ldexp(sum, -s->shift); /* i32 values wrap */
        if (dtype == TSR_I16 && largest[s->parity] >= 0x1p31)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: values of i16 samples can reach %.3g, expected less than 2^31", n, largest[s->parity]);
    }
    return TSR_OK;
}

/* ---- steps as text --------------------------------------------------------------------------------------------------------------------------- */

/* The next word of a step; 0 at its end. */
static size_t next_word(const char **at, const char **word)
{
    *at += strspn(*at, " \t\r");
    if (!**at || strchr(";\n#", **at)) return 0;
    *word = *at;
    const size_t n = strcspn(*at, " \t\r\n;#");
    *at += n;
    return n;
}

static tsr_status take_number(const char **at, int32_t number, const char *what, int whole, double *value)
{
    const char *word = "";
    const size_t n = next_word(at, &word);
    char text[64], *end = text;
    snprintf(text, sizeof text, "%.*s", (int)(n < 63 ? n : 63), word);
    *value = tsr_number_parse(text, &end);
    if (!n || n > 62 || *end || !isfinite(*value) || (whole && (*value != floor(*value) || fabs(*value) > INT32_MAX)))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: %s is '%.40s', expected a %snumber", number, what, text, whole ? "whole " : "");
    return TSR_OK;
}

static tsr_status take_rule(const char **at, int32_t number, tsr_wavelet_step *s)
{
    const char *word = "";
    const size_t n = next_word(at, &word), name = n && memchr(word, ':', n) ? (size_t)((const char *)memchr(word, ':', n) - word) : n;
    for (int r = 0; r < TSR_WAVELET_RULES; r++) {
        if (strlen(rule_names[r]) != name || strncmp(word, rule_names[r], name) != 0 || (name < n) != (r == TSR_WAVELET_ADAPTIVE)) continue;
        const char *rest = word + name + 1;
        s->rule = (tsr_wavelet_rule)r;
        if (name < n) TSR_TRY(take_number(&rest, number, "threshold", 0, &s->threshold));
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: rule is '%.*s', expected sum, max, min, max0, min0 or adaptive:THRESHOLD", number,
             (int)(n < 40 ? n : 40), word);
}

static tsr_status parse_step(const char **at, int32_t number, tsr_wavelet_step *s)
{
    static const char *const names[] = { "parity", "sign", "first offset", "rounding", "shift" };
    double value[5];
    const char *word, *line = *at;
    int real = 0;
    *s = (tsr_wavelet_step){ .parity = 0 };
    for (int k = 0; k < 5; k++) TSR_TRY(take_number(at, number, names[k], 1, &value[k]));
    s->parity = (int32_t)value[0];
    s->sign = (int32_t)value[1];
    s->first = (int32_t)value[2];
    s->rounding = (int32_t)value[3];
    s->shift = (int32_t)value[4];
    TSR_TRY(take_rule(at, number, s));
    for (const char *taps = line = *at; next_word(&taps, &word);) real |= memchr(word, '.', (size_t)(taps - word)) != NULL;
    for (const char *more = *at; next_word(&more, &word); more = *at) {
        double tap;
        if (s->count == TSR_WAVELET_TAPS) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: step %d: more than %d taps", number, (int)TSR_WAVELET_TAPS);
        TSR_TRY(take_number(at, number, "a tap", !real, &tap));
        if (real) s->real[s->count++] = tap;
        else s->tap[s->count++] = (int32_t)tap;
    }
    (void)line;
    return check_step(s, number);
}

tsr_status tsr_wavelet_steps_parse(const char *text, tsr_wavelet_step steps[TSR_WAVELET_STEPS], int32_t *count)
{
    TSR_NEEDS(text);
    const char *at = text, *word;
    *count = 0;
    while (*at) {
        const char *look = at;
        if (next_word(&look, &word)) {
            if (*count == TSR_WAVELET_STEPS) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: more than %d steps", (int)TSR_WAVELET_STEPS);
            TSR_TRY(parse_step(&at, *count, &steps[*count]));
            ++*count;
        } else at = look;
        if (*at == '#') at += strcspn(at, "\n");
        if (*at) at++;
    }
    if (!*count) TSR_FAIL(TSR_ERROR_ARGUMENT, "wavelet: no step in '%.40s', expected PARITY SIGN FIRST ROUNDING SHIFT RULE TAP...", text);
    return TSR_OK;
}

void tsr_wavelet_steps_print(const tsr_wavelet_step *steps, int32_t count, char *text, size_t bytes)
{
    size_t used = 0;
    if (bytes) *text = 0;
    for (int32_t n = 0; n < count; n++) {
        const tsr_wavelet_step *s = &steps[n];
        char word[64];
        int real = 0;
        for (int k = 0; k < s->count; k++) real |= s->real[k] != 0.0;
        for (int k = -1; k < s->count && used < bytes; k++) {
            if (k < 0 && s->rule == TSR_WAVELET_ADAPTIVE) tsr_print(word, sizeof word, "adaptive:%.17g", s->threshold);
            else if (k < 0) snprintf(word, sizeof word, "%s", rule_names[s->rule]);
            else if (real) tsr_print(word, sizeof word, s->real[k] == floor(s->real[k]) && fabs(s->real[k]) < 1e15 ? "%.1f" : "%.17g", s->real[k]);
            else snprintf(word, sizeof word, "%d", s->tap[k]);
            if (k < 0)
                used += (size_t)snprintf(text + used, bytes - used, "%s%d %d %d %d %d %s", n ? "; " : "", s->parity, s->sign, s->first, s->rounding,
                                         s->shift, word);
            else used += (size_t)snprintf(text + used, bytes - used, " %s", word);
        }
    }
}

/* ---- preparation ---------------------------------------------------------------------------------------------------------------------------- */

static void prepare_step(const tsr_wavelet_step *s, int32_t sign, tsr_lift_step *p)
{
    int32_t last = s->first + 2 * (s->count - 1);
    *p = (tsr_lift_step){
        .parity = s->parity, .first = s->first, .count = s->count, .sign = sign * s->sign, .rounding = s->rounding, .shift = s->shift
    };
    p->rule = (int32_t)s->rule;
    p->threshold = s->threshold;
    p->reach = abs(s->first) > abs(last) ? abs(s->first) : abs(last);
    p->unit = 1;
    p->symmetric = s->first == -last && s->count > 1 && (s->count & (s->count - 1)) == 0;
    for (int k = 0; k < s->count; k++) {
        p->tap[k] = s->tap[k];
        p->real[k] = real_tap(s, k) * (p->rule ? 1 : p->sign);
        p->real32[k] = (float)p->real[k];
        if (s->tap[k] != 1) p->unit = 0;
        if (s->tap[k] != s->tap[s->count - 1 - k] || real_tap(s, k) != real_tap(s, s->count - 1 - k)) p->symmetric = 0;
    }
}

void tsr_lift_prepare(const tsr_wavelet_step *steps, int32_t count, tsr_lift_filter *forward, tsr_lift_filter *inverse)
{
    *forward = *inverse = (tsr_lift_filter){ .steps = count };
    for (int32_t n = 0; n < count; n++) {
        prepare_step(&steps[n], 1, &forward->step[n]);
        prepare_step(&steps[n], -1, &inverse->step[count - 1 - n]);
        forward->reach += forward->step[n].reach;
        if (steps[n].rule != TSR_WAVELET_SUM) forward->nonlinear = inverse->nonlinear = 1;
    }
    forward->reach = inverse->reach = (forward->reach + 1) / 2 * 2;
}

/* ---- gains: the filters behind the steps, as rows of numbers ---------------------------------------------------------------------------------- */

enum { HALF = 128, WIDTH = 2 * HALF }; /* custom steps reach 15 samples each, 8 of them 120 */

/* Steps over `from` (samples HALF is number 0), all that have their neighbours. */
static void lift_real(const tsr_wavelet_step *steps, int32_t count, int inverse, double *x)
{
    for (int32_t n = 0; n < count; n++) {
        const tsr_wavelet_step *s = &steps[inverse ? count - 1 - n : n];
        if (s->rule != TSR_WAVELET_SUM && s->rule != TSR_WAVELET_ADAPTIVE) continue;
        for (int k = 0; k < s->count; k++) { /* tap by tap: a step reads no sample that it writes */
            const double tap = (inverse ? -1 : 1) * s->sign * real_tap(s, k);
            for (int i = s->parity; i < WIDTH; i += 2) {
                const int j = i + s->first + 2 * k;
                if (j >= 0 && j < WIDTH) x[i] += tap * x[j];
            }
        }
    }
}

/* Analysis filter: row of the transform that makes coefficient 0 (low: sample 0, high: sample 1), at [HALF + offset]. */
static void analysis(const tsr_wavelet_step *steps, int32_t count, int high, double *h)
{
    for (int i = 0; i < WIDTH; i++) {
        double x[WIDTH] = { 0 };
        x[i] = 1;
        lift_real(steps, count, 0, x);
        h[i] = x[HALF + high];
    }
}

static void synthesis(const tsr_wavelet_step *steps, int32_t count, int high, double *h)
{
    memset(h, 0, WIDTH * sizeof *h);
    h[HALF + high] = 1;
    lift_real(steps, count, 1, h);
}

static double l1(const double *v, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += fabs(v[i]);
    return sum;
}

/* Drops zeros at both ends; returns how many numbers remain. */
static int trim(const double **filter)
{
    int n = WIDTH;
    while (n > 1 && **filter == 0.0) {
        ++*filter;
        n--;
    }
    while (n > 1 && (*filter)[n - 1] == 0.0) n--;
    return n;
}

/* out[i] = sum of filter[m] in[(i - m) / 2] */
static void upsample(const double *in, int64_t n, const double *filter, int taps, double *out)
{
    memset(out, 0, (size_t)(2 * n + taps) * sizeof *out);
    for (int64_t i = 0; i < n; i++)
        for (int m = 0; m < taps; m++) out[2 * i + m] += in[i] * filter[m];
}

enum { DEEPEST = 12 }; /* levels computed; the gain per level is settled long before */

/* The chain of `level` filters, the last (coarsest) being `last`, the others `low`: l1 or l2 norm. Analysis and synthesis chains have one shape. */
static double chain(const double *low, const double *last, int32_t level, int power)
{
    int32_t deep = level < DEEPEST ? level : DEEPEST;
    int taps = trim(&low), n0 = trim(&last);
    int64_t room = ((int64_t)(taps + n0) << deep) + WIDTH, n = n0;
    double *a = (double *)calloc((size_t)(2 * room), sizeof *a), result = 0;
    if (!a) return 0;
    double *b = a + room;
    memcpy(a, last, (size_t)n0 * sizeof *a);
    for (int32_t l = 1; l < deep; l++) {
        upsample(a, n, low, taps, b);
        n = 2 * n + taps;
        double *t = a;
        a = b;
        b = t;
    }
    if (power == 1) result = l1(a, n);
    else {
        for (int64_t i = 0; i < n; i++) result += a[i] * a[i];
        result = sqrt(result);
    }
    free(a < b ? a : b);
    double gain = 0; /* what each further level does to the norm: the DC gain of the low filter; for l2 of twice as many samples */
    for (int i = 0; i < taps; i++) gain += low[i];
    if (power == 2) gain /= 1.4142135623730951;
    return level > deep ? result * pow(gain, level - deep) : result;
}

double tsr_lift_norm(const tsr_wavelet_step *steps, int32_t count, int32_t level, int high)
{
    double low[WIDTH], last[WIDTH];
    synthesis(steps, count, 0, low);
    synthesis(steps, count, high, last);
    return level < 1 ? 1 : chain(low, last, level, 2);
}

double tsr_wavelet_norm(tsr_wavelet_filter filter, int32_t level, int high)
{
    if (!is_named(filter)) return 0;
    return tsr_lift_norm(filters[filter].steps, filters[filter].count, level, high != 0);
}

/* Greatest finished value for samples up to 1, step by step: no sum adds more than all of its weights, no maximum or minimum more than the largest. */
static double largest_value(const tsr_wavelet_step *steps, int32_t count)
{
    double largest[2] = { 1, 1 };
    for (int32_t n = 0; n < count; n++) {
        const int sum = steps[n].rule == TSR_WAVELET_SUM || steps[n].rule == TSR_WAVELET_ADAPTIVE;
        double most = 0;
        for (int k = 0; k < steps[n].count; k++) {
            const double tap = fabs(real_tap(&steps[n], k));
            most = sum ? most + tap : fmax(most, tap);
        }
        largest[steps[n].parity] += most * largest[!steps[n].parity];
    }
    return fmax(largest[0], largest[1]);
}

static int is_linear(const tsr_wavelet_step *steps, int32_t count)
{
    for (int32_t n = 0; n < count; n++)
        if (steps[n].rule != TSR_WAVELET_SUM) return 0;
    return 1;
}

int32_t tsr_wavelet_safe_bits(tsr_wavelet_filter filter, int32_t levels, int32_t dimensions, int32_t accuracy)
{
    if (!is_named(filter) || levels < 0 || dimensions < 1) return 0;
    int32_t shift = accuracy < 0 ? 0 : accuracy ? accuracy : filters[filter].dirac_bits, bits = 16;
    double low[WIDTH], high[WIDTH];
    analysis(filters[filter].steps, filters[filter].count, 0, low);
    analysis(filters[filter].steps, filters[filter].count, 1, high);
    for (int32_t l = 1; l <= levels && l < 32; l++) {
        double gain = is_linear(filters[filter].steps, filters[filter].count) ? fmax(chain(low, low, l, 1), chain(low, high, l, 1))
                                                                              : pow(largest_value(filters[filter].steps, filters[filter].count), l);
        double widest = pow(gain, dimensions) * ldexp(1, shift * l); /* x <= 2^(B-1) must stay below 2^15 */
        while (bits > 0 && ldexp(widest, bits - 1) >= 32768) bits--;
    }
    return bits;
}

int32_t tsr_wavelet_levels_possible(int32_t dimensions, const int64_t *size, uint32_t axes)
{
    int32_t levels = 0;
    for (int32_t a = 0; a < dimensions; a++) {
        int32_t own = 0;
        for (int64_t n = size[a]; n > 1 && (!axes || axes >> a & 1); n = (n + 1) / 2) own++;
        if (own > levels) levels = own;
    }
    return levels;
}
