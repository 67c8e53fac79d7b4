/* bench/peers/cub.cu: the same work done by CUB, as a small library that bench_primitives opens. Device pointers of any other CUDA runtime of
 * the process are good here: both use the device's primary context. Each function queues one call on this library's own stream. */
#include <cub/cub.cuh>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <stdint.h>

static cudaStream_t stream;
static void *memory;
static size_t memory_bytes;

/* Asks for the temporary memory, grows it if needed (the first call of a case, outside the measurement), then runs. 0 = success. */
template <class F> static int with_memory(F call)
{
    size_t bytes = 0;
    if (!stream && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
    if (call((void *)nullptr, bytes) != cudaSuccess) return 1;
    if (bytes > memory_bytes) {
        cudaStreamSynchronize(stream);
        cudaFree(memory);
        memory_bytes = 0;
        if (cudaMalloc(&memory, bytes) != cudaSuccess) return 1;
        memory_bytes = bytes;
    }
    return call(memory, bytes) != cudaSuccess;
}

struct byte_kept {
    const uint8_t *data;
    __device__ __host__ bool operator()(uint32_t i) const { return data[i] != 0; }
};
struct add_u32 {
    __device__ __host__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct is_nonzero {
    __device__ __host__ uint32_t operator()(uint8_t v) const { return v != 0; }
};

#pragma GCC visibility push(default)
extern "C" {

int peer_synchronize(void) { return cudaStreamSynchronize(stream) != cudaSuccess; }

void peer_release(void)
{
    cudaFree(memory);
    memory = nullptr;
    memory_bytes = 0;
}

int peer_sum_u8(const uint8_t *data, int64_t n, uint32_t *result)
{
    return with_memory([=](void *m, size_t &bytes) {
        return cub::DeviceReduce::Reduce(m, bytes, data, result, n, add_u32{}, 0u, stream);
    });
}
int peer_sum_f32(const float *data, int64_t n, float *result)
{
    return with_memory([=](void *m, size_t &bytes) { return cub::DeviceReduce::Sum(m, bytes, data, result, n, stream); });
}
int peer_scan_u32(const uint32_t *data, int64_t n, uint32_t *sums)
{
    return with_memory([=](void *m, size_t &bytes) { return cub::DeviceScan::ExclusiveSum(m, bytes, data, sums, n, stream); });
}
int peer_scan_u8(const uint8_t *data, int64_t n, uint32_t *sums)
{
    return with_memory([=](void *m, size_t &bytes) {
        return cub::DeviceScan::ExclusiveScan(m, bytes, data, sums, add_u32{}, 0u, n, stream);
    });
}
int peer_select_u8(const uint8_t *data, int64_t n, uint32_t *indices, uint64_t *found)
{
    return with_memory([=](void *m, size_t &bytes) {
        return cub::DeviceSelect::If(m, bytes, thrust::counting_iterator<uint32_t>(0), indices, found, n, byte_kept{ data }, stream);
    });
}
int peer_count_u8(const uint8_t *data, int64_t n, uint32_t *found)
{
    return with_memory([=](void *m, size_t &bytes) {
        return cub::DeviceReduce::TransformReduce(m, bytes, data, found, n, add_u32{}, is_nonzero{}, 0u, stream);
    });
}
int peer_histogram_u8(const uint8_t *data, int64_t n, uint32_t *counts)
{
    return with_memory([=](void *m, size_t &bytes) { return cub::DeviceHistogram::HistogramEven(m, bytes, data, counts, 257, 0, 256, n, stream); });
}
/* offsets: [segments + 1]; keys: the segment of each element. */
int peer_segments_f32(const float *data, int64_t segments, float *results, const uint32_t *offsets)
{
    return with_memory([=](void *m, size_t &bytes) {
        return cub::DeviceSegmentedReduce::Sum(m, bytes, data, results, segments, offsets, offsets + 1, stream);
    });
}
int peer_scan_keys_u32(const uint32_t *data, int64_t n, uint32_t *sums, const uint32_t *keys)
{
    return with_memory([=](void *m, size_t &bytes) { return cub::DeviceScan::InclusiveSumByKey(m, bytes, keys, data, sums, n, thrust::equal_to<uint32_t>{}, stream); });
}
int peer_sort_u32(const uint32_t *keys, int64_t n, uint32_t *sorted)
{
    return with_memory([=](void *m, size_t &bytes) { return cub::DeviceRadixSort::SortKeys(m, bytes, keys, sorted, n, 0, 32, stream); });
}
int peer_sort_u64_pairs(const uint64_t *keys, int64_t n, uint64_t *sorted, const uint32_t *payload, uint32_t *moved)
{
    return with_memory([=](void *m, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(m, bytes, keys, sorted, payload, moved, n, 0, 64, stream);
    });
}
}
