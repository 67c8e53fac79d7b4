/* viewer/sculptor_show.c: what pages and painter learn of a document: its objects and its script, the surface of all that is visible, the box it stands in. */
#include "sculptor.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_LINES = 40 };

/* ---- what pages are told ------------------------------------------------------------------------------------------------------------------------- */

static int is_hidden(const sculptor_document *d, const char *name)
{
    for (int i = 0; i < d->hidden_count; i++)
        if (!strcmp(d->hidden[i], name)) return 1;
    return 0;
}

const char *sculptor_parent(const sculptor_document *d, const char *name)
{
    for (int i = 0; i < d->parents; i++)
        if (!strcmp(d->parent[i].name, name)) return tsr_editor_tiles(d->editor, d->parent[i].of) ? d->parent[i].of : NULL;
    return NULL;
}

static json_t *objects_json(const sculptor_document *d)
{
    json_t *list = json_array();
    const char *name;
    for (int32_t i = 0; d->editor && (name = tsr_editor_object_at(d->editor, i)); i++) {
        tsr_tiles_info info = TSR_TILES_INFO;
        if (tsr_tiles_describe(tsr_editor_tiles(d->editor, name), &info) != TSR_OK) info.count = 0;
        json_t *one = json_pack("{s:s, s:b, s:I, s:I}", "name", name, "visible", !is_hidden(d, name), "tiles", (json_int_t)info.count,
                                "inside_voxels", (json_int_t)info.inside_voxels);
        if (sculptor_parent(d, name)) json_object_set_new(one, "parent", json_string(sculptor_parent(d, name)));
        int64_t a[3], b[3];
        const tsr_vec3 h = tsr_geometry_spacing(&d->geometry);
        if (tsr_tiles_bounds(tsr_editor_tiles(d->editor, name), a, b) == TSR_OK && b[0] > a[0]) /* in the world; the document's origin is 0 */
            json_object_set_new(one, "box",
                                json_pack("[f, f, f, f, f, f]", (double)a[0] * h.x, (double)a[1] * h.y, (double)a[2] * h.z, (double)(b[0] - 1) * h.x,
                                          (double)(b[1] - 1) * h.y, (double)(b[2] - 1) * h.z));
        json_array_append_new(list, one);
    }
    return list;
}

/* The last lines of the script. */
static json_t *lines_json(const sculptor_document *d)
{
    json_t *list = json_array();
    const char *from = d->script ? d->script + d->bytes : NULL, *least = d->script ? d->script + d->head : NULL;
    for (int n = 0; from && from > least && n <= SHOWN_LINES; from--)
        if (from[-1] == '\n' && ++n > SHOWN_LINES) break;
    while (from && *from) {
        const size_t length = strcspn(from, "\n"), shown = length < 120 ? length : 120;
        if (length) json_array_append_new(list, json_stringn(from, shown));
        from += length + (from[length] == '\n');
    }
    return list;
}

void sculptor_tell_state(struct sculptor *o)
{
    const tsr_vec3 h = o->d.editor ? tsr_geometry_spacing(&o->d.geometry) : (tsr_vec3){ 0, 0, 0 };
    tsr_edit_history history = TSR_EDIT_HISTORY;
    if (o->d.editor) tsr_editor_history(o->d.editor, &history);
    json_t *more =
        json_pack("{s:o, s:s, s:o, s:f, s:f, s:I, s:b, s:b, s:i, s:[f, f, f], s:I}", "objects", objects_json(&o->d), "active", o->d.active, "lines",
                  lines_json(&o->d), "edits", o->edits, "milliseconds", o->milliseconds, "touched", (json_int_t)o->tiles, "mirror", o->mirror,
                  "draft", o->draft, "resolution", o->resolution, "voxel", h.x, h.y, h.z, "history_bytes", (json_int_t)history.device_bytes);
    o->state.undo_levels = (int)o->d.undo;
    o->state.redo_levels = (int)(o->d.groups - o->d.undo);
    o->state.has_surface = o->d.editor && tsr_editor_object_at(o->d.editor, 0);
    pthread_mutex_lock(&o->s->lock);
    json_t *before = o->s->more;
    o->s->more = more;
    o->s->state = o->state;
    viewer_session_changed(o->s);
    pthread_mutex_unlock(&o->s->lock);
    json_decref(before);
    o->state_dirty = 0;
}

void sculptor_busy(struct sculptor *o, const char *with)
{
    o->state.busy = *with != 0;
    snprintf(o->state.busy_with, sizeof o->state.busy_with, "%s", with);
    sculptor_tell_state(o);
}

/* ---- what the painter is given ---------------------------------------------------------------------------------------------------------------------- */

void sculptor_free_tiles(const struct sculptor *o, tsr_tiles *tiles)
{
    if (o->bridge) pthread_mutex_lock(&o->s->bridge_lock);
    tsr_tiles_destroy(&tiles);
    if (o->bridge) pthread_mutex_unlock(&o->s->bridge_lock);
}

