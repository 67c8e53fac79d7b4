#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "labels.h"
#include "regions.h"
#include "streams.h"
#include "tiles.h"

struct info {
    const char *plot;
    cli_call *cli;
    tsr_read_options read;
    int stats, check_geometry, labels;
    const char *label_names;
    int doubtful;         /* --check-geometry found something */
    tsr_context *context; /* for --stats */
};

/* The largest angle between an index axis and the world's axis that it stands for. */
static double oblique_of(const tsr_geometry *g, const char letters[4])
{
    double worst = 0;
    for (int axis = 0; axis < 3; axis++) {
        const int row = strchr("RL", letters[axis]) ? 0 : strchr("AP", letters[axis]) ? 1 : 2;
        const double *x = &g->affine[0][axis], length = sqrt(x[0] * x[0] + x[4] * x[4] + x[8] * x[8]);
        worst = fmax(worst, acos(fmin(fabs(g->affine[row][axis]) / length, 1)) * 57.29577951308232);
    }
    return worst;
}

static const char *space_name(tsr_space space) { return space == TSR_SPACE_RAS ? "RAS" : space == TSR_SPACE_LPS ? "LPS" : "none"; }

static void doubt(struct info *info, const char *path, const char *what)
{
    info->doubtful = 1;
    cli_error(info->cli, CLI_FAILED, "%s: geometry: %s", path, what);
}

/* What a reader of the data should look at twice: each finding is one line on stderr. */
static void check_geometry(struct info *info, const char *path, const char *format, const tsr_volume *volume)
{
    const tsr_geometry *g = tsr_volume_geometry(volume);
    tsr_vec3 h = tsr_geometry_spacing(g);
    char text[400];
    double worst = 0;
    for (int a = 0; a < 3; a++) {
        for (int b = a + 1; b < 3; b++) {
            double dot = 0;
            for (int r = 0; r < 3; r++) dot += g->affine[r][a] * g->affine[r][b];
            worst = fmax(worst, fabs(dot) / ((const double[]){ h.x, h.y, h.z })[a] / ((const double[]){ h.x, h.y, h.z })[b]);
        }
    }
    double thinnest = fmin(h.x, fmin(h.y, h.z)), thickest = fmax(h.x, fmax(h.y, h.z));
    tsr_size3 size = tsr_volume_size(volume);
    if (g->space == TSR_SPACE_NONE) doubt(info, path, "the file does not say what its axes mean (neither RAS nor LPS)");
    if (worst > 1e-3) {
        snprintf(text, sizeof text, "axes are not orthogonal: two of them enclose %.2f degrees, expected 90",
                 acos(fmin(worst, 1)) * 57.29577951308232);
        doubt(info, path, text);
    }
    if (tsr_geometry_determinant(g) < 0 && g->space == TSR_SPACE_NONE) doubt(info, path, "axes are left-handed: the picture is mirrored");
    if (thickest > 5 * thinnest) {
        snprintf(text, sizeof text, "spacing %g x %g x %g: voxels more than 5 times longer than wide", h.x, h.y, h.z);
        doubt(info, path, text);
    }
    int codes[2];
    const double apart = strncmp(format, "nifti", 5) ? 0 : cli_forms_apart(volume, codes);
    if (apart > 0) {
        double form[2][3][4];
        (void)tsr_nifti_forms(volume, form[0], form[1], codes);
        snprintf(text, sizeof text, "sform (code %d) and qform (code %d) place voxels up to %.4g apart; the %s is taken (--prefer)", codes[0],
                 codes[1], apart, info->read.prefer == TSR_FORM_QFORM ? "qform" : "sform");
        doubt(info, path, text);
        for (int f = 0; f < 2; f++) {
            int used = snprintf(text, sizeof text, "%s", f ? "qform" : "sform");
            for (int r = 0; r < 3; r++)
                used += snprintf(text + used, sizeof text - (size_t)used, " [%.6g %.6g %.6g %.6g]", form[f][r][0], form[f][r][1], form[f][r][2],
                                 form[f][r][3]);
            doubt(info, path, text);
        }
    }
    if (size.x == 1 || size.y == 1 || size.z == 1) {
        snprintf(text, sizeof text, "size %lld x %lld x %lld: a single slice", (long long)size.x, (long long)size.y, (long long)size.z);
        doubt(info, path, text);
    }
}

