/* Sessions that draw their own pictures, several labels, views of watchers, without a network: both threads at work (for the sanitizers); rods in space. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#include "lines.h"
#include "mode.h"
#include "show.h"
#include "stream.h"

static void wake(void *user) { (void)user; }

struct bench {
    char folder[64];
    viewer_session *session;
    uint64_t state_version;
    char state[16384], notices[8192];
    int frames[VIEWER_WINDOWS];
};

static void listen_once(struct bench *b)
{
    int all[VIEWER_WINDOWS];
    viewer_blob *blob;
    for (int w = 0; w < VIEWER_WINDOWS; w++) all[w] = 1;
    viewer_session_watch(b->session, 1, all);
    if ((blob = viewer_session_state(b->session, &b->state_version))) {
        assert_true(blob->size < sizeof b->state);
        memcpy(b->state, blob->bytes + VIEWER_PAD, blob->size);
        b->state[blob->size] = 0;
        viewer_blob_release(&blob);
    }
    while ((blob = viewer_session_notice(b->session))) {
        const size_t used = strlen(b->notices);
        if (used + blob->size + 1 < sizeof b->notices) {
            memcpy(b->notices + used, blob->bytes + VIEWER_PAD, blob->size);
            b->notices[used + blob->size] = 0;
        }
        viewer_blob_release(&blob);
    }
    for (int w = 0; w < VIEWER_WINDOWS; w++) {
        if (!(blob = viewer_session_frame(b->session, w))) continue;
        assert_true(blob->binary && blob->bytes[VIEWER_PAD + 5] == w % VIEWER_VIEWS);
        b->frames[w]++;
        viewer_blob_release(&blob);
    }
}

static int says(const struct bench *b, const char *text) { return strstr(b->state, text) != NULL; }
#define UNTIL(condition)                                                                                          \
    do {                                                                                                          \
        int tries_ = 0;                                                                                           \
        for (listen_once(b); !(condition); listen_once(b)) {                                                      \
            if (++tries_ > 300000) fail_msg("%s: never; state %s; notices %s", #condition, b->state, b->notices); \
            nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);                                            \
        }                                                                                                         \
    } while (0)

static void command_of(struct bench *b, const char *text, int eye)
{
    viewer_command c;
    char error[256];
    if (viewer_parse(text, strlen(text), &c, error, sizeof error)) fail_msg("%s: %s", text, error);
    c.eye = eye;
    while (viewer_session_command(b->session, &c, error, sizeof error)) nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}
static void command(struct bench *b, const char *text) { command_of(b, text, 0); }

static void path_of(const struct bench *b, const char *name, char path[128]) { snprintf(path, 128, "%s/%s", b->folder, name); }

static void begin(struct bench *b)
{
    memset(b, 0, sizeof *b);
    strcpy(b->folder, "shows-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
}

static void open_session(struct bench *b, const viewer_mode *mode, const char *file)
{
    char error[256] = "";
    viewer_options options = { .mode = mode, .folder = b->folder, .file = file, .device = "cpu", .threads = 2, .segment = TSR_SEGMENT_OPTIONS };
    options.segment.target = (double)NAN;
    if (viewer_session_create(&options, wake, NULL, &b->session, error, sizeof error)) fail_msg("%s", error);
}

static void end(struct bench *b, const char *const *names)
{
    char path[128];
    viewer_session_destroy(&b->session);
    for (int i = 0; names[i]; i++) {
        path_of(b, names[i], path);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(b->folder), 0); /* nothing else is left */
}

