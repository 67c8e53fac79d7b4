/* Files as people have them: more than three axes, scaled values, other units, two forms that disagree, and formats that are not read. Expected values are
 * worked out here by index arithmetic; what nibabel, SimpleITK and numpy make of the files that are written was looked at by hand. */
#include "scratch.h"

#include <math.h>

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

/* A little-endian NIfTI-1 header of `dims` axes; datatype and bits per voxel; voxels follow at 352. */
static void nifti_header(uint8_t h[352], int dims, const int16_t *size, int16_t datatype, int16_t bits)
{
    memset(h, 0, 352);
    const int32_t header = 348;
    const int16_t count = (int16_t)dims, one = 1;
    const float offset = 352;
    memcpy(h, &header, 4);
    memcpy(h + 40, &count, 2);
    for (int i = 1; i < 8; i++) memcpy(h + 40 + 2 * i, i <= dims ? &size[i - 1] : &one, 2);
    memcpy(h + 70, &datatype, 2);
    memcpy(h + 72, &bits, 2);
    for (int i = 0; i < 8; i++) memcpy(h + 76 + 4 * i, &(float){ 1 }, 4);
    memcpy(h + 108, &offset, 4);
    memcpy(h + 344, "n+1", 4);
}

static void write_nifti(const char *name, int dims, const int16_t *size, int16_t datatype, int16_t bits, const void *voxels, size_t bytes)
{
    uint8_t *file = (uint8_t *)calloc(1, 352 + bytes);
    nifti_header(file, dims, size, datatype, bits);
    memcpy(file + 352, voxels, bytes);
    scratch_write(name, file, 352 + bytes);
    free(file);
}

static void write_text_and(const char *name, const char *header, const void *voxels, size_t bytes)
{
    char *file = (char *)calloc(1, strlen(header) + bytes + 1);
    memcpy(file, header, strlen(header));
    memcpy(file + strlen(header), voxels, bytes);
    scratch_write(name, file, strlen(header) + bytes);
    free(file);
}

/* Packs a file of the scratch folder. */
static void pack(const char *name)
{
    char command[600];
    snprintf(command, sizeof command, "gzip -kf '%s'", scratch(name));
    assert_int_equal(system(command), 0);
}

/* ---- frames, layers, channels ---------------------------------------------------------------------------------------------------------------------- */

enum { PART_FRAME, PART_LAYER, PART_CHANNEL };

static tsr_read_options choose(int part, int64_t index)
{
    tsr_read_options o = TSR_READ_OPTIONS;
    *(part == PART_FRAME ? &o.frame : part == PART_LAYER ? &o.layer : &o.channel) = index;
    *(part == PART_FRAME ? &o.frame_given : part == PART_LAYER ? &o.layer_given : &o.channel_given) = 1;
    return o;
}

/* The file holds `count` parts of 4 x 3 x 2 voxels (i16): voxel v of part p is 100 p + v. Without a choice it is refused with the option's name. */
static void check_parts(const char *name, int part, int count, const char *option)
{
    tsr_volume *v;
    char text[80];
    int64_t parts[3];
    snprintf(text, sizeof text, "options.%s 0 to %d says which", option, count - 1);
    require_error(tsr_volume_read(scratch(name), NULL, &v), TSR_ERROR_UNSUPPORTED, text);
    for (int p = 0; p < count; p++) {
        const tsr_read_options o = choose(part, p);
        require_ok(tsr_volume_read(scratch(name), &o, &v));
        const tsr_size3 n = tsr_volume_size(v);
        if (n.x != 4 || n.y != 3 || n.z != 2 || tsr_volume_dtype(v) != TSR_I16) fail_msg("%s: %d x %d x %d", name, (int)n.x, (int)n.y, (int)n.z);
        for (int i = 0; i < 24; i++)
            if (((const int16_t *)tsr_volume_data_const(v))[i] != 100 * p + i)
                fail_msg("%s: part %d, voxel %d is %d", name, p, i, ((const int16_t *)tsr_volume_data_const(v))[i]);
        tsr_volume_parts(v, &parts[0], &parts[1], &parts[2]);
        for (int k = 0; k < 3; k++) assert_int_equal(parts[k], k == part ? count : 1);
        tsr_volume_destroy(&v);
    }
    const tsr_read_options beyond = choose(part, count), other = choose((part + 1) % 3, 1);
    snprintf(text, sizeof text, "options.%s is %d, expected 0 to %d", option, count, count - 1);
    require_error(tsr_volume_read(scratch(name), &beyond, &v), TSR_ERROR_ARGUMENT, text);
    require_error(tsr_volume_read(scratch(name), &other, &v), TSR_ERROR_UNSUPPORTED, "says which"); /* another axis than the file's */
}

