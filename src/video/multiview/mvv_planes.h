/* video/multiview/mvv_planes.h: what a decoder does with the bits of one entry of its lists, on every backend; and whole passes, bit by bit, for
 * serial
 * syntax and for where a stream is cut off. docs/formats/mvv.md, "spiht4d". */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_PLANES_H
#define TSR_VIDEO_MULTIVIEW_MVV_PLANES_H

#include "video/multiview/mvv_tree.h"

enum {
    TSR_MVV_MOST_PLANES = 28,
    TSR_MVV_REFINED = 64, /* bits of refinement that a stream which is cut off gives up together: fewer could be worse than none */
};
#define TSR_MVV_SET_B 0x80000000u /* of an entry: the set is of descendants but for children */
#define TSR_MVV_NEGATIVE 0x80000000u

/* Planes of the greatest magnitude among descendants, and among those but for children: 0 where all are zero. */
typedef struct tsr_mvv_sets {
    uint8_t *all, *but_children;
} tsr_mvv_sets;

TSR_HD uint32_t tsr_mvv_size_of(int32_t v) { return (uint32_t)(v < 0 ? -v : v); }
TSR_HD uint32_t tsr_mvv_is_significant(const tsr_mvv_sets *sets, uint32_t entry, int32_t plane)
{
    return (entry & TSR_MVV_SET_B ? sets->but_children[entry & ~TSR_MVV_SET_B] : sets->all[entry]) > plane;
}

/* A magnitude with its sign in bit 31. */
TSR_HD int32_t tsr_mvv_signed(uint32_t value) { return value & TSR_MVV_NEGATIVE ? -(int32_t)(value & ~TSR_MVV_NEGATIVE) : (int32_t)value; }

typedef struct tsr_mvv_state {
    const tsr_mvv_shape *shape;
    const uint8_t *bytes;
    int64_t end;         /* bits that are there */
    int64_t at[3];       /* where the next bits are: of sets, children, signs; serial: all in the first */
    int32_t child, sign; /* 1 and 2, serial 0 */
    int32_t plane, cut;
    uint32_t *pixels, *sets, *found, *value; /* there is room for what may come */
    int64_t pixel_count, set_count, found_count;
} tsr_mvv_state;

TSR_HD uint32_t tsr_mvv_bit_of(const uint8_t *bytes, int64_t at) { return (uint32_t)(bytes[at >> 3] >> (at & 7) & 1); }

/* The next bit of a kind; 0 and `cut` where there is none. */
TSR_HD uint32_t tsr_mvv_next(tsr_mvv_state *s, int32_t kind)
{
    const int64_t at = s->at[kind]++;
    if (at < s->end) return tsr_mvv_bit_of(s->bytes, at);
    s->cut = 1;
    return 0;
}

/* A value of which the bits from `plane` on are known: in the middle of what it may be. One found at a plane; then with one bit more. */
TSR_HD uint32_t tsr_mvv_middle(uint32_t value, int32_t plane)
{
    const uint32_t below = (1u << plane) - 1;
    return (value & ~below) | below >> 1;
}
TSR_HD uint32_t tsr_mvv_first_value(int32_t plane, uint32_t negative) { return tsr_mvv_middle(1u << plane | negative << 31, plane); }
TSR_HD uint32_t tsr_mvv_refined(uint32_t value, int32_t plane, uint32_t bit)
{
    return tsr_mvv_middle((value & ~(1u << plane)) | bit << plane, plane);
}

TSR_HD int tsr_mvv_find(tsr_mvv_state *s, uint32_t x) /* 0 where the sign is not there */
{
    const uint32_t sign = tsr_mvv_next(s, s->sign);
    if (s->cut) return 0;
    s->found[s->found_count] = x;
    s->value[s->found_count++] = tsr_mvv_first_value(s->plane, sign);
    return 1;
}

/* Children of a set that has some bit or other of its own. */
TSR_HD int32_t tsr_mvv_children_of(const tsr_mvv_shape *shape, uint32_t x, int32_t level) { return shape->children[level] - tsr_mvv_first_child(x); }

/* A set of kind A or B that is significant. */
TSR_HD void tsr_mvv_open_set(tsr_mvv_state *s, uint32_t entry)
{
    const uint32_t x = entry & ~TSR_MVV_SET_B;
    const int32_t level = tsr_mvv_level(s->shape, x);
    const uint32_t base = tsr_mvv_base(s->shape, x, level);
    for (int32_t k = tsr_mvv_first_child(x); k < s->shape->children[level]; k++) {
        const uint32_t y = base + s->shape->child[level][k];
        if (entry & TSR_MVV_SET_B) {
            if (tsr_mvv_has_children(s->shape, y, level + 1)) s->sets[s->set_count++] = y;
            continue;
        }
        if (!(tsr_mvv_next(s, s->child) && tsr_mvv_find(s, y)) && !s->cut) s->pixels[s->pixel_count++] = y;
        if (s->cut) return;
    }
    if (!(entry & TSR_MVV_SET_B) && tsr_mvv_has_grandchildren(s->shape, x, level)) s->sets[s->set_count++] = x | TSR_MVV_SET_B;
}

TSR_HD void tsr_mvv_pixels_by_bit(tsr_mvv_state *s)
{
    const int64_t count = s->pixel_count;
    int64_t kept = 0;
    if (s->sign) s->at[2] = s->at[0] + count;
    for (int64_t k = 0; k < count && !s->cut; k++) {
        const uint32_t x = s->pixels[k];
        if (!(tsr_mvv_next(s, 0) && tsr_mvv_find(s, x))) s->pixels[kept++] = x;
    }
    s->pixel_count = kept;
    if (s->sign) s->at[0] = s->at[2];
}

/* Sets [begin, end) of the list; those that stay move to *kept. Planes: at[1] and at[2] are where the groups begin. */
TSR_HD void tsr_mvv_sets_by_bit(tsr_mvv_state *s, int64_t begin, int64_t end, int64_t *kept)
{
    for (int64_t k = begin; k < end && !s->cut; k++) {
        const uint32_t entry = s->sets[k];
        if (tsr_mvv_next(s, 0)) tsr_mvv_open_set(s, entry);
        else s->sets[(*kept)++] = entry;
    }
}

/* Bits of refinement that count, of `count`. */
TSR_HD int64_t tsr_mvv_refined_count(tsr_mvv_state *s, int64_t count)
{
    const int64_t there = s->end - s->at[0];
    if (there >= count) return count;
    s->cut = 1;
    return there / TSR_MVV_REFINED * TSR_MVV_REFINED;
}

#endif
