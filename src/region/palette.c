/* region/palette.c: colours as voxels of an octree of eight levels. Pixels sorted by the Morton code of their colour are the base; a cell of any level is
 * a range of them. */
#include "tessera/image.h"

#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"
#include "device/backend.h"
#include "region/region.h"
#include "tessera/primitives.h"

enum { TOP = 8, CODE_BITS = 3 * TOP };

struct colour { /* that occurs: what its pixels sum up to */
    uint32_t code;
    int64_t pixels, sum[3];
};

struct cell { /* colours [first, last) of a cell of this level; part: not all of it, but siblings of the level below */
    int64_t pixels, first, last;
    int32_t level, part;
};

struct tsr_colours {
    int32_t count, bits[3];
    int64_t colours;
    tsr_colours_entry *entry;
    uint32_t *code; /* of the entries' cells, for searches */
};

static void rgb_of(const tsr_image *image, int64_t i, uint32_t rgb[3])
{
    const uint8_t *p = image->pixels + i * image->channels;
    for (int k = 0; k < 3; k++) rgb[k] = p[image->channels >= 3 ? k : 0];
}

static uint32_t code_of(const uint32_t rgb[3], const int32_t bits[3])
{
    int64_t at[3];
    for (int k = 0; k < 3; k++) at[k] = (int64_t)(rgb[k] >> (TOP - bits[k]) << (TOP - bits[k]));
    return (uint32_t)tsr_region_code(3, at[0], at[1], at[2]);
}

struct pixels {
    const tsr_colours *palette;
    const tsr_image *image;
    uint64_t *key; /* code << 24 | all bits of the colour */
    uint16_t *index;
};

static void key_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pixels *w = (const struct pixels *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t rgb[3];
        rgb_of(w->image, i, rgb);
        w->key[i] = (uint64_t)code_of(rgb, w->palette->bits) << 24 | rgb[0] << 16 | rgb[1] << 8 | rgb[2];
    }
}

static tsr_status sort_keys(tsr_context *context, uint64_t *key, int64_t count)
{
    const size_t bytes = (size_t)count * sizeof *key;
    size_t work_bytes = 0;
    void *from = NULL, *to = NULL, *work = NULL;
    tsr_status status;
    TSR_TRY(tsr_sort_workspace(context, TSR_U64, 0, count, &work_bytes));
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &from), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, bytes, &to), done);
    TSR_TRY_GOTO(tsr_device_allocate(context, work_bytes, &work), done);
    TSR_TRY_GOTO(tsr_device_move(context, from, NULL, key, bytes), done);
    TSR_TRY_GOTO(tsr_sort(context, TSR_U64, from, to, NULL, NULL, count, 24, 24 + CODE_BITS, work, work_bytes), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, key, context, to, bytes), done);
done:
    if (from) tsr_device_release(context, from, bytes);
    if (to) tsr_device_release(context, to, bytes);
    if (work) tsr_device_release(context, work, work_bytes);
    return status;
}

static int64_t gather_colours(const uint64_t *key, int64_t count, struct colour *colour)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i == 0 || key[i] >> 24 != key[i - 1] >> 24) {
            if (colour) colour[n] = (struct colour){ .code = (uint32_t)(key[i] >> 24) };
            n++;
        }
        if (!colour) continue;
        colour[n - 1].pixels++;
        for (int k = 0; k < 3; k++) colour[n - 1].sum[k] += (int64_t)(key[i] >> (16 - 8 * k) & 255u);
    }
    return n;
}

/* First colour at or behind i of another cell of this level. */
static int64_t cell_end(const struct colour *colour, int64_t count, int64_t i, int32_t level)
{
    const uint32_t own = colour[i].code >> (3 * level);
    while (i < count && colour[i].code >> (3 * level) == own) i++;
    return i;
}

static struct cell cell_at(const struct colour *colour, int64_t first, int64_t last, int32_t level)
{
    struct cell c = { 0, first, last, level, 0 };
    for (int64_t i = first; i < last; i++) c.pixels += colour[i].pixels;
    return c;
}

/* More pixels, or as many and first in order. */
static int heavier(const struct cell *a, const struct cell *b) { return a->pixels != b->pixels ? a->pixels > b->pixels : a->first < b->first; }

static void sink(struct cell *heap, int64_t count, int64_t i)
{
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= count) return;
        if (child + 1 < count && heavier(&heap[child + 1], &heap[child])) child++;
        if (!heavier(&heap[child], &heap[i])) return;
        const struct cell c = heap[i];
        heap[i] = heap[child];
        heap[child] = c;
        i = child;
    }
}
static void rise(struct cell *heap, int64_t i)
{
    while (i > 0 && heavier(&heap[i], &heap[(i - 1) / 2])) {
        const struct cell c = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = c;
        i = (i - 1) / 2;
    }
}

