/* video/depth/depth_rows_isa.h: what is done to a row of a depth film at once, a variant per instruction set. Class exact. */
#ifndef TSR_VIDEO_DEPTH_DEPTH_ROWS_ISA_H
#define TSR_VIDEO_DEPTH_DEPTH_ROWS_ISA_H

#include "device/isa.h"
#include "video/depth/depth_code.h"

enum { TSR_DEPTH_MARGIN = 64 }; /* so many may be read and written behind what is named, and read before it */

/* values [n] to numbers in steps, and back. */
TSR_ISA_DECLARE(void, tsr_depth_quantise_row, const uint16_t *value, uint16_t *number, int64_t n, uint32_t step)
TSR_ISA_DECLARE(void, tsr_depth_restore_row, const uint16_t *number, uint16_t *value, int64_t n, uint32_t step)
/* Where samples begin to be there, and where they end, in turn; the last end is n. Returns how many. */
TSR_ISA_DECLARE(int32_t, tsr_depth_edges_row, const uint16_t *row, int32_t n, int32_t *edge)
/* Contexts of n samples of one run, of which the first has none on its left. `above`: numbers of the row above, `token`: its tokens, at the place of the
 * run's first sample. */
TSR_ISA_DECLARE(void, tsr_depth_contexts_row, const uint16_t *above, const uint8_t *token, uint8_t *context, int64_t n)
/* Folded differences of n samples `row` of a run to what is expected of them, and their tokens; `before`: expected of a lonely one. */
TSR_ISA_DECLARE(void, tsr_depth_differences_row, int predictor, const uint16_t *row, const uint16_t *above, uint32_t before, uint16_t *folded,
                uint8_t *token, int64_t n)
/* The other way. */
TSR_ISA_DECLARE(void, tsr_depth_undo_row, int predictor, const uint16_t *folded, const uint16_t *above, uint32_t before, uint16_t *row, int64_t n)
/* Tokens of n samples from the states, and with their plain bits the folded numbers. Returns the words taken; `words` may be read 4 behind what is taken,
 * `plain` 8 bytes. slot [contexts][slots]: token | slots since its first << 8 | frequency << 20. */
TSR_ISA_DECLARE(int64_t, tsr_depth_tokens_row, uint32_t state[TSR_DEPTH_LANES], const uint32_t (*slot)[TSR_DEPTH_SLOTS], const uint16_t *words,
                const uint8_t *context, uint8_t *token, int64_t n)
/* Contexts and tokens as one number each. */
TSR_ISA_DECLARE(void, tsr_depth_symbols_row, const uint8_t *context, const uint8_t *token, uint16_t *symbol, int64_t n)
/* The other way: symbols into the states, the last first. Words end at `end`; returns where they begin. */
TSR_ISA_DECLARE(uint8_t *, tsr_depth_put_row, uint32_t state[TSR_DEPTH_LANES], const tsr_depth_share *share, uint8_t *end, const uint16_t *symbol,
                int64_t n)

#endif
