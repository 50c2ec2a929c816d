/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * logfile.c - opens a log, which may be damaged, creates its types, and reports its
 * faults.
 */
#include "log/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/out.h"
#include "base/say.h"
#include "base/spool.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/until.h"
#include "base/vec.h"
#include "log/descriptors.h"
#include "log/fields.h"
#include "log/opened.h"

#define SHIM_STREAM "preload:" /* the beginning of the name of a stream that the shim created */
#define SAY_WAIT_NS INT64_C(1000000000) /* a user at a terminal gets a message after this time */
#define WAIT_STEP_MS 20
#define TYPES_MAX 65536 /* greater than each id that any version of the format can have */

/* Opens a log and closes it again. Returns 0, or the error of posix_trace_open_np(). */
static int try_open(int file, int flags)
{
	trace_id_t trid;
	int err = posix_trace_open_np(file, flags, &trid);

	if (!err)
		posix_trace_close(trid);
	return err;
}

/*
 * Returns true if the file begins as a log does. spool_seekable() calls this function when it has
 * copied only the beginning of its input. Therefore the file is opened with salvage, as an
 * incomplete log.
 */
static bool is_log(int file)
{
	const int err = try_open(file, POSIX_TRACE_OPEN_SALVAGE_NP);

	/*
	 * ENOTSUP means that the log is compressed and that libzstd is missing. The message for
	 * this is printed later.
	 */
	return !err || err == ENOTSUP;
}

/*
 * Does the same as logfile_kind(), for an open file. posix_trace_open_np() returns EINVAL both for
 * a file that is no log and for a log that it cannot read. Only such a log begins with the magic.
 */
static enum logfile_kind kind_of(int fd, char why[LOGFILE_WHY_BYTES])
{
	const char *reason;
	struct stat file;
	char magic[8];
	int err;

	if (!fstat(fd, &file) && !S_ISREG(file.st_mode))
		return LOGFILE_NO_LOG;
	err = try_open(fd, LOGFILE_REOPEN);
	/* EBUSY: the guardian of a killed writer has not completed the log yet. */
	if (!err || err == EBUSY || err == ENOTSUP)
		return LOGFILE_READABLE;
	if (err != EINVAL) {
		snprintf(why, LOGFILE_WHY_BYTES, "%s", say_strerror(err));
		return LOGFILE_UNKNOWN;
	}
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, "PXTRLOG1", sizeof(magic)) != 0)
		return LOGFILE_NO_LOG;
	reason = posix_trace_open_fault_np(fd);
	if (reason)
		snprintf(why, LOGFILE_WHY_BYTES, "%s", reason);
	return LOGFILE_REFUSED;
}

/* O_NONBLOCK: open() does not wait for a writer if the path names a FIFO. */
enum logfile_kind logfile_kind(const char *path, char why[LOGFILE_WHY_BYTES])
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	enum logfile_kind kind;

	*why = '\0';
	if (fd < 0) {
		snprintf(why, LOGFILE_WHY_BYTES, "%s", say_strerror(errno));
		return LOGFILE_UNKNOWN;
	}
	kind = kind_of(fd, why);
	close(fd);
	return kind;
}

bool logfile_is_log(const char *path)
{
	char why[LOGFILE_WHY_BYTES];
	const enum logfile_kind kind = logfile_kind(path, why);

	return kind == LOGFILE_READABLE || kind == LOGFILE_REFUSED;
}

const struct logfile_source *logfile_source;
struct logfile_joined logfile_joined;

