/* Index maps: every place has its own number, the inverse gives it back, the order is what it is called. */
#include "support.h"

#include <math.h>

static void folded_lines(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int n = 0; n < 1000; n++) {
        const int64_t width = 1 + (int64_t)(test_random(&random) % 5000), i = (int64_t)(test_random(&random) >> 4);
        int64_t at[2];
        tsr_fold(i, width, at);
        assert_true(at[0] >= 0 && at[0] < width && tsr_unfold(at, width) == i);
    }
}

static void flat_volumes(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    for (int n = 0; n < 40; n++) {
        const int64_t size[3] = { 1 + (int64_t)(test_random(&random) % 13), 1 + (int64_t)(test_random(&random) % 7),
                                  1 + (int64_t)(test_random(&random) % 23) };
        const tsr_flat f = tsr_flat_make(size[0], size[1], size[2], n % 3 ? 0 : 1 + n % 5);
        assert_true(n % 3 == 0 || ((f.columns - 1) * (f.columns - 1) < size[2] && f.columns * f.columns >= size[2]));
        uint8_t *seen = (uint8_t *)calloc((size_t)(f.plane[0] * f.plane[1]), 1);
        assert_non_null(seen);
        for (int64_t i = 0; i < size[0] * size[1] * size[2]; i++) {
            const int64_t at[3] = { i % size[0], i / size[0] % size[1], i / size[0] / size[1] };
            int64_t place[2], back[3];
            tsr_flat_place(&f, at, place);
            assert_true(place[0] >= 0 && place[0] < f.plane[0] && place[1] >= 0 && place[1] < f.plane[1]);
            assert_int_equal(seen[place[1] * f.plane[0] + place[0]]++, 0);
            tsr_flat_inverse(&f, place, back);
            assert_memory_equal(back, at, sizeof at);
        }
        free(seen);
    }
}

/* Within 8 units in the last place of direct interpolation in float64; slices that are neighbours in the plane alone do not leak. */
static void flat_interpolation(void **state)
{
    (void)state;
    enum { NX = 5, NY = 4, NZ = 7 };
    uint64_t random = test_seed();
    const tsr_flat f = tsr_flat_make(NX, NY, NZ, 0);
    float volume[NX * NY * NZ], plane[NX * 3 * NY * 3];
    assert_true(f.plane[0] * f.plane[1] == NX * 3 * NY * 3);
    for (int i = 0; i < NX * 3 * NY * 3; i++) plane[i] = 1e30f; /* nothing of what is unused may be met */
    for (int64_t i = 0; i < NX * NY * NZ; i++) {
        const int64_t at[3] = { i % NX, i / NX % NY, i / NX / NY };
        int64_t place[2];
        tsr_flat_place(&f, at, place);
        volume[i] = plane[place[1] * f.plane[0] + place[0]] = 1 + (float)test_uniform(&random);
    }
    for (int n = 0; n < 5000; n++) {
        float p[3];
        double lower[3], a[3], sum = 0;
        const int size[3] = { NX, NY, NZ };
        for (int k = 0; k < 3; k++) {
            p[k] = n % 11 ? (float)(test_uniform(&random) * (size[k] + 1) - 1) : (float)(int)(test_random(&random) % (unsigned)size[k]);
            const double c = fmin(fmax((double)p[k], 0), size[k] - 1);
            lower[k] = fmin(floor(c), size[k] > 1 ? size[k] - 2 : 0);
            a[k] = c - lower[k];
        }
        for (int c = 0; c < 8; c++) {
            double weight = 1;
            int64_t i = 0;
            for (int k = 2; k >= 0; k--) {
                weight *= c >> k & 1 ? a[k] : 1 - a[k];
                i = i * size[k] + (int64_t)lower[k] + (c >> k & 1);
            }
            sum += weight * (double)volume[i];
        }
        assert_true(fabs((double)tsr_flat_trilinear(&f, plane, p[0], p[1], p[2]) - sum) <= 8 * 0x1p-23);
    }
    assert_true(tsr_flat_trilinear(&f, plane, NAN, 0, 0) == volume[0]);
}

