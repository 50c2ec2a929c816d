/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_point_np.h - trace points in one line, trace points beyond posix_trace_event(), and
 * functions for programs that restrict their system calls. Included by <trace_np.h>.
 *
 *	POSIX_TRACE_EVENT_NP(net.accept, (s32, fd, sock), (str, peer, name), (level, 4));
 *	POSIX_TRACE_SCOPE_NP(request, (u64, id, id));
 *	POSIX_TRACE_LOG_NP("%d requests in %.1f ms", count, ms);
 *
 * A program may define macros before the first include of this header or of <trace_np.h>:
 *
 *	POSIX_TRACE_WEAK_NP  The program is linked without the library, and also runs where the
 *	                     library is not installed. The first line that runs searches for a
 *	                     library that was preloaded or linked. If there is no library, no line
 *	                     records events.
 *	POSIX_TRACE_SDT_NP   Each line is also a USDT probe of the provider posixtrace, on x86-64
 *	                     and arm64. Each pass through a line evaluates its values.
 *
 * Threads  everything may be used from any thread at the same time.
 * Signals  everything is async-signal-safe unless its comment says otherwise.
 * errno    does not change. No function is a cancellation point.
 *
 * Manual pages: trace_np(3), trace_point_np(3).
 */
#ifndef _TRACE_POINT_NP_H
#define _TRACE_POINT_NP_H

#if defined __cplusplus && defined __GNUC__
#pragma GCC system_header
#endif

#include <stdint.h>
#include "trace.h"
#include "trace_words_np.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Points to the number of streams that are attached to this process or to a process from which it
 * inherits streams. The pointer never changes. A program reads the byte without a lock.
 */
extern const volatile unsigned char *const posix_trace_active_np;

/*
 * Does the same as posix_trace_event(), for code that runs very often and is seldom traced. While
 * no stream is attached, the macro costs a load and a branch, and does not evaluate the arguments.
 */
#define posix_trace_point_np(event_id, data, len) \
	((void)(*posix_trace_active_np ? (posix_trace_event((event_id), (data), (len)), 0) : 0))

/*
 * Points to an array with a byte for each event type. 1: the stream filters the type out. 2: the
 * stream skips the type (posix_trace_set_skipped_np()). 0: neither, or not known. The bytes
 * describe a single stream, so they are valid only while *posix_trace_active_np is 1. The pointer
 * never changes.
 */
extern const volatile unsigned char *const posix_trace_silent_np;

/* Counts an event as skipped in each stream that would record the event or that skips its type. */
void posix_trace_skip_np(trace_event_id_t event_id);

/*
 * Returns whether a stream may record an event of this type now. A wrapper calls the function
 * before it prepares the data of an event. If the result is 0, the wrapper must not record the
 * event: if the type is skipped, the function has already counted the event. Call the function
 * exactly once for each event. event_id must be an event type from posix_trace_eventid_open().
 */
static __inline int posix_trace_is_wanted_np(trace_event_id_t event_id)
{
	unsigned char streams = *posix_trace_active_np;
	unsigned char silent = posix_trace_silent_np[event_id];

	if (streams != 1 || !silent)
		return streams != 0;
	if (silent == 2)
		posix_trace_skip_np(event_id);
	return 0;
}

/*
 * Does the same as posix_trace_event() on behalf of other code, for wrappers and interpreters.
 *
 * event_id  the event type
 * data      the event's data, `len` bytes; may be null if `len` is 0
 * address   the event's posix_prog_address: the place in the program that the event is about
 */
void posix_trace_event_at_np(trace_event_id_t event_id, const void *data, size_t len,
			     const void *address);

