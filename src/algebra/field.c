/* algebra/field.c: a tile list as a dense volume. */
#include "algebra/csg.h"
#include "volume/volume.h"
#include "tessera/edit.h"

/* Voxels of the field: a domain, or the stored tiles and a margin of one. */
static tsr_status field_box(const tsr_tiles *tiles, int32_t first[3], int64_t size[3])
{
    int64_t low[3], high[3];
    const int64_t E = (int64_t)1 << tiles->pool.log2_edge;
    for (int k = 0; k < 3; k++) {
        first[k] = 0;
        size[k] = tiles->pool.domain[k];
    }
    if (tiles->pool.bounded) return TSR_OK;
    TSR_TRY(tsr_tiles_bounds(tiles, low, high));
    if (low[0] == high[0]) TSR_FAIL(TSR_ERROR_STATE, "no surface is left: there is no field to store (a tile list or a mesh can be empty)");
    for (int k = 0; k < 3; k++) {
        first[k] = (int32_t)(low[k] - E);
        size[k] = high[k] - low[k] + 2 * E;
    }
    return TSR_OK;
}

tsr_status tsr_tiles_field(const tsr_tiles *tiles, tsr_volume **field)
{
    TSR_RETURNS(field);
    TSR_NEEDS(tiles);
    int32_t first[3];
    int64_t size[3];
    TSR_TRY(tsr_csg_require_field(tiles, "field"));
    TSR_TRY(field_box(tiles, first, size));
    tsr_geometry geometry = tiles->geometry;
    tsr_vec3 origin = tsr_geometry_to_world(&geometry, (tsr_vec3){ first[0], first[1], first[2] });
    geometry.affine[0][3] = origin.x;
    geometry.affine[1][3] = origin.y;
    geometry.affine[2][3] = origin.z;
    TSR_TRY(tsr_volume_create(tiles->context, TSR_F32, (tsr_size3){ size[0], size[1], size[2] }, &geometry, field));
    tsr_status status = tiles->context->backend->tiles->store(tiles->context->queue, &tiles->pool, first, size, (float *)(*field)->data, NULL);
    if (status != TSR_OK) tsr_volume_destroy(field);
    return status;
}
