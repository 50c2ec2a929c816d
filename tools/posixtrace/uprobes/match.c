/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * match.c - keeps the active calls of all stacks.
 *
 * Records may be missing, because the kernel had no room for them, and the program may use its
 * stacks in unusual ways. So a single record does not prove that a call is over. A call that seems
 * to be over is kept as doubtful. If a return of this call is recorded later, the call was not
 * over. Otherwise it is reported when a new call uses its place in the stack, or when its stack is
 * closed: at the end of the thread, of the process or of the recording, or when the process
 * executes a program.
 */
#include "uprobes/match.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* greatest number of doubtful calls of a stack; further calls are reported immediately */
#define DOUBTFUL_MOST 65536

struct frame {
	uint64_t begin_ns, function, caller;
	int64_t place_at;     /* place of the return address in the stack */
	/* time of its jump or of its probable end; 0: neither has been seen */
	uint64_t over_ns;
	uint64_t target;      /* the function to which it has jumped */
	pid_t tid;
	uint32_t depth, at;   /* at: index of the place of its beginning */
	void *data;           /* the data that came with its beginning; NULL if is_inherited */
	const struct match_result *result;
	bool has_jumped;      /* over_ns is the time of its jump */
	bool is_inherited;    /* it began before fork(2), so it is reported for the parent */
};

/*
 * The stack of a thread or goroutine. "key" is the thread's number or the goroutine's address. In
 * an element of the array that is not used, is_free is true, and "key" is the index of the next
 * unused element.
 */
struct match_stack {
	pid_t pid;
	bool is_go, is_free;
	uint64_t key;
	struct frame *frame;
	/* number of frames; place_at never increases from one frame to the next */
	size_t frames, room;
	size_t active;        /* number of frames that have not jumped to another function */
	/* sorted by place_at; of two equal places, the later call is behind the earlier call */
	struct frame *doubtful;
	size_t doubts, doubts_room;
	/*
	 * for a thread: the goroutine that it executed last, and the bounds of this goroutine's
	 * stack
	 */
	uint64_t goroutine, low, high;
};

struct stack_key {
	pid_t pid;
	bool is_go;
	uint64_t key;
};

static bool is_stack(const void *array, uint32_t index, const void *key)
{
	const struct match_stack *stack = (const struct match_stack *)array + index;
	const struct stack_key *wanted = key;

	return stack->key == wanted->key && stack->pid == wanted->pid &&
	       stack->is_go == wanted->is_go;
}

static uint64_t hash_of_stack(struct stack_key key)
{
	return hash_number(hash_number(HASH_BEGIN, (unsigned)key.pid), key.key + key.is_go);
}

/* Returns the index of a stack, or TABLE_NONE. */
static uint32_t index_of_stack(const struct match *match, struct stack_key key)
{
	return table_find(&match->of_stack, hash_of_stack(key), is_stack, match->stack, &key);
}

/*
 * Returns a stack. If it was not known, it is added and has no calls. Returns NULL if memory is
 * lacking. The pointer is valid until the next call.
 */
static struct match_stack *find_stack(struct match *match, pid_t pid, bool is_go, uint64_t key)
{
	const struct stack_key wanted = { pid, is_go, key };
	uint32_t index = index_of_stack(match, wanted);
	const bool is_reused = match->free_stacks > 0;

	if (index != TABLE_NONE)
		return &match->stack[index];
	if (!is_reused && !vec_grow(&match->stack, match->stacks, 1))
		return NULL;
	index = (uint32_t)(is_reused ? match->first_free : match->stacks);
	if (!table_add(&match->of_stack, hash_of_stack(wanted), index))
		return NULL;
	if (is_reused) {
		match->free_stacks--;
		match->first_free = match->stack[index].key;
	} else {
		match->stacks++;
	}
	match->stack[index] = (struct match_stack){ .pid = pid, .is_go = is_go, .key = key };
	return &match->stack[index];
}

