/* TIFF, HDF5 and Zarr: files written by hand and by the C libraries give the volume that they mean; what is cut off or lies is refused by name. The Python libraries
 * are asked by tiff_stacks.py, hdf5_arrays.py and zarr_arrays.py. */
#include "scratch.h"
#include "io/crc32c.h"

#include "tessera/io.h"

#include <errno.h>
#ifdef TSR_HAVE_HDF5
#define H5_USE_110_API
#include <hdf5.h>
#endif
#ifdef TSR_HAVE_TIFF
#include <tiffio.h>
#endif

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

static tsr_volume *make_volume(tsr_size3 size)
{
    tsr_volume *volume;
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.5, 2, 3 }, (tsr_vec3){ 4, 5, 6 }, TSR_SPACE_NONE);
    require_ok(tsr_volume_create(NULL, TSR_I16, size, &geometry, &volume));
    for (int64_t i = 0; i < tsr_volume_count(volume); i++) ((int16_t *)tsr_volume_data(volume))[i] = (int16_t)(i * 7 - 300);
    return volume;
}

static void require_same(const tsr_volume *a, const tsr_volume *b)
{
    const tsr_size3 n = tsr_volume_size(a), m = tsr_volume_size(b);
    assert_true(n.x == m.x && n.y == m.y && n.z == m.z);
    assert_int_equal(tsr_volume_dtype(a), tsr_volume_dtype(b));
    assert_memory_equal(tsr_volume_data_const(a), tsr_volume_data_const(b), (size_t)tsr_volume_count(a) * tsr_dtype_size(tsr_volume_dtype(a)));
    assert_memory_equal(tsr_volume_geometry(a)->affine, tsr_volume_geometry(b)->affine, sizeof(double[3][4]));
}

/* Every beginning of the file is refused, and leaves no volume, from `least` bytes on. */
static void refuse_cut_off(const char *name, size_t least, size_t spare)
{
    size_t size;
    uint8_t *bytes = (uint8_t *)scratch_read(name, &size);
    for (size_t n = least; n < size - spare; n += n < 600 || n + 100 > size ? 1 : 37) {
        tsr_volume *volume = (tsr_volume *)&volume;
        char cut[64];
        snprintf(cut, sizeof cut, "cut-%s", name);
        scratch_write(cut, bytes, n);
        const tsr_status status = tsr_volume_read(scratch(cut), NULL, &volume);
        if (status == TSR_OK) fail_msg("%s: %zu of %zu bytes were accepted", name, n, size);
        assert_null(volume);
        if (!strstr(tsr_error_message(), cut)) fail_msg("'%s' does not name the file", tsr_error_message());
    }
    free(bytes);
}

