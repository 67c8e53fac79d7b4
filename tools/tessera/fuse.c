#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rigs.h"

struct fuse {
    cli_call *cli;
    tsr_fusion_options fusion;
    tsr_fusion_mesh_options mesh;
    tsr_plane_sweep_options sweep;
    const char *output, *cameras, *tiles;
    double range[2];
    int sweeps, near, weight, range_given, no_images;
    tsr_rig *rig;
    int32_t count;
    tsr_rig_camera *camera;
    tsr_volume **picture; /* on the device, one channel or three; NULL: none */
    int32_t *width, *height;
    tsr_context *context;
};

static int read_pictures(struct fuse *f)
{
    for (int32_t i = 0; i < f->count; i++) {
        char path[4200];
        tsr_image image = { 0 };
        tsr_volume *host = NULL;
        if (!*f->camera[i].image || (f->no_images && !f->sweeps)) continue;
        tsr_status status = tsr_rig_path(f->rig, f->camera[i].image, f->camera[i].frame < 0 ? 0 : f->camera[i].frame, path, sizeof path);
        if (status == TSR_OK) status = tsr_rig_read_image(&f->camera[i], path, NULL, &image);
        if (status != TSR_OK) return cli_status(f->cli, status, path);
        if (!f->fusion.channels) f->fusion.channels = image.channels;
        if (image.channels != f->fusion.channels) {
            tsr_image_destroy(&image);
            return cli_error(f->cli, CLI_FAILED, "%s: %d channels, the pictures before have %d: expected the same", path, image.channels, f->fusion.channels);
        }
        f->width[i] = image.width;
        f->height[i] = image.height;
        status = tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ (int64_t)image.width * image.channels, image.height, 1 }, NULL, image.pixels, NULL, NULL, &host);
        if (status == TSR_OK) status = tsr_volume_copy(host, f->context, &f->picture[i]);
        if (status == TSR_OK && !f->sweeps) /* which takes lenses as they are */
            status = rig_remove_lens(f->context, &f->camera[i].camera, image.width, image.height, image.channels, &f->picture[i]);
        tsr_volume_destroy(&host);
        tsr_image_destroy(&image);
        if (status != TSR_OK) return cli_status(f->cli, status, path);
    }
    return CLI_OK;
}

/* The depth image of a camera, decoded, on the device. */
static int read_depth(struct fuse *f, int32_t i, tsr_volume **depth)
{
    const tsr_rig_camera *c = &f->camera[i];
    tsr_volume *map = NULL;
    tsr_depth_report report;
    const int code = cli_depth_read(f->cli, f->rig, c, c->frame < 0 ? 0 : c->frame, &map, &report);
    if (code) return code;
    const tsr_status status = tsr_volume_copy(map, f->context, depth);
    tsr_volume_destroy(&map);
    return status == TSR_OK ? CLI_OK : cli_status(f->cli, status, NULL);
}

/* The depths of a camera by plane sweep from its picture and the nearest others'. */
static tsr_status sweep_depth(struct fuse *f, int32_t own, tsr_depth_view *view, tsr_volume **depth)
{
    int32_t views = 0;
    tsr_depth_maps maps = TSR_DEPTH_MAPS;
    double *distance = malloc((size_t)f->count * sizeof *distance);
    for (int32_t i = 0; i < f->count && distance; i++) {
        const tsr_vec3 p = f->camera[i].camera.position, q = f->camera[own].camera.position;
        distance[i] = f->picture[i] ? (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z) : (double)INFINITY;
    }
    while (distance && views < f->near) {
        int32_t best = views ? -1 : own;
        for (int32_t i = 0; i < f->count && views; i++)
            if (isfinite(distance[i]) && (best < 0 || distance[i] < distance[best])) best = i;
        if (best < 0) break;
        distance[best] = (double)INFINITY;
        view[views++] = (tsr_depth_view){ .camera = f->camera[best].camera, .image = f->picture[best] };
    }
    free(distance);
    tsr_camera eye = f->camera[own].camera;
    eye.lens = (tsr_lens){ 0 };
    f->sweep.channels = f->fusion.channels;
    const tsr_status status = tsr_plane_sweep(f->context, view, views, &eye, &f->sweep, &maps);
    if (status == TSR_OK) {
        *depth = maps.depth;
        maps.depth = NULL;
    }
    tsr_depth_maps_destroy(&maps);
    return status;
}

