/* region/region_mesh.c: octrees of meshes, tile by tile: winding numbers are the voxels, and no tile needs to know another. Where
 * no triangle comes near a block of the lattice, one number holds for all of it: most of a fine lattice is never looked at. docs/theory/voxelize.md 4, docs/theory/regions.md 8. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/mesh.h"
#include "volume/volume.h"
#include "region/region_tiles.h"

struct mesh_source {
    tsr_context *context;
    const tsr_mesh *mesh;
    tsr_winding *winding;
    tsr_winding_report report;
    int64_t block, blocks[3]; /* voxels per side; how many along each axis */
    uint8_t *touched;         /* blocks that a triangle may come near; NULL: not known */
};

/* Margin for the rounding of positions and crossings, in voxels. */
enum { NEAR = 2, MOST_BLOCKS = 1 << 26 };

/* Blocks near the boxes of the triangles, each with NEAR voxels around it. The mesh was checked. */
static tsr_status touch(struct mesh_source *s, const tsr_mesh *host, const tsr_geometry *g)
{
    if ((double)s->blocks[0] * (double)s->blocks[1] * (double)s->blocks[2] > MOST_BLOCKS) return TSR_OK; /* and no tree either */
    s->touched = (uint8_t *)calloc((size_t)(s->blocks[0] * s->blocks[1] * s->blocks[2]), 1);
    if (!s->touched) TSR_FAIL(TSR_ERROR_MEMORY, "region tiles: no memory for %lld tiles", (long long)(s->blocks[0] * s->blocks[1] * s->blocks[2]));
    for (int64_t t = 0; t < host->triangle_count; t++) {
        double lower[3] = { INFINITY, INFINITY, INFINITY }, upper[3] = { -INFINITY, -INFINITY, -INFINITY };
        int64_t first[3], last[3];
        for (int c = 0; c < 3; c++) {
            const float *p = host->vertices + 3 * (int64_t)host->triangles[3 * t + c];
            tsr_vec3 at;
            TSR_TRY(tsr_geometry_to_index(g, (tsr_vec3){ (double)p[0], (double)p[1], (double)p[2] }, &at));
            const double v[3] = { at.x, at.y, at.z };
            for (int k = 0; k < 3; k++) {
                lower[k] = fmin(lower[k], v[k]);
                upper[k] = fmax(upper[k], v[k]);
            }
        }
        for (int k = 0; k < 3; k++) {
            first[k] = (int64_t)fmax(floor((lower[k] - NEAR) / (double)s->block), 0);
            last[k] = (int64_t)fmin(floor((upper[k] + NEAR) / (double)s->block), (double)(s->blocks[k] - 1));
        }
        for (int64_t z = first[2]; z <= last[2]; z++)
            for (int64_t y = first[1]; y <= last[1]; y++)
                for (int64_t x = first[0]; x <= last[0]; x++) s->touched[(z * s->blocks[1] + y) * s->blocks[0] + x] = 1;
    }
    return TSR_OK;
}

static tsr_status load(void *user, const int64_t lower[3], tsr_size3 size, tsr_volume **channels)
{
    struct mesh_source *s = (struct mesh_source *)user;
    TSR_TRY(tsr_volume_create(s->context, TSR_I32, size, NULL, &channels[0]));
    TSR_TRY(tsr_winding_build(s->winding, s->mesh, lower, channels[0]));
    return TSR_OK;
}

/* The report is of the mesh, the same for every box: one voxel will do. */
static tsr_status check(struct mesh_source *s)
{
    tsr_volume *voxel = NULL;
    tsr_status status;
    TSR_TRY_GOTO(tsr_volume_create(s->context, TSR_I32, (tsr_size3){ 1, 1, 1 }, NULL, &voxel), done);
    TSR_TRY_GOTO(tsr_winding_build(s->winding, s->mesh, NULL, voxel), done);
    TSR_TRY_GOTO(tsr_winding_check(s->winding, s->mesh, &s->report), done);
done:
    tsr_volume_destroy(&voxel);
    return status;
}

