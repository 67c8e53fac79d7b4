/* What a data set says of its pixels and of the place of each picture: image modules, multi-frame functional groups (PS3.3 C.7.6). */
#include "formats/dicom/dicom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VR TSR_DICOM_VR
#define US VR('U', 'S')
#define DS VR('D', 'S')
#define IS VR('I', 'S')
#define FD VR('F', 'D')
#define UL VR('U', 'L')

static double number(const tsr_dicom_data *d, int32_t item, uint32_t tag, uint16_t vr, double otherwise)
{
    double value;
    return tsr_dicom_number(d, tsr_dicom_find(d, item, tag), vr, 0, &value) ? value : otherwise;
}

/* ---- pixels ---------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_count(const tsr_dicom_data *d, uint32_t tag, const char *what, int32_t otherwise, int32_t least, int32_t most, int32_t *value)
{
    const double given = number(d, -1, tag, US, otherwise);
    if (given < least || given > most || given != floor(given))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: %s is %g, expected %d to %d", d->name, what, given, least, most);
    *value = (int32_t)given;
    return TSR_OK;
}

static tsr_status take_color(const tsr_dicom_data *d, tsr_dicom_file *f)
{
    static const struct {
        const char *name;
        tsr_dicom_color color;
        int samples;
    } known[] = { { "MONOCHROME2", TSR_DICOM_GREY, 1 }, { "MONOCHROME1", TSR_DICOM_GREY_INVERSE, 1 }, { "RGB", TSR_DICOM_RGB, 3 },
                  { "YBR_FULL", TSR_DICOM_YBR, 3 },     { "YBR_FULL_422", TSR_DICOM_YBR_422, 3 },     { "YBR_ICT", TSR_DICOM_RGB, 3 },
                  { "YBR_RCT", TSR_DICOM_RGB, 3 },      { "PALETTE COLOR", TSR_DICOM_PALETTE, 1 },    { "", TSR_DICOM_GREY, 1 } };
    tsr_dicom_text(d, -1, 0x00280004, f->color_name, sizeof f->color_name);
    f->color = TSR_DICOM_OTHER;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].name, f->color_name)) continue;
        f->color = !*f->color_name && f->samples == 3 ? TSR_DICOM_RGB : known[i].color;
        if (known[i].samples != f->samples && *f->color_name)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: %d samples per pixel of photometric interpretation %s, expected %d", d->name, f->samples,
                     f->color_name, known[i].samples);
    }
    if (f->color == TSR_DICOM_OTHER)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: DICOM: photometric interpretation '%s', expected MONOCHROME1, MONOCHROME2, RGB, YBR_FULL, YBR_FULL_422 or PALETTE COLOR",
                 d->name, f->color_name);
    if (f->color == TSR_DICOM_YBR_422 && f->syntax == TSR_DICOM_NATIVE && (f->columns % 2 || f->allocated != 8))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: YBR_FULL_422 of %d columns and %d bits, expected an even number of 8 bits", d->name, f->columns,
                 f->allocated);
    if (f->color == TSR_DICOM_YBR_422 && f->syntax == TSR_DICOM_RLE) f->color = TSR_DICOM_YBR; /* its planes are whole */
    return TSR_OK;
}

