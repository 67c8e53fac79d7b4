/* The checksums of pages are put right, so that what lies behind them is read. */
#include "io/crc32c.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 128, HELD = PAGE - 4 };

static uint8_t *with_checksums(const uint8_t *bytes, size_t size)
{
    uint8_t *own = (uint8_t *)malloc(size + 1);
    if (!own) abort();
    memcpy(own, bytes, size);
    size_t page = PAGE;
    if (size >= 48 && !own[43] && (own[40] | own[41] | own[42])) page = (size_t)own[40] | (size_t)own[41] << 8 | (size_t)own[42] << 16;
    for (size_t at = 0; page >= 64 && at + page <= size; at += page) {
        const uint32_t sum = tsr_crc32c(own + at, page - 4);
        for (int k = 0; k < 4; k++) own[at + page - 4 + (size_t)k] = (uint8_t)(sum >> (24 - 8 * k));
    }
    return own;
}
#define FUZZ_REPAIR(bytes, size) with_checksums(bytes, size)
#define FUZZ_FORMAT "e57"
#include "fuzz/fuzz_format.h"

static size_t place(size_t at) { return at / HELD * PAGE + at % HELD; }
static void put(uint8_t *p, uint64_t v, int bytes)
{
    for (int k = 0; k < bytes; k++) p[k] = (uint8_t)(v >> 8 * k);
}

static void seed(const char *fields, const uint8_t *streams, int count, int each, const char *pose)
{
    static uint8_t plain[4096], file[8192];
    char xml[1500];
    memset(plain, 0, sizeof plain);
    memset(file, 0, sizeof file);
    const size_t section = 48, packet = section + 32;
    const size_t length = (6 + 2 * (size_t)count + (size_t)(count * each) + 3) / 4 * 4, tree = packet + length;
    plain[section] = 1;
    put(plain + section + 8, 32 + length, 8);
    put(plain + section + 16, place(packet), 8);
    plain[packet] = 1;
    put(plain + packet + 2, length - 1, 2);
    put(plain + packet + 4, (uint64_t)count, 2);
    for (int k = 0; k < count; k++) {
        put(plain + packet + 6 + 2 * k, (uint64_t)each, 2);
        memcpy(plain + packet + 6 + 2 * count + k * each, streams, (size_t)each);
    }
    const int n = snprintf(
        xml, sizeof xml,
        "<e57Root type=\"Structure\"><data3D type=\"Vector\"><vectorChild type=\"Structure\">%s<points type=\"CompressedVector\" fileOffset=\"%zu\" "
        "recordCount=\"2\"><prototype type=\"Structure\">%s</prototype></points></vectorChild></data3D></e57Root>",
        pose, place(section), fields);
    memcpy(plain + tree, xml, (size_t)n);
    const size_t pages = (tree + (size_t)n + HELD - 1) / HELD;
    memcpy(plain, "ASTM-E57", 8);
    plain[8] = 1;
    put(plain + 16, pages * PAGE, 8);
    put(plain + 24, place(tree), 8);
    put(plain + 32, (uint64_t)n, 8);
    put(plain + 40, PAGE, 8);
    for (size_t k = 0; k < pages; k++) memcpy(file + k * PAGE, plain + k * HELD, HELD);
    uint8_t *whole = with_checksums(file, pages * PAGE);
    fuzz_seed(whole, pages * PAGE);
    free(whole);
}

void fuzz_seeds(void)
{
    static const uint8_t streams[16] = { 1, 2, 3, 0x40, 5, 6, 7, 0x41 };
    seed("<cartesianX type=\"Float\" precision=\"single\"/><cartesianY type=\"Float\" precision=\"single\"/><cartesianZ type=\"Float\" "
         "precision=\"single\"/>",
         streams, 3, 8,
         "<pose type=\"Structure\"><rotation type=\"Structure\"><w type=\"Float\">0.8</w><x type=\"Float\">0.6</x></rotation><translation "
         "type=\"Structure\"><x "
         "type=\"Float\">5</x></translation></pose>");
    seed("<sphericalRange type=\"ScaledInteger\" minimum=\"-5\" maximum=\"1000\" scale=\"0.01\"/><sphericalAzimuth "
         "type=\"Float\"/><sphericalElevation type=\"Float\"/>"
         "<sphericalInvalidState type=\"Integer\" minimum=\"0\" maximum=\"2\"/><intensity type=\"Integer\" minimum=\"0\" maximum=\"0\"/>",
         streams, 5, 16, "");
}
