#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "field_lines.h"

struct streams {
    cli_lines l;
    tsr_seed_options seeding;
    tsr_ftle_options ftle;
    const char *seed_file, *volume;
    int kind, paths, given_seeds, times_given, volume_given;
    int32_t releases;
    int64_t seed_number;
    double first, spacing, start;
    int start_given;
    tsr_context *context;
    tsr_vector_field **fields; /* [count] */
    double *times;
    int count;
    double *seeds;
    int64_t seed_count;
    cli_lines_kind output;
};

static int fail(const struct streams *s, tsr_status status) { return cli_status(s->l.cli, status, NULL); }

/* Points of any format that has some. */
static int read_seeds(struct streams *s)
{
    int code = CLI_OK;
    tsr_points *points = cli_read_points(s->l.cli, s->seed_file, &s->l.read, &code);
    if (!points) return code;
    s->seed_count = tsr_points_count(points);
    s->seeds = (double *)malloc((size_t)(s->seed_count + 1) * 3 * sizeof(double));
    for (int64_t k = 0; s->seeds && k < 3 * s->seed_count; k++) s->seeds[k] = (double)tsr_points_positions_const(points)[k];
    tsr_points_destroy(&points);
    return s->seeds ? CLI_OK : cli_error(s->l.cli, CLI_FAILED, "%s: out of memory", s->seed_file);
}

static int make_seeds(struct streams *s)
{
    double *made = NULL;
    tsr_field_info info = TSR_FIELD_INFO;
    s->seeding.kind = (tsr_seeding)s->kind;
    s->seeding.seed = (uint64_t)s->seed_number;
    tsr_status status = tsr_field_describe(s->fields[0], &info);
    if (status == TSR_OK && (s->kind == TSR_SEED_SPHERE || s->kind == TSR_SEED_BALL) && !(s->seeding.radius > 0)) {
        const tsr_vec3 h = tsr_geometry_spacing(&info.geometry); /* a fifth of the smallest side */
        s->seeding.radius = 0.2 * fmin(h.x * (double)(info.size.x - 1), fmin(h.y * (double)(info.size.y - 1), h.z * (double)(info.size.z - 1)));
    }
    if (status == TSR_OK && !s->given_seeds) { /* a line, plane or ball through the middle */
        const double x = (double)(info.size.x - 1), y = (double)(info.size.y - 1), z = (double)(info.size.z - 1);
        const int middle = s->kind == TSR_SEED_SPHERE || s->kind == TSR_SEED_BALL;
        s->seeding.point[0] = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ middle ? x / 2 : 0, s->kind == TSR_SEED_PLANE ? 0 : y / 2, z / 2 });
        s->seeding.point[1] = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ x, s->kind == TSR_SEED_PLANE ? 0 : y / 2, z / 2 });
        s->seeding.point[2] = tsr_geometry_to_world(&info.geometry, (tsr_vec3){ 0, y, z / 2 });
    }
    if (status == TSR_OK) status = tsr_seeds_make(s->fields[0], &s->seeding, &made, &s->seed_count);
    if (status != TSR_OK) return fail(s, status);
    s->seeds = (double *)malloc((size_t)(s->seed_count + 1) * 3 * sizeof(double));
    if (s->seeds) memcpy(s->seeds, made, (size_t)s->seed_count * 3 * sizeof(double));
    tsr_seeds_destroy(&made);
    return s->seeds ? CLI_OK : cli_error(s->l.cli, CLI_FAILED, "out of memory for the seeds");
}

/* One field, or with --paths, --streaks and several inputs a field of each. */
static int read_fields(struct streams *s)
{
    cli_call *cli = s->l.cli;
    const int series = s->paths || s->times_given;
    s->count = series ? cli->inputs : 1;
    s->fields = (tsr_vector_field **)calloc((size_t)s->count, sizeof(tsr_vector_field *));
    s->times = (double *)calloc((size_t)s->count, sizeof(double));
    if (!s->fields || !s->times) return cli_error(cli, CLI_FAILED, "out of memory for %d fields", s->count);
    int code = CLI_OK;
    for (int k = 0; k < s->count && !code; k++) {
        s->times[k] = s->first + s->spacing * k;
        code = lines_read_field(&s->l, cli->input + k, series ? 1 : cli->inputs, s->context, &s->fields[k]);
    }
    return code;
}