/* Parts one after another, or voxel by voxel. */
static void fill_parts(int16_t *to, int count, int mixed)
{
    for (int p = 0; p < count; p++)
        for (int i = 0; i < 24; i++) to[mixed ? i * count + p : p * 24 + i] = (int16_t)(100 * p + i);
}

static void frames_of_every_format(void **state)
{
    (void)state;
    int16_t voxels[5 * 24];
    const int16_t size4[] = { 4, 3, 2, 5 }, size5[] = { 4, 3, 2, 1, 5 };
    fill_parts(voxels, 5, 0);
    write_nifti("t.nii", 4, size4, 4, 16, voxels, sizeof voxels);
    check_parts("t.nii", PART_FRAME, 5, "frame");
    pack("t.nii");
    check_parts("t.nii.gz", PART_FRAME, 5, "frame");
    write_nifti("v.nii", 5, size5, 4, 16, voxels, sizeof voxels);
    check_parts("v.nii", PART_CHANNEL, 5, "channel");
    write_text_and("t.nrrd", "NRRD0004\ntype: short\ndimension: 4\nsizes: 4 3 2 5\nendian: little\nencoding: raw\n\n", voxels, sizeof voxels);
    check_parts("t.nrrd", PART_FRAME, 5, "frame");
    write_text_and(
        "s.nrrd",
        "NRRD0004\ntype: short\ndimension: 4\nspace: RAS\nsizes: 4 3 2 5\nspace directions: (1,0,0) (0,1,0) (0,0,1) none\nkinds: domain domain "
        "domain list\nendian: little\nencoding: raw\n\n",
        voxels, sizeof voxels);
    check_parts("s.nrrd", PART_FRAME, 5, "frame");
    write_text_and("t.mha", "ObjectType = Image\nNDims = 4\nDimSize = 4 3 2 5\nElementType = MET_SHORT\nElementDataFile = LOCAL\n", voxels,
                   sizeof voxels);
    check_parts("t.mha", PART_FRAME, 5, "frame");
    char npy[128 + sizeof voxels] = "\x93NUMPY\x01";
    const int used = 10 + snprintf(npy + 10, 118, "{'descr': '<i2', 'fortran_order': False, 'shape': (5, 2, 3, 4), }");
    memset(npy + used, ' ', (size_t)(127 - used));
    npy[127] = '\n';
    npy[8] = 118;
    memcpy(npy + 128, voxels, sizeof voxels);
    scratch_write("t.npy", npy, sizeof npy);
    tsr_volume *v;
    for (int p = 0; p < 5; p++) { /* 4 along the last axis: channels unless frames are asked for */
        const tsr_read_options o = choose(PART_FRAME, p);
        require_ok(tsr_volume_read(scratch("t.npy"), &o, &v));
        for (int i = 0; i < 24; i++) assert_int_equal(((const int16_t *)tsr_volume_data_const(v))[i], 100 * p + i);
        tsr_volume_destroy(&v);
    }
    scratch_files(1);
}

