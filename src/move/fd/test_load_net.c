/*
 * test_load_net.c - a switch, a peer and two hosts in network namespaces
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_bridge.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/test_fork.h"
#include "move/fd/test_load.h"

static int nets[LOAD_NETS], control = -1;
static unsigned ports[LOAD_NETS];

void load_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* Run ip(8) with these words in that namespace (-1: in the present one). */
__attribute__((format(printf, 2, 3))) static void ip(int net, const char *fmt,
						     ...)
{
	char text[256], *argv[32] = { (char *)"ip" }, *save = NULL;
	int n = 1, status;
	va_list ap;
	pid_t pid;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *w = strtok_r(text, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	pid = fork_to_end_with();
	if (pid == 0) {
		if (net >= 0)
			load_net_enter(net);
		execvp("ip", argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		load_die(argv[2]);
}

static void write_rto(int net, int rto_min_us)
{
	pid_t pid = fork_to_end_with();
	char text[16];
	int fd;

	if (pid == 0) {
		load_net_enter(net);
		fd = open("/proc/sys/net/ipv4/tcp_rto_min_us", O_WRONLY);
		snprintf(text, sizeof(text), "%d", rto_min_us);
		_exit(write(fd, text, strlen(text)) < 0);
	}
	waitpid(pid, NULL, 0);
}

static void make_net(int i, int rto_min_us)
{
	int host = i == LOAD_PEER ? 1 : 2, ready[2];
	char path[64], byte;
	pid_t pid;

	if (pipe(ready) < 0)
		load_die("pipe");
	pid = fork_to_end_with();
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0 || write(ready[1], "x", 1) < 0)
			_exit(1);
		pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		load_die("unshare");
	close(ready[0]);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	nets[i] = open(path, O_RDONLY | O_CLOEXEC);
	if (nets[i] < 0)
		load_die(path);
	ip(-1, "link add v%d type veth peer name eth0 netns %d", i, (int)pid);
	ip(-1, "link set v%d up", i);
	ip(i, "link set lo up");
	ip(i, "link set eth0 address 02:00:00:00:00:0%d", host);
	ip(i, "addr add 10.77.0.%d/24 dev eth0", host);
	ip(i, "-6 addr add fd77::%d/64 dev eth0 nodad", host);
	ip(i, "link set eth0 up");
	if (rto_min_us)
		write_rto(i, rto_min_us);
	snprintf(path, sizeof(path), "v%d", i);
	ports[i] = if_nametoindex(path);
}

void load_net_create(int rto_min_us)
{
	if (unshare(CLONE_NEWNET) < 0)
		load_die("unshare");
	control = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ip(-1, "link add br0 type bridge");
	ip(-1, "link set br0 up");
	for (int i = 0; i < LOAD_NETS; i++)
		make_net(i, rto_min_us);
	load_net_plug(LOAD_PEER, true);
}

void load_net_enter(int net)
{
	if (setns(nets[net], CLONE_NEWNET) < 0)
		load_die("setns");
}

void load_net_plug(int net, bool on)
{
	struct ifreq ifr = { .ifr_name = "br0" };

	ifr.ifr_ifindex = (int)ports[net];
	if (ioctl(control, on ? SIOCBRADDIF : SIOCBRDELIF, &ifr) < 0)
		load_die("plug");
}
