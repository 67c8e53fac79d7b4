#include "regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* #rrggbb, or up to four numbers with commas between them. */
static int parse_colour(const cli_call *cli, cli_regions *r)
{
    const char *at = r->colour;
    unsigned rgb;
    int used = 0;
    if (*at == '#') {
        if (strlen(at) != 7 || strspn(at + 1, "0123456789abcdefABCDEF") != 6 || sscanf(at + 1, "%6x%n", &rgb, &used) != 1)
            return cli_usage(cli, "--colour: '%s' given, expected #rrggbb or numbers with commas between them", r->colour);
        for (int c = 0; c < 3; c++) r->options.colour[c] = (double)(rgb >> 8 * (2 - c) & 255u) / 255.0;
        r->colours = 3;
        return CLI_OK;
    }
    for (r->colours = 0; r->colours < 4; at++) {
        char *end;
        const double v = strtod(at, &end);
        if (end == at || !isfinite(v) || (*end && *end != ',')) break;
        r->options.colour[r->colours++] = v;
        at = end;
        if (!*end) return CLI_OK;
    }
    return cli_usage(cli, "--colour: '%s' given, expected #rrggbb or 1 to 4 numbers with commas between them", r->colour);
}

int cli_regions_colour(const cli_call *cli, const cli_regions *r, int32_t channels)
{
    if (r->options.rule != TSR_REGION_COLOUR || r->colours == channels) return CLI_OK;
    return cli_usage(cli, "--colour: %d values given, expected %d as the input has channels", r->colours, channels);
}

int cli_regions_prepare(const cli_call *cli, cli_regions *r)
{
    static const tsr_region_rule_kind rules[] = { TSR_REGION_DEVIATION, TSR_REGION_SPREAD,   TSR_REGION_EDGES, TSR_REGION_LINEAR,
                                                  TSR_REGION_CLASSES,   TSR_REGION_VARIANCE, TSR_REGION_COLOUR };
    tsr_region_options *o = &r->options;
    o->rule = rules[r->rule];
    const int classes = o->rule == TSR_REGION_CLASSES, clusters = o->rule >= TSR_REGION_DEVIATION && o->rule <= TSR_REGION_VARIANCE;
    if (o->rule == TSR_REGION_COLOUR && !r->colour) return cli_usage(cli, "--colour: missing, expected a value per channel with --rule colour");
    if (o->rule != TSR_REGION_COLOUR && r->colour) return cli_usage(cli, "--colour: is for --rule colour");
    if (r->colour && parse_colour(cli, r) != CLI_OK) return CLI_USAGE;
    o->nan = r->nan == 1 || (!r->nan && !classes) ? TSR_REGION_NAN_FAIL : TSR_REGION_NAN_APART;
    if (classes && !r->range_given) return cli_usage(cli, "--range: missing, expected --range LOWER:UPPER with --rule classes");
    if (!classes && r->range_given) return cli_usage(cli, "--range: is for --rule classes");
    if (classes && r->threshold_given) return cli_usage(cli, "--threshold: is not for --rule classes");
    if (o->threshold < 0) return cli_usage(cli, "--threshold: '%g' given, expected 0 or more", o->threshold);
    if ((o->complement || o->singles) && clusters)
        return cli_usage(cli, "--%s: is for the rules edges, linear, classes and colour", o->complement ? "complement" : "singles");
    if (o->gradient && !clusters) return cli_usage(cli, "--gradient: is for the rules deviation, spread and variance");
    if (o->implicit_base && clusters) return cli_usage(cli, "--implicit-base: is for the rules edges, linear, classes and colour");
    if (r->most_side && r->least_side > r->most_side)
        return cli_usage(cli, "--least-side: '%d' given with --most-side %d, expected no more than that", r->least_side, r->most_side);
    if ((r->least_side || r->most_side) && o->nodes_only) return cli_usage(cli, "--nodes-only: there are no leaves for --least-side or --most-side");
    if (r->edge_norm && o->rule != TSR_REGION_EDGES) return cli_usage(cli, "--edge-norm: is for --rule edges");
    o->edge_norm = (tsr_region_edge_norm)r->edge_norm;
    o->classifier = TSR_PYRAMID_RANGE;
    o->lower = classes ? r->range[0] : 0;
    o->upper = classes ? r->range[1] : 1;
    int code = r->list ? cli_check_option(cli, "list", r->list) : CLI_OK;
    if (!code && r->tree) code = cli_check_option(cli, "tree", r->tree);
    if (!code && r->runs) code = cli_check_option(cli, "runs", r->runs);
    return code;
}

