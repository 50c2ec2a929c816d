/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <trace.h>

int main(void)
{
	trace_id_t stream;
	trace_event_id_t hello;
	struct posix_trace_event_info event;
	char name[TRACE_EVENT_NAME_MAX + 1], data[256];
	size_t bytes;
	int none;

	posix_trace_eventid_open("hello", &hello);
	posix_trace_create(0, NULL, &stream);		/* of this process */
	posix_trace_start(stream);
	posix_trace_event(hello, "world", 5);
	posix_trace_stop(stream);
	while (!posix_trace_trygetnext_event(stream, &event, data, sizeof(data), &bytes, &none) &&
	       !none) {
		posix_trace_eventid_get_name(stream, event.posix_event_id, name);
		printf("%-17s %3lu bytes\n", name, (unsigned long)bytes);
	}
	return posix_trace_shutdown(stream);
}
