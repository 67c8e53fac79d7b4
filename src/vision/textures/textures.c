/* vision/textures/textures.c: textures of a model's steps: arguments, memory, the atlas, cameras made ready. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "camera/camera.h"
#include "io/xxh64.h"
#include "tessera/features.h"
#include "tessera/lens.h"
#include "vision/textures/multiview_model.h"
#include "vision/textures/textures_ops.h"
#include "volume/volume.h"

enum { GUTTER_MOST = 16 };

struct tsr_texturer {
    tsr_context *context;
    const tsr_multiview_model *model;
    tsr_texturer_report report;
    tsr_texture_job job;   /* of the step at hand */
    tsr_texture_view view; /* of tsr_texturer_draw */
    tsr_texture_camera *host;
    uint64_t *atlas;
    uint8_t *picture;
    int64_t picture_bytes;
    size_t view_pixels;
    tsr_texture_camera *view_camera;
    struct {
        void *memory;
        size_t bytes;
    } block[20];          /* all that is allocated on the device, but for the view's pixels */
    int32_t blocks, step; /* step: whose shapes are there, -1 none */
};

/* ---- memory ---------------------------------------------------------------------------------------------------------------------- */

static tsr_status room(tsr_texturer *x, size_t bytes, void *pointer)
{
    void *memory = NULL;
    TSR_TRY(tsr_device_allocate(x->context, bytes, &memory));
    TSR_ASSERT(x->blocks < (int32_t)(sizeof x->block / sizeof *x->block));
    x->block[x->blocks].memory = memory;
    x->block[x->blocks++].bytes = bytes;
    memcpy(pointer, &memory, sizeof memory);
    return TSR_OK;
}
static tsr_status sent(tsr_texturer *x, const void *host, size_t bytes, void *pointer)
{
    void *memory;
    TSR_TRY(room(x, bytes, pointer));
    memcpy(&memory, pointer, sizeof memory);
    return x->context->backend->upload(x->context->queue, memory, host, bytes);
}

/* ---- the atlas ------------------------------------------------------------------------------------------------------------------- */

typedef struct atlas {
    tsr_texture_texel *texel;
    tsr_texture_chart *chart;
    uint64_t *bits, *twice; /* owned by a triangle; by more than one */
} atlas;

static void draw_atlas(const tsr_multiview_parts *p, const atlas *a, tsr_texturer_report *report)
{
    const int64_t words = (p->width + 63) / 64;
    for (int64_t i = 0; i < (int64_t)p->width * p->height; i++) a->texel[i] = (tsr_texture_texel){ TSR_TEXTURE_NO_TRIANGLE, { 0, 0 } };
    for (int64_t i = 0; i < p->triangles; i++) {
        tsr_texture_triangle t;
        int64_t covered = 0;
        const int there = tsr_texture_on_atlas(p->place, p->corner + 3 * i, p->width, p->height, &t);
        memset(&a->chart[i], 0, sizeof a->chart[i]);
        if (t.area == 0) {
            report->degenerate++;
            continue;
        }
        a->chart[i] = tsr_texture_make_chart(&t);
        for (int32_t row = t.y0; there && row <= t.y1; row++) {
            int32_t first, last;
            tsr_texture_span(&t, row, &first, &last);
            for (int32_t u = first; u <= last; u++) {
                const int64_t word = row * words + u / 64;
                const uint64_t bit = (uint64_t)1 << (u & 63);
                covered++;
                if (a->bits[word] & bit) {
                    report->overlapping += !(a->twice[word] & bit);
                    a->twice[word] |= bit;
                    continue;
                }
                a->bits[word] |= bit;
                a->texel[(int64_t)row * p->width + u] = tsr_texture_make_texel(&t, (uint32_t)i, u, row);
                report->texels++;
            }
        }
        report->empty += covered == 0;
    }
}

