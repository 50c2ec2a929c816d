/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/crc32c.c - CRC-32C by the fastest means that this processor has.
 *
 * x86-64 and aarch64 have an instruction for this checksum. On x86-64 the instruction takes 3
 * cycles, but a new instruction can start in each cycle. So the code for x86-64 computes the
 * checksums of three parts of the data at the same time, and combines them. On a processor without
 * these instructions, the code uses eight tables of 256 words (slicing by 8).
 *
 * A signal handler may call these functions: nothing here acquires a lock, allocates, or depends on
 * a constructor.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/compiler.h"
#include "base/crc32c.h"

typedef uint32_t crc_fn(uint32_t crc, const unsigned char *p, size_t len);

#define POLYNOMIAL 0x82f63b78u /* of Castagnoli, bit-reversed */

/* table[k][n]: the checksum of the byte n followed by k zero bytes. */
static uint32_t table[8][256];
/*
 * A value other than 0 means that the table is complete. All accesses to table_ready are acquire
 * loads and release stores.
 */
static _Atomic(int) table_ready;

/*
 * Fills the table. Several threads, or a thread and its signal handler, may fill it at the same
 * time. They store the same values, so their order does not matter and no lock is needed. A handler
 * could not acquire a lock. The accesses are atomic only because the memory model demands it.
 */
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
	/* Release: pairs with the acquire in by_table(). */
	atomic_store_explicit(&table_ready, 1, memory_order_release);
}

/* The portable way. Returns crc continued over `len` bytes; both are inverted checksums. */
static uint32_t by_table(uint32_t crc, const unsigned char *p, size_t len)
{
	/* Pairs with the release in make_table(). A thread that sees 0 makes the table itself. */
	if (!atomic_load_explicit(&table_ready, memory_order_acquire))
		make_table();
	/*
	 * The loop reads eight bytes as one word. It assumes that the first byte is in the lowest
	 * bits of the word.
	 */
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

/*
 * The compiler generates these instructions for the marked functions only. The rest of the
 * library runs on every x86-64 processor.
 */
#define INSTRUCTIONS __attribute__((target("sse4.2,pclmul")))

/*
 * Lengths of the parts, and the constants for crc32c_shift(). Appending n zero bytes to data
 * multiplies its checksum by x^8n modulo the polynomial. crc32c_shift() multiplies by a constant
 * and by two further factors: x, because the words are bit-reversed, and x^32, because of the crc32
 * instruction. The constants are therefore x^(8n - 33), where n is the length of one part (BY_1) or
 * of two parts (BY_2).
 *
 * With long parts, few combinations are needed. Short parts are for the rest of up to 3 kB.
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

/* Returns crc continued over a number of zero bytes. `constant` determines this number. */
ptx_inline INSTRUCTIONS uint64_t crc32c_shift(uint64_t crc, uint64_t constant)
{
	__m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
					       _mm_cvtsi64_si128((long long)constant), 0);

	return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/*
 * Continues `crc` over three parts of `part` bytes each, which begin at `p`. The loop has three
 * chains of dependent instructions that the processor executes at the same time. Returns the
 * continued checksum.
 */
ptx_inline INSTRUCTIONS uint64_t three_parts(uint64_t crc, const unsigned char *p, size_t part,
					     uint64_t by_1, uint64_t by_2)
{
	uint64_t b = 0, c = 0;

	for (size_t i = 0; i < part; i += 8) {
		crc = _mm_crc32_u64(crc, word_at(p + i));
		b = _mm_crc32_u64(b, word_at(p + part + i));
		c = _mm_crc32_u64(c, word_at(p + 2 * part + i));
	}
	return crc32c_shift(crc, by_2) ^ crc32c_shift(b, by_1) ^ c;
}

INSTRUCTIONS static uint32_t by_instruction(uint32_t start, const unsigned char *p, size_t len)
{
	uint64_t crc = start;

	for (; len >= 3 * LONG; len -= 3 * LONG, p += 3 * LONG)
		crc = three_parts(crc, p, LONG, LONG_BY_1, LONG_BY_2);
	for (; len >= 3 * SHORT; len -= 3 * SHORT, p += 3 * SHORT)
		crc = three_parts(crc, p, SHORT, SHORT_BY_1, SHORT_BY_2);
	for (; len >= 8; len -= 8, p += 8)
		crc = _mm_crc32_u64(crc, word_at(p));
	for (; len; len--)
		crc = _mm_crc32_u8((uint32_t)crc, *p++);
	return (uint32_t)crc;
}

/* This function executes the CPUID instruction, which is slow, so ptx_crc32c() keeps the result. */
static crc_fn *crc32c_choose(void)
{
	unsigned a, b, c, d;

	/*
	 * __builtin_cpu_supports() is not used: its constructor executes CPUID a dozen times at the
	 * start of every program, and under a hypervisor each execution takes microseconds.
	 */
	if (__get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) && (c & bit_PCLMUL))
		return by_instruction;
	return by_table;
}

#elif defined __aarch64__
#include <sys/auxv.h>

#define HAS_CRC32 (1ul << 7) /* HWCAP_CRC32 of <asm/hwcap.h> */

/*
 * Returns crc continued over `len` bytes, as by_table() does. The function does not divide the
 * data, because the latency of the instruction is low enough on the processors known so far. The
 * assembler directive allows the instruction without a compiler option for the whole file.
 */
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

/* The kernel reports in the auxiliary vector which instructions user space may use. */
static crc_fn *crc32c_choose(void)
{
	return getauxval(AT_HWCAP) & HAS_CRC32 ? by_instruction : by_table;
}

#else

static crc_fn *crc32c_choose(void)
{
	return by_table;
}

#endif

uint32_t ptx_crc32c(uint32_t crc, const void *bytes, size_t len)
{
	static _Atomic(crc_fn *) chosen;
	/*
	 * The accesses may be relaxed: the pointer leads to code, so no other memory must be
	 * ordered with it. Threads that choose at the same time choose the same function.
	 */
	crc_fn *fn = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (ptx_unlikely(!fn)) {
		fn = crc32c_choose();
		atomic_store_explicit(&chosen, fn, memory_order_relaxed);
	}
	/*
	 * CRC-32C inverts the checksum before the first byte and after the last byte, so that
	 * leading zero bytes change it.
	 */
	return ~fn(~crc, bytes, len);
}

uint32_t ptx_crc32c_portable(uint32_t crc, const void *bytes, size_t len)
{
	return ~by_table(~crc, bytes, len);
}
