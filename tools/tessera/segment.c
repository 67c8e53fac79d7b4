#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "segment_terms.h"
#include "tiles.h"

struct segment {
    cli_call *cli;
    tsr_read_options read;
    tsr_segment_options options;
    cli_list sphere, probe, term;
    const char *output, *field, *speed, *total_speed, *log, *script, *from_mask, *from_field, *format;
    tsr_context *context;
    tsr_volume *image, *start;
    segment_volumes term_volumes;
    tsr_segmentation *segmentation;
    tsr_segment_report report;
    int epsilon_later; /* a probe or the script sets it */
};

/* "X,Y,Z,R" with as many numbers as there are; -1 and *count, or a usage error. */
static int numbers(const cli_call *cli, const char *option, const char *text, int fewest, double value[4])
{
    const char *at = text;
    int n = 0;
    while (n < 4) {
        char *end;
        value[n] = strtod(at, &end);
        if (end == at) break;
        at = end;
        n++;
        if (*at != ',') break;
        at++;
    }
    if (*at || n < fewest)
        return cli_usage(cli, "--%s: '%s' given, expected X,Y,Z%s (voxel indices; radius in world units)", option, text, fewest == 4 ? ",R" : "[,R]");
    if (n < 4) value[3] = 0;
    return -1;
}

static int write_result(struct segment *s, tsr_status status, tsr_volume *volume, const char *path)
{
    tsr_write_options write = cli_write_options(s->cli);
    write.format = s->format;
    if (status == TSR_OK) status = cli_move_volume(NULL, &volume);
    if (status == TSR_OK) status = tsr_volume_write(volume, path, &write);
    tsr_volume_destroy(&volume);
    return status == TSR_OK ? CLI_OK : cli_status(s->cli, status, path);
}

/* The surface to start from: mask or field, then spheres; probes set target and epsilon. */
static int seed(struct segment *s)
{
    int code = CLI_OK;
    tsr_status status = TSR_OK;
    tsr_size3 size = tsr_volume_size(s->image);
    const char *file = s->from_mask ? s->from_mask : s->from_field;
    if (file) {
        s->start = cli_read_to_device(s->cli, file, &s->read, s->context, &code);
        if (!s->start) return code;
        if (s->from_mask) status = cli_plain_mask(s->cli, file, s->context, &s->start);
        if (status == TSR_OK)
            status = s->from_mask ? tsr_segmentation_from_mask(s->segmentation, s->start) : tsr_segmentation_from_field(s->segmentation, s->start);
        if (status != TSR_OK) return cli_status(s->cli, status, file);
        tsr_volume_destroy(&s->start);
    }
    double v[4];
    for (int i = 0; i < s->sphere.count; i++) {
        numbers(s->cli, "sphere", s->sphere.item[i], 4, v); /* checked at the start */
        status = tsr_segmentation_sphere(s->segmentation, (tsr_vec3){ v[0], v[1], v[2] }, v[3], 0);
        if (status != TSR_OK) return cli_error(s->cli, CLI_USAGE, "--sphere %s: %s", s->sphere.item[i], tsr_error_message());
    }
    int64_t probed = 0;
    for (int i = 0; i < s->probe.count; i++) {
        tsr_probe all;
        numbers(s->cli, "probe", s->probe.item[i], 3, v);
        status = tsr_segmentation_probe(s->segmentation, (tsr_vec3){ v[0], v[1], v[2] }, v[3], &all);
        if (status != TSR_OK) return cli_error(s->cli, CLI_USAGE, "--probe %s: %s", s->probe.item[i], tsr_error_message());
        if (all.count == probed)
            return cli_usage(s->cli, "--probe %s: no voxel there, expected a position inside the volume of %lld x %lld x %lld voxels",
                             s->probe.item[i], (long long)size.x, (long long)size.y, (long long)size.z);
        probed = all.count;
    }
    return CLI_OK;
}

/* After the last command of a script: what the surface is now, which no step need have reported. *none: there is none, the image is empty or all
 * of it is inside, and no step could move anything: an error of a script that nobody recorded and that has made no surface. */
