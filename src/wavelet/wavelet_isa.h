/* wavelet/wavelet_isa.h: the inner loops of the transforms: rows of samples, compiled per SIMD variant (wavelet_isa.c). Between the passes
 * over memory rows are held as `ring` elements: i16 samples as i16 where every finished value is one of a step, else as i32. */
#ifndef TSR_WAVELET_WAVELET_ISA_H
#define TSR_WAVELET_WAVELET_ISA_H

#include "device/isa.h"
#include "wavelet/wavelet_ops.h"

enum { TSR_ROWS_STREAM_OUT = 1, TSR_ROWS_STREAM_COPY = 2 };

/* Two rows of samples that follow each other, at i and i+1, and those before them in work; of each the even places, then the odd ones. */
typedef struct tsr_wavelet_two_rows {
    int64_t n;
    int32_t shift;
    const void *row[2], *ahead[2]; /* ahead: as many bytes as a row has, asked for meanwhile; anything may stand there */
    void *before[2], *behind[2];   /* rows i-2 and i-1; become i and i+1 */
    void *out[2], *copy[2];        /* get i-1 and i when they are final */
    int stream_out[2], stream_copy[2];
} tsr_wavelet_two_rows;

/* Calm rows on which all steps of a filter across rows are done, step k on row x[k] with its neighbours from[k]. */
typedef struct tsr_calm_rows {
    int64_t begin[2], n[2]; /* of the parts of a row: where the samples are, and how many */
    void *x[4];
    const void *from[4][TSR_WAVELET_TAPS];
    void *out[2][2];         /* where the parts of the last two rows go; NULL: they stay */
    const void *ahead[2][2]; /* asked for meanwhile: two rows, with as many bytes for each part; anything may stand there */
} tsr_calm_rows;

/* Loops that do all steps of a filter on calm rows, with `clamp` at the ends of a row. */
typedef struct tsr_calm_loops {
    /* split_calm and all steps along the row */
    int (*split)(const tsr_lift_filter *f, const void *in, int64_t n, int32_t shift, void *low, void *high);
    /* all steps along it and merge of contiguous samples */
    void (*merge)(const tsr_lift_filter *f, void *low, void *high, int64_t n, int32_t shift, void *out);
    void (*across)(const tsr_lift_filter *f, const tsr_calm_rows *rows);
    int chained; /* across: the last neighbour of a step is the row of the step before it */
} tsr_calm_loops;

typedef struct tsr_wavelet_rows {
    size_t element, ring; /* bytes */
    /* n samples, `stride` elements apart, raised by `shift` bits: even ones to low, odd ones to high */
    void (*split)(const void *in, int64_t stride, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost);
    /* The inverse; values are lowered by `shift` bits. */
    void (*merge)(const void *low, const void *high, int64_t n, int32_t shift, void *out, int64_t stride, int stream, uint32_t *lost);
    /* x[i] += what the step adds for neighbours[k][i], k in the order of the taps */
    void (*lift)(const tsr_lift_step *step, void *x, const void *const *neighbours, int64_t n, uint32_t *lost);
    void (*load)(const void *in, int64_t stride, int64_t n, int32_t shift, double scale, void *row, uint32_t *lost);
    /* stream: past the caches, which then need not read what is overwritten; followed by `drain` before others may read */
    void (*store)(const void *row, int64_t n, int32_t shift, double scale, void *out, int64_t stride, int stream, uint32_t *lost);
    void (*drain)(void);
    void (*narrow)(void *row, int64_t n, uint32_t *lost); /* of a finished axis that stays in the row; NULL: nothing to do */
    /* Do all values lie within [-bound, bound)? Then steps need not look (calm.h); NULL: not for this kind. */
    int (*within)(const void *row, int64_t n, int32_t bound);
    /* split of contiguous samples, that says whether all values are within the bound; if not, the parts are worth nothing. */
    int (*split_calm)(const void *in, int64_t n, int32_t shift, int32_t bound, void *low, void *high);
    /* lift without a look. The result goes to `out` (x, or apart) and, unless NULL, to `copy`; only x and neighbours have room for whole vectors. */
    void (*lift_calm)(const tsr_lift_step *step, void *x, const void *const *neighbours, int64_t n, void *out, void *copy);
    /* Those of a filter that has loops of its own; NULL: not this one. */
    const tsr_calm_loops *(*calm_loops)(const tsr_lift_filter *f);
    /* Both steps of a 5/3 (tsr_wavelet_pairs) at once; NULL: not for this kind. A row x at i and its neighbours before (i-2), behind (i-1) and after
     * (i+1): x += first step, out = behind + second step; copy gets x too, unless NULL. stream: as above, of out, of copy (enum below), which are
     * then aligned to 64 bytes. behind may be after or out; all else is apart. */
    void (*pair)(const tsr_lift_filter *f, const void *before, const void *behind, void *x, const void *after, int64_t n, void *out, void *copy,
                 int stream, uint32_t *lost);
    /* split of n >= 2 contiguous samples and both steps along them, mirrored at the ends */
    void (*split_pair)(const tsr_lift_filter *f, const void *in, int64_t n, int32_t shift, void *low, void *high, uint32_t *lost);
    /* The way back of split_pair: both steps along n >= 2 samples, which are lowered, to contiguous ones; low and high stay as they are. */
    void (*merge_pair)(const tsr_lift_filter *f, const void *low, const void *high, int64_t n, int32_t shift, void *out, int stream, uint32_t *lost);
    /* split_pair of two rows and `pair` across them, so that neither is written and read between */
    void (*split_both)(const tsr_lift_filter *f, const tsr_wavelet_two_rows *rows, uint32_t *lost);
} tsr_wavelet_rows;

/* I32_NARROW: int32 samples in rows of 16 bits, which only calm ones fit into (pass.unfit). */
typedef enum tsr_wavelet_kind { TSR_ROWS_I16 = 0, TSR_ROWS_I16_WIDE, TSR_ROWS_I32, TSR_ROWS_I32_NARROW, TSR_ROWS_F32, TSR_ROWS_F64 } tsr_wavelet_kind;
TSR_ISA_DECLARE(const tsr_wavelet_rows *, tsr_wavelet_rows_of, tsr_wavelet_kind kind)

/* Is the filter (of either direction) a 5/3 of this kind? Two steps of two equal taps each; within 16 bits a half away and a quarter. */
static inline int tsr_wavelet_is_53(const tsr_wavelet_rows *rows, const tsr_lift_filter *f)
{
    if (!rows->pair || f->steps != 2 || f->nonlinear || f->step[0].parity == f->step[1].parity) return 0;
    for (int32_t k = 0; k < 2; k++) {
        const tsr_lift_step *s = &f->step[k];
        const int half = s->parity == 1;
        if (s->count != 2 || !s->symmetric || s->reach != 1) return 0;
        if (rows->element != 2) continue;
        if (!s->unit || (s->sign < 0) != (k == 0) || s->shift != (half ? 1 : 2)) return 0;
        if (half ? s->rounding != 0 && s->rounding != 1 : s->rounding != 2) return 0;
    }
    return 1;
}
/* Do rows in the ring go by twos? On the way back, where they are lifted in place, it took float32 longer (4096^2 16 ms against 14). */
static inline int tsr_wavelet_pairs(const tsr_wavelet_rows *rows, const tsr_lift_filter *f)
{
    return tsr_wavelet_is_53(rows, f) && (rows->element == 2 || f->step[0].parity == 1);
}

#endif
