/* viewer/shows/views.c: the mode `views`: new views of a rig's depth images, from anywhere: merged in four ways, as colours, depths, which camera each pixel is of, or how
 * many cameras saw it, with the cameras as pyramids. A look of a page turns the camera about what is in front of it; to jump and to fly moves that camera. */
#include "show.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../projectors.h"
#include "lines.h"
#include "rig_file.h"

enum { COLOURS, DEPTHS, CHOICE, COVERAGE, KINDS, FIRST_LOADED = 8, SAMPLES = 21, DRAFT_SAMPLES = 40000 };
static const int64_t most_bytes = INT64_C(1) << 30; /* of images that are kept */
static const double degree = 3.14159265358979323846 / 180, most_rate = 10, near_pyramids = 0.7;

/* The images of a camera; not loaded while there is no depth. */
struct kept {
    rig_projector images;
    tsr_volume *coarse; /* depths of drafts */
    int64_t bytes;
    uint64_t used;
    int bad; /* they cannot be read: said once */
};

struct views {
    tsr_rig *rig;
    int64_t count, depths, chosen; /* depths: cameras that have a depth image */
    struct kept *kept;             /* [count] */
    rig_rank *rank;                /* [count]; the first `used` took part in the last picture */
    int64_t used, bytes;
    uint64_t clock;
    tsr_novel *view[TSR_VIEWS_MOST], *merged;
    int merge, kind, most, frusta, path, cut, far_, playing;
    double size, extent, place, rate, before; /* size: of pyramids, share of the extent; place: on the way along all cameras */
    tsr_camera base;                          /* where one is with the look `reference` */
    double ahead;                             /* the point about which it turns */
    tsr_vec3 up;                              /* upright for most cameras */
    viewer_look reference;
    double milliseconds, covered;
};

static struct views *views_of(const viewer_show *show) { return (struct views *)show->own; }

static tsr_vec3 plus(tsr_vec3 a, double s, const double b[3]) { return (tsr_vec3){ a.x + s * b[0], a.y + s * b[1], a.z + s * b[2] }; }

/* ---- images -------------------------------------------------------------------------------------------------------------------------------------- */

static void unload(struct views *v, struct kept *k)
{
    rig_projector_unload(&k->images);
    tsr_volume_destroy(&k->coarse);
    v->bytes -= k->bytes;
    k->bytes = 0;
}

static void forget(struct views *v)
{
    for (int64_t i = 0; v->kept && i < v->count; i++) unload(v, &v->kept[i]);
    for (int i = 0; i < TSR_VIEWS_MOST; i++) tsr_novel_destroy(&v->view[i]);
    tsr_novel_destroy(&v->merged);
    tsr_rig_destroy(&v->rig);
    free(v->kept);
    free(v->rank);
}

/* Room for more: what was used longest ago goes, but nothing of the picture that is made. */
static void make_room(const viewer_show *show, struct views *v)
{
    const int64_t most = show->s->memory_limit > 0 && show->s->memory_limit / 2 < most_bytes ? show->s->memory_limit / 2 : most_bytes;
    while (v->bytes > most) {
        struct kept *oldest = NULL;
        for (int64_t i = 0; i < v->count; i++)
            if (v->kept[i].bytes && v->kept[i].used != v->clock && (!oldest || v->kept[i].used < oldest->used)) oldest = &v->kept[i];
        if (!oldest) return;
        unload(v, oldest);
    }
}

/* Every so manyth depth, for pictures that must be quick. */
static tsr_status coarsen(tsr_context *context, const tsr_volume *depth, tsr_volume **coarse)
{
    const tsr_size3 n = tsr_volume_size(depth);
    const int64_t step = (int64_t)ceil(sqrt((double)(n.x * n.y) / DRAFT_SAMPLES)), w = (n.x + step - 1) / step, h = (n.y + step - 1) / step;
    tsr_volume *host = NULL, *few = NULL;
    if (step < 2) return TSR_OK;
    tsr_status status = tsr_volume_copy(depth, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ w, h, 1 }, NULL, &few);
    if (status == TSR_OK) {
        const float *from = (const float *)tsr_volume_data_const(host);
        float *to = (float *)tsr_volume_data(few);
        for (int64_t y = 0; y < h; y++)
            for (int64_t x = 0; x < w; x++) to[y * w + x] = from[(2 * y + 1) * n.y / (2 * h) * n.x + (2 * x + 1) * n.x / (2 * w)];
        status = tsr_volume_copy(few, context, coarse);
    }
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&few);
    return status;
}

