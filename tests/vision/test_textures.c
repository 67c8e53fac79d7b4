/* Textures of a moving mesh: visibility beside rays through the triangles in float64, colours beside the skin they were drawn from, every device and number of
 * threads beside one thread of the CPU. The oracles share no code with what they test. */
#include <math.h>

#include "support.h"

typedef struct shot {
    tsr_footage *footage;
    tsr_multiview_parts p;
    tsr_image *pictures; /* of one step */
} shot;

static shot take(const tsr_footage_options *o, int32_t step)
{
    shot s = { NULL, TSR_MULTIVIEW_PARTS, NULL };
    require_ok(tsr_footage_create(o, &s.footage));
    s.p = tsr_multiview_model_parts(tsr_footage_model(s.footage));
    s.pictures = (tsr_image *)calloc((size_t)s.p.cameras, sizeof *s.pictures);
    for (int32_t c = 0; c < s.p.cameras; c++) require_ok(tsr_footage_picture(s.footage, step, c, &s.pictures[c]));
    return s;
}
static void drop(shot *s)
{
    for (int32_t c = 0; c < s->p.cameras; c++) tsr_image_destroy(&s->pictures[c]);
    free(s->pictures);
    tsr_footage_destroy(&s->footage);
}

/* Textures of one step in host memory. */
typedef struct made {
    int32_t width, height, cameras, words;
    uint8_t *plane[3];
    uint64_t *visible, *atlas;
} made;

static size_t texels_of(const made *m) { return (size_t)m->cameras * (size_t)m->height * (size_t)m->width; }
static size_t words_of(const made *m) { return (size_t)m->cameras * (size_t)m->height * (size_t)m->words; }
static int bit(const uint64_t *mask, int32_t words, int64_t row, int32_t u) { return (int)(mask[row * words + u / 64] >> (u & 63) & 1); }

static made make(tsr_context *context, const tsr_multiview_model *model, int32_t step, const tsr_image *pictures, tsr_texture_sampling sampling)
{
    const tsr_multiview_parts p = tsr_multiview_model_parts(model);
    made m = { p.width, p.height, p.cameras, (p.width + 63) / 64, { NULL }, NULL, NULL };
    tsr_texturer *x;
    tsr_multiview *textures;
    tsr_multiview_view v;
    require_ok(tsr_texturer_create(context, model, &x));
    require_ok(tsr_multiview_create(context, p.width, p.height, p.cameras, 1, 1, &textures));
    require_ok(tsr_multiview_view_of(textures, &v));
    require_ok(tsr_texturer_copy_atlas(x, v.atlas));
    require_ok(tsr_texturer_step(x, step, pictures, sampling, v.plane, v.visible));
    m.visible = (uint64_t *)malloc(words_of(&m) * 8);
    m.atlas = (uint64_t *)malloc((size_t)m.height * (size_t)m.words * 8);
    require_ok(tsr_texturer_download(x, m.visible, v.visible, words_of(&m) * 8));
    require_ok(tsr_texturer_download(x, m.atlas, v.atlas, (size_t)m.height * (size_t)m.words * 8));
    for (int k = 0; k < 3; k++) {
        m.plane[k] = (uint8_t *)malloc(texels_of(&m));
        require_ok(tsr_texturer_download(x, m.plane[k], v.plane[k], texels_of(&m)));
    }
    tsr_multiview_destroy(&textures);
    tsr_texturer_destroy(&x);
    return m;
}
static void drop_made(made *m)
{
    for (int k = 0; k < 3; k++) free(m->plane[k]);
    free(m->visible);
    free(m->atlas);
}

/* ---- the oracle: float64, every triangle -------------------------------------------------------------------------------------------- */

typedef struct place {
    int64_t triangle; /* -1: none */
    double world[3];
} place;

