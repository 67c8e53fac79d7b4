/* compress/samples.c: voxels to the integers or floats that are coded, and back. */
#include <math.h>
#include <stdlib.h>

#include "io/little_endian.h"
#include "compress/codec.h"

/* ---- one voxel -------------------------------------------------------------------------------------------------------------------------------- */

static int64_t load_integer(const void *data, tsr_dtype dtype, int64_t i)
{
    switch (dtype) {
    case TSR_U8: return ((const uint8_t *)data)[i];
    case TSR_I8: return ((const int8_t *)data)[i];
    case TSR_U16: return ((const uint16_t *)data)[i];
    case TSR_I16: return ((const int16_t *)data)[i];
    case TSR_U32: return ((const uint32_t *)data)[i];
    case TSR_I32: return ((const int32_t *)data)[i];
    case TSR_U64: return (int64_t)((const uint64_t *)data)[i];
    default: return ((const int64_t *)data)[i];
    }
}

static double load_real(const void *data, tsr_dtype dtype, int64_t i)
{
    if (dtype == TSR_F32) return (double)((const float *)data)[i];
    if (dtype == TSR_F64) return ((const double *)data)[i];
    if (dtype == TSR_U64) return (double)((const uint64_t *)data)[i];
    return (double)load_integer(data, dtype, i);
}

static int32_t order_float(float v)
{
    int32_t bits;
    memcpy(&bits, &v, 4);
    return bits ^ (int32_t)((uint32_t)(bits >> 31) & 0x7fffffffu);
}
/* Integers are quantised in integers: steps are whole numbers and no double can hold all voxels. */
static int64_t quantise_integer(const tsr_tsc *t, int64_t v)
{
    const uint64_t step = (uint64_t)t->step, up = (uint64_t)v - (uint64_t)t->base; /* base is the least voxel */
    return (int64_t)(up / step + (up % step > step / 2));
}

static int is_real(tsr_dtype dtype) { return dtype == TSR_F32 || dtype == TSR_F64; }

/* ---- bricks ----------------------------------------------------------------------------------------------------------------------------------- */

typedef struct pile {
    uint8_t *bytes;
    size_t used, room;
} pile;

static int append(pile *l, const void *bytes, size_t count)
{
    if (l->used + count > l->room) {
        size_t room = 2 * l->room + count + 64;
        uint8_t *grown = (uint8_t *)realloc(l->bytes, room);
        if (!grown) return 0;
        l->bytes = grown;
        l->room = room;
    }
    memcpy(l->bytes + l->used, bytes, count);
    l->used += count;
    return 1;
}

static int except(const tsr_tsc *t, pile *l, const void *data, int64_t from, int64_t at)
{
    uint8_t entry[12] = { 0 };
    const size_t element = tsr_dtype_size(t->dtype);
    if (!l->used && !append(l, entry, 4)) return 0; /* their number, later */
    tsr_put_u32(entry, (uint32_t)at);
    if (t->dtype == TSR_F32) {
        uint32_t u;
        memcpy(&u, (const char *)data + 4 * from, 4);
        tsr_put_u32(entry + 4, u);
    } else {
        uint64_t u;
        memcpy(&u, (const char *)data + 8 * from, 8);
        tsr_put_u64(entry + 4, u);
    }
    return append(l, entry, 4 + element);
}

/* One row; 0 when there is no memory for an exception. `last` is the sample before, for voxels that have none. */
static int map_row(const tsr_tsc *t, const void *data, int64_t from, int64_t n, int64_t at, void *samples, double *last, pile *l)
{
    int32_t *whole = (int32_t *)samples + at;
    float *real = (float *)samples + at;
    if (t->map == TSR_TSC_INTEGER) {
        for (int64_t i = 0; i < n; i++) whole[i] = (int32_t)((uint64_t)load_integer(data, t->dtype, from + i) - (uint64_t)t->base);
        return 1;
    }
    if (t->map == TSR_TSC_ORDERED) {
        for (int64_t i = 0; i < n; i++) whole[i] = order_float(((const float *)data)[from + i]);
        return 1;
    }
    if (t->map == TSR_TSC_STEPS && !is_real(t->dtype)) {
        for (int64_t i = 0; i < n; i++) whole[i] = (int32_t)quantise_integer(t, load_integer(data, t->dtype, from + i));
        return 1;
    }
    for (int64_t i = 0; i < n; i++) {
        const double v = load_real(data, t->dtype, from + i);
        int exceptional = !isfinite(v);
        if (t->map == TSR_TSC_STEPS) {
            const double k = exceptional ? *last : floor((v - t->base_real) / t->step + 0.5);
            if (!exceptional) {
                double back = t->base_real + k * t->step;
                if (t->dtype == TSR_F32) back = (double)(float)back;
                exceptional = !(fabs(k) < 0x1p30) || !(fabs(back - v) <= t->max_error);
            }
            if (!exceptional) *last = k;
            whole[i] = (int32_t)*last;
        } else {
            if (!exceptional) *last = v - t->base_real;
            exceptional = exceptional || !(fabs(*last) < 1e30);
            if (exceptional) *last = 0;
            real[i] = (float)*last;
        }
        if (exceptional && !except(t, l, data, from + i, at + i)) return 0;
    }
    return 1;
}

