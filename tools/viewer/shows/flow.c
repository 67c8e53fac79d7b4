/* viewer/shows/flow.c: the mode `flow`: a vector field by its contours, the stream lines that are to a field what a silhouette is to a surface: they follow
 * the view as it turns (docs/theory/flow.md). */
#include "show.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

struct flow {
    tsr_vector_field *field;
    tsr_contours *contours;
    tsr_field_info info;
    double thinning, width; /* cells; of lines, in cells */
    int steps, relevance, box;
    /* of the last view */
    int fresh; /* 0: lines are to be found anew */
    double azimuth, elevation;
    float *position, *speed;
    int64_t *offset, lines, seeds;
    double milliseconds;
};

static struct flow *flow_of(const viewer_show *show) { return (struct flow *)show->own; }

static void drop_lines(struct flow *f)
{
    free(f->position);
    free(f->speed);
    free(f->offset);
    f->position = f->speed = NULL;
    f->offset = NULL;
    f->lines = f->fresh = 0;
}

static void forget(struct flow *f)
{
    drop_lines(f);
    tsr_contours_destroy(&f->contours);
    tsr_field_destroy(&f->field);
}

static tsr_status make_contours(struct flow *f)
{
    tsr_contour_options options = TSR_CONTOUR_OPTIONS;
    tsr_contours *made = NULL;
    options.thinning = f->thinning;
    const tsr_status status = tsr_contours_create(f->field, &options, &made);
    if (status != TSR_OK) return status;
    tsr_contours_destroy(&f->contours);
    f->contours = made;
    return TSR_OK;
}

static tsr_vec3 corner(const struct flow *f, int i)
{
    const tsr_size3 n = f->info.size;
    return tsr_geometry_to_world(&f->info.geometry,
                                 (tsr_vec3){ i & 1 ? (double)(n.x - 1) : 0, i & 2 ? (double)(n.y - 1) : 0, i & 4 ? (double)(n.z - 1) : 0 });
}

