/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crash_exception.c - reads an exception as the C++ ABI for Itanium and libstdc++ arrange it. No
 * function of the program is called, so the text of what() is known only if it is in the object.
 *
 * The function that throws keeps the address of the exception in a register that called functions
 * preserve. A value is the exception only if the memory there has the mark of the C++ library, so
 * the choice of the register by the compiler does not matter.
 *
 * All addresses are those of a program that may have overwritten its memory. Each read is checked,
 * and each loop has a limit.
 */
#include "live/crash_exception.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/memory.h"
#include "symbols/demangle.h"

#define MARK           UINT64_C(0x474e5543432b2b00) /* "GNUCC++\0" */
#define MARK_DEPENDENT UINT64_C(0x474e5543432b2b01) /* made by std::rethrow_exception() */

/*
 * Offsets on processors with 64 bits. The common header of all languages is directly before the
 * object. The fields of C++ are before this header.
 */
#define HEADER_BYTES  32 /* from the common header to the object */
#define TYPE_OFFSET   80 /* from the type, or from the primary object, to the common header */
#define COUNT_OFFSET  96 /* from the counter of references to the common header */
#define HANDLERS_OFFSET 40 /* from the number of handlers to the common header */

#define SCAN_MOST  65536 /* bytes of the stack that are searched */
#define BASES_MOST 8   /* the most bases of a class that are looked at */
#define DEPTH_MOST 16  /* the most classes from a class to its base */
#define TEXT_MOST  400 /* the longest text that is read */

/* The process whose memory is read. */
struct subject {
	const struct unwind *unwind;
	int memory;
};

static bool read_word(const struct subject *subject, uint64_t address, uint64_t *word)
{
	return memory_read(subject->memory, address, word, sizeof(*word));
}

/* Returns the address of the common header to which a saved value leads; 0: none. */
static uint64_t find_header(const struct subject *subject, uint64_t value)
{
	const uint64_t headers[] = { value, value + COUNT_OFFSET, value - HEADER_BYTES };

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		uint64_t mark;

		if (read_word(subject, headers[i], &mark) &&
		    (mark == MARK || mark == MARK_DEPENDENT))
			return headers[i];
	}
	return 0;
}

/*
 * Searches the frames of the functions that the thrower called. These functions have saved the
 * thrower's registers. The frames also have old values, and memory of an exception that was deleted
 * may still have its mark. So an exception counts only if it has a handler; std::terminate() is
 * such a handler.
 */
static uint64_t scan_stack(const struct subject *subject, uint64_t sp, uint64_t end)
{
	static uint64_t words[SCAN_MOST / sizeof(uint64_t)];
	size_t bytes = end > sp ? end - sp : 0;

	sp &= ~UINT64_C(7);
	if (bytes > SCAN_MOST)
		bytes = SCAN_MOST;
	if (!memory_read(subject->memory, sp, words, bytes))
		return 0;
	for (size_t i = 0; i < bytes / sizeof(*words); i++) {
		const uint64_t header = words[i] % 16 || !words[i] ? 0 :
					find_header(subject, words[i]);
		int32_t handlers;

		if (header && memory_read(subject->memory, header - HANDLERS_OFFSET, &handlers,
					  sizeof(handlers)) && handlers)
			return header;
	}
	return 0;
}

/* Stores the name of a type as the compiler mangles it. Returns false if there is none. */
static bool read_type(const struct subject *subject, uint64_t type, char *name, size_t size)
{
	uint64_t address;

	*name = '\0';
	if (read_word(subject, type + 8, &address))
		memory_string(subject->memory, address, name, size);
	/* The star marks names that are compared by their address. */
	if (*name == '*')
		memmove(name, name + 1, strlen(name));
	return *name != '\0';
}

/* Writes the name of a type as in the source. */
static void plain_type(const char *name, char *text, size_t size)
{
	char mangled[TEXT_MOST + 8], *plain;
	const char *start;

	if (!strncmp(name, "NSt7__cxx1112basic_stringIc", 27)) {
		snprintf(text, size, "std::string");
		return;
	}
	snprintf(mangled, sizeof(mangled), "_ZTI%s", name);
	plain = demangle(mangled);
	start = plain ? strstr(plain, "typeinfo for ") : NULL;
	snprintf(text, size, "%s", start ? start + strlen("typeinfo for ") : name);
	free(plain);
}

