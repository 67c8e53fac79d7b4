#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "tessera/rig.h"

struct depth {
    cli_call *cli;
    tsr_plane_sweep_options sweep;
    tsr_stereo_match_options stereo;
    const char *output, *cameras, *format, *view, *disparities, *truth;
    const char *score, *count, *disparity, *points, *picture, *valid;
    double range[2], focal, baseline;
    double colors[2];
    int middle, nearest_views, range_given, colors_given, method, pair;
    int32_t first, last; /* disparities */
    /* What is read: */
    tsr_rig *rig;
    int32_t views, channels, width, height;
    tsr_camera *camera;     /* of the views */
    tsr_camera eye;         /* of the map */
    tsr_image *image;
    tsr_volume **frames;
    int32_t own;            /* which view the map is of, -1: none */
    char **path;
    /* What comes out, on the host: */
    tsr_volume *map, *known, *scores, *counts, *shift;
    double seconds;
    int64_t hypotheses;
    int levels;
};

/* ---- input --------------------------------------------------------------------------------------------------------------------- */

static int take_disparities(struct depth *d)
{
    char *end;
    const char *text = d->disparities;
    const long first = strtol(text, &end, 10);
    int dots = 0;
    while (*end == '.' || *end == ':') end++, dots++;
    const char *second = end;
    const long last = strtol(second, &end, 10);
    if (end == second || *end || !dots || dots > 2 || last <= first || first < -32768 || last > 32768)
        return cli_usage(d->cli, "--disparities: '%s' given, expected FIRST..LAST, whole pixels, as 0..63", text);
    d->first = (int32_t)first;
    d->last = (int32_t)last;
    return CLI_OK;
}

static int read_images(struct depth *d)
{
    d->image = calloc((size_t)d->views, sizeof *d->image);
    if (!d->image) return cli_error(d->cli, CLI_FAILED, "out of memory for %d pictures", d->views);
    for (int32_t v = 0; v < d->views; v++) {
        const tsr_status status = tsr_image_read(d->path[v], NULL, &d->image[v]);
        if (status != TSR_OK) return cli_status(d->cli, status, d->path[v]);
        if (d->image[v].channels != d->image[0].channels)
            return cli_error(d->cli, CLI_FAILED, "%s: %d channels, but %s has %d: expected the same of all pictures", d->path[v], d->image[v].channels, d->path[0],
                             d->image[0].channels);
    }
    d->channels = d->image[0].channels;
    return CLI_OK;
}

/* The view whose map is wanted: a number or a name of the rig. */
static int find_view(struct depth *d)
{
    char *end;
    d->own = 0;
    if (!d->view) return CLI_OK;
    const long number = strtol(d->view, &end, 10);
    int64_t found = *d->view && !*end ? number : tsr_rig_find(d->rig, d->view);
    if (found < 0 || found >= tsr_rig_count(d->rig))
        return cli_usage(d->cli, "--view: '%s' given, expected 0 to %lld or the name of a camera", d->view, (long long)tsr_rig_count(d->rig) - 1);
    d->own = (int32_t)found;
    return CLI_OK;
}

struct near {
    double distance;
    int32_t index;
};
static int nearer(const void *a, const void *b)
{
    const struct near *p = (const struct near *)a, *q = (const struct near *)b;
    return p->distance < q->distance ? -1 : p->distance > q->distance ? 1 : p->index - q->index;
}

