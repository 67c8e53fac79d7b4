#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "films.h"

struct calibrate {
    cli_call *cli;
    const char *output, *format, *board_text, *points, *report, *corners, *session;
    tsr_target board;
    int32_t points_most; /* of the board */
    char unit[16];
    int32_t cameras, radial, show;
    int fisheye, no_tangential, square_pixels, centred, free_centre, focal_given, huber_given, radial_given, cameras_given, show_given;
    calibrate_canvas canvas;
    int gamma_given, response_given, dim_given;
    double focal, huber, finding; /* finding: seconds that looking for boards took */
    tsr_size3 size;
    calibrate_view *view;
    int32_t views, room;
    tsr_sighting *sighting;
    int64_t sightings, sighting_room;
    tsr_image picture[TSR_CALIBRATE_CAMERAS_MOST], *pictures;
    tsr_calibration *result;
};

static int parse_board(struct calibrate *c)
{
    if (tsr_target_parse(c->board_text, &c->board, c->unit) == TSR_OK && tsr_target_count(&c->board, &c->points_most) == TSR_OK) return CLI_OK;
    return cli_usage(c->cli, "--board: %s", tsr_error_message());
}

/* What one picture shows: "a board of 9 x 6 inner corners". */
static const char *board_name(const struct calibrate *c, char text[96])
{
    static const char *const what[] = { "board of %d x %d inner corners", "grid of %d x %d circles", "board of %d x %d squares with markers" };
    snprintf(text, 96, what[c->board.kind], (int)c->board.columns, (int)c->board.rows);
    return text;
}

static int more_sightings(struct calibrate *c, int64_t count)
{
    if (c->sightings + count > c->sighting_room) {
        const int64_t room = 2 * (c->sightings + count);
        tsr_sighting *grown = (tsr_sighting *)realloc(c->sighting, (size_t)room * sizeof *grown);
        if (!grown) return cli_error(c->cli, CLI_FAILED, "out of memory");
        c->sighting = grown;
        c->sighting_room = room;
    }
    return CLI_OK;
}

static calibrate_view *add_view(struct calibrate *c, const char *name)
{
    if (c->views == c->room) {
        const int32_t room = c->room ? 2 * c->room : 64;
        calibrate_view *grown = (calibrate_view *)realloc(c->view, (size_t)room * sizeof *grown);
        if (!grown) return NULL;
        c->view = grown;
        c->room = room;
    }
    calibrate_view *v = &c->view[c->views++];
    *v = (calibrate_view){ .pose = -1 };
    snprintf(v->name, sizeof v->name, "%s", name);
    return v;
}

/* A picture of each camera is kept for the report. */
static void keep_picture(struct calibrate *c, const tsr_image *image)
{
    tsr_image *grown = (tsr_image *)realloc(c->pictures, (size_t)c->views * sizeof *grown);
    if (!grown) return;
    c->pictures = grown;
    tsr_image *to = &grown[c->views - 1];
    *to = (tsr_image){ 0 };
    if (!c->report || tsr_image_create(image->width, image->height, image->channels, to) != TSR_OK) return;
    memcpy(to->pixels, image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels);
}