int cli_regions_of_tree(const cli_call *cli, const cli_regions *r)
{
    const tsr_region_options *o = &r->options;
    const char *name = r->threshold_given ? "threshold"
                       : r->edge_norm     ? "edge-norm"
                       : r->colour        ? "colour"
                       : r->nan           ? "nan"
                       : o->gradient      ? "gradient"
                       : o->complement    ? "complement"
                       : o->singles       ? "singles"
                       : o->implicit_base ? "implicit-base"
                       : o->nodes_only    ? "nodes-only"
                       : r->runs          ? NULL /* which the rule tells what belongs together */
                       : r->rule_given    ? "rule"
                       : r->range_given   ? "range"
                                          : NULL;
    return name ? cli_usage(cli, "--%s: %s is a tree, whose leaves are made", name, cli->input[0]) : CLI_OK;
}

int cli_regions_on_stdout(const cli_regions *r)
{
    return (r->list && !strcmp(r->list, "-")) || (r->tree && !strcmp(r->tree, "-")) || (r->runs && !strcmp(r->runs, "-"));
}

static tsr_status take_means(tsr_context *context, const tsr_volume *channel, cli_tree *t, int32_t c)
{
    const int64_t leaves = tsr_region_tree_describe(t->host)->leaves;
    tsr_volume *room = NULL, *local = NULL; /* device memory of one float per leaf, as a volume */
    t->means[c] = (float *)calloc((size_t)leaves + 1, sizeof(float));
    if (!leaves || !t->means[c]) return t->means[c] ? TSR_OK : TSR_ERROR_MEMORY;
    tsr_status status = tsr_volume_create(context, TSR_F32, (tsr_size3){ leaves, 1, 1 }, NULL, &room);
    if (status == TSR_OK) status = tsr_region_tree_means(t->device, channel, (float *)tsr_volume_data(room));
    if (status == TSR_OK) status = tsr_volume_copy(room, NULL, &local);
    const float *values = status == TSR_OK ? (const float *)tsr_volume_data_const(local) : NULL;
    for (int64_t i = 0; i < leaves && values; i++) t->means[c][i] = values[i];
    tsr_volume_destroy(&local);
    tsr_volume_destroy(&room);
    return status;
}

tsr_status cli_tree_complete(tsr_context *context, const tsr_volume *const *channels, int32_t count, int nodes_only, cli_tree *tree)
{
    tsr_status status = tsr_region_tree_copy(tree->device, NULL, &tree->host);
    for (int32_t c = 0; c < count && status == TSR_OK && !nodes_only; c++) status = take_means(context, channels[c], tree, c);
    return status;
}

tsr_status cli_tree_make(tsr_context *context, const tsr_volume *const *channels, int32_t count, const tsr_region_options *options, cli_tree *tree)
{
    const tsr_status status = tsr_region_tree_make(context, channels, count, options, &tree->device);
    return status == TSR_OK ? cli_tree_complete(context, channels, count, options->nodes_only, tree) : status;
}

tsr_status cli_tree_adopt(tsr_context *context, tsr_region_tree **host, tsr_volume **values, cli_tree *tree)
{
    tree->host = *host;
    *host = NULL;
    const size_t leaves = (size_t)tsr_region_tree_describe(tree->host)->leaves;
    const int64_t channels = *values ? tsr_volume_size(*values).y : 0;
    tsr_status status = TSR_OK;
    for (int64_t c = 0; c < channels && c < 4 && status == TSR_OK; c++) {
        tree->means[c] = (float *)malloc((leaves + 1) * sizeof(float));
        if (tree->means[c]) memcpy(tree->means[c], (const float *)tsr_volume_data_const(*values) + (size_t)c * leaves, leaves * sizeof(float));
        else status = TSR_ERROR_MEMORY;
    }
    tsr_volume_destroy(values);
    if (status == TSR_OK) status = tsr_region_tree_copy(tree->host, context, &tree->device);
    return status;
}

/* The means as they go into a file; NULL if there are none. */
static tsr_status means_of(const cli_tree *t, int32_t channels, tsr_volume **values)
{
    const int64_t leaves = tsr_region_tree_describe(t->host)->leaves;
    *values = NULL;
    if (!leaves || !t->means[0]) return TSR_OK;
    const tsr_status status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ leaves, channels, 1 }, NULL, values);
    for (int32_t c = 0; c < channels && status == TSR_OK; c++)
        memcpy((float *)tsr_volume_data(*values) + c * leaves, t->means[c], (size_t)leaves * sizeof(float));
    return status;
}

