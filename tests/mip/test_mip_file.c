/* Pyramids in files: what is written comes back bit for bit and draws the same; what is damaged is refused by name. */
#include "io/little_endian.h"
#include "mip/mip_file.h"
#include "formats/scratch.h"
#include "support.h"

static tsr_mip *make(tsr_context *context, tsr_size3 n, tsr_dtype dtype, const tsr_mip_options *options, uint64_t *seed)
{
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 0.75, 2 }, (tsr_vec3){ 1, -2, 3 }, TSR_SPACE_RAS);
    tsr_volume *volume;
    tsr_mip *mip;
    require_ok(tsr_volume_create(context, dtype, n, &g, &volume));
    require_ok(tsr_volume_set_scaling(volume, 0.25, -7));
    uint8_t *v = tsr_volume_data(volume);
    for (int64_t i = 0; i < n.x * n.y * n.z * (int64_t)tsr_dtype_size(dtype); i++) v[i] = (uint8_t)(test_random(seed) % 3 ? test_random(seed) : 0);
    require_ok(tsr_mip_build(context, volume, options, &mip));
    tsr_volume_destroy(&volume);
    return mip;
}

static void round_trips(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int k = 0; k < 8; k++) {
        const tsr_size3 n = { 20 + k, 41 - 3 * k, 9 };
        tsr_mip_options o = TSR_MIP_OPTIONS;
        o.format = (tsr_mip_format)(k % 4);
        o.key = (tsr_mip_key)(k / 2);
        o.levels = 1 + k % 4;
        o.element = (tsr_mip_element)(k % 3);
        o.measure = k == 3;
        tsr_mip *mip = make(context, n, k < 4 ? TSR_U8 : TSR_U16, &o, &seed), *back;
        const char *path = scratch(k % 2 ? "a.mip" : "a.mip.gz");
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.overwrite = 1;
        require_ok(tsr_mip_write(mip, path, &write));
        require_ok(tsr_mip_read(context, path, NULL, &back));
        const tsr_mip_info a = *tsr_mip_describe(mip), b = *tsr_mip_describe(back);
        assert_true(a.coefficients == b.coefficients && a.runs == b.runs && a.bricks == b.bricks && a.levels == b.levels && a.element == b.element);
        assert_true(a.format == b.format && a.key == b.key && a.dtype == b.dtype && a.spacing.z == b.spacing.z && a.steps == b.steps);
        assert_memory_equal(a.by_level, b.by_level, sizeof a.by_level);
        assert_memory_equal(a.step, b.step, sizeof a.step);
        tsr_volume *x, *y, *host[2];
        require_ok(tsr_mip_reconstruct(mip, &x));
        require_ok(tsr_mip_reconstruct(back, &y));
        require_ok(tsr_volume_copy(x, NULL, &host[0]));
        require_ok(tsr_volume_copy(y, NULL, &host[1]));
        assert_memory_equal(tsr_volume_data(host[0]), tsr_volume_data(host[1]), (size_t)(n.x * n.y * n.z) * (k < 4 ? 1 : 2));
        double slope, intercept;
        tsr_volume_scaling(y, &slope, &intercept);
        assert_true(slope == 0.25 && intercept == -7);
        tsr_mip_frame *frame, *frame_back;
        tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
        tsr_mip_errors e = TSR_MIP_ERRORS;
        const tsr_mip_view view = tsr_mip_orbit(20 * k, 10, 1);
        r.fraction = 0.3;
        require_ok(tsr_mip_frame_create(context, 60, 60, &frame));
        require_ok(tsr_mip_frame_create(context, 60, 60, &frame_back));
        require_ok(tsr_mip_render(mip, &view, &r, frame, NULL));
        require_ok(tsr_mip_render(back, &view, &r, frame_back, NULL));
        require_ok(tsr_mip_compare(frame_back, frame, &e));
        assert_int_equal(e.different, 0);
        tsr_mip_frame_destroy(&frame);
        tsr_mip_frame_destroy(&frame_back);
        for (int c = 0; c < 2; c++) tsr_volume_destroy(&host[c]);
        tsr_volume_destroy(&x);
        tsr_volume_destroy(&y);
        tsr_mip_destroy(&mip);
        tsr_mip_destroy(&back);
    }
    tsr_context_destroy(&context);
}