/*
 * Events with a duration, for wrappers and tracers. Call posix_trace_stamp_np() when the work
 * begins, and posix_trace_event_since_np() when it ends. The duration ends at the time of the
 * event. In unusual cases, such as the first event of a thread, it ends some microseconds before
 * that time.
 *
 * A stamp is a number of ticks of the clock that stamps events. It is valid only in the process
 * that called posix_trace_stamp_np(), and in the children of this process. The first call after a
 * stream was attached takes 0.2 ms. A stamp is 0 before a stream is attached to the process, and in
 * a thread that must not read the clock (POSIX_TRACE_CONFINE_THREAD_NP). The duration of an event
 * with the stamp 0 is 0.
 *
 * event_id, address  as for posix_trace_event_at_np()
 * begin              the stamp of the beginning. If the stamp is later than now, the duration is 0.
 * data, len          the event's data behind the duration. The duration itself is a u64 with
 *                    nanoseconds, for a field of type ns. The function omits bytes of `data`
 *                    beyond POSIX_TRACE_FIELDS_BYTES_NP - 8.
 */
uint64_t posix_trace_stamp_np(void);
void posix_trace_event_since_np(trace_event_id_t event_id, uint64_t begin, const void *data,
				size_t len, const void *address);

/*
 * Prepares a process or a thread for a limit on its system calls (seccomp, prctl(PR_SET_TSC)), or
 * for a task that shares the memory of the thread.
 *
 * PROCESS  The library immediately acquires everything that it may need later. After that, events
 *          make no system call in this process and in the children that it forks. The library
 *          counts an event that would need a system call as lost.
 * ALL      For a limit that applies to all threads. As PROCESS, and the library ends its own
 *          threads. When the process ends, the guardians complete the logs of its streams.
 * THREAD   The calling thread records no more events and reads no clock for them. The library
 *          counts these events as lost, cause POSIX_TRACE_LOST_NO_SLOT_NP.
 * NOT      Ends the effect of THREAD: the calling thread records events again.
 * SHARED   The caller is about to call clone(2) with CLONE_VM, and with neither CLONE_VFORK nor
 *          CLONE_SETTLS. The new task and the calling thread will use the same thread-local memory.
 *          Only the calling thread records further events. To distinguish the two, the library
 *          makes a system call at each of their events. It counts the events of the other task as
 *          lost, cause POSIX_TRACE_LOST_NO_SLOT_NP. With PROCESS or ALL, it counts the events of
 *          both tasks as lost. The effect does not end, but children of fork() do not have it.
 * VFORK    As PROCESS, for a child of vfork(), whose limit does not apply to its parent. The effect
 *          is on the calling thread only, whose memory the child uses.
 * VFORK_END  Ends the effect of VFORK. The parent calls it when vfork() has returned there.
 * ALONE    For a call that the kernel refuses in a process with several threads. The library ends
 *          its own threads.
 * ALONE_END  Starts these threads again, if the kernel permits it.
 *
 * Returns 0, or EINVAL if `what` has another value. THREAD, NOT and VFORK_END are
 * async-signal-safe, the others are not.
 */
#define POSIX_TRACE_CONFINE_NOT_NP       0
#define POSIX_TRACE_CONFINE_PROCESS_NP   1
#define POSIX_TRACE_CONFINE_THREAD_NP    2
#define POSIX_TRACE_CONFINE_ALL_NP       3
#define POSIX_TRACE_CONFINE_SHARED_NP    4
#define POSIX_TRACE_CONFINE_VFORK_NP     5
#define POSIX_TRACE_CONFINE_VFORK_END_NP 6
#define POSIX_TRACE_CONFINE_ALONE_NP     7
#define POSIX_TRACE_CONFINE_ALONE_END_NP 8

int posix_trace_confine_np(int what);

/*
 * Returns a non-zero value while *posix_trace_active_np is not 0, for languages that cannot read
 * this variable.
 */
int posix_trace_is_active_np(void);

/* The static data of a trace point in one line. Only the macros and the library use the members. */
struct posix_trace_site_np {
	const char *name;          /* of the event type or the span; for a log line: the file */
	const char *schema;        /* for a log line: the format */
	unsigned size;             /* of this structure */
	unsigned short kind;       /* POSIX_TRACE_SITE_*_NP */
	unsigned short level;      /* of a log line; 0: no level */
	unsigned line;             /* of a log line: its number in the file */
	trace_event_id_t event_id; /* 0: not registered */
	trace_event_id_t end_id;   /* of a scope: the type of its end */
	unsigned char arguments;   /* of a log line: the number of its arguments */
	unsigned char argument[POSIX_TRACE_FIELDS_MAX_NP]; /* the types of these arguments */
};