static tsr_status make_atlas(tsr_texturer *x)
{
    tsr_status status;
    const tsr_multiview_parts *p = &x->model->parts;
    const size_t texels = (size_t)p->width * (size_t)p->height, words = (size_t)((p->width + 63) / 64) * (size_t)p->height;
    atlas a = { .texel = (tsr_texture_texel *)malloc(texels * sizeof *a.texel),
                .chart = (tsr_texture_chart *)malloc((size_t)p->triangles * sizeof *a.chart),
                .bits = (uint64_t *)calloc(2 * words, sizeof *a.bits) };
    if (!a.texel || !a.chart || !a.bits)
        TSR_FAIL_GOTO(TSR_ERROR_MEMORY, end, "textures: out of host memory for an atlas of %d x %d texels", p->width, p->height);
    a.twice = a.bits + words;
    draw_atlas(p, &a, &x->report);
    TSR_TRY_GOTO(sent(x, a.texel, texels * sizeof *a.texel, &x->job.texel), end);
    TSR_TRY_GOTO(sent(x, a.chart, (size_t)p->triangles * sizeof *a.chart, &x->job.chart), end);
    TSR_TRY_GOTO(sent(x, a.bits, words * sizeof *a.bits, &x->atlas), end);
    TSR_TRY_GOTO(x->context->backend->synchronize(x->context->queue), end);
end:
    free(a.texel);
    free(a.chart);
    free(a.bits);
    return status;
}

/* ---- cameras --------------------------------------------------------------------------------------------------------------------- */

/* How a camera sees a step: its rows in pixels, and depth over the step's box in units of TSR_TEXTURE_RANGE. */
static tsr_status make_camera(const tsr_camera *camera, int32_t width, int32_t height, const tsr_box *box, tsr_texture_camera *c)
{
    tsr_camera_points points;
    tsr_camera ideal = *camera;
    memset(&ideal.lens, 0, sizeof ideal.lens);
    TSR_TRY(tsr_camera_points_make("textures", &ideal, width, height, &points));
    memcpy(c->row, points.row, sizeof c->row);
    c->width = width;
    c->height = height;
    const double *x = points.row[0], *y = points.row[1];
    const int parallel = points.row[2][0] == 0 && points.row[2][1] == 0 && points.row[2][2] == 0;
    const double *along = points.row[parallel ? 3 : 2];
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int k = 0; k < 8; k++) {
        const double s = along[0] * (k & 1 ? box->upper.x : box->lower.x) + along[1] * (k & 2 ? box->upper.y : box->lower.y) +
                         along[2] * (k & 4 ? box->upper.z : box->lower.z) + along[3];
        least = s < least ? s : least;
        most = s > most ? s : most;
    }
    if (!parallel && !(least > most * 1e-4)) least = most * 1e-4; /* the camera stands within the box */
    const double thin = 1e-9 * (fabs(most) + fabs(least));
    if (!(most - least > thin)) most = least + thin + 1e-30;
    const double scale = parallel ? TSR_TEXTURE_RANGE / (most - least) : most > 0 ? TSR_TEXTURE_RANGE / (1 / least - 1 / most) : 0;
    for (int k = 0; k < 4; k++)
        c->row[3][k] = parallel   ? scale * (along[k] - (k == 3 ? least : 0)) * points.row[2][3]
                       : most > 0 ? scale * (along[k] / least - (k == 3 ? 1 : 0))
                                  : 0;
    c->orient =
        -(x[0] * (y[1] * along[2] - y[2] * along[1]) - x[1] * (y[0] * along[2] - y[2] * along[0]) + x[2] * (y[0] * along[1] - y[1] * along[0]));
    const tsr_vec3 at = camera->position;
    for (int k = 0; k < 3; k++) c->eye[k] = parallel ? camera->rotation[2][k] : k == 0 ? at.x : k == 1 ? at.y : at.z;
    c->eye[3] = parallel ? 0 : 1;
    return TSR_OK;
}

static tsr_status make_cameras(tsr_texturer *x, int32_t step)
{
    const tsr_multiview_parts *p = &x->model->parts;
    int64_t map = 0, picture = 0;
    for (int32_t c = 0; c < p->cameras; c++) {
        tsr_texture_camera *own = &x->host[c];
        memset(own, 0, sizeof *own);
        TSR_TRY(make_camera(&p->camera[(int64_t)(p->camera_steps > 1 ? step : 0) * p->cameras + c], p->picture[2 * c], p->picture[2 * c + 1],
                            &x->model->box[step], own));
        own->scale = p->rules.scale;
        own->map_width = own->width * own->scale;
        own->map_height = own->height * own->scale;
        own->map = map;
        own->picture = picture;
        map += (int64_t)own->map_width * own->map_height;
        picture += 3ll * own->width * own->height;
    }
    x->job.map_texels = map;
    x->picture_bytes = picture;
    return TSR_OK;
}

