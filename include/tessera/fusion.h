/* tessera/fusion.h: many depth maps to one surface: a signed distance, averaged over the maps with weights, and colours, in bricks of 8 x 8 x 8 voxels that exist
 * round the surface alone; then a tile list (tessera/tiles.h) and a coloured mesh.
 *
 * A voxel that a camera sees within `truncation` of the depth along its axis takes what is between them: distance = depth - own depth, positive in front, so that
 * inside is negative. Distance and colour are running means with weights; maps are taken in the order in which they come.
 * Class: exact: the same voxels and the same mesh on every backend and for every number of threads. Source: docs/theory/plane-sweep.md (fusion: Curless and Levoy
 * 1996). */
#ifndef TESSERA_FUSION_H
#define TESSERA_FUSION_H

#include "tessera/camera.h"
#include "tessera/mesh.h"
#include "tessera/tiles.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_fusion tsr_fusion;

typedef enum tsr_fusion_weight { TSR_FUSION_EVEN = 0, TSR_FUSION_NEAR /* 1 / depth^2, of the nearest 1: what is near is measured better */ } tsr_fusion_weight;

typedef struct tsr_fusion_options {
    size_t struct_size;
    double voxel;         /* edge of a voxel, world units; needed */
    double truncation;    /* 0 = 4 voxels; at least 1 voxel */
    double nearest, farthest; /* depths outside are left out; 0 0 = all */
    double most_weight;   /* a voxel's weight stops there, so that later maps count more; 0 = no limit */
    tsr_fusion_weight weight;
    int32_t channels;     /* of the pictures: 1, 3 or 4; 0 = 3 */
    int64_t capacity;     /* bricks to reserve; 0 = small, grows */
    int64_t memory_limit; /* bytes of device memory; beyond it TSR_ERROR_CAPACITY, what there is stays; 0 = none */
} tsr_fusion_options;
#define TSR_FUSION_OPTIONS TSR_SIZED(tsr_fusion_options)

/* Empty. KEEPS the context. TSR_ERROR_ARGUMENT for options out of range. RETURNS NEW. */
TSR_API tsr_status tsr_fusion_create(tsr_context *context, const tsr_fusion_options *options, tsr_fusion **fusion) TSR_CHECKED;
TSR_API void tsr_fusion_destroy(tsr_fusion **fusion);

/* Takes one depth map: f32 [height][width], distance along the axis, 0 = none (NAN and negative: none); `image` (u8, [height][width][channels]; may be NULL: no
 * colours of this one). BORROWS; both on the context's device. Camera without distortion. Time: pixels and voxels near the surface. TSR_ERROR_CAPACITY: the
 * memory limit, or a place more than 2^20 bricks from the origin; what was there before stays. */
TSR_API tsr_status tsr_fusion_add(tsr_fusion *fusion, const tsr_volume *depth, const tsr_volume *image, const tsr_camera *camera) TSR_CHECKED;

typedef struct tsr_fusion_info {
    size_t struct_size;
    int64_t maps, bricks, touched; /* touched: bricks that the last map changed */
    int64_t device_bytes;
} tsr_fusion_info;
#define TSR_FUSION_INFO TSR_SIZED(tsr_fusion_info)
TSR_API tsr_status tsr_fusion_describe(const tsr_fusion *fusion, tsr_fusion_info *info) TSR_CHECKED;

/* The distance as a tile list of the same spacing, voxel (x, y, z) at x, y, z times the voxel. Voxels whose weight is below `least_weight` (0: that no map
 * reached) are outside where a way through such space leads outwards, else inside. Waits. TSR_ERROR_STATE if there is none. RETURNS NEW. */
TSR_API tsr_status tsr_fusion_tiles(tsr_fusion *fusion, double least_weight, tsr_tiles **tiles) TSR_CHECKED;

typedef struct tsr_fusion_mesh_options {
    size_t struct_size;
    double least_weight; /* of voxels that count */
    int closed;          /* != 0: the surface of all that is inside, closed; else only where both sides of it have been seen */
    int no_colors;
    int64_t least_triangles; /* of a connected piece that stays; 0 = all */
    tsr_progress progress;
} tsr_fusion_mesh_options;
#define TSR_FUSION_MESH_OPTIONS TSR_SIZED(tsr_fusion_mesh_options)
/* The surface, coloured where there were pictures. Host mesh. TSR_ERROR_STATE if there is none. `options` may be NULL. RETURNS NEW. */
TSR_API tsr_status tsr_fusion_mesh(tsr_fusion *fusion, const tsr_fusion_mesh_options *options, tsr_mesh **mesh) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
