#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "labels.h"
#include "lists.h"
#include "tiles.h"

struct surface {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    tsr_surface_options options;
    cli_reals isovalues; /* at least one once the volume is known */
    int64_t planes, chunk;
    int unindexed, weld, gather, gather_given;
    const char *output, *values, *labels, *label_names;
    int all_labels; /* the volume is a label map: what is not 0 is inside */
    int of_tiles, settled;
    int inside_given, direction_given, eye_given, ambiguity_given;
    tsr_surface_view view;
    tsr_geometry geometry; /* of the input, without */
    tsr_vec3 origin;       /* its place, where it lies far off */
    double seconds;        /* of the extraction alone */
    tsr_mesh *mesh[64];
    tsr_surface_report report[64];
};

static void show(const struct surface *s, int k, const tsr_mesh_measures *m)
{
    const tsr_mesh *mesh = s->mesh[k];
    const tsr_surface_report *report = &s->report[k];
    const double isovalue = s->isovalues.item[k];
    if (s->cli->globals.json) {
        json_open(NULL, '{');
        json_text("input", s->cli->input[0]);
        json_real("isovalue", isovalue);
        json_int("vertices", tsr_mesh_vertex_count(mesh));
        json_int("triangles", tsr_mesh_triangle_count(mesh));
        json_real("area", m->area);
        json_real("volume", m->volume);
        cli_show_topology(s->cli, m, "");
        json_int("cells", report->cells);
        json_int("not_a_number", report->not_a_number);
        json_real("seconds", s->seconds);
        json_close('}');
        return;
    }
    printf("isovalue     %.9g, inside %s\n", isovalue, s->options.inside == TSR_SURFACE_INSIDE_BELOW ? "below" : "above");
    printf("mesh         %lld vertices, %lld triangles\n", (long long)tsr_mesh_vertex_count(mesh), (long long)tsr_mesh_triangle_count(mesh));
    printf("measures     area %.9g, volume %.9g\n", m->area, m->volume);
    cli_show_topology(s->cli, m, "");
    printf("time         %.3f s for %lld cells\n", s->seconds, (long long)report->cells);
}

/* Planes of a volume that the system reads from its file as they are asked for. */
static tsr_status planes_of(void *user, int64_t begin, int64_t end, void *samples)
{
    const tsr_volume *volume = (const tsr_volume *)user;
    tsr_size3 n = tsr_volume_size(volume);
    size_t plane = (size_t)(n.x * n.y) * tsr_dtype_size(tsr_volume_dtype(volume));
    memcpy(samples, (const char *)tsr_volume_data_const(volume) + (size_t)begin * plane, (size_t)(end - begin) * plane);
    return TSR_OK;
}

static tsr_status extract_slabs(struct surface *s, tsr_context *context, tsr_volume *volume)
{
    tsr_planes_source source = TSR_PLANES_SOURCE;
    source.size = tsr_volume_size(volume);
    source.dtype = tsr_volume_dtype(volume);
    tsr_volume_scaling(volume, &source.slope, &source.intercept);
    source.geometry = tsr_volume_geometry(volume);
    source.planes = planes_of;
    source.user = volume;
    for (int k = 0; k < s->isovalues.count; k++) {
        tsr_surface_options options = s->options;
        options.isovalue = s->isovalues.item[k];
        tsr_status status = tsr_surface_extract_source(context, &source, &options, s->planes, &s->mesh[k], &s->report[k]);
        if (status != TSR_OK) return status;
    }
    return TSR_OK;
}

