/* video/multiview/mvv_bisk.c: one text for both directions. */
#include "video/multiview/mvv_bisk.h"

#include <stdlib.h>

#include "compress/binary_coder.h"

/* ---- sets ------------------------------------------------------------------------------------------------------------------------------------- */

static int64_t relevant(const tsr_bisk_tree *t, int32_t u0, int32_t v0, int32_t u1, int32_t v1)
{
    const int64_t row = (int64_t)t->width + 1;
    return (int64_t)t->sums[v1 * row + u1] - t->sums[v0 * row + u1] - t->sums[v1 * row + u0] + t->sums[v0 * row + u0];
}

/* Adds the set of what is relevant in a rectangle; its number, -1: nothing is, -2: no memory. */
static int32_t add_set(tsr_bisk_tree *t, int32_t u0, int32_t v0, int32_t u1, int32_t v1, int depth, int shift)
{
    const int64_t all = u1 > u0 && v1 > v0 ? relevant(t, u0, v0, u1, v1) : 0;
    if (!all) return -1;
    if (all < (int64_t)(u1 - u0) * (v1 - v0)) { /* shrink: each side is found by bisection */
        int32_t low = v0, high = v1 - 1;
        while (low < high) {
            const int32_t middle = (low + high) / 2;
            if (relevant(t, u0, v0, u1, middle + 1)) high = middle;
            else low = middle + 1;
        }
        v0 = low;
        for (low = v0 + 1, high = v1; low < high;) {
            const int32_t middle = (low + high) / 2;
            if (relevant(t, u0, middle, u1, v1)) low = middle + 1;
            else high = middle;
        }
        v1 = low;
        for (low = u0, high = u1 - 1; low < high;) {
            const int32_t middle = (low + high) / 2;
            if (relevant(t, u0, v0, middle + 1, v1)) high = middle;
            else low = middle + 1;
        }
        u0 = low;
        for (low = u0 + 1, high = u1; low < high;) {
            const int32_t middle = (low + high) / 2;
            if (relevant(t, middle, v0, u1, v1)) low = middle + 1;
            else high = middle;
        }
        u1 = low;
    }
    if (t->sets == t->room) {
        const int64_t room = t->room ? 2 * t->room : 4096;
        tsr_bisk_set *grown = (tsr_bisk_set *)realloc(t->set, (size_t)room * sizeof *grown);
        if (!grown) return -2;
        t->set = grown;
        t->room = room;
    }
    t->set[t->sets] = (tsr_bisk_set){ (uint16_t)u0, (uint16_t)v0, (uint16_t)u1, (uint16_t)v1, { -2, -2 }, (uint8_t)depth, 0, (uint8_t)shift };
    return (int32_t)t->sets++;
}

static int is_single(const tsr_bisk_set *s) { return s->u1 - s->u0 == 1 && s->v1 - s->v0 == 1; }

/* Finds the halves of a set of more than one coefficient, along its longer side, u if both are alike; the first half is the longer one. 0 without
 * memory. */
static int split(tsr_bisk_tree *t, int32_t k)
{
    const tsr_bisk_set s = t->set[k];
    if (s.half[0] != -2) return 1;
    const int32_t w = s.u1 - s.u0, h = s.v1 - s.v0, along_u = w >= h, middle = along_u ? s.u0 + (w + 1) / 2 : s.v0 + (h + 1) / 2;
    const int32_t a = add_set(t, s.u0, s.v0, along_u ? middle : s.u1, along_u ? s.v1 : middle, s.depth + 1, s.shift);
    const int32_t b = add_set(t, along_u ? middle : s.u0, along_u ? s.v0 : middle, s.u1, s.v1, s.depth + 1, s.shift);
    if (a == -2 || b == -2) return 0;
    t->set[k].half[0] = a;
    t->set[k].half[1] = b;
    return 1;
}

