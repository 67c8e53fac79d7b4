/* A volume of labels as a DICOM segmentation of bits (PS3.3 A.51): a segment for each label, a frame for each slice that a segment is in, in the patient, the study
 * and the frame of reference of the series that was segmented that was given. Explicit little-endian. */
#define _DEFAULT_SOURCE /* getentropy */
#include "formats/dicom/dicom.h"

#include "core/number.h"
#include "tessera/labels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VR(text) TSR_DICOM_VR((text)[0], (text)[1])
#define SOP_SEGMENTATION "1.2.840.10008.5.1.4.1.1.66.4"
enum { LABELS_MOST = 65535 };

/* ---- a data set as it grows ------------------------------------------------------------------------------------------------------------------------- */

typedef struct writing {
    const char *path;
    const tsr_volume *labels;
    uint8_t *bytes;
    size_t used, room;
    int failed; /* no memory */
} writing;

static void put(writing *w, const void *bytes, size_t size)
{
    if (w->failed) return;
    if (w->room - w->used < size) {
        const size_t room = 2 * w->room + size + 4096;
        uint8_t *grown = (uint8_t *)realloc(w->bytes, room);
        w->failed = !grown;
        if (!grown) return;
        w->bytes = grown;
        w->room = room;
    }
    memcpy(w->bytes + w->used, bytes, size);
    w->used += size;
}
static void put16(writing *w, uint32_t v) { put(w, (const uint8_t[2]){ (uint8_t)v, (uint8_t)(v >> 8) }, 2); }
static void put32(writing *w, uint32_t v) { put16(w, v & 0xffff), put16(w, v >> 16); }
static void put_tag(writing *w, uint32_t tag) { put16(w, tag >> 16), put16(w, tag & 0xffff); }

static void put_head(writing *w, uint32_t tag, const char vr[3], uint32_t bytes)
{
    static const char wide[] = "OB OW SQ UT UN";
    put_tag(w, tag);
    put(w, vr, 2);
    if (!strstr(wide, vr)) {
        put16(w, bytes);
        return;
    }
    put16(w, 0);
    put32(w, bytes);
}

static void put_text(writing *w, uint32_t tag, const char vr[3], const char *text)
{
    const size_t n = strlen(text);
    put_head(w, tag, vr, (uint32_t)(n + n % 2));
    put(w, text, n);
    if (n % 2) put(w, strcmp(vr, "UI") ? " " : "\0", 1);
}
static void put_us(writing *w, uint32_t tag, uint32_t value)
{
    put_head(w, tag, "US", 2);
    put16(w, value);
}

/* Decimal text of 16 characters at most, as near as that allows. */
static void put_numbers(writing *w, uint32_t tag, const double *value, int count)
{
    char text[120] = "";
    for (int k = 0; k < count; k++) {
        char own[32];
        int digits = 17;
        do {
            tsr_print(own, sizeof own, "%.*g", digits--, value[k]);
        } while (strlen(own) > 16);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? "\\" : "", own);
    }
    put_text(w, tag, "DS", text);
}

/* Sequences and items of undefined length, which their marks end. */
static void begin_sequence(writing *w, uint32_t tag) { put_head(w, tag, "SQ", 0xFFFFFFFFu); }
static void end_sequence(writing *w) { put_tag(w, 0xFFFEE0DD), put32(w, 0); }
static void begin_item(writing *w) { put_tag(w, TSR_DICOM_ITEM), put32(w, 0xFFFFFFFFu); }
static void end_item(writing *w) { put_tag(w, 0xFFFEE00D), put32(w, 0); }

static void put_code(writing *w, uint32_t tag, const char *value, const char *scheme, const char *meaning)
{
    begin_sequence(w, tag);
    begin_item(w);
    put_text(w, 0x00080100, "SH", value);
    put_text(w, 0x00080102, "SH", scheme);
    put_text(w, 0x00080104, "LO", meaning);
    end_item(w);
    end_sequence(w);
}

