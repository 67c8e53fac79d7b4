/* tools/tessera/make_scene.c: `tessera make scene`: pictures, exact depths and cameras of an analytic scene, in a folder. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "make.h"

enum { DEPTH_NPY, DEPTH_PFM, DEPTH_PNG, DEPTH_NONE };

struct scene {
    cli_call *cli;
    const char *output, *cameras;
    int layout, depth_file, encoding, list;
    double gain_spread, k1;
    tsr_size3 size;
    int64_t seed, points;
    int32_t bits;
    tsr_rig_layout_options place;
    tsr_analytic_options look;
    tsr_rig *rig;
};

static int list_scenes(const cli_call *cli)
{
    const tsr_analytic_info *info = NULL;
    if (cli->globals.json) json_open(NULL, '[');
    for (int32_t i = 0; (info = tsr_analytic_at(i)); i++) {
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", info->name);
            json_text("description", info->description);
            json_close('}');
        } else {
            printf("%-12s %s\n", info->name, info->description);
        }
    }
    if (cli->globals.json) json_close(']');
    return CLI_OK;
}

static tsr_status write_depth(const struct scene *s, const tsr_rig_camera *c, float *d, const char *path)
{
    tsr_volume *values = NULL, *integers = NULL;
    tsr_context *context = NULL;
    const tsr_write_options write = cli_write_options(s->cli);
    tsr_status status = tsr_depth_encode(&c->camera, &c->encoding, c->width, c->height, d, d);
    if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ c->width, c->height, 1 }, NULL, &values);
    if (status == TSR_OK) {
        memcpy(tsr_volume_data(values), d, (size_t)c->width * (size_t)c->height * sizeof *d);
        if (c->encoding.bits) {
            tsr_context_options options = TSR_CONTEXT_OPTIONS;
            options.device = "cpu";
            status = tsr_context_create(&options, &context);
            if (status == TSR_OK) status = tsr_volume_convert(context, values, c->encoding.bits > 8 ? TSR_U16 : TSR_U8, &integers);
        }
    }
    if (status == TSR_OK) status = tsr_volume_write(integers ? integers : values, path, &write);
    tsr_volume_destroy(&integers);
    tsr_volume_destroy(&values);
    tsr_context_destroy(&context);
    return status;
}

/* Points of the surface that this camera sees, at pixels all over its picture. */
static tsr_status add_points(struct scene *s, const tsr_rig_camera *c, const tsr_image *image, const float *depth, int64_t index, int64_t wanted)
{
    uint64_t state = 0x9e3779b97f4a7c15ull * (uint64_t)(s->seed + index + 1);
    tsr_status status = TSR_OK;
    for (int64_t n = 0, tries = 0; n < wanted && tries < 100 * wanted && status == TSR_OK; tries++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const int64_t i = (int64_t)((state >> 33) % ((uint64_t)c->width * (uint64_t)c->height));
        const double at[2] = { (double)(i % c->width) + 0.5, (double)(i / c->width) + 0.5 }, t = (double)depth[i];
        tsr_vec3 o, d;
        if (!(t > 0) || tsr_camera_ray(&c->camera, c->width, c->height, at, &o, &d) != TSR_OK) continue;
        tsr_rig_point p = { .position = { o.x + t * d.x, o.y + t * d.y, o.z + t * d.z } };
        memcpy(p.color, image->pixels + 3 * i, 3);
        status = tsr_rig_add_points(s->rig, &p, 1);
        n++;
    }
    return status;
}