int cli_tree_grade(const cli_call *cli, const cli_regions *r, tsr_context *context, int32_t channels, cli_tree *tree)
{
    tsr_region_grading grading = TSR_REGION_GRADING;
    tsr_region_tree *graded = NULL;
    tsr_volume *values = NULL, *handed = NULL;
    if (!r->grade) return CLI_OK;
    grading.touch = (tsr_region_touch)(r->grade - 1);
    grading.progress = cli_progress(cli);
    tsr_status status = means_of(tree, channels, &values);
    if (status == TSR_OK) status = tsr_region_tree_grade(tree->host, &grading, values, &graded, &handed);
    if (status == TSR_OK) {
        cli_tree_destroy(tree);
        *tree = (cli_tree){ 0 };
        status = cli_tree_adopt(context, &graded, &handed, tree);
    }
    tsr_volume_destroy(&values);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, "--grade");
}

int cli_tree_filter(const cli_call *cli, const cli_regions *r, tsr_context *context, int32_t channels, cli_tree *tree)
{
    tsr_region_tree *filtered = NULL;
    tsr_volume *values = NULL, *kept = NULL;
    int32_t least = 0, most = 0;
    if (!r->least_side && !r->most_side) return CLI_OK;
    while ((int64_t)1 << least < r->least_side) least++;
    while (most < 30 && (!r->most_side || (int64_t)2 << most <= r->most_side)) most++;
    if (least > most) return cli_usage(cli, "--least-side: no power of two lies from %d to %d", r->least_side, r->most_side);
    tsr_status status = means_of(tree, channels, &values);
    if (status == TSR_OK) status = tsr_region_tree_filter(tree->host, least, most, values, &filtered, &kept);
    if (status == TSR_OK) {
        cli_tree_destroy(tree);
        *tree = (cli_tree){ 0 };
        status = cli_tree_adopt(context, &filtered, &kept, tree);
    }
    tsr_volume_destroy(&values);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, "--least-side");
}

void cli_tree_destroy(cli_tree *t)
{
    for (int c = 0; c < 4; c++) free(t->means[c]);
    tsr_region_tree_destroy(&t->host);
    tsr_region_tree_destroy(&t->device);
}

static int write_tree(const cli_call *cli, const char *path, const cli_tree *t, int32_t channels)
{
    tsr_write_options write = cli_write_options(cli);
    write.format = NULL; /* --format is of the volume */
    tsr_volume *values = NULL;
    tsr_status status = means_of(t, channels, &values);
    if (status == TSR_OK) status = tsr_region_tree_write(t->host, values, path, &write);
    tsr_volume_destroy(&values);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}

int cli_tree_is_file(const cli_call *cli, const char *path)
{
    if (!strcmp(path, "-")) { /* kept in a file, which has a name of its own while it is looked at */
        if (cli_input_is_film() || cli_rewind_input(cli) != CLI_OK) return 0;
        const int is_one = tsr_region_file_recognise("/dev/stdin");
        return cli_rewind_input(cli) == CLI_OK && is_one;
    }
    const size_t n = strlen(path);
    if ((n > 4 && !strcmp(path + n - 4, ".rgt")) || (n > 7 && !strcmp(path + n - 7, ".rgt.gz"))) return 1;
    return tsr_region_file_recognise(path);
}

int cli_tree_read(const cli_call *cli, const char *path, tsr_context *context, int32_t most, cli_tree *tree, int32_t *channels)
{
    tsr_volume *values = NULL;
    const tsr_read_options read = cli_limit_options(cli);
    tsr_status status = tsr_region_tree_read(path, &read, &tree->host, &values);
    if (status == TSR_OK) status = tsr_region_tree_copy(tree->host, context, &tree->device);
    if (status != TSR_OK) return cli_status(cli, status, path);
    const int64_t leaves = tsr_region_tree_describe(tree->host)->leaves;
    *channels = values ? (int32_t)tsr_volume_size(values).y : 1;
    if (*channels > most) {
        cli_note(cli, "%s: %d channels, of which the first %d are used", path, *channels, most);
        *channels = most;
    }
    int code = CLI_OK;
    for (int32_t c = 0; c < *channels && !code; c++) {
        tree->means[c] = (float *)malloc(((size_t)leaves + 1) * sizeof(float));
        if (!tree->means[c]) code = cli_error(cli, CLI_FAILED, "%s: no memory for %lld leaves", path, (long long)leaves);
        for (int64_t i = 0; i < leaves && !code; i++) tree->means[c][i] = values ? ((const float *)tsr_volume_data_const(values))[c * leaves + i] : 1;
    }
    tsr_volume_destroy(&values);
    return code;
}

