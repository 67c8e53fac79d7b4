/* Which names and pages the workbench's server answers to. */
#include "origin.h"

#include "support.h"

static void lists(void **state)
{
    static const char *const good[] = { "http://a", "https://a.example:8443", "HTTP://[::1]:1", "http://10.0.0.2:80,https://b.example",
                                        "https://A-1.example" };
    static const char *const bad[] = { "",
                                       ",",
                                       "a.example",
                                       "ftp://a",
                                       "http://",
                                       "https://:80",
                                       "http://a/",
                                       "http://a:",
                                       "http://a:x",
                                       "http://a:123456",
                                       "http://a b",
                                       "http://a,",
                                       "http://[::1",
                                       "http://[nonsense]",
                                       "http://[::1]80",
                                       "http://a@b",
                                       "*",
                                       "null",
                                       "http://*" };
    (void)state;
    assert_true(viewer_origins_valid(NULL));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!viewer_origins_valid(good[i])) fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (viewer_origins_valid(bad[i])) fail_msg("'%s' was taken", bad[i]);
}

static void hosts(void **state)
{
    static const char *const good[] = { "",          "127.0.0.1:8765", "127.0.0.1", "[::1]:8765", "[::1]", "192.0.2.7:1",
                                        "localhost", "LocalHost:9000", "machine",   "Machine:80" };
    static const char *const bad[] = { "evil.example",
                                       "evil.example:8765",
                                       "127.0.0.1.evil.example",
                                       "localhost.evil.example",
                                       "machine.evil.example",
                                       "machin",
                                       "machines",
                                       "127.0.0.1:8765x",
                                       "127.0.0.1:",
                                       ":8765",
                                       "[::1",
                                       "[evil.example]:80",
                                       "::1",
                                       "localhost:1:2",
                                       "127.1",
                                       "localhost ",
                                       " localhost" };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!viewer_host_allowed(good[i], "machine", NULL)) fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (viewer_host_allowed(bad[i], "machine", NULL)) fail_msg("'%s' was let in", bad[i]);
    assert_false(viewer_host_allowed("machine", NULL, NULL));
    assert_false(viewer_host_allowed("machine", "", NULL));
    static const char allowed[] = "https://bench.example:8443,http://other.example";
    assert_true(viewer_host_allowed("bench.example:8443", NULL, allowed));
    assert_true(viewer_host_allowed("bench.example:1", NULL, allowed)); /* a tunnel has a port of its own */
    assert_true(viewer_host_allowed("OTHER.example", NULL, allowed));
    assert_false(viewer_host_allowed("example", NULL, allowed));
    char large[4096];
    memset(large, 'a', sizeof large - 1);
    large[sizeof large - 1] = 0;
    assert_false(viewer_host_allowed(large, "machine", NULL));
    large[0] = '[';
    large[300] = ']';
    large[301] = 0;
    assert_false(viewer_host_allowed(large, "machine", NULL));
}

static void origins(void **state)
{
    static const char host[] = "127.0.0.1:8765", allowed[] = "https://bench.example:8443,http://other.example";
    static const char *const bad[] = { "null",
                                       "http://evil.example",
                                       "https://127.0.0.1:8765",
                                       "http://127.0.0.1",
                                       "http://127.0.0.1:8766",
                                       "http://127.0.0.1:87650",
                                       "http://127.0.0.1:8765.evil.example",
                                       "127.0.0.1:8765",
                                       "http:/127.0.0.1:8765",
                                       "http://",
                                       "file://",
                                       "http://127.0.0.1:8765/" };
    (void)state;
    assert_true(viewer_origin_allowed("", "http", host, NULL)); /* no browser */
    assert_true(viewer_origin_allowed("http://127.0.0.1:8765", "http", host, NULL));
    assert_true(viewer_origin_allowed("https://127.0.0.1:8765", "https", host, NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (viewer_origin_allowed(bad[i], "http", host, allowed)) fail_msg("'%s' was let in", bad[i]);
    assert_false(viewer_origin_allowed("http://127.0.0.1:8765", "http", "", NULL)); /* a page without a host to compare with */
    assert_false(viewer_origin_allowed("http://", "http", "", NULL));
    assert_true(viewer_origin_allowed("https://bench.example:8443", "http", host, allowed));
    assert_true(viewer_origin_allowed("http://OTHER.example", "http", host, allowed));
    assert_false(viewer_origin_allowed("https://bench.example", "http", host, allowed));
    assert_false(viewer_origin_allowed("https://other.example", "http", host, allowed));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lists), cmocka_unit_test(hosts), cmocka_unit_test(origins) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
