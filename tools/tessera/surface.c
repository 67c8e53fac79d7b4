#include <string.h>

#include "tiles.h"

struct surface {
    cli_call *cli;
    tsr_read_options read;
    tsr_write_options write;
    tsr_surface_options options;
    const char *output;
    int isovalue_given, inside_given;
    double seconds; /* of the extraction alone */
};

static void show(const struct surface *s, const tsr_mesh *mesh, const tsr_mesh_measures *m, const tsr_surface_report *report)
{
    if (s->cli->globals.json) {
        json_open(NULL, '{');
        json_text("input", s->cli->input[0]);
        json_real("isovalue", s->options.isovalue);
        json_int("vertices", tsr_mesh_vertex_count(mesh));
        json_int("triangles", tsr_mesh_triangle_count(mesh));
        json_real("area", m->area);
        json_real("volume", m->volume);
        json_int("euler", m->euler);
        json_int("components", m->components);
        json_int("boundary_edges", m->boundary_edges);
        json_int("cells", report->cells);
        json_int("not_a_number", report->not_a_number);
        json_real("seconds", s->seconds);
        json_close('}');
        return;
    }
    printf("isovalue     %.9g, inside %s\n", s->options.isovalue, s->options.inside == TSR_SURFACE_INSIDE_BELOW ? "below" : "above");
    printf("mesh         %lld vertices, %lld triangles\n", (long long)tsr_mesh_vertex_count(mesh), (long long)tsr_mesh_triangle_count(mesh));
    printf("measures     area %.9g, volume %.9g\n", m->area, m->volume);
    printf("topology     %lld pieces, Euler characteristic %lld, %lld boundary edges\n", (long long)m->components, (long long)m->euler,
           (long long)m->boundary_edges);
    printf("time         %.3f s for %lld cells\n", s->seconds, (long long)report->cells);
}

static tsr_status extract(struct surface *s, tsr_context *context, const tsr_volume *volume, tsr_mesh **mesh, tsr_surface_report *report)
{
    int below;
    double isovalue;
    cli_default_surface(volume, &isovalue, &below);
    if (!s->isovalue_given) {
        s->options.isovalue = isovalue;
        if (!s->inside_given) s->options.inside = below ? TSR_SURFACE_INSIDE_BELOW : TSR_SURFACE_INSIDE_ABOVE;
    }
    tsr_mesh *made = NULL;
    double start = cli_seconds();
    tsr_status status = tsr_surface_extract(context, volume, &s->options, &made, report);
    s->seconds = cli_seconds() - start;
    if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, mesh);
    tsr_mesh_destroy(&made);
    return status;
}

/* The same from a tile list, whose cells are those of the stored tiles. */
static int surface_of_tiles(struct surface *s, tsr_context *context, tsr_mesh **mesh, tsr_surface_report *report)
{
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    tsr_mesh *made = NULL;
    int code = CLI_OK;
    read.memory_limit = s->read.memory_limit;
    tsr_tiles *tiles = cli_read_tiles(s->cli, context, s->cli->input[0], &read, NULL, &code);
    if (!tiles) return code;
    double start = cli_seconds();
    s->options.inside = TSR_SURFACE_INSIDE_BELOW;
    tsr_status status = tsr_surface_extract_tiles(context, tiles, &s->options, &made, report);
    s->seconds = cli_seconds() - start;
    if (status == TSR_OK) status = tsr_mesh_copy(made, NULL, mesh);
    tsr_mesh_destroy(&made);
    tsr_tiles_destroy(&tiles);
    return status == TSR_OK ? CLI_OK : cli_status(s->cli, status, s->cli->input[0]);
}

static int surface(struct surface *s)
{
    tsr_context *context = NULL;
    tsr_mesh *mesh = NULL;
    tsr_surface_report report = { 0 };
    tsr_mesh_measures measures;
    int code = cli_context(s->cli, &context);
    if (code) return code;
    tsr_file_kind kind;
    const char *format;
    tsr_volume *volume = NULL;
    code = cli_recognise(s->cli, s->cli->input[0], &s->read, &kind, &format);
    if (!code && kind == TSR_FILE_TILES) {
        code = surface_of_tiles(s, context, &mesh, &report);
        if (!code && tsr_mesh_measure(mesh, &measures) != TSR_OK) code = cli_status(s->cli, TSR_ERROR_STATE, s->cli->input[0]);
    } else if (!code) {
        volume = cli_read_volume(s->cli, s->cli->input[0], &s->read, &code);
    }
    if (volume) {
        tsr_status status = cli_move_volume(context, &volume);
        if (status == TSR_OK) status = extract(s, context, volume, &mesh, &report);
        if (status == TSR_OK) status = tsr_mesh_measure(mesh, &measures);
        if (status != TSR_OK) code = cli_status(s->cli, status, s->cli->input[0]);
    }
    if (!code && report.not_a_number) cli_note(s->cli, "%lld samples are not a number and count as outside", (long long)report.not_a_number);
    if (!code && !tsr_mesh_triangle_count(mesh))
        code = cli_error(s->cli, CLI_FAILED, "%s: no surface at isovalue %g: see tessera info --stats", s->cli->input[0], s->options.isovalue);
    if (!code) {
        tsr_status status = tsr_mesh_write(mesh, s->output, &s->write);
        if (status != TSR_OK) code = cli_status(s->cli, status, s->output);
    }
    if (!code && strcmp(s->output, "-")) show(s, mesh, &measures, &report);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct surface s = { .cli = cli, .read = TSR_READ_OPTIONS, .write = TSR_WRITE_OPTIONS, .options = TSR_SURFACE_OPTIONS };
    int inside = 0, normals = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(s.output),
        { .name = "isovalue", .type = CLI_REAL, .value = &s.options.isovalue, .argument = "V",
          .help = "value of the surface (default: 0 for real numbers, 0.5 for integers)", .given = &s.isovalue_given },
        { .name = "inside", .type = CLI_CHOICE, .value = &inside, .argument = "SIDE",
          .help = "values of the inside; without --isovalue: below for real numbers (level sets), above for integers (masks)",
          .choices = "above below", .given = &s.inside_given },
        { .name = "normals", .type = CLI_CHOICE, .value = &normals, .argument = "WAY", .help = "of the vertices", .choices = "none forward central" },
        { .name = "close", .type = CLI_FLAG, .value = &s.options.close, .help = "cap the surface where it leaves the volume" },
        { .name = "format", .type = CLI_TEXT, .value = &s.write.format, .argument = "NAME", .help = "of the output (default: by extension)" },
        { .name = "ascii", .type = CLI_FLAG, .value = &s.write.ascii, .help = "text variant of PLY and STL" },
        CLI_READ_OPTIONS(s.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    code = cli_check_write(cli, s.output, TSR_FILE_MESH, s.write.format);
    if (code) return code;
    s.options.inside = (tsr_surface_inside)inside;
    s.options.normals = (tsr_surface_normals)normals;
    s.write.overwrite = cli->globals.force;
    s.write.progress = cli_progress(cli);
    return surface(&s);
}

const cli_verb verb_surface = { "surface", "[options] VOLUME|TILES -o MESH", "Extract the surface of a volume, level set or mask as a triangle mesh",
                                "  tessera make torus -o torus.nii.gz\n  tessera surface torus.nii.gz -o torus.ply\n", run };
