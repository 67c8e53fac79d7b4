/* formats/grids/vdb.h: what the two readers of OpenVDB's files know of their heads (vdb_fog.c). */
#ifndef TSR_FORMATS_VDB_H
#define TSR_FORMATS_VDB_H

#include "formats/format.h"

int tsr_vdb_is_one(const tsr_signature *signature);
/* The first grid is a fog volume. */
int tsr_vdb_is_fog(const tsr_signature *signature);

#endif
