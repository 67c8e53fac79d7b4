#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_lines.h"

struct contours {
    cli_lines l;
    tsr_contour_options options;
    tsr_contour_relevance relevance;
    tsr_eigenplane_options search;
    const char *surface_s, *surface_t;
    int seeds_only, search_given, series, no_coincident, no_merge, turn_given, for_search;
    int32_t turn;
    tsr_context *context;
    tsr_vector_field *field;
    tsr_contours *contours;
    cli_lines_kind kind;
};

static int fail(const struct contours *c, tsr_status status) { return cli_status(c->l.cli, status, NULL); }

/* ---- seeds ------------------------------------------------------------------------------------------------------------------------------ */

/* Octahedra of the tubes' radius, coloured by curvature. */
static tsr_status seed_mesh(const struct contours *c, tsr_mesh **mesh)
{
    static const int8_t face[8][3] = { { 0, 2, 4 }, { 2, 1, 4 }, { 1, 3, 4 }, { 3, 0, 4 }, { 2, 0, 5 }, { 1, 2, 5 }, { 3, 1, 5 }, { 0, 3, 5 } };
    int64_t count;
    tsr_field_info info = TSR_FIELD_INFO;
    tsr_contours_seeds(c->contours, &count);
    tsr_contour_seed *seeds = (tsr_contour_seed *)malloc((size_t)(count + 1) * sizeof *seeds);
    if (!seeds) return TSR_ERROR_MEMORY;
    tsr_status status = tsr_contours_download(c->contours, 0, count, seeds);
    if (status == TSR_OK) status = tsr_field_describe(c->field, &info);
    if (status == TSR_OK) status = tsr_mesh_create(NULL, 6 * count, 8 * count, 1, mesh);
    if (status == TSR_OK) status = tsr_mesh_add_colors(*mesh);
    const tsr_vec3 h = tsr_geometry_spacing(&info.geometry);
    const double radius = c->l.tube.radius > 0 ? c->l.tube.radius : 0.5 * fmin(h.x, fmin(h.y, h.z));
    double most = 0;
    for (int64_t k = 0; k < count; k++) most = fmax(most, (double)seeds[k].curvature);
    for (int64_t k = 0; status == TSR_OK && k < count; k++) {
        const tsr_vec3 p = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ seeds[k].at[0], seeds[k].at[1], seeds[k].at[2] });
        uint8_t rgb[3];
        tsr_stream_color(most > 0 ? sqrt((double)seeds[k].curvature / most) : 0, rgb);
        for (int v = 0; v < 6; v++) {
            const float n[3] = { v < 2 ? 1.0f - 2.0f * (float)v : 0.0f, v == 2 ? 1.0f : v == 3 ? -1.0f : 0.0f, v == 4 ? 1.0f : v == 5 ? -1.0f : 0.0f };
            const double at[3] = { p.x, p.y, p.z };
            for (int i = 0; i < 3; i++) {
                tsr_mesh_normals(*mesh)[3 * (6 * k + v) + i] = n[i];
                tsr_mesh_vertices(*mesh)[3 * (6 * k + v) + i] = (float)(at[i] + radius * (double)n[i]);
                tsr_mesh_colors(*mesh)[4 * (6 * k + v) + i] = rgb[i];
            }
            tsr_mesh_colors(*mesh)[4 * (6 * k + v) + 3] = 255;
        }
        for (int f = 0; f < 8; f++)
            for (int i = 0; i < 3; i++) tsr_mesh_triangles(*mesh)[3 * (8 * k + f) + i] = (uint32_t)(6 * k + face[f][i]);
    }
    free(seeds);
    return status;
}

/* Seeds as points: lines of one point each have no edges; a mesh without triangles is a cloud. */
static tsr_status write_seeds(const struct contours *c)
{
    int64_t count;
    tsr_points *points = NULL;
    tsr_field_info info = TSR_FIELD_INFO;
    tsr_write_options write = cli_write_options(c->l.cli);
    write.format = NULL;
    tsr_contours_seeds(c->contours, &count);
    tsr_contour_seed *seeds = (tsr_contour_seed *)malloc((size_t)(count + 1) * sizeof *seeds);
    if (!seeds) return TSR_ERROR_MEMORY;
    tsr_status status = tsr_contours_download(c->contours, 0, count, seeds);
    if (status == TSR_OK) status = tsr_field_describe(c->field, &info);
    if (status == TSR_OK) status = tsr_points_create(NULL, count, 0, &points);
    for (int64_t k = 0; status == TSR_OK && k < count; k++) {
        const tsr_vec3 p = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ seeds[k].at[0], seeds[k].at[1], seeds[k].at[2] });
        float *to = tsr_points_positions(points) + 3 * k;
        to[0] = (float)p.x, to[1] = (float)p.y, to[2] = (float)p.z;
    }
    if (status == TSR_OK) tsr_points_set_space(points, info.geometry.space);
    if (status == TSR_OK) status = tsr_points_write(points, c->l.output, &write);
    tsr_points_destroy(&points);
    free(seeds);
    return status;
}

