#include "io/meshes.h"

#include <math.h>
#include <string.h>

static tsr_status within_limit(const tsr_input *input, int64_t bytes, const char *what)
{
    int64_t limit = tsr_input_settings(input)->memory_limit;
    if (limit <= 0) limit = tsr_physical_memory();
    if (bytes > limit)
        TSR_FAIL(TSR_ERROR_MEMORY, "%s: %s need %lld bytes, the memory limit is %lld", tsr_input_name(input), what, (long long)bytes,
                 (long long)limit);
    return TSR_OK;
}

tsr_status tsr_mesh_for_input(const tsr_input *input, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh)
{
    *mesh = NULL;
    if (vertices > (int64_t)UINT32_MAX)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: %lld vertices, expected at most 4294967295", tsr_input_name(input), (long long)vertices);
    if (triangles > INT64_MAX / 64) TSR_FAIL(TSR_ERROR_FORMAT, "%s: %lld triangles", tsr_input_name(input), (long long)triangles);
    TSR_TRY(within_limit(input, vertices * (normals ? 24 : 12) + triangles * 12, "vertices and triangles"));
    TSR_TRY(tsr_mesh_create(NULL, vertices, triangles, normals, mesh));
    return TSR_OK;
}

tsr_status tsr_scratch_for_input(const tsr_input *input, int64_t count, size_t element, const char *what, void **memory)
{
    *memory = NULL;
    TSR_TRY(within_limit(input, count > INT64_MAX / (int64_t)element ? INT64_MAX : count * (int64_t)element, what));
    if (count) TSR_TRY(tsr_host_allocate(NULL, (size_t)count * element, memory));
    return TSR_OK;
}

tsr_status tsr_mesh_check_positions(const tsr_input *input, tsr_mesh *mesh)
{
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        if (!isfinite(mesh->vertices[i]))
            TSR_FAIL(TSR_ERROR_FORMAT, "%s: %c of vertex %lld is %g, expected a finite number in the range of float32", tsr_input_name(input),
                     'x' + (int)(i % 3), (long long)(i / 3), (double)mesh->vertices[i]);
    for (int64_t i = 0; mesh->normals && i < mesh->vertex_count; i++) {
        float *n = mesh->normals + 3 * i;
        if (!isfinite(n[0]) || !isfinite(n[1]) || !isfinite(n[2])) n[0] = n[1] = n[2] = 0; /* writers do that at lone vertices */
    }
    return TSR_OK;
}

const char *tsr_space_comment(tsr_space space)
{
    return space == TSR_SPACE_RAS ? "SPACE=RAS" : space == TSR_SPACE_LPS ? "SPACE=LPS" : "";
}

tsr_space tsr_space_from_comment(const char *text, size_t size, tsr_space otherwise)
{
    for (size_t i = 0; i + 9 <= size; i++) {
        if (memcmp(text + i, "SPACE=RAS", 9) == 0) return TSR_SPACE_RAS;
        if (memcmp(text + i, "SPACE=LPS", 9) == 0) return TSR_SPACE_LPS;
    }
    return otherwise;
}

tsr_status tsr_write_floats(tsr_output *out, const char *before, const float numbers[3], const char *after)
{
    char line[128], *at = tsr_put_text(line, before);
    for (int i = 0; i < 3; i++) {
        if (i) *at++ = ' ';
        at = tsr_put_float(at, numbers[i]);
    }
    at = tsr_put_text(at, after);
    return tsr_output_write(out, line, (size_t)(at - line));
}

tsr_status tsr_write_triangle(tsr_output *out, const char *before, const uint32_t corners[3], uint64_t first, int twice)
{
    char line[192], *at = tsr_put_text(line, before);
    for (int i = 0; i < 3; i++) {
        *at++ = ' ';
        at = tsr_put_integer(at, first + corners[i]);
        if (twice) at = tsr_put_integer(tsr_put_text(at, "//"), first + corners[i]);
    }
    *at++ = '\n';
    return tsr_output_write(out, line, (size_t)(at - line));
}

int tsr_text_data_line(tsr_text *text, tsr_text *line, tsr_space *space)
{
    while (tsr_text_line(text, line)) {
        const char *comment = (const char *)memchr(line->at, '#', (size_t)(line->end - line->at));
        if (comment) {
            *space = tsr_space_from_comment(comment, (size_t)(line->end - comment), *space);
            line->end = comment;
        }
        tsr_text probe = *line;
        tsr_word word;
        if (tsr_text_word(&probe, &word)) return 1;
    }
    return 0;
}