static void corner_of(const tsr_multiview_parts *p, int32_t step, int64_t triangle, int k, double world[3])
{
    const float *at = p->position + ((int64_t)step * p->vertices + p->triangle[3 * triangle + k]) * 3;
    for (int n = 0; n < 3; n++) world[n] = (double)at[n];
}
static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void cross(const double a[3], const double b[3], double to[3])
{
    for (int k = 0; k < 3; k++) to[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}
static void minus(const double a[3], const double b[3], double to[3])
{
    for (int k = 0; k < 3; k++) to[k] = a[k] - b[k];
}

/* The point of the surface of every texel's centre. */
static place *find_places(const tsr_multiview_parts *p, int32_t step)
{
    place *places = (place *)malloc((size_t)p->width * (size_t)p->height * sizeof *places);
    for (int64_t i = 0; i < (int64_t)p->width * p->height; i++) places[i].triangle = -1;
    for (int64_t t = 0; t < p->triangles; t++) {
        double x[3], y[3], world[3][3];
        for (int k = 0; k < 3; k++) {
            x[k] = (double)p->place[2 * p->corner[3 * t + k]] * p->width;
            y[k] = (1 - (double)p->place[2 * p->corner[3 * t + k] + 1]) * p->height;
            corner_of(p, step, t, k, world[k]);
        }
        const double area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]);
        for (int32_t v = (int32_t)fmin(y[0], fmin(y[1], y[2])); v < p->height && v <= fmax(y[0], fmax(y[1], y[2])); v++)
            for (int32_t u = (int32_t)fmin(x[0], fmin(x[1], x[2])); u < p->width && u <= fmax(x[0], fmax(x[1], x[2])); u++) {
                const double cx = u + 0.5, cy = v + 0.5;
                const double a = ((x[1] - cx) * (y[2] - cy) - (y[1] - cy) * (x[2] - cx)) / area;
                const double b = ((x[2] - cx) * (y[0] - cy) - (y[2] - cy) * (x[0] - cx)) / area, c = 1 - a - b;
                place *to = &places[(int64_t)v * p->width + u];
                if (!(a >= 0 && b >= 0 && c >= 0) || to->triangle >= 0) continue;
                to->triangle = t;
                for (int k = 0; k < 3; k++) to->world[k] = a * world[0][k] + b * world[1][k] + c * world[2][k];
            }
    }
    return places;
}

/* Is the point seen: it faces the camera, lies in the picture, and no other triangle crosses the way. */
static int oracle_sees(const tsr_multiview_parts *p, int32_t step, const double *edges, const tsr_camera *camera, int32_t width, int32_t height,
                       const place *at)
{
    const double eye[3] = { camera->position.x, camera->position.y, camera->position.z };
    double way[3], pixel[2];
    const tsr_vec3 world = { at->world[0], at->world[1], at->world[2] };
    minus(eye, at->world, way);
    if (!(dot(edges + 12 * at->triangle + 9, way) > 0)) return 0;
    if (tsr_camera_project(camera, width, height, world, pixel, NULL) != TSR_OK) return 0;
    if (!(pixel[0] >= 0 && pixel[1] >= 0 && pixel[0] < width && pixel[1] < height)) return 0;
    (void)step;
    for (int64_t t = 0; t < p->triangles; t++) { /* Moeller, Trumbore */
        const double *e = edges + 12 * t;
        double h[3], s[3], q[3];
        if (t == at->triangle) continue;
        cross(way, e + 6, h);
        const double a = dot(e + 3, h);
        if (a == 0) continue;
        minus(at->world, e, s);
        const double u = dot(s, h) / a;
        if (!(u >= 0 && u <= 1)) continue;
        cross(s, e + 3, q);
        const double v = dot(way, q) / a;
        if (!(v >= 0 && u + v <= 1)) continue;
        const double d = dot(e + 6, q) / a;
        if (d > 1e-6 && d < 1) return 0;
    }
    return 1;
}
static double *find_edges(const tsr_multiview_parts *p, int32_t step)
{
    double *edges = (double *)malloc((size_t)p->triangles * 12 * sizeof *edges), b[3], c[3];
    for (int64_t t = 0; t < p->triangles; t++) {
        double *e = edges + 12 * t;
        corner_of(p, step, t, 0, e);
        corner_of(p, step, t, 1, b);
        corner_of(p, step, t, 2, c);
        minus(b, e, e + 3);
        minus(c, e, e + 6);
        cross(e + 3, e + 6, e + 9);
    }
    return edges;
}

/* ---- visibility ---------------------------------------------------------------------------------------------------------------------- */

