/* Closings and pyramids against their definitions in plain loops: the closing of a picture by the projected element, what makes it a closing, the two
 * operators of a pyramid as an adjunction, and every level of the pyramids of every element (docs/theory/mip.md 1, 7); what a picture is as grey values, and
 * how far two pictures are apart. */
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

/* Closing: extensive, idempotent in effect, `holes` touches only what nothing was drawn to, no change in aligned views. Zoom repeats pixels. */
static void closes(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    enum { SIDE = 40, PIXELS = 60 };
    uint8_t data[SIDE * SIDE]; /* a full plate: one voxel a pixel, and turned, sometimes two or none */
    for (int i = 0; i < SIDE * SIDE; i++) data[i] = (uint8_t)(100 + test_random(&seed) % 100);
    tsr_volume *plate = on_device(context, TSR_U8, (tsr_size3){ SIDE, SIDE, 1 }, data);
    tsr_mip *mip;
    require_ok(tsr_mip_build(context, plate, NULL, &mip));
    tsr_volume_destroy(&plate);
    int64_t holes = 0, filled = 0;
    for (int k = 0; k < 6; k++) {
        const tsr_mip_view view = { .rotation = { 1, 0.02, 0.03 * test_uniform(&seed), 0.1 + 0.3 * test_uniform(&seed) }, .zoom = 1 };
        uint32_t *image[4];
        for (int c = 0; c < 4; c++) {
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            r.mode = TSR_MIP_EXACT;
            r.close = (tsr_mip_close)c;
            image[c] = drawn(mip, context, &view, &r, PIXELS, PIXELS);
        }
        for (int i = 0; i < PIXELS * PIXELS; i++) {
            const uint32_t off = image[TSR_MIP_CLOSE_OFF][i], all = image[TSR_MIP_CLOSE_ALL][i], hole = image[TSR_MIP_CLOSE_HOLES][i];
            assert_true(all >= off && hole == (off ? off : all) && image[TSR_MIP_CLOSE_AUTO][i] == hole);
            const int x = i % PIXELS - PIXELS / 2, y = i / PIXELS - PIXELS / 2;
            if (x * x + y * y < 14 * 14) { /* every ray meets the plate */
                holes += !off;
                filled += !off && hole;
            }
        }
        for (int c = 0; c < 4; c++) free(image[c]);
    }
    if (!holes || filled != holes) fail_msg("%lld of %lld holes filled", (long long)filled, (long long)holes);
    const tsr_mip_view one = { .zoom = 1 }, three = { .zoom = 3 };
    uint32_t *small = drawn(mip, context, &one, NULL, 40, 40), *large = drawn(mip, context, &three, NULL, 120, 120);
    for (int i = 0; i < 120 * 120; i++) assert_int_equal(large[i], small[i / 120 / 3 * 40 + i % 120 / 3]);
    free(small);
    free(large);
    tsr_mip_destroy(&mip);
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

/* ---- every element ----------------------------------------------------------------------------------------------------------------------------- */

typedef struct element {
    int count;
    const int8_t (*at)[3];
} element;

/* REDUCE: the least of f at 2 n + a, where that lies in the volume. */
static void reduced_by(const element *a, const int *f, const int n[3], int *g, const int m[3])
{
    for (int i = 0; i < m[0] * m[1] * m[2]; i++) {
        const int at[3] = { 2 * (i % m[0]), 2 * (i / m[0] % m[1]), 2 * (i / m[0] / m[1]) };
        g[i] = INT32_MAX;
        for (int k = 0; k < a->count; k++) {
            const int x = at[0] + a->at[k][0], y = at[1] + a->at[k][1], z = at[2] + a->at[k][2];
            if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) continue;
            if (f[(z * n[1] + y) * n[0] + x] < g[i]) g[i] = f[(z * n[1] + y) * n[0] + x];
        }
    }
}
/* EXPAND: the largest of g at n, where 2 n + a is the place; 0 where there is none. */
static void expanded_by(const element *a, const int *g, const int m[3], int *f, const int n[3])
{
    memset(f, 0, sizeof *f * (size_t)(n[0] * n[1] * n[2]));
    for (int i = 0; i < m[0] * m[1] * m[2]; i++)
        for (int k = 0; k < a->count; k++) {
            const int x = 2 * (i % m[0]) + a->at[k][0], y = 2 * (i / m[0] % m[1]) + a->at[k][1], z = 2 * (i / m[0] / m[1]) + a->at[k][2];
            if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) continue;
            if (g[i] > f[(z * n[1] + y) * n[0] + x]) f[(z * n[1] + y) * n[0] + x] = g[i];
        }
}

