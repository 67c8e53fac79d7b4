/* bench_edit: algebra and editing of tile lists. Two spheres of about 130 000 tiles of 4^3 voxels (docs/theory/editing.md 11): paste, selection of a box,
 * components, a brush and its undo. Bytes: pages read and written once. */
#include "bench.h"

struct job {
    tsr_tiles *a, *b;
    tsr_editor *editor;
    tsr_brush brush;
    tsr_context *context;
    tsr_surface_tracker *tracker;
    tsr_surface_update_report drawn;
    tsr_scene *scene;
    tsr_picture *picture;
    tsr_camera camera;
    tsr_attraction attraction;
    tsr_selection lasso, stroke;
    int which;
};

/* Operators whose pictures are timed. */
enum { STROKE, SMOOTHING, ATTRACTION, OFFSET, OPERATORS };
static const char *const operator_names[OPERATORS] = { "brush", "smoothing brush", "attraction by 64 points", "offset by half a voxel, WENO5" };

static tsr_status operate(struct job *j, int which)
{
    switch (which) {
    case STROKE: return tsr_editor_brush(j->editor, "model", &j->brush, NULL);
    case SMOOTHING: return tsr_editor_smooth_brush(j->editor, "model", &j->brush, NULL);
    case ATTRACTION: return tsr_editor_attract(j->editor, "model", &j->attraction, NULL);
    default: return tsr_editor_offset(j->editor, "model", 0.5, NULL);
    }
}

/* The picture of the model as it is now: its first hits, shaded. */
static tsr_status picture(struct job *j)
{
    const tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_status status = tsr_scene_set_surface_tiles(j->scene, tsr_editor_tiles(j->editor, "model"));
    if (status == TSR_OK) status = tsr_render(j->scene, &j->camera, &options, j->picture);
    return status;
}

/* As a user has it: an operator and its picture, and back with a picture. */
static tsr_status see(void *user)
{
    struct job *j = (struct job *)user;
    tsr_status status = operate(j, j->which);
    if (status == TSR_OK) status = picture(j);
    if (status == TSR_OK) status = tsr_editor_undo(j->editor);
    if (status == TSR_OK) status = picture(j);
    return status;
}

/* The mesh of the model as it is now. */
static tsr_status draw(struct job *j)
{
    tsr_surface_region region;
    const tsr_surface_region *changed;
    const tsr_mesh *mesh;
    tsr_status status = tsr_editor_changes(j->editor, "model", &region, &changed);
    j->drawn.struct_size = sizeof j->drawn;
    if (status == TSR_OK) status = tsr_surface_update(j->tracker, tsr_editor_tiles(j->editor, "model"), changed, &mesh, &j->drawn);
    return status;
}

static tsr_status run(void *user)
{
    struct job *j = (struct job *)user;
    tsr_tiles *made = NULL;
    tsr_mesh *full = NULL;
    tsr_status status = TSR_OK;
    int64_t count;
    tsr_tiles_measures measures = TSR_TILES_MEASURES;
    const tsr_box box = { { -40, -40, 0 }, { 40, 40, 1000 } };
    switch (j->which) {
    case 0: status = tsr_tiles_combine(j->a, j->b, TSR_CSG_UNION, 0, &made); break;
    case 1: status = tsr_tiles_select(j->a, &box, NULL, 0, &count); break;
    case 10: status = tsr_tiles_select_in(j->a, &j->lasso, NULL, 0, &count); break;
    case 11: status = tsr_tiles_select_in(j->a, &j->stroke, NULL, 0, &count); break;
    case 12: status = tsr_tiles_divide(j->a, &j->lasso, &made, NULL); break;
    case 2: status = tsr_tiles_components(j->a, 26, NULL, 0, &count); break;
    case 3: status = tsr_tiles_measure(j->a, &measures); break;
    case 4: status = tsr_tiles_translate(j->a, 3, 2, 1, &made); break;
    case 5:
        status = tsr_editor_brush(j->editor, "model", &j->brush, NULL);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
        break;
    case 13:
        status = operate(j, ATTRACTION);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
        break;
    case 9: /* as a user has it: a stroke and the mesh of what it changed, and back */
        status = tsr_editor_brush(j->editor, "model", &j->brush, NULL);
        if (status == TSR_OK) status = draw(j);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
        if (status == TSR_OK) status = draw(j);
        break;
    case 7: /* the two halves of a redo and an undo, a mesh after each */
        status = tsr_editor_redo(j->editor);
        if (status == TSR_OK) status = draw(j);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
        if (status == TSR_OK) status = draw(j);
        break;
    case 8:
        status = tsr_surface_extract_tiles(j->context, tsr_editor_tiles(j->editor, "model"), NULL, &full, NULL);
        tsr_mesh_destroy(&full);
        break;
    default:
        status = tsr_editor_redo(j->editor);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
    }
    tsr_tiles_destroy(&made);
    return status;
}

