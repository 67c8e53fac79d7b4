/* Speed of maximum intensity projection. Tables 2.1 to 2.3 of the method's literature on stand-ins of its data: a body of noise with a vessel tree at
 * 512 x 512 x 1734, about 46 % of whose voxels are coefficients, and a fuller one of 512^3, about 78 %, all of it in a picture of 512^2. Bound of a picture: the selected coefficients, the
 * ranges of the runs, and the picture are read once; of the build: the volume is read twice and the coefficients are written. Beside it
 * rays through the dense volume with empty-space skipping and its slices one after the other, the same picture. --quick: half the size each way. */
#include "bench.h"

#include "core/parallel.h"
#include "mip_tables.h"

static struct {
    bench b;
    tsr_size3 n;
    double fill[2]; /* of the body, of the extents x and y */
    uint8_t *data;
    tsr_volume *volume;
    tsr_mip *mip;
    tsr_mip_dense *dense;
    tsr_mip_frame *frame, *full;
    int32_t width, height;
    const char *stand_in;
    tsr_mip_options build;
    tsr_mip_view view;
    tsr_mip_render_options render;
} s;

static uint64_t mixed(uint64_t z)
{
    z = (z + 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return z ^ (z >> 31);
}

/* An elliptic cylinder: 45 and noise of 16 grey values; air around it. */
static void body(void *user, int64_t begin, int64_t end, int worker)
{
    (void)user;
    (void)worker;
    const double cx = 0.5 * (double)s.n.x, cy = 0.5 * (double)s.n.y;
    for (int64_t row = begin; row < end; row++) {
        const double y = ((double)(row % s.n.y) + 0.5 - cy) / (s.fill[1] * cy);
        for (int64_t x = 0; x < s.n.x; x++) {
            const double u = ((double)x + 0.5 - cx) / (s.fill[0] * cx);
            const uint64_t noise = mixed((uint64_t)(row * s.n.x + x));
            s.data[row * s.n.x + x] = u * u + y * y < 1 ? (uint8_t)(45 + (noise & 7) + (noise >> 8 & 7)) : 0;
        }
    }
}

static void ball(const double p[3], double r, double bright)
{
    const double n[3] = { (double)s.n.x, (double)s.n.y, (double)s.n.z };
    int64_t low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = (int64_t)fmax(0, floor(p[k] - r - 2));
        high[k] = (int64_t)fmin(n[k] - 1, ceil(p[k] + r + 2));
    }
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++) {
                const double dx = (double)x - p[0], dy = (double)y - p[1], dz = (double)z - p[2];
                const double v = bright / (1 + exp(2 * (sqrt(dx * dx + dy * dy + dz * dz) - r)));
                uint8_t *to = &s.data[(z * s.n.y + y) * s.n.x + x];
                if (v > *to) *to = (uint8_t)v;
            }
}

/* A branch and what grows from it: radii by Murray's law, r0^3 = r1^3 + r2^3. */
static void branch(double p[3], double d[3], double r, uint64_t seed)
{
    for (double length = 0; length < 14 * r; length += 0.7 * r) {
        double norm = 0;
        for (int k = 0; k < 3; k++) {
            d[k] += 0.15 * ((double)(mixed(seed + (uint64_t)k) >> 40) * 0x1p-24 - 0.5);
            norm += d[k] * d[k];
        }
        for (int k = 0; k < 3; k++) {
            d[k] /= sqrt(norm);
            p[k] += 0.7 * r * d[k];
        }
        seed = mixed(seed);
        ball(p, r, 160 + 8 * fmin(r, 10));
    }
    if (r < 1) return;
    const double share = 0.35 + 0.3 * (double)(mixed(seed) >> 40) * 0x1p-24, radius[2] = { r * cbrt(share), r * cbrt(1 - share) };
    for (int c = 0; c < 2; c++) {
        double q[3] = { p[0], p[1], p[2] }, e[3];
        for (int k = 0; k < 3; k++) e[k] = d[k] + (c ? 1 : -1) * 1.2 * ((double)(mixed(seed + 10 + (uint64_t)k) >> 40) * 0x1p-24 - 0.5);
        branch(q, e, radius[c], mixed(seed + 20 + (uint64_t)c));
    }
}

