/* fast_path.c - doors, programs and where they hang, see fast_path.h */
#include "net/fast_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/io.h"
#include "core/xalloc.h"
#include "net/bpf.h"

struct fast_path {
	struct fast_path_spec spec;
	int map;
	struct fast_path_doors *doors; /* the map's memory */
	int inwards, outwards;	       /* links; -1: not attached */
};

int fast_path_create(struct fast_path **ret, const struct fast_path_spec *spec,
		     struct error *err)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY,
		.map_flags = BPF_F_MMAPABLE,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(struct fast_path_doors),
		.max_entries = 1,
		.map_name = FAST_PATH_NAME,
	};
	struct fast_path *f;
	void *doors;
	fd_auto map = bpf_call(BPF_MAP_CREATE, &attr);

	if (map < 0)
		return error_sys(err, -errno, "cannot make a BPF map");
	doors = mmap(NULL, sizeof(*f->doors), PROT_READ | PROT_WRITE,
		     MAP_SHARED, map, 0);
	if (doors == MAP_FAILED)
		return error_sys(err, -errno, "cannot map a BPF map");
	f = xcalloc(1, sizeof(*f));
	f->spec = *spec;
	f->doors = doors;
	f->map = map;
	f->inwards = f->outwards = -1;
	map = -1;
	*ret = f;
	return 0;
}

void fast_path_destroy(struct fast_path *f)
{
	if (!f)
		return;
	io_close(&f->inwards);
	io_close(&f->outwards);
	munmap(f->doors, sizeof(*f->doors));
	io_close(&f->map);
	free(f);
}

static int load_program(const struct fast_path *f, bool inwards,
			struct error *err)
{
	struct bpf_insn insn[FAST_PATH_INSNS];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SCHED_CLS,
		.insns = (uintptr_t)insn,
		.insn_cnt = (uint32_t)fast_path_program(insn, inwards, f->map,
							&f->spec),
		.license = (uintptr_t) "GPL",
		.prog_name = FAST_PATH_NAME,
	};
	int fd = bpf_call(BPF_PROG_LOAD, &attr);

	return fd < 0 ? error_sys(err, -errno, "cannot load a BPF program")
		      : fd;
}

/* Returns the link, which takes the program's descriptor's place. */
static int attach_program(const struct fast_path *f, bool inwards,
			  struct error *err)
{
	fd_auto prog = load_program(f, inwards, err);
	union bpf_attr attr = { 0 };
	int fd;

	if (prog < 0)
		return prog;
	attr.link_create.prog_fd = (uint32_t)prog;
	attr.link_create.target_ifindex =
		(uint32_t)(inwards ? f->spec.uplink : f->spec.index);
	attr.link_create.attach_type = BPF_TCX_INGRESS_TYPE;
	fd = bpf_call(BPF_LINK_CREATE, &attr);
	return fd < 0 ? error_sys(err, -errno,
				  "cannot attach a BPF program to a link "
				  "(tcx, which Linux has since 6.6)")
		      : fd;
}

int fast_path_attach(struct fast_path *f, struct error *err)
{
	int r;

	if (f->inwards < 0) {
		if ((r = attach_program(f, true, err)) < 0)
			return r;
		f->inwards = r;
	}
	if (f->outwards < 0) {
		if ((r = attach_program(f, false, err)) < 0)
			return r;
		f->outwards = r;
	}
	return 0;
}

bool fast_path_attached(const struct fast_path *f)
{
	return f->inwards >= 0 || f->outwards >= 0;
}

/* Also before whatever the caller does next to neighbours and routes. */
void fast_path_plug(struct fast_path *f, bool plugged)
{
	if (f)
		__atomic_store_n(&f->doors->plugged, plugged, __ATOMIC_SEQ_CST);
}

void fast_path_allow(struct fast_path *f, bool allowed)
{
	__atomic_store_n(&f->doors->allowed, allowed, __ATOMIC_SEQ_CST);
}
