/* formats/volumes/mrc.c: maps of electron microscopy and crystallography (.mrc, .map, .ccp4, .rec, .st), MRC2014 and what came before. A header of 1024 bytes, an
 * extended one (not kept), voxels of which mapc, mapr and maps say the axes. Lengths are in angstroms: cell / (mx, my, mz) is a voxel, along the axes of the
 * cell, which need not be perpendicular. The origin is ORIGIN or, where that is 0, (nxstart, nystart, nzstart) voxels. */
#include "formats/parts.h"
#include "io/byte_order.h"
#include "io/half.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    HEAD = 1024,
    SIZE = 0,
    MODE = 12,
    START = 16,
    SAMPLING = 28,
    CELL = 40,
    ANGLES = 52,
    AXES = 64,
    MINIMUM = 76,
    MAXIMUM = 80,
    MEAN = 84,
    SPACE_GROUP = 88,
    EXTENDED = 92,
    EXTENDED_TYPE = 104,
    VERSION = 108,
    IMOD_STAMP = 152,
    IMOD_FLAGS = 156,
    ORIGIN = 196,
    MAP = 208,
    STAMP = 212,
    RMS = 216,
    LABELS = 220,
    LABEL_TEXT = 224,
    LABEL_BYTES = 80,
    LABELS_MOST = 10,
    IMOD = 1146047817
};
enum { MODE_I8 = 0, MODE_I16 = 1, MODE_F32 = 2, MODE_U16 = 6, MODE_F16 = 12 };

typedef struct mrc_header {
    uint8_t bytes[HEAD];
    int swap, mode;
    int64_t size[3], frames, data;
    int axis[3]; /* of the world (0 x, 1 y, 2 z), along columns, rows and sections */
} mrc_header;

static const char *mode_name(int mode)
{
    return mode == 3     ? "complex numbers of 16 bits"
           : mode == 4   ? "complex numbers of 32 bits"
           : mode == 101 ? "numbers of 4 bits"
           : mode == 16  ? "RGB"
                         : "unknown";
}

static int axes_plausible(const uint8_t *head, int swap)
{
    int seen = 0;
    for (int k = 0; k < 3; k++) {
        const int32_t a = tsr_read_i32(head + AXES + 4 * k, swap);
        if (a < 1 || a > 3) return 0;
        seen |= 1 << a;
    }
    return seen == 14;
}

/* By the machine stamp or, where that says nothing, by what makes sense. */
static int order_of(const uint8_t *head)
{
    const int big = tsr_host_big_endian();
    if (head[STAMP] == 0x44 && (head[STAMP + 1] == 0x44 || head[STAMP + 1] == 0x41)) return big;
    if (head[STAMP] == 0x11 && head[STAMP + 1] == 0x11) return !big;
    return !axes_plausible(head, 0) && axes_plausible(head, 1);
}

static int recognise(const tsr_signature *s)
{
    if (s->head_bytes < HEAD) return TSR_NOT_MINE;
    if (!memcmp(s->head + MAP, "MAP ", 4)) return TSR_SURELY_MINE;
    const int swap = order_of(s->head);
    if (!axes_plausible(s->head, swap)) return TSR_NOT_MINE;
    for (int k = 0; k < 3; k++)
        if (tsr_read_i32(s->head + SIZE + 4 * k, swap) < 1) return TSR_NOT_MINE;
    const int32_t mode = tsr_read_i32(s->head + MODE, swap);
    return mode >= 0 && (mode <= 6 || mode == MODE_F16) ? TSR_MAYBE_MINE : TSR_NOT_MINE;
}

