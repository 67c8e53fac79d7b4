/* DICOM by hand: every layout that is unpacked here, series of files, what is refused; other libraries are at the other end in dicom_series.py. */
#include "dicom_bytes.h"
#include "scratch.h"

#include "formats/dicom/dicom.h"
#include "io/signatures.h"
#include "tessera/planes.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, const dicom_bytes *d)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(d->at, 1, d->size, file), d->size);
    fclose(file);
}

/* A slice of 2 x 3 numbers of 16 bits, base and up. */
static void slice(dicom_bytes *d, const char *syntax, const char *series, const char *position, unsigned base)
{
    dicom_begin(d, syntax);
    dicom_picture(d, series, position, 2, 3, 16, 1);
    dicom_head(d, 0x7FE00010, "OW", 12);
    for (unsigned k = 0; k < 6; k++) dicom_put(d, base + k, 2);
}

static void syntaxes(void **state)
{
    static const char *const syntaxes[] = { "1.2.840.10008.1.2.1", "1.2.840.10008.1.2", "1.2.840.10008.1.2.2" };
    (void)state;
    for (int k = 0; k < 3; k++) {
        dicom_bytes d;
        tsr_volume *volume = NULL;
        slice(&d, syntaxes[k], "1.2.3", "10\\20\\-5", 1000);
        write_file(scratch("a.dcm"), &d);
        require_ok(tsr_volume_read(scratch("a.dcm"), NULL, &volume));
        const tsr_geometry *g = tsr_volume_geometry(volume);
        assert_int_equal(tsr_volume_dtype(volume), TSR_U16);
        assert_int_equal(tsr_volume_size(volume).x, 3);
        assert_int_equal(tsr_volume_size(volume).y, 2);
        for (int i = 0; i < 6; i++) assert_int_equal(((const uint16_t *)tsr_volume_data(volume))[i], 1000 + i);
        assert_int_equal(g->space, TSR_SPACE_LPS);
        assert_true(g->affine[0][0] == 0.75 && g->affine[1][1] == 0.5 && g->affine[2][2] == 2.5);
        assert_true(g->affine[0][3] == 10 && g->affine[1][3] == 20 && g->affine[2][3] == -5);
        assert_string_equal(tsr_volume_meta(volume, "nifti.descrip"), "DICOM series 1.2.3");
        tsr_volume_destroy(&volume);
    }
}

static void folders(void **state)
{
    static const char *const positions[] = { "0\\0\\6", "0\\0\\0", "0\\0\\4", "0\\0\\2" };
    (void)state;
    dicom_bytes d;
    char folder[600], path[700];
    tsr_volume *volume = NULL;
    snprintf(folder, sizeof folder, "%s", scratch("series"));
    mkdir(folder, 0700);
    for (int k = 0; k < 4; k++) {
        slice(&d, k & 1 ? "1.2.840.10008.1.2.1" : "1.2.840.10008.1.2", "1.2.3", positions[k], 100u * (unsigned)k);
        snprintf(path, sizeof path, "%s/%d", folder, k);
        write_file(path, &d);
    }
    require_ok(tsr_volume_read(folder, NULL, &volume));
    const uint16_t *v = (const uint16_t *)tsr_volume_data(volume);
    assert_int_equal(tsr_volume_size(volume).z, 4);
    assert_int_equal(v[0], 100);  /* at 0 */
    assert_int_equal(v[6], 300);  /* at 2 */
    assert_int_equal(v[12], 200); /* at 4 */
    assert_int_equal(v[18], 0);   /* at 6 */
    assert_true(tsr_volume_geometry(volume)->affine[2][2] == 2);
    for (int64_t from = 0; from < 4; from++) /* a few slices at a time */
        for (int64_t to = from + 1; to <= 4; to++) {
            tsr_planes *planes;
            uint16_t some[24];
            tsr_read_options little = TSR_READ_OPTIONS;
            little.memory_limit = 40; /* less than the voxels */
            require_ok(tsr_planes_open(folder, &little, &planes));
            require_ok(tsr_planes_read(planes, from, to, some));
            assert_memory_equal(some, v + 6 * from, (size_t)(to - from) * 12);
            tsr_planes_close(&planes);
        }
    tsr_volume_destroy(&volume);
    snprintf(path, sizeof path, "%s/3", folder);
    unlink(path);
    require_error(tsr_volume_read(folder, NULL, &volume), TSR_ERROR_UNSUPPORTED, "slices 0 and 1 lie 4 mm apart, 2 is usual (are some missing?)");
    slice(&d, "1.2.840.10008.1.2.1", "1.2.4", "0\\0\\2", 0);
    write_file(path, &d);
    snprintf(path, sizeof path, "%s/4", folder);
    slice(&d, "1.2.840.10008.1.2.1", "1.2.4", "0\\0\\3", 0);
    write_file(path, &d);
    require_error(tsr_volume_read(folder, NULL, &volume), TSR_ERROR_UNSUPPORTED, "holds 2 DICOM series");
    tsr_read_options options = TSR_READ_OPTIONS;
    options.series_given = 1;
    options.series = 1;
    require_ok(tsr_volume_read(folder, &options, &volume));
    assert_int_equal(tsr_volume_size(volume).z, 2);
    tsr_volume_destroy(&volume);
    tsr_contents *contents = NULL;
    tsr_contents_entry entry;
    require_ok(tsr_file_contents(folder, NULL, &contents));
    assert_true(tsr_contents_at(contents, 1, &entry));
    assert_string_equal(entry.kind, "series");
    assert_int_equal(entry.size[0], 2);
    tsr_contents_destroy(&contents);
    for (int k = 0; k < 5; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k);
        unlink(path);
    }
    rmdir(folder);
}

