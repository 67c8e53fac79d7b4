#define _GNU_SOURCE /* pipe2, execvp with O_CLOEXEC pipes, realpath */
#include "tiles.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- tessera-vdb ------------------------------------------------------------------------------------------------------------------------------ */

struct helper {
    pid_t process;
    int pipe;
    char place[32];   /* the pipe as a file name for the library */
    const char *file; /* as the helper knows it */
    int writes, force, add;
    FILE *said; /* its standard error, a file and no pipe: nobody reads it while it works; NULL where none can be made */
};

/* The program lies beside this one, in ../libexec/tessera, or where TESSERA_VDB says; else PATH is asked. */
static void find_helper(char path[4096])
{
    const char *given = getenv("TESSERA_VDB");
    static const char *const places[] = { "/tessera-vdb", "/../libexec/tessera/tessera-vdb", "/../lib/tessera/tessera-vdb" };
    char own[2048];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (given && *given) {
        snprintf(path, 4096, "%s", given);
        return;
    }
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        snprintf(path, 4096, "%s%s", own, places[i]);
        if (!access(path, X_OK)) return;
    }
    snprintf(path, 4096, "tessera-vdb");
}

static int no_helper(const cli_call *cli, const char *file)
{
    return cli_error(cli, CLI_FAILED,
                     "%s: .vdb files need the program tessera-vdb, which is built where OpenVDB (libopenvdb-dev) is found; TESSERA_VDB may name it",
                     file);
}

/* Can the program be started? Names without a slash are looked for in PATH, as execvp does. */
static int helper_is_there(void)
{
    char path[4096], full[8400];
    find_helper(path);
    if (strchr(path, '/')) return !access(path, X_OK);
    for (const char *at = getenv("PATH"); at;) {
        const size_t n = strcspn(at, ":");
        snprintf(full, sizeof full, "%.*s/%s", n < 4096 ? (int)n : 4096, at, path);
        if (n > 0 && !access(full, X_OK)) return 1;
        at = at[n] ? at + n + 1 : NULL;
    }
    return 0;
}

/* Starts `tessera-vdb VERB FILE [GRID]` with its standard output (read) or input (write) in a pipe. h->file and h->writes are set. */
static int start(const cli_call *cli, const char *grid, int64_t memory_limit, struct helper *h)
{
    char path[4096], limit[32];
    int ends[2];
    find_helper(path);
    snprintf(limit, sizeof limit, "%lld", (long long)memory_limit);
    if (pipe2(ends, O_CLOEXEC)) return cli_error(cli, CLI_FAILED, "%s: no pipe: %s", h->file, strerror(errno));
    h->said = tmpfile();
    fflush(NULL);
    h->process = fork();
    if (h->process < 0) {
        const int error = errno;
        close(ends[0]);
        close(ends[1]);
        if (h->said) fclose(h->said);
        return cli_error(cli, CLI_FAILED, "%s: cannot start %s: %s", h->file, path, strerror(error));
    }
    if (h->process == 0) {
        char *arguments[9] = { path, (char *)(uintptr_t) "--memory-limit", limit };
        int n = 3;
        if (h->force) arguments[n++] = (char *)(uintptr_t) "--force";
        if (h->add) arguments[n++] = (char *)(uintptr_t) "--add";
        arguments[n++] = (char *)(uintptr_t)(h->writes ? "write" : "read");
        arguments[n++] = (char *)(uintptr_t)h->file;
        arguments[n++] = (char *)(uintptr_t)grid;
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* nothing is written for a command that was ended */
        if (dup2(ends[h->writes ? 0 : 1], h->writes ? STDIN_FILENO : STDOUT_FILENO) >= 0 && (!h->said || dup2(fileno(h->said), STDERR_FILENO) >= 0))
            execvp(path, arguments);
        _exit(127);
    }
    close(ends[h->writes ? 0 : 1]);
    h->pipe = ends[h->writes ? 1 : 0];
    snprintf(h->place, sizeof h->place, "/dev/fd/%d", h->pipe);
    return CLI_OK;
}

/* What the helper wrote to its standard error in one line, without its name and that of the file in front. */
static const char *what_it_said(struct helper *h, char text[4096])
{
    static const char own[] = "tessera-vdb: ";
    const size_t name = strlen(h->file);
    size_t n = 0;
    if (h->said) {
        rewind(h->said);
        n = fread(text, 1, 4095, h->said);
        fclose(h->said);
        h->said = NULL;
    }
    while (n > 0 && text[n - 1] == '\n') n--;
    text[n] = 0;
    for (char *c = text; *c; c++)
        if (*c == '\n') *c = ' ';
    const char *from = strncmp(text, own, sizeof own - 1) ? text : text + sizeof own - 1;
    return strncmp(from, h->file, name) || strncmp(from + name, ": ", 2) ? from : from + name + 2;
}

