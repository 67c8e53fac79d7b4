/* reconstruct/reconstruct_source.c: pages of the potential for the solver: by the device that holds the list, or by the CPU threads for it. */
#include <stdlib.h>

#include "reconstruct/reconstruct.h"

static tsr_status fill_here(void *user, tsr_queue *queue, const tsr_tile_pool *pool, int all)
{
    tsr_potential_source *s = (tsr_potential_source *)user;
    const tsr_page_list list = tsr_pages_of_pool(pool, all);
    const double start = s->timed ? tsr_seconds_now() : 0;
    TSR_TRY(s->context->backend->potential->evaluate(queue, &s->tree->view, &s->params, &list));
    if (s->timed) s->seconds += tsr_seconds_now() - start;
    return TSR_OK;
}

/* ---- hybrid --------------------------------------------------------------------------------------------------------------------------- */

static size_t page_bytes(const tsr_potential_source *s) { return (size_t)(s->coded ? 2 : 4) << (3 * s->log2_edge); }

static tsr_status make_room(tsr_potential_source *s, int64_t tiles, const tsr_tile_pool *pool)
{
    if (tiles <= s->room && pool->log2_edge == s->log2_edge && pool->coded == s->coded) return TSR_OK;
    tsr_potential_source_release(s);
    const int64_t room = tiles + tiles / 2 + 64;
    s->log2_edge = pool->log2_edge;
    s->coded = pool->coded;
    s->keys = (uint64_t *)malloc((size_t)room * sizeof *s->keys);
    s->room = room;
    if (!s->keys) TSR_FAIL(TSR_ERROR_MEMORY, "reconstruct: out of host memory for %lld pages", (long long)room);
    TSR_TRY(tsr_host_allocate(NULL, (size_t)room * page_bytes(s), (void **)&s->pages));
    TSR_TRY(tsr_device_allocate(s->context, (size_t)room * page_bytes(s), (void **)&s->device_pages));
    return TSR_OK;
}

void tsr_potential_source_release(tsr_potential_source *s)
{
    if (s->device_pages) tsr_device_release(s->context, s->device_pages, (size_t)s->room * page_bytes(s));
    tsr_host_release(NULL, s->pages, (size_t)s->room * page_bytes(s));
    free(s->keys);
    s->keys = NULL;
    s->pages = s->device_pages = NULL;
    s->room = 0;
}

/* Coordinates of the tiles come down, pages go up: only those of new tiles cross the bus (docs/theory/tiles.md 8). */
static tsr_status fill_hybrid(void *user, tsr_queue *queue, const tsr_tile_pool *pool, int all)
{
    tsr_potential_source *s = (tsr_potential_source *)user;
    const tsr_backend *backend = s->context->backend;
    tsr_tile_state state;
    TSR_TRY(backend->download(queue, &state, pool->state, sizeof state));
    if (tsr_tile_stopped(&state)) return TSR_OK;
    const int64_t count = all ? state.count : state.created;
    if (count == 0) return TSR_OK;
    TSR_TRY(make_room(s, count, pool));
    const uint32_t *ids = all ? pool->id[state.list] : pool->created_ids;
    TSR_TRY(
        backend->potential->gather_keys(queue, tsr_pool_keys_of(pool), ids, (int32_t)count, (uint64_t *)(void *)s->device_pages)); /* room enough */
    TSR_TRY(backend->download(queue, s->keys, s->device_pages, (size_t)count * sizeof *s->keys));
    const double start = tsr_seconds_now();
    const tsr_page_list list = {
        .keys = tsr_keys_wide(s->keys), .count = (int32_t)count, .log2_edge = pool->log2_edge, .coded = s->coded, .pages = s->pages
    };
    TSR_TRY(s->tree->context->backend->potential->evaluate(s->tree->context->queue, &s->tree->view, &s->params, &list));
    s->seconds += tsr_seconds_now() - start;
    TSR_TRY(backend->upload(queue, s->device_pages, s->pages, (size_t)count * page_bytes(s)));
    TSR_TRY(backend->potential->scatter_pages(queue, s->device_pages, ids, (int32_t)count, 3 * s->log2_edge - s->coded, pool->payload));
    return TSR_OK;
}

tsr_payload_provider tsr_potential_provider(tsr_potential_source *s)
{
    const int hybrid = s->tree->context != s->context;
    s->timed = hybrid || s->context->device.kind == TSR_DEVICE_CPU;
    return (tsr_payload_provider){ .fill = hybrid ? fill_hybrid : fill_here, .user = s, .recordable = !hybrid };
}
