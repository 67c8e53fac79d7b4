/* Core syntax: sub-bands, codeblocks, quantisers; what a picture becomes. */
#include "dirac_model.h"

/* Contexts of coefficients. */
enum {
    FIRST = 0, /* + 2 (parent not 0) + 1 (a neighbour not 0) */
    CHAIN = 4, /* + 5 (parent not 0) */
    DATA = 14,
    SIGN = 15, /* + 1 + sign of what it is predicted from */
    ZERO_BLOCK = 18,
    Q_FOLLOW = 19,
    Q_DATA = 20,
    Q_SIGN = 21
};

typedef struct coded_band {
    model_coder coder;
    model_plane *band;
    const model_plane *parent; /* of the level before, NULL: none */
    int kind, inter, quantiser, density, mode, single;
} coded_band;

static int sign_of(int64_t v) { return v < 0 ? -1 : v > 0; }

static void put_coefficient(coded_band *b, int x, int y, int32_t value)
{
    const model_plane *p = b->band;
    const int parent = b->parent && *model_at(b->parent, x >> 1, y >> 1) != 0;
    const int near = (x && *model_at(p, x - 1, y)) || (y && *model_at(p, x, y - 1)) || (x && y && *model_at(p, x - 1, y - 1));
    const int chain[6] = { FIRST + 2 * parent + near, CHAIN + 5 * parent,     CHAIN + 5 * parent + 1,
                           CHAIN + 5 * parent + 2,    CHAIN + 5 * parent + 3, CHAIN + 5 * parent + 4 };
    const int64_t from = b->kind == 1 && y ? *model_at(p, x, y - 1) : b->kind == 2 && x ? *model_at(p, x - 1, y) : 0;
    model_signed(&b->coder, chain, 6, DATA, SIGN + 1 + sign_of(from), value);
}

static int32_t some_value(uint64_t *s, int density)
{
    if (!model_chance(s, density)) return 0;
    return model_chance(s, 40) ? model_between(s, -700, 700) : model_chance(s, 4) ? model_between(s, -30, 30) : model_between(s, -3, 3);
}

static void put_block(uint64_t *s, coded_band *b, int x0, int x1, int y0, int y1)
{
    if (!b->single) {
        const int zero = model_chance(s, 3);
        model_symbol(&b->coder, ZERO_BLOCK, zero);
        if (zero) return;
    }
    if (b->mode) {
        const int chain[1] = { Q_FOLLOW };
        int delta = model_between(s, -4, 4);
        if (b->quantiser + delta < 0 || b->quantiser + delta > 30) delta = 0;
        model_signed(&b->coder, chain, 1, Q_DATA, Q_SIGN, delta);
        b->quantiser += delta;
    }
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const int32_t value = some_value(s, b->density);
            put_coefficient(b, x, y, value);
            *model_at(b->band, x, y) = model_dequantise(value, b->quantiser, b->inter);
        }
}

static void put_band(model *m, model_bits *body, coded_band *b, int nx, int ny, int mode, int variable)
{
    uint64_t *s = &m->seed;
    model_align(body);
    if (model_chance(s, 4)) { /* empty */
        model_uint(body, 0);
        return;
    }
    const int quantiser = model_below(s, 26);
    b->quantiser = quantiser;
    b->density = model_between(s, 1, 12);
    b->mode = mode;
    b->single = nx * ny == 1;
    model_coder_begin(&b->coder, variable);
    for (int cy = 0; cy < ny; cy++)
        for (int cx = 0; cx < nx; cx++)
            put_block(s, b, b->band->w * cx / nx, b->band->w * (cx + 1) / nx, b->band->h * cy / ny, b->band->h * (cy + 1) / ny);
    model_coder_end(&b->coder);
    if (!b->coder.out.bits) model_literal(&b->coder.out, 0xff, 8); /* a length of 0 would mean another thing */
    model_uint(body, (uint32_t)(b->coder.out.bits / 8));
    model_uint(body, (uint32_t)quantiser);
    model_align(body);
    model_append(body, &b->coder.out);
    free(b->coder.out.bytes);
}

static void put_residue(model *m, int inter, int variable, model_bits *body, model_plane residue[3])
{
    uint64_t *s = &m->seed;
    const model_transform t = model_choose_transform(m, 0);
    int blocks[7][2] = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } }, mode = 0;
    const int partition = model_chance(s, 2);
    model_uint(body, (uint32_t)t.wavelet);
    model_uint(body, (uint32_t)t.depth);
    model_bit(body, partition);
    if (partition) {
        for (int level = 0; level <= t.depth; level++)
            for (int k = 0; k < 2; k++) {
                blocks[level][k] = model_between(s, 1, 4);
                model_uint(body, (uint32_t)blocks[level][k]);
            }
        mode = model_below(s, 2);
        model_uint(body, (uint32_t)mode);
    }
    for (int c = 0; c < 3; c++) {
        model_bands bands;
        int w, h;
        model_component_size(m, c, &w, &h);
        model_bands_make(&t, w, h, &bands);
        for (int level = 0; level <= t.depth; level++)
            for (int k = level > 0; k < (level ? 4 : 1); k++) {
                coded_band b = { .band = &bands.band[level][k], .parent = level >= 2 ? &bands.band[level - 1][k] : NULL, .kind = k, .inter = inter };
                put_band(m, body, &b, blocks[level][0], blocks[level][1], mode, variable);
            }
        if (!inter) model_predict_ll(&bands.band[0][0]);
        residue[c] = model_synthesis(&t, &bands, w, h);
        model_bands_free(&bands);
    }
}

void model_make_core(model *m, model_picture *p, int references, const model_picture *const from[2], int variable, model_bits *body)
{
    model_plane predicted[3] = { { 0 } }, residue[3] = { { 0 } };
    int none = 0;
    if (references) {
        model_align(body);
        model_make_motion(m, references, from, body, predicted);
        model_align(body);
        none = model_chance(&m->seed, 4);
        model_bit(body, none);
    } else model_align(body);
    if (!none) put_residue(m, references > 0, variable, body, residue);
    model_align(body);
    for (int c = 0; c < 3; c++) {
        const int64_t half = (int64_t)1 << (m->depth[c > 0] - 1);
        int w, h;
        model_component_size(m, c, &w, &h);
        p->plane[c] = model_plane_of(w, h);
        for (int k = 0; k < w * h; k++) {
            const int64_t v = (predicted[c].v ? predicted[c].v[k] : 0) + (residue[c].v ? residue[c].v[k] : 0);
            p->plane[c].v[k] = v < -half ? -half : v > half - 1 ? half - 1 : v;
        }
        free(predicted[c].v);
        free(residue[c].v);
    }
}
