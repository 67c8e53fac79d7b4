/* formats/format.h: what a file format provides. One format is one file with one such table; formats.h lists them. */
#ifndef TSR_FORMATS_FORMAT_H
#define TSR_FORMATS_FORMAT_H

#include "io/stream.h"
#include "tessera/tile_file.h"
#include "tessera/unstructured.h"

/* What recognition looks at. */
typedef struct tsr_signature {
    const uint8_t *head; /* the first bytes, gzip taken off */
    size_t head_bytes;   /* up to TSR_HEAD_BYTES */
    int64_t file_bytes;  /* -1 if unknown */
} tsr_signature;
enum { TSR_HEAD_BYTES = 4096 };

/* How sure a format is. The surest wins; among equals the one whose extension fits, then the first of formats.h. */
enum { TSR_NOT_MINE = 0, TSR_MAYBE_MINE = 1, TSR_SURELY_MINE = 2 };

typedef struct tsr_format {
    const char *name; /* as options.format names it */
    tsr_file_kind kind;
    const char *extensions[6]; /* with the dot, lower case, NULL at the end; ".gz" may follow any of them. The first is the usual one */
    int (*recognise)(const tsr_signature *signature); /* NULL: by name or extension only */
    tsr_file_kind (*kind_of)(const tsr_signature *signature); /* what a file of its content holds, where that may be another kind; NULL: `kind` */
    int keeps_metadata;                               /* volumes: every key and value that tsr_volume_set_meta takes comes back */
    int scales;                                       /* volumes: slope and intercept have a place that every reader of the format knows */
    enum { TSR_UNITS_MM = 0, TSR_UNITS_NIFTI, TSR_UNITS_ANY, TSR_UNITS_ANGSTROM } units; /* of length: readers take it for mm; m, mm and um; what the metadata say; 0.1 nm */
    int mesh_extras, mesh_extras_ascii;                              /* meshes: tsr_mesh_extras that are written, and those only as text */
    unsigned types; /* volumes: the element types that are written, as bits 1 << dtype; others become the smallest that holds every value. 0: all */
    int boxes; /* the reader of volumes takes options.box itself, and reads no more than it must; for others the box is cut out of the volume */
    /* volumes: what of the place is left out, which is said: nothing; that its axes are those of RAS or LPS; spacing, origin and axes, too */
    enum { TSR_PLACE_KEPT = 0, TSR_PLACE_NAMELESS, TSR_PLACE_NONE } place;
    int datasets;       /* options.dataset names an array of the file */
    int series, levels; /* options.series and options.level choose in it; else they may be 0 only */
    int stacks; /* the writer takes several frames: tsr_volume_stack */
    const char *other; /* the format of the grids of such a file that are of the other kind, tile lists or volumes; where one is named it is asked */
    int whole; /* the writer of volumes needs all voxels in memory: it does not go through tsr_output_voxels */
    /* Readers BORROW the input; options are complete (never NULL). Only those of the format's kind are set. */
    tsr_status (*read_volume)(tsr_input *input, const tsr_read_options *options, tsr_volume **volume);
    tsr_status (*write_volume)(const tsr_volume *volume, const char *path, const tsr_write_options *options);
    /* What is inside, for tsr_file_contents; NULL: one volume. */
    tsr_status (*list)(tsr_input *input, const tsr_read_options *options, tsr_contents *contents);
    tsr_status (*read_mesh)(tsr_input *input, const tsr_read_options *options, tsr_mesh **mesh);
    tsr_status (*write_mesh)(const tsr_mesh *mesh, const char *path, const tsr_write_options *options);
    tsr_status (*read_points)(tsr_input *input, const tsr_read_options *options, tsr_points **points);
    tsr_status (*write_points)(const tsr_points *points, const char *path, const tsr_write_options *options);
    tsr_status (*read_unstructured)(tsr_input *input, const tsr_read_options *options, const char *values, tsr_unstructured **grid);
    tsr_status (*read_image)(tsr_input *input, const tsr_read_options *options, tsr_image *image);
    tsr_status (*write_image)(const tsr_image *image, const char *path, const tsr_write_options *options);
    /* `extras` is never NULL. A reader of tiles leaves *tiles NULL when it fails. */
    tsr_status (*read_tiles)(tsr_input *input, const tsr_tiles_read_options *options, tsr_context *context, tsr_tiles_extras *extras,
                             tsr_tiles **tiles);
    tsr_status (*describe_tiles)(tsr_input *input, const tsr_tiles_read_options *options, tsr_tiles_extras *extras, tsr_tiles_file_info *info);
    /* The same beside the grids that the file holds already. */
    tsr_status (*add_volume)(const tsr_volume *volume, const char *path, const tsr_write_options *options);
    tsr_status (*add_tiles)(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options);
    tsr_status (*write_tiles)(const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options);
} tsr_format;

#define TSR_FORMAT(name) extern const tsr_format tsr_format_##name;
#include "formats/formats.h"
#undef TSR_FORMAT

/* NULL if there is none of that name. */
const tsr_format *tsr_format_find(const char *name);
/* The format of a file, by options->format, its content or its extension; that a name or extension gives for one to be written. */
tsr_status tsr_format_of_input(tsr_input *input, const tsr_read_options *options, tsr_file_kind kind, const tsr_format **format);
tsr_status tsr_format_of_output(const char *path, const char *name, tsr_file_kind kind, const tsr_format **format);
/* What a volume had and a file of the format, which was written, has no place for: remarked. */
void tsr_say_what_is_lost(const tsr_volume *volume, const tsr_format *format, const char *path);

#endif