static tsr_field_series series_of(const struct streams *s)
{
    return (tsr_field_series){ (const tsr_vector_field *const *)s->fields, s->times, s->count };
}

/* ---- volumes ---------------------------------------------------------------------------------------------------------------------------- */

static int volume(struct streams *s)
{
    tsr_field_quantity quantity = TSR_FIELD_SPEED;
    tsr_volume *made = NULL, *host = NULL;
    const tsr_field_series series = series_of(s);
    tsr_write_options write = cli_write_options(s->l.cli);
    tsr_status status;
    if (!strcmp(s->volume, "ftle")) {
        s->ftle.start = s->start_given ? s->start : s->ftle.duration < 0 ? s->times[s->count - 1] : s->times[0];
        s->ftle.progress = cli_progress(s->l.cli);
        status = tsr_field_ftle(&series, &s->ftle, &made);
    } else {
        status = tsr_field_quantity_parse(s->volume, &quantity);
        if (status == TSR_OK) status = tsr_field_derive(s->fields[0], quantity, &made);
    }
    if (status == TSR_OK) status = tsr_volume_copy(made, NULL, &host);
    if (status == TSR_OK) status = tsr_volume_write(host, s->l.output, &write);
    tsr_volume_destroy(&host);
    tsr_volume_destroy(&made);
    return status == TSR_OK ? CLI_OK : fail(s, status);
}

/* ---- lines ------------------------------------------------------------------------------------------------------------------------------ */

static void show(const struct streams *s, const tsr_streamlines *lines, double length, double seconds)
{
    int64_t ends[TSR_STREAM_ENDS] = { 0 };
    const uint8_t *of = tsr_streamlines_ends(lines);
    for (int64_t k = 0; k < 2 * tsr_streamlines_count(lines); k++) ends[of[k]]++;
    if (s->l.cli->globals.json) {
        json_open(NULL, '{');
        json_int("lines", tsr_streamlines_count(lines));
        json_int("points", tsr_streamlines_point_count(lines));
        json_real("length", length);
        json_open("ends", '{');
        for (int k = 1; k < TSR_STREAM_ENDS; k++) json_int(tsr_stream_end_name((tsr_stream_end)k), ends[k]);
        json_close('}');
        json_real("seconds", seconds);
        json_close('}');
        return;
    }
    printf("%lld lines of %lld points, length %.6g; halves ended by", (long long)tsr_streamlines_count(lines), (long long)tsr_streamlines_point_count(lines), length);
    for (int k = 1; k < TSR_STREAM_ENDS; k++)
        if (ends[k]) printf(" %s %lld", tsr_stream_end_name((tsr_stream_end)k), (long long)ends[k]);
    printf("; %.3g s\n", seconds);
}

static tsr_status trace(struct streams *s, tsr_streamlines **lines)
{
    const tsr_field_series series = series_of(s);
    const double last = s->times[s->count - 1], start = s->start_given ? s->start : s->l.trace.direction == TSR_STREAM_BACKWARD ? last : s->times[0];
    if (s->paths == 2) return tsr_streamlines_streaks(&series, start, last, s->releases, s->seeds, s->seed_count, &s->l.trace, lines);
    if (s->paths == 1) return tsr_streamlines_paths(&series, start, s->seeds, s->seed_count, &s->l.trace, lines);
    return tsr_streamlines_trace(s->fields[0], s->seeds, s->seed_count, &s->l.trace, lines);
}

static tsr_status draw(struct streams *s, const tsr_streamlines *lines)
{
    tsr_contour_view view;
    tsr_camera camera;
    tsr_mesh *tubes = NULL;
    tsr_image image = { 0 };
    const tsr_write_options write = cli_image_options(s->l.cli, s->l.output);
    tsr_status status = lines_view(&s->l, s->fields[0], &view, &camera);
    if (status == TSR_OK) status = lines_tubes(&s->l, lines, s->fields[0], 1, &tubes);
    if (status == TSR_OK) status = lines_picture(&s->l, s->context, s->fields[0], tubes, &camera, &image);
    if (status == TSR_OK) status = tsr_image_write(&image, s->l.output, &write);
    tsr_image_destroy(&image);
    tsr_mesh_destroy(&tubes);
    return status;
}

