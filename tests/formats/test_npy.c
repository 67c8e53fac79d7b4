/* NumPy's arrays: headers written by hand give the volume that numpy means, what is written reads as numpy writes it, and headers that lie are
 * refused by name. tests/formats/numpy_arrays.py asks numpy itself. */
#include "scratch.h"

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

/* A file of version `major` with this dictionary and these bytes. */
static void write_npy(const char *name, int major, const char *dictionary, const void *data, size_t bytes)
{
    char file[1024];
    const size_t length = strlen(dictionary), begin = major == 1 ? 10 : 12;
    memset(file, 0, sizeof file);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)major;
    file[8] = (char)(length & 255);
    file[9] = (char)(length >> 8);
    memcpy(file + begin, dictionary, length);
    if (bytes) memcpy(file + begin + length, data, bytes);
    scratch_write(name, file, begin + length + bytes);
}

static const uint8_t counting[24] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23 };

static void headers_by_hand(void **state)
{
    (void)state;
    static const struct {
        int major;
        const char *dictionary;
        tsr_dtype dtype;
        tsr_size3 size;
        double second;
    } cases[] = {
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 4), }", TSR_U8, { 4, 3, 2 }, 1 },
        { 2, "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }     \n", TSR_I16, { 4, 3, 1 }, 0x0302 },
        { 3, "{\"shape\": (12,), \"fortran_order\": False, \"descr\": \">i2\"}", TSR_I16, { 12, 1, 1 }, 0x0203 },
        { 1, "{'descr':'>u4','fortran_order':False,'shape':(1,2,3)}", TSR_U32, { 3, 2, 1 }, 0x04050607 },
        { 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (24,), }", TSR_U8, { 24, 1, 1 }, 1 },
        { 1, "{'descr': '<u8', 'fortran_order': True, 'shape': (3,), }", TSR_U64, { 3, 1, 1 }, (double)0x0f0e0d0c0b0a0908 },
        { 1, "{'descr': '<i1', 'fortran_order': False, 'shape': (4, 6), }", TSR_I8, { 6, 4, 1 }, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_volume *volume;
        write_npy("hand.npy", cases[i].major, cases[i].dictionary, counting, sizeof counting);
        require_ok(tsr_volume_read(scratch("hand.npy"), NULL, &volume));
        const tsr_size3 n = tsr_volume_size(volume);
        assert_int_equal(tsr_volume_dtype(volume), cases[i].dtype);
        assert_true(n.x == cases[i].size.x && n.y == cases[i].size.y && n.z == cases[i].size.z);
        const void *data = tsr_volume_data_const(volume);
        const double second = cases[i].dtype == TSR_I16   ? (double)((const int16_t *)data)[1]
                              : cases[i].dtype == TSR_U32 ? (double)((const uint32_t *)data)[1]
                              : cases[i].dtype == TSR_U64 ? (double)((const uint64_t *)data)[1]
                                                          : (double)((const uint8_t *)data)[1];
        if (second != cases[i].second) fail_msg("%s: the second element is %g, expected %g", cases[i].dictionary, second, cases[i].second);
        tsr_volume_destroy(&volume);
    }
    scratch_files(1);
}

static void written_as_numpy_does(void **state)
{
    (void)state;
    static const char head[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4), }";
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 2, 3 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    tsr_volume *volume, *back;
    size_t size;
    require_ok(tsr_volume_create(NULL, TSR_F32, (tsr_size3){ 4, 3, 2 }, &geometry, &volume));
    for (int i = 0; i < 24; i++) ((float *)tsr_volume_data(volume))[i] = (float)i / 7;
    require_ok(tsr_volume_write(volume, scratch("w.npy"), &overwrite));
    char *bytes = (char *)scratch_read("w.npy", &size);
    assert_int_equal(size, 128 + 24 * 4); /* the data begin at a multiple of 64 */
    assert_memory_equal(bytes, "\x93NUMPY\x01\0\x76\0", 10);
    assert_memory_equal(bytes + 10, head, sizeof head - 1);
    for (size_t i = 10 + sizeof head - 1; i < 127; i++) assert_int_equal(bytes[i], ' ');
    assert_int_equal(bytes[127], '\n');
    free(bytes);
    for (int big = 0; big < 2; big++)
        for (int packed = 0; packed < 2; packed++) {
            tsr_write_options options = overwrite;
            options.big_endian = big;
            require_ok(tsr_volume_write(volume, scratch(packed ? "p.npy.gz" : "p.npy"), &options));
            require_ok(tsr_volume_read(scratch(packed ? "p.npy.gz" : "p.npy"), NULL, &back));
            assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(volume), 96);
            tsr_volume_destroy(&back);
        }
    require_ok(tsr_volume_set_scaling(volume, 2, 1));
    tsr_write_options stored = overwrite;
    stored.stored_values = 1;
    require_error(tsr_volume_write(volume, scratch("w.npy"), &stored), TSR_ERROR_ARGUMENT, "slope");
    tsr_volume_destroy(&volume);
    scratch_files(3);
}

