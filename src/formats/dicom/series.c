/* Which pictures make a volume: those of one series, of one shape and kind, with one orientation. They are sorted by their places along the normal (PS3.3
 * C.7.6.2.1.1), not by their numbers; several pictures of every place are frames. */
#include "formats/dicom/dicom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_MOST 1e-3   /* between normals and rows of one orientation, as the length of a difference */
#define SIZE_MOST 1e-3   /* between pixel sizes, as a part */
#define UNEVEN_SAID 0.01 /* deviation from even spacing, as a part of it: said from here on ... */
#define UNEVEN_MOST 0.05 /* ... and refused */
#define TILT_SAID 0.1    /* degrees */
#define SEGMENT_SLICES (1 << 24) /* of all segments of a file together */

static void normal_of(const tsr_dicom_frame *f, double n[3])
{
    n[0] = f->row[1] * f->column[2] - f->row[2] * f->column[1];
    n[1] = f->row[2] * f->column[0] - f->row[0] * f->column[2];
    n[2] = f->row[0] * f->column[1] - f->row[1] * f->column[0];
}

/* ---- what belongs together ------------------------------------------------------------------------------------------------------------------------- */

typedef struct entry {
    const tsr_dicom_frame *frame;
    const tsr_dicom_file *file;
    int64_t number, cluster;
} entry;

#define COMPARE(a, b)                              \
    do {                                           \
        if ((a) != (b)) return (a) < (b) ? -1 : 1; \
    } while (0)

/* What is the same, exactly, in all pictures of a volume. */
static int compare_kind(const entry *a, const entry *b)
{
    const tsr_dicom_file *f = a->file, *g = b->file;
    COMPARE(f->series_number, g->series_number);
    int order = strcmp(f->series, g->series);
    if (!order) order = strcmp(f->type, g->type);
    if (order) return order;
    COMPARE(f->rows, g->rows);
    COMPARE(f->columns, g->columns);
    COMPARE(f->allocated, g->allocated);
    COMPARE(f->is_signed, g->is_signed);
    COMPARE(f->real, g->real);
    COMPARE(f->color, g->color);
    COMPARE(f->samples, g->samples);
    COMPARE(f->table_kind, g->table_kind);
    COMPARE(f->table_bits, g->table_bits);
    COMPARE(a->frame->stack, b->frame->stack);
    COMPARE(a->frame->placed, b->frame->placed);
    COMPARE(f->cine ? a->frame->file : -1, g->cine ? b->frame->file : -1);
    return 0;
}
static int by_kind(const void *a, const void *b)
{
    const int order = compare_kind((const entry *)a, (const entry *)b);
    if (order) return order;
    COMPARE(((const entry *)a)->number, ((const entry *)b)->number);
    return 0;
}

static double apart(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}
static int is_like(const tsr_dicom_frame *a, const tsr_dicom_frame *b)
{
    if (a->placed && (apart(a->row, b->row) > TURN_MOST || apart(a->column, b->column) > TURN_MOST)) return 0;
    return fabs(a->size[0] - b->size[0]) <= SIZE_MOST * a->size[0] && fabs(a->size[1] - b->size[1]) <= SIZE_MOST * a->size[1];
}

static int by_cluster(const void *a, const void *b)
{
    COMPARE(((const entry *)a)->cluster, ((const entry *)b)->cluster);
    COMPARE(((const entry *)a)->number, ((const entry *)b)->number);
    return 0;
}

/* Numbers entries that lie in one direction; *clusters goes on counting. */
static tsr_status cluster(entry *e, int64_t count, int64_t *clusters)
{
    enum { MOST = 4096 };
    int64_t head[MOST], n = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = 0;
        while (k < n && !is_like(e[head[k]].frame, e[i].frame)) k++;
        if (k == MOST) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "DICOM: a series of more than %d orientations", MOST);
        if (k == n) head[n++] = i;
        e[i].cluster = *clusters + k;
    }
    *clusters += n;
    return TSR_OK;
}

