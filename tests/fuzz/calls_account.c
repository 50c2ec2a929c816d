/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls_account.c - ledgers, as trace_np.h promises them: in total, by type and by thread.
 *
 * Where the model cannot know which of two columns an event is in (overwritten or not, in the log
 * or lost by it), their sum must be right; the events read from the log decide.
 */
#include <unistd.h>

#include "fuzz/calls.h"

enum column { CALLED, REPORTED, UNREAD, LOST, COLUMNS = LOST + POSIX_TRACE_LOST_MAX_NP };

struct columns {
	uint64_t n[COLUMNS];
};

static struct columns columns_of(const struct posix_trace_ledger_np *line)
{
	struct columns columns = { { line->called, line->reported, line->unread } };

	memcpy(&columns.n[LOST], line->lost, sizeof(line->lost));
	return columns;
}

static void fold(struct columns *columns, enum column from, enum column to)
{
	columns->n[to] += columns->n[from];
	columns->n[from] = 0;
}

static void fold_unknown(const struct model_stream *m, struct columns *columns)
{
	if (m->overwritten)
		fold(columns, LOST + POSIX_TRACE_LOST_OVERWRITTEN_NP, UNREAD);
	if (!m->uncertain)
		return;
	fold(columns, UNREAD, REPORTED);
	fold(columns, LOST + POSIX_TRACE_LOST_OVERWRITTEN_NP, REPORTED);
	fold(columns, LOST + POSIX_TRACE_LOST_LOG_FULL_NP, REPORTED);
	fold(columns, LOST + POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP, REPORTED);
	if (m->policy == POSIX_TRACE_FLUSH)
		fold(columns, LOST + POSIX_TRACE_LOST_STREAM_FULL_NP, REPORTED);
}

/*
 * Returns how many of the extra events were cleared. The flusher may flush after the model adopted
 * the account and before the clear; the clear discards the marks of that flush.
 */
static uint64_t cleared_of(const struct model_stream *m, uint64_t extra, struct columns *due,
			   const struct columns *given)
{
	const enum column cleared = LOST + POSIX_TRACE_LOST_CLEARED_NP;
	uint64_t more = given->n[cleared] - due->n[cleared];

	if (m->policy != POSIX_TRACE_FLUSH || given->n[cleared] < due->n[cleared] || more > extra)
		return 0;
	due->n[cleared] += more;
	return more;
}

/* Returns how many system events the stream has counted that the model has not counted yet. */
static uint64_t compare_line(const struct model_stream *m, const char *what, unsigned which,
			     const struct posix_trace_ledger_np *due_line,
			     const struct posix_trace_ledger_np *line)
{
	struct columns due = columns_of(due_line), given = columns_of(line);
	uint64_t sum = 0, extra = 0;

	for (int i = REPORTED; i < COLUMNS; i++)
		sum += given.n[i];
	FUZZ_MUST(sum == line->called, "%s %u: %llu called, the sum is %llu", what, which,
		  (unsigned long long)line->called, (unsigned long long)sum);
	fold_unknown(m, &due);
	fold_unknown(m, &given);
	if (m->uncertain && given.n[CALLED] > due.n[CALLED]) {
		extra = given.n[CALLED] - due.n[CALLED];
		due.n[CALLED] += extra;
		due.n[REPORTED] += extra;
		due.n[REPORTED] -= cleared_of(m, extra, &due, &given);
	}
	for (int i = CALLED; i < COLUMNS; i++)
		FUZZ_MUST(due.n[i] == given.n[i], "%s %u: column %d is %llu, expected is %llu",
			  what, which, i, (unsigned long long)given.n[i],
			  (unsigned long long)due.n[i]);
	return extra;
}

static bool is_zero(const struct posix_trace_ledger_np *line)
{
	static const struct posix_trace_ledger_np zero;

	return memcmp(line, &zero, sizeof(zero)) == 0;
}

static bool is_known(unsigned type)
{
	bool known = type == POSIX_TRACE_UNNAMED_USEREVENT ||
		     (type > 0 && type <= POSIX_TRACE_FLUSH_STOP);

	for (unsigned i = 0; i < NAMES; i++)
		known |= type && type_of[i] == type;
	return known;
}

static uint64_t ask_type(unsigned s, unsigned type, bool adopt)
{
	struct posix_trace_ledger_np line, *due = &model[s].account.type[type];
	uint64_t extra;
	int err;

	err = posix_trace_get_ledger_type_np(trid[s], type, &line);
	if (err == EINVAL && is_zero(due) && (!is_known(type) || model[s].kind == MODEL_STORED))
		return 0; /* it may have been named since */
	FUZZ_MUST(err == 0, "no line of type %u", type);
	extra = compare_line(&model[s], "type", type, due, &line);
	FUZZ_MUST(!extra || type <= POSIX_TRACE_FLUSH_STOP, "%llu too many of type %u",
		  (unsigned long long)extra, type);
	if (adopt)
		*due = line;
	return extra;
}

