#include <math.h>
#include <string.h>

#include "cli.h"

static void list(const cli_call *cli)
{
    static const char *const kinds[] = { "distance", "field", "image" };
    tsr_phantom_info info;
    if (cli->globals.json) json_open(NULL, '[');
    for (int32_t i = 0; tsr_phantom_at(i, &info); i++) {
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", info.name);
            json_text("kind", kinds[info.kind]);
            json_text("description", info.description);
            json_close('}');
        } else {
            printf("%-18s %-9s %4lld x %4lld x %4lld  %s\n", info.name, kinds[info.kind], (long long)info.size.x, (long long)info.size.y,
                   (long long)info.size.z, info.description);
        }
    }
    if (cli->globals.json) json_close(']');
}

static int run(cli_call *cli, int argc, char **argv)
{
    tsr_phantom_options phantom = TSR_PHANTOM_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    const char *output = NULL, *truth_path = NULL;
    tsr_dtype dtype = TSR_F32;
    int64_t seed = 0;
    int list_given = 0, noise_given = 0, blur_given = 0, dtype_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(output),
        { .name = "list", .type = CLI_FLAG, .value = &list_given, .help = "list the names instead" },
        { .name = "truth", .type = CLI_TEXT, .value = &truth_path, .argument = "FILE", .help = "also write the exact mask" },
        { .name = "size", .type = CLI_SIZE3, .value = &phantom.size, .help = "extents in voxels, one number or three", .lower = 2, .upper = 65535 },
        { .name = "spacing", .type = CLI_VEC3, .value = &phantom.spacing, .help = "voxel size (default 1)", .lower = 1e-9, .upper = 1e9 },
        { .name = "seed", .type = CLI_COUNT, .value = &seed, .argument = "N", .help = "chooses the random parts", .lower = 0, .upper = 9.2e18 },
        { .name = "noise", .type = CLI_REAL, .value = &phantom.noise, .argument = "SIGMA", .help = "Rician noise of an image, 0 = none",
          .lower = 0, .upper = 10, .given = &noise_given },
        { .name = "bias", .type = CLI_REAL, .value = &phantom.bias, .argument = "SHARE", .help = "smooth brightness field 1 +- SHARE of an image",
          .lower = 0, .upper = 0.999 },
        { .name = "blur", .type = CLI_REAL, .value = &phantom.blur, .argument = "VOXELS", .help = "edge blur of an image, 0 = none", .lower = 0,
          .upper = 100, .given = &blur_given },
        { .name = "parameter", .type = CLI_REAL, .value = &phantom.parameter, .argument = "SIZE", .help = "the shape's own size in world units",
          .lower = 0, .upper = 1e9 },
        { .name = "dtype", .type = CLI_DTYPE, .value = &dtype, .help = "element type (default f32)", .given = &dtype_given },
        { .name = "format", .type = CLI_TEXT, .value = &write.format, .argument = "NAME", .help = "of the outputs (default: by extension)" },
        { 0 },
    };
    int code = cli_parse(cli, options, 0, 1, argc, argv);
    if (code >= 0) return code;
    if (list_given) {
        list(cli);
        return CLI_OK;
    }
    if (cli->inputs != 1) return cli_usage(cli, "no name given: see tessera make --list");
    code = cli_check_write(cli, output, TSR_FILE_VOLUME, write.format);
    if (!code && truth_path) code = cli_check_write(cli, truth_path, TSR_FILE_VOLUME, write.format);
    if (code) return code;
    if (noise_given && phantom.noise == 0) phantom.noise = -1; /* for the API 0 is the default */
    if (blur_given && phantom.blur == 0) phantom.blur = -1;
    phantom.seed = (uint64_t)seed;
    phantom.threads = cli->globals.threads;
    phantom.progress = cli_progress(cli);
    write.overwrite = cli->globals.force;
    write.progress = phantom.progress;

    tsr_volume *volume = NULL, *truth = NULL, *converted = NULL;
    tsr_context *context = NULL;
    tsr_status status = tsr_phantom_make(cli->input[0], &phantom, &volume, truth_path ? &truth : NULL);
    const char *file = NULL;
    if (status == TSR_OK && dtype_given && dtype != TSR_F32) {
        code = cli_cpu_context(cli, &context);
        if (!code) {
            status = tsr_volume_convert(context, volume, dtype, &converted);
            if (status == TSR_OK) {
                tsr_volume_destroy(&volume);
                volume = converted;
            }
        }
    }
    if (!code && status == TSR_OK) status = tsr_volume_write(volume, file = output, &write);
    if (!code && status == TSR_OK && truth) status = tsr_volume_write(truth, file = truth_path, &write);
    if (status != TSR_OK) code = cli_status(cli, status, file);
    tsr_volume_destroy(&truth);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

const cli_verb verb_make = { "make", "[options] NAME -o OUTPUT", "Make an analytic volume or a medical phantom, the same everywhere",
                             "  tessera make --list\n"
                             "  tessera make phantom_tumour --size 128 --noise 0.05 --seed 7 -o head.nii.gz --truth tumour.nii.gz\n", run };
