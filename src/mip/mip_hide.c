/* mip/mip_hide.c: voxels that no ray from any direction can show (docs/theory/mip.md 8). */
#include "volume/volume.h"
#include "mip/mip_pyramid.h"

struct hider {
    const void *data;
    int32_t bytes, values, size[3];
    int64_t count;
    uint16_t *flood;      /* level at which a voxel is reached from the border */
    int64_t *next, *head; /* queue per level: head[level], next[voxel]; -1 ends */
    const tsr_progress *progress;
};
enum { REPORT = 1 << 20 }; /* voxels between two reports */

static int64_t neighbour(const struct hider *h, int64_t i, const int32_t at[3], int side)
{
    static const int axis[6] = { 0, 0, 1, 1, 2, 2 };
    const int k = axis[side], to = at[k] + (side & 1 ? 1 : -1);
    const int64_t stride = k == 0 ? 1 : k == 1 ? h->size[0] : (int64_t)h->size[0] * h->size[1];
    return to < 0 || to >= h->size[k] ? -1 : i + (side & 1 ? stride : -stride);
}
static void position(const struct hider *h, int64_t i, int32_t at[3])
{
    at[0] = (int32_t)(i % h->size[0]);
    at[1] = (int32_t)(i / h->size[0] % h->size[1]);
    at[2] = (int32_t)(i / h->size[0] / h->size[1]);
}

enum { UNSEEN = -2 };

/* Grey-scale hole filling: from the border inwards, lowest level first, each voxel once. */
static tsr_status flood(struct hider *h)
{
    for (int64_t i = 0; i < h->count; i++) h->next[i] = UNSEEN;
    for (int32_t v = 0; v < h->values; v++) h->head[v] = -1;
    for (int64_t i = 0; i < h->count; i++) {
        int32_t at[3];
        position(h, i, at);
        if (at[0] && at[1] && at[2] && at[0] < h->size[0] - 1 && at[1] < h->size[1] - 1 && at[2] < h->size[2] - 1) continue;
        h->flood[i] = (uint16_t)tsr_adjunction_load(h->data, h->bytes, i);
        h->next[i] = h->head[h->flood[i]];
        h->head[h->flood[i]] = i;
    }
    int64_t reached = 0;
    for (int32_t level = 0; level < h->values;) {
        const int64_t i = h->head[level];
        int32_t at[3];
        if (reached++ % REPORT == 0) TSR_PROGRESS(h->progress, 0.8 * (double)reached / (double)(h->count + h->values), "hidden voxels");
        if (i < 0) {
            level++;
            continue;
        }
        h->head[level] = h->next[i];
        position(h, i, at);
        for (int side = 0; side < 6; side++) {
            const int64_t k = neighbour(h, i, at, side);
            if (k < 0 || h->next[k] != UNSEEN) continue;
            const int32_t own = (int32_t)tsr_adjunction_load(h->data, h->bytes, k), to = own > level ? own : level;
            h->flood[k] = (uint16_t)to;
            h->next[k] = h->head[to];
            h->head[to] = k;
        }
    }
    return TSR_OK;
}

/* At most one face neighbour before it in the order of value, then index; outside is. */
static int covered(const struct hider *h, int64_t i)
{
    const uint32_t own = tsr_adjunction_load(h->data, h->bytes, i);
    int32_t at[3], lower = 0;
    position(h, i, at);
    for (int side = 0; side < 6; side++) {
        const int64_t k = neighbour(h, i, at, side);
        const uint32_t v = k < 0 ? 0 : tsr_adjunction_load(h->data, h->bytes, k);
        lower += k < 0 || v < own || (v == own && k < i);
    }
    return lower <= 1;
}

