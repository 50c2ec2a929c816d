/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* server.c - sends requests over HTTP, and reads the values of their answers. */
#include "fleet/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "fleet/curl.h"

#define CONNECT_S 5L

/*
 * Receives the bytes of an answer. If there are more than limit bytes, the rest is dropped and
 * is_over is set.
 */
struct receiver {
	struct bytes *bytes;
	size_t limit;
	bool is_over;
};

static size_t receive_bytes(char *bytes, size_t size, size_t count, void *arg)
{
	struct receiver *receiver = arg;
	size_t len = size * count;

	if (len > receiver->limit - receiver->bytes->used) {
		receiver->is_over = true;
		len = receiver->limit - receiver->bytes->used;
		bytes_add(receiver->bytes, bytes, len);
		return 0; /* this result ends the transfer */
	}
	bytes_add(receiver->bytes, bytes, len);
	return receiver->bytes->failed ? 0 : size * count;
}

/*
 * libcurl calls this function once a second, and when it sends or receives bytes. If the result is
 * not 0, libcurl ends the request.
 */
static int is_stopped(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct server *server = arg;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return server->stop && *server->stop;
}

bool server_init(struct server *server, const struct address *address)
{
	memset(server, 0, sizeof(*server));
	server->address = *address;
	server->timeout_s = 60;
	if (curl_load()) {
		if (!curl_call.global_init(CURL_GLOBAL_DEFAULT))
			server->curl = curl_call.easy_init();
		if (server->curl)
			return true;
		say("%s", strerror(ENOMEM));
	}
	address_free(&server->address);
	return false;
}

void server_free(struct server *server)
{
	if (server->curl)
		curl_call.easy_cleanup(server->curl);
	bytes_free(&server->answer);
	address_free(&server->address);
	memset(server, 0, sizeof(*server));
}

void server_next_host(struct server *server)
{
	server->host = (server->host + 1) % server->address.hosts;
}

/* Appends "http://HOST:PORT/". It contains no password, so messages use it, too. */
static void put_base(const struct server *server, struct bytes *url)
{
	bytes_printf(url, "%s://%s:%s/", server->address.is_secure ? "https" : "http",
		     server->address.host[server->host].name,
		     server->address.host[server->host].port);
}

/*
 * Makes the URL of a request. If the request has a body, the statement is a parameter of the URL;
 * otherwise the statement is the body. With wait_end_of_query the server sends the status only when
 * it has the whole answer. So an answer with the status 200 never contains an error.
 */
static bool put_url(const struct server *server, const char *sql, bool has_body,
		    struct bytes *url)
{
	char *escaped = has_body ? curl_call.easy_escape(server->curl, sql, 0) : NULL;

	put_base(server, url);
	bytes_str(url, "?wait_end_of_query=1");
	if (server->has_database)
		bytes_printf(url, "&database=%s", server->address.database);
	if (escaped) {
		bytes_str(url, "&query=");
		bytes_str(url, escaped);
	}
	bytes_add(url, "", 1);
	curl_call.free(escaped);
	return !url->failed && (!has_body || escaped);
}

/*
 * Appends a header to the list. If memory is lacking, returns false and leaves the list as it is.
 */
static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
	char text[512];
	struct curl_slist *more;

	snprintf(text, sizeof(text), "%s: %s", name, value);
	more = curl_call.slist_append(*list, text);
	if (more)
		*list = more;
	return more;
}

static void set_options(const struct server *server, const char *url, const char *sql,
			const struct bytes *body, struct curl_slist *headers,
			struct receiver *receiver)
{
	CURL *curl = server->curl;

	curl_call.easy_reset(curl);
	curl_call.easy_setopt(curl, CURLOPT_URL, url);
	curl_call.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_call.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_call.easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_call.easy_setopt(curl, CURLOPT_PROXY, "");
	curl_call.easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_call.easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
	curl_call.easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
	curl_call.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
	curl_call.easy_setopt(curl, CURLOPT_TIMEOUT, (long)server->timeout_s);
	curl_call.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	if (server->address.user) {
		curl_call.easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_call.easy_setopt(curl, CURLOPT_USERNAME, server->address.user);
		curl_call.easy_setopt(curl, CURLOPT_PASSWORD,
				 server->address.password ? server->address.password : "");
	}
	curl_call.easy_setopt(curl, CURLOPT_POST, 1L);
	curl_call.easy_setopt(curl, CURLOPT_POSTFIELDS, body ? body->at : sql);
	curl_call.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
			 (curl_off_t)(body ? body->used : strlen(sql)));
	curl_call.easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_bytes);
	curl_call.easy_setopt(curl, CURLOPT_WRITEDATA, receiver);
	curl_call.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_call.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_stopped);
	curl_call.easy_setopt(curl, CURLOPT_XFERINFODATA, server);
}

