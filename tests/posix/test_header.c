/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HDR-07: every function exists with the standard's prototype, even if the program removes a macro
 * of the header with the same name.
 */
#include <trace.h>

#include "support/support.h"

/* The standard's 50 prototypes. This list is independent of the header. */
#define FUNCTIONS(F)                                                                              \
	F(int, posix_trace_attr_destroy, (trace_attr_t *))                                        \
	F(int, posix_trace_attr_init, (trace_attr_t *))                                           \
	F(int, posix_trace_attr_getclockres, (const trace_attr_t *, struct timespec *))           \
	F(int, posix_trace_attr_getcreatetime, (const trace_attr_t *, struct timespec *))         \
	F(int, posix_trace_attr_getgenversion, (const trace_attr_t *, char *))                    \
	F(int, posix_trace_attr_getname, (const trace_attr_t *, char *))                          \
	F(int, posix_trace_attr_setname, (trace_attr_t *, const char *))                          \
	F(int, posix_trace_attr_getinherited, (const trace_attr_t *restrict, int *restrict))      \
	F(int, posix_trace_attr_setinherited, (trace_attr_t *, int))                              \
	F(int, posix_trace_attr_getlogfullpolicy, (const trace_attr_t *restrict, int *restrict))  \
	F(int, posix_trace_attr_setlogfullpolicy, (trace_attr_t *, int))                          \
	F(int, posix_trace_attr_getstreamfullpolicy, (const trace_attr_t *restrict,               \
	  int *restrict))                                                                         \
	F(int, posix_trace_attr_setstreamfullpolicy, (trace_attr_t *, int))                       \
	F(int, posix_trace_attr_getlogsize, (const trace_attr_t *restrict, size_t *restrict))     \
	F(int, posix_trace_attr_setlogsize, (trace_attr_t *, size_t))                             \
	F(int, posix_trace_attr_getmaxdatasize, (const trace_attr_t *restrict,                    \
	  size_t *restrict))                                                                      \
	F(int, posix_trace_attr_setmaxdatasize, (trace_attr_t *, size_t))                         \
	F(int, posix_trace_attr_getstreamsize, (const trace_attr_t *restrict, size_t *restrict))  \
	F(int, posix_trace_attr_setstreamsize, (trace_attr_t *, size_t))                          \
	F(int, posix_trace_attr_getmaxsystemeventsize, (const trace_attr_t *restrict,             \
	  size_t *restrict))                                                                      \
	F(int, posix_trace_attr_getmaxusereventsize, (const trace_attr_t *restrict, size_t,       \
	  size_t *restrict))                                                                      \
	F(int, posix_trace_create, (pid_t, const trace_attr_t *restrict, trace_id_t *restrict))   \
	F(int, posix_trace_create_withlog, (pid_t, const trace_attr_t *restrict, int,             \
	  trace_id_t *restrict))                                                                  \
	F(int, posix_trace_flush, (trace_id_t))                                                   \
	F(int, posix_trace_shutdown, (trace_id_t))                                                \
	F(int, posix_trace_clear, (trace_id_t))                                                   \
	F(int, posix_trace_start, (trace_id_t))                                                   \
	F(int, posix_trace_stop, (trace_id_t))                                                    \
	F(int, posix_trace_get_attr, (trace_id_t, trace_attr_t *))                                \
	F(int, posix_trace_get_status, (trace_id_t, struct posix_trace_status_info *))            \
	F(int, posix_trace_get_filter, (trace_id_t, trace_event_set_t *))                         \
	F(int, posix_trace_set_filter, (trace_id_t, const trace_event_set_t *, int))              \
	F(void, posix_trace_event, (trace_event_id_t, const void *restrict, size_t))              \
	F(int, posix_trace_eventid_open, (const char *restrict, trace_event_id_t *restrict))      \
	F(int, posix_trace_trid_eventid_open, (trace_id_t, const char *restrict,                  \
	  trace_event_id_t *restrict))                                                            \
	F(int, posix_trace_eventid_equal, (trace_id_t, trace_event_id_t, trace_event_id_t))       \
	F(int, posix_trace_eventid_get_name, (trace_id_t, trace_event_id_t, char *))              \
	F(int, posix_trace_eventtypelist_getnext_id, (trace_id_t, trace_event_id_t *restrict,     \
	  int *restrict))                                                                         \
	F(int, posix_trace_eventtypelist_rewind, (trace_id_t))                                    \
	F(int, posix_trace_eventset_add, (trace_event_id_t, trace_event_set_t *))                 \
	F(int, posix_trace_eventset_del, (trace_event_id_t, trace_event_set_t *))                 \
	F(int, posix_trace_eventset_empty, (trace_event_set_t *))                                 \
	F(int, posix_trace_eventset_fill, (trace_event_set_t *, int))                             \
	F(int, posix_trace_eventset_ismember, (trace_event_id_t,                                  \
	  const trace_event_set_t *restrict, int *restrict))                                      \
	F(int, posix_trace_getnext_event, (trace_id_t,                                            \
	  struct posix_trace_event_info *restrict, void *restrict, size_t, size_t *restrict,      \
	  int *restrict))                                                                         \
	F(int, posix_trace_timedgetnext_event, (trace_id_t,                                       \
	  struct posix_trace_event_info *restrict, void *restrict, size_t, size_t *restrict,      \
	  int *restrict, const struct timespec *restrict))                                        \
	F(int, posix_trace_trygetnext_event, (trace_id_t,                                         \
	  struct posix_trace_event_info *restrict, void *restrict, size_t, size_t *restrict,      \
	  int *restrict))                                                                         \
	F(int, posix_trace_open, (int, trace_id_t *))                                             \
	F(int, posix_trace_rewind, (trace_id_t))                                                  \
	F(int, posix_trace_close, (trace_id_t))

