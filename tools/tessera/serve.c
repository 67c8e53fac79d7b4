#define _XOPEN_SOURCE 700 /* setenv, realpath */
#include <limits.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "mvv.h"

#ifdef TSR_HAVE_VIEWER
#include "mode.h"
#include "origin.h"
#include "rig_file.h"
#include "server.h"

/* The result of this verb: where the page is. A reader of the pipe gets it at once. */
static void ready(void *user, const char *url, int port, const char *token)
{
    const cli_call *cli = (const cli_call *)user;
    const char *host = strstr(url, "://") + 3;
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_text("url", url);
        json_int("port", port);
        json_text("token", token);
        json_close('}');
    } else {
        printf("%s\n", url);
    }
    fflush(stdout);
    if (!strncmp(host, "127.", 4) || !strncmp(host, "[::1]", 5) || !strncmp(host, "[::ffff:127.", 12) || !strncmp(host, "localhost", 9)) return;
    if (!strncmp(url, "https:", 6)) cli_note(cli, "listening beyond this machine, encrypted: whoever knows this address may look and drive");
    else cli_note(cli, "listening beyond this machine, unencrypted: whoever sees or knows this address may look and drive");
}

/* It goes on serving: the page can load another file. */
static void trouble(void *user, const char *text) { cli_error((const cli_call *)user, CLI_FAILED, "%s", text); }

/* An address in numbers, as in a URL or not, or an interface. Of names only the one of every machine: what others stand for is for their owners to say. */
static int check_listen(const cli_call *cli, const char **listen, char text[128])
{
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
    struct addrinfo *found = NULL;
    if (!*listen) return CLI_OK;
    const size_t n = strlen(*listen), bracketed = n > 2 && (*listen)[0] == '[' && (*listen)[n - 1] == ']';
    snprintf(text, 128, "%.*s", (int)(n < 1000 ? n - 2 * bracketed : 0), *listen + bracketed);
    if (!strcasecmp(text, "localhost")) snprintf(text, 128, "127.0.0.1");
    const int numbers = *text && !getaddrinfo(text, NULL, &hints, &found);
    if (numbers) freeaddrinfo(found);
    if (!numbers && !if_nametoindex(text))
        return cli_usage(cli, "--listen: '%s', expected an address of this machine in numbers (127.0.0.1, ::1) or localhost", *listen);
    *listen = text;
    return CLI_OK;
}

