/* viewer/server.c: connections. One thread; it never waits for solver or painter. What a connection can hold is bounded: one state, some texts and one
 * picture per window wait for it, the newest ones. */
#define _DEFAULT_SOURCE /* IFF_UP */
#define _POSIX_C_SOURCE 200809L
#include "server_inside.h"
#include "origin.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <jansson.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RATE = 1000,
    BURST = 500,
    SOME = 50,
    BYTES_OF_ONE = 256
}; /* what a page may send: messages a second, at once, after a rest; of so many bytes */

/* ---- pages ----------------------------------------------------------------------------------------------------------------------------------- */

/* A page that does not read loses its oldest texts. Takes over the reference. */
static void give_notice(struct client *c, viewer_blob *blob)
{
    if (!blob) return;
    if (c->notices == CLIENT_NOTICES) {
        viewer_blob_release(&c->notice[0]);
        memmove(c->notice, c->notice + 1, (size_t)--c->notices * sizeof *c->notice);
    }
    c->notice[c->notices++] = blob;
    lws_callback_on_writable(c->wsi);
}

static void give_error(struct client *c, const char *error) { give_notice(c, viewer_blob_message("error", error)); }

static void replace(struct client *c, viewer_blob **slot, viewer_blob *blob)
{
    viewer_blob_release(slot);
    *slot = viewer_blob_keep(blob);
    lws_callback_on_writable(c->wsi);
}

static void tell_driver(struct room *room)
{
    for (struct client *c = room->first; c; c = c->next) {
        char text[128];
        snprintf(text, sizeof text, "{\"type\":\"driver\",\"driver\":%u,\"you\":%u,\"clients\":%d}", room->driver, c->id, room->count);
        viewer_blob *blob = viewer_blob_text(text);
        replace(c, &c->driver, blob);
        viewer_blob_release(&blob);
    }
}

/* What the session has for its pages; tells it which windows they are ready for. */
static void distribute(const struct server *server, struct room *room)
{
    viewer_session *s = room->session;
    if (!s) return;
    int wanted[VIEWER_WINDOWS] = { 0 };
    char trouble[VIEWER_TEXT_BYTES];
    viewer_blob *blob;
    if ((blob = viewer_session_histogram(s, &room->image_version))) {
        viewer_blob_release(&room->histogram);
        room->histogram = blob;
        for (struct client *c = room->first; c; c = c->next) give_notice(c, viewer_blob_keep(blob));
    }
    if ((blob = viewer_session_state(s, &room->state_version))) {
        viewer_blob_release(&room->state);
        room->state = blob;
        for (struct client *c = room->first; c; c = c->next) replace(c, &c->state, blob);
    }
    if (server->trouble && viewer_session_trouble(s, trouble)) server->trouble(server->user, trouble);
    while (room->first && (blob = viewer_session_notice(s))) { /* what happens while nobody looks waits for the next page */
        for (struct client *c = room->first; c; c = c->next) give_notice(c, viewer_blob_keep(blob));
        viewer_blob_release(&blob);
    }
    for (int w = 0; w < VIEWER_WINDOWS; w++) {
        const int v = w % VIEWER_VIEWS;
        blob = viewer_session_frame(s, w);
        for (struct client *c = room->first; c; c = c->next) {
            if (c->eye != w / VIEWER_VIEWS) continue;
            if (blob) replace(c, &c->frame[v], blob);
            wanted[w] |= !c->frame[v] && c->flying[v] < FLYING;
        }
        viewer_blob_release(&blob);
    }
    viewer_session_watch(s, room->count, wanted);
}

/* Which sessions there are. */
static viewer_blob *tabs_blob(const struct server *server, const struct room *own)
{
    json_t *list = json_array();
    for (int i = 0; i < server->rooms; i++) {
        char name[VIEWER_NAME_BYTES];
        viewer_session_name(server->room[i].session, name);
        json_array_append_new(list, json_pack("{s:i, s:s, s:s}", "tab", i, "mode", server->room[i].session->mode->name, "name", name));
    }
    return viewer_blob_json(json_pack("{s:s, s:i, s:o}", "type", "tabs", "tab", (int)(own - server->room), "tabs", list));
}

