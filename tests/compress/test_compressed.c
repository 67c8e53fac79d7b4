/* Compressed volumes decoded in the memory of a device: the same bits as from the file, whole, boxes, resolutions, cut and damaged files, every kind of voxel;
 * errors name the brick. */
#include <math.h>
#include <unistd.h>

#include "forge.h" /* internal headers have other things of the name context */

#include "wavelet/context.h"

static char path[64];

static tsr_volume *noise(tsr_dtype dtype, tsr_size3 size, uint64_t *random, int wild)
{
    tsr_volume *v = NULL;
    require_ok(tsr_volume_create(NULL, dtype, size, NULL, &v));
    const size_t element = tsr_dtype_size(dtype), bytes = (size_t)tsr_volume_count(v) * element;
    uint8_t *at = (uint8_t *)tsr_volume_data(v);
    for (size_t i = 0; i < bytes; i++)
        at[i] = wild ? (uint8_t)test_random(random) : (uint8_t)(i % element ? 0 : (i / element % 37 + (test_random(random) & 3)));
    if (dtype == TSR_F32 && !wild)
        for (int64_t i = 0; i < tsr_volume_count(v); i++) ((float *)tsr_volume_data(v))[i] = i % 97 == 5 ? NAN : (float)(i % 37) * 0.5f;
    require_ok(tsr_volume_set_scaling(v, 0.5, 3));
    require_ok(tsr_volume_set_meta(v, "nifti.descrip", "there and back"));
    return v;
}

static int forged; /* the file has no metadata */

static void require_both(const char *file, const tsr_decompress_options *o)
{
    tsr_compressed *c = NULL;
    tsr_volume *here = NULL, *there = NULL, *back = NULL;
    tsr_compress_info a = TSR_COMPRESS_INFO, b = TSR_COMPRESS_INFO;
    require_ok(tsr_volume_decompress(file, o, &here, &a));
    require_ok(tsr_compressed_create(context, file, o, &c));
    require_ok(tsr_compressed_decode(c, o, &there, &b));
    assert_int_equal(a.pieces, b.pieces);
    assert_int_equal(a.pieces_whole, b.pieces_whole);
    require_ok(tsr_volume_copy(there, NULL, &back));
    assert_int_equal(tsr_volume_count(here), tsr_volume_count(back));
    assert_memory_equal(tsr_volume_data_const(here), tsr_volume_data_const(back),
                        (size_t)tsr_volume_count(here) * tsr_dtype_size(tsr_volume_dtype(here)));
    if (!forged) assert_string_equal(tsr_volume_meta(back, "nifti.descrip"), "there and back");
    assert_memory_equal(tsr_volume_geometry(here)->affine, tsr_volume_geometry(back)->affine, sizeof tsr_volume_geometry(here)->affine);
    tsr_volume_destroy(&here);
    tsr_volume_destroy(&there);
    tsr_volume_destroy(&back);
    tsr_compressed_destroy(&c);
}

static void compress(const tsr_volume *v, tsr_size3 brick, int32_t levels, double max_error)
{
    const tsr_compress_options o = {
        .struct_size = sizeof o, .coder = TSR_COMPRESS_RANS, .brick = brick, .levels = levels, .max_error = max_error, .overwrite = 1, .threads = 1
    };
    require_ok(tsr_volume_compress(v, path, &o, NULL));
}

static void same_bits(void **state)
{
    (void)state;
    static const struct {
        tsr_size3 size, brick;
        int32_t levels;
    } shapes
        [] = {
            { { 37, 21, 19 }, { 16, 16, 16 }, 3 }, { { 70, 40, 1 }, { 0, 0, 0 }, 2 }, { { 9, 1, 1 }, { 0, 0, 0 }, 3 },
            { { 3, 3, 3 }, { 2, 2, 2 }, 1 },       { { 33, 5, 34 }, { 0, 0, 0 }, 5 }, { { 1, 1, 1 }, { 0, 0, 0 }, 1 },
            { { 32, 14, 20 }, { 0, 0, 0 }, 2 }, /* slices of three and a half groups in bands as large as the low one */
        };
    uint64_t random = test_seed();
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int t = TSR_U8; t <= TSR_F32; t++)
            for (int wild = 0; wild < 2; wild++) {
                if (t == TSR_U64 || t == TSR_I64 || (k && t != TSR_U8 && t != TSR_I32) || (test_is_slow() && k > 1)) continue;
                tsr_volume *v = noise((tsr_dtype)t, shapes[k].size, &random, wild);
                compress(v, shapes[k].brick, shapes[k].levels, 0);
                require_both(path, NULL);
                tsr_volume_destroy(&v);
            }
}

