/* Files that other programs wrote: small ones in fixtures/ (nibabel 5.4, SimpleITK 2.5, pynrrd 1.1; voxel = x + 10 y + 100 z), data in several
 * files as the formats define them, and real data under TESSERA_DATA against checksums taken by the same programs. */
#include "scratch.h"

#include <math.h>
#include <zlib.h>

static double voxel(const tsr_volume *volume, int64_t i)
{
    const void *data = tsr_volume_data_const(volume);
    return tsr_volume_dtype(volume) == TSR_I16  ? ((const int16_t *)data)[i]
           : tsr_volume_dtype(volume) == TSR_U8 ? ((const uint8_t *)data)[i]
                                                : (double)((const float *)data)[i];
}

static void check_ramp(const tsr_volume *volume)
{
    tsr_size3 size = tsr_volume_size(volume);
    assert_true(size.x == 5 && size.y == 4 && size.z == 3);
    for (int64_t i = 0; i < 60; i++) assert_true(voxel(volume, i) == (double)(i % 5 + 10 * (i / 5 % 4) + 100 * (i / 20)));
}

static void files_of_other_programs(void **state)
{
    (void)state;
    static const struct { const char *name; tsr_dtype dtype; tsr_geometry geometry; double error; } files[] = {
        { "nibabel-big-endian.nii", TSR_I16, { { { 0, -1.5, 0.25, 10 }, { 2, 0, 0, -20 }, { 0, 0.5, -3, 30 } }, TSR_SPACE_RAS }, 0 },
        { "nibabel-qform.nii.gz", TSR_F32, { { { 0, -2, 0, 1 }, { -1, 0, 0, 2 }, { 0, 0, 3, 3 } }, TSR_SPACE_RAS }, 1e-15 },
        { "itk-zlib.mha", TSR_I16, { { { 0, -2, 0, 10 }, { 1, 0, 0, -20 }, { 0, 0, 3, 30 } }, TSR_SPACE_LPS }, 0 },
        { "itk-detached.mhd", TSR_I16, { { { 0, -2, 0, 10 }, { 1, 0, 0, -20 }, { 0, 0, 3, 30 } }, TSR_SPACE_LPS }, 0 },
        /* left-anterior-superior in the file: x changes its sign */
        { "pynrrd-gzip.nrrd", TSR_I16, { { { 0, 1.5, 0, -1 }, { 2, 0, 0, 2 }, { 0, 0, 3, 3 } }, TSR_SPACE_RAS }, 0 },
    };
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        char path[512];
        tsr_volume *volume;
        snprintf(path, sizeof path, "%s/%s", TESSERA_FIXTURES, files[f].name);
        require_ok(tsr_volume_read(path, NULL, &volume));
        assert_int_equal(tsr_volume_dtype(volume), files[f].dtype);
        check_ramp(volume);
        assert_int_equal(tsr_volume_geometry(volume)->space, files[f].geometry.space);
        for (int i = 0; i < 12; i++) {
            double error = fabs(tsr_volume_geometry(volume)->affine[i / 4][i % 4] - files[f].geometry.affine[i / 4][i % 4]);
            if (!(error <= files[f].error)) fail_msg("%s: affine[%d][%d] differs by %g", files[f].name, i / 4, i % 4, error);
        }
        if (!strcmp(files[f].name, "pynrrd-gzip.nrrd")) { /* and is written as it came */
            tsr_volume *back;
            assert_string_equal(tsr_volume_meta(volume, "note"), "kept");
            require_ok(tsr_volume_write(volume, scratch("a.nrrd"), NULL));
            size_t size;
            char *text = (char *)scratch_read("a.nrrd", &size);
            assert_non_null(strstr(text, "space: left-anterior-superior\n"));
            assert_non_null(strstr(text, "space directions: (0,2,0) (-1.5,0,0) (0,0,3)\n"));
            free(text);
            require_ok(tsr_volume_read(scratch("a.nrrd"), NULL, &back));
            assert_memory_equal(tsr_volume_geometry(back)->affine, tsr_volume_geometry(volume)->affine, sizeof tsr_volume_geometry(back)->affine);
            assert_int_equal(tsr_volume_geometry(back)->space, tsr_volume_geometry(volume)->space);
            tsr_volume_destroy(&back);
        }
        tsr_volume_destroy(&volume);
    }
    scratch_files(1);
}