static void channels_and_layers(void **state)
{
    (void)state;
    int16_t voxels[3 * 24];
    fill_parts(voxels, 3, 1);
    write_text_and("c.mha",
                   "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementNumberOfChannels = 3\nElementType = MET_SHORT\nElementDataFile = LOCAL\n",
                   voxels, sizeof voxels);
    check_parts("c.mha", PART_CHANNEL, 3, "channel");
    write_text_and("c.nrrd",
                   "NRRD0004\ntype: short\ndimension: 4\nsizes: 3 4 3 2\nkinds: vector domain domain domain\nendian: little\nencoding: raw\n\n",
                   voxels, sizeof voxels);
    check_parts("c.nrrd", PART_CHANNEL, 3, "channel");
    write_text_and(
        "l.seg.nrrd",
        "NRRD0004\ntype: short\ndimension: 4\nspace: left-posterior-superior\nsizes: 3 4 3 2\nspace directions: none (1,0,0) (0,1,0) (0,0,2)\nkinds: "
        "list domain domain domain\nendian: little\nencoding: raw\nSegment0_ID:=a\nSegment0_Layer:=0\n\n",
        voxels, sizeof voxels);
    check_parts("l.seg.nrrd", PART_LAYER, 3, "layer");
    tsr_volume *v;
    const tsr_read_options layer = choose(PART_LAYER, 2);
    require_ok(tsr_volume_read(scratch("l.seg.nrrd"), &layer, &v));
    assert_true(tsr_volume_holds_labels(v) && tsr_geometry_spacing(tsr_volume_geometry(v)).z == 2);
    tsr_volume_destroy(&v);
    char inr[257] = "#INRIMAGE-4#{\nXDIM=4\nYDIM=3\nZDIM=2\nVDIM=3\nTYPE=signed fixed\nPIXSIZE=16 bits\nCPU=decm\n";
    const size_t used = strlen(inr);
    memset(inr + used, '\n', 252 - used);
    memcpy(inr + 252, "##}\n", 5);
    write_text_and("c.inr", inr, voxels, sizeof voxels);
    check_parts("c.inr", PART_CHANNEL, 3, "channel");
    /* RGB of NIfTI: bytes, and no scaling, which the standard keeps from colours. */
    uint8_t rgb[72], file[352 + 72];
    const int16_t size[] = { 4, 3, 2 };
    const float slope = 3;
    for (int i = 0; i < 72; i++) rgb[i] = (uint8_t)(i / 3 + 100 * (i % 3));
    nifti_header(file, 3, size, 128, 24);
    memcpy(file + 112, &slope, 4);
    memcpy(file + 352, rgb, 72);
    scratch_write("rgb.nii", file, sizeof file);
    for (int c = 0; c < 3; c++) {
        const tsr_read_options o = choose(PART_CHANNEL, c);
        double s, t;
        require_ok(tsr_volume_read(scratch("rgb.nii"), &o, &v));
        for (int i = 0; i < 24; i++) assert_int_equal(((const uint8_t *)tsr_volume_data_const(v))[i], i + 100 * c);
        tsr_volume_scaling(v, &s, &t);
        assert_true(s == 1 && t == 0 && tsr_volume_dtype(v) == TSR_U8);
        tsr_volume_destroy(&v);
    }
    require_error(tsr_volume_read(scratch("rgb.nii"), NULL, &v), TSR_ERROR_UNSUPPORTED, "holds 3 channels (RGB24)");
    scratch_files(1);
}

