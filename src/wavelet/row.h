/* wavelet/row.h: along x in place, where the samples of a row change places: whole rows in shared memory. Included by wavelet_cuda.cu. */
#ifndef TSR_WAVELET_ROW_H
#define TSR_WAVELET_ROW_H

enum { MOST_ROW_BYTES = 160 << 10, LEAST_ROW_BYTES = 48 << 10 };

/* Of shared memory that a row may take: what the GPU gives a block, 99 KiB on some. */
static size_t row_bytes(tsr_queue *queue)
{
    size_t most = 0;
    if (tsr_block_memory(queue, &most) != TSR_OK) return LEAST_ROW_BYTES;
    return most < MOST_ROW_BYTES ? most : (size_t)MOST_ROW_BYTES;
}

/* A block takes a whole row into shared memory, so that its halves may take its place. */
template <tsr_dtype D> TSR_KERNEL(row_kernel)(axis_pass p)
{
    typedef typename element<D>::row R;
    typedef typename element<D>::sum S;
    typedef typename element<D>::memory M;
    TSR_SHARED_DYNAMIC(R, row);
    const uint32_t bits = other_bits(p.level.axes, 0, blockIdx.y);
    const int64_t n = p.level.size[0];
    int64_t rest = blockIdx.x, from[2] = { 0, 0 }, to[2] = { 0, 0 };
    uint32_t bad = 0;
    for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) {
        const int64_t count = tsr_wavelet_band_size(&p.level, bits, a);
        if (count == 0) return;
        for (uint32_t odd = 0; odd < 2; odd++) {
            from[odd] += rest % count * p.from[bits | odd].stride[a];
            to[odd] += rest % count * p.to[bits | odd].stride[a];
        }
        rest /= count;
    }
    if (rest) return; /* all threads of the block */
    for (int64_t i = threadIdx.x; i < n; i += THREADS) {
        const uint32_t band = bits | (uint32_t)(i & 1);
        row[i] = loaded<D>(((const M *)p.from[band].data)[from[i & 1] + (i >> 1) * p.from[band].stride[0]], p.raise, p.load_scale[band]);
        if (D == TSR_I16 && p.raise) bad |= TSR_LIFT_LOST(row[i]);
    }
    __syncthreads();
    for (int32_t k = 0; k < p.filter.steps; k++) {
        const tsr_lift_step &s = p.filter.step[k];
        for (int64_t i = s.parity + 2 * (int64_t)threadIdx.x; i < n; i += 2 * THREADS) {
            auto neighbour = [&](int32_t t) -> S {
                const int64_t j = tsr_lift_index(i + s.first + 2 * t, n, (int32_t)p.level.boundary);
                return j < 0 ? (S)0 : (S)row[j];
            };
            row[i] = lifted<D>(s, row[i], neighbour);
        }
        __syncthreads();
    }
    for (int64_t i = threadIdx.x; i < n; i += THREADS) {
        const uint32_t band = bits | (uint32_t)(i & 1);
        ((M *)p.to[band].data)[to[i & 1] + (i >> 1) * p.to[band].stride[0]] = stored<D>(row[i], p.lower, p.store_scale[band], &bad);
    }
    if (bad && p.lost) atomicOr(p.lost, 1u);
}

template <tsr_dtype D> static tsr_status launch_rows(tsr_queue *queue, const axis_pass &p)
{
    const size_t shared = (size_t)p.level.size[0] * sizeof(typename element<D>::row);
    int64_t rows = 1;
    uint32_t combinations = 1;
    for (int32_t a = 1; a < TSR_WAVELET_DIMENSIONS; a++) {
        rows *= tsr_wavelet_band_size(&p.level, 0, a);
        if (p.level.axes >> a & 1) combinations *= 2;
    }
    if (rows > INT32_MAX) TSR_FAIL(TSR_ERROR_UNSUPPORTED, "wavelet: %lld rows, a GPU takes at most 2^31", (long long)rows);
    TSR_LAUNCH_ALLOW_SHARED(queue, row_kernel<D>, shared);
    TSR_LAUNCH(queue, row_kernel<D>, dim3((uint32_t)rows, combinations), THREADS, shared, p);
    return TSR_OK;
}

static tsr_status run_rows(tsr_queue *queue, const axis_pass &p)
{
    switch (p.level.dtype) {
    case TSR_I16: TSR_TRY(launch_rows<TSR_I16>(queue, p)); break;
    case TSR_I32: TSR_TRY(launch_rows<TSR_I32>(queue, p)); break;
    case TSR_F32: TSR_TRY(launch_rows<TSR_F32>(queue, p)); break;
    default: TSR_TRY(launch_rows<TSR_F64>(queue, p)); break;
    }
    return TSR_OK;
}

#endif