static tsr_status take_header(tsr_input *input, mrc_header *h)
{
    const uint8_t *bytes;
    size_t size;
    const char *name = tsr_input_name(input);
    TSR_TRY(tsr_input_head(input, HEAD, &bytes, &size));
    if (size < HEAD) TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: %zu bytes, an MRC header has %d", name, size, (int)HEAD);
    memcpy(h->bytes, bytes, HEAD);
    h->swap = order_of(h->bytes);
    h->mode = tsr_read_i32(h->bytes + MODE, h->swap);
    for (int k = 0; k < 3; k++) {
        h->size[k] = tsr_read_i32(h->bytes + SIZE + 4 * k, h->swap);
        const int32_t axis = tsr_read_i32(h->bytes + AXES + 4 * k, h->swap);
        h->axis[k] = axis < 0 ? -2 : axis - 1;
        if (h->size[k] < 1)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: MRC field 'n%c' is %lld, expected a positive number", name, "xyz"[k], (long long)h -> size[k]);
    }
    int none = 1;
    for (int k = 0; k < 3; k++) none &= h->axis[k] == -1;
    if (none) /* old writers left them out */
        for (int k = 0; k < 3; k++) h->axis[k] = k;
    else if (!axes_plausible(h->bytes, h->swap))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: MRC fields mapc, mapr, maps are %d, %d, %d, expected 1, 2 and 3 in any order", name, h->axis[0] + 1,
                 h->axis[1] + 1, h->axis[2] + 1);
    const int32_t extended = tsr_read_i32(h->bytes + EXTENDED, h->swap), group = tsr_read_i32(h->bytes + SPACE_GROUP, h->swap),
                  sections = tsr_read_i32(h->bytes + SAMPLING + 8, h->swap);
    if (extended < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: MRC field 'nsymbt' is %d, expected 0 or more bytes", name, extended);
    h->data = HEAD + (int64_t)extended;
    h->frames = 1;
    if (group > 400 && group < 631 && sections > 0 && h->size[2] % sections == 0) { /* a stack of volumes */
        h->frames = h->size[2] / sections;
        h->size[2] = sections;
    }
    return TSR_OK;
}

static tsr_status take_type(const mrc_header *h, const char *name, tsr_layout *layout)
{
    const int stamped = tsr_read_i32(h->bytes + IMOD_STAMP, h->swap) == IMOD, signed_bytes = tsr_read_i32(h->bytes + IMOD_FLAGS, h->swap) & 1;
    layout->swap = h->swap;
    switch (h->mode) {
    case MODE_I8: layout->dtype = stamped && !signed_bytes ? TSR_U8 : TSR_I8; return TSR_OK; /* IMOD says which */
    case MODE_I16: layout->dtype = TSR_I16; return TSR_OK;
    case MODE_F32: layout->dtype = TSR_F32; return TSR_OK;
    case MODE_U16:
    case MODE_F16: layout->dtype = TSR_U16; return TSR_OK; /* halves are widened when they are read */
    default:
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: MRC field 'mode' is %d (%s), expected 0 (i8), 1 (i16), 2 (f32), 6 (u16) or 12 (f16)", name, h->mode,
                 mode_name(h->mode));
    }
}

