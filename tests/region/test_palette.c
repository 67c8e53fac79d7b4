/* Palettes against a greedy choice made over all colours without an octree; pictures of few colours come back exactly. */
#include <math.h>

#include "support.h"

static tsr_image picture(int32_t width, int32_t height, int32_t channels)
{
    tsr_image image;
    require_ok(tsr_image_create(width, height, channels, &image));
    return image;
}

/* ---- the oracle ------------------------------------------------------------------------------------------------------------------------------ */

struct box { /* or `parts` boxes of the level below */
    int level, lower[3];
    int64_t pixels;
    int parts, part[8][3];
};

static int holds(const struct box *b, const uint8_t *rgb, const int bits[3])
{
    for (int p = 0; p < b->parts; p++) {
        struct box one = { .level = b->level - 1 };
        memcpy(one.lower, b->part[p], sizeof one.lower);
        if (holds(&one, rgb, bits)) return 1;
    }
    if (b->parts) return 0;
    for (int k = 0; k < 3; k++) {
        const int v = rgb[k] / (1 << (8 - bits[k])) * (1 << (8 - bits[k]));
        if (v < b->lower[k] || v >= b->lower[k] + (1 << b->level)) return 0;
    }
    return 1;
}
static int64_t weigh(const tsr_image *image, const struct box *b, const int bits[3])
{
    int64_t n = 0;
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++) n += holds(b, image->pixels + 3 * i, bits);
    return n;
}
/* Occupied children, x the lowest bit of their number. */
static int split(const tsr_image *image, const struct box *b, const int bits[3], struct box child[8])
{
    int n = 0;
    for (int c = 0; c < 8; c++) {
        struct box s = { .level = b->level - 1 };
        for (int k = 0; k < 3; k++) s.lower[k] = b->lower[k] + ((c >> k & 1) << s.level);
        s.pixels = weigh(image, &s, bits);
        if (s.pixels) child[n++] = s;
    }
    return n;
}

/* Sum over the groups of |sum of the colours|^2 / pixels: what is left of the squares is the squared error. */
static double gain(const tsr_image *image, const struct box *b, const int bits[3])
{
    double sum[3] = { 0 };
    for (int64_t i = 0; i < (int64_t)image->width * image->height; i++)
        for (int k = 0; k < 3 && holds(b, image->pixels + 3 * i, bits); k++) sum[k] += image->pixels[3 * i + k];
    return (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / (double)b->pixels;
}

/* n children as `wanted` groups of neighbours: all ways, the one of most gain. */
static void group(const tsr_image *image, const int bits[3], const struct box *child, int n, int wanted, struct box *best)
{
    double most = -1;
    for (int mask = 0; mask < 1 << (n - 1); mask++) {
        struct box way[9] = { child[0] };
        int groups = 1;
        double total = 0;
        for (int c = 1; c < n; c++) {
            struct box *g = &way[groups - 1];
            if (mask >> (c - 1) & 1) {
                way[groups++] = child[c];
                continue;
            }
            if (!g->parts) {
                g->level++;
                memcpy(g->part[g->parts++], g->lower, sizeof g->lower);
            }
            memcpy(g->part[g->parts++], child[c].lower, sizeof g->lower);
            g->pixels += child[c].pixels;
        }
        if (groups != wanted) continue;
        for (int i = 0; i < groups; i++) total += gain(image, &way[i], bits);
        if (total <= most) continue;
        most = total;
        memcpy(best, way, (size_t)groups * sizeof *way);
    }
}

/* Boxes in Morton order: a list in which a box is replaced by its children. */
static int choose(const tsr_image *image, const int bits[3], int most, struct box *list)
{
    int count = 1;
    char fixed[4096] = { 0 };
    list[0] = (struct box){ .level = 8, .pixels = (int64_t)image->width * image->height };
    for (;;) { /* whole levels */
        static struct box next[4096];
        int n = 0;
        if (list[0].level == 0) break;
        for (int i = 0; i < count && n <= most; i++) n += split(image, &list[i], bits, next + n);
        if (n > most) break;
        memcpy(list, next, (size_t)n * sizeof *list);
        count = n;
    }
    for (;;) {
        int best = -1;
        struct box child[8];
        for (int i = 0; i < count; i++)
            if (!fixed[i] && list[i].level && !list[i].parts && (best < 0 || list[i].pixels > list[best].pixels)) best = i;
        if (best < 0) return count;
        int n = split(image, &list[best], bits, child);
        if (count - 1 + n > most && count == most) {
            fixed[best] = 1;
            continue;
        }
        if (count - 1 + n > most) {
            struct box groups[9];
            const int wanted = most - count + 1;
            group(image, bits, child, n, wanted, groups);
            memcpy(child, groups, (size_t)wanted * sizeof *child);
            n = wanted;
        }
        memmove(list + best + n, list + best + 1, (size_t)(count - best - 1) * sizeof *list);
        memmove(fixed + best + n, fixed + best + 1, (size_t)(count - best - 1));
        memcpy(list + best, child, (size_t)n * sizeof *list);
        memset(fixed + best, 0, (size_t)n);
        count += n - 1;
    }
}

static void palettes_equal_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    tsr_image image = picture(24, 18, 3);
    static uint16_t index[24 * 18];
    static struct box list[4096];
    for (int round = 0; round < 10; round++) {
        tsr_colours_options o = TSR_COLOURS_OPTIONS;
        int bits[3] = { 8, 8, 8 };
        for (int i = 0; i < 24 * 18 * 3; i++) {
            const int at = i / 3, x = at % 24, y = at / 24;
            image.pixels[i] =
                round % 2 ? (uint8_t)test_random(&seed) : (uint8_t)(x * 10 * (i % 3 == 0) + y * 14 * (i % 3 == 1) + (test_random(&seed) & 15u));
        }
        o.colours = 1 + round * 7;
        if (round > 6)
            for (int k = 0; k < 3; k++) o.bits[k] = bits[k] = 2 + (round + k) % 4;
        const int expected = choose(&image, bits, o.colours, list);
        tsr_colours *palette;
        require_ok(tsr_colours_create(context, &image, &o, &palette));
        const tsr_colours_entry *entry = tsr_colours_entries(palette);
        assert_int_equal(tsr_colours_count(palette), expected);
        assert_int_equal(expected, fmin(o.colours, (double)tsr_colours_found(palette)));
        require_ok(tsr_colours_map(palette, context, &image, index));
        for (int e = 0; e < expected; e++) {
            double sum[3] = { 0 };
            int64_t pixels = 0;
            assert_int_equal(entry[e].pixels, list[e].pixels);
            for (int64_t i = 0; i < 24 * 18; i++) {
                assert_int_equal(index[i] == e, holds(&list[e], image.pixels + 3 * i, bits));
                if (index[i] != e) continue;
                pixels++;
                for (int k = 0; k < 3; k++) sum[k] += image.pixels[3 * i + k];
            }
            assert_int_equal(pixels, entry[e].pixels);
            assert_int_equal(entry[e].level, list[e].level);
            for (int k = 0; k < 3; k++) {
                assert_int_equal(entry[e].lower[k], list[e].lower[k]);
                assert_int_equal(entry[e].colour[k], (int)floor(sum[k] / (double)pixels + 0.5));
            }
        }
        tsr_colours_destroy(&palette);
    }
    tsr_image_destroy(&image);
    tsr_context_destroy(&context);
}

