/* viewer/shows/mvv.c: the mode `mvv`: a moving mesh with the textures of many cameras (.mvv), from any side, while it plays: as they are in the file or
 * with fewer bits, coded in one way or the other; master, averages, differences, what no camera saw. What takes long, reading the file and coding, a thread
 * beside does (mvv_work.c): pictures go on meanwhile, of the bare mesh until the textures are there. */
#define _XOPEN_SOURCE 700 /* strdup */
#include "mvv_work.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Steps that are decoded, or coded and decoded, together: a group of pictures of spiht4d. */
enum { GROUP = 8 };
static const double most_bits = 4, first_bits = 0.75, gain = 4;
static const uint8_t background_grey[3] = { 34, 36, 40 };
static const double look_seconds = 0.1; /* until the work beside is looked at again */

/* Where a window of steps is made, while the other one is shown. */
struct slot {
    tsr_context *context;  /* the thread's beside while it works on it */
    tsr_multiview *window; /* steps from got.first on */
    struct mvv_made got;
    double psnr, ratio; /* luma against the file; 0: not known */
};

struct mvv {
    tsr_multiview *textures; /* NULL: they are still being read */
    tsr_multiview *names;    /* of the cameras, the rate: of the file without its textures */
    tsr_multiview *masks;    /* of one step, made anew where the file has none */
    tsr_multiview_model *model;
    tsr_texturer *texturer;
    tsr_multiview_parts parts;
    viewer_row film;
    int unseen, only;  /* only: 1 + the one camera whose texture is taken; 0: all */
    double share;      /* share: of the surface in the picture that some camera saw */
    int32_t mask_step; /* of `masks` */
    char *path;        /* of the file */
    tsr_multiview_report file;
    tsr_context *context; /* that the textures were read with */
    struct mvv_made wanted;
    struct slot slot[2];
    int shown;      /* of `slot`: has a window; -1: none */
    mvv_work *work; /* beside; NULL: none */
    int lost;       /* the textures cannot be read */
    int64_t drawn;  /* the step in the last picture */
    const tsr_multiview *drawn_of;
    tsr_multiview *layered; /* what is shown of them */
    int show;               /* tsr_multiview_layer */
    int64_t layer_step;     /* of `layered` */
    const tsr_multiview *layer_from;
    double turn[3][3]; /* rows: the world's axes so that up is z, as windows have it */
    tsr_scene *scene;  /* the bare mesh */
    tsr_picture *picture;
    int64_t scene_step;
};

static struct mvv *mvv_of(const viewer_show *show) { return (struct mvv *)show->own; }

static void drop_window(struct mvv *m, int k)
{
    const tsr_multiview *gone = m->slot[k].window;
    if (m->shown == k) m->shown = -1;
    if (gone && m->layer_from == gone) tsr_multiview_destroy(&m->layered);
    if (gone && m->drawn_of == gone) m->drawn_of = NULL;
    tsr_multiview_destroy(&m->slot[k].window);
}

/* Contexts of the thread beside are not the show's, but for the emulator, whose memory only its own context opens: there the work is done at once. */
static void end_context(const viewer_show *show, tsr_context **context)
{
    if (*context != show->context) tsr_context_destroy(context);
    *context = NULL;
}

static tsr_status begin_context(const viewer_show *show, tsr_context **context)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    options.device = show->s->device;
    options.threads = show->s->threads;
    if (*context) return TSR_OK;
    if (tsr_context_device(show->context).kind != TSR_DEVICE_EMU) return tsr_context_create(&options, context);
    *context = show->context;
    return TSR_OK;
}