/* Directions of the axes of the cell: a along x, b in the plane of x and y. */
static tsr_status take_cell(const mrc_header *h, const char *name, double direction[3][3])
{
    double cosine[3];
    for (int k = 0; k < 3; k++) {
        const double angle = (double)tsr_read_f32(h->bytes + ANGLES + 4 * k, h->swap);
        cosine[k] = angle == 0 || angle == 90 ? 0 : cos(angle * (3.14159265358979323846 / 180));
        if (!(angle >= 0 && angle < 180)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: MRC field 'cellb' is %g degrees, expected 0 to 180", name, angle);
    }
    const double sine = sqrt(1 - cosine[2] * cosine[2]), y = (cosine[0] - cosine[1] * cosine[2]) / sine, z = 1 - cosine[1] * cosine[1] - y * y;
    if (!(z > 1e-9)) TSR_FAIL(TSR_ERROR_FORMAT, "%s: MRC field 'cellb' has angles that enclose no volume", name);
    const double of[3][3] = { { 1, 0, 0 }, { cosine[2], sine, 0 }, { cosine[1], y, sqrt(z) } };
    memcpy(direction, of, sizeof of);
    return TSR_OK;
}

static tsr_status take_geometry(const mrc_header *h, const char *name, tsr_geometry *g, int *known)
{
    double direction[3][3], origin[3], length[3];
    int placed = 0;
    *known = 1;
    *g = (tsr_geometry){ .space = TSR_SPACE_NONE };
    TSR_TRY(take_cell(h, name, direction));
    for (int a = 0; a < 3; a++) {
        const int32_t samples = tsr_read_i32(h->bytes + SAMPLING + 4 * a, h->swap);
        const double cell = (double)tsr_read_f32(h->bytes + CELL + 4 * a, h->swap);
        length[a] = samples > 0 && cell > 0 && isfinite(cell) ? cell / samples : 0;
        *known &= length[a] > 0;
        origin[a] = (double)tsr_read_f32(h->bytes + ORIGIN + 4 * a, h->swap);
        if (!isfinite(origin[a]) || h->bytes[MAP] != 'M') origin[a] = 0; /* before MRC2014 other things stood there */
        placed |= origin[a] != 0;
    }
    for (int k = 0; k < 3; k++) {
        const int a = h->axis[k];
        const int32_t start = tsr_read_i32(h->bytes + START + 4 * k, h->swap); /* counted along columns, rows and sections */
        for (int r = 0; r < 3; r++) {
            g->affine[r][k] = direction[a][r] * (*known ? length[a] : 1);
            if (!placed) g->affine[r][3] += g->affine[r][k] * start;
        }
    }
    for (int r = 0; r < 3 && placed; r++) g->affine[r][3] = origin[r];
    return TSR_OK;
}

static tsr_status keep_metadata(const mrc_header *h, tsr_volume *volume)
{
    char key[32], text[LABEL_BYTES + 1];
    const int32_t labels = tsr_read_i32(h->bytes + LABELS, h->swap), group = tsr_read_i32(h->bytes + SPACE_GROUP, h->swap);
    for (int k = 0; k < labels && k < LABELS_MOST; k++) {
        memcpy(text, h->bytes + LABEL_TEXT + k * LABEL_BYTES, LABEL_BYTES);
        text[LABEL_BYTES] = 0;
        for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = 0;
        snprintf(key, sizeof key, "mrc.label%d", k);
        if (text[0]) TSR_TRY(tsr_volume_set_meta(volume, key, text));
    }
    const double number = group;
    TSR_TRY(tsr_set_meta_numbers(volume, "mrc.ispg", &number, 1));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    mrc_header h;
    const char *name = tsr_input_name(input);
    tsr_layout layout = { 0 };
    tsr_axes axes = { 0 };
    tsr_geometry geometry;
    tsr_block block;
    tsr_status status;
    int known = 1;
    TSR_TRY(take_header(input, &h));
    TSR_TRY(take_type(&h, name, &layout));
    TSR_TRY(take_geometry(&h, name, &geometry, &known));
    for (int k = 0; k < 3; k++) tsr_axes_space(&axes, h.size[k]);
    TSR_TRY(tsr_axes_part(&axes, TSR_PART_FRAME, h.frames, "nz / mz", input, options));
    TSR_TRY(tsr_axes_read(&axes, input, h.data, NULL, &layout, &block));
    if (h.mode == MODE_F16) TSR_TRY(tsr_block_widen_halves(input, &layout, &block));
    TSR_TRY(tsr_volume_of_block(input, &layout, &geometry, &block, volume));
    memcpy((*volume)->parts, axes.parts, sizeof axes.parts);
    if (known) TSR_TRY_GOTO(tsr_volume_set_unit(*volume, "angstrom"), fail);
    else tsr_remark("%s: the header has no size of a voxel (cell and mx, my, mz): 1 is taken", name);
    TSR_TRY_GOTO(keep_metadata(&h, *volume), fail);
    if (h.data > HEAD) tsr_remark("%s: %lld bytes of extended header are not kept", name, (long long)(h.data - HEAD));
    return TSR_OK;
fail:
    tsr_volume_destroy(volume);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------------------------- */

/* The axis of the world that each index axis runs along; the file can say no more of directions. */
static tsr_status axes_of(const tsr_geometry *g, const char *path, int axis[3])
{
    for (int c = 0; c < 3; c++) {
        axis[c] = -1;
        for (int r = 0; r < 3; r++)
            if (g->affine[r][c] > 0 && axis[c] < 0) axis[c] = r;
            else if (g->affine[r][c] != 0) axis[c] = 3;
    }
    for (int c = 0; c < 3; c++)
        if (axis[c] < 0 || axis[c] > 2 || axis[c] == axis[(c + 1) % 3])
            TSR_FAIL(TSR_ERROR_ARGUMENT,
                     "%s: an MRC map has its axes along x, y and z, this volume has not: turn it (tessera convert --reorient, --axis-aligned) or "
                     "write NRRD",
                     path);
    return TSR_OK;
}

/* Minimum, maximum, mean and deviation; of voxels that come in pieces the numbers that say they are not known. */
static void put_statistics(const tsr_volume *v, uint8_t *head)
{
    double low = 0, high = -1, mean = -2, deviation = -1;
    const int64_t count = tsr_volume_count(v);
    if (!v->feed) {
        double sum = 0, squares = 0;
        low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < count; i++) {
            const double x = tsr_voxel_load(v->data, v->dtype, i);
            low = x < low ? x : low;
            high = x > high ? x : high;
            sum += x;
        }
        mean = sum / (double)count;
        for (int64_t i = 0; i < count; i++) {
            const double x = tsr_voxel_load(v->data, v->dtype, i) - mean;
            squares += x * x;
        }
        deviation = sqrt(squares / (double)count);
    }
    tsr_store_f32(head + MINIMUM, (float)low, 0);
    tsr_store_f32(head + MAXIMUM, (float)high, 0);
    tsr_store_f32(head + MEAN, (float)mean, 0);
    tsr_store_f32(head + RMS, (float)deviation, 0);
}

static void put_labels(const tsr_volume *v, uint8_t *head)
{
    int32_t count = 0;
    memset(head + LABEL_TEXT, ' ', LABELS_MOST * LABEL_BYTES);
    for (int k = 0; k < LABELS_MOST; k++) {
        char key[32];
        snprintf(key, sizeof key, "mrc.label%d", k);
        const char *text = tsr_volume_meta(v, key);
        if (!text) continue;
        memcpy(head + LABEL_TEXT + count * LABEL_BYTES, text, strnlen(text, LABEL_BYTES));
        count++;
    }
    tsr_store_i32(head + LABELS, count, 0);
}

static tsr_status write_volume(const tsr_volume *volume, const char *path, const tsr_write_options *options)
{
    const tsr_geometry *g = &volume->geometry;
    const int64_t extent[3] = { volume->size.x, volume->size.y, volume->size.z };
    uint8_t head[HEAD] = { 0 };
    int axis[3], whole = 1;
    double group = 1, start[3];
    tsr_output *out = NULL;
    tsr_status status;
    TSR_TRY(axes_of(g, path, axis));
    const int mode = volume->dtype == TSR_I8 ? MODE_I8 : volume->dtype == TSR_I16 ? MODE_I16 : volume->dtype == TSR_U16 ? MODE_U16 : MODE_F32;
    for (int k = 0; k < 3; k++) {
        if (extent[k] > INT32_MAX)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld voxels along an axis, an MRC map holds at most %d", path, (long long)extent[k], INT32_MAX);
        const int a = axis[k];
        start[k] = g->affine[a][3] / g->affine[a][k];
        whole &= start[k] == floor(start[k]) && fabs(start[k]) < INT32_MAX;
        tsr_store_i32(head + SIZE + 4 * k, (int32_t)extent[k], 0);
        tsr_store_i32(head + SAMPLING + 4 * a, (int32_t)extent[k], 0);
        tsr_store_f32(head + CELL + 4 * a, (float)(g->affine[a][k] * (double)extent[k]), 0);
        tsr_store_f32(head + ANGLES + 4 * k, 90, 0);
        tsr_store_i32(head + AXES + 4 * k, a + 1, 0);
        tsr_store_f32(head + ORIGIN + 4 * k, (float)g->affine[k][3], 0);
    }
    for (int k = 0; k < 3 && whole; k++) tsr_store_i32(head + START + 4 * k, (int32_t)start[k], 0); /* for readers that look there */
    (void)tsr_meta_numbers(volume, "mrc.ispg", &group, 1);
    tsr_store_i32(head + SPACE_GROUP, group >= 0 && group <= 400 ? (int32_t)group : 1, 0);
    tsr_store_i32(head + MODE, mode, 0);
    tsr_store_i32(head + VERSION, 20140, 0);
    memcpy(head + MAP, "MAP ", 4);
    head[STAMP] = head[STAMP + 1] = tsr_host_big_endian() ? 0x11 : 0x44;
    put_statistics(volume, head);
    put_labels(volume, head);
    TSR_TRY(tsr_output_open(path, options, &out));
    TSR_TRY_GOTO(tsr_output_write(out, head, sizeof head), done);
    TSR_TRY_GOTO(tsr_output_voxels(out, volume, 0), done);
done:
    return tsr_output_finish(&out, status);
}

const tsr_format tsr_format_mrc = { .name = "mrc",
                                    .kind = TSR_FILE_VOLUME,
                                    .extensions = { ".mrc", ".map", ".ccp4", ".rec", ".st" },
                                    .recognise = recognise,
                                    .place = TSR_PLACE_NAMELESS,
                                    .units = TSR_UNITS_ANGSTROM,
                                    .types = 1u << TSR_I8 | 1u << TSR_I16 | 1u << TSR_U16 | 1u << TSR_F32,
                                    .read_volume = read_volume,
                                    .write_volume = write_volume };