static void boxes_of_every_format(void **state)
{
    (void)state;
    static const char *const names[] = { "a.nii",
                                         "a.nrrd",
                                         "a.mha",
                                         "a.npy",
                                         "a.tif"
#ifdef TSR_HAVE_HDF5
                                         ,
                                         "a.h5"
#endif
#ifdef TSR_HAVE_JANSSON
                                         ,
                                         "a.zarr.zip"
#endif
    };
    tsr_volume *all = make_volume((tsr_size3){ 9, 8, 7 });
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tsr_read_options options = { .struct_size = sizeof options, .box_given = 1, .box = { { 2, 3, 4 }, { 8, 5, 7 } } };
        tsr_volume *box, *whole;
        require_ok(tsr_volume_write(all, scratch(names[i]), &overwrite));
        if (i == 4) { /* a build without libtiff writes TIFF alone */
            const tsr_status status = tsr_volume_read(scratch(names[i]), NULL, &whole);
            tsr_volume_destroy(&whole);
            if (status == TSR_ERROR_UNSUPPORTED) continue;
        }
        require_ok(tsr_volume_read(scratch(names[i]), NULL, &whole));
        require_ok(tsr_volume_read(scratch(names[i]), &options, &box));
        const tsr_size3 n = tsr_volume_size(box);
        assert_true(n.x == 6 && n.y == 2 && n.z == 3);
        for (int64_t z = 0; z < 3; z++)
            for (int64_t y = 0; y < 2; y++)
                for (int64_t x = 0; x < 6; x++)
                    assert_int_equal(((const int16_t *)tsr_volume_data_const(box))[(z * 2 + y) * 6 + x],
                                     ((z + 4) * 72 + (y + 3) * 9 + x + 2) * 7 - 300);
        const tsr_vec3 corner = tsr_geometry_to_world(tsr_volume_geometry(whole), (tsr_vec3){ 2, 3, 4 }),
                       own = tsr_geometry_to_world(tsr_volume_geometry(box), (tsr_vec3){ 0, 0, 0 });
        assert_true(corner.x == own.x && corner.y == own.y && corner.z == own.z);
        tsr_volume_destroy(&box);
        tsr_volume_destroy(&whole);
        options.box[1].z = 8;
        require_error(tsr_volume_read(scratch(names[i]), &options, &box), TSR_ERROR_ARGUMENT,
                      "options.box is 2,3,4:8,5,8, expected voxels of 9 x 8 x 7");
        options.box[1] = options.box[0];
        require_error(tsr_volume_read(scratch(names[i]), &options, &box), TSR_ERROR_ARGUMENT, "options.box");
    }
    tsr_read_options other = { .struct_size = sizeof other, .dataset = "x" };
    tsr_volume *none;
    require_error(tsr_volume_read(scratch("a.nii"), &other, &none), TSR_ERROR_ARGUMENT, "options.dataset is 'x', which a nifti file does not have");
    other = (tsr_read_options){ .struct_size = sizeof other, .level_given = 1, .level = 1 };
    require_error(tsr_volume_read(scratch("a.nii"), &other, &none), TSR_ERROR_ARGUMENT, "options.level is 1");
    tsr_volume_destroy(&all);
    scratch_files(1);
}

#ifdef TSR_HAVE_TIFF

/* A little-endian file of one page, 4 x 2 bytes, whose header has the entries of `change` in place of its own. */
struct entry {
    uint16_t tag, type;
    uint32_t count, value;
};
static size_t make_page(uint8_t *file, struct entry change)
{
    static const struct entry usual[] = { { 256, 4, 1, 4 }, { 257, 4, 1, 2 }, { 258, 3, 1, 8 }, { 259, 3, 1, 1 }, { 262, 3, 1, 1 },
                                          { 273, 4, 1, 8 }, { 277, 3, 1, 1 }, { 278, 4, 1, 2 }, { 279, 4, 1, 8 }, { 339, 3, 1, 1 } };
    enum { COUNT = (int)(sizeof usual / sizeof *usual) };
    memcpy(file, "II*\0\x10\0\0\0\1\2\3\4\5\6\7\x08", 16);
    file[16] = COUNT;
    file[17] = 0;
    for (int i = 0; i < COUNT; i++) {
        const struct entry e = usual[i].tag == change.tag ? change : usual[i];
        memcpy(file + 18 + 12 * i, &e, 12); /* the machine is little-endian, too, as the test asks */
    }
    memset(file + 18 + 12 * COUNT, 0, 4);
    return 18 + 12 * COUNT + 4;
}