int cli_row_goes_on(const cli_call *cli, const tsr_progress *progress, const char *path, int64_t row, int64_t rows)
{
    if (row & 0xffff || !progress->report(progress->user, (double)row / (double)rows, "writing")) return CLI_OK;
    return cli_error(cli, CLI_FAILED, "%s: cancelled during writing", path);
}

static int write_list(const cli_call *cli, const cli_regions *r, const cli_tree *t, int32_t channels)
{
    const tsr_region_info info = *tsr_region_tree_describe(t->host);
    const size_t line = 200, room = 64 + (size_t)info.leaves * line;
    char *text = (char *)malloc(room);
    if (!text) return cli_error(cli, CLI_FAILED, "%s: no memory for the list of %lld leaves", r->list, (long long)info.leaves);
    size_t at = (size_t)snprintf(text, room, "key,x,y,z,side");
    for (int32_t c = 0; c < channels; c++) at += (size_t)snprintf(text + at, room - at, ",mean%d", c);
    at += (size_t)snprintf(text + at, room - at, "\n");
    const tsr_progress progress = cli_progress(cli);
    int code = CLI_OK;
    for (int64_t i = 0; i < info.leaves && !(code = cli_row_goes_on(cli, &progress, r->list, i, info.leaves)); i++) {
        const uint64_t key = tsr_region_tree_leaves(t->host)[i];
        const tsr_region_leaf l = tsr_region_leaf_of(key, info.dimensions);
        at += (size_t)snprintf(text + at, room - at, "%llu,%lld,%lld,%lld,%lld", (unsigned long long)key, (long long)l.x, (long long)l.y,
                               (long long)l.z, (long long)l.side);
        for (int32_t c = 0; c < channels; c++) at += (size_t)snprintf(text + at, room - at, ",%.9g", (double)t->means[c][i]);
        at += (size_t)snprintf(text + at, room - at, "\n");
    }
    if (!code) code = cli_write_text(cli, r->list, text);
    free(text);
    return code;
}

/* Equal means belong together; of classes, all that is kept. */
static int write_runs(const cli_call *cli, const cli_regions *r, const cli_tree *t)
{
    tsr_region_run *runs = NULL;
    int64_t count = 0;
    const float *means = r->options.rule == TSR_REGION_CLASSES ? NULL : t->means[0];
    if (tsr_region_runs(t->host, means, &runs, &count) != TSR_OK) return cli_error(cli, CLI_FAILED, "--runs: %s", tsr_error_message());
    const size_t room = 64 + (size_t)count * 80;
    char *text = (char *)malloc(room);
    size_t at = 0;
    int code = text ? CLI_OK : cli_error(cli, CLI_FAILED, "%s: no memory for %lld runs", r->runs, (long long)count);
    if (!code) at = (size_t)snprintf(text, room, means ? "start,length,mean0\n" : "start,length\n");
    const tsr_progress progress = cli_progress(cli);
    for (int64_t i = 0; i < count && !code && !(code = cli_row_goes_on(cli, &progress, r->runs, i, count)); i++) {
        at += (size_t)snprintf(text + at, room - at, "%lld,%lld", (long long)runs[i].start, (long long)runs[i].length);
        if (means) at += (size_t)snprintf(text + at, room - at, ",%.9g", (double)means[runs[i].leaf]);
        at += (size_t)snprintf(text + at, room - at, "\n");
    }
    if (!code) code = cli_write_text(cli, r->runs, text);
    free(text);
    tsr_region_runs_destroy(&runs);
    return code;
}

int cli_tree_write(const cli_call *cli, const cli_regions *r, const cli_tree *t, int32_t channels)
{
    int code = r->list ? write_list(cli, r, t, channels) : CLI_OK;
    if (!code && r->tree) code = write_tree(cli, r->tree, t, channels);
    if (!code && r->runs) code = write_runs(cli, r, t);
    return code;
}

