/* formats/volumes/unscaled.c: volumes as a format without a place for their scaling or unit of length takes them. */
#include <float.h>
#include <math.h>
#include <stdio.h>
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

/* ---- another unit ------------------------------------------------------------------------------------------------------------------------------- */

static double unit_of_format(const tsr_format *format, const char **name)
{
    *name = format->units == TSR_UNITS_ANGSTROM ? "angstrom" : "mm";
    return format->units == TSR_UNITS_ANGSTROM ? 1e-7 : 1;
}

static tsr_status to_unit(const tsr_volume *v, double unit, const tsr_format *format, tsr_volume **converted)
{
    tsr_status status;
    const char *name;
    const double of_format = unit_of_format(format, &name);
    tsr_geometry g = v->geometry;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) g.affine[r][c] *= unit / of_format;
    TSR_TRY(tsr_volume_wrap(NULL, v->dtype, v->size, &g, v->feed ? (void *)converted : v->data, NULL, NULL, converted));
    (*converted)->data = v->data; /* none, where the voxels come from a feed */
    TSR_TRY_GOTO(tsr_volume_copy_header(*converted, v), fail);
    (*converted)->feed = v->feed;
    (*converted)->geometry = g;
    TSR_TRY_GOTO(tsr_volume_set_unit(*converted, name), fail);
    return TSR_OK;
fail:
    tsr_volume_destroy(converted);
    return status;
}

int tsr_format_keeps_unit(const tsr_format *format, double unit)
{
    const char *name;
    return unit == unit_of_format(format, &name) || format->units == TSR_UNITS_ANY ||
           (format->units == TSR_UNITS_NIFTI && (unit == 1000 || unit == 0.001));
}

/* ---- another element type ----------------------------------------------------------------------------------------------------------------------- */

static const tsr_dtype by_size[] = { TSR_U8, TSR_I8, TSR_U16, TSR_I16, TSR_U32, TSR_I32, TSR_F32, TSR_U64, TSR_I64, TSR_F64 };
enum { TYPES = (int)(sizeof by_size / sizeof *by_size) };

/* Does every value of the volume have its place in the type? */
static int holds_all(const tsr_volume *v, tsr_dtype dtype, double low, double high)
{
    if (v->dtype == TSR_F64 && dtype == TSR_F32) {
        for (int64_t i = 0, n = tsr_volume_count(v); i < n; i++) {
            const double value = ((const double *)v->data)[i];
            if (value == value && (double)(float)value != value) return 0;
        }
        return 1;
    }
    if (v->dtype == TSR_F32) return dtype == TSR_F64;
    if (!is_integer_type(v->dtype)) return 0;
    if (dtype == TSR_F32) return low >= -0x1p24 && high <= 0x1p24;
    if (dtype == TSR_F64) return low >= -0x1p53 && high <= 0x1p53;
    return tsr_dtype_size(dtype) <= 4 && holds(dtype, low, high);
}

static tsr_status to_type(const tsr_volume *v, const tsr_format *format, tsr_volume **converted)
{
    char list[96];
    size_t used = 0;
    double low = 0, high = 0;
    list[0] = 0;
    for (int k = 0; k < TYPES; k++)
        if (format->types >> by_size[k] & 1)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", tsr_dtype_name(by_size[k]));
    if (!v->feed && is_integer_type(v->dtype)) range_of(v, &low, &high);
    for (int k = 0; k < TYPES && !v->feed; k++)
        if ((format->types >> by_size[k] & 1) && holds_all(v, by_size[k], low, high)) {
            TSR_TRY(tsr_volume_create(NULL, by_size[k], v->size, &v->geometry, converted));
            for (int64_t i = 0, n = tsr_volume_count(v); i < n; i++)
                tsr_voxel_store((*converted)->data, by_size[k], i, tsr_voxel_load(v->data, v->dtype, i));
            const tsr_status status = tsr_volume_copy_header(*converted, v);
            if (status != TSR_OK) tsr_volume_destroy(converted);
            TSR_TRY(status);
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_UNSUPPORTED, "a volume of %s, but %s files hold %s%s: convert it first (tessera convert --dtype)", tsr_dtype_name(v->dtype), format->name, list,
             v->feed ? "" : ", which do not hold all its values");
}

tsr_status tsr_volume_for_format(const tsr_volume *volume, const tsr_format *format, int stored_values, tsr_volume *parts[TSR_FIT_PARTS], const tsr_volume **fit)
{
    const double unit = tsr_volume_unit(volume);
    tsr_status status;
    for (int k = 0; k < TSR_FIT_PARTS; k++) parts[k] = NULL;
    *fit = volume;
    if (unit > 0 && !tsr_format_keeps_unit(format, unit)) {
        TSR_TRY_GOTO(to_unit(*fit, unit, format, &parts[0]), fail);
        *fit = parts[0];
    }
    if ((volume->slope != 1 || volume->intercept != 0) && !format->scales && !stored_values && !volume->feed) {
        TSR_TRY_GOTO(scale_values(*fit, &parts[1]), fail);
        *fit = parts[1];
    }
    if (format->types && !(format->types >> (*fit)->dtype & 1)) {
        TSR_TRY_GOTO(to_type(*fit, format, &parts[2]), fail);
        *fit = parts[2];
    }
    return TSR_OK;
fail:
    tsr_fit_parts_destroy(parts);
    return status;
}

void tsr_fit_parts_destroy(tsr_volume *parts[TSR_FIT_PARTS])
{
    for (int k = TSR_FIT_PARTS; k-- > 0;) tsr_volume_destroy(&parts[k]);
}
