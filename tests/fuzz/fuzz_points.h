/* tests/fuzz/fuzz_points.h: seeds of the formats of point clouds, written by the library: with and without normals. */
#include "fuzz/fuzz_format.h"

#include <stdio.h>

static inline void fuzz_points_seeds(const char *format, int ascii)
{
    static const float positions[12] = { 0, 0, 0, 1.5f, 0, 0, 0, -2, 1e-9f, 0, 0, 3 }, normals[12] = { 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0 };
    for (int with = 0; with < 3; with++) {
        tsr_write_options options = TSR_WRITE_OPTIONS;
        tsr_points *points;
        char path[64];
        options.format = format;
        options.ascii = ascii;
        options.overwrite = 1;
        snprintf(path, sizeof path, "fuzz-seed-%ld.%s", (long)getpid(), format);
        fuzz_check(tsr_points_create(NULL, 4, with ? TSR_POINTS_NORMALS : 0, &points) == TSR_OK, "points\n");
        memcpy(tsr_points_positions(points), positions, sizeof positions);
        if (with) memcpy(tsr_points_normals(points), normals, sizeof normals);
        if (with == 2) { /* attributes, where the format has a place for them */
            float *density, *velocity;
            fuzz_check(tsr_points_add_attribute(points, "density", 1, &density) == TSR_OK && tsr_points_add_attribute(points, "velocity", 3, &velocity) == TSR_OK,
                       "attributes\n");
            memcpy(density, positions, 16);
            memcpy(velocity, normals, sizeof normals);
        }
        fuzz_check(tsr_points_write(points, path, &options) == TSR_OK, "write\n");
        fuzz_seed_file(path);
        tsr_points_destroy(&points);
    }
}
static inline void fuzz_text_seed(const char *text) { fuzz_seed(text, strlen(text)); }
