/* tools/tessera/files.c: inputs and outputs of all verbs. */
#define _GNU_SOURCE /* access, fileno; tee */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "regions.h"
#include "tiles.h"

/* A path that every name of a file leads to, whether it is there or not (to be freed): its folder and links resolved. NULL where there is no such folder. */
static char *one_name(const char *path)
{
    char folder[4096], whole[8200], *real = realpath(path, NULL);
    struct stat about;
    if (real) return real;
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (!lstat(path, &about) && S_ISLNK(about.st_mode)) { /* its target is missing */
        const ssize_t length = readlink(path, folder, sizeof folder - 1);
        if (length <= 0) return NULL;
        folder[length] = 0;
        if (folder[0] == '/') snprintf(whole, sizeof whole, "%s", folder);
        else snprintf(whole, sizeof whole, "%.*s%s", (int)(file - path), path, folder);
        return lstat(whole, &about) || !S_ISLNK(about.st_mode) ? one_name(whole) : NULL;
    }
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    real = realpath(folder, NULL);
    if (!real) return NULL;
    snprintf(whole, sizeof whole, "%s/%s", real, file);
    free(real);
    char *made = malloc(strlen(whole) + 1);
    return made ? strcpy(made, whole) : NULL;
}

/* The names of a header and of its data, without what tells them apart. */
static size_t stem_of_pair(const char *path)
{
    static const char *const ends[] = { ".mhd", ".zraw", ".raw", ".nhdr", ".raw.gz", ".hdr", ".img" };
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (length > n && !strcmp(path + length - n, ends[i])) return length - n;
    }
    return 0;
}

static int is_header(const char *path, size_t stem)
{
    return !strcmp(path + stem, ".mhd") || !strcmp(path + stem, ".nhdr") || !strcmp(path + stem, ".hdr");
}

/* One file, or a header and the data it would write beside it. */
static int same_file(const char *a, const char *b)
{
    if (!strcmp(a, b)) return 1;
    const size_t stem = stem_of_pair(a);
    return stem && stem == stem_of_pair(b) && !strncmp(a, b, stem) && (is_header(a, stem) || is_header(b, stem));
}

/* Two results in one file would lose the first; and a result in the place of an input, where there are several, loses what was meant to be kept. */
static int check_apart(const cli_call *cli, const char *path)
{
    static struct {
        char *name, *given;
    } outputs[32]; /* copies, for the life of the process */
    static int count;
    char *name = strcmp(path, "-") ? one_name(path) : NULL, *given = malloc(strlen(path) + 1);
    if (!name) name = malloc(strlen(path) + 1), name = name ? strcpy(name, path) : NULL;
    if (!name || !given || count == (int)(sizeof outputs / sizeof *outputs)) {
        free(name);
        free(given);
        return CLI_OK;
    }
    strcpy(given, path);
    for (int i = 0; i < count; i++)
        if (same_file(outputs[i].name, name)) {
            const int code =
                strcmp(outputs[i].given, path)
                    ? cli_usage(cli, "'%s' and '%s' are one file, or a header and its data, given for two outputs, expected a file for each",
                                outputs[i].given, path)
                    : cli_usage(cli, "'%s' is given for two outputs, expected a file for each", path);
            free(name);
            free(given);
            return code;
        }
    outputs[count].name = name;
    outputs[count++].given = given;
    for (int o = count > 2 ? count - 1 : 0; o < count && count > 1; o++)
        for (int i = 0; i < cli->inputs; i++) {
            struct stat about;
            char *input = stat(cli->input[i], &about) || !S_ISREG(about.st_mode) ? NULL : one_name(cli->input[i]);
            const int same = input && same_file(outputs[o].name, input);
            free(input);
            if (same) return cli_usage(cli, "'%s' is an input, expected another file for an output", outputs[o].given);
        }
    return CLI_OK;
}

/* --add: what is written joins what is in the file. */
static int may_be_there(const cli_call *cli)
{
    for (const cli_option *o = cli->options; o && o->name; o++)
        if (!strcmp(o->name, "add") && o->type == CLI_FLAG && *(const int *)o->value) return 1;
    return cli->globals.force;
}