/* The board's points in one picture. */
static int find_board(struct calibrate *c, calibrate_view *v, const tsr_image *image)
{
    char name[96];
    const size_t n = (size_t)c->points_most;
    tsr_chessboard_options o = TSR_CHESSBOARD_OPTIONS;
    tsr_target_found found = TSR_TARGET_FOUND;
    v->corner = (double(*)[2])malloc(n * sizeof *v->corner);
    v->number = (int32_t *)malloc(n * sizeof *v->number);
    uint8_t *seen = (uint8_t *)malloc(n);
    if (!v->corner || !v->number || !seen) {
        free(seen);
        return cli_error(c->cli, CLI_FAILED, "out of memory");
    }
    o.progress = cli_progress(c->cli);
    const double start = cli_seconds();
    const tsr_status status = tsr_target_find(image, &c->board, &o, v->corner, seen, &found);
    c->finding += cli_seconds() - start;
    cli_progress_end(c->cli);
    for (int32_t i = 0; i < c->points_most && status == TSR_OK; i++) {
        if (!seen[i]) continue;
        for (int k = 0; k < 2; k++) v->corner[v->count][k] = v->corner[i][k];
        v->number[v->count++] = i;
    }
    free(seen);
    if (status != TSR_OK) return cli_status(c->cli, status, v->name);
    if (!v->count)
        cli_note(c->cli, "%s: no %s%s", cli_shown(v->name), board_name(c, name),
                 found.mirrored ? ": what there is is mirrored (the board's back, or a picture turned over)" : "");
    else if (found.boards > 1) cli_note(c->cli, "%s: %d boards, the largest is taken", cli_shown(v->name), (int)found.boards);
    return CLI_OK;
}

static int find_boards(struct calibrate *c)
{
    cli_frames frames = CLI_FRAMES(c->cli);
    int more = 1, code = CLI_OK;
    while (!code && more) {
        code = cli_frames_next(&frames, &more);
        if (code || !more) break;
        calibrate_view *v = add_view(c, frames.name);
        if (!v) {
            code = cli_error(c->cli, CLI_FAILED, "out of memory");
            break;
        }
        v->width = frames.image.width;
        v->height = frames.image.height;
        code = find_board(c, v, &frames.image);
        keep_picture(c, &frames.image);
    }
    if (!code) code = cli_frames_any(&frames);
    cli_frames_destroy(&frames);
    return code;
}

/* The pictures of camera 0 come first, then those of camera 1, ...: the n-th of each show the same board. */
static int make_sightings(struct calibrate *c, tsr_pinhole *camera)
{
    if (c->views % c->cameras) return cli_usage(c->cli, "%d pictures of %d cameras, expected as many of each", (int)c->views, (int)c->cameras);
    const int32_t each = c->views / c->cameras;
    int32_t poses = 0;
    for (int32_t j = 0; j < each; j++) {
        int seen = 0;
        for (int32_t k = 0; k < c->cameras; k++) {
            calibrate_view *v = &c->view[k * each + j];
            v->camera = k;
            if (!camera[k].width) {
                camera[k].width = v->width;
                camera[k].height = v->height;
            }
            if (v->width != camera[k].width || v->height != camera[k].height)
                return cli_error(c->cli, CLI_FAILED,
                                 "%s: %d x %d pixels, but the pictures before it have %d x %d: expected those of one camera (see --cameras)",
                                 cli_shown(v->name), (int)v->width, (int)v->height, (int)camera[k].width, (int)camera[k].height);
            v->first = c->sightings;
            if (!v->count) continue;
            seen = 1;
            v->pose = poses;
            const int code = more_sightings(c, v->count);
            if (code) return code;
            for (int32_t i = 0; i < v->count; i++) {
                double at[2];
                const tsr_status status = tsr_target_point(&c->board, v->number[i], at);
                if (status != TSR_OK) return cli_status(c->cli, status, NULL);
                c->sighting[c->sightings++] =
                    (tsr_sighting){ .camera = k, .pose = poses, .point = { at[0], at[1], 0 }, .pixel = { v->corner[i][0], v->corner[i][1] } };
            }
        }
        poses += seen;
    }
    char name[96];
    if (!c->sightings)
        return cli_error(c->cli, CLI_DIFFERS, "no picture shows a %s%s", board_name(c, name),
                         c->board.kind == TSR_TARGET_CHESSBOARD ? ": count where four squares meet, not squares" : "");
    return CLI_OK;
}

