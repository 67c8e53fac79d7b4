/* The data speed of every term by its definition, in float64 on the host: grey values with slopes and offsets, windows, all normalisations, floors, intervals, several
 * channels with their covariance; and what is refused of terms. */
#include "segment/segment.h"
#include "sphere.h"

static const tsr_size3 size = { 9, 7, 8 };
enum { COUNT = 9 * 7 * 8 };

/* Real values slope * stored + intercept. */
static tsr_volume *random_image(tsr_context *context, tsr_dtype dtype, double slope, double intercept, uint64_t *seed, double real[COUNT])
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &host));
    for (int i = 0; i < COUNT; i++) {
        const int stored = (int)(test_random(seed) % 200) - (dtype == TSR_U8 ? 0 : 90);
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(host))[i] = (uint8_t)stored;
        else if (dtype == TSR_I16) ((int16_t *)tsr_volume_data(host))[i] = (int16_t)stored;
        else ((float *)tsr_volume_data(host))[i] = (float)stored;
        real[i] = slope * stored + intercept;
    }
    require_ok(tsr_volume_set_scaling(host, slope, intercept));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}

static void require_speed(tsr_context *context, const tsr_volume *image, const tsr_segment_options *o, const double expected[COUNT], const char *what)
{
    tsr_segmentation *s;
    tsr_volume *device, *host;
    require_ok(tsr_segmentation_create(context, image, o, &s));
    require_ok(tsr_segmentation_speed(s, &device));
    require_ok(tsr_volume_copy(device, NULL, &host));
    for (int i = 0; i < COUNT; i++) {
        const double got = (double)((const float *)tsr_volume_data_const(host))[i];
        if (!(fabs(got - expected[i]) < 2e-5 * (1 + fabs(expected[i])))) fail_msg("%s: voxel %d is %.7g, expected %.7g", what, i, got, expected[i]);
    }
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&device);
    tsr_segmentation_destroy(&s);
}

static void tents(void **unused)
{
    (void)unused;
    static const tsr_dtype dtypes[3] = { TSR_U8, TSR_I16, TSR_F32 };
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    for (int turn = 0; turn < 24; turn++) {
        double real[COUNT], expected[COUNT], low = INFINITY, high = -INFINITY;
        const double slope = turn % 2 ? 0.5 : 1, intercept = turn % 2 ? -7 : 0;
        tsr_volume *image = random_image(context, dtypes[turn % 3], slope, intercept, &seed, real);
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        char what[64];
        for (int i = 0; i < COUNT; i++) low = fmin(low, real[i]), high = fmax(high, real[i]);
        o.normalise = (tsr_normalise)(turn / 3 % 3);
        o.target = low + (high - low) * (0.2 + 0.6 * test_uniform(&seed));
        o.epsilon = 3 + 20 * test_uniform(&seed);
        o.alpha = 0.2 + 0.8 * test_uniform(&seed);
        o.data_weight = turn % 5 == 4 ? -0.75 : 1.5;
        if (turn % 4 == 3) o.window[0] = low + 5, o.window[1] = high + 9, low = o.window[0], high = o.window[1];
        if (turn % 4 == 1) o.data_floor = 0.3;
        const double per = o.normalise == TSR_NORMALISE_EPSILON ? 1 / o.epsilon : o.normalise == TSR_NORMALISE_RANGE ? 1 / (high - low) : 1;
        for (int i = 0; i < COUNT; i++) {
            double d = per * (o.epsilon - fabs(real[i] - o.target));
            if (o.data_floor > 0) d = fmax(d, -o.data_floor);
            expected[i] = o.alpha * o.data_weight * d;
        }
        snprintf(what, sizeof what, "tent %d", turn);
        require_speed(context, image, &o, expected, what);
        tsr_volume_destroy(&image);
    }
    tsr_context_destroy(&context);
}

