/* viewer/give.c: what the solver hands to the painter: copies of the surface and of its speed, whenever the painter has taken those before. */
#include "solver.h"

#include <math.h>
#include <string.h>

enum { REACH = 4, LEAST_REACH = 1 }; /* slices to each side of the one shown whose speeds come with it; of those that the next steps make void */
static const double rest = 0.4;      /* seconds after the last change: then all speeds are made */

/* The painter may be copying from the bridge. */
static void enter_bridge(const struct solver *o)
{
    if (o->bridge) pthread_mutex_lock(&o->s->bridge_lock);
}
static void leave_bridge(const struct solver *o)
{
    if (o->bridge) pthread_mutex_unlock(&o->s->bridge_lock);
}
void viewer_free_given(const struct solver *o, tsr_tiles *tiles, tsr_volume *speed)
{
    enter_bridge(o);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&speed);
    leave_bridge(o);
}

/* ---- the speed: a slice of it is shown. After a change that slice and some beside it are made, all others when things rest: then going through
 * slices need not wait for the solver. The data speed holds while the surface moves; the total speed has its curvature and moves with it. ---- */

enum speed_due { SPEED_NONE, SPEED_WORD, SPEED_SLICES, SPEED_ALL };

/* With the lock held, both. */
static int surface_due(const struct solver *o) { return o->surface_dirty && !o->s->surface_ready && o->s->watchers > 0; }
static enum speed_due due_of_speed(const struct solver *o)
{
    const viewer_session *s = o->s;
    if (!o->segmentation || s->speed_ready || !s->watchers) return SPEED_NONE;
    const int stale = s->look[VIEWER_SPEED].speed == VIEWER_SPEED_TOTAL && (o->speed_stale || surface_due(o));
    if (o->speed_dirty || stale || !viewer_speed_covers(&o->given, &s->look[VIEWER_SPEED])) return SPEED_SLICES;
    if (o->given.kind == VIEWER_SPEED_TOTAL && o->state.running) return o->speed_word ? SPEED_WORD : SPEED_NONE;
    if (o->speed_part && viewer_seconds() - o->edited >= rest) return SPEED_ALL;
    return o->speed_word ? SPEED_WORD : SPEED_NONE;
}

/* The slices around the one that `look` shows. A position needs the slice on either side of it. */
static void choose_slices(const struct solver *o, const viewer_look *look, viewer_speed *speed)
{
    const int64_t extent[3] = { o->image->size.x, o->image->size.y, o->image->size.z }, at = (int64_t)floor(look->position);
    const int64_t reach = look->speed == VIEWER_SPEED_TOTAL && o->state.running ? LEAST_REACH : REACH, low = at - reach, high = at + 1 + reach;
    speed->axis = look->axis;
    speed->low = low > 0 ? (double)low + 0.5 : -1;
    speed->high = high < extent[look->axis] - 1 ? (double)high - 0.5 : (double)extent[look->axis];
}

static tsr_status make_speed(struct solver *o, const viewer_speed *speed, tsr_volume **volume)
{
    int64_t begin[3] = { 0, 0, 0 }, end[3] = { o->image->size.x, o->image->size.y, o->image->size.z };
    if (speed->axis >= 0) {
        const int a = speed->axis;
        begin[a] = (int64_t)fmax(floor(speed->low), 0);
        end[a] = (int64_t)fmin(ceil(speed->high) + 1, (double)end[a]);
    }
    const tsr_size3 from = { begin[0], begin[1], begin[2] }, to = { end[0], end[1], end[2] };
    return speed->kind == VIEWER_SPEED_TOTAL ? tsr_segmentation_total_speed_box(o->segmentation, from, to, volume)
                                             : tsr_segmentation_speed_box(o->segmentation, from, to, volume);
}

