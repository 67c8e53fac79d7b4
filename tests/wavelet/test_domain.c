/* One transform in parts: over contexts of one process, and over ranks (threads that talk through a board, each with contexts of its own). The bits
 * of one device, whatever the cut. */
#define TEST_BESIDE_CPU
#include "context.h"

#include <pthread.h>

#include "device/backend.h"

/* ---- ranks that are threads ------------------------------------------------------------------------------------------------------------- */

enum { RANKS = 4, MOST = 512 };

enum { EXCHANGE = 1, AGREE };

typedef struct board {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int32_t here, round, doing[RANKS], gone, broken; /* ranks that arrived, how often all did, and what for; whether one is back home, or strays */
    const tsr_message *messages[RANKS];
    int32_t count[RANKS], worst[RANKS], ranks;
} board;

typedef struct seat {
    board *board;
    int32_t rank;
} seat;

/* All ranks meet for the same purpose. Where an MPI job would hang (one has gone, or is here for something else), it is said. */
static tsr_status meet(const seat *s, int32_t purpose)
{
    board *b = s->board;
    pthread_mutex_lock(&b->mutex);
    const int32_t round = b->round;
    b->doing[s->rank] = purpose;
    if (++b->here == b->ranks) {
        for (int32_t k = 0; k < b->ranks; k++) b->broken |= b->doing[k] != purpose;
        b->here = 0;
        b->round++;
        pthread_cond_broadcast(&b->changed);
    }
    while (b->round == round && !b->gone && !b->broken) pthread_cond_wait(&b->changed, &b->mutex);
    if (b->round == round) b->broken = 1;
    const tsr_status status = b->broken ? TSR_ERROR_STATE : TSR_OK;
    if (b->broken) pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    return status;
}