/* Lines of X,Y,Z,U,V; a line that starts with a letter or # is passed over. */
static int read_points(struct calibrate *c)
{
    char *text = cli_read_text(c->cli, c->points);
    if (!text) return CLI_FAILED;
    int code = CLI_OK;
    int64_t line = 0;
    calibrate_view *v = add_view(c, c->points);
    if (!v) code = cli_error(c->cli, CLI_FAILED, "out of memory");
    for (char *p = text; !code && *p;) {
        char *end = strchr(p, '\n');
        double x[5];
        if (end) *end = 0;
        line++;
        char *at = p;
        while (isspace((unsigned char)*at)) at++;
        if (*at && *at != '#' && !(isalpha((unsigned char)*at) && line == 1)) {
            if (!cli_numbers(at, x, 5))
                code = cli_error(c->cli, CLI_FAILED, "%s:%lld: expected five finite numbers X,Y,Z,U,V: a point and the pixel where it was seen",
                                 cli_shown(c->points), (long long)line);
            else code = more_sightings(c, 1);
            if (!code) c->sighting[c->sightings++] = (tsr_sighting){ .point = { x[0], x[1], x[2] }, .pixel = { x[3], x[4] } };
        }
        p = end ? end + 1 : p + strlen(p);
    }
    free(text);
    if (!code && !c->sightings) code = cli_error(c->cli, CLI_FAILED, "%s: no pairs, expected lines of X,Y,Z,U,V", cli_shown(c->points));
    if (!code) {
        v->count = c->sightings;
        v->pose = 0;
    }
    return code;
}

static uint32_t free_of(const struct calibrate *c)
{
    uint32_t f = 0;
    if (c->points) {
        if (!c->focal_given) f |= TSR_FREE_FOCAL;
        if (c->free_centre) f |= TSR_FREE_CENTRE;
    } else {
        f |= TSR_FREE_FOCAL | (c->square_pixels ? 0 : TSR_FREE_ASPECT) | (c->centred ? 0 : TSR_FREE_CENTRE);
        if (!c->no_tangential && !c->fisheye) f |= TSR_FREE_TANGENTIAL;
    }
    const int32_t radial = c->radial_given ? c->radial : c->points ? 0 : c->fisheye ? 4 : 3;
    for (int32_t k = 0; k < radial; k++) f |= (uint32_t)TSR_FREE_K1 << k;
    return f ? f : TSR_FREE_POSE_ONLY;
}

static void show_text(const struct calibrate *c, const calibrate_result *r)
{
    printf("%lld points in %d poses: error %.4f pixels, condition number %.1e\n", (long long)r->info.sightings, (int)r->info.poses, r->info.rms,
           r->info.condition);
    for (int32_t k = 0; k < r->info.cameras; k++) {
        tsr_pinhole p;
        tsr_calibration_sigma s;
        if (tsr_calibration_camera(c->result, k, &p, &s, NULL) != TSR_OK) return;
        printf("camera %d: focal %.3f %.3f (+- %.2g), centre %.3f %.3f (+- %.2g), k", (int)k, p.fx, p.fy, s.fx, p.cx, p.cy, s.cx);
        for (int i = 0; i < 6; i++)
            if (i < 3 || p.k[i] != 0) printf(" %.5f", p.k[i]);
        if (!p.fisheye) printf(", p %.6f %.6f", p.p[0], p.p[1]);
        if (k > 0 || r->info.poses == 1) {
            const double *t = p.translation;
            double at[3] = { 0 };
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) at[i] -= p.rotation[j][i] * t[j];
            printf(", at %.5g %.5g %.5g%s%s", at[0], at[1], at[2], *c->unit ? " " : "", c->unit);
        }
        printf("\n");
    }
}

static void json_numbers(const char *key, const double *value, int count)
{
    json_open(key, '[');
    for (int i = 0; i < count; i++) json_real(NULL, value[i]);
    json_close(']');
}

