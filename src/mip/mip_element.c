/* mip/mip_element.c: structuring elements, extents of levels, widths of places. */
#include <string.h>

#include "mip/mip_pyramid.h"

static const int8_t cross6[7][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };

/* Is every point of the element away from another by an even vector? Then one expansion of a voxel does not reduce to that voxel. */
static tsr_status check_condition(const tsr_adjunction *a)
{
    int32_t other = 0;
    for (int32_t i = 0; i < a->points; i++) {
        other = -1;
        for (int32_t k = 0; k < a->points && other < 0; k++) {
            const int dx = a->point[i][0] - a->point[k][0], dy = a->point[i][1] - a->point[k][1], dz = a->point[i][2] - a->point[k][2];
            if (i != k && !((dx | dy | dz) & 1)) other = k;
        }
        if (other < 0) return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_ARGUMENT,
             "mip: the element breaks the pyramid condition: every point has another at an even offset, as (%d, %d, %d) has (%d, %d, %d); expected a "
             "point "
             "with none",
             a->point[a->points - 1][0], a->point[a->points - 1][1], a->point[a->points - 1][2], a->point[other][0], a->point[other][1],
             a->point[other][2]);
}

tsr_status tsr_mip_element_points(tsr_mip_element element, const int8_t (*points)[3], int32_t count, tsr_adjunction *a)
{
    a->points = 0;
    a->cube2 = element == TSR_MIP_CUBE2;
    if (element == TSR_MIP_CUBE2 || element == TSR_MIP_CUBE3) {
        const int low = element == TSR_MIP_CUBE2 ? 0 : -1;
        for (int z = low; z <= 1; z++)
            for (int y = low; y <= 1; y++)
                for (int x = low; x <= 1; x++, a->points++) {
                    a->point[a->points][0] = (int8_t)x;
                    a->point[a->points][1] = (int8_t)y;
                    a->point[a->points][2] = (int8_t)z;
                }
        return TSR_OK;
    }
    if (element == TSR_MIP_CROSS6) {
        points = cross6;
        count = 7;
    } else if (element != TSR_MIP_OWN) {
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: element is %d, expected one of tsr_mip_element (0 to %d)", (int)element, (int)TSR_MIP_OWN);
    }
    if (!points || count < 1 || count > TSR_MIP_POINTS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: an element of %d points, expected 1 to %d", points ? count : 0, TSR_MIP_POINTS);
    for (int32_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            if (points[i][k] < -8 || points[i][k] > 8)
                TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: point %d of the element has the coordinate %d, expected -8 to 8", i, points[i][k]);
            a->point[i][k] = points[i][k];
        }
        for (int32_t k = 0; k < i; k++)
            if (!memcmp(a->point[i], a->point[k], 3)) TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: points %d and %d of the element are equal", k, i);
    }
    a->points = count;
    TSR_TRY(check_condition(a));
    return TSR_OK;
}

tsr_status tsr_mip_check_levels(tsr_size3 size, int32_t levels)
{
    const int64_t most = tsr_max64(size.x, tsr_max64(size.y, size.z));
    int32_t limit = 1;
    while (most >> limit) limit++; /* floor(log2(most)) + 1 */
    if (limit > TSR_MIP_LEVELS) limit = TSR_MIP_LEVELS;
    if (levels < 0 || levels > limit)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: %d levels for %lld x %lld x %lld voxels, expected 0 to %d", levels, (long long)size.x, (long long)size.y,
                 (long long)size.z, limit);
    return TSR_OK;
}

static int32_t bits_for(int64_t values)
{
    int32_t bits = 0;
    while ((int64_t)1 << bits < values) bits++;
    return bits;
}

tsr_status tsr_mip_plan(tsr_mip *mip)
{
    static const int32_t widths[4] = { 2, 4, 6, 8 };
    static const char *const names[4] = { "bricks", "list4", "list6", "list8" };
    const int64_t n[3] = { mip->info.size.x, mip->info.size.y, mip->info.size.z };
    const int64_t most = mip->info.format == TSR_MIP_BRICKS ? (int64_t)1 << 24 : 65536;
    tsr_details *d = &mip->details;
    int64_t bytes;
    if ((unsigned)mip->info.format > TSR_MIP_LIST8)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: format is %d, expected one of tsr_mip_format (0 to %d)", (int)mip->info.format, (int)TSR_MIP_LIST8);
    TSR_TRY(tsr_size_bytes(mip->info.size, 2, "mip", &bytes));
    for (int k = 0; k < 3; k++)
        if (n[k] > most)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: extent %c is %lld, format %s takes at most %lld", "xyz"[k], (long long)n[k], names[mip->info.format],
                     (long long)most);
    d->levels = mip->info.levels;
    d->bytes = mip->info.dtype == TSR_U8 ? 1 : 2;
    d->format = (int32_t)mip->info.format;
    d->width = widths[d->format];
    for (int k = 0; k < 3; k++) d->cells[k] = (int32_t)tsr_ceil_div(n[k], TSR_CELL_SIDE);
    for (int32_t j = 0; j <= d->levels; j++) {
        for (int k = 0; k < 3; k++) d->size[j][k] = (int32_t)(((n[k] - 1) >> j) + 1);
        const int32_t x = bits_for(d->size[j][0]), y = bits_for(d->size[j][1]), z = bits_for(d->size[j][2]);
        d->bits[j][0] = x;
        d->bits[j][1] = y;
        if (d->format == TSR_MIP_LIST4 && x + y + z > 32) {
            const int k = n[0] >= n[1] && n[0] >= n[2] ? 0 : n[1] >= n[2] ? 1 : 2;
            TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: extents of %d + %d + %d bits, format list4 holds 32: extent %c is %lld; take list6 or bricks", x, y, z,
                     "xyz"[k], (long long)n[k]);
        }
    }
    const int64_t cells = tsr_adjunction_cells(d->cells);
    if (d->format == TSR_MIP_BRICKS && cells > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_CAPACITY, "mip: %lld bricks of %d^3 voxels, expected at most 2^32 - 1", (long long)cells, TSR_CELL_SIDE);
    if (d->format != TSR_MIP_BRICKS && n[0] * n[1] * n[2] > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "mip: %lld voxels, formats of lists hold at most 2^32 - 1: take bricks", (long long)(n[0] * n[1] * n[2]));
    return TSR_OK;
}
