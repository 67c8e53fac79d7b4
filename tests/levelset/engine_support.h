/* tests/levelset/engine_support.h: lists of shapes, and what the suites of the level-set solver share. */
#ifndef TSR_TESTS_LEVELSET_ENGINE_SUPPORT_H
#define TSR_TESTS_LEVELSET_ENGINE_SUPPORT_H

#include <math.h>

#include "support.h"

static inline const char *device_name(void)
{
    const char *device = getenv("TESSERA_DEVICE");
    return device && *device ? device : "cpu";
}
static inline int on_emulator(void) { return strcmp(device_name(), "emu") == 0; }

/* ---- fields ------------------------------------------------------------------------------------------------------------------------------ */

typedef double (*shape_function)(double x, double y, double z);

/* A list over the box n whose field is a shape (signed distance in voxels of size 1). */
static inline tsr_tiles *tiles_of(tsr_context *context, tsr_size3 n, int32_t edge, double band, shape_function shape)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.edge = edge;
    options.domain = n;
    options.band = band;
    options.capacity = 60; /* grows on the way */
    require_ok(tsr_volume_create(NULL, TSR_F32, n, NULL, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < n.x * n.y * n.z; i++) v[i] = (float)shape((double)(i % n.x), (double)(i / n.x % n.y), (double)(i / n.x / n.y));
    require_ok(tsr_volume_copy(host, context, &field));
    require_ok(tsr_tiles_create(context, NULL, &options, &tiles));
    require_ok(tsr_tiles_load(tiles, field));
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    return tiles;
}

static inline tsr_volume *host_of(tsr_context *context, const tsr_tiles *tiles, tsr_size3 n)
{
    tsr_volume *volume, *host;
    require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &volume));
    require_ok(tsr_tiles_store(tiles, volume));
    require_ok(tsr_volume_copy(volume, NULL, &host));
    tsr_volume_destroy(&volume);
    return host;
}

static inline double distance3(double x, double y, double z, double a, double b, double c)
{
    return sqrt((x - a) * (x - a) + (y - b) * (y - b) + (z - c) * (z - c));
}

#define OPTIONS(...)                                             \
    {                                                            \
        .struct_size = sizeof(tsr_levelset_options), __VA_ARGS__ \
    }

#endif