int cli_check_option(const cli_call *cli, const char *option, const char *path)
{
    if (!path) return cli_usage(cli, "--output: missing, expected -o FILE");
    const int apart = check_apart(cli, path);
    if (apart) return apart;
    if (!strcmp(path, "-")) return CLI_OK;
    struct stat info;
    if (stat(path, &info) == 0) {
        const size_t length = strlen(path);
        if (S_ISDIR(info.st_mode) && length > 5 && !strcmp(path + length - 5, ".zarr")) /* a folder that is one output */
            return cli->globals.force ? CLI_OK : cli_error(cli, CLI_FAILED, "--%s: '%s' exists: give --force to overwrite it", option, path);
        if (S_ISDIR(info.st_mode)) return cli_error(cli, CLI_FAILED, "--%s: '%s' is a directory, expected a file name", option, path);
        if (!S_ISREG(info.st_mode)) return CLI_OK;
        if (!may_be_there(cli)) return cli_error(cli, CLI_FAILED, "--%s: '%s' exists: give --force to overwrite it", option, path);
    }
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (access(folder, W_OK)) return cli_error(cli, CLI_FAILED, "--%s: '%s': cannot write into the folder '%s'", option, path, folder);
    return CLI_OK;
}
int cli_check_output(const cli_call *cli, const char *path) { return cli_check_option(cli, "output", path); }

/* Can the verb be told the format that the name "-" does not say? */
static int takes_format(const cli_call *cli)
{
    for (const cli_option *o = cli->options; o && o->name; o++)
        if (!strcmp(o->name, "format") && o->type == CLI_TEXT) return 1;
    return 0;
}

int cli_check_write(const cli_call *cli, const char *path, tsr_file_kind kind, const char *format)
{
    return cli_check_write_option(cli, "output", path, kind, format);
}

/* The output that is a picture of one slice: whether it can be is known, before there is work on it, once a volume is read. */
static const char *picture;

static int check_picture(const cli_call *cli, const char *path, const tsr_volume *volume)
{
    const tsr_size3 n = tsr_volume_size(volume);
    if (!picture || cli->cuts || n.z == 1 || tsr_volume_channels(volume)) return CLI_OK;
    return cli_usage(cli, "--output: '%s' is a picture of one slice, %s has %lld x %lld x %lld voxels: tessera convert --slice z=%lld takes one",
                     picture, path, (long long)n.x, (long long)n.y, (long long)n.z, (long long)(n.z / 2));
}

int cli_check_write_option(const cli_call *cli, const char *option, const char *path, tsr_file_kind kind, const char *format)
{
    int code = cli_check_option(cli, option, path);
    if (code) return code;
    tsr_write_options options = TSR_WRITE_OPTIONS;
    if (!format && kind == TSR_FILE_VOLUME) format = cli->format;
    if (!format && kind == TSR_FILE_IMAGE && !strcmp(path, "-")) format = "png"; /* there is no other */
    options.format = format;
    if (!strcmp(path, "-") && !format && !takes_format(cli))
        return cli_usage(cli, "--%s: '-' given, but this verb writes files only: expected a file name", option);
    if (!strcmp(path, "-") && !format)
        return cli_usage(cli, "--%s: '-' (standard output) has no extension, expected --format NAME beside it", option);
    tsr_status status = tsr_file_check_output(path, kind, &options);
    if (status != TSR_OK) return cli_status(cli, status, path);
    if (kind == TSR_FILE_VOLUME && tsr_file_check_output(path, TSR_FILE_IMAGE, &options) == TSR_OK) picture = path;
    return CLI_OK;
}

tsr_write_options cli_write_options(const cli_call *cli)
{
    tsr_write_options options = TSR_WRITE_OPTIONS;
    options.format = cli->format;
    options.overwrite = cli->globals.force;
    options.progress = cli_progress(cli);
    return options;
}

tsr_write_options cli_image_options(const cli_call *cli, const char *path)
{
    tsr_write_options options = cli_write_options(cli);
    options.format = strcmp(path, "-") ? NULL : "png";
    return options;
}

/* A file without a name in the folder for temporary ones. */
static int open_unnamed(void)
{
    const char *given = getenv("TMPDIR"), *folder = given && *given ? given : "/tmp";
    char name[4096];
#if defined(O_TMPFILE)
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
#endif
    if (snprintf(name, sizeof name, "%s/tessera-XXXXXX", folder) >= (int)sizeof name) return -1;
    const int named = mkostemp(name, O_CLOEXEC);
    if (named >= 0) unlink(name);
    return named;
}

