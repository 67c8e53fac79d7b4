#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "octree.h"

/* A closed box per leaf, outwards; voxels are cells around their index. */
static tsr_status boxes(const cli_tree *t, double shrink, tsr_mesh **mesh)
{
    static const uint8_t face[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 }, { 0, 1, 4 }, { 1, 5, 4 },
                                         { 2, 6, 3 }, { 3, 6, 7 }, { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
    const tsr_region_info info = *tsr_region_tree_describe(t->host);
    const tsr_geometry *g = tsr_region_tree_geometry(t->host);
    tsr_status status = tsr_mesh_create(NULL, 8 * info.leaves, 12 * info.leaves, 0, mesh);
    if (status != TSR_OK) return status;
    tsr_mesh_set_space(*mesh, g->space);
    float *v = tsr_mesh_vertices(*mesh);
    uint32_t *f = tsr_mesh_triangles(*mesh);
    const int mirrored = tsr_geometry_determinant(g) < 0;
    for (int64_t i = 0; i < info.leaves; i++) {
        const tsr_region_leaf l = tsr_region_leaf_of(tsr_region_tree_leaves(t->host)[i], info.dimensions);
        const double gap = 0.5 * shrink * (double)l.side, low = gap - 0.5, high = (double)l.side - gap - 0.5;
        for (int c = 0; c < 8; c++, v += 3) {
            const tsr_vec3 at = { (double)l.x + (c & 1 ? high : low), (double)l.y + (c & 2 ? high : low),
                                  (double)l.z + (info.dimensions == 2 ? (c & 4 ? 0.5 : -0.5)
                                                 : c & 4              ? high
                                                                      : low) };
            const tsr_vec3 w = tsr_geometry_to_world(g, at);
            v[0] = (float)w.x;
            v[1] = (float)w.y;
            v[2] = (float)w.z;
        }
        for (int k = 0; k < 12; k++, f += 3)
            for (int c = 0; c < 3; c++) f[c] = (uint32_t)(8 * i) + face[k][mirrored ? 2 - c : c];
    }
    return TSR_OK;
}

int octree_write(const struct octree *o, const cli_tree *tree, tsr_context *context, int32_t channels)
{
    const tsr_write_options write = cli_write_options(o->cli);
    const int64_t leaves = tsr_region_tree_describe(tree->host)->leaves;
    int code = cli_tree_write(o->cli, &o->regions, tree, channels);
    if (!code && o->output) {
        tsr_volume *host = NULL, *means = NULL, *painted = NULL, *out = NULL;
        tsr_status status = TSR_OK;
        if (leaves && tree->means[0]) { /* the means go to the device as a row of floats */
            status = tsr_volume_wrap(NULL, TSR_F32, (tsr_size3){ leaves, 1, 1 }, NULL, tree->means[0], NULL, NULL, &host);
            if (status == TSR_OK) status = tsr_volume_copy(host, context, &means);
        }
        if (status == TSR_OK)
            status = tsr_region_tree_paint(tree->device, TSR_F32, means ? (const float *)tsr_volume_data_const(means) : NULL, 0, &painted);
        if (status == TSR_OK) status = tsr_volume_copy(painted, NULL, &out);
        if (status == TSR_OK) status = tsr_volume_write(out, o->output, &write);
        if (status != TSR_OK) code = cli_status(o->cli, status, o->output);
        tsr_volume_destroy(&out);
        tsr_volume_destroy(&painted);
        tsr_volume_destroy(&means);
        tsr_volume_destroy(&host);
    }
    if (!code && o->cubes) {
        tsr_mesh *mesh = NULL;
        tsr_status status = boxes(tree, o->shrink, &mesh);
        tsr_write_options mesh_options = write;
        mesh_options.format = NULL; /* --format is the volume's */
        if (status == TSR_OK) status = tsr_mesh_write(mesh, o->cubes, &mesh_options);
        if (status != TSR_OK) code = cli_status(o->cli, status, o->cubes);
        tsr_mesh_destroy(&mesh);
    }
    return code;
}

enum { CONNECT_AUTO, CONNECT_KEPT, CONNECT_EQUAL };

/* Table and labels of the connected parts. Where everything is kept, only equal values can tell parts from each other. */
static int write_components(const struct octree *o, const cli_tree *tree, tsr_context *context)
{
    const tsr_write_options write = cli_write_options(o->cli);
    const tsr_region_info info = *tsr_region_tree_describe(tree->host);
    int64_t covered = 0;
    tsr_volume *labels = NULL;
    if (!o->components && !o->labels) return CLI_OK;
    for (int64_t i = 0; i < info.leaves; i++) covered += (int64_t)1 << (info.dimensions * (int)(tsr_region_tree_leaves(tree->host)[i] & 63u));
    const int all = covered == info.size.x * info.size.y * info.size.z;
    const int kept = o->connect == CONNECT_KEPT || (o->connect == CONNECT_AUTO && !all);
    int code = cli_tree_components(o->cli, tree, context, kept, o->components, o->labels ? &labels : NULL);
    if (!code && labels) {
        const tsr_status status = tsr_volume_write(labels, o->labels, &write);
        if (status != TSR_OK) code = cli_status(o->cli, status, o->labels);
    }
    tsr_volume_destroy(&labels);
    return code;
}

/* Of volumes, each a channel: as a whole, or tile by tile from where they lie. */
static int from_volumes(struct octree *o, tsr_context *context, cli_tree *tree, double *seconds)
{
    const int32_t count = o->cli->inputs;
    tsr_region_tree *host = NULL;
    tsr_volume *values = NULL, *channel[4] = { NULL };
    tsr_status status = TSR_OK;
    int code = cli_regions_colour(o->cli, &o->regions, count);
    for (int32_t c = 0; c < count && !code; c++) {
        const char *path = o->cli->input[c];
        channel[c] = o->tile_given ? cli_read_volume(o->cli, path, &o->read, &code) : cli_read_to_device(o->cli, path, &o->read, context, &code);
        if (channel[c] && !c) code = octree_note_nan(o, context, channel[c], path);
        if (!channel[c] || !c) continue;
        const tsr_size3 a = tsr_volume_size(channel[0]), b = tsr_volume_size(channel[c]);
        if (a.x != b.x || a.y != b.y || a.z != b.z)
            code = cli_error(o->cli, CLI_FAILED, "%s: %lld x %lld x %lld voxels, expected %lld x %lld x %lld as of %s", path, (long long)b.x,
                             (long long)b.y, (long long)b.z, (long long)a.x, (long long)a.y, (long long)a.z, o->cli->input[0]);
    }
    const tsr_volume *const *channels = (const tsr_volume *const *)channel;
    const double start = cli_seconds();
    if (!code && o->tile_given) {
        status = tsr_region_tree_make_tiled(context, channels, count, &o->regions.options, &o->tiling, &host, &values);
        if (status == TSR_OK) status = cli_tree_adopt(context, &host, &values, tree);
    } else if (!code) {
        status = cli_tree_make(context, channels, count, &o->regions.options, tree);
    }
    *seconds = cli_seconds() - start;
    for (int32_t c = 0; c < count; c++) tsr_volume_destroy(&channel[c]);
    return code || status == TSR_OK ? code : cli_status(o->cli, status, o->cli->input[0]);
}

int octree_note_nan(const struct octree *o, tsr_context *context, const tsr_volume *volume, const char *path)
{
    const tsr_context_options host = { .struct_size = sizeof host, .device = "cpu" };
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    tsr_statistics s = TSR_STATISTICS;
    tsr_context *own = NULL;
    tsr_status status = TSR_OK;
    if (o->regions.options.rule != TSR_REGION_CLASSES || o->regions.options.nan != TSR_REGION_NAN_APART) return CLI_OK;
    if (dtype != TSR_F32 && dtype != TSR_F64) return CLI_OK;
    if (o->tile_given) status = tsr_context_create(&host, &own);
    if (status == TSR_OK) status = tsr_volume_statistics(own ? own : context, volume, &s);
    tsr_context_destroy(&own);
    if (s.nan_count) cli_note(o->cli, "%s: %lld voxels are not a number and in no class", path, (long long)s.nan_count);
    return status == TSR_OK ? CLI_OK : cli_status(o->cli, status, path);
}

static int from_mesh(struct octree *o, tsr_context *context, cli_tree *tree, double *seconds)
{
    const char *path = o->cli->input[0];
    tsr_region_tree *host = NULL;
    tsr_volume *values = NULL;
    tsr_mesh *there = NULL;
    tsr_winding_report report = TSR_WINDING_REPORT;
    tsr_geometry geometry;
    tsr_size3 size;
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(o->cli, path, &o->read, &code);
    if (!mesh) return code;
    tsr_status status = tsr_winding_lattice(mesh, o->spacing, o->origin, 1, &size, &geometry);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, context, &there);
    const double start = cli_seconds();
    if (status == TSR_OK)
        status = tsr_region_tree_from_mesh(context, there, size, &geometry, &o->regions.options, &o->tiling, &host, &values, &report);
    *seconds = cli_seconds() - start;
    if (status == TSR_OK) cli_note_winding(o->cli, path, &report);
    if (status == TSR_OK) status = cli_tree_adopt(context, &host, &values, tree);
    if (status != TSR_OK) code = cli_status(o->cli, status, path);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    return code;
}