static void show_numbers(const struct info *info, const tsr_statistics *numbers)
{
    const tsr_statistics s = *numbers;
    if (info->cli->globals.json) {
        json_open("statistics", '{');
        json_real("minimum", s.minimum);
        json_real("maximum", s.maximum);
        json_real("mean", s.mean);
        json_real("standard_deviation", sqrt(s.variance));
        json_real("sum", s.sum);
        json_int("nan_count", s.nan_count);
        json_int("infinite_count", s.infinite_count);
        json_close('}');
    } else {
        printf("  values       %.9g to %.9g, mean %.9g, standard deviation %.9g\n", s.minimum, s.maximum, s.mean, sqrt(s.variance));
        if (s.nan_count + s.infinite_count)
            printf("  not finite   %lld NaN, %lld infinite, first at voxel %lld\n", (long long)s.nan_count, (long long)s.infinite_count,
                   (long long)s.first_nonfinite);
    }
}

static int show_statistics(struct info *info, const char *path, tsr_volume **volume)
{
    tsr_statistics s = TSR_STATISTICS;
    tsr_status status = cli_move_volume(info->context, volume);
    if (status == TSR_OK) status = tsr_volume_statistics(info->context, *volume, &s);
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    show_numbers(info, &s);
    return CLI_OK;
}

/* --stats of a file whose voxels are more than --memory-limit: slab by slab. *streamed: it was. */
static int stream_statistics(struct info *info, const char *path, const char *format, int *streamed)
{
    tsr_planes *planes = NULL;
    tsr_planes_info about = TSR_PLANES_INFO;
    tsr_statistics s = TSR_STATISTICS;
    *streamed = 0;
    if (!info->stats || info->labels || !info->read.memory_limit || !strcmp(path, "-") || tsr_planes_open(path, &info->read, &planes) != TSR_OK) return CLI_OK;
    tsr_status status = tsr_planes_describe(planes, &about);
    const tsr_size3 n = about.size;
    *streamed = status == TSR_OK && n.x * n.y * (int64_t)tsr_dtype_size(about.dtype) > info->read.memory_limit / n.z;
    if (*streamed) status = tsr_planes_statistics(info->context, planes, &s);
    tsr_planes_close(&planes);
    if (!*streamed) return CLI_OK;
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    const tsr_vec3 h = tsr_geometry_spacing(&about.geometry);
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "volume");
        json_text("format", format);
        json_open("size", '[');
        json_int(NULL, n.x);
        json_int(NULL, n.y);
        json_int(NULL, n.z);
        json_close(']');
        json_text("dtype", tsr_dtype_name(about.dtype));
        json_open("spacing", '[');
        json_real(NULL, h.x);
        json_real(NULL, h.y);
        json_real(NULL, h.z);
        json_close(']');
    } else {
        printf("%s: volume (%s), larger than the memory limit\n", cli_shown(path), format);
        printf("  size         %lld x %lld x %lld %s\n", (long long)n.x, (long long)n.y, (long long)n.z, tsr_dtype_name(about.dtype));
        printf("  spacing      %g x %g x %g\n", h.x, h.y, h.z);
    }
    show_numbers(info, &s);
    if (info->cli->globals.json) json_close('}');
    return CLI_OK;
}

static void show_meta(const struct info *info, const tsr_volume *volume)
{
    const int json = info->cli->globals.json;
    const char *key, *value;
    if (json) json_open("meta", '{');
    for (int32_t i = 0; tsr_volume_meta_at(volume, i, &key, &value); i++)
        if (json) json_text(key, value);
        else printf("  %s = %s\n", cli_shown(key), cli_shown(value));
    if (json) json_close('}');
}

