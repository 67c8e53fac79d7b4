/* vision/views/views.c: views: arguments, culling, memory. */
#include "tessera/views.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "camera/camera.h"
#include "vision/views/views_ops.h"
#include "volume/volume.h"

enum { LARGEST = 16384, LARGE_ROOM = 1 << 20 };

struct tsr_novel {
    tsr_context *context;
    int32_t width, height;
    float *depth;
    uint8_t *color;
    uint64_t *key;
    tsr_view_vertex *vertex; /* of the largest projector so far */
    size_t vertex_bytes;
    uint32_t *large; /* on devices with kernels */
    tsr_merge_job *job;
};

static size_t pixels_of(const tsr_novel *v) { return (size_t)v->width * (size_t)v->height; }

tsr_status tsr_novel_create(tsr_context *context, int32_t width, int32_t height, tsr_novel **view)
{
    TSR_RETURNS(view);
    TSR_NEEDS(context);
    tsr_status status;
    if (width < 1 || height < 1 || width > LARGEST || height > LARGEST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "view of %d x %d pixels, expected 1 to %d each", width, height, LARGEST);
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **view, (void **)view));
    tsr_novel *v = *view;
    *v = (tsr_novel){ .context = context, .width = width, .height = height };
    const size_t pixels = pixels_of(v);
    TSR_TRY_GOTO(tsr_device_allocate(context, pixels * sizeof *v->depth, (void **)&v->depth), fail);
    TSR_TRY_GOTO(tsr_device_allocate(context, pixels * 4, (void **)&v->color), fail);
    TSR_TRY_GOTO(tsr_device_allocate(context, pixels * sizeof *v->key, (void **)&v->key), fail);
    if (context->device.kind != TSR_DEVICE_CPU)
        TSR_TRY_GOTO(tsr_device_allocate(context, (LARGE_ROOM + 1) * sizeof *v->large, (void **)&v->large), fail);
    if (context->device.kind != TSR_DEVICE_CPU) TSR_TRY_GOTO(tsr_device_allocate(context, sizeof *v->job, (void **)&v->job), fail);
    TSR_TRY_GOTO(context->backend->fill(context->queue, v->depth, 0, pixels * sizeof *v->depth), fail);
    TSR_TRY_GOTO(context->backend->fill(context->queue, v->color, 0, pixels * 4), fail);
    return TSR_OK;
fail:
    tsr_novel_destroy(view);
    return status;
}

void tsr_novel_destroy(tsr_novel **view)
{
    if (!view || !*view) return;
    tsr_novel *v = *view;
    const size_t pixels = pixels_of(v);
    tsr_device_release(v->context, v->depth, pixels * sizeof *v->depth);
    tsr_device_release(v->context, v->color, pixels * 4);
    tsr_device_release(v->context, v->key, pixels * sizeof *v->key);
    tsr_device_release(v->context, v->vertex, v->vertex_bytes);
    tsr_device_release(v->context, v->large, (LARGE_ROOM + 1) * sizeof *v->large);
    tsr_device_release(v->context, v->job, sizeof *v->job);
    tsr_host_release(&v->context->host_allocator, v, sizeof *v);
    *view = NULL;
}

int32_t tsr_novel_width(const tsr_novel *v) { return v ? v->width : 0; }
int32_t tsr_novel_height(const tsr_novel *v) { return v ? v->height : 0; }

tsr_status tsr_novel_download(const tsr_novel *view, float *depth, uint8_t *color)
{
    TSR_NEEDS(view);
    if (depth) TSR_TRY(view->context->backend->download(view->context->queue, depth, view->depth, pixels_of(view) * sizeof *depth));
    if (color) TSR_TRY(view->context->backend->download(view->context->queue, color, view->color, pixels_of(view) * 4));
    return TSR_OK;
}

