# What administrators did, and what was refused to whom, is known afterwards.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 2
	key ops admin/ops
	key dim user/daemon
}

teardown() { jobs_teardown; }

key() { # FILE IDENTITY
	"$stint" controller --state-dir="$bed/controller" --enrol="$2" >"$bed/$1.key"
}

ops() {
	st "$@" --key="$bed/ops.key"
}

restart() { # OPTIONS...
	slay "${controller:-$(service_pid controller)}"
	start_controller "$@"
	eventually hosts_up 2
}

told() { # WHO WHAT DETAIL: an act that was done
	ops audit --csv | grep -qF ",\"$1\",\"$2\",\"$3\",1,\"\"" ||
		{ ops audit --csv; return 1; }
}

@test "what an administrator does to others' jobs, hosts and keys is told, also by the next controller" {
	job=$(st submit -n 1 sleep 1h)
	own=$(st submit -n 1 sleep 1h)
	other=$(st submit -n 1 sh -c 'trap : USR1; sleep 1h & wait; wait')
	eventually is "j[$other]['state']" running
	waits=$(st submit --hold true)
	st update --name mine "$waits" # of no concern to the audit
	ops update --limit 3min "$waits"
	ops release "$waits"
	ops cancel "$job"
	st cancel "$own"
	ops kill -s USR1 "$other"
	ops drain --no-wait --reason "a disk" h1 h2
	ops undrain h2
	run ! ops drain --no-wait nowhere
	key new user/bin
	"$stint" controller --state-dir="$bed/controller" --revoke=user/bin
	eventually told "uid 0" "key revoked" 'user/bin","'
	for _ in before after; do
		told "admin/ops" release "job $waits of root\",\""
		told "admin/ops" update "job $waits of root\",\"limit_us=180000000"
		told "admin/ops" cancel "job $job of root\",\""
		told "admin/ops" kill "job $other of root\",\"signal 10"
		told "admin/ops" drain 'h1 h2","a disk'
		told "admin/ops" undrain 'h2","'
		told "uid 0" "key added" 'admin/ops","'
		told "uid 0" "key added" 'user/bin","'
		told "uid 0" start 'controller","policy spread'
		ops audit --csv | grep -qF '"admin/ops","drain","nowhere","",0,"no host nowhere;'
		! ops audit --csv | cut -d, -f2 | grep -F '"admin/root"' || false
		restart
	done
	[ "$(ops audit --csv | grep -cF '"start","controller"')" = 3 ]
	ops audit --json >"$bed/json"
	python3 "$BATS_TEST_DIRNAME/fields.py" "$BATS_TEST_DIRNAME/../man/stint-audit.1" --all <"$bed/json"
	[ "$(ops audit --user ops --csv | sed 1d | cut -d, -f2 | sort -u)" = '"admin/ops"' ]
	[ "$(ops audit --user admin/op --csv | wc -l)" = 0 ]
	[ "$(ops audit --since 1h | wc -l)" = "$(($(wc -l <"$bed/json") + 1))" ]
	sleep 1.1
	[ -z "$(ops audit --since 1s)" ]
	ops audit | grep -q "^20..-..-.. ..:..:..  admin/ops        drain h1 h2 (a disk)$"
}

@test "who may not is told, and asks in vain without end; what they write is no terminal's" {
	job=$(st submit -n 1 sleep 1h)
	ops undrain h1
	for what in cancel hold requeue wait attach; do
		run -1 st "$what" "$job" --key="$bed/dim.key"
	done
	run -1 st migrate "$job.0" h2 --key="$bed/dim.key"
	run -1 st audit --key="$bed/dim.key"
	[[ "$output" == *"may not ask for this: it takes the key of an administrator"* ]]
	ops audit --csv >"$bed/csv"
	for what in cancel hold requeue wait attach migrate; do
		grep -qF "\"user/daemon\",\"$what\",\"job $job of root\",\"\",0,\"job $job is root's" "$bed/csv"
	done
	grep -qF '"user/daemon","get_audit","","",0,"not an administrator"' "$bed/csv"
	for _ in $(seq 70); do
		run -1 st drain --no-wait h1 --key="$bed/dim.key"
	done
	[ "$(ops audit --user daemon --csv | sed 1d | wc -l)" = 64 ]
	told "admin/ops" undrain 'h1","'
	# The name of a host is as somebody typed it.
	run ! ops drain --no-wait $'\e[2Jx\ny'
	run ! grep -q $'[\e]' <(ops audit; ops audit --csv)
	ops audit | grep -qF 'drain ?[2Jx y: refused'
}

@test "the calendar's and an attached administrator's acts are told; they are kept as long as accounts" {
	job=$(st submit -n 1 sleep 1h)
	eventually is "j[$job]['state']" running
	ops attach "$job" </dev/null >/dev/null 2>&1 &
	# shellcheck disable=SC2034 # it is for jobs_teardown
	background=$! # which ends with the test
	eventually told "admin/ops" attach "job $job of root\",\""
	at=$(date +%s) # from a minute ago on, for an hour
	printf 'daily %s-%s h2 a new disk\n' "$(date -d "@$((at - 60))" +%H:%M)" "$(date -d "@$((at + 3600))" +%H:%M)" >"$bed/cal"
	restart --calendar "$bed/cal"
	eventually told calendar drain 'h2","a new disk'
	told "uid 0" start "controller\",\"policy spread, calendar $bed/cal"
	echo "# none any more" >"$bed/cal"
	eventually told calendar undrain 'h2","'
	told calendar read "$bed/cal\",\""
	for _ in $(seq 12); do
		ops undrain h1
	done
	restart --accounts 5
	[ "$(ops audit --csv | sed 1d | wc -l)" -le 7 ]
}
