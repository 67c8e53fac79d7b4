#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct dwt {
    cli_call *cli;
    tsr_read_options read;
    tsr_wavelet_options options;
    tsr_wavelet_keep_options keep;
    tsr_dtype dtype;
    const char *output, *mosaic, *axes;
    int64_t slice;
    int statistics;
};

static int write_mosaic(const struct dwt *d, const tsr_volume *coefficients)
{
    tsr_image image;
    tsr_write_options write = cli_image_options(d->cli, d->mosaic);
    tsr_status status = tsr_wavelet_mosaic(coefficients, d->slice, &image);
    if (status == TSR_OK) status = tsr_image_write(&image, d->mosaic, &write);
    tsr_image_destroy(&image);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, d->mosaic);
}

/* "LHH": high along y and z, x first; '-': the level does not split the axis. */
static void name_band(const tsr_wavelet_band *b, char name[4])
{
    for (int a = 0; a < 3; a++) name[a] = !(b->split >> a & 1) ? '-' : b->high >> a & 1 ? 'H' : 'L';
    name[3] = 0;
}

static int print_statistics(const struct dwt *d, const tsr_volume *coefficients)
{
    enum { MOST = 8 * TSR_WAVELET_LEVELS };
    static tsr_wavelet_statistics bands[MOST];
    int32_t count;
    const tsr_status status = tsr_wavelet_volume_statistics(coefficients, bands, MOST, &count);
    if (status != TSR_OK) return cli_status(d->cli, status, d->cli->input[0]);
    double all = 0;
    for (int32_t k = 0; k < count; k++) all += bands[k].energy;
    if (d->cli->globals.json) json_open(NULL, '[');
    else printf("level band        count  zeros %%      minimum      maximum         mean    deviation  energy %%\n");
    for (int32_t k = 0; k < count; k++) {
        const tsr_wavelet_statistics *s = &bands[k];
        char name[4];
        name_band(&s->band, name);
        const double zeros = s->count ? 100.0 * (double)s->zeros / (double)s->count : 0, energy = all > 0 ? 100 * s->energy / all : 0;
        if (!d->cli->globals.json) {
            printf("%5d %4s %12lld  %7.2f %12.5g %12.5g %12.5g %12.5g  %8.4f\n", s->band.level, name, (long long)s->count, zeros, s->minimum,
                   s->maximum, s->mean, sqrt(s->variance), energy);
            continue;
        }
        json_open(NULL, '{');
        json_int("level", s->band.level);
        json_text("band", name);
        json_int("count", s->count);
        json_int("zeros", s->zeros);
        json_real("minimum", s->minimum);
        json_real("maximum", s->maximum);
        json_real("mean", s->mean);
        json_real("variance", s->variance);
        json_real("weight", s->band.weight);
        json_real("energy", s->energy);
        json_close('}');
    }
    if (d->cli->globals.json) json_close(']');
    return CLI_OK;
}

/* What the coefficients that are left give: decibels of the range of the voxels, infinite where all come back, NaN where range or error leave float64. */
static tsr_status measure(tsr_context *context, tsr_context *on_cpu, const tsr_volume *volume, const tsr_volume *coefficients, double *psnr)
{
    const tsr_compare_options any = TSR_COMPARE_OPTIONS;
    tsr_volume *back = NULL, *after = NULL, *before = NULL;
    tsr_volume_comparison difference = TSR_VOLUME_COMPARISON;
    tsr_statistics range = TSR_STATISTICS;
    *psnr = (double)NAN;
    if (tsr_volume_check_finite(context, coefficients, "coefficients") != TSR_OK) return TSR_OK; /* left float64: nothing comes back */
    tsr_status status = tsr_volume_idwt(context, coefficients, &back);
    if (status == TSR_OK) status = tsr_volume_copy(back, on_cpu, &after);
    if (status == TSR_OK) status = tsr_volume_copy(volume, on_cpu, &before);
    if (status == TSR_OK) status = tsr_volume_statistics(context, volume, &range);
    if (status == TSR_OK) status = tsr_compare_volumes(on_cpu, after, before, &any, &difference);
    if (status == TSR_OK) {
        const double width = range.maximum - range.minimum;
        *psnr = difference.rms == 0 && !difference.not_a_number ? HUGE_VAL : (double)NAN;
        if (difference.rms > 0 && !difference.not_a_number && isfinite(difference.rms) && isfinite(width)) *psnr = 20 * log10(width / difference.rms);
    }
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&after);
    tsr_volume_destroy(&before);
    return status;
}

