/* cpuclock.c - CPU clocks that go on at the destination; see cpuclock.h */
#include "move/tracee/cpuclock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "core/clock.h"
#include "core/units.h"
#include "core/xalloc.h"
#include "move/proc/proc.h"
#include "move/tracee/vdso.h"
#include "move/wire/append.h"

#define SITES_MOST 4
/* The end is left to tracee_call(); and some distance to what is there. */
#define TAIL	   192
#define DISTANCE   64

extern const char cpuclock_begin[], cpuclock_table[], cpuclock_back[],
	cpuclock_end[];

struct entry {
	uint32_t id, unused;
	uint64_t sec, nsec;
};

/* Code for each site follows, then the table, which ends with an id of 0. */
struct head {
	char magic[8];
	uint32_t site[SITES_MOST]; /* offsets; 0: no more */
};

static const char magic[8] = "STNTCPU1";
static const uint8_t call[] = { 0xb8, 0xe4, 0, 0, 0, 0x0f, 0x05 };
#define JUMP_SIZE 5

static size_t code_size(void)
{
	return (size_t)(cpuclock_end - cpuclock_begin);
}

static size_t round_up(size_t n)
{
	return (n + 15) & ~(size_t)15;
}

/* Where it asks the kernel for a clock; 0: nowhere, or too often. */
static size_t find_sites(const uint8_t *image, size_t n, uint32_t *ret)
{
	size_t nr = 0;

	for (size_t i = 1; i + sizeof(call) <= n; i++) {
		if (memcmp(image + i, call, sizeof(call)) != 0)
			continue;
		if (nr == SITES_MOST)
			return 0;
		ret[nr++] = (uint32_t)i;
	}
	return nr;
}

static void put_jump(uint8_t *at, size_t from, size_t to)
{
	int32_t by = (int32_t)(to - from - JUMP_SIZE);

	*at = 0xe9;
	memcpy(at + 1, &by, sizeof(by));
}

static void put_code(uint8_t *image, size_t at, uint32_t site, size_t table)
{
	size_t lea = (size_t)(cpuclock_table - cpuclock_begin);
	size_t jump = (size_t)(cpuclock_back - cpuclock_begin) - 1;
	int32_t by = (int32_t)(table - (at + lea + sizeof(by)));

	memcpy(image + at, cpuclock_begin, code_size());
	memcpy(image + at + lea, &by, sizeof(by));
	put_jump(image + at + jump, at + jump, site + sizeof(call));
	/*
	 * the system call behind it stays, for threads that are about to make
	 * it
	 */
	put_jump(image + site, site, at);
}

static size_t used(const uint8_t *image, size_t n)
{
	while (n && !image[n - 1])
		n--;
	return n;
}

size_t cpuclock_patch(uint8_t *image, size_t n, const struct cpuclock *c,
		      size_t nr)
{
	struct head h = { 0 };
	size_t at = round_up(used(image, n) + DISTANCE), room, table;
	size_t sites = find_sites(image, n, h.site);

	table = at + sizeof(h) + sites * round_up(code_size());
	if (!sites || n < TAIL || table + 2 * sizeof(struct entry) > n - TAIL)
		return 0;
	room = (n - TAIL - table) / sizeof(struct entry) - 1;
	nr = nr < room ? nr : room;
	memcpy(h.magic, magic, sizeof(magic));
	memcpy(image + at, &h, sizeof(h));
	for (size_t i = 0; i < nr; i++) {
		struct timespec t = clock_timespec(c[i].nsec);
		struct entry e = { c[i].id, 0, (uint64_t)t.tv_sec,
				   (uint64_t)t.tv_nsec };

		memcpy(image + table + i * sizeof(e), &e, sizeof(e));
	}
	for (size_t i = 0; i < sites; i++)
		put_code(image, at + sizeof(h) + i * round_up(code_size()),
			 h.site[i], table);
	return nr;
}

static size_t find_head(const uint8_t *image, size_t n)
{
	for (size_t at = 16; at + sizeof(struct head) + TAIL <= n; at += 16)
		if (!memcmp(image + at, magic, sizeof(magic)))
			return at;
	return 0;
}

