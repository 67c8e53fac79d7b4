/* video/multiview/mvv_spiht_encode.c: sets are asked in constant time, by arrays of the greatest magnitude below each coefficient. */
#include "video/multiview/mvv_spiht.h"

int tsr_mvv_list_reserve(tsr_mvv_list *l, int64_t room)
{
    if (room <= l->room) return 1;
    int64_t more = l->room ? l->room : 1024;
    while (more < room) more *= 2;
    uint32_t *grown = (uint32_t *)realloc(l->item, (size_t)more * sizeof *grown);
    if (!grown) return 0;
    l->item = grown;
    l->room = more;
    return 1;
}

void tsr_mvv_coder_free(tsr_mvv_coder *c)
{
    free(c->pixels.item);
    free(c->sets.item);
    free(c->found.item);
    free(c->value.item);
    free(c->out.word);
    free(c->set.word);
    free(c->child.word);
    free(c->sign.word);
    memset(c, 0, sizeof *c);
}

static uint32_t size_of(int32_t v) { return (uint32_t)(v < 0 ? -v : v); }

/* The row of level `level` at v, s, t: from `begin` on, 2^min(level, bits) wide. */
static void raise_row(const tsr_mvv_shape *shape, const int32_t *value, tsr_mvv_sets *sets, int32_t level, uint32_t row, uint32_t begin, uint32_t end)
{
    for (uint32_t u = begin; u < end; u++) {
        const uint32_t x = row | u, parent = tsr_mvv_parent(shape, x, level);
        const uint8_t below = sets->all[x], own = (uint8_t)tsr_mvv_scale(size_of(value[x])), both = own > below ? own : below;
        if (both > sets->all[parent]) sets->all[parent] = both;
        if (below > sets->but_children[parent]) sets->but_children[parent] = below;
    }
}

void tsr_mvv_sets_make(const tsr_mvv_shape *shape, const int32_t *value, tsr_mvv_sets *sets)
{
    memset(sets->all, 0, (size_t)1 << shape->all);
    memset(sets->but_children, 0, (size_t)1 << shape->all);
    for (int32_t level = shape->levels; level > 0; level--) {
        uint32_t n[TSR_MVV_AXES];
        for (int a = 0; a < TSR_MVV_AXES; a++) n[a] = 1u << (shape->bits[a] < level ? shape->bits[a] : level);
        for (uint32_t t = 0; t < n[3]; t++)
            for (uint32_t s = 0; s < n[2]; s++)
                for (uint32_t v = 0; v < n[1]; v++) {
                    const uint32_t inner = tsr_mvv_scale(t | s | v) < level ? 1u << (level - 1) : 0; /* what lies before is of lower levels */
                    raise_row(shape, value, sets, level, t << shape->shift[3] | s << shape->shift[2] | v << shape->shift[1], inner, n[0]);
                }
    }
}

typedef struct encoding {
    tsr_mvv_coder *c;
    const tsr_mvv_shape *shape;
    const int32_t *value;
    const tsr_mvv_sets *sets;
    tsr_mvv_bits *set, *child, *sign; /* where they go: serial, all to the same row */
    int32_t plane;
    int failed;
} encoding;

/* A coefficient that no plane before found: its significance to `row`, its sign; 1 if it is found now. */
static int pixel(encoding *e, uint32_t x, tsr_mvv_bits *row)
{
    const int32_t v = e->value[x];
    const uint32_t bit = size_of(v) >> e->plane & 1;
    tsr_mvv_bits_put(row, bit);
    if (!bit) return 0;
    tsr_mvv_bits_put(e->sign, v < 0);
    e->failed |= !tsr_mvv_list_add(&e->c->found, x);
    return 1;
}

static void pixels(encoding *e)
{
    tsr_mvv_list *list = &e->c->pixels;
    int64_t kept = 0;
    for (int64_t k = 0; k < list->count; k++)
        if (!pixel(e, list->item[k], e->set)) list->item[kept++] = list->item[k];
    list->count = kept;
}

/* All descendants: if one is significant, the children are looked at, and what is below them becomes a set of its own. 1 if the set stays. */
static int set_a(encoding *e, uint32_t x, int32_t level)
{
    const uint32_t significant = e->sets->all[x] > e->plane, base = tsr_mvv_base(e->shape, x, level);
    tsr_mvv_bits_put(e->set, significant);
    if (!significant) return 1;
    for (int32_t k = tsr_mvv_first_child(x); k < e->shape->children[level]; k++) {
        const uint32_t y = base + e->shape->child[level][k];
        if (!pixel(e, y, e->child)) e->failed |= !tsr_mvv_list_add(&e->c->pixels, y);
    }
    if (tsr_mvv_has_grandchildren(e->shape, x, level)) e->failed |= !tsr_mvv_list_add(&e->c->sets, x | TSR_MVV_SET_B);
    return 0;
}

