/* vision/rig/rig_files.c: rigs read and written: which format, which file of a folder. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vision/rig/rig.h"

static const tsr_rig_format *const formats[] = {
#define TSR_RIG_FORMAT(name) &tsr_rig_format_##name,
#include "vision/rig/rig_formats.h"
#undef TSR_RIG_FORMAT
};
enum { FORMATS = sizeof formats / sizeof *formats };

char *tsr_rig_join(const char *folder, const char *name)
{
    const size_t a = strlen(folder), b = strlen(name);
    char *path = (char *)malloc(a + b + 2);
    if (!path) return NULL;
    memcpy(path, folder, a);
    size_t size = a;
    if (a && folder[a - 1] != '/') path[size++] = '/';
    memcpy(path + size, name, b + 1);
    return path;
}

int tsr_rig_exists(const char *folder, const char *name)
{
    struct stat info;
    char *path = tsr_rig_join(folder, name);
    const int there = path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    free(path);
    return there;
}
static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

tsr_status tsr_rig_open(const char *folder, const char *name, const tsr_rig_read_options *options, tsr_input **input)
{
    const tsr_input_options o = { .memory_limit = options->memory_limit, .regular_only = 1 };
    char *path = tsr_rig_join(folder, name);
    if (!path) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
    const tsr_status status = tsr_input_open(path, &o, input);
    free(path);
    TSR_TRY(status);
    return TSR_OK;
}

static tsr_status format_named(const char *name, const tsr_rig_format **format)
{
    char names[300] = "";
    *format = NULL;
    for (int i = 0; i < FORMATS; i++) {
        if (!strcmp(name, formats[i]->name)) *format = formats[i];
        if (i) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, formats[i]->name, sizeof names - strlen(names) - 1);
    }
    if (!*format) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: format '%.40s', expected one of %s", name, names);
    return TSR_OK;
}

/* The folder of a path, as a new text. */
static tsr_status set_folder_of(tsr_rig *rig, const char *path)
{
    const size_t size = (size_t)(tsr_path_file(path) - path);
    char *folder = (char *)malloc(size + 1);
    if (!folder) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
    memcpy(folder, path, size);
    folder[size] = 0;
    const tsr_status status = tsr_rig_set_folder(rig, folder);
    free(folder);
    return status;
}

