/* Speed of simulated liquids: one step of the dam while it falls. Bound: bytes that a step must move with each particle and its list of neighbours read once in each
 * pass: the sorted state written and read (80), the list written once and read by the density and by two passes of every iteration (4 bytes a neighbour), and
 * in each of those passes places, velocities and impulses (72). Neighbours' own numbers are taken to come out of a cache. */
#include "bench.h"

static struct {
    bench b;
    tsr_fluid_sim *sim;
    double step;
} s;

static tsr_status one_step(void *user)
{
    (void)user;
    return tsr_fluid_sim_advance(s.sim, s.step, NULL);
}

static void dam(int64_t count, double seconds)
{
    char name[80];
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    tsr_fluid_scene_options o = TSR_FLUID_SCENE_OPTIONS;
    tsr_fluid_sim_info before = TSR_FLUID_SIM_INFO, after = TSR_FLUID_SIM_INFO;
    o.count = count;
    MUST(tsr_fluid_scene_create(s.b.context, "fluid-dam", &o, &s.sim));
    MUST(tsr_fluid_sim_advance(s.sim, seconds, NULL));
    MUST(tsr_fluid_sim_describe(s.sim, &before));
    s.step = 0.9 * before.step; /* one step a call, also when the fluid is a little faster */
    const bench_time time = bench_measure(&s.b, one_step, NULL, NULL);
    MUST(tsr_fluid_sim_describe(s.sim, &after));
    const double steps = (double)(after.steps - before.steps), iterations = steps > 0 ? (double)(after.iterations - before.iterations) / steps : 0;
    const double passes = 2 + 2 * iterations, n = (double)after.particles;
    snprintf(name, sizeof name, "dam, step of %lld particles, %.1f iterations, density error %.2f %%", (long long)after.particles, iterations,
             100 * after.density_error);
    bench_case c = { .name = name, .n = after.particles, .time = time, .bytes = n * (80 + 4 * 30 * (1 + passes) + 72 * passes) };
    if (gpu && count == 1000000) {
        c.bar = "at least 100 steps/s";
        c.holds = time.median <= 0.01 && after.density_error < 0.01;
    }
    bench_report(&s.b, &c);
    tsr_fluid_sim_destroy(&s.sim);
}

int main(int argc, char **argv)
{
    if (!bench_begin(&s.b, argc, argv, "fluid_sim")) return 2;
    const int gpu = tsr_context_device(s.b.context).kind == TSR_DEVICE_CUDA;
    dam(s.b.quick ? 8000 : 64000, 0.02);
    if (gpu) dam(1000000, 0.2);
    if (gpu && !s.b.quick) dam(10000000, 0.02);
    return bench_end(&s.b);
}
