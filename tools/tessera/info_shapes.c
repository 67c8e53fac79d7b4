/* What info says of meshes, points and grids with cells. */
#include "info.h"

#include <string.h>

/* Corners that count from an origin. */
static void show_box(const double origin[3], const double box[6])
{
    printf("  box         ");
    for (int i = 0; i < 6; i++) printf("%s%.*g", i == 3 ? " to " : " ", origin[i % 3] != 0 ? 10 : 6, origin[i % 3] + box[i]);
    printf("\n");
}

/* `colours`: the points have some that are no attribute of theirs. */
static int show_points(info_call *info, const char *path, const char *format, int colours)
{
    int code = CLI_OK;
    tsr_read_options read = info->read;
    read.local_origin = 1;
    tsr_points *points = cli_read_points(info->cli, path, &read, &code);
    if (!points) return code;
    const int64_t count = tsr_points_count(points);
    const float *p = tsr_points_positions_const(points);
    const tsr_vec3 o = tsr_points_origin(points);
    const double origin[3] = { o.x, o.y, o.z };
    const char *name;
    int32_t components;
    float lower[3] = { p[0], p[1], p[2] }, upper[3] = { p[0], p[1], p[2] };
    for (int64_t i = 3; i < 3 * count; i++) {
        lower[i % 3] = p[i] < lower[i % 3] ? p[i] : lower[i % 3];
        upper[i % 3] = p[i] > upper[i % 3] ? p[i] : upper[i % 3];
    }
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "points");
        json_text("format", format);
        json_int("points", count);
        json_bool("normals", tsr_points_normals_const(points) != NULL);
        json_bool("radii", tsr_points_radii_const(points) != NULL);
        if (colours) json_bool("colors", 1);
        json_open("attributes", '{');
        for (int32_t a = 0; tsr_points_attribute_at(points, a, &name, &components); a++) json_int(name, components);
        json_close('}');
        json_text("space", info_space_name(tsr_points_space(points)));
        for (int i = 0; i < 2; i++) {
            json_open(i ? "upper" : "lower", '[');
            for (int a = 0; a < 3; a++) json_real(NULL, origin[a] + (double)(i ? upper : lower)[a]);
            json_close(']');
        }
        json_close('}');
    } else {
        printf("%s: cloud of points (%s)\n", cli_shown(path), format);
        printf("  size         %lld points%s%s%s\n", (long long)count, tsr_points_normals_const(points) ? ", normals" : "",
               tsr_points_radii_const(points) ? ", radii" : "", colours ? ", colours" : "");
        for (int32_t a = 0; tsr_points_attribute_at(points, a, &name, &components); a++)
            printf("  %-12s %s (%d)\n", a ? "" : "attributes", cli_shown(name), components);
        const double box[6] = { (double)lower[0], (double)lower[1], (double)lower[2], (double)upper[0], (double)upper[1], (double)upper[2] };
        show_box(origin, box);
    }
    tsr_points_destroy(&points);
    return CLI_OK;
}

