#include "formats/mesh_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/parallel.h"

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

const char *tsr_space_comment(tsr_space space) { return space == TSR_SPACE_RAS ? "SPACE=RAS" : space == TSR_SPACE_LPS ? "SPACE=LPS" : ""; }

tsr_space tsr_space_from_comment(const char *text, size_t size, tsr_space otherwise)
{
    for (size_t i = 0; i + 9 <= size; i++) {
        if (memcmp(text + i, "SPACE=RAS", 9) == 0) return TSR_SPACE_RAS;
        if (memcmp(text + i, "SPACE=LPS", 9) == 0) return TSR_SPACE_LPS;
    }
    return otherwise;
}

char *tsr_put_floats(char *at, const char *before, const float numbers[3], const char *after)
{
    at = tsr_put_text(at, before);
    for (int i = 0; i < 3; i++) {
        if (i) *at++ = ' ';
        at = tsr_put_float(at, numbers[i]);
    }
    return tsr_put_text(at, after);
}

tsr_places tsr_places_begin(void) { return (tsr_places){ { 0, 0, 0 }, { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY }, 0 }; }

int tsr_places_again(tsr_places *p, const tsr_read_options *options)
{
    double extent = 0, far = 0;
    if (!options->local_origin || !p->inexact || tsr_has_origin(p->origin)) return 0;
    for (int k = 0; k < 3; k++) {
        if (!(p->lower[k] <= p->upper[k]) || !isfinite(p->lower[k]) || !isfinite(p->upper[k])) return 0;
        extent = fmax(extent, p->upper[k] - p->lower[k]);
        far = fmax(far, fmax(fabs(p->lower[k]), fabs(p->upper[k])));
    }
    if (!(extent > 0) || far * 0x1p-24 <= 1e-5 * extent) return 0;
    const double step = pow(10, ceil(log10(extent))); /* a round number near the middle */
    for (int k = 0; k < 3; k++) {
        const double middle = 0.5 * p->lower[k] + 0.5 * p->upper[k];
        p->origin[k] = fmax(fabs(p->lower[k]), fabs(p->upper[k])) * 0x1p-24 > 1e-5 * extent ? round(middle / step) * step : 0;
    }
    return 1;
}

char *tsr_put_place(char *at, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    for (char *c = text; *c; c++)
        if (*c == ',') *c = '.'; /* the locale's decimal sign */
    return tsr_put_text(at, text);
}

char *tsr_put_position(char *at, const char *before, const float position[3], const double origin[3], const char *after)
{
    if (!tsr_has_origin(origin)) return tsr_put_floats(at, before, position, after);
    at = tsr_put_text(at, before);
    for (int i = 0; i < 3; i++) {
        if (i) *at++ = ' ';
        at = tsr_put_place(at, origin[i] + (double)position[i]);
    }
    return tsr_put_text(at, after);
}

char *tsr_put_triangle(char *at, const char *before, const uint32_t corners[3], uint64_t first, int twice)
{
    at = tsr_put_text(at, before);
    for (int i = 0; i < 3; i++) {
        *at++ = ' ';
        at = tsr_put_integer(at, first + corners[i]);
        if (twice) at = tsr_put_integer(tsr_put_text(at, "//"), first + corners[i]);
    }
    *at++ = '\n';
    return at;
}

tsr_status tsr_write_floats(tsr_output *out, const char *before, const float numbers[3], const char *after)
{
    char line[128];
    return tsr_output_write(out, line, (size_t)(tsr_put_floats(line, before, numbers, after) - line));
}

tsr_status tsr_write_position(tsr_output *out, const char *before, const float position[3], const double origin[3], const char *after)
{
    char line[192];
    return tsr_output_write(out, line, (size_t)(tsr_put_position(line, before, position, origin, after) - line));
}

/* ---- many items -------------------------------------------------------------------------------------------------------------------------------- */

enum { BLOCK = 2048, BLOCKS = 32 }; /* items that one thread turns into bytes at a time; blocks that are written together */

struct blocks {
    const tsr_item_writer *writer;
    int64_t first, end; /* items */
    char *memory;
    size_t used[BLOCKS];
};

static void put_blocks(void *user, int64_t begin, int64_t end, int worker)
{
    struct blocks *b = (struct blocks *)user;
    (void)worker;
    for (int64_t k = begin; k < end; k++) {
        char *start = b->memory + (size_t)k * BLOCK * b->writer->largest, *at = start;
        const int64_t last = tsr_min64(b->first + (k + 1) * BLOCK, b->end);
        for (int64_t i = b->first + k * BLOCK; i < last; i++) at = b->writer->put(b->writer->user, i, at);
        b->used[k] = (size_t)(at - start);
    }
}

