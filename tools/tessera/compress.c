#include <math.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

struct compress {
    cli_call *cli;
    tsr_read_options read;
    tsr_compress_options options;
    const char *output;
};

static void report(const struct compress *c, const tsr_compress_info *info)
{
    const double voxels = (double)info->size.x * (double)info->size.y * (double)info->size.z, plain = voxels * (double)tsr_dtype_size(info->dtype);
    if (c->cli->globals.json) {
        json_open(NULL, '{');
        json_text("coder", tsr_compress_coder_name(info->coder));
        json_bool("lossless", info->lossless);
        json_int("bytes", info->file_bytes);
        json_real("ratio", plain / (double)info->file_bytes);
        json_real("bits_per_voxel", 8 * (double)info->file_bytes / voxels);
        json_real("psnr", info->psnr);
        json_real("max_error", info->max_error);
        json_close('}');
        return;
    }
    printf("%lld bytes, %.3f bits per voxel, 1 / %.2f of the voxels' bytes, %s", (long long)info->file_bytes, 8 * (double)info->file_bytes / voxels,
           plain / (double)info->file_bytes, tsr_compress_coder_name(info->coder));
    if (info->lossless)
        printf(c->options.psnr > 0 || c->options.rate > 0 ? ", lossless, which takes no more than the loss asked for\n" : ", lossless\n");
    else if (isfinite(info->max_error)) printf(", largest error %g\n", info->max_error);
    else printf(", PSNR %.2f dB\n", info->psnr);
}

/* A .tsc file under the name of a picture or a NIfTI volume would not be read as one. */
static int names_another_format(const char *path)
{
    static const tsr_file_kind kinds[] = { TSR_FILE_VOLUME, TSR_FILE_IMAGE, TSR_FILE_MESH, TSR_FILE_TILES, TSR_FILE_POINTS };
    if (!strcmp(path, "-") || cli_ends_in(path, ".tsc .tsc.gz")) return 0;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        if (tsr_file_check_output(path, kinds[k], NULL) == TSR_OK) return 1;
    return 0;
}

/* --device names a GPU: the file shall be one that it decodes. Coding itself is the host's work. */
static int suit_device(const struct compress *c, int *coder)
{
    const char *device = c->cli->globals.device;
    tsr_context *context = NULL;
    if (!device) return CLI_OK;
    const int code = cli_context(c->cli, &context);
    const int gpu = !code && strcmp(device, "auto") && tsr_context_device(context).kind != TSR_DEVICE_CPU;
    tsr_context_destroy(&context);
    if (code || !gpu) return code;
    if (c->options.psnr > 0 || c->options.rate > 0)
        return cli_usage(c->cli, "--%s: only the coder planes has it, which GPUs do not decode, expected --max-error, no loss, or --device cpu",
                         c->options.psnr > 0 ? "psnr" : "rate");
    if (*coder != TSR_COMPRESS_AUTO && *coder != TSR_COMPRESS_RANS)
        return cli_usage(c->cli, "--coder: %s is not decoded on %s, expected rans, or --device cpu",
                         tsr_compress_coder_name((tsr_compress_coder)*coder), device);
    *coder = TSR_COMPRESS_RANS;
    return CLI_OK;
}