/* Cameras and names of pictures of the rig, or the nearest of them to the wanted one, that one first. */
static int read_rig(struct depth *d)
{
    tsr_status status = tsr_rig_read(d->cameras, NULL, &d->rig);
    if (status != TSR_OK) return cli_status(d->cli, status, d->cameras);
    const int64_t all = tsr_rig_count(d->rig);
    if (d->cli->inputs && d->cli->inputs != all)
        return cli_usage(d->cli, "%d pictures given, expected %lld: one for each camera of %s, or none: then they are those that it names", d->cli->inputs,
                         (long long)all, d->cameras);
    if (all < 2 || all > 4096) return cli_error(d->cli, CLI_FAILED, "%s: %lld cameras, expected 2 to 4096", d->cameras, (long long)all);
    int code = find_view(d);
    if (code) return code;
    struct near *order = calloc((size_t)all, sizeof *order);
    d->camera = calloc((size_t)all, sizeof *d->camera);
    d->path = calloc((size_t)all, sizeof *d->path);
    if (!order || !d->camera || !d->path) {
        free(order);
        return cli_error(d->cli, CLI_FAILED, "out of memory for %lld cameras", (long long)all);
    }
    tsr_rig_camera centre, c;
    status = tsr_rig_get(d->rig, d->own, &centre);
    for (int64_t i = 0; i < all && status == TSR_OK; i++) {
        status = tsr_rig_get(d->rig, i, &c);
        const tsr_vec3 p = c.camera.position, q = centre.camera.position;
        order[i] = (struct near){ i == d->own ? -1 : sqrt((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z)), (int32_t)i };
    }
    if (d->nearest_views) qsort(order, (size_t)all, sizeof *order, nearer);
    d->views = d->nearest_views && d->nearest_views < all ? d->nearest_views : (int32_t)all;
    for (int32_t v = 0; v < d->views && status == TSR_OK && !code; v++) {
        char text[4200];
        status = tsr_rig_get(d->rig, order[v].index, &c);
        if (status != TSR_OK) break;
        d->camera[v] = c.camera;
        if (d->cli->inputs) snprintf(text, sizeof text, "%s", d->cli->input[order[v].index]);
        else status = tsr_rig_path(d->rig, c.image, c.frame < 0 ? 0 : c.frame, text, sizeof text);
        if (!d->cli->inputs && !*c.image) code = cli_error(d->cli, CLI_FAILED, "%s: camera %s names no picture: give the pictures, one for each camera", d->cameras, c.name);
        d->path[v] = strdup(text);
    }
    if (d->nearest_views) d->own = 0;
    free(order);
    return status != TSR_OK ? cli_status(d->cli, status, d->cameras) : code;
}

/* Two pinholes side by side whose disparities are depths: focal length and baseline as given, or of 1 and 1. */
static int make_pair(struct depth *d)
{
    d->views = 2;
    d->camera = calloc(2, sizeof *d->camera);
    d->path = calloc(2, sizeof *d->path);
    if (!d->camera || !d->path) return cli_error(d->cli, CLI_FAILED, "out of memory");
    for (int v = 0; v < 2; v++) d->path[v] = strdup(d->cli->input[v]);
    int code = read_images(d);
    if (code) return code;
    if (d->image[0].width != d->image[1].width || d->image[0].height != d->image[1].height)
        return cli_error(d->cli, CLI_FAILED, "%s has %d x %d pixels, %s %d x %d: expected the same of a pair", d->path[0], d->image[0].width, d->image[0].height,
                         d->path[1], d->image[1].width, d->image[1].height);
    const double focal = d->focal > 0 ? d->focal : d->image[0].width, baseline = d->baseline > 0 ? d->baseline : 1;
    for (int v = 0; v < 2; v++) {
        d->camera[v] = (tsr_camera){ .fov = 2 * atan(0.5 * d->image[0].height / focal) * 180 / 3.14159265358979323846, .position = { v * baseline, 0, 0 } };
        for (int k = 0; k < 3; k++) d->camera[v].rotation[k][k] = 1;
    }
    d->own = 0;
    d->sweep.nearest = focal * baseline / d->last;
    d->sweep.farthest = d->first > 0 ? focal * baseline / d->first : (double)INFINITY;
    return CLI_OK;
}

/* ---- work ---------------------------------------------------------------------------------------------------------------------- */

static tsr_status upload(struct depth *d, tsr_context *context)
{
    d->frames = calloc((size_t)d->views, sizeof *d->frames);
    for (int32_t v = 0; v < d->views; v++) {
        const tsr_image *image = &d->image[v];
        tsr_volume *host;
        tsr_status status = tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ (int64_t)image->width * image->channels, image->height, 1 }, NULL, image->pixels, NULL, NULL, &host);
        if (status == TSR_OK) status = tsr_volume_copy(host, context, &d->frames[v]);
        tsr_volume_destroy(&host);
        if (status != TSR_OK) return status;
    }
    return TSR_OK;
}

static tsr_status to_host(tsr_volume *from, tsr_volume **to)
{
    return from ? tsr_volume_copy(from, NULL, to) : TSR_OK;
}

static tsr_status work_stereo(struct depth *d, tsr_context *context)
{
    tsr_volume *disparity = NULL, *valid = NULL;
    d->stereo.channels = d->channels;
    d->stereo.first = d->first;
    d->stereo.disparities = d->last - d->first + 1;
    d->stereo.progress = cli_progress(d->cli);
    const double start = cli_seconds();
    tsr_status status = tsr_stereo_match(context, d->frames[0], d->frames[1], &d->stereo, &disparity, &valid);
    d->seconds = cli_seconds() - start;
    if (status == TSR_OK) status = to_host(disparity, &d->shift);
    if (status == TSR_OK) status = to_host(valid, &d->known);
    d->hypotheses = d->stereo.disparities;
    if (status == TSR_OK && d->focal > 0 && d->baseline > 0) {
        status = tsr_volume_create(NULL, TSR_F32, tsr_volume_size(d->shift), NULL, &d->map);
        const float *from = (const float *)tsr_volume_data_const(d->shift);
        float *to = status == TSR_OK ? (float *)tsr_volume_data(d->map) : NULL;
        for (int64_t i = 0; i < tsr_volume_count(d->shift) && to; i++) to[i] = from[i] > 0 ? (float)(d->focal * d->baseline / (double)from[i]) : 0.0f;
    }
    tsr_volume_destroy(&disparity);
    tsr_volume_destroy(&valid);
    return status;
}

