/* region/triangle_ops.h: what a backend provides for octrees of triangles. All pointers are device memory of the queue. */
#ifndef TSR_REGION_TRIANGLE_OPS_H
#define TSR_REGION_TRIANGLE_OPS_H

#include "device/backend.h"
#include "region/triangle.h"

typedef struct tsr_triangle_ops {
    tsr_status (*look)(tsr_queue *queue, const tsr_triangles *mesh, uint8_t *states);
    tsr_status (*split)(tsr_queue *queue, const tsr_triangles *mesh, const tsr_triangle_pairs *pairs);
    tsr_status (*descend)(tsr_queue *queue, const tsr_triangle_pairs *pairs, const tsr_pyramid_entry *entries, int64_t count, uint64_t *codes,
                          uint32_t *triangles);
    tsr_status (*heads)(tsr_queue *queue, const uint64_t *keys, int64_t count, uint8_t *heads); /* is key i another one than key i - 1 */
    tsr_status (*surface)(tsr_queue *queue, const tsr_surface_job *job);
} tsr_triangle_ops;

/* The tables, to be entered in those of region trees. */
#ifdef __cplusplus
extern "C" {
#endif
extern const tsr_triangle_ops tsr_triangle_cpu, tsr_triangle_cuda;
#ifdef __cplusplus
}
#endif

TSR_HD uint8_t tsr_triangle_head(const uint64_t *keys, int64_t i) { return (uint8_t)(i == 0 || keys[i] != keys[i - 1]); }

#endif