/* Of the triangles of a mesh; the value of a leaf is how many it has. */
static int from_triangles(struct octree *o, tsr_context *context, cli_tree *tree, double *seconds)
{
    const char *path = o->cli->input[0];
    tsr_triangle_tree_options options = TSR_TRIANGLE_TREE_OPTIONS;
    tsr_triangle_lists lists = { 0 };
    tsr_region_tree *device = NULL, *host = NULL;
    tsr_volume *values = NULL, *view = NULL, *starts = NULL;
    tsr_mesh *there = NULL;
    tsr_geometry geometry;
    tsr_size3 size;
    int code = CLI_OK;
    tsr_mesh *mesh = cli_read_mesh(o->cli, path, &o->read, &code);
    if (!mesh) return code;
    options.most = o->triangles;
    options.progress = cli_progress(o->cli);
    tsr_status status = tsr_winding_lattice(mesh, o->spacing, o->origin, 1, &size, &geometry);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, context, &there);
    const double start = cli_seconds();
    if (status == TSR_OK) status = tsr_region_tree_from_triangles(context, there, size, &geometry, &options, &device, &lists);
    *seconds = cli_seconds() - start;
    if (status == TSR_OK) status = tsr_region_tree_copy(device, NULL, &host);
    if (status == TSR_OK && lists.leaves) {
        status = tsr_volume_wrap(context, TSR_U64, (tsr_size3){ lists.leaves + 1, 1, 1 }, NULL, lists.starts, NULL, NULL, &view);
        if (status == TSR_OK) status = tsr_volume_copy(view, NULL, &starts);
        if (status == TSR_OK) status = tsr_volume_create(NULL, TSR_F32, (tsr_size3){ lists.leaves, 1, 1 }, NULL, &values);
        const uint64_t *first = status == TSR_OK ? (const uint64_t *)tsr_volume_data_const(starts) : NULL;
        for (int64_t i = 0; i < lists.leaves && first; i++) ((float *)tsr_volume_data(values))[i] = (float)(first[i + 1] - first[i]);
    }
    if (status == TSR_OK) status = cli_tree_adopt(context, &host, &values, tree);
    tsr_volume_destroy(&values);
    tsr_volume_destroy(&starts);
    tsr_volume_destroy(&view);
    tsr_region_tree_destroy(&host);
    tsr_triangle_lists_destroy(&lists);
    if (status != TSR_OK) code = cli_status(o->cli, status, path);
    tsr_region_tree_destroy(&device);
    tsr_mesh_destroy(&there);
    tsr_mesh_destroy(&mesh);
    return code;
}

