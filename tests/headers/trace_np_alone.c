/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* <trace_np.h> needs no other header; also as C++. */
#include <trace_np.h>

extern struct posix_trace_ledger_np *a_ledger;
extern struct posix_trace_event_np *an_event;
