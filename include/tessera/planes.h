/* tessera/planes.h: volume files that may be larger than memory, a few planes at a time. */
#ifndef TESSERA_PLANES_H
#define TESSERA_PLANES_H

#include "tessera/filter.h"
#include "tessera/io.h"
#include "tessera/planes_source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The planes of a volume file: for what takes a source, or for a loop of the caller's. Voxels that lie
 * plainly in files stay there, packed ones are unpacked once into a file without a name. TSR_ERROR_UNSUPPORTED as tsr_volume_transfer. RETURNS NEW. */
typedef struct tsr_planes tsr_planes;
typedef struct tsr_planes_info {
    size_t struct_size;
    tsr_size3 size;
    tsr_dtype dtype;
    double slope, intercept; /* real value = slope x stored + intercept */
    tsr_geometry geometry;
} tsr_planes_info;
#define TSR_PLANES_INFO TSR_SIZED(tsr_planes_info)
/* options->memory_limit (0: 256 MiB) bounds what is unpacked at once. */
TSR_API tsr_status tsr_planes_open(const char *path, const tsr_read_options *options, tsr_planes **planes) TSR_CHECKED;
TSR_API void tsr_planes_close(tsr_planes **planes);
TSR_API tsr_status tsr_planes_describe(const tsr_planes *planes, tsr_planes_info *info) TSR_CHECKED;
/* The planes begin <= z < end to `samples`, [end - begin][size.y][size.x], in native byte order. In any order, but ascending ones are cheapest. */
TSR_API tsr_status tsr_planes_read(tsr_planes *planes, int64_t begin, int64_t end, void *samples) TSR_CHECKED;
/* The planes as a source, which BORROWS them until they are closed. */
TSR_API tsr_status tsr_planes_as_source(tsr_planes *planes, tsr_planes_source *source) TSR_CHECKED;
/* As tsr_volume_statistics of the whole, a slab at a time; sum, mean and variance agree with those to rounding. */
TSR_API tsr_status tsr_planes_statistics(tsr_context *context, tsr_planes *planes, tsr_statistics *statistics) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
