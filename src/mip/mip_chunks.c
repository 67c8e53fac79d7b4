/* mip/mip_chunks.c: what is drawn, brightest first: of lists the selected parts of the runs in pieces of like size, else the bricks. */
#include <stdlib.h>

#include "mip/mip_pyramid.h"

enum { CHUNK = 2048 };

struct piece {
    tsr_detail_chunk chunk;
    uint32_t value;
};

static int by_value(const void *a, const void *b)
{
    const struct piece *x = (const struct piece *)a, *y = (const struct piece *)b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    if (x->chunk.run != y->chunk.run) return x->chunk.run < y->chunk.run ? -1 : 1;
    return x->chunk.begin < y->chunk.begin ? -1 : x->chunk.begin > y->chunk.begin;
}

static tsr_status upload(tsr_mip *mip, const struct piece *pieces, int64_t count)
{
    tsr_detail_chunk *chunks;
    const int64_t bytes = count * (int64_t)sizeof *chunks;
    if (bytes > mip->chunk_bytes) {
        if (mip->chunk) tsr_device_release(mip->context, mip->chunk, (size_t)mip->chunk_bytes);
        mip->chunk = NULL;
        mip->chunk_bytes = 0;
        TSR_TRY(tsr_device_allocate(mip->context, (size_t)bytes, (void **)&mip->chunk));
        mip->chunk_bytes = bytes;
    }
    TSR_TRY(tsr_host_allocate(NULL, (size_t)bytes + 1, (void **)&chunks));
    for (int64_t i = 0; i < count; i++) chunks[i] = pieces[i].chunk;
    const tsr_status status = count ? tsr_device_move(mip->context, mip->chunk, NULL, chunks, (size_t)bytes) : TSR_OK;
    tsr_host_release(NULL, chunks, (size_t)bytes + 1);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_mip_make_chunks(tsr_mip *mip)
{
    const tsr_details *d = &mip->details;
    uint32_t *from;
    struct piece *pieces;
    if (mip->chunk_from == mip->selected_from && mip->chunk_to == mip->selected) return TSR_OK;
    mip->chunk_to = -1;
    const size_t bytes = (size_t)d->runs * (8 + sizeof(tsr_detail_run)), most = (size_t)(d->runs + d->count / CHUNK) * sizeof *pieces;
    TSR_TRY(tsr_host_allocate(NULL, bytes + 1, (void **)&from));
    uint32_t *to = from + d->runs;
    tsr_detail_run *runs = (tsr_detail_run *)(void *)(to + d->runs);
    tsr_status status = tsr_host_allocate(NULL, most + 1, (void **)&pieces);
    if (status != TSR_OK) pieces = NULL;
    if (d->runs) {
        if (status == TSR_OK) status = tsr_device_move(NULL, from, mip->context, d->from, (size_t)d->runs * 4);
        if (status == TSR_OK) status = tsr_device_move(NULL, to, mip->context, d->to, (size_t)d->runs * 4);
        if (status == TSR_OK) status = tsr_device_move(NULL, runs, mip->context, d->run, (size_t)d->runs * sizeof *runs);
    }
    int64_t count = 0;
    for (int64_t k = 0; k < d->runs && status == TSR_OK; k++)
        for (uint32_t at = from[k]; at < to[k]; at += CHUNK)
            pieces[count++] = (struct piece){ { (uint32_t)k, at, to[k] - at < CHUNK ? to[k] : at + CHUNK }, runs[k].value };
    if (status == TSR_OK) {
        qsort(pieces, (size_t)count, sizeof *pieces, by_value);
        status = upload(mip, pieces, count);
    }
    if (pieces) tsr_host_release(NULL, pieces, most + 1);
    tsr_host_release(NULL, from, bytes + 1);
    TSR_TRY(status);
    mip->chunks = count;
    mip->chunk_from = mip->selected_from;
    mip->chunk_to = mip->selected;
    return TSR_OK;
}

/* ---- bricks ------------------------------------------------------------------------------------------------------------------------------ */

enum { VALUES = 65536 };

/* A counting sort by the largest selected value: brightest first hides most of the rest. Bricks with nothing selected are left out. */
static int64_t sort_bricks(const uint32_t *most, int64_t bricks, uint32_t *start, tsr_detail_order *order)
{
    memset(start, 0, (VALUES + 1) * sizeof *start);
    for (int64_t i = 0; i < bricks; i++) start[VALUES - most[i]]++;
    uint32_t sum = 0;
    for (int i = 0; i < VALUES; i++) {
        const uint32_t n = start[i];
        start[i] = sum;
        sum += n;
    }
    for (int64_t i = 0; i < bricks; i++)
        if (most[i]) order[start[VALUES - most[i]]++] = (tsr_detail_order){ (uint32_t)i, most[i] };
    return sum;
}

tsr_status tsr_mip_make_order(tsr_mip *mip)
{
    tsr_details *d = &mip->details;
    uint8_t *host;
    if (mip->order_from == mip->selected_from && mip->order_to == mip->selected) return TSR_OK;
    mip->order_to = -1;
    const size_t order_bytes = (size_t)d->bricks * sizeof *d->order, most_bytes = (size_t)d->bricks * 4,
                 room = order_bytes + most_bytes + (VALUES + 1) * 4;
    TSR_TRY(tsr_host_allocate(NULL, room, (void **)&host));
    tsr_detail_order *order = (tsr_detail_order *)(void *)host;
    uint32_t *most = (uint32_t *)(void *)(host + order_bytes), *start = most + d->bricks;
    tsr_status status = mip->context->backend->detail->most(mip->context->queue, d, mip->most);
    if (status == TSR_OK) status = tsr_device_move(NULL, most, mip->context, mip->most, most_bytes);
    if (status == TSR_OK) {
        d->ordered = sort_bricks(most, d->bricks, start, order);
        status = tsr_device_move(mip->context, d->order, NULL, order, (size_t)d->ordered * sizeof *order);
    }
    tsr_host_release(NULL, host, room);
    TSR_TRY(status);
    mip->order_from = mip->selected_from;
    mip->order_to = mip->selected;
    return TSR_OK;
}
