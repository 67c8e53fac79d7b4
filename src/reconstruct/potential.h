/* reconstruct/potential.h: the potential P(x) = sum over points of d^-(p-1), d^2 = |x - x_i|^2 + epsilon^2, by a walk through the octree.
 *
 * Units: voxels of the level that is evaluated. One walk serves a block of 4^3 voxels: a node is accepted for all of them if its side is below
 * theta (distance of the block's centre - radius of the block), if it is a leaf, or at the depth limit; else it is opened. Each voxel adds the
 * accepted nodes in depth-first order, one after another, so that every backend gives the same bits: exact class.
 * Source: docs/theory/reconstruction.md 1, 3. */
#ifndef TSR_RECONSTRUCT_POTENTIAL_H
#define TSR_RECONSTRUCT_POTENTIAL_H

#include "reconstruct/points_tree.h"

enum { TSR_BLOCK_EDGE = 4, TSR_BLOCK_VOXELS = 64 };
#define TSR_BLOCK_RADIUS 2.5980762f /* of the sphere round the centres of the 4^3 voxels: 1.5 sqrt 3 */

typedef enum tsr_power {
    TSR_POWER_SQUARE = 0,
    TSR_POWER_ROOT,
    TSR_POWER_FOURTH,
    TSR_POWER_SIXTH,
    TSR_POWER_ANY
} tsr_power; /* p = 3, 2, 5, 7, other */

typedef struct tsr_potential_params {
    int32_t level;  /* voxels per axis: 2^level; also the depth limit of the walk */
    float unit;     /* voxels per fixed unit: a power of two */
    float epsilon2; /* epsilon^2 */
    float exponent; /* -(p - 1) / 2, of d^2 */
    tsr_power power;
    int32_t as_distance;                 /* != 0: pages of floats hold -P^(-1/(p-1)), which rises where P does */
    float code_low, code_scale;          /* pages of 16 bits hold (log2 P - code_low) code_scale, tsr_potential_code_range */
    float far2[TSR_TREE_DEPTH_MOST + 1]; /* a node of this depth is far beyond this squared distance of the centre */
} tsr_potential_params;

/* 1/x for normal positive x from 2^-120 to 2^120: integer first guess, three steps of Newton; multiplications and subtractions only, a third of
 * a division on either side. Relative error below 2.5e-7. */
TSR_HD float tsr_reciprocal(float x)
{
    float y = tsr_bits_float(0x7ef311c3u - tsr_float_bits(x));
    y = y * (2.0f - x * y);
    y = y * (2.0f - x * y);
    y = y * (2.0f - x * y);
    return y;
}

/* log2 x for normal positive x: error below 2e-7 (1 + |log2 x|). Not tsr_log2 of core/exponent.h, which divides and rounds differently: surfaces are
 * promised to the bit. */
TSR_HD float tsr_log2_of(float x)
{
    uint32_t bits = tsr_float_bits(x);
    float k = (float)((int32_t)(bits >> 23) - 127), m = tsr_bits_float((bits & 0x7fffffu) | 0x3f800000u);
    if (m > 1.41421354f) {
        m = m * 0.5f;
        k = k + 1.0f;
    }
    float s = (m - 1.0f) * tsr_reciprocal(m + 1.0f), s2 = s * s;
    return k + s * (2.88539008f + s2 * (0.961796694f + s2 * (0.577078016f + s2 * (0.412198583f + s2 * 0.320598898f))));
}

/* x^e for normal positive x, |e log2 x| < 120; relative error below 4e-6 (grows with |e log2 x|). */
TSR_HD float tsr_power_of(float x, float e)
{
    float y = e * tsr_log2_of(x);
    y = tsr_clampf(y, -126.0f, 126.0f);
    int32_t whole = (int32_t)(y < 0.0f ? y - 0.5f : y + 0.5f);
    float r = (y - (float)whole) * 0.693147181f;
    float v = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f + r * (0.0416666667f + r * (0.00833333333f + r * 0.00138888889f)))));
    return v * tsr_bits_float((uint32_t)(whole + 127) << 23);
}

