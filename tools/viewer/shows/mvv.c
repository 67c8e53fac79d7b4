/* viewer/shows/mvv.c: the mode `mvv`: a moving mesh with the textures of many cameras (.mvv), from any side, while it plays; what no camera saw stands out. */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mvv {
    tsr_multiview *textures, *masks; /* masks: of one step, made anew where the file has none */
    tsr_multiview_model *model;
    tsr_texturer *texturer;
    tsr_multiview_parts parts;
    tsr_multiview_view view;
    viewer_row film;
    int unseen, only;  /* only: 1 + the one camera whose texture is taken; 0: all */
    double share;      /* share: of the surface in the picture that some camera saw */
    int32_t mask_step; /* of `masks` */
};

static struct mvv *mvv_of(const viewer_show *show) { return (struct mvv *)show->own; }

static void forget(struct mvv *m)
{
    tsr_texturer_destroy(&m->texturer);
    tsr_multiview_model_destroy(&m->model);
    tsr_multiview_destroy(&m->masks);
    tsr_multiview_destroy(&m->textures);
}

static tsr_box bounds_of(const struct mvv *m)
{
    tsr_box b = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    const float *at = m->parts.position;
    for (int64_t i = 0; i < (int64_t)m->view.steps * m->parts.vertices; i++, at += 3) {
        b.lower = (tsr_vec3){ fmin(b.lower.x, (double)at[0]), fmin(b.lower.y, (double)at[1]), fmin(b.lower.z, (double)at[2]) };
        b.upper = (tsr_vec3){ fmax(b.upper.x, (double)at[0]), fmax(b.upper.y, (double)at[1]), fmax(b.upper.z, (double)at[2]) };
    }
    return b;
}

static tsr_status open_file(viewer_show *show, struct mvv *m, const char *path, const char *name, char *error, size_t error_bytes)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_mask_maker *maker = NULL;
    int32_t rate[2];
    size_t size = 0;
    tsr_status status = tsr_mask_maker_create(show->context, &maker);
    read.memory_limit = show->s->memory_limit;
    read.rebuild = tsr_mask_maker_rebuild;
    read.user = maker;
    read.progress = (tsr_progress){ viewer_session_quits, show->s };
    if (status == TSR_OK) status = tsr_multiview_read(show->context, path, &read, &m->textures);
    tsr_mask_maker_destroy(&maker);
    const void *bytes = status == TSR_OK ? tsr_multiview_model_bytes(m->textures, &size) : NULL;
    if (status == TSR_OK && !bytes) {
        snprintf(error, error_bytes, "%s: textures without a model, which says where they belong (tessera mvv make writes it)", name);
        return TSR_ERROR_FORMAT;
    }
    if (status == TSR_OK) status = tsr_multiview_model_unpack(bytes, size, name, show->s->memory_limit, &m->model);
    if (status == TSR_OK) status = tsr_texturer_create(show->context, m->model, &m->texturer);
    if (status == TSR_OK) status = tsr_multiview_view_of(m->textures, &m->view);
    const tsr_multiview_view *v = &m->view;
    if (status == TSR_OK && !v->visible) status = tsr_multiview_create(show->context, v->width, v->height, v->cameras, 1, 1, &m->masks);
    if (status != TSR_OK) return status;
    m->parts = tsr_multiview_model_parts(m->model);
    if (v->width != m->parts.width || v->height != m->parts.height || v->cameras != m->parts.cameras || v->steps > m->parts.steps || v->steps < 1) {
        snprintf(error, error_bytes, "%s: its model has %d x %d texels, %d cameras, %d steps, its textures %d x %d, %d, %d", name,
                 (int)m->parts.width, (int)m->parts.height, (int)m->parts.cameras, (int)m->parts.steps, (int)v->width, (int)v->height,
                 (int)v->cameras, (int)v->steps);
        return TSR_ERROR_FORMAT;
    }
    tsr_multiview_rate(m->textures, rate);
    m->film.frames = v->steps;
    m->film.rate = rate[0] > 0 && rate[1] > 0 ? (double)rate[0] / rate[1] : 25;
    return TSR_OK;
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct mvv made = { .film = { .loop = 1, .known = 1 }, .mask_step = -1 };
    const tsr_status status = open_file(show, &made, path, name, error, error_bytes);
    if (status == TSR_OK && !viewer_show_box(show, name, bounds_of(&made))) {
        forget(mvv_of(show));
        *mvv_of(show) = made;
        return 0;
    }
    if (!*error) viewer_take_message(show->s, error, error_bytes);
    forget(&made);
    return -1;
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
    } else if (!strcmp(name, "only") && whole && value >= 0 && value <= (double)m->view.cameras) {
        m->only = (int)value;
    } else {
        snprintf(error, error_bytes, "set: expected " VIEWER_ROW_EXPECTS ", masks, or only from 0 (all) to %d", (int)m->view.cameras);
        return -1;
    }
    show->version++;
    return 0;
}

