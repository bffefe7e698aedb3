/*
 * output.c - writing results to files, whole or not at all
 */
#include "sim/report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/digits.h"
#include "core/xalloc.h"
#include "sim/workload/swf.h"

struct output {
	FILE *f;
	char *path;
	bool straight; /* standard output, a device */
	char *temp;    /* its name until then, if it has one */
	int error;     /* of the first write that failed: stdio forgets it */
};

/*
 * A target that is not a regular file (/dev/null, a pipe) is written straight.
 */
static bool is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* A file with no name in path's directory: whatever ends us, it is gone. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = !slash ? xstrdup(".")
			   : xasprintf("%.*s", (int)(slash - path + 1), path);
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);

	free(dir);
	return fd;
}

/* As open(), where files without names cannot be (NFS); *ret_temp is its name,
 * for the caller to free. */
static int open_temp(const char *path, char **ret_temp)
{
	char *temp = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temp, O_CLOEXEC);
	mode_t mask;

	if (fd < 0) {
		free(temp);
		return -1;
	}
	mask = umask(0);
	umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
	*ret_temp = temp;
	return fd;
}

int output_open(const char *path, struct output **ret, struct error *err)
{
	struct output *out;
	const char *name = strcmp(path, "-") ? path : "standard output";
	bool straight = true;
	FILE *f;
	char *temp = NULL;
	int fd;

	if (!*path)
		return error_set(err, -EINVAL,
				 "the name of a file to write "
				 "is empty");
	if (!strcmp(path, "-")) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (is_special(path)) {
		fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		straight = false;
		fd = open_nameless(path);
		if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
			fd = open_temp(path, &temp);
	}
	f = fd < 0 ? NULL : fdopen(fd, "w"); /* not of one to read */
	if (!f) {
		if (fd < 0)
			return error_sys(err, -errno, "%s: cannot create",
					 name);
		close(fd);
		return error_sys(err, -EBADF, "%s: cannot write", name);
	}
	out = xcalloc(1, sizeof(*out));
	out->f = f;
	out->straight = straight;
	out->path = xstrdup(name);
	out->temp = temp;
	*ret = out;
	return 0;
}

FILE *output_stream(struct output *out)
{
	return out->f;
}

static void output_free(struct output *out)
{
	free(out->path);
	free(out->temp);
	free(out);
}

static int link_as(const struct output *out, const char *name)
{
	char proc[32];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fileno(out->f));
	return linkat(AT_FDCWD, proc, AT_FDCWD, name, AT_SYMLINK_FOLLOW)
		       ? -errno
		       : 0;
}

/*
 * Give a file without a name the target's.  If the target exists, this needs a
 * temporary name beside it, always the same one, so that the next run removes
 * what a killed process has left.
 */
static int rename_output(const struct output *out)
{
	char *beside = xasprintf("%s.stint-new", out->path);
	int r = link_as(out, out->path);

	for (int tries = 0; r == -EEXIST && tries < 100; tries++) {
		(void)unlink(beside);
		r = link_as(out, beside);
		if (!r && rename(beside, out->path))
			r = errno == ENOENT ? -EEXIST : -errno;
	}
	if (r < 0)
		(void)unlink(beside);
	free(beside);
	return r;
}

static int commit(struct output *out, struct error *err)
{
	int r = out->error;

	errno = EIO; /* stdio need not set it */
	if (!r && (fflush(out->f) || ferror(out->f)))
		r = -errno;
	if (!r && !out->straight && !out->temp)
		r = rename_output(out);
	if (fclose(out->f) && !r)
		r = -errno;
	if (!r && out->temp && rename(out->temp, out->path))
		r = -errno;
	if (r < 0) {
		error_sys(err, r, "%s: cannot write", out->path);
		if (out->temp)
			unlink(out->temp);
	}
	output_free(out);
	return r;
}

void output_abort(struct output *out)
{
	if (!out)
		return;
	fclose(out->f);
	if (out->temp)
		unlink(out->temp);
	output_free(out);
}

int output_end(struct output **out, int r, struct error *err)
{
	struct output *o = *out;

	*out = NULL;
	if (o && !r)
		return commit(o, err);
	output_abort(o);
	return r;
}

/* Numbers go into a buffer by hand: printf would take most of the time. */
struct text {
	struct output *out;
	char *at;
	char buf[1 << 16];
};

#define LONGEST_LINE 512

static struct text *text_begin(struct output *out)
{
	struct text *t = xmalloc(sizeof(*t));

	t->out = out;
	t->at = t->buf;
	return t;
}

static void text_flush(struct text *t)
{
	size_t n = (size_t)(t->at - t->buf);

	if (fwrite(t->buf, 1, n, t->out->f) != n && !t->out->error)
		t->out->error = -errno;
	t->at = t->buf;
}