/* One number for a block without triangles, if the mesh is closed: behind a hole numbers differ from row to row. */
static tsr_status uniform(void *user, const int64_t lower[3], tsr_size3 size, tsr_volume **channels)
{
    struct mesh_source *s = (struct mesh_source *)user;
    const tsr_size3 one = { 1, 1, 1 }, few = { TSR_REGION_BLOCK, TSR_REGION_BLOCK, TSR_REGION_BLOCK };
    tsr_volume *voxel = NULL, *host = NULL;
    tsr_status status;
    int32_t number;
    if (!s->touched || size.x != s->block) return TSR_OK;
    const int64_t at[3] = { lower[0] / s->block, lower[1] / s->block, lower[2] / s->block };
    if (s->touched[(at[2] * s->blocks[1] + at[1]) * s->blocks[0] + at[0]]) return TSR_OK;
    TSR_TRY_GOTO(tsr_volume_create(s->context, TSR_I32, one, NULL, &voxel), done);
    TSR_TRY_GOTO(tsr_winding_build(s->winding, s->mesh, lower, voxel), done);
    TSR_TRY_GOTO(tsr_device_move(NULL, &number, s->context, voxel->data, sizeof number), done);
    TSR_TRY_GOTO(tsr_volume_create(NULL, TSR_I32, few, NULL, &host), done);
    for (int i = 0; i < TSR_REGION_BLOCK * TSR_REGION_BLOCK * TSR_REGION_BLOCK; i++) ((int32_t *)host->data)[i] = number;
    TSR_TRY_GOTO(tsr_volume_copy(host, s->context, &channels[0]), done);
done:
    tsr_volume_destroy(&voxel);
    tsr_volume_destroy(&host);
    return status;
}

tsr_status tsr_region_tree_from_mesh(tsr_context *context, const tsr_mesh *mesh, tsr_size3 size, const tsr_geometry *geometry,
                                     const tsr_region_options *options, const tsr_region_tiling *tiling, tsr_region_tree **tree, tsr_volume **values,
                                     tsr_winding_report *report)
{
    TSR_RETURNS(tree);
    TSR_NEEDS(mesh);
    struct mesh_source m = { .context = context, .mesh = mesh, .report = TSR_WINDING_REPORT };
    tsr_region_source source = { .size = size, .channels = 1, .load = load, .uniform = uniform, .user = &m };
    tsr_mesh *host = NULL;
    tsr_status status;
    if (values) *values = NULL;
    const tsr_winding_report nothing = TSR_WINDING_REPORT;
    TSR_TRY(TSR_STRUCT_GIVE(report, &nothing));
    source.geometry = geometry ? *geometry : tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, mesh->space);
    TSR_TRY(tsr_winding_create(context, size, &source.geometry, mesh->vertex_count > 0 ? mesh->vertex_count : 1, &m.winding));
    TSR_TRY_GOTO(check(&m), done);
    if (m.report.boundary_loops == 0 && tsr_region_tiles_side(tiling)) {
        TSR_TRY_GOTO(tsr_mesh_copy(mesh, NULL, &host), done);
        const int64_t n[3] = { size.x, size.y, size.z };
        m.block = tsr_region_tiles_side(tiling);
        for (int k = 0; k < 3; k++) m.blocks[k] = (n[k] + m.block - 1) / m.block;
        TSR_TRY_GOTO(touch(&m, host, &source.geometry), done);
    }
    TSR_TRY_GOTO(tsr_region_tree_from_source(context, &source, options, tiling, tree, values), done);
    status = TSR_STRUCT_GIVE(report, &m.report);
done:
    tsr_winding_destroy(&m.winding);
    tsr_mesh_destroy(&host);
    free(m.touched);
    return status;
}
