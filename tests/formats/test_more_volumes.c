/* FreeSurfer's volumes, Analyze, MRC maps, GIPL and VFF: headers written by hand give the volume that they mean, headers that lie or are cut off are refused by
 * the name of the field, and what is written comes back. tests/formats/volume_peers.py asks other libraries. */
#include "scratch.h"

#include <math.h>

static const tsr_write_options overwrite = { .struct_size = sizeof(tsr_write_options), .overwrite = 1 };

static void put_be16(uint8_t *p, unsigned v) { p[0] = (uint8_t)(v >> 8), p[1] = (uint8_t)v; }
static void put_be32(uint8_t *p, uint32_t v) { put_be16(p, v >> 16), put_be16(p + 2, v & 0xffff); }
static void put_be_float(uint8_t *p, float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    put_be32(p, u);
}
static void put_le32(uint8_t *p, uint32_t v)
{
    for (int k = 0; k < 4; k++) p[k] = (uint8_t)(v >> 8 * k);
}
static void put_le_float(uint8_t *p, float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    put_le32(p, u);
}

/* 4 x 3 x 2 of i16, counted from 0, each. */
static size_t make_mgh(uint8_t *f)
{
    static const float good[] = { 2, 3, 4, 0, 1, 0, 1, 0, 0, 0, 0, -1, 10, 20, 30 };
    memset(f, 0, 512);
    put_be32(f, 1), put_be32(f + 4, 4), put_be32(f + 8, 3), put_be32(f + 12, 2), put_be32(f + 16, 1), put_be32(f + 20, 4);
    put_be16(f + 28, 1);
    for (int k = 0; k < 15; k++) put_be_float(f + 30 + 4 * k, good[k]);
    for (unsigned k = 0; k < 24; k++) put_be16(f + 284 + 2 * k, k);
    put_be_float(f + 284 + 48, 2.5f);
    return 284 + 48 + 20;
}
static size_t make_gipl(uint8_t *f)
{
    memset(f, 0, 512);
    put_be16(f, 4), put_be16(f + 2, 3), put_be16(f + 4, 2), put_be16(f + 6, 1), put_be16(f + 8, 15);
    put_be_float(f + 10, 0.5f), put_be_float(f + 14, 1.5f), put_be_float(f + 18, 2.5f);
    memcpy(f + 26, "nobody", 6);
    f[204] = 0x40, f[212] = 0xc0; /* 2, -2 */
    put_be32(f + 252, 719555000u);
    for (unsigned k = 0; k < 24; k++) put_be16(f + 256 + 2 * k, k);
    return 256 + 48;
}
static size_t make_mrc(uint8_t *f)
{
    memset(f, 0, 1200);
    put_le32(f, 4), put_le32(f + 4, 3), put_le32(f + 8, 2), put_le32(f + 12, 1);
    put_le32(f + 28, 3), put_le32(f + 32, 2), put_le32(f + 36, 4); /* mx, my, mz: of the axes of the world */
    put_le_float(f + 40, 6), put_le_float(f + 44, 6), put_le_float(f + 48, 16);
    for (int k = 0; k < 3; k++) put_le_float(f + 52 + 4 * k, 90);
    put_le32(f + 64, 3), put_le32(f + 68, 1), put_le32(f + 72, 2); /* columns along z, rows along x, sections along y */
    put_le32(f + 16, 1), put_le32(f + 20, 2), put_le32(f + 24, (uint32_t)-3);
    memcpy(f + 208, "MAP \x44\x44", 6);
    put_le32(f + 220, 1);
    memcpy(f + 224, "a label   ", 10);
    for (unsigned k = 0; k < 24; k++) f[1024 + 2 * k] = (uint8_t)k;
    return 1024 + 48;
}
static size_t make_vff(uint8_t *f)
{
    const char head[] =
        "ncaa\nrank=3;\ntype=raster;\nformat=slice;\nbits=16;\nbands=1;\nsize=4 3 2;\nspacing=1 1 2;\norigin=0 0 4;\nelementsize=0.5;\n"
        "title=a femur;\ndata_scale=2;\ndata_offset=1;\n\f\n";
    memcpy(f, head, sizeof head - 1);
    for (unsigned k = 0; k < 24; k++) put_be16(f + sizeof head - 1 + 2 * k, k);
    return sizeof head - 1 + 48;
}
static size_t make_analyze(uint8_t *f)
{
    static const int16_t dim[] = { 4, 4, 3, 2, 1 }, origin[] = { 2, 1, 1 };
    static const float spacing[] = { 0, 2, 3, 4 }, scale = 0.5f;
    const int32_t bytes = 348;
    const int16_t type[] = { 4, 16 };
    memset(f, 0, 348);
    memcpy(f, &bytes, 4);
    memcpy(f + 40, dim, sizeof dim);
    memcpy(f + 70, type, sizeof type);
    memcpy(f + 76, spacing, sizeof spacing);
    memcpy(f + 112, &scale, 4);
    memcpy(f + 253, origin, sizeof origin);
    memcpy(f + 148, "by hand", 7);
    return 348;
}

