#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"

/* Names in a session are those of its folder: what the workbench served. */
static int beside(void *user, const char *name, char *path, size_t room, char *error, size_t error_room)
{
    const char *session = (const char *)user, *slash = strrchr(session, '/');
    const int folder = slash ? (int)(slash - session) + 1 : 0;
    if ((size_t)snprintf(path, room, "%.*s%s", *name == '/' ? 0 : folder, session, name) < room) return 0;
    snprintf(error, error_room, "a path that is too long");
    return -1;
}

static int run_lines(const cli_call *cli, tsr_rig_editor *editor, const char *session, char *text)
{
    int64_t line = 0;
    for (char *p = text; *p;) {
        char *end = strchr(p, '\n');
        if (end) *end = 0;
        line++;
        if (tsr_rig_editor_run(editor, p) != TSR_OK)
            return cli_error(cli, CLI_FAILED, "%s:%lld: %s", cli_shown(session), (long long)line, tsr_error_message());
        p = end ? end + 1 : p + strlen(p);
    }
    return CLI_OK;
}

/* The picture that a projector must show. */
static int compensate(const cli_call *cli, tsr_rig_editor *editor, const calibrate_canvas *canvas, tsr_rig_compensated *made)
{
    tsr_image image = { 0 };
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = cli->globals.force;
    tsr_status status = tsr_rig_editor_compensate(editor, &canvas->o, &image, made);
    if (status != TSR_OK) return cli_status(cli, status, NULL);
    status = tsr_image_write(&image, canvas->image, &write);
    tsr_image_destroy(&image);
    if (status != TSR_OK) return cli_status(cli, status, canvas->image);
    if (made->short_of_light > 0.01)
        cli_note(cli, "%.0f %% of the canvas wants more light than there is: --dim %.2g leaves 1 %%", 100 * made->short_of_light, made->enough);
    return CLI_OK;
}

static void show_canvas(const cli_call *cli, const tsr_rig_compensated *made)
{
    if (cli->globals.json) {
        json_real("canvas", made->canvas);
        json_real("short_of_light", made->short_of_light);
        json_real("enough", made->enough);
    } else {
        printf("%.1f %% of the projector's pixels light the canvas, %.1f %% of these want more light than there is\n", 100 * made->canvas,
               100 * made->short_of_light);
    }
}

static void show(const cli_call *cli, tsr_rig_editor *editor, const tsr_rig_editor_info *info, const tsr_rig_compensated *made)
{
    if (cli->globals.json) {
        json_open(NULL, '{');
        json_int("cameras", info->cameras);
        json_int("steps", info->undo);
        if (made) show_canvas(cli, made);
        json_open("camera", '[');
    }
    for (int32_t i = 0; i < info->cameras; i++) {
        tsr_rig_editor_camera c = TSR_RIG_EDITOR_CAMERA;
        if (tsr_rig_editor_get_camera(editor, i, &c) != TSR_OK) continue;
        if (cli->globals.json) {
            json_open(NULL, '{');
            json_text("name", c.name);
            for (int k = 0; k < TSR_RIG_PARAMETERS; k++) json_real(tsr_rig_editor_parameter_name(k), c.value[k]);
            json_int("pairs", c.pairs);
            json_real("pair_rms", c.pair_rms);
            if (c.edge >= 0) json_real("edge", c.edge);
            if (c.difference >= 0) json_real("difference", c.difference);
            if (c.condition > 0) json_real("condition", c.condition);
            json_open("gain", '[');
            for (int k = 0; k < 3; k++) json_real(NULL, c.gain[k]);
            json_close(']');
            json_real("response", c.response);
            json_open("vignetting", '[');
            for (int k = 0; k < 2; k++) json_real(NULL, c.vignetting[k]);
            json_close(']');
            json_close('}');
        } else {
            printf("%s: at %.6g, %.6g, %.6g, field of view %.6g", cli_shown(c.name), c.value[TSR_RIG_X], c.value[TSR_RIG_Y], c.value[TSR_RIG_Z],
                   c.value[TSR_RIG_FOV]);
            if (c.pairs) printf(", %d pairs: %.3f pixels", (int)c.pairs, c.pair_rms);
            if (c.edge >= 0) printf(", lines %.2f pixels from edges", c.edge);
            if (c.difference >= 0) printf(", colours differ by %.1f", c.difference);
            printf("\n");
        }
    }
    if (cli->globals.json) {
        json_close(']');
        json_close('}');
    } else if (made) {
        show_canvas(cli, made);
    }
}

int calibrate_session(cli_call *cli, const char *session, const char *output, const char *format, const calibrate_canvas *canvas)
{
    tsr_rig_compensated made = TSR_RIG_COMPENSATED;
    tsr_context *context = NULL;
    tsr_rig_editor *editor = NULL;
    tsr_rig_editor_options o = TSR_RIG_EDITOR_OPTIONS;
    tsr_rig_editor_info info = TSR_RIG_EDITOR_INFO;
    tsr_rig *rig = NULL;
    int code = cli_context(cli, &context);
    char *text = code ? NULL : cli_read_text(cli, session);
    if (!code && !text) code = CLI_FAILED;
    o.path = beside;
    o.user = (void *)(uintptr_t)session;
    o.memory_limit = cli_limit_options(cli).memory_limit;
    o.progress = cli_progress(cli);
    tsr_status status = code ? TSR_OK : tsr_rig_editor_create(context, &o, &editor);
    if (!code && status != TSR_OK) code = cli_status(cli, status, NULL);
    if (!code) code = run_lines(cli, editor, session, text);
    cli_progress_end(cli);
    if (!code && (status = tsr_rig_editor_get_info(editor, &info)) != TSR_OK) code = cli_status(cli, status, NULL);
    if (!code && !info.cameras) code = cli_error(cli, CLI_FAILED, "%s: a session without cameras", cli_shown(session));
    if (!code && output) {
        tsr_rig_write_options write = TSR_RIG_WRITE_OPTIONS;
        write.format = format;
        write.overwrite = cli->globals.force;
        status = tsr_rig_editor_get_rig(editor, &rig);
        if (status == TSR_OK) status = tsr_rig_write(rig, output, &write);
        if (status != TSR_OK) code = cli_status(cli, status, output);
    }
    if (!code && canvas->image) code = compensate(cli, editor, canvas, &made);
    if (!code) show(cli, editor, &info, canvas->image ? &made : NULL);
    tsr_rig_destroy(&rig);
    tsr_rig_editor_destroy(&editor);
    free(text);
    tsr_context_destroy(&context);
    return code;
}
