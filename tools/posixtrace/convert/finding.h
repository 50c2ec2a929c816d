/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * finding.h - reports of a decoder about faults of its input.
 *
 * Decoders do not use files, messages and exit statuses. They report each finding with the offset
 * in the input and the code that the manual page defines (T08, E05). The caller of the decoder
 * handles the findings.
 */
#ifndef POSIXTRACE_CONVERT_FINDING_H
#define POSIXTRACE_CONVERT_FINDING_H

#include <stdbool.h>
#include <stdint.h>

enum finding_kind {
	FINDING_NOTICE,  /* no fault, only information */
	FINDING_WARNING, /* unusual; all parts are kept */
	FINDING_DAMAGE,  /* a part is missing or was dropped; the rest is kept */
	FINDING_REFUSAL  /* no part can be read */
};

struct findings {
	/* Receives each finding. The text is valid during the call; "code" may be NULL. */
	void (*report)(void *arg, enum finding_kind kind, uint64_t offset, const char *code,
		       const char *text);
	void *arg;
};

/*
 * Reports a finding. Returns 0, or EINVAL for a refusal. If "findings" is NULL, the finding is not
 * reported. The text is shortened to 511 bytes.
 */
int finding(struct findings *findings, enum finding_kind kind, const char *code, uint64_t offset,
	    const char *format, ...) __attribute__((format(printf, 5, 6)));

struct fmt_flow;

/* Sets *findings so that fmt_fault() reports each finding as a fault of the flow. */
void findings_of_flow(struct findings *findings, struct fmt_flow *flow);

#endif
