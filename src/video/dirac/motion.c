/* video/dirac/motion.c */
#include "video/dirac/motion.h"

#include "video/dirac/motion_neighbours.h"

/* ---- parameters ---------------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_blocks(const tsr_dirac_sequence *s, const tsr_dirac_prediction *p)
{
    const int32_t down[2] = { s->chroma != TSR_CHROMA_444, s->chroma == TSR_CHROMA_420 };
    for (int k = 0; k < 2; k++) {
        const int32_t l = p->length[k], b = p->separation[k];
        if (l < 4 || b < 4 || l % 4 || b % 4 || b > l || l > 2 * b || l > TSR_DIRAC_BLOCK_MOST || (((l >> down[k]) - (b >> down[k])) & 1))
            TSR_FAIL(TSR_ERROR_FORMAT, "picture: blocks of %d every %d along %c, expected multiples of 4 with %s", l, b, 'x' + k,
                     "separation <= length <= 2 separation and length at most 64");
    }
    return TSR_OK;
}

static tsr_status read_blocks_shape(tsr_bits *bits, tsr_dirac_prediction *p)
{
    static const int32_t presets[][2] = { { 8, 4 }, { 12, 8 }, { 16, 12 }, { 24, 16 } };
    const uint32_t index = tsr_bits_uint(bits);
    if (index > 4) TSR_FAIL(TSR_ERROR_FORMAT, "picture: block parameters are %u, expected 0 to 4", index);
    for (int k = 0; k < 2 && index; k++) {
        p->length[k] = presets[index - 1][0];
        p->separation[k] = presets[index - 1][1];
    }
    for (int k = 0; k < 4 && !index; k++) {
        const uint32_t v = tsr_bits_uint(bits);
        (k < 2 ? p->length : p->separation)[k & 1] = v > TSR_DIRAC_BLOCK_MOST ? TSR_DIRAC_BLOCK_MOST + 1 : (int32_t)v;
    }
    return TSR_OK;
}

static tsr_status read_exponent(tsr_bits *bits, int32_t *exponent)
{
    const uint32_t v = tsr_bits_uint(bits);
    if (v > 20) TSR_FAIL(TSR_ERROR_FORMAT, "picture: an exponent of global motion is %u, expected 0 to 20", v);
    *exponent = (int32_t)v;
    return TSR_OK;
}

static int32_t read_small(tsr_bits *bits) /* what no stream exceeds, and sums stay within 64 bits */
{
    const int32_t v = tsr_bits_int(bits), most = 1 << 20;
    return v < -most ? -most : v > most ? most : v;
}

static tsr_status read_global(tsr_bits *bits, tsr_dirac_global *g)
{
    *g = (tsr_dirac_global){ .zoom = { 1, 0, 0, 1 } };
    if (tsr_bits_flag(bits))
        for (int k = 0; k < 2; k++) g->pan[k] = read_small(bits);
    if (tsr_bits_flag(bits)) {
        TSR_TRY(read_exponent(bits, &g->zoom_exponent));
        for (int k = 0; k < 4; k++) g->zoom[k] = read_small(bits);
    }
    if (tsr_bits_flag(bits)) {
        TSR_TRY(read_exponent(bits, &g->perspective_exponent));
        for (int k = 0; k < 2; k++) g->perspective[k] = read_small(bits);
    }
    return TSR_OK;
}

tsr_status tsr_dirac_prediction_read(tsr_bits *bits, const tsr_dirac_sequence *s, int32_t refs, tsr_dirac_prediction *out)
{
    tsr_dirac_prediction p = { .references = refs, .weight_bits = 1, .weight = { 1, 1 } };
    TSR_TRY(read_blocks_shape(bits, &p));
    TSR_TRY(check_blocks(s, &p));
    const uint32_t precision = tsr_bits_uint(bits);
    if (precision > 3) TSR_FAIL(TSR_ERROR_FORMAT, "picture: vector precision is %u, expected 0 to 3", precision);
    p.precision = (int32_t)precision;
    p.has_global = tsr_bits_flag(bits);
    for (int32_t r = 0; r < refs && p.has_global; r++) TSR_TRY(read_global(bits, &p.global[r]));
    const uint32_t mode = tsr_bits_uint(bits);
    if (mode) TSR_FAIL(TSR_ERROR_FORMAT, "picture: prediction mode is %u, expected 0", mode);
    if (tsr_bits_flag(bits)) {
        const uint32_t shift = tsr_bits_uint(bits);
        if (shift > 16) TSR_FAIL(TSR_ERROR_FORMAT, "picture: weights of %u bits, expected at most 16", shift);
        p.weight_bits = (int32_t)shift;
        p.weight[0] = read_small(bits);
        if (refs == 2) p.weight[1] = read_small(bits);
    }
    p.weighted = p.weight_bits != 1 || p.weight[0] != 1 || p.weight[1] != 1;
    if (tsr_bits_over(bits)) TSR_FAIL(TSR_ERROR_FORMAT, "picture: the prediction parameters are cut");
    const int32_t height = s->height >> s->fields;
    p.blocks_x = 4 * (int32_t)tsr_ceil_div(s->width, 4 * (int64_t)p.separation[0]);
    p.blocks_y = 4 * (int32_t)tsr_ceil_div(height, 4 * (int64_t)p.separation[1]);
    *out = p;
    return TSR_OK;
}

