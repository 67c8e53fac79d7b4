/* tools/tessera/octree_query.c: what a tree holds at a point and along a ray, in world coordinates, and over its leaves. Device memory is had as volumes of bytes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regions.h"

enum { SPANS = 4096 };

static tsr_status to_device(tsr_context *context, const void *data, size_t bytes, tsr_volume **there)
{
    tsr_volume *host = NULL;
    tsr_status status = tsr_volume_create(NULL, TSR_U8, (tsr_size3){ (int64_t)bytes, 1, 1 }, NULL, &host);
    if (status == TSR_OK) memcpy(tsr_volume_data(host), data, bytes);
    if (status == TSR_OK) status = tsr_volume_copy(host, context, there);
    tsr_volume_destroy(&host);
    return status;
}
static tsr_status from_device(const tsr_volume *there, void *data, size_t bytes)
{
    tsr_volume *host = NULL;
    const tsr_status status = tsr_volume_copy(there, NULL, &host);
    if (status == TSR_OK) memcpy(data, tsr_volume_data_const(host), bytes);
    tsr_volume_destroy(&host);
    return status;
}

int cli_tree_find(const cli_call *cli, const cli_tree *t, tsr_context *context, tsr_vec3 point)
{
    tsr_volume *in = NULL, *out = NULL;
    tsr_region_hit hit = { 0 };
    tsr_vec3 index;
    tsr_status status = tsr_geometry_to_index(tsr_region_tree_geometry(t->host), point, &index);
    const double v[3] = { index.x, index.y, index.z };
    int32_t at[3] = { 0, 0, 0 };
    for (int k = 0; k < 3 && status == TSR_OK; k++) at[k] = (int32_t)fmax(-1, fmin(floor(v[k] + 0.5), 1 << 29));
    if (status == TSR_OK) status = to_device(context, at, sizeof at, &in);
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_U8, (tsr_size3){ sizeof hit, 1, 1 }, NULL, &out);
    if (status == TSR_OK)
        status = tsr_region_tree_find(t->device, (const int32_t *)tsr_volume_data_const(in), 1, (tsr_region_hit *)tsr_volume_data(out));
    if (status == TSR_OK) status = from_device(out, &hit, sizeof hit);
    tsr_volume_destroy(&in);
    tsr_volume_destroy(&out);
    if (status != TSR_OK) return cli_status(cli, status, cli->input[0]);
    const double mean = hit.leaf >= 0 && t->means[0] ? (double)t->means[0][hit.leaf] : (double)NAN;
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_int("leaf", hit.leaf);
        json_int("side", hit.leaf == -2 ? 0 : (int64_t)1 << hit.level);
        json_open("lower", '[');
        for (int k = 0; k < 3; k++) json_int(NULL, hit.lower[k]);
        json_close(']');
        json_real("mean", mean);
        json_close('}');
    } else if (hit.leaf == -2) {
        printf("voxel %d %d %d: outside of the volume\n", at[0], at[1], at[2]);
    } else {
        printf("voxel %d %d %d: %s of side %lld from %d %d %d", at[0], at[1], at[2], hit.leaf < 0 ? "nothing kept in a cube" : "leaf",
               (long long)1 << hit.level, hit.lower[0], hit.lower[1], hit.lower[2]);
        if (hit.leaf >= 0) printf(", number %lld", (long long)hit.leaf);
        if (!isnan(mean)) printf(", mean %.9g", mean);
        printf("\n");
    }
    return CLI_OK;
}

struct spans {             /* along one ray */
    tsr_region_span *span; /* free it */
    int32_t room, found;
};

/* Leaves or gaps (`gaps` != 0) along the ray, the first `room` of them. */
static tsr_status trace_room(const cli_tree *t, tsr_context *context, const tsr_region_ray *ray, int gaps, struct spans *s)
{
    const size_t bytes = (size_t)s->room * sizeof *s->span;
    tsr_volume *in = NULL, *out = NULL, *count = NULL;
    tsr_status status = to_device(context, ray, sizeof *ray, &in);
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_U8, (tsr_size3){ (int64_t)bytes, 1, 1 }, NULL, &out);
    if (status == TSR_OK) status = tsr_volume_create(context, TSR_I32, (tsr_size3){ 1, 1, 1 }, NULL, &count);
    if (status == TSR_OK) {
        const tsr_region_ray *from = (const tsr_region_ray *)tsr_volume_data_const(in);
        tsr_region_span *to = (tsr_region_span *)tsr_volume_data(out);
        int32_t *number = (int32_t *)tsr_volume_data(count);
        status =
            gaps ? tsr_region_tree_gaps(t->device, from, 1, s->room, to, number) : tsr_region_tree_rays(t->device, from, 1, s->room, 0, to, number);
    }
    if (status == TSR_OK) status = from_device(count, &s->found, sizeof s->found);
    if (status == TSR_OK) status = from_device(out, s->span, bytes);
    tsr_volume_destroy(&in);
    tsr_volume_destroy(&out);
    tsr_volume_destroy(&count);
    return status;
}

