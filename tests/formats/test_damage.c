/* Damage, and what is made of it: packed data whose bits changed, files that are replaced, headers that name other folders, a host program's locale, and
 * systems that make no more threads. */
#include "scratch.h"

#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/number.h"
#include "core/parallel.h"
#include "formats/pieces.h"
#include "io/stream.h"
#include "tessera/io.h"
#include "tessera/segment.h"

static const tsr_write_options overwrite = { .struct_size = sizeof overwrite, .overwrite = 1 };

static tsr_volume *make(tsr_size3 size)
{
    tsr_volume *volume;
    uint64_t random = 11;
    require_ok(tsr_volume_create(NULL, TSR_U8, size, NULL, &volume));
    for (int64_t i = 0; i < tsr_volume_count(volume); i++) ((uint8_t *)tsr_volume_data(volume))[i] = (uint8_t)(test_random(&random) % 9);
    return volume;
}

static int same(const tsr_volume *a, const tsr_volume *b)
{
    return tsr_volume_count(a) == tsr_volume_count(b) && !memcmp(tsr_volume_data_const(a), tsr_volume_data_const(b), (size_t)tsr_volume_count(a));
}

static tsr_status read_in_pieces(const char *path, uint8_t *voxels, int64_t count)
{
    const tsr_read_options options = { .struct_size = sizeof options, .memory_limit = 4096 };
    tsr_pieces *pieces;
    TSR_TRY(tsr_pieces_open(path, &options, path, &pieces));
    const tsr_status status = pieces->feed.read(pieces->feed.user, 0, count, voxels);
    tsr_pieces_close(&pieces);
    return status;
}

/* Where the packed bytes begin: behind the header of a NRRD or MetaImage file. */
static size_t packed_at(const char *name, const char *bytes)
{
    const char *end = strstr(name, "nrrd") ? "\n\n" : strstr(name, "mha") ? "LOCAL\n" : NULL;
    return end ? (size_t)(strstr(bytes, end) + strlen(end) - bytes) : 10; /* gzip: 10 bytes that say nothing of the content */
}

