/* vision/rig/rig.c: rigs in memory. */
#include "vision/rig/rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"

static tsr_status no_memory(const char *what) { TSR_FAIL(TSR_ERROR_MEMORY, "rig: out of host memory for its %s", what); }

tsr_status tsr_rig_create(tsr_rig **rig)
{
    TSR_NEEDS(rig);
    *rig = (tsr_rig *)calloc(1, sizeof **rig);
    if (*rig) (*rig)->folder = (char *)calloc(1, 1);
    if (*rig && !(*rig)->folder) tsr_rig_destroy(rig);
    return *rig ? TSR_OK : no_memory("record");
}

void tsr_rig_destroy(tsr_rig **rig)
{
    if (!rig || !*rig) return;
    for (int64_t i = 0; i < (*rig)->count; i++) {
        free((*rig)->entry[i].texts);
        free((*rig)->entry[i].unknown);
    }
    free((*rig)->entry);
    free((*rig)->point);
    free((*rig)->sight);
    free((*rig)->folder);
    free((*rig)->unknown);
    free(*rig);
    *rig = NULL;
}

int64_t tsr_rig_count(const tsr_rig *rig) { return rig ? rig->count : 0; }

tsr_status tsr_rig_get(const tsr_rig *rig, int64_t index, tsr_rig_camera *camera)
{
    if (!rig || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", rig ? "camera" : "rig");
    if (index < 0 || index >= rig->count) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: camera %lld of %lld", (long long)index, (long long)rig->count);
    *camera = rig->entry[index].camera;
    return TSR_OK;
}

int64_t tsr_rig_find(const tsr_rig *rig, const char *name)
{
    for (int64_t i = 0; rig && name && i < rig->count; i++)
        if (!strcmp(rig->entry[i].camera.name, name)) return i;
    return -1;
}

/* An entry of its own of what the caller gives. */
static tsr_status take(const tsr_rig_camera *camera, tsr_rig_entry *entry)
{
    const char *const texts[3] = { camera->name ? camera->name : "", camera->image ? camera->image : "", camera->depth ? camera->depth : "" };
    size_t size = 0, sizes[3];
    if (camera->width < 0 || camera->height < 0 || (camera->width == 0) != (camera->height == 0))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: camera '%.100s': an image of %d x %d pixels, expected numbers above 0 (0 0: not known)", texts[0],
                 camera->width, camera->height);
    if (camera->frame < TSR_RIG_STATIC)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: camera '%.100s': frame %d, expected 0 or more (-1: static)", texts[0], camera->frame);
    for (int i = 0; i < 3; i++) {
        size += sizes[i] = strlen(texts[i]) + 1;
        if (sizes[i] > TSR_RIG_TEXT_MOST)
            TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: a name or path of %zu bytes, expected at most %d", sizes[i] - 1, TSR_RIG_TEXT_MOST - 1);
    }
    TSR_TRY(tsr_camera_check(&camera->camera));
    tsr_rig_entry e = { .camera = *camera, .texts = (char *)malloc(size) };
    if (!e.texts) return no_memory("names");
    char *at = e.texts;
    for (int i = 0; i < 3; i++) {
        memcpy(at, texts[i], sizes[i]);
        *(i == 0 ? &e.camera.name : i == 1 ? &e.camera.image : &e.camera.depth) = at;
        at += sizes[i];
    }
    *entry = e;
    return TSR_OK;
}

static tsr_status grow(void **memory, int64_t *room, int64_t count, int64_t more, size_t size, const char *what)
{
    if (count + more <= *room) return TSR_OK;
    const int64_t next = tsr_max64(count + more, *room + *room / 2 + 8);
    void *grown = realloc(*memory, (size_t)next * size);
    if (!grown) return no_memory(what);
    *memory = grown;
    *room = next;
    return TSR_OK;
}

