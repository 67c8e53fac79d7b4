/* viewer/shows/mvv.c: the mode `mvv`: a moving mesh with the textures of many cameras (.mvv), from any side, while it plays: as they are in the file or
 * with fewer bits, coded in one way or the other; master, averages, differences, what no camera saw. */
#define _XOPEN_SOURCE 700 /* mkstemp, strdup */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Steps that are decoded, or coded and decoded, together: a group of pictures of spiht4d. */
enum { GROUP = 8 };
static const double most_bits = 4, first_bits = 0.75, gain = 4;

/* What a window of steps was made with. */
struct made {
    int codec;   /* 0: as in the file, 1: spiht4d, 2: diff2d, from the textures of the file */
    double bits; /* a texel of Y at most; 0: all */
    int64_t first;
};

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
    char *path;        /* of the file */
    tsr_multiview_report file;
    struct made wanted, got;         /* got: of `window` */
    tsr_multiview *window, *layered; /* steps from got.first on; NULL: those of the file. What is shown of them */
    int show;                        /* tsr_multiview_layer */
    int64_t layer_step;              /* of `layered` */
    double psnr, ratio;              /* of `window`, luma against the file; 0: not known */
};

static struct mvv *mvv_of(const viewer_show *show) { return (struct mvv *)show->own; }

static void forget(struct mvv *m)
{
    tsr_texturer_destroy(&m->texturer);
    tsr_multiview_model_destroy(&m->model);
    tsr_multiview_destroy(&m->masks);
    tsr_multiview_destroy(&m->textures);
    tsr_multiview_destroy(&m->window);
    tsr_multiview_destroy(&m->layered);
    free(m->path);
    m->path = NULL;
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

/* Some steps of a file; masks are made again from the model. */
static tsr_status read_steps(viewer_show *show, const char *path, int64_t first, int64_t steps, double bits, tsr_multiview **made)
{
    tsr_multiview_read_options read = TSR_MULTIVIEW_READ_OPTIONS;
    tsr_mask_maker *maker = NULL;
    tsr_status status = tsr_mask_maker_create(show->context, &maker);
    read.first_step = (int32_t)first;
    read.steps = (int32_t)steps;
    read.bpp = bits;
    read.memory_limit = show->s->memory_limit;
    read.rebuild = tsr_mask_maker_rebuild;
    read.user = maker;
    read.progress = (tsr_progress){ viewer_session_quits, show->s };
    if (status == TSR_OK) status = tsr_multiview_read(show->context, path, &read, made);
    tsr_mask_maker_destroy(&maker);
    return status;
}

static tsr_status open_file(viewer_show *show, struct mvv *m, const char *path, const char *name, char *error, size_t error_bytes)
{
    int32_t rate[2];
    size_t size = 0;
    m->path = strdup(path);
    m->file = (tsr_multiview_report)TSR_MULTIVIEW_REPORT;
    tsr_status status = m->path ? read_steps(show, path, 0, 0, 0, &m->textures) : TSR_ERROR_MEMORY;
    if (status == TSR_OK) status = tsr_multiview_inspect(path, &m->file);
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
    struct mvv made = { .film = { .loop = 1, .known = 1 }, .mask_step = -1, .layer_step = -1 };
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
    } else if (!strcmp(name, "only") && whole && value >= 0 && value <= (double)m->view.cameras) {
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
                 (int)m->view.cameras, TSR_MULTIVIEW_LAYERS - 1, TSR_MULTIVIEW_CODECS - 1, bits_most(m));
        return -1;
    }
    show->version++;
    return 0;
}

static double go_on(viewer_show *show, double now) { return viewer_row_go_on(show, &mvv_of(show)->film, now); }

/* Steps coded and decoded again, through a file that is gone at once. */
static tsr_status code_steps(viewer_show *show, const tsr_multiview *plain, const struct made *how, double *ratio, tsr_multiview **made)
{
    char path[] = "/tmp/tessera-mvv-XXXXXX";
    tsr_multiview_write_options write = TSR_MULTIVIEW_WRITE_OPTIONS;
    tsr_multiview_report report = TSR_MULTIVIEW_REPORT;
    tsr_multiview_view v;
    const int file = mkstemp(path);
    if (file < 0) return TSR_ERROR_IO;
    close(file);
    tsr_status status = tsr_multiview_view_of(plain, &v);
    write.codec = how->codec == 1 ? TSR_MULTIVIEW_SPIHT4D : TSR_MULTIVIEW_DIFF2D;
    write.masks = v.visible ? TSR_MULTIVIEW_MASKS_SENT : TSR_MULTIVIEW_MASKS_NONE;
    write.bpp[0] = how->bits;
    write.overwrite = 1;
    write.progress = (tsr_progress){ viewer_session_quits, show->s };
    if (status == TSR_OK) status = tsr_multiview_write(plain, path, &write, &report);
    if (status == TSR_OK) status = read_steps(show, path, 0, 0, 0, made);
    unlink(path);
    *ratio = report.ratio;
    return status;
}

