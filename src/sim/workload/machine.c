/*
 * machine.c - reading "COUNTxALPHAxCORESxMEMORY,..."
 */
#include "sim/workload/machine.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "sim/workload/plain_host.h"
#include "sim/workload/platform.h"

struct kind {
	double count, alpha, cores;
	uint64_t memory;
};

/* A number in [min, max] at *at, which moves on. */
static bool number(const char **at, double min, double max, double *ret)
{
	char *end;

	/* All are at least 1; a 0 first would let strtod read hexadecimal. */
	if (!isdigit((unsigned char)**at) || **at == '0')
		return false;
	*ret = strtod(*at, &end);
	*at = end;
	return *ret >= min && *ret <= max;
}

/* A size up to the next kind, in as many characters as any has. */
static bool size(const char **at, uint64_t *ret)
{
	size_t length = strcspn(*at, ",");
	char text[32];
	bool good = length && length < sizeof(text);

	if (good) {
		memcpy(text, *at, length);
		text[length] = '\0';
		good = !parse_size(text, ret, NULL) && *ret;
		*at += length;
	}
	return good;
}

static bool parse_kind(const char **at, struct kind *k)
{
	*k = (struct kind){ .alpha = 1, .cores = 1 };
	if (!number(at, 1, PLAIN_HOSTS_MAX, &k->count))
		return false;
	if (**at == 'x' && (++*at, !number(at, 1, 1000, &k->alpha)))
		return false;
	if (**at == 'x' && (++*at, !number(at, 1, 65536, &k->cores)))
		return false;
	if (**at == 'x' && (++*at, !size(at, &k->memory)))
		return false;
	return k->count == (uint32_t)k->count && k->cores == (uint32_t)k->cores;
}

bool machine_is_file(const char *text)
{
	size_t n = strlen(text);

	return strchr(text, '/') || (n > 4 && !strcmp(text + n - 4, ".csv"));
}

int machine_parse(const char *text, struct host **ret, uint32_t *ret_n,
		  struct error *err)
{
	struct host *hosts = NULL;
	size_t n = 0, cap = 0;
	const char *at = text;
	struct kind k;

	if (machine_is_file(text))
		return platform_read(text, ret, ret_n, err);
	while (parse_kind(&at, &k) && n + k.count <= PLAIN_HOSTS_MAX) {
		for (uint32_t i = 0; i < k.count; i++) {
			array_room(hosts, n, &cap);
			hosts[n++] = plain_host("", k.alpha, (uint32_t)k.cores,
						k.memory);
		}
		if (!*at) {
			*ret = hosts;
			*ret_n = (uint32_t)n;
			return 0;
		}
		if (*at++ != ',')
			break;
	}
	free(hosts);
	return error_set(err, -EINVAL,
			 "hosts '%.60s': write COUNTxALPHA,... with ALPHA from "
			 "1 (fastest) to 1000, such as 5x1,25x4, or "
			 "COUNTxALPHAxCORESxMEMORY, such as 32x1x1x384M, or "
			 "name a file of stint-platform(5)",
			 text);
}

static bool alike(const struct host *a, const struct host *b)
{
	return a->speed == b->speed && a->cores == b->cores &&
	       a->memory == b->memory;
}

static void write_kind(const struct host *h, uint32_t count, FILE *to)
{
	char alpha[REAL_TEXT];

	fprintf(to, "%" PRIu32 "x%s", count, real_text(h->speed, alpha));
	if (h->cores > 1 || h->memory)
		fprintf(to, "x%" PRIu32, h->cores);
	if (h->memory)
		fprintf(to, "x%" PRIu64, h->memory);
}

int machine_text(const char *text, char **ret, struct error *err)
{
	struct host *hosts;
	uint32_t n, count;
	char *made = NULL;
	size_t size;
	FILE *f;
	int r = machine_parse(text, &hosts, &n, err);

	if (r < 0)
		return r;
	f = xmemstream(&made, &size);
	for (uint32_t i = 0; i < n; i += count) {
		for (count = 1; i + count < n; count++)
			if (!alike(&hosts[i], &hosts[i + count]))
				break;
		if (i)
			fputc(',', f);
		write_kind(&hosts[i], count, f);
	}
	if (fclose(f))
		abort(); /* out of memory */
	free(hosts);
	*ret = made;
	return 0;
}

int machine_check(const char *text, struct error *err)
{
	struct host *hosts;
	uint32_t n;
	int r = machine_parse(text, &hosts, &n, err);

	if (!r)
		free(hosts);
	return r;
}