/* ------------------------------------------------------------------ frames */

/*
 * Reports a call that was removed from its stack. An inherited call is reported only for the
 * parent.
 */
static void report_call(struct match *match, const struct match_stack *stack, struct frame frame,
			pid_t tid, uint64_t now_ns, bool is_open)
{
	const struct match_call call = {
		.pid = stack->pid, .tid = tid, .begin_ns = frame.begin_ns,
		.end_ns = frame.over_ns ? frame.over_ns : now_ns,
		.function = frame.function, .caller = frame.caller,
		.place = frame.at, .data = frame.data, .result = frame.result,
		.depth = frame.depth, .is_open = is_open,
	};

	if (!frame.is_inherited)
		match->take(match->arg, &call);
	free(frame.data);
}

/* Removes the latest frame and returns it. */
static struct frame pop_frame(struct match_stack *stack)
{
	const struct frame frame = stack->frame[--stack->frames];

	stack->active -= !frame.over_ns;
	return frame;
}

/* Returns the index of the first doubtful call whose place_at is not less than this place_at. */
static size_t first_doubt(const struct match_stack *stack, int64_t place_at)
{
	size_t from = 0, until = stack->doubts;

	while (from < until) {
		size_t middle = from + (until - from) / 2;

		if (stack->doubtful[middle].place_at < place_at)
			from = middle + 1;
		else
			until = middle;
	}
	return from;
}

/*
 * Removes the latest doubtful call that has this place in the stack. Returns false if there is
 * none. Only few doubtful calls have the same place.
 */
static bool pop_doubt(struct match_stack *stack, int64_t place_at, struct frame *frame)
{
	size_t index = first_doubt(stack, place_at);

	if (index == stack->doubts || stack->doubtful[index].place_at != place_at)
		return false;
	while (index + 1 < stack->doubts && stack->doubtful[index + 1].place_at == place_at)
		index++;
	*frame = stack->doubtful[index];
	stack->doubts--;
	memmove(stack->doubtful + index, stack->doubtful + index + 1,
		(stack->doubts - index) * sizeof(*frame));
	return true;
}

/* Keeps a call as doubtful. Returns false if there is no room. */
static bool keep_doubt(struct match_stack *stack, struct frame frame)
{
	size_t index = first_doubt(stack, frame.place_at);

	if (stack->doubts >= DOUBTFUL_MOST ||
	    !vec_reserve(&stack->doubtful, &stack->doubts_room, stack->doubts, 1))
		return false;
	memmove(stack->doubtful + index + 1, stack->doubtful + index,
		(stack->doubts - index) * sizeof(frame));
	stack->doubtful[index] = frame;
	stack->doubts++;
	return true;
}

/*
 * Called when the thread is at a place of the stack. Calls with a lower place_at, which are deeper,
 * are over or belong to another stack, so they become doubtful. If such a call has jumped, it is
 * certainly over and is reported.
 */
static void pass_frames(struct match *match, struct match_stack *stack, int64_t place_at,
			pid_t tid, uint64_t now_ns)
{
	while (stack->frames && stack->frame[stack->frames - 1].place_at < place_at) {
		struct frame frame = pop_frame(stack);
		const bool has_jumped = frame.has_jumped;

		if (!has_jumped)
			frame.over_ns = now_ns;
		if (has_jumped || !keep_doubt(stack, frame))
			report_call(match, stack, frame, tid, now_ns, false);
	}
}

/*
 * Returns whether the function that begins now continues a call with the same place in the stack,
 * because that call has jumped to it. A jump through a pointer is not recorded. It is recognized,
 * because both functions have the same return address.
 */
static bool is_continued(const struct frame *frame, uint64_t function, uint64_t caller)
{
	if (frame->has_jumped)
		return frame->target == function;
	return !frame->over_ns && frame->function != function && frame->caller == caller;
}

