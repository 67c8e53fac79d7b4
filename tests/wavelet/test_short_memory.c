/* Devices short of memory (docs/theory/wavelets.md 9): whatever allocation of a transform, a domain, a volume's coefficients, denoising, decoding or a run from file to
 * file the device refuses, the call says how many bytes it was, what it took goes back, results and arguments stay as they were, no file is left, and the next
 * call with memory gives the same bits as one that had it from the start. */
#include "formats/scratch.h"

#include "device/backend.h"

/* The memory of a device, through the backend's own functions, of which request number `refused` is not granted. */
typedef struct room {
    tsr_context *context;
    int64_t requests, live, refused; /* `refused` < 0: none */
    size_t bytes;                    /* of the request that was not granted */
} room;

static void *take(void *user, size_t bytes, size_t alignment)
{
    room *r = (room *)user;
    void *memory = NULL;
    assert_int_equal(alignment, 256);
    if (r->requests++ == r->refused) {
        r->bytes = bytes;
        return NULL;
    }
    require_ok(r->context->backend->allocate(r->context->queue, bytes, &memory));
    r->live++;
    return memory;
}

static void give(void *user, void *memory, size_t bytes)
{
    room *r = (room *)user;
    r->live--;
    r->context->backend->release(r->context->queue, memory, bytes);
}

static room own;
static tsr_context *context;

static int set_up(void **state)
{
    const char *device = getenv("TESSERA_DEVICE");
    tsr_context_options o = TSR_CONTEXT_OPTIONS;
    o.device = device && *device ? device : "cpu";
    o.threads = 1;
    o.device_allocator = (tsr_allocator){ take, give, &own };
    own.refused = -1;
    require_ok(tsr_context_create(&o, &context));
    own.context = context;
    return scratch_make(state);
}
static int tear_down(void **state)
{
    tsr_context_destroy(&context);
    assert_int_equal(own.live, 0);
    return scratch_remove(state);
}

/* One call in question. `run` makes it, and what it makes before lies in `user`; `check` looks at the results: after a success (1) they must be what they
 * should be, and go; after a failure (0) be as before. */
typedef struct trial {
    tsr_status (*run)(void *user);
    void (*check)(void *user, int succeeded);
    void *user;
} trial;

static int64_t try_all(const char *what, const trial *t)
{
    const int64_t live = own.live, first = own.requests, bytes = tsr_context_memory(context)->current_bytes;
    require_ok(t->run(t->user));
    const int64_t requests = own.requests - first;
    t->check(t->user, 1);
    for (int64_t k = 0; k < requests; k++) {
        char expected[64];
        own.refused = own.requests + k;
        own.bytes = 0;
        const tsr_status status = t->run(t->user);
        own.refused = -1;
        snprintf(expected, sizeof expected, "the device allocator refused %zu bytes", own.bytes);
        if (status != TSR_ERROR_MEMORY || !strstr(tsr_error_message(), expected))
            fail_msg("%s, allocation %lld: %s, '%s', expected: %s", what, (long long)k, tsr_status_name(status), tsr_error_message(), expected);
        t->check(t->user, 0);
        if (own.live != live || tsr_context_memory(context)->current_bytes != bytes)
            fail_msg("%s, allocation %lld: %lld allocations of %lld bytes are left", what, (long long)k, (long long)(own.live - live),
                     (long long)(tsr_context_memory(context)->current_bytes - bytes));
    }
    require_ok(t->run(t->user));
    t->check(t->user, 1);
    assert_int_equal(own.live, live);
    return requests;
}

/* ---- transforms in arrays ---------------------------------------------------------------------------------------------------------------------- */

enum { MOST = 40 * 24 * 12 * 4 };

typedef struct arrays {
    const tsr_wavelet_plan *plan;
    void *samples, *coefficients; /* on the device */
    size_t bytes;
    int inverse;
    char before[2][MOST], after[2][MOST]; /* samples and coefficients before and after a call that succeeds */
    int known;
} arrays;

static void upload(arrays *a)
{
    require_ok(tsr_device_move(context, a->samples, NULL, a->before[0], a->bytes));
    if (a->samples != a->coefficients) require_ok(tsr_device_move(context, a->coefficients, NULL, a->before[1], a->bytes));
}

static tsr_status transform(void *user)
{
    arrays *a = (arrays *)user;
    upload(a);
    return a->inverse ? tsr_wavelet_inverse(a->plan, a->coefficients, a->samples, NULL)
                      : tsr_wavelet_forward(a->plan, a->samples, a->coefficients, NULL);
}

