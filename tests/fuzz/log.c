/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log.c - a log of any bytes, read in every way.
 *
 * Each log that can be opened must have an end and return valid event types, texts and times. It
 * must return the same after a rewind, and no more than salvage finds. A log that is reported as
 * sound must be readable from beginning to end.
 */
#include <stdbool.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

#define LOG_MAX    (320u << 10)
#define EVENTS_MAX (LOG_MAX / 8) /* a record has more bytes, but packed records may have fewer */
#define PACKED_MAX (64u * EVENTS_MAX)

const struct fuzz_word fuzz_words[] = { { 0 } };

static volatile uint64_t used; /* keeps the compiler from removing the reads */

static void use(const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		used = used + ((const uint8_t *)data)[i];
}

static void must_be_text(const char *text, size_t room, const char *what)
{
	FUZZ_MUST(memchr(text, 0, room), "%s has no end", what);
	use(text, strlen(text));
}

static void must_be_event(const struct posix_trace_event_np *event)
{
	FUZZ_MUST(event->info.posix_event_id > 0 && event->info.posix_event_id < 1024,
		  "an event of type %u", (unsigned)event->info.posix_event_id);
	FUZZ_MUST(event->info.posix_timestamp.tv_nsec >= 0 &&
			  event->info.posix_timestamp.tv_nsec < 1000000000,
		  "an event with %ld ns", event->info.posix_timestamp.tv_nsec);
	use(event->data, event->data_len);
}

/* Counts the events from the current position. */
static size_t read_on(trace_id_t trid)
{
	struct posix_trace_event_np event;
	int unavailable;
	size_t n = 0;

	for (;; n++) {
		FUZZ_MUST(posix_trace_getnext_np(trid, &event, &unavailable) == 0, "no getnext_np");
		if (unavailable)
			return n;
		FUZZ_MUST(n < PACKED_MAX, "events without an end");
		must_be_event(&event);
	}
}

static void read_cut(trace_id_t trid)
{
	struct posix_trace_event_info info;
	unsigned char data[16];
	int unavailable = 0;
	size_t len;

	for (int i = 0; i < 100 && !unavailable; i++) {
		FUZZ_MUST(posix_trace_getnext_event(trid, &info, data, sizeof(data), &len,
						    &unavailable) == 0,
			  "no getnext_event");
		FUZZ_MUST(unavailable || len <= sizeof(data), "%zu bytes in 16", len);
		if (!unavailable)
			use(data, len);
	}
}

static void list_types(trace_id_t trid)
{
	char name[TRACE_EVENT_NAME_MAX + 1], schema[POSIX_TRACE_SCHEMA_MAX_NP + 1];
	struct posix_trace_schema_np parsed;
	struct posix_trace_ledger_np ledger;
	trace_event_id_t id;
	int unavailable;

	FUZZ_MUST(posix_trace_eventtypelist_rewind(trid) == 0, "no rewind of types");
	for (int n = 0;; n++) {
		FUZZ_MUST(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0,
			  "no next type");
		if (unavailable)
			return;
		FUZZ_MUST(n < 1024, "types without an end");
		FUZZ_MUST(posix_trace_eventid_get_name(trid, id, name) == 0, "type %u: no name",
			  id);
		must_be_text(name, sizeof(name), "a name");
		if (posix_trace_eventid_get_schema_np(trid, id, schema, sizeof(schema)) == 0) {
			must_be_text(schema, sizeof(schema), "a schema");
			posix_trace_schema_parse_np(schema, &parsed);
		}
		FUZZ_MUST(posix_trace_get_ledger_type_np(trid, id, &ledger) == 0, "no line of %u",
			  id);
	}
}

static void list_threads(trace_id_t trid)
{
	struct posix_trace_ledger_np ledger;
	struct posix_trace_thread_np thread;
	int unavailable = 0;

	FUZZ_MUST(posix_trace_get_ledger_np(trid, &ledger) == 0, "no ledger");
	for (size_t i = 0; !unavailable; i++) {
		FUZZ_MUST(posix_trace_get_ledger_thread_np(trid, i, &thread, &ledger,
							   &unavailable) == 0,
			  "no line of thread %zu", i);
		FUZZ_MUST(i < EVENTS_MAX, "threads without an end");
	}
}

static void list_objects(trace_id_t trid)
{
	struct posix_trace_object_np object, found;
	int unavailable = 0;

	FUZZ_MUST(posix_trace_object_rewind_np(trid) == 0, "no rewind of objects");
	for (size_t i = 0;; i++) {
		FUZZ_MUST(posix_trace_object_getnext_np(trid, &object, &unavailable) == 0,
			  "no next object");
		if (unavailable)
			return;
		FUZZ_MUST(i < EVENTS_MAX, "objects without an end");
		must_be_text(object.name, sizeof(object.name), "a thing's name");
		if (i < 100 && posix_trace_object_find_np(trid, object.pid, object.pointer,
							  object.time_ns, &found) == 0)
			must_be_text(found.name, sizeof(found.name), "a found thing's name");
	}
}

