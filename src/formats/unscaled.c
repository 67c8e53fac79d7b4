/* formats/unscaled.c: volumes as a format without a place for their scaling or unit of length takes them. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/volume_files.h"

/* ---- real values in place of stored ones ------------------------------------------------------------------------------------------------------- */

static int is_integer_type(tsr_dtype dtype) { return dtype != TSR_F32 && dtype != TSR_F64; }

/* The least and the greatest stored value. */
static void range_of(const tsr_volume *v, double *low, double *high)
{
    const int64_t count = tsr_volume_count(v);
    *low = *high = tsr_voxel_load(v->data, v->dtype, 0);
    for (int64_t i = 1; i < count; i++) {
        const double value = tsr_voxel_load(v->data, v->dtype, i);
        *low = value < *low ? value : *low;
        *high = value > *high ? value : *high;
    }
}

static int holds(tsr_dtype dtype, double low, double high)
{
    double ends[2] = { low, high };
    for (int i = 0; i < 2; i++) {
        uint64_t one = 0;
        tsr_voxel_store(&one, dtype, 0, ends[i]);
        if (tsr_voxel_load(&one, dtype, 0) != ends[i]) return 0;
    }
    return 1;
}

/* The type of the real values: whole numbers stay whole numbers, of the same type if it holds them, else of the smallest that does; others become floats
 * as precise as the voxels were. */
static tsr_dtype type_of_reals(const tsr_volume *v)
{
    static const tsr_dtype types[] = { TSR_U8, TSR_I8, TSR_U16, TSR_I16, TSR_U32, TSR_I32, TSR_I64 };
    if (!is_integer_type(v->dtype)) return v->dtype;
    if (v->slope == floor(v->slope) && v->intercept == floor(v->intercept)) {
        double a, b;
        range_of(v, &a, &b);
        a = a * v->slope + v->intercept;
        b = b * v->slope + v->intercept;
        const double low = fmin(a, b), high = fmax(a, b);
        if (low >= -0x1p53 && high <= 0x1p53) { /* every sum is exact */
            if (holds(v->dtype, low, high)) return v->dtype;
            for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                if (tsr_dtype_size(types[i]) >= tsr_dtype_size(v->dtype) && holds(types[i], low, high)) return types[i];
        }
    }
    return tsr_dtype_size(v->dtype) <= 2 ? TSR_F32 : TSR_F64;
}

static tsr_status scale_values(const tsr_volume *v, tsr_volume **scaled)
{
    tsr_status status;
    TSR_TRY(tsr_volume_create(NULL, type_of_reals(v), v->size, &v->geometry, scaled));
    TSR_TRY_GOTO(tsr_volume_copy_header(*scaled, v), fail);
    (*scaled)->slope = 1;
    (*scaled)->intercept = 0;
    for (int64_t i = 0, n = tsr_volume_count(v); i < n; i++)
        tsr_voxel_store((*scaled)->data, (*scaled)->dtype, i, tsr_voxel_real(tsr_voxel_load(v->data, v->dtype, i), v->slope, v->intercept));
    return TSR_OK;
fail:
    tsr_volume_destroy(scaled);
    return status;
}

/* ---- millimetres in place of another unit -------------------------------------------------------------------------------------------------------- */

static tsr_status to_millimetres(const tsr_volume *v, double unit, tsr_volume **converted)
{
    tsr_status status;
    tsr_geometry g = v->geometry;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) g.affine[r][c] *= unit;
    TSR_TRY(tsr_volume_wrap(NULL, v->dtype, v->size, &g, v->feed ? (void *)converted : v->data, NULL, NULL, converted));
    (*converted)->data = v->data; /* none, where the voxels come from a feed */
    TSR_TRY_GOTO(tsr_volume_copy_header(*converted, v), fail);
    (*converted)->feed = v->feed;
    (*converted)->geometry = g;
    TSR_TRY_GOTO(tsr_volume_set_unit(*converted, "mm"), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(converted);
    return status;
}

int tsr_format_keeps_unit(const tsr_format *format, double unit)
{
    return unit == 1 || format->units == TSR_UNITS_ANY || (format->units == TSR_UNITS_NIFTI && (unit == 1000 || unit == 0.001));
}

tsr_status tsr_volume_for_format(const tsr_volume *volume, const tsr_format *format, int stored_values, tsr_volume *parts[2], const tsr_volume **fit)
{
    const double unit = tsr_volume_unit(volume);
    parts[0] = parts[1] = NULL;
    *fit = volume;
    if (unit > 0 && !tsr_format_keeps_unit(format, unit)) {
        TSR_TRY(to_millimetres(*fit, unit, &parts[0]));
        *fit = parts[0];
    }
    if ((volume->slope != 1 || volume->intercept != 0) && !format->scales && !stored_values && !volume->feed) {
        tsr_status status = scale_values(*fit, &parts[1]);
        if (status != TSR_OK) tsr_volume_destroy(&parts[0]);
        TSR_TRY(status);
        *fit = parts[1];
    }
    return TSR_OK;
}
