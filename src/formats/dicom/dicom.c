/* DICOM: volumes out of files and folders. */
#include "formats/dicom/dicom.h"

#include "core/parallel.h"
#include "io/signatures.h"
#include "formats/contents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int recognise(const tsr_signature *s) { return tsr_signature_is_dicom(s->head, s->head_bytes) ? TSR_SURELY_MINE : TSR_NOT_MINE; }

/* What a thread has open. */
typedef struct hand {
    tsr_input *input;
    tsr_dicom_data data; /* of a deflated file */
    int32_t file;
    const uint8_t *bytes;
    int64_t size;
    tsr_dicom_helper *helper;
    uint8_t *scratch;
} hand;

typedef struct reader {
    tsr_dicom_study study;
    const tsr_dicom_series *series;
    const tsr_dicom_file *file; /* the first of the series: shape and kind are those of all */
    int scaled;                 /* slope and intercept differ: voxels are real values */
    int32_t channels;
    size_t element; /* of the file's samples */
    hand *hands;
    int threads;
    /* what is read at the moment */
    int64_t start[5], count[5], stride[5], first; /* t z y x c */
    uint8_t *to;
    int failed;
} reader;

static void hand_drop(hand *h)
{
    tsr_dicom_free(&h->data);
    tsr_input_close(&h->input);
    h->bytes = NULL;
}

static void close_reader(void *user)
{
    reader *r = (reader *)user;
    for (int k = 0; r->hands && k < r->threads; k++) {
        hand_drop(&r->hands[k]);
        tsr_dicom_helper_close(&r->hands[k].helper);
        free(r->hands[k].scratch);
    }
    free(r->hands);
    tsr_dicom_study_close(&r->study);
    free(r);
}

/* The content of a file of the study. */
static tsr_status hand_open(reader *r, hand *h, int32_t number)
{
    const tsr_dicom_file *f = &r->study.file[number];
    tsr_input *input = r->study.input;
    size_t size;
    if (h->bytes && h->file == number) return TSR_OK;
    hand_drop(h);
    tsr_input_options settings = *tsr_input_settings(input);
    settings.place = NULL;
    settings.progress = NULL;
    if (f->path) {
        settings.regular_only = 1;
        TSR_TRY(tsr_input_open(f->path, &settings, &h->input));
        input = h->input;
    }
    TSR_TRY(tsr_input_all(input, &h->bytes, &size));
    h->size = (int64_t)size;
    if (f->deflated) {
        const int64_t limit = settings.memory_limit ? settings.memory_limit : tsr_physical_memory();
        TSR_TRY(tsr_dicom_parse(f->path ? f->path : tsr_input_name(input), h->bytes, h->size, limit, &h->data));
        h->bytes = h->data.bytes;
        h->size = h->data.size;
    }
    h->file = number;
    return TSR_OK;
}

/* Real values of a picture with a scaling of its own. */
static double sample_of(tsr_dtype dtype, const uint8_t *at)
{
    uint16_t two;
    uint32_t four;
    double eight;
    float real;
    switch (dtype) {
    case TSR_U8: return (double)*at;
    case TSR_I8: return (double)(int8_t)*at;
    case TSR_U16: memcpy(&two, at, 2); return (double)two;
    case TSR_I16: memcpy(&two, at, 2); return (double)(int16_t)two;
    case TSR_U32: memcpy(&four, at, 4); return (double)four;
    case TSR_I32: memcpy(&four, at, 4); return (double)(int32_t)four;
    case TSR_F32: memcpy(&real, at, 4); return (double)real;
    default: memcpy(&eight, at, 8); return eight;
    }
}

/* Of a picture that is missing: zeros. */
static void clear_picture(const reader *r, uint8_t *to)
{
    for (int64_t y = 0; y < r->count[2]; y++)
        for (int64_t x = 0; x < r->count[3]; x++)
            for (int64_t c = 0; c < r->count[4]; c++)
                memset(to + y * r->stride[2] + x * r->stride[3] + c * r->stride[4], 0, r->scaled ? 4 : r->element);
}

