/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convert/pairings.h"

#include <errno.h>
#include <stdlib.h>

#include "choose/function_names.h"
#include "choose/wanted.h"
#include "convert/flow.h"

int pairings_init(struct pairings *pairings, struct fmt_flow *flow,
		  void (*take)(void *arg, const struct span *span,
			       const struct posix_trace_event_np *end),
		  void *arg)
{
	const struct fmt_input *input = flow->input;
	int err = 0;

	pairings->log = calloc(flow->sources, sizeof(*pairings->log));
	if (!pairings->log)
		return ENOMEM;
	for (; !err && pairings->logs < flow->sources; input = input->next) {
		struct pairings_log *log = &pairings->log[pairings->logs++];

		log->name = fmt_input_name(input);
		err = paired_init(&log->paired, flow, take, arg);
		if (flow->choice)
			log->paired.pairing.takes_back = wanted_uses_duration(flow->wanted);
	}
	return err;
}

void pairings_fini(struct pairings *pairings)
{
	for (unsigned i = 0; i < pairings->logs; i++)
		paired_fini(&pairings->log[i].paired);
	free(pairings->log);
}

int pairings_event(struct pairings *pairings, const struct fmt_event *event, bool is_wanted)
{
	struct paired *paired = &pairings->log[event->source].paired;
	const struct log_type *type = paired_type(paired, event->type);
	struct posix_trace_event_np with;

	if (!type)
		return ENOMEM;
	/*
	 * The logs are open now. So spans of functions get the names that they also have in query.
	 */
	if (!paired->pairing.name && paired->flow->logs)
		function_names(&paired->pairing, paired->flow->logs[event->source]);
	pairings->at = event;
	paired_event(event, type, &with);
	pairing_event(&paired->pairing, type, &with, 0, is_wanted);
	return paired->pairing.err;
}

void pairings_cut(struct pairings *pairings, unsigned source)
{
	pairing_cut(&pairings->log[source].paired.pairing);
}
