/* Screen-space fluids: the rows of Tables 5.1 and 5.2 of the source (64 000 particles, 1024 x 768; its milliseconds, on a GeForce 8800GTS 512, stand
 * in the names), and the bars of larger pictures. The source's simulations are not published: a sheet of water down a corridor and a ring-shaped
 * trough, by rule, stand in. Bytes of a drawing, the least that it moves: positions read once (12 a particle), records written and read twice (32
 * each), on a CPU 8 an entry of the tiles' lists, on a GPU, which scatters, sums of thickness cleared and added to (16 a pixel of a quarter), and of the fluid's images depth and thickness written, read and written per step of the smoother (8 a
 * pixel), read for normals (16 written) and, with the scene (16), for the picture (20 a pixel). The scene stands still, so it is drawn once. */
#include "bench.h"

typedef struct job {
    tsr_fluid *fluid;
    tsr_fluid_particles particles;
    tsr_camera camera;
    tsr_fluid_backdrop backdrop;
    tsr_fluid_look look;
    tsr_fluid_options options;
    tsr_fluid_info info;
} job;

static tsr_status draw(void *user)
{
    job *j = (job *)user;
    return tsr_fluid_draw(j->fluid, &j->particles, &j->camera, &j->backdrop, &j->look, &j->options, &j->info);
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*state >> 11) * 0x1p-53;
}

/* About `count` particles on a jittered lattice; returns how many. Corridor: a sheet with waves from a step down to a pool. Trough: a ring that is
 * filled. */
static int64_t fill(float *p, int64_t count, int corridor, double *radius)
{
    uint64_t state = 5;
    double h = corridor ? cbrt(3.0 / (double)count) : cbrt(2.4 / (double)count);
    for (int pass = 0; pass < 6; pass++) { /* the spacing that gives the count */
        int64_t n = 0;
        state = 5;
        for (double x = -2; x < 2; x += h)
            for (double y = -1.6; y < 1.6; y += h)
                for (double z = 0; z < 1.6; z += h) {
                    const double a = x + 0.4 * h * (uniform(&state) - 0.5), b = y + 0.4 * h * (uniform(&state) - 0.5),
                                 c = z + 0.4 * h * (uniform(&state) - 0.5);
                    const double r = sqrt(a * a + b * b), bed = a < -0.6 ? 0.9 : a < 0.2 ? 0.9 - 0.9 * (a + 0.6) / 0.8 : 0;
                    const double top = corridor ? bed + (a < 0.2 ? 0.22 : 0.36) + 0.05 * sin(5 * a + 1.3 * sin(3 * b)) + 0.04 * sin(7 * b)
                                                : 0.5 + 0.04 * sin(9 * a) * cos(8 * b);
                    if (corridor ? (fabs(b) > 1 || c < bed || c > top) : (r < 0.6 || r > 1.4 || c > top)) continue;
                    if (n < count) {
                        p[3 * n] = (float)a;
                        p[3 * n + 1] = (float)b;
                        p[3 * n + 2] = (float)c;
                    }
                    n++;
                }
        *radius = 0.5 * h;
        if (llabs(n - count) < count / 500) return n < count ? n : count;
        h *= cbrt((double)n / (double)count);
    }
    return count;
}

static int open_job(bench *b, job *j, int64_t count, int corridor, void **memory)
{
    double radius;
    float *p = malloc((size_t)count * 12);
    *memory = NULL;
    *j = (job){ .particles = TSR_FLUID_PARTICLES,
                .camera = { .fov = 40 },
                .backdrop = TSR_FLUID_BACKDROP,
                .options = TSR_FLUID_OPTIONS,
                .info = TSR_FLUID_INFO };
    if (!p) return 1;
    memset(p, 0, (size_t)count * 12);
    j->particles.count = fill(p, count, corridor, &radius);
    j->particles.radius = radius;
    int failed = tsr_device_allocate(b->context, (size_t)count * 12, memory) != TSR_OK ||
                 tsr_device_move(b->context, *memory, NULL, p, (size_t)count * 12) != TSR_OK || tsr_fluid_create(b->context, &j->fluid) != TSR_OK ||
                 tsr_fluid_look_make(TSR_FLUID_WATER, radius, &j->look) != TSR_OK ||
                 tsr_camera_look_at(&j->camera, corridor ? (tsr_vec3){ 4.6, -3.2, 2.6 } : (tsr_vec3){ 1.2, -3.8, 2.4 }, (tsr_vec3){ 0, 0, 0.4 },
                                    (tsr_vec3){ 0, 0, 1 }) != TSR_OK;
    free(p);
    j->particles.positions = (const float *)*memory;
    j->backdrop.scenery = TSR_FLUID_ROOM;
    j->backdrop.bounds = (tsr_box){ { -2.2, -1.4, -radius }, { 2.2, 1.4, 1.6 } };
    j->look.noise = j->look.agitated = 0;
    j->options.particle_scale = 1.75;
    return failed;
}

static void close_job(bench *b, job *j, int64_t count, void *memory)
{
    tsr_fluid_destroy(&j->fluid);
    tsr_device_release(b->context, memory, (size_t)count * 12);
}

