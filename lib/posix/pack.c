/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/pack.c - posix_trace_fields_pack_np(): makes a payload from arguments.
 *
 * The function touches nothing but the payload and the arguments. So posix_trace_fields_np(), which
 * calls it, is async-signal-safe. The arguments come from the program. Their types are checked, but
 * their pointers are trusted.
 */
#include <stdbool.h>
#include <string.h>

#include "base/export.h"
#include "posix/first.h"
#include "record/schema.h"

/*
 * Returns whether the size of an argument does not depend on its data. An unknown type counts as
 * fixed, with 0 bytes.
 */
static bool is_fixed(const struct posix_trace_arg_np *arg)
{
	/* Text and bytes with a room have a constant size. */
	return arg->room || (arg->type != POSIX_TRACE_TYPE_STR_NP &&
			     arg->type != POSIX_TRACE_TYPE_BYTES_NP);
}

/*
 * Returns the least number of bytes that an argument needs: one for the NUL of a text, four for the
 * count of bytes, or the whole size if that is constant.
 */
static size_t least_bytes(const struct posix_trace_arg_np *arg)
{
	const struct ptx_schema_type *type = ptx_schema_type((enum posix_trace_type_np)arg->type);

	/* Text or bytes of constant size need all of it. */
	if (arg->room)
		return arg->room;
	if (arg->type == POSIX_TRACE_TYPE_STR_NP)
		return 1;
	return type ? type->size : 0;
}

/* Writes a number in the byte order of this machine, which the schema assumes. */
static void put_number(unsigned char *to, const struct posix_trace_arg_np *arg, size_t size)
{
	/* The conversions keep the lower bytes, as assignments to shorter types do in C. */
	const uint16_t u16 = (uint16_t)arg->u64;
	const uint32_t u32 = (uint32_t)arg->u64;
	const float f32 = (float)arg->f64;

	if (arg->type == POSIX_TRACE_TYPE_F32_NP)
		memcpy(to, &f32, sizeof(f32));
	else if (arg->type == POSIX_TRACE_TYPE_F64_NP)
		memcpy(to, &arg->f64, sizeof(arg->f64));
	else if (size == 1)
		*to = (unsigned char)arg->u64;
	else if (size == 2)
		memcpy(to, &u16, sizeof(u16));
	else if (size == 4)
		memcpy(to, &u32, sizeof(u32));
	else
		memcpy(to, &arg->u64, sizeof(arg->u64));
}

/* Writes text or bytes of constant size; the rest is 0. A null pointer is like an empty text. */
static void put_fixed(unsigned char *to, const struct posix_trace_arg_np *arg, size_t size)
{
	/* Text ends at its NUL, bytes have the whole size. */
	const size_t used = !arg->data ? 0 : arg->type == POSIX_TRACE_TYPE_STR_NP ?
						    strnlen(arg->data, size) : size;

	if (used)
		memcpy(to, arg->data, used);
	memset(to + used, 0, size - used);
}

/*
 * Writes text or bytes of variable size. The function may use `more` bytes beyond the least number.
 * Returns how many of these bytes it has used.
 */
static size_t put_varying(unsigned char *to, const struct posix_trace_arg_np *arg, size_t more)
{
	const bool is_text = arg->type == POSIX_TRACE_TYPE_STR_NP;
	/*
	 * strnlen() looks at `more` bytes at most: the text may be longer than the room, or lack
	 * its NUL.
	 */
	size_t len = !arg->data ? 0 : is_text ? strnlen(arg->data, more) : arg->len;
	uint32_t count;

	/* Bytes that do not fit into the room are omitted. */
	if (len > more)
		len = more;
	/* bytes have their count before them, text has a NUL behind it. */
	count = (uint32_t)len;
	if (!is_text) {
		memcpy(to, &count, sizeof(count));
		to += sizeof(count);
	}
	if (len)
		memcpy(to, arg->data, len);
	if (is_text)
		to[len] = '\0';
	return len;
}

/*
 * Returns an argument of a program that was compiled for a shorter or a longer struct. A longer
 * struct is used as it is, because its additional members are not needed here.
 */
static const struct posix_trace_arg_np *load_arg(struct posix_trace_arg_np *known,
						 const struct posix_trace_arg_np *first, size_t i,
						 size_t stride)
{
	const void *arg = (const char *)first + i * stride;

	if (ptx_likely(stride >= sizeof(*known)))
		return arg;
	ptx_sized_load(known, sizeof(*known), arg, stride);
	return known;
}

/*
 * Returns the length of the payload, which is at most `room`. If an argument does not fit even with
 * its least bytes, it and all arguments behind it are omitted. The others share the rest of the
 * room in their order. The result is 0 if `arg_size` is less than the size of the first version.
 */
PTX_EXPORT size_t posix_trace_fields_pack_sized_np(void *payload, size_t room,
						   const struct posix_trace_arg_np *first,
						   size_t args, size_t arg_size)
{
	struct posix_trace_arg_np known;
	unsigned char *to = payload;
	size_t needed = 0, fit = 0, size;

	if (arg_size < PTX_FIRST_ARG)
		return 0;
	/*
	 * First pass: how many arguments fit with their least bytes, so that a long text does not
	 * displace the arguments behind it.
	 */
	while (fit < args) {
		size = least_bytes(load_arg(&known, first, fit, arg_size));
		if (size > room - needed)
			break;
		needed += size;
		fit++;
	}
	/* The rest of the room is for the text and bytes of variable size, in their order. */
	room -= needed;
	for (size_t i = 0; i < fit; i++) {
		const struct posix_trace_arg_np *arg = load_arg(&known, first, i, arg_size);

		size = least_bytes(arg);
		if (arg->room) {
			put_fixed(to, arg, size);
		} else if (is_fixed(arg)) {
			/* An unknown type has no bytes. */
			if (size)
				put_number(to, arg, size);
		} else {
			size_t more = put_varying(to, arg, room);

			room -= more;
			size += more;
		}
		to += size;
	}
	return (size_t)(to - (unsigned char *)payload);
}
