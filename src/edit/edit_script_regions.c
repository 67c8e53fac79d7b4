/* edit/edit_script_regions.c: commands of an editing script that take a selection. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit/edit_script.h"
#include "algebra/selection.h"

static const double degree = 0.017453292519943295;
static tsr_vec3 vec(const double *n) { return (tsr_vec3){ n[0], n[1], n[2] }; }

/* How many words from `first` on are numbers. */
static int numbers_at(const tsr_script_line *line, int first)
{
    int n = 0;
    while (first + n < line->words && !isnan(line->number[first + n])) n++;
    return n;
}

/* ---- selections by name ---------------------------------------------------------------------------------------------------------------------- */

static tsr_edit_selection *find(tsr_edit_run *r, const char *name)
{
    for (int i = 0; i < r->selections; i++)
        if (!strcmp(r->selection[i].name, name)) return &r->selection[i];
    return NULL;
}

static void forget(tsr_edit_selection *s)
{
    free(s->points);
    memset(s, 0, sizeof *s);
}

void tsr_edit_run_drop_selections(tsr_edit_run *r)
{
    for (int i = 0; i < TSR_EDIT_SELECTIONS; i++) forget(&r->selection[i]);
    r->selections = 0;
}

static tsr_status unknown(const tsr_edit_run *r, const char *word)
{
    char known[300] = "";
    size_t used = 0;
    for (int i = 0; i < r->selections; i++) {
        int n = snprintf(known + used, sizeof known - used, ", %s", r->selection[i].name);
        if (n < 0 || used + (size_t)n >= sizeof known) break; /* no room: the list ends here */
        used += (size_t)n;
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is no selection, expected six numbers of a box, box, obox, ball, stroke, lasso, half%.*s%s", word, (int)used,
             known, used ? "" : " or a name of 'select'");
}

/* ---- what a line says ------------------------------------------------------------------------------------------------------------------------------ */

/* Appends `count` points from word `first` on. */
static tsr_status add_points(const tsr_script_line *line, int first, int count, tsr_edit_selection *to)
{
    double(*points)[3] = (double(*)[3])realloc(to->points, (size_t)(to->selection.count + count) * sizeof *points);
    if (!points) TSR_FAIL(TSR_ERROR_MEMORY, "selection: out of memory for %d points", count);
    memcpy(points[to->selection.count], line->number + first, (size_t)count * sizeof *points);
    to->points = points;
    to->selection.points = (const double(*)[3])points;
    to->selection.count += count;
    return TSR_OK;
}

static tsr_status wrong(const char *kind, int numbers, const char *form)
{
    TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d numbers, expected: %s", kind, numbers, form);
}

static tsr_status parse_stroke(const tsr_script_line *line, int first, int numbers, tsr_edit_selection *to)
{
    if (numbers < 4 || numbers % 3 != 1) return wrong("stroke", numbers, "stroke RADIUS X Y Z [X Y Z ...]");
    to->selection.radius = line->number[first];
    TSR_TRY(add_points(line, first + 1, (numbers - 1) / 3, to));
    return TSR_OK;
}

static tsr_status parse_lasso(const tsr_script_line *line, int first, int *used, tsr_edit_selection *to)
{
    static const char form[] = "lasso along DX DY DZ or lasso from X Y Z, then three numbers for each of three or more corners";
    const char *how = first < line->words ? line->word[first] : "";
    const int along = !strcmp(how, "along"), numbers = numbers_at(line, first + 1);
    if (!along && strcmp(how, "from")) TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' behind 'lasso', expected: %s", how, form);
    if (numbers < 12 || numbers % 3 != 0) return wrong("lasso", numbers, form);
    const tsr_vec3 view = vec(line->number + first + 1);
    if (along && view.x == 0 && view.y == 0 && view.z == 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "lasso: the direction of view is (0, 0, 0), expected one with a length");
    if (along) to->selection.direction = view;
    else to->selection.eye = view;
    TSR_TRY(add_points(line, first + 4, numbers / 3 - 1, to));
    *used = 2 + numbers;
    return TSR_OK;
}