static int by_instance(const void *a, const void *b)
{
    const entry *x = (const entry *)a, *y = (const entry *)b;
    const int order = strcmp(x->file->instance, y->file->instance);
    if (order) return order;
    COMPARE(x->frame->number, y->frame->number);
    COMPARE(x->number, y->number);
    return 0;
}

/* The same picture in two files is one. */
static int64_t drop_doubles(entry *e, int64_t count)
{
    int64_t kept = 0;
    qsort(e, (size_t)count, sizeof *e, by_instance);
    for (int64_t i = 0; i < count; i++) {
        const int same = kept && *e[i].file->instance && !strcmp(e[kept - 1].file->instance, e[i].file->instance) &&
                         e[kept - 1].frame->number == e[i].frame->number;
        if (!same) e[kept++] = e[i];
    }
    return kept;
}

/* ---- order within a volume ---------------------------------------------------------------------------------------------------------------------------- */

static int compare_order(const tsr_dicom_frame *a, const tsr_dicom_frame *b)
{
    for (int k = 0; k < 6; k++) COMPARE(a->order[k], b->order[k]);
    COMPARE(a->file, b->file);
    COMPARE(a->number, b->number);
    return 0;
}
static int by_place(const void *a, const void *b)
{
    const tsr_dicom_frame *x = ((const entry *)a)->frame, *y = ((const entry *)b)->frame;
    COMPARE(x->along, y->along);
    return compare_order(x, y);
}
static int by_order(const void *a, const void *b) { return compare_order(((const entry *)a)->frame, ((const entry *)b)->frame); }
static int by_number(const void *a, const void *b)
{
    const tsr_dicom_frame *x = ((const entry *)a)->frame, *y = ((const entry *)b)->frame;
    COMPARE(x->order[5], y->order[5]);
    COMPARE(x->file, y->file);
    COMPARE(x->number, y->number);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    COMPARE(*(const double *)a, *(const double *)b);
    return 0;
}

/* The frame of each entry of a series in which places have different numbers of pictures: by what tells the pictures of one place apart (temporal position,
 * acquisition ...), if it has as many values as the fullest place has pictures. */
static int frames_of_values(const entry *e, int64_t count, int key, int64_t frames, double *value)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) value[i] = e[i].frame->order[key];
    qsort(value, (size_t)count, sizeof *value, by_value);
    for (int64_t i = 0; i < count; i++)
        if (!n || value[n - 1] != value[i]) value[n++] = value[i];
    return n == frames;
}

/* Puts the entries into frames, with gaps; `slice` says the place of each. 0: two pictures claim the same place of the same frame. */
static int fill_frames(const entry *e, int64_t count, const int64_t *slice, int key, const double *value, tsr_dicom_series *s)
{
    for (int64_t i = 0; i < s->frames * s->slices; i++) s->frame[i] = -1;
    for (int64_t i = 0; i < count; i++) {
        const double *at = (const double *)bsearch(&e[i].frame->order[key], value, (size_t)s->frames, sizeof *value, by_value);
        if (!at) return 0;
        int64_t *to = &s->frame[(at - value) * s->slices + slice[i]];
        if (*to >= 0) return 0;
        *to = e[i].number;
    }
    return 1;
}

/* A series of which single pictures are missing: at most a quarter of them. */
static tsr_status fold_with_gaps(const entry *e, int64_t count, const int64_t *slice, int64_t slices, int64_t most, tsr_dicom_series *s)
{
    int64_t all;
    if (__builtin_mul_overflow(slices, most, &all) || count < all - all / 4) return TSR_OK;
    double *value = (double *)malloc((size_t)count * sizeof *value);
    int64_t *frame = (int64_t *)realloc(s->frame, (size_t)all * sizeof *frame);
    if (frame) s->frame = frame;
    if (!value || !frame) {
        free(value);
        TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a series of %lld pictures", (long long)count);
    }
    s->frames = most;
    s->slices = slices;
    for (int key = 0; key < 5 && !s->missing; key++)
        if (frames_of_values(e, count, key, most, value) && fill_frames(e, count, slice, key, value, s)) s->missing = all - count;
    free(value);
    return TSR_OK;
}

