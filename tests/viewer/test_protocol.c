/* Control messages: what is taken, what is refused and how; the header of a picture byte by byte. */
#include "support.h"

#include "protocol.h"

static int parse(const char *text, viewer_command *command, char error[256]) { return viewer_parse(text, strlen(text), command, error, 256); }

static void good_messages(void **unused)
{
    (void)unused;
    viewer_command c;
    char error[256];
    assert_int_equal(parse("{\"type\":\"paint\",\"from\":[1,2.5,3],\"to\":[4,5,6],\"radius\":2,\"begin\":true,\"input\":4294967295}", &c, error), 0);
    assert_int_equal(c.kind, VIEWER_PAINT);
    assert_true(c.from[0] == 1 && c.from[1] == 2.5 && c.from[2] == 3 && c.to[2] == 6 && c.radius == 2 && c.begin == 1 && c.input == 4294967295.0);
    assert_true(viewer_given(&c, VIEWER_TO) && !viewer_given(&c, VIEWER_AT));
    assert_int_equal(parse("{\"view\":\"volume\",\"type\":\"view\",\"mode\":\"mip\",\"quality\":0.5,\"clip\":false,\"pan\":[-1,2]}", &c, error), 0);
    assert_true(c.view == VIEWER_VOLUME && c.mode == VIEWER_MODE_MIP && c.quality == 0.5 && c.clip == 0 && c.pan[0] == -1 && c.pan[1] == 2);
    assert_true(viewer_given(&c, VIEWER_CLIP) && !viewer_given(&c, VIEWER_ZOOM));
    assert_int_equal(parse("{\"type\":\"view\",\"view\":\"speed\",\"speed\":\"total\",\"axis\":1}", &c, error), 0);
    assert_true(c.view == VIEWER_SPEED && c.speed == VIEWER_SPEED_TOTAL && viewer_given(&c, VIEWER_SPEED_SHOWN) && c.axis == 1);
    assert_string_equal(viewer_speed_name(VIEWER_SPEED_TOTAL), "total");
    assert_int_equal(parse("{\"type\":\"view\",\"view\":\"source\",\"speed\":\"data\"}", &c, error), -1);
    assert_non_null(strstr(error, "expected speed for it"));
    assert_int_equal(parse("{\"type\":\"view\",\"view\":\"speed\",\"speed\":\"F\"}", &c, error), -1);
    assert_non_null(strstr(error, "one of data total"));
    assert_int_equal(parse("{\"type\":\"transfer\",\"points\":[[-5,0,0,0,0],[10,1,0.25,0.5,1]]}", &c, error), 0);
    assert_true(c.transfer.points == 2 && c.transfer.point[1].value == 10 && c.transfer.point[1].color.g == 0.5f && c.transfer.point[0].alpha == 0);
    assert_int_equal(parse("{\"type\":\"save\",\"what\":\"session\",\"name\":\"\xc3\xa4.session\"}", &c, error), 0);
    assert_true(c.what == VIEWER_SAVE_SESSION && !strcmp(c.name, "\xc3\xa4.session"));
    static const char *const bare[] = { "probe-undo", "probe-reset", "start", "pause", "reset", "undo", "redo", "files", "drive" };
    for (size_t i = 0; i < sizeof bare / sizeof *bare; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"type\":\"%s\"}", bare[i]);
        assert_int_equal(parse(text, &c, error), 0);
        assert_true(c.given == 0);
    }
}

