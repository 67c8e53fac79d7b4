/* viewer/requests.c: what a browser asks for over HTTP: the files of the page, and those that were saved. */
#define _POSIX_C_SOURCE 200809L
#include "server_inside.h"
#include "origin.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int same_token(const char *a, const char *b, size_t n)
{
    unsigned different = 0;
    for (size_t i = 0; i < n; i++) different |= (unsigned)(unsigned char)a[i] ^ (unsigned)(unsigned char)b[i]; /* takes as long for any token */
    return different == 0;
}

const char *server_below_token(const struct server *server, const char *path)
{
    size_t n = strlen(server->token);
    if (*path != '/' || strlen(path) < n + 1 || !same_token(path + 1, server->token, n)) return NULL;
    path += n + 1;
    return *path == '/' || !*path ? path : NULL;
}

int server_header(struct lws *wsi, enum lws_token_indexes which, char text[512])
{
    *text = 0;
    return lws_hdr_total_length(wsi, which) > 0 && lws_hdr_copy(wsi, text, 512, which) < 0 ? -1 : 0;
}

/* Was the server reached by a name of its own? */
int server_by_own_name(const struct server *server, struct lws *wsi)
{
    char host[512];
    return !server_header(wsi, WSI_TOKEN_HOST, host) && viewer_host_allowed(host, server->name, server->allow_origin);
}

/* ---- requests -------------------------------------------------------------------------------------------------------------------------------- */

static int answer(struct lws *wsi, struct client *c, unsigned status, const char *type, size_t size, const char *more)
{
    unsigned char headers[LWS_PRE + 1024], *at = headers + LWS_PRE, *end = headers + sizeof headers - 1, *from = at;
    static const struct {
        const char *name, *value;
    } always[] = {
        { "cache-control:", "no-store" },
        { "x-content-type-options:", "nosniff" },
        { "referrer-policy:", "no-referrer" },
        { "x-frame-options:", "DENY" },
        { "content-security-policy:",
          "default-src 'self'; img-src 'self' blob: data:; connect-src 'self' ws: wss:; object-src 'none'; base-uri 'none'" },
    };
    if (lws_add_http_header_status(wsi, status, &at, end)) return -1;
    if (lws_add_http_header_by_name(wsi, (const unsigned char *)"content-type:", (const unsigned char *)type, (int)strlen(type), &at, end)) return -1;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (lws_add_http_header_by_name(wsi, (const unsigned char *)always[i].name, (const unsigned char *)always[i].value,
                                        (int)strlen(always[i].value), &at, end))
            return -1;
    if (*more &&
        lws_add_http_header_by_name(wsi, (const unsigned char *)"content-disposition:", (const unsigned char *)more, (int)strlen(more), &at, end))
        return -1;
    if (lws_add_http_header_content_length(wsi, (lws_filepos_t)size, &at, end)) return -1;
    if (lws_finalize_write_http_header(wsi, from, &at, end)) return -1;
    c->left = size;
    c->sending = 1;
    lws_callback_on_writable(wsi);
    return 0;
}

int server_answer_text(struct lws *wsi, struct client *c, unsigned status, const char *text)
{
    c->bytes = (const unsigned char *)text;
    return answer(wsi, c, status, "text/plain; charset=utf-8", strlen(text), "");
}

/* A saved file, for the browser's download folder. */
static int answer_file(struct server *server, struct lws *wsi, struct client *c, const char *name)
{
    char path[4096];
    struct stat about;
    int n = snprintf(path, sizeof path, "%s/%s", server->folder, name);
    if (!viewer_name_is_plain(name) || n >= (int)sizeof path) return server_answer_text(wsi, c, HTTP_STATUS_NOT_FOUND, "not found\n");
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) || !S_ISREG(about.st_mode)) {
        if (file >= 0) close(file);
        return server_answer_text(wsi, c, HTTP_STATUS_NOT_FOUND, "not found\n");
    }
    c->file = file + 1; /* 0 = none */
    return answer(wsi, c, HTTP_STATUS_OK, "application/octet-stream", (size_t)about.st_size, "attachment");
}

/* The files of the page are named relative to /TOKEN/. */
static int redirect(const struct server *server, struct lws *wsi)
{
    unsigned char headers[LWS_PRE + 512], *at = headers + LWS_PRE;
    char place[VIEWER_TOKEN_BYTES + 2];
    int n = snprintf(place, sizeof place, "/%s/", server->token);
    if (lws_http_redirect(wsi, HTTP_STATUS_MOVED_PERMANENTLY, (const unsigned char *)place, n, &at, headers + sizeof headers) < 0) return -1;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}

int server_request(struct server *server, struct lws *wsi, struct client *c, const char *path)
{
    if (lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI)) return server_upload_begin(server, wsi, c, path);
    if (!lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI)) return -1; /* nothing else; bodies are not waited for */
    if (!server_by_own_name(server, wsi))
        return server_answer_text(wsi, c, HTTP_STATUS_FORBIDDEN, "this name is none of the server's: use its address or --allow-origin\n");
    const char *below = server_below_token(server, path);
    if (!below) return server_answer_text(wsi, c, HTTP_STATUS_NOT_FOUND, "not found\n");
    if (!*below) return redirect(server, wsi);
    if (!strncmp(below, "/file/", 6)) return answer_file(server, wsi, c, below + 6);
    const char *name = below[1] ? below + 1 : "index.html";
    for (const viewer_asset *a = viewer_assets; a->name; a++) {
        if (strcmp(a->name, name)) continue;
        c->bytes = a->bytes;
        return answer(wsi, c, HTTP_STATUS_OK, a->type, a->size, "");
    }
    return server_answer_text(wsi, c, HTTP_STATUS_NOT_FOUND, "not found\n");
}

int server_send_more(struct lws *wsi, struct client *c)
{
    unsigned char buffer[LWS_PRE + HTTP_CHUNK];
    if (!c->sending) return 0;
    size_t n = c->left < HTTP_CHUNK ? c->left : HTTP_CHUNK;
    if (c->file) {
        ssize_t got = read(c->file - 1, buffer + LWS_PRE, n);
        if (got <= 0 && n > 0) return -1; /* shorter than it was */
        n = (size_t)got;
    } else {
        memcpy(buffer + LWS_PRE, c->bytes, n);
        c->bytes += n;
    }
    c->left -= n;
    if (lws_write(wsi, buffer + LWS_PRE, n, c->left ? LWS_WRITE_HTTP : LWS_WRITE_HTTP_FINAL) < 0) return -1;
    if (c->left) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    c->sending = 0;
    if (c->file) close(c->file - 1);
    c->file = 0;
    return lws_http_transaction_completed(wsi) ? -1 : 0;
}