static int lines(struct streams *s)
{
    tsr_streamlines *found = NULL;
    double length = 0;
    const double began = cli_seconds();
    tsr_status status = trace(s, &found);
    const double seconds = cli_seconds() - began;
    cli_progress_end(s->l.cli);
    if (status == TSR_OK) status = tsr_streamlines_length(found, &length);
    if (status == TSR_OK) status = s->output == LINES_PICTURE ? draw(s, found) : lines_write(&s->l, found, s->fields[0], s->output);
    if (status == TSR_OK) show(s, found, length, seconds);
    tsr_streamlines_destroy(&found);
    return status == TSR_OK ? CLI_OK : fail(s, status);
}

/* ---- the verb --------------------------------------------------------------------------------------------------------------------------- */

static int check(struct streams *s)
{
    cli_call *cli = s->l.cli;
    const int series = s->paths || s->times_given;
    tsr_field_quantity quantity;
    if (!series && cli->inputs == 2) return cli_usage(cli, "2 inputs given, expected one file with vectors or three with a component each (or --paths)");
    if (!series && cli->inputs > 3) return cli_usage(cli, "%d inputs given, expected --paths or --streaks beside several steps in time", cli->inputs);
    if (s->volume && strcmp(s->volume, "ftle") && tsr_field_quantity_parse(s->volume, &quantity) != TSR_OK)
        return cli_usage(cli, "--volume: '%s' given, expected speed, curvature, vorticity, divergence, q, helicity, curl-x, curl-y, curl-z or ftle", s->volume);
    if (s->volume && !strcmp(s->volume, "ftle") && !(fabs(s->ftle.duration) > 0)) return cli_usage(cli, "--volume ftle: expected --duration beside it");
    if (fabs(s->ftle.duration) > 0 && (!s->volume || strcmp(s->volume, "ftle"))) return cli_usage(cli, "--duration: expected --volume ftle beside it");
    if (s->seed_file && s->kind != TSR_SEED_RANDOM) return cli_usage(cli, "--seed-file: expected without --seeding");
    if (s->start_given && !series) return cli_usage(cli, "--start: expected --paths, --streaks or --time-step beside it");
    if (s->volume) return cli_check_write(cli, s->l.output, TSR_FILE_VOLUME, NULL);
    return lines_check(&s->l, &s->output);
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct streams s = { .l = CLI_LINES(cli),
                         .seeding = TSR_SEED_OPTIONS,
                         .ftle = TSR_FTLE_OPTIONS,
                         .kind = TSR_SEED_RANDOM,
                         .spacing = 1,
                         .releases = 50,
                         .seed_number = 1 };
    int paths = 0, streaks = 0, kind_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(s.l.output),
        { .name = "seeding", .type = CLI_CHOICE, .value = &s.kind, .argument = "KIND", .help = "grid, line, plane, sphere, ball, random (default)", .choices = "grid line plane sphere ball random", .given = &kind_given },
        { .name = "seed-file", .type = CLI_TEXT, .value = &s.seed_file, .argument = "FILE", .help = "seeds from a file of points (.xyz .ply .pcd ...), world coordinates" },
        { .name = "count", .type = CLI_COUNT, .value = &s.seeding.count, .argument = "N", .help = "of seeds: line, sphere, ball, random (default 100)", .lower = 1, .upper = 1e9 },
        { .name = "every", .type = CLI_INT, .value = &s.seeding.every, .argument = "N", .help = "grid: every N-th sample along each axis (default 10)", .lower = 1, .upper = 1e6 },
        { .name = "from", .type = CLI_VEC3, .value = &s.seeding.point[0], .help = "line, plane: first corner; sphere, ball: the centre (default: through the middle)", .given = &s.given_seeds },
        { .name = "to", .type = CLI_VEC3, .value = &s.seeding.point[1], .help = "line: the end; plane: the corner along its first side", .given = &s.given_seeds },
        { .name = "across", .type = CLI_VEC3, .value = &s.seeding.point[2], .help = "plane: the corner along its second side", .given = &s.given_seeds },
        { .name = "columns", .type = CLI_INT, .value = &s.seeding.resolution[0], .argument = "N", .help = "plane: seeds along the first side (default 10)", .lower = 1, .upper = 30000 },
        { .name = "rows", .type = CLI_INT, .value = &s.seeding.resolution[1], .argument = "N", .help = "plane: seeds along the second side (default 10)", .lower = 1, .upper = 30000 },
        { .name = "seed-radius", .type = CLI_REAL, .value = &s.seeding.radius, .argument = "LENGTH", .help = "sphere, ball: world units", .lower = 1e-300, .upper = 1e300 },
        { .name = "seed", .type = CLI_COUNT, .value = &s.seed_number, .argument = "N", .help = "chooses the random seeds (default 1)", .lower = 0, .upper = 9.2e18 },
        { .name = "direction", .type = CLI_CHOICE, .value = &s.l.direction, .argument = "WAY", .help = "both (default), forward, backward", .choices = "both forward backward" },
        { .name = "parameter", .type = CLI_CHOICE, .value = &s.l.parameter, .argument = "NAME", .help = "steps are: arc lengths (default), speed: a length over the speed at their start, time", .choices = "arc speed time" },
        { .name = "paths", .type = CLI_FLAG, .value = &paths, .help = "path lines: each input is a step in time" },
        { .name = "streaks", .type = CLI_FLAG, .value = &streaks, .help = "streak lines at the time of the last input" },
        { .name = "releases", .type = CLI_INT, .value = &s.releases, .argument = "N", .help = "streak lines: particles of each seed (default 50)", .lower = 2, .upper = 1000000 },
        { .name = "time-step", .type = CLI_REAL, .value = &s.spacing, .argument = "T", .help = "between the inputs (default 1)", .lower = 1e-300, .upper = 1e300, .given = &s.times_given },
        { .name = "first-time", .type = CLI_REAL, .value = &s.first, .argument = "T", .help = "of the first input (default 0)", .given = &s.times_given },
        { .name = "start", .type = CLI_REAL, .value = &s.start, .argument = "T", .help = "time at which particles start (default: the first; backward: the last)", .given = &s.start_given },
        { .name = "volume", .type = CLI_TEXT, .value = &s.volume, .argument = "NAME", .help = "write a volume instead: speed, curvature, vorticity, divergence, q, helicity, curl-x, curl-y, curl-z, ftle" },
        { .name = "duration", .type = CLI_REAL, .value = &s.ftle.duration, .argument = "T", .help = "ftle: how long particles move; below 0: backward" },
        CLI_LINE_OPTIONS(s.l),
        CLI_READ_OPTIONS(s.l.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 100000, argc, argv);
    if (code >= 0) return code;
    if (paths && streaks) return cli_usage(cli, "--streaks: expected without --paths");
    s.paths = streaks ? 2 : paths;
    code = check(&s);
    if (!code) code = cli_context(cli, &s.context);
    if (!code) code = read_fields(&s);
    if (!code && s.volume) code = volume(&s);
    else if (!code) {
        code = s.seed_file ? read_seeds(&s) : make_seeds(&s);
        if (!code) code = lines(&s);
    }
    cli_progress_end(cli);
    for (int k = 0; k < s.count && s.fields; k++) tsr_field_destroy(&s.fields[k]);
    free(s.fields);
    free(s.times);
    free(s.seeds);
    tsr_context_destroy(&s.context);
    return code;
}

const cli_verb verb_streamlines = { "streamlines", "[options] FIELD | X Y Z | STEP... -o OUTPUT",
                                    "Stream lines, path lines and streak lines of vector fields; curl, Q criterion, Lyapunov exponents as volumes",
                                    "  tessera make field-abc --size 40 -o abc.nrrd && tessera streamlines abc.nrrd --count 60 --max-steps 100 -o lines.vtk\n"
                                    "  tessera streamlines abc.nrrd --seeding plane --method dormand-prince --tubes -o tubes.ply\n"
                                    "  tessera streamlines abc.nrrd --volume q -o q.nrrd\n",
                                    run };
