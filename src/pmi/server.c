/*
 * server.c - PMI-1 spoken with one rank: lines in, answers and events out
 *
 * The commands are those of MPICH's "simple" client; each answer is one line.
 * A table maps the command to its function, so the protocol can be read off it.
 */
#include "pmi/server.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/units.h"
#include "core/xalloc.h"
#include "pmi/line.h"

void pmi_out_append(struct pmi_server *s, const void *p, size_t n)
{
	while (s->cap_out < s->nr_out + n) {
		s->cap_out = s->cap_out ? 2 * s->cap_out : 256;
		s->out = xrealloc(s->out, s->cap_out);
	}
	memcpy(s->out + s->nr_out, p, n);
	s->nr_out += n;
}

__attribute__((format(printf, 2, 3))) static void answer(struct pmi_server *s,
							 const char *fmt, ...)
{
	char line[PMI_LINE_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	pmi_out_append(s, line, (size_t)n);
}

/* ---- the key-value space */

/* All that begins as PMI_BLOB_KEY does, but for the own rank's. */
static bool is_blob_of_another(const struct pmi_server *s, const char *key)
{
	char own[PMI_KEY_MAX];
	int n = snprintf(own, sizeof(own), PMI_BLOB_BEGIN, s->rank);

	return !strncmp(key, "blob.", 5) && strncmp(key, own, (size_t)n) != 0;
}

int pmi_kvs_set(struct pmi_server *s, const char *key, const char *value,
		uint64_t put, struct error *err)
{
	size_t nk = strlen(key), nv = strlen(value);
	struct pmi_entry *e;

	if (!nk || nk >= PMI_KEY_MAX || nv >= PMI_VALUE_MAX ||
	    strpbrk(key, " \t\r\n=") || strpbrk(value, " \t\r\n"))
		return error_set(err, -EPROTO, "PMI: bad key or value '%.40s'",
				 key);
	if (put && is_blob_of_another(s, key))
		return error_set(err, -EPROTO, "PMI: another rank's key '%s'",
				 key);
	HASH_FIND(hh, s->kvs, key, nk, e);
	if (!e && HASH_COUNT(s->kvs) >= PMI_ALL_MAX)
		return error_set(err, -E2BIG,
				 "PMI: its ranks have put more than %d keys",
				 PMI_ALL_MAX);
	if (!e) {
		e = xcalloc(1, sizeof(*e));
		memcpy(e->key, key, nk);
		HASH_ADD_KEYPTR(hh, s->kvs, e->key, nk, e);
	}
	memcpy(e->value, value, nv + 1);
	if (put) {
		s->nr_own += !e->put;
		s->nr_puts += put == 1 + s->generation && e->put != put;
		e->put = put;
	}
	return 0;
}

static const char *kvs_get(const struct pmi_server *s, const char *key)
{
	struct pmi_entry *e;

	HASH_FIND(hh, s->kvs, key, strlen(key), e);
	return e ? e->value : NULL;
}

/* ---- commands; line has already been cut */

static int do_init(struct pmi_server *s, const struct pmi_line *line,
		   struct error *err)
{
	const char *v = pmi_line_get(line, "pmi_version");

	if (!v || strcmp(v, "1")) {
		answer(s, "cmd=response_to_init pmi_version=1 "
			  "pmi_subversion=1 rc=-1\n");
		return 0;
	}
	s->phase = PMI_BEGUN;
	answer(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 "
		  "rc=0\n");
	return 0;
}

static int do_get_maxes(struct pmi_server *s, const struct pmi_line *line,
			struct error *err)
{
	answer(s, "cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d\n",
	       PMI_KVSNAME_MAX, PMI_KEY_MAX, PMI_VALUE_MAX);
	return 0;
}

static int do_get_universe_size(struct pmi_server *s,
				const struct pmi_line *line, struct error *err)
{
	answer(s, "cmd=universe_size size=%u\n", s->size);
	return 0;
}

static int do_get_my_kvsname(struct pmi_server *s, const struct pmi_line *line,
			     struct error *err)
{
	answer(s, "cmd=my_kvsname kvsname=%s\n", s->kvsname);
	return 0;
}

/* The space that a put or get means; there is one. */
static bool right_kvs(const struct pmi_server *s, const struct pmi_line *line)
{
	const char *name = pmi_line_get(line, "kvsname");

	return name && !strcmp(name, s->kvsname);
}

static int do_put(struct pmi_server *s, const struct pmi_line *line,
		  struct error *err)
{
	const char *key = pmi_line_get(line, "key");
	const char *value = pmi_line_get(line, "value");

	if (!right_kvs(s, line))
		answer(s, "cmd=put_result rc=-1 msg=kvs_not_found\n");
	else if (s->nr_puts >= PMI_PUTS_MAX || s->nr_own >= PMI_KEYS_MAX)
		answer(s, "cmd=put_result rc=-1 msg=too_many_puts\n");
	else if (!key || !value ||
		 pmi_kvs_set(s, key, value, 1 + s->generation, NULL) < 0)
		answer(s, "cmd=put_result rc=-1 msg=bad_key_or_value\n");
	else
		answer(s, "cmd=put_result rc=0 msg=success\n");
	return 0;
}

static int do_get(struct pmi_server *s, const struct pmi_line *line,
		  struct error *err)
{
	const char *key = pmi_line_get(line, "key");
	const char *value = NULL;
	char mapping[48];

	if (key && right_kvs(s, line))
		value = kvs_get(s, key);
	/* One rank to a node, so that no two look for shared memory. */
	if (key && !strcmp(key, "PMI_process_mapping")) {
		snprintf(mapping, sizeof(mapping), "(vector,(0,%u,1))",
			 s->size);
		value = mapping;
	}
	if (value)
		answer(s, "cmd=get_result rc=0 msg=success value=%s\n", value);
	else
		answer(s, "cmd=get_result rc=-1 msg=key_not_found "
			  "value=unknown\n");
	return 0;
}

/* What that rank has put under PMI_BLOB_KEY; "+" before a piece: more follow. */
static void tell_blob(struct pmi_server *s, uint32_t rank)
{
	char key[PMI_KEY_MAX];
	const char *value = "+";

	for (unsigned part = 0; *value == '+'; part++) {
		snprintf(key, sizeof(key), PMI_BLOB_KEY, rank, part);
		value = kvs_get(s, key);
		if (!value)
			return;
		answer(s, "cmd=blob value=%s\n", value + !!*value);
	}
}

static void barrier_out(struct pmi_server *s)
{
	if (s->wants_blobs)
		for (uint32_t rank = 0; rank < s->size; rank++)
			tell_blob(s, rank);
	answer(s, "cmd=%s_out rc=0\n", s->wants_blobs ? "fence" : "barrier");
	s->waits = s->wants_blobs = false;
	s->generation++;
	s->nr_puts = 0;
}

static int enter_barrier(struct pmi_server *s, bool wants_blobs,
			 struct error *err)
{
	if (s->waits)
		return error_set(err, -EPROTO,
				 "PMI: a barrier inside a barrier");
	s->wants_blobs = wants_blobs;
	if (s->size == 1) {
		barrier_out(s);
		return 0;
	}
	s->waits = true;
	pmi_server_refence(s);
	return 0;
}

static int do_barrier_in(struct pmi_server *s, const struct pmi_line *line,
			 struct error *err)
{
	return enter_barrier(s, false, err);
}

static int do_fence_in(struct pmi_server *s, const struct pmi_line *line,
		       struct error *err)
{
	return enter_barrier(s, true, err);
}

static int do_finalize(struct pmi_server *s, const struct pmi_line *line,
		       struct error *err)
{
	s->phase = PMI_OVER;
	answer(s, "cmd=finalize_ack rc=0\n");
	return 0;
}

static int do_abort(struct pmi_server *s, const struct pmi_line *line,
		    struct error *err)
{
	const char *text = pmi_line_get(line, "error_msg");
	const char *code = pmi_line_get(line, "exitcode");
	int64_t n = 1;

	if (code &&
	    parse_int(code, INT32_MIN, INT32_MAX, "exitcode", &n, NULL) < 0)
		n = 1;
	s->exchange->abort(s->ctx, (int)n, text ? text : "");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct pmi_server *s, const struct pmi_line *line,
		   struct error *err);
	const char *answer; /* where there is nothing to run */
} commands[] = {
	{ "init", do_init, NULL },
	{ "get_maxes", do_get_maxes, NULL },
	{ "get_appnum", NULL, "cmd=appnum appnum=0" },
	{ "get_universe_size", do_get_universe_size, NULL },
	{ "get_my_kvsname", do_get_my_kvsname, NULL },
	{ "put", do_put, NULL },
	{ "get", do_get, NULL },
	{ "barrier_in", do_barrier_in, NULL },
	{ "fence_in", do_fence_in, NULL },
	{ "finalize", do_finalize, NULL },
	{ "abort", do_abort, NULL },
	/* not offered */
	{ "create_kvs", NULL, "cmd=newkvs rc=-1 msg=not_supported" },
	{ "destroy_kvs", NULL, "cmd=kvs_destroyed rc=-1 msg=not_supported" },
	{ "getbyidx", NULL, "cmd=getbyidx_results rc=-1 reason=not_supported" },
	{ "publish_name", NULL, "cmd=publish_result rc=1 info=not_supported" },
	{ "unpublish_name", NULL,
	  "cmd=unpublish_result rc=1 info=not_supported" },
	{ "lookup_name", NULL, "cmd=lookup_result rc=1 info=not_supported" },
};

