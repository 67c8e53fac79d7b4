/* viewer/sculptor_files.c: documents of sculpting: from files and from their own scripts. */
#define _POSIX_C_SOURCE 200809L
#include "sculptor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_memory = 0.25; /* of the limit for files: a document has copies of its objects on their way to the windows */

/* ---- objects of files ---------------------------------------------------------------------------------------------------------------------------- */

/* In host memory: measures are made there. */
static tsr_status read_mesh(struct sculptor *o, const char *path, tsr_mesh **mesh)
{
    tsr_read_options read = TSR_READ_OPTIONS;
    read.memory_limit = o->s->memory_limit;
    read.same_folder = 1;
    read.progress = (tsr_progress){ viewer_session_quits, o->s };
    return tsr_mesh_read(path, &read, mesh);
}

static tsr_status read_tiles(struct sculptor *o, const char *path, tsr_tiles **tiles)
{
    tsr_tiles_read_options read = TSR_TILES_READ_OPTIONS;
    read.memory_limit = o->s->memory_limit;
    read.progress = (tsr_progress){ viewer_session_quits, o->s };
    return tsr_tiles_read(o->context, path, &read, tiles);
}

/* The outermost voxels of a field: something inside among them would have a hole where the volume ends. */
static int reaches_border(const tsr_volume *field)
{
    const tsr_size3 n = tsr_volume_size(field);
    const float *phi = (const float *)tsr_volume_data_const(field);
    for (int64_t z = 0; z < n.z; z++)
        for (int64_t y = 0; y < n.y; y++) {
            const int64_t step = z == 0 || y == 0 || z == n.z - 1 || y == n.y - 1 || n.x < 2 ? 1 : n.x - 1;
            for (int64_t x = 0; x < n.x; x += step)
                if (phi[(z * n.y + y) * n.x + x] < 0) return 1;
        }
    return 0;
}

/* A mask of two values or a level set, as the command line makes lists of them (without a domain). */
static tsr_status tiles_of_volume(struct sculptor *o, const char *name, const tsr_volume *volume, tsr_tiles **tiles)
{
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    const int real = dtype == TSR_F32 || dtype == TSR_F64;
    double value[2];
    int32_t values = 0;
    tsr_volume *there = NULL, *field = NULL, *host = NULL;
    tsr_tiles_options list = TSR_TILES_OPTIONS;
    tsr_distance_options distance = TSR_DISTANCE_OPTIONS;
    list.edge = 8;
    list.band = distance.band = tsr_band_default(tsr_geometry_spacing(&o->d.geometry), 3);
    tsr_status status = tsr_volume_few_values(volume, 2, value, &values);
    const int mask = values == 2 && (!real || value[0] >= 0);
    if (status == TSR_OK && !mask && !real) {
        snprintf(o->said, sizeof o->said, "%s: a grey image, expected a mask of two values or a level set (segment it first)", name);
        return TSR_ERROR_ARGUMENT;
    }
    if (status == TSR_OK) status = tsr_volume_copy(volume, o->context, &there);
    if (status == TSR_OK)
        status = mask ? tsr_distance_transform(o->context, there, &distance, &field) : tsr_volume_convert(o->context, there, TSR_F32, &field);
    if (status == TSR_OK) status = tsr_volume_copy(field, NULL, &host);
    const float *phi = status == TSR_OK ? (const float *)tsr_volume_data_const(host) : NULL;
    int64_t inside = 0, n = phi ? tsr_volume_count(host) : 0;
    for (int64_t i = 0; i < n; i++) inside += phi[i] < 0;
    if (status == TSR_OK && (inside == 0 || inside == n)) {
        snprintf(o->said, sizeof o->said, "%s: %s, expected a mask of two values or a level set (segment it first)", name,
                 mask ? "a mask without a border" : "real numbers of one sign, which are no level set");
        status = TSR_ERROR_ARGUMENT;
    }
    if (status == TSR_OK && reaches_border(host)) {
        snprintf(o->said, sizeof o->said, "%s: its inside reaches the border of the volume, expected a rim that is outside (filter pad)", name);
        status = TSR_ERROR_ARGUMENT;
    }
    if (status == TSR_OK) status = tsr_tiles_create(o->context, tsr_volume_geometry(volume), &list, tiles);
    if (status == TSR_OK) status = tsr_tiles_load(*tiles, field);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&field);
    tsr_volume_destroy(&host);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}

static tsr_status read_volume(struct sculptor *o, const char *name, tsr_tiles **tiles)
{
    viewer_image *image = NULL;
    if (viewer_load_image(o->s, name, &image, o->said, sizeof o->said)) return TSR_ERROR_IO;
    const tsr_status status = tiles_of_volume(o, name, image->volume, tiles);
    viewer_image_release(o->s, &image);
    return status;
}

