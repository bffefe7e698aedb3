/* cgroup_find.c - where control groups of a process are, and a capsule's are to be; see cgroup.h */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/capsule/cgroup.h"
#include "core/io.h"
#include "core/log.h"
#include "core/xalloc.h"

/* Is word one of the comma-separated words in [list, end)? */
static bool has_word(const char *list, const char *end, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p && p + n <= end; p++) {
		if (!strncmp(p, word, n) &&
		    (p + n == end || p[n] == ',' || p[n] == '\n'))
			return true;
		p = memchr(p, ',', end - p);
		if (!p)
			break;
	}
	return false;
}

/* From a line "N:controllers:path" the path, for the caller to free. */
static char *own_path(const char *own, const char *controller)
{
	const char *line, *ctl, *path, *eol;

	for (line = own; *line; line = *eol ? eol + 1 : eol) {
		eol = strchrnul(line, '\n');
		ctl = memchr(line, ':', eol - line);
		path = ctl ? memchr(ctl + 1, ':', eol - ctl - 1) : NULL;
		if (!path)
			continue;
		if (*controller ? has_word(ctl + 1, path, controller)
				: !strncmp(line, "0::", 3))
			return strndup(path + 1, eol - path - 1);
	}
	return NULL;
}

/* One line of mountinfo: its root and mount point, if it is the hierarchy. */
static bool match_mount(char *line, const char *controller, char **ret_root,
			char **ret_point)
{
	char *dash = strstr(line, " - "), *save, *word, *fields[5];
	char *type, *options;

	if (!dash)
		return false;
	*dash = 0;
	type = strtok_r(dash + 3, " ", &save);
	strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " ", &save);
	if (!type || !options ||
	    strcmp(type, *controller ? "cgroup" : "cgroup2") ||
	    (*controller &&
	     !has_word(options, options + strlen(options), controller)))
		return false;
	word = strtok_r(line, " ", &save);
	for (int i = 0; i < 5; i++, word = strtok_r(NULL, " ", &save))
		if (!(fields[i] = word))
			return false;
	*ret_root = fields[3];
	*ret_point = fields[4];
	return true;
}

static const char self_leaf[] = "/stint-self";

char *cgroup_leaf(const char *dir)
{
	return xasprintf("%s%s", dir, self_leaf);
}

/* point + what path has beyond root, without a last "/stint-self". */
static char *join_path(const char *root, const char *point, const char *path)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0, len;
	char *dir;

	if (strncmp(path, root, n) || (path[n] && path[n] != '/'))
		return NULL; /* our group is not below what is mounted */
	dir = xasprintf("%s%s", point, path + n);
	len = strlen(dir);
	if (len >= sizeof(self_leaf) - 1 &&
	    !strcmp(dir + len - (sizeof(self_leaf) - 1), self_leaf))
		dir[len -= sizeof(self_leaf) - 1] = 0;
	while (len > 1 && dir[len - 1] == '/')
		dir[--len] = 0;
	return dir;
}

char *cgroup_locate(const char *mountinfo, const char *own,
		    const char *controller)
{
	char *text = xstrdup(mountinfo), *path = own_path(own, controller);
	char *save, *line, *root, *point, *dir = NULL;

	line = path ? strtok_r(text, "\n", &save) : NULL;
	for (; line && !dir; line = strtok_r(NULL, "\n", &save))
		if (match_mount(line, controller, &root, &point))
			dir = join_path(root, point, path);
	free(text);
	free(path);
	return dir;
}

static char *home;

int cgroup_set_home(const char *dir, struct error *err)
{
	char *path = xasprintf("%s/cgroup.subtree_control", dir);
	int r = access(path, W_OK) < 0
			? error_set(err, -EINVAL,
				    "%s is no group of cgroup v2 in which "
				    "others can be made",
				    dir)
			: 0;

	free(path);
	if (!r) {
		free(home);
		home = xstrdup(dir);
	}
	return r;
}

