/* Streams of the public VC-2 conformance generator with the pictures that a decoder must give: vc2-conformance.tar.zst under TESSERA_DATA,
 * unpacked by tar. On emu, and where ThreadSanitizer watches, every seventh stream of a set. */
#include <dirent.h>
#include <unistd.h>

#include "context.h"

static char folder[256];

static unsigned char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static void damaged(void *user, int64_t offset, const char *text)
{
    (void)user;
    print_message("  at byte %lld: %s\n", (long long)offset, text);
}

/* The picture as the generator writes it: samples of one byte, or two, the low one first. 1 if all are equal. */
static int same_picture(const tsr_video_frame *frame, const char *path)
{
    size_t size = 0;
    unsigned char *expected = read_whole(path, &size);
    if (!expected) return 0;
    const int same = size == (size_t)frame->bytes && !memcmp(expected, frame->plane[0], size);
    free(expected);
    return same;
}

static int decode(const char *stream, const char *expected, size_t piece)
{
    size_t size = 0;
    unsigned char *bytes = read_whole(stream, &size);
    tsr_dirac_decode_options options = TSR_DIRAC_DECODE_OPTIONS;
    tsr_dirac_decoder *decoder = NULL;
    tsr_video_frame frame = { 0 };
    tsr_dirac_frame_info info = TSR_DIRAC_FRAME_INFO;
    char path[2048];
    int pictures = 0, same = 1, more = 0;
    options.pictures = options.strict = 1;
    options.damage = damaged;
    require_ok(tsr_dirac_decoder_create(context, &options, &decoder));
    for (size_t at = 0; at <= size && same; at += piece) {
        const size_t left = size - at;
        require_ok(tsr_dirac_decoder_push(decoder, bytes + at, left < piece ? left : piece));
        if (left <= piece) require_ok(tsr_dirac_decoder_end(decoder));
        for (;;) {
            require_ok(tsr_dirac_decoder_next(decoder, &frame, &info, &more));
            if (!more) break;
            snprintf(path, sizeof path, "%s/picture_%d.raw", expected, pictures++);
            same &= same_picture(&frame, path);
        }
        if (left <= piece) break;
    }
    snprintf(path, sizeof path, "%s/picture_%d.raw", expected, pictures);
    same &= pictures > 0 && access(path, F_OK) != 0; /* all of them */
    tsr_video_frame_destroy(&frame);
    tsr_dirac_decoder_destroy(&decoder);
    free(bytes);
    return same;
}

static void decodes_all_streams(void **state)
{
    const char *sets[] = { "hq8", "hq10", "hqlossless10", "ld8", "hq8fields", "hq8frag", "hq8asym", "hq8rgb" };
    const int every = test_is_slow() ? 7 : 1;
    int tried = 0, failed = 0;
    (void)state;
    if (!*folder) {
        print_message("skipped: no vc2-conformance.tar.zst under TESSERA_DATA\n");
        skip();
    }
    for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
        char path[512], expected[1024], stream[1024];
        struct dirent *entry;
        int number = 0;
        snprintf(path, sizeof path, "%s/tc/%s/decoder", folder, sets[k]);
        DIR *all = opendir(path);
        assert_non_null(all);
        while ((entry = readdir(all))) {
            const size_t length = strlen(entry->d_name);
            if (length < 5 || strcmp(entry->d_name + length - 4, ".vc2") != 0 || number++ % every) continue;
            snprintf(stream, sizeof stream, "%s/%s", path, entry->d_name);
            snprintf(expected, sizeof expected, "%s/%.*s_expected", path, (int)length - 4, entry->d_name);
            tried++;
            if (decode(stream, expected, tried % 3 ? 1 << 20 : 1000)) continue;
            failed++;
            print_error("%s/%s: wrong pictures\n", sets[k], entry->d_name);
        }
        closedir(all);
    }
    print_message("%d streams, %d wrong\n", tried, failed);
    assert_true(tried >= 555 / every);
    assert_int_equal(failed, 0);
}

static int unpack(void **state)
{
    const char *data = getenv("TESSERA_DATA");
    char archive[512] = "", command[1200];
    for (const char *from = data; from && *from;) { /* folders, ':' between them */
        const size_t length = strcspn(from, ":");
        snprintf(archive, sizeof archive, "%.*s/vc2-conformance.tar.zst", (int)length, from);
        if (access(archive, R_OK) == 0) break;
        *archive = 0;
        from += length + (from[length] == ':');
    }
    if (*archive) {
        snprintf(folder, sizeof folder, "/tmp/tessera-vc2-XXXXXX");
        assert_non_null(mkdtemp(folder));
        snprintf(command, sizeof command, "tar --zstd -xf '%s' -C '%s' 2>/dev/null", archive, folder);
        if (system(command) != 0) *folder = 0;
    }
    return open_context(state);
}

static int clean(void **state)
{
    char command[600];
    if (*folder) {
        snprintf(command, sizeof command, "rm -r '%s'", folder);
        if (system(command) != 0) print_message("%s stays\n", folder);
    }
    return close_context(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(decodes_all_streams) };
    return cmocka_run_group_tests(tests, unpack, clean);
}