/* All of a pipe into such a file, which stands at its start then; -1 and errno. */
static int keep(int from)
{
    char block[1 << 16];
    ssize_t got = 1;
    const int to = open_unnamed();
    int bad = to < 0;
    while (!bad && (got = read(from, block, sizeof block)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        bad = got < 0;
        for (ssize_t done = 0; done < got && !bad;) {
            const ssize_t step = write(to, block + done, (size_t)(got - done));
            bad = step < 0 && errno != EINTR;
            done += step > 0 ? step : 0;
        }
    }
    if (!bad && lseek(to, 0, SEEK_SET) == 0) return to;
    const int error = errno;
    if (to >= 0) close(to);
    errno = error;
    return -1;
}

int cli_rewind_input(const cli_call *cli)
{
    if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0) return CLI_OK;
    const int kept = keep(STDIN_FILENO);
    const int bad = kept < 0 || dup2(kept, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) != 0;
    const int error = errno;
    if (kept >= 0) close(kept); /* standard input holds it now */
    return bad ? cli_error(cli, CLI_FAILED, "standard input: cannot be kept in the folder for temporary files: %s", strerror(error)) : CLI_OK;
}

static struct {
    const char *given;
    char path[32];
} pipes[16]; /* for the life of the process */
static int pipe_count;

const char *cli_kept(const cli_call *cli, const char *path, int *code)
{
    struct stat about;
    for (int i = 0; i < pipe_count; i++)
        if (!strcmp(pipes[i].given, path)) return pipes[i].path;
    if (!strcmp(path, "-") || stat(path, &about) || !S_ISFIFO(about.st_mode) || pipe_count == (int)(sizeof pipes / sizeof *pipes)) return path;
    const int from = open(path, O_RDONLY | O_CLOEXEC), kept = from >= 0 ? keep(from) : -1, error = errno;
    if (from >= 0) close(from);
    if (kept < 0) {
        *code = cli_error(cli, CLI_FAILED, "%s: a pipe, which cannot be kept in the folder for temporary files: %s", path, strerror(error));
        return NULL;
    }
    pipes[pipe_count].given = path;
    snprintf(pipes[pipe_count].path, sizeof pipes->path, "/proc/self/fd/%d", kept);
    return pipes[pipe_count++].path;
}

const char *cli_given(const char *path)
{
    for (int i = 0; i < pipe_count; i++)
        if (!strcmp(pipes[i].path, path)) return pipes[i].given;
    return path;
}

void cli_name_kept(char *text, size_t room)
{
    for (int i = 0; i < pipe_count; i++) {
        const size_t old = strlen(pipes[i].path), now = strlen(pipes[i].given);
        for (char *at = strstr(text, pipes[i].path); at; at = strstr(at + now, pipes[i].path)) {
            if (strlen(text) + now >= room + old) return;
            memmove(at + now, at + old, strlen(at + old) + 1);
            memcpy(at, pipes[i].given, now);
        }
    }
}

tsr_read_options cli_limit_options(const cli_call *cli)
{
    tsr_read_options read = TSR_READ_OPTIONS;
    for (const cli_option *o = cli->options; o && o->name; o++)
        if (!strcmp(o->name, "memory-limit") && o->type == CLI_BYTES) read.memory_limit = *(const int64_t *)o->value;
    return read;
}

int cli_numbers(const char *text, double *numbers, int count)
{
    int n = 0;
    while (n < count) {
        char *stop;
        numbers[n] = strtod(text, &stop);
        if (stop == text || !isfinite(numbers[n])) break;
        n++;
        text = stop;
        while (isspace((unsigned char)*text)) text++;
        if (n < count && (*text == ',' || *text == ';')) text++;
    }
    return n == count && !*text;
}

