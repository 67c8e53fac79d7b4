/* Camera files: known texts against numbers worked out from their definitions, every format written and read again, damaged and hostile files. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    char *p = path[turn++ & 3];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}
static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}
static char *get_file(const char *name, size_t *size)
{
    FILE *f = fopen(in_folder(name), "rb");
    if (!f) fail_msg("%s is not there", name);
    char *text = (char *)malloc(1 << 20);
    *size = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}
static tsr_status read_text(const char *format, const char *text, const tsr_rig_read_options *options, tsr_rig **rig)
{
    return tsr_rig_read_text(format, text, strlen(text), "text", options, rig);
}
static void seen_at(const tsr_rig *rig, int64_t index, double x, double y, double z, double px, double py)
{
    tsr_rig_camera c;
    double pixel[2];
    require_ok(tsr_rig_get(rig, index, &c));
    require_ok(tsr_camera_project(&c.camera, c.width, c.height, (tsr_vec3){ x, y, z }, pixel, NULL));
    if (!(fabs(pixel[0] - px) < 1e-6 && fabs(pixel[1] - py) < 1e-6))
        fail_msg("camera %d: seen at (%.9g, %.9g), expected (%.9g, %.9g)", (int)index, pixel[0], pixel[1], px, py);
}

/* A point ahead, to the right and below of each camera, whose place in the image follows from the format's own words. */
static void known_texts(void **unused)
{
    (void)unused;
    tsr_rig *rig;
    tsr_rig_camera c;
    const tsr_rig_read_options sized = { .struct_size = sizeof sized, .width = 640, .height = 480 };
    /* COLMAP: pixels from the corner; turned by 90 degrees about the axis: x of the world is down in the image */
    require_ok(read_text("colmap-text",
                         "# c\n7 SIMPLE_RADIAL 640 480 500 320 240 0.1\n% \n5 0.70710678118654752 0 0 0.70710678118654752 0 0 1 7 a b.png\n1 2 -1 "
                         "350 245 3\n%\n3 1 0 4 255 128 0 0.5\n",
                         NULL, &rig));
    require_ok(tsr_rig_get(rig, 0, &c));
    assert_string_equal(c.image, "a b.png");
    const double r2 = 0.2 * 0.2, bent = 1 + 0.1 * r2;
    seen_at(rig, 0, 1, 0, 4, 320, 240 + 500 * 0.2 * bent);
    const tsr_rig_point *points;
    const tsr_rig_sight *sights;
    assert_int_equal(tsr_rig_points(rig, &points), 1);
    assert_int_equal(tsr_rig_sights(rig, &sights), 1);
    assert_true(points[0].position[2] == 4 && points[0].color[1] == 128 && sights[0].camera == 0 && sights[0].point == 0 &&
                sights[0].pixel[0] == 350);
    tsr_rig_destroy(&rig);
    /* Middlebury: disparity of a point is f b / z - doffs; pixels from the first centre */
    require_ok(read_text(
        "", "cam0=[1000 0 300; 0 1000 200; 0 0 1]\ncam1=[1000 0 310; 0 1000 200; 0 0 1]\ndoffs=10\nbaseline=100\nwidth=700\nheight=500\nndisp=64\n",
        NULL, &rig));
    seen_at(rig, 0, 50, 20, 1000, 350.5, 220.5);
    seen_at(rig, 1, 50, 20, 1000, 350.5 - (1000.0 * 100 / 1000 - 10), 220.5);
    require_ok(tsr_rig_get(rig, 0, &c));
    float d = 90;
    require_ok(tsr_depth_decode(&c.camera, &c.encoding, 1, 1, &d, &d, NULL));
    assert_true(fabs((double)d - 1000) < 1e-3);
    tsr_rig_destroy(&rig);
    require_ok(read_text("", "1\nview.png 500 0 320 0 500 240 0 0 1 1 0 0 0 1 0 0 0 1 0 0 2\n", &sized, &rig));
    seen_at(rig, 0, 1, 1, 3, 320.5 + 100, 240.5 + 100);
    tsr_rig_destroy(&rig);
    /* transforms.json of Blender: the camera looks along its -z, y up */
    require_ok(
        read_text("",
                  "{\"camera_angle_x\": 1.5707963267948966, \"w\": 200, \"h\": 100, \"frames\": [{\"file_path\": \"./r_0\", \"transform_matrix\": "
                  "[[1,0,0,0],[0,0,-1,-5],[0,1,0,0],[0,0,0,1]]}]}",
                  NULL, &rig));
    seen_at(rig, 0, 1, 0, -1, 100 + 20, 50 + 20);
    require_ok(tsr_rig_get(rig, 0, &c));
    assert_string_equal(c.image, "./r_0.png");
    tsr_rig_destroy(&rig);
    /* OpenCV: stereo as YAML, one camera as XML */
    require_ok(read_text(
        "",
        "%YAML:1.0\nM1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n   data: [ 500., 0., 319.5, 0., 500.,\n       239.5, 0., 0., 1. ]\nD1: "
        "!!opencv-matrix\n"
        "   rows: 1\n   cols: 5\n   dt: d\n   data: [ 0.1, 0., 0., 0., 0. ]\nM2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
        "   data: [ 500., 0., 319.5, 0., 500., 239.5, 0., 0., 1. ]\nR: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
        "   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\nT: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ -0.5, 0., 0. ]\n",
        &sized, &rig));
    assert_int_equal(tsr_rig_count(rig), 2);
    seen_at(rig, 0, 0.2, 0, 1, 320 + 500 * 0.2 * (1 + 0.1 * 0.04), 240);
    seen_at(rig, 1, 0.2, 0, 1, 320 - 150, 240);
    tsr_rig_destroy(&rig);
    require_ok(read_text("",
                         "<?xml version=\"1.0\"?>\n<opencv_storage>\n<image_width>640</image_width><image_height>480</image_height>\n<camera_matrix "
                         "type_id=\"opencv-matrix\"><rows>3</rows>"
                         "<cols>3</cols><dt>d</dt><data>\n 500. 0. 319.5 0.\n 400. 239.5 0. 0. 1.</data></camera_matrix></opencv_storage>",
                         NULL, &rig));
    seen_at(rig, 0, 0.2, 0.1, 1, 320 + 100, 240 + 40);
    tsr_rig_destroy(&rig);
    /* Bundler looks along -z and counts upwards from the middle */
    require_ok(read_text("", "# Bundle file v0.3\n1 1\n500 0 0\n1 0 0\n0 1 0\n0 0 1\n0 0 -2\n0 0 -1\n255 0 0\n1 0 7 10 -20\n", &sized, &rig));
    seen_at(rig, 0, 0.6, 0.3, -1, 320 + 100, 240 - 50);
    assert_int_equal(tsr_rig_sights(rig, &sights), 1);
    assert_true(sights[0].pixel[0] == 330 && sights[0].pixel[1] == 260);
    tsr_rig_destroy(&rig);
    /* trajectories: camera to world, z forward */
    require_ok(read_text("", "# t\n1.5 1 2 3 0 0 0 1\n2.5 1 2 3 0 0.70710678118654752 0 0.70710678118654752\n", NULL, &rig));
    seen_at(rig, 0, 1.5, 2, 4, 320 + 525 * 0.5, 240);
    seen_at(rig, 1, 2, 2, 3 - 0.5, 320 + 525 * 0.5, 240); /* turned about y: it looks along +x, its right is -z */
    tsr_rig_destroy(&rig);
    require_ok(read_text("kitti", "1 0 0 5 0 1 0 6 0 0 1 7\n",
                         &(tsr_rig_read_options){ .struct_size = sizeof(tsr_rig_read_options), .width = 100, .height = 50, .focal = 80 }, &rig));
    seen_at(rig, 0, 5.5, 6, 8, 50 + 40, 25);
    tsr_rig_destroy(&rig);
}

