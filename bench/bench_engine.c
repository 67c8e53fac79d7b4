/* bench_engine: steps of the level-set solver. A sphere of the size of the collapse benchmark of spec levelset-gpu.md 4 (about 127 500 tiles of 4^3),
 * first order and WENO5 with RK3, the periodic deformation, and redistancing. A call is STEPS steps; seconds are per step. Bytes: every voxel read and
 * written once per pass. */
#include "bench.h"

#include "tessera/csg.h"
#include "tessera/levelset.h"

enum { STEPS = 32 };

struct job {
    tsr_tiles *tiles;
    tsr_levelset *levelset;
};

static tsr_status steps(void *user)
{
    struct job *j = (struct job *)user;
    return tsr_levelset_step(j->levelset, STEPS, NULL, NULL);
}
static tsr_status distances(void *user) { return tsr_levelset_redistance(((struct job *)user)->tiles, 0, NULL); }

static void measure(bench *b, const char *name, int32_t edge, double radius, double band, const tsr_levelset_options *options, int passes,
                    const char *bar, double seconds)
{
    struct job job = { 0 };
    tsr_tiles_info info = { 0 };
    tsr_tiles_options o = TSR_TILES_OPTIONS;
    char label[96];
    o.edge = edge;
    o.band = band;
    tsr_status status = tsr_tiles_shape(b->context, NULL, &o, &(tsr_shape){ .radius = radius }, &job.tiles);
    if (status == TSR_OK) status = tsr_tiles_describe(job.tiles, &info);
    if (status == TSR_OK && options) status = tsr_levelset_create(job.tiles, options, &job.levelset);
    if (status == TSR_OK) {
        bench_time t = bench_measure(b, options ? steps : distances, &job, NULL);
        const double scale = options ? 1.0 / STEPS : 1;
        t.median *= scale;
        t.min *= scale;
        t.max *= scale;
        snprintf(label, sizeof label, "%s, %lld tiles of %d^3", name, (long long)info.count, (int)edge);
        bench_report(b, &(bench_case){ .name = label,
                                       .n = info.active_voxels,
                                       .time = t,
                                       .bytes = 8.0 * passes * (double)info.count * edge * edge * edge,
                                       .bar = bar,
                                       .holds = t.runs && t.median <= seconds });
    } else {
        fprintf(stderr, "bench engine: %s\n", tsr_error_message());
    }
    tsr_levelset_destroy(&job.levelset);
    tsr_tiles_destroy(&job.tiles);
}

int main(int argc, char **argv)
{
    bench b;
    if (!bench_begin(&b, argc, argv, "engine")) return 2;
    const int gpu = tsr_context_device(b.context).kind == TSR_DEVICE_CUDA;
    const double radius = b.quick ? 60 : 235;
    /* A pulsating speed would change the list; these steps are so small that the list stays as it is over a measurement. */
    tsr_levelset_options o = TSR_LEVELSET_OPTIONS;
    o.terms[0] = (tsr_flow_term){ .kind = TSR_FLOW_SPEED, .value = -0.1 };
    o.terms[1] = (tsr_flow_term){ .kind = TSR_FLOW_CURVATURE, .value = 0.5 };
    o.term_count = 2;
    o.time_step = 1e-4;
    for (int32_t edge = 4; edge <= 8; edge += 4) {
        o.space = TSR_STENCIL_UPWIND;
        o.time = TSR_TIME_EULER;
        measure(&b, "collapse, first order", edge, radius, 1.5, &o, 1, gpu ? "60 us" : "10.3 ms", gpu ? 60e-6 : 10.3e-3);
        o.space = TSR_STENCIL_WENO5;
        o.time = TSR_TIME_RK3;
        measure(&b, "collapse, WENO5 and RK3", edge, radius, 1.5, &o, 3, gpu ? "0.75 ms" : "171 ms", gpu ? 0.75e-3 : 171e-3);
        tsr_levelset_options vortex = o;
        vortex.terms[0] =
            (tsr_flow_term){ .kind = TSR_FLOW_ENRIGHT, .value = 1, .centre = { -2 * radius, -2 * radius, -2 * radius }, .radius = 6.67 * radius };
        vortex.term_count = 1;
        measure(&b, "periodic deformation, WENO5 and RK3", edge, radius, 3, &vortex, 3, NULL, 0);
        measure(&b, "redistance", edge, radius, 3, NULL, 6, NULL, 0);
    }
    return bench_end(&b);
}
