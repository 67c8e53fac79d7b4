/* Feature clustering against a serial recursion over all levels written here, flood fill, closed forms, and the cases that the method is known to get
 * right and wrong. */
#include <math.h>

#include "device/backend.h"
#include "support.h"
#include "vision/feature_region.h"

/* ---- pictures ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct picture {
    int32_t w, h;
    uint8_t *p;
} picture;

static picture picture_make(int32_t w, int32_t h) { return (picture){ w, h, calloc((size_t)w * (size_t)h, 1) }; }
static void rectangle(picture *q, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = x0; x < x1; x++) q->p[y * q->w + x] = 255;
}
static void ellipse(picture *q, double cx, double cy, double a, double b, double angle)
{
    for (int32_t y = 0; y < q->h; y++)
        for (int32_t x = 0; x < q->w; x++) {
            const double u = (x - cx) * cos(angle) + (y - cy) * sin(angle), v = (y - cy) * cos(angle) - (x - cx) * sin(angle);
            if (u * u / (a * a) + v * v / (b * b) <= 1) q->p[y * q->w + x] = 255;
        }
}
static void salt(picture *q, double share, uint64_t *state)
{
    for (int32_t i = 0; i < q->w * q->h; i++)
        if (test_uniform(state) < share) q->p[i] = 255;
}

/* ---- oracles -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct region {
    int64_t x0, y0, x1, y1, count, sx, sy;
} region; /* count 0: none */

static int touch(const region *a, const region *b, int connectivity)
{
    const int apart = a->x1 < b->x0 || b->x1 < a->x0 || a->y1 < b->y0 || b->y1 < a->y0;
    const int corner = (a->x1 == b->x0 || b->x1 == a->x0) && (a->y1 == b->y0 || b->y1 == a->y0);
    return !apart && (connectivity == 8 || !corner);
}
static int larger(const region *a, const region *b, int by_count)
{
    const int64_t p = (a->x1 - a->x0) * (a->y1 - a->y0), q = (b->x1 - b->x0) * (b->y1 - b->y0);
    if (by_count && a->count != b->count) return a->count > b->count;
    return p != q ? p > q : a->count > b->count;
}
static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t more(int64_t a, int64_t b) { return a > b ? a : b; }
static region unite(region a, region b)
{
    return (region){ less(a.x0, b.x0), less(a.y0, b.y0), more(a.x1, b.x1), more(a.y1, b.y1), a.count + b.count, a.sx + b.sx, a.sy + b.sy };
}

/* The cell of `side` at (x, y): its `keep` regions, from the definition, one pixel at the bottom. */
static void oracle(const picture *q, int64_t x, int64_t y, int64_t side, int connectivity, int by_count, int keep, region *kept)
{
    region all[16];
    int n = 0, again = 1;
    memset(kept, 0, (size_t)keep * sizeof *kept);
    if (x >= q->w || y >= q->h) return;
    if (side == 1) {
        if (q->p[y * q->w + x]) kept[0] = (region){ x, y, x + 1, y + 1, 1, x, y };
        return;
    }
    for (int c = 0; c < 4; c++) {
        region part[4];
        oracle(q, x + (c % 2) * side / 2, y + (c / 2) * side / 2, side / 2, connectivity, by_count, keep, part);
        for (int k = 0; k < keep; k++)
            if (part[k].count) all[n++] = part[k];
    }
    while (again) {
        again = 0;
        for (int i = 0; i < n && !again; i++)
            for (int j = i + 1; j < n && !again; j++)
                if (touch(&all[i], &all[j], connectivity)) {
                    all[i] = unite(all[i], all[j]);
                    memmove(&all[j], &all[j + 1], (size_t)(--n - j) * sizeof *all);
                    again = 1;
                }
    }
    for (int k = 0; k < keep && n; k++) {
        int best = 0;
        for (int i = 1; i < n; i++)
            if (larger(&all[i], &all[best], by_count)) best = i;
        kept[k] = all[best];
        memmove(&all[best], &all[best + 1], (size_t)(--n - best) * sizeof *all);
    }
}
static int64_t square_side(const picture *q)
{
    int64_t side = 1;
    while (side < q->w || side < q->h) side *= 2;
    return side;
}

