/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * segment.c - a process traces and reads itself while the target writes into the shared memory.
 * This tests a reader with a hostile target, and a writer with a hostile controller.
 *
 * An input is five bytes (full policy, size, log, inheritance, maximum data size), then steps. A
 * step is a word with its operands, or write PART PLACE.2 KIND VALUE.2. After any write, no call
 * crashes or hangs, events and names are valid, and the log can be read. If a guardian completes
 * the log, the process dies at the end, and the completed log still has every event that it had
 * before.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "fuzz/isolate.h"
#include "fuzz/segment.h"

enum step { WRITE, EVENT, READ, ASK, NAMES, STOP, START, CLEAR, FLUSH, FILTER, OPEN, LOOK, FORK,
	    MORE, DESCRIBE, STEPS };

const struct fuzz_word fuzz_words[] = {
	{ "loop", 0 }, { "until-full", 1 }, { "flush-policy", 2 }, /* with a log */
	{ "log", 1 }, { "log-left-to-guardian", 3 },
	{ "write", WRITE }, { "event", EVENT }, { "read", READ }, { "ask", ASK },
	{ "names", NAMES }, { "stop", STOP }, { "start", START }, { "clear", CLEAR },
	{ "flush", FLUSH },
	{ "filter", FILTER }, { "open", OPEN }, { "look", LOOK }, { "fork", FORK },
	{ "more", MORE }, { "describe", DESCRIBE },
	/* parts */
	{ "region", 0 }, { "loss-counts", 1 }, { "chunk-words", 2 }, { "claims", 3 },
	{ "rings", 4 }, { "slots", 5 }, { "hints", 6 }, { "checkpoint", 7 }, { "control", 8 },
	{ "attachments", 9 },
	{ "members", 10 }, { "name-table", 11 }, { "lists", 12 }, { "chunk-heads", 13 },
	{ "records", 14 }, { "facts", 15 },
	/* kinds */
	{ "set", 0 }, { "ones", 1 }, { "flip", 2 }, { "add", 3 }, { "low", 4 }, { "high", 5 },
	{ "copy", 6 },
	{ 0 }
};

#define STEPS_MAX 400
#define READS_MAX 3000

struct input {
	const uint8_t *at, *end;
};

static trace_id_t trid, more[4];
static trace_event_id_t type[4];
static int log_fd = -1;
static bool hostile;

static unsigned next(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static unsigned next2(struct input *input)
{
	unsigned low = next(input);

	return low | next(input) << 8;
}

static void must_be_text(const char *text, size_t room, const char *what)
{
	FUZZ_MUST(memchr(text, 0, room), "%s has no end", what);
}

static void read_some(trace_id_t from, unsigned most)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	int unavailable;
	size_t len;

	for (unsigned n = 0; n < most; n++) {
		if (posix_trace_trygetnext_event(from, &info, data, sizeof(data), &len,
						 &unavailable) || unavailable)
			return;
		FUZZ_MUST(info.posix_event_id > 0 && info.posix_event_id < 1024,
			  "an event of type %u", (unsigned)info.posix_event_id);
		FUZZ_MUST(len <= sizeof(data), "%zu bytes in %zu", len, sizeof(data));
		FUZZ_MUST(info.posix_timestamp.tv_nsec >= 0 &&
				  info.posix_timestamp.tv_nsec < 1000000000,
			  "an event with %ld ns", info.posix_timestamp.tv_nsec);
	}
}

static void ask(void)
{
	struct posix_trace_status_info status;
	struct posix_trace_ledger_np ledger;
	struct posix_trace_thread_np thread;
	trace_event_set_t set;
	trace_attr_t attr;
	int unavailable = 0, level;

	posix_trace_get_status(trid, &status);
	posix_trace_get_ledger_np(trid, &ledger);
	posix_trace_get_ledger_type_np(trid, type[0], &ledger);
	for (size_t i = 0; i < 8 && !unavailable; i++)
		if (posix_trace_get_ledger_thread_np(trid, i, &thread, &ledger, &unavailable))
			break;
	posix_trace_get_filter(trid, &set);
	posix_trace_get_level_np(trid, &level);
	if (posix_trace_get_attr(trid, &attr) == 0)
		posix_trace_attr_destroy(&attr);
}