static int show_labels(struct info *info, const char *path, const tsr_volume *volume)
{
    tsr_context *cpu = NULL;
    tsr_label *labels = NULL;
    tsr_label_names *names = NULL;
    int32_t count = 0;
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    int code = cli_cpu_context(info->cli, &cpu);
    if (!code) code = cli_label_names(info->cli, info->label_names, volume, &names);
    if (!code) {
        const tsr_status status = tsr_labels_count(cpu, volume, 0, &labels, &count);
        if (status != TSR_OK) code = cli_status(info->cli, status, path);
    }
    if (!code && info->cli->globals.json) json_open("labels", '[');
    else if (!code) printf("  %-12s %lld\n", "labels", (long long)count);
    for (int32_t k = 0; k < count && !code; k++) {
        const tsr_label *l = &labels[k];
        const char *name = tsr_label_name(names, l->value);
        char text[TSR_LABEL_TEXT];
        tsr_label_text(dtype, l->value, text);
        if (!info->cli->globals.json) {
            printf("    %-10s %12lld voxels %14.9g  %s\n", text, (long long)l->voxels, l->volume, name ? name : "");
            continue;
        }
        json_open(NULL, '{');
        json_label("label", dtype, l->value);
        if (name) json_text("name", name);
        json_int("voxels", l->voxels);
        json_real("volume", l->volume);
        const tsr_size3 corner[2] = { l->lower, l->upper };
        for (int i = 0; i < 2; i++) {
            json_open(i ? "upper" : "lower", '[');
            json_int(NULL, corner[i].x);
            json_int(NULL, corner[i].y);
            json_int(NULL, corner[i].z);
            json_close(']');
        }
        json_close('}');
    }
    if (!code && info->cli->globals.json) json_close(']');
    tsr_labels_destroy(&labels);
    tsr_label_names_destroy(&names);
    tsr_context_destroy(&cpu);
    return code;
}

/* What else the file holds, and which option takes it. */
static void show_contents(const struct info *info, const tsr_contents *contents)
{
    const int json = info->cli->globals.json;
    tsr_contents_entry e;
    if (json) json_open("contents", '[');
    for (int32_t i = 0; tsr_contents_at(contents, i, &e); i++) {
        char size[200] = "";
        for (int k = 0; k < e.axes; k++) snprintf(size + strlen(size), sizeof size - strlen(size), "%s%lld", k ? " x " : "", (long long)e.size[k]);
        if (!json) {
            printf("  %-12s %s: %s %s (--%s)\n", e.kind, cli_shown(e.name), size, e.type, strcmp(e.kind, "grid") ? e.kind : "dataset");
            continue;
        }
        json_open(NULL, '{');
        json_text("kind", e.kind);
        json_text("name", e.name);
        json_text("type", e.type);
        json_open("size", '[');
        for (int k = 0; k < e.axes; k++) json_int(NULL, e.size[k]);
        json_close(']');
        json_close('}');
    }
    if (json) json_close(']');
}

/* The list of a file of several volumes, of which the first stands for all, unless one is named. */
static int list_contents(struct info *info, const char *path, tsr_contents **contents, tsr_read_options *read)
{
    tsr_contents_entry e;
    *contents = NULL;
    *read = info->read;
    if (!strcmp(path, "-")) return CLI_OK; /* it is read once */
    const tsr_status status = tsr_file_contents(path, &info->read, contents);
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    for (int32_t i = 0; tsr_contents_at(*contents, i, &e) && !read->dataset; i++)
        if (!strcmp(e.kind, "dataset")) read->dataset = e.name;
    return CLI_OK;
}