/* ---- creation -------------------------------------------------------------------------------------------------------------------- */

static uint32_t units(double quanta) { return quanta > 0 ? (uint32_t)fmin(quanta * (TSR_TEXTURE_RANGE >> 24), TSR_TEXTURE_RANGE) : 0; }

static tsr_status set_up(tsr_texturer *x)
{
    const tsr_multiview_parts *p = &x->model->parts;
    tsr_texture_job *j = &x->job;
    j->vertices = p->vertices;
    j->triangles = p->triangles;
    j->cameras = p->cameras;
    j->width = p->width;
    j->height = p->height;
    j->words = (p->width + 63) / 64;
    j->vote = p->rules.vote;
    j->cos_min = p->rules.cos_min;
    j->bias = units(p->rules.bias);
    j->slope = p->rules.slope > 0 ? p->rules.slope : 0;
    j->slope_most = p->rules.slope_most > 0 ? (uint32_t)(p->rules.slope_most * TSR_TEXTURE_RANGE) : 0;
    const size_t cameras = (size_t)p->cameras;
    TSR_TRY(tsr_host_allocate(NULL, cameras * sizeof *x->host, (void **)&x->host));
    TSR_TRY(make_cameras(x, 0)); /* for the sizes of the maps */
    TSR_TRY(make_atlas(x));
    TSR_TRY(sent(x, p->triangle, (size_t)p->triangles * 3 * sizeof(uint32_t), &j->triangle));
    TSR_TRY(sent(x, p->corner, (size_t)p->triangles * 3 * sizeof(uint32_t), &x->view.place_of));
    TSR_TRY(sent(x, p->place, (size_t)p->places * 2 * sizeof(float), &x->view.place));
    TSR_TRY(room(x, (size_t)p->vertices * 3 * sizeof(float), &j->position));
    TSR_TRY(room(x, cameras * (size_t)p->vertices * sizeof *j->corner, &j->corner));
    TSR_TRY(room(x, cameras * (size_t)p->triangles * sizeof *j->face, &j->face));
    TSR_TRY(room(x, cameras * sizeof *j->camera, &j->camera));
    TSR_TRY(room(x, (size_t)j->map_texels * sizeof *j->map, &j->map));
    TSR_TRY(room(x, (size_t)x->picture_bytes, &x->picture));
    TSR_TRY(room(x, sizeof *x->view_camera, &x->view_camera));
    TSR_TRY(room(x, (size_t)p->vertices * sizeof *j->corner, &x->view.shape.corner));
    TSR_TRY(room(x, (size_t)p->triangles * sizeof *j->face, &x->view.shape.face));
    return x->context->backend->synchronize(x->context->queue);
}

tsr_status tsr_texturer_create(tsr_context *context, const tsr_multiview_model *model, tsr_texturer **texturer)
{
    TSR_RETURNS(texturer);
    tsr_status status;
    if (!context || !model) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", context ? "model" : "context");
    TSR_TRY(tsr_host_allocate(NULL, sizeof **texturer, (void **)texturer));
    **texturer = (tsr_texturer){ .context = context, .model = model, .step = -1 };
    TSR_TRY_GOTO(set_up(*texturer), fail);
    return TSR_OK;
fail:
    tsr_texturer_destroy(texturer);
    return status;
}

static void drop_view(tsr_texturer *x)
{
    tsr_device_release(x->context, x->view.key, x->view_pixels * sizeof *x->view.key);
    tsr_device_release(x->context, x->view.color, x->view_pixels * 4);
    x->view.key = NULL;
    x->view.color = NULL;
    x->view_pixels = 0;
}

void tsr_texturer_destroy(tsr_texturer **texturer)
{
    if (!texturer || !*texturer) return;
    tsr_texturer *x = *texturer;
    drop_view(x);
    for (int32_t i = 0; i < x->blocks; i++) tsr_device_release(x->context, x->block[i].memory, x->block[i].bytes);
    tsr_host_release(NULL, x->host, (size_t)x->model->parts.cameras * sizeof *x->host);
    tsr_host_release(NULL, x, sizeof *x);
    *texturer = NULL;
}

