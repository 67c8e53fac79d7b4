/* video/dirac/encoder/motion_search.c: vectors from coarse to fine: all places within a range on the coarsest level, then what the level above found for a
 * block and its neighbours, refined; on the finest level for superblocks, their quarters and their blocks, down to fractions of a sample. Rows of
 * blocks side by side; no row looks at another of its own level, so that results do not depend on threads. */
#include "video/dirac/encoder/motion_search.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "video/dirac/encoder/encoder_isa.h"

enum { M = TSR_SEARCH_MARGIN, B = TSR_SEARCH_BLOCK, STRIP = 16, WIDEST = 4 * TSR_DIRAC_BLOCK_MOST + TSR_DIRAC_BLOCK_MOST };

/* ---- pictures as bytes --------------------------------------------------------------------------------------------------------------------- */

void tsr_dirac_seen_free(tsr_dirac_seen *s)
{
    free(s->memory);
    *s = (tsr_dirac_seen){ 0 };
}

static tsr_status lay_out(tsr_dirac_seen *s, int32_t width, int32_t height)
{
    if (s->memory && s->width[0] == width && s->height[0] == height) return TSR_OK;
    tsr_dirac_seen_free(s);
    int64_t at[TSR_SEARCH_LEVELS + 3], bytes = 0;
    int32_t w = width, h = height;
    for (s->levels = 0; s->levels < TSR_SEARCH_LEVELS && (!s->levels || (w >= 2 * B && h >= 2 * B)); s->levels++) {
        const int32_t k = s->levels;
        s->width[k] = w;
        s->height[k] = h;
        s->stride[k] = (w + 2 * M + 63) / 64 * 64;
        for (int copy = 0; copy < (k ? 1 : 4); copy++) {
            at[k ? k + 3 : copy] = bytes + M * s->stride[k] + M;
            bytes += s->stride[k] * (h + 2 * M);
        }
        w /= 2;
        h /= 2;
    }
    s->bytes = bytes + 64;
    s->memory = (uint8_t *)malloc((size_t)s->bytes);
    if (!s->memory) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for the search of motion: %lld bytes", (long long)s->bytes);
    for (int k = 0; k < 4; k++) s->phase[k] = s->memory + at[k];
    for (int32_t k = 0; k < s->levels; k++) s->level[k] = s->memory + at[k ? k + 3 : 0];
    return TSR_OK;
}

typedef struct seen_job {
    tsr_dirac_seen *seen;
    const void *samples;
    int64_t stride;
    int32_t bytes, depth, level;
} seen_job;

static void extend_row(uint8_t *row, int32_t width)
{
    memset(row - M, row[0], M);
    memset(row + width, row[width - 1], M);
}

static void take_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const seen_job *j = (const seen_job *)user;
    const int32_t w = j->seen->width[0], shift = j->depth > 8 ? j->depth - 8 : 0, up = j->depth < 8 ? 8 - j->depth : 0;
    (void)worker;
    for (int64_t y = begin; y < end; y++) {
        uint8_t *to = j->seen->level[0] + y * j->seen->stride[0];
        if (j->bytes == 1) {
            const uint8_t *from = (const uint8_t *)j->samples + y * j->stride;
            if (!up) memcpy(to, from, (size_t)w);
            else
                for (int32_t x = 0; x < w; x++) to[x] = (uint8_t)(from[x] << up);
        } else if (j->bytes == 2) {
            const uint16_t *from = (const uint16_t *)j->samples + y * j->stride;
            for (int32_t x = 0; x < w; x++) to[x] = (uint8_t)(from[x] >> shift << up);
        } else {
            const int16_t *from = (const int16_t *)j->samples + y * j->stride;
            const int32_t half = 1 << (j->depth - 1);
            for (int32_t x = 0; x < w; x++) to[x] = (uint8_t)((from[x] + half) >> shift << up);
        }
        extend_row(to, w);
    }
}

