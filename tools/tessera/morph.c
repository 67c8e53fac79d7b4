#include <stdlib.h>
#include <string.h>

#include "lists.h"

struct morph {
    cli_call *cli;
    tsr_read_options read;
    cli_list_options list;
    tsr_morph_options options;
    const char *output;
    double t;
    int32_t frames;
    tsr_context *context;
    tsr_tiles *a, *b, **result;
};

/* morph.ply of frame 3 of 12 is morph-03.ply. */
static void frame_name(const struct morph *m, int32_t frame, char *path, size_t room)
{
    const char *dot = strrchr(m->output, '.'), *slash = strrchr(m->output, '/');
    if (dot && slash && dot < slash) dot = NULL;
    if (dot && dot > m->output + 4 && !strcmp(dot, ".gz")) /* .nii.gz stays together */
        for (const char *p = dot - 1; p > m->output && *p != '/'; p--)
            if (*p == '.') {
                dot = p;
                break;
            }
    int stem = dot ? (int)(dot - m->output) : (int)strlen(m->output);
    if (m->frames < 2) snprintf(path, room, "%s", m->output);
    else snprintf(path, room, "%.*s-%0*d%s", stem, m->output, m->frames > 100 ? 3 : 2, frame, dot ? dot : "");
}

static int frames(struct morph *m)
{
    int32_t n = m->frames > 1 ? m->frames : 1;
    char path[4096];
    double *t = calloc((size_t)n, sizeof *t);
    char(*names)[sizeof path] = calloc((size_t)n, sizeof *names); /* the check keeps what it was shown */
    m->result = calloc((size_t)n, sizeof *m->result);
    if (!t || !m->result || !names) {
        free(t);
        free(names);
        return cli_error(m->cli, CLI_FAILED, "out of memory for %d frames", n);
    }
    for (int32_t i = 0; i < n; i++) t[i] = n > 1 ? m->t * (double)i / (double)(n - 1) : m->t;
    const int speaks = strcmp(m->output, "-") != 0; /* else the result is standard output */
    int code = CLI_OK;
    for (int32_t i = 0; i < n && !code; i++) {
        frame_name(m, i, names[i], sizeof names[i]);
        code = cli_check_list(m->cli, names[i], m->list.format);
    }
    tsr_progress progress = cli_progress(m->cli);
    if (!code) {
        tsr_status status = tsr_tiles_morph(m->a, m->b, t, n, &m->options, &progress, m->result);
        cli_progress_end(m->cli);
        if (status != TSR_OK) code = cli_status(m->cli, status, NULL);
    }
    const int lists = m->cli->globals.json && speaks && !code;
    if (lists) json_open(NULL, '[');
    for (int32_t i = 0; i < n && !code; i++) {
        tsr_tiles_measures measures = TSR_TILES_MEASURES;
        frame_name(m, i, path, sizeof path);
        tsr_status status = tsr_tiles_measure(m->result[i], &measures);
        code = status == TSR_OK ? cli_write_list(m->cli, m->context, m->result[i], path, m->list.format) : cli_status(m->cli, status, path);
        if (!code && measures.tiles == 0) cli_note_vanished(m->cli, m->result[i], path);
        if (!code && speaks) cli_show_measures(m->cli, path, &measures);
    }
    if (lists && !code) json_close(']');
    for (int32_t i = 0; i < n; i++) tsr_tiles_destroy(&m->result[i]);
    free(m->result);
    free(names);
    free(t);
    return code;
}

static int check_reach(const struct morph *m)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    const tsr_status status = tsr_tiles_describe(m->a, &info);
    if (status != TSR_OK) return cli_status(m->cli, status, m->cli->input[0]);
    if (m->options.reach > 0 && m->options.reach < info.band)
        return cli_usage(m->cli, "--reach: %g given, expected at least %g, the half width of the band of %s", m->options.reach, info.band,
                         m->cli->input[0]);
    return CLI_OK;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct morph m = { .cli = cli, .read = TSR_READ_OPTIONS, .list = { .planes = 1 }, .options = TSR_MORPH_OPTIONS, .t = -1 };
    int method = 0, reach_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(m.output),
        { .name = "t",
          .type = CLI_REAL,
          .value = &m.t,
          .argument = "T",
          .help = "interpolate: 0 = first, 1 = second shape (default 0.5, with --frames 1); evolve: time (default 20)",
          .lower = 0,
          .upper = 1e9 },
        { .name = "frames",
          .type = CLI_INT,
          .value = &m.frames,
          .argument = "N",
          .help = "so many from 0 to T, numbered before the extension",
          .lower = 2,
          .upper = 1000 },
        { .name = "method",
          .type = CLI_CHOICE,
          .value = &method,
          .argument = "WAY",
          .help = "distances mixed, or the first moves to the second",
          .choices = "interpolate evolve" },
        { .name = "reach",
          .type = CLI_REAL,
          .value = &m.options.reach,
          .given = &reach_given,
          .argument = "R",
          .help = "interpolate: half width of the wide band in world units (default: found by doubling)",
          .lower = 1e-300,
          .upper = 1e9 },
        { .name = "draft", .type = CLI_FLAG, .value = &m.options.draft, .help = "evolve: first-order schemes" },
        CLI_LIST_OPTIONS(m.list),
        CLI_READ_OPTIONS(m.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 2, 2, argc, argv);
    if (code >= 0) return code;
    if (!m.output) return cli_usage(cli, "--output: missing, expected -o FILE");
    if (m.frames > 1 && !strcmp(m.output, "-")) return cli_usage(cli, "--frames: %d surfaces, '-' (standard output) takes one", m.frames);
    m.options.method = (tsr_morph_method)method;
    if (method && reach_given) return cli_usage(cli, "--reach: expected with --method interpolate");
    if (!method && m.options.draft) return cli_usage(cli, "--draft: expected with --method evolve");
    if (!method && m.t > 1) return cli_usage(cli, "--t: %g given, expected 0 to 1 with --method interpolate", m.t);
    if (m.t < 0) m.t = method ? 20 : m.frames > 1 ? 1 : 0.5;
    if ((code = cli_context(cli, &m.context)) != CLI_OK) return code;
    m.a = cli_read_list(cli, m.context, cli->input[0], &m.read, &m.list, &code);
    if (m.a) code = cli_check_plane(cli, m.a, m.output, m.list.format);
    if (m.a && !code) code = check_reach(&m);
    if (m.a && !code) {
        cli_list_options list = m.list;
        list.like = m.a;
        list.like_name = cli->input[0];
        m.b = cli_read_list(cli, m.context, cli->input[1], &m.read, &list, &code);
    }
    if (m.b) code = frames(&m);
    tsr_tiles_destroy(&m.a);
    tsr_tiles_destroy(&m.b);
    tsr_context_destroy(&m.context);
    return code;
}

const cli_verb verb_morph = { "morph", "[options] FIRST SECOND -o OUTPUT", "Make the surfaces between two level sets, by interpolation or evolution",
                              "  tessera make box --size 64 -o box.nii.gz\n  tessera make torus --size 64 -o torus.nii.gz\n"
                              "  tessera morph box.nii.gz torus.nii.gz --t 0.5 -o between.ply\n",
                              run };
