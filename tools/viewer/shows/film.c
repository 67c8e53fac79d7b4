/* viewer/shows/film.c: the mode `film`: a film, a stream of Dirac or VC-2, or a row of numbered pictures, to play, step and scrub through. Frames that were read
 * are kept, as many as fit. */
#include "show.h"
#include "stream.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t most_bytes = INT64_C(512) << 20; /* of frames that are kept */

struct film {
    tsr_video_reader *reader; /* its next frame is `next`; NULL: behind the end, or */
    viewer_stream *stream;
    int is_stream, overlay;
    char path[4096 + 16];
    int64_t first, next; /* first: number of the first picture of a row */
    int row;             /* of pictures */
    viewer_row film;
    int64_t kept, room;
    tsr_image *image;        /* [room]; without pixels: not kept */
    viewer_anatomy *anatomy; /* [room]; of streams */
    int64_t bytes;
    int32_t width, height;
    double aspect; /* of a pixel */
};

static struct film *film_of(const viewer_show *show) { return (struct film *)show->own; }

static int is_open(const struct film *f) { return f->reader || f->stream; }

static void close_reader(struct film *f)
{
    tsr_video_reader_destroy(&f->reader);
    viewer_stream_destroy(&f->stream);
}

static void forget(struct film *f)
{
    close_reader(f);
    for (int64_t i = 0; i < f->room; i++) tsr_image_destroy(&f->image[i]);
    for (int64_t i = 0; i < f->room; i++) viewer_anatomy_free(&f->anatomy[i]);
    free(f->image);
    free(f->anatomy);
    *f = (struct film){ 0 };
}

static tsr_status open_at(viewer_show *show, struct film *f, int64_t frame)
{
    tsr_video_read_options options = TSR_VIDEO_READ_OPTIONS;
    options.memory_limit = show->s->memory_limit;
    options.progress = (tsr_progress){ viewer_session_quits, show->s };
    options.first = f->row ? f->first + frame : 0;
    close_reader(f);
    f->next = f->row ? frame : 0;
    return f->is_stream ? viewer_stream_create(show->context, f->path, options.memory_limit, &f->stream)
                        : tsr_video_reader_create(f->path, &options, &f->reader);
}

/* Room for one more: the frame that is farthest from the one that is shown goes. */
static void make_room(struct film *f, int64_t bytes)
{
    while (f->bytes + bytes > most_bytes && f->kept > 1) {
        int64_t far = -1;
        for (int64_t i = 0; i < f->room; i++)
            if (f->image[i].pixels && (far < 0 || llabs(i - f->film.frame) > llabs(far - f->film.frame))) far = i;
        f->bytes -= (int64_t)f->image[far].width * f->image[far].height * f->image[far].channels + f->anatomy[far].bytes;
        f->kept--;
        tsr_image_destroy(&f->image[far]);
        viewer_anatomy_free(&f->anatomy[far]);
    }
}

static int more_room(struct film *f, int64_t room)
{
    tsr_image *images = (tsr_image *)realloc(f->image, (size_t)room * sizeof *images);
    if (!images) return 0;
    f->image = images;
    viewer_anatomy *anatomies = (viewer_anatomy *)realloc(f->anatomy, (size_t)room * sizeof *anatomies);
    if (!anatomies) return 0;
    f->anatomy = anatomies;
    memset(images + f->room, 0, (size_t)(room - f->room) * sizeof *images);
    memset(anatomies + f->room, 0, (size_t)(room - f->room) * sizeof *anatomies);
    f->room = room;
    return 1;
}

/* The next frame of the reader, kept. 0 with TSR_OK at the end. */
static tsr_status read_one(struct film *f, int *more)
{
    tsr_image image = { 0 };
    viewer_anatomy anatomy = { 0 };
    tsr_status status = f->stream ? viewer_stream_next(f->stream, &image, &anatomy, more) : tsr_video_reader_next(f->reader, &image, more);
    if (status != TSR_OK || !*more || f->next >= VIEWER_ROW_MOST) {
        if (status == TSR_OK) {
            *more = 0;
            f->film.known = 1;
            f->film.frames = f->next > f->film.frames ? f->next : f->film.frames;
        }
        tsr_image_destroy(&image);
        viewer_anatomy_free(&anatomy);
        close_reader(f);
        return status;
    }
    if (f->next >= f->room && !more_room(f, 2 * f->next + 64)) {
        tsr_image_destroy(&image);
        viewer_anatomy_free(&anatomy);
        return TSR_ERROR_MEMORY;
    }
    const int64_t bytes = (int64_t)image.width * image.height * image.channels + anatomy.bytes;
    tsr_image *slot = &f->image[f->next++];
    if (f->next > f->film.frames) f->film.frames = f->next;
    if (slot->pixels) {
        tsr_image_destroy(&image); /* it is here already */
        viewer_anatomy_free(&anatomy);
        return TSR_OK;
    }
    make_room(f, bytes);
    *slot = image;
    f->anatomy[slot - f->image] = anatomy;
    f->bytes += bytes;
    f->kept++;
    return TSR_OK;
}

