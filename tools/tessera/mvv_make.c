/* tools/tessera/mvv_make.c: `tessera mvv make`: textures from meshes, cameras and their pictures or films. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mvv.h"
#include "rigs.h"

typedef struct making {
    cli_call *cli;
    const char *output, *meshes, *cameras, *atlas;
    cli_rig how;
    tsr_size3 size;
    tsr_multiview_model_options read;
    int sampling, report, rate_given;
    int32_t fraction[2]; /* the rate, as a film has it */
    double rate, jitter;
    int64_t seed, first;
    tsr_context *context;
    tsr_multiview_model *model;
    tsr_rig *rig;
    tsr_texturer *texturer;
    tsr_multiview *textures;
    tsr_multiview_parts parts;
    int64_t *entry; /* of the rig, for each camera's first mention */
    tsr_video_reader **film;
    double seconds;
} making;

/* ---- pictures ---------------------------------------------------------------------------------------------------------------------- */

/* The entry of the rig with a camera's name and frame, else the one without a frame. */
static tsr_status find_entry(const making *m, int32_t c, int64_t frame, tsr_rig_camera *found)
{
    tsr_rig_camera own;
    tsr_status status = tsr_rig_get(m->rig, m->entry[c], found);
    for (int64_t i = m->entry[c] + 1; i < tsr_rig_count(m->rig) && status == TSR_OK && found->frame != TSR_RIG_STATIC && found->frame != frame; i++) {
        status = tsr_rig_get(m->rig, i, &own);
        if (status == TSR_OK && own.frame == frame && !strcmp(own.name, found->name)) *found = own;
    }
    return status;
}

/* Films begin with the first mesh there is: so many frames lie before the mesh of --first. */
static tsr_status frames_before(const making *m, int64_t *frames)
{
    tsr_rig *none = NULL;
    char path[4096];
    *frames = 0;
    tsr_status status = tsr_rig_create(&none);
    for (int32_t n = 0; n <= 9 && n < m->first && !*frames && status == TSR_OK; n++) {
        status = tsr_rig_path(none, m->meshes, n, path, sizeof path);
        if (status == TSR_OK && access(path, F_OK) == 0) *frames = m->first - n;
    }
    tsr_rig_destroy(&none);
    return status;
}

static tsr_status open_film(const making *m, const char *path, tsr_video_reader **film)
{
    int64_t before;
    int more = 1;
    tsr_status status = frames_before(m, &before);
    if (status == TSR_OK) status = tsr_video_reader_create(path, NULL, film);
    for (; status == TSR_OK && more && before > 0; before--) {
        tsr_image image = { 0 };
        status = tsr_video_reader_next(*film, &image, &more);
        tsr_image_destroy(&image);
    }
    return status;
}

static double rate_of(const tsr_video_reader *film)
{
    const int32_t *rate = tsr_video_reader_info(film)->rate;
    return rate[0] > 0 && rate[1] > 0 ? (double)rate[0] / rate[1] : 0;
}

/* Steps are as far apart as frames of the films: it is at them that an animation is looked at. */
static void take_rate(making *m, const tsr_rig_read_options *how)
{
    tsr_rig *rig = NULL;
    tsr_rig_camera one;
    char path[4096];
    double rate = 0;
    if (m->rate_given || strchr(m->cameras, '%')) return;
    tsr_status status = tsr_rig_read(m->cameras, how, &rig);
    for (int64_t i = 0; status == TSR_OK && i < tsr_rig_count(rig) && !(rate > 0); i++) {
        tsr_video_reader *film = NULL;
        status = tsr_rig_get(rig, i, &one);
        if (status != TSR_OK || !*one.image || strchr(one.image, '%')) continue;
        status = tsr_rig_path(rig, one.image, 0, path, sizeof path);
        if (status != TSR_OK || access(path, R_OK) || !tsr_video_recognise(path)) continue;
        status = tsr_video_reader_create(path, NULL, &film);
        if (status != TSR_OK) continue;
        rate = rate_of(film);
        memcpy(m->fraction, tsr_video_reader_info(film)->rate, sizeof m->fraction);
        tsr_video_reader_destroy(&film);
    }
    if (rate > 0) m->rate = rate;
    tsr_rig_destroy(&rig); /* what is wrong with it is said when it is read with the meshes */
}