/* All that is visible, as one list on the context of the painter's side; NULL where that is nothing. */
static tsr_status visible(const struct sculptor *o, tsr_tiles **tiles)
{
    tsr_context *to = o->bridge ? o->bridge : o->context;
    const tsr_tiles *first = NULL;
    tsr_tiles *all = NULL;
    const char *name;
    tsr_status status = TSR_OK;
    for (int32_t i = 0; o->d.editor && status == TSR_OK && (name = tsr_editor_object_at(o->d.editor, i)); i++) {
        const tsr_tiles *one = tsr_editor_tiles(o->d.editor, name);
        if (is_hidden(&o->d, name)) continue;
        if (!first) {
            first = one;
            continue;
        }
        tsr_tiles *more = NULL;
        status = tsr_tiles_combine(all ? all : first, one, TSR_CSG_UNION, 0, &more);
        tsr_tiles_destroy(&all);
        all = more;
    }
    if (status == TSR_OK && first) status = tsr_tiles_copy(all ? all : first, to, tiles);
    tsr_tiles_destroy(&all);
    return status == TSR_OK ? tsr_context_synchronize(to) : status;
}

/* With the lock held. */
int sculptor_give_due(const struct sculptor *o) { return o->dirty && !o->s->surface_ready && o->s->watchers > 0; }

void sculptor_give(struct sculptor *o)
{
    viewer_session *s = o->s;
    tsr_tiles *tiles = NULL;
    pthread_mutex_lock(&s->lock);
    const int due = sculptor_give_due(o);
    pthread_mutex_unlock(&s->lock);
    if (!due) return;
    if (o->bridge) pthread_mutex_lock(&s->bridge_lock);
    const tsr_status status = visible(o, &tiles);
    if (o->bridge) pthread_mutex_unlock(&s->bridge_lock);
    if (status != TSR_OK) viewer_session_tell(o->s, "error", "%s", tsr_error_message());
    o->dirty = 0;
    pthread_mutex_lock(&s->lock);
    s->surface = (viewer_surface){ tiles, o->edits, o->input };
    s->surface_ready = 1;
    pthread_cond_signal(&s->to_painter);
    pthread_mutex_unlock(&s->lock);
}

/* ---- the box it stands in ---------------------------------------------------------------------------------------------------------------------------- */

int sculptor_bounds_of(const struct sculptor *o, int64_t lower[3], int64_t upper[3])
{
    int found = 0;
    const char *name;
    for (int32_t i = 0; o->d.editor && (name = tsr_editor_object_at(o->d.editor, i)); i++) {
        int64_t a[3], b[3];
        if (tsr_tiles_bounds(tsr_editor_tiles(o->d.editor, name), a, b) != TSR_OK || b[0] <= a[0]) continue;
        for (int k = 0; k < 3; k++) {
            lower[k] = found && lower[k] < a[k] ? lower[k] : a[k];
            upper[k] = found && upper[k] > b[k] ? upper[k] : b[k];
        }
        found = 1;
    }
    return found;
}

/* A new stage where there is none or things stand out of it, with half of their extent around them. */
void sculptor_set_stage(struct sculptor *o, const char *name, int fresh)
{
    viewer_session *s = o->s;
    int64_t lower[3] = { 0 }, upper[3] = { 64, 64, 64 };
    const tsr_vec3 h = tsr_geometry_spacing(&o->d.geometry);
    const int any = sculptor_bounds_of(o, lower, upper);
    int out = !o->stage || fresh;
    for (int k = 0; any && k < 3 && !out; k++) {
        const int64_t n = k == 0 ? o->stage->size.x : k == 1 ? o->stage->size.y : o->stage->size.z;
        out = lower[k] < o->lower[k] || upper[k] > o->lower[k] + n;
    }
    if (!out) return;
    viewer_image *stage = (viewer_image *)calloc(1, sizeof *stage);
    if (!stage) return;
    int64_t n[3], margin = 16;
    for (int k = 0; k < 3; k++) margin = (upper[k] - lower[k]) / 2 > margin ? (upper[k] - lower[k]) / 2 : margin;
    for (int k = 0; k < 3; k++) {
        o->lower[k] = lower[k] - margin;
        n[k] = upper[k] - lower[k] + 2 * margin;
    }
    const tsr_vec3 origin = { (double)o->lower[0] * h.x, (double)o->lower[1] * h.y, (double)o->lower[2] * h.z };
    stage->references = 1;
    stage->geometry = tsr_geometry_make(h, origin, TSR_SPACE_NONE);
    stage->spacing = h;
    stage->size = (tsr_size3){ n[0], n[1], n[2] };
    stage->maximum = stage->window_high = 1;
    stage->bounds = (tsr_box){ { (double)lower[0] * h.x, (double)lower[1] * h.y, (double)lower[2] * h.z },
                                  { (double)upper[0] * h.x, (double)upper[1] * h.y, (double)upper[2] * h.z } };
    snprintf(stage->name, sizeof stage->name, "%s", name ? name : o->stage ? o->stage->name : "new");
    viewer_image *before = o->stage, *shared;
    o->stage = stage;
    pthread_mutex_lock(&s->lock);
    shared = s->image;
    s->image = NULL;
    s->first_load = 0;
    pthread_mutex_unlock(&s->lock);
    viewer_image_show(s, stage, fresh);
    viewer_image_release(s, &shared);
    viewer_image_release(s, &before);
    o->dirty = 1; /* a painter that takes a new image has no surface */
}