/* Only files of the served folder and below it, whatever the rig says. 0, or -1 with a message. */
static int may_be_read(const viewer_show *show, const tsr_rig *rig, const char *name, int32_t frame, char *error, size_t error_bytes)
{
    char path[4096];
    if (!*name) return 0;
    if (tsr_rig_path(rig, name, frame, path, sizeof path) == TSR_OK) return viewer_path_below(show->s, path, error, error_bytes);
    viewer_take_message(show->s, error, error_bytes);
    return -1;
}

/* The images of a camera. NULL: they cannot be read, which was said. */
static struct kept *images_of(viewer_show *show, struct views *v, int64_t index)
{
    struct kept *k = &v->kept[index];
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_rig_camera c;
    rig_error why = { "" };
    char error[512] = "";
    k->used = v->clock;
    if (k->bytes || k->bad) return k->bad ? NULL : k;
    read.memory_limit = show->s->memory_limit;
    read.same_folder = 1;
    read.progress = (tsr_progress){ viewer_session_quits, show->s };
    tsr_status status = tsr_rig_get(v->rig, index, &c);
    const int32_t frame = status == TSR_OK && c.frame >= 0 ? c.frame : 0;
    const int refused = status == TSR_OK && (may_be_read(show, v->rig, c.depth, frame, error, sizeof error) ||
                                             may_be_read(show, v->rig, c.image, frame, error, sizeof error));
    if (status == TSR_OK && !refused)
        status = rig_projector_load(show->context, v->rig, index, frame, RIG_PROJECTOR_DEPTH | RIG_PROJECTOR_COLOR, &read, &k->images, &why);
    if (status == TSR_OK && !refused) status = coarsen(show->context, k->images.depth, &k->coarse);
    if (status == TSR_OK && !refused) {
        const tsr_size3 n = tsr_volume_size(k->images.depth);
        k->bytes = 4 * n.x * n.y + (k->images.color ? 3 * (int64_t)k->images.width * k->images.height : 0) + (k->coarse ? 4 * DRAFT_SAMPLES : 0);
        v->bytes += k->bytes;
        make_room(show, v);
        return k;
    }
    rig_projector_unload(&k->images);
    k->bad = status != TSR_ERROR_CANCELLED;
    if (*why.text) {
        viewer_hide_folder(show->s, why.text);
        snprintf(error, sizeof error, "%.500s", why.text);
    } else if (!refused) viewer_take_message(show->s, error, sizeof error);
    if (k->bad) viewer_session_tell(show->s, "warning", "camera %lld is left out: %s", (long long)index, error);
    return NULL;
}

/* ---- the scene ------------------------------------------------------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The box of what some cameras see, without the last hundredth on each side. 0: they see nothing. */
static int scene_box(viewer_show *show, struct views *v, tsr_box *box)
{
    const int64_t step = (v->depths + FIRST_LOADED - 1) / FIRST_LOADED;
    double *at[3] = { NULL }, low[3], high[3];
    int64_t n = 0, seen = 0;
    for (int k = 0; k < 3; k++) at[k] = (double *)malloc((size_t)FIRST_LOADED * SAMPLES * SAMPLES * sizeof *at[k]);
    for (int64_t i = 0; i < v->count && at[0] && at[1] && at[2]; i++) {
        tsr_rig_camera c;
        tsr_volume *host = NULL;
        struct kept *k = NULL;
        if (tsr_rig_get(v->rig, i, &c) != TSR_OK || !*c.depth || seen++ % step || !(k = images_of(show, v, i))) continue;
        if (tsr_volume_copy(k->images.depth, NULL, &host) != TSR_OK) continue;
        const tsr_size3 size = tsr_volume_size(host);
        const float *d = (const float *)tsr_volume_data_const(host);
        for (int s = 0; s < SAMPLES * SAMPLES; s++) {
            const int64_t x = (2 * (s % SAMPLES) + 1) * size.x / (2 * SAMPLES), y = (2 * (s / SAMPLES) + 1) * size.y / (2 * SAMPLES);
            const double pixel[2] = { (double)x + 0.5, (double)y + 0.5 }, depth = (double)d[y * size.x + x];
            tsr_vec3 p, way;
            if (!(depth > 0) || tsr_camera_ray(&k->images.projector.camera, (int32_t)size.x, (int32_t)size.y, pixel, &p, &way) != TSR_OK) continue;
            at[0][n] = p.x + depth * way.x;
            at[1][n] = p.y + depth * way.y;
            at[2][n++] = p.z + depth * way.z;
        }
        tsr_volume_destroy(&host);
    }
    for (int k = 0; k < 3 && n; k++) {
        qsort(at[k], (size_t)n, sizeof **at, by_value);
        low[k] = at[k][n / 100];
        high[k] = at[k][n - 1 - n / 100];
    }
    for (int k = 0; k < 3; k++) free(at[k]);
    if (!n) return 0;
    v->extent = sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) + pow(high[2] - low[2], 2));
    if (!(v->extent > 0 && isfinite(v->extent))) v->extent = 1;
    const double margin = 0.05 * v->extent;
    *box = (tsr_box){ { low[0] - margin, low[1] - margin, low[2] - margin }, { high[0] + margin, high[1] + margin, high[2] + margin } };
    return 1;
}