static tsr_status describe_now(struct segment *s, int recorded, int *none)
{
    tsr_tiles_info info = TSR_TILES_INFO;
    tsr_segment_report last = s->report;
    tsr_status status = tsr_tiles_describe(tsr_segmentation_tiles(s->segmentation), &info);
    if (status != TSR_OK) return status;
    *none = info.count == 0 || info.inside_voxels == 0;
    if (*none && (recorded || info.inside_voxels > 0)) {
        s->report = (tsr_segment_report){ .struct_size = sizeof s->report,
                                          .total_steps = last.total_steps,
                                          .inside_voxels = info.inside_voxels,
                                          .volume = (double)info.inside_voxels * fabs(tsr_geometry_determinant(tsr_volume_geometry(s->image))),
                                          .time = last.time,
                                          .device_bytes = info.device_bytes };
    } else {
        status = tsr_segmentation_step(s->segmentation, 0, NULL, &s->report);
    }
    s->report.seconds = last.seconds; /* those of the last run or step command */
    s->report.steps_per_second = last.steps_per_second;
    s->report.stop = *none ? TSR_STOP_EMPTY : last.stop;
    return status;
}

/* The next word of a line, as a script has them; its length. */
static size_t next_word(const char **at)
{
    static const char *const blanks = " \t\v\f\r";
    *at += strspn(*at, blanks);
    return strcspn(*at, " \t\v\f\r\n#");
}

static int is_word(const char *at, size_t length, const char *word) { return strlen(word) == length && !memcmp(at, word, length); }

/* Whether a line of the script gives epsilon, by name or by a probe. */
static int sets_epsilon(const char *text)
{
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        const char *at = text;
        size_t length = next_word(&at);
        if (is_word(at, length, "probe")) return 1;
        if (!is_word(at, length, "set")) continue;
        at += length;
        length = next_word(&at);
        if (is_word(at, length, "epsilon")) return 1;
        if (is_word(at, length, "data_weight") && strtod(at + length, NULL) == 0) return 1; /* then there is none */
    }
    return 0;
}

static int evolve(struct segment *s)
{
    tsr_progress progress = cli_progress(s->cli);
    tsr_status status;
    if (s->script) {
        char *text = cli_read_text(s->cli, s->script);
        if (!text) return CLI_FAILED;
        if (s->epsilon_later && !s->probe.count && !sets_epsilon(text)) {
            free(text);
            return cli_usage(s->cli, "--epsilon: missing: neither an option nor a line of %s gives it (set epsilon V, or probe X Y Z R)", s->script);
        }
        const int recorded = !strncmp(text, "# tessera session", 17); /* by the workbench: it may end without a surface */
        status = tsr_segmentation_script(s->segmentation, text, s->script, &progress, &s->report);
        free(text);
        int none = 0;
        if (status == TSR_OK && (status = describe_now(s, recorded, &none)) != TSR_OK) {
            cli_progress_end(s->cli);
            return cli_status(s->cli, status, s->script);
        }
        if (status == TSR_OK && recorded && none) {
            cli_progress_end(s->cli);
            cli_note(s->cli, "%s ends without a surface: %s", s->script,
                     s->report.inside_voxels > 0 ? "all of the image is inside" : "the mask is empty");
            return CLI_OK;
        }
    } else {
        status = tsr_segmentation_run(s->segmentation, &progress, &s->report);
    }
    cli_progress_end(s->cli);
    if (status != TSR_OK) return cli_status(s->cli, status, NULL);
    if (s->report.target_outside) cli_note(s->cli, "the target lies outside the range of the image");
    if (s->report.stop == TSR_STOP_EMPTY && s->report.inside_voxels > 0)
        return cli_error(s->cli, CLI_FAILED, "the surface has left the image after %lld steps: all of it is inside (lower --alpha or --epsilon)",
                         (long long)s->report.total_steps);
    if (s->report.stop == TSR_STOP_EMPTY)
        return cli_error(s->cli, CLI_FAILED,
                         "the surface vanished after %lld steps: nothing around the seeds is within epsilon of the target, or curvature is too "
                         "strong (raise --alpha, or larger seeds)",
                         (long long)s->report.total_steps);
    return CLI_OK;
}