/* Square pixels, the axis in the middle, two coefficients: every format can hold these. */
static tsr_rig *plain_rig(int lens)
{
    tsr_rig *rig;
    const tsr_rig_layout_options o = {
        .struct_size = sizeof o, .count = 3, .height = 1, .width = 640, .height_pixels = 480, .target = { 0.1, 0.2, 0.3 }
    };
    require_ok(tsr_rig_make(TSR_RIG_ARC, &o, &rig));
    for (int64_t i = 0; i < tsr_rig_count(rig); i++) {
        tsr_rig_camera c;
        char name[32];
        require_ok(tsr_rig_get(rig, i, &c));
        snprintf(name, sizeof name, "im%d.png", (int)i);
        c.image = name;
        c.camera.clip[0] = c.camera.clip[1] = 0;
        if (lens) {
            tsr_pinhole p;
            require_ok(tsr_camera_to_pinhole(&c.camera, 640, 480, &p));
            p.k[0] = -0.1;
            p.k[1] = 0.02;
            require_ok(tsr_camera_from_pinhole(&p, &c.camera));
        }
        require_ok(tsr_rig_set(rig, i, &c));
    }
    return rig;
}

static double apart(const tsr_rig_camera *a, const tsr_rig_camera *b)
{
    double worst = 0;
    for (int k = 0; k < 8; k++) {
        const tsr_vec3 p = { k & 1 ? 0.7 : -0.5, k & 2 ? 0.6 : -0.8, k & 4 ? 0.5 : -0.4 };
        double at[2][2];
        require_ok(tsr_camera_project(&a->camera, 640, 480, p, at[0], NULL));
        require_ok(tsr_camera_project(&b->camera, 640, 480, p, at[1], NULL));
        worst = fmax(worst, hypot(at[0][0] - at[1][0], at[0][1] - at[1][1]));
    }
    return worst;
}

static void every_format(void **unused)
{
    (void)unused;
    static const struct {
        const char *name, *path;
        int lens;
    } cases[] = { { "transforms", "a.json", 1 }, { "colmap", "binary", 1 }, { "colmap-text", "text", 1 }, { "geoscene", "a.geoscene", 1 },
                  { "opencv", "a.yml", 1 },      { "opencv", "a.xml", 1 },  { "bundler", "a.out", 1 },    { "par", "a_par.txt", 0 },
                  { "tum", "a.tum", 0 },         { "kitti", "a.kitti", 0 } };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        tsr_rig *rig = plain_rig(cases[n].lens), *back;
        const tsr_rig_write_options w = { .struct_size = sizeof w, .format = cases[n].name };
        tsr_rig_camera a, b;
        require_ok(tsr_rig_get(rig, 0, &a));
        tsr_pinhole p;
        require_ok(tsr_camera_to_pinhole(&a.camera, 640, 480, &p));
        const tsr_rig_read_options r = { .struct_size = sizeof r, .width = 640, .height = 480, .focal = p.fx };
        require_ok(tsr_rig_write(rig, in_folder(cases[n].path), &w));
        require_error(tsr_rig_write(rig, in_folder(cases[n].path), &w), TSR_ERROR_IO, cases[n].path); /* is there already */
        require_ok(tsr_rig_read(in_folder(cases[n].path), &r, &back));
        assert_int_equal(tsr_rig_count(back), 3);
        for (int64_t i = 0; i < 3; i++) {
            require_ok(tsr_rig_get(rig, i, &a));
            require_ok(tsr_rig_get(back, i, &b));
            if (!(apart(&a, &b) < 1e-6)) fail_msg("%s: camera %d is %g pixels off", cases[n].name, (int)i, apart(&a, &b));
            if (strcmp(cases[n].name, "opencv") && strcmp(cases[n].name, "bundler") && strcmp(cases[n].name, "tum") && strcmp(cases[n].name, "kitti"))
                assert_string_equal(a.image, b.image);
        }
        tsr_rig_destroy(&rig);
        tsr_rig_destroy(&back);
    }
    tsr_rig *pair, *back;
    require_ok(tsr_rig_make(TSR_RIG_PAIR, NULL, &pair));
    require_ok(tsr_rig_write(pair, in_folder("calib.txt"), NULL));
    require_ok(tsr_rig_read(in_folder("calib.txt"), NULL, &back));
    tsr_rig_camera a, b;
    require_ok(tsr_rig_get(back, 0, &a));
    require_ok(tsr_rig_get(back, 1, &b));
    assert_true(fabs(a.encoding.baseline - 0.4) < 1e-12 && fabs(b.camera.position.x - a.camera.position.x - 0.4) < 1e-12);
    tsr_rig_destroy(&pair);
    tsr_rig_destroy(&back);
}