/*
 * The answer to a fence may be megabytes: a rank that sends another command must
 * have read it.
 */
static int check_taken(const struct pmi_server *s, struct error *err)
{
	if (s->nr_out <= PMI_UNTAKEN_MAX)
		return 0;
	return error_set(
		err, -EPROTO,
		"PMI: the rank keeps asking without reading the answers");
}

static int run_command(struct pmi_server *s, const struct pmi_line *line,
		       struct error *err)
{
	const char *cmd = pmi_line_get(line, "cmd");
	int r;

	if (!cmd)
		return error_set(err, -EPROTO, "PMI: a line without cmd=");
	r = strcmp(cmd, "abort") ? check_taken(s, err) : 0;
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(cmd, commands[i].name))
			continue;
		if (commands[i].run)
			return commands[i].run(s, line, err);
		answer(s, "%s\n", commands[i].answer);
		return 0;
	}
	return error_set(err, -EPROTO, "PMI: unknown command '%.40s'", cmd);
}

/*
 * A command of several lines: "mcmd=spawn", one key=value a line whose value
 * may hold anything, "endcmd".  Only spawn is one, and it is refused.
 */
static int run_line(struct pmi_server *s, char *text, struct error *err)
{
	struct pmi_line line;
	int r;

	if (s->in_mcmd) {
		if (!strcmp(text, "endcmd")) {
			s->in_mcmd = false;
			answer(s, "cmd=spawn_result rc=-1 "
				  "errmsg=spawn_not_supported\n");
		}
		return 0;
	}
	if (!strncmp(text, "mcmd=", 5)) {
		s->in_mcmd = true;
		return check_taken(s, err);
	}
	r = pmi_line_parse(text, &line, err);
	return r < 0 || !line.nr ? r : run_command(s, &line, err);
}

