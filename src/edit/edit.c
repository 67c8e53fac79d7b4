/* edit/edit.c: operators of an editor on the lists of its objects, and output. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"
#include "edit/edit.h"

/* ---- making objects ------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_edit_add(tsr_editor *editor, const char *name, tsr_tiles **made)
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

tsr_status tsr_edit_check_new(const tsr_editor *editor, const char *name)
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
    TSR_NEEDS(editor, name, tiles);
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_check_new(editor, name));
    TSR_TRY(tsr_csg_require_pair(editor->model, tiles));
    TSR_TRY(tsr_csg_merge_lists(tiles, 0, NULL, 0, TSR_CSG_FIRST, 0, &made)); /* a copy with exactly the tiles it needs */
    TSR_TRY(tsr_edit_add(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_shape(tsr_editor *editor, const char *name, const tsr_shape *shape)
{
    TSR_NEEDS(editor, name, shape);
    tsr_tiles_options options;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_check_new(editor, name));
    list_options(editor, &options);
    TSR_TRY(tsr_tiles_shape(editor->context, &editor->options.geometry, &options, shape, &made));
    TSR_TRY(tsr_edit_add(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_animal(tsr_editor *editor, const char *name, tsr_vec3 centre, double size)
{
    TSR_NEEDS(editor, name);
    tsr_tiles_options options;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_check_new(editor, name));
    list_options(editor, &options);
    TSR_TRY(tsr_tiles_animal(editor->context, &editor->options.geometry, &options, centre, size, &made));
    TSR_TRY(tsr_edit_add(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_duplicate(tsr_editor *editor, const char *object, const char *name)
{
    TSR_NEEDS(editor, name);
    int32_t slot;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_edit_check_new(editor, name));
    TSR_TRY(tsr_csg_merge_lists(editor->object[slot].tiles, 0, NULL, 0, TSR_CSG_FIRST, 0, &made));
    TSR_TRY(tsr_edit_add(editor, name, &made));
    return TSR_OK;
}

tsr_status tsr_editor_remove(tsr_editor *editor, const char *object)
{
    TSR_NEEDS(editor);
    int32_t slot;
    tsr_tiles *none = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    tsr_edit_begin(editor);
    TSR_TRY(tsr_edit_replace(editor, slot, &none));
    return TSR_OK;
}

/* ---- operators ---------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_edit_put(tsr_editor *editor, int32_t slot, tsr_tiles **made)
{
    tsr_edit_begin(editor);
    TSR_TRY(tsr_edit_replace(editor, slot, made));
    return TSR_OK;
}

tsr_status tsr_editor_combine(tsr_editor *editor, const char *object, const char *other, tsr_csg_operation operation, double radius)
{
    TSR_NEEDS(editor);
    int32_t a, b;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &a));
    TSR_TRY(tsr_edit_find(editor, other, &b));
    TSR_TRY(tsr_tiles_combine(editor->object[a].tiles, editor->object[b].tiles, operation, radius, &made));
    TSR_TRY(tsr_edit_put(editor, a, &made));
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
    TSR_NEEDS(editor);
    int32_t slot, tiles[3];
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    const tsr_tiles *list = editor->object[slot].tiles;
    if (whole_tiles(&list->pool, shift, tiles)) TSR_TRY(tsr_tiles_translate(list, tiles[0], tiles[1], tiles[2], &made));
    else TSR_TRY(tsr_tiles_transform(list, &(tsr_motion){ .shift = shift }, &made));
    TSR_TRY(tsr_edit_put(editor, slot, &made));
    return TSR_OK;
}

/* One motion of *list (NULL: `from`), with distances anew after a scaling. */
static tsr_status transform_once(const tsr_tiles *from, const tsr_motion *motion, tsr_progress_part *part, tsr_tiles **list)
{
    const int scales = motion->scale != 0 && motion->scale != 1;
    const double share = part->share;
    const tsr_progress progress = { tsr_progress_of_part, part };
    tsr_tiles *made = NULL;
    if (scales) part->share = 0.5 * share;
    tsr_status status = tsr_csg_transform(*list ? *list : from, motion, &progress, &made);
    part->from += part->share;
    if (status == TSR_OK && scales) status = tsr_list_make_distance_anew(made, &progress);
    if (scales) part->from += part->share;
    part->share = share;
    tsr_tiles_destroy(list);
    if (status != TSR_OK) tsr_tiles_destroy(&made);
    *list = made;
    return status;
}

/* Factors of at most 2 that make up a scale; scales out of range are refused by the first of them. */
static int factors(double scale)
{
    int n = 1;
    for (; scale > 1e-3 && scale < 1e3 && (scale > 2 || scale < 0.5); n++) scale *= scale > 2 ? 0.5 : 2;
    return n;
}

tsr_status tsr_editor_transform(tsr_editor *editor, const char *object, const tsr_motion *motion, const tsr_progress *progress)
{
    TSR_NEEDS(editor, motion);
    int32_t slot;
    tsr_tiles *made = NULL;
    tsr_status status = TSR_OK;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    const tsr_tiles *from = editor->object[slot].tiles;
    tsr_motion last = *motion;
    /* The band is scaled, too: by more than 2 at once too little of it is left, or it takes as many tiles as the inside. */
    const int parts = factors(motion->scale);
    tsr_progress_part share = { progress, "transform", 0, 1.0 / parts };
    for (int i = 1; i < parts && status == TSR_OK; i++) {
        const tsr_motion part = { .centre = motion->centre, .scale = last.scale > 2 ? 2 : 0.5 };
        status = transform_once(from, &part, &share, &made);
        last.scale /= part.scale;
    }
    if (status == TSR_OK) status = transform_once(from, &last, &share, &made);
    TSR_TRY(status);
    return tsr_edit_put(editor, slot, &made);
}

/* ---- output ---------------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_editor_field(const tsr_editor *editor, const char *object, tsr_volume **field)
{
    TSR_RETURNS(field);
    TSR_NEEDS(editor);
    int32_t slot;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_tiles_field(editor->object[slot].tiles, field));
    return TSR_OK;
}