static void leave(board *b)
{
    pthread_mutex_lock(&b->mutex);
    b->gone = 1;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

/* Everybody pins up what it has; everybody takes what is for it: message k from A to B is what B lists as k-th from A. */
static tsr_status board_exchange(void *user, const tsr_message *messages, int32_t count)
{
    const seat *s = (const seat *)user;
    board *b = s->board;
    int32_t taken[RANKS] = { 0 };
    tsr_status status = TSR_OK;
    b->messages[s->rank] = messages;
    b->count[s->rank] = count;
    TSR_TRY(meet(s, EXCHANGE));
    for (int32_t k = 0; k < count; k++) {
        const tsr_message *m = &messages[k];
        int32_t skip = m->receive ? taken[m->rank]++ : 0, at = 0;
        if (!m->receive) continue;
        for (; at < b->count[m->rank]; at++) {
            const tsr_message *sent = &b->messages[m->rank][at];
            if (!sent->receive && sent->rank == s->rank && !skip--) break;
        }
        if (at == b->count[m->rank] || b->messages[m->rank][at].bytes != m->bytes) status = TSR_ERROR_IO;
        else memcpy(m->data, b->messages[m->rank][at].data, (size_t)m->bytes);
    }
    TSR_TRY(meet(s, EXCHANGE));
    return status;
}

static tsr_status board_agree(void *user, int32_t *worst)
{
    const seat *s = (const seat *)user;
    board *b = s->board;
    b->worst[s->rank] = *worst;
    TSR_TRY(meet(s, AGREE));
    for (int32_t k = 0; k < b->ranks; k++) *worst = b->worst[k] < *worst ? b->worst[k] : *worst;
    TSR_TRY(meet(s, AGREE));
    return TSR_OK;
}

/* ---- one case ------------------------------------------------------------------------------------------------------------------------------ */

typedef struct trial {
    tsr_dtype dtype;
    int32_t dimensions, contexts, ranks;
    int64_t size[3];
    tsr_wavelet_options options;
    const char *samples; /* of the whole */
    char *coefficients, *back;
    seat seat;
    enum { NOTHING, NO_ARRAY, NO_QUEUE } missing; /* to rank 1, on the way there or back */
    int missing_way;
    tsr_status expected;
} trial;

static tsr_status no_queue(tsr_queue *queue)
{
    (void)queue;
    return TSR_ERROR_DEVICE;
}

/* One way of the transform, on rank 1 with what the trial takes away from it. */
static tsr_status transform(const trial *t, tsr_wavelet_domain *d, tsr_context *first, int way, int32_t rank, void **in, void **out)
{
    const tsr_backend *sound = first->backend;
    tsr_backend broken = *sound;
    void *nowhere[8] = { NULL }, **to = way ? in : out;
    broken.synchronize = no_queue;
    if (rank == 1 && way == t->missing_way && t->missing == NO_ARRAY) to = nowhere;
    if (rank == 1 && way == t->missing_way && t->missing == NO_QUEUE) first->backend = &broken;
    const tsr_status status =
        way ? tsr_wavelet_domain_inverse(d, (const void *const *)out, to) : tsr_wavelet_domain_forward(d, (const void *const *)in, to);
    first->backend = sound;
    return status;
}

/* What one rank does: failures are returned, as cmocka's leave of one thread would be for another. */
static tsr_status run_rank(const trial *t, const tsr_communicator *communicator, tsr_status expected)
{
    tsr_context *contexts[8] = { NULL };
    void *in[8] = { NULL }, *out[8] = { NULL };
    size_t bytes[8] = { 0 };
    const char *device = getenv("TESSERA_DEVICE");
    const int32_t gpus = device && !strcmp(device, "cuda") ? tsr_device_count(TSR_DEVICE_CUDA, NULL) : 0;
    const size_t element = tsr_dtype_size(t->dtype);
    tsr_wavelet_domain *d = NULL;
    tsr_status status = TSR_OK;
    for (int k = 0; k < t->contexts && status == TSR_OK; k++) {
        tsr_context_options o = TSR_CONTEXT_OPTIONS;
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", gpus ? ((communicator ? communicator->rank : 0) + k) % gpus : 0); /* parts on all of them by turns */
        o.device = gpus ? name : device && *device ? device : "cpu";
        o.threads = 1;
        status = tsr_context_create(&o, &contexts[k]);
    }
    if (status == TSR_OK) status = tsr_wavelet_domain_create(contexts, t->contexts, communicator, t->dtype, t->dimensions, t->size, &t->options, &d);
    for (int way = 0; way < 2 && status == TSR_OK; way++) {
        for (int32_t k = 0; k < t->contexts && status == TSR_OK; k++) {
            tsr_wavelet_part p;
            const int32_t number = (communicator ? communicator->rank : 0) * t->contexts + k;
            status = tsr_wavelet_domain_part(d, number, &p);
            if (status != TSR_OK || !p.elements || way) continue;
            bytes[k] = (size_t)p.elements * element;
            status = tsr_device_allocate(contexts[k], bytes[k], &in[k]);
            if (status == TSR_OK) status = tsr_device_allocate(contexts[k], bytes[k], &out[k]);
            const char *mine = t->samples + (size_t)(p.elements / (p.end - p.begin) * p.begin) * element;
            if (status == TSR_OK) status = tsr_device_move(contexts[k], in[k], NULL, mine, bytes[k]);
        }
        if (status == TSR_OK && !way) status = transform(t, d, contexts[0], way, communicator ? communicator->rank : 0, in, out);
        if (status != TSR_OK && status == expected) break;
        for (int32_t k = 0; k < t->contexts && status == TSR_OK && way; k++) /* the way back does not see the samples */
            if (bytes[k]) status = contexts[k]->backend->fill(contexts[k]->queue, in[k], 0x55, bytes[k]);
        if (status == TSR_OK && way) status = transform(t, d, contexts[0], way, communicator ? communicator->rank : 0, in, out);
        for (int32_t k = 0; k < t->contexts && status == TSR_OK; k++) {
            tsr_wavelet_part p;
            const int32_t number = (communicator ? communicator->rank : 0) * t->contexts + k;
            status = tsr_wavelet_domain_part(d, number, &p);
            if (!bytes[k] || status != TSR_OK) continue;
            char *host = (char *)malloc(bytes[k]), *copy = (char *)malloc(bytes[k]);
            status = tsr_device_move(NULL, host, contexts[k], way ? in[k] : out[k], bytes[k]);
            if (status == TSR_OK && way) memcpy(t->back + (size_t)(p.elements / (p.end - p.begin) * p.begin) * element, host, bytes[k]);
            if (status == TSR_OK && !way) status = tsr_wavelet_domain_place(d, number, host, t->coefficients, 1);
            if (status == TSR_OK && !way) status = tsr_wavelet_domain_place(d, number, copy, t->coefficients, 0);
            if (status == TSR_OK && !way && memcmp(copy, host, bytes[k]) != 0) status = TSR_ERROR_INTERNAL;
            free(host);
            free(copy);
        }
    }
    tsr_wavelet_domain_destroy(&d);
    for (int k = 0; k < t->contexts; k++) {
        if (in[k]) tsr_device_release(contexts[k], in[k], bytes[k]);
        if (out[k]) tsr_device_release(contexts[k], out[k], bytes[k]);
        tsr_context_destroy(&contexts[k]);
    }
    return status;
}

static void *rank_thread(void *user)
{
    const trial *t = (const trial *)user;
    seat own = t->seat;
    const tsr_communicator c = { own.rank, t->ranks, &own, board_exchange, board_agree };
    const tsr_status status = run_rank(t, &c, t->expected);
    leave(own.board);
    return (void *)(intptr_t)status;
}

static void run_trial(trial *t, tsr_status expected)
{
    if (t->ranks == 1) {
        const tsr_status status = run_rank(t, NULL, expected);
        if (status != expected) fail_msg("%s", tsr_error_trace());
        return;
    }
    board b = { .ranks = t->ranks };
    pthread_t thread[RANKS];
    trial of[RANKS];
    assert_int_equal(pthread_mutex_init(&b.mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&b.changed, NULL), 0);
    for (int32_t k = 0; k < t->ranks; k++) {
        of[k] = *t;
        of[k].seat = (seat){ &b, k };
        of[k].expected = expected;
        assert_int_equal(pthread_create(&thread[k], NULL, rank_thread, &of[k]), 0);
    }
    for (int32_t k = 0; k < t->ranks; k++) {
        void *status;
        pthread_join(thread[k], &status);
        assert_int_equal((int)(intptr_t)status, expected);
    }
    pthread_cond_destroy(&b.changed);
    pthread_mutex_destroy(&b.mutex);
}

/* The whole on one device, `context`. */
static void run_whole(const trial *t, tsr_context *on, char *coefficients, char *back)
{
    const int64_t elements = t->size[0] * t->size[1] * t->size[2];
    const size_t bytes = (size_t)elements * tsr_dtype_size(t->dtype);
    tsr_wavelet_plan *plan = NULL;
    void *in = NULL, *out = NULL;
    require_ok(tsr_wavelet_plan_create(on, t->dtype, t->dimensions, t->size, &t->options, &plan));
    require_ok(tsr_device_allocate(on, bytes, &in));
    require_ok(tsr_device_allocate(on, bytes, &out));
    require_ok(tsr_device_move(on, in, NULL, t->samples, bytes));
    require_ok(tsr_wavelet_forward(plan, in, out, NULL));
    require_ok(tsr_device_move(NULL, coefficients, on, out, bytes));
    require_ok(tsr_wavelet_inverse(plan, out, in, NULL));
    require_ok(tsr_device_move(NULL, back, on, in, bytes));
    tsr_device_release(on, in, bytes);
    tsr_device_release(on, out, bytes);
    tsr_wavelet_plan_destroy(&plan);
}

static void fill(trial *t, char *samples, uint64_t *random)
{
    const int64_t elements = t->size[0] * t->size[1] * t->size[2];
    for (int64_t i = 0; i < elements; i++) {
        const int32_t v = (int32_t)(test_random(random) % 61) - 30;
        if (t->dtype == TSR_I16) ((int16_t *)(void *)samples)[i] = (int16_t)v;
        else if (t->dtype == TSR_I32) ((int32_t *)(void *)samples)[i] = v * 1000;
        else if (t->dtype == TSR_F32) ((float *)(void *)samples)[i] = (float)v * 0.37f;
        else ((double *)(void *)samples)[i] = v * 0.123;
    }
}

/* Says which trial it was and where the first and last differences lie. */
static void require_same(const trial *t, const char *what, const char *got, const char *expected, size_t bytes)
{
    size_t first = 0, last = bytes;
    if (!memcmp(got, expected, bytes)) return;
    while (got[first] == expected[first]) first++;
    while (got[last - 1] == expected[last - 1]) last--;
    print_message(
        "%s: %s %s %dD %lldx%lldx%lld, axes %u, %d levels, boundary %d, normalise %d, %d ranks of %d contexts: bytes %zu to %zu of %zu differ\n",
        what, tsr_wavelet_filter_name(t->options.filter), tsr_dtype_name(t->dtype), t->dimensions, (long long)t->size[0], (long long)t->size[1],
        (long long)t->size[2], t->options.axes, t->options.levels, (int)t->options.boundary, t->options.normalise, t->ranks, t->contexts, first,
        last - 1, bytes);
    assert_memory_equal(got, expected, bytes);
}

static void check(trial *t, uint64_t *random)
{
    const size_t bytes = (size_t)(t->size[0] * t->size[1] * t->size[2]) * tsr_dtype_size(t->dtype);
    char *memory = (char *)malloc(7 * bytes), *samples = memory, *coefficients = memory + bytes, *back = memory + 2 * bytes;
    memset(memory, 0xee, 7 * bytes);
    fill(t, samples, random);
    t->samples = samples;
    t->coefficients = memory + 3 * bytes;
    t->back = memory + 4 * bytes;
    run_whole(t, cpu, coefficients, back);
    run_whole(t, context, memory + 5 * bytes, memory + 6 * bytes);
    require_same(t, "coefficients of the whole", memory + 5 * bytes, coefficients, bytes);
    require_same(t, "samples of the whole", memory + 6 * bytes, back, bytes);
    run_trial(t, TSR_OK);
    require_same(t, "coefficients", t->coefficients, coefficients, bytes);
    require_same(t, "samples", t->back, back, bytes);
    free(memory);
}

static void random_cuts(void **state)
{
    (void)state;
    static const tsr_dtype types[] = { TSR_I16, TSR_I32, TSR_F32, TSR_F64 };
    uint64_t random = test_seed();
    const int rounds = test_is_slow() ? 40 : 200;
    for (int round = 0; round < rounds; round++) {
        trial t = { .dtype = types[test_random(&random) % 4], .options = TSR_WAVELET_OPTIONS };
        t.dimensions = 1 + (int32_t)(test_random(&random) % 3);
        if (t.dimensions == 1 && test_random(&random) % 4) t.dimensions = 3;
        for (int a = 0; a < 3; a++) t.size[a] = a < t.dimensions ? 1 + (int64_t)(test_random(&random) % (a == t.dimensions - 1 ? 90 : 9)) : 1;
        t.options.filter = (tsr_wavelet_filter)(test_random(&random) % TSR_WAVELET_CUSTOM);
        t.options.boundary = (tsr_wavelet_boundary)(test_random(&random) % TSR_WAVELET_BOUNDARIES);
        if (t.options.boundary == TSR_WAVELET_PERIODIC)
            for (int a = 0; a < t.dimensions; a++) t.size[a] = (t.size[a] + 3) / 4 * 4;
        t.options.axes = (uint32_t)(test_random(&random) % (1u << t.dimensions));
        const int32_t most = tsr_wavelet_levels_possible(t.dimensions, t.size, t.options.axes);
        t.options.levels = 1 + (int32_t)(test_random(&random) % (t.options.boundary == TSR_WAVELET_PERIODIC ? 2 : 4));
        if (t.options.levels > most) t.options.levels = most;
        t.options.normalise = (t.dtype == TSR_F32 || t.dtype == TSR_F64) && test_random(&random) % 2;
        t.options.unchecked = 1;
        t.contexts = 1 + (int32_t)(test_random(&random) % 4);
        t.ranks = 1;
#if !defined(TSR_NO_RANKS)
        if (test_random(&random) % 2) t.ranks = 1 + (int32_t)(test_random(&random) % RANKS);
#endif
        check(&t, &random);
    }
}

/* Steps of one's own, which reach far, over more parts than there are blocks. */
static void custom_steps(void **state)
{
    (void)state;
    static const tsr_wavelet_step steps[] = {
        { .parity = 1, .sign = -1, .first = -3, .count = 6, .rounding = 8, .shift = 4, .tap = { 1, -3, 10, 10, -3, 1 } },
        { .parity = 0, .sign = 1, .first = 1, .count = 1, .rounding = 1, .shift = 1, .tap = { 1 } },
        { .parity = 1, .sign = 1, .first = -15, .count = 2, .rounding = 0, .shift = 3, .tap = { 1, 1 } }
    };
    uint64_t random = 5;
    trial t = { .dtype = TSR_I32, .dimensions = 3, .size = { 5, 4, 61 }, .options = TSR_WAVELET_OPTIONS };
    t.options.filter = TSR_WAVELET_CUSTOM;
    t.options.steps = steps;
    t.options.step_count = 3;
    for (t.ranks = 1; t.ranks <= 3; t.ranks += 2)
        for (t.contexts = 1; t.contexts <= 8; t.contexts += 3) check(&t, &random);
}

static void parts_of_it(void **state)
{
    (void)state;
    const int64_t size[3] = { 4, 4, 100 };
    tsr_wavelet_domain *d = NULL;
    tsr_context *contexts[3] = { context, context, context };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    o.levels = 2;
    require_ok(tsr_wavelet_domain_create(contexts, 3, NULL, TSR_F32, 3, size, &o, &d));
    int64_t end = 0;
    for (int32_t k = 0; k < 3; k++) {
        tsr_wavelet_part p;
        require_ok(tsr_wavelet_domain_part(d, k, &p));
        assert_int_equal(p.axis, 2);
        assert_int_equal(p.begin, end);
        assert_int_equal(p.begin % 4, 0);
        assert_int_equal(p.elements, 16 * (p.end - p.begin));
        assert_int_equal(p.halo, 4 - 2 * 1); /* legall53: steps of 1 and 1 */
        /* 2 samples on each side that has a neighbour, of 16 and of 4 elements */
        assert_int_equal(p.exchanged_bytes, (k == 1 ? 2 : 1) * 2 * (16 + 4) * 4);
        end = p.end;
    }
    assert_int_equal(end, 100);
    tsr_wavelet_part p;
    require_error(tsr_wavelet_domain_part(d, 3, &p), TSR_ERROR_ARGUMENT, "part 3, expected 0 to 2");
    const void *none[3] = { NULL, NULL, NULL };
    void *nowhere[3] = { NULL, NULL, NULL };
    require_error(tsr_wavelet_domain_forward(d, none, nowhere), TSR_ERROR_ARGUMENT, "part 0 is NULL");
    tsr_wavelet_domain_destroy(&d);
}

/* One rank's values leave 16 bits: all ranks hear of it, and none waits for another. */
static void failures(void **state)
{
    (void)state;
    enum { N = 4 * 4 * 64 };
    int16_t samples[N], coefficients[N], back[N];
    trial t = { .dtype = TSR_I16, .dimensions = 3, .contexts = 1, .ranks = 1, .size = { 4, 4, 64 }, .options = TSR_WAVELET_OPTIONS };
    for (int i = 0; i < N; i++) samples[i] = i < N - 64 ? 1 : i & 1 ? 32767 : -32768;
    t.samples = (const char *)samples;
    t.coefficients = (char *)coefficients;
    t.back = (char *)back;
    run_trial(&t, TSR_ERROR_CAPACITY);
#if !defined(TSR_NO_RANKS)
    t.ranks = 3;
    run_trial(&t, TSR_ERROR_CAPACITY);
#endif
    tsr_wavelet_domain *d = NULL;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_context *contexts[1] = { context };
    tsr_communicator c = { .rank = 2, .ranks = 2 };
    const int64_t size[4] = { 4, 4, 8, 2 };
    require_error(tsr_wavelet_domain_create(contexts, 0, NULL, TSR_I16, 3, size, &o, &d), TSR_ERROR_ARGUMENT, "0 contexts");
    require_error(tsr_wavelet_domain_create(contexts, 1, &c, TSR_I16, 3, size, &o, &d), TSR_ERROR_ARGUMENT, "rank 2 of 2");
    require_error(tsr_wavelet_domain_create(contexts, 1, NULL, TSR_I16, 4, size, &o, &d), TSR_ERROR_ARGUMENT, "4 dimensions in parts");
    o.layout = TSR_WAVELET_SPLIT;
    require_error(tsr_wavelet_domain_create(contexts, 1, NULL, TSR_I16, 3, size, &o, &d), TSR_ERROR_ARGUMENT, "layout split");
    assert_null(d);
}

#if !defined(TSR_NO_RANKS)
/* Rank 1 fails before it has told its messages, there and back: the others hear of it instead of waiting for them. */
static void failures_of_one(void **state)
{
    (void)state;
    enum { N = 4 * 4 * 64 };
    float samples[N], coefficients[N], back[N];
    trial t = { .dtype = TSR_F32, .dimensions = 3, .contexts = 1, .size = { 4, 4, 64 }, .options = TSR_WAVELET_OPTIONS };
    for (int i = 0; i < N; i++) samples[i] = (float)(i % 13);
    t.samples = (const char *)samples;
    t.coefficients = (char *)coefficients;
    t.back = (char *)back;
    for (t.ranks = 2; t.ranks <= 3; t.ranks++)
        for (t.missing_way = 0; t.missing_way < 2; t.missing_way++) {
            t.missing = NO_ARRAY;
            run_trial(&t, TSR_ERROR_ARGUMENT);
            t.missing = NO_QUEUE;
            run_trial(&t, TSR_ERROR_DEVICE);
        }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_cuts),
        cmocka_unit_test(custom_steps),
        cmocka_unit_test(parts_of_it),
#if !defined(TSR_NO_RANKS)
        cmocka_unit_test(failures_of_one),
#endif
        cmocka_unit_test(failures)
    };
    return cmocka_run_group_tests_name("test_domain", tests, set_up_both, tear_down_both);
}