tsr_status tsr_bisk_tree_make(tsr_bisk_tree *t, int32_t width, int32_t height, int32_t levels, const uint8_t *mask, int weighted)
{
    const int64_t row = (int64_t)width + 1;
    if (t->width != width || t->height != height) {
        free(t->sums);
        t->sums = (int32_t *)calloc((size_t)(row * (height + 1)), sizeof *t->sums);
        t->width = t->sums ? width : 0;
        t->height = height;
    }
    if (!t->sums) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a texture of %d x %d", width, height);
    for (int32_t v = 0; v < height; v++) {
        int32_t sum = 0;
        for (int32_t u = 0; u < width; u++) {
            sum += mask[(int64_t)v * width + u];
            t->sums[(v + 1) * row + u + 1] = t->sums[v * row + u + 1] + sum;
        }
    }
    t->sets = 0;
    t->roots = 0;
    t->weighted = weighted;
    int32_t w = width, h = height, k = 0; /* coarse bands are added last and coded first */
    for (int32_t level = 0; level <= levels; level++) {
        const int32_t lw = (w + 1) / 2, lh = (h + 1) / 2, last = level == levels;
        const int32_t band[3][4] = { { lw, 0, w, lh }, { 0, lh, lw, h }, { lw, lh, w, h } };
        for (int b = 2; b >= 0; b--) {
            if (last && b) continue;
            const int shift = !weighted ? 0 : last ? level + 1 : level + (b < 2); /* HH counts half as much as HL and LH, LL twice as much */
            k = last ? add_set(t, 0, 0, w, h, 0, shift) : add_set(t, band[b][0], band[b][1], band[b][2], band[b][3], 0, shift);
            if (k == -2) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for sets of coefficients");
            if (k >= 0) t->root[t->roots++] = k;
        }
        w = lw;
        h = lh;
    }
    return TSR_OK;
}

void tsr_bisk_tree_free(tsr_bisk_tree *t)
{
    free(t->sums);
    free(t->set);
    memset(t, 0, sizeof *t);
}

void tsr_bisk_coder_free(tsr_bisk_coder *c)
{
    for (int d = 0; d < TSR_BISK_DEPTHS; d++) free(c->list[d].item);
    free(c->found.item);
    free(c->value.item);
    free(c->shift.item);
    free(c->significant);
    memset(c, 0, sizeof *c);
}

/* Planes of the greatest magnitude in each set, halves first; -1 without memory. */
static int measure(tsr_bisk_tree *t, const int32_t *value, int32_t k)
{
    int planes = 0;
    if (is_single(t->set + k)) {
        const int32_t v = value[(int64_t)t->set[k].v0 * t->width + t->set[k].u0];
        planes = v ? tsr_mvv_scale((uint32_t)(v < 0 ? -v : v)) + t->set[k].shift : 0;
    } else {
        if (!split(t, k)) return -1;
        for (int h = 0; h < 2; h++) {
            const int32_t half = t->set[k].half[h];
            const int below = half < 0 ? 0 : measure(t, value, half);
            if (below < 0) return -1;
            planes = below > planes ? below : planes;
        }
    }
    t->set[k].planes = (uint8_t)planes;
    return planes;
}

static int32_t measure_all(tsr_bisk_tree *t, const int32_t *value)
{
    int32_t planes = 0;
    for (int32_t k = 0; k < t->roots; k++) {
        const int below = measure(t, value, t->root[k]);
        if (below < 0) return -1;
        planes = below > planes ? below : planes;
    }
    return planes;
}

int32_t tsr_bisk_coarse(tsr_bisk_tree *t, const int32_t *value, int32_t missing, int32_t *coarse)
{
    for (int32_t k = 0; k < t->roots; k++) {
        const tsr_bisk_set s = t->set[t->root[k]];
        const int32_t plane = missing - s.shift;
        for (int32_t v = s.v0; v < s.v1; v++)
            for (int32_t u = s.u0; u < s.u1; u++) {
                const int64_t at = (int64_t)v * t->width + u;
                const uint32_t size = tsr_mvv_size_of(value[at]);
                const int32_t taken = plane <= 0 ? (int32_t)size : size >> plane ? (int32_t)tsr_mvv_middle(size, plane) : 0;
                coarse[at] = value[at] < 0 ? -taken : taken;
            }
    }
    return measure_all(t, value);
}

/* ---- coding ------------------------------------------------------------------------------------------------------------------------------------ */

