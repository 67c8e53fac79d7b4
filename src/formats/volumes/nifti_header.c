/* Source: the NIfTI-1 header nifti1.h (R. W. Cox and the NIfTI data format working group, 2007) and nifti2.h (2011). */
#include "formats/volumes/nifti_header.h"

#include <math.h>
#include <string.h>

const tsr_nifti_field tsr_nifti_fields[NIFTI_NUMBERS] = {
    [NIFTI_SIZEOF_HDR] = { "sizeof_hdr", 1, { { 0, 'i' }, { 0, 'i' } }, 0 },
    [NIFTI_DIM] = { "dim", 8, { { 40, 'h' }, { 16, 'l' } }, 0 },
    [NIFTI_INTENT_P1] = { "intent_p1", 1, { { 56, 'f' }, { 80, 'd' } }, 1 },
    [NIFTI_INTENT_P2] = { "intent_p2", 1, { { 60, 'f' }, { 88, 'd' } }, 1 },
    [NIFTI_INTENT_P3] = { "intent_p3", 1, { { 64, 'f' }, { 96, 'd' } }, 1 },
    [NIFTI_INTENT_CODE] = { "intent_code", 1, { { 68, 'h' }, { 504, 'i' } }, 1 },
    [NIFTI_DATATYPE] = { "datatype", 1, { { 70, 'h' }, { 12, 'h' } }, 0 },
    [NIFTI_BITPIX] = { "bitpix", 1, { { 72, 'h' }, { 14, 'h' } }, 0 },
    [NIFTI_SLICE_START] = { "slice_start", 1, { { 74, 'h' }, { 224, 'l' } }, 1 },
    [NIFTI_PIXDIM] = { "pixdim", 8, { { 76, 'f' }, { 104, 'd' } }, 0 },
    [NIFTI_VOX_OFFSET] = { "vox_offset", 1, { { 108, 'f' }, { 168, 'l' } }, 0 },
    [NIFTI_SCL_SLOPE] = { "scl_slope", 1, { { 112, 'f' }, { 176, 'd' } }, 0 },
    [NIFTI_SCL_INTER] = { "scl_inter", 1, { { 116, 'f' }, { 184, 'd' } }, 0 },
    [NIFTI_SLICE_END] = { "slice_end", 1, { { 120, 'h' }, { 232, 'l' } }, 1 },
    [NIFTI_SLICE_CODE] = { "slice_code", 1, { { 122, 'b' }, { 496, 'i' } }, 1 },
    [NIFTI_XYZT_UNITS] = { "xyzt_units", 1, { { 123, 'b' }, { 500, 'i' } }, 1 },
    [NIFTI_CAL_MAX] = { "cal_max", 1, { { 124, 'f' }, { 192, 'd' } }, 1 },
    [NIFTI_CAL_MIN] = { "cal_min", 1, { { 128, 'f' }, { 200, 'd' } }, 1 },
    [NIFTI_SLICE_DURATION] = { "slice_duration", 1, { { 132, 'f' }, { 208, 'd' } }, 1 },
    [NIFTI_TOFFSET] = { "toffset", 1, { { 136, 'f' }, { 216, 'd' } }, 1 },
    [NIFTI_QFORM_CODE] = { "qform_code", 1, { { 252, 'h' }, { 344, 'i' } }, 0 },
    [NIFTI_SFORM_CODE] = { "sform_code", 1, { { 254, 'h' }, { 348, 'i' } }, 0 },
    [NIFTI_QUATERN] = { "quatern", 3, { { 256, 'f' }, { 352, 'd' } }, 0 },
    [NIFTI_QOFFSET] = { "qoffset", 3, { { 268, 'f' }, { 376, 'd' } }, 0 },
    [NIFTI_SROW] = { "srow", 12, { { 280, 'f' }, { 400, 'd' } }, 0 },
    [NIFTI_DIM_INFO] = { "dim_info", 1, { { 39, 'b' }, { 524, 'b' } }, 1 },
};

const tsr_nifti_text tsr_nifti_texts[NIFTI_TEXTS] = {
    { "descrip", 80, { 148, 240 } }, { "aux_file", 24, { 228, 320 } }, { "intent_name", 16, { 328, 508 } }
};

static const struct {
    int code;
    tsr_dtype dtype;
} types[] = { { 2, TSR_U8 },   { 4, TSR_I16 },   { 8, TSR_I32 },   { 16, TSR_F32 },   { 64, TSR_F64 },
              { 256, TSR_I8 }, { 512, TSR_U16 }, { 768, TSR_U32 }, { 1024, TSR_I64 }, { 1280, TSR_U64 } };
enum { TYPES = (int)(sizeof types / sizeof types[0]) };

int tsr_nifti_dtype(int64_t code, tsr_dtype *dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].code == code) {
            *dtype = types[i].dtype;
            return 1;
        }
    return 0;
}

int tsr_nifti_code(tsr_dtype dtype)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype) return types[i].code;
    return 0;
}

const char *tsr_nifti_type_name(int64_t code)
{
    switch (code) {
    case 1: return "1-bit binary";
    case 32: return "complex64";
    case 128: return "RGB24";
    case 1536: return "float128";
    case 1792: return "complex128";
    case 2048: return "complex256";
    case 2304: return "RGBA32";
    default: return "unknown";
    }
}

static int type_bytes(char type) { return type == 'b' ? 1 : type == 'h' ? 2 : type == 'i' || type == 'f' ? 4 : 8; }