static void show(struct segment *s)
{
    const tsr_segment_report *r = &s->report;
    tsr_segment_options now = TSR_SEGMENT_OPTIONS;
    if (tsr_segmentation_get_options(s->segmentation, &now) != TSR_OK) now.target = now.epsilon = 0;
    char device[64];
    tsr_device d = tsr_context_device(s->context);
    snprintf(device, sizeof device, d.kind == TSR_DEVICE_CPU ? "%s" : "%s:%d", tsr_device_kind_name(d.kind), d.index);
    if (s->cli->globals.json) {
        json_open(NULL, '{');
        json_text("input", s->cli->input[0]);
        json_text("device", device);
        json_real("target", now.target);
        json_real("epsilon", now.epsilon);
        json_int("steps", r->total_steps);
        json_text("stop", tsr_stop_name(r->stop));
        json_int("tiles", r->tiles);
        json_int("active_voxels", r->active_voxels);
        json_int("inside_voxels", r->inside_voxels);
        json_real("volume", r->volume);
        json_real("seconds", r->seconds);
        json_real("steps_per_s", r->steps_per_second);
        json_real("time", r->time);
        json_real("time_step", r->time_step);
        json_real("change", r->change);
        json_int("device_bytes", r->device_bytes);
        json_close('}');
    } else {
        printf("steps           %lld (stopped by: %s)\n", (long long)r->total_steps, tsr_stop_name(r->stop));
        printf("target          %.6g, epsilon %.6g\n", now.target, now.epsilon);
        printf("active voxels   %lld in %lld tiles, %.1f MB\n", (long long)r->active_voxels, (long long)r->tiles, (double)r->device_bytes * 1e-6);
        printf("inside          %lld voxels, volume %.6g\n", (long long)r->inside_voxels, r->volume);
        printf("time            %.3f s, %.0f steps/s on %s\n", r->seconds, r->steps_per_second, device);
    }
}

/* The log, after a line with the options that no `set` can give. */
static int write_log(struct segment *s)
{
    const char *log = tsr_segmentation_log(s->segmentation), *start = s->from_mask ? s->from_mask : s->from_field;
    const tsr_segment_options *o = &s->options;
    size_t room = strlen(log) + (start ? strlen(start) : 0) + 512, used = 0;
    for (int i = 0; i < s->term.count; i++) room += strlen(s->term.item[i]) + 16;
    char *text = malloc(room);
    if (!text) return cli_error(s->cli, CLI_FAILED, "out of memory for the log");
    if (start) used += (size_t)snprintf(text + used, room - used, " --from-%s %s", s->from_mask ? "mask" : "field", start);
    if (s->from_field && o->gradient != 0) used += (size_t)snprintf(text + used, room - used, " --gradient %.17g", o->gradient);
    if (o->band != 0) used += (size_t)snprintf(text + used, room - used, " --band %.17g", o->band);
    if (o->window[0] != 0 || o->window[1] != 0)
        used += (size_t)snprintf(text + used, room - used, " --window %.17g:%.17g", o->window[0], o->window[1]);
    for (int i = 0; i < s->term.count; i++) used += (size_t)snprintf(text + used, room - used, " --term %s", s->term.item[i]);
    if (used) {
        memmove(text + 8, text, used);
        memcpy(text, "# needs:", 8);
        used += 8;
        for (size_t i = 0; i < used; i++)
            if (text[i] == '\n' || text[i] == '\r') text[i] = '?'; /* of a name: the line stays one */
        text[used++] = '\n';
    }
    snprintf(text + used, room - used, "%s", log);
    const int code = cli_write_text(s->cli, s->log, text);
    free(text);
    return code;
}

static int results(struct segment *s)
{
    int code = CLI_OK;
    tsr_volume *volume = NULL;
    if (s->output && cli_names_tiles(s->output, NULL)) {
        const tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
        code = cli_write_tiles(s->cli, tsr_segmentation_tiles(s->segmentation), s->output, &write);
    } else if (s->output) {
        tsr_status status = tsr_segmentation_mask(s->segmentation, &volume);
        code = write_result(s, status, volume, s->output);
    }
    if (!code && s->field && cli_names_tiles(s->field, NULL)) {
        const tsr_tiles_write_options write = TSR_TILES_WRITE_OPTIONS;
        code = cli_write_tiles(s->cli, tsr_segmentation_tiles(s->segmentation), s->field, &write);
    } else if (!code && s->field) {
        tsr_status status = tsr_segmentation_field(s->segmentation, &volume);
        code = write_result(s, status, volume, s->field);
    }
    if (!code && s->speed) {
        tsr_status status = tsr_segmentation_speed(s->segmentation, &volume);
        code = write_result(s, status, volume, s->speed);
    }
    if (!code && s->total_speed) {
        const tsr_size3 none = { 0, 0, 0 };
        tsr_status status = tsr_segmentation_total_speed_box(s->segmentation, none, tsr_volume_size(s->image), &volume);
        code = write_result(s, status, volume, s->total_speed);
    }
    if (!code && s->log) code = write_log(s);
    return code;
}

