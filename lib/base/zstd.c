/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base/zstd.c - loads libzstd and calls it.
 *
 * The header of libzstd gives the types of its functions, so that the compiler checks the calls.
 * All of them exist since version 1.0 and belong to its stable interface, which libzstd.so.1 keeps.
 */
#include "base/zstd.h"

#ifdef HAVE_ZSTD
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <zstd.h>

#define ZSTD_FUNCTIONS(EACH) \
	EACH(createCCtx) EACH(freeCCtx) EACH(compressCCtx) EACH(createDCtx) EACH(freeDCtx) \
	EACH(decompressDCtx) EACH(isError)

static struct {
#define EACH(name) __typeof__(ZSTD_##name) *name;
	ZSTD_FUNCTIONS(EACH)
#undef EACH
} zstd;

static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
static bool zstd_is_loaded;

/*
 * Stores the address of the function `name` of the library in *function. POSIX permits the
 * conversion of dlsym()'s result to a pointer to a function; ISO C does not.
 */
static bool find_function(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	*(void **)function = found;
	return found != NULL;
}

/*
 * With RTLD_LOCAL, the symbols of libzstd do not become visible to the program. The library is
 * never unloaded, since contexts may exist until the end of the process.
 */
static void load_zstd(void)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
#define EACH(name) \
	if (!find_function(library, "ZSTD_" #name, &zstd.name)) \
		return;
	ZSTD_FUNCTIONS(EACH)
#undef EACH
	zstd_is_loaded = true;
}

bool ptx_zstd_load(void)
{
	int saved = errno;

	pthread_once(&zstd_once, load_zstd);
	errno = saved;
	return zstd_is_loaded;
}

const char *ptx_zstd_why_missing(void)
{
	return "the log is compressed, and libzstd.so.1 cannot be loaded (in Debian, the package "
	       "libzstd1 has it)";
}

void *ptx_zstd_compressor_new(void)
{
	int saved = errno;
	void *context = zstd.createCCtx();

	errno = saved;
	return context;
}

void *ptx_zstd_decompressor_new(void)
{
	int saved = errno;
	void *context = zstd.createDCtx();

	errno = saved;
	return context;
}

/* If `context` is NULL, libzstd may not be loaded, and zstd.freeCCtx may be NULL. */
void ptx_zstd_compressor_free(void *context)
{
	if (context)
		zstd.freeCCtx(context);
}

void ptx_zstd_decompressor_free(void *context)
{
	if (context)
		zstd.freeDCtx(context);
}

size_t ptx_zstd_compress(void *context, int level, const void *from, size_t len, void *to,
			 size_t room)
{
	int saved = errno;
	size_t bytes = zstd.compressCCtx(context, to, room, from, len, level);

	errno = saved;
	return zstd.isError(bytes) ? 0 : bytes;
}

/*
 * The buffer has room for the whole result. The decoder therefore allocates no window, so a hostile
 * frame cannot choose the size of a window.
 */
bool ptx_zstd_decompress(void *context, const void *from, size_t len, void *to, size_t bytes)
{
	int saved = errno;
	size_t got = zstd.decompressDCtx(context, to, bytes, from, len);

	errno = saved;
	return got == bytes;
}
#else
bool ptx_zstd_load(void)
{
	return false;
}

const char *ptx_zstd_why_missing(void)
{
	return "the log is compressed, and this library was built without libzstd";
}

void *ptx_zstd_compressor_new(void)
{
	return NULL;
}

void *ptx_zstd_decompressor_new(void)
{
	return NULL;
}

void ptx_zstd_compressor_free(void *context)
{
	(void)context;
}

void ptx_zstd_decompressor_free(void *context)
{
	(void)context;
}

size_t ptx_zstd_compress(void *context, int level, const void *from, size_t len, void *to,
			 size_t room)
{
	(void)context, (void)level, (void)from, (void)len, (void)to, (void)room;
	return 0;
}

bool ptx_zstd_decompress(void *context, const void *from, size_t len, void *to, size_t bytes)
{
	(void)context, (void)from, (void)len, (void)to, (void)bytes;
	return false;
}
#endif
