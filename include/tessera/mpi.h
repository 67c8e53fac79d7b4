/* tessera/mpi.h: a tsr_communicator out of an MPI communicator. Everything stands here, as static functions: the library itself neither links MPI nor
 * knows which one you have. Compile with your MPI's compiler wrapper (mpicc) or flags. tessera.h does not include it. */
#ifndef TESSERA_MPI_H
#define TESSERA_MPI_H

#include <mpi.h>
#include <stdlib.h>

#include "tessera/device.h"

/* MPI counts are ints: larger messages go in pieces. */
enum { TSR_MPI_PIECE = 1 << 30 };

/* A rank without memory for its requests ends the job, as MPI's own errors do unless asked otherwise. */
static inline tsr_status tsr_mpi_exchange(void *user, const tsr_message *messages, int32_t count)
{
    MPI_Comm comm = *(MPI_Comm *)user;
    int64_t pieces = 0, posted = 0;
    int good = 1;
    for (int32_t k = 0; k < count; k++) pieces += (messages[k].bytes + TSR_MPI_PIECE - 1) / TSR_MPI_PIECE;
    if (!pieces) return TSR_OK;
    MPI_Request *requests = (MPI_Request *)malloc((size_t)pieces * sizeof *requests);
    if (!requests || pieces > 0x7fffffff) MPI_Abort(comm, 1); /* the others would wait for what is never posted */
    for (int receive = 1; receive >= 0; receive--) /* what is received is posted first */
        for (int32_t k = 0; k < count; k++)
            for (int64_t at = 0; at < messages[k].bytes && messages[k].receive == receive; at += TSR_MPI_PIECE) {
                const int64_t left = messages[k].bytes - at;
                const int n = (int)(left < TSR_MPI_PIECE ? left : TSR_MPI_PIECE);
                char *p = (char *)messages[k].data + at;
                requests[posted] = MPI_REQUEST_NULL; /* where nothing is posted, nothing is waited for */
                good &= (receive ? MPI_Irecv(p, n, MPI_BYTE, messages[k].rank, 0x7e55, comm, &requests[posted])
                                 : MPI_Isend(p, n, MPI_BYTE, messages[k].rank, 0x7e55, comm, &requests[posted])) == MPI_SUCCESS;
                posted++;
            }
    good &= MPI_Waitall((int)posted, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
    free(requests);
    return good ? TSR_OK : TSR_ERROR_IO;
}

static inline tsr_status tsr_mpi_agree(void *user, int32_t *worst)
{
    int32_t least = *worst;
    if (MPI_Allreduce(worst, &least, 1, MPI_INT32_T, MPI_MIN, *(MPI_Comm *)user) != MPI_SUCCESS) return TSR_ERROR_IO;
    *worst = least;
    return TSR_OK;
}

/* KEEPS the pointer: the MPI communicator must stay while the other one is used. */
static inline tsr_communicator tsr_mpi_communicator(MPI_Comm *comm)
{
    tsr_communicator c = { 0, 1, comm, tsr_mpi_exchange, tsr_mpi_agree };
    int rank = 0, ranks = 1;
    MPI_Comm_rank(*comm, &rank);
    MPI_Comm_size(*comm, &ranks);
    c.rank = rank;
    c.ranks = ranks;
    return c;
}

#endif
