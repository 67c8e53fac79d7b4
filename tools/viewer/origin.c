#define _POSIX_C_SOURCE 200809L
#include "origin.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 254 };

static size_t scheme_bytes(const char *origin)
{
    if (!strncasecmp(origin, "http://", 7)) return 7;
    return !strncasecmp(origin, "https://", 8) ? 8 : 0;
}

/* Bytes of the name or address in host[:port], brackets included; 0 if it is none. */
static size_t name_bytes(const char *host, size_t bytes)
{
    size_t n = 0;
    if (bytes && *host == '[') {
        const char *end = (const char *)memchr(host, ']', bytes);
        if (!end) return 0;
        n = (size_t)(end - host) + 1;
    } else {
        while (n < bytes && host[n] != ':') n++;
    }
    size_t port = n;
    if (port < bytes) { /* a colon and digits */
        if (host[port++] != ':' || port == bytes || bytes - port > 5) return 0;
        while (port < bytes && host[port] >= '0' && host[port] <= '9') port++;
        if (port < bytes) return 0;
    }
    return n < NAME_BYTES ? n : 0;
}

static int is_address(const char *name, size_t bytes)
{
    char text[NAME_BYTES + 1];
    unsigned char address[16];
    const size_t bracketed = bytes > 2 && *name == '[';
    memcpy(text, name + bracketed, bytes - 2 * bracketed);
    text[bytes - 2 * bracketed] = 0;
    return inet_pton(bracketed ? AF_INET6 : AF_INET, text, address) == 1;
}

/* Next origin of a list, and its bytes; NULL at the end. */
static const char *next_origin(const char **at, size_t *bytes)
{
    const char *own = *at;
    if (!own) return NULL;
    *bytes = strcspn(own, ",");
    *at = own[*bytes] ? own + *bytes + 1 : NULL;
    return own;
}

int viewer_origins_valid(const char *text)
{
    size_t bytes;
    for (const char *own; (own = next_origin(&text, &bytes));) {
        const size_t scheme = scheme_bytes(own);
        if (!scheme || scheme >= bytes) return 0;
        const char *host = own + scheme;
        const size_t n = name_bytes(host, bytes - scheme);
        if (!n || (*host == '[' && !is_address(host, n))) return 0;
        if (*host != '[' && strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") < n) return 0;
    }
    return 1;
}

static int same_name(const char *a, size_t bytes, const char *b, size_t others) { return bytes == others && !strncasecmp(a, b, bytes); }

int viewer_host_allowed(const char *host, const char *own, const char *allowed)
{
    if (!*host) return 1;
    const size_t n = name_bytes(host, strlen(host));
    if (!n) return 0;
    if (is_address(host, n) || same_name(host, n, "localhost", 9) || (own && *own && same_name(host, n, own, strlen(own)))) return 1;
    size_t bytes;
    for (const char *other; (other = next_origin(&allowed, &bytes));) {
        const size_t scheme = scheme_bytes(other);
        if (same_name(host, n, other + scheme, name_bytes(other + scheme, bytes - scheme))) return 1;
    }
    return 0;
}

int viewer_origin_allowed(const char *origin, const char *scheme, const char *host, const char *allowed)
{
    const size_t n = strlen(origin), s = strlen(scheme);
    if (!n) return 1;
    if (*host && n > s + 3 && !strncasecmp(origin, scheme, s) && !strncmp(origin + s, "://", 3) && !strcasecmp(origin + s + 3, host)) return 1;
    size_t bytes;
    for (const char *other; (other = next_origin(&allowed, &bytes));)
        if (same_name(origin, n, other, bytes)) return 1;
    return 0;
}
