/* formats/volumes/analyze.c: Analyze 7.5 (.hdr and .img) with the habits of SPM: `originator` is the voxel at the world's origin, from 1, and funused1 a scale.
 *
 * The format does not say which side is left. Assumed, and said in a remark, is what SPM and nibabel assume: x runs from right to left, y to anterior, z to
 * superior (the radiological order of the format's `orient` 0), about the origin or, without one, about the middle of the volume. */
#include "formats/volumes/analyze.h"
#include "formats/parts.h"
#include "io/byte_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNUSED1 = 112, FUNUSED2 = 116, ORIENT = 252, ORIGINATOR = 253, MAGIC = 344 };

int tsr_analyze_is(const uint8_t *head, size_t bytes)
{
    static const uint8_t nothing[4] = { 0 };
    if (bytes < TSR_NIFTI1_BYTES || memcmp(head + MAGIC, nothing, 4)) return 0;
    const int swap = tsr_read_i32(head, 0) != TSR_NIFTI1_BYTES;
    const int16_t dims = tsr_read_i16(head + 40, swap);
    return tsr_read_i32(head, swap) == TSR_NIFTI1_BYTES && dims >= 1 && dims <= 7;
}

static int recognise(const tsr_signature *s) { return tsr_analyze_is(s->head, s->head_bytes) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

static tsr_status take_shape(const tsr_nifti *h, const tsr_input *input, const tsr_read_options *options, tsr_layout *layout, tsr_axes *axes)
{
    const char *name = tsr_input_name(input);
    const int64_t dims = tsr_nifti_integer(h, NIFTI_DIM, 0), code = tsr_nifti_integer(h, NIFTI_DATATYPE, 0),
                  bits = tsr_nifti_integer(h, NIFTI_BITPIX, 0);
    /* SPM2 wrote its own codes: 130 i8, 132 u16, 136 u32 */
    const int64_t usual = code == 130 ? 256 : code == 132 ? 512 : code == 136 ? 768 : code;
    const int channels = code == 128 ? 3 : code == 32 ? 2 : 0;
    if (channels) layout->dtype = code == 128 ? TSR_U8 : TSR_F32;
    else if (code == 1 || !tsr_nifti_dtype(usual, &layout->dtype))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: Analyze field 'datatype' is %lld, expected 2 (u8), 4 (i16), 8 (i32), 16 (f32), 64 (f64), 128 (RGB) or 32 (complex)", name,
                 (long long)code);
    if (channels) TSR_TRY(tsr_axes_part(axes, TSR_PART_CHANNEL, channels, code == 128 ? "RGB" : "complex numbers", input, options));
    for (int i = 1; i <= dims; i++) {
        const int64_t n = tsr_nifti_integer(h, NIFTI_DIM, i);
        if (n < 0 || (n == 0 && i <= 2))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: Analyze field dim[%d] is %lld, expected a positive number", name, i, (long long)n);
        if (i <= 3) tsr_axes_space(axes, n ? n : 1);
        else if (i == 4) TSR_TRY(tsr_axes_part(axes, TSR_PART_FRAME, n ? n : 1, "dim[4]", input, options)); /* 0 is how some say 1 */
        else if (n > 1)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Analyze field dim[%d] is %lld, expected 1: volumes of four axes are read", name, i, (long long)n);
    }
    const size_t right = 8 * tsr_dtype_size(layout->dtype) * (size_t)(channels ? channels : 1);
    if (bits && bits != (int64_t)right)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: Analyze field 'bitpix' is %lld, expected %zu for datatype %lld", name, (long long)bits, right,
                 (long long)code);
    return TSR_OK;
}