static const struct kind {
    const char *name;
    size_t (*make)(uint8_t *);
    double affine[3][4], slope, intercept;
    tsr_space space;
    const char *key, *value;
} kinds[] = {
    { "a.mgh", make_mgh, { { 0, 3, 0, 10 - 4.5 }, { 2, 0, 0, 20 - 4 }, { 0, 0, -4, 30 + 4 } }, 1, 0, TSR_SPACE_RAS, "mgh.TR", "2.5" },
    { "a.gipl", make_gipl, { { 0.5, 0, 0, 2 }, { 0, 1.5, 0, -2 }, { 0, 0, 2.5, 0 } }, 1, 0, TSR_SPACE_NONE, "gipl.patient", "nobody" },
    /* a cell of 6, 6 and 16 cut into 3, 2 and 4: steps of 2, 3 and 4 along x, y and z */
    { "a.mrc", make_mrc, { { 0, 2, 0, 4 }, { 0, 0, 3, -9 }, { 4, 0, 0, 4 } }, 1, 0, TSR_SPACE_NONE, "mrc.label0", "a label" },
    { "a.vff", make_vff, { { 0.5, 0, 0, 0 }, { 0, 0.5, 0, 0 }, { 0, 0, 1, 2 } }, 2, 1, TSR_SPACE_NONE, "vff.title", "a femur" },
    { "a.hdr", make_analyze, { { -2, 0, 0, 2 }, { 0, 3, 0, 0 }, { 0, 0, 4, 0 } }, 0.5, 0, TSR_SPACE_RAS, "analyze.descrip", "by hand" },
};

static void write_image_file(void)
{
    int16_t voxels[24];
    for (int k = 0; k < 24; k++) voxels[k] = (int16_t)k;
    scratch_write("a.img", voxels, sizeof voxels);
}

static void headers_by_hand(void **state)
{
    (void)state;
    uint8_t file[2048];
    write_image_file();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *k = &kinds[i];
        tsr_volume *v;
        double slope, intercept;
        scratch_write(k->name, file, k->make(file));
        require_ok(tsr_volume_read(scratch(k->name), NULL, &v));
        const tsr_size3 n = tsr_volume_size(v);
        const tsr_geometry *g = tsr_volume_geometry(v);
        assert_true(n.x == 4 && n.y == 3 && n.z == 2 && tsr_volume_dtype(v) == TSR_I16 && g->space == k->space);
        for (int r = 0; r < 12; r++)
            if (fabs(g->affine[r / 4][r % 4] - k->affine[r / 4][r % 4]) > 1e-6)
                fail_msg("%s: affine[%d][%d] is %g, expected %g", k->name, r / 4, r % 4, g->affine[r / 4][r % 4], k->affine[r / 4][r % 4]);
        for (int c = 0; c < 24; c++) assert_int_equal(((const int16_t *)tsr_volume_data_const(v))[c], c);
        tsr_volume_scaling(v, &slope, &intercept);
        assert_true(slope == k->slope && intercept == k->intercept);
        assert_string_equal(tsr_volume_meta(v, k->key), k->value);
        tsr_volume_destroy(&v);
    }
    scratch_files(1);
}