static void check_visibility(const tsr_footage_options *o, int32_t step)
{
    tsr_context *context = test_context();
    shot s = take(o, step);
    made m = make(context, tsr_footage_model(s.footage), step, s.pictures, TSR_TEXTURE_BILINEAR);
    place *places = find_places(&s.p, step);
    double *edges = find_edges(&s.p, step);
    const int64_t texels = (int64_t)m.width * m.height;
    int8_t *seen = (int8_t *)malloc((size_t)texels);
    int64_t all = 0, different = 0, far = 0, visible = 0;
    for (int32_t c = 0; c < m.cameras; c++) {
        for (int64_t i = 0; i < texels; i++)
            seen[i] = places[i].triangle < 0 ? (int8_t)-1
                                             : (int8_t)oracle_sees(&s.p, step, edges, &s.p.camera[c], s.p.picture[0], s.p.picture[1], &places[i]);
        for (int64_t i = 0; i < texels; i++) {
            const int32_t u = (int32_t)(i % m.width), v = (int32_t)(i / m.width);
            const int own = bit(m.visible, m.words, (int64_t)c * m.height + v, u);
            if (!bit(m.atlas, m.words, v, u)) {
                assert_int_equal(own, 0);
                continue;
            }
            all++;
            visible += own;
            if (seen[i] < 0 || own == seen[i]) continue;
            different++;
            int near_ = 0; /* a boundary within one texel */
            for (int k = 0; k < 9; k++) {
                const int32_t su = u + k % 3 - 1, sv = v + k / 3 - 1;
                near_ |= su < 0 || sv < 0 || su >= m.width || sv >= m.height || seen[(int64_t)sv * m.width + su] != seen[i];
            }
            far += !near_;
        }
    }
    print_message("%lld texels, %.1f %% visible, agreement %.3f %%, %lld differ beyond a texel from a boundary\n", (long long)all,
                  100.0 * (double)visible / (double)all, 100 - 100.0 * (double)different / (double)all, (long long)far);
    assert_true(visible > all / 10);
    assert_true((double)different <= 0.005 * (double)all);
    assert_true(far <= all / 5000); /* where an occluder is thinner than a texel of the depth map */
    free(seen);
    free(edges);
    free(places);
    drop_made(&m);
    drop(&s);
    tsr_context_destroy(&context);
}

static void test_visibility_of_the_dancer(void **state)
{
    (void)state;
    tsr_footage_options o = { .struct_size = sizeof o,
                              .steps = 6,
                              .cameras = test_is_slow() ? 1 : 2,
                              .width = 640,
                              .height = 480,
                              .atlas = 192,
                              .detail = 16,
                              .supersampling = 1 };
    check_visibility(&o, 5);
    if (test_is_slow()) return;
    o.width = 320; /* the published size */
    o.height = 240;
    check_visibility(&o, 5);
}
static void test_visibility_of_a_sphere_and_a_cube(void **state)
{
    (void)state;
    tsr_footage_options o = {
        .struct_size = sizeof o, .scene = TSR_FOOTAGE_SPHERE, .steps = 2, .cameras = 3, .atlas = 96, .detail = 24, .supersampling = 1
    };
    check_visibility(&o, 1);
    o.scene = TSR_FOOTAGE_CUBE;
    check_visibility(&o, 0);
}

/* ---- colours ------------------------------------------------------------------------------------------------------------------------- */

static void oracle_yuv(const double rgb[3], double yuv[3])
{
    yuv[0] = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
    yuv[1] = 128 + (rgb[2] - yuv[0]) / 1.772;
    yuv[2] = 128 + (rgb[0] - yuv[0]) / 1.402;
}