static void wake(void *user);
static int open_room(struct server *server, const viewer_options *options, char *error, size_t error_bytes)
{
    struct room *room = &server->room[server->rooms];
    if (server->rooms == VIEWER_TABS_MOST) {
        snprintf(error, error_bytes, "%d tabs are open, more cannot be", VIEWER_TABS_MOST);
        return -1;
    }
    if (viewer_session_create(options, wake, server, &room->session, error, error_bytes)) return -1;
    server->rooms++;
    return 0;
}

/* A page opens a tab: the kind of session follows from the file. */
static void open_tab(struct server *server, struct client *c, const char *name)
{
    char error[256] = "";
    viewer_options options = server->options;
    options.mode = viewer_name_is_plain(name) ? viewer_mode_of_path(options.folder, name) : NULL;
    options.file = name;
    if (!options.mode) {
        give_error(c, "a file that no kind of session opens, expected a volume, a mesh or a tile list");
    } else if (open_room(server, &options, error, sizeof error)) {
        give_error(c, error);
    } else {
        for (int i = 0; i < server->rooms; i++)
            for (struct client *page = server->room[i].first; page; page = page->next) give_notice(page, tabs_blob(server, page->room));
    }
}

/* "/socket" is the first tab, "/socket/N" another: NULL where there is none. */
static struct room *room_of(struct server *server, const char *below)
{
    if (strncmp(below, "/socket", 7)) return NULL;
    if (!below[7]) return &server->room[0];
    const int n = below[7] == '/' && below[8] >= '0' && below[8] <= '9' && !below[9] ? below[8] - '0' : VIEWER_TABS_MOST;
    return n < server->rooms ? &server->room[n] : NULL;
}

/* A page that watches gets views of its own (eye) or follows the driver again (0). -1: all are taken. */
static int look_through(struct client *c, int own)
{
    struct room *room = c->room;
    int eye = 0, taken[VIEWER_EYES] = { 1 };
    if (own == (c->eye > 0)) return 0;
    for (const struct client *other = room->first; other; other = other->next) taken[other->eye] = 1;
    if (own)
        while (eye < VIEWER_EYES && taken[eye]) eye++;
    if (eye == VIEWER_EYES) return -1;
    if (c->eye) viewer_session_eye(room->session, c->eye, 0);
    c->eye = eye;
    if (eye) viewer_session_eye(room->session, eye, 1);
    else viewer_session_refresh(room->session);
    for (int v = 0; v < VIEWER_VIEWS; v++) viewer_blob_release(&c->frame[v]);
    return 0;
}

static int admit(struct server *server, struct lws *wsi, struct client *c)
{
    char path[256] = "";
    if (lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) <= 0) return -1;
    const char *below = server_below_token(server, path);
    struct room *room = below ? room_of(server, below) : NULL;
    if (!room) return -1;
    c->wsi = wsi;
    c->room = room;
    if (server->count >= VIEWER_CLIENTS) {
        static const char reason[] = "too many pages";
        unsigned char text[sizeof reason];
        memcpy(text, reason, sizeof reason);
        lws_close_reason(wsi, (enum lws_close_status)1013, text, sizeof reason - 1);
        return -1;
    }
    struct client **last = &room->first;
    while (*last) last = &(*last)->next;
    *last = c;
    c->id = ++server->next_id;
    server->count++;
    room->count++;
    if (!room->driver) room->driver = c->id;
    tell_driver(room);
    if (server->rooms > 1) give_notice(c, tabs_blob(server, room));
    if (room->histogram) give_notice(c, viewer_blob_keep(room->histogram));
    if (room->state) replace(c, &c->state, room->state);
    viewer_session_refresh(room->session); /* there is a picture for it even if nothing moves */
    distribute(server, room);
    return 0;
}