tsr_status tsr_novel_image(const tsr_novel *v, int32_t channels, tsr_image *image)
{
    tsr_status status;
    if (!v || !image) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", v ? "image" : "view");
    memset(image, 0, sizeof *image);
    if (channels != 3 && channels != 4) TSR_FAIL(TSR_ERROR_ARGUMENT, "image of %d channels, expected 3 or 4", channels);
    uint8_t *color = (uint8_t *)malloc(pixels_of(v) * 4);
    if (!color) TSR_FAIL(TSR_ERROR_MEMORY, "view: out of host memory for %d x %d pixels", v->width, v->height);
    TSR_TRY_GOTO(tsr_image_create(v->width, v->height, channels, image), end);
    TSR_TRY_GOTO(tsr_novel_download(v, NULL, color), end);
    for (size_t i = 0; i < pixels_of(v); i++)
        for (int32_t k = 0; k < channels; k++) image->pixels[i * (size_t)channels + (size_t)k] = color[4 * i + (size_t)k];
end:
    free(color);
    if (status != TSR_OK) tsr_image_destroy(image);
    return status;
}

/* ---- one projector --------------------------------------------------------------------------------------------------------------- */

static tsr_status check_projector(const tsr_context *context, const tsr_projector *p, int geometry, int32_t *columns, int32_t *rows)
{
    if (!p) TSR_FAIL(TSR_ERROR_ARGUMENT, "projector is NULL");
    TSR_TRY(tsr_camera_check(&p->camera));
    const tsr_volume *map = p->position ? p->position : p->depth ? p->depth : p->color;
    if ((geometry && !p->position && !p->depth) || !map)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: expected a depth image or a geometry image%s", geometry ? "" : ", or a picture");
    if (p->position && p->depth) TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: a depth image and a geometry image, expected one of them");
    const int32_t parts = map == p->depth ? 1 : 3;
    TSR_TRY(tsr_volume_require(context, map, map == p->color ? "color" : "depth"));
    if (map->dtype != (map == p->color ? TSR_U8 : TSR_F32) || map->size.z != 1 || map->size.x % parts || map->size.x / parts > LARGEST ||
        map->size.y > LARGEST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: its %s is %s of %lld x %lld x %lld, expected %s of one slice, %sup to %d pixels a side",
                 map == p->color ? "picture"
                 : p->position   ? "geometry image"
                                 : "depth image",
                 tsr_dtype_name(map->dtype), (long long)map->size.x, (long long)map->size.y, (long long)map->size.z, map == p->color ? "u8" : "f32",
                 parts == 3 ? "3 numbers a pixel, " : "", LARGEST);
    *columns = (int32_t)(map->size.x / parts);
    *rows = (int32_t)map->size.y;
    if (p->color && p->color != map) {
        TSR_TRY(tsr_volume_require(context, p->color, "color"));
        if (p->color->dtype != TSR_U8 || p->color->size.z != 1 || p->color->size.x % 3 || p->color->size.x / 3 > LARGEST ||
            p->color->size.y > LARGEST)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: its picture is %s of %lld x %lld x %lld, expected u8 of one slice, 3 bytes a pixel",
                     tsr_dtype_name(p->color->dtype), (long long)p->color->size.x, (long long)p->color->size.y, (long long)p->color->size.z);
    }
    if (!(p->quantum >= 0) || !isfinite(p->quantum)) TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: quantum is %g, expected 0 or more", p->quantum);
    if (!(p->cone_degrees >= 0 && p->cone_degrees <= 180))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: a cone of %g degrees, expected 0 to 180", p->cone_degrees);
    return TSR_OK;
}

static int has_clip(const tsr_camera *c) { return c->projection != TSR_PROJECTION_MATRIX && (c->clip[0] != 0 || c->clip[1] != 0); }

/* Corner c of a projector's frustum: bits 0 and 1 the corner of the image, bit 2 near or far. */
static tsr_vec3 frustum_corner(const tsr_camera_rays *rays, int32_t width, int32_t height, double near_, double far_, int c)
{
    tsr_vec3 origin, direction;
    tsr_camera_rays_at(rays, c & 1 ? width : 0, c & 2 ? height : 0, &origin, &direction);
    return tsr_vec3_add(origin, tsr_vec3_scale(direction, c & 4 ? far_ : near_));
}