static void forget(const viewer_show *show, struct mvv *m)
{
    mvv_work_end(&m->work);
    tsr_texturer_destroy(&m->texturer);
    tsr_multiview_model_destroy(&m->model);
    tsr_multiview_destroy(&m->masks);
    tsr_multiview_destroy(&m->layered);
    for (int k = 0; k < 2; k++) {
        drop_window(m, k);
        end_context(show, &m->slot[k].context);
    }
    tsr_multiview_destroy(&m->textures);
    tsr_multiview_destroy(&m->names);
    tsr_picture_destroy(&m->picture);
    tsr_scene_destroy(&m->scene);
    end_context(show, &m->context);
    free(m->path);
    m->path = NULL;
}

/* ---- where one looks from ------------------------------------------------------------------------------------------------------------------------ */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Up is where the cameras of the footage have it, an axis of the world if it is about that. */
static void stand_up(struct mvv *m)
{
    static const double almost = 0.8;
    double up[3] = { 0, 0, 0 }, length;
    int most = 2, least = 0;
    for (int32_t c = 0; c < m->parts.cameras; c++)
        for (int k = 0; k < 3; k++) up[k] += m->parts.camera[c].rotation[1][k];
    length = sqrt(dot(up, up));
    for (int k = 0; k < 3; k++) up[k] = length > 1e-6 ? up[k] / length : k == 2;
    for (int k = 0; k < 3; k++)
        if (fabs(up[k]) > fabs(up[most])) most = k;
    const double sign = up[most] < 0 ? -1 : 1;
    for (int k = 0; k < 3 && fabs(up[most]) > almost; k++) m->turn[2][k] = k == most ? sign : 0;
    if (!(fabs(up[most]) > almost)) memcpy(m->turn[2], up, sizeof up);
    for (int k = 1; k < 3; k++)
        if (fabs(m->turn[2][k]) < fabs(m->turn[2][least])) least = k;
    const double *z = m->turn[2], along = z[least];
    for (int k = 0; k < 3; k++) m->turn[0][k] = (k == least) - along * z[k];
    length = sqrt(dot(m->turn[0], m->turn[0]));
    for (int k = 0; k < 3; k++) m->turn[0][k] /= length;
    for (int k = 0; k < 3; k++) m->turn[1][k] = z[(k + 1) % 3] * m->turn[0][(k + 2) % 3] - z[(k + 2) % 3] * m->turn[0][(k + 1) % 3];
}

static tsr_box bounds_of(const struct mvv *m)
{
    double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    const float *at = m->parts.position;
    for (int64_t i = 0; i < (int64_t)m->film.frames * m->parts.vertices; i++, at += 3)
        for (int k = 0; k < 3; k++) {
            const double p = dot(m->turn[k], (double[3]){ (double)at[0], (double)at[1], (double)at[2] });
            low[k] = fmin(low[k], p);
            high[k] = fmax(high[k], p);
        }
    return (tsr_box){ { low[0], low[1], low[2] }, { high[0], high[1], high[2] } };
}

/* Pages begin where the first camera of the footage stands. */
static void look_as_first(viewer_show *show, const struct mvv *m, tsr_box b)
{
    const tsr_camera *c = &m->parts.camera[0];
    const double at[3] = { c->position.x, c->position.y, c->position.z };
    const double middle[3] = { 0.5 * (b.lower.x + b.upper.x), 0.5 * (b.lower.y + b.upper.y), 0.5 * (b.lower.z + b.upper.z) };
    double way[3];
    for (int k = 0; k < 3; k++) way[k] = c->projection == TSR_PERSPECTIVE ? dot(m->turn[k], at) - middle[k] : dot(m->turn[k], c->rotation[2]);
    const double length = sqrt(dot(way, way)), degrees = 180 / 3.14159265358979323846;
    if (length > 0) viewer_show_from(show, atan2(-way[0], way[1]) * degrees, fmax(-89, fmin(89, asin(way[2] / length) * degrees)));
}

