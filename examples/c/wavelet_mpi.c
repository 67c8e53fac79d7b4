/* One wavelet transform by many processes: mpirun -n 4 wavelet_mpi VOLUME COEFFICIENTS.nrrd [FILTER [LEVELS]]. Each process maps the volume, takes its
 * slices, and transforms them with the slices that its neighbours send; the first one puts the coefficients together. They are those of `tessera dwt`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tessera/mpi.h>
#include <tessera/tessera.h>

#define TRY(call)                                                                     \
    do {                                                                              \
        if ((call) != TSR_OK) {                                                       \
            fprintf(stderr, "rank %d: %s\n", communicator.rank, tsr_error_message()); \
            MPI_Abort(world, 1);                                                      \
        }                                                                             \
    } while (0)

/* The coefficients of all processes, in host memory of rank 0; part k lies with rank k. */
static void collect(MPI_Comm world, const tsr_wavelet_domain *domain, const tsr_communicator *c, void *mine, size_t element, void *whole)
{
    tsr_wavelet_part part;
    for (int32_t k = 0; k < c->ranks; k++) {
        if (tsr_wavelet_domain_part(domain, k, &part) != TSR_OK || !part.elements) continue;
        const size_t bytes = (size_t)part.elements * element;
        const tsr_message message = { c->rank ? 0 : k, !c->rank, c->rank ? mine : malloc(bytes), (int64_t)bytes };
        if (c->rank != 0 && c->rank == k && c->exchange(c->user, &message, 1) != TSR_OK) MPI_Abort(world, 1);
        if (c->rank == 0 && k > 0 && (!message.data || c->exchange(c->user, &message, 1) != TSR_OK)) MPI_Abort(world, 1);
        if (c->rank == 0 && tsr_wavelet_domain_place(domain, k, k ? message.data : mine, whole, 1) != TSR_OK) MPI_Abort(world, 1);
        if (!c->rank) free(message.data);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    const tsr_communicator communicator = tsr_mpi_communicator(&world);
    tsr_context_options on_cpu = TSR_CONTEXT_OPTIONS;
    tsr_wavelet_options options = TSR_WAVELET_OPTIONS;
    tsr_context *context = NULL;
    tsr_volume *volume = NULL, *coefficients = NULL;
    tsr_wavelet_domain *domain = NULL;
    tsr_wavelet_part part;
    if (argc < 3) {
        if (!communicator.rank) fprintf(stderr, "usage: %s VOLUME COEFFICIENTS.nrrd [FILTER [LEVELS]]\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    on_cpu.device = "cpu";
    on_cpu.threads = 1;
    if (argc > 3) TRY(tsr_wavelet_filter_parse(argv[3], &options.filter));
    if (argc > 4) options.levels = atoi(argv[4]);
    TRY(tsr_context_create(&on_cpu, &context));
    TRY(tsr_volume_read(argv[1], NULL, &volume)); /* mapped: what is not looked at is not read */
    const tsr_dtype dtype = tsr_volume_dtype(volume);
    const tsr_size3 extents = tsr_volume_size(volume);
    const int64_t size[3] = { extents.x, extents.y, extents.z };
    TRY(tsr_wavelet_domain_create(&context, 1, &communicator, dtype, 3, size, &options, &domain));
    TRY(tsr_wavelet_domain_part(domain, communicator.rank, &part));

    const size_t element = tsr_dtype_size(dtype), bytes = (size_t)part.elements * element;
    void *result = malloc(bytes + 1);
    const int64_t slice = part.elements ? part.elements / (part.end - part.begin) : 0;
    const void *samples = (const char *)tsr_volume_data_const(volume) + (size_t)(part.begin * slice) * element;
    const double begin = MPI_Wtime();
    TRY(tsr_wavelet_domain_forward(domain, &samples, &result));
    MPI_Barrier(world);
    printf("rank %d of %d: slices %lld to %lld, %lld bytes from neighbours, %.1f ms\n", communicator.rank, communicator.ranks, (long long)part.begin,
           (long long)part.end, (long long)part.exchanged_bytes, 1e3 * (MPI_Wtime() - begin));

    if (!communicator.rank) TRY(tsr_volume_create(NULL, dtype, extents, tsr_volume_geometry(volume), &coefficients));
    collect(world, domain, &communicator, result, element, coefficients ? tsr_volume_data(coefficients) : NULL);
    if (!communicator.rank) {
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.overwrite = 1;
        TRY(tsr_volume_write(coefficients, argv[2], &write));
    }
    free(result);
    tsr_wavelet_domain_destroy(&domain);
    tsr_volume_destroy(&coefficients);
    tsr_volume_destroy(&volume);
    tsr_context_destroy(&context);
    MPI_Finalize();
    return 0;
}
