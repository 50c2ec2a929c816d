/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * where.c - an expression of --where and an event to which it is applied: the text is the input.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "choose/where.h"
#include "fuzz/fuzz.h"

const struct fuzz_word fuzz_words[] = { { 0 } };

static struct posix_trace_schema_np schema;

static void ask(struct where *where)
{
	static const unsigned char payload[] = "\1\2\3\4\5\6\7\x80\x9\xa\xb\xctext\0\3\0\0\0abc";
	struct where_event event = {
		.name = "read", .name_len = 4, .pid = 12, .tid = -1, .time_ns = INT64_MIN,
		.address = UINT64_MAX, .data = payload, .data_len = sizeof(payload) - 1,
	};
	bool first;

	where_mark_names(where, &schema);
	first = where_holds(where, &event);
	event.schema = &schema;
	where_holds(where, &event);
	for (size_t len = 0; len < sizeof(payload); len++) {
		event.data_len = len;
		where_holds(where, &event);
	}
	event.flags = POSIX_TRACE_VALUES_SWAPPED_NP;
	where_holds(where, &event);
	event.schema = NULL;
	event.flags = 0;
	FUZZ_MUST(where_holds(where, &event) == first, "another answer to the same question");
	where_say_unknown(where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct where *where;

	FUZZ_MUST(text, "no memory");
	FUZZ_MUST(posix_trace_schema_parse_np("u32 a; s32 b{0=none,1=one}; f32 c; str d; bytes e; "
					      "u8[2] f",
					      &schema) == 0,
		  "no schema");
	memcpy(text, data, size);
	text[size] = '\0';
	where = where_parse("--where", text);
	if (where)
		ask(where);
	where_free(where);
	free(text);
	return 0;
}