/* ---- the free camera --------------------------------------------------------------------------------------------------------------------------------- */

static void reference(viewer_show *show, struct views *v)
{
    pthread_mutex_lock(&show->s->lock);
    v->reference = show->s->look[VIEWER_VOLUME];
    pthread_mutex_unlock(&show->s->lock);
}

/* The camera is there from now on, a pinhole that looks as this one; it turns about what lies before it in the middle of the scene. */
static void stand(viewer_show *show, struct views *v, const tsr_camera *camera)
{
    const tsr_box b = show->s->image->bounds;
    const double *back = camera->rotation[2];
    double fov = camera->fov;
    v->ahead = fmax(0.2 * v->extent, back[0] * (camera->position.x - 0.5 * (b.lower.x + b.upper.x)) +
                                         back[1] * (camera->position.y - 0.5 * (b.lower.y + b.upper.y)) +
                                         back[2] * (camera->position.z - 0.5 * (b.lower.z + b.upper.z)));
    if (camera->projection == TSR_ORTHOGRAPHIC) fov = 2 * atan(0.5 * camera->height / v->ahead) / degree;
    else if (camera->projection == TSR_PROJECTION_MATRIX) fov = camera->matrix[5] > 0 ? 2 * atan(1 / camera->matrix[5]) / degree : 50;
    v->base = (tsr_camera){ .position = camera->position, .fov = fmin(150, fmax(1, fov)), .aspect = camera->aspect };
    memcpy(v->base.rotation, camera->rotation, sizeof v->base.rotation);
}

static int stand_at(viewer_show *show, struct views *v, double place)
{
    tsr_camera camera;
    tsr_rig_camera c;
    if (tsr_rig_along(v->rig, v->count > 1 ? place / (double)(v->count - 1) : 0, &camera) != TSR_OK) return -1;
    v->chosen = (int64_t)floor(place + 0.5);
    if (place == floor(place) && tsr_rig_get(v->rig, v->chosen, &c) == TSR_OK) {
        camera = c.camera;
        if (camera.aspect == 0 && c.height > 0) camera.aspect = (double)c.width / c.height;
    }
    v->place = place;
    stand(show, v, &camera);
    return 0;
}

static void turn(double r[3][3], int a, int b, double angle) /* axis a towards axis b */
{
    const double c = cos(angle), s = sin(angle);
    for (int k = 0; k < 3; k++) {
        const double x = r[a][k], y = r[b][k];
        r[a][k] = c * x + s * y;
        r[b][k] = c * y - s * x;
    }
}

static void turn_about(double r[3][3], tsr_vec3 up, double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        const tsr_vec3 v = { r[i][0], r[i][1], r[i][2] };
        const double along = (1 - c) * (v.x * up.x + v.y * up.y + v.z * up.z);
        r[i][0] = c * v.x + s * (up.y * v.z - up.z * v.y) + along * up.x;
        r[i][1] = c * v.y + s * (up.z * v.x - up.x * v.z) + along * up.y;
        r[i][2] = c * v.z + s * (up.x * v.y - up.y * v.x) + along * up.z;
    }
}

