/* viewer/solver_image.c: the image that is segmented, the segmentations of it that begin, end and come back. */
#include "solver.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its numbers exactly. */
char *solver_write_head(const tsr_segmentation *segmentation, const viewer_image *image)
{
    char text[2048];
    tsr_segment_options now = TSR_SEGMENT_OPTIONS;
    if (tsr_segmentation_get_options(segmentation, &now) != TSR_OK) return NULL;
    const struct {
        const char *name;
        double value;
    } said[] = { { "target", now.target },
                 { "epsilon", now.epsilon },
                 { "alpha", now.alpha },
                 { "smoothing", now.smoothing },
                 { "data_weight", now.data_weight },
                 { "data_floor", now.data_floor },
                 { "curvature_limit", now.curvature_limit },
                 { "rescale_weight", now.rescale_weight },
                 { "gradient", now.gradient },
                 { "cfl", now.cfl },
                 { "probe_deviations", now.probe_deviations },
                 { "snapshots", now.snapshots } };
    int used = snprintf(text, sizeof text, "# tessera session 1\n# image %s\n", image->name);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "set %s %.17g\n", said[i].name, said[i].value);
    return strdup(text);
}

void solver_forget(solver_kept *kept)
{
    tsr_segmentation_destroy(&kept->segmentation);
    free(kept->head);
    kept->head = NULL;
}

static solver_kept current(const struct solver *o) { return (solver_kept){ o->segmentation, o->head, o->state, o->edits, o->journal }; }

/* Takes over `made` and its head. What was there can come back, unless it is of another image or nothing was done to it. */
void solver_install(struct solver *o, tsr_segmentation *made, char *head, viewer_image *image)
{
    int worth = o->segmentation && image == o->image && *tsr_segmentation_log(o->segmentation);
    if (worth || image != o->image) solver_forget(&o->before);
    solver_forget(&o->after);
    if (worth) {
        o->before = current(o);
        o->before.state.redo_levels = 0; /* this is newer than what was undone */
    } else {
        tsr_segmentation_destroy(&o->segmentation);
        free(o->head);
    }
    o->segmentation = made;
    o->head = head;
    o->image = image;
    const viewer_state before = o->state;
    o->state = (viewer_state){ .busy = before.busy };
    memcpy(o->state.busy_with, before.busy_with, sizeof o->state.busy_with);
    o->batch = 1;
    o->edits = 0;
    o->journal = (solver_journal){ .begun = viewer_seconds() };
    o->rate = 0;
    o->left = 0;
    o->surface_dirty = o->speed_dirty = 1;
    solver_read_parameters(o);
}

/* A new segmentation of `image`; the one before goes only if this works. */
int solver_begin(struct solver *o, viewer_image *image, const tsr_volume *volume)
{
    tsr_segmentation *made = NULL;
    if (tsr_segmentation_create(o->context, volume, &o->options, &made) != TSR_OK) return -1;
    solver_install(o, made, solver_write_head(made, image), image);
    return 0;
}

/* Undo of a reset or of a loaded session, and its redo. */
void solver_exchange(struct solver *o, solver_kept *from, solver_kept *to)
{
    const viewer_state now = o->state;
    solver_forget(to);
    *to = current(o);
    o->segmentation = from->segmentation;
    o->head = from->head;
    o->state = from->state;
    o->edits = from->edits;
    o->journal = from->journal;
    from->segmentation = NULL;
    from->head = NULL;
    o->state.unsaved = 1;
    o->state.running = 0;
    o->state.busy = now.busy;
    memcpy(o->state.busy_with, now.busy_with, sizeof o->state.busy_with);
    o->batch = 1;
    o->surface_dirty = o->speed_dirty = 1;
    solver_read_parameters(o);
    solver_measure(o);
}

void solver_load_image(struct solver *o, const char *name)
{
    viewer_session *s = o->s;
    char error[512] = "";
    viewer_image *image = NULL, *before = o->image;
    tsr_volume *on_device = NULL, *on_device_before = o->on_device;
    if (viewer_load_image(s, name, &image, error, sizeof error)) {
        viewer_cannot_load(s, error);
        return;
    }
    int good = tsr_context_device(o->context).kind == TSR_DEVICE_CPU || tsr_volume_copy(image->volume, o->context, &on_device) == TSR_OK;
    const tsr_volume *volume = on_device ? on_device : image->volume;
    good = good && !viewer_image_describe(o->context, image, volume);
    if (good) {
        o->options = s->segment; /* set before the threads started */
        o->options.snapshots = o->options.snapshot_limit = VIEWER_UNDO_LEVELS;
        double range = image->maximum - image->minimum;
        if (!(o->options.epsilon > 0)) o->options.epsilon = range / 10;
        if (isnan(o->options.target)) o->options.target = 0.5 * (image->window_low + image->window_high);
        good = !solver_begin(o, image, volume);
    }
    if (!good) {
        viewer_cannot_load(s, tsr_error_message());
        tsr_volume_destroy(&on_device);
        viewer_image_release(s, &image);
        return;
    }
    o->on_device = on_device;
    solver_forget_labels(o);
    pthread_mutex_lock(&s->lock);
    s->first_load = 0;
    viewer_image *shared = s->image;
    tsr_tiles *stale = s->surface.tiles; /* of the image before, not taken */
    tsr_volume *stale_speed = s->speed.volume;
    s->image = NULL;
    s->surface.tiles = NULL;
    s->speed = (viewer_speed){ 0 };
    s->surface_ready = s->speed_ready = 0;
    pthread_mutex_unlock(&s->lock);
    viewer_free_given(o, stale, stale_speed);
    viewer_image_show(s, image, 1);
    viewer_image_release(s, &shared);
    viewer_image_release(s, &before);
    tsr_volume_destroy(&on_device_before);
}

