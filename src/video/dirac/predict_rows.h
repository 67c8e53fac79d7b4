/* video/dirac/predict_rows.h: what a block says of a few rows of a column, as a thread of a device works it out. */
#ifndef TSR_VIDEO_DIRAC_PREDICT_ROWS_H
#define TSR_VIDEO_DIRAC_PREDICT_ROWS_H

#include "device/kernel.h"
#include "video/dirac/predict_run.h"

/* Block number `at`: read at once. */
TSR_DEVICE_FN tsr_dirac_block tsr_dirac_block_at(const tsr_dirac_predict_job *j, int64_t at)
{
    static_assert(sizeof(tsr_dirac_block) == sizeof(uint4), "a block is read at once");
    const uint4 words = *(const uint4 *)(const void *)&j->blocks[at];
    tsr_dirac_block b;
    memcpy(&b, &words, sizeof b);
    return b;
}

/* Rows of a reference, by parts of PART rows: those whose bits are set in `parts`. */
template <int PLACES, int ROWS, int PART>
TSR_DEVICE_FN void tsr_dirac_fetch_rows(const tsr_dirac_run_source *s, const tsr_dirac_run_view *view, int32_t parts, int32_t value[ROWS])
{
#pragma unroll
    for (int p = 0; p < ROWS / PART; p++) {
        if (!(parts >> p & 1)) continue;
#pragma unroll
        for (int k = p * PART; k < (p + 1) * PART; k++) value[k] = tsr_dirac_run_fetch(s, view, PLACES, k);
    }
}

/* What block b says of column x from row y on, `rows` rows, of which those of `parts` are wanted; what it leaves in others counts nothing. 0: not all lies
 * within the references, and nothing was said. By all lanes of a warp, with the same rows and parts. */
template <int ROWS, int PART>
TSR_DEVICE_FN int tsr_dirac_block_rows(const tsr_dirac_predict_job *j, const tsr_dirac_run_source *s, const tsr_dirac_block *b, int32_t x, int32_t y,
                                       int32_t rows, int32_t parts, int32_t value[ROWS])
{
    int32_t from[2][ROWS];
    int far = b->mode && b->global;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        tsr_dirac_run_view view;
        int32_t places = 0;
        if (b->mode >> r & 1 && !far) {
            places = tsr_dirac_run_look(s, b->vector[r], r, x, y, rows, &view);
            far = !places;
        }
#pragma unroll
        for (int k = 0; k < ROWS; k++) from[r][k] = 0;
        const int32_t most = __reduce_max_sync(TSR_WARP_ALL, places); /* one way for the warp: places beyond a lane's have weight 0 */
        if (!places) continue;
        if (most == 1) tsr_dirac_fetch_rows<1, ROWS, PART>(s, &view, parts, from[r]);
        else if (most == 2) tsr_dirac_fetch_rows<2, ROWS, PART>(s, &view, parts, from[r]);
        else tsr_dirac_fetch_rows<4, ROWS, PART>(s, &view, parts, from[r]);
    }
    const int32_t c = j->component, dc = c == 0 ? b->dc[0] : c == 1 ? b->dc[1] : b->dc[2]; /* in registers */
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int32_t both[2] = { from[0][k], from[1][k] };
        value[k] = b->mode ? tsr_dirac_weigh(j, b->mode, both) : dc;
    }
    return !far;
}

#endif