/* 2.25. and a random number of 128 bits in decimal (PS3.5 B.2). */
static void make_uid(char text[66])
{
    uint8_t random[16];
    uint32_t part[4] = { 0 };
    char digits[48];
    int n = 0;
    if (getentropy(random, sizeof random))
        for (size_t k = 0; k < sizeof random; k++) random[k] = (uint8_t)(rand() >> 7 ^ (int)((uintptr_t)text >> k) ^ (int)time(NULL));
    memcpy(part, random, sizeof part);
    part[0] &= 0x7fffffff;
    do { /* long division by 10 */
        uint64_t rest = 0;
        for (int k = 0; k < 4; k++) {
            rest = rest << 32 | part[k];
            part[k] = (uint32_t)(rest / 10);
            rest %= 10;
        }
        digits[n++] = (char)('0' + rest);
    } while (part[0] | part[1] | part[2] | part[3]);
    int used = snprintf(text, 66, "2.25.");
    while (n) text[used++] = digits[--n];
    text[used] = 0;
}

/* ---- the series that was segmented -------------------------------------------------------------------------------------------------------------------- */

typedef struct source {
    tsr_dicom_study study;
    const tsr_dicom_series *series;
    tsr_input *input;    /* the first file of the series ... */
    tsr_dicom_data data; /* ... and what it says */
    char sop[68], series_uid[68];
} source;

static tsr_status open_source(const char *path, const char *name, source *s, tsr_input **whole)
{
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_open(name, NULL, whole));
    TSR_TRY(tsr_dicom_study_open(*whole, &s->study));
    for (int64_t k = 0; k < s->study.count; k++) /* the longest */
        if (!s->series || s->study.series[k].slices > s->series->slices) s->series = &s->study.series[k];
    if (!s->series) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: '%s' holds no series", path, name);
    const tsr_dicom_file *file = &s->study.file[s->study.frames.at[tsr_dicom_slice_picture(s->series, 0)].file];
    if (file->path) TSR_TRY(tsr_input_open(file->path, NULL, &s->input));
    tsr_input *first = s->input ? s->input : *whole;
    TSR_TRY(tsr_input_all(first, &bytes, &size));
    TSR_TRY(tsr_dicom_parse(tsr_input_name(first), bytes, (int64_t)size, tsr_physical_memory(), &s->data));
    tsr_dicom_text(&s->data, -1, 0x00080016, s->sop, sizeof s->sop);
    tsr_dicom_text(&s->data, -1, 0x0020000E, s->series_uid, sizeof s->series_uid);
    return TSR_OK;
}

static void close_source(source *s)
{
    tsr_dicom_free(&s->data);
    tsr_input_close(&s->input);
    tsr_dicom_study_close(&s->study);
}

/* What the series says of it, or nothing. */
static void put_theirs(writing *w, const source *s, uint32_t tag, const char vr[3])
{
    char text[200];
    put_text(w, tag, vr, tsr_dicom_text(&s->data, -1, tag, text, sizeof text));
}

/* The picture of the source that lies where a slice does: its file; NULL: none does. */
static const tsr_dicom_file *source_at(const source *s, const double position[3], double near)
{
    for (int64_t k = 0; k < s->series->slices; k++) {
        const int64_t picture = tsr_dicom_slice_picture(s->series, k);
        if (picture < 0) continue; /* a slice without the segment */
        const tsr_dicom_frame *f = &s->study.frames.at[picture];
        double square = 0;
        for (int d = 0; d < 3; d++) square += (f->position[d] - position[d]) * (f->position[d] - position[d]);
        if (f->placed && square <= near * near) return &s->study.file[f->file];
    }
    return NULL;
}

/* ---- what is written ------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct segments {
    int32_t count;
    int32_t *value;  /* of the labels, the least first */
    int32_t *number; /* of a value, from 1; 0: it does not occur */
    int64_t frames;
    uint8_t *there; /* segment by segment: is it in the slice? */
} segments;

static int32_t label_at(const tsr_volume *v, int64_t i)
{
    return v->dtype == TSR_U8 ? ((const uint8_t *)v->data)[i] : ((const uint16_t *)v->data)[i];
}

