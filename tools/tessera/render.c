#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "render.h"

static tsr_status set_surface_volume(struct render *r, const tsr_volume *volume)
{
    double isovalue;
    int below;
    if (r->isovalue_given) return tsr_scene_set_surface_volume(r->scene, volume, r->isovalue, r->inside_below);
    cli_default_surface(volume, &isovalue, &below);
    if (cli_is_label_map(volume)) { /* all labels together, where they are and not where their numbers are half */
        tsr_volume *mask = NULL;
        tsr_status status = tsr_volume_threshold_integers(r->context, volume, 1, tsr_volume_dtype(volume) == TSR_U64 ? -1 : INT64_MAX, &mask);
        if (status == TSR_OK) status = tsr_scene_set_surface_volume(r->scene, mask, isovalue, below);
        tsr_volume_destroy(&mask);
        return status;
    }
    return tsr_scene_set_surface_volume(r->scene, volume, isovalue, below);
}

/* --isovalue beyond all values: the picture has no surface, which need not be a mistake (a film over values), but is said. */
static void remark_surface(const struct render *r, const char *path)
{
    tsr_statistics s = TSR_STATISTICS;
    if (tsr_volume_statistics(r->context, r->volume, &s) != TSR_OK || !s.count) return;
    if (r->isovalue < s.minimum || r->isovalue > s.maximum)
        cli_note(r->cli, "%s: no surface at isovalue %g: the values are %g to %g", path, r->isovalue, s.minimum, s.maximum);
}

/* NaN is transparent, and interpolation spreads infinite values: the picture has holes there. Once per file, also in a film. */
static void remark_values(struct render *r, const char *path)
{
    tsr_statistics s = TSR_STATISTICS;
    const tsr_dtype dtype = tsr_volume_dtype(r->volume);
    if (r->remarked == path || (dtype != TSR_F32 && dtype != TSR_F64)) return;
    r->remarked = path;
    if (tsr_volume_statistics(r->context, r->volume, &s) != TSR_OK || !(s.nan_count || s.infinite_count)) return;
    cli_note(r->cli, "warning: %s: of %lld voxels %lld are NaN, drawn as transparent, and %lld infinite", path,
             (long long)tsr_volume_count(r->volume), (long long)s.nan_count, (long long)s.infinite_count);
}

static int add_mesh(struct render *r, const char *path)
{
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(r->cli, path, &r->read, &code);
    if (!mesh) return code;
    tsr_status status = r->volume ? tsr_mesh_convert_space(mesh, tsr_volume_geometry(r->volume)->space) : TSR_OK;
    if (status == TSR_OK) status = tsr_scene_set_surface_mesh(r->scene, mesh);
    tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, path);
}

static int add_tiles(struct render *r, const char *path)
{
    int code = CLI_OK;
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    read.memory_limit = r->read.memory_limit;
    read.grid = r->read.dataset;
    r->tiles = cli_read_tiles(r->cli, r->context, path, &read, NULL, &code);
    if (!r->tiles) return code;
    tsr_status status = tsr_scene_set_surface_tiles(r->scene, r->tiles);
    if (status == TSR_OK && r->by_records) status = tsr_records_extract(r->context, r->tiles, r->isovalue_given ? r->isovalue : 0, &r->records);
    if (status == TSR_OK && r->by_records) status = tsr_scene_set_surface_records(r->scene, r->records, r->cull);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, path);
}

static int add_surface(struct render *r)
{
    tsr_file_kind kind;
    const char *format;
    int code = cli_recognise(r->cli, r->surface, &r->read, &kind, &format);
    if (code) return code;
    if (r->by_records && kind != TSR_FILE_TILES) return cli_usage(r->cli, "--records: %s is no tile list, expected one", r->surface);
    if (kind == TSR_FILE_MESH) return add_mesh(r, r->surface);
    if (kind == TSR_FILE_TILES) return add_tiles(r, r->surface);
    r->surface_volume = cli_read_to_device(r->cli, r->surface, &r->read, r->context, &code);
    if (!r->surface_volume) return code;
    tsr_geometry geometry = tsr_geometry_convert(tsr_volume_geometry(r->surface_volume), tsr_volume_geometry(r->volume)->space);
    tsr_status status = tsr_volume_set_geometry(r->surface_volume, &geometry);
    if (status == TSR_OK) status = set_surface_volume(r, r->surface_volume);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, r->surface);
}

