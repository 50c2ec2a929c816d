/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.c - a sequence of calls, each with what the specification says that it returns, and what is
 * read with what it says that there is: model.h.
 *
 * An input is words with operands, of which each is a byte. STREAM is one of four: what was
 * created or opened there last, or nothing. What there is may be stale.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#include "fuzz/isolate.h"
#include "fuzz/model.h"

enum step { CREATE, WITHLOG, REOPEN, SHUTDOWN, CLOSE, START, STOP, CLEAR, FLUSH, EVENT, FILTER, READ,
	    STATUS, OPEN, TYPES, REWIND, ATTR, FLOOD, CHILD, WRONG, STEPS };

const struct fuzz_word fuzz_words[] = {
	{ "create", CREATE }, { "withlog", WITHLOG }, { "reopen", REOPEN }, { "shutdown", SHUTDOWN },
	{ "close", CLOSE }, { "start", START }, { "stop", STOP }, { "clear", CLEAR },
	{ "flush", FLUSH }, { "event", EVENT }, { "filter", FILTER }, { "read", READ },
	{ "status", STATUS }, { "open", OPEN }, { "types", TYPES }, { "rewind", REWIND },
	{ "attr", ATTR }, { "flood", FLOOD }, { "child", CHILD }, { "wrong", WRONG },
	{ "loop", 0 }, { "until-full", 1 },
	{ "set", 0 }, { "add", 1 }, { "sub", 2 },
	{ 0 }
};

#define STREAMS   4
#define NAMES     8
#define STEPS_MAX 200
#define EVENTS_MAX 300 /* of an input, without floods: no stream is too small for them */
#define STREAM_BYTES 65536u
#define FLOOD_MAX   (MODEL_ITEMS - 2 * EVENTS_MAX)

static struct model_stream model[STREAMS];
static trace_id_t trid[STREAMS];
static int log_fd[STREAMS];
static trace_event_id_t type_of[NAMES]; /* 0: not opened yet */
static unsigned number, events, floods;

struct input {
	const uint8_t *at, *end;
};

