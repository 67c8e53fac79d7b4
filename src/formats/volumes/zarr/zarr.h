/* formats/volumes/zarr/zarr.h: Zarr v2 and v3 in a folder or a zip archive, and OME-Zarr (NGFF 0.1 to 0.5), which says what the axes mean. */
#ifndef TSR_FORMATS_ZARR_H
#define TSR_FORMATS_ZARR_H

#include "formats/stored.h"
#include "io/zip.h"

/* ---- where keys and their bytes come from (zarr_store.c) --------------------------------------------------------------------------------------- */

typedef struct tsr_zarr_member {
    tsr_word key;
    const tsr_zip_entry *entry;
} tsr_zarr_member;

typedef struct tsr_zarr_store {
    tsr_input *input; /* the archive, or a file of metadata in the folder. BORROWS */
    int archive;
    tsr_zip zip;
    tsr_zarr_member *member; /* of an archive, sorted by key */
    int64_t members;
} tsr_zarr_store;

/* The bytes of a key. */
typedef struct tsr_zarr_value {
    const uint8_t *bytes; /* NULL: there is no such key */
    size_t size;
    tsr_input *file;
    tsr_block block;
} tsr_zarr_value;

tsr_status tsr_zarr_store_open(tsr_input *input, tsr_zarr_store *store);
void tsr_zarr_store_close(tsr_zarr_store *store);
/* Any thread. `most`: more bytes are TSR_ERROR_FORMAT. */
tsr_status tsr_zarr_get(const tsr_zarr_store *store, const char *key, int64_t most, tsr_zarr_value *value);
void tsr_zarr_value_free(tsr_zarr_value *value);
/* Calls for every folder ("" is the root) that holds a file of metadata of an array or group, a few thousand at most. */
tsr_status tsr_zarr_walk(const tsr_zarr_store *store, tsr_status (*seen)(void *user, const char *folder), void *user);

/* ---- what an array is (zarr_meta.c) ------------------------------------------------------------------------------------------------------------ */

typedef enum tsr_zarr_pack { TSR_ZARR_PLAIN, TSR_ZARR_GZIP, TSR_ZARR_ZLIB, TSR_ZARR_ZSTD, TSR_ZARR_BLOSC, TSR_ZARR_LZ4, TSR_ZARR_LZMA } tsr_zarr_pack;

typedef struct tsr_zarr_codecs {
    tsr_zarr_pack pack;
    int checked, swap, shuffle; /* a CRC-32C behind; bytes of elements to be swapped; element size of a shuffle filter, 0: none */
    int delta;                  /* numbers are differences to the one before */
    int order[TSR_STORED_AXES]; /* the axes in the order in which they lie in a chunk, the slowest first */
} tsr_zarr_codecs;

typedef struct tsr_zarr_array {
    int axes, version;
    int64_t size[TSR_STORED_AXES], chunk[TSR_STORED_AXES]; /* chunk: what is packed together */
    int64_t shard[TSR_STORED_AXES];                        /* chunks that share a file, along each axis; 1: none do */
    int sharded, index_first, index_checked;
    tsr_zarr_codecs codecs;
    tsr_dtype dtype;
    int element;                               /* bytes of an element in a chunk: 2 for float16, which becomes float32 */
    _Alignas(8) uint8_t fill[8];                          /* as dtype */
    char separator;                            /* of keys */
    int prefixed;                              /* keys begin with "c" */
    char type[32], names[TSR_STORED_AXES][32]; /* as the file calls type and axes; "": no name */
} tsr_zarr_array;

/* One image: an array of the file, and what is said about it. */
typedef struct tsr_zarr_image {
    char path[512]; /* of the array, "" is the root */
    tsr_zarr_array array;
    tsr_volume *holder; /* geometry, unit, metadata */
    char role[TSR_STORED_AXES];
    int has_roles;
} tsr_zarr_image;

tsr_status tsr_zarr_choose(const tsr_zarr_store *store, const tsr_read_options *options, tsr_zarr_image *image);
tsr_status tsr_zarr_contents(const tsr_zarr_store *store, const tsr_read_options *options, tsr_contents *contents);

tsr_status tsr_zarr_write(const tsr_volume *volume, const char *path, const tsr_write_options *options);

#endif
