/* formats/points/point_columns.h: the numbers of each point by name: which are positions, normals, radii, and which keep their names as attributes.
 *
 * Single numbers whose names differ in their end alone (x y z, velocity_x velocity_y velocity_z, vx vy vz, velocity:0 velocity:1 velocity:2) are one vector.
 * Simulators' own names become the usual ones: "density" (rho, rhop), "velocity" (v, vel), radii (radius, pscale), normals (n, normal). */
#ifndef TSR_FORMATS_POINT_COLUMNS_H
#define TSR_FORMATS_POINT_COLUMNS_H

#include "formats/point_files.h"

typedef enum tsr_column_kind { TSR_COLUMN_SKIPPED = 0, TSR_COLUMN_POSITION, TSR_COLUMN_NORMAL, TSR_COLUMN_RADIUS, TSR_COLUMN_ATTRIBUTE } tsr_column_kind;

/* What an array of so many components is; `usual` is the name it gets. Ends of names as in "velocity_" are cut off. */
tsr_column_kind tsr_column_kind_of(tsr_word name, int32_t components, char usual[64]);
/* Room for it in the points: *data is where [count][components] go, NULL where it is left out (more attributes than there is room for, a second one of the
 * name, more than 16 components, positions). */
tsr_status tsr_column_take(tsr_points *points, tsr_column_kind kind, const char *usual, int32_t components, float **data);

enum { TSR_COLUMNS_MOST = 512 };
typedef struct tsr_point_table {
    int32_t columns, groups;
    struct {
        int16_t group;
        int16_t component;
    } column[TSR_COLUMNS_MOST];
    struct {
        tsr_column_kind kind;
        int32_t components;
        char name[64];
        float *data;
    } group[TSR_COLUMNS_MOST];
} tsr_point_table;
/* Columns of single numbers; one that is not wanted has an empty name. Returns whether there are positions. */
int tsr_point_table_plan(tsr_point_table *table, const tsr_word *names, int32_t count);
tsr_status tsr_point_table_take(tsr_point_table *table, tsr_points *points);
/* A number of row `row`. */
static inline void tsr_point_table_put(const tsr_point_table *t, tsr_points *points, tsr_places *places, int32_t column, int64_t row, double value)
{
    const int32_t group = t->column[column].group;
    if (group < 0) return;
    if (t->group[group].kind == TSR_COLUMN_POSITION)
        points->positions[3 * row + t->column[column].component] = tsr_place(places, t->column[column].component, value);
    else if (t->group[group].data) t->group[group].data[row * t->group[group].components + t->column[column].component] = (float)value;
}

/* For writers: how the columns of the points are called, positions first ("x", "y", "z", "nx", ..., "radius", "density", "velocity_x", ...; velocities as "vx"
 * where `brief`), and the numbers of a row. */
typedef struct tsr_row_columns {
    int32_t count;
    struct {
        char name[72];
        const float *data;
        int32_t stride;
    } column[TSR_COLUMNS_MOST];
} tsr_row_columns;
void tsr_row_columns_of(const tsr_points *points, int brief, tsr_row_columns *columns);

/* PLY of points with more than positions and normals (ply_points.c). */
tsr_status tsr_ply_write_points(const tsr_points *points, const char *path, const tsr_write_options *options);

/* The last step of every reader: positions must be finite, normals that are not become 0. */
tsr_status tsr_points_check_positions(const tsr_input *input, tsr_points *points);

#endif