/* One bit of every byte: refused, or it meant nothing. Both ways of reading. */
static void flipped_bits(void **state)
{
    static const char *const names[] = { "a.nii.gz", "a.nrrd", "a.mha" };
    tsr_volume *volume = make((tsr_size3){ 16, 13, 9 }), *back = NULL;
    const int64_t count = tsr_volume_count(volume);
    uint8_t *voxels = (uint8_t *)malloc((size_t)count);
    (void)state;
    for (int i = 0; i < 3; i++) {
        size_t size;
        int refused = 0;
        tsr_write_options options = overwrite;
        options.compression = 6;
        require_ok(tsr_volume_write(volume, scratch(names[i]), &options));
        char *bytes = (char *)scratch_read(names[i], &size);
        const size_t from = packed_at(names[i], bytes);
        require_ok(read_in_pieces(scratch(names[i]), voxels, count));
        assert_memory_equal(voxels, tsr_volume_data(volume), (size_t)count);
        for (size_t at = from; at < size; at += 3) {
            bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
            scratch_write(names[i], bytes, size);
            if (tsr_volume_read(scratch(names[i]), NULL, &back) == TSR_OK) assert_true(same(back, volume));
            else refused++;
            tsr_volume_destroy(&back);
            if (at % 5 == 0 && read_in_pieces(scratch(names[i]), voxels, count) == TSR_OK)
                assert_memory_equal(voxels, tsr_volume_data(volume), (size_t)count);
            bytes[at] = (char)(bytes[at] ^ 1 << at % 8);
        }
        assert_true(refused > (int)(size - from) * 3 / 10);
        free(bytes);
    }
    free(voxels);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

/* More content than the header asks for is not the end of the stream: its checksum still counts, and so does that of a further member. */
static void long_content(void **state)
{
    size_t size, other;
    char text[1001];
    (void)state;
    tsr_volume *volume = make((tsr_size3){ 30, 20, 10 }), *back = NULL;
    require_ok(tsr_volume_write(volume, scratch("a.nii.gz"), &overwrite));
    require_ok(tsr_volume_write(volume, scratch("more.nrrd.gz"), &overwrite));
    char *bytes = (char *)scratch_read("a.nii.gz", &size), *more = (char *)scratch_read("more.nrrd.gz", &other);
    char *both = (char *)malloc(size + other + 600);
    memcpy(both, bytes, size);
    memcpy(both + size, more, other);
    scratch_write("both.nii.gz", both, size + other);
    require_ok(tsr_volume_read(scratch("both.nii.gz"), NULL, &back));
    assert_true(same(back, volume));
    tsr_volume_destroy(&back);
    both[size + other - 6] ^= 4; /* the checksum of the second member */
    scratch_write("both.nii.gz", both, size + other);
    require_error(tsr_volume_read(scratch("both.nii.gz"), NULL, &back), TSR_ERROR_FORMAT, "damaged");
    tsr_remarks_take(text, sizeof text);
    memset(both + size, 0, 600); /* blocks of tapes are filled with zeros */
    scratch_write("both.nii.gz", both, size + 600);
    require_ok(tsr_volume_read(scratch("both.nii.gz"), NULL, &back));
    tsr_volume_destroy(&back);
    tsr_remarks_take(text, sizeof text);
    assert_string_equal(text, "");
    memcpy(both + size, "junk", 4);
    scratch_write("both.nii.gz", both, size + 4);
    for (int k = 0; k < 2; k++) { /* said once, however often it is read */
        require_ok(tsr_volume_read(scratch("both.nii.gz"), NULL, &back));
        tsr_volume_destroy(&back);
    }
    tsr_remarks_take(text, sizeof text);
    assert_non_null(strstr(text, "both.nii.gz: 4 bytes behind the end of the compressed data were left out"));
    assert_null(strchr(text, '\n'));
    tsr_remarks_take(text, sizeof text);
    assert_string_equal(text, "");
    free(both);
    free(bytes);
    free(more);
    tsr_volume_destroy(&volume);
    scratch_files(1);
}

static int mode_of(const char *name)
{
    struct stat about;
    return stat(scratch(name), &about) ? -1 : (int)(about.st_mode & 07777);
}

/* A file that is replaced leaves mode and owner; links stay links, whether there is something behind them or not; a new file has the mode of any. */
static void modes_and_links(void **state)
{
    struct stat about;
    (void)state;
    tsr_volume *volume = make((tsr_size3){ 5, 4, 3 }), *back = NULL;
    const mode_t mask = umask(027);
    require_ok(tsr_volume_write(volume, scratch("new.nrrd"), NULL));
    assert_int_equal(mode_of("new.nrrd"), 0640);
    require_ok(tsr_volume_write(volume, scratch("pair.mhd"), NULL));
    assert_int_equal(mode_of("pair.raw"), 0640);
    umask(mask);
    assert_int_equal(chmod(scratch("new.nrrd"), 0600), 0);
    assert_int_equal(chmod(scratch("pair.raw"), 0604), 0);
    const int owned = !geteuid() && !chown(scratch("new.nrrd"), 1234, 4321);
    require_ok(tsr_volume_write(volume, scratch("new.nrrd"), &overwrite));
    require_ok(tsr_volume_write(volume, scratch("pair.mhd"), &overwrite));
    assert_int_equal(mode_of("new.nrrd"), 0600);
    assert_int_equal(mode_of("pair.raw"), 0604);
    assert_int_equal(stat(scratch("new.nrrd"), &about), 0);
    if (owned) assert_true(about.st_uid == 1234 && about.st_gid == 4321);
    assert_int_equal(symlink("behind.nrrd", scratch("link.nrrd")), 0);
    require_error(tsr_volume_read(scratch("link.nrrd"), NULL, &back), TSR_ERROR_IO, "a link that leads nowhere");
    require_ok(tsr_volume_write(volume, scratch("link.nrrd"), NULL));
    assert_true(!lstat(scratch("link.nrrd"), &about) && S_ISLNK(about.st_mode));
    require_ok(tsr_volume_read(scratch("behind.nrrd"), NULL, &back));
    tsr_volume_destroy(&back);
    tsr_volume_destroy(&volume);
    assert_int_equal(scratch_files(1), 5);
}

static void put(const char *name, const char *text, tsr_output **output)
{
    require_ok(tsr_output_open(scratch(name), &overwrite, output));
    require_ok(tsr_output_write(*output, text, strlen(text)));
}
static void expect(const char *name, const char *text)
{
    size_t size;
    char *bytes = (char *)scratch_read(name, &size);
    assert_string_equal(bytes, text);
    free(bytes);
}

/* Of two files that belong together both are replaced, or none. */
static void pairs(void **state)
{
    tsr_output *data, *header;
    (void)state;
    scratch_write("p.raw", "old data", 8);
    put("p.raw", "new data", &data);
    put("p.mhd", "header", &header);
    assert_int_equal(mkdir(scratch("p.mhd"), 0700), 0);
    require_error(tsr_output_commit_pair(&data, &header), TSR_ERROR_IO, "p.mhd: cannot be given its name");
    expect("p.raw", "old data");
    assert_int_equal(scratch_files(0), 2);
    assert_int_equal(rmdir(scratch("p.mhd")), 0);
    put("p.raw", "new data", &data);
    put("p.mhd", "header", &header);
    require_ok(tsr_output_commit_pair(&data, &header));
    expect("p.raw", "new data");
    expect("p.mhd", "header");
    assert_int_equal(scratch_files(1), 2);
    /* nothing has a name before it is complete, also what another writer writes */
    tsr_output *file;
    require_ok(tsr_file_begin(scratch("x.bin"), NULL, &file));
    FILE *out = fopen(tsr_file_place(file), "wb");
    assert_true(out && fputs("content", out) >= 0 && !fclose(out));
    assert_int_not_equal(access(scratch("x.bin"), F_OK), 0);
    require_ok(tsr_file_finish(&file));
    expect("x.bin", "content");
    require_error(tsr_file_begin(scratch("x.bin"), NULL, &file), TSR_ERROR_IO, "exists");
    require_error(tsr_file_begin("-", NULL, &file), TSR_ERROR_UNSUPPORTED, "no plain file");
    assert_int_equal(scratch_files(1), 1);
}

/* Files that must have a name meanwhile: one that nobody guesses, for the owner alone, and gone after a signal. */
static void named(void **state)
{
    tsr_output *output;
    struct stat about;
    (void)state;
    require_ok(tsr_output_open_named(scratch("a.avi"), &overwrite, &output));
    assert_true(!stat(tsr_output_temporary(output), &about) && (about.st_mode & 0777) == 0600);
    assert_non_null(strstr(tsr_output_temporary(output), ".avi"));
    require_ok(tsr_output_commit(&output));
    assert_int_equal(mode_of("a.avi"), 0644);
#if !defined(TSR_SANITIZE_ADDRESS) /* a name that a signal handler took is not freed: the process is about to end */
    require_ok(tsr_output_open_named(scratch("b.avi"), &overwrite, &output));
    tsr_output_unlink_all();
    assert_int_equal(scratch_files(0), 1);
    tsr_output_abort(&output);
#endif
    scratch_files(1);
}

/* A header names what lies beside it or below, unless it is trusted. */
static void other_folders(void **state)
{
    static const char *const names[] = { "../data.raw", "/etc/passwd", "below/../../data.raw", "below/.." };
    const tsr_read_options trusting = { .struct_size = sizeof trusting, .allow_paths = 1 };
    char header[512];
    tsr_volume *back = NULL;
    (void)state;
    assert_int_equal(mkdir(scratch("below"), 0700), 0);
    scratch_write("below/data.raw", "abcdefgh", 8);
    scratch_write("a..raw", "abcdefgh", 8);
    for (int i = 0; i < 4; i++) {
        snprintf(header, sizeof header, "ObjectType = Image\nNDims = 3\nDimSize = 2 2 2\nElementType = MET_UCHAR\nElementDataFile = %s\n", names[i]);
        scratch_write("h.mhd", header, strlen(header));
        require_error(tsr_volume_read(scratch("h.mhd"), NULL, &back), TSR_ERROR_IO, "does not lie beside the header");
        snprintf(header, sizeof header, "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\ndata file: %s\n", names[i]);
        scratch_write("h.nhdr", header, strlen(header));
        require_error(tsr_volume_read(scratch("h.nhdr"), NULL, &back), TSR_ERROR_IO, "does not lie beside the header");
    }
    snprintf(header, sizeof header, "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\ndata file: %s\n", scratch("below/data.raw"));
    scratch_write("h.nhdr", header, strlen(header)); /* from the root, and still below */
    require_ok(tsr_volume_read(scratch("h.nhdr"), NULL, &back));
    tsr_volume_destroy(&back);
    snprintf(header, sizeof header, "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\ndata file: %s\n",
             scratch("below/../below/data.raw"));
    assert_int_equal(mkdir(scratch("other"), 0700), 0);
    scratch_write("other/h.nhdr", header, strlen(header));
    require_error(tsr_volume_read(scratch("other/h.nhdr"), NULL, &back), TSR_ERROR_IO, "does not lie beside the header");
    require_ok(tsr_volume_read(scratch("other/h.nhdr"), &trusting, &back));
    tsr_volume_destroy(&back);
    unlink(scratch("other/h.nhdr"));
    require_ok(tsr_volume_read(scratch("h.nhdr"), &trusting, &back));
    assert_memory_equal(tsr_volume_data(back), "abcdefgh", 8);
    tsr_volume_destroy(&back);
    for (int i = 0; i < 2; i++) {
        snprintf(header, sizeof header, "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 2 2 2\nencoding: raw\ndata file: %s\n",
                 i ? "a..raw" : "below/data.raw");
        scratch_write("h.nhdr", header, strlen(header));
        require_ok(tsr_volume_read(scratch("h.nhdr"), NULL, &back));
        tsr_volume_destroy(&back);
    }
    unlink(scratch("below/data.raw"));
    scratch_files(1);
}

/* A locale with a comma: one that is there, or one that is made of the system's own sources. */
static int german(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "it_IT.UTF-8" };
    char command[512];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]) && *localeconv()->decimal_point == ',') return 1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s' >/dev/null 2>&1", scratch("de_DE.UTF-8"));
    if (system(command)) return 0;
    setenv("LOCPATH", scratch_folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") && *localeconv()->decimal_point == ',';
}