static int fuse_all(struct fuse *f, tsr_fusion *fusion, double *seconds)
{
    tsr_depth_view *view = calloc((size_t)f->near + 1, sizeof *view);
    const tsr_progress progress = cli_progress(f->cli);
    int code = view ? CLI_OK : cli_error(f->cli, CLI_FAILED, "out of memory");
    for (int32_t i = 0; i < f->count && !code; i++) {
        tsr_volume *depth = NULL;
        tsr_camera eye = f->camera[i].camera;
        tsr_status status = TSR_OK;
        if (f->sweeps && !f->picture[i]) continue;
        if (!f->sweeps && !*f->camera[i].depth) continue;
        if (f->sweeps) status = sweep_depth(f, i, view, &depth);
        else code = read_depth(f, i, &depth);
        eye.lens = (tsr_lens){ 0 }; /* neither has it any more */
        const tsr_volume *picture = f->picture[i];
        if (depth && picture && (tsr_volume_size(picture).x != tsr_volume_size(depth).x * f->fusion.channels || tsr_volume_size(picture).y != tsr_volume_size(depth).y)) {
            cli_note(f->cli, "camera %s: its picture and its depth image differ in size: it gives no colours", f->camera[i].name);
            picture = NULL;
        }
        const double start = cli_seconds();
        if (!code && status == TSR_OK) status = tsr_fusion_add(fusion, depth, f->no_images ? NULL : picture, &eye);
        *seconds += cli_seconds() - start;
        tsr_volume_destroy(&depth);
        if (!code && status != TSR_OK) code = cli_status(f->cli, status, f->camera[i].name);
        if (!code && progress.report && progress.report(progress.user, (double)(i + 1) / f->count, "depth maps")) code = CLI_FAILED;
    }
    cli_progress_end(f->cli);
    free(view);
    return code;
}

static int write_all(struct fuse *f, tsr_fusion *fusion, double seconds)
{
    const tsr_write_options write = cli_write_options(f->cli);
    tsr_fusion_info info = TSR_FUSION_INFO;
    tsr_mesh *mesh = NULL;
    tsr_tiles *tiles = NULL;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    const char *what = f->cameras; /* until something is written */
    tsr_status status = tsr_fusion_describe(fusion, &info);
    f->mesh.progress = cli_progress(f->cli);
    if (status == TSR_OK && f->output) status = tsr_fusion_mesh(fusion, &f->mesh, &mesh);
    if (status == TSR_OK && mesh) status = tsr_mesh_measure(mesh, &m);
    cli_progress_end(f->cli);
    if (status == TSR_OK && f->tiles) {
        status = tsr_fusion_tiles(fusion, f->mesh.least_weight, &tiles);
        if (status == TSR_OK) what = f->tiles;
        tsr_tiles_write_options list = TSR_TILES_WRITE_OPTIONS;
        list.overwrite = write.overwrite;
        if (status == TSR_OK) status = tsr_tiles_write(tiles, f->tiles, &list);
    }
    if (status == TSR_OK && mesh) {
        what = f->output;
        cli_remark_mesh(f->cli, mesh, f->output, &write);
        status = tsr_mesh_write(mesh, f->output, &write);
    }
    int code = status == TSR_OK ? CLI_OK : cli_status(f->cli, status, what);
    if (!code && !(f->output && !strcmp(f->output, "-"))) {
        if (f->cli->globals.json) {
            json_open(NULL, '{');
            json_int("maps", info.maps);
            json_int("bricks", info.bricks);
            json_int("device_bytes", info.device_bytes);
            json_real("seconds", seconds);
            if (mesh) {
                json_int("vertices", m.vertices);
                json_int("triangles", m.triangles);
                json_real("area", m.area);
                json_real("volume", m.volume);
                cli_show_topology(f->cli, &m, "");
            }
            json_close('}');
        } else {
            printf("maps         %lld in %.3f s into %lld bricks of 8 x 8 x 8 voxels\n", (long long)info.maps, seconds, (long long)info.bricks);
            if (mesh) {
                printf("mesh         %lld vertices, %lld triangles, area %.6g\n", (long long)m.vertices, (long long)m.triangles, m.area);
                cli_show_topology(f->cli, &m, "");
            }
        }
    }
    tsr_mesh_destroy(&mesh);
    tsr_tiles_destroy(&tiles);
    return code;
}

