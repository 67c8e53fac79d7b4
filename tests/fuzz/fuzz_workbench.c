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
    check((c.kind != VIEWER_LOAD && c.kind != VIEWER_SAVE && c.kind != VIEWER_OPEN) || (viewer_name_is_plain(c.name) && !strchr(c.name, '/')),
          "name of a file\n");
    check(c.kind != VIEWER_WINDOW || c.low < c.high, "window\n");
    check((c.kind != VIEWER_OBJECT && (c.kind != VIEWER_REGION || !*c.name)) || viewer_object_is_plain(c.name), "name of an object\n");
    check(c.tool >= VIEWER_TOOL_GROW && c.tool <= VIEWER_TOOL_REPEL && c.task >= VIEWER_DO_CUT && c.task <= VIEWER_DO_COPY &&
              c.as >= VIEWER_AS_IMAGE && c.as <= VIEWER_AS_OVERLAY && c.label >= 0 && c.label <= VIEWER_LARGEST_LABEL && c.eye == 0,
          "tool, task or as\n");
    check(c.opacity >= 0 && c.opacity <= 1 && c.strength >= 0 && c.strength <= 1, "opacity or strength\n");
    check(c.corners >= 0 && c.corners <= VIEWER_CORNERS && (!viewer_given(&c, VIEWER_LASSO) || c.corners >= 3), "corners\n");
    for (int i = 0; i < c.corners; i++) check(c.lasso[i][0] >= 0 && c.lasso[i][0] <= 1 && c.lasso[i][1] >= 0 && c.lasso[i][1] <= 1, "a corner\n");
    check(strlen(c.line) < VIEWER_LINE_BYTES && !strpbrk(c.line, "\n\r\t"), "a line\n");
    check(c.kind != VIEWER_EDIT || *c.line, "an empty line\n");
    check((c.kind != VIEWER_PAINT && c.kind != VIEWER_ERASE && c.kind != VIEWER_SCULPT) || c.radius > 0, "radius\n");
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
        "{\"type\":\"view\",\"view\":\"third\",\"visible\":false,\"axis\":0}",
        "{\"type\":\"value\",\"at\":[1,2,3],\"id\":7}",
        "{\"type\":\"mask\",\"opacity\":0.5,\"colour\":[1,0.5,0]}",
        "{\"type\":\"isovalue\",\"value\":-3.5}",
        "{\"type\":\"load\",\"name\":\"a.nii.gz\",\"as\":\"mask\"}",
        "{\"type\":\"sculpt\",\"from\":[1,2,3],\"to\":[4,5,6],\"radius\":2.5,\"tool\":\"attract\",\"strength\":0.25,\"begin\":true}",
        "{\"type\":\"pick\",\"x\":0.5,\"y\":0.25,\"action\":\"sculpt\",\"tool\":\"smooth\",\"radius\":1,\"strength\":1}",
        "{\"type\":\"region\",\"do\":\"cut\",\"name\":\"part-2\",\"corners\":[[0,0],[1,0],[0.5,1]]}",
        "{\"type\":\"region\",\"do\":\"keep\",\"from\":[0,0,0],\"to\":[9,9,9]}",
        "{\"type\":\"edit\",\"line\":\"blend body bump 0.5\"}",
        "{\"type\":\"edit\",\"line\":\"@pair source 0.5 0.25\"}",
        "{\"type\":\"edit\",\"line\":\"solve all shared points 0.1 k1\"}",
        "{\"type\":\"set\",\"name\":\"frame\",\"value\":12}",
        "{\"type\":\"save\",\"what\":\"session\",\"name\":\"a.calib\",\"replace\":true}",
        "{\"type\":\"object\",\"name\":\"body.1\",\"visible\":true}",
        "{\"type\":\"open\",\"name\":\"b.ply\"}",
        "{\"type\":\"tabs\"}",
        "{\"type\":\"label\",\"label\":3,\"name\":\"left kidney\",\"colour\":[1,0.5,0],\"visible\":true,\"active\":true}",
        "{\"type\":\"label\",\"label\":255,\"remove\":true}",
        "{\"type\":\"overlay\",\"over\":\"speed\",\"opacity\":0.5}",
        "{\"type\":\"follow\"}",
        "{\"type\":\"load\",\"name\":\"b.nii\",\"as\":\"labels\"}",
        "{\"type\":\"view\",\"view\":\"volume\",\"see_through\":0.25}",
    };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) fuzz_seed(seeds[i], strlen(seeds[i]));
}
