/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * import.c - a complete conversion from the format IMPORT_FROM. The first byte of the input selects
 * the output format and the options; the rest is the trace to convert.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/flow.h"
#include "fuzz/fuzz.h"

enum { TO_JSONL, TO_LOG, TO_LISTING, TO_ITSELF, SINKS };

const struct fuzz_word fuzz_words[] = {
	{ "jsonl", TO_JSONL }, { "log", TO_LOG }, { "listing", TO_LISTING },
	{ "itself", TO_ITSELF },
	{ "log-a", TO_LOG + SINKS }, { "log-b", TO_LOG + 2 * SINKS },
	{ "log-c", TO_LOG + 3 * SINKS }, { 0 },
};

/* Up to three options at a time. Options that the format does not have are never used. */
static const struct fmt_given options[][3] = {
	{ { 0 } },
	{ { "etw-payload", "" }, { "part", "2" }, { "spans", "" } },
	{ { "join", "" }, { "tracex-user-ids", "1025" }, { "schemas", "" } },
	{ { "etw-resync", "" }, { "tick-modulus", "1000000000" }, { "spans", "" } },
	{ { "level", "3" }, { "tick-hz", "3" }, { "schemas", "" } },
	{ { "dialect", "rkh2" }, { "etw-freq", "2337949" }, { "schemas", "" } },
	{ { "dialect", "ptx" }, { "account", "" }, { "schemas", "" } },
	{ { "filter", "pass SMA,drop SMA.GET,drop sig=3,pass ao=*" }, { "max-frame", "30" },
	  { "schemas", "" } },
	{ { "cfg", "sig=2,ts=2,ptr=2,nseq=0,chk=0,hz=40000" }, { "no-meta", "" },
	  { "schemas", "" } },
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

static const struct format *sink_of(uint8_t how)
{
	const char *const names[SINKS] = { "jsonl", "log", "listing", IMPORT_FROM };
	const struct format *sink = fmt_by_name(names[how % SINKS]);

	FUZZ_MUST(sink && sink->open, "%s: no sink", names[how % SINKS]);
	return sink;
}

/* Any result must be a log that contains all converted events. */
static void look_at_log(int fd, uint64_t events)
{
	struct posix_trace_event_np event;
	trace_id_t trid;
	uint64_t count = 0;
	int err, unavailable;

	lseek(fd, 0, SEEK_SET);
	err = posix_trace_open(fd, &trid);
	FUZZ_MUST(!err, "the log does not open: %s", strerror(err));
	while (!(err = posix_trace_getnext_np(trid, &event, &unavailable)) && !unavailable)
		count++;
	FUZZ_MUST(!err, "the log is not read: %s", strerror(err));
	FUZZ_MUST(count == events, "%llu events were written, %llu are read",
		  (unsigned long long)events, (unsigned long long)count);
	posix_trace_close(trid);
}

static void convert(struct fmt_input *input, uint8_t how)
{
	static struct out out;
	struct fmt_output output = { .out = &out, .shown = "output" };
	struct fmt_flow flow;
	int status;

	flow_init(&flow, fmt_by_name(IMPORT_FROM), sink_of(how));
	flow.input = input;
	flow.output = &output;
	flow.given = options[how / SINKS % OPTIONS];
	flow.givens = flow.given[0].name ? 3 : 0;
	output.fd = fuzz_file(NULL, 0);
	memset(&out, 0, offsetof(struct out, bytes));
	out.fd = output.fd;
	FUZZ_MUST(!flow.to->open(&flow, &output, &flow.context), "the sink does not open");
	status = flow.from->import(&flow, input);
	flow.to->close(flow.context);
	flow_say_faults(&flow);
	out_flush(&out);
	status = tool_worse(status, flow.status);
	FUZZ_MUST(status == TOOL_OK || status == TOOL_DAMAGED || status == TOOL_FAILURE ||
		  status == TOOL_USAGE, "status %d", status);
	if (how % SINKS == TO_LOG && status != TOOL_FAILURE && status != TOOL_USAGE)
		look_at_log(output.fd, flow.events);
	close(output.fd);
	flow_fini(&flow);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fmt_input input;
	int descriptor = fuzz_next_descriptor();
	struct fmt_head head;

	if (!size)
		return 0;
	memset(&input, 0, offsetof(struct fmt_input, head));
	input.name = "input";
	input.signals = -1;
	input.fd = fuzz_file(data + 1, size - 1);
	lseek(input.fd, 0, SEEK_SET);
	FUZZ_MUST(!input_peek(&input, &head), "no head");
	for (size_t i = 0; i < formats_count; i++)
		if (formats[i]->detect)
			formats[i]->detect(&head);
	convert(&input, data[0]);
	close(input.fd);
	FUZZ_MUST(fuzz_next_descriptor() == descriptor, "a descriptor stays open");
	return 0;
}