static tsr_status work_sweep(struct depth *d, tsr_context *context)
{
    tsr_depth_view *view = calloc((size_t)d->views, sizeof *view);
    tsr_depth_maps maps = TSR_DEPTH_MAPS;
    tsr_status status = TSR_OK;
    for (int32_t v = 0; v < d->views; v++) view[v] = (tsr_depth_view){ .camera = d->camera[v], .image = d->frames[v] };
    d->sweep.channels = d->channels;
    d->sweep.progress = cli_progress(d->cli);
    d->sweep.disparity = d->pair || d->disparity != NULL;
    d->eye = d->camera[d->own];
    d->eye.lens = (tsr_lens){ 0 };
    if (d->middle) status = tsr_camera_middle(d->camera, d->views, &d->eye);
    d->width = d->sweep.width ? d->sweep.width : d->image[d->own].width;
    d->height = d->sweep.height ? d->sweep.height : d->image[d->own].height;
    d->sweep.width = d->width;
    d->sweep.height = d->height;
    const double start = cli_seconds();
    if (status == TSR_OK) status = tsr_plane_sweep(context, view, d->views, &d->eye, &d->sweep, &maps);
    d->seconds = cli_seconds() - start;
    if (status == TSR_OK && (!d->pair || (d->focal > 0 && d->baseline > 0))) status = to_host(maps.depth, &d->map);
    if (status == TSR_OK) status = to_host(maps.valid, &d->known);
    if (status == TSR_OK) status = to_host(maps.score, &d->scores);
    if (status == TSR_OK) status = to_host(maps.count, &d->counts);
    if (status == TSR_OK) status = to_host(maps.disparity, &d->shift);
    d->hypotheses = maps.hypotheses;
    d->levels = maps.levels;
    tsr_depth_maps_destroy(&maps);
    free(view);
    return status;
}

/* ---- output -------------------------------------------------------------------------------------------------------------------- */

/* What -o holds: depths, or of a pair whose measures are not known disparities. */
static const tsr_volume *result_of(const struct depth *d) { return d->map ? d->map : d->shift; }

static int write_map(struct depth *d, const tsr_volume *map, const char *path)
{
    const tsr_write_options write = cli_write_options(d->cli);
    if (!path) return CLI_OK;
    if (!map) return cli_error(d->cli, CLI_FAILED, "%s: this method has no such map", path);
    const tsr_status status = tsr_volume_write(map, path, &write);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, path);
}

static int usable(float v, int depths) { return isfinite(v) && (!depths || v > 0.0f); }

/* Near is bright: disparities, or inverse depths, between their second and their ninety-eighth of a hundred; nothing is dark blue. */
static float brightness(float v, int depths) { return depths ? 1.0f / v : v; }
static int ascending(const void *a, const void *b)
{
    const float p = *(const float *)a, q = *(const float *)b;
    return p < q ? -1 : p > q;
}
static int write_picture(struct depth *d)
{
    if (!d->picture) return CLI_OK;
    const tsr_volume *map = result_of(d);
    const int depths = d->map != NULL;
    const tsr_size3 n = tsr_volume_size(map);
    const float *v = (const float *)tsr_volume_data_const(map);
    const tsr_write_options write = cli_image_options(d->cli, d->picture);
    tsr_image image = { 0 };
    float *sorted = malloc((size_t)(n.x * n.y) * sizeof *sorted), low = 0, high = 1;
    int64_t count = 0;
    tsr_status status = tsr_image_create((int32_t)n.x, (int32_t)n.y, 3, &image);
    if (status == TSR_OK && sorted) {
        for (int64_t i = 0; i < n.x * n.y; i++)
            if (usable(v[i], depths)) sorted[count++] = brightness(v[i], depths);
        qsort(sorted, (size_t)count, sizeof *sorted, ascending);
        if (count) low = sorted[count / 50], high = sorted[count - 1 - count / 50];
        if (!(high > low)) high = low + 1;
        for (int64_t i = 0; i < n.x * n.y; i++) {
            uint8_t *p = image.pixels + 3 * i;
            if (!usable(v[i], depths)) {
                p[0] = 12, p[1] = 16, p[2] = 40;
                continue;
            }
            /* From violet over red and orange to light yellow, evenly brighter. */
            static const float stops[6][3] = { { 20, 12, 60 }, { 90, 20, 110 }, { 170, 45, 95 }, { 230, 95, 45 }, { 250, 170, 40 }, { 250, 245, 170 } };
            float t = 5 * (brightness(v[i], depths) - low) / (high - low);
            t = t < 0 ? 0 : t > 5 ? 5 : t;
            const int k = t < 5 ? (int)t : 4;
            for (int c = 0; c < 3; c++) p[c] = (uint8_t)(stops[k][c] + (t - (float)k) * (stops[k + 1][c] - stops[k][c]) + 0.5f);
        }
        status = tsr_image_write(&image, d->picture, &write);
    }
    free(sorted);
    tsr_image_destroy(&image);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, d->picture);
}

