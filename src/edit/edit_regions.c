/* edit/edit_regions.c: operators of an editor on what a selection holds (docs/theory/editing.md 1, 4). */
#include "edit/edit.h"

static int is_empty(const tsr_tiles *tiles)
{
    tsr_tile_state state;
    return tsr_tiles_read_state(tiles, &state) == TSR_OK && state.count == 0 && state.background == TSR_TILE_OUTSIDE;
}

/* What is not the component goes back to the rest. */
static tsr_status narrow(tsr_vec3 at, tsr_tiles **inner, tsr_tiles **outer)
{
    tsr_tiles *component = NULL, *others = NULL, *joined = NULL;
    tsr_status status = tsr_edit_component(*inner, "selection", at, &component, &others);
    if (status == TSR_OK && others && outer) {
        status = tsr_tiles_combine(*outer, others, TSR_CSG_UNION, 0, &joined);
        if (status == TSR_OK) {
            tsr_tiles_destroy(outer);
            *outer = joined;
        }
    }
    tsr_tiles_destroy(&others);
    if (status == TSR_OK) {
        tsr_tiles_destroy(inner);
        *inner = component;
    } else {
        tsr_tiles_destroy(&component);
    }
    return status;
}

/* What lies in the selection, or the component of it around `at`, and the rest (outer NULL: not asked for), of the severed surface. */
static tsr_status divide(const tsr_editor *editor, int32_t slot, const tsr_selection *selection, const tsr_vec3 *at, tsr_tiles **inner,
                         tsr_tiles **outer)
{
    TSR_TRY(tsr_tiles_divide(editor->object[slot].tiles, selection, inner, outer));
    tsr_status status = TSR_OK;
    if (is_empty(*inner))
        status = TSR_FAILED(TSR_ERROR_STATE, "nothing of '%s' lies in the %s", editor->object[slot].name, tsr_selection_name(selection->kind));
    if (status == TSR_OK && at) status = narrow(*at, inner, outer);
    if (status != TSR_OK) {
        tsr_tiles_destroy(inner);
        if (outer) tsr_tiles_destroy(outer);
    }
    return status;
}

tsr_status tsr_editor_disconnect(tsr_editor *editor, const char *object, const tsr_selection *selection, double width)
{
    TSR_NEEDS(editor, selection);
    int32_t slot;
    tsr_tiles *made = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_tiles_disconnect_at(editor->object[slot].tiles, selection, width, &made));
    TSR_TRY(tsr_edit_put(editor, slot, &made));
    return TSR_OK;
}

tsr_status tsr_editor_cut(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at, const char *name)
{
    TSR_NEEDS(editor, selection, name);
    int32_t slot, fresh;
    tsr_tiles *inner = NULL, *outer = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_edit_check_new(editor, name));
    TSR_TRY(divide(editor, slot, selection, at, &inner, &outer));
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

tsr_status tsr_editor_copy_out(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at, const char *name)
{
    TSR_NEEDS(editor, selection, name);
    int32_t slot;
    tsr_tiles *inner = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_edit_check_new(editor, name));
    TSR_TRY(divide(editor, slot, selection, at, &inner, NULL));
    TSR_TRY(tsr_edit_add(editor, name, &inner));
    return TSR_OK;
}

tsr_status tsr_editor_delete(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at)
{
    TSR_NEEDS(editor, selection);
    int32_t slot;
    tsr_tiles *inner = NULL, *outer = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(divide(editor, slot, selection, at, &inner, &outer));
    tsr_tiles_destroy(&inner);
    TSR_TRY(tsr_edit_put(editor, slot, &outer));
    return TSR_OK;
}

tsr_status tsr_edit_keep_in(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at)
{
    int32_t slot;
    tsr_tiles *inner = NULL;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(divide(editor, slot, selection, at, &inner, NULL));
    TSR_TRY(tsr_edit_put(editor, slot, &inner));
    return TSR_OK;
}

tsr_status tsr_editor_components_in(const tsr_editor *editor, const char *object, const tsr_selection *selection, tsr_component *components,
                                    int64_t room, int64_t *count)
{
    TSR_NEEDS(editor, selection, count);
    int32_t slot;
    tsr_tiles *inner = NULL;
    *count = 0;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    TSR_TRY(tsr_tiles_divide(editor->object[slot].tiles, selection, &inner, NULL));
    tsr_status status = tsr_tiles_components(inner, 26, components, room, count);
    tsr_tiles_destroy(&inner);
    return status;
}