/* Where the next line goes. */
static char *text_line(struct text *t)
{
	if (t->buf + sizeof(t->buf) - t->at < LONGEST_LINE)
		text_flush(t);
	return t->at;
}

static void text_end(struct text *t)
{
	text_flush(t);
	free(t);
}

/*
 * What follows writes to `to`, up to 7 bytes more than it says, and returns
 * where its text ends.
 */
static inline char *put_int(char *to, int64_t v)
{
	if (v < 0)
		*to++ = '-';
	return digits_put(to, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* Seconds, with as many places as there are. */
static inline char *put_usec(char *to, usec_t v)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v, places;
	uint32_t rest = (uint32_t)(u % USEC_PER_SEC);

	if (v < 0)
		*to++ = '-';
	to = digits_put(to, u / USEC_PER_SEC);
	if (!rest)
		return to;
	places = digits_of(rest);
	*to++ = '.';
	to = digits_store(to, places, 2);
	return to - __builtin_clzll(places) / 8; /* zeros at the end */
}

static inline char *put_char(char *to, char c)
{
	*to = c;
	return to + 1;
}

static char *put_text(char *to, const char *s)
{
	return stpcpy(to, s);
}

/* tail ends the line. */
static char *put_csv(char *to, const struct sim_record *r, const char *tail)
{
	to = put_char(put_int(to, r->id), ',');
	to = put_char(put_usec(to, r->submit), ',');
	if (r->start >= 0)
		to = put_usec(to, r->start);
	to = put_char(to, ',');
	if (r->end >= 0)
		to = put_usec(to, r->end);
	to = put_char(to, ',');
	to = put_char(put_int(to, r->procs), ',');
	to = put_char(put_int(to, r->size), ',');
	to = put_char(put_usec(to, r->run), ',');
	to = put_char(put_int(to, r->resizes), ',');
	to = put_char(put_int(to, r->moves), ',');
	return put_text(put_text(to, event_outcome_name(r->outcome)), tail);
}

void output_jobs_csv(struct output *out, const struct sim_result *result)
{
	struct text *t = text_begin(out);
	char tail[64];

	snprintf(tail, sizeof(tail), ",%" PRId64 "," STINT_VERSION "\n",
		 result->seed);
	t->at = put_text(t->at, "id,submit,start,end,procs,size,run,resizes,"
				"moves,outcome,seed,version\n");
	for (size_t i = 0; i < result->nr; i++)
		t->at = put_csv(text_line(t), &result->record[i], tail);
	text_end(t);
}

static const struct swf_job unknown = {
	.estimate = -USEC_PER_SEC,
	.memory = -1,
	.user = -1,
	.group = -1,
	.app = -1,
	.queue = -1,
	.partition = -1,
};

/* Status as the format has it: 1 completed, 0 failed, 5 cancelled. */
static int swf_status(const struct sim_record *r)
{
	return r->outcome == END_DONE ? 1 : r->outcome == END_CANCELLED ? 5 : 0;
}

static char *put_swf(char *to, const struct sim_record *r,
		     const struct swf_job *j)
{
	bool ran = r->start >= 0 && r->end >= 0;
	int64_t procs = ran ? (int64_t)r->procs : -1;
	const int64_t mid[] = { -1, -1, r->size };
	const int64_t last[] = {
		j->memory, swf_status(r), j->user, j->group, j->app,
		j->queue,  j->partition,  -1,	   -1
	};

	to = put_char(put_int(to, r->id), ' ');
	to = put_char(put_usec(to, r->submit), ' ');
	to = put_usec(to, ran ? r->start - r->submit : -USEC_PER_SEC);
	to = put_char(to, ' ');
	to = put_usec(to, ran ? r->end - r->start : -USEC_PER_SEC);
	to = put_char(to, ' ');
	to = put_char(put_int(to, procs), ' ');
	for (size_t i = 0; i < sizeof(mid) / sizeof(*mid); i++)
		to = put_char(put_int(to, mid[i]), ' ');
	to = put_usec(to, j->estimate);
	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++)
		to = put_int(put_char(to, ' '), last[i]);
	return put_char(to, '\n');
}

void output_jobs_swf(struct output *out, const struct sim_result *result,
		     const struct swf_trace *trace, const char *comment)
{
	struct text *t = text_begin(out);

	fprintf(out->f,
		"; Version: 2.2\n; Computer: stint " STINT_VERSION
		" (simulated)\n; Note: %s\n; MaxJobs: %zu\n; MaxRecords: %zu\n"
		"; MaxNodes: %" PRIu32 "\n; MaxProcs: %" PRIu32 "\n",
		comment, result->nr, result->nr, result->procs, result->procs);
	for (size_t i = 0; i < result->nr; i++)
		t->at = put_swf(text_line(t), &result->record[i],
				trace && i < trace->nr ? &trace->job[i]
						       : &unknown);
	text_end(t);
}