static void locales(void **state)
{
    char text[64], *end;
    (void)state;
    const int there = german();
    if (!there) print_message("no locale with a comma is here, and none can be made: skipped\n");
    snprintf(text, sizeof text, "%g", 0.5);
    if (there) assert_string_equal(text, "0,5"); /* so that this test can fail */
    assert_int_equal(tsr_print(text, sizeof text, "%g %.3f", 0.45, 1e6 + 0.25), 16);
    assert_string_equal(text, "0.45 1000000.250");
    assert_true(tsr_number_parse("0.45 ", &end) == 0.45 && *end == ' ');
    assert_true(tsr_number_parse("0,45", &end) == 0 && *end == ',');
    /* through a file and through a session's log */
    tsr_volume *volume = make((tsr_size3){ 12, 12, 12 }), *back = NULL;
    const tsr_geometry geometry = tsr_geometry_make((tsr_vec3){ 0.25, 0.5, 1.5 }, (tsr_vec3){ -1.125, 2.5, 3 }, TSR_SPACE_LPS);
    require_ok(tsr_volume_set_geometry(volume, &geometry));
    static const char *const names[] = { "a.nrrd", "a.mha", "a.inr", "a.nii" };
    for (int i = 0; i < 4; i++) {
        if (i == 2) continue; /* INRIMAGE keeps no frame */
        require_ok(tsr_volume_write(volume, scratch(names[i]), &overwrite));
        require_ok(tsr_volume_read(scratch(names[i]), NULL, &back));
        assert_true(tsr_geometry_spacing(tsr_volume_geometry(back)).x == 0.25);
        tsr_volume_destroy(&back);
    }
    tsr_volume_destroy(&volume);
    require_error(TSR_FAILED(TSR_ERROR_ARGUMENT, "width is %g", 0.5), TSR_ERROR_ARGUMENT, "width is 0.5");
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s/de_DE.UTF-8'", scratch_folder);
    assert_int_equal(system(command), 0);
    scratch_files(1);
}

