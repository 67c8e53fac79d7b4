/* tools/tessera/make_mvv.c: `tessera make mvv`: generated footage of a moving thing by many cameras, in a folder: meshes, cameras, pictures. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "make.h"

typedef struct footage {
    cli_call *cli;
    const char *output;
    tsr_size3 size;
    int64_t seed;
    tsr_footage_options o;
    tsr_footage *footage;
    tsr_multiview_parts parts;
} footage;

static int make_folder(const footage *f, const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return cli_error(f->cli, CLI_FAILED, "%s: cannot make the folder: %s", cli_shown(path), strerror(errno));
    return CLI_OK;
}

/* A mesh with its places in the atlas as an OBJ file: every number comes back with the same bits. */
static int write_mesh(const footage *f, int32_t step)
{
    const tsr_multiview_parts *p = &f->parts;
    const size_t room = 96 + (size_t)(p->vertices * 64 + p->places * 48 + p->triangles * 80);
    char path[4096], *text = (char *)malloc(room), *at = text;
    if (!text) return cli_error(f->cli, CLI_FAILED, "out of memory");
    const float *position = p->position + (int64_t)step * p->vertices * 3;
    at += sprintf(at, "# tessera make mvv %s: step %d\n", f->cli->input[0], (int)step);
    for (int64_t i = 0; i < p->vertices; i++)
        at += sprintf(at, "v %.9g %.9g %.9g\n", (double)position[3 * i], (double)position[3 * i + 1], (double)position[3 * i + 2]);
    for (int64_t i = 0; i < p->places; i++) at += sprintf(at, "vt %.9g %.9g\n", (double)p->place[2 * i], (double)p->place[2 * i + 1]);
    for (int64_t i = 0; i < p->triangles; i++) {
        const uint32_t *v = p->triangle + 3 * i, *c = p->corner + 3 * i;
        at += sprintf(at, "f %u/%u %u/%u %u/%u\n", v[0] + 1, c[0] + 1, v[1] + 1, c[1] + 1, v[2] + 1, c[2] + 1);
    }
    snprintf(path, sizeof path, "%s/mesh-%04d.obj", f->output, (int)step);
    const int code = cli_write_text(f->cli, path, text);
    free(text);
    return code;
}

static int write_cameras(const footage *f)
{
    tsr_rig *rig = NULL;
    char path[4096];
    tsr_status status = tsr_rig_create(&rig);
    for (int32_t c = 0; c < f->parts.cameras && status == TSR_OK; c++) {
        char name[32], image[64];
        snprintf(name, sizeof name, "camera%02d", (int)c);
        snprintf(image, sizeof image, "camera%02d/%%04d.png", (int)c);
        const tsr_rig_camera one = { .name = name,
                                     .image = image,
                                     .width = f->parts.picture[2 * c],
                                     .height = f->parts.picture[2 * c + 1],
                                     .camera = f->parts.camera[c],
                                     .frame = TSR_RIG_STATIC };
        status = tsr_rig_add(rig, &one);
    }
    if (status == TSR_OK) {
        tsr_rig_write_options write = TSR_RIG_WRITE_OPTIONS;
        write.overwrite = f->cli->globals.force;
        write.format = "transforms";
        tsr_rig_set_sequence(rig, 0, f->parts.steps - 1);
        snprintf(path, sizeof path, "%s/cameras.json", f->output);
        status = tsr_rig_write(rig, path, &write);
    }
    tsr_rig_destroy(&rig);
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, NULL);
}

static int write_picture(const footage *f, int32_t step, int32_t camera)
{
    char path[4096];
    tsr_image image = { 0 };
    snprintf(path, sizeof path, "%s/camera%02d/%04d.png", f->output, (int)camera, (int)step);
    const tsr_write_options write = cli_write_options(f->cli);
    tsr_status status = tsr_footage_picture(f->footage, step, camera, &image);
    if (status == TSR_OK) status = tsr_image_write(&image, path, &write);
    tsr_image_destroy(&image);
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, NULL);
}

static int work(footage *f)
{
    char path[4096];
    tsr_status status = tsr_footage_create(&f->o, &f->footage);
    if (status != TSR_OK) return cli_status(f->cli, status, NULL);
    f->parts = tsr_multiview_model_parts(tsr_footage_model(f->footage));
    int code = make_folder(f, f->output);
    for (int32_t c = 0; c < f->parts.cameras && !code; c++) {
        snprintf(path, sizeof path, "%s/camera%02d", f->output, (int)c);
        code = make_folder(f, path);
    }
    if (!code) code = write_cameras(f);
    const tsr_progress progress = cli_progress(f->cli);
    for (int32_t t = 0; t < f->parts.steps && !code; t++) {
        code = write_mesh(f, t);
        for (int32_t c = 0; c < f->parts.cameras && !code; c++) code = write_picture(f, t, c);
        if (!code && progress.report && progress.report(progress.user, (t + 1.0) / f->parts.steps, "steps"))
            code = cli_error(f->cli, CLI_FAILED, "stopped after step %d", (int)t);
    }
    cli_progress_end(f->cli);
    if (!code && f->cli->globals.json) {
        json_open(NULL, '{');
        json_text("scene", f->cli->input[0]);
        json_text("folder", f->output);
        json_int("steps", f->parts.steps);
        json_int("cameras", f->parts.cameras);
        json_int("triangles", f->parts.triangles);
        json_close('}');
    } else if (!code) {
        printf("%s: %d steps of %lld triangles, %d cameras of %d x %d pixels\n", f->output, (int)f->parts.steps, (long long)f->parts.triangles,
               (int)f->parts.cameras, (int)f->o.width, (int)f->o.height);
    }
    return code;
}

