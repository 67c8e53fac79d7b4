/* tools/tessera/lists.c: surfaces as tile lists. */
#include "labels.h"
#include "lists.h"
#include "tiles.h"

#include <math.h>
#include <string.h>

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

/* Before anything is made of a volume: a band of `like` may be none on other voxels, and that would be the wrong thing to complain about. */
static int check_axes(const cli_call *cli, const char *path, const cli_list_options *options, const tsr_geometry *geometry)
{
    if (!options->like || same_axes(tsr_tiles_geometry(options->like), geometry)) return CLI_OK;
    const tsr_vec3 a = tsr_geometry_spacing(tsr_tiles_geometry(options->like)), b = tsr_geometry_spacing(geometry);
    const double most = 1e-6 * (a.x + a.y + a.z);
    const char *const like = options->like_name ? options->like_name : "the document";
    if (fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.z - b.z) > most)
        return cli_error(cli, CLI_FAILED,
                         "%s: voxels of %.9g x %.9g x %.9g, those of %s are %.9g x %.9g x %.9g: expected the same (convert --resample)", path, b.x,
                         b.y, b.z, like, a.x, a.y, a.z);
    return cli_error(cli, CLI_FAILED, "%s: its axes point elsewhere than those of %s, expected the same", path, like);
}

/* A list with a domain stays where it is: the other one must have the same voxels. */
static int check_domain(const cli_call *cli, const char *path, const tsr_tiles *like, const tsr_tiles *tiles)
{
    const tsr_size3 a = tsr_tiles_domain(like), b = tsr_tiles_domain(tiles);
    tsr_vec3 at = { 0, 0, 0 };
    if (!a.x && !b.x) return CLI_OK;
    if (!a.x || !b.x)
        return cli_error(cli, CLI_FAILED, "%s: a tile list %s domain, the first input has %s: expected both or none (convert --unbounded)", path,
                         b.x ? "with a" : "without a", a.x ? "one" : "none");
    if (a.x != b.x || a.y != b.y || a.z != b.z)
        return cli_error(cli, CLI_FAILED, "%s: a domain of %lld x %lld x %lld voxels, expected %lld x %lld x %lld as of the first input", path,
                         (long long)b.x, (long long)b.y, (long long)b.z, (long long)a.x, (long long)a.y, (long long)a.z);
    const tsr_status status =
        tsr_geometry_to_index(tsr_tiles_geometry(like), tsr_geometry_to_world(tsr_tiles_geometry(tiles), (tsr_vec3){ 0, 0, 0 }), &at);
    if (status != TSR_OK) return cli_status(cli, status, path);
    if (fabs(at.x) + fabs(at.y) + fabs(at.z) > 1e-6)
        return cli_error(cli, CLI_FAILED, "%s: its domain begins at voxel (%g, %g, %g) of that of the first input, expected the same place", path,
                         at.x, at.y, at.z);
    return CLI_OK;
}

double cli_band(const cli_call *cli, const cli_list_options *options, tsr_vec3 h)
{
    const double smallest = fmin(h.x, fmin(h.y, h.z)), largest = fmax(h.x, fmax(h.y, h.z));
    if (!(options->band > 0)) return tsr_band_default(h, 3);
    if (options->band * smallest < largest * (1 - 1e-6))
        cli_note(cli, "--band: %g voxels of %g are narrower than a voxel of %g: the surface will lie wrong; %g is the default here", options->band,
                 smallest, largest, tsr_band_default(h, 3) / smallest);
    return options->band * smallest;
}

