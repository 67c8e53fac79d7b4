#include "field_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int lines_check(cli_lines *l, cli_lines_kind *kind)
{
    const char *path = l->output;
    tsr_write_options write = cli_write_options(l->cli);
    *kind = LINES_FILE;
    l->trace.method = (tsr_stream_method)l->method;
    l->trace.parameter = (tsr_stream_parameter)l->parameter;
    l->trace.direction = (tsr_stream_direction)l->direction;
    l->trace.progress = cli_progress(l->cli);
    l->tube.caps = !l->no_caps;
    l->tube.by_direction = l->color == TSR_STREAM_ATTRIBUTES;
    if (!l->tube.by_direction) l->tube.color = (tsr_stream_attribute)l->color;
    if (l->range_given) {
        if (!isfinite(l->range[0]) || !isfinite(l->range[1])) return cli_usage(l->cli, "--range: expected both ends, as in 0:2");
        l->tube.lower = l->range[0];
        l->tube.upper = l->range[1];
    }
    if (l->eye_given) l->perspective = 1;
    if (l->view_given && l->view.x == 0 && l->view.y == 0 && l->view.z == 0) return cli_usage(l->cli, "--view: '0,0,0' is no direction");
    if (l->view_given && l->azimuth_given) return cli_usage(l->cli, "--view: expected without --azimuth and --elevation");
    if (l->method != TSR_STREAM_DORMAND_PRINCE && (l->trace.tolerance > 0 || l->trace.min_step > 0 || l->trace.max_step > 0))
        return cli_usage(l->cli, "--tolerance, --min-step, --max-step: expected --method dormand-prince beside them");
    const int picture = cli_ends_in(path, ".png .jpg .jpeg");
    int code = picture && l->by_film ? CLI_OK : cli_check_output(l->cli, path);
    if (code) return code;
    const int lines = cli_ends_in(path, ".vtk .ply .obj .glb");
    if (picture) {
        *kind = LINES_PICTURE;
        return tsr_file_check_output(path, TSR_FILE_IMAGE, &write) == TSR_OK ? CLI_OK : cli_usage(l->cli, "%s", tsr_error_message());
    }
    if (!lines && !(l->tubes && cli_ends_in(path, ".stl .off")))
        return cli_usage(l->cli, "%s: expected lines as .vtk, .ply, .obj or .glb, tubes (--tubes) as these, .stl or .off, or a picture as .png or .jpg", path);
    if (l->tubes) *kind = LINES_MESH;
    return CLI_OK;
}

int lines_read_field(cli_lines *l, char **paths, int count, tsr_context *context, tsr_vector_field **field)
{
    tsr_volume *components[3] = { NULL, NULL, NULL };
    tsr_read_options read = l->read;
    const char *names[3] = { paths[0], count > 1 ? paths[1] : NULL, count > 2 ? paths[2] : NULL };
    read.progress = cli_progress(l->cli);
    *field = NULL;
    tsr_status status = tsr_field_read(names, count, &read, components);
    cli_progress_pause();
    int code = status == TSR_OK ? CLI_OK : cli_status(l->cli, status, NULL);
    if (!code) {
        status = tsr_field_create(context, (const tsr_volume *const *)components, field);
        if (status != TSR_OK) code = cli_status(l->cli, status, paths[0]);
    }
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    return code;
}

/* ---- views ------------------------------------------------------------------------------------------------------------------------------ */

static tsr_box box_of(const tsr_field_info *info)
{
    tsr_box b = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int corner = 0; corner < 8; corner++) {
        const tsr_vec3 p = tsr_geometry_to_world(&info->geometry, (tsr_vec3){ corner & 1 ? (double)(info->size.x - 1) : 0, corner & 2 ? (double)(info->size.y - 1) : 0,
                                                                              corner & 4 ? (double)(info->size.z - 1) : 0 });
        b.lower = (tsr_vec3){ fmin(b.lower.x, p.x), fmin(b.lower.y, p.y), fmin(b.lower.z, p.z) };
        b.upper = (tsr_vec3){ fmax(b.upper.x, p.x), fmax(b.upper.y, p.y), fmax(b.upper.z, p.z) };
    }
    return b;
}

