/* Transforms from file to file: the bits of the transforms in memory with the smallest memory that is accepted, for every filter, boundary, layout and
 * type; every kind of input; memory that stays bounded; damaged input, too little memory, cancelling. */
#include "formats/scratch.h"

#include "device/backend.h"

static tsr_context *context;

static int set_up(void **state)
{
    context = test_context();
    return scratch_make(state);
}
static int tear_down(void **state)
{
    tsr_context_destroy(&context);
    return scratch_remove(state);
}

static tsr_volume *noise(tsr_dtype dtype, tsr_size3 size, uint64_t seed)
{
    tsr_volume *v = NULL;
    uint64_t random = seed * 77 + 5;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    void *data = tsr_volume_data(v);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) {
        const int32_t value = (int32_t)(test_random(&random) % 200);
        switch (dtype) {
        case TSR_U8: ((uint8_t *)data)[i] = (uint8_t)value; break;
        case TSR_I16: ((int16_t *)data)[i] = (int16_t)(value - 100); break;
        case TSR_U16: ((uint16_t *)data)[i] = (uint16_t)(value * 300); break;
        case TSR_I32: ((int32_t *)data)[i] = value * 10000; break;
        case TSR_F64: ((double *)data)[i] = value * 0.37; break;
        default: ((float *)data)[i] = (float)value * 0.1f;
        }
    }
    return v;
}

static void write_volume(const tsr_volume *v, const char *path)
{
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    require_ok(tsr_volume_write(v, path, &write));
}

