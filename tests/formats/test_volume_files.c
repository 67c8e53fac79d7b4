/* What is written comes back: voxels bit for bit in every format, type, byte order and compression; geometry and metadata as the format allows. */
#include "scratch.h"

#include <float.h>
#include <math.h>

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

/* Voxels of every bit pattern the type has, extremes first. */
static tsr_volume *make_volume(tsr_dtype dtype, tsr_size3 size, const tsr_geometry *geometry)
{
    tsr_volume *volume;
    uint64_t random = 99;
    require_ok(tsr_volume_create(NULL, dtype, size, geometry, &volume));
    size_t element = tsr_dtype_size(dtype), count = (size_t)tsr_volume_count(volume);
    uint8_t *bytes = (uint8_t *)tsr_volume_data(volume);
    for (size_t i = 0; i < count * element; i++) bytes[i] = (uint8_t)test_random(&random);
    if (dtype == TSR_F32)
        for (size_t i = 0; i < count; i++)
            ((float *)bytes)[i] = i == 0 ? FLT_MAX : i == 1 ? -FLT_MIN : i == 2 ? 0.1f : (float)(test_uniform(&random) - 0.5) * 1e3f;
    else if (dtype == TSR_F64)
        for (size_t i = 0; i < count; i++)
            ((double *)bytes)[i] = i == 0 ? DBL_MAX / 4 : i == 1 ? -1e-300 : i == 2 ? 0.1 : (test_uniform(&random) - 0.5) * 1e3;
    else
        for (size_t i = 0; i < element; i++) { /* the largest and the smallest number, signed and unsigned */
            bytes[i] = 0xff;
            bytes[element + i] = 0;
            bytes[2 * element + i] = i == (element - 1) ? 0x80 : 0;
            bytes[3 * element + i] = i == (element - 1) ? 0x7f : 0xff;
        }
    return volume;
}

static void same_voxels(const tsr_volume *a, const tsr_volume *b)
{
    tsr_size3 p = tsr_volume_size(a), q = tsr_volume_size(b);
    assert_int_equal(tsr_volume_dtype(a), tsr_volume_dtype(b));
    assert_true(p.x == q.x && p.y == q.y && p.z == q.z);
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), (size_t)tsr_volume_count(a) * tsr_dtype_size(tsr_volume_dtype(a)));
}

/* Largest error of an affine entry, in units of the last place; 0 = the same numbers. */
static double affine_error(const tsr_geometry *a, const tsr_geometry *b)
{
    double worst = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            double x = a->affine[r][c], y = b->affine[r][c], error = fabs(x - y) / (fmax(fabs(x), DBL_MIN) * DBL_EPSILON);
            if (x != y && !(error <= worst)) worst = error;
        }
    return worst;
}

static tsr_volume *round_trip(const tsr_volume *volume, const char *name, const tsr_write_options *options)
{
    tsr_volume *back;
    require_ok(tsr_volume_write(volume, scratch(name), options));
    require_ok(tsr_volume_read(scratch(name), NULL, &back));
    return back;
}

static const struct variant {
    const char *name, *format;
    int big_endian, compression, ascii;
} variants[] = {
    { "a.nii", "nifti", 0, 0, 0 }, { "b.nii", "nifti", 1, 0, 0 }, { "c.nii.gz", "nifti", 0, 0, 0 }, { "d.nii.gz", "nifti", 1, 9, 0 },
    { "e.hdr", NULL, 0, 0, 0 },    { "f.hdr", NULL, 1, 0, 0 },    { "g.nii", "nifti2", 0, 0, 0 },   { "h.nii.gz", "nifti2", 1, 1, 0 },
    { "i.nrrd", NULL, 0, 0, 0 },   { "j.nrrd", NULL, 1, 0, 0 },   { "k.nrrd", NULL, 0, 6, 0 },      { "l.nrrd", NULL, 1, 6, 0 },
    { "m.nrrd", NULL, 0, 0, 1 },   { "n.nhdr", NULL, 0, 0, 0 },   { "o.nhdr", NULL, 1, 5, 0 },      { "p.nhdr", NULL, 0, 0, 1 },
    { "q.mha", NULL, 0, 0, 0 },    { "r.mha", NULL, 1, 0, 0 },    { "s.mha", NULL, 0, 6, 0 },       { "t.mha", NULL, 1, 3, 0 },
    { "u.mhd", NULL, 0, 0, 0 },    { "v.mhd", NULL, 1, 6, 0 },    { "w.mha", NULL, 0, 0, 1 },       { "x.inr", NULL, 0, 0, 0 },
    { "y.inr", NULL, 1, 0, 0 },    { "z.inr.gz", NULL, 0, 0, 0 }, { "A.mha.gz", NULL, 0, 0, 0 },    { "B.nrrd.gz", NULL, 1, 0, 0 },
};
enum { VARIANTS = (int)(sizeof variants / sizeof variants[0]) };

