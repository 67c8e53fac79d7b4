/* viewer/files.c: the served folder: what is in it, images and sessions from it, results into it. Names are plain (viewer_name_is_plain), links are not
 * followed: nothing outside the folder is read or written. */
#define _POSIX_C_SOURCE 200809L
#include "mode.h"
#include "show.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FILES = 500, MOST_SCRIPT = VIEWER_LOG_BYTES, PATH_BYTES = 4096 };

static int path_of(const viewer_session *s, const char *name, char path[PATH_BYTES], char *error, size_t error_bytes)
{
    int n = snprintf(path, PATH_BYTES, "%s/%s", s->folder, name);
    if (viewer_name_is_plain(name) && n > 0 && n < PATH_BYTES) return 0;
    snprintf(error, error_bytes, "'%.100s' is no plain file name of the served folder", name);
    return -1;
}

static int existing(const viewer_session *s, const char *name, char path[PATH_BYTES], char *error, size_t error_bytes)
{
    struct stat about;
    if (path_of(s, name, path, error, error_bytes)) return -1;
    if (!lstat(path, &about) && S_ISREG(about.st_mode)) return 0;
    snprintf(error, error_bytes, "%s: no such file in the served folder", name);
    return -1;
}

/* Where a result goes: nothing that leads out of the folder, nothing that a write waits for. The options of the writers say so once more. */
static int target_of(const viewer_session *s, const char *name, int replace, char path[PATH_BYTES], char *error, size_t error_bytes)
{
    struct stat about;
    if (path_of(s, name, path, error, error_bytes)) return -1;
    if (lstat(path, &about)) return 0; /* new, or the writer says what is wrong */
    if (S_ISREG(about.st_mode) && replace) return 0;
    if (S_ISREG(about.st_mode)) snprintf(error, error_bytes, "%s: exists already; tick 'replace' to overwrite it", name);
    else
        snprintf(error, error_bytes, "%s: is a %s, expected a new name or a plain file", name,
                 S_ISLNK(about.st_mode) ? "link" : "folder, pipe or device");
    return -1;
}

void viewer_hide_folder(const viewer_session *s, char *text)
{
    char folder[PATH_BYTES];
    int n = snprintf(folder, sizeof folder, "%s/", s->folder);
    if (n < 2 || n >= PATH_BYTES) return;
    for (char *at; (at = strstr(text, folder));) memmove(at, at + n, strlen(at + n) + 1);
}

void viewer_take_message(const viewer_session *s, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, "%s", tsr_error_message());
    viewer_hide_folder(s, error);
}

static int ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), e = strlen(ending);
    return n > e && !strcmp(name + n - e, ending);
}

int viewer_is_script(const char *name) { return ends_with(name, ".session") || ends_with(name, ".txt"); }

int viewer_is_volume(const char *name)
{
    static const char *const endings[] = { ".nii", ".nii.gz", ".nrrd", ".nhdr", ".mha", ".mhd", ".inr", ".inr.gz", ".tsc", ".hdr" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(name, endings[i])) return 1;
    return 0;
}

int viewer_is_mesh(const char *name)
{
    return ends_with(name, ".ply") || ends_with(name, ".obj") || ends_with(name, ".stl") || ends_with(name, ".off");
}
int viewer_is_tiles(const char *name) { return ends_with(name, ".tsr") || ends_with(name, ".nvdb"); }

int viewer_path_of_existing(viewer_session *s, const char *name, char *path, size_t path_bytes, char *error, size_t error_bytes)
{
    char own[PATH_BYTES];
    if (existing(s, name, own, error, error_bytes)) return -1;
    if (snprintf(path, path_bytes, "%s", own) < (int)path_bytes) return 0;
    snprintf(error, error_bytes, "%s: the path is too long", name);
    return -1;
}

