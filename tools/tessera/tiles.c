/* tools/tessera/tiles.c: surfaces as tile lists. */
#include "tiles.h"

#include <math.h>
#include <string.h>

/* A mask as signed distances, clamped to the band. */
static tsr_status mask_distance(tsr_context *context, const tsr_volume *mask, double band, tsr_volume **field)
{
    tsr_distance_options options = TSR_DISTANCE_OPTIONS;
    options.band = band;
    return tsr_distance_transform(context, mask, &options, field);
}

/* Moves a list to the voxels of another: their difference in the world becomes a shift in voxels, exact where it is whole. */
static tsr_status align(const tsr_tiles *like, tsr_tiles **tiles)
{
    const tsr_geometry *to = tsr_tiles_geometry(like), *from = tsr_tiles_geometry(*tiles);
    tsr_vec3 h = tsr_geometry_spacing(to), at;
    tsr_status status = tsr_geometry_to_index(to, tsr_geometry_to_world(from, (tsr_vec3){ 0, 0, 0 }), &at);
    const double *a = &at.x;
    double n[3];
    for (int k = 0; k < 3; k++) n[k] = fabs(a[k] - floor(a[k] + 0.5)) < 1e-6 ? floor(a[k] + 0.5) : a[k];
    if (status != TSR_OK || (n[0] == 0 && n[1] == 0 && n[2] == 0)) return status;
    tsr_motion motion = { .shift = { n[0] * h.x, n[1] * h.y, n[2] * h.z } };
    tsr_tiles *moved = NULL;
    status = tsr_tiles_transform(*tiles, &motion, &moved);
    if (status != TSR_OK) return status;
    tsr_tiles_destroy(tiles);
    *tiles = moved;
    return TSR_OK;
}

/* Do the axes of both point the same way, with the same spacing? */
static int same_axes(const tsr_geometry *a, const tsr_geometry *b)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (fabs(a->affine[r][c] - b->affine[r][c]) > 1e-6 * (fabs(a->affine[r][c]) + fabs(b->affine[r][c]) + 1e-3)) return 0;
    return 1;
}

/* A volume as a list of its own spacing, or of the band and edge of options->like. */
static tsr_status load_volume(tsr_context *context, const tsr_volume *volume, const cli_tiles_options *options, tsr_tiles **tiles)
{
    tsr_volume *field = NULL;
    tsr_vec3 h = tsr_geometry_spacing(tsr_volume_geometry(volume));
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_tiles_info info = { 0 };
    tsr_dtype dtype = tsr_volume_dtype(volume);
    tsr_status status = TSR_OK;
    list.edge = options->edge;
    list.band = (options->band > 0 ? options->band : 3) * fmin(h.x, fmin(h.y, h.z));
    if (options->like) {
        status = tsr_tiles_describe(options->like, &info);
        list.edge = info.edge;
        list.band = info.band;
    }
    if (status == TSR_OK && dtype != TSR_F32 && dtype != TSR_F64) status = mask_distance(context, volume, list.band, &field);
    else if (status == TSR_OK && dtype == TSR_F64) status = tsr_volume_convert(context, volume, TSR_F32, &field);
    if (status == TSR_OK) status = tsr_tiles_create(context, tsr_volume_geometry(volume), &list, tiles);
    if (status == TSR_OK) status = tsr_tiles_load(*tiles, field ? field : volume);
    tsr_volume_destroy(&field);
    return status;
}

