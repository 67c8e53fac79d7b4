/* vision/rig/rig_transforms.c: transforms.json of Blender exporters and NeRF tools. transform_matrix takes the eye's axes (x right, y up, z backward) to the world;
 * intrinsics stand once for all or in each frame. What the form has no place for stands in members "tessera", which other programs leave alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vision/rig/rig_json.h"
#include "vision/rig/rig.h"

#define DEGREES (180 / 3.14159265358979323846)

static int recognise(const uint8_t *head, size_t size, const char *path)
{
    (void)path;
    size_t i = 0;
    if (size >= 3 && !memcmp(head, "\xef\xbb\xbf", 3)) i = 3;
    while (i < size && strchr(" \t\r\n", head[i]) && head[i]) i++;
    return i < size && head[i] == '{' ? 2 : 0;
}

typedef struct source {
    const char *file;
    const tsr_json *json;
    const tsr_rig_read_options *options;
    int32_t root, frame;
    int alike;     /* pictures of different folders have one name: cameras are named by their paths */
    int64_t timed; /* frames with a time that do not say whose they are */
    int own;       /* there are frames that do */
} source;

/* Of the frame or, without it there, of all. */
static int number(const source *s, const char *key, double *value)
{
    return tsr_json_number(s->json, s->frame, key, value) || tsr_json_number(s->json, s->root, key, value);
}
static const char *text(const source *s, const char *key)
{
    const char *t = tsr_json_text(s->json, s->frame, key);
    return t ? t : tsr_json_text(s->json, s->root, key);
}

/* Pictures that no lens of ours makes: a panorama has a focal length in the file all the same. */
static tsr_status check_model(const source *s, const char *model, const char *name)
{
    static const char *const others[] = { "EQUIRECTANGULAR", "OMNIDIRECTIONALSTEREO_L", "OMNIDIRECTIONALSTEREO_R", "VR180_L", "VR180_R", "ORTHOPHOTO",
                                          "FISHEYE624",      "THIN_PRISM_FISHEYE" };
    for (size_t i = 0; model && i < sizeof others / sizeof *others; i++)
        if (!strcmp(model, others[i]))
            TSR_FAIL(TSR_ERROR_UNSUPPORTED,
                     "%.200s: frame '%.100s': camera_model %s, expected a pinhole (OPENCV, FULL_OPENCV, PINHOLE) or OPENCV_FISHEYE", s->file, name,
                     model);
    return TSR_OK;
}

static int32_t pixels(double value) { return value >= 1 && value <= 1e6 ? (int32_t)value : 0; }