static void every_type(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int dtype = 0; dtype < TSR_DTYPE_COUNT; dtype++)
        for (int big = 0; big < 2; big++) {
            tsr_write_options options = overwrite;
            tsr_volume *volume, *back;
            options.big_endian = big;
            require_ok(tsr_volume_create(NULL, (tsr_dtype)dtype, (tsr_size3){ 13, 7, 5 }, NULL, &volume));
            const size_t bytes = 455 * tsr_dtype_size((tsr_dtype)dtype);
            for (size_t i = 0; i < bytes; i++) ((uint8_t *)tsr_volume_data(volume))[i] = (uint8_t)test_random(&random);
            require_ok(tsr_volume_write(volume, scratch("t.npy"), &options));
            require_ok(tsr_volume_read(scratch("t.npy"), NULL, &back));
            assert_int_equal(tsr_volume_dtype(back), dtype);
            assert_memory_equal(tsr_volume_data_const(back), tsr_volume_data_const(volume), bytes);
            tsr_volume_destroy(&volume);
            tsr_volume_destroy(&back);
        }
    scratch_files(1);
}

static void lies(void **state)
{
    (void)state;
#define REST "'fortran_order': False, 'shape': (2, 3, 4)}"
    static const struct {
        int major;
        const char *dictionary;
        tsr_status status;
        const char *text;
    } cases[] = {
        { 1, "{'descr': '<c8', " REST, TSR_ERROR_UNSUPPORTED, "'descr' is '<c8'" },
        { 1, "{'descr': '<c8', " REST, TSR_ERROR_UNSUPPORTED, "'descr' is '<c8'" },
        { 1, "{'descr': '|i2', " REST, TSR_ERROR_UNSUPPORTED, "'descr' is '|i2'" },
        { 1, "{'descr': '', " REST, TSR_ERROR_UNSUPPORTED, "'descr' is ''" },
        { 1, "{'descr': [('a', '<f4')], " REST, TSR_ERROR_UNSUPPORTED, "structure" },
        { 1, "{'descr': '|u1', 'fortran_order': 0, 'shape': (2, 3, 4)}", TSR_ERROR_FORMAT, "expected True or False" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3, 4, 1)}", TSR_ERROR_UNSUPPORTED, "more than 4 axes" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 3, 4)}", TSR_ERROR_UNSUPPORTED, "holds 4 channels (the last axis" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1, 2, 6)}", TSR_ERROR_UNSUPPORTED, "holds 2 frames (the first axis" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': ()}", TSR_ERROR_UNSUPPORTED, "expected 1 to 3 axes" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 0)}", TSR_ERROR_FORMAT, "axis 1 is 0" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, -3)}", TSR_ERROR_FORMAT, "whole number" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2 3)}", TSR_ERROR_FORMAT, "',' or ')'" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': 24}", TSR_ERROR_FORMAT, "expected a shape" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 5)}", TSR_ERROR_FORMAT, "truncated" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 3)}", TSR_ERROR_FORMAT, "6 bytes behind the array" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (999999999999999999, 999999999999999999)}", TSR_ERROR_FORMAT, "a.npy" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999)}", TSR_ERROR_FORMAT, "',' or ')'" },
        { 1, "{'descr': '|u1', 'fortran_order': False}", TSR_ERROR_FORMAT, "no key 'shape'" },
        { 1, "{'descr': '|u1', 'descr': '|u1', " REST, TSR_ERROR_FORMAT, "'descr' again" },
        { 1, "{'descr': '|u1', 'order': 1, " REST, TSR_ERROR_FORMAT, "key 'order'" },
        { 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (24,)} x", TSR_ERROR_FORMAT, "nothing behind" },
        { 1, "{'descr': '|u1' 'shape': (24,)}", TSR_ERROR_FORMAT, "',' or '}'" },
        { 1, "{'descr': '|u1", TSR_ERROR_FORMAT, "in quotes" },
        { 1, "['descr']", TSR_ERROR_FORMAT, "expected '{'" },
        { 1, "", TSR_ERROR_FORMAT, "expected '{'" },
        { 4, "{'descr': '|u1', " REST, TSR_ERROR_UNSUPPORTED, "version is 4.0" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tsr_volume *volume = NULL;
        write_npy("a.npy", cases[i].major, cases[i].dictionary, counting, sizeof counting);
        const tsr_status got = tsr_volume_read(scratch("a.npy"), NULL, &volume);
        if (got != cases[i].status || !strstr(tsr_error_message(), cases[i].text) || !strstr(tsr_error_message(), "a.npy"))
            fail_msg("%s: %s '%s', expected %s and '%s'", cases[i].dictionary, tsr_status_name(got), tsr_error_message(),
                     tsr_status_name(cases[i].status), cases[i].text);
        assert_null(volume);
    }
    scratch_files(1);
}