/* Sets the reason of a failure. It contains the first line of the server's text. */
static void set_reason(struct server *server, const char *sql, const char *what, long status)
{
	struct bytes base = { .at = NULL };
	const char *text = server->answer.used ? server->answer.at : "no reason";
	size_t len = strcspn(text, "\n");
	int verb = (int)strcspn(sql, "(");

	put_base(server, &base);
	bytes_add(&base, "", 1);
	if (verb > 60)
		verb = 60;
	if (status)
		snprintf(server->reason, sizeof(server->reason), "%s: %.*s: status %ld: %.*s",
			 base.failed ? "" : base.at, verb, sql, status,
			 (int)(len < 500 ? len : 500), text);
	else
		snprintf(server->reason, sizeof(server->reason), "%s: %.*s: %s",
			 base.failed ? "" : base.at, verb, sql, what);
	bytes_free(&base);
}

/*
 * Returns whether the error would occur again if the request were repeated. Such errors concern the
 * access or the statement. They are recognised by the status, or by ClickHouse's code at the begin
 * of the answer.
 */
static bool is_refusal(const struct server *server, long status)
{
	static const int codes[] = { 47, 62, 115, 164, 192, 193, 194, 195, 291, 497, 516 };
	int code = 0;

	if (status == 401 || status == 403)
		return true;
	if (!server->answer.used || sscanf(server->answer.at, "Code: %d", &code) != 1)
		return false;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i] == code)
			return true;
	return false;
}

static enum server_result perform_request(struct server *server, const char *sql,
					  const struct receiver *receiver)
{
	char what[CURL_ERROR_SIZE + 64] = "";
	long status = 0;
	CURLcode err;

	curl_call.easy_setopt(server->curl, CURLOPT_ERRORBUFFER, what);
	err = curl_call.easy_perform(server->curl);
	curl_call.easy_setopt(server->curl, CURLOPT_ERRORBUFFER, NULL);
	/* A NUL is added behind the answer, because some answers are read as strings. */
	bytes_add(&server->answer, "", 1);
	server->answer.used -= !server->answer.failed;
	curl_call.easy_getinfo(server->curl, CURLINFO_RESPONSE_CODE, &status);
	if (receiver->is_over && status == 200)
		snprintf(what, sizeof(what), "the answer is longer than %zu bytes",
			 receiver->limit);
	else if (server->answer.failed)
		snprintf(what, sizeof(what), "%s", strerror(ENOMEM));
	else if (err && !*what)
		snprintf(what, sizeof(what), "%s", curl_call.easy_strerror(err));
	if (err && (status == 200 || !status || !receiver->is_over)) {
		set_reason(server, sql, what, 0);
		return err == CURLE_COULDNT_CONNECT || err == CURLE_COULDNT_RESOLVE_HOST ?
			       SERVER_ABSENT : SERVER_UNCERTAIN;
	}
	if (status == 200)
		return SERVER_OK;
	set_reason(server, sql, what, status);
	return is_refusal(server, status) ? SERVER_REFUSED : SERVER_WRONG;
}

enum server_result server_request(struct server *server, const char *sql, const struct bytes *body,
				  size_t limit)
{
	struct receiver receiver = { .bytes = &server->answer, .limit = limit };
	struct curl_slist *headers = NULL;
	struct bytes url = { .at = NULL };
	enum server_result result = SERVER_ABSENT;
	/*
	 * The empty header "Expect:" prevents that libcurl waits up to a second for the server's
	 * permission to send the body.
	 */
	bool good = add_header(&headers, "Expect", "") &&
		    add_header(&headers, "Content-Type", "application/octet-stream");

	good = good && put_url(server, sql, body, &url);
	server->answer.used = 0;
	server->answer.failed = false;
	if (good) {
		set_options(server, url.at, sql, body, headers, &receiver);
		result = perform_request(server, sql, &receiver);
	} else {
		snprintf(server->reason, sizeof(server->reason), "%s", strerror(ENOMEM));
	}
	curl_call.slist_free_all(headers);
	bytes_free(&url);
	return result;
}

/* ------------------------------------------------------------------ answers */

bool server_get_u8(const struct bytes *answer, size_t *at, uint8_t *value)
{
	if (answer->used - *at < sizeof(*value))
		return false;
	*value = (uint8_t)answer->at[(*at)++];
	return true;
}

bool server_get_u64(const struct bytes *answer, size_t *at, uint64_t *value)
{
	if (answer->used - *at < sizeof(*value))
		return false;
	memcpy(value, answer->at + *at, sizeof(*value));
	*at += sizeof(*value);
	return true;
}

bool server_get_text(const struct bytes *answer, size_t *at, const char **text, size_t *len)
{
	uint64_t bytes = 0;
	uint8_t digit;

	for (unsigned shift = 0;; shift += 7) {
		if (shift > 56 || !server_get_u8(answer, at, &digit))
			return false;
		bytes |= (uint64_t)(digit & 127) << shift;
		if (!(digit & 128))
			break;
	}
	if (bytes > answer->used - *at)
		return false;
	*text = answer->at + *at;
	*len = (size_t)bytes;
	*at += (size_t)bytes;
	return true;
}
