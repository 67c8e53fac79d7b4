/* The same picture on cpu (any thread count, any SIMD variant) and emu, bit for bit; on cuda, if there is one, within a tolerance. */
#include "device/isa.h"
#include "scenes.h"

enum { SIZE = 40 };

static double blobs(double x, double y, double z)
{
    double a = sqrt((x + 3) * (x + 3) + y * y + z * z) - 6, b = sqrt((x - 5) * (x - 5) + (y - 2) * (y - 2) + 1.5 * z * z) - 4;
    return fmin(a, b) + 0.4 * sin(x) * sin(y) * sin(z);
}

enum { CASES = 11 };
static test_view draw_case(tsr_context *context, int which)
{
    tsr_volume *volume = test_volume_of(context, 29, (tsr_vec3){ 0.9, 1.0, 1.2 }, blobs);
    tsr_mesh *mesh = test_ball_mesh(10, 9);
    tsr_scene *scene;
    tsr_picture *picture;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    if (which == 4) require_ok(tsr_scene_set_surface_mesh(scene, mesh));
    else require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    require_ok(tsr_scene_describe(scene, &info));
    require_ok(tsr_camera_orbit(&info.bounds, info.space, 33, 25, which == 3 ? TSR_ORTHOGRAPHIC : TSR_PERSPECTIVE, 1, &camera));
    require_ok(tsr_picture_create(context, SIZE, SIZE, &picture));
    tsr_transfer transfer = { .points = 2,
                              .point = { { -6, 0.2f, { 1, 0.5f, 0.2f } }, { 4, 0, { 0.2f, 0.5f, 1 } } },
                              .gaussians = 1,
                              .gaussian = {
                                  { .centre = 1, .width = 1, .gradient_centre = 1, .gradient_width = 0.5f, .alpha = 0.1f, .color = { 0, 1, 0 } } } };
    tsr_render_options options = TSR_RENDER_OPTIONS;
    static const tsr_render_mode modes[CASES] = { TSR_RENDER_SURFACE, TSR_RENDER_VOLUME,   TSR_RENDER_COMBINED, TSR_RENDER_MIP,
                                                  TSR_RENDER_SURFACE, TSR_RENDER_COMBINED, TSR_RENDER_AUTO,     TSR_RENDER_VOLUME,
                                                  TSR_RENDER_VOLUME,  TSR_RENDER_COMBINED, TSR_RENDER_COMBINED };
    tsr_transfer shell = {
        .gaussians = 1,
        .gaussian = { { .width = 0.8f, .gradient_centre = 3, .gradient_width = 2, .alpha = 0.4f, .color = { 0.3f, 0.6f, 1 }, .beyond = 2 } }
    };
    options.mode = modes[which];
    options.transfer = &transfer;
    options.supersampling = which == 0 ? 2 : 1;
    options.jitter = which == 2;
    options.surface_opacity = which == 2 ? 0.6 : 1;
    options.region = which == 5 ? TSR_REGION_OUTSIDE : TSR_REGION_ALL;
    options.clip = which == 5;
    options.clip_normal = (tsr_vec3){ 1, 1, 1 };
    options.clip_offset = 2;
    if (which == 7 || which == 10) { /* three axes, shapes, shear */
        transfer.gaussian[0].level_centre = -1;
        transfer.gaussian[0].level_width = 2;
        transfer.gaussian[0].shear[0] = 0.2f;
        transfer.gaussian[1] =
            (struct tsr_transfer_gaussian){ .centre = -2, .width = 2, .alpha = 0.3f, .color = { 1, 0, 1 }, .shape = TSR_TRANSFER_TRIANGLE };
        transfer.gaussians = 2;
    }
    if (which == 8) {
        transfer.gaussians = 0;
        options.lookup = TSR_LOOKUP_PREINTEGRATED;
        options.lookup_size = 40;
        options.region = TSR_REGION_TINT;
        options.step = 2;
    }
    if (which == 9) {
        options.lookup = TSR_LOOKUP_TABLE;
        options.lookup_size = 50;
        options.surface_opacity = 0.4;
        options.surface_layers = 3;
    }
    if (which == 10) {
        options.surface_transfer = &shell;
        options.clip = 1;
        options.clip_face = TSR_CLIP_QUAD;
        options.clip_volume_only = 1;
    }
    if (which == 6) {
        tsr_slice_options slice = TSR_SLICE_OPTIONS;
        slice.supersampling = 2;
        require_ok(tsr_render_slice(scene, &slice, picture));
    } else {
        require_ok(tsr_render(scene, &camera, &options, picture));
        options.pass = 1;
        if (which >= 7) require_ok(tsr_render(scene, &camera, &options, picture));
    }
    test_view v = test_fetch(picture);
    tsr_picture_destroy(&picture);
    tsr_scene_destroy(&scene);
    tsr_mesh_destroy(&mesh);
    tsr_volume_destroy(&volume);
    return v;
}

