/*
 * priv.h - what the files of the capsule share; capsule.h is the API
 *
 *   capsule.c      create, destroy, freeze: the keeper's side
 *   birth.c        namespaces, clocks: init is made
 *   ids.c          ids
 *   lent.c         a child in its parent's memory
 *   etc.c          files of its names
 *   request.c      the keeper's side of talking to init
 *   lasting.c      ... to one that outlives its capsule
 *   init.c         pid 1
 *   renew.c        ... between one capsule and the next
 *   program.c      a process on its way to a program
 *   file.c         a file that it prints to
 *   mount.c        the file system inside
 *   link.c         the address: plug, unplug, yield
 *   spare.c        a network that is handed on
 *   store.c        where it waits for the next
 *   kept.c         what one capsule leaves to the next of its process
 *   cgroup.c       control groups and the freezer
 *   cgroup_find.c  where they are, or are to be
 *   limits.c       their limits
 *   record.c       what must be cleaned up, and the sweep
 */
#ifndef CLUSTER_CAPSULE_PRIV_H
#define CLUSTER_CAPSULE_PRIV_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cluster/capsule/capsule.h"
#include "cluster/capsule/cgroup.h"
#include "cluster/host/process.h"
#include "core/error.h"
#include "net/fast_path.h"
#include "net/net.h"

/* ---- a network that is handed on: spare.c ---- */

#define SPARE_TEXT 16384

struct spare {
	uid_t uid;		 /* whose capsules it is for */
	bool bound;		 /* as in struct capsule_spec */
	unsigned mtu;		 /* of the pair */
	char name[NET_NAME_LEN]; /* of the host's end */
	int index, eth0;	 /* of the ends */
	size_t n;
	char text[SPARE_TEXT]; /* what the kernel had counted when it was new */
};

/* What tells whether it is unused: files of its /proc/net, which hold it, too. */
enum { SPARE_FILES = 6 };
struct spare_files {
	bool open;
	int fd[SPARE_FILES];
};

struct capsule_spare {
	int netns; /* -1: the network is init's */
	bool new;  /* made for this capsule: its link is set up already */
	struct spare is;
	struct spare_files files;
};

/* ---- the address ---- */

struct capsule_link {
	enum capsule_net mode;
	struct in_addr address;
	uint8_t mac[NET_MAC_LEN];
	char name[NET_NAME_LEN];   /* the host's end */
	char uplink[NET_NAME_LEN]; /* or "" */
	struct net *host, *inside;
	int packet;	  /* for announcing; -1 without an uplink */
	int index;	  /* of the host's end */
	int eth0;	  /* of the capsule's end, inside */
	int uplink_index; /* routed: uplink; bridge: the bridge */
	uint8_t uplink_mac[NET_MAC_LEN];
	struct fast_path *fast; /* or NULL, and then why_slow */
	struct error why_slow;
	bool doors_tried; /* fast is made, or will not be */
	bool cut;	  /* nothing of it is left on the host but its end */
	unsigned mtu;
	struct capsule_spare spare;
};

/* What links of this process and of those that it forks need alike. */
void link_prepare(void);
/* Choose names and look at the uplink; nothing is made. */
int link_plan(struct capsule_link *l, const struct capsule_spec *spec,
	      struct error *err) must_check;
/* Look at the uplink of what link_plan() has; netns: as below, -1 for a routed one. */
int link_look_at_host(struct capsule_link *l, const struct capsule_spec *spec,
		      int netns, struct error *err) must_check;
/* The two ends, down. */
int link_make_pair(struct capsule_link *l, int netns,
		   struct error *err) must_check;
/* Make it, unplugged, into the namespace of the descriptor. */
int link_make(struct capsule_link *l, const struct capsule_spec *spec,
	      int netns, struct error *err) must_check;
/* Until it has its carrier, which the kernel tells some time later. */
int link_await(const struct capsule_link *l, struct error *err) must_check;
/* The doors of its fast path, if it can have one, open if it is plugged. */
void link_need_doors(struct capsule_link *l, bool plugged);
/* What init sets up inside the network namespace, before link_make(). */
int link_init_inside(struct error *err) must_check;
/*
 * Taking it down: give the address up, in silence, which takes microseconds;
 * close what keeps its namespace alive, but for processes and a spare that is kept;
 * when those are gone, wait until the pair is; and close the rest.
 */
void link_cut(struct capsule_link *l, bool plugged);
void link_close(struct capsule_link *l, bool kept);
void link_remove(struct capsule_link *l);
void link_forget(struct capsule_link *l);

/* ---- spare.c */

/*
 * Take or make the network that the capsule is to be in, if it is one that can be
 * handed on; else link_make() makes all of it.
 */
int spare_take(struct capsule_link *l, const struct capsule_spec *spec,
	       struct error *err) must_check;
/*
 * When nothing runs in it any more: make it ready for the next.  True if it is as
 * new; then it is handed on, last of all, instead of being removed.
 */