int viewer_path_below(const viewer_session *s, const char *path, char *error, size_t error_bytes)
{
    const size_t n = strcmp(s->folder, "/") ? strlen(s->folder) : 0;
    char at[PATH_BYTES], part[VIEWER_NAME_BYTES];
    const char *rest = path;
    struct stat about;
    int good = strlen(path) < sizeof at && !strncmp(path, s->folder, n);
    if (good) rest += n;
    for (good = good && *rest == '/'; good && *rest == '/';) {
        const size_t length = strcspn(++rest, "/");
        const int last = !rest[length];
        snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), rest);
        rest += length;
        if (!strcmp(part, ".") && !last) continue;
        snprintf(at, sizeof at, "%.*s", (int)(rest - path), path);
        good = length < sizeof part && viewer_name_is_plain(part) && !lstat(at, &about) && (last ? S_ISREG(about.st_mode) : S_ISDIR(about.st_mode));
    }
    if (good) return 0;
    snprintf(error, error_bytes, "'%.200s': no such file in the served folder or below it (links are not followed)", !strncmp(path, s->folder, n) && path[n] == '/' ? path + n + 1 : path);
    return -1;
}

int viewer_load_image(viewer_session *s, const char *name, viewer_image **image, char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    tsr_read_options options = TSR_READ_OPTIONS;
    tsr_volume *volume = NULL;
    *image = NULL;
    if (existing(s, name, path, error, error_bytes)) return -1;
    options.memory_limit = s->memory_limit;
    options.same_folder = 1; /* a header may name any file of the machine */
    options.progress = (tsr_progress){ viewer_session_quits, s };
    if (tsr_volume_read(path, &options, &volume) != TSR_OK) {
        viewer_take_message(s, error, error_bytes);
        return -1;
    }
    viewer_image *made = (viewer_image *)calloc(1, sizeof *made);
    if (!made) {
        tsr_volume_destroy(&volume);
        snprintf(error, error_bytes, "%s: out of memory", name);
        return -1;
    }
    made->references = 1;
    made->volume = volume;
    made->geometry = *tsr_volume_geometry(volume);
    made->size = tsr_volume_size(volume);
    made->spacing = tsr_geometry_spacing(&made->geometry);
    snprintf(made->name, sizeof made->name, "%s", name);
    *image = made;
    return 0;
}

char *viewer_read_script(viewer_session *s, const char *name, char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    if (existing(s, name, path, error, error_bytes)) return NULL;
    int opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    FILE *file = opened < 0 ? NULL : fdopen(opened, "rb");
    if (!file && opened >= 0) close(opened);
    char *text = file ? (char *)malloc(MOST_SCRIPT + 1) : NULL;
    size_t n = text ? fread(text, 1, MOST_SCRIPT + 1, file) : 0;
    int bad = !text || ferror(file) || n > MOST_SCRIPT || memchr(text, 0, n);
    if (file) fclose(file);
    if (bad) {
        snprintf(error, error_bytes, "%s: cannot be read as a session, expected a text of at most %d bytes", name, MOST_SCRIPT);
        free(text);
        return NULL;
    }
    text[n] = 0;
    char *fits = (char *)realloc(text, n + 1);
    return fits ? fits : text;
}

/* ---- results ----------------------------------------------------------------------------------------------------------------------------------- */

static int expect_ending(const viewer_command *c, char *error, size_t error_bytes)
{
    static const char *const endings[] = { ".nii.gz", ".ply", ".nii.gz", ".png", ".session", ".nii.gz", ".geoscene" };
    const char *name = c->name;
    int good = c->what == VIEWER_SAVE_MESH ? viewer_is_mesh(name) : c->what == VIEWER_SAVE_SESSION ? viewer_is_script(name) : viewer_is_volume(name);
    if (good) return 0;
    snprintf(error, error_bytes, "%.100s: the extension does not fit, expected for example %s", name, endings[c->what]);
    return -1;
}

static tsr_status write_volume(tsr_volume **volume, const char *path, const tsr_write_options *options)
{
    tsr_volume *host = NULL;
    tsr_status status = tsr_volume_copy(*volume, NULL, &host);
    tsr_volume_destroy(volume);
    if (status == TSR_OK) status = tsr_volume_write(host, path, options);
    tsr_volume_destroy(&host);
    return status;
}