int cli_input_is_film(void)
{
    static const char magic[] = "YUV4MPEG2 ";
    char head[sizeof magic] = { 0 };
    ssize_t got = -1;
    if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) {
        got = pread(STDIN_FILENO, head, sizeof magic - 1, 0);
#if defined(__linux__)
    } else { /* a pipe, looked at without taking anything from it */
        int ends[2];
        if (pipe(ends)) return 0;
        got = tee(STDIN_FILENO, ends[1], sizeof magic - 1, 0);
        if (got > 0) got = read(ends[0], head, (size_t)got);
        close(ends[0]);
        close(ends[1]);
#endif
    }
    return got > 0 && !memcmp(head, magic, (size_t)got); /* nothing else begins with Y */
}

int cli_is_first(const cli_call *cli, const char *path)
{
    return cli->first < 0 || cli->first >= cli->inputs || !strcmp(cli_given(path), cli->input[cli->first]);
}

int cli_no_choice(const cli_call *cli, const char *path, const tsr_read_options *o, const char *what)
{
    const char *option = o->frame_given == 1 && o->frame       ? "frame"
                         : o->layer_given == 1 && o->layer     ? "layer"
                         : o->channel_given == 1 && o->channel ? "channel"
                         : o->series_given == 1 && o->series   ? "series"
                         : o->level_given && o->level          ? "level"
                         : o->box_given                        ? "box"
                         : o->dataset                          ? "dataset"
                                                               : NULL;
    if (!option || !cli_is_first(cli, path)) return CLI_OK;
    return cli_usage(cli, "--%s: %s is %s, which has nothing of that kind to choose from", option, cli_given(path), what);
}

/* The grids of a tile list are chosen by name, where it has several. */
static int check_tiles(const cli_call *cli, const char *path, const tsr_read_options *options, const char *format)
{
    tsr_read_options own = *options;
    int grid = 0; /* the verb has a name of its own for them */
    for (const cli_option *o = cli->options; o && o->name; o++) grid |= !strcmp(o->name, "grid") && *(char *const *)o->value;
    if (strcmp(format, "tsr") || grid) own.dataset = NULL;
    if (grid && !strcmp(format, "tsr") && cli_is_first(cli, path))
        return cli_usage(cli, "--grid: %s holds no named grids, expected an .nvdb or .vdb file", cli_given(path));
    return cli_no_choice(cli, path, &own, "a tile list");
}

static int recognise(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_file_kind *kind, const char **format)
{
    int kept = CLI_OK;
    *format = options->format;
    if (options->format) {
        tsr_status status = tsr_file_format_kind(options->format, kind);
        return status == TSR_OK ? CLI_OK : cli_error(cli, CLI_USAGE, "--input-format: %s", tsr_error_message());
    }
    path = cli_kept(cli, path, &kept);
    if (!path) return kept;
    int from_input = !strcmp(path, "-"), code = from_input ? cli_rewind_input(cli) : CLI_OK;
    if (code) return code;
    tsr_status status = tsr_file_recognise(path, kind, format);
    if (status != TSR_OK && !(status == TSR_ERROR_UNSUPPORTED && options->raw_shape.x)) return cli_status(cli, status, path);
    if (from_input && (code = cli_rewind_input(cli)) != CLI_OK) return code;
    if (*kind == TSR_FILE_UNKNOWN && options->raw_shape.x) {
        *kind = TSR_FILE_VOLUME;
        *format = "raw";
    }
    cli_choose_grid(path, options->dataset, kind, format);
    if (*kind == TSR_FILE_UNKNOWN && (from_input ? cli_tree_is_file(cli, path) : tsr_region_file_recognise(path)))
        return cli_error(cli, CLI_FAILED, "%s: a region tree (rgt), expected a volume, mesh or image: octree, quadtree and info read trees", path);
    if (*kind == TSR_FILE_UNKNOWN)
        return cli_error(cli, CLI_FAILED, "%s: of no known format, expected a volume, mesh or image (raw voxels: --raw-shape and --raw-dtype)", path);
    return CLI_OK;
}

int cli_recognise_image(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_file_kind *kind, const char **format)
{
    const int code = recognise(cli, path, options, kind, format);
    return !code && *kind == TSR_FILE_TILES ? check_tiles(cli, path, options, *format) : code;
}

int cli_recognise(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_file_kind *kind, const char **format)
{
    const int code = cli_recognise_image(cli, path, options, kind, format);
    if (!code && *kind == TSR_FILE_IMAGE) *kind = TSR_FILE_VOLUME;
    return code;
}