void cli_note_signs(const cli_call *cli, const char *path, const tsr_voxelize_report *report)
{
    static const char *const how[] = { "", "the surface is closed then", "inside is what an odd number of triangles lies before",
                                       "inside is where the generalised winding number rounds to it" };
    char turned[64] = "";
    if (report->signs == TSR_VOXELIZE_SIGNS_CONSISTENT) return;
    if (report->turned_triangles) snprintf(turned, sizeof turned, "%lld triangles turned round, ", (long long)report->turned_triangles);
    char closing[64] = "";
    if (report->signs == TSR_VOXELIZE_SIGNS_WINDING)
        snprintf(closing, sizeof closing, "; %.3g %% of the surface round that closes holes", 100 * report->closing);
    if (report->signs == TSR_VOXELIZE_SIGNS_WINDING && report->closing == 1)
        snprintf(closing, sizeof closing, ": nothing here; --rule shell makes a sheet");
    cli_note(cli, "%s: %lld boundary, %lld non-manifold, %lld misoriented edges: %s%s%s", path, (long long)report->boundary_edges,
             (long long)report->nonmanifold_edges, (long long)report->misoriented_edges, turned, how[report->signs], closing);
}

/* A sheet has no inside: what the winding number makes of it is no body that anybody means. */
enum { SHEET_PERCENT = 30 };
static int check_sheet(const cli_call *cli, const char *path, const tsr_voxelize_report *report)
{
    if (report->signs != TSR_VOXELIZE_SIGNS_WINDING || report->closing * 100 <= SHEET_PERCENT) return CLI_OK;
    if (report->closing == 1)
        return cli_error(cli, CLI_FAILED,
                         "%s: an open sheet (%lld boundary edges) that encloses nothing: --rule shell makes a body of --thickness T of it", path,
                         (long long)report->boundary_edges);
    return cli_error(
        cli, CLI_FAILED,
        "%s: an open sheet (%lld boundary edges): of the surface round what it encloses %.0f %% would be made up: --rule shell makes a body of "
        "--thickness T of it",
        path, (long long)report->boundary_edges, 100 * report->closing);
}

tsr_vec3 cli_near_voxel(tsr_vec3 origin, tsr_vec3 spacing, tsr_vec3 place)
{
    if (place.x == 0 && place.y == 0 && place.z == 0) return origin;
    return (tsr_vec3){ origin.x + round((place.x - origin.x) / spacing.x) * spacing.x, origin.y + round((place.y - origin.y) / spacing.y) * spacing.y,
                       origin.z + round((place.z - origin.z) / spacing.z) * spacing.z };
}

void cli_note_winding(const cli_call *cli, const char *path, const tsr_winding_report *report)
{
    if (report->boundary_loops)
        cli_note(cli, "%s: not closed (%lld boundary edges, %lld misoriented edges, %lld loops): voxels behind a hole count as inside", path,
                 (long long)report->boundary_edges, (long long)report->misoriented_edges, (long long)report->boundary_loops);
}

/* A mesh as a list: on the voxels of options->like, or of its own. */
static tsr_status load_mesh(const cli_call *cli, tsr_context *context, const tsr_mesh *mesh, const char *path, const cli_list_options *options,
                            tsr_tiles **tiles, int *code)
{
    tsr_voxelize_options voxelize = TSR_VOXELIZE_OPTIONS;
    tsr_voxelize_report report = TSR_VOXELIZE_REPORT;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_mesh *moved = NULL;
    const tsr_mesh *there = NULL;
    tsr_status status = TSR_OK;
    voxelize.spacing = options->spacing;
    voxelize.edge = options->edge;
    if (options->like) {
        status = tsr_tiles_describe(options->like, &info);
        voxelize.geometry = tsr_tiles_geometry(options->like);
        voxelize.edge = info.edge;
        voxelize.band = info.band;
    } else {
        if (!(options->spacing.x > 0)) {
            status = tsr_mesh_measure(mesh, &m);
            double h = fmax(m.upper.x - m.lower.x, fmax(m.upper.y - m.lower.y, m.upper.z - m.lower.z)) / 128;
            voxelize.spacing = (tsr_vec3){ h, h, h };
        }
        voxelize.band = cli_band(cli, options, voxelize.spacing);
        voxelize.origin = cli_near_voxel(options->origin, voxelize.spacing, tsr_mesh_origin(mesh));
    }
    voxelize.rule = (tsr_voxelize_rule)options->rule;
    voxelize.thickness = options->thickness;
    if (status == TSR_OK) status = cli_mesh_there(mesh, context, &there, &moved);
    if (status == TSR_OK) status = tsr_tiles_from_mesh(context, there, &voxelize, tiles, &report);
    if (status == TSR_ERROR_UNSUPPORTED)
        *code = cli_error(cli, CLI_FAILED, "%s: %s (--spacing%s)", path, tsr_error_message(),
                          options->like ? "; the origin is at the first input" : ", --origin");
    if (status == TSR_OK) *code = check_sheet(cli, path, &report);
    if (status == TSR_OK && !*code) cli_note_signs(cli, path, &report);
    if (*code) tsr_tiles_destroy(tiles);
    tsr_mesh_destroy(&moved);
    return status;
}