static tsr_status find_segments(const writing *w, segments *s)
{
    const tsr_volume *v = w->labels;
    const int64_t plane = v->size.x * v->size.y;
    s->number = (int32_t *)calloc(LABELS_MOST + 1, sizeof *s->number);
    s->value = (int32_t *)calloc(LABELS_MOST + 1, sizeof *s->value);
    if (!s->number || !s->value) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    for (int64_t i = 0; i < plane * v->size.z; i++) s->number[label_at(v, i)] = 1;
    s->number[0] = 0;
    for (int32_t k = 1; k <= LABELS_MOST; k++)
        if (s->number[k]) {
            s->value[s->count] = k;
            s->number[k] = ++s->count;
        }
    if (!s->count) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the volume has no label: all voxels are 0, a DICOM segmentation needs a segment", w->path);
    s->there = (uint8_t *)calloc((size_t)s->count * (size_t)v->size.z, 1);
    if (!s->there) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %d segments", w->path, s->count);
    for (int64_t i = 0; i < plane * v->size.z; i++) {
        const int32_t number = s->number[label_at(v, i)];
        if (number) s->there[(int64_t)(number - 1) * v->size.z + i / plane] = 1;
    }
    for (int64_t i = 0; i < s->count * v->size.z; i++) s->frames += s->there[i];
    if (s->value[s->count - 1] != s->count)
        tsr_remark("%s: DICOM counts segments from 1 without gaps: label %d is segment %d; the number of a label is in the segment's description",
                   w->path, s->value[s->count - 1], s->count);
    return TSR_OK;
}

static void put_meta_head(writing *w, const char *instance)
{
    uint8_t preamble[132] = { 0 };
    memcpy(preamble + 128, "DICM", 4);
    put(w, preamble, sizeof preamble);
    put_head(w, 0x00020000, "UL", 4);
    const size_t at = w->used;
    put32(w, 0);
    put_head(w, 0x00020001, "OB", 2);
    put16(w, 0x0100);
    put_text(w, 0x00020002, "UI", SOP_SEGMENTATION);
    put_text(w, 0x00020003, "UI", instance);
    put_text(w, 0x00020010, "UI", "1.2.840.10008.1.2.1");
    put_text(w, 0x00020012, "UI", "2.25.215239860433519423046719498063498543121");
    put_text(w, 0x00020013, "SH", "TESSERA");
    const uint32_t bytes = (uint32_t)(w->used - at - 4);
    for (int k = 0; k < 4 && !w->failed; k++) w->bytes[at + (size_t)k] = (uint8_t)(bytes >> 8 * k);
}

static void put_referenced_series(writing *w, const source *s)
{
    int32_t last = -1;
    begin_sequence(w, 0x00081115);
    begin_item(w);
    begin_sequence(w, 0x0008114A);
    for (int64_t k = 0; k < s->series->slices; k++) {
        const int64_t picture = tsr_dicom_slice_picture(s->series, k);
        const int32_t file = picture < 0 ? last : s->study.frames.at[picture].file;
        if (file == last) continue;
        begin_item(w);
        put_text(w, 0x00081150, "UI", s->sop);
        put_text(w, 0x00081155, "UI", s->study.file[last = file].instance);
        end_item(w);
    }
    end_sequence(w);
    put_text(w, 0x0020000E, "UI", s->series_uid);
    end_item(w);
    end_sequence(w);
}

