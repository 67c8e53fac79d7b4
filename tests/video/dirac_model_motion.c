/* Motion: blocks by chance, their streams, and the prediction sample by sample. */
#include "dirac_model.h"

typedef struct block {
    int mode, global, v[2][2], dc[3];
} block;

typedef struct global_motion {
    int pan[2], zoom[4], zoom_exponent, perspective[2], perspective_exponent;
} global_motion;

typedef struct motion {
    int references, length[2], separation[2], precision, has_global, weight_bits, weight[2], blocks_x, blocks_y;
    global_motion global[2];
    block *blocks;
    int *split;
} motion;

/* ---- parameters ---------------------------------------------------------------------------------------------------------------------------- */

static void put_blocks(model *m, motion *o, model_bits *b)
{
    static const int presets[5][4] = { { 0 }, { 8, 8, 4, 4 }, { 12, 12, 8, 8 }, { 16, 16, 12, 12 }, { 24, 24, 16, 16 } };
    uint64_t *s = &m->seed;
    const int index = model_below(s, 5);
    int v[4];
    for (int k = 0; k < 4; k++) v[k] = presets[index][k];
    if (!index)
        for (int k = 0; k < 2; k++) {
            v[2 + k] = 4 * model_between(s, 1, model_chance(s, 4) ? 16 : 5);
            const int most = 2 * v[2 + k] > 64 ? 64 : 2 * v[2 + k];
            v[k] = v[2 + k] + 4 * model_below(s, (most - v[2 + k]) / 4 + 1);
        }
    model_uint(b, (uint32_t)index);
    for (int k = 0; k < 4 && !index; k++) model_uint(b, (uint32_t)v[k]);
    for (int k = 0; k < 2; k++) {
        const int extent = k ? m->height / (m->fields ? 2 : 1) : m->width;
        o->length[k] = v[k];
        o->separation[k] = v[2 + k];
        *(k ? &o->blocks_y : &o->blocks_x) = 4 * ((extent + 4 * v[2 + k] - 1) / (4 * v[2 + k]));
    }
}

static void put_global(model *m, motion *o, model_bits *b)
{
    uint64_t *s = &m->seed;
    for (int r = 0; r < o->references; r++) {
        global_motion *g = &o->global[r];
        int given = model_below(s, 2);
        *g = (global_motion){ .zoom = { 1, 0, 0, 1 } };
        model_bit(b, given);
        for (int k = 0; k < 2 && given; k++) model_sint(b, g->pan[k] = model_between(s, -20, 20));
        model_bit(b, given = model_below(s, 2));
        if (given) {
            model_uint(b, (uint32_t)(g->zoom_exponent = model_below(s, 9)));
            for (int k = 0; k < 4; k++) model_sint(b, g->zoom[k] = model_between(s, -30, 30));
        }
        model_bit(b, given = model_below(s, 2));
        if (given) {
            model_uint(b, (uint32_t)(g->perspective_exponent = model_below(s, 9)));
            for (int k = 0; k < 2; k++) model_sint(b, g->perspective[k] = model_between(s, -3, 3));
        }
    }
}

static void put_parameters(model *m, motion *o, model_bits *b)
{
    uint64_t *s = &m->seed;
    put_blocks(m, o, b);
    o->precision = model_below(s, 4);
    model_uint(b, (uint32_t)o->precision);
    o->has_global = model_chance(s, 4);
    model_bit(b, o->has_global);
    if (o->has_global) put_global(m, o, b);
    model_uint(b, 0);
    const int weights = o->references == 2 && model_chance(s, 2);
    o->weight_bits = 1;
    o->weight[0] = o->weight[1] = 1;
    model_bit(b, weights);
    if (!weights) return;
    o->weight_bits = model_below(s, 6);
    model_uint(b, (uint32_t)o->weight_bits);
    for (int r = 0; r < 2; r++) model_sint(b, o->weight[r] = model_between(s, -3, (1 << o->weight_bits) + 1));
}