static tsr_status take_geometry(const tsr_nifti *h, const char *name, tsr_geometry *g, int *given)
{
    const int64_t dims = tsr_nifti_integer(h, NIFTI_DIM, 0);
    int64_t extent[3];
    int any = 0, fits = 1;
    for (int c = 0; c < 3; c++) extent[c] = c < dims ? tsr_max64(1, tsr_nifti_integer(h, NIFTI_DIM, 1 + c)) : 1;
    *g = (tsr_geometry){ .space = TSR_SPACE_RAS };
    for (int c = 0; c < 3; c++) { /* as nibabel has it: an origin far outside is none */
        const int16_t o = tsr_read_i16(h->bytes + ORIGINATOR + 2 * c, h->swap);
        any |= o != 0;
        fits &= o > -extent[c] && o < 2 * extent[c];
    }
    *given = any && fits;
    for (int c = 0; c < 3; c++) {
        double spacing = fabs(tsr_nifti_get(h, NIFTI_PIXDIM, 1 + c));
        if (c >= dims || spacing == 0) spacing = 1; /* not said */
        if (!isfinite(spacing)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: Analyze field pixdim[%d] is %g, expected a length", name, c + 1, spacing);
        const double origin = *given ? tsr_read_i16(h->bytes + ORIGINATOR + 2 * c, h->swap) - 1.0 : 0.5 * (double)(extent[c] - 1);
        g->affine[c][c] = c ? spacing : -spacing;
        g->affine[c][3] = -origin * g->affine[c][c];
    }
    return TSR_OK;
}

static tsr_status keep_metadata(const tsr_nifti *h, tsr_volume *volume)
{
    static const struct {
        const char *key;
        int at, bytes;
    } texts[] = {
        { "analyze.descrip", 148, 80 }, { "analyze.aux_file", 228, 24 }, { "analyze.patient_id", 288, 10 }, { "analyze.exp_date", 298, 10 }
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        char text[81] = "";
        memcpy(text, h->bytes + texts[k].at, (size_t)texts[k].bytes);
        if (text[0]) TSR_TRY(tsr_volume_set_meta(volume, texts[k].key, text));
    }
    const double orient = h->bytes[ORIENT];
    TSR_TRY(tsr_set_meta_numbers(volume, "analyze.orient", &orient, 1));
    return TSR_OK;
}

static tsr_status read_image_file(tsr_input *header, const tsr_axes *axes, int64_t offset, tsr_layout *layout, tsr_block *block)
{
    char *other = NULL;
    tsr_input *image = NULL;
    if (tsr_input_path(header)) TSR_TRY(tsr_nifti_pair_path(tsr_input_path(header), ".hdr", ".img", &other));
    if (!other)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: no magic of NIfTI: an Analyze 7.5 header, whose voxels are in an .img file: expected it named .hdr, beside that file",
                 tsr_input_name(header));
    tsr_status status = tsr_input_open_beside(header, tsr_path_file(other), 0, &image);
    if (status == TSR_OK) status = tsr_axes_read(axes, image, offset, NULL, layout, block);
    tsr_input_close(&image);
    free(other);
    return status;
}

static tsr_status build(tsr_input *header, const tsr_nifti *h, const tsr_read_options *options, tsr_volume **volume)
{
    const char *name = tsr_input_name(header);
    const double offset = tsr_nifti_get(h, NIFTI_VOX_OFFSET, 0);
    tsr_layout layout = { .swap = h->swap };
    tsr_axes axes = { 0 };
    tsr_geometry geometry;
    tsr_block block;
    tsr_status status;
    int given = 0;
    TSR_TRY(take_shape(h, header, options, &layout, &axes));
    if (!(offset >= 0 && offset < 0x1p62) || offset != floor(offset))
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Analyze field 'vox_offset' is %g, expected a whole number from 0", name, offset);
    TSR_TRY(take_geometry(h, name, &geometry, &given));
    TSR_TRY(read_image_file(header, &axes, (int64_t)offset, &layout, &block));
    TSR_TRY(tsr_volume_of_block(header, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    const double slope = (double)tsr_read_f32(h->bytes + FUNUSED1, h->swap), intercept = (double)tsr_read_f32(h->bytes + FUNUSED2, h->swap);
    if (slope != 0 && isfinite(slope) && axes.parts[TSR_PART_CHANNEL] == 0)
        TSR_TRY_GOTO(tsr_volume_set_scaling(*volume, slope, isfinite(intercept) ? intercept : 0), fail);
    TSR_TRY_GOTO(keep_metadata(h, *volume), fail);
    tsr_remark("%s: Analyze 7.5 does not say which side is left: x is taken to run from right to left, %s", name,
               given ? "and the voxel of 'originator' to lie at the origin, as SPM has it" : "and the middle to lie at the origin");
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status read_pair(tsr_input *header, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *head;
    size_t bytes;
    tsr_nifti h = { .version = 1 };
    const char *name = tsr_input_name(header);
    TSR_TRY(tsr_input_head(header, TSR_NIFTI1_BYTES, &head, &bytes));
    if (!tsr_analyze_is(head, bytes))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no Analyze 7.5 header: expected 348 bytes that begin with that number and a dim[0] of 1 to 7", name);
    memcpy(h.bytes, head, TSR_NIFTI1_BYTES);
    h.swap = tsr_read_i32(head, 0) != TSR_NIFTI1_BYTES;
    TSR_TRY(build(header, &h, options, volume));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    char *other = NULL;
    tsr_input *header = NULL;
    if (tsr_input_path(input)) TSR_TRY(tsr_nifti_pair_path(tsr_input_path(input), ".img", ".hdr", &other));
    if (!other) return read_pair(input, options, volume);
    tsr_status status = tsr_input_open_beside(input, tsr_path_file(other), 0, &header); /* the .img was named: its header knows the rest */
    if (status == TSR_OK) status = read_pair(header, options, volume);
    tsr_input_close(&header);
    free(other);
    return status;
}

const tsr_format tsr_format_analyze = {
    .name = "analyze", .kind = TSR_FILE_VOLUME, .extensions = { ".hdr", ".img" }, .recognise = recognise, .read_volume = read_volume
};
