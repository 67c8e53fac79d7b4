/* Segmentations (PS3.3 A.51, C.8.20): frames of bits or fractions, one segment each, with gaps where a segment has nothing; they become one volume of labels, whose
 * numbers are those of the segments. */
#include "formats/dicom/dicom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US TSR_DICOM_VR('U', 'S')
#define SLICE_MOST 0.05 /* of the distance of slices: how far a frame may lie off their places */

void tsr_dicom_take_segmentation(const tsr_dicom_data *d, tsr_dicom_file *f)
{
    char sop[68], kind[20];
    double most;
    tsr_dicom_text(d, -1, 0x00080016, sop, sizeof sop);
    tsr_dicom_text(d, -1, 0x00620001, kind, sizeof kind);
    if (strcmp(sop, "1.2.840.10008.5.1.4.1.1.66.4") != 0 || f->samples > 1 || f->allocated > 8 || f->is_signed || f->table_kind) return;
    f->segmentation = !strcmp(kind, "FRACTIONAL") ? TSR_DICOM_FRACTIONS : TSR_DICOM_BITS;
    if (!tsr_dicom_number(d, tsr_dicom_find(d, -1, 0x0062000E), US, 0, &most) || most < 1) most = 255;
    f->fraction_half = f->segmentation == TSR_DICOM_FRACTIONS ? most / 2 : 0.5;
}

tsr_status tsr_dicom_segment_names(const tsr_dicom_data *d, tsr_volume *volume)
{
    const int32_t sequence = tsr_dicom_find(d, -1, 0x00620002);
    for (int k = 0, written = 0; k < 65535; k++) {
        const int32_t item = tsr_dicom_item(d, sequence, k);
        char name[70], key[40], text[40];
        double number;
        if (item < 0) return TSR_OK;
        if (!tsr_dicom_number(d, tsr_dicom_find(d, item, 0x00620004), US, 0, &number)) continue;
        tsr_dicom_text(d, item, 0x00620005, name, sizeof name);
        snprintf(text, sizeof text, "Segment_%.0f", number);
        snprintf(key, sizeof key, "Segment%d_ID", written);
        TSR_TRY(tsr_volume_set_meta(volume, key, text));
        snprintf(key, sizeof key, "Segment%d_Name", written);
        TSR_TRY(tsr_volume_set_meta(volume, key, *name ? name : text));
        snprintf(key, sizeof key, "Segment%d_LabelValue", written++);
        snprintf(text, sizeof text, "%.0f", number);
        TSR_TRY(tsr_volume_set_meta(volume, key, text));
    }
    return TSR_OK;
}

void tsr_dicom_segment_name(const tsr_dicom_data *d, int32_t number, char *text, size_t room)
{
    const int32_t sequence = tsr_dicom_find(d, -1, 0x00620002);
    text[0] = 0;
    for (int k = 0; k < 65535; k++) {
        const int32_t item = tsr_dicom_item(d, sequence, k);
        double own;
        if (item < 0) return;
        if (!tsr_dicom_number(d, tsr_dicom_find(d, item, 0x00620004), US, 0, &own) || own != number) continue;
        tsr_dicom_text(d, item, 0x00620005, text, room);
        return;
    }
}

/* ---- the grid --------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct grid {
    const tsr_dicom_frame *first; /* the lowest along the normal */
    double normal[3], step;
    int64_t slices;
    int32_t highest; /* segment number */
} grid;

static int by_along(const void *a, const void *b)
{
    const double x = (*(const tsr_dicom_frame *const *)a)->along, y = (*(const tsr_dicom_frame *const *)b)->along;
    return x < y ? -1 : x > y;
}

static double along(const double n[3], const double p[3]) { return n[0] * p[0] + n[1] * p[1] + n[2] * p[2]; }

/* How far a frame lies from where slice k of the grid has its first pixel. */
static double off_grid(const grid *g, const tsr_dicom_frame *f, int64_t k)
{
    double square = 0;
    for (int d = 0; d < 3; d++) {
        const double difference = f->position[d] - g->first->position[d] - (double)k * g->step * g->normal[d];
        square += difference * difference;
    }
    return sqrt(square);
}

