#include "depth.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
    if (tsr_video_recognise(d->path[0])) {
        d->reader = calloc((size_t)d->views, sizeof *d->reader);
        d->next = calloc((size_t)d->views, sizeof *d->next);
        if (!d->reader || !d->next) return cli_error(d->cli, CLI_FAILED, "out of memory for %d films", d->views);
    }
    for (int32_t v = 0; v < d->views; v++) {
        tsr_status status;
        int more = 1;
        if (d->reader) {
            if (!tsr_video_recognise(d->path[v])) return cli_error(d->cli, CLI_FAILED, "%s: no film, but %s is one: expected a film of each camera", d->path[v], d->path[0]);
            status = tsr_video_reader_create(d->path[v], NULL, &d->reader[v]);
            if (status == TSR_OK) status = tsr_video_reader_next(d->reader[v], &d->image[v], &more);
        } else {
            const tsr_rig_camera size = { .width = d->pixels ? d->pixels[v][0] : 0, .height = d->pixels ? d->pixels[v][1] : 0 };
            status = tsr_rig_read_image(&size, d->path[v], NULL, &d->image[v]);
        }
        if (status != TSR_OK) return cli_status(d->cli, status, d->path[v]);
        if (!more) return cli_error(d->cli, CLI_FAILED, "%s: a film of no frames", d->path[v]);
        if (d->image[v].channels != d->image[0].channels)
            return cli_error(d->cli, CLI_FAILED, "%s: %d channels, but %s has %d: expected the same of all pictures", d->path[v], d->image[v].channels, d->path[0],
                             d->image[0].channels);
    }
    d->channels = d->image[0].channels;
    return CLI_OK;
}

/* The view whose map is wanted: a number or a name of the rig. */
static int find_view(struct depth *d, const tsr_rig *rig, int64_t *index)
{
    char *end;
    *index = 0;
    if (!d->view) return CLI_OK;
    const long number = strtol(d->view, &end, 10);
    const int64_t found = *d->view && !*end ? number : tsr_rig_find(rig, d->view);
    if (found < 0 || found >= tsr_rig_count(rig))
        return cli_usage(d->cli, "--view: '%s' given, expected 0 to %lld or the name of a camera", d->view, (long long)tsr_rig_count(rig) - 1);
    *index = found;
    return CLI_OK;
}

/* --sensor: a camera that took no picture, such as the depth sensor beside the colour camera. */
static int read_sensor(struct depth *d, tsr_rig_camera *sensor)
{
    tsr_rig *rig = NULL;
    int64_t index;
    tsr_status status = tsr_rig_read(d->sensors, NULL, &rig);
    int code = status == TSR_OK ? find_view(d, rig, &index) : cli_status(d->cli, status, d->sensors);
    if (!code && (status = tsr_rig_get(rig, index, sensor)) != TSR_OK) code = cli_status(d->cli, status, d->sensors);
    sensor->name = sensor->image = sensor->depth = "";
    tsr_rig_destroy(&rig);
    d->eye = sensor->camera;
    d->sensor_size[0] = sensor->width;
    d->sensor_size[1] = sensor->height;
    return code;
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
    tsr_rig_camera centre, c;
    int64_t own = -1;
    int code = d->sensors ? read_sensor(d, &centre) : find_view(d, d->rig, &own);
    if (code) return code;
    d->own = (int32_t)own;
    struct near *order = calloc((size_t)all, sizeof *order);
    d->camera = calloc((size_t)all, sizeof *d->camera);
    d->pixels = calloc((size_t)all, sizeof *d->pixels);
    d->path = calloc((size_t)all, sizeof *d->path);
    if (!order || !d->camera || !d->pixels || !d->path) {
        free(order);
        return cli_error(d->cli, CLI_FAILED, "out of memory for %lld cameras", (long long)all);
    }
    if (!d->sensors) status = tsr_rig_get(d->rig, d->own, &centre);
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
        d->pixels[v][0] = c.width;
        d->pixels[v][1] = c.height;
        if (d->cli->inputs) snprintf(text, sizeof text, "%s", d->cli->input[order[v].index]);
        else status = tsr_rig_path(d->rig, c.image, c.frame < 0 ? 0 : c.frame, text, sizeof text);
        if (!d->cli->inputs && !*c.image) code = cli_error(d->cli, CLI_FAILED, "%s: camera %s names no picture: give the pictures, one for each camera", d->cameras, c.name);
        d->path[v] = strdup(text);
    }
    if (d->nearest_views && !d->sensors) d->own = 0;
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
    d->frames_up = calloc((size_t)d->views, sizeof *d->frames_up);
    if (!d->frames_up) return TSR_ERROR_MEMORY;
    for (int32_t v = 0; v < d->views; v++) {
        const tsr_image *image = &d->image[v];
        tsr_volume *host;
        tsr_status status = tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ (int64_t)image->width * image->channels, image->height, 1 }, NULL, image->pixels, NULL, NULL, &host);
        if (status == TSR_OK) status = tsr_volume_copy(host, context, &d->frames_up[v]);
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
    tsr_status status = tsr_stereo_match(context, d->frames_up[0], d->frames_up[1], &d->stereo, &disparity, &valid);
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
    for (int32_t v = 0; v < d->views; v++) view[v] = (tsr_depth_view){ .camera = d->camera[v], .image = d->frames_up[v] };
    d->sweep.channels = d->channels;
    d->sweep.progress = cli_progress(d->cli);
    d->sweep.disparity = d->pair || d->disparity != NULL;
    if (d->own >= 0) d->eye = d->camera[d->own];
    d->eye.lens = (tsr_lens){ 0 };
    if (d->middle) status = tsr_camera_middle(d->camera, d->views, &d->eye);
    const tsr_image *like = &d->image[d->own < 0 ? 0 : d->own];
    d->width = d->sweep.width ? d->sweep.width : d->own < 0 && d->sensor_size[0] ? d->sensor_size[0] : like->width;
    d->height = d->sweep.height ? d->sweep.height : d->own < 0 && d->sensor_size[0] ? d->sensor_size[1] : like->height;
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

