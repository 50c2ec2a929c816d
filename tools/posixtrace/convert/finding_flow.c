/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* finding_flow.c - findings of a decoder as faults of a conversion. */
#include "convert/finding.h"
#include "convert/format.h"

/* The text may contain a percent sign from the input, so it must not be used as the format. */
static void report_fault(void *arg, enum finding_kind kind, uint64_t offset, const char *code,
			 const char *text)
{
	static const enum fmt_verdict verdicts[] = {
		[FINDING_NOTICE] = FMT_NOTICE,
		[FINDING_WARNING] = FMT_WARN,
		[FINDING_DAMAGE] = FMT_DAMAGED,
		[FINDING_REFUSAL] = FMT_REFUSE,
	};

	fmt_fault(arg, verdicts[kind], offset, code, "%s", text);
}

void findings_of_flow(struct findings *findings, struct fmt_flow *flow)
{
	findings->report = report_fault;
	findings->arg = flow;
}
