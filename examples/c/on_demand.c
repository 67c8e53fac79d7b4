/* Rendering on demand: on_demand PICTURE.png [BUDGET]. A slow renderer (rays marched through a distance function, soft shadows) draws every eighth pixel of every eighth row;
 * where these differ it matters to look closely. A quadtree makes squares of those places, the most telling first, and the renderer runs once per square
 * until BUDGET pixels are spent (default: all squares). Elsewhere the coarse picture is interpolated. Then all is rendered and compared. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/tessera.h>

#define TRY(call)                                         \
    do {                                                  \
        if ((call) != TSR_OK) {                           \
            fprintf(stderr, "%s\n", tsr_error_message()); \
            goto done;                                    \
        }                                                 \
    } while (0)

enum { SIDE = 512, STEP = 8, COARSE = SIDE / STEP };

/* Distance to a torus that stands on a plane, with a ball in its middle. */
static double distance_to(double x, double y, double z)
{
    const double ring = hypot(hypot(x, z) - 1, y) - 0.35, ball = hypot(hypot(x, y), z) - 0.4, ground = y + 0.75;
    return fmin(ground, fmin(ring, ball));
}

/* Brightness of a pixel, 0 to 1. */
static double render(int px, int py)
{
    const double e[3] = { 0, 1.6, -3.6 }, u = (px + 0.5) / SIDE - 0.5, v = 0.5 - (py + 0.5) / SIDE, length = sqrt(u * u + v * v + 1);
    const double tilt = 0.42, d[3] = { u / length, (v * cos(tilt) - sin(tilt)) / length, (v * sin(tilt) + cos(tilt)) / length };
    const double sun[3] = { 0.48, 0.8, -0.36 };
    double t = 0, p[3] = { 0 }, n[3], h = 1e-4, light = 1;
    for (int i = 0; i < 300 && t < 12; i++) {
        for (int k = 0; k < 3; k++) p[k] = e[k] + t * d[k];
        const double step = distance_to(p[0], p[1], p[2]);
        if (step < 1e-4) break;
        t += step;
    }
    if (t >= 12) return 0.85;
    n[0] = distance_to(p[0] + h, p[1], p[2]) - distance_to(p[0] - h, p[1], p[2]);
    n[1] = distance_to(p[0], p[1] + h, p[2]) - distance_to(p[0], p[1] - h, p[2]);
    n[2] = distance_to(p[0], p[1], p[2] + h) - distance_to(p[0], p[1], p[2] - h);
    for (double s = 0.02; s < 6;) {
        const double near = distance_to(p[0] + s * sun[0], p[1] + s * sun[1], p[2] + s * sun[2]);
        light = fmin(light, 12 * near / s);
        if (near < 1e-3) break;
        s += fmax(near, 0.005);
    }
    const double across = (n[0] * sun[0] + n[1] * sun[1] + n[2] * sun[2]) / (2 * h);
    return fmin(1, 0.12 + 0.8 * fmax(0, across) * fmax(0, light));
}

static uint8_t grey(double value) { return (uint8_t)lrint(255 * value); }

/* The coarse picture between its pixels; they lie at STEP / 2. */
static double interpolate(const double *coarse, int px, int py)
{
    const double x = fmin(fmax((px - STEP / 2) / (double)STEP, 0), COARSE - 1), y = fmin(fmax((py - STEP / 2) / (double)STEP, 0), COARSE - 1);
    const int i = (int)fmin(x, COARSE - 2), j = (int)fmin(y, COARSE - 2);
    const double *c = coarse + j * COARSE + i, a = x - i, b = y - j;
    return (1 - b) * ((1 - a) * c[0] + a * c[1]) + b * ((1 - a) * c[COARSE] + a * c[COARSE + 1]);
}

/* How much a place differs from those around it. */
static double saliency(const double *coarse, int i, int j)
{
    double most = 0;
    for (int y = j > 0 ? j - 1 : 0; y <= j + 1 && y < COARSE; y++)
        for (int x = i > 0 ? i - 1 : 0; x <= i + 1 && x < COARSE; x++) most = fmax(most, fabs(coarse[y * COARSE + x] - coarse[j * COARSE + i]));
    return most;
}