/* A volume as a list of its own spacing, or of the band and edge of options->like. */
static tsr_status load_volume(const cli_call *cli, tsr_context *context, const tsr_volume *volume, const cli_list_options *options, tsr_tiles **tiles)
{
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_status status = TSR_OK;
    list.edge = options->edge;
    const tsr_size3 n = tsr_volume_size(volume), unbounded = { 0, 0, 0 };
    const int plane = options->planes && (n.x == 1 || n.y == 1 || n.z == 1); /* of one slice: in two dimensions, within the slice */
    if (!options->like) {
        list.band = cli_band(cli, options, tsr_band_spacing(tsr_geometry_spacing(tsr_volume_geometry(volume)), plane ? n : unbounded));
    } else {
        status = tsr_tiles_describe(options->like, &info);
        list.edge = info.edge;
        list.band = info.band;
    }
    return status == TSR_OK ? cli_tiles_of_dense(context, volume, &list, plane, tiles) : status;
}

/* Options that say how a list is made, of an input that has them already. */
static int check_made(const cli_call *cli, const char *path, tsr_file_kind kind, const cli_list_options *o)
{
    const char *const name = o->spacing.x > 0          ? "spacing"
                             : o->origin_given         ? "origin"
                             : o->rule                 ? "rule"
                             : kind == TSR_FILE_VOLUME ? NULL
                             : o->band > 0             ? "band"
                             : o->edge                 ? "tile-edge"
                                                       : NULL;
    if (o->like || !name) return CLI_OK;
    return cli_usage(cli, "--%s: %s has its own, expected with a mesh%s as the %s", name, path,
                     strcmp(name, "band") && strcmp(name, "tile-edge") ? "" : " or a volume", cli->inputs > 1 ? "first input" : "input");
}

