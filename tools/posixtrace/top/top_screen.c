/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top_screen.c - top on a terminal. The command reads the signals that end it from a descriptor. So
 * it restores the terminal before it ends.
 *
 * NCURSES_NOMACROS is needed, because otherwise ncurses defines its functions as macros, with names
 * such as erase. The functions of ncurses are not safe in signal handlers. Therefore the signals
 * that end the command stay blocked.
 */
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/say.h"
#include "base/tool.h"
#include "base/until.h"
#include "live/process.h"
#include "top/top.h"

/* The state of the display. 'source' and 'top' belong to the caller. */
struct screen {
	struct top_source *source;
	struct top *top;
	struct until until;
	enum top_view view;
	bool by_total, paused, quit;
	size_t first; /* the line that is shown first */
};

/* The last line of the screen. The manual page explains the keys. */
static const char keys[] =
	"q quit  Tab next part  a all  s sort  p pause  r reset  arrows scroll";

/*
 * Draws the page as of the last update. If all parts are shown, each part gets at most about a
 * quarter of the lines, but at least three rows. Each call makes the page anew, but ncurses sends
 * only the changes to the terminal.
 */
static void draw_page(struct screen *screen)
{
	struct top_page page;
	int height, width, rows;

	getmaxyx(stdscr, height, width);
	/* A single part may have more rows than the screen, because the user can scroll. */
	rows = screen->view == TOP_ALL ? (height - 16) / 4 : 100000;
	top_page_make(&page, screen->source, screen->top, screen->view, screen->by_total,
		      (size_t)(rows < 3 ? 3 : rows));
	if (screen->first >= page.lines) /* the page became shorter */
		screen->first = page.lines ? page.lines - 1 : 0;
	erase();
	for (int y = 0; y < height - 1 && screen->first + (size_t)y < page.lines; y++) {
		const struct top_page_line *line = &page.line[screen->first + (size_t)y];

		attrset(line->heading ? A_REVERSE : A_NORMAL);
		mvaddnstr(y, 0, line->text, width);
	}
	attrset(A_DIM);
	mvaddnstr(height - 1, 0, keys, width);
	if (screen->paused)
		addstr("  paused");
	attrset(A_NORMAL);
	refresh();
	top_page_fini(&page);
}

/* Executes the command of a key. */
static void execute_key(struct screen *screen, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		screen->quit = true;
		break;
	case '\t':
		screen->view = (screen->view + 1) % TOP_VIEWS;
		screen->first = 0;
		break;
	case 'a':
		screen->view = TOP_ALL;
		screen->first = 0;
		break;
	case 's':
		screen->by_total = !screen->by_total;
		break;
	case 'p':
	case ' ':
		screen->paused = !screen->paused;
		break;
	/* The totals of a log cannot be reset. */
	case 'r':
		if (screen->source->pid)
			top_reset(screen->top);
		break;
	case KEY_DOWN:
		screen->first++;
		break;
	case KEY_UP:
		screen->first -= screen->first > 0;
		break;
	case KEY_NPAGE:
		screen->first += (size_t)LINES / 2;
		break;
	case KEY_PPAGE:
		screen->first -=
			screen->first < (size_t)LINES / 2 ? screen->first : (size_t)LINES / 2;
		break;
	}
}

/* Processes signals: a new size of the terminal, or the end. */
static void take_signals(struct screen *screen)
{
	struct winsize size;
	bool sent;
	int sig;

	while (until_signal(&screen->until, &sig, &sent)) {
		if (sig == SIGWINCH) {
			if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
				resizeterm(size.ws_row, size.ws_col);
		} else {
			screen->quit = true;
		}
	}
}