/* Packed pixels: which items are of which frame. `items`: how many there are behind the table of offsets. */
static tsr_status take_fragments(const tsr_dicom_data *d, int32_t element, tsr_dicom_file *f)
{
    const int32_t table = tsr_dicom_item(d, element, 0), extended = tsr_dicom_find(d, -1, 0x7FE00001);
    int64_t items = 0, given = 0;
    if (table < 0) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: packed pixels without a table of offsets", d->name);
    for (int32_t i = d->element[table].after; i < d->element[element].after; i = d->element[i].after) items++;
    if (!items) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: packed pixels without a piece", d->name);
    if (f->frames > items) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: %d frames in %lld pieces of packed pixels", d->name, f->frames, (long long)items);
    f->fragment = (int64_t *)malloc(((size_t)f->frames + 1) * sizeof *f->fragment);
    if (!f->fragment) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %d frames", d->name, f->frames);
    const int64_t first = d->element[d->element[table].after].at - 8, wide = extended >= 0 && d->element[table].bytes < 4;
    const uint8_t *offsets = d->bytes + (wide ? d->element[extended].at : d->element[table].at);
    const int64_t known = wide ? d->element[extended].bytes / 8 : d->element[table].bytes / 4;
    for (int32_t i = d->element[table].after; i < d->element[element].after && given < f->frames; i = d->element[i].after) {
        const tsr_dicom_element *e = &d->element[i];
        const uint8_t *p = d->bytes + e->at;
        int starts = items == f->frames || !given;
        if (!starts && known == f->frames) {
            uint64_t offset = 0;
            for (int k = 0; k < (wide ? 8 : 4); k++) offset |= (uint64_t)offsets[given * (wide ? 8 : 4) + k] << 8 * k;
            starts = (uint64_t)(e->at - 8 - first) == offset;
        } else if (!starts) starts = f->frames > 1 && e->bytes > 3 && p[0] == 0xFF && (p[1] == 0xD8 || p[1] == 0x4F) && p[2] == 0xFF;
        if (starts) f->fragment[given++] = e->at - 8;
    }
    const tsr_dicom_element *last = &d->element[d->element[element].after - 1];
    if (given != f->frames)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: %d frames in %lld pieces of packed pixels, of which %lld begin one", d->name, f->frames,
                 (long long)items, (long long)given);
    f->fragment[given] = last->at + last->bytes;
    return TSR_OK;
}

static tsr_status take_pixels(const tsr_dicom_data *d, tsr_dicom_file *f, int *skipped)
{
    static const struct {
        uint32_t tag;
        int real;
    } kinds[] = { { 0x7FE00010, 0 }, { 0x7FE00008, 4 }, { 0x7FE00009, 8 } };
    int32_t element = -1;
    for (int k = 0; k < 3 && element < 0; k++) {
        element = tsr_dicom_find(d, -1, kinds[k].tag);
        f->real = kinds[k].real;
    }
    *skipped = element < 0;
    if (element < 0) return TSR_OK;
    TSR_TRY(take_count(d, 0x00280010, "the number of rows", 0, 1, 65535, &f->rows));
    TSR_TRY(take_count(d, 0x00280011, "the number of columns", 0, 1, 65535, &f->columns));
    TSR_TRY(take_count(d, 0x00280002, "the number of samples per pixel", 1, 1, 3, &f->samples));
    TSR_TRY(take_count(d, 0x00280100, "the number of bits allocated", 8 * f->real, 1, 64, &f->allocated));
    TSR_TRY(take_count(d, 0x00280101, "the number of bits stored", f->allocated, 1, f->allocated, &f->stored));
    TSR_TRY(take_count(d, 0x00280102, "the high bit", f->stored - 1, f->stored - 1, f->allocated - 1, &f->high));
    TSR_TRY(take_count(d, 0x00280103, "the pixel representation", 0, 0, 1, &f->is_signed));
    TSR_TRY(take_count(d, 0x00280006, "the planar configuration", 0, 0, 1, &f->planar));
    const double frames = number(d, -1, 0x00280008, IS, 1);
    if (frames < 0 || frames > 1e7) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: the number of frames is %g", d->name, frames);
    f->frames = frames < 1 ? 1 : (int32_t)frames;
    if (f->real ? f->allocated != 8 * f->real : f->allocated != 1 && f->allocated != 8 && f->allocated != 16 && f->allocated != 32)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: %d bits allocated, expected 1, 8, 16 or 32 (64 of real numbers)", d->name, f->allocated);
    TSR_TRY(take_color(d, f));
    if (f->samples > 1 && f->allocated < 8) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: colours of %d bits", d->name, f->allocated);
    const tsr_dicom_element *e = &d->element[element];
    f->words = d->big_endian && f->allocated == 8 && e->vr == VR('O', 'W');
    f->pixels = e->at;
    f->pixel_bytes = e->bytes;
    f->big_endian = d->big_endian;
    if (e->endless != (f->syntax != TSR_DICOM_NATIVE))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: transfer syntax %s, but the pixels are%s packed", d->name, f->syntax_uid, e->endless ? "" : " not");
    if (e->endless) return take_fragments(d, element, f);
    const double bits = (double)f->rows * f->columns * f->frames * f->allocated * (f->color == TSR_DICOM_YBR_422 ? 2 : f->samples);
    if ((double)f->pixel_bytes < floor((bits + 7) / 8))
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM pixels of %lld bytes, %d x %d x %d of %d bits and %d samples need %.0f", d->name,
                 (long long)f->pixel_bytes, f->frames, f->rows, f->columns, f->allocated, f->samples, floor((bits + 7) / 8));
    return TSR_OK;
}

