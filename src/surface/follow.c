#include "surface/follow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_WORDS = 2048 }; /* that are fetched with the count: more than a brush reaches */

void tsr_follow_drop(tsr_follow *f)
{
    tsr_device_release(f->context, f->memory, f->bytes);
    free(f->words);
    free(f->kinds);
    *f = (tsr_follow){ .context = f->context };
}

/* Carves the arrays for `capacity` ids; `base` NULL only counts. */
static size_t carve(tsr_follow *f, int64_t capacity, char *base)
{
    size_t at = 0;
#define TAKE(field, type, count)                                  \
    do {                                                          \
        f->field = base ? (type *)(void *)(base + at) : NULL;     \
        at += ((size_t)(count) * sizeof(type) + 255) / 256 * 256; \
    } while (0)
    TAKE(key, uint64_t, capacity);
    TAKE(sum, uint64_t, capacity);
    TAKE(marks, uint8_t, 3 * capacity);
    TAKE(found, uint32_t, capacity + 1);
#undef TAKE
    return at;
}

/* Device memory and host memory for `capacity` ids, all unknown. */
static tsr_status take(tsr_follow *f, int64_t capacity)
{
    void *memory;
    if (capacity >= (int64_t)1 << 30)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "surface: a list with room for %lld tiles, expected fewer than 2^30 to follow it", (long long)capacity);
    uint32_t *words = (uint32_t *)realloc(f->words, ((size_t)capacity + 1) * sizeof *words);
    if (words) f->words = words;
    uint8_t *kinds = (uint8_t *)realloc(f->kinds, (size_t)capacity + 1);
    if (kinds) f->kinds = kinds;
    if (!words || !kinds) TSR_FAIL(TSR_ERROR_MEMORY, "surface: out of host memory for the places of %lld tiles", (long long)capacity);
    memset(kinds, 0, (size_t)capacity);
    const size_t bytes = carve(f, capacity, NULL);
    TSR_TRY(tsr_device_allocate(f->context, bytes, &memory));
    f->memory = memory;
    f->bytes = bytes;
    f->capacity = capacity;
    (void)carve(f, capacity, (char *)memory);
    TSR_TRY(f->context->backend->fill(f->context->queue, f->key, 0xff, (size_t)capacity * sizeof *f->key));
    return TSR_OK;
}

tsr_status tsr_follow_begin(tsr_follow *f, const tsr_tiles *tiles)
{
    tsr_follow_drop(f);
    TSR_TRY(take(f, tiles->pool.capacity));
    f->log2_edge = tiles->pool.log2_edge;
    f->geometry = tiles->geometry;
    f->band = tiles->pool.band;
    return TSR_OK;
}

int tsr_follow_goes_on(const tsr_follow *f, const tsr_tiles *tiles)
{
    return f->log2_edge == tiles->pool.log2_edge && !memcmp(&f->band, &tiles->pool.band, sizeof f->band) &&
           !memcmp(f->geometry.affine, tiles->geometry.affine, sizeof f->geometry.affine);
}

tsr_status tsr_follow_grow(tsr_follow *f, int64_t capacity)
{
    const tsr_backend *backend = f->context->backend;
    tsr_queue *queue = f->context->queue;
    const tsr_follow old = *f;
    const size_t n = (size_t)f->capacity;
    tsr_status status = take(f, capacity);
    if (f->memory == old.memory) return status; /* nothing was taken */
    if (status == TSR_OK) status = backend->copy(queue, f->key, old.key, n * sizeof *f->key);
    if (status == TSR_OK) status = backend->copy(queue, f->sum, old.sum, n * sizeof *f->sum);
    tsr_device_release(f->context, old.memory, old.bytes);
    return status;
}

/* Tiles that hold voxels of the region. An empty one gives an empty box. */
static void tiles_of(const tsr_surface_region *region, int32_t log2_edge, int32_t margin, int32_t low[3], int32_t high[3])
{
    const int64_t most = (int64_t)TSR_KEY_BIAS << log2_edge;
    for (int k = 0; k < 3; k++) {
        int64_t a = tsr_min64(tsr_max64(region->lower[k], -most), most), b = tsr_min64(tsr_max64(region->upper[k], -most), most);
        low[k] = (int32_t)(a >> log2_edge) - margin;
        high[k] = b > a ? (int32_t)((b - 1) >> log2_edge) + margin : low[k] - 1;
    }
}

static int by_word(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* By rising id, whatever the order in which threads came. Many are put in their places instead of being compared. */
static void sort(tsr_follow *f)
{
    uint32_t *w = f->words + 1;
    int64_t at = 1;
    while (at < f->count && w[at - 1] < w[at]) at++;
    if (at >= f->count) return;
    if (f->count < f->capacity / 64) {
        qsort(w, (size_t)f->count, sizeof *w, by_word);
        return;
    }
    for (int64_t k = 0; k < f->count; k++) f->kinds[w[k] >> TSR_TRACK_KIND_BITS] = (uint8_t)(1 + (w[k] & TSR_TRACK_KIND_MASK));
    for (int64_t id = 0, k = 0; id < f->capacity; id++)
        if (f->kinds[id]) {
            w[k++] = tsr_track_found((uint32_t)id, f->kinds[id] - 1u);
            f->kinds[id] = 0;
        }
}

tsr_status tsr_follow_look(tsr_follow *f, tsr_surface_look *l, const tsr_surface_region *region, int32_t margin)
{
    const tsr_backend *backend = f->context->backend;
    tsr_queue *queue = f->context->queue;
    const size_t n = (size_t)f->capacity;
    f->count = 0;
    l->capacity = f->capacity;
    l->log2_edge = f->log2_edge;
    l->everywhere = !region;
    l->key = f->key;
    l->sum = f->sum;
    l->state = f->marks;
    l->ring = f->marks + n;
    l->reached = f->marks + 2 * n;
    l->found = f->found;
    if (region) tiles_of(region, f->log2_edge, margin, l->low, l->high);
    TSR_TRY(backend->fill(queue, f->marks, 0, 3 * n));
    TSR_TRY(backend->fill(queue, f->found, 0, sizeof *f->found));
    TSR_TRY(backend->surface->look(queue, l));
    const int64_t first = tsr_min64(f->capacity + 1, FIRST_WORDS);
    TSR_TRY(backend->download(queue, f->words, f->found, (size_t)first * sizeof *f->words));
    const int64_t count = f->words[0];
    if (count + 1 > first) TSR_TRY(backend->download(queue, f->words + first, f->found + first, (size_t)(count + 1 - first) * sizeof *f->words));
    f->count = count;
    sort(f);
    return TSR_OK;
}