/* A selection from word `first` on, its kind and numbers: *used words. Checked. */
static tsr_status parse(const tsr_script_line *line, int first, tsr_edit_selection *to, int *used)
{
    tsr_selection *s = &to->selection;
    const int named = isnan(line->number[first]), numbers = numbers_at(line, first + named);
    const double *n = line->number + first + named;
    const char *kind = named ? line->word[first] : "box";
    *s = (tsr_selection)TSR_SELECTION;
    TSR_TRY(tsr_selection_parse(kind, &s->kind));
    *used = named + numbers;
    switch (s->kind) {
    case TSR_SELECTION_BOX:
        if (numbers != 6) return wrong(kind, numbers, "box X0 Y0 Z0 X1 Y1 Z1");
        s->box = (tsr_box){ vec(n), vec(n + 3) };
        break;
    case TSR_SELECTION_OBOX:
        if (numbers != 9) return wrong(kind, numbers, "obox X Y Z HALFX HALFY HALFZ TX TY TZ, a rotation vector in degrees");
        s->centre = vec(n);
        s->half = vec(n + 3);
        s->turn = (tsr_vec3){ n[6] * degree, n[7] * degree, n[8] * degree };
        break;
    case TSR_SELECTION_BALL:
        if (numbers != 4) return wrong(kind, numbers, "ball X Y Z RADIUS");
        s->centre = vec(n);
        s->radius = n[3];
        break;
    case TSR_SELECTION_STROKE: TSR_TRY(parse_stroke(line, first + 1, numbers, to)); break;
    case TSR_SELECTION_LASSO: TSR_TRY(parse_lasso(line, first + 1, used, to)); break;
    case TSR_SELECTION_HALF:
        if (numbers != 6) return wrong(kind, numbers, "half X Y Z NX NY NZ, a point of the plane and its outward normal");
        s->centre = vec(n);
        s->direction = vec(n + 3);
        break;
    }
    tsr_selection_plan plan;
    TSR_TRY(tsr_selection_prepare(s, NULL, &plan));
    tsr_selection_drop(&plan);
    return TSR_OK;
}

/* What follows the names of objects: a selection, then `component at X Y Z` or `width W`. */
struct choice {
    const tsr_selection *selection;
    const tsr_vec3 *at;
    tsr_vec3 place;
    double width;
    tsr_edit_selection own; /* of this line */
};

static tsr_status read_choice(tsr_edit_run *r, int first, int with_width, const char *form, struct choice *c)
{
    const tsr_script_line *line = r->line;
    int used = 1, numbers;
    memset(c, 0, sizeof *c);
    if (first >= line->words) TSR_FAIL(TSR_ERROR_FORMAT, "'%s' has %d arguments, expected: %s", line->word[0], line->words - 1, form);
    tsr_selection_kind kind;
    tsr_edit_selection *named = find(r, line->word[first]);
    const int direct = !isnan(line->number[first]);
    if (direct && with_width && line->words - first == 7) { /* a box and a width */
        c->width = line->number[first + 6];
        if (numbers_at(line, first) != 7)
            TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is not a number, expected: %s", line->word[first + numbers_at(line, first)], form);
        c->own.selection = (tsr_selection)TSR_SELECTION;
        c->own.selection.box = (tsr_box){ vec(line->number + first), vec(line->number + first + 3) };
        c->selection = &c->own.selection;
        return TSR_OK;
    }
    if (named) {
        c->selection = &named->selection;
    } else {
        if (!direct && tsr_selection_parse(line->word[first], &kind) != TSR_OK) return unknown(r, line->word[first]);
        TSR_TRY(parse(line, first, &c->own, &used));
        c->selection = &c->own.selection;
    }
    first += used;
    if (first == line->words) return TSR_OK;
    numbers = numbers_at(line, first + 1);
    if (with_width && !strcmp(line->word[first], "width") && numbers == 1 && first + 2 == line->words) {
        c->width = line->number[first + 1];
        return TSR_OK;
    }
    numbers = numbers_at(line, first + 2);
    if (!with_width && !strcmp(line->word[first], "component") && first + 5 == line->words && !strcmp(line->word[first + 1], "at") && numbers == 3) {
        c->place = vec(line->number + first + 2);
        c->at = &c->place;
        return TSR_OK;
    }
    TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' behind the selection, expected: %s", line->word[first], form);
}