/* A bare data set that begins with another element than most: nothing else may look like it. */
static void bare_data_sets(void **state)
{
    static const uint8_t element[] = { 5, 8, 0x16, 0x18 };
    static const int zeros[] = { 1, 3, 5, 6, 7, 19, 21 };
    (void)state;
    for (int k = 0; k < 4; k++) {
        uint8_t head[64] = { 8, 0, element[k], 0, 10 };
        head[18] = 8;
        head[20] = (uint8_t)(element[k] + 1);
        assert_true(tsr_signature_is_dicom(head, sizeof head));
        for (int z = 0; z < 7; z++) {
            head[zeros[z]] = 1;
            assert_false(tsr_signature_is_dicom(head, sizeof head));
            head[zeros[z]] = 0;
        }
        head[20] = element[k]; /* elements come in order */
        assert_false(tsr_signature_is_dicom(head, sizeof head));
    }
}

static void refused(void **state)
{
    (void)state;
    dicom_bytes d, whole;
    tsr_volume *volume = NULL;
    slice(&whole, "1.2.840.10008.1.2.1", "1.2.3", "0\\0\\0", 0);
    for (size_t size = 132; size < whole.size; size++) { /* cut anywhere: never a volume */
        d = whole;
        d.size = size;
        write_file(scratch("cut.dcm"), &d);
        assert_int_not_equal(tsr_volume_read(scratch("cut.dcm"), NULL, &volume), TSR_OK);
        assert_null(volume);
    }
    d = whole;
    for (size_t k = 0; k + 10 < d.size; k++)
        if (!memcmp(d.at + k, "\x28\0\x11\0US", 6)) d.at[k + 8] = 4; /* a column more than there are pixels */
    write_file(scratch("lie.dcm"), &d);
    require_error(tsr_volume_read(scratch("lie.dcm"), NULL, &volume), TSR_ERROR_FORMAT, "truncated: DICOM pixels of 12 bytes, 1 x 2 x 4 of 16 bits");
    dicom_begin(&d, "1.2.840.10008.1.2.4.80");
    dicom_picture(&d, "1.2.3", NULL, 2, 3, 8, 1);
    dicom_head(&d, 0x7FE00010, "OB", UINT32_MAX);
    dicom_raw(&d, 0xFFFEE000, "", "", 0);
    dicom_raw(&d, 0xFFFEE000, "", "\xff\xd8\xff\xf7", 4);
    dicom_head(&d, 0xFFFEE0DD, "", 0);
    write_file(scratch("jls.dcm"), &d);
    setenv("TESSERA_DICOM", "/nowhere/tessera-dicom", 1);
    require_error(tsr_volume_read(scratch("jls.dcm"), NULL, &volume), TSR_ERROR_UNSUPPORTED, "built where GDCM (libgdcm-dev) is found");
    setenv("TESSERA_DICOM", "/bin/false", 1); /* ends at once */
    require_error(tsr_volume_read(scratch("jls.dcm"), NULL, &volume), TSR_ERROR_FORMAT,
                  "jls.dcm: DICOM: the packed pixels: false failed (exit code 1)");
    unsetenv("TESSERA_DICOM");
    dicom_begin(&d, "1.2.840.10008.1.2.1");
    dicom_text(&d, 0x00080060, "CS", "SR");
    write_file(scratch("report.dcm"), &d);
    require_error(tsr_volume_read(scratch("report.dcm"), NULL, &volume), TSR_ERROR_UNSUPPORTED, "without pixels");
}