static double go_on(viewer_show *show, double now) { return viewer_row_go_on(show, &mvv_of(show)->film, now); }

/* The planes and masks of the step that is shown. */
static tsr_status planes_of(struct mvv *m, uint8_t *plane[3], const uint64_t **visible)
{
    const tsr_multiview_view *v = &m->view;
    const int64_t texels = (int64_t)v->cameras * v->height * v->width, words = (int64_t)v->cameras * v->height * ((v->width + 63) / 64);
    tsr_multiview_view masks;
    for (int k = 0; k < 3; k++) plane[k] = v->plane[k] + m->film.frame * texels;
    if (v->visible) {
        *visible = v->visible + m->film.frame * words;
        return TSR_OK;
    }
    tsr_status status = tsr_multiview_view_of(m->masks, &masks);
    if (status == TSR_OK && m->mask_step != m->film.frame)
        status = tsr_texturer_step(m->texturer, (int32_t)m->film.frame, NULL, TSR_TEXTURE_BILINEAR, NULL, masks.visible);
    if (status == TSR_OK) m->mask_step = (int32_t)m->film.frame;
    *visible = masks.visible;
    return status;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    struct mvv *m = mvv_of(show);
    tsr_texturer_view options = TSR_TEXTURER_VIEW;
    tsr_texturer_seen seen = TSR_TEXTURER_SEEN;
    tsr_image rgba = { 0 };
    tsr_camera camera;
    uint8_t *plane[3];
    const uint64_t *visible = NULL;
    (void)draft;
    (void)pixel;
    memcpy(options.background, (uint8_t[3]){ 34, 36, 40 }, 3);
    memcpy(options.unseen, m->unseen ? (uint8_t[3]){ 255, 60, 160 } : (uint8_t[3]){ 90, 92, 98 }, 3);
    options.only = m->only;
    tsr_status status = viewer_show_camera(show, look, &camera);
    if (status == TSR_OK) status = planes_of(m, plane, &visible);
    if (status == TSR_OK)
        status = tsr_texturer_draw(m->texturer, (int32_t)m->film.frame, plane, visible, &camera, width, height, &options, &rgba, &seen);
    if (status == TSR_OK) status = tsr_image_create(width, height, 3, image);
    for (size_t i = 0, n = (size_t)width * (size_t)height; status == TSR_OK && i < n; i++) memcpy(image->pixels + 3 * i, rgba.pixels + 4 * i, 3);
    tsr_image_destroy(&rgba);
    const double share = seen.surface > 0 ? 1 - (double)seen.unseen / (double)seen.surface : 0;
    if (fabs(share - m->share) > 0.005) show->state_dirty = 1;
    m->share = share;
    return status;
}

static json_t *state(const viewer_show *show)
{
    const struct mvv *m = mvv_of(show);
    json_t *cameras = json_array();
    for (int32_t c = 0; c < m->view.cameras; c++) {
        char name[VIEWER_NAME_BYTES];
        snprintf(name, sizeof name, "%s", tsr_multiview_camera_name(m->textures, c));
        viewer_make_utf8(name);
        json_array_append_new(cameras, json_string(name));
    }
    return json_pack("{s:I, s:i, s:b, s:b, s:b, s:f, s:b, s:i, s:o, s:f, s:[i, i]}", "frame", (json_int_t)m->film.frame, "frames", (int)m->view.steps,
                     "known", 1, "playing", m->film.playing, "loop", m->film.loop, "rate", m->film.rate, "masks", m->unseen, "only", m->only,
                     "cameras", cameras, "seen", m->share, "extents", (int)m->view.width, (int)m->view.height);
}

static void clear(viewer_show *show) { forget(mvv_of(show)); }

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
