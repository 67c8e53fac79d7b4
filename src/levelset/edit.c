/* levelset/edit.c: operators of an editor on the lists of its objects, and output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid/volume.h"
#include "levelset/edit.h"

/* ---- making objects ------------------------------------------------------------------------------------------------------------------------------- */

/* *made becomes object `name` in a step of its own. ADOPTS it. */
static tsr_status add_adopted(tsr_editor *editor, const char *name, tsr_tiles **made)
{
    int32_t slot;
    tsr_status status = tsr_edit_new(editor, name, &slot);
    if (status != TSR_OK) {
        tsr_tiles_destroy(made);
        return status;
    }
    tsr_edit_begin(editor);
    TSR_TRY(tsr_edit_replace(editor, slot, made));
    return TSR_OK;
}

/* Checks the name before work is done for it. */
static tsr_status check_new(const tsr_editor *editor, const char *name)
{
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    if (name && tsr_editor_tiles(editor, name)) TSR_FAIL(TSR_ERROR_STATE, "there is an object '%.64s' already, expected a new name", name);
    return TSR_OK;
}

static void list_options(const tsr_editor *editor, tsr_tiles_options *options)
{
    *options = (tsr_tiles_options)TSR_TILES_OPTIONS;
    options->edge = 1 << editor->model->pool.log2_edge;
    options->band = editor->options.band;
    options->memory_limit = editor->options.memory_limit;
    options->key_bits = editor->options.key_bits;
}

