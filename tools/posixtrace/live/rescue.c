/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "live/rescue.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/when.h"
#include "live/capture.h"
#include "live/process.h"
#include "log/equation.h"
#include "log/losses.h"

bool rescue_take(struct rescue *rescue, int option, const char *value)
{
	switch (option) {
	case 'n':
		rescue->name = value;
		return true;
	case 'o':
		rescue->path = value;
		return true;
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

static void say_why(const struct posix_trace_stream_np *stream, const char *path, int err)
{
	switch (err) {
	case ESRCH:
		say("process %d: stream %s: it is gone", (int)stream->pid, stream->name);
		break;
	case EAGAIN:
		say("process %d: stream %s: it is overwritten faster than it can be copied",
		    (int)stream->pid, stream->name);
		break;
	case EIO:
	case EINVAL:
		say("process %d: stream %s: its memory cannot be read", (int)stream->pid,
		    stream->name);
		break;
	default:
		say("%s: %s", path, strerror(err));
	}
}

static void put_json(struct out *out, const struct posix_trace_stream_np *stream,
		     const char *path, const struct capture_result *result)
{
	char when[WHEN_BYTES];

	out_str(out, "{\"log\":");
	text_json(out, path, strlen(path));
	out_printf(out, ",\"pid\":%d,\"stream\":", (int)stream->pid);
	text_json(out, stream->name, strlen(stream->name));
	out_str(out, ",\"created\":");
	when_string(when, stream->creation_ns, WHEN_UTC);
	text_json(out, when, strlen(when));
	out_printf(out, ",\"ended\":%s,\"events\":%llu,\"lost\":%llu,\"bytes\":%llu,\"ledger\":",
		   stream->ended ? "true" : "false", (unsigned long long)result->ledger.reported,
		   (unsigned long long)equation_lost(&result->ledger),
		   (unsigned long long)result->bytes);
	equation_json(out, &result->ledger);
	out_str(out, "}\n");
}

static void put_text(struct out *out, const struct posix_trace_stream_np *stream,
		     const char *path, const struct capture_result *result)
{
	out_printf(out, "process %d, stream ", (int)stream->pid);
	text_name(out, stream->name, strlen(stream->name));
	out_str(out, ": ");
	capture_result_text(out, path, result);
}

static int make_log(const struct rescue *rescue, const struct posix_trace_stream_np *stream,
		    const char *path)
{
	struct capture_plan plan = { .path = path };
	struct capture_result result = { .bytes = 0 };
	struct outfile file;
	int err, status = outfile_create(&file, path, rescue->mode);

	if (status)
		return status;
	err = posix_trace_snapshot_np(stream, file.fd);
	if (err) {
		say_why(stream, path, err);
		outfile_drop(&file);
		return TOOL_FAILURE;
	}
	status = outfile_keep(&file);
	if (status) {
		outfile_drop(&file);
		return status;
	}
	status = capture_read_back(&plan, file.fd, &result);
	outfile_close(&file);
	if (rescue->json)
		put_json(&out_stdout, stream, path, &result);
	else
		put_text(&out_stdout, stream, path, &result);
	if (rescue->fail_on_loss && losses_count(&result.ledger))
		status = tool_worse(status, TOOL_LOST);
	return status;
}

void rescue_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct rescue *rescue = arg;
	char *path = NULL;
	int status;

	if (rescue->pid && stream->pid != rescue->pid)
		return;
	rescue->seen++;
	if (rescue->name && fnmatch(rescue->name, stream->name, 0))
		return;
	if (rescue->logs++ && asprintf(&path, "%s.%u", rescue->path, rescue->logs) < 0) {
		say("%s", strerror(ENOMEM));
		status = TOOL_FAILURE;
	} else {
		status = make_log(rescue, stream, path ? path : rescue->path);
		free(path);
	}
	rescue->status = tool_worse(rescue->status, status);
}

int rescue_end(struct rescue *rescue, const char *whose)
{
	if (!rescue->logs && rescue->seen)
		say("%s: none of its %u streams has the name %s", whose, rescue->seen,
		    rescue->name);
	else if (!rescue->logs)
		say("%s: it has no stream", whose);
	return rescue->logs ? rescue->status : tool_worse(rescue->status, TOOL_FAILURE);
}