const tsr_texturer_report *tsr_texturer_look(const tsr_texturer *x)
{
    static const tsr_texturer_report none;
    return x ? &x->report : &none;
}
const uint64_t *tsr_texturer_atlas(const tsr_texturer *x) { return x ? x->atlas : NULL; }

tsr_status tsr_texturer_copy_atlas(const tsr_texturer *x, uint64_t *to)
{
    if (!x || !to) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", x ? "atlas" : "texturer");
    return x->context->backend->copy(x->context->queue, to, x->atlas, (size_t)x->job.words * (size_t)x->job.height * sizeof *to);
}

tsr_status tsr_texturer_download(const tsr_texturer *x, void *host, const void *device, size_t bytes)
{
    if (!x || !host || !device) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !x ? "texturer" : host ? "device" : "host");
    return x->context->backend->download(x->context->queue, host, device, bytes);
}

/* ---- a step ---------------------------------------------------------------------------------------------------------------------- */

static tsr_status check_step(const tsr_texturer *x, int32_t step)
{
    if (!x) TSR_FAIL(TSR_ERROR_ARGUMENT, "texturer is NULL");
    if (step < 0 || step >= x->model->parts.steps)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: step %d, expected 0 to %d", step, x->model->parts.steps - 1);
    return TSR_OK;
}

/* Positions and cameras of a step on the device. */
static tsr_status send_step(tsr_texturer *x, int32_t step)
{
    const tsr_multiview_parts *p = &x->model->parts;
    const tsr_backend *b = x->context->backend;
    if (x->step == step) return TSR_OK;
    x->step = -1;
    TSR_TRY(make_cameras(x, step));
    const size_t bytes = (size_t)p->vertices * 3 * sizeof(float);
    void *position = (void *)(uintptr_t)x->job.position, *camera = (void *)(uintptr_t)x->job.camera;
    TSR_TRY(b->upload(x->context->queue, position, p->position + (int64_t)step * p->vertices * 3, bytes));
    TSR_TRY(b->upload(x->context->queue, camera, x->host, (size_t)p->cameras * sizeof *x->host));
    x->step = step;
    return TSR_OK;
}

/* A picture in RGB without its lens, on the device. */
static tsr_status send_picture(tsr_texturer *x, int32_t c, const tsr_camera *camera, const tsr_image *image)
{
    tsr_status status = TSR_OK;
    const tsr_texture_camera *own = &x->host[c];
    tsr_image plain = { 0 };
    tsr_volume *frames = NULL, *warped = NULL;
    if (!image->pixels) TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: the picture of camera %d is missing", c);
    if (image->width != own->width || image->height != own->height)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: the picture of camera %d has %d x %d pixels, expected %d x %d", c, image->width, image->height,
                 own->width, own->height);
    if (image->channels != 1 && image->channels != 3 && image->channels != 4)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: the picture of camera %d has %d channels, expected 1, 3 or 4", c, image->channels);
    if (image->channels != 3) {
        TSR_TRY(tsr_image_create(image->width, image->height, 3, &plain));
        for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
            for (int k = 0; k < 3; k++) plain.pixels[3 * i + k] = image->pixels[i * image->channels + (image->channels > 2 ? k : 0)];
        image = &plain;
    }
    const size_t bytes = (size_t)own->width * (size_t)own->height * 3;
    if (tsr_lens_distorts(&camera->lens)) {
        const tsr_lens lens = tsr_camera_lens(camera, own->width, own->height);
        const tsr_lens_warp_options o = { .struct_size = sizeof o, .channels = 3 };
        TSR_TRY_GOTO(tsr_frames_upload(x->context, image, 1, &frames), end);
        TSR_TRY_GOTO(tsr_lens_warp(x->context, frames, &lens, &o, &warped, NULL), end);
        TSR_TRY_GOTO(x->context->backend->copy(x->context->queue, x->picture + own->picture, warped->data, bytes), end);
    } else {
        TSR_TRY_GOTO(x->context->backend->upload(x->context->queue, x->picture + own->picture, image->pixels, bytes), end);
    }
end:
    tsr_volume_destroy(&warped);
    tsr_volume_destroy(&frames);
    tsr_image_destroy(&plain);
    return status;
}

