/* formats/volumes/nifti_header.h: the fields of a NIfTI header, version 1 (348 bytes) and 2 (540 bytes), either byte order. */
#ifndef TSR_FORMATS_NIFTI_HEADER_H
#define TSR_FORMATS_NIFTI_HEADER_H

#include "formats/volume_files.h"

enum { TSR_NIFTI1_BYTES = 348, TSR_NIFTI2_BYTES = 540 };

typedef enum tsr_nifti_id {
    NIFTI_SIZEOF_HDR, NIFTI_DIM, NIFTI_INTENT_P1, NIFTI_INTENT_P2, NIFTI_INTENT_P3, NIFTI_INTENT_CODE, NIFTI_DATATYPE,
    NIFTI_BITPIX, NIFTI_SLICE_START, NIFTI_PIXDIM, NIFTI_VOX_OFFSET, NIFTI_SCL_SLOPE, NIFTI_SCL_INTER, NIFTI_SLICE_END,
    NIFTI_SLICE_CODE, NIFTI_XYZT_UNITS, NIFTI_CAL_MAX, NIFTI_CAL_MIN, NIFTI_SLICE_DURATION, NIFTI_TOFFSET,
    NIFTI_QFORM_CODE, NIFTI_SFORM_CODE, NIFTI_QUATERN, NIFTI_QOFFSET, NIFTI_SROW, NIFTI_DIM_INFO, NIFTI_NUMBERS
} tsr_nifti_id;

/* A numeric field: `count` numbers of type T ('b' byte, 'h' 16, 'i' 32, 'l' 64 bits, 'f' float32, 'd' float64) at `at`, per version. */
typedef struct tsr_nifti_field {
    const char *name;
    int count;
    struct { int at; char type; } version[2];
    int kept; /* means nothing to tessera: goes through metadata as nifti.NAME unless 0 */
} tsr_nifti_field;
extern const tsr_nifti_field tsr_nifti_fields[NIFTI_NUMBERS];

/* A text field. */
typedef struct tsr_nifti_text { const char *name; int bytes, at[2]; } tsr_nifti_text;
enum { NIFTI_TEXTS = 3 };
extern const tsr_nifti_text tsr_nifti_texts[NIFTI_TEXTS];

/* Element types by NIfTI datatype code. */
int tsr_nifti_dtype(int64_t code, tsr_dtype *dtype); /* 0 if there is no such type here */
int tsr_nifti_code(tsr_dtype dtype);
const char *tsr_nifti_type_name(int64_t code); /* of the types that are not supported; "unknown" for others */

typedef struct tsr_nifti {
    uint8_t bytes[TSR_NIFTI2_BYTES];
    int version, swap; /* 1 or 2 */
} tsr_nifti;

/* Number `index` of a field. 64-bit integers above 2^53 lose their last bits: use tsr_nifti_integer for extents and offsets. */
double tsr_nifti_get(const tsr_nifti *header, tsr_nifti_id field, int index);
int64_t tsr_nifti_integer(const tsr_nifti *header, tsr_nifti_id field, int index);
void tsr_nifti_set(tsr_nifti *header, tsr_nifti_id field, int index, double value);

/* Rigid transform with spacing, as the quaternion fields hold it. */
typedef struct tsr_nifti_qform {
    double quatern[3], offset[3], qfac, spacing[3];
} tsr_nifti_qform;
void tsr_nifti_qform_matrix(const tsr_nifti_qform *qform, double affine[3][4]);
/* 0 if the columns are not orthogonal. */
int tsr_nifti_qform_make(const double affine[3][4], tsr_nifti_qform *qform);

#endif