static void put_general(writing *w, const source *s, const char *instance)
{
    char date[16], moment[16];
    const time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(date, sizeof date, "%Y%m%d", &local);
    strftime(moment, sizeof moment, "%H%M%S", &local);
    put_text(w, 0x00080005, "CS", "ISO_IR 192");
    put_text(w, 0x00080008, "CS", "DERIVED\\PRIMARY");
    put_text(w, 0x00080016, "UI", SOP_SEGMENTATION);
    put_text(w, 0x00080018, "UI", instance);
    put_theirs(w, s, 0x00080020, "DA");
    put_text(w, 0x00080021, "DA", date);
    put_text(w, 0x00080023, "DA", date);
    put_theirs(w, s, 0x00080030, "TM");
    put_text(w, 0x00080031, "TM", moment);
    put_text(w, 0x00080033, "TM", moment);
    put_theirs(w, s, 0x00080050, "SH");
    put_text(w, 0x00080060, "CS", "SEG");
    put_text(w, 0x00080070, "LO", "tessera");
    put_theirs(w, s, 0x00080090, "PN");
    put_text(w, 0x0008103E, "LO", "Segmentation");
    put_text(w, 0x00081090, "LO", "tessera");
    put_referenced_series(w, s);
    put_theirs(w, s, 0x00100010, "PN");
    put_theirs(w, s, 0x00100020, "LO");
    put_theirs(w, s, 0x00100030, "DA");
    put_theirs(w, s, 0x00100040, "CS");
    put_text(w, 0x00181000, "LO", "1");
    char version[40];
    snprintf(version, sizeof version, "%d.%d.%d", TSR_VERSION_MAJOR, TSR_VERSION_MINOR, TSR_VERSION_PATCH);
    put_text(w, 0x00181020, "LO", version);
}

static void put_dimensions(writing *w, const char *organization)
{
    static const struct {
        uint32_t element, group;
    } indices[] = { { 0x0062000B, 0x0062000A }, { 0x00200032, 0x00209113 } };
    begin_sequence(w, 0x00209221);
    begin_item(w);
    put_text(w, 0x00209164, "UI", organization);
    end_item(w);
    end_sequence(w);
    begin_sequence(w, 0x00209222);
    for (int k = 0; k < 2; k++) {
        begin_item(w);
        put_text(w, 0x00209164, "UI", organization);
        put_head(w, 0x00209165, "AT", 4);
        put_tag(w, indices[k].element);
        put_head(w, 0x00209167, "AT", 4);
        put_tag(w, indices[k].group);
        put_text(w, 0x00209421, "LO", k ? "Position" : "Segment");
        end_item(w);
    }
    end_sequence(w);
}

static void put_relations(writing *w, const source *s)
{
    char series[66], organization[66];
    make_uid(series);
    make_uid(organization);
    put_theirs(w, s, 0x0020000D, "UI");
    put_text(w, 0x0020000E, "UI", series);
    put_theirs(w, s, 0x00200010, "SH");
    put_text(w, 0x00200011, "IS", "100");
    put_text(w, 0x00200013, "IS", "1");
    put_theirs(w, s, 0x00200052, "UI");
    put_theirs(w, s, 0x00201040, "LO");
    put_dimensions(w, organization);
}

static void put_image(writing *w, const segments *g)
{
    char text[24];
    put_us(w, 0x00280002, 1);
    put_text(w, 0x00280004, "CS", "MONOCHROME2");
    snprintf(text, sizeof text, "%lld", (long long)g->frames);
    put_text(w, 0x00280008, "IS", text);
    put_us(w, 0x00280010, (uint32_t)w->labels->size.y);
    put_us(w, 0x00280011, (uint32_t)w->labels->size.x);
    put_us(w, 0x00280100, 1);
    put_us(w, 0x00280101, 1);
    put_us(w, 0x00280102, 0);
    put_us(w, 0x00280103, 0);
    put_text(w, 0x00282110, "CS", "00");
}