tsr_status tsr_map_forward(const tsr_tsc *t, const tsr_volume *volume, const tsr_brick *b, void *samples, uint8_t **exceptions, size_t *bytes)
{
    pile l = { 0 };
    double last = 0;
    *exceptions = NULL;
    *bytes = 0;
    for (int32_t z = 0; z < b->size[2]; z++)
        for (int32_t y = 0; y < b->size[1]; y++) {
            const int64_t from = ((b->origin[2] + z) * t->size[1] + b->origin[1] + y) * t->size[0] + b->origin[0];
            if (!map_row(t, volume->data, from, b->size[0], ((int64_t)z * b->size[1] + y) * b->size[0], samples, &last, &l)) {
                free(l.bytes);
                TSR_FAIL(TSR_ERROR_MEMORY, "compression: out of memory for voxels that are not finite");
            }
        }
    if (l.used) tsr_put_u32(l.bytes, (uint32_t)((l.used - 4) / (4 + tsr_dtype_size(t->dtype))));
    *exceptions = l.bytes;
    *bytes = l.used;
    return TSR_OK;
}

void tsr_map_inverse(const tsr_tsc *t, const tsr_brick *b, const void *samples, void *voxels)
{
    const int32_t *whole = (const int32_t *)samples;
    const float *real = (const float *)samples;
    const int64_t n = b->reduced_count;
    const tsr_code_map m = tsr_tsc_code_map(t);
    if (t->map == TSR_TSC_INTEGER) {
        for (int64_t i = 0; i < n; i++) tsr_sample_integer(&m, whole[i], voxels, i);
    } else if (t->map == TSR_TSC_ORDERED) {
        for (int64_t i = 0; i < n; i++) ((float *)voxels)[i] = tsr_sample_unorder(whole[i]);
    } else if (t->map == TSR_TSC_STEPS) {
        for (int64_t i = 0; i < n; i++) tsr_sample_steps(&m, whole[i], voxels, i);
    } else {
        for (int64_t i = 0; i < n; i++) tsr_sample_store_real(voxels, t->dtype, i, t->base_real + (double)real[i]);
    }
}

tsr_status tsr_map_exceptions(const tsr_tsc *t, int32_t reduce, const tsr_brick *b, const uint8_t *list, size_t bytes, void *voxels)
{
    const size_t element = tsr_dtype_size(t->dtype), entry = 4 + element;
    if (t->dtype < TSR_F32) TSR_FAIL(TSR_ERROR_FORMAT, "exceptions: voxels of %s, expected f32 or f64", tsr_dtype_name(t->dtype));
    if (bytes < 4 || (bytes - 4) % entry || (bytes - 4) / entry != tsr_get_u32(list))
        TSR_FAIL(TSR_ERROR_FORMAT, "exceptions: %zu bytes, expected 4 and %zu for each of %u", bytes, entry, bytes < 4 ? 0 : tsr_get_u32(list));
    for (size_t k = 4; k < bytes; k += entry) {
        const int64_t at = tsr_get_u32(list + k);
        if (at >= b->count) TSR_FAIL(TSR_ERROR_FORMAT, "exceptions: voxel %lld, expected less than %lld", (long long)at, (long long)b->count);
        const int64_t x = at % b->size[0], y = at / b->size[0] % b->size[1], z = at / b->size[0] / b->size[1], kept = ((int64_t)1 << reduce) - 1;
        if ((x | y | z) & kept) continue;
        const int64_t to = ((z >> reduce) * b->reduced[1] + (y >> reduce)) * b->reduced[0] + (x >> reduce);
        if (t->dtype == TSR_F32) {
            const uint32_t u = tsr_get_u32(list + k + 4);
            memcpy((char *)voxels + 4 * to, &u, 4);
        } else {
            const uint64_t u = tsr_get_u64(list + k + 4);
            memcpy((char *)voxels + 8 * to, &u, 8);
        }
    }
    return TSR_OK;
}
