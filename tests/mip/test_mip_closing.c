/* Closings and pyramids against their definitions in plain loops: the closing of a picture by the projected element, what makes it a closing, and the two
 * operators of a pyramid as an adjunction (docs/theory/mip.md 1, 7). */
#include "mips.h"

typedef struct offsets {
    int count, at[64][2];
} offsets;

/* The pixels of the projected element: floor(phi + U (a - middle)), phi 1 and the middle 1/2 of {0,1}^3, else 1/2 and 0. */
static offsets projected_element(const tsr_mip_view *view, const int8_t (*points)[3], int count, int cube2)
{
    offsets o = { 0 };
    double r[3][3];
    rotation_rows(view, r);
    for (int k = 0; k < count; k++) {
        int q[2], known = 0;
        for (int c = 0; c < 2; c++) {
            int64_t sum = cube2 ? 131072 : 65536; /* twice phi, of 65536 */
            for (int i = 0; i < 3; i++) sum += llround(65536 * view->zoom * r[c][i]) * (2 * points[k][i] - (cube2 ? 1 : 0));
            q[c] = (int)floor((double)sum / 131072);
        }
        for (int n = 0; n < o.count; n++) known |= o.at[n][0] == q[0] && o.at[n][1] == q[1];
        if (known) continue;
        o.at[o.count][0] = q[0];
        o.at[o.count++][1] = q[1];
    }
    return o;
}

/* Dilated, then eroded; pixels beyond the picture count for neither. Free it. */
static uint32_t *closed(const uint32_t *image, int width, int height, const offsets *o)
{
    uint32_t *wide = calloc((size_t)width * (size_t)height, 4), *to = malloc((size_t)width * (size_t)height * 4);
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                uint32_t least = UINT32_MAX;
                for (int k = 0; k < o->count; k++) {
                    const int a = x + o->at[k][0], b = y + o->at[k][1];
                    if (a < 0 || b < 0 || a >= width || b >= height) continue;
                    if (pass == 0 && image[y * width + x] > wide[b * width + a]) wide[b * width + a] = image[y * width + x];
                    if (pass == 1 && wide[b * width + a] < least) least = wide[b * width + a];
                }
                if (pass == 1) to[y * width + x] = least == UINT32_MAX ? image[y * width + x] : least;
            }
    free(wide);
    return to;
}

/* Every element, oblique views, zoom at most 1 (beyond it pixels are repeated): ALL is the closing of the picture, HOLES it where nothing was drawn; closed again it
 * is what it is; nowhere below. Aligned views are not closed by themselves. */
static void closing_is_its_definition(void **state)
{
    (void)state;
    static const int8_t own[3][3] = { { 0, 0, 0 }, { 1, 2, 0 }, { -2, 0, 1 } };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    int64_t raised = 0, valleys = 0;
    for (int k = 0; k < (test_is_slow() ? 12 : 48); k++) {
        const tsr_size3 n = { 3 + (int64_t)(test_random(&seed) % 30), 3 + (int64_t)(test_random(&seed) % 30),
                              1 + (int64_t)(test_random(&seed) % 12) };
        const int32_t width = 41, height = 38;
        const int aligned = k % 8 == 7;
        const tsr_mip_view view =
            aligned ? aligned_view((int)(test_random(&seed) % 24)) : random_view(&seed, k % 3 ? 1 : 0.5 + 0.5 * test_uniform(&seed));
        uint8_t *data = malloc((size_t)(n.x * n.y * n.z));
        for (int64_t i = 0; i < n.x * n.y * n.z; i++) data[i] = (uint8_t)(k % 2 || test_random(&seed) % 8 == 0 ? 1 + test_random(&seed) % 255 : 0);
        tsr_volume *volume = on_device(context, TSR_U8, n, data);
        tsr_mip_options o = TSR_MIP_OPTIONS;
        tsr_mip *mip;
        int8_t points[64][3];
        uint32_t *image[4];
        o.element = (tsr_mip_element)(k % 4);
        o.points = own;
        o.point_count = 3;
        require_ok(tsr_mip_build(context, volume, &o, &mip));
        const tsr_mip_info info = *tsr_mip_describe(mip);
        tsr_mip_get_points(mip, points);
        for (int c = 0; c < 4; c++) {
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            r.mode = TSR_MIP_EXACT;
            r.close = (tsr_mip_close)c;
            image[c] = drawn(mip, context, &view, &r, width, height);
        }
        const offsets at = projected_element(&view, (const int8_t(*)[3])points, info.points, info.element == TSR_MIP_CUBE2);
        const uint32_t *off = image[TSR_MIP_CLOSE_OFF], *all = image[TSR_MIP_CLOSE_ALL], *holes = image[TSR_MIP_CLOSE_HOLES];
        uint32_t *once = closed(off, width, height, &at), *twice = closed(all, width, height, &at);
        for (int i = 0; i < width * height; i++) {
            if (all[i] != once[i])
                fail_msg("case %d, pixel (%d, %d): %d closed, expected %d of %d", k, i % width, i / width, all[i], once[i], off[i]);
            assert_int_equal(holes[i], off[i] ? off[i] : once[i]);
            assert_int_equal(image[TSR_MIP_CLOSE_AUTO][i], aligned ? off[i] : holes[i]);
            assert_true(all[i] >= off[i] && twice[i] == all[i]);
            raised += all[i] > off[i];
            valleys += off[i] && all[i] > off[i];
        }
        free(once);
        free(twice);
        for (int c = 0; c < 4; c++) free(image[c]);
        tsr_mip_destroy(&mip);
        tsr_volume_destroy(&volume);
        free(data);
    }
    assert_true(raised > 500 && valleys > 100);
    tsr_context_destroy(&context);
}