static void show_json(const struct calibrate *c, const calibrate_result *r)
{
    json_open(NULL, '{');
    json_real("rms", r->info.rms);
    json_real("sigma", r->info.sigma);
    json_real("condition", r->info.condition);
    json_int("points", r->info.sightings);
    json_int("poses", r->info.poses);
    if (!c->points) json_real("finding_seconds", c->finding);
    json_int("steps", r->info.iterations);
    json_bool("converged", r->info.converged);
    json_text("unit", c->unit);
    json_open("cameras", '[');
    for (int32_t k = 0; k < r->info.cameras; k++) {
        tsr_pinhole p;
        tsr_calibration_sigma s;
        double rms;
        if (tsr_calibration_camera(c->result, k, &p, &s, &rms) != TSR_OK) break;
        json_open(NULL, '{');
        json_int("width", p.width);
        json_int("height", p.height);
        json_real("rms", rms);
        json_numbers("focal", (double[]){ p.fx, p.fy }, 2);
        json_numbers("focal_sigma", (double[]){ s.fx, s.fy }, 2);
        json_numbers("centre", (double[]){ p.cx, p.cy }, 2);
        json_numbers("centre_sigma", (double[]){ s.cx, s.cy }, 2);
        json_bool("fisheye", p.fisheye);
        json_numbers("k", p.k, 6);
        json_numbers("k_sigma", s.k, 6);
        json_numbers("p", p.p, 2);
        json_numbers("p_sigma", s.p, 2);
        json_numbers("rotation", &p.rotation[0][0], 9);
        json_numbers("translation", p.translation, 3);
        json_numbers("translation_sigma", s.translation, 3);
        json_close('}');
    }
    json_close(']');
    json_open("pictures", '[');
    for (int32_t v = 0; v < c->views; v++) {
        json_open(NULL, '{');
        json_text("name", c->view[v].name);
        json_int("camera", c->view[v].camera);
        json_int("points", c->view[v].count);
        json_real("rms", calibrate_view_rms(r, &c->view[v]));
        json_close('}');
    }
    json_close(']');
    json_open("warnings", '[');
    for (int32_t i = 0; i < r->info.warnings; i++) json_text(NULL, tsr_calibration_warning(c->result, i));
    json_close(']');
    json_close('}');
}

static int write_rig(const struct calibrate *c)
{
    tsr_rig *rig = NULL;
    tsr_rig_write_options o = TSR_RIG_WRITE_OPTIONS;
    tsr_status status = tsr_rig_create(&rig);
    for (int32_t k = 0; k < c->cameras && status == TSR_OK; k++) {
        tsr_rig_camera r = { .frame = TSR_RIG_STATIC };
        tsr_pinhole p;
        char name[32];
        snprintf(name, sizeof name, "camera%d", (int)k);
        status = tsr_calibration_camera(c->result, k, &p, NULL, NULL);
        if (status == TSR_OK) status = tsr_camera_from_pinhole(&p, &r.camera);
        r.name = name;
        r.width = p.width;
        r.height = p.height;
        if (status == TSR_OK) status = tsr_rig_add(rig, &r);
    }
    o.format = c->format;
    o.overwrite = c->cli->globals.force;
    if (status == TSR_OK) status = tsr_rig_write(rig, c->output, &o);
    tsr_rig_destroy(&rig);
    return status == TSR_OK ? CLI_OK : cli_status(c->cli, status, NULL);
}

static int write_corners(const struct calibrate *c)
{
    const size_t room = (size_t)c->sightings * 420 + 64;
    char *text = (char *)malloc(room);
    size_t n = 0;
    if (!text) return cli_error(c->cli, CLI_FAILED, "out of memory");
    n += (size_t)snprintf(text, room, "picture,camera,pose,x,y,z,u,v,du,dv\n");
    const double(*residual)[2] = tsr_calibration_residuals(c->result);
    for (int32_t v = 0; v < c->views; v++)
        for (int64_t i = c->view[v].first; i < c->view[v].first + c->view[v].count; i++) {
            const tsr_sighting *s = &c->sighting[i];
            n += (size_t)snprintf(text + n, room - n, "%.240s,%d,%d,%.9g,%.9g,%.9g,%.6f,%.6f,%.6f,%.6f\n", c->view[v].name, (int)s->camera,
                                  (int)s->pose, s->point.x, s->point.y, s->point.z, s->pixel[0], s->pixel[1], residual[i][0], residual[i][1]);
        }
    const int code = cli_write_text(c->cli, c->corners, text);
    free(text);
    return code;
}

