/* viewer/tell.c: what pages are told: the state, the histogram, pictures and texts. Nothing here waits for work. */
#include "mode.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "picture.h"

static json_t *vector(double x, double y, double z) { return json_pack("[f, f, f]", x, y, z); }

static json_t *looks_json(const viewer_session *s)
{
    json_t *views = json_object();
    for (int v = 0; v < VIEWER_VIEWS; v++) {
        const viewer_look *l = &s->look[v];
        json_t *look = json_pack("{s:f, s:[f, f]}", "zoom", l->zoom, "pan", l->pan[0], l->pan[1]);
        if (v == VIEWER_VOLUME)
            json_object_update_new(look,
                                   json_pack("{s:f, s:f, s:s, s:b, s:f, s:f, s:f, s:f, s:f}", "azimuth", l->azimuth, "elevation", l->elevation,
                                             "mode", viewer_mode_name(l->mode), "clip", l->clip, "clip_azimuth", l->clip_azimuth, "clip_elevation",
                                             l->clip_elevation, "clip_offset", l->clip_offset, "quality", l->quality, "see_through", l->see_through));
        else json_object_update_new(look, json_pack("{s:i, s:f}", "axis", (int)l->axis, "position", l->position));
        if (v == VIEWER_SPEED) json_object_set_new(look, "speed", json_string(viewer_speed_name(l->speed)));
        json_object_set_new(views, viewer_view_name(v), look);
    }
    return views;
}

static json_t *image_json(const viewer_image *i, uint64_t version)
{
    static const char *const spaces[] = { "none", "RAS", "LPS" };
    char name[VIEWER_NAME_BYTES];
    snprintf(name, sizeof name, "%s", i->name);
    viewer_make_utf8(name);
    json_t *affine = json_array();
    for (int k = 0; k < 12; k++) json_array_append_new(affine, json_pack("f", i->geometry.affine[k / 4][k % 4]));
    json_t *json =
        json_pack("{s:s, s:o, s:b, s:I, s:[i, i, i], s:[I, I, I], s:o, s:s, s:f, s:f, s:f, s:f}", "name", name, "affine", affine, "volume",
                  i->volume != NULL, "version", (json_int_t)version, "axes", viewer_world_axis(&i->geometry, 0), viewer_world_axis(&i->geometry, 1),
                  viewer_world_axis(&i->geometry, 2), "size", (json_int_t)i->size.x, (json_int_t)i->size.y, (json_int_t)i->size.z, "spacing",
                  vector(i->spacing.x, i->spacing.y, i->spacing.z), "space", spaces[i->geometry.space], "minimum", i->minimum, "maximum", i->maximum,
                  "window_low", i->window_low, "window_high", i->window_high);
    const tsr_box *b = &i->bounds; /* without a volume: about its middle the 3-D window turns */
    if (json && !i->volume)
        json_object_set_new(json, "middle",
                            vector(0.5 * (b->lower.x + b->upper.x), 0.5 * (b->lower.y + b->upper.y), 0.5 * (b->lower.z + b->upper.z)));
    return json;
}

/* Counts over the range of the image up to the last that is not 0. */
static json_t *probed_json(const int64_t *counts)
{
    json_t *list = json_array();
    int used = TSR_PROBE_BINS;
    while (used > 0 && !counts[used - 1]) used--;
    for (int i = 0; i < used; i++) json_array_append_new(list, json_integer((json_int_t)counts[i]));
    return list;
}

static json_t *transfer_json(const tsr_transfer *t)
{
    json_t *points = json_array();
    for (int i = 0; i < t->points; i++) {
        const struct tsr_transfer_point *p = &t->point[i];
        json_array_append_new(
            points, json_pack("[f, f, f, f, f]", (double)p->value, (double)p->alpha, (double)p->color.r, (double)p->color.g, (double)p->color.b));
    }
    return points;
}

void viewer_mode_more(const viewer_session *s, json_t *state)
{
    json_t *more = s->more ? json_deep_copy(s->more) : NULL; /* its owner goes on with it */
    if (more) json_object_update(state, more);
    json_decref(more);
}

/* What slices show over the image: what, how strongly, the name of the second image (null: there is none). */
static json_t *over_json(const viewer_session *s)
{
    char name[VIEWER_NAME_BYTES];
    snprintf(name, sizeof name, "%s", s->overlay ? s->overlay->name : "");
    viewer_make_utf8(name);
    return json_pack("{s:s, s:f, s:s*}", "over", viewer_over_name(s->over), "opacity", s->over_opacity, "image", s->overlay ? name : NULL);
}

static json_t *labels_json(const viewer_session *s)
{
    json_t *list = json_array();
    for (int i = 0; i < s->label_count; i++) {
        const viewer_label *l = &s->label[i];
        json_array_append_new(list, json_pack("{s:i, s:s, s:b, s:I, s:[f, f, f]}", "label", (int)l->value, "name", l->name, "visible", !l->hidden,
                                              "voxels", (json_int_t)l->voxels, "colour", l->colour[0], l->colour[1], l->colour[2]));
    }
    return list;
}