static int open_films(making *m)
{
    m->entry = (int64_t *)calloc((size_t)m->parts.cameras, sizeof *m->entry);
    m->film = (tsr_video_reader **)calloc((size_t)m->parts.cameras, sizeof *m->film);
    if (!m->entry || !m->film) return cli_error(m->cli, CLI_FAILED, "out of memory");
    int32_t count = 0, still = 0;
    char first[4096];
    for (int64_t i = 0; i < tsr_rig_count(m->rig) && count < m->parts.cameras; i++) { /* as the model counts them: by their first mention */
        tsr_rig_camera own, before;
        int known = 0;
        if (tsr_rig_get(m->rig, i, &own) != TSR_OK) continue;
        for (int32_t c = 0; c < count && !known; c++) known = tsr_rig_get(m->rig, m->entry[c], &before) == TSR_OK && !strcmp(before.name, own.name);
        if (known) continue;
        m->entry[count] = i;
        if (!*own.image) return cli_error(m->cli, CLI_FAILED, "%s: camera '%s' names no picture", m->cameras, cli_shown(own.name));
        char path[4096];
        tsr_status status = tsr_rig_path(m->rig, own.image, (int32_t)m->first, path, sizeof path);
        if (status == TSR_OK && !strchr(own.image, '%') && tsr_video_recognise(path)) status = open_film(m, path, &m->film[count]);
        if (status != TSR_OK) return cli_status(m->cli, status, NULL);
        const double rate = m->film[count] ? rate_of(m->film[count]) : 0;
        if (!m->rate_given && rate > 0 && (rate > 1.001 * m->rate || rate < 0.999 * m->rate))
            return cli_error(m->cli, CLI_FAILED, "%s: %g frames a second, films before it %g: expected films of one rate, or --rate",
                             cli_shown(own.image), rate, m->rate);
        if (!m->film[count] && own.frame == TSR_RIG_STATIC && !strchr(own.image, '%') && !still++) snprintf(first, sizeof first, "%s", path);
        count++;
    }
    if (still && m->parts.steps > 1)
        cli_note(m->cli,
                 "%d of %d cameras have one picture for all %d steps, such as %s: expected paths with %%04d or a film, or a picture for each frame",
                 (int)still, (int)count, (int)m->parts.steps, cli_shown(first));
    return CLI_OK;
}

/* A picture with the number before the first mesh's: who counts pictures from 0 and meshes from 1 has another picture for each mesh. */
static void look_before(const making *m, int first_given)
{
    tsr_rig_camera own;
    char path[4096];
    if (first_given || m->first < 1 || tsr_rig_get(m->rig, m->entry[0], &own) != TSR_OK || !strchr(own.image, '%')) return;
    if (tsr_rig_path(m->rig, own.image, (int32_t)m->first - 1, path, sizeof path) != TSR_OK || access(path, F_OK)) return;
    cli_note(m->cli, "pictures are numbered as the meshes, from %d on: %s, before them, is not used", (int)m->first, cli_shown(path));
}