/* A lookup table: how many entries, the first value, and how many bits they have (PS3.3 C.7.6.3.1.5). `data`: where the entries lie. */
static tsr_status take_table(const tsr_dicom_data *d, int32_t item, uint32_t describe, uint32_t data, const tsr_dicom_file *f, int32_t about[3],
                             uint16_t *to, int32_t room)
{
    double n[3];
    const int32_t from = tsr_dicom_find(d, item, data);
    if (tsr_dicom_numbers(d, item, describe, US, n, 3) != 3 || from < 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: a lookup table without its descriptor (%04x,%04x) or data", d->name, describe >> 16,
                 describe & 0xffff);
    about[0] = n[0] == 0 ? 65536 : (int32_t)n[0];
    about[1] = f->is_signed && n[1] > 32767 ? (int32_t)n[1] - 65536 : (int32_t)n[1];
    about[2] = (int32_t)n[2];
    const tsr_dicom_element *e = &d->element[from];
    const int wide = e->bytes >= 2 * (int64_t)about[0];
    if (e->bytes < about[0] || e->after != from + 1)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: truncated: DICOM: a lookup table of %lld bytes, %d entries of %d bits need more", d->name,
                 (long long)e->bytes, about[0], about[2]);
    if (!to) return TSR_OK;
    for (int32_t i = 0; i < room && i < about[0]; i++) {
        const uint8_t *p = d->bytes + e->at + (wide ? 2 * (int64_t)i : i);
        to[i] = !wide ? *p : d->big_endian ? (uint16_t)(p[0] << 8 | p[1]) : (uint16_t)(p[1] << 8 | p[0]);
    }
    return TSR_OK;
}

