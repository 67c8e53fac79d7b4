#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "streams.h"

struct compare {
    cli_call *cli;
    tsr_read_options read;
    tsr_compare_options options;
    double min_dice, min_psnr;
    const char *plot;
    int mask, labels, min_dice_given, min_psnr_given, tolerance_given;
    const char *label_names;
};

static void number(const struct compare *c, const char *name, const char *title, double value)
{
    if (c->cli->globals.json) json_real(name, value);
    else printf("%-24s %.9g\n", title, value);
}
static void count(const struct compare *c, const char *name, const char *title, int64_t value)
{
    if (c->cli->globals.json) json_int(name, value);
    else printf("%-24s %lld\n", title, (long long)value);
}
static void distances(const struct compare *c, const tsr_surface_distances *d)
{
    number(c, "mean_distance", "mean surface distance", d->mean);
    number(c, "percentile_95", "95 % surface distance", d->percentile_95);
    number(c, "maximum_distance", "Hausdorff distance", d->maximum);
}

static void label_row(const struct compare *c, tsr_dtype dtype, const tsr_label_comparison *l, const char *name)
{
    const tsr_mask_comparison *m = &l->mask;
    const char *missing = !m->inside ? "input" : !m->inside_reference ? "reference" : NULL;
    char text[TSR_LABEL_TEXT];
    tsr_label_text(dtype, l->value, text);
    if (c->cli->globals.json) {
        json_open(NULL, '{');
        json_label("label", dtype, l->value);
        if (name) json_text("name", name);
        if (missing) json_text("missing_in", missing);
        json_real("dice", m->dice);
        json_real("jaccard", m->jaccard);
        json_int("inside", m->inside);
        json_int("inside_reference", m->inside_reference);
        json_int("inside_both", m->inside_both);
        json_real("volume", m->volume);
        json_real("volume_reference", m->volume_reference);
        json_real("volume_error", m->volume_error);
        if (!c->options.skip_distances) distances(c, &m->distances);
        json_close('}');
        return;
    }
    printf("%-10s %8.6f %12.6g %12.6g", text, m->dice, m->volume, m->volume_reference);
    if (!c->options.skip_distances) printf(" %10.5g %10.5g %10.5g", m->distances.mean, m->distances.percentile_95, m->distances.maximum);
    printf("  %s%s%s\n", name ? name : "", !missing ? "" : name ? ", missing in the " : "missing in the ", missing ? missing : "");
}

/* Label by label; they differ where one falls below the bar. */
static tsr_status compare_labels(struct compare *c, tsr_context *context, tsr_volume *const pair[2], const tsr_label_names *names, int *differs)
{
    tsr_label_comparison *labels = NULL;
    int32_t count = 0;
    double sum = 0, lowest = 1;
    c->options.progress = cli_progress(c->cli);
    const tsr_status status = tsr_compare_labels(context, pair[0], pair[1], &c->options, &labels, &count);
    if (status != TSR_OK) return status;
    const tsr_dtype dtype = tsr_volume_dtype(pair[0]) == TSR_U64 && tsr_volume_dtype(pair[1]) == TSR_U64 ? TSR_U64 : TSR_I64;
    if (c->cli->globals.json) {
        json_open(NULL, '{');
        json_open("labels", '[');
    } else {
        printf("%-10s %8s %12s %12s%s  name\n", "label", "Dice", "volume", "reference",
               c->options.skip_distances ? "" : "  mean dist.    95 % d.  Hausdorff");
    }
    for (int32_t k = 0; k < count; k++) {
        const tsr_mask_comparison *m = &labels[k].mask;
        label_row(c, dtype, &labels[k], tsr_label_name(names, labels[k].value));
        sum += m->dice;
        lowest = fmin(lowest, m->dice);
        *differs |= c->min_dice_given ? !(m->dice >= c->min_dice) : m->inside_both != m->inside || m->inside_both != m->inside_reference;
    }
    if (c->cli->globals.json) json_close(']');
    number(c, "mean_dice", "mean Dice", count ? sum / count : 1);
    number(c, "lowest_dice", "lowest Dice", lowest);
    tsr_label_comparisons_destroy(&labels);
    return TSR_OK;
}

