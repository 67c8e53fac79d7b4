/* device/block_memory.h: how much shared memory a kernel may ask for. Included by .cu files that can do with less. */
#ifndef TSR_DEVICE_BLOCK_MEMORY_H
#define TSR_DEVICE_BLOCK_MEMORY_H

#include <stdlib.h>

#include "device/kernel.h"

/* Bytes of shared memory that a block may have: 227 KiB on compute capability 9.0, 163 on 8.0, 99 on 8.6 and 8.9. */
static inline tsr_status tsr_block_memory(tsr_queue *queue, size_t *bytes)
{
#if defined TSR_EMU
    const char *most = getenv("TESSERA_EMU_SHARED"); /* as another GPU */
    (void)queue;
    *bytes = most ? (size_t)strtoull(most, NULL, 10) : (size_t)227 << 10;
#else
    int most = 0;
    TSR_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, ((const tsr_cuda_queue *)queue)->device));
    *bytes = (size_t)most;
#endif
    return TSR_OK;
}

#endif