/* A file whose voxels are more than --memory-limit is cut as it is read, a slab of an eighth of the limit at a time; the mesh is that of the whole. *streamed: it was. */
static int extract_file(struct surface *s, tsr_context *context, int *streamed, tsr_status *status)
{
    const char *path = s->cli->input[0];
    tsr_planes *planes = NULL;
    tsr_planes_info info = TSR_PLANES_INFO;
    *streamed = 0;
    const int code = s->gather_given ? CLI_OK : cli_open_planes(s->cli, path, &s->read, &info, &planes);
    if (code || !planes) return code;
    *streamed = 1;
    const int64_t plane = info.size.x * info.size.y * (int64_t)tsr_dtype_size(info.dtype);
    if (!s->isovalues.count) {
        tsr_planes_close(&planes);
        return cli_usage(s->cli, "--isovalue: missing, %s is larger than --memory-limit and is not looked through for one", path);
    }
    if (!s->planes) s->planes = s->read.memory_limit / 8 / plane + 1;
    s->origin = cli_far_origin(&info.geometry);
    info.geometry.affine[0][3] -= s->origin.x;
    info.geometry.affine[1][3] -= s->origin.y;
    info.geometry.affine[2][3] -= s->origin.z;
    s->geometry = info.geometry;
    tsr_planes_source source = TSR_PLANES_SOURCE;
    *status = tsr_planes_as_source(planes, &source);
    source.geometry = &info.geometry;
    const double start = cli_seconds();
    for (int k = 0; k < s->isovalues.count && *status == TSR_OK; k++) {
        tsr_surface_options options = s->options;
        options.isovalue = s->isovalues.item[k];
        *status = tsr_surface_extract_source(context, &source, &options, s->planes, &s->mesh[k], &s->report[k]);
    }
    s->seconds = cli_seconds() - start;
    tsr_planes_close(&planes);
    return CLI_OK;
}

/* Triangles in chunks: to the host as they come, so that the device never holds all of them. */
struct collected {
    tsr_mesh *mesh;
    tsr_progress progress;
};
static tsr_status collect(void *user, const tsr_mesh *chunk, int64_t first, int64_t total)
{
    struct collected *c = (struct collected *)user;
    tsr_mesh *part = NULL;
    if (c->progress.report(c->progress.user, (double)first / (double)total, "surface")) return TSR_ERROR_CANCELLED;
    const int normals = tsr_mesh_normals_const(chunk) != NULL;
    const size_t count = (size_t)tsr_mesh_triangle_count(chunk);
    tsr_status status = c->mesh ? TSR_OK : tsr_mesh_create(NULL, 3 * total, total, normals, &c->mesh);
    if (status == TSR_OK) status = tsr_mesh_copy(chunk, NULL, &part);
    if (status == TSR_OK) {
        tsr_mesh_set_space(c->mesh, tsr_mesh_space(chunk));
        memcpy(tsr_mesh_vertices(c->mesh) + 9 * first, tsr_mesh_vertices(part), count * 9 * sizeof(float));
        if (normals) memcpy(tsr_mesh_normals(c->mesh) + 9 * first, tsr_mesh_normals(part), count * 9 * sizeof(float));
        for (size_t k = 0; k < 3 * count; k++) tsr_mesh_triangles(c->mesh)[3 * first + (int64_t)k] = (uint32_t)(3 * first + (int64_t)k);
    }
    tsr_mesh_destroy(&part);
    return status;
}
static tsr_status extract_chunks(struct surface *s, tsr_context *context, const tsr_volume *volume, int k)
{
    struct collected c = { .progress = cli_progress(s->cli) };
    tsr_status status = tsr_surface_expand(context, volume, &s->options, (tsr_surface_gather)s->gather, s->chunk, collect, &c, &s->report[k]);
    if (status == TSR_OK && !c.mesh) status = tsr_mesh_create(NULL, 0, 0, 0, &c.mesh);
    if (status != TSR_OK) tsr_mesh_destroy(&c.mesh);
    s->mesh[k] = c.mesh;
    return status;
}

static void defaults(struct surface *s, const tsr_volume *volume)
{
    int below;
    double isovalue;
    cli_default_surface(volume, &isovalue, &below);
    if (s->isovalues.count) return;
    s->all_labels = !s->planes && !s->inside_given && cli_is_label_map(volume);
    if (s->all_labels) cli_note(s->cli, "%s: a label map: one surface round all labels together; --labels all gives each its own", s->cli->input[0]);
    s->isovalues = (cli_reals){ { isovalue }, 1 };
    if (!s->inside_given) s->options.inside = below ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
}