/* ---- blocks -------------------------------------------------------------------------------------------------------------------------------- */

enum { STREAM_SPLIT, STREAM_MODE, STREAM_VECTOR, STREAM_DC = STREAM_VECTOR + 4, STREAMS = STREAM_DC + 3 };

static const block *at(const motion *o, int x, int y) { return &o->blocks[y * o->blocks_x + x]; }

static int majority(const int v[3]) { return v[0] + v[1] + v[2] >= 2; }

/* A flag of the blocks before: `which` 0, 1: uses this reference; 2: global. */
static int predict_flag(const motion *o, int x, int y, int which)
{
    int v[3];
    for (int k = 0; k < 3; k++) {
        const int nx = x - (k != 1), ny = y - (k != 0);
        if (nx < 0 || ny < 0) v[k] = -1;
        else v[k] = which == 2 ? at(o, nx, ny)->global : at(o, nx, ny)->mode >> which & 1;
    }
    if (!x && !y) return 0;
    return !y ? v[0] : !x ? v[1] : majority(v);
}

static int64_t median(int64_t a, int64_t b, int64_t c) { return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b); }

/* From the blocks left, above, above left that have such a value. */
static int predict_value(const motion *o, int x, int y, int reference, int which)
{
    int64_t v[3];
    int n = 0;
    for (int k = 0; k < 3; k++) {
        const int nx = x - (k != 1), ny = y - (k != 0);
        if (nx < 0 || ny < 0) continue;
        const block *b = at(o, nx, ny);
        if (reference < 0 ? b->mode != 0 : !(b->mode >> reference & 1) || b->global) continue;
        v[n++] = reference < 0 ? b->dc[which] : b->v[reference][which];
    }
    if (n == 0) return 0;
    if (n == 1) return (int)v[0];
    if (n == 2) return (int)((v[0] + v[1] + 1) >> 1);
    return (int)(reference < 0 ? model_floor(v[0] + v[1] + v[2] + 1, 3) : median(v[0], v[1], v[2]));
}

static void put_block(model *m, motion *o, model_coder *c, int x, int y, int size)
{
    static const int vector_chain[5] = { 0, 1, 2, 3, 4 }, dc_chain[2] = { 0, 1 };
    uint64_t *s = &m->seed;
    block b = { .mode = model_below(s, 1 << o->references) };
    for (int r = 0; r < o->references; r++) model_symbol(&c[STREAM_MODE], r, (b.mode >> r & 1) ^ predict_flag(o, x, y, r));
    if (o->has_global && b.mode) {
        b.global = model_below(s, 2);
        model_symbol(&c[STREAM_MODE], 2, b.global ^ predict_flag(o, x, y, 2));
    }
    for (int r = 0; r < 2; r++)
        for (int k = 0; k < 2 && (b.mode >> r & 1) && !b.global; k++) {
            const int far = (model_chance(s, 12) ? 100 : 6) << o->precision, predicted = predict_value(o, x, y, r, k);
            b.v[r][k] = model_chance(s, 3) ? predicted : model_between(s, -far, far);
            model_signed(&c[STREAM_VECTOR + 2 * r + k], vector_chain, 5, 5, 6, b.v[r][k] - predicted);
        }
    for (int k = 0; k < 3 && !b.mode; k++) {
        const int half = 1 << (m->depth[k > 0] - 1), predicted = predict_value(o, x, y, -1, k);
        b.dc[k] = model_between(s, -half, half - 1);
        model_signed(&c[STREAM_DC + k], dc_chain, 2, 2, 3, b.dc[k] - predicted);
    }
    for (int v = y; v < y + size; v++)
        for (int u = x; u < x + size; u++) o->blocks[v * o->blocks_x + u] = b;
}