static void require_same_files(const char *a, const char *b)
{
    size_t size[2];
    void *bytes[2] = { scratch_read(a, &size[0]), scratch_read(b, &size[1]) };
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* The limit that the message of a refusal asks for. */
static int64_t asked_for(void)
{
    const char *at = strstr(tsr_error_message(), "at least ");
    assert_non_null(at);
    return strtoll(at + strlen("at least "), NULL, 10);
}

/* Coefficients of the file `name` in memory and within the least memory; both ways. Returns how many slabs there were. */
static int64_t check_both_ways(const char *name, const tsr_wavelet_options *o, tsr_dtype dtype, int64_t more)
{
    tsr_volume *v = NULL, *here = NULL, *c = NULL;
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_wavelet_file_info info = TSR_WAVELET_FILE_INFO;
    write.overwrite = 1;
    require_ok(tsr_volume_read(scratch(name), NULL, &v));
    require_ok(tsr_volume_copy(v, context, &here));
    require_ok(tsr_volume_dwt(context, here, o, dtype, &c));
    tsr_volume_destroy(&here);
    require_ok(tsr_volume_copy(c, NULL, &here));
    write_volume(here, scratch("whole.nrrd"));
    tsr_volume_destroy(&here);
    tsr_volume_destroy(&c);
    read.memory_limit = 1;
    require_error(tsr_file_dwt(context, scratch(name), &read, o, dtype, scratch("parts.nrrd"), &write, NULL), TSR_ERROR_MEMORY, "memory_limit is 1");
    read.memory_limit = asked_for() + more;
    require_ok(tsr_file_dwt(context, scratch(name), &read, o, dtype, scratch("parts.nrrd"), &write, &info));
    assert_true(info.memory_bytes <= read.memory_limit);
    require_same_files("whole.nrrd", "parts.nrrd");
    const int64_t parts = info.parts;
    read.memory_limit = 1;
    require_error(tsr_file_idwt(context, scratch("parts.nrrd"), &read, scratch("back.nrrd"), &write, NULL), TSR_ERROR_MEMORY, "memory_limit is 1");
    read.memory_limit = asked_for() + more;
    require_ok(tsr_file_idwt(context, scratch("parts.nrrd"), &read, scratch("back.nrrd"), &write, &info));
    assert_true(info.memory_bytes <= read.memory_limit);
    tsr_volume *wavelets = NULL, *inverse = NULL;
    require_ok(tsr_volume_read(scratch("whole.nrrd"), NULL, &wavelets));
    require_ok(tsr_volume_copy(wavelets, context, &here));
    require_ok(tsr_volume_idwt(context, here, &inverse));
    tsr_volume_destroy(&here);
    require_ok(tsr_volume_copy(inverse, NULL, &here));
    write_volume(here, scratch("again.nrrd"));
    require_same_files("again.nrrd", "back.nrrd"); /* of floats, too */
    assert_int_equal(tsr_volume_dtype(here), tsr_volume_dtype(v));
    if (tsr_volume_dtype(v) != TSR_F32 && tsr_volume_dtype(v) != TSR_F64)
        assert_memory_equal(tsr_volume_data(here), tsr_volume_data(v), (size_t)tsr_volume_count(v) * tsr_dtype_size(tsr_volume_dtype(v)));
    tsr_volume_destroy(&here);
    tsr_volume_destroy(&inverse);
    tsr_volume_destroy(&wavelets);
    tsr_volume_destroy(&v);
    return parts;
}

static void every_filter(void **state)
{
    (void)state;
    static const tsr_dtype types[] = { TSR_U8, TSR_I16, TSR_F32, TSR_U16, TSR_F64, TSR_I32 };
    uint64_t random = test_seed();
    const int rounds = test_is_slow() ? 1 : 2;
    for (int round = 0; round < rounds; round++)
        for (int filter = 0; filter < TSR_WAVELET_CUSTOM; filter++)
            for (int boundary = 0; boundary < TSR_WAVELET_BOUNDARIES; boundary++) {
                if (test_is_slow() && (filter + boundary) % 3) continue; /* every filter and every boundary, not all pairs */
                tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
                const int periodic = boundary == TSR_WAVELET_PERIODIC;
                const tsr_dtype type = types[test_random(&random) % 6];
                tsr_size3 size = { 1 + (int64_t)(test_random(&random) % 12), 1 + (int64_t)(test_random(&random) % 9),
                                   40 + (int64_t)(test_random(&random) % 40) };
                if (periodic) size = (tsr_size3){ 8, 4 * (1 + (int64_t)(test_random(&random) % 2)), 64 };
                o.filter = (tsr_wavelet_filter)filter;
                o.boundary = (tsr_wavelet_boundary)boundary;
                o.layout = (tsr_wavelet_layout)(test_random(&random) % 3);
                o.levels = 1 + (int32_t)(test_random(&random) % (periodic ? 2 : 4));
                o.normalise = (type == TSR_F32 || type == TSR_F64) && test_random(&random) % 2;
                tsr_volume *v = noise(type, size, test_random(&random));
                write_volume(v, scratch("in.nrrd"));
                tsr_volume_destroy(&v);
                const int64_t inner = size.x * size.y * 8;
                const int64_t parts = check_both_ways("in.nrrd", &o, TSR_DTYPE_COUNT, (int64_t)(test_random(&random) % 3) * inner);
                assert_true(parts > 1);
            }
}

static void every_axis(void **state)
{
    (void)state;
    static const tsr_size3 sizes[] = { { 9, 70, 1 }, { 70, 1, 1 }, { 5, 6, 40 }, { 1, 1, 1 }, { 1, 1, 90 }, { 4, 4, 2 } };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (uint32_t axes = 0; axes < 8; axes += test_is_slow() ? 3 : 1) {
            tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
            const int64_t size[3] = { sizes[k].x, sizes[k].y, sizes[k].z };
            o.axes = axes;
            o.layout = (tsr_wavelet_layout)(axes % 3);
            tsr_volume *v = noise(k & 1 ? TSR_F32 : TSR_I16, sizes[k], axes);
            write_volume(v, scratch("in.nrrd"));
            tsr_volume_destroy(&v);
            if (tsr_wavelet_levels_possible(3, size, axes) || k == 3) check_both_ways("in.nrrd", &o, TSR_DTYPE_COUNT, 0);
        }
}

/* A header whose voxels are in three files. */
static void write_list(const tsr_volume *v)
{
    const tsr_size3 n = tsr_volume_size(v);
    const size_t share = (size_t)(n.x * n.y * (n.z / 3)) * 2;
    char header[400];
    for (int k = 0; k < 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "part%d.raw", k);
        scratch_write(name, (const char *)tsr_volume_data_const(v) + (size_t)k * share, share);
    }
    snprintf(header, sizeof header,
             "NRRD0005\ntype: int16\ndimension: 3\nsizes: %d %d %d\nencoding: raw\nendian: little\ndata file: part%%d.raw 0 2 1\n", (int)n.x,
             (int)n.y, (int)n.z);
    scratch_write("list.nhdr", header, strlen(header));
}

