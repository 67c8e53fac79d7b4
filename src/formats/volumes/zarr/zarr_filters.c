/* Filters of Zarr chunks and the packers of numcodecs that few use: differences, shuffled bytes, rounded bits; LZ4 (numcodecs' documentation, "Filters"). */
#include "formats/volumes/zarr/zarr.h"

#ifdef TSR_HAVE_JANSSON

#include "formats/volumes/zarr/zarr_filters.h"
#include "io/little_endian.h"
#include "io/lz4.h"

#include <string.h>

tsr_status tsr_zarr_take_filter(const tsr_zarr_store *s, const char *id, const json_t *about, const tsr_zarr_array *array, tsr_zarr_codecs *c,
                                int *taken)
{
    const char *name = tsr_input_name(s->input), *own = strncmp(id, "numcodecs.", 10) ? id : id + 10;
    *taken = 1;
    if (!strcmp(own, "bitround")) return TSR_OK; /* lossy when it was written, nothing now */
    if (!strcmp(own, "shuffle")) {
        const int64_t n = json_integer_value(json_object_get(about, "elementsize"));
        if (c->shuffle) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: chunks that are shuffled twice", name);
        c->shuffle = n > 1 && n <= 16 ? (int)n : 0;
        return TSR_OK;
    }
    if (!strcmp(own, "delta")) {
        const char *type = json_string_value(json_object_get(about, "dtype")), *as = json_string_value(json_object_get(about, "astype"));
        if (type && as && strcmp(type, as))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: filter delta from '%.20s' to '%.20s', expected one type: zarr-python rewrites it", name, type,
                     as);
        if (array->dtype == TSR_F32 && array->element == 2) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: filter delta of float16", name);
        if (c->shuffle || c->delta) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: Zarr: filter delta behind another one", name);
        c->delta = 1;
        return TSR_OK;
    }
    *taken = 0;
    return TSR_OK;
}

#define SUM(type)                                                  \
    do {                                                           \
        type sum = 0, v;                                           \
        for (int64_t i = 0; i < count; i++) {                      \
            memcpy(&v, bytes + i * (int64_t)sizeof v, sizeof v);   \
            sum = (type)(sum + v);                                 \
            memcpy(bytes + i * (int64_t)sizeof v, &sum, sizeof v); \
        }                                                          \
    } while (0)

void tsr_zarr_sum(uint8_t *bytes, int64_t count, tsr_dtype dtype)
{
    if (dtype == TSR_F32) SUM(float);
    else if (dtype == TSR_F64) SUM(double);
    else switch (tsr_dtype_size(dtype)) {
        case 1: SUM(uint8_t); break;
        case 2: SUM(uint16_t); break;
        case 4: SUM(uint32_t); break;
        default: SUM(uint64_t);
        }
}

int tsr_zarr_unpack_lz4(const uint8_t *packed, size_t size, uint8_t *to, size_t bytes)
{
    return size >= 4 && tsr_get_u32(packed) == bytes && tsr_lz4_unpack(packed + 4, size - 4, to, bytes);
}

#endif
