/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/look_file.c - the streams in a file that outlived its process.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <trace_np.h>

#include "observe/core.h"
#include "posix/call.h"
#include "posix/faults.h"
#include "posix/source.h"

static void hear(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
		 const char *reason)
{
	struct posix_trace_fault_np fault = { .offset = offset, .bytes = bytes, .reason = reason };

	ptx_faults_report(image->fault_arg, &fault);
}

/*
 * Who has it locked may be writing into it. A lock of this call's own is of this description only.
 */
static bool is_in_use(int fd)
{
	if (flock(fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(fd, LOCK_UN);
	return false;
}

static int look_at_core(const struct ptx_core *core, struct ptx_faults *faults,
			const struct ptx_visitor *visitor)
{
	struct ptx_image image = { .fault = hear, .fault_arg = faults };
	int err = 0;

	if (ptx_core_arenas(core) == 0)
		ptx_image_fault(&image, 0, 0,
				"this core dump has no arena: the process had none, or shared "
				"memory was not dumped (bit 1 of coredump_filter, core(5)), or the "
				"file is cut");
	for (unsigned i = 0; i < ptx_core_arenas(core) && err != ENOMEM; i++) {
		ptx_image_of_core(&image, core, i);
		image.fault = hear;
		image.fault_arg = faults;
		err = ptx_posix_look_at_image(&image, visitor);
		if (err == EINVAL)
			ptx_image_fault(&image, 0, 0,
					"an arena of this core dump is cut, or of another version");
	}
	return err == ENOMEM ? ENOMEM : 0;
}

static int look_at_file(int fd, const struct ptx_visitor *visitor, struct ptx_faults *faults)
{
	struct ptx_core *core;
	struct ptx_image image;
	struct stat st;
	int err;

	if (fstat(fd, &st) != 0)
		return errno;
	ptx_image_of_file(&image, fd);
	image.fault = hear;
	image.fault_arg = faults;
	if (!S_ISREG(st.st_mode)) {
		err = EINVAL;
	} else if ((err = ptx_core_open(fd, &core)) == ENOEXEC) {
		image.is_live = is_in_use(fd);
		err = ptx_posix_look_at_image(&image, visitor);
	} else if (err == 0) {
		err = look_at_core(core, faults, visitor);
		ptx_core_close(core);
		return err;
	} else if (err == EINVAL) {
		ptx_image_fault(&image, 0, 0,
				"this core dump is damaged, or of another kind of machine");
		return err;
	}
	if (err == EINVAL)
		ptx_image_fault(&image, 0, 0,
				"this is no backing file of a stream, or one of another version");
	return err;
}

PTX_EXPORT int posix_trace_look_file_sized_np(
	int file_desc, void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
	ptx_report *report, void *arg, size_t stream_size, size_t fault_size)
{
	struct ptx_call call = ptx_call_begin();
	struct ptx_visitor visitor;
	struct ptx_faults faults;
	int err = ptx_visitor_begin(&visitor, visit, arg, stream_size);

	if (err)
		return ptx_call_end(call, err);
	err = ptx_faults_begin(&faults, report, arg, fault_size);
	if (!err) {
		err = look_at_file(file_desc, &visitor, &faults);
		ptx_faults_end(&faults);
	}
	ptx_visitor_end(&visitor);
	return ptx_call_end(call, err);
}
