/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* frames.c - prints the frames of a stack as lines or as JSON. */
#include "show/frames.h"

#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "symbols/symbols.h"

/* Returns the symbol of a frame, or NULL if nothing is known about its address. */
static const struct symbol *symbol_of_frame(const struct logfile *log,
					    const struct posix_trace_event_np *event,
					    const struct stacks_found *stack, size_t index)
{
	return symbols_of_frame(log->trid, event->info.posix_pid, stack, index, event->time_ns);
}

void frames_text(struct out *out, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct stacks_found *stack)
{
	for (size_t i = 0; i < stack->count; i++) {
		const struct symbol *symbol = symbol_of_frame(log, event, stack, i);
		const char *module;

		out_printf(out, "    #%-2zu", i);
		if (!symbol) {
			out_printf(out, " 0x%llx\n", (unsigned long long)stack->frame[i]);
			continue;
		}
		symbols_text(out, symbol);
		/*
		 * If the function is unknown, the text is MODULE+0xOFFSET and names the module
		 * already.
		 */
		if (!symbol->file && symbol->is_function) {
			module = path_last(symbol->module);
			out_str(out, " [");
			text_safe(out, module, strlen(module));
			out_char(out, ']');
		}
		out_char(out, '\n');
	}
}

void frames_json(struct json *json, const struct logfile *log,
		 const struct posix_trace_event_np *event, const struct stacks_found *stack)
{
	json_array(json, "stack");
	for (size_t i = 0; i < stack->count; i++) {
		const struct symbol *symbol = symbol_of_frame(log, event, stack, i);

		json_object(json, NULL);
		json_address(json, "address", stack->frame[i]);
		if (symbol) {
			json_string_member(json, "symbol", symbol->name);
			if (symbol->is_function)
				json_string_member(json, "module", symbol->module);
			if (symbol->file)
				symbols_source_json(json, "source", symbol);
		}
		json_end_object(json);
	}
	json_end_array(json);
}