static tsr_status check_options(const tsr_rig_read_options *o)
{
    if (o->width < 0 || o->height < 0 || (o->width > 0) != (o->height > 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: images of %d x %d pixels, expected two numbers above 0 (0 0: not known)", o->width, o->height);
    if (!(o->focal >= 0 && o->focal < 1e9))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: focal length %g, expected pixels above 0 (0: the format's own)", o->focal);
    if (!isfinite(o->baseline) || !(o->focus >= 0 && o->focus < 1e9))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: baseline %g and focus %g of a light field, expected finite numbers, the focus from 0", o->baseline,
                 o->focus);
    if ((unsigned)o->geocast_matrix > TSR_GEOCAST_EYE_TO_WORLD_COLUMNS)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: GeoCast matrix reading %d, expected 0 to 4", (int)o->geocast_matrix);
    return TSR_OK;
}

/* A file's content. */
static tsr_status read_bytes(const tsr_rig_format *format, const uint8_t *bytes, size_t size, const char *file, const char *path,
                             const tsr_rig_read_options *o, tsr_rig **rig)
{
    for (int i = 0, sure = 0; i < FORMATS && (!format || sure); i++) { /* the surest of them */
        const int own = formats[i]->recognise ? formats[i]->recognise(bytes, size < 4096 ? size : 4096, path ? path : "") : 0;
        if (own <= sure) continue;
        sure = own;
        format = formats[i];
    }
    if (!format)
        TSR_FAIL(TSR_ERROR_FORMAT,
                 "%.200s: no camera file this library knows, expected one of transforms.json, COLMAP, GeoCast, calib.txt, _par.txt, OpenCV YAML "
                 "or XML, bundle.out, TUM or KITTI trajectories",
                 file);
    if (!format->read) TSR_FAIL(TSR_ERROR_ARGUMENT, "%.200s: the format %s is a folder of files", file, format->name);
    TSR_TRY(tsr_rig_create(rig));
    tsr_status status = path ? set_folder_of(*rig, path) : TSR_OK;
    if (status == TSR_OK) status = format->read(bytes, size, file, o, *rig);
    if (status == TSR_OK && !(*rig)->count) status = TSR_FAILED(TSR_ERROR_FORMAT, "%.200s: no camera in it", file);
    if (status != TSR_OK) tsr_rig_destroy(rig);
    return status;
}

static tsr_status read_file(const tsr_rig_format *format, const char *path, const tsr_rig_read_options *o, tsr_rig **rig)
{
    const tsr_input_options settings = { .memory_limit = o->memory_limit };
    tsr_input *input = NULL;
    const uint8_t *bytes;
    size_t size;
    TSR_TRY(tsr_input_open(path, &settings, &input));
    tsr_status status = tsr_input_all(input, &bytes, &size);
    if (status == TSR_OK) status = read_bytes(format, bytes, size, tsr_input_name(input), tsr_input_path(input), o, rig);
    tsr_input_close(&input);
    return status;
}

/* What lies beside a COLMAP model, by the habits of those who write them: pictures in a folder `images`, maps of the dense stage, depths of ETH3D. */
static const char *const picture_folders[] = { "images", "", "../images", "../../images" };
static const char *const depth_maps[] = { "stereo/depth_maps/%s.geometric.bin", "stereo/depth_maps/%s.photometric.bin", "ground_truth_depth/%s" };

/* Paths of the rig count from the folder of its pictures; `up` leads from there to `root`, where the maps are. */
static tsr_status find_depths(tsr_rig *rig, const char *root, const char *up)
{
    for (int64_t i = 0; i < rig->count; i++) {
        tsr_rig_camera c = rig->entry[i].camera;
        char below[TSR_RIG_TEXT_MOST], path[TSR_RIG_TEXT_MOST];
        for (size_t k = 0; k < sizeof depth_maps / sizeof *depth_maps && !*c.depth; k++) {
            const char *at = strstr(depth_maps[k], "%s");
            if ((size_t)snprintf(below, sizeof below, "%.*s%s%s", (int)(at - depth_maps[k]), depth_maps[k], c.image, at + 2) >= sizeof below ||
                !tsr_rig_exists(root, below) || (size_t)snprintf(path, sizeof path, "%s%s", up, below) >= sizeof path)
                continue;
            c.depth = path;
            TSR_TRY(tsr_rig_set(rig, i, &c));
            c = rig->entry[i].camera;
        }
        if (!i && !*c.depth) return TSR_OK; /* none for the first: there are none */
    }
    return TSR_OK;
}

static tsr_status place_pictures(tsr_rig *rig, const char *base)
{
    for (size_t k = 0; k < sizeof picture_folders / sizeof *picture_folders; k++) {
        const size_t length = strlen(picture_folders[k]), above = length > 6 ? length - 6 : 0; /* "../" of it */
        char text[16];
        snprintf(text, sizeof text, "%.*s.", (int)above, picture_folders[k]);
        char *pictures = tsr_rig_join(base, picture_folders[k]), *root = tsr_rig_join(base, text);
        tsr_status status = pictures && root ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
        const int here = status == TSR_OK && tsr_rig_exists(pictures, rig->entry[0].camera.image);
        if (here) status = tsr_rig_set_folder(rig, pictures);
        if (here && status == TSR_OK) status = find_depths(rig, root, length ? "../" : "");
        free(pictures);
        free(root);
        if (here || status != TSR_OK) return status;
    }
    return TSR_OK;
}

static tsr_status read_light_field(const char *path, const tsr_rig_read_options *o, tsr_rig **rig)
{
    TSR_TRY(tsr_rig_create(rig));
    tsr_status status = tsr_rig_set_folder(*rig, path);
    if (status == TSR_OK) status = tsr_rig_format_lightfield.read_folder(path, o, *rig);
    if (status != TSR_OK) tsr_rig_destroy(rig);
    return status;
}

static tsr_status read_folder(const tsr_rig_format *format, const char *path, const tsr_rig_read_options *o, tsr_rig **rig)
{
    static const char *const files[] = { "transforms.json", "transforms_train.json", "scene.geoscene", "calib.txt",
                                         "bundle.out",      "bundle/bundle.out",     "cameras.json" };
    static const char *const parts[] = { "", "sparse/0", "sparse", "dense/sparse" };
    if (format && !strcmp(format->name, "lightfield")) return read_light_field(path, o, rig);
    if (!format || format->folder) {
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
            char *part = tsr_rig_join(path, parts[p]);
            tsr_status status = part ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
            for (int i = 0; i < FORMATS && status == TSR_OK && !*rig; i++) {
                const int text = !strcmp(formats[i]->name, "colmap-text");
                if (!formats[i]->folder || !strcmp(formats[i]->name, "lightfield") || (format && format != formats[i]) ||
                    !tsr_rig_exists(part, text ? "cameras.txt" : "cameras.bin"))
                    continue;
                status = tsr_rig_create(rig);
                if (status == TSR_OK) status = tsr_rig_set_folder(*rig, path);
                if (status == TSR_OK) status = formats[i]->read_folder(part, o, *rig);
                if (status == TSR_OK && !(*rig)->count) status = TSR_FAILED(TSR_ERROR_FORMAT, "%.200s: no image in the model", path);
                char *dense = strcmp(parts[p], "dense/sparse") || status != TSR_OK ? NULL : tsr_rig_join(path, "dense");
                if (status == TSR_OK) status = place_pictures(*rig, dense ? dense : path);
                free(dense);
                if (status != TSR_OK) tsr_rig_destroy(rig);
            }
            free(part);
            if (status != TSR_OK || *rig) return status;
        }
    }
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        if (!tsr_rig_exists(path, files[f])) continue;
        char *file = tsr_rig_join(path, files[f]);
        if (!file) TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for a path");
        const tsr_status status = read_file(format && !format->folder ? format : NULL, file, o, rig);
        free(file);
        return status;
    }
    if (!format && tsr_rig_light_field_there(path)) return read_light_field(path, o, rig);
    TSR_FAIL(TSR_ERROR_FORMAT,
             "%.200s: a folder without cameras, expected a COLMAP model (cameras.bin or cameras.txt), transforms.json or cameras.json, "
             "scene.geoscene, calib.txt, "
             "bundle.out, or a light field (parameters.cfg, out_RR_CC_V_U.png; of other names with format lightfield)",
             path);
}