/* A film of six grey frames: settings change it, a wrong one is refused, the end is found. */
static void film(void **unused)
{
    (void)unused;
    struct bench own, *b = &own;
    char path[128];
    tsr_video_writer *writer = NULL;
    tsr_image image = { 0 };
    begin(b);
    path_of(b, "row.y4m", path);
    require_ok(tsr_video_writer_create(path, 32, 24, 25, 1, NULL, &writer));
    for (int i = 0; i < 6; i++) {
        require_ok(tsr_image_create(32, 24, 3, &image));
        memset(image.pixels, 40 * i, 32 * 24 * 3);
        require_ok(tsr_video_writer_append(writer, &image));
        tsr_image_destroy(&image);
    }
    require_ok(tsr_video_writer_finish(&writer));
    open_session(b, &viewer_film, "row.y4m");
    command(b, "{\"type\":\"view\",\"view\":\"volume\",\"width\":64,\"height\":48}");
    UNTIL(b->frames[VIEWER_VOLUME] && says(b, "\"frames\":6") && says(b, "\"known\":true"));
    command(b, "{\"type\":\"set\",\"name\":\"frame\",\"value\":4}");
    UNTIL(says(b, "\"frame\":4"));
    command(b, "{\"type\":\"set\",\"name\":\"frame\",\"value\":-1}");
    UNTIL(strstr(b->notices, "expected frame from 0"));
    const int shown = b->frames[VIEWER_VOLUME];
    command(b, "{\"type\":\"set\",\"name\":\"playing\",\"value\":1}");
    UNTIL(b->frames[VIEWER_VOLUME] > shown + 3);
    command(b, "{\"type\":\"save\",\"what\":\"picture\",\"name\":\"one.png\"}");
    UNTIL(strstr(b->notices, "one.png"));
    command(b, "{\"type\":\"load\",\"name\":\"missing.y4m\"}");
    UNTIL(strstr(b->notices, "missing.y4m"));
    end(b, (const char *const[]){ "row.y4m", "one.png", NULL });
}

/* A stream: its frames by our own decoder, and what lies over them: the picture changes with each, and a wrong one is refused. */
static void stream(void **unused)
{
    (void)unused;
    struct bench own, *b = &own;
    char path[128];
    tsr_context *context = test_context();
    tsr_dirac_encode_options options = TSR_DIRAC_ENCODE_OPTIONS;
    tsr_dirac_writer *writer = NULL;
    tsr_video_frame frame = { 0 };
    begin(b);
    path_of(b, "balls.drc", path);
    options.format = (tsr_video_format){ .width = 64, .height = 48, .chroma = TSR_CHROMA_420, .bits = 8 };
    options.coding = TSR_DIRAC_CODING_ARITHMETIC;
    options.quantiser = 12;
    options.group = 4;
    require_ok(tsr_dirac_writer_create(context, path, &options, NULL, &writer));
    require_ok(tsr_video_frame_create(&options.format, &frame));
    for (int t = 0; t < 6; t++) {
        for (int64_t k = 0; k < frame.bytes; k++)
            ((unsigned char *)frame.plane[0])[k] = (unsigned char)(k < 64 * 48 ? 128 + 100 * sin(0.2 * (double)(k % 64 - 2 * t)) : 128);
        require_ok(tsr_dirac_writer_append(writer, &frame));
    }
    require_ok(tsr_dirac_writer_finish(&writer));
    tsr_video_frame_destroy(&frame);
    tsr_context_destroy(&context);
    open_session(b, &viewer_film, "balls.drc");
    command(b, "{\"type\":\"view\",\"view\":\"volume\",\"width\":64,\"height\":48}");
    UNTIL(b->frames[VIEWER_VOLUME] && says(b, "\"stream\":true") && says(b, "\"frames\":6") && says(b, "\"known\":true"));
    command(b, "{\"type\":\"set\",\"name\":\"frame\",\"value\":2}");
    UNTIL(says(b, "\"frame\":2"));
    for (int overlay = 1; overlay < 4; overlay++) {
        char text[80];
        const int shown = b->frames[VIEWER_VOLUME];
        snprintf(text, sizeof text, "{\"type\":\"set\",\"name\":\"overlay\",\"value\":%d}", overlay);
        command(b, text);
        snprintf(text, sizeof text, "\"overlay\":%d", overlay);
        UNTIL(says(b, text) && b->frames[VIEWER_VOLUME] > shown);
    }
    command(b, "{\"type\":\"set\",\"name\":\"overlay\",\"value\":4}");
    UNTIL(strstr(b->notices, "overlay from 0 to 3"));
    end(b, (const char *const[]){ "balls.drc", NULL });
}

