/* video/dirac/encoder/motion_search.h: where the blocks of a picture come from. Luma of pictures as bytes, on the host: a pyramid from which vectors are
 * found from coarse to fine, and the half-sample planes of references, on which they are refined. The choice between what is found is made in
 * motion_modes.c. */
#ifndef TSR_VIDEO_DIRAC_MOTION_SEARCH_H
#define TSR_VIDEO_DIRAC_MOTION_SEARCH_H

#include "core/core.h"
#include "video/dirac/predict.h"

enum { TSR_SEARCH_LEVELS = 5, TSR_SEARCH_MARGIN = 32, TSR_SEARCH_BLOCK = 8 };

/* Luma of a picture: level 0 and coarser ones, each half as wide and high, with their last samples repeated TSR_SEARCH_MARGIN times around. */
typedef struct tsr_dirac_seen {
    int32_t levels, width[TSR_SEARCH_LEVELS], height[TSR_SEARCH_LEVELS];
    int64_t stride[TSR_SEARCH_LEVELS];
    uint8_t *level[TSR_SEARCH_LEVELS]; /* at sample (0, 0) */
    uint8_t *phase[4];                 /* [0] is level[0]; half a sample on along x (1), y (2), both (3) */
    uint8_t *memory;
    int64_t bytes;
    double mean;
} tsr_dirac_seen;

/* Samples of `bytes` bytes (1, 2), `depth` bits, or, where bytes is -2, of 16 bits around 0. */
tsr_status tsr_dirac_seen_make(tsr_dirac_seen *seen, const void *samples, int64_t stride, int32_t bytes, int32_t depth, int32_t width, int32_t height,
                               int with_phases, int32_t threads);
void tsr_dirac_seen_free(tsr_dirac_seen *seen);

/* What was found for a unit: a superblock (unit 0), a quarter (1 to 4), a block (5 to 20). Costs are sums of absolute differences. */
typedef struct tsr_dirac_found {
    int16_t vector[2][2];
    int32_t cost[2], both, flat;
} tsr_dirac_found;
enum { TSR_SEARCH_UNITS = 21 };

typedef struct tsr_dirac_search {
    const tsr_dirac_seen *source, *reference[2];
    const tsr_dirac_prediction *p;
    int32_t down[2];              /* chroma */
    int32_t compatible;           /* see tsr_dirac_encode_options */
    int32_t lambda;               /* 16 times the difference that a bit is worth */
    int32_t range, steps, around; /* whole samples to each side on the coarsest level; steps of refinement; neighbours looked at: 4 or 8 */
    int32_t threads;
    int16_t *field[2][TSR_SEARCH_LEVELS]; /* vectors of whole samples, two a block */
    int32_t columns[TSR_SEARCH_LEVELS], rows[TSR_SEARCH_LEVELS];
    tsr_dirac_found *units; /* TSR_SEARCH_UNITS a superblock */
} tsr_dirac_search;

/* Memory for pictures of this shape, used until tsr_dirac_search_free. */
tsr_status tsr_dirac_search_make(tsr_dirac_search *search, const tsr_dirac_seen *source, const tsr_dirac_prediction *p);
void tsr_dirac_search_free(tsr_dirac_search *search);
/* Fills `units`. */
void tsr_dirac_search_run(tsr_dirac_search *search);

/* For motion_modes.c: the places that a unit of `size` blocks at block (x, y) covers, its overlap included, within the picture. */
typedef struct tsr_dirac_part {
    int32_t x, y, w, h;
} tsr_dirac_part;
tsr_dirac_part tsr_dirac_unit_part(const tsr_dirac_search *s, int32_t x, int32_t y, int32_t size);
int tsr_dirac_vector_allowed(const tsr_dirac_search *s, tsr_dirac_part part, int32_t vx, int32_t vy);
/* The difference with reference r (0, 1), or the mean of both (2). */
int32_t tsr_dirac_unit_cost(const tsr_dirac_search *s, int r, tsr_dirac_part part, const int16_t vector[2][2]);
static inline int32_t tsr_dirac_unit_size(int unit) { return unit == 0 ? 4 : unit < 5 ? 2 : 1; }
static inline int32_t tsr_dirac_vector_bits(int32_t d)
{
    const uint32_t v = (uint32_t)(d < 0 ? -d : d) + 1;
    return 2 * (31 - __builtin_clz(v)) + 1 + (d != 0);
}

/* How unlike two pictures are, on a coarse level: the share of 8 x 8 blocks that are better described by their own mean than by any place nearby
 * in the other picture. 0 to 1. */
double tsr_dirac_scene_distance(const tsr_dirac_seen *a, const tsr_dirac_seen *b);
/* The weight of the first of two references, in 1 / 2^bits, the second having the rest, with which their blend is nearest to the picture, 0 to
 * 2^bits: more would blow up noise; *gain is the squared error with it over the least with equal weights or either alone. */
int32_t tsr_dirac_best_weight(const tsr_dirac_seen *picture, const tsr_dirac_seen *a, const tsr_dirac_seen *b, int32_t bits, double *gain);

#endif
