#!/usr/bin/env bats
# Every command line that is misused, and output that cannot be written.  Exit 1: it did not
# work; exit 2: it was not understood.

bats_require_minimum_version 1.5.0
load build

setup() {
	dir=$BATS_TEST_TMPDIR
	cd "$dir" || exit
	unset STINT_CONTROLLER STINT_TESTBED STINT_KEY
	export HOME=$dir STINT_TESTBED_DIR=$dir/testbeds
}

# fails CODE TEXT ARGUMENT...: that exit code, one line that has TEXT, nothing on
# standard output.
fails() {
	local code=$1 text=$2
	shift 2
	run --separate-stderr timeout 300 "$stint" "$@"
	[ "$status" -eq "$code" ] || { echo "$*: exit $status: $stderr"; false; }
	[[ "$stderr" == *"$text"* ]] || { echo "$*: $stderr"; false; }
	[ -z "$output" ] || { echo "$*: said $output"; false; }
	[ "${#stderr_lines[@]}" -eq 1 ] && [[ "$stderr" == "stint"* ]] || { echo "$*: $stderr"; false; }
}

@test "what is not understood: exit 2 and one line" {
	fails 2 "no command 'bogus'" bogus
	fails 2 "no command ''" ''
	fails 2 "no command 'bogus'" help bogus
	fails 2 "no policy 'nosuch'" policies nosuch
	fails 2 "no policy 'nosuch'" sim -p nosuch --swf /nonexistent
	fails 2 "has no parameter 'x'" sim -p fcfs:x=1 --swf /nonexistent
	fails 2 "no workload 'nosuch'" sim -p fcfs -w nosuch
	fails 2 "no policy 'nosuch'" sweep -p nosuch --swf /nonexistent
	fails 2 "no workload 'nosuch'" sweep -p fcfs -w nosuch
	fails 2 "unrecognized option '--json' (stint kill --help tells more)" kill --json 1
	fails 2 "invalid option -- 'Q'" sim -Q
	fails 2 "requires an argument" run -n
	fails 2 "is ambiguous" sweep --s
	fails 2 "'x' is one word too many" hosts --json -- x
	fails 2 "run which program?" run
	fails 2 "7 days at most" owner evict --for=8d
	fails 2 "none of here, away, evict and status" owner nonsense
	fails 2 "--delay: '0' is not a time" top -d 0
	fails 2 "write 10min, 18:30, or 2026-12-24 18:30" drain --by tomorrow h1
	fails 2 "100000 tasks at most" submit --array 1-9999999 true
	fails 2 "one of --csv, --swf and --json" history --csv --swf
	fails 2 "one of --csv, --swf and --json" history --json --csv
	fails 2 "--from, or the jobs" history -f 1 2
	fails 2 "7 days at most" testbed owner h1 here --for=169h
	fails 2 "too often" agent --report-every 0
	fails 2 "neither auto nor no" agent --fast-path yes
	fails 2 "out of range" agent --cores 0
	fails 2 "':' would begin a second program" run -n 2 a : -n 1 b
	fails 2 "-n: '0' is not a number" run -np 0 a
	fails 1 "where is the controller" run -np 2 -- a : b
	fails 2 "--hosts: ',,'" run --hosts ,, true
	fails 2 "--wdir: /nonexistent" run --wdir /nonexistent true
	fails 2 "'foo' is not an address" ps --controller foo
	fails 2 "is not an address" ps --controller 127.0.0.1:99999
	fails 2 "'127.0.0.1:99999' is not an address" move receive --listen 127.0.0.1:99999
	fails 2 "'bogus' is not a process" move bogus
	fails 2 "above --maxsize" mapstates --minsize 31 --maxsize 30
	fails 2 "neither sed1 nor sed2" mapstates -p sed3:eager=yes
	fails 2 "eager" mapstates -p sed1:eagre=yes
	fails 2 "no paper 'nobody'" reproduce nobody
	fails 2 "no paper 'nobody'" reproduce --list nobody
	fails 2 "--max 2 is below --min 5" sweep -p fcfs -w ismail --max 2
	printf '[agnet]\ncores = 2\n' >conf
	fails 2 "conf:2: unknown section [agnet]" agent --config conf
	fails 2 "conf:2: unknown section [agnet]" controller --config conf
	printf '[owner]\nwho = cat\n' >conf
	fails 2 "conf:2: who: 'cat' is none of console" agent --config conf
	printf '[owner]\nwho = nobody\nquiet = x\n' >conf
	fails 2 "conf:3: quiet: 'x' is not a time" agent --config conf
	printf '[owner]\ncat = 1\n' >conf
	fails 2 "conf:2: unknown setting 'cat' of an owner; there are who," agent --config conf
	printf 'cores = 2\n[agent]\n' >conf
	fails 2 "conf:1: 'cores' stands before the first section: write [agent]" agent --config conf
	fails 2 "--time: '5x' is not a time" run -t 5x true
	fails 2 "--budget: '5x' is not a time" migrate -b 5x 1.0 h1
	fails 2 "--budget: '5x' is not a time" move -b 5x 1 --to 127.0.0.1:1
	fails 2 "lost-after: '5x' is not a time" controller --lost-after 5x
	fails 2 "report-every: '5x' is not a time" agent --report-every 5x
	fails 2 "'FOO' is not a signal" kill -FOO 1
	fails 2 "'99' is not a signal" kill 1 -99
	fails 2 "'-9' is not a job" kill -- -9
	fails 2 "--load: 'x' is not a load" sim -p easy -w ismail -L x
	fails 2 "'bob': an identity is host/NAME" controller --state-dir "$PWD" --enrol bob
	fails 2 "'bob': an identity is host/NAME" controller --state-dir "$PWD" --revoke bob
	printf '[controller]\npolicy = easi\n' >conf
	fails 2 "conf:2: no policy 'easi'" controller --config conf
	fails 2 "hosts '5y3'" sim -p fcfs --swf /nonexistent -H 5y3
	fails 2 "'bogus' is none of linear" sweep -p fcfs --swf /nonexistent --speedup bogus
	fails 2 "'a b' cannot name a testbed" testbed -n 'a b' up 2
	STINT_TESTBED='a b' fails 2 "'a b' cannot name a testbed" testbed down
	fails 2 "run which program?" run ''
	fails 2 "--to does not go with \`stint move receive\`" move receive --listen 127.0.0.1:0 --to 127.0.0.1:1
	fails 2 "--budget does not go with \`stint move check\`" move check 1 -b 5ms
	fails 2 "other hosts reach :0: give both ends a --key=FILE, or --plaintext" move receive --listen :0
	fails 2 "other hosts reach 0.0.0.0:0" move receive --listen 0.0.0.0:0
}

