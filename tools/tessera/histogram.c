#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { AXES = 3, FRACTION_BITS = 20 };

struct histogram {
    cli_call *cli;
    tsr_read_options read;
    tsr_context *context;
    const char *output, *weights;
    int32_t bins, fraction_bits;
    double range[2];
    int range_given, fraction_given;
    tsr_volume *value[AXES], *weight; /* on the device: u8, u16 or f32 with slope 1 */
    tsr_histogram_axis axis[AXES];
    double step[AXES]; /* of the values: integers' slope, 0 of real ones */
    int32_t axes;
    int64_t *sums, cells;
};

/* What the histogram reads: real values as f32, unless the bytes are the values. */
static tsr_status prepare(struct histogram *h, tsr_volume **volume, int weight)
{
    double slope, intercept;
    tsr_volume *converted = NULL;
    const tsr_dtype dtype = tsr_volume_dtype(*volume);
    tsr_volume_scaling(*volume, &slope, &intercept);
    tsr_status status = cli_move_volume(h->context, volume);
    if (status != TSR_OK || (slope == 1 && intercept == 0 && (dtype == TSR_F32 || (!weight && (dtype == TSR_U8 || dtype == TSR_U16))))) return status;
    status = tsr_volume_convert(h->context, *volume, TSR_F32, &converted);
    if (status != TSR_OK) return status;
    tsr_volume_destroy(volume);
    *volume = converted;
    return TSR_OK;
}

/* The channels of a picture are axes, its alpha is none. */
static int take_image(struct histogram *h, tsr_volume **image)
{
    const tsr_size3 n = tsr_volume_size(*image);
    h->axes = n.z >= 3 ? 3 : 1;
    tsr_status status = cli_move_volume(h->context, image);
    for (int32_t c = 0; c < h->axes && status == TSR_OK; c++)
        status = tsr_volume_crop(h->context, *image, (tsr_size3){ 0, 0, c }, (tsr_size3){ n.x, n.y, c + 1 }, &h->value[c]);
    tsr_volume_destroy(image);
    return status == TSR_OK ? CLI_OK : cli_status(h->cli, status, h->cli->input[0]);
}

static int read_inputs(struct histogram *h)
{
    int code = CLI_OK;
    for (int k = 0; k < h->cli->inputs && !code; k++) {
        const char *path = h->cli->input[k];
        tsr_volume *volume = cli_read_volume(h->cli, path, &h->read, &code);
        if (!volume) return code;
        if (!tsr_volume_channels(volume)) h->value[h->axes++] = volume;
        else if (h->cli->inputs == 1) code = take_image(h, &volume);
        else {
            tsr_volume_destroy(&volume);
            return cli_usage(h->cli, "%s: a picture is an input of its own, its channels are the axes", path);
        }
    }
    h->cli->channels = 0;
    if (!code && h->weights) h->weight = cli_read_volume(h->cli, h->weights, &h->read, &code);
    return code;
}

static int same_size(const struct histogram *h)
{
    const tsr_size3 n = tsr_volume_size(h->value[0]);
    for (int k = 1; k <= AXES; k++) {
        const tsr_volume *other = k < AXES ? h->value[k] : h->weight;
        const tsr_size3 m = other ? tsr_volume_size(other) : n;
        if (n.x != m.x || n.y != m.y || n.z != m.z)
            return cli_error(h->cli, CLI_FAILED, "%s: %lld x %lld x %lld voxels, expected %lld x %lld x %lld as %s",
                             k < AXES ? h->cli->input[k] : h->weights, (long long)m.x, (long long)m.y, (long long)m.z, (long long)n.x, (long long)n.y,
                             (long long)n.z, h->cli->input[0]);
    }
    return CLI_OK;
}