static int move_all(const char *from, const char *to)
{
	char *path = xasprintf("%s/cgroup.procs", from), *text, *save, *pid;
	int r = io_read_file(AT_FDCWD, path, 1 << 20, &text);

	free(path);
	if (r < 0)
		return r;
	r = 0;
	for (pid = strtok_r(text, "\n", &save); pid && !r;
	     pid = strtok_r(NULL, "\n", &save)) {
		r = cgroup_write(to, "cgroup.procs", pid);
		if (r == -ESRCH) /* it has ended */
			r = 0;
	}
	free(text);
	return r;
}

int cgroup_settle(const char *dir, struct error *err)
{
	char *leaf = cgroup_leaf(dir);
	int r = mkdir(leaf, 0755) < 0 && errno != EEXIST ? -errno : 0;

	if (!r)
		r = move_all(dir, leaf);
	if (r < 0)
		error_sys(err, r, "cannot move what is in %s to %s", dir, leaf);
	free(leaf);
	return r;
}

/* ---- what is mounted */

/* Of this program and what it forks. */
static struct {
	int fd; /* tells when it has changed; 0: it is not known */
	char *lines;
} known_mounts;

/* Its lines about control groups: a host may have hundreds of others. */
static char *only_groups(char *text)
{
	char *to = text, *line, *next;

	for (line = text; *line; line = next) {
		next = strchrnul(line, '\n');
		next += *next == '\n';
		if (!memmem(line, (size_t)(next - line), " - cgroup", 9))
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = '\0';
	return text;
}

/* Who looks takes the word of a change from all that share the descriptor. */
static bool has_changed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLPRI };

	return poll(&p, 1, 0) != 0;
}

bool cgroup_know_mounts(void)
{
	char *before = known_mounts.lines;
	int fd = known_mounts.fd;

	if (!fd)
		fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fd <= 0 || (before && !has_changed(fd)))
		return false;
	known_mounts.fd = fd;
	known_mounts.lines = NULL;
	if (lseek(fd, 0, SEEK_SET) == 0 &&
	    io_read_fd(fd, 1 << 24, &known_mounts.lines) >= 0)
		only_groups(known_mounts.lines);
	free(before);
	/* Whatever it is: those forked before may have an init with the mounts of then. */
	return before;
}

static int read_mounts(char **ret)
{
	if (known_mounts.lines) {
		*ret = xstrdup(known_mounts.lines);
		return 0;
	}
	if (io_read_file(AT_FDCWD, "/proc/self/mountinfo", 1 << 24, ret) < 0)
		return -EIO;
	only_groups(*ret);
	return 0;
}

int cgroup_texts_read(struct cgroup_texts *ret)
{
	struct cgroup_texts t;

	if (read_mounts(&t.mounts) < 0)
		return -EIO;
	if (io_read_file(AT_FDCWD, "/proc/self/cgroup", 1 << 20, &t.own) < 0) {
		free(t.mounts);
		return -EIO;
	}
	*ret = t;
	return 0;
}

void cgroup_texts_clear(struct cgroup_texts *t)
{
	free(t->mounts);
	free(t->own);
}

char *cgroup_own(const char *controller)
{
	struct cgroup_texts t;
	char *dir;

	if (!*controller && home)
		return xstrdup(home);
	if (cgroup_texts_read(&t) < 0)
		return NULL;
	dir = cgroup_locate(t.mounts, t.own, controller);
	cgroup_texts_clear(&t);
	return dir;
}

/* So many hierarchies have groups of capsules. */
enum { KNOWN_DIRS = 8 };

bool cgroup_writable(const char *dir)
{
	static char *known[KNOWN_DIRS];
	unsigned i = 0;

	for (; i < KNOWN_DIRS && known[i]; i++)
		if (!strcmp(known[i], dir))
			return true;
	if (access(dir, W_OK) < 0)
		return false;
	if (i < KNOWN_DIRS)
		known[i] = xstrdup(dir);
	return true;
}

/* ---- where a capsule's are to be ---- */

/* The own group of a hierarchy, if we may make groups in it. */
static char *writable(const struct cgroup_texts *t, const char *controller)
{
	char *dir = *controller ? cgroup_locate(t->mounts, t->own, controller)
				: cgroup_own("");

	if (dir && !cgroup_writable(dir)) {
		free(dir);
		dir = NULL;
	}
	return dir;
}