/* Half of a quarter turn is an eighth; a way passes the cameras of its rig, and a straight line of them at a steady pace. */
static void ways(void **unused)
{
    (void)unused;
    const double s = sqrt(0.5);
    const tsr_camera a = { .position = { 1, 2, 3 }, .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .fov = 40, .clip = { 1, 10 } };
    const tsr_camera b = { .position = { 3, 2, -1 }, .rotation = { { 0, 1, 0 }, { -1, 0, 0 }, { 0, 0, 1 } }, .fov = 60, .clip = { 2, 20 } };
    const double eighth[3][3] = { { s, s, 0 }, { -s, s, 0 }, { 0, 0, 1 } };
    tsr_camera c;
    require_ok(tsr_camera_between(&a, &b, 0.5, &c));
    for (int i = 0; i < 9; i++) assert_true(fabs(c.rotation[i / 3][i % 3] - eighth[i / 3][i % 3]) < 1e-12);
    assert_true(fabs(c.position.x - 2) < 1e-12 && c.position.y == 2 && fabs(c.position.z - 1) < 1e-12 && fabs(c.fov - 50) < 1e-12 &&
                fabs(c.clip[1] - 15) < 1e-12);
    assert_int_equal(tsr_camera_between(&a, &b, 1.5, &c), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_camera_between(&a, NULL, 0.5, &c), TSR_ERROR_ARGUMENT);
    tsr_rig *rig;
    require_ok(tsr_rig_create(&rig));
    assert_int_equal(tsr_rig_along(rig, 0.5, &c), TSR_ERROR_ARGUMENT);
    for (int k = 0; k < 5; k++) { /* turned round z by 20 degrees a step */
        const double t = 20 * k * 3.14159265358979323846 / 180;
        tsr_rig_camera entry = { .name = &"abcde"[k], .camera = a };
        entry.camera.position = (tsr_vec3){ 2.0 * k, -k, 7 };
        memcpy(entry.camera.rotation, (double[3][3]){ { cos(t), sin(t), 0 }, { -sin(t), cos(t), 0 }, { 0, 0, 1 } }, sizeof entry.camera.rotation);
        require_ok(tsr_rig_add(rig, &entry));
    }
    for (int k = 4; k <= 12; k++) { /* inside: where the line has cameras on both sides */
        const double at = k / 4.0, t = 20 * at * 3.14159265358979323846 / 180;
        require_ok(tsr_rig_along(rig, at / 4, &c));
        assert_true(fabs(c.position.x - 2 * at) < 1e-12 && fabs(c.position.y + at) < 1e-12 && fabs(c.position.z - 7) < 1e-12);
        assert_true(fabs(c.rotation[0][0] - cos(t)) < 1e-12 && fabs(c.rotation[0][1] - sin(t)) < 1e-12);
    }
    require_ok(tsr_rig_along(rig, 0, &c));
    assert_true(c.position.x == 0);
    require_ok(tsr_rig_along(rig, 1, &c));
    assert_true(fabs(c.position.x - 8) < 1e-12);
    tsr_rig_destroy(&rig);
}

/* Cameras of all kinds, with depths: the forms that hold everything give the same bytes again. */
static void everything_kept(void **unused)
{
    (void)unused;
    tsr_rig *rig = plain_rig(1), *back;
    tsr_rig_camera c;
    for (int64_t i = 0; i < 3; i++) {
        require_ok(tsr_rig_get(rig, i, &c));
        c.depth = i == 0 ? "depth%04d.png" : i == 1 ? "d.exr" : "";
        c.encoding = (tsr_depth_encoding){ .kind = i ? TSR_DEPTH_RADIAL : TSR_DEPTH_INVERSE,
                                           .bits = i ? 0 : 16,
                                           .range = { i ? 0 : 0.3, i ? 0 : 77.7 },
                                           .background_is_valid = (int)i };
        c.camera.clip[0] = 0.1;
        c.camera.clip[1] = 33;
        if (i == 1)
            c.camera = (tsr_camera){ .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
                                     .projection = TSR_ORTHOGRAPHIC,
                                     .height = 1.0 / 3,
                                     .aspect = 1.7,
                                     .clip = { -1, 2 } };
        if (i == 2) {
            double p[16];
            require_ok(tsr_camera_matrices(&c.camera, 640, 480, NULL, p));
            p[4] = 0.1;
            memcpy(c.camera.matrix, p, sizeof p);
            c.camera.projection = TSR_PROJECTION_MATRIX;
            c.camera.fov = c.camera.aspect = c.camera.offset[0] = c.camera.offset[1] = c.camera.clip[0] = c.camera.clip[1] = 0;
            c.camera.lens = (tsr_lens){ .model = TSR_LENS_DIVISION };
        }
        require_ok(tsr_rig_set(rig, i, &c));
    }
    tsr_rig_set_sequence(rig, 0, 4);
    static const char *const names[2][2] = { { "one.json", "two.json" }, { "one.geoscene", "two.geoscene" } };
    for (int f = 0; f < 2; f++) {
        size_t sizes[2];
        const tsr_rig_write_options w = { .struct_size = sizeof w, .overwrite = 1 };
        require_ok(tsr_rig_write(rig, in_folder(names[f][0]), &w));
        char cast_before[2000] = "";
        if (f) {
            size_t size;
            char *t = get_file("camera00.geocast", &size);
            memcpy(cast_before, t, size);
            free(t);
        }
        require_ok(tsr_rig_read(in_folder(names[f][0]), NULL, &back));
        assert_int_equal(tsr_rig_count(back), 3);
        require_ok(tsr_rig_get(back, 0, &c));
        assert_true(c.encoding.kind == TSR_DEPTH_INVERSE && c.encoding.bits == 16 && c.encoding.range[0] == 0.3);
        require_ok(tsr_rig_get(back, 1, &c));
        assert_true(c.camera.projection == TSR_ORTHOGRAPHIC && c.camera.height == 1.0 / 3 && c.encoding.background_is_valid);
        char path[512];
        require_ok(tsr_rig_path(back, "depth%04d.png", 3, path, sizeof path));
        assert_string_equal(path + strlen(path) - 13, "depth0003.png");
        require_ok(tsr_rig_write(back, in_folder(names[f][1]), &w));
        char *one = get_file(names[f][0], &sizes[0]), *two = get_file(names[f][1], &sizes[1]);
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(one, two, sizes[0]);
        free(one);
        free(two);
        if (f) {
            size_t size;
            char *t = get_file("camera00.geocast", &size);
            assert_memory_equal(cast_before, t, size);
            free(t);
        }
        tsr_rig_destroy(&back);
    }
    tsr_rig_destroy(&rig);
}

