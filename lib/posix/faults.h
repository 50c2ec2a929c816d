/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/faults.h - reports faults of files to a program that may be compiled for a longer struct
 * posix_trace_fault_np.
 *
 * Owner     the caller of ptx_faults_begin(); one thread.
 */
#ifndef PTX_POSIX_FAULTS_H
#define PTX_POSIX_FAULTS_H

#include <stddef.h>

struct posix_trace_fault_np;

typedef void ptx_report(void *arg, const struct posix_trace_fault_np *fault);

struct ptx_faults {
	ptx_report *report; /* the program's function; may be NULL */
	void *arg;
	size_t size;        /* size of the program's fault structure, in bytes */
	/* memory for a fault of that size, if it is greater than this library's; else NULL */
	void *longer;
};

/* Prepares *faults. EINVAL: `size` is less than that of the first version. ENOMEM: no memory. */
int ptx_faults_begin(struct ptx_faults *faults, ptx_report *report, void *arg, size_t size);

/* Reports a fault to the program. This is itself a ptx_report; arg is a struct ptx_faults. */
void ptx_faults_report(void *arg, const struct posix_trace_fault_np *fault);

/* Frees the memory of ptx_faults_begin(). */
void ptx_faults_end(struct ptx_faults *faults);

#endif
