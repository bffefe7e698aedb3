/* fake_logind.c - a logind that is played by hand, see fake_logind.h */
#include "cluster/owner/fake_logind.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cluster/owner/play.h"
#include "core/test_fork.h"
#include "core/xalloc.h"

struct fake_logind fake_logind;
static pid_t daemon_pid;

/* ---- the bus */

void fake_start_bus(void)
{
	char *address = xasprintf("unix:path=%s/bus", play_dir);
	char *option = xasprintf("--address=%s", address), c;
	int ready[2];

	assert_int_equal(pipe2(ready, 0), 0);
	daemon_pid = fork_to_end_with();
	if (!daemon_pid) {
		dup2(ready[1], 3);
		execlp("dbus-daemon", "dbus-daemon", "--session", "--nofork",
		       option, "--print-address=3", NULL);
		perror("dbus-daemon (of the package dbus-daemon)");
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	setenv("DBUS_SYSTEM_BUS_ADDRESS", address, 1);
	free(option);
	free(address);
}

void fake_stop_bus(void)
{
	if (!daemon_pid)
		return;
	kill(daemon_pid, SIGKILL);
	waitpid(daemon_pid, NULL, 0);
	daemon_pid = 0;
}

/* ---- logind */

char *fake_session_path(int i)
{
	return xasprintf(FAKE_OBJECT "/session/_3%d", i);
}

static int answer_list(sd_bus_message *m)
{
	sd_bus_message *r = NULL;
	char id[8], *path;

	fake_logind.lists++;
	assert_true(sd_bus_message_new_method_return(m, &r) >= 0);
	sd_bus_message_open_container(r, 'a', "(susso)");
	for (int i = 0; i < FAKE_SESSIONS; i++) {
		if (!fake_logind.session[i].there)
			continue;
		path = fake_session_path(i);
		snprintf(id, sizeof(id), "%d", i);
		assert_true(sd_bus_message_append(r, "(susso)", id, 1000 + i,
						  fake_logind.session[i].user,
						  "seat0", path) >= 0);
		free(path);
	}
	sd_bus_message_close_container(r);
	sd_bus_send(NULL, r, NULL);
	sd_bus_message_unref(r);
	return 1;
}

/* A property of some name, of some type. */
void fake_append_lie(sd_bus_message *m)
{
	static const char *const names[] = {
		"IdleHint", "LockedHint",
		"Type",	    "Class",
		"State",    "TTY",
		"Remote",   "Seat",
		"x",	    "IdleSinceHintMonotonic"
	};
	const char *name = names[random_below(fake_logind.lies, 10)];

	switch (random_below(fake_logind.lies, 6)) {
	case 0:
		sd_bus_message_append(m, "{sv}", name, "b",
				      (int)random_below(fake_logind.lies, 2));
		break;
	case 1:
		sd_bus_message_append(m, "{sv}", name, "s",
				      random_below(fake_logind.lies, 2)
					      ? "user"
					      : "../../\x1b[2J");
		break;
	case 2:
		sd_bus_message_append(m, "{sv}", name, "t",
				      random_bits(fake_logind.lies));
		break;
	case 3:
		sd_bus_message_append(m, "{sv}", name, "(so)", "a", "/b");
		break;
	case 4:
		sd_bus_message_append(m, "{sv}", name, "as", 2, "a", "b");
		break;
	default:
		sd_bus_message_append(m, "{sv}", name, "v", "i", 7);
	}
}

static void append_session(sd_bus_message *m, const struct fake_session *f)
{
	sd_bus_message_open_container(m, 'a', "{sv}");
	if (f->mad)
		sd_bus_message_append(m, "{sv}", "IdleHint", "s", "perhaps");
	else if (fake_logind.lies && random_below(fake_logind.lies, 2))
		for (unsigned n = random_below(fake_logind.lies, 4); n; n--)
			fake_append_lie(m);
	else
		sd_bus_message_append(
			m, "{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}", "Class", "s",
			"user", "Type", "s", f->type, "TTY", "s", f->tty,
			"State", "s", "active", "Seat", "(so)", "seat0", "/",
			"IdleHint", "b", (int)f->idle, "LockedHint", "b",
			(int)f->locked, "Remote", "b", (int)f->remote);
	sd_bus_message_close_container(m);
}

static const struct fake_session *fake_at(const char *path)
{
	const char *end = strstr(path, "/_3");
	int i = end ? end[3] - '0' : -1;

	return i >= 0 && i < FAKE_SESSIONS && fake_logind.session[i].there
		       ? &fake_logind.session[i]
		       : NULL;
}

static int answer_properties(sd_bus_message *m)
{
	const struct fake_session *f = fake_at(sd_bus_message_get_path(m));
	sd_bus_message *r = NULL;

	if (strcmp(sd_bus_message_get_path(m), FAKE_OBJECT)) {
		if (!f)
			return sd_bus_reply_method_errorf(
				m, FAKE_LOGIND ".NoSuchSession", "gone");
		if (f->refuses)
			return sd_bus_reply_method_errorf(
				m, SD_BUS_ERROR_ACCESS_DENIED, "no");
	}
	assert_true(sd_bus_message_new_method_return(m, &r) >= 0);
	if (f)
		append_session(r, f);
	else
		sd_bus_message_append(r, "a{sv}", 2, "PreparingForShutdown",
				      "b", (int)fake_logind.ends,
				      "InhibitDelayMaxUSec", "t",
				      (uint64_t)FAKE_DELAY);
	sd_bus_send(NULL, r, NULL);
	sd_bus_message_unref(r);
	return 1;
}

static sd_bus_message *late; /* it asked for an inhibitor */

static int answer_inhibit(sd_bus_message *m)
{
	int p[2], r;

	if (fake_logind.inhibits_not)
		return sd_bus_reply_method_errorf(
			m, FAKE_LOGIND ".OperationInProgress", "not now");
	assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	if (fake_logind.inhibited >= 0)
		close(fake_logind.inhibited);
	fake_logind.inhibited = p[0];
	r = sd_bus_reply_method_return(m, "h", p[1]);
	close(p[1]);
	return r;
}

static int take_inhibit(sd_bus_message *m)
{
	fake_logind.inhibits++;
	if (!fake_logind.inhibits_late)
		return answer_inhibit(m);
	sd_bus_message_unref(late);
	late = sd_bus_message_ref(m);
	return 1;
}

bool fake_inhibits(void)
{
	if (!late)
		return false;
	assert_true(answer_inhibit(late) >= 0);
	late = sd_bus_message_unref(late);
	return true;
}

static int on_call(sd_bus_message *m, void *ctx, sd_bus_error *err)
{
	uint8_t type;

	if (sd_bus_message_get_type(m, &type) < 0 ||
	    type != SD_BUS_MESSAGE_METHOD_CALL || fake_logind.silent)
		return fake_logind.silent;
	if (sd_bus_message_is_method_call(m, NULL, "ListSessions"))
		return answer_list(m);
	if (sd_bus_message_is_method_call(m, NULL, "GetAll"))
		return answer_properties(m);
	if (sd_bus_message_is_method_call(m, NULL, "Inhibit"))
		return take_inhibit(m);
	return 0;
}

void fake_logind_comes(void)
{
	char *address = xasprintf("unix:path=%s/bus", play_dir);

	assert_true(sd_bus_new(&fake_logind.bus) >= 0);
	assert_true(sd_bus_set_address(fake_logind.bus, address) >= 0);
	assert_true(sd_bus_set_bus_client(fake_logind.bus, true) >= 0);
	assert_true(sd_bus_negotiate_fds(fake_logind.bus, true) >= 0);
	assert_true(sd_bus_start(fake_logind.bus) >= 0);
	assert_true(sd_bus_add_filter(fake_logind.bus, NULL, on_call, NULL) >=
		    0);
	assert_true(sd_bus_request_name(fake_logind.bus, FAKE_LOGIND, 0) >= 0);
	assert_true(sd_bus_attach_event(fake_logind.bus, play_event, 0) >= 0);
	free(address);
}

void fake_logind_goes(void)
{
	late = sd_bus_message_unref(late);
	if (fake_logind.bus) {
		sd_bus_flush(fake_logind.bus);
		sd_bus_detach_event(fake_logind.bus);
	}
	fake_logind.bus = sd_bus_close_unref(fake_logind.bus);
}

void fake_emit(const char *member, const char *types, ...)
{
	sd_bus_message *m = NULL;
	va_list ap;

	va_start(ap, types);
	assert_true(sd_bus_message_new_signal(fake_logind.bus, &m, FAKE_OBJECT,
					      FAKE_LOGIND ".Manager",
					      member) >= 0);
	assert_true(sd_bus_message_appendv(m, types, ap) >= 0);
	assert_true(sd_bus_send(fake_logind.bus, m, NULL) >= 0);
	sd_bus_message_unref(m);
	va_end(ap);
}

void fake_session_comes(int i, const char *user, const char *type)
{
	char *path = fake_session_path(i), id[8];

	snprintf(id, sizeof(id), "%d", i);
	fake_logind.session[i] = (struct fake_session){
		.there = true, .user = user, .type = type, .tty = ""
	};
	if (fake_logind.bus)
		fake_emit("SessionNew", "so", id, path);
	free(path);
}

void fake_session_goes(int i)
{
	char *path = fake_session_path(i), id[8];

	snprintf(id, sizeof(id), "%d", i);
	fake_logind.session[i].there = false;
	fake_emit("SessionRemoved", "so", id, path);
	free(path);
}

static void signal_change(const char *path, const char *interface,
			  const char *name, bool value)
{
	sd_bus_message *m = NULL;

	assert_true(sd_bus_message_new_signal(fake_logind.bus, &m, path,
					      "org.freedesktop.DBus.Properties",
					      "PropertiesChanged") >= 0);
	assert_true(sd_bus_message_append(m, "sa{sv}as", interface, 1, name,
					  "b", (int)value, 0) >= 0);
	assert_true(sd_bus_send(fake_logind.bus, m, NULL) >= 0);
	sd_bus_message_unref(m);
}

/* Signals that this property of a session is so, whatever it is. */
void fake_session_changes(int i, const char *name, bool value)
{
	char *path = fake_session_path(i);

	signal_change(path, FAKE_LOGIND ".Session", name, value);
	free(path);
}

void fake_manager_changes(const char *name, bool value)
{
	signal_change(FAKE_OBJECT, FAKE_LOGIND ".Manager", name, value);
}