/* A lasso of 48 corners in a picture, wavy, and a stroke of 16 points along the surface. */
enum { CORNERS = 48, STEPS = 16 };
static void select_by_hand(double radius, double corners[CORNERS][3], double steps[STEPS][3], struct job *j)
{
    for (int i = 0; i < CORNERS; i++) {
        const double t = 6.283185307179586 * i / CORNERS, r = radius * (0.5 + 0.1 * cos(5 * t));
        corners[i][0] = r * cos(t);
        corners[i][1] = r * sin(t);
        corners[i][2] = 2 * radius;
    }
    for (int i = 0; i < STEPS; i++) {
        const double t = 0.1 * i;
        steps[i][0] = radius * cos(t);
        steps[i][1] = radius * sin(t);
        steps[i][2] = 0;
    }
    j->lasso = (tsr_selection){ sizeof j->lasso, .kind = TSR_SELECTION_LASSO, .points = (const double(*)[3])corners, .count = CORNERS };
    j->lasso.eye = (tsr_vec3){ 0, 0, 6 * radius };
    j->stroke = (tsr_selection){ sizeof j->stroke, .kind = TSR_SELECTION_STROKE, .points = (const double(*)[3])steps, .count = STEPS, .radius = 12 };
}

static double measure(bench *b, struct job *job, const char *name, int which, int64_t tiles, double bytes, const char *bar, double seconds)
{
    job->which = which;
    bench_time t = bench_measure(b, run, job, NULL);
    bench_report(b, &(bench_case){ .name = name, .n = tiles, .time = t, .bytes = bytes, .bar = bar, .holds = t.runs && t.median <= seconds });
    return t.median;
}

static tsr_status ball(tsr_context *context, double x, double radius, tsr_tiles **tiles)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    options.edge = 4;
    options.band = 3;
    return tsr_tiles_shape(context, NULL, &options, &(tsr_shape){ .centre = { x, 0, 0 }, .radius = radius }, tiles);
}

/* Operators on a ball of this radius with a picture of 1920 x 1080 after each: local ones, and one that moves the whole surface. */
static tsr_status pictures(bench *b, double radius, int gpu)
{
    enum { POINTS = 64 };
    double points[POINTS][3];
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    struct job job = { .brush = { { 0, 0, radius }, 8, 1, 1 },
                       .context = b->context,
                       .attraction = { .points = points, .count = POINTS, .speed = 1, .radius = 12, .time = 1 } };
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_tiles_info list = TSR_TILES_INFO;
    tsr_status status = TSR_OK;
    for (int i = 0; i < POINTS; i++) { /* a patch above the pole */
        points[i][0] = 2.0 * (i % 8 - 3.5);
        points[i][1] = 2.0 * (i / 8 - 3.5);
        points[i][2] = radius + 4;
    }
    TSR_TRY_GOTO(tsr_scene_create(b->context, &job.scene), done);
    TSR_TRY_GOTO(tsr_picture_create(b->context, b->quick ? 192 : 1920, b->quick ? 108 : 1080, &job.picture), done);
    for (job.which = 0; job.which < OPERATORS; job.which++) {
        const int local = job.which != OFFSET;
        char name[128];
        tsr_editor_destroy(&job.editor);
        options.draft = local;
        TSR_TRY_GOTO(tsr_editor_create(b->context, &options, &job.editor), done);
        TSR_TRY_GOTO(tsr_editor_shape(job.editor, "model", &(tsr_shape){ .radius = radius }), done);
        TSR_TRY_GOTO(tsr_tiles_describe(tsr_editor_tiles(job.editor, "model"), &list), done);
        TSR_TRY_GOTO(tsr_scene_set_surface_tiles(job.scene, tsr_editor_tiles(job.editor, "model")), done);
        TSR_TRY_GOTO(tsr_scene_describe(job.scene, &info), done);
        TSR_TRY_GOTO(tsr_camera_orbit(&info.surface_bounds, info.space, 30, 60, TSR_PERSPECTIVE, 1920.0 / 1080.0, &job.camera), done);
        const bench_time t = bench_measure(b, see, &job, NULL);
        snprintf(name, sizeof name, "%s and undo, a picture after each, %lld tiles", operator_names[job.which], (long long)list.count);
        bench_report(b, &(bench_case){ .name = name,
                                       .n = list.count,
                                       .time = t,
                                       .bar = gpu && !b->quick ? (local ? "16 ms each" : "33 ms each") : NULL,
                                       .holds = t.runs && t.median <= 2 * (local ? 16e-3 : 33e-3) });
    }
done:
    tsr_editor_destroy(&job.editor);
    tsr_picture_destroy(&job.picture);
    tsr_scene_destroy(&job.scene);
    return status;
}

