/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/log/heir.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log/write_resume.h"

#define ENOUGH (1u << 20)

int heir_resume(struct sample *sample, int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0), err;
	struct ptx_log_facts facts;
	struct ptx_log_tally tally;
	char name[32];

	memset(sample, 0, sizeof(*sample));
	ptx_ledger_init(&sample->ledger);
	ptx_log_tally_init(&tally);
	err = ptx_log_resume(own, &sample->log, &facts, &tally);
	if (!err) {
		ck_assert_str_eq(facts.attr.name, "sample");
		ck_assert_uint_eq(facts.attr.max_data_size, HEIR_DATA_MAX);
		ck_assert_uint_eq(facts.pid, 500);
		ck_assert_int_eq(ptx_log_tally_report(&tally, &sample->ledger), 0);
		for (unsigned i = 0; i < SAMPLE_TYPES; i++) {
			snprintf(name, sizeof(name), "sample %u", i);
			ck_assert_int_eq(ptx_log_name(sample->log, 64 + i, name), 0);
		}
		sample->data_max = HEIR_DATA_MAX;
		sample->events = ptx_log_append_count(sample->log);
	} else {
		close(own); /* still the caller's */
		ptx_ledger_fini(&sample->ledger);
	}
	ptx_log_tally_fini(&tally);
	return err;
}

void heir_go_on_to(struct sample *sample, int fd, uint64_t number)
{
	struct ptx_stored *stored;
	uint64_t gone;

	while (sample->events < number) {
		sample_add(sample, number - sample->events < 9 ? number - sample->events : 9);
		sample_write(sample);
	}
	ck_assert_int_eq(sample_end(sample), 0);
	sample_prove(fd);
	stored = sample_open(fd, false);
	gone = ptx_stored_ledger(stored)->total.lost[PTX_LOST_LOG_OVERWRITTEN];
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.called, number);
	ck_assert_uint_eq(ptx_stored_ledger(stored)->total.reported + gone, number);
	ck_assert_uint_eq(sample_read(stored, gone, HEIR_DATA_MAX) + gone, number);
	for (unsigned i = 0; i < SAMPLE_TYPES; i++)
		ck_assert_ptr_nonnull(ptx_stored_name(stored, 64 + i));
	ptx_stored_close(stored);
}

int heir_killed(uint32_t policy, uint64_t number)
{
	struct sample sample;
	int fd = sample_file();
	uint64_t limit = policy == POSIX_TRACE_APPEND ? 0 :
			 policy == POSIX_TRACE_LOOP   ? HEIR_LIMIT :
							ENOUGH;

	ck_assert_int_eq(sample_begin(&sample, fd, policy, limit, HEIR_DATA_MAX), 0);
	while (sample.events < number) {
		sample_add(&sample, number - sample.events < 7 ? number - sample.events : 7);
		sample_write(&sample);
	}
	sample_add(&sample, 3);
	sample_die(&sample);
	return fd;
}