static int64_t slice_of(const grid *g, const tsr_dicom_frame *f) { return (int64_t)llround((f->along - g->first->along) / g->step); }

static tsr_status make_grid(tsr_dicom_study *s, const tsr_dicom_frame **order, grid *g)
{
    const char *name = tsr_input_name(s->input);
    const int64_t count = s->frames.count;
    tsr_dicom_frame *f = s->frames.at;
    g->highest = 0;
    for (int d = 0; d < 3; d++) g->normal[d] = f->row[(d + 1) % 3] * f->column[(d + 2) % 3] - f->row[(d + 2) % 3] * f->column[(d + 1) % 3];
    for (int64_t i = 0; i < count; i++) {
        if (!f[i].placed || f[i].stack < 1 || f[i].stack > 65535)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: frame %lld of the segmentation has no %s", name, (long long)i + 1,
                     f[i].placed ? "segment" : "position");
        f[i].along = along(g->normal, f[i].position);
        order[i] = &f[i];
        if (f[i].stack > g->highest) g->highest = f[i].stack;
    }
    qsort(order, (size_t)count, sizeof *order, by_along);
    g->first = order[0];
    const double said = f->between > 0 ? f->between : f->thickness > 0 ? f->thickness : 1;
    double least = HUGE_VAL;
    for (int64_t i = 1; i < count; i++)
        if (order[i]->along - order[i - 1]->along > 1e-4 * said) least = fmin(least, order[i]->along - order[i - 1]->along);
    g->step = f->between > 0 || least - least != 0 ? said : least; /* slices without a segment are not there: the gaps say little */
    const double slices = (order[count - 1]->along - g->first->along) / g->step;
    if (!(slices < 1e6)) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: the frames of the segmentation spread over %g slices", name, slices);
    g->slices = slice_of(g, order[count - 1]) + 1;
    for (int64_t i = 0; i < count; i++)
        if (off_grid(g, &f[i], slice_of(g, &f[i])) > SLICE_MOST * g->step)
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "%s: DICOM: frame %lld of the segmentation lies off the slices, %.6g mm apart: options.series reads one segment alone", name,
                     (long long)i + 1, g->step);
    return TSR_OK;
}

static void place(const grid *g, tsr_geometry *geometry)
{
    const tsr_dicom_frame *f = g->first;
    for (int d = 0; d < 3; d++) {
        geometry->affine[d][0] = f->row[d] * f->size[0];
        geometry->affine[d][1] = f->column[d] * f->size[1];
        geometry->affine[d][2] = g->normal[d] * g->step;
        geometry->affine[d][3] = f->position[d];
    }
    geometry->space = TSR_SPACE_LPS;
}

/* ---- voxels ----------------------------------------------------------------------------------------------------------------------------------------- */

/* One frame into its slice; how many voxels had a label before. */
static int64_t put_frame(const uint8_t *from, int64_t pixels, double half, int32_t label, tsr_dtype dtype, uint8_t *to)
{
    int64_t twice = 0;
    uint16_t *wide = (uint16_t *)(void *)to;
    for (int64_t i = 0; i < pixels; i++) {
        if (!((double)from[i] >= half)) continue;
        const int32_t before = dtype == TSR_U8 ? to[i] : wide[i];
        twice += before != 0 && before != label;
        if (label < before) continue;
        if (dtype == TSR_U8) to[i] = (uint8_t)label;
        else wide[i] = (uint16_t)label;
    }
    return twice;
}

typedef struct target {
    tsr_dtype dtype;
    uint8_t *to, *frame; /* the volume; one frame */
    int64_t twice;
} target;

static tsr_status put_frames(tsr_dicom_study *s, const grid *g, const tsr_dicom_data *d, tsr_dicom_helper **helper, target *t)
{
    const tsr_dicom_file *file = &s->file[0];
    const int64_t pixels = (int64_t)file->rows * file->columns, slice_bytes = pixels * (int64_t)tsr_dtype_size(t->dtype);
    memset(t->to, 0, (size_t)(slice_bytes * g->slices));
    for (int64_t i = 0; i < s->frames.count; i++) {
        const tsr_dicom_frame *f = &s->frames.at[i];
        TSR_TRY(tsr_dicom_frame_read(file, tsr_input_name(s->input), d->bytes, d->size, f->number, helper, t->frame));
        t->twice += put_frame(t->frame, pixels, file->fraction_half, f->stack, t->dtype, t->to + slice_of(g, f) * slice_bytes);
        TSR_PROGRESS(tsr_input_settings(s->input)->progress, 0.5 + 0.5 * (double)i / (double)s->frames.count, "reading");
    }
    return TSR_OK;
}