/* The wanted frame, read where it is not kept; NULL with TSR_OK: the film ends before it, and `frame` is the last. */
static tsr_status find(viewer_show *show, struct film *f, const tsr_image **image)
{
    tsr_status status = TSR_OK;
    *image = NULL;
    if (f->film.frame < f->room && f->image[f->film.frame].pixels) {
        *image = &f->image[f->film.frame];
        return TSR_OK;
    }
    if (!is_open(f) || f->next > f->film.frame) status = open_at(show, f, f->film.frame);
    for (int more = 1; status == TSR_OK && more && f->next <= f->film.frame;) status = read_one(f, &more);
    if (status != TSR_OK) return status;
    if (f->film.frame < f->room && f->image[f->film.frame].pixels) *image = &f->image[f->film.frame];
    else if (f->film.frames > 0 && f->film.frame >= f->film.frames) f->film.frame = f->film.frames - 1;
    return TSR_OK;
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct film made = { .first = 0 };
    char pattern[VIEWER_NAME_BYTES + 8];
    const size_t folder = (size_t)(strlen(path) - strlen(name)), n = strlen(name);
    snprintf(made.path, sizeof made.path, "%s", path);
    if (n > 4 && (!strcmp(name + n - 4, ".png"))) {
        const int64_t number = viewer_show_row(name, pattern, sizeof pattern);
        made.row = number > 0;
        made.first = number - 1;
        if (made.row) snprintf(made.path, sizeof made.path, "%.*s%s", (int)folder, path, pattern);
    }
    int more = 0;
    made.is_stream = !made.row && tsr_dirac_recognise(made.path);
    made.overlay = film_of(show)->overlay;
    tsr_status status = open_at(show, &made, 0);
    const tsr_video_info *info = status == TSR_OK && made.reader ? tsr_video_reader_info(made.reader) : NULL;
    if (status == TSR_OK && made.stream) {
        const tsr_dirac_sequence *q = viewer_stream_sequence(made.stream);
        made.width = q->width;
        made.height = q->height;
        made.film.rate = q->rate[1] > 0 ? (double)q->rate[0] / q->rate[1] : 25;
        made.aspect = q->aspect[1] > 0 ? (double)q->aspect[0] / q->aspect[1] : 1;
        made.film.loop = 1;
        status = read_one(&made, &more);
    } else if (info) {
        made.width = info->format.width;
        made.height = info->format.height;
        made.film.rate = info->rate[1] > 0 && info->rate[0] > 0 ? (double)info->rate[0] / info->rate[1] : 25;
        made.aspect = info->aspect[0] > 0 && info->aspect[1] > 0 ? (double)info->aspect[0] / info->aspect[1] : 1;
        made.film.loop = 1;
        if (info->frames > 0) made.film.frames = info->frames;
        made.film.known = info->frames > 0;
        status = read_one(&made, &more);
    }
    if (status == TSR_OK && more) {
        forget(film_of(show));
        *film_of(show) = made;
        if (!viewer_show_box(show, name, (tsr_box){ { 0, 0, 0 }, { made.width, 1, made.height } })) return 0;
    }
    if (status == TSR_OK) snprintf(error, error_bytes, "%s: a film without pictures", name);
    else viewer_take_message(show->s, error, error_bytes);
    forget(&made);
    return -1;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    if (!strcmp(name, "overlay") && value >= 0 && value < VIEWER_OVERLAYS) film_of(show)->overlay = (int)value;
    else if (viewer_row_set(&film_of(show)->film, name, value) < 1) {
        snprintf(error, error_bytes, "set: expected " VIEWER_ROW_EXPECTS ", overlay from 0 to %d", VIEWER_OVERLAYS - 1);
        return -1;
    }
    show->version++;
    return 0;
}

/* At rest it reads ahead. */
static double go_on(viewer_show *show, double now)
{
    struct film *f = film_of(show);
    int more = 0;
    if (f->film.playing || !is_open(f) || f->bytes >= most_bytes / 2 || (f->film.known && f->kept >= f->film.frames))
        return viewer_row_go_on(show, &f->film, now);
    const int known = f->film.known;
    if (read_one(f, &more) != TSR_OK) return 1e9; /* it is said where the frame is wanted */
    if (known != f->film.known || f->film.frames % 50 == 0) show->state_dirty = 1;
    return more ? 0 : 1e9;
}