static int work(struct calibrate *c)
{
    tsr_pinhole camera[TSR_CALIBRATE_CAMERAS_MOST] = { { 0 } };
    int code = c->points ? read_points(c) : find_boards(c);
    for (int32_t k = 0; k < c->cameras; k++) camera[k].fisheye = c->fisheye;
    if (!code && !c->points) code = make_sightings(c, camera);
    if (!code && c->points) {
        camera->width = (int32_t)c->size.x;
        camera->height = (int32_t)c->size.y;
        if (c->focal_given) {
            camera->fx = camera->fy = c->focal;
            camera->cx = 0.5 * camera->width;
            camera->cy = 0.5 * camera->height;
        }
    }
    if (code) return code;
    tsr_calibrate_options o = TSR_CALIBRATE_OPTIONS;
    o.free = free_of(c);
    o.huber = c->huber_given ? c->huber : c->points ? 2 : 0;
    o.progress = cli_progress(c->cli);
    tsr_status status = tsr_calibrate(c->sighting, c->sightings, camera, c->cameras, &o, &c->result);
    cli_progress_end(c->cli);
    if (status != TSR_OK) return cli_status(c->cli, status, c->points);
    calibrate_result r = { .view = c->view,
                           .views = c->views,
                           .sighting = c->sighting,
                           .calibration = c->result,
                           .unit = c->unit,
                           .picture = c->picture,
                           .info = TSR_CALIBRATION_INFO };
    status = tsr_calibration_get_info(c->result, &r.info);
    if (status != TSR_OK) return cli_status(c->cli, status, NULL);
    for (int32_t v = 0; v < c->views && c->pictures; v++) {
        tsr_image *to = &c->picture[c->view[v].camera];
        if (!to->pixels && c->view[v].count) *to = c->pictures[v];
    }
    if (c->output) code = write_rig(c);
    if (!code && c->corners) code = write_corners(c);
    if (!code && c->report) code = calibrate_report(c->cli, c->report, &r);
    if (!code && c->cli->globals.json) show_json(c, &r);
    else if (!code) show_text(c, &r);
    for (int32_t i = 0; i < r.info.warnings && !code; i++) cli_note(c->cli, "%s", tsr_calibration_warning(c->result, i));
    return code;
}

