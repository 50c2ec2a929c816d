/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* http.c - sends requests of HTTP by libcurl. */
#include "fleet/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/say.h"
#include "fleet/curl.h"

#define CONNECT_S 5L
/*
 * For how long a looked-up address is used. A host may get another address, and libcurl would use
 * the old one for a minute. A lookup for each request would be too much work for the name servers.
 */
#define ADDRESS_S 5L

/*
 * Receives the bytes of an answer. If the answer has more than "limit" bytes, the rest is dropped
 * and is_over is set.
 */
struct receiver {
	struct bytes *bytes;
	size_t limit;
	bool is_over;
	bool has_length; /* the headers have the length of the answer, or announce chunks */
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

/* The next byte of a body in parts. */
struct sender {
	const struct http_body *body;
	size_t part, at;
};

/* libcurl calls this function for the next bytes of the body. */
static size_t send_bytes(char *to, size_t size, size_t count, void *arg)
{
	struct sender *sender = arg;
	const size_t room = size * count;
	size_t used = 0;

	while (used < room && sender->part < sender->body->parts) {
		const struct http_part *part = &sender->body->part[sender->part];
		const size_t left = part->len - sender->at,
			     len = left < room - used ? left : room - used;

		if (len)
			memcpy(to + used, (const char *)part->at + sender->at, len);
		used += len;
		sender->at += len;
		if (sender->at == part->len) {
			sender->part++;
			sender->at = 0;
		}
	}
	return used;
}

/* libcurl calls this function if it must send the body again, for example with a password. */
static int seek_bytes(void *arg, curl_off_t offset, int origin)
{
	struct sender *sender = arg;

	if (offset || origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	sender->part = sender->at = 0;
	return CURL_SEEKFUNC_OK;
}

/* Returns whether the header has this name, which ends with a colon. */
static bool is_header(const char *header, size_t len, const char *name)
{
	return len >= strlen(name) && !strncasecmp(header, name, strlen(name));
}

/* libcurl calls this function for each header, and for the line with the status. */
static size_t receive_header(char *header, size_t size, size_t count, void *arg)
{
	struct receiver *receiver = arg;
	size_t len = size * count;

	/* A preliminary answer such as "100 Continue" may precede the answer. */
	if (is_header(header, len, "HTTP/"))
		receiver->has_length = false;
	receiver->has_length |= is_header(header, len, "Content-Length:") ||
				is_header(header, len, "Transfer-Encoding:");
	return len;
}

/*
 * libcurl calls this function once a second, and when it sends or receives bytes. If the result is
 * not 0, libcurl ends the request.
 */
static int is_stopped(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct http_request *request = arg;

	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return request->stop && *request->stop;
}

void *http_open(void)
{
	void *handle = NULL;

	if (!curl_load())
		return NULL;
	if (!curl_call.global_init(CURL_GLOBAL_DEFAULT))
		handle = curl_call.easy_init();
	if (!handle)
		say("%s", strerror(ENOMEM));
	return handle;
}

void http_close(void *handle)
{
	if (handle)
		curl_call.easy_cleanup(handle);
}

/*
 * Appends a header to the list. If memory is lacking, returns false and leaves the list as it is.
 */
static bool add_header(struct curl_slist **list, const char *text)
{
	struct curl_slist *more = curl_call.slist_append(*list, text);

	if (more)
		*list = more;
	return more;
}

static void set_options(CURL *curl, const struct http_request *request, struct curl_slist *headers,
			struct sender *sender, struct receiver *receiver)
{
	const size_t len = request->body ? request->len : request->in_parts->len;

	curl_call.easy_reset(curl);
	curl_call.easy_setopt(curl, CURLOPT_URL, request->url);
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
	curl_call.easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, ADDRESS_S);
	curl_call.easy_setopt(curl, CURLOPT_TIMEOUT, (long)request->timeout_s);
	curl_call.easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	if (request->user) {
		curl_call.easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_call.easy_setopt(curl, CURLOPT_USERNAME, request->user);
		curl_call.easy_setopt(curl, CURLOPT_PASSWORD,
				      request->password ? request->password : "");
	}
	curl_call.easy_setopt(curl, CURLOPT_POST, 1L);
	if (request->body) {
		curl_call.easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
	} else {
		curl_call.easy_setopt(curl, CURLOPT_READFUNCTION, send_bytes);
		curl_call.easy_setopt(curl, CURLOPT_READDATA, sender);
		curl_call.easy_setopt(curl, CURLOPT_SEEKFUNCTION, seek_bytes);
		curl_call.easy_setopt(curl, CURLOPT_SEEKDATA, sender);
	}
	curl_call.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	curl_call.easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive_bytes);
	curl_call.easy_setopt(curl, CURLOPT_WRITEDATA, receiver);
	curl_call.easy_setopt(curl, CURLOPT_HEADERFUNCTION, receive_header);
	curl_call.easy_setopt(curl, CURLOPT_HEADERDATA, receiver);
	curl_call.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_call.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_stopped);
	curl_call.easy_setopt(curl, CURLOPT_XFERINFODATA, request);
}

/*
 * Removes the time from a text of libcurl such as "Failed to connect to HOST port 1 after 12 ms:
 * ...". So a failure that repeats has the same text, and the caller can print this text only once.
 */
