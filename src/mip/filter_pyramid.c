/* mip/filter_pyramid.c: pyramids with openings and openings by reconstruction in the analysis, and ordinary differences. */
#include "tessera/filter_pyramid.h"

#include <string.h>

#include "volume/volume.h"
#include "mip/mip_pyramid.h"

struct tsr_filter_pyramid {
    int32_t levels;
    tsr_adjunction a; /* points, sizes */
    tsr_volume *level[TSR_MIP_LEVELS + 1], *detail[TSR_MIP_LEVELS];
};

void tsr_filter_pyramid_destroy(tsr_filter_pyramid **result)
{
    if (!result || !*result) return;
    tsr_filter_pyramid *p = *result;
    *result = NULL;
    for (int32_t j = 0; j <= TSR_MIP_LEVELS; j++) tsr_volume_destroy(&p->level[j]);
    for (int32_t j = 0; j < TSR_MIP_LEVELS; j++) tsr_volume_destroy(&p->detail[j]);
    tsr_host_release(NULL, p, sizeof *p);
}

const tsr_volume *tsr_filter_pyramid_level(const tsr_filter_pyramid *p, int32_t level)
{
    return p && level >= 0 && level <= p->levels ? p->level[level] : NULL;
}
const tsr_volume *tsr_filter_pyramid_detail(const tsr_filter_pyramid *p, int32_t level)
{
    return p && level >= 0 && level < p->levels ? p->detail[level] : NULL;
}

/* ---- filters ------------------------------------------------------------------------------------------------------------------------------- */

/* A level's volume of grey values and the one that is made of it. */
struct grey {
    const int32_t *size;
    int32_t bytes;
    const void *from;
    void *to;
};
static uint32_t get(const struct grey *g, const void *data, int64_t i) { return tsr_adjunction_load(data, g->bytes, i); }

/* Largest of the 3^3 voxels round (x, y, z) that a raster scan has met (side < 0), will meet (side > 0) or both (0), the voxel itself included. */
static uint32_t largest_near(const struct grey *g, const void *data, int32_t x, int32_t y, int32_t z, int side)
{
    uint32_t most = get(g, data, tsr_adjunction_index(g->size, x, y, z));
    for (int32_t k = 0; k < 27; k++) {
        const int32_t px = x + k % 3 - 1, py = y + k / 3 % 3 - 1, pz = z + k / 9 - 1;
        if ((side < 0 && k > 13) || (side > 0 && k < 13) || !tsr_adjunction_within(g->size, px, py, pz)) continue;
        const uint32_t v = get(g, data, tsr_adjunction_index(g->size, px, py, pz));
        most = v > most ? v : most;
    }
    return most;
}

/* One conditional dilation of `marker` into g->to. */
static void dilate_within(const struct grey *g, const void *marker)
{
    for (int32_t z = 0; z < g->size[2]; z++)
        for (int32_t y = 0; y < g->size[1]; y++)
            for (int32_t x = 0; x < g->size[0]; x++) {
                const int64_t i = tsr_adjunction_index(g->size, x, y, z);
                const uint32_t v = largest_near(g, marker, x, y, z, 0), bar = get(g, g->from, i);
                tsr_adjunction_store(g->to, g->bytes, i, v < bar ? v : bar);
            }
}

/* Raster scans there and back until nothing changes: what any number of conditional dilations comes to. */
static int scan_within(const struct grey *g, int side)
{
    const int64_t count = tsr_adjunction_cells(g->size);
    int changed = 0;
    for (int64_t n = 0; n < count; n++) {
        const int64_t i = side < 0 ? n : count - 1 - n;
        const int32_t x = (int32_t)(i % g->size[0]), y = (int32_t)(i / g->size[0] % g->size[1]),
                      z = (int32_t)(i / ((int64_t)g->size[0] * g->size[1]));
        const uint32_t v = largest_near(g, g->to, x, y, z, side), bar = get(g, g->from, i), own = v < bar ? v : bar;
        changed |= own != get(g, g->to, i);
        tsr_adjunction_store(g->to, g->bytes, i, own);
    }
    return changed;
}

static tsr_status reconstruct(const struct grey *g, void *spare, int32_t iterations, const tsr_progress *progress)
{
    const size_t bytes = (size_t)(tsr_adjunction_cells(g->size) * g->bytes);
    for (int32_t k = 0; k < iterations; k++) {
        TSR_PROGRESS(progress, (double)k / iterations, "conditional dilations");
        memcpy(spare, g->to, bytes);
        dilate_within(g, spare);
    }
    for (int changed = iterations == 0; changed;) {
        TSR_PROGRESS(progress, 0.5, "reconstruction");
        changed = scan_within(g, -1);
        changed |= scan_within(g, 1);
    }
    return TSR_OK;
}