static void check_arrays(void *user, int succeeded)
{
    arrays *a = (arrays *)user;
    char now[MOST];
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_device_move(NULL, now, context, k ? a->coefficients : a->samples, a->bytes));
        if (succeeded && !a->known) memcpy(a->after[k], now, a->bytes);
        assert_memory_equal(now, succeeded ? a->after[k] : a->before[a->samples == a->coefficients ? 0 : k], a->bytes);
    }
    if (succeeded) {
        const int to = a->inverse ? 0 : 1;
        if (memcmp(a->after[to], a->before[a->samples == a->coefficients ? 0 : to], a->bytes) == 0) fail_msg("the transform did nothing");
        a->known = 1;
    }
}

static void transforms(void **state)
{
    (void)state;
    static const struct {
        tsr_dtype dtype;
        int32_t dimensions;
        int64_t size[3];
        tsr_wavelet_layout layout;
        int32_t inplace;
    } cases[] = {
        { TSR_I16, 2, { 40, 24, 1 }, TSR_WAVELET_MALLAT, 0 },      { TSR_F32, 3, { 40, 24, 12 }, TSR_WAVELET_SUBBANDS, 0 },
        { TSR_I32, 3, { 17, 9, 12 }, TSR_WAVELET_INTERLEAVED, 1 }, { TSR_F32, 2, { 40, 24, 1 }, TSR_WAVELET_SPLIT, 1 },
        { TSR_I16, 1, { 301, 1, 1 }, TSR_WAVELET_MALLAT, 0 },
    };
    uint64_t random = test_seed();
    static arrays a;
    for (size_t c = 0; c < 2 * sizeof cases / sizeof *cases; c++) {
        tsr_wavelet_plan *plan = NULL;
        tsr_wavelet_info info = TSR_WAVELET_INFO;
        char what[200];
        tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
        o.layout = cases[c / 2].layout;
        o.inplace = cases[c / 2].inplace;
        require_ok(tsr_wavelet_plan_create(context, cases[c / 2].dtype, cases[c / 2].dimensions, cases[c / 2].size, &o, &plan));
        tsr_wavelet_plan_describe(plan, &info);
        tsr_wavelet_plan_print(plan, what, sizeof what);
        memset(&a, 0, sizeof a);
        a.plan = plan;
        a.inverse = (int)(c % 2);
        a.bytes = (size_t)info.elements * tsr_dtype_size(cases[c / 2].dtype);
        for (int64_t i = 0; i < info.elements; i++)
            for (int k = 0; k < 2; k++) {
                const int32_t v = (int32_t)(test_random(&random) % 200) - 100;
                if (cases[c / 2].dtype == TSR_I16) memcpy(a.before[k] + 2 * i, &(int16_t){ (int16_t)v }, 2);
                else if (cases[c / 2].dtype == TSR_I32) memcpy(a.before[k] + 4 * i, &v, 4);
                else memcpy(a.before[k] + 4 * i, &(float){ (float)v }, 4);
            }
        require_ok(tsr_device_allocate(context, a.bytes, &a.samples));
        a.coefficients = a.samples;
        if (!o.inplace) require_ok(tsr_device_allocate(context, a.bytes, &a.coefficients));
        const int64_t requests = try_all(what, &(trial){ transform, check_arrays, &a });
        assert_int_equal(requests, info.workspace_bytes > 0); /* all a transform takes is the workspace that its plan names */
        tsr_device_release(context, a.samples, a.bytes);
        if (!o.inplace) tsr_device_release(context, a.coefficients, a.bytes);
        tsr_wavelet_plan_destroy(&plan);
    }
}

/* ---- in parts -------------------------------------------------------------------------------------------------------------------------------------- */

static tsr_status in_parts(void *user)
{
    arrays *a = (arrays *)user;
    const int64_t size[3] = { 20, 12, 32 };
    tsr_context *contexts[2] = { context, context };
    tsr_wavelet_domain *d = NULL;
    void *samples[2] = { a->samples, NULL }, *coefficients[2] = { a->coefficients, NULL };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_part part;
    o.levels = 2;
    upload(a);
    tsr_status status = tsr_wavelet_domain_create(contexts, 2, NULL, TSR_I32, 3, size, &o, &d);
    if (status != TSR_OK) {
        assert_null(d);
        return status;
    }
    require_ok(tsr_wavelet_domain_part(d, 0, &part));
    samples[1] = (int32_t *)a->samples + part.elements;
    coefficients[1] = (int32_t *)a->coefficients + part.elements;
    const void *in[2] = { samples[0], samples[1] }, *parts[2] = { coefficients[0], coefficients[1] };
    status = a->inverse ? tsr_wavelet_domain_inverse(d, parts, samples) : tsr_wavelet_domain_forward(d, in, coefficients);
    tsr_wavelet_domain_destroy(&d);
    return status;
}

