/* tests/device/growth.h: a struct that the library fills, for callers that were compiled with another version of it. */
#ifndef TSR_TESTS_GROWTH_H
#define TSR_TESTS_GROWTH_H

#include "support.h"

enum { ROOM = 1 << 14, MARK = 0xa5 };
typedef tsr_status (*filler)(void *object, void *given);

/* Sets the bytes between the fields to 0, for they have no value; where the compiler cannot tell which they are, all bytes, so that only sizes are tested. */
typedef void (*unpadder)(void *at);
#ifdef __has_builtin
#if __has_builtin(__builtin_clear_padding)
#define UNPAD(type, at) __builtin_clear_padding((type *)(at))
#endif
#endif
#ifndef UNPAD
#define UNPAD(type, at) memset((at), 0, sizeof(type))
#endif
#define UNPADDER(type) \
    static void unpad_##type(void *at) { UNPAD(type, at); }

/* Fills a struct of `known` bytes as callers of other versions would, shorter ones and longer ones, and compares with what one of today gets; `unpad` NULL:
 * not that, for there are times among the values. */
static inline void check_versions(const char *name, size_t known, filler fill, void *object, unpadder unpad)
{
    static unsigned char today[ROOM], given[ROOM], values[ROOM];
    memset(today, MARK, sizeof today);
    memcpy(today, &known, sizeof known);
    require_ok(fill(object, today));
    if (unpad) unpad(today);
    const size_t sizes[] = { sizeof(size_t), known / 2, known - 4, known, known + 24 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t size = sizes[k], common = size < known ? size : known;
        memset(given, MARK, sizeof given);
        memcpy(given, &size, sizeof size);
        require_ok(fill(object, given));
        size_t kept;
        memcpy(&kept, given, sizeof kept);
        if (kept != size) fail_msg("%s: struct_size %zu became %zu", name, size, kept);
        if (unpad) {
            memcpy(values, given, common);
            unpad(values);
            if (memcmp(values + sizeof size, today + sizeof size, common - sizeof size) != 0) fail_msg("%s of %zu bytes: other values than today", name, size);
        }
        for (size_t i = common; i < size; i++)
            if (given[i]) fail_msg("%s of %zu bytes: byte %zu is not 0", name, size, i);
        for (size_t i = size; i < ROOM; i++)
            if (given[i] != MARK) fail_msg("%s of %zu bytes: byte %zu was written", name, size, i);
    }
    memset(given, 0, sizeof given);
    require_error(fill(object, given), TSR_ERROR_ARGUMENT, "struct_size is 0");
}

#endif
