/* viewer/protocol.h: what a page may say to `tessera serve`, and the header of the pictures it gets (docs/formats/workbench-protocol.md).
 *
 * A control message is one JSON object with a "type". It is refused as a whole, with a message, unless every field is known to its type, of the right
 * kind and within range: what comes out of viewer_parse can be used without further checks of form. */
#ifndef TESSERA_VIEWER_PROTOCOL_H
#define TESSERA_VIEWER_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/tessera.h"

enum { VIEWER_PROTOCOL = 1, VIEWER_MESSAGE_BYTES = 64 << 10, VIEWER_NAME_BYTES = 128, VIEWER_LARGEST_VIEW = 4096 };

typedef enum viewer_kind {
    VIEWER_VIEW = 0,    /* changes how a window looks; fields that are not given stay */
    VIEWER_WINDOW,      /* grey window of all windows */
    VIEWER_TRANSFER,    /* transfer function: points or a preset */
    VIEWER_SET,         /* a parameter of the segmentation */
    VIEWER_PROBE,       /* for T and epsilon, or with colours for the transfer function */
    VIEWER_PROBE_UNDO, VIEWER_PROBE_RESET,
    VIEWER_PAINT, VIEWER_ERASE,
    VIEWER_PICK,        /* like probe, paint, erase or just looking, at a pixel of the 3-D window */
    VIEWER_START, VIEWER_PAUSE, VIEWER_STEP, VIEWER_RESET, VIEWER_UNDO, VIEWER_REDO,
    VIEWER_SAVE, VIEWER_LOAD, VIEWER_FILES,
    VIEWER_DRIVE,       /* this page takes the controls */
    VIEWER_SHOWN,       /* a picture is on the screen: the next may come */
    VIEWER_PING,
    VIEWER_ASK,         /* what lies under the cursor */
    VIEWER_MASK,        /* how the inside is filled in slices */
    VIEWER_STATISTICS,  /* of what is inside */
    VIEWER_ISOVALUE,    /* of the surface that a session of kind view shows */
    VIEWER_SCULPT,      /* a place of a brush */
    VIEWER_REGION,      /* what lies in a box, a lasso or a stroke is cut, deleted, kept, copied */
    VIEWER_EDIT,        /* a line of an editing script */
    VIEWER_OBJECT,      /* becomes the active one, is shown or hidden */
    VIEWER_TABS, VIEWER_OPEN, /* of the server: which sessions there are, one more of a file */
    VIEWER_LABEL,       /* one of several regions: made, named, coloured, hidden, the one that is worked on, taken away */
    VIEWER_OVERLAY,     /* what slices show over the image */
    VIEWER_FOLLOW,      /* a page that watches gives its own views up */
    VIEWER_KINDS
} viewer_kind;

/* The windows. */
enum { VIEWER_SOURCE = 0, VIEWER_SPEED, VIEWER_VOLUME, VIEWER_SECOND, VIEWER_THIRD, VIEWER_VIEWS };
/* Whose windows: 0 = the driver's and of all who follow it, the others of pages that watch with views of their own. */
enum { VIEWER_EYES = 5, VIEWER_WINDOWS = VIEWER_EYES * VIEWER_VIEWS };
/* What the 3-D window shows. */
enum { VIEWER_MODE_SURFACE = 0, VIEWER_MODE_COMBINED, VIEWER_MODE_VOLUME, VIEWER_MODE_INSIDE, VIEWER_MODE_MIP };
/* What the speed window shows. */
enum { VIEWER_SPEED_DATA = 0, VIEWER_SPEED_TOTAL };
enum { VIEWER_PICK_PROBE = 0, VIEWER_PICK_PAINT, VIEWER_PICK_ERASE, VIEWER_PICK_LOCATE, VIEWER_PICK_SCULPT };
enum { VIEWER_SAVE_MASK = 0, VIEWER_SAVE_MESH, VIEWER_SAVE_FIELD, VIEWER_SAVE_PICTURE, VIEWER_SAVE_SESSION, VIEWER_SAVE_LABELS, VIEWER_SAVE_CAMERAS };
enum { VIEWER_TOOL_GROW = 0, VIEWER_TOOL_SHRINK, VIEWER_TOOL_SMOOTH, VIEWER_TOOL_ATTRACT, VIEWER_TOOL_REPEL };
enum { VIEWER_DO_CUT = 0, VIEWER_DO_DELETE, VIEWER_DO_KEEP, VIEWER_DO_COPY };
enum { VIEWER_AS_IMAGE = 0, VIEWER_AS_MASK, VIEWER_AS_LABELS, VIEWER_AS_OVERLAY };
enum { VIEWER_OVER_NONE = 0, VIEWER_OVER_IMAGE, VIEWER_OVER_SPEED };
enum { VIEWER_LARGEST_LABEL = 255 };
enum { VIEWER_CORNERS = 48, VIEWER_LINE_BYTES = 1024 }; /* of a lasso; of a line of a script */