/* Entries of one place each, several times over: frames x slices. `e` is sorted along the normal. */
static tsr_status fold(entry *e, int64_t count, tsr_dicom_series *s)
{
    const double range = e[count - 1].frame->along - e[0].frame->along, near = fmax(1e-5, 0.02 * range / (double)tsr_max64(count - 1, 1));
    int64_t slices = 0, most = 0, least = count, poorest = 0;
    int64_t *slice = (int64_t *)malloc((size_t)count * sizeof *slice);
    if (!slice) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a series of %lld pictures", (long long)count);
    for (int64_t i = 0, j; i < count; i = j, slices++) {
        for (j = i + 1; j < count && e[j].frame->along - e[j - 1].frame->along <= near;) j++;
        qsort(e + i, (size_t)(j - i), sizeof *e, by_order);
        for (int64_t k = i; k < j; k++) slice[k] = slices;
        if (j - i > most) most = j - i;
        if (j - i < least) least = j - i, poorest = i;
    }
    tsr_status status = TSR_OK;
    if (most != least) status = fold_with_gaps(e, count, slice, slices, most, s);
    free(slice);
    if (status != TSR_OK || s->missing) return status;
    s->slices = most == least ? slices : count;
    s->frames = most == least ? most : 1;
    for (int64_t i = 0; i < count; i++) s->frame[i % s->frames * s->slices + i / s->frames] = e[i].number;
    if (most != least)
        snprintf(
            s->why, sizeof s->why,
            "at the place %.6g along the normal (instance number %.0f) it has %lld picture%s, at others %lld, and nothing says which of them are "
            "missing: there twice, or of different kinds?",
            e[poorest].frame->along, e[poorest].frame->order[5], (long long)least, least == 1 ? "" : "s", (long long)most);
    return TSR_OK;
}

/* One segment of a segmentation: slices in which it has nothing are not in the file, and their places are left empty. `room`: the most slices. 0 in *folded: its
 * pictures do not lie on one grid. */
static tsr_status fold_segment(const entry *e, int64_t count, int64_t room, tsr_dicom_series *s, int *folded)
{
    const tsr_dicom_frame *first = e[0].frame;
    double least = HUGE_VAL;
    for (int64_t i = 1; i < count; i++) least = fmin(least, e[i].frame->along - e[i - 1].frame->along);
    *folded = 0;
    const double step = first->between > 0 ? first->between : least, slices = (e[count - 1].frame->along - first->along) / step;
    if (!(step > 0) || !(slices < (double)room - 1)) return TSR_OK;
    const int64_t n = (int64_t)llround(slices) + 1;
    int64_t *frame = (int64_t *)realloc(s->frame, (size_t)tsr_max64(n, count) * sizeof *frame);
    if (!frame) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld slices of a segment", (long long)n);
    s->frame = frame;
    for (int64_t k = 0; k < n; k++) frame[k] = -1;
    for (int64_t i = 0; i < count; i++) {
        const double at = (e[i].frame->along - first->along) / step;
        const int64_t k = (int64_t)llround(at);
        if (fabs(at - (double)k) > UNEVEN_MOST || frame[k] >= 0) return TSR_OK;
        frame[k] = e[i].number;
    }
    s->frames = 1;
    s->slices = n;
    *folded = 1;
    return TSR_OK;
}

