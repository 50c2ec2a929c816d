/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_scan.c - reads the whole file once. It reports faults and collects the facts that the sink
 * needs before the first event: number of events, times, largest record, descriptions, size of
 * pointers.
 */
#include <errno.h>
#include <string.h>

#include "convert/etw/etw_describe.h"
#include "convert/etw/etw_part.h"
#include "convert/etw/etw_write.h"
#include "convert/octets.h"

#define DAY_NS (INT64_C(86400) * 1000000000)
#define STILL_RUNNING 259

struct scan {
	struct etw_file *file;
	struct findings *f;
	bool begun;             /* the current processor had a record */
	int64_t last;
	bool time_reported, order_reported;
	/* numbers of process events that fit pointers of 4 bytes, and of 8 bytes */
	unsigned fits[2];
	unsigned tries;
};

/*
 * Reports the first record whose time is impossible, or more than a day before the log began. Such
 * a time is a sign that the clock or its frequency is wrong.
 */
static void check_time(struct scan *s, const struct etw_record *r, int64_t ns)
{
	int64_t start = etw_filetime_ns(s->file->log.start_time);
	bool odd = ns < 0 || ns == INT64_MAX || (start >= 0 && ns < start - DAY_NS);

	if (!odd || s->time_reported)
		return;
	s->time_reported = true;
	finding(s->f, FINDING_WARNING, "E20", r->at,
		"stamp %lld is before 1970, after 2262 or more than a day before the log began",
		(long long)r->stamp);
}

/*
 * Checks whether the record is older than the previous record of the same processor. If the records
 * of a processor are not in order of time, a merge of the processors would give a wrong order, so
 * etw_walk.c sorts all records.
 */
static void check_order(struct scan *s, const struct etw_record *r)
{
	/*
	 * An export of posixtrace has the order of the original log, in which the clock may have
	 * gone back. Therefore the records of an export are never sorted.
	 */
	if (s->begun && r->stamp < s->last && !s->file->ours) {
		s->file->disordered = true;
		if (!s->order_reported)
			finding(s->f, FINDING_WARNING, NULL, r->at,
				"the records of processor %u are not in order of time: "
				"they are sorted",
				r->processor);
		s->order_reported = true;
	}
	s->begun = true;
	s->last = r->stamp;
}

/*
 * Kernel events do not have the size of their pointers. But an event of a process has its exit
 * status, which is 259 for a running process, at an offset that depends on this size. For each
 * size, the function counts the events that have the number 259 at this offset.
 */
static void try_process(struct scan *s, const struct etw_record *r)
{
	const char *name = r->has_guid && etw_is_classic(r) ? etw_class_name(r->guid) :
			   r->group == 3 ? "process" : NULL;
	size_t payload = r->size - r->header;

	if (!name || strcmp(name, "process") != 0 || r->version < 1 ||
	    (r->type != 1 && r->type != 3))
		return;
	s->tries++;
	for (unsigned i = 0; i < 2; i++) {
		size_t at = (i ? 8 : 4) + 12;

		if (payload >= at + 4 && octets_u32(r->bytes + r->header + at) == STILL_RUNNING)
			s->fits[i]++;
	}
}

/*
 * Returns whether the log is an export of posixtrace: the first event of an export describes the
 * stream.
 */
static bool is_ours(const struct etw_record *r)
{
	unsigned char guid[ETW_GUID_BYTES];

	etw_guid_of_name(ETW_CLASS_REGISTRY, strlen(ETW_CLASS_REGISTRY), guid);
	return r->kind == ETW_FULL && r->type == ETW_REGISTRY_STREAM && r->version == 1 &&
	       !memcmp(r->guid, guid, sizeof(guid));
}

/* Examines a record. Returns false if memory is lacking. */
static bool scan_record(struct scan *s, const struct etw_record *r)
{
	struct etw_file *file = s->file;
	int64_t ns;

	file->records++;
	if (r->kind == ETW_SKIPPED || etw_is_about_log(r))
		return true;
	if (!etw_describe_take(file->describe, r, s->f))
		return false;
	if (!file->events)
		file->ours = is_ours(r);
	check_order(s, r);
	ns = etw_time_ns(&file->log, r->stamp);
	check_time(s, r, ns);
	try_process(s, r);
	if (!file->events || ns < file->first_ns)
		file->first_ns = ns;
	if (!file->events || ns > file->last_ns)
		file->last_ns = ns;
	file->events++;
	file->lost_records += etw_lost_type(r) != 0;
	if (r->size > file->largest)
		file->largest = r->size;
	return true;
}

/*
 * Decides the size of pointers. If no process event fits a size, or if all of them fit both sizes,
 * the header type of the log decides. If the two counts are equal in any other way, the size is
 * unknown (0).
 */
static void decide_pointers(struct scan *s)
{
	struct etw_file *file = s->file;
	/*
	 * The size that fits more process events is used. The event of an ended process may not fit
	 * a size.
	 */
	if (s->fits[0] != s->fits[1])
		file->pointer_bytes = s->fits[1] > s->fits[0] ? 8 : 4;
	else if (!s->fits[0] || s->fits[0] == s->tries)
		file->pointer_bytes = file->log.wide ? 8 : 4;
	else
		file->pointer_bytes = 0;
}

/*
 * The buffers are sorted by processor, so one flag "begun" is enough: it is cleared at the first
 * buffer of each processor. Each buffer is freed before the next one is loaded, so only one buffer
 * is in memory.
 */
int etw_scan(struct etw_file *file, struct findings *f)
{
	struct scan s = { .file = file, .f = f };

	for (size_t i = 0; i < file->buffers; i++) {
		const struct etw_buffer *b = &file->buffer[i];
		struct etw_content content;
		struct etw_record record;
		int err = etw_content_load(file, b, &content, f);

		/*
		 * After an error the rest of the file cannot be read. A fault in a buffer is no
		 * error: only this buffer is lost.
		 */
		if (err)
			return err;
		if (i && b->processor != file->buffer[i - 1].processor)
			s.begun = false;
		while (!err && etw_content_next(file, b, &content, &record, f))
			err = scan_record(&s, &record) ? 0 : ENOMEM;
		etw_content_free(&content);
		if (err)
			return err;
	}
	decide_pointers(&s);
	return etw_describe_end(file->describe, f) ? 0 : ENOMEM;
}

int etw_open(struct etw_file *file, const struct etw_input *input,
	     const struct etw_options *options, struct findings *findings)
{
	int err;

	memset(file, 0, sizeof(*file));
	file->input = *input;
	file->options = *options;
	file->describe = etw_describe_new();
	err = file->describe ? etw_read_log(file, findings) : ENOMEM;
	if (!err)
		err = etw_list_buffers(file, findings);
	if (!err)
		err = etw_scan(file, findings);
	if (err)
		etw_close(file);
	return err;
}