void render_free(struct render *r)
{
    tsr_scene_destroy(&r->scene);
    tsr_records_destroy(&r->records);
    tsr_tiles_destroy(&r->tiles);
    tsr_volume_destroy(&r->surface_volume);
    tsr_volume_destroy(&r->volume);
}

int render_scene(struct render *r, const char *path)
{
    tsr_file_kind kind;
    const char *format;
    render_free(r);
    tsr_status status = tsr_scene_create(r->context, &r->scene);
    if (status != TSR_OK) return cli_status(r->cli, status, NULL);
    int code = cli_recognise(r->cli, path, &r->read, &kind, &format);
    if (code) return code;
    if (r->by_records && !r->surface && kind != TSR_FILE_TILES)
        return cli_usage(r->cli, "--records: %s is no tile list, expected one, or one as --surface", path);
    if (r->stack && kind == TSR_FILE_MESH) return cli_usage(r->cli, "--stack: %s is a mesh, expected a volume or a tile list", path);
    if (r->stack && kind == TSR_FILE_TILES && !r->transfer_name)
        return cli_usage(r->cli, "--stack: %s is a tile list, expected --transfer FILE beside it, a function of its values phi", path);
    if (kind == TSR_FILE_MESH) {
        if (r->surface) return cli_usage(r->cli, "--surface: %s is a mesh already, expected a volume as input", path);
        return add_mesh(r, path);
    }
    if (kind == TSR_FILE_TILES) {
        if (r->surface) return cli_usage(r->cli, "--surface: %s is a surface already, expected a volume as input", path);
        if (r->isovalue_given && !r->by_records) return cli_usage(r->cli, "--isovalue: %s is a tile list, whose surface is the zero set", path);
        return add_tiles(r, path);
    }
    code = render_check_surface(r);
    if (code) return code;
    r->volume = cli_read_to_device(r->cli, path, &r->read, r->context, &code);
    if (!r->volume) return code;
    const tsr_size3 n = tsr_volume_size(r->volume);
    if (n.x == 1 && n.y == 1 && n.z == 1 && !r->surface && !r->slice_given && !r->eye_given)
        return cli_usage(r->cli, "%s: one voxel has no size that a view could show, expected at least two", path);
    int only_surface = r->isovalue_given && !r->surface && r->options.mode == TSR_RENDER_SURFACE;
    if (!only_surface) {
        status = tsr_scene_set_volume(r->scene, r->volume);
        if (status != TSR_OK) return cli_status(r->cli, status, path);
    }
    if ((r->options.mode == TSR_RENDER_SURFACE || r->options.mode == TSR_RENDER_COMBINED || r->gallery) && !r->surface && !r->isovalue_given)
        return cli_usage(r->cli, "no surface to draw: expected --surface FILE or --isovalue V");
    remark_values(r, path);
    if (r->surface) return add_surface(r);
    if (r->isovalue_given) status = set_surface_volume(r, r->volume);
    if (r->isovalue_given && status == TSR_OK) remark_surface(r, path);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, path);
}

tsr_status render_camera(struct render *r, const tsr_scene_info *info, double azimuth, tsr_camera *camera)
{
    double aspect = (double)r->width / (double)r->height;
    tsr_projection projection = r->projection ? TSR_ORTHOGRAPHIC : TSR_PERSPECTIVE;
    const tsr_box *bounds = &r->bounds;
    memset(camera, 0, sizeof *camera);
    if (r->slice_given) return TSR_OK;
    tsr_status status = TSR_OK;
    if (r->eye_given) {
        *camera = (tsr_camera){ .projection = projection, .fov = r->fov };
        tsr_vec3 d = { r->eye.x - r->target.x, r->eye.y - r->target.y, r->eye.z - r->target.z };
        camera->height = 2 * tan(r->fov * 0.5 * 0.017453292519943295) * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
        status = tsr_camera_look_at(camera, r->eye, r->target, r->up);
        return status == TSR_OK ? tsr_camera_check(camera) : status;
    }
    if (r->view) {
        tsr_view view;
        status = tsr_view_parse(r->view, &view);
        return status == TSR_OK ? tsr_camera_named(bounds, info->space, view, projection, aspect, camera) : status;
    }
    return tsr_camera_orbit(bounds, info->space, azimuth, r->elevation, projection, aspect, camera);
}