/* Two masks that are label maps: a remark, since Dice of what is not 0 says nothing about which label is where. */
static void remark_labels(const struct compare *c, tsr_volume *const pair[2])
{
    if (cli_is_label_map(pair[0]) && cli_is_label_map(pair[1]))
        cli_note(c->cli, "%s: a label map: --mask compares all labels together, --labels each of them", c->cli->input[0]);
}

/* Both in the unit of the second, where they have different ones and lie in the same place then: of the geometry alone, values are values. */
static tsr_status same_unit(tsr_volume *const pair[2])
{
    const double from = tsr_volume_unit(pair[0]), to = tsr_volume_unit(pair[1]), factor = (from > 0 ? from : 1) / (to > 0 ? to : 1);
    tsr_geometry g = *tsr_volume_geometry(pair[0]);
    if (factor == 1) return TSR_OK;
    const tsr_geometry *other = tsr_volume_geometry(pair[1]);
    double apart = 0, most = 0;
    for (int i = 0; i < 12; i++) g.affine[i / 4][i % 4] *= factor;
    const tsr_geometry there = tsr_geometry_convert(&g, other->space);
    for (int i = 0; i < 12; i++) {
        apart = fmax(apart, fabs(there.affine[i / 4][i % 4] - other->affine[i / 4][i % 4]));
        most = fmax(most, fabs(other->affine[i / 4][i % 4]));
    }
    if (apart > 1e-3 * most) return TSR_OK; /* the unit is what is wrong, and is said to be */
    const tsr_status status = tsr_volume_set_geometry(pair[0], &g);
    return status == TSR_OK ? tsr_volume_set_unit(pair[0], to > 0 ? tsr_volume_unit_name(pair[1]) : "mm") : status;
}

static int compare_volumes(struct compare *c)
{
    int code = CLI_OK;
    tsr_context *context = NULL;
    tsr_volume *pair[2] = { NULL, NULL };
    for (int i = 0; i < 2 && !code; i++) pair[i] = cli_read_volume(c->cli, c->cli->input[i], &c->read, &code);
    if (!code) code = cli_cpu_context(c->cli, &context);
    tsr_status status = code ? TSR_OK : same_unit(pair);
    if (status != TSR_OK) code = cli_status(c->cli, status, c->cli->input[0]);
    int differs = 0;
    tsr_label_names *names = NULL;
    if (!code && c->labels) code = cli_label_names(c->cli, c->label_names, pair[1], &names);
    if (!code && c->labels) {
        status = compare_labels(c, context, pair, names, &differs);
    } else if (!code && c->mask) {
        remark_labels(c, pair);
        for (int i = 0; i < 2 && status == TSR_OK; i++) status = cli_plain_mask(c->cli, c->cli->input[i], context, &pair[i]);
        tsr_mask_comparison m = TSR_MASK_COMPARISON;
        if (status == TSR_OK) status = tsr_compare_masks(context, pair[0], pair[1], &c->options, &m);
        if (status == TSR_OK) {
            if (c->cli->globals.json) json_open(NULL, '{');
            number(c, "dice", "Dice", m.dice);
            number(c, "jaccard", "Jaccard", m.jaccard);
            number(c, "sensitivity", "sensitivity", m.sensitivity);
            number(c, "specificity", "specificity", m.specificity);
            number(c, "total_correct", "total correct fraction", m.total_correct);
            count(c, "inside", "voxels inside", m.inside);
            count(c, "inside_reference", "of the reference", m.inside_reference);
            count(c, "inside_both", "in both", m.inside_both);
            number(c, "volume", "volume", m.volume);
            number(c, "volume_reference", "of the reference", m.volume_reference);
            number(c, "volume_error", "relative volume error", m.volume_error);
            if (!c->options.skip_distances) distances(c, &m.distances);
            differs = c->min_dice_given ? !(m.dice >= c->min_dice) : m.inside_both != m.inside || m.inside_both != m.inside_reference;
        }
    } else if (!code) {
        tsr_volume_comparison v = TSR_VOLUME_COMPARISON;
        status = tsr_compare_volumes(context, pair[0], pair[1], &c->options, &v);
        if (status == TSR_OK) {
            if (c->cli->globals.json) json_open(NULL, '{');
            count(c, "voxels", "voxels", v.voxels);
            count(c, "different", "different", v.different);
            count(c, "not_a_number", "NaN in exactly one", v.not_a_number);
            number(c, "maximum", "largest difference", v.maximum);
            number(c, "rms", "RMS difference", v.rms);
            differs = v.different != 0;
        }
    }
    if (status != TSR_OK) code = cli_status(c->cli, status, NULL);
    tsr_label_names_destroy(&names);
    for (int i = 0; i < 2; i++) tsr_volume_destroy(&pair[i]);
    tsr_context_destroy(&context);
    return code ? code : differs ? CLI_DIFFERS : CLI_OK;
}