@test "a testbed called default is found when nothing else is said" {
	mkdir -p testbeds/default
	printf '[client]\ncontroller = unix:%s/none\nkey = %s/none\n' "$dir" "$dir" >testbeds/default/client.conf
	fails 1 "key file $dir/none" ps
	STINT_CONTROLLER=127.0.0.1:1 fails 1 "no key" ps
}

@test "what does not work: exit 1 and one line" {
	fails 1 "No such file" sim -p fcfs --swf /nonexistent
	fails 1 "No such file" sweep -p fcfs --swf /nonexistent
	fails 1 "no process 4194305" move check 4194305
	fails 1 "state/keys: nobody is enrolled there" controller --state-dir state --keys
	fails 1 "state/keys: nobody is enrolled there" controller --state-dir state --revoke user/ann
	[ ! -e state ]
	fails 1 "where is the controller" kill -9 1
	fails 1 "where is the controller" kill -USR1 1.0
	fails 2 "'dynamite' are measured, not simulated" reproduce dynamite:D-1
	fails 1 "cannot make '/proc/x'" reproduce schnor:S-4a --figures /proc/x
	fails 1 "/nonexistent/x: cannot create" sweep -p fcfs -w ismail -o /nonexistent/x
	fails 1 "where is the controller" ps
	fails 1 "no key" ps --controller 127.0.0.1:1
}