/* `room`: the most slices of a segment. */
static tsr_status make_series(entry *e, int64_t count, int64_t room, tsr_dicom_study *study, tsr_dicom_series *s)
{
    const tsr_dicom_file *file = e[0].file;
    s->unplaced = !e[0].frame->placed;
    s->frame = (int64_t *)malloc((size_t)count * sizeof *s->frame);
    if (!s->frame) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for a series of %lld pictures", (long long)count);
    if (s->unplaced || file->cine) {
        const int in_time = file->cine || tsr_dicom_channels(file) > 1;
        qsort(e, (size_t)count, sizeof *e, by_number);
        s->frames = in_time ? count : 1;
        s->slices = in_time ? 1 : count;
        for (int64_t i = 0; i < count; i++) s->frame[i] = e[i].number;
        return TSR_OK;
    }
    double n[3];
    normal_of(e[0].frame, n); /* one for all: theirs differ in the last digits */
    for (int64_t i = 0; i < count; i++) {
        tsr_dicom_frame *f = &study->frames.at[e[i].number];
        f->along = n[0] * f->position[0] + n[1] * f->position[1] + n[2] * f->position[2];
    }
    qsort(e, (size_t)count, sizeof *e, by_place);
    int folded = 0;
    if (file->segmentation && count > 1) TSR_TRY(fold_segment(e, count, room, s, &folded));
    return folded ? TSR_OK : fold(e, count, s);
}

tsr_status tsr_dicom_sort(tsr_dicom_study *study)
{
    int64_t count = study->frames.count, clusters = 0;
    entry *e = (entry *)malloc((size_t)(count + 1) * sizeof *e);
    tsr_status status = TSR_OK;
    if (!e) TSR_FAIL(TSR_ERROR_MEMORY, "out of memory for %lld pictures", (long long)count);
    for (int64_t i = 0; i < count; i++) e[i] = (entry){ &study->frames.at[i], &study->file[study->frames.at[i].file], i, 0 };
    const int64_t kept = study->files > 1 ? drop_doubles(e, count) : count;
    study->doubles = count - kept;
    count = kept;
    qsort(e, (size_t)count, sizeof *e, by_kind);
    for (int64_t i = 0, j; i < count && status == TSR_OK; i = j) {
        for (j = i + 1; j < count && !compare_kind(&e[i], &e[j]);) j++;
        status = cluster(e + i, j - i, &clusters);
    }
    qsort(e, (size_t)count, sizeof *e, by_cluster);
    study->series = (tsr_dicom_series *)calloc((size_t)clusters + 1, sizeof *study->series);
    if (!study->series && status == TSR_OK) status = TSR_FAILED(TSR_ERROR_MEMORY, "out of memory for %lld series", (long long)clusters);
    for (int64_t i = 0, j; i < count && status == TSR_OK; i = j) {
        for (j = i + 1; j < count && e[j].cluster == e[i].cluster;) j++;
        status = make_series(e + i, j - i, SEGMENT_SLICES / clusters, study, &study->series[study->count++]);
    }
    free(e);
    return status;
}

/* ---- places ---------------------------------------------------------------------------------------------------------------------------------------------- */

int64_t tsr_dicom_slice_picture(const tsr_dicom_series *s, int64_t k)
{
    int64_t t = 0;
    while (t + 1 < s->frames && s->frame[t * s->slices + k] < 0) t++;
    return s->frame[t * s->slices + k];
}

/* Is a slice one in which a segment has nothing? It lies where the others say. */
static int is_empty(const tsr_dicom_series *s, int64_t k) { return tsr_dicom_slice_picture(s, k) < 0; }

static const tsr_dicom_frame *slice_at(const tsr_dicom_study *study, const tsr_dicom_series *s, int64_t k)
{
    return &study->frames.at[tsr_dicom_slice_picture(s, k)];
}

/* The gap that says most: between slices [*at, *at + 1], and the usual one. */
static double oddest_gap(const tsr_dicom_study *study, const tsr_dicom_series *s, int64_t from, int64_t to, int64_t *at, double *usual)
{
    double least = HUGE_VAL, odd = 0;
    for (int64_t k = from; k + 1 < to; k++) least = fmin(least, slice_at(study, s, k + 1)->along - slice_at(study, s, k)->along);
    /* the median is the usual one; counting those close to the least finds it where slices are missing */
    int64_t close = 0;
    for (int64_t k = from; k + 1 < to; k++) close += slice_at(study, s, k + 1)->along - slice_at(study, s, k)->along < 1.05 * least;
    *usual = 2 * close >= to - from - 1 ? least : (slice_at(study, s, to - 1)->along - slice_at(study, s, from)->along) / (double)(to - from - 1);
    *at = from;
    for (int64_t k = from; k + 1 < to; k++) {
        const double gap = slice_at(study, s, k + 1)->along - slice_at(study, s, k)->along;
        if (fabs(gap - *usual) <= fabs(odd - *usual) && odd > 0) continue;
        odd = gap;
        *at = k;
    }
    return odd;
}

