/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plugin.c - a library that tests load and unload. mapped.h uses two different plugins. */
#include <trace.h>

void plugin_trace(trace_event_id_t id, int number);
int plugin_is(void);

void plugin_trace(trace_event_id_t id, int number)
{
	posix_trace_event(id, &number, sizeof(number));
	/* the call is not the last instruction, so its return address is inside this library */
	__asm__ volatile("");
}

int plugin_is(void)
{
	return PLUGIN;
}
