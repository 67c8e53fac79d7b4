/* formats/volumes/tiff/tiff.h: what a TIFF file says of its pages beside their voxels: as ImageJ, OME-XML and tifffile write it into the description of the first page. */
#ifndef TSR_FORMATS_TIFF_H
#define TSR_FORMATS_TIFF_H

#include "formats/stored.h"

/* The pages of one image: how many along each axis, the fastest first, and where each lies among the pages of the file. */
typedef struct tsr_tiff_order {
    int axes;     /* 0 to 3 */
    char role[3]; /* 'z', 't', 'c' */
    int64_t size[3];
    int64_t *page, pages;     /* pages[...]: number in the file, -1: there is none; NULL: they follow one another */
    int samples_are_channels; /* OME: SizeC counts the samples of a pixel, too */
    int32_t *file;            /* OME: of planes in several files, which, as page; NULL: all are in this one */
    tsr_names files;          /* their names */
} tsr_tiff_order;

typedef struct tsr_tiff_notes {
    tsr_volume *holder; /* geometry, unit, metadata, scaling */
    tsr_tiff_order order;
    int64_t series;   /* of the file, as its description counts them; 0: it does not say */
    int has_z;        /* the spacing along z is known */
    int has_xy;       /* the spacing along x and y is known, or a unit is that the resolution is in */
    int placed;       /* the affine matrix was there */
    double origin[3]; /* ImageJ: the voxel at the world's origin */
    int contiguous;   /* pages may follow the first without headers of their own: 1 ImageJ, 2 tifffile */
    int64_t promised; /* ImageJ: images that the description speaks of */
    int64_t samples;  /* of all pages, where tifffile says them; 0: unknown */
} tsr_tiff_notes;

/* Reads the description (NULL: none) of a file of `pages` pages. `wanted`: the series. */
tsr_status tsr_tiff_describe(const tsr_input *input, const char *text, int64_t pages, int64_t wanted, tsr_tiff_notes *notes);
void tsr_tiff_notes_free(tsr_tiff_notes *notes);

/* For the writer: a description of ImageJ, or OME-XML; to be freed. */
tsr_status tsr_tiff_text(const tsr_volume *volume, const char *path, int ome, char **text);

/* The resolution, as two whole numbers, whose other way round is the spacing; 1 if it is exactly. */
int tsr_tiff_ratio(double spacing, uint32_t ratio[2]);

/* The reader, where libtiff is there. */
tsr_status tsr_tiff_read(tsr_input *input, const tsr_read_options *options, tsr_volume **volume);
tsr_status tsr_tiff_list(tsr_input *input, const tsr_read_options *options, tsr_contents *contents);

#endif