/*
 * Ends the calls that have the same place in the stack as a new call, unless the new call continues
 * them.
 */
static void reuse_place(struct match *match, struct match_stack *stack, const struct frame *made)
{
	struct frame frame;

	while (pop_doubt(stack, made->place_at, &frame))
		report_call(match, stack, frame, made->tid, made->begin_ns, false);
	while (stack->frames && stack->frame[stack->frames - 1].place_at == made->place_at) {
		if (is_continued(&stack->frame[stack->frames - 1], made->function, made->caller))
			break;
		frame = pop_frame(stack);
		report_call(match, stack, frame, made->tid, made->begin_ns, false);
	}
	/* The new call continues all calls that remain at this place, so they are active again. */
	for (size_t i = stack->frames; i-- > 0 && stack->frame[i].place_at == made->place_at;) {
		stack->active += stack->frame[i].over_ns != 0;
		stack->frame[i].over_ns = 0;
		stack->frame[i].has_jumped = false;
	}
}

/* Adds the latest frame. Returns false if memory is lacking. */
static bool push_frame(struct match_stack *stack, struct frame frame)
{
	if (!vec_reserve(&stack->frame, &stack->room, stack->frames, 1))
		return false;
	stack->frame[stack->frames++] = frame;
	stack->active += !frame.over_ns;
	return true;
}

/*
 * Adds a call whose function begins. Its depth is the number of calls that are active at this time.
 */
static void begin_call(struct match *match, struct match_stack *stack, struct frame made)
{
	pass_frames(match, stack, made.place_at, made.tid, made.begin_ns);
	reuse_place(match, stack, &made);
	made.depth = (uint32_t)stack->active;
	if (push_frame(stack, made))
		return;
	match->lost++;
	free(made.data);
}

/*
 * Removes the latest call with this place. Must be called after pass_frames(). Returns false if
 * there is no such call.
 */
static bool pop_call(struct match_stack *stack, int64_t place_at, struct frame *frame)
{
	if (stack->frames && stack->frame[stack->frames - 1].place_at == place_at) {
		*frame = pop_frame(stack);
		return true;
	}
	return pop_doubt(stack, place_at, frame);
}

/*
 * Ends all calls with this place in the stack, because a function returns there. All of them have
 * the same result. If a call has jumped to a function that is not recorded, the call has ended at
 * its jump.
 */
static void return_call(struct match *match, struct match_stack *stack, int64_t place_at, pid_t tid,
			uint64_t now_ns, const struct match_result *result)
{
	struct frame frame;

	pass_frames(match, stack, place_at, tid, now_ns);
	while (pop_call(stack, place_at, &frame)) {
		/* If the call was doubtful, it was not over, because it returns now. */
		if (!frame.has_jumped) {
			frame.over_ns = 0;
			frame.result = result;
		}
		report_call(match, stack, frame, tid, now_ns, false);
	}
}

/* Notes that the latest call with this place jumps to another function. */
static void jump_call(struct match *match, struct match_stack *stack, int64_t place_at, pid_t tid,
		      uint64_t now_ns, uint64_t target)
{
	struct frame frame;

	pass_frames(match, stack, place_at, tid, now_ns);
	if (!pop_call(stack, place_at, &frame))
		return;
	frame.over_ns = now_ns;
	frame.has_jumped = true;
	frame.target = target;
	if (!push_frame(stack, frame))
		report_call(match, stack, frame, tid, now_ns, false);
}

/* ------------------------------------------------------------------ records */

/* Returns whether a jump's condition holds. Each odd condition negates the even one before it. */
static bool is_taken(unsigned condition, uint64_t flags)
{
	const bool carry = flags & 1, parity = flags & 4, zero = flags & 0x40, sign = flags & 0x80,
		   overflow = flags & 0x800;
	bool is = false;

	if (condition == MATCH_ALWAYS)
		return true;
	switch (condition >> 1 & 7) {
	case 0:
		is = overflow;
		break;
	case 1:
		is = carry;
		break;
	case 2:
		is = zero;
		break;
	case 3:
		is = carry || zero;
		break;
	case 4:
		is = sign;
		break;
	case 5:
		is = parity;
		break;
	case 6:
		is = sign != overflow;
		break;
	case 7:
		is = zero || sign != overflow;
		break;
	}
	return is != (condition & 1);
}