static tsr_status write_mesh(tsr_context *context, const tsr_tiles *tiles, const tsr_surface_options *surface, const char *path,
                             const tsr_write_options *options)
{
    tsr_mesh *mesh = NULL, *host = NULL;
    tsr_status status = tsr_surface_extract_tiles(context, tiles, surface, &mesh, NULL);
    if (status == TSR_OK) status = tsr_mesh_copy(mesh, NULL, &host);
    if (status == TSR_OK) status = tsr_mesh_write(host, path, options);
    tsr_mesh_destroy(&host);
    tsr_mesh_destroy(&mesh);
    return status;
}

/* What is nothing is not saved: nobody would find out before it is needed. */
static int expect_content(const tsr_segmentation *segmentation, const viewer_command *c, char *error, size_t error_bytes)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    if (c->what == VIEWER_SAVE_SESSION) return 0;
    if (tsr_tiles_describe(tsr_segmentation_tiles(segmentation), &info) != TSR_OK) return 0; /* saving says it */
    const int missing = info.inside_voxels == 0 ? 1 : c->what == VIEWER_SAVE_MESH && info.count == 0 ? 2 : 0;
    if (missing)
        snprintf(error, error_bytes, "%.100s: not saved: %s", c->name,
                 missing == 1 ? "there is no surface, nothing is inside; paint or undo first" : "there is no surface: the whole image is inside");
    return -!!missing;
}

int viewer_save(viewer_session *s, tsr_context *context, const tsr_segmentation *segmentation, const char *session_script, const viewer_command *c,
                char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    tsr_write_options options = TSR_WRITE_OPTIONS;
    tsr_volume *volume = NULL;
    tsr_status status;
    if (expect_ending(c, error, error_bytes) || target_of(s, c->name, c->replace, path, error, error_bytes)) return -1;
    if (expect_content(segmentation, c, error, error_bytes)) return -1;
    options.overwrite = c->replace;
    options.regular_only = 1;
    if (c->what == VIEWER_SAVE_SESSION && !session_script) {
        snprintf(error, error_bytes, "%s: out of memory", c->name);
        return -1;
    }
    if (c->what == VIEWER_SAVE_SESSION) {
        status = tsr_text_write(session_script, path, &options);
    } else if (c->what == VIEWER_SAVE_MESH) {
        status = write_mesh(context, tsr_segmentation_tiles(segmentation), NULL, path, &options);
    } else {
        status = c->what == VIEWER_SAVE_MASK ? tsr_segmentation_mask(segmentation, &volume) : tsr_segmentation_field(segmentation, &volume);
        if (status == TSR_OK) status = write_volume(&volume, path, &options);
    }
    if (status == TSR_OK) return 0;
    viewer_take_message(s, error, error_bytes);
    return -1;
}

/* A volume of labels, one byte a voxel, that says so (NIfTI's intent). */
int viewer_save_labels(viewer_session *s, uint8_t *voxels, const viewer_image *image, const viewer_command *c, char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    tsr_write_options options = TSR_WRITE_OPTIONS;
    tsr_volume *volume = NULL;
    if (expect_ending(c, error, error_bytes) || target_of(s, c->name, c->replace, path, error, error_bytes)) return -1;
    options.overwrite = c->replace;
    options.regular_only = 1;
    tsr_status status = tsr_volume_wrap(NULL, TSR_U8, image->size, &image->geometry, voxels, NULL, NULL, &volume);
    if (status == TSR_OK) status = tsr_volume_set_meta(volume, "nifti.intent_code", "1002");
    if (status == TSR_OK) status = tsr_volume_write(volume, path, &options);
    tsr_volume_destroy(&volume);
    if (status == TSR_OK) return 0;
    viewer_take_message(s, error, error_bytes);
    return -1;
}

