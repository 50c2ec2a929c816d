/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <trace.h>

#include "support/support.h"

/* HDR-06 */
START_TEST(the_header_alone_declares_the_opaque_types)
{
	ck_assert_uint_gt(sizeof(trace_attr_t), 0);
}
END_TEST

SUITE_MAIN("posix_trace_attr_init", the_header_alone_declares_the_opaque_types)
