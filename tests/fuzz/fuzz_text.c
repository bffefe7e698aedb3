/*
 * fuzz_text.c - any text as each of the small things that are read from
 * command lines, key files, records and procfs
 *
 * Whatever a parser does not take it must say in one line.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/capsule/record.h"
#include "cluster/conn/keys.h"
#include "core/procstat.h"
#include "core/tls.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "model/record.h"
#include "net/net.h"
#include "pmi/line.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool said(int r, struct error *err)
{
	assert(r >= 0 || (*err->text && !strchr(err->text, '\n')));
	*err = (struct error)ERROR_INIT;
	return r >= 0;
}

static void numbers(const char *text)
{
	struct error err = ERROR_INIT;
	int64_t n;
	usec_t t;

	if (said(parse_usec(text, &t, &err), &err))
		assert(t >= 0);
	if (said(parse_int(text, -5, 500, "number", &n, &err), &err))
		assert(n >= -5 && n <= 500);
}

static void addresses(const char *text)
{
	struct error err = ERROR_INIT;
	struct in_addr addr;
	unsigned prefix;

	if (said(net_parse_cidr(text, &addr, &prefix, &err), &err))
		assert(prefix <= 32);
}

static void key(const char *text)
{
	struct error err = ERROR_INIT;
	struct tls_key k, again;
	char line[TLS_KEY_LINE];
	const char *name;

	(void)role_of(text, &name);
	if (!said(tls_key_parse(text, &k, &err), &err))
		return;
	tls_key_format(&k, line, sizeof(line));
	assert(!tls_key_parse(line, &again, NULL));
	assert(!strcmp(k.identity, again.identity) &&
	       !memcmp(k.secret, again.secret, sizeof(k.secret)));
}

static void records(const uint8_t *data, size_t size)
{
	struct record_line line = { 0 };
	struct capsule_record capsule = { 0 };
	struct pmi_line words;
	struct procstat stat;
	struct error err = ERROR_INIT;
	char *text = fuzz_text(data, size);

	if (!record_parse(text, &capsule))
		record_clear(&capsule);
	(void)!procstat_parse(text, &stat);
	said(record_line_parse(text, &line, &err), &err);
	record_line_clear(&line);
	free(text);
	text = fuzz_text(data, size);
	if (said(pmi_line_parse(text, &words, &err), &err))
		assert(words.nr <= PMI_WORDS_MAX);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	numbers(text);
	addresses(text);
	key(text);
	free(text);
	records(data, size);
	return 0;
}