static void dismiss(struct server *server, struct client *c)
{
    struct room *room = c->room;
    if (c->file) close(c->file - 1);
    c->file = 0;
    server_upload_drop(server, c);
    lws_sul_cancel(&c->rest);
    free(c->message);
    c->message = NULL;
    for (int i = 0; i < c->notices; i++) viewer_blob_release(&c->notice[i]);
    c->notices = 0;
    viewer_blob_release(&c->state);
    viewer_blob_release(&c->driver);
    for (int v = 0; v < VIEWER_VIEWS; v++) viewer_blob_release(&c->frame[v]);
    if (!c->id) return;
    struct client **at = &room->first;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) *at = c->next;
    server->count--;
    room->count--;
    look_through(c, 0);
    if (room->driver == c->id) room->driver = room->first ? room->first->id : 0;
    if (room->first && room->driver == room->first->id) look_through(room->first, 0);
    c->id = 0;
    tell_driver(room);
    distribute(server, room);
}

static void act(struct server *server, struct client *c, const char *text, size_t bytes)
{
    viewer_command command;
    struct room *room = c->room;
    char error[256] = "";
    if (viewer_parse(text, bytes, &command, error, sizeof error)) {
        give_error(c, error);
        return;
    }
    switch (command.kind) {
    case VIEWER_SHOWN:
        if (c->flying[command.view] > 0) c->flying[command.view]--;
        distribute(server, room);
        return;
    case VIEWER_PING:
        snprintf(error, sizeof error, "{\"type\":\"pong\",\"id\":%.0f}", command.id);
        give_notice(c, viewer_blob_text(error));
        return;
    case VIEWER_FILES: /* asked again while it waits: one answer */
        c->files = 1;
        lws_callback_on_writable(c->wsi);
        return;
    case VIEWER_TABS: give_notice(c, tabs_blob(server, room)); return;
    case VIEWER_DRIVE:
        look_through(c, 0);
        room->driver = c->id;
        tell_driver(room);
        return;
    case VIEWER_FOLLOW:
        look_through(c, 0);
        distribute(server, room);
        return;
    default:
        if (command.kind == VIEWER_VIEW && room->driver != c->id && !look_through(c, 1)) command.eye = c->eye;
        if (room->driver != c->id && command.kind == VIEWER_VIEW && !command.eye) {
            give_error(c, "as many pages as can have views of their own have them: this one follows the driver");
        } else if (room->driver != c->id && command.kind != VIEWER_ASK && command.kind != VIEWER_VIEW) {
            give_error(c, "another page drives: take the controls first");
        } else if (command.kind == VIEWER_OPEN) {
            open_tab(server, c, command.name);
        } else if (viewer_session_command(room->session, &command, error, sizeof error)) {
            give_error(c, error);
        }
    }
}

static int close_with(struct lws *wsi, enum lws_close_status code)
{
    lws_close_reason(wsi, code, NULL, 0);
    return -1;
}

static void go_on(lws_sorted_usec_list_t *list)
{
    struct client *c = lws_container_of(list, struct client, rest);
    lws_rx_flow_control(c->wsi, 1);
}

/* Who sends more than its share is read more slowly, nothing is lost: its messages wait in its own socket, and the others have their turn. Large
 * messages count for several. */
static void pay(struct client *c, size_t bytes)
{
    double now = viewer_seconds();
    c->spent -= (now - c->since) * RATE;
    c->since = now;
    if (c->spent < 0) c->spent = 0;
    c->spent += 1 + (double)bytes / BYTES_OF_ONE;
    if (c->spent < BURST) return;
    lws_rx_flow_control(c->wsi, 0);
    lws_sul_schedule(lws_get_context(c->wsi), 0, &c->rest, go_on, (lws_usec_t)((c->spent - BURST + SOME) * LWS_US_PER_SEC / RATE));
}