static int check_token(const cli_call *cli, const char *token)
{
    size_t n = token ? strlen(token) : VIEWER_TOKEN_LEAST;
    int plain = !token || strspn(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == n;
    if (plain && n >= VIEWER_TOKEN_LEAST && n < VIEWER_TOKEN_BYTES) return CLI_OK;
    return cli_usage(cli, "--token: expected %d to %d letters and digits", VIEWER_TOKEN_LEAST, VIEWER_TOKEN_BYTES - 1);
}

/* FILE is loaded from its folder, which is the served one unless --folder names it. */
static int split(const cli_call *cli, const char *path, const char *given_folder, const viewer_mode **mode, char folder[PATH_MAX], const char **name)
{
    struct stat about;
    char file[PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL;
    static char found[VIEWER_NAME_BYTES]; /* of the one folder that is served */
    *name = path ? (slash ? slash + 1 : path) : NULL;
    if (path && !given_folder && !stat(path, &about) && S_ISDIR(about.st_mode)) { /* a data set: its rig */
        if (!realpath(path, folder)) return cli_error(cli, CLI_FAILED, "%s: no such folder", path);
        *name = found;
        if (!viewer_views_find(folder, found))
            return cli_error(cli, CLI_FAILED, "%s: no depth images in it, expected %s (--folder serves a directory without a first file)", path, VIEWER_RIG_EXPECTS " whose cameras have them");
        if (!*mode) *mode = &viewer_views;
        return (*mode)->opens(found) ? CLI_OK : cli_usage(cli, "%s/%s: expected %s", path, found, (*mode)->expects);
    }
    if (slash) snprintf(file, sizeof file, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    else snprintf(file, sizeof file, ".");
    const char *wanted = given_folder ? given_folder : file;
    if (!realpath(wanted, folder) || stat(folder, &about) || !S_ISDIR(about.st_mode)) {
        if (!given_folder) return cli_error(cli, CLI_FAILED, "%s: no such folder", wanted);
        return cli_usage(cli, "--folder: '%s' is no folder", wanted);
    }
    char other[PATH_MAX];
    if (path && given_folder && (!realpath(file, other) || strcmp(other, folder)))
        return cli_usage(cli, "--folder: %s does not lie in %s, expected a file of the served folder", path, given_folder);
    if (!*name) return CLI_OK;
    if (strlen(*name) >= VIEWER_NAME_BYTES)
        return cli_usage(cli, "%s: the name has %zu bytes, expected at most %d", path, strlen(*name), VIEWER_NAME_BYTES - 1);
    if (!viewer_name_is_plain(*name)) return cli_usage(cli, "%s: expected a file name without a leading '.' or '-'", path);
    if (stat(path, &about)) return cli_error(cli, CLI_FAILED, "%s: no such file", path);
    if (S_ISDIR(about.st_mode)) return cli_error(cli, CLI_FAILED, "%s: is a directory, expected a file of the served folder", path);
    if (!S_ISREG(about.st_mode)) return cli_error(cli, CLI_FAILED, "%s: is no regular file, expected a volume", path);
    if (!*mode) *mode = viewer_mode_of_path(folder, *name);
    if (*mode && (*mode)->opens(*name)) return CLI_OK;
    return cli_usage(cli, "%s: expected %s%s%s", path, *mode ? (*mode)->expects : viewer_segment.expects, *mode ? "" : ", or ",
                     *mode ? "" : viewer_sculpt.expects);
}

/* Solver and painter share the processors: a thread that waits for its team must sleep, not spin on the other's time (measured: three times as many
 * pictures). OpenMP reads this before main() runs, hence once more from the start. */
static void wait_politely(char **argv)
{
    if (getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 1)) return;
    execv("/proc/self/exe", argv); /* where that does not exist things go on as they are */
}

static int serve(cli_call *cli, viewer_server_options *o, const char *given_folder, const viewer_mode *mode)
{
    char folder[PATH_MAX], error[512] = "", address[128];
    tsr_context *context = NULL;
    const viewer_mode *first = mode;
    int code = split(cli, cli->inputs ? cli->input[0] : NULL, given_folder, &first, folder, &o->session.file);
    o->session.mode = first;
    for (int i = 1; !code && i < cli->inputs; i++) { /* all of one folder: it is the served one */
        const viewer_mode *own = mode;
        char other[PATH_MAX];
        code = split(cli, cli->input[i], folder, &own, other, &o->more_file[i - 1]);
        o->more_mode[o->more_files++] = own;
    }
    if (!code) code = check_listen(cli, &o->listen, address);
    if (!code) code = check_token(cli, o->token);
    if (!code && !viewer_origins_valid(o->allow_origin))
        code = cli_usage(cli, "--allow-origin: '%.200s', expected http://HOST[:PORT] or https://HOST[:PORT], several with commas", o->allow_origin);
    if (!code && !o->certificate != !o->key)
        code = cli_usage(cli, "--%s: expected together with --%s", o->key ? "key" : "certificate", o->key ? "certificate" : "key");
    if (!code) code = cli_context(cli, &context); /* a device that does not work is said now */
    tsr_context_destroy(&context);
    if (code) return code;
    o->session.folder = folder;
    o->session.device = cli->globals.device;
    o->session.threads = cli->globals.threads;
    cli_call quiet = *cli;
    quiet.globals.quiet = 1; /* no progress bar while it serves */
    o->stop = cli_progress(&quiet);
    o->ready = ready;
    o->trouble = trouble;
    o->user = cli;
    return viewer_serve(o, error, sizeof error) ? cli_error(cli, CLI_FAILED, "%s", error) : CLI_OK;
}
#endif

/* `program`: what main() was given. Films: textures of many cameras alone, in their player. */
static int serve_with(cli_call *cli, int argc, char **argv, char **program, int films)
{
#ifdef TSR_HAVE_VIEWER
    viewer_server_options o = { .port = 8765, .session = { .segment = TSR_SEGMENT_OPTIONS } };
    const char *folder = NULL;
    int mode = 0;
    tsr_segment_options *s = &o.session.segment;
    s->target = (double)NAN;
    s->cfl = 0.9;
    cli_option options[] = {
        { .name = "listen", .type = CLI_TEXT, .value = &o.listen, .argument = "ADDRESS", .help = "default 127.0.0.1; 0.0.0.0 = every interface" },
        { .name = "port", .type = CLI_INT, .value = &o.port, .argument = "N", .help = "default 8765; 0 = any free one", .lower = 0, .upper = 65535 },
        { .name = "token", .type = CLI_TEXT, .value = &o.token, .argument = "TEXT", .help = "in the address of the page (default: random)" },
        { .name = "certificate", .type = CLI_TEXT, .value = &o.certificate, .argument = "FILE", .help = "PEM: https, with --key (default: http)" },
        { .name = "key", .type = CLI_TEXT, .value = &o.key, .argument = "FILE", .help = "PEM: private key of the certificate" },
        { .name = "allow-origin",
          .type = CLI_TEXT,
          .value = &o.allow_origin,
          .argument = "ORIGIN,...",
          .help = "other pages that may connect, as https://name:port (default: the server's own by address, localhost or the machine's name)" },
        { .name = "folder", .type = CLI_TEXT, .value = &folder, .argument = "DIR", .help = "where the page loads and saves (default: FILE's)" },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &o.session.memory_limit,
          .argument = "BYTES",
          .help = "refuse larger files",
          .lower = 1,
          .upper = 9e18 },
        { .name = "mode",
          .type = CLI_CHOICE,
          .value = &mode,
          .help = "what the page does; auto: volumes are segmented, meshes and .tsr sculpted, films, particles and rigs shown (with depth images: new views of them), .calib calibrated",
          .choices = "auto segment sculpt view turntable film fluid flow light cameras views mvv calibrate" },
        { .name = "target", .type = CLI_REAL, .value = &s->target, .argument = "GREY", .help = "T at the start (default: of the image's window)" },
        { .name = "epsilon", .type = CLI_REAL, .value = &s->epsilon, .argument = "GREY", .help = "at the start", .lower = 1e-30, .upper = 1e30 },
        { .name = "alpha", .type = CLI_REAL, .value = &s->alpha, .argument = "A", .help = "at the start (default 0.5)", .lower = 0, .upper = 1 },
        { .name = "smoothing",
          .type = CLI_REAL,
          .value = &s->smoothing,
          .argument = "SIGMA",
          .help = "of the image, world units",
          .lower = 0,
          .upper = 1e6 },
        { .name = "cfl",
          .type = CLI_REAL,
          .value = &s->cfl,
          .argument = "C",
          .help = "of the automatic step (default 0.9)",
          .lower = 1e-6,
          .upper = 0.9 },
        { 0 },
    };
    for (int k = 0; films && options[k].name; k++) /* what follows is of other modes */
        if (!strcmp(options[k].name, "mode")) options[k] = (cli_option){ 0 };
    wait_politely(program); /* parsing the arguments will change their order */
    int code = cli_parse(cli, options, films, VIEWER_TABS_MOST, argc, argv);
    static const viewer_mode *const modes[] = { NULL, &viewer_segment, &viewer_sculpt, &viewer_view, &viewer_turntable, &viewer_film, &viewer_fluid, &viewer_flow, &viewer_light, &viewer_cameras, &viewer_views, &viewer_mvv, &viewer_calibrate };
    return code >= 0 ? code : serve(cli, &o, folder, films ? &viewer_mvv : modes[mode]);
#else
    const cli_option options[] = { { 0 } };
    (void)program;
    int code = cli_parse(cli, options, films, 8, argc, argv);
    if (code >= 0) return code;
    return cli_error(cli, CLI_FAILED, "this build has no workbench: it was configured without libwebsockets, jansson or libjpeg-turbo");
#endif
}

/* main() gives a verb its arguments from its name on, and `mvv` its commands likewise. */
static int run(cli_call *cli, int argc, char **argv) { return serve_with(cli, argc, argv, argv - 1, 0); }
static int play(cli_call *cli, int argc, char **argv) { return serve_with(cli, argc, argv, argv - 2, 1); }

const cli_verb mvv_play = { "mvv play", "[options] FILE.mvv...",
                            "Look at multi-view textures while they move, as a web page: turn, scrub, rate, codec, masters, differences, masks; prints its address",
                            "  tessera mvv play film.mvv\n"
                            "  tessera mvv play film-030.mvv --port 0\n",
                            play };

const cli_verb verb_serve = { "serve", "[options] [FILE...|FOLDER]",
                              "Serve the workbench as a web page: segment and look at volumes, sculpt surfaces; prints its address",
                              "  tessera make phantom_tumour --size 96 --noise 0.05 -o head.nii.gz\n"
                              "  tessera serve head.nii.gz --port 0\n",
                              run };
