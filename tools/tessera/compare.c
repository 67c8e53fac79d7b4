#include <string.h>

#include "cli.h"

struct compare {
    cli_call *cli;
    tsr_read_options read;
    tsr_compare_options options;
    double min_dice;
    int mask, min_dice_given, tolerance_given;
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

static int compare_volumes(struct compare *c)
{
    int code = CLI_OK;
    tsr_context *context = NULL;
    tsr_volume *pair[2] = { NULL, NULL };
    for (int i = 0; i < 2 && !code; i++) pair[i] = cli_read_volume(c->cli, c->cli->input[i], &c->read, &code);
    if (!code) code = cli_cpu_context(c->cli, &context);
    tsr_status status = TSR_OK;
    int differs = 0;
    if (!code && c->mask) {
        tsr_mask_comparison m;
        status = tsr_compare_masks(context, pair[0], pair[1], &c->options, &m);
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
        tsr_volume_comparison v;
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
    for (int i = 0; i < 2; i++) tsr_volume_destroy(&pair[i]);
    tsr_context_destroy(&context);
    return code ? code : differs ? CLI_DIFFERS : CLI_OK;
}

static int compare_meshes(struct compare *c)
{
    int code = CLI_OK;
    tsr_mesh *pair[2] = { NULL, NULL };
    for (int i = 0; i < 2 && !code; i++) pair[i] = cli_read_mesh(c->cli, c->cli->input[i], &c->read, &code);
    tsr_surface_distances d = { 0 };
    double tolerance = c->options.tolerance;
    if (!code) {
        tsr_mesh_measures m = { 0 };
        tsr_status status = tsr_compare_meshes(pair[0], pair[1], &c->options, &d);
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

static int run(cli_call *cli, int argc, char **argv)
{
    struct compare c = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_COMPARE_OPTIONS };
    const cli_option options[] = {
        { .name = "mask", .type = CLI_FLAG, .value = &c.mask, .help = "compare volumes as masks: inside = not 0; implied by --min-dice" },
        { .name = "min-dice", .type = CLI_REAL, .value = &c.min_dice, .argument = "D", .help = "masks differ below this Dice coefficient",
          .lower = 0, .upper = 1, .given = &c.min_dice_given },
        { .name = "tolerance", .type = CLI_REAL, .value = &c.options.tolerance, .argument = "T",
          .help = "volumes: largest difference that counts as equal (default 0); meshes: largest distance (default: rounding)", .lower = 0,
          .upper = 1e300, .given = &c.tolerance_given },
        { .name = "ignore-geometry", .type = CLI_FLAG, .value = &c.options.ignore_geometry, .help = "compare voxel by voxel whatever the geometry" },
        { .name = "skip-distances", .type = CLI_FLAG, .value = &c.options.skip_distances, .help = "masks: no surface distances" },
        CLI_READ_OPTIONS(c.read),
        { 0 },
    };
    cli->channels = 1;
    int code = cli_parse(cli, options, 2, 2, argc, argv);
    if (code >= 0) return code;
    c.mask |= c.min_dice_given;
    if (c.mask && c.tolerance_given)
        return cli_usage(cli, "--tolerance: without effect on masks, whose voxels are inside or not, expected --min-dice or no %s",
                         c.min_dice_given ? "--min-dice" : "--mask");
    tsr_file_kind kind[2] = { TSR_FILE_VOLUME, TSR_FILE_VOLUME };
    for (int i = 0; i < 2; i++) {
        const char *format;
        code = cli_recognise(cli, cli->input[i], &c.read, &kind[i], &format);
        if (code) return code;
    }
    if (kind[0] != kind[1]) return cli_usage(cli, "%s and %s: expected two volumes or two meshes", cli->input[0], cli->input[1]);
    if (kind[0] == TSR_FILE_MESH && (c.mask || c.options.skip_distances))
        return cli_usage(cli, "--%s: without effect on meshes, expected with volumes",
                         c.min_dice_given ? "min-dice" : c.mask ? "mask" : "skip-distances");
    code = kind[0] == TSR_FILE_MESH     ? compare_meshes(&c)
           : kind[0] == TSR_FILE_VOLUME ? compare_volumes(&c)
                                        : cli_error(cli, CLI_FAILED, "%s: expected a volume or a mesh", cli->input[0]);
    if (cli->globals.json && (code == CLI_OK || code == CLI_DIFFERS)) {
        json_bool("differs", code == CLI_DIFFERS);
        json_close('}');
    }
    return code;
}

const cli_verb verb_compare = { "compare", "[options] INPUT REFERENCE",
                                "Compare two masks, volumes or meshes; exit code 3 if they differ beyond the bar (without one: at all)",
                                "  tessera make sphere -o a.nii.gz --truth a-mask.nii.gz\n"
                                "  tessera make sphere -o b.nii.gz --truth b-mask.nii.gz\n"
                                "  tessera compare --min-dice 0.99 a-mask.nii.gz b-mask.nii.gz\n", run };