/* ---- commands -------------------------------------------------------------------------------------------------------------------------------------- */

tsr_status tsr_edit_run_select(tsr_edit_run *r)
{
    static const char form[] = "select NAME box|obox|ball|stroke|lasso|half NUMBERS, or select NAME more X Y Z [X Y Z ...]";
    const tsr_script_line *line = r->line;
    tsr_selection_kind kind;
    tsr_selection_plan plan;
    tsr_edit_selection made = { .selection = TSR_SELECTION };
    int used;
    if (line->words < 3) TSR_FAIL(TSR_ERROR_FORMAT, "'select' has %d arguments, expected: %s", line->words - 1, form);
    const char *name = line->word[1];
    if (strlen(name) >= TSR_EDIT_NAME || !isnan(line->number[1]) || tsr_selection_parse(name, &kind) == TSR_OK)
        TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is no name of a selection, expected at most 63 characters, no number and no kind", name);
    tsr_edit_selection *old = find(r, name);
    if (!strcmp(line->word[2], "more")) {
        const int numbers = numbers_at(line, 3);
        if (!old || !old->points) TSR_FAIL(TSR_ERROR_STATE, "there is no stroke or lasso '%.40s' for more points", name);
        if (numbers == 0 || numbers % 3 != 0 || numbers + 3 != line->words) return wrong("more", numbers, form);
        TSR_TRY(add_points(line, 3, numbers / 3, old));
        TSR_TRY(tsr_selection_prepare(&old->selection, NULL, &plan));
        tsr_selection_drop(&plan);
        return TSR_OK;
    }
    if (!old && r->selections == TSR_EDIT_SELECTIONS)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "'%.40s' is one selection too many, expected at most %d", name, (int)TSR_EDIT_SELECTIONS);
    if (isnan(line->number[2])) TSR_TRY(tsr_selection_parse(line->word[2], &kind));
    tsr_status status = parse(line, 2, &made, &used);
    if (status == TSR_OK && used + 2 != line->words)
        status = TSR_FAILED(TSR_ERROR_FORMAT, "'%.40s' behind the selection, expected: %s", line->word[used + 2], form);
    if (status != TSR_OK) {
        forget(&made);
        return status;
    }
    if (!old) old = &r->selection[r->selections++];
    forget(old);
    strcpy(made.name, name);
    *old = made;
    return TSR_OK;
}

/* Reads the selection from word `first` on and does `what` with it. */
static tsr_status with_choice(tsr_edit_run *r, int first, int with_width, const char *form,
                              tsr_status (*what)(tsr_edit_run *r, const struct choice *c))
{
    struct choice c;
    tsr_status status = read_choice(r, first, with_width, form, &c);
    if (status == TSR_OK) status = what(r, &c);
    forget(&c.own);
    return status;
}

static tsr_status disconnect(tsr_edit_run *r, const struct choice *c)
{
    return tsr_editor_disconnect(r->editor, r->word[1], c->selection, c->width);
}
static tsr_status cut(tsr_edit_run *r, const struct choice *c) { return tsr_editor_cut(r->editor, r->word[1], c->selection, c->at, r->word[2]); }
static tsr_status copy(tsr_edit_run *r, const struct choice *c)
{
    return tsr_editor_copy_out(r->editor, r->word[1], c->selection, c->at, r->word[2]);
}
static tsr_status take_away(tsr_edit_run *r, const struct choice *c) { return tsr_editor_delete(r->editor, r->word[1], c->selection, c->at); }
static tsr_status keep(tsr_edit_run *r, const struct choice *c) { return tsr_editor_keep(r->editor, r->word[1], c->selection, c->at); }

