/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_merge.c - prints a report of several logs; the events of all logs are in one order. */
#include <string.h>

#include "base/say.h"
#include "base/tool.h"
#include "convert/output.h"
#include "report/report.h"
#include "report/report_table.h"

struct merged {
	struct report *report;
	struct report_table table;
	struct out *out;
	bool begun;
};

static struct report
	*chosen_by; /* the report, for report_merge_choose(), which has no argument for it */

static bool report_merge_choose(const struct log_type *type)
{
	return (!type->is_hidden || chosen_by->wanted.choose.include.count) &&
	       choose_type(&chosen_by->wanted.choose, type->name) &&
	       select_type(&chosen_by->select, type->name, type->id);
}

/*
 * Prints the header. The caller calls this function at the first event, because the width of the
 * column of logs is known only when all logs are open.
 */
static void report_merge_begin(struct merged *merged)
{
	merged->begun = true;
	merged->table.log_width = merged->report->merge.path_columns;
	if (merged->report->header)
		report_table_header(merged->out, &merged->table);
}

/*
 * Prints one event in the merged order. Returns false after a write error, which ends the merge.
 * The times of the option -O count from the first event of all logs.
 */
static bool report_merge_show(void *arg, struct merge_source *source,
			      const struct log_type *type, const struct posix_trace_event_np *event)
{
	struct merged *merged = arg;
	uint64_t thread = event->info.posix_thread_id ? (uint64_t)event->info.posix_thread_id
						      : (uint64_t)event->tid;

	if (!merged->begun)
		report_merge_begin(merged);
	if (!select_event(&merged->report->select, (uint64_t)event->info.posix_pid, thread,
			  (__int128)event->time_ns - merged->report->merge.first_ns))
		return true;
	merged->table.log_name = source->log.path;
	report_table_event(merged->out, &merged->table, &source->log, type, event);
	return !merged->out->err;
}

/*
 * Prints the report. A report without events has its header, too. There is no header if no log
 * could be opened or the options were wrong.
 */
static int report_merge_print(struct report *report, struct out *out, char **path, size_t paths)
{
	struct merged merged = { .report = report, .out = out };
	int status;

	merged.table.when = report->when;
	merged.table.pick = report->pick.count ? &report->pick : NULL;
	report->merge.wanted = &report->wanted;
	report->merge.pick = merged.table.pick;
	report->merge.choose = report_merge_choose;
	report->merge.when = report->when;
	chosen_by = report;
	status = merge_run(&report->merge, path, paths, report_merge_show, &merged);
	if (!merged.begun && status != TOOL_USAGE && report->merge.sources)
		report_merge_begin(&merged);
	return status;
}

int report_merge(struct report *report, char **path, size_t paths)
{
	static struct output file;

	if (!report->output || !strcmp(report->output, "-"))
		return report_merge_print(report, &out_stdout, path, paths);
	if (output_open_text(&file, report->output, report->force, path, paths))
		return TOOL_FAILURE;
	return output_close(&file, report_merge_print(report, &file.out, path, paths));
}
