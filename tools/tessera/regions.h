/* tools/tessera/regions.h: what the verbs quadtree and octree share: the rule from the options, the tree, its list. */
#ifndef TESSERA_REGIONS_H
#define TESSERA_REGIONS_H

#include "cli.h"

enum { CLI_RULE_CLASSES = 4 }; /* among the choices of --rule */

typedef struct cli_regions {
    tsr_region_options options;
    int rule, classifier, edge_norm, nan;
    const char *colour;
    int32_t colours; /* numbers in it */
    double range[2];
    int range_given, threshold_given, rule_given;
    int grade;                     /* 0: not; else 1 + tsr_region_touch */
    int32_t least_side, most_side; /* of the leaves that are kept; 0: any */
    const char *list;              /* CSV */
    const char *tree;              /* file */
    const char *runs;              /* CSV */
} cli_regions;
#define CLI_REGIONS                   \
    {                                 \
        .options = TSR_REGION_OPTIONS \
    }

#define CLI_REGION_OPTIONS(r)                                                                                                                     \
    { .name = "rule",                                                                                                                             \
      .type = CLI_CHOICE,                                                                                                                         \
      .value = &(r).rule,                                                                                                                         \
      .argument = "RULE",                                                                                                                         \
      .help = "what merges: deviation, spread and variance cluster all values; edges and linear keep flat and straight places,\n"                 \
              "classes those of a range, colour those near one (see the guide)",                                                                  \
      .choices = "deviation spread edges linear classes variance colour",                                                                         \
      .given = &(r).rule_given },                                                                                                                 \
        { .name = "threshold",                                                                                                                    \
          .type = CLI_REAL,                                                                                                                       \
          .value = &(r).options.threshold,                                                                                                        \
          .argument = "T",                                                                                                                        \
          .help = "of the rule: squared deviation or gradient, spread, variance, second difference, distance from the colour (default 0)",        \
          .upper = 1e300,                                                                                                                         \
          .given = &(r).threshold_given },                                                                                                        \
        { .name = "range",                                                                                                                        \
          .type = CLI_RANGE,                                                                                                                      \
          .value = (r).range,                                                                                                                     \
          .argument = "LOWER:UPPER",                                                                                                              \
          .help = "of classes: LOWER <= v < UPPER",                                                                                               \
          .given = &(r).range_given },                                                                                                            \
        { .name = "edge-norm",                                                                                                                    \
          .type = CLI_CHOICE,                                                                                                                     \
          .value = &(r).edge_norm,                                                                                                                \
          .argument = "NORM",                                                                                                                     \
          .help = "of edges: sum of the squared differences, or of their magnitudes",                                                             \
          .choices = "squares magnitudes" },                                                                                                      \
        { .name = "gradient",                                                                                                                     \
          .type = CLI_FLAG,                                                                                                                       \
          .value = &(r).options.gradient,                                                                                                         \
          .help = "deviation, spread, variance: of the differences along the axes, not of the values: what is linear merges" },                   \
        { .name = "colour",                                                                                                                       \
          .type = CLI_TEXT,                                                                                                                       \
          .value = &(r).colour,                                                                                                                   \
          .argument = "V,...",                                                                                                                    \
          .help = "of colour: a value for each channel, or #rrggbb (three from 0 to 1, as the channels of a picture have)" },                     \
        { .name = "nan",                                                                                                                          \
          .type = CLI_CHOICE,                                                                                                                     \
          .value = &(r).nan,                                                                                                                      \
          .argument = "HOW",                                                                                                                      \
          .help = "values that are NaN or infinite: an error, or apart: kept by no class, merged with nothing (default: an error, but with\n"     \
                  "--rule classes)",                                                                                                              \
          .choices = "auto fail apart" },                                                                                                         \
        { .name = "complement", .type = CLI_FLAG, .value = &(r).options.complement, .help = "edges, linear, classes, colour: keep the others" },  \
        { .name = "singles",                                                                                                                      \
          .type = CLI_FLAG,                                                                                                                       \
          .value = &(r).options.singles,                                                                                                          \
          .help = "edges, linear, classes, colour: what is not kept becomes leaves of one voxel" },                                               \
        { .name = "implicit-base",                                                                                                                \
          .type = CLI_FLAG,                                                                                                                       \
          .value = &(r).options.implicit_base,                                                                                                    \
          .help = "edges, linear, classes, colour: store nothing of the voxels, classify them again for the lists (less memory, same tree)" },    \
        { .name = "grade",                                                                                                                        \
          .type = CLI_CHOICE,                                                                                                                     \
          .value = &(r).grade,                                                                                                                    \
          .argument = "HOW",                                                                                                                      \
          .help = "split leaves until those that touch (by faces, by edges too, by corners too) differ by one level at most",                     \
          .choices = "none faces edges corners" },                                                                                                \
        { .name = "least-side",                                                                                                                   \
          .type = CLI_INT,                                                                                                                        \
          .value = &(r).least_side,                                                                                                               \
          .argument = "N",                                                                                                                        \
          .help = "only leaves at least so large: no objects smaller than that",                                                                  \
          .lower = 1,                                                                                                                             \
          .upper = 1 << 28 },                                                                                                                     \
        { .name = "most-side",                                                                                                                    \
          .type = CLI_INT,                                                                                                                        \
          .value = &(r).most_side,                                                                                                                \
          .argument = "N",                                                                                                                        \
          .help = "only leaves at most so large: the detail",                                                                                     \
          .lower = 1,                                                                                                                             \
          .upper = 1 << 28 },                                                                                                                     \
        { .name = "list",                                                                                                                         \
          .type = CLI_TEXT,                                                                                                                       \
          .value = &(r).list,                                                                                                                     \
          .argument = "FILE.csv",                                                                                                                 \
          .help = "the leaves: key, x, y, z, side and the mean of each channel" },                                                                \
        { .name = "runs",                                                                                                                         \
          .type = CLI_TEXT,                                                                                                                       \
          .value = &(r).runs,                                                                                                                     \
          .argument = "FILE.csv",                                                                                                                 \
          .help = "the leaves as runs along x: start, length, and the mean of the first channel (classes: whatever it is)" },                     \
    {                                                                                                                                             \
        .name = "tree", .type = CLI_TEXT, .value = &(r).tree, .argument = "FILE.rgt", .help = "the tree and its means, to be read again as input" \
    }