tsr_status lines_view(const cli_lines *l, const tsr_vector_field *field, tsr_contour_view *view, tsr_camera *camera)
{
    tsr_field_info info = TSR_FIELD_INFO;
    const tsr_projection projection = l->perspective ? TSR_PERSPECTIVE : TSR_ORTHOGRAPHIC;
    const double aspect = (double)l->width / l->height;
    tsr_status status = tsr_field_describe(field, &info);
    if (status != TSR_OK) return status;
    const tsr_box box = box_of(&info);
    const tsr_vec3 middle = { 0.5 * (box.lower.x + box.upper.x), 0.5 * (box.lower.y + box.upper.y), 0.5 * (box.lower.z + box.upper.z) };
    if (!l->view_given && !l->eye_given) status = tsr_camera_orbit(&box, info.geometry.space, l->azimuth, l->elevation, projection, aspect, camera);
    else {
        const tsr_vec3 v = l->view, eye = l->eye_given ? l->eye : (tsr_vec3){ middle.x - v.x, middle.y - v.y, middle.z - v.z };
        const tsr_vec3 target = l->view_given ? (tsr_vec3){ eye.x + v.x, eye.y + v.y, eye.z + v.z } : middle;
        const tsr_vec3 d = { target.x - eye.x, target.y - eye.y, target.z - eye.z };
        const int upright = d.x * d.x + d.y * d.y > 1e-4 * (d.x * d.x + d.y * d.y + d.z * d.z);
        *camera = (tsr_camera){ .projection = projection, .fov = 30 };
        status = tsr_camera_look_at(camera, eye, target, upright ? (tsr_vec3){ 0, 0, 1 } : (tsr_vec3){ 0, 1, 0 });
        if (status == TSR_OK && !l->eye_given) status = tsr_camera_fit(camera, &box, aspect);
    }
    if (status != TSR_OK) return status;
    *view = (tsr_contour_view){ .perspective = l->perspective,
                                .direction = { -camera->rotation[2][0], -camera->rotation[2][1], -camera->rotation[2][2] },
                                .eye = camera->position };
    if (l->view_given && !l->perspective) view->direction = l->view; /* to the last bit */
    return TSR_OK;
}

/* ---- meshes ----------------------------------------------------------------------------------------------------------------------------- */

tsr_status lines_tubes(const cli_lines *l, const tsr_streamlines *lines, const tsr_vector_field *field, int colored, tsr_mesh **tubes)
{
    tsr_tube_options tube = l->tube;
    tsr_mesh *there = NULL;
    tube.colored = colored && !tube.by_direction;
    tube.by_direction = colored && tube.by_direction;
    tsr_status status = tsr_streamlines_tubes(lines, field, &tube, &there);
    if (status == TSR_OK && tsr_mesh_device(there).kind != TSR_DEVICE_CPU) {
        status = tsr_mesh_copy(there, NULL, tubes);
        tsr_mesh_destroy(&there);
    } else *tubes = there;
    return status;
}

tsr_status lines_write_mesh(const cli_lines *l, const tsr_mesh *mesh, const char *path)
{
    tsr_write_options write = cli_write_options(l->cli);
    write.format = NULL;
    write.ascii = l->ascii;
    if (cli_ends_in(path, ".vtk")) return tsr_mesh_write_vtk(mesh, path, &write);
    cli_remark_mesh(l->cli, mesh, path, &write);
    return tsr_mesh_write(mesh, path, &write);
}