/* Without noise every camera's texture is the skin, up to what pictures resolve: a mean error of few grey values, and alike in all cameras. */
static void check_colors(const tsr_footage_options *o, tsr_texture_sampling sampling, double most)
{
    tsr_context *context = test_context();
    shot s = take(o, 0);
    made m = make(context, tsr_footage_model(s.footage), 0, s.pictures, sampling);
    place *places = find_places(&s.p, 0);
    double error[3] = { 0, 0, 0 };
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)texels_of(&m); i++) {
        const int64_t row = i / m.width, texel = row % m.height * m.width + i % m.width;
        if (!bit(m.visible, m.words, row, (int32_t)(i % m.width))) {
            for (int k = 0; k < 3; k++) assert_int_equal(m.plane[k][i], 0);
            continue;
        }
        double rgb[3], yuv[3];
        if (places[texel].triangle < 0) continue;
        require_ok(tsr_footage_color(s.footage, 0, tsr_footage_part(s.footage, places[texel].triangle), places[texel].world, rgb));
        oracle_yuv(rgb, yuv);
        for (int k = 0; k < 3; k++) error[k] += fabs(yuv[k] - m.plane[k][i]);
        count++;
    }
    print_message("mean error of Y %.2f, U %.2f, V %.2f over %lld texels\n", error[0] / (double)count, error[1] / (double)count,
                  error[2] / (double)count, (long long)count);
    assert_true(count > 1000);
    assert_true(error[0] / (double)count < most);
    assert_true(error[1] / (double)count < most / 2 && error[2] / (double)count < most / 2);
    free(places);
    drop_made(&m);
    drop(&s);
    tsr_context_destroy(&context);
}
static void test_colors_are_the_skin(void **state)
{
    (void)state;
    tsr_footage_options o = { .struct_size = sizeof o,
                              .steps = 1,
                              .cameras = 2,
                              .width = 640,
                              .height = 480,
                              .atlas = 256,
                              .unlit = 1,
                              .supersampling = 2,
                              .rules = { .cos_min = 0.5 } }; /* nearer to silhouettes pictures mix in what is behind */
    check_colors(&o, TSR_TEXTURE_BILINEAR, 4);
    o.unlit = 0; /* Lambert: all cameras see the same */
    check_colors(&o, TSR_TEXTURE_BILINEAR, 4);
    if (test_is_slow()) return;
    check_colors(&o, TSR_TEXTURE_EWA, 5);
    o.scene = TSR_FOOTAGE_SPHERE;
    check_colors(&o, TSR_TEXTURE_EWA, 4);
    o.k1 = -0.1; /* a lens, which is taken out */
    check_colors(&o, TSR_TEXTURE_BILINEAR, 5);
}

/* A plate that fills the picture of a parallel camera: texel and pixel agree, and what is sampled of a ramp is known. */
static tsr_multiview_model *plate(int32_t atlas, int32_t pixels, const tsr_mask_rules *rules)
{
    const float position[] = { -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0 }, uv[] = { 0, 0, 1, 0, 1, 1, 0, 1 };
    const uint32_t triangle[] = { 0, 1, 2, 0, 2, 3 };
    const int32_t picture[] = { pixels, pixels };
    tsr_camera camera = { .projection = TSR_ORTHOGRAPHIC, .height = 2 };
    tsr_multiview_model *model;
    require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
    tsr_multiview_parts p = { .struct_size = sizeof p,
                              .width = atlas,
                              .height = atlas,
                              .cameras = 1,
                              .steps = 1,
                              .vertices = 4,
                              .triangles = 2,
                              .triangle = triangle,
                              .place = uv,
                              .position = position,
                              .camera = &camera,
                              .camera_steps = 1,
                              .picture = picture };
    if (rules) p.rules = *rules;
    require_ok(tsr_multiview_model_create(&p, &model));
    return model;
}
static void test_a_plate_is_sampled_exactly(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_image image;
    tsr_multiview_model *model = plate(64, 64, NULL);
    require_ok(tsr_image_create(64, 64, 1, &image));
    for (int i = 0; i < 64 * 64; i++) image.pixels[i] = (uint8_t)(i % 64 * 3 + i / 64);
    for (int sampling = 0; sampling < 2; sampling++) {
        made m = make(context, model, 0, &image, (tsr_texture_sampling)sampling);
        for (int i = 0; i < 64 * 64; i++) {
            assert_int_equal(bit(m.visible, 1, i / 64, i % 64), 1);
            const int inner = i % 64 > 1 && i % 64 < 62 && i / 64 > 1 && i / 64 < 62;
            if (inner || sampling == 0)
                assert_in_range(m.plane[0][i] + 1, image.pixels[i], image.pixels[i] + 2); /* within one: a ramp keeps its mean */
            assert_in_range(m.plane[1][i], 127, 129);
        }
        drop_made(&m);
    }
    tsr_multiview_model_destroy(&model);
    model = plate(32, 64, NULL); /* texels of two pixels */
    made m = make(context, model, 0, &image, TSR_TEXTURE_BILINEAR);
    for (int i = 0; i < 32 * 32; i++) {
        const double expected = (2 * (i % 32) + 0.5) * 3 + 2 * (i / 32) + 0.5;
        assert_true(fabs(m.plane[0][i] - expected) <= 1.01);
    }
    drop_made(&m);
    tsr_multiview_model_destroy(&model);
    tsr_image_destroy(&image);
    tsr_context_destroy(&context);
}

/* ---- the same bits everywhere -------------------------------------------------------------------------------------------------------- */