int tsr_projector_visible(const tsr_projector *p, double farthest, const tsr_camera *camera, int32_t width, int32_t height)
{
    tsr_camera_rays rays;
    tsr_camera_points seen;
    if (!p || !camera) return 0;
    if (p->cone_degrees > 0) {
        const tsr_vec3 to = tsr_vec3_unit(tsr_vec3_sub(camera->position, p->camera.position)), axis = tsr_vec3_unit(p->cone_axis);
        if (tsr_vec3_length(to) > 0 && tsr_vec3_dot(to, axis) < cos(p->cone_degrees * 3.14159265358979323846 / 180)) return 0;
    }
    const int clip = has_clip(&p->camera);
    const double near_ = clip ? p->camera.clip[0] : 0,
                 far_ = clip ? fmin(p->camera.clip[1], farthest > 0 ? farthest * (1 + 1e-6) : HUGE_VAL) : farthest;
    if (p->position || !isfinite(far_) || !(far_ > near_)) return 1; /* it may lie anywhere */
    if (tsr_camera_rays_make("view", &p->camera, 2, 2, &rays) != TSR_OK || tsr_camera_points_make("view", camera, width, height, &seen) != TSR_OK)
        return 1;
    int outside[5] = { 0 };
    for (int c = 0; c < 8; c++) {
        double at[4];
        const tsr_vec3 v = frustum_corner(&rays, 2, 2, near_, far_, c);
        const double world[3] = { v.x, v.y, v.z };
        tsr_camera_points_place(&seen, world, at);
        outside[0] += at[0] < 0;
        outside[1] += at[0] > width * at[2];
        outside[2] += at[1] < 0;
        outside[3] += at[1] > height * at[2];
        outside[4] += at[2] <= 0;
    }
    for (int k = 0; k < 5; k++)
        if (outside[k] == 8) return 0;
    return 1;
}

static tsr_status take_project(const tsr_project_options *options, tsr_project_options *o)
{
    TSR_TRY(TSR_OPTIONS_TAKE(o, options));
    if ((unsigned)o->connect > TSR_CONNECT_NONE) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: connect is %d, expected 0 to 2", (int)o->connect);
    if ((unsigned)o->diagonal > TSR_DIAGONAL_FIXED) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: diagonal is %d, expected 0 or 1", (int)o->diagonal);
    if ((unsigned)o->faces > TSR_FACES_FRONT) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: faces is %d, expected 0 or 1", (int)o->faces);
    if (o->ratio == 0) o->ratio = 1.05;
    if (!(o->ratio > 1) || !isfinite(o->ratio)) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: ratio is %g, expected a number above 1", o->ratio);
    if (!(o->point_size >= 0 && o->point_size <= 256)) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: points of %g pixels, expected 0 to 256", o->point_size);
    return TSR_OK;
}

static tsr_status room_for_vertices(tsr_novel *v, size_t bytes)
{
    if (bytes <= v->vertex_bytes) return TSR_OK;
    tsr_device_release(v->context, v->vertex, v->vertex_bytes);
    v->vertex = NULL;
    v->vertex_bytes = 0;
    TSR_TRY(tsr_device_allocate(v->context, bytes, (void **)&v->vertex));
    v->vertex_bytes = bytes;
    return TSR_OK;
}

static tsr_status clear(tsr_novel *v)
{
    TSR_TRY(v->context->backend->fill(v->context->queue, v->depth, 0, pixels_of(v) * sizeof *v->depth));
    TSR_TRY(v->context->backend->fill(v->context->queue, v->color, 0, pixels_of(v) * 4));
    return TSR_OK;
}

