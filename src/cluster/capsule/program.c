/*
 * program.c - a process in a capsule on its way to a program
 *
 * Runs in a fresh child of init, from its clone to execve(), in init's memory, while init
 * waits: a copy would be made and thrown away for nothing.  So all that is
 * allocated is init's to free, and nobody but who may trace init may trace
 * the child, though it has no capabilities any more.  What goes wrong is said
 * through the socket that execve() closes, so the keeper's capsule_exec() knows.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cluster/capsule/priv.h"
#include "core/xalloc.h"
#include "pmi/linked.h"

struct program {
	const struct request *req;
	char *try; /* room for a path of a program */
	size_t room;
	const struct init_args *init;
	char **argv, **env, *cwd;
	char *folder[2], *path[2]; /* of the files that it prints to */
	int news;		   /* where failures are reported */
	int fds[REQUEST_FDS];
};

static _Noreturn void give_up(const struct program *prog, int code,
			      const struct error *why)
{
	struct exec_failure bad = { .code = code, .why = *why };

	(void)!write(prog->news, &bad, sizeof(bad));
	_exit(127);
}

static _Noreturn __attribute__((format(printf, 3, 4))) void give_up_sys(
	const struct program *prog, int code, const char *fmt, ...)
{
	struct error what, why;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what.text, sizeof(what.text), fmt, ap);
	va_end(ap);
	give_up(prog, error_sys(&why, code, "%s", what.text), &why);
}

void fds_keep(const int *keep, unsigned n)
{
	unsigned from = 0;
	int next;

	for (;;) {
		next = -1;
		for (unsigned i = 0; i < n; i++)
			if (keep[i] >= (int)from &&
			    (next < 0 || keep[i] < next))
				next = keep[i];
		if (next < 0)
			break;
		if (next > (int)from)
			close_range(from, next - 1, 0);
		from = next + 1;
	}
	close_range(from, ~0u, 0);
}

/* The text holds the strings one after another, each with its NUL. */
static void read_program(struct program *prog, const struct request *req,
			 char *p)
{
	/* A directory of PATH and a name are among them, or short. */
	prog->room = req->n + 64;
	prog->try = xmalloc(prog->room);
	prog->argv = xcalloc(req->nr_argv + 1, sizeof(char *));
	prog->env = xcalloc(req->nr_env + 1, sizeof(char *));
	for (unsigned i = 0; i < req->nr_argv; i++, p += strlen(p) + 1)
		prog->argv[i] = p;
	for (unsigned i = 0; i < req->nr_env; i++, p += strlen(p) + 1)
		prog->env[i] = p;
	prog->cwd = p;
	for (unsigned i = 0; i < req->nr_files && i < 2; i++) {
		p += strlen(p) + 1;
		prog->folder[i] = p;
		p += strlen(p) + 1;
		prog->path[i] = p;
	}
}

/*
 * First all go above every wanted number, so that none is overwritten before it
 * is placed; what remains above closes on exec.
 */
static void place_fds(struct program *prog, const struct request *req)
{
	int base = 3, null;

	for (unsigned i = 0; i < req->nr_fds; i++)
		if (req->as[i] >= base)
			base = req->as[i] + 1;
	for (unsigned i = 0; i < req->nr_fds; i++) {
		prog->fds[i] = fcntl(prog->fds[i], F_DUPFD_CLOEXEC, base);
		if (prog->fds[i] < 0)
			give_up_sys(prog, -errno, "cannot place descriptor %d",
				    req->as[i]);
	}
	prog->news = fcntl(prog->news, F_DUPFD_CLOEXEC, base);
	close_range(0, ~0u, CLOSE_RANGE_CLOEXEC);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null != i)
			dup2(null, i);
		else
			fcntl(i, F_SETFD, 0);
	for (unsigned i = 0; i < req->nr_fds; i++)
		if (dup2(prog->fds[i], req->as[i]) < 0)
			give_up_sys(prog, -errno, "cannot place descriptor %d",
				    req->as[i]);
}

static void drop_capabilities(const struct program *prog)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { 0 };

	if (syscall(SYS_capset, &head, none) < 0)
		give_up_sys(prog, -errno, "cannot drop capabilities");
}

