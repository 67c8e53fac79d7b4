/* formats/volumes/zarr/zarr_filters.h: filters of chunks, and the packers of numcodecs that few use. */
#ifndef TSR_FORMATS_ZARR_FILTERS_H
#define TSR_FORMATS_ZARR_FILTERS_H

#include "formats/volumes/zarr/zarr.h"

#include <jansson.h>

/* Notes the filter `id` of v2, or codec of v3, in *c; `about`: its settings; *taken 0: it is no filter. */
tsr_status tsr_zarr_take_filter(const tsr_zarr_store *store, const char *id, const json_t *about, const tsr_zarr_array *array, tsr_zarr_codecs *c,
                                int *taken);
/* Differences become the numbers again, in place. */
void tsr_zarr_sum(uint8_t *bytes, int64_t count, tsr_dtype dtype);
/* 1 if the chunk is sound and gives exactly `bytes`. */
int tsr_zarr_unpack_lz4(const uint8_t *packed, size_t size, uint8_t *to, size_t bytes);

#endif