/* A frame of 20 x 12 that fills the middle of 40 x 40 pixels, from blocks of 8 that reach beyond it. */
static void overlays(void **unused)
{
    tsr_dirac_block_info block[4 * 4] = { { .mode = 0 } };
    uint8_t quantiser[2] = { 10, 30 };
    static uint8_t pixels[40 * 40 * 3];
    viewer_anatomy a = { .blocks = { 4, 4 }, .separation = { 8, 8 }, .precision = 1, .slices = { 2, 1 }, .block = block, .quantiser = quantiser };
    tsr_image picture = { .width = 40, .height = 40, .pixels = pixels };
    (void)unused;
#define AT(x, y) (pixels + 3 * (40 * ((y) + 10) + (x) + 10)) /* of the frame */
    for (int k = 0; k < 16; k++) block[k] = (tsr_dirac_block_info){ .mode = 1, .vector = { { 6, 0 } } };
    block[1] = (tsr_dirac_block_info){ .mode = 2, .vector = { { 0, 0 }, { 0, 8 } } };
    for (int overlay = VIEWER_OVER_BLOCKS; overlay < VIEWER_OVERLAYS; overlay++) {
        memset(pixels, 0, sizeof pixels);
        viewer_overlay_draw(&a, overlay, 20, 12, -10, -10, 1, 1, &picture);
        for (int y = -10; y < 30; y++)
            for (int x = -10; x < 30; x++)
                if (y < 0 || y >= 12 || x < 0 || x >= 24) assert_int_equal(AT(x, y)[0] + AT(x, y)[1] + AT(x, y)[2], 0);
        if (overlay == VIEWER_OVER_BLOCKS) {
            assert_true(AT(8, 4)[2] > AT(8, 4)[1] && AT(16, 4)[1] > AT(16, 4)[2]); /* edges of blue behind green, and green behind blue */
            assert_true(AT(12, 4)[2] > AT(12, 4)[1] && AT(12, 4)[2] < AT(8, 4)[2]);
        } else if (overlay == VIEWER_OVER_VECTORS) {
            assert_true(AT(4, 4)[1] > 100 && AT(7, 4)[1] > 100 && !AT(8, 4)[1]); /* 3 samples to the right */
            assert_true(AT(12, 4)[2] > 200 && AT(12, 8)[2] > 200 && !AT(12, 9)[2]);
            assert_true(!AT(4, 12)[1]); /* the middle of that block is beyond the frame */
        } else assert_true(AT(4, 6)[2] > 100 && !AT(4, 6)[0] && AT(15, 6)[0] > 100 && !AT(15, 6)[2]);
    }
#undef AT
}

