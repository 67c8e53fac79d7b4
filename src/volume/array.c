/* volume/array.c: views of memory, and DLPack. */
#include "volume/array.h"

#include <stdlib.h>
#include <string.h>

#include "volume/volume.h"

tsr_array tsr_array_view(const tsr_context *context, const void *data, tsr_dtype dtype, int32_t axes, const int64_t *shape)
{
    tsr_array a = TSR_ARRAY;
    int64_t stride = 1;
    a.data = (void *)(uintptr_t)data;
    a.dtype = dtype;
    if (context) a.device = context->device;
    a.axes = axes;
    for (int32_t k = axes - 1; k >= 0; k--) {
        a.shape[k] = shape[k];
        a.stride[k] = stride;
        stride *= shape[k];
    }
    return a;
}

tsr_status tsr_array_make(void *data, tsr_dtype dtype, int32_t axes, const int64_t *shape, tsr_array *array)
{
    if (!array || (axes > 0 && !shape)) TSR_FAIL(TSR_ERROR_ARGUMENT, "array: %s is NULL", array ? "shape" : "array");
    if (axes < 0 || axes > TSR_ARRAY_AXES) TSR_FAIL(TSR_ERROR_ARGUMENT, "array: axes is %d, expected 0 to %d", axes, (int)TSR_ARRAY_AXES);
    *array = (tsr_array){ .struct_size = sizeof *array, .data = data, .dtype = dtype, .axes = axes };
    for (int32_t k = 0; k < axes; k++) array->shape[k] = shape[k];
    TSR_TRY(tsr_array_check(array, "array"));
    *array = tsr_array_view(NULL, data, dtype, axes, shape);
    return TSR_OK;
}

tsr_status tsr_array_check(const tsr_array *a, const char *name)
{
    TSR_NEEDS(name);
    if (!a) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", name);
    if (a->struct_size != sizeof *a) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: struct_size is %zu, expected sizeof(tsr_array)", name, a->struct_size);
    const size_t element = tsr_dtype_size(a->dtype);
    if (!element) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: element type %d, expected TSR_U8 to TSR_F64", name, (int)a->dtype);
    if (a->axes < 0 || a->axes > TSR_ARRAY_AXES) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: axes is %d, expected 0 to %d", name, a->axes, (int)TSR_ARRAY_AXES);
    int64_t count = 1;
    for (int32_t k = 0; k < a->axes; k++) {
        if (a->shape[k] < 0) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: shape[%d] is %lld, expected 0 or more", name, k, (long long)a->shape[k]);
        if (a->shape[k] && count > INT64_MAX / 16 / a->shape[k])
            TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: more elements than can be counted, expected a shape that fits into memory", name);
        count *= a->shape[k];
    }
    if (count && !a->data) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: data is NULL", name);
    if (count && (uintptr_t)a->data % element)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: data is not aligned to its elements of %zu bytes: copy it", name, element);
    return TSR_OK;
}

int64_t tsr_array_count(const tsr_array *a)
{
    int64_t count = a ? 1 : 0;
    for (int32_t k = 0; a && k < a->axes; k++) count *= a->shape[k];
    return count;
}

int tsr_array_contiguous(const tsr_array *a)
{
    int64_t stride = 1;
    if (!a) return 0;
    if (!tsr_array_count(a)) return 1;
    for (int32_t k = a->axes - 1; k >= 0; k--) {
        if (a->shape[k] != 1 && a->stride[k] != stride) return 0;
        stride *= a->shape[k];
    }
    return 1;
}

void tsr_array_release(tsr_array *a)
{
    if (!a) return;
    if (a->release) a->release(a->owner);
    *a = (tsr_array)TSR_ARRAY;
}