static int save(struct render *r, const tsr_image *image, const char *path)
{
    tsr_write_options write = cli_write_options(r->cli);
    if (!strcmp(path, "-")) write.format = "png";
    tsr_status status = tsr_image_write(image, path, &write);
    return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, path);
}

static int draw_gallery(struct render *r)
{
    tsr_gallery_options options = TSR_GALLERY_OPTIONS;
    options.size = r->width;
    options.transfer = r->transfer_name ? &r->transfer : NULL;
    options.surface_color = r->options.surface_color;
    options.given = r->options.given;
    options.progress = r->progress;
    tsr_gallery gallery = { 0 };
    tsr_image sheet = { 0 };
    tsr_status status = tsr_gallery_render(r->scene, &options, &gallery);
    if (status == TSR_OK) status = tsr_gallery_sheet(&gallery, &sheet);
    if (status != TSR_OK) {
        tsr_gallery_destroy(&gallery);
        return cli_status(r->cli, status, NULL);
    }
    int code = save(r, &sheet, r->output);
    const tsr_image *images[6] = { &gallery.slice[0], &gallery.slice[1], &gallery.slice[2], &gallery.view[0], &gallery.view[1], &gallery.combined };
    for (int i = 0; i < 6 && !code; i++) code = save(r, images[i], r->pictures[i]);
    tsr_image_destroy(&sheet);
    tsr_gallery_destroy(&gallery);
    return code;
}

/* A picture's progress is a part of that of all passes and frames. */
static int report_share(void *user, double fraction, const char *stage)
{
    const struct render *r = (const struct render *)user;
    return r->progress.report(r->progress.user, r->drawn + r->share * fraction, stage);
}

static tsr_status draw_stack(const struct render *r, const tsr_camera *camera)
{
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_stack stack = TSR_STACK;
    tsr_status status = tsr_scene_describe(r->scene, &info);
    if (status != TSR_OK) return status;
    stack.volume = r->volume;
    stack.tiles = r->volume ? NULL : r->tiles;
    if (r->volume) {
        stack.window_low = info.window_low;
        stack.window_high = info.window_high;
    }
    return tsr_render_stack(r->context, &stack, camera, &r->options, r->picture);
}

tsr_status render_picture(struct render *r, const tsr_camera *camera)
{
    const double drawn = r->drawn, share = r->share;
    tsr_status status = TSR_OK;
    r->options.progress = r->slice.progress = (tsr_progress){ report_share, r };
    if (!r->picture) status = tsr_picture_create(r->context, r->width, r->height, &r->picture);
    if (status == TSR_OK && r->slice_given) return tsr_render_slice(r->scene, &r->slice, r->picture);
    if (status == TSR_OK && r->stack) return draw_stack(r, camera);
    for (int32_t pass = 0; status == TSR_OK && pass < r->passes; pass++) {
        r->options.pass = pass;
        r->share = share / r->passes;
        r->drawn = drawn + pass * r->share;
        status = tsr_render(r->scene, camera, &r->options, r->picture);
    }
    r->drawn = drawn;
    r->share = share;
    return status;
}

tsr_status render_image(struct render *r, tsr_image *image) { return tsr_picture_image(r->picture, r->options.transparent ? 4 : 3, image); }

static int draw(struct render *r)
{
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    tsr_image image = { 0 };
    tsr_status status = tsr_scene_describe(r->scene, &info);
    r->bounds = info.has_surface && !info.has_volume ? info.surface_bounds : info.bounds;
    if (status == TSR_OK) status = render_camera(r, &info, r->azimuth, &camera);
    if (status == TSR_OK) status = render_picture(r, &camera);
    if (status == TSR_OK) status = render_image(r, &image);
    int code = status == TSR_OK ? save(r, &image, r->output) : cli_status(r->cli, status, NULL);
    tsr_image_destroy(&image);
    return code;
}