tsr_status tsr_rig_add(tsr_rig *rig, const tsr_rig_camera *camera)
{
    if (!rig || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", rig ? "camera" : "rig");
    if (rig->count == TSR_RIG_CAMERAS_MOST) TSR_FAIL(TSR_ERROR_CAPACITY, "rig: more than %d cameras", TSR_RIG_CAMERAS_MOST);
    TSR_TRY(grow((void **)&rig->entry, &rig->room, rig->count, 1, sizeof *rig->entry, "cameras"));
    TSR_TRY(take(camera, &rig->entry[rig->count]));
    rig->count++;
    return TSR_OK;
}

tsr_status tsr_rig_set(tsr_rig *rig, int64_t index, const tsr_rig_camera *camera)
{
    tsr_rig_entry e;
    if (!rig || !camera) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", rig ? "camera" : "rig");
    if (index < 0 || index >= rig->count) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: camera %lld of %lld", (long long)index, (long long)rig->count);
    TSR_TRY(take(camera, &e));
    free(rig->entry[index].texts);
    e.unknown = rig->entry[index].unknown;
    rig->entry[index] = e;
    return TSR_OK;
}

int64_t tsr_rig_points(const tsr_rig *rig, const tsr_rig_point **points)
{
    if (points) *points = rig ? rig->point : NULL;
    return rig ? rig->points : 0;
}
int64_t tsr_rig_sights(const tsr_rig *rig, const tsr_rig_sight **sights)
{
    if (sights) *sights = rig ? rig->sight : NULL;
    return rig ? rig->sights : 0;
}
tsr_status tsr_rig_add_points(tsr_rig *rig, const tsr_rig_point *points, int64_t count)
{
    if (!rig || (count && !points)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", rig ? "points" : "rig");
    if (count < 0 || count > INT32_MAX - rig->points) TSR_FAIL(TSR_ERROR_CAPACITY, "rig: %lld points, expected at most 2147483647", (long long)count);
    if (!count) return TSR_OK;
    TSR_TRY(grow((void **)&rig->point, &rig->points_room, rig->points, count, sizeof *points, "points"));
    memcpy(rig->point + rig->points, points, (size_t)count * sizeof *points);
    rig->points += count;
    return TSR_OK;
}
tsr_status tsr_rig_add_sights(tsr_rig *rig, const tsr_rig_sight *sights, int64_t count)
{
    if (!rig || (count && !sights)) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", rig ? "sights" : "rig");
    if (count < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "rig: %lld sights, expected 0 or more", (long long)count);
    if (!count) return TSR_OK;
    TSR_TRY(grow((void **)&rig->sight, &rig->sights_room, rig->sights, count, sizeof *sights, "sights"));
    memcpy(rig->sight + rig->sights, sights, (size_t)count * sizeof *sights);
    rig->sights += count;
    return TSR_OK;
}

void tsr_rig_set_sequence(tsr_rig *rig, int32_t first, int32_t last)
{
    if (!rig) return;
    rig->first = first;
    rig->last = last;
}
void tsr_rig_sequence(const tsr_rig *rig, int32_t *first, int32_t *last)
{
    if (first) *first = rig ? rig->first : 0;
    if (last) *last = rig ? rig->last : 0;
}

tsr_status tsr_rig_keep_unknown(char **kept, const char *text, size_t size)
{
    const size_t had = *kept ? strlen(*kept) : 0;
    char *grown = (char *)realloc(*kept, had + size + 2);
    if (!grown) return no_memory("unknown lines");
    memcpy(grown + had, text, size);
    grown[had + size] = '\n';
    grown[had + size + 1] = 0;
    *kept = grown;
    return TSR_OK;
}
const char *tsr_rig_unknown(const tsr_rig *rig, int64_t index)
{
    if (!rig || index < -1 || index >= rig->count) return "";
    const char *text = index < 0 ? rig->unknown : rig->entry[index].unknown;
    return text ? text : "";
}

/* ---- paths --------------------------------------------------------------------------------------------------------------------- */

const char *tsr_rig_folder(const tsr_rig *rig) { return rig ? rig->folder : ""; }
tsr_status tsr_rig_set_folder(tsr_rig *rig, const char *folder)
{
    TSR_NEEDS(rig);
    const size_t size = strlen(folder ? folder : "") + 1;
    char *own = (char *)malloc(size);
    if (!own) return no_memory("folder");
    memcpy(own, folder ? folder : "", size);
    free(rig->folder);
    rig->folder = own;
    return TSR_OK;
}

tsr_status tsr_rig_fill_in(const char *path, int32_t frame, char *text, size_t room)
{
    size_t size = 0;
    for (const char *p = path; *p; p++) {
        char part[32] = { *p, 0 };
        if (*p == '%') {
            int digits = 0;
            p++;
            if (*p == '0') {
                while (*p >= '0' && *p <= '9' && digits < 100) digits = 10 * digits + (*p++ - '0');
            }
            if (*p == '%' && !digits) part[0] = '%';
            else if (*p == 'd' && digits <= 16) tsr_print(part, sizeof part, "%0*d", digits > 0 ? digits : 1, (int)frame);
            else TSR_FAIL(TSR_ERROR_FORMAT, "rig: the path '%.200s' has a %% that is neither %%d nor %%04d", path);
        }
        const size_t length = strlen(part);
        if (size + length >= room) TSR_FAIL(TSR_ERROR_CAPACITY, "rig: the path '%.200s' is longer than %zu bytes", path, room - 1);
        memcpy(text + size, part, length);
        size += length;
    }
    text[size] = 0;
    return TSR_OK;
}

tsr_status tsr_rig_path(const tsr_rig *rig, const char *path, int32_t frame, char *text, size_t room)
{
    if (!rig || !path || !text || !room)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s", !rig ? "rig is NULL" : !path ? "path is NULL" : "text is NULL or has no room");
    const size_t folder = *path == '/' ? 0 : strlen(rig->folder);
    size_t size = 0;
    if (folder + 2 > room) TSR_FAIL(TSR_ERROR_CAPACITY, "rig: the path '%.200s' is longer than %zu bytes", path, room - 1);
    if (folder) {
        memcpy(text, rig->folder, folder);
        size = folder;
        if (text[size - 1] != '/') text[size++] = '/';
    }
    if (rig->first == 0 && rig->last == 0 && !strchr(path, '%')) {
        const size_t length = strlen(path);
        if (size + length >= room) TSR_FAIL(TSR_ERROR_CAPACITY, "rig: the path '%.200s' is longer than %zu bytes", path, room - 1);
        memcpy(text + size, path, length + 1);
        return TSR_OK;
    }
    TSR_TRY(tsr_rig_fill_in(path, frame, text + size, room - size));
    return TSR_OK;
}

/* ---- rotations ----------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_rig_rotation(const char *file, const char *what, double r[3][3])
{
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double product = 0;
            for (int m = 0; m < 3; m++) product += r[i][m] * r[k][m];
            worst = fmax(worst, fabs(product - (i == k)));
            if (isnan(product)) worst = HUGE_VAL;
        }
    const double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) - r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                               r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    if (!(worst <= 1e-2) || !(determinant > 0))
        TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the rotation of %.100s is off by %.3g (determinant %.6g), expected three orthonormal rows", file, what,
                 worst, determinant);
    for (int turn = 0; turn < 30 && worst > 1e-12; turn++) { /* towards the nearest rotation: R (3 - R' R) / 2 */
        double next[3][3], product[3][3];
        worst = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) {
                product[i][k] = r[0][i] * r[0][k] + r[1][i] * r[1][k] + r[2][i] * r[2][k];
                worst = fmax(worst, fabs(product[i][k] - (i == k)));
            }
        if (worst <= 4e-16) break;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                next[i][k] = 1.5 * r[i][k] - 0.5 * (r[i][0] * product[0][k] + r[i][1] * product[1][k] + r[i][2] * product[2][k]);
        memcpy(r, next, sizeof next);
    }
    return TSR_OK;
}

