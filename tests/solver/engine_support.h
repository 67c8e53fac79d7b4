/* tests/solver/engine_support.h: lists of shapes, and what the suites of the level-set solver share. */
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

/* A list over the box n whose field is a shape (signed distance in voxels of size 1), with room for so many tiles at first. */
static inline tsr_tiles *tiles_with_room(tsr_context *context, tsr_size3 n, int32_t edge, double band, shape_function shape, int64_t capacity)
{
    tsr_tiles_options options = TSR_TILES_OPTIONS;
    tsr_volume *host, *field;
    tsr_tiles *tiles;
    options.edge = edge;
    options.domain = n;
    options.band = band;
    options.capacity = capacity;
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

static inline tsr_tiles *tiles_of(tsr_context *context, tsr_size3 n, int32_t edge, double band, shape_function shape)
{
    return tiles_with_room(context, n, edge, band, shape, 60); /* grows on the way */
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

/* ---- all of a list in a number: coordinates in order, values, counts ------------------------------------------------------------------- */

static inline uint64_t digest(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *b = (const uint8_t *)bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ b[i]) * 1099511628211ull;
    return hash;
}

static inline uint64_t digest_of(const tsr_tiles *tiles)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    require_ok(tsr_tiles_describe(tiles, &info));
    const size_t voxels = (size_t)(info.edge * info.edge * info.edge), n = (size_t)info.count;
    int32_t(*coordinates)[3] = malloc((n + 1) * sizeof *coordinates);
    float *values = (float *)malloc((n + 1) * voxels * sizeof *values);
    require_ok(tsr_tiles_download(tiles, coordinates, values));
    for (size_t i = 1; i < n; i++) {
        const int32_t *a = coordinates[i - 1], *b = coordinates[i];
        assert_true(a[2] < b[2] || (a[2] == b[2] && (a[1] < b[1] || (a[1] == b[1] && a[0] < b[0]))));
    }
    uint64_t hash = digest(14695981039346656037ull, coordinates, n * sizeof *coordinates);
    hash = digest(hash, values, n * voxels * sizeof *values);
    hash = digest(hash, &info.inside_voxels, sizeof info.inside_voxels);
    free(coordinates);
    free(values);
    return hash;
}

#define OPTIONS(...)                                             \
    {                                                            \
        .struct_size = sizeof(tsr_levelset_options), __VA_ARGS__ \
    }

#endif
