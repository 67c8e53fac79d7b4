/* volume/map.c: passes of a user's own C over the elements of a domain (tessera/map.h). */
#include "device/user_module.h"
#include "volume/volume.h"

static int good_map(const void *module)
{
    const tsr_map_module *m = (const tsr_map_module *)module;
    if (m->abi != TSR_MAP_ABI || m->inputs > TSR_MAP_ARRAYS || m->outputs > TSR_MAP_ARRAYS) return 0;
    for (uint32_t k = 0; k < m->inputs + m->outputs; k++)
        if (m->types[k] >= TSR_DTYPE_COUNT || m->types[k] < (k < m->inputs ? TSR_MAP_ANY : 0)) return 0;
    return (m->thread || m->launch) && m->outputs >= 1 && m->most <= UINT8_MAX && m->data_bytes <= TSR_MAP_DATA;
}

tsr_status tsr_map_load(const tsr_context *context, const char *path, size_t data_bytes, tsr_map *map)
{
    TSR_NEEDS(context, path, map);
    char file[4096];
    const void *found = NULL;
    *map = (tsr_map){ NULL, NULL };
    TSR_TRY(tsr_user_module_path("map", context->device.kind, path, file));
    TSR_TRY(tsr_user_module_open("map", file, "tsr_map_module_1", good_map, "TSR_MAP or TSR_CLASSIFIER of this version of tessera/map.h", &found));
    const tsr_map_module *module = (const tsr_map_module *)found;
    if (module->data_bytes != data_bytes)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "map: %s works on %llu bytes of data, given are %zu", file, (unsigned long long)module->data_bytes, data_bytes);
    map->module = module;
    return TSR_OK;
}

static tsr_map_array array_of(const tsr_volume *v)
{
    return (tsr_map_array){ v->data, { v->size.x, v->size.y, v->size.z }, v->slope, v->intercept, (int32_t)v->dtype };
}
static tsr_status check_type(const char *what, int32_t k, int32_t type, const tsr_volume *v)
{
    if (type != TSR_MAP_ANY && (int32_t)v->dtype != type)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "map: %s %d is %s, expected %s as the module has it", what, k, tsr_dtype_name(v->dtype),
                 tsr_dtype_name((tsr_dtype)type));
    return TSR_OK;
}
static int overlap(const tsr_volume *a, const tsr_volume *b)
{
    const uintptr_t p = (uintptr_t)a->data, q = (uintptr_t)b->data;
    return p < q + (uintptr_t)b->bytes && q < p + (uintptr_t)a->bytes;
}

/* What an output must be: as large as the domain and apart from all else, so that no element meets what another one writes. */
static tsr_status check_output(int32_t k, const tsr_volume *out, int64_t count, const tsr_volume *const *inputs, int32_t input_count,
                               tsr_volume *const *outputs)
{
    if (tsr_volume_count(out) != count)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "map: output %d has %lld elements, expected those of the domain, %lld", k, (long long)tsr_volume_count(out),
                 (long long)count);
    for (int32_t n = 0; n < input_count; n++)
        if (overlap(out, inputs[n]))
            TSR_FAIL(TSR_ERROR_ARGUMENT, "map: output %d shares memory with input %d, expected volumes apart: an element may read what others write",
                     k, n);
    for (int32_t n = 0; n < k; n++)
        if (overlap(out, outputs[n])) TSR_FAIL(TSR_ERROR_ARGUMENT, "map: outputs %d and %d share memory, expected volumes apart", n, k);
    return TSR_OK;
}

tsr_status tsr_map_run(tsr_context *context, const tsr_map *map, tsr_size3 domain, const tsr_volume *const *inputs, int32_t input_count,
                       tsr_volume *const *outputs, int32_t output_count)
{
    TSR_NEEDS(context);
    int64_t count;
    if (!map || !map->module) TSR_FAIL(TSR_ERROR_ARGUMENT, "map: no module: tsr_map_load fills it");
    const tsr_map_module *m = map->module;
    if (context->device.kind == TSR_DEVICE_CUDA ? !m->launch : !m->thread)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "map: the module was loaded for another kind of device than %s",
                 context->device.kind == TSR_DEVICE_CUDA ? "a GPU" : "the CPU");
    if (input_count < 0 || (uint32_t)input_count != m->inputs || output_count < 0 || (uint32_t)output_count != m->outputs)
        TSR_FAIL(TSR_ERROR_ARGUMENT, "map: %d inputs and %d outputs, expected %u and %u as the module has them", input_count, output_count, m->inputs,
                 m->outputs);
    if ((input_count && !inputs) || !outputs) TSR_FAIL(TSR_ERROR_ARGUMENT, "map: inputs or outputs is NULL");
    if (m->data_bytes && !map->data) TSR_FAIL(TSR_ERROR_ARGUMENT, "map: data is NULL, expected %llu bytes", (unsigned long long)m->data_bytes);
    TSR_TRY(tsr_size_bytes(domain, sizeof(uint64_t), "map", &count));
    tsr_map_job job = { .size = { domain.x, domain.y, domain.z } };
    for (int32_t k = 0; k < input_count; k++) {
        TSR_TRY(tsr_volume_require(context, inputs[k], "input"));
        TSR_TRY(check_type("input", k, m->types[k], inputs[k]));
        job.in[k] = array_of(inputs[k]);
    }
    for (int32_t k = 0; k < output_count; k++) {
        TSR_TRY(tsr_volume_require(context, outputs[k], "output"));
        TSR_TRY(check_type("output", k, m->types[m->inputs + (uint32_t)k], outputs[k]));
        TSR_TRY(check_output(k, outputs[k], domain.x * domain.y * domain.z, inputs, input_count, outputs));
        job.out[k] = array_of(outputs[k]);
    }
    if (m->data_bytes) memcpy(job.data, map->data, (size_t)m->data_bytes);
    TSR_TRY(context->backend->volume->map(context->queue, m, &job));
    return TSR_OK;
}
