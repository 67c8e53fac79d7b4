/* What benches promise to scripts: exit codes, and tables of publications that name what is there. */
#include <unistd.h>

#include "support.h"

#define BENCH_MODULES "lib"
#include "../../bench/bench.h"

/* 3 where data is missing that was asked for, 2 where nothing is of that name, 1 where something failed; whatever else failed, missing data is said. */
static void exit_codes(void **state)
{
    (void)state;
    for (int failed = 0; failed < 2; failed++) {
        bench lacks = { .subject = "test", .experiment = "paging", .only = "paging", .lacking = 1 };
        assert_int_equal(bench_end_with(&lacks, failed), 3);
        bench partly = { .subject = "test", .experiment = "paging", .only = "paging", .lacking = 1, .cases = 2 };
        assert_int_equal(bench_end_with(&partly, failed), failed);
        bench unknown = { .subject = "test", .experiment = "nix", .only = "nix" };
        assert_int_equal(bench_end_with(&unknown, failed), 2);
        bench done = { .subject = "test", .cases = 3, .missed = 1 }; /* a bar that is missed is no failure */
        assert_int_equal(bench_end_with(&done, 5 * failed), failed);
    }
}

/* Which groups of cases a bench runs: all, those with one of several texts in them, those of an experiment that has no texts. */
static void what_is_wanted(void **state)
{
    (void)state;
    const bench all = { .subject = "test" }, some = { .only = "one|two" }, named = { .only = "sheet", .experiment = "sheet" };
    assert_true(bench_wants(&all, "anything"));
    assert_true(bench_wants(&some, "twofold") && bench_wants(&some, "a one") && !bench_wants(&some, "three"));
    assert_true(bench_wants(&named, "sheet") && bench_wants(&named, "sheet 128") && !bench_wants(&named, "sheets") &&
                !bench_wants(&named, "a sheet"));
    bench tumour = { .subject = "levelset", .experiment = "segmentation" }, other = { .subject = "mip", .experiment = "segmentation" };
    assert_true(bench_experiment(&tumour) && !tumour.experiment && bench_wants(&tumour, "tumour") && bench_wants(&tumour, "cortex"));
    assert_false(bench_experiment(&other)); /* another program's */
}

/* Names once each; a program that is there; rows of experiments that are there, in units that are known, with a ratio that says how many times faster ours is. */
static void published_tables(void **state)
{
    (void)state;
    static const char *const units[] = { "s", "ms", "frames/s", "M/s" };
    for (int i = 0; i < PUBLISHED_EXPERIMENTS; i++) {
        const published_experiment *e = &published_experiments[i];
        char path[1200];
        assert_ptr_equal(published_find(e->name), e);
        assert_true(*e->table && *e->differs);
        snprintf(path, sizeof path, "%s/bench/bench_%s.c", TESSERA_SOURCE_FOLDER, e->program);
        if (access(path, R_OK)) fail_msg("%s: no program %s", e->name, path);
    }
    for (int i = 0; i < PUBLISHED_ROWS; i++) {
        const published_row *row = &published_rows[i];
        int known = 0;
        for (int k = 0; k < 4; k++) known += !strcmp(units[k], row->unit);
        if (!published_find(row->experiment) || known != 1 || !(row->value > 0))
            fail_msg("row %d, %s: %g %s", i, row->experiment, row->value, row->unit);
        for (int k = 0; k < i; k++) /* a number of a program's table once */
            if (!strcmp(published_find(row->experiment)->program, published_find(published_rows[k].experiment)->program) &&
                !strcmp(row->what, published_rows[k].what) && !strcmp(row->method, published_rows[k].method))
                fail_msg("rows %d and %d are the same: %s, %s", k, i, row->what, row->method);
    }
    const published_row seconds = { "", "", "", 6, "s" }, rate = { "", "", "", 25, "frames/s" }, many = { "", "", "", 50, "M/s" };
    assert_true(published_ratio(&seconds, published_ours(&seconds, 2, 1)) == 3);
    assert_true(published_ratio(&rate, published_ours(&rate, 0.02, 1)) == 2);
    assert_true(fabs(published_ratio(&many, published_ours(&many, 0.5, 1e8)) - 4) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(exit_codes), cmocka_unit_test(what_is_wanted), cmocka_unit_test(published_tables) };
    return cmocka_run_group_tests_name("benches", tests, NULL, NULL);
}
