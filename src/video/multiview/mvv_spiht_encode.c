/* video/multiview/mvv_spiht_encode.c: sets are asked in constant time, by arrays of the greatest magnitude below each coefficient. */
#include "video/multiview/mvv_spiht.h"

#include "core/parallel.h"

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
    for (int k = 0; k < c->parts; k++) tsr_mvv_coder_free(&c->part[k]);
    free(c->part);
    memset(c, 0, sizeof *c);
}

/* The row of level `level` at v, s, t: from `begin` on, 2^min(level, bits) wide. */
static void raise_row(const tsr_mvv_shape *shape, const int32_t *value, tsr_mvv_sets *sets, int32_t level, uint32_t row, uint32_t begin, uint32_t end)
{
    for (uint32_t u = begin; u < end; u++) {
        const uint32_t x = row | u, parent = tsr_mvv_parent(shape, x, level);
        const uint8_t below = sets->all[x], own = (uint8_t)tsr_mvv_scale(tsr_mvv_size_of(value[x])), both = own > below ? own : below;
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
    const uint32_t bit = tsr_mvv_size_of(v) >> e->plane & 1;
    tsr_mvv_bits_put(row, bit);
    if (!bit) return 0;
    tsr_mvv_bits_put(e->sign, v < 0);
    e->failed |= !tsr_mvv_list_add(&e->c->found, x);
    return 1;
}

/* All descendants: if one is significant, the children are looked at, and what is below them becomes a set of its own. 1 if the set stays. */
static int set_a(encoding *e, uint32_t x, int32_t level)
{
    const uint32_t significant = tsr_mvv_is_significant(e->sets, x, e->plane), base = tsr_mvv_base(e->shape, x, level);
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
    const uint32_t significant = tsr_mvv_is_significant(e->sets, x | TSR_MVV_SET_B, e->plane), base = tsr_mvv_base(e->shape, x, level);
    tsr_mvv_bits_put(e->set, significant);
    if (!significant) return 1;
    for (int32_t k = tsr_mvv_first_child(x); k < e->shape->children[level]; k++) {
        const uint32_t y = base + e->shape->child[level][k];
        if (tsr_mvv_has_children(e->shape, y, level + 1)) e->failed |= !tsr_mvv_list_add(&e->c->sets, y);
    }
    return 0;
}

/* ---- passes, in one piece or in parts --------------------------------------------------------------------------------------------------------- */

enum { PART = 4096 };
typedef enum pass { PIXELS, SETS, REFINEMENT } pass;

/* Entries [begin, end) of the pass's list; how many of them stay, which move to the beginning of the range. Sets may be put behind the list. */
static int64_t entries(encoding *e, pass kind, tsr_mvv_list *list, int64_t begin, int64_t end)
{
    int64_t kept = begin;
    for (int64_t k = begin; k < end; k++) {
        const uint32_t entry = list->item[k], x = entry & ~TSR_MVV_SET_B;
        int stays = 1;
        if (kind == PIXELS) stays = !pixel(e, entry, e->set);
        else if (kind == SETS) stays = entry & TSR_MVV_SET_B ? set_b(e, x, tsr_mvv_level(e->shape, x)) : set_a(e, x, tsr_mvv_level(e->shape, x));
        else tsr_mvv_bits_put(e->set, tsr_mvv_size_of(e->value[entry]) >> e->plane & 1);
        if (stays && kind != REFINEMENT) list->item[kept++] = entry;
    }
    return kept - begin;
}

typedef struct wave {
    encoding *e;
    pass kind;
    tsr_mvv_list *list;
    int64_t begin, end;
    int64_t *kept; /* of each part */
} wave;

/* Each part has lists and rows of bits of its own: what an entry puts out depends on nothing but the entry. */
static void code_parts(void *user, int64_t first, int64_t last, int worker)
{
    wave *w = (wave *)user;
    (void)worker;
    for (int64_t k = first; k < last; k++) {
        tsr_mvv_coder *c = &w->e->c->part[k];
        const int together = w->e->set == w->e->child;
        encoding own = *w->e;
        own.c = c;
        own.set = &c->set;
        own.child = together ? &c->set : &c->child;
        own.sign = together ? &c->set : &c->sign;
        own.failed = 0;
        w->kept[k] = entries(&own, w->kind, w->list, w->begin + k * PART, tsr_min64(w->end, w->begin + (k + 1) * PART));
        c->threads = own.failed; /* told to the others by this */
    }
}

static void join_list(encoding *e, tsr_mvv_list *to, tsr_mvv_list *from)
{
    if (!from->count) return;
    if (!tsr_mvv_list_reserve(to, to->count + from->count)) {
        e->failed = 1;
        return;
    }
    memcpy(to->item + to->count, from->item, (size_t)from->count * sizeof *to->item);
    to->count += from->count;
    from->count = 0;
}

/* Parts in their order: the same bits and the same lists as of one piece. */
static void join(encoding *e, wave *w, int64_t k, int64_t *kept)
{
    tsr_mvv_coder *c = &e->c->part[k];
    e->failed |= c->threads;
    tsr_mvv_bits_append(e->set, &c->set);
    if (e->child != e->set) tsr_mvv_bits_append(e->child, &c->child);
    if (e->sign != e->set) tsr_mvv_bits_append(e->sign, &c->sign);
    if (w->kind != REFINEMENT) memmove(w->list->item + *kept, w->list->item + w->begin + k * PART, (size_t)w->kept[k] * sizeof *w->list->item);
    *kept += w->kept[k];
    join_list(e, &e->c->found, &c->found);
    join_list(e, &e->c->pixels, &c->pixels);
    join_list(e, &e->c->sets, &c->sets);
}

/* Entries [begin, end) of a list; those that stay move to *kept. */
static void run(encoding *e, pass kind, tsr_mvv_list *list, int64_t begin, int64_t end, int64_t *kept)
{
    int64_t kept_of[64];
    if (e->c->parts < 2 || end - begin < 2 * PART) {
        const int64_t some = entries(e, kind, list, begin, end);
        if (*kept != begin && some) memmove(list->item + *kept, list->item + begin, (size_t)some * sizeof *list->item);
        *kept += some;
        return;
    }
    for (int64_t at = begin; at < end; at += (int64_t)e->c->parts * PART) {
        wave w = { e, kind, list, at, tsr_min64(end, at + (int64_t)e->c->parts * PART), kept_of };
        const int64_t parts = tsr_ceil_div(w.end - w.begin, PART);
        tsr_parallel(e->c->threads, parts, 1, code_parts, &w);
        for (int64_t k = 0; k < parts; k++) join(e, &w, k, kept);
    }
}

/* One syntax or the other: the groups of planes follow each other in the main row. */
static void flush(encoding *e)
{
    if (e->set == &e->c->out) return;
    tsr_mvv_bits_append(&e->c->out, e->set);
    tsr_mvv_bits_append(&e->c->out, e->child);
    tsr_mvv_bits_append(&e->c->out, e->sign);
}

/* Pixels; then generation after generation: the sets of the list, those that they put behind it, and so on; then what was found in planes before. */
static void plane(encoding *e, int64_t enough)
{
    tsr_mvv_list *sets = &e->c->sets;
    const int64_t before = e->c->found.count, count = e->c->pixels.count;
    int64_t kept = 0, begin = 0, refined = 0;
    run(e, PIXELS, &e->c->pixels, 0, count, &kept);
    e->c->pixels.count = kept;
    flush(e);
    kept = 0;
    for (int64_t end = sets->count; begin < end && !e->failed && e->c->out.count < enough; begin = end, end = sets->count) {
        run(e, SETS, sets, begin, end, &kept);
        flush(e);
    }
    sets->count = kept;
    run(e, REFINEMENT, &e->c->found, 0, before, &refined);
    flush(e);
}

/* Parts for the coder's threads. 0 without memory. */
static int make_parts(tsr_mvv_coder *c)
{
    const int parts = c->threads > 1 ? (int)tsr_min64(4 * (int64_t)c->threads, 64) : 0;
    if (parts <= c->parts) return 1;
    tsr_mvv_coder *grown = (tsr_mvv_coder *)realloc(c->part, (size_t)parts * sizeof *grown);
    if (!grown) return 0;
    memset(grown + c->parts, 0, (size_t)(parts - c->parts) * sizeof *grown);
    c->part = grown;
    c->parts = parts;
    return 1;
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
    return make_parts(c) && tsr_mvv_list_add(&c->pixels, 0);
}

static void put_bytes(tsr_mvv_bits *b, uint32_t value, int bytes)
{
    for (int k = 0; k < 8 * bytes; k++) tsr_mvv_bits_put(b, value >> k & 1);
}

tsr_status tsr_mvv_spiht_encode(tsr_mvv_coder *c, const tsr_mvv_shape *shape, const int32_t *value, const tsr_mvv_sets *sets,
                                tsr_multiview_syntax syntax, int64_t budget, uint8_t **bytes, int64_t *size)
{
    const int serial = syntax == TSR_MULTIVIEW_SYNTAX_SERIAL;
    encoding e = { .c = c, .shape = shape, .value = value, .sets = sets };
    const uint32_t root = (uint32_t)tsr_mvv_scale(tsr_mvv_size_of(value[0])), below = sets->all[0], planes = root > below ? root : below;
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