static void put_segments(writing *w, const segments *g, const tsr_label_names *names)
{
    put_text(w, 0x00620001, "CS", "BINARY");
    begin_sequence(w, 0x00620002);
    for (int32_t k = 0; k < g->count; k++) {
        char label[65], description[64];
        const char *name = tsr_label_name(names, g->value[k]);
        snprintf(description, sizeof description, "label %d", g->value[k]);
        snprintf(label, sizeof label, "%s", name ? name : description);
        for (char *c = label; *c; c++) *c = *c == '\\' ? '/' : *c; /* which parts values */
        begin_item(w);
        put_code(w, 0x00620003, "91723000", "SCT", "Anatomical Structure");
        put_us(w, 0x00620004, (uint32_t)k + 1);
        put_text(w, 0x00620005, "LO", label);
        put_text(w, 0x00620006, "ST", description);
        put_text(w, 0x00620008, "CS", "SEMIAUTOMATIC");
        put_text(w, 0x00620009, "LO", "tessera");
        put_code(w, 0x0062000F, "85756007", "SCT", "Tissue");
        end_item(w);
    }
    end_sequence(w);
    put_text(w, 0x00700080, "CS", "SEGMENTATION");
    put_text(w, 0x00700081, "LO", "Segmentation");
    put_text(w, 0x00700084, "PN", "tessera");
}

static void put_shared(writing *w, const tsr_geometry *g, tsr_vec3 h, double between)
{
    const double turn[6] = { g->affine[0][0] / h.x, g->affine[1][0] / h.x, g->affine[2][0] / h.x,
                             g->affine[0][1] / h.y, g->affine[1][1] / h.y, g->affine[2][1] / h.y },
                 size[2] = { h.y, h.x };
    begin_sequence(w, 0x52009229);
    begin_item(w);
    begin_sequence(w, 0x00209116);
    begin_item(w);
    put_numbers(w, 0x00200037, turn, 6);
    end_item(w);
    end_sequence(w);
    begin_sequence(w, 0x00289110);
    begin_item(w);
    put_numbers(w, 0x00180050, &between, 1);
    put_numbers(w, 0x00180088, &between, 1);
    put_numbers(w, 0x00280030, size, 2);
    end_item(w);
    end_sequence(w);
    end_item(w);
    end_sequence(w);
}

static void put_derivation(writing *w, const source *s, const tsr_dicom_file *from)
{
    begin_sequence(w, 0x00089124);
    if (from) {
        begin_item(w);
        begin_sequence(w, 0x00082112);
        begin_item(w);
        put_text(w, 0x00081150, "UI", s->sop);
        put_text(w, 0x00081155, "UI", from->instance);
        put_code(w, 0x0040A170, "121322", "DCM", "Source image for image processing operation");
        end_item(w);
        end_sequence(w);
        put_code(w, 0x00089215, "113076", "DCM", "Segmentation");
        end_item(w);
    }
    end_sequence(w);
}

static void put_frames(writing *w, const source *s, const segments *g, const tsr_geometry *geometry, double between)
{
    begin_sequence(w, 0x52009230);
    for (int32_t k = 0; k < g->count; k++)
        for (int64_t z = 0; z < w->labels->size.z; z++) {
            double position[3];
            if (!g->there[k * w->labels->size.z + z]) continue;
            for (int d = 0; d < 3; d++) position[d] = geometry->affine[d][3] + (double)z * geometry->affine[d][2];
            begin_item(w);
            put_derivation(w, s, source_at(s, position, 0.01 * between));
            begin_sequence(w, 0x00209111);
            begin_item(w);
            put_head(w, 0x00209157, "UL", 8);
            put32(w, (uint32_t)k + 1);
            put32(w, (uint32_t)z + 1);
            end_item(w);
            end_sequence(w);
            begin_sequence(w, 0x00209113);
            begin_item(w);
            put_numbers(w, 0x00200032, position, 3);
            end_item(w);
            end_sequence(w);
            begin_sequence(w, 0x0062000A);
            begin_item(w);
            put_us(w, 0x0062000B, (uint32_t)k + 1);
            end_item(w);
            end_sequence(w);
            end_item(w);
        }
    end_sequence(w);
}

