/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run.c - the machine that runs templates. Templates and events are hostile. The parser and
 * templates_link() put only valid indexes into instructions. event.c checks each position in the
 * data.
 * The steps, the turns of loops, the calls and the stack have limits. If a limit is reached, the
 * text of the event ends there, and the report continues.
 */
#include "report/template/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/template/macros.h"
#include "report/template/print.h"

void run_init(struct run *run, const struct templates *templates, const char *log_name)
{
	memset(run, 0, sizeof(*run));
	run->templates = templates;
	run->log_name = log_name;
}

/* Frees the timers only, because the caller owns the templates. */
void run_fini(struct run *run)
{
	timers_fini(&run->timers);
}

/*
 * Ends the event's own template and all templates that it has called. The field shows in the report
 * why the rest of the event's text is missing.
 */
void run_end_with(struct run *run, const char *field)
{
	prose_field(&run->prose, field, strlen(field));
	run->ended = true;
}

static void run_push(struct run *run, uint64_t value)
{
	/* The limits of nested elements keep the stack far below RUN_STACK. */
	if (run->depth == RUN_STACK)
		run_end_with(run, "<nesting>");
	else
		run->stack[run->depth++] = value;
}

/*
 * Returns 0 if the stack is empty. This does not happen, because the parser emits balanced code.
 * The check is a second line of defence.
 */
static uint64_t run_pop(struct run *run)
{
	return run->depth ? run->stack[--run->depth] : 0;
}

/*
 * Calls a template or a function. The arguments of a function stay on the stack, and the function
 * reads them by their position. A template has no arguments. The call saves the separator, and the
 * end of the call restores it.
 */
void run_call(struct run *run, uint32_t start, unsigned arguments)
{
	if (run->frames == TEMPLATE_CALLS) {
		run_end_with(run, "<nesting>");
		return;
	}
	run->frame[run->frames++] = (struct run_frame){
		run->at, run->parameters, run->loops, run->prose.separator,
		run->prose.separator_len,
	};
	run->parameters = (uint32_t)(run->depth >= arguments ? run->depth - arguments : 0);
	run->at = start;
}

/*
 * Ends a template or a function of a template. If there is no frame, the event's own template ends.
 * Otherwise run_return() removes the callee's part of the stack, including the arguments. It also
 * ends the loops that the callee has not finished.
 */
static void run_return(struct run *run)
{
	const struct run_frame *frame;

	if (!run->frames) {
		run->ended = true;
		return;
	}
	frame = &run->frame[--run->frames];
	run->depth = run->parameters;
	run->at = frame->back;
	run->parameters = frame->parameters;
	run->loops = frame->loops;
	run->prose.separator = frame->separator;
	run->prose.separator_len = frame->separator_len;
}

/* All operations wrap in 64 bits. Only the division treats its operands as signed numbers. */
static void run_calculate(struct run *run, enum op op)
{
	uint64_t b = run_pop(run), a = run_pop(run);

	switch (op) {
	case OP_ADD:
		run_push(run, a + b);
		break;
	case OP_SUBTRACT:
		run_push(run, a - b);
		break;
	case OP_MULTIPLY:
		run_push(run, a * b);
		break;
	default:
		/*
		 * A division by 0 gives 0. The smallest number divided by -1 does not fit and would
		 * trap; it wraps instead.
		 */
		run_push(run, !b ? 0 : b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b));
		break;
	}
}

/*
 * Begins a loop. The count may come from the event, and a negative count is treated as 0. The
 * limits of nested braces and calls allow at most RUN_LOOPS nested loops.
 */
static void begin_loop(struct run *run, uint32_t behind)
{
	int64_t count = (int64_t)run_pop(run);

	if (count <= 0)
		run->at = behind;
	else if (run->loops == RUN_LOOPS)
		run_end_with(run, "<nesting>");
	else
		run->loop[run->loops++] = (struct run_loop){ count - 1, 1 };
}

/*
 * Ends a turn of the innermost loop. A loop exists, because only the end of a loop's body calls
 * this function. The completed turns are counted separately, to limit them, because the number of
 * turns left may be almost 2^63.
 */