tsr_status tsr_rig_read(const char *path, const tsr_rig_read_options *options, tsr_rig **rig)
{
    TSR_RETURNS(rig);
    TSR_NEEDS(path);
    tsr_rig_read_options o;
    const tsr_rig_format *format = NULL;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o));
    if (o.format && *o.format) TSR_TRY(format_named(o.format, &format));
    if (is_folder(path)) TSR_TRY(read_folder(format, path, &o, rig));
    else TSR_TRY(read_file(format, path, &o, rig));
    return TSR_OK;
}

tsr_status tsr_rig_read_text(const char *name, const void *bytes, size_t size, const char *file, const tsr_rig_read_options *options, tsr_rig **rig)
{
    TSR_RETURNS(rig);
    tsr_rig_read_options o;
    const tsr_rig_format *format = NULL;
    if (!bytes && size) TSR_FAIL(TSR_ERROR_ARGUMENT, "bytes are NULL");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    TSR_TRY(check_options(&o));
    if (name && *name) TSR_TRY(format_named(name, &format));
    TSR_TRY(read_bytes(format, (const uint8_t *)bytes, size, file ? file : "memory", NULL, &o, rig));
    return TSR_OK;
}

tsr_status tsr_rig_read_image(const tsr_rig_camera *camera, const char *path, const tsr_read_options *options, tsr_image *image)
{
    TSR_NEEDS(camera, path, image);
    tsr_read_options o;
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    o.struct_size = sizeof o;
    o.camera_size[0] = camera->width;
    o.camera_size[1] = camera->height;
    TSR_TRY(tsr_image_read(path, &o, image));
    return TSR_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------------------------------- */

/* From one folder to another, both as realpath has them: "../a/"; "" from one to itself. malloc; NULL without memory. */
static char *way_between(const char *from, const char *to)
{
    size_t same = 0, ups = 0, size = 0;
    for (size_t i = 0;; i++) { /* whole names alone */
        const int ends[2] = { !from[i] || from[i] == '/', !to[i] || to[i] == '/' };
        if (ends[0] && ends[1]) same = i;
        if (!from[i] || from[i] != to[i]) break;
    }
    for (size_t i = same; from[i]; i++) ups += from[i] == '/' && from[i + 1];
    const char *rest = to + same;
    while (*rest == '/') rest++;
    char *way = (char *)malloc(3 * ups + strlen(rest) + 2);
    if (!way) return NULL;
    for (size_t k = 0; k < ups; k++, size += 3) memcpy(way + size, "../", 3);
    strcpy(way + size, rest);
    if (*rest) strcat(way + size, "/");
    return way;
}

char *tsr_rig_way_back(const tsr_rig *rig, const char *path)
{
    char *folder = strndup(path, (size_t)(tsr_path_file(path) - path)), *from = folder ? realpath(*folder ? folder : ".", NULL) : NULL,
         *to = realpath(*rig->folder ? rig->folder : ".", NULL), *way = from && to ? way_between(from, to) : NULL;
    if (way && (!*way || strchr(way, '%'))) { /* a % would be taken for a frame's number */
        free(way);
        way = NULL;
    }
    free(folder);
    free(from);
    free(to);
    return way;
}

int tsr_rig_lies_back(const tsr_rig *rig, const char *path, const tsr_rig_camera *camera, const char *file)
{
    char name[TSR_RIG_TEXT_MOST];
    const int32_t frame = camera->frame < 0 ? rig->first : camera->frame;
    if (!*file || *file == '/' || tsr_rig_fill_in(file, frame, name, sizeof name) != TSR_OK || !tsr_rig_exists(rig->folder, name)) return 0;
    char *folder = strndup(path, (size_t)(tsr_path_file(path) - path));
    const int here = folder && tsr_rig_exists(folder, name);
    free(folder);
    return !here;
}

static tsr_status format_of_path(const char *path, const tsr_rig_format **format)
{
    const char *file = tsr_path_file(path);
    *format = NULL;
    if (!strcmp(file, "calib.txt")) TSR_TRY(format_named("middlebury", format));
    else if (tsr_path_has_extension(path, "_par.txt")) TSR_TRY(format_named("par", format));
    else if (tsr_path_has_extension(path, ".yaml") || tsr_path_has_extension(path, ".xml")) TSR_TRY(format_named("opencv", format));
    else if (!strchr(file, '.')) TSR_TRY(format_named("colmap-text", format));
    for (int i = 0; i < FORMATS && !*format; i++)
        if (formats[i]->extension && tsr_path_has_extension(path, formats[i]->extension)) *format = formats[i];
    if (!*format)
        TSR_FAIL(TSR_ERROR_ARGUMENT,
                 "%.200s: the name fits no camera format, expected .json, .geoscene, .geocast, calib.txt, _par.txt, .yml, .yaml, .xml, .out, a "
                 "folder, or the format by name",
                 path);
    return TSR_OK;
}

tsr_status tsr_rig_write(const tsr_rig *rig, const char *path, const tsr_rig_write_options *options)
{
    tsr_rig_write_options o;
    const tsr_rig_format *format = NULL;
    tsr_output *output = NULL;
    if (!rig || !path) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", rig ? "path" : "rig");
    TSR_TRY(TSR_OPTIONS_TAKE(&o, options));
    if (o.format && *o.format) TSR_TRY(format_named(o.format, &format));
    else TSR_TRY(format_of_path(path, &format));
    if (!rig->count) TSR_FAIL(TSR_ERROR_STATE, "%.200s: the rig has no camera", path);
    if (!format->write && !format->write_folder) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%.200s: cameras are not written as %s", path, format->name);
    if (format->check) TSR_TRY(format->check(rig));
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = o.overwrite;
    if (format->write_folder) {
        TSR_TRY(format->write_folder(rig, path, &write));
        return TSR_OK;
    }
    TSR_TRY(tsr_output_open(path, &write, &output));
    TSR_TRY(tsr_output_finish(&output, format->write(rig, output, path)));
    return TSR_OK;
}