static int load_pictures(making *m, int32_t step, tsr_image *pictures)
{
    for (int32_t c = 0; c < m->parts.cameras; c++) {
        const int32_t *size = m->parts.picture + 2 * c;
        char path[4096];
        tsr_rig_camera own;
        int more = 1;
        tsr_status status = find_entry(m, c, m->first + step, &own);
        if (status == TSR_OK && m->film[c]) {
            status = tsr_video_reader_next(m->film[c], &pictures[c], &more);
            if (status == TSR_OK && !more)
                return cli_error(m->cli, CLI_FAILED,
                                 "%s: the film of camera '%s' ends after %d frames, but there are meshes of %d steps (--steps: fewer)",
                                 cli_shown(own.image), cli_shown(own.name), (int)step, (int)m->parts.steps);
        } else if (status == TSR_OK) {
            status = tsr_rig_path(m->rig, own.image, (int32_t)(m->first + step), path, sizeof path);
            if (status == TSR_OK) status = tsr_rig_read_image(&own, path, NULL, &pictures[c]);
            if (status != TSR_OK)
                return cli_error(m->cli, CLI_FAILED, "the picture of camera '%s' for step %d of %d: %s%s", cli_shown(own.name), (int)step,
                                 (int)m->parts.steps, tsr_error_message(), step && status == TSR_ERROR_IO ? " (--steps: fewer)" : "");
        }
        if (status != TSR_OK) return cli_status(m->cli, status, NULL);
        if (pictures[c].width != size[0] || pictures[c].height != size[1])
            return cli_error(m->cli, CLI_FAILED, "%s: camera '%s' has a picture of %d x %d pixels at step %d, expected the %d x %d of %s",
                             m->film[c] ? cli_shown(own.image) : path, cli_shown(own.name), (int)pictures[c].width, (int)pictures[c].height,
                             (int)step, (int)size[0], (int)size[1], m->cameras);
    }
    return CLI_OK;
}

/* ---- the work ---------------------------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int make_step(making *m, int32_t step, const tsr_multiview_view *v)
{
    tsr_image *pictures = (tsr_image *)calloc((size_t)m->parts.cameras, sizeof *pictures);
    if (!pictures) return cli_error(m->cli, CLI_FAILED, "out of memory");
    int code = load_pictures(m, step, pictures);
    if (!code) {
        const size_t texels = (size_t)v->cameras * (size_t)v->height * (size_t)v->width,
                     words = (size_t)v->cameras * (size_t)v->height * (size_t)((v->width + 63) / 64);
        uint8_t *plane[3];
        for (int k = 0; k < 3; k++) plane[k] = v->plane[k] + (size_t)step * texels;
        const double begun = now();
        tsr_status status =
            tsr_texturer_step(m->texturer, step, pictures, (tsr_texture_sampling)m->sampling, plane, v->visible + (size_t)step * words);
        if (status == TSR_OK) status = tsr_context_synchronize(m->context);
        m->seconds += now() - begun;
        if (status != TSR_OK) code = cli_status(m->cli, status, NULL);
    }
    for (int32_t c = 0; c < m->parts.cameras; c++) tsr_image_destroy(&pictures[c]);
    free(pictures);
    return code;
}

static tsr_status describe(making *m)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const int film = m->fraction[0] > 0 && m->fraction[1] > 0;
    const int32_t rate[2] = { film ? m->fraction[0] : (int32_t)(m->rate * 1000 + 0.5), film ? m->fraction[1] : 1000 };
    tsr_status status = tsr_multiview_model_pack(m->model, &bytes, &size);
    if (status == TSR_OK) status = tsr_multiview_set_model_bytes(m->textures, bytes, size);
    if (status == TSR_OK) status = tsr_multiview_set_rate(m->textures, rate);
    for (int32_t c = 0; c < m->parts.cameras && status == TSR_OK; c++) {
        tsr_rig_camera own;
        status = tsr_rig_get(m->rig, m->entry[c], &own);
        if (status == TSR_OK) status = tsr_multiview_set_camera_name(m->textures, c, own.name);
    }
    free(bytes);
    return status;
}

static int gather(making *m)
{
    tsr_multiview_model *moved = NULL;
    tsr_rig_read_options rig = m->how.read;
    rig.width = (int32_t)m->how.size.x;
    rig.height = (int32_t)m->how.size.y;
    rig.geocast_matrix = (tsr_geocast_matrix)m->how.matrix;
    rig.geocast_half_window = m->how.half;
    take_rate(m, &rig);
    m->read.rig = &rig;
    m->read.atlas = m->atlas;
    m->read.width = (int32_t)m->size.x;
    m->read.height = (int32_t)m->size.y;
    m->read.first = m->first;
    m->read.rate = m->rate;
    m->read.progress = cli_progress(m->cli);
    tsr_status status = tsr_multiview_model_read(m->meshes, m->cameras, &m->read, &m->model, &m->rig);
    cli_progress_end(m->cli);
    if (status == TSR_OK && m->jitter > 0) {
        status = tsr_multiview_model_jitter(m->model, m->jitter, 1, (uint64_t)m->seed, &moved);
        if (status == TSR_OK) {
            tsr_multiview_model_destroy(&m->model);
            m->model = moved;
        }
    }
    if (status != TSR_OK) return cli_status(m->cli, status, NULL);
    m->parts = tsr_multiview_model_parts(m->model);
    int32_t first = 0, last = 0;
    const int first_given = m->first > 0;
    tsr_rig_sequence(m->rig, &first, &last);
    m->first = first; /* the number of the first mesh there is, where --first does not say it */
    const int code = open_films(m);
    if (!code) look_before(m, first_given);
    return code;
}

