/* viewer/origin.h: which pages may speak with the server. A browser says in Origin whose page opens a socket and in Host by what name it was reached; a
 * stranger's page names itself there, and a stranger's name that points to this machine (DNS rebinding) is not one of its own. */
#ifndef TESSERA_VIEWER_ORIGIN_H
#define TESSERA_VIEWER_ORIGIN_H

/* Is `text` a list of origins, scheme://host[:port] with commas between, http or https? NULL is one, of none. */
int viewer_origins_valid(const char *text);

/* May a request come with this Host header? Addresses in numbers, localhost, `own` (the machine's name; NULL: none) and the hosts of `allowed` origins;
 * with any port, for a tunnel has its own. Without the header ("") it may: only scripts leave it out. */
int viewer_host_allowed(const char *host, const char *own, const char *allowed);

/* May a socket be opened with this Origin header? That of the page itself (`scheme`, http or https, of what was asked of `host`), or one of `allowed`.
 * Without the header ("") it may: scripts have none, and browsers never leave it out. */
int viewer_origin_allowed(const char *origin, const char *scheme, const char *host, const char *allowed);

#endif
