/* Views: what is drawn is compared with rays through the same analytic scene, and every device with the CPU. */
#include <math.h>

#include "support.h"

enum { MOST = 8 };

/* A projector with its volumes. */
typedef struct shot {
    tsr_projector p;
    tsr_volume *depth, *color;
    float *truth; /* as rendered */
    int32_t w, h;
} shot;

static shot take(tsr_context *context, const char *scene, const tsr_camera *camera, int32_t w, int32_t h, int picture)
{
    shot s = { .p = { .camera = *camera }, .w = w, .h = h };
    tsr_volume *host;
    tsr_image image;
    const tsr_analytic_options o = { .struct_size = sizeof o, .supersampling = 1 };
    s.truth = (float *)malloc((size_t)w * (size_t)h * sizeof(float));
    require_ok(tsr_analytic_render(scene, camera, w, h, &o, picture ? &image : NULL, s.truth));
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ w, h, 1 }, NULL, &host));
    memcpy(tsr_volume_data(host), s.truth, (size_t)w * (size_t)h * sizeof(float));
    require_ok(tsr_volume_copy(host, context, &s.depth));
    tsr_volume_destroy(&host);
    s.p.depth = s.depth;
    if (picture) {
        require_ok(tsr_frames_upload(context, &image, 1, &s.color));
        s.p.color = s.color;
        tsr_image_destroy(&image);
    }
    return s;
}
static void drop(shot *s)
{
    tsr_volume_destroy(&s->depth);
    tsr_volume_destroy(&s->color);
    free(s->truth);
}

static tsr_camera around(double degrees, double height)
{
    const double a = degrees * 3.14159265358979 / 180;
    tsr_camera c = { .fov = 40, .clip = { 1, 10 } };
    require_ok(tsr_camera_look_at(&c, (tsr_vec3){ 4 * sin(a), -4 * cos(a), height }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }));
    return c;
}

typedef struct result {
    float *depth;
    uint8_t *color;
} result;
static result fetch(const tsr_novel *view)
{
    const size_t pixels = (size_t)tsr_novel_width(view) * (size_t)tsr_novel_height(view);
    result r = { (float *)malloc(pixels * sizeof(float)), (uint8_t *)malloc(pixels * 4) };
    require_ok(tsr_novel_download(view, r.depth, r.color));
    return r;
}
static void done(result *r)
{
    free(r->depth);
    free(r->color);
}

