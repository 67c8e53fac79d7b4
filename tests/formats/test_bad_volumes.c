/* Files that lie, are cut off or are not what they claim; targets that cannot be written. Every failure names file and field, leaves no
 * volume, no half-written file and the old content where there was some. */
#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>

#include "formats/format.h"

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

static tsr_volume *make_volume(tsr_size3 size)
{
    tsr_volume *volume;
    tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 1, 2, 3 }, (tsr_vec3){ 4, 5, 6 }, TSR_SPACE_NONE);
    require_ok(tsr_volume_create(NULL, TSR_I16, size, &geometry, &volume));
    for (int64_t i = 0; i < tsr_volume_count(volume); i++) ((int16_t *)tsr_volume_data(volume))[i] = (int16_t)(i * 7);
    return volume;
}

/* The file must be refused with `status` and a message that holds its name and `text`. */
static void refuse(const char *name, tsr_status status, const char *text)
{
    tsr_volume *volume = (tsr_volume *)&volume;
    tsr_status got = tsr_volume_read(scratch(name), NULL, &volume);
    if (got != status || !strstr(tsr_error_message(), text) || !strstr(tsr_error_message(), name) || strchr(tsr_error_message(), '\n'))
        fail_msg("%s: %s '%s', expected %s and '%s'", name, tsr_status_name(got), tsr_error_message(), tsr_status_name(status), text);
    assert_null(volume);
}

/* ---- NIfTI: one wrong field each ------------------------------------------------------------------------------------------------ */