/* Voxels that lie plainly in a file are mapped whatever the limit; more of them than it, packed or turned, go through a file of their own. 1: that cannot be, or need not. */
static int compress_file(struct compress *c, const char *path, tsr_compress_info *info, int *code)
{
    tsr_volume *volume = NULL;
    tsr_status status = c->read.memory_limit && strcmp(path, "-") ? tsr_volume_read(path, &c->read, &volume) : TSR_OK;
    tsr_volume_destroy(&volume);
    if (status != TSR_ERROR_MEMORY) return 1;
    status = tsr_file_compress(path, &c->read, c->output, &c->options, info);
    if (status == TSR_ERROR_UNSUPPORTED) return 1;
    cli_progress_end(c->cli);
    *code = status == TSR_OK ? CLI_OK : cli_status(c->cli, status, strstr(tsr_error_message(), path) ? path : c->output);
    return 0;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct compress c = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_COMPRESS_OPTIONS };
    int coder = 0, order = 0, order_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(c.output),
        { .name = "max-error",
          .type = CLI_REAL,
          .value = &c.options.max_error,
          .argument = "E",
          .help = "no voxel is off by more, in real units: slope applied (default: lossless)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "psnr",
          .type = CLI_REAL,
          .value = &c.options.psnr,
          .argument = "DB",
          .help = "20 log10(range / root mean squared error)",
          .lower = 1e-3,
          .upper = 140 },
        { .name = "rate",
          .type = CLI_REAL,
          .value = &c.options.rate,
          .argument = "BITS",
          .help = "bits per voxel of the whole file",
          .lower = 1e-6,
          .upper = 64 },
        { .name = "coder",
          .type = CLI_CHOICE,
          .value = &coder,
          .argument = "NAME",
          .help = "predict: smallest; planes: several resolutions, may be cut anywhere; fast; rans: decoded by CPUs and GPUs (default auto: predict, "
                  "planes for --psnr and --rate, rans where --device names a GPU)",
          .choices = "auto predict planes fast rans" },
        { .name = "brick",
          .type = CLI_SIZE3,
          .value = &c.options.brick,
          .help = "extents of the bricks (default 40; planes 64, fast 128 x 64 x 32, rans 32, longer where a volume is thin)",
          .lower = 1,
          .upper = 256 },
        { .name = "levels",
          .type = CLI_INT,
          .value = &c.options.levels,
          .argument = "N",
          .help = "of the wavelets (default 4; fast, rans: 3)",
          .lower = 1,
          .upper = 6 },
        { .name = "layers",
          .type = CLI_INT,
          .value = &c.options.layers,
          .argument = "N",
          .help = "of quality, for planes (default 8)",
          .lower = 1,
          .upper = 32 },
        { .name = "order",
          .type = CLI_CHOICE,
          .value = &order,
          .argument = "NAME",
          .help = "what a file that is cut keeps",
          .choices = "quality resolution",
          .given = &order_given },
        CLI_READ_OPTIONS_WITHIN(c.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_write(cli, c.output, TSR_FILE_VOLUME, "tsc");
    if (!code && names_another_format(c.output))
        code = cli_usage(cli, "--output: '%s' has the extension of another format, expected .tsc: convert writes the others", c.output);
    if (!code) code = suit_device(&c, &coder);
    if (code) return code;
    c.options.coder = (tsr_compress_coder)coder;
    const int planes = coder == TSR_COMPRESS_PLANES || (!coder && (c.options.psnr > 0 || c.options.rate > 0));
    if (!planes && (c.options.layers || order_given))
        return cli_usage(cli, "--%s: only the coder planes has layers of quality, expected --coder planes, --psnr or --rate beside it",
                         c.options.layers ? "layers" : "order");
    if (!planes && coder < TSR_COMPRESS_FAST && c.options.levels)
        return cli_usage(cli, "--levels: of wavelets, which the coder predict has not, expected --coder planes, fast or rans beside it");
    c.options.order = (tsr_compress_order)order;
    c.options.threads = cli->globals.threads;
    c.options.overwrite = cli->globals.force;
    c.options.progress = cli_progress(cli);
    c.options.memory_limit = c.read.memory_limit; /* what is read into memory, and what waits there to be written */
    c.read.map_beyond_limit = 1;
    tsr_compress_info info = TSR_COMPRESS_INFO;
    const char *input = cli->input[0];
    cli->channels = 1;
    if (compress_file(&c, input, &info, &code)) {
        tsr_volume *volume = cli_read_volume(cli, input, &c.read, &code);
        if (!volume) return code;
        c.options.progress = cli_progress(cli); /* reports again */
        const tsr_status status = tsr_volume_compress(volume, c.output, &c.options, &info);
        tsr_volume_destroy(&volume);
        cli_progress_end(cli);
        if (status != TSR_OK) return cli_status(cli, status, c.output);
    }
    if (code) return code;
    if (strcmp(c.output, "-")) report(&c, &info);
    return CLI_OK;
}

const cli_verb verb_compress = { "compress", "[options] VOLUME|IMAGE -o FILE.tsc",
                                 "Compress a volume or image: lossless, by largest error, PSNR or rate",
                                 "  tessera make torus -o torus.nii.gz\n"
                                 "  tessera compress torus.nii.gz --max-error 0.01 -o torus.tsc\n"
                                 "  tessera decompress torus.tsc -o again.nii.gz\n",
                                 run };
