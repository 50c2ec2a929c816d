/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/memory_file.h"
#include "unit/log/sample.h"

void sample_event(uint64_t i, uint32_t data_max, struct ptx_log_event *event, uint8_t *data)
{
	uint32_t len = data_max ? (uint32_t)(i * 7919 % (data_max + 1)) : 0;

	memset(event, 0, sizeof(*event));
	event->type = (uint16_t)(64 + i % SAMPLE_TYPES);
	event->pid = 500;
	event->tid = (uint32_t)(501 + i / 3 % SAMPLE_THREADS);
	event->thread = UINT64_C(0x7f0000000000) + event->tid;
	event->address = 0x400000 + i % 11 * 8;
	event->time_ns = SAMPLE_TIME(i);
	event->len_flags = len | (len == data_max && len ? PTX_RECORD_TRUNCATED : 0);
	for (uint32_t n = 0; n < len; n++)
		data[n] = (uint8_t)(i + n + 1);
	event->data = data;
}

int sample_file(void)
{
	int fd = memory_file("log", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

void sample_facts(struct ptx_log_facts *facts, uint32_t policy, uint64_t log_size,
		  uint32_t data_max)
{
	memset(facts, 0, sizeof(*facts));
	facts->attr.magic = PTX_ATTR_MAGIC;
	facts->attr.version = PTX_ATTR_VERSION;
	facts->attr.flags = PTX_ATTR_POLICY_SET | PTX_ATTR_FROM_STREAM;
	facts->attr.stream_size = 65536;
	facts->attr.max_data_size = data_max;
	facts->attr.log_size = log_size;
	facts->attr.inheritance = POSIX_TRACE_CLOSE_FOR_CHILD;
	facts->attr.stream_policy = POSIX_TRACE_FLUSH;
	facts->attr.log_policy = policy;
	if (getenv("PTX_LEVEL"))
		facts->attr.log_compression = atoi(getenv("PTX_LEVEL"));
	facts->attr.clock_resolution_ns = 1;
	facts->attr.creation_ns = SAMPLE_TIME(-5);
	strcpy(facts->attr.name, "sample");
	strcpy(facts->attr.generation, "libposixtrace");
	facts->pid = 500;
	strcpy(facts->clock, "tsc");
	facts->tick_hz = 2300000000;
}

void sample_origin(struct ptx_log_origin *origin)
{
	memset(origin, 0, sizeof(*origin));
	for (int i = 0; i < 16; i++)
		origin->uuid[i] = (uint8_t)(0x10 + i);
	origin->log_id = UINT64_C(0x1122334455667788);
	origin->begin_ns = SAMPLE_TIME(-1);
	origin->writer.pid = 500;
	origin->writer.start = 12345;
	origin->writer.pid_space = 4026531836;
	memset(origin->writer.boot_id, 0xb0, sizeof(origin->writer.boot_id));
	origin->file.device = 7;
	origin->file.inode = 9;
	strcpy(origin->host, "example");
}

static void named(struct sample *sample)
{
	char name[32];

	for (unsigned i = 0; i < SAMPLE_TYPES; i++) {
		snprintf(name, sizeof(name), "sample %u", i);
		ck_assert_int_eq(ptx_log_name(sample->log, 64 + i, name), 0);
	}
}

int sample_begin(struct sample *sample, int fd, uint32_t policy, uint64_t log_size,
		 uint32_t data_max)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	struct ptx_log_facts facts;

	memset(sample, 0, sizeof(*sample));
	ptx_ledger_init(&sample->ledger);
	sample->data_max = data_max;
	sample_facts(&facts, policy, log_size, data_max);
	err = KEEPS_ERRNO(ptx_log_create(own, &facts, &sample->log));
	if (err)
		close(own);
	else
		named(sample);
	return err;
}

void sample_begin_frozen(struct sample *sample, int fd, const struct ptx_log_facts *facts)
{
	struct ptx_log_origin origin;

	memset(sample, 0, sizeof(*sample));
	ptx_ledger_init(&sample->ledger);
	sample->data_max = (uint32_t)facts->attr.max_data_size;
	sample_origin(&origin);
	ck_assert_int_eq(ptx_log_create_from(fcntl(fd, F_DUPFD_CLOEXEC, 0), facts, &origin,
					     &sample->log), 0);
	named(sample);
}

static void count(struct sample *sample, const struct ptx_log_event *event)
{
	struct ptx_ledger *ledger = &sample->ledger;
	struct ptx_ledger_line *thread =
		ptx_ledger_thread(ledger, event->pid, event->tid, event->thread);

	thread->called++;
	thread->reported++;
	ledger->total.called++;
	ledger->total.reported++;
	ledger->type[event->type].called++;
	ledger->type[event->type].reported++;
	sample->events++;
	sample->bytes += ptx_record_size(ptx_record_len(event->len_flags));
}

enum ptx_log_append sample_put(struct sample *sample, uint64_t number, int *err)
{
	uint8_t *data = malloc(sample->data_max + 1);
	enum ptx_log_append answer = PTX_LOG_APPEND_DONE;
	struct ptx_log_event event;

	*err = 0;
	while (number--) {
		sample_event(sample->events, sample->data_max, &event, data);
		while ((answer = ptx_log_append(sample->log, &event)) ==
		       PTX_LOG_APPEND_WRITE_FIRST) {
			*err = KEEPS_ERRNO(ptx_log_write(sample->log));
			if (*err)
				break;
		}
		if (answer != PTX_LOG_APPEND_DONE)
			break;
		count(sample, &event);
	}
	free(data);
	return answer;
}

void sample_add(struct sample *sample, uint64_t number)
{
	int err;

	ck_assert_int_eq(sample_put(sample, number, &err), PTX_LOG_APPEND_DONE);
	ck_assert_int_eq(err, 0);
}

void sample_write(struct sample *sample)
{
	OK(ptx_log_write(sample->log));
}

void sample_die(struct sample *sample)
{
	ptx_log_destroy(sample->log);
	ptx_ledger_fini(&sample->ledger);
}

int sample_end(struct sample *sample)
{
	int err = KEEPS_ERRNO(ptx_log_complete(sample->log, &sample->status, &sample->ledger));

	ptx_log_destroy(sample->log);
	ptx_ledger_fini(&sample->ledger);
	return err;
}

static void fill_and_end(struct sample *sample, uint64_t number, uint64_t flush)
{
	while (number) {
		uint64_t part = number < flush ? number : flush;

		sample_add(sample, part);
		sample_write(sample);
		number -= part;
	}
	ck_assert_int_eq(sample_end(sample), 0);
}

void sample_make(int fd, uint32_t policy, uint64_t log_size, uint32_t data_max, uint64_t number,
		 uint64_t flush)
{
	struct sample sample;

	ck_assert_int_eq(sample_begin(&sample, fd, policy, log_size, data_max), 0);
	fill_and_end(&sample, number, flush);
}

void sample_make_frozen(int fd, uint32_t policy, uint64_t log_size, uint32_t data_max,
			uint64_t number, uint64_t flush)
{
	struct ptx_log_facts facts;
	struct sample sample;

	sample_facts(&facts, policy, log_size, data_max);
	sample_begin_frozen(&sample, fd, &facts);
	fill_and_end(&sample, number, flush);
}

uint64_t sample_read(struct ptx_stored *stored, uint64_t first, uint32_t data_max)
{
	uint8_t *data = malloc(data_max + 1);
	struct ptx_stored_event got;
	struct ptx_log_event want;
	uint64_t i = first;

	for (; ptx_stored_next(stored, &got); i++) {
		sample_event(i, data_max, &want, data);
		/*
		 * One assertion for all members: Check writes each assertion to a file, even for a
		 * million events.
		 */
		if (got.record->time != (uint64_t)want.time_ns ||
		    got.record->len_flags != want.len_flags || got.record->type != want.type ||
		    got.record->address != want.address || got.pid != want.pid ||
		    got.tid != want.tid || got.thread != want.thread || got.gap ||
		    memcmp(got.record + 1, data, ptx_record_len(want.len_flags)))
			ck_abort_msg("event %llu is not what it was: time %lld, expected %lld",
				     (unsigned long long)i, (long long)got.record->time,
				     (long long)want.time_ns);
	}
	free(data);
	return i - first;
}

struct ptx_stored *sample_open(int fd, bool salvage)
{
	struct ptx_stored *stored;

	OK(ptx_stored_open(fd, salvage, &stored));
	return stored;
}

uint64_t sample_read_file(int fd, uint64_t first, uint32_t data_max)
{
	struct ptx_stored *stored = sample_open(fd, false);
	uint64_t events = sample_read(stored, first, data_max);

	ck_assert_msg(!ptx_stored_damage(stored), "%s", ptx_stored_damage(stored));
	ptx_stored_close(stored);
	return events;
}

static void print(void *arg, const struct posix_trace_fault_np *fault)
{
	(void)arg;
	fprintf(stderr, "offset %llu, %llu bytes: %s\n", (unsigned long long)fault->offset,
		(unsigned long long)fault->bytes, fault->reason);
}

uint64_t sample_faults(int fd, bool show)
{
	struct posix_trace_check_np result;

	OK(ptx_check_log(fd, show ? print : NULL, NULL, &result));
	return result.faults;
}

void sample_prove(int fd)
{
	struct posix_trace_check_np result;

	OK(ptx_check_log(fd, print, NULL, &result));
	ck_assert_uint_eq(result.faults, 0);
	ck_assert(result.complete);
}

uint8_t *sample_bytes(int fd, size_t *size)
{
	struct stat st;
	uint8_t *bytes;

	ck_assert_int_eq(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	ck_assert_int_eq(pread(fd, bytes, *size, 0), st.st_size);
	return bytes;
}

int sample_file_of(const void *bytes, size_t size)
{
	int fd = sample_file();

	ck_assert_int_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	return fd;
}