static void messages_of_modes(void **unused)
{
    (void)unused;
    viewer_command c;
    char error[256];
    assert_int_equal(parse("{\"type\":\"sculpt\",\"from\":[1,2,3],\"to\":[4,5,6],\"radius\":2.5,\"tool\":\"attract\",\"strength\":0.25}", &c, error),
                     0);
    assert_true(c.kind == VIEWER_SCULPT && c.tool == VIEWER_TOOL_ATTRACT && c.strength == 0.25 && c.to[2] == 6 && c.radius == 2.5);
    assert_int_equal(parse("{\"type\":\"region\",\"do\":\"keep\",\"corners\":[[0,0],[1,0.5],[0.25,1]]}", &c, error), 0);
    assert_true(c.task == VIEWER_DO_KEEP && c.corners == 3 && c.lasso[1][1] == 0.5 && c.lasso[2][0] == 0.25);
    assert_string_equal(viewer_task_name(c.task), "keep");
    assert_int_equal(parse("{\"type\":\"region\",\"do\":\"cut\",\"corners\":[[0,0],[1,0.5],[0.25,1]],\"radius\":2.5}", &c, error), 0);
    assert_true(viewer_given(&c, VIEWER_RADIUS) && c.radius == 2.5);
    assert_int_equal(parse("{\"type\":\"region\",\"do\":\"cut\",\"name\":\"part\",\"from\":[0,0,0],\"to\":[1,1,1]}", &c, error), 0);
    assert_int_equal(parse("{\"type\":\"edit\",\"line\":\"sphere a 0 0 0 1\"}", &c, error), 0);
    assert_string_equal(c.line, "sphere a 0 0 0 1");
    assert_int_equal(parse("{\"type\":\"object\",\"name\":\"body\",\"visible\":false}", &c, error), 0);
    assert_true(viewer_given(&c, VIEWER_VISIBLE) && !c.visible);
    assert_int_equal(parse("{\"type\":\"load\",\"name\":\"m.nii\",\"as\":\"mask\"}", &c, error), 0);
    assert_int_equal(c.as, VIEWER_AS_MASK);
    assert_int_equal(parse("{\"type\":\"mask\",\"opacity\":0.5,\"colour\":[0,0.5,1]}", &c, error), 0);
    assert_true(c.opacity == 0.5 && c.colour[2] == 1);
    static const char *const bad[] = {
        "{\"type\":\"sculpt\",\"from\":[1,2,3],\"radius\":0,\"tool\":\"grow\"}",
        "{\"type\":\"sculpt\",\"from\":[1,2,3],\"radius\":1}",
        "{\"type\":\"sculpt\",\"from\":[1,2,3],\"radius\":1,\"tool\":\"carve\"}",
        "{\"type\":\"sculpt\",\"from\":[1,2,3],\"radius\":1,\"tool\":\"grow\",\"strength\":1.5}",
        "{\"type\":\"region\",\"do\":\"cut\"}",
        "{\"type\":\"region\",\"do\":\"cut\",\"corners\":[[0,0],[1,0],[1,1]],\"radius\":0}",
        "{\"type\":\"region\",\"do\":\"cut\",\"from\":[0,0,0],\"to\":[1,1,1],\"radius\":1}",
        "{\"type\":\"region\",\"do\":\"cut\",\"from\":[0,0,0]}",
        "{\"type\":\"region\",\"do\":\"cut\",\"corners\":[[0,0],[1,0]]}",
        "{\"type\":\"region\",\"do\":\"cut\",\"corners\":[[0,0],[1,0],[1,1.01]]}",
        "{\"type\":\"region\",\"do\":\"cut\",\"corners\":[[0,0],[1,0],[1,1]],\"from\":[0,0,0],\"to\":[1,1,1]}",
        "{\"type\":\"region\",\"do\":\"cut\",\"name\":\"a b\",\"from\":[0,0,0],\"to\":[1,1,1]}",
        "{\"type\":\"edit\",\"line\":\"\"}",
        "{\"type\":\"edit\",\"line\":\"undo\\nsave a b\"}",
        "{\"type\":\"edit\",\"line\":\"sph\\u00e4re\"}",
        "{\"type\":\"object\",\"name\":\"../a\"}",
        "{\"type\":\"open\",\"name\":\"../a.ply\"}",
        "{\"type\":\"mask\",\"opacity\":2}",
        "{\"type\":\"isovalue\"}",
        "{\"type\":\"value\",\"at\":[1,2,3]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_int_equal(parse(bad[i], &c, error), -1);
}

static void bad_messages(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "", "not JSON" },
        { "{\"type\":\"start\"} x", "not JSON" },
        { "{\"type\":\"start\",\"type\":\"start\"}", "not JSON" },
        { "[1]", "no object" },
        { "{\"kind\":\"start\"}", "type: missing" },
        { "{\"type\":\"dance\"}", "type: unknown" },
        { "{\"type\":\"start\",\"name\":\"x\"}", "no field of this name" },
        { "{\"type\":\"set\",\"name\":\"alpha\"}", "value: missing" },
        { "{\"type\":\"set\",\"name\":\"\",\"value\":1}", "name: something else, expected a text of 1 to 127 bytes" },
        { "{\"type\":\"set\",\"name\":\"alpha\",\"value\":true}", "value: not a number" },
        { "{\"type\":\"step\",\"count\":1.5}", "count: out of range, expected a whole number from 1 to 100000" },
        { "{\"type\":\"paint\",\"from\":[1,2],\"radius\":1}", "from: something else, expected an array of 3 numbers" },
        { "{\"type\":\"paint\",\"from\":[1,2,null],\"radius\":1}", "from: not a number" },
        { "{\"type\":\"erase\",\"from\":[1,2,3],\"radius\":0}", "radius: 0, expected a positive number" },
        { "{\"type\":\"view\",\"view\":\"left\"}", "view: something else, expected one of source speed volume" },
        { "{\"type\":\"view\",\"view\":\"speed\",\"clip\":true}", "view: a slice window with fields of the 3-D window" },
        { "{\"type\":\"view\",\"view\":\"volume\",\"position\":1}", "view: volume with axis or position" },
        { "{\"type\":\"view\",\"view\":\"volume\",\"clip\":1}", "clip: something else, expected true or false" },
        { "{\"type\":\"view\",\"view\":\"source\",\"width\":5000}", "width: out of range" },
        { "{\"type\":\"window\",\"low\":1,\"high\":1}", "high: not above low" },
        { "{\"type\":\"probe\",\"at\":[1,2,3],\"colours\":1}", "colours: something else, expected true or false" },
        { "{\"type\":\"paint\",\"from\":[1,2,3],\"radius\":1,\"colours\":true}", "no field of this name" },
        { "{\"type\":\"transfer\",\"preset\":\"grey\",\"points\":[[0,0,0,0,0]]}", "points: not one of points and preset" },
        { "{\"type\":\"transfer\",\"points\":[[0,0,0,0]]}", "points: a point of another form" },
        { "{\"type\":\"transfer\",\"points\":[[0,0,0,0,1.5]]}", "points: a number out of range" },
        { "{\"type\":\"transfer\",\"points\":[[1,0,0,0,0],[0,0,0,0,0]]}", "points: values that do not rise" },
        { "{\"type\":\"load\",\"name\":\"../x\"}", "name: a name with a path" },
        { "{\"type\":\"load\",\"name\":\".x\"}", "name: a name with a path" },
        { "{\"type\":\"shown\",\"view\":\"source\",\"sequence\":-1}", "sequence: out of range" },
        { "{\"type\":\"label\",\"label\":0}", "label: out of range, expected a whole number from 1 to 255" },
        { "{\"type\":\"label\",\"label\":256}", "label: out of range" },
        { "{\"type\":\"label\",\"label\":1,\"name\":\"a\\\"b\"}", "name: no name of a label" },
        { "{\"type\":\"label\",\"label\":1,\"name\":\"a\\nb\"}", "name: no name of a label" },
        { "{\"type\":\"label\",\"label\":1,\"eye\":3}", "no field of this name" },
        { "{\"type\":\"label\",\"label\":1,\"colour\":[0,0,2]}", "colour: out of range" },
        { "{\"type\":\"overlay\",\"opacity\":1}", "over: missing" },
        { "{\"type\":\"overlay\",\"over\":\"mask\"}", "over: something else, expected one of none image speed" },
        { "{\"type\":\"view\",\"view\":\"source\",\"see_through\":0.5}", "view: a slice window with fields of the 3-D window" },
        { "{\"type\":\"follow\",\"view\":\"source\"}", "no field of this name" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        viewer_command c;
        char error[256];
        if (!parse(cases[i].text, &c, error)) fail_msg("%s: taken", cases[i].text);
        if (!strstr(error, cases[i].message)) fail_msg("%s: message '%s' lacks '%s'", cases[i].text, error, cases[i].message);
        if (strchr(error, '\n')) fail_msg("%s: more than one line", cases[i].text);
    }
    viewer_command c;
    char small[16], error[256], *big = (char *)malloc(VIEWER_MESSAGE_BYTES + 1);
    assert_non_null(big);
    memset(big, ' ', VIEWER_MESSAGE_BYTES + 1);
    assert_int_equal(viewer_parse(big, VIEWER_MESSAGE_BYTES + 1, &c, error, sizeof error), -1);
    assert_non_null(strstr(error, "over 65536 bytes"));
    memset(big, '[', VIEWER_MESSAGE_BYTES);
    assert_int_equal(viewer_parse(big, VIEWER_MESSAGE_BYTES, &c, small, sizeof small), -1); /* deep, and little room for the message */
    assert_true(strlen(small) < sizeof small);
    free(big);
}