/* All of them: a second time with room for what the first one found. `memory` becomes 0 if there is none. */
static tsr_status trace(const cli_tree *t, tsr_context *context, const tsr_region_ray *ray, int gaps, struct spans *s, int *memory)
{
    tsr_status status = TSR_OK;
    s->room = SPANS;
    for (int again = 0; again < 2 && status == TSR_OK; again++) {
        free(s->span);
        s->span = (tsr_region_span *)malloc((size_t)s->room * sizeof *s->span);
        if (!s->span) {
            *memory = 0;
            return TSR_OK;
        }
        status = trace_room(t, context, ray, gaps, s);
        if (status != TSR_OK || s->found <= s->room) break;
        s->room = s->found;
    }
    return status;
}

static int by_enter(const void *a, const void *b)
{
    const tsr_region_span *x = (const tsr_region_span *)a, *y = (const tsr_region_span *)b;
    return x->enter < y->enter ? -1 : x->enter > y->enter;
}

static void show_span(const cli_call *cli, const cli_tree *t, const tsr_region_span *s)
{
    const double mean = s->leaf >= 0 && t->means[0] ? (double)t->means[0][s->leaf] : (double)NAN;
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_real("enter", s->enter);
        json_real("leave", s->leave);
        json_int("leaf", s->leaf);
        json_real("mean", mean);
        json_close('}');
        return;
    }
    printf("%.9g,%.9g,%lld,", s->enter, s->leave, (long long)s->leaf);
    if (s->leaf >= 0 && t->means[0]) printf("%.9g", mean);
    printf("\n");
}

int cli_tree_ray(const cli_call *cli, const cli_tree *t, tsr_context *context, tsr_vec3 origin, tsr_vec3 direction)
{
    const tsr_geometry *g = tsr_region_tree_geometry(t->host);
    const double most = fmax(fabs(direction.x), fmax(fabs(direction.y), fabs(direction.z))); /* squares of what is tiny would be 0 */
    const tsr_vec3 d = { direction.x / most, direction.y / most, direction.z / most };
    const double length = sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
    const tsr_vec3 end = { origin.x + d.x / length, origin.y + d.y / length, origin.z + d.z / length };
    struct spans leaves = { 0 }, gaps = { 0 };
    tsr_region_span *all = NULL;
    int memory = 1;
    tsr_vec3 a, b;
    tsr_status status = tsr_geometry_to_index(g, origin, &a);
    if (status == TSR_OK) status = tsr_geometry_to_index(g, end, &b);
    if (status == TSR_OK) { /* the value of a voxel lies in its middle; t counts world units */
        const tsr_region_ray ray = { { a.x + 0.5, a.y + 0.5, a.z + 0.5 }, { b.x - a.x, b.y - a.y, b.z - a.z }, 1e300 };
        status = trace(t, context, &ray, 0, &leaves, &memory);
        if (status == TSR_OK && memory) status = trace(t, context, &ray, 1, &gaps, &memory);
    }
    const size_t count = (size_t)leaves.found + (size_t)gaps.found;
    if (status == TSR_OK && memory) all = (tsr_region_span *)malloc((count + 1) * sizeof *all);
    if (all) {
        memcpy(all, leaves.span, (size_t)leaves.found * sizeof *all);
        memcpy(all + leaves.found, gaps.span, (size_t)gaps.found * sizeof *all);
        qsort(all, count, sizeof *all, by_enter);
        if (cli->globals.json) json_open(NULL, '[');
        else printf("enter,leave,leaf,mean\n");
        for (size_t i = 0; i < count; i++) show_span(cli, t, &all[i]);
        if (cli->globals.json) json_close(']');
    }
    const int done = all != NULL;
    free(leaves.span);
    free(gaps.span);
    free(all);
    if (status != TSR_OK) return cli_status(cli, status, cli->input[0]);
    return done ? CLI_OK : cli_error(cli, CLI_FAILED, "%s: no memory for the spans of a ray", cli->input[0]);
}

static int write_statistics(const cli_call *cli, const cli_tree *t, const tsr_region_statistics *list, const tsr_progress *progress, const char *path)
{
    const tsr_region_info info = *tsr_region_tree_describe(t->host);
    const size_t room = 64 + (size_t)info.leaves * 240;
    char *text = (char *)malloc(room);
    if (!text) return cli_error(cli, CLI_FAILED, "%s: no memory for the table", path);
    size_t at = (size_t)snprintf(text, room, "key,x,y,z,side,mean,variance,least,most\n");
    int code = CLI_OK;
    for (int64_t i = 0; i < info.leaves && !(code = cli_row_goes_on(cli, progress, path, i, info.leaves)); i++) {
        const uint64_t key = tsr_region_tree_leaves(t->host)[i];
        const tsr_region_leaf l = tsr_region_leaf_of(key, info.dimensions);
        at += (size_t)snprintf(text + at, room - at, "%llu,%lld,%lld,%lld,%lld,%.17g,%.17g,%.17g,%.17g\n", (unsigned long long)key, (long long)l.x,
                               (long long)l.y, (long long)l.z, (long long)l.side, list[i].mean, list[i].variance, list[i].least, list[i].most);
    }
    if (!code) code = cli_write_text(cli, path, text);
    free(text);
    return code;
}