tsr_tiles *cli_read_list(const cli_call *cli, tsr_context *context, const char *path, const tsr_read_options *read, const cli_list_options *options,
                         int *code)
{
    tsr_file_kind kind;
    const char *format;
    tsr_tiles *tiles = NULL;
    tsr_status status;
    *code = cli_recognise(cli, path, read, &kind, &format);
    if (*code) return NULL;
    if (cli_names_tiles(path, read->format)) kind = TSR_FILE_TILES;
    if (kind == TSR_FILE_TILES || kind == TSR_FILE_VOLUME) *code = check_made(cli, path, kind, options);
    if (*code) return NULL;
    if (kind == TSR_FILE_TILES) {
        tsr_tiles_read_options own = TSR_TILES_READ_OPTIONS;
        own.memory_limit = read->memory_limit;
        own.grid = read->dataset;
        own.progress = cli_progress(cli);
        tiles = cli_read_tiles(cli, context, path, &own, NULL, code);
        if (!tiles) return NULL;
        status = TSR_OK;
    } else if (kind == TSR_FILE_MESH) {
        tsr_read_options own = *read;
        own.local_origin = 1;
        tsr_mesh *mesh = cli_read_mesh(cli, path, &own, code);
        if (!mesh) return NULL;
        if (tsr_mesh_colors_const(mesh)) cli_note(cli, "%s: its colours have no place in a level set: left out", path);
        status = load_mesh(cli, context, mesh, path, options, &tiles, code);
        tsr_mesh_destroy(&mesh);
    } else if (kind == TSR_FILE_VOLUME) {
        tsr_volume *volume = cli_read_to_device(cli, path, read, context, code);
        if (!volume) return NULL;
        const tsr_size3 n = tsr_volume_size(volume);
        if (!options->planes && (n.x == 1 || n.y == 1 || n.z == 1)) {
            tsr_volume_destroy(&volume);
            *code =
                cli_error(cli, CLI_FAILED,
                          "%s: %lld x %lld x %lld voxels; a volume of one slice is a plane, which csg, morph, evolve and offset take, expected three "
                          "dimensions",
                          path, (long long)n.x, (long long)n.y, (long long)n.z);
            return NULL;
        }
        *code = check_axes(cli, path, options, tsr_volume_geometry(volume));
        if (!*code) cli_note_labels(cli, path, volume, "its surface is that round all labels together; convert --threshold L:L takes one");
        if (!*code) cli_note_unit(cli, path, volume, "a level set");
        status = *code ? TSR_OK : load_volume(cli, context, volume, options, &tiles);
        tsr_volume_destroy(&volume);
    } else {
        *code = cli_error(cli, CLI_FAILED, "%s: neither a tile list nor a mesh nor a volume", path);
        return NULL;
    }
    if (*code) return NULL;
    if (status == TSR_OK) status = tsr_geometry_check_perpendicular(tsr_tiles_geometry(tiles), path);
    const tsr_size3 domain = status == TSR_OK ? tsr_tiles_domain(tiles) : (tsr_size3){ 0, 0, 0 };
    if (domain.x && !options->planes) {
        tsr_tiles_destroy(&tiles);
        *code =
            cli_error(cli, CLI_FAILED, "%s: a tile list with a domain of %lld x %lld x %lld voxels, expected an unbounded one (convert --unbounded)",
                      path, (long long)domain.x, (long long)domain.y, (long long)domain.z);
        return NULL;
    }
    if (status == TSR_OK) *code = check_axes(cli, path, options, tsr_tiles_geometry(tiles));
    if (status == TSR_OK && !*code && options->like) *code = check_domain(cli, path, options->like, tiles);
    if (*code) {
        tsr_tiles_destroy(&tiles);
        return NULL;
    }
    if (status == TSR_OK && options->like) status = align(options->like, &tiles);
    if (status == TSR_OK && options->keys) status = tsr_tiles_set_key_bits(tiles, cli_key_bits(options));
    if (status == TSR_OK) return tiles;
    tsr_tiles_destroy(&tiles);
    *code = cli_status(cli, status, path);
    return NULL;
}

static int is_mesh(const char *path, const char *format)
{
    static const char *const ends[] = { ".ply", ".obj", ".stl", ".off" };
    size_t n = strlen(path);
    tsr_file_kind kind = TSR_FILE_UNKNOWN;
    if (format) return tsr_file_format_kind(format, &kind) == TSR_OK && kind == TSR_FILE_MESH;
    for (int i = 0; i < 4; i++)
        if (n > 4 && !strcmp(path + n - 4, ends[i])) return 1;
    return 0;
}

int cli_check_list(const cli_call *cli, const char *path, const char *format)
{
    if (!path) return cli_usage(cli, "--output: missing, expected -o FILE");
    const int code = cli_check_vdb(cli, path, format);
    return code ? code
                : cli_check_write(cli, path,
                                  is_mesh(path, format)           ? TSR_FILE_MESH
                                  : cli_names_tiles(path, format) ? TSR_FILE_TILES
                                                                  : TSR_FILE_VOLUME,
                                  format);
}

