/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/own_filter.h - a program that runs with a seccomp filter from its start. Without an
 * argument it installs the filter and executes itself with an argument.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD(member, n) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member) + (n))

/* Returns 1 if the program has its filter, and 0 if the kernel refused the filter or execl(). */
static int is_filtered(int argc, char **argv, struct sock_filter *rules, unsigned short count)
{
	struct sock_fprog filter = { count, rules };

	return argc > 1 || (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
			    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) &&
			    !execl("/proc/self/exe", argv[0], "x", (char *)0));
}