/* A preset's name, or a file: what looks like a path. */
static int transfer(struct render *r, const char *option, const char *name, tsr_transfer *t)
{
    tsr_transfer_preset preset;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_status status;
    if (strpbrk(name, "./")) {
        status = tsr_transfer_read(name, t);
        return status == TSR_OK ? CLI_OK : cli_status(r->cli, status, NULL);
    }
    status = tsr_transfer_parse(name, &preset);
    if (status == TSR_OK) status = tsr_scene_describe(r->scene, &info);
    if (status == TSR_OK)
        status = tsr_transfer_make(preset, r->window_given ? r->window[0] : info.window_low, r->window_given ? r->window[1] : info.window_high, t);
    return status == TSR_OK ? CLI_OK : cli_error(r->cli, CLI_USAGE, "--%s: %s (or a FILE with a dot in its name)", option, tsr_error_message());
}

int render_transfers(struct render *r)
{
    int code = r->transfer_name ? transfer(r, "transfer", r->transfer_name, &r->transfer) : CLI_OK;
    if (!code && r->surface_transfer_name) code = transfer(r, "surface-transfer", r->surface_transfer_name, &r->surface_transfer);
    if (r->transfer_name) r->options.transfer = &r->transfer;
    if (r->surface_transfer_name) r->options.surface_transfer = &r->surface_transfer;
    return code;
}