static char *add_dir(struct capsule_cgroup *cg, char *dir, const char *what,
		     bool whole)
{
	cg->what[cg->nr_dirs] = what;
	cg->dirs[cg->nr_dirs++] = dir;
	if (whole)
		cg->whole[cg->nr_whole++] = dir;
	return dir;
}

/* cgroup v2: NAME/run is frozen, init sits in NAME/init beside it. */
static void plan_v2(const char *base, const char *name,
		    struct capsule_cgroup *cg)
{
	cg->frozen =
		add_dir(cg, xasprintf("%s/%s/run", base, name), NULL, false);
	add_dir(cg, xasprintf("%s/%s/init", base, name), NULL, true);
	add_dir(cg, xasprintf("%s/%s", base, name), NULL, false);
	cg->kind = CGROUP_FREEZER_V2;
}

void cgroup_plan_v2(const char *base, const char *name,
		    struct capsule_cgroup *ret)
{
	*ret = (struct capsule_cgroup){ .join = -1, .state = -1 };
	plan_v2(base, name, ret);
}

/*
 * The group of that name at base, which takes its place, if there is one.  The agent makes it
 * (bounds.h): who does not find it is bound by nothing.
 */
static bool go_into(char **base, const char *guests, struct capsule_cgroup *cg)
{
	char *dir = *base && guests ? xasprintf("%s/%s", *base, guests) : NULL;

	if (!dir)
		return false;
	if (access(dir, W_OK) < 0) {
		log_debug("a guest is not bound: no group %s", dir);
		cg->missed[cg->nr_missed++] = dir;
		return false;
	}
	free(*base);
	*base = dir;
	return true;
}

void cgroup_forget_guests(struct capsule_cgroup *cg)
{
	while (cg->nr_joined)
		free(cg->joined[--cg->nr_joined]);
	while (cg->nr_missed)
		free(cg->missed[--cg->nr_missed]);
}

bool cgroup_is_as_planned(const struct capsule_cgroup *cg)
{
	bool is = true;

	for (unsigned i = 0; i < cg->nr_joined; i++)
		is &= !access(cg->joined[i], W_OK);
	for (unsigned i = 0; i < cg->nr_missed; i++)
		is &= access(cg->missed[i], W_OK) < 0;
	return is;
}

static void plan_joined(const struct cgroup_texts *t, const char *guests,
			struct capsule_cgroup *cg)
{
	static const char *const v1[] = { "cpuset", "blkio" };

	for (unsigned i = 0; i < 2; i++) {
		char *base = writable(t, v1[i]);

		if (go_into(&base, guests, cg))
			cg->joined[cg->nr_joined++] = base;
		else
			free(base);
	}
}

static void plan(const struct cgroup_texts *t, const char *name,
		 const char *guests, struct capsule_cgroup *cg)
{
	static const char *const v1[] = { "cpu", "memory", "pids" };
	char *base;

	for (unsigned i = 0; i < 3; i++) {
		base = writable(t, v1[i]);
		if (i == 1)
			go_into(&base, guests, cg);
		if (base)
			add_dir(cg, xasprintf("%s/%s", base, name), v1[i],
				true);
		free(base);
	}
	plan_joined(t, guests, cg);
	base = writable(t, "freezer");
	if (base) {
		cg->frozen = add_dir(cg, xasprintf("%s/%s", base, name),
				     "freezer", false);
		cg->kind = CGROUP_FREEZER_V1;
	} else if (!cg->nr_dirs && (base = writable(t, ""))) {
		cgroup_forget_guests(cg);
		go_into(&base, guests, cg);
		plan_v2(base, name, cg);
	}
	free(base);
}

int cgroup_plan(const char *name, const char *guests,
		struct capsule_cgroup *ret, struct error *err)
{
	struct capsule_cgroup cg = { .join = -1, .state = -1 };
	struct cgroup_texts t;

	if (!cgroup_texts_read(&t)) {
		plan(&t, name, guests, &cg);
		cgroup_texts_clear(&t);
	}
	*ret = cg;
	return 0;
}