static void tiff_fields(void **state)
{
    (void)state;
    static const struct {
        struct entry change;
        tsr_status status;
        const char *text;
    } cases[] = {
        { { 256, 4, 1, 0 }, TSR_ERROR_FORMAT, "TIFF" },
        { { 257, 4, 1, 0 }, TSR_ERROR_FORMAT, "TIFF" },
        { { 256, 4, 1, 0x7fffffff }, TSR_ERROR_FORMAT, "truncated" },
        { { 257, 4, 1, 0x7fffffff }, TSR_ERROR_FORMAT, "TIFF" },
        { { 258, 3, 1, 99 }, TSR_ERROR_UNSUPPORTED, "99 bits" },
        { { 258, 3, 1, 40 }, TSR_ERROR_UNSUPPORTED, "40 bits" },
        { { 259, 3, 1, 9999 }, TSR_ERROR_UNSUPPORTED, "method 9999" },
        { { 259, 3, 1, 8 }, TSR_ERROR_FORMAT, "voxels of page 0" },
        { { 259, 3, 1, 5 }, TSR_ERROR_FORMAT, "voxels of page 0" },
        { { 262, 3, 1, 6 }, TSR_ERROR_FORMAT, "samplesperpixel" },
        { { 273, 4, 1, 4000 }, TSR_ERROR_FORMAT, "voxels of page 0" },
        { { 273, 4, 1, 0xfffffff0 }, TSR_ERROR_FORMAT, "voxels of page 0" },
        { { 339, 3, 1, 3 }, TSR_ERROR_UNSUPPORTED, "real numbers of 8 bits" },
        { { 339, 3, 1, 6 }, TSR_ERROR_UNSUPPORTED, "complex" },
    };
    uint8_t file[256];
    tsr_volume *volume;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scratch_write("page.tif", file, make_page(file, cases[i].change));
        volume = (tsr_volume *)&volume;
        const tsr_status status = tsr_volume_read(scratch("page.tif"), NULL, &volume);
        if (status != cases[i].status || !strstr(tsr_error_message(), cases[i].text))
            fail_msg("tag %d: %s '%s', expected %s and '%s'", cases[i].change.tag, tsr_status_name(status), tsr_error_message(),
                     tsr_status_name(cases[i].status), cases[i].text);
        assert_null(volume);
        assert_non_null(strstr(tsr_error_message(), "page.tif"));
    }
    const size_t size = make_page(file, (struct entry){ 0, 0, 0, 0 });
    scratch_write("page.tif", file, size);
    require_ok(tsr_volume_read(scratch("page.tif"), NULL, &volume));
    assert_memory_equal(tsr_volume_data_const(volume), "\1\2\3\4\5\6\7\x08", 8);
    tsr_volume_destroy(&volume);
    memcpy(file + size - 4, "\x10\0\0\0", 4); /* the next header is the first again */
    scratch_write("page.tif", file, size);
    require_ok(tsr_volume_read(scratch("page.tif"), NULL, &volume));
    assert_int_equal(tsr_volume_size(volume).z, 1); /* libtiff ends there, and the chain with it */
    tsr_volume_destroy(&volume);
    make_page(file, (struct entry){ 258, 3, 1, 4 }); /* two numbers a byte, the high half first */
    scratch_write("page.tif", file, size);
    require_ok(tsr_volume_read(scratch("page.tif"), NULL, &volume));
    assert_memory_equal(tsr_volume_data_const(volume), "\0\1\0\2\0\3\0\4", 8);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* A pyramid and planar colours by libtiff itself; what we write, read by it. */