/* Level by level from the coarsest, what is left of the pyramid is the volume expanded as often as it was reduced: all voxels of it, its picture along z, and
 * the number of its coefficients, which are those of f_j that the next level does not give. And (EXPAND, REDUCE) is an adjunction for every element: whatever g,
 * EXPAND(g) is nowhere above f exactly where it is nowhere above the library's opening of f. */
static void levels_of_every_element(void **state)
{
    (void)state;
    enum { MOST = 14, CELLS = MOST * MOST * MOST, LEVELS = 4 };
    static const int8_t cube2[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 }, { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 1 } };
    static const int8_t cross[7][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } };
    static const int8_t own[3][3] = { { 0, 0, 0 }, { 1, 2, 0 }, { -2, 0, 1 } };
    static int f[LEVELS + 1][CELLS], wide[2][CELLS];
    int8_t cube3[27][3];
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    int64_t of_level[4][LEVELS + 1] = { { 0 } };
    int met[2] = { 0, 0 };
    for (int k = 0; k < 27; k++)
        for (int c = 0; c < 3; c++) cube3[k][c] = (int8_t)((c == 0 ? k % 3 : c == 1 ? k / 3 % 3 : k / 9) - 1);
    const element elements[4] = { { 8, cube2 }, { 27, (const int8_t(*)[3])cube3 }, { 7, cross }, { 3, own } };
    for (int k = 0; k < (test_is_slow() ? 24 : 96); k++) {
        const element *a = &elements[k % 4];
        const int longest = 1 + (int)(test_random(&seed) % MOST), turn = (int)(test_random(&seed) % 3);
        int n[LEVELS + 1][3], highest = 1;
        for (int c = 0; c < 3; c++) n[0][c] = c == turn ? longest : 1 + (int)(test_random(&seed) % (uint64_t)longest);
        while (longest >> highest) highest++;
        const int levels = 1 + (int)(test_random(&seed) % (uint64_t)(highest < LEVELS ? highest : LEVELS));
        const tsr_size3 size = { n[0][0], n[0][1], n[0][2] };
        const int count = n[0][0] * n[0][1] * n[0][2];
        const tsr_dtype dtype = k % 3 ? TSR_U8 : TSR_U16;
        void *data = random_values(dtype, size, &seed);
        for (int i = 0; i < count; i++) f[0][i] = (int)value_at(data, dtype, i);
        for (int j = 1; j <= levels; j++) {
            for (int c = 0; c < 3; c++) n[j][c] = (n[j - 1][c] + 1) / 2;
            reduced_by(a, f[j - 1], n[j - 1], f[j], n[j]);
        }
        tsr_volume *volume = on_device(context, dtype, size, data), *back, *host;
        tsr_mip_options o = TSR_MIP_OPTIONS;
        tsr_mip *mip;
        o.levels = levels;
        o.element = (tsr_mip_element)(k % 4);
        o.points = own;
        o.point_count = 3;
        o.key = TSR_MIP_KEY_NONE; /* level by level */
        o.format = (tsr_mip_format)(k / 4 % 4);
        require_ok(tsr_mip_build(context, volume, &o, &mip));
        const tsr_mip_info info = *tsr_mip_describe(mip);
        int64_t kept = 0;
        for (int j = levels; j >= 0; j--) {
            int64_t details = 0;
            if (j < levels) expanded_by(a, f[j + 1], n[j + 1], wide[0], n[j]);
            for (int i = 0; i < n[j][0] * n[j][1] * n[j][2]; i++) {
                if (j < levels) assert_true(wide[0][i] <= f[j][i]);
                details += f[j][i] > (j < levels ? wide[0][i] : 0);
            }
            if (info.by_level[j] != details)
                fail_msg("case %d, element %d: %lld coefficients of level %d, expected %lld", k, k % 4, (long long)info.by_level[j], j,
                         (long long)details);
            of_level[k % 4][j] += details;
            kept += details;
            memcpy(wide[0], f[j], sizeof f[j]);
            for (int i = j; i > 0; i--) {
                expanded_by(a, wide[0], n[i], wide[1], n[i - 1]);
                memcpy(wide[0], wide[1], sizeof wide[1]);
            }
            tsr_mip *part;
            require_ok(tsr_mip_keep(mip, kept, &part));
            require_ok(tsr_mip_reconstruct(part, &back));
            require_ok(tsr_volume_copy(back, NULL, &host));
            for (int i = 0; i < count; i++)
                if ((int)value_at(tsr_volume_data_const(host), dtype, i) != wide[0][i])
                    fail_msg("case %d, element %d, from level %d up: voxel (%d, %d, %d) is %u, expected %d", k, k % 4, j, i % n[0][0],
                             i / n[0][0] % n[0][1], i / n[0][0] / n[0][1], value_at(tsr_volume_data_const(host), dtype, i), wide[0][i]);
            const tsr_mip_view front = { .zoom = 1 };
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            r.mode = TSR_MIP_EXACT;
            r.finest = j;
            uint32_t *image = drawn(mip, context, &front, &r, n[0][0], n[0][1]);
            for (int i = 0; i < n[0][0] * n[0][1]; i++) {
                int brightest = 0;
                for (int z = 0; z < n[0][2]; z++)
                    brightest = wide[0][z * n[0][0] * n[0][1] + i] > brightest ? wide[0][z * n[0][0] * n[0][1] + i] : brightest;
                if ((int)image[i] != brightest)
                    fail_msg("case %d, element %d, %d x %d x %d, level %d of %d: pixel (%d, %d) is %u, expected %d", k, k % 4, n[0][0], n[0][1],
                             n[0][2], j, levels, i % n[0][0], i / n[0][0], image[i], brightest);
            }
            free(image);
            if (j == 1) { /* the library's opening of f, and a g that is too high at one place or at none */
                const int cells = n[1][0] * n[1][1] * n[1][2];
                const int wrong = test_random(&seed) % 2 ? (int)(test_random(&seed) % (uint64_t)cells) : -1;
                int below = 1, opened = 1, coarse = 1;
                for (int i = 0; i < cells; i++) {
                    wide[1][i] = f[1][i] - (int)(test_random(&seed) % 2) + (i == wrong ? 2 : 0);
                    coarse &= wide[1][i] <= f[1][i];
                }
                expanded_by(a, wide[1], n[1], wide[0], n[0]);
                for (int i = 0; i < count; i++) {
                    below &= wide[0][i] <= f[0][i];
                    opened &= wide[0][i] <= (int)value_at(tsr_volume_data_const(host), dtype, i);
                }
                assert_true(below == opened && below == coarse);
                met[below]++;
            }
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&back);
            tsr_mip_destroy(&part);
        }
        assert_int_equal(info.coefficients, kept);
        tsr_mip_destroy(&mip);
        tsr_volume_destroy(&volume);
        free(data);
    }
    for (int c = 0; c < 4; c++)
        for (int j = 0; j <= (test_is_slow() ? 1 : 2); j++) assert_true(of_level[c][j] > 0);
    assert_true(met[0] > 1 && met[1] > 1);
    tsr_context_destroy(&context);
}

