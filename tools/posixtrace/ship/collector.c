/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* collector.c - the address of a collector of OpenTelemetry, and requests to it. */
#include "ship/collector.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"
#include "fleet/address.h"
#include "fleet/http.h"
#include "fleet/server.h"
#include "ship/gzip.h"

#define OTLP_PORT    "4318"
#define ENVIRONMENT  "OTEL_EXPORTER_OTLP_HEADERS"
#define ANSWER_MOST  65536
#define PAUSE_MOST_S 3600
#define MESSAGE_MOST 500 /* greatest number of bytes of a collector's text that are printed */

static const struct {
	const char *name;
	bool is_secure;
	const char *port; /* NULL: the port of HTTP or HTTPS */
} schemes[] = {
	{ "otlp://", false, OTLP_PORT }, { "otlps://", true, OTLP_PORT },
	{ "http://", false, NULL }, { "https://", true, NULL },
};

static const char *const signal_names[OTLP_SIGNALS] = {
	[OTLP_TRACES] = "traces", [OTLP_LOGS] = "logs",
};

/* ------------------------------------------------------------------ the address */

static int find_scheme(const char *text)
{
	for (int i = 0; i < (int)(sizeof(schemes) / sizeof(schemes[0])); i++)
		if (!strncmp(text, schemes[i].name, strlen(schemes[i].name)))
			return i;
	return -1;
}

bool collector_is(const char *text)
{
	return find_scheme(text) >= 0;
}

/* Returns whether the path has only characters of a URL, no query and no fragment. */
static bool is_path(const char *path)
{
	for (const char *p = path; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/-._~%!$&'()*+,;=:@", *p))
			return false;
	return true;
}

/* Removes slashes at the end of the path, so that PATH/ and PATH are equal. */
static void cut_slashes(char *path)
{
	size_t len = strlen(path);

	while (len && path[len - 1] == '/')
		path[--len] = '\0';
}

/*
 * Parses the part of the URL behind the scheme. Returns NULL, or the reason why this part is wrong.
 */
static const char *parse_rest(struct collector *collector, char *text)
{
	char *slash = strchr(text, '/');
	const char *wrong;

	/*
	 * The NUL behind the host replaces the first slash of the path. make_urls() adds the slash
	 * again.
	 */
	if (slash)
		*slash++ = '\0';
	collector->path = slash ? slash : text + strlen(text);
	cut_slashes(collector->path);
	if (!is_path(collector->path))
		return "a path has no query, no fragment and no blank";
	wrong = address_user(&text, &collector->user, &collector->password);
	return wrong ? wrong : address_host(text, &collector->host, &collector->port);
}

static bool make_urls(struct collector *collector)
{
	for (int i = 0; i < OTLP_SIGNALS; i++)
		if (asprintf(&collector->url[i], "%s://%s%s%s%s%s/v1/%s",
			     collector->is_secure ? "https" : "http", collector->host,
			     collector->port ? ":" : "", collector->port ? collector->port : "",
			     *collector->path ? "/" : "", collector->path, signal_names[i]) < 0) {
			collector->url[i] = NULL;
			return false;
		}
	return true;
}

bool collector_parse(struct collector *collector, const char *option, const char *text)
{
	int scheme = find_scheme(text);
	const char *wrong = "write otlp://HOST[:PORT][/PATH]";

	if (scheme >= 0) {
		collector->is_secure = schemes[scheme].is_secure;
		collector->text = strdup(text + strlen(schemes[scheme].name));
		wrong = collector->text ? parse_rest(collector, collector->text) : strerror(ENOMEM);
	}
	if (!wrong && !collector->port)
		collector->port = schemes[scheme].port;
	if (!wrong && !make_urls(collector))
		wrong = strerror(ENOMEM);
	/* The URL may contain a password, so the message does not repeat it. */
	if (wrong)
		say("%s: %s", option, wrong);
	return !wrong;
}

uint64_t collector_number(const struct collector *collector)
{
	uint64_t hash = hash_bytes(HASH_BEGIN, "otlp", 4);

	return hash_bytes(hash, collector->url[0], strlen(collector->url[0]));
}

bool collector_open(struct collector *collector)
{
	collector->handle = http_open();
	return collector->handle;
}

void collector_free(struct collector *collector)
{
	http_close(collector->handle);
	for (int i = 0; i < OTLP_SIGNALS; i++)
		free(collector->url[i]);
	for (size_t i = 0; i < collector->headers; i++)
		free(collector->header[i]);
	free(collector->header);
	free(collector->text);
	bytes_free(&collector->answer);
	bytes_free(&collector->body);
	memset(collector, 0, sizeof(*collector));
}

/* ------------------------------------------------------------------ headers */

/*
 * Adds the text, whose memory then belongs to the collector. If memory is lacking, frees the text
 * and returns false.
 */
static bool add_header(struct collector *collector, char *text)
{
	if (text && vec_grow(&collector->header, collector->headers, 1)) {
		collector->header[collector->headers++] = text;
		return true;
	}
	free(text);
	say("%s", strerror(ENOMEM));
	return false;
}

/* Returns whether the text is a name as in RFC 9110, a colon, and no control character. */
static bool is_header(const char *text)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]) ||
	       (text[len] && strchr("!#$%&'*+-.^_`|~", text[len])))
		len++;
	if (!len || text[len] != ':')
		return false;
	for (const char *p = text; *p; p++)
		if (iscntrl((unsigned char)*p) && *p != '\t')
			return false;
	return true;
}

