/* The type that a volume is transformed in, on both sides of every limit of its voxels (docs/theory/wavelets.md). */
#include <math.h>

#include "support.h"
#include "tessera/wavelet.h"
#include "wavelet/volume_dwt.h"

static tsr_status choose(tsr_dtype from, double minimum, double maximum, tsr_wavelet_options o, tsr_dtype wish, tsr_dtype *chosen, int32_t *accuracy)
{
    const tsr_size3 n = { 64, 64, 64 };
    *chosen = wish;
    const tsr_status status = tsr_dwt_choose_type(from, n, minimum, maximum, &o, chosen);
    if (accuracy) *accuracy = o.accuracy;
    return status;
}

static void ranges(void **unused)
{
    (void)unused;
    const tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_dtype chosen;
    for (int wide = 0; wide < 2; wide++) {
        const tsr_dtype type = wide ? TSR_I32 : TSR_I16;
        const double most = wide ? 2147483647.0 : 32767;
        require_ok(choose(TSR_I64, -most - 1, most, o, type, &chosen, NULL));
        assert_int_equal(chosen, type);
        require_error(choose(TSR_I64, 0, most + 1, o, type, &chosen, NULL), TSR_ERROR_ARGUMENT, wide ? "do not fit into i32" : "do not fit into i16");
        require_error(choose(TSR_I64, -most - 2, 0, o, type, &chosen, NULL), TSR_ERROR_ARGUMENT,
                      wide ? "do not fit into i32" : "do not fit into i16");
        require_error(choose(TSR_F32, 0, 1, o, type, &chosen, NULL), TSR_ERROR_ARGUMENT, "expected f32 or f64");
        require_error(choose(TSR_F64, 0, 1, o, type, &chosen, NULL), TSR_ERROR_ARGUMENT, "expected f32 or f64");
    }
    for (int from = TSR_F32; from <= TSR_F64; from++) {
        require_ok(choose((tsr_dtype)from, NAN, NAN, o, TSR_DTYPE_COUNT, &chosen, NULL)); /* nobody asks for their range */
        assert_int_equal(chosen, from);
        for (int to = TSR_F32; to <= TSR_F64; to++) {
            require_ok(choose((tsr_dtype)from, NAN, NAN, o, (tsr_dtype)to, &chosen, NULL));
            assert_int_equal(chosen, to);
            assert_false(tsr_dwt_needs_range((tsr_dtype)from, (tsr_dtype)to));
        }
        assert_true(tsr_dwt_needs_range((tsr_dtype)from, TSR_I16));
    }
    assert_true(tsr_dwt_needs_range(TSR_U8, TSR_DTYPE_COUNT) && tsr_dwt_needs_range(TSR_U8, TSR_F32));
}

/* Without a wish 16 bits where the filter's promise holds for voxels of so many bits, their sign one of them, else 32; the accuracy bits of a filter are left out
 * where 32 bits have no room for them, and refused where they were asked for. */
static void room(void **unused)
{
    (void)unused;
    for (int filter = TSR_WAVELET_LEGALL53; filter <= TSR_WAVELET_JPEG53; filter++)
        for (int32_t levels = 1; levels <= 4; levels *= 2)
            for (uint32_t axes = 0; axes < 8; axes += axes ? 4 : 3) /* all, two, all by their names */
                for (int given = -1; given <= 1; given++) {
                    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                    o.filter = (tsr_wavelet_filter)filter;
                    o.levels = levels;
                    o.axes = axes;
                    o.accuracy = given;
                    const int32_t dimensions = axes ? (int32_t)((axes & 1) + (axes >> 1 & 1) + (axes >> 2)) : 3;
                    const int32_t safe = tsr_wavelet_safe_bits(o.filter, levels, dimensions, given);
                    for (int32_t bits = 2; bits <= 32; bits++) {
                        if (abs(bits - safe) > 1 && abs(bits - safe - 16) > 1 && bits != 16) continue; /* near a limit */
                        for (int side = 0; side < 3; side++) { /* the last value of so many bits, the first of more, the least one */
                            const double value = side == 0 ? ldexp(1, bits - 1) - 1 : side == 1 ? ldexp(1, bits - 1) + 1 : -ldexp(1, bits - 1);
                            const int32_t needs = side == 1 ? bits + 1 : bits;
                            tsr_dtype chosen;
                            int32_t accuracy;
                            if (fabs(value) > 2147483647.0) continue;
                            const tsr_status status = choose(TSR_I64, fmin(value, 0), fmax(value, 0), o, TSR_DTYPE_COUNT, &chosen, &accuracy);
                            const int narrow = needs <= safe && value <= 32767, tight = !narrow && needs > safe + 16 && given >= 0;
                            if (tight && given > 0) {
                                assert_int_equal(status, TSR_ERROR_ARGUMENT);
                                assert_non_null(strstr(tsr_error_message(), "expected no accuracy bits"));
                                continue;
                            }
                            assert_int_equal(status, TSR_OK);
                            if ((chosen == TSR_I16) != narrow || (chosen == TSR_I32) == narrow || accuracy != (tight ? -1 : given))
                                fail_msg("filter %d, %d levels, axes %u, accuracy %d, %g (%d bits, %d are safe): type %d, accuracy %d", filter,
                                         levels, axes, given, value, needs, safe, (int)chosen, accuracy);
                        }
                    }
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ranges), cmocka_unit_test(room) };
    return cmocka_run_group_tests_name("types of a transform", tests, NULL, NULL);
}
