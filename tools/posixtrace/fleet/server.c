/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* server.c - sends requests over HTTP, and reads the values of their answers. */
#include "fleet/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/curl.h"

#define LINE_BYTES   500
#define PAUSE_MOST_S 60 /* a hostile server may ask for an endless pause */

bool server_init(struct server *server, const struct address *address)
{
	memset(server, 0, sizeof(*server));
	server->address = *address;
	server->timeout_s = 60;
	server->handle = http_open();
	if (server->handle)
		return true;
	address_free(&server->address);
	return false;
}

void server_free(struct server *server)
{
	http_close(server->handle);
	bytes_free(&server->answer);
	address_free(&server->address);
	memset(server, 0, sizeof(*server));
}

void server_next_host(struct server *server)
{
	server->host = (server->host + 1) % server->address.hosts;
}

/* Appends "http://HOST:PORT/". This text contains no password, so messages use it, too. */
static void put_base(const struct server *server, struct bytes *url)
{
	bytes_printf(url, "%s://%s:%s/", server->address.is_secure ? "https" : "http",
		     server->address.host[server->host].name,
		     server->address.host[server->host].port);
}

/*
 * Makes the URL of a request. If the request has a body, the statement is a parameter of the URL.
 * Otherwise the statement itself is the body. With wait_end_of_query the server sends the status
 * only when it has the whole answer. So an answer with the status 200 never contains the text of an
 * error.
 */
static bool put_url(const struct server *server, const char *sql, bool has_body,
		    struct bytes *url)
{
	char *escaped = has_body ? curl_call.easy_escape(server->handle, sql, 0) : NULL;

	put_base(server, url);
	bytes_str(url, "?wait_end_of_query=1");
	if (server->has_database)
		bytes_printf(url, "&database=%s", server->address.database);
	if (server->query_id)
		bytes_printf(url, "&query_id=%s", server->query_id);
	if (escaped) {
		bytes_str(url, "&query=");
		bytes_str(url, escaped);
	}
	bytes_add(url, "", 1);
	curl_call.free(escaped);
	return !url->failed && (!has_body || escaped);
}

/* Statements that only change the database have empty answers. */
static bool has_answer(const char *sql)
{
	return !strncmp(sql, "SELECT ", strlen("SELECT "));
}

/* Returns the " FROM " of the statement that is not in parentheses, or NULL. */
static const char *find_from(const char *sql)
{
	int depth = 0;

	for (; *sql; sql++) {
		depth += (*sql == '(') - (*sql == ')');
		if (!depth && !strncmp(sql, " FROM ", strlen(" FROM ")))
			return sql;
	}
	return NULL;
}

/*
 * Sets the reason of a failure: the URL without parameters, the beginning of the statement, and the
 * text "what".
 */
static void set_reason(struct server *server, const char *sql, const char *what)
{
	struct bytes base = { .at = NULL };
	const char *from = find_from(sql);
	const char *begin = sql;
	int verb = (int)strcspn(sql, "(");

	/* For a SELECT, the name of the table is more useful than the names of the columns. */
	if (has_answer(sql) && from) {
		begin = from + 1;
		verb = (int)(strlen("FROM ") + strcspn(from + strlen(" FROM "), " "));
	}
	if (verb > 60)
		verb = 60;
	while (verb > 0 && begin[verb - 1] == ' ')
		verb--;
	put_base(server, &base);
	bytes_add(&base, "", 1);
	snprintf(server->reason, sizeof(server->reason), "%s: %s%.*s: %s",
		 base.failed ? "" : base.at, begin == sql ? "" : "SELECT ... ", verb, begin, what);
	bytes_free(&base);
}

/* Copies the first line of the answer that has a visible character. A message shows this line. */
static void copy_line(const struct server *server, char *line, size_t size)
{
	const char *text = server->answer.used ? server->answer.at : "";
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strcspn(text, "\r\n");
	snprintf(line, size, "%.*s", (int)(len < size ? len : size - 1), text);
	if (!*line)
		snprintf(line, size, "no reason");
}

#define OTHER_COLUMNS "the table has other columns than this version of posixtrace expects; " \
	"another version has made it, or somebody has changed it: use that version, or another " \
	"database"

/* The groups of errors. */
enum meaning {
	OVERLOAD, /* the server has no room for the request now, and the request has ended */
	REFUSAL,  /* the error would occur again if the request were repeated */
	MISFIT,   /* the table has other columns than the statement */
	TROUBLE   /* any other error */
};