/* A choice that a plain file does not offer is the user's mistake, but for the one part there is; a cut file is found out. */
static void wrong_parts(void **state)
{
    (void)state;
    tsr_volume *v;
    int16_t voxels[5 * 24] = { 0 };
    const int16_t size[] = { 4, 3, 2, 5 }, twice[] = { 4, 3, 2, 1, 1, 5 };
    require_ok(tsr_volume_create(NULL, TSR_U8, (tsr_size3){ 4, 3, 2 }, NULL, &v));
    require_ok(tsr_volume_write(v, scratch("plain.nrrd"), &overwrite));
    tsr_volume_destroy(&v);
    tsr_read_options o = choose(PART_FRAME, 1);
    require_error(tsr_volume_read(scratch("plain.nrrd"), &o, &v), TSR_ERROR_ARGUMENT, "options.frame is 1, expected 0: the file has 1 frame");
    o = choose(PART_LAYER, 0);
    require_ok(tsr_volume_read(scratch("plain.nrrd"), &o, &v));
    tsr_volume_destroy(&v);
    write_nifti("cut.nii", 4, size, 4, 16, voxels, sizeof voxels - 2);
    o = choose(PART_FRAME, 3);
    require_ok(tsr_volume_read(scratch("cut.nii"), &o, &v)); /* whole before the cut */
    tsr_volume_destroy(&v);
    o = choose(PART_FRAME, 4);
    require_error(tsr_volume_read(scratch("cut.nii"), &o, &v), TSR_ERROR_FORMAT, "truncated");
    write_nifti("six.nii", 6, twice, 4, 16, voxels, sizeof voxels);
    require_error(tsr_volume_read(scratch("six.nii"), &o, &v), TSR_ERROR_UNSUPPORTED, "dim[6] is 5, expected 1");
    scratch_files(1);
}

/* ---- scaling --------------------------------------------------------------------------------------------------------------------------------------- */

/* A CT as scanners store it (0 to 4095, intercept -1024): every format without a scale holds the real values, in the same integer type where it can. */
static void real_values_are_written(void **state)
{
    (void)state;
    static const char *const names[] = { "s.nrrd", "s.mha", "s.inr", "s.npy", "s.nii", "s.tsc" };
    static const struct {
        tsr_dtype from, to;
        double slope, intercept;
        int low, high;
    } cases[] = {
        { TSR_I16, TSR_I16, 1, -1024, 0, 4095 }, { TSR_U16, TSR_I16, 1, -1024, 0, 4095 }, { TSR_U16, TSR_U16, 2, 0, 0, 4095 },
        { TSR_I16, TSR_U16, 10, 0, 0, 4095 },    { TSR_I16, TSR_I32, -10, 0, 0, 4095 },   { TSR_U8, TSR_F32, 0.5, 0, 0, 255 },
        { TSR_I32, TSR_F64, 0.1, 0, -7, 1000 },  { TSR_U8, TSR_I16, 1, -1, 0, 255 },      { TSR_F32, TSR_F32, 2, 1, 0, 9 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tsr_volume *v, *back, *f64, *from;
        tsr_context *cpu = test_context_on("cpu", 1);
        require_ok(tsr_volume_create(cpu, TSR_F64, (tsr_size3){ 5, 4, 3 }, NULL, &f64));
        for (int i = 0; i < 60; i++) ((double *)tsr_volume_data(f64))[i] = i == 0 ? cases[c].high : cases[c].low + i;
        ((double *)tsr_volume_data(f64))[1] = cases[c].low;
        require_ok(tsr_volume_convert(cpu, f64, cases[c].from, &from));
        require_ok(tsr_volume_copy(from, NULL, &v));
        require_ok(tsr_volume_set_scaling(v, cases[c].slope, cases[c].intercept));
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const int scales = k >= 4; /* these say the scaling themselves */
            double slope, intercept;
            require_ok(tsr_volume_write(v, scratch(names[k]), &overwrite));
            require_ok(tsr_volume_read(scratch(names[k]), NULL, &back));
            tsr_volume_scaling(back, &slope, &intercept);
            if (tsr_volume_dtype(back) != (scales ? cases[c].from : cases[c].to))
                fail_msg("case %zu, %s: %s", c, names[k], tsr_dtype_name(tsr_volume_dtype(back)));
            assert_true(scales ? fabs(slope - cases[c].slope) < 1e-7 : slope == 1 && intercept == 0);
            tsr_volume *reals, *wanted;
            require_ok(tsr_volume_convert(cpu, back, TSR_F64, &reals));
            require_ok(tsr_volume_convert(cpu, v, TSR_F64, &wanted));
            for (int i = 0; i < 60; i++) {
                const double a = ((const double *)tsr_volume_data_const(reals))[i], b = ((const double *)tsr_volume_data_const(wanted))[i];
                if (!(fabs(a - b) <= (scales ? 1e-6 * fabs(b) : 0))) fail_msg("case %zu, %s, voxel %d: %.17g, expected %.17g", c, names[k], i, a, b);
            }
            tsr_volume_destroy(&wanted);
            tsr_volume_destroy(&reals);
            tsr_volume_destroy(&back);
        }
        tsr_volume_destroy(&v);
        tsr_volume_destroy(&from);
        tsr_volume_destroy(&f64);
        tsr_context_destroy(&cpu);
    }
    scratch_files(1);
}

