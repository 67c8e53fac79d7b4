/* tests/histopyramid/pyramids.h: pyramids of host data, their outputs on the host, and the documented order of visits. */
#ifndef TSR_TESTS_PYRAMIDS_H
#define TSR_TESTS_PYRAMIDS_H

#include "device/backend.h"
#include "support.h"

/* A built pyramid of host counts, and its outputs on the host. */
typedef struct built {
    tsr_context *context;
    tsr_pyramid *pyramid;
    tsr_pyramid_info info;
} built;

static inline built build(tsr_dtype dtype, tsr_size3 n, const void *data, const tsr_pyramid_options *options)
{
    built b = { .context = test_context() };
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, dtype, n, NULL, (void *)(uintptr_t)data, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, b.context, &device));
    require_ok(tsr_pyramid_create(b.context, n, options, &b.pyramid));
    require_ok(tsr_pyramid_build(b.pyramid, device));
    b.info = (tsr_pyramid_info)TSR_PYRAMID_INFO;
    require_ok(tsr_pyramid_describe(b.pyramid, &b.info));
    tsr_volume_destroy(&device);
    tsr_volume_destroy(&host);
    return b;
}
static inline void finish(built *b)
{
    tsr_pyramid_destroy(&b->pyramid);
    tsr_context_destroy(&b->context);
}
static inline tsr_pyramid_entry *selected(const built *b, const uint64_t *keys, uint64_t first, int64_t count)
{
    void *device_keys = NULL, *device_entries;
    tsr_pyramid_entry *entries = malloc((size_t)count * sizeof *entries);
    size_t bytes = (size_t)count * sizeof *entries, key_bytes = (size_t)count * sizeof *keys;
    require_ok(tsr_device_allocate(b->context, bytes, &device_entries));
    if (keys) {
        require_ok(tsr_device_allocate(b->context, key_bytes, &device_keys));
        require_ok(tsr_device_move(b->context, device_keys, NULL, keys, key_bytes));
        require_ok(tsr_pyramid_select(b->pyramid, device_keys, count, device_entries));
        tsr_device_release(b->context, device_keys, key_bytes);
    } else {
        require_ok(tsr_pyramid_extract(b->pyramid, first, count, device_entries));
    }
    require_ok(tsr_device_move(NULL, entries, b->context, device_entries, bytes));
    tsr_device_release(b->context, device_entries, bytes);
    return entries;
}
static inline uint64_t *ranked(const built *b, const int64_t *voxels, int64_t count)
{
    void *device_voxels, *device_ranks;
    size_t bytes = (size_t)count * 8;
    uint64_t *ranks = malloc(bytes);
    require_ok(tsr_device_allocate(b->context, bytes, &device_voxels));
    require_ok(tsr_device_allocate(b->context, bytes, &device_ranks));
    require_ok(tsr_device_move(b->context, device_voxels, NULL, voxels, bytes));
    require_ok(tsr_pyramid_rank(b->pyramid, device_voxels, count, device_ranks));
    require_ok(tsr_device_move(NULL, ranks, b->context, device_ranks, bytes));
    tsr_device_release(b->context, device_voxels, bytes);
    tsr_device_release(b->context, device_ranks, bytes);
    return ranks;
}

/* Place of a voxel in the order of visits: an axis gives a bit as long as its halved extent is above 1, reversed axes give it inverted. */
static inline uint64_t morton(int64_t x, int64_t y, int64_t z, tsr_size3 n, int reverse)
{
    uint64_t code = 0, place = 0;
    for (int bit = 0; bit < 20; bit++) {
        const int64_t at[3] = { x, y, z }, size[3] = { n.x, n.y, n.z };
        for (int k = 0; k < 3; k++)
            if ((size[k] + ((int64_t)1 << bit) - 1) >> bit > 1) code |= (uint64_t)((at[k] >> bit & 1) ^ (reverse >> k & 1)) << place++;
    }
    return code;
}

/* The same with digits of thirds. */
static inline uint64_t thirds(int64_t x, int64_t y, int64_t z, tsr_size3 n, int reverse)
{
    uint64_t code = 0, place = 1;
    int64_t at[3] = { x, y, z }, size[3] = { n.x, n.y, n.z };
    for (int digit = 0; digit < 20; digit++)
        for (int k = 0; k < 3; k++) {
            if (size[k] <= 1) continue;
            code += (uint64_t)(reverse >> k & 1 ? 2 - at[k] % 3 : at[k] % 3) * place;
            place *= 3;
            at[k] /= 3;
            size[k] = (size[k] + 2) / 3;
        }
    return code;
}

typedef struct visit {
    uint64_t code;
    int64_t voxel;
} visit;
static inline int by_code(const void *a, const void *b)
{
    uint64_t x = ((const visit *)a)->code, y = ((const visit *)b)->code;
    return x < y ? -1 : x > y;
}
/* All voxels of a volume or a batch in the order of visits; free it. */
static inline int64_t *visits(tsr_size3 n, const tsr_pyramid_options *o)
{
    const int64_t cells = n.x * n.y * n.z, batch = o->batch ? o->batch : 1, each = cells / batch;
    const tsr_size3 one = { n.x, n.y, n.z / batch };
    visit *v = malloc((size_t)cells * sizeof *v);
    int64_t *voxels = malloc((size_t)cells * sizeof *voxels);
    for (int64_t i = 0; i < cells; i++) {
        const int64_t k = i % each;
        v[i].voxel = i;
        uint64_t (*code)(int64_t, int64_t, int64_t, tsr_size3, int) = o->fanout && o->fanout % 3 == 0 ? thirds : morton;
        v[i].code = o->order == TSR_PYRAMID_ROW ? (uint64_t)i
                                                : code(k % n.x, k / n.x % n.y, k / n.x / n.y, one, o->order == TSR_PYRAMID_VIEW ? o->reverse : 0) |
                                                      (uint64_t)(i / each) << 40;
    }
    qsort(v, (size_t)cells, sizeof *v, by_code);
    for (int64_t i = 0; i < cells; i++) voxels[i] = v[i].voxel;
    free(v);
    return voxels;
}

#endif