tsr_status tsr_edit_run_disconnect(tsr_edit_run *r)
{
    return with_choice(r, 2, 1, "disconnect OBJECT SELECTION [width WIDTH], or disconnect OBJECT X0 Y0 Z0 X1 Y1 Z1 [WIDTH]", disconnect);
}
tsr_status tsr_edit_run_cut(tsr_edit_run *r) { return with_choice(r, 3, 0, "cut OBJECT NAME SELECTION [component at X Y Z]", cut); }
tsr_status tsr_edit_run_copy(tsr_edit_run *r)
{
    if (r->line->words == 3) return tsr_editor_duplicate(r->editor, r->word[1], r->word[2]);
    return with_choice(r, 3, 0, "copy OBJECT NAME [SELECTION [component at X Y Z]]", copy);
}
tsr_status tsr_edit_run_delete(tsr_edit_run *r) { return with_choice(r, 2, 0, "delete OBJECT SELECTION [component at X Y Z]", take_away); }

/* Three numbers are a point, as before there were selections. */
tsr_status tsr_edit_run_keep(tsr_edit_run *r)
{
    if (r->line->words == 2) return tsr_editor_keep(r->editor, r->word[1], NULL, NULL);
    if (r->line->words == 5 && numbers_at(r->line, 2) == 3) {
        const tsr_vec3 at = vec(r->line->number + 2);
        return tsr_editor_keep(r->editor, r->word[1], NULL, &at);
    }
    return with_choice(r, 2, 0, "keep OBJECT, keep OBJECT X Y Z or keep OBJECT SELECTION [component at X Y Z]", keep);
}

/* expect OBJECT cavities N: empty space that the object encloses. */
static tsr_status expect_cavities(tsr_edit_run *r)
{
    const double wanted = r->line->number[3];
    int32_t slot;
    tsr_tiles_measures m = TSR_TILES_MEASURES;
    if (isnan(wanted)) TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is not a number, expected: expect OBJECT cavities N", r->line->word[3]);
    TSR_TRY(tsr_edit_find(r->editor, r->word[1], &slot));
    TSR_TRY(tsr_tiles_measure(r->editor->object[slot].tiles, &m));
    if ((double)m.cavities != wanted) TSR_FAIL(TSR_ERROR_STATE, "'%s' has %lld cavities, expected %g", r->word[1], (long long)m.cavities, wanted);
    return TSR_OK;
}

tsr_status tsr_edit_run_expect(tsr_edit_run *r)
{
    static const char form[] = "expect OBJECT COMPONENTS [in SELECTION], or expect OBJECT cavities N";
    const tsr_script_line *line = r->line;
    if (line->words == 4 && !strcmp(line->word[2], "cavities")) return expect_cavities(r);
    struct choice c = { 0 };
    int32_t slot;
    int64_t count;
    const int part = line->words > 4 && !strcmp(line->word[3], "in");
    if (!part && line->words != 3) TSR_FAIL(TSR_ERROR_FORMAT, "'expect' has %d arguments, expected: %s", line->words - 1, form);
    if (isnan(line->number[2])) TSR_FAIL(TSR_ERROR_FORMAT, "'%.40s' is not a number, expected: %s", line->word[2], form);
    TSR_TRY(tsr_edit_find(r->editor, r->word[1], &slot));
    tsr_status status = part ? read_choice(r, 4, 0, form, &c) : TSR_OK;
    if (status == TSR_OK && c.at) status = TSR_FAILED(TSR_ERROR_FORMAT, "'component' behind the selection, expected: %s", form);
    if (status == TSR_OK) {
        if (part) status = tsr_editor_components_in(r->editor, r->word[1], c.selection, NULL, 0, &count);
        else status = tsr_tiles_components(r->editor->object[slot].tiles, 26, NULL, 0, &count);
    }
    forget(&c.own);
    TSR_TRY(status);
    if ((double)count != line->number[2])
        TSR_FAIL(TSR_ERROR_STATE, "'%s' has %lld components%s, expected %g", r->word[1], (long long)count, part ? " in the selection" : "",
                 line->number[2]);
    return TSR_OK;
}