/* The field's bytes in native order, zero-extended. */
static uint64_t load(const tsr_nifti *h, tsr_nifti_id id, int index, char *type)
{
    const tsr_nifti_field *field = &tsr_nifti_fields[id];
    *type = field->version[h->version - 1].type;
    int size = type_bytes(*type);
    const uint8_t *at = h->bytes + field->version[h->version - 1].at + index * size;
    uint64_t value = 0;
    int big = h->swap != tsr_host_big_endian();
    for (int i = 0; i < size; i++) value |= (uint64_t)at[i] << 8 * (big ? size - 1 - i : i);
    return value;
}

int64_t tsr_nifti_integer(const tsr_nifti *h, tsr_nifti_id id, int index)
{
    char type;
    uint64_t value = load(h, id, index, &type);
    switch (type) {
    case 'b': return (int64_t)value;
    case 'h': return (int16_t)value;
    case 'i': return (int32_t)value;
    default: return (int64_t)value;
    }
}

double tsr_nifti_get(const tsr_nifti *h, tsr_nifti_id id, int index)
{
    char type;
    uint64_t value = load(h, id, index, &type);
    if (type == 'f') {
        uint32_t low = (uint32_t)value;
        float single;
        memcpy(&single, &low, 4);
        return (double)single;
    }
    if (type == 'd') {
        double real;
        memcpy(&real, &value, 8);
        return real;
    }
    return (double)tsr_nifti_integer(h, id, index);
}

void tsr_nifti_set(tsr_nifti *h, tsr_nifti_id id, int index, double real)
{
    const tsr_nifti_field *field = &tsr_nifti_fields[id];
    char type = field->version[h->version - 1].type;
    int size = type_bytes(type);
    uint64_t value = 0;
    if (type == 'f') {
        float single = (float)real;
        uint32_t low;
        memcpy(&low, &single, 4);
        value = low;
    } else if (type == 'd') {
        memcpy(&value, &real, 8);
    } else {
        value = (uint64_t)(int64_t)real;
    }
    uint8_t *at = h->bytes + field->version[h->version - 1].at + index * size;
    int big = h->swap != tsr_host_big_endian();
    for (int i = 0; i < size; i++) at[i] = (uint8_t)(value >> 8 * (big ? size - 1 - i : i));
}

/* nifti1.h, "METHOD 2": R from the unit quaternion (a, b, c, d), columns times spacing, the third also times qfac. */
void tsr_nifti_qform_matrix(const tsr_nifti_qform *q, double m[3][4])
{
    double b = q->quatern[0], c = q->quatern[1], d = q->quatern[2], a = 1 - (b * b + c * c + d * d);
    if (a < 1e-7) { /* half a turn; rounded components may be a little too long */
        double scale = 1 / sqrt(b * b + c * c + d * d);
        a = 0, b *= scale, c *= scale, d *= scale;
    } else {
        a = sqrt(a);
    }
    const double r[3][3] = { { a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c) },
                             { 2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b) },
                             { 2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c } };
    for (int row = 0; row < 3; row++) {
        m[row][0] = r[row][0] * q->spacing[0];
        m[row][1] = r[row][1] * q->spacing[1];
        m[row][2] = r[row][2] * q->spacing[2] * q->qfac;
        m[row][3] = q->offset[row];
    }
}

/* The inverse: the largest of the four candidates for a component is taken as pivot, so nothing is divided by a small number. */
int tsr_nifti_qform_make(const double m[3][4], tsr_nifti_qform *q)
{
    double r[3][3];
    for (int c = 0; c < 3; c++) {
        q->spacing[c] = sqrt(m[0][c] * m[0][c] + m[1][c] * m[1][c] + m[2][c] * m[2][c]);
        for (int row = 0; row < 3; row++) r[row][c] = m[row][c] / q->spacing[c];
        q->offset[c] = m[c][3];
    }
    for (int c = 0; c < 3; c++) {
        int n = (c + 1) % 3;
        if (fabs(r[0][c] * r[0][n] + r[1][c] * r[1][n] + r[2][c] * r[2][n]) > 1e-6) return 0;
    }
    double det = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                 r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    q->qfac = det < 0 ? -1 : 1;
    for (int row = 0; row < 3; row++) r[row][2] *= q->qfac;
    double squares[4] = { 1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2], 1 - r[0][0] + r[1][1] - r[2][2],
                          1 - r[0][0] - r[1][1] + r[2][2] };
    int pivot = 0;
    for (int i = 1; i < 4; i++)
        if (squares[i] > squares[pivot]) pivot = i;
    double p = 0.5 * sqrt(squares[pivot]), f = 0.25 / p, a, b, c, d;
    switch (pivot) {
    case 0: a = p, b = f * (r[2][1] - r[1][2]), c = f * (r[0][2] - r[2][0]), d = f * (r[1][0] - r[0][1]); break;
    case 1: a = f * (r[2][1] - r[1][2]), b = p, c = f * (r[0][1] + r[1][0]), d = f * (r[0][2] + r[2][0]); break;
    case 2: a = f * (r[0][2] - r[2][0]), b = f * (r[0][1] + r[1][0]), c = p, d = f * (r[1][2] + r[2][1]); break;
    default: a = f * (r[1][0] - r[0][1]), b = f * (r[0][2] + r[2][0]), c = f * (r[1][2] + r[2][1]), d = p; break;
    }
    double sign = a < 0 ? -1 : 1;
    q->quatern[0] = sign * b, q->quatern[1] = sign * c, q->quatern[2] = sign * d;
    return 1;
}
