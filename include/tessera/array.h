/* tessera/array.h: one view of memory for all that has elements in rows: what volumes, images, planes of films, point clouds and meshes give and take
 * without a copy on the same device, and what other libraries exchange as DLPack (NumPy, PyTorch, CuPy, JAX).
 *
 * Axes go from the slowest to the fastest, as in C and NumPy: a volume of extents (nx, ny, nz) is an array of shape [nz][ny][nx], an image [height][width]
 * [channels], positions [count][3]. Strides count elements and may be 0 or negative.
 * Threads: an array is a plain struct; who holds it sees to it that its owner lives. */
#ifndef TESSERA_ARRAY_H
#define TESSERA_ARRAY_H

#include "tessera/io.h"
#include "tessera/mesh.h"
#include "tessera/points.h"
#include "tessera/video.h"
#include "tessera/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSR_ARRAY_AXES = 8 };

typedef struct tsr_array {
    size_t struct_size;
    void *data; /* of element [0][0]... */
    tsr_dtype dtype;
    tsr_device device; /* where data lies */
    int32_t axes;      /* 0 (one element) to TSR_ARRAY_AXES */
    int64_t shape[TSR_ARRAY_AXES], stride[TSR_ARRAY_AXES];
    int read_only;                  /* != 0: whoever writes breaks a promise */
    void (*release)(void *owner);   /* called by tsr_array_release; NULL: a view, whose object must outlive it */
    void *owner;
} tsr_array;
#define TSR_ARRAY TSR_SIZED(tsr_array)

/* A contiguous array over host memory of the caller: a view. */
TSR_API tsr_status tsr_array_make(void *data, tsr_dtype dtype, int32_t axes, const int64_t *shape, tsr_array *array) TSR_CHECKED;
/* TSR_ERROR_ARGUMENT, naming `name` and the field, unless type, axes and shape are possible and data is there and aligned to its elements. */
TSR_API tsr_status tsr_array_check(const tsr_array *array, const char *name) TSR_CHECKED;
TSR_API int64_t tsr_array_count(const tsr_array *array);      /* elements */
TSR_API int tsr_array_contiguous(const tsr_array *array);     /* 1: rows lie one after another, the last axis fastest */
/* Lets go of what the array owns; NULL and views are fine. The struct is empty afterwards. */
TSR_API void tsr_array_release(tsr_array *array);
/* Elements of an array of the host into another one of the same type and shape, whatever their strides. */
TSR_API tsr_status tsr_array_copy(const tsr_array *from, const tsr_array *to) TSR_CHECKED;

/* ---- volumes and images -------------------------------------------------------------------------------------------------------- */

/* RETURNS VIEW of the stored values, [z][y][x]. */
TSR_API tsr_status tsr_volume_array(const tsr_volume *volume, tsr_array *array) TSR_CHECKED;
/* A volume over an array of 1 to 3 axes (missing slow ones count as 1): no copy if it is contiguous and lies on the context's device (NULL: the host), and
 * then the volume lives on the array's memory; an array of the host that is not contiguous is copied, one of a GPU is TSR_ERROR_UNSUPPORTED. COPIES geometry.
 * ADOPTS the array, also when the call fails: it is released with the volume, or at once after a copy. A read-only array gives a volume whose
 * tsr_volume_data is NULL (tsr_volume_data_const is not). RETURNS NEW. */
TSR_API tsr_status tsr_volume_from_array(tsr_context *context, tsr_array *array, const tsr_geometry *geometry, tsr_volume **volume) TSR_CHECKED;
/* RETURNS VIEW, u8 [height][width][channels]. */
TSR_API tsr_status tsr_image_array(const tsr_image *image, tsr_array *array) TSR_CHECKED;
/* RETURNS VIEW of a plane of a frame of a film, u8 or u16 [height][width]. */
TSR_API tsr_status tsr_video_plane_array(const tsr_video_frame *frame, int32_t plane, tsr_array *array) TSR_CHECKED;

/* ---- meshes and points --------------------------------------------------------------------------------------------------------- */

typedef enum tsr_mesh_array_part { TSR_MESH_ARRAY_VERTICES = 0, TSR_MESH_ARRAY_NORMALS, TSR_MESH_ARRAY_TRIANGLES, TSR_MESH_ARRAY_COLORS } tsr_mesh_array_part;
/* RETURNS VIEW: vertices and normals f32 [vertices][3], triangles u32 [triangles][3], colours u8 [vertices][4]. TSR_ERROR_STATE if the mesh has none. */
TSR_API tsr_status tsr_mesh_array(const tsr_mesh *mesh, tsr_mesh_array_part part, tsr_array *array) TSR_CHECKED;
/* A mesh over arrays of the shapes above (normals and colours may be NULL), each taken as tsr_volume_from_array takes one. RETURNS NEW. */
TSR_API tsr_status tsr_mesh_from_arrays(tsr_context *context, tsr_array *vertices, tsr_array *triangles, tsr_array *normals, tsr_array *colors,
                                        tsr_mesh **mesh) TSR_CHECKED;
typedef enum tsr_points_array_part { TSR_POINTS_ARRAY_POSITIONS = 0, TSR_POINTS_ARRAY_NORMALS, TSR_POINTS_ARRAY_RADII } tsr_points_array_part;
/* RETURNS VIEW: positions and normals f32 [count][3], radii f32 [count]. */
TSR_API tsr_status tsr_points_array(const tsr_points *points, tsr_points_array_part part, tsr_array *array) TSR_CHECKED;
TSR_API tsr_status tsr_points_from_arrays(tsr_context *context, tsr_array *positions, tsr_array *normals, tsr_array *radii, tsr_points **points) TSR_CHECKED;

/* ---- DLPack -------------------------------------------------------------------------------------------------------------------- */

/* The structs of DLPack 1.0 as its specification lays them out, under names of our own, so that no header of others is needed: a pointer to one may be cast
 * to and from DLManagedTensorVersioned. */
typedef struct tsr_dlpack {
    struct { uint32_t major, minor; } version;
    void *manager_ctx;
    void (*deleter)(struct tsr_dlpack *self);
    uint64_t flags; /* 1: read-only, 2: is a copy */
    struct {
        void *data;
        struct { int32_t type, id; } device; /* 1 CPU, 2 CUDA, 3 pinned host memory */
        int32_t ndim;
        struct { uint8_t code, bits; uint16_t lanes; } dtype; /* 0 signed, 1 unsigned, 2 float, 6 bool */
        int64_t *shape, *strides;                             /* NULL strides: contiguous */
        uint64_t byte_offset;
    } tensor;
} tsr_dlpack;

/* Hands the array on: ADOPTS it on success; whoever gets *dlpack calls its deleter. Work that was queued on the array's memory must be finished
 * (tsr_context_synchronize). RETURNS NEW. */
TSR_API tsr_status tsr_array_to_dlpack(tsr_array *array, tsr_dlpack **dlpack) TSR_CHECKED;
/* ADOPTS *dlpack, also when the call fails, and forgets it: releasing the array calls its deleter. TSR_ERROR_UNSUPPORTED for another major version, devices
 * but CPU, pinned and CUDA memory, types that tsr_dtype has not (complex, float16, several lanes), more axes than TSR_ARRAY_AXES. bool comes as u8. */
TSR_API tsr_status tsr_array_from_dlpack(tsr_dlpack **dlpack, tsr_array *array) TSR_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
