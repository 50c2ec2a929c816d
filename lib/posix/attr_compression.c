/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * posix/attr_compression.c - posix_trace_attr_setlogcompression_np(): whether a log is compressed.
 */
#include <errno.h>

#include <trace_np.h>

#include "base/export.h"
#include "base/zstd.h"
#include "posix/attr.h"

_Static_assert(POSIX_TRACE_COMPRESSION_MIN_NP == PTX_ATTR_COMPRESSION_MIN &&
		       POSIX_TRACE_COMPRESSION_MAX_NP == PTX_ATTR_COMPRESSION_MAX,
	       "the engine has the public range");

/*
 * libzstd is loaded here, and not at the creation of the log: if libzstd is missing, this function
 * returns an error, and the caller can create the log without compression.
 */
PTX_EXPORT int posix_trace_attr_setlogcompression_np(trace_attr_t *object, int level)
{
	struct ptx_attr *attr = ptx_posix_attr(object);

	if (!attr || !ptx_attr_is_level(level))
		return EINVAL;
	if (level && !ptx_zstd_load())
		return ENOTSUP;
	attr->log_compression = level;
	return 0;
}

PTX_EXPORT int posix_trace_attr_getlogcompression_np(const trace_attr_t *object, int *level)
{
	const struct ptx_attr *attr = ptx_posix_attr_const(object);

	if (!attr || !level)
		return EINVAL;
	*level = attr->log_compression;
	return 0;
}