/* The filtered f_j in `to`; `spare` is as large. */
static tsr_status filter(const tsr_adjunction *a, int32_t j, const tsr_filter_pyramid_options *o, void *to, void *spare)
{
    const int32_t *n = a->size[j];
    tsr_adjunction eroded = *a;
    void *first = o->filter == TSR_FILTER_OPENING ? spare : to;
    for (int32_t z = 0; z < n[2]; z++)
        for (int32_t y = 0; y < n[1]; y++)
            for (int32_t x = 0; x < n[0]; x++)
                tsr_adjunction_store(first, a->bytes, tsr_adjunction_index(n, x, y, z), tsr_adjunction_erode(a, j, x, y, z));
    if (o->filter == TSR_FILTER_EROSION) return TSR_OK;
    if (o->filter == TSR_FILTER_RECONSTRUCTION) {
        const struct grey g = { n, a->bytes, a->level[j], to };
        return reconstruct(&g, spare, o->iterations, &o->progress);
    }
    eroded.level[j] = spare;
    for (int32_t z = 0; z < n[2]; z++)
        for (int32_t y = 0; y < n[1]; y++)
            for (int32_t x = 0; x < n[0]; x++)
                tsr_adjunction_store(to, a->bytes, tsr_adjunction_index(n, x, y, z), tsr_adjunction_dilate(&eroded, j, x, y, z));
    return TSR_OK;
}

/* ---- analysis and synthesis ---------------------------------------------------------------------------------------------------------------- */

/* Header of level j: twice the spacing of the one below. */
static tsr_geometry coarser(const tsr_geometry *g)
{
    tsr_geometry c = *g;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++) c.affine[row][k] *= 2;
    return c;
}

static tsr_status reduce(tsr_filter_pyramid *p, int32_t j, const tsr_filter_pyramid_options *o)
{
    tsr_adjunction *a = &p->a;
    const int32_t *n = a->size[j + 1];
    const size_t bytes = (size_t)(tsr_adjunction_cells(a->size[j]) * a->bytes);
    const tsr_geometry geometry = coarser(&p->level[j]->geometry);
    uint8_t *filtered;
    TSR_TRY(tsr_volume_create(NULL, p->level[0]->dtype, (tsr_size3){ n[0], n[1], n[2] }, &geometry, &p->level[j + 1]));
    TSR_TRY(tsr_volume_set_scaling(p->level[j + 1], p->level[0]->slope, p->level[0]->intercept));
    TSR_TRY(tsr_volume_create(NULL, TSR_I32, p->level[j]->size, &p->level[j]->geometry, &p->detail[j]));
    a->level[j] = p->level[j]->data;
    a->level[j + 1] = p->level[j + 1]->data;
    TSR_TRY(tsr_host_allocate(NULL, 2 * bytes, (void **)&filtered));
    const tsr_status status = filter(a, j, o, filtered, filtered + bytes);
    for (int32_t z = 0; z < n[2] && status == TSR_OK; z++)
        for (int32_t y = 0; y < n[1]; y++)
            for (int32_t x = 0; x < n[0]; x++)
                tsr_adjunction_store(a->level[j + 1], a->bytes, tsr_adjunction_index(n, x, y, z),
                                     tsr_adjunction_load(filtered, a->bytes, tsr_adjunction_index(a->size[j], 2 * x, 2 * y, 2 * z)));
    tsr_host_release(NULL, filtered, 2 * bytes);
    TSR_TRY(status);
    const int32_t *m = a->size[j];
    for (int32_t z = 0; z < m[2]; z++)
        for (int32_t y = 0; y < m[1]; y++)
            for (int32_t x = 0; x < m[0]; x++) {
                const int64_t i = tsr_adjunction_index(m, x, y, z);
                ((int32_t *)p->detail[j]->data)[i] =
                    (int32_t)tsr_adjunction_load(a->level[j], a->bytes, i) - (int32_t)tsr_adjunction_expand(a, j, x, y, z);
            }
    return TSR_OK;
}