/* Points of a scan that pull a whole ball, three voxels above it, or push a patch of it: strokes by many points and by few. */
static tsr_status attractions(bench *b, double radius)
{
    const int64_t most = b->quick ? 20000 : 1000000;
    const double golden = 2.399963229728653; /* turn of a spiral that covers a sphere evenly */
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    struct job job = { .context = b->context };
    tsr_tiles_info list = TSR_TILES_INFO;
    tsr_status status = TSR_OK;
    double(*points)[3] = (double(*)[3])malloc((size_t)most * sizeof *points);
    if (!points) {
        fprintf(stderr, "bench edit: out of memory for points\n");
        return TSR_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < most; i++) {
        const double z = 1 - (2 * (double)i + 1) / (double)most, across = sqrt(1 - z * z), turn = golden * (double)i;
        points[i][0] = (radius + 3) * across * cos(turn);
        points[i][1] = (radius + 3) * across * sin(turn);
        points[i][2] = (radius + 3) * z;
    }
    options.draft = 1;
    TSR_TRY_GOTO(tsr_editor_create(b->context, &options, &job.editor), done);
    TSR_TRY_GOTO(tsr_editor_shape(job.editor, "model", &(tsr_shape){ .radius = radius }), done);
    TSR_TRY_GOTO(tsr_tiles_describe(tsr_editor_tiles(job.editor, "model"), &list), done);
    job.attraction = (tsr_attraction){ .points = (const double(*)[3])points, .count = most, .speed = 1, .radius = 8, .time = 1 };
    for (int few = 0; few < 2; few++) {
        char name[96];
        if (few) job.attraction.count = most / 1000; /* the first of them: round a pole */
        snprintf(name, sizeof name, "attraction by %lld points and undo, %lld tiles", (long long)job.attraction.count, (long long)list.count);
        measure(b, &job, name, 13, job.attraction.count, 0, few || b->quick ? NULL : "10 s", 10);
    }
done:
    tsr_editor_destroy(&job.editor);
    free(points);
    return status;
}