static void put_text(const struct bench *b, const char *name, const char *text)
{
    char path[128];
    path_of(b, name, path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* New views of depth images: settings, merging, kinds of pictures, steps. A rig gets no file from outside the folder and by no link: its camera is left out, which is said. */
static void views(void **unused)
{
    (void)unused;
    struct bench own, *b = &own;
    static const char camera[] = "{\"depth_file_path\":\"%s\",\"transform_matrix\":[[1,0,0,%d],[0,1,0,0],[0,0,1,2],[0,0,0,1]]}";
    char path[128], outside[96], frame[3][400], text[1400];
    tsr_volume *depth;
    begin(b);
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 320, 240, 1 }, NULL, &depth));
    for (int i = 0; i < 320 * 240; i++) ((float *)tsr_volume_data(depth))[i] = 2;
    path_of(b, "flat.npy", path);
    require_ok(tsr_volume_write(depth, path, NULL));
    snprintf(outside, sizeof outside, "%.64s-outside.npy", b->folder);
    require_ok(tsr_volume_write(depth, outside, NULL));
    tsr_volume_destroy(&depth);
    path_of(b, "link.npy", path);
    assert_int_equal(symlink("flat.npy", path), 0);
    snprintf(path, sizeof path, "../%s", outside);
    snprintf(frame[0], sizeof frame[0], camera, "flat.npy", 0);
    snprintf(frame[1], sizeof frame[1], camera, path, 1);
    snprintf(frame[2], sizeof frame[2], camera, "link.npy", 2);
    snprintf(text, sizeof text, "{\"camera_angle_x\":0.8,\"w\":320,\"h\":240,\"frames\":[%s,%s,%s]}", frame[0], frame[1], frame[2]);
    put_text(b, "three.json", text);
    snprintf(text, sizeof text, "{\"camera_angle_x\":0.8,\"w\":320,\"h\":240,\"frames\":[%s]}", frame[1]);
    put_text(b, "foreign.json", text);
    put_text(b, "plain.json",
             "{\"camera_angle_x\":0.8,\"w\":320,\"h\":240,\"frames\":[{\"transform_matrix\":[[1,0,0,0],[0,1,0,0],[0,0,1,2],[0,0,0,1]]}]}");
    assert_true(viewer_mode_of_path(b->folder, "three.json") == &viewer_views && viewer_mode_of_path(b->folder, "plain.json") == &viewer_cameras);
    open_session(b, &viewer_views, "three.json");
    command(b, "{\"type\":\"view\",\"view\":\"volume\",\"width\":96,\"height\":72}");
    UNTIL(b->frames[VIEWER_VOLUME] && says(b, "\"cameras\":3") && says(b, "\"depths\":3") && says(b, "\"camera\":0"));
    UNTIL(strstr(b->notices, "camera 1 is left out: '../") && strstr(b->notices, "camera 2 is left out: 'link.npy'"));
    UNTIL(says(b, "\"covered\":0.9") || says(b, "\"covered\":1")); /* all but half a sample on each side */
    for (int merge = 0; merge < 4; merge++)
        for (int kind = 0; kind < 4; kind++) {
            const int shown = b->frames[VIEWER_VOLUME];
            snprintf(text, sizeof text, "{\"type\":\"set\",\"name\":\"merge\",\"value\":%d}", merge);
            command(b, text);
            snprintf(text, sizeof text, "{\"type\":\"set\",\"name\":\"show\",\"value\":%d}", kind);
            command(b, text);
            snprintf(text, sizeof text, "\"merge\":%d,\"show\":%d", merge, kind);
            UNTIL(says(b, text) && b->frames[VIEWER_VOLUME] > shown);
        }
    static const char *const steps[] = { "cut", "far", "path", "right", "up", "forward", "turn", "tilt" };
    for (int i = 0; i < 8; i++) {
        const int shown = b->frames[VIEWER_VOLUME];
        snprintf(text, sizeof text, "{\"type\":\"set\",\"name\":\"%s\",\"value\":1}", steps[i]);
        command(b, text);
        UNTIL(b->frames[VIEWER_VOLUME] > shown);
    }
    command(b, "{\"type\":\"set\",\"name\":\"camera\",\"value\":2}");
    UNTIL(says(b, "\"camera\":2") && says(b, "\"place\":2"));
    command(b, "{\"type\":\"set\",\"name\":\"right\",\"value\":11}");
    UNTIL(strstr(b->notices, "right or up from -10 to 10"));
    command(b, "{\"type\":\"save\",\"what\":\"picture\",\"name\":\"view.png\"}");
    UNTIL(strstr(b->notices, "\"saved\",\"text\":\"view.png\""));
    command(b, "{\"type\":\"load\",\"name\":\"plain.json\"}");
    UNTIL(strstr(b->notices, "plain.json: none of its 1 cameras names a depth image"));
    command(b, "{\"type\":\"load\",\"name\":\"foreign.json\"}");
    UNTIL(strstr(b->notices, "foreign.json: no depth image of it has a distance in it, or none can be read"));
    assert_true(says(b, "\"cameras\":3")); /* as it was */
    assert_int_equal(unlink(outside), 0);
    end(b, (const char *const[]){ "flat.npy", "link.npy", "three.json", "foreign.json", "plain.json", "view.png", NULL });
}