/* One camera: its picture and its depths, and their names in the rig. */
static int draw(struct scene *s, int64_t index, int64_t count)
{
    tsr_rig_camera c;
    tsr_image image = { 0 };
    char names[2][300], *paths[2];
    tsr_status status = tsr_rig_get(s->rig, index, &c);
    if (status != TSR_OK) return cli_status(s->cli, status, NULL);
    if (!c.width) return cli_error(s->cli, CLI_FAILED, "%s: camera '%s' has no image size, expected one", s->cameras, cli_shown(c.name));
    char plain[200];
    size_t length = 0;
    for (const char *p = c.name; *p && length + 1 < sizeof plain; p++) plain[length++] = *p == '/' || *p == '%' ? '_' : *p;
    while (length > 4 && (!strncmp(plain + length - 4, ".png", 4) || !strncmp(plain + length - 4, ".jpg", 4))) length -= 4;
    plain[length] = 0;
    if (!length) snprintf(plain, sizeof plain, "camera%02lld", (long long)index);
    snprintf(names[0], sizeof names[0], "%s.png", plain);
    snprintf(names[1], sizeof names[1], "%s-depth.%s", plain, s->depth_file == DEPTH_PNG ? "png" : s->depth_file == DEPTH_PFM ? "pfm" : "npy");
    for (int i = 0; i < 2; i++) {
        const size_t room = strlen(s->output) + strlen(names[i]) + 2;
        paths[i] = (char *)malloc(room);
        if (paths[i]) snprintf(paths[i], room, "%s/%s", s->output, names[i]);
    }
    float *depth = (float *)malloc((size_t)c.width * (size_t)c.height * sizeof *depth);
    int code = paths[0] && paths[1] && depth ? CLI_OK : cli_error(s->cli, CLI_FAILED, "out of memory");
    tsr_analytic_options look = s->look;
    look.seed = (uint64_t)(s->seed + index);
    look.gain = count > 1 ? 1 + s->gain_spread * (2.0 * (double)index / (double)(count - 1) - 1) : 1;
    const char *file = NULL;
    if (!code) status = tsr_analytic_render(s->cli->input[0], &c.camera, c.width, c.height, &look, &image, depth);
    if (!code && status == TSR_OK) {
        const tsr_write_options write = cli_write_options(s->cli);
        status = tsr_image_write(&image, file = paths[0], &write);
    }
    if (!code && status == TSR_OK && s->points) status = add_points(s, &c, &image, depth, index, s->points / count + (index < s->points % count));
    c.image = names[0];
    c.depth = "";
    if (!code && status == TSR_OK && s->depth_file != DEPTH_NONE) {
        c.encoding = (tsr_depth_encoding){ .kind = (tsr_depth_kind)s->encoding, .bits = s->bits };
        if (s->bits && (s->encoding == TSR_DEPTH_EYE || s->encoding == TSR_DEPTH_RADIAL))
            c.encoding.scale = (c.camera.clip[1] > 0 ? c.camera.clip[1] : 100) * 1.5 / ((1 << s->bits) - 1);
        if (s->encoding == TSR_DEPTH_DISPARITY) {
            c.encoding.focal = 0.5 * c.height / tan(0.5 * c.camera.fov * 3.14159265358979323846 / 180);
            c.encoding.baseline = s->place.baseline > 0 ? s->place.baseline : 1;
        }
        c.depth = names[1];
        status = write_depth(s, &c, depth, file = paths[1]);
    }
    if (!code && status == TSR_OK) status = tsr_rig_set(s->rig, index, &c);
    if (!code && status != TSR_OK) code = cli_status(s->cli, status, file);
    for (int i = 0; i < 2; i++) free(paths[i]);
    free(depth);
    tsr_image_destroy(&image);
    return code;
}

static int gather(struct scene *s)
{
    tsr_status status;
    if (s->cameras) {
        status = tsr_rig_read(s->cameras, NULL, &s->rig);
        if (status != TSR_OK) return cli_status(s->cli, status, NULL);
    } else {
        s->place.width = (int32_t)s->size.x;
        s->place.height_pixels = (int32_t)s->size.y;
        status = tsr_rig_make((tsr_rig_layout)s->layout, &s->place, &s->rig);
        if (status != TSR_OK) return cli_status(s->cli, status, NULL);
    }
    for (int64_t i = 0; i < tsr_rig_count(s->rig) && s->k1 != 0; i++) {
        tsr_rig_camera c;
        status = tsr_rig_get(s->rig, i, &c);
        c.camera.lens = (tsr_lens){ .model = TSR_LENS_POLY, .k1 = s->k1 };
        if (status == TSR_OK) status = tsr_rig_set(s->rig, i, &c);
        if (status != TSR_OK) return cli_status(s->cli, status, NULL);
    }
    return CLI_OK;
}