static void tiff_by_libtiff(void **state)
{
    (void)state;
    tsr_volume *volume, *all = make_volume((tsr_size3){ 70, 50, 3 });
    tsr_write_options packed = { .struct_size = sizeof packed, .overwrite = 1, .compression = 6 };
    TIFF *tif = TIFFOpen(scratch("planes.tif"), "wb");
    assert_non_null(tif);
    for (uint16_t page = 0; page < 2; page++) {
        uint16_t line[33];
        TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, 33);
        TIFFSetField(tif, TIFFTAG_IMAGELENGTH, 5);
        TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 16);
        TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, 3);
        TIFFSetField(tif, TIFFTAG_PLANARCONFIG, PLANARCONFIG_SEPARATE);
        TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
        TIFFSetField(tif, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
        TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, 2);
        TIFFSetField(tif, TIFFTAG_XRESOLUTION, 1000.0);
        TIFFSetField(tif, TIFFTAG_YRESOLUTION, 500.0);
        TIFFSetField(tif, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
        for (uint16_t s = 0; s < 3; s++)
            for (uint32_t y = 0; y < 5; y++) {
                for (int x = 0; x < 33; x++) line[x] = (uint16_t)(page * 10000 + s * 1000 + y * 100 + (unsigned)x);
                assert_int_equal(TIFFWriteScanline(tif, line, y, s), 1);
            }
        assert_int_equal(TIFFWriteDirectory(tif), 1);
    }
    TIFFClose(tif);
    tsr_read_options options = { .struct_size = sizeof options, .channel_given = 1, .channel = 2 };
    require_error(tsr_volume_read(scratch("planes.tif"), NULL, &volume), TSR_ERROR_UNSUPPORTED, "options.channel 0 to 2 says which");
    require_ok(tsr_volume_read(scratch("planes.tif"), &options, &volume));
    const tsr_vec3 h = tsr_geometry_spacing(tsr_volume_geometry(volume));
    assert_true(h.x == 0.01 && h.y == 0.02); /* millimetres */
    for (int64_t i = 0; i < tsr_volume_count(volume); i++)
        assert_int_equal(((const uint16_t *)tsr_volume_data_const(volume))[i], i / 165 * 10000 + 2000 + i % 165 / 33 * 100 + i % 33);
    tsr_volume_destroy(&volume);
    for (int k = 0; k < 2; k++) {
        int16_t strip[70 * 50];
        require_ok(tsr_volume_write(all, scratch("own.tif"), k ? &packed : &overwrite));
        tif = TIFFOpen(scratch("own.tif"), "r");
        assert_non_null(tif);
        for (int z = 0; z < 3; z++) {
            assert_int_equal(TIFFSetDirectory(tif, (tdir_t)z), 1);
            int64_t done = 0;
            for (uint32_t s = 0; s < TIFFNumberOfStrips(tif); s++) done += TIFFReadEncodedStrip(tif, s, (uint8_t *)strip + done, -1);
            assert_int_equal(done, sizeof strip);
            assert_memory_equal(strip, (const int16_t *)tsr_volume_data_const(all) + z * 3500, sizeof strip);
        }
        TIFFClose(tif);
        require_ok(tsr_volume_read(scratch("own.tif"), NULL, &volume));
        require_same(volume, all);
        tsr_volume_destroy(&volume);
    }
    tsr_volume_destroy(&all);
    all = make_volume((tsr_size3){ 12, 10, 3 });
    require_ok(tsr_volume_write(all, scratch("small.tif"), &packed));
    refuse_cut_off("small.tif", 1, 4); /* without the end of the chain of pages libtiff takes it for the end */
    tsr_volume_destroy(&all);
    scratch_files(1);
}

/* Planes of an OME file in other files, and descriptions that lie. */
static void tiff_descriptions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tsr_status status;
        const char *message;
    } cases[] = {
        { "<OME><Image><Pixels DimensionOrder=\"XYZCT\" SizeZ=\"2\"><TiffData FirstZ=\"0\"><UUID FileName=\"a.tif\"/></TiffData><TiffData "
          "FirstZ=\"1\"><UUID "
          "FileName=\"b.tif\"/></TiffData></Pixels></Image></OME>",
          TSR_ERROR_IO, "a.tif' is missing" },
        { "<OME><BinaryOnly MetadataFile=\"c.ome\"/></OME>", TSR_ERROR_UNSUPPORTED, "lies in another file (c.ome)" },
        { "<OME><Image><Pixels SizeZ=\"0\"></Pixels></Image></OME>", TSR_ERROR_FORMAT, "SizeZ, SizeC and SizeT are 0, 1 and 1" },
        { "<OME><Image><Pixels SizeZ=\"99999999\" SizeC=\"999\" SizeT=\"9999\"></Pixels></Image></OME>", TSR_ERROR_FORMAT,
          "planes, the file has 1 pages" },
        { "<OME><Image><Pixels SizeT=\"1\"/></Image><Image><Pixels/></Image></OME>", TSR_ERROR_UNSUPPORTED, "holds 2 images" },
        { "ImageJ=1\nimages=99\nslices=99\n", TSR_ERROR_FORMAT, "truncated" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t line[4] = { 1, 2, 3, 4 };
        tsr_volume *volume;
        TIFF *tif = TIFFOpen(scratch("text.tif"), "wb");
        TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, 4);
        TIFFSetField(tif, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
        TIFFSetField(tif, TIFFTAG_IMAGEDESCRIPTION, cases[i].text);
        assert_int_equal(TIFFWriteScanline(tif, line, 0, 0), 1);
        TIFFClose(tif);
        require_error(tsr_volume_read(scratch("text.tif"), NULL, &volume), cases[i].status, cases[i].message);
    }
    scratch_files(1);
}

