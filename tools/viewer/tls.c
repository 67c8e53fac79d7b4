/* viewer/tls.c: certificate and key of a server. libwebsockets serves without TLS where it cannot read the files and says little where it dislikes them:
 * they are looked at here, with the calls that it will use. */
#define _POSIX_C_SOURCE 200809L
#include "server.h"

#include <libwebsockets.h>

#if defined(TSR_HAVE_OPENSSL) && defined(LWS_WITH_TLS) && !defined(LWS_WITH_MBEDTLS)
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read more than once: no pipe. */
static int readable(const char *path, char *error, size_t error_bytes)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        snprintf(error, error_bytes, "%s: cannot be read: %s", path, strerror(errno));
        return -1;
    }
    int plain = !fstat(file, &about) && S_ISREG(about.st_mode);
    close(file);
    if (plain) return 0;
    snprintf(error, error_bytes, "%s: is a folder, pipe or device, expected a PEM file", path);
    return -1;
}

/* Nobody is asked for a password: a server has no one to ask. */
static int no_password(char *to, int bytes, int writing, void *user)
{
    (void)writing;
    (void)user;
    if (bytes > 0) *to = 0;
    return -1;
}

static int refuse(const char *path, const char *what, char *error, size_t error_bytes)
{
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    snprintf(error, error_bytes, "%s: expected %s%s%s", path, what, reason ? ": " : "", reason ? reason : "");
    return -1;
}

static int check(SSL_CTX *pair, SSL_CTX *alone, const char *certificate, const char *key, char *error, size_t error_bytes)
{
    SSL_CTX_set_default_passwd_cb(pair, no_password);
    SSL_CTX_set_default_passwd_cb(alone, no_password);
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(pair, certificate) != 1)
        return refuse(certificate, "a certificate, with its chain, as PEM", error, error_bytes);
    if (SSL_CTX_use_PrivateKey_file(alone, key, SSL_FILETYPE_PEM) != 1)
        return refuse(key, "a private key without a password as PEM", error, error_bytes);
    if (SSL_CTX_use_PrivateKey_file(pair, key, SSL_FILETYPE_PEM) == 1 && SSL_CTX_check_private_key(pair) == 1) return 0;
    snprintf(error, error_bytes, "%s: is not the private key of the certificate %s", key, certificate);
    return -1;
}

int viewer_tls_check(const char *certificate, const char *key, char *error, size_t error_bytes)
{
    if (readable(certificate, error, error_bytes) || readable(key, error, error_bytes)) return -1;
    SSL_CTX *pair = SSL_CTX_new(TLS_server_method()), *alone = SSL_CTX_new(TLS_server_method());
    int result = -1;
    if (pair && alone) result = check(pair, alone, certificate, key, error, error_bytes);
    else snprintf(error, error_bytes, "OpenSSL cannot start");
    SSL_CTX_free(pair);
    SSL_CTX_free(alone);
    ERR_clear_error();
    return result;
}

void viewer_tls_use(const char *certificate, const char *key, struct lws_context_creation_info *vhost)
{
    vhost->ssl_cert_filepath = certificate;
    vhost->ssl_private_key_filepath = key;
    vhost->ssl_options_set = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1 | SSL_OP_NO_RENEGOTIATION;
    vhost->alpn = "http/1.1"; /* a page's socket is one of its own */
}
#else
int viewer_tls_check(const char *certificate, const char *key, char *error, size_t error_bytes)
{
    (void)key;
    snprintf(error, error_bytes, "%s: this build has no TLS: it was configured without OpenSSL, or libwebsockets without it", certificate);
    return -1;
}

void viewer_tls_use(const char *certificate, const char *key, struct lws_context_creation_info *vhost)
{
    (void)certificate;
    (void)key;
    (void)vhost;
}
#endif