static void show(const making *m, const tsr_multiview_report *r)
{
    const tsr_texturer_report a = *tsr_texturer_look(m->texturer);
    const int64_t all = (int64_t)m->parts.cameras * m->parts.steps * a.texels;
    if (a.overlapping)
        cli_note(m->cli, "%lld texels of the atlas lie in more than one triangle: the first has them%s", (long long)a.overlapping,
                 m->read.unwrap ? "" : " (--unwrap makes another atlas)");
    if (a.degenerate)
        cli_note(m->cli, "%lld of %lld triangles have no area in the atlas, and no texels%s", (long long)a.degenerate, (long long)m->parts.triangles,
                 m->read.unwrap ? "" : " (--unwrap makes another atlas)");
    if (!strcmp(m->output, "-")) { /* standard output is the file */
        cli_note(m->cli, "%d steps, %d cameras, %lld bytes", (int)m->parts.steps, (int)m->parts.cameras, (long long)r->file_bytes);
    } else if (m->cli->globals.json) {
        json_open(NULL, '{');
        json_text("output", m->output);
        json_int("steps", m->parts.steps);
        json_int("cameras", m->parts.cameras);
        json_int("triangles", m->parts.triangles);
        json_int("atlas_texels", a.texels);
        json_int("overlapping_texels", a.overlapping);
        json_int("degenerate_triangles", a.degenerate);
        json_int("empty_triangles", a.empty);
        json_int("visible_texels", r->relevant);
        json_int("model_bytes", r->model_bytes);
        json_int("bytes", r->file_bytes);
        json_real("seconds_per_step", m->seconds / m->parts.steps);
        json_close('}');
    } else {
        printf("%s: %d steps, %d cameras, %lld triangles\n", m->output, (int)m->parts.steps, (int)m->parts.cameras, (long long)m->parts.triangles);
        printf("atlas: %lld of %lld texels have a triangle; of these a camera sees %.1f %%\n", (long long)a.texels,
               (long long)m->parts.width * m->parts.height, all ? 100.0 * (double)r->relevant / (double)all : 0.0);
        printf("%lld bytes, the model %lld of them; textures of a step took %.1f ms\n", (long long)r->file_bytes, (long long)r->model_bytes,
               1e3 * m->seconds / m->parts.steps);
    }
}

static int work(making *m)
{
    tsr_multiview_view v = { 0 };
    int code = gather(m);
    if (!code) code = cli_context(m->cli, &m->context);
    if (code) return code;
    tsr_status status = tsr_texturer_create(m->context, m->model, &m->texturer);
    if (status == TSR_OK)
        status = tsr_multiview_create(m->context, m->parts.width, m->parts.height, m->parts.cameras, m->parts.steps, 1, &m->textures);
    if (status == TSR_OK) status = tsr_multiview_view_of(m->textures, &v);
    if (status == TSR_OK) status = tsr_texturer_copy_atlas(m->texturer, v.atlas);
    if (status == TSR_OK) status = describe(m);
    if (status != TSR_OK) return cli_status(m->cli, status, NULL);
    const tsr_texturer_report *atlas = tsr_texturer_look(m->texturer);
    if (!atlas->texels)
        return cli_error(m->cli, CLI_FAILED,
                         "%s: of %lld triangles none has a texel: %lld have no area in the atlas, %lld less than one of %d x %d texels takes: "
                         "expected an unwrapped mesh, or --unwrap",
                         m->meshes, (long long)m->parts.triangles, (long long)atlas->degenerate, (long long)atlas->empty, (int)m->parts.width,
                         (int)m->parts.height);
    const tsr_progress progress = cli_progress(m->cli);
    for (int32_t t = 0; t < m->parts.steps && !code; t++) {
        code = make_step(m, t, &v);
        if (!code && progress.report && progress.report(progress.user, (t + 1.0) / m->parts.steps, "textures"))
            code = cli_error(m->cli, CLI_FAILED, "stopped at step %d", (int)t);
    }
    cli_progress_end(m->cli);
    if (code) return code;
    tsr_multiview_report report = TSR_MULTIVIEW_REPORT;
    tsr_multiview_write_options write = TSR_MULTIVIEW_WRITE_OPTIONS;
    write.overwrite = m->cli->globals.force;
    write.progress = cli_progress(m->cli);
    status = tsr_multiview_write(m->textures, m->output, &write, &report);
    cli_progress_end(m->cli);
    if (status != TSR_OK) return cli_status(m->cli, status, m->output);
    show(m, &report);
    return CLI_OK;
}