static void next_turn(struct run *run, uint32_t body)
{
	struct run_loop *loop = &run->loop[run->loops - 1];

	if (!loop->left) {
		run->loops--;
	} else if (loop->turns == RUN_LOOP_TURNS) {
		run_end_with(run, "<loop>");
	} else {
		loop->left--;
		loop->turns++;
		run->at = body;
	}
}

/*
 * Ends a timer and prints its time. The difference of two times of a hostile log may need 65 bits.
 * If the timer was not started, the function prints nothing, because the trace may have begun after
 * the start.
 */
static void end_timer(struct run *run)
{
	uint64_t b = run_pop(run), a = run_pop(run);
	char text[64];
	int64_t started_ns;
	__int128 span_ns;

	if (!timers_end(&run->timers, a, b, &started_ns))
		return;
	span_ns = (__int128)run->event->time_ns - started_ns;
	snprintf(text, sizeof(text), "[%s%" PRIu64 " usec]", span_ns < 0 ? "-" : "",
		 (uint64_t)((span_ns < 0 ? -span_ns : span_ns) / 1000));
	prose_field(&run->prose, text, strlen(text));
}

/* Starts the timer of a key of two numbers. The second number is on top of the stack. */
static void start_timer(struct run *run)
{
	uint64_t b = run_pop(run), a = run_pop(run);

	timers_start(&run->timers, a, b, run->event->time_ns);
}

/*
 * Pops a number and prints it. ins->a is the letter of the format, or 0 without a format. Without a
 * format, ins->b is the enum macro_print. For the format W, ins->b and ins->c are the lowest and
 * the highest bit.
 */
static void print_value(struct run *run, const struct ins *ins)
{
	uint64_t value = run_pop(run);
	char text[PRINT_BYTES];
	size_t len;

	if (!ins->a)
		len = print_macro(text, value, ins->b);
	else if (ins->a == 'W')
		len = print_macro(text, narrow(value, 'W', ins->b, ins->c), PRINT_SHORTEST);
	else
		len = print_number(text, value, (char)ins->a, ins->b);
	prose_field(&run->prose, text, len);
}

static void print_string(struct run *run, enum macro_id id)
{
	const char *string = run_string(run, id);

	prose_field(&run->prose, string, strlen(string));
}

/* If a code cannot be read, the template ends, so that no value is invented for missing data. */
static void read_code(struct run *run, const struct code *code)
{
	uint64_t value;

	if (reader_integer(&run->reader, code, &value))
		run_push(run, value);
	else
		run_end_with(run, "<short>");
}

/*
 * Makes a string the subject of a switch. The string is not in the data of the event, so the
 * comparison does not use run->reader.
 */
static void string_subject(struct run *run, enum macro_id id)
{
	run->subject_string = run_string(run, id);
	run->subject_len = strlen(run->subject_string);
}

/*
 * Runs the instruction at run->at. run->at is always valid, because jumps lead to instructions, and
 * each template and function ends with OP_RETURN. The comments of enum op describe the members of
 * "ins". The variables "code" and "text" are valid only for the operations that use them.
 */
