/* formats/volumes/analyze.h: Analyze 7.5, whose header is that of NIfTI-1 without a magic. */
#ifndef TSR_FORMATS_ANALYZE_H
#define TSR_FORMATS_ANALYZE_H

#include "formats/volumes/nifti_header.h"

/* 1 for a header of 348 bytes that is none of NIfTI: nothing stands where its magic would. */
int tsr_analyze_is(const uint8_t *head, size_t bytes);
/* The .img beside a .hdr and the other way round, with or without .gz; *other NULL for another name. RETURNS NEW. */
tsr_status tsr_nifti_pair_path(const char *path, const char *from, const char *to, char **other);

#endif
