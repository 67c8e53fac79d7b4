/* vision/depth_mesh.h: the formulas of meshes of depth maps: what a leaf predicts at a pixel, and how far it may be off. q is what is linear on a plane:
 * inverse depth with a pinhole, else depth or height. See tessera/depth_map.h. */
#ifndef TSR_VISION_DEPTH_MESH_H
#define TSR_VISION_DEPTH_MESH_H

#include "core/hd.h"

/* An error of q below this keeps the depth 1/q within `tolerance`: |1/(q + e) - 1/q| <= tolerance for every |e| up to it. */
TSR_HD double tsr_depth_allowance(double q, double tolerance, int inverse)
{
    if (!inverse) return tolerance;
    const double z = 1.0 / q;
    return tolerance / (z * (z + tolerance));
}

/* Corners and middle of a leaf, as differences from the corner (0, 0): order (0,0) (1,0) (0,1) (1,1), middle. */
typedef struct tsr_depth_leaf {
    double corner[4], middle;
} tsr_depth_leaf;

/* Two triangles that share the diagonal from (0, 0) to (1, 1); u, v of 0 to side. */
TSR_HD double tsr_depth_two(const tsr_depth_leaf *l, int32_t u, int32_t v, int32_t side)
{
    const double a = (double)u / (double)side, b = (double)v / (double)side;
    return v >= u ? a * (l->corner[3] - l->corner[2]) + b * l->corner[2] : a * l->corner[1] + b * (l->corner[3] - l->corner[1]);
}

/* Four triangles round the middle. */
TSR_HD double tsr_depth_fan(const tsr_depth_leaf *l, int32_t u, int32_t v, int32_t side)
{
    const int32_t x = 2 * u - side, y = 2 * v - side, ax = x < 0 ? -x : x, ay = y < 0 ? -y : y, most = ax > ay ? ax : ay;
    if (!most) return l->middle;
    const int across = ax > ay; /* the triangle at the left or right edge */
    const double from = across ? l->corner[x < 0 ? 0 : 1] : l->corner[y < 0 ? 0 : 2],
                 to = across ? l->corner[x < 0 ? 2 : 3] : l->corner[y < 0 ? 1 : 3];
    const double t = 0.5 * ((double)(across ? y : x) / (double)most + 1.0), ring = (double)most / (double)side;
    return l->middle + ring * (from + t * (to - from) - l->middle);
}

#endif
