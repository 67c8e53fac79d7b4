/* NIfTI-1 and NIfTI-2: .nii, .nii.gz, .hdr + .img. World axes are RAS.
 *
 * Geometry: sform if its code is positive, else qform, else the bare voxel sizes (no world frame). Both forms come back unchanged when the
 * geometry was not changed in between: metadata nifti.sform_code, nifti.qform_code, and nifti.sform / nifti.qform with their numbers. */
#include "formats/volumes/analyze.h"
#include "formats/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char magic1[2][5] = { "n+1", "ni1" };
static const char magic2[2][9] = { "n+2\0\r\n\032\n", "ni2\0\r\n\032\n" };

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

/* 1 if the bytes begin a NIfTI header; *pair: the voxels are in the .img file. */
static int parse_magic(const uint8_t *head, size_t bytes, tsr_nifti *header, int *pair)
{
    if (bytes < TSR_NIFTI1_BYTES) return 0;
    int32_t first;
    memcpy(&first, head, 4);
    header->swap = 0;
    if (first != TSR_NIFTI1_BYTES && first != TSR_NIFTI2_BYTES) {
        first = (int32_t)__builtin_bswap32((uint32_t)first);
        header->swap = 1;
    }
    if (first != TSR_NIFTI1_BYTES && first != TSR_NIFTI2_BYTES) return 0;
    header->version = first == TSR_NIFTI1_BYTES ? 1 : 2;
    const uint8_t *magic = head + (header->version == 1 ? 344 : 4);
    size_t magic_bytes = header->version == 1 ? 4 : 8;
    *pair = -1;
    for (int p = 0; p < 2; p++)
        if (!memcmp(magic, header->version == 1 ? magic1[p] : magic2[p], magic_bytes)) *pair = p;
    memset(header->bytes, 0, sizeof header->bytes);
    memcpy(header->bytes, head, bytes < (size_t)first ? bytes : (size_t)first);
    return 1;
}

static int recognise(const tsr_signature *s)
{
    tsr_nifti header;
    int pair;
    if (!parse_magic(s->head, s->head_bytes, &header, &pair)) return TSR_NOT_MINE;
    if (pair < 0 && tsr_analyze_is(s->head, s->head_bytes)) return TSR_NOT_MINE;
    return pair >= 0 ? TSR_SURELY_MINE : TSR_MAYBE_MINE;
}

/* Types of several numbers a voxel, which are channels. */
static int compound(int64_t code, tsr_dtype *dtype)
{
    *dtype = code == 32 ? TSR_F32 : code == 1792 ? TSR_F64 : TSR_U8;
    return code == 128 ? 3 : code == 2304 ? 4 : code == 32 || code == 1792 ? 2 : 0;
}

static tsr_status read_shape(const tsr_nifti *h, const tsr_input *input, const tsr_read_options *options, tsr_layout *layout, tsr_axes *axes)
{
    const char *name = tsr_input_name(input);
    int64_t dims = tsr_nifti_integer(h, NIFTI_DIM, 0), code = tsr_nifti_integer(h, NIFTI_DATATYPE, 0);
    const int channels = compound(code, &layout->dtype);
    if (channels) TSR_TRY(tsr_axes_part(axes, TSR_PART_CHANNEL, channels, tsr_nifti_type_name(code), input, options));
    const int64_t intent = tsr_nifti_integer(h, NIFTI_INTENT_CODE, 0);
    if (intent >= 3000 && intent < 3100 && dims > 5) /* NIFTI_INTENT_CONNECTIVITY_... */
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a CIFTI-2 file (intent_code %lld): numbers at grey ordinates, no volume: wb_command -cifti-separate takes the volume out of it",
                 name, (long long)intent);
    if (dims < 1 || dims > 7) TSR_FAIL(TSR_ERROR_FORMAT, "%s: dim[0] is %lld, expected 1 to 7", name, (long long)dims);
    for (int i = 1; i <= dims; i++) {
        int64_t n = tsr_nifti_integer(h, NIFTI_DIM, i);
        if (n < 1) TSR_FAIL(TSR_ERROR_FORMAT, "%s: dim[%d] is %lld, expected a positive number", name, i, (long long)n);
        char field[16];
        snprintf(field, sizeof field, "dim[%d]", i);
        if (i <= 3) tsr_axes_space(axes, n);
        else if (i <= 5) TSR_TRY(tsr_axes_part(axes, i == 4 ? TSR_PART_FRAME : TSR_PART_CHANNEL, n, field, input, options));
        else if (n != 1)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: dim[%d] is %lld, expected 1: volumes of at most five axes are read", name, i, (long long)n);
    }
    if (!channels && !tsr_nifti_dtype(code, &layout->dtype))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: datatype is %lld (%s), expected an integer or float type", name, (long long)code,
                 tsr_nifti_type_name(code));
    int64_t bits = tsr_nifti_integer(h, NIFTI_BITPIX, 0);
    const size_t right = 8 * tsr_dtype_size(layout->dtype) * (size_t)(channels ? channels : 1);
    if (bits && bits != (int64_t)right)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: bitpix is %lld, expected %zu for datatype %lld", name, (long long)bits, right, (long long)code);
    return TSR_OK;
}

