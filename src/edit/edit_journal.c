/* edit/edit_journal.c: the objects of a document and the history of what was done to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit.h"
#include "tessera/tiles.h"

/* ---- objects ---------------------------------------------------------------------------------------------------------------------------------- */

const char *tsr_editor_object_at(const tsr_editor *editor, int32_t index)
{
    for (int32_t i = 0; editor && i < editor->objects; i++)
        if (editor->object[i].tiles && index-- == 0) return editor->object[i].name;
    return NULL;
}

const tsr_tiles *tsr_editor_tiles(const tsr_editor *editor, const char *name)
{
    for (int32_t i = 0; editor && name && i < editor->objects; i++)
        if (editor->object[i].tiles && !strcmp(editor->object[i].name, name)) return editor->object[i].tiles;
    return NULL;
}

tsr_status tsr_edit_find(const tsr_editor *editor, const char *name, int32_t *slot)
{
    char known[200] = "";
    size_t used = 0;
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    if (!name) TSR_FAIL(TSR_ERROR_ARGUMENT, "the name of the object is NULL");
    for (int32_t i = 0; i < editor->objects; i++) {
        if (!editor->object[i].tiles) continue;
        if (!strcmp(editor->object[i].name, name)) {
            *slot = i;
            return TSR_OK;
        }
        int n = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", editor->object[i].name);
        if (n > 0 && used + (size_t)n < sizeof known) used += (size_t)n;
        else known[used] = 0; /* no room: the list ends here */
    }
    TSR_FAIL(TSR_ERROR_STATE, "there is no object '%.64s', expected %s%s", name, used ? "one of " : "an object to be made first", known);
}

static int good_name(const char *name)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t n = name ? strlen(name) : 0;
    return n > 0 && n < TSR_EDIT_NAME && strspn(name, good) == n;
}

tsr_status tsr_edit_new(tsr_editor *editor, const char *name, int32_t *slot)
{
    if (!editor) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor is NULL");
    if (!good_name(name))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "'%.64s' is no name for an object, expected 1 to %d letters, digits, '-', '_' or '.'", name ? name : "",
                 TSR_EDIT_NAME - 1);
    if (tsr_editor_tiles(editor, name)) TSR_FAIL(TSR_ERROR_STATE, "there is an object '%s' already, expected a new name", name);
    if (editor->objects == editor->room) {
        int32_t room = 2 * editor->room + 8;
        tsr_edit_object *grown = (tsr_edit_object *)realloc(editor->object, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "editor: out of memory for %d objects", room);
        editor->object = grown;
        editor->room = room;
    }
    /* a slot is never used for another name: the history refers to it */
    tsr_edit_object *o = &editor->object[ *slot = editor->objects++];
    memset(o, 0, sizeof *o);
    memcpy(o->name, name, strlen(name));
    o->all_changed = 1;
    return TSR_OK;
}

/* The tiles of a patch were written. */
static void note_change(tsr_edit_object *object, const tsr_patch *patch)
{
    tsr_surface_region *r = &object->changed;
    for (int64_t i = 0; i < patch->count; i++) {
        const int64_t at[3] = { tsr_key_x(patch->keys[i]), tsr_key_y(patch->keys[i]), tsr_key_z(patch->keys[i]) };
        for (int k = 0; k < 3; k++) {
            int none = r->lower[k] == r->upper[k];
            r->lower[k] = none ? at[k] : tsr_min64(r->lower[k], at[k]);
            r->upper[k] = none ? at[k] + 1 : tsr_max64(r->upper[k], at[k] + 1);
        }
    }
}