static tsr_status fill(tsr_dicom_study *s, const grid *g, const tsr_dicom_data *d, target *t)
{
    tsr_dicom_helper *helper = NULL;
    t->frame = (uint8_t *)malloc((size_t)s->file[0].rows * (size_t)s->file[0].columns);
    if (!t->frame) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a frame", tsr_input_name(s->input));
    const tsr_status status = put_frames(s, g, d, &helper, t);
    tsr_dicom_helper_close(&helper);
    free(t->frame);
    return status;
}

static void say(const tsr_dicom_study *s, int64_t twice)
{
    const char *name = tsr_input_name(s->input);
    if (s->file[0].segmentation == TSR_DICOM_FRACTIONS)
        tsr_remark("%s: the segments are fractions: half and more is the label (options.series reads one segment as it is)", name);
    if (twice)
        tsr_remark("%s: segments overlap in %lld voxels, which have the greatest number (options.series reads one segment alone)", name,
                   (long long)twice);
}

static tsr_status read_labels(tsr_dicom_study *s, const tsr_dicom_frame **order, const tsr_dicom_data *d, tsr_volume **volume)
{
    tsr_layout layout = { .size = { s->file[0].columns, s->file[0].rows, 0 } };
    tsr_geometry geometry;
    tsr_block block;
    int64_t bytes;
    grid g = { .slices = 0 };
    TSR_TRY(make_grid(s, order, &g));
    place(&g, &geometry);
    layout.size.z = g.slices;
    layout.dtype = g.highest > 255 ? TSR_U16 : TSR_U8;
    TSR_TRY(tsr_voxel_bytes(s->input, layout.dtype, layout.size, &bytes));
    TSR_TRY(tsr_input_allocate(s->input, bytes, "labels", &block));
    target t = { .dtype = layout.dtype, .to = (uint8_t *)block.data };
    const tsr_status status = fill(s, &g, d, &t);
    if (status != TSR_OK) tsr_block_release(&block);
    TSR_TRY(status);
    TSR_TRY(tsr_volume_of_block(s->input, &layout, &geometry, &block, volume));
    TSR_TRY(tsr_dicom_meta(d, *volume));
    TSR_TRY(tsr_volume_set_unit(*volume, "mm"));
    say(s, t.twice);
    return TSR_OK;
}

tsr_status tsr_dicom_read_labels(tsr_dicom_study *s, const tsr_read_options *options, tsr_volume **volume)
{
    const uint8_t *bytes;
    size_t size;
    tsr_dicom_data d;
    const int64_t limit = options->memory_limit ? options->memory_limit : tsr_physical_memory();
    if (tsr_input_settings(s->input)->place)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: a DICOM segmentation cannot be read in pieces, convert the file first", tsr_input_name(s->input));
    tsr_input *file = NULL;
    tsr_status status;
    const tsr_dicom_frame **order = (const tsr_dicom_frame **)malloc((size_t)s->frames.count * sizeof *order);
    if (!order) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld frames", tsr_input_name(s->input), (long long)s->frames.count);
    d = (tsr_dicom_data){ 0 };
    if (s->file[0].path) TSR_TRY_GOTO(tsr_input_open(s->file[0].path, NULL, &file), done);
    TSR_TRY_GOTO(tsr_input_all(file ? file : s->input, &bytes, &size), done);
    TSR_TRY_GOTO(tsr_dicom_parse(tsr_input_name(s->input), bytes, (int64_t)size, limit, &d), done);
    TSR_TRY_GOTO(read_labels(s, order, &d, volume), done);
    if (options->box_given) TSR_TRY_GOTO(tsr_box_cut(tsr_input_name(s->input), options->box, volume), done);
done:
    tsr_dicom_free(&d);
    tsr_input_close(&file);
    free(order);
    return status;
}