tsr_status tsr_rig_quaternion(const char *file, const char *what, const double q[4], double r[3][3])
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(length > 1e-6) || !isfinite(length)) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: the quaternion of %.100s has the length %g", file, what, length);
    const double w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
    const double m[3][3] = { { 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y) },
                             { 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x) },
                             { 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y) } };
    memcpy(r, m, sizeof m);
    return TSR_OK;
}

void tsr_rig_to_quaternion(double (*r)[3], double q[4])
{
    const double trace = r[0][0] + r[1][1] + r[2][2], parts[4] = { trace, r[0][0], r[1][1], r[2][2] };
    int most = 0;
    for (int i = 1; i < 4; i++)
        if (parts[i] > parts[most]) most = i;
    if (most == 0) {
        const double s = 2 * sqrt(1 + trace);
        q[0] = 0.25 * s;
        q[1] = (r[2][1] - r[1][2]) / s;
        q[2] = (r[0][2] - r[2][0]) / s;
        q[3] = (r[1][0] - r[0][1]) / s;
    } else {
        const int i = most - 1, j = (i + 1) % 3, k = (i + 2) % 3;
        const double s = 2 * sqrt(1 + r[i][i] - r[j][j] - r[k][k]);
        q[0] = (r[k][j] - r[j][k]) / s;
        q[1 + i] = 0.25 * s;
        q[1 + j] = (r[j][i] + r[i][j]) / s;
        q[1 + k] = (r[k][i] + r[i][k]) / s;
    }
    for (int i = 0; i < 4 && q[0] < 0; i++) q[3 - i] = -q[3 - i]; /* the sign of w last */
}

tsr_status tsr_rig_pinhole(const char *format, const tsr_rig_camera *c, tsr_pinhole *pinhole)
{
    if (c->width < 1) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "camera '%.100s': the size of its image is not known, which %s needs", c->name, format);
    const tsr_status status = tsr_camera_to_pinhole(&c->camera, c->width, c->height, pinhole);
    if (status == TSR_ERROR_UNSUPPORTED) {
        char why[300];
        tsr_print(why, sizeof why, "%s", tsr_error_message());
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "'%.100s' does not fit into %s: %s", c->name, format, why);
    }
    return status;
}

const char *tsr_rig_number(double value, char text[32])
{
    if (value == 0) value = 0; /* no -0 */
    for (int digits = 6; digits <= 17; digits++) {
        tsr_print(text, 32, "%.*g", digits, value);
        if (tsr_number_parse(text, NULL) == value) break;
    }
    return text;
}