static tsr_status require_host(const tsr_array *a, const char *name)
{
    TSR_TRY(tsr_array_check(a, name));
    if (a->device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: lies on %s, expected memory of the host", name, tsr_device_kind_name(a->device.kind));
    return TSR_OK;
}

tsr_status tsr_array_copy(const tsr_array *from, const tsr_array *to)
{
    TSR_NEEDS(from, to);
    TSR_TRY(require_host(from, "from"));
    TSR_TRY(require_host(to, "to"));
    if (to->read_only) TSR_FAIL(TSR_ERROR_ARGUMENT, "to: is read-only");
    if (from->dtype != to->dtype || from->axes != to->axes || memcmp(from->shape, to->shape, sizeof *from->shape * (size_t)from->axes) != 0)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "to: another type or shape than from, expected the same");
    const size_t element = tsr_dtype_size(from->dtype);
    const int64_t count = tsr_array_count(from), run = from->axes ? from->shape[from->axes - 1] : 1;
    const int32_t last = from->axes - 1;
    const int64_t step[2] = { last < 0 ? 1 : from->stride[last], last < 0 ? 1 : to->stride[last] };
    int64_t at[TSR_ARRAY_AXES] = { 0 };
    const char *f = (const char *)from->data;
    char *t = (char *)to->data;
    for (int64_t row = 0; count && row < count / run; row++) {
        int64_t of = 0, ot = 0;
        for (int32_t k = 0; k < last; k++) {
            of += at[k] * from->stride[k];
            ot += at[k] * to->stride[k];
        }
        const char *a = f + of * (int64_t)element;
        char *b = t + ot * (int64_t)element;
        if (step[0] == 1 && step[1] == 1) memcpy(b, a, (size_t)run * element);
        else
            for (int64_t i = 0; i < run; i++) memcpy(b + i * step[1] * (int64_t)element, a + i * step[0] * (int64_t)element, element);
        for (int32_t k = last - 1; k >= 0 && ++at[k] == from->shape[k]; k--) at[k] = 0;
    }
    return TSR_OK;
}

tsr_status tsr_array_settle(const tsr_context *context, int dtype, int writable, const char *name, tsr_array *a)
{
    const tsr_device device = context ? context->device : (tsr_device){ TSR_DEVICE_CPU, 0 };
    TSR_TRY(tsr_array_check(a, name));
    if (dtype >= 0 && a->dtype != (tsr_dtype)dtype)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: elements of %s, expected %s", name, tsr_dtype_name(a->dtype), tsr_dtype_name((tsr_dtype)dtype));
    if (a->device.kind != device.kind || (device.kind != TSR_DEVICE_CPU && a->device.index != device.index))
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s: lies on %s:%d, expected %s:%d, where the context works: copy it there first", name,
                 tsr_device_kind_name(a->device.kind), a->device.index, tsr_device_kind_name(device.kind), device.index);
    if (tsr_array_contiguous(a) && !(writable && a->read_only)) return TSR_OK;
    if (device.kind != TSR_DEVICE_CPU)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "%s: has gaps between its rows or is read-only, expected contiguous memory that may be written on %s", name,
                 tsr_device_kind_name(device.kind));
    const size_t bytes = (size_t)tsr_max64(tsr_array_count(a), 1) * tsr_dtype_size(a->dtype);
    void *data = malloc(bytes);
    if (!data) TSR_FAIL(TSR_ERROR_MEMORY, "%s: out of host memory (%zu bytes asked for)", name, bytes);
    tsr_array plain = tsr_array_view(context, data, a->dtype, a->axes, a->shape);
    plain.release = free;
    plain.owner = data;
    const tsr_status status = tsr_array_copy(a, &plain);
    if (status != TSR_OK) {
        free(data);
        TSR_TRY(status);
    }
    if (a->release) a->release(a->owner);
    *a = plain;
    return TSR_OK;
}

/* ---- volumes and images ------------------------------------------------------------------------------------------------------------ */

tsr_status tsr_volume_array(const tsr_volume *v, tsr_array *array)
{
    if (!v || !array) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", v ? "array" : "volume");
    const int64_t shape[3] = { v->size.z, v->size.y, v->size.x };
    *array = tsr_array_view(v->context, v->data, v->dtype, 3, shape);
    array->read_only = v->read_only;
    return TSR_OK;
}

static void release_kept(void *user, void *data)
{
    tsr_array *kept = (tsr_array *)user;
    (void)data;
    tsr_array_release(kept);
    free(kept);
}