tsr_status tsr_write_items(tsr_output *out, const tsr_mesh *mesh, const tsr_item_writer *writer, int64_t begin, int64_t end,
                           const tsr_progress *progress)
{
    const int threads = mesh->context ? mesh->context->threads : tsr_parallel_default_threads();
    const int64_t most = tsr_min64(BLOCKS, tsr_ceil_div(end - begin, BLOCK));
    struct blocks b = { .writer = writer, .first = begin, .end = end };
    tsr_status status = TSR_OK;
    if (begin >= end) return TSR_OK;
    b.memory = (char *)malloc((size_t)most * BLOCK * writer->largest);
    if (!b.memory) TSR_FAIL(TSR_ERROR_MEMORY, "writing: out of memory for %lld items", (long long)(most * BLOCK));
    for (; b.first < end && status == TSR_OK; b.first += most * BLOCK) {
        const int64_t blocks = tsr_min64(most, tsr_ceil_div(end - b.first, BLOCK));
        if (tsr_progress_report(progress, (double)(writer->before + b.first) / (double)writer->total, "writing"))
            status = TSR_FAILED(TSR_ERROR_CANCELLED, "cancelled during writing");
        if (status == TSR_OK) tsr_parallel(threads, blocks, 1, put_blocks, &b);
        for (int64_t k = 0; k < blocks && status == TSR_OK; k++)
            status = tsr_output_write(out, b.memory + (size_t)k * BLOCK * writer->largest, b.used[k]);
    }
    free(b.memory);
    return status;
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

/* ---- names and parts ------------------------------------------------------------------------------------------------------------------------ */

static char *copy_word(tsr_word word)
{
    char *text = (char *)malloc(word.size + 1);
    if (!text) return NULL;
    memcpy(text, word.text, word.size);
    text[word.size] = 0;
    return text;
}

tsr_status tsr_part_names_add(tsr_part_names *names, int64_t value, tsr_word word)
{
    if (names->count == names->room) {
        const int32_t room = names->room ? 2 * names->room : 16;
        struct tsr_named *grown = (struct tsr_named *)realloc(names->item, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of host memory for %d names", room);
        names->item = grown;
        names->room = room;
    }
    char *name = copy_word(word);
    if (!name) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of host memory for a name");
    names->item[names->count++] = (struct tsr_named){ value, name };
    return TSR_OK;
}

void tsr_part_names_free(tsr_part_names *names)
{
    for (int32_t i = 0; i < names->count; i++) free(names->item[i].name);
    free(names->item);
    *names = (tsr_part_names){ 0 };
}

static int same_name(const char *name, tsr_word word) { return name ? word.text && tsr_word_is(word, name) : !word.text; }

tsr_status tsr_part_list_add(tsr_part_list *list, int64_t value, tsr_word name, int64_t triangles)
{
    tsr_mesh_part *last = list->count ? &list->item[list->count - 1] : NULL;
    if (!triangles) return TSR_OK;
    if (last && last->value == value && same_name(last->name, name)) {
        last->triangles += triangles;
        return TSR_OK;
    }
    if (list->count == list->room) {
        if (list->room > INT32_MAX / 2) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "mesh: more than %d parts", list->room);
        const int32_t room = list->room ? 2 * list->room : 16;
        tsr_mesh_part *grown = (tsr_mesh_part *)realloc(list->item, (size_t)room * sizeof *grown);
        if (!grown) TSR_FAIL(TSR_ERROR_MEMORY, "mesh: out of host memory for %d parts", room);
        list->item = grown;
        list->room = room;
    }
    list->item[list->count] = (tsr_mesh_part){ value, NULL, triangles };
    if (name.text) {
        TSR_TRY(tsr_part_names_add(&list->names, value, name));
        list->item[list->count].name = list->names.item[list->names.count - 1].name;
    }
    list->count++;
    return TSR_OK;
}

tsr_status tsr_part_list_set(tsr_part_list *list, const tsr_part_names *names, int fewest, tsr_mesh *mesh)
{
    if (list->count < fewest) return TSR_OK;
    for (int32_t i = 0; names && i < list->count; i++)
        for (int32_t k = names->count - 1; k >= 0 && !list->item[i].name; k--)
            if (names->item[k].value == list->item[i].value) list->item[i].name = names->item[k].name;
    TSR_TRY(tsr_mesh_set_parts(mesh, list->item, list->count));
    return TSR_OK;
}

void tsr_part_list_free(tsr_part_list *list)
{
    free(list->item);
    tsr_part_names_free(&list->names);
    *list = (tsr_part_list){ 0 };
}