static tsr_write_options options_of(const struct variant *v)
{
    tsr_write_options options = overwrite;
    options.format = v->format;
    options.big_endian = v->big_endian;
    options.compression = v->compression;
    options.ascii = v->ascii;
    return options;
}

static void every_type_in_every_variant(void **state)
{
    (void)state;
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.5, 1.25, 3 }, (tsr_vec3){ -10, 20.5, 7 }, TSR_SPACE_NONE);
    for (int dtype = 0; dtype < TSR_DTYPE_COUNT; dtype++) {
        tsr_volume *volume = make_volume((tsr_dtype)dtype, (tsr_size3){ 13, 7, 5 }, &geometry);
        for (int i = 0; i < VARIANTS; i++) {
            tsr_write_options options = options_of(&variants[i]);
            tsr_volume *back = round_trip(volume, variants[i].name, &options);
            same_voxels(volume, back);
            if (affine_error(&geometry, tsr_volume_geometry(back)) != 0) fail_msg("%s: the geometry changed", variants[i].name);
            tsr_volume_destroy(&back);
        }
        tsr_volume_destroy(&volume);
    }
    scratch_files(1);
}

/* The 48 permutations and flips of the axes, each also sheared, off centre and anisotropic. */
static tsr_geometry oriented(int which, int sheared, tsr_space space)
{
    static const int permutations[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static const double spacing[3] = { 0.75, 1.5, 2.25 }, origin[3] = { -31.5, 12.25, 100.125 };
    tsr_geometry g = { .space = space };
    for (int c = 0; c < 3; c++) {
        g.affine[permutations[which / 8][c]][c] = (which >> c & 1 ? -1 : 1) * spacing[c];
        g.affine[c][3] = origin[c];
    }
    if (sheared) { /* float32 numbers, so that NIfTI-1 holds them */
        g.affine[0][1] += 0.25;
        g.affine[1][2] -= 0.125;
        g.affine[2][0] += 0.0625;
    }
    return g;
}

static void every_orientation(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double ulps, ulps_sheared;
    } formats[] = { { "o.nii", 0, 0 },  { "o.nii.gz", 0, 0 }, { "o.hdr", 0, 0 }, { "o.nrrd", 0, 0 },
                    { "o.nhdr", 0, 0 }, { "o.mha", 0, 4 },    { "o.mhd", 0, 4 } };
    for (int which = 0; which < 48; which++)
        for (int sheared = 0; sheared < 2; sheared++)
            for (int space = TSR_SPACE_RAS; space <= TSR_SPACE_LPS; space++) {
                tsr_geometry geometry = oriented(which, sheared, (tsr_space)space);
                tsr_volume *volume = make_volume(TSR_I16, (tsr_size3){ 4, 3, 2 }, &geometry);
                for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
                    tsr_volume *back = round_trip(volume, formats[f].name, &overwrite);
                    tsr_geometry expected = tsr_geometry_convert(&geometry, tsr_volume_geometry(back)->space);
                    assert_int_not_equal(tsr_volume_geometry(back)->space, TSR_SPACE_NONE);
                    double error = affine_error(&expected, tsr_volume_geometry(back)), allowed = sheared ? formats[f].ulps_sheared : formats[f].ulps;
                    if (!(error <= allowed)) fail_msg("%s orientation %d sheared %d: %g ulp", formats[f].name, which, sheared, error);
                    tsr_volume_destroy(&back);
                }
                tsr_volume_destroy(&volume);
            }
    scratch_files(1);
}