static void make_volume(void)
{
    tsr_volume *host;
    s.data = (uint8_t *)malloc((size_t)(s.n.x * s.n.y * s.n.z));
    if (!s.data) exit(1);
    tsr_parallel(s.b.threads, s.n.y * s.n.z, 256, body, NULL);
    double p[3] = { 0.5 * (double)s.n.x, 0.5 * (double)s.n.y, 0.04 * (double)s.n.z }, d[3] = { 0.05, 0, 1 };
    branch(p, d, 0.022 * (double)s.n.x, 7);
    for (int k = 0; k < 3; k++) p[k] = 0.5 * (double)(k == 0 ? s.n.x : k == 1 ? s.n.y : s.n.z);
    d[2] = -1;
    branch(p, d, 0.02 * (double)s.n.x, 11);
    MUST(tsr_volume_wrap(NULL, TSR_U8, s.n, NULL, s.data, NULL, NULL, &host));
    MUST(tsr_volume_copy(host, s.b.context, &s.volume));
    tsr_volume_destroy(&host);
    free(s.data);
}

static tsr_status build_call(void *user)
{
    (void)user;
    tsr_mip_destroy(&s.mip);
    return tsr_mip_build(s.b.context, s.volume, &s.build, &s.mip);
}
static tsr_status render_call(void *user)
{
    (void)user;
    return tsr_mip_render(s.mip, &s.view, &s.render, s.frame, NULL);
}
static tsr_status select_call(void *user) /* another number each time: what a moved slider costs beside the picture */
{
    (void)user;
    s.render.count = s.render.count % 1000 == 0 ? s.render.count + 1 : s.render.count - 1;
    return tsr_mip_render(s.mip, &s.view, &s.render, s.frame, NULL);
}
static tsr_status dense_call(void *user)
{
    (void)user;
    return tsr_mip_dense_render(s.dense, &s.view, &s.render, s.frame);
}

static const char *volume_name(void)
{
    static char text[64];
    snprintf(text, sizeof text, "%lld x %lld x %lld", (long long)s.n.x, (long long)s.n.y, (long long)s.n.z);
    return text;
}

static double picture_bytes(const tsr_mip_info *i, double part)
{
    const double per = i->format == TSR_MIP_BRICKS ? 2 : i->format == TSR_MIP_LIST4 ? 4 : 6;
    return part * (double)i->coefficients * per + 16.0 * (double)i->runs + 4.0 * s.width * s.height;
}

/* New frames; the volume fits in. */
static void look(int32_t width, int32_t height)
{
    const double diagonal = sqrt((double)(s.n.x * s.n.x + s.n.y * s.n.y + s.n.z * s.n.z));
    tsr_mip_frame_destroy(&s.frame);
    tsr_mip_frame_destroy(&s.full);
    MUST(tsr_mip_frame_create(s.b.context, width, height, &s.frame));
    MUST(tsr_mip_frame_create(s.b.context, width, height, &s.full));
    s.width = width;
    s.height = height;
    s.view = tsr_mip_orbit(30, 20, fmin(width, height) / diagonal);
}

/* A line of Tables 2.1 to 2.3: error against all coefficients and frames per second. `finest`: without the levels below. */
static void level_picture(const char *what, double part, tsr_mip_mode mode, int32_t finest, const char *bar, double frames)
{
    const tsr_mip_info i = *tsr_mip_describe(s.mip);
    char name[200];
    tsr_mip_errors e = TSR_MIP_ERRORS;
    snprintf(name, sizeof name, "%s%s, %g %%", s.stand_in, what, 100 * part);
    if (!bench_wants(&s.b, name)) return;
    s.render = (tsr_mip_render_options)TSR_MIP_RENDER_OPTIONS;
    s.render.mode = mode;
    s.render.close = TSR_MIP_CLOSE_OFF;
    MUST(tsr_mip_render(s.mip, &s.view, &s.render, s.full, NULL));
    s.render.fraction = part;
    s.render.finest = finest;
    MUST(tsr_mip_render(s.mip, &s.view, &s.render, s.frame, NULL));
    MUST(tsr_mip_compare(s.frame, s.full, &e));
    snprintf(name, sizeof name, "%s%s, %g %%: max %g, L1 %.1e, median %g", s.stand_in, what, 100 * part, e.maximum, e.relative, e.median);
    int64_t count = (int64_t)(part * (double)i.coefficients);
    for (int32_t j = 0; j < finest; j++) count -= i.by_level[j];
    bench_case c = { .name = name, .n = count, .bytes = picture_bytes(&i, (double)count / (double)i.coefficients), .bar = bar };
    c.time = bench_measure(&s.b, render_call, NULL, NULL);
    c.holds = frames * c.time.median <= 1;
    bench_report(&s.b, &c);
}
static void picture(const char *what, double part, tsr_mip_mode mode, const char *bar, double frames)
{
    level_picture(what, part, mode, 0, bar, frames);
}

