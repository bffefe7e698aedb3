/*
 * quiet.c - state that is asked for seldom, and would be missed in silence
 *
 * UDP sockets shut down for sending or receiving, connected or not; owner,
 * permissions and times of a deleted file and of a memfd; a memfd that holds a
 * program, which may be executed as long as nobody has it open for writing.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

#define OTHER 12345 /* user and group */

static int connected, bound, closed, deleted, foreign, program;
static const struct timespec times[] = { { 1000000000, 123456789 },
					 { 1100000000, 987654321 } };

static int udp(bool connects, int how)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	CHECK(bind(fd, (void *)&at, sizeof(at)) == 0);
	at.sin_port = htons(9);
	if (connects)
		CHECK(connect(fd, (void *)&at, sizeof(at)) == 0);
	CHECK((shutdown(fd, how) == 0) == connects);
	return fd;
}

static int make_deleted(const char *name)
{
	int fd = open(check_path(name), O_CREAT | O_RDWR, 0600);

	CHECK(fd >= 0 && unlink(check_path(name)) == 0);
	check_write(fd, "content", 7);
	CHECK(fchmod(fd, 0751) == 0);
	return fd;
}

static int make_program(void)
{
	int from = open("/bin/true", O_RDONLY | O_CLOEXEC),
	    fd = memfd_create("program", MFD_CLOEXEC);
	char buf[4096];
	ssize_t n;

	CHECK(from >= 0 && fd >= 0);
	while ((n = read(from, buf, sizeof(buf))) > 0)
		check_write(fd, buf, (size_t)n);
	close(from);
	return fd;
}

static void look_at_udp(void)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(9),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char byte;

	CHECK(send(connected, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
	CHECK(sendto(bound, "x", 1, MSG_NOSIGNAL, (void *)&to, sizeof(to)) <
		      0 &&
	      errno == EPIPE);
	CHECK(recv(closed, &byte, 1, 0) == 0); /* would wait for ever */
}

static void look_at_file(int fd, uid_t owner, mode_t mode)
{
	struct stat st;

	CHECK(fstat(fd, &st) == 0);
	CHECK((st.st_mode & 07777) == mode, "mode %o", st.st_mode);
	CHECK(st.st_uid == owner && st.st_gid == owner, "owner %u:%u",
	      st.st_uid, st.st_gid);
	CHECK(!memcmp(&st.st_atim, &times[0], sizeof(*times)) &&
		      !memcmp(&st.st_mtim, &times[1], sizeof(*times)),
	      "times %lld %lld", (long long)st.st_atim.tv_sec,
	      (long long)st.st_mtim.tv_sec);
}

static void execute(void)
{
	char *argv[] = { (char[]){ "program" }, NULL };
	int status;
	pid_t child = fork();

	if (child == 0) {
		fexecve(program, argv, argv + 1);
		_exit(errno);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
	errno = WEXITSTATUS(status);
	CHECK(errno == 0, "fexecve");
}

int main(void)
{
	connected = udp(true, SHUT_WR);
	bound = udp(false, SHUT_WR);
	closed = udp(true, SHUT_RD);
	deleted = make_deleted("deleted");
	foreign = make_deleted("foreign");
	if (getuid() == 0)
		CHECK(fchown(foreign, OTHER, OTHER) == 0);
	CHECK(fchmod(foreign, 04751) ==
	      0); /* which a later chown would clear */
	CHECK(futimens(deleted, times) == 0 && futimens(foreign, times) == 0);
	program = make_program();
	check_ready();
	while (check_running()) {
		look_at_udp();
		check_nap();
	}
	if (check_sabotaged())
		CHECK(fchmod(deleted, 0700) == 0);
	look_at_file(deleted, getuid(), 0751);
	look_at_file(foreign, getuid() ? getuid() : OTHER, 04751);
	execute();
	return check_pass();
}
