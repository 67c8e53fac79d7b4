/* viewer/server_inside.h: what server.c (pages) and requests.c (files over HTTP) share. One thread. */
#ifndef TESSERA_VIEWER_SERVER_INSIDE_H
#define TESSERA_VIEWER_SERVER_INSIDE_H

#include <libwebsockets.h>

#include "mode.h"
#include "server.h"

enum { CLIENT_NOTICES = 48, FLYING = 2, HTTP_CHUNK = 32 << 10 };
_Static_assert(LWS_PRE <= VIEWER_PAD, "room before a payload");

struct client;
/* A session and the pages that look at it: a tab. */
struct room {
    viewer_session *session;
    struct client *first; /* pages, oldest first */
    int count;
    uint32_t driver; /* 0 = nobody drives */
    uint64_t state_version, image_version;
    viewer_blob *state, *histogram; /* newest, for pages that come later */
};

struct server {
    struct lws_context *lws;
    struct room room[VIEWER_TABS_MOST];
    int rooms, count;       /* count: of all pages */
    viewer_options options; /* of a session that a page opens; its file aside */
    char folder[4096];
    char token[VIEWER_TOKEN_BYTES], name[256]; /* name: of this machine */
    const char *scheme, *allow_origin;
    uint32_t next_id;
    tsr_progress stop;
    void (*trouble)(void *user, const char *text);
    void *user;
    lws_sorted_usec_list_t tick;
};

/* A connection: a page with its socket, or a request for a file. Zero when it begins. */
struct client {
    struct lws *wsi;
    struct client *next;
    struct room *room;
    uint32_t id; /* 0 = not admitted */
    int eye;     /* whose windows it looks through (protocol.h) */
    viewer_blob *driver, *notice[CLIENT_NOTICES], *state, *frame[VIEWER_VIEWS];
    int notices, files, turn, flying[VIEWER_VIEWS]; /* files: this page waits for the list of files */
    char *message;                                  /* what came of a message that is not complete yet */
    size_t message_bytes;
    double spent, since; /* of what it may send, and when that was true */
    lws_sorted_usec_list_t rest;
    const unsigned char *bytes; /* answer to a request: from memory ... */
    size_t left;
    int file, sending; /* ... or from a file */
    struct {           /* a file on its way here, under a name that the list of files leaves out until it is whole */
        int file;      /* 0 = none, else its descriptor + 1 */
        int64_t left;
        char name[VIEWER_NAME_BYTES], part[64];
    } upload;
};

/* ---- requests.c --------------------------------------------------------------------------------------------------------------------------------- */

const char *server_below_token(const struct server *server, const char *path); /* what follows "/TOKEN", or NULL */
int server_header(struct lws *wsi, enum lws_token_indexes which,
                  char text[512]); /* "" where there is none; -1 if it is longer than any that may be let in */
int server_by_own_name(const struct server *server, struct lws *wsi);
int server_request(struct server *server, struct lws *wsi, struct client *c, const char *path);
int server_send_more(struct lws *wsi, struct client *c);
int server_answer_text(struct lws *wsi, struct client *c, unsigned status, const char *text);

/* ---- upload.c: files that pages send into the served folder --------------------------------------------------------------------------------------- */

int server_upload_begin(struct server *server, struct lws *wsi, struct client *c, const char *path);
int server_upload_more(struct server *server, struct lws *wsi, struct client *c, const void *bytes, size_t size);
int server_upload_end(struct server *server, struct lws *wsi, struct client *c);
void server_upload_drop(const struct server *server, struct client *c); /* what is not whole goes */

#endif