static void require_same(int which, const test_view *a, const test_view *b, const char *what)
{
    if (memcmp(a->rgba, b->rgba, SIZE * SIZE * 16) || memcmp(a->depth, b->depth, SIZE * SIZE * 4))
        fail_msg("case %d: %s differs from one thread of the cpu", which, what);
}

static void same_bits_everywhere(void **state)
{
    (void)state;
    tsr_device_info info = TSR_DEVICE_INFO;
    int emu = tsr_device_count(TSR_DEVICE_EMU, &info) > 0;
    for (int which = 0; which < CASES; which++) {
        tsr_context *one = test_context_on("cpu", 1), *two = test_context_on("cpu", 2);
        test_view a = draw_case(one, which), b = draw_case(two, which);
        require_same(which, &a, &b, "two threads");
        test_view_free(&b);
        int seen = 0;
        for (int i = 0; i < SIZE * SIZE; i++) seen += a.rgba[4 * i + 1] != a.rgba[4 * (SIZE + i / SIZE)];
        assert_true(seen > SIZE); /* the picture shows something */
        for (int isa = 0; isa < (int)tsr_isa_current(); isa++) {
            tsr_isa_force(isa);
            b = draw_case(one, which);
            tsr_isa_force(-1);
            require_same(which, &a, &b, tsr_isa_name((tsr_isa)isa));
            test_view_free(&b);
        }
        if (emu) {
            tsr_context *emulator = test_context_on("emu", 0);
            b = draw_case(emulator, which);
            require_same(which, &a, &b, "emu");
            test_view_free(&b);
            tsr_context_destroy(&emulator);
        }
        test_view_free(&a);
        tsr_context_destroy(&one);
        tsr_context_destroy(&two);
    }
    if (!emu) print_message("no emulator module: the comparison with it was left out\n");
}

/* Small things far apart: between them all rays of a packet go the same long way. */
static double scattered(double x, double y, double z)
{
    static const double ball[6][4] = { { -25, -20, 18, 3 }, { 22, 10, -25, 5 }, { 5, -28, -8, 1.2 },
                                       { -8, 24, 22, 4 },   { 28, -25, 27, 2 }, { 0, 2, 1, 6 } };
    double rod = sqrt((x - 0.3 * z) * (x - 0.3 * z) + (y + 8) * (y + 8)) - 0.8;
    for (int i = 0; i < 6; i++) {
        const double dx = x - ball[i][0], dy = y - ball[i][1], dz = z - ball[i][2];
        rod = fmin(rod, sqrt(dx * dx + dy * dy + dz * dz) - ball[i][3]);
    }
    return rod;
}