/* The next frame of every film, while the one at hand is worked on. */
static void *read_ahead(void *user)
{
    struct depth *d = (struct depth *)user;
    d->reading = TSR_OK;
    d->more = 1;
    for (int32_t v = 0; v < d->views && d->reading == TSR_OK; v++) {
        int more = 0;
        d->reading = tsr_video_reader_next(d->reader[v], &d->next[v], &more);
        d->more = d->more && more;
        if (d->reading != TSR_OK) snprintf(d->message, sizeof d->message, "%.100s: %.280s", d->path[v], tsr_error_message());
    }
    return NULL;
}

static void drop_maps(struct depth *d)
{
    tsr_volume **const maps[] = { &d->map, &d->known, &d->scores, &d->counts, &d->shift };
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) tsr_volume_destroy(maps[k]);
    for (int32_t v = 0; v < d->views && d->frames_up; v++) tsr_volume_destroy(&d->frames_up[v]);
    free(d->frames_up);
    d->frames_up = NULL;
}

/* The pictures at hand: maps, and what is written of them. */
static int one(struct depth *d, tsr_context *context)
{
    tsr_status status = upload(d, context);
    const int paths = d->pair && d->method == 0;
    if (status == TSR_OK) status = paths ? work_stereo(d, context) : work_sweep(d, context);
    cli_progress_end(d->cli);
    return status == TSR_OK ? depth_output(d) : cli_status(d->cli, status, NULL);
}

static int films(struct depth *d, tsr_context *context)
{
    int code = CLI_OK;
    double spent = 0;
    const double start = cli_seconds();
    const int picture_film = d->picture && !depth_is_numbered(d->picture);
    if (d->output && !depth_is_numbered(d->output)) return cli_usage(d->cli, "--output: '%s' given, expected a name with %%04d for the frames of films", cli_shown(d->output));
    if (picture_film) code = cli_film_check(d->cli, &d->film, d->picture, 0);
    for (d->frames = 0; !code; d->frames++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, read_ahead, d)) code = cli_error(d->cli, CLI_FAILED, "no thread for reading ahead");
        if (code) break;
        code = one(d, context);
        spent += d->seconds;
        drop_maps(d);
        pthread_join(thread, NULL);
        if (!code && d->reading != TSR_OK) code = cli_error(d->cli, CLI_FAILED, "%s", d->message);
        for (int32_t v = 0; v < d->views && d->more; v++) {
            const tsr_image own = d->image[v];
            d->image[v] = d->next[v];
            d->next[v] = own;
        }
        if (!d->more) {
            d->frames++;
            break;
        }
    }
    code = cli_film_finish(d->cli, &d->film, code);
    if (!code && d->cli->globals.json) {
        json_open(NULL, '{');
        json_int("frames", d->frames);
        json_int("views", d->views);
        json_real("seconds", spent);
        json_real("all_seconds", cli_seconds() - start);
        json_close('}');
    } else if (!code) {
        printf("%d frames of %d films, %.1f ms each for the depths, %.1f with reading and writing\n", d->frames, d->views, 1e3 * spent / d->frames,
               1e3 * (cli_seconds() - start) / d->frames);
    }
    return code;
}

static int work(struct depth *d)
{
    tsr_context *context = NULL;
    int code = cli_context(d->cli, &context);
    if (!code) code = d->cameras ? read_rig(d) : make_pair(d);
    if (!code && d->cameras) code = read_images(d);
    if (!code) code = d->reader ? films(d, context) : one(d, context);
    drop_maps(d);
    for (int32_t v = 0; v < d->views; v++) {
        if (d->image) tsr_image_destroy(&d->image[v]);
        if (d->next) tsr_image_destroy(&d->next[v]);
        if (d->reader) tsr_video_reader_destroy(&d->reader[v]);
        if (d->path) free(d->path[v]);
    }
    free(d->image);
    free(d->next);
    free(d->reader);
    free(d->path);
    free(d->camera);
    free(d->pixels);
    tsr_rig_destroy(&d->rig);
    tsr_context_destroy(&context);
    return code;
}