/* The part of one picture that is asked for. */
static tsr_status read_picture(reader *r, hand *h, int64_t k)
{
    const int64_t t = r->start[0] + k / r->count[1], z = r->start[1] + k % r->count[1], number = r->series->frame[t * r->series->slices + z];
    uint8_t *to = r->to + (k / r->count[1]) * r->stride[0] + (k % r->count[1]) * r->stride[1];
    if (number < 0) {
        clear_picture(r, to);
        return TSR_OK;
    }
    const tsr_dicom_frame *frame = &r->study.frames.at[number];
    const tsr_dicom_file *f = &r->study.file[frame->file];
    const int64_t samples = (int64_t)f->rows * f->columns * r->channels;
    const int64_t c = (int64_t)r->element, from_stride[3] = { f->columns * r->channels * c, r->channels * c, c };
    const int whole = !r->scaled && r->count[2] == f->rows && r->count[3] == f->columns && r->count[4] == r->channels && r->stride[4] == c &&
                      r->stride[3] == c * r->channels && r->stride[2] == r->stride[3] * f->columns;
    TSR_TRY(hand_open(r, h, frame->file));
    if (!whole && !h->scratch) h->scratch = (uint8_t *)malloc((size_t)samples * r->element);
    if (!whole && !h->scratch) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for a picture", tsr_input_name(r->study.input));
    TSR_TRY(tsr_dicom_frame_read(f, f->path ? f->path : tsr_input_name(r->study.input), h->bytes, h->size, frame->number, &h->helper,
                                 whole ? to : h->scratch));
    if (whole) return TSR_OK;
    const uint8_t *from = h->scratch + r->start[2] * from_stride[0] + r->start[3] * from_stride[1] + r->start[4] * from_stride[2];
    if (!r->scaled) {
        tsr_stored_copy(3, r->count + 2, from, from_stride, to, r->stride + 2, r->element);
        return TSR_OK;
    }
    const tsr_dtype dtype = tsr_dicom_dtype(f);
    for (int64_t y = 0; y < r->count[2]; y++)
        for (int64_t x = 0; x < r->count[3]; x++) {
            const float value = (float)(frame->slope * sample_of(dtype, from + y * from_stride[0] + x * from_stride[1]) + frame->intercept);
            memcpy(to + y * r->stride[2] + x * r->stride[3], &value, 4);
        }
    return TSR_OK;
}

static void read_pictures(void *user, int64_t begin, int64_t end, int worker)
{
    reader *r = (reader *)user;
    for (int64_t k = begin; k < end; k++)
        if (read_picture(r, &r->hands[worker], r->first + k) != TSR_OK) __atomic_store_n(&r->failed, 1, __ATOMIC_RELAXED);
}

static tsr_status read_box(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    enum { TOGETHER = 64 };
    reader *r = (reader *)user;
    const tsr_progress *progress = tsr_input_settings(r->study.input)->progress;
    int a = 0;
    for (int k = 0; k < 5; k++) { /* axes that the array does not have are of one sample */
        const int there = k == 0 ? r->series->frames > 1 : k == 4 ? r->channels > 1 : 1;
        r->start[k] = there ? start[a] : 0;
        r->count[k] = there ? count[a] : 1;
        r->stride[k] = there ? stride[a] : 0;
        a += there;
    }
    if (r->channels == 1) r->stride[4] = (int64_t)r->element;
    const int64_t all = r->count[0] * r->count[1];
    r->to = to;
    r->failed = 0;
    for (r->first = 0; r->first < all && !r->failed; r->first += TOGETHER) {
        tsr_parallel(r->threads, tsr_min64(TOGETHER, all - r->first), 1, read_pictures, r);
        TSR_PROGRESS(progress, 0.5 + 0.5 * (double)r->first / (double)all, "reading");
    }
    for (int64_t k = 0; k < all && r->failed; k++) TSR_TRY(read_picture(r, &r->hands[0], k)); /* again, for its message */
    return TSR_OK;
}

