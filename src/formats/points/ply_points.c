/* formats/points/ply_points.c: PLY of points with radii and attributes: float32 properties of "vertex", velocities as vx vy vz. */
#include "formats/points/point_columns.h"

#include <string.h>

enum { BATCH = 256 };

static tsr_status write_header(tsr_output *out, const tsr_points *p, const tsr_row_columns *c, const tsr_write_options *options)
{
    tsr_output_printf(out, "ply\nformat %s 1.0\ncomment tessera\n",
                      options->ascii        ? "ascii"
                      : options->big_endian ? "binary_big_endian"
                                            : "binary_little_endian");
    if (p->space != TSR_SPACE_NONE) tsr_output_printf(out, "comment %s\n", tsr_space_comment(p->space));
    tsr_output_printf(out, "element vertex %lld\n", (long long)p->count);
    for (int32_t k = 0; k < c->count; k++)
        tsr_output_printf(out, "property %s %s\n", k < 3 && tsr_has_origin(p->origin) ? "double" : "float", c->column[k].name);
    return tsr_output_printf(out, "end_header\n");
}

static tsr_status write_ascii(tsr_output *out, const tsr_points *p, const tsr_row_columns *c, const tsr_progress *progress)
{
    for (int64_t i = 0; i < p->count; i++) {
        char number[32];
        TSR_WRITING(progress, i, p->count);
        TSR_TRY(tsr_write_position(out, "", p->positions + 3 * i, p->origin, c->count > 3 ? "" : "\n"));
        for (int32_t k = 3; k < c->count; k++) {
            char *end = tsr_put_float(number + 1, c->column[k].data[i * c->column[k].stride]);
            number[0] = ' ';
            *end++ = k + 1 < c->count ? 0 : '\n';
            TSR_TRY(tsr_output_write(out, number, (size_t)(end - number) - (k + 1 < c->count)));
        }
    }
    return TSR_OK;
}

static tsr_status write_binary(tsr_output *out, const tsr_points *p, const tsr_row_columns *c, int swap, const tsr_progress *progress)
{
    float row[TSR_COLUMNS_MOST];
    const int far = tsr_has_origin(p->origin);
    for (int64_t i = 0; i < p->count; i++) {
        TSR_WRITING(progress, i, p->count);
        if (far) {
            double place[3];
            for (int k = 0; k < 3; k++) place[k] = p->origin[k] + (double)p->positions[3 * i + k];
            if (swap) tsr_swap_elements(place, 3, sizeof *place);
            TSR_TRY(tsr_output_write(out, place, sizeof place));
        }
        for (int32_t k = 0; k < c->count; k++) row[k] = c->column[k].data[i * c->column[k].stride];
        if (swap) tsr_swap_elements(row, c->count, sizeof *row);
        TSR_TRY(tsr_output_write(out, row + (far ? 3 : 0), (size_t)(c->count - (far ? 3 : 0)) * sizeof *row));
    }
    return TSR_OK;
}

tsr_status tsr_ply_write_points(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    tsr_row_columns *c = NULL;
    tsr_status status;
    TSR_TRY(tsr_host_allocate(NULL, sizeof *c, (void **)&c));
    tsr_row_columns_of(points, 1, c);
    TSR_TRY_GOTO(tsr_output_open(path, options, &out), done);
    TSR_TRY_GOTO(write_header(out, points, c, options), done);
    if (options->ascii) TSR_TRY_GOTO(write_ascii(out, points, c, &options->progress), done);
    else TSR_TRY_GOTO(write_binary(out, points, c, !!options->big_endian != tsr_host_big_endian(), &options->progress), done);
done:
    tsr_host_release(NULL, c, sizeof *c);
    return out ? tsr_output_finish(&out, status) : status;
}