/* The array that is only read is as before; the other has the right bits after a success (levels done before memory ended are written). */
static void check_parts(void *user, int succeeded)
{
    arrays *a = (arrays *)user;
    char now[MOST];
    const int to = a->inverse ? 0 : 1;
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_device_move(NULL, now, context, k ? a->coefficients : a->samples, a->bytes));
        if (k != to) assert_memory_equal(now, a->before[k], a->bytes);
        else if (succeeded && !a->known) memcpy(a->after[k], now, a->bytes);
        else if (succeeded) assert_memory_equal(now, a->after[k], a->bytes);
    }
    a->known |= succeeded;
}

static void domains(void **state)
{
    (void)state;
    static arrays a;
    uint64_t random = test_seed();
    for (int inverse = 0; inverse < 2; inverse++) {
        memset(&a, 0, sizeof a);
        a.inverse = inverse;
        a.bytes = (size_t)20 * 12 * 32 * 4;
        for (size_t i = 0; i < a.bytes / 4; i++)
            for (int k = 0; k < 2; k++) memcpy(a.before[k] + 4 * i, &(int32_t){ (int32_t)(test_random(&random) % 1000) }, 4);
        require_ok(tsr_device_allocate(context, a.bytes, &a.samples));
        require_ok(tsr_device_allocate(context, a.bytes, &a.coefficients));
        assert_true(try_all("domain", &(trial){ in_parts, check_parts, &a }) >= 6); /* two arrays and a workspace a part */
        tsr_device_release(context, a.samples, a.bytes);
        tsr_device_release(context, a.coefficients, a.bytes);
    }
}

/* ---- volumes --------------------------------------------------------------------------------------------------------------------------------------------- */

enum { FORWARD, BACK, DENOISE_BAYES, DENOISE_UNIVERSAL, OPEN, DECODE, CALLS };

typedef struct volumes {
    int call;
    tsr_volume *from, *made, *kept; /* `from`: of the device; `kept`: on the host, what the call makes */
    char *before;                   /* the voxels of `from` */
    size_t bytes;
    tsr_compressed *compressed, *opened;
    double sigma;
} volumes;

static tsr_status call_volume(void *user)
{
    volumes *v = (volumes *)user;
    tsr_wavelet_options wavelet = TSR_WAVELET_OPTIONS;
    tsr_denoise_options denoise = TSR_DENOISE_OPTIONS;
    denoise.rule = v->call == DENOISE_BAYES ? TSR_DENOISE_BAYES : TSR_DENOISE_UNIVERSAL;
    denoise.shifts = test_is_slow() ? 1 : 2;
    wavelet.levels = 2;
    v->sigma = -1;
    switch (v->call) {
    case FORWARD: return tsr_volume_dwt(context, v->from, &wavelet, TSR_DTYPE_COUNT, &v->made);
    case BACK: return tsr_volume_idwt(context, v->from, &v->made);
    case OPEN: return tsr_compressed_create(context, scratch("a.tsc"), NULL, &v->opened);
    case DECODE: return tsr_compressed_decode(v->compressed, NULL, &v->made, NULL);
    default: return tsr_volume_denoise(context, v->from, &denoise, &v->made, &v->sigma);
    }
}

static void check_volume(void *user, int succeeded)
{
    volumes *v = (volumes *)user;
    const int denoised = v->call == DENOISE_BAYES || v->call == DENOISE_UNIVERSAL;
    if (v->from) {
        char *now = (char *)malloc(v->bytes);
        assert_non_null(now);
        require_ok(tsr_device_move(NULL, now, context, tsr_volume_data_const(v->from), v->bytes));
        assert_memory_equal(now, v->before, v->bytes);
        free(now);
    }
    if (!succeeded) {
        assert_null(v->made);
        assert_null(v->opened);
        assert_true(v->sigma == -1);
        return;
    }
    if (denoised) assert_true(v->sigma > 0);
    if (v->opened) require_ok(tsr_compressed_decode(v->opened, NULL, &v->made, NULL));
    tsr_compressed_destroy(&v->opened);
    tsr_volume *back = NULL;
    require_ok(tsr_volume_copy(v->made, NULL, &back));
    tsr_volume_destroy(&v->made);
    if (!v->kept) {
        v->kept = back;
        return;
    }
    assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(v->kept),
                        (size_t)tsr_volume_count(back) * tsr_dtype_size(tsr_volume_dtype(back)));
    tsr_volume_destroy(&back);
}

