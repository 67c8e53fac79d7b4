/* formats/points/laz.h: the points of LAS files packed as LAZ: chunks of 50 000 or as many as the file says, each with an arithmetic coder of its own (laz_coder.h).
 * Read are version 2 of the items of formats 0 to 3 and versions 3 and 4 (layers) of those of formats 6 to 8, chunks of one size or of several; waves are refused.
 * Source: M. Isenburg, "LASzip: lossless compression of LiDAR data" (2013); "LASzip specification 1.4" (rapidlasso, 2020). */
#ifndef TSR_FORMATS_LAZ_H
#define TSR_FORMATS_LAZ_H

#include "io/stream.h"

/* The points of a file of `size` bytes as plain LAS records of `record` bytes, `count` of them. `first` is where the data begin. Of formats 6 to 8 places, returns,
 * intensity, classification and colours are unpacked alone; the rest of their records is 0. The records are RELEASED by the caller. */
tsr_status tsr_laz_unpack(tsr_input *input, const uint8_t *bytes, int64_t size, int64_t first, int64_t record, int64_t count, tsr_block *records);

/* A file of point format 0 (20 bytes a record) or, with colour, 2 (26 bytes). */
enum { TSR_LAZ_CHUNK = 50000, TSR_LAZ_RECORD = 54 + 34 + 2 * 6 };
typedef struct tsr_laz_packer tsr_laz_packer;
tsr_status tsr_laz_packer_create(int color, tsr_laz_packer **packer);
/* The next points: TSR_LAZ_CHUNK of them, fewer in the last call. */
tsr_status tsr_laz_packer_add(tsr_laz_packer *packer, const uint8_t *records, int64_t count);
/* The record that belongs behind the header; returns its length, TSR_LAZ_RECORD at most. */
int tsr_laz_packer_record(const tsr_laz_packer *packer, uint8_t record[TSR_LAZ_RECORD]);
/* The chunks and their table, which begin at byte `first` of the file. */
tsr_status tsr_laz_packer_write(tsr_laz_packer *packer, tsr_output *out, int64_t first);
void tsr_laz_packer_destroy(tsr_laz_packer **packer);

#endif
