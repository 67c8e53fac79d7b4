/* edit/edit_pieces.c: operators of an editor that take an object apart: one connected component, or each of them (docs/theory/editing.md 4). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit.h"

/* Sorted keys of the tiles of either list (malloc). */
static tsr_status keys_of_both(const tsr_tiles *a, const tsr_tiles *b, uint64_t **keys, int64_t *count)
{
    uint64_t *first, *second;
    int64_t na, nb;
    TSR_TRY(tsr_csg_keys(a, &first, &na));
    tsr_status status = tsr_csg_keys(b, &second, &nb);
    if (status != TSR_OK) {
        free(first);
        return status;
    }
    *keys = (uint64_t *)malloc((size_t)(na + nb + 1) * sizeof **keys);
    if (*keys) {
        memcpy(*keys, first, (size_t)na * sizeof *first);
        memcpy(*keys + na, second, (size_t)nb * sizeof *second);
        *count = tsr_keys_sort_unique(*keys, na + nb);
    }
    free(first);
    free(second);
    if (!*keys) TSR_FAIL(TSR_ERROR_MEMORY, "components: out of memory for %lld tiles", (long long)(na + nb));
    return TSR_OK;
}

enum {
    WHOLE,
    KEPT,
    ANEW,
    GONE,
    STATES
}; /* a tile in the object, with the components that stay, as their distance, and of the distance to the rest */

/* Value of a voxel once the other components have gone: its own bits unless they told the distance to those. `voxel` is how far two first-order
 * distances may be apart. */
static float value_without(const float v[STATES], float band, float voxel)
{
    if (v[WHOLE] < 0) return v[KEPT] < 0 ? v[WHOLE] : v[ANEW];
    const int theirs = v[WHOLE] >= v[GONE] - voxel && (v[GONE] < band || v[ANEW] >= band);
    return theirs || v[WHOLE] < v[ANEW] - voxel ? v[ANEW] : v[WHOLE]; /* nearer than what stays can be: they told it */
}

/* The voxels of all the tiles, on the host; they go back into pages. */
static tsr_status choose_values(const tsr_tiles *tiles, tsr_patch state[STATES])
{
    tsr_context *context = tiles->context;
    const tsr_tile_pool *pool = &tiles->pool;
    const int64_t n = state[ANEW].count << (3 * pool->log2_edge), most = (int64_t)1 << 20;
    const float voxel = tsr_maxf(pool->spacing[0], tsr_maxf(pool->spacing[1], pool->spacing[2]));
    float *values = (float *)malloc((size_t)(STATES * tsr_min64(n, most) + 1) * sizeof *values);
    if (!values) TSR_FAIL(TSR_ERROR_MEMORY, "components: out of memory for %lld voxels", (long long)tsr_min64(n, most));
    tsr_status status = TSR_OK;
    for (int64_t first = 0; first < n && status == TSR_OK; first += most) {
        const int64_t count = tsr_min64(n - first, most);
        for (int k = 0; k < STATES && status == TSR_OK; k++)
            status = context->backend->download(context->queue, values + k * count, state[k].pages + first, (size_t)count * sizeof *values);
        for (int64_t i = 0; i < count && status == TSR_OK; i++) {
            const float v[STATES] = { values[i], values[count + i], values[2 * count + i], values[3 * count + i] };
            values[i] = value_without(v, pool->band, voxel);
        }
        if (status == TSR_OK) status = context->backend->upload(context->queue, state[ANEW].pages + first, values, (size_t)count * sizeof *values);
    }
    free(values);
    return status;
}

/* *result: the object with only the components of `kept`; `gone` are the others. Both become distances. */
static tsr_status without(const tsr_tiles *tiles, tsr_tiles *kept, tsr_tiles *gone, tsr_tiles **result)
{
    tsr_patch state[STATES];
    tsr_tiles *raw = NULL;
    uint64_t *keys = NULL;
    int64_t count = 0;
    memset(state, 0, sizeof state);
    TSR_TRY(tsr_edit_copy_list(gone, &raw));
    tsr_status status = tsr_list_make_distance_anew(gone, NULL);
    if (status == TSR_OK) status = keys_of_both(raw, gone, &keys, &count);
    tsr_tiles_destroy(&raw);
    if (status == TSR_OK) status = tsr_patch_take(tiles, keys, count, &state[WHOLE]);
    if (status == TSR_OK) status = tsr_patch_take(kept, keys, count, &state[KEPT]);
    if (status == TSR_OK) status = tsr_patch_take(gone, keys, count, &state[GONE]);
    if (status == TSR_OK) status = tsr_list_make_distance_anew(kept, NULL);
    if (status == TSR_OK) status = tsr_patch_take(kept, keys, count, &state[ANEW]);
    if (status == TSR_OK) status = choose_values(tiles, state);
    if (status == TSR_OK) status = tsr_edit_copy_list(tiles, result);
    if (status == TSR_OK) status = tsr_patch_apply(&state[ANEW], *result);
    for (int k = 0; k < STATES; k++) tsr_patch_drop(&state[k]);
    free(keys);
    if (status != TSR_OK) tsr_tiles_destroy(result);
    return status;
}