/* ---- one view --------------------------------------------------------------------------------------------------------------------------- */

static tsr_status write_surface(const struct contours *c, const tsr_contour_view *view, int which, const char *path)
{
    tsr_volume *side = NULL;
    tsr_mesh *mesh = NULL, *host = NULL;
    tsr_surface_options o = TSR_SURFACE_OPTIONS;
    o.normals = TSR_SURFACE_NORMALS_CENTRAL;
    tsr_status status = tsr_contours_volume(c->contours, view, which, &side);
    if (status == TSR_OK) status = tsr_surface_extract(c->context, side, &o, &mesh, NULL);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, NULL, &host);
    if (status == TSR_OK) status = lines_write_mesh(&c->l, host, path);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&side);
    return status;
}

static void show(const struct contours *c, const tsr_contour_view *view, const tsr_contour_info *info, const tsr_streamlines *lines, double seconds[2])
{
    const double length = sqrt(view->direction.x * view->direction.x + view->direction.y * view->direction.y + view->direction.z * view->direction.z);
    if (c->l.cli->globals.json) {
        json_open(NULL, '{');
        json_real("view_x", view->direction.x / length);
        json_real("view_y", view->direction.y / length);
        json_real("view_z", view->direction.z / length);
        json_int("seeds", info->seeds);
        json_int("coincident", info->coincident);
        json_int("thinned", info->thinned);
        json_int("points", tsr_streamlines_point_count(lines));
        json_real("seconds_seeds", seconds[0]);
        json_real("seconds_lines", seconds[1]);
        json_close('}');
        return;
    }
    printf("%lld seeds", (long long)info->seeds);
    if (info->coincident) printf(" (%lld of faces where S = 0 and T = 0 coincide)", (long long)info->coincident);
    if (info->thinned) printf(", %lld left out", (long long)info->thinned);
    if (lines) printf(", %lld points of lines", (long long)tsr_streamlines_point_count(lines));
    printf(", %.3g s and %.3g s\n", seconds[0], seconds[1]);
}

static tsr_status one_view(struct contours *c, tsr_image *image)
{
    tsr_contour_view view;
    tsr_camera camera;
    tsr_contour_info info = TSR_CONTOUR_INFO;
    tsr_streamlines *lines = NULL;
    tsr_mesh *mesh = NULL;
    double seconds[2] = { 0, 0 };
    tsr_status status = lines_view(&c->l, c->field, &view, &camera);
    double began = cli_seconds();
    if (status == TSR_OK) status = tsr_contours_update(c->contours, &view, &info);
    seconds[0] = cli_seconds() - began;
    began = cli_seconds();
    if (status == TSR_OK && !c->seeds_only) status = tsr_contours_trace(c->contours, &c->relevance, &c->l.trace, &lines);
    seconds[1] = cli_seconds() - began;
    if (status != TSR_OK) return status;
    if (!image && c->seeds_only) status = write_seeds(c);
    else if (!image) status = lines_write(&c->l, lines, c->field, c->kind);
    else {
        status = c->seeds_only ? seed_mesh(c, &mesh) : lines_tubes(&c->l, lines, c->field, 1, &mesh);
        if (status == TSR_OK) status = lines_picture(&c->l, c->context, c->field, mesh, &camera, image);
    }
    if (status == TSR_OK && c->surface_s) status = write_surface(c, &view, 0, c->surface_s);
    if (status == TSR_OK && c->surface_t) status = write_surface(c, &view, 1, c->surface_t);
    if (status == TSR_OK) show(c, &view, &info, lines, seconds);
    tsr_mesh_destroy(&mesh);
    tsr_streamlines_destroy(&lines);
    return status;
}

/* ---- films ------------------------------------------------------------------------------------------------------------------------------ */

