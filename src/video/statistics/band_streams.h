/* video/statistics/band_streams.h: sub-bands of core syntax by interleaved rANS with frequencies of the picture (compress/rans.h), a coding that no
 * standard has (docs/formats/dirac.md): 32 coefficients of a row are decoded at once, and streams side by side. A coefficient's context is what lies
 * around its place in the rows before, in its parent, and in the bands of its level that come before. */
#ifndef TSR_VIDEO_STATISTICS_BAND_STREAMS_H
#define TSR_VIDEO_STATISTICS_BAND_STREAMS_H

#include "compress/rans_isa.h"
#include "video/dirac/dirac_core.h"

enum {
    TSR_STATISTICS_STREAM = 1 << 16
}; /* coefficients: levels with fewer than twice as many are in one stream, others in strips of about so many */

/* Rows of a band. */
typedef struct tsr_statistics_segment {
    int32_t level, orientation, y0, y1;
} tsr_statistics_segment;
typedef struct tsr_statistics_stream {
    int32_t component, level;   /* level -1: all that are in one stream */
    int32_t first, count;       /* segments */
    int64_t rows, coefficients; /* of all of them */
    const uint8_t *bytes;       /* size 0: all coefficients are 0 */
    int64_t size;
} tsr_statistics_stream;

/* The streams of a picture, those of one level behind one another, from -1 on: they look at those of levels before. */
typedef struct tsr_statistics_plan {
    tsr_statistics_segment *segment;
    tsr_statistics_stream *stream;
    int32_t segments, streams;
} tsr_statistics_plan;
tsr_status tsr_statistics_plan_make(const tsr_dirac_transform *transform, const tsr_dirac_layout *const layout[3], tsr_statistics_plan *plan);
void tsr_statistics_plan_free(tsr_statistics_plan *plan);

/* What a row's contexts are made of; NULL: it is not there. */
typedef struct tsr_statistics_around {
    const int32_t *above, *second; /* the row before, and the one before that; only both */
    const int32_t *parent;         /* two coefficients have one */
    const int32_t *sibling[2];
} tsr_statistics_around;
/* Row y of a segment in the (quantised) coefficients of its component. */
tsr_statistics_around tsr_statistics_look(const tsr_dirac_layout *layout, const tsr_statistics_segment *s, const int32_t *coefficients, int32_t y);
/* Contexts of its n coefficients; where nothing is known they are `start`. `work`: n numbers. */
TSR_ISA_DECLARE(void, tsr_statistics_contexts, const tsr_statistics_around *around, int32_t n, int32_t start, uint32_t *work, uint8_t *context)

/* Quantisers of all bands and bits of all streams: those of a component's first stream as its approximation's, those of strips as their level's first
 * band's. What is not there is left alone. */
tsr_status tsr_dirac_statistics_measure(const tsr_dirac_transform *transform, const tsr_dirac_layout *const layout[3], tsr_bits *bits,
                                        int64_t band_bits[3][TSR_DIRAC_LEVELS + 1][4], int32_t quantiser[3][TSR_DIRAC_LEVELS + 1][4]);
/* tsr_dirac_core_decode of such pictures. */
tsr_status tsr_dirac_statistics_decode(const tsr_dirac_core *core, tsr_bits *bits, tsr_dirac_core_damage *damage);

#endif
