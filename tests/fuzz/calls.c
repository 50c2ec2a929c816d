/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * calls.c - makes a sequence of calls, and compares each result and each event that it reads with
 * the model of the specification (model.h).
 *
 * An input consists of words with operands of one byte each. STREAM is one of four places: it has
 * the stream or log that was created or opened there last, or none. The identifier in a place may
 * be stale.
 */
#include <limits.h>

#include "fuzz/calls.h"
#include "fuzz/isolate.h"

enum step { CREATE, WITHLOG, REOPEN, SHUTDOWN, CLOSE, START, STOP, CLEAR, FLUSH, EVENT, FILTER,
	    READ, STATUS, OPEN, TYPES, REWIND, ATTR, FLOOD, CHILD, WRONG, ACCOUNT, STEPS };

const struct fuzz_word fuzz_words[] = {
	{ "create", CREATE }, { "withlog", WITHLOG }, { "reopen", REOPEN },
	{ "shutdown", SHUTDOWN }, { "close", CLOSE }, { "start", START }, { "stop", STOP },
	{ "clear", CLEAR },
	{ "flush", FLUSH }, { "event", EVENT }, { "filter", FILTER }, { "read", READ },
	{ "status", STATUS }, { "open", OPEN }, { "types", TYPES }, { "rewind", REWIND },
	{ "attr", ATTR }, { "flood", FLOOD }, { "child", CHILD }, { "wrong", WRONG },
	{ "account", ACCOUNT },
	{ "loop", 0 }, { "until-full", 1 },
	/* with log: the stream's policy is UNTIL_FULL except for the last three words */
	{ "appended", 0 }, { "log-that-ends", 10 }, { "log-that-loops", 11 },
	{ "loop-appended", 3 }, { "flush-appended", 6 }, { "flush-looped", 8 },
	{ "set", 0 }, { "add", 1 }, { "sub", 2 },
	{ 0 }
};

#define STEPS_MAX 200

struct model_stream model[STREAMS];
trace_id_t trid[STREAMS];
int log_fd[STREAMS];
trace_event_id_t type_of[NAMES];
unsigned number, events, floods;

struct input {
	const uint8_t *at, *end;
};

static unsigned next(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

void says(const char *call, int expected, int said)
{
	FUZZ_MUST(said == expected, "%s says %d, expected is %d", call, said, expected);
	FUZZ_MUST(errno == 4711, "%s changed errno", call);
}

bool active(unsigned s)
{
	return model[s].kind == MODEL_LIVE || model[s].kind == MODEL_LOGGED;
}

int if_active(unsigned s)
{
	return active(s) ? 0 : EINVAL;
}

int if_any(unsigned s)
{
	return model[s].kind == MODEL_NONE ? EINVAL : 0;
}

int if_kind(unsigned s, enum model_kind kind)
{
	return model[s].kind == kind ? 0 : EINVAL;
}

static void step(struct input *input)
{
	unsigned what = next(input) % STEPS, s = 0, a, b;

	if (what != EVENT && what != CHILD)
		s = next(input) % STREAMS;
	switch (what) {
	case CREATE:
		a = next(input);
		b = next(input);
		create(s, a, b, next(input) & 1);
		break;
	case WITHLOG:
		a = next(input);
		create_withlog(s, a, next(input));
		break;
	case REOPEN:
		reopen(s);
		break;
	case SHUTDOWN:
		shut_down(s);
		break;
	case CLOSE:
		close_log(s);
		break;
	case START:
		SAYS(if_active(s), posix_trace_start(trid[s]));
		if (active(s))
			model_start(&model[s]);
		break;
	case STOP:
		SAYS(if_active(s), posix_trace_stop(trid[s]));
		if (active(s))
			model_stop(&model[s]);
		break;
	case CLEAR:
		adopt_account(s);
		SAYS(if_active(s), posix_trace_clear(trid[s]));
		if (!active(s))
			break;
		model_clear(&model[s]);
		model[s].log_lost = model[s].lost_before =
			model[s].kind == MODEL_LOGGED ? lost_by_log(s) : 0;
		break;
	case FLUSH:
		flush(s);
		break;
	case EVENT:
		a = next(input);
		make_event(a, next(input));
		break;
	case FILTER:
		a = next(input);
		b = next(input);
		if (model[s].auto_stopped || model[s].overwritten || model_start_is_due(&model[s]))
			break; /* it is not specified which filter its marks pass */
		filter(s, a, b, next(input));
		break;
	case READ:
		a = next(input);
		b = next(input);
		read_some(s, a, b % 2 ? b % READ_BYTES : READ_BYTES);
		break;
	case STATUS:
		ask_status(s);
		break;
	case OPEN:
		a = next(input);
		open_name(a, s, next(input) & 1);
		break;
	case TYPES:
		list_types(s);
		break;
	case REWIND:
		SAYS(if_kind(s, MODEL_STORED), posix_trace_rewind(trid[s]));
		if (model[s].kind == MODEL_STORED)
			model_rewind(&model[s]);
		break;
	case ATTR:
		ask_attr(s);
		break;
	case FLOOD:
		flood(s);
		break;
	case CHILD:
		have_child(next(input));
		break;
	case ACCOUNT:
		ask_account(s);
		break;
	default:
		do_wrong(s, next(input));
	}
}

static void work(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };

	for (int n = 0; n < STEPS_MAX && input.at < input.end; n++)
		step(&input);
	for (unsigned s = 0; s < STREAMS; s++) {
		if (model[s].kind == MODEL_LIVE || model[s].kind == MODEL_STORED)
			read_some(s, MODEL_ITEMS, READ_BYTES);
		if (active(s))
			shut_down(s);
		reopen(s);
		if (model[s].kind == MODEL_STORED) {
			SAYS(0, posix_trace_rewind(trid[s]));
			model_rewind(&model[s]);
			read_some(s, UINT_MAX, READ_BYTES);
			close_log(s);
		}
		model_free(&model[s]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_isolated(work, data, size);
	return 0;
}
