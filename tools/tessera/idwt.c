#include "cli.h"

/* Within --memory-limit, from file to file. */
static int transform_file(cli_call *cli, tsr_read_options *read, const char *output)
{
    tsr_context *context = NULL;
    const tsr_write_options write = cli_write_options(cli);
    int code = cli_context(cli, &context);
    if (code) return code;
    read->progress = cli_progress(cli);
    const tsr_status status = tsr_file_idwt(context, cli->input[0], read, output, &write, NULL);
    cli_progress_end(cli);
    if (status != TSR_OK) code = cli_status(cli, status, cli->input[0]);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    tsr_read_options read = TSR_READ_OPTIONS;
    const char *output = NULL;
    tsr_context *context = NULL;
    tsr_volume *volume = NULL;
    const cli_option options[] = { CLI_OUTPUT_OPTION(output), CLI_FORMAT_OPTION(cli), CLI_READ_OPTIONS_WITHIN(read), { 0 } };
    cli->channels = 1;
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_write(cli, output, TSR_FILE_VOLUME, NULL);
    if (!code && read.memory_limit) return transform_file(cli, &read, output);
    if (!code) code = cli_context(cli, &context);
    tsr_write_options write = cli_write_options(cli);
    tsr_volume *coefficients = code ? NULL : cli_read_to_device(cli, cli->input[0], &read, context, &code);
    if (coefficients) {
        tsr_status status = tsr_volume_idwt(context, coefficients, &volume);
        if (status == TSR_OK) status = cli_move_volume(NULL, &volume);
        if (status != TSR_OK) code = cli_status(cli, status, cli->input[0]);
    }
    if (!code) {
        tsr_status status = tsr_volume_write(volume, output, &write);
        if (status != TSR_OK) code = cli_status(cli, status, output);
    }
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&coefficients);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_idwt = {
    "idwt", "[options] COEFFICIENTS -o VOLUME", "The volume that tessera dwt transformed, integers bit for bit",
    "  tessera make torus -o torus.nii.gz\n  tessera dwt torus.nii.gz -o bands.nrrd\n  tessera idwt bands.nrrd -o back.nii.gz\n", run
};
