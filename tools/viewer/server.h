/* viewer/server.h: HTTP and WebSocket for one session (libwebsockets). Everything lies below /TOKEN/: the page and its files, TOKEN/socket, and
 * TOKEN/file/NAME for what was saved. Whoever does not know the token gets 404. */
#ifndef TESSERA_VIEWER_SERVER_H
#define TESSERA_VIEWER_SERVER_H

#include "session.h"

enum { VIEWER_TOKEN_LEAST = 16, VIEWER_TOKEN_BYTES = 65, VIEWER_CLIENTS = 24, VIEWER_TABS_MOST = 8 };

typedef struct viewer_server_options {
    const char *listen;      /* address; NULL = 127.0.0.1 */
    int32_t port;            /* 0 = any free one */
    const char *token;       /* 16 to 64 letters and digits; NULL = random */
    const char *certificate; /* PEM file, the chain behind its own; with it and `key` the page is served by TLS alone (https, wss). NULL = plain HTTP */
    const char *key;         /* PEM file: the certificate's private key, not encrypted */
    const char *allow_origin; /* origins (origin.h) whose pages may open a socket, besides the server's own, and whose hosts it answers to; NULL = none */
    viewer_options session;  /* of the first tab */
    const char *more_file[VIEWER_TABS_MOST - 1]; /* of the same folder: a tab for each */
    const struct viewer_mode *more_mode[VIEWER_TABS_MOST - 1];
    int more_files;
    tsr_progress stop;       /* asked once a second and after signals: not 0 ends the server */
    void (*ready)(void *user, const char *url, int port, const char *token); /* called once when it listens */
    void (*trouble)(void *user, const char *text); /* called at most once: why the file of the session cannot be shown; may be NULL */
    void *user;
} viewer_server_options;

/* Runs until it is stopped: 0; or -1 with a message. */
int viewer_serve(const viewer_server_options *options, char *error, size_t error_bytes);

/* tls.c: 0 if both files can be read and belong together, else -1 with a message that names the file at fault. */
int viewer_tls_check(const char *certificate, const char *key, char *error, size_t error_bytes);
struct lws_context_creation_info;
void viewer_tls_use(const char *certificate, const char *key, struct lws_context_creation_info *vhost); /* after the check */

/* A file of the page, from the program itself (assets.c is made by the build from web/). */
typedef struct viewer_asset { const char *name, *type; const unsigned char *bytes; size_t size; } viewer_asset;
extern const viewer_asset viewer_assets[];

#endif
