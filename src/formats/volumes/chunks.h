/* formats/volumes/chunks.h: a volume cut into boxes of one size, packed side by side by all threads and handed out in order: what the writers of HDF5 and Zarr share. */
#ifndef TSR_FORMATS_CHUNKS_H
#define TSR_FORMATS_CHUNKS_H

#include "formats/stored.h"

typedef struct tsr_chunker {
    const tsr_volume *volume;
    const char *path; /* for messages */
    const tsr_progress *progress;
    int64_t size[3], chunk[3]; /* x, y, z; boxes at the end are filled up with zeros */
    size_t room;               /* most bytes of a packed box */
    /* On any thread: packs `bytes` voxels of a box, which it may change. 0 on failure. */
    size_t (*pack)(void *user, uint8_t *plain, size_t bytes, uint8_t *packed, size_t room);
    /* In order. `index` counts boxes along x, y and z. */
    tsr_status (*put)(void *user, const int64_t index[3], const uint8_t *packed, size_t bytes);
    /* May be NULL: sees the slices of a layer of boxes, z of them from `first` on, before they are packed. */
    tsr_status (*look)(void *user, int64_t first, int64_t count, const uint8_t *voxels);
    void *user;
} tsr_chunker;

tsr_status tsr_chunks_write(const tsr_chunker *chunker);

/* Boxes of about 64 voxels each way, thinner where a layer of them would take more than 128 MiB. */
void tsr_chunks_plan(tsr_size3 size, size_t element, int64_t chunk[3]);
/* Bytes of equal place in their elements, one behind another, as HDF5 and blosc shuffle them. */
void tsr_bytes_shuffle(const uint8_t *from, size_t bytes, size_t element, uint8_t *to);
void tsr_bytes_unshuffle(const uint8_t *from, size_t bytes, size_t element, uint8_t *to);

#endif