int cli_check_plane(const cli_call *cli, const tsr_tiles *tiles, const char *path, const char *format)
{
    const tsr_size3 n = tsr_tiles_domain(tiles);
    if ((n.x != 1 && n.y != 1 && n.z != 1) || !(is_mesh(path, format) || cli_names_vdb(path, format) || cli_names_nvdb(path, format))) return CLI_OK;
    return cli_error(cli, CLI_FAILED, "%s: a level set in two dimensions (%lld x %lld x %lld voxels) has no such form, expected .tsr or a volume",
                     path, (long long)n.x, (long long)n.y, (long long)n.z);
}

tsr_status cli_contract(tsr_mesh **mesh)
{
    tsr_mesh *contracted;
    const tsr_status status = tsr_surface_contract(*mesh, &contracted);
    if (!contracted) return status;
    tsr_mesh_destroy(mesh);
    *mesh = contracted;
    return status;
}

tsr_status cli_mesh_there(const tsr_mesh *mesh, tsr_context *context, const tsr_mesh **there, tsr_mesh **moved)
{
    *there = mesh;
    *moved = NULL;
    if (tsr_mesh_device(mesh).kind == TSR_DEVICE_CPU && (!context || tsr_context_device(context).kind == TSR_DEVICE_CPU)) return TSR_OK;
    const tsr_status status = tsr_mesh_copy(mesh, context, moved);
    *there = *moved;
    return status;
}

tsr_status cli_bring_mesh(tsr_mesh **mesh)
{
    const tsr_mesh *there;
    tsr_mesh *moved;
    const tsr_status status = cli_mesh_there(*mesh, NULL, &there, &moved);
    if (status != TSR_OK || !moved) return status;
    tsr_mesh_destroy(mesh);
    *mesh = moved;
    return TSR_OK;
}

static tsr_status extract(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, tsr_mesh **mesh,
                          tsr_surface_report *report)
{
    tsr_mesh *made = NULL;
    tsr_status status = tsr_surface_extract_tiles(context, tiles, options, &made, report);
    if (status == TSR_OK) status = cli_bring_mesh(&made);
    if (status == TSR_OK) *mesh = made;
    else tsr_mesh_destroy(&made);
    return status == TSR_OK && options->isovalue == 0 ? cli_contract(mesh) : status;
}

tsr_status cli_surface_of_list(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *options, tsr_mesh **mesh,
                               tsr_surface_report *report)
{
    const tsr_geometry *g = tsr_tiles_geometry(tiles);
    const tsr_vec3 place = { g->affine[0][3], g->affine[1][3], g->affine[2][3] }, origin = cli_far_origin(g);
    const int far = origin.x != 0 || origin.y != 0 || origin.z != 0;
    tsr_tiles *own = NULL;
    *mesh = NULL;
    if (options->isovalue != 0 && !far) return extract(context, tiles, options, mesh, report);
    tsr_status status = tsr_tiles_copy(tiles, context, &own);
    if (status == TSR_OK && options->isovalue == 0) status = tsr_tiles_settle(own, NULL);
    if (status == TSR_OK) status = tsr_tiles_set_origin(own, (tsr_vec3){ place.x - origin.x, place.y - origin.y, place.z - origin.z });
    if (status == TSR_OK) status = extract(context, own, options, mesh, report);
    if (status == TSR_OK) tsr_mesh_set_origin(*mesh, origin);
    else tsr_mesh_destroy(mesh);
    tsr_tiles_destroy(&own);
    return status;
}