static void drop(making *m)
{
    for (int32_t c = 0; m->film && c < m->parts.cameras; c++) tsr_video_reader_destroy(&m->film[c]);
    free(m->film);
    free(m->entry);
    tsr_multiview_destroy(&m->textures);
    tsr_texturer_destroy(&m->texturer);
    tsr_context_destroy(&m->context);
    tsr_multiview_model_destroy(&m->model);
    tsr_rig_destroy(&m->rig);
}

static int run(cli_call *cli, int argc, char **argv)
{
    making m = { .cli = cli, .how = CLI_RIG, .read = TSR_MULTIVIEW_MODEL_OPTIONS, .size = { 512, 512, 1 }, .rate = 25 };
    int given[3] = { 0 };
    char meshes[4200], cameras[4200];
    struct stat about;
    const cli_option options[] = {
        { .name = "output", .letter = 'o', .type = CLI_TEXT, .value = &m.output, .argument = "FILE.mvv", .help = "the textures, uncoded" },
        { .name = "meshes",
          .type = CLI_TEXT,
          .value = &m.meshes,
          .argument = "PATH",
          .help = "numbered meshes of one topology, OBJ or PLY with texture coordinates (default: FOLDER/mesh-%04d.obj), or a glTF scene with an "
                  "animation" },
        { .name = "cameras",
          .type = CLI_TEXT,
          .value = &m.cameras,
          .argument = "PATH",
          .help = "the cameras and their pictures or films; with %d: a file for every step (default: FOLDER/cameras.json)" },
        { .name = "animation", .type = CLI_TEXT, .value = &m.read.animation, .argument = "NAME", .help = "of a glTF scene (default: its first)" },
        { .name = "atlas",
          .type = CLI_TEXT,
          .value = &m.atlas,
          .argument = "FILE.obj",
          .help = "whose texture coordinates all meshes have, which may then be PLY ..." },
        { .name = "unwrap",
          .type = CLI_FLAG,
          .value = &m.read.unwrap,
          .help = "an atlas is made: for meshes of any format without one, or whose charts lie over one another" },
        { .name = "size", .type = CLI_SIZE2, .value = &m.size, .help = "texels of the atlas (default 512,512)", .lower = 1, .upper = 8192 },
        { .name = "first",
          .type = CLI_COUNT,
          .value = &m.first,
          .argument = "N",
          .help = "number of the first mesh and picture (default: of 0 to 9 the first that is there, with which films begin)",
          .lower = 0,
          .upper = 1e9 },
        { .name = "steps",
          .type = CLI_INT,
          .value = &m.read.steps,
          .argument = "N",
          .help = "at most (default: as many as there are)",
          .lower = 1,
          .upper = 1 << 20 },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &m.rate,
          .given = &m.rate_given,
          .argument = "R",
          .help = "steps a second (default: the films', else 25)",
          .lower = 0.001,
          .upper = 1e6 },
        { .name = "sampling",
          .type = CLI_CHOICE,
          .value = &m.sampling,
          .argument = "HOW",
          .help = "of pictures; ewa: for pictures finer than the atlas",
          .choices = "bilinear ewa" },
        { .name = "bias",
          .type = CLI_REAL,
          .value = &m.read.rules.bias,
          .given = &given[0],
          .argument = "QUANTA",
          .help = "of the depth test (default 1.5; 0 or below: none)",
          .lower = -1,
          .upper = 1e6 },
        { .name = "slope",
          .type = CLI_REAL,
          .value = &m.read.rules.slope,
          .given = &given[1],
          .argument = "TIMES",
          .help = "the change of depth over a texel is added so often (default 0.125; 0 or below: never)",
          .lower = -1,
          .upper = 1e6 },
        { .name = "slope-most",
          .type = CLI_REAL,
          .value = &m.read.rules.slope_most,
          .given = &given[2],
          .argument = "SHARE",
          .help = "of the range of depths, at most (default 1/16; 0 or below: nothing)",
          .lower = -1,
          .upper = 1 },
        { .name = "cos-min",
          .type = CLI_REAL,
          .value = &m.read.rules.cos_min,
          .argument = "C",
          .help = "flatter views are not taken",
          .lower = 0,
          .upper = 1 },
        { .name = "vote", .type = CLI_FLAG, .value = &m.read.rules.vote, .help = "two of four texels of the depth map decide" },
        { .name = "scale",
          .type = CLI_INT,
          .value = &m.read.rules.scale,
          .argument = "N",
          .help = "of depth maps over pictures (default 2, of pictures up to 512 x 512 3)",
          .lower = 1,
          .upper = 8 },
        { .name = "jitter",
          .type = CLI_REAL,
          .value = &m.jitter,
          .argument = "SIGMA",
          .help = "moves the meshes by so much in each step: what a wrong pose costs",
          .lower = 0,
          .upper = 1e6 },
        { .name = "seed", .type = CLI_COUNT, .value = &m.seed, .argument = "N", .help = "of the jitter", .lower = 0, .upper = 9e18 },
        CLI_RIG_OPTIONS(m.how),
        { 0 },
    };
    int code = cli_parse(cli, options, 0, 1, argc, argv);
    if (code >= 0) return code;
    if (!cli->inputs && (!m.meshes || !m.cameras)) return cli_usage(cli, "expected a FOLDER, or --meshes and --cameras");
    if (!m.output) return cli_usage(cli, "no output: expected -o FILE.mvv");
    double *const rule[3] = { &m.read.rules.bias, &m.read.rules.slope, &m.read.rules.slope_most };
    for (int k = 0; k < 3; k++)
        if (given[k] && *rule[k] == 0) *rule[k] = -1; /* the library's 0 is its default, and below 0 it is nothing */
    if (cli->inputs) {
        if (strlen(cli->input[0]) > 4000 || strchr(cli->input[0], '%'))
            return cli_usage(cli, "'%s': a path of at most 4000 bytes without %%", cli_shown(cli->input[0]));
        if (!stat(cli->input[0], &about) && !S_ISDIR(about.st_mode))
            return cli_usage(
                cli,
                "'%s' is a file, expected a folder with mesh-0000.obj and cameras.json: a glTF scene is given by --meshes, its cameras by --cameras",
                cli_shown(cli->input[0]));
        snprintf(meshes, sizeof meshes, "%s/mesh-%%04d.obj", cli->input[0]);
        snprintf(cameras, sizeof cameras, "%s/cameras.json", cli->input[0]);
        if (!m.meshes) m.meshes = meshes;
        if (!m.cameras) m.cameras = cameras;
    }
    code = cli_check_output(cli, m.output);
    if (!code) code = work(&m);
    drop(&m);
    return code;
}

const cli_verb mvv_make = {
    "mvv make", "[options] [FOLDER] -o FILE.mvv", "Textures of a moving mesh from the pictures of cameras round it",
    "  tessera make mvv dancer --steps 4 -o dancer\n"
    "  tessera mvv make dancer -o dancer.mvv\n"
    "  tessera mvv make --meshes 'dancer/mesh-%04d.obj' --cameras dancer/cameras.json --size 256,256 --sampling ewa -o small.mvv\n",
    run
};