static void list_names(void)
{
	char name[TRACE_EVENT_NAME_MAX + 1], schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_object_np object;
	trace_event_id_t id;
	int unavailable = 0;

	posix_trace_eventtypelist_rewind(trid);
	for (int n = 0; n < 1100 && !unavailable; n++) {
		if (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) || unavailable)
			break;
		if (posix_trace_eventid_get_name(trid, id, name) == 0)
			must_be_text(name, sizeof(name), "a name");
		if (posix_trace_eventid_get_schema_np(trid, id, schema, sizeof(schema)) == 0)
			must_be_text(schema, sizeof(schema), "a schema");
	}
	posix_trace_object_rewind_np(trid);
	for (int n = 0; n < 100; n++) {
		if (posix_trace_object_getnext_np(trid, &object, &unavailable) || unavailable)
			return;
		must_be_text(object.name, sizeof(object.name), "a thing's name");
	}
}

/* The log of a stream with hostile memory: its counts may be wrong, but it can be read. */
static void read_log(int fd)
{
	struct posix_trace_check_np result;
	trace_id_t log;

	posix_trace_check_np(fd, NULL, NULL, &result);
	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &log))
		return;
	read_some(log, READS_MAX);
	for (int n = 0; n < READS_MAX; n++) {
		struct posix_trace_event_np event;
		int unavailable;

		if (posix_trace_getnext_np(log, &event, &unavailable) || unavailable)
			break;
	}
	posix_trace_close(log);
}

static void visit(void *arg, const struct posix_trace_stream_np *stream)
{
	int fd;

	must_be_text(stream->name, sizeof(stream->name), "a stream's name");
	for (unsigned i = 0; i < stream->event_names; i++)
		if (stream->event_name[i])
			must_be_text(stream->event_name[i], TRACE_EVENT_NAME_MAX + 1,
				     "a seen name");
	if (!*(bool *)arg)
		return;
	fd = fuzz_file(NULL, 0);
	if (posix_trace_snapshot_np(stream, fd) == 0)
		read_log(fd);
	close(fd);
}

static void trace_in_child(unsigned n)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		for (unsigned i = 0; i < n; i++)
			posix_trace_event(type[i % 4], &i, sizeof(i));
		_exit(0);
	}
	FUZZ_MUST(child < 0 || (waitpid(child, &status, 0) == child && status == 0),
		  "a forked child ended with %#x", status);
}

static int create(unsigned policy, unsigned size, bool log, bool inherited, unsigned max_data,
		  trace_id_t *id)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					POSIX_TRACE_FLUSH };
	static const int log_policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
					    POSIX_TRACE_APPEND };
	trace_attr_t attr;
	int err;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamfullpolicy(&attr, policies[policy % (log ? 3 : 2)]);
	posix_trace_attr_setlogfullpolicy(&attr, log_policies[policy / 3 % 3]);
	posix_trace_attr_setlogsize(&attr, 16384);
	posix_trace_attr_setstreamsize(&attr, (size_t)1024 << size % 7);
	posix_trace_attr_setmaxdatasize(&attr, max_data);
	posix_trace_attr_setinherited(&attr, inherited ? POSIX_TRACE_INHERITED :
							 POSIX_TRACE_CLOSE_FOR_CHILD);
	if (log && log_fd < 0)
		log_fd = fuzz_file(NULL, 0);
	err = log ? posix_trace_create_withlog(0, &attr, log_fd, id) :
		    posix_trace_create(0, &attr, id);
	posix_trace_attr_destroy(&attr);
	return err;
}

static void have_more(unsigned which, unsigned policy)
{
	trace_id_t *id = &more[which % 4];

	if (*id) {
		read_some(*id, READS_MAX);
		posix_trace_shutdown(*id);
		*id = 0;
	} else if (create(policy, 1, false, policy & 64, 100, id) == 0) {
		posix_trace_start(*id);
	} else {
		*id = 0;
	}
}

