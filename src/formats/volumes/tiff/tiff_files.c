/* OME-TIFF whose planes lie in several files (one a plane, a channel, a time ...), as microscopes write it: every file beside the one that is read is opened when a box
 * meets its planes, and read like any other. A file that is missing is TSR_ERROR_IO; planes that the XML does not place are zero. */
#include "formats/volumes/tiff/tiff_pages.h"

#ifdef TSR_HAVE_TIFF

#include "core/parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct part {
    const char *name;
    tsr_input *input;
    tsr_tiff *tiff;
} part;

typedef struct tiff_files {
    tsr_input *input;
    tsr_tiff *main; /* the file that is read: its first page stands for all */
    const tsr_tiff_order *order;
    part *part;
    int64_t parts;
    int tail; /* axes behind those of the pages */
    size_t element;
    /* what is read at the moment */
    const int64_t *start, *count, *stride;
    uint8_t *to;
    int failed;
} tiff_files;

static void close_files(void *user)
{
    tiff_files *f = (tiff_files *)user;
    for (int64_t k = 0; k < f->parts; k++) {
        tsr_tiff_close(f->part[k].tiff);
        tsr_input_close(&f->part[k].input);
    }
    free(f->part);
    tsr_tiff_close(f->main);
    free(f);
}

/* One of the files as a row of pages, whatever its own description says. */
static tsr_status open_part(const tiff_files *f, part *p)
{
    char *text;
    const tsr_tiff_page *like = &f->main->page[0];
    if (p->tiff) return TSR_OK;
    TSR_TRY(tsr_input_open_beside(f->input, p->name, 0, &p->input));
    TSR_TRY(tsr_tiff_open(p->input, &p->tiff, &text));
    free(text);
    tsr_tiff *t = p->tiff;
    t->list = (int64_t *)malloc((size_t)t->pages * sizeof *t->list);
    t->own = (tsr_tiff_reader *)calloc(1, sizeof *t->own);
    if (!t->list || !t->own) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(p->input));
    for (int64_t i = 0; i < t->pages; i++) t->list[i] = i;
    t->readers = 1;
    t->listed = t->pages;
    t->notes.order = (tsr_tiff_order){ .axes = 1, .role = { 'z' }, .size = { t->pages }, .pages = t->pages };
    t->page_axes = 1;
    t->dtype = f->main->dtype;
    t->width = f->main->width, t->height = f->main->height, t->rows = f->main->rows;
    for (int64_t i = 0; i < t->pages; i++)
        if (!tsr_tiff_same_kind(like, &t->page[i]) || t->page[i].planar != like->planar)
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: TIFF: page %lld is %u x %u of %u bits, those of %s are %u x %u of %u bits", tsr_input_name(p->input),
                     (long long)i, t->page[i].width, t->page[i].height, t->page[i].bits, tsr_input_name(f->input), like->width, like->height,
                     like->bits);
    return TSR_OK;
}

/* The part of one plane that the box meets. */
static tsr_status read_plane(const tiff_files *f, int64_t number, uint8_t *to)
{
    static const uint64_t zero[2] = { 0, 0 };
    const int axes = f->order->axes, tail = f->tail;
    int64_t start[TSR_STORED_AXES] = { 0 }, count[TSR_STORED_AXES] = { 1 }, stride[TSR_STORED_AXES] = { 0 }, nothing[TSR_STORED_AXES] = { 0 };
    for (int k = 0; k < tail; k++) {
        start[1 + k] = f->start[axes + k];
        count[1 + k] = f->count[axes + k];
        stride[1 + k] = f->stride[axes + k];
    }
    if (f->order->page[number] < 0) {
        tsr_stored_copy(1 + tail, count, (const uint8_t *)zero, nothing, to, stride, f->element);
        return TSR_OK;
    }
    part *p = &f->part[f->order->file[number]];
    TSR_TRY(open_part(f, p));
    start[0] = f->order->page[number];
    if (start[0] >= p->tiff->pages)
        TSR_FAIL(TSR_ERROR_FORMAT, "%s: OME-XML of %s speaks of page %lld, the file has %lld", tsr_input_name(p->input), tsr_input_name(f->input),
                 (long long)start[0], (long long)p->tiff->pages);
    return tsr_tiff_array(p->tiff, start, count, stride, to);
}