int logfile_open_fd(struct logfile *log, const char *path)
{
	static bool input_taken; /* standard input was read as a pipe or file */
	bool input = !strcmp(path, "-");
	int fd, err;

	memset(log, 0, sizeof(*log));
	log->fd = -1;
	log->path = input ? "standard input" : path;
	log->is_fetched = logfile_source && logfile_source->open(log, path, &err);
	if (log->is_fetched)
		return err;
	/* O_NOCTTY: if the path names a terminal, it must not become the controlling terminal. */
	if (input)
		fd = dup(STDIN_FILENO);
	else if (path == logfile_joined.name)
		fd = fcntl(logfile_joined.fd, F_DUPFD_CLOEXEC, 0);
	else
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0) {
		log->err = errno;
		say("%s: %s", text_given(log->path), say_strerror(log->err));
		return TOOL_FAILURE;
	}
	/*
	 * A pipe is empty after it has been read once. Without this check the tool would report
	 * that the input is not a log.
	 */
	if (input && input_taken && lseek(fd, 0, SEEK_CUR) < 0) {
		close(fd);
		log->err = ESPIPE;
		say("%s: can only be read once", log->path);
		return TOOL_FAILURE;
	}
	/*
	 * If standard input is a regular file, the command line may name it twice, since the
	 * library reads it by offset.
	 */
	input_taken |= input;
	err = spool_seekable(fd, is_log, &log->fd);
	if (err) {
		close(fd);
		log->err = err;
		spool_say_why(log->path, err);
		return TOOL_FAILURE;
	}
	return TOOL_OK;
}

/*
 * Returns true if the stream's name is one that the shim gives to the streams that it creates
 * (preload/session.c).
 */
static bool is_by_shim(trace_id_t trid)
{
	char name[TRACE_NAME_MAX + 1];
	trace_attr_t attr;
	bool is_by_shim;

	if (posix_trace_get_attr(trid, &attr))
		return false;
	is_by_shim = !posix_trace_attr_getname(&attr, name) &&
		     !strncmp(name, SHIM_STREAM, strlen(SHIM_STREAM));
	posix_trace_attr_destroy(&attr);
	return is_by_shim;
}

int logfile_open_strict(const struct logfile *log, trace_id_t *trid)
{
	const int64_t say_ns = until_now_ns() + SAY_WAIT_NS;
	int err;

	if (!isatty(STDERR_FILENO))
		return posix_trace_open(log->fd, trid);
	do {
		err = posix_trace_open_np(log->fd, POSIX_TRACE_OPEN_NOWAIT_NP, trid);
		if (err != EBUSY)
			return err;
		poll(NULL, 0, WAIT_STEP_MS);
	} while (until_now_ns() < say_ns);
	say("%s: its writer was killed; waiting at most 10 s for its guardian, which completes it",
	    log->path);
	return posix_trace_open(log->fd, trid);
}

/*
 * Opens the log's stream with salvage and reads its facts. Sets whole. Returns 0 or an error
 * number.
 */
static int open_stream(struct logfile *log)
{
	trace_id_t strict;
	int err = logfile_open_strict(log, &strict);

	/*
	 * Even a log that posix_trace_open() accepts is read with salvage. Otherwise the library
	 * would return no events behind a damaged block in the middle of the log, and would not
	 * report that there are more.
	 */
	if (!err) {
		posix_trace_close(strict);
		log->whole = true;
	} else if (err != EINVAL) {
		return err;
	}
	err = posix_trace_open_np(log->fd, LOGFILE_REOPEN, &log->trid);
	if (err)
		return err;
	err = posix_trace_get_loginfo_np(log->trid, &log->info);
	if (err)
		posix_trace_close(log->trid);
	else
		log->by_shim = is_by_shim(log->trid);
	return err;
}

/*
 * Returns the name of a type with its unsafe characters escaped, and stores the length of this name
 * in *len. In the escaped name a byte may need up to four bytes. The memory is longer than the name
 * by PUT_PIECE bytes, as put_pieces() requires.
 */
static char *shown_name(const struct log_type *type, size_t *len)
{
	static struct out scratch = { .fd = -1 };
	char *shown;

	scratch.used = 0;
	text_name(&scratch, type->name, type->name_len);
	*len = scratch.used;
	shown = calloc(1, scratch.used + PUT_PIECE);
	if (shown)
		memcpy(shown, scratch.bytes, scratch.used);
	return shown;
}

/* Writes the members of JSON that are equal in all events of the type. */
static void put_members(struct json *json, const struct log_type *type)
{
	const struct posix_trace_schema_np *schema = type->schema;

	json->needs_comma = true;
	json_text(json, "event", type->name, type->name_len);
	if (schema && schema->level)
		json_signed(json, "level", schema->level);
	/* By the name of the span a program can find the end that belongs to a begin. */
	if (schema && schema->span)
		json_string_member(json,
				   schema->role == POSIX_TRACE_BEGIN_NP ? "begin" :
				   schema->role == POSIX_TRACE_END_NP ? "end" : "span",
				   schema->span);
}