#define POSIX_TRACE_SITE_EVENT_NP 0
#define POSIX_TRACE_SITE_SCOPE_NP 1
#define POSIX_TRACE_SITE_LOG_NP   2

/*
 * Registers the event type of a line with its schema and returns its identifier. The macros call
 * the function once for each line. If the name already has another schema, the type gets the name
 * NAME.2, NAME.3 and so on up to NAME.9. Returns POSIX_TRACE_UNNAMED_USEREVENT if the process has
 * no more names. Async-signal-safe unless a stream of the process has a backing file.
 */
trace_event_id_t posix_trace_site_open_np(struct posix_trace_site_np *site);

/*
 * Records the event of a log line: the arguments, not the text. The macros call this function while
 * the process is traced. `format` is the format in the site. The function copies strings, and
 * shortens them to the room that is left in 1024 bytes. It is not async-signal-safe in the first
 * use of a line.
 */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void posix_trace_log_np(struct posix_trace_site_np *site, const char *format, ...);

#ifdef __cplusplus
}
#endif

#if defined __GNUC__ && \
	(defined __cplusplus ? __cplusplus >= 201103L : __STDC_VERSION__ >= 201112L)

/*
 * Traces one event: EVENT(NAME, WORD...), at most 32 words. A statement. NAME is not quoted; it may
 * have dots. A word is one of:
 *
 *	(TYPE, FIELD, VALUE)            a TYPE of constant size in <trace_schema_np.h> except ptr32,
 *	                                or the TYPE str
 *	(TYPE, FIELD, VALUE, "0=no,1=yes")  an integer with names of values
 *	(TYPE, FIELD, VALUE, "|1=a,2=b")    an integer with names of bits
 *	(bytes, FIELD, POINTER, LENGTH)
 *	(array, TYPE, N, FIELD, POINTER)  TYPE[N] in the schema; N is a decimal number
 *	(level, N)                      N is a digit: 1 critical, 2 error, 3 warning,
 *	                                4 information, 5 verbose
 *	(begin, SPAN), (end, SPAN)      the event begins or ends a span
 *	(key, FIELD...)                 earlier fields of the line, which pair begins with ends
 *	(counter, FIELD...)             earlier fields with values over time; at most 4
 *
 * The compiler rejects a value of another kind than its field. If it prints several errors for a
 * line, one of the first ones says which word is wrong. A value may have a side effect: the
 * line evaluates each value once, or not at all while the process is not traced. A value with a
 * comma outside parentheses needs parentheses.
 */