static int volume_info(struct info *info, const char *path, const char *format)
{
    tsr_contents *contents;
    tsr_read_options read;
    int streamed, code = stream_statistics(info, path, format, &streamed);
    if (code || streamed) return code;
    code = list_contents(info, path, &contents, &read);
    if (code) return code;
    tsr_volume *volume = cli_read_volume(info->cli, path, &read, &code);
    if (!volume) { /* what could be chosen is worth to be known all the same */
        if (!info->cli->globals.json) show_contents(info, contents);
        tsr_contents_destroy(&contents);
        return code;
    }
    tsr_size3 size = tsr_volume_size(volume);
    const tsr_geometry *g = tsr_volume_geometry(volume);
    tsr_vec3 h = tsr_geometry_spacing(g);
    char letters[4];
    double slope, intercept;
    tsr_geometry_orientation(g, letters);
    const double oblique = oblique_of(g, letters);
    tsr_volume_scaling(volume, &slope, &intercept);
    const char *dtype = tsr_dtype_name(tsr_volume_dtype(volume));
    int64_t bytes = tsr_volume_count(volume) * (int64_t)tsr_dtype_size(tsr_volume_dtype(volume));
    const char *unit = tsr_volume_unit_name(volume);
    int64_t parts[3];
    tsr_volume_parts(volume, &parts[0], &parts[1], &parts[2]);
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "volume");
        json_text("format", format);
        json_open("size", '[');
        json_int(NULL, size.x);
        json_int(NULL, size.y);
        json_int(NULL, size.z);
        json_close(']');
        json_text("dtype", dtype);
        json_int("bytes", bytes);
        json_open("spacing", '[');
        json_real(NULL, h.x);
        json_real(NULL, h.y);
        json_real(NULL, h.z);
        json_close(']');
        if (unit) json_text("unit", unit);
        json_int("frames", parts[0]);
        json_int("layers", parts[1]);
        json_int("channels", parts[2]);
        json_text("space", space_name(g->space));
        json_text("orientation", g->space == TSR_SPACE_NONE ? "unknown" : letters);
        json_real("oblique_degrees", oblique);
        json_open("affine", '[');
        for (int r = 0; r < 3; r++) {
            json_open(NULL, '[');
            for (int c = 0; c < 4; c++) json_real(NULL, g->affine[r][c]);
            json_close(']');
        }
        json_close(']');
        json_real("slope", slope);
        json_real("intercept", intercept);
    } else {
        printf("%s: volume (%s)\n", cli_shown(path), format);
        printf("  size         %lld x %lld x %lld %s, %.2f MB\n", (long long)size.x, (long long)size.y, (long long)size.z, dtype,
               (double)bytes * 1e-6);
        printf("  spacing      %g x %g x %g%s%s\n", h.x, h.y, h.z, unit ? " " : "", unit ? unit : "");
        for (int k = 0; k < 3; k++) {
            static const char *const names[] = { "frame", "layer", "channel" };
            const int64_t chosen[3] = { info->read.frame, info->read.layer, info->read.channel };
            if (parts[k] > 1) printf("  %-12s %lld of 0 to %lld (--%s)\n", names[k], (long long)chosen[k], (long long)parts[k] - 1, names[k]);
        }
        if (g->space == TSR_SPACE_NONE) printf("  orientation  unknown\n");
        else printf("  orientation  %s in %s world axes%s\n", letters, space_name(g->space), oblique > 0.01 ? ", oblique" : "");
        for (int r = 0; r < 3; r++)
            printf("  %-12s %12.6g %12.6g %12.6g %12.6g\n", r ? "" : "affine", g->affine[r][0], g->affine[r][1], g->affine[r][2], g->affine[r][3]);
        if (slope != 1 || intercept != 0) printf("  scaling      value = stored * %g + %g\n", slope, intercept);
    }
    show_contents(info, contents);
    tsr_contents_destroy(&contents);
    show_meta(info, volume);
    if (info->labels) code = show_labels(info, path, volume);
    if (info->stats && !code) code = show_statistics(info, path, &volume);
    if (info->cli->globals.json) json_close('}');
    if (info->check_geometry) check_geometry(info, path, format, volume);
    tsr_volume_destroy(&volume);
    return code;
}

/* Corners that count from an origin. */
static void show_box(const double origin[3], const double box[6])
{
    printf("  box         ");
    for (int i = 0; i < 6; i++) printf("%s%.*g", i == 3 ? " to " : " ", origin[i % 3] != 0 ? 10 : 6, origin[i % 3] + box[i]);
    printf("\n");
}

static int mesh_info(struct info *info, const char *path, const char *format)
{
    int code = CLI_OK;
    tsr_read_options read = info->read;
    read.local_origin = 1;
    tsr_mesh *mesh = cli_read_mesh(info->cli, path, &read, &code);
    if (!mesh) return code;
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
        json_text("space", space_name(tsr_mesh_space(mesh)));
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

static int unstructured_info(struct info *info, const char *path, const char *format)
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
        json_text("space", space_name(i.space));
        json_close('}');
    } else {
        printf("%s: unstructured grid (%s)\n", cli_shown(path), format);
        printf("  size         %lld points, %lld cells", (long long)i.points, (long long)i.cells);
        if (i.passed_over) printf(", %lld cells without volume", (long long)i.passed_over);
        if (i.turned) printf(", %lld turned over", (long long)i.turned);
        printf("\n  taken apart  %lld tetrahedra, %lld edges\n", (long long)i.tetrahedra, (long long)i.edges);
        printf("  values       %s\n", *i.arrays ? cli_shown(i.arrays) : "none at the points");
        printf("  space        %s\n", space_name(i.space));
    }
    return CLI_OK;
}

