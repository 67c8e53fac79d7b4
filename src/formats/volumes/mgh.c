/* formats/volumes/mgh.c: FreeSurfer's volumes, .mgh and packed .mgz: big-endian, a header of 284 bytes, voxels, then numbers of the scan. World axes are RAS (of the
 * scanner). The header places the point at half the extents, (nx / 2, ny / 2, nz / 2), so the origin is rounded to float32 once. Where goodRASFlag is 0 the
 * axes are FreeSurfer's coronal ones, of 1 mm, about 0. */
#include "formats/parts.h"
#include "io/byte_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    HEAD = 284,
    VERSION = 0,
    DIMS = 4,
    FRAMES = 16,
    TYPE = 20,
    DOF = 24,
    GOOD_RAS = 28,
    SPACING = 30,
    DIRECTIONS = 42,
    CENTRE = 78,
    SCAN_NUMBERS = 5
};
static const char *const scan_keys[SCAN_NUMBERS] = { "mgh.TR", "mgh.flip_angle", "mgh.TE", "mgh.TI", "mgh.FoV" };
static const struct {
    int code;
    tsr_dtype dtype;
} types[] = { { 0, TSR_U8 }, { 1, TSR_I32 }, { 3, TSR_F32 }, { 4, TSR_I16 }, { 10, TSR_U16 } };
enum { TYPES = (int)(sizeof types / sizeof *types) };

static int swapped(void) { return !tsr_host_big_endian(); }

/* Version 1, three extents, frames, a type: no magic, but nothing else looks like it. */
static int recognise(const tsr_signature *s)
{
    if (s->head_bytes < HEAD || tsr_read_u32(s->head, swapped()) != 1) return TSR_NOT_MINE;
    for (int k = 0; k < 4; k++)
        if (tsr_read_u32(s->head + DIMS + 4 * k, swapped()) - 1 > 65534) return TSR_NOT_MINE;
    return tsr_read_u32(s->head + TYPE, swapped()) <= 10 ? TSR_SURELY_MINE : TSR_NOT_MINE;
}

static tsr_status take_geometry(const uint8_t *head, const char *name, tsr_geometry *g)
{
    static const float coronal[9] = { -1, 0, 0, 0, 0, -1, 0, 1, 0 };
    const int good = tsr_read_i16(head + GOOD_RAS, swapped()) > 0;
    *g = (tsr_geometry){ .space = TSR_SPACE_RAS };
    for (int c = 0; c < 3; c++) {
        const float spacing = good ? tsr_read_f32(head + SPACING + 4 * c, swapped()) : 1;
        if (!(spacing > 0) || !isfinite(spacing))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: MGH field 'spacing' is %g for axis %d, expected a positive number", name, (double)spacing, c);
        for (int r = 0; r < 3; r++)
            g->affine[r][c] = (double)spacing * (double)(good ? tsr_read_f32(head + DIRECTIONS + 4 * (3 * c + r), swapped()) : coronal[3 * c + r]);
    }
    for (int r = 0; r < 3; r++) {
        g->affine[r][3] = good ? (double)tsr_read_f32(head + CENTRE + 4 * r, swapped()) : 0;
        for (int c = 0; c < 3; c++) g->affine[r][3] -= g->affine[r][c] * 0.5 * (double)tsr_read_u32(head + DIMS + 4 * c, swapped());
    }
    return TSR_OK;
}

