/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* count BYTES EVENTS: records events in a LOOP stream, for count.sh. */
#include <stdlib.h>
#include <trace.h>
int main(int argc, char **argv)
{
	static char data[1024];
	size_t len = strtoul(argv[1], NULL, 10);
	long events = atol(argv[2]);
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;

	(void)argc;
	posix_trace_attr_init(&attr);
	posix_trace_attr_setstreamsize(&attr, 1 << 20);
	posix_trace_attr_setmaxdatasize(&attr, 1024);
	posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP);
	posix_trace_eventid_open("event", &id);
	posix_trace_create(0, &attr, &trid);
	posix_trace_start(trid);
	for (long i = 0; i < events; i++)
		posix_trace_event(id, data, len);
	_Exit(0);
}