/* The end of the helper and of the library's part at this end of the pipe, which came to `status`: 0, or an exit code after one message. */
static int finish(const cli_call *cli, const char *file, tsr_status status, struct helper *h)
{
    int state = 0;
    char text[4096];
    const size_t n = strlen(h->place);
    close(h->pipe);
    cli_progress_pause();
    while (waitpid(h->process, &state, 0) < 0 && errno == EINTR) {}
    const char *said = what_it_said(h, text), *library = status == TSR_OK ? "" : tsr_error_message();
    const int ended_by = WIFSIGNALED(state) ? WTERMSIG(state) : 0, done = WIFEXITED(state) && WEXITSTATUS(state) == 0;
    if (done && status == TSR_OK) {
        if (*said) cli_note(cli, "%s: %s", file, said); /* a remark of OpenVDB */
        return CLI_OK;
    }
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) return no_helper(cli, file);
    if (!strncmp(library, h->place, n) && !strncmp(library + n, ": ", 2)) library += n + 2;
    /* the first cause: that the other end of a pipe is gone is a consequence */
    if (status == TSR_ERROR_CANCELLED || done || ended_by == SIGPIPE) {
        if (!*library) library = "tessera-vdb lost its pipe";
        return cli_error(cli, status == TSR_ERROR_DEVICE ? CLI_NO_DEVICE : CLI_FAILED, "%s: %s", file, library);
    }
    if (ended_by) return cli_error(cli, CLI_FAILED, "%s: tessera-vdb was ended by signal %d", file, ended_by);
    return cli_error(cli, CLI_FAILED, "%s: %s", file, *said ? said : "tessera-vdb failed");
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------------------- */

int cli_names_tiles(const char *path, const char *format)
{
    if (format) return !strcasecmp(format, "tsr") || !strcasecmp(format, "nvdb") || !strcasecmp(format, "vdb");
    return cli_ends_in(path, ".tsr .tsr.gz .nvdb .vdb");
}

int cli_names_vdb(const char *path, const char *format) { return format ? !strcasecmp(format, "vdb") : cli_ends_in(path, ".vdb"); }
int cli_names_nvdb(const char *path, const char *format) { return format ? !strcasecmp(format, "nvdb") : cli_ends_in(path, ".nvdb"); }

void cli_choose_grid(const char *path, const char *grid, tsr_file_kind *kind, const char **format)
{
    const int vdb = *format && (!strcmp(*format, "vdb") || !strcmp(*format, "vdb-fog")),
              nvdb = *format && (!strcmp(*format, "nvdb") || !strcmp(*format, "nvdb-fog"));
    tsr_contents *contents = NULL;
    tsr_contents_entry e;
    int level_sets = 0, others = 0;
    if ((!vdb && !nvdb) || !strcmp(path, "-") || tsr_file_contents(path, NULL, &contents) != TSR_OK) return; /* its reader says why */
    for (int32_t i = 0; tsr_contents_at(contents, i, &e); i++) {
        const char *of = strchr(e.type, ','); /* float, fp8 ... */
        const int level_set = e.type[0] == 'f' && of && (!strncmp(of, ", level set", 11) || !strncmp(of, ", of no class", 13) || !strncmp(of, ", unknown", 9));
        if (grid && strcmp(grid, e.name) != 0) continue;
        if (level_set) level_sets++;
        else others++;
    }
    tsr_contents_destroy(&contents);
    if (!level_sets && !others) return;
    *kind = level_sets ? TSR_FILE_TILES : TSR_FILE_VOLUME;
    *format = level_sets ? (vdb ? "vdb" : "nvdb") : vdb ? "vdb-fog" : "nvdb-fog";
}

/* OpenVDB seeks in what it writes, and a file beside the target takes its place: pipes and devices are no targets. */
static int check_plain(const cli_call *cli, const char *path)
{
    struct stat about;
    if (!strcmp(path, "-")) return cli_error(cli, CLI_FAILED, "standard output: OpenVDB writes plain files only: give the name of the .vdb file");
    if (stat(path, &about) || S_ISREG(about.st_mode)) return CLI_OK;
    return cli_error(cli, CLI_FAILED, "%s: is a %s, expected a new name or a plain file: OpenVDB writes no other", path,
                     S_ISDIR(about.st_mode) ? "folder" : "pipe or device");
}

int cli_check_vdb(const cli_call *cli, const char *path, const char *format)
{
    if (!cli_names_vdb(path, format)) return CLI_OK;
    const int code = check_plain(cli, path);
    return code || helper_is_there() ? code : no_helper(cli, path);
}

