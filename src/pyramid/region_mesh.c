/* pyramid/region_mesh.c: octrees of meshes, tile by tile: winding numbers are the voxels, and no tile needs to know another. Spec octree.md 2.18 to 2.21. */
#include "grid/mesh.h"
#include "pyramid/region_tiles.h"

struct mesh_source {
    tsr_context *context;
    const tsr_mesh *mesh;
    tsr_winding *winding;
    tsr_winding_report *report;
    int checked;
};

static tsr_status load(void *user, const int64_t lower[3], tsr_size3 size, tsr_volume **channels)
{
    struct mesh_source *s = (struct mesh_source *)user;
    TSR_TRY(tsr_volume_create(s->context, TSR_I32, size, NULL, &channels[0]));
    TSR_TRY(tsr_winding_build(s->winding, s->mesh, lower, channels[0]));
    if (!s->checked) TSR_TRY(tsr_winding_check(s->winding, s->mesh, s->report)); /* of the mesh, the same for all boxes */
    s->checked = 1;
    return TSR_OK;
}

tsr_status tsr_region_tree_from_mesh(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                     const tsr_region_options *options, const tsr_region_tiling *tiling, tsr_region_tree **tree, tsr_volume **values,
                                     tsr_winding_report *report)
{
    struct mesh_source m = { .context = context, .mesh = mesh, .report = report };
    tsr_region_source source = { .size = size, .channels = 1, .load = load, .user = &m };
    *tree = NULL;
    if (values) *values = NULL;
    if (report) *report = (tsr_winding_report){ 0 };
    if (!mesh) TSR_FAIL(TSR_ERROR_ARGUMENT, "mesh is NULL");
    source.geometry = geometry ? *geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, mesh->space);
    TSR_TRY(tsr_winding_create(context, size, &source.geometry, mesh->vertex_count > 0 ? mesh->vertex_count : 1, &m.winding));
    const tsr_status status = tsr_region_tree_from_source(context, &source, options, tiling, tree, values);
    tsr_winding_destroy(&m.winding);
    if (status != TSR_OK) TSR_TRY(status);
    return TSR_OK;
}