static tsr_status read_offset(const tsr_nifti *h, const char *name, int pair, int64_t *offset)
{
    double said = tsr_nifti_get(h, NIFTI_VOX_OFFSET, 0);
    int64_t least = pair ? 0 : h->version == 1 ? 352 : 544;
    if (said == 0) said = (double)least; /* many writers leave it out */
    if (!(said >= (double)least && said < 0x1p62) || said != floor(said))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: vox_offset is %g, expected a whole number from %lld", name, said, (long long)least);
    *offset = (int64_t)said;
    return TSR_OK;
}

static tsr_status read_qform(const tsr_nifti *h, const char *name, int dims, tsr_nifti_qform *q)
{
    for (int i = 0; i < 3; i++) {
        q->quatern[i] = tsr_nifti_get(h, NIFTI_QUATERN, i);
        q->offset[i] = tsr_nifti_get(h, NIFTI_QOFFSET, i);
        q->spacing[i] = tsr_nifti_get(h, NIFTI_PIXDIM, 1 + i);
        if (i >= dims && !(q->spacing[i] > 0)) q->spacing[i] = 1; /* no such axis */
        if (!(q->spacing[i] > 0) || !isfinite(q->spacing[i]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: pixdim[%d] is %g, expected a positive number", name, i + 1, q->spacing[i]);
    }
    double length = q->quatern[0] * q->quatern[0] + q->quatern[1] * q->quatern[1] + q->quatern[2] * q->quatern[2];
    if (!(length <= 1.001)) /* rounding apart */
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: quatern_b, c, d are %g, %g, %g, expected a length of at most 1", name, q->quatern[0], q->quatern[1],
                 q->quatern[2]);
    q->qfac = tsr_nifti_get(h, NIFTI_PIXDIM, 0) < 0 ? -1 : 1;
    return TSR_OK;
}

static void pack_qform(const tsr_nifti_qform *q, double numbers[10])
{
    memcpy(numbers, q->quatern, sizeof q->quatern);
    memcpy(numbers + 3, q->offset, sizeof q->offset);
    numbers[6] = q->qfac;
    memcpy(numbers + 7, q->spacing, sizeof q->spacing);
}
static void unpack_qform(const double numbers[10], tsr_nifti_qform *q)
{
    memcpy(q->quatern, numbers, sizeof q->quatern);
    memcpy(q->offset, numbers + 3, sizeof q->offset);
    q->qfac = numbers[6];
    memcpy(q->spacing, numbers + 7, sizeof q->spacing);
}

/* The forms of a header: what the geometry is, and what has to be kept beside it. */
struct forms {
    tsr_geometry geometry;
    double sform[3][4];
    int64_t sform_code, qform_code;
    tsr_nifti_qform qform;
};

static tsr_status read_forms(const tsr_nifti *h, const char *name, tsr_form prefer, struct forms *f)
{
    int dims = (int)tsr_nifti_integer(h, NIFTI_DIM, 0);
    f->sform_code = tsr_nifti_integer(h, NIFTI_SFORM_CODE, 0);
    f->qform_code = tsr_nifti_integer(h, NIFTI_QFORM_CODE, 0);
    f->geometry = (tsr_geometry){ .space = TSR_SPACE_RAS };
    if (f->sform_code <= 0) {
        TSR_TRY(read_qform(h, name, dims, &f->qform));
        if (f->qform_code > 0) tsr_nifti_qform_matrix(&f->qform, f->geometry.affine);
        else
            f->geometry =
                tsr_geometry_make((tsr_vec3){ f->qform.spacing[0], f->qform.spacing[1], f->qform.spacing[2] }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
        return TSR_OK;
    }
    for (int i = 0; i < 12; i++) f->geometry.affine[i / 4][i % 4] = tsr_nifti_get(h, NIFTI_SROW, i);
    if (tsr_geometry_check(&f->geometry) != TSR_OK) TSR_FAIL(TSR_ERROR_FORMAT, "%s: sform (srow_x, srow_y, srow_z): %s", name, tsr_error_message());
    memcpy(f->sform, f->geometry.affine, sizeof f->sform);
    if (f->qform_code > 0 && prefer == TSR_FORM_QFORM) {
        TSR_TRY(read_qform(h, name, dims, &f->qform));
        tsr_nifti_qform_matrix(&f->qform, f->geometry.affine);
    } else if (f->qform_code > 0 && read_qform(h, name, dims, &f->qform) != TSR_OK) f->qform_code = 0; /* it is not needed */
    return TSR_OK;
}

#define FRAME_STEP "nifti.pixdim4" /* from frame to frame, in the unit of time of nifti.xyzt_units */

static tsr_status keep_metadata(const tsr_nifti *h, const struct forms *f, tsr_volume *volume)
{
    char key[32];
    for (int i = 0; i < NIFTI_NUMBERS; i++) {
        double value = tsr_nifti_fields[i].kept ? tsr_nifti_get(h, (tsr_nifti_id)i, 0) : 0;
        if (value == 0 || !isfinite(value)) continue;
        snprintf(key, sizeof key, "nifti.%s", tsr_nifti_fields[i].name);
        TSR_TRY(tsr_set_meta_numbers(volume, key, &value, 1));
    }
    for (int i = 0; i < NIFTI_TEXTS; i++) {
        const tsr_nifti_text *text = &tsr_nifti_texts[i];
        char value[81] = "";
        memcpy(value, h->bytes + text->at[h->version - 1], (size_t)text->bytes);
        if (!value[0]) continue;
        snprintf(key, sizeof key, "nifti.%s", text->name);
        TSR_TRY(tsr_volume_set_meta(volume, key, value));
    }
    const double step = tsr_nifti_get(h, NIFTI_PIXDIM, 4);
    if (tsr_nifti_integer(h, NIFTI_DIM, 0) > 3 && tsr_nifti_integer(h, NIFTI_DIM, 4) > 1 && step > 0 && isfinite(step))
        TSR_TRY(tsr_set_meta_numbers(volume, FRAME_STEP, &step, 1));
    const double version = h->version, codes[2] = { (double)f->sform_code, (double)f->qform_code };
    double numbers[10];
    if (h->version == 2) TSR_TRY(tsr_set_meta_numbers(volume, "nifti.version", &version, 1));
    TSR_TRY(tsr_set_meta_numbers(volume, "nifti.sform_code", &codes[0], 1));
    TSR_TRY(tsr_set_meta_numbers(volume, "nifti.qform_code", &codes[1], 1));
    if (f->sform_code > 0 && f->qform_code > 0) TSR_TRY(tsr_set_meta_numbers(volume, "nifti.sform", &f->sform[0][0], 12));
    if (f->qform_code > 0) {
        pack_qform(&f->qform, numbers);
        TSR_TRY(tsr_set_meta_numbers(volume, "nifti.qform", numbers, 10));
    }
    return TSR_OK;
}

static tsr_status read_scaling(const tsr_nifti *h, const char *name, tsr_volume *volume)
{
    double slope = tsr_nifti_get(h, NIFTI_SCL_SLOPE, 0), inter = tsr_nifti_get(h, NIFTI_SCL_INTER, 0);
    if (slope == 0 || isnan(slope)) return TSR_OK; /* "no scaling" in both ways of saying so */
    if (!isfinite(slope) || !isfinite(inter))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: scl_slope is %g and scl_inter %g, expected finite numbers", name, slope, inter);
    TSR_TRY(tsr_volume_set_scaling(volume, slope, inter));
    return TSR_OK;
}

tsr_status tsr_nifti_pair_path(const char *path, const char *from, const char *to, char **other)
{
    char from_gz[16], to_gz[16];
    *other = NULL;
    snprintf(from_gz, sizeof from_gz, "%s.gz", from);
    snprintf(to_gz, sizeof to_gz, "%s.gz", to);
    if (tsr_path_has_extension(path, from)) return tsr_path_replace(path, from, to, other);
    if (tsr_path_has_extension(path, from_gz)) return tsr_path_replace(path, from_gz, to_gz, other);
    return TSR_OK;
}

static tsr_status read_pair(tsr_input *input, int64_t offset, const tsr_axes *axes, tsr_layout *layout, tsr_block *block)
{
    char *other = NULL;
    const char *path = tsr_input_path(input);
    if (path) TSR_TRY(tsr_nifti_pair_path(path, ".hdr", ".img", &other));
    if (!other)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the magic says that the voxels are in an .img file, expected a header file named .hdr beside it",
                 tsr_input_name(input));
    tsr_input *image = NULL;
    tsr_status status = tsr_input_open_beside(input, tsr_path_file(other), 0, &image);
    if (status == TSR_OK) status = tsr_axes_read(axes, image, offset, NULL, layout, block);
    tsr_input_close(&image);
    free(other);
    return status;
}

static tsr_status read_header_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *head;
    size_t bytes;
    const char *name = tsr_input_name(input);
    tsr_nifti header;
    struct forms forms;
    tsr_layout layout = { 0 };
    tsr_axes axes = { 0 };
    tsr_block block;
    int pair;
    int64_t offset = 0;
    tsr_status status;
    TSR_TRY(tsr_input_head(input, TSR_NIFTI2_BYTES, &head, &bytes));
    if (!parse_magic(head, bytes, &header, &pair))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: not a NIfTI file: %s, expected a header of 348 or 540 bytes that says so", name,
                 bytes < TSR_NIFTI1_BYTES ? "too short" : "sizeof_hdr is another number");
    if (pair < 0 && tsr_analyze_is(head, bytes)) return tsr_format_analyze.read_volume(input, options, volume);
    if (pair < 0) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: the magic of NIfTI (n+1, ni1, n+2 or ni2) is missing (--input-format analyze reads Analyze 7.5)", name);
    if (header.version == 2 && bytes < TSR_NIFTI2_BYTES) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes of header, expected 540", name, bytes);
    TSR_TRY(read_shape(&header, input, options, &layout, &axes));
    TSR_TRY(read_offset(&header, name, pair, &offset));
    TSR_TRY(read_forms(&header, name, options->prefer, &forms));
    layout.swap = header.swap;
    if (pair) TSR_TRY(read_pair(input, offset, &axes, &layout, &block));
    else TSR_TRY(tsr_axes_read(&axes, input, offset, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &forms.geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    if (layout.dtype != TSR_U8 || axes.parts[TSR_PART_CHANNEL] == 0) TSR_TRY_GOTO(read_scaling(&header, name, *volume), fail); /* none of colours */
    TSR_TRY_GOTO(keep_metadata(&header, &forms, *volume), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    char *other = NULL;
    if (tsr_input_path(input)) TSR_TRY(tsr_nifti_pair_path(tsr_input_path(input), ".img", ".hdr", &other));
    if (!other) return read_header_volume(input, options, volume);
    tsr_input *header = NULL; /* the .img of a pair was named: its header knows the rest */
    tsr_status status = tsr_input_open_beside(input, tsr_path_file(other), 0, &header);
    if (status == TSR_OK) status = read_header_volume(header, options, volume);
    tsr_input_close(&header);
    free(other);
    return status;
}

int tsr_nifti_forms(const tsr_volume *volume, double sform[3][4], double qform[3][4], int codes[2])
{
    if (!volume || !sform || !qform || !codes) return 0;
    double numbers[12], code[2];
    tsr_nifti_qform q;
    if (!tsr_meta_numbers(volume, "nifti.sform", numbers, 12) || !tsr_meta_numbers(volume, "nifti.sform_code", &code[0], 1) ||
        !tsr_meta_numbers(volume, "nifti.qform_code", &code[1], 1))
        return 0;
    memcpy(sform, numbers, sizeof numbers);
    if (!tsr_meta_numbers(volume, "nifti.qform", numbers, 10)) return 0;
    unpack_qform(numbers, &q);
    tsr_nifti_qform_matrix(&q, qform);
    codes[0] = (int)code[0];
    codes[1] = (int)code[1];
    return 1;
}

/* ---- writing -------------------------------------------------------------------------------------------------------------------- */

static void set_qform(tsr_nifti *h, int code, const tsr_nifti_qform *q)
{
    tsr_nifti_set(h, NIFTI_QFORM_CODE, 0, code);
    tsr_nifti_set(h, NIFTI_PIXDIM, 0, q->qfac);
    for (int i = 0; i < 3; i++) {
        tsr_nifti_set(h, NIFTI_QUATERN, i, q->quatern[i]);
        tsr_nifti_set(h, NIFTI_QOFFSET, i, q->offset[i]);
        tsr_nifti_set(h, NIFTI_PIXDIM, 1 + i, q->spacing[i]);
    }
}
static void set_sform(tsr_nifti *h, int code, const double affine[3][4])
{
    tsr_nifti_set(h, NIFTI_SFORM_CODE, 0, code);
    for (int i = 0; i < 12; i++) tsr_nifti_set(h, NIFTI_SROW, i, affine[i / 4][i % 4]);
}

static int same_affine(const double a[3][4], const double b[3][4])
{
    for (int i = 0; i < 12; i++)
        if (a[i / 4][i % 4] != b[i / 4][i % 4]) return 0;
    return 1;
}

/* Chooses the forms: those the volume came with if its geometry is still the same; else a sform, and a qform where one exists. */
static void write_forms(tsr_nifti *h, const tsr_volume *volume)
{
    tsr_geometry g = tsr_geometry_convert(tsr_volume_geometry(volume), TSR_SPACE_RAS);
    double numbers[12], code, old[3][4];
    int sform_code = tsr_meta_numbers(volume, "nifti.sform_code", &code, 1) ? (int)code : 1;
    int qform_code = tsr_meta_numbers(volume, "nifti.qform_code", &code, 1) ? (int)code : 1;
    tsr_nifti_qform q, made;
    tsr_vec3 spacing = tsr_geometry_spacing(&g);
    tsr_nifti_set(h, NIFTI_PIXDIM, 0, 1);
    tsr_nifti_set(h, NIFTI_PIXDIM, 1, spacing.x);
    tsr_nifti_set(h, NIFTI_PIXDIM, 2, spacing.y);
    tsr_nifti_set(h, NIFTI_PIXDIM, 3, spacing.z);
    for (int i = 4; i < 8; i++) tsr_nifti_set(h, NIFTI_PIXDIM, i, 1);
    if (g.space == TSR_SPACE_NONE) {
        tsr_geometry bare = tsr_geometry_make(spacing, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
        if (same_affine(g.affine, bare.affine)) return; /* the voxel sizes say it all */
    }
    int had_qform = tsr_meta_numbers(volume, "nifti.qform", numbers, 10);
    if (had_qform) unpack_qform(numbers, &q);
    int makeable = tsr_nifti_qform_make((const double(*)[4])g.affine, &made);
    if (had_qform && sform_code <= 0) {
        tsr_nifti_qform_matrix(&q, old);
        if (same_affine(old, g.affine)) {
            set_qform(h, qform_code, &q);
            return;
        }
    }
    if (sform_code <= 0) sform_code = qform_code > 0 ? qform_code : 1; /* a changed geometry is kept exactly, which a quaternion cannot */
    set_sform(h, sform_code, (const double(*)[4])g.affine);
    if (had_qform && tsr_meta_numbers(volume, "nifti.sform", numbers, 12)) {
        memcpy(old, numbers, sizeof old);
        if (same_affine(old, g.affine)) {
            set_qform(h, qform_code, &q);
            return;
        }
    }
    if (qform_code > 0 && makeable) set_qform(h, qform_code, &made);
}

static tsr_status write_metadata(tsr_nifti *h, const tsr_volume *volume, const char *path)
{
    static const double largest[] = { ['b'] = 255, ['h'] = INT16_MAX, ['i'] = INT32_MAX, ['l'] = 0x1p53, ['f'] = (double)3.4e38f, ['d'] = 1e308 };
    char key[32];
    for (int i = 0; i < NIFTI_NUMBERS; i++) {
        double value;
        snprintf(key, sizeof key, "nifti.%s", tsr_nifti_fields[i].name);
        if (!tsr_nifti_fields[i].kept || !tsr_meta_numbers(volume, key, &value, 1)) continue;
        if (!(fabs(value) <= largest[(int)tsr_nifti_fields[i].version[h->version - 1].type]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: metadata %s is %g, which the field cannot hold", path, key, value);
        tsr_nifti_set(h, (tsr_nifti_id)i, 0, value);
    }
    double step;
    if (tsr_volume_stack(volume) && tsr_meta_numbers(volume, FRAME_STEP, &step, 1) && fabs(step) <= 3e38) tsr_nifti_set(h, NIFTI_PIXDIM, 4, step);
    const double unit = tsr_volume_unit(volume);
    const int time = (int)tsr_nifti_get(h, NIFTI_XYZT_UNITS, 0) & ~7;
    if (unit > 0) tsr_nifti_set(h, NIFTI_XYZT_UNITS, 0, time | (unit == 1000 ? 1 : unit == 1 ? 2 : 3));
    else if (!tsr_volume_meta(volume, "nifti.sform_code") && !tsr_volume_meta(volume, "nifti.xyzt_units"))
        tsr_nifti_set(h, NIFTI_XYZT_UNITS, 0, 2); /* millimetres, unless a NIfTI file left it open */
    for (int i = 0; i < NIFTI_TEXTS; i++) {
        snprintf(key, sizeof key, "nifti.%s", tsr_nifti_texts[i].name);
        const char *value = tsr_volume_meta(volume, key);
        size_t length = value ? strlen(value) : 0, room = (size_t)tsr_nifti_texts[i].bytes;
        if (length) memcpy(h->bytes + tsr_nifti_texts[i].at[h->version - 1], value, length < room ? length : room);
    }
    return TSR_OK;
}

static tsr_status make_header(const tsr_volume *volume, const char *path, const tsr_write_options *options, int pair, tsr_nifti *h)
{
    tsr_size3 size = volume->size;
    double version;
    int wide = size.x > INT16_MAX || size.y > INT16_MAX || size.z > INT16_MAX;
    int asked = options->format && !strcasecmp(options->format, "nifti2"); /* "nifti" by name asks for version 1 */
    int kept = !options->format && tsr_meta_numbers(volume, "nifti.version", &version, 1) && version == 2;
    *h = (tsr_nifti){ .version = wide || asked || kept ? 2 : 1, .swap = !!options->big_endian != tsr_host_big_endian() };
    int header_bytes = h->version == 1 ? TSR_NIFTI1_BYTES : TSR_NIFTI2_BYTES;
    tsr_nifti_set(h, NIFTI_SIZEOF_HDR, 0, header_bytes);
    if (h->version == 1) memcpy(h->bytes + 344, magic1[pair], 4);
    else memcpy(h->bytes + 4, magic2[pair], 8);
    const int64_t dims[8] = { tsr_volume_stack(volume) ? 4 : 3, size.x, size.y, size.z, tsr_max64(tsr_volume_stack(volume), 1), 1, 1, 1 };
    for (int i = 0; i < 8; i++) tsr_nifti_set(h, NIFTI_DIM, i, (double)dims[i]);
    tsr_nifti_set(h, NIFTI_DATATYPE, 0, tsr_nifti_code(volume->dtype));
    tsr_nifti_set(h, NIFTI_BITPIX, 0, 8 * (double)tsr_dtype_size(volume->dtype));
    tsr_nifti_set(h, NIFTI_VOX_OFFSET, 0, pair ? 0 : header_bytes + 4);
    tsr_nifti_set(h, NIFTI_SCL_SLOPE, 0, volume->slope);
    tsr_nifti_set(h, NIFTI_SCL_INTER, 0, volume->intercept);
    write_forms(h, volume);
    TSR_TRY(write_metadata(h, volume, path));
    for (int i = 0; i < 12; i++)
        if (!isfinite(tsr_nifti_get(h, NIFTI_SROW, i)) || !isfinite(tsr_nifti_get(h, NIFTI_SCL_SLOPE, 0)) ||
            !isfinite(tsr_nifti_get(h, NIFTI_SCL_INTER, 0)))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the geometry or scaling is outside the range of float32, which NIfTI-1 stores: write NIfTI-2", path);
    return TSR_OK;
}

static tsr_status write_pair(const tsr_volume *volume, const char *path, const char *image_path, const tsr_write_options *options)
{
    tsr_nifti h;
    tsr_output *image = NULL, *header = NULL;
    tsr_status status;
    TSR_TRY(make_header(volume, path, options, 1, &h));
    TSR_TRY(tsr_output_open(image_path, options, &image));
    TSR_TRY_GOTO(tsr_output_open(path, options, &header), fail);
    TSR_TRY_GOTO(tsr_output_write(header, h.bytes, h.version == 1 ? TSR_NIFTI1_BYTES : TSR_NIFTI2_BYTES), fail);
    TSR_TRY_GOTO(tsr_output_write(header, "\0\0\0", 4), fail);
    TSR_TRY_GOTO(tsr_output_voxels(image, volume, h.swap), fail);
    return tsr_output_commit_pair(&image, &header);
fail:
    tsr_output_abort(&image);
    tsr_output_abort(&header);
    return status;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    char *other = NULL;
    tsr_nifti h;
    tsr_output *output = NULL;
    tsr_status status;
    TSR_TRY(tsr_nifti_pair_path(path, ".hdr", ".img", &other));
    if (other) {
        status = write_pair(volume, path, other, options);
        free(other);
        return status;
    }
    TSR_TRY(tsr_nifti_pair_path(path, ".img", ".hdr", &other));
    if (other) {
        status = write_pair(volume, other, path, options);
        free(other);
        return status;
    }
    if (options->detached) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: detached NIfTI is a pair of files, expected a name that ends in .hdr", path);
    TSR_TRY(make_header(volume, path, options, 0, &h));
    TSR_TRY(tsr_output_open(path, options, &output));
    TSR_TRY_GOTO(tsr_output_write(output, h.bytes, h.version == 1 ? TSR_NIFTI1_BYTES : TSR_NIFTI2_BYTES), done);
    TSR_TRY_GOTO(tsr_output_write(output, "\0\0\0", 4), done); /* no extensions */
    TSR_TRY_GOTO(tsr_output_voxels(output, volume, h.swap), done);
done:
    return tsr_output_finish(&output, status);
}

const tsr_format tsr_format_nifti = { .name = "nifti", .kind = TSR_FILE_VOLUME, .extensions = { ".nii", ".hdr", ".img" }, .recognise = recognise,
                                      .scales = 1, .stacks = 1, .units = TSR_UNITS_NIFTI, .read_volume = read_volume, .write_volume = write_volume };
/* By name only: forces version 2 when writing. */
const tsr_format tsr_format_nifti2 = { .name = "nifti2", .kind = TSR_FILE_VOLUME, .scales = 1, .stacks = 1, .units = TSR_UNITS_NIFTI,
                                       .read_volume = read_volume, .write_volume = write_volume };