static void halve_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const seen_job *j = (const seen_job *)user;
    const tsr_dirac_seen *s = j->seen;
    (void)worker;
    for (int64_t y = begin; y < end; y++) {
        const uint8_t *a = s->level[j->level - 1] + 2 * y * s->stride[j->level - 1], *b = a + s->stride[j->level - 1];
        uint8_t *to = s->level[j->level] + y * s->stride[j->level];
        for (int32_t x = 0; x < s->width[j->level]; x++) to[x] = (uint8_t)((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
        extend_row(to, s->width[j->level]);
    }
}

static void extend_columns(uint8_t *at, int64_t stride, int32_t height)
{
    for (int32_t k = 1; k <= M; k++) {
        memcpy(at - M - k * stride, at - M, (size_t)stride);
        memcpy(at - M + (height - 1 + k) * stride, at - M + (int64_t)(height - 1) * stride, (size_t)stride);
    }
}

/* Rows of phase 2 (half a sample down), then of 1 and 3 (right of 0 and 2), with their margins but for what the filter would read beyond these. */
static void phase_rows(void *user, int64_t begin, int64_t end, int worker)
{
    const seen_job *j = (const seen_job *)user;
    const tsr_dirac_seen *s = j->seen;
    const int64_t stride = s->stride[0];
    const int32_t w = s->width[0] + 2 * M;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int64_t at = (k - M) * stride - M;
        if (j->level == 0) {
            if (k < 4 || k >= s->height[0] + 2 * M - 4) memcpy(s->phase[2] + at, s->phase[0] + at, (size_t)w);
            else TSR_ISA_SELECT(tsr_dirac_half_bytes)(s->phase[0] + at, stride, w, s->phase[2] + at);
        } else
            for (int phase = 1; phase < 4; phase += 2) {
                uint8_t *to = s->phase[phase] + at;
                const uint8_t *from = s->phase[phase - 1] + at;
                memset(to, from[0], 4);
                memset(to + w - 4, from[w - 1], 4);
                TSR_ISA_SELECT(tsr_dirac_half_bytes)(from + 4, 1, w - 8, to + 4);
            }
    }
}

tsr_status tsr_dirac_seen_make(tsr_dirac_seen *s, const void *samples, int64_t stride, int32_t bytes, int32_t depth, int32_t width, int32_t height,
                               int with_phases, int32_t threads)
{
    TSR_TRY(lay_out(s, width, height));
    seen_job job = { s, samples, stride, bytes, depth, 0 };
    tsr_parallel(threads, height, 16, take_rows, &job);
    extend_columns(s->level[0], s->stride[0], height);
    for (job.level = 1; job.level < s->levels; job.level++) {
        tsr_parallel(threads, s->height[job.level], 16, halve_rows, &job);
        extend_columns(s->level[job.level], s->stride[job.level], s->height[job.level]);
    }
    for (job.level = 0; job.level < 2 && with_phases; job.level++) tsr_parallel(threads, height + 2 * M, 16, phase_rows, &job);
    const int32_t top = s->levels - 1;
    uint64_t sum = 0;
    for (int32_t y = 0; y < s->height[top]; y++)
        for (int32_t x = 0; x < s->width[top]; x++) sum += s->level[top][y * s->stride[top] + x];
    s->mean = (double)sum / ((double)s->width[top] * s->height[top]);
    return TSR_OK;
}

/* ---- memory -------------------------------------------------------------------------------------------------------------------------------- */

void tsr_dirac_search_free(tsr_dirac_search *s)
{
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < TSR_SEARCH_LEVELS; k++) {
            free(s->field[r][k]);
            s->field[r][k] = NULL;
        }
    free(s->units);
    s->units = NULL;
}

tsr_status tsr_dirac_search_make(tsr_dirac_search *s, const tsr_dirac_seen *source, const tsr_dirac_prediction *p)
{
    tsr_dirac_search_free(s);
    for (int32_t k = 0; k < source->levels; k++) {
        s->columns[k] = k ? (source->width[k] + B - 1) / B : p->blocks_x;
        s->rows[k] = k ? (source->height[k] + B - 1) / B : p->blocks_y;
        for (int r = 0; r < 2; r++) {
            s->field[r][k] = (int16_t *)calloc((size_t)s->columns[k] * (size_t)s->rows[k], 2 * sizeof(int16_t));
            if (!s->field[r][k]) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for vectors");
        }
    }
    s->units = (tsr_dirac_found *)calloc((size_t)p->blocks_x / 4 * (size_t)p->blocks_y / 4, TSR_SEARCH_UNITS * sizeof *s->units);
    if (!s->units) TSR_FAIL(TSR_ERROR_MEMORY, "no memory for blocks");
    return TSR_OK;
}

/* ---- coarse levels: whole samples ---------------------------------------------------------------------------------------------------------- */

typedef struct field_job {
    tsr_dirac_search *s;
    int r, level;
} field_job;