/* Of a look: the camera, and how far away what it turns about is. */
static tsr_status eye_of(const viewer_show *show, const viewer_look *look, tsr_camera *camera, double *ahead)
{
    const struct views *v = views_of(show);
    const double aspect = (double)look->width / look->height;
    const viewer_look *from = &v->reference;
    const tsr_vec3 middle = plus(v->base.position, -v->ahead, v->base.rotation[2]);
    *camera = v->base;
    *ahead = v->ahead * from->zoom / look->zoom;
    turn_about(camera->rotation, v->up, (look->azimuth - from->azimuth) * degree);
    turn(camera->rotation, 2, 1, (look->elevation - from->elevation) * degree);
    camera->position = plus(middle, *ahead, camera->rotation[2]);
    camera->position = plus(camera->position, from->pan[0] - look->pan[0], camera->rotation[0]);
    camera->position = plus(camera->position, look->pan[1] - from->pan[1], camera->rotation[1]);
    if (v->base.aspect > aspect)
        camera->fov = 2 * atan(tan(0.5 * v->base.fov * degree) * v->base.aspect / aspect) / degree; /* all of it is in the window */
    camera->fov = fmin(camera->fov, 160);
    camera->aspect = 0;
    return tsr_camera_check(camera);
}

/* What the page that drives looks like, and where it is. */
static int now(viewer_show *show, viewer_look *look, tsr_camera *camera, double *ahead)
{
    pthread_mutex_lock(&show->s->lock);
    *look = show->s->look[VIEWER_VOLUME];
    pthread_mutex_unlock(&show->s->lock);
    if (!look->width) look->width = look->height = 512;
    return eye_of(show, look, camera, ahead) == TSR_OK ? 0 : -1;
}

/* The same way as now, from so far that the scene and all cameras are in the picture, and a little from above. */
static int overview(viewer_show *show, struct views *v)
{
    const tsr_box b = show->s->image->bounds;
    const tsr_vec3 middle = { 0.5 * (b.lower.x + b.upper.x), 0.5 * (b.lower.y + b.upper.y), 0.5 * (b.lower.z + b.upper.z) };
    double reach = 0.5 * v->extent;
    viewer_look look;
    tsr_camera camera;
    tsr_rig_camera c;
    if (now(show, &look, &camera, &v->ahead)) return -1;
    for (int64_t i = 0; i < v->count; i++)
        if (tsr_rig_get(v->rig, i, &c) == TSR_OK)
            reach = fmax(reach, sqrt(pow(c.camera.position.x - middle.x, 2) + pow(c.camera.position.y - middle.y, 2) +
                                     pow(c.camera.position.z - middle.z, 2)));
    turn(camera.rotation, 2, 1, 20 * degree);
    v->base = (tsr_camera){ .fov = 50, .aspect = 1 };
    memcpy(v->base.rotation, camera.rotation, sizeof camera.rotation);
    v->ahead = 1.1 * reach / sin(25 * degree);
    v->base.position = plus(middle, v->ahead, camera.rotation[2]);
    v->reference = look;
    return 0;
}

/* A step of the one who flies: along an axis, or a turn where one stands. */
static int move(viewer_show *show, struct views *v, const char *name, double value)
{
    static const char *const names[] = { "right", "up", "forward", "turn", "tilt" };
    viewer_look look;
    tsr_camera camera;
    double ahead;
    int which = 0;
    while (which < 5 && strcmp(name, names[which])) which++;
    if (which == 5 || !(fabs(value) <= (which < 3 ? 10 : 180))) return -1;
    if (now(show, &look, &camera, &ahead)) return -1;
    camera.fov = v->base.fov;
    camera.aspect = v->base.aspect;
    if (which < 3) camera.position = plus(camera.position, (which == 2 ? -1 : 1) * value * ahead, camera.rotation[which]);
    else if (which == 3) turn_about(camera.rotation, v->up, -value * degree);
    else turn(camera.rotation, 2, 1, -value * degree);
    v->base = camera;
    v->ahead = ahead;
    v->reference = look;
    v->playing = 0;
    return 0;
}

/* ---- loading and settings ------------------------------------------------------------------------------------------------------------------------------ */