static void remove_time(char *text)
{
	char *after = strstr(text, " after "), *unit;

	if (!after)
		return;
	unit = after + strlen(" after ");
	unit += strspn(unit, "0123456789");
	if (!strncmp(unit, " milliseconds", strlen(" milliseconds")))
		unit += strlen(" milliseconds");
	else if (!strncmp(unit, " ms", strlen(" ms")))
		unit += strlen(" ms");
	else
		return;
	memmove(after, unit, strlen(unit) + 1);
}

/*
 * Returns whether the error occurred before a byte of the request was sent: there is no connection,
 * or no session of TLS, for example because the certificate is wrong.
 */
static bool is_unsent(CURLcode err)
{
	return err == CURLE_COULDNT_CONNECT || err == CURLE_COULDNT_RESOLVE_HOST ||
	       err == CURLE_SSL_CONNECT_ERROR || err == CURLE_PEER_FAILED_VERIFICATION ||
	       err == CURLE_SSL_CACERT_BADFILE || err == CURLE_SSL_CIPHER ||
	       err == CURLE_SSL_ISSUER_ERROR;
}

/*
 * Returns whether the receiver may have got bytes of the request: there was a connection, and for
 * https also a session of TLS. libcurl reports the same error if there is no connection or session
 * within CONNECT_S, and if there is no answer within timeout_s. libcurl sets APPCONNECT_TIME only
 * for a new connection, and CURLOPT_FRESH_CONNECT makes each connection new.
 */
static bool was_connected(CURL *curl, const struct http_request *request)
{
	const bool is_secure = !strncmp(request->url, "https:", strlen("https:"));
	double ready_s = 0;

	return !curl_call.easy_getinfo(curl, is_secure ? CURLINFO_APPCONNECT_TIME
						       : CURLINFO_CONNECT_TIME, &ready_s) &&
	       ready_s > 0;
}

/*
 * An answer that was cut does not count as an answer. The exception is an error whose text was too
 * long, because the status of an error is valid without the whole text.
 */
static enum http_result perform_request(CURL *curl, const struct http_request *request,
					const struct receiver *receiver, struct http_answer *answer)
{
	char buffer[CURL_ERROR_SIZE + 64] = "";
	curl_off_t pause_s = 0;
	bool lacks_length;
	CURLcode err;

	curl_call.easy_setopt(curl, CURLOPT_ERRORBUFFER, buffer);
	err = curl_call.easy_perform(curl);
	curl_call.easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
	remove_time(buffer);
	/* A NUL is added behind the answer, because some answers are read as strings. */
	bytes_add(answer->text, "", 1);
	answer->text->used -= !answer->text->failed;
	curl_call.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
	if (!curl_call.easy_getinfo(curl, CURLINFO_RETRY_AFTER, &pause_s) && pause_s > 0)
		answer->retry_after_s = (long)pause_s;
	lacks_length = !err && request->needs_length && !receiver->has_length &&
		       answer->status == 200;
	if (lacks_length)
		snprintf(answer->what, sizeof(answer->what),
			 "the answer has no length, so it may be cut: use a proxy that sends "
			 "Content-Length or chunks, or none");
	else if (receiver->is_over && answer->status == 200)
		snprintf(answer->what, sizeof(answer->what),
			 "the answer is longer than %zu bytes", receiver->limit);
	else if (answer->text->failed)
		snprintf(answer->what, sizeof(answer->what), "%s", strerror(ENOMEM));
	else if (err)
		snprintf(answer->what, sizeof(answer->what), "%s%s",
			 *buffer ? buffer : curl_call.easy_strerror(err),
			 err == CURLE_SSL_CONNECT_ERROR
				 ? "; for a port without TLS use clickhouse:// or otlp://"
				 : "");
	answer->is_late = err == CURLE_OPERATION_TIMEDOUT && was_connected(curl, request);
	if (lacks_length || answer->text->failed)
		return HTTP_UNCERTAIN;
	if (!err || (answer->status != 200 && answer->status && receiver->is_over))
		return HTTP_ANSWERED;
	return is_unsent(err) || (err == CURLE_OPERATION_TIMEDOUT && !answer->is_late)
		       ? HTTP_ABSENT : HTTP_UNCERTAIN;
}

enum http_result http_post(void *handle, const struct http_request *request,
			   struct http_answer *answer)
{
	struct receiver receiver = { .bytes = answer->text, .limit = request->limit };
	struct sender sender = { .body = request->in_parts };
	struct curl_slist *headers = NULL;
	enum http_result result = HTTP_ABSENT;
	/*
	 * The empty header "Expect:" prevents libcurl from waiting up to a second for the
	 * receiver's permission to send the body.
	 */
	bool good = add_header(&headers, "Expect:");

	for (size_t i = 0; good && i < request->headers; i++)
		good = add_header(&headers, request->header[i]);
	answer->text->used = 0;
	answer->text->failed = false;
	answer->status = answer->retry_after_s = 0;
	answer->is_late = false;
	*answer->what = '\0';
	if (good) {
		set_options(handle, request, headers, &sender, &receiver);
		result = perform_request(handle, request, &receiver, answer);
	} else {
		snprintf(answer->what, sizeof(answer->what), "%s", strerror(ENOMEM));
	}
	curl_call.slist_free_all(headers);
	return result;
}