/* RFC 3629: no overlong forms, no halves of pairs, nothing above U+10FFFF. */
static int is_utf8(const unsigned char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        const unsigned c = text[i];
        const size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : n;
        if (more >= n - i) return 0;
        for (size_t k = 1; k <= more; k++)
            if ((text[i + k] & 0xc0) != 0x80) return 0;
        const unsigned second = more ? text[i + 1] : 0;
        if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) || (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f)) return 0;
        i += more + 1;
    }
    return 1;
}

static int take_message(struct server *server, struct lws *wsi, struct client *c, const char *bytes, size_t size)
{
    if (!is_utf8((const unsigned char *)bytes, size)) return close_with(wsi, LWS_CLOSE_STATUS_INVALID_PAYLOAD);
    act(server, c, bytes, size);
    return 0;
}

static int receive(struct server *server, struct lws *wsi, struct client *c, const char *bytes, size_t size)
{
    if (!c->id) return -1;
    if (lws_frame_is_binary(wsi)) return close_with(wsi, LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE);
    if (c->message_bytes + size + lws_remaining_packet_payload(wsi) > VIEWER_MESSAGE_BYTES)
        return close_with(wsi, LWS_CLOSE_STATUS_MESSAGE_TOO_LARGE);
    pay(c, size);
    int whole = lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi);
    if (whole && !c->message_bytes) { return take_message(server, wsi, c, bytes, size); }
    char *grown = (char *)realloc(c->message, c->message_bytes + size + 1);
    if (!grown) return -1;
    memcpy(grown + c->message_bytes, bytes, size);
    c->message = grown;
    c->message_bytes += size;
    if (!whole) return 0;
    size_t total = c->message_bytes;
    c->message = NULL;
    c->message_bytes = 0;
    const int result = take_message(server, wsi, c, grown, total);
    free(grown);
    return result;
}

static viewer_blob *take(viewer_blob **slot)
{
    viewer_blob *blob = *slot;
    *slot = NULL;
    return blob;
}

/* Of the window that waits longest (the one with the oldest picture). */
static viewer_blob *take_picture(struct client *c)
{
    int view = -1;
    for (int v = 0; v < VIEWER_VIEWS; v++)
        if (c->frame[v] && c->flying[v] < FLYING && (view < 0 || c->frame[v]->sequence < c->frame[view]->sequence)) view = v;
    if (view < 0) return NULL;
    c->flying[view]++;
    return take(&c->frame[view]);
}

static viewer_blob *take_one(struct client *c, int what)
{
    viewer_blob *blob = NULL;
    switch (what) {
    case 0: return take(&c->driver);
    case 1:
        if (!c->notices) return NULL;
        blob = c->notice[0];
        memmove(c->notice, c->notice + 1, (size_t)--c->notices * sizeof *c->notice);
        return blob;
    case 2: return take(&c->state);
    case 3: return take_picture(c);
    default:
        if (!c->files) return NULL;
        c->files = 0;
        return viewer_list_files(c->room->session);
    }
}

/* One message. Who drives, texts, the state, pictures and the list of files take turns: a page that asks for much of one gets the others all the same. */
static int send_next(struct server *server, struct lws *wsi, struct client *c)
{
    enum { TURNS = 5 };
    viewer_blob *blob = NULL;
    if (!c->id) return 0;
    for (int i = 0; i < TURNS && !blob; i++) {
        blob = take_one(c, c->turn);
        c->turn = (c->turn + 1) % TURNS;
    }
    if (!blob) return 0;
    int picture = blob->binary;
    int sent = lws_write(wsi, blob->bytes + VIEWER_PAD, blob->size, picture ? LWS_WRITE_BINARY : LWS_WRITE_TEXT);
    viewer_blob_release(&blob);
    if (sent < 0) return -1;
    if (picture) distribute(server, c->room);
    lws_callback_on_writable(wsi);
    return 0;
}