static int on_stdout(const struct octree *o)
{
    const char *const names[] = { o->output, o->components, o->labels, o->statistics };
    for (int i = 0; i < 4; i++)
        if (names[i] && !strcmp(names[i], "-")) return 1;
    return 0;
}

static int work(struct octree *o)
{
    tsr_context *context = NULL;
    cli_tree tree = { 0 };
    double seconds = 0;
    int32_t channels = o->cli->inputs;
    int code = cli_context(o->cli, &context);
    if (!code && cli_tree_is_file(o->cli, o->cli->input[0])) code = cli_tree_read(o->cli, o->cli->input[0], context, 4, &tree, &channels);
    else if (!code)
        code = o->triangles               ? from_triangles(o, context, &tree, &seconds)
               : o->kind == TSR_FILE_MESH ? from_mesh(o, context, &tree, &seconds)
                                          : from_volumes(o, context, &tree, &seconds);
    if (!code) code = cli_tree_filter(o->cli, &o->regions, context, channels, &tree);
    if (!code) code = cli_tree_grade(o->cli, &o->regions, context, channels, &tree);
    if (!code && o->cap) {
        const tsr_status status = tsr_region_tree_cap(tree.device, o->cap);
        if (status != TSR_OK) code = cli_status(o->cli, status, "--cap");
    }
    if (!code) code = octree_write(o, &tree, context, channels);
    if (!code) code = write_components(o, &tree, context);
    if (!code && o->statistics) code = cli_tree_statistics(o->cli, &tree, context, &o->read, o->volume ? o->volume : o->cli->input[0], o->statistics);
    if (!code && o->find_given) code = cli_tree_find(o->cli, &tree, context, o->find);
    if (!code && o->ray_given) code = cli_tree_ray(o->cli, &tree, context, o->ray, o->direction);
    if (!code && !o->find_given && !o->ray_given && !on_stdout(o) && !cli_regions_on_stdout(&o->regions)) cli_tree_show(o->cli, &tree, seconds);
    cli_tree_destroy(&tree);
    tsr_context_destroy(&context);
    return code;
}