#define POSIX_TRACE_EVENT_NP(...) \
	do \
		POSIX_TRACE_LINE_(, POSIX_TRACE_FIRST_(__VA_ARGS__, ), no_quotes_##__VA_ARGS__, ) \
	while (0)

/*
 * Traces the rest of the block as a span: SCOPE(NAME, WORD...), a declaration. The words are those
 * of EVENT, except begin, end and key. The event NAME.begin has the fields and is recorded at this
 * line. The event NAME.end is recorded when the program leaves the block in any way.
 */
#define POSIX_TRACE_SCOPE_NP(...) \
	POSIX_TRACE_SCOPE_(, POSIX_TRACE_FIRST_(__VA_ARGS__, ), no_quotes_##__VA_ARGS__, )

/*
 * Traces a message: LOG(FORMAT, VALUE...), a statement, with a format of printf() that is a string
 * literal. The compiler checks the values against the format. The event has the values; readers
 * make the text. The event's type is named log.FILE:LINE. LOG_LEVEL(N, FORMAT, VALUE...) also gives
 * the event's type the level N, 1 to 5.
 */
#define POSIX_TRACE_LOG_NP(...)              POSIX_TRACE_LOG_(0, __VA_ARGS__)
#define POSIX_TRACE_LOG_LEVEL_NP(level, ...) POSIX_TRACE_LOG_(level, __VA_ARGS__)

#ifdef POSIX_TRACE_WEAK_NP
#include "trace_weak_np.h"
#else
#define POSIX_TRACE_CALL_(function) (function)
#define POSIX_TRACE_IS_ON_()        (*posix_trace_active_np)
#endif

#ifdef POSIX_TRACE_SDT_NP
#include "trace_sdt_np.h"
#else
#define POSIX_TRACE_SDT_(...)
#define POSIX_TRACE_EARLY_(declare)
#define POSIX_TRACE_LATE_(declare) declare
#endif

/*
 * The variable of a line. C++ merges the variables of a line in an inline function or a template.
 * If the variable were visible outside of its shared object, g++ would make it unique in the
 * process, and dlclose() would not unload the object.
 */
#ifdef __cplusplus
struct __attribute__((visibility("hidden"))) _posix_trace_own_site_np {
#else
struct _posix_trace_own_site_np {
#endif
	struct posix_trace_site_np site;
};

/* The lists of words keep the empty argument `e`: see <trace_words_np.h>. */
#define POSIX_TRACE_LINE_(e, probe, name, ...) \
	POSIX_TRACE_LINE2_(e, probe, name, POSIX_TRACE_EACH_OF_(__VA_ARGS__), e##__VA_ARGS__)
#define POSIX_TRACE_LINE2_(e, probe, name, EACH, ...) \
	POSIX_TRACE_BLOCK_(EACH(e, POSIX_TRACE_parentheses_around_each_word_, e##__VA_ARGS__), \
			   #name, "" EACH(e, POSIX_TRACE_SCHEMA_, e##__VA_ARGS__), \
			   POSIX_TRACE_SITE_EVENT_NP, \
			   EACH(e, POSIX_TRACE_DECLARE_, e##__VA_ARGS__), \
			   0ul EACH(e, POSIX_TRACE_BYTES_, e##__VA_ARGS__), \
			   EACH(e, POSIX_TRACE_PUT_, e##__VA_ARGS__), , \
			   probe EACH(e, POSIX_TRACE_PROBE_, e##__VA_ARGS__))

/* The variable has a number of its own, because a macro may declare two scopes in one line. */
#define POSIX_TRACE_SCOPE_(e, probe, name, ...) \
	POSIX_TRACE_SCOPE2_(e, probe, name, POSIX_TRACE_EACH_OF_(__VA_ARGS__), e##__VA_ARGS__)
#define POSIX_TRACE_SCOPE2_(e, probe, name, EACH, ...) \
	POSIX_TRACE_NO_JUMP_(POSIX_TRACE_CAT_(posix_trace_no_jump_into_the_scope_, __COUNTER__)) \
	POSIX_TRACE_SCOPE_TYPE_() POSIX_TRACE_CAT_(posix_trace_scope_, __COUNTER__) \
		POSIX_TRACE_SCOPE_CLEANUP_() = { __extension__({ \
			struct posix_trace_site_np *posix_trace_open_ = NULL; \
			POSIX_TRACE_BLOCK_(EACH(e, POSIX_TRACE_parentheses_around_each_word_, \
						e##__VA_ARGS__), \
					   #name, "" EACH(e, POSIX_TRACE_SCHEMA_, e##__VA_ARGS__), \
					   POSIX_TRACE_SITE_SCOPE_NP, \
					   EACH(e, POSIX_TRACE_DECLARE_, e##__VA_ARGS__), \
					   0ul EACH(e, POSIX_TRACE_BYTES_, e##__VA_ARGS__), \
					   EACH(e, POSIX_TRACE_PUT_, e##__VA_ARGS__), \
					   posix_trace_open_ = &posix_trace_own_.site;, \
					   probe EACH(e, POSIX_TRACE_PROBE_, e##__VA_ARGS__)) \
			posix_trace_open_; \
		}) }

/*
 * The argument "name" begins with no_quotes_, which is not a part of the event's name. The compiler
 * prints this prefix if the program quotes the name, because a prefix of a string is an error. The
 * argument "bytes" is the number of bytes that the fields need: see POSIX_TRACE_VARIES_().
 */
#define POSIX_TRACE_PREFIX_() (sizeof("no_quotes_") - 1)
#define POSIX_TRACE_BLOCK_(check, name, schema, kind, declare, bytes, put, then, ...) \
	{ \
		check \
		static struct _posix_trace_own_site_np posix_trace_own_ = { { \
			&(name)[POSIX_TRACE_PREFIX_()], schema, \
			(unsigned)sizeof(struct posix_trace_site_np), kind, 0, 0, 0, 0, 0, { 0 } \
		} }; \
		POSIX_TRACE_ASSERT_(sizeof(name) - 1 > POSIX_TRACE_PREFIX_(), \
				    "an event has a name"); \
		POSIX_TRACE_ASSERT_(sizeof(name) - 1 - POSIX_TRACE_PREFIX_() <= \
					    TRACE_EVENT_NAME_MAX, \
				    "the name of an event has at most 63 bytes"); \
		POSIX_TRACE_ASSERT_(sizeof(schema) - 1 <= POSIX_TRACE_SCHEMA_MAX_NP, \
				    "the fields of an event have too long names"); \
		POSIX_TRACE_ASSERT_(POSIX_TRACE_WORDS_(bytes, POSIX_TRACE_LEVELS_()) <= 1, \
				    "an event has two levels"); \
		POSIX_TRACE_ASSERT_(POSIX_TRACE_WORDS_(bytes, POSIX_TRACE_SPANS_()) <= 1, \
				    "an event begins or ends two spans"); \
		POSIX_TRACE_ASSERT_(POSIX_TRACE_WORDS_(bytes, POSIX_TRACE_KEYED_()) <= \
					    POSIX_TRACE_WORDS_(bytes, POSIX_TRACE_SPANS_()), \
				    "an event has two keys, or a key but no begin or end"); \
		POSIX_TRACE_ASSERT_(kind != POSIX_TRACE_SITE_SCOPE_NP || \
					    !POSIX_TRACE_WORDS_(bytes, POSIX_TRACE_SPANS_()), \
				    "a scope has no begin, end or key"); \
		POSIX_TRACE_EARLY_(declare) \
		POSIX_TRACE_SDT_(__VA_ARGS__) \
		if (__builtin_expect(POSIX_TRACE_IS_ON_(), 0)) { \
			POSIX_TRACE_LATE_(declare) \
			unsigned char posix_trace_data_[POSIX_TRACE_SIZE_(bytes) + 1]; \
			unsigned char *posix_trace_to_ = posix_trace_data_; \
			size_t posix_trace_room_ = \
				POSIX_TRACE_SIZE_(bytes) - POSIX_TRACE_LEAST_(bytes); \
			(void)posix_trace_room_; \
			*posix_trace_to_ = 0; \
			put \
			POSIX_TRACE_RECORD_(POSIX_TRACE_ID_(&posix_trace_own_.site, event_id), \
					    posix_trace_data_, \
					    (size_t)(posix_trace_to_ - posix_trace_data_)) \
			then \
		} \
	}

/*
 * The number of bytes of a payload: the sum of its fields, or FIELDS_BYTES if the size of a field
 * varies.
 */
#define POSIX_TRACE_LEAST_(bytes) ((size_t)((bytes) & (POSIX_TRACE_VARIES_() - 1)))
#define POSIX_TRACE_SIZE_(bytes) \
	((bytes) % POSIX_TRACE_LEVELS_() < POSIX_TRACE_VARIES_() || \
	 POSIX_TRACE_LEAST_(bytes) > POSIX_TRACE_FIELDS_BYTES_NP ? \
		 POSIX_TRACE_LEAST_(bytes) : (size_t)POSIX_TRACE_FIELDS_BYTES_NP)

/*
 * If several threads find the event_id 0 at the same time, all of them register the type and get
 * the same number.
 */
#define POSIX_TRACE_ID_(site, member) \
	(__builtin_expect(!__atomic_load_n(&(site)->event_id, __ATOMIC_ACQUIRE), 0) ? \
		 (void)POSIX_TRACE_CALL_(posix_trace_site_open_np)(site) : (void)0, \
	 __atomic_load_n(&(site)->member, __ATOMIC_RELAXED))

/*
 * The macro posix_trace_event() is not used here, because it is not standard C. The empty statement
 * keeps the call from becoming a jump, so that the event's address is in this line.
 */
#define POSIX_TRACE_RECORD_(id, data, len) \
	POSIX_TRACE_CALL_(posix_trace_event)((id), (data), (len)); \
	__asm__ __volatile__("");

#define POSIX_TRACE_LOG_(level, ...) \
	do { \
		POSIX_TRACE_ASSERT_(__builtin_constant_p(POSIX_TRACE_FIRST_(__VA_ARGS__, )), \
				    "the format of a message is a string literal"); \
		static struct _posix_trace_own_site_np posix_trace_own_ = { { \
			__FILE__, "" POSIX_TRACE_FIRST_(__VA_ARGS__, ), \
			(unsigned)sizeof(struct posix_trace_site_np), POSIX_TRACE_SITE_LOG_NP, \
			level, __LINE__, 0, 0, 0, { 0 } \
		} }; \
		POSIX_TRACE_ASSERT_((level) >= 0 && (level) <= 5, "a level is 1 to 5"); \
		if (__builtin_expect(POSIX_TRACE_IS_ON_(), 0)) { \
			POSIX_TRACE_CALL_(posix_trace_log_np) \
				(&posix_trace_own_.site, __VA_ARGS__); \
			__asm__ __volatile__(""); \
		} \
	} while (0)

/*
 * Ends a scope. *site is null if the begin of the scope was not recorded. The function is always
 * inline, so that the address of the event is in the function of the program.
 */
static __inline __attribute__((always_inline, unused)) void
_posix_trace_scope_end_np(struct posix_trace_site_np *const *site)
{
	if (*site) {
		POSIX_TRACE_RECORD_(__atomic_load_n(&(*site)->end_id, __ATOMIC_RELAXED), NULL, 0)
	}
}

#ifdef __cplusplus
extern "C++" {
struct _posix_trace_scope_np {
	struct posix_trace_site_np *const site;
	__attribute__((always_inline)) ~_posix_trace_scope_np()
	{
		_posix_trace_scope_end_np(&site);
	}
};
}
#define POSIX_TRACE_SCOPE_TYPE_()    struct _posix_trace_scope_np
#define POSIX_TRACE_SCOPE_CLEANUP_() __attribute__((unused))
#else
#define POSIX_TRACE_SCOPE_TYPE_()    struct posix_trace_site_np *const
#define POSIX_TRACE_SCOPE_CLEANUP_() \
	__attribute__((cleanup(_posix_trace_scope_end_np), unused))
/*
 * A goto or a case behind the declaration of a scope leaves the variable without a value, and the
 * end of the block then uses this value as a pointer. C++ and clang reject such a jump. gcc does
 * so if the declaration also has a type of variable size. This type needs no code.
 */
#ifndef __clang__
#define POSIX_TRACE_NO_JUMP_(name) \
	_Pragma("GCC diagnostic push") \
	_Pragma("GCC diagnostic ignored \"-Wvla\"") \
	__attribute__((unused)) typedef char name[(int){ 1 }]; \
	_Pragma("GCC diagnostic pop")
#endif
#endif
#ifndef POSIX_TRACE_NO_JUMP_
#define POSIX_TRACE_NO_JUMP_(name)
#endif

/*
 * Defined if this compiler and standard support trace points in one line. A program that is also
 * compiled with an older standard tests this macro: the names above may be macros there, too, but
 * their use is an error.
 */
#define POSIX_TRACE_LINES_NP 1

#elif defined __GNUC__ && \
	(defined __cplusplus || (defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L))

/*
 * With an older standard, the compiler prints the reason once for each trace point, instead of
 * errors about unknown words.
 */
#define POSIX_TRACE_OLD_STANDARD_() \
	_Pragma("GCC error \"this needs -std=c11 or -std=c++11 (test POSIX_TRACE_LINES_NP)\"") \
	((void)0)
#define POSIX_TRACE_EVENT_NP(...)            POSIX_TRACE_OLD_STANDARD_()
#define POSIX_TRACE_SCOPE_NP(...)            POSIX_TRACE_OLD_STANDARD_()
#define POSIX_TRACE_LOG_NP(...)              POSIX_TRACE_OLD_STANDARD_()
#define POSIX_TRACE_LOG_LEVEL_NP(level, ...) POSIX_TRACE_OLD_STANDARD_()

#endif

#endif