static unsigned next(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

#define SAYS(expected, call) says(#call, expected, (errno = 4711, call))

static void says(const char *call, int expected, int said)
{
	FUZZ_MUST(said == expected, "%s says %d, expected is %d", call, said, expected);
	FUZZ_MUST(errno == 4711, "%s changed errno", call);
}

static bool active(unsigned s)
{
	return model[s].kind == MODEL_LIVE || model[s].kind == MODEL_LOGGED;
}

static int if_active(unsigned s)
{
	return active(s) ? 0 : EINVAL;
}

static int if_any(unsigned s)
{
	return model[s].kind == MODEL_NONE ? EINVAL : 0;
}

static int if_kind(unsigned s, enum model_kind kind)
{
	return model[s].kind == kind ? 0 : EINVAL;
}

/* What is read. */

static void compare_set(const struct model_set *set, const void *data)
{
	trace_event_set_t given;

	memcpy(&given, data, sizeof(given));
	for (unsigned type = 1; type < MODEL_TYPES; type++) {
		int member = -1;

		if (posix_trace_eventset_ismember(type, &given, &member) == 0)
			FUZZ_MUST(!member == !set->member[type], "type %u in a set: %d", type, member);
	}
}

static void compare(const struct model_item *item, const struct posix_trace_event_info *info,
		    const unsigned char *data, size_t len, size_t room)
{
	size_t due = item->len < room ? item->len : room;
	int truncation = item->len > room ? POSIX_TRACE_TRUNCATED_READ : /* TRUNC-03 */
			 item->truncated  ? POSIX_TRACE_TRUNCATED_RECORD :
					    POSIX_TRACE_NOT_TRUNCATED;

	FUZZ_MUST(info->posix_event_id == item->type, "an event of type %u, expected is %u",
		  (unsigned)info->posix_event_id, item->type);
	FUZZ_MUST(len == due, "%zu bytes of type %u, expected are %zu", len, item->type, due);
	FUZZ_MUST(info->posix_truncation_status == truncation, "truncation %d, expected is %d",
		  info->posix_truncation_status, truncation);
	FUZZ_MUST(info->posix_timestamp.tv_nsec >= 0 && info->posix_timestamp.tv_nsec < 1000000000,
		  "no time");
	if (item->type < POSIX_TRACE_UNNAMED_USEREVENT && item->type != POSIX_TRACE_STOP) {
		if (item->type == POSIX_TRACE_START && len == item->len)
			compare_set(&item->set[0], data);
		if (item->type == POSIX_TRACE_FILTER && len == item->len) {
			compare_set(&item->set[0], data);
			compare_set(&item->set[1], data + sizeof(trace_event_set_t));
		}
		return;
	}
	if (item->type == POSIX_TRACE_STOP && item->data[0] && len)
		FUZZ_MUST(data[0], "an automatic stop as one by call");
	else
		FUZZ_MUST(memcmp(data, item->data, due) == 0, "other data of type %u", item->type);
	if (item->pid)
		FUZZ_MUST(info->posix_pid == item->pid, "an event of process %d",
			  (int)info->posix_pid);
	if (item->pid == getpid())
		FUZZ_MUST(pthread_equal(info->posix_thread_id, pthread_self()), "another thread");
}

static struct read {
	struct posix_trace_event_info info;
	unsigned char data[2 * sizeof(trace_event_set_t)];
	size_t len;
	int unavailable;
} got;

static bool get(unsigned s, size_t room)
{
	const unsigned char mark = 0xa5;

	memset(got.data, mark, sizeof(got.data));
	got.len = 4711;
	if (model[s].kind == MODEL_STORED)
		SAYS(0, posix_trace_getnext_event(trid[s], &got.info, got.data, room, &got.len,
						  &got.unavailable));
	else
		SAYS(0, posix_trace_trygetnext_event(trid[s], &got.info, got.data, room, &got.len,
						     &got.unavailable));
	for (size_t i = got.unavailable ? 0 : got.len; i < sizeof(got.data); i++) /* TRUNC-07 */
		FUZZ_MUST(got.data[i] == mark, "byte %zu was written, of %zu", i, got.len);
	return !got.unavailable;
}

/* SLOOP-05 to SLOOP-07; the marks obey the filter. */
static void skip_overwritten(unsigned s, size_t room)
{
	struct model_stream *m = &model[s];

	m->overwritten = false;
	if (!m->filter.member[POSIX_TRACE_OVERFLOW]) {
		FUZZ_MUST(got.info.posix_event_id == POSIX_TRACE_OVERFLOW && got.len == 0,
			  "no OVERFLOW but type %u", (unsigned)got.info.posix_event_id);
		FUZZ_MUST(get(s, room), "nothing behind OVERFLOW");
	}
	if (!m->filter.member[POSIX_TRACE_RESUME]) {
		FUZZ_MUST(got.info.posix_event_id == POSIX_TRACE_RESUME && got.len == 0,
			  "no RESUME but type %u", (unsigned)got.info.posix_event_id);
		FUZZ_MUST(get(s, room), "nothing behind RESUME");
	}
	for (; m->next < m->items; m->next++) {
		const struct model_item *item = &m->item[m->next];

		if (item->type == got.info.posix_event_id && item->len == got.len &&
		    (item->type < POSIX_TRACE_UNNAMED_USEREVENT ||
		     memcmp(item->data, got.data, got.len) == 0))
			return;
	}
	fuzz_found("what survived was never recorded");
}

/* At the end: false. */
static bool read_one(unsigned s, size_t room)
{
	struct model_stream *m = &model[s];

	if (!get(s, room)) {
		FUZZ_MUST(m->next == m->items && !m->overwritten, "nothing, but %zu are due",
			  m->items - m->next);
		return false;
	}
	if (m->overwritten)
		skip_overwritten(s, room);
	if (m->next == m->items && m->start_due && got.info.posix_event_id == POSIX_TRACE_START) {
		m->start_due = false; /* the START of its restart may be there before an event */
		return true;
	}
	FUZZ_MUST(m->next < m->items, "type %u, but nothing is due",
		  (unsigned)got.info.posix_event_id);
	compare(&m->item[m->next++], &got.info, got.data, got.len, room);
	return true;
}

static void read_some(unsigned s, unsigned most, size_t room)
{
	struct model_stream *m = &model[s];
	bool all = m->auto_stopped || m->overwritten; /* when room is free again is not said */

	if (m->kind != MODEL_LIVE && m->kind != MODEL_STORED) {
		SAYS(EINVAL, posix_trace_trygetnext_event(trid[s], &got.info, got.data, room, &got.len,
							  &got.unavailable));
		return;
	}
	if (m->kind == MODEL_STORED)
		SAYS(EINVAL, posix_trace_trygetnext_event(trid[s], &got.info, got.data, room, &got.len,
							  &got.unavailable));
	if (all)
		room = sizeof(got.data);
	while (all || most--)
		if (!read_one(s, room)) {
			if (m->kind == MODEL_LIVE)
				model_emptied(m);
			return;
		}
}

/* What is done. */

static void create(unsigned s, unsigned policy, unsigned max_data, bool inherited)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	trace_id_t before = trid[s];
	trace_attr_t attr;

	if (model[s].kind != MODEL_NONE)
		return;
	SAYS(0, posix_trace_attr_init(&attr));
	SAYS(0, posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	SAYS(EINVAL, posix_trace_create(0, &attr, &trid[s])); /* CREATE-14 */
	SAYS(0, posix_trace_attr_setstreamfullpolicy(&attr, policies[policy % 2]));
	SAYS(ESRCH, posix_trace_create(-2, &attr, &trid[s])); /* CREATE-18 */
	FUZZ_MUST(trid[s] == before, "a failed creation gave an identifier"); /* CREATE-25 */
	SAYS(0, posix_trace_attr_setmaxdatasize(&attr, max_data % MODEL_DATA));
	SAYS(0, posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	SAYS(0, posix_trace_attr_setinherited(&attr, inherited ? POSIX_TRACE_INHERITED :
								  POSIX_TRACE_CLOSE_FOR_CHILD));
	SAYS(0, posix_trace_create(0, &attr, &trid[s]));
	FUZZ_MUST(trid[s] != before || before == 0, "an identifier was used again"); /* LEGAL-04 */
	SAYS(0, posix_trace_attr_destroy(&attr));
	model_create(&model[s], MODEL_LIVE, policies[policy % 2], max_data % MODEL_DATA);
	model[s].inherited = inherited;
}

static void create_withlog(unsigned s, unsigned log_policy, unsigned max_data)
{
	static const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };
	trace_attr_t attr;

	if (model[s].kind != MODEL_NONE)
		return;
	SAYS(0, posix_trace_attr_init(&attr));
	SAYS(0, posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	SAYS(0, posix_trace_attr_setlogfullpolicy(&attr, policies[log_policy % 3]));
	SAYS(0, posix_trace_attr_setlogsize(&attr, 4 * STREAM_BYTES));
	SAYS(0, posix_trace_attr_setmaxdatasize(&attr, max_data % MODEL_DATA));
	SAYS(0, posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	SAYS(EBADF, posix_trace_create_withlog(0, &attr, -1, &trid[s])); /* WITHLOG-02 */
	if (log_fd[s])
		close(log_fd[s]);
	log_fd[s] = fuzz_file(NULL, 0);
	SAYS(0, posix_trace_create_withlog(0, &attr, log_fd[s], &trid[s]));
	SAYS(0, posix_trace_attr_destroy(&attr));
	model_create(&model[s], MODEL_LOGGED, POSIX_TRACE_UNTIL_FULL, max_data % MODEL_DATA);
	model[s].log_policy = policies[log_policy % 3];
}

/* Of a stream with log the log stays, and what it must have: then it can be reopened. */
static void shut_down(unsigned s)
{
	SAYS(if_active(s), posix_trace_shutdown(trid[s]));
	if (!active(s))
		return;
	SAYS(EINVAL, posix_trace_shutdown(trid[s])); /* LEGAL-03 */
	if (model[s].kind == MODEL_LOGGED) {
		struct posix_trace_check_np check;

		model_finish(&model[s]);
		model[s].next = 0;
		SAYS(0, posix_trace_check_np(log_fd[s], NULL, NULL, &check));
		FUZZ_MUST(check.faults == 0 && check.complete, "the log has faults");
		model[s].kind = MODEL_NONE;
		return;
	}
	model_free(&model[s]);
}

static void reopen(unsigned s)
{
	if (model[s].kind != MODEL_NONE || !model[s].item)
		return;
	SAYS(0, posix_trace_open(log_fd[s], &trid[s]));
	model[s].kind = MODEL_STORED;
	model[s].next = 0;
	model[s].full_known = model[s].overrun_known = false;
}

static void close_log(unsigned s)
{
	SAYS(if_kind(s, MODEL_STORED), posix_trace_close(trid[s]));
	if (model[s].kind == MODEL_STORED)
		model[s].kind = MODEL_NONE; /* and can be opened again */
}

static void make_event(unsigned which, unsigned len)
{
	unsigned char data[2 * MODEL_DATA];
	unsigned type = which % (NAMES + 2) < NAMES ? type_of[which % (NAMES + 2)] :
			which % (NAMES + 2) == NAMES ? POSIX_TRACE_UNNAMED_USEREVENT :
						       POSIX_TRACE_START; /* EVENT-12: ignored */

	if (!type || ++events > EVENTS_MAX)
		return;
	number++;
	memset(data, (int)(len & 0xff), sizeof(data));
	memcpy(data, &number, sizeof(number));
	errno = 4711;
	posix_trace_event(type, data, len % MODEL_DATA);
	FUZZ_MUST(errno == 4711, "an event changed errno");
	if (type == POSIX_TRACE_START)
		return;
	for (unsigned s = 0; s < STREAMS; s++)
		if (active(s))
			model_event(&model[s], type, data, len % MODEL_DATA, getpid());
}

static void ask_status(unsigned s)
{
	struct posix_trace_status_info status;
	struct model_stream *m = &model[s];

	SAYS(if_any(s), posix_trace_get_status(trid[s], &status));
	if (m->kind == MODEL_NONE)
		return;
	if (m->kind == MODEL_STORED)
		return;
	FUZZ_MUST(status.posix_stream_status == (m->running ? POSIX_TRACE_RUNNING :
							      POSIX_TRACE_SUSPENDED),
		  "the status is %d", status.posix_stream_status);
	FUZZ_MUST(!m->full_known || (status.posix_stream_full_status == POSIX_TRACE_FULL) == m->full,
		  "the full status is %d", status.posix_stream_full_status);
	FUZZ_MUST(!m->overrun_known ||
			  (status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN) == m->overrun,
		  "the overrun status is %d", status.posix_stream_overrun_status);
	FUZZ_MUST(status.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING &&
			  status.posix_stream_flush_error == 0 &&
			  status.posix_log_overrun_status == POSIX_TRACE_NO_OVERRUN &&
			  status.posix_log_full_status == POSIX_TRACE_NOT_FULL,
		  "the log's status");
	m->overrun = false; /* STATUS-06 */
	m->overrun_known = true;
}

/* What survives must be known by its data: its number. */
static bool can_be_told(const struct model_stream *stream)
{
	for (size_t i = stream->next; i < stream->items; i++)
		if (stream->item[i].type >= POSIX_TRACE_UNNAMED_USEREVENT &&
		    stream->item[i].len < sizeof(number))
			return false;
	return stream->max_data >= sizeof(number);
}

/* Only a stream that alone records: how much others take is theirs. */
static void flood(unsigned s)
{
	struct posix_trace_status_info status;
	struct model_stream *m = &model[s];
	unsigned char data[MODEL_DATA] = { 0 };

	for (unsigned other = 0; other < STREAMS; other++)
		if (other != s && active(other) && model[other].running)
			return;
	if (m->kind != MODEL_LIVE || !m->running || !type_of[0] || m->filter.member[type_of[0]] ||
	    m->full || !can_be_told(m) || floods++)
		return;
	for (unsigned n = 0; n < FLOOD_MAX; n++) {
		number++;
		memcpy(data, &number, sizeof(number));
		posix_trace_event(type_of[0], data, sizeof(data));
		model_event(m, type_of[0], data, sizeof(data), getpid());
		SAYS(0, posix_trace_get_status(trid[s], &status));
		if (m->policy == POSIX_TRACE_LOOP ? status.posix_stream_overrun_status :
						    status.posix_stream_full_status) {
			FUZZ_MUST(status.posix_stream_full_status == POSIX_TRACE_FULL &&
					  (status.posix_stream_status == POSIX_TRACE_RUNNING) ==
						  (m->policy == POSIX_TRACE_LOOP),
				  "full, and its status is %d", status.posix_stream_status);
			model_filled(m);
			return;
		}
	}
	fuzz_found("a stream of %u bytes is not full", STREAM_BYTES);
}

static unsigned type_number(unsigned which)
{
	if (which % 18 < NAMES)
		return type_of[which % 18];
	return which % 18 == 16 ? POSIX_TRACE_UNNAMED_USEREVENT : which % 18 - NAMES;
}

static void filter(unsigned s, unsigned how, unsigned first, unsigned second)
{
	static const int hows[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
				    POSIX_TRACE_SUB_EVENTSET };
	const unsigned types[] = { type_number(first), type_number(second) };
	struct model_set set = { { false } };
	trace_event_set_t events_set, now;

	SAYS(0, posix_trace_eventset_empty(&events_set));
	for (int i = 0; i < 2; i++) {
		if (types[i] == 0 || types[i] == POSIX_TRACE_FLUSH_STOP + 1)
			continue;
		SAYS(0, posix_trace_eventset_add(types[i], &events_set));
		set.member[types[i]] = true;
	}
	SAYS(if_active(s), posix_trace_set_filter(trid[s], &events_set, hows[how % 3]));
	if (active(s)) {
		SAYS(EINVAL, posix_trace_set_filter(trid[s], &events_set, 4711));
		model_set_filter(&model[s], &set, hows[how % 3]);
	}
	SAYS(if_active(s), posix_trace_get_filter(trid[s], &now));
	if (active(s))
		compare_set(&model[s].filter, &now);
}

static void open_name(unsigned which, unsigned s, bool by_stream)
{
	char name[] = { 'n', (char)('0' + which % NAMES), '\0' }, known[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type = 4711;

	if (by_stream) {
		SAYS(if_active(s), posix_trace_trid_eventid_open(trid[s], name, &type));
		if (!active(s))
			return;
	} else {
		SAYS(0, posix_trace_eventid_open(name, &type));
	}
	FUZZ_MUST(type > POSIX_TRACE_UNNAMED_USEREVENT && type < MODEL_TYPES, "type %u", (unsigned)type);
	FUZZ_MUST(!type_of[which % NAMES] || type_of[which % NAMES] == type, "another type"); /* EVID-02 */
	for (unsigned i = 0; i < NAMES; i++)
		FUZZ_MUST(i == which % NAMES || type_of[i] != type, "the same type"); /* EVID-03 */
	type_of[which % NAMES] = type;
	for (unsigned i = 0; i < STREAMS; i++)
		if (active(i)) { /* EVID-07 */
			SAYS(0, posix_trace_eventid_get_name(trid[i], type, known));
			FUZZ_MUST(strcmp(known, name) == 0, "another name");
			FUZZ_MUST(posix_trace_eventid_equal(trid[i], type, type), "not equal");
		}
}

/* LIST-01 to LIST-04 */
static void list_types(unsigned s)
{
	bool seen[MODEL_TYPES] = { false };
	char name[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t type;
	int unavailable = 0;

	SAYS(if_any(s), posix_trace_eventtypelist_rewind(trid[s]));
	SAYS(if_any(s), posix_trace_eventtypelist_getnext_id(trid[s], &type, &unavailable));
	if (model[s].kind == MODEL_NONE)
		return;
	while (!unavailable) {
		FUZZ_MUST(type > 0 && type < MODEL_TYPES && !seen[type], "type %u in the list",
			  (unsigned)type);
		seen[type] = true;
		SAYS(0, posix_trace_eventid_get_name(trid[s], type, name));
		SAYS(0, posix_trace_eventtypelist_getnext_id(trid[s], &type, &unavailable));
	}
	for (unsigned i = POSIX_TRACE_ERROR; i <= POSIX_TRACE_FLUSH_STOP; i++)
		FUZZ_MUST(seen[i], "type %u is not in the list", i);
	FUZZ_MUST(seen[POSIX_TRACE_UNNAMED_USEREVENT], "the unnamed type is not in the list");
	for (unsigned i = 0; i < NAMES; i++)
		FUZZ_MUST(!active(s) || !type_of[i] || seen[type_of[i]], "a name is not in the list");
}

static void ask_attr(unsigned s)
{
	size_t max_data, size;
	trace_attr_t attr;
	int policy;

	SAYS(if_any(s), posix_trace_get_attr(trid[s], &attr));
	if (model[s].kind == MODEL_NONE)
		return;
	SAYS(0, posix_trace_attr_getmaxdatasize(&attr, &max_data));
	SAYS(0, posix_trace_attr_getstreamsize(&attr, &size));
	SAYS(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	FUZZ_MUST(max_data == model[s].max_data && policy == model[s].policy && size >= STREAM_BYTES,
		  "attributes: %zu %#x %zu", max_data, (unsigned)policy, size); /* CREATE-09 */
	SAYS(0, posix_trace_attr_destroy(&attr));
}

/* CREATE-21, and events of a child where the stream is inherited. */
static void have_child(unsigned which)
{
	unsigned type = type_of[which % NAMES], data = ++number;
	pid_t child;
	int status = -1;

	for (unsigned s = 0; s < STREAMS; s++)
		if (model[s].auto_stopped || model[s].overwritten)
			return; /* its events may have another place among those */
	if (++events > EVENTS_MAX)
		return;
	child = fork();
	if (child == 0) {
		struct posix_trace_status_info info;
		bool bad = false;

		for (unsigned s = 0; s < STREAMS; s++)
			bad |= trid[s] && posix_trace_get_status(trid[s], &info) != EINVAL;
		if (type)
			posix_trace_event(type, &data, sizeof(data));
		_exit(bad);
	}
	FUZZ_MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0,
		  "the child ended with %#x", status);
	for (unsigned s = 0; s < STREAMS; s++)
		if (active(s) && model[s].inherited && type)
			model_event(&model[s], type, &data, sizeof(data), child);
}

/* What is no identifier, or a null pointer. */
static void do_wrong(unsigned s, unsigned what)
{
	struct posix_trace_status_info status;
	const trace_id_t none[] = { 0, (trace_id_t)-1, trid[s] ^ 0x40000000 };
	trace_event_set_t set;

	memset(&set, 0x5a, sizeof(set));
	switch (what % 6) {
	case 0:
		SAYS(EINVAL, posix_trace_start(none[what / 6 % 3]));
		break;
	case 1:
		SAYS(EINVAL, posix_trace_get_status(none[what / 6 % 3], &status));
		break;
	case 2:
		SAYS(EINVAL, posix_trace_get_status(trid[s], NULL));
		break;
	case 3:
		SAYS(EINVAL, posix_trace_set_filter(trid[s], &set, POSIX_TRACE_SET_EVENTSET));
		break;
	case 4:
		SAYS(EINVAL, posix_trace_shutdown(none[what / 6 % 3]));
		break;
	default:
		SAYS(EINVAL, posix_trace_eventid_get_name(trid[s], 4711, (char[64]){ 0 }));
	}
}

static void step(struct input *input)
{
	unsigned what = next(input) % STEPS, s = 0, a, b;

	if (what != EVENT && what != CHILD)
		s = next(input) % STREAMS;
	switch (what) {
	case CREATE:
		a = next(input);
		b = next(input);
		create(s, a, b, next(input) & 1);
		break;
	case WITHLOG:
		a = next(input);
		create_withlog(s, a, next(input));
		break;
	case REOPEN:
		reopen(s);
		break;
	case SHUTDOWN:
		shut_down(s);
		break;
	case CLOSE:
		close_log(s);
		break;
	case START:
		SAYS(if_active(s), posix_trace_start(trid[s]));
		if (active(s))
			model_start(&model[s]);
		break;
	case STOP:
		/* What becomes of a restart that is due is not said. */
		if (model[s].auto_stopped)
			break;
		SAYS(if_active(s), posix_trace_stop(trid[s]));
		if (active(s))
			model_stop(&model[s]);
		break;
	case CLEAR:
		SAYS(if_active(s), posix_trace_clear(trid[s]));
		if (active(s))
			model_clear(&model[s]);
		break;
	case FLUSH:
		SAYS(if_kind(s, MODEL_LOGGED), posix_trace_flush(trid[s]));
		if (model[s].kind == MODEL_LOGGED)
			model_flush(&model[s]);
		break;
	case EVENT:
		a = next(input);
		make_event(a, next(input));
		break;
	case FILTER:
		a = next(input);
		b = next(input);
		if (model[s].auto_stopped || model[s].overwritten || model[s].start_due)
			break; /* which filter its marks meet is not said */
		filter(s, a, b, next(input));
		break;
	case READ:
		a = next(input);
		b = next(input);
		read_some(s, a, b % 2 ? b % sizeof(got.data) : sizeof(got.data));
		break;
	case STATUS:
		ask_status(s);
		break;
	case OPEN:
		a = next(input);
		open_name(a, s, next(input) & 1);
		break;
	case TYPES:
		list_types(s);
		break;
	case REWIND:
		SAYS(if_kind(s, MODEL_STORED), posix_trace_rewind(trid[s]));
		if (model[s].kind == MODEL_STORED)
			model[s].next = 0;
		break;
	case ATTR:
		ask_attr(s);
		break;
	case FLOOD:
		flood(s);
		break;
	case CHILD:
		have_child(next(input));
		break;
	default:
		do_wrong(s, next(input));
	}
}

static void work(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };

	for (int n = 0; n < STEPS_MAX && input.at < input.end; n++)
		step(&input);
	for (unsigned s = 0; s < STREAMS; s++) {
		if (model[s].kind == MODEL_LIVE || model[s].kind == MODEL_STORED)
			read_some(s, MODEL_ITEMS, sizeof(got.data));
		if (active(s))
			shut_down(s);
		reopen(s);
		if (model[s].kind == MODEL_STORED) {
			read_some(s, MODEL_ITEMS, sizeof(got.data));
			close_log(s);
		}
		model_free(&model[s]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_isolated(work, data, size);
	return 0;
}
