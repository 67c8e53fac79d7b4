#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct decompress {
    cli_call *cli;
    tsr_decompress_options options;
    const char *output, *strip;
    int64_t slice;
    int info, box_given;
};

static int whole(const struct decompress *d, const tsr_compress_info *i)
{
    if (i->file_bytes < i->whole_bytes)
        return cli_error(d->cli, CLI_FAILED, "%s: cut off: %lld of %lld bytes are there", d->cli->input[0], (long long)i->file_bytes,
                         (long long)i->whole_bytes);
    if (i->pieces_whole < i->pieces)
        return cli_error(d->cli, CLI_FAILED, "%s: damaged: %lld of %lld pieces are whole", d->cli->input[0], (long long)i->pieces_whole,
                         (long long)i->pieces);
    return CLI_OK;
}

static int describe(const struct decompress *d)
{
    static const char *const orders[] = { "quality", "resolution" };
    tsr_compress_info i = TSR_COMPRESS_INFO;
    const tsr_status status = tsr_compress_describe(d->cli->input[0], &i);
    if (status != TSR_OK) return cli_status(d->cli, status, d->cli->input[0]);
    if (d->cli->globals.json) {
        json_open(NULL, '{');
        json_text("kind", i.image ? "image" : "volume");
        json_text("dtype", tsr_dtype_name(i.dtype));
        json_int("nx", i.size.x);
        json_int("ny", i.size.y);
        json_int("nz", i.size.z);
        json_text("coder", tsr_compress_coder_name(i.coder));
        json_text("order", orders[i.order]);
        json_int("levels", i.levels);
        json_int("layers", i.layers);
        json_bool("lossless", i.lossless);
        json_real("max_error", i.max_error);
        json_int("bytes", i.file_bytes);
        json_int("whole_bytes", i.whole_bytes);
        json_int("pieces", i.pieces);
        json_int("pieces_whole", i.pieces_whole);
        json_close('}');
        return whole(d, &i);
    }
    printf("%s of %lld x %lld x %lld %s, bricks of %lld x %lld x %lld, %s, %d levels, %d layers, order %s\n", i.image ? "image" : "volume",
           (long long)i.size.x, (long long)i.size.y, (long long)i.size.z, tsr_dtype_name(i.dtype), (long long)i.brick.x, (long long)i.brick.y,
           (long long)i.brick.z, tsr_compress_coder_name(i.coder), i.levels, i.layers, orders[i.order]);
    printf("%s, %lld of %lld bytes, %lld of %lld pieces whole\n",
           i.lossless              ? "lossless"
           : isfinite(i.max_error) ? "largest error bounded"
                                   : "by quality",
           (long long)i.file_bytes, (long long)i.whole_bytes, (long long)i.pieces_whole, (long long)i.pieces);
    return whole(d, &i);
}

static int write_strip(const struct decompress *d)
{
    const tsr_write_options write = cli_image_options(d->cli, d->strip);
    tsr_image image;
    const int code = cli_check_write(d->cli, d->strip, TSR_FILE_IMAGE, NULL);
    if (code) return code;
    tsr_status status = tsr_compress_strip(d->cli->input[0], d->slice, &image);
    if (status != TSR_OK) return cli_status(d->cli, status, d->cli->input[0]);
    status = tsr_image_write(&image, d->strip, &write);
    tsr_image_destroy(&image);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, d->strip);
}

/* On the GPU that --device names; *volume stays NULL where the host shall do it: no device is named, or it is the host, or auto and the file's coder is
 * none of a GPU, or its bricks are too large for this one. */
