/* video/dirac/encoder/motion_modes.c: superblock by superblock in coded order, so that what neighbours make of the codes' lengths is known. Costs are
 * differences and bits times lambda; bits are counted in sixteenths. */
#include "video/dirac/encoder/motion_modes.h"

#include <string.h>

#include "video/dirac/motion_neighbours.h"

/* Bits (in sixteenths) of a flag that is as expected, and that is not; of a split; what codes of numbers take of their nominal length after
 * adaptation. */
enum { AS_EXPECTED = 6, UNEXPECTED = 48, SPLIT_SAME = 8, SPLIT_OTHER = 44, NUMBER = 12, FLAT_PENALTY = 64 };

typedef struct choice {
    const tsr_dirac_search *s;
    const tsr_dirac_plane *plane;
    tsr_dirac_blocks blocks;
} choice;

static int64_t price(const choice *c, int32_t sixteenths) { return ((int64_t)c->s->lambda * sixteenths) >> 8; }

static int32_t mode_bits(const choice *c, int32_t x, int32_t y, int32_t mode)
{
    int32_t bits = 0;
    for (int bit = 0; bit < c->s->p->references; bit++)
        bits += (mode >> bit & 1) == tsr_dirac_expected_flag(&c->blocks, x, y, bit) ? AS_EXPECTED : UNEXPECTED;
    return bits;
}

static int32_t vector_bits(const int16_t vector[2], const int32_t expected[2])
{
    return NUMBER * (tsr_dirac_vector_bits(vector[0] - expected[0]) + tsr_dirac_vector_bits(vector[1] - expected[1]));
}

/* Means of the components over the part of the picture where the unit lies without its overlap. */
static void flat_values(const choice *c, int32_t x, int32_t y, int32_t size, int16_t dc[3])
{
    const int32_t *sep = c->s->p->separation;
    for (int k = 0; k < 3; k++) {
        const tsr_dirac_plane *p = &c->plane[k];
        const int32_t across = k ? c->s->down[0] : 0, down = k ? c->s->down[1] : 0;
        const int32_t x0 = tsr_mini((x * sep[0]) >> across, p->width - 1), x1 = tsr_mini(((x + size) * sep[0]) >> across, p->width);
        const int32_t y0 = tsr_mini((y * sep[1]) >> down, p->height - 1), y1 = tsr_mini(((y + size) * sep[1]) >> down, p->height);
        int64_t sum = 0, n = (int64_t)tsr_maxi(x1 - x0, 1) * tsr_maxi(y1 - y0, 1);
        for (int32_t v = y0; v < tsr_maxi(y1, y0 + 1); v++)
            for (int32_t u = x0; u < tsr_maxi(x1, x0 + 1); u++)
                sum += p->bytes == 1 ? ((const uint8_t *)p->samples)[v * p->stride + u] : ((const uint16_t *)p->samples)[v * p->stride + u];
        dc[k] = (int16_t)((sum + n / 2) / n - ((int64_t)1 << (p->depth - 1)));
    }
}

/* Best known of a unit so far. Differences are those of its part with the overlap; they count as of the `area` without it, so that splits can be
 * compared. */
typedef struct best {
    tsr_dirac_block block;
    int64_t cost, area, part;
} best;

static void consider(best *b, const tsr_dirac_block *block, int64_t difference, int64_t bits)
{
    const int64_t cost = difference * b->area / b->part + bits;
    if (cost >= b->cost) return;
    b->cost = cost;
    b->block = *block;
}

static void consider_one(const choice *c, int32_t x, int32_t y, tsr_dirac_part part, int r, const int32_t expected[2][2], const tsr_dirac_found *unit,
                         best *b)
{
    tsr_dirac_block block = { .mode = (uint8_t)(1 << r) };
    const int32_t mode = mode_bits(c, x, y, block.mode);
    memcpy(block.vector[r], unit->vector[r], sizeof block.vector[r]);
    consider(b, &block, unit->cost[r], price(c, mode + vector_bits(unit->vector[r], expected[r])));
    for (int k = 0; k < 2; k++) { /* as expected; none */
        const int32_t vx = k ? 0 : expected[r][0], vy = k ? 0 : expected[r][1];
        if (k && !expected[r][0] && !expected[r][1]) continue;
        block.vector[r][0] = (int16_t)vx;
        block.vector[r][1] = (int16_t)vy;
        if (!memcmp(block.vector[r], unit->vector[r], sizeof block.vector[r]) || !tsr_dirac_vector_allowed(c->s, part, vx, vy)) continue;
        consider(b, &block, tsr_dirac_unit_cost(c->s, r, part, (const int16_t(*)[2])block.vector),
                 price(c, mode + vector_bits(block.vector[r], expected[r])));
    }
}