/* Of a window: the world's own axes. */
static tsr_status camera_of(const viewer_show *show, const struct mvv *m, const viewer_look *look, tsr_camera *camera)
{
    const tsr_status status = viewer_show_camera(show, look, camera);
    const tsr_camera c = *camera;
    const double at[3] = { c.position.x, c.position.y, c.position.z };
    double place[3] = { 0, 0, 0 };
    for (int k = 0; k < 3; k++) {
        for (int r = 0; r < 3; r++) {
            camera->rotation[r][k] = c.rotation[r][0] * m->turn[0][k] + c.rotation[r][1] * m->turn[1][k] + c.rotation[r][2] * m->turn[2][k];
            place[k] += at[r] * m->turn[r][k];
        }
    }
    camera->position = (tsr_vec3){ place[0], place[1], place[2] };
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------------------------ */

/* The mesh and its cameras, without the textures. */
static tsr_status open_file(viewer_show *show, struct mvv *m, const char *path, const char *name, char *error, size_t error_bytes)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    int32_t rate[2];
    size_t size = 0;
    m->path = strdup(path);
    m->file = (tsr_multiview_report)TSR_MULTIVIEW_REPORT;
    read.no_textures = 1;
    read.memory_limit = show->s->memory_limit;
    tsr_status status = m->path ? tsr_multiview_read(show->context, path, &read, &m->names) : TSR_ERROR_MEMORY;
    if (status == TSR_OK) status = tsr_multiview_inspect(path, &m->file);
    const void *bytes = status == TSR_OK ? tsr_multiview_model_bytes(m->names, &size) : NULL;
    if (status == TSR_OK && !bytes) {
        snprintf(error, error_bytes, "%s: textures without a model, which says where they belong (tessera mvv make writes it)", name);
        return TSR_ERROR_FORMAT;
    }
    if (status == TSR_OK) status = tsr_multiview_model_unpack(bytes, size, name, show->s->memory_limit, &m->model);
    if (status == TSR_OK) status = tsr_texturer_create(show->context, m->model, &m->texturer);
    if (status != TSR_OK) return status;
    const tsr_multiview_report *v = &m->file;
    m->parts = tsr_multiview_model_parts(m->model);
    if (v->width != m->parts.width || v->height != m->parts.height || v->cameras != m->parts.cameras || v->steps > m->parts.steps || v->steps < 1) {
        snprintf(error, error_bytes, "%s: its model has %d x %d texels, %d cameras, %d steps, its textures %d x %d, %d, %d", name,
                 (int)m->parts.width, (int)m->parts.height, (int)m->parts.cameras, (int)m->parts.steps, (int)v->width, (int)v->height,
                 (int)v->cameras, (int)v->steps);
        return TSR_ERROR_FORMAT;
    }
    tsr_multiview_rate(m->names, rate);
    m->film.frames = v->steps;
    m->film.rate = rate[0] > 0 && rate[1] > 0 ? (double)rate[0] / rate[1] : 25;
    return TSR_OK;
}

/* The thread beside begins to read the textures. */
static tsr_status begin_reading(viewer_show *show, struct mvv *m)
{
    tsr_status status = begin_context(show, &m->context);
    if (status == TSR_OK) status = mvv_work_begin(show, m->context, &(mvv_task){ .path = m->path, .memory_limit = show->s->memory_limit }, &m->work);
    return status;
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct mvv made = { .film = { .loop = 1, .known = 1 }, .mask_step = -1, .layer_step = -1, .scene_step = -1, .shown = -1 };
    tsr_status status = open_file(show, &made, path, name, error, error_bytes);
    if (status == TSR_OK) {
        stand_up(&made);
        status = begin_reading(show, &made);
    }
    const tsr_box bounds = status == TSR_OK ? bounds_of(&made) : (tsr_box){ { 0, 0, 0 }, { 1, 1, 1 } };
    if (status == TSR_OK && !viewer_show_box(show, name, bounds)) {
        look_as_first(show, &made, bounds);
        forget(show, mvv_of(show));
        *mvv_of(show) = made;
        return 0;
    }
    if (!*error) viewer_take_message(show->s, error, error_bytes);
    forget(show, &made);
    return -1;
}