/* A block of one level while places for it are tried. */
typedef struct trial {
    const uint8_t *source, *reference; /* at its corner; the reference at the same place */
    int64_t stride, reference_stride;
    tsr_dirac_part part;
    int32_t width, height; /* of the level */
    int32_t lambda, expected[2];
    int32_t vector[2], cost;
} trial;

static void try_vector(trial *t, int32_t vx, int32_t vy)
{
    if (t->part.x + vx < -M || t->part.y + vy < -M || t->part.x + t->part.w + vx > t->width + M || t->part.y + t->part.h + vy > t->height + M) return;
    int32_t cost = (t->lambda * (tsr_dirac_vector_bits(vx - t->expected[0]) + tsr_dirac_vector_bits(vy - t->expected[1]))) >> 4;
    if (cost >= t->cost) return;
    cost += TSR_ISA_SELECT(tsr_dirac_difference)(t->source, t->stride, t->reference + vy * t->reference_stride + vx, t->reference_stride, t->part.w,
                                                 t->part.h);
    if (cost >= t->cost) return;
    t->cost = cost;
    t->vector[0] = vx;
    t->vector[1] = vy;
}

static void refine(trial *t, int32_t steps, int32_t around)
{
    static const int32_t places[8][2] = { { 0, -1 }, { -1, 0 }, { 1, 0 }, { 0, 1 }, { -1, -1 }, { 1, -1 }, { -1, 1 }, { 1, 1 } };
    for (int32_t step = 0; step < steps; step++) {
        const int32_t x = t->vector[0], y = t->vector[1];
        for (int32_t k = 0; k < around; k++) try_vector(t, x + places[k][0], y + places[k][1]);
        if (t->vector[0] == x && t->vector[1] == y) return;
    }
}

static trial begin_trial(const tsr_dirac_search *s, int r, int32_t level, tsr_dirac_part part)
{
    const tsr_dirac_seen *a = s->source, *b = s->reference[r];
    return (trial){ .source = a->level[level] + part.y * a->stride[level] + part.x,
                    .reference = b->level[level] + part.y * b->stride[level] + part.x,
                    .stride = a->stride[level],
                    .reference_stride = b->stride[level],
                    .part = part,
                    .width = a->width[level],
                    .height = a->height[level],
                    .lambda = s->lambda >> level,
                    .cost = INT32_MAX };
}