tsr_status tsr_volume_from_array(tsr_context *context, tsr_array *array, const tsr_geometry *geometry, tsr_volume **volume)
{
    TSR_RETURNS(volume);
    tsr_status status;
    if (!volume || !array) {
        tsr_array_release(array);
        TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", volume ? "array" : "volume");
    }
    tsr_array *kept = (tsr_array *)malloc(sizeof *kept);
    TSR_TRY_GOTO(kept ? TSR_OK : TSR_FAILED(TSR_ERROR_MEMORY, "array: out of host memory"), fail);
    TSR_TRY_GOTO(tsr_array_settle(context, -1, 0, "array", array), fail);
    if (array->axes < 1 || array->axes > 3) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "array: %d axes, expected 1 to 3", array->axes);
    if (!tsr_array_count(array)) TSR_FAIL_GOTO(TSR_ERROR_ARGUMENT, fail, "array: no elements, expected extents above 0");
    const int32_t n = array->axes;
    const tsr_size3 size = { array->shape[n - 1], n > 1 ? array->shape[n - 2] : 1, n > 2 ? array->shape[n - 3] : 1 };
    *kept = *array;
    *array = (tsr_array)TSR_ARRAY;
    TSR_TRY(tsr_volume_wrap(context, kept->dtype, size, geometry, kept->data, release_kept, kept, volume));
    (*volume)->read_only = kept->read_only;
    return TSR_OK;
fail:
    free(kept);
    tsr_array_release(array);
    return status;
}

tsr_status tsr_image_array(const tsr_image *image, tsr_array *array)
{
    if (!image || !array) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", image ? "array" : "image");
    const int64_t shape[3] = { image->height, image->width, image->channels };
    *array = tsr_array_view(NULL, image->pixels, TSR_U8, 3, shape);
    return TSR_OK;
}

tsr_status tsr_video_plane_array(const tsr_video_frame *frame, int32_t plane, tsr_array *array)
{
    if (!frame || !array) TSR_FAIL(TSR_ERROR_ARGUMENT, "%s is NULL", frame ? "array" : "frame");
    if (plane < 0 || plane >= frame->planes) TSR_FAIL(TSR_ERROR_ARGUMENT, "plane is %d, expected 0 to %d", plane, frame->planes - 1);
    const int64_t shape[2] = { frame->height[plane], frame->width[plane] };
    *array = tsr_array_view(NULL, frame->plane[plane], frame->format.bits > 8 ? TSR_U16 : TSR_U8, 2, shape);
    return TSR_OK;
}

/* ---- DLPack ---------------------------------------------------------------------------------------------------------------------------- */

enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_PINNED = 3, DLPACK_READ_ONLY = 1 };

struct exported {
    tsr_dlpack dlpack;
    tsr_array array;
    int64_t shape[TSR_ARRAY_AXES], stride[TSR_ARRAY_AXES];
};

static void delete_exported(tsr_dlpack *self)
{
    struct exported *e = (struct exported *)self->manager_ctx;
    tsr_array_release(&e->array);
    free(e);
}

tsr_status tsr_array_to_dlpack(tsr_array *array, tsr_dlpack **dlpack)
{
    TSR_RETURNS(dlpack);
    TSR_NEEDS(array);
    static const uint8_t code[TSR_DTYPE_COUNT] = { 1, 0, 1, 0, 1, 0, 1, 0, 2, 2 };
    TSR_TRY(tsr_array_check(array, "array"));
    struct exported *e = (struct exported *)calloc(1, sizeof *e);
    if (!e) TSR_FAIL(TSR_ERROR_MEMORY, "array: out of host memory (%zu bytes asked for)", sizeof *e);
    memcpy(e->shape, array->shape, sizeof e->shape);
    memcpy(e->stride, array->stride, sizeof e->stride);
    e->dlpack.version.major = 1;
    e->dlpack.manager_ctx = e;
    e->dlpack.deleter = delete_exported;
    e->dlpack.flags = array->read_only ? DLPACK_READ_ONLY : 0;
    e->dlpack.tensor.data = array->data;
    e->dlpack.tensor.device.type = array->device.kind == TSR_DEVICE_CUDA ? DLPACK_CUDA : DLPACK_CPU; /* the emulator's memory is the host's */
    e->dlpack.tensor.device.id = array->device.kind == TSR_DEVICE_CUDA ? array->device.index : 0;
    e->dlpack.tensor.ndim = array->axes;
    e->dlpack.tensor.dtype.code = code[array->dtype];
    e->dlpack.tensor.dtype.bits = (uint8_t)(8 * tsr_dtype_size(array->dtype));
    e->dlpack.tensor.dtype.lanes = 1;
    e->dlpack.tensor.shape = e->shape;
    e->dlpack.tensor.strides = e->stride;
    e->array = *array;
    *array = (tsr_array)TSR_ARRAY;
    *dlpack = &e->dlpack;
    return TSR_OK;
}