/* Voxels by steps, with exceptions, of every type. */
static void with_loss(void **state)
{
    (void)state;
    static const tsr_dtype types[] = { TSR_U8, TSR_I16, TSR_U32, TSR_I64, TSR_U64, TSR_F32, TSR_F64 };
    uint64_t random = test_seed();
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        tsr_volume *v = noise(types[t], (tsr_size3){ 20, 11, 9 }, &random, 0);
        compress(v, (tsr_size3){ 16, 8, 8 }, 2, 0.75);
        require_both(path, NULL);
        tsr_volume_destroy(&v);
    }
}

static void parts(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const tsr_dtype types[] = { TSR_F32, TSR_U8, TSR_I8, TSR_U16, TSR_I16 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        /* u8 and i8 of all values: those of lower resolutions leave the type and saturate */
        tsr_volume *v = noise(types[t], (tsr_size3){ 45, 35, 20 }, &random, types[t] <= TSR_I8);
        compress(v, (tsr_size3){ 16, 16, 8 }, 3, types[t] == TSR_F32 ? 0.25 : 0);
        for (int32_t reduce = 0; reduce <= 3; reduce += t ? 2 : 1) {
            const tsr_decompress_options whole = { .struct_size = sizeof whole, .reduce = reduce };
            const tsr_decompress_options box = { .struct_size = sizeof box, .reduce = reduce, .box = { { 5, 9, 3 }, { 37, 34, 19 } } };
            require_both(path, &whole);
            require_both(path, &box);
        }
        tsr_volume_destroy(&v);
    }
}

static size_t slurp(uint8_t *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t size = fread(bytes, 1, room, f);
    fclose(f);
    return size;
}
static void spill(const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void damage(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 16];
    uint64_t random = test_seed();
    const tsr_decompress_options partial = { .struct_size = sizeof partial, .partial = 1 }, strict = TSR_DECOMPRESS_OPTIONS;
    tsr_volume *v = noise(TSR_F32, (tsr_size3){ 24, 20, 9 }, &random, 0), *back = NULL;
    tsr_compressed *c = NULL;
    compress(v, (tsr_size3){ 16, 16, 8 }, 2, 0.25);
    const size_t size = slurp(bytes, sizeof bytes);
    for (int k = 0; k < (test_is_slow() ? 4 : 20); k++) {
        const size_t at = size - 1 - test_random(&random) % (size / 2);
        bytes[at] ^= 0x10;
        spill(bytes, size);
        bytes[at] ^= 0x10;
        require_ok(tsr_compressed_create(context, path, NULL, &c));
        require_error(tsr_compressed_decode(c, &strict, &back, NULL), TSR_ERROR_FORMAT, "layer 0 is damaged; partial takes what is there");
        assert_null(back);
        tsr_compressed_destroy(&c);
        require_both(path, &partial);
    }
    for (int k = 0; k < (test_is_slow() ? 2 : 6); k++) {
        spill(bytes, size - 1 - test_random(&random) % (size / 2));
        require_ok(tsr_compressed_create(context, path, NULL, &c));
        require_error(tsr_compressed_decode(c, &strict, &back, NULL), TSR_ERROR_FORMAT, "missing: the file is cut off");
        tsr_compressed_destroy(&c);
        require_both(path, &partial);
    }
    tsr_volume_destroy(&v);
}

static int stop(void *user, double fraction, const char *stage)
{
    (void)user, (void)fraction, (void)stage;
    return 1;
}