/* Returns whether a type_info is an object of a class, by the symbol of its virtual table. */
static bool is_kind(const struct subject *subject, uint64_t type, const char *kind)
{
	struct unwind_step step = { .address = 0 };
	struct crash_frame frame;

	if (!read_word(subject, type, &step.address))
		return false;
	step.pc = step.address;
	unwind_name(subject->unwind, &step, &frame);
	return strstr(frame.function, kind) != NULL;
}

/*
 * Finds the part of an object that has the text of what(): its base std::logic_error or
 * std::runtime_error. Both have a pointer to the text behind the pointer to their virtual table.
 * Returns the address of the part; 0: none.
 */
static uint64_t find_text(const struct subject *subject, uint64_t type, uint64_t object,
			  unsigned depth)
{
	char name[TEXT_MOST];
	uint64_t base, flags;
	uint32_t count;

	if (depth == DEPTH_MOST || !read_type(subject, type, name, sizeof(name)))
		return 0;
	if (!strcmp(name, "St11logic_error") || !strcmp(name, "St13runtime_error"))
		return object;
	if (is_kind(subject, type, "__si_class_type_info"))
		return read_word(subject, type + 16, &base) ?
			       find_text(subject, base, object, depth + 1) : 0;
	if (!is_kind(subject, type, "__vmi_class_type_info") ||
	    !memory_read(subject->memory, type + 20, &count, sizeof(count)))
		return 0;
	for (uint32_t i = 0; i < count && i < BASES_MOST; i++) {
		uint64_t found;

		/* Bit 0 of the flags marks a virtual base, whose place is in the virtual table. */
		if (!read_word(subject, type + 24 + 16 * i, &base) ||
		    !read_word(subject, type + 32 + 16 * i, &flags) || flags & 1)
			continue;
		/*
		 * The depth grows faster here, because each class may have several bases: the
		 * search ends after a bounded number of classes.
		 */
		found = find_text(subject, base,
				  object + (uint64_t)((int64_t)flags >> 8), depth + 4);
		if (found)
			return found;
	}
	return 0;
}

/* Stores the value of an exception that is no object of a class. Returns whether it is known. */
static bool read_value(const struct subject *subject, const char *type, uint64_t object,
		       char *text, size_t size)
{
	uint64_t word = 0;
	int32_t number;

	if (!strcmp(type, "i") || !strcmp(type, "j")) {
		if (!memory_read(subject->memory, object, &number, sizeof(number)))
			return false;
		snprintf(text, size, *type == 'i' ? "%d" : "%u", number);
		return true;
	}
	if (!read_word(subject, object, &word))
		return false;
	if (!strcmp(type, "l") || !strcmp(type, "x")) {
		snprintf(text, size, "%lld", (long long)word);
	} else if (!strcmp(type, "m") || !strcmp(type, "y")) {
		snprintf(text, size, "%llu", (unsigned long long)word);
	} else if (!strcmp(type, "PKc") || !strcmp(type, "Pc") ||
		   !strncmp(type, "NSt7__cxx1112basic_stringIc", 27)) {
		memory_string(subject->memory, word, text, size);
		return *text != '\0';
	} else {
		return false;
	}
	return true;
}

bool crash_exception_read(const struct unwind *unwind, const struct crash_stack *stack, int memory,
			  uint64_t sp, char *text, size_t size)
{
	const struct subject subject = { unwind, memory };
	char name[TEXT_MOST], plain[TEXT_MOST], value[TEXT_MOST] = "";
	uint64_t header = 0, mark, object, type, part, address;

	for (unsigned i = 0; i < stack->thrown && !header; i++)
		header = find_header(&subject, stack->saved[i]);
	if (!header)
		header = scan_stack(&subject, sp, stack->thrower_sp);
	if (!header || !read_word(&subject, header, &mark))
		return false;
	object = header + HEADER_BYTES;
	if (mark == MARK_DEPENDENT) {
		if (!read_word(&subject, header - TYPE_OFFSET, &object))
			return false;
		header = object - HEADER_BYTES;
	}
	if (!read_word(&subject, header - TYPE_OFFSET, &type) ||
	    !read_type(&subject, type, name, sizeof(name)))
		return false;
	plain_type(name, plain, sizeof(plain));
	part = find_text(&subject, type, object, 0);
	if (part && read_word(&subject, part + 8, &address))
		memory_string(memory, address, value, sizeof(value));
	else if (!part)
		read_value(&subject, name, object, value, sizeof(value));
	snprintf(text, size, "%s%s%s", plain, *value ? ": " : "", value);
	return true;
}
