/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fault.c - prints the first few faults of each code, and only counts further faults. Without this
 * limit, a damaged input with a fault in every event would flood the terminal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/vec.h"
#include "convert/flow.h"

#define CODES_MAX 256 /* greatest number of codes that are counted; each source has fewer */

/*
 * Counts an occurrence of the code. Returns the number of occurrences before this one. If the code
 * cannot be kept, because there are too many codes or memory is lacking, the result is 0, so that
 * the faults of this code are always printed.
 */
static uint64_t count_fault(struct fmt_flow *flow, const char *code)
{
	struct fmt_fault_count *fault;

	for (size_t i = 0; i < flow->faults; i++)
		if (!strcmp(flow->fault[i].code, code))
			return flow->fault[i].count++;
	if (flow->faults == CODES_MAX)
		return 0;
	if (!vec_grow(&flow->fault, flow->faults, 1))
		return 0;
	fault = &flow->fault[flow->faults++];
	snprintf(fault->code, sizeof(fault->code), "%s", code);
	fault->count = 1;
	return 0;
}

int fmt_fault(struct fmt_flow *flow, enum fmt_verdict verdict, uint64_t offset, const char *code,
	      const char *format, ...)
{
	static const int exits[] = {
		[FMT_NOTICE] = TOOL_OK, [FMT_WARN] = TOOL_OK, [FMT_DAMAGED] = TOOL_DAMAGED,
		[FMT_REFUSE] = TOOL_FAILURE,
	};
	char *text, at[24] = "";
	va_list args;

	flow->status = tool_worse(flow->status, exits[verdict]);
	/*
	 * A refusal is always printed, because it ends the conversion and explains the exit status.
	 */
	if (verdict != FMT_REFUSE && count_fault(flow, code ? code : "") >= FMT_FAULTS_SAID)
		return exits[verdict];
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (offset != FMT_NO_OFFSET)
		snprintf(at, sizeof(at), "%llu:", (unsigned long long)offset);
	say("%s:%s%s%s%s %s%s", flow->input->name, at, code ? " " : "", code ? code : "",
	    code ? ":" : "", verdict == FMT_WARN ? "warning: " : "", text ? text : "no memory");
	free(text);
	return exits[verdict];
}

/*
 * Each line has the name of the input but no offset, since counted faults have different offsets.
 */
void flow_say_faults(struct fmt_flow *flow)
{
	for (size_t i = 0; i < flow->faults; i++) {
		const struct fmt_fault_count *fault = &flow->fault[i];

		if (fault->count > FMT_FAULTS_SAID)
			say("%s: %llu more faults%s%s", flow->input->name,
			    (unsigned long long)(fault->count - FMT_FAULTS_SAID),
			    *fault->code ? " of code " : "", fault->code);
	}
}