/* Options that one way of working has and the other not. */
static int check_given(const struct depth *d, const cli_option *options, const int *given)
{
    static const char *const rig[] = { "view", "middle", "sensor", "nearest-views", "range" }, *const pair[] = { "focal", "baseline" };
    static const char *const stereo[] = { "reduce", "fill" };
    static const char *const sweep[] = { "score", "count", "cost", "window", "filter", "upsampling", "median", "levels", "no-levels", "ratio", "samples", "reach", "step",
                                         "hypotheses", "contributors", "raw", "no-parabola", "dark", "texture", "flat", "refinements", "width", "height", "seed", "shadows", "shadow-tolerance" };
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
        { .name = "sensor", .type = CLI_TEXT, .value = &d.sensors, .argument = "FILE",
          .help = "cameras that --view names one of, in place of those of the pictures: the depths of a sensor that took none" },
        { .name = "middle", .type = CLI_FLAG, .value = &d.middle, .help = "the depths of a camera in the middle of all instead" },
        NUMBER("nearest-views", CLI_INT, d.nearest_views, "N", "use that view and the N - 1 nearest to it alone", 2, 4096),
        { .name = "score", .type = CLI_TEXT, .value = &d.score, .argument = "FILE", .help = "how well the views agree (0: fully)" },
        { .name = "count", .type = CLI_TEXT, .value = &d.count, .argument = "FILE", .help = "how many views contribute" },
        { .name = "valid", .type = CLI_TEXT, .value = &d.valid, .argument = "FILE", .help = "where the result is to be trusted: 1" },
        { .name = "disparity", .type = CLI_TEXT, .value = &d.disparity, .argument = "FILE", .help = "x in the first picture less x in the second" },
        { .name = "points", .type = CLI_TEXT, .value = &d.points, .argument = "FILE.ply", .help = "coloured points of the scene" },
        { .name = "camera-output", .type = CLI_TEXT, .value = &d.camera_output, .argument = "FILE",
          .help = "the map's camera, naming -o as its depths: .geocast, transforms .json, ..." },
        NUMBER("png-scale", CLI_REAL, d.png_scale, "N",
               "of -o as PNG: its whole numbers are the map times N (1000: mm of a map in m; default: as fine as they fit)", 1e-9, 1e12),
        { .name = "picture", .type = CLI_TEXT, .value = &d.picture, .argument = "FILE.png", .help = "the map in colours, what is near is bright" },
        { .name = "truth", .type = CLI_TEXT, .value = &d.truth, .argument = "FILE", .help = "a true map of the same kind to compare with (0 or NaN: not known)" },
        NUMBER("uniqueness", CLI_REAL, uniqueness, "SHARE", "other depths must be worse by this share (default: paths 0.05, else not asked)", 0, 1e6),
        NUMBER("consistency", CLI_REAL, consistency, "N",
               "the other view must agree, to N pixels (pair, default 1) or to a share N of the depth (default: not asked); 0 = not asked", 0, 1e6),
        NUMBER("paths", CLI_INT, d.sweep.paths, "N", "3, 4 or 8 (default 4; 3: least memory, fastest on a CPU)", 3, 8),
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
        NUMBER("shadows", CLI_INT, d.sweep.shadows, "N", "cameras far apart: sweep N times again, without the views from which what was found hides a place", 0, 16),
        NUMBER("shadow-tolerance", CLI_REAL, d.sweep.shadow_tolerance, "SHARE", "of the distance that still counts as seen (default 0.02)", 1e-9, 1e6),
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
    if (d.middle && (d.view || d.sensors)) return cli_usage(cli, "--%s and --middle given, expected one of them", d.view ? "view" : "sensor");
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
    if (d.camera_output && (!d.output || !strcmp(d.output, "-") || (d.pair && !(d.focal > 0))))
        return cli_usage(cli, "--camera-output: expected -o FILE as well, which holds depths (of a pair: --focal and --baseline)");
    if (d.camera_output && (code = cli_check_option(cli, "camera-output", d.camera_output)) != CLI_OK) return code;
    const int film = d.picture && !depth_is_numbered(d.picture) && tsr_video_check_output(d.picture, NULL) == TSR_OK;
    if (d.picture && !film && (code = cli_check_write_option(cli, "picture", d.picture, TSR_FILE_IMAGE, NULL)) != CLI_OK) return code;
    if (d.points && (code = cli_check_write_option(cli, "points", d.points, TSR_FILE_MESH, NULL)) != CLI_OK) return code;
    return work(&d);
}

const cli_verb verb_depth = { "depth", "[options] LEFT RIGHT --disparities 0..63 -o MAP | [options] [PICTURE...] --cameras FILE -o MAP",
                              "Depth from two pictures side by side, or from many whose cameras are known",
                              "  tessera make picture-left -o left.png\n"
                              "  tessera make picture-right -o right.png\n"
                              "  tessera depth left.png right.png --disparities 0..63 -o disparity.npy --picture disparity.png\n"
                              "  tessera make scene head --layout arc --count 5 --degrees 30 --size 160,120 -o head\n"
                              "  tessera depth --cameras head/transforms.json --middle --range 2.5:8 --picture head.png --points head.ply\n",
                              run };