int info_mesh(info_call *info, const char *path, const char *format)
{
    int code = CLI_OK;
    tsr_read_options read = info->read;
    read.local_origin = 1;
    tsr_mesh *mesh = cli_read_mesh(info->cli, path, &read, &code);
    if (!mesh) return code;
    if (!tsr_mesh_triangle_count(mesh) && tsr_mesh_vertex_count(mesh)) { /* a cloud that a format of meshes holds */
        const int colours = tsr_mesh_colors_const(mesh) != NULL;
        tsr_mesh_destroy(&mesh);
        return show_points(info, path, format, colours);
    }
    const tsr_vec3 o = tsr_mesh_origin(mesh);
    const int far = o.x != 0 || o.y != 0 || o.z != 0;
    tsr_mesh_part part;
    tsr_mesh_measures m = TSR_MESH_MEASURES;
    tsr_status status = tsr_mesh_measure(mesh, &m);
    if (status != TSR_OK) {
        code = cli_status(info->cli, status, path);
    } else if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "mesh");
        json_text("format", format);
        json_int("vertices", tsr_mesh_vertex_count(mesh));
        json_int("triangles", tsr_mesh_triangle_count(mesh));
        json_bool("normals", tsr_mesh_normals_const(mesh) != NULL);
        json_bool("colors", tsr_mesh_colors_const(mesh) != NULL);
        json_text("space", info_space_name(tsr_mesh_space(mesh)));
        json_open("origin", '[');
        json_real(NULL, o.x);
        json_real(NULL, o.y);
        json_real(NULL, o.z);
        json_close(']');
        json_real("area", m.area);
        json_real("volume", m.volume);
        cli_show_topology(info->cli, &m, "");
        const double corners[2][3] = { { o.x + m.lower.x, o.y + m.lower.y, o.z + m.lower.z }, { o.x + m.upper.x, o.y + m.upper.y, o.z + m.upper.z } };
        for (int i = 0; i < 2; i++) {
            json_open(i ? "upper" : "lower", '[');
            for (int a = 0; a < 3; a++) json_real(NULL, corners[i][a]);
            json_close(']');
        }
        json_open("parts", '[');
        for (int32_t i = 0; tsr_mesh_part_at(mesh, i, &part); i++) {
            json_open(NULL, '{');
            json_int("label", part.value);
            if (part.name) json_text("name", part.name);
            json_int("triangles", part.triangles);
            json_close('}');
        }
        json_close(']');
        json_close('}');
    } else {
        printf("%s: mesh (%s)\n", cli_shown(path), format);
        printf("  size         %lld vertices, %lld triangles%s%s\n", (long long)tsr_mesh_vertex_count(mesh), (long long)tsr_mesh_triangle_count(mesh),
               tsr_mesh_normals_const(mesh) ? ", normals" : "", tsr_mesh_colors_const(mesh) ? ", colours" : "");
        show_box((const double[3]){ o.x, o.y, o.z }, (const double[6]){ m.lower.x, m.lower.y, m.lower.z, m.upper.x, m.upper.y, m.upper.z });
        if (far) printf("  origin       %.15g %.15g %.15g, for float32 would round the coordinates\n", o.x, o.y, o.z);
        for (int32_t i = 0; tsr_mesh_part_at(mesh, i, &part); i++)
            printf("  part         %lld, %lld triangles%s%s\n", (long long)part.value, (long long)part.triangles, part.name ? ": " : "",
                   part.name ? cli_shown(part.name) : "");
        printf("  measures     area %.9g, volume %.9g\n", m.area, m.volume);
        cli_show_topology(info->cli, &m, "  ");
    }
    tsr_mesh_destroy(&mesh);
    return code;
}

int info_unstructured(info_call *info, const char *path, const char *format)
{
    tsr_unstructured *grid = NULL;
    tsr_unstructured_info i = { 0 };
    tsr_status status = tsr_unstructured_read(path, &info->read, "", &grid); /* it need not have values */
    if (status == TSR_OK) i = *tsr_unstructured_describe(grid);
    tsr_unstructured_destroy(&grid);
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "unstructured");
        json_text("format", format);
        json_int("points", i.points);
        json_int("cells", i.cells);
        json_int("passed_over", i.passed_over);
        json_int("turned", i.turned);
        json_int("tetrahedra", i.tetrahedra);
        json_int("edges", i.edges);
        json_text("arrays", i.arrays);
        json_text("space", info_space_name(i.space));
        json_close('}');
    } else {
        printf("%s: unstructured grid (%s)\n", cli_shown(path), format);
        printf("  size         %lld points, %lld cells", (long long)i.points, (long long)i.cells);
        if (i.passed_over) printf(", %lld cells without volume", (long long)i.passed_over);
        if (i.turned) printf(", %lld turned over", (long long)i.turned);
        printf("\n  taken apart  %lld tetrahedra, %lld edges\n", (long long)i.tetrahedra, (long long)i.edges);
        printf("  values       %s\n", *i.arrays ? cli_shown(i.arrays) : "none at the points");
        printf("  space        %s\n", info_space_name(i.space));
    }
    return CLI_OK;
}

int info_points(info_call *info, const char *path, const char *format) { return show_points(info, path, format, 0); }