static void dense(tsr_mip_mode mode, int slices)
{
    tsr_mip_errors e = TSR_MIP_ERRORS;
    char name[200];
    s.render = (tsr_mip_render_options)TSR_MIP_RENDER_OPTIONS;
    s.render.mode = mode;
    s.render.close = TSR_MIP_CLOSE_OFF;
    MUST(tsr_mip_dense_create(s.b.context, s.volume, &s.dense));
    MUST(tsr_mip_render(s.mip, &s.view, &s.render, s.full, NULL));
    s.render.slices = slices;
    MUST(tsr_mip_dense_render(s.dense, &s.view, &s.render, s.frame));
    MUST(tsr_mip_compare(s.frame, s.full, &e));
    snprintf(name, sizeof name, "%s%s the dense volume: %lld pixels differ from exact", s.stand_in, slices ? "slices of" : "rays through",
             (long long)e.different);
    bench_case c = { .name = name, .n = s.n.x * s.n.y * s.n.z, .bytes = (double)(s.n.x * s.n.y * s.n.z), .bar = "the same pixels" };
    c.time = bench_measure(&s.b, dense_call, NULL, NULL);
    c.holds = e.different == 0;
    bench_report(&s.b, &c);
    tsr_mip_dense_destroy(&s.dense);
}

/* Table 2.3, two devices: cuda:0 and cuda:1, left out where there is one; on a CPU two contexts of half the threads show the cost of joining. */
static tsr_mip_group *group;
static tsr_status group_call(void *user)
{
    (void)user;
    return tsr_mip_group_render(group, &s.view, &s.render, s.frame, NULL);
}
static void two_devices(void)
{
    const tsr_device_kind kind = tsr_context_device(s.b.context).kind;
    tsr_context *contexts[2] = { s.b.context, NULL };
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    if (!bench_wants(&s.b, "two devices")) return;
    options.device = kind == TSR_DEVICE_CUDA ? "cuda:1" : "cpu";
    options.threads = s.b.threads;
    if (tsr_context_create(&options, &contexts[1]) != TSR_OK) {
        printf("two devices: left out (%s)\n", tsr_error_message());
        return;
    }
    MUST(tsr_mip_group_create(contexts, 2, s.mip, &group));
    for (int k = 0; k < 2; k++) {
        char name[160];
        tsr_mip_errors e = TSR_MIP_ERRORS;
        const double part = k ? 0.13 : 1;
        const tsr_mip_info i = *tsr_mip_describe(s.mip);
        s.render = (tsr_mip_render_options)TSR_MIP_RENDER_OPTIONS;
        s.render.close = TSR_MIP_CLOSE_OFF;
        s.render.fraction = part;
        MUST(tsr_mip_render(s.mip, &s.view, &s.render, s.full, NULL));
        MUST(group_call(NULL));
        MUST(tsr_mip_compare(s.frame, s.full, &e));
        snprintf(name, sizeof name, "splat, two devices, %g %%: %lld pixels differ from one", 100 * part, (long long)e.different);
        bench_case c = { .name = name, .n = (int64_t)(part * (double)i.coefficients), .bytes = picture_bytes(&i, part), .bar = "the same pixels" };
        c.time = bench_measure(&s.b, group_call, NULL, NULL);
        c.holds = e.different == 0;
        bench_report(&s.b, &c);
    }
    tsr_mip_group_destroy(&group);
    tsr_context_destroy(&contexts[1]);
}

static void build_case(void)
{
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    const tsr_mip_info i = *tsr_mip_describe(s.mip);
    char name[160];
    snprintf(name, sizeof name, "%sbuild %s, bricks", s.stand_in, volume_name());
    if (!bench_wants(&s.b, name) || (!gpu && !s.b.only)) return; /* minutes */
    bench_case c = { .name = name, .n = s.n.x * s.n.y * s.n.z, .bytes = 2.0 * (double)(s.n.x * s.n.y * s.n.z) + 3.0 * (double)i.coefficients };
    c.time = bench_measure(&s.b, build_call, NULL, NULL);
    c.bar = gpu ? "at most 0.3 s" : NULL;
    c.holds = c.time.median <= 0.3;
    bench_report(&s.b, &c);
}

