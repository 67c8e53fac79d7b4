/* tests/region/clumps.h: random volumes of blocks. */
#ifndef TSR_TESTS_CLUMPS_H
#define TSR_TESTS_CLUMPS_H

#include "support.h"

/* Blocks of random place, size and value on a ground of one value, so that cells of every level merge. */
typedef struct clump_shape {
    int count, sides; /* blocks; their sides are 1, 2, 4, ..., 2^(sides - 1), */
    int loose;        /* or, if not 0, 1 to `sides`, at any place instead of multiples of the side */
    int values;       /* 0 to values - 1 */
    uint8_t ground;
} clump_shape;

static inline void clumps_of(uint64_t *seed, tsr_size3 n, clump_shape c, uint8_t *data)
{
    memset(data, c.ground, (size_t)(n.x * n.y * n.z));
    for (int k = 0; k < c.count; k++) {
        const uint64_t draw = test_random(seed) % (uint64_t)c.sides;
        const int64_t s = c.loose ? 1 + (int64_t)draw : (int64_t)1 << draw, step = c.loose ? 1 : s;
        const int64_t x0 = (int64_t)(test_random(seed) % (uint64_t)n.x) / step * step,
                      y0 = (int64_t)(test_random(seed) % (uint64_t)n.y) / step * step,
                      z0 = (int64_t)(test_random(seed) % (uint64_t)n.z) / step * step;
        const uint8_t value = (uint8_t)(test_random(seed) % (uint64_t)c.values);
        for (int64_t z = z0; z < z0 + s && z < n.z; z++)
            for (int64_t y = y0; y < y0 + s && y < n.y; y++)
                for (int64_t x = x0; x < x0 + s && x < n.x; x++) data[(z * n.y + y) * n.x + x] = value;
    }
}
static inline void clumps(uint64_t *seed, tsr_size3 n, int values, uint8_t *data)
{
    clumps_of(seed, n, (clump_shape){ .count = 14, .sides = 5, .values = values }, data);
}

#endif
