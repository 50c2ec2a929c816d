/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_losses.c - writes losses as log records of severity WARN. At the end it writes the account
 * of the whole input as a log record of severity INFO.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "convert/otlp/otlp.h"
#include "log/equation.h"

/*
 * Returns the source to which the ledger belongs. The ledger of the trace is the sum of the ledgers
 * of all logs. So if there are several logs, the result is the number that means all logs together.
 */
static unsigned source_of_ledger(const struct otlp *otlp)
{
	return otlp->flow->sources > 1 ? otlp->flow->sources : 0;
}

/*
 * Adds the record with the body in otlp->body. The record has the scope of the recorder, and
 * belongs to no span.
 */
static int add_record(struct otlp *otlp, int64_t time_ns, uint32_t pid, unsigned source)
{
	struct otlp_entry entry = {
		.begin_ns = time_ns, .end_ns = time_ns, .begin = otlp->number,
		.end = otlp->number, .signal = OTLP_LOGS, .scope = otlp_scope(otlp, "posix_trace_"),
	};
	int err = entry.scope == TABLE_NONE ? ENOMEM : 0;

	if (!pid && source < otlp->flow->sources)
		pid = otlp->facts.pid;
	if (!err)
		err = otlp_resource(otlp, pid, source, &entry.resource);
	return err ? err : otlp_add(otlp, &entry);
}

/*
 * Writes a loss. "count" is NULL if it is unknown. "lost" is NULL for a loss that only the ledger
 * has.
 */
static int put_loss(struct otlp *otlp, int64_t time_ns, int cause, const uint64_t *count,
		    const struct fmt_lost *lost)
{
	struct proto *p = &otlp->body;

	otlp_log_begin(p, time_ns, SEVERITY_WARN, "warning", "posixtrace.lost");
	otlp_string(p, LOG_ATTRIBUTES, "posixtrace.lost.cause", posix_trace_lost_name_np(cause));
	if (count)
		otlp_unsigned(p, LOG_ATTRIBUTES, "posixtrace.lost.count", *count);
	if (lost && lost->has_interval) {
		otlp_number(p, LOG_ATTRIBUTES, "posixtrace.lost.begin_ns", lost->begin_ns);
		otlp_number(p, LOG_ATTRIBUTES, "posixtrace.lost.end_ns", lost->end_ns);
	}
	if (lost && lost->type)
		otlp_text(p, LOG_ATTRIBUTES, "posixtrace.lost.event", lost->type->name,
			  lost->type->name_len);
	if (lost && lost->tid)
		otlp_number(p, LOG_ATTRIBUTES, "thread.id", lost->tid);
	return add_record(otlp, time_ns, lost ? lost->pid : 0,
			  lost ? lost->source : source_of_ledger(otlp));
}

int otlp_lost(struct otlp *otlp, const struct fmt_lost *lost)
{
	uint64_t number, *count = fmt_lost_count(&otlp->facts, lost, &number) ? &number : NULL;

	/*
	 * If the loss itself has no count, fmt_lost_count() may return the ledger's total of this
	 * cause. In this case otlp_account() must not report the total again.
	 */
	otlp->counted[lost->cause] |= count && !lost->counted;
	return put_loss(otlp, lost->has_interval ? lost->end_ns : otlp->last_ns, lost->cause, count,
			lost);
}

/*
 * Writes the account: called = reported + unread + lost by cause. Blanks in the name of a cause
 * become underscores.
 */
static int put_account(struct otlp *otlp, const struct posix_trace_ledger_np *ledger)
{
	struct proto *p = &otlp->body;
	char key[128];

	otlp_log_begin(p, otlp->last_ns, SEVERITY_INFO, "information", "posixtrace.account");
	otlp_unsigned(p, LOG_ATTRIBUTES, "posixtrace.account.called", ledger->called);
	otlp_unsigned(p, LOG_ATTRIBUTES, "posixtrace.account.reported", ledger->reported);
	otlp_unsigned(p, LOG_ATTRIBUTES, "posixtrace.account.unread", ledger->unread);
	otlp_unsigned(p, LOG_ATTRIBUTES, "posixtrace.account.lost", equation_lost(ledger));
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		if (!ledger->lost[i])
			continue;
		snprintf(key, sizeof(key), "posixtrace.account.lost.%s",
			 posix_trace_lost_name_np(i));
		for (char *blank = key; (blank = strchr(blank, ' ')); blank++)
			*blank = '_';
		otlp_unsigned(p, LOG_ATTRIBUTES, key, ledger->lost[i]);
	}
	return add_record(otlp, otlp->last_ns, 0, source_of_ledger(otlp));
}

int otlp_account(struct otlp *otlp, const struct fmt_end *end)
{
	int err = 0;

	for (int i = 0; !err && end->has_ledger && i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (end->ledger.lost[i] && !otlp->counted[i])
			err = put_loss(otlp, otlp->last_ns, i, &end->ledger.lost[i], NULL);
	return err || !end->has_ledger ? err : put_account(otlp, &end->ledger);
}