static tsr_status extract(struct surface *s, tsr_context *context, tsr_volume **volume)
{
    defaults(s, *volume);
    s->origin = cli_take_origin(*volume);
    s->view.eye = (tsr_vec3){ s->view.eye.x - s->origin.x, s->view.eye.y - s->origin.y, s->view.eye.z - s->origin.z };
    s->geometry = *tsr_volume_geometry(*volume);
    double slope, intercept;
    tsr_volume_scaling(*volume, &slope, &intercept);
    s->settled = !s->planes && !s->gather_given && s->options.inside == TSR_SURFACE_INSIDE_BELOW && s->isovalues.count == 1 &&
                 s->isovalues.item[0] == 0 && tsr_volume_dtype(*volume) == TSR_F32 && slope == 1 &&
                 intercept == 0; /* a level set: bodies on voxels keep their edges */
    tsr_status status = s->settled ? tsr_volume_settle(*volume, NULL) : TSR_OK;
    if (status == TSR_OK && !s->planes) status = cli_move_volume(context, volume);
    if (status == TSR_OK && s->all_labels) {
        tsr_volume *mask = NULL;
        status = tsr_volume_threshold_integers(context, *volume, 1, tsr_volume_dtype(*volume) == TSR_U64 ? -1 : INT64_MAX, &mask);
        if (status == TSR_OK) {
            tsr_volume_destroy(volume);
            *volume = mask;
        }
    }
    double start = cli_seconds();
    if (status == TSR_OK && s->gather_given)
        for (int k = 0; k < s->isovalues.count && status == TSR_OK; k++) {
            s->options.isovalue = s->isovalues.item[k];
            status = s->chunk
                         ? extract_chunks(s, context, *volume, k)
                         : tsr_surface_extract_triangles(context, *volume, &s->options, (tsr_surface_gather)s->gather, &s->mesh[k], &s->report[k]);
        }
    else if (status == TSR_OK)
        status = s->planes ? extract_slabs(s, context, *volume)
                           : tsr_surface_extract_several(context, *volume, &s->options, s->isovalues.item, s->isovalues.count, s->mesh, s->report);
    s->seconds = cli_seconds() - start;
    return status;
}

/* The same from a tile list, whose cells are those of the stored tiles. */
static tsr_status extract_tiles(struct surface *s, tsr_context *context, const tsr_tiles *tiles)
{
    tsr_status status = TSR_OK;
    if (!s->isovalues.count) s->isovalues.count = 1;
    s->options.inside = TSR_SURFACE_INSIDE_BELOW;
    s->of_tiles = 1;
    s->geometry = *tsr_tiles_geometry(tiles);
    const tsr_vec3 far = cli_far_origin(&s->geometry); /* the mesh counts from there, and so does what looks at it */
    s->geometry.affine[0][3] -= far.x;
    s->geometry.affine[1][3] -= far.y;
    s->geometry.affine[2][3] -= far.z;
    s->view.eye = (tsr_vec3){ s->view.eye.x - far.x, s->view.eye.y - far.y, s->view.eye.z - far.z };
    double start = cli_seconds();
    for (int k = 0; k < s->isovalues.count && status == TSR_OK; k++) {
        s->options.isovalue = s->isovalues.item[k];
        status = cli_surface_of_list(context, tiles, &s->options, &s->mesh[k], &s->report[k]);
    }
    s->seconds = cli_seconds() - start;
    return status;
}

/* Marching tetrahedra in an unstructured grid. */
static tsr_status extract_unstructured(struct surface *s, tsr_context *context, const tsr_unstructured *read)
{
    tsr_unstructured *grid = NULL;
    tsr_status status = tsr_unstructured_copy(read, context, &grid);
    if (!s->isovalues.count) s->isovalues.count = 1;
    s->geometry = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    double start = cli_seconds();
    for (int k = 0; k < s->isovalues.count && status == TSR_OK; k++) {
        s->options.isovalue = s->isovalues.item[k];
        status = tsr_surface_extract_unstructured(context, grid, &s->options, &s->mesh[k], &s->report[k]);
    }
    s->seconds = cli_seconds() - start;
    tsr_unstructured_destroy(&grid);
    return status;
}

