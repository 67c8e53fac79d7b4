/* io/signatures.h: formats that are not read here, recognised to say so and what to do. */
#ifndef TSR_IO_SIGNATURES_H
#define TSR_IO_SIGNATURES_H

#include <stddef.h>
#include <stdint.h>

/* 1 if the first bytes of a file (gzip taken off) are of a format in the table: its name ("a TIFF image") and what to do ("expected ..."). */
int tsr_signature_find(const uint8_t *head, size_t bytes, const char **name, const char **advice);
/* Could these be the first bytes of a DICOM file? 2: it says so, 1: it may be one without the preamble. */
int tsr_signature_is_dicom(const uint8_t *head, size_t bytes);
/* The file that stands for a folder that is read as one file: metadata of Zarr, or the first DICOM file of it or of the folders below; 0: it is no such folder. */
int tsr_signature_folder_header(const char *path, char *header, size_t room);

#endif
