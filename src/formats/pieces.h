/* formats/pieces.h: volumes that are larger than memory, from file to file, a piece at a time.
 *
 * Reading: the reader of the format looks at the header and says where the voxels lie instead of taking them (tsr_voxel_place, through the options of
 * its input). Voxels that lie plainly in one or several files stay there. Packed ones (gzip, zlib, .tsc) are unpacked once into a nameless file
 * (io/spool.h). Voxels as text and standard input are TSR_ERROR_UNSUPPORTED; what is no plain file under another name (a named pipe, a device) is
 * TSR_ERROR_IO.
 *
 * Writing: a volume without voxels of its own, which come from a tsr_voxel_feed, goes through the ordinary writers. */
#ifndef TSR_FORMATS_PIECES_H
#define TSR_FORMATS_PIECES_H

#include "io/spool.h"
#include "formats/volume_files.h"

typedef struct tsr_voxel_place {
    const char *beside; /* KEEPS: where a spool may lie, as tsr_spool_open */
    tsr_names files;    /* paths; none: all voxels are in the spool */
    tsr_spool *spool;
    int64_t offset, share, bytes; /* where the voxels begin in each file, bytes of each file, and of all */
    size_t element;
    int swap;
    /* Not NULL: voxels that are unpacked as they are asked for, in native byte order (formats/stored.h); the input stays open. */
    tsr_status (*read)(void *user, int64_t first, int64_t count, void *to);
    void (*close)(void *user);
    void *user;
} tsr_voxel_place;

/* Notes the place of `layout` at `offset` of the input, which need not stay open. */
tsr_status tsr_voxel_place_note(tsr_voxel_place *place, tsr_input *input, int64_t offset, const tsr_layout *layout, int64_t bytes);

typedef struct tsr_pieces {
    tsr_volume *header; /* all but the voxels; its data must not be touched */
    tsr_voxel_feed feed;
    tsr_voxel_place place;
    tsr_read_options options; /* BORROWS their format */
    tsr_input *input;         /* the file that was read last */
    int64_t number, since;    /* of that file; bytes read since the last tsr_input_forget */
} tsr_pieces;

/* options->memory_limit bounds what is decoded at once. */
tsr_status tsr_pieces_open(const char *path, const tsr_read_options *options, const char *beside, tsr_pieces **pieces);
void tsr_pieces_close(tsr_pieces **pieces); /* NULL is fine */

/* Writes voxels that `feed` gives in order with the header of `header` (any voxels it has are not looked at). The formats that need
 * all voxels at once (tsr_format.whole) get them in a mapped spool. */
tsr_status tsr_pieces_write(const tsr_volume *header, const tsr_voxel_feed *feed, const char *path, const tsr_write_options *options);

/* All voxels of a feed in a file without a name beside `path`, mapped; the caller closes the spool. */
tsr_status tsr_pieces_map(const tsr_voxel_feed *feed, int64_t count, size_t element, const char *path, tsr_spool **spool, const uint8_t **bytes);

#endif