static tsr_status check_options(const tsr_volume *volume, tsr_filter_pyramid_options *o)
{
    if (volume->dtype != TSR_U8 && volume->dtype != TSR_U16)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: the volume is %s, expected u8 or u16: convert it", tsr_dtype_name(volume->dtype));
    if ((unsigned)o->filter > TSR_FILTER_RECONSTRUCTION)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: filter is %d, expected one of tsr_pyramid_filter (0 to 2)", (int)o->filter);
    if (o->iterations < 0 || (o->iterations && o->filter != TSR_FILTER_RECONSTRUCTION))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: iterations is %d, expected 0 or, of reconstructions, more", o->iterations);
    if (o->element == TSR_MIP_OWN) TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: element is own, expected cube2, cube3 or cross6");
    if (!o->levels) o->levels = 2;
    if (o->levels < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: levels is %d, expected 1 to %d", o->levels, TSR_MIP_LEVELS);
    for (int k = 0; k < 3; k++) {
        const int64_t n = k == 0 ? volume->size.x : k == 1 ? volume->size.y : volume->size.z;
        if (n > 1 << 24) TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: extent %c is %lld, expected at most 2^24", "xyz"[k], (long long)n);
    }
    TSR_TRY(tsr_mip_check_levels(volume->size, o->levels));
    return TSR_OK;
}

tsr_status tsr_filter_pyramid_create(const tsr_volume *volume, const tsr_filter_pyramid_options *options, tsr_filter_pyramid **pyramid)
{
    TSR_RETURNS(pyramid);
    TSR_NEEDS(volume);
    tsr_filter_pyramid_options own;
    tsr_status status;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    TSR_TRY(check_options(volume, &own));
    TSR_TRY(tsr_host_allocate(NULL, sizeof **pyramid, (void **)pyramid));
    tsr_filter_pyramid *p = *pyramid;
    *p = (tsr_filter_pyramid){ .levels = own.levels };
    p->a.levels = own.levels;
    p->a.bytes = volume->dtype == TSR_U8 ? 1 : 2;
    TSR_TRY_GOTO(tsr_mip_element_points(own.element, NULL, 0, &p->a), fail);
    const int64_t n[3] = { volume->size.x, volume->size.y, volume->size.z };
    for (int32_t j = 0; j <= own.levels; j++)
        for (int k = 0; k < 3; k++) p->a.size[j][k] = (int32_t)(((n[k] - 1) >> j) + 1);
    TSR_TRY_GOTO(tsr_volume_copy(volume, NULL, &p->level[0]), fail);
    for (int32_t j = 0; j < own.levels; j++) TSR_TRY_GOTO(reduce(p, j, &own), fail);
    return TSR_OK;
fail:
    tsr_filter_pyramid_destroy(pyramid);
    return status;
}

tsr_status tsr_filter_pyramid_synthesise(const tsr_filter_pyramid *pyramid, int32_t finest, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    TSR_NEEDS(pyramid);
    tsr_volume *coarse = NULL, *fine = NULL;
    if (finest < 0 || finest > pyramid->levels)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "filter pyramid: finest is %d, expected a level from 0 to %d", finest, pyramid->levels);
    tsr_adjunction a = pyramid->a;
    const int32_t most = a.bytes == 1 ? 255 : 65535;
    tsr_status status = tsr_volume_copy(pyramid->level[pyramid->levels], NULL, &coarse);
    for (int32_t j = pyramid->levels - 1; j >= 0 && status == TSR_OK; j--) {
        const int32_t *m = a.size[j], *d = (const int32_t *)pyramid->detail[j]->data;
        status = tsr_volume_create(NULL, pyramid->level[j]->dtype, pyramid->level[j]->size, NULL, &fine);
        if (status == TSR_OK) status = tsr_volume_copy_header(fine, pyramid->level[j]);
        if (status != TSR_OK) break;
        a.level[j + 1] = coarse->data;
        for (int32_t z = 0; z < m[2]; z++)
            for (int32_t y = 0; y < m[1]; y++)
                for (int32_t x = 0; x < m[0]; x++) {
                    const int64_t i = tsr_adjunction_index(m, x, y, z);
                    const int32_t v = (int32_t)tsr_adjunction_expand(&a, j, x, y, z) + (j >= finest ? d[i] : 0);
                    tsr_adjunction_store(fine->data, a.bytes, i, (uint32_t)tsr_mini(tsr_maxi(v, 0), most));
                }
        tsr_volume_destroy(&coarse);
        coarse = fine;
        fine = NULL;
    }
    tsr_volume_destroy(&fine);
    if (status == TSR_OK) {
        *volume = coarse;
        coarse = NULL;
    }
    tsr_volume_destroy(&coarse);
    TSR_TRY(status);
    return TSR_OK;
}