void cli_tree_show(const cli_call *cli, const cli_tree *t, double seconds)
{
    tsr_region_info info = *tsr_region_tree_describe(t->host);
    if (t->device) info.device_bytes = tsr_region_tree_describe(t->device)->device_bytes;
    const int64_t voxels = info.size.x * info.size.y * info.size.z;
    int64_t covered = 0, sides[64] = { 0 };
    for (int64_t i = 0; i < info.leaves && !info.nodes_only; i++) {
        const int level = (int)(tsr_region_tree_leaves(t->host)[i] & 63u);
        sides[level]++;
        covered += (int64_t)1 << (info.dimensions * level);
    }
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_int("dimensions", info.dimensions);
        json_int("voxels", voxels);
        if (!info.nodes_only) json_int("covered", covered);
        json_int("leaves", info.leaves);
        json_int("nodes", info.nodes);
        json_int("top", info.top);
        json_int("device_bytes", info.device_bytes);
        if (!info.nodes_only) {
            json_open("leaves_by_level", '[');
            for (int l = 0; l <= info.top; l++) json_int(NULL, sides[l]);
            json_close(']');
        }
        json_real("seconds", seconds);
        json_close('}');
        return;
    }
    if (info.nodes_only) {
        printf("%lld nodes over %lld leaves, %.3f s\n", (long long)info.nodes, (long long)info.leaves, seconds);
        return;
    }
    printf("%lld leaves, %lld nodes, %lld of %lld %s covered, %.3f s\n", (long long)info.leaves, (long long)info.nodes, (long long)covered,
           (long long)voxels, info.dimensions == 2 ? "pixels" : "voxels", seconds);
    for (int l = info.top; l >= 0; l--)
        if (sides[l]) printf("  side %-6lld %lld\n", (long long)1 << l, (long long)sides[l]);
}

static char *component_table(const tsr_region_components *parts, const tsr_geometry *g)
{
    const int64_t count = tsr_region_components_count(parts);
    const tsr_region_component *list = tsr_region_components_list(parts);
    const double volume = tsr_geometry_determinant(g);
    const size_t room = 128 + (size_t)count * 400;
    char *text = (char *)malloc(room);
    if (!text) return NULL;
    size_t at = (size_t)snprintf(text, room, "component,leaves,voxels,volume,x0,y0,z0,x1,y1,z1,centre_x,centre_y,centre_z,mean\n");
    for (int64_t i = 0; i < count; i++) {
        const tsr_region_component *c = &list[i];
        const tsr_vec3 w = tsr_geometry_to_world(g, (tsr_vec3){ c->centre[0], c->centre[1], c->centre[2] });
        at += (size_t)snprintf(text + at, room - at, "%lld,%lld,%lld,%.9g,%lld,%lld,%lld,%lld,%lld,%lld,%.9g,%.9g,%.9g,%.9g\n", (long long)i + 1,
                               (long long)c->leaves, (long long)c->voxels, (volume < 0 ? -volume : volume) * (double)c->voxels,
                               (long long)c->lower[0], (long long)c->lower[1], (long long)c->lower[2], (long long)c->upper[0], (long long)c->upper[1],
                               (long long)c->upper[2], w.x, w.y, w.z, c->mean);
    }
    return text;
}

/* The leaves painted with the number of their component. */
static tsr_status paint_labels(const cli_tree *tree, tsr_context *context, const int32_t *number, tsr_volume **labels)
{
    const int64_t leaves = tsr_region_tree_describe(tree->host)->leaves;
    tsr_volume *host = NULL, *values = NULL, *painted = NULL;
    tsr_status status = TSR_OK;
    if (leaves) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ leaves, 1, 1 }, NULL, &host);
    for (int64_t i = 0; i < leaves && status == TSR_OK; i++) ((float *)tsr_volume_data(host))[i] = (float)(number[i] + 1);
    if (leaves && status == TSR_OK) status = tsr_volume_copy(host, context, &values);
    if (status == TSR_OK)
        status = tsr_region_tree_paint(tree->device, TSR_I32, values ? (const float *)tsr_volume_data_const(values) : NULL, 0, &painted);
    if (status == TSR_OK) status = tsr_volume_copy(painted, NULL, labels);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&values);
    tsr_volume_destroy(&painted);
    return status;
}

int cli_tree_components(const cli_call *cli, const cli_tree *tree, tsr_context *context, int kept, const char *path, tsr_volume **labels)
{
    tsr_region_components *parts = NULL;
    tsr_status status = tsr_region_components_create(tree->device, tree->means[0], !kept, &parts);
    int code = CLI_OK;
    if (status == TSR_OK && labels) {
        if (tsr_region_components_count(parts) > 1 << 24) /* what float32 counts */
            code = cli_error(cli, CLI_FAILED, "%s: %lld components, expected up to 16777216 as labels", cli->input[0],
                             (long long)tsr_region_components_count(parts));
        else status = paint_labels(tree, context, tsr_region_components_labels(parts), labels);
    }
    if (status == TSR_OK && !code && path) {
        char *text = component_table(parts, tsr_region_tree_geometry(tree->host));
        code = text ? cli_write_text(cli, path, text) : cli_error(cli, CLI_FAILED, "%s: no memory for the table", path);
        free(text);
    }
    tsr_region_components_destroy(&parts);
    return status == TSR_OK ? code : cli_status(cli, status, cli->input[0]);
}