/* The object with component `chosen` of `count` alone, or with all others (`rest` != 0): voxels that what goes was not nearest to keep their bits. RETURNS NEW. */
static tsr_status only(const tsr_tiles *tiles, int64_t chosen, int64_t count, int rest, tsr_tiles **result)
{
    tsr_tiles *kept = NULL, *gone = NULL;
    *result = NULL;
    uint8_t *keep = (uint8_t *)calloc((size_t)(count + 1), 1);
    if (!keep) TSR_FAIL(TSR_ERROR_MEMORY, "components: out of memory for %lld", (long long)count);
    for (int64_t i = 0; i < count; i++) keep[i] = (i == chosen) != rest;
    tsr_status status = tsr_tiles_keep(tiles, keep, count, &kept);
    for (int64_t i = 0; i < count; i++) keep[i] = !keep[i];
    if (status == TSR_OK) status = tsr_tiles_keep(tiles, keep, count, &gone);
    if (status == TSR_OK) status = without(tiles, kept, gone, result);
    tsr_tiles_destroy(&kept);
    tsr_tiles_destroy(&gone);
    free(keep);
    return status;
}

/* ---- one component -------------------------------------------------------------------------------------------------------------------------------- */

/* The component whose inside holds the voxel nearest to `at`: by keeping each in turn would be slow, so the labels are asked. */
static tsr_status component_at(const tsr_tiles *tiles, const char *who, tsr_vec3 at, const tsr_csg_labels *labels, int64_t *chosen)
{
    tsr_context *context = tiles->context;
    const tsr_tile_pool *pool = &tiles->pool;
    const int32_t E = 1 << pool->log2_edge, V = E * E * E;
    const double p[3] = { at.x, at.y, at.z };
    int32_t v[3];
    uint64_t *keys;
    int64_t count;
    uint32_t label = UINT32_MAX;
    for (int k = 0; k < 3; k++) {
        double x = floor(p[k] / (double)pool->spacing[k] + 0.5);
        if (!(fabs(x) < 4e6)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: the point (%g, %g, %g) is beyond the tile coordinates", who, at.x, at.y, at.z);
        v[k] = (int32_t)x;
    }
    uint64_t key = tsr_key_make(v[0] >> pool->log2_edge, v[1] >> pool->log2_edge, v[2] >> pool->log2_edge);
    TSR_TRY(tsr_csg_keys(tiles, &keys, &count));
    int64_t entry = tsr_key_lower_bound(keys, (int32_t)count, key), node = -1;
    if (entry < count && keys[entry] == key) {
        node = entry * V + ((v[2] & (E - 1)) * E + (v[1] & (E - 1))) * E + (v[0] & (E - 1));
    } else if (entry > 0 && entry < count && keys[entry - 1] >> 21 == key >> 21 && keys[entry] >> 21 == key >> 21) {
        node = count * V + entry - 1; /* a gap between two tiles of a row */
    }
    free(keys);
    if (node >= 0) TSR_TRY(context->backend->download(context->queue, &label, labels->work.args.parent + node, sizeof label));
    if (label == UINT32_MAX) TSR_FAIL(TSR_ERROR_STATE, "%s: (%g, %g, %g) is not inside the object", who, at.x, at.y, at.z);
    *chosen = (int64_t)label;
    return TSR_OK;
}

tsr_status tsr_edit_component(const tsr_tiles *tiles, const char *who, tsr_vec3 at, tsr_tiles **component, tsr_tiles **others)
{
    tsr_csg_labels labels;
    int64_t chosen = 0;
    *component = *others = NULL;
    TSR_TRY(tsr_csg_label(tiles, 1, 26, &labels));
    const int64_t count = labels.count;
    tsr_status status = component_at(tiles, who, at, &labels, &chosen);
    tsr_csg_labels_drop(&labels);
    TSR_TRY(status);
    if (count == 1) return tsr_edit_copy_list(tiles, component);
    status = only(tiles, chosen, count, 0, component);
    if (status == TSR_OK) status = only(tiles, chosen, count, 1, others);
    if (status != TSR_OK) tsr_tiles_destroy(component);
    return status;
}

tsr_status tsr_editor_keep(tsr_editor *editor, const char *object, const tsr_selection *selection, const tsr_vec3 *at)
{
    TSR_NEEDS(editor);
    if (selection) return tsr_edit_keep_in(editor, object, selection, at);
    int32_t slot;
    tsr_csg_labels labels;
    tsr_tiles *kept = NULL;
    int64_t chosen = 0;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    const tsr_tiles *tiles = editor->object[slot].tiles;
    TSR_TRY(tsr_csg_label(tiles, 1, 26, &labels));
    tsr_status status = labels.count > 0 ? TSR_OK : TSR_FAILED(TSR_ERROR_STATE, "keep: '%s' is empty", object);
    if (status == TSR_OK && at) status = component_at(tiles, "keep", *at, &labels, &chosen);
    for (int64_t i = 1; !at && i < labels.count; i++)
        if (labels.voxels[i] > labels.voxels[chosen]) chosen = i;
    const int64_t count = labels.count;
    tsr_csg_labels_drop(&labels);
    TSR_TRY(status);
    TSR_TRY(count > 1 ? only(tiles, chosen, count, 0, &kept) : tsr_edit_copy_list(tiles, &kept));
    return tsr_edit_settle(editor, slot, &kept);
}

/* List i of `lists` becomes component i of `tiles` alone. The caller destroys what is there after a failure. */
static tsr_status take_apart(const tsr_tiles *tiles, int64_t count, tsr_tiles **lists)
{
    for (int64_t i = 0; i < count; i++) {
        tsr_tiles *kept = NULL;
        TSR_TRY(only(tiles, i, count, 0, &kept));
        tsr_status status = tsr_edit_copy_list(kept, &lists[i]);
        tsr_tiles_destroy(&kept);
        TSR_TRY(status);
    }
    return TSR_OK;
}

/* Name of piece `number`, 1, 2, ..., of an object, which must be free. */
static tsr_status piece_name(const tsr_editor *editor, const char *object, int number, char name[TSR_EDIT_NAME])
{
    const int length = snprintf(name, TSR_EDIT_NAME, "%s.%d", object, number);
    if (length < 0 || length >= TSR_EDIT_NAME)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "split: the name '%s' leaves no room for a number, expected at most %d characters", object, TSR_EDIT_NAME - 5);
    if (tsr_editor_tiles(editor, name)) TSR_FAIL(TSR_ERROR_STATE, "split: there is an object '%s' already, expected a free name", name);
    return TSR_OK;
}