tsr_tiles *cli_read_tiles(const cli_call *cli, tsr_context *context, const char *path, const tsr_read_options *read, const cli_tiles_options *options,
                          int *code)
{
    tsr_file_kind kind;
    const char *format;
    tsr_tiles *tiles = NULL;
    tsr_status status;
    *code = cli_recognise(cli, path, read, &kind, &format);
    if (*code) return NULL;
    if (kind == TSR_FILE_TILES) {
        tsr_tiles_read_options own = TSR_TILES_READ_OPTIONS;
        own.memory_limit = read->memory_limit;
        own.progress = cli_progress(cli);
        status = tsr_tiles_read(context, path, &own, &tiles);
    } else if (kind == TSR_FILE_VOLUME) {
        tsr_volume *volume = cli_read_to_device(cli, path, read, context, code);
        if (!volume) return NULL;
        status = load_volume(context, volume, options, &tiles);
        tsr_volume_destroy(&volume);
    } else {
        *code = cli_error(cli, CLI_FAILED, "%s: %s, expected a tile list or a volume (a level set or a mask)", path,
                          kind == TSR_FILE_MESH ? "a mesh" : "an image");
        return NULL;
    }
    if (status == TSR_OK && options->like && !same_axes(tsr_tiles_geometry(options->like), tsr_tiles_geometry(tiles))) {
        tsr_vec3 a = tsr_geometry_spacing(tsr_tiles_geometry(options->like)), b = tsr_geometry_spacing(tsr_tiles_geometry(tiles));
        tsr_tiles_destroy(&tiles);
        *code = cli_error(cli, CLI_FAILED, "%s: voxels of %g x %g x %g, expected %g x %g x %g and the same axes", path, b.x, b.y, b.z, a.x, a.y, a.z);
        return NULL;
    }
    if (status == TSR_OK && options->like) status = align(options->like, &tiles);
    if (status == TSR_OK) return tiles;
    tsr_tiles_destroy(&tiles);
    *code = cli_status(cli, status, path);
    return NULL;
}

/* Does the path end in one of these? */
static int ends_in(const char *path, const char *const *ends, int count)
{
    size_t n = strlen(path);
    for (int i = 0; i < count; i++) {
        size_t m = strlen(ends[i]);
        if (n > m && !strcmp(path + n - m, ends[i])) return 1;
    }
    return 0;
}
static int is_mesh(const char *path)
{
    static const char *const ends[] = { ".ply", ".obj", ".stl", ".off" };
    return ends_in(path, ends, 4);
}
static int is_list(const char *path)
{
    static const char *const ends[] = { ".tsr", ".nvdb" };
    return ends_in(path, ends, 2);
}

static tsr_status write_list(const cli_call *cli, const tsr_tiles *tiles, const char *path)
{
    tsr_tiles_write_options options = TSR_TILES_WRITE_OPTIONS;
    options.overwrite = cli->globals.force;
    options.progress = cli_progress(cli);
    return tsr_tiles_write(tiles, path, &options);
}

tsr_status cli_write_tiles(const cli_call *cli, tsr_context *context, const tsr_tiles *tiles, const char *path)
{
    tsr_write_options write = cli_write_options(cli);
    tsr_status status;
    if (is_list(path)) return write_list(cli, tiles, path);
    if (is_mesh(path)) {
        tsr_surface_options surface = TSR_SURFACE_OPTIONS;
        tsr_mesh *made = NULL, *mesh = NULL;
        surface.normals = TSR_SURFACE_NORMALS_CENTRAL;
        status = tsr_surface_extract_tiles(context, tiles, &surface, &made, NULL);
        if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, &mesh);
        if (status == TSR_OK) status = tsr_mesh_write(mesh, path, &write);
        tsr_mesh_destroy(&made);
        tsr_mesh_destroy(&mesh);
        return status;
    }
    tsr_volume *field = NULL;
    status = tsr_tiles_field(tiles, &field);
    if (status == TSR_OK) status = cli_move_volume(NULL, &field);
    if (status == TSR_OK) status = tsr_volume_write(field, path, &write);
    tsr_volume_destroy(&field);
    return status;
}

void cli_show_measures(const cli_call *cli, const char *name, const tsr_tiles_measures *m)
{
    if (!cli->globals.json) {
        printf("%-12s volume %.9g, area %.9g, mean curvature %.6g, pieces %lld, cavities %lld, genus %lld, tiles %lld\n", name, m->volume, m->area,
               m->mean_curvature, (long long)m->components, (long long)m->cavities, (long long)m->genus, (long long)m->tiles);
        return;
    }
    json_open(NULL, '{');
    json_text("object", name);
    json_real("volume", m->volume);
    json_real("area", m->area);
    json_real("mean_curvature", m->mean_curvature);
    json_int("components", m->components);
    json_int("cavities", m->cavities);
    json_int("genus", m->genus);
    json_int("euler", m->euler);
    json_int("tiles", m->tiles);
    json_int("active_voxels", m->active_voxels);
    json_close('}');
}
