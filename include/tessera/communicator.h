/* tessera/communicator.h: how the processes of a job, its ranks, exchange memory. A caller supplies one from whatever its job runs on; tessera/mpi.h
 * makes one of an MPI communicator. */
#ifndef TESSERA_COMMUNICATOR_H
#define TESSERA_COMMUNICATOR_H

#include "tessera/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tsr_message {
    int32_t rank;  /* the other one */
    int receive;   /* 1: from it, 0: to it */
    void *data;    /* host memory; BORROWS, until the exchange returns */
    int64_t bytes; /* the same on both sides */
} tsr_message;

/* All functions are called by all ranks in the same order, from one thread. What one rank sends to another arrives in the order in which
 * both list it. */
typedef struct tsr_communicator {
    int32_t rank, ranks; /* 0 <= rank < ranks */
    void *user;
    /* All messages at once; returns when what is to be received is there and what is to be sent may be changed. TSR_ERROR_IO if that fails. A
     * rank that cannot take part must not leave the others waiting. */
    tsr_status (*exchange)(void *user, const tsr_message *messages, int32_t count);
    /* *worst: of all ranks the least (tsr_status: failures are negative). */
    tsr_status (*agree)(void *user, int32_t *worst);
} tsr_communicator;

#ifdef __cplusplus
}
#endif
#endif
