#include <math.h>
#include <string.h>

#include "films.h"
#include "make_field.h"
#include "make_fluid.h"
#include "make.h"

static void list_points(const cli_call *cli)
{
    const tsr_points_shape *shape = NULL;
    for (int32_t i = 0; (shape = tsr_points_shape_at(i)); i++) {
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", shape->name);
            json_text("kind", "points");
            json_text("description", shape->description);
            json_close('}');
        } else {
            printf("%-18s %-9s                    %s\n", shape->name, "points", shape->description);
        }
    }
}

static void list_pictures(const cli_call *cli)
{
    const tsr_picture_info *p = NULL;
    for (int32_t i = 0; (p = tsr_picture_at(i)); i++) {
        const char *kind = p->frames > 1 ? "film" : "picture";
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", p->name);
            json_text("kind", kind);
            json_text("description", p->description);
            json_close('}');
        } else {
            printf("%-18s %-9s %4d x %4d         %s\n", p->name, kind, (int)p->width, (int)p->height, p->description);
        }
    }
}

/* A picture, or a film of them. */
static int make_pictures(cli_call *cli, const tsr_picture_options *options, int frames_given, const char *output)
{
    cli_frames rate = CLI_FRAMES(cli);
    cli_film film = { .path = NULL };
    const tsr_picture_info *info = NULL;
    tsr_picture_options own = *options;
    for (int32_t i = 0; (info = tsr_picture_at(i)) && strcmp(info->name, cli->input[0]) != 0; i++) continue;
    const int is_film = !strncmp(cli->input[0], "film-", 5);
    if (frames_given && !is_film) return cli_usage(cli, "--frames: '%s' is one picture, expected a film", cli->input[0]);
    int code = output ? cli_film_check(cli, &film, output, !is_film) : cli_check_output(cli, output);
    if (!own.frames) own.frames = is_film && info ? info->frames : 1;
    for (own.frame = 0; own.frame < own.frames && !code; own.frame++) {
        tsr_image image = { 0 };
        const tsr_status status = tsr_picture_make(cli->input[0], &own, &image);
        code = status == TSR_OK ? cli_film_append(cli, &film, &image, &rate) : cli_status(cli, status, NULL);
        tsr_image_destroy(&image);
    }
    return cli_film_finish(cli, &film, code);
}

static void list_scenes(const cli_call *cli)
{
    const tsr_light_scene_info *scene = NULL;
    for (int32_t i = 0; (scene = tsr_light_scene_at(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "light-%s", scene->name);
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", name);
            json_text("kind", "scene");
            json_text("description", scene->description);
            json_close('}');
        } else {
            printf("%-18s %-9s                    %s\n", name, "scene", scene->description);
        }
    }
}

/* The text of a scene for tessera light. */
static int make_light_scene(const cli_call *cli, const char *name, const char *output)
{
    const tsr_light_scene_info *scene = NULL;
    const int code = cli_check_output(cli, output);
    for (int32_t i = 0; !code && (scene = tsr_light_scene_at(i)); i++)
        if (!strcmp(scene->name, name)) return cli_write_text(cli, output, scene->text);
    return code ? code : cli_error(cli, CLI_FAILED, "there is no scene 'light-%s', expected one of tessera make --list", name);
}

static void list(const cli_call *cli)
{
    static const char *const kinds[] = { "distance", "field", "image" };
    const tsr_phantom_info *info = NULL;
    if (cli->globals.json) json_open(NULL, '[');
    for (int32_t i = 0; (info = tsr_phantom_at(i)); i++) {
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", info->name);
            json_text("kind", kinds[info->kind]);
            json_text("description", info->description);
            json_close('}');
        } else {
            printf("%-18s %-9s %4lld x %4lld x %4lld  %s\n", info->name, kinds[info->kind], (long long)info->size.x, (long long)info->size.y,
                   (long long)info->size.z, info->description);
        }
    }
    list_points(cli);
    make_field_list(cli);
    list_pictures(cli);
    cli_list_fluids(cli);
    list_scenes(cli);
    if (cli->globals.json) json_close(']');
}

static int make_points(const cli_call *cli, const tsr_points_options *options, const char *output, const tsr_write_options *write)
{
    tsr_points *points = NULL;
    const char *file = NULL;
    tsr_status status = tsr_points_make(cli->input[0], options, &points);
    if (status == TSR_OK) status = tsr_points_write(points, file = output, write);
    tsr_points_destroy(&points);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, file);
}