/* Only the largest coefficients stay; says how many, and how well they do. */
static int keep_largest(struct dwt *d, tsr_context *context, const tsr_volume *volume, tsr_volume *coefficients)
{
    tsr_wavelet_keep_info info = TSR_WAVELET_KEEP_INFO;
    tsr_context *on_cpu = NULL;
    double psnr = 0;
    const int code = cli_cpu_context(d->cli, &on_cpu);
    if (code) return code;
    d->keep.progress = cli_progress(d->cli);
    tsr_status status = tsr_wavelet_volume_keep(context, coefficients, &d->keep, &info);
    cli_progress_end(d->cli);
    if (status == TSR_OK) status = measure(context, on_cpu, volume, coefficients, &psnr);
    tsr_context_destroy(&on_cpu);
    if (status != TSR_OK) return cli_status(d->cli, status, d->cli->input[0]);
    if (d->cli->globals.json && !d->statistics && strcmp(d->output, "-")) {
        json_open(NULL, '{');
        json_int("coefficients", info.coefficients);
        json_int("kept", info.kept);
        json_int("nonzero", info.nonzero);
        json_real("least", info.least);
        json_real("psnr", psnr);
        json_close('}');
        return CLI_OK;
    }
    char from[40] = "", decibels[40] = "undefined";
    if (isfinite(info.least)) snprintf(from, sizeof from, ", from %.6g on", info.least);
    if (!isnan(psnr)) snprintf(decibels, sizeof decibels, "%.2f dB", psnr);
    cli_note(d->cli, "%lld of %lld coefficients kept, %lld of them not 0%s; PSNR %s", (long long)info.kept, (long long)info.coefficients,
             (long long)info.nonzero, from, decibels);
    return CLI_OK;
}

