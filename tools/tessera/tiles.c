#define _GNU_SOURCE /* pipe2, execvp with O_CLOEXEC pipes */
#include "tiles.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- tessera-vdb ------------------------------------------------------------------------------------------------------------------------------ */

struct helper {
    pid_t process;
    int pipe;
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

/* Starts `tessera-vdb VERB FILE [GRID]` with its standard output (read) or input (write) in a pipe. */
static int start(const cli_call *cli, const char *verb, const char *file, const char *grid, struct helper *h)
{
    char path[4096];
    int ends[2], reading = !strcmp(verb, "read");
    find_helper(path);
    if (pipe2(ends, O_CLOEXEC)) return cli_error(cli, CLI_FAILED, "%s: no pipe: %s", file, strerror(errno));
    fflush(NULL);
    h->process = fork();
    if (h->process < 0) {
        close(ends[0]);
        close(ends[1]);
        return cli_error(cli, CLI_FAILED, "%s: cannot start %s: %s", file, path, strerror(errno));
    }
    if (h->process == 0) {
        char *const arguments[] = { path, (char *)(uintptr_t)verb, (char *)(uintptr_t)file, (char *)(uintptr_t)grid, NULL };
        if (dup2(ends[reading ? 1 : 0], reading ? STDOUT_FILENO : STDIN_FILENO) >= 0) execvp(path, arguments);
        _exit(127);
    }
    close(ends[reading ? 1 : 0]);
    h->pipe = ends[reading ? 0 : 1];
    return CLI_OK;
}

/* 1 if the program did its work; else it or this function has said why not. */
static int finish(const cli_call *cli, const char *file, struct helper *h)
{
    int state = 0;
    close(h->pipe);
    while (waitpid(h->process, &state, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return 1;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) no_helper(cli, file);
    else if (!WIFEXITED(state)) cli_error(cli, CLI_FAILED, "%s: tessera-vdb was ended by signal %d", file, WTERMSIG(state));
    return 0;
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------------------- */

static int ends_in(const char *path, const char *extension)
{
    const size_t n = strlen(path), e = strlen(extension);
    return n > e && !strcasecmp(path + n - e, extension);
}

int cli_names_tiles(const char *path, const char *format)
{
    if (format) return !strcasecmp(format, "tsr") || !strcasecmp(format, "nvdb") || !strcasecmp(format, "vdb");
    return ends_in(path, ".tsr") || ends_in(path, ".tsr.gz") || ends_in(path, ".nvdb") || ends_in(path, ".vdb");
}

int cli_check_vdb(const cli_call *cli, const char *path) { return !ends_in(path, ".vdb") || helper_is_there() ? CLI_OK : no_helper(cli, path); }

static tsr_tiles *read_vdb(const cli_call *cli, tsr_context *context, const char *path, const tsr_tiles_read_options *options, int *code)
{
    struct helper h;
    char pipe[32];
    tsr_tiles *tiles = NULL;
    tsr_tiles_read_options own = *options;
    if (!strcmp(path, "-")) {
        *code = cli_error(cli, CLI_FAILED, "standard input: OpenVDB reads plain files only: give the name of the .vdb file");
        return NULL;
    }
    *code = start(cli, "read", path, options->grid, &h);
    if (*code) return NULL;
    snprintf(pipe, sizeof pipe, "/dev/fd/%d", h.pipe);
    own.format = "tsr";
    tsr_status status = tsr_tiles_read(context, pipe, &own, &tiles);
    if (!finish(cli, path, &h)) *code = CLI_FAILED;
    else if (status != TSR_OK) *code = cli_status(cli, status, path);
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

int cli_write_tiles(const cli_call *cli, const tsr_tiles *tiles, const char *path, const tsr_tiles_write_options *options)
{
    tsr_tiles_write_options own = *options;
    own.overwrite = cli->globals.force;
    own.progress = cli_progress(cli);
    tsr_status status;
    if (own.format ? strcasecmp(own.format, "vdb") : !ends_in(path, ".vdb")) {
        status = tsr_tiles_write(tiles, path, &own);
        return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
    }
    struct helper h;
    char pipe[32];
    if (!strcmp(path, "-")) return cli_error(cli, CLI_FAILED, "standard output: OpenVDB writes plain files only: give the name of the .vdb file");
    int code = start(cli, "write", path, own.name, &h);
    if (code) return code;
    void (*old)(int) = signal(SIGPIPE, SIG_IGN); /* a helper that stops early says why itself */
    snprintf(pipe, sizeof pipe, "/dev/fd/%d", h.pipe);
    own.format = "tsr";
    own.compression = -1;
    own.raw = 0;
    status = tsr_tiles_write(tiles, pipe, &own);
    if (!finish(cli, path, &h)) code = CLI_FAILED;
    else if (status != TSR_OK) code = cli_status(cli, status, path);
    signal(SIGPIPE, old);
    return code;
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

tsr_status cli_tiles_of_dense(tsr_context *context, const tsr_volume *volume, const tsr_tiles_options *options, int bounded, tsr_tiles **tiles)
{
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    tsr_tiles_options own = *options;
    tsr_volume *field = NULL;
    tsr_status status = TSR_OK;
    *tiles = NULL;
    if (bounded) own.domain = tsr_volume_size(volume);
    if (!own.band) own.band = tsr_band_default(tsr_band_spacing(tsr_geometry_spacing(tsr_volume_geometry(volume)), own.domain), 3);
    if (dtype == TSR_F64) {
        status = tsr_volume_convert(context, volume, TSR_F32, &field);
    } else if (dtype != TSR_F32) {
        tsr_distance_options distance = TSR_DISTANCE_OPTIONS;
        distance.band = own.band;
        status = tsr_distance_transform(context, volume, &distance, &field);
    }
    if (status == TSR_OK) status = tsr_tiles_create(context, tsr_volume_geometry(volume), &own, tiles);
    if (status == TSR_OK) status = tsr_tiles_load(*tiles, field ? field : volume);
    tsr_volume_destroy(&field);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}