/* From case REGIONS on: volumes by tables, three axes and regions, of a field or of a tile list. */
enum { REGIONS = 9, FAR_CASES = 19, FAR_VOXELS = 72 };
static void set_region(int which, tsr_transfer *transfer, tsr_render_options *o)
{
    static const tsr_region regions[FAR_CASES - REGIONS] = { TSR_REGION_INSIDE, TSR_REGION_OUTSIDE, TSR_REGION_TINT,   TSR_REGION_INSIDE,
                                                             TSR_REGION_ALL,    TSR_REGION_OUTSIDE, TSR_REGION_INSIDE, TSR_REGION_TINT,
                                                             TSR_REGION_ALL,    TSR_REGION_INSIDE };
    static const tsr_lookup lookups[FAR_CASES - REGIONS] = { TSR_LOOKUP_NONE,          TSR_LOOKUP_NONE,  TSR_LOOKUP_TABLE, TSR_LOOKUP_PREINTEGRATED,
                                                             TSR_LOOKUP_PREINTEGRATED, TSR_LOOKUP_TABLE, TSR_LOOKUP_NONE,  TSR_LOOKUP_NONE,
                                                             TSR_LOOKUP_NONE,          TSR_LOOKUP_TABLE };
    const int i = which - REGIONS;
    o->region = regions[i];
    o->lookup = lookups[i];
    o->lookup_size = 60;
    o->mode = i == 1 || i == 5 ? TSR_RENDER_COMBINED : TSR_RENDER_VOLUME;
    if (i == 1 || i == 5) transfer->point[1].value = 12;
    o->unshaded = i == 4 || i == 6;
    o->supersampling = i == 3 || i == 7 ? 2 : 1;
    if (lookups[i] != TSR_LOOKUP_PREINTEGRATED) {
        transfer->gaussians = 1;
        transfer->gaussian[0] = (struct tsr_transfer_gaussian){
            .centre = 2, .width = 3, .gradient_centre = 1, .gradient_width = 0.4f, .alpha = 0.2f, .color = { 0, 1, 0.3f }
        };
    }
    if (lookups[i] == TSR_LOOKUP_NONE) { /* the surface's field beside it, and other shapes */
        transfer->gaussian[0].level_centre = 3;
        transfer->gaussian[0].level_width = 4;
        transfer->gaussian[0].shear[0] = 0.2f;
        transfer->gaussian[1] =
            (struct tsr_transfer_gaussian){ .centre = -1, .width = 2, .alpha = 0.3f, .color = { 1, 0, 1 }, .shape = TSR_TRANSFER_TRIANGLE };
        transfer->gaussian[2] = (struct tsr_transfer_gaussian){
            .centre = 4, .width = 1, .level_centre = 4, .level_width = 1, .alpha = 0.1f, .color = { 0.2f, 0.8f, 1 }, .shape = TSR_TRANSFER_BOX
        };
        transfer->gaussians = 3;
    }
}

static test_view draw_far(tsr_context *context, const tsr_volume *volume, int which)
{
    tsr_scene *scene;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_transfer transfer = { .points = 2, .point = { { -6, 0.2f, { 1, 0.5f, 0.2f } }, { 4, 0, { 0.2f, 0.5f, 1 } } } };
    const int inverted = which == 3 || which == 4 || which == 8;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    tsr_tiles *tiles = NULL;
    if (which >= REGIONS && which % 3 == 0) {
        tsr_tiles_options list = TSR_TILES_OPTIONS;
        list.band = 3;
        require_ok(tsr_tiles_create(context, tsr_volume_geometry(volume), &list, &tiles));
        require_ok(tsr_tiles_load(tiles, volume));
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
    } else {
        require_ok(tsr_scene_set_surface_volume(scene, volume, 0, !inverted));
    }
    require_ok(tsr_scene_describe(scene, &info));
    require_ok(tsr_camera_orbit(&info.bounds, info.space, 20 + 37 * which, 50 - 13 * which,
                                which == 1 || which == 8 ? TSR_ORTHOGRAPHIC : TSR_PERSPECTIVE, 1, &camera));
    if (which == 2 || which == 7) { /* the eye among them, a wide angle */
        test_look(&camera, (tsr_vec3){ 9, which == 2 ? 4 : -14, 3 }, (tsr_vec3){ -20, 3, 5 });
        camera.fov = which == 2 ? 110 : 60;
    }
    if (which == 1) camera.height *= 0.4;
    options.mode = which == 5 ? TSR_RENDER_COMBINED : TSR_RENDER_SURFACE;
    options.transfer = &transfer;
    options.step = which == 0 ? 1 : 0; /* 0: the mode's own */
    options.jitter = which == 1 || which == 5;
    options.supersampling = which == 6 ? 2 : 1;
    options.surface_opacity = which == 6 ? 0.5 : 1;
    options.clip = which == 4 || which == 5 || which == 7;
    options.clip_normal = (tsr_vec3){ 1, -0.5, 0.7 };
    options.clip_offset = 6;
    if (which >= REGIONS) set_region(which, &transfer, &options);
    test_view v = test_draw(context, scene, &camera, &options, SIZE);
    tsr_scene_destroy(&scene);
    tsr_tiles_destroy(&tiles);
    return v;
}

