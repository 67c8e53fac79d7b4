/* Messages from pages of `tessera serve`: refused with one line, or within all promised ranges. */
#include "fuzz/fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"

static void check(int good, const char *what)
{
    if (good) return;
    fputs(what, stderr);
    abort();
}

int fuzz_accepts(const uint8_t *bytes, size_t size)
{
    viewer_command c;
    char error[200], *copy = (char *)malloc(size + 1); /* not terminated by zero: the parser must not need it */
    check(copy != NULL, "memory\n");
    if (size) memcpy(copy, bytes, size);
    int refused = viewer_parse(copy, size, &c, error, sizeof error);
    free(copy);
    if (refused) {
        check(*error && strlen(error) < sizeof error && !strchr(error, '\n'), "a refusal without its line\n");
        return 0;
    }
    check((int)c.kind >= 0 && c.kind < VIEWER_KINDS && c.view >= 0 && c.view < VIEWER_VIEWS && c.axis >= 0 && c.axis <= 2, "kind, view or axis\n");
    check(!viewer_given(&c, VIEWER_SPEED_SHOWN) || (c.view == VIEWER_SPEED && (c.speed == VIEWER_SPEED_DATA || c.speed == VIEWER_SPEED_TOTAL)),
          "speed\n");
    check(!viewer_given(&c, VIEWER_WIDTH) || (c.width >= 16 && c.width <= VIEWER_LARGEST_VIEW), "width\n");
    check(strlen(c.name) < VIEWER_NAME_BYTES, "name\n");
    check((c.kind != VIEWER_LOAD && c.kind != VIEWER_SAVE) || (viewer_name_is_plain(c.name) && !strchr(c.name, '/')), "name of a file\n");
    check(c.kind != VIEWER_WINDOW || c.low < c.high, "window\n");
    check((c.kind != VIEWER_PAINT && c.kind != VIEWER_ERASE) || c.radius > 0, "radius\n");
    check(c.transfer.points >= 0 && c.transfer.points <= TSR_TRANSFER_POINTS, "points\n");
    for (int i = 1; i < c.transfer.points; i++) check(c.transfer.point[i].value > c.transfer.point[i - 1].value, "points that do not rise\n");
    for (int k = 0; k < 3; k++) check(isfinite(c.at[k]) && isfinite(c.from[k]) && isfinite(c.to[k]), "a place that is not finite\n");
    check(isfinite(c.value) && isfinite(c.zoom) && isfinite(c.count) && c.count <= 100000, "a number\n");
    return 1;
}

void fuzz_seeds(void)
{
    static const char *const seeds[] = {
        "{\"type\":\"view\",\"view\":\"source\",\"width\":640,\"height\":480,\"axis\":1,\"position\":12.5,\"zoom\":2,\"pan\":[1,-2],\"input\":9}",
        "{\"type\":\"view\",\"view\":\"volume\",\"azimuth\":30,\"elevation\":-5,\"mode\":\"inside\"}",
        "{\"type\":\"view\",\"view\":\"volume\",\"clip\":true,\"clip_azimuth\":1,\"clip_elevation\":2,\"clip_offset\":0.5,\"quality\":0.25}",
        "{\"type\":\"view\",\"view\":\"speed\",\"speed\":\"total\"}",
        "{\"type\":\"window\",\"low\":-100,\"high\":1e3}",
        "{\"type\":\"transfer\",\"points\":[[0,0,0,0,0],[1.5,0.5,1,0.25,0]]}",
        "{\"type\":\"transfer\",\"preset\":\"ct-bone\"}",
        "{\"type\":\"set\",\"name\":\"alpha\",\"value\":0.5}",
        "{\"type\":\"probe\",\"at\":[1,2,3],\"radius\":2}",
        "{\"type\":\"paint\",\"from\":[1,2,3],\"to\":[4,5,6],\"radius\":2.5,\"begin\":true}",
        "{\"type\":\"pick\",\"x\":0.5,\"y\":0.25,\"action\":\"locate\",\"radius\":1}",
        "{\"type\":\"step\",\"count\":10}",
        "{\"type\":\"save\",\"what\":\"mesh\",\"name\":\"a \\u00e4.ply\",\"replace\":false}",
        "{\"type\":\"shown\",\"view\":\"speed\",\"sequence\":4294967295}",
        "{\"type\":\"start\"}",
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) fuzz_seed(seeds[i], strlen(seeds[i]));
}