/* The examples of PS3.5, annexes H to K, and of the sets of ISO 8859. */
static void characters(void **state)
{
    static const struct {
        const char *sets, *bytes, *text;
    } cases[] = {
        { "", "plain \\ text", "plain \\ text" },
        { "", "\xe9t\xe9", "\u00e9t\u00e9" },
        { "", "\xc3\xa9t\xc3\xa9", "\u00e9t\u00e9" },
        { "ISO_IR 192", "\xe5\xb1\xb1\x07", "\u5c71 " },
        { "ISO_IR 100", "\xc4neas", "\u00c4neas" },
        { "ISO_IR 100", "\xc3\xa9", "\u00c3\u00a9" }, /* what is said counts */
        { "ISO_IR 101", "Wa\xb3\xeasa", "Wa\u0142\u0119sa" },
        { "ISO_IR 144", "\xbb\xee\xda" "ce\xdc\xd1yp\xd3", "\u041b\u044e\u043a" "ce\u043c\u0431yp\u0433" },
        { "ISO_IR 126", "\xc4\xe9\xef\xed\xf5\xf3\xe9\xef\xf2", "\u0394\u03b9\u03bf\u03bd\u03c5\u03c3\u03b9\u03bf\u03c2" },
        { "ISO_IR 127", "\xe2\xc8\xc7\xe6\xea", "\u0642\u0628\u0627\u0646\u064a" },
        { "ISO_IR 138", "\xf9\xf8\xe5\xef", "\u05e9\u05e8\u05d5\u05df" },
        { "ISO_IR 166", "\xb9\xd2\xc1", "\u0e19\u0e32\u0e21" },
        { "ISO_IR 13", "\xd4\xcf\xc0\xde^\xc0\xdb\xb3", "\uff94\uff8f\uff80\uff9e^\uff80\uff9b\uff73" },
        { "\\ISO 2022 IR 87", "Yamada^Tarou=\033$B;3ED\033(B^\033$BB@O:\033(B=\033$B$d$^$@\033(B^\033$B$?$m$&\033(B",
          "Yamada^Tarou=\u5c71\u7530^\u592a\u90ce=\u3084\u307e\u3060^\u305f\u308d\u3046" },
        { "ISO 2022 IR 13\\ISO 2022 IR 87", "\xd4\xcf\xc0\xde^\xc0\xdb\xb3=\033$B;3ED\033(J^\033$BB@O:\033(J",
          "\uff94\uff8f\uff80\uff9e^\uff80\uff9b\uff73=\u5c71\u7530^\u592a\u90ce" },
        { "\\ISO 2022 IR 149", "Hong^Gildong=\033$)C\xfb\xf3^\033$)C\xd1\xce\xd4\xd7=\033$)C\xc8\xab^\033$)C\xb1\xe6\xb5\xbf",
          "Hong^Gildong=\u6d2a^\u5409\u6d1e=\ud64d^\uae38\ub3d9" },
        { "\\ISO 2022 IR 149", "\xc8\xab", "\ud64d" }, /* without the escape that should stand before it */
        { "\\ISO 2022 IR 58", "Zhang^XiaoDong=\033$)A\xd5\xc5^\033$)A\xd0\xa1\xb6\xab", "Zhang^XiaoDong=\u5f20^\u5c0f\u4e1c" },
        { "GB18030", "Wang^XiaoDong=\xcd\xf5^\xd0\xa1\xb6\xab=", "Wang^XiaoDong=\u738b^\u5c0f\u4e1c=" },
        { "ISO 2022 IR 100\\ISO 2022 IR 144", "\xc4\033-L\xbb\xee\r\n", "\u00c4\u041b\u044e  " },
        { "GB18030", "a\xff" "b", "a?b" }, /* no character */
        { "ISO_IR 999", "\xe9", "\u00e9" },
    };
    char text[200];
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const size_t n = strlen(cases[k].bytes);
        tsr_dicom_characters("a.dcm", cases[k].sets, strlen(cases[k].sets), cases[k].bytes, n, text, sizeof text);
        if (strcmp(text, cases[k].text)) fail_msg("case %zu: '%s', expected '%s'", k, text, cases[k].text);
        for (size_t room = 1; room <= strlen(text); room++) { /* cut at whole characters */
            char part[200];
            memset(part, 'x', sizeof part);
            tsr_dicom_characters("a.dcm", cases[k].sets, strlen(cases[k].sets), cases[k].bytes, n, part, room);
            const size_t kept = strlen(part);
            assert_true(kept < room && kept + 4 > room - 1 && !memcmp(part, text, kept) && (text[kept] & 0xc0) != 0x80 && part[room] == 'x');
        }
    }
}

/* The set of a file is that of its texts. */
static void character_set_of_file(void **state)
{
    dicom_bytes d;
    tsr_volume *volume = NULL;
    (void)state;
    dicom_begin(&d, "1.2.840.10008.1.2.1");
    dicom_text(&d, 0x00080005, "CS", "\\ISO 2022 IR 149");
    dicom_text(&d, 0x0008103E, "LO", "T1 \033$)C\xb8\xd3\xb8\xae");
    dicom_picture(&d, "1.2.3", "0\\0\\0", 2, 3, 16, 1);
    dicom_head(&d, 0x7FE00010, "OW", 12);
    for (unsigned k = 0; k < 6; k++) dicom_put(&d, k, 2);
    write_file(scratch("korean.dcm"), &d);
    require_ok(tsr_volume_read(scratch("korean.dcm"), NULL, &volume));
    assert_string_equal(tsr_volume_meta(volume, "dicom.SeriesDescription"), "T1 \uba38\ub9ac");
    tsr_volume_destroy(&volume);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(syntaxes), cmocka_unit_test(folders),    cmocka_unit_test(bare_data_sets),
                                        cmocka_unit_test(refused),  cmocka_unit_test(characters), cmocka_unit_test(character_set_of_file) };
    return cmocka_run_group_tests_name("dicom", tests, scratch_make, scratch_remove);
}