static void test_every_device_and_thread_count_agree(void **state)
{
    (void)state;
    tsr_footage_options o = {
        .struct_size = sizeof o, .steps = 3, .cameras = 3, .width = 160, .height = 120, .atlas = 128, .detail = 12, .supersampling = 1, .noise = 3
    };
    for (int turn = 0; turn < 3; turn++) {
        o.rules = (tsr_mask_rules){ .vote = turn == 1, .cos_min = turn == 2 ? 0.3 : 0, .scale = 1 + turn };
        tsr_context *one = test_context_on("cpu", 1), *own = test_context();
        shot s = take(&o, 2);
        const tsr_texture_sampling sampling = turn == 1 ? TSR_TEXTURE_EWA : TSR_TEXTURE_BILINEAR;
        made a = make(one, tsr_footage_model(s.footage), 2, s.pictures, sampling),
             b = make(own, tsr_footage_model(s.footage), 2, s.pictures, sampling);
        for (int k = 0; k < 3; k++) assert_memory_equal(a.plane[k], b.plane[k], texels_of(&a));
        assert_memory_equal(a.visible, b.visible, words_of(&a) * 8);
        assert_memory_equal(a.atlas, b.atlas, (size_t)a.height * (size_t)a.words * 8);
        drop_made(&b);
        for (int32_t threads = 2; threads <= 7; threads += 5) {
            tsr_context *many = test_context_on("cpu", threads);
            made c = make(many, tsr_footage_model(s.footage), 2, s.pictures, sampling);
            for (int32_t n = 0; n < a.cameras; n++) {
                const size_t words = (size_t)n * (size_t)a.height * (size_t)a.words;
                assert_int_equal(tsr_mask_hash(a.visible + words, a.width, a.height), tsr_mask_hash(c.visible + words, a.width, a.height));
            }
            for (int k = 0; k < 3; k++) assert_memory_equal(a.plane[k], c.plane[k], texels_of(&a));
            drop_made(&c);
            tsr_context_destroy(&many);
        }
        drop_made(&a);
        drop(&s);
        tsr_context_destroy(&own);
        tsr_context_destroy(&one);
    }
}

/* What a decoder does: bytes of the model to masks; with another bias the hashes are others. */
static void test_masks_are_made_again_from_bytes(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_mask_maker *maker;
    const tsr_footage_options o = {
        .struct_size = sizeof o, .steps = 3, .cameras = 2, .width = 160, .height = 120, .atlas = 128, .detail = 12, .supersampling = 1
    };
    tsr_footage_options other = o;
    other.rules.bias = 40000;
    shot s = take(&o, 0), w = take(&other, 0);
    uint8_t *bytes[2];
    size_t size[2];
    require_ok(tsr_multiview_model_pack(tsr_footage_model(s.footage), &bytes[0], &size[0]));
    require_ok(tsr_multiview_model_pack(tsr_footage_model(w.footage), &bytes[1], &size[1]));
    require_ok(tsr_mask_maker_create(context, &maker));
    uint64_t mask[128 * 2], wrong[128 * 2];
    int differ = 0;
    for (int32_t t = 0; t < 3; t++) {
        made m = make(context, tsr_footage_model(s.footage), t, NULL, TSR_TEXTURE_BILINEAR);
        for (int32_t c = 0; c < 2; c++) {
            require_ok(tsr_mask_maker_rebuild(maker, bytes[0], size[0], t, c, 128, 128, mask));
            assert_memory_equal(mask, m.visible + c * 256, sizeof mask);
            require_ok(tsr_mask_maker_rebuild(maker, bytes[1], size[1], t, c, 128, 128, wrong));
            differ += tsr_mask_hash(mask, 128, 128) != tsr_mask_hash(wrong, 128, 128);
        }
        drop_made(&m);
    }
    assert_int_equal(differ, 6);
    require_error(tsr_mask_maker_rebuild(maker, bytes[0], size[0], 3, 0, 128, 128, mask), TSR_ERROR_FORMAT, "step 3");
    require_error(tsr_mask_maker_rebuild(maker, NULL, 0, 0, 0, 128, 128, mask), TSR_ERROR_ARGUMENT, "there is none");
    tsr_mask_maker_destroy(&maker);
    free(bytes[0]);
    free(bytes[1]);
    drop(&s);
    drop(&w);
    tsr_context_destroy(&context);
}

/* ---- views --------------------------------------------------------------------------------------------------------------------------- */