/* What the file says and the voxels do not follow. */
static void tell_image(const cli_call *cli, const char *path, const tsr_volume *volume)
{
    const char *orientation = tsr_volume_meta(volume, "png.orientation"), *profile = tsr_volume_meta(volume, "png.profile");
    if (!tsr_volume_channels(volume)) return;
    if (orientation && strcmp(orientation, "1"))
        cli_note(cli, "%s: its EXIF orientation %s says that it is to be shown turned; rows and columns are as they lie in the file", path,
                 orientation);
    if (profile) cli_note(cli, "%s: its colour profile '%s' is not kept", path, profile);
}

double cli_forms_apart(const tsr_volume *volume, int codes[2])
{
    double form[2][3][4], apart = 0;
    if (!tsr_nifti_forms(volume, form[0], form[1], codes)) return 0;
    const tsr_size3 n = tsr_volume_size(volume);
    for (int corner = 0; corner < 8; corner++) {
        const double at[4] = { corner & 1 ? (double)(n.x - 1) : 0, corner & 2 ? (double)(n.y - 1) : 0, corner & 4 ? (double)(n.z - 1) : 0, 1 };
        double square = 0;
        for (int r = 0; r < 3; r++) {
            double difference = 0;
            for (int c = 0; c < 4; c++) difference += (form[0][r][c] - form[1][r][c]) * at[c];
            square += difference * difference;
        }
        apart = fmax(apart, sqrt(square));
    }
    const tsr_vec3 h = tsr_geometry_spacing(tsr_volume_geometry(volume));
    return apart > 0.1 * fmin(h.x, fmin(h.y, h.z)) ? apart : 0; /* quaternions of float32 are never quite the same */
}

/* Which of two forms that disagree was taken, unless the user said which. */
static void remark_forms(const cli_call *cli, const char *path, const tsr_read_options *options, const tsr_volume *volume)
{
    int codes[2];
    const char *qform = tsr_volume_meta(volume, "nifti.qform_code");
    if (options->prefer == TSR_FORM_QFORM && (!qform || strtol(qform, NULL, 10) <= 0)) cli_note(cli, "%s: --prefer qform: the file has none", path);
    const double apart = options->prefer == TSR_FORM_SFORM ? cli_forms_apart(volume, codes) : 0;
    tsr_file_kind kind; /* other formats carry the forms of a NIfTI file as metadata, which place nothing */
    const char *format = "nifti";
    if (apart > 0 && strcmp(path, "-") && tsr_file_recognise(path, &kind, &format) != TSR_OK) return;
    if (apart > 0 && format && !strncmp(format, "nifti", 5))
        cli_note(cli, "%s: sform (code %d) and qform (code %d) place voxels up to %.4g apart: the sform is taken (--prefer qform takes the other)",
                 path, codes[0], codes[1], apart);
}

tsr_volume *cli_read_volume(const cli_call *cli, const char *path, const tsr_read_options *options, int *code)
{
    tsr_read_options own = *options;
    own.progress = cli_progress(cli);
    tsr_volume *volume = NULL;
    if (!(path = cli_kept(cli, path, code))) return NULL;
    tsr_status status = TSR_ERROR_UNSUPPORTED;
    if (!cli_is_first(cli, path) && strcmp(path, "-") &&
        (own.frame_given || own.layer_given || own.channel_given)) { /* a mask beside a film needs no choice */
        tsr_read_options plain = own;
        plain.frame_given = plain.layer_given = plain.channel_given = 0;
        status = tsr_volume_read(path, &plain, &volume);
        if (own.channel_given && tsr_volume_channels(volume) > 1) { /* a picture beside one does */
            tsr_volume_destroy(&volume);
            status = TSR_ERROR_UNSUPPORTED;
        }
    }
    if (status == TSR_ERROR_UNSUPPORTED) status = tsr_volume_read(path, &own, &volume);
    cli_progress_pause();
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    else {
        tell_image(cli, path, volume);
        remark_forms(cli, path, options, volume);
    }
    if (volume && (*code = check_picture(cli, path, volume)) != CLI_OK) tsr_volume_destroy(&volume);
    if (volume && tsr_volume_channels(volume) > 1 && !cli->channels) {
        *code =
            cli_error(cli, CLI_FAILED, "%s: an image of %d channels, expected one: --channel 0 takes the first", path, tsr_volume_channels(volume));
        tsr_volume_destroy(&volume);
    }
    return volume;
}