static tsr_status hide(struct hider *h, const void *opening, void *result, int64_t *hidden)
{
    tsr_status status;
    const size_t queue = (size_t)h->values * 8, next = (size_t)h->count * 8, levels = (size_t)h->count * 2;
    TSR_TRY(tsr_host_allocate(NULL, queue, (void **)&h->head));
    TSR_TRY_GOTO(tsr_host_allocate(NULL, next, (void **)&h->next), done);
    TSR_TRY_GOTO(tsr_host_allocate(NULL, levels, (void **)&h->flood), done);
    TSR_TRY_GOTO(flood(h), done);
    *hidden = 0;
    for (int64_t i = 0; i < h->count; i++) {
        const uint32_t own = tsr_adjunction_load(h->data, h->bytes, i);
        if (i % REPORT == 0 && tsr_progress_report(h->progress, 0.8 + 0.2 * (double)i / (double)h->count, "hidden voxels"))
            TSR_FAIL_GOTO(TSR_ERROR_CANCELLED, done, "cancelled during hidden voxels");
        const int out = own && (own < h->flood[i] || covered(h, i));
        tsr_adjunction_store(result, h->bytes, i, out ? tsr_adjunction_load(opening, h->bytes, i) : own);
        *hidden += out;
    }
done:
    tsr_host_release(NULL, h->head, queue);
    if (h->next) tsr_host_release(NULL, h->next, next);
    if (h->flood) tsr_host_release(NULL, h->flood, levels);
    return status;
}

/* The opening of a host volume by the element. */
static tsr_status open_volume(tsr_context *cpu, const tsr_volume *volume, const tsr_mip_options *o, tsr_volume *opening)
{
    tsr_adjunction a = { .levels = 1, .bytes = volume->dtype == TSR_U8 ? 1 : 2 };
    const int64_t n[3] = { volume->size.x, volume->size.y, volume->size.z };
    TSR_TRY(tsr_mip_element_points(o->element, o->points, o->point_count, &a));
    for (int k = 0; k < 3; k++) {
        a.size[0][k] = (int32_t)n[k];
        a.size[1][k] = (int32_t)((n[k] + 1) / 2);
    }
    const size_t bytes = (size_t)(tsr_adjunction_cells(a.size[1]) * a.bytes);
    a.level[0] = volume->data;
    TSR_TRY(tsr_device_allocate(cpu, bytes, &a.level[1]));
    tsr_status status = cpu->backend->detail->reduce(cpu->queue, &a, 0);
    if (status == TSR_OK) status = cpu->backend->detail->opening(cpu->queue, &a, opening->data);
    tsr_device_release(cpu, a.level[1], bytes);
    TSR_TRY(status);
    return TSR_OK;
}

tsr_status tsr_mip_hide(tsr_context *context, const tsr_volume *volume, const tsr_mip_options *options, tsr_volume **result, int64_t *hidden)
{
    TSR_RETURNS(result);
    TSR_NEEDS(context, volume);
    const tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu", .threads = context ? context->threads : 1 };
    tsr_mip_options own;
    tsr_context *cpu = NULL;
    tsr_volume *host = NULL, *opening = NULL, *done = NULL;
    int64_t count = 0;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(tsr_volume_require(context, volume, "volume"));
    if (volume->dtype != TSR_U8 && volume->dtype != TSR_U16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: the volume is %s, expected u8 or u16: convert it", tsr_dtype_name(volume->dtype));
    if (volume->size.x > 1 << 24 || volume->size.y > 1 << 24 || volume->size.z > 1 << 24)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: %lld x %lld x %lld voxels, expected extents up to 2^24", (long long)volume->size.x,
                 (long long)volume->size.y, (long long)volume->size.z);
    TSR_TRY(tsr_context_create(&on_cpu, &cpu));
    TSR_TRY_GOTO(tsr_volume_copy(volume, NULL, &host), done);
    TSR_TRY_GOTO(tsr_volume_copy(volume, NULL, &opening), done);
    TSR_TRY_GOTO(tsr_volume_copy(volume, NULL, &done), done);
    TSR_TRY_GOTO(open_volume(cpu, host, &own, opening), done);
    struct hider h = { .data = host->data,
                       .bytes = host->dtype == TSR_U8 ? 1 : 2,
                       .values = host->dtype == TSR_U8 ? 256 : 65536,
                       .size = { (int32_t)host->size.x, (int32_t)host->size.y, (int32_t)host->size.z },
                       .count = host->size.x * host->size.y * host->size.z,
                       .progress = &own.progress };
    TSR_TRY_GOTO(hide(&h, opening->data, done->data, &count), done);
    TSR_TRY_GOTO(tsr_volume_copy(done, context, result), done);
    if (hidden) *hidden = count;
done:
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&opening);
    tsr_volume_destroy(&done);
    tsr_context_destroy(&cpu);
    return status;
}