/* TR, flip angle, TE, TI and field of view behind the voxels; older files end before them, newer ones have tags behind, which are not kept. */
static tsr_status take_scan(tsr_input *input, int64_t offset, tsr_volume *volume)
{
    const uint8_t *all;
    size_t size;
    if (tsr_input_settings(input)->place) return TSR_OK; /* the voxels are not read now, and these are behind them */
    TSR_TRY(tsr_input_all(input, &all, &size));
    for (int k = 0; k < SCAN_NUMBERS && (int64_t)size - offset >= 4 * (k + 1); k++) {
        const double value = (double)tsr_read_f32(all + offset + 4 * k, swapped());
        if (value != 0 && isfinite(value)) TSR_TRY(tsr_set_meta_numbers(volume, scan_keys[k], &value, 1));
    }
    if ((int64_t)size - offset > 4 * SCAN_NUMBERS)
        tsr_remark("%s: %lld bytes of tags behind the voxels (history, transforms, colour tables) are not kept", tsr_input_name(input),
                   (long long)((int64_t)size - offset - 4 * SCAN_NUMBERS));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *bytes;
    uint8_t head[HEAD];
    size_t size;
    const char *name = tsr_input_name(input);
    tsr_layout layout = { .swap = swapped() };
    tsr_axes axes = { 0 };
    tsr_geometry geometry;
    tsr_block block;
    int64_t total;
    tsr_status status;
    TSR_TRY(tsr_input_head(input, HEAD, &bytes, &size));
    if (size < HEAD) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes, an MGH header has %d", name, size, (int)HEAD);
    memcpy(head, bytes, HEAD); /* the view may move when more is asked for */
    if (tsr_read_u32(head + VERSION, swapped()) != 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: MGH field 'version' is %u, expected 1", name, tsr_read_u32(head, swapped()));
    int type = 0;
    const int32_t code = tsr_read_i32(head + TYPE, swapped()), frames = tsr_read_i32(head + FRAMES, swapped());
    while (type < TYPES && types[type].code != code) type++;
    if (type == TYPES)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: MGH field 'type' is %d, expected 0 (u8), 1 (i32), 3 (f32), 4 (i16) or 10 (u16)", name, code);
    layout.dtype = types[type].dtype;
    total = (int64_t)tsr_dtype_size(layout.dtype);
    for (int k = 0; k < 4; k++) {
        const int32_t n = tsr_read_i32(head + DIMS + 4 * k, swapped());
        if (n < 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: MGH field '%s' is %d, expected a positive number", name,
                     ((const char *[]){ "width", "height", "depth", "nframes" })[k], n);
        if (k < 3) tsr_axes_space(&axes, n);
        if (__builtin_mul_overflow(total, (int64_t)n, &total)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: the extents of the MGH header overflow 64 bits", name);
    }
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_FRAME, frames, "nframes", input, options));
    if (tsr_input_is_gzip(input) && !tsr_input_settings(input)->place)
        TSR_TRY(tsr_input_all(input, &bytes, &size)); /* unpacked once, for what is behind, too */
    TSR_TRY(take_geometry(head, name, &geometry));
    axes.trailer = 1;
    TSR_TRY(tsr_axes_read(&axes, input, HEAD, NULL, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    const double dof = tsr_read_i32(head + DOF, swapped());
    if (dof != 0) TSR_TRY_GOTO(tsr_set_meta_numbers(*volume, "mgh.dof", &dof, 1), fail);
    TSR_TRY_GOTO(take_scan(input, HEAD + total, *volume), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_geometry g = tsr_geometry_convert(&volume->geometry, TSR_SPACE_RAS);
    const tsr_vec3 lengths = tsr_geometry_spacing(&g);
    const double spacing[3] = { lengths.x, lengths.y, lengths.z };
    const int64_t extent[3] = { volume->size.x, volume->size.y, volume->size.z };
    uint8_t head[HEAD] = { 0 }, tail[4 * SCAN_NUMBERS] = { 0 };
    tsr_output *out = NULL;
    tsr_status status;
    int type = 0;
    double value;
    while (type < TYPES - 1 && types[type].dtype != volume->dtype) type++;
    tsr_store_i32(head + VERSION, 1, swapped());
    for (int k = 0; k < 3; k++) {
        if (extent[k] > INT32_MAX)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld voxels along an axis, an MGH file holds at most %d", path, (long long)extent[k], INT32_MAX);
        tsr_store_i32(head + DIMS + 4 * k, (int32_t)extent[k], swapped());
        tsr_store_f32(head + SPACING + 4 * k, (float)spacing[k], swapped());
        double centre = g.affine[k][3];
        for (int c = 0; c < 3; c++) {
            tsr_store_f32(head + DIRECTIONS + 4 * (3 * c + k), (float)(g.affine[k][c] / spacing[c]), swapped());
            centre += g.affine[k][c] * 0.5 * (double)extent[c];
        }
        tsr_store_f32(head + CENTRE + 4 * k, (float)centre, swapped());
    }
    tsr_store_i32(head + FRAMES, 1, swapped());
    tsr_store_i32(head + TYPE, types[type].code, swapped());
    tsr_store_u16(head + GOOD_RAS, 1, swapped());
    if (tsr_meta_numbers(volume, "mgh.dof", &value, 1) && fabs(value) <= INT32_MAX) tsr_store_i32(head + DOF, (int32_t)value, swapped());
    for (int k = 0; k < SCAN_NUMBERS; k++)
        if (tsr_meta_numbers(volume, scan_keys[k], &value, 1)) tsr_store_f32(tail + 4 * k, (float)value, swapped());
    TSR_TRY(tsr_output_open(path, options, &out));
    TSR_TRY_GOTO(tsr_output_write(out, head, sizeof head), done);
    TSR_TRY_GOTO(tsr_output_voxels(out, volume, swapped()), done);
    TSR_TRY_GOTO(tsr_output_write(out, tail, sizeof tail), done);
done:
    return tsr_output_finish(&out, status);
}

const tsr_format tsr_format_mgh = { .name = "mgh",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".mgz", ".mgh" },
                                    .recognise = recognise,
                                    .read_volume = read_volume,
                                    .types = 1u << TSR_U8 | 1u << TSR_I16 | 1u << TSR_I32 | 1u << TSR_F32,
                                    .write_volume = write_volume };
