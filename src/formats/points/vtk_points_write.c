/* Points written as VTK's legacy PolyData of vertices, version 3.0, binary (big-endian) or ASCII. */
#include <stdio.h>
#include <string.h>

#include "formats/points/point_columns.h"
#include "formats/points/vtk_points.h"

static tsr_status put_row(tsr_output *out, const float *numbers, int32_t count, const tsr_write_options *options)
{
    float row[TSR_POINTS_COMPONENTS];
    if (!options->ascii) {
        memcpy(row, numbers, (size_t)count * sizeof *row);
        if (!tsr_host_big_endian()) tsr_swap_elements(row, count, sizeof *row);
        return tsr_output_write(out, row, (size_t)count * sizeof *row);
    }
    for (int32_t k = 0; k < count; k++) {
        char text[32], *end = tsr_put_float(text, numbers[k]);
        *end++ = k + 1 < count ? ' ' : '\n';
        TSR_TRY(tsr_output_write(out, text, (size_t)(end - text)));
    }
    return TSR_OK;
}

static tsr_status put_array(tsr_output *out, const char *name, const float *data, int32_t components, const tsr_points *p,
                            const tsr_write_options *options)
{
    char word[64];
    snprintf(word, sizeof word, "%s", name);
    for (char *c = word; *c; c++)
        if ((unsigned char)*c <= ' ') *c = '_';
    TSR_TRY(tsr_output_printf(out, "%s %d %lld float\n", word, (int)components, (long long)p->count));
    for (int64_t i = 0; i < p->count; i++) {
        TSR_WRITING(&options->progress, i, p->count);
        TSR_TRY(put_row(out, data + i * components, components, options));
    }
    return options->ascii ? TSR_OK : tsr_output_write(out, "\n", 1);
}

static tsr_status put_places(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    const int far = tsr_has_origin(p->origin);
    TSR_TRY(tsr_output_printf(out, "POINTS %lld %s\n", (long long)p->count, far ? "double" : "float"));
    for (int64_t i = 0; i < p->count; i++) {
        TSR_WRITING(&options->progress, i, p->count);
        if (options->ascii) TSR_TRY(tsr_write_position(out, "", p->positions + 3 * i, p->origin, "\n"));
        else if (!far) TSR_TRY(put_row(out, p->positions + 3 * i, 3, options));
        else {
            double place[3];
            for (int k = 0; k < 3; k++) place[k] = p->origin[k] + (double)p->positions[3 * i + k];
            if (!tsr_host_big_endian()) tsr_swap_elements(place, 3, sizeof *place);
            TSR_TRY(tsr_output_write(out, place, sizeof place));
        }
    }
    return tsr_output_write(out, "\n", 1);
}

static tsr_status write_cloud(tsr_output *out, const tsr_points *p, const tsr_write_options *options)
{
    const int32_t arrays = p->attributes + (p->radii != NULL) + (p->normals != NULL);
    TSR_TRY(tsr_output_printf(out, "# vtk DataFile Version 3.0\ntessera %s\n%s\nDATASET POLYDATA\n", tsr_space_comment(p->space),
                              options->ascii ? "ASCII" : "BINARY"));
    TSR_TRY(put_places(out, p, options));
    TSR_TRY(tsr_output_printf(out, "VERTICES %lld %lld\n", (long long)p->count, 2 * (long long)p->count));
    for (int64_t i = 0; i < p->count; i++) {
        uint32_t pair[2] = { 1, (uint32_t)i };
        if (options->ascii) TSR_TRY(tsr_output_printf(out, "1 %lld\n", (long long)i));
        else {
            if (!tsr_host_big_endian()) tsr_swap_elements(pair, 2, sizeof *pair);
            TSR_TRY(tsr_output_write(out, pair, sizeof pair));
        }
    }
    if (!arrays) return TSR_OK;
    TSR_TRY(tsr_output_printf(out, "%sPOINT_DATA %lld\nFIELD FieldData %d\n", options->ascii ? "" : "\n", (long long)p->count, (int)arrays));
    if (p->radii) TSR_TRY(put_array(out, "radius", p->radii, 1, p, options));
    if (p->normals) TSR_TRY(put_array(out, "normals", p->normals, 3, p, options));
    for (int32_t k = 0; k < p->attributes; k++)
        TSR_TRY(put_array(out, p->attribute[k].name, p->attribute[k].data, p->attribute[k].components, p, options));
    return TSR_OK;
}
tsr_status tsr_vtk_write_points(const tsr_points *points, const char *path, const tsr_write_options *options)
{
    tsr_output *out = NULL;
    TSR_TRY(tsr_output_open(path, options, &out));
    return tsr_output_finish(&out, write_cloud(out, points, options));
}

/* Is it a data set of this type? Before that stand the version, a title and ASCII or BINARY, each on a line. */