void viewer_speed_after_set(struct solver *o, const char *name, double before, double alpha)
{
    static const char *const apart[] = { "rescale_weight", "gradient", "cfl", "snapshots", "curvature_limit" };
    const size_t count = sizeof apart / sizeof *apart - (o->given.kind == VIEWER_SPEED_TOTAL);
    int holds = o->given.kind == VIEWER_SPEED_DATA && !strcmp(name, "alpha") && before >= VIEWER_LEAST_ALPHA && alpha >= VIEWER_LEAST_ALPHA;
    for (size_t i = 0; i < count; i++) holds |= !strcmp(name, apart[i]);
    if (holds) o->speed_word = 1;
    else o->speed_dirty = 1;
}

/* Copies, done when this returns. */
static tsr_status copy(struct solver *o, int surface, const viewer_speed *speed, tsr_tiles **tiles, tsr_volume **volume)
{
    tsr_volume *own = NULL;
    tsr_context *to = o->bridge ? o->bridge : o->context;
    tsr_status status = TSR_OK;
    if (surface && o->state.has_surface) status = tsr_tiles_copy(tsr_segmentation_tiles(o->segmentation), to, tiles);
    if (speed && status == TSR_OK) status = make_speed(o, speed, o->bridge ? &own : volume);
    if (own) status = tsr_volume_copy(own, o->bridge, volume);
    tsr_volume_destroy(&own);
    if (status == TSR_OK) status = tsr_context_synchronize(to);
    return status;
}

void viewer_give(struct solver *o)
{
    viewer_session *s = o->s;
    pthread_mutex_lock(&s->lock);
    const int surface = surface_due(o);
    const enum speed_due due = due_of_speed(o);
    const viewer_look look = s->look[VIEWER_SPEED];
    pthread_mutex_unlock(&s->lock);
    tsr_tiles *tiles = NULL;
    tsr_volume *volume = NULL;
    viewer_speed speed = o->given;
    if (due == SPEED_ALL) speed.axis = -1;
    if (due == SPEED_SLICES) choose_slices(o, &look, &speed);
    if (due >= SPEED_SLICES) speed.kind = look.speed;
    const int moved = speed.kind == VIEWER_SPEED_TOTAL && (surface || o->speed_stale);
    if (o->speed_dirty || moved || speed.kind != o->given.kind || due == SPEED_WORD) speed.values++;
    tsr_segment_options now = TSR_SEGMENT_OPTIONS;
    if (due >= SPEED_SLICES) speed.alpha = tsr_segmentation_get_options(o->segmentation, &now) == TSR_OK ? now.alpha : 1;
    speed.input = o->input;
    if ((surface || due) && o->segmentation) {
        enter_bridge(o);
        if (copy(o, surface, due >= SPEED_SLICES ? &speed : NULL, &tiles, &volume) != TSR_OK)
            viewer_session_tell(s, "error", "%s", tsr_error_message());
        leave_bridge(o);
    }
    pthread_mutex_lock(&s->lock);
    if (surface) {
        s->surface = (viewer_surface){ tiles, (double)o->state.report.total_steps, o->input };
        s->surface_ready = 1;
        o->surface_dirty = 0;
        o->speed_stale = 1;
    }
    if (due) {
        o->given = s->speed = speed;
        s->speed.volume = volume;
        s->speed_ready = 1;
        o->speed_dirty = o->speed_word = 0;
        if (due >= SPEED_SLICES) o->speed_stale = 0;
        if (due != SPEED_WORD) o->speed_part = due == SPEED_SLICES;
    }
    if (surface || due) pthread_cond_signal(&s->to_painter);
    pthread_mutex_unlock(&s->lock);
}

int viewer_give_due(const struct solver *o) { return surface_due(o) || due_of_speed(o) != SPEED_NONE; }

double viewer_give_wait(const struct solver *o)
{
    return o->speed_part && o->s->watchers > 0 && !o->s->speed_ready ? rest - (viewer_seconds() - o->edited) : 1e9;
}
