/* Pyramids built box after box: their files are those of the whole volume, bit for bit; planes are asked for in order, each once. */
#include "formats/scratch.h"
#include "mips.h"

struct planes {
    const uint8_t *data;
    int64_t plane, next, calls, fails_at; /* bytes of one; which comes next */
};

static tsr_status planes_of(void *user, int64_t begin, int64_t end, void *samples)
{
    struct planes *p = (struct planes *)user;
    assert_true(begin == p->next && end > begin);
    p->next = end;
    if (p->calls++ == p->fails_at) return TSR_ERROR_IO;
    memcpy(samples, p->data + begin * p->plane, (size_t)((end - begin) * p->plane));
    return TSR_OK;
}

static char *bytes_of(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

/* The smallest limit that is taken: a smaller one is refused with it. */
static int64_t least_limit(tsr_context *context, const tsr_planes_source *source, const tsr_mip_options *o, const tsr_write_options *write)
{
    static const char before[] = "which need ";
    const tsr_status status = tsr_mip_build_file(context, source, o, 1, scratch("least.mip"), write, NULL);
    if (status == TSR_OK) fail_msg("a limit of one byte was taken");
    assert_int_equal(status, TSR_ERROR_MEMORY);
    const char *at = strstr(tsr_error_message(), before);
    assert_non_null(at);
    return strtoll(at + sizeof before - 1, NULL, 10);
}

static void same_files(void **state)
{
    (void)state;
    static const struct {
        tsr_size3 n;
        tsr_dtype dtype;
        tsr_mip_element element;
        int levels;
        int64_t boxes; /* at least, of the smallest limit */
    } cases[] = { { { 40, 70, 100 }, TSR_U8, TSR_MIP_CUBE2, 2, 4 },  { { 33, 65, 97 }, TSR_U16, TSR_MIP_CUBE2, 5, 4 }, { { 20, 70, 200 }, TSR_U8, TSR_MIP_CUBE3, 2, 4 },
                  { { 20, 40, 170 }, TSR_U8, TSR_MIP_CROSS6, 1, 3 }, { { 9, 30, 330 }, TSR_U8, TSR_MIP_CUBE2, 7, 2 },  { { 70, 300, 1 }, TSR_U8, TSR_MIP_CUBE2, 3, 1 },
                  { { 20, 70, 150 }, TSR_U8, TSR_MIP_OWN, 1, 3 },    { { 5, 40, 70 }, TSR_U16, TSR_MIP_CUBE2, -1, 2 } };
    static const int8_t own[3][3] = { { 0, 0, 0 }, { -3, 1, 5 }, { 2, 2, 2 } };
    uint64_t seed = test_seed();
    tsr_context *context = test_context();
    const tsr_geometry g = tsr_geometry_make((tsr_vec3){ 0.5, 0.75, 2 }, (tsr_vec3){ 1, -2, 3 }, TSR_SPACE_RAS);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const tsr_size3 n = cases[k].n;
        void *data = random_values(cases[k].dtype, n, &seed);
        tsr_volume *volume = on_device(context, cases[k].dtype, n, data);
        tsr_mip *mip;
        tsr_mip_info info, want;
        tsr_mip_options o = TSR_MIP_OPTIONS;
        tsr_write_options write = TSR_WRITE_OPTIONS;
        write.overwrite = 1;
        o.element = cases[k].element;
        o.levels = cases[k].levels;
        o.key = k % 2 ? TSR_MIP_KEY_RESIDUAL : TSR_MIP_KEY_IMAGE1;
        o.points = own;
        o.point_count = 3;
        require_ok(tsr_volume_set_geometry(volume, &g));
        require_ok(tsr_volume_set_scaling(volume, 0.25, -7));
        require_ok(tsr_mip_build(context, volume, &o, &mip));
        require_ok(tsr_mip_write(mip, scratch("whole.mip"), &write));
        want = *tsr_mip_describe(mip);
        struct planes p = { .data = data, .plane = n.x * n.y * (int64_t)tsr_dtype_size(cases[k].dtype), .fails_at = -1 };
        tsr_planes_source source = TSR_PLANES_SOURCE;
        source.size = n;
        source.dtype = cases[k].dtype;
        source.slope = 0.25;
        source.intercept = -7;
        source.geometry = &g;
        source.planes = planes_of;
        source.user = &p;
        const int64_t least = least_limit(context, &source, &o, &write);
        for (int way = 0; way < 3; way++) { /* the smallest boxes, larger ones, one */
            p.next = p.calls = 0;
            require_ok(tsr_mip_build_file(context, &source, &o, way == 0 ? least : way == 1 ? least + least / 100 : 1 << 30, scratch("boxes.mip"), &write, &info));
            assert_true(p.next == n.z && (way ? way < 2 || p.calls == 1 : p.calls >= (cases[k].boxes + 1) / 2));
            size_t size[2];
            char *bytes[2] = { bytes_of(scratch("whole.mip"), &size[0]), bytes_of(scratch("boxes.mip"), &size[1]) };
            assert_int_equal(size[0], size[1]);
            assert_memory_equal(bytes[0], bytes[1], size[0]);
            free(bytes[0]);
            free(bytes[1]);
            assert_true(info.coefficients == want.coefficients && info.runs == want.runs && info.bricks == want.bricks && info.device_bytes == 0);
            assert_memory_equal(info.by_level, want.by_level, sizeof info.by_level);
        }
        tsr_mip_destroy(&mip);
        tsr_volume_destroy(&volume);
        free(data);
    }
    tsr_context_destroy(&context);
}

