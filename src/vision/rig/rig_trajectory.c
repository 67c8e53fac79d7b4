/* vision/rig/rig_trajectory.c: trajectories: TUM RGB-D (time, position, quaternion a line) and KITTI odometry (3 x 4 rows a line). Poses take the camera (x right,
 * y down, z forward) to the world; intrinsics are those of the first set unless the options say others. */
#include <math.h>
#include <string.h>

#include "vision/rig/rig.h"

static int numbers_in(tsr_text line)
{
    double v;
    int count = 0;
    tsr_word word;
    tsr_text look = line;
    if (tsr_text_word(&look, &word) && word.text[0] == '#') return -1;
    while (tsr_text_double(&line, &v) == TSR_TEXT_OK) count++;
    return tsr_text_word(&line, &word) ? -2 : count;
}
static int recognise_count(const uint8_t *head, size_t size, int wanted)
{
    tsr_text text = tsr_text_make(head, size), line;
    while (tsr_text_line(&text, &line)) {
        const int count = numbers_in(line);
        if (count == -1 || !count) continue;
        return count == wanted;
    }
    return 0;
}
static int recognise_tum(const uint8_t *head, size_t size, const char *path)
{
    (void)path;
    return recognise_count(head, size, 8);
}
static int recognise_kitti(const uint8_t *head, size_t size, const char *path)
{
    (void)path;
    return recognise_count(head, size, 12);
}

static tsr_status read_lines(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *o, tsr_rig *rig, int kitti)
{
    tsr_text text = tsr_text_make(bytes, size), line;
    const int wanted = kitti ? 12 : 8;
    tsr_pinhole p = { .width = o->width ? o->width : kitti ? 1241 : 640, .height = o->height ? o->height : kitti ? 376 : 480 };
    const int own = o->width && !(o->focal > 0);
    p.fx = p.fy = o->focal > 0 ? o->focal : own ? 0.82 * p.width : kitti ? 718.856 : 525;
    p.cx = o->principal[0] != 0 ? o->principal[0] : own || o->width || !kitti ? 0.5 * p.width : 607.1928 + 0.5;
    p.cy = o->principal[1] != 0 ? o->principal[1] : own || o->width || !kitti ? 0.5 * p.height : 185.2157 + 0.5;
    if (!(o->focal > 0)) tsr_remark("%.200s: a trajectory has no intrinsics: %d x %d pixels and a focal length of %g are assumed", file, (int)p.width, (int)p.height, p.fx);
    while (tsr_text_line(&text, &line)) {
        double v[12] = { 0 }, at[3];
        char name[32];
        const int count = numbers_in(line);
        if (count == -1 || !count) continue;
        if (count != wanted) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: expected %d numbers", file, (long long)line.line, wanted);
        if (rig->count % 4096 == 0) TSR_PROGRESS(&o->progress, (double)(line.at - (const char *)bytes) / (double)size, "poses");
        for (int i = 0; i < wanted; i++)
            if (tsr_text_double(&line, &v[i]) != TSR_TEXT_OK || !isfinite(v[i])) TSR_FAIL(TSR_ERROR_FORMAT, "%.200s: line %lld: a number is not finite", file, (long long)line.line);
        double world[3][3]; /* camera to world */
        tsr_print(name, sizeof name, "pose%06lld", (long long)rig->count);
        if (kitti) {
            for (int r = 0; r < 3; r++) {
                for (int k = 0; k < 3; k++) world[r][k] = v[4 * r + k];
                at[r] = v[4 * r + 3];
            }
            TSR_TRY(tsr_rig_rotation(file, name, world));
        } else {
            const double q[4] = { v[7], v[4], v[5], v[6] };
            TSR_TRY(tsr_rig_quaternion(file, name, q, world));
            memcpy(at, v + 1, sizeof at);
        }
        for (int r = 0; r < 3; r++) {
            p.translation[r] = 0;
            for (int k = 0; k < 3; k++) {
                p.rotation[r][k] = world[k][r];
                p.translation[r] -= world[k][r] * at[k];
            }
        }
        tsr_rig_camera c = { .name = name, .width = p.width, .height = p.height, .frame = (int32_t)rig->count, .time = kitti ? 0 : v[0] };
        TSR_TRY(tsr_camera_from_pinhole(&p, &c.camera));
        TSR_TRY(tsr_rig_add(rig, &c));
    }
    return TSR_OK;
}
static tsr_status read_tum(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *o, tsr_rig *rig) { return read_lines(bytes, size, file, o, rig, 0); }
static tsr_status read_kitti(const uint8_t *bytes, size_t size, const char *file, const tsr_rig_read_options *o, tsr_rig *rig) { return read_lines(bytes, size, file, o, rig, 1); }

static tsr_status write_lines(const tsr_rig *rig, tsr_output *o, int kitti)
{
    char t[32];
    for (int64_t i = 0; i < rig->count; i++) {
        const tsr_rig_camera *c = &rig->entry[i].camera;
        const tsr_camera *m = &c->camera;
        const double at[3] = { m->position.x, m->position.y, m->position.z };
        double world[3][3], q[4];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) world[r][k] = (k ? -1 : 1) * m->rotation[k][r];
        if (kitti) {
            for (int n = 0; n < 12; n++) tsr_output_printf(o, "%s%s", n ? " " : "", tsr_rig_number(n % 4 == 3 ? at[n / 4] : world[n / 4][n % 4], t));
        } else {
            tsr_rig_to_quaternion(world, q);
            tsr_output_printf(o, "%s", tsr_rig_number(c->time != 0 || c->frame < 0 ? c->time : c->frame, t));
            for (int n = 0; n < 3; n++) tsr_output_printf(o, " %s", tsr_rig_number(at[n], t));
            for (int n = 0; n < 4; n++) tsr_output_printf(o, " %s", tsr_rig_number(q[(n + 1) % 4], t));
        }
        tsr_output_printf(o, "\n");
    }
    tsr_remark("intrinsics and images have no place in a trajectory");
    return tsr_output_write(o, "", 0);
}
static tsr_status write_tum(const tsr_rig *rig, tsr_output *o, const char *path)
{
    (void)path;
    return write_lines(rig, o, 0);
}
static tsr_status write_kitti(const tsr_rig *rig, tsr_output *o, const char *path)
{
    (void)path;
    return write_lines(rig, o, 1);
}

const tsr_rig_format tsr_rig_format_tum = { .name = "tum", .recognise = recognise_tum, .read = read_tum, .write = write_tum };
const tsr_rig_format tsr_rig_format_kitti = { .name = "kitti", .recognise = recognise_kitti, .read = read_kitti, .write = write_kitti };
