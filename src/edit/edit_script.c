/* edit/edit_script.c: an editing session as a script: one command a line. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit_script.h"

struct command {
    const char *verb;
    int names, fewest, most; /* names first, then so many numbers (most WORDS: words that `run` looks at itself) */
    const char *form;
    tsr_status (*run)(tsr_edit_run *r);
};

/* ---- objects ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_vec3 vec(const double *n) { return (tsr_vec3){ n[0], n[1], n[2] }; }
static const double degree = 0.017453292519943295;

static tsr_status make_shape(tsr_edit_run *r, tsr_shape_kind kind)
{
    const double *n = r->n;
    tsr_shape s = { .kind = kind, .centre = vec(n) };
    int next = 4;
    switch (kind) {
    case TSR_SHAPE_SPHERE: s.radius = n[3]; break;
    case TSR_SHAPE_BOX:
        s.half = vec(n + 3);
        s.radius = r->numbers > 6 ? n[6] : 0;
        next = 7;
        break;
    case TSR_SHAPE_ELLIPSOID:
        s.half = vec(n + 3);
        next = 6;
        break;
    case TSR_SHAPE_TORUS:
        s.radius = n[3];
        s.minor = n[4];
        next = 5;
        break;
    case TSR_SHAPE_CYLINDER:
    case TSR_SHAPE_CAPSULE:
        s.radius = n[3];
        s.half.z = n[4];
        next = 5;
        break;
    }
    if (r->numbers != next && r->numbers != next + 3 && !(kind == TSR_SHAPE_BOX && r->numbers == 6))
        TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d numbers, expected %d, or %d with a rotation vector in degrees", r->word[0], r->numbers, next,
                 next + 3);
    if (r->numbers == next + 3) s.turn = (tsr_vec3){ n[next] * degree, n[next + 1] * degree, n[next + 2] * degree };
    return tsr_editor_shape(r->editor, r->word[1], &s);
}
static tsr_status do_sphere(tsr_edit_run *r) { return make_shape(r, TSR_SHAPE_SPHERE); }
static tsr_status do_box(tsr_edit_run *r) { return make_shape(r, TSR_SHAPE_BOX); }
static tsr_status do_torus(tsr_edit_run *r) { return make_shape(r, TSR_SHAPE_TORUS); }
static tsr_status do_cylinder(tsr_edit_run *r) { return make_shape(r, TSR_SHAPE_CYLINDER); }
static tsr_status do_capsule(tsr_edit_run *r) { return make_shape(r, TSR_SHAPE_CAPSULE); }
static tsr_status do_ellipsoid(tsr_edit_run *r) { return make_shape(r, TSR_SHAPE_ELLIPSOID); }
static tsr_status do_animal(tsr_edit_run *r) { return tsr_editor_animal(r->editor, r->word[1], vec(r->n), r->n[3]); }
static tsr_status do_remove(tsr_edit_run *r) { return tsr_editor_remove(r->editor, r->word[1]); }

static tsr_status do_load(tsr_edit_run *r)
{
    tsr_tiles *tiles = NULL;
    if (!r->script.load) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "this script runs without files");
    TSR_TRY(r->script.load(r->script.user, r->editor, r->word[2], &tiles));
    tsr_status status = tsr_editor_add(r->editor, r->word[1], tiles);
    tsr_tiles_destroy(&tiles);
    return status;
}
static tsr_status do_save(tsr_edit_run *r)
{
    int32_t slot;
    if (!r->script.save) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "this script runs without files");
    TSR_TRY(tsr_edit_find(r->editor, r->word[1], &slot));
    return r->script.save(r->script.user, r->editor, r->word[2], r->editor->object[slot].tiles);
}

/* ---- operators ---------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status do_union(tsr_edit_run *r) { return tsr_editor_combine(r->editor, r->word[1], r->word[2], TSR_CSG_UNION, 0); }
static tsr_status do_intersection(tsr_edit_run *r) { return tsr_editor_combine(r->editor, r->word[1], r->word[2], TSR_CSG_INTERSECTION, 0); }
static tsr_status do_difference(tsr_edit_run *r) { return tsr_editor_combine(r->editor, r->word[1], r->word[2], TSR_CSG_DIFFERENCE, 0); }
static tsr_status do_blend(tsr_edit_run *r) { return tsr_editor_combine(r->editor, r->word[1], r->word[2], TSR_CSG_BLEND, r->n[0]); }
static tsr_status do_move(tsr_edit_run *r) { return tsr_editor_move(r->editor, r->word[1], vec(r->n)); }
static tsr_motion rotation(const double *n) { return (tsr_motion){ .centre = vec(n), .axis = vec(n + 3), .angle = n[6] * degree }; }
static tsr_status do_turn(tsr_edit_run *r)
{
    tsr_motion motion = rotation(r->n);
    return tsr_editor_transform(r->editor, r->word[1], &motion, &r->script.progress);
}
static tsr_status do_rotate(tsr_edit_run *r)
{
    tsr_motion motion = rotation(r->n);
    return tsr_editor_rotate(r->editor, r->word[1], &motion, &r->script.progress);
}
static tsr_status do_scale(tsr_edit_run *r)
{
    tsr_motion motion = { .centre = vec(r->n), .scale = r->n[3] };
    if (!(motion.scale > 0)) TSR_FAIL(TSR_ERROR_ARGUMENT, "scale is %g, expected a positive number", motion.scale);
    return tsr_editor_transform(r->editor, r->word[1], &motion, &r->script.progress);
}
static tsr_status do_split(tsr_edit_run *r) { return tsr_editor_split(r->editor, r->word[1], NULL); }

static tsr_status do_dilate(tsr_edit_run *r) { return tsr_editor_offset(r->editor, r->word[1], r->n[0], &r->script.progress); }
static tsr_status do_erode(tsr_edit_run *r) { return tsr_editor_offset(r->editor, r->word[1], -r->n[0], &r->script.progress); }
static tsr_status do_open(tsr_edit_run *r) { return tsr_editor_open(r->editor, r->word[1], r->n[0], &r->script.progress); }
static tsr_status do_close(tsr_edit_run *r) { return tsr_editor_close(r->editor, r->word[1], r->n[0], &r->script.progress); }
static tsr_status do_brush(tsr_edit_run *r)
{
    tsr_brush brush = { vec(r->n), r->n[3], r->n[4], r->n[5] };
    return tsr_editor_brush(r->editor, r->word[1], &brush, &r->script.progress);
}
static tsr_status do_smooth(tsr_edit_run *r)
{
    if (r->numbers == 1) return tsr_editor_smooth(r->editor, r->word[1], r->n[0], 0, &r->script.progress);
    if (r->numbers != 5) TSR_FAIL(TSR_ERROR_FORMAT, "'smooth' has %d numbers, expected TIME, or TIME X Y Z SIGMA", r->numbers);
    tsr_brush brush = { vec(r->n + 1), r->n[4], 1, r->n[0] };
    return tsr_editor_smooth_brush(r->editor, r->word[1], &brush, &r->script.progress);
}
static tsr_status do_relax(tsr_edit_run *r) { return tsr_editor_smooth(r->editor, r->word[1], r->n[0], 1, &r->script.progress); }
static tsr_status attract_to_points(tsr_edit_run *r, const double (*points)[3], int64_t count, double sign)
{
    double reached = 0;
    tsr_attraction a = r->pull;
    a.points = points;
    a.count = count;
    a.speed = sign;
    a.time = r->n[0];
    a.radius = r->n[1];
    a.reached = &reached;
    TSR_TRY(tsr_editor_attract(r->editor, r->word[1], &a, &r->script.progress));
    if (a.tolerance > 0 && r->script.attracted) r->script.attracted(r->script.user, r->word[1], reached, a.time);
    return TSR_OK;
}
static tsr_status attract(tsr_edit_run *r, double sign)
{
    double points[TSR_LINE_WORDS / 3][3];
    int count = (r->numbers - 2) / 3;
    if (r->numbers < 5 || (r->numbers - 2) % 3 != 0)
        TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d numbers, expected TIME RADIUS and three for each point", r->word[0], r->numbers);
    memcpy(points, r->n + 2, (size_t)count * sizeof *points);
    return attract_to_points(r, (const double(*)[3])points, count, sign);
}
static tsr_status do_attract(tsr_edit_run *r) { return attract(r, 1); }
static tsr_status do_repel(tsr_edit_run *r) { return attract(r, -1); }
/* The points of a file, in the world, to places along the axes of the document. */
static tsr_status attract_file(tsr_edit_run *r, double sign)
{
    const tsr_geometry *geometry = &r->editor->model->geometry;
    const tsr_vec3 h = tsr_geometry_spacing(geometry);
    tsr_points *points = NULL;
    tsr_status status = TSR_OK;
    if (!r->script.points) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "this script runs without files");
    TSR_TRY(r->script.points(r->script.user, r->editor, r->word[2], &points));
    const int64_t count = tsr_points_count(points);
    const float *from = tsr_points_positions(points);
    double(*to)[3] = count < (int64_t)(SIZE_MAX / sizeof *to) ? (double(*)[3])malloc((size_t)(count + 1) * sizeof *to) : NULL;
    if (!to) status = TSR_FAILED(TSR_ERROR_MEMORY, "'%s': out of memory for %lld points", r->word[0], (long long)count);
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        tsr_vec3 at;
        status = tsr_geometry_to_index(geometry, (tsr_vec3){ (double)from[3 * i], (double)from[3 * i + 1], (double)from[3 * i + 2] }, &at);
        to[i][0] = at.x * h.x;
        to[i][1] = at.y * h.y;
        to[i][2] = at.z * h.z;
    }
    tsr_points_destroy(&points);
    if (status == TSR_OK) status = attract_to_points(r, (const double(*)[3])to, count, sign);
    free(to);
    return status;
}
static tsr_status do_attract_to(tsr_edit_run *r) { return attract_file(r, 1); }
static tsr_status do_repel_from(tsr_edit_run *r) { return attract_file(r, -1); }
static tsr_status do_redistance(tsr_edit_run *r) { return tsr_editor_redistance(r->editor, r->word[1]); }