static int points_info(struct info *info, const char *path, const char *format)
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
        json_open("attributes", '{');
        for (int32_t a = 0; tsr_points_attribute_at(points, a, &name, &components); a++) json_int(name, components);
        json_close('}');
        json_text("space", space_name(tsr_points_space(points)));
        for (int i = 0; i < 2; i++) {
            json_open(i ? "upper" : "lower", '[');
            for (int a = 0; a < 3; a++) json_real(NULL, origin[a] + (double)(i ? upper : lower)[a]);
            json_close(']');
        }
        json_close('}');
    } else {
        printf("%s: cloud of points (%s)\n", cli_shown(path), format);
        printf("  size         %lld points%s%s\n", (long long)count, tsr_points_normals_const(points) ? ", normals" : "",
               tsr_points_radii_const(points) ? ", radii" : "");
        for (int32_t a = 0; tsr_points_attribute_at(points, a, &name, &components); a++)
            printf("  %-12s %s (%d)\n", a ? "" : "attributes", cli_shown(name), components);
        const double box[6] = { (double)lower[0], (double)lower[1], (double)lower[2], (double)upper[0], (double)upper[1], (double)upper[2] };
        show_box(origin, box);
    }
    tsr_points_destroy(&points);
    return CLI_OK;
}

static void begin_image(struct info *info, const char *path, const char *format, tsr_size3 n, tsr_dtype dtype)
{
    if (!info->cli->globals.json) {
        printf("%s: image (%s)\n  size         %lld x %lld, %lld channels, %s\n", cli_shown(path), format, (long long)n.x, (long long)n.y,
               (long long)n.z, tsr_dtype_name(dtype));
        return;
    }
    json_open(NULL, '{');
    json_text("file", cli_given(path));
    json_text("kind", "image");
    json_text("format", format);
    json_int("width", n.x);
    json_int("height", n.y);
    json_int("channels", n.z);
    json_text("dtype", tsr_dtype_name(dtype));
}

static int image_info(struct info *info, const char *path, const char *format)
{
    int code = CLI_OK;
    tsr_volume *image = cli_read_volume(info->cli, path, &info->read, &code);
    if (!image) return code;
    begin_image(info, path, format, tsr_volume_size(image), tsr_volume_dtype(image));
    show_meta(info, image);
    if (info->stats) code = show_statistics(info, path, &image);
    if (info->cli->globals.json) json_close('}');
    tsr_volume_destroy(&image);
    return code;
}

/* A plain Y4M file whose length is no whole number of frames is read through: frames may have headers of other lengths, or the file is cut off. */
static int count_frames(const struct info *info, const char *path, tsr_video_reader *reader, int64_t *frames)
{
    struct stat about;
    tsr_video_frame frame = { 0 };
    tsr_status status = TSR_OK;
    int more = 1;
    if (*frames >= 0 || strcmp(tsr_video_reader_info(reader)->container, "y4m") || stat(path, &about) || !S_ISREG(about.st_mode)) return CLI_OK;
    for (*frames = 0; more && status == TSR_OK; *frames += more && status == TSR_OK) status = tsr_video_reader_next_frame(reader, &frame, &more);
    tsr_video_frame_destroy(&frame);
    if (status == TSR_OK) return CLI_OK;
    return cli_status(info->cli, status, path);
}

static int film_info(struct info *info, const char *path)
{
    tsr_video_reader *reader;
    const tsr_video_read_options options = { .struct_size = sizeof options, .memory_limit = info->read.memory_limit };
    tsr_status status = tsr_video_reader_create(path, &options, &reader);
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    const tsr_video_info *film = tsr_video_reader_info(reader);
    const tsr_video_format *f = &film->format;
    const char *matrix = f->matrix == TSR_MATRIX_BT709 ? "bt709" : "bt601", *range = f->range == TSR_RANGE_FULL ? "full" : "limited";
    const char interlacing[2] = { film->interlacing, 0 };
    int64_t frames = film->frames;
    const int code = count_frames(info, path, reader, &frames);
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
        json_text("kind", "film");
        json_text("format", film->container);
        json_int("width", f->width);
        json_int("height", f->height);
        json_int("frames", frames);
        json_open("rate", '[');
        json_int(NULL, film->rate[0]);
        json_int(NULL, film->rate[1]);
        json_close(']');
        json_text("chroma", tsr_chroma_name(f->chroma));
        json_int("bits", f->bits);
        json_text("matrix", matrix);
        json_text("range", range);
        json_text("interlacing", interlacing);
        json_close('}');
    } else {
        printf("%s: film (%s)\n  size         %d x %d", cli_shown(path), cli_shown(film->container), f->width, f->height);
        if (frames >= 0) printf(", %lld frames", (long long)frames);
        if (film->rate[0]) printf(" at %g per second", (double)film->rate[0] / film->rate[1]);
        printf("\n  samples      %s, %d bits, %s, %s range, interlacing %s\n", tsr_chroma_name(f->chroma), f->bits, matrix, range, interlacing);
    }
    tsr_video_reader_destroy(&reader);
    return code;
}