/* The current parameters are those of the next segmentation too. */
void solver_keep_parameters(struct solver *o)
{
    const int32_t snapshots = o->options.snapshots;
    if (tsr_segmentation_get_options(o->segmentation, &o->options) != TSR_OK) o->options = (tsr_segment_options)TSR_SEGMENT_OPTIONS;
    o->options.snapshots = snapshots; /* a session's own: the next has as many as the page's undo again */
}

const tsr_volume *solver_volume(const struct solver *o) { return o->on_device ? o->on_device : o->image->volume; }

int solver_reset(struct solver *o)
{
    solver_keep_parameters(o);
    return solver_begin(o, o->image, solver_volume(o));
}

/* A mask (whole numbers) or a level set (real ones) of the served folder takes the place of the surface. */
tsr_status solver_take_mask(struct solver *o, const char *name)
{
    char error[512] = "", note[200];
    viewer_image *image = NULL;
    tsr_volume *on_device = NULL;
    if (viewer_load_image(o->s, name, &image, error, sizeof error)) {
        viewer_session_tell(o->s, "error", "%s", error);
        return TSR_OK; /* said; there is no surface now, and Undo brings the one before */
    }
    tsr_status status = tsr_volume_copy(image->volume, o->context, &on_device);
    const tsr_dtype dtype = tsr_volume_dtype(image->volume);
    const int real = dtype == TSR_F32 || dtype == TSR_F64;
    if (status == TSR_OK)
        status = real ? tsr_segmentation_from_field(o->segmentation, on_device) : tsr_segmentation_from_mask(o->segmentation, on_device);
    snprintf(note, sizeof note, "the %s %.100s is where this begins: tessera segment --from-%s", real ? "field" : "mask", name,
             real ? "field" : "mask");
    if (status == TSR_OK) status = tsr_segmentation_note(o->segmentation, note);
    tsr_volume_destroy(&on_device);
    viewer_image_release(o->s, &image);
    return status;
}

/* ---- statistics of the inside --------------------------------------------------------------------------------------------------------------------- */

/* The image as real numbers, NaN outside: what statistics leave out. RETURNS NEW. */
static tsr_status inside_of(struct solver *o, tsr_volume **inside)
{
    tsr_volume *mask = NULL, *here = NULL, *real = NULL, *host = NULL;
    tsr_status status = tsr_segmentation_mask(o->segmentation, &mask);
    if (status == TSR_OK) status = tsr_volume_copy(mask, NULL, &here);
    if (status == TSR_OK) status = tsr_volume_convert(o->context, solver_volume(o), TSR_F32, &real);
    if (status == TSR_OK) status = tsr_volume_copy(real, NULL, &host);
    if (status == TSR_OK) {
        const uint8_t *is = (const uint8_t *)tsr_volume_data_const(here);
        float *values = (float *)tsr_volume_data(host);
        for (int64_t i = 0, n = tsr_volume_count(host); i < n; i++)
            if (!is[i]) values[i] = NAN;
        status = tsr_volume_copy(host, o->context, inside);
    }
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&here);
    tsr_volume_destroy(&real);
    tsr_volume_destroy(&host);
    return status;
}

tsr_status solver_tell_statistics(struct solver *o)
{
    tsr_volume *inside = NULL;
    tsr_statistics s = TSR_STATISTICS;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    int64_t counts[VIEWER_BINS + 3] = { 0 };
    tsr_status status = inside_of(o, &inside);
    if (status == TSR_OK) status = tsr_volume_statistics(o->context, inside, &s);
    if (status == TSR_OK) status = tsr_volume_histogram(o->context, inside, o->image->minimum, o->image->maximum, VIEWER_BINS, counts);
    if (status == TSR_OK) status = tsr_tiles_measure(tsr_segmentation_tiles(o->segmentation), &m);
    tsr_volume_destroy(&inside);
    if (status != TSR_OK) return status;
    const int any = s.count > 0;
    json_t *list = json_array();
    for (int i = 0; i < VIEWER_BINS; i++) json_array_append_new(list, json_integer((json_int_t)counts[i]));
    viewer_session_tell_blob(
        o->s, viewer_blob_json(json_pack("{s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:o}", "type", "statistics", "voxels", (json_int_t)s.count,
                                         "volume", (double)s.count * fabs(tsr_geometry_determinant(&o->image->geometry)), "area", m.area, "mean",
                                         any ? s.mean : 0, "deviation", any ? sqrt(s.variance) : 0, "minimum", any ? s.minimum : 0, "maximum",
                                         any ? s.maximum : 0, "components", (json_int_t)m.components, "counts", list)));
    return TSR_OK;
}