static void few_colours_are_exact(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int round = 0; round < 4; round++) {
        const int channels = round == 1 ? 1 : round == 2 ? 4 : 3, colours = round == 3 ? 1 : 50;
        tsr_image image = picture(61, 47, channels), other = picture(2, 1, 3);
        uint8_t table[50][4];
        static uint16_t index[61 * 47];
        tsr_colours_options o = TSR_COLOURS_OPTIONS;
        tsr_colours *palette;
        for (int c = 0; c < colours; c++)
            for (int k = 0; k < 4; k++) table[c][k] = (uint8_t)(k == 0 ? c * 5 : (int)(test_random(&seed) & 255u));
        for (int64_t i = 0; i < 61 * 47; i++) {
            const int64_t c = i < colours ? i : (int64_t)(test_random(&seed) % (uint64_t)colours);
            memcpy(image.pixels + i * channels, table[c], (size_t)channels);
        }
        o.colours = 50;
        require_ok(tsr_colours_create(context, &image, &o, &palette));
        assert_int_equal(tsr_colours_count(palette), colours);
        assert_int_equal(tsr_colours_found(palette), colours);
        require_ok(tsr_colours_map(palette, context, &image, index));
        const tsr_colours_entry *entry = tsr_colours_entries(palette);
        for (int64_t i = 0; i < 61 * 47; i++)
            for (int k = 0; k < 3; k++) assert_int_equal(entry[index[i]].colour[k], image.pixels[i * channels + (channels == 1 ? 0 : k)]);
        /* colours of another picture: the nearest entry */
        for (int k = 0; k < 3; k++) {
            other.pixels[k] = entry[colours / 2].colour[k];
            other.pixels[3 + k] = (uint8_t)test_random(&seed);
        }
        require_ok(tsr_colours_map(palette, context, &other, index));
        assert_int_equal(index[0], colours / 2);
        int64_t least = INT64_MAX, got = 0;
        for (int e = 0; e < colours; e++) {
            int64_t d = 0;
            for (int k = 0; k < 3; k++)
                d += ((int64_t)entry[e].colour[k] - other.pixels[3 + k]) * ((int64_t)entry[e].colour[k] - other.pixels[3 + k]);
            if (d < least) least = d;
            if (e == index[1]) got = d;
        }
        assert_int_equal(got, least);
        tsr_colours_destroy(&palette);
        tsr_image_destroy(&image);
        tsr_image_destroy(&other);
    }
    tsr_context_destroy(&context);
}

static void wrong_arguments(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_image image = picture(2, 2, 3), two = image;
    tsr_colours_options o = TSR_COLOURS_OPTIONS;
    tsr_colours *palette;
    uint16_t index[4];
    o.colours = 65537;
    require_error(tsr_colours_create(context, &image, &o, &palette), TSR_ERROR_ARGUMENT, "colours is 65537");
    o.colours = 2;
    o.bits[1] = 9;
    require_error(tsr_colours_create(context, &image, &o, &palette), TSR_ERROR_ARGUMENT, "bits of channel 1 is 9");
    o.bits[1] = 0;
    two.channels = 2;
    require_error(tsr_colours_create(context, &two, &o, &palette), TSR_ERROR_ARGUMENT, "2 channels");
    require_error(tsr_colours_create(context, NULL, &o, &palette), TSR_ERROR_ARGUMENT, "NULL");
    assert_null(palette);
    require_ok(tsr_colours_create(context, &image, &o, &palette));
    require_error(tsr_colours_map(palette, context, &two, index), TSR_ERROR_ARGUMENT, "2 channels");
    tsr_colours_destroy(&palette);
    tsr_image_destroy(&image);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(palettes_equal_the_oracle), cmocka_unit_test(few_colours_are_exact),
                                        cmocka_unit_test(wrong_arguments) };
    return cmocka_run_group_tests_name("palettes", tests, NULL, NULL);
}