/* However far packets of rays go at once, the pictures are those of rays that go one by one (emu). */
static void empty_space(void **state)
{
    (void)state;
    tsr_device_info info = TSR_DEVICE_INFO;
    if (tsr_device_count(TSR_DEVICE_EMU, &info) < 1) {
        print_message("no emulator module\n");
        skip();
    }
    tsr_context *cpu = test_context_on("cpu", 1), *emulator = test_context_on("emu", 0);
    tsr_volume *here = test_volume_of(cpu, FAR_VOXELS, (tsr_vec3){ 0.8, 1.0, 1.2 }, scattered),
               *there = test_volume_of(emulator, FAR_VOXELS, (tsr_vec3){ 0.8, 1.0, 1.2 }, scattered);
    for (int which = 0; which < FAR_CASES; which++) {
        test_view a = draw_far(cpu, here, which), b = draw_far(emulator, there, which);
        int hits = 0;
        for (int i = 0; i < SIZE * SIZE; i++)
            hits += which < REGIONS ? isfinite(a.depth[i]) != 0 : fabsf(a.rgba[4 * i + 1] - a.rgba[4 * (i / SIZE * SIZE) + 1]) > 1e-3f;
        assert_true(hits > 10);
        require_same(which, &a, &b, "emu");
        test_view_free(&b);
        for (int isa = 0; isa < (int)tsr_isa_current() && which >= REGIONS; isa++) {
            tsr_isa_force(isa);
            b = draw_far(cpu, here, which);
            tsr_isa_force(-1);
            require_same(which, &a, &b, tsr_isa_name((tsr_isa)isa));
            test_view_free(&b);
        }
        test_view_free(&a);
    }
    tsr_volume_destroy(&here);
    tsr_volume_destroy(&there);
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&emulator);
}

/* Noise in a volume of these extents, some of it NaN, drawn by a function of value and gradient alone: what a GPU draws in a loop of its own. */
static test_view draw_noise(tsr_context *context, int which, tsr_size3 n)
{
    uint64_t seed = 7u + (uint64_t)which;
    const int64_t count = n.x * n.y * n.z;
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.9, 1.1, 1.3 }, (tsr_vec3){ -3, 2, 1 }, TSR_SPACE_RAS);
    tsr_volume *host, *volume;
    tsr_scene *scene;
    tsr_scene_info info = TSR_SCENE_INFO;
    tsr_camera camera;
    tsr_render_options options = TSR_RENDER_OPTIONS;
    tsr_transfer transfer = { .points = 3,
                              .point = { { 0.2f, 0, { 1, 0.5f, 0.2f } }, { 0.6f, 0.2f, { 0.1f, 0.9f, 0.3f } }, { 0.9f, 0.05f, { 0.2f, 0.5f, 1 } } } };
    require_ok(tsr_volume_create(NULL, TSR_F32, n, &g, &host));
    float *v = (float *)tsr_volume_data(host);
    for (int64_t i = 0; i < count; i++) { /* smooth along x, empty in the middle of large ones */
        const double noise = (double)(test_random(&seed) % 1000) / 1000;
        v[i] = count > 5000 && i > count / 3 && i < count / 2
                   ? 0.0f
                   : (float)(0.5 * noise + 0.5 * sin(0.4 * (double)(i % n.x)) * sin(0.4 * (double)(i % n.x)));
        if (which % 3 == 1 && test_random(&seed) % 50 == 0) v[i] = NAN;
    }
    require_ok(tsr_volume_copy(host, context, &volume));
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_ok(tsr_scene_describe(scene, &info));
    require_ok(
        tsr_camera_orbit(&info.bounds, info.space, 33 * which, 60 - 17 * which, which % 4 == 3 ? TSR_ORTHOGRAPHIC : TSR_PERSPECTIVE, 1, &camera));
    options.mode = TSR_RENDER_VOLUME;
    options.transfer = &transfer;
    options.step = (double[3]){ 0.3, 0.5, 1.3 }[which % 3];
    options.unshaded = which % 5 == 4;
    options.jitter = which % 2;
    options.opacity_scale = which % 4 == 2 ? 30 : 1; /* rays that end soon */
    if (which % 4 == 1) {
        transfer.gaussians = 1;
        transfer.gaussian[0] = (struct tsr_transfer_gaussian){
            .centre = 0.5f, .width = 0.2f, .gradient_centre = 0.2f, .gradient_width = 0.2f, .alpha = 0.1f, .color = { 0, 1, 1 }
        };
    }
    if (n.x > 2 && n.y > 2 && n.z > 2 && which % 2) {
        options.region = which % 4 == 1 ? TSR_REGION_INSIDE : TSR_REGION_OUTSIDE;
        require_ok(tsr_scene_set_surface_volume(scene, volume, 0.5, 1));
        options.mode = which % 4 == 1 ? TSR_RENDER_VOLUME : TSR_RENDER_COMBINED;
        options.surface_opacity = 0.4;
    }
    test_view view = test_draw(context, scene, &camera, &options, SIZE);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    tsr_volume_destroy(&host);
    return view;
}

