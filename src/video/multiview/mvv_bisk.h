/* video/multiview/mvv_bisk.h: binary set splitting with k-d trees [Fowler04]: bit planes of coefficients of any shape, through an adaptive
 * arithmetic coder.
 * docs/theory/multiview.md 4.2, docs/formats/mvv.md. */
#ifndef TSR_VIDEO_MULTIVIEW_MVV_BISK_H
#define TSR_VIDEO_MULTIVIEW_MVV_BISK_H

#include "video/multiview/mvv_spiht.h"

enum { TSR_BISK_DEPTHS = 48, TSR_BISK_MOST_PLANES = 26, TSR_BISK_MOST_POINTS = 2 * TSR_BISK_MOST_PLANES + 1 };

/* A rectangle, [u0, u1) x [v0, v1), with relevant coefficients on all its sides; its two halves are found when they are asked for. */
typedef struct tsr_bisk_set {
    uint16_t u0, v0, u1, v1;
    int32_t half[2];              /* numbers of sets; -1: none there; both -2: not asked for yet */
    uint8_t depth, planes, shift; /* shift: see tsr_bisk_tree_make; counted in planes, too */
} tsr_bisk_set;

/* The sets of one mask: for the three components of a texture. */
typedef struct tsr_bisk_tree {
    int32_t width, height;
    int32_t *sums; /* relevant coefficients in [0, u) x [0, v): (width + 1) x (height + 1) */
    tsr_bisk_set *set;
    int64_t sets, room;
    int32_t roots;
    int32_t root[40];
    int weighted;
} tsr_bisk_tree;

/* mask: of coefficients (tsr_mvv_adaptive_sort_mask), a byte each. The tree may be made again and again; zero at first. Weighted: coefficients are
 * integers of a transform without factors, of which an error in a coarse band counts more: planes hold them times 2^shift, a shift for each band, so
 * that all bits of a plane count alike; bits below the shift do not exist. */
tsr_status tsr_bisk_tree_make(tsr_bisk_tree *t, int32_t width, int32_t height, int32_t levels, const uint8_t *mask, int weighted);
void tsr_bisk_tree_free(tsr_bisk_tree *t);

/* After some bytes so much of the sum of squares is gone. */
typedef struct tsr_bisk_point {
    int64_t bytes;
    double gain;
} tsr_bisk_point;

typedef struct tsr_bisk_coder {
    tsr_mvv_list list[TSR_BISK_DEPTHS], found, value, shift; /* shift: of what is found in a weighted tree */
    uint8_t *significant;                                    /* (width + 2) x (height + 2) */
    int64_t significant_room;
    tsr_bisk_point point[TSR_BISK_MOST_POINTS]; /* of the last stream that was encoded, whole passes */
    int32_t points;
} tsr_bisk_coder;
void tsr_bisk_coder_free(tsr_bisk_coder *c);

/* value: width x height, 0 where nothing is relevant. At most `budget` bytes (at least 1). needed: of a weighted tree, planes without which a stream
 * that is cut off is worse than none. *bytes RETURNS NEW, free(). */
tsr_status tsr_bisk_encode(tsr_bisk_coder *c, tsr_bisk_tree *t, const int32_t *value, int64_t budget, int32_t needed, uint8_t **bytes, int64_t *size);
/* What a decoder takes the coefficients for that has all planes but the last `missing` ones; others than those of the tree stay as they were. Returns
 * the number of planes; -1: no memory. */
int32_t tsr_bisk_coarse(tsr_bisk_tree *t, const int32_t *value, int32_t missing, int32_t *coarse);
/* Coefficients from any bytes: their places in c->found, in c->value magnitudes with the sign in bit 31. TSR_ERROR_FORMAT: as below. */
tsr_status tsr_bisk_find(tsr_bisk_coder *c, tsr_bisk_tree *t, const uint8_t *bytes, int64_t size);
/* value: every element is set, from any bytes. TSR_ERROR_FORMAT: more planes than there can be. */
tsr_status tsr_bisk_decode(tsr_bisk_coder *c, tsr_bisk_tree *t, const uint8_t *bytes, int64_t size, int32_t *value);

#endif
