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
#include "posix/source.h"

struct hearer {
	void (*report)(void *arg, const struct posix_trace_fault_np *fault);
	void *arg;
};

static void hear(const struct ptx_image *image, uint64_t offset, uint64_t bytes,
		 const char *reason)
{
	const struct hearer *hearer = image->fault_arg;
	struct posix_trace_fault_np fault = { .offset = offset, .bytes = bytes, .reason = reason };

	if (hearer->report)
		hearer->report(hearer->arg, &fault);
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

static int look_at_core(const struct ptx_core *core, struct hearer *hearer,
			void (*visit)(void *arg, const struct posix_trace_stream_np *stream))
{
	struct ptx_image image = { .fault = hear, .fault_arg = hearer };
	int err = 0;

	if (ptx_core_arenas(core) == 0)
		ptx_image_fault(&image, 0, 0,
				"this core dump has no arena: the process had none, or shared "
				"memory was not dumped (bit 1 of coredump_filter, core(5)), or the "
				"file is cut");
	for (unsigned i = 0; i < ptx_core_arenas(core) && err != ENOMEM; i++) {
		ptx_image_of_core(&image, core, i);
		image.fault = hear;
		image.fault_arg = hearer;
		err = ptx_posix_look_at_image(&image, visit, hearer->arg);
		if (err == EINVAL)
			ptx_image_fault(&image, 0, 0,
					"an arena of this core dump is cut, or of another version");
	}
	return err == ENOMEM ? ENOMEM : 0;
}

static int look_at_file(int fd,
			void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
			void (*report)(void *arg, const struct posix_trace_fault_np *fault),
			void *arg)
{
	struct hearer hearer = { report, arg };
	struct ptx_core *core;
	struct ptx_image image;
	struct stat st;
	int err;

	if (!visit)
		return EINVAL;
	if (fstat(fd, &st) != 0)
		return errno;
	ptx_image_of_file(&image, fd);
	image.fault = hear;
	image.fault_arg = &hearer;
	if (!S_ISREG(st.st_mode)) {
		err = EINVAL;
	} else if ((err = ptx_core_open(fd, &core)) == ENOEXEC) {
		image.is_live = is_in_use(fd);
		err = ptx_posix_look_at_image(&image, visit, arg);
	} else if (err == 0) {
		err = look_at_core(core, &hearer, visit);
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

PTX_EXPORT int posix_trace_look_file_np(
	int file_desc, void (*visit)(void *arg, const struct posix_trace_stream_np *stream),
	void (*report)(void *arg, const struct posix_trace_fault_np *fault), void *arg)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, look_at_file(file_desc, visit, report, arg));
}
