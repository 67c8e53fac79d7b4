/* formats/vtk_text.h: what all of VTK's legacy files (.vtk, ASCII and BINARY, which is big-endian) have: words, numbers, arrays with their sizes and types. Every count is
 * checked against the bytes that are left before memory is taken. */
#ifndef TSR_FORMATS_VTK_TEXT_H
#define TSR_FORMATS_VTK_TEXT_H

#include "formats/mesh_files.h"
#include "io/text.h"

typedef enum tsr_vtk_number_kind {
    TSR_VTK_N_BIT,
    TSR_VTK_N_U8,
    TSR_VTK_N_I8,
    TSR_VTK_N_U16,
    TSR_VTK_N_I16,
    TSR_VTK_N_U32,
    TSR_VTK_N_I32,
    TSR_VTK_N_U64,
    TSR_VTK_N_I64,
    TSR_VTK_N_F32,
    TSR_VTK_N_F64
} tsr_vtk_number_kind;
typedef struct tsr_vtk_number {
    tsr_vtk_number_kind kind;
    int bytes;
} tsr_vtk_number; /* bytes: 0 of bits */

typedef struct tsr_vtk_text {
    tsr_input *input;
    const char *file;
    const tsr_progress *progress;
    tsr_text text;
    int binary, cells_apart; /* version 5 */
    tsr_space space;
} tsr_vtk_text;

/* Do the first bytes of a file say so? `type`: the word behind DATASET in the fourth line; NULL: any legacy file. */
int tsr_vtk_is_dataset(const uint8_t *head, size_t bytes, const char *type);
/* Up to the word behind DATASET, which is returned; `expected`: that word in messages. */
tsr_status tsr_vtk_begin(tsr_vtk_text *r, const char *expected, tsr_word *dataset);
/* An error about a word that is not what was expected. */
tsr_status tsr_vtk_wrong(const tsr_vtk_text *r, tsr_word word, const char *expected);
tsr_status tsr_vtk_word(tsr_vtk_text *r, tsr_word *word, const char *expected);
tsr_status tsr_vtk_expect(tsr_vtk_text *r, const char *name);
void tsr_vtk_name(tsr_word word, char *name, size_t room); /* VTK writes blanks in names as %20 */
tsr_status tsr_vtk_count(tsr_vtk_text *r, const char *what, int64_t *count); /* 0 or more */
tsr_status tsr_vtk_type_of(tsr_vtk_text *r, tsr_vtk_number *type);

/* `count` numbers could be there. */
tsr_status tsr_vtk_check_count(const tsr_vtk_text *r, int64_t count, int bytes, const char *what);
tsr_status tsr_vtk_begin_binary(tsr_vtk_text *r, int64_t bytes, const char *what);
uint64_t tsr_vtk_big_endian(const char *at, int bytes);
/* `count` numbers; to NULL: walked over. Also in parts: the beginning, then the next so many (of bits: a multiple of 8). */
tsr_status tsr_vtk_reals(tsr_vtk_text *r, tsr_vtk_number type, int64_t count, const char *what, double *to);
tsr_status tsr_vtk_begin_reals(tsr_vtk_text *r, tsr_vtk_number type, int64_t count, const char *what);
tsr_status tsr_vtk_next(tsr_vtk_text *r, tsr_vtk_number type, int64_t count, const char *what, double *to);

/* Told of an array whose numbers are next; one that takes them sets *taken, else they are walked over. attribute: SCALARS, VECTORS, FIELD, ... */
typedef tsr_status tsr_vtk_array_taker(void *user, tsr_word attribute, tsr_word name, tsr_vtk_number type, int64_t tuples, int64_t components,
                                       int at_points, int *taken);
/* An attribute of point or cell data, whose first word has been read. */
tsr_status tsr_vtk_attribute(tsr_vtk_text *r, tsr_word word, int64_t tuples, int at_points, tsr_vtk_array_taker *take, void *user);

#endif