/* Bits a texel of Y that can be asked for; 0: the file's streams cannot be cut. */
static double bits_most(const struct mvv *m)
{
    if (m->wanted.codec) return most_bits;
    return m->file.codec == TSR_MULTIVIEW_RAW || m->file.lossless ? 0 : m->file.bpp[0];
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    struct mvv *m = mvv_of(show);
    const int whole = value == floor(value);
    const int film = viewer_row_set(&m->film, name, value);
    if (film > 0) {
        /* it was one of those that every row has */
    } else if (!strcmp(name, "masks")) {
        m->unseen = value > 0;
    } else if (!strcmp(name, "only") && whole && value >= 0 && value <= (double)m->parts.cameras) {
        m->only = (int)value;
    } else if (!strcmp(name, "show") && whole && value >= 0 && value < TSR_MULTIVIEW_LAYERS) {
        m->show = (int)value;
    } else if (!strcmp(name, "codec") && whole && value >= 0 && value < TSR_MULTIVIEW_CODECS) {
        m->wanted.codec = (int)value;
        m->wanted.bits = value > 0 ? first_bits : 0;
    } else if (!strcmp(name, "bits") && value >= 0 && value <= bits_most(m)) {
        m->wanted.bits = value > 0 || !m->wanted.codec ? value : bits_most(m);
    } else {
        snprintf(error, error_bytes,
                 "set: expected " VIEWER_ROW_EXPECTS ", masks, only from 0 (all) to %d, show from 0 to %d, codec from 0 to %d, or bits to %g",
                 (int)m->parts.cameras, TSR_MULTIVIEW_LAYERS - 1, TSR_MULTIVIEW_CODECS - 1, bits_most(m));
        return -1;
    }
    show->version++;
    return 0;
}

/* ---- the work beside -------------------------------------------------------------------------------------------------------------------------------- */

/* Is a window what is wanted for the frame? *whole: none is, the textures of the file are. */
static int is_made(const struct mvv *m, struct mvv_made *how, int *whole)
{
    *how = m->wanted;
    how->first = m->film.frame / GROUP * GROUP;
    how->steps = (int32_t)fmin(GROUP, (double)(m->film.frames - how->first));
    *whole = !how->codec && (how->bits <= 0 || how->bits >= bits_most(m));
    if (*whole) return m->textures != NULL;
    if (m->shown < 0) return 0;
    const struct mvv_made *got = &m->slot[m->shown].got;
    return how->codec == got->codec && how->bits == got->bits && how->first == got->first;
}

/* What the thread beside has done is taken over. */
static void take_work(viewer_show *show, struct mvv *m)
{
    mvv_result r;
    const tsr_status status = mvv_work_take(&m->work, &r);
    show->version++;
    show->state_dirty = 1;
    if (status != TSR_OK) {
        viewer_session_tell(show->s, "error", "%s", r.error);
        if (!m->textures) m->lost = 1;
        m->wanted = (struct mvv_made){ 0 }; /* the page goes on with what the file has */
    } else if (!m->textures) {
        m->textures = r.made;
    } else {
        const int k = m->shown == 0;
        m->slot[k].window = r.made;
        m->slot[k].got = r.how;
        m->slot[k].psnr = r.psnr;
        m->slot[k].ratio = r.ratio;
        m->shown = k;
    }
}

/* The steps about the one that is shown, with as many bits as are wanted, are begun in the slot that is not shown. */
static tsr_status begin_window(viewer_show *show, struct mvv *m, const struct mvv_made *how)
{
    const int k = m->shown == 0;
    mvv_task task = { .path = m->path, .memory_limit = show->s->memory_limit, .how = *how };
    task.ratio = m->file.bpp[0] > 0 && !how->codec ? m->file.ratio * m->file.bpp[0] / how->bits : 0; /* U and V are cut as Y is */
    drop_window(m, k);
    tsr_status status = begin_context(show, &m->slot[k].context);
    if (status == TSR_OK) status = tsr_multiview_layer_of(m->textures, TSR_MULTIVIEW_LAYER_TEXTURES, (int32_t)how->first, how->steps, 1, &task.plain);
    if (status == TSR_OK) status = mvv_work_begin(show, m->slot[k].context, &task, &m->work);
    return status;
}