static void upright(struct views *v)
{
    double sum[3] = { 0, 0, 0 };
    tsr_rig_camera c;
    for (int64_t i = 0; i < v->count; i++)
        for (int k = 0; k < 3 && tsr_rig_get(v->rig, i, &c) == TSR_OK; k++) sum[k] += c.camera.rotation[1][k] / (double)v->count;
    const double n = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    v->up = n > 0.2 ? (tsr_vec3){ sum[0] / n, sum[1] / n, sum[2] / n } : (tsr_vec3){ 0, 0, 1 };
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct views made = { .merge = TSR_MERGE_CSG, .most = 8, .frusta = 1, .size = 0.12, .rate = 1, .clock = 1 };
    tsr_rig_camera c;
    tsr_box box;
    (void)path;
    if (viewer_rig_read(show->s, name, &made.rig, error, error_bytes)) return -1;
    made.count = tsr_rig_count(made.rig);
    made.kept = (struct kept *)calloc((size_t)made.count, sizeof *made.kept);
    made.rank = (rig_rank *)calloc((size_t)made.count, sizeof *made.rank);
    for (int64_t i = made.count - 1; i >= 0; i--) {
        if (tsr_rig_get(made.rig, i, &c) != TSR_OK || !*c.depth) continue;
        made.depths++;
        made.chosen = i;
    }
    if (!made.kept || !made.rank || tsr_rig_set_folder(made.rig, show->s->folder) != TSR_OK) snprintf(error, error_bytes, "%s: out of memory", name);
    else if (!made.depths)
        snprintf(error, error_bytes, "%s: none of its %lld cameras names a depth image (the mode cameras shows rigs without)", name,
                 (long long)made.count);
    else if (!scene_box(show, &made, &box)) snprintf(error, error_bytes, "%s: no depth image of it has a distance in it, or none can be read", name);
    else if (viewer_show_box(show, name, box)) snprintf(error, error_bytes, "%s: out of memory", name);
    if (*error) {
        forget(&made);
        return -1;
    }
    forget(views_of(show));
    *views_of(show) = made;
    upright(views_of(show));
    reference(show, views_of(show));
    stand_at(show, views_of(show), (double)made.chosen);
    return 0;
}

/* Switches and numbers of whole steps: where they are, and the largest. */
static int *whole_of(struct views *v, const char *name, int *least, int *most)
{
    const struct {
        const char *name;
        int *at, least, most;
    } all[] = { { "merge", &v->merge, 0, TSR_MERGE_FREESPACE },
                { "show", &v->kind, 0, KINDS - 1 },
                { "most", &v->most, 1, TSR_VIEWS_MOST },
                { "frusta", &v->frusta, 0, 1 },
                { "path", &v->path, 0, 1 },
                { "cut", &v->cut, 0, 1 },
                { "far", &v->far_, 0, 1 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(name, all[i].name)) continue;
        *least = all[i].least;
        *most = all[i].most;
        return all[i].at;
    }
    return NULL;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    struct views *v = views_of(show);
    const double last = (double)(v->count > 0 ? v->count - 1 : 0);
    int least, most, good = 1, *whole = whole_of(v, name, &least, &most);
    if (whole) {
        if ((good = value >= least && value <= most && value == floor(value))) *whole = (int)value;
    } else if (!strcmp(name, "size") && value >= 0.001 && value <= 1) {
        v->size = value;
    } else if (!strcmp(name, "rate") && value >= 0.05 && value <= most_rate) {
        v->rate = value;
    } else if (!v->count) {
        snprintf(error, error_bytes, "set: nothing is loaded");
        return -1;
    } else if ((!strcmp(name, "camera") && value >= 0 && value <= last && value == floor(value)) ||
               (!strcmp(name, "place") && value >= 0 && value <= last)) {
        v->playing = 0;
        reference(show, v);
        good = !stand_at(show, v, value);
    } else if (!strcmp(name, "playing")) {
        if (value > 0 && !v->playing) {
            reference(show, v);
            v->before = viewer_seconds();
            if (v->place >= last) v->place = 0;
        }
        v->playing = value > 0;
    } else if (!strcmp(name, "overview")) {
        v->playing = 0;
        good = !overview(show, v);
    } else {
        good = !move(show, v, name, value);
    }
    if (!good) {
        snprintf(error, error_bytes,
                 "set: expected merge from 0 to 3, show from 0 to 3, most from 1 to %d, frusta, path, cut, far, size from 0.001 to 1, rate from 0.05 "
                 "to %.0f, camera or place from 0 to "
                 "%.0f, playing, overview, forward, right or up from -10 to 10, turn or tilt from -180 to 180",
                 (int)TSR_VIEWS_MOST, most_rate, last);
        return -1;
    }
    show->version++;
    return 0;
}

static double go_on(viewer_show *show, double time)
{
    struct views *v = views_of(show);
    if (!v->playing) return 1e9;
    const double place = fmin((double)(v->count - 1), v->place + fmin(time - v->before, 0.5) * v->rate);
    v->before = time;
    v->playing = place < (double)(v->count - 1) && !stand_at(show, v, place);
    if (!v->playing) stand_at(show, v, place);
    show->version++;
    show->state_dirty = 1;
    return 0.01;
}