@test "a key that others may read is refused, and made so that they may not" {
	umask 022
	"$stint" controller --state-dir state --enrol user/root >key
	[ "$(stat -c %a key)" = 600 ]
	STINT_CONTROLLER=127.0.0.1:1 fails 1 "nobody listens" ps --key key
	chmod 640 key
	STINT_CONTROLLER=127.0.0.1:1 fails 1 "run \`chmod 600 key\`" ps --key key
	STINT_CONTROLLER=127.0.0.1:1 fails 1 "run \`chmod 600 key\`" run --key key true
	fails 1 "run \`chmod 600 key\`" agent --controller 127.0.0.1:1 --key key --run-dir run
	fails 1 "run \`chmod 600 key\`" move receive --listen 127.0.0.1:0 --key key
	fails 1 "run \`chmod 600 key\`" move $$ --to 127.0.0.1:1 --key key
	chmod 644 state/keys
	fails 1 "run \`chmod 600 state/keys\`" controller --state-dir state --listen 127.0.0.1:0
	fails 1 "run \`chmod 600 state/keys\`" controller --state-dir state --enrol user/root
}

@test "a file named for one program's section may hold those of others" {
	printf '[controller]\nlisten = 127.0.0.1:0\n[agent]\ncores = many\n' >conf
	fails 2 "conf:4: cores: 'many'" agent --config conf
	fails 2 "no state directory" controller --config conf
}

@test "the simulator needs no network library, nor the program for clusters" {
	ldd "$STINT_BUILD/src/cmd/stint-sim" >libraries
	run ! grep -e gnutls -e systemd -e sqlite libraries
	ldd "$STINT_BUILD/src/cmd/stint-client" >libraries
	run ! grep -e gsl -e sqlite libraries
	[[ "$(LC_ALL=C ldd "$STINT_BUILD/src/cmd/stint" 2>&1)" == *"not a dynamic executable"* ]] ||
		skip "stint is not static here"
	cp "$stint" alone
	cp "$STINT_BUILD/src/cmd/stint-sim" .
	./alone policies easy >/dev/null
	[ -e /usr/local/libexec/stint/stint-client ] && return
	# A controller on this machine is reached without TLS; one elsewhere needs it.
	run --separate-stderr ./alone ps --controller=unix:none --key=none
	[ "$status" -eq 1 ]
	[[ "$stderr" != *"installed?"* ]]
	run --separate-stderr ./alone ps --controller=localhost:1 --key=none
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"clusters installed?" ]]
	rm stint-sim
	run --separate-stderr ./alone policies
	[ "$status" -eq 1 ]
	[[ "$stderr" == *"simulations installed?" ]]
}

