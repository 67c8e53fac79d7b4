#include "support.h"

#include <math.h>

static const int64_t BIG = 9007199254740992; /* 2^53: as doubles BIG and BIG + 1 are one */

static tsr_volume *volume_of(tsr_dtype dtype, tsr_size3 n)
{
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.5, 1, 2 }, (tsr_vec3){ 3, 4, 5 }, TSR_SPACE_RAS);
    tsr_volume *volume;
    require_ok(tsr_volume_create(NULL, dtype, n, &geometry, &volume));
    return volume;
}

static void store(tsr_volume *v, int64_t i, int64_t value)
{
    void *d = tsr_volume_data(v);
    switch (tsr_volume_dtype(v)) {
    case TSR_U8: ((uint8_t *)d)[i] = (uint8_t)value; break;
    case TSR_I8: ((int8_t *)d)[i] = (int8_t)value; break;
    case TSR_U16: ((uint16_t *)d)[i] = (uint16_t)value; break;
    case TSR_I16: ((int16_t *)d)[i] = (int16_t)value; break;
    case TSR_U32: ((uint32_t *)d)[i] = (uint32_t)value; break;
    case TSR_I32: ((int32_t *)d)[i] = (int32_t)value; break;
    case TSR_U64: ((uint64_t *)d)[i] = (uint64_t)value; break;
    case TSR_I64: ((int64_t *)d)[i] = value; break;
    case TSR_F32: ((float *)d)[i] = (float)value; break;
    default: ((double *)d)[i] = (double)value; break;
    }
}

/* Boxes of labels at known places, in every element type and with any number of threads. */
static void every_type(void **state)
{
    (void)state;
    const tsr_size3 n = { 21, 13, 9 };
    for (int t = TSR_U8; t <= TSR_F64; t++)
        for (int threads = 1; threads <= 3; threads += 2) {
            tsr_context *context = test_context_on("cpu", threads);
            tsr_volume *v = volume_of((tsr_dtype)t, n);
            tsr_label *labels;
            int32_t count;
            for (int64_t z = 0; z < n.z; z++)
                for (int64_t y = 0; y < n.y; y++)
                    for (int64_t x = 0; x < n.x; x++) {
                        const int64_t i = (z * n.y + y) * n.x + x;
                        if (x >= 2 && x < 5 && y >= 3 && y < 7) store(v, i, 100);
                        if (x >= 8 && x < 20 && y >= 1 && y < 3 && z >= 4 && z < 6) store(v, i, 7);
                    }
            store(v, tsr_volume_count(v) - 1, 7);
            require_ok(tsr_labels_count(context, v, 0, &labels, &count));
            assert_int_equal(count, 2);
            assert_int_equal(labels[0].value, 7);
            assert_int_equal(labels[0].voxels, 12 * 2 * 2 + 1);
            assert_true(labels[0].volume == 49); /* voxels of 0.5 x 1 x 2 */
            assert_true(labels[0].lower.x == 8 && labels[0].lower.y == 1 && labels[0].lower.z == 4);
            assert_true(labels[0].upper.x == 21 && labels[0].upper.y == 13 && labels[0].upper.z == 9);
            assert_int_equal(labels[1].value, 100);
            assert_int_equal(labels[1].voxels, 3 * 4 * 9);
            assert_true(labels[1].lower.x == 2 && labels[1].upper.x == 5 && labels[1].lower.z == 0 && labels[1].upper.z == 9);
            tsr_labels_destroy(&labels);
            assert_null(labels);
            tsr_volume_destroy(&v);
            tsr_context_destroy(&context);
        }
}

static void what_is_no_label_map(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 2);
    tsr_label *labels;
    int32_t count;
    tsr_volume *v = volume_of(TSR_F32, (tsr_size3){ 40, 40, 4 });
    require_ok(tsr_labels_count(context, v, 0, &labels, &count));
    assert_true(!labels && !count);
    ((float *)tsr_volume_data(v))[1600 + 81] = 0.5f;
    require_error(tsr_labels_count(context, v, 0, &labels, &count), TSR_ERROR_ARGUMENT, "voxel (1, 2, 1) is 0.5, expected whole numbers");
    ((float *)tsr_volume_data(v))[1600 + 81] = NAN; /* background */
    require_ok(tsr_labels_count(context, v, 0, &labels, &count));
    assert_int_equal(count, 0);
    for (int64_t i = 0; i < tsr_volume_count(v); i++) store(v, i, i);
    require_error(tsr_labels_count(context, v, 100, &labels, &count), TSR_ERROR_UNSUPPORTED, "more than 100 different values");
    require_ok(tsr_labels_count(context, v, 0, &labels, &count));
    assert_int_equal(count, 6399);
    for (int32_t k = 0; k < count; k++) assert_true(labels[k].value == k + 1 && labels[k].voxels == 1);
    tsr_labels_destroy(&labels);
    tsr_volume_destroy(&v);
    /* the label is the real value */
    v = volume_of(TSR_I16, (tsr_size3){ 4, 4, 4 });
    require_ok(tsr_volume_set_scaling(v, 2, -10));
    for (int64_t i = 0; i < 64; i++) store(v, i, i < 5 ? 8 : 5);
    require_ok(tsr_labels_count(context, v, 0, &labels, &count));
    assert_true(count == 1 && labels[0].value == 6 && labels[0].voxels == 5);
    tsr_labels_destroy(&labels);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