static int write_points(struct depth *d)
{
    if (!d->points) return CLI_OK;
    const tsr_write_options write = cli_write_options(d->cli);
    tsr_mesh *mesh = NULL;
    tsr_camera eye = d->pair ? d->camera[0] : d->eye;
    const int picture = d->own >= 0 && !d->middle && d->image[d->own].width == (int32_t)tsr_volume_size(d->map).x && !tsr_lens_distorts(&d->camera[d->own].lens);
    tsr_volume *colors = NULL;
    tsr_status status = TSR_OK;
    if (picture) {
        const tsr_image *image = &d->image[d->own];
        status = tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ (int64_t)image->width * image->channels, image->height, 1 }, NULL, image->pixels, NULL, NULL, &colors);
    }
    if (status == TSR_OK) status = tsr_depth_vertices(d->map, &eye, colors, d->channels, &mesh);
    if (status == TSR_OK) status = tsr_mesh_write(mesh, d->points, &write);
    tsr_volume_destroy(&colors);
    tsr_mesh_destroy(&mesh);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, d->points);
}

/* Differences to a true map of the same kind and size. Of disparities: pixels that are off by more than 1, 2 and 4; of depths: shares off by more. */
static int compare(struct depth *d)
{
    int code = CLI_OK;
    const tsr_volume *map = result_of(d);
    const int depths = d->map != NULL;
    const tsr_read_options read = cli_limit_options(d->cli);
    tsr_volume *any = d->truth ? cli_read_volume(d->cli, d->truth, &read, &code) : NULL, *truth = NULL;
    if (!d->truth) return CLI_OK;
    if (!any) return code;
    tsr_status status = cli_as_reals(any, &truth);
    const tsr_size3 n = tsr_volume_size(map), t = tsr_volume_size(any);
    if (status == TSR_OK && (t.x != n.x || t.y != n.y || t.z != 1))
        code = cli_error(d->cli, CLI_FAILED, "%s: %lld x %lld x %lld, expected %lld x %lld x 1", d->truth, (long long)t.x, (long long)t.y, (long long)t.z, (long long)n.x,
                         (long long)n.y);
    if (status == TSR_OK && !code) {
        static const double limits[2][3] = { { 1, 2, 4 }, { 0.005, 0.01, 0.02 } };
        const float *a = (const float *)tsr_volume_data_const(map), *b = (const float *)tsr_volume_data_const(truth);
        const uint8_t *known = (const uint8_t *)tsr_volume_data_const(d->known);
        int64_t all = 0, valid = 0, bad[3] = { 0 }, bad_valid[3] = { 0 };
        double sum = 0;
        for (int64_t i = 0; i < n.x * n.y; i++) {
            if (!isfinite(b[i]) || !(b[i] > 0)) continue;
            all++;
            const int have = usable(a[i], depths);
            const double off = have ? fabs((double)a[i] - (double)b[i]) / (depths ? (double)b[i] : 1) : 1e30;
            valid += known[i] && have;
            if (known[i] && have) sum += off;
            for (int k = 0; k < 3; k++) {
                bad[k] += off > limits[depths][k];
                bad_valid[k] += known[i] && have && off > limits[depths][k];
            }
        }
        if (d->cli->globals.json) {
            json_int("truth_pixels", all);
            json_real("valid_share", all ? (double)valid / (double)all : 0);
            json_real("mean_off_valid", valid ? sum / (double)valid : 0);
            for (int k = 0; k < 3; k++) {
                char name[40];
                snprintf(name, sizeof name, "bad_%g", limits[depths][k]);
                json_real(name, all ? (double)bad[k] / (double)all : 0);
                snprintf(name, sizeof name, "bad_%g_valid", limits[depths][k]);
                json_real(name, valid ? (double)bad_valid[k] / (double)valid : 0);
            }
        } else {
            printf("truth        %lld pixels, %.1f %% of them valid here; mean difference of these %.4g%s\n", (long long)all, all ? 100.0 * (double)valid / (double)all : 0,
                   valid ? sum / (double)valid * (depths ? 100 : 1) : 0, depths ? " %" : " pixels");
            for (int k = 0; k < 3; k++)
                printf("off by > %-4g %.2f %% of all, %.2f %% of the valid\n", limits[depths][k], all ? 100.0 * (double)bad[k] / (double)all : 0,
                       valid ? 100.0 * (double)bad_valid[k] / (double)valid : 0);
        }
    }
    tsr_volume_destroy(&any);
    tsr_volume_destroy(&truth);
    return status == TSR_OK ? code : cli_status(d->cli, status, d->truth);
}