/* A page that watches looks another way: its windows alone change. */
static void eyes(void **unused)
{
    (void)unused;
    struct bench own, *b = &own;
    char path[128];
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    tsr_volume *image;
    begin(b);
    options.size = (tsr_size3){ 24, 24, 24 };
    require_ok(tsr_phantom_make("phantom_tumour", &options, &image, NULL));
    path_of(b, "head.nrrd", path);
    require_ok(tsr_volume_write(image, path, NULL));
    tsr_volume_destroy(&image);
    open_session(b, &viewer_view, "head.nrrd");
    UNTIL(says(b, "\"name\":\"head.nrrd\""));
    command(b, "{\"type\":\"view\",\"view\":\"volume\",\"width\":48,\"height\":40}");
    UNTIL(b->frames[VIEWER_VOLUME]);
    viewer_session_eye(b->session, 2, 1);
    command_of(b, "{\"type\":\"view\",\"view\":\"volume\",\"width\":32,\"height\":32,\"azimuth\":77}", 2);
    UNTIL(b->frames[2 * VIEWER_VIEWS + VIEWER_VOLUME]);
    assert_false(says(b, "\"azimuth\":77"));
    viewer_session_eye(b->session, 2, 0);
    const int shown = b->frames[2 * VIEWER_VIEWS + VIEWER_VOLUME];
    command(b, "{\"type\":\"isovalue\",\"value\":0.5}");
    const int before = b->frames[VIEWER_VOLUME];
    UNTIL(b->frames[VIEWER_VOLUME] > before);
    assert_true(b->frames[2 * VIEWER_VIEWS + VIEWER_VOLUME] <= shown + 1); /* one may have been on its way */
    end(b, (const char *const[]){ "head.nrrd", NULL });
}

/* Two labels: what was painted first rests as voxels while the second is painted; the file has both, and gives both back. */
static void labels(void **unused)
{
    (void)unused;
    struct bench own, *b = &own;
    char path[128];
    tsr_phantom_options options = TSR_PHANTOM_OPTIONS;
    tsr_volume *image, *saved;
    int64_t counts[3] = { 0 };
    begin(b);
    options.size = (tsr_size3){ 40, 40, 40 };
    require_ok(tsr_phantom_make("phantom_tumour", &options, &image, NULL));
    path_of(b, "head.nrrd", path);
    require_ok(tsr_volume_write(image, path, NULL));
    tsr_volume_destroy(&image);
    open_session(b, &viewer_segment, "head.nrrd");
    UNTIL(says(b, "\"name\":\"head.nrrd\""));
    command(b, "{\"type\":\"view\",\"view\":\"source\",\"width\":48,\"height\":40}");
    command(b, "{\"type\":\"paint\",\"from\":[10,20,20],\"radius\":5,\"begin\":true}");
    command(b, "{\"type\":\"label\",\"label\":7,\"name\":\"b \\u00e4\",\"active\":true}");
    UNTIL(says(b, "\"label\":7,\"name\":\"b") && says(b, "\"inside_voxels\":0"));
    command(b, "{\"type\":\"paint\",\"from\":[28,20,20],\"radius\":3,\"begin\":true}");
    command(b, "{\"type\":\"save\",\"what\":\"labels\",\"name\":\"two.nii.gz\"}");
    UNTIL(strstr(b->notices, "two.txt"));
    path_of(b, "two.nii.gz", path);
    require_ok(tsr_volume_read(path, NULL, &saved));
    assert_true(tsr_volume_holds_labels(saved));
    const uint8_t *voxel = (const uint8_t *)tsr_volume_data_const(saved);
    for (int64_t i = 0; i < 64000; i++) {
        const double x = (double)(i % 40), y = (double)(i / 40 % 40), z = (double)(i / 1600);
        const double one = sqrt((x - 10) * (x - 10) + (y - 20) * (y - 20) + (z - 20) * (z - 20)) - 5,
                     two = sqrt((x - 28) * (x - 28) + (y - 20) * (y - 20) + (z - 20) * (z - 20)) - 3;
        assert_true(voxel[i] == 0 || voxel[i] == 1 || voxel[i] == 7);
        if (one < -1) assert_int_equal(voxel[i], 1);
        if (two < -1) assert_int_equal(voxel[i], 7);
        if (one > 1 && two > 1) assert_int_equal(voxel[i], 0);
        counts[voxel[i] == 7 ? 2 : voxel[i]]++;
    }
    tsr_volume_destroy(&saved);
    command(b, "{\"type\":\"label\",\"label\":1,\"remove\":true}");
    UNTIL(!says(b, "\"Label 1\""));
    command(b, "{\"type\":\"load\",\"name\":\"two.nii.gz\",\"as\":\"labels\"}");
    char expected[64];
    snprintf(expected, sizeof expected, "\"inside_voxels\":%lld", (long long)counts[1]); /* the first is active */
    UNTIL(says(b, "\"Label 1\"") && says(b, "\"b ") && says(b, expected));
    command(b, "{\"type\":\"load\",\"name\":\"head.nrrd\",\"as\":\"labels\"}");
    UNTIL(strstr(b->notices, "head.nrrd: "));
    command(b, "{\"type\":\"load\",\"name\":\"two.nii.gz\",\"as\":\"overlay\"}");
    UNTIL(says(b, "\"image\":\"two.nii.gz\""));
    const int shown = b->frames[VIEWER_SOURCE];
    command(b, "{\"type\":\"overlay\",\"over\":\"speed\",\"opacity\":1}");
    UNTIL(b->frames[VIEWER_SOURCE] > shown);
    command(b, "{\"type\":\"load\",\"name\":\"head.nrrd\"}");
    UNTIL(says(b, "\"labels\":[]"));
    end(b, (const char *const[]){ "head.nrrd", "two.nii.gz", "two.txt", NULL });
}