int main(int argc, char **argv)
{
    static double coarse[COARSE * COARSE];
    static uint8_t drawn[SIDE * SIDE];
    tsr_context *context = NULL;
    tsr_volume *map = NULL;
    tsr_region_tree *tree = NULL, *list = NULL;
    tsr_region_batch *batches = NULL;
    tsr_image image = { 0 };
    float *means = NULL;
    int code = 1;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s PICTURE.png [BUDGET]\n", argv[0]);
        return 2;
    }
    const tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu" }; /* device memory is host memory there */
    TRY(tsr_context_create(&on_cpu, &context));
    TRY(tsr_image_create(SIDE, SIDE, 1, &image));
    for (int j = 0; j < COARSE; j++)
        for (int i = 0; i < COARSE; i++) coarse[j * COARSE + i] = render(i * STEP + STEP / 2, j * STEP + STEP / 2);
    TRY(tsr_volume_create(context, TSR_F32, (tsr_size3){ SIDE, SIDE, 1 }, NULL, &map));
    for (int i = 0; i < SIDE * SIDE; i++) {
        ((float *)tsr_volume_data(map))[i] = (float)saliency(coarse, i % SIDE / STEP, i / SIDE / STEP);
        image.pixels[i] = grey(interpolate(coarse, i % SIDE, i / SIDE));
    }

    tsr_region_options options = TSR_REGION_OPTIONS;
    options.classifier = TSR_PYRAMID_RANGE; /* what matters at all */
    options.lower = 0.04;
    options.upper = 2;
    TRY(tsr_region_tree_make(context, (const tsr_volume *const[]){ map }, 1, &options, &tree));
    TRY(tsr_region_tree_copy(tree, NULL, &list));
    const int64_t leaves = tsr_region_tree_describe(list)->leaves;
    means = malloc(((size_t)leaves + 1) * sizeof *means);
    batches = malloc(((size_t)leaves + 1) * sizeof *batches);
    if (!means || !batches) {
        fprintf(stderr, "no memory for %lld squares\n", (long long)leaves);
        goto done;
    }
    TRY(tsr_region_tree_means(tree, map, means));
    TRY(tsr_context_synchronize(context));
    TRY(tsr_region_batches(list, means, batches));
    const int64_t within = tsr_region_batches_within(batches, leaves, argc == 3 ? strtoll(argv[2], NULL, 10) : SIDE * SIDE);
    for (int64_t k = 0; k < within; k++) {
        const tsr_region_leaf q = tsr_region_leaf_of(tsr_region_tree_leaves(list)[batches[k].leaf], 2);
        for (int64_t i = 0; i < q.side * q.side; i++) {
            const int64_t x = q.x + i % q.side, y = q.y + i / q.side;
            image.pixels[y * SIDE + x] = grey(render((int)x, (int)y));
            drawn[y * SIDE + x] = 1;
        }
    }

    int64_t rendered = COARSE * COARSE, wrong = 0;
    double squares = 0, plain = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int full = grey(render(i % SIDE, i / SIDE)), now = image.pixels[i], before = grey(interpolate(coarse, i % SIDE, i / SIDE));
        rendered += drawn[i];
        wrong += drawn[i] && full != now;
        squares += (full - now) * (full - now);
        plain += (full - before) * (full - before);
    }
    printf("%lld of %lld squares, %lld of %d pixels rendered: %.1f %% saved\n", (long long)within, (long long)leaves, (long long)rendered,
           SIDE * SIDE, 100 - 100.0 * (double)rendered / (SIDE * SIDE));
    printf("root mean square error %.2f of 255 (%.2f without the squares), %lld pixels in squares differ from the full rendering\n",
           sqrt(squares / (SIDE * SIDE)), sqrt(plain / (SIDE * SIDE)), (long long)wrong);
    TRY(tsr_image_write(&image, argv[1], NULL));
    code = wrong != 0;
done:
    free(means);
    free(batches);
    tsr_image_destroy(&image);
    tsr_region_tree_destroy(&list);
    tsr_region_tree_destroy(&tree);
    tsr_volume_destroy(&map);
    tsr_context_destroy(&context);
    return code;
}
