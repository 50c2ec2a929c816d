/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * resume.c - a log of any bytes, as the log of a dead writer that a guardian resumes.
 *
 * If the log can be resumed and completed, it must have no fault. It must contain every earlier
 * event, except the oldest ones that a LOOP log overwrote, and then every new event that the log
 * accepted. If it cannot be resumed, it must be unchanged.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/kept.h"
#include "log/write_resume.h"

#define LOG_MAX    (320u << 10)
#define NEW_EVENTS 20
#define NEW_TYPE   100
#define REASON_BYTES 200
#define OLD_FAULTS 64
#define EXPECTED " of its type, expected is "

const struct fuzz_word fuzz_words[] = { { 0 } };

static unsigned put_some(struct ptx_log *log, struct ptx_ledger *ledger)
{
	unsigned n = 0;

	/* Refused because the log knows them by another name. */
	ptx_log_name(log, NEW_TYPE, "new");
	ptx_log_name(log, POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent");
	for (uint32_t i = 0; i < NEW_EVENTS; i++) {
		const struct ptx_log_event event = { .len_flags = sizeof(i), .type = NEW_TYPE,
						     .pid = 4711, .tid = 4711,
						     .time_ns = INT64_C(2000000000000000000) + i,
						     .data = &i };
		enum ptx_log_append put = ptx_log_append(log, &event);

		if (put == PTX_LOG_APPEND_WRITE_FIRST) {
			FUZZ_MUST(ptx_log_write(log) == 0, "not written");
			put = ptx_log_append(log, &event);
		}
		FUZZ_MUST(put != PTX_LOG_APPEND_WRITE_FIRST, "no room in what was just written");
		if (put != PTX_LOG_APPEND_DONE)
			continue;
		n++;
		ledger->total.reported++;
		ledger->type[NEW_TYPE].reported++;
		ptx_ledger_thread(ledger, 4711, 4711, 0)->reported++;
	}
	return n;
}

static void close_account(struct ptx_ledger *ledger)
{
	ledger->total.called = ptx_ledger_sum(&ledger->total);
	for (unsigned type = 0; type < PTX_TYPE_MAX; type++)
		ledger->type[type].called = ptx_ledger_sum(&ledger->type[type]);
	for (size_t i = 0; i < ledger->threads; i++)
		ledger->thread[i].line.called = ptx_ledger_sum(&ledger->thread[i].line);
}

/* Does the same as the guardian. Returns false if the log cannot be resumed. */
static bool go_on(int fd, int *policy, unsigned *put)
{
	static const struct ptx_log_status status;
	struct ptx_ledger ledger;
	struct ptx_log_tally tally;
	struct ptx_log_facts facts;
	struct ptx_log *log;
	const int own = dup(fd);
	bool resumed;

	ptx_ledger_init(&ledger);
	ptx_log_tally_init(&tally);
	resumed = ptx_log_resume(own, &log, &facts, &tally) == 0;
	if (resumed) {
		*policy = (int)facts.attr.log_policy;
		FUZZ_MUST(ptx_log_tally_report(&tally, &ledger) == 0, "no memory");
		*put = put_some(log, &ledger);
		FUZZ_MUST(ptx_log_write(log) == 0, "not written");
		close_account(&ledger);
		FUZZ_MUST(ptx_log_complete(log, &status, &ledger) == 0, "not completed");
		ptx_log_destroy(log);
	} else {
		close(own);
	}
	ptx_log_tally_fini(&tally);
	ptx_ledger_fini(&ledger);
	return resumed;
}

/* The faults that the log had before it was resumed. */
static struct {
	char reason[OLD_FAULTS][REASON_BYTES];
	size_t n;
	bool misnumbered; /* and so are the blocks that follow */
} old;

static void see_old_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	if (strstr(fault->reason, EXPECTED))
		old.misnumbered = true;
	if (old.n < OLD_FAULTS)
		snprintf(old.reason[old.n++], REASON_BYTES, "%s", fault->reason);
}

struct faults {
	char reason[REASON_BYTES]; /* the last fault that the guardian caused */
	char number[REASON_BYTES]; /* such a fault, unless events are missing before the block at
				    * offset */
	uint64_t offset;
};

/*
 * Ignores three kinds of faults. A resumed log still lacks the events that were missing before. A
 * wrong number of events goes with those. The guardian does not know all names.
 */
static void see_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct faults *faults = arg;

	if (strstr(fault->reason, "has events but no name"))
		return;
	if (strstr(fault->reason, "are missing before this block")) {
		if (faults->offset == fault->offset)
			faults->number[0] = '\0';
		return;
	}
	for (size_t i = 0; i < old.n; i++)
		if (!strcmp(fault->reason, old.reason[i]))
			return;
	if (strstr(fault->reason, EXPECTED) && old.misnumbered)
		return;
	if (!faults->number[0] && strstr(fault->reason, EXPECTED)) {
		snprintf(faults->number, REASON_BYTES, "%s", fault->reason);
		faults->offset = fault->offset;
		return;
	}
	snprintf(faults->reason, REASON_BYTES, "%s", fault->reason);
}

static void compare(int fd, const struct kept *before, int policy, unsigned put)
{
	struct posix_trace_check_np check;
	struct kept after = { NULL, 0 };
	struct faults faults = { "", "", 0 };
	size_t gone;

	FUZZ_MUST(posix_trace_check_np(fd, see_fault, &faults, &check) == 0 && check.complete,
		  "it was completed and is not complete");
	FUZZ_MUST(!faults.reason[0], "the log has a fault: %s", faults.reason);
	FUZZ_MUST(!faults.number[0], "the log has a fault: %s", faults.number);
	FUZZ_MUST(kept_open(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &after),
		  "it was completed and cannot be opened");
	FUZZ_MUST(after.n >= put, "%u were put, %zu read", put, after.n);
	for (size_t i = after.n - put; i < after.n; i++)
		FUZZ_MUST(after.event[i].type == NEW_TYPE && after.event[i].len == 4,
			  "new event %zu", i + put - after.n);
	after.n -= put;
	/*
	 * If blocks contradict each other, some are discarded, and not always the ones that a
	 * reader skips.
	 */
	if (policy == POSIX_TRACE_LOOP && old.n) {
		free(after.event);
		return;
	}
	gone = kept_compare(before, &after, policy == POSIX_TRACE_LOOP);
	FUZZ_MUST(before->n == KEPT_MAX || after.n + gone == before->n,
		  "the log had %zu events and now has %zu", before->n, after.n);
	free(after.event);
}

static void must_be(int fd, const uint8_t *data, size_t size)
{
	static uint8_t now[LOG_MAX + 1];

	FUZZ_MUST(pread(fd, now, sizeof(now), 0) == (ssize_t)size && !memcmp(now, data, size),
		  "it was not gone on with, and is not as it was");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd, next = fuzz_next_descriptor(), policy = 0;
	struct posix_trace_check_np check;
	struct kept before = { NULL, 0 };
	unsigned put = 0;

	if (size > LOG_MAX)
		return 0;
	fd = fuzz_file(data, size);
	kept_open(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &before);
	old.n = 0;
	old.misnumbered = false;
	posix_trace_check_np(fd, see_old_fault, NULL, &check);
	if (go_on(fd, &policy, &put))
		compare(fd, &before, policy, put);
	else
		must_be(fd, data, size);
	free(before.event);
	close(fd);
	FUZZ_MUST(fuzz_next_descriptor() == next, "a descriptor was left open");
	return 0;
}
