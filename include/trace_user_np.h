/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_user_np.h - records events of typed items, such as the user events of RKH, a framework for
 * state machines. Included by <trace_np.h>.
 *
 *	TRACE_USER_BEGIN_NP(id);
 *	TRACE_U32_NP(0, bytes);
 *	TRACE_STR_NP(path);
 *	TRACE_USER_END_NP();
 *
 * records one event. The data of this event is the items. An item is a byte and the value,
 * little-endian. The low four bits of the byte are the type; the high four bits are the width of
 * the value in a listing (0 to 14). The macros build the items on the stack and record them with
 * one trace point, so the event is complete or absent. While the process is not traced, the macros
 * do not evaluate their arguments. If an item does not fit in POSIX_TRACE_USER_BYTES_NP, or in the
 * stream's maximum data size, the library omits this item and all items after it, and marks the
 * event as truncated. `posixtrace convert --to rkh` sends the items of event types with names
 * rkh.USR.NAME as they are.
 *
 * Threads  only one thread uses a given struct posix_trace_user_np.
 * Signals  everything is async-signal-safe.
 * errno    does not change.
 *
 * Manual page: posix_trace_user_event_np(3).
 */
#ifndef _TRACE_USER_NP_H
#define _TRACE_USER_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POSIX_TRACE_USER_BYTES_NP 1024

enum posix_trace_item_np {
	POSIX_TRACE_ITEM_I8_NP,
	POSIX_TRACE_ITEM_U8_NP,
	POSIX_TRACE_ITEM_I16_NP,
	POSIX_TRACE_ITEM_U16_NP,
	POSIX_TRACE_ITEM_I32_NP,
	POSIX_TRACE_ITEM_U32_NP,
	POSIX_TRACE_ITEM_X32_NP,
	POSIX_TRACE_ITEM_STR_NP,
	POSIX_TRACE_ITEM_MEM_NP,
	POSIX_TRACE_ITEM_OBJ_NP,
	POSIX_TRACE_ITEM_FUN_NP,
	POSIX_TRACE_ITEM_SIG_NP,
	POSIX_TRACE_ITEM_I64_NP,
	POSIX_TRACE_ITEM_U64_NP,
	POSIX_TRACE_ITEM_F32_NP,
	POSIX_TRACE_ITEM_F64_NP
};

/* An event that is being built. Only the macros and functions below use its members. */
struct posix_trace_user_np {
	size_t used;
	int full;               /* not 0: an item had no room */
	unsigned size;          /* of the array `bytes` */
	unsigned char bytes[POSIX_TRACE_USER_BYTES_NP];
};

/*
 * Begins an event without items, for languages that cannot use TRACE_USER_BEGIN_NP(). `size` is the
 * size of *user in bytes. The array `bytes` of the caller's *user may be longer than in the struct
 * above.
 */
void posix_trace_user_begin_np(struct posix_trace_user_np *user, size_t size);

/*
 * The first function appends an integer, the second a floating-point number (F32 or F64). If a type
 * does not suit the function, the function adds no item. `width` is the width of the value in a
 * listing, in characters, 0 to 14; a greater width counts as 14.
 */
void posix_trace_user_number_np(struct posix_trace_user_np *user, enum posix_trace_item_np type,
				unsigned width, uint64_t value);
void posix_trace_user_real_np(struct posix_trace_user_np *user, enum posix_trace_item_np type,
			      unsigned width, double value);
/* Appends a string with its NUL. A null pointer is an empty string. */
void posix_trace_user_str_np(struct posix_trace_user_np *user, const char *string);
/* Appends `len` bytes of memory, but at most the first 255. */
void posix_trace_user_mem_np(struct posix_trace_user_np *user, const void *memory, size_t len);

/* Records the items as one event while the process is traced. */
void posix_trace_user_event_np(const struct posix_trace_user_np *user, trace_event_id_t event_id);

#define TRACE_USER_BEGIN_NP(event_id) \
	do { \
		if (*posix_trace_active_np) { \
			struct posix_trace_user_np posix_trace_user_; \
			const trace_event_id_t posix_trace_user_id_ = (event_id); \
			posix_trace_user_.used = 0; \
			posix_trace_user_.full = 0; \
			posix_trace_user_.size = POSIX_TRACE_USER_BYTES_NP

#define TRACE_USER_END_NP() \
			posix_trace_user_event_np(&posix_trace_user_, posix_trace_user_id_); \
		} \
	} while (0)

#define POSIX_TRACE_USER_NUMBER_NP_(type, w, v) \
	posix_trace_user_number_np(&posix_trace_user_, POSIX_TRACE_ITEM_##type##_NP, \
				   (unsigned)(w), (uint64_t)(v))
#define POSIX_TRACE_USER_REAL_NP_(type, w, v) \
	posix_trace_user_real_np(&posix_trace_user_, POSIX_TRACE_ITEM_##type##_NP, (unsigned)(w), \
				 (double)(v))

#define TRACE_I8_NP(w, v)  POSIX_TRACE_USER_NUMBER_NP_(I8, w, v)
#define TRACE_U8_NP(w, v)  POSIX_TRACE_USER_NUMBER_NP_(U8, w, v)
#define TRACE_I16_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(I16, w, v)
#define TRACE_U16_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(U16, w, v)
#define TRACE_I32_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(I32, w, v)
#define TRACE_U32_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(U32, w, v)
#define TRACE_X32_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(X32, w, v)
#define TRACE_I64_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(I64, w, v)
#define TRACE_U64_NP(w, v) POSIX_TRACE_USER_NUMBER_NP_(U64, w, v)
#define TRACE_F32_NP(w, v) POSIX_TRACE_USER_REAL_NP_(F32, w, v)
#define TRACE_F64_NP(w, v) POSIX_TRACE_USER_REAL_NP_(F64, w, v)
#define TRACE_STR_NP(s)    posix_trace_user_str_np(&posix_trace_user_, (s))
#define TRACE_MEM_NP(p, n) posix_trace_user_mem_np(&posix_trace_user_, (p), (size_t)(n))
/*
 * An item for a pointer to an object or to a function has the low 32 bits of the pointer. An item
 * for a signal of RKH has the low 8 bits of the signal's number.
 */
#define TRACE_OBJ_NP(p)    POSIX_TRACE_USER_NUMBER_NP_(OBJ, 0, (uintptr_t)(p))
#define TRACE_FUN_NP(p)    POSIX_TRACE_USER_NUMBER_NP_(FUN, 0, (uintptr_t)(p))
#define TRACE_SIG_NP(v)    POSIX_TRACE_USER_NUMBER_NP_(SIG, 0, v)

#ifdef __cplusplus
}
#endif

#endif