tsr_status tsr_editor_split(tsr_editor *editor, const char *object, int64_t *pieces)
{
    TSR_NEEDS(editor);
    int32_t slot;
    int64_t count, largest = 0;
    tsr_component part[TSR_EDIT_PIECES];
    tsr_tiles *list[TSR_EDIT_PIECES] = { NULL };
    char name[TSR_EDIT_NAME];
    if (pieces) *pieces = 0;
    TSR_TRY(tsr_edit_find(editor, object, &slot));
    const tsr_tiles *tiles = editor->object[slot].tiles;
    TSR_TRY(tsr_tiles_components(tiles, 26, part, TSR_EDIT_PIECES, &count));
    if (count < 1) TSR_FAIL(TSR_ERROR_STATE, "split: '%s' is empty", object);
    if (count > TSR_EDIT_PIECES)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "split: '%s' has %lld components, expected at most %d", object, (long long)count, (int)TSR_EDIT_PIECES);
    for (int64_t i = 1; i < count; i++) {
        TSR_TRY(piece_name(editor, object, (int)i, name));
        if (part[i].voxels > part[largest].voxels) largest = i;
    }
    tsr_status status = count > 1 ? take_apart(tiles, count, list) : TSR_OK;
    int begun = 0, number = 0;
    if (status == TSR_OK && count > 1) {
        tsr_edit_begin(editor);
        begun = 1;
        status = tsr_edit_replace(editor, slot, &list[largest]);
    }
    for (int64_t i = 0; i < count && count > 1 && status == TSR_OK; i++) {
        int32_t fresh;
        if (i == largest) continue;
        status = piece_name(editor, object, ++number, name);
        if (status == TSR_OK) status = tsr_edit_new(editor, name, &fresh);
        if (status == TSR_OK) status = tsr_edit_replace(editor, fresh, &list[i]);
    }
    if (status != TSR_OK && begun) tsr_edit_abandon(editor);
    for (int64_t i = 0; i < count; i++) tsr_tiles_destroy(&list[i]);
    if (status == TSR_OK && pieces) *pieces = count;
    return status;
}