static void show(const struct depth *d)
{
    const tsr_volume *map = result_of(d);
    const float *v = (const float *)tsr_volume_data_const(map);
    const uint8_t *known = (const uint8_t *)tsr_volume_data_const(d->known);
    const tsr_size3 n = tsr_volume_size(map);
    int64_t valid = 0;
    double low = DBL_MAX, high = -DBL_MAX;
    for (int64_t i = 0; i < n.x * n.y; i++) {
        valid += known[i];
        if (!known[i] || !isfinite(v[i])) continue;
        low = (double)v[i] < low ? (double)v[i] : low;
        high = (double)v[i] > high ? (double)v[i] : high;
    }
    if (!valid) low = high = 0;
    if (d->cli->globals.json) {
        json_int("width", n.x);
        json_int("height", n.y);
        json_int("views", d->views);
        json_text("holds", d->map ? "depth" : "disparity");
        json_int("valid", valid);
        json_real("smallest", low);
        json_real("largest", high);
        json_int("levels", d->levels);
        json_int("hypotheses", d->hypotheses);
        json_real("seconds", d->seconds);
        return;
    }
    printf("map          %lld x %lld pixels from %d views, %.1f %% valid, %s %.6g to %.6g\n", (long long)n.x, (long long)n.y, d->views,
           100.0 * (double)valid / (double)(n.x * n.y), d->map ? "depths" : "disparities", low, high);
    printf("time         %.3f s for %lld hypotheses and %d coarser levels\n", d->seconds, (long long)d->hypotheses, d->levels);
}

static int work(struct depth *d)
{
    tsr_context *context = NULL;
    int code = cli_context(d->cli, &context);
    if (!code) code = d->cameras ? read_rig(d) : make_pair(d);
    if (!code && d->cameras) code = read_images(d);
    if (!code) {
        tsr_status status = upload(d, context);
        const int paths = d->pair && d->method == 0;
        if (status == TSR_OK) status = paths ? work_stereo(d, context) : work_sweep(d, context);
        cli_progress_end(d->cli);
        if (status != TSR_OK) code = cli_status(d->cli, status, NULL);
    }
    if (!code) {
        const int quiet = d->output && !strcmp(d->output, "-");
        if (!quiet && d->cli->globals.json) json_open(NULL, '{');
        if (!quiet) show(d);
        if (!quiet) code = compare(d);
        if (!quiet && d->cli->globals.json) json_close('}');
    }
    if (!code) code = write_map(d, result_of(d), d->output);
    if (!code) code = write_map(d, d->scores, d->score);
    if (!code) code = write_map(d, d->counts, d->count);
    if (!code) code = write_map(d, d->known, d->valid);
    if (!code) code = write_map(d, d->shift, d->disparity);
    if (!code) code = write_picture(d);
    if (!code) code = write_points(d);
    for (int32_t v = 0; v < d->views; v++) {
        if (d->frames) tsr_volume_destroy(&d->frames[v]);
        if (d->image) tsr_image_destroy(&d->image[v]);
        if (d->path) free(d->path[v]);
    }
    tsr_volume **const maps[] = { &d->map, &d->known, &d->scores, &d->counts, &d->shift };
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) tsr_volume_destroy(maps[k]);
    free(d->frames);
    free(d->image);
    free(d->path);
    free(d->camera);
    tsr_rig_destroy(&d->rig);
    tsr_context_destroy(&context);
    return code;
}