/* ---- the choice ------------------------------------------------------------------------------------------------------------------------------------- */

static void describe(const tsr_dicom_study *s, int64_t k, tsr_contents_entry *e, char name[24], char type[600])
{
    const tsr_dicom_series *series = &s->series[k];
    const tsr_dicom_file *f = &s->file[s->frames.at[tsr_dicom_slice_picture(series, 0)].file];
    const int64_t sizes[5] = { series->frames, series->slices, f->rows, f->columns, tsr_dicom_channels(f) };
    snprintf(name, 24, "%lld", (long long)k);
    snprintf(type, 600, "%s%s%s%s%s", tsr_dtype_name(tsr_dicom_dtype(f)), *series->label ? " " : "", series->label,
             *series->why ? "; not read: " : "", series->why);
    *e = (tsr_contents_entry){ .kind = "series", .name = name, .type = type };
    for (int a = 0; a < 5; a++)
        if (a == 1 ? series->slices > 1 : (a != 0 && a != 4) || sizes[a] > 1) e->size[e->axes++] = sizes[a];
}

/* "CT 3 'Chest 1.0'": what people know a series by. */
static void label(tsr_dicom_study *s)
{
    for (int64_t k = 0; k < s->count; k++) {
        const int32_t number = s->frames.at[tsr_dicom_slice_picture(&s->series[k], 0)].file;
        reader one = { .study = { .input = s->input, .file = s->file } };
        hand h = { 0 };
        tsr_dicom_data data;
        char modality[20], text[70];
        if (hand_open(&one, &h, number) == TSR_OK) {
            const int deflated = s->file[number].deflated;
            if (deflated || tsr_dicom_parse("", h.bytes, h.size, 1 << 20, &data) == TSR_OK) {
                const tsr_dicom_data *d = deflated ? &h.data : &data;
                tsr_dicom_text(d, -1, 0x00080060, modality, sizeof modality);
                tsr_dicom_text(d, -1, 0x0008103E, text, sizeof text);
                if (s->file[number].segmentation)
                    tsr_dicom_segment_name(d, s->frames.at[tsr_dicom_slice_picture(&s->series[k], 0)].stack, text, sizeof text);
                snprintf(s->series[k].label, sizeof s->series[k].label, "%s %d%s%s%s", modality, s->file[number].series_number, *text ? " '" : "",
                         text, *text ? "'" : "");
                if (!deflated) tsr_dicom_free(&data);
            }
        }
        hand_drop(&h);
    }
}

static tsr_status list_all(const tsr_dicom_study *s, tsr_contents *contents)
{
    for (int64_t k = 0; k < s->count; k++) {
        tsr_contents_entry e;
        char name[24], type[600];
        describe(s, k, &e, name, type);
        TSR_TRY(tsr_contents_add(contents, &e));
    }
    return TSR_OK;
}

static tsr_status list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents)
{
    tsr_dicom_study study;
    (void)options;
    TSR_TRY(tsr_dicom_study_open(input, &study));
    label(&study);
    tsr_status status = TSR_OK;
    if (study.count > 1) status = list_all(&study, contents);
    tsr_dicom_study_close(&study);
    return status;
}