tsr_status tsr_novel_project(tsr_novel *view, const tsr_camera *camera, const tsr_projector *projector, const tsr_project_options *options)
{
    TSR_NEEDS(view, camera, projector);
    tsr_project_options o;
    tsr_view_job job = { .width = 0 };
    TSR_TRY(take_project(options, &o));
    TSR_TRY(check_projector(view->context, projector, 1, &job.columns, &job.rows));
    if (o.connect != TSR_CONNECT_NONE && (job.columns < 2 || job.rows < 2))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: %d x %d samples, expected 2 x 2 or more, or points (connect none)", job.columns, job.rows);
    if (o.keep_far && !has_clip(&projector->camera))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "projector: samples are to be kept on the far plane, but its camera has no clip distances");
    TSR_TRY(tsr_camera_points_make("view", camera, view->width, view->height, &job.seen));
    if (projector->depth) TSR_TRY(tsr_camera_rays_make("projector", &projector->camera, job.columns, job.rows, &job.rays));
    if (!tsr_projector_visible(projector, 0, camera, view->width, view->height)) return o.keep ? TSR_OK : clear(view);
    const size_t samples = (size_t)job.columns * (size_t)job.rows;
    TSR_TRY(room_for_vertices(view, samples * sizeof *view->vertex));
    const tsr_backend *backend = view->context->backend;
    TSR_TRY(backend->fill(view->context->queue, view->key, 0xff, pixels_of(view) * sizeof *view->key));
    if (view->large) TSR_TRY(backend->fill(view->context->queue, view->large, 0, sizeof *view->large));
    job.depth = projector->depth ? (const float *)projector->depth->data : NULL;
    job.position = projector->position ? (const float *)projector->position->data : NULL;
    job.color = projector->color ? (const uint8_t *)projector->color->data : NULL;
    job.color_columns = projector->color ? (int32_t)(projector->color->size.x / 3) : 0;
    job.color_rows = projector->color ? (int32_t)projector->color->size.y : 0;
    job.width = view->width;
    job.height = view->height;
    job.connect = (int32_t)o.connect;
    job.fixed = o.diagonal == TSR_DIAGONAL_FIXED;
    job.keep = o.keep != 0;
    job.front = o.faces == TSR_FACES_FRONT && projector->depth != NULL;
    job.ratio = o.ratio;
    job.point_size = o.point_size;
    job.background = o.keep_far ? projector->camera.clip[1] : 0;
    job.near_ = has_clip(camera) ? (float)camera->clip[0] : 0.0f;
    job.far_ = has_clip(camera) ? (float)camera->clip[1] : 3.0e38f;
    job.vertex = view->vertex;
    job.key = view->key;
    job.large = view->large;
    job.large_room = LARGE_ROOM;
    job.out_depth = view->depth;
    job.out_color = view->color;
    TSR_TRY(backend->views->project(view->context->queue, &job));
    return TSR_OK;
}

/* ---- several --------------------------------------------------------------------------------------------------------------------- */

static tsr_status take_blend(const tsr_blend_options *options, tsr_merge_job *job)
{
    tsr_blend_options o;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (!(o.epsilon >= 0) || !isfinite(o.epsilon)) TSR_FAIL(TSR_ERROR_ARGUMENT, "views: epsilon is %g, expected 0 or more", o.epsilon);
    if (o.power > 1000) TSR_FAIL(TSR_ERROR_ARGUMENT, "views: a power of %d, expected at most 1000", o.power);
    if (!isfinite(o.feather)) TSR_FAIL(TSR_ERROR_ARGUMENT, "views: feather is %g, expected a number of pixels", o.feather);
    job->epsilon = o.epsilon;
    job->power = o.power == 0 ? 8 : o.power < 0 ? 0 : o.power;
    job->feather = o.feather == 0 ? 8 : o.feather < 0 ? 0 : o.feather;
    job->background_known = o.background_known;
    return TSR_OK;
}

static tsr_status describe(const tsr_context *context, const tsr_projector *p, int geometry, tsr_view_source *s)
{
    memset(s, 0, sizeof *s);
    TSR_TRY(check_projector(context, p, geometry, &s->columns, &s->rows));
    TSR_TRY(tsr_camera_points_make("projector", &p->camera, s->columns, s->rows, &s->seen));
    s->depth = p->depth ? (const float *)p->depth->data : NULL;
    s->color = p->color ? (const uint8_t *)p->color->data : NULL;
    s->color_columns = p->color ? (int32_t)(p->color->size.x / 3) : 0;
    s->color_rows = p->color ? (int32_t)p->color->size.y : 0;
    s->orthographic = p->camera.projection == TSR_ORTHOGRAPHIC;
    s->quantum = p->quantum;
    const tsr_vec3 at = p->camera.position;
    memcpy(s->position, (double[3]){ at.x, at.y, at.z }, sizeof s->position);
    for (int k = 0; k < 3; k++) s->forward[k] = -p->camera.rotation[2][k];
    return TSR_OK;
}

/* The job where kernels find it. */
static tsr_status send(tsr_novel *v, tsr_merge_job *job)
{
    job->device = v->job;
    if (v->job) TSR_TRY(v->context->backend->upload(v->context->queue, v->job, job, sizeof *job));
    return TSR_OK;
}