/* Options that one way of working has and the other not. */
static int check_given(const struct depth *d, const cli_option *options, const int *given)
{
    static const char *const rig[] = { "view", "middle", "nearest-views", "range" }, *const pair[] = { "focal", "baseline" };
    static const char *const stereo[] = { "reduce", "fill" };
    static const char *const sweep[] = { "score", "count", "cost", "window", "filter", "upsampling", "median", "levels", "no-levels", "ratio", "samples", "reach", "step",
                                         "hypotheses", "contributors", "raw", "no-parabola", "dark", "texture", "flat", "refinements", "width", "height", "seed" };
    const int paths = d->pair && d->method == 0;
    for (int k = 0; options[k].name; k++) {
        if (!given[k]) continue;
        for (size_t i = 0; i < sizeof rig / sizeof *rig; i++)
            if (!d->cameras && !strcmp(options[k].name, rig[i])) return cli_usage(d->cli, "--%s: without effect without --cameras", rig[i]);
        for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
            if (d->cameras && !strcmp(options[k].name, pair[i])) return cli_usage(d->cli, "--%s: without effect with --cameras, which say it", pair[i]);
        for (size_t i = 0; i < sizeof stereo / sizeof *stereo; i++)
            if (!paths && !strcmp(options[k].name, stereo[i])) return cli_usage(d->cli, "--%s: expected a pair without --cameras and --method paths", stereo[i]);
        for (size_t i = 0; i < sizeof sweep / sizeof *sweep; i++)
            if (paths && !strcmp(options[k].name, sweep[i])) return cli_usage(d->cli, "--%s: without effect on a pair with --method paths", sweep[i]);
    }
    return CLI_OK;
}

#define NUMBER(option, kind, field, unit, text, from, to) \
    { .name = (option), .type = (kind), .value = &(field), .argument = (unit), .help = (text), .lower = (from), .upper = (to) }