static void every_input(void **state)
{
    (void)state;
    static const char *const names[] = { "a.nrrd", "a.nhdr", "a.nii", "a.nii.gz", "a.mha", "a.mhd", "a.npy", "a.inr", "a.hdr", "a.tsc" };
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_volume *v = noise(TSR_I16, (tsr_size3){ 9, 7, 48 }, 3);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (test_is_slow() && k % 3 && strcmp(names[k], "a.npy")) continue; /* a.npy and a.tsc are wanted below */
        write_volume(v, scratch(names[k]));
        if (strcmp(names[k], "a.tsc")) assert_true(check_both_ways(names[k], &o, TSR_DTYPE_COUNT, 0) > 1);
    }
    write_list(v);
    assert_true(check_both_ways("list.nhdr", &o, TSR_DTYPE_COUNT, 0) > 1);
    tsr_write_options write = TSR_WRITE_OPTIONS;
    write.overwrite = 1;
    write.compression = 3;
    require_ok(tsr_volume_write(v, scratch("packed.nrrd"), &write));
    assert_true(check_both_ways("packed.nrrd", &o, TSR_DTYPE_COUNT, 0) > 1);
    write.compression = 0;
    write.big_endian = 1;
    require_ok(tsr_volume_write(v, scratch("big.nrrd"), &write));
    assert_true(check_both_ways("big.nrrd", &o, TSR_DTYPE_COUNT, 0) > 1);
    /* .tsc in and out: a row of bricks is its least */
    tsr_read_options read = TSR_READ_OPTIONS;
    write.big_endian = 0;
    read.memory_limit = 200 << 20;
    require_ok(tsr_file_dwt(context, scratch("a.tsc"), &read, &o, TSR_DTYPE_COUNT, scratch("c.tsc"), &write, NULL));
    require_ok(tsr_file_idwt(context, scratch("c.tsc"), &read, scratch("back.npy"), &write, NULL));
    require_same_files("a.npy", "back.npy");
    /* scaled voxels are taken as stored */
    require_ok(tsr_volume_set_scaling(v, 2, -3));
    write_volume(v, scratch("scaled.nrrd"));
    check_both_ways("scaled.nrrd", &o, TSR_I32, 0);
    tsr_volume_destroy(&v);
}

static int64_t file_size(const char *name)
{
    struct stat about;
    assert_int_equal(stat(scratch(name), &about), 0);
    return about.st_size;
}

static int cancel(void *user, double fraction, const char *stage)
{
    (void)stage;
    assert_true(fraction <= 1.0001);
    return (*(int *)user)-- <= 0;
}