static void put_motion(model *m, motion *o, model_bits *body)
{
    static const int split_chain[2] = { 0, 1 };
    const int nx = o->blocks_x / 4, ny = o->blocks_y / 4;
    model_coder c[STREAMS];
    for (int k = 0; k < STREAMS; k++) model_coder_begin(&c[k], 0);
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            const int *here = &o->split[y * nx + x], split = model_below(&m->seed, 3);
            const int predicted = !x && !y ? 0 : !y ? here[-1] : !x ? here[-nx] : (here[-1] + here[-nx] + here[-nx - 1] + 1) / 3;
            o->split[y * nx + x] = split;
            model_number(&c[STREAM_SPLIT], split_chain, 2, 2, (uint32_t)((split - predicted + 3) % 3));
            for (int v = 0; v < 4; v += 4 >> split)
                for (int u = 0; u < 4; u += 4 >> split) put_block(m, o, c, 4 * x + u, 4 * y + v, 4 >> split);
        }
    for (int k = 0; k < STREAMS; k++) {
        const int used = o->references == 2 || k < STREAM_VECTOR + 2 || k >= STREAM_DC;
        if (used) {
            model_coder_end(&c[k]);
            model_uint(body, (uint32_t)(c[k].out.bits / 8));
            model_align(body);
            model_append(body, &c[k].out);
        }
        free(c[k].out.bytes);
    }
}

/* ---- prediction ---------------------------------------------------------------------------------------------------------------------------- */

static int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

static int64_t taps(const int64_t v[8], int64_t half)
{
    static const int weight[8] = { -1, 3, -7, 21, 21, -7, 3, -1 };
    int64_t sum = 16;
    for (int k = 0; k < 8; k++) sum += weight[k] * v[k];
    return clamp(sum >> 5, -half, half - 1);
}

/* The grid of half samples: columns first, then rows. */
static model_plane half_grid(const model_plane *p, int64_t half)
{
    model_plane tall = model_plane_of(p->w, 2 * p->h - 1), grid = model_plane_of(2 * p->w - 1, 2 * p->h - 1);
    for (int y = 0; y < tall.h; y++)
        for (int x = 0; x < tall.w; x++) {
            int64_t v[8];
            for (int k = 0; k < 8; k++) v[k] = *model_at(p, x, (int)clamp(y / 2 - 3 + k, 0, p->h - 1));
            *model_at(&tall, x, y) = y & 1 ? taps(v, half) : *model_at(p, x, y / 2);
        }
    for (int y = 0; y < grid.h; y++)
        for (int x = 0; x < grid.w; x++) {
            int64_t v[8];
            for (int k = 0; k < 8; k++) v[k] = *model_at(&tall, (int)clamp(x / 2 - 3 + k, 0, tall.w - 1), y);
            *model_at(&grid, x, y) = x & 1 ? taps(v, half) : *model_at(&tall, x / 2, y);
        }
    free(tall.v);
    return grid;
}

static int64_t inside(const model_plane *p, int64_t x, int64_t y) { return *model_at(p, (int)clamp(x, 0, p->w - 1), (int)clamp(y, 0, p->h - 1)); }

static int64_t fetch(const model_plane *p, int precision, int64_t px, int64_t py) /* of the plane itself, or its grid */
{
    if (precision < 2) return inside(p, px, py);
    const int s = precision - 1, n = 1 << s;
    const int64_t hx = px >> s, hy = py >> s, rx = px & (n - 1), ry = py & (n - 1);
    return ((n - ry) * (n - rx) * inside(p, hx, hy) + (n - ry) * rx * inside(p, hx + 1, hy) + ry * (n - rx) * inside(p, hx, hy + 1) +
            ry * rx * inside(p, hx + 1, hy + 1) + n * n / 2) >>
           (2 * s);
}

static void global_vector(const global_motion *g, int x, int y, int64_t v[2])
{
    const int64_t scale = ((int64_t)1 << g->perspective_exponent) - ((int64_t)g->perspective[0] * x + (int64_t)g->perspective[1] * y);
    for (int k = 0; k < 2; k++)
        v[k] = scale * (g->zoom[2 * k] * x + g->zoom[2 * k + 1] * y + ((int64_t)g->pan[k] * ((int64_t)1 << g->zoom_exponent))) >>
               (g->zoom_exponent + g->perspective_exponent);
}