static void beyond_doubles(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 2);
    tsr_label *labels;
    int32_t count;
    tsr_volume *v = volume_of(TSR_I64, (tsr_size3){ 4, 4, 4 });
    for (int64_t i = 0; i < 64; i++) store(v, i, i < 10 ? BIG : i < 30 ? BIG + 1 : i < 31 ? -BIG - 1 : 0);
    require_ok(tsr_labels_count(context, v, 0, &labels, &count));
    assert_int_equal(count, 3);
    assert_true(labels[0].value == -BIG - 1 && labels[0].voxels == 1 && labels[1].value == BIG && labels[1].voxels == 10 && labels[2].voxels == 20);
    tsr_labels_destroy(&labels);
    tsr_volume_destroy(&v);
    v = volume_of(TSR_U64, (tsr_size3){ 4, 4, 4 });
    for (int64_t i = 0; i < 64; i++) ((uint64_t *)tsr_volume_data(v))[i] = i < 3 ? UINT64_MAX : i < 9 ? UINT64_MAX - 1 : 5;
    require_ok(tsr_labels_count(context, v, 0, &labels, &count));
    assert_int_equal(count, 3);
    assert_true(labels[0].value == 5 && (uint64_t)labels[1].value == UINT64_MAX - 1 && labels[1].voxels == 6 && labels[2].voxels == 3);
    char text[TSR_LABEL_TEXT];
    tsr_label_text(TSR_U64, labels[2].value, text);
    assert_string_equal(text, "18446744073709551615");
    tsr_labels_destroy(&labels);
    tsr_volume_destroy(&v);
    tsr_context_destroy(&context);
}

static void few_values(void **state)
{
    (void)state;
    double values[3];
    int32_t count;
    tsr_volume *v = volume_of(TSR_U8, (tsr_size3){ 7, 7, 7 });
    for (int64_t i = 0; i < 343; i++) store(v, i, i % 3 ? 255 : 0);
    require_ok(tsr_volume_few_values(v, 2, values, &count));
    assert_true(count == 2 && values[0] == 0 && values[1] == 255);
    require_ok(tsr_volume_set_scaling(v, -1, 1));
    require_ok(tsr_volume_few_values(v, 3, values, &count));
    assert_true(count == 2 && values[0] == -254 && values[1] == 1);
    store(v, 342, 9);
    require_ok(tsr_volume_few_values(v, 2, values, &count));
    assert_int_equal(count, 3); /* more than two */
    tsr_volume_destroy(&v);
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
        const char *name;
    } cases[] = {
        { "# table\n\n3 left kidney\n", 3, "left kidney" },
        { "3\tleft kidney\r\n", 3, "left kidney" },
        { "3: left kidney\n", 3, "left kidney" },
        { "3,left kidney", 3, "left kidney" },
        { "2   Left-Cerebral-White-Matter   245 245 245 0\n", 2, "Left-Cerebral-White-Matter" }, /* FreeSurfer */
        { "#No. Label Name:\n0 Unknown 0 0 0 0\n1035  ctx-lh-insula  255 192 32 0\n", 1035, "ctx-lh-insula" },
        { "    4   255  255    0        1  1  1    \"brain stem, upper\"\n", 4, "brain stem, upper" }, /* ITK-SNAP */
        { "7 0.2 0.5 0.75 Right thalamus\n", 7, "Right thalamus" },                                    /* FSL */
        { "-5 hole\n", -5, "hole" },
        { "18446744073709551615 last\n", -1, "last" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tsr_label_names *list;
        int64_t value = 99;
        require_ok(tsr_label_names_parse(cases[i].text, "names.txt", &list));
        const char *name = tsr_label_name(list, cases[i].value);
        if (!name || strcmp(name, cases[i].name) != 0) fail_msg("case %zu: '%s'", i, name ? name : "none");
        assert_true(tsr_label_find(list, cases[i].name, &value) && value == cases[i].value);
        assert_null(tsr_label_name(list, 77));
        tsr_label_names_destroy(&list);
    }
    tsr_label_names *list;
    require_error(tsr_label_names_parse("1 a\nkidney 2\n", "n.txt", &list), TSR_ERROR_FORMAT, "n.txt: line 2: 'kidney'");
    require_error(tsr_label_names_parse("1 a\n2\n", "n.txt", &list), TSR_ERROR_FORMAT, "line 2: label 2 has no name");
    require_error(tsr_label_names_parse("# nothing\n", "n.txt", &list), TSR_ERROR_FORMAT, "no labels");
    assert_null(list);
    tsr_volume *v = volume_of(TSR_U8, (tsr_size3){ 2, 2, 2 });
    require_ok(tsr_volume_set_meta(v, "Segment0_Name", "liver"));
    require_ok(tsr_volume_set_meta(v, "Segment0_LabelValue", "5"));
    require_ok(tsr_volume_set_meta(v, "Segment1_Name", "spleen"));
    require_ok(tsr_volume_set_meta(v, "Segment1_LabelValue", "2"));
    require_ok(tsr_label_names_of_volume(v, &list));
    assert_int_equal(tsr_label_names_count(list), 2);
    assert_string_equal(tsr_label_name(list, 5), "liver");
    assert_string_equal(tsr_label_name(list, 2), "spleen");
    tsr_label_names_destroy(&list);
    tsr_volume_destroy(&v);
}

