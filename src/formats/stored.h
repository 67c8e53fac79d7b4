/* formats/stored.h: arrays of up to 8 axes that lie in a file in chunks, strips or tiles, and the box of them that becomes a volume: what TIFF, HDF5 and Zarr
 * share. A format says what its axes mean and gives a function that reads a box; frames and channels are chosen, axes put in order (x fastest), boxes
 * cut and voxels handed out piece by piece (formats/pieces.h) here. */
#ifndef TSR_FORMATS_STORED_H
#define TSR_FORMATS_STORED_H

#include "formats/parts.h"

enum { TSR_STORED_AXES = 8 };

typedef struct tsr_stored {
    int axes;
    int64_t size[TSR_STORED_AXES]; /* the slowest first, as they lie in the file */
    char role[TSR_STORED_AXES];    /* 'x', 'y', 'z'; 't' frames, 'l' layers, 'c' channels; '.': `pick` says which sample is read */
    int64_t pick[TSR_STORED_AXES];
    int64_t chunk[TSR_STORED_AXES]; /* what is unpacked together, along each axis; 0: unknown */
    int64_t parts[TSR_PARTS];       /* frames, layers and channels behind axes with the role '.'; 0: none */
    int color;                      /* a plane whose axis 'c', of 4 samples at most, is colours: without a choice all of them are read, as an image */
    tsr_dtype dtype;
    const char *field; /* what the file calls its axes: for messages */
    void *user;
    /* Elements [start, start + count), in native byte order; element i, j, ... goes to `to` + i stride[0] + j stride[1] + ... bytes. */
    tsr_status (*read)(void *user, const int64_t *start, const int64_t *count, const int64_t *stride, uint8_t *to);
    void (*close)(void *user);
} tsr_stored;

/* The axes' roles where names are unknown: of 4 the first is of frames if one is asked for, else a last one of 4 samples at most, or one that is asked for,
 * of channels; of 5: frames, channels, z, y, x. TSR_ERROR_UNSUPPORTED for others. `name` is what the array is called in messages. */
tsr_status tsr_stored_guess(tsr_stored *array, const tsr_input *input, const char *name, const tsr_read_options *options);
/* Roles out of letters or names such as "tczyx": the first letter counts, without regard to case; 'q', 'i', 'a' and 'm' count as frames, 's' as channels. 0: unknown. */
char tsr_stored_role(const char *name);

/* Reads what the options choose. The geometry is that of the whole array. The array is closed, or goes over to the place that the input's settings name. KEEPS
 * the input as long as that place. */
tsr_status tsr_stored_volume(const tsr_stored *array, tsr_input *input, const tsr_read_options *options, const tsr_geometry *geometry,
                             tsr_volume **volume);

/* `count` elements between lines of any strides. */
void tsr_stored_copy_line(const uint8_t *from, int64_t from_stride, uint8_t *to, int64_t to_stride, int64_t count, size_t element);
/* A box of `axes` axes: the source with strides of its own. Strides in bytes. */
void tsr_stored_copy(int axes, const int64_t *count, const uint8_t *from, const int64_t *from_stride, uint8_t *to, const int64_t *to_stride,
                     size_t element);
/* float16 as it lies in a file, in native byte order. Exact. */
float tsr_stored_half(uint16_t half);

/* TSR_ERROR_ARGUMENT unless options->box lies within the volume and holds a voxel. */
tsr_status tsr_box_check(const char *name, tsr_size3 size, const tsr_size3 box[2]);
/* The box of a volume that was read whole takes its place. */
tsr_status tsr_box_cut(const char *name, const tsr_size3 box[2], tsr_volume **volume);
tsr_geometry tsr_box_geometry(const tsr_geometry *geometry, tsr_size3 lower);

/* For writers: voxels [first, first + count), from memory or as they come. `part` holds them where they come; RETURNS VIEW. */
tsr_status tsr_volume_part(const tsr_volume *volume, int64_t first, int64_t count, void *part, const uint8_t **voxels);

/* "KEY = VALUE" with what only tessera reads, so that nothing is lost: the affine matrix where it is more than spacing and origin, space, scaling, metadata. */
typedef tsr_status (*tsr_note_sink)(void *user, const char *key, const char *value);
tsr_status tsr_volume_notes(const tsr_volume *volume, tsr_note_sink sink, void *user);
/* The other way; other keys are passed over. */
tsr_status tsr_volume_take_note(tsr_volume *volume, const char *key, const char *value);
/* Scaling and metadata of a volume that held them until this one was there; not the geometry, which may be that of a box by now. */
tsr_status tsr_volume_take_header(tsr_volume *volume, const tsr_volume *holder);
/* The unit for a file that says one: the volume's, or "mm", which no unit means, where a spacing is not 1; NULL: nothing is known of lengths. */
const char *tsr_stored_unit(const tsr_volume *volume);
/* Spacing and origin alone, without a space? */
int tsr_geometry_is_plain(const tsr_geometry *g);

#endif