/* All components by flood fill, in the order of their first pixels. */
static int flood(const picture *q, int connectivity, region *found, int room)
{
    const int64_t pixels = (int64_t)q->w * q->h;
    uint8_t *seen = calloc((size_t)pixels, 1);
    int64_t *stack = malloc((size_t)pixels * sizeof *stack);
    int n = 0;
    for (int64_t i = 0; i < pixels; i++) {
        if (!q->p[i] || seen[i]) continue;
        region r = { i % q->w, i / q->w, i % q->w + 1, i / q->w + 1, 0, 0, 0 };
        int64_t top = 0;
        stack[top++] = i;
        seen[i] = 1;
        while (top) {
            const int64_t at = stack[--top], x = at % q->w, y = at / q->w;
            r = unite(r, (region){ x, y, x + 1, y + 1, 1, x, y });
            for (int64_t dy = -1; dy <= 1; dy++)
                for (int64_t dx = -1; dx <= 1; dx++) {
                    const int64_t nx = x + dx, ny = y + dy, k = ny * q->w + nx;
                    if ((connectivity == 4 && dx && dy) || nx < 0 || ny < 0 || nx >= q->w || ny >= q->h || !q->p[k] || seen[k]) continue;
                    seen[k] = 1;
                    stack[top++] = k;
                }
        }
        if (n < room) found[n] = r;
        n++;
    }
    free(stack);
    free(seen);
    return n;
}

/* ---- running -------------------------------------------------------------------------------------------------------------------------------- */

