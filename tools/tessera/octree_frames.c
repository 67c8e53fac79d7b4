/* octree_frames.c: trees of meshes that move and of volumes that change, frame by frame, each into the memory of the one before. */
#define _POSIX_C_SOURCE 200809L /* fstat */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lists.h"
#include "octree.h"

struct frames {
    const struct octree *o;
    tsr_context *context;
    tsr_winding *winding; /* of meshes: */
    tsr_size3 size;
    tsr_geometry geometry;
    int64_t vertices; /* of the largest mesh */
    tsr_volume *volume;
    tsr_region_pyramid *pyramid;
    cli_tree tree;
};

enum { NAME_BYTES = 4096 };

/* `name` with the number of a frame in the place of its only %d or %0Nd; 0 if it has none, or anything else after a %. */
static int numbered(const char *name, int frame, char *out)
{
    const char *mark = strchr(name, '%');
    char *end;
    if (!mark || strchr(mark + 1, '%')) return 0;
    const long width = mark[1] == '0' ? strtol(mark + 2, &end, 10) : (end = (char *)(uintptr_t)(mark + 1), 1);
    if (*end != 'd' || width < 1 || width > 18) return 0;
    const int n = snprintf(out, NAME_BYTES, "%.*s%0*d%s", (int)(mark - name), name, (int)width, frame, end + 1);
    return n > 0 && n < NAME_BYTES;
}

int octree_frames_prepare(const struct octree *o)
{
    const char *refused = o->triangles            ? "triangles"
                          : o->tile_given         ? "tile"
                          : o->regions.grade      ? "grade"
                          : o->regions.least_side ? "least-side"
                          : o->regions.most_side  ? "most-side"
                          : o->components         ? "components"
                          : o->labels             ? "labels"
                          : o->statistics         ? "statistics"
                          : o->find_given         ? "find"
                          : o->ray_given          ? "ray"
                          : o->cap                ? "cap"
                                                  : NULL;
    const struct {
        const char *option, *name;
    } outputs[] = {
        { "output", o->output }, { "cubes", o->cubes }, { "list", o->regions.list }, { "runs", o->regions.runs }, { "tree", o->regions.tree }
    };
    char name[NAME_BYTES];
    if (refused) return cli_usage(o->cli, "--%s: is not for --frames", refused);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i].name && !numbered(outputs[i].name, 0, name))
            return cli_usage(o->cli, "--%s: '%s' given, expected a file name with one %%d or %%0Nd for the number of the frame", outputs[i].option,
                             outputs[i].name);
    for (int i = 0; i < o->cli->inputs; i++)
        if (!strcmp(o->cli->input[i], "-"))
            return cli_usage(o->cli, "--frames: reads the inputs one after the other, expected files and not standard input");
    return CLI_OK;
}

/* Which file a name leads to, by whatever path. */
struct place {
    dev_t device;
    ino_t node;
};

static int by_place(const void *a, const void *b)
{
    const struct place *p = (const struct place *)a, *q = (const struct place *)b;
    return p->device != q->device ? (p->device < q->device ? -1 : 1) : (p->node > q->node) - (p->node < q->node);
}

static int find_place(const char *path, struct place *place)
{
    struct stat info;
    if (strcmp(path, "-") ? stat(path, &info) : fstat(STDIN_FILENO, &info)) return 0;
    *place = (struct place){ info.st_dev, info.st_ino };
    return S_ISREG(info.st_mode);
}

/* One output against all inputs, in order of their places. */
static int check_place(const struct octree *o, const char *option, const char *name, const struct place *read, size_t count)
{
    struct place place;
    struct stat info;
    if (!strcmp(name, "-")) return CLI_OK;
    if (o->frames && !stat(name, &info) && S_ISDIR(info.st_mode))
        return cli_error(o->cli, CLI_FAILED, "--%s: '%s' is a directory, expected a file name", option, name);
    if (!find_place(name, &place)) return CLI_OK;
    if (bsearch(&place, read, count, sizeof *read, by_place)) return cli_usage(o->cli, "--%s: '%s' is an input, expected another file", option, name);
    if (o->frames && !o->cli->globals.force) return cli_error(o->cli, CLI_FAILED, "--%s: '%s' exists: give --force to overwrite it", option, name);
    return CLI_OK;
}