/* A surface that is no segmentation: as `tessera edit` writes it. */
int viewer_save_tiles(viewer_session *s, tsr_context *context, const tsr_tiles *tiles, const viewer_command *c, char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    tsr_write_options options = TSR_WRITE_OPTIONS;
    tsr_tiles_write_options list = TSR_TILES_WRITE_OPTIONS;
    tsr_surface_options surface = TSR_SURFACE_OPTIONS;
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_volume *volume = NULL;
    tsr_status status = TSR_OK;
    surface.normals = TSR_SURFACE_NORMALS_CENTRAL;
    const int mesh = c->what == VIEWER_SAVE_MESH;
    if (mesh ? !viewer_is_mesh(c->name) : !viewer_is_tiles(c->name) && !viewer_is_volume(c->name)) {
        snprintf(error, error_bytes, "%.100s: the extension does not fit, expected for example %s", c->name, mesh ? ".ply" : ".tsr");
        return -1;
    }
    if (target_of(s, c->name, c->replace, path, error, error_bytes)) return -1;
    if (tsr_tiles_describe(tiles, &info) == TSR_OK && info.count == 0) {
        snprintf(error, error_bytes, "%.100s: not saved: the object has no surface", c->name);
        return -1;
    }
    options.overwrite = list.overwrite = c->replace;
    options.regular_only = 1;
    if (mesh) status = write_mesh(context, tiles, &surface, path, &options);
    else if (viewer_is_tiles(c->name)) status = tsr_tiles_write(tiles, path, &list);
    else {
        status = tsr_tiles_field(tiles, &volume);
        if (status == TSR_OK) status = write_volume(&volume, path, &options);
    }
    if (status == TSR_OK) return 0;
    viewer_take_message(s, error, error_bytes);
    return -1;
}

int viewer_save_text(viewer_session *s, const char *text, const viewer_command *c, char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    tsr_write_options options = TSR_WRITE_OPTIONS;
    if (!text || expect_ending(c, error, error_bytes) || target_of(s, c->name, c->replace, path, error, error_bytes)) return -1;
    options.overwrite = c->replace;
    options.regular_only = 1;
    if (tsr_text_write(text, path, &options) == TSR_OK) return 0;
    viewer_take_message(s, error, error_bytes);
    return -1;
}

int viewer_save_image(viewer_session *s, const tsr_image *image, const char *name, int replace, char *error, size_t error_bytes)
{
    char path[PATH_BYTES];
    tsr_write_options options = TSR_WRITE_OPTIONS;
    options.overwrite = replace;
    options.regular_only = 1;
    if (target_of(s, name, replace, path, error, error_bytes)) return -1;
    if (tsr_image_write(image, path, &options) == TSR_OK) return 0;
    viewer_take_message(s, error, error_bytes);
    return -1;
}

/* ---- the list -------------------------------------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const char *const *x = (const char *const *)a, *const *y = (const char *const *)b;
    return strcmp(*x, *y);
}

/* Of a row of pictures the first stands for all. */
static int follows_another(const viewer_session *s, const char *name)
{
    char pattern[VIEWER_NAME_BYTES + 8], before[VIEWER_NAME_BYTES + 32], path[PATH_BYTES], error[64];
    const int64_t number = strlen(name) < VIEWER_NAME_BYTES && (viewer_film.opens(name) || viewer_fluid.opens(name)) && !viewer_sculpt.opens(name)
                               ? viewer_show_row(name, pattern, sizeof pattern)
                               : 0;
    if (number < 2) return 0;
    viewer_show_name(pattern, number - 2, before, sizeof before);
    return !existing(s, before, path, error, sizeof error);
}

int viewer_path_of_new(viewer_session *s, const char *name, int replace, char *path, size_t path_bytes, char *error, size_t error_bytes)
{
    char own[PATH_BYTES];
    if (target_of(s, name, replace, own, error, error_bytes)) return -1;
    if (snprintf(path, path_bytes, "%s", own) < (int)path_bytes) return 0;
    snprintf(error, error_bytes, "%s: the path is too long", name);
    return -1;
}

viewer_blob *viewer_list_files(viewer_session *s)
{
    char *names[MOST_FILES], path[PATH_BYTES], error[64];
    int count = 0;
    DIR *folder = opendir(s->folder);
    if (folder)
        for (const struct dirent *entry; count < MOST_FILES && (entry = readdir(folder));)
            if ((viewer_mode_of_file(entry->d_name) || s->mode->opens(entry->d_name) || viewer_is_script(entry->d_name)) && !follows_another(s, entry->d_name) &&
                !existing(s, entry->d_name, path, error, sizeof error) && (names[count] = strdup(entry->d_name)))
                count++;
    if (folder) closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_name);
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, json_string(names[i])); /* names that are no UTF-8 are left out */
        free(names[i]);
    }
    return viewer_blob_json(json_pack("{s:s, s:o}", "type", "files", "names", list));
}