/* A socket is for who knows the token, and for no other server's page. */
static int upgrade(struct server *server, struct lws *wsi)
{
    char path[256], host[512], origin[512];
    if (lws_hdr_copy(wsi, path, sizeof path, WSI_TOKEN_GET_URI) <= 0) return -1;
    const char *below = server_below_token(server, path);
    if (!below || !room_of(server, below)) return -1;
    if (!server_by_own_name(server, wsi) || server_header(wsi, WSI_TOKEN_HOST, host) || server_header(wsi, WSI_TOKEN_ORIGIN, origin) ||
        !viewer_origin_allowed(origin, server->scheme, host, server->allow_origin)) {
        lws_return_http_status(wsi, HTTP_STATUS_FORBIDDEN, NULL);
        return -1;
    }
    return 0;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t size)
{
    struct server *server = (struct server *)lws_context_user(lws_get_context(wsi));
    struct client *c = (struct client *)user;
    switch (reason) {
    case LWS_CALLBACK_HTTP: return server_request(server, wsi, c, (const char *)in);
    case LWS_CALLBACK_HTTP_BODY: return server_upload_more(server, wsi, c, in, size);
    case LWS_CALLBACK_HTTP_BODY_COMPLETION: return server_upload_end(server, wsi, c);
    case LWS_CALLBACK_HTTP_WRITEABLE: return server_send_more(wsi, c);
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: return upgrade(server, wsi);
    case LWS_CALLBACK_ESTABLISHED: return admit(server, wsi, c);
    case LWS_CALLBACK_RECEIVE: return receive(server, wsi, c, (const char *)in, size);
    case LWS_CALLBACK_SERVER_WRITEABLE: return send_next(server, wsi, c);
    case LWS_CALLBACK_CLOSED:
    case LWS_CALLBACK_CLOSED_HTTP:
        if (c) dismiss(server, c);
        return 0;
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        for (int i = 0; server && i < server->rooms; i++) distribute(server, &server->room[i]);
        return 0;
    default: return lws_callback_http_dummy(wsi, reason, user, in, size);
    }
}

/* ---- the server -------------------------------------------------------------------------------------------------------------------------------- */

static void wake(void *user)
{
    struct server *server = (struct server *)user;
    lws_cancel_service(server->lws);
}

static void tick(lws_sorted_usec_list_t *list)
{
    struct server *server = lws_container_of(list, struct server, tick);
    lws_sul_schedule(server->lws, 0, &server->tick, tick, LWS_US_PER_SEC / 4); /* the loop looks at `stop` */
}

static int make_token(const char *given, char token[VIEWER_TOKEN_BYTES])
{
    unsigned char random[16];
    if (given) {
        snprintf(token, VIEWER_TOKEN_BYTES, "%s", given);
        return 0;
    }
    int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    int good = file >= 0 && read(file, random, sizeof random) == (ssize_t)sizeof random;
    if (file >= 0) close(file);
    for (int i = 0; good && i < 16; i++) snprintf(token + 2 * i, 3, "%02x", random[i]);
    return good ? 0 : -1;
}

static const struct lws_protocols protocols[] = {
    { .name = "tessera", .callback = callback, .per_session_data_size = sizeof(struct client), .rx_buffer_size = 16 << 10 }, { 0 }
};
static const lws_retry_bo_t alive = { .secs_since_valid_ping = 15, .secs_since_valid_hangup = 30 }; /* pages that vanished without a word */

/* An address of this machine under which others reach what listens on every interface: IPv4 where there is one, for that works with both. */
static void own_address(char *host, size_t bytes)
{
    struct ifaddrs *all = NULL;
    int best = 0;
    gethostname(host, bytes - 1); /* a machine without a network */
    if (getifaddrs(&all)) return;
    for (const struct ifaddrs *a = all; a; a = a->ifa_next) {
        char text[INET6_ADDRSTRLEN];
        if (!a->ifa_addr || a->ifa_flags & IFF_LOOPBACK || !(a->ifa_flags & IFF_UP)) continue;
        if (a->ifa_addr->sa_family == AF_INET && best < 2) {
            const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)a->ifa_addr;
            if (!inet_ntop(AF_INET, &in->sin_addr, text, sizeof text)) continue;
            snprintf(host, bytes, "%s", text);
            best = 2;
        } else if (a->ifa_addr->sa_family == AF_INET6 && best < 1) {
            const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(const void *)a->ifa_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr) || !inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text)) continue;
            snprintf(host, bytes, "[%s]", text);
            best = 1;
        }
    }
    freeifaddrs(all);
}