static int compare_meshes(struct compare *c)
{
    int code = CLI_OK;
    tsr_mesh *pair[2] = { NULL, NULL };
    c->read.local_origin = 1;
    for (int i = 0; i < 2 && !code; i++) pair[i] = cli_read_mesh(c->cli, c->cli->input[i], &c->read, &code);
    tsr_surface_distances d = { 0 };
    double tolerance = c->options.tolerance;
    if (!code) {
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        tsr_status status = tsr_mesh_convert_space(pair[0], tsr_mesh_space(pair[1]));
        if (status == TSR_OK) status = tsr_mesh_change_origin(pair[0], tsr_mesh_origin(pair[1]));
        if (status == TSR_OK) status = tsr_compare_meshes(pair[0], pair[1], &c->options, &d);
        if (status == TSR_OK && !c->tolerance_given) { /* the rounding of float32 positions */
            status = tsr_mesh_measure(pair[1], &m);
            tolerance = 1e-6 * (m.upper.x - m.lower.x + m.upper.y - m.lower.y + m.upper.z - m.lower.z);
        }
        if (status != TSR_OK) code = cli_status(c->cli, status, NULL);
    }
    if (!code) {
        if (c->cli->globals.json) json_open(NULL, '{');
        distances(c, &d);
        if (!(d.maximum <= tolerance)) code = CLI_DIFFERS;
    }
    for (int i = 0; i < 2; i++) tsr_mesh_destroy(&pair[i]);
    return code;
}

static int is_film(const char *path) { return tsr_dirac_recognise(path) || tsr_video_recognise(path); }