/* The range that is given, that of a byte, or from the smallest to the largest value: integers to their next, real values to the next float32. */
static tsr_status set_axis(struct histogram *h, int32_t k, int *code)
{
    tsr_volume *v = h->value[k];
    tsr_histogram_axis *a = &h->axis[k];
    tsr_reduced lower, upper;
    *a = (tsr_histogram_axis){ tsr_volume_dtype(v), tsr_volume_data(v), h->range[0], h->range[1], h->bins };
    if (h->range_given) return TSR_OK;
    a->lower = 0;
    a->upper = 256;
    if (a->dtype == TSR_U8) return TSR_OK;
    tsr_status status = tsr_reduce_host(h->context, TSR_REDUCE_MIN, a->dtype, a->data, tsr_volume_count(v), &lower);
    if (status == TSR_OK) status = tsr_reduce_host(h->context, TSR_REDUCE_MAX, a->dtype, a->data, tsr_volume_count(v), &upper);
    if (status != TSR_OK) return status;
    a->lower = a->dtype == TSR_F32 ? lower.f : (double)lower.u;
    a->upper = a->dtype == TSR_F32 ? upper.f : (double)upper.u;
    if (!(a->lower <= a->upper && isfinite(a->upper - a->lower)))
        *code =
            cli_error(h->cli, CLI_FAILED, a->lower > a->upper ? "%s: no number among the values" : "%s: values that are not finite, expected --range",
                      h->cli->input[k]);
    else a->upper = fmax(a->upper + h->step[k], a->dtype == TSR_F32 ? (double)nextafterf((float)a->upper, INFINITY) : 0);
    return TSR_OK;
}

static double integer_step(const tsr_volume *v)
{
    double slope, intercept;
    const tsr_dtype dtype = tsr_volume_dtype(v);
    tsr_volume_scaling(v, &slope, &intercept);
    return dtype == TSR_F32 || dtype == TSR_F64 || !isfinite(slope) ? 0 : fabs(slope);
}

/* Sums count units of 2^-fraction_bits in 64 bits: they must not wrap, whatever their order and their signs, nor a weight be cut. */
static tsr_status check_weights(struct histogram *h, int *code)
{
    tsr_volume *local = NULL;
    const tsr_status status = tsr_volume_copy(h->weight, NULL, &local);
    if (status != TSR_OK) return status;
    const float *w = (const float *)tsr_volume_data_const(local);
    const int64_t count = tsr_volume_count(local);
    double sum = 0;
    int64_t without = 0;
    int bits = h->fraction_bits;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(w[i])) without++;
        else sum += fabs((double)w[i]);
    }
    tsr_volume_destroy(&local);
    while (bits >= 0 && !(ldexp(sum, bits) + 0.5 * (double)count < 4611686018427387904.0)) bits--;
    if (bits < 0) *code = cli_error(h->cli, CLI_FAILED, "%s: the magnitudes of the weights sum to %g, expected below 2^62", h->weights, sum);
    else if (bits < h->fraction_bits)
        *code = cli_error(h->cli, CLI_FAILED,
                          "%s: the magnitudes of the weights sum to %g, too much for 2^-%d as their unit, expected --fraction-bits %d", h->weights,
                          sum, h->fraction_bits, bits);
    else if (without) cli_note(h->cli, "%s: %lld weights are no number and count as 0", h->weights, (long long)without);
    return TSR_OK;
}

static tsr_status count(struct histogram *h, int *code)
{
    tsr_volume *room = NULL, *local = NULL;
    tsr_status status = TSR_OK;
    h->cells = 1;
    for (int32_t k = 0; k < h->axes && status == TSR_OK; k++) {
        h->step[k] = integer_step(h->value[k]);
        status = prepare(h, &h->value[k], 0);
        if (status == TSR_OK) status = set_axis(h, k, code);
        h->cells *= h->bins;
    }
    if (status == TSR_OK && h->weight) status = prepare(h, &h->weight, 1);
    if (status == TSR_OK && !*code && h->weight) status = check_weights(h, code);
    if (status != TSR_OK || *code) return status;
    if (status == TSR_OK) status = tsr_volume_create(h->context, TSR_I64, (tsr_size3){ h->cells, 1, 1 }, NULL, &room);
    if (status == TSR_OK)
        status =
            tsr_histogram_joint(h->context, h->axis, h->axes, tsr_volume_count(h->value[0]),
                                h->weight ? (const float *)tsr_volume_data(h->weight) : NULL, h->fraction_bits, (int64_t *)tsr_volume_data(room));
    if (status == TSR_OK) status = tsr_volume_copy(room, NULL, &local);
    h->sums = status == TSR_OK ? (int64_t *)malloc((size_t)h->cells * sizeof *h->sums) : NULL;
    if (h->sums) memcpy(h->sums, tsr_volume_data(local), (size_t)h->cells * sizeof *h->sums);
    tsr_volume_destroy(&local);
    tsr_volume_destroy(&room);
    return status;
}