static void delete_imported(void *owner)
{
    tsr_dlpack *d = (tsr_dlpack *)owner;
    if (d->deleter) d->deleter(d);
}

static tsr_status import(const tsr_dlpack *d, tsr_array *a)
{
    if (d->version.major != 1)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "dlpack: version %u.%u, expected 1.x", d->version.major, d->version.minor);
    const int32_t device = d->tensor.device.type;
    if (device != DLPACK_CPU && device != DLPACK_CUDA && device != DLPACK_PINNED)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "dlpack: memory of device type %d, expected 1 (CPU), 2 (CUDA) or 3 (pinned)", device);
    if (d->tensor.ndim < 0 || d->tensor.ndim > TSR_ARRAY_AXES)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "dlpack: %d axes, expected 0 to %d", d->tensor.ndim, (int)TSR_ARRAY_AXES);
    int type = -1;
    const int code = d->tensor.dtype.code, bits = d->tensor.dtype.bits;
    if (d->tensor.dtype.lanes == 1 && (code == 0 || code == 1))
        type = bits == 8 ? TSR_U8 : bits == 16 ? TSR_U16 : bits == 32 ? TSR_U32 : bits == 64 ? TSR_U64 : -1;
    if (type >= 0 && code == 0) type++; /* each signed type follows its unsigned one */
    if (d->tensor.dtype.lanes == 1 && code == 2) type = bits == 32 ? TSR_F32 : bits == 64 ? TSR_F64 : -1;
    if (d->tensor.dtype.lanes == 1 && code == 6 && bits == 8) type = TSR_U8;
    if (type < 0)
        TSR_FAIL(TSR_ERROR_UNSUPPORTED, "dlpack: elements of code %d, %d bits, %d lanes, expected integers of 8 to 64 bits, float32 or float64", code, bits,
                 d->tensor.dtype.lanes);
    if (d->tensor.ndim && !d->tensor.shape) TSR_FAIL(TSR_ERROR_ARGUMENT, "dlpack: the shape is NULL");
    tsr_array view = tsr_array_view(NULL, (const char *)d->tensor.data + d->tensor.byte_offset, (tsr_dtype)type, d->tensor.ndim, d->tensor.shape);
    if (device == DLPACK_CUDA) view.device = (tsr_device){ TSR_DEVICE_CUDA, d->tensor.device.id };
    if (d->tensor.strides) memcpy(view.stride, d->tensor.strides, sizeof *view.stride * (size_t)d->tensor.ndim);
    view.read_only = (d->flags & DLPACK_READ_ONLY) != 0;
    TSR_TRY(tsr_array_check(&view, "dlpack"));
    *a = view;
    return TSR_OK;
}

tsr_status tsr_array_from_dlpack(tsr_dlpack **dlpack, tsr_array *array)
{
    tsr_dlpack *d = dlpack ? *dlpack : NULL;
    if (dlpack) *dlpack = NULL;
    tsr_status status = !d || !array ? TSR_FAILED(TSR_ERROR_ARGUMENT, "%s is NULL", d ? "array" : "dlpack") : import(d, array);
    if (status != TSR_OK) {
        if (d) delete_imported(d);
        if (array) *array = (tsr_array)TSR_ARRAY;
        TSR_TRY(status);
    }
    array->release = delete_imported;
    array->owner = d;
    return TSR_OK;
}