static size_t read_table(const uint8_t *p, size_t n, struct cpuclock *ret)
{
	struct entry e;
	size_t nr = 0;

	for (; n >= sizeof(e) && nr < CPUCLOCK_MOST; n -= sizeof(e)) {
		memcpy(&e, p, sizeof(e));
		if (!e.id)
			break;
		/* a hundred years on a thousand processors */
		ret[nr].nsec =
			e.sec < INT64_MAX / 2000000000 && e.nsec < NSEC_PER_SEC
				? (int64_t)(e.sec * NSEC_PER_SEC + e.nsec)
				: 0;
		ret[nr++].id = e.id;
		p += sizeof(e);
	}
	return nr;
}

size_t cpuclock_unpatch(uint8_t *image, size_t n, struct cpuclock *ret)
{
	size_t at = find_head(image, n), sites = 0, table, nr = 0;
	struct head h;

	if (!at)
		return 0;
	memcpy(&h, image + at, sizeof(h));
	for (; sites < SITES_MOST && h.site[sites]; sites++)
		if (h.site[sites] <= n - sizeof(call) &&
		    image[h.site[sites]] == 0xe9)
			memcpy(image + h.site[sites], call, sizeof(call));
	table = at + sizeof(h) + sites * round_up(code_size());
	if (table < n - TAIL)
		nr = read_table(image + table, n - TAIL - table, ret);
	memset(image + at, 0, n - TAIL - at);
	return nr;
}

/* 0: the kernel lends it none. */
static uint64_t auxv_vdso(const Move__State *s)
{
	uint64_t pair[2];

	for (size_t i = 0; i + sizeof(pair) <= s->auxv.len; i += sizeof(pair)) {
		memcpy(pair, s->auxv.data + i, sizeof(pair));
		if (pair[0] == AT_SYSINFO_EHDR)
			return pair[1];
	}
	return 0;
}

void cpuclock_find(pid_t pid, Move__State *s)
{
	struct vma_list maps = { 0 };
	const struct vma *v = NULL;
	uint64_t at = auxv_vdso(s);

	if (at && proc_read_maps(pid, &maps, NULL) == 0)
		v = vma_find(&maps, at);
	if (v && v->start == at && v->end - at <= VDSO_MAX) {
		s->vdso = at;
		s->vdso_size = (uint32_t)(v->end - at);
	}
	vma_list_clear(&maps);
}

int cpuclock_image(pid_t pid, const Move__State *s, uint8_t **ret)
{
	size_t n = s->vdso_size;
	uint8_t *image;
	int r;

	if (!s->vdso || n > VDSO_MAX || n < sizeof(struct head) + TAIL)
		return -ENOENT;
	image = xmalloc(n);
	r = tracee_read(pid, s->vdso, image, n);
	if (r < 0)
		free(image);
	else
		*ret = image;
	return r;
}

void cpuclock_avoid(struct tracee *t, const Move__State *s)
{
	struct cpuclock was[CPUCLOCK_MOST];
	uint8_t *image;

	if (cpuclock_image(t->pid, s, &image) < 0)
		return;
	if (cpuclock_unpatch(image, s->vdso_size, was)) {
		t->leave_vdso = true;
		t->vdso = s->vdso;
		t->vdso_end = s->vdso + s->vdso_size;
	}
	free(image);
}

size_t cpuclock_room(pid_t pid, const Move__State *s)
{
	struct cpuclock all[CPUCLOCK_MOST] = { 0 };
	uint8_t *image;
	size_t nr;

	if (cpuclock_image(pid, s, &image) < 0)
		return 0;
	cpuclock_unpatch(image, s->vdso_size, all);
	nr = cpuclock_patch(image, s->vdso_size, all, CPUCLOCK_MOST);
	free(image);
	return nr;
}

void cpuclock_take(Move__State *s, uint32_t id, const struct timespec *used)
{
	Move__CpuClock *c;

	if (s->n_cpu_clock == CPUCLOCK_MOST)
		return;
	c = append_new(&move__cpu_clock__descriptor);
	c->id = id;
	c->nsec = clock_of_timespec(used);
	append_to(s->cpu_clock, s->n_cpu_clock, c);
}

void cpuclock_add(pid_t pid, Move__State *s)
{
	struct cpuclock was[CPUCLOCK_MOST];
	uint8_t *image;
	size_t nr;

	if (cpuclock_image(pid, s, &image) < 0)
		return;
	nr = cpuclock_unpatch(image, s->vdso_size, was);
	for (size_t i = 0; i < s->n_cpu_clock; i++)
		for (size_t k = 0; k < nr; k++)
			if (was[k].id == s->cpu_clock[i]->id)
				s->cpu_clock[i]->nsec += was[k].nsec;
	free(image);
}