static double sum_of(const struct histogram *h, int64_t cell)
{
    return h->weight ? ldexp((double)h->sums[cell], -h->fraction_bits) : (double)h->sums[cell];
}

/* The lower ends of the cell's bins and its sum; cells of 0 are left out of joint histograms. */
static int write_csv(const struct histogram *h)
{
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);
    if (!file) return cli_error(h->cli, CLI_FAILED, "%s: no memory for the table", h->output);
    for (int32_t k = 0; k < h->axes; k++) fprintf(file, "lower%d,", k);
    fprintf(file, "%s\n", h->weight ? "weight" : "count");
    for (int64_t c = 0; c < h->cells; c++) {
        int64_t rest = c;
        if (!h->sums[c] && h->axes > 1) continue;
        for (int32_t k = 0; k < h->axes; k++, rest /= h->bins)
            fprintf(file, "%.9g,", h->axis[k].lower + (double)(rest % h->bins) * (h->axis[k].upper - h->axis[k].lower) / h->bins);
        fprintf(file, "%.17g\n", sum_of(h, c));
    }
    const int failed = fclose(file) != 0;
    const int code = failed ? cli_error(h->cli, CLI_FAILED, "%s: no memory for the table", h->output) : cli_write_text(h->cli, h->output, text);
    free(text);
    return code;
}

/* A volume whose voxels are the cells, placed at the middles of the bins. */
static int write_volume(const struct histogram *h)
{
    tsr_size3 n = { h->bins, h->axes > 1 ? h->bins : 1, h->axes > 2 ? h->bins : 1 };
    double width[3] = { 1, 1, 1 }, first[3] = { 0, 0, 0 };
    tsr_volume *v = NULL;
    const tsr_write_options write = cli_write_options(h->cli);
    for (int32_t k = 0; k < h->axes; k++) {
        width[k] = (h->axis[k].upper - h->axis[k].lower) / h->bins;
        first[k] = h->axis[k].lower + 0.5 * width[k];
    }
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ width[0], width[1], width[2] }, (tsr_vec3){ first[0], first[1], first[2] }, TSR_SPACE_NONE);
    tsr_status status = tsr_volume_create(NULL, TSR_F64, n, &g, &v);
    for (int64_t c = 0; status == TSR_OK && c < h->cells; c++) ((double *)tsr_volume_data(v))[c] = sum_of(h, c);
    if (status == TSR_OK) status = tsr_volume_write(v, h->output, &write);
    tsr_volume_destroy(&v);
    return status == TSR_OK ? CLI_OK : cli_status(h->cli, status, h->output);
}

static int is_csv(const char *path)
{
    const size_t n = strlen(path);
    return !strcmp(path, "-") || (n > 4 && !strcmp(path + n - 4, ".csv"));
}

static void show(const struct histogram *h)
{
    double total = 0;
    int64_t filled = 0;
    const double width = (h->axis[0].upper - h->axis[0].lower) / h->bins;
    const int single = h->axes == 1 && !h->weight; /* then the sums are counts */
    for (int64_t c = 0; c < h->cells; c++) {
        total += sum_of(h, c);
        filled += h->sums[c] != 0;
    }
    const uint64_t *counts = (const uint64_t *)h->sums;
    const int32_t median = single ? tsr_histogram_percentile(counts, h->bins, 0.5) : -1, otsu = single ? tsr_histogram_otsu(counts, h->bins) : -1;
    if (h->cli->globals.json) {
        json_open(NULL, '{');
        json_int("axes", h->axes);
        json_int("bins", h->bins);
        json_int("cells_filled", filled);
        json_real("total", total);
        if (median >= 0) json_real("median", h->axis[0].lower + (median + 0.5) * width);
        if (otsu >= 0) json_real("otsu", h->axis[0].lower + (otsu + 1) * width);
        json_close('}');
        return;
    }
    printf("%d axes of %d bins, %lld cells hold anything, total %.9g", h->axes, h->bins, (long long)filled, total);
    if (median >= 0) printf(", median %.6g", h->axis[0].lower + (median + 0.5) * width);
    if (otsu >= 0) printf(", Otsu's threshold %.6g", h->axis[0].lower + (otsu + 1) * width);
    printf("\n");
}

