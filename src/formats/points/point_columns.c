#include "formats/points/point_columns.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int same(const char *a, const char *b) /* b in lower case */
{
    while (*a && tolower((unsigned char)*a) == *b) a++, b++;
    return !*a && !*b;
}
static int one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (same(name, *names)) return 1;
    return 0;
}

tsr_column_kind tsr_column_kind_of(tsr_word word, int32_t components, char usual[64])
{
    static const char *const positions[] = { "", "p", "pos", "position", "positions", "point", "points", "coord", "coords", "coordinate", "coordinates", NULL };
    static const char *const normals[] = { "n", "normal", "normals", NULL };
    static const char *const radii[] = { "radius", "radii", "pscale", "particle_radius", "particleradius", NULL };
    static const char *const densities[] = { "density", "densities", "rho", "rhop", NULL };
    static const char *const velocities[] = { "v", "vel", "velocity", "velocities", NULL };
    while (word.size && strchr("_.: ", word.text[word.size - 1])) word.size--;
    if (word.size > 63) {
        usual[0] = 0;
        return TSR_COLUMN_SKIPPED;
    }
    memcpy(usual, word.text, word.size);
    usual[word.size] = 0;
    for (char *c = usual; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 127) *c = '_';
    if (components == 3 && one_of(usual, positions)) return TSR_COLUMN_POSITION;
    if (components == 3 && one_of(usual, normals)) return TSR_COLUMN_NORMAL;
    if (components == 1 && one_of(usual, radii)) return TSR_COLUMN_RADIUS;
    if (components == 1 && one_of(usual, densities)) snprintf(usual, 64, "density");
    if (components == 3 && one_of(usual, velocities)) snprintf(usual, 64, "velocity");
    return *usual && components >= 1 && components <= TSR_POINTS_COMPONENTS ? TSR_COLUMN_ATTRIBUTE : TSR_COLUMN_SKIPPED;
}

tsr_status tsr_column_take(tsr_points *points, tsr_column_kind kind, const char *usual, int32_t components, float **data)
{
    *data = NULL;
    if (kind == TSR_COLUMN_NORMAL && !points->normals) {
        TSR_TRY(tsr_points_add_part(points, TSR_POINTS_NORMALS));
        *data = points->normals;
    }
    if (kind == TSR_COLUMN_RADIUS && !points->radii) {
        TSR_TRY(tsr_points_add_part(points, TSR_POINTS_RADII));
        *data = points->radii;
    }
    if (kind != TSR_COLUMN_ATTRIBUTE || tsr_points_attribute_const(points, usual, NULL)) return TSR_OK;
    if (points->attributes == TSR_POINTS_ATTRIBUTES) tsr_remark("attribute %s is left out: points have at most %d", usual, TSR_POINTS_ATTRIBUTES);
    else TSR_TRY(tsr_points_add_attribute(points, usual, components, data));
    return TSR_OK;
}

/* The axis that the end of a name means: x y z or 0 1 2 behind a mark; *stem is the name without it. -1: none. */
static int axis_of(tsr_word name, tsr_word *stem)
{
    if (!name.size) return -1;
    const char last = (char)tolower((unsigned char)name.text[name.size - 1]);
    *stem = (tsr_word){ name.text, name.size - 1 };
    if (last >= 'x' && last <= 'z') return last - 'x';
    if (last >= '0' && last <= '2' && name.size > 1 && strchr("_.:", name.text[name.size - 2])) return last - '0';
    return -1;
}

/* Does a vector begin with column k? */
static int begins_vector(const tsr_word *names, int32_t count, int32_t k, tsr_word *stem)
{
    tsr_word other[2];
    if (k + 3 > count || axis_of(names[k], stem) != 0 || axis_of(names[k + 1], &other[0]) != 1 || axis_of(names[k + 2], &other[1]) != 2) return 0;
    for (int i = 0; i < 2; i++)
        if (other[i].size != stem->size || memcmp(other[i].text, stem->text, stem->size)) return 0;
    return 1;
}

int tsr_point_table_plan(tsr_point_table *t, const tsr_word *names, int32_t count)
{
    int positions = 0;
    t->columns = count;
    t->groups = 0;
    for (int32_t k = 0; k < count;) {
        tsr_word stem = names[k];
        const int32_t components = begins_vector(names, count, k, &stem) ? 3 : 1;
        if (components == 1) stem = names[k];
        const int32_t g = t->groups;
        t->group[g].kind = names[k].size ? tsr_column_kind_of(stem, components, t->group[g].name) : TSR_COLUMN_SKIPPED;
        t->group[g].components = components;
        t->group[g].data = NULL;
        if (t->group[g].kind == TSR_COLUMN_POSITION && positions++) t->group[g].kind = TSR_COLUMN_SKIPPED;
        for (int32_t c = 0; c < components; c++) {
            t->column[k + c].group = (int16_t)(t->group[g].kind ? g : -1);
            t->column[k + c].component = (int16_t)c;
        }
        if (t->group[g].kind) t->groups++;
        k += components;
    }
    return positions > 0;
}

tsr_status tsr_point_table_take(tsr_point_table *t, tsr_points *points)
{
    for (int32_t g = 0; g < t->groups; g++)
        if (t->group[g].kind != TSR_COLUMN_POSITION) TSR_TRY(tsr_column_take(points, t->group[g].kind, t->group[g].name, t->group[g].components, &t->group[g].data));
    return TSR_OK;
}

/* ---- writers ----------------------------------------------------------------------------------------------------------------------------------- */

static void add(tsr_row_columns *c, const char *stem, const char *end, const float *data, int32_t stride)
{
    if (c->count == TSR_COLUMNS_MOST) return;
    snprintf(c->column[c->count].name, sizeof c->column->name, "%s%s", stem, end);
    c->column[c->count].data = data;
    c->column[c->count++].stride = stride;
}

void tsr_row_columns_of(const tsr_points *p, int brief, tsr_row_columns *columns)
{
    static const char axes[3][2] = { "x", "y", "z" };
    columns->count = 0;
    for (int k = 0; k < 3; k++) add(columns, "", axes[k], p->positions + k, 3);
    for (int k = 0; p->normals && k < 3; k++) add(columns, "n", axes[k], p->normals + k, 3);
    if (p->radii) add(columns, "radius", "", p->radii, 1);
    for (int32_t a = 0; a < p->attributes; a++) {
        const tsr_points_column *own = &p->attribute[a];
        for (int32_t k = 0; k < own->components; k++) {
            char end[16] = "";
            if (own->components == 3) snprintf(end, sizeof end, "_%s", axes[k]);
            else if (own->components > 1) snprintf(end, sizeof end, "_%d", (int)k);
            const int short_name = brief && own->components == 3 && !strcmp(own->name, "velocity");
            add(columns, short_name ? "v" : own->name, short_name ? axes[k] : end, own->data + k, own->components);
        }
    }
}

tsr_status tsr_points_check_positions(const tsr_input *input, tsr_points *points)
{
    for (int64_t i = 0; i < 3 * points->count; i++)
        if (!isfinite(points->positions[i]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: point %lld is not finite, expected numbers in the range of float32", tsr_input_name(input), (long long)(i / 3));
    for (int64_t i = 0; points->normals && i < 3 * points->count; i++)
        if (!isfinite(points->normals[i])) points->normals[i] = 0.0f;
    return TSR_OK;
}