/* The four readings of a V1 matrix, found by Pos. */
static void geocast_readings(void **unused)
{
    (void)unused;
    tsr_camera truth = { .fov = 30 };
    require_ok(tsr_camera_look_at(&truth, (tsr_vec3){ 3.14159, -2.5, 1.75 }, (tsr_vec3){ 0.2, 0.1, -0.3 }, (tsr_vec3){ 0, 0, 1 }));
    double view[16], world[16];
    require_ok(tsr_camera_matrices(&truth, 4, 3, view, NULL));
    const double p[3] = { truth.position.x, truth.position.y, truth.position.z };
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 4; k++) world[4 * k + r] = r == 3 ? k == 3 : k == 3 ? p[r] : truth.rotation[k][r];
    for (int which = 0; which < 4; which++) {
        char text[2000];
        int n = snprintf(text, sizeof text,
                         "# made by hand\nGeoCast V1.0\nStaticCamera\nPos %.2f %.2f %.2f\nViewSlice FODAngle 145 Size 1000\nModelviewMatrix\n", p[0],
                         p[1], p[2]);
        const double *m = which < 2 ? view : world;
        for (int r = 0; r < 4; r++) {
            for (int k = 0; k < 4; k++) n += snprintf(text + n, sizeof text - (size_t)n, "%.9g ", which & 1 ? m[4 * r + k] : m[4 * k + r]);
            n += snprintf(text + n, sizeof text - (size_t)n, "\n");
        }
        snprintf(text + n, sizeof text - (size_t)n, "DataProject Perspective Fovy 30 Aspect 1.3333 ClipRange 0.5 20\nWorldSpaceDepth\n");
        tsr_rig *rig;
        tsr_rig_camera c;
        require_ok(read_text("", text, NULL, &rig));
        require_ok(tsr_rig_get(rig, 0, &c));
        assert_true(fabs(c.camera.position.x - p[0]) + fabs(c.camera.position.y - p[1]) + fabs(c.camera.position.z - p[2]) < 1e-6);
        for (int i = 0; i < 9; i++) assert_true(fabs(c.camera.rotation[i / 3][i % 3] - truth.rotation[i / 3][i % 3]) < 1e-7);
        assert_true(c.encoding.kind == TSR_DEPTH_EYE && c.camera.clip[1] == 20);
        assert_string_equal(tsr_rig_unknown(rig, 0), "ViewSlice FODAngle 145 Size 1000\n"); /* kept */
        require_ok(
            tsr_rig_write(rig, in_folder("kept.geocast"), &(tsr_rig_write_options){ .struct_size = sizeof(tsr_rig_write_options), .overwrite = 1 }));
        size_t size;
        char *out = get_file("kept.geocast", &size);
        out[size] = 0;
        assert_non_null(strstr(out, "ViewSlice FODAngle 145 Size 1000"));
        free(out);
        tsr_rig_destroy(&rig);
        char *pos = strstr(text, "Pos ");
        pos[4] = '9'; /* somewhere else: none of the readings is there */
        require_error(read_text("", text, NULL, &rig), TSR_ERROR_FORMAT, "none of the four readings");
        memcpy(pos, "#os ", 4); /* nothing to tell by */
        require_error(read_text("", text, NULL, &rig), TSR_ERROR_FORMAT, "--geocast-matrix");
        const tsr_rig_read_options o = { .struct_size = sizeof o, .geocast_matrix = (tsr_geocast_matrix)(TSR_GEOCAST_WORLD_TO_EYE_ROWS + which) };
        require_ok(read_text("", text, &o, &rig));
        tsr_rig_destroy(&rig);
    }
}

static void scenes(void **unused)
{
    (void)unused;
    tsr_rig *rig;
    tsr_rig_camera c;
    static const char cast[] =
        "GeoCast V1.0\nPos 0 0 %d\nModelviewMatrix\n1 0 0 0\n0 1 0 0\n0 0 1 %d\n0 0 0 1\nDataProject Ortho WindowSize 4 2 ProjRange 1 5\n";
    for (int f = 1; f <= 3; f++) {
        char text[400], name[32];
        snprintf(text, sizeof text, cast, f, -f);
        snprintf(name, sizeof name, "move%02d.geocast", f);
        put_file(name, text);
    }
    put_file("moving.geoscene", "GeoScene V2.0\nSequence 1 3\nDataFormat PNG\nGeoCastZ car 64 32 car%02d.png move%02d.geocast\nMatchGroup 0\n");
    require_ok(tsr_rig_read(in_folder("moving.geoscene"), NULL, &rig));
    assert_int_equal(tsr_rig_count(rig), 3);
    require_ok(tsr_rig_get(rig, 2, &c));
    assert_true(c.frame == 3 && c.camera.position.z == 3 && c.camera.height == 2 && c.encoding.kind == TSR_DEPTH_EYE_LINEAR);
    assert_string_equal(c.depth, "car%02d.png");
    assert_string_equal(tsr_rig_unknown(rig, -1), "MatchGroup 0\n");
    tsr_rig_destroy(&rig);
    const tsr_rig_read_options half = { .struct_size = sizeof half, .geocast_half_window = 1 };
    require_ok(tsr_rig_read(in_folder("moving.geoscene"), &half, &rig));
    require_ok(tsr_rig_get(rig, 0, &c));
    assert_true(c.camera.height == 4);
    tsr_rig_destroy(&rig);
    put_file("short.geoscene", "GeoScene V2.0\nSequence 1 4\nGeoCastZ car 64 32 car%02d.png move%02d.geocast\n");
    require_error(tsr_rig_read(in_folder("short.geoscene"), NULL, &rig), TSR_ERROR_IO, "move04.geocast"); /* a frame is missing */
    assert_null(rig);
}

