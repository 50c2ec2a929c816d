/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rescue.c - the common part of recover and snapshot: copies streams that other processes created
 * into logs.
 */
#include "live/rescue.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/outfile.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/when.h"
#include "live/capture.h"
#include "live/process.h"
#include "live/streams.h"
#include "log/equation.h"

const struct option_row rescue_rows[] = {
	{ "output", 'o', "LOG", "the new log; a file that exists is refused", OPTION_LOG },
	{ "force", RESCUE_FORCE, NULL, "overwrite a file that exists" },
	{ "name", 'n', "GLOB", "only streams whose name matches" },
	{ "json", RESCUE_JSON, NULL, "a JSON object for each log" },
	{ "fail-on-loss", RESCUE_FAIL_ON_LOSS, NULL, "exit with 4 if events were lost" },
	OPTION_END
};

/* If an option is given several times, the last value is used. */
bool rescue_take(struct rescue *rescue, int option, const char *value)
{
	switch (option) {
	case 'n':
		rescue->name = value;
		return true;
	case 'o':
		return outfile_take_log(&rescue->path, value);
	case RESCUE_FORCE:
		rescue->mode = OUTFILE_REPLACE;
		return true;
	case RESCUE_JSON:
		rescue->json = true;
		return true;
	case RESCUE_FAIL_ON_LOSS:
		rescue->fail_on_loss = true;
		return true;
	}
	return false;
}

/* Prints the reason why a stream cannot be copied. */
static void rescue_say_why(const struct posix_trace_stream_np *stream, const char *path, int err)
{
	switch (err) {
	case ESRCH:
		say("process %d: stream %s: it has ended before it was copied", (int)stream->pid,
		    stream->name);
		break;
	case EAGAIN:
		say("process %d: stream %s: its events are overwritten faster than they can be "
		    "copied; try it again", (int)stream->pid, stream->name);
		break;
	case EIO:
	case EINVAL:
		say("process %d: stream %s: its memory cannot be read", (int)stream->pid,
		    stream->name);
		break;
	default:
		say("%s: %s", path, say_strerror(err));
	}
}

/*
 * Writes the result for one stream as a JSON object in a line. "older" NULL: --last was not given.
 */
static void put_json(struct out *out, const struct posix_trace_stream_np *stream,
		     const char *path, const struct capture_result *result,
		     const uint64_t *older)
{
	struct json json = json_begin(out);

	json_object(&json, NULL);
	json_string_member(&json, "log", path);
	json_signed(&json, "pid", stream->pid);
	json_string_member(&json, "stream", stream->name);
	json_when(&json, "created", stream->creation_ns, WHEN_UTC);
	streams_json_ended(&json, stream);
	json_unsigned(&json, "events", result->ledger.reported);
	json_unsigned(&json, "lost", equation_lost(&result->ledger));
	if (older)
		json_unsigned(&json, "older", *older);
	json_unsigned(&json, "bytes", result->bytes);
	equation_json(&json, "ledger", &result->ledger);
	shimloss_json(&json, "shim_lost", &result->shim);
	json_end_line(&json);
}

/* Writes the result for one stream as text. */
static void put_text(struct out *out, const struct posix_trace_stream_np *stream,
		     const char *path, const struct capture_result *result, uint64_t older)
{
	out_printf(out, "process %d, stream ", (int)stream->pid);
	text_name(out, stream->name, strlen(stream->name));
	out_str(out, ": ");
	if (older)
		out_printf(out, "%" PRIu64 " older event%s left out; ", older, text_plural(older));
	capture_result_text(out, path, result);
}

/*
 * Copies one stream into a new log, prints the result and returns a status. The stream and its
 * process are not changed and may continue to run. If the copy fails, an old log remains.
 */
static int make_log(const struct rescue *rescue, const struct posix_trace_stream_np *stream,
		    const char *path)
{
	struct capture_result result = { .bytes = 0 };
	struct outfile file;
	uint64_t older = 0;
	int err, status = outfile_create(&file, path, rescue->mode);

	if (status)
		return status;
	err = posix_trace_snapshot_since_np(stream, file.fd, when_since(rescue->last_ns), &older);
	if (err) {
		rescue_say_why(stream, path, err);
		outfile_drop(&file);
		return TOOL_FAILURE;
	}
	/* The copy is complete; an old log is replaced now. */
	status = outfile_keep(&file);
	if (status) {
		outfile_drop(&file);
		return status;
	}
	/*
	 * A snapshot of damaged memory is a damaged log. It is kept, because its events may still
	 * be useful.
	 */
	status = capture_read_log(path, file.fd, &result);
	outfile_close(&file);
	if (rescue->json)
		put_json(&out_stdout, stream, path, &result, rescue->last_ns ? &older : NULL);
	else
		put_text(&out_stdout, stream, path, &result, older);
	if (rescue->fail_on_loss && capture_has_lost(&result))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

/* If a stream cannot be copied, the others are copied nevertheless. The worst status is kept. */
void rescue_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct rescue *rescue = arg;
	char *path = NULL;
	int status;

	/* If all processes are searched, the library also visits the streams of other processes. */
	if (rescue->pid && stream->pid != rescue->pid)
		return;
	rescue->seen++;
	if (rescue->name && fnmatch(rescue->name, stream->name, 0))
		return;
	/* The first log has the name itself, the next one NAME.2. */
	if (rescue->logs++ && asprintf(&path, "%s.%u", rescue->path, rescue->logs) < 0) {
		say("%s", strerror(ENOMEM));
		status = TOOL_FAILURE;
	} else {
		status = make_log(rescue, stream, path ? path : rescue->path);
		free(path);
	}
	rescue->status = tool_worse(rescue->status, status);
}

/* If no stream was selected, the command fails, because the user expects a log. */
int rescue_end(struct rescue *rescue, const char *whose)
{
	if (!rescue->logs && rescue->seen == 1)
		say("%s: its only stream does not have the name %s", whose, rescue->name);
	else if (!rescue->logs && rescue->seen)
		say("%s: none of its %u streams has the name %s", whose, rescue->seen,
		    rescue->name);
	else if (!rescue->logs)
		say("%s: it has no stream", whose);
	return rescue->logs ? rescue->status : tool_worse(rescue->status, TOOL_FAILURE);
}
