/* viewer/turntable.c: the example of docs/guide/workbench-mode.md: a kind of session that turns what it shows. The thread is the one of `view`, which loads
 * files and answers; the page alone turns (web/mode-turntable.js). */
#include "mode.h"

static void *work(void *session) { return viewer_view.work(session); }

static int opens(const char *name) { return viewer_view.opens(name); }

static void state(const viewer_session *session, struct json_t *json) { viewer_view.state(session, json); }

const viewer_mode viewer_turntable = { .name = "turntable",
                                       .takes = VIEWER_TAKES(ISOVALUE),
                                       .opens = opens,
                                       .expects = "a volume, a mesh (.ply, .obj, .stl, .off) or a tile list (.tsr, .nvdb)",
                                       .work = work,
                                       .state = state };
