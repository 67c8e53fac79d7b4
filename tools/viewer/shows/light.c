/* viewer/shows/light.c: the mode `light`: a scene of glass, water and smoke, whose light is simulated anew while its source is dragged: first in few voxels and with a small
 * picture, then as fine as is asked for (docs/theory/light.md). */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIGHTS = 16, COARSE = 40 };

/* The scene in so many voxels, and its light. */
struct lit {
    int32_t resolution; /* 0: none */
    tsr_light_matter *matter;
    tsr_light_field *field;
    double turn, rise; /* of the lights when the field was made */
    int caustics;
};

struct light {
    tsr_light_scene *scene;
    struct lit lit[2]; /* coarse, fine */
    double turn, rise, adapted, milliseconds;
    int resolution, caustics;
    int64_t patches, voxels;
};

static struct light *light_of(const viewer_show *show) { return (struct light *)show->own; }

static void drop(struct lit *l)
{
    tsr_light_field_destroy(&l->field);
    tsr_light_matter_destroy(&l->matter);
    l->resolution = 0;
}

static void forget(struct light *l)
{
    for (int k = 0; k < 2; k++) drop(&l->lit[k]);
    tsr_light_scene_destroy(&l->scene);
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct light made = { .resolution = 96 };
    tsr_light_matter_info info = { .struct_size = sizeof info };
    tsr_read_options read = TSR_READ_OPTIONS;
    read.memory_limit = show->s->memory_limit;
    read.same_folder = 1;
    read.progress = (tsr_progress){ viewer_session_quits, show->s };
    tsr_status status = tsr_light_scene_read(path, &read, &made.scene);
    if (status == TSR_OK) status = tsr_light_scene_matter(show->context, made.scene, COARSE, &read.progress, &made.lit[0].matter);
    if (status == TSR_OK) status = tsr_light_matter_describe(made.lit[0].matter, &info);
    made.lit[0].resolution = COARSE;
    if (status == TSR_OK) made.caustics = tsr_light_scene_options(made.scene)->go_on;
    if (status == TSR_OK && !viewer_show_box(show, name, info.bounds)) {
        forget(light_of(show));
        *light_of(show) = made;
        return 0;
    }
    viewer_take_message(show->s, error, error_bytes);
    forget(&made);
    return -1;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    struct light *l = light_of(show);
    int good = 1;
    if (!strcmp(name, "turn")) {
        if ((good = value >= -180 && value <= 180)) l->turn = value;
    } else if (!strcmp(name, "rise")) {
        if ((good = value >= -90 && value <= 90)) l->rise = value;
    } else if (!strcmp(name, "resolution")) {
        if ((good = value >= 16 && value <= 256 && value == floor(value))) l->resolution = (int)value;
    } else if (!strcmp(name, "caustics")) {
        l->caustics = value > 0;
    } else {
        good = 0;
    }
    if (!good) {
        snprintf(error, error_bytes,
                 "set: expected turn from -180 to 180 degrees, rise from -90 to 90 degrees, resolution from 16 to 256 or caustics");
        return -1;
    }
    show->version++;
    return 0;
}

/* The lights of the scene, turned around the middle and raised over it. */
static int32_t place_lights(const struct light *l, const tsr_light_matter_info *info, tsr_light_source lights[LIGHTS])
{
    const double middle[3] = { 0.5 * (info->bounds.lower.x + info->bounds.upper.x), 0.5 * (info->bounds.lower.y + info->bounds.upper.y),
                               0.5 * (info->bounds.lower.z + info->bounds.upper.z) };
    int32_t count;
    const tsr_light_source *from = tsr_light_scene_sources(l->scene, &count);
    count = count < LIGHTS ? count : LIGHTS;
    for (int32_t i = 0; i < count; i++) {
        const int parallel = from[i].kind == TSR_LIGHT_DIRECTIONAL;
        double d[3], r = 0;
        lights[i] = from[i];
        for (int k = 0; k < 3; k++) {
            d[k] = parallel ? -from[i].direction[k] : from[i].position[k] - middle[k]; /* towards the light */
            r += d[k] * d[k];
        }
        r = sqrt(r);
        if (!(r > 0)) continue;
        const double azimuth = atan2(d[1], d[0]) + l->turn * (M_PI / 180), high = asin(fmax(-1, fmin(1, d[2] / r))) + l->rise * (M_PI / 180);
        const double elevation = fmax(-89.9 * (M_PI / 180), fmin(89.9 * (M_PI / 180), high));
        const double to[3] = { cos(elevation) * cos(azimuth), cos(elevation) * sin(azimuth), sin(elevation) };
        for (int k = 0; k < 3; k++) {
            lights[i].direction[k] = -to[k];
            if (!parallel) lights[i].position[k] = middle[k] + r * to[k];
        }
    }
    return count;
}