/* GIPL of one slice: its extent along z may be 0 or 1, and its thickness need not be known. */
static void flat_gipl(void **state)
{
    (void)state;
    for (unsigned depth = 0; depth < 2; depth++) {
        uint8_t file[512];
        tsr_volume *v;
        make_gipl(file);
        put_be16(file + 4, depth);
        put_be_float(file + 18, 0);
        scratch_write("flat.gipl", file, 256 + 24);
        require_ok(tsr_volume_read(scratch("flat.gipl"), NULL, &v));
        const tsr_size3 n = tsr_volume_size(v);
        assert_true(n.x == 4 && n.y == 3 && n.z == 1 && tsr_volume_geometry(v)->affine[2][2] == 1);
        for (int c = 0; c < 12; c++) assert_int_equal(((const int16_t *)tsr_volume_data_const(v))[c], c);
        tsr_volume_destroy(&v);
    }
    scratch_files(1);
}

/* Every way of cutting a file off, and fields that say what cannot be. */
static void lies(void **state)
{
    (void)state;
    static const struct {
        int kind, at, bytes;
        uint32_t value; /* in the file's order */
        tsr_status status;
        const char *text;
    } cases[] = {
        { 0, 4, 4, 0, TSR_ERROR_FORMAT, "'width' is 0" },
        { 0, 8, 4, 0xffffffff, TSR_ERROR_FORMAT, "'height' is -1" },
        { 0, 12, 4, 0x7fffffff, TSR_ERROR_FORMAT, "truncated" },
        { 0, 16, 4, 0, TSR_ERROR_FORMAT, "'nframes' is 0" },
        { 0, 16, 4, 9, TSR_ERROR_UNSUPPORTED, "9 frames" },
        { 0, 20, 4, 5, TSR_ERROR_UNSUPPORTED, "'type' is 5" },
        { 0, 30, 4, 0, TSR_ERROR_FORMAT, "'spacing' is 0" },
        { 0, 34, 4, 0x7fc00000, TSR_ERROR_FORMAT, "'spacing' is nan" },
        { 0, 42 + 4, 4, 0, TSR_ERROR_FORMAT, "spacing 0" },
        { 1, 0, 2, 0, TSR_ERROR_FORMAT, "extent 0 is 0" },
        { 1, 2, 2, 0, TSR_ERROR_FORMAT, "extent 1 is 0" },
        { 1, 10, 4, 0, TSR_ERROR_FORMAT, "'pixdim' is 0 for axis 0" },
        { 1, 18, 4, 0, TSR_ERROR_FORMAT, "'pixdim' is 0 for axis 2" }, /* a picture may leave it out, a volume not */
        { 1, 4, 2, 60000, TSR_ERROR_FORMAT, "truncated" },
        { 1, 8, 2, 1, TSR_ERROR_UNSUPPORTED, "'image_type' is 1" },
        { 1, 10, 4, 0xbf800000, TSR_ERROR_FORMAT, "'pixdim' is -1" },
        { 2, 0, 4, 0, TSR_ERROR_FORMAT, "'nx' is 0" },
        { 2, 8, 4, 0x7fffffff, TSR_ERROR_FORMAT, "truncated" },
        { 2, 12, 4, 4, TSR_ERROR_UNSUPPORTED, "'mode' is 4 (complex" },
        { 2, 12, 4, 101, TSR_ERROR_UNSUPPORTED, "4 bits" },
        { 2, 64, 4, 2, TSR_ERROR_FORMAT, "2, 1, 2, expected 1, 2 and 3" },
        { 2, 52, 4, 0x43340000, TSR_ERROR_FORMAT, "'cellb' is 180" },
        { 2, 52, 4, 0x42f00000, TSR_OK, "" }, /* 120 degrees between y and z: a cell that leans */
        { 2, 92, 4, 0xffffffff, TSR_ERROR_FORMAT, "'nsymbt' is -1" },
        { 2, 92, 4, 0x7ffffff0, TSR_ERROR_FORMAT, "truncated" },
    };
    uint8_t file[2048];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct kind *k = &kinds[cases[i].kind];
        const size_t size = k->make(file);
        tsr_volume *v = NULL;
        if (cases[i].kind == 2) put_le32(file + cases[i].at, cases[i].value);
        else if (cases[i].bytes == 4) put_be32(file + cases[i].at, cases[i].value);
        else put_be16(file + cases[i].at, cases[i].value);
        scratch_write(k->name, file, size);
        const tsr_status status = tsr_volume_read(scratch(k->name), NULL, &v);
        if (status != cases[i].status || (status != TSR_OK && !strstr(tsr_error_message(), cases[i].text)))
            fail_msg("case %zu: %s '%s', expected %s and '%s'", i, tsr_status_name(status), tsr_error_message(), tsr_status_name(cases[i].status),
                     cases[i].text);
        assert_true((v != NULL) == (status == TSR_OK));
        tsr_volume_destroy(&v);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) { /* shorter than its voxels, and than its header */
        const struct kind *k = &kinds[i];
        const size_t size = k->make(file), voxels = i == 0 ? size - 20 : size;
        tsr_read_options named = TSR_READ_OPTIONS;
        tsr_volume *v;
        char format[16];
        snprintf(format, sizeof format, "%s", i == 4 ? "analyze" : k->name + 2);
        named.format = format;
        write_image_file();
        for (size_t cut = 0; cut < voxels; cut += cut < voxels - 40 ? 37 : 1) {
            scratch_write(k->name, file, cut);
            if (tsr_volume_read(scratch(k->name), &named, &v) == TSR_OK) fail_msg("%s: read although cut to %zu of %zu bytes", k->name, cut, size);
            assert_null(v);
        }
    }
    scratch_write("a.img", file, 47);
    scratch_write("a.hdr", file, make_analyze(file));
    tsr_volume *v;
    require_error(tsr_volume_read(scratch("a.hdr"), NULL, &v), TSR_ERROR_FORMAT, "truncated");
    scratch_files(1);
}