/* Checks and completes what was parsed. Returns an exit code. */
int cli_regions_prepare(const cli_call *cli, cli_regions *r);
/* Refuses a colour that has not a value for each of the channels. Returns an exit code. */
int cli_regions_colour(const cli_call *cli, const cli_regions *r, int32_t channels);
/* Refuses what has no effect on a tree that is read. Returns an exit code. */
int cli_regions_of_tree(const cli_call *cli, const cli_regions *r);
/* Tree of the channels on the context's device, and on the host with the means of its leaves, [channel][leaf]; free them. No means: nodes only. */
typedef struct cli_tree {
    tsr_region_tree *device, *host;
    float *means[4];
} cli_tree;
/* From a host tree and its values, leaves x channels x 1 (NULL: none), both ADOPTED; *values becomes NULL. */
tsr_status cli_tree_adopt(tsr_context *context, tsr_region_tree **host, tsr_volume **values, cli_tree *tree);
/* Host copy and means of a tree that is there already, of the volumes it was made of. */
tsr_status cli_tree_complete(tsr_context *context, const tsr_volume *const *channels, int32_t count, int nodes_only, cli_tree *tree);
tsr_status cli_tree_make(tsr_context *context, const tsr_volume *const *channels, int32_t count, const tsr_region_options *options, cli_tree *tree);
/* Grades the tree, if that is asked for: the parts of a leaf have its means. Returns an exit code. */
int cli_tree_grade(const cli_call *cli, const cli_regions *r, tsr_context *context, int32_t channels, cli_tree *tree);
/* Keeps the leaves of --least-side to --most-side. Returns an exit code. */
int cli_tree_filter(const cli_call *cli, const cli_regions *r, tsr_context *context, int32_t channels, cli_tree *tree);
/* Is the input a tree that was written before; reads it, with at most `most` channels of means. Returns an exit code. */
int cli_tree_is_file(const cli_call *cli, const char *path);
int cli_tree_read(const cli_call *cli, const char *path, tsr_context *context, int32_t most, cli_tree *tree, int32_t *channels);
/* What a file of a tree holds, for tessera info. Returns an exit code. */
int cli_tree_info(const cli_call *cli, const char *path);
void cli_tree_destroy(cli_tree *tree);
/* Writes the list and the tree, if they are asked for. Returns an exit code. */
int cli_tree_write(const cli_call *cli, const cli_regions *r, const cli_tree *tree, int32_t channels);
/* Table of the connected parts to `path` (NULL: none) as CSV, and their numbers + 1, 0 elsewhere, as a new host volume (`labels` NULL: none); leaves of equal
 * means belong together, or, with `kept`, all that touch. Returns an exit code. */
int cli_tree_components(const cli_call *cli, const cli_tree *tree, tsr_context *context, int kept, const char *path, tsr_volume **labels);
/* What the tree holds at a point and along a ray (world coordinates) to standard output. Returns an exit code. */
int cli_tree_find(const cli_call *cli, const cli_tree *tree, tsr_context *context, tsr_vec3 point);
int cli_tree_ray(const cli_call *cli, const cli_tree *tree, tsr_context *context, tsr_vec3 origin, tsr_vec3 direction);
/* A table of many rows: asks now and then whether to go on; else prints and returns the exit code. Nothing of it is written before it is complete. */
int cli_row_goes_on(const cli_call *cli, const tsr_progress *progress, const char *path, int64_t row, int64_t rows);
/* Table of what the values of a volume are like over the leaves, to `path`. Returns an exit code. */
int cli_tree_statistics_of(const cli_call *cli, const cli_tree *tree, tsr_context *context, const tsr_volume *source, const char *name,
                           const char *path);
int cli_tree_statistics(const cli_call *cli, const cli_tree *tree, tsr_context *context, const tsr_read_options *read, const char *volume,
                        const char *path);
/* Do results go to standard output? Then nothing else may. */
int cli_regions_on_stdout(const cli_regions *r);
void cli_tree_show(const cli_call *cli, const cli_tree *tree, double seconds);

#endif