/*
 * Returns the members of a type. The name and the span are far shorter than the buffer, so all
 * members fit. The memory is longer than the members by PUT_PIECE bytes.
 */
static char *kept_members(const struct log_type *type, size_t *len)
{
	static struct out scratch = { .fd = -1 };
	struct json json = json_begin(&scratch);
	char *members;

	scratch.used = 0;
	put_members(&json, type);
	*len = scratch.used;
	members = calloc(1, scratch.used + PUT_PIECE);
	if (members)
		memcpy(members, scratch.bytes, scratch.used);
	return members;
}

/*
 * Enlarges by_id, the array of types, to ids elements. New elements are NULL. The caller passes one
 * of only two sizes. So the id of an event, which a hostile log can choose, does not determine the
 * size.
 */
static bool grow_ids(struct logfile *log, size_t ids)
{
	return vec_reach(&log->by_id, &log->ids, ids - 1);
}

static void free_type(struct log_type *type)
{
	free(type->shown);
	free(type->schema);
	free(type->schema_text);
	free(type->plan);
	free(type->json_plan);
	free(type->members);
	free(type);
}

/*
 * Returns true if values of at least one field may have a label. fields_json() needs a second pass
 * for such a type.
 */
static bool may_have_labels(const struct posix_trace_schema_np *schema)
{
	for (unsigned i = 0; i < schema->fields; i++)
		if (schema->field[i].value_names ||
		    schema->field[i].type == POSIX_TRACE_TYPE_ERRNO_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_SIGNAL_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_WAIT_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_FD_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_PTR_NP ||
		    schema->field[i].type == POSIX_TRACE_TYPE_PTR32_NP)
			return true;
	return false;
}

/*
 * Reads and parses the schema of a type. Returns false if memory is lacking. If the schema is
 * invalid, type->schema is NULL and the data is printed as bytes. The command verify reports such a
 * schema.
 */
static bool read_schema(struct logfile *log, struct log_type *type)
{
	char text[POSIX_TRACE_SCHEMA_MAX_NP + 1];

	if (posix_trace_eventid_get_schema_np(log->trid, type->id, text, sizeof(text)))
		return true;
	type->schema_text = strdup(text);
	type->schema = malloc(sizeof(*type->schema));
	if (!type->schema_text || !type->schema)
		return false;
	if (posix_trace_schema_parse_np(text, type->schema)) {
		free(type->schema);
		type->schema = NULL;
	} else {
		type->has_labels = may_have_labels(type->schema);
		type->plan = fields_plan(type->schema);
		type->json_plan = fields_json_plan(type->schema);
	}
	return true;
}

bool logfile_hides(const char *name)
{
	return !strcmp(name, OPENED_EVENT);
}

/*
 * Returns the type with this id, and creates it if necessary. Returns NULL if memory is lacking.
 * The id must be below TYPES_MAX. This function calls the command's function choose, once for each
 * type.
 */
static struct log_type *read_type(struct logfile *log, trace_event_id_t id)
{
	struct log_type *type;

	if (id >= log->ids && !grow_ids(log, id < 1024 ? 1024 : TYPES_MAX))
		return NULL;
	if (log->by_id[id])
		return log->by_id[id];
	type = calloc(1, sizeof(*type));
	if (!type)
		return NULL;
	type->id = id;
	if (posix_trace_eventid_get_name(log->trid, id, type->name))
		snprintf(type->name, sizeof(type->name), "event#%u", id);
	else
		type->listed = true;
	type->name_len = strlen(type->name);
	type->is_hidden = logfile_hides(type->name);
	type->shown = shown_name(type, &type->shown_len);
	if (!type->shown) {
		free_type(type);
		return NULL;
	}
	if (read_schema(log, type))
		type->members = kept_members(type, &type->members_len);
	if (!type->members) {
		free_type(type);
		return NULL;
	}
	type->chosen = !log->choose || log->choose(type);
	log->by_id[id] = type;
	return type;
}