enum { SIZES = 32, SET_MODELS = 3 * SIZES, SINGLE_MODELS = 3 * 5, MODELS = SET_MODELS + SINGLE_MODELS + 1 + 4, LEARNS = 180 };
enum { FROM_LIST = 0, FIRST_HALF, SECOND_HALF };

typedef struct work {
    tsr_bisk_coder *c;
    tsr_bisk_tree *t;
    tsr_coder coder;
    tsr_bit model[MODELS];
    const int32_t *value; /* encoder */
    int32_t plane;
    int64_t limit; /* decoder: bytes there are; encoder: bytes there may be */
    int stop, failed;
    double gain;
} work;

TSR_ALWAYS_INLINE uint32_t chance(tsr_bit b)
{
    const uint32_t p = b >> 16;
    return p < 48 ? 48 : p > 65488 ? 65488 : p;
}

TSR_ALWAYS_INLINE int code(work *w, int model, int bit, const int decoding)
{
    bit = tsr_code_bit(&w->coder, chance(w->model[model]), bit, decoding);
    tsr_bit_learn(w->model + model, bit, LEARNS);
    if (decoding && (int64_t)w->coder.used > w->limit) w->stop = 1; /* it hangs on bytes that are not there */
    if (!decoding && (int64_t)tsr_coder_needed(&w->coder) > w->limit) w->stop = 1;
    return bit;
}

static inline uint8_t *significant_at(const work *w, uint32_t u, uint32_t v)
{
    return w->c->significant + ((int64_t)v + 1) * (w->t->width + 2) + u + 1;
}

/* Significant coefficients around, 0 to 4 and more. */
static inline int around(const work *w, uint32_t u, uint32_t v)
{
    const uint8_t *s = significant_at(w, u, v);
    const int64_t row = w->t->width + 2;
    const int sum = s[-1] + s[1] + s[-row] + s[row] + s[-row - 1] + s[-row + 1] + s[row - 1] + s[row + 1];
    return sum > 4 ? 4 : sum;
}

static inline int size_class(const tsr_bisk_set *s) { return tsr_mvv_scale((uint32_t)(s->u1 - s->u0) * (uint32_t)(s->v1 - s->v0)) - 1; }

/* A coefficient found: sign, and its value in the middle of what it may be. */
TSR_ALWAYS_INLINE void find(work *w, const tsr_bisk_set *s, const int decoding)
{
    const int64_t at = (int64_t)s->v0 * w->t->width + s->u0;
    const int32_t v = decoding ? 0 : w->value[at];
    const int negative = code(w, SET_MODELS + SINGLE_MODELS, v < 0, decoding);
    if (w->stop) return;
    const uint32_t guess = tsr_mvv_first_value(w->plane - s->shift, 0);
    if (!decoding) {
        const double size = v < 0 ? -(double)v : v, left = size - (double)guess;
        w->gain += size * size - left * left;
    }
    *significant_at(w, s->u0, s->v0) = 1;
    w->failed |= !tsr_mvv_list_add(&w->c->found, (uint32_t)at) || !tsr_mvv_list_add(&w->c->value, guess | (uint32_t)negative << 31);
    if (w->t->weighted) w->failed |= !tsr_mvv_list_add(&w->c->shift, s->shift);
}

/* Is the set significant? `known`: it is, nothing is coded. Then it is split at once. Recursion as deep as sets are split: 2 * 14 and some. */
static int visit(work *w, int32_t k, int kind, int known, int decoding)
{
    tsr_bisk_set s = w->t->set[k];
    const int single = is_single(&s);
    int bit = decoding ? 0 : s.planes > w->plane;
    if (w->stop || w->failed) return 0;
    if (!known) {
        const int model = single ? SET_MODELS + 5 * kind + around(w, s.u0, s.v0) : SIZES * kind + size_class(&s);
        bit = decoding ? code(w, model, 0, 1) : code(w, model, bit, 0);
        if (w->stop) return 0;
    } else bit = 1;
    if (!bit) {
        w->failed |= !tsr_mvv_list_add(&w->c->list[s.depth], (uint32_t)k);
        return 0;
    }
    if (single) {
        if (decoding) find(w, &s, 1);
        else find(w, &s, 0);
        return 1;
    }
    if (!split(w->t, k)) {
        w->failed = 1;
        return 0;
    }
    const int32_t a = w->t->set[k].half[0], b = w->t->set[k].half[1];
    if (a < 0 || b < 0) visit(w, a < 0 ? b : a, FIRST_HALF, 1, decoding);
    else {
        const int first = visit(w, a, FIRST_HALF, 0, decoding);
        visit(w, b, SECOND_HALF, !first, decoding);
    }
    return 1;
}

