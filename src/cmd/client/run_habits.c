/* run_habits.c - what others' options are here, see run_habits.h */
#include "cmd/client/run_habits.h"

#include "cmd/kit/command.h"

enum { KEY_HABIT = 1024 };

#define HOSTFILE                                                             \
	"there is no file of hosts: name them, --hosts=A,B,..., or let the " \
	"policy choose"
#define PER_HOST                                                             \
	"name a host as often as it is to have a rank, --hosts=A,A,B,B, or " \
	"let the policy choose"
#define CORES                                                                \
	"a rank has the cores its host gives it; -n N says how many ranks, " \
	"--cpus N limits each"
#define SET_ENV \
	"your environment goes along; one variable more is -x NAME=VALUE"
#define SET_MCA \
	"Open MPI's settings go by the environment: -x OMPI_MCA_NAME=VALUE"
#define OVERSUB "not needed: ranks may share cores, and the policy chooses"
#define AS_ROOT "root runs no jobs unless the controller's min-uid lets it"
#define LABEL	"--label puts [RANK] before each line"
#define DEPEND                                                                   \
	"--after=ok:JOB, any:JOB or failed:JOB has it begin after that job has " \
	"ended so"
#define MAIL                                                                  \
	"--at-end=COMMAND is run when the job is over, and may send a mail: " \
	"$STINT_AFTER_JOB, $STINT_AFTER_END tell of what"
#define BEGIN	 "--hold keeps a submitted job until `stint release`"
#define NO_UNITS "there are no accounts or classes: a job is its user's"
#define DEVICES                                                            \
	"hosts lend processors and memory: those with what else you need " \
	"are named, --hosts=A,B,..."
#define ORDER	 "the controller's policy orders the queue, and shares hosts"
#define EACH	 "--memory=SIZE limits each rank"
#define STDIN	 "`stint run` gives rank 0 its own standard input: < FILE"
#define NO_TTY	 "ranks have no terminal; standard input goes to rank 0"
#define WARNING	 "--warn=SIGNAL@TIME, with --limit"
#define NO_PARTS "there are no partitions; --hosts=A,B,... names hosts"

/*
 * Whether one takes a value does not matter: none is looked at.  The text would
 * be for --help, where hidden options are not.
 */
#define TAKES OPTION_HIDDEN | OPTION_ARG_OPTIONAL
#define WORD(name, text)                                               \
	{                                                              \
		name, KEY_HABIT + __COUNTER__, "VALUE", TAKES, text, 0 \
	}
#define LETTER(letter, text)                          \
	{                                             \
		NULL, letter, "VALUE", TAKES, text, 0 \
	}

static const struct argp_option options[] = {
	WORD("hostfile", HOSTFILE),
	WORD("machinefile", HOSTFILE),
	WORD("default-hostfile", HOSTFILE),
	LETTER('f', HOSTFILE),
	WORD("nodelist", PER_HOST),
	LETTER('w', PER_HOST),
	LETTER('H', PER_HOST),
	WORD("nodes", PER_HOST),
	LETTER('N', PER_HOST),
	WORD("ppn", PER_HOST),
	WORD("npernode", PER_HOST),
	WORD("ntasks-per-node", PER_HOST),
	WORD("map-by", PER_HOST),
	WORD("rank-by", PER_HOST),
	WORD("bind-to", CORES),
	WORD("cpu-bind", CORES),
	WORD("cpus-per-task", CORES),
	LETTER('c', CORES),
	WORD("env", SET_ENV),
	WORD("envall", SET_ENV),
	WORD("envlist", SET_ENV),
	WORD("genv", SET_ENV),
	WORD("genvall", SET_ENV),
	WORD("genvlist", SET_ENV),
	WORD("mca", SET_MCA),
	WORD("oversubscribe", OVERSUB),
	WORD("overcommit", OVERSUB),
	WORD("allow-run-as-root", AS_ROOT),
	WORD("prepend-rank", LABEL),
	WORD("tag-output", LABEL),
	WORD("partition", NO_PARTS),
	LETTER('p', NO_PARTS),
	WORD("dependency", DEPEND),
	LETTER('d', DEPEND),
	WORD("mail-type", MAIL),
	WORD("mail-user", MAIL),
	WORD("begin", BEGIN),
	LETTER('b', BEGIN),
	WORD("account", NO_UNITS),
	LETTER('A', NO_UNITS),
	WORD("qos", NO_UNITS),
	LETTER('q', NO_UNITS),
	WORD("gres", DEVICES),
	WORD("gpus", DEVICES),
	LETTER('G', DEVICES),
	LETTER('C', DEVICES),
	WORD("exclusive", ORDER),
	WORD("nice", ORDER),
	WORD("priority", ORDER),
	WORD("mem-per-cpu", EACH),
	WORD("input", STDIN),
	LETTER('i', STDIN),
	WORD("pty", NO_TTY),
	WORD("signal", WARNING),
	{ 0 }
};

static error_t parse_habits(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	for (const struct argp_option *o = options; o->key; o++) {
		if (o->key == key && o->name)
			command_misuse(state, "-%s: %s", o->name, o->doc);
		if (o->key == key)
			command_misuse(state, "-%c: %s", key, o->doc);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp run_habits = { options, parse_habits, 0, 0, 0, 0, 0 };