static tsr_features_options options_of(int32_t w, int32_t h)
{
    tsr_features_options o = TSR_FEATURES_OPTIONS;
    o.width = w;
    o.height = h;
    o.count = 1;
    o.filter[0] = (tsr_feature_filter){ .kind = TSR_FEATURE_LUMINANCE, .lower = { 128 }, .upper = { 255 } };
    return o;
}
static tsr_volume *upload(tsr_context *context, const void *bytes, int64_t wide, int64_t high, int64_t images)
{
    tsr_volume *host, *device;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ wide, high, images }, NULL, (void *)(uintptr_t)bytes, NULL, NULL, &host));
    require_ok(tsr_volume_copy(host, context, &device));
    tsr_volume_destroy(&host);
    return device;
}
static void detect(tsr_context *context, const tsr_features_options *o, const void *bytes, const void *previous, tsr_feature *found)
{
    tsr_features *features;
    const int64_t wide = (int64_t)o->width * (o->channels ? o->channels : 1), images = o->images ? o->images : 1;
    tsr_volume *frames = upload(context, bytes, wide, o->height, images),
               *before = previous ? upload(context, previous, wide, o->height, images) : NULL;
    require_ok(tsr_features_create(context, o, &features));
    require_ok(tsr_features_detect(features, frames, before));
    require_ok(tsr_features_results(features, found));
    tsr_features_destroy(&features);
    tsr_volume_destroy(&before);
    tsr_volume_destroy(&frames);
}
static void same(const tsr_feature *f, const region *r)
{
    assert_int_equal(f->count, r->count);
    if (!r->count) {
        assert_true(!f->lower[0] && !f->lower[1] && !f->upper[0] && !f->upper[1]);
        return;
    }
    assert_int_equal(f->lower[0], r->x0);
    assert_int_equal(f->lower[1], r->y0);
    assert_int_equal(f->upper[0], r->x1);
    assert_int_equal(f->upper[1], r->y1);
    assert_true(f->centroid[0] == (double)r->sx / (double)r->count && f->centroid[1] == (double)r->sy / (double)r->count);
}
static void box_is(const tsr_feature *f, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    assert_int_equal(f->lower[0], x0);
    assert_int_equal(f->lower[1], y0);
    assert_int_equal(f->upper[0], x1);
    assert_int_equal(f->upper[1], y1);
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_blob blob(int32_t x0, int32_t y0, int32_t x1, int32_t y1) { return (tsr_blob){ x0, y0, x1, y1, 0, 0, 0 }; }

static void literature(void **unused)
{
    const tsr_blob_rule rule = { 8, 0 };
    (void)unused;
    tsr_blob a[4] = { { 0 } }, c[4] = { blob(5, 6, 10, 11), blob(5, 11, 10, 14), blob(1, 1, 4, 4), blob(20, 1, 22, 4) }, one;
    tsr_blob_compete(a, 1, rule, &one);
    assert_true(!tsr_blob_some(&one) && !one.x1 && !one.y1);
    tsr_blob_compete(c, 1, rule, &one);
    assert_true(one.x0 == 5 && one.y0 == 6 && one.x1 == 10 && one.y1 == 14);
    tsr_blob d[4] = { blob(3, 4, 4, 5), blob(5, 6, 12, 8), blob(1, 1, 3, 3), blob(20, 1, 22, 4) };
    tsr_blob_compete(d, 1, rule, &one);
    assert_true(one.x0 == 5 && one.y0 == 6 && one.x1 == 12 && one.y1 == 8);
}

static void equals_recursion(void **unused)
{
    static const double densities[] = { 0, 0.003, 0.03, 0.2, 0.5, 0.97, 1 };
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    const int rounds = test_is_slow() ? 24 : 240;
    for (int n = 0; n < rounds; n++) {
        picture q = picture_make((int32_t)(1 + test_random(&state) % 150), (int32_t)(1 + test_random(&state) % 150));
        salt(&q, densities[test_random(&state) % 7], &state);
        if (n % 3 == 0)
            ellipse(&q, test_uniform(&state) * q.w, test_uniform(&state) * q.h, 3 + 20 * test_uniform(&state), 3 + 9 * test_uniform(&state), 1);
        tsr_features_options o = options_of(q.w, q.h);
        o.connectivity = n % 2 ? 4 : 8;
        o.by_count = n / 2 % 2;
        o.keep = 1 + n % 4;
        tsr_feature found[4];
        region truth[4];
        detect(context, &o, q.p, NULL, found);
        oracle(&q, 0, 0, square_side(&q), o.connectivity, o.by_count, o.keep, truth);
        for (int k = 0; k < o.keep; k++) same(&found[k], &truth[k]);
        free(q.p);
    }
    tsr_context_destroy(&context);
}

/* More than one stage above the tiles, and more than one thread. */
static void large_frame(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    picture q = picture_make(test_is_slow() ? 2100 : 4200, test_is_slow() ? 70 : 2111);
    salt(&q, 1e-4, &state);
    ellipse(&q, q.w * 0.71, q.h * 0.5, 200, 30, 0.1);
    tsr_features_options o = options_of(q.w, q.h);
    o.keep = 2;
    tsr_feature found[2];
    region truth[2];
    detect(context, &o, q.p, NULL, found);
    oracle(&q, 0, 0, square_side(&q), 8, 0, 2, truth);
    same(&found[0], &truth[0]);
    same(&found[1], &truth[1]);
    free(q.p);
    tsr_context_destroy(&context);
}

static void shapes(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    const int rounds = test_is_slow() ? 30 : 400;
    for (int n = 0; n < rounds; n++) {
        picture q = picture_make(128, 96);
        tsr_features_options o = options_of(q.w, q.h);
        tsr_feature found;
        const int kind = n % 3;
        if (kind == 0) {
            const int32_t x = (int32_t)(test_random(&state) % 100), y = (int32_t)(test_random(&state) % 80);
            rectangle(&q, x, y, x + 1 + (int32_t)(test_random(&state) % (uint64_t)(128 - x)),
                      y + 1 + (int32_t)(test_random(&state) % (uint64_t)(96 - y)));
            o.connectivity = n % 2 ? 4 : 8;
        } else {
            const double a = 2 + 30 * test_uniform(&state);
            ellipse(&q, 128 * test_uniform(&state), 96 * test_uniform(&state), a, kind == 1 ? a : 2 + 30 * test_uniform(&state),
                    test_uniform(&state) * 3);
        }
        region truth[2] = { { 0 } };
        const int components = flood(&q, 8, truth, 2);
        detect(context, &o, q.p, NULL, &found);
        if (components == 1) same(&found, &truth[0]);
        free(q.p);
    }
    tsr_context_destroy(&context);
}

/* What the method is known to get wrong stays as documented, and `keep` and labelling mend it. */
static void known_limits(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    picture u = picture_make(64, 64), l = picture_make(64, 64);
    tsr_features_options o = options_of(64, 64);
    tsr_feature found[4];
    rectangle(&u, 2, 20, 14, 32);
    rectangle(&u, 28, 1, 30, 32);
    rectangle(&u, 2, 32, 30, 36);
    detect(context, &o, u.p, NULL, found);
    box_is(&found[0], 2, 20, 30, 36);
    o.keep = 4;
    detect(context, &o, u.p, NULL, found);
    box_is(&found[0], 2, 1, 30, 36);
    o.keep = 1;
    rectangle(&l, 2, 2, 4, 30);
    rectangle(&l, 2, 28, 32, 30);
    rectangle(&l, 32, 4, 40, 8);
    detect(context, &o, l.p, NULL, found);
    box_is(&found[0], 2, 2, 40, 30);
    tsr_features *features;
    tsr_volume *frames = upload(context, l.p, 64, 64, 1);
    int64_t total;
    require_ok(tsr_features_create(context, &o, &features));
    require_ok(tsr_features_exact(features, frames, NULL, 0, 0, found, 4, &total));
    assert_int_equal(total, 2);
    box_is(&found[0], 2, 2, 32, 30);
    box_is(&found[1], 32, 4, 40, 8);
    assert_int_equal(found[2].count, 0);
    tsr_features_destroy(&features);
    tsr_volume_destroy(&frames);
    free(u.p);
    free(l.p);
    tsr_context_destroy(&context);
}

static void exact_equals_flood(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    const int cpu = tsr_context_device(context).kind == TSR_DEVICE_CPU;
    (void)unused;
    for (int n = 0; n < (test_is_slow() ? 16 : 120); n++) {
        enum { ROOM = 12000 };
        picture q = picture_make((int32_t)(1 + test_random(&state) % 120), (int32_t)(1 + test_random(&state) % 90));
        region *truth = malloc(ROOM * sizeof *truth);
        tsr_feature *found = malloc(ROOM * sizeof *found), line;
        tsr_features_options o = options_of(q.w, q.h);
        tsr_features *features;
        int64_t total;
        salt(&q, test_uniform(&state), &state);
        o.connectivity = n % 2 ? 4 : 8;
        o.by_count = n / 2 % 2;
        const int count = flood(&q, o.connectivity, truth, ROOM);
        for (int i = 1; i < count; i++) { /* stable: equals in the order of their first pixels */
            const region own = truth[i];
            int k = i;
            for (; k > 0 && larger(&own, &truth[k - 1], o.by_count); k--) truth[k] = truth[k - 1];
            truth[k] = own;
        }
        tsr_volume *frames = upload(context, q.p, q.w, q.h, 1);
        require_ok(tsr_features_create(context, &o, &features));
        require_ok(tsr_features_exact(features, frames, NULL, 0, 0, found, ROOM, &total));
        assert_int_equal(total, count);
        for (int i = 0; i < count; i++) same(&found[i], &truth[i]);
        if (cpu) {
            require_ok(tsr_features_scanline(features, frames, NULL, 0, 0, &line));
            const region none = { 0 };
            if (!count) same(&line, &none);
            else { /* among equals any may be first */
                const region r = { line.lower[0], line.lower[1], line.upper[0], line.upper[1], line.count, 0, 0 };
                assert_true(!larger(&truth[0], &r, o.by_count) && !larger(&r, &truth[0], o.by_count));
                int k = 0;
                while (k < count && (truth[k].x0 != r.x0 || truth[k].y0 != r.y0 || truth[k].x1 != r.x1 || truth[k].y1 != r.y1)) k++;
                assert_true(k < count);
            }
        }
        tsr_features_destroy(&features);
        tsr_volume_destroy(&frames);
        free(found);
        free(truth);
        free(q.p);
    }
    tsr_context_destroy(&context);
}

/* A disc among noise, which extends it where it touches it. Beside the largest component of a flood fill the page of the method has mean overlaps of 0.99, 0.97
 * and 0.88, of 200, here 0.990, 0.972 and 0.886, less half a hundredth as it rounds; it has the exact box in 0.88, 0.57 and 0.11 of them, here in 0.82, 0.60 and
 * 0.11: it does not say where its discs lie, and a box is exact or not by chance, sd 0.03. Beside the disc without noise: 0.978, 0.940 and 0.798. */
static void noise(void **unused)
{
    static const double densities[] = { 0.01, 0.03, 0.1 }, page[] = { 0.99, 0.97, 0.88 }, disc[] = { 0.965, 0.925, 0.77 },
                        same_box[] = { 0.73, 0.48, 0.05 };
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    const int rounds = test_is_slow() ? 20 : 200;
    for (int d = 0; d < 3; d++) {
        double overlap[2] = { 0, 0 }, exact[2] = { 0, 0 };
        for (int n = 0; n < rounds; n++) {
            picture q = picture_make(64, 64);
            tsr_features_options o = options_of(64, 64);
            tsr_feature f;
            region truth[2], all[4096];
            const double r = 6 + 8 * test_uniform(&state);
            ellipse(&q, 16 + 32 * test_uniform(&state), 16 + 32 * test_uniform(&state), r, r, 0);
            flood(&q, 8, &truth[0], 1);
            salt(&q, densities[d], &state);
            const int count = flood(&q, 8, all, 4096);
            truth[1] = all[0];
            for (int i = 1; i < count; i++)
                if (larger(&all[i], &truth[1], 0)) truth[1] = all[i];
            detect(context, &o, q.p, NULL, &f);
            for (int k = 0; k < 2; k++) {
                const double ix = (double)(less(truth[k].x1, f.upper[0]) - more(truth[k].x0, f.lower[0])),
                             iy = (double)(less(truth[k].y1, f.upper[1]) - more(truth[k].y0, f.lower[1]));
                const double both = fmax(0, ix) * fmax(0, iy), a = (double)((truth[k].x1 - truth[k].x0) * (truth[k].y1 - truth[k].y0));
                const double iou = both / (a + (double)(f.upper[0] - f.lower[0]) * (f.upper[1] - f.lower[1]) - both);
                overlap[k] += iou / rounds;
                exact[k] += (iou == 1) / (double)rounds;
            }
            free(q.p);
        }
        print_message("noise %g: mean overlap of boxes %.3f with the disc (%.3f exact), %.3f with the true component (%.3f exact)\n", densities[d],
                      overlap[0], exact[0], overlap[1], exact[1]);
        const double room = rounds < 200 ? 0.03 : 0.005; /* for chance */
        assert_true(overlap[1] >= page[d] - room && overlap[0] >= disc[d] - (room - 0.005));
        if (rounds == 200) assert_true(exact[1] >= same_box[d]);
    }
    tsr_context_destroy(&context);
}

static void extremes(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    picture q = picture_make(130, 67);
    tsr_features_options o = options_of(130, 67);
    tsr_feature f[4];
    detect(context, &o, q.p, NULL, f);
    same(&f[0], &(region){ 0 });
    memset(q.p, 255, 130 * 67);
    detect(context, &o, q.p, NULL, f);
    box_is(&f[0], 0, 0, 130, 67);
    assert_int_equal(f[0].count, 130 * 67);
    for (int i = 0; i < 130 * 67; i++) q.p[i] = (i % 130) % 2 == 0 && (i / 130) % 2 == 0 ? 255 : 0; /* isolated pixels: ties everywhere */
    o.keep = 4;
    detect(context, &o, q.p, NULL, f);
    for (int k = 0; k < 4; k++) assert_int_equal(f[k].count, 1);
    box_is(&f[0], 0, 0, 1, 1);
    free(q.p);
    tsr_context_destroy(&context);
}

/* A picture turned or mirrored gives the box turned or mirrored, where no ties decide. */
static void symmetry(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    for (int n = 0; n < (test_is_slow() ? 4 : 30); n++) {
        picture q = picture_make(128, 128), m = picture_make(128, 128), t = picture_make(128, 128);
        tsr_features_options o = options_of(128, 128);
        tsr_feature f, g, h;
        ellipse(&q, 30 + 60 * test_uniform(&state), 30 + 60 * test_uniform(&state), 20, 9, test_uniform(&state) * 3);
        rectangle(&q, 2, 100, 20, 110);
        for (int y = 0; y < 128; y++)
            for (int x = 0; x < 128; x++) {
                m.p[y * 128 + 127 - x] = q.p[y * 128 + x];
                t.p[x * 128 + y] = q.p[y * 128 + x];
            }
        detect(context, &o, q.p, NULL, &f);
        detect(context, &o, m.p, NULL, &g);
        detect(context, &o, t.p, NULL, &h);
        box_is(&g, 128 - f.upper[0], f.lower[1], 128 - f.lower[0], f.upper[1]);
        box_is(&h, f.lower[1], f.lower[0], f.upper[1], f.upper[0]);
        assert_true(f.count == g.count && f.count == h.count);
        free(q.p);
        free(m.p);
        free(t.p);
    }
    tsr_context_destroy(&context);
}

/* ---- filters --------------------------------------------------------------------------------------------------------------------------------- */

/* The definitions of the header in floating point. */
static int passes(const tsr_feature_filter *f, const uint8_t *p, const uint8_t *before, int w, int h, int c, int x, int y)
{
    const uint8_t *q = p + (y * w + x) * c;
    const double r = q[0], g = c > 1 ? q[1] : r, b = c > 1 ? q[2] : r;
    const double most = fmax(r, fmax(g, b)), d = most - fmin(r, fmin(g, b));
#define GREY(s) floor((c > 1 ? 77.0 * (s)[0] + 150.0 * (s)[1] + 29.0 * (s)[2] + 128 : 256.0 * (s)[0] + 128) / 256)
    switch (f->kind) {
    case TSR_FEATURE_LUMINANCE: return GREY(q) >= f->lower[0] && GREY(q) <= f->upper[0];
    case TSR_FEATURE_BOX: return r >= f->lower[0] && r <= f->upper[0] && g >= f->lower[1] && g <= f->upper[1] && b >= f->lower[2] && b <= f->upper[2];
    case TSR_FEATURE_DISTANCE: return hypot(hypot(r - f->lower[0], g - f->lower[1]), b - f->lower[2]) <= f->threshold + 1e-9;
    case TSR_FEATURE_HSV: {
        double hue = !d ? 0 : most == r ? (g - b) / d : most == g ? 2 + (b - r) / d : 4 + (r - g) / d;
        hue = floor((hue < 0 ? hue + 6 : hue) * 256 + 1e-9) * 360 / 1536; /* in steps of the filter */
        if (f->lower[0] <= f->upper[0] ? hue < f->lower[0] || hue > f->upper[0] : hue < f->lower[0] && hue > f->upper[0]) return 0;
        const double s = most > 0 ? floor(255 * d / most) : 0;
        return s >= f->lower[1] && s <= f->upper[1] && most >= f->lower[2] && most <= f->upper[2];
    }
    case TSR_FEATURE_MASK: return (q[0] & (int)f->lower[0]) != 0;
    case TSR_FEATURE_MOTION: {
        double most_change = 0;
        for (int k = 0; k < (c > 1 ? 3 : 1); k++) most_change = fmax(most_change, abs(q[k] - before[(y * w + x) * c + k]));
        return most_change >= f->threshold;
    }
    case TSR_FEATURE_GRADIENT: {
        const double left = GREY(x ? q - c : q), right = GREY(x + 1 < w ? q + c : q), up = GREY(y ? q - w * c : q),
                     low = GREY(y + 1 < h ? q + w * c : q);
        return hypot(right - left, low - up) / 2 >= f->threshold - 1e-9;
    }
    default:
        for (int n = 0; n < 4; n++) {
            const int nx = x + (n == 0) - (n == 1), ny = y + (n == 2) - (n == 3);
            if (nx < 0 || ny < 0 || nx >= w || ny >= h) continue;
            for (int k = 0; k < (c > 1 ? 3 : 1); k++)
                if (abs(q[k] - p[(ny * w + nx) * c + k]) > f->threshold) return 0;
        }
        return 1;
    }
}

static void filters(void **unused)
{
    static const char *const texts[] = { "luminance=90:180", "box=#203040:#c0d0b0", "distance=#8060a0:77.5", "hsv=300:75,40:250,30:240",
                                         "mask=20",          "motion=23",           "gradient=31.5",         "smooth=40" };
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    for (int n = 0; n < (test_is_slow() ? 3 : 12); n++) {
        const int c = n % 3 == 0   ? 1
                      : n % 3 == 1 ? 3
                                   : 4,
                  w = (int)(1 + test_random(&state) % 140), h = (int)(1 + test_random(&state) % 70), images = 2;
        const size_t bytes = (size_t)(w * h * c * images);
        uint8_t *p = malloc(bytes), *before = malloc(bytes);
        for (size_t i = 0; i < bytes; i++) {
            p[i] = (uint8_t)(n % 2 ? test_random(&state) >> 20 : 100 + (test_random(&state) >> 20) % 60);
            before[i] = (uint8_t)(p[i] + (test_random(&state) >> 20) % 50);
        }
        tsr_features_options o = options_of(w, h);
        tsr_feature *found = malloc(8 * 2 * sizeof *found);
        tsr_features *features;
        o.channels = c;
        o.images = images;
        o.count = 8;
        for (int k = 0; k < 8; k++) require_ok(tsr_feature_filter_parse(texts[k], &o.filter[k]));
        detect(context, &o, p, before, found);
        tsr_volume *frames = upload(context, p, (int64_t)w * c, h, images), *previous = upload(context, before, (int64_t)w * c, h, images);
        require_ok(tsr_features_create(context, &o, &features));
        for (int k = 0; k < 8; k++) {
            tsr_volume *mask, *host;
            require_ok(tsr_features_mask(features, frames, previous, k, &mask));
            require_ok(tsr_volume_copy(mask, NULL, &host));
            const uint8_t *m = tsr_volume_data(host);
            for (int i = 0; i < w * h * images; i++) {
                const int image = i / (w * h), x = i % w, y = i / w % h;
                const int truth = passes(&o.filter[k], p + image * w * h * c, before + image * w * h * c, w, h, c, x, y);
                if (m[i] != truth) fail_msg("%s, %d channels: pixel (%d, %d) of image %d is %d, expected %d", texts[k], c, x, y, image, m[i], truth);
            }
            for (int image = 0; image < images; image++) { /* one sweep over all filters and images = each by itself */
                const picture q = { w, h, (uint8_t *)(uintptr_t)m + image * w * h };
                region truth;
                oracle(&q, 0, 0, square_side(&q), 8, 0, 1, &truth);
                same(&found[image * 8 + k], &truth);
            }
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&mask);
        }
        tsr_features_destroy(&features);
        tsr_volume_destroy(&previous);
        tsr_volume_destroy(&frames);
        free(found);
        free(p);
        free(before);
    }
    tsr_context_destroy(&context);
}