static int by_first(const void *a, const void *b)
{
    const struct cell *x = (const struct cell *)a, *y = (const struct cell *)b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* |sum of colours|^2 / pixels: the larger the total over the parts, the less the pixels differ from the means of their parts. */
static double likeness(const struct colour *colour, int64_t first, int64_t last)
{
    int64_t pixels = 0, sum[3] = { 0, 0, 0 };
    for (int64_t i = first; i < last; i++) {
        pixels += colour[i].pixels;
        for (int k = 0; k < 3; k++) sum[k] += colour[i].sum[k];
    }
    double squares = 0;
    for (int k = 0; k < 3; k++) squares += (double)sum[k] * (double)sum[k];
    return squares / (double)pixels;
}

/* Children of cell c, in order, as `parts` neighbourly groups, fewer than they are, of least squared error; of as little, the first by the mask of where
 * groups begin. */
static void divide(const struct colour *colour, const struct cell *c, int32_t parts, struct cell group[8])
{
    int64_t first[9];
    int32_t children = 0, best = -1, n = 0;
    double most = 0;
    for (int64_t i = c->first; i < c->last; i = cell_end(colour, c->last, i, c->level - 1)) first[children++] = i;
    first[children] = c->last;
    for (int32_t mask = 0; mask < 1 << (children - 1); mask++) { /* bit b: a group begins at child b + 1 */
        double total = 0;
        if (__builtin_popcount((unsigned)mask) != parts - 1) continue;
        for (int32_t b = 0, from = 0; b < children; b++)
            if (b == children - 1 || (mask >> b & 1)) {
                total += likeness(colour, first[from], first[b + 1]);
                from = b + 1;
            }
        if (best >= 0 && total <= most) continue;
        best = mask;
        most = total;
    }
    for (int32_t b = 0, from = 0; b < children; b++)
        if (b == children - 1 || (best >> b & 1)) {
            const int32_t part = b > from;
            group[n] = cell_at(colour, first[from], first[b + 1], part ? c->level : c->level - 1);
            group[n++].part = part;
            from = b + 1;
        }
}

/* The cells of the palette into `cell`, which has room for `most`; returns how many. */
static int64_t choose(const struct colour *colour, int64_t count, int64_t most, struct cell *heap, struct cell *cell)
{
    int32_t level = 0;
    int64_t heaped = 0, done = 0;
    for (;; level++) { /* the top has one */
        int64_t cells = 0;
        for (int64_t i = 0; i < count; i = cell_end(colour, count, i, level)) cells++;
        if (cells <= most) break;
    }
    for (int64_t i = 0, end; i < count; i = end) {
        end = cell_end(colour, count, i, level);
        heap[heaped] = cell_at(colour, i, end, level);
        rise(heap, heaped++);
    }
    while (heaped > 0) {
        const struct cell c = heap[0];
        int64_t children = 0;
        heap[0] = heap[--heaped];
        sink(heap, heaped, 0);
        for (int64_t i = c.first; i < c.last && c.level; i = cell_end(colour, c.last, i, c.level - 1)) children++;
        const int64_t room = most - done - heaped;
        if (c.level == 0 || (children > room && room == 1)) {
            cell[done++] = c;
            continue;
        }
        if (children > room) {
            struct cell group[8];
            divide(colour, &c, (int32_t)room, group);
            for (int64_t i = 0; i < room; i++) {
                if (group[i].part) {
                    cell[done++] = group[i];
                } else {
                    heap[heaped] = group[i];
                    rise(heap, heaped++);
                }
            }
            continue;
        }
        for (int64_t i = c.first, end; i < c.last; i = end) {
            end = cell_end(colour, c.last, i, c.level - 1);
            heap[heaped] = cell_at(colour, i, end, c.level - 1);
            rise(heap, heaped++);
        }
    }
    qsort(cell, (size_t)done, sizeof *cell, by_first);
    return done;
}

static void make_entry(const struct colour *colour, const struct cell *c, tsr_colours_entry *e, uint32_t *code)
{
    const int32_t begins = c->level - c->part;
    int64_t sum[3] = { 0, 0, 0 }, corner[3];
    *code = colour[c->first].code >> (3 * begins) << (3 * begins);
    tsr_region_decode(3, *code, corner);
    for (int64_t i = c->first; i < c->last; i++)
        for (int k = 0; k < 3; k++) sum[k] += colour[i].sum[k];
    e->level = c->level;
    e->pixels = c->pixels;
    for (int k = 0; k < 3; k++) {
        e->lower[k] = (uint8_t)corner[k];
        e->colour[k] = (uint8_t)((2 * sum[k] + c->pixels) / (2 * c->pixels));
    }
}

static tsr_status check_image(const tsr_image *image)
{
    if (!image || !image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "palette: the image is NULL or has no pixels");
    if (image->width < 1 || image->height < 1 || (image->channels != 1 && image->channels != 3 && image->channels != 4))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "palette: an image of %d x %d pixels and %d channels, expected 1, 3 or 4 channels", image->width, image->height,
                 image->channels);
    return TSR_OK;
}