tsr_status tsr_novel_texture(tsr_novel *v, const tsr_camera *camera, const tsr_projector *const *textures, int32_t count,
                             const tsr_blend_options *options)
{
    TSR_NEEDS(camera);
    tsr_merge_job job = { .count = count };
    if (!v || !textures) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s", v ? "textures are NULL" : "view is NULL");
    if (count < 1 || count > TSR_VIEWS_MOST) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: %d textures, expected 1 to %d", count, TSR_VIEWS_MOST);
    TSR_TRY(take_blend(options, &job));
    TSR_TRY(tsr_camera_rays_make("view", camera, v->width, v->height, &job.rays));
    for (int32_t i = 0; i < count; i++) {
        TSR_TRY(describe(v->context, textures[i], 0, &job.source[i]));
        if (!job.source[i].color) TSR_FAIL(TSR_ERROR_ARGUMENT, "view: texture %d has no picture", i);
    }
    job.width = v->width;
    job.height = v->height;
    job.out_depth = v->depth;
    job.out_color = v->color;
    TSR_TRY(send(v, &job));
    TSR_TRY(v->context->backend->views->texture(v->context->queue, &job));
    return TSR_OK;
}

static const char *const mode_names[] = { "overlay", "blend", "csg", "freespace" };
tsr_status tsr_merge_parse(const char *name, tsr_merge *mode)
{
    for (int i = 0; name && mode && i < 4; i++)
        if (!strcmp(name, mode_names[i])) {
            *mode = (tsr_merge)i;
            return TSR_OK;
        }
    TSR_FAIL(TSR_ERROR_ARGUMENT, "merge '%.40s', expected overlay, blend, csg or freespace", name ? name : "");
}

static tsr_status prepare_merge(const tsr_novel *result, const tsr_camera *camera, const tsr_novel *const *views,
                                const tsr_projector *const *projectors, int32_t count, tsr_merge mode, tsr_merge_job *job)
{
    TSR_TRY(tsr_camera_rays_make("view", camera, result->width, result->height, &job->rays));
    for (int32_t i = 0; i < count; i++) {
        const tsr_novel *v = views[i];
        if (!v || v == result || v->context != result->context || v->width != result->width || v->height != result->height)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "views: view %d is %s, expected one of the result's context and size", i,
                     !v            ? "NULL"
                     : v == result ? "the result"
                                   : "another's");
        tsr_view_source *s = &job->source[i];
        TSR_TRY(describe(result->context, projectors[i], 1, s));
        s->view_depth = v->depth;
        s->view_color = v->color;
        const tsr_camera *c = &projectors[i]->camera;
        double cosine = 0, weight = 1;
        for (int k = 0; k < 3; k++) cosine += c->rotation[2][k] * camera->rotation[2][k];
        for (int32_t k = 0; k < job->power; k++) weight *= fmax(0, cosine);
        const tsr_vec3 apart = tsr_vec3_sub(c->position, camera->position);
        s->weight = mode == TSR_MERGE_OVERLAY ? tsr_vec3_dot(apart, apart) : weight;
    }
    job->count = count;
    job->mode = (int32_t)mode;
    job->width = result->width;
    job->height = result->height;
    job->out_depth = result->depth;
    job->out_color = result->color;
    return TSR_OK;
}

tsr_status tsr_novel_merge(tsr_novel *result, const tsr_camera *camera, const tsr_novel *const *views, const tsr_projector *const *projectors,
                           int32_t count, tsr_merge mode, const tsr_blend_options *options, tsr_volume **choice)
{
    tsr_status status;
    tsr_merge_job job = { .count = 0 };
    if (choice) *choice = NULL;
    if (!result || !views || !projectors)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s", !result ? "result is NULL" : !views ? "views are NULL" : "projectors are NULL");
    if (count < 1 || count > TSR_VIEWS_MOST) TSR_FAIL(TSR_ERROR_ARGUMENT, "views: %d of them, expected 1 to %d", count, TSR_VIEWS_MOST);
    if ((unsigned)mode > TSR_MERGE_FREESPACE) TSR_FAIL(TSR_ERROR_ARGUMENT, "views: mode %d, expected 0 to 3", (int)mode);
    TSR_TRY(take_blend(options, &job));
    TSR_TRY(prepare_merge(result, camera, views, projectors, count, mode, &job));
    if (choice) TSR_TRY(tsr_volume_create(result->context, TSR_U32, (tsr_size3){ result->width, result->height, 1 }, NULL, choice));
    if (choice) job.choice = (uint32_t *)(*choice)->data;
    TSR_TRY_GOTO(send(result, &job), fail);
    TSR_TRY_GOTO(result->context->backend->views->merge(result->context->queue, &job), fail);
    return TSR_OK;
fail:
    if (choice) tsr_volume_destroy(choice);
    return status;
}