static int64_t block_value(const model *m, const motion *o, const block *b, int c, const model_plane from[2], int x, int y)
{
    int64_t value[2] = { 0, 0 };
    if (!b->mode) return b->dc[c];
    for (int r = 0; r < 2; r++) {
        int64_t v[2] = { b->v[r][0], b->v[r][1] };
        if (!(b->mode >> r & 1)) continue;
        if (b->global) global_vector(&o->global[r], x, y, v);
        else {
            if (c && m->chroma) v[0] >>= 1;
            if (c && m->chroma == 2) v[1] >>= 1;
        }
        value[r] = fetch(&from[r], o->precision, ((int64_t)x << o->precision) + v[0], ((int64_t)y << o->precision) + v[1]);
    }
    const int64_t round = o->weight_bits ? (int64_t)1 << (o->weight_bits - 1) : 0;
    if (b->mode == 3) return (o->weight[0] * value[0] + o->weight[1] * value[1] + round) >> o->weight_bits;
    const int64_t one = value[b->mode - 1];
    return o->references == 1 ? one : ((o->weight[0] + o->weight[1]) * one + round) >> o->weight_bits;
}

static int ramp(int k, int offset) { return offset == 1 ? (k ? 5 : 3) : 1 + (6 * k + offset - 1) / (2 * offset - 1); }

/* The weight of place k of block `i` of `count`. */
static int weight_of(int k, int length, int separation, int i, int count)
{
    const int offset = (length - separation) / 2;
    if (k < 2 * offset) return i == 0 ? 8 : ramp(k, offset);
    if (length - 1 - k < 2 * offset) return i == count - 1 ? 8 : ramp(length - 1 - k, offset);
    return 8;
}

static model_plane predict(const model *m, const motion *o, int c, const model_plane from[2])
{
    const int dx = c && m->chroma, dy = c && m->chroma == 2;
    const int lx = o->length[0] >> dx, ly = o->length[1] >> dy, sx = o->separation[0] >> dx, sy = o->separation[1] >> dy;
    int w, h;
    model_component_size(m, c, &w, &h);
    model_plane sum = model_plane_of(w, h);
    for (int j = 0; j < o->blocks_y; j++)
        for (int i = 0; i < o->blocks_x; i++)
            for (int v = 0; v < ly; v++)
                for (int u = 0; u < lx; u++) {
                    const int x = i * sx - (lx - sx) / 2 + u, y = j * sy - (ly - sy) / 2 + v;
                    if (x < 0 || y < 0 || x >= w || y >= h) continue;
                    *model_at(&sum, x, y) +=
                        weight_of(u, lx, sx, i, o->blocks_x) * weight_of(v, ly, sy, j, o->blocks_y) * block_value(m, o, at(o, i, j), c, from, x, y);
                }
    for (int k = 0; k < w * h; k++) sum.v[k] = (sum.v[k] + 32) >> 6;
    return sum;
}

void model_make_motion(model *m, int references, const model_picture *const from[2], model_bits *body, model_plane predicted[3])
{
    motion o = { .references = references };
    put_parameters(m, &o, body);
    model_align(body);
    o.blocks = (block *)calloc((size_t)(o.blocks_x * o.blocks_y), sizeof *o.blocks);
    o.split = (int *)calloc((size_t)(o.blocks_x * o.blocks_y / 16), sizeof *o.split);
    put_motion(m, &o, body);
    for (int c = 0; c < 3; c++) {
        model_plane plane[2] = { { 0 } };
        for (int r = 0; r < references; r++)
            plane[r] = o.precision ? half_grid(&from[r]->plane[c], (int64_t)1 << (m->depth[c > 0] - 1)) : from[r]->plane[c];
        predicted[c] = predict(m, &o, c, plane);
        for (int r = 0; r < references && o.precision; r++) free(plane[r].v);
    }
    free(o.blocks);
    free(o.split);
}