/* Lists from the sets split most to whole bands. A set that stays insignificant goes back to its own list, behind those not yet seen. */
static void sorting(work *w, int decoding)
{
    for (int d = TSR_BISK_DEPTHS - 1; d >= 0; d--) {
        tsr_mvv_list *l = &w->c->list[d];
        const int64_t count = l->count;
        for (int64_t k = 0; k < count && !w->stop && !w->failed; k++) {
            const uint32_t set = l->item[k];
            if (w->t->set[set].shift > w->plane) w->failed |= !tsr_mvv_list_add(l, set); /* its coefficients have no bit here */
            else visit(w, (int32_t)set, FROM_LIST, 0, decoding);
        }
        if (l->count) memmove(l->item, l->item + count, (size_t)(l->count - count) * sizeof *l->item);
        l->count -= count;
    }
}

/* Values that were found before this plane; `young` of them in the plane before: their first refinement is another matter. */
static void refinement(work *w, int64_t older, int64_t count, int decoding)
{
    for (int64_t k = 0; k < count && !w->stop; k++) {
        const int32_t plane = w->plane - (w->t->weighted ? (int32_t)w->c->shift.item[k] : 0);
        if (plane < 0) continue;
        const uint32_t at = w->c->found.item[k], before = w->c->value.item[k];
        const int model = SET_MODELS + SINGLE_MODELS + 1 + 2 * (k < older) + (around(w, at % (uint32_t)w->t->width, at / (uint32_t)w->t->width) > 0);
        const int32_t v = decoding ? 0 : w->value[at];
        const uint32_t size = (uint32_t)(v < 0 ? -v : v);
        const int bit = decoding ? code(w, model, 0, 1) : code(w, model, (int)(size >> plane & 1), 0);
        if (w->stop) return;
        const uint32_t after = tsr_mvv_refined(before, plane, (uint32_t)bit);
        if (!decoding) {
            const double was = (double)size - (double)(before & ~(1u << 31)), is = (double)size - (double)(after & ~(1u << 31));
            w->gain += was * was - is * is;
        }
        w->c->value.item[k] = after;
    }
}

static void mark(work *w, int decoding)
{
    if (decoding || w->c->points == TSR_BISK_MOST_POINTS) return;
    w->c->point[w->c->points++] = (tsr_bisk_point){ 1 + (int64_t)tsr_coder_needed(&w->coder), w->gain };
}

static tsr_status begin(work *w, int32_t planes)
{
    tsr_bisk_coder *c = w->c;
    const int64_t room = ((int64_t)w->t->width + 2) * (w->t->height + 2);
    if (c->significant_room < room) {
        free(c->significant);
        c->significant = (uint8_t *)malloc((size_t)room);
        c->significant_room = c->significant ? room : 0;
        if (!c->significant) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a texture of %d x %d", w->t->width, w->t->height);
    }
    if (planes) memset(c->significant, 0, (size_t)room);
    for (int d = 0; d < TSR_BISK_DEPTHS; d++) c->list[d].count = 0;
    c->found.count = c->value.count = c->shift.count = 0;
    c->points = 0;
    for (int k = 0; k < MODELS; k++) w->model[k] = TSR_BIT_NEW;
    for (int32_t k = w->t->roots - 1; k >= 0; k--) w->failed |= !tsr_mvv_list_add(&c->list[0], (uint32_t)w->t->root[k]);
    return TSR_OK;
}

