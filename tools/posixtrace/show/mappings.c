/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mappings.c - the command symbols: lists the files that the processes of a log had mapped. For
 * each mapped file the command prints the file from which the tool now gets the names of functions.
 */
#include <errno.h>
#include <unistd.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/out.h"
#include "base/say.h"
#include "base/text.h"
#include "base/tool.h"
#include "base/when.h"
#include "log/jit.h"
#include "log/logfile.h"
#include "symbols/module.h"
#include "symbols/symbols.h"

extern const struct tool_command symbols_command;

/*
 * Writes the build-id in hexadecimal digits, or "-" if it is unknown. The caller's buffer has room
 * for the longest build-id.
 */
static void put_build_id(char *to, const struct posix_trace_mapping_np *mapping)
{
	strcpy(to, "-");
	for (uint32_t i = 0; i < mapping->build_id_len; i++)
		sprintf(to + 2 * i, "%02x", mapping->build_id[i]);
}

/*
 * Prints an entry of the list as a line of text. An entry with a parent is not a mapping, but means
 * that this parent forked the process. A function that the program compiled while it ran has no
 * file.
 */
static void put_text(const struct posix_trace_mapping_np *mapping, const char *id,
		     const struct module *module)
{
	const char *found = module ? module_path(module) : NULL;

	if (mapping->parent) {
		out_printf(&out_stdout, "%7d child of %d\n", (int)mapping->pid,
			   (int)mapping->parent);
		return;
	}
	out_printf(&out_stdout, "%7d %012llx-%012llx %s ", (int)mapping->pid,
		   (unsigned long long)mapping->start, (unsigned long long)mapping->end, id);
	text_safe(&out_stdout, mapping->path, strlen(mapping->path));
	if (mapping->until_ns != INT64_MAX)
		out_str(&out_stdout, " [until unloaded]");
	if (!jit_is_path(mapping->path)) {
		out_str(&out_stdout, found ? " -> " : ": ");
		if (!found)
			found = module ? module_lack(module) : strerror(ENOMEM);
		text_safe(&out_stdout, found, strlen(found));
	}
	out_char(&out_stdout, '\n');
}

/*
 * Prints an entry of the list as an object of JSON. Addresses and times are strings, since a double
 * cannot hold all of them exactly.
 */
static void put_json(const struct posix_trace_mapping_np *mapping, const char *id,
		     const struct module *module)
{
	const char *found = module ? module_path(module) : NULL;
	struct json json = json_begin(&out_stdout);

	json_object(&json, NULL);
	json_signed(&json, "pid", mapping->pid);
	json_exact(&json, "from_ns", mapping->from_ns);
	if (mapping->until_ns != INT64_MAX)
		json_exact(&json, "until_ns", mapping->until_ns);
	if (mapping->parent) {
		json_signed(&json, "parent", mapping->parent);
	} else {
		json_address(&json, "start", mapping->start);
		json_address(&json, "end", mapping->end);
		json_unsigned(&json, "offset", mapping->offset);
		json_address(&json, "base", mapping->base);
		if (mapping->build_id_len)
			json_string_member(&json, "build_id", id);
		json_string_member(&json, "path", mapping->path);
		if (found)
			json_string_member(&json, "found", found);
		else if (!jit_is_path(mapping->path))
			json_string_member(&json, "lack",
					   module ? module_lack(module) : strerror(ENOMEM));
	}
	json_end_line(&json);
}

/*
 * Lists all mappings of a log. A log without mappings is no error, because the writer of the log
 * may not have known them.
 */
static int list_mappings(struct logfile *log, bool json)
{
	struct posix_trace_mapping_np mapping;
	char id[2 * POSIX_TRACE_BUILD_ID_MAX_NP + 2];
	int err, unavailable;
	size_t count = 0;

	while (!(err = posix_trace_mapping_getnext_np(log->trid, &mapping, &unavailable)) &&
	       !unavailable && !out_stdout.err) {
		/* An entry with a parent reports a fork, and a compiled function has no file. */
		const struct module *module = mapping.parent || jit_is_path(mapping.path) ?
					      NULL : module_of(&mapping);

		put_build_id(id, &mapping);
		(json ? put_json : put_text)(&mapping, id, module);
		count++;
	}
	if (err) {
		say("%s: %s", log->path, strerror(err));
		return TOOL_FAILURE;
	}
	if (!count)
		say("%s: the log has no mappings of files", log->path);
	return log->whole ? TOOL_OK : TOOL_DAMAGED;
}

/* Opens one log, lists its mappings and closes it. */
static int list_log(const char *path, bool json)
{
	struct logfile log;
	int status = logfile_open(&log, path, NULL);

	if (status)
		return status;
	status = list_mappings(&log, json);
	logfile_close(&log);
	return status;
}

enum { OPT_JSON = 256 };

static const struct option_row option_rows[] = {
	{ .rows = symbols_dir_rows },
	{ "json", OPT_JSON, NULL, "a JSON object a line" },
	OPTION_HELP,
	OPTION_END
};

/* Parses the options, then lists the mappings of each log. Returns the worst status of all logs. */
static int symbols_run(int argc, char **argv)
{
	int option, status = TOOL_OK;
	bool json = false;

	while ((option = tool_option(argc, argv, &symbols_command)) != -1) {
		switch (option) {
		case 'h':
			return tool_help(&symbols_command);
		case OPT_JSON:
			json = true;
			break;
		case SYMBOLS_DEBUG_DIR:
			if (!symbols_option(option, optarg))
				return tool_usage(&symbols_command);
			break;
		default:
			return tool_usage(&symbols_command);
		}
	}
	if (optind == argc) {
		say("symbols: the name of a log is missing");
		return tool_usage(&symbols_command);
	}
	for (int i = optind; i < argc && !out_stdout.err; i++)
		status = tool_worse(status, list_log(argv[i], json));
	return status;
}

const struct tool_command symbols_command = {
	.name = "symbols",
	.usage = "[OPTION]... LOG...",
	.about =
		"Lists the files that the processes of each LOG (- is standard input) had "
		"mapped executable: process, addresses, build-id, path, and the file that has "
		"their functions and lines now, or why there is none.",
	.options = option_rows,
	.notes =
		"dump --symbols, and symbol and source in --fields, show the function and the "
		"line of events.\n"
		"Exit status: 0 ok, 1 failure, 2 usage, 3 damaged or never closed.",
	.operands = OPTION_LOG,
	.run = symbols_run,
};