static tsr_filter_pyramid *one_level(const uint8_t *f, tsr_size3 n)
{
    tsr_filter_pyramid_options o = TSR_FILTER_PYRAMID_OPTIONS;
    tsr_filter_pyramid *p;
    tsr_volume *v;
    o.filter = TSR_FILTER_EROSION;
    o.levels = 1;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, n, NULL, (void *)(uintptr_t)f, NULL, NULL, &v));
    require_ok(tsr_filter_pyramid_create(v, &o, &p));
    tsr_volume_destroy(&v);
    return p;
}

/* EXPAND(g) <= f exactly where g <= REDUCE(f); REDUCE(EXPAND(g)) = g; EXPAND(REDUCE(f)) <= f. EXPAND by its definition here, and the library's is that. */
static void operators_are_an_adjunction(void **state)
{
    (void)state;
    enum { MOST = 12 };
    uint64_t seed = test_seed();
    int met[2] = { 0, 0 };
    for (int k = 0; k < (test_is_slow() ? 40 : 200); k++) {
        uint8_t f[MOST * MOST * MOST], g[MOST * MOST * MOST], wide[MOST * MOST * MOST];
        const tsr_size3 n = { 2 + (int64_t)(test_random(&seed) % 11), 2 + (int64_t)(test_random(&seed) % 11),
                              2 + (int64_t)(test_random(&seed) % 11) };
        const tsr_size3 m = { (n.x + 1) / 2, (n.y + 1) / 2, (n.z + 1) / 2 };
        const int64_t count = n.x * n.y * n.z, coarse = m.x * m.y * m.z;
        tsr_volume *back;
        for (int64_t i = 0; i < count; i++) f[i] = (uint8_t)(2 + test_random(&seed) % 7);
        tsr_filter_pyramid *of_f = one_level(f, n);
        const uint8_t *reduced = (const uint8_t *)tsr_volume_data_const(tsr_filter_pyramid_level(of_f, 1));
        const int64_t wrong = test_random(&seed) % 2 ? (int64_t)(test_random(&seed) % (uint64_t)coarse) : -1; /* one too high, or none */
        for (int64_t i = 0; i < coarse; i++) g[i] = (uint8_t)(reduced[i] - test_random(&seed) % 2 + (i == wrong ? 2 : 0));
        int below = 1, coarse_below = 1;
        for (int64_t i = 0; i < count; i++) {
            wide[i] = g[(i / n.x / n.y / 2 * m.y + i / n.x % n.y / 2) * m.x + i % n.x / 2];
            below &= wide[i] <= f[i];
        }
        for (int64_t i = 0; i < coarse; i++) coarse_below &= g[i] <= reduced[i];
        assert_int_equal(below, coarse_below);
        met[below]++;
        tsr_filter_pyramid *of_g = one_level(wide, n);
        assert_memory_equal(tsr_volume_data_const(tsr_filter_pyramid_level(of_g, 1)), g, (size_t)coarse);
        require_ok(tsr_filter_pyramid_synthesise(of_g, 1, &back));
        assert_memory_equal(tsr_volume_data_const(back), wide, (size_t)count);
        tsr_volume_destroy(&back);
        require_ok(tsr_filter_pyramid_synthesise(of_f, 1, &back));
        for (int64_t i = 0; i < count; i++) assert_true(((const uint8_t *)tsr_volume_data_const(back))[i] <= f[i]);
        tsr_volume_destroy(&back);
        tsr_filter_pyramid_destroy(&of_f);
        tsr_filter_pyramid_destroy(&of_g);
    }
    assert_true(met[0] > 5 && met[1] > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(closing_is_its_definition), cmocka_unit_test(operators_are_an_adjunction) };
    return cmocka_run_group_tests_name("closings", tests, NULL, NULL);
}
