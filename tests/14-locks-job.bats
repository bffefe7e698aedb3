# Ranks of a job are moved by `stint migrate` while each of them is in the middle of a bulk
# insert with SQLite, in a folder that all hosts see.  No other process gets the lock.

bats_require_minimum_version 1.5.0
load jobs

setup() {
	jobs_setup
	serve 3
	top=$(mktemp -d /var/tmp/stint-locks-XXXXXX) # capsules have a /tmp of their own
}

teardown() {
	[ -z "${contender:-}" ] || kill "$contender" || true
	jobs_teardown
	[ -z "${top:-}" ] || rm -rf "$top"
}

@test "ranks in the middle of a bulk insert are migrated, who opens the database never gets in" {
	local rank bulk=$BATS_TEST_DIRNAME/move/bulk.py
	mkdir "$top/0" "$top/1"
	touch "$top/0/bulk.db" "$top/1/bulk.db"
	# shellcheck disable=SC2016 # the rank knows its number
	begin run -n 2 --hosts h1,h2 -x CHECK_STOP="$top/stop" sh -c \
		"BULK_DIR=$top/\$PMI_RANK exec $bulk" >"$bed/out" 2>&1
	eventually test -e "$top/0/locked"
	eventually test -e "$top/1/locked"
	"$bulk" contend "$top/0" >"$top/got" 2>&1 3>&- &
	contender=$!
	eventually test -e "$top/0/contending"
	for rank in 0 1 0; do
		migrate 1.$rank h3
		migrate 1.$rank h$((rank + 1))
	done
	[ "$(json 'sum(r["moves"] for r in j[0]["ranks"])' ps 1)" = 6 ]
	[ -e "$top/0/locked" ]
	[ -e "$top/1/locked" ]
	touch "$top/0/over"
	wait "$contender"
	contender=
	cat "$top/got"
	[ ! -s "$top/got" ]
	touch "$top/stop"
	wait "$background"
	[ "$(grep -c '^PASS$' "$bed/out")" = 2 ]
}