/* ---- pictures ----------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status room_for(tsr_context *context, tsr_novel **view, int32_t width, int32_t height)
{
    if (*view && tsr_novel_width(*view) == width && tsr_novel_height(*view) == height) return TSR_OK;
    tsr_novel_destroy(view);
    return tsr_novel_create(context, width, height, view);
}

/* The cameras that look most nearly as the new one does, and their views of it. */
static tsr_status project(viewer_show *show, struct views *v, const tsr_camera *camera, int32_t width, int32_t height, int draft, rig_projector *of)
{
    int64_t count = 0, used = 0;
    tsr_rig_camera c;
    tsr_status status = TSR_OK;
    for (int64_t i = 0; i < v->count; i++)
        if (tsr_rig_get(v->rig, i, &c) == TSR_OK && *c.depth && !v->kept[i].bad)
            count += rig_rank_of(&c, i, camera, width, height, 1, &v->rank[count]);
    rig_rank_sort(v->rank, count);
    v->clock++;
    for (int64_t i = 0; i < count && used < v->most && status == TSR_OK; i++) {
        tsr_project_options o = TSR_PROJECT_OPTIONS;
        const struct kept *k = images_of(show, v, v->rank[i].index);
        if (!k) continue;
        if (!draft && viewer_show_overtaken(show, 0, "")) status = TSR_ERROR_CANCELLED;
        of[used] = k->images;
        if (draft && k->coarse) of[used].projector.depth = k->coarse;
        o.connect = v->cut ? TSR_CONNECT_THRESHOLD : TSR_CONNECT_ALL;
        o.keep_far = v->far_ && k->images.projector.camera.clip[1] > 0;
        o.faces = v->merge == TSR_MERGE_CSG || v->merge == TSR_MERGE_FREESPACE ? TSR_FACES_FRONT : TSR_FACES_BOTH;
        if (status == TSR_OK) status = room_for(show->context, &v->view[used], width, height);
        if (status == TSR_OK) status = tsr_novel_project(v->view[used], camera, &of[used].projector, &o);
        v->rank[used++] = v->rank[i];
    }
    if (status == TSR_OK) v->used = used;
    return status;
}

/* From red, one camera, over yellow to green: all that take part. */
static void coverage_colour(int seen, int64_t of, uint8_t rgb[3])
{
    const double t = of > 1 ? (double)(seen - 1) / (double)(of - 1) : 1;
    rgb[0] = (uint8_t)(220 - 170 * fmax(0, 2 * t - 1));
    rgb[1] = (uint8_t)(70 + 130 * fmin(1, 2 * t));
    rgb[2] = 60;
}

static tsr_status coverage(const struct views *v, int64_t pixels, float *scratch, uint8_t *color)
{
    uint8_t *seen = (uint8_t *)calloc((size_t)pixels, 1);
    tsr_status status = seen ? TSR_OK : TSR_ERROR_MEMORY;
    for (int64_t i = 0; i < v->used && status == TSR_OK; i++) {
        status = tsr_novel_download(v->view[i], scratch, NULL);
        for (int64_t p = 0; status == TSR_OK && p < pixels; p++) seen[p] = (uint8_t)(seen[p] + (scratch[p] > 0));
    }
    for (int64_t p = 0; status == TSR_OK && p < pixels; p++) coverage_colour(seen[p], v->used, color + 4 * p);
    free(seen);
    return status;
}

/* Nearer is brighter, evenly in 1 / distance. */
static void greys(const float *depth, int64_t pixels, uint8_t *color)
{
    double low = HUGE_VAL, high = 0;
    for (int64_t p = 0; p < pixels; p++)
        if (depth[p] > 0) {
            low = fmin(low, 1 / (double)depth[p]);
            high = fmax(high, 1 / (double)depth[p]);
        }
    for (int64_t p = 0; p < pixels; p++)
        if (depth[p] > 0) memset(color + 4 * p, (int)(45 + 210 * (high > low ? (1 / (double)depth[p] - low) / (high - low) : 1)), 3);
}