/* The value may be a secret, so messages do not repeat it. */
bool collector_header(struct collector *collector, const char *option, const char *text)
{
	if (is_header(text))
		return add_header(collector, strdup(text));
	say("%s: write 'NAME: VALUE'", option);
	return false;
}

/* Replaces each %XX by its byte, in place. */
static void decode_percent(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		char digits[3] = "";

		if (*p == '%' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
			memcpy(digits, p + 1, 2);
			*to++ = (char)strtoul(digits, NULL, 16);
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* Adds the header for one name=value. Changes the text. */
static bool add_pair(struct collector *collector, char *pair)
{
	char *value, *text = NULL;
	bool good;

	pair += strspn(pair, " \t");
	value = strchr(pair, '=');
	if (!*pair)
		return true;
	if (value) {
		*value++ = '\0';
		decode_percent(value);
		pair[strcspn(pair, " \t")] = '\0';
		if (asprintf(&text, "%s: %s", pair, value) < 0)
			text = NULL;
	}
	good = !value || text;
	if (!good)
		say("%s", strerror(ENOMEM));
	else if (!text || !is_header(text))
		say(ENVIRONMENT ": write NAME=VALUE,NAME=VALUE");
	else
		return add_header(collector, text);
	free(text);
	return false;
}

bool collector_environment(struct collector *collector)
{
	const char *list = getenv(ENVIRONMENT);
	char *copy = strdup(list ? list : ""), *pair, *more = copy;
	bool good = copy;

	if (!copy)
		say("%s", strerror(ENOMEM));
	while (good && (pair = strsep(&more, ",")))
		good = add_pair(collector, pair);
	free(copy);
	return good;
}

/* ------------------------------------------------------------------ answers */

/* A member of a message that a collector sends: a number, or the place of bytes. */
struct answer_member {
	unsigned field;
	uint64_t value;
	const char *bytes;
	size_t len;
};

/* Reads the next member. Returns false at the end, or if the message is wrong. */
static bool next_member(const struct bytes *message, size_t *at, struct answer_member *member)
{
	uint64_t tag;

	*member = (struct answer_member){ .bytes = "" };
	if (!server_get_varint(message, at, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return false;
	member->field = (unsigned)(tag >> 3);
	if ((tag & 7) == 0)
		return server_get_varint(message, at, &member->value);
	return (tag & 7) == 2 && server_get_text(message, at, &member->bytes, &member->len);
}

/* Returns the bytes of a member as a message, which the caller must not change. */
static struct bytes inner_message(const struct answer_member *member)
{
	return (struct bytes){ .at = (char *)(uintptr_t)member->bytes, .used = member->len };
}

/*
 * Finds the members of a Status of RPC (message: 2), or of a partial success (rejected: 1,
 * error_message: 2). Returns whether all bytes of the message have this form.
 */
static bool find_message(const struct bytes *message, uint64_t *rejected, const char **text,
			 size_t *len)
{
	struct answer_member member;
	size_t at = 0;

	*rejected = *len = 0;
	while (next_member(message, &at, &member))
		if (member.field == 1) {
			*rejected = member.value;
		} else if (member.field == 2) {
			*text = member.bytes;
			*len = member.len;
		}
	return at == message->used;
}

/*
 * Stores in "reason" why a request failed: the address, and the status with the collector's text.
 * If the answer is incomplete, "reason" has the error of the transfer in place of status and text.
 */
static void put_reason(const struct collector *collector, enum otlp_signal signal,
		       enum http_result result, const struct http_answer *answer,
		       char reason[RETRY_REASON_BYTES])
{
	const char *text = "";
	uint64_t code;
	size_t len;

	if (result != HTTP_ANSWERED) {
		snprintf(reason, RETRY_REASON_BYTES, "%s: %s", collector->url[signal],
			 answer->what);
		return;
	}
	if (!find_message(&collector->answer, &code, &text, &len) || !len) {
		text = collector->answer.used ? collector->answer.at : "no reason";
		len = strcspn(text, "\r\n");
	}
	if (len > MESSAGE_MOST)
		len = MESSAGE_MOST;
	snprintf(reason, RETRY_REASON_BYTES, "%s: status %ld: %.*s", collector->url[signal],
		 answer->status, (int)len, text);
}

/*
 * The collector has accepted the request, but may have rejected some of its records. Rejected
 * records are not sent again, because the collector would reject them again.
 */
static void read_success(struct collector *collector, enum otlp_signal signal, uint64_t records,
			 uint64_t *rejected)
{
	struct answer_member member;
	struct bytes inner;
	const char *text = "";
	size_t at = 0, len = 0;

	*rejected = 0;
	while (next_member(&collector->answer, &at, &member)) {
		if (member.field != 1)
			continue;
		inner = inner_message(&member);
		find_message(&inner, rejected, &text, &len);
	}
	if (*rejected > records)
		*rejected = records;
	if (len > MESSAGE_MOST)
		len = MESSAGE_MOST;
	if (*rejected)
		say("%s: %" PRIu64 " of %" PRIu64 " record%s rejected: %.*s",
		    collector->url[signal], *rejected, records, text_plural(records), (int)len,
		    text);
	else if (len)
		say("%s: %.*s", collector->url[signal], (int)len, text);
}

/* ------------------------------------------------------------------ requests */

static enum http_result post_request(struct collector *collector, enum otlp_signal signal,
				     const struct proto *body, const char *const *header,
				     struct http_answer *answer)
{
	const struct http_request request = {
		.url = collector->url[signal], .header = header,
		.headers = collector->headers + 1 + collector->is_gzip,
		.user = collector->user, .password = collector->password,
		.body = collector->is_gzip ? (void *)collector->body.at : (void *)body->bytes,
		.len = collector->is_gzip ? collector->body.used : body->used,
		.timeout_s = collector->timeout_s, .limit = ANSWER_MOST,
		.stop = &ship_stopped,
	};

	*answer = (struct http_answer){ .text = &collector->answer };
	return http_post(collector->handle, &request, answer);
}

/*
 * A status of success means that the collector has accepted the request, even if the rest of the
 * answer is lost. Only a missing response is a reason to send the request again. If the rest is
 * lost, the number of rejected records is unknown.
 */
static bool is_success(const struct collector *collector, enum otlp_signal signal,
		       enum http_result result, const struct http_answer *answer)
{
	if (answer->status < 200 || answer->status >= 300)
		return false;
	if (result != HTTP_ANSWERED)
		say("%s: status %ld, but the answer is not complete: whether records were rejected "
		    "is unknown: %s", collector->url[signal], answer->status, answer->what);
	return true;
}

/* The specification lists the statuses after which a request may be repeated. */
static bool is_final(enum http_result result, long status)
{
	return result == HTTP_ANSWERED && status != 429 && status != 502 && status != 503 &&
	       status != 504;
}

/*
 * Returns the pause that the collector has requested. A hostile collector may request an endless
 * pause, so the pause is bounded.
 */
static int64_t pause_of(const struct http_answer *answer)
{
	return INT64_C(1000000000) * (answer->retry_after_s < PAUSE_MOST_S ? answer->retry_after_s
									   : PAUSE_MOST_S);
}

bool collector_send(struct collector *collector, enum otlp_signal signal,
		    const struct proto *request, uint64_t records, uint64_t *rejected)
{
	const char **header = calloc(collector->headers + 2, sizeof(*header));
	char reason[RETRY_REASON_BYTES];
	struct http_answer answer;
	enum http_result result;
	bool is_accepted = false;

	if (!header) {
		say("%s", strerror(ENOMEM));
		return false;
	}
	header[0] = "Content-Type: application/x-protobuf";
	for (size_t i = 0; i < collector->headers; i++)
		header[i + 1] = collector->header[i];
	header[collector->headers + 1] = "Content-Encoding: gzip";
	if (collector->is_gzip && !gzip_bytes(request->bytes, request->used, &collector->body)) {
		free(header);
		return false;
	}
	do {
		result = post_request(collector, signal, request, header, &answer);
		is_accepted = is_success(collector, signal, result, &answer);
		if (!is_accepted)
			put_reason(collector, signal, result, &answer, reason);
	} while (!is_accepted &&
		 retry_again(&collector->retry, reason, is_final(result, answer.status),
			     pause_of(&answer)));
	free(header);
	if (!is_accepted)
		return false;
	retry_succeeded(&collector->retry);
	*rejected = 0;
	if (result == HTTP_ANSWERED)
		read_success(collector, signal, records, rejected);
	return true;
}