static tsr_mip *built(tsr_context *context, tsr_dtype dtype, tsr_size3 n, const void *data)
{
    tsr_volume *volume = on_device(context, dtype, n, data);
    tsr_mip *mip;
    require_ok(tsr_mip_build(context, volume, NULL, &mip));
    tsr_volume_destroy(&volume);
    return mip;
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Small pictures of random volumes, so that few differences are equal: the mean of the two in the middle is neither of them. */
static void errors_are_their_definition(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    int even = 0, odd = 0;
    for (int k = 0; k < 12; k++) {
        const tsr_size3 n = { 3 + (int64_t)(test_random(&seed) % 5), 3 + (int64_t)(test_random(&seed) % 5), 2 };
        const int width = (int)n.x, height = (int)n.y;
        const tsr_mip_view view = { .zoom = 1 };
        tsr_mip_frame *frame[2];
        uint32_t values[2][64];
        int64_t apart[64], count = 0, sum = 0, total = 0;
        for (int i = 0; i < 2; i++) {
            void *data = random_values(TSR_U16, n, &seed);
            tsr_mip *mip = built(context, TSR_U16, n, data);
            tsr_mip_render_options r = TSR_MIP_RENDER_OPTIONS;
            r.mode = TSR_MIP_EXACT;
            require_ok(tsr_mip_frame_create(context, width, height, &frame[i]));
            require_ok(tsr_mip_render(mip, &view, &r, frame[i], NULL));
            require_ok(tsr_mip_frame_download(frame[i], values[i]));
            tsr_mip_destroy(&mip);
            free(data);
        }
        for (int i = 0; i < width * height; i++) {
            const int64_t d = llabs((int64_t)values[0][i] - (int64_t)values[1][i]);
            if (d) apart[count++] = d;
            sum += d;
            total += values[1][i];
        }
        assert_true(count > 1 && total > 0);
        qsort(apart, (size_t)count, sizeof *apart, by_value);
        const double median = 0.5 * (double)(apart[(count - 1) / 2] + apart[count / 2]);
        if (apart[(count - 1) / 2] == apart[count / 2]) odd++;
        else even++;
        tsr_mip_errors e = TSR_MIP_ERRORS;
        require_ok(tsr_mip_compare(frame[0], frame[1], &e));
        assert_int_equal(e.different, count);
        assert_true(e.median == median && e.maximum == (double)apart[count - 1] && e.relative == (double)sum / (double)total);
        for (int i = 0; i < 2; i++) tsr_mip_frame_destroy(&frame[i]);
    }
    assert_true(even > 0 && odd > 0);
    tsr_context_destroy(&context);
}

/* Windows that end on every side of the values: below is black, above is white, between is the nearest grey. */
static void greys_are_their_definition(void **state)
{
    (void)state;
    static const double windows[][2] = { { 0, 0 }, { 255, 127.5 }, { 100, 120 }, { 254.6, 127.3 }, { 1, 77 }, { 300, 40 }, { 40, -90 }, { 40, 400 } };
    uint8_t data[2 * 256];
    tsr_context *context = test_context();
    for (int i = 0; i < 2 * 256; i++) data[i] = (uint8_t)i;
    tsr_mip *mip = built(context, TSR_U8, (tsr_size3){ 16, 16, 2 }, data);
    const tsr_mip_view view = { .zoom = 1 };
    tsr_mip_frame *frame;
    uint32_t values[256];
    int met[256] = { 0 };
    require_ok(tsr_mip_frame_create(context, 16, 16, &frame));
    require_ok(tsr_mip_render(mip, &view, NULL, frame, NULL));
    require_ok(tsr_mip_frame_download(frame, values));
    for (int i = 0; i < 256; i++) met[values[i]] = 1;
    for (int i = 0; i < 256; i++) assert_true(met[i]);
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
        for (int wide = 0; wide < 2; wide++) {
            const double scale = wide ? 257 : 1, most = wide ? 65535 : 255; /* a picture of u16 is shown from 0 to 65535 where nothing is said */
            const double window = k ? scale * windows[k][0] : most, level = k ? scale * windows[k][1] : most / 2;
            tsr_image grey;
            require_ok(tsr_mip_frame_image(frame, wide ? TSR_U16 : TSR_U8, k ? window : 0, k ? level : 0, &grey));
            assert_true(grey.width == 16 && grey.height == 16 && grey.channels == 1);
            for (int i = 0; i < 256; i++) {
                const double share = ((double)values[i] - (level - window / 2)) / window;
                const double expected = 255 * fmin(fmax(share, 0), 1);
                if (!(fabs((double)grey.pixels[i] - expected) < 0.5 + 1e-9))
                    fail_msg("window %g, level %g: %u is %d, expected %g", window, level, values[i], grey.pixels[i], expected);
            }
            tsr_image_destroy(&grey);
        }
    tsr_mip_frame_destroy(&frame);
    tsr_mip_destroy(&mip);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(closing_is_its_definition),   cmocka_unit_test(closes),
                                        cmocka_unit_test(operators_are_an_adjunction), cmocka_unit_test(levels_of_every_element),
                                        cmocka_unit_test(errors_are_their_definition), cmocka_unit_test(greys_are_their_definition) };
    return cmocka_run_group_tests_name("closings", tests, NULL, NULL);
}