static int work(struct fuse *f)
{
    tsr_fusion *fusion = NULL;
    double seconds = 0;
    int code = cli_context(f->cli, &f->context), depths = 0;
    tsr_status status = code ? TSR_OK : tsr_rig_read(f->cameras, NULL, &f->rig);
    if (!code && status != TSR_OK) code = cli_status(f->cli, status, f->cameras);
    f->count = code ? 0 : (int32_t)tsr_rig_count(f->rig);
    f->camera = calloc((size_t)f->count + 1, sizeof *f->camera);
    f->picture = calloc((size_t)f->count + 1, sizeof *f->picture);
    f->width = calloc((size_t)f->count + 1, sizeof *f->width);
    f->height = calloc((size_t)f->count + 1, sizeof *f->height);
    if (!code && (!f->camera || !f->picture || !f->width || !f->height)) code = cli_error(f->cli, CLI_FAILED, "out of memory for %d cameras", f->count);
    for (int32_t i = 0; i < f->count && !code; i++) {
        status = tsr_rig_get(f->rig, i, &f->camera[i]);
        if (status != TSR_OK) code = cli_status(f->cli, status, f->cameras);
        depths += *f->camera[i].depth != 0;
    }
    if (!code && !depths && !f->sweeps) code = cli_error(f->cli, CLI_FAILED, "%s: no camera names a depth image: with --sweep depths are found from the pictures", f->cameras);
    if (!code) code = read_pictures(f);
    if (!code && !f->fusion.channels) f->fusion.channels = 3;
    if (!code) {
        status = tsr_fusion_create(f->context, &f->fusion, &fusion);
        if (status != TSR_OK) code = cli_status(f->cli, status, NULL);
    }
    if (!code) code = fuse_all(f, fusion, &seconds);
    if (!code) code = write_all(f, fusion, seconds);
    tsr_fusion_destroy(&fusion);
    for (int32_t i = 0; i < f->count && f->picture; i++) tsr_volume_destroy(&f->picture[i]);
    free(f->camera);
    free(f->picture);
    free(f->width);
    free(f->height);
    tsr_rig_destroy(&f->rig);
    tsr_context_destroy(&f->context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct fuse f = { .cli = cli, .fusion = TSR_FUSION_OPTIONS, .mesh = TSR_FUSION_MESH_OPTIONS, .sweep = TSR_PLANE_SWEEP_OPTIONS, .near = 5 };
    int near_given = 0;
    f.sweep.method = TSR_DEPTH_VOLUME;
    f.sweep.consistency = 0.02;
    f.sweep.uniqueness = 0.05;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(f.output),
        { .name = "cameras", .type = CLI_TEXT, .value = &f.cameras, .argument = "FILE", .help = "cameras with their depth images and pictures (transforms.json, ...)" },
        { .name = "voxel", .type = CLI_REAL, .value = &f.fusion.voxel, .argument = "LENGTH", .help = "edge of a voxel, world units", .lower = 1e-12, .upper = 1e12 },
        { .name = "truncation", .type = CLI_REAL, .value = &f.fusion.truncation, .argument = "LENGTH", .help = "how far from the surface it is averaged (default 4 voxels)",
          .lower = 1e-12, .upper = 1e12 },
        { .name = "range", .type = CLI_RANGE, .value = f.range, .help = "of depths that count", .given = &f.range_given },
        { .name = "weight", .type = CLI_CHOICE, .value = &f.weight, .argument = "NAME", .help = "of a depth", .choices = "even near" },
        { .name = "most-weight", .type = CLI_REAL, .value = &f.fusion.most_weight, .argument = "N", .help = "of a voxel: later maps then count more", .lower = 0, .upper = 1e9 },
        { .name = "least-weight", .type = CLI_REAL, .value = &f.mesh.least_weight, .argument = "N", .help = "of voxels of the surface (default: any)", .lower = 0, .upper = 1e9 },
        { .name = "closed", .type = CLI_FLAG, .value = &f.mesh.closed, .help = "close the surface where nothing was seen" },
        { .name = "least-triangles", .type = CLI_COUNT, .value = &f.mesh.least_triangles, .argument = "N", .help = "leave out smaller pieces", .lower = 0, .upper = 1e15 },
        { .name = "no-images", .type = CLI_FLAG, .value = &f.no_images, .help = "no colours" },
        { .name = "sweep", .type = CLI_FLAG, .value = &f.sweeps, .help = "find the depths from the pictures (tessera depth --method paths)" },
        { .name = "nearest-views", .type = CLI_INT, .value = &f.near, .argument = "N", .help = "of --sweep: pictures for a depth map (default 5)", .lower = 2, .upper = 4096, .given = &near_given },
        { .name = "tiles", .type = CLI_TEXT, .value = &f.tiles, .argument = "FILE.tsr", .help = "the distance as a tile list" },
        { 0 },
    };
    int code = cli_parse(cli, options, 0, 0, argc, argv);
    if (code >= 0) return code;
    if (!f.cameras) return cli_usage(cli, "--cameras: missing: expected a file of cameras");
    if (!(f.fusion.voxel > 0)) return cli_usage(cli, "--voxel: missing: expected the edge of a voxel");
    if (!f.output && !f.tiles) return cli_usage(cli, "no output: expected -o FILE or --tiles FILE");
    if (near_given && !f.sweeps) return cli_usage(cli, "--nearest-views: without effect without --sweep");
    if (f.range_given) {
        f.fusion.nearest = isfinite(f.range[0]) && f.range[0] > 0 ? f.range[0] : 0;
        f.fusion.farthest = isfinite(f.range[1]) ? f.range[1] : 0;
        f.sweep.nearest = f.range[0];
        f.sweep.farthest = f.range[1];
    }
    f.fusion.weight = (tsr_fusion_weight)f.weight;
    if (f.output && (code = cli_check_write(cli, f.output, TSR_FILE_MESH, NULL)) != CLI_OK) return code;
    if (f.tiles && (code = cli_check_write_option(cli, "tiles", f.tiles, TSR_FILE_TILES, NULL)) != CLI_OK) return code;
    return work(&f);
}

const cli_verb verb_fuse = { "fuse", "[options] --cameras FILE --voxel LENGTH -o MESH", "Fuse the depth maps of many cameras to one coloured surface",
                             "  tessera make scene head --layout ring --count 12 --height 1 --size 320,240 -o head\n"
                             "  tessera fuse --cameras head/transforms.json --voxel 0.03 -o head.ply\n"
                             "  tessera make scene head --layout arc --count 4 --degrees 24 --size 96,72 -o arc\n"
                             "  tessera fuse --cameras arc/transforms.json --voxel 0.06 --sweep --range 2.5:6 -o swept.ply\n",
                             run };