static void list_mappings(trace_id_t trid)
{
	struct posix_trace_mapping_np mapping, found;
	int unavailable = 0;

	FUZZ_MUST(posix_trace_mapping_rewind_np(trid) == 0, "no rewind of mappings");
	for (size_t i = 0;; i++) {
		FUZZ_MUST(posix_trace_mapping_getnext_np(trid, &mapping, &unavailable) == 0,
			  "no next mapping");
		if (unavailable)
			return;
		FUZZ_MUST(i < EVENTS_MAX, "mappings without an end");
		FUZZ_MUST(mapping.parent || mapping.start < mapping.end, "an empty mapping");
		FUZZ_MUST(mapping.from_ns <= mapping.until_ns,
			  "a mapping that ends before it begins");
		FUZZ_MUST(mapping.build_id_len <= sizeof(mapping.build_id), "a long build-id");
		must_be_text(mapping.path, 4096, "a path");
		if (i < 100 && posix_trace_mapping_find_np(trid, mapping.pid, mapping.start,
							   mapping.from_ns, &found) == 0)
			FUZZ_MUST(found.start <= mapping.start && mapping.start < found.end,
				  "another mapping than was asked for");
	}
}

static void ask(trace_id_t trid)
{
	struct posix_trace_status_info status;
	struct posix_trace_loginfo_np info;
	char text[TRACE_NAME_MAX + 1];
	struct timespec time;
	trace_attr_t attr;
	size_t size;

	FUZZ_MUST(posix_trace_get_loginfo_np(trid, &info) == 0, "no loginfo");
	must_be_text(info.host, sizeof(info.host), "the host");
	must_be_text(info.clock, sizeof(info.clock), "the clock");
	FUZZ_MUST(posix_trace_get_status(trid, &status) == 0, "no status");
	FUZZ_MUST(posix_trace_get_attr(trid, &attr) == 0, "no attributes");
	if (posix_trace_attr_getname(&attr, text) == 0)
		must_be_text(text, sizeof(text), "the stream's name");
	if (posix_trace_attr_getgenversion(&attr, text) == 0)
		must_be_text(text, sizeof(text), "the version");
	posix_trace_attr_getcreatetime(&attr, &time);
	posix_trace_attr_getclockres(&attr, &time);
	posix_trace_attr_getmaxsystemeventsize(&attr, &size);
	posix_trace_attr_destroy(&attr);
}

static void seek(trace_id_t trid, int64_t ns)
{
	struct timespec when = { .tv_sec = ns / 1000000000 - (ns < 0), .tv_nsec = 0 };

	/*
	 * Behind a position there may be more events than a read from the beginning finds, because
	 * that ends at damage.
	 */
	if (posix_trace_seek_np(trid, &when) == 0)
		read_on(trid);
}

static void seek_some(trace_id_t trid)
{
	struct posix_trace_loginfo_np info;

	FUZZ_MUST(posix_trace_get_loginfo_np(trid, &info) == 0, "no loginfo");
	seek(trid, info.last_ns);
	seek(trid, (int64_t)(((uint64_t)info.first_ns + (uint64_t)info.last_ns) / 2));
	seek(trid, INT64_MIN / 2);
	seek(trid, INT64_MAX / 2);
}

static size_t read_log(trace_id_t trid)
{
	size_t all = read_on(trid);

	ask(trid);
	list_types(trid);
	list_threads(trid);
	list_objects(trid);
	list_mappings(trid);
	FUZZ_MUST(posix_trace_rewind(trid) == 0, "no rewind");
	FUZZ_MUST(read_on(trid) == all, "%zu events, and others after rewinding", all);
	FUZZ_MUST(posix_trace_rewind(trid) == 0, "no rewind");
	read_cut(trid);
	seek_some(trid);
	FUZZ_MUST(posix_trace_close(trid) == 0, "not closed");
	return all;
}

static void see_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	uint64_t *faults = arg;

	must_be_text(fault->reason, 4096, "a reason");
	++*faults;
}

static void compare(int fd, bool plain, size_t read, size_t salvaged)
{
	struct posix_trace_check_np result;
	uint64_t faults = 0;

	if (posix_trace_check_np(fd, see_fault, &faults, &result))
		return;
	FUZZ_MUST(faults == result.faults, "%llu faults reported, %llu counted",
		  (unsigned long long)faults, (unsigned long long)result.faults);
	FUZZ_MUST(!plain || read <= salvaged, "%zu events, but only %zu by salvage", read,
		  salvaged);
	if (faults || !result.complete)
		return;
	FUZZ_MUST(plain, "a log without fault cannot be opened");
	FUZZ_MUST(read == result.events && salvaged == result.events,
		  "a log without fault: %llu events, %zu read, %zu salvaged",
		  (unsigned long long)result.events, read, salvaged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd, next = fuzz_next_descriptor();
	size_t read = 0, salvaged = 0;
	trace_id_t trid;
	bool plain;

	if (size > LOG_MAX)
		return 0;
	fd = fuzz_file(data, size);
	plain = posix_trace_open(fd, &trid) == 0;
	if (plain)
		read = read_log(trid);
	if (posix_trace_open_np(fd, POSIX_TRACE_OPEN_SALVAGE_NP, &trid) == 0)
		salvaged = read_log(trid);
	compare(fd, plain, read, salvaged);
	close(fd);
	FUZZ_MUST(fuzz_next_descriptor() == next, "a descriptor was left open");
	return 0;
}