static tsr_status check_even(const tsr_dicom_study *study, const tsr_dicom_series *s, int64_t from, int64_t to, const double step[3])
{
    const char *name = tsr_input_name(study->input);
    const double *first = slice_at(study, s, from)->position, length = sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]);
    double worst = 0, usual;
    int64_t at, empty = 0;
    for (int64_t k = from; k < to; k++) {
        double expected[3];
        if (is_empty(s, k)) {
            empty++;
            continue;
        }
        for (int d = 0; d < 3; d++) expected[d] = first[d] + (double)(k - from) * step[d];
        worst = fmax(worst, apart(slice_at(study, s, k)->position, expected) / length);
    }
    if (worst <= UNEVEN_SAID) return TSR_OK;
    if (empty && worst > UNEVEN_MOST)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: DICOM: the slices of the segment lie up to %.3g of their distance, %.6g mm, off an even spacing", name,
                 worst, length);
    if (empty) {
        tsr_remark("%s: the slices of the segment are not quite evenly spaced: up to %.3g of their distance, %.6g mm, off", name, worst, length);
        return TSR_OK;
    }
    const double gap = oddest_gap(study, s, from, to, &at, &usual);
    if (worst > UNEVEN_MOST)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                 "%s: the slices are not evenly spaced: slices %lld and %lld lie %.6g mm apart, %.6g is usual%s; a box of evenly spaced slices can "
                 "be read "
                 "(options.box)",
                 name, (long long)at, (long long)at + 1, gap, usual, gap > 1.5 * usual ? " (are some missing?)" : "");
    tsr_remark("%s: the slices are not quite evenly spaced: up to %.3g of their distance off (%.6g mm between slices %lld and %lld, usual %.6g)",
               name, worst, gap, (long long)at, (long long)at + 1, usual);
    return TSR_OK;
}

tsr_status tsr_dicom_place(const tsr_dicom_study *study, const tsr_dicom_series *s, int64_t from, int64_t to, tsr_geometry *g)
{
    if (is_empty(s, from) || is_empty(s, to - 1)) from = 0, to = s->slices;
    const tsr_dicom_frame *f = slice_at(study, s, from);
    const double depth = f->between > 0 ? f->between : f->thickness > 0 ? f->thickness : 1;
    double n[3], step[3];
    *g = tsr_geometry_make((tsr_vec3){ f->size[0], f->size[1], depth }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    if (s->unplaced) {
        if (s->slices > 1)
            tsr_remark("%s: DICOM: the slices say no position: they are in the order of their numbers, %.6g apart", tsr_input_name(study->input),
                       depth);
        return TSR_OK;
    }
    normal_of(f, n);
    const tsr_dicom_frame *last = slice_at(study, s, to - 1);
    for (int d = 0; d < 3; d++) step[d] = to - from > 1 ? (last->position[d] - f->position[d]) / (double)(to - from - 1) : depth * n[d];
    if (to - from > 1) TSR_TRY(check_even(study, s, from, to, step));
    const double along = step[0] * n[0] + step[1] * n[1] + step[2] * n[2], length = sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2]),
                 tilt = acos(fmin(1, along / length)) * 180 / 3.14159265358979323846;
    if (tilt > TILT_SAID)
        tsr_remark("%s: the slices are tilted by %.4g degrees (gantry tilt): the geometry is sheared as they are", tsr_input_name(study->input),
                   tilt);
    for (int d = 0; d < 3; d++) {
        g->affine[d][0] = f->row[d] * f->size[0];
        g->affine[d][1] = f->column[d] * f->size[1];
        g->affine[d][2] = step[d];
        g->affine[d][3] = f->position[d] - (double)from * step[d];
    }
    g->space = TSR_SPACE_LPS;
    return TSR_OK;
}
