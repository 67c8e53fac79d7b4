/* tessera/region_file.h: region trees in files, .rgt and .rgt.gz (docs/formats/rgt.md): 2 bits per child of a node, depth first, and values of the
 * leaves. Keys, references and sizes follow from these bits: the tree comes back bit for bit. Source: docs/theory/regions.md 11. */
#ifndef TESSERA_REGION_FILE_H
#define TESSERA_REGION_FILE_H

#include "tessera/io.h"
#include "tessera/region_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* BORROWS a host tree and `values`, a host f32 volume of leaves x channels x 1 (NULL: none; at most 64 channels). The file is written beside the
 * target and renamed; a path in .gz is packed. Linear time. */
TSR_API tsr_status tsr_region_tree_write(const tsr_region_tree *tree, const tsr_volume *values, const char *path, const tsr_write_options *options) TSR_CHECKED;
/* RETURNS NEW host tree and values (*values is NULL if the file has none; `values` NULL: left out). TSR_ERROR_FORMAT names the field or the node of a
 * damaged file; nothing larger than the file allows is allocated. */
TSR_API tsr_status tsr_region_tree_read(const char *path, const tsr_read_options *options, tsr_region_tree **tree, tsr_volume **values) TSR_CHECKED;
/* 1 if the file begins as a region tree does (a gzip wrapper taken off), whatever its name; 0 otherwise, also where it cannot be read. */
TSR_API int tsr_region_file_recognise(const char *path);

#ifdef __cplusplus
}
#endif
#endif
