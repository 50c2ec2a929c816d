/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * etw_log.c - reads the description of the log (TRACE_LOGFILE_HEADER of evntrace.h), which is the
 * first record of the file.
 *
 * The file has no magic number. etw_is() recognizes it by the first record, which is at a fixed
 * offset.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "convert/etw/etw_part.h"
#include "convert/octets.h"

#define SYSTEM_HEADER 32

/*
 * Returns whether the record is the header of a log: it has group 0 and type 0, and is long enough
 * for all fields of the header.
 */
static bool is_log_header(const struct etw_record *r)
{
	size_t least = SYSTEM_HEADER + (r->header_type == 2 ? ETW_LOG_HEADER64 : ETW_LOG_HEADER32);

	return r->kind == ETW_SYSTEM && r->group == 0 && r->type == 0 && r->size >= least;
}

/*
 * The file is a log only if its first record, which is at a fixed offset, is a log file header.
 */
bool etw_is(const unsigned char *bytes, size_t size)
{
	struct etw_record r;
	const char *why;

	return size > ETW_BUFFER_HEADER && octets_u32(bytes) >= ETW_BUFFER_HEADER &&
	       !etw_record(bytes + ETW_BUFFER_HEADER, size - ETW_BUFFER_HEADER, &r, &why) &&
	       is_log_header(&r);
}

/*
 * Reads the fields at their offsets. The header contains two pointers, so the offsets of the fields
 * behind them depend on the size of pointers.
 */
static void read_fields(struct etw_log *log, const struct etw_record *r)
{
	const unsigned char *p = r->bytes + SYSTEM_HEADER;
	unsigned shift = r->header_type == 2 ? 8 : 0; /* for the fields behind the pointers */

	log->wide = r->header_type == 2;
	log->buffer_size = octets_u32(p);
	memcpy(log->version, p + 4, 4);
	log->build = octets_u32(p + 8);
	log->processors = octets_u32(p + 0x0c);
	log->end_time = (int64_t)octets_u64(p + 0x10);
	log->timer_resolution = octets_u32(p + 0x18);
	log->mode = octets_u32(p + 0x20);
	log->buffers_written = octets_u32(p + 0x24);
	log->pointer_size = octets_u32(p + 0x2c);
	log->events_lost = octets_u32(p + 0x30);
	log->cpu_mhz = octets_u32(p + 0x34);
	log->boot_time = (int64_t)octets_u64(p + 0xf0 + shift);
	log->frequency = (int64_t)octets_u64(p + 0xf8 + shift);
	log->start_time = (int64_t)octets_u64(p + 0x100 + shift);
	log->clock = octets_u32(p + 0x108 + shift);
	log->buffers_lost = octets_u32(p + 0x10c + shift);
	log->stamp0 = r->stamp;
	log->names_at = SYSTEM_HEADER + 0x110 + shift;
}

/*
 * Applies --etw-clock and --etw-freq. Refuses an unknown clock. Also refuses a clock without a
 * frequency, because each conversion of a stamp would divide by 0.
 */
static int check_clock(struct etw_file *file, struct findings *f)
{
	struct etw_log *log = &file->log;

	if (file->options.clock)
		log->clock = file->options.clock;
	if (file->options.frequency && log->clock == ETW_CLOCK_CPU)
		log->cpu_mhz = (uint32_t)(file->options.frequency / 1000000);
	else if (file->options.frequency)
		log->frequency = (int64_t)file->options.frequency;
	if (log->clock > ETW_CLOCK_CPU)
		return finding(f, FINDING_REFUSAL, "E14", ETW_BUFFER_HEADER,
			       "clock type %u; wanted 0 to 3: give the clock with --etw-clock=N",
			       log->clock);
	if (log->clock == ETW_CLOCK_PERFORMANCE && log->frequency <= 0)
		return finding(f, FINDING_REFUSAL, "E13", ETW_BUFFER_HEADER,
			       "the clock has %lld ticks a second: give the number with "
			       "--etw-freq=N", (long long)log->frequency);
	if (log->clock == ETW_CLOCK_CPU && !log->cpu_mhz)
		return finding(f, FINDING_REFUSAL, "E13", ETW_BUFFER_HEADER,
			       "the processor has 0 MHz: give its frequency with --etw-freq=N");
	return 0;
}

