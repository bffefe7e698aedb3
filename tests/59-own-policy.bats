#!/usr/bin/env bats
# Users' own policies: shared objects that the simulator loads (policy/kit/own.h). That the
# installed headers are enough for one is tested by 55-install.

bats_require_minimum_version 1.5.0
load build

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	top=$BATS_TEST_DIRNAME/..
}

# Build the example as NAME.so, changed by sed scripts.
build_as() { # NAME SCRIPT ...
	local name=$1 script
	shift
	cp "$top/examples/patient.c" "$name.c"
	for script; do sed -i "$script" "$name.c"; done
	cc -shared -fPIC -o "$name.so" "$name.c" "-I$top/src"
}

refused() { # WORDS FILE
	run --separate-stderr "$stint" sim -p "$2" -w ismail
	echo "$stderr"
	[ "$status" = 2 ] && [ "${#stderr_lines[@]}" = 1 ] && [[ $stderr == *"$1"* ]]
}

@test "it decides as Stint's own with the same rule does" {
	build_as patient
	"$stint" sim -p ./patient.so:patience=0 -w ismail -n 2000 -o own.csv >/dev/null
	"$stint" sim -p fcfs -w ismail -n 2000 -o fcfs.csv >/dev/null
	cmp own.csv fcfs.csv
	"$stint" sim -p ./patient.so -w ismail -n 2000 -o own.csv >/dev/null
	run ! cmp -s own.csv fcfs.csv
	"$stint" sweep -p patient.so:patience=0 -p fcfs -w ismail -n 1000 --max 5 --csv >sweep.csv
	[ "$(sed -n '2s/^[^,]*,//p' sweep.csv)" = "$(sed -n '3s/^[^,]*,//p' sweep.csv)" ]
	"$stint" policies ./patient.so | grep -q 'patience=3600'
}

@test "laws that it breaks are named, also by a crash" {
	build_as good
	"$stint" policies --test ./good.so:patience=60
	# It starts all jobs at once, on processors that do not exist.
	build_as greedy 's/j->size <= plan_free(plan) &&/(plan_start_on(plan, j, j->size, NULL, BECAUSE(next, 1, 2)), 1) ||/'
	run "$stint" policies --test ./greedy.so
	[ "$status" = 1 ]
	[[ $output == *"counts"*BROKEN* ]]
	# It never starts a job of more than one processor.
	build_as lazy 's/j->size <= plan_free(plan) &&/j->size == 1 \&\&/'
	run "$stint" policies --test ./lazy.so
	[ "$status" = 1 ]
	[[ $output == *"BROKEN: policy 'patient' leaves "*" waiting for ever"* ]]
	# It remembers something that its save() leaves out.
	build_as moody 's/^struct patient {/static unsigned moods;\n&/' \
		's/j->size <= plan_free(plan) &&/moods++ % 7 \&\& &/'
	run "$stint" policies --test ./moody.so
	[ "$status" = 1 ]
	[[ $output == *BROKEN* ]]
	build_as wild 's/const struct job \*j;/& abort();/' '1i #include <stdlib.h>'
	run "$stint" policies --test --json ./wild.so
	[ "$status" = 1 ]
	[ "$(grep -c '"kept":false.*it crashed' <<<"$output")" = 5 ]
}

@test "one that calls exit() is told" {
	build_as quits 's/const struct job \*j;/& exit(0);/' '1i #include <stdlib.h>'
	run --separate-stderr "$stint" sim -p ./quits.so -w ismail -o quits.csv
	[ "$status" = 1 ]
	[ -z "$output" ]
	[ -z "$(ls quits.csv* 2>/dev/null)" ]
	[ "$stderr" = "stint sim: ./quits.so ended the program: it called exit()" ]
	run --separate-stderr "$stint" sweep -p ./quits.so -w ismail -n 1000 --max 5
	[ "$status" = 1 ]
	[ "${#stderr_lines[@]}" = 1 ]
	[[ $stderr == *"ended by itself"* ]]
	run "$stint" policies --test ./quits.so
	[ "$status" = 1 ]
	[ "$(grep -c "it ended the program" <<<"$output")" = 5 ]
	"$stint" sweep -p ./quits.so --help | grep -q Usage
}

@test "what is no policy, or is one for another version, is refused" {
	refused "cannot open" ./none.so
	echo text >text.so
	refused text.so ./text.so
	build_as bare '/^OWN_POLICY/d'
	refused "is no policy" bare.so
	build_as old 's/^OWN_POLICY/#undef OWN_POLICY_VERSION\n#define OWN_POLICY_VERSION 0\n&/'
	refused "version 0" ./old.so
	build_as other 's/^OWN_POLICY/#undef OWN_SIZES\n#define OWN_SIZES { 1 }\n&/'
	refused "other headers" ./other.so
	build_as fcfs 's/"patient"/"fcfs"/'
	refused "one of Stint's" ./fcfs.so
	build_as half '/\.decide =/d'
	refused "create and decide" ./half.so
	build_as strange 's/plan_free(plan))/unheard_of())/' \
		's/^struct patient {/long unheard_of(void);\n&/'
	refused unheard_of ./strange.so
	build_as patient
	refused "no parameter 'x'" ./patient.so:x=1
	run --separate-stderr "$stint" sweep -p ./patient.so -w ismail --results r.tsv
	[ "$status" = 2 ]
	[[ $stderr == *"--results does not go with"* ]]
	run --separate-stderr "$stint" controller --policy ./patient.so --state-dir "$PWD/state"
	[ "$status" = 2 ]
	[[ $stderr == *"only Stint's"* ]]
}
