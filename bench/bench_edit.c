/* bench_edit: algebra and editing of tile lists. Two spheres of about 130 000 tiles of 4^3 voxels (spec editing.md 4, 5): paste, selection of a box,
 * components, a brush and its undo. Bytes: pages read and written once. */
#include "bench.h"

struct job {
    tsr_tiles *a, *b;
    tsr_editor *editor;
    tsr_brush brush;
    int which;
};

static tsr_status run(void *user)
{
    struct job *j = (struct job *)user;
    tsr_tiles *made = NULL;
    tsr_status status = TSR_OK;
    int64_t count;
    tsr_tiles_measures measures;
    const tsr_box box = { { -40, -40, 0 }, { 40, 40, 1000 } };
    switch (j->which) {
    case 0: status = tsr_tiles_combine(j->a, j->b, TSR_CSG_UNION, 0, &made); break;
    case 1: status = tsr_tiles_select(j->a, &box, NULL, 0, &count); break;
    case 2: status = tsr_tiles_components(j->a, 26, NULL, 0, &count); break;
    case 3: status = tsr_tiles_measure(j->a, &measures); break;
    case 4: status = tsr_tiles_translate(j->a, 3, 2, 1, &made); break;
    case 5:
        status = tsr_editor_brush(j->editor, "model", &j->brush, NULL);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
        break;
    default:
        status = tsr_editor_redo(j->editor);
        if (status == TSR_OK) status = tsr_editor_undo(j->editor);
    }
    tsr_tiles_destroy(&made);
    return status;
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

/* The brush on models of growing size: its cost stays. */
static void brushes(bench *b, double radius)
{
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    options.draft = 1;
    for (int i = 0; i < 3; i++, radius *= 2) {
        struct job job = { .brush = { { 0, 0, radius }, 8, 1, 1 } };
        char name[80];
        tsr_edit_history h;
        if (tsr_editor_create(b->context, &options, &job.editor) != TSR_OK ||
            tsr_editor_shape(job.editor, "model", &(tsr_shape){ .radius = radius }) != TSR_OK)
            return;
        tsr_tiles_info info;
        if (tsr_tiles_describe(tsr_editor_tiles(job.editor, "model"), &info) != TSR_OK) return;
        snprintf(name, sizeof name, "brush sigma 8 and undo, %lld tiles of 8^3", (long long)info.count);
        measure(b, &job, name, 5, info.count, 0, NULL, 0);
        tsr_editor_history(job.editor, &h);
        snprintf(name, sizeof name, "redo and undo of %lld pages, %lld tiles", (long long)h.tiles, (long long)info.count);
        measure(b, &job, name, 6, h.tiles, 4.0 * 2048 * (double)h.tiles, NULL, 0);
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
    tsr_tiles_info info = { 0 };
    if (status == TSR_OK) status = tsr_tiles_describe(job.a, &info);
    if (status == TSR_OK) {
        double pages = 256.0 * (double)info.count;
        measure(&b, &job, "paste two overlapping objects", 0, info.count, 3 * 2 * pages, gpu ? "5 ms" : NULL, 5e-3);
        measure(&b, &job, "select a box of tiles", 1, info.count, 8.0 * (double)info.count, "1 ms", 1e-3);
        measure(&b, &job, "components of the inside", 2, info.count, 2 * pages, NULL, 0);
        measure(&b, &job, "measures", 3, info.count, pages, NULL, 0);
        measure(&b, &job, "translation by tiles", 4, info.count, 2 * pages, NULL, 0);
        brushes(&b, b.quick ? 24 : 64);
    } else {
        fprintf(stderr, "bench edit: %s\n", tsr_error_message());
    }
    tsr_tiles_destroy(&job.a);
    tsr_tiles_destroy(&job.b);
    return bench_end(&b) || status != TSR_OK;
}
