# A copy of the controller's store, made while the controller runs, and what comes of it.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 2
	"$stint" controller --state-dir="$bed/controller" --enrol=admin/ops >"$bed/ops.key"
	mkdir "$bed/backup"
	copy=$bed/backup/store.db
}

teardown() {
	[ -z "${mounted:-}" ] || umount "$mounted"
	jobs_teardown
}

ops() {
	st "$@" --key="$bed/ops.key"
}

# As stint-store(1) tells.
go_back() {
	mkdir "$bed/old"
	mv "$bed/controller"/state.db* "$bed/old/"
	install -m 600 "$copy" "$bed/controller/state.db"
}

alone() { # is nothing but these in the folder of copies?
	[ "$(ls "$bed/backup")" = "$*" ]
}

open_files() {
	find "/proc/$1/fd" -lname "$bed/controller/*" -printf '%l\n' | sort
}

@test "a controller that is started on a copy knows every job that anybody was told of" {
	slow=$(st submit -n 1 sleep 1000)
	st submit -n 1 sh -c 'echo it was printed; exit 3' >"$bed/failed"
	st wait "$(cat "$bed/failed")" || [ $? = 3 ]
	eventually is "j[$slow]['state']" running
	st submit --hold --array 0-1999 env >"$bed/array"
	(while st submit --hold true >>"$bed/told"; do :; done) 2>/dev/null 3>&- &
	background=$!
	eventually test -s "$bed/told"
	service=$(service_pid controller)
	held=$(open_files "$service")
	cp "$bed/told" "$bed/before"
	ops store copy "$copy" >"$bed/said"
	cp "$bed/told" "$bed/after"
	[ "$(stat -c %a "$copy")" = 600 ]
	alone store.db
	[ "$(open_files "$service")" = "$held" ]
	[ -z "$(find "$bed/controller" -name '*copy*')" ]
	slay "$service"
	kill "$background" 2>/dev/null || true # it may have ended with the controller
	wait "$background" || true
	background=
	[ "$(sqlite3 "$copy" 'PRAGMA integrity_check')" = ok ]
	go_back
	start_controller
	eventually hosts_up 2
	st ps --all --json >"$bed/known"
	# Those of before, and none that nobody was told of after it.
	python3 - "$bed/known" "$bed/before" "$bed/after" <<'PY'
import json, sys
known = {json.loads(l)["job"] for l in open(sys.argv[1])}
before, after = ({int(l) for l in open(f)} for f in sys.argv[2:])
assert before and before <= known, before - known
assert max(known) <= max(after) + 1, (max(known), max(after))
PY
	[ "$(json 'sum(i["array"] == '"$(cat "$bed/array")"' for i in j)' ps)" = 2000 ]
	[ "$(st output "$(cat "$bed/failed")")" = "it was printed" ]
	[ "$(jobs "j[$(cat "$bed/failed")]['exit']")" = 3 ]
	[ "$(jobs "j[$slow]['state']")" = running ] # it ran on
	[[ "$(cat "$bed/said")" == "$copy: "*" MB, "*" jobs" ]]
	ops audit --csv | grep -qF '"admin/ops","copy","store","",1,""'
}

@test "a copy is an administrator's; what is there already stays as it was until it is whole" {
	"$stint" controller --state-dir="$bed/controller" --enrol=user/daemon >"$bed/dim.key"
	echo "as it was" >"$copy"
	run -1 st store copy "$copy" --key="$bed/dim.key"
	[[ "$output" == *"it takes the key of an administrator"* ]]
	run -1 ops store copy "$bed/backup"
	[[ "$output" == *"is no file"* ]]
	run -1 ops store copy "$bed/nowhere/store.db"
	run -1 ops store copy "$bed/controller/state.db"
	[[ "$output" == *"state.db-wal is there"* ]]
	mounted=$bed/small
	mkdir "$mounted"
	mount -t tmpfs -o size=64k none "$mounted"
	echo "as it was" >"$mounted/store.db"
	run -1 ops store copy "$mounted/store.db"
	[[ "$output" == *"No space left"* ]]
	[ "$(ls "$mounted")" = store.db ]
	[ "$(cat "$mounted/store.db" "$copy" | sort -u)" = "as it was" ]
	alone store.db
	ops store copy "$copy"
	[ "$(sqlite3 "$copy" 'SELECT count(*) FROM job')" = 0 ]
	alone store.db
}

@test "a controller that is killed in the middle, and a client, leave no half copy" {
	st submit --hold --array 0-9999 env >/dev/null
	echo "as it was" >"$copy"
	service=$(service_pid controller)
	for round in 1 2 3; do
		limit=60 begin store copy "$copy" --key="$bed/ops.key" 2>"$bed/out"
		client=${background##* }
		until [ -n "$(find "$bed/backup" -name 'store.db.*')" ]; do
			run ! ended "$client"
		done
		if [ "$round" = 2 ]; then kill "$(pgrep -P "$client")"; else slay "$service"; fi
		if wait "$client"; then false; fi
		eventually alone store.db
		[ "$(cat "$copy")" = "as it was" ]
		[ "$(find "$bed/controller" -name '*copy*' -size +0 | wc -l)" = 0 ]
		[ "$round" != 2 ] || continue
		start_controller
		service=$controller
		eventually hosts_up 2
	done
	background=
	for n in 1 2; do
		begin store copy "$bed/backup/$n.db" --key="$bed/ops.key" >"$bed/out$n"
	done
	wait $background
	for n in 1 2; do
		[ "$(sqlite3 "$bed/backup/$n.db" 'SELECT count(*) FROM job')" = 10000 ]
	done
	rm "$copy"
	ops store copy "$copy"
	alone "$(printf '1.db\n2.db\nstore.db')"
}
