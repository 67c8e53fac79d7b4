/* tools/tessera/mip_check.c: which options of `tessera mip` have an effect where. */
#include <string.h>

#include "mip.h"

enum {
    BUILDS = 1,
    QUANTISES = 2,
    FILTERS = 4,
    VIEWS = 8,
    AMOUNTS = 16,
    SHOWS = 32,
    LEVELS = 64,
    FINEST = 128,
    ANALYSES = 256,
    COMPARES = 512,
    KEEPS = 1024
};

/* What an option belongs to; 0: always of use. */
static int class_of(const char *name)
{
    static const struct {
        const char *name;
        int kind;
    } own[] = { { "levels", LEVELS },   { "element", LEVELS },     { "key", BUILDS },          { "format", BUILDS },     { "hide", BUILDS },
                { "measure", BUILDS },  { "range", QUANTISES },    { "bits", QUANTISES },      { "attribute", FILTERS }, { "threshold", FILTERS },
                { "rule", FILTERS },    { "neighbours", FILTERS }, { "width", VIEWS },         { "height", VIEWS },      { "azimuth", VIEWS },
                { "elevation", VIEWS }, { "zoom", VIEWS },         { "mode", VIEWS },          { "lower", VIEWS },       { "upper", VIEWS },
                { "close", VIEWS },     { "slab", VIEWS },         { "fraction", AMOUNTS },    { "count", AMOUNTS },     { "error", AMOUNTS },
                { "finest", FINEST },   { "filter", ANALYSES },    { "iterations", ANALYSES }, { "stream", SHOWS },      { "devices", SHOWS },
                { "window", SHOWS },    { "difference", SHOWS },   { "slices", COMPARES },     { "keep", KEEPS },        { "memory-limit", 0 } };
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (!strcmp(own[k].name, name)) return own[k].kind;
    return 0;
}

int mip_check_given(const struct mip *m, const cli_option *options, const int *given, const char *action)
{
    const int pyramid = mip_is_pyramid(m->cli->input[1]), volume = !pyramid || m->cli->inputs == 3;
    int used = 0;
    if (!strcmp(action, "build") && pyramid) used = KEEPS; /* of one that is built */
    else if (!strcmp(action, "build")) used = BUILDS | LEVELS | QUANTISES | FILTERS | KEEPS;
    else if (!strcmp(action, "filter")) used = QUANTISES | FILTERS;
    else if (!strcmp(action, "analyse")) used = QUANTISES | FILTERS | LEVELS | ANALYSES | (m->output ? FINEST : 0);
    else if (strcmp(action, "info"))
        used =
            (pyramid ? 0 : BUILDS | LEVELS) | (volume ? QUANTISES | FILTERS : 0) | VIEWS | (!strcmp(action, "render") ? AMOUNTS | SHOWS | FINEST : 0);
    if (!strcmp(action, "compare") && m->cli->inputs == 3) used |= COMPARES;
    for (int k = 0; options[k].name; k++) {
        const int kind = class_of(options[k].name);
        if (!given[k] || !kind || kind & used) continue;
        if (pyramid && kind & (BUILDS | LEVELS | QUANTISES | FILTERS))
            return cli_usage(m->cli, "--%s: without effect on a pyramid that is built (%s)", options[k].name, m->cli->input[1]);
        if (kind == COMPARES && !strcmp(action, "compare"))
            return cli_usage(m->cli, "--%s: expected VOLUME after %s, whose slices are blended", options[k].name, m->cli->input[1]);
        return cli_usage(m->cli, "--%s: without effect on %s", options[k].name, action);
    }
    if (m->keep_given && m->keep == 0) return cli_usage(m->cli, "--keep: 0 given, expected more than 0, at most 1");
    if (!strcmp(action, "build") && pyramid && !m->keep_given)
        return cli_usage(m->cli, "build: %s is a pyramid that is built, expected a volume, or --keep for a part of it", m->cli->input[1]);
    if (m->stream && !pyramid) return cli_usage(m->cli, "--stream: without effect on %s: a volume is read as a whole", m->cli->input[1]);
    if (m->stream && m->devices > 1) return cli_usage(m->cli, "--stream and --devices: expected one of them");
    if (m->difference && (m->stream || m->devices > 1))
        return cli_usage(m->cli, "--difference and --%s: expected one of them: the picture of all coefficients is drawn, too",
                         m->stream ? "stream" : "devices");
    if (m->devices > 1 && !pyramid && m->format) return cli_usage(m->cli, "--devices: expected --format bricks, by which a pyramid is dealt out");
    if (!strcmp(action, "analyse")) {
        const tsr_filter_pyramid_options defaults = TSR_FILTER_PYRAMID_OPTIONS;
        const int32_t levels = m->levels_given ? m->levels : defaults.levels ? defaults.levels : 2;
        if (levels < 1) return cli_usage(m->cli, "--levels: %d given, expected 1 to 8 of analyse", levels);
        if (m->render.finest > levels)
            return cli_usage(m->cli, "--finest: %d given, expected a level from 0 to %d, as many as --levels", m->render.finest, levels);
    }
    for (int k = 0; options[k].name; k++) {
        if (!given[k]) continue;
        if (!strcmp(options[k].name, "neighbours") && m->tree.neighbours != 6 && m->tree.neighbours != 18 && m->tree.neighbours != 26)
            return cli_usage(m->cli, "--neighbours: %d given, expected 6, 18 or 26", m->tree.neighbours);
        if (!strcmp(options[k].name, "bits") && !m->range_given) return cli_usage(m->cli, "--bits: without effect without --range");
        if (class_of(options[k].name) == FILTERS && !m->threshold_given)
            return cli_usage(m->cli, "--%s: without effect without --threshold", options[k].name);
        if (!strcmp(options[k].name, "measure") && m->keep_given)
            return cli_usage(m->cli, "--measure: without effect with --keep: errors are those against all coefficients");
        if (!strcmp(options[k].name, "measure") && !strcmp(action, "render") && !m->error_given)
            return cli_usage(m->cli, "--measure: without effect on a picture without --error");
        if (!strcmp(options[k].name, "measure") && !strcmp(action, "compare")) return cli_usage(m->cli, "--measure: without effect on compare");
    }
    return CLI_OK;
}

tsr_status mip_filter_volume(struct mip *m, tsr_volume **volume, int64_t *nodes, int64_t *kept)
{
    tsr_max_tree *tree = NULL;
    tsr_volume *filtered = NULL;
    m->tree.progress = cli_progress(m->cli);
    m->filter.attribute = (tsr_max_tree_attribute)m->attribute;
    m->filter.rule = (tsr_max_tree_rule)m->rule;
    tsr_status status = tsr_max_tree_create(*volume, &m->tree, &tree);
    cli_progress_end(m->cli);
    if (nodes && status == TSR_OK) *nodes = tsr_max_tree_describe(tree)->nodes;
    if (status == TSR_OK) status = tsr_max_tree_filter(NULL, tree, &m->filter, &filtered, kept);
    tsr_max_tree_destroy(&tree);
    if (status != TSR_OK) return status;
    tsr_volume_destroy(volume);
    *volume = filtered;
    return TSR_OK;
}