/* Takes what is done, begins what is wanted. */
static void work_on(viewer_show *show, struct mvv *m)
{
    struct mvv_made how;
    int whole;
    if (m->work && mvv_work_done(m->work)) take_work(show, m);
    if (m->work || m->lost || is_made(m, &how, &whole)) return;
    show->state_dirty = 1;
    if (begin_window(show, m, &how) == TSR_OK) return;
    viewer_session_tell(show->s, "error", "%s", tsr_error_message());
    m->wanted = (struct mvv_made){ 0 };
}

/* The film waits for the thread beside. */
static double go_on(viewer_show *show, double now)
{
    struct mvv *m = mvv_of(show);
    struct mvv_made how;
    int whole;
    work_on(show, m);
    if (!m->work) {
        const double until = viewer_row_go_on(show, &m->film, now);
        return is_made(m, &how, &whole) || m->lost ? until : 0;
    }
    m->film.from = m->film.frame;
    m->film.begun = now;
    show->state_dirty = 1; /* how far it is */
    return look_seconds;
}

/* A picture for a file has what is wanted. */
static tsr_status finish(viewer_show *show, struct mvv *m)
{
    struct mvv_made how;
    int whole;
    for (work_on(show, m); m->work; work_on(show, m)) mvv_work_wait(m->work);
    return m->lost || is_made(m, &how, &whole) ? TSR_OK : TSR_ERROR_STATE;
}

/* ---- pictures --------------------------------------------------------------------------------------------------------------------------------------- */

/* Textures that there are for the frame, or, while it plays and the next ones are coded, those of the picture before. */
static void choose(struct mvv *m, const tsr_multiview **textures, int64_t *step)
{
    struct mvv_made how;
    int whole;
    const int made = is_made(m, &how, &whole);
    const struct slot *s = !whole && m->shown >= 0 ? &m->slot[m->shown] : NULL;
    const int holds = s && !made && m->film.playing && m->drawn_of == s->window;
    if (!holds) m->drawn = m->film.frame;
    if (s && (holds || s->got.first == how.first)) {
        *textures = s->window;
        *step = m->drawn - s->got.first;
    } else {
        *textures = m->textures;
        *step = m->drawn;
    }
    if (*textures != m->drawn_of) m->drawn_of = *textures, m->mask_step = -1;
}

/* The layer that is shown. The textures of the file are the other thread's while it codes some of them. */
static tsr_status take_layer(struct mvv *m, const tsr_multiview **textures, int64_t *step)
{
    const int64_t of = (int64_t)m->show << 32 | (m->show == TSR_MULTIVIEW_LAYER_MASTER ? 0 : *step);
    tsr_status status = TSR_OK;
    if (m->show == TSR_MULTIVIEW_LAYER_TEXTURES) return TSR_OK;
    if (!m->layered || m->layer_step != of || m->layer_from != *textures) {
        if (m->work && *textures == m->textures) return TSR_OK;
        tsr_multiview_destroy(&m->layered);
        status = tsr_multiview_layer_of(*textures, (tsr_multiview_layer)m->show, (int32_t)*step, 1, gain, &m->layered);
        m->layer_step = of;
        m->layer_from = *textures;
    }
    *textures = m->layered;
    *step = 0;
    return status;
}

