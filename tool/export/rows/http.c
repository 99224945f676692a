/* SPDX-License-Identifier: MIT */
#include "tool/export/rows/http.h"

/* Its checks of types are macros of the functions' names. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "tool/base/late.h"
#include "tool/base/memory.h"

/* Each with its type, as curl.h has it. */
#define FUNCTIONS(each)            \
	each(curl_global_init)     \
	each(curl_easy_init)       \
	each(curl_easy_setopt)     \
	each(curl_easy_perform)    \
	each(curl_easy_getinfo)    \
	each(curl_easy_escape)     \
	each(curl_easy_cleanup)    \
	each(curl_free)            \
	each(curl_slist_append)    \
	each(curl_slist_free_all)

struct http {
	const char *url;
	CURL *curl;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	FUNCTIONS(LATE_MEMBER)
};

const char *http_wrong(const char *url)
{
	const char *host = !strncmp(url, "http://", 7)	  ? url + 7 :
			   !strncmp(url, "https://", 8) ? url + 8 :
							  NULL;

	if (!host || !*host || *host == '/')
		return "it is no http://HOST:PORT/ or https://HOST:PORT/";
	if (memchr(host, '@', strcspn(host, "/?#")) || strstr(host, "password="))
		return "others would see the password: write it into ~/.netrc, or set CLICKHOUSE_USER and "
		       "CLICKHOUSE_PASSWORD";
	return strchr(host, '#') ? "there is a # in it" : NULL;
}

/* ---- libcurl ---- */

#define IN_HTTP(name) LATE_IN(struct http, name)

static const struct late_library libcurl = {
	/* The one that Debian's packages call libcurl4, or that of GnuTLS. */
	.file = (const char *const[]){ "libcurl.so.4", "libcurl-gnutls.so.4", NULL },
	.wanted_by = "--to",
	.name = "libcurl",
	.package = "libcurl4",
	.function = (const struct late_function[]){ FUNCTIONS(IN_HTTP) { 0 } },
};

static size_t take(char *from, size_t size, size_t count, void *user)
{
	struct buffer *answer = user;

	/* What a server says in error is short; a stranger may say anything. */
	if (answer->size + count * size < 64u << 20)
		buffer_bytes(answer, from, size * count);
	return size * count;
}

/* What is the same for all requests. Options that a libcurl does not know are not missed. */
static void set_up(struct http *http)
{
	const char *user = getenv("CLICKHOUSE_USER"), *password = getenv("CLICKHOUSE_PASSWORD");
	const char *authorities = getenv("CURL_CA_BUNDLE");
	CURL *curl = http->curl;

	/* Without the first one libcurl waits a second for the server to allow a large body. */
	http->headers = memory_need(http->curl_slist_append(NULL, "Expect:"));
	http->curl_easy_setopt(curl, CURLOPT_HTTPHEADER, http->headers);
	http->curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->error);
	http->curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	http->curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	/* When a connection that is used again ends without an answer, libcurl repeats the request by itself. */
	http->curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
	http->curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
	http->curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	http->curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
	http->curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
	/* No answer for so long: the connection is taken for dead. */
	http->curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	http->curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, 300L);
	http->curl_easy_setopt(curl, CURLOPT_USERAGENT, "xaudit");
	if (user)
		http->curl_easy_setopt(curl, CURLOPT_USERNAME, user);
	if (password)
		http->curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
	if (authorities)
		http->curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
}

struct http *http_begin(const char *command, const char *url)
{
	struct http *http = memory_zeroed(1, sizeof(*http));

	http->url = url;
	if (!late_open(&libcurl, command, http)) {
		http_end(http);
		return NULL;
	}
	http->curl_global_init(CURL_GLOBAL_DEFAULT);
	http->curl = memory_need(http->curl_easy_init());
	set_up(http);
	return http;
}

void http_end(struct http *http)
{
	if (!http)
		return;
	if (http->curl) {
		http->curl_easy_cleanup(http->curl);
		http->curl_slist_free_all(http->headers);
	}
	free(http);
}

/* ---- requests ---- */

void http_parameter(struct http *http, char **parameters, const char *name, const char *value)
{
	char *escaped = memory_need(http->curl_easy_escape(http->curl, value, 0));
	char *more = memory_format("%s&%s=%s", *parameters ? *parameters : "", name, escaped);

	http->curl_free(escaped);
	free(*parameters);
	*parameters = more;
}

long http_post(struct http *http, const char *parameters, const void *body, size_t size, struct buffer *answer)
{
	/* The first & becomes the ? of an address that has none yet. */
	char *url = memory_format("%s%s%s", http->url, strchr(http->url, '?') ? "&" : "?", parameters + 1);
	long status = 0;
	CURLcode code;

	answer->size = 0;
	*http->error = '\0';
	http->curl_easy_setopt(http->curl, CURLOPT_URL, url);
	http->curl_easy_setopt(http->curl, CURLOPT_POST, 1L);
	http->curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	http->curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, body);
	http->curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, answer);
	code = http->curl_easy_perform(http->curl);
	free(url);
	if (code == CURLE_OK) {
		http->curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	} else {
		answer->size = 0;
		buffer_text(answer, *http->error ? http->error : "the request failed");
	}
	*buffer_room(answer, 1) = '\0';
	return status;
}