static void refuse(tsr_context *context, uint8_t *bytes, size_t size, int sum, tsr_status code, const char *text)
{
    tsr_input *input = NULL;
    tsr_mip *mip = NULL;
    if (sum) tsr_put_u64(bytes + TSR_MIP_AT_SUM, tsr_mip_file_sum(bytes, size));
    require_ok(tsr_input_memory(bytes, size, "bad.mip", NULL, &input));
    require_error(tsr_mip_file_read(context, input, &mip), code, text);
    if (!strstr(tsr_error_message(), "bad.mip")) fail_msg("'%s' does not name the file", tsr_error_message());
    assert_null(mip);
    tsr_input_close(&input);
}

static void damage(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_mip_options o = TSR_MIP_OPTIONS;
    tsr_mip *mip = make(context, (tsr_size3){ 40, 12, 11 }, TSR_U8, &o, &seed);
    const tsr_mip_info info = *tsr_mip_describe(mip);
    const char *path = scratch("b.mip");
    tsr_input *input = NULL;
    const uint8_t *bytes;
    size_t size;
    require_ok(tsr_mip_write(mip, path, NULL));
    require_error(tsr_mip_write(mip, path, NULL), TSR_ERROR_IO, "b.mip");
    require_ok(tsr_input_open(path, NULL, &input));
    require_ok(tsr_input_all(input, &bytes, &size));
    const size_t runs = TSR_MIP_HEADER + (size_t)info.bricks * TSR_MIP_BRICK_BYTES, places = runs + (size_t)info.runs * TSR_MIP_RUN_BYTES;
    const struct {
        size_t at, bytes;
        uint64_t value;
        const char *text;
    } wrong[] = { { 0, 1, 'X', "magic" },
                  { 16, 8, 0, "extent y is 0" },
                  { 24, 8, (uint64_t)1 << 40, "extent z is 1099511627776" },
                  { 32, 8, 77, "77 bricks" },
                  { 40, 8, (uint64_t)1 << 33, "runs is 8589934592" },
                  { 48, 8, 5, "bytes, expected" },
                  { 56, 1, 9, "levels is 9" },
                  { 56, 1, 7, "7 levels" },
                  { 57, 1, 3, "bytes of a value is 3" },
                  { 58, 1, 4, "element is 4" },
                  { 58, 1, 1, "points are not those" },
                  { 60, 1, 9, "format is 9" },
                  { 62, 1, 3, "measured steps" },
                  { 352, 8, 0, "slope" },
                  { TSR_MIP_HEADER, 4, 1, "brick 0 has 1 coefficients" },
                  { TSR_MIP_HEADER + 4, 4, 0, "brick 0" },
                  { runs, 4, 1, "run 0 of brick 0" },
                  { runs + 6, 2, 7, "run 0 of brick 0" },
                  { runs + 4, 2, 0, "run 0 of brick 0" },
                  { places, 2, 0x7fff, "coefficient 0" },
                  { size - 1, 1, 0, "coefficient" } };
    uint8_t *copy = malloc(size + 1);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        memcpy(copy, bytes, size);
        for (size_t b = 0; b < wrong[k].bytes; b++) copy[wrong[k].at + b] = (uint8_t)(wrong[k].value >> (8 * b));
        refuse(context, copy, size, 1, TSR_ERROR_FORMAT, wrong[k].text);
    }
    memcpy(copy, bytes, size);
    refuse(context, copy, 100, 0, TSR_ERROR_FORMAT, "header of 760 bytes");
    refuse(context, copy, size - 1, 1, TSR_ERROR_FORMAT, "bytes, expected");
    memcpy(copy, bytes, size);
    copy[size - 1] ^= 1;
    refuse(context, copy, size, 0, TSR_ERROR_FORMAT, "checksum");
    copy[7] = '2';
    refuse(context, copy, size, 0, TSR_ERROR_UNSUPPORTED, "version '2'");
    free(copy);
    tsr_input_close(&input);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(round_trips), cmocka_unit_test(damage) };
    return cmocka_run_group_tests_name("mip_file", tests, scratch_make, scratch_remove);
}
