/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload/call.h - wrappers of one line, for functions that have the same shape.
 *
 * 	SHIM_TRACED(int, rename, FILE_RENAME, shim_no_number,
 * 		    (const char *path, const char *to), (path, to), result < 0,
 * 		    (AT_FDCWD, AT_FDCWD, 0), (), (SHIM_IN(path), SHIM_IN(to)))
 *
 * 	result type, function, event type, function to call if the C library lacks the function,
 * 	parameters, arguments, whether the call failed,
 * 	the 32-bit fields, the 64-bit fields, the strings
 *
 * The schema of the event type is "ns time; errno error;", then the 32-bit fields, the 64-bit
 * fields and the strings. The wrapper evaluates the expressions of fields before the call, with -1
 * as the result: the event has these values if the thread is cancelled in the call. The wrapper
 * evaluates them again after the call. The expressions must not dereference memory of the program,
 * except memory that a call which succeeded has written. A wrapper that records a part of another
 * argument copies this part before it uses SHIM_TRACE() (DESIGN).
 *
 * Threads   any; signals and errors: as in shim.h.
 */
#ifndef PTX_PRELOAD_CALL_H
#define PTX_PRELOAD_CALL_H

#include <string.h>

#include "preload/shim.h"
#include "preload/text.h"

/* The number of bytes of the time and the error, at the beginning of each event. */
#define SHIM_RECORD_HEAD 12

/*
 * An event's data: time and error, then the fields and strings without gaps. bytes_ is the size of
 * the fields and strings. A program may call a wrapper in a signal handler with a small stack.
 * Therefore the data has room for strings only if the call has strings.
 */
#define SHIM_RECORD(bytes_) \
	struct { \
		uint64_t time; \
		int32_t error; \
		unsigned char rest[bytes_]; \
	}

/* A string of a call. */
struct shim_string {
	const char *text;
	int64_t len; /* one of the values below, or the bytes of a result without a NUL */
};

/* No call returns these values: a readlink() that fails returns -1. */
#define SHIM_ARGUMENT INT64_MIN
#define SHIM_RESULT   (INT64_MIN + 1)
#define SHIM_UNREAD   (INT64_MIN + 2) /* an argument that the call may not have read */

/* A string that the program passes to the call. It is also recorded if the call fails. */
#define SHIM_IN(text_)          { (text_), SHIM_ARGUMENT }
/*
 * Like SHIM_IN(), for functions that can fail although record.error is 0, because they do not set
 * errno. read_ shows whether the call has read the string.
 */
#define SHIM_IN_IF(text_, read_) { (text_), (read_) ? SHIM_ARGUMENT : SHIM_UNREAD }
/*
 * A string that the call returns, with a NUL or with a length. It is recorded only if the call
 * succeeded.
 */
#define SHIM_OUT(text_)         { (text_), SHIM_RESULT }
#define SHIM_OUT_N(text_, len_) { (text_), (len_) }

/* Stores the fields of both sizes behind the error and sets the length of the event. */
shim_inline void shim_record_fields(struct shim_call *call, unsigned char *rest,
				    const int32_t *small, size_t small_bytes, const int64_t *large,
				    size_t large_bytes)
{
	if (small_bytes)
		memcpy(rest, small, small_bytes);
	if (large_bytes)
		memcpy(rest + small_bytes, large, large_bytes);
	call->len = SHIM_RECORD_HEAD + small_bytes + large_bytes;
}

/*
 * Appends the strings after the call. `error` is the error number of the call, or 0 if the call
 * succeeded. The record has SHIM_TEXT bytes for the strings.
 */
void shim_record_strings(struct shim_call *call, int error, const struct shim_string *string,
			 size_t strings);

/*
 * A wrapped function with its event type. A sanitizer in the program defines some of these
 * functions and passes each call on to the wrapper, including calls that libposixtrace makes.
 * start.c does not trace the types of such functions, because recording would call the wrapper
 * again. The struct has the name of the function and not its address. The dynamic linker would look
 * up an address at each start, but start.c and inject.c look up the names only if there is a
 * sanitizer, or if the shim was not preloaded.
 */
struct shim_wrapped {
	short type;
	char name[30];
};