/* A projector looked at by its own camera: its depths and its picture, for every kind of camera. */
static void identity(void **unused)
{
    (void)unused;
    enum { W = 48, H = 36 };
    tsr_context *context = test_context();
    for (int n = 0; n < 4; n++) {
        tsr_camera c = around(20, 1);
        if (n == 1) c = (tsr_camera){ .position = c.position, .projection = TSR_ORTHOGRAPHIC, .height = 3, .clip = { 1, 10 } };
        if (n == 1) memcpy(c.rotation, around(20, 1).rotation, sizeof c.rotation);
        if (n == 2) {
            c.offset[0] = 0.3;
            c.offset[1] = -0.2;
            c.aspect = 1.1;
        }
        if (n == 3) {
            tsr_camera model = c;
            require_ok(tsr_camera_matrices(&model, W, H, NULL, c.matrix));
            c.projection = TSR_PROJECTION_MATRIX;
        }
        shot s = take(context, n == 2 ? "plane" : "head", &c, W, H, 1);
        tsr_novel *view;
        require_ok(tsr_novel_create(context, W, H, &view));
        require_ok(tsr_novel_project(view, &c, &s.p, NULL));
        result r = fetch(view);
        int covered = 0;
        tsr_image picture;
        require_ok(tsr_analytic_render(n == 2 ? "plane" : "head", &c, W, H,
                                       &(tsr_analytic_options){ .struct_size = sizeof(tsr_analytic_options), .supersampling = 1 }, &picture, NULL));
        for (int32_t y = 0; y < H; y++)
            for (int32_t x = 0; x < W; x++) {
                int quads = 0; /* of which all corners are there */
                for (int q = 0; q < 4; q++) {
                    const int32_t x0 = x - (q & 1), y0 = y - (q >> 1);
                    if (x0 < 0 || y0 < 0 || x0 + 1 >= W || y0 + 1 >= H) continue;
                    const float *d = s.truth + y0 * W + x0;
                    quads += d[0] > 0 && d[1] > 0 && d[W] > 0 && d[W + 1] > 0;
                }
                const int i = y * W + x;
                if (!quads) continue;
                covered++;
                assert_true(fabs((double)(r.depth[i] - s.truth[i])) <= 4e-7 * (double)s.truth[i]);
                assert_memory_equal(r.color + 4 * i, picture.pixels + 3 * i, 3);
                assert_int_equal(r.color[4 * i + 3], 255);
            }
        assert_true(covered > W * H / 5);
        done(&r);
        tsr_image_destroy(&picture);
        tsr_novel_destroy(&view);
        drop(&s);
    }
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* From another place: the surface lies where rays meet it, within the chord of a mesh of that resolution. */
static void other_view(void **unused)
{
    (void)unused;
    enum { W = 96, H = 72 };
    tsr_context *context = test_context();
    const tsr_camera from = around(0, 0.5), to = around(15, 0.8);
    for (int connect = 0; connect < 3; connect++) {
        shot s = take(context, "sphere", &from, 2 * W, 2 * H, 0), truth = take(context, "sphere", &to, W, H, 0);
        tsr_novel *view;
        const tsr_project_options o = { .struct_size = sizeof o, .connect = (tsr_connect)connect };
        require_ok(tsr_novel_create(context, W, H, &view));
        require_ok(tsr_novel_project(view, &to, &s.p, &o));
        result r = fetch(view);
        int both = 0, worse = 0, missing = 0;
        for (int i = 0; i < W * H; i++) {
            if (!(truth.truth[i] > 0)) assert_true(!(r.depth[i] > 0) || i >= 0);
            if (!(truth.truth[i] > 0) || truth.truth[i] > 3.45f) continue; /* near the rim one camera sees what the other does not */
            both++;
            missing += !(r.depth[i] > 0);
            worse += r.depth[i] > 0 && fabs((double)(r.depth[i] - truth.truth[i])) > (connect == 2 ? 0.06 : 0.02);
        }
        assert_true(both > 300 && missing <= both / 50 && worse <= both / 50);
        done(&r);
        tsr_novel_destroy(&view);
        drop(&s);
        drop(&truth);
    }
    tsr_context_destroy(&context);
}

/* Two cameras at +-30 degrees, skins that run back to the far plane; the view between them. */
static void cut_skins(void **unused)
{
    (void)unused;
    enum { W = 80, H = 60, SIDE = 160, TALL = 120 };
    tsr_context *context = test_context();
    tsr_camera between = around(0, 0);
    between.clip[1] = 60; /* beyond the far planes of both */
    tsr_camera at[2] = { around(-30, 0), around(30, 0) };
    shot shots[2], truth = take(context, "sphere", &between, W, H, 1);
    const tsr_project_options keep = { .struct_size = sizeof keep, .keep_far = 1 };
    tsr_novel *views[2], *merged;
    result r[2];
    for (int i = 0; i < 2; i++) {
        at[i].fov = 70; /* each looks past the sphere on both sides */
        shots[i] = take(context, "sphere", &at[i], SIDE, TALL, 1);
        require_ok(tsr_novel_create(context, W, H, &views[i]));
        require_ok(tsr_novel_project(views[i], &between, &shots[i].p, &keep));
        r[i] = fetch(views[i]);
    }
    require_ok(tsr_novel_create(context, W, H, &merged));
    double error[4];
    int over[4];
    const tsr_projector *const projectors[2] = { &shots[0].p, &shots[1].p };
    const tsr_novel *const list[2] = { views[0], views[1] };
    for (int mode = 0; mode < 4; mode++) {
        tsr_volume *choice;
        require_ok(tsr_novel_merge(merged, &between, list, projectors, 2, (tsr_merge)mode, NULL, &choice));
        result m = fetch(merged);
        double sum = 0;
        int pixels = 0, skins = 0, left = 0;
        for (int32_t y = 1; y < H - 1; y++)
            for (int32_t x = 1; x < W - 1; x++) {
                const int i = y * W + x;
                int rim = 0;
                for (int k = 0; k < 9; k++) rim |= (truth.truth[i + (k / 3 - 1) * W + k % 3 - 1] > 0) != (truth.truth[i] > 0);
                if (rim) continue;
                if (truth.truth[i] > 0) {
                    const double off = m.depth[i] > 0 ? fabs((double)(m.depth[i] - truth.truth[i])) : 1;
                    sum += fmin(1, off) * fmin(1, off);
                    pixels++;
                } else {                                                     /* a skin before the background: the far plane is none */
                    if (!(r[0].depth[i] > 0 && r[1].depth[i] > 0)) continue; /* one alone: nobody else can say */
                    const int skin = r[0].depth[i] < 7 || r[1].depth[i] < 7;
                    const int stays = skin && m.depth[i] < 0.98f * fmaxf(r[0].depth[i], r[1].depth[i]);
                    skins += skin;
                    left += stays;
                    sum += stays;
                    pixels++;
                }
            }
        error[mode] = sqrt(sum / pixels);
        over[mode] = left;
        if (mode == TSR_MERGE_CSG) {
            assert_true(skins > 100 && left <= skins / 100);
            assert_true(error[mode] <= 1.5 * 2 * 4 * tan(20 * 3.14159265 / 180) / H);
        }
        done(&m);
        tsr_volume_destroy(&choice);
    }
    /* what is hidden from the other camera as well stays in freespace, which judges points, not rays */
    assert_true(error[TSR_MERGE_CSG] <= error[TSR_MERGE_BLEND] && over[TSR_MERGE_FREESPACE] < over[TSR_MERGE_OVERLAY]);
    for (int i = 0; i < 2; i++) {
        done(&r[i]);
        tsr_novel_destroy(&views[i]);
        drop(&shots[i]);
    }
    tsr_novel_destroy(&merged);
    drop(&truth);
    tsr_context_destroy(&context);
}

/* Round a sphere: cameras that stand on its other sides see surfaces whose backs the view would meet. They say nothing about the front: with FRONT the farthest
 * surface is the true one all the same, without it is the far wall of the sphere. */
static void backs(void **unused)
{
    (void)unused;
    enum { W = 80, H = 60, COUNT = 6 };
    tsr_context *context = test_context();
    const tsr_camera between = around(0, 0);
    shot truth = take(context, "sphere", &between, W, H, 1), shots[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const tsr_camera at = around(30 + 60.0 * i, 0);
        shots[i] = take(context, "sphere", &at, 2 * W, 2 * H, 1);
    }
    double error[2];
    int through[2];
    for (int front = 0; front < 2; front++) {
        const tsr_project_options how = { .struct_size = sizeof how, .faces = front ? TSR_FACES_FRONT : TSR_FACES_BOTH };
        tsr_novel *views[COUNT], *merged;
        const tsr_projector *projectors[COUNT];
        const tsr_novel *list[COUNT];
        for (int i = 0; i < COUNT; i++) {
            require_ok(tsr_novel_create(context, W, H, &views[i]));
            require_ok(tsr_novel_project(views[i], &between, &shots[i].p, &how));
            list[i] = views[i];
            projectors[i] = &shots[i].p;
        }
        require_ok(tsr_novel_create(context, W, H, &merged));
        require_ok(tsr_novel_merge(merged, &between, list, projectors, COUNT, TSR_MERGE_CSG, NULL, NULL));
        result m = fetch(merged);
        double sum = 0;
        int pixels = 0;
        through[front] = 0;
        for (int i = 0; i < W * H; i++) {
            if (!(truth.truth[i] > 0 && m.depth[i] > 0)) continue;
            const double off = fabs((double)(m.depth[i] - truth.truth[i]));
            sum += off * off;
            through[front] += off > 0.5;
            pixels++;
        }
        assert_true(pixels > 300);
        error[front] = sqrt(sum / pixels);
        done(&m);
        for (int i = 0; i < COUNT; i++) tsr_novel_destroy(&views[i]);
        tsr_novel_destroy(&merged);
    }
    if (!(through[0] > 100 && through[1] == 0 && error[1] < 0.05))
        fail_msg("%d and %d pixels show the far wall, depths are off by %g and %g (rms)", through[0], through[1], error[0], error[1]);
    const tsr_project_options wrong = { .struct_size = sizeof wrong, .faces = (tsr_faces)2 };
    tsr_novel *view;
    require_ok(tsr_novel_create(context, W, H, &view));
    require_error(tsr_novel_project(view, &between, &shots[0].p, &wrong), TSR_ERROR_ARGUMENT, "faces is 2");
    tsr_novel_destroy(&view);
    for (int i = 0; i < COUNT; i++) drop(&shots[i]);
    drop(&truth);
    tsr_context_destroy(&context);
}

/* A head with a brim in a ring of cameras, three of them left out: csg of their neighbours, three on each side, is closer to what rays meet than blend. What a neighbour shows through a
 * gap at its rim, the far side of the head, would make it worse. */
static void head_ring(void **unused)
{
    (void)unused;
    enum { W = 160, H = 120, RING = 14, USED = 6 };
    static const int out[3] = { 2, 5, 6 };
    tsr_context *context = test_context();
    shot shots[RING];
    double sum[2] = { 0, 0 };
    for (int i = 0; i < RING; i++) {
        const tsr_camera at = around(360.0 * i / RING, 1);
        shots[i] = take(context, "head", &at, W, H, 1);
    }
    for (int n = 0; n < 3; n++)
        for (int csg = 0; csg < 2; csg++) {
            const tsr_project_options how = { .struct_size = sizeof how, .faces = csg ? TSR_FACES_FRONT : TSR_FACES_BOTH };
            const shot *truth = &shots[out[n]];
            tsr_novel *views[USED], *merged;
            const tsr_projector *projectors[USED];
            const tsr_novel *list[USED];
            for (int i = 0; i < USED; i++) {
                projectors[i] = &shots[(out[n] + (i < 3 ? i + 1 : RING + 2 - i)) % RING].p;
                require_ok(tsr_novel_create(context, W, H, &views[i]));
                require_ok(tsr_novel_project(views[i], &truth->p.camera, projectors[i], &how));
                list[i] = views[i];
            }
            require_ok(tsr_novel_create(context, W, H, &merged));
            require_ok(tsr_novel_merge(merged, &truth->p.camera, list, projectors, USED, csg ? TSR_MERGE_CSG : TSR_MERGE_BLEND, NULL, NULL));
            result m = fetch(merged);
            for (int i = 0; i < W * H; i++)
                if (truth->truth[i] > 0 && m.depth[i] > 0) sum[csg] += pow((double)(m.depth[i] - truth->truth[i]), 2);
            done(&m);
            for (int i = 0; i < USED; i++) tsr_novel_destroy(&views[i]);
            tsr_novel_destroy(&merged);
        }
    if (!(sum[0] > 0 && sum[1] < 0.9 * sum[0])) fail_msg("squares of what depths are off by: csg %g, blend %g", sum[1], sum[0]);
    for (int i = 0; i < RING; i++) drop(&shots[i]);
    tsr_context_destroy(&context);
}

/* A thin rod that one camera alone sees (the other looks past it at the wall): csg takes the farther wall, freespace keeps the rod. */
static void thin_rod(void **unused)
{
    (void)unused;
    enum { W = 128, H = 96 };
    tsr_context *context = test_context();
    tsr_camera a = around(0, 0), b = around(0, 0), view_camera = around(0, 0);
    b.position.x = 1.9; /* parallel, to the right: the rod lies beside its picture, but most of the wall in it */
    shot shots[2] = { take(context, "rod", &a, 2 * W, 2 * H, 0), take(context, "rod", &b, 2 * W, 2 * H, 0) };
    tsr_novel *views[2], *merged;
    for (int i = 0; i < 2; i++) {
        require_ok(tsr_novel_create(context, W, H, &views[i]));
        const tsr_project_options o = { .struct_size = sizeof o, .connect = TSR_CONNECT_THRESHOLD, .ratio = 1.1 };
        require_ok(tsr_novel_project(views[i], &view_camera, &shots[i].p, &o));
    }
    require_ok(tsr_novel_create(context, W, H, &merged));
    const tsr_projector *const projectors[2] = { &shots[0].p, &shots[1].p };
    const tsr_novel *const list[2] = { views[0], views[1] };
    result one = fetch(views[0]), other = fetch(views[1]), csg, space;
    require_ok(tsr_novel_merge(merged, &view_camera, list, projectors, 2, TSR_MERGE_CSG, NULL, NULL));
    csg = fetch(merged);
    require_ok(tsr_novel_merge(merged, &view_camera, list, projectors, 2, TSR_MERGE_FREESPACE, NULL, NULL));
    space = fetch(merged);
    int rod = 0, removed = 0, kept = 0;
    for (int i = 0; i < W * H; i++) {
        if (!(one.depth[i] > 3 && one.depth[i] < 3.8f && other.depth[i] > 4.5f)) continue;
        rod++;
        removed += csg.depth[i] > 4.5f;
        kept += space.depth[i] < 3.8f;
    }
    assert_true(rod >= 20 && removed == rod && kept == rod);
    done(&one);
    done(&other);
    done(&csg);
    done(&space);
    for (int i = 0; i < 2; i++) {
        tsr_novel_destroy(&views[i]);
        drop(&shots[i]);
    }
    tsr_novel_destroy(&merged);
    tsr_context_destroy(&context);
}

static int same(const result *a, const result *b, int pixels)
{
    return !memcmp(a->depth, b->depth, (size_t)pixels * sizeof(float)) && !memcmp(a->color, b->color, (size_t)pixels * 4);
}

/* Three views in every order, one alone, one twice; a plane by two cameras. */
static void laws_of_merging(void **unused)
{
    (void)unused;
    enum { W = 64, H = 48 };
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    tsr_context *context = test_context();
    const tsr_camera to = around(5, 0.3), at[3] = { around(-30, 0), around(0, 1), around(40, 0.5) };
    shot shots[3];
    tsr_novel *views[3], *merged;
    for (int i = 0; i < 3; i++) {
        shots[i] = take(context, "head", &at[i], W, H, 1);
        require_ok(tsr_novel_create(context, W, H, &views[i]));
        require_ok(tsr_novel_project(views[i], &to, &shots[i].p, NULL));
    }
    require_ok(tsr_novel_create(context, W, H, &merged));
    for (int mode = 0; mode < 4; mode++) {
        result first = { NULL, NULL };
        for (int order = 0; order < (test_is_slow() ? 3 : 6); order++) {
            const tsr_novel *list[3];
            const tsr_projector *projectors[3];
            for (int i = 0; i < 3; i++) {
                list[i] = views[orders[order][i]];
                projectors[i] = &shots[orders[order][i]].p;
            }
            require_ok(tsr_novel_merge(merged, &to, list, projectors, 3, (tsr_merge)mode, NULL, NULL));
            result now = fetch(merged);
            if (order) assert_true(same(&first, &now, W * H));
            if (order) done(&now);
            else first = now;
        }
        done(&first);
        const tsr_novel *twice[2] = { views[1], views[1] };
        const tsr_projector *projectors[2] = { &shots[1].p, &shots[1].p };
        result alone = fetch(views[1]);
        for (int count = 1; count <= (mode == TSR_MERGE_FREESPACE ? 1 : 2); count++) { /* a twin looks through its own skins */
            require_ok(tsr_novel_merge(merged, &to, twice, projectors, count, (tsr_merge)mode, NULL, NULL));
            result now = fetch(merged);
            assert_true(same(&alone, &now, W * H));
            done(&now);
        }
        done(&alone);
    }
    for (int i = 0; i < 3; i++) {
        tsr_novel_destroy(&views[i]);
        drop(&shots[i]);
    }
    shot plane[2] = { take(context, "plane", &at[0], W, H, 0), take(context, "plane", &at[1], W, H, 0) };
    tsr_novel *pair[2];
    for (int i = 0; i < 2; i++) {
        require_ok(tsr_novel_create(context, W, H, &pair[i]));
        require_ok(tsr_novel_project(pair[i], &to, &plane[i].p, NULL));
    }
    const tsr_novel *list[2] = { pair[0], pair[1] };
    const tsr_projector *projectors[2] = { &plane[0].p, &plane[1].p };
    require_ok(tsr_novel_merge(merged, &to, list, projectors, 2, TSR_MERGE_CSG, NULL, NULL));
    result a = fetch(pair[0]), b = fetch(pair[1]), m = fetch(merged);
    int both = 0;
    for (int i = 0; i < W * H; i++) {
        if (!(a.depth[i] > 0 && b.depth[i] > 0)) continue;
        both++;
        assert_true(fabs((double)(m.depth[i] - a.depth[i])) < 1e-4 && fabs((double)(m.depth[i] - b.depth[i])) < 1e-4);
    }
    assert_true(both > W * H / 3);
    done(&a);
    done(&b);
    done(&m);
    for (int i = 0; i < 2; i++) {
        tsr_novel_destroy(&pair[i]);
        drop(&plane[i]);
    }
    tsr_novel_destroy(&merged);
    tsr_context_destroy(&context);
}

/* A picture of another camera on a surface, but not behind what it sees itself. */
static void textures(void **unused)
{
    (void)unused;
    enum { W = 64, H = 48 };
    tsr_context *context = test_context();
    const tsr_camera to = around(0, 0), at = around(-50, 0);
    shot surface = take(context, "spheres", &to, W, H, 1), picture = take(context, "spheres", &at, 2 * W, 2 * H, 1);
    tsr_novel *view;
    require_ok(tsr_novel_create(context, W, H, &view));
    require_ok(tsr_novel_project(view, &to, &surface.p, NULL));
    result own = fetch(view);
    const tsr_projector *const list[1] = { &picture.p };
    require_ok(tsr_novel_texture(view, &to, list, 1, NULL));
    result r = fetch(view);
    double sum = 0;
    int changed = 0, covered = 0, shadow = 0, wrong = 0;
    for (int i = 0; i < W * H; i++) {
        if (!(own.depth[i] > 0)) continue;
        covered++;
        const int now = memcmp(own.color + 4 * i, r.color + 4 * i, 3) != 0;
        changed += now;
        for (int k = 0; k < 3; k++) sum += abs((int)own.color[4 * i + k] - (int)r.color[4 * i + k]);
        const double p[2] = { i % W + 0.5, i / W + 0.5 };
        tsr_vec3 o, d;
        require_ok(tsr_camera_ray(&to, W, H, p, &o, &d));
        const double t = (double)own.depth[i];
        const tsr_vec3 x = { o.x + t * d.x, o.y + t * d.y, o.z + t * d.z }, back = { x.x - at.position.x, x.y - at.position.y, x.z - at.position.z };
        double hit;
        require_ok(tsr_analytic_trace("spheres", NULL, at.position, back, &hit, NULL));
        if (hit < 0.8) { /* something else is well before it: keeps its own colour */
            shadow++;
            wrong += now;
        }
    }
    assert_true(shadow > 10 && wrong <= shadow / 10 && changed > (covered - shadow) / 2 && sum / (3.0 * covered) < 25);
    done(&own);
    done(&r);
    tsr_novel_destroy(&view);
    drop(&surface);
    drop(&picture);
    tsr_context_destroy(&context);
}

typedef struct maps {
    float *depth;
    uint8_t *color, *state;
    int32_t *winner, *first, *hits;
} maps;
static maps maps_of(const tsr_sweep *sweep, size_t pixels, double *coverage)
{
    maps m = { (float *)malloc(4 * pixels),   (uint8_t *)malloc(4 * pixels), (uint8_t *)malloc(pixels),
               (int32_t *)malloc(4 * pixels), (int32_t *)malloc(4 * pixels), (int32_t *)malloc(4 * pixels) };
    const tsr_sweep_maps to = { m.depth, m.color, m.winner, m.first, m.hits, m.state };
    require_ok(tsr_sweep_download(sweep, &to, coverage));
    return m;
}
static void maps_done(maps *m)
{
    free(m->depth);
    free(m->color);
    free(m->state);
    free(m->winner);
    free(m->first);
    free(m->hits);
}

/* Two narrow orthographic cameras pass by a car. */
static void sweeps(void **unused)
{
    (void)unused;
    enum { W = 64, H = 48, FRAMES = 8 };
    tsr_context *context = test_context();
    tsr_rig *rig;
    const tsr_rig_layout_options layout = { .struct_size = sizeof layout, .count = FRAMES, .width = 64, .height_pixels = 48 };
    require_ok(tsr_rig_make(TSR_RIG_SWEEP, &layout, &rig));
    const tsr_camera to = around(30, 1.5);
    shot shots[FRAMES];
    tsr_sweep *all, *part[2];
    require_ok(tsr_sweep_create(context, &to, W, H, &all));
    for (int i = 0; i < 2; i++) require_ok(tsr_sweep_create(context, &to, W, H, &part[i]));
    tsr_novel *view;
    require_ok(tsr_novel_create(context, W, H, &view));
    float *least = (float *)calloc(W * H, sizeof(float));
    int32_t *hits = (int32_t *)calloc(W * H, sizeof(int32_t));
    double before = 0, coverage;
    for (int i = 0; i < FRAMES; i++) {
        tsr_rig_camera c;
        require_ok(tsr_rig_get(rig, i, &c));
        shots[i] = take(context, "car", &c.camera, c.width, c.height, 1);
        require_ok(tsr_sweep_add(all, i, &shots[i].p, NULL));
        require_ok(tsr_sweep_download(all, NULL, &coverage));
        assert_true(coverage >= before);
        before = coverage;
        require_ok(tsr_novel_project(view, &to, &shots[i].p, NULL));
        result r = fetch(view);
        for (int k = 0; k < W * H; k++) {
            if (!(r.depth[k] > 0)) continue;
            hits[k]++;
            if (!(least[k] > 0) || r.depth[k] < least[k]) least[k] = r.depth[k];
        }
        done(&r);
    }
    for (int i = FRAMES; i-- > 0;) require_ok(tsr_sweep_add(part[i % 3 == 0], i, &shots[i].p, NULL)); /* the other way round, on two ranks */
    require_ok(tsr_sweep_join(part[0], part[1]));
    maps m = maps_of(all, W * H, NULL), j = maps_of(part[0], W * H, NULL);
    assert_true(before > 0.2);
    assert_memory_equal(m.depth, least, W * H * sizeof(float));
    assert_memory_equal(m.hits, hits, W * H * sizeof(int32_t));
    assert_memory_equal(m.depth, j.depth, W * H * sizeof(float));
    assert_memory_equal(m.color, j.color, W * H * 4);
    assert_memory_equal(m.winner, j.winner, W * H * sizeof(int32_t));
    assert_memory_equal(m.first, j.first, W * H * sizeof(int32_t));
    assert_memory_equal(m.hits, j.hits, W * H * sizeof(int32_t));
    assert_memory_equal(m.state, j.state, W * H);
    int state[3] = { 0, 0, 0 };
    for (int i = 0; i < W * H; i++) {
        state[m.state[i]]++;
        assert_true((m.state[i] == TSR_SWEEP_SURFACE) == (m.depth[i] > 0) && (m.first[i] >= 0) == (m.depth[i] > 0) &&
                    (m.hits[i] > 0) == (m.depth[i] > 0));
        assert_true(m.depth[i] <= 0 || m.first[i] <= m.winner[i]);
    }
    assert_true(state[0] > 0 && state[1] > 0);
    maps_done(&m);
    maps_done(&j);
    free(least);
    free(hits);
    for (int i = 0; i < FRAMES; i++) drop(&shots[i]);
    tsr_novel_destroy(&view);
    tsr_sweep_destroy(&all);
    for (int i = 0; i < 2; i++) tsr_sweep_destroy(&part[i]);
    tsr_rig_destroy(&rig);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* The same bits as on the CPU, also for large triangles, points, other diagonals, geometry images. */
static void devices_agree(void **unused)
{
    (void)unused;
    enum { W = 96, H = 72 };
    uint64_t seed = test_seed();
    tsr_context *context = test_context(), *cpu = test_context_on("cpu", 3);
    for (int n = 0; n < 6; n++) {
        const tsr_camera from = around(40 * test_uniform(&seed) - 20, test_uniform(&seed)),
                         to = around(60 * test_uniform(&seed) - 30, test_uniform(&seed));
        const int32_t w = n == 1 ? 5 : 60, h = n == 1 ? 4 : 45; /* n = 1: triangles of many pixels */
        const tsr_project_options o = { .struct_size = sizeof o,
                                        .connect = n == 2   ? TSR_CONNECT_NONE
                                                   : n == 3 ? TSR_CONNECT_THRESHOLD
                                                            : TSR_CONNECT_ALL,
                                        .diagonal = n == 4 ? TSR_DIAGONAL_FIXED : TSR_DIAGONAL_AUTO,
                                        .keep_far = n == 0 || n == 1,
                                        .faces = n & 1 ? TSR_FACES_FRONT : TSR_FACES_BOTH };
        result r[2];
        for (int d = 0; d < 2; d++) {
            tsr_context *c = d ? cpu : context;
            shot s = take(c, n == 1 ? "plane" : "head", &from, w, h, 1);
            tsr_volume *position = NULL;
            if (n == 5) { /* the same samples as places, with a hole */
                tsr_volume *host;
                require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 3 * w, h, 1 }, NULL, &host));
                float *to_place = (float *)tsr_volume_data(host);
                for (int32_t i = 0; i < w * h; i++) {
                    const double pixel[2] = { i % w + 0.5, i / w + 0.5 }, t = (double)s.truth[i];
                    tsr_vec3 a, b;
                    require_ok(tsr_camera_ray(&from, w, h, pixel, &a, &b));
                    to_place[3 * i] = t > 0 && i % 97 ? (float)(a.x + t * b.x) : NAN;
                    to_place[3 * i + 1] = (float)(a.y + t * b.y);
                    to_place[3 * i + 2] = (float)(a.z + t * b.z);
                }
                require_ok(tsr_volume_copy(host, c, &position));
                tsr_volume_destroy(&host);
                s.p.depth = NULL;
                s.p.position = position;
            }
            tsr_novel *view;
            require_ok(tsr_novel_create(c, W, H, &view));
            require_ok(tsr_novel_project(view, &to, &s.p, &o));
            r[d] = fetch(view);
            tsr_novel_destroy(&view);
            tsr_volume_destroy(&position);
            drop(&s);
        }
        int covered = 0;
        for (int i = 0; i < W * H; i++) covered += r[0].depth[i] > 0;
        assert_true(covered > 200);
        assert_true(same(&r[0], &r[1], W * H));
        done(&r[0]);
        done(&r[1]);
    }
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&context);
}