static void refused(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = noise(TSR_U8, (tsr_size3){ 20, 11, 9 }, &random, 0), *back = NULL;
    tsr_compressed *c = NULL;
    tsr_decompress_options o = TSR_DECOMPRESS_OPTIONS;
    const tsr_compress_options predict = { .struct_size = sizeof predict, .coder = TSR_COMPRESS_PREDICT, .overwrite = 1 };
    compress(v, (tsr_size3){ 0, 0, 0 }, 2, 0);
    require_ok(tsr_compressed_create(context, path, NULL, &c));
    o.reduce = 3;
    require_error(tsr_compressed_decode(c, &o, &back, NULL), TSR_ERROR_ARGUMENT, "reduce is 3, expected 0 to 2");
    o.reduce = 0;
    o.memory_limit = 100;
    require_error(tsr_compressed_decode(c, &o, &back, NULL), TSR_ERROR_MEMORY, "expected at most 100 (memory_limit)");
    o.memory_limit = 0;
    o.progress.report = stop;
    require_error(tsr_compressed_decode(c, &o, &back, NULL), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(back);
    require_error(tsr_compressed_decode(NULL, NULL, &back, NULL), TSR_ERROR_ARGUMENT, "compressed is NULL");
    tsr_compressed_destroy(&c);
    tsr_compressed_destroy(&c);
    require_error(tsr_compressed_create(NULL, path, NULL, &c), TSR_ERROR_ARGUMENT, "context is NULL");
    require_ok(tsr_volume_compress(v, path, &predict, NULL));
    if (tsr_context_device(context).kind == TSR_DEVICE_CPU) require_ok(tsr_compressed_create(context, path, NULL, &c));
    else require_error(tsr_compressed_create(context, path, NULL, &c), TSR_ERROR_UNSUPPORTED, "coder predict on this device, expected rans");
    tsr_compressed_destroy(&c);
    tsr_volume_destroy(&v);
}

/* Neither the host nor the device takes the file at `path`. */
static void require_refused(const char *message)
{
    const tsr_decompress_options partial = { .struct_size = sizeof partial, .partial = 1 };
    tsr_volume *back = NULL;
    tsr_compressed *c = NULL;
    require_error(tsr_volume_decompress(path, NULL, &back, NULL), TSR_ERROR_FORMAT, message);
    require_error(tsr_volume_decompress(path, &partial, &back, NULL), TSR_ERROR_FORMAT, message);
    require_error(tsr_compressed_create(context, path, &partial, &c), TSR_ERROR_FORMAT, message);
    assert_null(back);
    assert_null(c);
}

/* Lists of exceptions belong to f32 and f64: a reader that took 8 bytes for the voxel would write behind the brick. */
static void forged_exceptions(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    static const char *const names[] = { "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32" };
    for (int t = TSR_U8; t <= TSR_F32; t++) {
        char message[64];
        tsr_volume *v = noise((tsr_dtype)t, (tsr_size3){ 9, 8, 8 }, &random, 0);
        compress(v, (tsr_size3){ 8, 8, 8 }, 1, 0);
        forge(path, &(forgery){ .exceptions = 1 });
        snprintf(message, sizeof message, "exceptions with map %d and voxels of %s, expected", t == TSR_F32, names[t]);
        require_refused(message);
        tsr_volume_destroy(&v);
    }
    /* What reads the list does not trust the header either. */
    uint8_t list[4 + 5] = { 1, 0, 0, 0, 7, 0, 0, 0, 0x41 }, voxels[16] = { 0 };
    const tsr_tsc t = { .dtype = TSR_U8 };
    const tsr_brick b = { .size = { 8, 1, 1 }, .reduced = { 8, 1, 1 }, .count = 8, .reduced_count = 8 };
    require_error(tsr_map_exceptions(&t, 0, &b, list, sizeof list, voxels), TSR_ERROR_FORMAT, "voxels of u8, expected f32 or f64");
    for (int k = 0; k < 16; k++) assert_int_equal(voxels[k], 0);
}

/* Only planes have layers: a device would take the pieces of others for those of other streams. */
static void forged_layers(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = noise(TSR_U8, (tsr_size3){ 20, 11, 9 }, &random, 0);
    compress(v, (tsr_size3){ 16, 8, 8 }, 2, 0);
    forge(path, &(forgery){ .layers = 2 });
    require_refused("layers is 2 with coder rans, expected 1");
    tsr_volume_destroy(&v);
}

/* A block that says it has more planes than its coefficients have bits: what there is room for is taken, the same on every device. */
static void forged_widths(void **state)
{
    (void)state;
    enum { NX = 64, NY = 64, NZ = 32 };
    static uint8_t values[NX * NY * NZ];
    static const uint8_t widths[] = { 16, 17, 32, 255 };
    for (int i = 0; i < NX * NY * NZ; i++) values[i] = (uint8_t)(120 + 60 * sin(0.1 * (i % NX)) * cos(0.07 * (i / NX % NY)) + i / NX / NY);
    tsr_volume *v;
    require_ok(tsr_volume_wrap(NULL, TSR_U8, (tsr_size3){ NX, NY, NZ }, NULL, values, NULL, NULL, &v));
    forged = 1;
    for (size_t k = 0; k < sizeof widths; k++) {
        compress(v, (tsr_size3){ 32, 32, 32 }, 2, 0);
        forge(path, &(forgery){ .width = widths[k] });
        require_both(path, NULL);
    }
    forged = 0;
    tsr_volume_destroy(&v);
}

static void odd_pieces(void **state)
{
    (void)state;
    uint64_t random = test_seed();
    tsr_volume *v = noise(TSR_U8, (tsr_size3){ 20, 11, 9 }, &random, 0);
    compress(v, (tsr_size3){ 16, 8, 8 }, 2, 0);
    forge(path, &(forgery){ .more = 2 }); /* that is allowed */
    forge(path, &(forgery){ .more = 1 });
    require_refused("bytes, expected an even number with coder rans");
    tsr_volume_destroy(&v);
}

/* GPUs of 99 KiB a block: bricks of 32^3 with coefficients of 2 bytes fit, of 4 bytes only at half the resolution. */
static void little_shared_memory(void **state)
{
    (void)state;
    if (tsr_context_device(context).kind != TSR_DEVICE_EMU) return; /* only there it can be chosen */
    uint64_t random = test_seed();
    const tsr_decompress_options half = { .struct_size = sizeof half, .reduce = 1 };
    tsr_volume *v = NULL, *back = NULL;
    tsr_compressed *c = NULL;
    assert_int_equal(setenv("TESSERA_EMU_SHARED", "101376", 1), 0);
    for (int t = TSR_U8; t <= TSR_F32; t += TSR_F32 - TSR_U8) {
        v = noise((tsr_dtype)t, (tsr_size3){ 33, 32, 32 }, &random, 0);
        compress(v, (tsr_size3){ 32, 32, 32 }, 2, 0);
        if (t == TSR_U8) require_both(path, NULL);
        require_both(path, &half);
        if (t == TSR_F32) {
            require_ok(tsr_compressed_create(context, path, NULL, &c));
            require_error(tsr_compressed_decode(c, NULL, &back, NULL), TSR_ERROR_UNSUPPORTED,
                          "bricks of 32 x 32 x 32 with coefficients of 4 bytes: 135168 bytes of shared memory, this device has 101376");
            assert_null(back);
            tsr_compressed_destroy(&c);
        }
        tsr_volume_destroy(&v);
    }
    unsetenv("TESSERA_EMU_SHARED");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits),     cmocka_unit_test(with_loss),
        cmocka_unit_test(parts),         cmocka_unit_test(damage),
        cmocka_unit_test(refused),       cmocka_unit_test(forged_exceptions),
        cmocka_unit_test(forged_layers), cmocka_unit_test(forged_widths),
        cmocka_unit_test(odd_pieces),    cmocka_unit_test(little_shared_memory),
    };
    snprintf(path, sizeof path, "compressed-%ld.tsc", (long)getpid());
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    unlink(path);
    return failed;
}