/* Two boxes whose labels are exchanged: as masks they are the same, label by label nothing agrees. */
static void compare(void **state)
{
    (void)state;
    tsr_context *context = test_context_on("cpu", 2);
    const tsr_size3 n = { 30, 12, 10 };
    tsr_volume *a = volume_of(TSR_I16, n), *b = volume_of(TSR_U8, n);
    tsr_label_comparison *labels;
    tsr_mask_comparison mask = TSR_MASK_COMPARISON;
    int32_t count;
    for (int64_t z = 2; z < 8; z++)
        for (int64_t y = 2; y < 10; y++)
            for (int64_t x = 2; x < 28; x++) {
                const int64_t i = (z * n.y + y) * n.x + x;
                if (x < 10) store(a, i, 1), store(b, i, 2);
                if (x >= 20) store(a, i, 2), store(b, i, 1);
                if (x >= 12 && x < 16) store(a, i, 3);
                if (x >= 13 && x < 17) store(b, i, 3);
            }
    store(a, 0, 9);
    require_ok(tsr_compare_masks(context, a, b, NULL, &mask));
    assert_true(mask.dice > 0.9);
    require_ok(tsr_compare_labels(context, a, b, NULL, &labels, &count));
    assert_int_equal(count, 4);
    for (int k = 0; k < 2; k++) {
        const tsr_mask_comparison *m = &labels[k].mask;
        assert_true(labels[k].value == k + 1 && m->dice == 0 && m->inside == 8 * 8 * 6 && m->inside_reference == m->inside && m->volume == 384);
        assert_true(m->distances.maximum == 9); /* 18 voxels of 0.5 */
    }
    assert_true(labels[2].mask.dice == 0.75 && labels[2].mask.inside_both == 3 * 8 * 6 && labels[2].mask.distances.maximum == 0.5);
    assert_true(labels[3].value == 9 && labels[3].mask.inside == 1 && labels[3].mask.inside_reference == 0 &&
                isinf(labels[3].mask.distances.maximum));
    /* a label by itself is what tsr_compare_masks says of its mask */
    for (int64_t i = 0; i < tsr_volume_count(a); i++) {
        store(a, i, ((const int16_t *)tsr_volume_data(a))[i] == 3);
        store(b, i, ((const uint8_t *)tsr_volume_data(b))[i] == 3);
    }
    require_ok(tsr_compare_masks(context, a, b, NULL, &mask));
    assert_memory_equal(&mask, &labels[2].mask, sizeof mask);
    tsr_label_comparisons_destroy(&labels);
    tsr_volume_destroy(&a);
    tsr_volume_destroy(&b);
    tsr_context_destroy(&context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),     cmocka_unit_test(what_is_no_label_map),
        cmocka_unit_test(beyond_doubles), cmocka_unit_test(few_values),
        cmocka_unit_test(names),          cmocka_unit_test(compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