static tsr_status take_tables(const tsr_dicom_data *d, tsr_dicom_file *f)
{
    int32_t about[3] = { 0 };
    const int32_t sequence = tsr_dicom_find(d, -1, 0x00283000), item = tsr_dicom_item(d, sequence, 0);
    const int palette = f->color == TSR_DICOM_PALETTE;
    if (!palette && (item < 0 || f->samples > 1 || f->real)) return TSR_OK;
    if (palette && tsr_dicom_find(d, -1, 0x00281201) < 0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: a palette in segments, expected plain lookup tables", d->name);
    TSR_TRY(take_table(d, palette ? -1 : item, palette ? 0x00281101 : 0x00283002, palette ? 0x00281201 : 0x00283006, f, about, NULL, 0));
    f->entries = about[0];
    f->first = about[1];
    f->table_bits = about[2] == 8 ? 8 : 16;
    f->table_kind = palette ? 1 : 3;
    const uint32_t tables = palette ? 3 : 1;
    f->table = (uint16_t *)calloc(tables * (size_t)f->entries, sizeof *f->table);
    if (!f->table) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a lookup table", d->name);
    for (uint32_t c = 0; c < tables; c++)
        TSR_TRY(take_table(d, palette ? -1 : item, palette ? 0x00281101 + c : 0x00283002, palette ? 0x00281201 + c : 0x00283006, f, about,
                           f->table + c * (size_t)f->entries, f->entries));
    return TSR_OK;
}

/* ---- places ------------------------------------------------------------------------------------------------------------------------------------------ */

/* The item that holds what `group` says of a frame: its own, or that of all. */
static int32_t group_of(const tsr_dicom_data *d, int32_t own, int32_t shared, uint32_t group)
{
    int32_t item = own < 0 ? -1 : tsr_dicom_item(d, tsr_dicom_find(d, own, group), 0);
    return item < 0 && shared >= 0 ? tsr_dicom_item(d, tsr_dicom_find(d, shared, group), 0) : item;
}

/* A length of 3 numbers becomes 1: 0 if it has none. */
static int normalise(double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    if (!(length > 0.5 && length < 2)) return 0;
    for (int k = 0; k < 3; k++) v[k] /= length;
    return 1;
}

static void take_orientation(const tsr_dicom_data *d, int32_t item, tsr_dicom_frame *f)
{
    double n[6];
    if (tsr_dicom_numbers(d, item, 0x00200037, DS, n, 6) != 6) return;
    if (!normalise(n) || !normalise(n + 3) || fabs(n[0] * n[3] + n[1] * n[4] + n[2] * n[5]) > 0.01) return;
    memcpy(f->row, n, sizeof f->row);
    memcpy(f->column, n + 3, sizeof f->column);
    f->oriented = 1;
}

/* Size and distance of pixels as an item says them. */
static void take_measures(const tsr_dicom_data *d, int32_t item, tsr_dicom_frame *f)
{
    static const uint32_t sizes[] = { 0x00280030, 0x00181164, 0x00182010 }; /* in the patient; at the detector; of a scanner */
    double n[2];
    for (int k = 0; k < 3 && !f->sized; k++) {
        if (tsr_dicom_numbers(d, item, sizes[k], DS, n, 2) != 2) continue;
        f->sized = n[0] > 0 && n[1] > 0;
        f->odd_size = !f->sized;
        for (int a = 0; a < 2 && f->sized; a++) f->size[a] = n[1 - a]; /* the distance of rows comes first */
    }
    f->thickness = fabs(number(d, item, 0x00180050, DS, f->thickness));
    f->between = number(d, item, 0x00180088, DS, f->between);
}

static void take_echo(const tsr_dicom_data *d, int32_t own, int32_t shared, tsr_dicom_frame *f)
{
    const int32_t echo = group_of(d, own, shared, 0x00189114), diffusion = group_of(d, own, shared, 0x00189117),
                  heart = group_of(d, own, shared, 0x00189118);
    if (echo >= 0) f->order[2] = number(d, echo, 0x00189082, FD, 0);
    if (heart >= 0) f->order[3] = number(d, heart, 0x00209153, FD, 0);
    if (diffusion >= 0) f->order[4] = number(d, diffusion, 0x00189087, FD, 0);
}

static void take_groups(const tsr_dicom_data *d, int32_t own, int32_t shared, tsr_dicom_frame *f)
{
    const int32_t place = group_of(d, own, shared, 0x00209113), turn = group_of(d, own, shared, 0x00209116),
                  measures = group_of(d, own, shared, 0x00289110), values = group_of(d, own, shared, 0x00289145),
                  content = group_of(d, own, shared, 0x00209111), segment = group_of(d, own, shared, 0x0062000A);
    if (place >= 0) f->placed = tsr_dicom_numbers(d, place, 0x00200032, DS, f->position, 3) == 3;
    if (turn >= 0) take_orientation(d, turn, f);
    if (measures >= 0) take_measures(d, measures, f);
    if (values >= 0) {
        f->slope = number(d, values, 0x00281053, DS, f->slope);
        f->intercept = number(d, values, 0x00281052, DS, f->intercept);
    }
    if (content >= 0) {
        char stack[20];
        f->order[0] = number(d, content, 0x00209128, UL, 0);
        f->order[1] = number(d, content, 0x00209156, US, 0);
        tsr_dicom_text(d, content, 0x00209056, stack, sizeof stack);
        for (int k = 0; stack[k]; k++) f->stack = (int32_t)((uint32_t)f->stack * 31u + (unsigned char)stack[k]);
    }
    if (segment >= 0) f->stack = (int32_t)number(d, segment, 0x0062000B, US, 0);
    take_echo(d, own, shared, f);
}

/* What the data set says of all its frames. */
static void take_plain(const tsr_dicom_data *d, tsr_dicom_frame *f)
{
    const int32_t detector = tsr_dicom_item(d, tsr_dicom_find(d, -1, 0x00540022), 0),
                  region = tsr_dicom_item(d, tsr_dicom_find(d, -1, 0x00186011), 0);
    f->slope = number(d, -1, 0x00281053, DS, number(d, -1, 0x3004000E, DS, 1)); /* or the dose of a step */
    f->intercept = number(d, -1, 0x00281052, DS, 0);
    f->placed = tsr_dicom_numbers(d, -1, 0x00200032, DS, f->position, 3) == 3 ||
                (detector >= 0 && tsr_dicom_numbers(d, detector, 0x00200032, DS, f->position, 3) == 3);
    take_orientation(d, -1, f);
    if (!f->oriented && detector >= 0) take_orientation(d, detector, f);
    take_measures(d, -1, f);
    const double dx = region >= 0 ? number(d, region, 0x0018602C, FD, 0) : 0, dy = region >= 0 ? number(d, region, 0x0018602E, FD, 0) : 0;
    if (!f->sized && dx > 0 && dy > 0 && number(d, region, 0x00186024, US, 0) == 3) { /* centimetres of an ultrasound region */
        f->size[0] = 10 * dx;
        f->size[1] = 10 * dy;
        f->sized = 1;
    }
    f->order[0] = number(d, -1, 0x00200100, IS, 0);
    f->order[1] = number(d, -1, 0x00200012, IS, 0);
    f->order[2] = number(d, -1, 0x00180081, DS, 0);
    f->order[3] = number(d, -1, 0x00181060, DS, 0);
    f->order[4] = number(d, -1, 0x00189087, FD, 0);
    f->order[5] = number(d, -1, 0x00200013, IS, 0);
}

/* Frames without groups of their own: nuclear medicine counts slices, dose grids say their offsets. */
static void move_frame(const tsr_dicom_data *d, const tsr_dicom_file *file, tsr_dicom_frame *f)
{
    const double normal[3] = { f->row[1] * f->column[2] - f->row[2] * f->column[1], f->row[2] * f->column[0] - f->row[0] * f->column[2],
                               f->row[0] * f->column[1] - f->row[1] * f->column[0] };
    double offset, slice;
    const int32_t offsets = tsr_dicom_find(d, -1, 0x3004000C), slices = tsr_dicom_find(d, -1, 0x00540080);
    if (file->frames == 1 || !f->placed || !f->oriented || file->cine) return;
    if (tsr_dicom_number(d, offsets, DS, f->number, &offset)) {
        double from;
        if (tsr_dicom_number(d, offsets, DS, 0, &from) && from != 0) offset -= from;
    } else {
        const double step = f->between != 0 ? f->between : f->thickness > 0 ? f->thickness : 1;
        offset = step * (tsr_dicom_number(d, slices, US, f->number, &slice) ? slice - 1 : f->number);
    }
    for (int k = 0; k < 3; k++) f->position[k] += offset * normal[k];
}

static tsr_status add_frames(const tsr_dicom_data *d, int32_t number_of_file, tsr_dicom_file *file, tsr_dicom_frames *frames)
{
    const int32_t own = tsr_dicom_find(d, -1, 0x52009230), shared = tsr_dicom_item(d, tsr_dicom_find(d, -1, 0x52009229), 0);
    tsr_dicom_frame all = { .file = number_of_file, .slope = 1, .size = { 1, 1 } };
    double bytes[1];
    take_plain(d, &all);
    const int32_t increment = tsr_dicom_find(d, -1, 0x00280009);
    file->cine = file->frames > 1 && own < 0 &&
                 (tsr_dicom_find(d, -1, 0x00181063) >= 0 || tsr_dicom_find(d, -1, 0x00181065) >= 0 || tsr_dicom_find(d, -1, 0x00180040) >= 0 ||
                  (tsr_dicom_number(d, increment, VR('A', 'T'), 0, bytes) && (bytes[0] == 0x00181063 || bytes[0] == 0x00181065)));
    if (frames->count + file->frames > frames->room) {
        const int64_t room = tsr_max64(2 * frames->room, frames->count + file->frames + 64);
        tsr_dicom_frame *grown = (tsr_dicom_frame *)realloc(frames->at, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld pictures", d->name, (long long)room);
        frames->at = grown;
        frames->room = room;
    }
    int32_t item = own < 0 ? -1 : own + 1, end = own < 0 ? -1 : d->element[own].after;
    for (int32_t k = 0; k < file->frames; k++) {
        tsr_dicom_frame *f = &frames->at[frames->count];
        *f = all;
        f->number = k;
        const int there = item >= 0 && item < end && d->element[item].tag == TSR_DICOM_ITEM;
        if (own >= 0 && !there) TSR_FAIL(TSR_ERROR_FORMAT, "%s: DICOM: %d frames, but functional groups of %d", d->name, file->frames, k);
        if (own >= 0 || shared >= 0) take_groups(d, there ? item : -1, shared, f);
        if (there) item = d->element[item].after;
        else move_frame(d, file, f);
        if (!f->oriented && f->placed) {
            f->row[0] = f->column[1] = 1;
            f->row[1] = f->row[2] = f->column[0] = f->column[2] = 0;
        }
        if (f->slope == 0 || f->slope - f->slope != 0 || f->intercept - f->intercept != 0) f->slope = 1, f->intercept = 0;
        frames->count++;
    }
    return TSR_OK;
}

tsr_status tsr_dicom_file_read(const tsr_dicom_data *d, int32_t number_of_file, tsr_dicom_file *f, tsr_dicom_frames *frames, int *skipped)
{
    f->syntax = d->syntax;
    f->deflated = d->inflated != NULL;
    memcpy(f->syntax_uid, d->syntax_uid, sizeof f->syntax_uid);
    TSR_TRY(take_pixels(d, f, skipped));
    if (*skipped) return TSR_OK;
    tsr_dicom_text(d, -1, 0x0020000E, f->series, sizeof f->series);
    tsr_dicom_text(d, -1, 0x00080018, f->instance, sizeof f->instance);
    tsr_dicom_text(d, -1, 0x00080008, f->type, sizeof f->type);
    f->series_number = (int32_t)fmax(-1e9, fmin(1e9, number(d, -1, 0x00200011, IS, 0)));
    TSR_TRY(take_tables(d, f));
    tsr_dicom_take_segmentation(d, f);
    TSR_TRY(add_frames(d, number_of_file, f, frames));
    return TSR_OK;
}

void tsr_dicom_file_free(tsr_dicom_file *f)
{
    free(f->path);
    free(f->fragment);
    free(f->table);
    *f = (tsr_dicom_file){ 0 };
}

/* ---- what is kept beside the voxels ------------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_dicom_meta(const tsr_dicom_data *d, tsr_volume *volume)
{
    static const struct {
        uint32_t tag;
        const char *key;
    } kept[] = { { 0x00080060, "dicom.Modality" },
                 { 0x0008103E, "dicom.SeriesDescription" },
                 { 0x00181030, "dicom.ProtocolName" },
                 { 0x00080008, "dicom.ImageType" },
                 { 0x0020000D, "dicom.StudyInstanceUID" },
                 { 0x0020000E, "dicom.SeriesInstanceUID" },
                 { 0x00200052, "dicom.FrameOfReferenceUID" },
                 { 0x00200011, "dicom.SeriesNumber" },
                 { 0x00080070, "dicom.Manufacturer" },
                 { 0x00081090, "dicom.ManufacturerModelName" },
                 { 0x00180015, "dicom.BodyPartExamined" },
                 { 0x00185100, "dicom.PatientPosition" },
                 { 0x00180060, "dicom.KVP" },
                 { 0x00181120, "dicom.GantryDetectorTilt" },
                 { 0x00181210, "dicom.ConvolutionKernel" },
                 { 0x00180080, "dicom.RepetitionTime" },
                 { 0x00180081, "dicom.EchoTime" },
                 { 0x00180082, "dicom.InversionTime" },
                 { 0x00181314, "dicom.FlipAngle" },
                 { 0x00180087, "dicom.MagneticFieldStrength" },
                 { 0x00541001, "dicom.Units" },
                 { 0x30040002, "dicom.DoseUnits" },
                 { 0x00281050, "dicom.WindowCenter" },
                 { 0x00281051, "dicom.WindowWidth" },
                 { 0x00281054, "dicom.RescaleType" },
                 { 0x00280004, "dicom.PhotometricInterpretation" } };
    char text[256], source[120];
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (*tsr_dicom_text(d, -1, kept[i].tag, text, sizeof text)) TSR_TRY(tsr_volume_set_meta(volume, kept[i].key, text));
    TSR_TRY(tsr_dicom_segment_names(d, volume));
    const int32_t padding = tsr_dicom_find(d, -1, 0x00280120);
    double value;
    if (tsr_dicom_number(d, padding, US, 0, &value)) {
        if (number(d, -1, 0x00280103, US, 0) > 0 && value > 32767) value -= 65536;
        snprintf(text, sizeof text, "%.0f", value);
        TSR_TRY(tsr_volume_set_meta(volume, "dicom.PixelPaddingValue", text));
    }
    tsr_dicom_text(d, -1, 0x0020000E, text, 66);
    snprintf(source, sizeof source, "DICOM series %.66s", text); /* 80 characters of a NIfTI header say where it comes from */
    if (*text) TSR_TRY(tsr_volume_set_meta(volume, "nifti.descrip", source));
    return TSR_OK;
}
