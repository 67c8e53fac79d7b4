#include <math.h>
#include <string.h>

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
    if (info->lossless) printf(", lossless\n");
    else if (isfinite(info->max_error)) printf(", largest error %g\n", info->max_error);
    else printf(", PSNR %.2f dB\n", info->psnr);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct compress c = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_COMPRESS_OPTIONS };
    int coder = 0, order = 0;
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
          .help =
              "predict: smallest; planes: several resolutions, may be cut anywhere; fast (default auto: predict, or planes for --psnr and --rate)",
          .choices = "auto predict planes fast" },
        { .name = "brick", .type = CLI_SIZE3, .value = &c.options.brick, .help = "extents of the bricks", .lower = 1, .upper = 256 },
        { .name = "levels",
          .type = CLI_INT,
          .value = &c.options.levels,
          .argument = "N",
          .help = "of the wavelets (default 4; fast: 3)",
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
          .choices = "quality resolution" },
        CLI_READ_OPTIONS(c.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_write(cli, c.output, TSR_FILE_VOLUME, "tsc");
    if (code) return code;
    c.options.coder = (tsr_compress_coder)coder;
    c.options.order = (tsr_compress_order)order;
    c.options.threads = cli->globals.threads;
    c.options.overwrite = cli->globals.force;
    c.options.progress = cli_progress(cli);
    tsr_compress_info info;
    tsr_file_kind kind;
    const char *format, *input = cli->input[0];
    tsr_status status = TSR_OK;
    code = cli_recognise(cli, input, &c.read, &kind, &format);
    if (code) return code;
    if (kind == TSR_FILE_IMAGE) {
        tsr_image image;
        status = tsr_image_read(input, &c.read, &image);
        if (status != TSR_OK) return cli_status(cli, status, input);
        status = tsr_image_compress(&image, c.output, &c.options, &info);
        tsr_image_destroy(&image);
    } else {
        tsr_volume *volume = cli_read_volume(cli, input, &c.read, &code);
        if (!volume) return code;
        status = tsr_volume_compress(volume, c.output, &c.options, &info);
        tsr_volume_destroy(&volume);
    }
    cli_progress_end(cli);
    if (status != TSR_OK) return cli_status(cli, status, c.output);
    if (strcmp(c.output, "-")) report(&c, &info);
    return CLI_OK;
}

const cli_verb verb_compress = { "compress", "[options] VOLUME|IMAGE -o FILE.tsc",
                                 "Compress a volume or image: lossless, by largest error, PSNR or rate",
                                 "  tessera make torus -o torus.nii.gz\n"
                                 "  tessera compress torus.nii.gz --max-error 0.01 -o torus.tsc\n"
                                 "  tessera decompress torus.tsc -o again.nii.gz\n",
                                 run };