/* The planes and masks of the step that is shown. */
static tsr_status planes_of(const viewer_show *show, struct mvv *m, uint8_t *plane[3], const uint64_t **visible)
{
    const tsr_multiview *textures;
    tsr_multiview_view v, masks;
    int64_t step;
    choose(m, &textures, &step);
    tsr_status status = take_layer(m, &textures, &step);
    if (status == TSR_OK) status = tsr_multiview_view_of(textures, &v);
    if (status != TSR_OK) return status;
    const int64_t texels = (int64_t)v.cameras * v.height * v.width, words = (int64_t)v.cameras * v.height * ((v.width + 63) / 64);
    for (int k = 0; k < 3; k++) plane[k] = v.plane[k] + step * texels;
    if (v.visible) {
        *visible = v.visible + step * words;
        return TSR_OK;
    }
    if (!m->masks) status = tsr_multiview_create(show->context, v.width, v.height, v.cameras, 1, 1, &m->masks);
    if (status == TSR_OK) status = tsr_multiview_view_of(m->masks, &masks);
    if (status == TSR_OK && m->mask_step != m->drawn)
        status = tsr_texturer_step(m->texturer, (int32_t)m->drawn, NULL, TSR_TEXTURE_BILINEAR, NULL, masks.visible);
    if (status != TSR_OK) return status;
    m->mask_step = (int32_t)m->drawn;
    *visible = masks.visible;
    return TSR_OK;
}

static tsr_status set_scene(viewer_show *show, struct mvv *m)
{
    tsr_mesh *mesh = NULL;
    const tsr_multiview_parts *p = &m->parts;
    if (m->scene && m->scene_step == m->film.frame) return TSR_OK;
    tsr_status status = m->scene ? TSR_OK : tsr_scene_create(show->context, &m->scene);
    if (status == TSR_OK) status = tsr_mesh_create(NULL, p->vertices, p->triangles, 0, &mesh);
    if (status == TSR_OK) {
        memcpy(tsr_mesh_vertices(mesh), p->position + 3 * p->vertices * m->film.frame, (size_t)p->vertices * 3 * sizeof(float));
        memcpy(tsr_mesh_triangles(mesh), p->triangle, (size_t)p->triangles * 3 * sizeof(uint32_t));
        status = tsr_scene_set_surface_mesh(m->scene, mesh);
    }
    tsr_mesh_destroy(&mesh);
    m->scene_step = status == TSR_OK ? m->film.frame : -1;
    return status;
}

/* The mesh without textures. */
static tsr_status draw_bare(viewer_show *show, struct mvv *m, const tsr_camera *camera, int32_t width, int32_t height, tsr_image *image)
{
    tsr_render_options options = TSR_RENDER_OPTIONS;
    const tsr_color background = { background_grey[0] / 255.0f, background_grey[1] / 255.0f, background_grey[2] / 255.0f };
    tsr_status status = set_scene(show, m);
    if (status == TSR_OK && m->picture && (tsr_picture_width(m->picture) != width || tsr_picture_height(m->picture) != height))
        tsr_picture_destroy(&m->picture);
    if (status == TSR_OK && !m->picture) status = tsr_picture_create(show->context, width, height, &m->picture);
    options.background[0] = options.background[1] = background;
    options.surface_color = (tsr_color){ 0.62f, 0.64f, 0.68f };
    options.progress = (tsr_progress){ viewer_show_overtaken, show };
    if (status == TSR_OK) status = tsr_render(m->scene, camera, &options, m->picture);
    if (status == TSR_OK) status = tsr_picture_image(m->picture, 3, image);
    return status;
}

