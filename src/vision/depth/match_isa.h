/* vision/depth/match_isa.h: rows of codes, of path sums and of answers, built once per SIMD variant. */
#ifndef TSR_VISION_DEPTH_MATCH_ISA_H
#define TSR_VISION_DEPTH_MATCH_ISA_H

#include "device/isa.h"
#include "vision/depth/match_ops.h"

/* Room of a pass: of each of its paths the last row, or pixel. */
typedef struct tsr_match_room {
    uint8_t *path[4];  /* [width][padded] */
    uint8_t *least[4]; /* [width] */
    uint8_t *other[5]; /* the other picture's row, backward, with room at both ends: the bytes of its codes, and greys */
} tsr_match_room;

/* A row of three paths: what is needed of it, bytes. */
typedef struct tsr_match_rows {
    uint8_t *cost;    /* [width][padded] */
    uint8_t *path[3]; /* from the left, from the right, from above; likewise */
    uint8_t *least;   /* [width], of the last */
} tsr_match_rows;

TSR_ISA_DECLARE(void, tsr_match_greys, const tsr_code_job *job, int64_t begin, int64_t end)
TSR_ISA_DECLARE(void, tsr_match_codes, const tsr_code_job *job, int32_t y)
/* All rows, from the first (backward: the last) on; sums are stored, or with `add` added. */
TSR_ISA_DECLARE(void, tsr_match_pass, const tsr_match_job *job, int backward, uint16_t *sums, int add, const tsr_match_room *room)
/* Three paths: a row's costs and its paths along it, from the left and from the right; then the path from above. */
TSR_ISA_DECLARE(void, tsr_match_along, const tsr_match_job *job, int32_t y, const tsr_match_room *room, const tsr_match_rows *rows)
TSR_ISA_DECLARE(void, tsr_match_down, const tsr_match_job *job, int32_t y, int32_t begin, int32_t end, const tsr_match_rows *above, const tsr_match_rows *rows)
/* One row of answers, of the job's sums or (not NULL) of three paths; `other` has room for `width` numbers. */
TSR_ISA_DECLARE(void, tsr_match_select_row, const tsr_match_job *job, int32_t y, const tsr_match_rows *rows, uint32_t *other)
TSR_ISA_DECLARE(void, tsr_match_smooth_row, const tsr_finish_job *job, int32_t y)
TSR_ISA_DECLARE(void, tsr_match_full_range, const tsr_finish_job *job, int64_t begin, int64_t end)

#endif