/* Of a session that segments: the parameters, the probes, the run. */
void viewer_segment_state(const viewer_session *s, json_t *state)
{
    const viewer_state *t = &s->state;
    const tsr_segment_report *r = &t->report;
    json_t *more = json_pack("{s:f, s:f, s:f, s:f, s:{s:I, s:f, s:f}, s:b, s:I, s:f, s:I, s:I, s:f, s:f, s:s}", "target", t->target, "epsilon",
                             t->epsilon, "alpha", t->alpha, "smoothing", t->smoothing, "probe", "count", (json_int_t)t->probe.count, "mean",
                             t->probe.mean, "deviation", t->probe.deviation, "running", t->running, "steps", (json_int_t)r->total_steps,
                             "steps_per_second", r->steps_per_second, "active_voxels", (json_int_t)r->active_voxels, "inside_voxels",
                             (json_int_t)r->inside_voxels, "volume", r->volume, "time", r->time, "stop", tsr_stop_name(r->stop));
    if (!more) return;
    json_object_set_new(more, "probed", probed_json(t->probed));
    json_object_set_new(more, "labels", labels_json(s));
    json_object_set_new(more, "label", json_integer(s->label_active));
    json_object_set_new(more, "overlay", over_json(s));
    json_object_update(state, more);
    json_decref(more);
}

viewer_blob *viewer_session_state(viewer_session *s, uint64_t *version)
{
    pthread_mutex_lock(&s->lock);
    json_t *json = NULL;
    if (s->state_version != *version) {
        const viewer_state *t = &s->state;
        *version = s->state_version;
        json = json_pack("{s:s, s:i, s:s, s:s, s:b, s:b, s:s, s:i, s:i}", "type", "state", "protocol", VIEWER_PROTOCOL, "session", s->identity,
                         "mode", s->mode->name, "surface", t->has_surface, "unsaved", t->unsaved, "busy", t->busy ? t->busy_with : "", "undo",
                         t->undo_levels, "redo", t->redo_levels);
        if (json) {
            json_object_set_new(json, "window", json_pack("[f, f]", s->window_low, s->window_high));
            json_object_set_new(json, "mask", json_pack("[f, f, f, f]", s->opacity, s->colour[0], s->colour[1], s->colour[2]));
            json_object_set_new(json, "isovalue", isnan(s->isovalue) ? json_null() : json_pack("f", s->isovalue));
            json_object_set_new(json, "transfer", transfer_json(&s->transfer));
            json_object_set_new(json, "views", looks_json(s));
            json_object_set_new(json, "image", s->image ? image_json(s->image, s->image_version) : json_null());
            s->mode->state(s, json);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return viewer_blob_json(json);
}

viewer_blob *viewer_session_histogram(viewer_session *s, uint64_t *image_version)
{
    json_t *json = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->image && s->image->volume && s->image_version != *image_version) {
        *image_version = s->image_version;
        json_t *counts = json_array();
        for (int i = 0; i < VIEWER_BINS; i++) json_array_append_new(counts, json_integer((json_int_t)s->image->histogram[i]));
        json = json_pack("{s:s, s:f, s:f, s:o}", "type", "histogram", "lower", s->image->minimum, "upper", s->image->maximum, "counts", counts);
    }
    pthread_mutex_unlock(&s->lock);
    return viewer_blob_json(json);
}

void viewer_session_name(viewer_session *s, char name[VIEWER_NAME_BYTES])
{
    pthread_mutex_lock(&s->lock);
    snprintf(name, VIEWER_NAME_BYTES, "%s", s->image ? s->image->name : "");
    if (!*name && s->first_load && s->queue_count) snprintf(name, VIEWER_NAME_BYTES, "%s", s->queue[s->queue_first].name);
    pthread_mutex_unlock(&s->lock);
    viewer_make_utf8(name);
}

void viewer_session_refresh(viewer_session *s)
{
    pthread_mutex_lock(&s->lock);
    for (int v = 0; v < VIEWER_WINDOWS; v++) s->look_version[v]++;
    viewer_wake_painter(s);
    pthread_mutex_unlock(&s->lock);
}

viewer_blob *viewer_session_frame(viewer_session *s, int window)
{
    pthread_mutex_lock(&s->lock);
    viewer_blob *blob = s->frame[window];
    s->frame[window] = NULL;
    if (blob) viewer_wake_painter(s); /* there is room for the next */
    pthread_mutex_unlock(&s->lock);
    return blob;
}

viewer_blob *viewer_session_notice(viewer_session *s)
{
    pthread_mutex_lock(&s->lock);
    viewer_blob *blob = s->notice_count ? s->notice[0] : NULL;
    if (blob) memmove(s->notice, s->notice + 1, (size_t)--s->notice_count * sizeof *s->notice);
    pthread_mutex_unlock(&s->lock);
    return blob;
}

void viewer_session_eye(viewer_session *s, int eye, int open)
{
    pthread_mutex_lock(&s->lock);
    for (int v = 0; v < VIEWER_VIEWS; v++) {
        viewer_look *look = &s->look[eye * VIEWER_VIEWS + v];
        *look = s->look[v];
        look->width = look->height = 0; /* of its page, which says them */
        if (open) s->look_version[eye * VIEWER_VIEWS + v]++;
        viewer_blob_release(&s->frame[eye * VIEWER_VIEWS + v]);
    }
    pthread_mutex_unlock(&s->lock);
}

void viewer_session_watch(viewer_session *s, int watchers, const int wanted[VIEWER_WINDOWS])
{
    pthread_mutex_lock(&s->lock);
    if (!s->watchers != !watchers) {
        pthread_cond_signal(&s->to_solver); /* it hands nothing over while nobody looks */
        s->alone_since = viewer_seconds();
    }
    s->watchers = watchers;
    memcpy(s->wanted, wanted, sizeof s->wanted);
    viewer_wake_painter(s);
    pthread_mutex_unlock(&s->lock);
}