static tsr_status draw_textured(viewer_show *show, struct mvv *m, const tsr_camera *camera, int32_t width, int32_t height, tsr_image *image)
{
    tsr_texturer_view options = TSR_TEXTURER_VIEW;
    tsr_texturer_seen seen = TSR_TEXTURER_SEEN;
    tsr_image rgba = { 0 };
    uint8_t *plane[3];
    const uint64_t *visible = NULL;
    const tsr_multiview *before = m->drawn_of;
    memcpy(options.background, background_grey, 3);
    memcpy(options.unseen, m->unseen ? (uint8_t[3]){ 255, 60, 160 } : (uint8_t[3]){ 90, 92, 98 }, 3);
    options.only = m->only;
    tsr_status status = planes_of(show, m, plane, &visible);
    if (status == TSR_OK) status = tsr_texturer_draw(m->texturer, (int32_t)m->drawn, plane, visible, camera, width, height, &options, &rgba, &seen);
    if (status == TSR_OK) status = tsr_image_create(width, height, 3, image);
    for (size_t i = 0, n = (size_t)width * (size_t)height; status == TSR_OK && i < n; i++) memcpy(image->pixels + 3 * i, rgba.pixels + 4 * i, 3);
    tsr_image_destroy(&rgba);
    const double share = seen.surface > 0 ? 1 - (double)seen.unseen / (double)seen.surface : 0;
    if (fabs(share - m->share) > 0.005 || before != m->drawn_of) show->state_dirty = 1;
    m->share = share;
    return status;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    struct mvv *m = mvv_of(show);
    tsr_camera camera;
    (void)draft;
    (void)pixel;
    tsr_status status = show->saving ? finish(show, m) : TSR_OK;
    if (status == TSR_OK) status = camera_of(show, m, look, &camera);
    if (status != TSR_OK) return status;
    return m->textures ? draw_textured(show, m, &camera, width, height, image) : draw_bare(show, m, &camera, width, height, image);
}

static json_t *state(const viewer_show *show)
{
    const struct mvv *m = mvv_of(show);
    json_t *cameras = json_array();
    for (int32_t c = 0; c < m->parts.cameras && m->names; c++) {
        char name[VIEWER_NAME_BYTES];
        snprintf(name, sizeof name, "%s", tsr_multiview_camera_name(m->names, c));
        viewer_make_utf8(name);
        json_array_append_new(cameras, json_string(name));
    }
    static const char *const codecs[] = { "raw", "spiht4d", "diff2d" };
    struct mvv_made how;
    int whole;
    const int made = is_made(m, &how, &whole);
    const struct slot *s = made && !whole && m->drawn_of == m->slot[m->shown].window ? &m->slot[m->shown] : NULL; /* told when it is to be seen */
    json_t *state = json_pack("{s:I, s:i, s:b, s:b, s:b, s:f, s:b, s:i, s:o, s:f, s:[i, i], s:b}", "frame", (json_int_t)m->film.frame, "frames",
                              (int)m->film.frames, "known", 1, "playing", m->film.playing, "loop", m->film.loop, "rate", m->film.rate, "masks",
                              m->unseen, "only", m->only, "cameras", cameras, "seen", m->share, "extents", (int)m->parts.width, (int)m->parts.height,
                              "turned", !(m->turn[2][2] > 0.999));
    json_t *coded = json_pack("{s:b, s:b, s:f, s:i, s:i, s:s, s:f, s:f, s:f, s:f}", "reading", m->path && !m->textures && !m->lost, "coding",
                              m->path && !made && !m->lost, "share", m->work ? mvv_work_share(m->work) : 0, "show", m->show, "codec", m->wanted.codec,
                              "file_codec", codecs[m->file.codec < TSR_MULTIVIEW_CODECS ? m->file.codec : 0], "bits", m->wanted.bits, "bits_most",
                              bits_most(m), "psnr", s ? s->psnr : 0.0, "ratio", s ? s->ratio : 0.0);
    if (state && coded) json_object_update(state, coded);
    json_decref(coded);
    return state;
}

static void clear(viewer_show *show) { forget(show, mvv_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct mvv), .drafts = 1, .load = load, .set = set, .draw = draw, .go_on = go_on, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".mvv");
}

const viewer_mode viewer_mvv = { .name = "mvv",
                                 .takes = VIEWER_TAKES(SET),
                                 .draws = 1,
                                 .opens = opens,
                                 .expects = "a moving mesh with the textures of many cameras (.mvv)",
                                 .work = work,
                                 .state = viewer_mode_more };
