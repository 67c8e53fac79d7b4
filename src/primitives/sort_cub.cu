/* primitives/sort_cub.cu: the sort of the CUDA backend is CUB's onesweep radix sort; the emulator takes the portable one. */
#include "primitives/primitives_cuda.h"

#ifdef TSR_EMU

size_t tsr_cuda_sort_bytes(int32_t key_bytes, int payload, int64_t count) { return tsr_cuda_sort_own_bytes(key_bytes, payload, count); }
tsr_status tsr_cuda_sort(tsr_queue *queue, const tsr_sort_job *job, void *workspace)
{
    TSR_TRY(tsr_cuda_sort_own(queue, job, workspace));
    return TSR_OK;
}

#else

#include <cub/device/device_radix_sort.cuh>

/* With memory NULL only sets *bytes. */
template <class K> static cudaError_t run(void *memory, size_t *bytes, const tsr_sort_job *job, cudaStream_t stream)
{
    const K *keys = (const K *)job->keys;
    K *sorted = (K *)job->sorted_keys;
    if (job->payload)
        return cub::DeviceRadixSort::SortPairs(memory, *bytes, keys, sorted, job->payload, job->sorted_payload, job->count, job->first_bit,
                                               job->last_bit, stream);
    return cub::DeviceRadixSort::SortKeys(memory, *bytes, keys, sorted, job->count, job->first_bit, job->last_bit, stream);
}

/* Enough for any bit range, and for the portable sort. */
size_t tsr_cuda_sort_bytes(int32_t key_bytes, int payload, int64_t count)
{
    size_t bytes = 0, own = tsr_cuda_sort_own_bytes(key_bytes, payload, count);
    static const uint32_t some = 0;
    tsr_sort_job job = { key_bytes, nullptr, nullptr, payload ? &some : nullptr, nullptr, count, 0, 8 * key_bytes };
    cudaError_t error = key_bytes == 4 ? run<uint32_t>(nullptr, &bytes, &job, nullptr) : run<uint64_t>(nullptr, &bytes, &job, nullptr);
    if (error != cudaSuccess) cudaGetLastError(); /* the sort itself will report it */
    return bytes > own ? bytes : own;
}

tsr_status tsr_cuda_sort(tsr_queue *queue, const tsr_sort_job *job, void *workspace)
{
    size_t bytes = 0;
    cudaStream_t stream = tsr_cuda_stream(queue);
    if (job->first_bit == job->last_bit) { /* nothing to order: a copy */
        TSR_CUDA(cudaMemcpyAsync(job->sorted_keys, job->keys, (size_t)job->count * job->key_bytes, cudaMemcpyDeviceToDevice, stream));
        if (job->payload) TSR_CUDA(cudaMemcpyAsync(job->sorted_payload, job->payload, (size_t)job->count * 4, cudaMemcpyDeviceToDevice, stream));
        return TSR_OK;
    }
    bytes = tsr_cuda_sort_bytes(job->key_bytes, job->payload != nullptr, job->count);
    if (job->key_bytes == 4) TSR_CUDA(run<uint32_t>(workspace, &bytes, job, stream));
    else TSR_CUDA(run<uint64_t>(workspace, &bytes, job, stream));
    return TSR_OK;
}

#endif