/*
 * Finds the stack of a record and the place in this stack. In Go, register r14 points to the
 * goroutine, except in some functions that are written in assembler or C. Such functions run either
 * on the stack of the goroutine that the thread executed last, or on a stack that belongs to the
 * thread.
 */
static struct match_stack *stack_of(struct match *match, const struct match_place *place,
				    const struct syscalls_record *record, int64_t *place_at)
{
	const uint64_t sp = UPROBES_STACK(record);
	uint64_t goroutine = UPROBES_GOROUTINE(record), low = UPROBES_LOW(record);
	uint64_t high = UPROBES_HIGH(record);
	struct match_stack *thread = find_stack(match, (pid_t)record->pid, false, record->tid);

	*place_at = (int64_t)sp;
	if (!thread || !place->is_go)
		return thread;
	if (!goroutine || sp <= low || sp > high) {
		goroutine = thread->goroutine;
		low = thread->low;
		high = thread->high;
	}
	if (!goroutine || sp <= low || sp > high)
		return thread;
	thread->goroutine = goroutine;
	thread->low = low;
	thread->high = high;
	*place_at = (int64_t)(sp - high);
	return find_stack(match, (pid_t)record->pid, true, goroutine);
}

/*
 * Processes the arrival of a thread at a place. The place has one address in the process and
 * another in the file. The difference between these is the same for all addresses of the file.
 */
static void match_trap(struct match *match, const struct syscalls_record *record, void *data,
		       const char *text)
{
	const struct match_result result = { UPROBES_RESULT(record), text };
	const struct match_place *place;
	struct match_stack *stack;
	uint64_t bias;
	int64_t place_at;

	place = &match->place[record->number];
	stack = stack_of(match, place, record, &place_at);
	if (!stack) {
		match->lost += place->kind == MATCH_BEGIN;
		free(data);
		return;
	}
	bias = UPROBES_ADDRESS(record) - place->address;
	if (place->kind == MATCH_BEGIN)
		begin_call(match, stack, (struct frame){
			.begin_ns = record->time_ns, .function = place->function + bias,
			.caller = UPROBES_CALLER(record), .place_at = place_at,
			.at = record->number, .data = data,
			.tid = (pid_t)record->tid });
	/* The first instruction of a function may be a return or a jump. */
	if (place->kind == MATCH_RETURN ||
	    (place->kind == MATCH_BEGIN && !place->target && place->condition == MATCH_ALWAYS))
		return_call(match, stack, place_at, (pid_t)record->tid, record->time_ns, &result);
	else if (place->target && is_taken(place->condition, UPROBES_FLAGS(record)))
		jump_call(match, stack, place_at, (pid_t)record->tid, record->time_ns,
			  place->target + bias);
}

/*
 * Reports first the doubtful calls of a stack and then the others, in each group the deepest first.
 * Then removes the stack. A later stack uses its element of the array, so memory is needed only for
 * the stacks that exist at the same time. The stack of a goroutine remains until its process ends
 * or executes a program. A later goroutine with the same address uses this stack.
 */
static void close_stack(struct match *match, uint32_t index, uint64_t now_ns)
{
	struct match_stack *stack = &match->stack[index];

	for (size_t i = 0; i < stack->doubts; i++)
		report_call(match, stack, stack->doubtful[i], stack->doubtful[i].tid, now_ns,
			    false);
	while (stack->frames) {
		const struct frame frame = pop_frame(stack);

		report_call(match, stack, frame, frame.tid, now_ns, !frame.over_ns);
	}
	free(stack->doubtful);
	free(stack->frame);
	table_remove(&match->of_stack,
		     hash_of_stack((struct stack_key){ stack->pid, stack->is_go, stack->key }),
		     index);
	*stack = (struct match_stack){ .is_free = true, .key = match->first_free };
	match->first_free = index;
	match->free_stacks++;
}