/* ---- history, questions ------------------------------------------------------------------------------------------------------------------------- */

static tsr_status do_undo(tsr_edit_run *r) { return tsr_editor_undo(r->editor); }
static tsr_status do_redo(tsr_edit_run *r) { return tsr_editor_redo(r->editor); }

static tsr_status do_measure(tsr_edit_run *r)
{
    int32_t slot;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    TSR_TRY(tsr_edit_find(r->editor, r->word[1], &slot));
    TSR_TRY(tsr_tiles_measure(r->editor->object[slot].tiles, &m));
    if (r->script.measured) r->script.measured(r->script.user, r->word[1], &m);
    return TSR_OK;
}
enum { WORDS = -1 };
static const struct command commands[] = {
    { "sphere", 1, 4, 7, "sphere NAME X Y Z RADIUS", do_sphere },
    { "box", 1, 6, 10, "box NAME X Y Z HALFX HALFY HALFZ [ROUNDING [TX TY TZ]]", do_box },
    { "torus", 1, 5, 8, "torus NAME X Y Z RADIUS MINOR [TX TY TZ]", do_torus },
    { "cylinder", 1, 5, 8, "cylinder NAME X Y Z RADIUS HALF [TX TY TZ]", do_cylinder },
    { "capsule", 1, 5, 8, "capsule NAME X Y Z RADIUS HALF [TX TY TZ]", do_capsule },
    { "ellipsoid", 1, 6, 9, "ellipsoid NAME X Y Z HALFX HALFY HALFZ [TX TY TZ]", do_ellipsoid },
    { "animal", 1, 4, 4, "animal NAME X Y Z SIZE", do_animal },
    { "load", 2, 0, 0, "load NAME FILE", do_load },
    { "save", 2, 0, 0, "save OBJECT FILE", do_save },
    { "copy", 2, 0, WORDS, "copy OBJECT NAME [SELECTION [component at X Y Z]]", tsr_edit_run_copy },
    { "remove", 1, 0, 0, "remove OBJECT", do_remove },
    { "union", 2, 0, 0, "union OBJECT OTHER", do_union },
    { "intersection", 2, 0, 0, "intersection OBJECT OTHER", do_intersection },
    { "difference", 2, 0, 0, "difference OBJECT OTHER", do_difference },
    { "blend", 2, 1, 1, "blend OBJECT OTHER RADIUS", do_blend },
    { "move", 1, 3, 3, "move OBJECT X Y Z", do_move },
    { "turn", 1, 7, 7, "turn OBJECT X Y Z AXISX AXISY AXISZ DEGREES", do_turn },
    { "rotate", 1, 7, 7, "rotate OBJECT X Y Z AXISX AXISY AXISZ DEGREES", do_rotate },
    { "scale", 1, 4, 4, "scale OBJECT X Y Z FACTOR", do_scale },
    { "select", 1, 1, WORDS, "select NAME SELECTION", tsr_edit_run_select },
    { "disconnect", 1, 1, WORDS, "disconnect OBJECT SELECTION [width WIDTH]", tsr_edit_run_disconnect },
    { "cut", 2, 1, WORDS, "cut OBJECT NAME SELECTION [component at X Y Z]", tsr_edit_run_cut },
    { "delete", 1, 1, WORDS, "delete OBJECT SELECTION [component at X Y Z]", tsr_edit_run_delete },
    { "keep", 1, 0, WORDS, "keep OBJECT [X Y Z], or keep OBJECT SELECTION [component at X Y Z]", tsr_edit_run_keep },
    { "split", 1, 0, 0, "split OBJECT", do_split },
    { "dilate", 1, 1, 1, "dilate OBJECT DISTANCE", do_dilate },
    { "erode", 1, 1, 1, "erode OBJECT DISTANCE", do_erode },
    { "open", 1, 1, 1, "open OBJECT RADIUS", do_open },
    { "close", 1, 1, 1, "close OBJECT RADIUS", do_close },
    { "brush", 1, 6, 6, "brush OBJECT X Y Z SIGMA SPEED TIME", do_brush },
    { "smooth", 1, 1, 5, "smooth OBJECT TIME [X Y Z SIGMA]", do_smooth },
    { "relax", 1, 1, 1, "relax OBJECT TIME", do_relax },
    { "attract", 1, 5, TSR_LINE_WORDS, "attract OBJECT TIME RADIUS X Y Z [X Y Z ...] [tolerance T] [power P] [epsilon E]", do_attract },
    { "repel", 1, 5, TSR_LINE_WORDS, "repel OBJECT TIME RADIUS X Y Z [X Y Z ...] [tolerance T] [power P] [epsilon E]", do_repel },
    { "attract-to", 2, 2, 2, "attract-to OBJECT FILE TIME RADIUS [tolerance T] [power P] [epsilon E]", do_attract_to },
    { "repel-from", 2, 2, 2, "repel-from OBJECT FILE TIME RADIUS [tolerance T] [power P] [epsilon E]", do_repel_from },
    { "redistance", 1, 0, 0, "redistance OBJECT", do_redistance },
    { "measure", 1, 0, 0, "measure OBJECT", do_measure },
    { "expect", 1, 1, WORDS, "expect OBJECT COMPONENTS [in SELECTION], or expect OBJECT cavities N", tsr_edit_run_expect },
    { "undo", 0, 0, 0, "undo", do_undo },
    { "redo", 0, 0, 0, "redo", do_redo },
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static int pulls(const struct command *c) { return c->run == do_attract || c->run == do_repel || c->run == do_attract_to || c->run == do_repel_from; }
/* Words after the numbers of an attraction: NAME NUMBER, as often as there are any; they are not counted any more. */
static tsr_status take_words(tsr_edit_run *r, const struct command *c, const tsr_script_line *line, int *words)
{
    r->pull = (tsr_attraction){ 0 };
    while (pulls(c) && *words - 2 > c->names && isnan(line->number[*words - 2])) {
        const char *name = line->word[*words - 2];
        const double number = line->number[*words - 1];
        double *to = !strcmp(name, "tolerance") ? &r->pull.tolerance
                     : !strcmp(name, "power")   ? &r->pull.power
                     : !strcmp(name, "epsilon") ? &r->pull.epsilon
                                                : NULL;
        if (!to) TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is not a number, nor tolerance, power or epsilon before one, expected: %s", name, c->form);
        if (!(number > 0)) TSR_FAIL(TSR_ERROR_FORMAT, "%s '%.40s' of '%s', expected a positive number", name, line->word[*words - 1], c->verb);
        *to = number;
        *words -= 2;
    }
    return TSR_OK;
}

static tsr_status run_line(tsr_edit_run *r, const tsr_script_line *line)
{
    const struct command *c = NULL;
    for (int i = 0; i < COMMANDS && !c; i++)
        if (!strcmp(line->word[0], commands[i].verb)) c = &commands[i];
    if (!c) {
        char list[700] = "";
        for (int i = 0; i < COMMANDS; i++) {
            strcat(list, i == 0 ? "" : i == COMMANDS - 1 ? " or " : ", ");
            strcat(list, commands[i].verb);
        }
        TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is no command, expected %s", line->word[0], list);
    }
    int words = line->words;
    TSR_TRY(take_words(r, c, line, &words));
    int numbers = words - 1 - c->names;
    if (numbers < c->fewest || (c->most != WORDS && numbers > c->most))
        TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d arguments, expected: %s", c->verb, words - 1, c->form);
    for (int i = 1 + c->names; i < words && c->most != WORDS; i++)
        if (isnan(line->number[i])) TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is not a number, expected: %s", line->word[i], c->form);
    r->line = line;
    r->word = line->word;
    r->n = line->number + 1 + c->names;
    r->numbers = numbers;
    return c->run(r);
}

static tsr_status run_text(tsr_edit_run *r, const char *text, const char *name)
{
    tsr_script_line line;
    int number = 0;
    while (*text) {
        size_t length = strcspn(text, "\n");
        number++;
        tsr_status status = tsr_script_line_split(text, length, TSR_LINE_WORDS, TSR_LINE_BYTES, &line);
        if (status == TSR_OK && tsr_progress_report(&r->script.progress, -1, line.words ? line.word[0] : "edit"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled");
        if (status == TSR_OK && line.words > 0) status = run_line(r, &line);
        if (status != TSR_OK) TSR_FAIL(status, "%s:%d: %s", name ? name : "script", number, tsr_error_message());
        text += length + (text[length] == '\n');
    }
    return TSR_OK;
}

tsr_status tsr_editor_script(tsr_editor *editor, const char *text, const char *name, const tsr_edit_script *script)
{
    TSR_NEEDS(editor, text);
    tsr_edit_run r = { .editor = editor };
    TSR_TRY(TSR_OPTIONS_TAKE(&r.script, script));
    tsr_status status = run_text(&r, text, name);
    tsr_edit_run_drop_selections(&r);
    return status;
}