static void announce(const struct server *server, const viewer_server_options *o, int port, int everywhere)
{
    char url[400], host[256] = "localhost";
    if (everywhere) own_address(host, sizeof host);
    else snprintf(host, sizeof host, strchr(o->listen, ':') ? "[%s]" : "%s", o->listen);
    snprintf(url, sizeof url, "%s://%s:%d/%s/", server->scheme, host, port, server->token);
    if (o->ready) o->ready(o->user, url, port, server->token);
}

/* A session for each file; one without a file where there is none. */
static int open_all(struct server *server, const viewer_server_options *o, char *error, size_t error_bytes)
{
    viewer_options options = o->session;
    snprintf(server->folder, sizeof server->folder, "%s", options.folder);
    options.folder = server->folder;
    server->options = options;
    if (open_room(server, &options, error, error_bytes)) return -1;
    for (int i = 0; i < o->more_files; i++) {
        options.file = o->more_file[i];
        options.mode = o->more_mode[i];
        if (open_room(server, &options, error, error_bytes)) return -1;
    }
    return 0;
}

int viewer_serve(const viewer_server_options *options, char *error, size_t error_bytes)
{
    struct server server = { .stop = options->stop,
                             .trouble = options->trouble,
                             .user = options->user,
                             .scheme = options->certificate ? "https" : "http",
                             .allow_origin = options->allow_origin };
    struct lws_context_creation_info info;
    viewer_server_options o = *options;
    if (!o.listen) o.listen = "127.0.0.1";
    int everywhere = !strcmp(o.listen, "0.0.0.0") || !strcmp(o.listen, "::"), result = -1;
    if (o.certificate && viewer_tls_check(o.certificate, o.key, error, error_bytes)) return -1;
    if (make_token(o.token, server.token)) {
        snprintf(error, error_bytes, "/dev/urandom cannot be read: give a token with --token");
        return -1;
    }
    gethostname(server.name, sizeof server.name - 1);
    lws_set_log_level(0, NULL);
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | (strchr(o.listen, ':') ? 0 : LWS_SERVER_OPTION_DISABLE_IPV6);
    if (o.certificate) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    info.user = &server;
    info.timeout_secs = 10;
    info.retry_and_idle_policy = &alive;
    server.lws = lws_create_context(&info);
    if (!server.lws) {
        snprintf(error, error_bytes, "libwebsockets cannot start");
        return -1;
    }
    info.port = o.port;
    info.iface = everywhere ? NULL : o.listen;
    info.protocols = protocols;
    info.vhost_name = "tessera";
    info.keepalive_timeout = 5;
    if (o.certificate) viewer_tls_use(o.certificate, o.key, &info);
    struct lws_vhost *vhost = lws_create_vhost(server.lws, &info);
    int port = vhost ? lws_get_vhost_listen_port(vhost) : -1;
    if (port <= 0) snprintf(error, error_bytes, "cannot listen on %s:%d: is the port in use, is this an address of this machine?", o.listen, o.port);
    else if (!open_all(&server, &o, error, error_bytes)) {
        announce(&server, &o, port, everywhere);
        tick(&server.tick);
        while (!(o.stop.report && o.stop.report(o.stop.user, -1, "serving")))
            if (lws_service(server.lws, 0) < 0) break;
        result = 0;
    }
    for (int i = 0; i < server.rooms; i++) viewer_session_stop(server.room[i].session); /* their threads may wake libwebsockets no more */
    lws_context_destroy(server.lws);                                                    /* dismisses the pages */
    for (int i = 0; i < server.rooms; i++) {
        viewer_session_destroy(&server.room[i].session);
        viewer_blob_release(&server.room[i].state);
        viewer_blob_release(&server.room[i].histogram);
    }
    return result;
}