/*
 * The meanings of ClickHouse's numbers of errors. A message has the text before the server's own
 * text. If the text is NULL, the message has only the server's own text.
 */
static const struct cause {
	int code;
	enum meaning meaning;
	const char *text;
} causes[] = {
	{ 252, OVERLOAD, "the server is overloaded, because INSERTs make parts faster than it "
		"merges them; with ship --every and --batch they are fewer and larger" },
	{ 202, OVERLOAD, "the server is overloaded by too many requests at the same time" },
	{ 745, OVERLOAD, "the server is overloaded by too many requests at the same time" },
	{ 439, OVERLOAD, "the server is overloaded and begins no further thread" },
	{ 241, OVERLOAD, "the server lacks memory for this request" },
	{ 173, OVERLOAD, "the server lacks memory for this request" },
	{ 243, OVERLOAD, "the disk of the server is full" },
	{ 8, MISFIT, OTHER_COLUMNS },   /* THERE_IS_NO_COLUMN */
	{ 16, MISFIT, OTHER_COLUMNS },  /* NO_SUCH_COLUMN_IN_TABLE */
	{ 20, MISFIT, OTHER_COLUMNS },  /* NUMBER_OF_COLUMNS_DOESNT_MATCH */
	{ 44, MISFIT, OTHER_COLUMNS },  /* ILLEGAL_COLUMN */
	{ 53, MISFIT, OTHER_COLUMNS },  /* TYPE_MISMATCH */
	{ 70, MISFIT, OTHER_COLUMNS },  /* CANNOT_CONVERT_TYPE */
	{ 171, MISFIT, OTHER_COLUMNS }, /* BLOCKS_HAVE_DIFFERENT_STRUCTURE */
	{ 47, REFUSAL, OTHER_COLUMNS },
	{ 62, REFUSAL, NULL },
	{ 115, REFUSAL, NULL },
	{ 359, REFUSAL, NULL },
	{ 164, REFUSAL, "the server lets this user only read" },
	{ 192, REFUSAL, "the server does not know this user" },
	{ 193, REFUSAL, "the password of this user is wrong" },
	{ 194, REFUSAL, "this user needs a password" },
	{ 195, REFUSAL, "the server does not accept this user from the address of this host" },
	{ 291, REFUSAL, "this user has no right to use the database" },
	{ 497, REFUSAL, "this user has no right to do this" },
	{ 516, REFUSAL, "the user or the password is wrong" },
	{ 225, TROUBLE, "the server cannot reach its ZooKeeper" },
	{ 242, TROUBLE, "the replica accepts no rows, for example because it cannot reach its "
		"ZooKeeper" },
	{ 999, TROUBLE, "the server has trouble with its ZooKeeper" },
};

/* Returns the entry for the last answer, or NULL if there is none. */
static const struct cause *find_cause(const struct server *server)
{
	const int code = server_code(server);

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].code == code)
			return &causes[i];
	return NULL;
}

/*
 * Returns whether the server lacked disk space while it wrote a file. Several codes have this
 * reason, so the number of the system's error in the text decides.
 */
static bool is_disk_full(const struct server *server)
{
	return server_code(server) && strstr(server->answer.at, "errno: 28,");
}

bool server_lacks_columns(const struct server *server)
{
	const struct cause *cause = find_cause(server);

	return cause && cause->meaning == MISFIT;
}

/*
 * Returns the meaning of an error as a text, or NULL if the message has only the server's own text.
 * A proxy answers 429 or 503 without a code.
 */
static const char *cause_text(const struct server *server, long status)
{
	const struct cause *cause = find_cause(server);

	if (cause)
		return cause->text;
	if (is_disk_full(server))
		return "the disk of the server is full";
	return !server_code(server) && (status == 429 || status == 503)
		       ? "the server or its proxy is overloaded" : NULL;
}

/*
 * Returns whether an old server can never execute the statement, because a file remains from a
 * CREATE TABLE that has failed. The server removes the file when it starts.
 */
static bool has_stale_file(const struct server *server)
{
	const char *text = server->answer.used ? server->answer.at : "";

	return strstr(text, ".sql.tmp") && strstr(text, "File exists");
}