bool spare_clean(struct capsule_link *l) must_check;
void spare_hand_on(struct capsule_link *l);

/* ---- store.c */

/* Has this process one to ask? */
bool store_is_there(void);
/* For a spare as this one is to be; false: there is none now. */
bool store_ask(struct capsule_spare *spare) must_check;
void store_give(const struct capsule_spare *spare);
/* This process has it no more, or has none. */
void store_let_go(struct capsule_spare *spare);

/* ---- the file system ---- */

/* Where sockets of people's sessions are. */
#define CAPSULE_SESSIONS "/run/user"

/* The sysfs of this process's network, as a descriptor of a mount. */
int mount_sysfs(int *ret, struct error *err) must_check;
/*
 * With that, or with sysfs -1 with the own network's.  lasting: the caller is
 * LASTING_UID, whose all of it is but what is put into /tmp.
 */
int mount_all(const struct capsule_spec *spec, int sysfs, bool lasting,
	      struct error *err) must_check;
/* etc.c: /etc/hosts and /etc/hostname; again: they are there. */
int etc_cover(const struct capsule_spec *spec, bool again,
	      struct error *err) must_check;
/* Of one that lasts: what a job may have written goes, and comes anew for the next. */
int mount_tidy(void) must_check;
int mount_renew(const struct capsule_spec *spec, struct error *err) must_check;

/* ---- init ---- */

/* What keeper and init share from birth. */
struct init_args {
	const struct capsule_spec *spec;
	int ctl, events; /* init's ends */
	int keeper;	 /* pidfd: readable when the keeper is dead */
	bool in_spare;	 /* its network is ready */
	bool lasting;	 /* it may have the next capsule, too */
	int sysfs;	 /* ... and shown by this; else -1 */
	struct capsule_cgroup *cg;
};

enum request_type {
	REQUEST_EXEC,
	REQUEST_SPAWN,
	REQUEST_KILL,
	REQUEST_STOP, /* freeze by signals */
	REQUEST_CONT,
	REQUEST_DIE,
	REQUEST_CLEAN, /* lasting: all but init ends, then files go */
	REQUEST_RENEW, /* for the next; a second answer by ctl */
};

#define REQUEST_FDS  64
#define REQUEST_TEXT 8192

/*
 * One packet to init, with descriptors: the first is where to answer; behind those of
 * nr_fds, for a text that is too long, a file of its n bytes; else it stands in the packet.
 * The text is SPAWN's argument, EXEC's strings, RENEW's words of the spec. EXEC's socket
 * takes a byte when the process is there, too, and word of a failure (struct
 * exec_failure), and closes when it runs. RENEW's descriptors are
 * doors to groups that were made anew, of which `as` says which; it and CLEAN are answered by ctl.
 * Plain structs do: both sides are the same program image.
 */
struct request {
	enum request_type type;
	capsule_entry *entry; /* SPAWN */
	size_t n;	      /* of the text */
	bool filed;	      /* it is in a file */
	pid_t ns_pid;
	uid_t uid; /* EXEC, where init lasts; RENEW */
	int sig;
	unsigned nr_argv, nr_env; /* EXEC: strings argv, env, cwd in the text */
	bool own_group;
	unsigned nr_files; /* EXEC: behind cwd, of each folder and path */
	int file_as[2];
	unsigned nr_limits;
	struct capsule_rlimit limits[CAPSULE_RLIMITS];
	unsigned umask;
	unsigned nr_fds;     /* the program's, after those above */
	int as[REQUEST_FDS]; /* EXEC: their numbers */
};

struct request_packet {
	struct request req;
	char text[REQUEST_TEXT];
};

struct answer {
	int code; /* 0 or -errno; with it, a pidfd for SPAWN */
	struct error error;
};

/* Of another size than an answer. */
struct exec_failure {
	int code; /* -ENOENT: no such program; -EACCES, -ENOEXEC: cannot be run
		   */
	int unused;
	struct error why;
};

/*
 * pid 1: say on ctl (a struct answer) when the link may be made, if it is not in a
 * spare, and when all is set up; then serve until told to die.
 */
_Noreturn void init_main(const struct init_args *args);

/*
 * A program's process. Prepared by init, fds as struct request says; then a child that has
 * init's memory, on a stack of its own, becomes it by program_main(); then init frees
 * it.
 */
struct program;
struct program *program_prepare(const struct request *req, char *text,
				const int *fds, const struct init_args *init);
_Noreturn void program_main(void *prog);

/*
 * lent.c: a child with that pid inside (0: any), which runs in our memory on a stack of its own;
 * its pid, or -errno.  We go on when it has left that.
 */
pid_t lent_run(pid_t ns_pid, void (*run)(void *), void *arg);
/*
 * The same, in two steps: between them the child, which first of all calls lent_await(), waits
 * for us.
 */
pid_t lent_begin(pid_t ns_pid, uint64_t namespaces, void (*run)(void *),
		 void *arg);