/* Tables 2.1 and 2.2, and of 2.3 the rows of other methods. */
static void tables(void)
{
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA, first = !*s.stand_in;
    picture("splat", 1, TSR_MIP_SPLAT, gpu && first ? "1000 frames per second" : NULL, 1000);
    picture("splat", 0.5, TSR_MIP_SPLAT, NULL, 0);
    picture("splat", 0.25, TSR_MIP_SPLAT, NULL, 0);
    picture("splat", 0.13, TSR_MIP_SPLAT, gpu || !first ? NULL : "25 frames per second", 25);
    picture("splat", 0.06, TSR_MIP_SPLAT, gpu && first ? "5000 frames per second" : NULL, 5000);
    picture("splat", 0.01, TSR_MIP_SPLAT, NULL, 0);
    picture("cascade", 0.13, TSR_MIP_CASCADE, NULL, 0);
    level_picture("level by level, all but the finest", 1, TSR_MIP_CASCADE, 1, NULL, 0);
    picture("exact", 1, TSR_MIP_EXACT, NULL, 0);
    if (bench_wants(&s.b, "rays")) dense(TSR_MIP_EXACT, 0);
    if (bench_wants(&s.b, "slices")) dense(TSR_MIP_EXACT, 1);
}

static void volume_cases(void)
{
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    s.stand_in = "";
    s.fill[0] = 0.76;
    s.fill[1] = 0.86;
    make_volume();
    look(512, 512);
    MUST(build_call(NULL));
    const tsr_mip_info i = *tsr_mip_describe(s.mip);
    printf("%s: %lld coefficients (%.1f %% of the voxels), %lld runs, %.0f MB\n", volume_name(), (long long)i.coefficients,
           100 * (double)i.coefficients / (double)(s.n.x * s.n.y * s.n.z), (long long)i.runs, 1e-6 * (double)i.device_bytes);
    build_case();
    tables();
    if (bench_wants(&s.b, "another number")) {
        s.render = (tsr_mip_render_options)TSR_MIP_RENDER_OPTIONS;
        s.render.close = TSR_MIP_CLOSE_OFF;
        s.render.count = i.coefficients / 8000 * 1000;
        bench_case c = { .name = "splat, 13 %, another number each time", .n = s.render.count, .bytes = picture_bytes(&i, 0.125) };
        c.time = bench_measure(&s.b, select_call, NULL, NULL);
        bench_report(&s.b, &c);
    }
    two_devices();
    mip_scene scene = { &s.b, s.volume, s.mip, s.frame, s.full, &s.view };
    if (bench_wants(&s.b, "equal error")) MUST(mip_equal_error(&scene, 0.07));
    if (bench_wants(&s.b, "figure 1.3")) MUST(mip_figure_1_3(&scene));
    if (bench_wants(&s.b, "linearity")) MUST(mip_linearity(&scene));
    if (s.b.only && bench_wants(&s.b, "rivals")) MUST(mip_rivals(&scene));
    s.view.zoom = 1;
    picture("splat, a voxel a pixel", 1, TSR_MIP_SPLAT, NULL, 0);
    picture("splat, a voxel a pixel", 0.13, TSR_MIP_SPLAT, NULL, 0);
    look(1920, 1080);
    picture("splat, 1920 x 1080", 1, TSR_MIP_SPLAT, NULL, 0);
    picture("splat, 1920 x 1080", 0.13, TSR_MIP_SPLAT, gpu ? "500 frames per second" : NULL, 500);
    look(512, 512);
    if (bench_wants(&s.b, "list4") && (gpu || s.b.quick)) {
        s.build.format = TSR_MIP_LIST4;
        MUST(build_call(NULL));
        picture("list4, splat", 1, TSR_MIP_SPLAT, NULL, 0);
        picture("list4, splat", 0.13, TSR_MIP_SPLAT, NULL, 0);
        s.build.format = TSR_MIP_BRICKS;
    }
    tsr_mip_destroy(&s.mip);
    tsr_volume_destroy(&s.volume);
}

/* The fuller stand-in: Table 2.2. */
static void full_cases(void)
{
    s.stand_in = "512^3: ";
    if (s.b.only && !strstr(s.b.only, "512^3")) return;
    s.n.z = s.n.y;
    s.fill[0] = s.fill[1] = 1.03;
    make_volume();
    look(512, 512);
    MUST(build_call(NULL));
    const tsr_mip_info i = *tsr_mip_describe(s.mip);
    printf("%s: %lld coefficients (%.1f %% of the voxels)\n", volume_name(), (long long)i.coefficients,
           100 * (double)i.coefficients / (double)(s.n.x * s.n.y * s.n.z));
    tables();
    tsr_mip_destroy(&s.mip);
    tsr_volume_destroy(&s.volume);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "mip")) return 2;
    s.n = s.b.quick ? (tsr_size3){ 256, 256, 867 } : (tsr_size3){ 512, 512, 1734 };
    s.build = (tsr_mip_options)TSR_MIP_OPTIONS;
    volume_cases();
    full_cases();
    tsr_mip_frame_destroy(&s.frame);
    tsr_mip_frame_destroy(&s.full);
    return bench_end(&s.b);
}
