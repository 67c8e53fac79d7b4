/* The filters that curvature flow is compared with, against sums over all pixels in float64 that are written here. */
#include "fields.h"

typedef struct filtering {
    double space, depth; /* sigma in pixels at depth 1, in depth */
} filtering;

/* A tilted plane with noise, and a nearer square before it; a hole. */
static void scene(field *f, uint64_t seed, double noise)
{
    uint64_t state = seed;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const int near_ = x > 30 && x < 62 && y > 20 && y<50, hole = x> 70 && x < 78 && y > 40 && y < 60;
            *cell(f, x, y) = hole ? INFINITY : (float)((near_ ? 2.0 : 3.0 + 0.004 * x - 0.002 * y) + noise * (test_uniform(&state) - 0.5));
        }
    require_ok(tsr_device_move(context, f->device, NULL, f->host, f->size * 4));
}

static float *result_of(const field *f)
{
    float *out = malloc(f->size * 4);
    assert_non_null(out);
    require_ok(tsr_device_move(NULL, out, context, f->device, f->size * 4));
    return out;
}
static float at(const field *f, const float *image, int x, int y) { return image[(y + 1) * f->view.stride + x + TSR_FLUID_PAD]; }

/* The bilateral filter of one pixel: `reach` pixels to either side, sigma in pixels and in depth (infinite: Gaussian). */
static double bilateral(const field *f, int x, int y, double pixels, double depth, int reach, int across, int down)
{
    const double own = (double)*cell(f, x, y);
    double sum = 0, weights = 0;
    for (int j = -reach * down; j <= reach * down; j++)
        for (int i = -reach * across; i <= reach * across; i++) {
            if (x + i < 0 || x + i >= W || y + j < 0 || y + j >= H || !isfinite(*cell(f, x + i, y + j))) continue;
            const double other = (double)*cell(f, x + i, y + j);
            const double w = exp(-(i * i + j * j) / (2 * pixels * pixels) - (other - own) * (other - own) / (2 * depth * depth));
            sum += w * other;
            weights += w;
        }
    return sum / weights;
}

/* Squares, and one pass along rows and one along columns. */
static void like_the_sum(void **unused)
{
    (void)unused;
    const uint64_t seed = test_seed();
    static const struct {
        tsr_fluid_filter_kind kind;
        double depth;
    } kinds[] = { { TSR_FILTER_BILATERAL_TRUE, 0.1 }, { TSR_FILTER_GAUSSIAN, 1e9 }, { TSR_FILTER_BILATERAL, 0.1 } };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        field f = field_of(), half = field_of();
        scene(&f, seed, 0.05);
        const double space = 3 * 2.5 * (double)f.view.slope[1]; /* 2.5 pixels at depth 3 */
        tsr_fluid_filter_job job = { .view = f.view, .depth = f.device, .other = f.other, .iterations = 1 };
        job.filter = (tsr_fluid_filter){
            .kind = kinds[k].kind, .space = (float)space, .pixels = 32, .depth = (float)kinds[k].depth, .slope = f.view.slope[1], .reach = 64
        };
        require_ok(context->backend->fluid->filter(context->queue, &job));
        float *out = result_of(&f);
        double worst = 0;
        for (int pass = 0; pass < (kinds[k].kind == TSR_FILTER_BILATERAL_TRUE ? 1 : 2); pass++) {
            const field *from = pass ? &half : &f;
            for (int y = 0; y < H; y++)
                for (int x = 0; x < W; x++) {
                    const double own = (double)*cell(from, x, y);
                    if (!isfinite(own)) continue;
                    const double pixels = space / ((double)f.view.slope[1] * own);
                    const int reach = (int)ceil(2 * pixels), square = kinds[k].kind == TSR_FILTER_BILATERAL_TRUE;
                    const double right = bilateral(from, x, y, pixels, kinds[k].depth, reach, square || pass == 0, square || pass == 1);
                    if (!square && pass == 0) *cell(&half, x, y) = (float)right;
                    else worst = fmax(worst, fabs(right - (double)at(&f, out, x, y)));
                }
        }
        print_message("filter %d: largest difference %.2g\n", (int)kinds[k].kind, worst);
        assert_true(worst < 4e-6); /* depths of 3 in float32, exp() to 1e-6 of them */
        free(out);
        field_end(&f);
        field_end(&half);
    }
}

/* The bilateral grid has the variance of the filter that it stands for, bleeds over no edge and leaves holes. */
static void grid(void **unused)
{
    (void)unused;
    const uint64_t seed = test_seed();
    const double sigma_depth = 0.15, noise = 0.1;
    field f = field_of();
    scene(&f, seed, noise);
    tsr_fluid_grid_job job = { .view = f.view,
                               .depth = f.device,
                               .nearest = 1.9f,
                               .sigma = (float)(sigma_depth * sqrt(0.8)),
                               .cell = 5,
                               .wide = 20,
                               .high = 16,
                               .iterations = 1 };
    const size_t cells = 20 * 16 * TSR_FLUID_GRID_DEEP, bytes = cells * 8;
    float *memory[3];
    for (int k = 0; k < 3; k++) {
        float *nothing = calloc(cells, 8);
        memory[k] = to_device(context, nothing, bytes);
        free(nothing);
    }
    job.pixels = (tsr_fluid_pixels_in *)(void *)memory[0];
    job.blurred[0] = (tsr_fluid_weighted *)(void *)memory[1];
    job.blurred[1] = (tsr_fluid_weighted *)(void *)memory[2];
    require_ok(context->backend->fluid->grid(context->queue, &job));
    float *out = result_of(&f);
    const double pixels = 5 / sqrt(0.8);
    double before = 0, after = 0, apart = 0;
    int count = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const double raw = (double)*cell(&f, x, y), got = (double)at(&f, out, x, y);
            if (!isfinite(raw)) {
                assert_true(isinf(got));
                continue;
            }
            assert_true(fabs(got - raw) < 0.2); /* the square and the plane are 1 apart */
            const double right = bilateral(&f, x, y, pixels, sigma_depth, 20, 1, 1);
            const int near_ = x > 30 && x < 62 && y > 20 && y < 50;
            const double plane = near_ ? 2.0 : 3.0 + 0.004 * x - 0.002 * y;
            before += (raw - plane) * (raw - plane);
            after += (got - plane) * (got - plane);
            apart += (got - right) * (got - right);
            count++;
        }
    before = sqrt(before / count), after = sqrt(after / count), apart = sqrt(apart / count);
    print_message("noise %.4f, after the grid %.4f, from the full sum %.4f\n", before, after, apart);
    assert_true(apart < 0.15 * before && after < 0.35 * before);
    free(out);
    for (int k = 0; k < 3; k++) tsr_device_release(context, memory[k], bytes);
    field_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(like_the_sum), cmocka_unit_test(grid) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