static double psnr(const tsr_image *a, const tsr_image *rgb)
{
    double sum = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < (int64_t)a->width * a->height; i++) {
        if (!a->pixels[4 * i + 3]) continue;
        for (int k = 0; k < 3; k++) {
            const double d = (double)a->pixels[4 * i + k] - rgb->pixels[3 * i + k];
            sum += d * d;
        }
        count += 3;
    }
    assert_true(count > 1000);
    return 10 * log10(255 * 255 * (double)count / sum);
}

/* Seen from a camera of the footage the mesh looks as the picture does; from the CPU and from any device the same. */
static void test_views_look_like_the_footage(void **state)
{
    (void)state;
    const tsr_footage_options o = {
        .struct_size = sizeof o, .steps = 1, .cameras = 4, .atlas = test_is_slow() ? 256 : 512, .supersampling = 2, .detail = 24
    };
    shot s = take(&o, 0);
    tsr_image first = { 0 };
    for (int turn = 0; turn < 2; turn++) {
        tsr_context *context = turn ? test_context() : test_context_on("cpu", 2);
        tsr_texturer *x;
        tsr_multiview *textures;
        tsr_multiview_view v;
        tsr_image image;
        tsr_texturer_seen seen = TSR_TEXTURER_SEEN;
        require_ok(tsr_texturer_create(context, tsr_footage_model(s.footage), &x));
        require_ok(tsr_multiview_create(context, o.atlas, o.atlas, 4, 1, 1, &textures));
        require_ok(tsr_multiview_view_of(textures, &v));
        require_ok(tsr_texturer_step(x, 0, s.pictures, TSR_TEXTURE_BILINEAR, v.plane, v.visible));
        require_ok(tsr_texturer_draw(x, 0, v.plane, v.visible, &s.p.camera[1], 320, 240, NULL, &image, &seen));
        const double db = psnr(&image, &s.pictures[1]);
        print_message("PSNR %.2f dB over %lld pixels, unseen %lld\n", db, (long long)seen.surface, (long long)seen.unseen);
        assert_true(db > 24);
        assert_true((double)seen.unseen < 0.02 * (double)seen.surface);
        if (turn) assert_memory_equal(image.pixels, first.pixels, 320 * 240 * 4);
        else first = image;
        if (turn) tsr_image_destroy(&image);
        tsr_image without;
        const tsr_texturer_view look = { .struct_size = sizeof look, .leave_out = 2, .unseen = { 255, 0, 255 } };
        require_ok(tsr_texturer_draw(x, 0, v.plane, v.visible, &s.p.camera[1], 320, 240, &look, &without, &seen));
        assert_true(psnr(&without, &s.pictures[1]) < db); /* a camera's own textures know most of what it sees */
        tsr_image_destroy(&without);
        tsr_camera lens = s.p.camera[0];
        lens.lens.k1 = 0.1;
        require_error(tsr_texturer_draw(x, 0, v.plane, v.visible, &lens, 320, 240, NULL, &without, NULL), TSR_ERROR_ARGUMENT, "lens");
        require_error(tsr_texturer_draw(x, 1, v.plane, v.visible, &s.p.camera[0], 320, 240, NULL, &without, NULL), TSR_ERROR_ARGUMENT, "step 1");
        tsr_multiview_destroy(&textures);
        tsr_texturer_destroy(&x);
        tsr_context_destroy(&context);
    }
    tsr_image_destroy(&first);
    drop(&s);
}