/* Creates the types that the log lists, in its order. Returns false if memory is lacking. */
static bool read_types(struct logfile *log)
{
	for (;;) {
		trace_event_id_t id;
		int unavailable;
		struct log_type *type;

		if (posix_trace_eventtypelist_getnext_id(log->trid, &id, &unavailable) ||
		    unavailable)
			return true;
		/* A forged list may contain any id. */
		if (id >= TYPES_MAX)
			continue;
		type = read_type(log, id);
		if (!type)
			return false;
		if (!vec_grow(&log->list, log->types, 1))
			return false;
		type->index = log->types;
		log->list[log->types++] = type;
	}
}

const struct log_type *logfile_new_type(struct logfile *log, trace_event_id_t id)
{
	/*
	 * An event has the type "unknown" if its id is out of range, or if its type cannot be
	 * created because memory is lacking.
	 */
	static char shown[8 + PUT_PIECE] = "event#?";
	static char members[20 + PUT_PIECE] = ",\"event\":\"event#?\"";
	static const struct log_type unknown = {
		.chosen = true, .name = "event#?", .name_len = 7, .shown = shown, .shown_len = 7,
		.members = members, .members_len = sizeof(",\"event\":\"event#?\"") - 1,
	};
	const struct log_type *type = id < TYPES_MAX ? read_type(log, id) : NULL;

	return type ? type : &unknown;
}

/*
 * Notes whether the log has objects. Most logs have none. For such a log, value.c omits the search
 * for an object's name, which takes time for each pointer.
 */
static void read_objects(struct logfile *log)
{
	struct posix_trace_object_np object;
	int unavailable;

	log->has_objects = !posix_trace_object_getnext_np(log->trid, &object, &unavailable) &&
			   !unavailable;
}

/* Opens the log in log->fd. Closes the descriptor after an error. */
static int open_log(struct logfile *log, bool (*choose)(const struct log_type *type))
{
	int err, status;

	log->choose = choose;
	err = open_stream(log);
	if (err) {
		log->err = err;
		status = logfile_say_why(log, err);
		close(log->fd);
		return status;
	}
	read_objects(log);
	if (!read_types(log)) {
		say("%s: %s", log->path, strerror(ENOMEM));
		logfile_close(log);
		log->err = ENOMEM;
		return TOOL_FAILURE;
	}
	/* If memory is lacking, descriptors is NULL, and file descriptors have no names. */
	log->descriptors = descriptors_new(log->fd);
	if (log->is_fetched) {
		logfile_source->opened(log);
		return TOOL_OK;
	}
	if (!log->info.complete)
		say("%s: its writer has not closed it, or it was cut; reading every whole block",
		    log->path);
	else if (!log->whole)
		say("%s: damaged; reading every whole block", log->path);
	return TOOL_OK;
}

int logfile_open(struct logfile *log, const char *path,
		 bool (*choose)(const struct log_type *type))
{
	int status = logfile_open_fd(log, path);

	return status ? status : open_log(log, choose);
}

int logfile_open_given(struct logfile *log, int fd, const char *name)
{
	memset(log, 0, sizeof(*log));
	log->path = name;
	log->fd = fd;
	return open_log(log, NULL);
}

bool logfile_reader_is_damaged(trace_id_t trid)
{
	uint64_t parts;

	return posix_trace_get_damage_np(trid, &parts) || parts;
}

bool logfile_is_damaged(const struct logfile *log)
{
	struct posix_trace_ledger_np ledger;

	return !log->whole || !log->info.complete || logfile_reader_is_damaged(log->trid) ||
	       posix_trace_get_ledger_np(log->trid, &ledger) ||
	       ledger.lost[POSIX_TRACE_LOST_DAMAGED_NP];
}

uint64_t logfile_events(const struct logfile *log)
{
	struct posix_trace_ledger_np ledger;

	/*
	 * If a log is not complete, its writer has not stored the counts. The library would have to
	 * read the whole log to count the events, so the result is 0.
	 */
	return log->info.complete && !posix_trace_get_ledger_np(log->trid, &ledger)
		       ? ledger.reported
		       : 0;
}

static struct timespec timespec_of(int64_t time_ns)
{
	struct timespec when = { .tv_sec = time_ns / 1000000000, .tv_nsec = time_ns % 1000000000 };

	if (when.tv_nsec < 0) {
		when.tv_sec--;
		when.tv_nsec += 1000000000;
	}
	return when;
}