static int decode_on_device(const struct decompress *d, tsr_volume **volume, tsr_compress_info *info)
{
    const char *device = d->cli->globals.device, *input = d->cli->input[0];
    tsr_context *context = NULL;
    tsr_compressed *compressed = NULL;
    tsr_volume *there = NULL;
    if (!device) return CLI_OK;
    int code = cli_context(d->cli, &context);
    if (code || tsr_context_device(context).kind == TSR_DEVICE_CPU) {
        tsr_context_destroy(&context);
        return code;
    }
    tsr_status status = tsr_compressed_create(context, input, &d->options, &compressed);
    int leave = status == TSR_ERROR_UNSUPPORTED && !strcmp(device, "auto");
    if (!leave && d->options.memory_limit) code = cli_usage(d->cli, "--memory-limit: bounds the host's memory, expected --device cpu beside it");
    else if (!leave) {
        if (status == TSR_OK) status = tsr_compressed_decode(compressed, &d->options, &there, info);
        if (status == TSR_OK) status = tsr_volume_copy(there, NULL, volume);
        cli_progress_end(d->cli);
        leave = status == TSR_ERROR_UNSUPPORTED && !strcmp(device, "auto");
        if (status != TSR_OK && !leave) code = cli_status(d->cli, status, input);
    }
    tsr_volume_destroy(&there);
    tsr_compressed_destroy(&compressed);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct decompress d = { .cli = cli, .options = TSR_DECOMPRESS_OPTIONS };
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(d.output),
        CLI_FORMAT_OPTION(cli),
        { .name = "box",
          .type = CLI_BOX,
          .value = d.options.box,
          .help = "only these voxels: first, and one past the last",
          .lower = 0,
          .upper = 9e15,
          .given = &d.box_given },
        { .name = "reduce",
          .type = CLI_INT,
          .value = &d.options.reduce,
          .argument = "N",
          .help = "at 1 / 2^N of the resolution (not coder predict)",
          .lower = 0,
          .upper = 6 },
        { .name = "layers",
          .type = CLI_INT,
          .value = &d.options.layers,
          .argument = "N",
          .help = "of quality to use (default: all)",
          .lower = 1,
          .upper = 32 },
        { .name = "partial", .type = CLI_FLAG, .value = &d.options.partial, .help = "take what is there of a file that was cut or damaged" },
        { .name = "info", .type = CLI_FLAG, .value = &d.info, .help = "say what the file holds and whether it is whole; no output" },
        { .name = "strip", .type = CLI_TEXT, .value = &d.strip, .argument = "FILE.png", .help = "picture of a slice layer by layer (coder planes)" },
        { .name = "slice", .type = CLI_COUNT, .value = &d.slice, .argument = "Z", .help = "of the strip (default 0)", .lower = 0, .upper = 9e15 },
        { .name = "memory-limit",
          .type = CLI_BYTES,
          .value = &d.options.memory_limit,
          .argument = "BYTES",
          .help = "of memory to take: larger volumes go from file to file, a row of bricks or more at a time",
          .lower = 1,
          .upper = 9e18 },
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (d.box_given && !(d.options.box[1].x | d.options.box[1].y | d.options.box[1].z)) /* all 0 means the whole volume to the library */
        return cli_usage(cli, "--box: nothing lies before 0,0,0, expected one past the last voxel after the colon");
    if (d.info && (d.output || d.strip || d.box_given || d.options.reduce || d.options.layers || d.options.partial))
        return cli_usage(cli, "--info: nothing is decoded, expected it without --output, --strip, --box, --reduce, --layers and --partial");
    if (d.info) return describe(&d);
    if (!d.output && !d.strip) return cli_usage(cli, "--output: missing");
    if (d.slice && !d.strip) return cli_usage(cli, "--slice: of the strip, expected --strip as well");
    if (!d.output && (d.box_given || d.options.reduce || d.options.layers || d.options.partial))
        return cli_usage(cli, "--strip: shows a whole slice layer by layer, expected --output beside --box, --reduce, --layers or --partial");
    if (d.output && !strcmp(d.output, "-") && !cli->format)
        return cli_usage(cli, "--output: '-' (standard output) has no extension, expected --format NAME beside it");
    if (d.strip) {
        code = write_strip(&d);
        if (code || !d.output) return code;
    }
    const tsr_write_options write = cli_write_options(cli);
    tsr_compress_info info = TSR_COMPRESS_INFO;
    tsr_volume *volume = NULL;
    const char *input = cli->input[0];
    code = cli_check_output(cli, d.output);
    if (code) return code;
    d.options.threads = cli->globals.threads;
    d.options.progress = cli_progress(cli);
    if (d.options.layers) {
        const tsr_status described = tsr_compress_describe(input, &info);
        if (described != TSR_OK) return cli_status(cli, described, input);
        if (info.coder != TSR_COMPRESS_PLANES)
            return cli_usage(cli, "--layers: '%s' has coder %s without layers, expected planes", input, tsr_compress_coder_name(info.coder));
    }
    const int by_parts = d.options.memory_limit > 0;
    code = decode_on_device(&d, &volume, &info);
    if (code) return code;
    tsr_status status = volume     ? TSR_OK
                        : by_parts ? tsr_file_decompress(input, d.output, &d.options, &write, &info)
                                   : tsr_volume_decompress(input, &d.options, &volume, &info);
    cli_progress_end(cli);
    if (status != TSR_OK) return cli_status(cli, status, input);
    if (info.pieces_whole < info.pieces)
        cli_note(cli, "%s: %lld of %lld pieces are missing or damaged", input, (long long)(info.pieces - info.pieces_whole), (long long)info.pieces);
    if (by_parts) return CLI_OK;
    status = tsr_volume_write(volume, d.output, &write);
    tsr_volume_destroy(&volume);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, d.output);
}

const cli_verb verb_decompress = { "decompress", "[options] FILE.tsc -o VOLUME|IMAGE",
                                   "The volume or image of a .tsc file, a box of it, or a lower resolution",
                                   "  tessera make torus -o torus.nii.gz\n"
                                   "  tessera compress torus.nii.gz --psnr 60 -o torus.tsc\n"
                                   "  tessera decompress torus.tsc --reduce 1 -o small.nii.gz\n",
                                   run };