#endif

#ifdef TSR_HAVE_HDF5

static void hdf5_by_the_library(void **state)
{
    (void)state;
    tsr_volume *volume, *all = make_volume((tsr_size3){ 12, 10, 5 });
    const hsize_t size[3] = { 5, 10, 12 }, chunk[3] = { 2, 4, 5 };
    const hid_t file = H5Fcreate(scratch("a.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(3, size, NULL),
                plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(plan, 3, chunk);
    H5Pset_shuffle(plan);
    H5Pset_deflate(plan, 4);
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t packed = H5Dcreate2(group, "packed", H5T_STD_I16BE, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    assert_true(H5Dwrite(packed, H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, tsr_volume_data_const(all)) >= 0);
    const hid_t outside_plan = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(outside_plan, "/etc/hostname", 0, 1200);
    const hid_t outside = H5Dcreate2(file, "outside", H5T_STD_I16LE, space, H5P_DEFAULT, outside_plan, H5P_DEFAULT);
    H5Dclose(outside);
    H5Pclose(outside_plan);
    H5Dclose(packed);
    H5Gclose(group);
    H5Pclose(plan);
    H5Sclose(space);
    H5Fclose(file);
    tsr_contents *contents;
    tsr_contents_entry entry;
    require_ok(tsr_file_contents(scratch("a.h5"), NULL, &contents));
    assert_true(tsr_contents_at(contents, 0, &entry));
    assert_string_equal(entry.name, "/g/packed");
    assert_string_equal(entry.type, "i16");
    assert_true(entry.axes == 3 && entry.size[0] == 5 && entry.size[1] == 10 && entry.size[2] == 12);
    assert_true(tsr_contents_at(contents, 1, &entry) && !tsr_contents_at(contents, 2, &entry));
    tsr_contents_destroy(&contents);
    tsr_read_options options = { .struct_size = sizeof options, .dataset = "g/packed" };
    require_error(tsr_volume_read(scratch("a.h5"), NULL, &volume), TSR_ERROR_UNSUPPORTED, "options.dataset says which");
    require_ok(tsr_volume_read(scratch("a.h5"), &options, &volume));
    assert_memory_equal(tsr_volume_data_const(volume), tsr_volume_data_const(all), 1200);
    tsr_volume_destroy(&volume);
    options.dataset = "outside"; /* a file that a stranger's file names is not read */
    require_error(tsr_volume_read(scratch("a.h5"), &options, &volume), TSR_ERROR_UNSUPPORTED, "lie in other files");
    tsr_write_options packs = { .struct_size = sizeof packs, .overwrite = 1, .compression = 3 };
    for (int k = 0; k < 2; k++) {
        require_ok(tsr_volume_write(all, scratch("own.h5"), k ? &packs : &overwrite));
        require_ok(tsr_volume_read(scratch("own.h5"), NULL, &volume));
        require_same(volume, all);
        tsr_volume_destroy(&volume);
    }
    refuse_cut_off("own.h5", 8, 0);
    tsr_volume_destroy(&all);
    scratch_files(1);
}

#endif

#ifdef TSR_HAVE_JANSSON

static void put(const char *key, const void *bytes, size_t size)
{
    char name[128];
    snprintf(name, sizeof name, "z.zarr/%s", key);
    scratch_write(name, bytes, size);
}

static void zarr_by_hand(void **state)
{
    (void)state;
    /* 3 x 3 of big-endian numbers in chunks of 2 x 2 that lie with the first axis fastest; one chunk is missing */
    static const char array[] = "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [2, 2], \"dtype\": \">i2\", \"compressor\": null, "
                                "\"fill_value\": -7, \"order\": \"F\", \"filters\": null}";
    static const int16_t expected[9] = { 1, 2, 3, 4, 5, 6, 7, 8, -7 };
    tsr_volume *volume = NULL;
    assert_true(!mkdir(scratch("z.zarr"), 0700) || errno == EEXIST);
    put(".zarray", array, sizeof array - 1);
    put("0.0", "\0\1\0\4\0\2\0\5", 8);
    put("0.1", "\0\3\0\6\0\0\0\0", 8);
    put("1.0", "\0\7\0\0\0\x08\0\0", 8);
    require_ok(tsr_volume_read(scratch("z.zarr"), NULL, &volume));
    assert_int_equal(tsr_volume_dtype(volume), TSR_I16);
    assert_memory_equal(tsr_volume_data_const(volume), expected, sizeof expected);
    tsr_volume_destroy(&volume);
    put("0.1", "\0\3\0", 3);
    require_error(tsr_volume_read(scratch("z.zarr"), NULL, &volume), TSR_ERROR_FORMAT, "chunk '0.1' has 3 bytes, expected 8");
    static const struct {
        const char *array;
        tsr_status status;
        const char *text;
    } cases[] = {
        { "{\"zarr_format\": 2", TSR_ERROR_FORMAT, "is no JSON object: line 1" },
        { "[1]", TSR_ERROR_FORMAT, "the content is of no known format" },
        { "{\"zarr_format\": 2, \"shape\": [3, -3], \"chunks\": [2, 2], \"dtype\": \"<i2\"}", TSR_ERROR_FORMAT, "'shape' and 'chunks'" },
        { "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [2, 0], \"dtype\": \"<i2\"}", TSR_ERROR_FORMAT, "'shape' and 'chunks'" },
        { "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [2], \"dtype\": \"<i2\"}", TSR_ERROR_FORMAT, "'shape' and 'chunks'" },
        { "{\"zarr_format\": 2, \"shape\": [3, 0], \"chunks\": [2, 2], \"dtype\": \"<i2\"}", TSR_ERROR_FORMAT, "no samples" },
        { "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [2, 2], \"dtype\": \"<c8\"}", TSR_ERROR_UNSUPPORTED, "type '<c8'" },
        { "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [2, 2], \"dtype\": \"<i2\", \"compressor\": {\"id\": \"pcodec\"}}",
          TSR_ERROR_UNSUPPORTED, "codec 'pcodec'" },
        { "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [2, 2], \"dtype\": \"<i2\", \"filters\": [{\"id\": \"packbits\"}]}",
          TSR_ERROR_UNSUPPORTED, "filter 'packbits'" },
        { "{\"zarr_format\": 2, \"shape\": [3, 3], \"chunks\": [1152921504606846976, 16], \"dtype\": \"<i2\"}", TSR_ERROR_MEMORY, "memory limit" },
        { "{\"zarr_format\": 2, \"shape\": [1152921504606846976, 1152921504606846976], \"chunks\": [2, 2], \"dtype\": \"<i2\"}", TSR_ERROR_FORMAT,
          "z.zarr" },
        { "{\"zarr_format\": 2, \"shape\": [9, 9, 9, 9, 9, 9, 9, 9, 9], \"chunks\": [2, 2], \"dtype\": \"<i2\"}", TSR_ERROR_FORMAT,
          "'shape' and 'chunks'" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put(".zarray", cases[i].array, strlen(cases[i].array));
        volume = (tsr_volume *)&volume;
        require_error(tsr_volume_read(scratch("z.zarr"), NULL, &volume), cases[i].status, cases[i].text);
        assert_null(volume);
    }
    static const char *const keys[] = { ".zarray", "0.0", "0.1", "1.0" };
    for (size_t k = 0; k < 4; k++) {
        char name[64];
        snprintf(name, sizeof name, "z.zarr/%s", keys[k]);
        unlink(scratch(name));
    }
    rmdir(scratch("z.zarr"));
    scratch_files(1);
}

/* The checks of RFC 3720, B.4, and the one that everybody gives. */
static void sums_of_chunks(void **state)
{
    uint8_t bytes[4][32];
    (void)state;
    memset(bytes[0], 0, 32);
    memset(bytes[1], 255, 32);
    for (int k = 0; k < 32; k++) {
        bytes[2][k] = (uint8_t)k;
        bytes[3][k] = (uint8_t)(31 - k);
    }
    static const uint32_t sums[4] = { 0x8a9136aa, 0x62a8ab43, 0x46dd794e, 0x113fdb5c };
    for (int k = 0; k < 4; k++) assert_int_equal(tsr_crc32c(bytes[k], 32), sums[k]);
    assert_int_equal(tsr_crc32c((const uint8_t *)"123456789", 9), 0xe3069283);
}

static void zarr_written(void **state)
{
    (void)state;
    tsr_volume *volume, *all = make_volume((tsr_size3){ 70, 65, 3 });
    require_ok(tsr_volume_write(all, scratch("a.zarr.zip"), &overwrite));
    size_t packed;
    uint8_t *zip = (uint8_t *)scratch_read("a.zarr.zip", &packed);
    int headers[2] = { 0, 0 };
    for (size_t i = 0; i + 16 < packed; i++) /* every header, beside its file and in the list at the end, says midnight of 1 January 1980 */
        for (int central = 0; central < 2; central++) {
            if (memcmp(zip + i, central ? "PK\1\2" : "PK\3\4", 4)) continue;
            const uint8_t *time = zip + i + (central ? 12 : 10);
            assert_true(time[0] == 0 && time[1] == 0 && time[2] == 0x21 && time[3] == 0);
            headers[central]++;
        }
    assert_true(headers[0] > 1 && headers[0] == headers[1]);
    free(zip);
    require_ok(tsr_volume_read(scratch("a.zarr.zip"), NULL, &volume));
    require_same(volume, all);
    tsr_volume_destroy(&volume);
    refuse_cut_off("a.zarr.zip", 4, 0);
    assert_false(mkdir(scratch("mine.zarr"), 0700)); /* a folder of somebody's is not taken away */
    scratch_write("mine.zarr/letter", "x", 1);
    require_error(tsr_volume_write(all, scratch("mine.zarr"), &overwrite), TSR_ERROR_IO, "is no Zarr folder");
    assert_false(access(scratch("mine.zarr/letter"), F_OK));
    assert_false(unlink(scratch("mine.zarr/letter")));
    assert_false(rmdir(scratch("mine.zarr")));
    require_error(tsr_volume_write(all, scratch("no/such/a.zarr"), &overwrite), TSR_ERROR_IO, "cannot make a folder beside it");
    assert_int_equal(scratch_files(1), 2); /* the archive, and a part of it */
    tsr_volume_destroy(&all);
}

static void transfers_in_slabs(void **state)
{
    (void)state;
    static const char *const names[] = { "a.nrrd", "a.npy", "a.tif", "a.zarr.zip" };
    tsr_volume *volume, *all = make_volume((tsr_size3){ 70, 65, 40 });
    tsr_read_options within = { .struct_size = sizeof within, .memory_limit = 100000 };
    require_ok(tsr_volume_write(all, scratch("from.zarr.zip"), &overwrite));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        require_ok(tsr_volume_transfer(scratch("from.zarr.zip"), &within, scratch(names[i]), &overwrite));
        if (tsr_volume_read(scratch(names[i]), NULL, &volume) == TSR_ERROR_UNSUPPORTED) continue; /* a build without libtiff writes, too */
        assert_memory_equal(tsr_volume_data_const(volume), tsr_volume_data_const(all), (size_t)tsr_volume_count(all) * 2);
        tsr_volume_destroy(&volume);
    }
    require_error(tsr_volume_transfer("-", NULL, scratch("b.nrrd"), &overwrite), TSR_ERROR_UNSUPPORTED, "cannot be read in pieces");
    require_error(tsr_volume_transfer(scratch("from.zarr.zip"), NULL, scratch("b.ply"), &overwrite), TSR_ERROR_ARGUMENT, "b.ply");
    tsr_volume_destroy(&all);
    scratch_files(1);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_of_every_format),
#ifdef TSR_HAVE_TIFF
        cmocka_unit_test(tiff_fields),           cmocka_unit_test(tiff_by_libtiff), cmocka_unit_test(tiff_descriptions),
#endif
#ifdef TSR_HAVE_HDF5
        cmocka_unit_test(hdf5_by_the_library),
#endif
#ifdef TSR_HAVE_JANSSON
        cmocka_unit_test(zarr_by_hand),          cmocka_unit_test(sums_of_chunks),  cmocka_unit_test(zarr_written),
        cmocka_unit_test(transfers_in_slabs),
#endif
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
