/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload/gone.h - a page that the C library's functions of gone.c unmap before they return. */
#ifndef PRELOAD_GONE_H
#define PRELOAD_GONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GONE_PAGE 4096

/* The structs of liburing, as far as the shim reads them. */
struct gone_queue {
	unsigned *head, *tail, *mask, *entries, *flags, *dropped;
};

struct gone_answer {
	uint64_t user_data;
	int32_t result;
	uint32_t flags;
};

struct io_uring {
	struct {
		struct gone_queue kernel;
		unsigned *array;
		unsigned char (*requests)[64];
		unsigned head, tail;
		size_t ring_size;
		void *ring;
		unsigned mask, entries, pad[2];
	} submissions;
	struct {
		struct gone_queue kernel;
		struct gone_answer *answers;
		size_t ring_size;
		void *ring;
		unsigned mask, entries, pad[2];
	} completions;
	unsigned flags;
	int fd;
};

/* The descriptor of a ring whose page gets other content instead of being unmapped. */
#define GONE_REUSED 98

int io_uring_submit(struct io_uring *ring);
void io_uring_queue_exit(struct io_uring *ring);

/* The next call of a function of gone.c unmaps the page. */
void gone_arm(void *page);

/* Returns whether the page that was armed last is unmapped. */
bool gone_is_unmapped(void);

#endif