static void refused(void **state)
{
    (void)state;
    static const uint8_t data[64];
    tsr_context *context = test_context();
    struct planes p = { .data = data, .plane = 16, .fails_at = 0 };
    tsr_planes_source source = TSR_PLANES_SOURCE;
    tsr_mip_options o = TSR_MIP_OPTIONS;
    source.size = (tsr_size3){ 4, 4, 4 };
    source.dtype = TSR_F32;
    source.planes = planes_of;
    source.user = &p;
    assert_int_equal(tsr_mip_build_file(context, &source, &o, 0, scratch("no.mip"), NULL, NULL), TSR_ERROR_ARGUMENT);
    source.dtype = TSR_U8;
    assert_int_equal(tsr_mip_build_file(context, &source, &o, -1, scratch("no.mip"), NULL, NULL), TSR_ERROR_ARGUMENT);
    assert_int_equal(tsr_mip_build_file(context, &source, &o, 0, scratch("no.mip"), NULL, NULL), TSR_ERROR_IO); /* that of the planes */
    o.format = TSR_MIP_LIST4;
    assert_int_equal(tsr_mip_build_file(context, &source, &o, 0, scratch("no.mip"), NULL, NULL), TSR_ERROR_UNSUPPORTED);
    o.format = TSR_MIP_BRICKS;
    o.key = TSR_MIP_KEY_GREEDY;
    assert_int_equal(tsr_mip_build_file(context, &source, &o, 0, scratch("no.mip"), NULL, NULL), TSR_ERROR_UNSUPPORTED);
    o.key = TSR_MIP_KEY_IMAGE;
    o.hide = 1;
    assert_int_equal(tsr_mip_build_file(context, &source, &o, 0, scratch("no.mip"), NULL, NULL), TSR_ERROR_UNSUPPORTED);
    o.hide = 0;
    o.measure = 1;
    assert_int_equal(tsr_mip_build_file(context, &source, &o, 0, scratch("no.mip"), NULL, NULL), TSR_ERROR_UNSUPPORTED);
    assert_true(access(scratch("no.mip"), F_OK) != 0);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_files), cmocka_unit_test(refused) };
    return cmocka_run_group_tests_name("mip_source", tests, scratch_make, scratch_remove);
}
