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

#include "observe/core.h"
#include "posix/call.h"
#include "posix/faults.h"
#include "posix/source.h"

/* Reports a fault of the image to the caller, if it wants faults. */
static void report_fault(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
			 const char *reason)
{
	/* bytes 0: the extent of the fault is unknown. */
	struct posix_trace_fault_np fault = { .offset = offset, .bytes = bytes, .reason = reason };

	ptx_faults_report(image->fault_arg, &fault);
}

/*
 * Returns whether a process may be writing into the file: it holds the lock. A lock that this
 * call acquires belongs to this open file description only, so it is released again.
 */
static bool is_in_use(int fd)
{
	/* EWOULDBLOCK: another description has the exclusive lock of a creator. */
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

/* Examines all arenas of a core dump. One that is damaged does not hide the others. */
static int look_at_core(const struct ptx_core *core, struct ptx_faults *faults,
			const struct ptx_visitor *visitor)
{
	struct ptx_image image = { .fault = report_fault, .fault_arg = faults };
	int err = 0;

	/* Without an arena the user needs to know what to do: set bit 1 of coredump_filter. */
	if (ptx_core_arenas(core) == 0)
		ptx_image_fault(&image, 0, 0,
				"this core dump has no arena: the process had none, or shared "
				"memory was not dumped (bit 1 of coredump_filter, core(5)), or the "
				"file is cut");
	/* ENOMEM ends the search; other errors concern one arena. */
	for (unsigned i = 0; i < ptx_core_arenas(core) && err != ENOMEM; i++) {
		ptx_image_of_core(&image, core, i);
		image.fault = report_fault;
		image.fault_arg = faults;
		err = ptx_posix_look_at_image(&image, visitor);
		/* The user gets a reason for each arena that could not be read. */
		if (err == EINVAL)
			ptx_image_fault(&image, 0, 0,
					"an arena of this core dump is cut, or of another version");
	}
	return err == ENOMEM ? ENOMEM : 0;
}

/*
 * Examines a file of either kind. EINVAL: it is neither. A file that is not ELF (ENOEXEC) can be
 * a backing file only.
 */
static int look_at_file(int fd, const struct ptx_visitor *visitor, struct ptx_faults *faults)
{
	struct ptx_core *core;
	struct ptx_image image;
	struct stat st;
	int err;

	/* EBADF: not an open descriptor. */
	if (fstat(fd, &st) != 0)
		return errno;
	/* The image reads by pread(), so that the position of the descriptor does not matter. */
	ptx_image_of_file(&image, fd);
	image.fault = report_fault;
	/* Faults are reported while the image is read. */
	image.fault_arg = faults;
	/* Pipes cannot be read at offsets. */
	if (!S_ISREG(st.st_mode)) {
		err = EINVAL;
	} else if ((err = ptx_core_open(fd, &core)) == ENOEXEC) {
		/* A live file changes while it is read: the image is then read more than once. */
		image.is_live = is_in_use(fd);
		err = ptx_posix_look_at_image(&image, visitor);
	} else if (err == 0) {
		err = look_at_core(core, faults, visitor);
		ptx_core_close(core);
		/* Its faults have been reported. */
		return err;
	} else if (err == EINVAL) {
		ptx_image_fault(&image, 0, 0,
				"this core dump is damaged, or of another kind of machine");
		return err;
	}
	/* The fault has no offset: the whole file is meant. */
	if (err == EINVAL)
		ptx_image_fault(&image, 0, 0,
				"this is no backing file of a stream, or one of another version");
	return err;
}

/*
 * The descriptor stays open; its position is not used. report may be NULL. The sizes are those of
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