/* Lines with speed, curvature, vorticity and length at every point. */
static tsr_status write_lines(const cli_lines *l, const tsr_streamlines *lines, const tsr_vector_field *field)
{
    enum { COUNT = TSR_STREAM_ATTRIBUTES };
    const char *names[COUNT];
    float *values[COUNT] = { NULL };
    const float *given[COUNT];
    tsr_write_options write = cli_write_options(l->cli);
    const int64_t points = tsr_streamlines_point_count(lines);
    tsr_status status = TSR_OK;
    write.format = NULL;
    write.ascii = l->ascii;
    for (int k = 0; k < COUNT && status == TSR_OK && points && !cli_ends_in(l->output, ".obj"); k++) {
        names[k] = tsr_stream_attribute_name((tsr_stream_attribute)k);
        values[k] = (float *)malloc((size_t)points * sizeof(float));
        given[k] = values[k];
        if (!values[k]) return TSR_ERROR_MEMORY;
        status = tsr_streamlines_values(lines, field, (tsr_stream_attribute)k, values[k]);
    }
    if (status == TSR_OK) status = tsr_streamlines_write(lines, names, given, values[0] ? COUNT : 0, l->output, &write);
    for (int k = 0; k < COUNT; k++) free(values[k]);
    return status;
}

tsr_status lines_write(const cli_lines *l, const tsr_streamlines *lines, const tsr_vector_field *field, cli_lines_kind kind)
{
    tsr_mesh *tubes = NULL;
    if (kind == LINES_FILE) return write_lines(l, lines, field);
    tsr_status status = lines_tubes(l, lines, field, l->color_given || cli_ends_in(l->output, ".ply .glb"), &tubes);
    if (status == TSR_OK) status = lines_write_mesh(l, tubes, l->output);
    tsr_mesh_destroy(&tubes);
    return status;
}

/* ---- pictures --------------------------------------------------------------------------------------------------------------------------- */

/* The renderer draws a mesh in one colour: triangles are sorted into colours, each drawn by itself, and the nearest at each pixel is kept. */
enum { BINS = 27, EDGES = 12 };

typedef struct bins {
    float color[BINS + 1][3]; /* the last: edges of the box */
    uint8_t *of;              /* of each triangle */
    int64_t count[BINS + 1];
} bins;

static void bin_colors(const cli_lines *l, bins *b)
{
    for (int k = 0; k < BINS; k++) {
        uint8_t rgb[3];
        tsr_stream_color((k + 0.5) / BINS, rgb);
        for (int c = 0; c < 3; c++) b->color[k][c] = (float)rgb[c] / 255.0f;
        if (!l->tube.by_direction) continue;
        const int level[3] = { k % 3, k / 3 % 3, k / 9 };
        for (int c = 0; c < 3; c++) b->color[k][c] = (60.0f + 90.0f * (float)level[c]) / 255.0f;
    }
}

static tsr_status sort_triangles(bins *b, const tsr_mesh *mesh)
{
    const uint8_t *colors = tsr_mesh_colors_const(mesh);
    const uint32_t *triangles = tsr_mesh_triangles_const(mesh);
    const int64_t count = tsr_mesh_triangle_count(mesh);
    b->of = (uint8_t *)malloc((size_t)(count + 1));
    if (!b->of) return TSR_ERROR_MEMORY;
    for (int64_t t = 0; t < count; t++) {
        float best = INFINITY;
        b->of[t] = BINS / 2;
        for (int k = 0; k < BINS && colors; k++) {
            float far = 0;
            for (int c = 0; c < 3; c++) {
                const float d = (float)colors[4 * (int64_t)triangles[3 * t] + c] / 255.0f - b->color[k][c];
                far += d * d;
            }
            if (far < best) best = far, b->of[t] = (uint8_t)k;
        }
        b->count[b->of[t]]++;
    }
    return TSR_OK;
}

