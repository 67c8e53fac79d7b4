/* video/dirac/encoder/motion_write.c: the counterpart of motion.c. */
#include "video/dirac/encoder/motion_write.h"

#include "video/dirac/encoder/arithmetic_write.h"
#include "video/dirac/motion_neighbours.h"

enum { NUMBER_BYTES = 72, UNIT_BYTES = 10 * NUMBER_BYTES }; /* of one number of 17 bits at most; of all that a unit has */

int64_t tsr_dirac_motion_room(const tsr_dirac_prediction *p) { return 4096 + (int64_t)p->blocks_x * p->blocks_y * UNIT_BYTES; }

void tsr_dirac_prediction_write(tsr_bits_out *b, const tsr_dirac_prediction *p)
{
    /* Presets 2 to 4 only: FFmpeg takes the first one for another shape. */
    static const int32_t presets[][2] = { { 12, 8 }, { 16, 12 }, { 24, 16 } };
    uint32_t preset = 0;
    for (uint32_t k = 0; k < 3; k++)
        if (p->length[0] == presets[k][0] && p->length[1] == presets[k][0] && p->separation[0] == presets[k][1] && p->separation[1] == presets[k][1])
            preset = k + 2;
    tsr_bits_put_uint(b, preset);
    for (int k = 0; k < 4 && !preset; k++) tsr_bits_put_uint(b, (uint32_t)(k < 2 ? p->length : p->separation)[k & 1]);
    tsr_bits_put_uint(b, (uint32_t)p->precision);
    tsr_bits_put(b, 0, 1); /* no global motion */
    tsr_bits_put_uint(b, 0);
    tsr_bits_put(b, (uint64_t)(p->weighted != 0), 1);
    if (p->weighted) {
        tsr_bits_put_uint(b, (uint32_t)p->weight_bits);
        tsr_bits_put_int(b, p->weight[0]);
        if (p->references == 2) tsr_bits_put_int(b, p->weight[1]);
    }
    tsr_bits_finish(b);
}

typedef struct coding {
    tsr_arithmetic_out arithmetic;
    uint16_t p[TSR_BLOCKS_CONTEXTS];
} coding;

typedef struct writing {
    const tsr_dirac_prediction *p;
    tsr_dirac_blocks blocks;
    coding stream[TSR_BLOCKS_STREAMS];
} writing;

static void put_int(writing *w, int stream, const tsr_number_contexts *contexts, int32_t value)
{
    tsr_arithmetic_put_int(&w->stream[stream].arithmetic, w->stream[stream].p, contexts, value);
}

static void write_unit(writing *w, int32_t x, int32_t y)
{
    const tsr_dirac_block *b = w->blocks.block + (int64_t)y * w->blocks.columns + x;
    coding *modes = &w->stream[TSR_BLOCKS_MODE];
    int32_t expected[3];
    for (int bit = 0; bit < w->p->references; bit++)
        tsr_arithmetic_put(&modes->arithmetic, &modes->p[bit], (b->mode >> bit & 1) ^ tsr_dirac_expected_flag(&w->blocks, x, y, bit));
    if (!b->mode) {
        tsr_dirac_expected_dc(&w->blocks, x, y, expected);
        for (int c = 0; c < 3; c++) put_int(w, TSR_BLOCKS_DC + c, &tsr_dc_contexts, b->dc[c] - expected[c]);
    }
    for (int reference = 0; reference < 2; reference++) {
        if (!(b->mode >> reference & 1)) continue;
        tsr_dirac_expected_vector(&w->blocks, x, y, reference, expected);
        for (int axis = 0; axis < 2; axis++)
            put_int(w, TSR_BLOCKS_VECTOR + 2 * reference + axis, &tsr_vector_contexts, b->vector[reference][axis] - expected[axis]);
    }
}

void tsr_dirac_blocks_write(tsr_bits_out *bits, const tsr_dirac_prediction *p, tsr_dirac_block *blocks, const uint8_t *splits, uint8_t *scratch)
{
    writing w = { .p = p, .blocks = { blocks, p->blocks_x } };
    const int32_t sbx = p->blocks_x / 4, sby = p->blocks_y / 4;
    const int64_t each = (tsr_dirac_motion_room(p) / TSR_BLOCKS_STREAMS);
    for (int k = 0; k < TSR_BLOCKS_STREAMS; k++) {
        tsr_arithmetic_start(&w.stream[k].arithmetic, scratch + k * each);
        for (int n = 0; n < TSR_BLOCKS_CONTEXTS; n++) w.stream[k].p[n] = 0x8000;
    }
    for (int32_t y = 0; y < sby; y++)
        for (int32_t x = 0; x < sbx; x++) {
            const uint8_t *row = splits + (int64_t)y * sbx, *above = y ? row - sbx : row;
            coding *c = &w.stream[TSR_BLOCKS_SPLIT];
            const int32_t units = 1 << row[x], size = 4 >> row[x];
            tsr_arithmetic_put_uint(&c->arithmetic, c->p, &tsr_split_contexts,
                                    (uint32_t)(row[x] + 3 - tsr_dirac_expected_split(above, row, x, y)) % 3);
            for (int32_t k = 0; k < units * units; k++) write_unit(&w, 4 * x + k % units * size, 4 * y + k / units * size);
        }
    for (int k = 0; k < TSR_BLOCKS_STREAMS; k++) {
        if ((k == TSR_BLOCKS_VECTOR + 2 || k == TSR_BLOCKS_VECTOR + 3) && p->references == 1) continue;
        const int64_t size = tsr_arithmetic_finish(&w.stream[k].arithmetic);
        tsr_bits_put_uint(bits, (uint32_t)size);
        tsr_bits_finish(bits);
        memcpy(bits->at, scratch + k * each, (size_t)size);
        bits->at += size;
    }
}