/* Sets the reason for an answer that has the status of an error. */
static void set_status_reason(struct server *server, const char *sql, long status)
{
	const char *cause = cause_text(server, status);
	char line[LINE_BYTES], what[2 * LINE_BYTES];

	copy_line(server, line, sizeof(line));
	if (status >= 300 && status < 400)
		snprintf(line, sizeof(line), "%s",
			 "redirections are not followed: give the address of the server itself");
	if (cause)
		snprintf(what, sizeof(what), "status %ld: %s: %s", status, cause, line);
	else if (has_stale_file(server))
		snprintf(what, sizeof(what), "status %ld: this server refuses the table until it "
			 "starts again, because an earlier statement has left a file, for example "
			 "when the disk was full. Start the server again, or remove the file: %s",
			 status, line);
	else
		snprintf(what, sizeof(what), "status %ld: %s", status, line);
	set_reason(server, sql, what);
}

enum server_result server_foreign(struct server *server, const char *sql)
{
	char line[LINE_BYTES], what[LINE_BYTES + 100];

	copy_line(server, line, sizeof(line));
	snprintf(what, sizeof(what), "this answer is not one of ClickHouse: check the host and the "
		 "port of HTTP: %s", server->answer.used ? line : "no bytes");
	set_reason(server, sql, what);
	return SERVER_UNCERTAIN;
}

int server_code(const struct server *server)
{
	int code;

	return server->answer.used && sscanf(server->answer.at, "Code: %d", &code) == 1 ? code : 0;
}

/*
 * Returns the result for an answer with the status of an error. ClickHouse sends a code after the
 * request has ended, and a proxy answers 429 in place of forwarding the request. But a proxy may
 * also answer 503 when its connection to the server was lost, so the server may still execute the
 * request.
 */
static enum server_result error_result(const struct server *server, long status)
{
	const struct cause *cause = find_cause(server);

	if (status == 401 || status == 403 || (cause && cause->meaning == REFUSAL))
		return SERVER_REFUSED;
	if ((cause && cause->meaning == OVERLOAD) || is_disk_full(server) ||
	    (status == 429 && !server_code(server)))
		return SERVER_BUSY;
	return SERVER_WRONG;
}

enum server_result server_request(struct server *server, const char *sql,
				  const struct http_body *body, size_t limit)
{
	static const char *const headers[] = { "Content-Type: application/octet-stream" };
	struct bytes url = { .at = NULL };
	enum http_result result = HTTP_ABSENT;
	struct http_answer answer = { .text = &server->answer };
	struct http_request request = {
		.header = headers, .headers = 1, .user = server->address.user,
		.password = server->address.password, .body = body ? NULL : sql,
		.len = strlen(sql), .in_parts = body, .timeout_s = server->timeout_s,
		.limit = limit, .stop = server->stop, .needs_length = true,
	};

	if (put_url(server, sql, body, &url)) {
		request.url = url.at;
		result = http_post(server->handle, &request, &answer);
	} else {
		snprintf(answer.what, sizeof(answer.what), "%s", strerror(ENOMEM));
	}
	bytes_free(&url);
	server->pause_ns = 0;
	server->is_late = answer.is_late;
	if (result != HTTP_ANSWERED) {
		set_reason(server, sql, answer.what);
		return result == HTTP_ABSENT ? SERVER_ABSENT : SERVER_UNCERTAIN;
	}
	if (answer.status == 200)
		return has_answer(sql) || !server->answer.used ? SERVER_OK
							       : server_foreign(server, sql);
	if (answer.retry_after_s > 0)
		server->pause_ns = INT64_C(1000000000) *
				   (answer.retry_after_s < PAUSE_MOST_S ? answer.retry_after_s
									: PAUSE_MOST_S);
	set_status_reason(server, sql, answer.status);
	return error_result(server, answer.status);
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

bool server_get_varint(const struct bytes *answer, size_t *at, uint64_t *value)
{
	uint8_t digit;

	*value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!server_get_u8(answer, at, &digit))
			return false;
		*value |= (uint64_t)(digit & 127) << shift;
		if (!(digit & 128))
			return true;
	}
	return false;
}

bool server_get_text(const struct bytes *answer, size_t *at, const char **text, size_t *len)
{
	uint64_t bytes;

	if (!server_get_varint(answer, at, &bytes) || bytes > answer->used - *at)
		return false;
	*text = answer->at + *at;
	*len = (size_t)bytes;
	*at += (size_t)bytes;
	return true;
}