static void noise_of_all_extents(void **state)
{
    static const tsr_size3 extents[] = { { 1, 9, 7 },    { 8, 1, 1 },    { 2, 2, 2 },  { 9, 2, 30 },
                                         { 17, 20, 13 }, { 24, 25, 26 }, { 33, 8, 9 }, { 40, 23, 17 } };
    (void)state;
    tsr_device_info info = TSR_DEVICE_INFO;
    if (tsr_device_count(TSR_DEVICE_EMU, &info) < 1) {
        print_message("no emulator module\n");
        skip();
    }
    tsr_context *cpu = test_context_on("cpu", 1), *emulator = test_context_on("emu", 0);
    for (int which = 0; which < (int)(sizeof extents / sizeof *extents); which++) {
        test_view a = draw_noise(cpu, which, extents[which]), b = draw_noise(emulator, which, extents[which]);
        int seen = 0;
        for (int i = 0; i < SIZE * SIZE; i++) seen += fabsf(a.rgba[4 * i + 1] - a.rgba[4 * (i / SIZE * SIZE) + 1]) > 1e-3f;
        const tsr_size3 n = extents[which];
        if (n.x > 1 && n.y > 1 && n.z > 1) assert_true(seen > 10); /* a plane has no inside */
        require_same(which, &a, &b, "emu");
        test_view_free(&a);
        test_view_free(&b);
    }
    tsr_context_destroy(&cpu);
    tsr_context_destroy(&emulator);
}

static void cuda_within_tolerance(void **state)
{
    (void)state;
    tsr_device_info info = TSR_DEVICE_INFO;
    if (tsr_device_count(TSR_DEVICE_CUDA, &info) < 1) {
        print_message("no CUDA device: %s\n", info.detail);
        skip();
    }
    for (int which = 0; which < CASES; which++) {
        tsr_context *cpu = test_context_on("cpu", 0), *cuda = test_context_on("cuda", 0);
        test_view a = draw_case(cpu, which), b = draw_case(cuda, which);
        double worst = 0;
        for (int i = 0; i < SIZE * SIZE * 4; i++) worst = fmax(worst, fabs((double)a.rgba[i] - (double)b.rgba[i]));
        print_message("case %d: cpu and cuda differ by %.2g\n", which, worst);
        assert_true(worst < 1e-3);
        test_view_free(&a);
        test_view_free(&b);
        tsr_context_destroy(&cpu);
        tsr_context_destroy(&cuda);
    }
}