static tsr_status merge(struct views *v, const tsr_camera *camera, const rig_projector *of, int64_t pixels, float *depth, uint8_t *color)
{
    const tsr_projector *projectors[TSR_VIEWS_MOST];
    const tsr_novel *views[TSR_VIEWS_MOST];
    tsr_volume *choice = NULL, *host = NULL;
    tsr_image image = { 0 };
    for (int64_t i = 0; i < v->used; i++) {
        projectors[i] = &of[i].projector;
        views[i] = v->view[i];
    }
    tsr_status status =
        tsr_novel_merge(v->merged, camera, views, projectors, (int32_t)v->used, (tsr_merge)v->merge, NULL, v->kind == CHOICE ? &choice : NULL);
    if (status == TSR_OK && v->kind == COVERAGE) status = coverage(v, pixels, depth, color);
    if (status == TSR_OK) status = tsr_novel_download(v->merged, depth, v->kind == COVERAGE ? NULL : color);
    if (status == TSR_OK && v->kind == DEPTHS) greys(depth, pixels, color);
    if (status == TSR_OK && choice) status = tsr_volume_copy(choice, NULL, &host);
    if (status == TSR_OK && choice) status = tsr_choice_image(host, &image);
    for (int64_t p = 0; status == TSR_OK && choice && p < pixels; p++) memcpy(color + 4 * p, image.pixels + 3 * p, 3);
    tsr_image_destroy(&image);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&choice);
    return status;
}

/* The colours of a map of choices, one for each camera that takes part. */
static tsr_status palette(tsr_image *colours)
{
    tsr_volume *one = NULL;
    tsr_status status = tsr_volume_create(NULL, TSR_U32, (tsr_size3){ TSR_VIEWS_MOST, 1, 1 }, NULL, &one);
    for (int i = 0; status == TSR_OK && i < TSR_VIEWS_MOST; i++) ((uint32_t *)tsr_volume_data(one))[i] = 1u << i;
    if (status == TSR_OK) status = tsr_choice_image(one, colours);
    tsr_volume_destroy(&one);
    return status;
}

static tsr_status pyramids(const struct views *v, viewer_canvas *canvas)
{
    static const uint8_t idle[3] = { 150, 156, 168 }, way[3] = { 200, 190, 120 };
    tsr_image colours = { 0 };
    tsr_rig_camera c, before = { .name = NULL };
    const double thick = 0.0014 * v->extent, size = v->size * v->extent;
    tsr_status status = palette(&colours);
    for (int64_t i = 0; i < v->count && status == TSR_OK; i++) {
        const uint8_t *rgb = idle;
        if ((status = tsr_rig_get(v->rig, i, &c)) != TSR_OK) break;
        for (int64_t k = 0; k < v->used; k++)
            if (v->rank[k].index == i) rgb = colours.pixels + 3 * k;
        const tsr_vec3 p = c.camera.position, e = canvas->camera.position;
        const double away = sqrt(pow(p.x - e.x, 2) + pow(p.y - e.y, 2) + pow(p.z - e.z, 2));
        if (v->frusta && away > near_pyramids * size)
            viewer_canvas_frustum(canvas, &c, size, (i == v->chosen ? 2.2 : rgb == idle ? 0.8 : 1.4) * thick, rgb);
        if (v->path && i) viewer_canvas_line(canvas, before.camera.position, p, 0.7 * thick, way);
        before = c;
    }
    tsr_image_destroy(&colours);
    return status;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    struct views *v = views_of(show);
    rig_projector of[TSR_VIEWS_MOST]; /* borrowed from what is kept */
    viewer_canvas canvas = { .depth = NULL };
    tsr_camera camera;
    double ahead = 1;
    const int64_t pixels = (int64_t)width * height, before = v->used;
    const double begun = viewer_seconds();
    int64_t covered = 0;
    float *depth = (float *)malloc((size_t)pixels * sizeof *depth);
    uint8_t *color = (uint8_t *)malloc((size_t)pixels * 4);
    tsr_status status = depth && color ? eye_of(show, look, &camera, &ahead) : TSR_ERROR_MEMORY;
    if (status == TSR_OK) status = project(show, v, &camera, width, height, draft, of);
    if (status == TSR_OK) status = room_for(show->context, &v->merged, width, height);
    if (status == TSR_OK && v->used) status = merge(v, &camera, of, pixels, depth, color);
    if (status == TSR_OK) status = viewer_canvas_begin(&canvas, &camera, width, height, image);
    for (int64_t p = 0; status == TSR_OK && v->used && p < pixels; p++) {
        if (!(depth[p] > 0)) continue;
        memcpy(image->pixels + 3 * p, color + 4 * p, 3);
        canvas.depth[p] = depth[p];
        covered++;
    }
    if (status == TSR_OK && (v->frusta || v->path)) status = pyramids(v, &canvas);
    viewer_canvas_end(&canvas);
    free(depth);
    free(color);
    *pixel = (float)(2 * ahead * tan(0.5 * camera.fov * degree) / height);
    if (status == TSR_OK && (!draft || before != v->used)) {
        v->milliseconds = 1e3 * (viewer_seconds() - begun);
        v->covered = (double)covered / (double)pixels;
        show->state_dirty = 1;
    }
    return status;
}

