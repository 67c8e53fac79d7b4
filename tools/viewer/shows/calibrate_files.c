/* viewer/shows/calibrate_files.c: what a session of calibration opens and saves: pictures, films, proxies, rigs, sessions; cameras in three families of formats. */
#include "calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int ends_with(const char *name, const char *const *endings)
{
    const size_t n = strlen(name);
    for (; *endings; endings++)
        if (n > strlen(*endings) && !strcmp(name + n - strlen(*endings), *endings)) return 1;
    return 0;
}
static const char *const scripts[] = { ".calib", NULL }, *const pictures[] = { ".png", ".jpg", ".jpeg", ".pgm", ".ppm",  ".y4m",
                                                                               ".mp4", ".mkv", ".avi",  ".mov", ".webm", NULL },
                         *const films[] = { ".y4m", ".mp4", ".mkv", ".avi", ".mov", ".webm", NULL }, *const proxies[] = { ".ply", ".obj", ".stl",
                                                                                                                          ".off", ".csv", NULL },
                         *const rigs[] = { ".json", ".geoscene", ".geocast", ".yml", ".yaml", ".xml", ".par", NULL };

int calibrate_begins(const char *name) { return ends_with(name, scripts); }
int calibrate_opens(const char *name)
{
    return ends_with(name, scripts) || ends_with(name, pictures) || ends_with(name, proxies) || ends_with(name, rigs);
}

/* Names of commands are those of the served folder, and nothing else. */
static int path_of(void *user, const char *name, char *path, size_t room, char *error, size_t error_room)
{
    return viewer_path_of_existing(((viewer_show *)user)->s, name, path, room, error, error_room);
}

tsr_status calibrate_editor(viewer_show *show, tsr_rig_editor **editor)
{
    tsr_rig_editor_options o = TSR_RIG_EDITOR_OPTIONS;
    o.path = path_of;
    o.user = show;
    o.memory_limit = show->s->memory_limit;
    o.progress = (tsr_progress){ viewer_session_stopped, show->s };
    return tsr_rig_editor_create(show->context, &o, editor);
}

/* A session: its lines, one after the other, in an editor of its own. */
static int run_script(viewer_show *show, const char *name, tsr_rig_editor **editor, char *error, size_t error_bytes)
{
    char *text = viewer_read_script(show->s, name, error, error_bytes);
    tsr_status status = text ? calibrate_editor(show, editor) : TSR_ERROR_IO;
    if (text && status != TSR_OK) viewer_take_message(show->s, error, error_bytes);
    int number = 0;
    for (char *p = text; status == TSR_OK && p && *p;) {
        char *end = strchr(p, '\n');
        if (end) *end = 0;
        number++;
        if ((status = tsr_rig_editor_run(*editor, p)) != TSR_OK) {
            char own[400];
            viewer_take_message(show->s, own, sizeof own);
            snprintf(error, error_bytes, "%s:%d: %s", name, number, own);
        }
        p = end ? end + 1 : p + strlen(p);
    }
    free(text);
    if (status == TSR_OK) return 0;
    tsr_rig_editor_destroy(editor);
    return -1;
}

int calibrate_load(viewer_show *show, const char *path, const char *name, char *error, size_t error_bytes)
{
    calibrate *c = (calibrate *)show->own;
    char line[VIEWER_NAME_BYTES + 16];
    const int film = ends_with(name, films);
    (void)path;
    if (ends_with(name, scripts)) {
        tsr_rig_editor *made = NULL;
        if (run_script(show, name, &made, error, error_bytes)) return -1;
        tsr_rig_editor_destroy(&c->editor);
        *c = (calibrate){
            .editor = made, .blend = c->blend, .lines = c->lines, .shadow = c->shadow, .mix = c->mix, .saved = strlen(tsr_rig_editor_script(made))
        };
    } else {
        tsr_status status = c->editor ? TSR_OK : calibrate_editor(show, &c->editor);
        snprintf(line, sizeof line, "%s %s%s",
                 ends_with(name, proxies) ? "proxy"
                 : ends_with(name, rigs)  ? "cameras"
                                          : "image",
                 name, film ? " 0" : "");
        if (status == TSR_OK) status = tsr_rig_editor_run(c->editor, line);
        if (status != TSR_OK) {
            viewer_take_message(show->s, error, error_bytes);
            return -1;
        }
    }
    c->has_point = c->has_pixel = 0;
    return calibrate_box(show, name);
}

static int save_cameras(viewer_show *show, const viewer_command *command, char *error, size_t error_bytes)
{
    const calibrate *c = (const calibrate *)show->own;
    static const char *const folder[] = { "-colmap", NULL };
    char path[4096];
    struct stat about;
    tsr_rig *rig = NULL;
    tsr_rig_write_options o = TSR_RIG_WRITE_OPTIONS;
    const int model = ends_with(command->name, folder);
    o.format = model ? "colmap-text" : NULL;
    o.overwrite = command->replace;
    if (!model && !ends_with(command->name, rigs)) {
        snprintf(error, error_bytes, "%.100s: the extension does not fit, expected .geoscene, .yml, .json, or a name that ends with -colmap",
                 command->name);
        return -1;
    }
    /* a model is a folder: one that is there is written into, if that is wanted; a link never */
    const int there = model && command->replace && snprintf(path, sizeof path, "%s/%s", show->s->folder, command->name) < (int)sizeof path &&
                      !lstat(path, &about) && S_ISDIR(about.st_mode);
    if (!there && viewer_path_of_new(show->s, command->name, command->replace, path, sizeof path, error, error_bytes)) return -1;
    tsr_status status = tsr_rig_editor_get_rig(c->editor, &rig);
    if (status == TSR_OK) status = tsr_rig_write(rig, path, &o);
    tsr_rig_destroy(&rig);
    if (status == TSR_OK) return 1;
    viewer_take_message(show->s, error, error_bytes);
    return -1;
}

static int save_session(viewer_show *show, const viewer_command *command, char *error, size_t error_bytes)
{
    const calibrate *c = (const calibrate *)show->own;
    char path[4096];
    tsr_write_options o = TSR_WRITE_OPTIONS;
    o.overwrite = command->replace;
    o.regular_only = 1;
    if (!ends_with(command->name, scripts)) {
        snprintf(error, error_bytes, "%.100s: the extension does not fit, expected .calib", command->name);
        return -1;
    }
    if (viewer_path_of_new(show->s, command->name, command->replace, path, sizeof path, error, error_bytes)) return -1;
    if (tsr_text_write(tsr_rig_editor_script(c->editor), path, &o) == TSR_OK) return 1;
    viewer_take_message(show->s, error, error_bytes);
    return -1;
}

int calibrate_save(viewer_show *show, const viewer_command *command, char *error, size_t error_bytes)
{
    calibrate *c = (calibrate *)show->own;
    if (command->what != VIEWER_SAVE_CAMERAS && command->what != VIEWER_SAVE_SESSION) return 0;
    if (!c->editor) {
        snprintf(error, error_bytes, "nothing is loaded");
        return -1;
    }
    const int done = (command->what == VIEWER_SAVE_CAMERAS ? save_cameras : save_session)(show, command, error, error_bytes);
    if (done < 1) return done;
    if (command->what == VIEWER_SAVE_SESSION) c->saved = strlen(tsr_rig_editor_script(c->editor));
    viewer_session_tell(show->s, "saved", "%s", command->name);
    return 1;
}
