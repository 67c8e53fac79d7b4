/* formats/points/e57.h: the writer of E57 files (e57_write.c), whose reader is e57.c. */
#ifndef TSR_FORMATS_E57_H
#define TSR_FORMATS_E57_H

#include "formats/format.h"

tsr_status tsr_e57_write(const tsr_points *points, const char *path, const tsr_write_options *options);

#endif