tsr_status tsr_editor_add(tsr_editor *editor, const char *name, const tsr_tiles *tiles)
{
    tsr_tiles *made = NULL;
    TSR_TRY(check_new(editor, name));
    TSR_TRY(tsr_csg_require_pair(editor->model, tiles));
    TSR_TRY(tsr_csg_merge_lists(tiles, 0, NULL, 0, TSR_CSG_FIRST, 0, &made)); /* a copy with exactly the tiles it needs */
    TSR_TRY(add_adopted(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_shape(tsr_editor *editor, const char *name, const tsr_shape *shape)
{
    tsr_tiles_options options;
    tsr_tiles *made = NULL;
    TSR_TRY(check_new(editor, name));
    list_options(editor, &options);
    TSR_TRY(tsr_tiles_shape(editor->context, &editor->options.geometry, &options, shape, &made));
    TSR_TRY(add_adopted(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_animal(tsr_editor *editor, const char *name, tsr_vec3 centre, double size)
{
    tsr_tiles_options options;
    tsr_tiles *made = NULL;
    TSR_TRY(check_new(editor, name));
    list_options(editor, &options);
    TSR_TRY(tsr_tiles_animal(editor->context, &editor->options.geometry, &options, centre, size, &made));
    TSR_TRY(add_adopted(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_duplicate(tsr_editor *editor, const char *object, const char *name)
{
    int32_t slot;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(check_new(editor, name));
    TSR_TRY(tsr_csg_merge_lists(editor->object[slot].tiles, 0, NULL, 0, TSR_CSG_FIRST, 0, &made));
    TSR_TRY(add_adopted(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_remove(tsr_editor *editor, const char *object)
{
    int32_t slot;
    tsr_tiles *none = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    tsr_edit_begin(editor);
    TSR_TRY(tsr_edit_replace(editor, slot, &none));
    return TSR_OK;
}

/* ---- operators ---------------------------------------------------------------------------------------------------------------------------------------- */

/* One list for another, a step of its own. ADOPTS *made. */
static tsr_status replace_in_a_step(tsr_editor *editor, int32_t slot, tsr_tiles **made)
{
    tsr_edit_begin(editor);
    TSR_TRY(tsr_edit_replace(editor, slot, made));
    return TSR_OK;
}

tsr_status tsr_editor_combine(tsr_editor *editor, const char *object, const char *other, tsr_csg_operation operation, double radius)
{
    int32_t a, b;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &a));
    TSR_TRY(tsr_edit_find(editor, other, &b));
    TSR_TRY(tsr_tiles_combine(editor->object[a].tiles, editor->object[b].tiles, operation, radius, &made));
    TSR_TRY(replace_in_a_step(editor, a, &made));
    return TSR_OK;
}

/* 1 and the shift in tiles if it is whole ones. */
static int whole_tiles(const tsr_tile_pool *pool, tsr_vec3 shift, int32_t tiles[3])
{
    const double s[3] = { shift.x, shift.y, shift.z };
    for (int k = 0; k < 3; k++) {
        double n = s[k] / ((double)pool->spacing[k] * (double)(1 << pool->log2_edge));
        if (!(fabs(n) < 4e6) || n != floor(n)) return 0;
        tiles[k] = (int32_t)n;
    }
    return 1;
}

tsr_status tsr_editor_move(tsr_editor *editor, const char *object, tsr_vec3 shift)
{
    int32_t slot, tiles[3];
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    const tsr_tiles *list = editor->object[slot].tiles;
    if (whole_tiles(&list->pool, shift, tiles)) TSR_TRY(tsr_tiles_translate(list, tiles[0], tiles[1], tiles[2], &made));
    else TSR_TRY(tsr_tiles_transform(list, &(tsr_motion){ .shift = shift }, &made));
    TSR_TRY(replace_in_a_step(editor, slot, &made));
    return TSR_OK;
}

tsr_status tsr_editor_transform(tsr_editor *editor, const char *object, const tsr_motion *motion)
{
    int32_t slot;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_tiles_transform(editor->object[slot].tiles, motion, &made));
    TSR_TRY(replace_in_a_step(editor, slot, &made));
    return TSR_OK;
}

tsr_status tsr_editor_disconnect(tsr_editor *editor, const char *object, const tsr_box *region, double width)
{
    int32_t slot;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_tiles_disconnect(editor->object[slot].tiles, region, width, &made));
    TSR_TRY(replace_in_a_step(editor, slot, &made));
    return TSR_OK;
}

/* The box as a list. */
static tsr_status region_box(const tsr_editor *editor, const tsr_box *r, tsr_tiles **box)
{
    tsr_tiles_options options;
    tsr_shape shape = { .kind = TSR_SHAPE_BOX };
    shape.centre = (tsr_vec3){ 0.5 * (r->lower.x + r->upper.x), 0.5 * (r->lower.y + r->upper.y), 0.5 * (r->lower.z + r->upper.z) };
    shape.half = (tsr_vec3){ 0.5 * (r->upper.x - r->lower.x), 0.5 * (r->upper.y - r->lower.y), 0.5 * (r->upper.z - r->lower.z) };
    if (!(shape.half.x > 0 && shape.half.y > 0 && shape.half.z > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "region: (%g, %g, %g) to (%g, %g, %g), expected lower < upper", r->lower.x, r->lower.y, r->lower.z, r->upper.x,
                 r->upper.y, r->upper.z);
    list_options(editor, &options);
    TSR_TRY(tsr_tiles_shape(editor->context, &editor->options.geometry, &options, &shape, box));
    return TSR_OK;
}

static int is_empty(const tsr_tiles *tiles)
{
    tsr_tile_state state;
    return tsr_tiles_read_state(tiles, &state) == TSR_OK && state.count == 0 && state.background == TSR_TILE_OUTSIDE;
}

/* What lies in the region and what does not, of the severed surface. */
static tsr_status divide(const tsr_editor *editor, int32_t slot, const tsr_box *region, tsr_tiles **inner, tsr_tiles **outer)
{
    tsr_tiles *severed = NULL, *box = NULL;
    TSR_TRY(region_box(editor, region, &box));
    tsr_status status = tsr_tiles_disconnect(editor->object[slot].tiles, region, 0, &severed);
    if (status == TSR_OK) status = tsr_tiles_combine(severed, box, TSR_CSG_INTERSECTION, 0, inner);
    if (status == TSR_OK) status = tsr_tiles_combine(severed, box, TSR_CSG_DIFFERENCE, 0, outer);
    if (status == TSR_OK && is_empty(*inner))
        status = TSR_FAILED(TSR_ERROR_STATE, "nothing of '%s' lies in the region (%g, %g, %g) to (%g, %g, %g)", editor->object[slot].name,
                            region->lower.x, region->lower.y, region->lower.z, region->upper.x, region->upper.y, region->upper.z);
    tsr_tiles_destroy(&severed);
    tsr_tiles_destroy(&box);
    if (status != TSR_OK) {
        tsr_tiles_destroy(inner);
        tsr_tiles_destroy(outer);
    }
    return status;
}

tsr_status tsr_editor_cut(tsr_editor *editor, const char *object, const tsr_box *region, const char *name)
{
    int32_t slot, fresh;
    tsr_tiles *inner = NULL, *outer = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(check_new(editor, name));
    TSR_TRY(divide(editor, slot, region, &inner, &outer));
    tsr_status status = tsr_edit_new(editor, name, &fresh);
    if (status == TSR_OK) {
        tsr_edit_begin(editor);
        status = tsr_edit_replace(editor, slot, &outer);
    }
    if (status == TSR_OK) {
        status = tsr_edit_replace(editor, fresh, &inner);
        if (status != TSR_OK) tsr_edit_abandon(editor);
    }
    tsr_tiles_destroy(&inner);
    tsr_tiles_destroy(&outer);
    return status;
}

tsr_status tsr_editor_delete(tsr_editor *editor, const char *object, const tsr_box *region)
{
    int32_t slot;
    tsr_tiles *inner = NULL, *outer = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(divide(editor, slot, region, &inner, &outer));
    tsr_tiles_destroy(&inner);
    TSR_TRY(replace_in_a_step(editor, slot, &outer));
    return TSR_OK;
}

/* ---- output ---------------------------------------------------------------------------------------------------------------------------------------------- */

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
    if (low[0] == high[0]) TSR_FAIL(TSR_ERROR_STATE, "the list is empty: there is no field to store");
    for (int k = 0; k < 3; k++) {
        first[k] = (int32_t)(low[k] - E);
        size[k] = high[k] - low[k] + 2 * E;
    }
    return TSR_OK;
}

tsr_status tsr_tiles_field(const tsr_tiles *tiles, tsr_volume **field)
{
    int32_t first[3];
    int64_t size[3];
    *field = NULL;
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

tsr_status tsr_editor_field(const tsr_editor *editor, const char *object, tsr_volume **field)
{
    int32_t slot;
    *field = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_tiles_field(editor->object[slot].tiles, field));
    return TSR_OK;
}