/* An origin of its own is for verbs that ask for it (local_origin); for the others coordinates are rounded, which is said. */
static void remark_rounding(const cli_call *cli, const char *path, tsr_vec3 origin)
{
    const double far = fmax(fabs(origin.x), fmax(fabs(origin.y), fabs(origin.z)));
    int exponent;
    frexp(far, &exponent);
    cli_note(cli, "%s: lies at %.6g, %.6g, %.6g: float32, as here, rounds such coordinates to steps of %.3g", path, origin.x, origin.y, origin.z,
             ldexp(1, exponent - 24));
}

/* Of a file beside the one that is chosen in. */
static tsr_read_options without_choice(const tsr_read_options *options)
{
    tsr_read_options own = *options;
    own.frame_given = own.layer_given = own.channel_given = own.series_given = own.level_given = own.box_given = 0;
    own.dataset = NULL;
    return own;
}

tsr_mesh *cli_read_mesh(const cli_call *cli, const char *path, const tsr_read_options *options, int *code)
{
    tsr_read_options own = *options;
    own.progress = cli_progress(cli);
    own.local_origin = 1;
    tsr_mesh *mesh = NULL;
    if (!(path = cli_kept(cli, path, code))) return NULL;
    if (!cli_is_first(cli, path)) own = without_choice(&own);
    tsr_status status = tsr_mesh_read(path, &own, &mesh);
    cli_progress_pause();
    const tsr_vec3 origin = status == TSR_OK ? tsr_mesh_origin(mesh) : (tsr_vec3){ 0, 0, 0 };
    if (!options->local_origin && (origin.x != 0 || origin.y != 0 || origin.z != 0)) {
        remark_rounding(cli, path, origin);
        status = tsr_mesh_change_origin(mesh, (tsr_vec3){ 0, 0, 0 });
    }
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    else if (tsr_mesh_odd_faces(mesh))
        cli_note(cli, "%s: %lld faces cross themselves or have no area: made fans of triangles", path, (long long)tsr_mesh_odd_faces(mesh));
    return mesh;
}

void cli_show_topology(const cli_call *cli, const tsr_mesh_measures *m, const char *indent)
{
    if (cli->globals.json) {
        json_int("euler", m->euler);
        json_int("components", m->components);
        json_int("boundary_edges", m->boundary_edges);
        json_int("nonmanifold_edges", m->nonmanifold_edges);
        json_int("misoriented_edges", m->misoriented_edges);
        json_int("degenerate_triangles", m->degenerate_triangles);
        return;
    }
    printf("%stopology     %lld pieces, Euler characteristic %lld, %s\n", indent, (long long)m->components, (long long)m->euler,
           m->boundary_edges ? "open" : "closed");
    printf("%sedges        %lld boundary, %lld non-manifold, %lld misoriented; %lld degenerate triangles\n", indent, (long long)m->boundary_edges,
           (long long)m->nonmanifold_edges, (long long)m->misoriented_edges, (long long)m->degenerate_triangles);
}