#define MATCH(type, name, parameters)                                                             \
	{                                                                                         \
		type(*plain) parameters = name;                                                   \
		type(*in_parentheses) parameters = (name);                                        \
		type(*address) parameters = &name;                                                \
                                                                                                  \
		_Static_assert(_Generic(&name, type(*) parameters: 1, default: 0), #name);        \
		ck_assert(plain == in_parentheses && plain == address && plain != NULL);          \
		count++;                                                                          \
	}

/* HDR-07 */
START_TEST(every_function_has_an_address_and_the_exact_prototype)
{
	int count = 0;

	FUNCTIONS(MATCH)
	ck_assert_int_eq(count, 50);
}
END_TEST

#undef posix_trace_attr_destroy
#undef posix_trace_attr_init
#undef posix_trace_attr_getclockres
#undef posix_trace_attr_getcreatetime
#undef posix_trace_attr_getgenversion
#undef posix_trace_attr_getname
#undef posix_trace_attr_setname
#undef posix_trace_attr_getinherited
#undef posix_trace_attr_setinherited
#undef posix_trace_attr_getlogfullpolicy
#undef posix_trace_attr_setlogfullpolicy
#undef posix_trace_attr_getstreamfullpolicy
#undef posix_trace_attr_setstreamfullpolicy
#undef posix_trace_attr_getlogsize
#undef posix_trace_attr_setlogsize
#undef posix_trace_attr_getmaxdatasize
#undef posix_trace_attr_setmaxdatasize
#undef posix_trace_attr_getstreamsize
#undef posix_trace_attr_setstreamsize
#undef posix_trace_attr_getmaxsystemeventsize
#undef posix_trace_attr_getmaxusereventsize
#undef posix_trace_create
#undef posix_trace_create_withlog
#undef posix_trace_flush
#undef posix_trace_shutdown
#undef posix_trace_clear
#undef posix_trace_start
#undef posix_trace_stop
#undef posix_trace_get_attr
#undef posix_trace_get_status
#undef posix_trace_get_filter
#undef posix_trace_set_filter
#undef posix_trace_event
#undef posix_trace_eventid_open
#undef posix_trace_trid_eventid_open
#undef posix_trace_eventid_equal
#undef posix_trace_eventid_get_name
#undef posix_trace_eventtypelist_getnext_id
#undef posix_trace_eventtypelist_rewind
#undef posix_trace_eventset_add
#undef posix_trace_eventset_del
#undef posix_trace_eventset_empty
#undef posix_trace_eventset_fill
#undef posix_trace_eventset_ismember
#undef posix_trace_getnext_event
#undef posix_trace_timedgetnext_event
#undef posix_trace_trygetnext_event
#undef posix_trace_open
#undef posix_trace_rewind
#undef posix_trace_close

/* HDR-07 */
START_TEST(every_function_is_there_after_undef)
{
	int count = 0;

	FUNCTIONS(MATCH)
	ck_assert_int_eq(count, 50);
}
END_TEST

SUITE_MAIN("trace.h",
	   every_function_has_an_address_and_the_exact_prototype,
	   every_function_is_there_after_undef)
