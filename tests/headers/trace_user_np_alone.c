/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <trace_user_np.h> needs no other header; also as C++. */
#include <trace_user_np.h>

extern struct posix_trace_user_np *an_event;
extern enum posix_trace_item_np an_item;
