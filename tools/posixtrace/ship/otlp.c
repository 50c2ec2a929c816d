/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp.c - ships a log to a collector of OpenTelemetry, as the traces and logs that convert --to
 * otlp would write.
 *
 * The parent of a span, and the trace of a record, depend on spans that end later. So a log is
 * shipped only when it is complete. Its requests are made in the same order each time. The position
 * has the number of records of each signal that the collector has accepted. The position is saved
 * after each answer. The next run makes the log's records again, and omits the records that the
 * collector has accepted.
 *
 * If the answer to a request is lost, the collector may or may not have the records, and OTLP has
 * no request to find out. So the records are sent again with the same identifiers: a span keeps its
 * trace and span identifiers, and a log record keeps its log.record.uid. A receiver that compares
 * the identifiers has each record once.
 */
#include "ship/ship.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "convert/otlp/otlp.h"
#include "convert/through.h"
#include "ship/collector.h"

struct otlp_shipment {
	/* the sink; by its address, shipment_open() finds the struct */
	struct format format;
	struct otlp otlp;
	const struct ship_options *options;
	struct collector *collector;
	const char *path;
	struct state state;
	uint64_t accepted[OTLP_SIGNALS]; /* records accepted in this run and before */
	/* number of records that the collector rejected although it accepted their requests */
	uint64_t rejected;
	uint64_t sent[OTLP_SIGNALS];     /* records sent in this run */
	int64_t bytes;                   /* of the requests; they are not sent if is_dry is true */
	bool is_ended;                   /* all records of the log were sent */
	bool is_faulty;                  /* the position does not fit this log */
};

/* ------------------------------------------------------------------ the position */

static bool save_shipment(const struct otlp_shipment *shipment)
{
	char text[STATE_BYTES];

	if (shipment->options->is_dry)
		return true;
	snprintf(text, sizeof(text),
		 "posixtrace ship otlp 1\ntraces %" PRIu64 "\nlogs %" PRIu64 "\nrejected %" PRIu64
		 "\nended %d\nend\n", shipment->accepted[OTLP_TRACES],
		 shipment->accepted[OTLP_LOGS], shipment->rejected, shipment->is_ended);
	return state_save(&shipment->state, text);
}

/*
 * Parses a position. A text without all numbers and the word "end" is not a position, so an
 * incomplete file is recognized.
 */
static bool parse_shipment(struct otlp_shipment *shipment, const char *text)
{
	unsigned ended;
	int len = 0;

	if (sscanf(text, "posixtrace ship otlp 1\ntraces %" SCNu64 "\nlogs %" SCNu64
		   "\nrejected %" SCNu64 "\nended %u\nend\n%n", &shipment->accepted[OTLP_TRACES],
		   &shipment->accepted[OTLP_LOGS], &shipment->rejected, &ended, &len) != 4)
		return false;
	shipment->is_ended = ended;
	return len && !text[len] && ended <= 1;
}

static enum state_result begin_shipment(struct otlp_shipment *shipment, uint64_t source)
{
	uint64_t receiver = collector_number(shipment->collector);
	enum state_result result;
	char text[STATE_BYTES];
	bool is_new = true;

	shipment->state.fd = -1;
	if (shipment->options->is_dry)
		return STATE_OK;
	result = state_open(&shipment->state, shipment->options->folder, receiver, receiver,
			    source);
	if (result != STATE_OK)
		return result;
	if (state_read(&shipment->state, text, &is_new)) {
		if (is_new || parse_shipment(shipment, text))
			return STATE_OK;
		state_say_invalid(&shipment->state);
	}
	state_close(&shipment->state);
	return STATE_FAILED;
}

/* ------------------------------------------------------------------ the sink of the conversion */

static int emit_request(void *arg, enum otlp_signal signal, const struct proto *request,
			uint64_t records)
{
	struct otlp_shipment *shipment = arg;
	uint64_t rejected = 0;

	shipment->bytes += (int64_t)request->used;
	if (!shipment->options->is_dry &&
	    (ship_stopped || !collector_send(shipment->collector, signal, request, records,
					     &rejected)))
		return -1;
	shipment->accepted[signal] += records;
	shipment->sent[signal] += records;
	shipment->rejected += rejected;
	return save_shipment(shipment) ? 0 : -1;
}

static int shipment_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	/* flow->to is the first member of a struct otlp_shipment, which is not constant. */
	struct otlp_shipment *shipment = (struct otlp_shipment *)(uintptr_t)flow->to;
	int err = otlp_init(&shipment->otlp, flow);

	(void)output;
	*context = &shipment->otlp;
	shipment->otlp.emit = emit_request;
	shipment->otlp.arg = shipment;
	shipment->otlp.host = shipment->options->host;
	shipment->otlp.has_uids = true;
	memcpy(shipment->otlp.skip, shipment->accepted, sizeof(shipment->otlp.skip));
	return err;
}

static int shipment_begin(void *context, const struct fmt_facts *facts)
{
	return otlp_begin(context, facts);
}

static int shipment_type(void *context, const struct fmt_type *type)
{
	return otlp_type(context, type);
}

static int shipment_thread(void *context, const struct fmt_thread *thread)
{
	return otlp_thread(context, thread);
}

static int shipment_event(void *context, const struct fmt_event *event)
{
	/* A signal ends a long conversion before its first request. */
	return ship_stopped ? -1 : otlp_event(context, event);
}

