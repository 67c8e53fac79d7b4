/* formats/vtk_xml.h: VTK's XML files (.vti, .vtu, .vtp, .vts): what is in them, and the numbers of any of their arrays.
 *
 * Arrays may stand in the text, as ASCII or base64, or behind it ("appended", raw or base64), packed by zlib, LZ4 or LZMA, or plain, in either byte order, with headers of 32
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
    int64_t extent[6]; /* of images and structured grids: first and last point along x, y, z; points and cells follow from it */
} tsr_vtk_piece;

typedef struct tsr_vtk_image {
    int64_t extent[6];
    double origin[3], spacing[3], direction[9];
} tsr_vtk_image;

typedef struct tsr_vtk_xml {
    tsr_input *input;
    const char *file;
    const tsr_progress *progress;
    enum { TSR_VTK_UNSTRUCTURED, TSR_VTK_POLYDATA, TSR_VTK_STRUCTURED, TSR_VTK_IMAGE } kind;
    tsr_vtk_image image;  /* of TSR_VTK_IMAGE */
    tsr_word scalars[2];  /* the array of points, and of cells, that the file calls active; empty if it does not say */
    enum { TSR_VTK_PLAIN, TSR_VTK_ZLIB, TSR_VTK_LZ4, TSR_VTK_LZMA } packed;
    int swap, header_bytes, appended_raw;
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
/* The points of all pieces, one behind another, as float32 beside an origin of float64. */
tsr_status tsr_vtk_xml_positions(const tsr_vtk_xml *xml, const tsr_read_options *options, float *positions, double origin[3]);
tsr_status tsr_vtk_xml_floats(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, float *to);
/* Of an array of one component. */
tsr_status tsr_vtk_xml_integers(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, int64_t *to);
/* As elements of the type that the array has, in the order of this machine. */
tsr_dtype tsr_vtk_dtype(tsr_vtk_type type);
tsr_status tsr_vtk_xml_values(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples, void *to);
/* Could the file hold so many numbers of the array? Asked before memory is taken for them. */
tsr_status tsr_vtk_xml_check(const tsr_vtk_xml *xml, const tsr_vtk_array *array, int64_t tuples);

/* 1 if the first bytes are such a file with `type` ("UnstructuredGrid"). */
int tsr_vtk_xml_is(const uint8_t *head, size_t bytes, const char *type);
/* The number that an attribute of the first <Piece> in these bytes gives, 0 if there is none. */
int64_t tsr_vtk_xml_piece_number(const uint8_t *head, size_t bytes, const char *name);

/* Image data (.vti) written: the head up to an array of the points, whose numbers follow if options.ascii says so; else the numbers follow `append`, behind their size in
 * bytes as 64 bits, or packed. */
tsr_status tsr_vti_begin(tsr_output *out, const tsr_geometry *geometry, tsr_size3 size, tsr_dtype dtype, int components, const tsr_write_options *options,
                         const char *name);
tsr_status tsr_vti_append(tsr_output *out, int appended);
tsr_status tsr_vti_end(tsr_output *out, int appended);

#endif