static void terms(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    uint64_t seed = test_seed();
    for (int turn = 0; turn < 12; turn++) {
        double real[COUNT], other[4][COUNT], expected[COUNT], root[4][4], covariance[4][4];
        tsr_volume *image = random_image(context, TSR_I16, 2, 3, &seed, real), *volume[4];
        tsr_segment_options o = TSR_SEGMENT_OPTIONS;
        for (int c = 0; c < 4; c++) volume[c] = random_image(context, c % 2 ? TSR_F32 : TSR_U8, 0.5 + 0.25 * c, 2 * c - 3, &seed, other[c]);
        const int channels = 1 + turn % 4;
        o.data_weight = 0;
        o.alpha = 0.5 + 0.5 * test_uniform(&seed);
        o.term_count = 5;
        o.terms[0] = (tsr_term){ .kind = TSR_TERM_CONSTANT, .weight = 0.75, .value = -2.5 };
        o.terms[1] = (tsr_term){ .kind = TSR_TERM_VOLUME, .weight = -0.01, .volume = volume[0] };
        o.terms[2] = (tsr_term){
            .kind = TSR_TERM_INTERVAL, .weight = 2, .value = 1.5, .lower = real[3], .upper = real[3] + 40
        }; /* the image; its ends count */
        o.terms[3] =
            (tsr_term){ .kind = TSR_TERM_INTERVAL, .weight = 1, .value = 0.25, .lower = other[1][5] - 10, .upper = other[1][5], .volume = volume[1] };
        o.terms[4] = (tsr_term){ .kind = TSR_TERM_VECTOR, .weight = 0.5, .value = 2, .channels = channels };
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) root[i][j] = 20 * (i == j) + 16 * test_uniform(&seed) - 8;
        for (int i = 0; i < 4; i++) {
            o.terms[4].channel[i] = i < channels ? volume[i] : NULL;
            o.terms[4].mean[i] = 10 + 30 * test_uniform(&seed);
            for (int j = 0; j < 4; j++) {
                covariance[i][j] = 0;
                for (int k = 0; k < channels; k++) covariance[i][j] += root[i][k] * root[j][k];
                o.terms[4].covariance[i][j] = covariance[i][j];
            }
        }
        for (int i = 0; i < COUNT; i++) {
            double m[4][5], square = 0; /* C x = v - mean, by elimination; x . (v - mean) */
            for (int r = 0; r < channels; r++) {
                for (int c = 0; c < channels; c++) m[r][c] = covariance[r][c];
                m[r][channels] = other[r][i] - o.terms[4].mean[r];
            }
            for (int c = 0; c < channels; c++)
                for (int r = 0; r < channels; r++) {
                    if (r == c) continue;
                    const double factor = m[r][c] / m[c][c];
                    for (int k = 0; k <= channels; k++) m[r][k] -= factor * m[c][k];
                }
            for (int r = 0; r < channels; r++) square += m[r][channels] / m[r][r] * (other[r][i] - o.terms[4].mean[r]);
            const double within = real[i] >= real[3] && real[i] <= real[3] + 40 ? 1.5 : -1.5;
            const double near = other[1][i] >= other[1][5] - 10 && other[1][i] <= other[1][5] ? 0.25 : -0.25;
            expected[i] = o.alpha * (0.75 * -2.5 - 0.01 * other[0][i] + 2 * within + near + 0.5 * (2 - sqrt(square)));
        }
        require_speed(context, image, &o, expected, "terms");
        tsr_segmentation *s;
        tsr_segment_options bad = o;
        bad.terms[4].channels = turn % 2 ? 0 : 5;
        require_error(tsr_segmentation_create(context, image, &bad, &s), TSR_ERROR_ARGUMENT,
                      turn % 2 ? "speed term 4 has 0 channels" : "speed term 4 has 5 channels");
        bad = o;
        bad.terms[0].kind = (tsr_term_kind)(turn % 2 ? 5 : -1);
        require_error(tsr_segmentation_create(context, image, &bad, &s), TSR_ERROR_ARGUMENT,
                      turn % 2 ? "speed term 0 is of kind 5" : "speed term 0 is of kind -1");
        for (int axis = 0; axis < 3; axis++) { /* of other extents */
            const tsr_size3 n = { size.x + (axis == 0), size.y + (axis == 1), size.z + (axis == 2) };
            tsr_volume *larger;
            require_ok(tsr_volume_create(context, TSR_F32, n, NULL, &larger));
            bad = o;
            if (turn % 3 == 0) bad.terms[1].volume = larger;
            if (turn % 3 == 1) bad.terms[3].volume = larger;
            if (turn % 3 == 2) bad.terms[4].channel[channels - 1] = larger;
            require_error(tsr_segmentation_create(context, image, &bad, &s), TSR_ERROR_ARGUMENT, "voxels, the image has 9 x 7 x 8");
            tsr_volume_destroy(&larger);
        }
        for (int c = 0; c < 4; c++) tsr_volume_destroy(&volume[c]);
        tsr_volume_destroy(&image);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(tents), cmocka_unit_test(terms) };
    return cmocka_run_group_tests_name("speeds of segmentations", tests, NULL, NULL);
}
