#include <string.h>

#include "cli.h"

static int run(cli_call *cli, int argc, char **argv)
{
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_denoise_options o = TSR_DENOISE_OPTIONS;
    const char *output = NULL;
    tsr_context *context = NULL;
    tsr_volume *denoised = NULL;
    int rule = 0, filter = 0;
    double sigma = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(output),
        CLI_FORMAT_OPTION(cli),
        { .name = "rule",
          .type = CLI_CHOICE,
          .value = &rule,
          .argument = "NAME",
          .help = "threshold by band, or one for all (removes more)",
          .choices = "bayes universal" },
        { .name = "hard", .type = CLI_FLAG, .value = &o.hard, .help = "coefficients over the threshold stay as they are" },
        { .name = "sigma",
          .type = CLI_REAL,
          .value = &o.sigma,
          .argument = "S",
          .help = "standard deviation of the noise (default: estimated)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "strength",
          .type = CLI_REAL,
          .value = &o.strength,
          .argument = "F",
          .help = "thresholds are multiplied by it (default 1)",
          .lower = 1e-6,
          .upper = 1e6 },
        { .name = "levels", .type = CLI_INT, .value = &o.levels, .argument = "N", .help = "(default 4)", .lower = 1, .upper = TSR_WAVELET_LEVELS },
        { .name = "shifts",
          .type = CLI_INT,
          .value = &o.shifts,
          .argument = "N",
          .help = "along each axis, averaged: 1 none, more are smoother (default 2)",
          .lower = 1,
          .upper = 8 },
        { .name = "filter",
          .type = CLI_CHOICE,
          .value = &filter,
          .argument = "NAME",
          .help = "steps of the transform",
          .choices = "daub97 haar dd97 dd137" },
        CLI_READ_OPTIONS(read),
        { 0 },
    };
    static const tsr_wavelet_filter filters[] = { TSR_WAVELET_DAUB97, TSR_WAVELET_HAAR, TSR_WAVELET_DD97, TSR_WAVELET_DD137 };
    cli->channels = 1;
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    o.rule = (tsr_denoise_rule)rule;
    o.filter = filters[filter];
    code = cli_check_write(cli, output, TSR_FILE_VOLUME, NULL);
    if (!code) code = cli_context(cli, &context);
    const tsr_write_options write = cli_write_options(cli);
    tsr_volume *volume = code ? NULL : cli_read_to_device(cli, cli->input[0], &read, context, &code);
    if (volume) {
        o.progress = cli_progress(cli);
        tsr_status status = tsr_volume_denoise(context, volume, &o, &denoised, &sigma);
        cli_progress_end(cli);
        if (status == TSR_OK) status = cli_move_volume(NULL, &denoised);
        if (status != TSR_OK) code = cli_status(cli, status, cli->input[0]);
    }
    if (!code) {
        tsr_status status = tsr_volume_write(denoised, output, &write);
        if (status != TSR_OK) code = cli_status(cli, status, output);
    }
    if (!code && cli->globals.json && strcmp(output, "-")) {
        json_open(NULL, '{');
        json_real("sigma", sigma);
        json_close('}');
    } else if (!code) {
        cli_note(cli, "noise: standard deviation %.4g", sigma);
    }
    tsr_volume_destroy(&denoised);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_denoise = { "denoise", "[options] VOLUME -o VOLUME", "Take white noise out of a volume by shrinking its wavelet coefficients",
                                "  tessera make noise -o noise.nii.gz\n  tessera denoise noise.nii.gz --shifts 2 -o clean.nii.gz\n", run };
