/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * http.h - sends one request of HTTP by libcurl and receives its answer.
 *
 * Each request has a new connection. If a connection were used for several requests, libcurl could
 * repeat a request that got no answer, and the receiver could store data twice. The functions do
 * not follow redirections, and do not use the proxies that the environment names.
 *
 * An answer may be hostile. Therefore its length is limited, and the caller prints its text only
 * with say(), which escapes the text. One thread uses a handle at a time.
 */
#ifndef POSIXTRACE_FLEET_HTTP_H
#define POSIXTRACE_FLEET_HTTP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

enum http_result {
	HTTP_ANSWERED,  /* the receiver answered, with any status */
	/* there is no connection, or no session of TLS, so the receiver has received nothing */
	HTTP_ABSENT,
	HTTP_UNCERTAIN  /* the receiver may have executed the request, or may still execute it */
};

/* A body in parts, which are sent one after the other. So a large body needs no copy. */
struct http_body {
	struct http_part {
		const void *at;
		size_t len;
	} *part;
	size_t parts, len;            /* number of parts, and length of all parts together */
};

/* A request with the method POST. */
struct http_request {
	const char *url;
	const char *const *header;    /* texts such as "Content-Type: text/plain" */
	size_t headers;
	const char *user, *password;  /* user NULL: no user; password NULL: an empty password */
	const void *body;             /* NULL: the body is "in_parts" */
	size_t len;
	const struct http_body *in_parts;
	unsigned timeout_s;           /* 0: no limit */
	size_t limit;                 /* the greatest length of an answer in bytes */
	/*
	 * An answer must have a length or chunks. Otherwise the end of the connection ends it, and
	 * an answer that was cut looks complete.
	 */
	bool needs_length;
	/* the request ends when *stop is not 0; NULL: nothing stops it */
	volatile sig_atomic_t *stop;
};

#define HTTP_WHAT_BYTES 320

struct http_answer {
	struct bytes *text;           /* belongs to the caller; gets the text and a NUL behind it */
	long status;                  /* 0: there was no answer */
	long retry_after_s;           /* the time for which the receiver asks; 0: none */
	/*
	 * the time was over before the answer was complete, although there was a connection, so the
	 * receiver may have got the request
	 */
	bool is_late;
	char what[HTTP_WHAT_BYTES];   /* if the result is not HTTP_ANSWERED: the reason */
};

/* Returns a handle for requests, or NULL after it printed an error. */
void *http_open(void);
void http_close(void *handle);

/*
 * Sends the request. The caller sets answer->text, and the other members are results. If the text
 * of an error is longer than the limit, the rest is dropped.
 */
enum http_result http_post(void *handle, const struct http_request *request,
			   struct http_answer *answer);

#endif