/* All of these structs are in one section, as those of SHIM_NEXT() are. */
#define SHIM_WRAPPED(name_, type_) \
	static const struct shim_wrapped name_##_wrapped \
		__attribute__((section("shim_wrapped"), used, aligned(2))) = { (type_), #name_ }; \
	_Static_assert(sizeof(#name_) <= sizeof(name_##_wrapped.name), \
		       "the name has room for its NUL")

/* The linker defines the beginning and the end of the section. */
extern const struct shim_wrapped __start_shim_wrapped[] __attribute__((visibility("hidden")));
extern const struct shim_wrapped __stop_shim_wrapped[] __attribute__((visibility("hidden")));

#define SHIM_LIST(...) __VA_ARGS__

/*
 * The end of a wrapper whose call is traced: makes the call call_, records it, and returns its
 * result. error_ is the value of the field `error`: an error number, or 0. A wrapper with variable
 * arguments uses this macro after it has read them.
 */
#define SHIM_TRACE(result_type, type, call_, error_, small, large, strings) \
	result_type result = (result_type)-1; \
	/* \
	 * Only the sizes of these arrays are used, and nothing is evaluated. clang does not \
	 * accept these arrays inside the struct, so each has a typedef. \
	 */ \
	typedef __typeof__((int32_t[]){ SHIM_LIST small }) small_type_; \
	typedef __typeof__((int64_t[]){ SHIM_LIST large }) large_type_; \
	typedef __typeof__((struct shim_string[]){ SHIM_LIST strings }) strings_type_; \
	SHIM_RECORD(sizeof(small_type_) + sizeof(large_type_) + \
		    (sizeof(strings_type_) ? SHIM_TEXT : 0)) record; \
	SHIM_CALL(type, record); \
	record.error = ECANCELED; \
	{ \
		const int32_t small_[] = { SHIM_LIST small }; \
		const int64_t large_[] = { SHIM_LIST large }; \
		shim_record_fields(&call, record.rest, small_, sizeof small_, large_, \
				   sizeof large_); \
	} \
	result = (call_); \
	record.error = (error_); \
	const int32_t small_[] = { SHIM_LIST small }; \
	const int64_t large_[] = { SHIM_LIST large }; \
	const struct shim_string strings_[] = { SHIM_LIST strings }; \
	shim_record_fields(&call, record.rest, small_, sizeof small_, large_, sizeof large_); \
	if (sizeof strings_) \
		shim_record_strings(&call, record.error, strings_, \
				    sizeof strings_ / sizeof(struct shim_string)); \
	return result

#define SHIM_TRACED_AS(result_type, name, type, otherwise, params, args, error_, small, large, \
		       strings) \
	SHIM_NEXT(name, otherwise); \
	SHIM_WRAPPED(name, type); \
	SHIM_WRAPPER result_type name params \
	{ \
		if (!shim_on_alone(type)) \
			return next(name) args; \
		SHIM_TRACE(result_type, type, next(name) args, error_, small, large, strings); \
	}

#define SHIM_TRACED(result_type, name, type, otherwise, params, args, failed, small, large, \
		    strings) \
	SHIM_TRACED_AS(result_type, name, type, otherwise, params, args, (failed) ? errno : 0, \
		       small, large, strings)

/* A function that returns an error number and leaves errno, as posix_fallocate() does. */
#define SHIM_ERROR(name, type, params, args, small, large, strings) \
	SHIM_TRACED_AS(int, name, type, shim_no_error, params, args, result, small, large, strings)

/*
 * The usual case: a function that returns an int, and -1 after a failure. Other negative results
 * are no errors.
 */
#define SHIM_INT(name, type, params, args, small, large, strings) \
	SHIM_TRACED(int, name, type, shim_no_number, params, args, result == -1, small, large, \
		    strings)

/*
 * A function whose event is a struct with the function's name at its end, in the array `by`.
 * wanted_ is false for calls without an event. before_ runs before the call and may declare
 * variables. finish_ stores the results into `data` after the call. The event of a cancelled call
 * has the error ECANCELED and the name; its other fields are 0.
 */
#define SHIM_BY(result_type, name, type, otherwise, params, args, wanted_, struct_, before_, \
		finish_) \
	SHIM_NEXT(name, otherwise); \
	SHIM_WRAPPER result_type name params \
	{ \
		if (!(wanted_) || !shim_on_alone(type)) \
			return next(name) args; \
		struct struct_ data = { .error = ECANCELED, .by = #name }; \
		before_; \
		SHIM_CALL(type, data); \
		call.len = offsetof(struct struct_, by) + sizeof #name; \
		result_type result = next(name) args; \
		finish_; \
		return result; \
	}

#endif