tsr_status tsr_choice_image(const tsr_volume *choice, tsr_image *image)
{
    static const uint8_t palette[TSR_VIEWS_MOST][3] = { { 230, 75, 53 },   { 77, 187, 213 }, { 0, 160, 135 },   { 243, 200, 90 },
                                                        { 132, 91, 179 },  { 239, 133, 54 }, { 60, 84, 136 },   { 145, 209, 194 },
                                                        { 220, 100, 170 }, { 126, 97, 72 },  { 176, 156, 133 }, { 100, 180, 60 },
                                                        { 40, 120, 200 },  { 200, 40, 90 },  { 90, 90, 90 },    { 200, 200, 60 } };
    if (!choice || !image) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", choice ? "image" : "choice");
    if (tsr_volume_device(choice).kind != TSR_DEVICE_CPU || choice->dtype != TSR_U32 || choice->size.z != 1 || choice->size.x > LARGEST ||
        choice->size.y > LARGEST)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "choice: expected a host volume of u32, one slice of up to %d x %d pixels", LARGEST, LARGEST);
    TSR_TRY(tsr_image_create((int32_t)choice->size.x, (int32_t)choice->size.y, 3, image));
    const uint32_t *bits = (const uint32_t *)choice->data;
    for (int64_t i = 0; i < choice->size.x * choice->size.y; i++) {
        int sum[3] = { 0, 0, 0 }, count = 0;
        for (int s = 0; s < TSR_VIEWS_MOST; s++) {
            if (!(bits[i] >> s & 1u)) continue;
            for (int k = 0; k < 3; k++) sum[k] += palette[s][k];
            count++;
        }
        for (int k = 0; k < 3 && count; k++) image->pixels[3 * i + k] = (uint8_t)(sum[k] / count);
    }
    return TSR_OK;
}

/* ---- sweeps ---------------------------------------------------------------------------------------------------------------------- */

struct tsr_sweep {
    tsr_context *context;
    tsr_camera camera;
    tsr_novel *view;
    void *memory; /* all maps */
    size_t bytes;
    tsr_sweep_job job;
};

tsr_status tsr_sweep_create(tsr_context *context, const tsr_camera *camera, int32_t width, int32_t height, tsr_sweep **sweep)
{
    TSR_RETURNS(sweep);
    TSR_NEEDS(context, camera);
    tsr_status status;
    TSR_TRY(tsr_camera_check(camera));
    if (!has_clip(camera)) TSR_FAIL(TSR_ERROR_ARGUMENT, "sweep: its camera has no clip distances, between which rays are looked along");
    TSR_TRY(tsr_host_allocate(&context->host_allocator, sizeof **sweep, (void **)sweep));
    tsr_sweep *s = *sweep;
    *s = (tsr_sweep){ .context = context,
                      .camera = *camera,
                      .job = { .width = width, .height = height, .near_ = camera->clip[0], .far_ = camera->clip[1] } };
    TSR_TRY_GOTO(tsr_novel_create(context, width, height, &s->view), fail);
    TSR_TRY_GOTO(tsr_camera_rays_make("sweep", camera, width, height, &s->job.rays), fail);
    const size_t pixels = pixels_of(s->view);
    s->bytes = pixels * (2 * sizeof(uint64_t) + 5 * 4);
    TSR_TRY_GOTO(tsr_device_allocate(context, s->bytes, &s->memory), fail);
    uint8_t *at = (uint8_t *)s->memory;
    s->job.looked = (uint64_t *)(void *)at;
    s->job.free_ = s->job.looked + pixels;
    s->job.depth = (float *)(void *)(s->job.free_ + pixels);
    s->job.color = (uint8_t *)(s->job.depth + pixels);
    s->job.hits = (int32_t *)(void *)(s->job.color + 4 * pixels);
    s->job.winner = s->job.hits + pixels;
    s->job.first = s->job.winner + pixels;
    TSR_TRY_GOTO(context->backend->fill(context->queue, s->memory, 0, s->bytes), fail);
    TSR_TRY_GOTO(context->backend->fill(context->queue, s->job.winner, 0xff, 2 * pixels * sizeof(int32_t)), fail);
    return TSR_OK;
fail:
    tsr_sweep_destroy(sweep);
    return status;
}