/* A rigid NIfTI geometry read back through the quaternion alone is the one that was meant. */
static void quaternion_means_the_same(void **state)
{
    (void)state;
    for (int which = 0; which < 48; which++) {
        tsr_geometry geometry = oriented(which, 0, TSR_SPACE_RAS);
        if (which == 5) { /* an oblique one, by 30 and 20 degrees */
            double c = cos(0.5235987755982988), s = sin(0.5235987755982988), d = cos(0.3490658503988659), t = sin(0.3490658503988659);
            const double r[3][3] = { { c, -s * d, s * t }, { s, c * d, -c * t }, { 0, t, d } };
            for (int i = 0; i < 9; i++) geometry.affine[i / 3][i % 3] = r[i / 3][i % 3] * (i % 3 + 1);
        }
        tsr_volume *volume = make_volume(TSR_U8, (tsr_size3){ 4, 3, 2 }, &geometry), *back, *again;
        require_ok(tsr_volume_write(volume, scratch("q.nii"), &overwrite));
        size_t size;
        char *bytes = (char *)scratch_read("q.nii", &size);
        memset(bytes + 254, 0, 2); /* sform_code 0 */
        scratch_write("r.nii", bytes, size);
        free(bytes);
        require_ok(tsr_volume_read(scratch("r.nii"), NULL, &back));
        for (int i = 0; i < 12; i++) assert_true(fabs(tsr_volume_geometry(back)->affine[i / 4][i % 4] - geometry.affine[i / 4][i % 4]) < 2e-6 * 3);
        again = round_trip(back, "s.nii", &overwrite); /* and stays the same bits from then on */
        assert_true(affine_error(tsr_volume_geometry(back), tsr_volume_geometry(again)) == 0);
        assert_string_equal(tsr_volume_meta(again, "nifti.sform_code"), "0");
        tsr_volume_destroy(&volume);
        tsr_volume_destroy(&back);
        tsr_volume_destroy(&again);
    }
    scratch_files(1);
}

