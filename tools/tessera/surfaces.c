/* Surfaces as inputs and outputs of verbs, whatever kind of file holds them. */
#include <string.h>

#include "tiles.h"

static tsr_tiles *tiles_of_mesh(const cli_call *cli, tsr_context *context, const char *path, const cli_surface_options *options, int *code)
{
    tsr_voxelize_options own = TSR_VOXELIZE_OPTIONS;
    tsr_voxelize_report report = { 0 };
    tsr_tiles *tiles = NULL;
    tsr_mesh *mesh = NULL;
    if (!(options->spacing.x > 0)) {
        *code = cli_usage(cli, "%s is a mesh: --spacing is missing, expected the voxel size", path);
        return NULL;
    }
    tsr_mesh *host = cli_read_mesh(cli, path, &options->read, code);
    if (!host) return NULL;
    own.spacing = options->spacing;
    own.band = options->tiles.band;
    own.edge = options->tiles.edge;
    own.progress = cli_progress(cli);
    tsr_status status = tsr_mesh_copy(host, context, &mesh);
    tsr_mesh_destroy(&host);
    if (status == TSR_OK) status = tsr_tiles_from_mesh(context, mesh, &own, &tiles, &report);
    tsr_mesh_destroy(&mesh);
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    else if (report.boundary_edges)
        cli_note(cli, "%s is open: %lld boundary edges in %lld loops; its holes are closed by the winding number", path,
                 (long long)report.boundary_edges, (long long)report.boundary_loops);
    return tiles;
}

static tsr_tiles *tiles_of_volume(const cli_call *cli, tsr_context *context, const char *path, const cli_surface_options *options, int *code)
{
    tsr_tiles *tiles = NULL;
    tsr_volume *volume = cli_read_to_device(cli, path, &options->read, context, code);
    if (!volume) return NULL;
    tsr_status status = cli_tiles_of_dense(context, volume, &options->tiles, 0, &tiles);
    tsr_volume_destroy(&volume);
    if (status != TSR_OK) *code = cli_status(cli, status, path);
    return tiles;
}

tsr_tiles *cli_read_surface(const cli_call *cli, tsr_context *context, const char *path, const cli_surface_options *options, double *voxel, int *code)
{
    tsr_tiles_read_options of_tiles = TSR_TILES_READ_OPTIONS;
    tsr_tiles *tiles = NULL;
    tsr_tiles_info info;
    tsr_file_kind kind;
    const char *format;
    of_tiles.memory_limit = options->read.memory_limit;
    *code = cli_recognise(cli, path, &options->read, &kind, &format);
    if (*code) return NULL;
    switch (kind) {
    case TSR_FILE_TILES: tiles = cli_read_tiles(cli, context, path, &of_tiles, NULL, code); break;
    case TSR_FILE_MESH: tiles = tiles_of_mesh(cli, context, path, options, code); break;
    case TSR_FILE_VOLUME: tiles = tiles_of_volume(cli, context, path, options, code); break;
    default: *code = cli_error(cli, CLI_FAILED, "%s: expected a level set, a mask, a mesh or a tile list", path); return NULL;
    }
    if (!tiles) return NULL;
    const tsr_vec3 h = tsr_geometry_spacing(tsr_tiles_geometry(tiles));
    *voxel = h.x < h.y ? h.x < h.z ? h.x : h.z : h.y < h.z ? h.y : h.z;
    tsr_status status = tsr_tiles_describe(tiles, &info);
    if (status == TSR_OK && info.count == 0) {
        *code = cli_error(cli, CLI_FAILED, "%s: holds no surface", path);
        tsr_tiles_destroy(&tiles);
    } else if (status != TSR_OK) {
        *code = cli_status(cli, status, path);
        tsr_tiles_destroy(&tiles);
    }
    return tiles;
}

/* By name alone: a tile list, else a mesh if a mesh format takes it, else a volume. */
static tsr_file_kind kind_of_output(const char *path, const cli_surface_options *options)
{
    tsr_write_options own = TSR_WRITE_OPTIONS;
    own.format = options->write.format;
    if (cli_names_tiles(path, own.format)) return TSR_FILE_TILES;
    return tsr_file_check_output(path, TSR_FILE_MESH, &own) == TSR_OK ? TSR_FILE_MESH : TSR_FILE_VOLUME;
}

int cli_check_surface(const cli_call *cli, const char *path, const cli_surface_options *options)
{
    if (!path) return cli_check_output(cli, path);
    return cli_check_write(cli, path, kind_of_output(path, options), options->write.format);
}

int cli_write_surface(const cli_call *cli, tsr_context *context, const tsr_tiles *tiles, const char *path, const cli_surface_options *options)
{
    tsr_tiles_write_options of_tiles = TSR_TILES_WRITE_OPTIONS;
    tsr_surface_options level = TSR_SURFACE_OPTIONS;
    tsr_write_options write = options->write;
    tsr_volume *volume = NULL;
    tsr_mesh *made = NULL, *mesh = NULL;
    tsr_status status;
    write.overwrite = cli->globals.force;
    switch (kind_of_output(path, options)) {
    case TSR_FILE_TILES: of_tiles.format = write.format; return cli_write_tiles(cli, tiles, path, &of_tiles);
    case TSR_FILE_MESH:
        level.inside = TSR_SURFACE_INSIDE_BELOW;
        status = tsr_surface_extract_tiles(context, tiles, &level, &made, NULL);
        if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, &mesh);
        tsr_mesh_destroy(&made);
        if (status == TSR_OK) status = tsr_mesh_write(mesh, path, &write);
        tsr_mesh_destroy(&mesh);
        break;
    default:
        status = cli_dense_of_tiles(context, tiles, &volume);
        if (status == TSR_OK) status = cli_move_volume(NULL, &volume);
        if (status == TSR_OK) status = tsr_volume_write(volume, path, &write);
        tsr_volume_destroy(&volume);
    }
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}