static int work(struct histogram *h)
{
    int code = cli_context(h->cli, &h->context);
    if (!code) code = read_inputs(h);
    if (!code) code = same_size(h);
    if (!code && pow(h->bins, h->axes) > 1 << 24) code = cli_usage(h->cli, "--bins: %d on %d axes, expected at most 2^24 in all", h->bins, h->axes);
    if (!code) {
        const tsr_status status = count(h, &code);
        if (!code && status != TSR_OK) code = cli_status(h->cli, status, h->cli->input[0]);
        else if (!code && !h->sums) code = cli_error(h->cli, CLI_FAILED, "no memory for %lld bins", (long long)h->cells);
    }
    if (!code && h->output) code = is_csv(h->output) ? write_csv(h) : write_volume(h);
    if (!code && (!h->output || strcmp(h->output, "-"))) show(h);
    for (int k = 0; k < AXES; k++) tsr_volume_destroy(&h->value[k]);
    tsr_volume_destroy(&h->weight);
    free(h->sums);
    tsr_context_destroy(&h->context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct histogram h = { .cli = cli, .read = TSR_READ_OPTIONS, .bins = 256, .fraction_bits = FRACTION_BITS };
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &h.output,
          .argument = "FILE",
          .help = "a table (.csv, -) or a volume of the sums, one voxel per bin" },
        { .name = "bins", .type = CLI_INT, .value = &h.bins, .argument = "N", .help = "per axis (default 256)", .lower = 1, .upper = 1 << 24 },
        { .name = "range",
          .type = CLI_RANGE,
          .value = h.range,
          .argument = "LOWER:UPPER",
          .help = "LOWER <= v < UPPER, on all axes (default: of the values; bytes: 0:256)",
          .given = &h.range_given },
        { .name = "weights", .type = CLI_TEXT, .value = &h.weights, .argument = "VOLUME", .help = "what each voxel adds, instead of 1" },
        { .name = "fraction-bits",
          .type = CLI_INT,
          .value = &h.fraction_bits,
          .argument = "N",
          .help = "weights are rounded to multiples of 2^-N (default 20)",
          .lower = 0,
          .upper = 62,
          .given = &h.fraction_given },
        CLI_READ_OPTIONS(h.read),
        { 0 },
    };
    cli->channels = 1;
    int code = cli_parse(cli, options, 1, AXES, argc, argv);
    if (code >= 0) return code;
    if (h.range_given && !(h.range[0] < h.range[1] && isfinite(h.range[1] - h.range[0])))
        return cli_usage(cli, "--range: %g:%g given, expected two finite numbers, the lower first", h.range[0], h.range[1]);
    if (h.fraction_given && !h.weights) return cli_usage(cli, "--fraction-bits: expected --weights as well");
    code = CLI_OK;
    if (h.output) code = is_csv(h.output) ? cli_check_output(cli, h.output) : cli_check_write(cli, h.output, TSR_FILE_VOLUME, NULL);
    return code ? code : work(&h);
}

const cli_verb verb_histogram = { "histogram", "[options] VOLUME [VOLUME [VOLUME]] | IMAGE",
                                  "Count voxels by value, by the values of two or three volumes, with weights",
                                  "  tessera make torus --size 64 -o torus.nii.gz\n"
                                  "  tessera histogram torus.nii.gz --bins 64 -o counts.csv\n"
                                  "  tessera convert torus.nii.gz --smooth 2 -o smooth.nii.gz\n"
                                  "  tessera histogram torus.nii.gz smooth.nii.gz --bins 32 -o joint.nrrd\n",
                                  run };
