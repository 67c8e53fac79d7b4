/* formats/images/exr_notes.h: what an EXR header says beside the pixels (exr_notes.c). */
#ifndef TSR_FORMATS_EXR_NOTES_H
#define TSR_FORMATS_EXR_NOTES_H

#include "volume/volume.h"

#include <openexr.h>

/* Attributes that are texts become metadata, "exr.comments" ...; those that tessera wrote the metadata and the place that they were. The width of a pixel by its height
 * is the spacing where nothing else says it. */
tsr_status tsr_exr_take_notes(exr_const_context_t context, int part, tsr_volume *volume);
/* The other way. 0: OpenEXR failed. */
int tsr_exr_put_notes(exr_context_t context, int part, const tsr_volume *volume);

#endif
