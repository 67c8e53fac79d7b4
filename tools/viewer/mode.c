/* viewer/mode.c: the kinds of sessions, and which of them a file begins. */
#include "mode.h"

#include <string.h>

static const viewer_mode *const modes[] = { &viewer_segment, &viewer_sculpt, &viewer_view,    &viewer_turntable, &viewer_film,
                                            &viewer_fluid,   &viewer_flow,   &viewer_light,  &viewer_cameras,   &viewer_views,   &viewer_mvv,
                                            &viewer_calibrate };
enum { MODES = sizeof modes / sizeof *modes };

#define B(kind) (UINT64_C(1) << VIEWER_##kind)
static const uint64_t shell = B(VIEW) | B(WINDOW) | B(TRANSFER) | B(UNDO) | B(REDO) | B(SAVE) | B(LOAD) | B(FILES) | B(DRIVE) | B(SHOWN) | B(PING) |
                              B(ASK) | B(MASK) | B(PICK) | B(TABS) | B(OPEN) | B(FOLLOW);

int viewer_mode_takes(const viewer_mode *mode, viewer_kind kind) { return (int)((shell | mode->takes) >> kind & 1); }

const viewer_mode *viewer_mode_named(const char *name)
{
    for (int i = 0; i < MODES; i++)
        if (!strcmp(modes[i]->name, name)) return modes[i];
    return NULL;
}

const viewer_mode *viewer_mode_of_file(const char *name)
{
    for (int i = 0; i < MODES; i++)
        if ((modes[i]->begins ? modes[i]->begins : modes[i]->opens)(name)) return modes[i];
    return NULL;
}

const viewer_mode *viewer_mode_of_path(const char *folder, const char *name)
{
    const viewer_mode *mode = viewer_mode_of_file(name);
    return mode == &viewer_cameras && viewer_views_fits(folder, name) ? &viewer_views : mode;
}

_Static_assert(VIEWER_KINDS <= 64, "a bit for each kind of message");