/* A weighted stream that was cut off in a plane: what was known before it, of `count` values. */
static void forget_plane(work *w, int64_t count)
{
    tsr_bisk_coder *c = w->c;
    for (int64_t k = 0; k < count; k++) {
        const int32_t plane = w->plane - (int32_t)c->shift.item[k];
        if (plane >= 0) c->value.item[k] = tsr_mvv_middle(c->value.item[k], plane + 1);
    }
    c->found.count = c->value.count = count;
}

/* needed: whole planes without which nothing counts. */
static tsr_status planes_of(work *w, int32_t planes, int32_t needed, int decoding)
{
    int64_t older = 0, count = 0;
    mark(w, decoding);
    for (w->plane = planes - 1; w->plane >= 0 && !w->stop && !w->failed; w->plane--) {
        sorting(w, decoding);
        if (!w->stop) mark(w, decoding);
        refinement(w, older, count, decoding);
        if (!w->stop && count) mark(w, decoding);
        if (w->stop && decoding && w->t->weighted) forget_plane(w, planes - 1 - w->plane < needed ? 0 : count);
        older = count;
        count = w->c->found.count;
    }
    if (w->failed || (!decoding && w->coder.failed)) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the lists of a stream");
    return TSR_OK;
}

tsr_status tsr_bisk_encode(tsr_bisk_coder *c, tsr_bisk_tree *t, const int32_t *value, int64_t budget, int32_t needed, uint8_t **bytes, int64_t *size)
{
    work *w = (work *)calloc(1, sizeof *w);
    const int64_t head = t->weighted ? 2 : 1;
    tsr_status status = TSR_OK;
    *bytes = NULL;
    *size = 0;
    if (!w) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    *w = (work){ .c = c, .t = t, .value = value, .limit = budget - head };
    tsr_coder_write(&w->coder);
    const int32_t planes = measure_all(t, value);
    w->failed |= planes < 0;
    status = begin(w, planes);
    if (status == TSR_OK) status = planes_of(w, planes, needed, 0);
    if (status == TSR_OK) {
        if (planes) tsr_coder_finish(&w->coder);
        *size = planes ? tsr_min64(tsr_max64(1, budget), head + (int64_t)w->coder.used) : 1;
        *bytes = (uint8_t *)malloc((size_t)*size);
        if (!*bytes || w->coder.failed) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for a stream");
        else {
            (*bytes)[0] = (uint8_t)planes;
            if (*size >= head && head > 1) (*bytes)[1] = (uint8_t)needed;
            if (*size > head) memcpy(*bytes + head, w->coder.bytes, (size_t)(*size - head));
        }
    }
    if (status != TSR_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    free(w->coder.bytes);
    free(w);
    return status;
}

tsr_status tsr_bisk_find(tsr_bisk_coder *c, tsr_bisk_tree *t, const uint8_t *bytes, int64_t size)
{
    const int64_t head = t->weighted ? 2 : 1;
    const int32_t planes = size > 0 ? bytes[0] : 0, needed = size >= head && head > 1 ? bytes[1] : 0;
    c->found.count = c->value.count = c->shift.count = 0;
    if (planes > TSR_BISK_MOST_PLANES) TSR_FAIL(TSR_ERROR_FORMAT, "a stream of %d bit planes, expected at most %d", planes, TSR_BISK_MOST_PLANES);
    if (!planes || size <= head) return TSR_OK;
    work *w = (work *)calloc(1, sizeof *w);
    if (!w) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory");
    *w = (work){ .c = c, .t = t, .limit = size - head };
    tsr_coder_read(&w->coder, bytes + head, (size_t)(size - head));
    tsr_status status = begin(w, planes);
    w->stop = (int64_t)w->coder.used > w->limit;
    if (status == TSR_OK) status = planes_of(w, planes, needed, 1);
    free(w);
    return status;
}

tsr_status tsr_bisk_decode(tsr_bisk_coder *c, tsr_bisk_tree *t, const uint8_t *bytes, int64_t size, int32_t *value)
{
    memset(value, 0, (size_t)t->width * (size_t)t->height * sizeof *value);
    TSR_TRY(tsr_bisk_find(c, t, bytes, size));
    for (int64_t k = 0; k < c->found.count; k++) value[c->found.item[k]] = tsr_mvv_signed(c->value.item[k]);
    return TSR_OK;
}