/* Refuses every compression other than XPRESS. etw_xpress() reads XPRESS. */
static int check_compression(const struct etw_file *file, unsigned state, struct findings *f)
{
	static const char *const names[] = { "none", "the default", "LZNT1", "XPRESS",
					     "XPRESS Huffman" };
	unsigned format = state & 0xffff;

	if (!(file->log.mode & ETW_MODE_COMPRESSED) || format == 3)
		return 0;
	return finding(f, FINDING_REFUSAL, "E12", ETW_BUFFER_STATE,
		       "compression format %u (%s); only XPRESS (3) can be read", format,
		       format < 5 ? names[format] : "unknown");
}

/*
 * Refuses an impossible size of the first buffer. Logs of Windows 2000 to 2003 have another buffer
 * header, with the size in another place.
 */
static int refuse_size(const struct etw_file *file, uint32_t size, struct findings *f)
{
	return finding(f, FINDING_REFUSAL, "E03", 0,
		       "the first buffer has %u bytes; wanted %d to %llu, the size of the file%s",
		       size, ETW_BUFFER_HEADER, (unsigned long long)file->input.size,
		       size < ETW_BUFFER_HEADER ? " (a log of Windows 2000 to 2003?)" : "");
}

/*
 * Refuses a file that is not a log, and a log that this version of the tool cannot read. The
 * function keeps the whole first record, because an export writes it back.
 */
int etw_read_log(struct etw_file *file, struct findings *f)
{
	unsigned char header[ETW_BUFFER_HEADER];
	struct etw_log *log = &file->log;
	struct etw_record r;
	const char *why;
	uint64_t least = ETW_BUFFER_HEADER + SYSTEM_HEADER + ETW_LOG_HEADER32;
	uint32_t size;
	size_t there;

	if (file->input.size < least)
		return finding(f, FINDING_REFUSAL, "E01", 0,
			       "not an ETL log: too short, %llu bytes; wanted at least %llu",
			       (unsigned long long)file->input.size, (unsigned long long)least);
	if (etw_read(file, 0, header, sizeof(header)))
		return EIO;
	size = octets_u32(header + ETW_BUFFER_SIZE);
	if (size < ETW_BUFFER_HEADER || size > file->input.size)
		return refuse_size(file, size, f);
	/* A record has at most 64 KiB, so no more bytes are read. */
	there = size - ETW_BUFFER_HEADER < 65536 ? size - ETW_BUFFER_HEADER : 65536;
	log->record = malloc(there ? there : 1);
	if (!log->record)
		return ENOMEM;
	if (etw_read(file, ETW_BUFFER_HEADER, log->record, there))
		return EIO;
	if (etw_record(log->record, there, &r, &why) || !is_log_header(&r))
		return finding(f, FINDING_REFUSAL, "E02", ETW_BUFFER_HEADER,
			       "not an ETL log: no log file header");
	log->record_bytes = r.size;
	read_fields(log, &r);
	if (check_clock(file, f) ||
	    check_compression(file, octets_u32(header + ETW_BUFFER_STATE), f))
		return EINVAL;
	if (log->pointer_size != 4 && log->pointer_size != 8)
		finding(f, FINDING_WARNING, "E18", ETW_BUFFER_HEADER + SYSTEM_HEADER + 0x2c,
			"pointers of %u bytes; wanted 4 or 8: the size is derived from the header "
			"type",
			log->pointer_size);
	return 0;
}

/*
 * Stores the characters up to a NUL in UTF-8. Characters that do not fit into "name", which has
 * "size" bytes, are omitted. Sets *at to the offset behind the NUL. Sets *bad if the text is not
 * valid UTF-16 or does not end in the record.
 */
static void take_name(const struct etw_log *log, size_t *at, char *name, size_t size, bool *bad)
{
	size_t used = 0;
	bool full = false;

	for (;;) {
		char utf8[UTF8_BYTES];
		size_t n;
		uint32_t c;

		if (*at + 2 > log->record_bytes) {
			*bad = true;
			break;
		}
		c = utf16_take(log->record, log->record_bytes, at);
		if (!c)
			break;
		*bad |= c == UTF_INVALID;
		n = utf8_put(c == UTF_INVALID ? UTF_REPLACEMENT : c, utf8);
		full |= n >= size - used;
		if (full)
			continue;
		memcpy(name + used, utf8, n);
		used += n;
	}
	name[used] = '\0';
}

/* Two texts follow the fixed fields: the name of the session and the name of the file. */
void etw_log_names(const struct etw_log *log, char *session, char *path, size_t size,
		   struct findings *f)
{
	size_t at = log->names_at;
	bool bad = false;

	take_name(log, &at, session, size, &bad);
	take_name(log, &at, path, size, &bad);
	if (bad)
		finding(f, FINDING_WARNING, "E17", ETW_BUFFER_HEADER + log->names_at,
			"the names of session and file are not valid UTF-16, or exceed the record");
}