/* To the host, in the order of a view and without an index if asked. */
static tsr_status bring(struct surface *s, tsr_context *context, int k)
{
    tsr_mesh *made = s->mesh[k], *soup = NULL;
    tsr_status status = TSR_OK;
    s->mesh[k] = NULL;
    const int ordered = s->direction_given || s->eye_given;
    if (s->of_tiles) s->origin = tsr_mesh_origin(made);
    if (((s->planes || s->of_tiles) && (s->unindexed || ordered)) || (s->chunk && ordered)) { /* made on the host */
        status = tsr_mesh_copy(made, context, &soup);
        tsr_mesh_destroy(&made);
        made = soup;
        soup = NULL;
    }
    if (status == TSR_OK && ordered) status = tsr_surface_order(context, made, &s->geometry, &s->view);
    if (status == TSR_OK && s->unindexed && (!s->gather_given || ordered)) status = tsr_surface_unindex(context, made, &soup);
    if (soup) {
        tsr_mesh_destroy(&made);
        made = soup;
    }
    if (status == TSR_OK) status = cli_bring_mesh(&made);
    if (status == TSR_OK) s->mesh[k] = made;
    else tsr_mesh_destroy(&made);
    if (status == TSR_OK && s->settled && !s->unindexed) status = cli_contract(&s->mesh[k]);
    if (status == TSR_OK && s->weld) status = cli_weld(&s->mesh[k]);
    if (status == TSR_OK) tsr_mesh_set_origin(s->mesh[k], s->origin);
    return status;
}

/* One value: the output. Several: each has a file of its own, NAME-VALUE.EXTENSION, the values with the digits that tell them apart. Returns 0 if the
 * path is too long. */
static int path_of(const struct surface *s, int k, char path[4096])
{
    char value[40], other[40];
    int digits = 6;
    for (int j = 0; j < s->isovalues.count && digits < 17; j++) {
        snprintf(value, sizeof value, "%.*g", digits, s->isovalues.item[k]);
        snprintf(other, sizeof other, "%.*g", digits, s->isovalues.item[j]);
        if (j != k && !strcmp(value, other)) digits = 17;
    }
    snprintf(value, sizeof value, "%.*g", digits, s->isovalues.item[k]);
    const char *dot = strrchr(s->output, '.'), *slash = strrchr(s->output, '/');
    if (!dot || (slash && slash > dot)) dot = s->output + strlen(s->output);
    int length = s->isovalues.count == 1 ? snprintf(path, 4096, "%s", s->output)
                                         : snprintf(path, 4096, "%.*s-%s%s", (int)(dot - s->output), s->output, value, dot);
    return length > 0 && length < 4096;
}

static int write(struct surface *s, int k)
{
    char path[4096];
    tsr_mesh_measures measures = TSR_MESH_MEASURES;
    if (!path_of(s, k, path)) return cli_error(s->cli, CLI_FAILED, "--output: '%s' is too long", s->output);
    tsr_status status = tsr_mesh_measure(s->mesh[k], &measures);
    if (status == TSR_OK) status = tsr_mesh_write(s->mesh[k], path, &s->write);
    if (status != TSR_OK) return cli_status(s->cli, status, path);
    cli_remark_mesh(s->cli, s->mesh[k], path, &s->write);
    if (strcmp(path, "-") != 0) show(s, k, &measures);
    return CLI_OK;
}

/* Nothing crosses the value: which values there are, and what could be meant. */
static int no_surface(const struct surface *s, tsr_context *context, const tsr_volume *volume, double isovalue)
{
    const char *input = s->cli->input[0];
    tsr_statistics t = TSR_STATISTICS;
    tsr_context *cpu = NULL;
    if (s->planes && cli_cpu_context(s->cli, &cpu)) return CLI_FAILED; /* the volume stayed on the host */
    const int known = volume && tsr_volume_statistics(cpu ? cpu : context, volume, &t) == TSR_OK && t.count;
    tsr_context_destroy(&cpu);
    if (!known) return cli_error(s->cli, CLI_FAILED, "%s: no surface at isovalue %g: see tessera info --stats", input, isovalue);
    if (t.minimum == t.maximum)
        return cli_error(s->cli, CLI_FAILED, "%s: no surface at isovalue %g: all values are %.9g%s", input, isovalue, t.minimum,
                         s->options.close ? "" : "; --close caps a body that fills the volume");
    return cli_error(s->cli, CLI_FAILED, "%s: no surface at isovalue %g: the values are %.9g to %.9g, for example --isovalue %.9g", input, isovalue,
                     t.minimum, t.maximum, 0.5 * (t.minimum + t.maximum));
}