/* Cut anywhere: never a volume. */
static void cut_files(void **state)
{
    (void)state;
    size_t size;
    write_npy("whole.npy", 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }", counting, sizeof counting);
    char *bytes = (char *)scratch_read("whole.npy", &size);
    for (size_t n = 0; n < size; n++) {
        tsr_volume *volume = NULL;
        scratch_write("cut.npy", bytes, n);
        assert_int_equal(tsr_volume_read(scratch("cut.npy"), NULL, &volume), TSR_ERROR_FORMAT);
        assert_null(volume);
    }
    free(bytes);
    scratch_files(2);
}

static void metadata_flag(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int keeps;
    } cases[] = {
        { "a.nrrd", 1 }, { "a.nhdr", 1 }, { "a.nrrd.gz", 1 }, { "a.mha", 1 }, { "a.mhd", 1 },
        { "a.tsc", 1 },  { "a.npy", 0 },  { "a.nii", 0 },     { "a.inr", 0 }, { "a.raw", 0 },
    };
    int keeps;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) { /* the flag is no promise on paper: write and look */
        tsr_volume *volume, *back;
        require_ok(tsr_file_keeps_metadata(cases[i].name, NULL, &keeps));
        assert_int_equal(keeps, cases[i].keeps);
        if (!strcmp(cases[i].name, "a.raw")) continue;
        require_ok(tsr_volume_create(NULL, TSR_I16, (tsr_size3){ 4, 3, 2 }, NULL, &volume));
        require_ok(tsr_volume_set_meta(volume, "wavelet.filter", "dd97"));
        require_ok(tsr_volume_write(volume, scratch(cases[i].name), &overwrite));
        require_ok(tsr_volume_read(scratch(cases[i].name), NULL, &back));
        const char *value = tsr_volume_meta(back, "wavelet.filter");
        if ((value && !strcmp(value, "dd97")) != cases[i].keeps) fail_msg("%s: metadata %s", cases[i].name, value ? value : "lost");
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&back);
    }
    require_error(tsr_file_keeps_metadata("a.ply", NULL, &keeps), TSR_ERROR_ARGUMENT, "a.ply");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_by_hand), cmocka_unit_test(written_as_numpy_does), cmocka_unit_test(every_type), cmocka_unit_test(lies),
        cmocka_unit_test(cut_files),       cmocka_unit_test(metadata_flag),
    };
    return cmocka_run_group_tests_name("npy files", tests, scratch_make, scratch_remove);
}