/* Pictures of the board as a camera with a lens sees it, to try things on. */
static int draw_boards(struct calibrate *c)
{
    cli_frames frames = CLI_FRAMES(c->cli);
    cli_film film = { 0 };
    int code = cli_film_check(c->cli, &film, c->output, c->show == 1);
    if (code) return code;
    tsr_pinhole p = { .width = 640, .height = 480, .fx = 540, .fy = 540, .cx = 326, .cy = 236, .k = { -0.26, 0.09 } };
    if (c->fisheye) p = (tsr_pinhole){ .width = 640, .height = 480, .fx = 240, .fy = 240, .cx = 326, .cy = 236, .k = { 0.02, -0.008 }, .fisheye = 1 };
    const int marked = c->board.kind == TSR_TARGET_CHARUCO;
    const double across = c->board.square * (c->board.kind == TSR_TARGET_CIRCLES ? 2 * c->board.columns - 1 : c->board.columns - !marked),
                 down = c->board.square * (c->board.rows - !marked);
    for (int32_t n = 0; n < c->show && !code; n++) {
        tsr_image image = { 0 };
        const double a = 0.5 * sin(2.4 * n), b = 0.5 * cos(1.7 * n), g = 0.25 * sin(1.1 * n + 1);
        const double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b), cg = cos(g), sg = sin(g);
        const double r[3][3] = { { cg * cb, cg * sb * sa - sg * ca, cg * sb * ca + sg * sa },
                                 { sg * cb, sg * sb * sa + cg * ca, sg * sb * ca - cg * sa },
                                 { -sb, cb * sa, cb * ca } };
        const double away = 1.55 * fmax(across * p.fx / p.width, down * p.fy / p.height) * (1.05 + 0.25 * sin(0.9 * n));
        const double middle[3] = { 0.1 * across * sin(3.1 * n), 0.1 * down * cos(2.3 * n), away };
        memcpy(p.rotation, r, sizeof r);
        for (int i = 0; i < 3; i++) p.translation[i] = middle[i] - 0.5 * (r[i][0] * across + r[i][1] * down);
        const tsr_status status = tsr_target_draw(&c->board, &p, &image);
        if (status != TSR_OK) code = cli_status(c->cli, status, NULL);
        if (!code && n == 0) code = cli_film_begin(c->cli, &film, image.width, image.height, image.channels, &frames);
        if (!code) code = cli_film_append(c->cli, &film, &image, &frames);
        tsr_image_destroy(&image);
    }
    return cli_film_finish(c->cli, &film, code);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct calibrate *c = (struct calibrate *)calloc(1, sizeof *c);
    if (!c) return cli_error(cli, CLI_FAILED, "out of memory");
    c->cli = cli;
    c->cameras = 1;
    c->canvas.o = (tsr_rig_compensate_options)TSR_RIG_COMPENSATE_OPTIONS;
    cli_option options[] = {
        CLI_OUTPUT_OPTION(c->output),
        { .name = "format",
          .type = CLI_TEXT,
          .value = &c->format,
          .argument = "NAME",
          .help = "of the cameras: opencv, transforms, colmap-text, ... (default: by name)" },
        { .name = "board",
          .type = CLI_TEXT,
          .value = &c->board_text,
          .argument = "9x6,25mm",
          .help = "inner corners across and down, and the side of a square; or circles:4x11,20mm (an asymmetric grid, and the step from row to row); "
                  "or charuco:5x7,30mm,22mm,4x4_50 (squares, their side, a marker's, the family)" },
        { .name = "cameras",
          .type = CLI_INT,
          .value = &c->cameras,
          .argument = "N",
          .help = "how many took the pictures: all of the first, then all of the second, ... (default 1)",
          .lower = 1,
          .upper = TSR_CALIBRATE_CAMERAS_MOST,
          .given = &c->cameras_given },
        { .name = "lens", .type = CLI_CHOICE, .value = &c->fisheye, .argument = "NAME", .help = "of all cameras", .choices = "brown fisheye" },
        { .name = "radial",
          .type = CLI_INT,
          .value = &c->radial,
          .argument = "N",
          .help = "how many radial coefficients (default 3; fisheye 4; --points 0); from 4 on the rational model",
          .lower = 0,
          .upper = 6,
          .given = &c->radial_given },
        { .name = "no-tangential", .type = CLI_FLAG, .value = &c->no_tangential, .help = "hold p1 and p2 at 0" },
        { .name = "square-pixels", .type = CLI_FLAG, .value = &c->square_pixels, .help = "one focal length for both axes" },
        { .name = "centred", .type = CLI_FLAG, .value = &c->centred, .help = "hold the centre in the middle of the image" },
        { .name = "points",
          .type = CLI_TEXT,
          .value = &c->points,
          .argument = "PAIRS.csv",
          .help = "instead of pictures: lines of X,Y,Z,U,V, points and the pixels where one camera saw them" },
        { .name = "image-size", .type = CLI_SIZE2, .value = &c->size, .help = "of --points", .lower = 1, .upper = 65536 },
        { .name = "focal",
          .type = CLI_REAL,
          .value = &c->focal,
          .argument = "PIXELS",
          .help = "of --points: known, and held",
          .lower = 1e-3,
          .upper = 1e8,
          .given = &c->focal_given },
        { .name = "free-centre", .type = CLI_FLAG, .value = &c->free_centre, .help = "of --points: find the centre as well" },
        { .name = "huber",
          .type = CLI_REAL,
          .value = &c->huber,
          .argument = "PIXELS",
          .help = "larger errors count linearly (default 0: all squared; --points 2)",
          .lower = 0,
          .upper = 1e6,
          .given = &c->huber_given },
        { .name = "session",
          .type = CLI_TEXT,
          .value = &c->session,
          .argument = "FILE.calib",
          .help = "instead of pictures: what was done by hand in the workbench (tessera serve --mode calibrate), done again" },
        { .name = "compensate",
          .type = CLI_TEXT,
          .value = &c->canvas.image,
          .argument = "PICTURE",
          .help = "of --session: what --projector must show so that its canvas, the proxy, looks like its image" },
        { .name = "projector", .type = CLI_TEXT, .value = &c->canvas.o.projector, .argument = "NAME", .help = "of the camera that is the projector" },
        { .name = "lit",
          .type = CLI_TEXT,
          .value = &c->canvas.o.lit,
          .argument = "NAME",
          .help = "of the camera that saw the canvas under its full light" },
        { .name = "dark",
          .type = CLI_TEXT,
          .value = &c->canvas.o.dark,
          .argument = "NAME",
          .help = "of the camera that saw it without (default: no other light)" },
        { .name = "wanted",
          .type = CLI_TEXT,
          .value = &c->canvas.o.wanted,
          .argument = "NAME",
          .help = "of the camera whose picture is how the canvas should look (default: the projector's)" },
        { .name = "gamma",
          .type = CLI_REAL,
          .value = &c->canvas.o.gamma,
          .argument = "G",
          .help = "of the projector: light is value^G (default 2.2)",
          .lower = 0.2,
          .upper = 5,
          .given = &c->gamma_given },
        { .name = "response",
          .type = CLI_REAL,
          .value = &c->canvas.o.response,
          .argument = "G",
          .help = "of the pictures (default 2.2)",
          .lower = 0.2,
          .upper = 5,
          .given = &c->response_given },
        { .name = "dim",
          .type = CLI_REAL,
          .value = &c->canvas.o.dim,
          .argument = "SHARE",
          .help = "of the light that is wanted (default 1)",
          .lower = 0.01,
          .upper = 10,
          .given = &c->dim_given },
        { .name = "report",
          .type = CLI_TEXT,
          .value = &c->report,
          .argument = "PAGE.html",
          .help = "errors, coverage, every picture: one page that needs no other file" },
        { .name = "corners",
          .type = CLI_TEXT,
          .value = &c->corners,
          .argument = "FILE.csv",
          .help = "every point, where it was seen, and how far from predicted" },
        { .name = "show",
          .type = CLI_INT,
          .value = &c->show,
          .argument = "N",
          .help = "make N pictures of the board instead, as a camera with a lens sees it",
          .lower = 1,
          .upper = 1000,
          .given = &c->show_given },
        { 0 },
    };
    int code = cli_parse(cli, options, 0, 1 << 20, argc, argv);
    if (code < 0 && c->session) {
        code = CLI_OK;
        if (c->board_text || c->points || c->report || c->corners || c->show_given || cli->inputs)
            code = cli_usage(cli, "--session: expected without pictures, --board, --points, --report, --corners and --show");
        if (!code && !c->canvas.image != !c->canvas.o.projector) code = cli_usage(cli, "--compensate: expected --projector and --lit as well");
        if (!code && c->output) code = cli_check_output(cli, c->output);
        if (!code && c->canvas.image) code = cli_check_option(cli, "compensate", c->canvas.image);
        if (!code) code = calibrate_session(cli, c->session, c->output, c->format, &c->canvas);
    } else if (code < 0) {
        code = CLI_OK;
        if (c->canvas.image || c->canvas.o.projector || c->canvas.o.lit || c->canvas.o.dark || c->canvas.o.wanted || c->gamma_given ||
            c->response_given || c->dim_given)
            code = cli_usage(cli, "--compensate, --projector, --lit, --dark, --wanted, --gamma, --response, --dim: without effect without --session");
        if (!code && c->board_text) code = parse_board(c);
        if (!code && !c->board_text == !c->points) code = cli_usage(cli, "expected pictures with --board, or --points");
        if (!code && c->show_given && (c->points || cli->inputs || !c->output))
            code = cli_usage(cli, "--show: expected --board and --output, and no pictures");
        if (!code && c->points && cli->inputs) code = cli_usage(cli, "%d pictures given, expected none with --points", cli->inputs);
        if (!code && !c->points && !c->show_given && !cli->inputs)
            code = cli_usage(cli, "no pictures given, expected those of one board in several positions");
        if (!code && c->points && !c->size.x) code = cli_usage(cli, "--points: expected --image-size W,H as well");
        if (!code && !c->points && (c->focal_given || c->free_centre || c->size.x))
            code = cli_usage(cli, "--focal, --free-centre, --image-size: without effect without --points");
        if (!code && c->points && (c->cameras_given || c->no_tangential || c->square_pixels || c->centred))
            code = cli_usage(cli, "--cameras, --no-tangential, --square-pixels, --centred: without effect on --points");
        if (!code && c->fisheye && c->radial_given && c->radial > 4)
            code = cli_usage(cli, "--radial: %d given, expected at most 4 of a fish-eye", (int)c->radial);
        if (!code && c->output && !c->show_given) code = cli_check_output(cli, c->output);
        if (!code && c->report) code = cli_check_option(cli, "report", c->report);
        if (!code && c->corners) code = cli_check_option(cli, "corners", c->corners);
        if (!code) code = c->show_given ? draw_boards(c) : work(c);
    }
    for (int32_t v = 0; v < c->views; v++) {
        free(c->view[v].corner);
        free(c->view[v].number);
        if (c->pictures) tsr_image_destroy(&c->pictures[v]);
    }
    tsr_calibration_destroy(&c->result);
    free(c->pictures);
    free(c->sighting);
    free(c->view);
    free(c);
    return code;
}