tsr_status tsr_editor_changes(tsr_editor *editor, const char *object, tsr_surface_region *region, const tsr_surface_region **changed)
{
    TSR_RETURNS(changed);
    TSR_NEEDS(editor, region);
    int32_t slot;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    tsr_edit_object *o = &editor->object[slot];
    *region = o->changed;
    for (int k = 0; k < 3; k++) {
        region->lower[k] *= (int64_t)1 << o->tiles->pool.log2_edge;
        region->upper[k] *= (int64_t)1 << o->tiles->pool.log2_edge;
    }
    *changed = o->all_changed ? NULL : region;
    o->changed = (tsr_surface_region){ { 0, 0, 0 }, { 0, 0, 0 } };
    o->all_changed = 0;
    return TSR_OK;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------------------------------------- */

static void drop_change(tsr_edit_change *change)
{
    tsr_tiles_destroy(&change->tiles);
    tsr_patch_drop(&change->patch);
}

static void drop_stack(tsr_edit_stack *stack)
{
    for (int64_t i = 0; i < stack->count; i++) drop_change(&stack->change[i]);
    stack->count = 0;
}

/* Room for one more; *change is zeroed and counts only when the caller raises the count. */
static tsr_status next_change(tsr_edit_stack *stack, tsr_edit_change **change)
{
    if (stack->count == stack->room) {
        int64_t room = 2 * stack->room + 16;
        tsr_edit_change *grown = (tsr_edit_change *)realloc(stack->change, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "editor: out of memory for %lld steps of the history", (long long)room);
        stack->change = grown;
        stack->room = room;
    }
    *change = &stack->change[stack->count];
    memset(*change, 0, sizeof **change);
    return TSR_OK;
}

static int64_t change_bytes(const tsr_edit_change *change)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    if (change->tiles && tsr_tiles_describe(change->tiles, &info) != TSR_OK) info.device_bytes = 0;
    return (int64_t)change->patch.bytes + info.device_bytes;
}
static int64_t stack_bytes(const tsr_edit_stack *stack)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < stack->count; i++) bytes += change_bytes(&stack->change[i]);
    return bytes;
}
static int64_t stack_steps(const tsr_edit_stack *stack)
{
    int64_t steps = 0;
    for (int64_t i = 0; i < stack->count; i++) steps += i == 0 || stack->change[i].step != stack->change[i - 1].step;
    return steps;
}

tsr_status tsr_editor_history(const tsr_editor *editor, tsr_edit_history *history)
{
    TSR_NEEDS(editor, history);
    const tsr_edit_history own = { .undo_steps = stack_steps(&editor->undo),
                                   .redo_steps = stack_steps(&editor->redo),
                                   .tiles = editor->last_tiles,
                                   .device_bytes = stack_bytes(&editor->undo) + stack_bytes(&editor->redo),
                                   .list_seconds = editor->list_seconds };
    return TSR_STRUCT_GIVE(history, &own);
}

/* The oldest steps go until the history fits its limit; the step that was just done always stays. */
static void forget(tsr_editor *editor)
{
    tsr_edit_stack *stack = &editor->undo;
    if (editor->options.history_limit <= 0) return;
    int64_t bytes = stack_bytes(stack), gone = 0;
    while (bytes > editor->options.history_limit && gone < stack->count && stack->change[gone].step != editor->step) {
        bytes -= change_bytes(&stack->change[gone]);
        drop_change(&stack->change[gone++]);
    }
    if (gone) memmove(stack->change, stack->change + gone, (size_t)(stack->count - gone) * sizeof *stack->change);
    stack->count -= gone;
}

/* ---- doing ------------------------------------------------------------------------------------------------------------------------------------------ */

void tsr_edit_begin(tsr_editor *editor)
{
    editor->step++;
    editor->last_tiles = 0;
    editor->list_seconds = 0;
}

tsr_status tsr_edit_replace(tsr_editor *editor, int32_t slot, tsr_tiles **made)
{
    tsr_edit_object *object = &editor->object[slot];
    tsr_edit_change *change = NULL;
    tsr_tiles *adopted = *made;
    *made = NULL;
    tsr_status status = adopted && editor->options.key_bits ? tsr_tiles_set_key_bits(adopted, editor->options.key_bits) : TSR_OK;
    if (status == TSR_OK) status = next_change(&editor->undo, &change);
    if (status == TSR_OK && object->tiles && adopted) status = tsr_patch_difference(object->tiles, adopted, &change->patch);
    if (status != TSR_OK) {
        tsr_tiles_destroy(&adopted);
        return status;
    }
    change->step = editor->step;
    change->slot = slot;
    if (object->tiles && adopted) {
        tsr_tiles_destroy(&object->tiles);
        editor->last_tiles += change->patch.count;
    } else {
        change->whole = 1;
        change->tiles = object->tiles; /* NULL for a new object */
    }
    object->tiles = adopted;
    object->all_changed = 1;
    editor->undo.count++;
    drop_stack(&editor->redo);
    forget(editor);
    return TSR_OK;
}