/* A compressed image is an image; *image is 0 for a compressed volume. */
static int compressed_image_info(struct info *info, const char *path, const char *format, int *image)
{
    tsr_compress_info i = TSR_COMPRESS_INFO;
    const tsr_status status = tsr_compress_describe(path, &i);
    *image = status == TSR_OK && i.image;
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    if (!i.image) return CLI_OK;
    begin_image(info, path, format, i.size, i.dtype);
    if (info->cli->globals.json) json_close('}');
    if (i.pieces_whole < i.pieces)
        return cli_error(info->cli, CLI_FAILED, "%s: %s: %lld of %lld pieces are whole", path, i.file_bytes < i.whole_bytes ? "cut off" : "damaged",
                         (long long)i.pieces_whole, (long long)i.pieces);
    return CLI_OK;
}

/* All grids of the file, of which one is described. */
static void show_grids(const struct info *info, const char *path, const char *format)
{
    tsr_contents *contents = NULL;
    if (!strcmp(format, "tsr") || !strcmp(path, "-")) return;
    if (tsr_file_contents(path, NULL, &contents) == TSR_OK) show_contents(info, contents);
    tsr_contents_destroy(&contents);
}

static void show_tiles(const struct info *info, const char *path, const tsr_tiles_file_info *f, const tsr_tiles_info *list, const int64_t box[2][3],
                       const tsr_tiles_extras *extras)
{
    const tsr_vec3 h = tsr_geometry_spacing(&f->geometry);
    tsr_tiles_meta meta;
    tsr_tiles_channel channel;
    char version[40];
    snprintf(version, sizeof version, f->version[2] ? "%d.%d.%d" : f->version[0] ? "%d.%d" : "", f->version[0], f->version[1], f->version[2]);
    if (!info->cli->globals.json) {
        printf("%s: tile list (%s%s%s)\n", cli_shown(path), f->format, *version ? " " : "", version);
        if (f->name[0]) printf("  name         %s, one of %d grids\n", cli_shown(f->name), f->grids);
        printf("  tiles        %lld of %d^3 voxels, %s, codec %s%s\n", (long long)f->count, f->edge, f->values == TSR_TILES_Q16 ? "16 bit" : "f32",
               f->codec, f->raw ? ", raw" : "");
        if (f->active_voxels >= 0) printf("  active       %lld voxels\n", (long long)f->active_voxels);
        printf("  band         %g world units\n", f->band);
        if (f->domain.x)
            printf("  domain       %lld x %lld x %lld%s\n", (long long)f->domain.x, (long long)f->domain.y, (long long)f->domain.z,
                   f->paged ? ", paged" : "");
        else printf("  domain       unbounded\n");
        printf("  spacing      %g x %g x %g, world axes %s\n", h.x, h.y, h.z, space_name(f->geometry.space));
        for (int r = 0; r < 3; r++)
            printf("  %-12s %12.6g %12.6g %12.6g %12.6g\n", r ? "" : "affine", f->geometry.affine[r][0], f->geometry.affine[r][1],
                   f->geometry.affine[r][2], f->geometry.affine[r][3]);
        if (f->file_bytes >= 0) printf("  file         %lld bytes\n", (long long)f->file_bytes);
        if (list)
            printf("  inside       %lld voxels, box (%lld, %lld, %lld) to (%lld, %lld, %lld), %.1f MB in memory\n", (long long)list->inside_voxels,
                   (long long)box[0][0], (long long)box[0][1], (long long)box[0][2], (long long)box[1][0], (long long)box[1][1], (long long)box[1][2],
                   (double)list->device_bytes * 1e-6);
        for (int i = 0; tsr_tiles_extras_channel_at(extras, i, &channel); i++)
            printf("  channel      %s: %d x %s a tile\n", cli_shown(channel.name), channel.elements, tsr_dtype_name(channel.dtype));
        for (int i = 0; tsr_tiles_extras_meta_at(extras, i, &meta); i++) printf("  %s = %s\n", cli_shown(meta.key), cli_shown(meta.value));
        show_grids(info, path, f->format);
        return;
    }
    json_open(NULL, '{');
    json_text("file", cli_given(path));
    json_text("kind", "tiles");
    json_text("format", f->format);
    if (*version) json_text("version", version); /* OpenVDB does not say */
    if (f->name[0]) json_text("name", f->name);
    json_int("grids", f->grids);
    json_int("count", f->count);
    json_int("edge", f->edge);
    json_text("values", f->values == TSR_TILES_Q16 ? "q16" : "f32");
    json_text("codec", f->codec);
    json_bool("raw", f->raw);
    json_int("values_offset", f->values_offset);
    if (f->active_voxels >= 0) json_int("active_voxels", f->active_voxels);
    json_real("band", f->band);
    json_bool("bounded", f->domain.x != 0);
    json_bool("paged", f->paged);
    json_open("domain", '[');
    json_int(NULL, f->domain.x);
    json_int(NULL, f->domain.y);
    json_int(NULL, f->domain.z);
    json_close(']');
    json_open("spacing", '[');
    json_real(NULL, h.x);
    json_real(NULL, h.y);
    json_real(NULL, h.z);
    json_close(']');
    json_text("space", space_name(f->geometry.space));
    json_open("affine", '[');
    for (int r = 0; r < 3; r++) {
        json_open(NULL, '[');
        for (int c = 0; c < 4; c++) json_real(NULL, f->geometry.affine[r][c]);
        json_close(']');
    }
    json_close(']');
    if (f->file_bytes >= 0) json_int("file_bytes", f->file_bytes);
    if (list) {
        json_int("inside_voxels", list->inside_voxels);
        json_int("device_bytes", list->device_bytes);
        for (int side = 0; side < 2; side++) {
            json_open(side ? "upper" : "lower", '[');
            for (int k = 0; k < 3; k++) json_int(NULL, box[side][k]);
            json_close(']');
        }
    }
    json_open("channels", '[');
    for (int i = 0; tsr_tiles_extras_channel_at(extras, i, &channel); i++) {
        json_open(NULL, '{');
        json_text("name", channel.name);
        json_text("dtype", tsr_dtype_name(channel.dtype));
        json_int("elements", channel.elements);
        json_close('}');
    }
    json_close(']');
    json_open("meta", '{');
    for (int i = 0; tsr_tiles_extras_meta_at(extras, i, &meta); i++) json_text(meta.key, meta.value);
    json_close('}');
    show_grids(info, path, f->format);
    json_close('}');
}