/* ---- threads --------------------------------------------------------------------------------------------------------------------------------- */

static void count_up(void *user, int64_t begin, int64_t end, int worker)
{
    (void)worker;
    for (int64_t i = begin; i < end; i++) __atomic_add_fetch((int64_t *)user, i, __ATOMIC_RELAXED);
}

/* In a process with room for few stacks: all the work is done, by fewer threads. */
static void few_threads(void **state)
{
    (void)state;
#if defined(TSR_SANITIZED)
    skip(); /* which takes more room than that by itself */
#endif
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit space = { 600u << 20, 600u << 20 };
        int64_t sum = 0;
        if (setrlimit(RLIMIT_AS, &space)) _exit(3);
        for (int round = 0; round < 5; round++) {
            sum = 0;
            tsr_parallel(round % 2 ? 3 : 512, 1000, 1, count_up, &sum);
            if (sum != 999 * 1000 / 2) _exit(4);
        }
        void *left = malloc(50 << 20); /* not all went into stacks */
        _exit(left ? 0 : 5);
    }
    int how = 0;
    assert_true(child > 0 && waitpid(child, &how, 0) == child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_threads), /* before this process has threads of its own */
        cmocka_unit_test(flipped_bits), cmocka_unit_test(long_content),  cmocka_unit_test(modes_and_links), cmocka_unit_test(pairs),
        cmocka_unit_test(named),        cmocka_unit_test(other_folders), cmocka_unit_test(locales),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