static void bad_input(void **state)
{
    (void)state;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_volume *v = noise(TSR_I16, (tsr_size3){ 16, 16, 64 }, 3);
    write.overwrite = 1;
    scratch_files(1);
    write_volume(v, scratch("in.nrrd"));
    write_volume(v, scratch("in.nii.gz"));
    assert_int_equal(truncate(scratch("in.nrrd"), file_size("in.nrrd") - 1), 0);
    require_error(tsr_file_dwt(context, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_FORMAT,
                  "truncated");
    assert_int_equal(truncate(scratch("in.nii.gz"), file_size("in.nii.gz") - 40), 0);
    require_error(tsr_file_dwt(context, scratch("in.nii.gz"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_FORMAT,
                  "in.nii.gz");
    write.ascii = 1;
    require_ok(tsr_volume_write(v, scratch("text.nrrd"), &write));
    write.ascii = 0;
    require_error(tsr_file_dwt(context, scratch("text.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_UNSUPPORTED,
                  "text.nrrd");
    require_error(tsr_file_dwt(context, scratch("none.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_IO,
                  "none.nrrd");
    require_error(tsr_file_dwt(NULL, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_ARGUMENT,
                  "context is NULL");
    write_volume(v, scratch("in.nrrd"));
    require_error(tsr_file_dwt(context, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nii"), &write, NULL), TSR_ERROR_ARGUMENT, "x.nii");
    require_error(tsr_file_idwt(context, scratch("in.nrrd"), &read, scratch("x.nrrd"), &write, NULL), TSR_ERROR_ARGUMENT,
                  "no metadata 'wavelet.filter'");
    o.levels = 40;
    require_error(tsr_file_dwt(context, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_ARGUMENT,
                  "levels is 40");
    o.levels = 2;
    read.memory_limit = -4;
    require_error(tsr_file_dwt(context, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_ARGUMENT,
                  "memory_limit is -4");
    read.memory_limit = 0;
    for (int64_t i = 0; i < tsr_volume_count(v); i++) ((int16_t *)tsr_volume_data(v))[i] = i & 1 ? 32767 : -32768;
    write_volume(v, scratch("wide.nrrd"));
    require_error(tsr_file_dwt(context, scratch("wide.nrrd"), &read, &o, TSR_I16, scratch("x.nrrd"), &write, NULL), TSR_ERROR_CAPACITY,
                  "leave 16 bits");
    read.memory_limit = 1;
    assert_int_equal(tsr_file_dwt(context, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_MEMORY);
    read.memory_limit = asked_for();
    for (int steps = 0; steps < 12; steps++) {
        int left = steps;
        read.progress = (tsr_progress){ cancel, &left };
        require_error(tsr_file_dwt(context, scratch("in.nrrd"), &read, &o, TSR_DTYPE_COUNT, scratch("x.nrrd"), &write, NULL), TSR_ERROR_CANCELLED,
                      "cancelled");
    }
    assert_int_equal(scratch_files(0), 4); /* the inputs alone: nothing half-written, no nameless file with a name */
    tsr_volume_destroy(&v);
}

/* ---- decompression ------------------------------------------------------------------------------------------------------------------------- */

static void check_parts(const char *name, tsr_decompress_options o, int64_t limit)
{
    tsr_volume *v = NULL;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_compress_info whole = TSR_COMPRESS_INFO, parts = TSR_COMPRESS_INFO;
    write.overwrite = 1;
    require_ok(tsr_volume_decompress(scratch(name), &o, &v, &whole));
    write_volume(v, scratch("whole.nrrd"));
    tsr_volume_destroy(&v);
    o.memory_limit = 1;
    o.threads = 1;
    require_error(tsr_file_decompress(scratch(name), scratch("parts.nrrd"), &o, &write, NULL), TSR_ERROR_MEMORY, "memory_limit is 1");
    o.memory_limit = limit ? limit : asked_for();
    require_ok(tsr_file_decompress(scratch(name), scratch("parts.nrrd"), &o, &write, &parts));
    require_same_files("whole.nrrd", "parts.nrrd");
    assert_int_equal(parts.pieces, whole.pieces);
    assert_int_equal(parts.pieces_whole, whole.pieces_whole);
}

static void decompression(void **state)
{
    (void)state;
    tsr_volume *v = noise(TSR_I16, (tsr_size3){ 50, 41, 37 }, 9);
    for (int coder = TSR_COMPRESS_PREDICT; coder <= TSR_COMPRESS_FAST; coder++) {
        tsr_compress_options c = TSR_COMPRESS_OPTIONS;
        tsr_decompress_options o = TSR_DECOMPRESS_OPTIONS;
        c.coder = (tsr_compress_coder)coder;
        c.brick = (tsr_size3){ 16, 16, 16 };
        c.levels = coder == TSR_COMPRESS_PREDICT ? 0 : 2;
        c.overwrite = 1;
        require_ok(tsr_volume_compress(v, scratch("v.tsc"), &c, NULL));
        check_parts("v.tsc", o, 0);
        check_parts("v.tsc", o, 1 << 20);
        o.box[0] = (tsr_size3){ 3, 17, 5 };
        o.box[1] = (tsr_size3){ 44, 40, 36 };
        check_parts("v.tsc", o, 0);
        if (coder == TSR_COMPRESS_PREDICT) continue;
        for (o.reduce = 1; o.reduce <= 2; o.reduce++) {
            check_parts("v.tsc", o, 0);
            check_parts("v.tsc", o, 1 << 18);
        }
        o = (tsr_decompress_options)TSR_DECOMPRESS_OPTIONS;
        o.partial = 1;
        assert_int_equal(truncate(scratch("v.tsc"), file_size("v.tsc") * 2 / 3), 0);
        check_parts("v.tsc", o, 0);
    }
    tsr_volume_destroy(&v);
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------------------------- */

#if !defined(TSR_SANITIZED)             /* they keep what was freed */
static long resident(const char *field) /* kB; -1: the system does not say */
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kb = -1;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field))) kb = strtol(line + strlen(field), NULL, 10);
    if (file) fclose(file);
    return kb;
}

static int watch(void *user, double fraction, const char *stage)
{
    long *most = (long *)user;
    (void)fraction;
    (void)stage;
    const long now = resident("VmRSS:");
    if (now > *most) *most = now;
    return 0;
}

/* 128 MiB of zeros (no disk) and a little noise, there and back, in 16 MiB. Pages of files count as well. */
static void bounded_memory(void **state)
{
    (void)state;
    enum { SLICE = 256 * 256, SLICES = 1024 };
    if (resident("VmRSS:") < 0 || tsr_context_device(context).kind != TSR_DEVICE_CPU) skip();
    tsr_context *two = test_context_on("cpu", 2); /* each thread has some memory of its own */
    tsr_read_options read = TSR_READ_OPTIONS;
    tsr_write_options write = TSR_WRITE_OPTIONS;
    tsr_wavelet_options o = TSR_WAVELET_OPTIONS;
    tsr_wavelet_file_info info = TSR_WAVELET_FILE_INFO;
    tsr_volume *v = noise(TSR_I16, (tsr_size3){ 256, 256, 3 }, 1);
    FILE *file = fopen(scratch("large.raw"), "wb");
    assert_non_null(file);
    for (int z = 100; z < SLICES; z += 300) {
        fseek(file, 2L * SLICE * z, SEEK_SET);
        assert_int_equal(fwrite(tsr_volume_data(v), 2, SLICE, file), SLICE);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(truncate(scratch("large.raw"), 2L * SLICE * SLICES), 0);
    tsr_volume_destroy(&v);
    const long before = resident("VmRSS:");
    long most = before;
    read.raw_shape = (tsr_size3){ 256, 256, SLICES };
    read.raw_dtype = TSR_I16;
    read.memory_limit = 16 << 20;
    read.progress = write.progress = (tsr_progress){ watch, &most };
    require_ok(tsr_file_dwt(two, scratch("large.raw"), &read, &o, TSR_DTYPE_COUNT, scratch("large.nrrd"), &write, &info));
    assert_true(info.parts > 10 && info.memory_bytes <= read.memory_limit);
    read.raw_shape = (tsr_size3){ 0, 0, 0 };
    require_ok(tsr_file_idwt(two, scratch("large.nrrd"), &read, scratch("back.raw"), &write, NULL));
    print_message("128 MiB there and back: %ld kB more than before\n", most - before);
    assert_true(most - before < 64 << 10); /* the limit, what the system keeps mapped for a moment, the library's tables */
    require_same_files("large.raw", "back.raw");
    tsr_context_destroy(&two);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_filter),
        cmocka_unit_test(every_axis),
        cmocka_unit_test(every_input),
        cmocka_unit_test(bad_input),
        cmocka_unit_test(decompression),
#if !defined(TSR_SANITIZED)
        cmocka_unit_test(bounded_memory),
#endif
    };
    return cmocka_run_group_tests_name("test_wavelet_file", tests, set_up, tear_down);
}