/* The change of the running step that keeps pages of this slot already, if it is the last one: a brush that moves in pieces comes back to the
 * same tiles, and their pages are kept once. */
static tsr_edit_change *running_change(tsr_editor *editor, int32_t slot)
{
    tsr_edit_change *last = editor->undo.count > 0 ? &editor->undo.change[editor->undo.count - 1] : NULL;
    return last && last->step == editor->step && last->slot == slot && !last->whole ? last : NULL;
}

/* What the journal must keep before `patch` is applied: pages of the running change and of those tiles it does not have yet. */
static tsr_status kept_pages(const tsr_tiles *tiles, const tsr_edit_change *running, const tsr_patch *patch, tsr_patch *kept, int64_t *fresh)
{
    tsr_patch more;
    uint64_t *keys = (uint64_t *)malloc((size_t)tsr_max64(patch->count, 1) * sizeof *keys);
    if (!keys) TSR_FAIL(TSR_ERROR_MEMORY, "editor: out of memory for %lld tiles", (long long)patch->count);
    *fresh = 0;
    for (int64_t i = 0; i < patch->count; i++) {
        int64_t n = running ? running->patch.count : 0, at = n ? tsr_key_lower_bound(running->patch.keys, (int32_t)n, patch->keys[i]) : 0;
        if (at == n || running->patch.keys[at] != patch->keys[i]) keys[(*fresh)++] = patch->keys[i];
    }
    tsr_status status = tsr_patch_take(tiles, keys, *fresh, &more);
    free(keys);
    TSR_TRY(status);
    if (!running) {
        *kept = more;
        return TSR_OK;
    }
    status = tsr_patch_join(tiles, &running->patch, &more, kept);
    tsr_patch_drop(&more);
    return status;
}

tsr_status tsr_edit_patch(tsr_editor *editor, int32_t slot, const tsr_patch *patch)
{
    tsr_edit_change *change = NULL, *running;
    tsr_patch kept;
    int64_t fresh = 0;
    TSR_TRY(next_change(&editor->undo, &change)); /* may move the stack */
    running = running_change(editor, slot);
    TSR_TRY(kept_pages(editor->object[slot].tiles, running, patch, &kept, &fresh));
    tsr_status status = tsr_patch_apply(patch, editor->object[slot].tiles);
    if (status != TSR_OK) {
        tsr_patch_drop(&kept);
        return status;
    }
    note_change(&editor->object[slot], patch);
    if (running) {
        tsr_patch_drop(&running->patch);
        running->patch = kept;
    } else {
        *change = (tsr_edit_change){ .step = editor->step, .slot = slot, .patch = kept };
        editor->undo.count++;
    }
    editor->last_tiles += fresh;
    drop_stack(&editor->redo);
    forget(editor);
    return TSR_OK;
}

tsr_status tsr_edit_finish(tsr_editor *editor, int32_t slot)
{
    tsr_edit_change *change = NULL;
    if (editor->undo.count > 0 && editor->undo.change[editor->undo.count - 1].step == editor->step) return TSR_OK;
    TSR_TRY(next_change(&editor->undo, &change));
    change->step = editor->step;
    change->slot = slot;
    editor->undo.count++;
    drop_stack(&editor->redo);
    return TSR_OK;
}

/* ---- undoing -------------------------------------------------------------------------------------------------------------------------------------------- */