static int segment(struct segment *s)
{
    int code = cli_context(s->cli, &s->context);
    if (code) return code;
    s->image = cli_read_to_device(s->cli, s->cli->input[0], &s->read, s->context, &code);
    if (!s->image) return code;
    for (int i = 0; i < s->term.count; i++) {
        code = segment_term(s->cli, s->context, &s->read, s->term.item[i], &s->options, &s->term_volumes);
        if (code) return code;
    }
    tsr_status status = tsr_segmentation_create(s->context, s->image, &s->options, &s->segmentation);
    if (status != TSR_OK) return cli_status(s->cli, status, s->cli->input[0]);
    code = seed(s);
    if (!code) code = evolve(s);
    if (!code) code = results(s);
    const char *const outputs[] = { s->output, s->field, s->speed, s->total_speed, s->log };
    for (int i = 0; i < 5; i++)
        if (outputs[i] && !strcmp(outputs[i], "-")) return code; /* standard output carries a result already */
    if (!code) show(s);
    return code;
}

static int run(cli_call *cli, int argc, char **argv)
{
    struct segment s = { .cli = cli, .read = TSR_READ_OPTIONS, .options = TSR_SEGMENT_OPTIONS, .report = TSR_SEGMENT_REPORT };
    tsr_segment_options *o = &s.options;
    int normalise = 0, rescale = 0, scheme = 0, tile_index = 0, window_given = 0, rule_given = 0;
    const cli_option options[] = {
        CLI_OUTPUT_OPTION(s.output),
        { .name = "field",
          .type = CLI_TEXT,
          .value = &s.field,
          .argument = "FILE",
          .help = "write the level set (negative inside), dense or as tile list" },
        { .name = "speed", .type = CLI_TEXT, .value = &s.speed, .argument = "FILE", .help = "write the data speed at every voxel" },
        { .name = "total-speed",
          .type = CLI_TEXT,
          .value = &s.total_speed,
          .argument = "FILE",
          .help = "write the speed with its curvature term, where the surface is" },
        { .name = "format", .type = CLI_TEXT, .value = &s.format, .argument = "NAME", .help = "of the three volumes (default: by extension)" },
        { .name = "log",
          .type = CLI_TEXT,
          .value = &s.log,
          .argument = "FILE",
          .help = "write a script that repeats this run exactly; its first line names the options it needs beside it, if any" },
        { .name = "sphere",
          .type = CLI_LIST,
          .value = &s.sphere,
          .argument = "X,Y,Z,R",
          .help = "start from this sphere (voxel indices; radius in world units); may be repeated" },
        { .name = "from-mask", .type = CLI_TEXT, .value = &s.from_mask, .argument = "FILE", .help = "start from the non-zero voxels" },
        { .name = "from-field", .type = CLI_TEXT, .value = &s.from_field, .argument = "FILE", .help = "start from a level set" },
        { .name = "probe",
          .type = CLI_LIST,
          .value = &s.probe,
          .argument = "X,Y,Z[,R]",
          .help = "target := mean, epsilon := deviations around this voxel; may be repeated" },
        { .name = "probe-deviations",
          .type = CLI_REAL,
          .value = &o->probe_deviations,
          .argument = "N",
          .help = "epsilon of a probe in standard deviations (default 2)",
          .lower = 1e-300,
          .upper = 1e6 },
        { .name = "script",
          .type = CLI_TEXT,
          .value = &s.script,
          .argument = "FILE",
          .help = "commands instead of one run: see docs/guide/segmentation.md" },
        { .name = "target", .type = CLI_REAL, .value = &o->target, .argument = "GREY", .help = "grey value that the surface grows over" },
        { .name = "epsilon",
          .type = CLI_REAL,
          .value = &o->epsilon,
          .argument = "GREY",
          .help = "largest distance from it; shrinks elsewhere",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "alpha",
          .type = CLI_REAL,
          .value = &o->alpha,
          .argument = "A",
          .help = "1 = data only, 0 = curvature only (default 0.5)",
          .lower = 0,
          .upper = 1 },
        { .name = "smoothing",
          .type = CLI_REAL,
          .value = &o->smoothing,
          .argument = "SIGMA",
          .help = "Gaussian applied to the image first, world units" },
        { .name = "max-steps",
          .type = CLI_COUNT,
          .value = &o->max_steps,
          .argument = "N",
          .help = "stop after N steps (default 10000)",
          .lower = 1,
          .upper = 1e12,
          .given = &rule_given },
        { .name = "change-tolerance",
          .type = CLI_REAL,
          .value = &o->change_tolerance,
          .argument = "C",
          .help = "stop when the relative change is below",
          .given = &rule_given },
        { .name = "volume-tolerance",
          .type = CLI_REAL,
          .value = &o->volume_tolerance,
          .argument = "C",
          .help = "stop when the volume changes by less over --volume-steps (default 1e-4 where no rule is given, scripts have none)",
          .given = &rule_given },
        { .name = "volume-steps", .type = CLI_INT, .value = &o->volume_steps, .argument = "N", .help = "default 50", .lower = 1, .upper = 1e9 },
        { .name = "age",
          .type = CLI_INT,
          .value = &o->age,
          .argument = "N",
          .help = "stop when N management passes created no tile",
          .lower = 1,
          .upper = 1e9,
          .given = &rule_given },
        { .name = "time-limit",
          .type = CLI_REAL,
          .value = &o->time_limit,
          .argument = "SECONDS",
          .help = "stop after this time",
          .given = &rule_given },
        { .name = "data-weight",
          .type = CLI_REAL,
          .value = &o->data_weight,
          .argument = "W",
          .help = "of the target term; 0 leaves it out (default 1)" },
        { .name = "data-floor", .type = CLI_REAL, .value = &o->data_floor, .argument = "D", .help = "the target term is at least -D" },
        { .name = "term",
          .type = CLI_LIST,
          .value = &s.term,
          .argument = "KIND,NAME=VALUE,...",
          .help = "one more speed term: constant, volume, interval, edge or vector; may be repeated" },
        { .name = "normalise",
          .type = CLI_CHOICE,
          .value = &normalise,
          .argument = "WAY",
          .help = "scale of the speed",
          .choices = "epsilon range none" },
        { .name = "window",
          .type = CLI_RANGE,
          .value = o->window,
          .help = "grey values mapped to 0 and 1 (default: the image's range)",
          .given = &window_given },
        { .name = "curvature-half", .type = CLI_FLAG, .value = &o->curvature_half, .help = "half the sum of the principal curvatures" },
        { .name = "curvature-limit",
          .type = CLI_REAL,
          .value = &o->curvature_limit,
          .argument = "K",
          .help = "clamp, in reciprocal voxels (default 2)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "rescale-weight", .type = CLI_REAL, .value = &o->rescale_weight, .argument = "W", .help = "of the distance term (default 0.3)" },
        { .name = "rescale", .type = CLI_CHOICE, .value = &rescale, .argument = "WAY", .help = "distance term", .choices = "plain lock freeze none" },
        { .name = "gradient",
          .type = CLI_REAL,
          .value = &o->gradient,
          .argument = "G",
          .help = "target gradient in the band (default 1)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "band",
          .type = CLI_REAL,
          .value = &o->band,
          .argument = "VOXELS",
          .help = "half width of the band, in smallest voxels (default 2.5, at least 2 of the largest)",
          .lower = 1,
          .upper = 100 },
        { .name = "scheme", .type = CLI_CHOICE, .value = &scheme, .argument = "WAY", .help = "discretisation", .choices = "split source" },
        { .name = "godunov", .type = CLI_FLAG, .value = &o->godunov, .help = "Godunov's upwind gradient" },
        { .name = "exact", .type = CLI_FLAG, .value = &o->exact, .help = "the same bits on every device (a GPU is slower then)" },
        { .name = "time-step",
          .type = CLI_REAL,
          .value = &o->time_step,
          .argument = "T",
          .help = "fixed step (default: automatic)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "force-time-step", .type = CLI_FLAG, .value = &o->force, .help = "accept a step over the stability bound" },
        { .name = "cfl",
          .type = CLI_REAL,
          .value = &o->cfl,
          .argument = "C",
          .help = "of the automatic step (default 0.5)",
          .lower = 1e-300,
          .upper = 1e300 },
        { .name = "tile-edge", .type = CLI_INT, .value = &o->tile_edge, .argument = "N", .help = "4 or 8", .lower = 4, .upper = 8 },
        { .name = "key-bits",
          .type = CLI_INT,
          .value = &o->key_bits,
          .argument = "N",
          .help = "of a tile's key, 32 or 64 (default 64)",
          .lower = 32,
          .upper = 64 },
        { .name = "tile-index", .type = CLI_CHOICE, .value = &tile_index, .argument = "WAY", .help = "look-up of tiles", .choices = "sorted paged" },
        { .name = "tile-capacity",
          .type = CLI_COUNT,
          .value = &o->tile_capacity,
          .argument = "N",
          .help = "tiles to reserve",
          .lower = 0,
          .upper = 1e12 },
        { .name = "tile-memory-limit",
          .type = CLI_BYTES,
          .value = &o->memory_limit,
          .argument = "BYTES",
          .help = "of the tile list",
          .lower = 0,
          .upper = 9e18 },
        CLI_READ_OPTIONS(s.read),
        { 0 },
    };
    int code = cli_parse(cli, options, 1, 1, argc, argv);
    if (code >= 0) return code;
    if (!s.output && !s.field && !s.speed && !s.total_speed)
        return cli_usage(cli, "--output: missing, expected -o MASK (or --field FILE, --speed FILE, --total-speed FILE)");
    if (window_given && !(o->window[0] < o->window[1]))
        return cli_usage(cli, "--window: %g:%g given, expected LOWER:UPPER in rising order", o->window[0], o->window[1]);
    if (s.from_mask && s.from_field) return cli_usage(cli, "--from-mask and --from-field: expected one of them");
    if (!s.from_mask && !s.from_field && !s.sphere.count && !s.script)
        return cli_usage(cli, "nothing to start from: expected --sphere X,Y,Z,R, --from-mask, --from-field or --script");
    double ignored[4];
    for (int i = 0; i < s.sphere.count; i++)
        if ((code = numbers(cli, "sphere", s.sphere.item[i], 4, ignored)) >= 0) return code;
    for (int i = 0; i < s.probe.count; i++)
        if ((code = numbers(cli, "probe", s.probe.item[i], 3, ignored)) >= 0) return code;
    if (!s.script && !rule_given) o->volume_tolerance = 1e-4;
    s.epsilon_later = (s.probe.count || s.script) && o->epsilon == 0;
    if (s.epsilon_later) o->epsilon = 1; /* until then */
    const char *const outputs[] = { s.output, s.field, s.speed, s.total_speed, s.log };
    for (int i = 0; i < 5; i++) {
        if (!outputs[i]) continue;
        code = i < 4 ? cli_check_write(cli, outputs[i], i < 2 && cli_names_tiles(outputs[i], NULL) ? TSR_FILE_TILES : TSR_FILE_VOLUME, s.format)
                     : cli_check_output(cli, outputs[i]);
        if (code) return code;
    }
    o->normalise = (tsr_normalise)normalise;
    o->rescale = (tsr_rescale)rescale;
    o->scheme = (tsr_scheme)scheme;
    o->tile_index = (tsr_tiles_index)tile_index;
    code = segment(&s);
    tsr_segmentation_destroy(&s.segmentation);
    segment_volumes_destroy(&s.term_volumes);
    tsr_volume_destroy(&s.start);
    tsr_volume_destroy(&s.image);
    tsr_context_destroy(&s.context);
    return code;
}

const cli_verb verb_segment = { "segment", "[options] IMAGE -o MASK|TILES",
                                "Segment a structure with a level set that grows from seeds over similar grey values",
                                "  tessera make phantom_tumour --size 96 --noise 0.05 -o head.nii.gz --truth tumour.nii.gz\n"
                                "  tessera segment head.nii.gz --sphere 35,57,44,6 --target 0.7 --epsilon 0.2 --alpha 0.7 "
                                "--max-steps 400 -o mask.nii.gz\n",
                                run };