static void run_step(struct run *run)
{
	const struct program *program = &run->templates->program;
	const struct ins *ins = &program->code[run->at++];
	struct code code = { (char)ins->a, ins->b, (uint16_t)ins->c, ins->c > 0 };
	const char *text = program->text + ins->c;
	struct prose *prose = &run->prose;
	uint64_t number;

	switch ((enum op)ins->op) {
	case OP_RETURN:
		run_return(run);
		break;
	case OP_JUMP:
		run->at = ins->c;
		break;
	case OP_LITERAL:
		prose_literal(prose, text, ins->b);
		break;
	case OP_PRINT_CODE:
		if (!run_print_code(run, &code))
			run_end_with(run, "<short>");
		break;
	case OP_MOVE:
		reader_move(&run->reader, &code);
		break;
	case OP_READ_CODE:
		read_code(run, &code);
		break;
	case OP_READ_TEXT:
		if (!run_read_text(run, &code))
			run_end_with(run, "<short>");
		break;
	case OP_NUMBER:
		run_push(run, program->number[ins->c]);
		break;
	case OP_BUILTIN:
		run_push(run, run_builtin(run, ins->b));
		break;
	case OP_PLACE:
		run_push(run, run->place[ins->b]);
		break;
	case OP_PARAMETER:
		run_push(run, run->stack[run->parameters + ins->b]);
		break;
	case OP_STRING:
		print_string(run, ins->b);
		break;
	case OP_STRING_SUBJECT:
		string_subject(run, ins->b);
		break;
	case OP_PRINT:
		print_value(run, ins);
		break;
	case OP_NARROW:
		run_push(run, narrow(run_pop(run), (char)ins->a, ins->b, ins->c));
		break;
	case OP_COUNTED:
		if (!run_counted(run, ins->c))
			run_end_with(run, "<short>");
		break;
	case OP_COUNTED_SUBJECT:
		run->subject_string = NULL;
		reader_text(&run->reader, run_pop(run), true, &run->subject_at, &run->subject_len);
		break;
	case OP_ADD:
	case OP_SUBTRACT:
	case OP_MULTIPLY:
	case OP_DIVIDE:
		run_calculate(run, ins->op);
		break;
	case OP_NEGATE:
		run_push(run, -run_pop(run));
		break;
	case OP_STORE:
		run->place[ins->b] = run_pop(run);
		break;
	case OP_STORE_POINTER:
		reader_set_pointer(&run->reader, (int64_t)run_pop(run));
		break;
	case OP_STORE_BASE:
		run->reader.base = (int64_t)run_pop(run);
		break;
	case OP_SWITCH:
		run->subject = run_pop(run);
		break;
	case OP_CASE:
		run->at += run->subject == program->number[ins->c];
		break;
	case OP_CASE_TEXT:
		run->at += run_subject_is(run, text, ins->b);
		break;
	case OP_LOOP:
		begin_loop(run, ins->c);
		break;
	case OP_AGAIN:
		next_turn(run, ins->c);
		break;
	case OP_BITS:
		run->bits = run_pop(run);
		prose->positional = false;
		break;
	case OP_FLAG:
		number = program->number[ins->c];
		run->is_set = number ? (run->bits & number) == number : !run->bits;
		break;
	case OP_FIELD:
		run->is_set = (run->bits & program->number[ins->c]) == program->number[ins->c + 1];
		break;
	case OP_WORD:
		if (run->is_set)
			prose_word(prose, text, ins->b);
		break;
	case OP_IF_SET:
	case OP_IF_CLEAR:
		if (run->is_set == (ins->op == OP_IF_SET))
			prose_positional(prose, text, ins->b);
		break;
	case OP_CALL:
		run_call(run, program->call[ins->c].start, 0);
		break;
	case OP_FUNCTION:
		run_call(run, program->call[ins->c].start, program->call[ins->c].arguments);
		break;
	case OP_START_TIMER:
		start_timer(run);
		break;
	case OP_END_TIMER:
		end_timer(run);
		break;
	case OP_DELIMITER:
		prose->separator = text;
		prose->separator_len = ins->b;
		break;
	case OP_ACTION:
		run_action(run, ins->b);
		break;
	}
}

/*
 * Resets everything that belongs to one event. Timers, the number of printed events and the request
 * to stop belong to the report.
 */
static void run_begin(struct run *run, const struct template_event *event)
{
	run->event = event;
	prose_init(&run->prose);
	reader_init(&run->reader, event);
	memset(run->place, 0, sizeof(run->place));
	run->depth = run->frames = run->loops = 0;
	run->parameters = 0;
	run->steps = 0;
	run->ended = run->hidden = false;
}

/*
 * run->printed counts only the events that are printed, because $RELLINENO is computed from it.
 * $NOPRINT hides an event, but the event's template runs to its end and may start timers.
 */
bool run_event(struct run *run, const struct template *template, const struct template_event *event)
{
	run_begin(run, event);
	if (!template) {
		prose_label(&run->prose, event->shown, strlen(event->shown));
		run_body_of_builtin(run);
	} else {
		prose_label(&run->prose, run->templates->program.text + template->label.offset,
			   template->label.len);
		run->at = template->start;
		while (!run->ended) {
			if (run->steps++ >= RUN_STEPS)
				run_end_with(run, "<loop>");
			else
				run_step(run);
		}
	}
	run->printed += !run->hidden;
	return !run->hidden;
}