@test "help: every command's, and the list" {
	run "$stint" help
	[ "$status" -eq 0 ]
	for c in $("$stint" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
		cmp <("$stint" help "$c") <("$stint" "$c" --help)
	done
	cmp <("$stint" help) <("$stint" -h)
}

# Full disks and closed descriptors are reported once, and are no success.
@test "a standard output that takes nothing: exit 1" {
	for c in help policies "policies easy --json" "reproduce --list" mapstates "sim --help"; do
		run --separate-stderr bash -c "'$stint' $c >/dev/full"
		[ "$status" -eq 1 ] && [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$c: $status $stderr"; false; }
		run --separate-stderr bash -c "'$stint' $c >&-"
		[ "$status" -eq 1 ] && [ "${#stderr_lines[@]}" -eq 1 ] || { echo "$c: $status $stderr"; false; }
	done
}

@test "a long output on a full device names the reason" {
	fails 1 "No space left on device" sim -p fcfs -w ismail --load 0.5 -n 5000 -o /dev/full
}

@test "with standard output closed a table does not end in another file" {
	run bash -c "'$stint' sim -p fcfs -w ismail:sizes=U --load 0.5 -n 600 -o jobs.csv >&-"
	[ "$status" -eq 1 ]
	[ ! -e jobs.csv ] || ! grep -q utilization jobs.csv
}

@test "whoever is killed while it computes leaves no file behind" {
	for sig in INT TERM KILL; do
		timeout -s "$sig" 0.5 "$stint" sweep -p fcfs -w ismail -L 0.5:0.9:0.1 \
			--precision 0.01 --max 100000 -o t.tsv --svg x.svg || true
		timeout -s "$sig" 0.5 "$stint" reproduce ismail:I-3b -o z.md || true
	done
	[ -z "$(ls -A)" ] || { ls -lA; false; }
}

@test "a file that is there stays as it was when the new one fails" {
	echo old >keep
	fails 2 "no paper 'nobody'" reproduce nobody -o keep
	[ "$(cat keep)" = old ]
	"$stint" reproduce schnor:S-4a -o keep
	grep -q S-4a keep
	[ "$(stat -c %a keep)" = "$(printf '%o' $((0666 & ~$(umask))))" ]
}

completes() { # WANT WORD...: what the last word may become
	local want=$1
	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_stint stint "${!#}"
	[ "${COMPREPLY[*]}" = "$want" ] || { echo "$*: ${COMPREPLY[*]}"; false; }
}

@test "completion: commands, their options, policies" {
	PATH=${stint%/*}:$PATH
	. "$BATS_TEST_DIRNAME/../completions/stint"
	compopt() { :; }
	completes "ps policies" stint p
	completes "migrate" stint help mi
	completes "--seed= --speedup= --swf= --series=" stint sim --s
	completes "--json " stint sim --js
	completes "loadleveler lojfuf" stint policies lo
	completes "sed1 sed2" stint sweep -p sed
	completes "down" stint testbed d
	completes "owner" stint testbed o
	completes "here away evict status" stint owner ""
	completes "" stint ps 1
}

@test "a value that an option cannot have, on a line that is right otherwise: exit 2" {
	"$BATS_TEST_DIRNAME/values.py" --stint "$stint"
	[ -z "$(ls -A)" ] || { ls -lA; false; }
}

@test "options of mpirun and srun: taken where they mean the same, else told what there is" {
	for o in "-np 2" "--np 2" "-np=2" "--ntasks=2" "-host h1,h2" "--host=h1" "-hosts h1" \
		"-wdir /" "--chdir=/" "-n2 -l -x A=b"; do
		# shellcheck disable=SC2086 # words
		fails 1 "where is the controller" run $o true
	done
	fails 2 "-n: 'x' is not a number of ranks" run -np x true
	fails 2 "--hosts: 'h1:2': hosts have no slots" run -host h1:2 true
	for o in "-hostfile f" "--hostfile=f" "-machinefile f" "-f f" "-w h1" "-H h1" "-ppn 2" \
		"-N 2" "--ntasks-per-node=2" "--map-by node" "-npernode 1"; do
		# shellcheck disable=SC2086
		fails 2 "--hosts=A" run $o true
	done
	fails 2 "-env: your environment goes along; one variable more is -x NAME=VALUE" run -env A b true
	fails 2 "-genv: your environment goes along" run -genv A b true
	fails 2 "-x OMPI_MCA_NAME=VALUE" run --mca btl tcp,self true
	fails 2 "not needed" run --oversubscribe true
	fails 2 "min-uid" run --allow-run-as-root true
	fails 2 "-n N says how many ranks" run -c 2 true
	for o in "-d afterok:1" "--dependency=afterok:1" "--dependency 1"; do
		# shellcheck disable=SC2086
		fails 2 "--after=ok:JOB" submit $o true
	done
	fails 2 "--at-end=COMMAND" submit --mail-type=END true
	fails 2 "stint release" submit --begin=now true
	fails 2 "no accounts" submit -A me true
	fails 2 "--hosts=A" run --gres=gpu:1 true
	fails 2 "policy" run --exclusive true
	fails 2 "--warn=SIGNAL@TIME" run --signal=USR1@10 true
	fails 2 "--memory=SIZE" run --mem-per-cpu=1G true
	fails 2 "< FILE" run -i file true
	fails 2 "no terminal" run --pty sh
	fails 1 "where is the controller" run --mem 1G true
	run "$stint" run --help
	[[ "$output" != *hostfile* && "$output" != *ntasks* ]]
}

@test "nonsense in any option of any command: exit 2 and one line" {
	"$BATS_TEST_DIRNAME/options.py" --stint "$stint" --runs 150
}