static tsr_status take_intrinsics(const source *s, tsr_rig_camera *to)
{
    double w = 0, h = 0, angle[2] = { 0, 0 }, fl[2] = { 0, 0 }, c[2] = { 0, 0 }, fish = 0;
    number(s, "w", &w);
    number(s, "h", &h);
    if ((w != 0 || h != 0) && (!pixels(w) || !pixels(h)))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: frame '%.100s': an image of %g x %g pixels, expected 1 to 10^6", s->file, to->name, w, h);
    to->width = pixels(w) ? pixels(w) : s->options->width;
    to->height = pixels(h) ? pixels(h) : s->options->height;
    const char *own = tsr_json_text(s->json, tsr_json_member(s->json, s->frame, "tessera"), "projection");
    if (own && strcmp(own, "perspective") != 0) return TSR_OK; /* no pinhole: its numbers stand there */
    const int angles = number(s, "camera_angle_x", &angle[0]) + 2 * number(s, "camera_angle_y", &angle[1]);
    if (!number(s, "fl_x", &fl[0])) fl[0] = angles & 1 ? 0.5 * (to->width ? to->width : 2) / tan(0.5 * angle[0]) : 0;
    if (!number(s, "fl_y", &fl[1])) fl[1] = angles & 2 ? 0.5 * (to->height ? to->height : 2) / tan(0.5 * angle[1]) : fl[0];
    if (!(fl[0] > 0) || !(fl[1] > 0) || !isfinite(fl[0]) || !isfinite(fl[1]))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: frame '%.100s' has no focal length, expected camera_angle_x or w, h and fl_x", s->file, to->name);
    tsr_pinhole p = { .width = to->width, .height = to->height, .fx = fl[0], .fy = fl[1] };
    if (!to->width) { /* Blender's: an angle alone, of square images unless somebody knows better and says it by the options */
        p.width = p.height = 2;
        tsr_remark("%.200s: no image size; cameras are taken for square ones", s->file);
    }
    c[0] = 0.5 * p.width;
    c[1] = 0.5 * p.height;
    number(s, "cx", &c[0]);
    number(s, "cy", &c[1]);
    p.cx = c[0];
    p.cy = c[1];
    static const char *const names[6] = { "k1", "k2", "k3", "k4", "k5", "k6" };
    for (int i = 0; i < 6; i++) number(s, names[i], &p.k[i]);
    number(s, "p1", &p.p[0]);
    number(s, "p2", &p.p[1]);
    number(s, "is_fisheye", &fish);
    const char *model = text(s, "camera_model");
    TSR_TRY(check_model(s, model, to->name));
    p.fisheye = fish != 0 || (model && strstr(model, "FISHEYE") != NULL);
    if (!p.fisheye && model && !strcmp(model, "OPENCV")) p.k[3] = p.k[4] = p.k[5] = 0; /* k4 stands there for the fish-eye alone */
    memcpy(p.rotation, (double[3][3]){ { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, sizeof p.rotation);
    TSR_TRY(tsr_camera_from_pinhole(&p, &to->camera));
    return TSR_OK;
}

static tsr_status take_pose(const source *s, tsr_rig_camera *to)
{
    double m[16];
    const int32_t node = tsr_json_member(s->json, s->frame, "transform_matrix");
    if (!tsr_json_numbers(s->json, node, m, 16) && !tsr_json_numbers(s->json, node, m, 12))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: frame '%.100s': transform_matrix, expected 4 rows of 4 numbers", s->file, to->name);
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) to->camera.rotation[r][k] = m[4 * k + r];
    to->camera.position = (tsr_vec3){ m[3], m[7], m[11] };
    TSR_TRY(tsr_rig_rotation(s->file, to->name, to->camera.rotation));
    return TSR_OK;
}

static void take_own_numbers(const source *s, int32_t own, tsr_rig_camera *to)
{
    tsr_camera *c = &to->camera;
    double n[16], v;
    tsr_json_number(s->json, own, "fov", &c->fov);
    tsr_json_number(s->json, own, "height", &c->height);
    tsr_json_number(s->json, own, "aspect", &c->aspect);
    tsr_json_number(s->json, own, "time", &to->time);
    if (tsr_json_number(s->json, own, "frame", &v) && v >= -1 && v <= INT32_MAX) to->frame = (int32_t)v;
    if (tsr_json_numbers(s->json, tsr_json_member(s->json, own, "offset"), n, 2)) memcpy(c->offset, n, sizeof c->offset);
    if (tsr_json_numbers(s->json, tsr_json_member(s->json, own, "clip"), n, 2)) memcpy(c->clip, n, sizeof c->clip);
    if (tsr_json_numbers(s->json, tsr_json_member(s->json, own, "matrix"), n, 16)) memcpy(c->matrix, n, sizeof c->matrix);
    const int32_t lens = tsr_json_member(s->json, own, "lens");
    if (!lens) return;
    tsr_lens *l = &c->lens;
    static const char *const names[] = { "k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2", "focal", "pixel_aspect" };
    double *const at[] = { &l->k1, &l->k2, &l->k3, &l->k4, &l->k5, &l->k6, &l->p1, &l->p2, &l->focal, &l->pixel_aspect };
    const char *model = tsr_json_text(s->json, lens, "model");
    *l = (tsr_lens){ .model = model && !strcmp(model, "division")  ? TSR_LENS_DIVISION
                              : model && !strcmp(model, "fisheye") ? TSR_LENS_FISHEYE
                                                                   : TSR_LENS_POLY };
    for (int i = 0; i < 10; i++) tsr_json_number(s->json, lens, names[i], at[i]);
    if (tsr_json_numbers(s->json, tsr_json_member(s->json, lens, "shift"), n, 2)) memcpy(l->shift, n, sizeof l->shift);
}

static tsr_status take_own(const source *s, tsr_rig_camera *to)
{
    const int32_t own = tsr_json_member(s->json, s->frame, "tessera");
    const char *projection = tsr_json_text(s->json, own, "projection"), *name = tsr_json_text(s->json, own, "name");
    double v;
    if (!own) return TSR_OK;
    if (name) to->name = name;
    if (projection)
        to->camera.projection = !strcmp(projection, "orthographic") ? TSR_ORTHOGRAPHIC
                                : !strcmp(projection, "matrix")     ? TSR_PROJECTION_MATRIX
                                                                    : TSR_PERSPECTIVE;
    take_own_numbers(s, own, to);
    const int32_t depth = tsr_json_member(s->json, own, "depth");
    if (!depth) return TSR_OK;
    tsr_depth_encoding *e = &to->encoding;
    *e = (tsr_depth_encoding){ .kind = TSR_DEPTH_EYE };
    const char *kind = tsr_json_text(s->json, depth, "encoding");
    if (kind && tsr_depth_kind_parse(kind, &e->kind) != TSR_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: '%.100s': depth encoding '%.40s', expected eye, ndc, window, eye_linear, radial, inverse or disparity",
                 s->file, to->name, kind);
    if (tsr_json_number(s->json, depth, "bits", &v) && v >= 0 && v <= 24) e->bits = (int32_t)v;
    if (tsr_json_number(s->json, depth, "background_is_valid", &v)) e->background_is_valid = v != 0;
    tsr_json_number(s->json, depth, "scale", &e->scale);
    tsr_json_number(s->json, depth, "baseline", &e->baseline);
    tsr_json_number(s->json, depth, "focal", &e->focal);
    tsr_json_number(s->json, depth, "shift", &e->shift);
    double range[2];
    if (tsr_json_numbers(s->json, tsr_json_member(s->json, depth, "range"), range, 2)) memcpy(e->range, range, sizeof range);
    return TSR_OK;
}

/* What a camera without a name of its own is called: as its picture; "cam0/%04d.png", pictures by number, as their folder. */
static void name_after(const source *s, const char *image, char name[TSR_RIG_TEXT_MOST])
{
    char one[TSR_RIG_TEXT_MOST], two[TSR_RIG_TEXT_MOST];
    const char *file = tsr_path_file(image), *from = s->alike ? image : file;
    while (from[0] == '.' && from[1] == '/') from += 2;
    tsr_print(name, TSR_RIG_TEXT_MOST, "%s", from);
    if (file == image || !strchr(file, '%')) return;
    if (tsr_rig_fill_in(file, 0, one, sizeof one) != TSR_OK || tsr_rig_fill_in(file, 1, two, sizeof two) != TSR_OK || !strcmp(one, two)) return;
    const char *begin = s->alike ? from : file - 1;
    while (begin > image && !s->alike && begin[-1] != '/') begin--;
    if (begin < file - 1 && strncmp(begin, "./", 2) != 0) tsr_print(name, TSR_RIG_TEXT_MOST, "%.*s", (int)(file - 1 - begin), begin);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* From the last letter to the first, so that those of one name follow one another. */
static int by_name(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const char *p = x + strlen(x), *q = y + strlen(y);
    while (p > x && q > y && p[-1] == q[-1]) p--, q--;
    return p > x && q > y ? (p[-1] < q[-1] ? -1 : 1) : (p > x) - (q > y);
}

/* Would cameras of different pictures have one name? */
static tsr_status find_alike(source *s, int32_t frames)
{
    const int64_t count = s->json->node[frames].count;
    const char **path = (const char **)calloc((size_t)count + 1, sizeof *path);
    char(*name)[TSR_RIG_TEXT_MOST] = (char(*)[TSR_RIG_TEXT_MOST])malloc(2 * sizeof *name);
    int64_t n = 0;
    if (!path || !name) {
        free(path);
        free(name);
        TSR_FAIL(TSR_ERROR_MEMORY, "%.200s: out of host memory for %lld frames", s->file, (long long)count);
    }
    for (int32_t f = tsr_json_first(s->json, frames); f && n < count; f = tsr_json_next(s->json, f)) {
        const char *image = tsr_json_text(s->json, f, "file_path");
        if (image && strlen(image) + 5 <= TSR_RIG_TEXT_MOST && !tsr_json_member(s->json, f, "tessera")) path[n++] = image;
    }
    qsort(path, (size_t)n, sizeof *path, by_text);
    int64_t different = 0;
    for (int64_t i = 0; i < n; i++)
        if (!different || strcmp(path[i], path[different - 1]) != 0) path[different++] = path[i];
    qsort(path, (size_t)different, sizeof *path, by_name);
    for (int64_t i = 1; i < different && !s->alike; i++) {
        name_after(s, path[i - 1], name[0]);
        name_after(s, path[i], name[1]);
        s->alike = !strcmp(name[0], name[1]);
    }
    free(path);
    free(name);
    return TSR_OK;
}

static tsr_status take_frame(source *s, int64_t index, tsr_rig *rig)
{
    tsr_rig_camera c = { .frame = TSR_RIG_STATIC };
    char path[TSR_RIG_TEXT_MOST], name[TSR_RIG_TEXT_MOST];
    const char *image = tsr_json_text(s->json, s->frame, "file_path"), *depth = tsr_json_text(s->json, s->frame, "depth_file_path");
    double scale;
    tsr_print(name, sizeof name, "camera%02lld", (long long)index);
    c.name = name;
    c.depth = depth;
    if (image && strlen(image) + 5 > sizeof path)
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: frame %lld: a path of %zu bytes", s->file, (long long)index, strlen(image));
    if (image) {
        const char *file = tsr_path_file(image);
        tsr_print(path, sizeof path, "%s%s", image, strchr(file, '.') || !*file ? "" : ".png"); /* Blender's exporter leaves it off */
        c.image = path;
        name_after(s, image, name);
    }
    TSR_TRY(take_intrinsics(s, &c));
    TSR_TRY(take_pose(s, &c));
    if (depth && (number(s, "depth_unit_scale_factor", &scale) || number(s, "integer_depth_scale", &scale)) && scale > 0) {
        c.encoding.bits = 16;
        c.encoding.scale = scale;
    }
    s->timed += tsr_json_number(s->json, s->frame, "time", &c.time);
    s->own |= tsr_json_member(s->json, s->frame, "tessera") != 0;
    TSR_TRY(take_own(s, &c));
    TSR_TRY(tsr_rig_add(rig, &c));
    return TSR_OK;
}

static tsr_status take_points(const source *s, int32_t own, tsr_rig *rig)
{
    const int32_t list = tsr_json_member(s->json, own, "points");
    for (int32_t n = tsr_json_first(s->json, list); n; n = tsr_json_next(s->json, n)) {
        double v[7];
        if (!tsr_json_numbers(s->json, n, v, 7))
            TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: a point, expected 7 numbers: x y z, red green blue, error", s->file);
        const tsr_rig_point p = { .position = { v[0], v[1], v[2] },
                                  .color = { (uint8_t)fmin(255, fmax(0, v[3])), (uint8_t)fmin(255, fmax(0, v[4])),
                                             (uint8_t)fmin(255, fmax(0, v[5])) },
                                  .error = (float)v[6] };
        TSR_TRY(tsr_rig_add_points(rig, &p, 1));
    }
    return TSR_OK;
}

/* Nerfstudio turns COLMAP's world before it writes the cameras. What stands there is consistent, but meshes of COLMAP's world lie elsewhere. */
static void look_at_world(const source *s)
{
    static const double same[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    double m[16];
    const int32_t node = tsr_json_member(s->json, s->root, "applied_transform");
    memcpy(m, same, sizeof m);
    if (!tsr_json_numbers(s->json, node, m, 16) && !tsr_json_numbers(s->json, node, m, 12)) return;
    if (memcmp(m, same, sizeof m) != 0)
        tsr_remark("%.200s: applied_transform says that its world is not the one that COLMAP had: the cameras are as they stand here, and things "
                   "from COLMAP's "
                   "world do not fit them",
                   s->file);
}

static tsr_status take_all(source *s, const tsr_rig_read_options *o, tsr_rig *rig)
{
    const int32_t frames = tsr_json_member(s->json, s->root, "frames"), own = tsr_json_member(s->json, s->root, "tessera");
    int64_t index = 0;
    double sequence[2];
    if (!tsr_json_is(s->json, frames, TSR_JSON_ARRAY)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: no list of frames, expected \"frames\": [ ... ]", s->file);
    TSR_TRY(find_alike(s, frames));
    for (s->frame = tsr_json_first(s->json, frames); s->frame; s->frame = tsr_json_next(s->json, s->frame), index++) {
        if (index % 4096 == 0) TSR_PROGRESS(&o->progress, (double)index / s->json->node[frames].count, "cameras");
        TSR_TRY(take_frame(s, index, rig));
    }
    look_at_world(s);
    if (!s->own) TSR_TRY(tsr_rig_take_times(s->file, rig, s->timed));
    if (tsr_json_numbers(s->json, tsr_json_member(s->json, own, "sequence"), sequence, 2) && fabs(sequence[0]) < 1e9 && fabs(sequence[1]) < 1e9)
        tsr_rig_set_sequence(rig, (int32_t)sequence[0], (int32_t)sequence[1]);
    TSR_TRY(take_points(s, own, rig));
    return TSR_OK;
}

static tsr_status read(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig *rig)
{
    tsr_json json;
    TSR_TRY(tsr_json_parse(file, bytes, size, &json));
    source s = { .file = file, .json = &json, .options = options, .root = 1 };
    const tsr_status status = take_all(&s, options, rig);
    tsr_json_destroy(&json);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */

typedef struct place {
    const tsr_rig *rig;
    const char *path;
    char *way; /* from the file's folder to the rig's; NULL: they are one */
} place;

static void put_text(tsr_output *o, const char *key, const char *text_)
{
    tsr_output_printf(o, "\"%s\": \"", key);
    for (const char *p = text_; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\') tsr_output_printf(o, "\\%c", c);
        else if (c < 32) tsr_output_printf(o, "\\u%04x", c);
        else tsr_output_write(o, p, 1);
    }
    tsr_output_printf(o, "\"");
}
static void put(tsr_output *o, const char *key, double value)
{
    char t[32];
    tsr_output_printf(o, ", \"%s\": %s", key, tsr_rig_number(value, t));
}
static void put_list(tsr_output *o, const char *key, const double *value, int count)
{
    char t[32];
    tsr_output_printf(o, ", \"%s\": [", key);
    for (int i = 0; i < count; i++) tsr_output_printf(o, "%s%s", i ? ", " : "", tsr_rig_number(value[i], t));
    tsr_output_printf(o, "]");
}

static void put_lens(tsr_output *o, const tsr_lens *l)
{
    static const char *const models[] = { "division", "poly", "fisheye" };
    static const char *const names[] = { "k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2", "focal", "pixel_aspect" };
    const double values[] = { l->k1, l->k2, l->k3, l->k4, l->k5, l->k6, l->p1, l->p2, l->focal, l->pixel_aspect };
    tsr_output_printf(o, ", \"lens\": { \"model\": \"%s\"", models[l->model]);
    for (int i = 0; i < 10; i++)
        if (values[i] != 0) put(o, names[i], values[i]);
    if (l->shift[0] != 0 || l->shift[1] != 0) put_list(o, "shift", l->shift, 2);
    tsr_output_printf(o, " }");
}

static void put_depth(tsr_output *o, const tsr_depth_encoding *e)
{
    tsr_output_printf(o, ", \"depth\": { \"encoding\": \"%s\"", tsr_depth_kind_name(e->kind));
    if (e->bits) tsr_output_printf(o, ", \"bits\": %d", (int)e->bits);
    if (e->range[0] != 0 || e->range[1] != 0) put_list(o, "range", e->range, 2);
    if (e->scale != 0) put(o, "scale", e->scale);
    if (e->baseline != 0) put(o, "baseline", e->baseline);
    if (e->focal != 0) put(o, "focal", e->focal);
    if (e->shift != 0) put(o, "shift", e->shift);
    if (e->background_is_valid) tsr_output_printf(o, ", \"background_is_valid\": true");
    tsr_output_printf(o, " }");
}

/* The members other programs know, where the camera is a pinhole. */
static void put_common(tsr_output *o, const tsr_rig_camera *c)
{
    tsr_pinhole p;
    if (c->width) tsr_output_printf(o, ", \"w\": %d, \"h\": %d", (int)c->width, (int)c->height);
    if (!c->width || tsr_camera_to_pinhole(&c->camera, c->width, c->height, &p) != TSR_OK) {
        if (c->camera.projection == TSR_PERSPECTIVE) put(o, "camera_angle_y", c->camera.fov / DEGREES);
        return;
    }
    put(o, "fl_x", p.fx);
    put(o, "fl_y", p.fy);
    put(o, "cx", p.cx);
    put(o, "cy", p.cy);
    static const char *const names[6] = { "k1", "k2", "k3", "k4", "k5", "k6" };
    const int rational = !p.fisheye && (p.k[3] != 0 || p.k[4] != 0 || p.k[5] != 0);
    if (p.fisheye) tsr_output_printf(o, ", \"camera_model\": \"OPENCV_FISHEYE\"");
    else if (tsr_lens_distorts(&c->camera.lens)) tsr_output_printf(o, ", \"camera_model\": \"%s\"", rational ? "FULL_OPENCV" : "OPENCV");
    for (int i = 0; i < 6; i++)
        if (p.k[i] != 0) put(o, names[i], p.k[i]);
    if (p.p[0] != 0) put(o, "p1", p.p[0]);
    if (p.p[1] != 0) put(o, "p2", p.p[1]);
}

/* Where a picture lies from the new file's folder. */
static void put_path(tsr_output *o, const char *key, const place *p, const tsr_rig_camera *c, const char *file)
{
    char moved[2 * TSR_RIG_TEXT_MOST];
    const char *plain = file[0] == '.' && file[1] == '/' ? file + 2 : file;
    const int back = p->way && tsr_rig_lies_back(p->rig, p->path, c, file);
    if (back) snprintf(moved, sizeof moved, "%s%s", p->way, plain);
    put_text(o, key, back ? moved : file);
}

static void put_frame(tsr_output *o, const tsr_rig_camera *c, const place *p, int timed)
{
    static const char *const projections[] = { "perspective", "orthographic", "matrix" };
    const tsr_camera *m = &c->camera;
    const double at[3] = { m->position.x, m->position.y, m->position.z };
    char t[32];
    tsr_output_printf(o, "    { ");
    put_path(o, "file_path", p, c, c->image);
    if (*c->depth) {
        tsr_output_printf(o, ", ");
        put_path(o, "depth_file_path", p, c, c->depth);
    }
    put_common(o, c);
    if (timed) put(o, "time", c->time);
    tsr_output_printf(o, ",\n      \"transform_matrix\": [");
    for (int r = 0; r < 4; r++) {
        tsr_output_printf(o, "%s[", r ? ", " : "");
        for (int k = 0; k < 4; k++)
            tsr_output_printf(o, "%s%s", k ? ", " : "", tsr_rig_number(r == 3 ? k == 3 : k == 3 ? at[r] : m->rotation[k][r], t));
        tsr_output_printf(o, "]");
    }
    tsr_output_printf(o, "],\n      \"tessera\": { ");
    put_text(o, "name", c->name);
    tsr_output_printf(o, ", \"projection\": \"%s\"", projections[m->projection]);
    if (m->projection == TSR_PERSPECTIVE) put(o, "fov", m->fov);
    if (m->projection == TSR_ORTHOGRAPHIC) put(o, "height", m->height);
    if (m->projection == TSR_PROJECTION_MATRIX) put_list(o, "matrix", m->matrix, 16);
    else put(o, "aspect", m->aspect);
    if (m->projection == TSR_PERSPECTIVE) put_list(o, "offset", m->offset, 2);
    if (m->clip[0] != 0 || m->clip[1] != 0) put_list(o, "clip", m->clip, 2);
    if (tsr_lens_distorts(&m->lens)) put_lens(o, &m->lens);
    if (*c->depth) put_depth(o, &c->encoding);
    if (c->frame != TSR_RIG_STATIC) tsr_output_printf(o, ", \"frame\": %d", (int)c->frame);
    tsr_output_printf(o, " } }");
}

static tsr_status write(const tsr_rig *rig, tsr_output *o, const char *path)
{
    char t[4][32];
    int timed = 0;
    place where = { rig, path, tsr_rig_way_back(rig, path) };
    for (int64_t i = 0; i < rig->count; i++) timed |= rig->entry[i].camera.time != 0;
    tsr_output_printf(o, "{\n  \"camera_model\": \"OPENCV\",\n  \"tessera\": { \"version\": 1");
    if (rig->first != 0 || rig->last != 0) tsr_output_printf(o, ", \"sequence\": [%d, %d]", (int)rig->first, (int)rig->last);
    if (rig->points) {
        tsr_output_printf(o, ", \"points\": [");
        for (int64_t i = 0; i < rig->points; i++) {
            const tsr_rig_point *p = &rig->point[i];
            for (int k = 0; k < 3; k++) tsr_rig_number(p->position[k], t[k]);
            tsr_output_printf(o, "%s\n    [%s, %s, %s, %d, %d, %d, %s]", i ? "," : "", t[0], t[1], t[2], p->color[0], p->color[1], p->color[2],
                              tsr_rig_number((double)p->error, t[3]));
        }
        tsr_output_printf(o, "\n  ]");
    }
    tsr_output_printf(o, " },\n  \"frames\": [\n");
    for (int64_t i = 0; i < rig->count; i++) {
        put_frame(o, &rig->entry[i].camera, &where, timed);
        tsr_output_printf(o, "%s\n", i + 1 < rig->count ? "," : "");
    }
    free(where.way);
    return tsr_output_printf(o, "  ]\n}\n");
}

const tsr_rig_format tsr_rig_format_transforms = { .name = "transforms", .extension = ".json", .recognise = recognise, .read = read, .write = write };