tsr_status tsr_colours_create(tsr_context *context, const tsr_image *image, const tsr_colours_options *options, tsr_colours **palette)
{
    TSR_RETURNS(palette);
    TSR_NEEDS(context, image);
    tsr_colours_options own;
    tsr_status status;
    TSR_TRY(check_image(image));
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (!own.colours) own.colours = 256;
    if (own.colours < 1 || own.colours > 65536) TSR_FAIL(TSR_ERROR_ARGUMENT, "palette: colours is %d, expected 1 to 65536", own.colours);
    for (int k = 0; k < 3; k++) {
        if (!own.bits[k]) own.bits[k] = TOP;
        if (own.bits[k] < 1 || own.bits[k] > TOP) TSR_FAIL(TSR_ERROR_ARGUMENT, "palette: bits of channel %d is %d, expected 1 to 8", k, own.bits[k]);
    }
    const int64_t count = (int64_t)image->width * image->height;
    struct colour *colour = NULL;
    struct cell *cells = NULL;
    uint64_t *key = (uint64_t *)malloc((size_t)count * sizeof *key);
    tsr_colours *p = (tsr_colours *)calloc(1, sizeof *p);
    if (!key || !p) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "palette: no memory for %lld pixels", (long long)count);
    memcpy(p->bits, own.bits, sizeof p->bits);
    struct pixels work = { .palette = p, .image = image, .key = key };
    tsr_parallel(context->threads, count, 1 << 15, key_range, &work);
    TSR_TRY_GOTO(sort_keys(context, key, count), done);
    p->colours = gather_colours(key, count, NULL);
    colour = (struct colour *)malloc((size_t)p->colours * sizeof *colour);
    cells = (struct cell *)malloc(2 * (size_t)own.colours * sizeof *cells);
    p->entry = (tsr_colours_entry *)calloc((size_t)own.colours, sizeof *p->entry);
    p->code = (uint32_t *)calloc((size_t)own.colours, sizeof *p->code);
    if (!colour || !cells || !p->entry || !p->code)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "palette: no memory for %lld colours", (long long)p->colours);
    gather_colours(key, count, colour);
    p->count = (int32_t)choose(colour, p->colours, own.colours, cells, cells + own.colours);
    for (int32_t i = 0; i < p->count; i++) make_entry(colour, &cells[own.colours + i], &p->entry[i], &p->code[i]);
    *palette = p;
    p = NULL;
    status = TSR_OK;
done:
    tsr_colours_destroy(&p);
    free(key);
    free(colour);
    free(cells);
    return status;
}

void tsr_colours_destroy(tsr_colours **palette)
{
    if (!palette || !*palette) return;
    free((*palette)->entry);
    free((*palette)->code);
    free(*palette);
    *palette = NULL;
}

int32_t tsr_colours_count(const tsr_colours *p) { return p ? p->count : 0; }
int64_t tsr_colours_found(const tsr_colours *p) { return p ? p->colours : 0; }
const tsr_colours_entry *tsr_colours_entries(const tsr_colours *p) { return p ? p->entry : NULL; }

/* The last entry whose cell does not begin behind the code holds it, or none does. */
static int32_t find(const tsr_colours *p, uint32_t code)
{
    int32_t low = 0, high = p->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (p->code[middle] <= code) low = middle + 1;
        else high = middle;
    }
    return low && !((p->code[low - 1] ^ code) >> (3 * p->entry[low - 1].level)) ? low - 1 : -1;
}

static int32_t nearest(const tsr_colours *p, const uint32_t rgb[3])
{
    int32_t best = 0;
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < p->count; i++) {
        int64_t d = 0;
        for (int k = 0; k < 3; k++) d += ((int64_t)rgb[k] - p->entry[i].colour[k]) * ((int64_t)rgb[k] - p->entry[i].colour[k]);
        if (d < least) {
            least = d;
            best = i;
        }
    }
    return best;
}

static void map_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct pixels *w = (const struct pixels *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t rgb[3];
        rgb_of(w->image, i, rgb);
        const int32_t entry = find(w->palette, code_of(rgb, w->palette->bits));
        w->index[i] = (uint16_t)(entry >= 0 ? entry : nearest(w->palette, rgb));
    }
}

tsr_status tsr_colours_map(const tsr_colours *palette, tsr_context *context, const tsr_image *image, uint16_t *indices)
{
    TSR_NEEDS(palette, context, image, indices);
    TSR_TRY(check_image(image));
    struct pixels work = { .palette = palette, .image = image, .index = indices };
    tsr_parallel(context->threads, (int64_t)image->width * image->height, 1 << 12, map_range, &work);
    return TSR_OK;
}