/* ---- units ------------------------------------------------------------------------------------------------------------------------------------------ */

static void units_are_carried(void **state)
{
    (void)state;
    const uint8_t voxels[24] = { 0 };
    tsr_volume *v, *back;
    write_text_and("u.nrrd",
                   "NRRD0004\ntype: uchar\ndimension: 3\nspace: RAS\nsizes: 4 3 2\nspace directions: (2,0,0) (0,2,0) (0,0,5)\nspace origin: "
                   "(10,0,0)\nspace units: "
                   "\"um\" \"um\" \"um\"\nencoding: raw\n\n",
                   voxels, 24);
    require_ok(tsr_volume_read(scratch("u.nrrd"), NULL, &v));
    assert_true(tsr_volume_unit(v) == 0.001);
    assert_string_equal(tsr_volume_unit_name(v), "um");
    static const char *const keeping[] = { "k.nii", "k.nrrd", "k.tsc" }, *const millimetres[] = { "m.mha", "m.inr" };
    for (int i = 0; i < 3; i++) { /* the same numbers in the same unit */
        require_ok(tsr_volume_write(v, scratch(keeping[i]), &overwrite));
        require_ok(tsr_volume_read(scratch(keeping[i]), NULL, &back));
        if (tsr_volume_unit(back) != 0.001 || tsr_volume_geometry(back)->affine[0][0] != 2 || tsr_volume_geometry(back)->affine[0][3] != 10)
            fail_msg("%s: %g x %g", keeping[i], tsr_volume_unit(back), tsr_volume_geometry(back)->affine[0][0]);
        tsr_volume_destroy(&back);
    }
    for (int i = 0; i < 2; i++) { /* a thousandth of the numbers, in mm */
        int keeps = 1;
        require_ok(tsr_file_keeps_unit(millimetres[i], NULL, 0.001, &keeps));
        assert_int_equal(keeps, 0);
        require_ok(tsr_volume_write(v, scratch(millimetres[i]), &overwrite));
        require_ok(tsr_volume_read(scratch(millimetres[i]), NULL, &back));
        assert_true(tsr_volume_unit(back) == 0 || tsr_volume_unit(back) == 1);
        assert_true(fabs(tsr_geometry_spacing(tsr_volume_geometry(back)).z - 0.005) < 1e-15 &&
                    fabs(fabs(tsr_volume_geometry(back)->affine[0][3]) - 0.01) < 1e-15);
        tsr_volume_destroy(&back);
    }
    tsr_volume_destroy(&v);
    /* From NIfTI, with seconds beside micrometres, which stay; through MetaImage it is mm everywhere. */
    uint8_t file[352 + 24] = { 0 };
    const int16_t size[] = { 4, 3, 2 };
    nifti_header(file, 3, size, 2, 8);
    file[123] = 3 + 8;
    scratch_write("u.nii", file, sizeof file);
    require_ok(tsr_volume_read(scratch("u.nii"), NULL, &v));
    assert_true(tsr_volume_unit(v) == 0.001);
    require_ok(tsr_volume_write(v, scratch("w.nii"), &overwrite));
    size_t bytes;
    uint8_t *again = (uint8_t *)scratch_read("w.nii", &bytes);
    assert_int_equal(again[123], 3 + 8);
    free(again);
    require_ok(tsr_volume_write(v, scratch("w.nrrd"), &overwrite));
    again = (uint8_t *)scratch_read("w.nrrd", &bytes);
    assert_non_null(strstr((char *)again, "space units: \"um\" \"um\" \"um\"\n"));
    free(again);
    require_ok(tsr_volume_write(v, scratch("w.mha"), &overwrite));
    require_ok(tsr_volume_read(scratch("w.mha"), NULL, &back));
    assert_true(fabs(tsr_geometry_spacing(tsr_volume_geometry(back)).x - 0.001) < 1e-15 && tsr_volume_unit(back) != 0.001);
    tsr_volume_destroy(&back);
    /* Two files whose lengths are in different units are not compared number by number. */
    tsr_volume *mm;
    tsr_volume_comparison c = TSR_VOLUME_COMPARISON;
    tsr_context *cpu = test_context_on("cpu", 1);
    require_ok(tsr_volume_copy(v, NULL, &mm));
    require_ok(tsr_volume_set_unit(mm, "mm"));
    require_error(tsr_compare_volumes(cpu, v, mm, NULL, &c), TSR_ERROR_ARGUMENT, "lengths are in um and in mm");
    require_error(tsr_volume_set_unit(mm, "furlong"), TSR_ERROR_ARGUMENT, "'furlong', expected mm, um");
    tsr_context_destroy(&cpu);
    tsr_volume_destroy(&mm);
    tsr_volume_destroy(&v);
    scratch_files(1);
}

