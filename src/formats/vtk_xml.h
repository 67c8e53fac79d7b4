/* formats/vtk_xml.h: VTK's XML files (.vtu, .vtp): what is in them, and the numbers of any of their arrays.
 *
 * Arrays may stand in the text, as ASCII or base64, or behind it ("appended", raw or base64), packed by zlib or plain, in either byte order, with headers of 32
 * or 64 bits. Every size is checked against the bytes that are there before memory is taken. */
#ifndef TSR_FORMATS_VTK_XML_H
#define TSR_FORMATS_VTK_XML_H

#include "formats/mesh_files.h"

typedef enum tsr_vtk_section {
    TSR_VTK_NOWHERE = 0,
    TSR_VTK_POINT_DATA,
    TSR_VTK_CELL_DATA,
    TSR_VTK_POINTS,
    TSR_VTK_CELLS, /* connectivity, offsets, types */
    TSR_VTK_VERTS, /* connectivity, offsets */
    TSR_VTK_LINES,
    TSR_VTK_STRIPS,
    TSR_VTK_POLYS,
    TSR_VTK_SECTIONS
} tsr_vtk_section;

typedef enum tsr_vtk_type {
    TSR_VTK_I8 = 0,
    TSR_VTK_U8,
    TSR_VTK_I16,
    TSR_VTK_U16,
    TSR_VTK_I32,
    TSR_VTK_U32,
    TSR_VTK_I64,
    TSR_VTK_U64,
    TSR_VTK_F32,
    TSR_VTK_F64,
    TSR_VTK_TYPES
} tsr_vtk_type;

typedef struct tsr_vtk_array {
    tsr_vtk_section section;
    int32_t piece;
    tsr_word name; /* in the file */
    tsr_vtk_type type;
    int32_t components;
    enum { TSR_VTK_ASCII, TSR_VTK_INLINE, TSR_VTK_APPENDED } form;
    tsr_word text;  /* between the tags: ASCII numbers or base64 */
    int64_t offset; /* of appended data */
    int64_t line;   /* of its tag */
} tsr_vtk_array;

typedef struct tsr_vtk_piece {
    int64_t points, cells, verts, lines, strips, polys;
} tsr_vtk_piece;

typedef struct tsr_vtk_xml {
    tsr_input *input;
    const char *file;
    const tsr_progress *progress;
    int unstructured; /* UnstructuredGrid, else PolyData */
    int swap, header_bytes, packed, appended_raw;
    tsr_word appended; /* behind the '_' */
    tsr_vtk_piece *piece;
    tsr_vtk_array *array;
    int32_t pieces, arrays, piece_room, array_room;
} tsr_vtk_xml;

/* Reads what is in the file; freed by tsr_vtk_xml_close also after a failure. KEEPS the input. */
tsr_status tsr_vtk_xml_open(tsr_input *input, const tsr_read_options *options, tsr_vtk_xml *xml);
void tsr_vtk_xml_close(tsr_vtk_xml *xml);
/* The array of a piece by its section and name (NULL: the first). NULL if there is none. */
const tsr_vtk_array *tsr_vtk_xml_find(const tsr_vtk_xml *xml, int32_t piece, tsr_vtk_section section, const char *name);
/* All its numbers: `count` of them (times components), or an error that names the array. */
tsr_status tsr_vtk_xml_reals(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, double *to);
tsr_status tsr_vtk_xml_floats(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, float *to);
tsr_status tsr_vtk_xml_integers(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, int64_t *to);
/* Could the file hold so many numbers of the array? Asked before memory is taken for them. */
tsr_status tsr_vtk_xml_check(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples);

/* 1 if the first bytes are such a file with `type` ("UnstructuredGrid"). */
int tsr_vtk_xml_is(const uint8_t *head, size_t bytes, const char *type);

#endif
