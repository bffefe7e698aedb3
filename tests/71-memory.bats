#!/usr/bin/env bats
# Policies that share memory (Chen 2002), on live hosts that are short of it
bats_require_minimum_version 1.5.0
load jobs

setup() { jobs_setup; }
teardown() { jobs_teardown; }

# A job that goes on reading a file of its own, of which its host can keep only a part in
# memory.
reader() { # MEGABYTES
	local n=$((${njobs:-0} + 1)) file=$BATS_TEST_TMPDIR/file$((${njobs:-0} + 1))
	truncate -s "${1}M" "$file" # nothing of it is in memory, for which others would pay
	begin run python3 -c '
import mmap, sys
file = open(sys.argv[1], "rb")
pages = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
pages.madvise(mmap.MADV_RANDOM)
while True:
    for at in range(0, len(pages), 4096):
        pages[at]' "$file" >>"$bed/out" 2>&1
	njobs=$n
	eventually is "'yes' if j.get($n, {}).get('state') == 'running' else 'no'" yes
}

needs() { # JOB MEGABYTES
	is "j[$1]['ranks'][0]['memory'] > $2 << 20" True
}

recorded() { # PATTERN
	st record | grep -q "$1"
}

same_plans() {
	st record -o "$BATS_TEST_TMPDIR/record"
	run -0 st sim --replay "$BATS_TEST_TMPDIR/record"
}

@test "hosts of a testbed have the memory that was asked for" {
	st testbed --memory=1G,256M up 3
	run -0 json '[h["memory"] >> 20 for h in j]' hosts
	[ "$output" = "[1024, 256, 256]" ]
	run -0 json 'all(0 < h["memory_free"] < h["memory"] for h in j)' hosts
	[ "$output" = True ]
}

@test "g-loadsharing: from a host where pages fault the largest process moves to idle memory" {
	st testbed --memory=128M --policy=g-loadsharing:settle=0s up 2
	st drain h2
	reader 40
	eventually needs 1 40
	reader 95
	eventually needs 2 65
	eventually json_is 'j[0]["refaults"] > 10' True hosts
	st undrain h2
	eventually is 'hosts(2)' "['h2']"
	[ "$(jobs 'hosts(1)')" = "['h1']" ]
	recorded 'plan migrate .* page faults a second on host h1, and the [0-9]* bytes that the process needs are idle on the new host'
	recorded '^demand [0-9]* job=1 bytes='
	same_plans
	# Both hosts have enough memory now.
	eventually json_is 'all(h["refaults"] < 10 for h in j)' True hosts
}

@test "v-reconfiguration: a host is held back until it is empty for a process that fits nowhere" {
	st testbed --memory=128M --policy=v-reconfiguration:settle=1s up 3
	# Each process is where it should be before any of them may move.
	st drain h1
	st drain h2
	reader 30
	run -1 st drain h3 # nobody moves: this policy does not empty hosts
	st undrain h2
	reader 30
	run -1 st drain h2
	st undrain h1
	reader 160
	eventually needs 3 80
	[ "$(jobs 'hosts(1) + hosts(2) + hosts(3)')" = "['h3', 'h2', 'h1']" ]
	st undrain h2
	st undrain h3
	eventually recorded '^plan reserve'
	held=$(st record | sed -n 's/^plan reserve.*\(h[23]\).*/\1/p' | head -n 1)
	[ "$(jobs 'hosts(3)')" = "['h1']" ]
	st kill "$((4 - ${held#h}))"
	eventually is 'hosts(3)' "['$held']"
	recorded "the new host was held back for the largest process there"
	st kill 3
	eventually recorded '^plan release.*the processes for which it was held back have ended'
	same_plans
}