/* Gutters: texels beyond the atlas near a visible one take its colour, others stay. */
static void test_gutters(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_footage_options o = { .struct_size = sizeof o, .scene = TSR_FOOTAGE_CUBE, .steps = 1, .cameras = 1, .atlas = 128, .supersampling = 1 };
    shot s = take(&o, 0);
    tsr_texturer *x;
    tsr_multiview *textures;
    tsr_multiview_view v;
    require_ok(tsr_texturer_create(context, tsr_footage_model(s.footage), &x));
    require_ok(tsr_multiview_create(context, 128, 128, 1, 1, 1, &textures));
    require_ok(tsr_multiview_view_of(textures, &v));
    require_ok(tsr_texturer_step(x, 0, s.pictures, TSR_TEXTURE_BILINEAR, v.plane, v.visible));
    uint8_t before[128 * 128], after[128 * 128];
    uint64_t visible[256], atlas[256];
    require_ok(tsr_texturer_download(x, before, v.plane[0], sizeof before));
    require_ok(tsr_texturer_gutter(x, 3, v.visible, v.plane));
    require_ok(tsr_texturer_download(x, after, v.plane[0], sizeof after));
    require_ok(tsr_texturer_download(x, visible, v.visible, sizeof visible));
    require_ok(tsr_texturer_download(x, atlas, tsr_texturer_atlas(x), sizeof atlas));
    int filled = 0;
    for (int y = 0; y < 128; y++)
        for (int u = 0; u < 128; u++) {
            int best = 10, value = before[y * 128 + u];
            for (int dy = -3; dy <= 3 && !bit(atlas, 2, y, u); dy++)
                for (int dx = -3; dx <= 3; dx++)
                    if (y + dy >= 0 && y + dy < 128 && u + dx >= 0 && u + dx < 128 && bit(visible, 2, y + dy, u + dx) && dx * dx + dy * dy < best) {
                        best = dx * dx + dy * dy;
                        value = before[(y + dy) * 128 + u + dx];
                    }
            filled += best < 10;
            assert_int_equal(after[y * 128 + u], value);
        }
    assert_true(filled > 50);
    require_error(tsr_texturer_gutter(x, 17, v.visible, v.plane), TSR_ERROR_ARGUMENT, "17");
    tsr_multiview_destroy(&textures);
    tsr_texturer_destroy(&x);
    drop(&s);
    tsr_context_destroy(&context);
}

/* ---- atlases ------------------------------------------------------------------------------------------------------------------------- */

/* A bent grid over the whole atlas: every texel belongs to one triangle, none to two, whatever the corners are. */
static void test_neighbours_share_no_texel(void **state)
{
    (void)state;
    enum { N = 9 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    for (int turn = 0; turn < 20; turn++) {
        float position[N * N * 3] = { 0 }, uv[N * N * 2];
        uint32_t triangle[(N - 1) * (N - 1) * 6], *t = triangle;
        const int32_t picture[] = { 8, 8 };
        tsr_camera camera = { .fov = 40 };
        require_ok(tsr_camera_look_at(&camera, (tsr_vec3){ 0, 0, 5 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 1, 0 }));
        for (int i = 0; i < N * N; i++)
            for (int k = 0; k < 2; k++) {
                const int at = k ? i / N : i % N;
                const double moved = at > 0 && at < N - 1 ? ((double)(test_random(&seed) % 1000) / 1000 - 0.5) * 0.5 : 0;
                uv[2 * i + k] = (float)((at + moved) / (N - 1));
                position[3 * i + k] = uv[2 * i + k];
            }
        for (int i = 0; i < N * (N - 1); i++) {
            if (i % N == N - 1) continue;
            const uint32_t a = (uint32_t)i, corner[6] = { a, a + 1, a + N + 1, a, a + N + 1, a + N };
            for (int k = 0; k < 6; k++) *t++ = corner[turn % 2 ? 5 - k : k];
        }
        const tsr_multiview_parts p = { .struct_size = sizeof p,
                                        .width = 61,
                                        .height = 47,
                                        .cameras = 1,
                                        .steps = 1,
                                        .vertices = N * N,
                                        .triangles = (N - 1) * (N - 1) * 2,
                                        .triangle = triangle,
                                        .place = uv,
                                        .position = position,
                                        .camera = &camera,
                                        .camera_steps = 1,
                                        .picture = picture };
        tsr_multiview_model *model;
        tsr_texturer *x;
        require_ok(tsr_multiview_model_create(&p, &model));
        require_ok(tsr_texturer_create(context, model, &x));
        const tsr_texturer_report r = *tsr_texturer_look(x);
        assert_int_equal(r.texels, 61 * 47);
        assert_int_equal(r.overlapping, 0);
        assert_int_equal(r.degenerate, 0);
        tsr_texturer_destroy(&x);
        tsr_multiview_model_destroy(&model);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visibility_of_the_dancer),
        cmocka_unit_test(test_visibility_of_a_sphere_and_a_cube),
        cmocka_unit_test(test_colors_are_the_skin),
        cmocka_unit_test(test_a_plate_is_sampled_exactly),
        cmocka_unit_test(test_every_device_and_thread_count_agree),
        cmocka_unit_test(test_masks_are_made_again_from_bytes),
        cmocka_unit_test(test_views_look_like_the_footage),
        cmocka_unit_test(test_gutters),
        cmocka_unit_test(test_neighbours_share_no_texel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