static void morton_keys(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    assert_true(tsr_morton2(3, 0) == 5 && tsr_morton2(0, 1) == 2 && tsr_morton3(0, 0, 1) == 4 && tsr_morton3(2, 0, 0) == 8 &&
                tsr_morton4(0, 0, 0, 1) == 8 && tsr_morton4(2, 0, 0, 0) == 16);
    for (int n = 0; n < 3000; n++) {
        uint64_t a[4], b[4], key[3] = { 0, 0, 0 };
        const uint64_t mask[3] = { UINT32_MAX, (1u << 21) - 1, UINT16_MAX };
        for (int d = 0; d < 3; d++) {
            const int axes = d + 2;
            for (int k = 0; k < axes; k++) a[k] = n ? test_random(&random) & mask[d] : mask[d];
            for (int bit = 0; bit * axes < 64; bit++) /* the definition */
                for (int k = 0; k < axes; k++)
                    if (bit * axes + k < 64) key[d] |= (a[k] >> bit & 1) << (bit * axes + k);
            assert_true((d == 0 ? tsr_morton2(a[0], a[1]) : d == 1 ? tsr_morton3(a[0], a[1], a[2]) : tsr_morton4(a[0], a[1], a[2], a[3])) == key[d]);
            if (d == 0) tsr_morton2_inverse(key[d], b);
            else if (d == 1) tsr_morton3_inverse(key[d], b);
            else tsr_morton4_inverse(key[d], b);
            assert_memory_equal(a, b, (size_t)axes * sizeof *a);
        }
    }
    /* a box of unequal edges: all its places, once; equal edges: as above */
    const int32_t bits[4] = { 3, 0, 5, 1 }, even[4] = { 4, 4, 4, 0 };
    uint8_t seen[512] = { 0 };
    for (uint64_t i = 0; i < 512; i++) {
        const uint64_t at[4] = { i & 7, 0, i >> 3 & 31, i >> 8 };
        uint64_t back[4];
        const uint64_t key = tsr_morton_box(bits, at), cube[4] = { i & 15, i >> 4 & 15, i >> 5 & 15, 0 };
        assert_true(key < 512 && !seen[key]++);
        tsr_morton_box_inverse(bits, key, back);
        assert_memory_equal(back, at, sizeof at);
        assert_true(tsr_morton_box(even, cube) == tsr_morton3(cube[0], cube[1], cube[2]));
    }
}

static void bricks(void **state)
{
    (void)state;
    const int64_t size[3] = { 11, 6, 9 };
    for (int64_t edge = 1; edge <= 8; edge *= 2) {
        int64_t whole = 1;
        for (int k = 0; k < 3; k++) whole *= (size[k] + edge - 1) / edge * edge;
        uint8_t *seen = (uint8_t *)calloc((size_t)whole, 1);
        assert_non_null(seen);
        for (int64_t i = 0; i < 11 * 6 * 9; i++) {
            const int64_t at[3] = { i % 11, i / 11 % 6, i / 66 }, place = tsr_bricked(size, edge, at);
            int64_t back[3];
            assert_true(place >= 0 && place < whole && !seen[place]++);
            tsr_bricked_inverse(size, edge, place, back);
            assert_memory_equal(back, at, sizeof at);
            if (edge == 1) assert_int_equal(place, i);
            if (i % 11 % edge) { /* x fastest */
                const int64_t left[3] = { at[0] - 1, at[1], at[2] };
                assert_int_equal(tsr_bricked(size, edge, left), place - 1);
            }
        }
        free(seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(folded_lines), cmocka_unit_test(flat_volumes), cmocka_unit_test(flat_interpolation),
                                        cmocka_unit_test(morton_keys), cmocka_unit_test(bricks) };
    return cmocka_run_group_tests_name("mapping", tests, NULL, NULL);
}