/* ---- what pages are told --------------------------------------------------------------------------------------------------------------------------------- */

static json_t *name_of(const struct views *v, int64_t index)
{
    char text[VIEWER_NAME_BYTES];
    tsr_rig_camera c = { .name = "" };
    if (!v->rig || tsr_rig_get(v->rig, index, &c) != TSR_OK) c.name = "";
    snprintf(text, sizeof text, "%s", c.name);
    viewer_make_utf8(text);
    return json_string(text);
}

static json_t *state(const viewer_show *show)
{
    const struct views *v = views_of(show);
    json_t *used = json_array();
    tsr_image colours = { 0 };
    if (palette(&colours) == TSR_OK)
        for (int64_t i = 0; i < v->used; i++) {
            const uint8_t *rgb = colours.pixels + 3 * i;
            json_array_append_new(used, json_pack("{s:I, s:o, s:[i, i, i]}", "camera", (json_int_t)v->rank[i].index, "name",
                                                  name_of(v, v->rank[i].index), "colour", rgb[0], rgb[1], rgb[2]));
        }
    tsr_image_destroy(&colours);
    return json_pack("{s:I, s:I, s:I, s:o, s:i, s:i, s:i, s:b, s:b, s:b, s:b, s:b, s:f, s:f, s:f, s:o, s:f, s:f}", "cameras", (json_int_t)v->count,
                     "depths", (json_int_t)v->depths, "camera", (json_int_t)v->chosen, "name", name_of(v, v->chosen), "merge", v->merge, "show",
                     v->kind, "most", v->most, "frusta", v->frusta, "path", v->path, "cut", v->cut, "far", v->far_, "playing", v->playing, "size",
                     v->size, "rate", v->rate, "place", v->place, "used", used, "covered", v->covered, "milliseconds", v->milliseconds);
}

static void clear(viewer_show *show) { forget(views_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct views), .drafts = 2, .load = load, .set = set, .draw = draw, .go_on = go_on, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name) { return viewer_rig_format(name) != NULL; }
static int begins(const char *name)
{
    (void)name;
    return 0; /* by the name alone a rig is shown by the mode cameras: viewer_mode_of_path looks into it */
}

int viewer_views_fits(const char *folder, const char *name)
{
    char path[4096];
    tsr_rig_read_options read = TSR_RIG_READ_OPTIONS;
    tsr_rig *rig = NULL;
    tsr_rig_camera c;
    int fits = 0;
    read.format = viewer_rig_format(name);
    read.memory_limit = 16 * VIEWER_LOG_BYTES;
    read.width = 640;
    read.height = 480;
    if (!read.format || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || tsr_rig_read(path, &read, &rig) != TSR_OK) return 0;
    for (int64_t i = 0; i < tsr_rig_count(rig) && !fits; i++) fits = tsr_rig_get(rig, i, &c) == TSR_OK && *c.depth;
    tsr_rig_destroy(&rig);
    return fits;
}

int viewer_views_find(const char *folder, char name[VIEWER_NAME_BYTES])
{
    static const char first[] = "transforms.json";
    int found = viewer_views_fits(folder, first);
    if (found) snprintf(name, VIEWER_NAME_BYTES, "%s", first);
    DIR *all = found ? NULL : opendir(folder);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        if (!viewer_name_is_plain(entry->d_name) || (found && strcmp(entry->d_name, name) > 0) || !viewer_views_fits(folder, entry->d_name)) continue;
        memcpy(name, entry->d_name, strlen(entry->d_name) + 1); /* plain: it fits */
        found = 1;
    }
    if (all) closedir(all);
    return found;
}

const viewer_mode viewer_views = { .name = "views",
                                   .takes = VIEWER_TAKES(SET),
                                   .draws = 1,
                                   .opens = opens,
                                   .begins = begins,
                                   .expects = VIEWER_RIG_EXPECTS " whose cameras have depth images",
                                   .work = work,
                                   .state = viewer_mode_more };