static int set_b(encoding *e, uint32_t x, int32_t level)
{
    const uint32_t significant = e->sets->but_children[x] > e->plane, base = tsr_mvv_base(e->shape, x, level);
    tsr_mvv_bits_put(e->set, significant);
    if (!significant) return 1;
    for (int32_t k = tsr_mvv_first_child(x); k < e->shape->children[level]; k++) {
        const uint32_t y = base + e->shape->child[level][k];
        if (tsr_mvv_has_children(e->shape, y, level + 1)) e->failed |= !tsr_mvv_list_add(&e->c->sets, y);
    }
    return 0;
}

/* One syntax or the other: the groups of planes follow each other in the main row. */
static void flush(encoding *e)
{
    if (e->set == &e->c->out) return;
    tsr_mvv_bits_append(&e->c->out, e->set);
    tsr_mvv_bits_append(&e->c->out, e->child);
    tsr_mvv_bits_append(&e->c->out, e->sign);
}

/* Generation after generation: the sets of the list, those that they put behind it, and so on. */
static void sorting(encoding *e, int64_t enough)
{
    tsr_mvv_list *list = &e->c->sets;
    int64_t kept = 0, begin = 0;
    pixels(e);
    flush(e);
    for (int64_t end = list->count; begin < end && !e->failed && e->c->out.count < enough; begin = end, end = list->count) {
        for (int64_t k = begin; k < end; k++) {
            const uint32_t entry = list->item[k], x = entry & ~(uint32_t)TSR_MVV_SET_B;
            const int32_t level = tsr_mvv_level(e->shape, x);
            if (entry & TSR_MVV_SET_B ? set_b(e, x, level) : set_a(e, x, level)) list->item[kept++] = entry;
        }
        flush(e);
    }
    list->count = kept;
}

static void plane(encoding *e, int64_t enough)
{
    const int64_t before = e->c->found.count;
    sorting(e, enough);
    for (int64_t k = 0; k < before; k++) tsr_mvv_bits_put(&e->c->out, size_of(e->value[e->c->found.item[k]]) >> e->plane & 1);
}

static int start(tsr_mvv_coder *c)
{
    tsr_mvv_bits *rows[4] = { &c->out, &c->set, &c->child, &c->sign };
    c->pixels.count = c->sets.count = c->found.count = c->value.count = 0;
    for (int k = 0; k < 4; k++) {
        if (rows[k]->room) memset(rows[k]->word, 0, (size_t)rows[k]->room * 8);
        rows[k]->count = 0;
        rows[k]->failed = 0;
    }
    return tsr_mvv_list_add(&c->pixels, 0);
}

static void put_bytes(tsr_mvv_bits *b, uint32_t value, int bytes)
{
    for (int k = 0; k < 8 * bytes; k++) tsr_mvv_bits_put(b, value >> k & 1);
}

tsr_status tsr_mvv_spiht_encode(tsr_mvv_coder *c, const tsr_mvv_shape *shape, const int32_t *value, const tsr_mvv_sets *sets, tsr_multiview_syntax syntax,
                                int64_t budget, uint8_t **bytes, int64_t *size)
{
    const int serial = syntax == TSR_MULTIVIEW_SYNTAX_SERIAL;
    encoding e = { .c = c, .shape = shape, .value = value, .sets = sets };
    const uint32_t root = (uint32_t)tsr_mvv_scale(size_of(value[0])), below = sets->all[0], planes = root > below ? root : below;
    uint32_t offset[TSR_MVV_MOST_PLANES];
    e.failed = !start(c);
    if (tsr_mvv_has_children(shape, 0, 0)) e.failed |= !tsr_mvv_list_add(&c->sets, 0);
    e.set = serial ? &c->out : &c->set;
    e.child = serial ? &c->out : &c->child;
    e.sign = serial ? &c->out : &c->sign;
    put_bytes(&c->out, planes, 1);
    for (uint32_t k = 0; !serial && k < planes; k++) put_bytes(&c->out, 0, 4);
    const int64_t first = c->out.count / 8, enough = tsr_min64(budget, INT64_MAX / 16) * 8;
    for (uint32_t k = 0; k < planes && !e.failed; k++) {
        while (!serial && c->out.count & 7) tsr_mvv_bits_put(&c->out, 0);
        offset[k] = (uint32_t)tsr_min64(c->out.count / 8 - first, tsr_max64(0, budget - first));
        e.plane = (int32_t)(planes - 1 - k);
        if (c->out.count < enough) plane(&e, enough);
    }
    if (e.failed || c->out.failed) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for the lists of a stream");
    *bytes = (uint8_t *)c->out.word; /* of a little-endian host: bytes in the order of bits */
    for (int64_t k = 0; k < (c->out.count + 63) / 64; k++) c->out.word[k] = TSR_LE(64, c->out.word[k]);
    for (uint32_t k = 0; !serial && k < planes; k++) tsr_put_u32(*bytes + 1 + 4 * k, offset[k]);
    *size = tsr_min64(budget, (c->out.count + 7) / 8);
    return TSR_OK;
}
