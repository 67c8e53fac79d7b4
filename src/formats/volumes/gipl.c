/* formats/volumes/gipl.c: Guy's Image Processing Lab (.gipl): big-endian, a header of 256 bytes that ends in a magic number, voxels. Spacing and origin; no frame. */
#include "formats/parts.h"
#include "io/byte_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = 256, DIMS = 0, TYPE = 8, SPACING = 10, PATIENT = 26, ORIGIN = 204, OFFSET = 236, SCALE = 240, MAGIC = 252 };
static const uint32_t magics[] = { 719555000u, 4026526128u };
static const struct {
    int code;
    tsr_dtype dtype;
} types[] = { { 7, TSR_I8 }, { 8, TSR_U8 }, { 15, TSR_I16 }, { 16, TSR_U16 }, { 31, TSR_U32 }, { 32, TSR_I32 }, { 64, TSR_F32 }, { 65, TSR_F64 } };
enum { TYPES = (int)(sizeof types / sizeof *types) };

static int swapped(void) { return !tsr_host_big_endian(); }

static int recognise(const tsr_signature *s)
{
    const uint32_t magic = s->head_bytes >= HEAD ? tsr_read_u32(s->head + MAGIC, swapped()) : 0;
    return magic == magics[0] || magic == magics[1] ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

static tsr_status keep_metadata(const uint8_t *head, tsr_volume *volume)
{
    char patient[81] = "";
    const double numbers[2] = { (double)tsr_read_f32(head + OFFSET, swapped()), (double)tsr_read_f32(head + SCALE, swapped()) };
    memcpy(patient, head + PATIENT, 80);
    if (patient[0]) TSR_TRY(tsr_volume_set_meta(volume, "gipl.patient", patient));
    for (int k = 0; k < 2; k++)
        if (numbers[k] != 0 && isfinite(numbers[k]))
            TSR_TRY(tsr_set_meta_numbers(volume, k ? "gipl.pixval_cal" : "gipl.pixval_offset", &numbers[k], 1));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *head;
    size_t size;
    const char *name = tsr_input_name(input);
    tsr_layout layout = { .swap = swapped() };
    tsr_axes axes = { 0 };
    tsr_block block;
    double spacing[3], origin[3];
    int type = 0;
    TSR_TRY(tsr_input_head(input, HEAD, &head, &size));
    if (size < HEAD) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes, a GIPL header has %d", name, size, (int)HEAD);
    uint8_t own[HEAD];
    memcpy(own, head, HEAD);
    const uint32_t magic = tsr_read_u32(own + MAGIC, swapped());
    if (magic != magics[0] && magic != magics[1])
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: no GIPL header: its magic number is %u, expected %u", name, magic, magics[0]);
    const int code = tsr_read_u16(own + TYPE, swapped());
    while (type < TYPES && types[type].code != code) type++;
    if (type == TYPES) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: GIPL field 'image_type' is %d, expected 7, 8, 15, 16, 31, 32, 64 or 65", name, code);
    layout.dtype = types[type].dtype;
    for (int k = 0; k < 4; k++) {
        const int n = tsr_read_u16(own + DIMS + 2 * k, swapped());
        if (!n && k < 2) TSR_FAIL(TSR_ERROR_FORMAT, "%s: GIPL extent %d is 0, expected a positive number", name, k);
        if (k < 3) tsr_axes_space(&axes, n ? n : 1);
        else TSR_TRY(tsr_axes_part(&axes, TSR_PART_FRAME, n ? n : 1, "the fourth extent", input, options));
    }
    for (int k = 0; k < 3; k++) {
        spacing[k] = (double)tsr_read_f32(own + SPACING + 4 * k, swapped());
        origin[k] = tsr_read_f64(own + ORIGIN + 8 * k, swapped());
        if (k == 2 && spacing[k] == 0 && tsr_read_u16(own + DIMS + 4, swapped()) <= 1) spacing[k] = 1;
        if (!(spacing[k] > 0) || !isfinite(spacing[k]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: GIPL field 'pixdim' is %g for axis %d, expected a positive number", name, spacing[k], k);
    }
    const tsr_geometry geometry =
        tsr_geometry_make((tsr_vec3){ spacing[0], spacing[1], spacing[2] }, (tsr_vec3){ origin[0], origin[1], origin[2] }, TSR_SPACE_NONE);
    TSR_TRY(tsr_axes_read(&axes, input, HEAD, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    const tsr_status status = keep_metadata(own, *volume);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

const tsr_format tsr_format_gipl = {
    .name = "gipl", .kind = TSR_FILE_VOLUME, .extensions = { ".gipl" }, .recognise = recognise, .read_volume = read_volume
};