static int shipment_lost(void *context, const struct fmt_lost *lost)
{
	return otlp_lost(context, lost);
}

/*
 * The collector must have accepted as many records as the log has. If not, the position was
 * changed, or it comes from a version of posixtrace that makes other records.
 */
static bool is_whole(struct otlp_shipment *shipment)
{
	for (int i = 0; i < OTLP_SIGNALS; i++)
		shipment->is_faulty |= shipment->accepted[i] != shipment->otlp.seen[i];
	if (shipment->is_faulty)
		say("%s: the collector has %" PRIu64 " spans and %" PRIu64 " log records of this "
		    "log, which has %" PRIu64 " and %" PRIu64, shipment_name(shipment->path),
		    shipment->accepted[OTLP_TRACES], shipment->accepted[OTLP_LOGS],
		    shipment->otlp.seen[OTLP_TRACES], shipment->otlp.seen[OTLP_LOGS]);
	return !shipment->is_faulty;
}

static int shipment_end(void *context, const struct fmt_end *end)
{
	struct otlp *otlp = context;
	int err = otlp_end(otlp, end);

	return err || is_whole(otlp->arg) ? err : -1;
}

static void shipment_close(void *context)
{
	otlp_fini(context);
}

static const struct format sink = {
	.name = "otlp",
	.summary = "requests to a collector",
	.output = FMT_TO_BYTES,
	.open = shipment_open,
	.begin = shipment_begin,
	.type = shipment_type,
	.thread = shipment_thread,
	.event = shipment_event,
	.lost = shipment_lost,
	.end = shipment_end,
	.close = shipment_close,
	.scans = FMT_SCANS_SPANS,
};

/* ------------------------------------------------------------------ a log */

/* Converts the log into requests. Returns an exit status. */
static int send_requests(struct otlp_shipment *shipment)
{
	/* The sink writes no bytes, but each conversion has an output. */
	struct through plan = { .from = fmt_by_name("log"), .to = &shipment->format,
				.output = "/dev/null" };
	struct fmt_input *input = calloc(1, sizeof(*input));
	int status = TOOL_FAILURE;

	if (!input)
		say("%s", strerror(ENOMEM));
	else
		status = input_open(input, shipment->path);
	if (!status) {
		status = through(&plan, input);
		input_close(input);
	}
	free(input);
	if (status != TOOL_OK && status != TOOL_DAMAGED)
		return status;
	shipment->is_ended = true;
	return save_shipment(shipment) ? status : TOOL_FAILURE;
}

static void print_result(const struct otlp_shipment *shipment)
{
	const uint64_t *sent = shipment->sent;
	struct out *out = &out_stdout;

	out_printf(out, "%s: %" PRIu64 " span%s and %" PRIu64 " log record%s %s, %" PRIi64
		   " bytes, %" PRIu64 " in all", shipment_name(shipment->path), sent[OTLP_TRACES],
		   text_plural(sent[OTLP_TRACES]), sent[OTLP_LOGS], text_plural(sent[OTLP_LOGS]),
		   shipment->options->is_dry ? "to ship" : "shipped", shipment->bytes,
		   shipment->accepted[OTLP_TRACES] + shipment->accepted[OTLP_LOGS]);
	if (shipment->rejected)
		out_printf(out, ", %" PRIu64 " rejected", shipment->rejected);
	out_str(out, "\n");
}

/* Ships the complete log. The status 4 means that the collector has rejected records of the log. */
static int ship_log(struct otlp_shipment *shipment, uint64_t source, bool is_last,
		    enum shipment_state *state)
{
	int status = TOOL_OK;

	switch (begin_shipment(shipment, source)) {
	case STATE_BUSY:
		return shipment_busy(shipment->path, is_last, state);
	case STATE_FAILED:
		*state = SHIPMENT_MORE;
		return TOOL_FAILURE;
	case STATE_OK:
		break;
	}
	*state = SHIPMENT_MORE;
	if (!shipment->is_ended)
		status = send_requests(shipment);
	if (shipment->is_faulty)
		*state = SHIPMENT_FAULTY;
	if (status == TOOL_OK || status == TOOL_DAMAGED) {
		*state = SHIPMENT_ENDED;
		print_result(shipment);
		if (shipment->rejected)
			status = tool_worse(status, TOOL_LOST);
	}
	if (!shipment->options->is_dry)
		state_close(&shipment->state);
	return status;
}

int otlp_run(const struct ship_options *options, struct collector *collector, const char *path,
	     bool is_last, enum shipment_state *state)
{
	struct otlp_shipment shipment = { .format = sink, .options = options,
					  .collector = collector, .path = path };
	struct logfile log;
	char host[64];
	uint64_t source;
	bool is_complete;
	int status;

	*state = SHIPMENT_FAULTY;
	say_nothing(!is_last);
	status = logfile_open(&log, path, NULL);
	say_nothing(false);
	if (status)
		return status;
	snprintf(host, sizeof(host), "%s", options->host ? options->host : log.info.host);
	source = shipment_source(&log.info, host);
	is_complete = log.info.complete;
	logfile_close(&log);
	if (is_complete)
		return ship_log(&shipment, source, is_last, state);
	*state = SHIPMENT_MORE;
	if (is_last)
		say("%s: a collector gets a log when it is complete; posixtrace recover completes "
		    "one whose writer was killed", shipment_name(path));
	return is_last ? TOOL_DAMAGED : TOOL_OK;
}
