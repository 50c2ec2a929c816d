/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <trace_np.h>

#include "cursor/check.h"
#include "posix/call.h"

PTX_EXPORT int posix_trace_check_np(int file_desc,
				    void (*report)(void *arg,
						   const struct posix_trace_fault_np *fault),
				    void *arg, struct posix_trace_check_np *result)
{
	struct ptx_call call = ptx_call_begin();

	if (!result)
		return ptx_call_end(call, EINVAL);
	return ptx_call_end(call, ptx_check_log(file_desc, report, arg, result));
}