/* A file whose sform and qform differ keeps both, and its other fields, byte for byte. */
static void nifti_header_survives(void **state)
{
    (void)state;
    tsr_geometry geometry = oriented(11, 1, TSR_SPACE_RAS);
    tsr_volume *volume = make_volume(TSR_F32, (tsr_size3){ 4, 3, 2 }, &geometry), *back;
    require_ok(tsr_volume_set_scaling(volume, 0.25, -3));
    require_ok(tsr_volume_set_meta(volume, "nifti.descrip", "a test, 80 characters at most"));
    require_ok(tsr_volume_set_meta(volume, "nifti.intent_code", "1002"));
    require_ok(tsr_volume_set_meta(volume, "nifti.intent_name", "label"));
    require_ok(tsr_volume_set_meta(volume, "nifti.intent_p1", "0.5"));
    require_ok(tsr_volume_set_meta(volume, "nifti.xyzt_units", "10"));
    require_ok(tsr_volume_set_meta(volume, "nifti.cal_max", "255"));
    require_ok(tsr_volume_set_meta(volume, "nifti.slice_code", "3"));
    for (int version = 1; version <= 2; version++) {
        tsr_write_options options = overwrite;
        options.format = version == 2 ? "nifti2" : NULL;
        require_ok(tsr_volume_write(volume, scratch("a.nii"), &options));
        size_t size, again_size;
        uint8_t *bytes = (uint8_t *)scratch_read("a.nii", &size);
        if (version == 1) { /* another frame in the qform: a quarter turn, other codes */
            const float q[6] = { 0.70710678f, 0, 0, 5, 6, 7 };
            const int16_t codes[2] = { 1, 4 };
            memcpy(bytes + 252, codes, 4);
            memcpy(bytes + 256, q, sizeof q);
        }
        scratch_write("b.nii", bytes, size);
        require_ok(tsr_volume_read(scratch("b.nii"), NULL, &back));
        double slope, intercept;
        tsr_volume_scaling(back, &slope, &intercept);
        assert_true(slope == 0.25 && intercept == -3);
        assert_string_equal(tsr_volume_meta(back, "nifti.intent_name"), "label");
        require_ok(tsr_volume_write(back, scratch("c.nii"), &overwrite));
        uint8_t *again = (uint8_t *)scratch_read("c.nii", &again_size);
        assert_int_equal(size, again_size);
        for (size_t i = 0; i < size; i++)
            if (bytes[i] != again[i]) fail_msg("version %d: byte %zu is %d, was %d", version, i, again[i], bytes[i]);
        /* A changed geometry is written as it is now: the old qform does not come back. */
        tsr_geometry moved = *tsr_volume_geometry(back);
        moved.affine[0][3] += 8;
        require_ok(tsr_volume_set_geometry(back, &moved));
        tsr_volume *third = round_trip(back, "d.nii", &overwrite);
        assert_true(affine_error(&moved, tsr_volume_geometry(third)) == 0);
        assert_string_equal(tsr_volume_meta(third, "nifti.qform_code"), "0"); /* sheared */
        tsr_volume_destroy(&third);
        tsr_volume_destroy(&back);
        free(bytes);
        free(again);
    }
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* Any metadata and, with stored values, the scaling go through NRRD and MetaImage; NRRD keeps even awkward text. */
static void metadata_survives(void **state)
{
    (void)state;
    tsr_volume *volume = make_volume(TSR_U16, (tsr_size3){ 4, 3, 2 }, NULL), *back;
    double slope, intercept;
    tsr_write_options stored = overwrite;
    stored.stored_values = 1;
    require_ok(tsr_volume_set_scaling(volume, 0.1, -1024));
    require_ok(tsr_volume_set_meta(volume, "nifti.descrip", "from elsewhere: a = b"));
    require_ok(tsr_volume_set_meta(volume, "Segment0_Name", "brain"));
    back = round_trip(volume, "m.mha", &stored);
    tsr_volume_scaling(back, &slope, &intercept);
    assert_true(slope == 0.1 && intercept == -1024);
    assert_string_equal(tsr_volume_meta(back, "nifti.descrip"), "from elsewhere: a = b");
    assert_string_equal(tsr_volume_meta(back, "metaimage.Segment0_Name"), "brain");
    tsr_volume_destroy(&back);
    require_ok(tsr_volume_set_meta(volume, "note", "two\nlines and a \\ backslash"));
    require_ok(tsr_volume_set_meta(volume, "nrrd.content", "a head"));
    require_ok(tsr_volume_set_meta(volume, "nrrd.kinds", "space space space"));
    back = round_trip(volume, "m.nrrd", &stored);
    tsr_volume_scaling(back, &slope, &intercept);
    assert_true(slope == 0.1 && intercept == -1024);
    assert_string_equal(tsr_volume_meta(back, "note"), "two\nlines and a \\ backslash");
    assert_string_equal(tsr_volume_meta(back, "nrrd.content"), "a head");
    assert_string_equal(tsr_volume_meta(back, "nrrd.kinds"), "space space space");
    assert_string_equal(tsr_volume_meta(back, "Segment0_Name"), "brain");
    tsr_volume_destroy(&back);
    require_error(tsr_volume_write(volume, scratch("m.inr"), &stored), TSR_ERROR_ARGUMENT, "slope");
    require_error(tsr_volume_write(volume, scratch("m.raw"), &stored), TSR_ERROR_ARGUMENT, "slope");
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

static void raw_with_options(void **state)
{
    (void)state;
    tsr_volume *volume = make_volume(TSR_I32, (tsr_size3){ 5, 4, 3 }, NULL), *back;
    tsr_write_options options = overwrite;
    options.big_endian = 1;
    require_ok(tsr_volume_write(volume, scratch("a.raw"), &options));
    size_t size;
    char *bytes = (char *)scratch_read("a.raw", &size);
    char *shifted = (char *)calloc(1, size + 7);
    memcpy(shifted + 7, bytes, size);
    scratch_write("b.dat", shifted, size + 7);
    tsr_read_options reading = TSR_READ_OPTIONS;
    require_error(tsr_volume_read(scratch("a.raw"), NULL, &back), TSR_ERROR_ARGUMENT, "raw_shape");
    reading.raw_shape = (tsr_size3){ 5, 4, 3 };
    reading.raw_dtype = TSR_I32;
    reading.raw_offset = 7;
    reading.raw_big_endian = 1;
    reading.raw_spacing = (tsr_vec3){ 2, 3, 4 };
    require_ok(tsr_volume_read(scratch("b.dat"), &reading, &back));
    same_voxels(volume, back);
    assert_true(tsr_volume_geometry(back)->affine[2][2] == 4);
    tsr_volume_destroy(&back);
    reading.raw_offset = 8;
    require_error(tsr_volume_read(scratch("b.dat"), &reading, &back), TSR_ERROR_FORMAT, "truncated");
    free(bytes);
    free(shifted);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* Large enough to be mapped: writing to the volume must not reach the file, and the file may be replaced meanwhile. */
static void large_files_are_mapped(void **state)
{
    (void)state;
    static const char *const names[] = { "big.nii", "big.nrrd", "big.mhd", "big.nii.gz", "big.inr" };
    tsr_volume *volume = make_volume(TSR_I16, (tsr_size3){ 160, 150, 64 }, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        tsr_volume *back = round_trip(volume, names[i], &overwrite), *again;
        same_voxels(volume, back);
        ((int16_t *)tsr_volume_data(back))[5] ^= 1;
        require_ok(tsr_volume_read(scratch(names[i]), NULL, &again));
        same_voxels(volume, again);
        tsr_volume_destroy(&again);
        tsr_write_options other = overwrite;
        other.big_endian = 1;
        require_ok(tsr_volume_write(back, scratch(names[i]), &other));
        require_ok(tsr_volume_read(scratch(names[i]), NULL, &again)); /* now swapped: read, not mapped */
        same_voxels(back, again);
        tsr_volume_destroy(&again);
        tsr_volume_destroy(&back);
    }
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* Compressed output does not depend on the piece boundaries: 20 MiB are two rounds of pieces. */
static void long_gzip_streams(void **state)
{
    (void)state;
    tsr_volume *volume;
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 1024, 1024, 20 }, NULL, &volume));
    uint64_t random = 5;
    uint8_t *voxels = (uint8_t *)tsr_volume_data(volume);
    for (int64_t i = 0; i < tsr_volume_count(volume); i++) voxels[i] = (uint8_t)(test_random(&random) & (i >> 20 & 1 ? 255 : 3));
    static const char *const names[] = { "long.nii.gz", "long.nrrd", "long.mha" };
    for (int i = 0; i < 3; i++) {
        tsr_write_options options = overwrite;
        options.compression = 1;
        tsr_volume *back = round_trip(volume, names[i], &options);
        same_voxels(volume, back);
        tsr_volume_destroy(&back);
    }
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* Options for names and headers of strangers: links and pipes are neither followed nor waited for, data files lie beside their header. */
static void strangers(void **state)
{
    (void)state;
    const tsr_write_options strict = { .struct_size = sizeof strict, .overwrite = 1, .regular_only = 1 };
    const tsr_read_options stay = { .struct_size = sizeof stay, .same_folder = 1 };
    char target[512];
    tsr_volume *volume = make_volume(TSR_U8, (tsr_size3){ 5, 4, 3 }, NULL), *back = NULL;
    require_ok(tsr_volume_write(volume, scratch("plain.mhd"), &strict));
    require_ok(tsr_volume_write(volume, scratch("plain.mhd"), &strict)); /* again: a plain file may be replaced */
    require_ok(tsr_volume_read(scratch("plain.mhd"), &stay, &back));
    same_voxels(volume, back);
    tsr_volume_destroy(&back);
    snprintf(target, sizeof target, "%s", scratch("plain.raw"));
    assert_int_equal(symlink("plain.mhd", scratch("link.mhd")), 0);
    assert_int_equal(mkfifo(scratch("pipe.nrrd"), 0600), 0);
    require_error(tsr_volume_write(volume, scratch("link.mhd"), &strict), TSR_ERROR_IO, "is a link");
    require_error(tsr_volume_write(volume, scratch("pipe.nrrd"), &strict), TSR_ERROR_IO, "pipe or device");
    assert_int_equal(symlink("plain.mhd", scratch("link.tsc")), 0);
    assert_int_equal(mkfifo(scratch("pipe.tsc"), 0600), 0);
    require_error(tsr_volume_write(volume, scratch("link.tsc"), &strict), TSR_ERROR_IO, "is a link");
    require_error(tsr_volume_write(volume, scratch("pipe.tsc"), &strict), TSR_ERROR_IO, "pipe or device");
    require_error(tsr_volume_read(scratch("link.mhd"), &stay, &back), TSR_ERROR_IO, "is a link");
    require_error(tsr_volume_read(scratch("pipe.nrrd"), &stay, &back), TSR_ERROR_IO, "pipe or device");
    require_ok(tsr_volume_read(scratch("link.mhd"), NULL, &back)); /* whoever does not ask follows links */
    tsr_volume_destroy(&back);
    assert_int_equal(rename(target, scratch("moved.raw")), 0);
    assert_int_equal(symlink("moved.raw", target), 0);
    require_error(tsr_volume_write(volume, scratch("plain.mhd"), &strict), TSR_ERROR_IO, "is a link");
    require_error(tsr_volume_read(scratch("plain.mhd"), &stay, &back), TSR_ERROR_IO, "is a link");
    assert_null(back);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

static void expect_text(const char *path, const char *text)
{
    char got[64];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    fclose(file);
    assert_string_equal(got, text);
}

/* Whole or not at all, and never through a link where that is not wanted. */
static void texts(void **state)
{
    (void)state;
    const tsr_write_options replace = { .struct_size = sizeof replace, .overwrite = 1 };
    const tsr_write_options strict = { .struct_size = sizeof strict, .overwrite = 1, .regular_only = 1 };
    require_ok(tsr_text_write("first\n", scratch("a.txt"), NULL));
    require_error(tsr_text_write("second\n", scratch("a.txt"), NULL), TSR_ERROR_IO, "exists");
    expect_text(scratch("a.txt"), "first\n");
    require_ok(tsr_text_write("second\n", scratch("a.txt"), &replace));
    expect_text(scratch("a.txt"), "second\n");
    require_ok(tsr_text_write("", scratch("empty.txt"), &strict));
    expect_text(scratch("empty.txt"), "");
    assert_int_equal(symlink("a.txt", scratch("link.txt")), 0);
    require_error(tsr_text_write("third\n", scratch("link.txt"), &strict), TSR_ERROR_IO, "is a link");
    require_ok(tsr_text_write("fourth\n", scratch("link.txt"), &replace));
    expect_text(scratch("a.txt"), "fourth\n");
    require_error(tsr_text_write("x", scratch("nix/a.txt"), NULL), TSR_ERROR_IO, "cannot create a file in this folder");
    require_error(tsr_text_write("x", "", NULL), TSR_ERROR_ARGUMENT, "path is empty");
    require_error(tsr_text_write(NULL, scratch("b.txt"), NULL), TSR_ERROR_ARGUMENT, "text is NULL");
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_in_every_variant),
        cmocka_unit_test(every_orientation),
        cmocka_unit_test(quaternion_means_the_same),
        cmocka_unit_test(nifti_header_survives),
        cmocka_unit_test(metadata_survives),
        cmocka_unit_test(raw_with_options),
        cmocka_unit_test(large_files_are_mapped),
        cmocka_unit_test(long_gzip_streams),
        cmocka_unit_test(strangers),
        cmocka_unit_test(texts),
    };
    return cmocka_run_group_tests_name("volume files", tests, scratch_make, scratch_remove);
}
