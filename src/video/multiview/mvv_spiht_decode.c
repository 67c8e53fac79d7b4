/* video/multiview/mvv_spiht_decode.c: the lists of the encoder again. What a stream that is cut off does not say stays unknown. */
#include "video/multiview/mvv_spiht.h"

typedef struct decoding {
    tsr_mvv_coder *c;
    const tsr_mvv_shape *shape;
    const uint8_t *bytes;
    int64_t end;                 /* bits that are there */
    int64_t at[3];               /* where the next bits are: of sets, children, signs; serial: all in the first */
    int child, sign;             /* 1 and 2, serial 0 */
    int32_t plane;
    int cut, failed;
} decoding;

/* The next bit of a kind; 0 and `cut` where there is none. */
static inline uint32_t next(decoding *d, int kind)
{
    const int64_t at = d->at[kind]++;
    if (at < d->end) return (uint32_t)tsr_mvv_bit_at(d->bytes, at);
    d->cut = 1;
    return 0;
}

/* A coefficient found at this plane: in the middle of what it may be. 0 where its sign is not there. */
static inline int find(decoding *d, uint32_t x)
{
    const uint32_t sign = next(d, d->sign);
    if (d->cut) return 0;
    d->failed |= !tsr_mvv_list_add(&d->c->found, x) || !tsr_mvv_list_add(&d->c->value, (3u << d->plane) >> 1 | sign << 31);
    return 1;
}

static void pixels(decoding *d)
{
    tsr_mvv_list *list = &d->c->pixels;
    int64_t kept = 0, k = 0;
    if (d->sign) d->at[2] = d->at[0] + list->count;
    for (; k < list->count && !d->cut; k++)
        if (!(next(d, 0) && find(d, list->item[k]))) list->item[kept++] = list->item[k];
    list->count = kept;
    if (d->sign) d->at[0] = d->at[2];
}

static int set_a(decoding *d, uint32_t x, int32_t level)
{
    const uint32_t base = tsr_mvv_base(d->shape, x, level);
    for (int32_t k = tsr_mvv_first_child(x); k < d->shape->children[level]; k++) {
        const uint32_t y = base + d->shape->child[level][k];
        if (!(next(d, d->child) && find(d, y)) && !d->cut) d->failed |= !tsr_mvv_list_add(&d->c->pixels, y);
        if (d->cut) return 0;
    }
    if (tsr_mvv_has_grandchildren(d->shape, x, level)) d->failed |= !tsr_mvv_list_add(&d->c->sets, x | TSR_MVV_SET_B);
    return 0;
}

static int set_b(decoding *d, uint32_t x, int32_t level)
{
    const uint32_t base = tsr_mvv_base(d->shape, x, level);
    for (int32_t k = tsr_mvv_first_child(x); k < d->shape->children[level]; k++) {
        const uint32_t y = base + d->shape->child[level][k];
        if (tsr_mvv_has_children(d->shape, y, level + 1)) d->failed |= !tsr_mvv_list_add(&d->c->sets, y);
    }
    return 0;
}

/* Where the groups of a generation of `count` sets from `first` on begin: after their bits those of their children, then the signs. */
static void place_groups(decoding *d, int64_t first, int64_t count)
{
    const uint32_t *item = d->c->sets.item + first;
    int64_t children = 0;
    d->at[1] = d->at[0] + count;
    for (int64_t k = 0; k < count && d->at[0] + k < d->end; k++)
        if (tsr_mvv_bit_at(d->bytes, d->at[0] + k) && !(item[k] & TSR_MVV_SET_B))
            children += d->shape->children[tsr_mvv_level(d->shape, item[k])] - tsr_mvv_first_child(item[k]);
    d->at[2] = d->at[1] + children;
}

static void sorting(decoding *d)
{
    tsr_mvv_list *list = &d->c->sets;
    int64_t kept = 0, begin = 0;
    pixels(d);
    for (int64_t end = list->count; begin < end && !d->cut && !d->failed; begin = end, end = list->count) {
        int64_t after = 0;
        if (d->sign) {
            place_groups(d, begin, end - begin);
            after = d->at[2] + tsr_mvv_bits_count(d->bytes, tsr_min64(d->at[1], d->end), tsr_min64(d->at[2], d->end));
        }
        for (int64_t k = begin; k < end && !d->cut; k++) {
            const uint32_t entry = list->item[k], x = entry & ~(uint32_t)TSR_MVV_SET_B;
            if (next(d, 0)) {
                const int32_t level = tsr_mvv_level(d->shape, x);
                if (entry & TSR_MVV_SET_B) set_b(d, x, level);
                else set_a(d, x, level);
            } else list->item[kept++] = entry;
        }
        if (d->sign) d->at[0] = after;
    }
    list->count = kept;
}

static void refinement(decoding *d, int64_t count)
{
    uint32_t *value = d->c->value.item;
    const uint32_t bit = 1u << d->plane;
    const int64_t there = tsr_min64(count, d->end - d->at[0]);
    const int64_t whole = there < count ? there / TSR_MVV_REFINED * TSR_MVV_REFINED : count;
    for (int64_t k = 0; k < whole; k++)
        value[k] = (value[k] & ~bit) | (uint32_t)tsr_mvv_bit_at(d->bytes, d->at[0] + k) << d->plane | bit >> 1;
    d->at[0] += whole;
    d->cut |= there < count;
}

tsr_status tsr_mvv_spiht_decode(tsr_mvv_coder *c, const tsr_mvv_shape *shape, const uint8_t *bytes, int64_t size, tsr_multiview_syntax syntax,
                                int32_t most_planes)
{
    const int serial = syntax == TSR_MULTIVIEW_SYNTAX_SERIAL;
    decoding d = { .c = c, .shape = shape, .bytes = bytes, .end = 8 * size, .child = serial ? 0 : 1, .sign = serial ? 0 : 2 };
    c->pixels.count = c->sets.count = c->found.count = c->value.count = 0;
    if (!size) return TSR_OK;
    const int32_t planes = bytes[0];
    if (planes > most_planes || planes > TSR_MVV_MOST_PLANES)
        TSR_FAIL(TSR_ERROR_FORMAT, "a stream of %d bit planes, expected at most %d", planes, most_planes);
    const int64_t first = serial ? 1 : 1 + 4 * planes;
    if (first > size) return TSR_OK; /* cut within its directory */
    d.failed = !tsr_mvv_list_add(&c->pixels, 0);
    if (tsr_mvv_has_children(shape, 0, 0)) d.failed |= !tsr_mvv_list_add(&c->sets, 0);
    d.at[0] = 8 * first;
    for (int32_t k = 0; k < planes && !d.cut && !d.failed; k++) {
        const int64_t before = c->found.count;
        if (!serial) { /* each plane begins where the one before ended, at a whole byte; a plane that was never written begins at the end */
            const int64_t place = 8 * (first + (int64_t)tsr_get_u32(bytes + 1 + 4 * k)), here = (d.at[0] + 7) / 8 * 8;
            if (place != here && place < d.end)
                TSR_FAIL(TSR_ERROR_FORMAT, "bit plane %d of a stream begins at byte %lld, its directory says %lld", k, (long long)(here / 8),
                         (long long)(place / 8));
            d.at[0] = here;
        }
        d.plane = planes - 1 - k;
        sorting(&d);
        if (!d.cut) refinement(&d, before);
    }
    if (d.failed) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the lists of a stream");
    return TSR_OK;
}