/* ---- blocks -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct coded {
    tsr_arithmetic arithmetic;
    uint16_t p[TSR_BLOCKS_CONTEXTS];
} coded;

typedef struct reading {
    const tsr_dirac_prediction *p;
    tsr_dirac_blocks blocks;
    coded stream[TSR_BLOCKS_STREAMS];
    tsr_dirac_blocks_damage damage;
} reading;

static void begin_stream(reading *r, tsr_bits *bits, int index)
{
    coded *c = &r->stream[index];
    const int64_t length = bits->at < bits->end ? (int64_t)tsr_bits_uint(bits) : 0;
    tsr_bits_align(bits);
    const int64_t left = tsr_max64(bits->end / 8 - bits->at / 8, 0);
    r->damage.cut += length > left;
    tsr_arithmetic_begin(&c->arithmetic, bits->data + tsr_min64(bits->at, bits->end) / 8, length < left ? length : left);
    for (int k = 0; k < TSR_BLOCKS_CONTEXTS; k++) c->p[k] = 0x8000;
    bits->at += 8 * length;
}

static void read_mode(reading *r, int32_t x, int32_t y, tsr_dirac_block *b)
{
    coded *c = &r->stream[TSR_BLOCKS_MODE];
    for (int bit = 0; bit < r->p->references; bit++)
        b->mode = (uint8_t)(b->mode | (tsr_arithmetic_bit(&c->arithmetic, &c->p[bit]) ^ tsr_dirac_expected_flag(&r->blocks, x, y, bit)) << bit);
    if (r->p->has_global && b->mode)
        b->global = (uint8_t)(tsr_arithmetic_bit(&c->arithmetic, &c->p[2]) ^ tsr_dirac_expected_flag(&r->blocks, x, y, 2));
}

static int16_t narrow(int64_t v) { return (int16_t)(v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v); }

static void read_vector(reading *r, int32_t x, int32_t y, int reference, tsr_dirac_block *b)
{
    int32_t expected[2];
    tsr_dirac_expected_vector(&r->blocks, x, y, reference, expected);
    for (int axis = 0; axis < 2; axis++) {
        coded *c = &r->stream[TSR_BLOCKS_VECTOR + 2 * reference + axis];
        b->vector[reference][axis] = narrow((int64_t)expected[axis] + tsr_arithmetic_int(&c->arithmetic, c->p, &tsr_vector_contexts));
    }
}

static void read_dc(reading *r, int32_t x, int32_t y, tsr_dirac_block *b)
{
    int32_t expected[3];
    tsr_dirac_expected_dc(&r->blocks, x, y, expected);
    for (int component = 0; component < 3; component++) {
        coded *c = &r->stream[TSR_BLOCKS_DC + component];
        b->dc[component] = narrow((int64_t)expected[component] + tsr_arithmetic_int(&c->arithmetic, c->p, &tsr_dc_contexts));
    }
}

/* One prediction unit of `size` blocks on a side, at block (x, y). */
static void read_unit(reading *r, int32_t x, int32_t y, int32_t size)
{
    tsr_dirac_block *first = r->blocks.block + (int64_t)y * r->p->blocks_x + x;
    memset(first, 0, sizeof *first);
    read_mode(r, x, y, first);
    if (!first->mode) read_dc(r, x, y, first);
    for (int reference = 0; reference < 2 && !first->global; reference++)
        if (first->mode >> reference & 1) read_vector(r, x, y, reference, first);
    for (int32_t k = 0; k < size * size; k++) first[(int64_t)(k / size) * r->p->blocks_x + k % size] = *first;
}

/* How superblock (x, y) is split: 0 not, 1 into 4, 2 into 16. `row`: of this row and of the one above, one more on the left. */
static int read_split(reading *r, const uint8_t *above, const uint8_t *row, int32_t x, int32_t y)
{
    coded *c = &r->stream[TSR_BLOCKS_SPLIT];
    uint32_t value = tsr_arithmetic_uint(&c->arithmetic, c->p, &tsr_split_contexts);
    if (value > 2) {
        r->damage.split++;
        value = 0;
    }
    return ((int)value + tsr_dirac_expected_split(above, row, x, y)) % 3;
}

void tsr_dirac_blocks_read(tsr_bits *bits, const tsr_dirac_prediction *p, tsr_dirac_block *blocks, tsr_dirac_blocks_damage *damage)
{
    reading r = { .p = p, .blocks = { blocks, p->blocks_x } };
    const int32_t sbx = p->blocks_x / 4, sby = p->blocks_y / 4;
    uint8_t *splits = (uint8_t *)(void *)(blocks + (int64_t)p->blocks_x * p->blocks_y); /* 2 rows behind the blocks */
    for (int k = 0; k < TSR_BLOCKS_STREAMS; k++) {
        const int second = k == TSR_BLOCKS_VECTOR + 2 || k == TSR_BLOCKS_VECTOR + 3;
        if (!second || p->references == 2) begin_stream(&r, bits, k);
    }
    /* All splits come from a stream of their own, so that superblocks can be read one by one. */
    for (int32_t y = 0; y < sby; y++) {
        uint8_t *row = splits + (y & 1) * (int64_t)sbx;
        const uint8_t *above = splits + (~y & 1) * (int64_t)sbx;
        for (int32_t x = 0; x < sbx; x++) {
            row[x] = (uint8_t)read_split(&r, above, row, x, y);
            const int32_t units = 1 << row[x], size = 4 >> row[x];
            for (int32_t k = 0; k < units * units; k++) read_unit(&r, 4 * x + k % units * size, 4 * y + k / units * size, size);
        }
    }
    *damage = r.damage;
}
