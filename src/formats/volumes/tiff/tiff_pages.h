/* formats/volumes/tiff/tiff_pages.h: the pages of a TIFF file through libtiff: what each is, and boxes of their voxels. */
#ifndef TSR_FORMATS_TIFF_PAGES_H
#define TSR_FORMATS_TIFF_PAGES_H

#include "formats/volumes/tiff/tiff.h"

#ifdef TSR_HAVE_TIFF

#include <tiffio.h>

typedef struct tsr_tiff_page {
    uint64_t offset; /* of its header */
    uint32_t width, height, depth; /* depth: slices of one page, an extension of SGI */
    uint16_t bits, samples, kind, planar, compression, photometric;
    int reduced;
    int64_t plain; /* where its voxels lie, one behind another and as they are; -1: they do not */
} tsr_tiff_page;

/* One handle of libtiff: a thread has its own. */
typedef struct tsr_tiff_reader {
    tsr_input *input;
    const uint8_t *bytes;
    toff_t size, at;
    TIFF *tif;
    char error[240], warning[240];
    uint64_t current; /* header of the page that is set */
    uint8_t *strip;
    int64_t strip_bytes, held; /* held: the strip or tile that `strip` is, -1: none */
} tsr_tiff_reader;

typedef struct tsr_tiff {
    tsr_tiff_reader main;
    tsr_tiff_page *page;
    int64_t pages, *list, listed; /* list: the pages of the series */
    tsr_tiff_notes notes;
    tsr_dtype dtype;
    int64_t first, level;         /* first: the page that stands for all */
    uint32_t width, height, rows; /* of the level; rows of a strip or tile */
    int64_t page_axes;
    double spacing[2]; /* one over the resolution; 0: unknown */
    uint16_t resolution_unit;
    tsr_tiff_reader *own; /* of each thread */
    int readers;
} tsr_tiff;

/* Headers and description. *text: to be freed (tiff_read.c). */
tsr_status tsr_tiff_open(tsr_input *input, tsr_tiff **opened, char **text);
void tsr_tiff_close(void *tiff);
/* Of a file whose notes are there and whose first page stands for all: type, place, axes (tiff_read.c). */
tsr_status tsr_tiff_prepare(tsr_tiff *t, tsr_input *input, tsr_stored *array);
/* The planes that the notes place in several files. ADOPTS the file (tiff_files.c). */
tsr_status tsr_tiff_read_files(tsr_tiff *t, tsr_input *input, const tsr_read_options *options, tsr_volume **volume);

tsr_status tsr_tiff_reader_open(tsr_input *input, const uint8_t *bytes, size_t size, tsr_tiff_reader *r);
void tsr_tiff_reader_close(tsr_tiff_reader *r);
/* Fails with libtiff's reason; `what` and `number` say where. */
tsr_status tsr_tiff_fail(tsr_tiff_reader *r, const char *what, int64_t number);

/* What the page is that is set. */
void tsr_tiff_look(TIFF *tif, tsr_tiff_page *p, uint64_t file_bytes);
/* All pages of the file. */
tsr_status tsr_tiff_pages(tsr_tiff *t);
int tsr_tiff_same_kind(const tsr_tiff_page *a, const tsr_tiff_page *b);
/* The pages of series `wanted`: those of one shape and type; `list` has room for all pages. RETURNS the number of series. */
int64_t tsr_tiff_series(const tsr_tiff *t, int64_t wanted, int64_t *list, int64_t *listed, int64_t *first);
const char *tsr_tiff_type(const tsr_tiff_page *p, char text[32]);
tsr_status tsr_tiff_dtype(const tsr_input *input, const tsr_tiff_page *p, tsr_dtype *dtype);
/* As tsr_stored.read; `user` is a tsr_tiff. */
tsr_status tsr_tiff_array(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to);

#endif
#endif
