/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/check.c - posix_trace_check_np(): examines a log without opening it as a stream.
 *
 * The functions of faults.h are here, too. They report faults to a program, which may have been
 * compiled for another version of the library.
 */
#include <stdlib.h>

#include <trace_np.h>

#include "cursor/check.h"
#include "posix/call.h"
#include "posix/faults.h"
#include "posix/first.h"

/*
 * Prepares to report faults to a program. Memory is allocated only for a program of a later
 * version, whose faults are longer.
 */
int ptx_faults_begin(struct ptx_faults *faults, ptx_report *report, void *arg, size_t size)
{
	if (size < PTX_FIRST_FAULT)
		return EINVAL;
	/* Members that are not set here become 0, so `longer` is NULL. */
	*faults = (struct ptx_faults){ .report = report, .arg = arg, .size = size };
	if (report && size > sizeof(struct posix_trace_fault_np))
		faults->longer = malloc(size);
	return report && size > sizeof(struct posix_trace_fault_np) && !faults->longer ? ENOMEM : 0;
}

/* The members that this version does not have are 0 in the program's fault. */
void ptx_faults_report(void *arg, const struct posix_trace_fault_np *fault)
{
	const struct ptx_faults *faults = arg;

	if (!faults->report)
		return;
	if (faults->longer)
		ptx_sized_store(faults->longer, faults->size, fault, sizeof(*fault));
	faults->report(faults->arg, faults->longer ? faults->longer : fault);
}

/*
 * The caller reports nothing after this. The faults that the program's function received are not
 * valid any more.
 */
void ptx_faults_end(struct ptx_faults *faults)
{
	free(faults->longer);
}

/*
 * Reports each fault in the order of the file and stores the result. The descriptor stays open
 * and its position unchanged. The log may be hostile. Errors are ENOMEM and errors of reading.
 */
static int check_file(int file_desc, ptx_report *report, void *arg, size_t fault_size,
		      struct posix_trace_check_np *result, size_t result_size)
{
	struct posix_trace_check_np known;
	struct ptx_faults faults;
	int err;

	/*
	 * The program's result must have at least the members of the first version. A null
	 * pointer is an error (GEN-05).
	 */
	if (!result || result_size < PTX_FIRST_CHECK)
		return EINVAL;
	err = ptx_faults_begin(&faults, report, arg, fault_size);
	if (err)
		return err;
	err = ptx_check_log(file_desc, ptx_faults_report, &faults, &known);
	ptx_faults_end(&faults);
	/* *result is stored only on success (GEN-09). */
	if (!err)
		ptx_sized_store(result, result_size, &known, sizeof(known));
	return err;
}

PTX_EXPORT const char *posix_trace_open_fault_np(int file_desc)
{
	struct ptx_call call = ptx_call_begin();
	const char *why = ptx_check_open_fault(file_desc);

	ptx_call_end(call, 0);
	return why;
}

/*
 * `report` may be NULL: then only the result is stored. `report` is called without a lock of the
 * library.
 */
PTX_EXPORT int posix_trace_check_sized_np(int file_desc, ptx_report *report, void *arg,
					  size_t fault_size, struct posix_trace_check_np *result,
					  size_t result_size)
{
	struct ptx_call call = ptx_call_begin();

	return ptx_call_end(call, check_file(file_desc, report, arg, fault_size, result,
					     result_size));
}