/* Pictures: one, a turn of the view, or the steps of a series. */
static int pictures(struct contours *c)
{
    cli_frames rate = CLI_FRAMES(c->l.cli);
    cli_film film = { .path = NULL };
    const int frames = c->series ? c->l.cli->inputs : c->turn_given ? c->turn : 1;
    int code = cli_film_check(c->l.cli, &film, c->l.output, frames == 1);
    const double azimuth = c->l.azimuth;
    for (int k = 0; k < frames && !code; k++) {
        tsr_image image = { 0 };
        if (c->series && k) {
            tsr_vector_field *next = NULL;
            code = lines_read_field(&c->l, c->l.cli->input + k, 1, c->context, &next);
            if (!code && tsr_contours_set_field(c->contours, next) != TSR_OK) code = cli_status(c->l.cli, TSR_ERROR_ARGUMENT, c->l.cli->input[k]);
            if (code) {
                tsr_field_destroy(&next);
                break;
            }
            tsr_field_destroy(&c->field);
            c->field = next;
        }
        if (c->turn_given) c->l.azimuth = azimuth + 360.0 * k / frames;
        const tsr_status status = one_view(c, &image);
        code = status == TSR_OK ? cli_film_append(c->l.cli, &film, &image, &rate) : fail(c, status);
        tsr_image_destroy(&image);
    }
    return cli_film_finish(c->l.cli, &film, code);
}

/* ---- eigenplanes ------------------------------------------------------------------------------------------------------------------------ */

static int search(struct contours *c)
{
    tsr_eigenplanes found;
    tsr_image image = { 0 };
    c->search.lines = &c->l.trace;
    c->search.progress = cli_progress(c->l.cli);
    tsr_status status = tsr_contours_eigenplanes(c->contours, &c->search, &found);
    cli_progress_end(c->l.cli);
    if (status != TSR_OK) return fail(c, status);
    if (c->l.cli->globals.json) json_open(NULL, '[');
    for (int32_t k = 0; k < found.count; k++) {
        const tsr_eigenplane *p = &found.planes[k];
        if (!c->l.cli->globals.json)
            printf("normal %.6f %.6f %.6f: %lld seeds, %lld coincident (%.0f nearly)\n", p->normal.x, p->normal.y, p->normal.z, (long long)p->seeds,
                   (long long)p->coincident, p->score);
        else {
            json_open(NULL, '{');
            json_real("x", p->normal.x);
            json_real("y", p->normal.y);
            json_real("z", p->normal.z);
            json_int("seeds", p->seeds);
            json_int("coincident", p->coincident);
            json_real("score", p->score);
            json_close('}');
        }
    }
    if (c->l.cli->globals.json) json_close(']');
    else if (!found.count) printf("no eigenplanes\n");
    if (c->l.output) {
        status = tsr_eigenplanes_picture(&found, c->search.lengths, c->l.width < c->l.height ? c->l.width : c->l.height, &image);
        const tsr_write_options write = cli_image_options(c->l.cli, c->l.output);
        if (status == TSR_OK) status = tsr_image_write(&image, c->l.output, &write);
    }
    tsr_image_destroy(&image);
    tsr_eigenplanes_destroy(&found);
    return status == TSR_OK ? CLI_OK : fail(c, status);
}

/* ---- the verb --------------------------------------------------------------------------------------------------------------------------- */