/* What the input is, and what its kind asks for. */
static int prepare(struct octree *o)
{
    cli_call *cli = o->cli;
    const char *format;
    const int tree = cli_tree_is_file(cli, cli->input[0]);
    int code = !tree           ? cli_recognise(cli, cli->input[0], &o->read, &o->kind, &format)
               : o->statistics ? CLI_OK /* the options are of the volume */
                               : cli_no_choice(cli, cli->input[0], &o->read, "a region tree");
    if (code) return code;
    if (o->frames && tree) return cli_usage(cli, "--frames: %s is a tree, expected volumes or meshes", cli->input[0]);
    code = o->frames ? octree_frames_prepare(o) : CLI_OK;
    if (code) return code;
    if (!o->frames && cli->inputs > 1 && (tree || o->kind == TSR_FILE_MESH || cli->inputs > 4))
        return cli_usage(cli, "%d inputs, expected one tree or mesh, up to 4 volumes, or --frames", cli->inputs);
    if (o->kind == TSR_FILE_MESH && !o->spacing_given) return cli_usage(cli, "--spacing: missing, expected world units per voxel of the mesh");
    if (o->kind != TSR_FILE_MESH && o->spacing_given) return cli_usage(cli, "--spacing: is for meshes");
    if (tree && o->tile_given) return cli_usage(cli, "--tile: is not for trees");
    code = tree ? cli_regions_of_tree(cli, &o->regions) : CLI_OK;
    if (code) return code;
    if (o->triangles) {
        const char *name = o->regions.rule_given              ? "rule"
                           : o->regions.range_given           ? "range"
                           : o->tile_given                    ? "tile"
                           : o->regions.options.nodes_only    ? "nodes-only"
                           : o->regions.options.implicit_base ? "implicit-base"
                                                              : NULL;
        if (o->kind != TSR_FILE_MESH || tree) return cli_usage(cli, "--triangles: is for meshes");
        if (name) return cli_usage(cli, "--%s: without effect with --triangles", name);
    }
    if (o->kind == TSR_FILE_MESH && !o->regions.rule_given) o->regions.rule = CLI_RULE_CLASSES;
    if (o->kind == TSR_FILE_MESH && o->regions.rule == CLI_RULE_CLASSES && !o->regions.range_given) { /* solid */
        o->regions.range[0] = 1;
        o->regions.range[1] = INFINITY;
        o->regions.range_given = 1;
    }
    if (o->ray_given != o->direction_given) return cli_usage(cli, "--ray and --direction: one without the other");
    if (o->direction_given && o->direction.x == 0 && o->direction.y == 0 && o->direction.z == 0)
        return cli_usage(cli, "--direction: 0,0,0 given, expected a direction");
    if (o->ray_given && o->find_given) return cli_usage(cli, "--find and --ray: only one of them");
    if ((o->ray_given || o->find_given) && (on_stdout(o) || cli_regions_on_stdout(&o->regions)))
        return cli_usage(cli, "--%s: its answer goes to standard output, where another result goes already", o->find_given ? "find" : "ray");
    if (o->shrink > 0 && !o->cubes) return cli_usage(cli, "--shrink: is for --cubes");
    if (o->connect != CONNECT_AUTO && !o->components && !o->labels) return cli_usage(cli, "--connect: is for --components and --labels");
    if (o->volume && !o->statistics) return cli_usage(cli, "--volume: is for --statistics");
    if (o->statistics && !o->volume && (tree || o->kind == TSR_FILE_MESH))
        return cli_usage(cli, "--statistics: %s holds no values, expected --volume too", cli->input[0]);
    if (o->statistics && !strcmp(o->volume ? o->volume : cli->input[0], "-"))
        return cli_usage(cli, "--statistics: reads the volume once more, expected a file and not standard input");
    if (o->cap && !o->output && !o->components && !o->labels && !o->find_given && !o->ray_given)
        return cli_usage(cli, "--cap: nothing asks the tree, expected --output, --components, --labels, --find or --ray");
    const char *needy = o->cubes          ? "cubes"
                        : o->regions.list ? "list"
                        : o->regions.runs ? "runs"
                        : o->components   ? "components"
                        : o->labels       ? "labels"
                        : o->statistics   ? "statistics"
                                          : NULL;
    if (o->regions.options.nodes_only && needy) return cli_usage(cli, "--nodes-only: there are no leaves for --%s", needy);
    o->tiling.means = 1;
    o->tiling.progress = cli_progress(cli);
    return CLI_OK;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct octree o = { .cli = cli, .read = TSR_READ_OPTIONS, .regions = CLI_REGIONS, .tiling = TSR_REGION_TILING };
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &o.output,
          .argument = "FILE",
          .help = "volume of the means of the leaves (of the first input), 0 elsewhere" },
        CLI_FORMAT_OPTION(cli),
        { .name = "cubes", .type = CLI_TEXT, .value = &o.cubes, .argument = "FILE", .help = "mesh of a box per leaf" },
        { .name = "shrink",
          .type = CLI_REAL,
          .value = &o.shrink,
          .argument = "PART",
          .help = "make the boxes smaller by this part (default 0)",
          .upper = 0.9 },
        CLI_REGION_OPTIONS(o.regions),
        { .name = "components",
          .type = CLI_TEXT,
          .value = &o.components,
          .argument = "FILE.csv",
          .help = "table of the connected parts, the largest first: leaves, voxels, volume, box, centre, mean" },
        { .name = "labels", .type = CLI_TEXT, .value = &o.labels, .argument = "FILE", .help = "volume of their numbers, 0 elsewhere" },
        { .name = "connect",
          .type = CLI_CHOICE,
          .value = &o.connect,
          .argument = "HOW",
          .help = "what makes a part: all leaves that touch, or those of equal means (auto: equal where the leaves cover everything)",
          .choices = "auto kept equal" },
        { .name = "statistics",
          .type = CLI_TEXT,
          .value = &o.statistics,
          .argument = "FILE.csv",
          .help = "the leaves with what the values over them are like: mean, variance, least, most" },
        { .name = "volume",
          .type = CLI_TEXT,
          .value = &o.volume,
          .argument = "VOLUME",
          .help = "whose values --statistics takes, of the tree's size (default: the first input)" },
        { .name = "find",
          .type = CLI_VEC3,
          .value = &o.find,
          .argument = "X,Y,Z",
          .help = "what the tree holds at a place (world coordinates)",
          .lower = -1e300,
          .upper = 1e300,
          .given = &o.find_given },
        { .name = "ray",
          .type = CLI_VEC3,
          .value = &o.ray,
          .argument = "X,Y,Z",
          .help = "leaves and gaps (-1) along the ray from this place, by distance",
          .lower = -1e300,
          .upper = 1e300,
          .given = &o.ray_given },
        { .name = "direction",
          .type = CLI_VEC3,
          .value = &o.direction,
          .argument = "X,Y,Z",
          .help = "of the ray",
          .lower = -1e150,
          .upper = 1e150,
          .given = &o.direction_given },
        { .name = "nodes-only",
          .type = CLI_FLAG,
          .value = &o.regions.options.nodes_only,
          .help = "no list of leaves: less memory where they carry no data (FILE.rgt, and 1 as their value)" },
        { .name = "tile",
          .type = CLI_COUNT,
          .value = &o.tiling.tile,
          .argument = "N",
          .help = "build in tiles of N^3 voxels (a power of two): for volumes larger than memory",
          .lower = 1,
          .upper = 1 << 19,
          .given = &o.tile_given },
        { .name = "cap",
          .type = CLI_INT,
          .value = &o.cap,
          .argument = "LEVELS",
          .help = "replace the top levels by a table of entry points, for --output",
          .lower = 1,
          .upper = 19 },
        { .name = "spacing",
          .type = CLI_VEC3,
          .value = &o.spacing,
          .argument = "X,Y,Z",
          .help = "of a mesh: world units per voxel; its winding numbers are the volume, solid by default (--range 1:)",
          .lower = 1e-300,
          .upper = 1e300,
          .given = &o.spacing_given },
        { .name = "triangles",
          .type = CLI_INT,
          .value = &o.triangles,
          .argument = "N",
          .help = "of a mesh: the octree of the triangles themselves; leaves that more than N touch are split, down to the spacing; their\n"
                  "values are numbers of triangles",
          .lower = 1,
          .upper = 64 },
        { .name = "origin",
          .type = CLI_VEC3,
          .value = &o.origin,
          .argument = "X,Y,Z",
          .help = "of a mesh: a world position that is a voxel (default 0,0,0)",
          .lower = -1e300,
          .upper = 1e300 },
        { .name = "frames",
          .type = CLI_FLAG,
          .value = &o.frames,
          .help = "inputs are meshes or volumes one after the other: a tree for each, in the memory of the one before; names of outputs hold\n"
                  "%d or %0Nd for the number of the frame" },
        CLI_READ_OPTIONS(o.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1 << 24, argc, argv);
    if (code >= 0) return code;
    code = o.output ? cli_check_write(cli, o.output, TSR_FILE_VOLUME, NULL) : CLI_OK;
    if (!code && o.components) code = cli_check_option(cli, "components", o.components);
    if (!code && o.statistics) code = cli_check_option(cli, "statistics", o.statistics);
    if (!code && o.labels) code = cli_check_write(cli, o.labels, TSR_FILE_VOLUME, NULL);
    if (!code && o.cubes) code = cli_check_write(cli, o.cubes, TSR_FILE_MESH, NULL);
    if (!code) code = prepare(&o);
    if (!code) code = cli_regions_prepare(cli, &o.regions);
    if (!code) code = octree_check_outputs(&o);
    return code ? code : o.frames ? octree_frames(&o) : work(&o);
}