static void names(void **unused)
{
    (void)unused;
    static const char *const good[] = { "a", "head.nii.gz", "a b", "a..", "\xc3\xa4" }, *const bad[] = { "",    ".",    "..",   ".a",   "-a",
                                                                                                         "a/b", "a\\b", "a\nb", "a\x7f" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(viewer_name_is_plain(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(viewer_name_is_plain(bad[i]));
    char name[200];
    memset(name, 'n', sizeof name);
    name[127] = 0;
    assert_true(viewer_name_is_plain(name));
    name[127] = 'n';
    name[128] = 0;
    assert_false(viewer_name_is_plain(name));
}

static void header(void **unused)
{
    (void)unused;
    const viewer_frame frame = { .view = 2,
                                 .draft = 1,
                                 .sequence = 0x01020304,
                                 .width = 640,
                                 .height = 480,
                                 .view_input = 7,
                                 .edit_input = 9,
                                 .steps = 4294967298.0,
                                 .origin = { 1, 2, 3 },
                                 .right = { 0.5f, 0, 0 },
                                 .down = { 0, -1, 0 },
                                 .pixel = 0.25f,
                                 .milliseconds = 2,
                                 .zoom = 4 };
    static const uint8_t expected[VIEWER_FRAME_HEADER] = {
        'T', 'S', 'R',  'F',  1, 2, 1, 0,    4, 3, 2,    1,    0x80, 2,    0, 0,    0xe0, 1,
        0,   0,   7,    0,    0, 0, 9, 0,    0, 0, 2,    0,    0,    0,    1, 0,    0,    0, /* to offset 36 */
        0,   0,   0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0,    0,    0, 0x3f, 0,    0,
        0,   0,   0,    0,    0, 0, 0, 0,    0, 0, 0,    0,    0x80, 0xbf, 0, 0,    0,    0, /* to 72 */
        0,   0,   0x80, 0x3e, 0, 0, 0, 0x40, 0, 0, 0x80, 0x40                                /* to 84, then zeros */
    };
    uint8_t bytes[VIEWER_FRAME_HEADER];
    memset(bytes, 0xee, sizeof bytes);
    viewer_frame_pack(&frame, bytes);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(good_messages), cmocka_unit_test(messages_of_modes), cmocka_unit_test(bad_messages),
                                        cmocka_unit_test(names), cmocka_unit_test(header) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