static int same_axes(const tsr_geometry *a, const tsr_geometry *b)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (fabs(a->affine[r][c] - b->affine[r][c]) > 1e-6 * (fabs(a->affine[r][c]) + fabs(b->affine[r][c]) + 1e-3)) return 0;
    return 1;
}

/* To the voxels of the document: a shift of whole ones is exact. */
static tsr_status move_to(const tsr_geometry *to, tsr_tiles **tiles)
{
    const tsr_vec3 h = tsr_geometry_spacing(to);
    tsr_vec3 at;
    tsr_status status = tsr_geometry_to_index(to, tsr_geometry_to_world(tsr_tiles_geometry(*tiles), (tsr_vec3){ 0, 0, 0 }), &at);
    if (status != TSR_OK) return status;
    double n[3] = { at.x, at.y, at.z };
    for (int k = 0; k < 3; k++)
        if (fabs(n[k] - floor(n[k] + 0.5)) < 1e-6) n[k] = floor(n[k] + 0.5);
    if (n[0] == 0 && n[1] == 0 && n[2] == 0) return TSR_OK;
    const tsr_motion motion = { .shift = { n[0] * h.x, n[1] * h.y, n[2] * h.z } };
    tsr_tiles *moved = NULL;
    status = tsr_tiles_transform(*tiles, &motion, &moved);
    if (status != TSR_OK) return status;
    tsr_tiles_destroy(tiles);
    *tiles = moved;
    return TSR_OK;
}

tsr_status sculptor_read(struct sculptor *o, const char *name, tsr_tiles **tiles)
{
    char path[4096];
    const tsr_geometry *geometry = &o->d.geometry;
    *tiles = NULL;
    if (viewer_path_of_existing(o->s, name, path, sizeof path, o->said, sizeof o->said)) return TSR_ERROR_IO;
    if (viewer_is_mesh(name)) {
        tsr_mesh *host = NULL, *mesh = NULL;
        tsr_voxelize_options options = TSR_VOXELIZE_OPTIONS;
        options.geometry = geometry;
        options.edge = 8;
        options.band = tsr_band_default(tsr_geometry_spacing(geometry), 3);
        options.progress = (tsr_progress){ viewer_session_quits, o->s };
        tsr_status status = read_mesh(o, path, &host);
        if (status == TSR_OK) status = tsr_mesh_copy(host, o->context, &mesh);
        if (status == TSR_OK) status = tsr_tiles_from_mesh(o->context, mesh, &options, tiles, NULL);
        tsr_mesh_destroy(&host);
        tsr_mesh_destroy(&mesh);
        return status;
    }
    const int volume = viewer_is_volume(name);
    if (!volume && !viewer_is_tiles(name)) {
        snprintf(o->said, sizeof o->said, "%s: expected %s", name, viewer_sculpt.expects);
        return TSR_ERROR_FORMAT;
    }
    tsr_status status = volume ? read_volume(o, name, tiles) : read_tiles(o, path, tiles);
    if (status != TSR_OK) return status;
    const tsr_size3 domain = tsr_tiles_domain(*tiles);
    const tsr_vec3 a = tsr_geometry_spacing(tsr_tiles_geometry(*tiles)), b = tsr_geometry_spacing(geometry);
    if (domain.x) snprintf(o->said, sizeof o->said, "%s: a tile list with a domain, expected one without (convert --unbounded)", name);
    else if (!same_axes(tsr_tiles_geometry(*tiles), geometry))
        snprintf(o->said, sizeof o->said,
                 "%s: voxels of %.9g x %.9g x %.9g, those of the document are %.9g x %.9g x %.9g along the axes: expected the same", name, a.x, a.y,
                 a.z, b.x, b.y, b.z);
    status = *o->said ? TSR_ERROR_ARGUMENT : move_to(geometry, tiles);
    if (status != TSR_OK) tsr_tiles_destroy(tiles);
    return status;
}

int sculptor_spacing(struct sculptor *o, const char *name, tsr_vec3 *spacing, char *error, size_t error_bytes)
{
    char path[4096];
    tsr_status status = TSR_OK;
    if (viewer_path_of_existing(o->s, name, path, sizeof path, error, error_bytes)) return -1;
    if (viewer_is_mesh(name)) {
        tsr_mesh *mesh = NULL;
        tsr_mesh_measures m = TSR_MESH_MEASURES;
        status = read_mesh(o, path, &mesh);
        if (status == TSR_OK) status = tsr_mesh_measure(mesh, &m);
        const double h = fmax(m.upper.x - m.lower.x, fmax(m.upper.y - m.lower.y, m.upper.z - m.lower.z)) / o->resolution;
        *spacing = (tsr_vec3){ h, h, h };
        tsr_mesh_destroy(&mesh);
        if (status == TSR_OK && !(h > 0 && isfinite(h))) {
            snprintf(error, error_bytes, "%s: a mesh without extent", name);
            return -1;
        }
    } else if (viewer_is_volume(name)) {
        viewer_image *image = NULL;
        if (viewer_load_image(o->s, name, &image, error, error_bytes)) return -1;
        *spacing = image->spacing;
        viewer_image_release(o->s, &image);
    } else {
        tsr_tiles *tiles = NULL;
        status = read_tiles(o, path, &tiles);
        if (status == TSR_OK) *spacing = tsr_geometry_spacing(tsr_tiles_geometry(tiles));
        tsr_tiles_destroy(&tiles);
    }
    if (status == TSR_OK) return 0;
    viewer_take_message(o->s, error, error_bytes);
    return -1;
}

