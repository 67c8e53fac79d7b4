/* The few cmocka macros our suites use, for machines without cmocka: same names, same meaning, one header. */
#ifndef TSR_TESTS_CMOCKA_LITE_H
#define TSR_TESTS_CMOCKA_LITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state);
    int (*teardown)(void **state);
};
#define cmocka_unit_test(function)      \
    {                                   \
#function, function, NULL, NULL \
    }
#define cmocka_unit_test_setup_teardown(function, setup, teardown) \
    {                                                              \
#function, function, setup, teardown                       \
    }
#define cmocka_run_group_tests_name(group, tests, setup, teardown) lite_run((group), (tests), sizeof(tests) / sizeof *(tests), (setup), (teardown))
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

static jmp_buf lite_back;
enum { LITE_FAILED = 1, LITE_SKIPPED = 2 };

#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define fail_msg(...) lite_fail(__FILE__, __LINE__, __VA_ARGS__)
__attribute__((noreturn, unused, format(printf, 3, 4))) static void lite_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    longjmp(lite_back, LITE_FAILED);
}
#define fail() fail_msg("failed")
#define skip() longjmp(lite_back, LITE_SKIPPED)

#define assert_true(condition)                                  \
    do {                                                        \
        if (!(condition)) fail_msg("not true: %s", #condition); \
    } while (0)
#define assert_false(condition)                          \
    do {                                                 \
        if (condition) fail_msg("true: %s", #condition); \
    } while (0)
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_int_equal(a, b)                                                   \
    do {                                                                         \
        long long a_ = (long long)(a), b_ = (long long)(b);                      \
        if (a_ != b_) fail_msg("%s = %lld, expected %s = %lld", #a, a_, #b, b_); \
    } while (0)
#define assert_int_not_equal(a, b)                            \
    do {                                                      \
        long long a_ = (long long)(a), b_ = (long long)(b);   \
        if (a_ == b_) fail_msg("%s = %s = %lld", #a, #b, a_); \
    } while (0)
#define assert_in_range(value, lower, upper)                                      \
    do {                                                                          \
        const unsigned long long v_ = (unsigned long long)(value), lower_ = (lower), upper_ = (upper); \
        if (v_ < lower_ || v_ > upper_)                                           \
            fail_msg("%s = %llu, outside [%s, %s]", #value, v_, #lower, #upper);  \
    } while (0)
#define assert_float_equal(a, b, tolerance)                                                          \
    do {                                                                                             \
        double a_ = (double)(a), b_ = (double)(b), d_ = a_ < b_ ? b_ - a_ : a_ - b_;                 \
        if (!(d_ <= (double)(tolerance))) fail_msg("%s = %.9g, expected %s = %.9g", #a, a_, #b, b_); \
    } while (0)
#define assert_string_equal(a, b)                                             \
    do {                                                                      \
        const char *a_ = (a), *b_ = (b);                                      \
        if (strcmp(a_, b_)) fail_msg("%s = '%s', expected '%s'", #a, a_, b_); \
    } while (0)
#define assert_memory_equal(a, b, bytes)                                                                  \
    do {                                                                                                  \
        const unsigned char *a_ = (const unsigned char *)(a), *b_ = (const unsigned char *)(b);           \
        size_t n_ = (size_t)(bytes), i_ = 0;                                                              \
        while (i_ < n_ && a_[i_] == b_[i_]) i_++;                                                         \
        if (i_ < n_) fail_msg("%s and %s differ at byte %zu: %02x and %02x", #a, #b, i_, a_[i_], b_[i_]); \
    } while (0)

#define assert_memory_not_equal(a, b, bytes)                                             \
    do {                                                                                 \
        if (!memcmp((a), (b), (size_t)(bytes))) fail_msg("%s and %s are equal", #a, #b); \
    } while (0)

static inline int lite_run(const char *group, const struct CMUnitTest *tests, size_t count, int (*setup)(void **state), int (*teardown)(void **state))
{
    void *shared = NULL;
    volatile int failed = 0;
    volatile size_t i = 0;
    if (setup && setup(&shared)) {
        fprintf(stderr, "%s: the group's setup failed\n", group);
        return 1;
    }
    for (; i < count; i = i + 1) {
        void *state = shared;
        int code = 0;
        printf("[ RUN      ] %s\n", tests[i].name);
        fflush(stdout);
        if (tests[i].setup && tests[i].setup(&state)) {
            code = LITE_FAILED;
        } else {
            code = setjmp(lite_back);
            if (!code) tests[i].run(&state);
            if (tests[i].teardown && tests[i].teardown(&state)) code = LITE_FAILED;
        }
        printf("%s %s\n", code == LITE_FAILED ? "[  FAILED  ]" : code == LITE_SKIPPED ? "[  SKIPPED ]" : "[       OK ]", tests[i].name);
        if (code == LITE_FAILED) failed = failed + 1;
    }
    if (teardown && teardown(&shared)) failed = failed + 1;
    printf("%s: %d of %zu failed\n", group, failed, count);
    return failed;
}

#endif
