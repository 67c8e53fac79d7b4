/* tiles/topology_device.c: voxel sets in the memory of a device: copies there and back, and the host's part of a dilation. */
#include <string.h>

#include "tiles/tiles_ops.h"
#include "tiles/topology.h"

/* Words of a box: two ranks each of them, 8 GiB in all. */
static const int64_t WORDS_MOST = (int64_t)1 << 29;

static tsr_status move(const tsr_topology *from, tsr_topology *to)
{
    TSR_TRY(tsr_device_move(to->context, to->keys, from->context, from->keys, ((size_t)from->count + 1) * sizeof *to->keys));
    if (from->count > 0) TSR_TRY(tsr_device_move(to->context, to->mask, from->context, from->mask, (size_t)from->count * sizeof *to->mask));
    to->count = from->count;
    return TSR_OK;
}

/* Box and voxels, which a device set carries with it. */
static void survey_host(const tsr_topology *from, tsr_topology *to)
{
    tsr_topology_info info = TSR_TOPOLOGY_INFO;
    tsr_topology_describe(from, &info);
    to->voxels = info.voxels;
    for (int64_t i = 0; i < from->count; i++) {
        const int32_t at[3] = { tsr_key_x(from->keys[i]), tsr_key_y(from->keys[i]), tsr_key_z(from->keys[i]) };
        for (int k = 0; k < 3; k++) {
            to->lower[k] = i ? tsr_mini(to->lower[k], at[k]) : at[k];
            to->upper[k] = i ? tsr_maxi(to->upper[k], at[k]) : at[k];
        }
    }
}

tsr_status tsr_topology_copy(const tsr_topology *topology, tsr_context *context, tsr_topology **copy)
{
    TSR_RETURNS(copy);
    TSR_NEEDS(topology);
    tsr_status status;
    if (context && context->device.kind == TSR_DEVICE_CPU) context = NULL;
    TSR_TRY(tsr_topology_room(context, topology->count, copy));
    TSR_TRY_GOTO(move(topology, *copy), fail);
    if (topology->context) {
        memcpy((*copy)->lower, topology->lower, sizeof topology->lower);
        memcpy((*copy)->upper, topology->upper, sizeof topology->upper);
        (*copy)->voxels = topology->voxels;
    } else {
        survey_host(topology, *copy);
    }
    return TSR_OK;
fail:
    tsr_topology_destroy(copy);
    return status;
}

static tsr_status job_of(const tsr_topology *from, int32_t neighbours, tsr_topology_job *job)
{
    int32_t lower[3], upper[3];
    for (int k = 0; k < 3; k++) {
        lower[k] = from->lower[k] - 1;
        upper[k] = from->upper[k] + 1;
        if (lower[k] <= 1 - TSR_KEY_BIAS || upper[k] >= TSR_KEY_BIAS - 2)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "topology: tiles from %d to %d along %c cannot be dilated: the limits of the coordinates are reached",
                     from->lower[k], from->upper[k], "xyz"[k]);
    }
    *job = (tsr_topology_job){ .keys = from->keys,
                               .mask = (const uint64_t(*)[8])from->mask,
                               .count = from->count,
                               .neighbours = neighbours,
                               .box = tsr_rank_box_of(lower, upper) };
    if (job->box.words > WORDS_MOST)
        TSR_FAIL(TSR_ERROR_CAPACITY, "topology: a box of %d x %d x %d tiles, expected at most %lld on a device: dilate a copy in host memory",
                 job->box.size[0], job->box.size[1], job->box.size[2], 32 * (long long)WORDS_MOST);
    return TSR_OK;
}

/* Ranks of both lists side by side, the parts, the totals: one piece of memory. */
static tsr_status dilate(const tsr_topology *from, tsr_topology_job *job, char *memory, tsr_topology **dilated)
{
    tsr_context *context = from->context;
    const tsr_backend *backend = context->backend;
    const tsr_topology_ops *ops = backend->tiles->topology;
    const size_t ranks = (size_t)job->box.words * sizeof(tsr_rank), parts = (size_t)(2 * TSR_TOPOLOGY_PARTS(job->box.words)) * sizeof(uint64_t);
    tsr_topology_totals totals;
    tsr_topology *to;
    job->from = (tsr_rank *)(void *)memory;
    job->to = (tsr_rank *)(void *)(memory + ranks);
    job->parts = (uint64_t *)(void *)(memory + 2 * ranks);
    job->totals = (tsr_topology_totals *)(void *)(memory + 2 * ranks + parts);
    TSR_TRY(backend->fill(context->queue, memory, 0, 2 * ranks));
    TSR_TRY(ops->survey(context->queue, job));
    TSR_TRY(backend->download(context->queue, &totals, job->totals, sizeof totals));
    if (totals.tiles > INT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "topology: %llu tiles after dilation, expected at most %d", (unsigned long long)totals.tiles, INT32_MAX);
    TSR_TRY(tsr_topology_room(context, (int64_t)totals.tiles, dilated));
    to = *dilated;
    to->count = (int64_t)totals.tiles;
    TSR_TRY(ops->write(context->queue, job, to->count, to->keys, to->mask));
    TSR_TRY(backend->download(context->queue, &totals, job->totals, sizeof totals));
    to->voxels = (int64_t)totals.voxels;
    memcpy(to->lower, totals.lower, sizeof to->lower);
    memcpy(to->upper, totals.upper, sizeof to->upper);
    return TSR_OK;
}

tsr_status tsr_topology_device_step(const tsr_topology *from, int32_t neighbours, tsr_topology **dilated)
{
    tsr_topology_job job;
    void *memory;
    if (from->count == 0) return tsr_topology_copy(from, from->context, dilated);
    TSR_TRY(job_of(from, neighbours, &job));
    const size_t bytes = 2 * (size_t)job.box.words * sizeof(tsr_rank) + (size_t)(2 * TSR_TOPOLOGY_PARTS(job.box.words)) * sizeof(uint64_t) +
                         sizeof(tsr_topology_totals);
    TSR_TRY(tsr_device_allocate(from->context, bytes, &memory));
    tsr_status status = dilate(from, &job, (char *)memory, dilated);
    tsr_device_release(from->context, memory, bytes);
    if (status != TSR_OK) tsr_topology_destroy(dilated);
    TSR_TRY(status);
    return TSR_OK;
}