static tsr_status write_list(const cli_call *cli, tsr_context *context, const tsr_tiles *tiles, const char *path, const char *format)
{
    tsr_write_options write = cli_write_options(cli);
    tsr_status status;
    write.format = format;
    if (is_mesh(path, format)) {
        tsr_surface_options surface = TSR_SURFACE_OPTIONS;
        tsr_mesh *mesh = NULL;
        surface.normals = TSR_SURFACE_NORMALS_CENTRAL;
        status = cli_surface_of_list(context, tiles, &surface, &mesh, NULL);
        if (status == TSR_OK) status = tsr_mesh_write(mesh, path, &write);
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

int cli_write_list(const cli_call *cli, tsr_context *context, const tsr_tiles *tiles, const char *path, const char *format)
{
    const int code = cli_check_plane(cli, tiles, path, format);
    if (code) return code;
    if (cli_names_tiles(path, format)) {
        tsr_tiles_write_options list = TSR_TILES_WRITE_OPTIONS;
        list.format = format;
        list.overwrite = cli->globals.force;
        list.progress = cli_progress(cli);
        if (tsr_tiles_domain(tiles).x && (cli_names_vdb(path, format) || cli_names_nvdb(path, format)))
            cli_note(cli, "%s: this form keeps no domain: the list comes back unbounded, with the outside beyond it", path);
        return cli_write_tiles(cli, tiles, path, &list);
    }
    const tsr_status status = write_list(cli, context, tiles, path, format);
    return status == TSR_OK ? CLI_OK : cli_status(cli, status, path);
}

void cli_note_vanished(const cli_call *cli, const tsr_tiles *tiles, const char *path)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    const int filled = tsr_tiles_describe(tiles, &info) == TSR_OK && info.inside_voxels > 0;
    cli_note(cli, filled ? "no surface is left: all of '%s' is inside" : "the surface has vanished: '%s' holds an empty one", path);
}

/* Members of the object of a surface; of a plane area and length, elsewhere volume and area. */
static void json_measures(const tsr_tiles_measures *m)
{
    json_int("dimensions", m->dimensions);
    json_real(m->dimensions == 3 ? "volume" : "area", m->volume);
    json_real(m->dimensions == 3 ? "area" : "length", m->area);
    json_real("mean_curvature", m->mean_curvature);
    json_int("components", m->components);
    json_int(m->dimensions == 3 ? "cavities" : "holes", m->cavities);
    if (m->dimensions == 3) json_int("genus", m->genus);
    json_int("euler", m->euler);
}

static void print_sizes(const tsr_tiles_measures *m)
{
    printf(m->dimensions == 3 ? "volume %.9g, area %.9g, mean curvature %.6g" : "area %.9g, length %.9g, mean curvature %.6g", m->volume, m->area,
           m->mean_curvature);
}

void cli_show_measures(const cli_call *cli, const char *name, const tsr_tiles_measures *m)
{
    const long long pieces = (long long)m->components, enclosed = (long long)m->cavities;
    if (!cli->globals.json) {
        printf("%-12s ", name);
        print_sizes(m);
        if (m->dimensions == 3) printf(", pieces %lld, cavities %lld, genus %lld", pieces, enclosed, (long long)m->genus);
        else printf(", pieces %lld, holes %lld", pieces, enclosed);
        printf(", tiles %lld\n", (long long)m->tiles);
        return;
    }
    json_open(NULL, '{');
    json_text("object", name);
    json_measures(m);
    json_int("tiles", m->tiles);
    json_int("active_voxels", m->active_voxels);
    json_close('}');
}

void cli_show_surface(const cli_call *cli, const tsr_tiles *tiles)
{
    const tsr_size3 n = tsr_tiles_domain(tiles);
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    tsr_tiles_info info = TSR_TILES_INFO;
    if (n.x) {
        if (tsr_tiles_describe(tiles, &info) != TSR_OK) return;
        if (cli->globals.json) json_int("inside_voxels", info.inside_voxels);
        else
            printf("inside       %lld voxels of the domain of %lld x %lld x %lld\n", (long long)info.inside_voxels, (long long)n.x, (long long)n.y,
                   (long long)n.z);
    }
    if (tsr_tiles_measure(tiles, &m) != TSR_OK) return;
    if (cli->globals.json) {
        json_measures(&m);
    } else if (m.components > 0) {
        printf("surface      ");
        print_sizes(&m);
        if (m.dimensions == 3) printf("; %lld pieces, genus %lld\n", (long long)m.components, (long long)m.genus);
        else printf("; %lld pieces, %lld holes\n", (long long)m.components, (long long)m.cavities);
    }
}