/* The planes of the box that lie in file `only`, or in none (-1), or all (-2). */
static tsr_status read_planes(const tiff_files *f, int64_t only)
{
    const tsr_tiff_order *o = f->order;
    int64_t at[3] = { 0 };
    for (;;) {
        int64_t number = 0, below = 1;
        uint8_t *to = f->to;
        for (int k = 0; k < o->axes; k++) { /* the fastest first; the array counts the slowest first */
            const int a = o->axes - 1 - k;
            number += below * (f->start[a] + at[k]);
            below *= o->size[k];
            to += at[k] * f->stride[a];
        }
        const int64_t file = o->page[number] < 0 ? -1 : o->file[number];
        if (only == -2 || only == file) TSR_TRY(read_plane(f, number, to));
        int k = 0;
        while (k < o->axes && ++at[k] == f->count[o->axes - 1 - k]) at[k++] = 0;
        if (k == o->axes) return TSR_OK;
    }
}

static void read_files(void *user, int64_t begin, int64_t end, int worker)
{
    tiff_files *f = (tiff_files *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++)
        if (read_planes(f, k - 1) != TSR_OK) __atomic_store_n(&f->failed, 1, __ATOMIC_RELAXED);
}

static tsr_status read_box(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to)
{
    tiff_files *f = (tiff_files *)user;
    int64_t planes = 1;
    f->start = start, f->count = count, f->stride = stride, f->to = to, f->failed = 0;
    for (int k = 0; k < f->order->axes; k++) planes *= count[k];
    if (planes < 4) return read_planes(f, -2);
    tsr_parallel(tsr_parallel_default_threads(), f->parts + 1, 1, read_files, f); /* a file is one thread's */
    TSR_PROGRESS(tsr_input_settings(f->input)->progress, -1, "reading");
    return f->failed ? read_planes(f, -2) : TSR_OK; /* again, for its message */
}

static tsr_status take_parts(tiff_files *f)
{
    const char *name = f->order->files.text;
    f->part = (part *)calloc((size_t)f->order->files.count, sizeof *f->part);
    if (!f->part) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory for %lld files", tsr_input_name(f->input), (long long)f->order->files.count);
    f->parts = f->order->files.count;
    for (int64_t k = 0; k < f->parts; k++, name += strlen(name) + 1) f->part[k].name = name;
    return TSR_OK;
}

tsr_status tsr_tiff_read_files(tsr_tiff *t, tsr_input *input, const tsr_read_options *options, tsr_volume **volume)
{
    tsr_stored array;
    tsr_volume *holder = NULL;
    tiff_files *f = (tiff_files *)calloc(1, sizeof *f);
    if (!f) {
        tsr_tiff_close(t);
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of memory", tsr_input_name(input));
    }
    f->input = input;
    f->main = t;
    f->order = &t->notes.order;
    tsr_status status = take_parts(f);
    if (status == TSR_OK && options->level_given && options->level)
        status = TSR_FAILED(TSR_ERROR_UNSUPPORTED, "%s: levels of an OME-TIFF of several files", tsr_input_name(input));
    if (status == TSR_OK) status = tsr_tiff_prepare(t, input, &array);
    if (status != TSR_OK) {
        close_files(f);
        return status;
    }
    f->tail = array.axes - f->order->axes;
    f->element = tsr_dtype_size(t->dtype);
    array.user = f;
    array.read = read_box;
    array.close = close_files;
    holder = t->notes.holder;
    t->notes.holder = NULL;
    status = tsr_stored_volume(&array, input, options, &holder->geometry, volume);
    if (status == TSR_OK) status = tsr_volume_take_header(*volume, holder);
    tsr_volume_destroy(&holder);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

#endif