/* Of the picture at x, y (pixels, from the middle of the first): linear, or the nearest where pixels are large. */
static void take(const tsr_image *i, double x, double y, int nearest, uint8_t rgb[3])
{
    if (!(x > -0.5 && y > -0.5 && x < i->width - 0.5 && y < i->height - 0.5)) {
        rgb[0] = rgb[1] = rgb[2] = 16;
        return;
    }
    if (nearest) {
        x = floor(x + 0.5);
        y = floor(y + 0.5);
    }
    const int32_t x0 = (int32_t)fmax(0, floor(x)), y0 = (int32_t)fmax(0, floor(y)), x1 = x0 + 1 < i->width ? x0 + 1 : x0,
                  y1 = y0 + 1 < i->height ? y0 + 1 : y0;
    const int c = i->channels;
    const double u = fmax(0, x - x0), v = fmax(0, y - y0);
    for (int k = 0; k < 3; k++) {
        const int channel = c >= 3 ? k : 0;
        const uint8_t *p = i->pixels + channel;
        const size_t row0 = (size_t)y0 * (size_t)i->width, row1 = (size_t)y1 * (size_t)i->width;
        const double top = (1 - u) * p[(row0 + (size_t)x0) * (size_t)c] + u * p[(row0 + (size_t)x1) * (size_t)c];
        const double bottom = (1 - u) * p[(row1 + (size_t)x0) * (size_t)c] + u * p[(row1 + (size_t)x1) * (size_t)c];
        rgb[k] = (uint8_t)((1 - v) * top + v * bottom + 0.5);
    }
}

/* Flat: world units are pixels of the film. */
static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    struct film *f = film_of(show);
    const tsr_image *from = NULL;
    (void)draft;
    tsr_status status = find(show, f, &from);
    if (status == TSR_OK && !from) status = find(show, f, &from); /* the last, where there are fewer than were thought */
    if (status == TSR_OK && !from) return TSR_ERROR_CANCELLED;
    if (status == TSR_OK) status = tsr_image_create(width, height, 3, image);
    if (status != TSR_OK) return status;
    const double fit = fmax(from->width * f->aspect / width, (double)from->height / height), size = fit / look->zoom;
    const double left = 0.5 * from->width * f->aspect - 0.5 * width * size - look->pan[0],
                 top = 0.5 * from->height - 0.5 * height * size - look->pan[1];
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            take(from, (left + (x + 0.5) * size) / f->aspect - 0.5, top + (y + 0.5) * size - 0.5, size < 0.34,
                 image->pixels + 3 * ((size_t)y * (size_t)width + (size_t)x));
    viewer_overlay_draw(&f->anatomy[from - f->image], f->overlay, from->width, from->height, left, top, size, f->aspect, image);
    *pixel = (float)size;
    return TSR_OK;
}

static json_t *state(const viewer_show *show)
{
    const struct film *f = film_of(show);
    return json_pack("{s:I, s:I, s:b, s:b, s:b, s:f, s:[i, i], s:b, s:i}", "frame", (json_int_t)f->film.frame, "frames", (json_int_t)f->film.frames,
                     "known", f->film.known, "playing", f->film.playing, "loop", f->film.loop, "rate", f->film.rate, "extents", (int)f->width,
                     (int)f->height, "stream", f->is_stream, "overlay", f->overlay);
}

static void clear(viewer_show *show) { forget(film_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct film), .load = load, .set = set, .draw = draw, .go_on = go_on, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name)
{
    static const char *const endings[] = { ".y4m", ".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".vc2", ".drc" };
    const size_t n = strlen(name);
    char pattern[VIEWER_NAME_BYTES + 8];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > strlen(endings[i]) && !strcmp(name + n - strlen(endings[i]), endings[i])) return 1;
    return n > 4 && n < VIEWER_NAME_BYTES && !strcmp(name + n - 4, ".png") && viewer_show_row(name, pattern, sizeof pattern) > 0;
}

const viewer_mode viewer_film = { .name = "film",
                                  .takes = VIEWER_TAKES(SET),
                                  .draws = 1,
                                  .opens = opens,
                                  .expects =
                                      "a film (.y4m, .vc2, .drc; .mp4, .mkv, .webm, .avi, .mov through ffmpeg) or one of a row of pictures (.png)",
                                  .work = work,
                                  .state = viewer_mode_more };