static int transform(struct dwt *d)
{
    tsr_context *context = NULL;
    tsr_volume *coefficients = NULL;
    tsr_write_options write = cli_write_options(d->cli);
    write.stored_values = 1; /* coefficients are of stored values; idwt needs the scaling apart */
    int code = cli_context(d->cli, &context);
    if (code) return code;
    const int keeps = d->keep.keep > 0 || d->keep.cut > 0;
    tsr_volume *volume = cli_read_to_device(d->cli, d->cli->input[0], &d->read, context, &code);
    if (volume) {
        tsr_status status =
            keeps ? tsr_volume_check_finite(context, volume, d->keep.keep > 0 ? "--keep" : "--cut") : TSR_OK; /* they spread, and no PSNR has them */
        if (status == TSR_OK) status = tsr_volume_dwt(context, volume, &d->options, d->dtype, &coefficients);
        if (status == TSR_OK && tsr_volume_meta(coefficients, "wavelet.wrapped"))
            cli_note(d->cli, "coefficients leave 32 bits and wrap: idwt gives the volume back bit for bit, but as numbers they are wrong; --dtype "
                             "f64 has them right");
        if (status == TSR_OK && keeps) code = keep_largest(d, context, volume, coefficients);
        if (status == TSR_OK && !code) status = cli_move_volume(NULL, &coefficients);
        if (status != TSR_OK) code = cli_status(d->cli, status, d->cli->input[0]);
    }
    if (!code && d->mosaic) code = write_mosaic(d, coefficients);
    if (!code && d->statistics) code = print_statistics(d, coefficients);
    if (!code) {
        tsr_status status = tsr_volume_write(coefficients, d->output, &write);
        if (status != TSR_OK) code = cli_status(d->cli, status, d->output);
    }
    tsr_volume_destroy(&coefficients);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

/* Within --memory-limit, from file to file. */
static int transform_file(struct dwt *d)
{
    tsr_context *context = NULL;
    const tsr_write_options write = cli_write_options(d->cli);
    int code = cli_context(d->cli, &context);
    if (code) return code;
    d->read.progress = cli_progress(d->cli);
    const tsr_status status = tsr_file_dwt(context, d->cli->input[0], &d->read, &d->options, d->dtype, d->output, &write, NULL);
    cli_progress_end(d->cli);
    if (status != TSR_OK) code = cli_status(d->cli, status, d->cli->input[0]);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct dwt d = {
        .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_WAVELET_OPTIONS, .keep = TSR_WAVELET_KEEP_OPTIONS, .dtype = TSR_DTYPE_COUNT, .slice = -1
    };
    tsr_wavelet_step steps[TSR_WAVELET_STEPS];
    static const char axes[] = "xyz";
    const char *steps_file = NULL;
    int filter = 0, boundary = 0, layout = 0, pad = 0, no_accuracy = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(d.output),
        CLI_FORMAT_OPTION(cli),
        { .name = "filter",
          .type = CLI_CHOICE,
          .value = &filter,
          .argument = "NAME",
          .help = "the steps of the transform",
          .choices = "legall53 haar dd97 dd137 daub97 fidelity jpeg53 custom minhaar maxlift adaptive53" }, /* in the order of tsr_wavelet_filter */
        { .name = "threshold",
          .type = CLI_REAL,
          .value = &d.options.threshold,
          .argument = "T",
          .help = "of adaptive53: no update where its neighbours differ by more",
          .lower = 1e-300,
          .upper = 1e299 },
        { .name = "steps",
          .type = CLI_TEXT,
          .value = &steps_file,
          .argument = "FILE",
          .help = "steps of your own, for --filter custom: lines of PARITY SIGN FIRST ROUNDING SHIFT RULE TAP... (docs/guide/wavelets.md)" },
        { .name = "scale",
          .type = CLI_REAL,
          .value = &d.options.scale,
          .argument = "K",
          .help = "of steps of your own, for --normalise (default 1)",
          .lower = 1e-6,
          .upper = 1e6 },
        { .name = "levels",
          .type = CLI_INT,
          .value = &d.options.levels,
          .argument = "N",
          .help = "(default 3)",
          .lower = 1,
          .upper = TSR_WAVELET_LEVELS },
        { .name = "boundary",
          .type = CLI_CHOICE,
          .value = &boundary,
          .argument = "MODE",
          .help = "what lies beyond the faces",
          .choices = "clamp symmetric periodic zero" },
        { .name = "pad",
          .type = CLI_CHOICE,
          .value = &pad,
          .argument = "MODE",
          .help = "dirac: extents become multiples of 2^levels, the last voxels repeated; idwt cuts them again",
          .choices = "none dirac" },
        { .name = "layout",
          .type = CLI_CHOICE,
          .value = &layout,
          .argument = "NAME",
          .help = "where the coefficients lie: nested bands, in the places of the voxels, or x apart and y, z in place",
          .choices = "mallat interleaved split" },
        { .name = "axes", .type = CLI_TEXT, .value = &d.axes, .argument = "xyz", .help = "the axes to be transformed (default: all)" },
        { .name = "accuracy",
          .type = CLI_INT,
          .value = &d.options.accuracy,
          .argument = "BITS",
          .help = "integers are multiplied by 2^BITS before each level (default: as Dirac does for the filter)",
          .lower = 1,
          .upper = 4 },
        { .name = "no-accuracy", .type = CLI_FLAG, .value = &no_accuracy, .help = "integers as they are" },
        { .name = "normalise", .type = CLI_FLAG, .value = &d.options.normalise, .help = "floats: bands scaled to be near orthonormal" },
        { .name = "dtype",
          .type = CLI_DTYPE,
          .value = &d.dtype,
          .help = "of the coefficients: i16, i32, f32, f64 (default: by type and range of the voxels)" },
        { .name = "keep",
          .type = CLI_REAL,
          .value = &d.keep.keep,
          .argument = "P",
          .help = "only the largest P percent of the coefficients, by what they become in the voxels; says the PSNR",
          .lower = 1e-9,
          .upper = 100 },
        { .name = "cut",
          .type = CLI_REAL,
          .value = &d.keep.cut,
          .argument = "T",
          .help = "details that become less than T in the voxels are 0; says the PSNR",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "soft", .type = CLI_FLAG, .value = &d.keep.soft, .help = "with --cut: the other details move towards 0 by as much" },
        { .name = "mosaic",
          .type = CLI_TEXT,
          .value = &d.mosaic,
          .argument = "FILE.png",
          .help = "picture of the bands in one slice (layout mallat)" },
        { .name = "slice",
          .type = CLI_COUNT,
          .value = &d.slice,
          .argument = "Z",
          .help = "of the mosaic, counted in the coefficients (default 0)",
          .lower = 0,
          .upper = 9e15 },
        { .name = "statistics",
          .type = CLI_FLAG,
          .value = &d.statistics,
          .help = "say what lies in each band: range, mean, deviation, zeros, energy" },
        CLI_READ_OPTIONS_WITHIN(d.read),
        { 0 },
    };
    cli->channels = 1;
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    for (const char *c = d.axes; c && *c; c++) {
        const char *found = strchr(axes, *c);
        if (!found) return cli_usage(cli, "--axes: '%s' given, expected some of the letters xyz", d.axes);
        const uint32_t bit = 1u << (found - axes);
        if (d.options.axes & bit) return cli_usage(cli, "--axes: '%s' names %c twice, expected each letter once", d.axes, *c);
        d.options.axes |= bit;
    }
    if (d.axes && !d.options.axes) return cli_usage(cli, "--axes: '' given, expected some of the letters xyz");
    d.options.filter = (tsr_wavelet_filter)filter;
    if ((filter == TSR_WAVELET_ADAPTIVE53) != (d.options.threshold > 0))
        return cli_usage(cli, "--threshold: expected with --filter adaptive53, and only there");
    if ((filter == TSR_WAVELET_CUSTOM) != !!steps_file) return cli_usage(cli, "--steps: expected with --filter custom, and only there");
    if (d.options.scale > 0 && !steps_file) return cli_usage(cli, "--scale: of the steps of --steps, expected only there");
    if (steps_file) {
        char *text = cli_read_text(cli, steps_file);
        if (!text) return CLI_FAILED;
        const tsr_status status = tsr_wavelet_steps_parse(text, steps, &d.options.step_count);
        free(text);
        if (status != TSR_OK) return cli_status(cli, status, steps_file);
        d.options.steps = steps;
    }
    if (d.keep.keep > 0 && d.keep.cut > 0) return cli_usage(cli, "--cut: expected without --keep");
    if (d.keep.soft && !(d.keep.cut > 0)) return cli_usage(cli, "--soft: expected with --cut");
    if (d.slice >= 0 && !d.mosaic) return cli_usage(cli, "--slice: of the picture, expected --mosaic beside it");
    if (d.slice < 0) d.slice = 0;
    d.options.boundary = (tsr_wavelet_boundary)boundary;
    d.options.layout = (tsr_wavelet_layout)layout;
    d.options.pad = (tsr_wavelet_pad)pad;
    if (no_accuracy && d.options.accuracy) return cli_usage(cli, "--accuracy: expected without --no-accuracy");
    if (no_accuracy) d.options.accuracy = -1;
    code = cli_check_write(cli, d.output, TSR_FILE_VOLUME, NULL);
    if (!code) {
        int keeps; /* coefficients without their metadata cannot come back */
        const tsr_write_options write = cli_write_options(cli);
        const tsr_status status = tsr_file_keeps_metadata(d.output, &write, &keeps);
        if (status != TSR_OK) code = cli_status(cli, status, d.output);
        else if (!keeps)
            code = cli_usage(cli, "--output: '%s' cannot hold what idwt needs to know, expected .nrrd, .nhdr, .mha, .mhd or .tsc", d.output);
    }
    if (!code && pad && d.read.memory_limit) code = cli_usage(cli, "--pad: works on a volume in memory, expected it without --memory-limit");
    if (!code && (d.mosaic || d.statistics) && d.read.memory_limit)
        code = cli_usage(cli, "--%s: shows coefficients in memory, expected it without --memory-limit", d.mosaic ? "mosaic" : "statistics");
    if (!code && (d.keep.keep > 0 || d.keep.cut > 0) && d.read.memory_limit)
        code = cli_usage(cli, "--%s: looks at all coefficients at once, expected it without --memory-limit", d.keep.keep > 0 ? "keep" : "cut");
    if (!code && d.statistics && !strcmp(d.output, "-"))
        code = cli_usage(cli, "--statistics: goes to standard output, expected the coefficients in a file");
    if (!code && d.mosaic) code = cli_check_write_option(cli, "mosaic", d.mosaic, TSR_FILE_IMAGE, NULL);
    return code ? code : d.read.memory_limit ? transform_file(&d) : transform(&d);
}

const cli_verb verb_dwt = {
    "dwt", "[options] VOLUME -o COEFFICIENTS", "Wavelet transform of a volume; idwt brings it back",
    "  tessera make torus -o torus.nii.gz\n  tessera dwt torus.nii.gz --filter dd97 --levels 2 --mosaic bands.png -o bands.nrrd\n"
    "  tessera idwt bands.nrrd -o back.nii.gz\n",
    run
};
