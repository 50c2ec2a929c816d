/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * equation.c - writes the account of a log or stream as text and JSON. A damaged or forged ledger
 * may contain any numbers, so equation_lost() and equation_holds() check their sums for overflow.
 * The sums of equation_add() wrap.
 */
#include "log/equation.h"

#include "base/json.h"
#include "base/text.h"

uint64_t equation_lost(const struct posix_trace_ledger_np *ledger)
{
	uint64_t sum = 0;

	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (__builtin_add_overflow(sum, ledger->lost[i], &sum))
			return UINT64_MAX;
	return sum;
}

void equation_add(struct posix_trace_ledger_np *to, const struct posix_trace_ledger_np *from)
{
	to->called += from->called;
	to->unattributed += from->unattributed;
	to->reported += from->reported;
	to->unread += from->unread;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		to->lost[i] += from->lost[i];
}

bool equation_holds(const struct posix_trace_ledger_np *ledger)
{
	/*
	 * An overflow makes the function return false, because a sum that wraps could equal called
	 * by chance.
	 */
	uint64_t sum = ledger->reported;

	/*
	 * 'unattributed' is a separate term, because it counts events for which the library knows
	 * no cause.
	 */
	if (__builtin_add_overflow(sum, ledger->unread, &sum) ||
	    __builtin_add_overflow(sum, ledger->unattributed, &sum))
		return false;
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (__builtin_add_overflow(sum, ledger->lost[i], &sum))
			return false;
	return sum == ledger->called;
}

/* The causes appear in the order of their numbers in trace_np.h. */
void equation_causes(struct out *out, const struct posix_trace_ledger_np *ledger)
{
	/* The first separator opens the parenthesis; causes without losses are omitted. */
	const char *separator = " (";

	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++) {
		if (!ledger->lost[i])
			continue;
		out_str(out, separator);
		out_str(out, posix_trace_lost_name_np(i));
		out_char(out, ' ');
		out_unsigned(out, ledger->lost[i]);
		separator = ", ";
	}
	if (separator[0] == ',') /* at least one cause */
		out_char(out, ')');
}

void equation_text(struct out *out, const struct posix_trace_ledger_np *ledger)
{
	out_str(out, "called ");
	out_unsigned(out, ledger->called);
	/* If the equation does not hold, the text has "!=" instead of "=". */
	out_str(out, equation_holds(ledger) ? " = reported " : " != reported ");
	out_unsigned(out, ledger->reported);
	out_str(out, " + unread ");
	out_unsigned(out, ledger->unread);
	if (ledger->unattributed) {
		out_str(out, " + unattributed ");
		out_unsigned(out, ledger->unattributed);
	}
	out_str(out, " + lost ");
	out_unsigned(out, equation_lost(ledger));
	equation_causes(out, ledger);
}

void equation_causes_json(struct json *json, const char *name,
			  const uint64_t lost[POSIX_TRACE_LOST_CAUSES_NP])
{
	json_object(json, name);
	for (int i = 0; i < POSIX_TRACE_LOST_CAUSES_NP; i++)
		if (lost[i])
			json_unsigned(json, posix_trace_lost_name_np(i), lost[i]);
	json_end_object(json);
}

/* Writes all members, also those that are 0. equation_text() omits unattributed if it is 0. */
void equation_json(struct json *json, const char *name, const struct posix_trace_ledger_np *ledger)
{
	json_object(json, name);
	json_unsigned(json, "called", ledger->called);
	json_unsigned(json, "reported", ledger->reported);
	json_unsigned(json, "unread", ledger->unread);
	json_unsigned(json, "lost", equation_lost(ledger));
	equation_causes_json(json, "lost_by_cause", ledger->lost);
	json_unsigned(json, "unattributed", ledger->unattributed);
	json_end_object(json);
}
