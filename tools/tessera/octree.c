#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "regions.h"

struct octree {
    cli_call *cli;
    tsr_read_options read;
    cli_regions regions;
    const char *output, *cubes;
    double shrink;
};

/* A closed box per leaf, outwards; voxels are cells around their index. */
static tsr_status boxes(const cli_tree *t, double shrink, tsr_mesh **mesh)
{
    static const uint8_t face[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 }, { 0, 1, 4 }, { 1, 5, 4 },
                                         { 2, 6, 3 }, { 3, 6, 7 }, { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
    const tsr_region_info info = tsr_region_tree_describe(t->host);
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

static int write_results(const struct octree *o, const cli_tree *tree, tsr_context *context)
{
    const tsr_write_options write = cli_write_options(o->cli);
    const int64_t leaves = tsr_region_tree_describe(tree->host).leaves;
    int code = cli_tree_write(o->cli, &o->regions, tree, 1);
    if (!code && o->output) {
        tsr_volume *host = NULL, *means = NULL, *painted = NULL, *out = NULL;
        tsr_status status = TSR_OK;
        if (leaves) { /* the means go to the device as a row of floats */
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

static int work(struct octree *o)
{
    tsr_context *context = NULL;
    cli_tree tree = { 0 };
    double seconds = 0;
    int32_t channels = 1;
    tsr_volume *volume = NULL;
    int code = cli_context(o->cli, &context);
    if (!code && cli_tree_is_file(o->cli->input[0])) code = cli_tree_read(o->cli, o->cli->input[0], context, 1, &tree, &channels);
    else if (!code) volume = cli_read_to_device(o->cli, o->cli->input[0], &o->read, context, &code);
    if (volume) {
        const double start = cli_seconds();
        const tsr_status status = cli_tree_make(context, (const tsr_volume *const[]){ volume }, 1, &o->regions.options, &tree);
        seconds = cli_seconds() - start;
        if (status != TSR_OK) code = cli_status(o->cli, status, o->cli->input[0]);
    }
    if (!code) code = write_results(o, &tree, context);
    if (!code && (!o->output || strcmp(o->output, "-")) && !cli_regions_on_stdout(&o->regions)) cli_tree_show(o->cli, &tree, seconds);
    cli_tree_destroy(&tree);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct octree o = { .cli = cli, .read = TSR_READ_OPTIONS, .regions = CLI_REGIONS };
    const cli_option options[] = {
        { .name = "output",
          .letter = 'o',
          .type = CLI_TEXT,
          .value = &o.output,
          .argument = "FILE",
          .help = "volume of the means of the leaves, 0 elsewhere" },
        CLI_FORMAT_OPTION(cli),
        { .name = "cubes", .type = CLI_TEXT, .value = &o.cubes, .argument = "FILE", .help = "mesh of a box per leaf" },
        { .name = "shrink",
          .type = CLI_REAL,
          .value = &o.shrink,
          .argument = "PART",
          .help = "make the boxes smaller by this part (default 0)",
          .upper = 0.9 },
        CLI_REGION_OPTIONS(o.regions),
        CLI_READ_OPTIONS(o.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = o.output ? cli_check_write(cli, o.output, TSR_FILE_VOLUME, NULL) : CLI_OK;
    if (!code && o.cubes) code = cli_check_write(cli, o.cubes, TSR_FILE_MESH, NULL);
    if (!code) code = cli_regions_prepare(cli, &o.regions);
    return code ? code : work(&o);
}

const cli_verb verb_octree = { "octree", "[options] VOLUME|TREE.rgt [-o VOLUME]", "Simplify a volume to the leaves of a region octree",
                               "  tessera make torus -o torus.nii.gz\n"
                               "  tessera octree torus.nii.gz --rule classes --range :0 --cubes cubes.ply --shrink 0.1 --list leaves.csv\n"
                               "  tessera octree torus.nii.gz --threshold 20 -o simple.nii.gz --tree simple.rgt.gz\n"
                               "  tessera octree simple.rgt.gz -o again.nii.gz\n"
                               "  tessera render cubes.ply -o cubes.png\n",
                               run };