/* the greatest time that the library accepts */
#define LAST_BOUND_NS (INT64_MAX - INT64_C(2000000000))

/*
 * Returns whether the time is a bound. INT64_MIN, INT64_MAX and times near them mean that there is
 * no bound.
 */
static bool is_bound(int64_t time_ns)
{
	return time_ns > INT64_MIN / 2 && time_ns < LAST_BOUND_NS;
}

int logfile_window(const struct logfile *log, int64_t begin_ns, int64_t end_ns)
{
	struct timespec begin = timespec_of(begin_ns < LAST_BOUND_NS ? begin_ns : LAST_BOUND_NS);
	struct timespec end = timespec_of(end_ns);
	int err = 0;

	/*
	 * The library cannot seek a time before 1970. This does no harm, because a log has no
	 * events before 1970 that could be skipped.
	 */
	if (begin_ns > 0)
		err = posix_trace_seek_np(log->trid, &begin);
	if (!err && is_bound(end_ns) && !logfile_ends_before(log, end_ns))
		err = posix_trace_until_np(log->trid, &end);
	return err;
}

void logfile_free_types(struct logfile *log)
{
	for (size_t i = 0; i < log->ids; i++) {
		if (log->by_id[i])
			free_type(log->by_id[i]);
	}
	free(log->by_id);
	free(log->list);
	log->by_id = log->list = NULL;
	log->ids = log->types = 0;
}

void logfile_close(struct logfile *log)
{
	logfile_free_types(log);
	descriptors_free(log->descriptors);
	if (log->trid)
		posix_trace_close(log->trid);
	close(log->fd);
}

void logfile_say_fault(const struct logfile *log, const struct posix_trace_fault_np *fault)
{
	if (fault->bytes)
		say("%s:%llu: %s (%llu byte%s)", log->path, (unsigned long long)fault->offset,
		    fault->reason, (unsigned long long)fault->bytes, text_plural(fault->bytes));
	else
		say("%s:%llu: %s", log->path, (unsigned long long)fault->offset, fault->reason);
}

struct faults {
	const struct logfile *log;
	uint64_t limit, printed;
};

/* Prints a fault unless the limit is reached. The library calls this function for each fault. */
static void say_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct faults *faults = arg;

	if (faults->printed == faults->limit)
		return;
	faults->printed++;
	logfile_say_fault(faults->log, fault);
}

int logfile_say_faults(const struct logfile *log, uint64_t limit)
{
	struct posix_trace_check_np check;
	struct faults faults = { log, limit, 0 };
	int err = posix_trace_check_np(log->fd, say_fault, &faults, &check);

	if (err) {
		say("%s: %s", log->path, say_strerror(err));
		return TOOL_FAILURE;
	}
	if (check.faults > faults.printed)
		say("%s: and %llu more fault%s", log->path,
		    (unsigned long long)(check.faults - faults.printed),
		    text_plural(check.faults - faults.printed));
	return check.faults || !check.complete ? TOOL_DAMAGED : TOOL_OK;
}

const char *(*logfile_foreign_format)(int fd);
const char *(*logfile_unread_format)(int fd);

int logfile_say_why(const struct logfile *log, int err)
{
	const char *format = NULL, *unread = NULL, *reason = NULL;
	char byte;

	if (err == EINVAL && pread(log->fd, &byte, 1, 0) == 0) {
		say("%s: it is empty", log->path);
		return TOOL_FAILURE;
	}
	/* If the file is not a log, it may have a foreign format that the tool can import. */
	if (err == EINVAL || err == ENOTSUP) {
		reason = posix_trace_open_fault_np(log->fd);
		format = logfile_foreign_format ? logfile_foreign_format(log->fd) : NULL;
	}
	if (!format && (err == EINVAL || err == ENOTSUP || err == EISDIR) && logfile_unread_format)
		unread = logfile_unread_format(log->fd);
	if (unread)
		say("%s: this is not a trace log, but %s", log->path, unread);
	else if (format)
		say("%s: this is not a trace log, but %s; 'posixtrace convert --from %s --to log' "
		    "makes one of it",
		    log->path, format, format);
	else
		say("%s: %s", log->path, reason ? reason : say_strerror(err));
	return TOOL_FAILURE;
}
