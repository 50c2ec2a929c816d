/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/crc32c.c - CRC-32C by the fastest means that this processor has.
 *
 * The crc32 instruction takes 3 cycles but one can start in each: three lanes at once.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/crc32c.h"

typedef uint32_t crc_fn(uint32_t crc, const unsigned char *p, size_t len);

#define POLYNOMIAL 0x82f63b78u /* bit-reversed */

static uint32_t table[8][256];
static _Atomic(int) table_ready;

/* Threads that arrive together write the same values: no harm, and no lock for a handler. */
static void make_table(void)
{
	for (uint32_t n = 0; n < 256; n++) {
		uint32_t crc = n;

		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
		__atomic_store_n(&table[0][n], crc, __ATOMIC_RELAXED);
	}
	for (uint32_t n = 0; n < 256; n++) {
		uint32_t crc = __atomic_load_n(&table[0][n], __ATOMIC_RELAXED);

		for (int k = 1; k < 8; k++) {
			uint32_t low = __atomic_load_n(&table[0][crc & 255], __ATOMIC_RELAXED);

			crc = low ^ crc >> 8;
			__atomic_store_n(&table[k][n], crc, __ATOMIC_RELAXED);
		}
	}
	atomic_store_explicit(&table_ready, 1, memory_order_release); /* table before the flag */
}

static uint32_t by_table(uint32_t crc, const unsigned char *p, size_t len)
{
	if (!atomic_load_explicit(&table_ready, memory_order_acquire)) /* pairs with make_table */
		make_table();
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		word ^= crc;
		crc = table[7][word & 255] ^ table[6][word >> 8 & 255] ^
		      table[5][word >> 16 & 255] ^ table[4][word >> 24 & 255] ^
		      table[3][word >> 32 & 255] ^ table[2][word >> 40 & 255] ^
		      table[1][word >> 48 & 255] ^ table[0][word >> 56];
	}
#endif
	for (; len; len--)
		crc = table[0][(crc ^ *p++) & 255] ^ crc >> 8;
	return crc;
}

#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define INSTRUCTIONS __attribute__((target("sse4.2,pclmul")))

/*
 * Lanes of 1024 bytes, then of 128. To put a lane's checksum before n more bytes is to multiply
 * it by x^8n modulo the polynomial. The product of two reversed words stands one bit too far and
 * the reducing crc32 multiplies by x^32: so the constants are x^(8n - 33).
 */
#define LONG        1024
#define LONG_BY_1   UINT64_C(0x170076fa)
#define LONG_BY_2   UINT64_C(0xa51b6135)
#define SHORT       128
#define SHORT_BY_1  UINT64_C(0x0d3b6092)
#define SHORT_BY_2  UINT64_C(0xb9e02b86)

ptx_inline INSTRUCTIONS uint64_t word_at(const unsigned char *p)
{
	uint64_t word;

	memcpy(&word, p, 8);
	return word;
}

ptx_inline INSTRUCTIONS uint64_t shift(uint64_t crc, uint64_t constant)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
					       _mm_cvtsi64_si128((long long)constant), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

ptx_inline INSTRUCTIONS uint64_t three_lanes(uint64_t crc, const unsigned char *p, size_t lane,
					     uint64_t by_1, uint64_t by_2)
{
	uint64_t b = 0, c = 0;

	for (size_t i = 0; i < lane; i += 8) {
		crc = _mm_crc32_u64(crc, word_at(p + i));
		b = _mm_crc32_u64(b, word_at(p + lane + i));
		c = _mm_crc32_u64(c, word_at(p + 2 * lane + i));
	}
	return shift(crc, by_2) ^ shift(b, by_1) ^ c;
}

INSTRUCTIONS static uint32_t by_instruction(uint32_t start, const unsigned char *p, size_t len)
{
	uint64_t crc = start;

	for (; len >= 3 * LONG; len -= 3 * LONG, p += 3 * LONG)
		crc = three_lanes(crc, p, LONG, LONG_BY_1, LONG_BY_2);
	for (; len >= 3 * SHORT; len -= 3 * SHORT, p += 3 * SHORT)
		crc = three_lanes(crc, p, SHORT, SHORT_BY_1, SHORT_BY_2);
	for (; len >= 8; len -= 8, p += 8)
		crc = _mm_crc32_u64(crc, word_at(p));
	for (; len; len--)
		crc = _mm_crc32_u8((uint32_t)crc, *p++);
	return (uint32_t)crc;
}

static crc_fn *choose(void)
{
	unsigned a, b, c, d;

	/*
	 * Not __builtin_cpu_supports(): its constructor asks a dozen times at every program's
	 * start, and under a hypervisor each costs microseconds.
	 */
	if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) && (c & bit_PCLMUL))
		return by_instruction;
	return by_table;
}

#elif defined __aarch64__
#include <sys/auxv.h>

#define HAS_CRC32 (1ul << 7) /* HWCAP_CRC32 of <asm/hwcap.h> */

static uint32_t by_instruction(uint32_t crc, const unsigned char *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
	}
	for (; len; len--) {
		uint32_t byte = *p++;

		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(byte));
	}
	return crc;
}

static crc_fn *choose(void)
{
	return getauxval(AT_HWCAP) & HAS_CRC32 ? by_instruction : by_table;
}

#else

static crc_fn *choose(void)
{
	return by_table;
}

#endif

uint32_t ptx_crc32c(uint32_t crc, const void *bytes, size_t len)
{
	static _Atomic(crc_fn *) chosen;
	crc_fn *fn = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (ptx_unlikely(!fn)) {
		fn = choose();
		atomic_store_explicit(&chosen, fn, memory_order_relaxed);
	}
	return ~fn(~crc, bytes, len);
}

uint32_t ptx_crc32c_portable(uint32_t crc, const void *bytes, size_t len)
{
	return ~by_table(~crc, bytes, len);
}