static void trace(unsigned which, unsigned n, unsigned len)
{
	static const unsigned char data[8192];

	for (; n; n--)
		posix_trace_event(type[which % 4], data, 4 * (size_t)len);
}

static void filter(unsigned bits, unsigned how)
{
	trace_event_set_t set;

	posix_trace_eventset_empty(&set);
	for (unsigned i = 0; i < 4; i++)
		if (bits >> i & 1)
			posix_trace_eventset_add(type[i], &set);
	posix_trace_set_filter(trid, &set, how % 3 == 0 ? POSIX_TRACE_SET_EVENTSET :
				       how % 3 == 1 ? POSIX_TRACE_ADD_EVENTSET :
						      POSIX_TRACE_SUB_EVENTSET);
}

static void open_type(unsigned which, unsigned by_trid)
{
	char name[] = { 'n', (char)('a' + which % 26), (char)('a' + which / 26), 0 };

	if (by_trid)
		posix_trace_trid_eventid_open(trid, name, &type[3]);
	else
		posix_trace_eventid_open(name, &type[3]);
}

static void describe(unsigned which)
{
	static const char *const schemas[] = { "u32 a", "u8 a; str b; @level 2", "ptr p{1=x}",
					       "!" };

	posix_trace_eventid_describe_np(type[which % 4], schemas[which / 4 % 4]);
	posix_trace_object_np(POSIX_TRACE_OBJECT_MUTEX_NP, &schemas[which % 4], "thing");
}

static void step(struct input *input)
{
	unsigned a, b, c;
	bool log;

	switch (next(input) % STEPS) {
	case WRITE:
		a = next(input);
		b = next2(input);
		c = next(input);
		segment_write(a, b, c, next2(input));
		hostile = true;
		break;
	case EVENT:
		a = next(input);
		b = next(input);
		trace(a, b, next(input));
		break;
	case READ:
		read_some(trid, 4 * next(input));
		break;
	case ASK:
		ask();
		break;
	case NAMES:
		list_names();
		break;
	case STOP:
		posix_trace_stop(trid);
		break;
	case START:
		posix_trace_start(trid);
		break;
	case CLEAR:
		posix_trace_clear(trid);
		break;
	case FLUSH:
		posix_trace_flush(trid);
		break;
	case FILTER:
		a = next(input);
		filter(a, next(input));
		break;
	case OPEN:
		a = next(input);
		open_type(a, next(input) & 1);
		break;
	case LOOK:
		log = next(input) & 1;
		posix_trace_observe_np(0, visit, &log);
		break;
	case FORK:
		trace_in_child(next(input));
		break;
	case MORE:
		a = next(input);
		have_more(a, next(input));
		break;
	default:
		describe(next(input));
	}
}

static void work(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };
	unsigned policy = next(&input), bytes = next(&input);
	unsigned file = next(&input);
	bool log = file & 1, inherited = next(&input) & 1, dies = log && file & 2;

	FUZZ_MUST(posix_trace_eventid_open("u", &type[0]) == 0, "no type");
	for (int i = 1; i < 4; i++)
		type[i] = type[0];
	/* A flusher is a thread of this process, which does not end. */
	policy = dies ? policy / 3 * 3 + policy % 3 % 2 : policy;
	FUZZ_MUST(create(policy, bytes, log, inherited, 8 * next(&input), &trid) == 0, "no stream");
	FUZZ_MUST(posix_trace_start(trid) == 0, "not started");
	segment_see();
	segment_live();
	for (int n = 0; n < STEPS_MAX && input.at < input.end; n++)
		step(&input);
	if (!log)
		read_some(trid, READS_MAX);
	if (dies)
		segment_die(trid, log_fd, type[0], policy % 3 == 0, policy / 3 % 3 == 0, hostile);
	else
		posix_trace_shutdown(trid);
	if (log)
		read_log(log_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_isolated(work, data, size);
	return 0;
}
