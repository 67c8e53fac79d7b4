/* What info says of volumes and images. */
#include "info.h"

#include <math.h>
#include <string.h>

#include "labels.h"

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

static void doubt(info_call *info, const char *path, const char *what)
{
    info->doubtful = 1;
    cli_error(info->cli, CLI_FAILED, "%s: geometry: %s", path, what);
}

/* What a reader of the data should look at twice: each finding is one line on stderr. */
static void check_geometry(info_call *info, const char *path, const char *format, const tsr_volume *volume)
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

static void show_numbers(const info_call *info, const tsr_statistics *numbers)
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

static int info_show_statistics(info_call *info, const char *path, tsr_volume **volume)
{
    tsr_statistics s = TSR_STATISTICS;
    tsr_status status = cli_move_volume(info->context, volume);
    if (status == TSR_OK) status = tsr_volume_statistics(info->context, *volume, &s);
    if (status != TSR_OK) return cli_status(info->cli, status, path);
    show_numbers(info, &s);
    return CLI_OK;
}

/* --stats of a file whose voxels are more than --memory-limit: slab by slab. *streamed: it was. */
static int stream_statistics(info_call *info, const char *path, const char *format, int *streamed)
{
    tsr_planes *planes = NULL;
    tsr_planes_info about = TSR_PLANES_INFO;
    tsr_statistics s = TSR_STATISTICS;
    *streamed = 0;
    const int code = info->stats && !info->labels ? cli_open_planes(info->cli, path, &info->read, &about, &planes) : CLI_OK;
    if (code || !planes) return code;
    *streamed = 1;
    const tsr_size3 n = about.size;
    const tsr_status status = tsr_planes_statistics(info->context, planes, &s);
    tsr_planes_close(&planes);
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

static void info_show_meta(const info_call *info, const tsr_volume *volume)
{
    const int json = info->cli->globals.json;
    const char *key, *value;
    if (json) json_open("meta", '{');
    for (int32_t i = 0; tsr_volume_meta_at(volume, i, &key, &value); i++)
        if (json) json_text(key, value);
        else printf("  %s = %s\n", cli_shown(key), cli_shown(value));
    if (json) json_close('}');
}

static int show_labels(info_call *info, const char *path, const tsr_volume *volume)
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

/* The list of a file of several volumes, of which the first stands for all, unless one is named. */
static int list_contents(info_call *info, const char *path, tsr_contents **contents, tsr_read_options *read)
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

int info_volume(info_call *info, const char *path, const char *format)
{
    tsr_contents *contents;
    tsr_read_options read;
    int streamed, code = stream_statistics(info, path, format, &streamed);
    if (code || streamed) return code;
    code = list_contents(info, path, &contents, &read);
    if (code) return code;
    tsr_volume *volume = cli_read_volume(info->cli, path, &read, &code);
    if (!volume) { /* what could be chosen is worth to be known all the same */
        if (!info->cli->globals.json) info_show_contents(info, contents);
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
        json_text("space", info_space_name(g->space));
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
        else printf("  orientation  %s in %s world axes%s\n", letters, info_space_name(g->space), oblique > 0.01 ? ", oblique" : "");
        for (int r = 0; r < 3; r++)
            printf("  %-12s %12.6g %12.6g %12.6g %12.6g\n", r ? "" : "affine", g->affine[r][0], g->affine[r][1], g->affine[r][2], g->affine[r][3]);
        if (slope != 1 || intercept != 0) printf("  scaling      value = stored * %g + %g\n", slope, intercept);
    }
    info_show_contents(info, contents);
    tsr_contents_destroy(&contents);
    info_show_meta(info, volume);
    if (info->labels) code = show_labels(info, path, volume);
    if (info->stats && !code) code = info_show_statistics(info, path, &volume);
    if (info->cli->globals.json) json_close('}');
    if (info->check_geometry) check_geometry(info, path, format, volume);
    tsr_volume_destroy(&volume);
    return code;
}

static void begin_image(info_call *info, const char *path, const char *format, tsr_size3 n, tsr_dtype dtype)
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

int info_image(info_call *info, const char *path, const char *format)
{
    int code = CLI_OK;
    tsr_volume *image = cli_read_volume(info->cli, path, &info->read, &code);
    if (!image) return code;
    begin_image(info, path, format, tsr_volume_size(image), tsr_volume_dtype(image));
    info_show_meta(info, image);
    if (info->stats) code = info_show_statistics(info, path, &image);
    if (info->cli->globals.json) json_close('}');
    tsr_volume_destroy(&image);
    return code;
}

int info_compressed(info_call *info, const char *path, const char *format, int *image)
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