/* ---- documents ------------------------------------------------------------------------------------------------------------------------------------ */

int sculptor_keep_line(sculptor_document *d, const char *line)
{
    const size_t n = strlen(line);
    if (d->bytes + n + 2 > (size_t)VIEWER_LOG_BYTES) return -1;
    if (d->bytes + n + 2 > d->room) {
        const size_t room = 2 * d->room + n + 1024;
        char *grown = (char *)realloc(d->script, room);
        if (!grown) return -1;
        d->script = grown;
        d->room = room;
    }
    memcpy(d->script + d->bytes, line, n);
    d->bytes += n;
    if (n == 0 || line[n - 1] != '\n') d->script[d->bytes++] = '\n';
    d->script[d->bytes] = 0;
    return 0;
}

void sculptor_forget(sculptor_document *d)
{
    tsr_editor_destroy(&d->editor);
    free(d->script);
    free(d->group);
    memset(d, 0, sizeof *d);
}

int sculptor_begin(struct sculptor *o, tsr_vec3 h, sculptor_document *made)
{
    char head[400];
    tsr_editor_options options = TSR_EDITOR_OPTIONS;
    memset(made, 0, sizeof *made);
    made->geometry = options.geometry = tsr_geometry_make(h, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    options.band = tsr_band_default(h, 3);
    options.edge = 8;
    options.draft = o->draft;
    options.history_limit = SCULPTOR_HISTORY;
    options.memory_limit = o->s->memory_limit > 0 ? (int64_t)(most_memory * (double)o->s->memory_limit) + 1 : INT64_C(4) << 30;
    if (tsr_editor_create(o->context, &options, &made->editor) != TSR_OK) return -1;
    snprintf(head, sizeof head,
             "# tessera sculpt session 1\n# spacing %.17g,%.17g,%.17g%s\n# again without a page: tessera edit FILE --spacing %.17g,%.17g,%.17g%s -o "
             "OUTPUT\n",
             h.x, h.y, h.z, o->draft ? " draft" : "", h.x, h.y, h.z, o->draft ? " --draft" : "");
    if (sculptor_keep_line(made, head)) {
        sculptor_forget(made);
        return -1;
    }
    made->head = made->bytes;
    return 0;
}

int sculptor_script_spacing(const char *text, tsr_vec3 *h, int *draft)
{
    const char *line = strstr(text, "# spacing ");
    char word[16] = "";
    *draft = 0;
    if (strncmp(text, "# tessera sculpt session 1\n", 27) || !line || sscanf(line, "# spacing %lf,%lf,%lf %15s", &h->x, &h->y, &h->z, word) < 3)
        return -1;
    *draft = !strcmp(word, "draft");
    return h->x > 1e-9 && h->y > 1e-9 && h->z > 1e-9 && h->x < 1e9 && h->y < 1e9 && h->z < 1e9 ? 0 : -1;
}

static tsr_status load(void *user, tsr_editor *editor, const char *name, tsr_tiles **tiles)
{
    (void)editor;
    return sculptor_read((struct sculptor *)user, name, tiles);
}

int sculptor_run(struct sculptor *o, sculptor_document *d, const char *text, const char *name, int keep, char *error, size_t error_bytes)
{
    tsr_edit_script script = TSR_EDIT_SCRIPT;
    const sculptor_document own = o->d;
    script.load = load;
    script.user = o;
    script.progress = (tsr_progress){ viewer_session_stopped, o->s };
    if (keep && d->bytes + strlen(text) + 2 > (size_t)VIEWER_LOG_BYTES) {
        snprintf(error, error_bytes, "the session is full: its script has %zu bytes; save it and begin a new one", d->bytes);
        return -1;
    }
    *o->said = 0;
    if (d != &o->d) o->d.geometry = d->geometry; /* files are read for this document */
    const tsr_status status = tsr_editor_script(d->editor, text, name, &script);
    if (d != &o->d) o->d.geometry = own.geometry;
    if (status != TSR_OK) {
        if (status == TSR_ERROR_CANCELLED) snprintf(error, error_bytes, "stopped: the object is as it was before");
        else if (*o->said) snprintf(error, error_bytes, "%s", o->said);
        else viewer_take_message(o->s, error, error_bytes);
        return -1;
    }
    if (keep && sculptor_keep_line(d, text)) {
        snprintf(error, error_bytes, "out of memory: the session's script is not complete any more");
        return -1;
    }
    return 0;
}