int cli_tree_statistics_of(const cli_call *cli, const cli_tree *t, tsr_context *context, const tsr_volume *source, const char *name, const char *path)
{
    const int64_t leaves = tsr_region_tree_describe(t->host)->leaves;
    const size_t bytes = (size_t)leaves * sizeof(tsr_region_statistics);
    tsr_region_statistics *list = (tsr_region_statistics *)malloc(bytes + 1);
    tsr_volume *there = NULL;
    tsr_status status = TSR_OK;
    int code = list ? CLI_OK : cli_error(cli, CLI_FAILED, "%s: no memory for the statistics of %lld leaves", path, (long long)leaves);
    const tsr_progress progress = cli_progress(cli);
    if (!code) code = cli_row_goes_on(cli, &progress, path, 0, leaves + 1); /* before the values are gathered; after, the rows ask */
    if (!code && leaves) {
        status = tsr_volume_create(context, TSR_U8, (tsr_size3){ (int64_t)bytes, 1, 1 }, NULL, &there);
        if (status == TSR_OK) status = tsr_region_tree_statistics(t->device, source, (tsr_region_statistics *)tsr_volume_data(there));
        if (status == TSR_OK) status = from_device(there, list, bytes);
        if (status != TSR_OK) code = cli_status(cli, status, name);
    }
    if (!code) code = write_statistics(cli, t, list, &progress, path);
    tsr_volume_destroy(&there);
    free(list);
    return code;
}

int cli_tree_statistics(const cli_call *cli, const cli_tree *t, tsr_context *context, const tsr_read_options *read, const char *volume,
                        const char *path)
{
    int code = CLI_OK;
    tsr_volume *source = cli_read_to_device(cli, volume, read, context, &code);
    if (source) code = cli_tree_statistics_of(cli, t, context, source, volume, path);
    tsr_volume_destroy(&source);
    return code;
}

int cli_tree_info(const cli_call *cli, const char *path)
{
    tsr_region_tree *tree = NULL;
    tsr_volume *values = NULL;
    const tsr_read_options read = cli_limit_options(cli);
    const tsr_status status = tsr_region_tree_read(path, &read, &tree, &values);
    if (status != TSR_OK) return cli_status(cli, status, path);
    const tsr_region_info info = *tsr_region_tree_describe(tree);
    const tsr_vec3 h = tsr_geometry_spacing(tsr_region_tree_geometry(tree));
    const int64_t channels = values ? tsr_volume_size(values).y : 0, voxels = info.size.x * info.size.y * info.size.z;
    const char *const root[] = { "nothing", "one leaf", "a node" };
    int64_t covered = 0;
    double least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < info.leaves && !info.nodes_only; i++)
        covered += (int64_t)1 << (info.dimensions * (int)(tsr_region_tree_leaves(tree)[i] & 63u));
    for (int64_t i = 0; i < channels * info.leaves; i++) {
        const double v = (double)((const float *)tsr_volume_data_const(values))[i];
        least = fmin(least, v);
        most = fmax(most, v);
    }
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "tree");
        json_text("format", "rgt");
        json_int("dimensions", info.dimensions);
        json_open("size", '[');
        json_int(NULL, info.size.x);
        json_int(NULL, info.size.y);
        json_int(NULL, info.size.z);
        json_close(']');
        json_open("spacing", '[');
        json_real(NULL, h.x);
        json_real(NULL, h.y);
        json_real(NULL, h.z);
        json_close(']');
        json_int("leaves", info.leaves);
        json_int("nodes", info.nodes);
        json_int("top", info.top);
        json_text("root", root[info.root]);
        json_int("channels", channels);
        if (!info.nodes_only) json_int("covered", covered);
        if (channels && info.leaves) {
            json_real("minimum", least);
            json_real("maximum", most);
        }
        json_close('}');
    } else {
        printf("%s: %s (rgt)\n", cli_shown(path), info.dimensions == 2 ? "quadtree" : "octree");
        if (info.dimensions == 2) printf("  size         %lld x %lld pixels\n", (long long)info.size.x, (long long)info.size.y);
        else
            printf("  size         %lld x %lld x %lld voxels of %g x %g x %g\n", (long long)info.size.x, (long long)info.size.y,
                   (long long)info.size.z, h.x, h.y, h.z);
        printf("  root         %s, side %lld\n", root[info.root], (long long)1 << info.top);
        printf("  leaves       %lld, %lld nodes\n", (long long)info.leaves, (long long)info.nodes);
        if (!info.nodes_only)
            printf("  covered      %lld of %lld %s\n", (long long)covered, (long long)voxels, info.dimensions == 2 ? "pixels" : "voxels");
        if (channels) printf("  values       %lld per leaf, %.7g to %.7g\n", (long long)channels, least, most);
    }
    tsr_volume_destroy(&values);
    tsr_region_tree_destroy(&tree);
    return CLI_OK;
}