static tsr_tiles *read_vdb(const cli_call *cli, tsr_context *context, const char *path, const tsr_tiles_read_options *options, int *code)
{
    struct helper h = { .file = path };
    tsr_tiles *tiles = NULL;
    tsr_tiles_read_options own = *options;
    if (!strcmp(path, "-")) {
        *code = cli_error(cli, CLI_FAILED, "standard input: OpenVDB reads plain files only: give the name of the .vdb file");
        return NULL;
    }
    *code = start(cli, options->grid, options->memory_limit, &h);
    if (*code) return NULL;
    own.format = "tsr";
    *code = finish(cli, path, tsr_tiles_read(context, h.place, &own, &tiles), &h);
    if (*code) tsr_tiles_destroy(&tiles);
    return tiles;
}

tsr_tiles *cli_read_tiles(const cli_call *cli, tsr_context *context, const char *path, const tsr_tiles_read_options *options,
                          tsr_tiles_extras **extras, int *code)
{
    tsr_tiles_read_options own = *options;
    tsr_read_options plain = TSR_READ_OPTIONS;
    tsr_tiles *tiles = NULL;
    tsr_file_kind kind;
    const char *format;
    own.extras = extras;
    own.progress = cli_progress(cli);
    plain.format = options->format;
    *code = cli_recognise(cli, path, &plain, &kind, &format);
    if (*code) return NULL;
    if (!strcmp(format, "vdb")) return read_vdb(cli, context, path, &own, code);
    tsr_status status = tsr_tiles_read(context, path, &own, &tiles);
    cli_progress_pause();
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    return tiles;
}

static int write_vdb(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options, int add)
{
    tsr_tiles_write_options own = *options;
    int code = check_plain(cli, path);
    if (code) return code;
    if (!access(path, F_OK) && !own.overwrite && !add) return cli_error(cli, CLI_FAILED, "%s: exists: give --force to overwrite it", path);
    struct helper h = { .file = path, .writes = 1, .force = own.overwrite, .add = add && !access(path, F_OK) };
    code = start(cli, own.name, 0, &h);
    if (!code) {
        void (*old)(int) = signal(SIGPIPE, SIG_IGN); /* a helper that stops early says why itself */
        own.format = "tsr";
        own.compression = -1;
        code = finish(cli, path, tsr_tiles_write(tiles, h.place, &own), &h);
        signal(SIGPIPE, old);
    }
    return code;
}

static int write_list(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options, int add)
{
    tsr_tiles_write_options own = *options;
    own.overwrite = cli->globals.force;
    own.progress = cli_progress(cli);
    if (cli_names_vdb(path, own.format)) return write_vdb(cli, tiles, path, &own, add);
    const tsr_status status = add ? tsr_tiles_add_grid(tiles, path, &own) : tsr_tiles_write(tiles, path, &own);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}

int cli_write_tiles(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options)
{
    return write_list(cli, tiles, path, options, 0);
}
int cli_add_tiles(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options)
{
    return write_list(cli, tiles, path, options, 1);
}

/* ---- dense volumes -------------------------------------------------------------------------------------------------------------------------------- */

tsr_status cli_dense_of_tiles(tsr_context *context, const tsr_tiles *tiles, tsr_volume **volume)
{
    int64_t first[3], last[3];
    tsr_geometry geometry = *tsr_tiles_geometry(tiles);
    *volume = NULL;
    const tsr_size3 domain = tsr_tiles_domain(tiles);
    tsr_status status = tsr_tiles_bounds(tiles, first, last);
    if (status != TSR_OK) return status;
    for (int k = 0; k < 3; k++) {
        if (domain.x) {
            first[k] = 0;
            last[k] = ((const int64_t[]){ domain.x, domain.y, domain.z })[k];
        } else {
            first[k]--;
            last[k]++;
        }
    }
    const tsr_vec3 origin = tsr_geometry_to_world(&geometry, (tsr_vec3){ (double)first[0], (double)first[1], (double)first[2] });
    geometry.affine[0][3] = origin.x;
    geometry.affine[1][3] = origin.y;
    geometry.affine[2][3] = origin.z;
    status = tsr_volume_create(context, TSR_F32, (tsr_size3){ last[0] - first[0], last[1] - first[1], last[2] - first[2] }, &geometry, volume);
    if (status == TSR_OK) status = tsr_tiles_store_box(tiles, first, *volume);
    if (status != TSR_OK) tsr_volume_destroy(volume);
    return status;
}

/* Is a voxel of the border inside? */
static tsr_status reaches_border(tsr_context *context, const tsr_volume *field, int *reaches)
{
    const tsr_size3 n = tsr_volume_size(field);
    *reaches = 0;
    for (int face = 0; face < 6 && !*reaches; face++) {
        tsr_size3 begin = { 0, 0, 0 }, end = n;
        int64_t *const low[3] = { &begin.x, &begin.y, &begin.z }, *const high[3] = { &end.x, &end.y, &end.z };
        tsr_statistics statistics = TSR_STATISTICS;
        tsr_volume *slice = NULL;
        if (face & 1) *high[face / 2] = 1;
        else *low[face / 2] = *high[face / 2] - 1;
        tsr_status status = tsr_volume_crop(context, field, begin, end, &slice);
        if (status == TSR_OK) status = tsr_volume_statistics(context, slice, &statistics);
        tsr_volume_destroy(&slice);
        if (status != TSR_OK) return status;
        *reaches = statistics.minimum < 0;
    }
    return TSR_OK;
}