static int load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    struct flow made = { .thinning = 2, .width = 0.35, .steps = 120, .relevance = 1, .box = 1, .info = TSR_FIELD_INFO };
    tsr_volume *components[3] = { NULL, NULL, NULL };
    tsr_read_options read = TSR_READ_OPTIONS;
    read.memory_limit = show->s->memory_limit;
    read.same_folder = 1;
    read.progress = (tsr_progress){ viewer_session_quits, show->s };
    tsr_status status = tsr_field_read(&path, 1, &read, components);
    if (status == TSR_OK) status = tsr_field_create(show->context, (const tsr_volume *const *)components, &made.field);
    if (status == TSR_OK) status = tsr_field_describe(made.field, &made.info);
    if (status == TSR_OK) status = make_contours(&made);
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    tsr_box b = { { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
    for (int i = 0; i < 8 && status == TSR_OK; i++) {
        const tsr_vec3 p = corner(&made, i);
        b.lower = (tsr_vec3){ fmin(b.lower.x, p.x), fmin(b.lower.y, p.y), fmin(b.lower.z, p.z) };
        b.upper = (tsr_vec3){ fmax(b.upper.x, p.x), fmax(b.upper.y, p.y), fmax(b.upper.z, p.z) };
    }
    if (status == TSR_OK && !viewer_show_box(show, name, b)) {
        forget(flow_of(show));
        *flow_of(show) = made;
        return 0;
    }
    viewer_take_message(show->s, error, error_bytes);
    forget(&made);
    return -1;
}

static int set(viewer_show *show, const char *name, double value, char *error, size_t error_bytes)
{
    struct flow *f = flow_of(show);
    int good = 1;
    if (!strcmp(name, "thinning")) {
        if ((good = value >= 0 && value <= 20)) f->thinning = value;
        if (good && f->field && make_contours(f) != TSR_OK) {
            viewer_take_message(show->s, error, error_bytes);
            return -1;
        }
    } else if (!strcmp(name, "steps")) {
        if ((good = value >= 1 && value <= 2000 && value == floor(value))) f->steps = (int)value;
    } else if (!strcmp(name, "width")) {
        if ((good = value >= 0.05 && value <= 3)) f->width = value;
    } else if (!strcmp(name, "relevance")) {
        f->relevance = value > 0;
    } else if (!strcmp(name, "box")) {
        f->box = value > 0;
    } else {
        good = 0;
    }
    if (!good) {
        snprintf(error, error_bytes, "set: expected thinning from 0 to 20 cells, steps from 1 to 2000, width from 0.05 to 3 cells, relevance or box");
        return -1;
    }
    f->fresh = 0;
    show->version++;
    return 0;
}

/* The lines of a direction of view, and the speed along them, on the host. */
static tsr_status find_lines(viewer_show *show, struct flow *f, const viewer_look *look, const tsr_camera *camera)
{
    const double begun = viewer_seconds();
    tsr_contour_view view = { .direction = { -camera->rotation[2][0], -camera->rotation[2][1], -camera->rotation[2][2] } };
    tsr_contour_info info = TSR_CONTOUR_INFO;
    tsr_contour_relevance relevance = TSR_CONTOUR_RELEVANCE;
    tsr_streamline_options options = TSR_STREAMLINE_OPTIONS;
    tsr_streamlines *lines = NULL;
    if (f->fresh && f->azimuth == look->azimuth && f->elevation == look->elevation) return TSR_OK;
    drop_lines(f);
    relevance.use = f->relevance;
    options.max_steps = f->steps;
    options.progress = (tsr_progress){ viewer_session_quits, show->s };
    tsr_status status = tsr_contours_update(f->contours, &view, &info);
    if (status == TSR_OK) status = tsr_contours_trace(f->contours, &relevance, &options, &lines);
    const int64_t count = status == TSR_OK ? tsr_streamlines_count(lines) : 0, points = status == TSR_OK ? tsr_streamlines_point_count(lines) : 0;
    if (status == TSR_OK) {
        f->position = (float *)malloc((size_t)(3 * points + 1) * sizeof *f->position);
        f->speed = (float *)malloc((size_t)(points + 1) * sizeof *f->speed);
        f->offset = (int64_t *)malloc((size_t)(count + 1) * sizeof *f->offset);
        status = f->position && f->speed && f->offset ? TSR_OK : TSR_ERROR_MEMORY;
    }
    if (status == TSR_OK && points > 0) status = tsr_streamlines_download(lines, f->position, NULL);
    if (status == TSR_OK && points > 0) status = tsr_streamlines_values(lines, f->field, TSR_STREAM_AT_SPEED, f->speed);
    if (status == TSR_OK) {
        memcpy(f->offset, tsr_streamlines_offsets(lines), (size_t)(count + 1) * sizeof *f->offset);
        f->lines = count;
        f->seeds = info.seeds;
        f->azimuth = look->azimuth;
        f->elevation = look->elevation;
        f->fresh = 1;
        f->milliseconds = 1e3 * (viewer_seconds() - begun);
        show->state_dirty = 1;
    } else {
        drop_lines(f);
    }
    tsr_streamlines_destroy(&lines);
    return status;
}

static tsr_status draw(viewer_show *show, const viewer_look *look, int32_t width, int32_t height, int draft, tsr_image *image, float *pixel)
{
    static const uint8_t grey[3] = { 120, 126, 138 };
    static const int edges[12][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 0, 2 }, { 1, 3 },
                                      { 4, 6 }, { 5, 7 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };
    struct flow *f = flow_of(show);
    tsr_camera camera;
    viewer_canvas canvas = { .depth = NULL };
    (void)pixel;
    (void)draft;
    tsr_status status = viewer_show_camera(show, look, &camera);
    if (status == TSR_OK) status = find_lines(show, f, look, &camera);
    if (status == TSR_OK) status = viewer_canvas_begin(&canvas, &camera, width, height, image);
    const tsr_vec3 h = tsr_geometry_spacing(&f->info.geometry);
    const double cell = fmin(h.x, fmin(h.y, h.z));
    for (int64_t i = 0; status == TSR_OK && i < f->lines; i++)
        for (int64_t k = f->offset[i]; k + 1 < f->offset[i + 1]; k++) {
            const float *p = f->position + 3 * k;
            uint8_t rgb[3];
            tsr_stream_color(f->info.speed_max > 0 ? (double)f->speed[k] / f->info.speed_max : 0, rgb);
            viewer_canvas_line(&canvas, (tsr_vec3){ (double)p[0], (double)p[1], (double)p[2] },
                               (tsr_vec3){ (double)p[3], (double)p[4], (double)p[5] }, f->width * cell, rgb);
        }
    for (int i = 0; status == TSR_OK && f->box && i < 12; i++)
        viewer_canvas_line(&canvas, corner(f, edges[i][0]), corner(f, edges[i][1]), 0.1 * cell, grey);
    viewer_canvas_end(&canvas);
    return status;
}

static json_t *state(const viewer_show *show)
{
    const struct flow *f = flow_of(show);
    return json_pack("{s:f, s:i, s:f, s:b, s:b, s:I, s:I, s:f, s:f}", "thinning", f->thinning, "steps", f->steps, "width", f->width, "relevance",
                     f->relevance, "box", f->box, "lines", (json_int_t)f->lines, "seeds", (json_int_t)f->seeds, "milliseconds", f->milliseconds,
                     "speed_max", f->info.speed_max);
}

static void clear(viewer_show *show) { forget(flow_of(show)); }

static const viewer_show_table table = {
    .bytes = sizeof(struct flow), .drafts = 1, .load = load, .set = set, .draw = draw, .state = state, .clear = clear
};

static void *work(void *session) { return viewer_show_run((viewer_session *)session, &table); }

static int opens(const char *name)
{
    const size_t n = strlen(name);
    return viewer_is_volume(name) || (n > 4 && (!strcmp(name + n - 4, ".vtk") || !strcmp(name + n - 4, ".vti") || !strcmp(name + n - 4, ".npy")));
}

const viewer_mode viewer_flow = { .name = "flow",
                                  .takes = VIEWER_TAKES(SET),
                                  .draws = 1,
                                  .opens = opens,
                                  .expects = "a vector field: a volume with three numbers a voxel (.nii, .nrrd, .mha, .npy, .vtk, .vti)",
                                  .work = work,
                                  .state = viewer_mode_more };
