/* viewer/sculptor.h: what the thread that owns a document of sculpting (sculptor.c) is made of, and how files become its objects (sculptor_files.c).
 *
 * Whatever is done to the document is a line of an editing script (docs/guide/editing.md), run by the library and kept: the session's script is its
 * record, and `tessera edit` gives the same bits from it. */
#ifndef TESSERA_VIEWER_SCULPTOR_H
#define TESSERA_VIEWER_SCULPTOR_H

#include "mode.h"

#define SCULPTOR_HISTORY (INT64_C(1) << 30) /* bytes that undo may keep */
enum { SCULPTOR_OBJECT = 64, SCULPTOR_HIDDEN = 64, SCULPTOR_PARENTS = 64 };

/* A document and all that belongs to it. */
typedef struct sculptor_document {
    tsr_editor *editor; /* NULL: there is none */
    tsr_geometry geometry;
    char active[SCULPTOR_OBJECT];
    char hidden[SCULPTOR_HIDDEN][SCULPTOR_OBJECT];
    int hidden_count;
    struct {
        char name[SCULPTOR_OBJECT], of[SCULPTOR_OBJECT];
    } parent[SCULPTOR_PARENTS]; /* of objects that were cut out of others, copied or split off: the last of them */
    int parents;
    char *script; /* all lines so far, behind the head */
    size_t bytes, room, head;
    int64_t *group; /* how many steps of the editor's history each step of the page's takes back; those above `undo` can be done again */
    int64_t groups, undo, group_room;
    tsr_vec3 middle; /* of what was loaded: the mirror's plane goes through it */
} sculptor_document;

struct sculptor {
    viewer_session *s;
    tsr_context *context;
    tsr_context *bridge; /* as of the solver: what the painter is given, NULL on a CPU */
    sculptor_document d;
    viewer_image *stage; /* the box that the document stands in, for windows and picks */
    int64_t lower[3];    /* its first voxel, in the document's */
    viewer_state state;
    int mirror, draft, resolution;
    int dirty, state_dirty, stroke; /* stroke: the last command was a place of one */
    char said[512];                 /* what a file has that does not fit; empty: the library's own message holds */
    uint32_t input;
    double pace;                /* milliseconds that a place of a brush takes, of late */
    double edits, milliseconds; /* done so far; that the last took */
    int64_t tiles;              /* that the last step of the history touched */
};

/* ---- sculptor_show.c ---------------------------------------------------------------------------------------------------------------------------- */

void sculptor_tell_state(struct sculptor *o);
const char *sculptor_parent(const sculptor_document *d, const char *name); /* of an object; NULL: it has none that is there */
void sculptor_busy(struct sculptor *o, const char *with); /* pages are told; empty: no more */
int sculptor_give_due(const struct sculptor *o);          /* with the lock held: the painter can take what has changed */
void sculptor_give(struct sculptor *o);
void sculptor_free_tiles(const struct sculptor *o, tsr_tiles *tiles);                 /* what came back from the painter */
int sculptor_bounds_of(const struct sculptor *o, int64_t lower[3], int64_t upper[3]); /* of all objects, voxels of the document; 0: there are none */
void sculptor_set_stage(struct sculptor *o, const char *name,
                        int fresh); /* the box that things stand in, where it must be another; fresh: of a new document */

/* ---- sculptor_files.c -------------------------------------------------------------------------------------------------------------------------- */

/* The list of a file on the voxels of the document, as `tessera edit` makes it. */
tsr_status sculptor_read(struct sculptor *o, const char *name, tsr_tiles **tiles);
int sculptor_begin(struct sculptor *o, tsr_vec3 spacing, sculptor_document *made); /* an empty document: 0, or -1 with the library's message */
int sculptor_spacing(struct sculptor *o, const char *name, tsr_vec3 *spacing, char *error,
                     size_t error_bytes);                                     /* that a document of this file gets */
int sculptor_script_spacing(const char *text, tsr_vec3 *spacing, int *draft); /* that the head of a session names: 0, or -1 */
void sculptor_forget(sculptor_document *d);
int sculptor_keep_line(sculptor_document *d, const char *line); /* behind the script: 0, or -1 without room */
/* Runs lines on a document; files are those of the served folder. Lines that were done are kept. 0, or -1 with a message. */
int sculptor_run(struct sculptor *o, sculptor_document *d, const char *text, const char *name, int keep, char *error, size_t error_bytes);

#endif