/* The series that the options name, or the only one of several slices. */
static tsr_status choose(tsr_dicom_study *s, const tsr_read_options *options, int64_t *number)
{
    const char *name = tsr_input_name(s->input);
    tsr_contents *contents = NULL;
    char text[900];
    int64_t stacks = 0;
    *number = options->series;
    if (options->series_given) {
        if (options->series < 0 || options->series >= s->count)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: options.series is %lld, expected 0 to %lld", name, (long long)options->series, (long long)s->count - 1);
        return TSR_OK;
    }
    *number = 0;
    for (int64_t k = 0; k < s->count; k++)
        if (s->series[k].slices * s->series[k].frames > 1 && !stacks++) *number = k;
    if (s->count == 1) return TSR_OK;
    if (stacks == 1) {
        tsr_remark("%s: of %lld series number %lld is read, the only one of several pictures (options.series chooses another)", name,
                   (long long)s->count, (long long)*number);
        return TSR_OK;
    }
    label(s);
    TSR_TRY(tsr_contents_create(&contents));
    const tsr_status status = list_all(s, contents);
    if (status == TSR_OK) tsr_contents_show(contents, "series", text, sizeof text);
    tsr_contents_destroy(&contents);
    TSR_TRY(status);
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: holds %lld DICOM series, a volume is one of them: options.series says which: %s", name, (long long)s->count,
             text);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------------------ */

/* Scaling and metadata; r->scaled where the pictures do not share the scaling. */
static tsr_status take_header(reader *r, tsr_volume *holder)
{
    const tsr_dicom_study *s = &r->study;
    const int64_t pictures = r->series->frames * r->series->slices;
    const tsr_dicom_frame *first = &s->frames.at[tsr_dicom_slice_picture(r->series, 0)];
    hand h = { 0 };
    tsr_dicom_data data = { 0 };
    tsr_status status;
    r->scaled = 0;
    for (int64_t k = 1; k < pictures && r->channels == 1 && !r->file->table_kind; k++) {
        const int64_t number = r->series->frame[k];
        const tsr_dicom_frame *f = number < 0 ? first : &s->frames.at[number];
        r->scaled |= f->slope != first->slope || f->intercept != first->intercept;
    }
    if (!r->scaled && r->channels == 1 && !r->file->table_kind) TSR_TRY(tsr_volume_set_scaling(holder, first->slope, first->intercept));
    TSR_TRY_GOTO(hand_open(r, &h, first->file), done);
    if (!r->file->deflated) TSR_TRY_GOTO(tsr_dicom_parse(tsr_input_name(s->input), h.bytes, h.size, 1 << 20, &data), done);
    TSR_TRY_GOTO(tsr_dicom_meta(r->file->deflated ? &h.data : &data, holder), done);
    if (first->placed || first->sized) TSR_TRY_GOTO(tsr_volume_set_unit(holder, "mm"), done);
done:
    tsr_dicom_free(&data);
    hand_drop(&h);
    return status;
}

/* The first picture that is not there. */
static void say_gap(const reader *r)
{
    const tsr_dicom_series *s = r->series;
    int64_t k = 0;
    while (s->frame[k] >= 0) k++;
    tsr_remark("%s: DICOM: %lld of %lld pictures are missing, the first that of slice %lld in frame %lld: their stored values are 0",
               tsr_input_name(r->study.input), (long long)s->missing, (long long)(s->frames * s->slices), (long long)(k % s->slices),
               (long long)(k / s->slices));
}

static void say(const reader *r)
{
    const char *name = tsr_input_name(r->study.input);
    const tsr_dicom_file *f = r->file;
    const tsr_dicom_frame *frame = &r->study.frames.at[tsr_dicom_slice_picture(r->series, 0)];
    if (r->series->missing) say_gap(r);
    if (frame->odd_size && !frame->sized) tsr_remark("%s: DICOM: the distance of pixels is said to be 0 or less: they are taken to be 1 apart", name);
    if (r->study.doubles)
        tsr_remark("%s: %lld pictures are there twice (the same SOP instance) and are read once", name, (long long)r->study.doubles);
    if (f->color == TSR_DICOM_GREY_INVERSE) tsr_remark("%s: MONOCHROME1: small values are meant to be shown white; the values are as stored", name);
    if (strstr(f->type, "MOSAIC")) tsr_remark("%s: a Siemens mosaic: the slices lie side by side in one picture; dcm2niix takes them apart", name);
    if (r->scaled) tsr_remark("%s: slope and intercept differ from picture to picture: the voxels are real values (f32)", name);
}

