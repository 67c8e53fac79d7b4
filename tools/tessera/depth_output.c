/* tools/tessera/depth_output.c: what `tessera depth` writes and prints. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../projectors.h"
#include "depth.h"

/* ---- output -------------------------------------------------------------------------------------------------------------------- */

int depth_is_numbered(const char *path)
{
    const char *at = path ? strchr(path, '%') : NULL, *end = at;
    if (!at) return 0;
    for (end++; *end >= '0' && *end <= '9'; end++) continue;
    return *end == 'd' && end - at <= 4 && !strchr(end, '%');
}
const char *depth_numbered(const char *path, int64_t number, char text[4096])
{
    const char *at = strchr(path, '%'), *end = strchr(at, 'd');
    snprintf(text, 4096, "%.*s%0*lld%s", (int)(at - path), path, end - at > 1 ? (int)strtol(at + 1, NULL, 10) : 1, (long long)number, end + 1);
    return text;
}
/* The name of the frame at hand. */
static const char *named(const struct depth *d, const char *path, char text[4096])
{
    return d->reader && depth_is_numbered(path) ? depth_numbered(path, d->frames, text) : path;
}

static int write_map(struct depth *d, const tsr_volume *map, const char *pattern)
{
    char text[4096];
    const tsr_write_options write = cli_write_options(d->cli);
    if (!pattern) return CLI_OK;
    const char *path = named(d, pattern, text);
    if (!map) return cli_error(d->cli, CLI_FAILED, "%s: this method has no such map", path);
    const tsr_status status = tsr_volume_write(map, path, &write);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, path);
}

/* The result as whole numbers of 16 bits, 0 where there is none. A scale that nobody chose is that of the first frame. */
static int write_whole(struct depth *d)
{
    const tsr_volume *map = depth_result(d);
    const float *v = (const float *)tsr_volume_data_const(map);
    const int64_t count = tsr_volume_count(map);
    tsr_volume *whole = NULL;
    double most = 0;
    int64_t beyond = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(v[i])) most = fmax(most, (double)v[i]);
    if (d->png_scale == 0) d->png_scale = most > 0 ? 65535 / most : 1;
    const tsr_status status = tsr_volume_create(NULL, TSR_U16, tsr_volume_size(map), NULL, &whole);
    if (status != TSR_OK) return cli_status(d->cli, status, d->output);
    uint16_t *to = (uint16_t *)tsr_volume_data(whole);
    for (int64_t i = 0; i < count; i++) {
        const double unit = isfinite(v[i]) && v[i] > 0 ? (double)v[i] * d->png_scale + 0.5 : 0;
        beyond += unit >= 65536;
        to[i] = (uint16_t)(unit < 65536 ? unit : 0);
    }
    if (!d->frames) cli_note(d->cli, "%s: whole numbers, %g times the map (--png-scale)", cli_shown(d->output), d->png_scale);
    if (beyond) cli_note(d->cli, "%s: %lld pixels are beyond 65535 / %g and hold 0", cli_shown(d->output), (long long)beyond, d->png_scale);
    const int code = write_map(d, whole, d->output);
    tsr_volume_destroy(&whole);
    return code;
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
    const tsr_volume *map = depth_result(d);
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
        char text[4096];
        cli_frames frames = CLI_FRAMES(d->cli);
        if (d->reader && d->film.path) {
            int code = d->frames ? CLI_OK : cli_film_begin(d->cli, &d->film, image.width, image.height, 3, &frames);
            if (!code) code = cli_film_append(d->cli, &d->film, &image, &frames);
            free(sorted);
            tsr_image_destroy(&image);
            return code;
        }
        status = tsr_image_write(&image, named(d, d->picture, text), &write);
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

/* The map's camera, with the file of the map: for fuse, reproject, cameras and other tools. */
static int write_camera(struct depth *d)
{
    if (!d->camera_output) return CLI_OK;
    tsr_rig *rig = NULL;
    tsr_rig_write_options o = TSR_RIG_WRITE_OPTIONS;
    tsr_rig_camera c = { .name = "depth", .frame = TSR_RIG_STATIC, .camera = d->pair ? d->camera[0] : d->eye };
    char own[4096], *absolute = realpath(d->output, own);
    c.depth = absolute ? absolute : d->output;
    c.image = d->own >= 0 && !d->middle ? d->path[d->own] : "";
    c.width = (int32_t)tsr_volume_size(d->map).x;
    c.height = (int32_t)tsr_volume_size(d->map).y;
    char other[4096], *picture = *c.image ? realpath(c.image, other) : NULL;
    if (picture) c.image = picture;
    if (cli_ends_in(d->output, ".png")) c.encoding = (tsr_depth_encoding){ .bits = 16, .scale = 1 / d->png_scale };
    o.overwrite = d->cli->globals.force;
    tsr_status status = tsr_rig_create(&rig);
    if (status == TSR_OK) status = tsr_rig_add(rig, &c);
    if (status == TSR_OK) status = tsr_rig_write(rig, d->camera_output, &o);
    tsr_rig_destroy(&rig);
    return status == TSR_OK ? CLI_OK : cli_status(d->cli, status, NULL);
}

/* Differences to a true map of the same kind and size. Of disparities: pixels that are off by more than 1, 2 and 4; of depths: shares off by more. */
static int compare(struct depth *d)
{
    int code = CLI_OK;
    const tsr_volume *map = depth_result(d);
    const int depths = d->map != NULL;
    const tsr_read_options read = cli_limit_options(d->cli);
    tsr_volume *any = d->truth ? cli_read_volume(d->cli, d->truth, &read, &code) : NULL, *truth = NULL;
    if (!d->truth) return CLI_OK;
    if (!any) return code;
    tsr_status status = rig_as_reals(any, &truth);
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
    const tsr_volume *map = depth_result(d);
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

int depth_output(struct depth *d)
{
    int code = CLI_OK;
    const int quiet = (d->output && !strcmp(d->output, "-")) || d->reader;
    if (!quiet && d->cli->globals.json) json_open(NULL, '{');
    if (!quiet) show(d);
    if (!quiet) code = compare(d);
    if (!quiet && d->cli->globals.json) json_close('}');
    if (!code) code = cli_ends_in(d->output, ".png") ? write_whole(d) : write_map(d, depth_result(d), d->output);
    if (!code) code = write_map(d, d->scores, d->score);
    if (!code) code = write_map(d, d->counts, d->count);
    if (!code) code = write_map(d, d->known, d->valid);
    if (!code) code = write_map(d, d->shift, d->disparity);
    if (!code) code = write_picture(d);
    if (!code) code = write_points(d);
    if (!code) code = write_camera(d);
    return code;
}