int make_mvv(cli_call *cli, int argc, char **argv)
{
    static const cli_verb verb = { "make mvv", "[options] dancer|sphere|cube -o FOLDER",
                                   "Footage of a moving thing by many cameras: numbered meshes with an atlas, cameras.json, pictures",
                                   "  tessera make mvv dancer --steps 4 -o dancer\n"
                                   "  tessera make mvv sphere --steps 2 --cameras 4 --phong 0.5 --noise 2 -o sphere\n"
                                   "  tessera make mvv cube --steps 1 --k1 -0.1 -o cube\n",
                                   NULL };
    footage f = { .cli = cli, .o = TSR_FOOTAGE_OPTIONS, .size = { 320, 240, 1 } };
    const cli_option options[] = {
        { .name = "output", .letter = 'o', .type = CLI_TEXT, .value = &f.output, .argument = "FOLDER", .help = "made if it is not there" },
        { .name = "steps", .type = CLI_INT, .value = &f.o.steps, .argument = "N", .help = "25 a second (default 40)", .lower = 1, .upper = 100000 },
        { .name = "cameras", .type = CLI_INT, .value = &f.o.cameras, .argument = "N", .help = "in a ring (default 8)", .lower = 1, .upper = 256 },
        { .name = "size", .type = CLI_SIZE2, .value = &f.size, .help = "of pictures (default 320,240)", .lower = 1, .upper = 4096 },
        { .name = "atlas",
          .type = CLI_INT,
          .value = &f.o.atlas,
          .argument = "N",
          .help = "texels a side that charts keep apart for (default 512)",
          .lower = 64,
          .upper = 8192 },
        { .name = "detail",
          .type = CLI_INT,
          .value = &f.o.detail,
          .argument = "N",
          .help = "segments round a part, a multiple of 4 (default 32)",
          .lower = 8,
          .upper = 256 },
        { .name = "distance",
          .type = CLI_REAL,
          .value = &f.o.distance,
          .argument = "D",
          .help = "of the cameras from the middle (default 3.6)",
          .lower = 1.2,
          .upper = 1e6 },
        { .name = "fov", .type = CLI_REAL, .value = &f.o.fov, .argument = "DEGREES", .help = "vertical (default 36)", .lower = 0.1, .upper = 170 },
        { .name = "supersampling",
          .type = CLI_INT,
          .value = &f.o.supersampling,
          .argument = "N",
          .help = "N x N rays per pixel (default 3)",
          .lower = 1,
          .upper = 8 },
        { .name = "unlit", .type = CLI_FLAG, .value = &f.o.unlit, .help = "the skin's own colours, without light" },
        { .name = "phong",
          .type = CLI_REAL,
          .value = &f.o.phong,
          .argument = "SHARE",
          .help = "highlights, which each camera sees elsewhere",
          .lower = 0,
          .upper = 1 },
        { .name = "noise",
          .type = CLI_REAL,
          .value = &f.o.noise,
          .argument = "SIGMA",
          .help = "of the sensors, grey values",
          .lower = 0,
          .upper = 1000 },
        { .name = "k1",
          .type = CLI_REAL,
          .value = &f.o.k1,
          .argument = "K",
          .help = "the lenses distort (r = 1 at half the width)",
          .lower = -0.4,
          .upper = 0.4 },
        { .name = "jitter",
          .type = CLI_REAL,
          .value = &f.o.jitter,
          .argument = "SIGMA",
          .help = "the meshes are off by so much in each step: a wrong pose",
          .lower = 0,
          .upper = 1 },
        { .name = "seed", .type = CLI_COUNT, .value = &f.seed, .argument = "N", .help = "of noise and jitter", .lower = 0, .upper = 9e18 },
        { 0 },
    };
    cli->verb = &verb;
    int code = cli_parse(cli, options, 0, 1, argc, argv);
    if (code >= 0) return code;
    if (cli->inputs != 1) return cli_usage(cli, "which scene? Expected dancer, sphere or cube");
    if (tsr_footage_parse(cli->input[0], &f.o.scene) != TSR_OK)
        return cli_usage(cli, "no scene '%s', expected dancer, sphere or cube", cli_shown(cli->input[0]));
    if (!f.output) return cli_usage(cli, "no output: expected -o FOLDER");
    if (strlen(f.output) > 3900) return cli_usage(cli, "--output: a path of more than 3900 bytes");
    f.o.width = (int32_t)f.size.x;
    f.o.height = (int32_t)f.size.y;
    f.o.seed = (uint64_t)f.seed;
    f.o.threads = cli->globals.threads;
    code = work(&f);
    tsr_footage_destroy(&f.footage);
    return code;
}