void tsr_sweep_destroy(tsr_sweep **sweep)
{
    if (!sweep || !*sweep) return;
    tsr_sweep *s = *sweep;
    tsr_device_release(s->context, s->memory, s->memory ? s->bytes : 0);
    tsr_novel_destroy(&s->view);
    tsr_host_release(&s->context->host_allocator, s, sizeof *s);
    *sweep = NULL;
}

tsr_status tsr_sweep_add(tsr_sweep *sweep, int32_t number, const tsr_projector *projector, const tsr_project_options *options)
{
    TSR_NEEDS(sweep, projector);
    tsr_project_options o;
    if (number < 0 || number == INT32_MAX) TSR_FAIL(TSR_ERROR_ARGUMENT, "sweep: frame %d, expected 0 to 2147483646", number);
    TSR_TRY(take_project(options, &o));
    o.struct_size = sizeof o;
    o.keep = 0;
    TSR_TRY(tsr_novel_project(sweep->view, &sweep->camera, projector, &o));
    tsr_sweep_job job = sweep->job;
    TSR_TRY(describe(sweep->context, projector, 1, &job.source));
    job.source.view_depth = sweep->view->depth;
    job.source.view_color = sweep->view->color;
    job.number = number;
    TSR_TRY(sweep->context->backend->views->sweep(sweep->context->queue, &job));
    return TSR_OK;
}

tsr_status tsr_sweep_join(tsr_sweep *into, const tsr_sweep *from)
{
    if (!into || !from || into == from) TSR_FAIL(TSR_ERROR_ARGUMENT, "sweep: expected two different sweeps");
    if (into->context != from->context || into->job.width != from->job.width || into->job.height != from->job.height ||
        into->job.rays.projection != from->job.rays.projection ||
        memcmp(into->job.rays.right, from->job.rays.right, sizeof into->job.rays - offsetof(tsr_camera_rays, right)) != 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "sweep: the other one has another context, size or camera");
    tsr_sweep_job job = into->job;
    job.from_depth = from->job.depth;
    job.from_color = from->job.color;
    job.from_winner = from->job.winner;
    job.from_first = from->job.first;
    job.from_hits = from->job.hits;
    job.from_looked = from->job.looked;
    job.from_free = from->job.free_;
    TSR_TRY(into->context->backend->views->sweep(into->context->queue, &job));
    return TSR_OK;
}

tsr_status tsr_sweep_download(const tsr_sweep *sweep, const tsr_sweep_maps *maps, double *coverage)
{
    TSR_NEEDS(sweep);
    const size_t pixels = pixels_of(sweep->view);
    uint8_t *host = (uint8_t *)malloc(sweep->bytes);
    if (!host) TSR_FAIL(TSR_ERROR_MEMORY, "sweep: out of host memory for %zu bytes", sweep->bytes);
    const tsr_status status = sweep->context->backend->download(sweep->context->queue, host, sweep->memory, sweep->bytes);
    const uint64_t *looked = (const uint64_t *)(void *)host, *clear_ = looked + pixels;
    const float *depth = (const float *)(const void *)(clear_ + pixels);
    const uint8_t *color = (const uint8_t *)(depth + pixels);
    const int32_t *hits = (const int32_t *)(const void *)(color + 4 * pixels), *winner = hits + pixels, *first = winner + pixels;
    int64_t seen = 0;
    for (size_t i = 0; i < pixels && status == TSR_OK; i++) {
        seen += depth[i] > 0;
        if (maps && maps->state)
            maps->state[i] = depth[i] > 0 ? TSR_SWEEP_SURFACE : looked[i] && looked[i] == clear_[i] ? TSR_SWEEP_EMPTY : TSR_SWEEP_UNKNOWN;
    }
    if (status == TSR_OK && maps) {
        if (maps->depth) memcpy(maps->depth, depth, pixels * sizeof *depth);
        if (maps->color) memcpy(maps->color, color, pixels * 4);
        if (maps->hits) memcpy(maps->hits, hits, pixels * sizeof *hits);
        if (maps->winner) memcpy(maps->winner, winner, pixels * sizeof *winner);
        if (maps->first) memcpy(maps->first, first, pixels * sizeof *first);
    }
    free(host);
    if (status == TSR_OK && coverage) *coverage = (double)seen / (double)pixels;
    return status;
}