int octree_check_outputs(const struct octree *o)
{
    const struct {
        const char *option, *name;
    } outputs[] = { { "output", o->output },     { "cubes", o->cubes },           { "list", o->regions.list }, { "runs", o->regions.runs },
                    { "tree", o->regions.tree }, { "components", o->components }, { "labels", o->labels },     { "statistics", o->statistics } };
    const int inputs = o->cli->inputs, frames = o->frames ? inputs : 1;
    char name[NAME_BYTES];
    size_t count = 0;
    int code = CLI_OK;
    struct place *read = (struct place *)malloc(((size_t)inputs + 1) * sizeof *read);
    if (!read) return cli_error(o->cli, CLI_FAILED, "no memory for the names of %d inputs", inputs);
    for (int i = 0; i < inputs; i++) count += (size_t)find_place(o->cli->input[i], &read[count]);
    if (o->volume) count += (size_t)find_place(o->volume, &read[count]);
    qsort(read, count, sizeof *read, by_place);
    for (size_t k = 0; k < sizeof outputs / sizeof *outputs && !code; k++)
        for (int i = 0; i < frames && !code && outputs[k].name; i++)
            if (!o->frames) code = check_place(o, outputs[k].option, outputs[k].name, read, count);
            else if (!numbered(outputs[k].name, i, name)) code = cli_usage(o->cli, "--%s: the name of frame %d is too long", outputs[k].option, i);
            else code = check_place(o, outputs[k].option, name, read, count);
    free(read);
    return code;
}

/* One lattice around all meshes, so that voxels keep their places. */
static int place_lattice(struct frames *f)
{
    float low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    tsr_mesh *all = NULL;
    int code = CLI_OK;
    for (int i = 0; i < f->o->cli->inputs && !code; i++) {
        tsr_mesh *mesh = cli_read_mesh(f->o->cli, f->o->cli->input[i], &f->o->read, &code);
        const int64_t n = mesh ? tsr_mesh_vertex_count(mesh) : 0;
        const float *v = mesh ? tsr_mesh_vertices(mesh) : NULL;
        for (int64_t k = 0; k < 3 * n; k++) {
            low[k % 3] = fminf(low[k % 3], v[k]);
            high[k % 3] = fmaxf(high[k % 3], v[k]);
        }
        if (n > f->vertices) f->vertices = n;
        if (mesh && !tsr_mesh_triangle_count(mesh))
            code = cli_error(f->o->cli, CLI_FAILED, "%s: no triangles, expected a closed mesh", f->o->cli->input[i]);
        tsr_mesh_destroy(&mesh);
    }
    if (code) return code;
    tsr_status status = tsr_mesh_create(NULL, 2, 1, 0, &all); /* a triangle without area from corner to corner of their box */
    if (status == TSR_OK) {
        const uint32_t corners[3] = { 0, 1, 1 };
        memcpy(tsr_mesh_triangles(all), corners, sizeof corners);
        memcpy(tsr_mesh_vertices(all), low, sizeof low);
        memcpy(tsr_mesh_vertices(all) + 3, high, sizeof high);
        status = tsr_winding_lattice(all, f->o->spacing, f->o->origin, 1, &f->size, &f->geometry);
    }
    if (status == TSR_OK) status = tsr_winding_create(f->context, f->size, &f->geometry, f->vertices, &f->winding);
    if (status == TSR_OK) status = tsr_volume_create(f->context, TSR_I32, f->size, &f->geometry, &f->volume);
    tsr_mesh_destroy(&all);
    return status == TSR_OK ? CLI_OK : cli_status(f->o->cli, status, f->o->cli->input[0]);
}

/* From voxels to lists. */
static tsr_status build(struct frames *f)
{
    const tsr_volume *const channels[1] = { f->volume };
    tsr_status status = f->pyramid ? TSR_OK : tsr_region_pyramid_create(f->context, f->size, &f->o->regions.options, &f->pyramid);
    if (status == TSR_OK) status = tsr_region_pyramid_build(f->pyramid, channels, 1);
    if (status == TSR_OK)
        status = f->tree.device ? tsr_region_tree_renew(f->pyramid, f->tree.device) : tsr_region_tree_extract(f->pyramid, &f->tree.device);
    return status;
}

static int from_mesh(struct frames *f, const char *path, double *seconds)
{
    tsr_mesh *there = NULL;
    tsr_winding_report report = TSR_WINDING_REPORT;
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(f->o->cli, path, &f->o->read, &code);
    if (!mesh) return code;
    tsr_status status = tsr_mesh_copy(mesh, f->context, &there);
    const double start = cli_seconds();
    if (status == TSR_OK) status = tsr_winding_build(f->winding, there, NULL, f->volume);
    if (status == TSR_OK) status = build(f);
    *seconds = cli_seconds() - start;
    if (status == TSR_OK) status = tsr_winding_check(f->winding, there, &report);
    if (status == TSR_OK) cli_note_winding(f->o->cli, path, &report);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(f->o->cli, status, path);
}