static int work(struct scene *s)
{
    int code = gather(s);
    const int64_t count = tsr_rig_count(s->rig);
    if (!code && mkdir(s->output, 0777) != 0 && errno != EEXIST)
        code = cli_error(s->cli, CLI_FAILED, "%s: %s", cli_shown(s->output), strerror(errno));
    const tsr_progress progress = cli_progress(s->cli);
    for (int64_t i = 0; i < count && !code; i++) {
        code = draw(s, i, count);
        if (!code && progress.report && progress.report(progress.user, (double)(i + 1) / (double)count, "cameras")) code = CLI_FAILED;
    }
    cli_progress_end(s->cli);
    const size_t room = strlen(s->output) + 32;
    char *path = (char *)malloc(room);
    if (!code && !path) code = cli_error(s->cli, CLI_FAILED, "out of memory");
    if (!code) {
        snprintf(path, room, "%s/transforms.json", s->output);
        tsr_rig_write_options write = TSR_RIG_WRITE_OPTIONS;
        write.overwrite = s->cli->globals.force;
        const tsr_status status = tsr_rig_write(s->rig, path, &write);
        if (status != TSR_OK) code = cli_status(s->cli, status, NULL);
    }
    if (!code && s->cli->globals.json) {
        json_open(NULL, '{');
        json_text("scene", s->cli->input[0]);
        json_text("cameras", path);
        json_int("count", count);
        json_close('}');
    } else if (!code) {
        printf("%s: %lld %s of '%s' with %s\n", path, (long long)count, count == 1 ? "camera" : "cameras", s->cli->input[0],
               s->depth_file == DEPTH_NONE ? "pictures" : "pictures and depths");
    }
    free(path);
    tsr_rig_destroy(&s->rig);
    return code;
}