tsr_status tsr_texturer_step(tsr_texturer *texturer, int32_t step, const tsr_image *pictures, tsr_texture_sampling sampling, uint8_t *const plane[3],
                             uint64_t *visible)
{
    TSR_NEEDS(texturer);
    TSR_TRY(check_step(texturer, step));
    if (!visible || (pictures && !(plane && plane[0] && plane[1] && plane[2])))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: %s", visible ? "pictures, but no planes for their colours" : "visible is NULL");
    if ((unsigned)sampling > TSR_TEXTURE_EWA) TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: sampling %d, expected 0 or 1", (int)sampling);
    const tsr_multiview_parts *p = &texturer->model->parts;
    TSR_TRY(send_step(texturer, step));
    tsr_texture_job *j = &texturer->job;
    j->picture = pictures ? texturer->picture : NULL;
    j->ewa = sampling == TSR_TEXTURE_EWA;
    j->visible = visible;
    for (int k = 0; k < 3; k++) j->plane[k] = pictures ? plane[k] : NULL;
    const tsr_textures_ops *ops = texturer->context->backend->textures;
    TSR_TRY(ops->shapes(texturer->context->queue, j));
    TSR_TRY(texturer->context->backend->fill(texturer->context->queue, j->map, 0xff, (size_t)j->map_texels * sizeof *j->map));
    TSR_TRY(ops->maps(texturer->context->queue, j));
    for (int32_t c = 0; c < p->cameras && pictures; c++) /* while a device draws the maps */
        TSR_TRY(send_picture(texturer, c, &p->camera[(int64_t)(p->camera_steps > 1 ? step : 0) * p->cameras + c], &pictures[c]));
    TSR_TRY(ops->texels(texturer->context->queue, j));
    return TSR_OK;
}

uint64_t tsr_mask_hash(const uint64_t *mask, int32_t width, int32_t height)
{
    tsr_xxh64_sum sum = tsr_xxh64_begin(0);
    uint8_t bytes[8 * 64];
    const int64_t words = mask && width > 0 && height > 0 ? (int64_t)((width + 63) / 64) * height : 0;
    for (int64_t i = 0; i < words; i += 64) {
        const int64_t n = words - i < 64 ? words - i : 64;
        for (int64_t k = 0; k < n; k++) tsr_put_u64(bytes + 8 * k, mask[i + k]);
        tsr_xxh64_add(&sum, bytes, (size_t)(8 * n));
    }
    return tsr_xxh64_end(&sum);
}

tsr_status tsr_texturer_gutter(const tsr_texturer *x, int32_t gutter, const uint64_t *visible, uint8_t *const plane[3])
{
    if (!x || !visible || !plane) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", !x ? "texturer" : visible ? "plane" : "visible");
    if (gutter < 0 || gutter > GUTTER_MOST) TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: a gutter of %d texels, expected 0 to %d", gutter, GUTTER_MOST);
    const tsr_gutter_job job = { .texel = x->job.texel,
                                 .visible = visible,
                                 .plane = { plane[0], plane[1], plane[2] },
                                 .width = x->job.width,
                                 .height = x->job.height,
                                 .words = x->job.words,
                                 .gutter = gutter ? gutter : 2 };
    return x->context->backend->textures->gutter(x->context->queue, &job);
}

/* ---- views ----------------------------------------------------------------------------------------------------------------------- */

static tsr_status room_for_view(tsr_texturer *x, size_t pixels)
{
    if (pixels <= x->view_pixels) return TSR_OK;
    drop_view(x);
    x->view_pixels = pixels;
    TSR_TRY(tsr_device_allocate(x->context, pixels * sizeof *x->view.key, (void **)&x->view.key));
    TSR_TRY(tsr_device_allocate(x->context, pixels * 4, (void **)&x->view.color));
    return TSR_OK;
}

