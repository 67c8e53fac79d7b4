/* Numbers of a lens: which of them each model has, and their limits, from both sides. */
#include <math.h>

#include "camera/lens.h"
#include "support.h"

enum { FIELDS = 10 };
static double *field(tsr_lens *l, int k)
{
    double *const at[FIELDS] = { &l->k1, &l->k2, &l->k3, &l->k4, &l->k5, &l->k6, &l->p1, &l->p2, &l->shift[0], &l->shift[1] };
    return at[k];
}
static const char *const names[FIELDS] = { "k1 of", "k2 of", "k3 of", "k4 of", "k5 of", "k6 of", "p1 of", "p2 of", "shift[0] of", "shift[1] of" };

static tsr_status check(const tsr_lens *l) { return tsr_lens_check("here", l); }

static void models_have_fields(void **unused)
{
    (void)unused;
    static const char *const has[3] = { "has k1 alone", NULL, "has k1 to k4" };
    for (int model = 0; model < 3; model++) {
        tsr_lens none = { .model = (tsr_lens_model)model, .focal = 1 };
        require_ok(check(&none));
        assert_int_equal(tsr_lens_distorts(&none), model == TSR_LENS_FISHEYE);
        for (int k = 0; k < FIELDS; k++) {
            const int own = k >= 8 || model == TSR_LENS_POLY || k == 0 || (model == TSR_LENS_FISHEYE && k < 4);
            for (int sign = -1; sign <= 1; sign += 2) {
                tsr_lens l = none;
                *field(&l, k) = sign * 1e-3;
                if (own) require_ok(check(&l));
                else require_error(check(&l), TSR_ERROR_ARGUMENT, has[model]);
                if (own) assert_int_equal(tsr_lens_distorts(&l), k < 8 || model == TSR_LENS_FISHEYE); /* where its middle is does not bend */
                if (!own) continue;
                const double limit = k >= 8 || model == TSR_LENS_DIVISION ? 10 : 1000;
                *field(&l, k) = sign * limit;
                require_ok(check(&l));
                *field(&l, k) = nextafter(sign * limit, sign * INFINITY);
                require_error(check(&l), TSR_ERROR_ARGUMENT, names[k]);
                *field(&l, k) = NAN;
                require_error(check(&l), TSR_ERROR_ARGUMENT, names[k]);
            }
        }
    }
    assert_false(tsr_lens_distorts(NULL));
    for (int model = -1; model <= 3; model += 4) {
        const tsr_lens l = { .model = (tsr_lens_model)model };
        require_error(check(&l), TSR_ERROR_ARGUMENT, "lens model is");
    }
}

static void limits(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        int good;
    } focal[] = { { 0, 1 }, { 1e6, 1 }, { 1.0000001e6, 0 }, { -1e-9, 0 }, { NAN, 0 }, { 1e-9, 1 } },
      aspect[] = { { 0, 1 }, { 0.01, 1 }, { 0.00999, 0 }, { 100, 1 }, { 100.01, 0 }, { -1, 0 }, { NAN, 0 } },
      scale[] = { { 0.01, 1 }, { 0.00999, 0 }, { 100, 1 }, { 100.01, 0 }, { NAN, 0 }, { 0, 0 } };
    for (size_t k = 0; k < sizeof focal / sizeof *focal; k++) {
        const tsr_lens l = { .focal = focal[k].value };
        if (focal[k].good) require_ok(check(&l));
        else require_error(check(&l), TSR_ERROR_ARGUMENT, "focal length of the lens");
    }
    for (size_t k = 0; k < sizeof aspect / sizeof *aspect; k++) {
        const tsr_lens l = { .pixel_aspect = aspect[k].value };
        if (aspect[k].good) require_ok(check(&l));
        else require_error(check(&l), TSR_ERROR_ARGUMENT, "pixel aspect");
    }
    const tsr_lens plain = { .k1 = 0.01 }, eye = { .model = TSR_LENS_FISHEYE };
    tsr_lens_map map;
    for (size_t k = 0; k < sizeof scale / sizeof *scale; k++) {
        if (scale[k].good) require_ok(tsr_lens_map_make("here", &plain, 4, 3, scale[k].value, &map));
        else require_error(tsr_lens_map_make("here", &plain, 4, 3, scale[k].value, &map), TSR_ERROR_ARGUMENT, "a scale from 0.01 to 100");
    }
    for (int32_t n = 0; n < 2; n++) { /* one pixel is an image */
        if (n) require_ok(tsr_lens_map_make("here", &plain, n, 1, 1, &map));
        else require_error(tsr_lens_map_make("here", &plain, n, 1, 1, &map), TSR_ERROR_ARGUMENT, "extents above 0");
        if (n) require_ok(tsr_lens_map_make("here", &plain, 1, n, 1, &map));
        else require_error(tsr_lens_map_make("here", &plain, 1, n, 1, &map), TSR_ERROR_ARGUMENT, "extents above 0");
    }
    require_error(tsr_lens_map_make("here", &eye, 4, 3, 1, &map), TSR_ERROR_ARGUMENT, "focal length of a fish-eye is 0");
    require_error(tsr_lens_map_make("here", NULL, 4, 3, 1, &map), TSR_ERROR_ARGUMENT, "lens is NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(models_have_fields), cmocka_unit_test(limits) };
    return cmocka_run_group_tests_name("numbers of a lens", tests, NULL, NULL);
}