/* The header alone; with --stats, and for OpenVDB files, the list itself. */
static int tiles_info(struct info *info, const char *path, const char *format)
{
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    tsr_tiles_file_info file = { .struct_size = sizeof file, .active_voxels = -1, .file_bytes = -1, .codec = "none", .grids = 1 };
    tsr_tiles_info list = TSR_TILES_INFO;
    tsr_tiles_extras *extras = NULL;
    tsr_context *own = NULL;
    tsr_tiles *tiles = NULL;
    int64_t box[2][3];
    int code = CLI_OK, is_vdb = !strcmp(format, "vdb");
    read.memory_limit = info->read.memory_limit;
    read.format = info->read.format ? info->read.format : format; /* which of its grids it is taken for, is decided */
    read.grid = info->read.dataset;
    if (!is_vdb) {
        read.extras = &extras;
        tsr_status status = tsr_tiles_file_describe(path, &read, &file);
        if (status != TSR_OK) return cli_status(info->cli, status, path);
    }
    if (is_vdb || info->stats) {
        if (!info->context) code = cli_cpu_context(info->cli, &own);
        if (!code) tiles = cli_read_tiles(info->cli, info->context ? info->context : own, path, &read, NULL, &code);
        if (tiles) {
            tsr_status status = tsr_tiles_describe(tiles, &list);
            if (status == TSR_OK) status = tsr_tiles_bounds(tiles, box[0], box[1]);
            if (status != TSR_OK) code = cli_status(info->cli, status, path);
        }
    }
    if (!code && is_vdb) {
        snprintf(file.format, sizeof file.format, "vdb");
        file.edge = list.edge;
        file.count = list.count;
        file.band = list.band;
        file.active_voxels = list.active_voxels;
        file.geometry = *tsr_tiles_geometry(tiles);
    }
    if (!code) show_tiles(info, path, &file, tiles ? &list : NULL, (const int64_t(*)[3])box, extras);
    tsr_tiles_extras_destroy(&extras);
    tsr_tiles_destroy(&tiles);
    tsr_context_destroy(&own);
    return code;
}