/* Light in so many voxels for the lights as they stand. */
static tsr_status simulate(viewer_show *show, struct light *l, int draft, const tsr_progress *progress, tsr_light_source lights[LIGHTS],
                           int32_t *count)
{
    struct lit *at = &l->lit[!draft];
    const int32_t resolution = draft && l->resolution > COARSE ? COARSE : l->resolution;
    tsr_light_matter_info info = { .struct_size = sizeof info };
    tsr_light_report report = { .struct_size = sizeof report };
    tsr_light_options options = *tsr_light_scene_options(l->scene);
    tsr_light_matter *matter = NULL;
    tsr_light_field *field = NULL;
    if (at->resolution != resolution) {
        const tsr_status status = tsr_light_scene_matter(show->context, l->scene, resolution, progress, &matter);
        if (status != TSR_OK) return status;
        drop(at);
        at->matter = matter;
        at->resolution = resolution;
    }
    tsr_status status = tsr_light_matter_describe(at->matter, &info);
    *count = status == TSR_OK ? place_lights(l, &info, lights) : 0;
    if (status != TSR_OK || (at->field && at->turn == l->turn && at->rise == l->rise && at->caustics == l->caustics)) return status;
    options.go_on = l->caustics;
    options.progress = *progress;
    if (draft) options.faint = fmax(options.faint, 3e-3);
    const double begun = viewer_seconds();
    status = tsr_light_simulate(show->context, at->matter, lights, *count, &options, &field, &report);
    if (status != TSR_OK) return status;
    tsr_light_field_destroy(&at->field);
    at->field = field;
    at->turn = l->turn;
    at->rise = l->rise;
    at->caustics = l->caustics;
    l->milliseconds = 1e3 * (viewer_seconds() - begun);
    l->patches = report.moved;
    l->voxels = resolution;
    show->state_dirty = 1;
    return TSR_OK;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    struct light *l = light_of(show);
    tsr_light_source lights[LIGHTS];
    tsr_light_view_options view = *tsr_light_scene_view(l->scene);
    tsr_light_tone_options tone = *tsr_light_scene_tone(l->scene);
    tsr_camera camera;
    tsr_volume *picture = NULL;
    int32_t count = 0;
    (void)pixel;
    const tsr_progress progress = { draft ? viewer_session_quits : viewer_show_overtaken, draft ? (void *)show->s : (void *)show };
    tsr_status status = viewer_show_camera(show, look, &camera);
    if (status == TSR_OK) status = simulate(show, l, draft, &progress, lights, &count);
    view.width = width;
    view.height = height;
    view.samples = draft ? 1 : view.samples < 4 ? view.samples : 4;
    view.sources = lights;
    view.source_count = count;
    view.progress = progress;
    tone.adapted = &l->adapted;
    tone.seconds = 0.1;
    const struct lit *at = &l->lit[!draft];
    if (status == TSR_OK) status = tsr_light_view(show->context, at->matter, at->field, &camera, &view, &picture);
    if (status == TSR_OK) status = tsr_light_tone(show->context, picture, &tone, image);
    tsr_volume_destroy(&picture);
    return status;
}

static json_t *state(const viewer_show *show)
{
    const struct light *l = light_of(show);
    return json_pack("{s:f, s:f, s:i, s:b, s:I, s:I, s:f}", "turn", l->turn, "rise", l->rise, "resolution", l->resolution, "caustics", l->caustics,
                     "patches", (json_int_t)l->patches, "voxels", (json_int_t)l->voxels, "milliseconds", l->milliseconds);
}

static void clear(viewer_show *show) { forget(light_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct light), .drafts = 2, .load = load, .set = set, .draw = draw, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name)
{
    const size_t n = strlen(name);
    return n > 4 && !strcmp(name + n - 4, ".txt");
}

const viewer_mode viewer_light = { .name = "light",
                                   .takes = VIEWER_TAKES(SET),
                                   .draws = 1,
                                   .opens = opens,
                                   .expects = "a scene for light (.txt, docs/formats/light-scene.md)",
                                   .work = work,
                                   .state = viewer_mode_more };