static tsr_status put_pixels(writing *w, const segments *g)
{
    const tsr_size3 n = w->labels->size;
    const int64_t plane = n.x * n.y, bits = plane * g->frames, bytes = (bits + 15) / 16 * 2;
    if (bytes > 0xFFFFFFFEll)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld frames of %lld voxels are more than the 4 GiB that a DICOM file may hold", w->path,
                 (long long)g->frames, (long long)plane);
    uint8_t *packed = (uint8_t *)calloc((size_t)bytes, 1);
    if (!packed) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld bytes", w->path, (long long)bytes);
    int64_t frame = 0;
    for (int32_t k = 0; k < g->count; k++)
        for (int64_t z = 0; z < n.z; z++) {
            if (!g->there[k * n.z + z]) continue;
            for (int64_t i = 0, at = frame * plane; i < plane; i++, at++)
                if (label_at(w->labels, z * plane + i) == g->value[k]) packed[at >> 3] = (uint8_t)(packed[at >> 3] | 1 << (at & 7));
            frame++;
        }
    put_head(w, 0x7FE00010, "OB", (uint32_t)bytes);
    put(w, packed, (size_t)bytes);
    free(packed);
    return TSR_OK;
}

/* Planes at right angles, in axes of the patient. */
static tsr_status check_geometry(const writing *w, tsr_geometry *g, tsr_vec3 *h, double *between)
{
    const tsr_volume *v = w->labels;
    if (v->size.x > 65535 || v->size.y > 65535)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld x %lld voxels a slice, DICOM counts to 65535", w->path, (long long)v->size.x, (long long)v->size.y);
    if (v->geometry.space == TSR_SPACE_NONE)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the axes of the volume are those of no patient (space RAS or LPS): a DICOM segmentation needs them",
                 w->path);
    *g = tsr_geometry_convert(&v->geometry, TSR_SPACE_LPS);
    *h = tsr_geometry_spacing(g);
    double dot = 0, n[3], cross = 0;
    for (int d = 0; d < 3; d++) dot += g->affine[d][0] * g->affine[d][1] / (h->x * h->y);
    for (int d = 0; d < 3; d++) {
        const int a = (d + 1) % 3, b = (d + 2) % 3;
        n[d] = (g->affine[a][0] * g->affine[b][1] - g->affine[b][0] * g->affine[a][1]) / (h->x * h->y);
        cross += n[d] * g->affine[d][2];
    }
    *between = fabs(cross);
    if (fabs(dot) > 1e-3) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: rows and columns are not at right angles, which DICOM cannot say", w->path);
    return TSR_OK;
}

static tsr_status build(writing *w, const source *s, const tsr_label_names *names, segments *g)
{
    tsr_geometry geometry = { .space = TSR_SPACE_NONE };
    tsr_vec3 h = { 1, 1, 1 };
    double between = 1;
    char instance[66];
    TSR_TRY(check_geometry(w, &geometry, &h, &between));
    TSR_TRY(find_segments(w, g));
    make_uid(instance);
    put_meta_head(w, instance);
    put_general(w, s, instance);
    put_relations(w, s);
    put_image(w, g);
    put_segments(w, g, names);
    put_shared(w, &geometry, h, between);
    put_frames(w, s, g, &geometry, between);
    TSR_TRY(put_pixels(w, g));
    if (w->failed) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", w->path);
    return TSR_OK;
}

tsr_status tsr_dicom_write_labels(const tsr_volume *labels, const char *from, const char *path, const tsr_write_options *options)
{
    writing w = { .path = path, .labels = labels };
    source s = { .series = NULL };
    segments g = { 0 };
    tsr_input *whole = NULL;
    tsr_label_names *names = NULL;
    tsr_output *output = NULL;
    tsr_status status;
    TSR_TRY(tsr_require_unscaled(labels, path, "a DICOM segmentation"));
    TSR_TRY_GOTO(tsr_label_names_of_volume(labels, &names), done);
    TSR_TRY_GOTO(open_source(path, from, &s, &whole), done);
    TSR_TRY_GOTO(build(&w, &s, names, &g), done);
    TSR_TRY_GOTO(tsr_output_open(path, options, &output), done);
    TSR_TRY_GOTO(tsr_output_finish(&output, tsr_output_write(output, w.bytes, w.used)), done);
done:
    tsr_label_names_destroy(&names);
    close_source(&s);
    tsr_input_close(&whole);
    free(g.number);
    free(g.value);
    free(g.there);
    free(w.bytes);
    return status;
}