void cli_remark_mesh(const cli_call *cli, const tsr_mesh *mesh, const char *path, const tsr_write_options *options)
{
    const tsr_vec3 origin = tsr_mesh_origin(mesh);
    tsr_mesh_part part;
    int keeps = 0;
    if (tsr_file_keeps_mesh(path, options, &keeps) != TSR_OK) return;
    if (tsr_mesh_colors_const(mesh) && !(keeps & TSR_MESH_COLORS))
        cli_note(cli, "%s: the colours of the vertices have no place in this format: PLY, OBJ, OFF, GLB, 3MF and VTP keep them", path);
    if (tsr_mesh_part_at(mesh, 0, &part) && !(keeps & TSR_MESH_PARTS))
        cli_note(cli, "%s: labels and groups have no place in this format: PLY, OBJ, GLB and 3MF keep them", path);
    if ((origin.x != 0 || origin.y != 0 || origin.z != 0) && !(keeps & TSR_MESH_ORIGIN)) remark_rounding(cli, path, origin);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double cli_points_spacing(const tsr_points *points)
{
    enum { LOOKED_AT = 101 };
    double nearest[LOOKED_AT];
    const int64_t n = tsr_points_count(points), looked = n < LOOKED_AT ? n : LOOKED_AT;
    const float *p = tsr_points_positions_const(points);
    for (int64_t k = 0; k < looked; k++) {
        const float *own = p + 3 * (k * (n - 1) / (looked > 1 ? looked - 1 : 1));
        float least = HUGE_VALF;
        for (int64_t i = 0; i < n; i++) {
            const float x = p[3 * i] - own[0], y = p[3 * i + 1] - own[1], z = p[3 * i + 2] - own[2], square = x * x + y * y + z * z;
            if (square < least && p + 3 * i != own) least = square;
        }
        nearest[k] = sqrt((double)least);
    }
    qsort(nearest, (size_t)looked, sizeof *nearest, ascending);
    return looked ? nearest[looked / 2] : 0;
}

tsr_points *cli_read_points(const cli_call *cli, const char *path, const tsr_read_options *options, int *code)
{
    tsr_read_options own = *options;
    own.progress = cli_progress(cli);
    own.local_origin = 1;
    tsr_points *points = NULL;
    if (!(path = cli_kept(cli, path, code))) return NULL;
    if (!cli_is_first(cli, path)) own = without_choice(&own);
    tsr_status status = tsr_points_read(path, &own, &points);
    cli_progress_pause();
    const tsr_vec3 origin = status == TSR_OK ? tsr_points_origin(points) : (tsr_vec3){ 0, 0, 0 };
    if (!options->local_origin && (origin.x != 0 || origin.y != 0 || origin.z != 0)) {
        remark_rounding(cli, path, origin);
        status = tsr_points_change_origin(points, (tsr_vec3){ 0, 0, 0 });
    }
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    return points;
}

tsr_status cli_move_volume(tsr_context *context, tsr_volume **volume)
{
    tsr_device from = tsr_volume_device(*volume);
    tsr_device to = context ? tsr_context_device(context) : (tsr_device){ TSR_DEVICE_CPU, 0 };
    if (from.kind == to.kind && from.index == to.index) return TSR_OK;
    tsr_volume *moved;
    tsr_status status = tsr_volume_copy(*volume, context, &moved);
    if (status != TSR_OK) return status;
    tsr_volume_destroy(volume);
    *volume = moved;
    return TSR_OK;
}

int32_t cli_few_values(const tsr_volume *volume, int32_t most, double *values)
{
    int32_t count = 0;
    tsr_volume *host = NULL;
    tsr_status status = TSR_OK;
    if (tsr_volume_device(volume).kind != TSR_DEVICE_CPU) status = tsr_volume_copy(volume, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_few_values(host ? host : volume, most, values, &count);
    tsr_volume_destroy(&host);
    return status == TSR_OK ? count : 0;
}

tsr_vec3 cli_far_origin(const tsr_geometry *g)
{
    const tsr_vec3 h = tsr_geometry_spacing(g);
    double far = 0;
    for (int r = 0; r < 3; r++) far = fmax(far, fabs(g->affine[r][3]));
    if (far * 0x1p-24 <= 0.01 * fmin(h.x, fmin(h.y, h.z))) return (tsr_vec3){ 0, 0, 0 };
    return (tsr_vec3){ round(g->affine[0][3]), round(g->affine[1][3]), round(g->affine[2][3]) };
}

tsr_vec3 cli_take_origin(tsr_volume *volume)
{
    tsr_geometry g = *tsr_volume_geometry(volume);
    const tsr_vec3 origin = cli_far_origin(&g), none = { 0, 0, 0 };
    g.affine[0][3] -= origin.x;
    g.affine[1][3] -= origin.y;
    g.affine[2][3] -= origin.z;
    return tsr_volume_set_geometry(volume, &g) == TSR_OK ? origin : none;
}

tsr_status cli_mask_of_two(const cli_call *cli, const char *path, tsr_context *context, const tsr_volume *volume, tsr_volume **mask)
{
    double value[2] = { 0, 0 };
    *mask = NULL;
    if (cli_few_values(volume, 2, value) != 2 || value[0] == 0 || value[1] == 0) return TSR_OK;
    if (path) cli_note(cli, "%s: a mask of the values %.9g and %.9g: %.9g is inside", path, value[0], value[1], value[1]);
    return tsr_volume_threshold(context, volume, value[1], INFINITY, mask);
}

tsr_status cli_plain_mask(const cli_call *cli, const char *path, tsr_context *context, tsr_volume **volume)
{
    tsr_volume *mask;
    const tsr_status status = cli_mask_of_two(cli, path, context, *volume, &mask);
    if (status != TSR_OK || !mask) return status;
    tsr_volume_destroy(volume);
    *volume = mask;
    return TSR_OK;
}

void cli_default_surface(const tsr_volume *volume, double *isovalue, int *inside_below)
{
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    const int real = dtype == TSR_F32 || dtype == TSR_F64;
    double value[2] = { 0, 0 };
    const int mask = cli_few_values(volume, 2, value) == 2 && isfinite(value[1] - value[0]) && !(real && value[0] < 0);
    *inside_below = real && !mask;
    *isovalue = mask ? 0.5 * (value[0] + value[1]) : real ? 0 : 0.5;
}

char *cli_read_text(const cli_call *cli, const char *path)
{
    enum { MOST = 1 << 26 };
    FILE *file = strcmp(path, "-") ? fopen(path, "rb") : stdin;
    if (!file) {
        cli_error(cli, CLI_FAILED, "%s: %s", path, strerror(errno));
        return NULL;
    }
    size_t size = 0, room = 4096;
    char *text = malloc(room);
    while (text) {
        size_t got = fread(text + size, 1, room - 1 - size, file);
        size += got;
        if (!got) break;
        if (size + 1 < room) continue;
        char *grown = room < MOST ? realloc(text, room *= 2) : NULL;
        if (!grown) free(text);
        text = grown;
    }
    int failed = ferror(file) != 0;
    if (file != stdin) fclose(file);
    const char *zero = text ? memchr(text, 0, size) : NULL;
    if (zero && !failed) {
        long long line = 1;
        for (const char *at = text; at < zero; at++) line += *at == '\n';
        cli_error(cli, CLI_FAILED, "%s:%lld: a zero byte, expected text", path, line);
        free(text);
        return NULL;
    }
    if (text && !failed) {
        text[size] = 0;
        return text;
    }
    cli_error(cli, CLI_FAILED, "%s: %s", path, failed ? "cannot be read" : "larger than 64 MiB or out of memory");
    free(text);
    return NULL;
}

int cli_write_text(const cli_call *cli, const char *path, const char *text)
{
    const tsr_write_options options = { .struct_size = sizeof options, .overwrite = cli->globals.force };
    if (!strcmp(path, "-") && fflush(stdout))
        return cli_error(cli, CLI_FAILED, "standard output: cannot be written"); /* what was printed comes first */
    const tsr_status status = tsr_text_write(text, path, &options);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}

tsr_volume *cli_read_to_device(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_context *context, int *code)
{
    tsr_volume *volume = cli_read_volume(cli, path, options, code);
    if (!volume) return NULL;
    tsr_status status = cli_move_volume(context, &volume);
    if (status == TSR_OK) return volume;
    *code = cli_status(cli, status, path);
    tsr_volume_destroy(&volume);
    return NULL;
}

int cli_ends_in(const char *path, const char *endings)
{
    const size_t n = path ? strlen(path) : 0;
    while (*endings) {
        const size_t e = strcspn(endings, " ");
        if (n > e && !strncasecmp(path + n - e, endings, e)) return 1;
        endings += e + strspn(endings + e, " ");
    }
    return 0;
}

int cli_open_planes(const cli_call *cli, const char *path, const tsr_read_options *options, tsr_planes_info *info, tsr_planes **planes)
{
    *planes = NULL;
    if (!options->memory_limit || !strcmp(path, "-")) return CLI_OK;
    tsr_status status = tsr_planes_open(path, options, planes);
    if (status == TSR_ERROR_UNSUPPORTED) return CLI_OK;
    if (status == TSR_OK) status = tsr_planes_describe(*planes, info);
    if (status != TSR_OK || info->size.x * info->size.y * (int64_t)tsr_dtype_size(info->dtype) <= options->memory_limit / info->size.z)
        tsr_planes_close(planes);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}