static tsr_volume *speckled(tsr_dtype dtype, tsr_size3 size)
{
    tsr_volume *v = NULL;
    uint64_t random = 20041;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const int value = (int)(60 + 80 * (i % size.x / 7 % 2) + (int64_t)(test_random(&random) % 20));
        if (dtype == TSR_U8) ((uint8_t *)tsr_volume_data(v))[i] = (uint8_t)value;
        else ((float *)tsr_volume_data(v))[i] = (float)value;
    }
    return v;
}

static void calls_with_volumes(void **state)
{
    (void)state;
    const int host = tsr_context_device(context).kind == TSR_DEVICE_CPU;
    const tsr_compress_options compress = {
        .struct_size = sizeof compress, .coder = TSR_COMPRESS_RANS, .brick = { 16, 16, 16 }, .levels = 2, .overwrite = 1, .threads = 1
    };
    for (int call = 0; call < CALLS; call++)
        for (int t = 0; t < 2; t++) {
            static const char *const names[CALLS] = { "dwt", "idwt", "denoise bayes", "denoise universal", "open", "decode" };
            volumes v = { .call = call };
            const tsr_wavelet_options o = { .struct_size = sizeof o, .levels = 2, .layout = TSR_WAVELET_MALLAT };
            tsr_volume *source = speckled(t ? TSR_F32 : TSR_U8, (tsr_size3){ 37, 12, 9 }), *here = NULL;
            require_ok(tsr_volume_compress(source, scratch("a.tsc"), &compress, NULL));
            if (call == DECODE) require_ok(tsr_compressed_create(context, scratch("a.tsc"), NULL, &v.compressed));
            if (call < OPEN) {
                require_ok(tsr_volume_copy(source, context, &here));
                if (call == BACK) {
                    require_ok(tsr_volume_dwt(context, here, &o, TSR_DTYPE_COUNT, &v.from));
                    tsr_volume_destroy(&here);
                } else v.from = here;
                v.bytes = (size_t)tsr_volume_count(v.from) * tsr_dtype_size(tsr_volume_dtype(v.from));
                v.before = (char *)malloc(v.bytes);
                assert_non_null(v.before);
                require_ok(tsr_device_move(NULL, v.before, context, tsr_volume_data_const(v.from), v.bytes));
            }
            const int64_t requests = try_all(names[call], &(trial){ call_volume, check_volume, &v });
            if (call < OPEN) assert_true(requests >= 2);
            else assert_true(host ? requests == 0 : requests >= 3); /* a CPU decodes to the host */
            tsr_volume_destroy(&v.kept);
            tsr_volume_destroy(&v.from);
            tsr_volume_destroy(&source);
            tsr_compressed_destroy(&v.compressed);
            free(v.before);
        }
}

/* ---- files ------------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct files {
    int inverse;
    void *expected;
    size_t size;
} files;

static tsr_status from_file_to_file(void *user)
{
    const files *f = (const files *)user;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    o.levels = 2;
    return f->inverse ? tsr_file_idwt(context, scratch("there.nrrd"), NULL, scratch("out.nrrd"), &write, NULL)
                      : tsr_file_dwt(context, scratch("in.nrrd"), NULL, &o, TSR_I16, scratch("out.nrrd"), &write, NULL);
}

static void check_file(void *user, int succeeded)
{
    files *f = (files *)user;
    FILE *there = fopen(scratch("out.nrrd"), "rb");
    if (there) fclose(there);
    if ((there != NULL) != succeeded) fail_msg("%s", succeeded ? "no file" : "half a file is left");
    if (!succeeded) return;
    size_t size;
    void *now = scratch_read("out.nrrd", &size);
    if (f->expected) {
        assert_int_equal(size, f->size);
        assert_memory_equal(now, f->expected, size);
        free(now);
    } else {
        f->expected = now;
        f->size = size;
    }
    remove(scratch("out.nrrd"));
}

static void from_file_to_files(void **state)
{
    (void)state;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_volume *v = speckled(TSR_U8, (tsr_size3){ 30, 17, 12 });
    o.levels = 2;
    require_ok(tsr_volume_write(v, scratch("in.nrrd"), &write));
    require_ok(tsr_file_dwt(context, scratch("in.nrrd"), NULL, &o, TSR_I16, scratch("there.nrrd"), &write, NULL));
    for (int inverse = 0; inverse < 2; inverse++) {
        files f = { .inverse = inverse };
        assert_true(try_all(inverse ? "file_idwt" : "file_dwt", &(trial){ from_file_to_file, check_file, &f }) >= 2);
        free(f.expected);
    }
    tsr_volume_destroy(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(transforms), cmocka_unit_test(domains), cmocka_unit_test(calls_with_volumes),
                                        cmocka_unit_test(from_file_to_files) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
