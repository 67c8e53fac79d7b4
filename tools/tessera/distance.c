#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "labels.h"

enum { EXACT, PDE_REINIT, PDE_SOURCE };

struct distance {
    cli_call *cli;
    tsr_read_options read;
    tsr_distance_options exact;
    tsr_distance_pde_options pde;
    const char *output;
    int method, mode, mode_given;
    int step_given, max_steps_given, tolerance_given;
    double band;
};

static void show(const struct distance *d, const tsr_distance_pde_report *report, double seconds)
{
    if (d->cli->globals.json && strcmp(d->output, "-")) {
        json_open(NULL, '{');
        json_text("method", d->method == EXACT ? "exact" : d->method == PDE_SOURCE ? "pde_source" : "pde_reinit");
        if (d->method != EXACT) {
            json_int("steps", report->steps);
            json_real("change", report->change);
        }
        json_real("seconds", seconds);
        json_close('}');
    } else if (d->method != EXACT) {
        cli_note(d->cli, "%d steps, the last changed up to %.3g", report->steps, report->change);
    }
}

static int work(struct distance *d, tsr_context *context, tsr_volume **volume, tsr_volume **result)
{
    tsr_distance_pde_report report = TSR_DISTANCE_PDE_REPORT;
    tsr_statistics statistics = TSR_STATISTICS;
    const double start = cli_seconds();
    cli_note_labels(d->cli, d->cli->input[0], *volume, "the distance is that to all labels together; convert --threshold L:L takes one");
    tsr_status status = cli_move_volume(context, volume);
    if (status == TSR_OK && d->method == EXACT) status = cli_plain_mask(d->cli, d->cli->input[0], context, volume);
    if (status == TSR_OK) status = tsr_volume_statistics(context, *volume, &statistics);
    if (statistics.nan_count) cli_note(d->cli, "%s: %lld voxels are not a number", d->cli->input[0], (long long)statistics.nan_count);
    d->exact.band = d->pde.band = d->band;
    d->exact.mode = d->mode ? TSR_DISTANCE_TO_MASK : TSR_DISTANCE_SIGNED;
    d->pde.method = d->method == PDE_SOURCE ? TSR_DISTANCE_SOURCE : TSR_DISTANCE_REINIT;
    d->pde.progress = cli_progress(d->cli);
    if (status == TSR_OK)
        status = d->method == EXACT ? tsr_distance_transform(context, *volume, &d->exact, result)
                                    : tsr_distance_evolve(context, *volume, &d->pde, result, &report);
    cli_progress_end(d->cli);
    const tsr_write_options write = cli_write_options(d->cli);
    tsr_volume *host = NULL;
    const char *file = d->cli->input[0];
    if (status == TSR_OK) status = tsr_volume_copy(*result, NULL, &host);
    if (status == TSR_OK) {
        file = d->output;
        status = tsr_volume_write(host, file, &write);
    }
    tsr_volume_destroy(&host);
    if (status == TSR_OK) show(d, &report, cli_seconds() - start);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, file);
}

static int check(const struct distance *d)
{
    const int evolves = d->method != EXACT;
    if (evolves && d->mode_given) return cli_usage(d->cli, "--mode: without effect without --method exact");
    if (!evolves && d->step_given) return cli_usage(d->cli, "--step: without effect with --method exact");
    if (!evolves && d->max_steps_given) return cli_usage(d->cli, "--max-steps: without effect with --method exact");
    if (!evolves && d->tolerance_given) return cli_usage(d->cli, "--tolerance: without effect with --method exact");
    return cli_check_write(d->cli, d->output, TSR_FILE_VOLUME, NULL);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct distance d = { .cli = cli, .read = TSR_READ_OPTIONS, .exact = TSR_DISTANCE_OPTIONS, .pde = TSR_DISTANCE_PDE_OPTIONS };
    const cli_option options[] = {
        { .name = "output", .letter = 'o', .type = CLI_TEXT, .value = &d.output, .argument = "VOLUME", .help = "distances, float32" },
        CLI_FORMAT_OPTION(cli),
        { .name = "method",
          .type = CLI_CHOICE,
          .value = &d.method,
          .argument = "METHOD",
          .help = "exact: of a mask; pde_*: evolution of a level set",
          .choices = "exact pde_reinit pde_source" },
        { .name = "mode",
          .type = CLI_CHOICE,
          .value = &d.mode,
          .argument = "MODE",
          .help = "of exact",
          .choices = "signed to_mask",
          .given = &d.mode_given },
        { .name = "band",
          .type = CLI_REAL,
          .value = &d.band,
          .argument = "MM",
          .help = "clamp to this distance (default none; pde: 10 voxels)",
          .lower = 1e-300,
          .upper = 1e30 },
        { .name = "step",
          .type = CLI_REAL,
          .value = &d.pde.step,
          .argument = "S",
          .help = "of time, of the largest stable one (default 0.5)",
          .lower = 1e-6,
          .upper = 1,
          .given = &d.step_given },
        { .name = "max-steps",
          .type = CLI_INT,
          .value = &d.pde.max_steps,
          .argument = "N",
          .help = "default: as many as the band needs",
          .lower = 1,
          .upper = 1000000,
          .given = &d.max_steps_given },
        { .name = "tolerance",
          .type = CLI_REAL,
          .value = &d.pde.tolerance,
          .argument = "T",
          .help = "stop at changes of this part of a voxel in a step",
          .lower = 1e-9,
          .upper = 1,
          .given = &d.tolerance_given },
        CLI_READ_OPTIONS(d.read),
        { 0 },
    };
    tsr_context *context = NULL;
    tsr_volume *volume = NULL, *result = NULL;
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = check(&d);
    if (!code) code = cli_context(cli, &context);
    if (!code) volume = cli_read_volume(cli, cli->input[0], &d.read, &code);
    if (!code) code = work(&d, context, &volume, &result);
    tsr_volume_destroy(&result);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_distance = { "distance", "[options] VOLUME -o VOLUME", "Distances: exact of a mask, or by evolution of a level set",
                                 "  tessera make sphere --size 64 -o ball.nrrd\n"
                                 "  tessera distance ball.nrrd --method pde_reinit --band 8 -o distance.nrrd\n",
                                 run };
