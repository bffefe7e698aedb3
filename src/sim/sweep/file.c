/* file.c - the runs of a sweep, kept, see sweep/file.h */
#include "sim/sweep/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io.h"
#include "core/xalloc.h"

struct sweep_file {
	const struct sweep *sweep;
	char *path;
	int fd;	      /* -1: not there yet */
	off_t done;   /* read so far: whole lines */
	char *head;   /* what the file must begin with */
	char *before; /* a line's start, up to the replication */
	char **after; /* and from there to the values, by cell */
};

/* Tells a whole line from one that was cut within its last number. */
#define LINE_END "."

static char *heading(void)
{
	char *text;
	size_t size;
	FILE *f = xmemstream(&text, &size);

	fputs("# stint sweep results, version " STINT_VERSION ":", f);
	for (int i = 0; i < NR_METRICS; i++)
		fprintf(f, " %s", sweep_metrics[i].name);
	fclose(f);
	return text;
}

static char *line_after(const struct sweep *sweep, uint32_t cell)
{
	const struct sweep_cell *c = &sweep->cell[cell];

	return xasprintf("\t%" PRIu64 "\t%u\t%.17g\t%" PRId64 "\t%" PRId64
			 "\t%" PRId64 "\t%s\t%s\t%s\t%s\t%s\t",
			 sweep->nr_jobs, sweep->procs, c->load, c->costs.resize,
			 c->costs.migrate, c->costs.migrate_rank, c->policy,
			 c->workload, c->speedup ? c->speedup : "-",
			 c->hosts ? c->hosts : "-",
			 c->paging ? c->paging : "-");
}

static bool read_values(const char *p, double *value)
{
	char *end;

	for (int i = 0; i < NR_METRICS; i++) {
		value[i] = strtod(p, &end);
		if (end == p || *end != '\t')
			return false;
		p = end + 1;
	}
	return !strcmp(p, LINE_END);
}

static void read_line(const struct sweep_file *f, const char *line,
		      sweep_file_found found, void *arg)
{
	double value[NR_METRICS];
	unsigned long replication;
	char *rest;

	if (strncmp(line, f->before, strlen(f->before)) != 0)
		return;
	replication = strtoul(line + strlen(f->before), &rest, 10);
	for (uint32_t c = 0; c < f->sweep->nr; c++) {
		size_t n = strlen(f->after[c]);

		if (!strncmp(rest, f->after[c], n) &&
		    read_values(rest + n, value) && replication < f->sweep->max)
			found(arg, c, (uint32_t)replication, value);
	}
}

/* The file from done on, fresh memory; NULL and err if it cannot be read. */
static char *read_rest(const struct sweep_file *f, struct error *err)
{
	struct stat st;
	size_t size, have = 0;
	ssize_t n = 1;
	char *text;

	if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		error_set(err, -EINVAL, "'%s' is not a regular file", f->path);
		return NULL;
	}
	size = st.st_size > f->done ? (size_t)(st.st_size - f->done) : 0;
	text = xcalloc(1, size + 1);
	while (have < size && n > 0) {
		n = pread(f->fd, text + have, size - have,
			  f->done + (off_t)have);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			have += (size_t)n;
	}
	if (n >= 0)
		return text;
	error_sys(err, -errno, "cannot read '%s'", f->path);
	free(text);
	return NULL;
}

static int wrong_file(const struct sweep_file *f, struct error *err)
{
	return error_set(err, -EINVAL,
			 "'%s' does not hold results of this version of stint "
			 "sweep; name another file",
			 f->path);
}

int sweep_file_read(struct sweep_file *f, sweep_file_found found, void *arg,
		    struct error *err)
{
	char *text, *line, *end;
	int rc = 0;

	if (f->fd < 0)
		f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0)
		return 0;
	text = read_rest(f, err);
	if (!text)
		return -EIO;
	/* What has no end is still being written, or was cut off. */
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (f->done)
			read_line(f, line, found, arg);
		else if (strcmp(line, f->head) != 0)
			rc = wrong_file(f, err);
		if (rc < 0)
			break;
		f->done += end + 1 - line;
	}
	free(text);
	return rc;
}

static int write_text(const struct sweep_file *f, const char *text,
		      struct error *err)
{
	int rc = io_write_full(f->fd, text, strlen(text));

	return rc < 0 ? error_sys(err, rc, "cannot write '%s'", f->path) : 0;
}

/* Write the heading of a new file; end the last line of an old one. */
static int make_whole(const struct sweep_file *f, struct error *err)
{
	char *text = read_rest(f, err), *head;
	size_t n = text ? strlen(text) : 0;
	int rc = text ? 0 : -EINVAL;

	head = xasprintf("%s\n", f->head);
	if (text && !n)
		rc = write_text(f, head, err);
	else if (text && strncmp(text, head, strlen(head)) != 0)
		rc = wrong_file(f, err);
	else if (text && text[n - 1] != '\n')
		rc = write_text(f, "\n", err);
	free(head);
	free(text);
	return rc;
}

struct sweep_file *sweep_file_follow(const struct sweep *sweep,
				     const char *path)
{
	struct sweep_file *f = xcalloc(1, sizeof(*f));

	f->sweep = sweep;
	f->path = xstrdup(path);
	f->fd = -1;
	f->head = heading();
	f->before = xasprintf("%" PRIu64 "\t", sweep->seed);
	f->after = xcalloc(sweep->nr, sizeof(*f->after));
	for (uint32_t c = 0; c < sweep->nr; c++)
		f->after[c] = line_after(sweep, c);
	return f;
}

int sweep_file_open(const struct sweep *sweep, const char *path,
		    struct sweep_file **ret, struct error *err)
{
	struct sweep_file *f = sweep_file_follow(sweep, path);
	int rc;

	f->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (f->fd < 0) {
		rc = error_sys(err, -errno, "cannot open '%s'", path);
	} else {
		while (flock(f->fd, LOCK_EX) < 0 && errno == EINTR)
			; /* where locks are not known, we do without */
		rc = make_whole(f, err);
		flock(f->fd, LOCK_UN);
	}
	if (rc < 0) {
		sweep_file_close(f);
		return rc;
	}
	*ret = f;
	return 0;
}

int sweep_file_append(struct sweep_file *file, uint32_t cell,
		      uint32_t replication, const double *value,
		      struct error *err)
{
	char *text;
	size_t size;
	FILE *to = xmemstream(&text, &size);
	int rc;

	fprintf(to, "%s%u%s", file->before, replication, file->after[cell]);
	for (int i = 0; i < NR_METRICS; i++)
		fprintf(to, "%.17g\t", value[i]);
	fputs(LINE_END "\n", to);
	fclose(to);
	rc = write_text(file, text, err);
	free(text);
	return rc;
}

void sweep_file_close(struct sweep_file *file)
{
	if (!file)
		return;
	for (uint32_t c = 0; c < file->sweep->nr; c++)
		free(file->after[c]);
	free(file->after);
	free(file->before);
	free(file->head);
	free(file->path);
	io_close(&file->fd);
	free(file);
}