static int compare_films(struct compare *c)
{
    if (c->mask || c->labels || c->tolerance_given || c->options.skip_distances || c->options.ignore_geometry)
        return cli_usage(c->cli, "--%s: without effect on films, expected --min-psnr or none",
                         c->labels                   ? "labels"
                         : c->min_dice_given         ? "min-dice"
                         : c->mask                   ? "mask"
                         : c->tolerance_given        ? "tolerance"
                         : c->options.skip_distances ? "skip-distances"
                                                     : "ignore-geometry");
    return streams_compare(c->cli, c->min_psnr_given ? c->min_psnr : -1, c->plot);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct compare c = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_COMPARE_OPTIONS };
    const cli_option options[] = {
        { .name = "mask", .type = CLI_FLAG, .value = &c.mask, .help = "compare volumes as masks: inside = not 0; implied by --min-dice" },
        { .name = "labels",
          .type = CLI_FLAG,
          .value = &c.labels,
          .help = "compare volumes as label maps: a table of all labels, each as a mask; with --min-dice the lowest counts" },
        CLI_LABEL_NAMES_OPTION(c.label_names),
        { .name = "min-dice",
          .type = CLI_REAL,
          .value = &c.min_dice,
          .argument = "D",
          .help = "masks differ below this Dice coefficient",
          .lower = 0,
          .upper = 1,
          .given = &c.min_dice_given },
        { .name = "tolerance",
          .type = CLI_REAL,
          .value = &c.options.tolerance,
          .argument = "T",
          .help = "volumes: largest difference that counts as equal (default 0); meshes: largest distance (default: rounding)",
          .lower = 0,
          .upper = 1e300,
          .given = &c.tolerance_given },
        { .name = "min-psnr",
          .type = CLI_REAL,
          .value = &c.min_psnr,
          .argument = "DB",
          .help = "films and streams differ where a frame's luma falls below it (default: where any sample differs)",
          .lower = 0,
          .upper = 200,
          .given = &c.min_psnr_given },
        { .name = "plot", .type = CLI_TEXT, .value = &c.plot, .argument = "FILE", .help = "films: PSNR and SSIM by frame as a picture (SVG)" },
        { .name = "ignore-geometry", .type = CLI_FLAG, .value = &c.options.ignore_geometry, .help = "compare voxel by voxel whatever the geometry" },
        { .name = "skip-distances", .type = CLI_FLAG, .value = &c.options.skip_distances, .help = "masks: no surface distances" },
        CLI_READ_OPTIONS(c.read),
        { 0 },
    };
    cli->channels = 1;
    int code = cli_parse(cli, options, 2, 2, argc, argv);
    if (code >= 0) return code;
    if (c.mask && c.labels) return cli_usage(cli, "--mask: given beside --labels, expected one of them");
    if (c.label_names && !c.labels) return cli_usage(cli, "--label-names: needs --labels");
    c.mask |= c.min_dice_given && !c.labels;
    if (c.labels && c.tolerance_given) return cli_usage(cli, "--tolerance: without effect on labels, expected --min-dice");
    if (c.mask && c.tolerance_given)
        return cli_usage(cli, "--tolerance: without effect on masks, whose voxels are inside or not, expected --min-dice or no %s",
                         c.min_dice_given ? "--min-dice" : "--mask");
    if (is_film(cli->input[0]) || is_film(cli->input[1])) {
        code = compare_films(&c);
        if (cli->globals.json && (code == CLI_OK || code == CLI_DIFFERS)) {
            json_bool("differs", code == CLI_DIFFERS);
            json_close('}');
        }
        return code;
    }
    if (c.plot) return cli_usage(cli, "--plot: without effect on volumes and meshes, expected with films");
    if (c.min_psnr_given) return cli_usage(cli, "--min-psnr: without effect on volumes and meshes, expected with films");
    tsr_file_kind kind[2] = { TSR_FILE_VOLUME, TSR_FILE_VOLUME };
    for (int i = 0; i < 2; i++) {
        const char *format;
        code = cli_recognise(cli, cli->input[i], &c.read, &kind[i], &format);
        if (code) return code;
    }
    if (kind[0] != kind[1]) return cli_usage(cli, "%s and %s: expected two volumes or two meshes", cli->input[0], cli->input[1]);
    if (kind[0] == TSR_FILE_MESH && (c.mask || c.labels || c.options.skip_distances))
        return cli_usage(cli, "--%s: without effect on meshes, expected with volumes",
                         c.labels           ? "labels"
                         : c.min_dice_given ? "min-dice"
                         : c.mask           ? "mask"
                                            : "skip-distances");
    code = kind[0] == TSR_FILE_MESH     ? compare_meshes(&c)
           : kind[0] == TSR_FILE_VOLUME ? compare_volumes(&c)
                                        : cli_error(cli, CLI_FAILED, "%s: expected a volume or a mesh", cli->input[0]);
    if (cli->globals.json && (code == CLI_OK || code == CLI_DIFFERS)) {
        json_bool("differs", code == CLI_DIFFERS);
        json_close('}');
    }
    return code;
}

const cli_verb verb_compare = {
    "compare", "[options] INPUT REFERENCE",
    "Compare two masks, label maps, volumes, meshes or films; exit code 3 if they differ beyond the bar (without one: at all)",
    "  tessera make sphere -o a.nii.gz --truth a-mask.nii.gz\n"
    "  tessera make sphere -o b.nii.gz --truth b-mask.nii.gz\n"
    "  tessera compare --min-dice 0.99 a-mask.nii.gz b-mask.nii.gz\n"
    "  tessera make phantom_liver --size 64 --seed 1 -o c.nii.gz --truth c-labels.nii.gz\n"
    "  tessera make phantom_liver --size 64 --seed 2 -o d.nii.gz --truth d-labels.nii.gz\n"
    "  tessera compare --labels --min-dice 0.1 c-labels.nii.gz d-labels.nii.gz\n",
    run
};