/* BT.601 by its definition, to one step. */
static void ycbcr(void **unused)
{
    uint64_t state = test_seed();
    tsr_context *context = test_context();
    (void)unused;
    uint8_t p[64 * 3];
    for (int i = 0; i < 64 * 3; i++) p[i] = (uint8_t)(40 + test_random(&state) % 170);
    for (int c = 0; c < 3; c++)
        for (int bound = 40; bound < 220; bound += 60) {
            tsr_features_options o = options_of(64, 1);
            tsr_features *features;
            tsr_volume *frames = upload(context, p, 64 * 3, 1, 1), *mask, *host;
            o.channels = 3;
            o.ycbcr = 1;
            o.filter[0] = (tsr_feature_filter){ .kind = TSR_FEATURE_BOX, .upper = { 255, 255, 255 } };
            o.filter[0].lower[c] = bound;
            require_ok(tsr_features_create(context, &o, &features));
            require_ok(tsr_features_mask(features, frames, NULL, 0, &mask));
            require_ok(tsr_volume_copy(mask, NULL, &host));
            for (int i = 0; i < 64; i++) {
                const double y = (p[3 * i] - 16) / 219.0, b = (p[3 * i + 1] - 128) / 224.0, r = (p[3 * i + 2] - 128) / 224.0;
                const double rgb[3] = { y + 1.402 * r, y - 0.344136 * b - 0.714136 * r, y + 1.772 * b };
                const double v = fmin(1, fmax(0, rgb[c])) * 255;
                if (fabs(v - (bound - 0.5)) > 0.01) assert_int_equal(((const uint8_t *)tsr_volume_data(host))[i], v > bound - 0.5);
            }
            tsr_volume_destroy(&host);
            tsr_volume_destroy(&mask);
            tsr_volume_destroy(&frames);
            tsr_features_destroy(&features);
        }
    tsr_context_destroy(&context);
}