const cli_verb verb_calibrate = {
    "calibrate", "[options] PICTURE... --board 9x6,25mm -o CAMERAS",
    "Find the focal length, lens and pose of cameras from pictures of a board (chessboard, circles, ChArUco), or from pairs of points",
    "  tessera calibrate --board 9x6,25mm --show 9 -o board-%02d.png    # pictures to try it on\n"
    "  tessera calibrate board-0*.png --board 9x6,25mm -o cameras.yml --report calibration.html\n"
    "  tessera calibrate board-0*.png --board 9x6,25mm --corners corners.csv --json\n"
    "  tessera calibrate --board circles:4x11,20mm --show 9 -o circles-%02d.png\n"
    "  tessera calibrate circles-0*.png --board circles:4x11,20mm -o circles.yml\n"
    "  tessera calibrate --board charuco:5x7,30mm,22mm,4x4_50 --show 9 -o marked-%02d.png\n"
    "  tessera calibrate marked-0*.png --board charuco:5x7,30mm,22mm,4x4_50 -o marked.yml\n"
    "  printf 'proxy pitch\\nimage board-00.png\\nimage board-01.png\\n' > hall.calib    # a session, as the page saves it\n"
    "  tessera calibrate --session hall.calib --compensate show.png --projector board-00 --lit board-01\n",
    run
};
