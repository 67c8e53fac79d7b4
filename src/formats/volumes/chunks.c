#include "formats/volumes/chunks.h"

#include "core/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { TOGETHER = 64, LAYER_BYTES = 128 << 20, EDGE = 64 };

void tsr_chunks_plan(tsr_size3 n, size_t element, int64_t chunk[3])
{
    const int64_t size[3] = { n.x, n.y, n.z }, slice = n.x * n.y * (int64_t)element;
    for (int k = 0; k < 3; k++) chunk[k] = tsr_min64(size[k], EDGE);
    while (chunk[2] > 1 && chunk[2] * slice > LAYER_BYTES) chunk[2] = (chunk[2] + 1) / 2;
}

void tsr_bytes_shuffle(const uint8_t *from, size_t bytes, size_t element, uint8_t *to)
{
    const size_t n = bytes / element;
    for (size_t b = 0; b < element; b++)
        for (size_t i = 0; i < n; i++) to[b * n + i] = from[i * element + b];
    memcpy(to + n * element, from + n * element, bytes - n * element);
}

void tsr_bytes_unshuffle(const uint8_t *from, size_t bytes, size_t element, uint8_t *to)
{
    const size_t n = bytes / element;
    for (size_t b = 0; b < element; b++)
        for (size_t i = 0; i < n; i++) to[i * element + b] = from[b * n + i];
    memcpy(to + n * element, from + n * element, bytes - n * element);
}

struct batch {
    const tsr_chunker *c;
    const uint8_t *slices;          /* of the layer */
    int64_t first, along[2], depth; /* boxes along x and y; slices that are there */
    uint8_t *plain[TOGETHER], *packed[TOGETHER];
    size_t bytes[TOGETHER];
    int failed;
};

static void pack_range(void *user, int64_t begin, int64_t end, int worker)
{
    struct batch *b = (struct batch *)user;
    const tsr_chunker *c = b->c;
    const int64_t e = (int64_t)tsr_dtype_size(c->volume->dtype);
    const size_t all = (size_t)(c->chunk[0] * c->chunk[1] * c->chunk[2] * e);
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        const int64_t x = (b->first + k) % b->along[0] * c->chunk[0], y = (b->first + k) / b->along[0] * c->chunk[1];
        const int64_t nx = tsr_min64(c->chunk[0], c->size[0] - x), ny = tsr_min64(c->chunk[1], c->size[1] - y);
        if (nx < c->chunk[0] || ny < c->chunk[1] || b->depth < c->chunk[2]) memset(b->plain[k], 0, all);
        for (int64_t z = 0; z < b->depth; z++)
            for (int64_t r = 0; r < ny; r++)
                memcpy(b->plain[k] + (z * c->chunk[1] + r) * c->chunk[0] * e, b->slices + ((z * c->size[1] + y + r) * c->size[0] + x) * e,
                       (size_t)(nx * e));
        b->bytes[k] = c->pack(c->user, b->plain[k], all, b->packed[k], c->room);
        if (!b->bytes[k]) __atomic_store_n(&b->failed, 1, __ATOMIC_RELAXED);
    }
}

static tsr_status write_layer(struct batch *b, int64_t layer)
{
    const tsr_chunker *c = b->c;
    const int64_t boxes = b->along[0] * b->along[1];
    for (b->first = 0; b->first < boxes; b->first += TOGETHER) {
        const int64_t n = tsr_min64(TOGETHER, boxes - b->first);
        tsr_parallel(tsr_parallel_default_threads(), n, 1, pack_range, b);
        if (b->failed) TSR_FAIL(TSR_ERROR_MEMORY, "%s: packing failed: out of memory", c->path);
        for (int64_t k = 0; k < n; k++) {
            const int64_t index[3] = { (b->first + k) % b->along[0], (b->first + k) / b->along[0], layer };
            TSR_TRY(c->put(c->user, index, b->packed[k], b->bytes[k]));
        }
    }
    return TSR_OK;
}

tsr_status tsr_chunks_write(const tsr_chunker *c)
{
    struct batch b = { .c = c, .along = { tsr_ceil_div(c->size[0], c->chunk[0]), tsr_ceil_div(c->size[1], c->chunk[1]) } };
    const int64_t slice = c->size[0] * c->size[1], layers = tsr_ceil_div(c->size[2], c->chunk[2]);
    const size_t element = tsr_dtype_size(c->volume->dtype), all = (size_t)(c->chunk[0] * c->chunk[1] * c->chunk[2]) * element;
    const int64_t together = tsr_min64(TOGETHER, b.along[0] * b.along[1]);
    tsr_status status = TSR_OK;
    uint8_t *part = c->volume->feed ? (uint8_t *)malloc((size_t)(slice * c->chunk[2]) * element) : NULL;
    int good = !c->volume->feed || part;
    for (int64_t k = 0; k < together; k++)
        good &= (b.plain[k] = (uint8_t *)malloc(all)) != NULL && (b.packed[k] = (uint8_t *)malloc(c->room)) != NULL;
    if (!good) TSR_FAIL_GOTO(TSR_ERROR_MEMORY, done, "%s: out of memory for boxes of voxels", c->path);
    for (int64_t layer = 0; layer < layers; layer++) {
        const int64_t z = layer * c->chunk[2];
        b.depth = tsr_min64(c->chunk[2], c->size[2] - z);
        TSR_TRY_GOTO(tsr_volume_part(c->volume, z * slice, b.depth * slice, part, &b.slices), done);
        if (c->look) TSR_TRY_GOTO(c->look(c->user, z, b.depth, b.slices), done);
        TSR_TRY_GOTO(write_layer(&b, layer), done);
        if (tsr_progress_report(c->progress, (double)(layer + 1) / (double)layers, "writing"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during writing");
    }
done:
    for (int64_t k = 0; k < together; k++) {
        free(b.plain[k]);
        free(b.packed[k]);
    }
    free(part);
    return status;
}
