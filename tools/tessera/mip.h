/* tools/tessera/mip.h: what the files of `tessera mip` share. */
#ifndef TSR_TOOLS_MIP_H
#define TSR_TOOLS_MIP_H

#include "cli.h"

struct mip {
    cli_call *cli;
    tsr_read_options read;
    tsr_mip_options build;
    tsr_mip_render_options render;
    tsr_max_tree_options tree;
    tsr_max_tree_filter_options filter;
    tsr_filter_pyramid_options analysis;
    const char *output;
    int32_t width, height, levels, bits, devices;
    int element, key, format, mode, close, attribute, rule, analysis_filter;
    int levels_given, range_given, slab_given, window_given, fraction_given, count_given, error_given, threshold_given, keep_given;
    double azimuth, elevation, zoom, range[2], slab[2], window[2], keep;
    tsr_context *context, *host; /* the second of a pyramid that is dealt out; NULL else */
    tsr_mip *pyramid;
    tsr_mip_stream *file; /* --stream */
    int stream, difference;
    tsr_volume *volume;
};

/* Is it the name of a pyramid file? */
int mip_is_pyramid(const char *path);
/* A code after the library's message about the file, or CLI_OK. */
int mip_failed(const struct mip *m, tsr_status status, const char *file);
extern const char *const mip_formats[4];
/* m->volume: the file's, as grey values of m->bits where --range says so. */
int mip_read_volume(struct mip *m, const char *path);
/* m->pyramid: the file's, or one built of its volume. */
int mip_load(struct mip *m, const char *path);
/* `mip build`, and what is said of a pyramid; seconds < 0: not how long it took. */
int mip_build(struct mip *m);
void mip_show(const struct mip *m, const tsr_mip_info *i, double seconds);
/* Usage errors: options that the action, or its input, does not use. `given` has an entry per option. */
int mip_check_given(const struct mip *m, const cli_option *options, const int *given, const char *action);
/* `mip analyse`: pyramids with other filters of m->volume; what they leave. */
int mip_analyse(struct mip *m);
/* The volume, filtered by its max-tree. *kept: nodes that stay. */
tsr_status mip_filter_volume(struct mip *m, tsr_volume **volume, int64_t *nodes, int64_t *kept);

#endif