static void nifti_fields(void **state)
{
    (void)state;
    static const struct { int at, bytes; int64_t value; tsr_status status; const char *text; } cases[] = {
        { 40, 2, 0, TSR_ERROR_FORMAT, "dim[0] is 0" },
        { 40, 2, 8, TSR_ERROR_FORMAT, "dim[0] is 8" },
        { 40, 2, -3, TSR_ERROR_FORMAT, "dim[0] is -3" },
        { 42, 2, 0, TSR_ERROR_FORMAT, "dim[1] is 0" },
        { 42, 2, -5, TSR_ERROR_FORMAT, "dim[1] is -5" },
        { 44, 2, 32767, TSR_ERROR_FORMAT, "truncated" },
        { 70, 2, 128, TSR_ERROR_UNSUPPORTED, "RGB24" },
        { 70, 2, 32, TSR_ERROR_UNSUPPORTED, "complex64" },
        { 70, 2, 77, TSR_ERROR_UNSUPPORTED, "datatype is 77" },
        { 72, 2, 8, TSR_ERROR_FORMAT, "bitpix is 8" },
        { 108, 4, 0x42c80000, TSR_ERROR_FORMAT, "vox_offset is 100" },
        { 108, 4, 0x7fc00000, TSR_ERROR_FORMAT, "vox_offset is nan" },
        { 108, 4, 0x50000000, TSR_ERROR_FORMAT, "truncated" },
        { 112, 4, 0x7f800000, TSR_ERROR_FORMAT, "scl_slope is inf" },
        { 116, 4, 0x7fc00000, TSR_ERROR_FORMAT, "scl_inter nan" },
        { 280, 4, 0x7fc00000, TSR_ERROR_FORMAT, "sform" },
        { 280, 4, 0, TSR_ERROR_FORMAT, "sform" },
        { 344, 4, 0, TSR_ERROR_UNSUPPORTED, "Analyze" },
    };
    tsr_volume *volume = make_volume((tsr_size3){ 5, 4, 3 });
    size_t size;
    require_ok(tsr_volume_write(volume, scratch("good.nii"), NULL));
    uint8_t *bytes = (uint8_t *)scratch_read("good.nii", &size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *copy = (uint8_t *)malloc(size);
        memcpy(copy, bytes, size);
        memcpy(copy + cases[i].at, &cases[i].value, (size_t)cases[i].bytes);
        scratch_write("bad.nii", copy, size);
        free(copy);
        refuse("bad.nii", cases[i].status, cases[i].text);
    }
    bytes[254] = 0; /* no sform: the qform counts */
    const float zero = 0, big = 3;
    memcpy(bytes + 80, &zero, 4);
    scratch_write("bad.nii", bytes, size);
    refuse("bad.nii", TSR_ERROR_FORMAT, "pixdim[1] is 0");
    memcpy(bytes + 80, &big, 4);
    memcpy(bytes + 256, &big, 4);
    scratch_write("bad.nii", bytes, size);
    refuse("bad.nii", TSR_ERROR_FORMAT, "quatern");
    bytes[40] = 4;
    bytes[48] = 6;
    scratch_write("bad.nii", bytes, size);
    refuse("bad.nii", TSR_ERROR_UNSUPPORTED, "holds 6 frames (dim[4])");
    free(bytes);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* ---- text headers: one wrong line each ------------------------------------------------------------------------------------------ */

static void text_headers(void **state)
{
    (void)state;
    static const struct { const char *name, *text; tsr_status status; const char *message;
    } cases[] = {
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2\nencoding: raw\n\n12345678", TSR_ERROR_FORMAT, "'sizes'" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 -2 2\nencoding: raw\n\n12345678", TSR_ERROR_FORMAT, "'sizes'" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 99999999999 99999999999 2\nencoding: raw\n\n12", TSR_ERROR_FORMAT, "overflow" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 3\nencoding: raw\n\n12345678", TSR_ERROR_FORMAT, "truncated" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 33\n\n", TSR_ERROR_FORMAT, "'dimension' is '33'" },
        { "a.nrrd", "NRRD0004\nsizes: 2 2 2\n\n", TSR_ERROR_FORMAT, "before 'dimension'" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\n\n", TSR_ERROR_FORMAT, "lacks the field 'sizes'" },
        { "a.nrrd", "NRRD0004\ntype: short\ndimension: 1\nsizes: 1\nencoding: raw\n\n12", TSR_ERROR_FORMAT, "lacks the field 'endian'" },
        { "a.nrrd", "NRRD0004\ntype: block\n\n", TSR_ERROR_UNSUPPORTED, "'block'" },
        { "a.nrrd", "NRRD0004\ntype: quaternion\n\n", TSR_ERROR_FORMAT, "'type' is 'quaternion'" },
        { "a.nrrd", "NRRD0004\nencoding: bzip2\n\n", TSR_ERROR_UNSUPPORTED, "'encoding' is 'bzip2'" },
        { "a.nrrd", "NRRD0004\ndimension: 3\nspacings: 1 0 1\n\n", TSR_ERROR_FORMAT, "'spacings'" },
        { "a.nrrd", "NRRD0004\nspace: somewhere\n\n", TSR_ERROR_FORMAT, "'space' is 'somewhere'" },
        { "a.nrrd", "NRRD0004\ndimension: 3\nspace: RAS\nspace directions: (1,0,0) (0,1,0)\n\n", TSR_ERROR_FORMAT, "'space directions'" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1 1 1\nspace: RAS\nspace directions: (1,0,0) (2,0,0) (0,0,1)\nencoding: raw\n\n1",
          TSR_ERROR_FORMAT, "invertible" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 1 1 1\nspace: RAS\nspace directions: (nan,0,0) (0,1,0) (0,0,1)\nencoding: raw\n\n1",
          TSR_ERROR_FORMAT, "finite" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 4\nsizes: 3 1 1 1\nkinds: RGB-color domain domain domain\nencoding: raw\n\n123",
          TSR_ERROR_UNSUPPORTED, "RGB-color" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 4\nsizes: 1 1 1 5\nencoding: raw\n\n12345", TSR_ERROR_UNSUPPORTED, "holds 5 frames (NRRD axis 3)" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: ascii\n\n1 2 300", TSR_ERROR_FORMAT, "voxel 2 is '300'" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: ascii\n\n1    2", TSR_ERROR_FORMAT, "2 voxels, expected 3" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: gzip\n\nnot gzip", TSR_ERROR_FORMAT, "damaged" },
        { "a.nrrd", "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4000 4000 4000\nencoding: gzip\n\nshort", TSR_ERROR_FORMAT,
          "compressed data can hold" },
        { "a.nhdr", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: absent.raw\n", TSR_ERROR_IO, "absent.raw' is missing" },
        { "a.nhdr", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: .\n", TSR_ERROR_IO, "folder" },
        { "a.nhdr", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: /dev/zero\n", TSR_ERROR_IO, "does not lie beside the header" },
        { "a.nhdr", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: %n%s 1 2 1\n", TSR_ERROR_FORMAT, "one %d" },
        { "a.nhdr", "NRRD0004\ntype: uint8\ndimension: 1\nsizes: 3\nencoding: raw\ndata file: f%d.raw 1 99999999 1\n", TSR_ERROR_FORMAT, "files" },
        { "a.nrrd", "NRRD0004\njust words\n\n", TSR_ERROR_FORMAT, "'just words'" },
        { "a.mha", "ObjectType = Image\nNDims = 3\nDimSize = 2 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n", TSR_ERROR_FORMAT,
          "'DimSize'" },
        { "a.mha", "ObjectType = Image\nNDims = 3\nDimSize = 2 2 0\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n", TSR_ERROR_FORMAT,
          "'DimSize'" },
        { "a.mha", "ObjectType = Image\nDimSize = 2 2 2\n", TSR_ERROR_FORMAT, "after NDims" },
        { "a.mha", "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementType = MET_STRING\nElementDataFile = LOCAL\n", TSR_ERROR_FORMAT,
          "'ElementType'" },
        { "a.mha", "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n1234567", TSR_ERROR_FORMAT,
          "truncated" },
        { "a.mha", "ObjectType = Image\nNDims = 3\nDimSize = 1 1 1\nElementSpacing = 1 1 -1\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n1",
          TSR_ERROR_FORMAT, "-1 for axis 2" },
        { "a.mha",
          "ObjectType = Image\nNDims = 3\nDimSize = 1 1 1\nTransformMatrix = 1 0 0 1 0 0 0 0 1\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n1",
          TSR_ERROR_FORMAT, "invertible" },
        { "a.mha",
          "ObjectType = Image\nNDims = 3\nDimSize = 1 1 1\nElementNumberOfChannels = 3\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n123",
          TSR_ERROR_UNSUPPORTED, "holds 3 channels (ElementNumberOfChannels)" },
        { "a.mha", "ObjectType = Image\nNDims = 4\nDimSize = 1 1 1 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n12", TSR_ERROR_UNSUPPORTED,
          "holds 2 frames (DimSize)" },
        { "a.mha", "ObjectType = Image\nNDims = 3\nDimSize = 1 1 1\nElementType = MET_UCHAR\n", TSR_ERROR_FORMAT,
          "lacks the field 'ElementDataFile'" },
        { "a.mha",
          "ObjectType = Image\nNDims = 3\nCompressedData = True\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = LOCAL\nxxxxxxxx",
          TSR_ERROR_FORMAT, "damaged" },
        { "a.mhd", "ObjectType = Image\nNDims = 3\nDimSize = 1 1 1\nElementType = MET_UCHAR\nElementDataFile = gone.raw\n", TSR_ERROR_IO,
          "gone.raw' is missing" },
        { "a.mha", "ObjectType = Tube\n", TSR_ERROR_FORMAT, "'Tube'" },
        { "a.inr", "#INRIMAGE-4#{\nXDIM=0\n", TSR_ERROR_FORMAT, "'XDIM'" },
        { "a.inr", "#INRIMAGE-4#{\nXDIM=1\nYDIM=1\nZDIM=1\nVX=0\n##}\n", TSR_ERROR_FORMAT, "'VX'" },
        { "a.inr", "#INRIMAGE-4#{\nTYPE=complex\n##}\n", TSR_ERROR_FORMAT, "'TYPE'" },
        { "a.inr", "#INRIMAGE-4#{\nCPU=vax\n##}\n", TSR_ERROR_FORMAT, "'CPU'" },
        { "a.inr", "#INRIMAGE-4#{\nXDIM=1\nYDIM=1\nZDIM=1\nVDIM=3\nTYPE=float\nPIXSIZE=32 bits\nCPU=pc\n##}\n", TSR_ERROR_UNSUPPORTED, "holds 3 channels (VDIM)" },
        { "a.inr", "#INRIMAGE-4#{\nXDIM=1\nYDIM=1\nZDIM=1\nTYPE=float\nPIXSIZE=8 bits\nCPU=pc\n##}\n", TSR_ERROR_FORMAT, "'PIXSIZE'" },
        { "a.inr", "#INRIMAGE-4#{\nXDIM=9\nYDIM=9\nZDIM=9\nTYPE=float\nPIXSIZE=32 bits\nCPU=pc\n##}\n", TSR_ERROR_FORMAT, "truncated" },
        { "a.inr", "#INRIMAGE-4#{\nXDIM=9\n", TSR_ERROR_FORMAT, "no end" },
        { "a.bin", "neither this nor that", TSR_ERROR_FORMAT, "no known format" },
        { "a.nii", "", TSR_ERROR_FORMAT, "too short" },
        { "empty", "", TSR_ERROR_FORMAT, "empty" },
        { "a.nii.gz", "\x1f\x8b\x08truncated", TSR_ERROR_FORMAT, "damaged" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scratch_write(cases[i].name, cases[i].text, strlen(cases[i].text));
        refuse(cases[i].name, cases[i].status, cases[i].message);
    }
    scratch_files(1);
}

/* Every file cut at every length: an error or, where only padding is missing, the same voxels; never a crash. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char *const names[] = { "c.nii", "c.nii.gz", "c.nrrd", "c.mha", "c.inr" };
    tsr_volume *volume = make_volume((tsr_size3){ 5, 4, 3 });
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        size_t size;
        require_ok(tsr_volume_write(volume, scratch(names[n]), NULL));
        char *bytes = (char *)scratch_read(names[n], &size);
        for (size_t cut = 0; cut < size; cut++) {
            tsr_volume *back;
            scratch_write("cut", bytes, cut);
            if (tsr_volume_read(scratch("cut"), NULL, &back) == TSR_OK) fail_msg("%s cut to %zu of %zu bytes was read", names[n], cut, size);
            assert_null(back);
        }
        free(bytes);
    }
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* ---- limits, and targets that cannot be written ---------------------------------------------------------------------------------- */

static void memory_limit(void **state)
{
    (void)state;
    static const char *const names[] = { "l.nii", "l.nii.gz", "l.nrrd", "l.mha", "l.inr" };
    tsr_volume *volume = make_volume((tsr_size3){ 128, 128, 64 }), *back; /* 2 MiB: large enough to be mapped */
    tsr_read_options options = TSR_READ_OPTIONS;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        require_ok(tsr_volume_write(volume, scratch(names[n]), NULL));
        options.memory_limit = (2 << 20) - 1;
        require_error(tsr_volume_read(scratch(names[n]), &options, &back), TSR_ERROR_MEMORY, "memory limit");
        options.memory_limit = 2 << 20;
        require_ok(tsr_volume_read(scratch(names[n]), &options, &back));
        tsr_volume_destroy(&back);
    }
    options.memory_limit = -1;
    require_error(tsr_volume_read(scratch("l.nii"), &options, &back), TSR_ERROR_ARGUMENT, "memory_limit");
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

static void targets(void **state)
{
    (void)state;
    tsr_volume *volume = make_volume((tsr_size3){ 64, 64, 64 }), *back;
    tsr_write_options options = TSR_WRITE_OPTIONS;
    require_error(tsr_volume_write(volume, scratch("absent/a.nii"), NULL), TSR_ERROR_IO, "absent");
    require_error(tsr_volume_write(volume, scratch("a.xyz"), NULL), TSR_ERROR_ARGUMENT, "a.xyz");
    require_error(tsr_volume_write(volume, "-", NULL), TSR_ERROR_ARGUMENT, "options.format");
    require_error(tsr_volume_write(volume, "", NULL), TSR_ERROR_ARGUMENT, "empty");
    options.format = "tga";
    require_error(tsr_volume_write(volume, scratch("a.nii"), &options), TSR_ERROR_ARGUMENT, "'tga'");
    options.format = "ply";
    require_error(tsr_volume_write(volume, scratch("a.nii"), &options), TSR_ERROR_ARGUMENT, "mesh");
    options.format = "nifti";
    options.compression = 12;
    require_error(tsr_volume_write(volume, scratch("a.nii"), &options), TSR_ERROR_ARGUMENT, "compression is 12");
    options.compression = -1;
    require_error(tsr_volume_write(volume, scratch("a.nii.gz"), &options), TSR_ERROR_ARGUMENT, ".gz");
    options.compression = 0;
    require_error(tsr_volume_write(volume, scratch_folder, &options), TSR_ERROR_IO, "folder");
    require_error(tsr_volume_write(volume, "/dev/full", &options), TSR_ERROR_IO, "No space left");
    assert_int_equal(scratch_files(0), 0);
    scratch_write("kept.nii", "old", 3);
    require_error(tsr_volume_write(volume, scratch("kept.nii"), NULL), TSR_ERROR_IO, "exists");
    scratch_write("kept.img", "old", 3); /* a pair does not overwrite either of its files */
    require_error(tsr_volume_write(volume, scratch("kept.hdr"), NULL), TSR_ERROR_IO, "exists");
    assert_int_equal(scratch_files(0), 2);
    assert_int_equal(mkdir(scratch("folder.nii"), 0777), 0);
    require_error(tsr_volume_read(scratch("folder.nii"), NULL, &back), TSR_ERROR_IO, "is a folder");
    require_error(tsr_volume_read(scratch("nowhere.nii"), NULL, &back), TSR_ERROR_IO, "No such file");
    scratch_files(1);
    tsr_geometry tilted = { { { 1, 0.5, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, TSR_SPACE_RAS };
    require_ok(tsr_volume_set_geometry(volume, &tilted));
    require_error(tsr_volume_write(volume, scratch("a.inr"), NULL), TSR_ERROR_ARGUMENT, "affine[0][1]");
    assert_int_equal(scratch_files(0), 0);
    tsr_volume_destroy(&volume);
}

/* A write that fails half way (the file may not grow over 64 KiB) keeps the old file and leaves nothing beside it. */
static void full_disk_keeps_the_old_file(void **state)
{
    (void)state;
    static const char *const names[] = { "f.nii", "f.nii.gz", "f.nrrd", "f.mha", "f.inr", "f.mhd", "f.hdr" };
    tsr_volume *volume = make_volume((tsr_size3){ 256, 256, 64 });
    uint64_t random = 3;
    for (int64_t i = 0; i < tsr_volume_count(volume); i++)
        ((int16_t *)tsr_volume_data(volume))[i] = (int16_t)test_random(&random); /* does not pack */
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 65536;
    signal(SIGXFSZ, SIG_IGN);
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        scratch_write(names[n], "the old content", 15);
        setrlimit(RLIMIT_FSIZE, &small);
        tsr_status status = tsr_volume_write(volume, scratch(names[n]), &overwrite);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(status, TSR_ERROR_IO);
        assert_non_null(strstr(tsr_error_message(), "cannot write"));
        size_t size;
        char *content = (char *)scratch_read(names[n], &size);
        assert_string_equal(content, "the old content");
        free(content);
        assert_int_equal(scratch_files(0), 1);
        scratch_files(1);
    }
    tsr_volume_destroy(&volume);
}

static int stop_at_half(void *user, double fraction, const char *stage)
{
    (void)user;
    (void)stage;
    return fraction >= 0.5;
}

static void cancelled(void **state)
{
    (void)state;
    tsr_volume *volume = make_volume((tsr_size3){ 256, 256, 128 }), *back;
    tsr_write_options options = TSR_WRITE_OPTIONS;
    options.progress.report = stop_at_half;
    require_error(tsr_volume_write(volume, scratch("s.nii"), &options), TSR_ERROR_CANCELLED, "cancelled");
    assert_int_equal(scratch_files(0), 0);
    options = overwrite;
    options.big_endian = 1;
    require_ok(tsr_volume_write(volume, scratch("s.nii"), &options));
    tsr_read_options reading = TSR_READ_OPTIONS;
    reading.progress.report = stop_at_half;
    require_error(tsr_volume_read(scratch("s.nii"), &reading, &back), TSR_ERROR_CANCELLED, "cancelled");
    assert_null(back);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* ---- pictures, recognition, pipes ------------------------------------------------------------------------------------------------ */

static void pictures(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1) {
        tsr_image image, back;
        require_ok(tsr_image_create(33, 17, channels, &image));
        for (int i = 0; i < 33 * 17 * channels; i++) image.pixels[i] = (uint8_t)(i * 31);
        require_ok(tsr_image_write(&image, scratch("p.png"), &overwrite));
        require_ok(tsr_image_read(scratch("p.png"), NULL, &back));
        assert_true(back.width == 33 && back.height == 17 && back.channels == channels);
        assert_memory_equal(image.pixels, back.pixels, (size_t)(33 * 17 * channels));
        size_t size;
        char *bytes = (char *)scratch_read("p.png", &size);
        scratch_write("q.png", bytes, size - 20);
        free(bytes);
        tsr_image_destroy(&back);
        require_error(tsr_image_read(scratch("q.png"), NULL, &back), TSR_ERROR_FORMAT, "q.png");
        assert_null(back.pixels);
        tsr_image_destroy(&image);
    }
    tsr_image image;
    require_error(tsr_image_create(0, 4, 3, &image), TSR_ERROR_ARGUMENT, "0 x 4");
    require_error(tsr_image_create(4, 4, 2, &image), TSR_ERROR_ARGUMENT, "2 channels");
    scratch_files(1);
}

static void recognition(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        { "r.nii", "nifti" }, { "r.nii.gz", "nifti" }, { "r.nrrd", "nrrd" }, { "r.mha", "metaimage" }, { "r.inr", "inrimage" }
    };
    tsr_volume *volume = make_volume((tsr_size3){ 5, 4, 3 }), *back;
    tsr_mesh *mesh;
    tsr_file_kind kind;
    const char *format;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char wrong[64];
        require_ok(tsr_volume_write(volume, scratch(names[i][0]), NULL));
        snprintf(wrong, sizeof wrong, "%s.off", names[i][0]); /* the content counts, not the name */
        assert_int_equal(rename(scratch(names[i][0]), scratch(wrong)), 0);
        require_ok(tsr_file_recognise(scratch(wrong), &kind, &format));
        assert_int_equal(kind, TSR_FILE_VOLUME);
        assert_string_equal(format, names[i][1]);
        require_ok(tsr_volume_read(scratch(wrong), NULL, &back));
        tsr_volume_destroy(&back);
        require_error(tsr_mesh_read(scratch(wrong), NULL, &mesh), TSR_ERROR_FORMAT, "expected a mesh");
    }
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* The same bytes through a pipe: nothing is known of the size beforehand. */
static void through_a_pipe(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format;
    } cases[] = { { "t.nii", NULL }, { "t.nii.gz", NULL }, { "t.nrrd", NULL }, { "t.mha", NULL }, { "t.inr", NULL } };
    tsr_volume *volume = make_volume((tsr_size3){ 100, 90, 80 }), *back;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char command[600];
        require_ok(tsr_volume_write(volume, scratch(cases[i].name), NULL));
        assert_int_equal(mkfifo(scratch("fifo"), 0666), 0);
        snprintf(command, sizeof command, "cat %s > %s &", scratch(cases[i].name), scratch("fifo"));
        assert_int_equal(system(command), 0);
        require_ok(tsr_volume_read(scratch("fifo"), NULL, &back));
        assert_memory_equal(tsr_volume_data(volume), tsr_volume_data(back), (size_t)tsr_volume_count(volume) * 2);
        tsr_volume_destroy(&back);
        /* a pipe of its own: the first writer may still hold the other one open */
        assert_int_equal(mkfifo(scratch("cut"), 0666), 0);
        snprintf(command, sizeof command, "head -c 2000 %s > %s &", scratch(cases[i].name), scratch("cut"));
        assert_int_equal(system(command), 0);
        require_error(tsr_volume_read(scratch("cut"), NULL, &back), TSR_ERROR_FORMAT, "truncated");
        scratch_files(1);
    }
    tsr_volume_destroy(&volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nifti_fields),   cmocka_unit_test(text_headers), cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(memory_limit),   cmocka_unit_test(targets),      cmocka_unit_test(full_disk_keeps_the_old_file),
        cmocka_unit_test(cancelled),      cmocka_unit_test(pictures),     cmocka_unit_test(recognition),
        cmocka_unit_test(through_a_pipe),
    };
    return cmocka_run_group_tests_name("bad volume files", tests, scratch_make, scratch_remove);
}