int make_scene(cli_call *cli, int argc, char **argv)
{
    static const cli_verb verb = { "make scene", "[options] NAME -o FOLDER",
                                   "Draw an analytic scene by many cameras: pictures, exact depths and transforms.json",
                                   "  tessera make scene --list\n"
                                   "  tessera make scene head --layout arc --count 4 --degrees 90 -o head\n"
                                   "  tessera make scene layers --layout pair --baseline 0.2 --noise 2 --backdrop -o pair\n"
                                   "  tessera make scene sphere --layout grid --count 9 --encoding window --bits 16 --depth png -o grid\n",
                                   NULL };
    struct scene s = { .cli = cli, .place = TSR_RIG_LAYOUT_OPTIONS, .look = TSR_ANALYTIC_OPTIONS };
    int rig_given = 0;
    const cli_option options[] = {
        { .name = "output", .letter = 'o', .type = CLI_TEXT, .value = &s.output, .argument = "FOLDER", .help = "made if it is not there" },
        { .name = "list", .type = CLI_FLAG, .value = &s.list, .help = "list the scenes instead" },
        { .name = "cameras", .type = CLI_TEXT, .value = &s.cameras, .argument = "FILE", .help = "cameras of this file, instead of a layout" },
        { .name = "layout",
          .type = CLI_CHOICE,
          .value = &s.layout,
          .argument = "RIG",
          .help = "how the cameras stand",
          .choices = "ring grid pair sweep arc",
          .given = &rig_given },
        { .name = "count",
          .type = CLI_INT,
          .value = &s.place.count,
          .argument = "N",
          .help = "cameras (default 8; grid 9; sweep 32 frames)",
          .lower = 1,
          .upper = 100000,
          .given = &rig_given },
        { .name = "columns",
          .type = CLI_INT,
          .value = &s.place.columns,
          .argument = "N",
          .help = "of a grid",
          .lower = 1,
          .upper = 100000,
          .given = &rig_given },
        { .name = "distance",
          .type = CLI_REAL,
          .value = &s.place.distance,
          .argument = "D",
          .help = "from the scene's middle (default 4)",
          .lower = 0.01,
          .upper = 1e6,
          .given = &rig_given },
        { .name = "height",
          .type = CLI_REAL,
          .value = &s.place.height,
          .argument = "H",
          .help = "of the eyes above the middle",
          .lower = -1e6,
          .upper = 1e6,
          .given = &rig_given },
        { .name = "degrees",
          .type = CLI_REAL,
          .value = &s.place.degrees,
          .argument = "A",
          .help = "of an arc (default 90)",
          .lower = 0.01,
          .upper = 360,
          .given = &rig_given },
        { .name = "baseline",
          .type = CLI_REAL,
          .value = &s.place.baseline,
          .argument = "D",
          .help = "between neighbours of a pair or grid (default a tenth of the distance)",
          .lower = 1e-6,
          .upper = 1e6,
          .given = &rig_given },
        { .name = "fov",
          .type = CLI_REAL,
          .value = &s.place.fov,
          .argument = "DEGREES",
          .help = "vertical (default 40)",
          .lower = 0.1,
          .upper = 179,
          .given = &rig_given },
        { .name = "size", .type = CLI_SIZE2, .value = &s.size, .help = "pixels (default 640,480)", .lower = 1, .upper = 65536, .given = &rig_given },
        { .name = "k1",
          .type = CLI_REAL,
          .value = &s.k1,
          .argument = "K",
          .help = "the lenses distort (r = 1 at half the width)",
          .lower = -0.5,
          .upper = 0.5 },
        { .name = "backdrop", .type = CLI_FLAG, .value = &s.look.backdrop, .help = "walls 6 units away all round" },
        { .name = "untextured", .type = CLI_FLAG, .value = &s.look.untextured, .help = "plain colours" },
        { .name = "supersampling",
          .type = CLI_INT,
          .value = &s.look.supersampling,
          .argument = "N",
          .help = "N x N rays per pixel (default 4)",
          .lower = 1,
          .upper = 16 },
        { .name = "noise",
          .type = CLI_REAL,
          .value = &s.look.noise,
          .argument = "SIGMA",
          .help = "Gaussian, grey values",
          .lower = 0,
          .upper = 1000 },
        { .name = "blur",
          .type = CLI_REAL,
          .value = &s.look.blur,
          .argument = "PIXELS",
          .help = "sigma of a Gaussian blur",
          .lower = 0,
          .upper = 100 },
        { .name = "gain-spread",
          .type = CLI_REAL,
          .value = &s.gain_spread,
          .argument = "SHARE",
          .help = "brightness of the cameras from 1 - SHARE to 1 + SHARE",
          .lower = 0,
          .upper = 0.9 },
        { .name = "points",
          .type = CLI_COUNT,
          .value = &s.points,
          .argument = "N",
          .help = "points of the surface in the camera file as well",
          .lower = 0,
          .upper = 1e7 },
        { .name = "seed", .type = CLI_COUNT, .value = &s.seed, .argument = "N", .help = "of the noise", .lower = 0, .upper = 9e18 },
        { .name = "depth", .type = CLI_CHOICE, .value = &s.depth_file, .argument = "FILE", .help = "depths as", .choices = "npy pfm png none" },
        { .name = "encoding",
          .type = CLI_CHOICE,
          .value = &s.encoding,
          .argument = "NAME",
          .help = "of the depths",
          .choices = "eye ndc window eye_linear radial inverse disparity" },
        { .name = "bits",
          .type = CLI_INT,
          .value = &s.bits,
          .argument = "N",
          .help = "of depths that are whole numbers: 8 or 16 (default: real numbers; png: 16)",
          .lower = 1,
          .upper = 16 },
        { 0 },
    };
    cli->verb = &verb;
    int code = cli_parse(cli, options, 0, 1, argc, argv);
    if (code >= 0) return code;
    if (s.list) return list_scenes(cli);
    if (cli->inputs != 1) return cli_usage(cli, "no name given: see tessera make scene --list");
    if (!s.output) return cli_usage(cli, "no output: expected -o FOLDER");
    if (s.cameras && rig_given) return cli_usage(cli, "--cameras: options of a layout given as well, expected one of them");
    if (s.depth_file == DEPTH_PNG && !s.bits) s.bits = 16;
    if (s.bits && s.depth_file == DEPTH_PFM) return cli_usage(cli, "--bits: pfm holds real numbers, expected --depth npy or png");
    if (s.bits && s.bits != 8 && s.bits != 16) return cli_usage(cli, "--bits: '%d' given, expected 8 or 16", (int)s.bits);
    int known = 0;
    const tsr_analytic_info *info = NULL;
    for (int32_t i = 0; (info = tsr_analytic_at(i)); i++) known |= !strcmp(info->name, cli->input[0]);
    if (!known) return cli_usage(cli, "no scene '%s': see tessera make scene --list", cli_shown(cli->input[0]));
    s.look.threads = cli->globals.threads;
    return work(&s);
}