/* Takes the last change of `from` back and puts what takes that back on `to` (NULL: forgotten). */
static tsr_status turn_back(tsr_editor *editor, tsr_edit_stack *from, tsr_edit_stack *to)
{
    tsr_edit_change *change = &from->change[from->count - 1], *inverse = NULL, unused;
    tsr_edit_object *object = &editor->object[change->slot];
    if (to) {
        TSR_TRY(next_change(to, &inverse));
    } else {
        memset(&unused, 0, sizeof unused);
        inverse = &unused;
    }
    inverse->step = change->step;
    inverse->slot = change->slot;
    inverse->whole = change->whole;
    if (change->whole) {
        inverse->tiles = object->tiles;
        object->tiles = change->tiles;
        object->all_changed = 1;
        change->tiles = NULL;
    } else if (change->patch.count > 0) {
        if (to) TSR_TRY(tsr_patch_take(object->tiles, change->patch.keys, change->patch.count, &inverse->patch));
        tsr_status status = tsr_patch_apply(&change->patch, object->tiles);
        if (status != TSR_OK) {
            tsr_patch_drop(&inverse->patch);
            return status;
        }
        note_change(object, &change->patch);
        editor->last_tiles += change->patch.count;
    }
    drop_change(change);
    from->count--;
    if (to) to->count++;
    else tsr_tiles_destroy(&inverse->tiles);
    return TSR_OK;
}

static tsr_status turn_step_back(tsr_editor *editor, tsr_edit_stack *from, tsr_edit_stack *to)
{
    int64_t step = from->change[from->count - 1].step;
    editor->last_tiles = 0;
    while (from->count > 0 && from->change[from->count - 1].step == step) TSR_TRY(turn_back(editor, from, to));
    return TSR_OK;
}

tsr_status tsr_editor_undo(tsr_editor *editor)
{
    TSR_NEEDS(editor);
    if (editor->undo.count == 0) TSR_FAIL(TSR_ERROR_STATE, "there is nothing to undo");
    TSR_TRY(turn_step_back(editor, &editor->undo, &editor->redo));
    return TSR_OK;
}

tsr_status tsr_editor_redo(tsr_editor *editor)
{
    TSR_NEEDS(editor);
    if (editor->redo.count == 0) TSR_FAIL(TSR_ERROR_STATE, "there is nothing to redo");
    TSR_TRY(turn_step_back(editor, &editor->redo, &editor->undo));
    return TSR_OK;
}

void tsr_edit_abandon(tsr_editor *editor)
{
    while (editor->undo.count > 0 && editor->undo.change[editor->undo.count - 1].step == editor->step)
        if (turn_back(editor, &editor->undo, NULL) != TSR_OK) return;
}

/* ---- life -------------------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_editor_create(tsr_context *context, const tsr_editor_options *options, tsr_editor **editor)
{
    TSR_RETURNS(editor);
    TSR_NEEDS(context);
    tsr_editor_options own;
    tsr_tiles_options tiles = TSR_TILES_OPTIONS;
    TSR_TRY(TSR_OPTIONS_TAKE(&own, options));
    if (own.history_limit < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "editor: history_limit is %lld, expected 0 or more", (long long)own.history_limit);
    int any = 0;
    for (int i = 0; i < 12; i++) any |= own.geometry.affine[i / 4][i % 4] != 0;
    if (!any) own.geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, own.geometry.space);
    TSR_TRY(tsr_geometry_check(&own.geometry));
    if (own.band == 0) own.band = tsr_band_default(tsr_geometry_spacing(&own.geometry), 3);
    tiles.edge = own.edge;
    tiles.band = own.band;
    tiles.capacity = 8;
    tiles.memory_limit = own.memory_limit;
    tiles.key_bits = own.key_bits; /* checked there */
    tsr_editor *made = (tsr_editor *)calloc(1, sizeof *made);
    if (!made) TSR_FAIL(TSR_ERROR_MEMORY, "editor: out of memory");
    made->context = context;
    made->options = own;
    tsr_status status = tsr_tiles_create(context, &own.geometry, &tiles, &made->model);
    if (status == TSR_OK) *editor = made;
    else free(made);
    return status;
}

void tsr_editor_destroy(tsr_editor **editor)
{
    if (!editor || !*editor) return;
    tsr_editor *e = *editor;
    *editor = NULL;
    drop_stack(&e->undo);
    drop_stack(&e->redo);
    for (int32_t i = 0; i < e->objects; i++) tsr_tiles_destroy(&e->object[i].tiles);
    tsr_tiles_destroy(&e->model);
    free(e->undo.change);
    free(e->redo.change);
    free(e->object);
    free(e);
}
