/* video/dirac/syntax.h: data units, sequence headers and transform parameters, as numbers. */
#ifndef TSR_VIDEO_DIRAC_SYNTAX_H
#define TSR_VIDEO_DIRAC_SYNTAX_H

#include "core/core.h"
#include "tessera/dirac.h"
#include "video/dirac/bits.h"

enum {
    TSR_DIRAC_HEADER = 13, /* bytes before every data unit */
    TSR_DIRAC_EXTENT = 65535,
    TSR_DIRAC_LEVELS = 12, /* depth and horizontal depth together */
    TSR_DIRAC_DEPTH = 6    /* of either */
};

/* Parse codes. */
enum {
    TSR_DIRAC_SEQUENCE_HEADER = 0x00,
    TSR_DIRAC_END = 0x10,
    TSR_DIRAC_AUXILIARY = 0x20, /* to 0x27 */
    TSR_DIRAC_PADDING = 0x30,
    TSR_DIRAC_LOW_DELAY_OLD = 0x88,
    TSR_DIRAC_LOW_DELAY = 0xc8,
    TSR_DIRAC_LOW_DELAY_FRAGMENT = 0xcc, /* before version 3: a low-delay picture that is a reference */
    TSR_DIRAC_HIGH_QUALITY = 0xe8,
    TSR_DIRAC_HIGH_QUALITY_FRAGMENT = 0xec,
    TSR_DIRAC_STATISTICS = 0x10 /* bit of core pictures: coded as no standard has it (video/statistics), in sequences whose profile says so */
};

typedef struct tsr_dirac_unit {
    int32_t code;
    uint32_t next, previous; /* bytes to the next and from the previous unit; 0: not said */
} tsr_dirac_unit;
/* From TSR_DIRAC_HEADER bytes. 0: no data unit begins here. */
int tsr_dirac_unit_read(const uint8_t *bytes, tsr_dirac_unit *unit);
const char *tsr_dirac_code_name(int32_t code); /* NULL for a code that is none */

tsr_status tsr_dirac_sequence_read(tsr_bits *bits, tsr_dirac_sequence *sequence);

/* The preset of a signal range (offset and excursion of luma, of chroma) in this major version, 0: none. FFmpeg knows no other ranges. */
int32_t tsr_dirac_range_preset(const int32_t range[4], int32_t major);
int32_t tsr_dirac_rate_preset(const int32_t rate[2]); /* likewise, of all versions */
int32_t tsr_dirac_aspect_preset(const int32_t aspect[2]);
/* All fields as the base format `index` (0 to 22) has them. */
void tsr_dirac_sequence_base(tsr_dirac_sequence *s, int32_t index);

/* Sub-bands of a transform: level 0 is the approximation (band 0), `horizontal` levels of one band (1: high along x), then `depth` levels of HL,
 * LH, HH (1, 2, 3). */
typedef struct tsr_dirac_transform {
    int32_t wavelet, wavelet_horizontal; /* 0 to 6; equal unless the stream says otherwise */
    int32_t depth, horizontal;
    int32_t slices_x, slices_y;
    int32_t high_quality;
    uint32_t numerator, denominator; /* low delay: bytes of a slice */
    uint32_t prefix, scaler;         /* high quality */
    int32_t matrix[TSR_DIRAC_LEVELS + 1][4];
    int32_t codeblocks[TSR_DIRAC_LEVELS + 1][2], codeblock_mode; /* core syntax */
} tsr_dirac_transform;
static inline int tsr_dirac_bands(const tsr_dirac_transform *t, int level) /* bands of a level are [level > 0, ...) */
{
    return level == 0 ? 1 : level <= t->horizontal ? 2 : 4;
}

/* The parameters of a slice-coded picture. `major`: version of the sequence. */
tsr_status tsr_dirac_transform_read(tsr_bits *bits, int32_t major, int high_quality, tsr_dirac_transform *transform);
/* The same of a core-syntax picture. */
tsr_status tsr_dirac_transform_read_core(tsr_bits *bits, tsr_dirac_transform *transform);
/* The default matrix of the standard; 0 if there is none for these filters and depths. */
int tsr_dirac_default_matrix(const tsr_dirac_transform *t, int32_t matrix[TSR_DIRAC_LEVELS + 1][4]);
/* L2 norms of what a unit coefficient of each sub-band becomes in the samples; a matrix of our own from them, for transforms that have no default. */
void tsr_dirac_band_weights(const tsr_dirac_transform *t, double weight[TSR_DIRAC_LEVELS + 1][4]);
void tsr_dirac_weights_matrix(const tsr_dirac_transform *t, int32_t matrix[TSR_DIRAC_LEVELS + 1][4]);

#endif