/* What the level above found at and around the middle of the part, doubled. */
static void try_parents(const tsr_dirac_search *s, int r, int32_t level, trial *t, int first_only)
{
    static const int32_t places[5][2] = { { 0, 0 }, { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };
    const int32_t up = level + 1, px = (t->part.x + t->part.w / 2) / 2 / B, py = (t->part.y + t->part.h / 2) / 2 / B;
    for (int k = 0; k < (first_only ? 1 : 5); k++) {
        const int32_t x = tsr_dirac_clamp(px + places[k][0], 0, s->columns[up] - 1), y = tsr_dirac_clamp(py + places[k][1], 0, s->rows[up] - 1);
        const int16_t *v = s->field[r][up] + 2 * ((int64_t)y * s->columns[up] + x);
        if (!k) {
            t->expected[0] = 2 * v[0];
            t->expected[1] = 2 * v[1];
        }
        try_vector(t, 2 * v[0], 2 * v[1]);
    }
}

static void search_level(void *user, int64_t begin, int64_t end, int worker)
{
    const field_job *j = (const field_job *)user;
    tsr_dirac_search *s = j->s;
    const int32_t level = j->level;
    (void)worker;
    for (int64_t y = begin; y < end; y++)
        for (int32_t x = 0; x < s->columns[level]; x++) {
            const int32_t w = s->source->width[level], h = s->source->height[level];
            int16_t *to = s->field[j->r][level] + 2 * (y * s->columns[level] + x);
            tsr_dirac_part part = { x * B, (int32_t)y * B, B, B };
            if (!level) part = tsr_dirac_unit_part(s, x, (int32_t)y, 1);
            else {
                part.w = tsr_mini(B, w - part.x);
                part.h = tsr_mini(B, h - part.y);
            }
            to[0] = to[1] = 0;
            if (part.w <= 0 || part.h <= 0) continue;
            trial t = begin_trial(s, j->r, level, part);
            if (level == s->source->levels - 1) {
                try_vector(&t, 0, 0);
                for (int32_t vy = -s->range; vy <= s->range; vy++)
                    for (int32_t vx = -s->range; vx <= s->range; vx++) try_vector(&t, vx, vy);
            } else {
                try_parents(s, j->r, level, &t, 0);
                try_vector(&t, 0, 0);
                refine(&t, s->steps, s->around);
            }
            to[0] = (int16_t)t.vector[0];
            to[1] = (int16_t)t.vector[1];
        }
}

/* ---- units, in fractions of a sample ------------------------------------------------------------------------------------------------------- */

tsr_dirac_part tsr_dirac_unit_part(const tsr_dirac_search *s, int32_t x, int32_t y, int32_t size)
{
    const int32_t *sep = s->p->separation, *len = s->p->length, ox = (len[0] - sep[0]) / 2, oy = (len[1] - sep[1]) / 2;
    const int32_t x0 = tsr_maxi(x * sep[0] - ox, 0), y0 = tsr_maxi(y * sep[1] - oy, 0);
    return (tsr_dirac_part){ x0, y0, tsr_mini((x + size) * sep[0] + ox, s->source->width[0]) - x0,
                             tsr_mini((y + size) * sep[1] + oy, s->source->height[0]) - y0 };
}

int tsr_dirac_vector_allowed(const tsr_dirac_search *s, tsr_dirac_part part, int32_t vx, int32_t vy)
{
    const int32_t p = s->p->precision, x0 = part.x + (vx >> p), y0 = part.y + (vy >> p), x1 = x0 + part.w + 1, y1 = y0 + part.h + 1;
    const int32_t w = s->source->width[0], h = s->source->height[0], inside = 4 << s->down[0];
    if (part.w <= 0 || part.h <= 0) return vx == 0 && vy == 0;
    if (x0 < -M || y0 < -M || x1 > w + M || y1 > h + M) return 0;
    if (!s->compatible || (x0 >= inside && y0 >= inside && x1 <= w - inside && y1 <= h - inside)) return 1;
    return (vx & ((1 << p << s->down[0]) - 1)) == 0 && (vy & ((1 << p << s->down[1]) - 1)) == 0;
}

/* `rows` rows from row y of the part on, seen with one vector: in the planes themselves, or made in `buffer`. */
static const uint8_t *fetch(const tsr_dirac_search *s, int r, tsr_dirac_part part, int32_t y, int32_t rows, int32_t vx, int32_t vy, uint8_t *buffer,
                            int64_t *stride)
{
    const tsr_dirac_seen *from = s->reference[r];
    const int32_t p = s->p->precision, shift = p ? p - 1 : 0, n = 1 << shift, hx = p ? vx >> shift : 2 * vx, hy = p ? vy >> shift : 2 * vy;
    const int32_t rx = vx & (n - 1), ry = vy & (n - 1);
    const uint8_t *at[4];
    for (int k = 0; k < 4; k++) {
        const int32_t x = hx + (k & 1), v = hy + (k >> 1);
        at[k] = from->phase[2 * (v & 1) + (x & 1)] + (part.y + y + (v >> 1)) * from->stride[0] + part.x + (x >> 1);
    }
    *stride = from->stride[0];
    if (!rx && !ry) return at[0];
    const int32_t weight[4] = { (n - ry) * (n - rx), (n - ry) * rx, ry * (n - rx), ry * rx };
    TSR_ISA_SELECT(tsr_dirac_blend)(at, from->stride[0], weight, 2 * shift, (part.w + 15) & ~15, rows, buffer, WIDEST);
    *stride = WIDEST;
    return buffer;
}

int32_t tsr_dirac_unit_cost(const tsr_dirac_search *s, int r, tsr_dirac_part part, const int16_t vector[2][2])
{
    uint8_t buffer[2][STRIP * WIDEST + 16];
    int32_t sum = 0;
    for (int32_t y = 0; y < part.h; y += STRIP) {
        const int32_t rows = tsr_mini(STRIP, part.h - y);
        const uint8_t *source = s->source->level[0] + (part.y + y) * s->source->stride[0] + part.x;
        const int first = r == 2 ? 0 : r;
        int64_t a_stride, b_stride;
        const uint8_t *a = fetch(s, first, part, y, rows, vector[first][0], vector[first][1], buffer[0], &a_stride);
        if (r < 2) {
            sum += TSR_ISA_SELECT(tsr_dirac_difference)(source, s->source->stride[0], a, a_stride, part.w, rows);
            continue;
        }
        const uint8_t *b = fetch(s, 1, part, y, rows, vector[1][0], vector[1][1], buffer[1], &b_stride);
        if (!s->p->weighted) {
            sum += TSR_ISA_SELECT(tsr_dirac_difference_mean)(source, s->source->stride[0], a, a_stride, b, b_stride, part.w, rows);
            continue;
        }
        const int32_t half = (1 << s->p->weight_bits) / 2;
        for (int32_t v = 0; v < rows; v++)
            for (int32_t x = 0; x < part.w; x++) {
                const int32_t blend = (s->p->weight[0] * a[v * a_stride + x] + s->p->weight[1] * b[v * b_stride + x] + half) >> s->p->weight_bits;
                const int32_t d = source[v * s->source->stride[0] + x] - blend;
                sum += d < 0 ? -d : d;
            }
    }
    return sum;
}

/* Fractions of a sample, ever smaller, around whole samples. */
static int32_t refine_fractions(const tsr_dirac_search *s, int r, tsr_dirac_part part, const int32_t expected[2], int32_t cost, int16_t vector[2][2])
{
    static const int32_t places[8][2] = { { 0, -1 }, { -1, 0 }, { 1, 0 }, { 0, 1 }, { -1, -1 }, { 1, -1 }, { -1, 1 }, { 1, 1 } };
    for (int32_t step = 1 << s->p->precision >> 1; step; step >>= 1) {
        const int16_t middle[2] = { vector[r][0], vector[r][1] };
        for (int32_t k = 0; k < s->around; k++) {
            int16_t tried[2][2];
            memcpy(tried, vector, sizeof tried);
            tried[r][0] = (int16_t)(middle[0] + step * places[k][0]);
            tried[r][1] = (int16_t)(middle[1] + step * places[k][1]);
            if (!tsr_dirac_vector_allowed(s, part, tried[r][0], tried[r][1])) continue;
            const int32_t own =
                tsr_dirac_unit_cost(s, r, part, (const int16_t(*)[2])tried) +
                ((s->lambda * (tsr_dirac_vector_bits(tried[r][0] - expected[0]) + tsr_dirac_vector_bits(tried[r][1] - expected[1]))) >> 4);
            if (own >= cost) continue;
            cost = own;
            memcpy(vector[r], tried[r], sizeof tried[r]);
        }
    }
    return cost;
}

/* Whole vectors become ones that are allowed: near the border those of even samples, where chroma has half as many. */
static void search_unit(const tsr_dirac_search *s, int32_t x, int32_t y, int32_t size, int r, tsr_dirac_found *unit)
{
    const tsr_dirac_part part = tsr_dirac_unit_part(s, x, y, size);
    const int32_t p = s->p->precision, many = s->columns[0];
    unit->cost[r] = 0;
    if (part.w <= 0 || part.h <= 0) return;
    trial t = begin_trial(s, r, 0, part);
    if (s->source->levels > 1) try_parents(s, r, 0, &t, 1);
    try_vector(&t, 0, 0);
    for (int32_t k = 0; k < size * size; k++) {
        const int16_t *v = s->field[r][0] + 2 * ((int64_t)(y + k / size) * many + x + k % size);
        if (size < 4 || k % 2 == k / size % 2) try_vector(&t, v[0], v[1]);
    }
    if (size > 1) refine(&t, s->steps, s->around);
    const int32_t expected[2] = { t.expected[0] * (1 << p), t.expected[1] * (1 << p) };
    int32_t cost = t.cost;
    unit->vector[r][0] = (int16_t)(t.vector[0] * (1 << p));
    unit->vector[r][1] = (int16_t)(t.vector[1] * (1 << p));
    if (!tsr_dirac_vector_allowed(s, part, unit->vector[r][0], unit->vector[r][1])) {
        for (int k = 0; k < 2; k++) unit->vector[r][k] = (int16_t)((t.vector[k] & ~((1 << s->down[k]) - 1)) * (1 << p));
        if (!tsr_dirac_vector_allowed(s, part, unit->vector[r][0], unit->vector[r][1])) unit->vector[r][0] = unit->vector[r][1] = 0;
        cost = INT32_MAX;
    }
    refine_fractions(s, r, part, expected, cost, unit->vector);
    unit->cost[r] = tsr_dirac_unit_cost(s, r, part, (const int16_t(*)[2])unit->vector);
}

static void search_superblocks(void *user, int64_t begin, int64_t end, int worker)
{
    tsr_dirac_search *s = (tsr_dirac_search *)user;
    const int32_t across = s->p->blocks_x / 4;
    (void)worker;
    for (int64_t sy = begin; sy < end; sy++)
        for (int32_t sx = 0; sx < across; sx++)
            for (int k = 0; k < TSR_SEARCH_UNITS; k++) {
                tsr_dirac_found *unit = s->units + (sy * across + sx) * TSR_SEARCH_UNITS + k;
                const int32_t size = tsr_dirac_unit_size(k), within = k - (size == 2 ? 1 : size == 1 ? 5 : 0), n = 4 / size;
                const int32_t x = 4 * sx + within % n * size, y = 4 * (int32_t)sy + within / n * size;
                const tsr_dirac_part part = tsr_dirac_unit_part(s, x, y, size);
                int32_t mean = 0;
                *unit = (tsr_dirac_found){ .flat = 0 };
                for (int r = 0; r < s->p->references; r++) search_unit(s, x, y, size, r, unit);
                if (part.w <= 0 || part.h <= 0) continue;
                if (s->p->references == 2) unit->both = tsr_dirac_unit_cost(s, 2, part, (const int16_t(*)[2])unit->vector);
                unit->flat = TSR_ISA_SELECT(tsr_dirac_difference_flat)(s->source->level[0] + part.y * s->source->stride[0] + part.x,
                                                                       s->source->stride[0], part.w, part.h, &mean);
            }
}

void tsr_dirac_search_run(tsr_dirac_search *s)
{
    for (int r = 0; r < s->p->references; r++)
        for (int32_t level = s->source->levels - 1; level >= 0; level--) {
            field_job job = { s, r, level };
            tsr_parallel(s->threads, s->rows[level], 1, search_level, &job);
        }
    tsr_parallel(s->threads, s->p->blocks_y / 4, 1, search_superblocks, s);
}

/* ---- scenes and fades ---------------------------------------------------------------------------------------------------------------------- */

static int32_t coarse_level(const tsr_dirac_seen *s) { return s->levels > 2 ? s->levels - 2 : s->levels - 1; }

double tsr_dirac_scene_distance(const tsr_dirac_seen *a, const tsr_dirac_seen *b)
{
    const int32_t level = coarse_level(a), w = a->width[level], h = a->height[level];
    int64_t blocks = 0, unlike = 0;
    for (int32_t y = 0; y + B <= h; y += B)
        for (int32_t x = 0; x + B <= w; x += B) {
            trial t = { .source = a->level[level] + y * a->stride[level] + x,
                        .reference = b->level[level] + y * b->stride[level] + x,
                        .stride = a->stride[level],
                        .reference_stride = b->stride[level],
                        .part = { x, y, B, B },
                        .width = w,
                        .height = h,
                        .cost = INT32_MAX };
            int32_t mean = 0;
            const int32_t flat = TSR_ISA_SELECT(tsr_dirac_difference_flat)(t.source, t.stride, B, B, &mean);
            for (int32_t vy = -4; vy <= 4; vy++)
                for (int32_t vx = -4; vx <= 4; vx++) try_vector(&t, vx, vy);
            blocks++;
            unlike += t.cost > flat + 2 * B * B;
        }
    return blocks ? (double)unlike / (double)blocks : 0;
}

int32_t tsr_dirac_best_weight(const tsr_dirac_seen *picture, const tsr_dirac_seen *a, const tsr_dirac_seen *b, int32_t bits, double *gain)
{
    const int32_t level = picture->levels > 1 ? 1 : 0, w = picture->width[level], h = picture->height[level];
    int64_t ss = 0, sd = 0, dd = 0; /* s: picture - b, d: a - b */
    for (int32_t y = 0; y < h; y++)
        for (int32_t x = 0; x < w; x++) {
            const int32_t far = b->level[level][y * b->stride[level] + x], s = picture->level[level][y * picture->stride[level] + x] - far,
                          d = a->level[level][y * a->stride[level] + x] - far;
            ss += s * s;
            sd += s * d;
            dd += d * d;
        }
    const int32_t one = 1 << bits;
    *gain = 1;
    if (!dd) return one / 2;
    const int32_t weight = tsr_dirac_clamp((int32_t)(one * ((double)sd / (double)dd) + (sd > 0 ? 0.5 : -0.5)), 0, one);
    double error[4];
    const double weights[4] = { (double)weight / one, 0.5, 1, 0 };
    for (int k = 0; k < 4; k++) error[k] = (double)ss - 2 * weights[k] * (double)sd + weights[k] * weights[k] * (double)dd;
    double least = error[1];
    for (int k = 2; k < 4; k++) least = error[k] < least ? error[k] : least;
    const double floor_error = 0.5 * w * h; /* what noise makes of it */
    *gain = (error[0] + floor_error) / (least + floor_error);
    return weight;
}
