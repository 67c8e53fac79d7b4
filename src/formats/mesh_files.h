/* formats/mesh_files.h: what the mesh formats share. */
#ifndef TSR_FORMATS_MESH_FILES_H
#define TSR_FORMATS_MESH_FILES_H

#include "mesh/mesh.h"
#include "formats/format.h"
#include "formats/meshes/polygons.h"
#include "io/text.h"

/* A host mesh counted against the memory limit of the input; RETURNS NEW. */
tsr_status tsr_mesh_for_input(const tsr_input *input, int64_t vertices, int64_t triangles, int normals, tsr_mesh **mesh);
/* Scratch memory counted against the same limit, to be freed by tsr_host_release(NULL, ...). */
tsr_status tsr_scratch_for_input(const tsr_input *input, int64_t count, size_t element, const char *what, void **memory);

/* tsr_mesh_read, but polygons are fans round their first corner, whatever their shape: the meshes of a moving thing have the same triangles. */
tsr_status tsr_mesh_read_fans(const char *path, const tsr_read_options *options, tsr_mesh **mesh);

static inline int tsr_same_point(const float *a, const float *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* Names by number, and parts of a mesh as a file lists them. */
typedef struct tsr_part_names {
    struct tsr_named {
        int64_t value;
        char *name;
    } * item;
    int32_t count, room;
} tsr_part_names;
tsr_status tsr_part_names_add(tsr_part_names *names, int64_t value, tsr_word name);
void tsr_part_names_free(tsr_part_names *names);
typedef struct tsr_part_list {
    tsr_mesh_part *item;
    int32_t count, room;
    tsr_part_names names;
} tsr_part_list;
/* Triangles that follow those before: of the same part if value and name are the same. */
tsr_status tsr_part_list_add(tsr_part_list *list, int64_t value, tsr_word name, int64_t triangles);
/* The parts of the mesh, with their own names or those of `names` (may be NULL); none where the list has fewer than `fewest` parts with triangles. */
tsr_status tsr_part_list_set(tsr_part_list *list, const tsr_part_names *names, int fewest, tsr_mesh *mesh);
void tsr_part_list_free(tsr_part_list *list);

/* In a loop over the items of a file: asks the caller's progress function now and then whether to go on; `fraction` is negative while items
 * are only counted. */
#define TSR_READING(progress, item, fraction)                                           \
    do {                                                                                \
        if (((item)&0xffff) == 0) TSR_PROGRESS(progress, fraction, "reading the mesh"); \
    } while (0)
/* The same while they are written. */
#define TSR_WRITING(progress, item, count)                                                             \
    do {                                                                                               \
        if (((item)&0xffff) == 0) TSR_PROGRESS(progress, (double)(item) / (double)(count), "writing"); \
    } while (0)

/* The last step of every reader: positions must be finite (the message names the vertex), normals that are not become 0. */
tsr_status tsr_mesh_check_positions(const tsr_input *input, tsr_mesh *mesh);

/* The frame of the coordinates in a comment, written as "SPACE=RAS" or "SPACE=LPS" (3D Slicer's words); nothing for TSR_SPACE_NONE. */
const char *tsr_space_comment(tsr_space space); /* "" for TSR_SPACE_NONE */
tsr_space tsr_space_from_comment(const char *text, size_t size, tsr_space otherwise);

/* Coordinates as they are read: float32, counted from `origin`. Whether a local origin is needed is known when all have been seen, and then they are read again. */
typedef struct tsr_places {
    double origin[3], lower[3], upper[3];
    int inexact; /* some number is none of float32 */
} tsr_places;
tsr_places tsr_places_begin(void);
static inline float tsr_place(tsr_places *p, int axis, double value)
{
    const float f = (float)value;
    p->inexact |= (double)f != value;
    if (value < p->lower[axis]) p->lower[axis] = value;
    if (value > p->upper[axis]) p->upper[axis] = value;
    return p->origin[axis] == 0 ? f : (float)(value - p->origin[axis]);
}
/* 1: read again, with the origin that is set now (the options allow one, and float32 would round by more than 10^-5 of the extent). */
int tsr_places_again(tsr_places *p, const tsr_read_options *options);

/* Writes `before`, the position in float64 where the origin is not 0, `after`; as tsr_write_floats. */
tsr_status tsr_write_position(tsr_output *out, const char *before, const float position[3], const double origin[3], const char *after);
static inline int tsr_has_origin(const double origin[3]) { return origin[0] != 0 || origin[1] != 0 || origin[2] != 0; }
/* Text of a coordinate with the 15 digits of a decimal number that a double keeps. */
char *tsr_put_place(char *at, double value);

/* Writes `before`, three numbers with 9 digits and spaces between, `after` (both together at most 60 characters). */
tsr_status tsr_write_floats(tsr_output *out, const char *before, const float numbers[3], const char *after);
/* The same into memory, without an end; all return where they stopped. At most TSR_TEXT_FLOATS characters without what is before and behind. */
enum { TSR_TEXT_FLOATS = 3 * 17, TSR_TEXT_PLACES = 3 * 24, TSR_TEXT_TRIANGLE = 3 * 23 + 1 };
char *tsr_put_floats(char *at, const char *before, const float numbers[3], const char *after);
char *tsr_put_position(char *at, const char *before, const float position[3], const double origin[3], const char *after); /* TSR_TEXT_PLACES */
/* The line `before` i j k with indices counted from `first`; `twice` as i//i, for vertex and normal. TSR_TEXT_TRIANGLE */
char *tsr_put_triangle(char *at, const char *before, const uint32_t corners[3], uint64_t first, int twice);

/* Items of a mesh as the bytes of a file. `put` writes item i to `at`, at most `largest` bytes, and returns where it stopped; several threads call it. */
typedef struct tsr_item_writer {
    char *(*put)(const void *user, int64_t item, char *at);
    const void *user;
    size_t largest;
    int64_t before, total; /* for progress: items of other kinds written before, all there are */
} tsr_item_writer;
/* Items begin to end - 1 in this order, turned into bytes on the threads of the mesh. Looks at progress. */
tsr_status tsr_write_items(tsr_output *out, const tsr_mesh *mesh, const tsr_item_writer *writer, int64_t begin, int64_t end,
                           const tsr_progress *progress);

/* The next line that is neither empty nor a comment (from '#' on), the comment cut off; an OFF or OBJ comment may name the space. 0 at the
 * end. */
int tsr_text_data_line(tsr_text *text, tsr_text *line, tsr_space *space);

#endif