int drop_bounding_set(struct error *err)
{
	int cap = 0;

	while (!prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
		cap++;
	/* There are no more. */
	return errno == EINVAL && cap
		       ? 0
		       : error_sys(err, -errno, "cannot drop capability %d",
				   cap);
}

static const char *search_path(char *const *env)
{
	for (; *env; env++)
		if (!strncmp(*env, "PATH=", 5))
			return *env + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

static mode_t kind_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_mode & S_IFMT;
}

static bool is_one_of_several(char *const *env)
{
	static const char name[] = "PMI_SIZE=";

	for (; *env; env++)
		if (!strncmp(*env, name, sizeof(name) - 1))
			return strtoul(*env + sizeof(name) - 1, NULL, 10) > 1;
	return false;
}

/*
 * -ENOENT: no such program; -ENOEXEC: it cannot be run.  "No such file" of a
 * file that is there means what it wants to be run by.
 */
static int try_run(const struct program *prog, const char *path,
		   struct error *err)
{
	int r;

	if (is_one_of_several(prog->env) && pmi_linked_statically(path))
		return error_set(err, -ENOEXEC,
				 "cannot run %s: " PMI_LINKED_REFUSAL, path);
	execve(path, prog->argv, prog->env);
	r = -errno;
	if (r == -ENOENT && !access(path, F_OK))
		return error_set(
			err, -ENOEXEC,
			"cannot run %s: the interpreter that its first line or "
			"ELF header names does not exist",
			path);
	if (r == -ENOEXEC)
		return error_set(
			err, r,
			"cannot run %s: it is not a program for this machine (a script must "
			"begin with #!)",
			path);
	if (r == -EACCES && kind_of(path) == S_IFREG && access(path, X_OK) < 0)
		return error_set(err, -ENOEXEC,
				 "cannot run %s: it is not executable (chmod "
				 "+x makes it so)",
				 path);
	if (r == -EACCES && kind_of(path) == S_IFDIR)
		return error_set(err, -ENOEXEC,
				 "cannot run %s: it is a directory", path);
	return error_set(err, r == -ENOENT ? r : -ENOEXEC, "cannot run %s: %s",
			 path, strerror(-r));
}

/* Something in a directory that may not be searched is not there. */
static bool is_there(const char *path)
{
	mode_t kind = kind_of(path);

	return kind && kind != S_IFDIR;
}

/* As execvpe(), but with the PATH of the program's own environment. */
static _Noreturn void run_program(const struct program *prog)
{
	const char *name = prog->argv[0], *dir, *end;
	const size_t room = prog->room;
	struct error err, first;
	int code, r;

	if (strchr(name, '/'))
		give_up(prog, try_run(prog, name, &err), &err);
	code = error_set(
		&first, -ENOENT,
		"cannot run %s: no such program in PATH (for one in this directory "
		"write ./%s)",
		name, name);
	for (dir = search_path(prog->env);; dir = end + 1) {
		end = strchrnul(dir, ':');
		if (end == dir)
			snprintf(prog->try, room, "./%s", name);
		else
			snprintf(prog->try, room, "%.*s/%s", (int)(end - dir),
				 dir, name);
		r = is_there(prog->try) ? try_run(prog, prog->try, &err) : 0;
		if (r && code == -ENOENT) {
			code = r;
			first = err;
		}
		if (!*end)
			give_up(prog, code, &first);
	}
}

/* In its working directory, with its umask. */
static void open_files(const struct program *prog, const struct request *req)
{
	struct error err;
	int fd;

	for (unsigned i = 0; i < req->nr_files && i < 2; i++) {
		fd = file_open(prog->folder[i], prog->path[i], &err);
		if (fd < 0)
			give_up(prog, fd, &err);
		if (dup2(fd, req->file_as[i]) < 0)
			give_up_sys(prog, -errno, "cannot place descriptor %d",
				    req->file_as[i]);
	}
}

/* Ours are the host's terms: nobody gets more. */
static void set_limits(const struct program *prog, const struct request *req)
{
	for (unsigned i = 0; i < req->nr_limits; i++) {
		struct rlimit want = req->limits[i].limit, have;

		if (getrlimit(req->limits[i].resource, &have) < 0)
			continue; /* a later kernel's */
		if (want.rlim_max > have.rlim_max)
			want.rlim_max = have.rlim_max;
		if (want.rlim_cur > want.rlim_max)
			want.rlim_cur = want.rlim_max;
		if (setrlimit(req->limits[i].resource, &want) < 0)
			give_up_sys(prog, -errno, "cannot set limit %d",
				    req->limits[i].resource);
	}
}

struct program *program_prepare(const struct request *req, char *text,
				const int *fds, const struct init_args *init)
{
	struct program *prog = xcalloc(1, sizeof(*prog));

	prog->req = req;
	prog->init = init;
	prog->news = fds[0];
	memcpy(prog->fds, fds + 1, req->nr_fds * sizeof(int));
	read_program(prog, req, text);
	return prog;
}

void program_free(struct program *prog)
{
	free(prog->try);
	free(prog->argv);
	free(prog->env);
	free(prog);
}

/*
 * Init has lent us memory, but neither its groups nor its user namespace, with the keys
 * that are in such a one: ours ends with what runs in it. Its group, and those around it, we have
 * already.
 */
static void become_own(const struct program *prog)
{
	const uid_t uid = prog->req->uid;
	struct error err;
	int r = cgroup_enter_own(prog->init->cg, &err);

	if (r < 0)
		give_up(prog, r, &err);
	if (unshare(CLONE_NEWCGROUP) < 0)
		give_up_sys(prog, -errno, "cannot make a namespace of groups");
	if ((r = ids_leave_keys(&err)) < 0 || (r = drop_bounding_set(&err)) < 0)
		give_up(prog, r, &err);
	if (setresuid(uid, uid, uid) < 0)
		give_up_sys(prog, -errno, "cannot become user %u", uid);
}

_Noreturn void program_main(void *arg)
{
	struct program *prog = arg;
	const struct request *req = prog->req;
	int join = prog->init->cg->join;
	struct error err;
	sigset_t none;

	if (prog->init->lasting)
		lent_await();
	(void)!write(prog->news, "", 1);
	if (req->own_group)
		setsid();
	/* Before there is a namespace of groups, in which its name would show. */
	if (join >= 0 && write(join, "0", 1) < 0)
		give_up_sys(prog, -errno, "cannot enter the freezer group");
	if (prog->init->lasting)
		become_own(prog);
	place_fds(prog, req);
	drop_capabilities(prog);
	/* Not -ENOENT, which would say that there is no such program. */
	if (chdir(prog->cwd) < 0)
		give_up(prog,
			error_set(&err, -ENOTDIR, "cannot work in %s: %s",
				  prog->cwd, strerror(errno)),
			&err);
	if (req->umask)
		umask(req->umask & 0777);
	open_files(prog, req);
	set_limits(prog, req);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	run_program(prog);
}
