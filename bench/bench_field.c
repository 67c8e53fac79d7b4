/* Speed of vector fields: seeds of contours, stream lines, tubes. Bounds: seeds read v and w of every sample once (32 bytes; a GPU fetches w only where S changes sign) and write
 * and read a byte; stream lines take four interpolated values a point, 32 floats each from caches, and write 16 bytes. The peer of stream lines is vtkStreamTracer
 * (bench/peers/vtk_streamlines.py). --experiment table-6.5: the table of the thesis. */
#include "bench.h"

static struct {
    bench b;
    tsr_vector_field *field;
    tsr_contours *contours;
    tsr_streamlines *lines;
    tsr_contour_view view;
    tsr_streamline_options trace;
    tsr_contour_info info;
} s;

static void make(const char *name, tsr_size3 size)
{
    tsr_volume *components[3];
    tsr_field_options o = TSR_FIELD_OPTIONS;
    o.size = size;
    MUST(tsr_field_make(name, &o, components));
    MUST(tsr_field_create(s.b.context, (const tsr_volume *const *)components, &s.field));
    for (int k = 0; k < 3; k++) tsr_volume_destroy(&components[k]);
    MUST(tsr_contours_create(s.field, NULL, &s.contours));
}
static void drop(void)
{
    tsr_contours_destroy(&s.contours);
    tsr_field_destroy(&s.field);
}

static tsr_status seeds_call(void *user)
{
    (void)user;
    return tsr_contours_update(s.contours, &s.view, NULL);
}
static tsr_status lines_call(void *user)
{
    (void)user;
    tsr_streamlines_destroy(&s.lines);
    return tsr_contours_trace(s.contours, NULL, &s.trace, &s.lines);
}
static tsr_status tubes_call(void *user)
{
    tsr_mesh *mesh = NULL;
    (void)user;
    const tsr_status status = tsr_streamlines_tubes(s.lines, s.field, NULL, &mesh);
    tsr_mesh_destroy(&mesh);
    return status;
}
static tsr_status frame_call(void *user)
{
    tsr_status status = seeds_call(user);
    if (status == TSR_OK) status = lines_call(user);
    return status == TSR_OK ? tubes_call(user) : status;
}

static void sizes(int64_t n)
{
    char name[100], bar[100];
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    const double samples = (double)n * (double)n * (double)n;
    make("field-abc", (tsr_size3){ n, n, n });
    s.view = (tsr_contour_view){ .direction = { 0.363, 0.309, 1 } };
    s.trace = (tsr_streamline_options)TSR_STREAMLINE_OPTIONS;
    s.info = (tsr_contour_info)TSR_CONTOUR_INFO;
    MUST(tsr_contours_update(s.contours, &s.view, &s.info));
    snprintf(name, sizeof name, "seeds of %lld^3 (%lld)", (long long)n, (long long)s.info.seeds);
    bench_case c = { .name = name, .n = n * n * n, .bytes = samples * (gpu ? 18 : 34) };
    c.time = bench_measure(&s.b, seeds_call, NULL, NULL);
    const double most = gpu ? n == 100 ? 30e-6 : n == 256 ? 0.25e-3 : 1.6e-3 : n == 100 ? 4e-3 * 2 / s.b.threads : 0;
    if (most > 0) {
        snprintf(bar, sizeof bar, "at most %.3g ms", most * 1e3);
        c.bar = bar;
        c.holds = c.time.median <= most;
    }
    bench_report(&s.b, &c);
    MUST(lines_call(NULL));
    const double points = (double)tsr_streamlines_point_count(s.lines);
    snprintf(name, sizeof name, "lines of %lld^3, %.0f points", (long long)n, points);
    bench_case l = { .name = name, .n = (int64_t)points, .bytes = points * 32 };
    l.time = bench_measure(&s.b, lines_call, NULL, NULL);
    const double rate = points / l.time.median, bound = gpu ? 1e9 : 12e6 * s.b.threads;
    snprintf(bar, sizeof bar, "at least %.3g M points/s: %.3g", bound * 1e-6, rate * 1e-6);
    l.bar = bar;
    l.holds = rate >= bound;
    bench_report(&s.b, &l);
    snprintf(name, sizeof name, "tubes of %lld^3", (long long)n);
    bench_case t = { .name = name, .n = (int64_t)points, .bytes = points * (16 + 8 * (24 + 24)) };
    t.time = bench_measure(&s.b, tubes_call, NULL, NULL);
    bench_report(&s.b, &t);
    tsr_streamlines_destroy(&s.lines);
    drop();
}

/* Table 6.5: sizes, extrusion length and bounds of seeds as published; ours over 32 views, frames per second of extraction and of the whole (seeds, lines, tubes). */
static void table(void)
{
    static const struct {
        const char *title, *field;
        tsr_size3 size;
        int32_t steps;
        const char *published;
        int64_t most;
    } rows[] = {
        { "Isabel (storm)", "field-storm", { 100, 100, 50 }, 200, "30 and 2 to 8", 5519 },
        { "Benzene", "field-benzene", { 100, 100, 100 }, 250, "21 and 5 to 8", 9852 },
        { "Saddle", "field-saddle", { 64, 64, 64 }, 400, "64 and 8 to 16", 186 },
        { "Focus", "field-focus", { 64, 64, 64 }, 400, "63 and 11 to 13", 180 },
    };
    printf("table 6.5 (GeForce 7800, 2006)   frames/s of extraction and of all, published | ours              seeds, published | ours\n");
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        int64_t least = INT64_MAX, most = 0;
        char name[100], bar[100];
        make(rows[k].field, rows[k].size);
        s.trace = (tsr_streamline_options)TSR_STREAMLINE_OPTIONS;
        s.trace.max_steps = rows[k].steps;
        for (int v = 0; v < 32; v++) {
            const double z = 1 - (v + 0.5) / 32, r = sqrt(1 - z * z), a = 2.399963 * v;
            s.view = (tsr_contour_view){ .direction = { r * cos(a), r * sin(a), z } };
            s.info = (tsr_contour_info)TSR_CONTOUR_INFO;
            MUST(tsr_contours_update(s.contours, &s.view, &s.info));
            least = s.info.seeds < least ? s.info.seeds : least;
            most = s.info.seeds > most ? s.info.seeds : most;
        }
        const bench_time seeds = bench_measure(&s.b, seeds_call, NULL, NULL);
        bench_case c = { .n = rows[k].size.x * rows[k].size.y * rows[k].size.z };
        c.time = bench_measure(&s.b, frame_call, NULL, NULL);
        snprintf(name, sizeof name, "table-6.5 %s", rows[k].title);
        snprintf(bar, sizeof bar, "fewer than %lld seeds: %lld to %lld", (long long)rows[k].most, (long long)least, (long long)most);
        c.name = name;
        c.bar = bar;
        c.holds = most < rows[k].most;
        printf("%-16s %32s | %.0f and %.1f   %18lld | %lld to %lld\n", rows[k].title, rows[k].published, 1 / seeds.median, 1 / c.time.median, (long long)rows[k].most,
               (long long)least, (long long)most);
        bench_report(&s.b, &c);
        tsr_streamlines_destroy(&s.lines);
        drop();
    }
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "field")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    if (bench_wants(&s.b, "100")) sizes(100);
    if (bench_wants(&s.b, "256") && !s.b.quick) sizes(256);
    if (bench_wants(&s.b, "512") && gpu && !s.b.quick) sizes(512);
    if (s.b.experiment && bench_wants(&s.b, "table-6.5")) table();
    return bench_end(&s.b);
}
