/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * otlp_files.c - the sink "otlp": a folder of four files. traces.jsonl and logs.jsonl have one
 * request on each line. traces.binpb and logs.binpb have the same requests one behind the other.
 * Such a sequence of messages is itself a valid message, because all members of these messages are
 * repeated fields.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/otlp/otlp.h"
#include "convert/otlp/otlp_json.h"

extern const struct format format_otlp;

enum encoding { ENCODING_JSON, ENCODING_PROTOBUF, ENCODINGS };

static const char *const file_names[OTLP_SIGNALS][ENCODINGS] = {
	[OTLP_TRACES] = { "traces.jsonl", "traces.binpb" },
	[OTLP_LOGS] = { "logs.jsonl", "logs.binpb" },
};

struct otlp_files {
	struct otlp otlp;
	int folder;
	bool has[ENCODINGS];
	struct out out[OTLP_SIGNALS][ENCODINGS];
	bool has_ended;
};

static int emit_request(void *arg, enum otlp_signal signal, const struct proto *request,
			uint64_t records)
{
	struct otlp_files *files = arg;
	struct out *out = files->out[signal];

	(void)records;
	if (files->has[ENCODING_JSON])
		otlp_json(&out[ENCODING_JSON], signal, request);
	if (files->has[ENCODING_PROTOBUF])
		out_bytes(&out[ENCODING_PROTOBUF], request->bytes, request->used);
	return out[ENCODING_JSON].err ? out[ENCODING_JSON].err : out[ENCODING_PROTOBUF].err;
}

static int choose_encodings(struct otlp_files *files)
{
	const char *name = fmt_option(files->otlp.flow, "encoding");

	if (name && strcmp(name, "json") != 0 && strcmp(name, "protobuf") != 0) {
		fmt_option_wrong(files->otlp.flow, "encoding", "json or protobuf");
		return -1;
	}
	files->has[ENCODING_JSON] = !name || *name == 'j';
	files->has[ENCODING_PROTOBUF] = !name || *name == 'p';
	return 0;
}

/*
 * Opens the file for this signal and encoding. The folder is new, so no file of this name exists.
 */
static int open_file(struct otlp_files *files, unsigned signal, unsigned encoding)
{
	struct out *out = &files->out[signal][encoding];

	if (!files->has[encoding])
		return 0;
	out->fd = openat(files->folder, file_names[signal][encoding],
			 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return out->fd < 0 ? errno : 0;
}

static int files_open(struct fmt_flow *flow, const struct fmt_output *output, void **context)
{
	struct otlp_files *files = calloc(1, sizeof(*files));
	int err;

	if (!files)
		return ENOMEM;
	*context = files;
	files->folder = -1;
	for (unsigned i = 0; i < OTLP_SIGNALS * ENCODINGS; i++)
		files->out[i / ENCODINGS][i % ENCODINGS].fd = -1;
	err = otlp_init(&files->otlp, flow);
	files->otlp.emit = emit_request;
	files->otlp.arg = files;
	if (!err)
		err = choose_encodings(files);
	if (err)
		return err;
	files->folder = open(output->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->folder < 0)
		return errno;
	for (unsigned i = 0; !err && i < OTLP_SIGNALS * ENCODINGS; i++)
		err = open_file(files, i / ENCODINGS, i % ENCODINGS);
	return err;
}

/* If the conversion failed, the files are removed, and output.c removes the folder. */
static void files_close(void *context)
{
	struct otlp_files *files = context;

	for (unsigned i = 0; i < OTLP_SIGNALS * ENCODINGS; i++) {
		struct out *out = &files->out[i / ENCODINGS][i % ENCODINGS];

		if (out->fd < 0)
			continue;
		close(out->fd);
		if (!files->has_ended)
			unlinkat(files->folder, file_names[i / ENCODINGS][i % ENCODINGS], 0);
	}
	if (files->folder >= 0)
		close(files->folder);
	otlp_fini(&files->otlp);
	free(files);
}

static int files_begin(void *context, const struct fmt_facts *facts)
{
	return otlp_begin(&((struct otlp_files *)context)->otlp, facts);
}

static int files_type(void *context, const struct fmt_type *type)
{
	return otlp_type(&((struct otlp_files *)context)->otlp, type);
}

static int files_thread(void *context, const struct fmt_thread *thread)
{
	return otlp_thread(&((struct otlp_files *)context)->otlp, thread);
}

static int files_event(void *context, const struct fmt_event *event)
{
	return otlp_event(&((struct otlp_files *)context)->otlp, event);
}

static int files_lost(void *context, const struct fmt_lost *lost)
{
	return otlp_lost(&((struct otlp_files *)context)->otlp, lost);
}

static int files_end(void *context, const struct fmt_end *end)
{
	struct otlp_files *files = context;
	int err = otlp_end(&files->otlp, end);

	for (unsigned i = 0; !err && i < OTLP_SIGNALS * ENCODINGS; i++)
		if (files->has[i % ENCODINGS])
			err = out_flush(&files->out[i / ENCODINGS][i % ENCODINGS]);
	files->has_ended = !err;
	return err;
}

static const struct option_row option_rows[] = {
	{ "encoding", FMT_SINK_OPTION, "ENCODING",
		"json or protobuf; the default is to write files of both",
		OPTION_CHOICE, "json protobuf" },
	OPTION_END
};

const struct format format_otlp = {
	.name = "otlp",
	.summary = "traces and logs of OpenTelemetry, a folder",
	.suffix = "otlp",
	.output = FMT_TO_FOLDER,
	.options = option_rows,
	.open = files_open,
	.begin = files_begin,
	.type = files_type,
	.thread = files_thread,
	.event = files_event,
	.lost = files_lost,
	.end = files_end,
	.close = files_close,
	.scans = FMT_SCANS_SPANS,
};