/* Waits for one delay. Keys act immediately, and events are read every TOP_READ_MS. */
static void wait_and_obey(struct screen *screen, int64_t delay_ns)
{
	int64_t end_ns = until_now_ns() + delay_ns;
	struct pollfd poller[3] = {
		{ .fd = screen->until.signals, .events = POLLIN },
		{ .fd = STDIN_FILENO, .events = POLLIN },
		/*
		 * After the end of the process, each poll() would report the end again. The
		 * descriptor -1 prevents this.
		 */
		{ .fd = screen->source->ended ? -1 : screen->until.process, .events = POLLIN },
	};

	while (!screen->quit) {
		int64_t left_ns = end_ns - until_now_ns();
		int key;

		if (left_ns <= 0)
			return;
		if (left_ns > (int64_t)TOP_READ_MS * 1000000)
			/* Events must be read more often than the screen is drawn. */
			left_ns = (int64_t)TOP_READ_MS * 1000000;
		if (poll(poller, 3, (int)(left_ns / 1000000) + 1) == 0) {
			if (!screen->paused)
				top_read(screen->source, screen->top);
			continue;
		}
		take_signals(screen);
		if (poller[1].revents & (POLLHUP | POLLERR))
			screen->quit = true; /* the terminal does not exist any more */
		/*
		 * Keys may arrive faster than they are read, so the loop also ends when the delay
		 * is over.
		 */
		while ((key = getch()) != ERR) {
			execute_key(screen, key);
			if (until_now_ns() >= end_ns)
				break;
		}
		/*
		 * The process has ended. The function returns, so that the caller draws the last
		 * events immediately.
		 */
		if (poller[2].revents) {
			screen->source->ended = true;
			return;
		}
		draw_page(screen);
	}
}

/*
 * Updates and draws until the user quits, or until this number of pages was shown, each of them for
 * a delay; 0: no limit. Pages that are drawn during a pause do not count. Returns 0 or an error
 * number, which ends the command.
 */
static int run_screen(struct screen *screen, int64_t delay_ns, uint64_t pages)
{
	uint64_t shown = 0;
	int err = 0;

	while (!screen->quit && !err && (!pages || shown < pages)) {
		/*
		 * The loop continues after the end of the process, whose last state remains on the
		 * screen.
		 */
		if (!screen->paused)
			err = top_update(screen->source, screen->top);
		draw_page(screen);
		shown += !screen->paused;
		wait_and_obey(screen, delay_ns);
	}
	return err;
}

/* Prints the error of a call that concerned the source, which is a process or a log. */
static int say_why(const struct top_source *source, int err)
{
	if (source->pid)
		return process_say_why(source->pid, err);
	say("%s: %s", source->log.path, say_strerror(err));
	return TOOL_FAILURE;
}

/*
 * The function blocks the signals before it opens the terminal. So none of them can end this
 * process before endwin() has restored the terminal.
 */
int top_screen(struct top_source *source, struct top *top, int64_t delay_ns, uint64_t pages)
{
	struct screen screen = { .source = source, .top = top };
	sigset_t set;
	SCREEN *terminal;
	int err;

	/*
	 * until_begin() needs a process to watch. For a log the command watches its own process,
	 * which does not end while it waits.
	 */
	err = until_begin(&screen.until, source->pid ? source->pid : getpid());
	if (err)
		return say_why(source, err);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGWINCH);
	err = until_signals(&screen.until, &set);
	if (err) {
		say("top cannot wait for signals: %s", say_strerror(err));
		until_end(&screen.until);
		return TOOL_FAILURE;
	}
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal) {
		say("TERM=%s: this terminal cannot be used; --batch prints without one",
		    getenv("TERM") ? getenv("TERM") : "");
		until_end(&screen.until);
		return TOOL_FAILURE;
	}
	cbreak();
	noecho();
	/*
	 * getch() must not wait, because poll() waits for keys, signals and the end of the process.
	 */
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	err = run_screen(&screen, delay_ns, pages);
	endwin();
	delscreen(terminal);
	until_end(&screen.until);
	return err ? say_why(source, err) : TOOL_OK;
}
