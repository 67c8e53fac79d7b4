/* formats/volumes/nrrd_header.h: the text header of an NRRD file as tessera understands it. */
#ifndef TSR_FORMATS_NRRD_HEADER_H
#define TSR_FORMATS_NRRD_HEADER_H

#include "formats/volume_files.h"

enum { NRRD_AXES = 16, NRRD_FIELD_BYTES = 4096 };

typedef struct tsr_nrrd_axis {
    int64_t size;
    double spacing, min, max; /* NaN where not given */
    double direction[3];
    int has_direction, cell; /* cell: the range [min, max] runs from edge to edge of the cells */
    char kind[32];
} tsr_nrrd_axis;

typedef struct tsr_nrrd {
    int64_t axes;
    tsr_nrrd_axis axis[NRRD_AXES];
    int type_given, sizes_given, directions_given, block;
    tsr_layout layout; /* all but the size */
    int endian;        /* 0 not given, 1 little, 2 big */
    char space[40];
    int64_t space_dimension;
    double origin[3];
    int origin_given;
    tsr_names files;
    char *pattern; /* "name%03d.raw 1 20 1", not yet expanded */
    int list;      /* the names of the data files follow the header */
    size_t end;    /* of the header in the file: where attached data begin */
} tsr_nrrd;

/* Parses the header in `text`. What tessera does not interpret goes to `keep(user, key, value)`: fields as "nrrd.FIELD", key/value pairs as
 * they are. The caller frees with tsr_nrrd_free, also after a failure. */
typedef tsr_status (*tsr_nrrd_keep)(void *user, const char *key, const char *value);
tsr_status tsr_nrrd_parse(const tsr_input *input, const uint8_t *text, size_t size, tsr_nrrd *header, tsr_nrrd_keep keep, void *user);
void tsr_nrrd_free(tsr_nrrd *header);

/* The frame of a space name: the tag and the signs that bring its axes there; 0 for a name tessera does not know. */
typedef struct tsr_nrrd_space { const char *name, *abbreviation; int dimension; tsr_space space; double sign[3]; } tsr_nrrd_space;
const tsr_nrrd_space *tsr_nrrd_space_find(const char *name);

#endif