static void refusals(void **unused)
{
    (void)unused;
    static const struct {
        const char *format, *text, *message;
        tsr_status status;
    } cases[] = {
        { "", "hello", "no camera file this library knows", TSR_ERROR_FORMAT },
        { "", "", "no camera file", TSR_ERROR_FORMAT },
        { "nonsense", "x", "format 'nonsense', expected one of transforms", TSR_ERROR_ARGUMENT },
        { "", "{\"frames\": [", "the text ends", TSR_ERROR_FORMAT },
        { "", "{\"frames\": 3}", "no list of frames", TSR_ERROR_FORMAT },
        { "", "{\"frames\": []}", "no camera in it", TSR_ERROR_FORMAT },
        { "", "{\"frames\": [{}]}", "no focal length", TSR_ERROR_FORMAT },
        { "", "{\"camera_angle_x\":1,\"frames\":[{\"transform_matrix\":[[1,0,0,0],[0,1,0,0],[0,0,3,0],[0,0,0,1]]}]}", "three orthonormal rows",
          TSR_ERROR_FORMAT },
        { "colmap-text", "1 PINHOLE 640 480 500\n%\n%\n", "expected 3 numbers more", TSR_ERROR_FORMAT },
        { "colmap-text", "1 FOV 640 480 5 5 5 5 1\n%\n%\n", "of the model FOV", TSR_ERROR_UNSUPPORTED },
        { "colmap-text", "1 PINHOLE 640 480 5 5 5 5\n%\n1 1 0 0 0 0 0 0 2 a\n%\n", "of camera 2, which cameras does not list", TSR_ERROR_FORMAT },
        { "colmap-text", "1 PINHOLE 640 480 5 5 5 5\n%\n1 0 0 0 0 0 0 0 1 a\n%\n", "quaternion", TSR_ERROR_FORMAT },
        { "", "GeoCast V9.0\n", "version V9.0", TSR_ERROR_UNSUPPORTED },
        { "", "GeoCast V1.0\nModelviewMatrix\n1 0 0 0\n0 1\n", "expected a number for the matrix", TSR_ERROR_FORMAT },
        { "", "GeoCast V1.0\nPos 0 0 0\nModelviewMatrix\n1 0 0 0 0 1 0 0 0 0 0 0 0 0 0 1\nDataProject Perspective Fovy 30 Aspect 1 ClipRange 1 2\n",
          "determinant 0", TSR_ERROR_FORMAT },
        { "", "GeoCast V1.0\nPos 0 0 0\nModelviewMatrix\n1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\nDataProject Perspective Fovy 190 Aspect 1 ClipRange 1 2\n",
          "fov 190", TSR_ERROR_FORMAT },
        { "", "GeoCast V1.0\nPos 0 0 0\nModelviewMatrix\n1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\nDataProject Perspective Fovy 30 Aspect -1 ClipRange 1 2\n",
          "aspect -1", TSR_ERROR_FORMAT },
        { "", "GeoCast V1.0\nPos 0 0 0\nModelviewMatrix\n1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\nDataProject Perspective Fovy 30 Aspect 1 ClipRange 2 1\n",
          "near < far", TSR_ERROR_FORMAT },
        { "", "GeoCast V1.0\nPos 0 0 0\nModelviewMatrix\n1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1\nDataProject Perspective Fovy 30 Aspect 1 ClipRange 0 1\n",
          "0 < near", TSR_ERROR_FORMAT },
        { "", "cam0=[1 2 3]\nwidth=4\nheight=4\n", "cam0, expected", TSR_ERROR_FORMAT },
        { "", "# Bundle file v0.3\n1 0\n", "give their size", TSR_ERROR_ARGUMENT },
        { "par", "2\na 1 0 0 0 1 0 0 0 1 1 0 0 0 1 0 0 0 1 0 0 0\n", "ends after 1 of 2 cameras", TSR_ERROR_FORMAT },
        { "", "%YAML:1.0\nx: 3\n", "no camera_matrix", TSR_ERROR_FORMAT },
        { "tum", "1 2 3\n", "expected 8 numbers", TSR_ERROR_FORMAT },
        { "tum", "1 2 3 4 0 0 0 0\n", "quaternion", TSR_ERROR_FORMAT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_rig *rig;
        require_error(read_text(cases[i].format, cases[i].text, NULL, &rig), cases[i].status, cases[i].message);
        assert_null(rig);
    }
    tsr_rig *rig;
    const tsr_rig_read_options sized = { .struct_size = sizeof sized, .width = 64, .height = 48 };
    require_error(read_text("", "# Bundle file v0.3\n900000000 0\n", &sized, &rig), TSR_ERROR_FORMAT, "900000000 cameras in");
    require_error(tsr_rig_read(in_folder("nothing"), NULL, &rig), TSR_ERROR_IO, "nothing");
    mkdir(in_folder("empty"), 0777);
    require_error(tsr_rig_read(in_folder("empty"), NULL, &rig), TSR_ERROR_FORMAT, "a folder without cameras");
    /* what a format cannot hold is refused by name, and nothing is written */
    tsr_rig_camera c = { .name = "flat",
                         .width = 64,
                         .height = 48,
                         .frame = TSR_RIG_STATIC,
                         .camera = { .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .projection = TSR_ORTHOGRAPHIC, .height = 2 } };
    require_ok(tsr_rig_create(&rig));
    require_error(tsr_rig_write(rig, in_folder("x.json"), NULL), TSR_ERROR_STATE, "no camera");
    require_ok(tsr_rig_add(rig, &c));
    require_error(tsr_rig_write(rig, in_folder("flat"), NULL), TSR_ERROR_UNSUPPORTED, "'flat' does not fit into a COLMAP model");
    assert_int_not_equal(access(in_folder("flat/cameras.txt"), F_OK), 0);
    require_error(tsr_rig_write(rig, in_folder("x.docx"), NULL), TSR_ERROR_ARGUMENT, "fits no camera format");
    require_error(tsr_rig_get(rig, 1, &c), TSR_ERROR_ARGUMENT, "camera 1 of 1");
    c.camera.fov = -1;
    c.camera.projection = TSR_PERSPECTIVE;
    require_error(tsr_rig_add(rig, &c), TSR_ERROR_ARGUMENT, "fov -1");
    char path[32];
    require_error(tsr_rig_path(rig, "a%sb", 1, path, sizeof path), TSR_ERROR_FORMAT, "neither %d nor");
    tsr_rig_destroy(&rig);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}
static void empty_folder(const char *name) { assert_int_equal(mkdir(in_folder(name), 0777), 0); }
/* Where a camera of the rig shows a point. */
static void shown(const tsr_rig *rig, const char *name, tsr_vec3 point, double pixel[2])
{
    tsr_rig_camera c;
    require_ok(tsr_rig_get(rig, tsr_rig_find(rig, name), &c));
    require_ok(tsr_camera_project(&c.camera, c.width, c.height, point, pixel, NULL));
}

static const char *const benchmark =
    "[intrinsics]\nfocal_length_mm = 100\nimage_resolution_x_px = 512\nimage_resolution_y_px = 384\nsensor_size_mm = 35\nfstop = 100\n"
    "[extrinsics]\nnum_cams_x = 3\nnum_cams_y = 2\nbaseline_mm = 50\nfocus_distance_m = 8\noffset = 0\n[meta]\nscene = x\n";

/* Light fields: disparities are those of the benchmark's own formula, b f W / s (1/z - 1/D), and what lies at the focus is at the same pixel everywhere. */
static void light_fields(void **unused)
{
    (void)unused;
    tsr_rig *rig;
    tsr_rig_camera c;
    double a[2], b[2];
    empty_folder("hci");
    put("hci/parameters.cfg", benchmark);
    for (int i = 0; i < 6; i++) {
        char name[40];
        snprintf(name, sizeof name, "hci/input_Cam%03d.png", i);
        put(name, "");
    }
    put("hci/gt_disp_lowres.png", "");
    put("hci/gt_depth_lowres.pfm", "");
    put("hci/gt_depth_lowres_Cam001.pfm", "");
    require_ok(tsr_rig_read(in_folder("hci"), NULL, &rig));
    assert_int_equal(tsr_rig_count(rig), 6);
    require_ok(tsr_rig_get(rig, 3, &c));
    assert_string_equal(c.image, "input_Cam003.png");
    assert_string_equal(c.depth, "gt_depth_lowres.pfm");
    assert_int_equal(c.encoding.kind, TSR_DEPTH_EYE);
    require_ok(tsr_rig_get(rig, 1, &c));
    assert_string_equal(c.depth, "gt_depth_lowres_Cam001.pfm");
    assert_int_equal(c.width, 512);
    assert_int_equal(c.height, 384);
    for (double z = 5; z < 12; z += 1.5) {
        const double expected = 0.05 * (100.0 / 35.0 * 512) * (1 / z - 1 / 8.0);
        const tsr_vec3 point = { 0.3, -0.2, z };
        shown(rig, "input_Cam001", point, a);
        shown(rig, "input_Cam002", point, b);
        assert_true(fabs(a[0] - b[0] - expected) < 1e-9 && fabs(a[1] - b[1]) < 1e-9);
        shown(rig, "input_Cam004", point, b); /* the row below */
        assert_true(fabs(a[1] - b[1] - expected) < 1e-9 && fabs(a[0] - b[0]) < 1e-9);
    }
    tsr_rig_destroy(&rig);
    put("hci/parameters.cfg", "num_cams_x = 3\n");
    require_error(tsr_rig_read(in_folder("hci"), NULL, &rig), TSR_ERROR_FORMAT, "image_resolution_x_px is 0");
    put("hci/parameters.cfg", "num_cams_x = many\n");
    require_error(tsr_rig_read(in_folder("hci"), NULL, &rig), TSR_ERROR_FORMAT, "line 1: num_cams_x, expected a number");

    /* names that hold places; the size is the first picture's */
    static const char *const placed[] = { "out_00_00_-2.5_10.25_.pgm", "out_00_01_-2.5_12.25_.pgm", "out_01_00_-1.5_10.25_.pgm",
                                          "out_01_01_-1.5_12.25_.pgm" };
    empty_folder("placed");
    for (int i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "placed/%s", placed[i]);
        put(name, "P5 4 2 255\n12345678");
    }
    const tsr_rig_read_options units = { .struct_size = sizeof units, .focal = 600, .baseline = 0.5, .focus = 20 };
    require_ok(tsr_rig_read(in_folder("placed"), &units, &rig));
    require_ok(tsr_rig_get(rig, 3, &c));
    assert_true(c.width == 4 && c.height == 2);
    assert_true(fabs(c.camera.position.x - 0.5) < 1e-12 && fabs(c.camera.position.y - 0.25) < 1e-12);
    shown(rig, "out_00_00_-2.5_10.25_", (tsr_vec3){ 0, 0, 20 }, a);
    shown(rig, "out_01_01_-1.5_12.25_", (tsr_vec3){ 0, 0, 20 }, b);
    assert_true(fabs(a[0] - 2) < 1e-9 && fabs(a[1] - 1) < 1e-9 && fabs(b[0] - 2) < 1e-9 && fabs(b[1] - 1) < 1e-9);
    tsr_rig_destroy(&rig);

    /* a row and a column; pictures of another beginning lie beside them; one is missing */
    empty_folder("grid");
    static const char *const named[] = { "view_03_07.pgm", "view_03_08.pgm", "view_04_07.pgm", "depth_03_07.pgm", "thumb.png" };
    for (int i = 0; i < 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "grid/%s", named[i]);
        put(name, "P5 4 2 255\n12345678");
    }
    tsr_rig_read_options o = TSR_RIG_READ_OPTIONS;
    require_error(tsr_rig_read(in_folder("grid"), &o, &rig), TSR_ERROR_FORMAT, "of other names with format lightfield");
    o.format = "lightfield";
    require_ok(tsr_rig_read(in_folder("grid"), &o, &rig));
    assert_int_equal(tsr_rig_count(rig), 3);
    require_ok(tsr_rig_get(rig, 2, &c));
    assert_string_equal(c.name, "view_04_07");
    assert_true(c.camera.position.x == -0.5 && c.camera.position.y == 0.5);
    tsr_rig_destroy(&rig);
    put("grid/view_3_7.pgm", "P5 4 2 255\n12345678");
    require_error(tsr_rig_read(in_folder("grid"), &o, &rig), TSR_ERROR_FORMAT, "are both row 3, column 7");

    empty_folder("numbered");
    for (int i = 1; i <= 5; i++) {
        char name[64];
        snprintf(name, sizeof name, "numbered/im%d.pgm", i);
        put(name, "P5 4 2 255\n12345678");
        if (i != 4) continue;
        require_ok(tsr_rig_read(in_folder("numbered"), &o, &rig));
        require_ok(tsr_rig_get(rig, 1, &c));
        assert_string_equal(c.name, "im2");
        assert_true(c.camera.position.x == 0.5 && c.camera.position.y == -0.5);
        tsr_rig_destroy(&rig);
    }
    require_error(tsr_rig_read(in_folder("numbered"), &o, &rig), TSR_ERROR_FORMAT, "5 pictures with one number each");
    require_error(tsr_rig_read(in_folder("empty"), &o, &rig), TSR_ERROR_FORMAT, "no picture whose name ends in a number");
    o.focus = -1;
    require_error(tsr_rig_read(in_folder("grid"), &o, &rig), TSR_ERROR_ARGUMENT, "focus -1");
}

