/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz/calls.h"

static bool flag(const char *what, int said, int set, int unset)
{
	FUZZ_MUST(said == set || said == unset, "%s is %d", what, said);
	return said == set;
}

/* A log reports a loss once (STATUS-07, STATUS-13), and that it is full until it is cleared. */
static void compare_log_status(unsigned s, const struct posix_trace_status_info *status)
{
	struct model_stream *m = &model[s];
	bool full = flag("the log's full status", status->posix_log_full_status, POSIX_TRACE_FULL,
			 POSIX_TRACE_NOT_FULL);
	bool overrun = flag("the log's overrun status", status->posix_log_overrun_status,
			    POSIX_TRACE_OVERRUN, POSIX_TRACE_NO_OVERRUN);
	bool flushing = flag("the flush status", status->posix_stream_flush_status,
			     POSIX_TRACE_FLUSHING, POSIX_TRACE_NOT_FLUSHING);
	uint64_t lost = m->kind == MODEL_LOGGED ? lost_by_log(s) : 0;

	FUZZ_MUST(status->posix_stream_flush_error == 0, "the flush error is %d",
		  status->posix_stream_flush_error);
	FUZZ_MUST(!flushing || m->policy == POSIX_TRACE_FLUSH, "it is being flushed");
	if (m->policy == POSIX_TRACE_FLUSH && flushing)
		return;
	FUZZ_MUST(overrun == (lost > m->log_lost), "the log's overrun status is %d, it lost %llu",
		  overrun, (unsigned long long)(lost - m->log_lost));
	FUZZ_MUST(full || lost == m->lost_before, "a log that is not full lost %llu",
		  (unsigned long long)(lost - m->lost_before));
	FUZZ_MUST(!full || m->log_fills || (m->flooded && m->log_policy == POSIX_TRACE_LOOP),
		  "the log is full");
	FUZZ_MUST(m->log_policy != POSIX_TRACE_UNTIL_FULL || full == m->log_full,
		  "the log's full status is %d", full);
	m->log_lost = lost;
}

static void compare_status(unsigned s, const struct posix_trace_status_info *status)
{
	struct model_stream *m = &model[s];

	FUZZ_MUST(status->posix_stream_status == (m->running ? POSIX_TRACE_RUNNING :
							       POSIX_TRACE_SUSPENDED),
		  "the status is %d", status->posix_stream_status);
	FUZZ_MUST(!m->full_known ||
			  (status->posix_stream_full_status == POSIX_TRACE_FULL) == m->full,
		  "the full status is %d", status->posix_stream_full_status);
	FUZZ_MUST(!m->overrun_known ||
			  (status->posix_stream_overrun_status == POSIX_TRACE_OVERRUN) ==
				  m->overrun,
		  "the overrun status is %d", status->posix_stream_overrun_status);
	compare_log_status(s, status);
	m->overrun = false; /* STATUS-06 */
	m->overrun_known = true;
}

void ask_status(unsigned s)
{
	struct posix_trace_status_info status;

	SAYS(if_any(s), posix_trace_get_status(trid[s], &status));
	if (active(s))
		compare_status(s, &status);
}

void flush(unsigned s)
{
	struct posix_trace_status_info status;
	struct model_stream *m = &model[s];
	bool ended = false;

	SAYS(if_kind(s, MODEL_LOGGED), posix_trace_flush(trid[s]));
	if (m->kind != MODEL_LOGGED)
		return;
	if (!m->log_fills || m->log_policy != POSIX_TRACE_UNTIL_FULL) {
		model_flush(m, false);
		return;
	}
	SAYS(0, posix_trace_get_status(trid[s], &status)); /* the specification does not say how
							    * many events fit */
	ended = status.posix_log_full_status == POSIX_TRACE_FULL && !m->log_full;
	model_flush(m, ended);
	if (ended)
		model_log_ended(m);
	compare_status(s, &status);
}

static unsigned type_number(unsigned which)
{
	if (which % 18 < NAMES)
		return type_of[which % 18];
	return which % 18 == 16 ? POSIX_TRACE_UNNAMED_USEREVENT : which % 18 - NAMES;
}