static int run(cli_call *cli, int argc, char **argv)
{
    struct depth d = { .cli = cli, .sweep = TSR_PLANE_SWEEP_OPTIONS, .stereo = TSR_STEREO_MATCH_OPTIONS };
    int cost = 0, filter = 0, upsampling = 0, median = 0, method_given = 0;
    double uniqueness = -1, consistency = -1;
    int64_t seed = 0;
    cli_option options[] = {
        CLI_OUTPUT_OPTION(d.output),
        { .name = "cameras", .type = CLI_TEXT, .value = &d.cameras, .argument = "FILE", .help = "the cameras of the pictures (transforms.json, COLMAP, ...)" },
        { .name = "disparities", .type = CLI_TEXT, .value = &d.disparities, .argument = "FIRST..LAST",
          .help = "without --cameras: pixels by which the right picture of a rectified pair may be displaced" },
        { .name = "method", .type = CLI_CHOICE, .value = &d.method, .argument = "NAME",
          .help = "paths: all depths, costs smoothed along paths; stack: coarse to fine over box means; mipmap: coarse to fine over halved pictures",
          .choices = "paths stack mipmap", .given = &method_given },
        NUMBER("focal", CLI_REAL, d.focal, "PIXELS", "of a pair: with --baseline the result holds depths", 1e-9, 1e9),
        NUMBER("baseline", CLI_REAL, d.baseline, "LENGTH", "of a pair: distance of the cameras", 1e-12, 1e12),
        { .name = "range", .type = CLI_RANGE, .value = d.range, .help = "of depths (default: the camera's clip distances)", .given = &d.range_given },
        { .name = "view", .type = CLI_TEXT, .value = &d.view, .argument = "NUMBER|NAME", .help = "the camera whose depths are wanted (default the first)" },
        { .name = "middle", .type = CLI_FLAG, .value = &d.middle, .help = "the depths of a camera in the middle of all instead" },
        NUMBER("nearest-views", CLI_INT, d.nearest_views, "N", "use that view and the N - 1 nearest to it alone", 2, 4096),
        { .name = "score", .type = CLI_TEXT, .value = &d.score, .argument = "FILE", .help = "how well the views agree (0: fully)" },
        { .name = "count", .type = CLI_TEXT, .value = &d.count, .argument = "FILE", .help = "how many views contribute" },
        { .name = "valid", .type = CLI_TEXT, .value = &d.valid, .argument = "FILE", .help = "where the result is to be trusted: 1" },
        { .name = "disparity", .type = CLI_TEXT, .value = &d.disparity, .argument = "FILE", .help = "x in the first picture less x in the second" },
        { .name = "points", .type = CLI_TEXT, .value = &d.points, .argument = "FILE.ply", .help = "coloured points of the scene" },
        { .name = "picture", .type = CLI_TEXT, .value = &d.picture, .argument = "FILE.png", .help = "the map in colours, what is near is bright" },
        { .name = "truth", .type = CLI_TEXT, .value = &d.truth, .argument = "FILE", .help = "a true map of the same kind to compare with (0 or NaN: not known)" },
        NUMBER("uniqueness", CLI_REAL, uniqueness, "SHARE", "other depths must be worse by this share (default: paths 0.05, else not asked)", 0, 1e6),
        NUMBER("consistency", CLI_REAL, consistency, "N",
               "the other view must agree, to N pixels (pair, default 1) or to a share N of the depth (default: not asked); 0 = not asked", 0, 1e6),
        NUMBER("paths", CLI_INT, d.sweep.paths, "N", "4 or 8 (default 4)", 4, 8),
        NUMBER("p1", CLI_INT, d.sweep.p1, "COST", "of a change by one hypothesis (default 10)", 1, 64),
        NUMBER("p2", CLI_INT, d.sweep.p2, "COST", "of a larger change (default 80)", 1, 127),
        NUMBER("reduce", CLI_INT, d.stereo.reduce, "N", "of a pair: match pictures 2, 4 or 8 times smaller", 1, 8),
        { .name = "fill", .type = CLI_FLAG, .value = &d.stereo.fill, .help = "of a pair: no holes" },
        NUMBER("refinements", CLI_INT, d.sweep.refinements, "N", "turns of the search for slanted windows (--method paths)", 0, 1000),
        { .name = "cost", .type = CLI_CHOICE, .value = &cost, .argument = "NAME", .help = "of stack and mipmap", .choices = "l2norm l1 ssd census zncc" },
        NUMBER("window", CLI_INT, d.sweep.window, "N", "of census and zncc, 5 or 7 (default 5)", 5, 7),
        { .name = "filter", .type = CLI_CHOICE, .value = &filter, .argument = "NAME", .help = "of the stack", .choices = "box gauss" },
        { .name = "upsampling", .type = CLI_CHOICE, .value = &upsampling, .argument = "NAME", .help = "from level to level (default: stack nearest, mipmap bilinear)",
          .choices = "default nearest bilinear bilateral" },
        { .name = "median", .type = CLI_CHOICE, .value = &median, .argument = "SIZE", .help = "of a level before the next", .choices = "3 5 none mean" },
        NUMBER("levels", CLI_INT, d.sweep.levels, "N", "beyond the full resolution (default: by size)", 1, 15),
        { .name = "no-levels", .type = CLI_FLAG, .value = &d.sweep.no_levels, .help = "full resolution alone" },
        NUMBER("ratio", CLI_INT, d.sweep.ratio, "N", "of neighbouring levels of the stack, 2 or 3 (default 3)", 2, 3),
        NUMBER("samples", CLI_INT, d.sweep.samples, "N", "of mipmap: a place has N x N (default 4)", 1, 16),
        NUMBER("reach", CLI_INT, d.sweep.reach, "N", "finer levels try 2 N + 1 hypotheses (default 2)", 1, 64),
        NUMBER("step", CLI_REAL, d.sweep.step, "PIXELS", "between hypotheses of the first level (default 0.5, paths 1)", 1e-3, 1e6),
        NUMBER("hypotheses", CLI_INT, d.sweep.hypotheses, "N", "of the first level, in place of --step", 2, 65536),
        NUMBER("contributors", CLI_INT, d.sweep.contributors, "N", "views that must see a place (default 2, or 3/10 of them)", 1, 4096),
        { .name = "raw", .type = CLI_FLAG, .value = &d.sweep.raw, .help = "scores are sums, not shared by the views that contribute" },
        { .name = "no-parabola", .type = CLI_FLAG, .value = &d.sweep.no_parabola, .help = "depths are those of hypotheses" },
        NUMBER("dark", CLI_REAL, d.sweep.dark, "GREYS", "pixels below do not count", 0, 256),
        NUMBER("texture", CLI_REAL, d.sweep.texture, "GREYS", "pixels whose neighbourhood varies by less do not count", 0, 256),
        NUMBER("flat", CLI_REAL, d.sweep.flat, "SCORE", "where all scores are below, the coarser level stays; -1: by the noise", -1, 1e6),
        NUMBER("width", CLI_INT, d.sweep.width, "N", "of the map (default: of the view)", 1, 32768),
        NUMBER("height", CLI_INT, d.sweep.height, "N", "likewise", 1, 32768),
        { .name = "seed", .type = CLI_COUNT, .value = &seed, .argument = "N", .help = "of --refinements", .lower = 0, .upper = 9.2e18 },
        { 0 },
    };
    int given[sizeof options / sizeof *options] = { 0 };
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        if (!options[k].given) options[k].given = &given[k];
    int code = cli_parse(cli, options, 0, 4096, argc, argv);
    if (code >= 0) return code;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) given[k] = *options[k].given;
    d.pair = !d.cameras;
    d.sweep.method = d.method == 0 ? TSR_DEPTH_VOLUME : d.method == 1 ? TSR_DEPTH_STACK : TSR_DEPTH_MIPMAP;
    d.sweep.cost = (tsr_depth_cost)cost;
    d.sweep.filter = (tsr_depth_filter)filter;
    d.sweep.upsampling = (tsr_depth_upsampling)upsampling;
    d.sweep.median = (tsr_depth_median)median;
    d.sweep.seed = (uint64_t)seed;
    code = check_given(&d, options, given);
    if (code) return code;
    if (d.pair && cli->inputs != 2) return cli_usage(cli, "%d pictures given, expected two, left and right, or --cameras", cli->inputs);
    if (d.pair && !d.disparities) return cli_usage(cli, "--disparities: missing: expected FIRST..LAST pixels, as 0..63, or --cameras");
    if (!d.pair && d.disparities) return cli_usage(cli, "--disparities: without effect with --cameras: see --range");
    if (d.view && d.middle) return cli_usage(cli, "--view and --middle given, expected one of them");
    if (d.pair && (d.focal > 0) != (d.baseline > 0)) return cli_usage(cli, "--%s: expected --%s as well", d.focal > 0 ? "focal" : "baseline", d.focal > 0 ? "baseline" : "focal");
    if (d.pair && (code = take_disparities(&d)) != CLI_OK) return code;
    if (d.pair && d.method && d.first < 0) return cli_usage(cli, "--disparities: '%s' given, expected 0 or more with --method stack and mipmap", d.disparities);
    if (d.points && d.pair && !(d.focal > 0)) return cli_usage(cli, "--points: expected --focal and --baseline as well");
    if (d.range_given) {
        d.sweep.nearest = d.range[0];
        d.sweep.farthest = d.range[1];
    }
    d.stereo.paths = d.sweep.paths;
    d.stereo.p1 = d.sweep.p1;
    d.stereo.p2 = d.sweep.p2;
    if (uniqueness >= 0) {
        const double percent = 100 * uniqueness / (1 + uniqueness);
        d.sweep.uniqueness = uniqueness;
        d.stereo.uniqueness = uniqueness == 0 ? -1 : percent < 1 ? 1 : percent > 99 ? 99 : (int32_t)(percent + 0.5);
    } else if (d.method == 0) d.sweep.uniqueness = 0.05;
    if (consistency >= 0) {
        d.sweep.consistency = consistency;
        d.stereo.consistency = consistency == 0 ? -1 : consistency < 1 ? 1 : consistency > 32768 ? 32768 : (int32_t)(consistency + 0.5);
    }
    if (!d.output && !d.picture && !d.points && !d.truth && !d.score && !d.count && !d.valid && !d.disparity)
        return cli_usage(cli, "no output: expected -o FILE, --picture, --points or another");
    const char *const maps[] = { d.score, d.count, d.valid, d.disparity }, *const names[] = { "score", "count", "valid", "disparity" };
    if (d.output && (code = cli_check_write(cli, d.output, TSR_FILE_VOLUME, NULL)) != CLI_OK) return code;
    for (size_t k = 0; k < 4; k++)
        if (maps[k] && (code = cli_check_write_option(cli, names[k], maps[k], TSR_FILE_VOLUME, NULL)) != CLI_OK) return code;
    if (d.picture && (code = cli_check_write_option(cli, "picture", d.picture, TSR_FILE_IMAGE, NULL)) != CLI_OK) return code;
    if (d.points && (code = cli_check_write_option(cli, "points", d.points, TSR_FILE_MESH, NULL)) != CLI_OK) return code;
    return work(&d);
}

const cli_verb verb_depth = { "depth", "[options] LEFT RIGHT --disparities 0..63 -o MAP | [options] [PICTURE...] --cameras FILE -o MAP",
                              "Depth from two pictures side by side, or from many whose cameras are known",
                              "  tessera make picture-left -o left.png\n"
                              "  tessera make picture-right -o right.png\n"
                              "  tessera depth left.png right.png --disparities 0..63 -o disparity.npy --picture disparity.png\n"
                              "  tessera make scene head --layout arc --count 5 --degrees 30 --size 160,120,1 -o head\n"
                              "  tessera depth --cameras head/transforms.json --middle --range 2.5:8 --picture head.png --points head.ply\n",
                              run };