static void consider_both(const choice *c, int32_t x, int32_t y, tsr_dirac_part part, const int32_t expected[2][2], const tsr_dirac_found *unit,
                          best *b)
{
    const int32_t mode = mode_bits(c, x, y, 3);
    for (int k = 0; k < 4; k++) { /* bit r: reference r as expected */
        tsr_dirac_block block = { .mode = 3 };
        int usable = 1;
        int32_t bits = mode;
        for (int r = 0; r < 2; r++) {
            if (k >> r & 1) {
                block.vector[r][0] = (int16_t)expected[r][0];
                block.vector[r][1] = (int16_t)expected[r][1];
                usable &= memcmp(block.vector[r], unit->vector[r], sizeof block.vector[r]) != 0 &&
                          tsr_dirac_vector_allowed(c->s, part, expected[r][0], expected[r][1]);
            } else memcpy(block.vector[r], unit->vector[r], sizeof block.vector[r]);
            bits += vector_bits(block.vector[r], expected[r]);
        }
        if (!usable || price(c, bits) >= b->cost) continue;
        const int32_t cost = k ? tsr_dirac_unit_cost(c->s, 2, part, (const int16_t(*)[2])block.vector) : unit->both;
        consider(b, &block, cost, price(c, bits));
    }
}

/* Chooses for one unit and enters it; its cost. */
static int64_t choose_unit(const choice *c, int32_t x, int32_t y, int32_t size, const tsr_dirac_found *unit)
{
    const tsr_dirac_search *s = c->s;
    const tsr_dirac_part part = tsr_dirac_unit_part(s, x, y, size);
    tsr_dirac_block *first = c->blocks.block + (int64_t)y * c->blocks.columns + x;
    int32_t expected[2][2] = { { 0 } };
    best b = { .cost = INT64_MAX };
    for (int r = 0; r < s->p->references; r++) tsr_dirac_expected_vector(&c->blocks, x, y, r, expected[r]);
    if (part.w <= 0 || part.h <= 0) { /* nobody sees it: whatever costs nothing, but never flat */
        int32_t mode = 0;
        for (int bit = 0; bit < s->p->references; bit++) mode |= tsr_dirac_expected_flag(&c->blocks, x, y, bit) << bit;
        b.block.mode = (uint8_t)(mode ? mode : 1);
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 2 && (b.block.mode >> r & 1); k++) b.block.vector[r][k] = (int16_t)expected[r][k];
        b.cost = 0;
    } else {
        const int32_t *sep = s->p->separation;
        b.part = (int64_t)part.w * part.h;
        b.area = (int64_t)tsr_maxi(tsr_mini((x + size) * sep[0], s->source->width[0]) - x * sep[0], 0) *
                 tsr_maxi(tsr_mini((y + size) * sep[1], s->source->height[0]) - y * sep[1], 0);
        for (int r = 0; r < s->p->references; r++) consider_one(c, x, y, part, r, (const int32_t(*)[2])expected, unit, &b);
        if (s->p->references == 2) consider_both(c, x, y, part, (const int32_t(*)[2])expected, unit, &b);
        tsr_dirac_block block = { .mode = 0 };
        const int64_t before = b.cost;
        consider(&b, &block, unit->flat + part.w * part.h / 4, price(c, mode_bits(c, x, y, 0) + 16 * 16 + FLAT_PENALTY));
        if (b.cost < before) flat_values(c, x, y, size, b.block.dc);
    }
    for (int32_t k = 0; k < size * size; k++) first[(int64_t)(k / size) * c->blocks.columns + k % size] = b.block;
    return b.cost;
}

static int64_t choose_split(const choice *c, int32_t sx, int32_t sy, int split, const tsr_dirac_found *units)
{
    const int32_t n = 1 << split, size = 4 >> split, begin = split == 0 ? 0 : split == 1 ? 1 : 5;
    int64_t cost = 0;
    for (int32_t k = 0; k < n * n; k++) cost += choose_unit(c, 4 * sx + k % n * size, 4 * sy + k / n * size, size, units + begin + k);
    return cost;
}

double tsr_dirac_choose_blocks(const tsr_dirac_search *s, const tsr_dirac_plane plane[3], tsr_dirac_block *blocks, uint8_t *splits)
{
    const choice c = { .s = s, .plane = plane, .blocks = { blocks, s->p->blocks_x } };
    const int32_t sbx = s->p->blocks_x / 4, sby = s->p->blocks_y / 4;
    double all = 0;
    for (int32_t sy = 0; sy < sby; sy++)
        for (int32_t sx = 0; sx < sbx; sx++) {
            uint8_t *row = splits + (int64_t)sy * sbx, *above = sy ? row - sbx : row;
            const tsr_dirac_found *units = s->units + ((int64_t)sy * sbx + sx) * TSR_SEARCH_UNITS;
            const int32_t expected = tsr_dirac_expected_split(above, row, sx, sy);
            tsr_dirac_block kept[16];
            int64_t least = INT64_MAX;
            for (int split = 0; split < 3; split++) {
                const int64_t cost = choose_split(&c, sx, sy, split, units) + price(&c, split == expected ? SPLIT_SAME : SPLIT_OTHER);
                if (cost >= least) continue;
                least = cost;
                splits[(int64_t)sy * sbx + sx] = (uint8_t)split;
                for (int32_t k = 0; k < 16; k++) kept[k] = blocks[(4 * sy + k / 4) * (int64_t)s->p->blocks_x + 4 * sx + k % 4];
            }
            for (int32_t k = 0; k < 16; k++) blocks[(4 * sy + k / 4) * (int64_t)s->p->blocks_x + 4 * sx + k % 4] = kept[k];
            all += (double)least;
        }
    return all / ((double)s->source->width[0] * s->source->height[0]);
}