static int surface(struct surface *s)
{
    tsr_context *context = NULL;
    tsr_status status = TSR_OK;
    int code = cli_context(s->cli, &context);
    if (code) return code;
    tsr_file_kind kind;
    const char *format;
    tsr_volume *volume = NULL;
    tsr_tiles *tiles = NULL;
    tsr_unstructured *grid = NULL;
    code = cli_recognise(s->cli, s->cli->input[0], &s->read, &kind, &format);
    if (!code && kind == TSR_FILE_POINTS && (!strcmp(format, "vtu") || !strcmp(format, "vts"))) kind = TSR_FILE_UNSTRUCTURED; /* their cells */
    if (!code && s->values && kind != TSR_FILE_UNSTRUCTURED) code = cli_usage(s->cli, "--values: '%s' is no unstructured grid", s->cli->input[0]);
    if (!code && kind == TSR_FILE_UNSTRUCTURED) {
        if (s->planes || s->gather_given || s->direction_given || s->eye_given || s->ambiguity_given || s->read.raw_shape.x)
            code = cli_usage(s->cli, "--%s: '%s' is an unstructured grid, expected a volume",
                             s->planes            ? "planes"
                             : s->gather_given    ? "gather"
                             : s->eye_given       ? "eye"
                             : s->direction_given ? "direction"
                             : s->ambiguity_given ? "ambiguity"
                                                  : "raw-shape",
                             s->cli->input[0]);
        else {
            status = tsr_unstructured_read(s->cli->input[0], &s->read, s->values, &grid);
            cli_progress_pause();
            if (status == TSR_OK) status = extract_unstructured(s, context, grid);
        }
    } else if (!code && kind == TSR_FILE_TILES) {
        tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
        read.memory_limit = s->read.memory_limit;
        read.grid = s->read.dataset;
        if (s->planes || s->gather_given)
            code = cli_usage(s->cli, "--%s: '%s' is a tile list, expected a volume", s->planes ? "planes" : "gather", s->cli->input[0]);
        else tiles = cli_read_tiles(s->cli, context, s->cli->input[0], &read, NULL, &code);
        if (tiles) status = extract_tiles(s, context, tiles);
    } else if (!code) {
        int streamed = 0;
        code = extract_file(s, context, &streamed, &status);
        if (!code && !streamed) volume = cli_read_volume(s->cli, s->cli->input[0], &s->read, &code);
        if (volume) cli_note_unit(s->cli, s->cli->input[0], volume, s->output ? s->output : "a mesh");
        if (volume) status = extract(s, context, &volume);
    }
    for (int k = 0; k < s->isovalues.count && !code && status == TSR_OK; k++) status = bring(s, context, k);
    if (!code && status != TSR_OK) code = cli_status(s->cli, status, s->cli->input[0]);
    if (!code && s->report[0].not_a_number)
        cli_note(s->cli, "%lld samples are not a number and count as outside", (long long)s->report[0].not_a_number);
    for (int k = 0; k < s->isovalues.count && !code; k++)
        if (!tsr_mesh_triangle_count(s->mesh[k])) code = no_surface(s, context, volume, s->isovalues.item[k]);
    if (s->isovalues.count > 1 && s->cli->globals.json && !code) json_open(NULL, '[');
    for (int k = 0; k < s->isovalues.count && !code; k++) code = write(s, k);
    if (s->isovalues.count > 1 && s->cli->globals.json && !code) json_close(']');
    for (int k = 0; k < s->isovalues.count; k++) tsr_mesh_destroy(&s->mesh[k]);
    tsr_unstructured_destroy(&grid);
    tsr_tiles_destroy(&tiles);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct surface s = { .cli = cli, .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS, .options = TSR_SURFACE_OPTIONS, .view = TSR_SURFACE_VIEW };
    for (int k = 0; k < 64; k++) s.report[k].struct_size = sizeof s.report[k];
    int inside = 0, normals = 0, ambiguity = 0, nan = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(s.output),
        { .name = "isovalue",
          .type = CLI_REALS,
          .value = &s.isovalues,
          .argument = "V",
          .help =
              "value of the surface (default: halfway between the two values of a mask; else 0 for real numbers, 0.5 for integers); given several "
              "times, each writes FILE with -V before the extension" },
        { .name = "inside",
          .type = CLI_CHOICE,
          .value = &inside,
          .argument = "SIDE",
          .help = "values of the inside; without --isovalue: below for real numbers (level sets), above for integers (masks)",
          .choices = "above below",
          .given = &s.inside_given },
        { .name = "normals",
          .type = CLI_CHOICE,
          .value = &normals,
          .argument = "WAY",
          .help = "of the vertices",
          .choices = "none forward central trilinear" },
        { .name = "ambiguity",
          .type = CLI_CHOICE,
          .value = &ambiguity,
          .argument = "WAY",
          .help = "which corners of an ambiguous face are separated; decide: by the value at the saddle of the face",
          .choices = "inside outside decide",
          .given = &s.ambiguity_given },
        { .name = "midpoints", .type = CLI_FLAG, .value = &s.options.midpoints, .help = "vertices in the middle of the cut edges" },
        { .name = "nan",
          .type = CLI_CHOICE,
          .value = &nan,
          .argument = "WAY",
          .help = "samples that are not a number: they lie outside and are counted, or the surface fails",
          .choices = "outside fail" },
        { .name = "values",
          .type = CLI_TEXT,
          .value = &s.values,
          .argument = "NAME",
          .help = "of an unstructured grid: the array of point data (default: the first)" },
        { .name = "weld", .type = CLI_FLAG, .value = &s.weld, .help = "vertices at the same place become one, triangles without area go" },
        { .name = "unindexed", .type = CLI_FLAG, .value = &s.unindexed, .help = "three vertices of its own for every triangle" },
        { .name = "gather",
          .type = CLI_CHOICE,
          .value = &s.gather,
          .argument = "WAY",
          .help = "of --unindexed: without an index in between, each vertex, triangle or cell found in a HistoPyramid, by expansion of its tiles, or "
                  "by scan and "
                  "scatter: the same triangles",
          .choices = "vertex triangle cell tile scatter",
          .given = &s.gather_given },
        { .name = "chunk",
          .type = CLI_COUNT,
          .value = &s.chunk,
          .argument = "N",
          .lower = 1,
          .upper = 1e9,
          .help = "of --gather vertex, triangle or tile: N triangles at a time, expanded as they are taken; the device never holds more" },
        { .name = "direction",
          .type = CLI_VEC3,
          .value = &s.view.direction,
          .help = "triangles in the order of a view along this direction (world coordinates), the farthest first",
          .lower = -1e300,
          .upper = 1e300,
          .given = &s.direction_given },
        { .name = "eye",
          .type = CLI_VEC3,
          .value = &s.view.eye,
          .help = "or: as seen from this place",
          .lower = -1e300,
          .upper = 1e300,
          .given = &s.eye_given },
        { .name = "nearest-first", .type = CLI_FLAG, .value = &s.view.nearest_first, .help = "of --direction or --eye: the nearest triangles first" },
        { .name = "labels",
          .type = CLI_TEXT,
          .value = &s.labels,
          .argument = "L,...",
          .help = "of a label map: a surface for each of these labels (numbers or names), or for all; into FILE with its parts (OBJ groups, a face "
                  "property "
                  "of PLY), or, with %d (number) or %s (name) in FILE, into a file for each" },
        CLI_LABEL_NAMES_OPTION(s.label_names),
        { .name = "planes",
          .type = CLI_COUNT,
          .value = &s.planes,
          .argument = "N",
          .lower = 1,
          .upper = 1e9,
          .help = "work by slabs of N planes: a volume larger than the device's memory" },
        { .name = "close", .type = CLI_FLAG, .value = &s.options.close, .help = "cap the surface where it leaves the volume" },
        { .name = "format", .type = CLI_TEXT, .value = &s.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { .name = "ascii", .type = CLI_FLAG, .value = &s.write.ascii, .help = "text variant of PLY and STL" },
        CLI_READ_OPTIONS_LIMIT(s.read, "refuse larger files; with --isovalue a larger volume is cut slab by slab as it is read"),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (s.direction_given && s.eye_given) return cli_usage(cli, "--direction: given beside --eye, expected one of them");
    if (s.view.nearest_first && !s.direction_given && !s.eye_given) return cli_usage(cli, "--nearest-first: needs --direction or --eye");
    if (s.direction_given && s.view.direction.x == 0 && s.view.direction.y == 0 && s.view.direction.z == 0)
        return cli_usage(cli, "--direction: 0,0,0 given, expected a direction");
    if (s.weld && s.unindexed) return cli_usage(cli, "--weld: given beside --unindexed, expected one of them");
    if (s.gather_given && !s.unindexed) return cli_usage(cli, "--gather: needs --unindexed");
    if (s.chunk && (!s.gather_given || s.gather == TSR_SURFACE_GATHER_CELL || s.gather == TSR_SURFACE_SCATTER))
        return cli_usage(cli, "--chunk: needs --gather vertex, triangle or tile");
    if (s.gather_given && s.planes) return cli_usage(cli, "--gather: given beside --planes, expected one of them");
    const char *beside = s.isovalues.count   ? "isovalue"
                         : s.inside_given    ? "inside"
                         : s.gather_given    ? "gather"
                         : s.planes          ? "planes"
                         : s.direction_given ? "direction"
                         : s.eye_given       ? "eye"
                         : s.values          ? "values"
                                             : NULL;
    if (s.labels && beside) return cli_usage(cli, "--%s: given beside --labels, expected one of them", beside);
    if (s.label_names && !s.labels) return cli_usage(cli, "--label-names: needs --labels");
    s.options.normals = (tsr_surface_normals)normals;
    s.options.ambiguity = (tsr_surface_ambiguity)ambiguity;
    s.options.nan = (tsr_surface_nan)nan;
    if (s.labels) {
        const int several = s.output && (strstr(s.output, "%d") != NULL) + (strstr(s.output, "%s") != NULL);
        code = s.output && several ? CLI_OK : cli_check_write(cli, s.output, TSR_FILE_MESH, s.write.format);
        if (code) return code;
        s.write.overwrite = cli->globals.force;
        s.write.progress = cli_progress(cli);
        return cli_extract_labels(
            &(cli_surface_labels){ cli, &s.read, &s.write, &s.options, s.labels, s.label_names, s.output, s.unindexed, s.weld });
    }
    s.view.perspective = s.eye_given;
    code = cli_check_write(cli, s.output, TSR_FILE_MESH, s.write.format);
    if (code) return code;
    if (s.isovalues.count > 1 && !strcmp(s.output, "-"))
        return cli_usage(cli, "--isovalue: given %d times, expected once with --output -", s.isovalues.count);
    struct stat info;
    if (s.isovalues.count > 1 && stat(s.output, &info) == 0 && !S_ISREG(info.st_mode))
        return cli_usage(cli, "--isovalue: given %d times, expected once: '%s' is a pipe or device, and each value has a file of its own",
                         s.isovalues.count, s.output);
    for (int k = 0; k < s.isovalues.count && s.isovalues.count > 1; k++) {
        char path[4096];
        for (int j = 0; j < k; j++)
            if (s.isovalues.item[j] == s.isovalues.item[k]) return cli_usage(cli, "--isovalue: %g is given twice", s.isovalues.item[k]);
        if (!path_of(&s, k, path)) return cli_usage(cli, "--output: '%s' is too long", s.output);
        code = cli_check_write(cli, path, TSR_FILE_MESH, s.write.format);
        if (code) return code;
    }
    s.options.inside = (tsr_surface_inside)inside;
    s.write.overwrite = cli->globals.force;
    s.write.progress = cli_progress(cli);
    return surface(&s);
}

const cli_verb verb_surface = { "surface", "[options] VOLUME|TILES|GRID -o MESH",
                                "Extract the surface of a volume, level set, mask or unstructured grid as a triangle mesh",
                                "  tessera make torus -o torus.nii.gz\n"
                                "  tessera surface torus.nii.gz -o torus.ply\n"
                                "  tessera make phantom_liver --size 64 -o liver.nii.gz --truth labels.nii.gz\n"
                                "  tessera surface labels.nii.gz --labels all -o part-%d.ply\n",
                                run };