/* The list of a field whose inside reaches its border: what is inside ends half a voxel beyond, in distances to these faces. Without them the field would jump
 * there from one end of the band to the other, which is no surface to a smeared delta. */
static tsr_status load_closed(tsr_context *context, const tsr_volume *field, const tsr_tiles_options *options, tsr_tiles **tiles)
{
    const tsr_geometry *geometry = tsr_volume_geometry(field);
    const tsr_size3 n = tsr_volume_size(field);
    const tsr_vec3 h = tsr_geometry_spacing(geometry);
    const int64_t edge = options->edge ? options->edge : 8, shift = (int64_t)(options->band / fmin(h.x, fmin(h.y, h.z))) / edge + 1,
                  pad = shift * edge;
    const tsr_size3 margin = { pad, pad, pad };
    const double first = (double)pad - 0.5;
    const tsr_shape box = { .kind = TSR_SHAPE_BOX,
                            .centre = { (first + 0.5 * (double)n.x) * h.x, (first + 0.5 * (double)n.y) * h.y, (first + 0.5 * (double)n.z) * h.z },
                            .half = { 0.5 * (double)n.x * h.x, 0.5 * (double)n.y * h.y, 0.5 * (double)n.z * h.z } };
    tsr_volume *wide = NULL;
    tsr_tiles *lids = NULL, *open = NULL, *closed = NULL;
    tsr_status status = tsr_volume_pad(context, field, margin, margin, TSR_BORDER_REPLICATE, 0, &wide);
    if (status == TSR_OK) status = tsr_tiles_create(context, geometry, options, &open);
    if (status == TSR_OK) status = tsr_tiles_load(open, wide);
    tsr_volume_destroy(&wide);
    if (status == TSR_OK) status = tsr_tiles_shape(context, geometry, options, &box, &lids);
    if (status == TSR_OK) status = tsr_tiles_combine(open, lids, TSR_CSG_INTERSECTION, 0, &closed);
    tsr_tiles_destroy(&open);
    tsr_tiles_destroy(&lids);
    if (status == TSR_OK) status = tsr_tiles_translate(closed, (int32_t)-shift, (int32_t)-shift, (int32_t)-shift, tiles);
    tsr_tiles_destroy(&closed);
    return status;
}

tsr_status cli_tiles_of_dense(tsr_context *context, const tsr_volume *volume, const tsr_tiles_options *options, int bounded, tsr_tiles **tiles)
{
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    tsr_tiles_options own = *options;
    tsr_volume *field = NULL;
    tsr_status status = TSR_OK;
    *tiles = NULL;
    if (bounded) own.domain = tsr_volume_size(volume);
    if (!own.band) own.band = tsr_band_default(tsr_band_spacing(tsr_geometry_spacing(tsr_volume_geometry(volume)), own.domain), 3);
    double value[2]; /* real numbers of two values from 0 on are a mask, as cli_default_surface has it */
    const int real = dtype == TSR_F32 || dtype == TSR_F64, mask_of_reals = real && cli_few_values(volume, 2, value) == 2 && value[0] >= 0;
    if (dtype == TSR_F64 && !mask_of_reals) {
        status = tsr_volume_convert(context, volume, TSR_F32, &field);
    } else if (!real || mask_of_reals) {
        tsr_distance_options distance = TSR_DISTANCE_OPTIONS;
        tsr_volume *mask;
        distance.band = own.band;
        status = cli_mask_of_two(NULL, NULL, context, volume, &mask);
        if (status == TSR_OK) status = tsr_distance_transform(context, mask ? mask : volume, &distance, &field);
        tsr_volume_destroy(&mask);
    }
    if (status == TSR_OK) status = tsr_tiles_create(context, tsr_volume_geometry(volume), &own, tiles);
    if (status == TSR_OK) status = tsr_tiles_load(*tiles, field ? field : volume);
    int open = 0; /* distances to faces need axes at right angles; without them the list serves to look at */
    if (status == TSR_OK && !bounded) status = reaches_border(context, field ? field : volume, &open);
    if (open && tsr_geometry_check_perpendicular(tsr_volume_geometry(volume), "volume") == TSR_OK) {
        tsr_tiles_destroy(tiles);
        status = load_closed(context, field ? field : volume, &own, tiles);
    }
    tsr_volume_destroy(&field);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}
