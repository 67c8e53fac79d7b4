/* The distance transform: same bits on every backend, for random and structured masks, equal and unequal spacings. */
#include "check.h"

static const struct {
    tsr_size3 size;
    tsr_vec3 spacing;
    double share;
    int blocks;
    double band;
} cases[] = { { { 1, 1, 1 }, { 1, 1, 1 }, 1, 1, 0 },       { { 33, 1, 5 }, { 1, 1, 1 }, 0.1, 1, 0 },
              { { 31, 40, 9 }, { 1, 1, 1 }, 0.5, 1, 0 },   { { 65, 34, 17 }, { 2, 2, 2 }, 0.01, 1, 0 },
              { { 64, 32, 40 }, { 1, 1, 3 }, 0.3, 8, 0 },  { { 100, 7, 60 }, { 0.7, 1.3, 0.2 }, 0.02, 1, 4 },
              { { 96, 96, 24 }, { 1, 1, 1 }, 0.3, 16, 0 }, { { 48, 48, 48 }, { 1, 1, 1 }, 0, 1, 0 },
              { { 3, 600, 2 }, { 1, 1, 1 }, 0.01, 1, 0 },  { { 2, 3, 1300 }, { 2, 1, 1 }, 0.003, 1, 0 },
              { { 2, 2100, 1 }, { 1, 1, 1 }, 0.01, 1, 0 }, { { 35, 2, 520 }, { 1, 1, 0.7 }, 0.002, 1, 0 } };
enum { SIZES = sizeof cases / sizeof *cases, MODES = 2 };

static void describe(int index, char *text, size_t bytes)
{
    int i = index / MODES;
    snprintf(text, bytes, "%lldx%lldx%lld share %g blocks %d mode %d", (long long)cases[i].size.x, (long long)cases[i].size.y,
             (long long)cases[i].size.z, cases[i].share, cases[i].blocks, index % MODES);
}

static void run(check *c, int index)
{
    int i = index / MODES;
    tsr_size3 n = cases[i].size;
    tsr_geometry geometry = tsr_geometry_make(cases[i].spacing, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_distance_options options = TSR_DISTANCE_OPTIONS;
    tsr_volume *host = NULL, *mask = NULL, *distance = NULL;
    options.mode = index % MODES ? TSR_DISTANCE_TO_MASK : TSR_DISTANCE_SIGNED;
    options.band = cases[i].band;
    check_status(c, tsr_volume_create(NULL, TSR_I16, n, &geometry, &host));
    if (c->failed) return;
    int16_t *data = (int16_t *)tsr_volume_data(host);
    for (int64_t v = 0; v < tsr_volume_count(host); v++) { /* the same answer within a block of voxels */
        int64_t b = cases[i].blocks, x = v % n.x / b, y = v / n.x % n.y / b, z = v / (n.x * n.y) / b;
        uint64_t state = (uint64_t)((z * 4096 + y) * 4096 + x);
        data[v] = (double)(check_random(&state) >> 11) * 0x1p-53 < cases[i].share ? -3 : 0;
    }
    check_status(c, tsr_volume_copy(host, c->context, &mask));
    check_call(c, 16 * tsr_volume_count(host), (tsr_volume_destroy(&distance), tsr_distance_transform(c->context, mask, &options, &distance)));
    if (distance) check_keep_device(c, "distance", tsr_volume_data(distance), (size_t)tsr_volume_count(host) * sizeof(float));
    tsr_volume_destroy(&distance);
    tsr_volume_destroy(&mask);
    tsr_volume_destroy(&host);
}

int main(int argc, char **argv)
{
    static const check_entry entries[] = { { "distance", SIZES * MODES, describe, run, NULL } };
    return check_main(argc, argv, entries, 1);
}