void lent_await(void);
void lent_finish(void);
/* Of the caller, for good. */
int drop_bounding_set(struct error *err) must_check;
void program_free(struct program *prog);

/* Open it as capsule.h says of struct capsule_file: a descriptor, or -errno. */
int file_open(const char *folder, const char *path,
	      struct error *err) must_check;

/* Close every descriptor but these; members < 0 are skipped. */
void fds_keep(const int *keep, unsigned n);

/*
 * Until fd has something to say, for so many milliseconds; 0 or -ETIMEDOUT.  Who
 * is to speak may be held up by a file of a user's.
 */
int request_await(int fd, int ms, struct error *err) must_check;

/* Send a request, wait for the answer; *ret_fd: the descriptor with it. */
int request_call(int ctl, const struct request *req, const int *fds,
		 unsigned nr_fds, int *ret_fd, struct error *err) must_check;
/* Send it with a text; there is room for another descriptor in fds. */
int request_send(int ctl, struct request *req, const char *text, size_t n,
		 int *fds, unsigned nr_fds, struct error *err) must_check;
/* The next answer on a socket. */
int request_answer(int sock, struct error *err) must_check;

/* ---- the keeper's side ---- */

/* Told by engines too, hence shared memory. */
struct capsule_shared {
	bool plugged;
	bool disturbed; /* it was stopped, has moved, or was to */
};

struct capsule {
	char *name;
	char *dir; /* RUN_DIR/capsules/NAME, or NULL: not made */
	char *run_dir;
	int ctl, events; /* our ends */
	int init;	 /* pidfd */
	struct capsule_shared *shared;
	struct process_id keeper; /* ourselves */
	pid_t init_pid;
	int patience; /* as the spec has it */
	struct limits limits;
	unsigned weight; /* of its groups, for processors */
	struct capsule_cgroup cg;
	struct capsule_link link;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t nr_groups;
	bool bound;
	bool took_groups; /* those of one before */
	bool lasting;	  /* its init may have the next capsule, too */
	bool renewed;	  /* ... and has had one before */
	bool spared;	  /* ... and is alive, though the capsule has ended */
	bool gone_told;
	bool asked; /* for a program of which nothing certain is known */
	bool mute; /* init waits for something, does not listen, and may answer late */
	bool ended; /* nothing runs in it any more */
};

/* ---- kept.c */

/* What may be of use to the next; `clean` as spare_clean() has it. */
void kept_put(struct capsule *c, bool clean);
/* Groups, with a plan and names of their own, for its record; false: it is to make some. */
bool kept_take_groups(struct capsule *c, const struct capsule_spec *spec);
/* The socket by which the host's network is changed. */
void kept_lend_socket(struct capsule_link *l);
/* A network as l->spare.is says; false: there is none. */
bool kept_take_network(struct capsule_link *l);

/* Does this process keep anything? */
bool kept_something(void);
/* An init that lasts, as it was left; false: there is none. */
bool kept_take_init(struct capsule *c);

/* ---- an init that lasts: lasting.c, and in init renew.c ---- */

/*
 * A uid that nobody has. What has it is in no program's reach: neither its priority,
 * processors and limits, nor its files of /proc.
 */
#define LASTING_UID 0xfffffff0u

/* May this capsule have one, with such groups?  Its link is planned. */
bool lasting_may(const struct capsule *c, const struct capsule_spec *spec,
		 enum cgroup_freezer kind);
/* All but init ends; false: it does not. */
bool lasting_clean(struct capsule *c) must_check;
/* What init is to do for this capsule; then it says on ctl that all is set up. */
int lasting_renew(struct capsule *c, const struct capsule_spec *spec,
		  struct error *err) must_check;
/* Is it no good, so that another init is to be made? */
bool lasting_failed(int code);
/* Its end; nothing if there is no init. */
void lasting_end(struct capsule *c);

/* One request to init, on whose side renew_clean() leaves no child. */
int renew_clean(int signals, struct error *err) must_check;
void renew_tidy(void);
int renew_begin(const struct init_args *args, const struct request *req,
		const char *words, int *doors, struct error *err) must_check;
/* Before /proc/sys is sealed. */
void renew_prepare(void);

/* ids.c: in the user namespace of that process, by the keeper; by an init that lasts. */
int ids_map(pid_t pid, const struct capsule_spec *spec, bool lasting,
	    struct error *err) must_check;
int ids_map_program(pid_t pid, const struct capsule_spec *spec,
		    struct error *err) must_check;
/* Have a session keyring of one's own. */
int ids_leave_keys(struct error *err) must_check;
/* Let init be born; it sets up the capsule's inside and answers.  The rest of c must be there. */
int birth_init(struct capsule *c, const struct capsule_spec *spec,
	       struct error *err) must_check;
/* The next of its two words (init_main()). */
int birth_hear(const struct capsule *c, struct error *err) must_check;
/* Can it make a network that is this process's own?  A descriptor of one. */
bool birth_has_cradle(void);
int birth_netns(int *ret, struct error *err) must_check;

#endif
