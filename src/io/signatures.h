/* io/signatures.h: formats that are not read here, recognised to say so and what to do. */
#ifndef TSR_IO_SIGNATURES_H
#define TSR_IO_SIGNATURES_H

#include <stddef.h>
#include <stdint.h>

/* 1 if the first bytes of a file (gzip taken off) are of a format in the table: its name ("a TIFF image") and what to do ("expected ..."). */
int tsr_signature_find(const uint8_t *head, size_t bytes, const char **name, const char **advice);
/* What a folder holds: DICOM files, a Zarr array, or "a folder". */
void tsr_signature_folder(const char *path, const char **name, const char **advice);

/* The file of metadata that stands for a folder that is read as one file (Zarr); 0: it is no such folder. */
int tsr_signature_folder_header(const char *path, char *header, size_t room);

#endif
