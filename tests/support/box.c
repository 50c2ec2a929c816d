/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/box.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "support/log.h"

char box_path[64];

void box_new_path(void)
{
	snprintf(box_path, sizeof(box_path), "/tmp/posixtrace-box-%d", (int)getpid());
	unlink(box_path);
}

void box_attr(trace_attr_t *attr, const struct wish *wish)
{
	wish_attr(attr, wish);
	OK(posix_trace_attr_setbacking_np(attr, box_path));
}

trace_id_t box_create(const struct wish *wish)
{
	trace_attr_t attr;
	trace_id_t trid;

	box_attr(&attr, wish);
	OK(posix_trace_create(0, &attr, &trid));
	OK(posix_trace_attr_destroy(&attr));
	return trid;
}

void box_recover_stream(void *arg, const struct posix_trace_stream_np *stream)
{
	struct recovery *recovery = arg;
	int fd = log_file();

	recovery->err = posix_trace_snapshot_np(stream, fd);
	if (recovery->err)
		close(fd);
	else
		recovery->fd = fd;
}

static void count_fault(void *arg, const struct posix_trace_fault_np *fault)
{
	struct recovery *recovery = arg;

	ck_assert_ptr_nonnull(fault->reason);
	recovery->faults++;
}

struct recovery box_recover(void)
{
	struct recovery recovery = { .fd = -1 };
	int err, fd = open(box_path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	err = posix_trace_observe_file_np(fd, box_recover_stream, count_fault, &recovery);
	if (err)
		recovery.err = err;
	close(fd);
	return recovery;
}

int box_recover_whole(void)
{
	struct recovery recovery = box_recover();

	ck_assert_int_eq(recovery.err, 0);
	ck_assert_uint_eq(recovery.faults, 0);
	ck_assert_int_ge(recovery.fd, 0);
	return recovery.fd;
}