int pmi_server_feed(struct pmi_server *s, const void *p, size_t n,
		    struct error *err)
{
	const char *in = p;
	int r = s->broken ? error_set(err, -EPROTO, "PMI: out of step") : 0;

	for (size_t i = 0; i < n && !r; i++) {
		if (in[i] != '\n' && in[i]) {
			if (s->nr_in == sizeof(s->in) - 1)
				r = error_set(err, -EPROTO,
					      "PMI: line over %d bytes",
					      PMI_LINE_MAX);
			else
				s->in[s->nr_in++] = in[i];
		} else if (in[i]) {
			s->in[s->nr_in] = '\0';
			s->nr_in = 0;
			r = run_line(s, s->in, err);
		} else {
			r = error_set(err, -EPROTO, "PMI: a NUL in a line");
		}
	}
	s->broken = r < 0;
	return r;
}

/* ---- the rest of the life of a server */

int pmi_server_create(uint32_t rank, uint32_t size, const char *kvsname,
		      const struct pmi_exchange *exchange, void *ctx,
		      struct pmi_server **ret, struct error *err)
{
	struct pmi_server *s;

	if (!size || size > PMI_SIZE_MAX || rank >= size)
		return error_set(err, -EINVAL, "PMI: no rank %u of %u", rank,
				 size);
	if (!*kvsname || strlen(kvsname) >= PMI_KVSNAME_MAX ||
	    strpbrk(kvsname, " \t\r\n="))
		return error_set(err, -EINVAL, "PMI: bad name '%.40s'",
				 kvsname);
	s = xcalloc(1, sizeof(*s));
	s->rank = rank;
	s->size = size;
	memcpy(s->kvsname, kvsname, strlen(kvsname) + 1);
	s->exchange = exchange;
	s->ctx = ctx;
	*ret = s;
	return 0;
}

void pmi_server_destroy(struct pmi_server *s)
{
	struct pmi_entry *e, *next;

	if (!s)
		return;
	HASH_ITER (hh, s->kvs, e, next) {
		HASH_DEL(s->kvs, e);
		free(e);
	}
	free(s->out);
	free(s);
}

const void *pmi_server_output(const struct pmi_server *s, size_t *ret_n)
{
	*ret_n = s->nr_out;
	return s->out;
}

void pmi_server_sent(struct pmi_server *s, size_t n)
{
	if (!n)
		return; /* also of nothing that was ever said */
	memmove(s->out, s->out + n, s->nr_out - n);
	s->nr_out -= n;
}

int pmi_server_release(struct pmi_server *s, uint64_t generation,
		       const struct pmi_put *puts, size_t n, bool more,
		       struct error *err)
{
	int r;

	if (!s->waits || generation != s->generation)
		return 0;
	for (size_t i = 0; i < n; i++) {
		r = pmi_kvs_set(s, puts[i].key, puts[i].value, 0, err);
		if (r < 0)
			return r;
	}
	if (!more)
		barrier_out(s);
	return 0;
}

void pmi_server_refence(struct pmi_server *s)
{
	struct pmi_put *puts;
	struct pmi_entry *e, *next;
	size_t n = 0;

	if (!s->waits)
		return;
	puts = xcalloc(s->nr_puts + 1, sizeof(*puts));
	HASH_ITER (hh, s->kvs, e, next) {
		if (e->put != 1 + s->generation)
			continue;
		puts[n++] = (struct pmi_put){ e->key, e->value };
	}
	s->exchange->fence(s->ctx, s->generation, puts, n);
	free(puts);
}

enum pmi_phase pmi_server_phase(const struct pmi_server *s)
{
	return s->phase;
}

uint64_t pmi_server_generation(const struct pmi_server *s, bool *ret_waits)
{
	if (ret_waits)
		*ret_waits = s->waits;
	return s->generation;
}