static int check(struct contours *c)
{
    cli_call *cli = c->l.cli;
    const size_t length = c->l.output ? strlen(c->l.output) : 0;
    if (c->no_coincident) c->options.coincidence = -1;
    if (c->no_merge) c->options.merge = -1;
    if (c->options.second_order && !c->l.perspective && !c->l.eye_given) return cli_usage(cli, "--second-order: expected --perspective or --eye beside it");
    if (!c->series && cli->inputs == 2) return cli_usage(cli, "2 inputs given, expected one file with vectors, three with a component each, or --series");
    if (!c->series && cli->inputs > 3) return cli_usage(cli, "%d inputs given, expected --series beside them", cli->inputs);
    if (c->turn_given && (c->l.view_given || c->l.eye_given)) return cli_usage(cli, "--turn: expected without --view and --eye (it turns --azimuth)");
    if (c->turn_given && c->series) return cli_usage(cli, "--turn: expected without --series");
    if (c->for_search && !c->search_given) return cli_usage(cli, "--views, --planes, --lengths: expected --search beside them");
    for (int k = 0; k < 2; k++) {
        const char *path = k ? c->surface_t : c->surface_s;
        const int code = path ? cli_check_option(cli, k ? "surface-t" : "surface-s", path) : CLI_OK;
        if (code) return code;
    }
    if (c->search_given) {
        if (c->series || c->turn_given || c->seeds_only) return cli_usage(cli, "--search: expected without --series, --turn and --seeds-only");
        c->l.trace.progress = (tsr_progress){ 0 };
        return c->l.output ? cli_check_write(cli, c->l.output, TSR_FILE_IMAGE, NULL) : CLI_OK;
    }
    if (length && (c->turn_given || c->series)) {
        c->kind = LINES_PICTURE; /* a film: its name is checked there */
        cli_lines_kind ignored;
        const char *output = c->l.output;
        c->l.output = "film.png";
        const int code = lines_check(&c->l, &ignored);
        c->l.output = output;
        return code;
    }
    if (c->seeds_only && length > 4 && (!strcmp(c->l.output + length - 4, ".xyz") || !strcmp(c->l.output + length - 4, ".pcd") || !strcmp(c->l.output + length - 4, ".pts"))) {
        c->kind = LINES_POINTS;
        return cli_check_write(cli, c->l.output, TSR_FILE_POINTS, NULL);
    }
    return lines_check(&c->l, &c->kind);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct contours c = { .l = CLI_LINES(cli),
                          .options = TSR_CONTOUR_OPTIONS,
                          .relevance = TSR_CONTOUR_RELEVANCE,
                          .search = TSR_EIGENPLANE_OPTIONS };
    int relevance_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(c.l.output),
        { .name = "seeds-only", .type = CLI_FLAG, .value = &c.seeds_only, .help = "the seeds alone: points (.ply .obj .xyz .pcd .pts), or in a picture" },
        { .name = "surface-s", .type = CLI_TEXT, .value = &c.surface_s, .argument = "FILE", .help = "also write the surface S = 0" },
        { .name = "surface-t", .type = CLI_TEXT, .value = &c.surface_t, .argument = "FILE", .help = "also write the surface T = 0" },
        { .name = "search", .type = CLI_FLAG, .value = &c.search_given, .help = "look for eigenplanes: views along which seeds fill a plane; -o: a map of all views" },
        { .name = "views", .type = CLI_INT, .value = &c.search.views, .argument = "N", .help = "--search: directions to try (default 1000)", .lower = 1, .upper = 1000000, .given = &c.for_search },
        { .name = "planes", .type = CLI_INT, .value = &c.search.planes, .argument = "N", .help = "--search: most to report (default 4)", .lower = 1, .upper = 1000, .given = &c.for_search },
        { .name = "lengths", .type = CLI_FLAG, .value = &c.search.lengths, .help = "--search: the map shows the total length of the contours", .given = &c.for_search },
        { .name = "relevance", .type = CLI_FLAG, .value = &relevance_given, .help = "shorten lines of small curvature, and those that are about to vanish as the view turns" },
        { .name = "thinning", .type = CLI_REAL, .value = &c.options.thinning, .argument = "CELLS", .help = "least distance between seeds", .lower = 0, .upper = 1e6 },
        { .name = "second-order", .type = CLI_FLAG, .value = &c.options.second_order, .help = "perspective: lines of sight touch to second order" },
        { .name = "no-coincident", .type = CLI_FLAG, .value = &c.no_coincident, .help = "no seeds where S = 0 and T = 0 coincide" },
        { .name = "no-merge", .type = CLI_FLAG, .value = &c.no_merge, .help = "keep seeds that several faces see at their common edge" },
        { .name = "turn", .type = CLI_INT, .value = &c.turn, .argument = "N", .help = "a film of N views round the vertical axis", .lower = 1, .upper = 100000, .given = &c.turn_given },
        { .name = "series", .type = CLI_FLAG, .value = &c.series, .help = "each input is a step in time: a film of them" },
        CLI_LINE_OPTIONS(c.l),
        CLI_READ_OPTIONS(c.l.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 100000, argc, argv);
    if (code >= 0) return code;
    c.relevance.use = relevance_given;
    c.l.by_film = 1;
    code = check(&c);
    if (!code) code = cli_context(cli, &c.context);
    if (!code) code = lines_read_field(&c.l, cli->input, c.series ? 1 : cli->inputs, c.context, &c.field);
    tsr_status status = TSR_OK;
    if (!code && (status = tsr_contours_create(c.field, &c.options, &c.contours)) != TSR_OK) code = fail(&c, status);
    if (!code && c.search_given) code = search(&c);
    else if (!code && c.kind == LINES_PICTURE) code = pictures(&c);
    else if (!code && (status = one_view(&c, NULL)) != TSR_OK) code = fail(&c, status);
    cli_progress_end(cli);
    tsr_contours_destroy(&c.contours);
    tsr_field_destroy(&c.field);
    tsr_context_destroy(&c.context);
    return code;
}

const cli_verb verb_contours = { "contours", "[options] FIELD | X Y Z -o OUTPUT",
                                 "Contours of a vector field: the stream lines whose tangent and bend face the viewer, chosen anew for every view",
                                 "  tessera make field-focus -o focus.nrrd && tessera contours focus.nrrd --azimuth 40 --box -o focus.png\n"
                                 "  tessera contours focus.nrrd --view 0,0,-1 --tubes -o focus.ply\n"
                                 "  tessera contours focus.nrrd --search --views 20\n",
                                 run };