/* Returns false after the last line. */
static bool ask_process(unsigned s, size_t index, bool adopt, size_t *found, uint64_t *extra)
{
	struct model_account *account = &model[s].account;
	struct posix_trace_thread_np thread;
	struct posix_trace_ledger_np line;
	int unavailable;
	size_t i = 0;

	SAYS(0, posix_trace_get_ledger_thread_np(trid[s], index, &thread, &line, &unavailable));
	if (unavailable || is_zero(&line))
		return !unavailable;
	FUZZ_MUST(thread.pid == thread.tid, "a line of thread %d of process %d", (int)thread.tid,
		  (int)thread.pid);
	while (i < account->processes && account->pid[i] != thread.pid)
		i++;
	if (i == account->processes && thread.pid == 0) { /* only in the columns of system events */
		account->pid[i] = 0;
		account->processes++;
	}
	FUZZ_MUST(i < account->processes, "a line of process %d", (int)thread.pid);
	*found += !is_zero(&account->process[i]);
	*extra += compare_line(&model[s], "process", (unsigned)thread.pid, &account->process[i],
			       &line);
	if (adopt)
		account->process[i] = line;
	return true;
}

static void ask_account_and(unsigned s, bool adopt)
{
	struct posix_trace_ledger_np line;
	struct model_account *account = &model[s].account;
	uint64_t extra, of_types = 0, of_processes = 0;
	size_t found = 0, due = 0;

	SAYS(if_any(s), posix_trace_get_ledger_np(trid[s], &line));
	if (model[s].kind == MODEL_NONE)
		return;
	extra = compare_line(&model[s], "total", 0, &account->total, &line);
	if (adopt)
		account->total = line;
	for (size_t i = 0; i < account->processes; i++)
		due += !is_zero(&account->process[i]);
	SAYS(EINVAL, posix_trace_get_ledger_type_np(trid[s], MODEL_TYPES, &line));
	for (unsigned type = 1; type < MODEL_TYPES; type++)
		if (is_known(type))
			of_types += ask_type(s, type, adopt);
	for (size_t i = 0; ask_process(s, i, adopt, &found, &of_processes); i++)
		FUZZ_MUST(i < MODEL_THREADS, "lines of threads without an end");
	FUZZ_MUST(found == due, "%zu processes have a line, expected are %zu", found, due);
	/* The flusher may have flushed in between. */
	FUZZ_MUST(model[s].policy == POSIX_TRACE_FLUSH ||
			  (extra == of_types && extra == of_processes),
		  "the system's own: %llu, by type %llu, by thread %llu", (unsigned long long)extra,
		  (unsigned long long)of_types, (unsigned long long)of_processes);
}

void ask_account(unsigned s)
{
	ask_account_and(s, false);
}

void adopt_account(unsigned s)
{
	if (active(s))
		ask_account_and(s, true);
}

uint64_t lost_by_log(unsigned s)
{
	struct posix_trace_ledger_np line;

	SAYS(0, posix_trace_get_ledger_np(trid[s], &line));
	return line.lost[POSIX_TRACE_LOST_LOG_FULL_NP] +
	       line.lost[POSIX_TRACE_LOST_LOG_OVERWRITTEN_NP];
}

/* The events that a log holds are its reported events, by type and by thread. */
void compare_reported(unsigned s)
{
	const struct model_account *read = &model[s].read;
	struct posix_trace_ledger_np line;
	struct posix_trace_thread_np thread;
	int unavailable = 0;

	SAYS(0, posix_trace_get_ledger_np(trid[s], &line));
	FUZZ_MUST(line.reported == read->total.reported && line.unread == 0,
		  "%llu were read of a log that has %llu", (unsigned long long)read->total.reported,
		  (unsigned long long)line.reported);
	for (unsigned type = 1; type < MODEL_TYPES; type++) {
		if (!is_known(type) && read->type[type].reported == 0)
			continue;
		if (posix_trace_get_ledger_type_np(trid[s], type, &line))
			line.reported = 0;
		FUZZ_MUST(line.reported == read->type[type].reported,
			  "%llu of type %u were read of a log that has %llu",
			  (unsigned long long)read->type[type].reported, type,
			  (unsigned long long)line.reported);
	}
	for (size_t i = 0; !unavailable; i++) {
		uint64_t due = 0;

		SAYS(0, posix_trace_get_ledger_thread_np(trid[s], i, &thread, &line, &unavailable));
		for (size_t j = 0; j < read->processes; j++)
			due += read->pid[j] == thread.pid ? read->process[j].reported : 0;
		FUZZ_MUST(unavailable || line.reported == due,
			  "%llu of process %d were read of a log that has %llu",
			  (unsigned long long)due, (int)thread.pid,
			  (unsigned long long)line.reported);
	}
}