/* A spot that moves and leaves a trace while the shutter is open: its box is that of the trace, its centre the middle of the exposure. */
static void moving_spot(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    for (int step = 0; step < 6; step++) {
        picture q = picture_make(200, 150);
        tsr_features_options o = options_of(200, 150);
        tsr_feature f;
        const double x = 20 + 25 * step, y = 30 + 15 * step, speed = 6 + 2 * step; /* pixels of travel, whatever it is */
        for (double s = -speed; s <= speed; s += 0.5) ellipse(&q, x + s, y + 0.5 * s, 3, 3, 0);
        detect(context, &o, q.p, NULL, &f);
        assert_true(fabs(f.centroid[0] - x) < 0.6 && fabs(f.centroid[1] - y) < 0.6);
        assert_true(fabs(0.5 * (f.lower[0] + f.upper[0] - 1) - x) <= 0.75 && fabs(0.5 * (f.lower[1] + f.upper[1] - 1) - y) <= 0.75);
        free(q.p);
    }
    tsr_context_destroy(&context);
}

/* A frame looked at through a lens: a spot is found where the lens model says. */
static void through_a_lens(void **unused)
{
    tsr_context *context = test_context();
    const tsr_lens lens = { .k1 = -0.12, .shift = { 0.03, -0.02 } }, none = { 0 };
    (void)unused;
    picture q = picture_make(320, 240);
    tsr_features_options o = options_of(320, 240);
    tsr_feature f, g;
    double at[2];
    ellipse(&q, 40, 50, 6, 6, 0);
    o.lens = &lens;
    detect(context, &o, q.p, NULL, &f);
    require_ok(tsr_lens_undistort(&lens, 320, 240, (const double[]){ 40.5, 50.5 }, at));
    assert_true(fabs(f.centroid[0] + 0.5 - at[0]) < 0.5 && fabs(f.centroid[1] + 0.5 - at[1]) < 0.5 && fabs(at[0] - 40.5) > 5);
    o.lens = &none;
    detect(context, &o, q.p, NULL, &f);
    o.lens = NULL;
    detect(context, &o, q.p, NULL, &g);
    assert_memory_equal(&f, &g, sizeof f);
    free(q.p);
    tsr_context_destroy(&context);
}