/* Many cameras: the time grows with their number alone. */
static void many(void **unused)
{
    (void)unused;
    const int count = test_is_slow() ? 20000 : 200000;
    char *text = (char *)malloc((size_t)count * 40);
    size_t size = 0;
    for (int i = 0; i < count; i++) size += (size_t)sprintf(text + size, "%d 0 0 %d 0 0 0 1\n", i, i);
    tsr_rig *rig;
    require_ok(tsr_rig_read_text("tum", text, size, "many", NULL, &rig));
    assert_int_equal(tsr_rig_count(rig), count);
    tsr_rig_camera c;
    require_ok(tsr_rig_get(rig, count - 1, &c));
    assert_true(c.camera.position.z == count - 1);
    tsr_rig_destroy(&rig);
    free(text);
}

static int begin(void **unused)
{
    (void)unused;
    snprintf(folder, sizeof folder, "/tmp/tessera-rig-%ld", (long)getpid());
    return mkdir(folder, 0700);
}
static int end(void **unused)
{
    (void)unused;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Cameras of transforms.json without names of their own: as their pictures; numbered ones as their folder; with the path where that tells them apart. */
static void names_by_pictures(void **state)
{
    (void)state;
    static const struct {
        const char *path[3], *name[3];
    } all[] = { { { "cam0/%04d.png", "./cam1/%04d.png", "cam2/%d.jpg" }, { "cam0", "cam1", "cam2" } },
                { { "./a/0001.png", "b/0001.png", "c/0002.png" }, { "a/0001.png", "b/0001.png", "c/0002.png" } },
                { { "left/i/%d.png", "right/i/%d.png", "top/j/%d.png" }, { "left/i", "right/i", "top/j" } },
                { { "x/1.png", "y/2.png", "y/2.png" }, { "1.png", "2.png", "2.png" } },
                { { "%d.png", "films/100%.mp4", "./r_0" }, { "%d.png", "100%.mp4", "r_0" } } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char json[2048] = "{\"camera_angle_x\": 1, \"w\": 200, \"h\": 100, \"frames\": [";
        tsr_rig *rig;
        tsr_rig_camera c;
        for (int i = 0; i < 3; i++)
            snprintf(json + strlen(json), sizeof json - strlen(json),
                     "%s{\"file_path\": \"%s\", \"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}", i ? "," : "", all[k].path[i]);
        strcat(json, "]}");
        require_ok(read_text("", json, NULL, &rig));
        for (int i = 0; i < 3; i++) {
            require_ok(tsr_rig_get(rig, i, &c));
            assert_string_equal(c.name, all[k].name[i]);
        }
        tsr_rig_destroy(&rig);
    }
}

/* Frames with a time, as D-NeRF and others have them: whose they are by their numbered names, by the names in folders of a time, by poses that stay; or it cannot be
 * told, and is said. */
static void frames_by_times(void **state)
{
    (void)state;
    static const struct {
        const char *path[6];
        double time[6]; /* -1: none */
        double x[6];    /* of the camera */
        const char *name[6];
        int frame[6], last;
        const char *said;
    } all[] = {
        /* one camera, elsewhere at every time; not in their order */
        { { "./train/r_002", "./train/r_000", "./train/r_001" }, { 1, 0, 0.5 }, { 1, 2, 3 }, { "r", "r", "r" }, { 2, 0, 1 }, 2, "" },
        { { "a/r_011.png", "a/r_012.png" }, { 0, 1 }, { 1, 2 }, { "r", "r" }, { 11, 12 }, 12, "" },
        { { "a/r_000.png", "a/r_005.png", "a/r_010.png" }, { 0, 0.5, 1 }, { 1, 2, 3 }, { "r", "r", "r" }, { 0, 1, 2 }, 2, "" },
        /* a folder for each camera; of one name in two places */
        { { "cam0/7.png", "cam0/8.png", "cam1/7.png", "cam1/8.png" },
          { 0, 1, 0, 1 },
          { 1, 2, 3, 4 },
          { "cam0", "cam0", "cam1", "cam1" },
          { 7, 8, 7, 8 },
          8,
          "" },
        { { "a/c_1.png", "a/c_2.png", "b/c_1.png", "b/c_2.png" },
          { 0, 1, 0, 1 },
          { 1, 2, 3, 4 },
          { "a/c", "a/c", "b/c", "b/c" },
          { 1, 2, 1, 2 },
          2,
          "" },
        /* a folder for each time */
        { { "t0/cam1.png", "t0/cam2.png", "t1/cam1.png", "t1/cam2.png" },
          { 0, 0, 3, 3 },
          { 1, 2, 3, 4 },
          { "cam1", "cam2", "cam1", "cam2" },
          { 0, 0, 1, 1 },
          1,
          "" },
        /* numbered through, two cameras that stand */
        { { "i_0.png", "i_1.png", "i_2.png", "i_3.png" },
          { 0, 0, 1, 1 },
          { 5, 6, 5, 6 },
          { "i_0.png", "i_1.png", "i_0.png", "i_1.png" },
          { 0, 0, 1, 1 },
          1,
          "" },
        /* numbered through, and they move */
        { { "i_0.png", "i_1.png", "i_2.png", "i_3.png" },
          { 0, 0, 1, 1 },
          { 5, 6, 7, 8 },
          { "i_0.png", "i_1.png", "i_2.png", "i_3.png" },
          { -1, -1, -1, -1 },
          0,
          "text: 4 images at 2 times, but neither their names nor their poses say which are of one camera" },
        { { "a/0.png", "a/1.png", "b/0.png" },
          { 0, 1, 0 },
          { 1, 2, 3 },
          { "a", "a", "b" },
          { 0, 1, 0 },
          1,
          "2 cameras at 2 times, but there are 3 of them" },
        { { "i_0.png", "i_1.png" }, { 0.5, -1 }, { 1, 2 }, { "i_0.png", "i_1.png" }, { -1, -1 }, 0, "1 of 2 frames have a time" },
        { { "i_0.png", "i_1.png" }, { 0.5, 0.5 }, { 1, 2 }, { "i_0.png", "i_1.png" }, { -1, -1 }, 0, "" },
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char json[4096] = "{\"camera_angle_x\": 0.69, \"w\": 200, \"h\": 100, \"frames\": [", said[512], path[96];
        tsr_rig *rig;
        int32_t first, last;
        for (int i = 0; i < 6 && all[k].path[i]; i++) {
            char time[32] = "";
            if (all[k].time[i] >= 0) snprintf(time, sizeof time, "\"time\": %g, ", all[k].time[i]);
            snprintf(json + strlen(json), sizeof json - strlen(json),
                     "%s{\"file_path\": \"%s\", \"rotation\": 0.1, %s\"transform_matrix\": [[1,0,0,%g],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}", i ? "," : "",
                     all[k].path[i], time, all[k].x[i]);
        }
        strcat(json, "]}");
        tsr_remarks_take(said, sizeof said);
        require_ok(read_text("", json, NULL, &rig));
        tsr_remarks_take(said, sizeof said);
        if (*all[k].said ? !strstr(said, all[k].said) : *said) fail_msg("case %zu: '%s'", k, said);
        for (int turn = 0; turn < 2; turn++) { /* as it was read, and written and read once more */
            for (int i = 0; i < 6 && all[k].path[i]; i++) {
                tsr_rig_camera c;
                require_ok(tsr_rig_get(rig, i, &c));
                if (strcmp(c.name, all[k].name[i]) != 0 || c.frame != all[k].frame[i])
                    fail_msg("case %zu, image %d: '%s' frame %d", k, i, c.name, (int)c.frame);
                assert_true(c.time == fmax(0, all[k].time[i]) && c.camera.position.x == all[k].x[i]);
                assert_non_null(strstr(c.image, all[k].path[i]));
            }
            tsr_rig_sequence(rig, &first, &last);
            assert_true(last == all[k].last);
            if (turn) break;
            snprintf(path, sizeof path, "times-%zu.json", k);
            require_ok(tsr_rig_write(rig, in_folder(path), NULL));
            tsr_rig_destroy(&rig);
            require_ok(tsr_rig_read(in_folder(path), NULL, &rig));
            tsr_remarks_take(said, sizeof said);
            assert_string_equal(said, "");
        }
        tsr_rig_destroy(&rig);
    }
}

/* Blender's exporters write no size: it is asked for, and the angle is that of its width; what the file says goes first. */
static void sizes_asked_for(void **state)
{
    (void)state;
    static const char *const json[2] = { "{\"camera_angle_x\": 1, %s \"frames\": [{\"file_path\": \"r_0\", \"transform_matrix\": "
                                         "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}",
                                         "\"w\": 200, \"h\": 100," };
    const tsr_rig_read_options o = { .struct_size = sizeof o, .width = 400, .height = 300 };
    for (int k = 0; k < 2; k++) {
        char text[512];
        tsr_rig *rig;
        tsr_rig_camera c;
        tsr_pinhole p;
        snprintf(text, sizeof text, json[0], k ? json[1] : "");
        require_ok(read_text("", text, &o, &rig));
        require_ok(tsr_rig_get(rig, 0, &c));
        assert_true(c.width == (k ? 200 : 400) && c.height == (k ? 100 : 300));
        require_ok(tsr_camera_to_pinhole(&c.camera, c.width, c.height, &p));
        assert_true(fabs(p.fx - c.width / (2 * tan(0.5))) < 1e-9 && fabs(p.fy - p.fx) < 1e-9 && fabs(p.cy - 0.5 * c.height) < 1e-9);
        tsr_rig_destroy(&rig);
    }
}

/* What Nerfstudio writes besides: a world that is not COLMAP's, said once; panoramas, which are no pinholes. */
static void nerfstudio(void **state)
{
    (void)state;
    static const struct {
        const char *head, *said, *refused;
    } all[] = { { "\"applied_transform\": [[1,0,0,0],[0,0,1,0],[0,-1,0,0]],", "text: applied_transform says that its world is not", NULL },
                { "\"applied_transform\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],", "", NULL },
                { "\"camera_model\": \"OPENCV\",", "", NULL },
                { "\"camera_model\": \"EQUIRECTANGULAR\",", "", "frame 'r_0': camera_model EQUIRECTANGULAR, expected a pinhole" },
                { "\"camera_model\": \"FISHEYE624\",", "", "camera_model FISHEYE624, expected a pinhole" } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        char text[512], said[512];
        tsr_rig *rig;
        snprintf(text, sizeof text,
                 "{%s \"w\": 20, \"h\": 10, \"fl_x\": 20, \"frames\": [{\"file_path\": \"r_0\", \"transform_matrix\": "
                 "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}]}",
                 all[k].head);
        tsr_remarks_take(said, sizeof said);
        if (all[k].refused) {
            require_error(read_text("", text, NULL, &rig), TSR_ERROR_UNSUPPORTED, all[k].refused);
            continue;
        }
        require_ok(read_text("", text, NULL, &rig));
        tsr_remarks_take(said, sizeof said);
        if (*all[k].said ? !strstr(said, all[k].said) : *said) fail_msg("'%s'", said);
        tsr_rig_destroy(&rig);
    }
}

/* A file in another folder than its pictures leads to them; one that brings its own, and pictures that are nowhere, keep their paths. */
static void written_elsewhere(void **state)
{
    (void)state;
    static const struct {
        const char *to, *image[3];
    } all[] = { { "from/b.json", { "./p.png", "q/%02d.png", "none.png" } },
                { "up.json", { "from/p.png", "from/q/%02d.png", "none.png" } },
                { "fromage/c.json", { "../from/p.png", "../from/q/%02d.png", "none.png" } },
                { "from/q/d.json", { "../p.png", "../q/%02d.png", "none.png" } },
                { "copy/e.json", { "./p.png", "../from/q/%02d.png", "none.png" } } };
    tsr_rig *rig, *back;
    tsr_rig_camera c;
    const tsr_rig_write_options o = { .struct_size = sizeof o, .overwrite = 1 };
    empty_folder("from");
    empty_folder("fromage");
    empty_folder("from/q");
    empty_folder("copy");
    put_file("from/p.png", "p");
    put_file("copy/p.png", "p");
    put_file("from/q/00.png", "q");
    char text[1024] = "{\"camera_angle_x\": 1, \"w\": 20, \"h\": 10, \"frames\": [";
    for (int i = 0; i < 3; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s{\"file_path\": \"%s\", \"transform_matrix\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}", i ? "," : "", all[0].image[i]);
    strcat(text, "]}");
    put_file("from/a.json", text);
    require_ok(tsr_rig_read(in_folder("from/a.json"), NULL, &rig));
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        require_ok(tsr_rig_write(rig, in_folder(all[k].to), &o));
        require_ok(tsr_rig_read(in_folder(all[k].to), NULL, &back));
        for (int i = 0; i < 3; i++) {
            require_ok(tsr_rig_get(back, i, &c));
            assert_string_equal(c.image, all[k].image[i]);
        }
        tsr_rig_destroy(&back);
    }
    tsr_rig_destroy(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(known_texts),       cmocka_unit_test(every_format),     cmocka_unit_test(ways),
                                        cmocka_unit_test(everything_kept),   cmocka_unit_test(geocast_readings), cmocka_unit_test(scenes),
                                        cmocka_unit_test(refusals),          cmocka_unit_test(light_fields),     cmocka_unit_test(many),
                                        cmocka_unit_test(names_by_pictures), cmocka_unit_test(frames_by_times),  cmocka_unit_test(sizes_asked_for),
                                        cmocka_unit_test(nerfstudio),        cmocka_unit_test(written_elsewhere) };
    return cmocka_run_group_tests(tests, begin, end);
}