static int run(cli_call *cli, int argc, char **argv)
{
    tsr_phantom_options phantom = TSR_PHANTOM_OPTIONS;
    tsr_points_options points = TSR_POINTS_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    const char *output = NULL, *truth_path = NULL;
    tsr_dtype dtype = TSR_F32;
    int64_t seed = 0;
    tsr_picture_options picture = TSR_PICTURE_OPTIONS;
    int frames_given = 0, size_given = 0, time_given = 0;
    double time = 0;
    int list_given = 0, noise_given = 0, blur_given = 0, dtype_given = 0, for_points = 0, for_volumes = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(output),
        { .name = "list", .type = CLI_FLAG, .value = &list_given, .help = "list the names instead" },
        { .name = "truth", .type = CLI_TEXT, .value = &truth_path, .argument = "FILE", .help = "also write the exact mask" },
        { .name = "size",
          .type = CLI_SIZE3,
          .value = &phantom.size,
          .help = "extents in voxels, one number or three; of pictures and films W,H,1",
          .lower = 1,
          .upper = 65535,
          .given = &size_given },
        { .name = "frames",
          .type = CLI_INT,
          .value = &picture.frames,
          .argument = "N",
          .help = "film-*: how many (default 24)",
          .lower = 1,
          .upper = 100000,
          .given = &frames_given },
        { .name = "spacing",
          .type = CLI_VEC3,
          .value = &phantom.spacing,
          .help = "voxel size (default 1)",
          .lower = 1e-9,
          .upper = 1e9,
          .given = &for_volumes },
        { .name = "seed", .type = CLI_COUNT, .value = &seed, .argument = "N", .help = "chooses the random parts", .lower = 0, .upper = 9.2e18 },
        { .name = "noise",
          .type = CLI_REAL,
          .value = &phantom.noise,
          .argument = "SIGMA",
          .help = "Rician noise of an image, 0 = none; points-*: Gaussian, of each coordinate",
          .lower = 0,
          .upper = 10,
          .given = &noise_given },
        { .name = "bias",
          .type = CLI_REAL,
          .value = &phantom.bias,
          .argument = "SHARE",
          .help = "smooth brightness field 1 +- SHARE of an image",
          .lower = 0,
          .upper = 0.999,
          .given = &for_volumes },
        { .name = "blur",
          .type = CLI_REAL,
          .value = &phantom.blur,
          .argument = "VOXELS",
          .help = "edge blur of an image, 0 = none",
          .lower = 0,
          .upper = 100,
          .given = &blur_given },
        { .name = "parameter",
          .type = CLI_REAL,
          .value = &phantom.parameter,
          .argument = "SIZE",
          .help = "the shape's own size in world units",
          .lower = 1e-300,
          .upper = 1e9,
          .given = &for_volumes },
        { .name = "dtype", .type = CLI_DTYPE, .value = &dtype, .help = "element type (default f32)", .given = &dtype_given },
        { .name = "count",
          .type = CLI_COUNT,
          .value = &points.count,
          .argument = "N",
          .help = "points-*: samples on the surface (default 40000)",
          .lower = 1,
          .upper = 1073741823,
          .given = &for_points },
        { .name = "outliers",
          .type = CLI_REAL,
          .value = &points.outliers,
          .argument = "SHARE",
          .help = "points-*: further points anywhere, as a share of N",
          .lower = 0,
          .upper = 1,
          .given = &for_points },
        { .name = "density",
          .type = CLI_REAL,
          .value = &points.density,
          .argument = "RATIO",
          .help = "points-*: how much denser at the upper end of x",
          .lower = 1,
          .upper = 100,
          .given = &for_points },
        { .name = "missing",
          .type = CLI_INT,
          .value = &points.missing,
          .argument = "N",
          .help = "points-*: round patches without samples",
          .lower = 0,
          .upper = 64,
          .given = &for_points },
        { .name = "missing-radius",
          .type = CLI_REAL,
          .value = &points.missing_radius,
          .argument = "SIZE",
          .help = "points-*: of the patches (default 0.15)",
          .lower = 1e-6,
          .upper = 0.5,
          .given = &for_points },
        { .name = "normals", .type = CLI_FLAG, .value = &points.normals, .help = "points-*: with the exact normals", .given = &for_points },
        { .name = "time", .type = CLI_REAL, .value = &time, .argument = "T", .help = "field-*: of fields that change (default 0)", .given = &time_given },
        { .name = "format", .type = CLI_TEXT, .value = &write.format, .argument = "NAME", .help = "of the outputs (default: by extension)" },
        { 0 },
    };
    for (int k = 1; k < argc; k++) /* fluids have options of their own */
        if (cli_is_fluid(argv[k])) return cli_make_fluid(cli, argc, argv);
    if (argc > 1 && !strcmp(argv[1], "scene")) return make_scene(cli, argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "mvv")) return make_mvv(cli, argc - 1, argv + 1);
    int code = cli_parse(cli, options, 0, 1, argc, argv);
    if (code >= 0) return code;
    if (list_given) {
        list(cli);
        return CLI_OK;
    }
    if (cli->inputs != 1) return cli_usage(cli, "no name given: see tessera make --list");
    if (!strncmp(cli->input[0], "light-", 6)) {
        if (for_volumes || for_points || truth_path || dtype_given || noise_given || blur_given || write.format || size_given || frames_given || seed)
            return cli_usage(cli, "%s: of the options --output alone is for scenes", cli->input[0]);
        return make_light_scene(cli, cli->input[0] + 6, output);
    }
    const int of_points = !strncmp(cli->input[0], "points-", 7);
    if (!strncmp(cli->input[0], "picture-", 8) || !strncmp(cli->input[0], "film-", 5)) {
        if (for_volumes || for_points || truth_path || dtype_given || noise_given || blur_given || write.format)
            return cli_usage(cli, "%s: of the options --output, --size, --seed and --frames are for pictures and films", cli->input[0]);
        picture.seed = (uint64_t)seed;
        picture.width = (int32_t)phantom.size.x;
        picture.height = (int32_t)phantom.size.y;
        return make_pictures(cli, &picture, frames_given, output);
    }
    if (frames_given) return cli_usage(cli, "--frames: '%s' is no film", cli->input[0]);
    const int64_t least = phantom.size.x < phantom.size.y ? phantom.size.x : phantom.size.y;
    if (size_given && (least < 2 || phantom.size.z < 2))
        return cli_usage(cli, "--size: '%lld' given, expected a number from 2 to 65535", (long long)(least < 2 ? least : phantom.size.z));
    if (make_field_is(cli->input[0])) {
        if (for_volumes || for_points || truth_path || dtype_given || noise_given || blur_given)
            return cli_usage(cli, "%s: of the options --output, --size, --time and --format are for vector fields", cli->input[0]);
        write.overwrite = cli->globals.force;
        write.progress = cli_progress(cli);
        return make_field(cli, phantom.size, time, output, &write);
    }
    if (time_given) return cli_usage(cli, "--time: '%s' does not change with time, expected a vector field (field-*)", cli->input[0]);
    for_volumes |= size_given;
    code = cli_check_write(cli, output, of_points ? TSR_FILE_POINTS : TSR_FILE_VOLUME, write.format);
    if (!code && truth_path && !of_points) code = cli_check_write(cli, truth_path, TSR_FILE_VOLUME, write.format);
    if (code) return code;
    if (of_points) {
        if (for_volumes || truth_path || dtype_given || blur_given)
            return cli_usage(cli, "%s: --truth, --size, --spacing, --bias, --blur, --parameter and --dtype are for volumes", cli->input[0]);
        points.seed = (uint64_t)seed;
        points.noise = phantom.noise;
        points.progress = cli_progress(cli);
        write.overwrite = cli->globals.force;
        write.progress = points.progress;
        return make_points(cli, &points, output, &write);
    }
    if (for_points)
        return cli_usage(cli, "%s: --count, --outliers, --density, --missing, --missing-radius and --normals are for points-*", cli->input[0]);
    if (noise_given && phantom.noise == 0) phantom.noise = -1; /* for the API 0 is the default */
    if (blur_given && phantom.blur == 0) phantom.blur = -1;
    phantom.seed = (uint64_t)seed;
    phantom.threads = cli->globals.threads;
    phantom.progress = cli_progress(cli);
    write.overwrite = cli->globals.force;
    write.progress = phantom.progress;

    tsr_volume *volume = NULL, *truth = NULL, *converted = NULL;
    tsr_context *context = NULL;
    tsr_status status = tsr_phantom_make(cli->input[0], &phantom, &volume, truth_path ? &truth : NULL);
    const char *file = NULL;
    if (status == TSR_OK && dtype_given && dtype != TSR_F32) {
        code = cli_cpu_context(cli, &context);
        if (!code) {
            status = tsr_volume_convert(context, volume, dtype, &converted);
            if (status == TSR_OK) {
                tsr_volume_destroy(&volume);
                volume = converted;
            }
        }
    }
    if (!code && status == TSR_OK) status = tsr_volume_write(volume, file = output, &write);
    if (!code && status == TSR_OK && truth) status = tsr_volume_write(truth, file = truth_path, &write);
    if (status != TSR_OK) code = cli_status(cli, status, file);
    tsr_volume_destroy(&truth);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_make = { "make", "[options] NAME -o OUTPUT",
                             "Make an analytic volume, a phantom, a vector field, points, a picture, a film, a fluid or a scene, the same everywhere",
                             "  tessera make --list\n"
                             "  tessera make phantom_tumour --size 128 --noise 0.05 --seed 7 -o head.nii.gz --truth tumour.nii.gz\n"
                             "  tessera make points-torus --count 100000 --noise 0.002 -o torus.ply\n"
                             "  tessera make picture-left -o left.png && tessera make picture-right -o right.png\n"
                             "  tessera make film-balls --frames 12 -o film.y4m\n"
                             "  tessera make fluid-dam --help\n"
                             "  tessera make fluid-dam --count 2000 --seconds 0.2 -o 'dam-%04d.ply'\n"
                             "  tessera make scene --help\n"
                             "  tessera make mvv --help\n",
                             run };