static int one(bench *b, job *j, const char *name, const char *bar, double limit)
{
    const int gpu = tsr_context_device(b->context).kind == TSR_DEVICE_CUDA;
    bench_case c = { .name = name, .n = j->particles.count, .time = bench_measure(b, draw, j, NULL), .bar = bar };
    const double low = (double)j->info.width * j->info.height, full = (double)j->options.width * j->options.height;
    c.bytes =
        (double)j->particles.count * (12 + 3 * 32) + (gpu ? 4 * low : 8.0 * (double)j->info.entries) + low * (16 + 8.0 * j->info.iterations + 16) +
        full * (16 + 20);
    c.holds = c.time.median <= limit;
    bench_report(b, &c);
    return c.time.runs == 0;
}

typedef struct row {
    const char *name;
    tsr_fluid_smoother smoother;
    int32_t resolution, iterations;
    int foam;
} row;

int main(int argc, char **argv)
{
    static const row rows[] = { { "bilateral", TSR_FLUID_BILATERAL, 1, 1, 0 },
                                { "flow quarter 15", TSR_FLUID_FLOW, 4, 15, 0 },
                                { "flow half 40", TSR_FLUID_FLOW, 2, 40, 0 },
                                { "flow full 100", TSR_FLUID_FLOW, 1, 100, 0 },
                                { "foam quarter 15", TSR_FLUID_FLOW, 4, 15, 1 },
                                { "implicit full 8", TSR_FLUID_FLOW_IMPLICIT, 1, 8, 0 },
                                { "multigrid full 2", TSR_FLUID_FLOW_MULTIGRID, 1, 2, 0 } };
    static const char *const source[2][7] = { { "18.1", "17.5", "19.6", "50.0", "30.0", "-", "-" },
                                              { "22.7", "23.3", "28.6", "50.0", "-", "-", "-" } };
    static const int32_t again[] = { 1, 2, 4, 6 };
    static const char *const again_source[] = { "25.6", "31.3", "38.5", "47.6" };
    bench b;
    if (!bench_begin(&b, argc, argv, "fluid")) return 2;
    const int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    const int64_t count = b.quick ? 8000 : 64000;
    int failed = 0;
    char name[128];
    void *memory;
    job j;
    for (int scene = 0; scene < 2 && !failed; scene++) {
        if (!bench_wants(&b, "table-5.1") && !(scene == 0 && bench_wants(&b, "table-5.2"))) continue;
        failed = open_job(&b, &j, count, scene == 0, &memory);
        j.options.width = b.quick ? 256 : 1024;
        j.options.height = b.quick ? 192 : 768;
        for (int k = 0; k < 7 && !failed && bench_wants(&b, "table-5.1"); k++) {
            j.options.smoother = rows[k].smoother;
            j.options.resolution = rows[k].resolution;
            j.options.iterations = rows[k].iterations;
            j.look.noise = rows[k].foam ? 0.3f : 0;
            snprintf(name, sizeof name, "table-5.1 %s, %s (source: %s ms)", scene ? "container" : "corridor", rows[k].name, source[scene][k]);
            failed = one(&b, &j, name, b.quick ? NULL : gpu ? "0.5 ms" : k == 1 ? "30 frames a second on 2 cores" : NULL, gpu ? 5e-4 : 1.0 / 30);
        }
        j.look.noise = 0;
        for (int k = 0; k < 5 && !failed && scene == 0 && bench_wants(&b, "table-5.2"); k++) {
            j.options.smoother = k < 4 ? TSR_FLUID_BILATERAL : TSR_FLUID_FLOW;
            j.options.resolution = k < 4 ? 1 : 4;
            j.options.iterations = k < 4 ? again[k] : 15;
            snprintf(name, sizeof name, "table-5.2 %s %d (source: %s ms)", k < 4 ? "bilateral" : "flow quarter", j.options.iterations,
                     k < 4 ? again_source[k] : "27.8");
            failed = one(&b, &j, name, !b.quick && gpu ? "0.5 ms" : NULL, 5e-4);
        }
        close_job(&b, &j, count, memory);
    }
    static const struct {
        const char *name, *bar;
        int64_t count;
        int32_t width, height, resolution;
        tsr_fluid_smoother smoother;
        double limit;
        int gpu;
    } large[] = { { "146 k, 1080p quarter", "60 ms on one core", 146000, 1920, 1080, 4, TSR_FLUID_FLOW, 0.06, 0 },
                  { "1 M, 1080p", "0.6 ms", 1000000, 1920, 1080, 1, TSR_FLUID_FLOW_IMPLICIT, 6e-4, 1 },
                  { "1 M, 3840 x 2160", "120 frames a second", 1000000, 3840, 2160, 1, TSR_FLUID_FLOW_IMPLICIT, 1.0 / 120, 1 },
                  { "10 M, 1080p", "60 frames a second", 10000000, 1920, 1080, 1, TSR_FLUID_FLOW_IMPLICIT, 1.0 / 60, 1 } };
    for (size_t k = 0; k < sizeof large / sizeof *large && !failed; k++) {
        if (b.quick || !bench_wants(&b, large[k].name) || (large[k].gpu && !gpu)) continue;
        failed = open_job(&b, &j, large[k].count, 1, &memory);
        j.options.width = large[k].width;
        j.options.height = large[k].height;
        j.options.resolution = large[k].resolution;
        j.options.smoother = large[k].smoother;
        if (!failed) failed = one(&b, &j, large[k].name, large[k].bar, large[k].limit);
        close_job(&b, &j, large[k].count, memory);
    }
    if (failed) fprintf(stderr, "bench fluid: %s\n", tsr_error_message());
    return bench_end_with(&b, failed);
}