static tsr_status prepare_view(tsr_texturer *x, int32_t step, const tsr_camera *camera, int32_t width, int32_t height)
{
    tsr_texture_camera own = { .scale = 1, .map_width = width, .map_height = height };
    tsr_texture_view *v = &x->view;
    if (tsr_lens_distorts(&camera->lens)) TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: the camera of the view has a lens, expected none");
    TSR_TRY(make_camera(camera, width, height, &x->model->box[step], &own));
    TSR_TRY(x->context->backend->upload(x->context->queue, x->view_camera, &own, sizeof own));
    tsr_texture_corner *corner = v->shape.corner;
    tsr_texture_face *face = v->shape.face;
    v->shape = x->job;
    v->shape.corner = corner;
    v->shape.face = face;
    v->shape.camera = x->view_camera;
    v->shape.cameras = 1;
    v->shape.map = NULL;
    v->from = x->job.camera;
    return TSR_OK;
}

/* Pixels that show the mesh have alpha 255; those that no camera saw came with 254. */
static tsr_texturer_seen count_seen(tsr_image *image)
{
    tsr_texturer_seen seen = TSR_TEXTURER_SEEN;
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++) {
        uint8_t *alpha = &image->pixels[4 * i + 3];
        seen.surface += *alpha != 0;
        seen.unseen += *alpha == 254;
        if (*alpha) *alpha = 255;
    }
    return seen;
}

tsr_status tsr_texturer_draw(tsr_texturer *texturer, int32_t step, uint8_t *const plane[3], const uint64_t *visible, const tsr_camera *camera,
                             int32_t width, int32_t height, const tsr_texturer_view *options, tsr_image *image, tsr_texturer_seen *seen)
{
    TSR_NEEDS(texturer, image);
    tsr_status status;
    tsr_texturer_view o;
    memset(image, 0, sizeof *image);
    TSR_TRY(TSR_STRUCT_BEGUN(seen));
    TSR_TRY(check_step(texturer, step));
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!plane || !plane[0] || !plane[1] || !plane[2] || !visible) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s NULL", visible ? "planes are" : "visible is");
    if (width < 1 || height < 1 || width > TSR_MULTIVIEW_PICTURE_MOST || height > TSR_MULTIVIEW_PICTURE_MOST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: a view of %d x %d pixels, expected 1 to %d each", width, height, TSR_MULTIVIEW_PICTURE_MOST);
    const tsr_multiview_parts *p = &texturer->model->parts;
    if (o.power > 1000 || o.only < 0 || o.only > p->cameras || o.leave_out < 0 || o.leave_out > p->cameras)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "textures: power %d, camera %d alone, without %d: expected a power up to 1000 and cameras 0 to %d", o.power,
                 o.only - 1, o.leave_out - 1, p->cameras - 1);
    TSR_TRY(tsr_camera_check(camera));
    TSR_TRY(send_step(texturer, step));
    TSR_TRY(prepare_view(texturer, step, camera, width, height));
    const size_t pixels = (size_t)width * (size_t)height;
    TSR_TRY(room_for_view(texturer, pixels));
    tsr_texture_view *v = &texturer->view;
    v->visible = visible;
    for (int k = 0; k < 3; k++) {
        v->plane[k] = plane[k];
        v->background[k] = o.background[k];
        v->unseen[k] = o.unseen[k];
    }
    const tsr_video_format format = { .bits = 8, .matrix = TSR_MATRIX_BT601, .range = TSR_RANGE_FULL };
    v->colors = tsr_ycbcr_of(&format);
    v->width = width;
    v->height = height;
    v->atlas_width = p->width;
    v->atlas_height = p->height;
    v->words = texturer->job.words;
    v->cameras = p->cameras;
    v->power = o.power == 0 ? 8 : o.power < 0 ? 0 : o.power;
    v->only = o.only;
    v->leave_out = o.leave_out;
    const tsr_textures_ops *ops = texturer->context->backend->textures;
    TSR_TRY(texturer->context->backend->fill(texturer->context->queue, v->key, 0xff, pixels * sizeof *v->key));
    TSR_TRY(ops->shapes(texturer->context->queue, &v->shape));
    TSR_TRY(ops->draw(texturer->context->queue, v));
    TSR_TRY(tsr_image_create(width, height, 4, image));
    TSR_TRY_GOTO(texturer->context->backend->download(texturer->context->queue, image->pixels, v->color, pixels * 4), fail);
    const tsr_texturer_seen counted = count_seen(image);
    return TSR_STRUCT_GIVE(seen, &counted);
fail:
    tsr_image_destroy(image);
    return status;
}