/* Bits of viewer_command.given. */
typedef enum viewer_field {
    VIEWER_INPUT = 0, VIEWER_VIEW_NAME, VIEWER_WIDTH, VIEWER_HEIGHT, VIEWER_AXIS, VIEWER_POSITION, VIEWER_ZOOM, VIEWER_PAN, VIEWER_AZIMUTH, VIEWER_ELEVATION,
    VIEWER_MODE, VIEWER_CLIP, VIEWER_CLIP_AZIMUTH, VIEWER_CLIP_ELEVATION, VIEWER_CLIP_OFFSET, VIEWER_QUALITY, VIEWER_LOW, VIEWER_HIGH, VIEWER_POINTS,
    VIEWER_PRESET, VIEWER_NAME, VIEWER_VALUE, VIEWER_AT, VIEWER_FROM, VIEWER_TO, VIEWER_RADIUS, VIEWER_BEGIN, VIEWER_COUNT, VIEWER_WHAT, VIEWER_REPLACE,
    VIEWER_SEQUENCE, VIEWER_ID, VIEWER_X, VIEWER_Y, VIEWER_ACTION, VIEWER_COLOURS, VIEWER_SPEED_SHOWN, VIEWER_VISIBLE, VIEWER_AS, VIEWER_OPACITY, VIEWER_COLOUR, VIEWER_TOOL, VIEWER_STRENGTH,
    VIEWER_DO, VIEWER_LASSO, VIEWER_LINE, VIEWER_LABEL_OF, VIEWER_ACTIVE, VIEWER_REMOVE, VIEWER_OVER, VIEWER_SEE_THROUGH, VIEWER_FIELDS
} viewer_field;

typedef struct viewer_command {
    viewer_kind kind;
    uint64_t given;                  /* bits of viewer_field */
    double input, sequence, id;      /* whole numbers below 2^32 */
    int32_t view, width, height, axis, mode, clip, preset, begin, what, replace, action, colours, speed, visible, as, tool, task, corners; /* task: of a region */
    int32_t label, active, remove, over, eye; /* eye: whose windows, from the server */
    double position, zoom, pan[2], azimuth, elevation, clip_azimuth, clip_elevation, clip_offset, quality, low, high, value, radius, count, x, y, opacity, strength, see_through;
    double at[3], from[3], to[3];    /* voxel indices */
    double bend;                     /* of a stroke that is several pieces: how far beside it their places may lie; 0 as it comes */
    double colour[3];
    double lasso[VIEWER_CORNERS][3]; /* as it comes x, y from 0 to 1 of the 3-D window; of the sculptor world units, seen from `at`; with a radius places of the surface */
    char name[VIEWER_NAME_BYTES], line[VIEWER_LINE_BYTES];
    tsr_transfer transfer;           /* of VIEWER_POINTS */
} viewer_command;

/* 0, or -1 with a message of one line in error (which starts with the name of the field, where one is at fault). */
int viewer_parse(const char *text, size_t bytes, viewer_command *command, char *error, size_t error_bytes);
int viewer_given(const viewer_command *command, viewer_field field);
const char *viewer_view_name(int view);
const char *viewer_kind_name(viewer_kind kind); /* the "type" of its messages */
const char *viewer_mode_name(int mode);
const char *viewer_speed_name(int speed);
const char *viewer_preset_name(int preset);
const char *viewer_over_name(int over);
const char *viewer_task_name(int task); /* of a region: the command of a script */

/* Name of a file of the served folder: 1 to 127 bytes of UTF-8 without '/', '\\' or control characters that do not start with '.' or '-'. */
int viewer_name_is_plain(const char *name);
int viewer_object_is_plain(const char *name); /* of an object of a document (tessera/edit.h) */

/* ---- pictures ---------------------------------------------------------------------------------------------------------------------------------- */

enum { VIEWER_FRAME_HEADER = 96 };
typedef struct viewer_frame {
    uint8_t view, draft;         /* draft: a better one follows when things come to rest */
    uint32_t sequence, width, height;
    uint32_t view_input, edit_input; /* last inputs that this picture shows: of the looks, of the surface and its parameters */
    double steps;                /* of the surface in it */
    float origin[3], right[3], down[3]; /* slices: voxel index of the upper left corner, of one pixel to the right, of one down */
    float pixel;                 /* world units of a pixel; of the 3-D window at the depth it turns about */
    float milliseconds;          /* drawing and packing */
    float zoom;                  /* of the look that it shows; 0: it knows no pan */
} viewer_frame;
void viewer_frame_pack(const viewer_frame *frame, uint8_t bytes[VIEWER_FRAME_HEADER]); /* little-endian, the JPEG file follows */

#endif