static int stream_info(const struct info *info, const char *path)
{
    if (info->cli->globals.json) {
        json_open(NULL, '{');
        json_text("file", cli_given(path));
    } else printf("%s: Dirac or VC-2 stream\n", cli_shown(cli_given(path)));
    const int code = streams_show(info->cli, path, info->plot);
    if (info->cli->globals.json) json_close('}');
    return code;
}

static int file_info(struct info *info, const char *path)
{
    tsr_file_kind kind;
    const char *format;
    int image = 0;
    if (!info->read.format && tsr_dirac_recognise(path)) return stream_info(info, path);
    if (!info->read.format && tsr_video_recognise(path)) return film_info(info, path);
    if (!info->read.format && cli_tree_is_file(info->cli, path)) return cli_tree_info(info->cli, path);
    int code = cli_recognise_image(info->cli, path, &info->read, &kind, &format);
    if (code) return code;
    if (!strcmp(format, "tsc") && strcmp(path, "-")) code = compressed_image_info(info, path, format, &image);
    if (code || image) return code;
    switch (kind) {
    case TSR_FILE_VIDEO: return film_info(info, path);
    case TSR_FILE_TILES: return tiles_info(info, path, format);
    case TSR_FILE_MESH: return mesh_info(info, path, format);
    case TSR_FILE_IMAGE: return image_info(info, path, format);
    case TSR_FILE_POINTS: return points_info(info, path, format);
    case TSR_FILE_UNSTRUCTURED: return unstructured_info(info, path, format);
    default: return volume_info(info, path, format);
    }
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct info info = { .cli = cli, .read = TSR_READ_OPTIONS };
    const cli_option options[] = {
        { .name = "stats",
          .type = CLI_FLAG,
          .value = &info.stats,
          .help = "minimum, maximum, mean and standard deviation of a volume; counts and box of a tile list" },
        { .name = "labels",
          .type = CLI_FLAG,
          .value = &info.labels,
          .help = "of a label map: its labels with their voxels and volumes (world units cubed)" },
        CLI_LABEL_NAMES_OPTION(info.label_names),
        { .name = "check-geometry",
          .type = CLI_FLAG,
          .value = &info.check_geometry,
          .help = "name what is doubtful about a volume's geometry; exit code 3 if anything is" },
        { .name = "plot",
          .type = CLI_TEXT,
          .value = &info.plot,
          .argument = "FILE",
          .help = "of one VC-2 or Dirac stream: where the bytes of each picture go, as a picture (SVG)" },
        CLI_READ_OPTIONS_LIMIT(info.read, "refuse larger files; --stats goes through a larger volume slab by slab"),
        { 0 },
    };
    cli->channels = 1;
    int code = cli_parse(cli, options, 1, 1 << 20, argc, argv);
    if (code >= 0) return code;
    if (info.plot && (cli->inputs != 1 || !tsr_dirac_recognise(cli->input[0]))) return cli_usage(cli, "--plot: expected one VC-2 or Dirac stream");
    /* of several frames, layers, channels and series the first stands for all, unless one is named */
    info.read.frame_given = info.read.layer_given = info.read.channel_given = 1;
    if (!info.read.series_given) info.read.series_given = 2;
    info.labels |= info.label_names != NULL;
    code = info.stats ? cli_context(cli, &info.context) : CLI_OK;
    if (code) return code;
    if (cli->globals.json && cli->inputs > 1) json_open(NULL, '[');
    for (int i = 0; i < cli->inputs; i++) {
        int one = file_info(&info, cli->input[i]);
        if (one) code = one;
    }
    if (cli->globals.json && cli->inputs > 1) json_close(']');
    tsr_context_destroy(&info.context);
    return code ? code : info.doubtful ? CLI_DIFFERS : CLI_OK;
}

const cli_verb verb_info = { "info", "[options] FILE...", "Say what a volume, mesh, image, tile, point or video file holds",
                             "  tessera make sphere -o sphere.nii.gz\n  tessera info --stats sphere.nii.gz\n", run };
