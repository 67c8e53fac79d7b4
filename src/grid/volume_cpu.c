#include "core/parallel.h"
#include "grid/volume_ops.h"
#include "grid/voxel.h"

struct convert {
    const void *from;
    void *to;
    tsr_dtype from_type, to_type;
    double slope, intercept;
};

static void convert_range(void *user, int64_t begin, int64_t end, int worker)
{
    const struct convert *c = (const struct convert *)user;
    (void)worker;
    for (int64_t i = begin; i < end; i++) tsr_voxel_convert(c->from, c->from_type, c->to, c->to_type, i, c->slope, c->intercept);
}

static tsr_status cpu_convert(tsr_queue *queue, const void *from, tsr_dtype from_type, void *to, tsr_dtype to_type, int64_t count, double slope,
                              double intercept)
{
    struct convert c = { from, to, from_type, to_type, slope, intercept };
    tsr_parallel(queue->threads, count, 1 << 16, convert_range, &c);
    return TSR_OK;
}

const tsr_volume_ops tsr_volume_cpu = { .convert = cpu_convert };