/* Closes the stacks of a process, or of all processes if "pid" is 0. */
static void close_stacks(struct match *match, pid_t pid, uint64_t now_ns)
{
	for (uint32_t i = 0; i < match->stacks; i++)
		if (!match->stack[i].is_free && (!pid || match->stack[i].pid == pid))
			close_stack(match, i, now_ns);
}

/* Closes the stack of a thread, if it has one. */
static void close_thread(struct match *match, pid_t pid, pid_t tid, uint64_t now_ns)
{
	const struct stack_key key = { pid, false, (uint64_t)tid };
	uint32_t index = index_of_stack(match, key);

	if (index != TABLE_NONE)
		close_stack(match, index, now_ns);
}

/*
 * Copies the active calls of a thread that calls fork(2), because the child is in the same
 * functions. The copied calls count for the depths of the child's later calls. They are reported
 * only for the parent, even if the child returns from them.
 */
static void fork_stack(struct match *match, const struct syscalls_record *record)
{
	const pid_t child_pid = (pid_t)record->arg[0];
	struct match_stack *child, *parent;

	if (record->arg[1] & CLONE_THREAD)
		return;
	child = find_stack(match, child_pid, false, (uint64_t)child_pid);
	/* find_stack() may move all stacks, so the child's stack is looked up again. */
	parent = find_stack(match, (pid_t)record->pid, false, record->tid);
	child = child && parent ? find_stack(match, child_pid, false, (uint64_t)child_pid) : NULL;
	if (!child || child->frames || !parent->frames ||
	    !vec_reserve(&child->frame, &child->room, 0, parent->frames))
		return;
	for (size_t i = 0; i < parent->frames; i++) {
		struct frame *frame = &child->frame[child->frames];

		if (parent->frame[i].over_ns)
			continue;
		*frame = parent->frame[i];
		frame->is_inherited = true;
		frame->data = NULL;
		frame->tid = child_pid;
		child->frames++;
	}
	child->active = child->frames;
}

void match_begin(struct match *match, const struct match_place *place, size_t places,
		 void (*take)(void *arg, const struct match_call *call), void *arg)
{
	*match = (struct match){ .place = place, .places = places, .take = take, .arg = arg };
}

void match_extend(struct match *match, const struct match_place *place, size_t places)
{
	match->place = place;
	match->places = places;
}

void match_record(struct match *match, const struct syscalls_record *record, void *data,
		  const char *text)
{
	if (record->kind == SYSCALLS_TRAP && record->number < match->places &&
	    match->place[record->number].kind != MATCH_OTHER) {
		match_trap(match, record, data, text);
		return;
	}
	free(data);
	switch ((enum syscalls_kind)record->kind) {
	case SYSCALLS_NEW:
		fork_stack(match, record);
		break;
	case SYSCALLS_EXEC:
		close_stacks(match, (pid_t)record->pid, record->time_ns);
		break;
	case SYSCALLS_DEAD:
		if (record->number)
			close_stacks(match, (pid_t)record->pid, record->time_ns);
		else
			close_thread(match, (pid_t)record->pid, (pid_t)record->tid,
				     record->time_ns);
		break;
	case SYSCALLS_TRAP:
	case SYSCALLS_CALL:
	case SYSCALLS_ENTER:
		break;
	}
}

void match_end(struct match *match, uint64_t now_ns)
{
	close_stacks(match, 0, now_ns);
	free(match->stack);
	table_fini(&match->of_stack);
	*match = (struct match){ .places = 0 };
}
