/*
 * fuzz_conf.c - any bytes as the configuration file of a daemon
 *
 * An even first byte: an agent's, an odd one: a controller's.  Names are not
 * looked up (--wrap, see meson.build).
 */
#include <assert.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "cluster/agent/agent.h"
#include "cluster/controller/controller.h"
#include "core/conf.h"
#include "core/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __real_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **res);
int __wrap_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **res);

int __wrap_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **res)
{
	struct addrinfo numeric = *hints;

	numeric.ai_flags |= AI_NUMERICHOST | AI_NUMERICSERV;
	return __real_getaddrinfo(node, service, &numeric, res);
}

static int set_agent(void *ctx, const char *section, const char *name,
		     const char *value, struct error *err)
{
	return agent_conf_set(ctx, name, value, err);
}

static int set_controller(void *ctx, const char *section, const char *name,
			  const char *value, struct error *err)
{
	return controller_conf_set(ctx, name, value, err);
}

/* What is wrong is said in one line. */
static void read_it(const char *path, conf_setting_fn set, void *conf)
{
	struct error err = ERROR_INIT;

	if (conf_read(path, set, conf, &err) < 0)
		assert(*err.text && !strchr(err.text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct controller_conf controller;
	struct agent_conf agent;
	char path[40];
	fd_auto fd = memfd_create("conf", MFD_CLOEXEC);

	if (!size || fd < 0 || io_write_full(fd, data + 1, size - 1) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (data[0] & 1) {
		controller_conf_init(&controller);
		read_it(path, set_controller, &controller);
		controller_conf_clear(&controller);
	} else {
		agent_conf_init(&agent);
		read_it(path, set_agent, &agent);
		agent_conf_clear(&agent);
	}
	return 0;
}
