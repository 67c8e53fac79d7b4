/* viewer/upload.c: files that are dropped on a page. One is written beside its place under a name that begins with a dot, and gets its own when it is whole;
 * what exists already stays. Only pages of this server may send (their origin says so), with the token, files of the kinds that sessions open. */
#define _POSIX_C_SOURCE 200809L
#include "server_inside.h"
#include "origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t most_bytes = INT64_C(4) << 30; /* where the session names no limit */

static void path_of(const struct server *server, const char *name, char path[4400]) { snprintf(path, 4400, "%s/%s", server->folder, name); }

/* Why a file of this name and size may not come; NULL: it may. */
static const char *why_not(const struct server *server, const char *name, int64_t size)
{
    char path[4400];
    struct stat about;
    if (!viewer_name_is_plain(name)) return "a plain file name is expected\n";
    char text[VIEWER_NAME_BYTES];
    snprintf(text, sizeof text, "%s", name);
    viewer_make_utf8(text);
    if (strcmp(text, name) != 0) return "a file name in UTF-8 is expected\n"; /* no page could name another in a message */
    if (!viewer_mode_of_file(name) && !viewer_is_script(name))
        return "a file of this kind is opened by no mode: a volume, a mesh, a tile list or a session is expected\n";
    if (size < 1 || size > (server->options.memory_limit > 0 ? server->options.memory_limit : most_bytes))
        return "the file is empty or larger than this server takes\n";
    path_of(server, name, path);
    if (!lstat(path, &about)) return "a file of this name exists already in the served folder: rename yours\n";
    return NULL;
}

/* %41 is A: names come as browsers write them. -1: what is no such text. */
static int decode(const char *from, char *to, size_t room)
{
    size_t n = 0;
    for (; *from && n + 1 < room; n++) {
        unsigned byte = (unsigned char)*from++;
        if (byte == '%') {
            char hex[3] = { from[0], from[0] ? from[1] : 0, 0 }, *end;
            byte = (unsigned)strtoul(hex, &end, 16);
            if (end != hex + 2 || !byte) return -1;
            from += 2;
        }
        to[n] = (char)byte;
    }
    to[n] = 0;
    return *from ? -1 : 0;
}

int server_upload_begin(struct server *server, struct lws *wsi, struct client *c, const char *path)
{
    char host[512], origin[512], length[512], part[4400];
    const char *below = server_below_token(server, path);
    if (!below || strncmp(below, "/file/", 6)) return server_answer_text(wsi, c, HTTP_STATUS_NOT_FOUND, "not found\n");
    if (!server_by_own_name(server, wsi) || server_header(wsi, WSI_TOKEN_HOST, host) || server_header(wsi, WSI_TOKEN_ORIGIN, origin) ||
        !viewer_origin_allowed(origin, server->scheme, host, server->allow_origin))
        return server_answer_text(wsi, c, HTTP_STATUS_FORBIDDEN, "pages of other servers may not send files\n");
    if (server_header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, length) || !*length)
        return server_answer_text(wsi, c, 411, "the number of bytes (Content-Length) is expected\n");
    const int64_t size = strspn(length, "0123456789") == strlen(length) && strlen(length) < 18 ? (int64_t)strtoll(length, NULL, 10) : 0;
    const char *why =
        decode(below + 6, c->upload.name, sizeof c->upload.name) ? "a plain file name is expected\n" : why_not(server, c->upload.name, size);
    if (why) return server_answer_text(wsi, c, HTTP_STATUS_FORBIDDEN, why);
    snprintf(c->upload.part, sizeof c->upload.part, ".tessera-upload-%d-%u", (int)getpid(), ++server->next_id);
    path_of(server, c->upload.part, part);
    const int file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file < 0) return server_answer_text(wsi, c, HTTP_STATUS_INTERNAL_SERVER_ERROR, "the served folder cannot be written\n");
    c->upload.file = file + 1;
    c->upload.left = size;
    return 0;
}

void server_upload_drop(const struct server *server, struct client *c)
{
    char part[4400];
    if (!c->upload.file) return;
    close(c->upload.file - 1);
    c->upload.file = 0;
    path_of(server, c->upload.part, part);
    unlink(part);
}

int server_upload_more(struct server *server, struct lws *wsi, struct client *c, const void *bytes, size_t size)
{
    (void)wsi;
    const char *at = (const char *)bytes;
    if (!c->upload.file) return 0; /* it was refused: the rest is not looked at */
    if ((int64_t)size > c->upload.left) {
        server_upload_drop(server, c);
        return -1;
    }
    c->upload.left -= (int64_t)size;
    while (size > 0) {
        const ssize_t n = write(c->upload.file - 1, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) { /* no room */
            server_upload_drop(server, c);
            return -1;
        }
        at += n;
        size -= (size_t)n;
    }
    return 0;
}

int server_upload_end(struct server *server, struct lws *wsi, struct client *c)
{
    char part[4400], path[4400];
    if (!c->upload.file) return 0;
    path_of(server, c->upload.part, part);
    path_of(server, c->upload.name, path);
    const int whole = c->upload.left == 0 && !fsync(c->upload.file - 1) && !link(part, path); /* fails where a file has come meanwhile */
    server_upload_drop(server, c);
    return whole ? server_answer_text(wsi, c, HTTP_STATUS_OK, "taken\n")
                 : server_answer_text(wsi, c, HTTP_STATUS_CONFLICT, "the file could not be kept\n");
}