/* ---- two forms -------------------------------------------------------------------------------------------------------------------------------------- */

static void either_form_is_taken(void **state)
{
    (void)state;
    uint8_t file[352 + 24] = { 0 };
    const int16_t size[] = { 4, 3, 2 }, codes[2] = { 1, 2 };
    const float q[6] = { 0, 0, 1, 5, 6, 7 }, s[12] = { 2, 0, 0, 1, 0, 3, 0, 2, 0, 0, 4, 3 }, spacing[3] = { 2, 3, 4 };
    nifti_header(file, 3, size, 2, 8);
    memcpy(file + 252, codes, 4);
    memcpy(file + 256, q, sizeof q); /* half a turn about z */
    memcpy(file + 280, s, sizeof s);
    memcpy(file + 80, spacing, sizeof spacing);
    scratch_write("f.nii", file, sizeof file);
    for (int prefer = 0; prefer < 2; prefer++) {
        tsr_read_options o = TSR_READ_OPTIONS;
        tsr_volume *v, *back;
        double sform[3][4], qform[3][4];
        int found[2];
        o.prefer = (tsr_form)prefer;
        require_ok(tsr_volume_read(scratch("f.nii"), &o, &v));
        const tsr_geometry *g = tsr_volume_geometry(v);
        assert_true(g->affine[0][0] == (prefer ? -2 : 2) && g->affine[1][1] == (prefer ? -3 : 3) && g->affine[2][2] == 4 &&
                    g->affine[0][3] == (prefer ? 5 : 1));
        assert_true(tsr_nifti_forms(v, sform, qform, found) && found[0] == 2 && found[1] == 1);
        assert_true(sform[0][0] == 2 && sform[1][3] == 2 && qform[0][0] == -2 && qform[1][3] == 6);
        require_ok(tsr_volume_write(v, scratch("g.nii"), &overwrite)); /* what was preferred is what other readers find */
        require_ok(tsr_volume_read(scratch("g.nii"), NULL, &back));
        assert_memory_equal(tsr_volume_geometry(back)->affine, g->affine, sizeof g->affine);
        tsr_volume_destroy(&back);
        tsr_volume_destroy(&v);
    }
    scratch_files(1);
}