/* The triangles of one colour as a mesh of their own. */
static tsr_status part(const bins *b, const tsr_mesh *mesh, int bin, tsr_mesh **own)
{
    const int64_t vertices = tsr_mesh_vertex_count(mesh);
    uint32_t *number = (uint32_t *)calloc((size_t)(vertices + 1), sizeof *number);
    const uint32_t *triangles = tsr_mesh_triangles_const(mesh);
    int64_t used = 0, to = 0;
    if (!number) return TSR_ERROR_MEMORY;
    for (int64_t t = 0; t < tsr_mesh_triangle_count(mesh); t++)
        for (int c = 0; c < 3 && b->of[t] == bin; c++)
            if (!number[triangles[3 * t + c]]) number[triangles[3 * t + c]] = (uint32_t)++used;
    tsr_status status = tsr_mesh_create(NULL, used, b->count[bin], 1, own);
    for (int64_t t = 0; status == TSR_OK && t < tsr_mesh_triangle_count(mesh); t++) {
        if (b->of[t] != bin) continue;
        for (int c = 0; c < 3; c++) {
            const uint32_t v = triangles[3 * t + c], n = number[v] - 1;
            tsr_mesh_triangles(*own)[3 * to + c] = n;
            memcpy(tsr_mesh_vertices(*own) + 3 * (int64_t)n, tsr_mesh_vertices_const(mesh) + 3 * (int64_t)v, 12);
            memcpy(tsr_mesh_normals(*own) + 3 * (int64_t)n, tsr_mesh_normals_const(mesh) + 3 * (int64_t)v, 12);
        }
        to++;
    }
    free(number);
    return status;
}

/* Twelve thin tubes. */
static tsr_status edges(const tsr_vector_field *field, tsr_mesh **mesh)
{
    static const uint8_t ends[EDGES][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 0, 2 }, { 1, 3 }, { 4, 6 }, { 5, 7 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };
    float points[2 * EDGES][3];
    int64_t offsets[EDGES + 1];
    tsr_field_info info = TSR_FIELD_INFO;
    tsr_context *cpu = NULL;
    tsr_streamlines *lines = NULL;
    tsr_tube_options tube = TSR_TUBE_OPTIONS;
    tsr_mesh *there = NULL;
    const tsr_context_options options = { .struct_size = sizeof options, .device = "cpu" };
    tsr_status status = tsr_field_describe(field, &info);
    if (status == TSR_OK) status = tsr_context_create(&options, &cpu);
    if (status != TSR_OK) return status;
    const tsr_box box = box_of(&info);
    const double size = fmax(box.upper.x - box.lower.x, fmax(box.upper.y - box.lower.y, box.upper.z - box.lower.z));
    for (int k = 0; k < 2 * EDGES; k++) {
        const int corner = ends[k / 2][k % 2];
        const tsr_vec3 p = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ corner & 1 ? (double)(info.size.x - 1) : 0, corner & 2 ? (double)(info.size.y - 1) : 0,
                                                                             corner & 4 ? (double)(info.size.z - 1) : 0 });
        points[k][0] = (float)p.x, points[k][1] = (float)p.y, points[k][2] = (float)p.z;
    }
    for (int k = 0; k <= EDGES; k++) offsets[k] = 2 * k;
    tube.radius = 0.0018 * size;
    tube.caps = 1;
    status = tsr_streamlines_create(cpu, &points[0][0], offsets, EDGES, &lines);
    if (status == TSR_OK) status = tsr_streamlines_tubes(lines, NULL, &tube, &there);
    if (status == TSR_OK) status = tsr_mesh_copy(there, NULL, mesh);
    tsr_mesh_destroy(&there);
    tsr_streamlines_destroy(&lines);
    tsr_context_destroy(&cpu);
    return status;
}

static double linear(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }
static uint8_t srgb(double v)
{
    v = v <= 0 ? 0 : v >= 1 ? 1 : v;
    return (uint8_t)(255 * (v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055) + 0.5);
}

typedef struct canvas {
    int32_t width, height; /* twice those of the picture */
    float *rgba, *depth, *own_rgba, *own_depth;
    tsr_picture *picture;
} canvas;

