/* What a segmentation starts from: images, seeds and masks on both sides of their limits, along every axis; spheres and strokes by their distances. */
#include "segment/segment.h"
#include "sphere.h"

static const tsr_size3 size = { 28, 24, 26 };

static void extents(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    tsr_segmentation *s;
    o.epsilon = 8;
    for (int axis = 0; axis < 3; axis++)
        for (int64_t least = 1; least < 3; least++) { /* two along x and y, one slice is an image */
            const tsr_size3 n = { axis == 0 ? least : 9, axis == 1 ? least : 9, axis == 2 ? least : 9 };
            tsr_volume *image = distance_image(context, n, (tsr_vec3){ 1, 1, 1 });
            char words[64];
            snprintf(words, sizeof words, "the image has 1 voxels along %c, expected 2 to 1048576", "xyz"[axis]);
            if (least == 1 && axis < 2) require_error(tsr_segmentation_create(context, image, &o, &s), TSR_ERROR_ARGUMENT, words);
            else {
                require_ok(tsr_segmentation_create(context, image, &o, &s));
                tsr_segmentation_destroy(&s);
            }
            tsr_volume_destroy(&image);
        }
    tsr_volume *image = distance_image(context, size, (tsr_vec3){ 1, 1, 1 });
    require_ok(tsr_segmentation_create(context, image, &o, &s));
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            const tsr_size3 n = { size.x + (axis == 0) * side, size.y + (axis == 1) * side, size.z + (axis == 2) * side };
            tsr_volume *other;
            require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &other));
            require_error(tsr_segmentation_from_mask(s, other), TSR_ERROR_ARGUMENT, "voxels, the image 28 x 24 x 26");
            require_error(tsr_segmentation_from_field(s, other), TSR_ERROR_ARGUMENT, "voxels, the image 28 x 24 x 26");
            tsr_volume_destroy(&other);
            const double far_ = side < 0 ? -0.5 : (axis == 0 ? (double)size.x : axis == 1 ? (double)size.y : (double)size.z) - 0.5;
            for (int beyond = 0; beyond < 2; beyond++) { /* the faces of the outer voxels are the last that is inside */
                double p[3] = { 9, 9, 9 };
                p[axis] = far_ + beyond * side * 0.01;
                const tsr_vec3 at = { p[0], p[1], p[2] };
                if (beyond) require_error(tsr_segmentation_sphere(s, at, 3, 0), TSR_ERROR_ARGUMENT, "lies outside the volume of 28 x 24 x 26 voxels");
                else require_ok(tsr_segmentation_sphere(s, at, 3, 0));
                if (beyond) require_error(tsr_segmentation_stroke(s, (tsr_vec3){ 9, 9, 9 }, at, 3, 0), TSR_ERROR_ARGUMENT, "lies outside the volume");
                if (beyond) require_error(tsr_segmentation_stroke(s, at, (tsr_vec3){ 9, 9, 9 }, 3, 0), TSR_ERROR_ARGUMENT, "lies outside the volume");
            }
        }
    tsr_segmentation_destroy(&s);
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

static double distance_to(const double p[3], const double a[3], const double b[3])
{
    double along = 0, length = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        along += (p[k] - a[k]) * (b[k] - a[k]);
        length += (b[k] - a[k]) * (b[k] - a[k]);
    }
    const double t = length > 0 ? fmin(fmax(along / length, 0), 1) : 0;
    for (int k = 0; k < 3; k++) sum += pow(p[k] - a[k] - t * (b[k] - a[k]), 2);
    return sqrt(sum);
}

/* Strokes in all directions, with voxels of any spacing, painted and erased: nothing farther than the radius, all that is nearer than spheres half a radius
 * apart leave, which is sqrt(15) / 4 of it. */
static void strokes(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    const tsr_vec3 h = { 1, 1.25, 0.8 };
    tsr_volume *image = distance_image(context, size, h);
    tsr_segment_options o = TSR_SEGMENT_OPTIONS;
    o.epsilon = 8;
    for (int turn = 0; turn < 10; turn++) {
        double a[3], b[3], way[2][3];
        const double r = 2.5 + 2 * test_uniform(&seed);
        const int erase = turn % 2;
        tsr_segmentation *s;
        for (int k = 0; k < 3; k++) {
            a[k] = 6 + 12 * test_uniform(&seed);
            b[k] = turn < 6 && turn / 2 != k ? a[k] : 6 + 12 * test_uniform(&seed); /* along an axis, or any way */
        }
        if (turn == 9) memcpy(b, a, sizeof b); /* a point */
        require_ok(tsr_segmentation_create(context, image, &o, &s));
        if (erase) require_ok(tsr_segmentation_sphere(s, (tsr_vec3){ 13, 12, 13 }, 11, 0));
        uint8_t *before = erase ? host_mask(s) : NULL;
        require_ok(tsr_segmentation_stroke(s, (tsr_vec3){ a[0], a[1], a[2] }, (tsr_vec3){ b[0], b[1], b[2] }, r, erase));
        uint8_t *mask = host_mask(s);
        const double spacing[3] = { h.x, h.y, h.z };
        for (int k = 0; k < 3; k++) {
            way[0][k] = a[k] * spacing[k];
            way[1][k] = b[k] * spacing[k];
        }
        for (int64_t i = 0; i < size.x * size.y * size.z; i++) {
            const double p[3] = { (double)(i % size.x) * h.x, (double)(i / size.x % size.y) * h.y, (double)(i / size.x / size.y) * h.z };
            const double d = distance_to(p, way[0], way[1]);
            const int was = erase ? before[i] : 0, touched = mask[i] != was;
            if (d > r + 1e-3 ? touched : d < r * sqrt(15) / 4 - 1e-3 ? mask[i] == erase : 0)
                fail_msg("turn %d: voxel (%lld, %lld, %lld), %g from the stroke of radius %g, is %d", turn, (long long)(i % size.x),
                         (long long)(i / size.x % size.y), (long long)(i / size.x / size.y), d, r, mask[i]);
        }
        free(before);
        free(mask);
        tsr_segmentation_destroy(&s);
    }
    tsr_volume_destroy(&image);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(extents), cmocka_unit_test(strokes) };
    return cmocka_run_group_tests_name("starts of segmentations", tests, NULL, NULL);
}
