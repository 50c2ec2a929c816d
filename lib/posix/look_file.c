/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/look_file.c - posix_trace_observe_file_np(): streams in a file that outlived its process.
 *
 * The file is the backing file of a stream, or a core dump of a process that had streams. It is
 * hostile: it is only read, never mapped, and every offset is checked. Faults are reported with
 * their offset.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <trace_np.h>

#include "base/io.h"
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

/* Room for the fdinfo of a file: four lines, and a line of 60 bytes for each lock. */
#define FDINFO_BYTES 4096

/*
 * Stores in *holds whether the caller's own open file description has a lock of flock(). Returns
 * false if /proc does not show this. The path is that of the calling thread: a main thread that has
 * ended has no descriptors any more, and unshare(2) can give a thread descriptors of its own.
 */
static bool find_own_lock(int fd, bool *holds)
{
	char path[32 + PTX_IO_DIGITS] = "/proc/thread-self/fdinfo/", digits[PTX_IO_DIGITS];
	char text[FDINFO_BYTES];
	size_t len;

	strcat(path, ptx_io_digits((uint64_t)fd, digits));
	len = ptx_io_read_text(path, text, sizeof(text));
	*holds = strstr(text, "FLOCK") != NULL;
	/* If the text may have been truncated, the line of the lock may be missing. */
	return *holds || (len > 0 && len < sizeof(text) - 1);
}

/*
 * Returns whether a process may be writing into the file. Such a process holds the lock. A lock
 * that the caller's description holds must neither be changed nor released. It shows that no other
 * description has the exclusive lock of a creator. If the function cannot find out whether the
 * description holds a lock, it does not touch the lock and returns true. If this call acquires the
 * lock, it releases the lock at once.
 */
static bool is_in_use(int fd)
{
	bool holds;

	if (!find_own_lock(fd, &holds))
		return true;
	if (holds)
		return false;
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