const cli_verb verb_octree = {
    "octree", "[options] VOLUME...|MESH|TREE.rgt|--frames FILE... [-o VOLUME]",
    "Simplify a volume to the leaves of a region octree, or make that of a mesh",
    "  tessera make torus -o torus.nii.gz\n"
    "  tessera octree torus.nii.gz --rule classes --range :0 --cubes cubes.ply --shrink 0.1 --list leaves.csv\n"
    "  tessera octree torus.nii.gz --threshold 20 -o simple.nii.gz --tree simple.rgt.gz\n"
    "  tessera octree simple.rgt.gz -o again.nii.gz\n"
    "  tessera octree torus.nii.gz --rule classes --range 0: --components parts.csv --labels parts.nii.gz\n"
    "  tessera octree simple.rgt.gz --statistics leaves-of.csv --volume torus.nii.gz\n"
    "  tessera octree cubes.ply --spacing 0.25 --tile 128 --tree solid.rgt.gz\n"
    "  tessera octree cubes.ply --spacing 0.05 --triangles 8 --list where.csv\n"
    "  tessera make box --size 48 -o box.nii.gz && tessera make sphere --size 48 -o ball.nii.gz\n"
    "  tessera morph box.nii.gz ball.nii.gz --t 0.3 -o walk-1.ply && tessera morph box.nii.gz ball.nii.gz --t 0.6 -o walk-2.ply\n"
    "  tessera octree walk-*.ply --spacing 0.5 --frames --tree walk-%03d.rgt\n"
    "  tessera render cubes.ply -o cubes.png\n",
    run
};
