/* tests/vision/sweep_pinhole.h: the camera of the suites of the plane sweep. */
#ifndef TSR_TESTS_VISION_SWEEP_PINHOLE_H
#define TSR_TESTS_VISION_SWEEP_PINHOLE_H

#include "support.h"
#include "tessera/camera.h"

static inline tsr_camera pinhole(double x, double y, double z, double fov)
{
    tsr_camera c = { .position = { x, y, z }, .fov = fov };
    for (int k = 0; k < 3; k++) c.rotation[k][k] = 1;
    return c;
}

#endif