static tsr_status draw(canvas *c, tsr_context *context, const tsr_mesh *mesh, const float color[3], const tsr_camera *camera)
{
    tsr_scene *scene = NULL;
    tsr_render_options o = TSR_RENDER_OPTIONS;
    o.mode = TSR_RENDER_SURFACE;
    o.transparent = 1;
    o.surface_color = (tsr_color){ color[0], color[1], color[2] };
    o.given = TSR_GIVEN_SURFACE_COLOR;
    o.ambient_occlusion = -1;
    o.specular = 0.3;
    tsr_status status = tsr_scene_create(context, &scene);
    if (status == TSR_OK) status = tsr_scene_set_surface_mesh(scene, mesh);
    if (status == TSR_OK) status = tsr_render(scene, camera, &o, c->picture);
    if (status == TSR_OK) status = tsr_picture_download(c->picture, c->own_rgba, c->own_depth);
    for (int64_t k = 0; status == TSR_OK && k < (int64_t)c->width * c->height; k++)
        if (c->own_depth[k] < c->depth[k]) {
            c->depth[k] = c->own_depth[k];
            memcpy(c->rgba + 4 * k, c->own_rgba + 4 * k, 16);
        }
    tsr_scene_destroy(&scene);
    return status;
}

static tsr_status halve(const cli_lines *l, const canvas *c, tsr_image *image)
{
    tsr_status status = tsr_image_create(l->width, l->height, 3, image);
    for (int32_t y = 0; status == TSR_OK && y < l->height; y++)
        for (int32_t x = 0; x < l->width; x++)
            for (int channel = 0; channel < 3; channel++) {
                double sum = 0;
                for (int k = 0; k < 4; k++) {
                    const int64_t at = (int64_t)(2 * y + k / 2) * c->width + 2 * x + k % 2;
                    sum += (double)c->rgba[4 * at + channel] + (1 - (double)c->rgba[4 * at + 3]) * linear((double)l->background[channel]);
                }
                image->pixels[((int64_t)y * l->width + x) * 3 + channel] = srgb(sum / 4);
            }
    return status;
}

tsr_status lines_picture(const cli_lines *l, tsr_context *context, const tsr_vector_field *field, const tsr_mesh *mesh, const tsr_camera *camera, tsr_image *image)
{
    static const float grey[3] = { 0.45f, 0.47f, 0.5f };
    canvas c = { .width = 2 * l->width, .height = 2 * l->height };
    bins b = { .of = NULL };
    const size_t pixels = (size_t)c.width * (size_t)c.height;
    tsr_mesh *own = NULL;
    bin_colors(l, &b);
    float *memory = (float *)malloc(pixels * 10 * sizeof(float));
    if (!memory) return TSR_ERROR_MEMORY;
    c.rgba = memory, c.own_rgba = memory + 4 * pixels, c.depth = memory + 8 * pixels, c.own_depth = memory + 9 * pixels;
    for (size_t k = 0; k < pixels; k++) c.depth[k] = INFINITY;
    memset(c.rgba, 0, pixels * 16);
    tsr_status status = tsr_picture_create(context, c.width, c.height, &c.picture);
    if (status == TSR_OK) status = sort_triangles(&b, mesh);
    for (int k = 0; k < BINS && status == TSR_OK; k++) {
        if (!b.count[k]) continue;
        status = part(&b, mesh, k, &own);
        if (status == TSR_OK) status = draw(&c, context, own, b.color[k], camera);
        tsr_mesh_destroy(&own);
    }
    if (l->box && status == TSR_OK) {
        status = edges(field, &own);
        if (status == TSR_OK) status = draw(&c, context, own, grey, camera);
        tsr_mesh_destroy(&own);
    }
    if (status == TSR_OK) status = halve(l, &c, image);
    tsr_picture_destroy(&c.picture);
    free(b.of);
    free(memory);
    return status;
}
