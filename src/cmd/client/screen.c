/* screen.c - what is shown again and again, see screen.h */
#include "cmd/client/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/plain.h"
#include "core/xalloc.h"

#define HOME	  "\033[H"
#define LINE_END  "\033[K" /* nothing more in this line */
#define BELOW	  "\033[J" /* nor in those below */
#define CLEAR	  "\033[2J"
#define MORE_TEXT "..."
#define FRAME_MAX (64 << 10)

struct screen {
	enum screen_form form;
	uint64_t frames, shown;
	bool terminal; /* frames take each other's place */
	bool keys;     /* ... and keys are read */
	char *text;    /* of the frame */
	size_t size;
	FILE *frame;
};

/* As it was before us; for the handler, so of the whole process. */
static struct termios before;

static void set_back(int signo)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	signal(signo, SIG_DFL);
	raise(signo);
}

static void on_resize(int signo)
{
	(void)signo; /* it only ends poll() */
}

/* Keys come one by one and unseen; what ends us still does. */
static bool take_keys(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct termios raw;

	if (!isatty(STDIN_FILENO) || tcgetattr(STDIN_FILENO, &before) < 0)
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		signal(ends[i], set_back);
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	return !tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

struct screen *screen_open(enum screen_form form, uint64_t frames)
{
	struct screen *s = xcalloc(1, sizeof(*s));
	const struct sigaction resize = { .sa_handler = on_resize };

	s->form = form;
	s->frames = frames;
	s->terminal =
		form == SCREEN_TABLE && frames != 1 && isatty(STDOUT_FILENO);
	if (s->terminal) {
		sigaction(SIGWINCH, &resize, NULL);
		s->keys = take_keys();
		/* A frame is one write, or nearly. */
		setvbuf(stdout, NULL, _IOFBF, FRAME_MAX);
		fputs(CLEAR, stdout);
	}
	return s;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	if (s->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	if (s->frame)
		fclose(s->frame);
	free(s->text);
	free(s);
}

FILE *screen_begin(struct screen *s)
{
	s->frame = open_memstream(&s->text, &s->size);
	if (!s->frame)
		abort(); /* out of memory */
	return s->frame;
}

static void find_size(unsigned *ret_rows, unsigned *ret_columns)
{
	struct winsize w;
	bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);

	*ret_rows = known && w.ws_row ? w.ws_row : 24;
	*ret_columns = known && w.ws_col ? w.ws_col : 80;
}

/* The bytes of so many characters of a line. */
static size_t cut_line(const char *line, unsigned columns)
{
	size_t n = 0;
	bool obeyed;

	while (columns-- && line[n] && line[n] != '\n')
		n += plain_char(line + n, &obeyed);
	return n;
}

/* The last row has no line end, which would scroll. */
static void draw(const char *text)
{
	unsigned rows, columns;

	find_size(&rows, &columns);
	fputs(HOME, stdout);
	for (unsigned row = 1; *text; row++) {
		const char *end = strchr(text, '\n');
		bool last = row == rows;

		if (last && end && end[1])
			fputs(MORE_TEXT, stdout);
		else
			fwrite(text, 1, cut_line(text, columns), stdout);
		fputs(LINE_END, stdout);
		if (last)
			break;
		fputc('\n', stdout);
		text = end ? end + 1 : "";
	}
	fputs(BELOW, stdout);
}

void screen_show(struct screen *s)
{
	fclose(s->frame);
	s->frame = NULL;
	if (s->terminal) {
		draw(s->text);
	} else {
		if (s->shown && s->form == SCREEN_TABLE)
			fputc('\n', stdout);
		fputs(s->text, stdout);
	}
	fflush(stdout);
	free(s->text);
	s->text = NULL;
	s->shown++;
}

/* A key, or 0: none; what is pressed with nobody there to press it is `q`. */
static int read_key(void)
{
	char c;
	ssize_t n = read(STDIN_FILENO, &c, 1);

	return n == 1 ? c : n < 0 && errno == EINTR ? 0 : 'q';
}

int screen_wait(struct screen *s, usec_t time)
{
	usec_t until = clock_usec(CLOCK_MONOTONIC) + time, left;
	struct pollfd in = { .fd = s->keys ? STDIN_FILENO : -1,
			     .events = POLLIN };
	int n, key;

	if ((s->frames && s->shown >= s->frames) || ferror(stdout))
		return SCREEN_OVER;
	while ((left = until - clock_usec(CLOCK_MONOTONIC)) > 0) {
		n = poll(&in, 1, (int)(left / USEC_PER_MSEC) + 1);
		if (n < 0)
			return SCREEN_TIME; /* another size */
		key = n ? read_key() : 0;
		if (key == 'q')
			return SCREEN_OVER;
		if (key)
			return key;
	}
	return SCREEN_TIME;
}
