/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/call.c - the strings of wrappers of one line.
 *
 * A call that returned without an error has read its strings. A call that failed may not have read
 * them: rename("", to) fails before the kernel reads the second path. After an error, therefore,
 * this file checks memory before it reads a string, as text.c does.
 */
#include "preload/call.h"

/*
 * Copies a result that has `len` bytes and no NUL. If the result is too long, the function omits
 * its end. A negative length means that the call has failed.
 */
static size_t put_bytes(char *to, size_t bytes, const char *text, int64_t len)
{
	size_t used = len < 0 ? 0 : (size_t)len;

	if (bytes == 0)
		return 0;
	/* One byte is for the NUL, which the schema's type str needs before a further string. */
	if (used >= bytes)
		used = bytes - 1;
	memcpy(to, text, used);
	to[used] = '\0';
	return used + 1;
}

/*
 * Each string has an equal part of the room that is left, so that a long string leaves room for the
 * others. If a string is short, the strings behind it can use the rest of its part.
 */
void shim_record_strings(struct shim_call *call, int error, const struct shim_string *string,
			 size_t strings)
{
	char *to = (char *)call->data + call->len;
	size_t room = SHIM_TEXT;

	for (size_t i = 0; i < strings; i++) {
		const size_t part = room / (strings - i);
		size_t used;

		/* After an error the call may have read only the first of several strings. */
		if (string[i].len == SHIM_UNREAD || (string[i].len == SHIM_ARGUMENT &&
						     error && strings > 1))
			used = shim_text_unsure(to, part, string[i].text);
		else if (string[i].len == SHIM_ARGUMENT)
			used = shim_text_after(to, part, string[i].text, error);
		else if (error || !string[i].text)
			used = shim_text(to, part, NULL);
		else if (string[i].len == SHIM_RESULT)
			used = shim_text(to, part, string[i].text);
		else
			used = put_bytes(to, part, string[i].text, string[i].len);
		to += used;
		room -= used;
		call->len += used;
	}
}