/* What n points at squared distance d2 (softened) add. */
TSR_HD float tsr_potential_term(float n, float d2, tsr_power power, float exponent)
{
    if (power == TSR_POWER_SQUARE) return n * tsr_reciprocal(d2);
    if (power == TSR_POWER_ROOT) return n * tsr_rsqrt(d2);
    if (power == TSR_POWER_FOURTH) {
        float y = tsr_reciprocal(d2);
        return n * (y * y);
    }
    if (power == TSR_POWER_SIXTH) {
        float y = tsr_reciprocal(d2);
        return n * (y * y * y);
    }
    return n * tsr_power_of(d2, exponent);
}

/* What a page keeps of the sum. Differences of P over a voxel are mostly those on the side of the points, the more so the larger p is, and its gradient
 * leans to an axis; -P^(-1/(p-1)) is minus the distance from points as if they were one, has slopes of about 1 and the same direction. */
TSR_HD float tsr_potential_kept(float sum, const tsr_potential_params *k)
{
    if (!k->as_distance) return sum;
    const float p = tsr_maxf(sum, 1e-36f);
    if (k->power == TSR_POWER_SQUARE) return -1.0f / tsr_sqrt(p);
    if (k->power == TSR_POWER_ROOT) return -1.0f / p;
    if (k->power == TSR_POWER_FOURTH) return -1.0f / tsr_sqrt(tsr_sqrt(p));
    return -tsr_power_of(p, 0.5f / k->exponent);
}

/* What a page of 16 bits keeps of it, an integer from 0 to 65535: log P, whose gradient has the direction of that of P (docs/theory/reconstruction.md 6).
 * The range is all that P can be: the points lie between epsilon and the diagonal of the cube from a voxel. */
TSR_HD float tsr_potential_code(float sum, const tsr_potential_params *k)
{
    const float q = (tsr_log2_of(tsr_maxf(sum, 1e-36f)) - k->code_low) * k->code_scale;
    return (float)(int32_t)(tsr_clampf(q, 0.0f, 65535.0f) + 0.5f);
}

/* A node seen from a centre in fixed units. */
typedef struct tsr_seen {
    float x, y, z, count;
} tsr_seen;
TSR_HD tsr_seen tsr_node_seen(const tsr_tree_centre *node, const uint32_t centre[3], float unit)
{
    tsr_seen s;
    s.x = (float)(int32_t)(node->x - centre[0]) * unit;
    s.y = (float)(int32_t)(node->y - centre[1]) * unit;
    s.z = (float)(int32_t)(node->z - centre[2]) * unit;
    s.count = (float)node->count;
    return s;
}
/* Does the walk take this node instead of its children? */
TSR_HD int tsr_node_accepted(const tsr_tree_walk *walk, const tsr_seen *s, const tsr_potential_params *k)
{
    const uint32_t depth = walk->depth & 31u;
    if ((walk->depth & TSR_TREE_LEAF) || depth >= (uint32_t)k->level) return 1;
    return (s->x * s->x + s->y * s->y) + s->z * s->z > k->far2[depth];
}

/* Centre of the block whose first voxel is `voxel`, in fixed units: a corner of voxels, exact. */
TSR_HD uint32_t tsr_block_centre(int32_t voxel, int32_t level) { return (uint32_t)(voxel + TSR_BLOCK_EDGE / 2) << (TSR_FIXED_BITS - level); }

/* P at the offset (x, y, z) from `centre`, one walk for this place alone; *visited (may be NULL) counts the accepted nodes. For tests and probes. */
TSR_HD float tsr_potential_at(const tsr_tree_view *tree, const uint32_t centre[3], float x, float y, float z, const tsr_potential_params *k,
                              int64_t *visited)
{
    float sum = 0.0f;
    for (uint32_t node = 0; node < tree->nodes;) {
        tsr_seen s = tsr_node_seen(&tree->centre[node], centre, k->unit);
        if (!tsr_node_accepted(&tree->walk[node], &s, k)) {
            node++;
            continue;
        }
        float dx = x - s.x, dy = y - s.y, dz = z - s.z;
        sum = sum + tsr_potential_term(s.count, (dx * dx + dy * dy) + (dz * dz + k->epsilon2), k->power, k->exponent);
        if (visited) ++*visited;
        node = tree->walk[node].skip;
    }
    return sum;
}

#endif
