// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions that are entered and left in every way. test_function.sh compiles it in several ways,
 * traces all of its functions, and compares the output with that of an untraced run.
 */
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

#define APART __attribute__((noinline, noclone))

struct large {
	long number[20];
};

static std::atomic<int> destroyed;

struct counted {
	APART ~counted() { destroyed++; }
};

/* Exceptions through several traced functions, with destructors that are traced, too. */
APART int throws(int depth)
{
	counted here;

	if (depth == 0)
		throw std::runtime_error("deep");
	return throws(depth - 1) + 1;
}

APART int passes(int depth)
{
	counted here;

	return throws(depth) + 1;
}

APART int catches(int depth)
{
	try {
		return passes(depth);
	} catch (const std::exception &) {
		return 1000 + depth;
	}
}

APART int throws_again(int depth)
{
	try {
		return passes(depth);
	} catch (...) {
		throw;
	}
}

APART int catches_again(int depth)
{
	try {
		return throws_again(depth);
	} catch (std::runtime_error &) {
		return 7;
	}
}

static jmp_buf back;

APART void jumps(int depth)
{
	if (depth == 0)
		longjmp(back, 1);
	jumps(depth - 1);
	asm volatile("");
}

APART int jumped(int depth)
{
	if (setjmp(back))
		return 5;
	jumps(depth);
	return 6;
}

/* The frames of the program in a backtrace, as offsets from the caller's. */
APART int frames(int depth)
{
	void *address[64];
	int count;

	if (depth) {
		count = frames(depth - 1);
		asm volatile("");
		return count;
	}
	return backtrace(address, 64);
}

APART int frames_limited(int size)
{
	void *address[64] = { NULL };
	int count = backtrace(address, size);

	return count + 100 * (address[size] == NULL);
}

APART large returns_large(int number)
{
	large result;

	for (int i = 0; i < 20; i++)
		result.number[i] = number * i;
	return result;
}

APART int sums(int count, ...)
{
	va_list list;
	double sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, double);
	va_end(list);
	return (int)sum;
}

APART long double multiplies(long double a, long double b)
{
	return a * b;
}

APART long many(long a, long b, long c, long d, long e, long f, long g, long h, double x)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + (long)x;
}

#if defined __x86_64__
__attribute__((target("avx"))) APART double adds_vectors(__m256d x, __m256d y)
{
	__m256d z = _mm256_add_pd(x, y);
	double o[4];

	_mm256_storeu_pd(o, z);
	return o[0] + 10 * o[1] + 100 * o[2] + 1000 * o[3];
}

__attribute__((target("avx"))) APART double vectors(double k)
{
	return adds_vectors(_mm256_set1_pd(k), _mm256_set_pd(1, 2, 3, 4));
}

__attribute__((target("avx512f"))) APART double adds_longer(__m512d x, __m512d y)
{
	double o[8];

	_mm512_storeu_pd(o, _mm512_add_pd(x, y));
	return o[0] + 3 * o[7];
}

__attribute__((target("avx512f"))) APART double longer(double k)
{
	return adds_longer(_mm512_set1_pd(k), _mm512_set_pd(1, 2, 3, 4, 5, 6, 7, 8));
}
#endif

APART int tail_end(int n)
{
	return n * 2;
}

APART int tail(int n)
{
	asm volatile("");
	return tail_end(n + 1);
}

APART int recursion(int n)
{
	return n < 2 ? n : recursion(n - 1) + recursion(n - 2);
}

APART int deep(int n)
{
	int below = n ? deep(n - 1) : 0;

	asm volatile("");
	return below + 1;
}

static ucontext_t start, first, second;
static long trail;

APART void step(int number)
{
	trail = trail * 10 + number;
}

APART void coroutine_1()
{
	step(1);
	swapcontext(&first, &second);
	step(3);
	swapcontext(&first, &second);
	step(5);
}

APART void coroutine_2()
{
	step(2);
	swapcontext(&second, &first);
	step(4);
	catches(2);
	swapcontext(&second, &first);
	step(6);
}

APART long coroutines()
{
	static char stack[2][262144];

	getcontext(&first);
	first.uc_stack.ss_sp = stack[0];
	first.uc_stack.ss_size = sizeof stack[0];
	first.uc_link = &second;
	makecontext(&first, coroutine_1, 0);
	getcontext(&second);
	second.uc_stack.ss_sp = stack[1];
	second.uc_stack.ss_size = sizeof stack[1];
	second.uc_link = &start;
	makecontext(&second, coroutine_2, 0);
	swapcontext(&start, &first);
	return trail;
}

static volatile sig_atomic_t hits;
static sigjmp_buf out_of_handler;

APART void hit()
{
	hits = hits + 1;
}

APART void handler(int signal)
{
	hit();
	if (signal == SIGUSR2)
		siglongjmp(out_of_handler, 1);
}

APART void raises(int signal)
{
	raise(signal);
	asm volatile("");
}

APART int handlers()
{
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	for (int i = 0; i < 10; i++)
		raises(SIGUSR1);
	for (volatile int i = 0; i < 10; i = i + 1)
		if (!sigsetjmp(out_of_handler, 1))
			raises(SIGUSR2);
	return hits;
}

APART int forks()
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child)
		waitpid(child, &status, 0);
	return child ? WEXITSTATUS(status) : -1;
}

APART int work(int n)
{
	return recursion(n % 7) + catches(n % 3);
}

APART void *thread(void *)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += work(i);
	return (void *)(long)sum;
}

APART void exits()
{
	counted here;

	pthread_exit((void *)9L);
}

APART void *exiting(void *)
{
	exits();
	return NULL;
}

int main()
{
	pthread_t id[4];
	long sum = 0;
	void *result;

	printf("catches %d %d\n", catches(5), destroyed.load());
	printf("catches_again %d %d\n", catches_again(3), destroyed.load());
	for (int i = 0; i < 1000; i++)
		catches(12);
	printf("destroyed %d\n", destroyed.load());
	printf("jumped %d\n", jumped(4));
	printf("frames %d %d\n", frames(3), frames_limited(3));
	printf("large %ld\n", returns_large(3).number[19]);
	printf("sums %d\n", sums(3, 1.0, 2.0, 3.5));
	printf("multiplies %Lf\n", multiplies(1.5L, 3));
	printf("many %ld\n", many(1, 2, 3, 4, 5, 6, 7, 8, 9.5));
#if defined __x86_64__
	if (__builtin_cpu_supports("avx"))
		printf("vectors %f\n", vectors(2.5));
	if (__builtin_cpu_supports("avx512f"))
		printf("longer %f\n", longer(2.5));
#endif
	printf("tail %d\n", tail(4));
	printf("recursion %d\n", recursion(15));
	printf("deep %d\n", deep(5000));
	printf("coroutines %ld\n", coroutines());
	printf("handlers %d\n", handlers());
	for (int i = 0; i < 4; i++)
		pthread_create(&id[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(id[i], &result);
		sum += (long)result;
	}
	printf("threads %ld\n", sum);
	for (int i = 0; i < 20; i++) {
		pthread_create(&id[0], NULL, exiting, NULL);
		pthread_join(id[0], &result);
	}
	printf("exiting %ld %d\n", (long)result, destroyed.load());
	{
		int code = forks();

		if (code < 0)
			_exit(11);
		printf("forks %d\n", code);
	}
	return 3;
}
