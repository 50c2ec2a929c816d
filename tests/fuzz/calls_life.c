/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "fuzz/calls.h"
#include "fuzz/isolate.h"

void create(unsigned s, unsigned policy, unsigned max_data, bool inherited)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	trace_id_t before = trid[s];
	trace_attr_t attr;

	if (model[s].kind != MODEL_NONE)
		return;
	SAYS(0, posix_trace_attr_init(&attr));
	SAYS(0, posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	SAYS(EINVAL, posix_trace_create(0, &attr, &trid[s])); /* CREATE-14 */
	SAYS(0, posix_trace_attr_setstreamfullpolicy(&attr, policies[policy % 2]));
	SAYS(ESRCH, posix_trace_create(-2, &attr, &trid[s])); /* CREATE-18 */
	FUZZ_MUST(trid[s] == before, "a failed creation gave an identifier"); /* CREATE-25 */
	SAYS(0, posix_trace_attr_setmaxdatasize(&attr, max_data % MODEL_DATA));
	SAYS(0, posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	SAYS(0, posix_trace_attr_setname(&attr, STREAM_NAME));
	SAYS(0, posix_trace_attr_setinherited(&attr, inherited ? POSIX_TRACE_INHERITED :
								  POSIX_TRACE_CLOSE_FOR_CHILD));
	SAYS(0, posix_trace_create(0, &attr, &trid[s]));
	FUZZ_MUST(trid[s] != before || before == 0, "an identifier was used again"); /* LEGAL-04 */
	SAYS(0, posix_trace_attr_destroy(&attr));
	model_create(&model[s], MODEL_LIVE, policies[policy % 2], max_data % MODEL_DATA);
	model[s].inherited = inherited;
}

/*
 * Returns both policies, and whether the log is small. The log of a FLUSH stream is not small: the
 * time of a flush is not specified, so the end of the log would stop the stream at any moment.
 */
void create_withlog(unsigned s, unsigned policies, unsigned max_data)
{
	static const int of_log[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL,
				      POSIX_TRACE_LOOP };
	static const int of_stream[] = { POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP,
					 POSIX_TRACE_FLUSH };
	const int log_policy = of_log[policies % 3], policy = of_stream[policies / 3 % 3];
	const bool fills = policies / 9 % 2 && policy != POSIX_TRACE_FLUSH &&
			   log_policy != POSIX_TRACE_APPEND;
	trace_attr_t attr;

	if (model[s].kind != MODEL_NONE)
		return;
	SAYS(0, posix_trace_attr_init(&attr));
	if (policy != POSIX_TRACE_FLUSH) /* POLICY-04 */
		SAYS(0, posix_trace_attr_setstreamfullpolicy(&attr, policy));
	SAYS(0, posix_trace_attr_setlogfullpolicy(&attr, log_policy));
	SAYS(0, posix_trace_attr_setlogsize(&attr, fills ? SMALL_LOG_BYTES : LOG_BYTES));
	SAYS(0, posix_trace_attr_setname(&attr, STREAM_NAME));
	SAYS(0, posix_trace_attr_setmaxdatasize(&attr, max_data % MODEL_DATA));
	SAYS(0, posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	SAYS(EBADF, posix_trace_create_withlog(0, &attr, -1, &trid[s])); /* WITHLOG-02 */
	if (log_fd[s])
		close(log_fd[s]);
	log_fd[s] = fuzz_file(NULL, 0);
	SAYS(0, posix_trace_create_withlog(0, &attr, log_fd[s], &trid[s]));
	SAYS(0, posix_trace_attr_destroy(&attr));
	model_create(&model[s], MODEL_LOGGED, policy, max_data % MODEL_DATA);
	model[s].log_policy = log_policy;
	model[s].log_fills = fills;
	model[s].uncertain = fills || policy == POSIX_TRACE_FLUSH;
	fuzz_barriers |= policy == POSIX_TRACE_FLUSH; /* whose flusher is a thread */
}

/* The log of a stream remains, with the events that it must have, so that it can be reopened. */
void shut_down(unsigned s)
{
	ask_account(s);
	SAYS(if_active(s), posix_trace_shutdown(trid[s]));
	if (!active(s))
		return;
	SAYS(EINVAL, posix_trace_shutdown(trid[s])); /* LEGAL-03 */
	if (model[s].kind == MODEL_LOGGED) {
		struct posix_trace_check_np check;

		model_finish(&model[s]);
		model_rewind(&model[s]);
		SAYS(0, posix_trace_check_np(log_fd[s], NULL, NULL, &check));
		FUZZ_MUST(check.faults == 0 && check.complete, "the log has faults");
		model[s].kind = MODEL_NONE;
		return;
	}
	model_free(&model[s]);
}

void reopen(unsigned s)
{
	if (model[s].kind != MODEL_NONE || !model[s].item)
		return;
	SAYS(0, posix_trace_open(log_fd[s], &trid[s]));
	model[s].kind = MODEL_STORED;
	model_rewind(&model[s]);
	model[s].full_known = model[s].overrun_known = false;
	ask_account(s);
}

void close_log(unsigned s)
{
	SAYS(if_kind(s, MODEL_STORED), posix_trace_close(trid[s]));
	if (model[s].kind == MODEL_STORED)
		model[s].kind = MODEL_NONE; /* and can be opened again */
}