static void rows(void **unused)
{
    (void)unused;
    char pattern[64], name[64];
    assert_int_equal(viewer_show_row("a-0007.png", pattern, sizeof pattern), 8);
    assert_string_equal(pattern, "a-%04d.png");
    viewer_show_name(pattern, 12345, name, sizeof name);
    assert_string_equal(name, "a-12345.png");
    viewer_show_name(pattern, 8, name, sizeof name);
    assert_string_equal(name, "a-0008.png");
    assert_int_equal(viewer_show_row("0", pattern, sizeof pattern), 1);
    assert_int_equal(viewer_show_row("head.nii", pattern, sizeof pattern), 0);
    assert_int_equal(viewer_show_row("50%d1.png", pattern, sizeof pattern), 0); /* no second format */
    assert_int_equal(viewer_show_row("1234567890.png", pattern, sizeof pattern), 0);
}

/* Where a rod lies and what hides it, by the equations of a pinhole. */
static void rods(void **unused)
{
    (void)unused;
    const tsr_camera camera = {
        .position = { 0, 0, 10 }, .rotation = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, .projection = TSR_PERSPECTIVE, .fov = 90
    };
    static const uint8_t red[3] = { 250, 0, 0 }, green[3] = { 0, 250, 0 };
    tsr_image image = { 0 };
    viewer_canvas canvas;
    require_ok(viewer_canvas_begin(&canvas, &camera, 101, 101, &image)); /* 50.5 pixels a unit of slope */
    viewer_canvas_line(&canvas, (tsr_vec3){ -4, 2, 0 }, (tsr_vec3){ 4, 2, 0 }, 0.4, red);
    viewer_canvas_line(&canvas, (tsr_vec3){ 0, 8, 5 }, (tsr_vec3){ 0, -8, 5 }, 0.2, green);     /* before it */
    viewer_canvas_line(&canvas, (tsr_vec3){ -20, 2, -40 }, (tsr_vec3){ 20, 2, -40 }, 2, green); /* behind it, at y = 2 / 50 of the slope */
    viewer_canvas_line(&canvas, (tsr_vec3){ 0, 0, 12 }, (tsr_vec3){ 0, 0, 20 }, 1, red);        /* behind the eye */
    const int row = (int)lround(50 - 50.5 * 0.2);
    const uint8_t *p = image.pixels;
#define PIXEL(x, y) (p + 3 * (101 * (y) + (x)))
    assert_true(PIXEL(40, row)[0] > 200 && PIXEL(40, row)[1] < 20);
    assert_true(PIXEL(50, row)[1] > 200 && PIXEL(50, row)[0] < 60);        /* the nearer rod hides it */
    assert_true(PIXEL(40, row - 6)[0] < 80 && PIXEL(40, row + 6)[0] < 80); /* 2 pixels thick to each side */
    assert_true(PIXEL((int)lround(50 - 50.5 * 0.4) - 5, row)[0] < 80);     /* beyond its end */
    assert_true(PIXEL(30, (int)lround(50 - 50.5 * 0.04))[1] > 200);
    assert_true(PIXEL(48, 58)[0] < 80); /* nothing of what lies behind the eye */
    viewer_canvas_end(&canvas);
    tsr_image_destroy(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(rows),     cmocka_unit_test(rods),  cmocka_unit_test(film), cmocka_unit_test(stream),
                                        cmocka_unit_test(overlays), cmocka_unit_test(views), cmocka_unit_test(eyes), cmocka_unit_test(labels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