void filter(unsigned s, unsigned how, unsigned first, unsigned second)
{
	static const int hows[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
				    POSIX_TRACE_SUB_EVENTSET };
	const unsigned types[] = { type_number(first), type_number(second) };
	struct model_set set = { { false } };
	trace_event_set_t events_set, now;
	int member = 1;

	SAYS(0, posix_trace_eventset_fill(&events_set, POSIX_TRACE_ALL_EVENTS));
	SAYS(0, posix_trace_eventset_del(POSIX_TRACE_START, &events_set));
	SAYS(0, posix_trace_eventset_ismember(POSIX_TRACE_START, &events_set, &member));
	FUZZ_MUST(!member, "a type is in a set that it was taken from");
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

void open_name(unsigned which, unsigned s, bool by_stream)
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
	FUZZ_MUST(type > POSIX_TRACE_UNNAMED_USEREVENT && type < MODEL_TYPES, "type %u",
		  (unsigned)type);
	/* EVID-02 */
	FUZZ_MUST(!type_of[which % NAMES] || type_of[which % NAMES] == type, "another type");
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
void list_types(unsigned s)
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
		FUZZ_MUST(!active(s) || !type_of[i] || seen[type_of[i]],
			  "a name is not in the list");
}

/* CREATE-09: the attributes of the creation, and those that a log keeps. */
void ask_attr(unsigned s)
{
	const struct model_stream *m = &model[s];
	char text[TRACE_NAME_MAX + 1];
	size_t max_data, size, user, system;
	int policy, log_policy, inherited;
	struct timespec time;
	trace_attr_t attr;

	SAYS(if_any(s), posix_trace_get_attr(trid[s], &attr));
	if (m->kind == MODEL_NONE)
		return;
	SAYS(0, posix_trace_attr_getmaxdatasize(&attr, &max_data));
	SAYS(0, posix_trace_attr_getstreamsize(&attr, &size));
	SAYS(0, posix_trace_attr_getstreamfullpolicy(&attr, &policy));
	FUZZ_MUST(max_data == m->max_data && policy == m->policy && size >= STREAM_BYTES,
		  "attributes: %zu %#x %zu", max_data, (unsigned)policy, size);
	SAYS(0, posix_trace_attr_getinherited(&attr, &inherited));
	FUZZ_MUST((inherited == POSIX_TRACE_INHERITED) == m->inherited, "inheritance %d",
		  inherited);
	SAYS(0, posix_trace_attr_getlogfullpolicy(&attr, &log_policy));
	SAYS(0, posix_trace_attr_getlogsize(&attr, &size));
	FUZZ_MUST(!m->log_policy || (log_policy == m->log_policy &&
					   size >= (m->log_fills ? SMALL_LOG_BYTES : LOG_BYTES)),
		  "attributes of the log: %#x %zu", (unsigned)log_policy, size);
	SAYS(0, posix_trace_attr_getname(&attr, text));
	FUZZ_MUST(strcmp(text, STREAM_NAME) == 0, "the name is %s", text);
	SAYS(0, posix_trace_attr_getgenversion(&attr, text));
	FUZZ_MUST(text[0], "no version");
	SAYS(0, posix_trace_attr_getclockres(&attr, &time));
	FUZZ_MUST(time.tv_sec == 0 && time.tv_nsec > 0, "the clock's resolution");
	SAYS(0, posix_trace_attr_getcreatetime(&attr, &time));
	FUZZ_MUST(time.tv_sec > 0, "no time of creation");
	SAYS(0, posix_trace_attr_getmaxusereventsize(&attr, max_data, &user));
	SAYS(0, posix_trace_attr_getmaxsystemeventsize(&attr, &system));
	FUZZ_MUST(user >= max_data && system >= 2 * sizeof(trace_event_set_t), "sizes %zu %zu",
		  user, system);
	SAYS(0, posix_trace_attr_destroy(&attr));
}

/* Invalid identifiers and null pointers. */
void do_wrong(unsigned s, unsigned what)
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
