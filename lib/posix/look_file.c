/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/look_file.c - posix_trace_observe_file_np(): streams in a file that outlived its process.
 *
 * The file is the backing file of a stream, or a core dump of a process that had streams. It is
 * hostile: it is only read, never mapped, and every offset is checked. Faults are reported with
 * their offset.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <trace_np.h>

#include "observe/image.h"
#include "posix/call.h"
#include "posix/faults.h"
#include "posix/source.h"

/* Reports a fault of the image to the caller, if the caller requests faults. */
static void report_fault(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
			 const char *reason)
{
	/* bytes 0: the extent of the fault is unknown. */
	struct posix_trace_fault_np fault = { .offset = offset, .bytes = bytes, .reason = reason };

	ptx_faults_report(image->fault_arg, &fault);
}

/*
 * Returns whether a process may be writing into the file. Such a process holds the lock. If this
 * call acquires the lock, it releases the lock at once.
 */
static bool is_in_use(int fd)
{
	/* EWOULDBLOCK: another description has the exclusive lock of a creator. */
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

/*
 * Examines the file. EINVAL: the file has no arena of this version, or is not a regular file, such
 * as a pipe.
 */
static int look_at_file(int fd, const struct ptx_visitor *visitor, struct ptx_faults *faults)
{
	struct ptx_image image;
	struct stat st;
	int err = EINVAL, failed = 0;

	/* EBADF: not an open descriptor. */
	if (fstat(fd, &st) != 0)
		return errno;
	ptx_image_of_file(&image, fd);
	image.fault = report_fault;
	image.fault_arg = faults;
	image.err = &failed;
	if (S_ISREG(st.st_mode)) {
		image.is_live = is_in_use(fd);
		err = ptx_posix_look_at_image(&image, visitor);
		if (failed)
			err = failed;
	}
	if (err == EINVAL)
		ptx_image_fault(&image, 0, 0,
				"this is no backing file of a stream, or one of another version");
	return err;
}

/*
 * The descriptor stays open; its position is not used. `report` may be NULL. The sizes are those of
 * the program's structures.
 */
PTX_EXPORT int posix_trace_observe_file_sized_np(
	int file_desc, void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
	ptx_report *report, void *arg, size_t stream_size, size_t fault_size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_visitor visitor;
	struct ptx_faults faults;
	int err = ptx_visitor_begin(&visitor, visit, arg, stream_size);

	if (err)
		return ptx_call_end(call, err);
	/* Faults need memory only for a program of a later version. */
	err = ptx_faults_begin(&faults, report, arg, fault_size);
	if (!err) {
		err = look_at_file(file_desc, &visitor, &faults);
		ptx_faults_end(&faults);
	}
	ptx_visitor_end(&visitor);
	return ptx_call_end(call, err);
}