static int from_volume(struct frames *f, const char *path, double *seconds)
{
    int code = CLI_OK;
    tsr_volume_destroy(&f->volume);
    f->volume = cli_read_to_device(f->o->cli, path, &f->o->read, f->context, &code);
    if (!f->volume) return code;
    const tsr_size3 n = tsr_volume_size(f->volume);
    if (!f->pyramid) f->size = n;
    if (n.x != f->size.x || n.y != f->size.y || n.z != f->size.z)
        return cli_error(f->o->cli, CLI_FAILED, "%s: %lld x %lld x %lld voxels, expected %lld x %lld x %lld as of %s", path, (long long)n.x,
                         (long long)n.y, (long long)n.z, (long long)f->size.x, (long long)f->size.y, (long long)f->size.z, f->o->cli->input[0]);
    if ((code = octree_note_nan(f->o, f->context, f->volume, path)) != CLI_OK) return code;
    const double start = cli_seconds();
    const tsr_status status = build(f);
    *seconds = cli_seconds() - start;
    return status == TSR_OK ? CLI_OK : cli_status(f->o->cli, status, path);
}

/* Results of one frame under their numbered names. */
static int write_frame(struct frames *f, int frame)
{
    struct octree o = *f->o;
    const char **const names[] = { &o.output, &o.cubes, &o.regions.list, &o.regions.runs, &o.regions.tree };
    char name[5][NAME_BYTES];
    const tsr_volume *const channels[1] = { f->volume };
    int wanted = 0;
    for (int i = 0; i < 5; i++) {
        if (!*names[i] || !numbered(*names[i], frame, name[i])) continue;
        *names[i] = name[i];
        wanted = 1;
    }
    if (!wanted) return CLI_OK;
    const tsr_status status = cli_tree_complete(f->context, channels, 1, o.regions.options.nodes_only, &f->tree);
    const int code = status == TSR_OK ? octree_write(&o, &f->tree, f->context, 1) : cli_status(o.cli, status, o.cli->input[frame]);
    tsr_region_tree *kept = f->tree.device;
    f->tree.device = NULL;
    cli_tree_destroy(&f->tree);
    f->tree = (cli_tree){ .device = kept };
    return code;
}

static void show_frame(const struct frames *f, const char *path, double seconds)
{
    const tsr_region_info info = *tsr_region_tree_describe(f->tree.device);
    if (!f->o->cli->globals.json) {
        printf("%s  %lld leaves, %lld nodes, %.4f s\n", cli_shown(path), (long long)info.leaves, (long long)info.nodes, seconds);
        return;
    }
    json_open(NULL, '{');
    json_text("frame", path);
    json_int("leaves", info.leaves);
    json_int("nodes", info.nodes);
    json_int("device_bytes", info.device_bytes);
    json_real("seconds", seconds);
    json_close('}');
}

int octree_frames(const struct octree *o)
{
    struct frames f = { .o = o };
    const tsr_progress progress = cli_progress(o->cli);
    int code = cli_context(o->cli, &f.context);
    if (!code && o->kind == TSR_FILE_MESH) code = place_lattice(&f);
    const int listed = !code && o->cli->globals.json;
    if (listed) json_open(NULL, '[');
    for (int i = 0; i < o->cli->inputs && !code; i++) {
        const char *path = o->cli->input[i];
        double seconds = 0;
        if (progress.report && progress.report(progress.user, (double)i / o->cli->inputs, "frames"))
            code = cli_error(o->cli, CLI_FAILED, "%s: cancelled after %d of %d frames", path, i, o->cli->inputs);
        if (!code) code = o->kind == TSR_FILE_MESH ? from_mesh(&f, path, &seconds) : from_volume(&f, path, &seconds);
        if (!code) code = write_frame(&f, i);
        if (!code) show_frame(&f, path, seconds);
    }
    if (listed) json_close(']');
    cli_tree_destroy(&f.tree);
    tsr_region_pyramid_destroy(&f.pyramid);
    tsr_volume_destroy(&f.volume);
    tsr_winding_destroy(&f.winding);
    tsr_context_destroy(&f.context);
    return code;
}