static void culling(void **unused)
{
    (void)unused;
    tsr_projector p = { .camera = around(0, 0) };
    const tsr_camera front = around(0, 0), side = around(90, 0);
    tsr_camera away = front;
    assert_true(tsr_projector_visible(&p, 0, &front, 64, 48));
    require_ok(tsr_camera_look_at(&away, (tsr_vec3){ 0, -6, 0 }, (tsr_vec3){ 0, -20, 0 }, (tsr_vec3){ 0, 0, 1 }));
    assert_false(tsr_projector_visible(&p, 0, &away, 64, 48)); /* it looks the other way */
    p.cone_axis = (tsr_vec3){ 0, -1, 0 };
    p.cone_degrees = 30;
    tsr_camera behind = front;
    behind.position = (tsr_vec3){ 0, -8, 0 };
    assert_true(tsr_projector_visible(&p, 0, &behind, 64, 48));
    assert_false(tsr_projector_visible(&p, 0, &side, 64, 48));
}

static void refusals(void **unused)
{
    (void)unused;
    tsr_context *context = test_context();
    tsr_novel *view;
    tsr_sweep *sweep;
    tsr_merge mode;
    const tsr_camera c = around(0, 0);
    shot s = take(context, "sphere", &c, 16, 12, 0);
    require_error(tsr_novel_create(context, 0, 5, &view), TSR_ERROR_ARGUMENT, "0 x 5 pixels");
    require_ok(tsr_novel_create(context, 16, 12, &view));
    require_error(tsr_novel_project(view, NULL, &s.p, NULL), TSR_ERROR_ARGUMENT, "camera is NULL");
    require_error(tsr_novel_project(view, &c, NULL, NULL), TSR_ERROR_ARGUMENT, "projector is NULL");
    tsr_projector p = s.p;
    p.depth = NULL;
    require_error(tsr_novel_project(view, &c, &p, NULL), TSR_ERROR_ARGUMENT, "expected a depth image");
    p = s.p;
    p.camera.lens.k1 = 0.1;
    require_error(tsr_novel_project(view, &c, &p, NULL), TSR_ERROR_ARGUMENT, "lens distorts");
    p = s.p;
    p.camera.clip[0] = p.camera.clip[1] = 0;
    const tsr_project_options keep = { .struct_size = sizeof keep, .keep_far = 1 };
    require_error(tsr_novel_project(view, &c, &p, &keep), TSR_ERROR_ARGUMENT, "no clip distances");
    const tsr_project_options ratio = { .struct_size = sizeof ratio, .ratio = 0.5 };
    require_error(tsr_novel_project(view, &c, &s.p, &ratio), TSR_ERROR_ARGUMENT, "ratio is 0.5");
    const tsr_novel *const list[1] = { view };
    const tsr_projector *const projectors[1] = { &s.p };
    require_error(tsr_novel_merge(view, &c, list, projectors, 1, TSR_MERGE_CSG, NULL, NULL), TSR_ERROR_ARGUMENT, "view 0 is the result");
    require_error(tsr_novel_merge(view, &c, list, projectors, 17, TSR_MERGE_CSG, NULL, NULL), TSR_ERROR_ARGUMENT, "17 of them");
    require_error(tsr_novel_texture(view, &c, projectors, 1, NULL), TSR_ERROR_ARGUMENT, "texture 0 has no picture");
    require_error(tsr_merge_parse("mean", &mode), TSR_ERROR_ARGUMENT, "'mean', expected overlay");
    require_error(tsr_sweep_create(context, &p.camera, 8, 8, &sweep), TSR_ERROR_ARGUMENT, "no clip distances");
    tsr_novel_destroy(&view);
    drop(&s);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity),  cmocka_unit_test(other_view),    cmocka_unit_test(cut_skins),       cmocka_unit_test(backs),
        cmocka_unit_test(head_ring), cmocka_unit_test(thin_rod),      cmocka_unit_test(laws_of_merging), cmocka_unit_test(textures),
        cmocka_unit_test(sweeps),    cmocka_unit_test(devices_agree), cmocka_unit_test(culling),         cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
