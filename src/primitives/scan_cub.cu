/* primitives/scan_cub.cu: long scans of 32-bit words on the CUDA backend are CUB's (measured 4 % faster at 2^28; integers, so the same bits);
 * every other scan, and the emulator's, is our own, which is faster there. */
#include "primitives/primitives_cuda.h"

#ifdef TSR_EMU

size_t tsr_cuda_scan_bytes(int64_t count) { return tsr_cuda_scan_own_bytes(count); }
tsr_status tsr_cuda_scan(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                         void *workspace)
{
    TSR_TRY(tsr_cuda_scan_own(queue, inclusive, data_type, data, count, sum_type, sums, workspace));
    return TSR_OK;
}

#else

#include <cub/device/device_scan.cuh>

enum { CUB_LEAST = 1 << 24 };

/* With memory NULL only sets *bytes. */
static cudaError_t run(void *memory, size_t *bytes, int inclusive, const uint32_t *data, uint32_t *sums, int64_t count, cudaStream_t stream)
{
    if (inclusive) return cub::DeviceScan::InclusiveSum(memory, *bytes, data, sums, count, stream);
    return cub::DeviceScan::ExclusiveSum(memory, *bytes, data, sums, count, stream);
}

static size_t cub_bytes(int64_t count)
{
    size_t most = 0, bytes = 0;
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        if (run(nullptr, &bytes, inclusive, nullptr, nullptr, count, nullptr) != cudaSuccess) cudaGetLastError(); /* the scan will report it */
        most = bytes > most ? bytes : most;
    }
    return most;
}

size_t tsr_cuda_scan_bytes(int64_t count)
{
    const size_t own = tsr_cuda_scan_own_bytes(count), cub = count >= CUB_LEAST ? cub_bytes(count) : 0;
    return cub > own ? cub : own;
}

tsr_status tsr_cuda_scan(tsr_queue *queue, int inclusive, tsr_dtype data_type, const void *data, int64_t count, tsr_dtype sum_type, void *sums,
                         void *workspace)
{
    if (count < CUB_LEAST || data_type != TSR_U32 || sum_type != TSR_U32)
        TSR_TRY(tsr_cuda_scan_own(queue, inclusive, data_type, data, count, sum_type, sums, workspace));
    else {
        size_t bytes = cub_bytes(count);
        TSR_CUDA(run(workspace, &bytes, inclusive, (const uint32_t *)data, (uint32_t *)sums, count, tsr_cuda_stream(queue)));
    }
    return TSR_OK;
}

#endif
