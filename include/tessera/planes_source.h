/* tessera/planes_source.h: samples that come plane by plane: a file larger than memory (tsr_planes_as_source), or a function that is evaluated. What takes them:
 * tsr_surface_extract_source, tsr_points_from_source, tsr_mip_build_file. */
#ifndef TESSERA_PLANES_SOURCE_H
#define TESSERA_PLANES_SOURCE_H

#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_planes_source {
    size_t struct_size;
    tsr_size3 size; /* of the whole volume */
    tsr_dtype dtype;
    double slope, intercept;      /* real value = slope x sample + intercept; slope 0 counts as 1 */
    const tsr_geometry *geometry; /* BORROWS; NULL: unit spacing */
    /* Writes the planes begin <= z < end to `samples`, [end - begin][size.y][size.x]. Called from the calling thread with ascending planes, each
     * plane once. A failure ends the work and is passed on. */
    tsr_status (*planes)(void *user, int64_t begin, int64_t end, void *samples);
    void *user;
} tsr_planes_source;
#define TSR_PLANES_SOURCE TSR_SIZED(tsr_planes_source)

#ifdef __cplusplus
}
#endif
#endif
