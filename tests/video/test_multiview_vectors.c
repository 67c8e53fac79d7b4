/* The test vectors of docs/formats/mvv.md, byte by byte. */
#include "support.h"
#include "tessera/multiview.h"
#include "video/multiview/mvv_bisk.h"
#include "video/multiview/mvv_mask.h"
#include "video/multiview/mvv_spiht.h"

#include <unistd.h>

#define SERIAL "05 f1 c1 a9 b1 03"
#define PLANES "05 00 00 00 00 01 00 00 00 02 00 00 00 03 00 00 00 05 00 00 00 01 02 17 9e 0c ec 00"
#define MASKS "d0 e4 f3 35 3d af c2 15 d5 09 a3 d4 91 00"
#define BISK "06 1f df 11 cc ec 2b ec 51 95 3d c4 9c"
#define LOSSLESS_BISK "08 02 1f df 11 d0 c2 1f 7f 93 51 db c3 16"
#define WHOLE                                                                                                                  \
    "89 4d 56 56 0d 0a 1a 0a 48 45 41 44 00 00 00 00 62 00 00 00 00 00 00 00 fc c8 de ed 85 d8 05 63 70 66 1a 9d b0 e1 38 df " \
    "01 00 00 00 02 00 00 00 01 00 00 00 01 00 00 00 01 00 00 00 19 00 00 00 01 00 00 00 01 00 00 00 00 00 00 00 02 00 00 00 " \
    "00 00 00 00 08 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 " \
    "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 41 54 45 58 52 00 00 00 00 0e 00 00 00 00 00 00 00 05 ed 65 31 ea 5f " \
    "78 8d f0 53 a7 c9 e1 ac 4e 58 00 00 00 00 00 00 00 00 64 14 80 00 82 fe 44 49 52 59 00 00 00 00 34 00 00 00 00 00 00 00 " \
    "2f d1 56 e0 c8 f9 20 e2 e6 dc fa ef 33 16 58 c1 02 00 00 00 48 45 41 44 00 00 00 00 28 00 00 00 00 00 00 00 62 00 00 00 " \
    "00 00 00 00 54 45 58 52 00 00 00 00 aa 00 00 00 00 00 00 00 0e 00 00 00 00 00 00 00 b8 00 00 00 00 00 00 00 4d 56 56 45 " \
    "4e 44 31 0a"

/* "0a 1b ..." */
static void require_bytes(const char *what, const uint8_t *bytes, int64_t size, const char *expected)
{
    char text[4096] = "";
    assert_true(size * 3 < (int64_t)sizeof text);
    for (int64_t k = 0; k < size; k++) snprintf(text + strlen(text), 4, k ? " %02x" : "%02x", bytes[k]);
    if (strcmp(text, expected) != 0) fail_msg("%s: %s", what, text);
}

static void test_spiht(void **state)
{
    (void)state;
    static const int32_t value[8] = { 26, -7, 3, 0, 5, 0, -1, 2 };
    tsr_mvv_shape s;
    tsr_mvv_coder c = { 0 };
    uint8_t all[8], but_children[8], *bytes;
    tsr_mvv_sets sets = { all, but_children };
    int64_t size;
    assert_true(tsr_mvv_shape_make(4, 2, 1, 1, &s));
    tsr_mvv_sets_make(&s, value, &sets);
    require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, TSR_MULTIVIEW_SYNTAX_SERIAL, 1000, &bytes, &size));
    require_bytes("serial", bytes, size, SERIAL);
    require_ok(tsr_mvv_spiht_encode(&c, &s, value, &sets, TSR_MULTIVIEW_SYNTAX_PLANES, 1000, &bytes, &size));
    require_bytes("planes", bytes, size, PLANES);
    tsr_mvv_coder_free(&c);
}

static void test_mask(void **state)
{
    (void)state;
    static const uint64_t masks[6] = { 0x003fc, 0xf07fe, 0xf03fc, 0x007f8, 0xe0ffc, 0xf07fe };
    uint64_t back[6] = { 0 };
    uint8_t *bytes;
    size_t size;
    require_ok(tsr_mvv_mask_encode(masks, 3, 2, 20, 3, NULL, &bytes, &size));
    require_bytes("masks", bytes, (int64_t)size, MASKS);
    require_ok(tsr_mvv_mask_decode(bytes, size, back, 3, 2, 20, 3, NULL));
    assert_memory_equal(back, masks, sizeof masks);
    free(bytes);
}

static void test_bisk(void **state)
{
    (void)state;
    static const uint8_t mask[12] = { 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1 };
    static const int32_t value[12] = { 45, -12, 3, 0, 20, 0, -2, 1, 0, 5, -6, 0 };
    tsr_bisk_tree t = { 0 };
    tsr_bisk_coder c = { 0 };
    uint8_t *bytes;
    int64_t size;
    require_ok(tsr_bisk_tree_make(&t, 4, 3, 1, mask, 0));
    require_ok(tsr_bisk_encode(&c, &t, value, 1000, 0, &bytes, &size));
    require_bytes("bisk", bytes, size, BISK);
    free(bytes);
    require_ok(tsr_bisk_tree_make(&t, 4, 3, 1, mask, 1));
    require_ok(tsr_bisk_encode(&c, &t, value, 1000, 2, &bytes, &size));
    require_bytes("bisk, lossless", bytes, size, LOSSLESS_BISK);
    free(bytes);
    tsr_bisk_tree_free(&t);
    tsr_bisk_coder_free(&c);
}

static void test_file(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 1);
    tsr_multiview *m = NULL;
    tsr_multiview_view v;
    uint8_t bytes[1000];
    char path[] = "/tmp/vector-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    require_ok(tsr_multiview_create(context, 2, 1, 1, 1, 0, &m));
    require_ok(tsr_multiview_view_of(m, &v));
    v.plane[0][0] = 100;
    v.plane[0][1] = 120;
    v.plane[1][0] = v.plane[1][1] = 128;
    v.plane[2][0] = 130;
    v.plane[2][1] = 128;
    require_ok(tsr_multiview_set_camera_name(m, 0, "A"));
    tsr_multiview_write_options o = TSR_MULTIVIEW_WRITE_OPTIONS;
    o.overwrite = 1;
    require_ok(tsr_multiview_write(m, path, &o, NULL));
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    const size_t size = fread(bytes, 1, sizeof bytes, stream);
    fclose(stream);
    unlink(path);
    require_bytes("file", bytes, (int64_t)size, WHOLE);
    tsr_multiview_destroy(&m);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_spiht), cmocka_unit_test(test_mask), cmocka_unit_test(test_bisk),
                                        cmocka_unit_test(test_file) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
