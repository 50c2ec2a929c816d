/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/net_option.c - family net: options of sockets.
 *
 * A value of 1, 2, 4 or 8 bytes is recorded as a number. Values of other sizes, such as most
 * structs, are not recorded.
 */
#include <string.h>
#include <sys/socket.h>

#include "preload/call.h"
#include "preload/text.h"

/* The fields of net.setsockopt and net.getsockopt. */
struct option_data {
	uint64_t time;
	int32_t fd, error;
	int32_t level;
	uint32_t bytes;  /* the size that the program passed, or that the kernel has stored */
	uint64_t option; /* the level and the number of the option, joined by option_of() */
	int64_t value;   /* 0 for values of other sizes than 1, 2, 4 or 8 bytes */
};

/*
 * Joins a level and a number into one value, because a number has another meaning at each level. A
 * schema can give names to the values of one field, but not to pairs of values of two fields.
 */
static uint64_t option_of(int level, int option)
{
	return (uint64_t)(uint32_t)level << 32 | (uint32_t)option;
}

/*
 * Returns the value of an option, or 0 if the value has another size than 1, 2, 4 or 8 bytes. If
 * the kernel has not written the value, the function checks first whether the value is readable,
 * and returns 0 if it is not.
 */
static int64_t number_at(const void *value, socklen_t bytes, bool is_written)
{
	/* The value may be at any address; memcpy() needs no alignment. */
	int8_t byte;
	int16_t half;
	int32_t word;
	int64_t number;

	if (!value || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) ||
	    (!is_written && !shim_can_read(value, bytes)))
		return 0;
	switch (bytes) {
	case 1:
		memcpy(&byte, value, sizeof byte);
		return byte;
	case 2:
		memcpy(&half, value, sizeof half);
		return half;
	case 4:
		memcpy(&word, value, sizeof word);
		return word;
	}
	memcpy(&number, value, sizeof number);
	return number;
}

SHIM_NEXT(setsockopt, shim_no_number);
SHIM_WRAPPED(setsockopt, NET_SETSOCKOPT);

/* setsockopt(2). The value is read before the call, like every argument (DESIGN). */
SHIM_WRAPPER int setsockopt(int fd, int level, int option, const void *value, socklen_t bytes)
{
	struct option_data data = {
		.fd = fd, .error = ECANCELED, .level = level, .bytes = bytes,
		.option = option_of(level, option)
	};
	int result;

	if (!shim_on_alone(NET_SETSOCKOPT))
		return next(setsockopt)(fd, level, option, value, bytes);
	data.value = number_at(value, bytes, false);
	SHIM_CALL(NET_SETSOCKOPT, data);
	result = next(setsockopt)(fd, level, option, value, bytes);
	data.error = result ? errno : 0;
	return result;
}

SHIM_NEXT(getsockopt, shim_no_number);
SHIM_WRAPPED(getsockopt, NET_GETSOCKOPT);

/*
 * getsockopt(2). The kernel stores the size of the value, which may be less than the size of the
 * memory.
 */
SHIM_WRAPPER int getsockopt(int fd, int level, int option, void *__restrict value,
			    socklen_t *__restrict bytes)
{
	struct option_data data = {
		.fd = fd, .error = ECANCELED, .level = level, .option = option_of(level, option)
	};
	int result;

	if (!shim_on_alone(NET_GETSOCKOPT))
		return next(getsockopt)(fd, level, option, value, bytes);
	SHIM_CALL(NET_GETSOCKOPT, data);
	result = next(getsockopt)(fd, level, option, value, bytes);
	data.error = result ? errno : 0;
	/*
	 * After an error the size may be unreadable, and the kernel has stored neither the size nor
	 * the value.
	 */
	if (!result) {
		data.bytes = *bytes;
		data.value = number_at(value, *bytes, true);
	}
	return result;
}
