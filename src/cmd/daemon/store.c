/*
 * store.c - stint store: a copy of the controller's store, while the controller runs
 *
 * The controller sends it, and we write it, as who we are.  It has its name when it is
 * whole, on the disk, and nothing was found wrong in it.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/controller/state/store_copy.h"
#include "cmd/client/client_options.h"
#include "core/io.h"
#include "core/xalloc.h"

struct args {
	struct client_options client;
	const char *file;
};

static error_t parse_store(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num == 0 && strcmp(arg, "copy"))
			command_misuse(state, "'%s' is not copy", arg);
		if (state->arg_num == 1 && !*arg)
			command_misuse(state, "FILE: the name is empty");
		if (state->arg_num > 1)
			command_misuse(state, "one FILE at a time");
		if (state->arg_num == 1)
			a->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->file)
			command_misuse(state, "copy it into which FILE?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	0,
	parse_store,
	"copy FILE",
	"Copy the controller's store into FILE, while the controller runs.",
	0,
	0,
	0
};

/* The file that is not whole yet; NULL: none. */
static char *half;

static void on_signal(int signo)
{
	(void)unlink(half);
	signal(signo, SIG_DFL);
	raise(signo);
}

static void clean_up_on_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGXFSZ };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signal(signals[i], on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

/*
 * A log beside the file would be taken for the copy's by whoever opens it, and make it
 * something else.
 */
static int check_name(const char *file, struct error *err)
{
	static const char *const ends[] = { "-wal", "-journal" };
	struct stat st;

	if (!stat(file, &st) && !S_ISREG(st.st_mode))
		return error_set(err, -EEXIST, "%s is no file", file);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char *log = xasprintf("%s%s", file, ends[i]);
		int r = lstat(log, &st);

		if (!r)
			error_set(err, -EEXIST,
				  "%s is there: %s is a database that is, or "
				  "was, in use; give another name",
				  log, file);
		free(log);
		if (!r)
			return -EEXIST;
	}
	return 0;
}

static int open_half(const char *file, int *ret, struct error *err)
{
	int r = check_name(file, err);

	if (r < 0)
		return r;
	half = xasprintf("%s.XXXXXX", file);
	*ret = mkostemp(half, O_CLOEXEC); /* ours alone, mode 600 */
	if (*ret >= 0) {
		clean_up_on_signals();
		return 0;
	}
	r = error_sys(err, -errno, "%s", file);
	free(half);
	half = NULL;
	return r;
}

static int take_piece(int fd, const Control__StorePiece *p, uint64_t *from,
		      struct error *err)
{
	int r = io_write_full(fd, p->data.data, p->data.len);

	if (r < 0)
		return error_sys(err, r, "%s", half);
	/* whatever it answers, this comes to an end */
	if (p->next && p->next != *from + p->data.len)
		return error_set(err, -EPROTO,
				 "the controller sends a copy with gaps");
	*from = p->next;
	return 0;
}

static int receive(struct client *c, int fd, struct error *err)
{
	Control__GetStore ask = CONTROL__GET_STORE__INIT;
	Control__Message *m;
	int r;

	do {
		r = client_ask(c, MESSAGE_BODY(GET_STORE), &ask,
			       MESSAGE_BODY(STORE_PIECE), client_unhurried,
			       NULL, &m, err);
		if (r < 0)
			return r;
		r = take_piece(fd, m->store_piece, &ask.from, err);
		message_free(m);
	} while (!r && ask.from);
	if (!r && fsync(fd) < 0)
		r = error_sys(err, -errno, "%s", half);
	return r;
}

/* Its name is on the disk, too. */
static int give_name(const char *file, struct error *err)
{
	char *copy = xstrdup(file);
	int fd = -1, r = rename(half, file) < 0 ? -errno : 0;

	if (!r)
		fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!r && (fd < 0 || fsync(fd) < 0))
		r = -errno;
	if (fd >= 0)
		close(fd);
	free(copy);
	return r < 0 ? error_sys(err, r, "%s", file) : 0;
}

static int tell(const char *file, uint64_t size, uint64_t jobs,
		struct error *err)
{
	printf("%s: %s, %" PRIu64 " job%s\n", file, show_bytes(size), jobs,
	       jobs == 1 ? "" : "s");
	return fflush(stdout) ? error_sys(err, -errno, "standard output") : 0;
}

static int copy_store(struct client *c, void *args, struct error *err)
{
	struct args *a = args;
	struct stat st = { .st_size = 0 };
	uint64_t jobs = 0;
	int fd, r = open_half(a->file, &fd, err);

	if (r < 0)
		return r;
	r = receive(c, fd, err);
	(void)!fstat(fd, &st);
	close(fd);
	if (!r)
		r = store_copy_check(half, &jobs, err);
	if (!r)
		r = give_name(a->file, err);
	if (r < 0)
		(void)unlink(half);
	free(half);
	half = NULL;
	return r < 0 ? r : tell(a->file, (uint64_t)st.st_size, jobs, err);
}

int cmd_store(int argc, char **argv)
{
	struct args a = { .file = NULL };

	return client_main("store", &argp, CLIENT_PLAIN, argc, argv, copy_store,
			   &a);
}