/* Is the window the one that is wanted? *whole: none is, the textures of the file are. */
static int is_made(const struct mvv *m, struct made *how, int *whole)
{
    *how = m->wanted;
    how->first = m->film.frame / GROUP * GROUP;
    *whole = !how->codec && (how->bits <= 0 || how->bits >= bits_most(m));
    if (*whole) return !m->window;
    return m->window && how->codec == m->got.codec && how->bits == m->got.bits && how->first == m->got.first;
}

/* The steps about the one that is shown, with as many bits as are wanted. */
static tsr_status take_window(viewer_show *show, struct mvv *m)
{
    struct made how;
    int whole;
    if (is_made(m, &how, &whole)) return TSR_OK;
    tsr_multiview_destroy(&m->window);
    tsr_multiview_destroy(&m->layered);
    m->psnr = m->ratio = 0;
    show->state_dirty = 1;
    if (whole) return TSR_OK;
    const int32_t steps = (int32_t)fmin(GROUP, (double)(m->view.steps - how.first));
    tsr_multiview_difference difference = TSR_MULTIVIEW_DIFFERENCE;
    tsr_multiview *plain = NULL;
    tsr_status status = tsr_multiview_layer_of(m->textures, TSR_MULTIVIEW_LAYER_TEXTURES, (int32_t)how.first, steps, 1, &plain);
    if (status == TSR_OK && how.codec) status = code_steps(show, plain, &how, &m->ratio, &m->window);
    if (status == TSR_OK && !how.codec) {
        status = read_steps(show, m->path, how.first, steps, how.bits, &m->window);
        m->ratio = m->file.ratio * m->file.bpp[0] / how.bits; /* U and V are cut as Y is */
    }
    if (status == TSR_OK) status = tsr_multiview_compare(plain, m->window, &difference);
    tsr_multiview_destroy(&plain);
    m->psnr = fmin(difference.psnr[0], 99);
    m->got = how;
    if (status != TSR_OK) { /* the page goes on with what the file has */
        tsr_multiview_destroy(&m->window);
        m->wanted = (struct made){ 0 };
    }
    return status;
}

/* The layer that is shown, of the window or of all steps. */
static tsr_status take_layer(viewer_show *show, struct mvv *m, const tsr_multiview **textures, int64_t *step)
{
    *textures = m->window ? m->window : m->textures;
    *step = m->film.frame - (m->window ? m->got.first : 0);
    const int64_t of = (int64_t)m->show << 32 | (m->show == TSR_MULTIVIEW_LAYER_MASTER ? 0 : *step);
    if (m->show == TSR_MULTIVIEW_LAYER_TEXTURES) return TSR_OK;
    (void)show;
    tsr_status status = TSR_OK;
    if (!m->layered || m->layer_step != of) {
        tsr_multiview_destroy(&m->layered);
        status = tsr_multiview_layer_of(*textures, (tsr_multiview_layer)m->show, (int32_t)*step, 1, gain, &m->layered);
        m->layer_step = of;
    }
    *textures = m->layered;
    *step = 0;
    return status;
}

/* The planes and masks of the step that is shown. */
static tsr_status planes_of(viewer_show *show, struct mvv *m, uint8_t *plane[3], const uint64_t **visible)
{
    const tsr_multiview *textures;
    tsr_multiview_view v, masks;
    int64_t step;
    tsr_status status = take_window(show, m);
    if (status == TSR_OK) status = take_layer(show, m, &textures, &step);
    if (status == TSR_OK) status = tsr_multiview_view_of(textures, &v);
    if (status != TSR_OK) return status;
    const int64_t texels = (int64_t)v.cameras * v.height * v.width, words = (int64_t)v.cameras * v.height * ((v.width + 63) / 64);
    for (int k = 0; k < 3; k++) plane[k] = v.plane[k] + step * texels;
    if (v.visible) {
        *visible = v.visible + step * words;
        return TSR_OK;
    }
    status = tsr_multiview_view_of(m->masks, &masks);
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
    if (status == TSR_OK) status = planes_of(show, m, plane, &visible);
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
    static const char *const codecs[] = { "raw", "spiht4d", "diff2d" };
    struct made how;
    int whole;
    const int coding = m->textures && !is_made(m, &how, &whole) && !whole; /* it is told before the work, and again behind it */
    json_t *state = json_pack("{s:I, s:i, s:b, s:b, s:b, s:f, s:b, s:i, s:o, s:f, s:[i, i]}", "frame", (json_int_t)m->film.frame, "frames",
                              (int)m->view.steps, "known", 1, "playing", m->film.playing, "loop", m->film.loop, "rate", m->film.rate, "masks",
                              m->unseen, "only", m->only, "cameras", cameras, "seen", m->share, "extents", (int)m->view.width, (int)m->view.height);
    json_t *coded = json_pack("{s:b, s:i, s:i, s:s, s:f, s:f, s:f, s:f}", "coding", coding, "show", m->show, "codec", m->wanted.codec, "file_codec",
                              codecs[m->file.codec < TSR_MULTIVIEW_CODECS ? m->file.codec : 0], "bits", m->wanted.bits, "bits_most", bits_most(m),
                              "psnr", m->psnr, "ratio", m->ratio);
    if (state && coded) json_object_update(state, coded);
    json_decref(coded);
    return state;
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
