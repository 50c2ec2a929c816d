/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * soak/memory.h - whether the mappings of a process are its own: sanitizers keep freed memory for a
 * while and map more memory for it.
 */
#ifndef SOAK_MEMORY_H
#define SOAK_MEMORY_H

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define MEMORY_IS_OURS false
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MEMORY_IS_OURS false
#endif
#endif
#ifndef MEMORY_IS_OURS
#define MEMORY_IS_OURS true
#endif

#endif