/* Slices, views and the sheet come out in one call, and the context gets all its memory back. */
static void gallery(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    tsr_volume *volume = test_volume_of(context, 29, (tsr_vec3){ 1, 1, 1 }, blobs);
    tsr_scene *scene;
    tsr_gallery pictures;
    tsr_gallery_options options = TSR_GALLERY_OPTIONS;
    tsr_image sheet;
    options.size = 48;
    require_ok(tsr_scene_create(context, &scene));
    require_ok(tsr_scene_set_volume(scene, volume));
    require_error(tsr_gallery_render(scene, &options, &pictures), TSR_ERROR_STATE, "no surface");
    require_ok(tsr_scene_set_surface_volume(scene, volume, 0, 1));
    require_ok(tsr_gallery_render(scene, &options, &pictures));
    require_ok(tsr_gallery_sheet(&pictures, &sheet));
    assert_int_equal(sheet.width, 3 * 48 + 2);
    assert_memory_equal(sheet.pixels, pictures.slice[0].pixels, 48 * 3);
    assert_memory_equal(sheet.pixels + 3 * (49 * (size_t)sheet.width + 98), pictures.combined.pixels, 48 * 3);
    tsr_image_destroy(&sheet);
    tsr_gallery_destroy(&pictures);
    tsr_scene_destroy(&scene);
    tsr_volume_destroy(&volume);
    assert_int_equal(tsr_context_memory(context)->current_bytes, 0);
    tsr_context_destroy(&context);
}

/* Rays through a tile list stop where its mesh lies, within a twentieth of a voxel, wherever the surface is steeper to the view than 45 degrees
 * (docs/theory/levelset.md 9). */
static void rays_and_mesh(void **state)
{
    (void)state;
    tsr_context *context = test_context();
    const tsr_shape shapes[2] = { { .kind = TSR_SHAPE_SPHERE, .radius = 15 }, { .kind = TSR_SHAPE_TORUS, .radius = 12, .minor = 5 } };
    for (int turn = 0; turn < 4; turn++) {
        const tsr_camera camera = test_camera((tsr_vec3){ 30, 60, 45 }, (tsr_vec3){ 0, 0, 0 }, (tsr_vec3){ 0, 0, 1 }, turn & 1 ? TSR_PERSPECTIVE : TSR_ORTHOGRAPHIC, 30, 40);
        const double pixel = turn & 1 ? 2 * sqrt(6525) * tan(15 * 3.14159265358979 / 180) / SIZE : 40.0 / SIZE;
        tsr_tiles_options list = TSR_TILES_OPTIONS;
        tsr_render_options options = TSR_RENDER_OPTIONS;
        tsr_tiles *tiles;
        tsr_mesh *mesh;
        tsr_scene *scene;
        int compared = 0;
        list.edge = turn & 2 ? 4 : 8;
        list.band = 3;
        options.mode = TSR_RENDER_SURFACE;
        options.ambient_occlusion = -1;
        require_ok(tsr_tiles_shape(context, NULL, &list, &shapes[turn / 2], &tiles));
        require_ok(tsr_surface_extract_tiles(context, tiles, NULL, &mesh, NULL));
        require_ok(tsr_scene_create(context, &scene));
        require_ok(tsr_scene_set_surface_tiles(scene, tiles));
        test_view rays = test_draw(context, scene, &camera, &options, SIZE);
        require_ok(tsr_scene_set_surface_mesh(scene, mesh));
        test_view facets = test_draw(context, scene, &camera, &options, SIZE);
        for (int y = 1; y < SIZE - 1; y++)
            for (int x = 1; x < SIZE - 1; x++) {
                const float *d = rays.depth + y * SIZE + x;
                if (!(fabsf(d[-1] - d[1]) < 2 * pixel && fabsf(d[-SIZE] - d[SIZE]) < 2 * pixel)) continue; /* grazing, or beside the surface */
                assert_true(fabsf(d[0] - facets.depth[y * SIZE + x]) < 0.05f);
                compared++;
            }
        print_message("%d pixels compared\n", compared);
        assert_true(compared > SIZE * SIZE / 10);
        test_view_free(&rays);
        test_view_free(&facets);
        tsr_scene_destroy(&scene);
        tsr_mesh_destroy(&mesh);
        tsr_tiles_destroy(&tiles);
    }
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_everywhere),  cmocka_unit_test(empty_space), cmocka_unit_test(noise_of_all_extents),
        cmocka_unit_test(cuda_within_tolerance), cmocka_unit_test(gallery),     cmocka_unit_test(rays_and_mesh)
    };
    return cmocka_run_group_tests_name("render_agree", tests, NULL, NULL);
}