static void make_array(reader *r, tsr_stored *a)
{
    static const char roles[] = "tzyxc";
    const int64_t size[5] = { r->series->frames, r->series->slices, r->file->rows, r->file->columns, r->channels };
    *a = (tsr_stored){
        .dtype = r->scaled ? TSR_F32 : tsr_dicom_dtype(r->file), .field = "the DICOM series", .user = r, .read = read_box, .close = close_reader
    };
    for (int k = 0; k < 5; k++) {
        if ((k == 0 && r->series->frames == 1) || (k == 4 && r->channels == 1)) continue;
        a->role[a->axes] = roles[k];
        a->size[a->axes] = size[k];
        a->chunk[a->axes++] = k < 2 ? 1 : size[k];
    }
    a->color = r->channels > 1 && r->series->slices == 1;
    if (a->color) a->role[a->axes - 4] = '.'; /* the one slice; its place goes to the channels */
}

static tsr_status prepare(reader *r, const tsr_read_options *options, tsr_volume *holder, tsr_geometry *geometry)
{
    int64_t number;
    TSR_TRY(choose(&r->study, options, &number));
    r->series = &r->study.series[number];
    if (*r->series->why)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM series %lld: %s", tsr_input_name(r->study.input), (long long)number, r->series->why);
    r->file = &r->study.file[r->study.frames.at[tsr_dicom_slice_picture(r->series, 0)].file];
    r->channels = tsr_dicom_channels(r->file);
    const tsr_dtype dtype = tsr_dicom_dtype(r->file);
    r->element = tsr_dtype_size(dtype);
    const int64_t n = r->series->slices, from = options->box_given ? tsr_max64(0, tsr_min64(options->box[0].z, n - 1)) : 0,
                  to = options->box_given ? tsr_max64(from + 1, tsr_min64(options->box[1].z, n)) : n;
    TSR_TRY(take_header(r, holder));
    TSR_TRY(tsr_dicom_place(&r->study, r->series, from, to, geometry));
    say(r);
    r->threads = tsr_parallel_default_threads();
    r->hands = (hand *)calloc((size_t)r->threads, sizeof *r->hands);
    if (!r->hands) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(r->study.input));
    return TSR_OK;
}

static tsr_status read_volume(tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    reader *r = (reader *)calloc(1, sizeof *r);
    tsr_volume *holder = NULL;
    tsr_geometry geometry;
    tsr_stored array;
    *volume = NULL;
    if (!r) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    tsr_status status = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1, 1, 1 }, NULL, &holder);
    if (status == TSR_OK) status = tsr_dicom_study_open(input, &r->study);
    if (status == TSR_OK && r->study.files == 1 && r->study.file[0].segmentation && options->series_given != 1) {
        status = tsr_dicom_read_labels(&r->study, options, volume);
        close_reader(r);
        tsr_volume_destroy(&holder);
        if (status != TSR_OK) tsr_volume_destroy(volume);
        TSR_TRY(status);
        return TSR_OK;
    }
    if (status == TSR_OK) status = prepare(r, options, holder, &geometry);
    if (status == TSR_OK) {
        make_array(r, &array);
        status = tsr_stored_volume(&array, input, options, &geometry, volume);
    } else close_reader(r);
    if (status == TSR_OK) status = tsr_volume_take_header(*volume, holder);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    TSR_TRY(status);
    return TSR_OK;
}

const tsr_format tsr_format_dicom = { .name = "dicom",
                                      .kind = TSR_FILE_VOLUME,
                                      .extensions = { ".dcm", ".dicom", ".ima" },
                                      .recognise = recognise,
                                      .boxes = 1,
                                      .units = TSR_UNITS_MM,
                                      .read_volume = read_volume,
                                      .series = 1,
                                      .list = list };