/* One slice per file, named by a list or a pattern; skipped lines and bytes; data at the end of a file. */
static void data_in_several_files(void **state)
{
    (void)state;
    static const char *const headers[][2] = {
        { "list.nhdr", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 5 4 3\nencoding: raw\ndata file: LIST\ns1.raw\ns2.raw\ns3.raw\n" },
        { "pattern.nhdr", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 5 4 3\nencoding: raw\ndata file: s%d.raw 1 3 1\n" },
        { "skip.nhdr", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 5 4 3\nencoding: raw\nline skip: 2\nbyte skip: 3\ndata file: skipped.dat\n" },
        { "end.nhdr", "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 5 4 3\nencoding: raw\nbyte skip: -1\ndata file: skipped.dat\n" },
        { "list.mhd", "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_UCHAR\nElementDataFile = LIST\ns1.raw\ns2.raw\ns3.raw\n" },
        { "pattern.mhd", "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_UCHAR\nElementDataFile = s%d.raw 1 3 1\n" },
        { "end.mhd", "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_UCHAR\nHeaderSize = -1\nElementDataFile = skipped.dat\n" },
        { "absolute.mhd", "" },
    };
    uint8_t skipped[80] = "line one\nline 2\nabc";
    for (int i = 0; i < 60; i++) skipped[19 + i] = (uint8_t)(i % 5 + 10 * (i / 5 % 4) + 100 * (i / 20));
    for (int z = 0; z < 3; z++) {
        char name[32];
        snprintf(name, sizeof name, "s%d.raw", z + 1);
        scratch_write(name, skipped + 19 + 20 * z, 20);
    }
    scratch_write("skipped.dat", skipped, 79);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char text[1024];
        tsr_volume *volume;
        snprintf(text, sizeof text, "%s", headers[i][1]);
        if (!*text)
            snprintf(text, sizeof text,
                     "NDims = 3\nObjectType = Image\nDimSize = 5 4 3\nElementType = MET_UCHAR\nHeaderSize = 19\nElementDataFile = %s\n",
                     scratch("skipped.dat"));
        scratch_write(headers[i][0], text, strlen(text));
        require_ok(tsr_volume_read(scratch(headers[i][0]), NULL, &volume));
        check_ramp(volume);
        tsr_volume_destroy(&volume);
    }
    scratch_write("s2.raw", "short", 5);
    tsr_volume *volume;
    require_error(tsr_volume_read(scratch("list.mhd"), NULL, &volume), TSR_ERROR_FORMAT, "s2.raw");
    assert_null(volume);
    scratch_files(1);
}

/* Spacings, ranges and centerings of NRRD files without directions. */
static void nrrd_without_directions(void **state)
{
    (void)state;
    static const struct { const char *fields; double spacing, origin; } cases[] = {
        { "spacings: 2.5\n", 2.5, 0 },
        { "spacings: -2.5\naxis mins: 3\n", -2.5, 3 },
        { "axis mins: 1\naxis maxs: 9\n", 2, 1 },                    /* nodes: the range ends at the outer samples */
        { "axis mins: 1\naxis maxs: 11\ncenters: cell\n", 2, 2 },    /* cells: it ends half a cell beyond */
        { "axismins: 1\nspacings: 4\ncenterings: cell\n", 4, 3 },
        { "spacings: nan\n", 1, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        tsr_volume *volume;
        int length = snprintf(text, sizeof text, "NRRD0002\ntype: uchar\ndimension: 1\nsizes: 5\n%sencoding: raw\n\nabcde", cases[i].fields);
        scratch_write("n.nrrd", text, (size_t)length);
        require_ok(tsr_volume_read(scratch("n.nrrd"), NULL, &volume));
        assert_true(tsr_volume_geometry(volume)->affine[0][0] == cases[i].spacing && tsr_volume_geometry(volume)->affine[0][3] == cases[i].origin);
        assert_int_equal(tsr_volume_geometry(volume)->space, TSR_SPACE_NONE);
        tsr_volume_destroy(&volume);
    }
    scratch_files(1);
}

static void real_data(void **state)
{
    (void)state;
    static const struct { const char *name; tsr_dtype dtype; tsr_size3 size; uint32_t crc; double m[4]; tsr_space space; } files[] = {
        { "mri/ch2.nii.gz", TSR_U8, { 181, 217, 181 }, 0xc3822357u, { 1, 0, 0, -90 }, TSR_SPACE_RAS },
        { "mri/ch2bet.nii.gz", TSR_U8, { 181, 217, 181 }, 0x0521be8bu, { 1, 0, 0, -90 }, TSR_SPACE_RAS },
        { "ct-chest.nrrd", TSR_U8, { 256, 256, 133 }, 0xfdf4efd0u, { 1.40625, 0, 0, 0 }, TSR_SPACE_NONE },
        { "ct-head-oblique.nrrd", TSR_I16, { 64, 64, 93 }, 0x61dd4525u, { 2.7712, -1.6, 0, 0 }, TSR_SPACE_NONE },
        { "meshes/images/skull_2.9.inr", TSR_F32, { 64, 64, 64 }, 0xe6f0281au, { 3.94305, 0, 0, 0 }, TSR_SPACE_NONE },
    };
    const char *data = getenv("TESSERA_DATA");
    int read = 0;
    for (size_t i = 0; data && i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        tsr_volume *volume;
        snprintf(path, sizeof path, "%s/%s", data, files[i].name);
        if (access(path, R_OK)) continue;
        require_ok(tsr_volume_read(path, NULL, &volume));
        tsr_size3 size = tsr_volume_size(volume);
        assert_int_equal(tsr_volume_dtype(volume), files[i].dtype);
        assert_true(size.x == files[i].size.x && size.y == files[i].size.y && size.z == files[i].size.z);
        assert_int_equal(crc32(0, (const Bytef *)tsr_volume_data(volume), (uInt)((size_t)tsr_volume_count(volume) * tsr_dtype_size(files[i].dtype))),
                         files[i].crc);
        for (int c = 0; c < 4; c++) assert_true(tsr_volume_geometry(volume)->affine[0][c] == files[i].m[c]);
        assert_int_equal(tsr_volume_geometry(volume)->space, files[i].space);
        tsr_volume_destroy(&volume);
        read++;
    }
    if (!read) {
        print_message("skipped: no mri/ch2.nii.gz, ct-chest.nrrd ... under TESSERA_DATA; scripts/get-data.sh fetches the first\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(files_of_other_programs), cmocka_unit_test(data_in_several_files),
                                        cmocka_unit_test(nrrd_without_directions), cmocka_unit_test(real_data) };
    return cmocka_run_group_tests_name("volume data", tests, scratch_make, scratch_remove);
}
