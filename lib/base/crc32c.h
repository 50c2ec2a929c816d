/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/crc32c.h - CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and btrfs.
 *
 * Threads   all functions may run concurrently.
 * Signals   async-signal-safe.
 */
#ifndef PTX_BASE_CRC32C_H
#define PTX_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the checksum of the bytes that `crc` covers, followed by the `len` bytes at `bytes`. For
 * the first bytes, `crc` is 0. The function never fails; `bytes` may be NULL if `len` is 0.
 */
uint32_t ptx_crc32c(uint32_t crc, const void *bytes, size_t len);

/* Like ptx_crc32c(), but without special instructions. Only tests call it. */
uint32_t ptx_crc32c_portable(uint32_t crc, const void *bytes, size_t len);

#endif