static void errors(void **unused)
{
    tsr_context *context = test_context();
    (void)unused;
    tsr_features *features = NULL;
    tsr_volume *small = upload(context, "123456789012", 4, 3, 1);
    tsr_feature_filter filter;
    tsr_feature found;
    int64_t total;
    tsr_features_options o = options_of(4, 3);
#define WRONG(change, text)                                                                   \
    do {                                                                                      \
        o = options_of(4, 3);                                                                 \
        change;                                                                               \
        require_error(tsr_features_create(context, &o, &features), TSR_ERROR_ARGUMENT, text); \
        assert_null(features);                                                                \
    } while (0)
    WRONG(o.width = 0, "frames of 0 x 3");
    WRONG(o.height = (1 << 24) + 1, "expected extents from 1");
    WRONG(o.channels = 2, "2 channels, expected 1, 3 or 4");
    WRONG(o.count = 0, "0 filters, expected 1 to 8");
    WRONG(o.count = 9, "9 filters");
    WRONG(o.keep = 5, "keep is 5");
    WRONG(o.images = -1, "-1 images");
    WRONG(o.connectivity = 6, "expected 4 or 8");
    WRONG(o.ycbcr = 1, "ycbcr with 1 channel");
    WRONG(o.filter[0].lower[0] = (double)NAN, "luminance from nan");
    WRONG(o.filter[0].lower[0] = 256, "from 256");
    WRONG(o.filter[0].kind = (tsr_feature_filter_kind)99, "kind is 99");
    WRONG((o.filter[0].kind = TSR_FEATURE_MOTION, o.filter[0].threshold = (double)NAN), "motion threshold is nan");
    tsr_lens bad = { .k1 = (double)NAN };
    WRONG(o.lens = &bad, "k1 of the lens is nan");
    require_error(tsr_feature_filter_parse("red", &filter), TSR_ERROR_ARGUMENT, "filter 'red', expected a form like");
    require_error(tsr_feature_filter_parse("red=1", &filter), TSR_ERROR_ARGUMENT, "expected one of: luminance");
    require_error(tsr_feature_filter_parse("box=#10203:#405060", &filter), TSR_ERROR_ARGUMENT, "expected the form box=#rrggbb:#rrggbb");
    require_error(tsr_feature_filter_parse("box=#102030", &filter), TSR_ERROR_ARGUMENT, "expected the form box=#rrggbb:#rrggbb");
    require_error(tsr_feature_filter_parse("luminance=10:20x", &filter), TSR_ERROR_ARGUMENT, "expected the form luminance=LOWER:UPPER");
    require_error(tsr_feature_filter_parse("luminance=30:20", &filter), TSR_ERROR_ARGUMENT, "expected lower <= upper");
    require_error(tsr_feature_filter_parse("mask=0", &filter), TSR_ERROR_ARGUMENT, "expected bits from 1 to 255");
    require_error(tsr_feature_filter_parse("hsv=10:20,30:40", &filter), TSR_ERROR_ARGUMENT, "expected the form hsv");
    o = options_of(5, 3);
    require_ok(tsr_features_create(context, &o, &features));
    require_error(tsr_features_results(features, &found), TSR_ERROR_STATE, "nothing was detected yet");
    require_error(tsr_features_detect(features, small, NULL), TSR_ERROR_ARGUMENT, "extents 4 x 3 x 1, expected 5 x 3 x 1");
    require_error(tsr_features_detect(features, NULL, NULL), TSR_ERROR_ARGUMENT, "frames is NULL");
    require_error(tsr_features_exact(features, small, NULL, 0, 1, &found, 1, &total), TSR_ERROR_ARGUMENT, "filter 1, expected 0 to 0");
    if (tsr_context_device(context).kind != TSR_DEVICE_CPU) {
        tsr_volume *right = upload(context, "123456789012345", 5, 3, 1);
        require_error(tsr_features_scanline(features, right, NULL, 0, 0, &found), TSR_ERROR_UNSUPPORTED, "on the CPU alone");
        tsr_volume_destroy(&right);
    }
    tsr_features_destroy(&features);
    tsr_volume_destroy(&small);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literature),     cmocka_unit_test(equals_recursion),
        cmocka_unit_test(large_frame),    cmocka_unit_test(shapes),
        cmocka_unit_test(known_limits),   cmocka_unit_test(exact_equals_flood),
        cmocka_unit_test(noise),          cmocka_unit_test(extremes),
        cmocka_unit_test(symmetry),       cmocka_unit_test(filters),
        cmocka_unit_test(ycbcr),          cmocka_unit_test(moving_spot),
        cmocka_unit_test(through_a_lens), cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