static void vff_lies(void **state)
{
    (void)state;
    static const char *const cases[][2] = { { "ncaa\nbits=12;\nsize=1 1 1;\n\f\nxx", "'bits' is 12" },
                                            { "ncaa\nbits=8;\n\f\nxx", "lacks the field 'size'" },
                                            { "ncaa\nbits=8;\nsize=0 1 1;\n\f\nxx", "'size' is 0" },
                                            { "ncaa\nbits=8;\nsize=1e30 1 1;\n\f\nxx", "'size' is 1e+30" },
                                            { "ncaa\nbits=8;\nsize=a b c;\n\f\nxx", "'size' is 'a b c'" },
                                            { "ncaa\nbits=8;\nbands=0;\nsize=1 1 1;\n\f\nxx", "'bands' is 0" },
                                            { "ncaa\nbits=8;\nspacing=0 1 1;\nsize=1 1 1;\n\f\nxx", "'spacing'" },
                                            { "ncaa\nbits=8;\nsize=100 100 100;\n\f\nxx", "truncated" },
                                            { "ncaa\nbits=8;\nsize=1 1 1;\n", "no end" } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_volume *v;
        scratch_write("a.vff", cases[i][0], strlen(cases[i][0]));
        assert_true(tsr_volume_read(scratch("a.vff"), NULL, &v) != TSR_OK);
        if (!strstr(tsr_error_message(), cases[i][1])) fail_msg("'%s', expected '%s'", tsr_error_message(), cases[i][1]);
        assert_null(v);
    }
    scratch_files(1);
}

