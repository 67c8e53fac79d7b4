#include "tiles/tiles_kept.h"

#include <stdlib.h>
#include <string.h>

#include "tiles/tiles_build.h"

enum { MOVED_TILES = 1024 }; /* of which values are under way at a time */

struct page {
    int64_t owners;
    float values[];
};

struct tsr_tiles_kept {
    tsr_geometry geometry;
    tsr_tiles_options options;
    tsr_tiles_parts parts; /* without ids */
    int64_t pages;         /* that are filled: all but while it is made */
    struct page **page;    /* [parts.count], in list order */
    size_t page_bytes;     /* of the values */
};

void tsr_tiles_kept_destroy(tsr_tiles_kept **kept)
{
    if (!kept || !*kept) return;
    tsr_tiles_kept *k = *kept;
    *kept = NULL;
    for (int64_t i = 0; i < k->pages; i++)
        if (--k->page[i]->owners == 0) free(k->page[i]);
    free(k->page);
    tsr_tiles_parts_free(&k->parts);
    free(k);
}

int64_t tsr_tiles_kept_bytes(const tsr_tiles_kept *kept)
{
    if (!kept) return 0;
    double bytes =
        (double)sizeof *kept + (double)kept->parts.count * (double)(sizeof *kept->parts.keys + sizeof *kept->parts.inside + sizeof *kept->page);
    for (int64_t i = 0; i < kept->pages; i++) bytes += (double)(sizeof *kept->page[i] + kept->page_bytes) / (double)kept->page[i]->owners;
    return (int64_t)bytes;
}

/* The page of entry i: that of the tile with the same key in `before` if the values are the same bits, else a new one. *at rises with i. */
static tsr_status keep_page(tsr_tiles_kept *k, const tsr_tiles_kept *before, int64_t i, const float *values, int64_t *at)
{
    const uint64_t key = k->parts.keys[i];
    if (before) {
        while (*at < before->parts.count && before->parts.keys[*at] < key) ++*at;
        if (*at < before->parts.count && before->parts.keys[*at] == key && !memcmp(before->page[*at]->values, values, k->page_bytes)) {
            k->page[i] = before->page[*at];
            k->page[i]->owners++;
            k->pages = i + 1;
            return TSR_OK;
        }
    }
    struct page *page = (struct page *)malloc(sizeof *page + k->page_bytes);
    if (!page) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of host memory for what is kept of %lld tiles", (long long)k->parts.count);
    page->owners = 1;
    memcpy(page->values, values, k->page_bytes);
    k->page[i] = page;
    k->pages = i + 1;
    return TSR_OK;
}

static tsr_status keep_pages(const tsr_tiles *tiles, const tsr_tiles_kept *before, tsr_tiles_kept *k)
{
    const float *tile[MOVED_TILES];
    tsr_status status = TSR_OK;
    int64_t at = 0;
    float *memory = tsr_tiles_host_readable(tiles) ? NULL : (float *)malloc(MOVED_TILES * k->page_bytes);
    if (!memory && !tsr_tiles_host_readable(tiles)) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of host memory for %d tiles", (int)MOVED_TILES);
    for (int64_t first = 0; first < k->parts.count && status == TSR_OK; first += MOVED_TILES) {
        const int64_t n = tsr_min64(MOVED_TILES, k->parts.count - first);
        status = tsr_tiles_get(tiles, &k->parts, first, n, memory, tile);
        for (int64_t i = 0; i < n && status == TSR_OK; i++) status = keep_page(k, before, first + i, tile[i], &at);
    }
    free(memory);
    return status;
}

tsr_status tsr_tiles_kept_make(const tsr_tiles *tiles, const tsr_tiles_kept *before, tsr_tiles_kept **kept)
{
    const tsr_tile_pool *pool = &tiles->pool;
    tsr_status status;
    *kept = NULL;
    tsr_tiles_kept *k = (tsr_tiles_kept *)calloc(1, sizeof *k);
    if (!k) TSR_FAIL(TSR_ERROR_MEMORY, "tile list: out of host memory");
    k->geometry = tiles->geometry;
    k->options = (tsr_tiles_options)TSR_TILES_OPTIONS;
    k->options.edge = 1 << pool->log2_edge;
    k->options.index = pool->table ? TSR_TILES_PAGED : TSR_TILES_SORTED;
    if (pool->bounded) k->options.domain = (tsr_size3){ pool->domain[0], pool->domain[1], pool->domain[2] };
    k->options.band = (double)pool->band;
    k->options.memory_limit = tiles->memory_limit;
    k->options.key_bits = 8 * tsr_pool_key_width(pool);
    k->page_bytes = sizeof(float) << (3 * pool->log2_edge);
    TSR_TRY_GOTO(tsr_tiles_take_apart(tiles, &k->parts), fail);
    k->page = (struct page **)malloc(((size_t)k->parts.count + 1) * sizeof *k->page);
    if (!k->page) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, fail, "tile list: out of host memory for what is kept of %lld tiles", (long long)k->parts.count);
    TSR_TRY_GOTO(keep_pages(tiles, before && before->page_bytes == k->page_bytes ? before : NULL, k), fail);
    free(k->parts.ids);
    k->parts.ids = NULL;
    *kept = k;
    return TSR_OK;
fail:
    tsr_tiles_kept_destroy(&k);
    return status;
}

static tsr_status put_pages(const tsr_tiles_kept *k, tsr_tiles *tiles)
{
    const size_t voxels = k->page_bytes / sizeof(float);
    float *memory = (float *)malloc(MOVED_TILES * k->page_bytes);
    tsr_status status = memory ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "tile list: out of host memory for %d tiles", (int)MOVED_TILES);
    for (int64_t first = 0; first < k->parts.count && status == TSR_OK; first += MOVED_TILES) {
        const int64_t n = tsr_min64(MOVED_TILES, k->parts.count - first);
        for (int64_t i = 0; i < n; i++) memcpy(memory + (size_t)i * voxels, k->page[first + i]->values, k->page_bytes);
        status = tsr_tiles_put(tiles, first, n, memory);
        if (status == TSR_OK) status = tiles->context->backend->synchronize(tiles->context->queue); /* `memory` is written again */
    }
    free(memory);
    return status;
}

tsr_status tsr_tiles_restore(const tsr_tiles_kept *kept, tsr_context *context, int64_t capacity, tsr_tiles **tiles)
{
    const tsr_tiles_frame frame = { .geometry = kept->geometry,
                                    .options = kept->options,
                                    .background = kept->parts.state.background,
                                    .count = kept->parts.count,
                                    .inside_absent = kept->parts.state.inside_absent,
                                    .keys = kept->parts.keys,
                                    .inside = kept->parts.inside };
    tsr_status status;
    TSR_TRY(tsr_tiles_begin(context, &frame, "kept list", tiles));
    (*tiles)->pool.band = (float)kept->options.band;
    TSR_TRY_GOTO(put_pages(kept, *tiles), fail);
    TSR_TRY_GOTO(tsr_tiles_complete(*tiles, 0), fail);
    if (capacity > (*tiles)->pool.capacity) TSR_TRY_GOTO(tsr_tiles_reserve(*tiles, capacity), fail);
    return TSR_OK;
fail:
    tsr_tiles_destroy(tiles);
    return status;
}