static int render(struct render *r)
{
    int code = cli_context(r->cli, &r->context);
    if (!code && r->film) return render_film(r);
    if (!code) code = render_scene(r, r->cli->input[0]);
    if (!code) code = render_transfers(r);
    if (code) return code;
    return r->gallery ? draw_gallery(r) : draw(r);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct render r = { .cli = cli,
                        .read = TSR_READ_OPTIONS,
                        .options = TSR_RENDER_OPTIONS,
                        .slice = TSR_SLICE_OPTIONS,
                        .width = 768,
                        .height = 768,
                        .azimuth = 30,
                        .elevation = 20,
                        .fov = 30,
                        .up = { 0, 0, 1 },
                        .passes = 1,
                        .share = 1,
                        .rate = 25 };
    tsr_render_options *o = &r.options;
    int mode = 0, region = 0, clip_face = 0, palette = 0, axis = 2, lookup = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(r.output),
        { .name = "surface", .type = CLI_TEXT, .value = &r.surface, .argument = "FILE", .help = "surface: mesh, tile list, level set or mask" },
        { .name = "isovalue",
          .type = CLI_REAL,
          .value = &r.isovalue,
          .argument = "V",
          .help = "surface where the volume (or --surface) has this value",
          .given = &r.isovalue_given },
        { .name = "inside-below",
          .type = CLI_FLAG,
          .value = &r.inside_below,
          .help = "with --isovalue: inside is below it, as in level sets",
          .given = &r.given[GIVEN_INSIDE_BELOW] },
        { .name = "width", .type = CLI_INT, .value = &r.width, .argument = "PIXELS", .help = "default 768", .lower = 1, .upper = 16384 },
        { .name = "height", .type = CLI_INT, .value = &r.height, .argument = "PIXELS", .help = "default 768", .lower = 1, .upper = 16384 },
        { .name = "gallery",
          .type = CLI_FLAG,
          .value = &r.gallery,
          .help = "six pictures: slices, views, combined; beside -o, which gets a sheet of all" },
        { .name = "mode",
          .type = CLI_CHOICE,
          .value = &mode,
          .argument = "MODE",
          .help = "what is drawn",
          .choices = "auto surface volume combined mip",
          .given = &r.given[GIVEN_MODE] },
        { .name = "view",
          .type = CLI_TEXT,
          .value = &r.view,
          .argument = "SIDE",
          .help = "camera: anterior, posterior, left, right, superior or inferior" },
        { .name = "azimuth",
          .type = CLI_REAL,
          .value = &r.azimuth,
          .argument = "DEGREES",
          .help = "camera: 0 front, 90 left (default 30)",
          .given = &r.given[GIVEN_AZIMUTH] },
        { .name = "elevation",
          .type = CLI_REAL,
          .value = &r.elevation,
          .argument = "DEGREES",
          .help = "camera: 90 above (default 20)",
          .lower = -90,
          .upper = 90,
          .given = &r.given[GIVEN_ELEVATION] },
        { .name = "eye", .type = CLI_VEC3, .value = &r.eye, .help = "camera: position in the world, instead of an angle", .given = &r.eye_given },
        { .name = "target", .type = CLI_VEC3, .value = &r.target, .help = "with --eye: where it looks", .given = &r.given[GIVEN_TARGET] },
        { .name = "up", .type = CLI_VEC3, .value = &r.up, .help = "with --eye: upwards (default 0,0,1)", .given = &r.up_given },
        { .name = "fov",
          .type = CLI_REAL,
          .value = &r.fov,
          .argument = "DEGREES",
          .help = "with --eye: vertical angle (default 30)",
          .lower = 0.1,
          .upper = 179,
          .given = &r.given[GIVEN_FOV] },
        { .name = "projection",
          .type = CLI_CHOICE,
          .value = &r.projection,
          .argument = "WAY",
          .help = "camera",
          .choices = "perspective orthographic",
          .given = &r.given[GIVEN_PROJECTION] },
        { .name = "slice",
          .type = CLI_CHOICE,
          .value = &axis,
          .argument = "AXIS",
          .help = "a slice across this axis instead of a view",
          .choices = "x y z oblique",
          .given = &r.slice_given },
        { .name = "normal",
          .type = CLI_VEC3,
          .value = &r.slice.normal,
          .help = "of an oblique slice, in the world (--up: its upper side)",
          .given = &r.given[GIVEN_NORMAL] },
        { .name = "centre",
          .type = CLI_VEC3,
          .value = &r.slice.centre,
          .help = "of an oblique slice (default: the middle)",
          .given = &r.given[GIVEN_CENTRE] },
        { .name = "slice-height",
          .type = CLI_REAL,
          .value = &r.slice.height,
          .argument = "LENGTH",
          .help = "shown by a slice (default: all)",
          .lower = 1e-300,
          .upper = 1e300,
          .given = &r.given[GIVEN_SLICE_HEIGHT] },
        { .name = "position",
          .type = CLI_REAL,
          .value = &r.slice.position,
          .argument = "INDEX",
          .help = "of the slice (default: middle)",
          .given = &r.given[GIVEN_POSITION] },
        { .name = "palette",
          .type = CLI_CHOICE,
          .value = &palette,
          .argument = "NAME",
          .help = "of the slice",
          .choices = "grey diverging",
          .given = &r.given[GIVEN_PALETTE] },
        { .name = "line-width",
          .type = CLI_REAL,
          .value = &r.slice.line_width,
          .argument = "PIXELS",
          .help = "of the contour; negative = none",
          .given = &r.given[GIVEN_LINE_WIDTH] },
        { .name = "line-color",
          .type = CLI_COLOR,
          .value = &r.slice.line_color,
          .help = "of the contour (default yellow)",
          .given = &r.given[GIVEN_LINE_COLOR] },
        { .name = "nearest",
          .type = CLI_FLAG,
          .value = &r.slice.nearest,
          .help = "slice: nearest voxel instead of trilinear",
          .given = &r.given[GIVEN_NEAREST] },
        { .name = "window", .type = CLI_RANGE, .value = r.window, .help = "grey values shown black and white", .given = &r.window_given },
        { .name = "transfer",
          .type = CLI_TEXT,
          .value = &r.transfer_name,
          .argument = "NAME",
          .help = "volume colours: grey, mri-head, mri-brain, ct-bone, ct-soft or a FILE (docs/formats/transfer.md)",
          .given = &r.given[GIVEN_TRANSFER] },
        { .name = "surface-transfer",
          .type = CLI_TEXT,
          .value = &r.surface_transfer_name,
          .argument = "FILE",
          .help = "the surface as a medium: colours of phi and of the distance from the clipping plane",
          .given = &r.given[GIVEN_SURFACE_TRANSFER] },
        { .name = "lookup",
          .type = CLI_CHOICE,
          .value = &lookup,
          .argument = "WAY",
          .help = "transfer function: evaluated at each sample, or by a table",
          .choices = "none table preintegrated",
          .given = &r.given[GIVEN_LOOKUP] },
        { .name = "lookup-size",
          .type = CLI_INT,
          .value = &o->lookup_size,
          .argument = "N",
          .help = "entries along an axis of the table",
          .lower = 2,
          .upper = 4096,
          .given = &r.given[GIVEN_LOOKUP_SIZE] },
        { .name = "opacity-scale",
          .type = CLI_REAL,
          .value = &o->opacity_scale,
          .argument = "S",
          .help = "volume: multiplies the opacity",
          .given = &r.given[GIVEN_OPACITY_SCALE] },
        { .name = "unshaded", .type = CLI_FLAG, .value = &o->unshaded, .help = "volume: no lighting", .given = &r.given[GIVEN_UNSHADED] },
        { .name = "region",
          .type = CLI_CHOICE,
          .value = &region,
          .argument = "PART",
          .help = "volume: part shown",
          .choices = "all inside outside tint",
          .given = &r.given[GIVEN_REGION] },
        { .name = "surface-color",
          .type = CLI_COLOR,
          .value = &o->surface_color,
          .help = "default pale rose",
          .given = &r.given[GIVEN_SURFACE_COLOR] },
        { .name = "surface-opacity",
          .type = CLI_REAL,
          .value = &o->surface_opacity,
          .argument = "A",
          .help = "default 1",
          .lower = 0,
          .upper = 1,
          .given = &r.given[GIVEN_SURFACE_OPACITY] },
        { .name = "surface-layers",
          .type = CLI_INT,
          .value = &o->surface_layers,
          .argument = "N",
          .help = "of a translucent surface (default 1)",
          .lower = 1,
          .upper = 64,
          .given = &r.given[GIVEN_SURFACE_LAYERS] },
        { .name = "flat", .type = CLI_FLAG, .value = &o->flat, .help = "meshes: one shade per triangle", .given = &r.given[GIVEN_FLAT] },
        { .name = "stack",
          .type = CLI_FLAG,
          .value = &r.stack,
          .help = "draw the volume, or the field of a tile list by a --transfer of phi, from a few slices at a time" },
        { .name = "records",
          .type = CLI_FLAG,
          .value = &r.by_records,
          .help = "surface of a tile list: as compact records (15 bytes a cell), each expanded while it is drawn" },
        { .name = "cull",
          .type = CLI_FLAG,
          .value = &r.cull,
          .help = "with --records: leave out triangles that show their back",
          .given = &r.given[GIVEN_CULL] },
        { .name = "ambient-occlusion",
          .type = CLI_REAL,
          .value = &o->ambient_occlusion,
          .argument = "S",
          .help = "0 to 1 (default 0.75)",
          .given = &r.given[GIVEN_AMBIENT_OCCLUSION] },
        { .name = "specular",
          .type = CLI_REAL,
          .value = &o->specular,
          .argument = "S",
          .help = "0 to 1 (default 0.18)",
          .given = &r.given[GIVEN_SPECULAR] },
        { .name = "clip-normal",
          .type = CLI_VEC3,
          .value = &o->clip_normal,
          .help = "cut away everything with normal . x > clip-offset",
          .given = &o->clip },
        { .name = "clip-offset",
          .type = CLI_REAL,
          .value = &o->clip_offset,
          .argument = "D",
          .help = "world units",
          .given = &r.given[GIVEN_CLIP_OFFSET] },
        { .name = "clip-face",
          .type = CLI_CHOICE,
          .value = &clip_face,
          .argument = "WAY",
          .help = "on the cut",
          .choices = "cap open quad",
          .given = &r.given[GIVEN_CLIP_FACE] },
        { .name = "clip-surface-only",
          .type = CLI_FLAG,
          .value = &o->clip_surface_only,
          .help = "cut only the surface",
          .given = &r.given[GIVEN_CLIP_SURFACE_ONLY] },
        { .name = "clip-volume-only",
          .type = CLI_FLAG,
          .value = &o->clip_volume_only,
          .help = "cut only the volume",
          .given = &r.given[GIVEN_CLIP_VOLUME_ONLY] },
        { .name = "step",
          .type = CLI_REAL,
          .value = &o->step,
          .argument = "VOXELS",
          .help = "distance of samples (default 0.5)",
          .lower = 0.01,
          .upper = 8,
          .given = &r.given[GIVEN_STEP] },
        { .name = "supersampling",
          .type = CLI_INT,
          .value = &o->supersampling,
          .argument = "N",
          .help = "N x N rays per pixel",
          .lower = 1,
          .upper = 4 },
        { .name = "passes",
          .type = CLI_INT,
          .value = &r.passes,
          .argument = "N",
          .help = "mean of N pictures with shifted rays (default 1)",
          .lower = 1,
          .upper = 4096 },
        { .name = "turntable", .type = CLI_FLAG, .value = &r.turntable, .help = "a film: once around from --azimuth" },
        { .name = "sweep", .type = CLI_FLAG, .value = &r.sweep, .help = "a film: --slice from the first to the last" },
        { .name = "frames",
          .type = CLI_INT,
          .value = &r.frames,
          .argument = "N",
          .help = "of --turntable and --sweep (default 96; a slice each)",
          .lower = 1,
          .upper = 100000,
          .given = &r.frames_given },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &r.rate,
          .argument = "HZ",
          .help = "frames per second of a film (default 25)",
          .lower = 0.01,
          .upper = 1000,
          .given = &r.given[GIVEN_RATE] },
        { .name = "jitter", .type = CLI_FLAG, .value = &o->jitter, .help = "hide rings at large steps", .given = &r.given[GIVEN_JITTER] },
        { .name = "background",
          .type = CLI_COLOR,
          .value = &o->background[0],
          .help = "top of the picture, and its bottom unless that is given",
          .given = &r.given[GIVEN_BACKGROUND] },
        { .name = "background-bottom",
          .type = CLI_COLOR,
          .value = &o->background[1],
          .help = "bottom of the picture",
          .given = &r.given[GIVEN_BACKGROUND_BOTTOM] },
        { .name = "transparent", .type = CLI_FLAG, .value = &o->transparent, .help = "no background" },
        CLI_READ_OPTIONS(r.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 100000, argc, argv);
    if (code >= 0) return code;
    r.slice.axis = axis;
    if (r.up_given) r.slice.up = r.up;
    o->mode = (tsr_render_mode)mode;
    o->lookup = (tsr_lookup)lookup;
    code = render_check(&r);
    if (code) return code;
    o->region = (tsr_region)region;
    o->clip_face = (tsr_clip_face)clip_face;
    r.slice.palette = (tsr_palette)palette;
    r.slice.supersampling = o->supersampling;
    if (r.window_given) {
        o->window_low = r.slice.window_low = r.window[0];
        o->window_high = r.slice.window_high = r.window[1];
    }
    render_take_given(&r);
    r.progress = cli_progress(cli);
    code = render(&r);
    cli_progress_end(cli);
    tsr_picture_destroy(&r.picture);
    render_free(&r);
    tsr_context_destroy(&r.context);
    return code;
}

const cli_verb verb_render = { "render", "[options] VOLUME|MESH|TILES... -o PICTURE.png|FILM",
                               "Draw surfaces, slices, projections and volumes as PNG or film",
                               "  tessera make phantom_tumour --size 96 -o head.nii.gz --truth tumour.nii.gz\n"
                               "  tessera render head.nii.gz --surface tumour.nii.gz -o both.png\n"
                               "  tessera render head.nii.gz --surface tumour.nii.gz --slice z -o slice.png\n"
                               "  tessera render head.nii.gz --turntable --frames 12 --width 320 --height 240 -o head.y4m\n",
                               run };