/* What is written comes back: voxels of every type that finds room, geometry, unit. */
static void round_trips(void **state)
{
    (void)state;
    static const char *const names[] = { "r.mgh", "r.mgz", "r.mrc" };
    static const tsr_dtype dtypes[] = { TSR_U8, TSR_I8, TSR_U16, TSR_I16, TSR_U32, TSR_I32, TSR_I64, TSR_F32, TSR_F64 };
    for (size_t i = 0; i < 3; i++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            const int mrc = i == 2;
            tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 2, 4 }, (tsr_vec3){ -3, 8, 16 }, mrc ? TSR_SPACE_NONE : TSR_SPACE_LPS), back_g;
            tsr_volume *v, *back;
            if (!mrc) g.affine[0][0] = 0, g.affine[1][0] = -0.5, g.affine[0][1] = 2, g.affine[1][1] = 0;
            require_ok(tsr_volume_create(NULL, dtypes[d], (tsr_size3){ 5, 4, 3 }, &g, &v));
            require_ok(tsr_volume_set_unit(v, mrc ? "nm" : "um"));
            for (int64_t k = 0; k < 60; k++) {
                void *data = tsr_volume_data(v);
                const int64_t at = k * (int64_t)tsr_dtype_size(dtypes[d]);
                const float f = (float)k * 0.25f;
                const double e = (double)f;
                memset((uint8_t *)data + at, 0, tsr_dtype_size(dtypes[d]));
                if (dtypes[d] == TSR_F32) memcpy((uint8_t *)data + at, &f, 4);
                else if (dtypes[d] == TSR_F64) memcpy((uint8_t *)data + at, &e, 8);
                else ((uint8_t *)data)[at] = (uint8_t)k; /* little-endian hosts run the tests */
            }
            require_ok(tsr_volume_write(v, scratch(names[i]), &overwrite));
            require_ok(tsr_volume_read(scratch(names[i]), NULL, &back));
            back_g = *tsr_volume_geometry(back);
            if (!mrc) back_g = tsr_geometry_convert(&back_g, TSR_SPACE_LPS);
            const double unit = mrc ? 10 : 1e-3; /* nm are angstroms in MRC; um are mm in MGH */
            for (int k = 0; k < 12; k++) assert_true(fabs(back_g.affine[k / 4][k % 4] - g.affine[k / 4][k % 4] * unit) < 1e-6);
            if (mrc) assert_string_equal(tsr_volume_unit_name(back), "angstrom");
            tsr_context_options on_cpu = { .struct_size = sizeof on_cpu, .device = "cpu" };
            tsr_context *cpu;
            tsr_volume_comparison c = TSR_VOLUME_COMPARISON;
            require_ok(tsr_context_create(&on_cpu, &cpu));
            tsr_compare_options by_index = { .struct_size = sizeof by_index, .ignore_geometry = 1 };
            require_ok(tsr_compare_volumes(cpu, v, back, &by_index, &c));
            assert_true(c.maximum == 0);
            tsr_context_destroy(&cpu);
            tsr_volume_destroy(&back);
            tsr_volume_destroy(&v);
        }
    /* a value that no type of the format holds */
    tsr_volume *v;
    require_ok(tsr_volume_create(NULL, TSR_F64, (tsr_size3){ 2, 1, 1 }, NULL, &v));
    ((double *)tsr_volume_data(v))[0] = 0.1;
    require_error(tsr_volume_write(v, scratch("x.mgz"), NULL), TSR_ERROR_UNSUPPORTED, "mgh files hold u8, i16, i32, f32");
    tsr_geometry leaning = tsr_geometry_make((tsr_vec3){ 1, 1, 1 }, (tsr_vec3){ 0, 0, 0 }, TSR_SPACE_NONE);
    leaning.affine[0][1] = 0.5;
    ((double *)tsr_volume_data(v))[0] = 0.5;
    require_ok(tsr_volume_set_geometry(v, &leaning));
    require_error(tsr_volume_write(v, scratch("x.mrc"), NULL), TSR_ERROR_ARGUMENT, "axes along x, y and z");
    require_error(tsr_volume_write(v, scratch("x.vff"), NULL), TSR_ERROR_ARGUMENT, "vff files are read, not written");
    tsr_volume_destroy(&v);
    assert_int_equal(scratch_files(0), 3);
    scratch_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(headers_by_hand), cmocka_unit_test(flat_gipl), cmocka_unit_test(lies),
                                        cmocka_unit_test(vff_lies), cmocka_unit_test(round_trips) };
    return cmocka_run_group_tests_name("more volume files", tests, scratch_make, scratch_remove);
}
