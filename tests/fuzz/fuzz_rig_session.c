/* Sessions of calibration by hand, which pages and files bring: every line is run or refused with one message, after which everything is as it was; numbers stay finite. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tessera/tessera.h"

static char picture[] = "/tmp/rig-session-XXXXXX.png";
static tsr_context *context;

static void check(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void away(void)
{
    unlink(picture);
    tsr_context_destroy(&context);
}

/* One picture is there; nothing else may be opened. */
static int path_of(void *user, const char *name, char *path, size_t room, char *error, size_t error_room)
{
    (void)user;
    if (!strcmp(name, "a.png") && (size_t)snprintf(path, room, "%s", picture) < room) return 0;
    snprintf(error, error_room, "no such file");
    return -1;
}

static void make_picture(void)
{
    tsr_context_options options = TSR_CONTEXT_OPTIONS;
    tsr_image image = { 0 };
    tsr_write_options write = TSR_WRITE_OPTIONS;
    options.device = "cpu";
    options.threads = 1;
    const int file = mkstemps(picture, 4);
    check(file >= 0 && tsr_context_create(&options, &context) == TSR_OK, "a context and a file");
    close(file);
    check(tsr_image_create(96, 72, 1, &image) == TSR_OK, "a picture");
    for (int i = 0; i < 96 * 72; i++) image.pixels[i] = (uint8_t)((i % 96 / 12 + i / 96 / 12) % 2 * 200);
    write.overwrite = 1;
    check(tsr_image_write(&image, picture, &write) == TSR_OK, "a written picture");
    tsr_image_destroy(&image);
    atexit(away);
}

static void look(tsr_rig_editor *e)
{
    tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
    check(tsr_rig_editor_get_info(e, &info) == TSR_OK && info.active >= 0 && info.undo >= 0 && info.undo <= TSR_RIG_EDITOR_STEPS, "info");
    for (int32_t i = 0; i < info.cameras; i++) {
        tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
        check(tsr_rig_editor_get_camera(e, i, &c) == TSR_OK, tsr_error_message());
        for (int k = 0; k < 9; k++) check(fabs(c.pinhole.rotation[k / 3][k % 3]) < 1 + 1e-9, "a rotation");
        check(isfinite(c.pinhole.fx) && c.pinhole.fx > 0 && isfinite(c.pinhole.translation[0]), "a camera");
    }
    tsr_rig_pane pane = TSR_RIG_PANE;
    tsr_image image = { 0 };
    pane.from_camera = 1;
    if (info.cameras && tsr_rig_editor_draw(e, &pane, 24, 16, &image) == TSR_OK) tsr_image_destroy(&image);
    tsr_rig_compensate_options o = TSR_RIG_COMPENSATE_OPTIONS;
    o.projector = tsr_rig_editor_camera_name(e, 0);
    o.lit = tsr_rig_editor_camera_name(e, info.cameras - 1);
    if (info.cameras && tsr_rig_editor_compensate(e, &o, &image, NULL) == TSR_OK) tsr_image_destroy(&image);
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    tsr_rig_editor_options o = TSR_RIG_EDITOR_OPTIONS;
    tsr_rig_editor *e = NULL;
    int ran = 0;
    if (!context) make_picture();
    o.path = path_of;
    check(tsr_rig_editor_create(context, &o, &e) == TSR_OK, "an editor");
    char *text = (char *)malloc(size + 1);
    check(text != NULL, "memory");
    if (size) memcpy(text, bytes, size);
    text[size] = 0;
    for (char *p = text; *p && ran < 64;) {
        char *end = strchr(p, '\n');
        if (end) *end = 0;
        const size_t before = strlen(tsr_rig_editor_script(e));
        if (tsr_rig_editor_run(e, p) == TSR_OK) ran++;
        else
            check(*tsr_error_message() && !strchr(tsr_error_message(), '\n') && strlen(tsr_rig_editor_script(e)) == before,
                  "a refusal without its line, or with an effect");
        p = end ? end + 1 : p + strlen(p);
    }
    look(e);
    free(text);
    tsr_rig_editor_destroy(&e);
    return ran > 0;
}

void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "proxy pitch\nimage a.png\nimage a.png\nmatch vignette response\nmatch all\nmatch none\n",
        "proxy pitch\nimage a.png\nturn 1 2 3\n+ turn 1 0 0\nmove 1 2 3\nundo\nredo\n",
        "image a.png\nset fov 40\nset k1 -0.1\nadd cx 3\nlock x fov\nunlock fov\nshift 1 2 3\n",
        "proxy pitch\nimage a.png\npair 0 0 0 40 30\npair 36 20.16 0 60 20\npair 36 -20.16 0 70 50\npair 0 34 0 30 10\nsolve\nunpair 0\n",
        "proxy pitch\nimage a.png\nline x 1 2 60 4\nline x 1 30 60 33\nline y 10 5 12 60\nline y 60 5 55 60\nvanish\nunline all\n",
        "image a.png\nimage a.png\nrig on\ncamera 0\norbit 3 4 0 0 0\ndolly 2 0 0 0\nsnapshot one\nreset\nrestore one\n",
        "proxy pitch\nimage a.png\nset z 60\nset pitch -45\nrefine\nrefine wide k1 centre\n",
        "proxy pitch\nimage a.png\nset z 60\nset pitch -45\nimage a.png\nset z 61\nset pitch -44\nrefine colours\nrefine colours all k1\n",
        ("proxy pitch\nimage a.png\nimage a.png\npair 0 0 0 40 30\npair 36 20.16 0 60 20\npair 36 -20.16 0 70 50\npair 0 34 0 30 10\ncamera 0\npair 0 0 0 41 30\npair 36 20.16 0 61 21\n"
        "pair 36 -20.16 0 70 52\nsolve all\nsolve all shared points 0.1 k1\n"),
        "cameras b.json\nproxy b.ply\nimage b.y4m 3\n# a remark\n",
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) fuzz_seed(seeds[i], strlen(seeds[i]));
}