/* The brush on models of growing size: its cost stays. */
static void brushes(bench *b, double radius)
{
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    options.draft = 1;
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA; /* up to a ball of 1024 voxels */
    for (int i = 0; i < 3 + gpu; i++, radius *= 2) {
        struct job job = { .brush = { { 0, 0, radius }, 8, 1, 1 }, .context = b->context };
        char name[80];
        tsr_edit_history h = TSR_EDIT_HISTORY;
        if (tsr_editor_create(b->context, &options, &job.editor) != TSR_OK ||
            tsr_editor_shape(job.editor, "model", &(tsr_shape){ .radius = radius }) != TSR_OK)
            return;
        tsr_tiles_info info = TSR_TILES_INFO;
        if (tsr_tiles_describe(tsr_editor_tiles(job.editor, "model"), &info) != TSR_OK) return;
        snprintf(name, sizeof name, "brush sigma 8 and undo, %lld tiles of 8^3", (long long)info.count);
        measure(b, &job, name, 5, info.count, 0, NULL, 0);
        tsr_editor_history(job.editor, &h);
        snprintf(name, sizeof name, "redo and undo of %lld pages, %lld tiles", (long long)h.tiles, (long long)info.count);
        measure(b, &job, name, 6, h.tiles, 4.0 * 2048 * (double)h.tiles, NULL, 0);
        if (tsr_surface_tracker_create(b->context, NULL, &job.tracker) == TSR_OK && draw(&job) == TSR_OK) {
            double base = measure(b, &job, "redo and undo for the next line", 6, h.tiles, 0, NULL, 0);
            snprintf(name, sizeof name, "the same with a mesh after each, %lld tiles", (long long)info.count);
            double both = measure(b, &job, name, 7, job.drawn.renewed, 0, NULL, 0);
            snprintf(name, sizeof name, "brush sigma 8 and undo, a mesh after each, %lld tiles", (long long)info.count);
            measure(b, &job, name, 9, info.count, 0, gpu ? "16 ms each" : NULL, 2 * 16e-3);
            snprintf(name, sizeof name, "mesh of all %lld tiles", (long long)info.count);
            double all = measure(b, &job, name, 8, info.count, 0, NULL, 0);
            printf("  one update: %lld tiles anew, %.0f us, %.1f times as fast as all\n", (long long)job.drawn.renewed, (both - base) / 2 * 1e6,
                   2 * all / (both - base));
        } else {
            fprintf(stderr, "bench edit: %s\n", tsr_error_message());
        }
        tsr_surface_tracker_destroy(&job.tracker);
        tsr_editor_destroy(&job.editor);
    }
}

int main(int argc, char **argv)
{
    bench b;
    struct job job = { 0 };
    if (!bench_begin(&b, argc, argv, "edit")) return 2;
    int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    double radius = b.quick ? 60 : 235; /* 4 pi R^2 / 16 tiles a layer, about three layers */
    tsr_status status = ball(b.context, 0, radius, &job.a);
    if (status == TSR_OK) status = ball(b.context, 0.7 * radius, radius, &job.b);
    tsr_tiles_info info = TSR_TILES_INFO;
    if (status == TSR_OK) status = tsr_tiles_describe(job.a, &info);
    if (status == TSR_OK && bench_wants(&b, "lists")) {
        double pages = 256.0 * (double)info.count;
        measure(&b, &job, "paste two overlapping objects", 0, info.count, 3 * 2 * pages, gpu ? "5 ms" : NULL, 5e-3);
        measure(&b, &job, "select a box of tiles", 1, info.count, 8.0 * (double)info.count, "1 ms", 1e-3);
        double corners[CORNERS][3], steps[STEPS][3];
        select_by_hand(radius, corners, steps, &job);
        measure(&b, &job, "select tiles by a lasso of 48 corners", 10, info.count, 8.0 * (double)info.count, gpu ? "1 ms" : NULL, 1e-3);
        measure(&b, &job, "select tiles by a stroke of 16 points", 11, info.count, 8.0 * (double)info.count, gpu ? "1 ms" : NULL, 1e-3);
        measure(&b, &job, "sever at that lasso, what lies in it", 12, info.count, 2 * pages, NULL, 0);
        measure(&b, &job, "components of the inside", 2, info.count, 2 * pages, NULL, 0);
        measure(&b, &job, "measures", 3, info.count, pages, NULL, 0);
        measure(&b, &job, "translation by tiles", 4, info.count, 2 * pages, NULL, 0);
    }
    if (status == TSR_OK && bench_wants(&b, "brushes")) brushes(&b, b.quick ? 24 : 64);
    if (status == TSR_OK && bench_wants(&b, "attraction")) status = attractions(&b, b.quick ? 24 : gpu ? 512 : 64);
    if (status == TSR_OK && bench_wants(&b, "pictures")) status = pictures(&b, b.quick ? 24 : gpu ? 512 : 64, gpu);
    if (status != TSR_OK) { fprintf(stderr, "bench edit: %s\n", tsr_error_message()); }
    tsr_tiles_destroy(&job.a);
    tsr_tiles_destroy(&job.b);
    return bench_end_with(&b, status != TSR_OK);
}