/* ---- formats that are not read ------------------------------------------------------------------------------------------------------------------------ */

static void known_strangers(void **state)
{
    (void)state;
    uint8_t tar[512] = { 'a' };
    memcpy(tar + 257, "ustar", 5);
    const struct {
        const char *name;
        const void *bytes;
        size_t size;
        const char *text;
    } strangers[] = {
        { "a.vtr", "<?xml version=\"1.0\"?>\n<VTKFile type=\"Rectilinear\">\n", 51, "is a VTK XML file" },
        { "a.gii", "<?xml version=\"1.0\"?>\n<GIFTI Version=\"1.0\">\n", 44, "is a GIFTI surface" },
        { "a.jp2", "\0\0\0\x0cjP  \r\n\x87\n", 12, "is a JPEG 2000 image" },
        { "a.pdf", "%PDF-1.7\n", 9, "is a PDF document" },
        { "a.zip", "PK\3\4\24\0\0\0\0\0a.nii", 15, "is a zip archive" },
        { "a.tar", tar, sizeof tar, "is a tar archive" },
        { "a.nii.xz",
          "\xfd"
          "7zXZ\0\0",
          7, "is a file packed by xz" },
        { "a.nii.zst", "\x28\xb5\x2f\xfd\4\0", 6, "is a file packed by zstd" },
        { "lh.pial",
          "\xff\xff\xfe"
          "created by",
          13, "is a FreeSurfer surface" },
        { "brain.nii.gz", "version https://git-lfs.github.com/spec/v1\n", 43, "is a pointer of Git LFS" },
        { "down.nii", "<!DOCTYPE html>\n<html>", 22, "is a web page" },
        { "film", "RIFF\xa2\xa5\0\0AVI LIST", 16, "is an AVI film, expected a file with the ending of a film" },
        { "film",
          "\0\0\0\x20"
          "ftypisom",
          12, "is an MP4 or QuickTime file" },
        { "a.mip", "TSRMIPY1", 8, "tessera mip reads it" },
    };
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        tsr_volume *v;
        tsr_mesh *m;
        tsr_file_kind kind;
        const char *format;
        scratch_write(strangers[i].name, strangers[i].bytes, strangers[i].size);
        require_error(tsr_volume_read(scratch(strangers[i].name), NULL, &v), TSR_ERROR_UNSUPPORTED, strangers[i].text);
        require_error(tsr_mesh_read(scratch(strangers[i].name), NULL, &m), TSR_ERROR_UNSUPPORTED, strangers[i].text);
        require_error(tsr_file_recognise(scratch(strangers[i].name), &kind, &format), TSR_ERROR_UNSUPPORTED, strangers[i].text);
    }
    /* What the caller says it is, it is. */
    tsr_read_options raw = TSR_READ_OPTIONS;
    tsr_volume *v;
    raw.raw_shape = (tsr_size3){ 10, 10, 2 };
    raw.raw_offset = 200;
    require_ok(tsr_volume_read(scratch("a.tar"), &raw, &v));
    tsr_volume_destroy(&v);
    scratch_files(1);
}

static void folders(void **state)
{
    (void)state;
    tsr_volume *v;
    require_error(tsr_volume_read(scratch(""), NULL, &v), TSR_ERROR_IO, "is a folder, expected a file");
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(frames_of_every_format),
                                        cmocka_unit_test(channels_and_layers),
                                        cmocka_unit_test(wrong_parts),
                                        cmocka_unit_test(real_values_are_written),
                                        cmocka_unit_test(units_are_carried),
                                        cmocka_unit_test(either_form_is_taken),
                                        cmocka_unit_test(known_strangers),
                                        cmocka_unit_test(folders) };
    return cmocka_run_group_tests_name("volume kinds", tests, scratch_make, scratch_remove);
}
