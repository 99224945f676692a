/* SPDX-License-Identifier: MIT */
/*
 * Requests over HTTP, by libcurl, which is opened when it is needed: to link it would cost every command 4 ms at its
 * start, for it brings 30 libraries. TLS, proxies and ~/.netrc are libcurl's. One thread.
 *
 * Nobody else on the machine may see a password: so it comes from ~/.netrc, or from CLICKHOUSE_USER and
 * CLICKHOUSE_PASSWORD, never from the command line.
 *
 * A request is sent once, over a connection of its own: who calls knows what it means to repeat it.
 */
#ifndef XAUDIT_TOOL_EXPORT_ROWS_HTTP_H
#define XAUDIT_TOOL_EXPORT_ROWS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/export/rows/buffer.h"

struct http;

/* May this be an address? Else NULL is not returned, but why not: a phrase, as "it has no http://". */
const char *http_wrong(const char *url);

/* Begins. NULL after a line, for `command`. */
struct http *http_begin(const char *command, const char *url);
void http_end(struct http *http);

/*
 * Adds &NAME=VALUE to a list of parameters, which the caller frees; *parameters is NULL, or such a list.
 */
void http_parameter(struct http *http, char **parameters, const char *name, const char *value);

/*
 * Sends a body by POST, with these parameters behind the address, and waits for the answer, which replaces what is in
 * `answer`, and ends with a NUL that its size does not count. Returns the status that the server gave, or 0: there was
 * none, and the answer says why.
 */
long http_post(struct http *http, const char *parameters, const void *body, size_t size, struct buffer *answer);

#endif
