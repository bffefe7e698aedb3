# The programs that check themselves while they are moved are tested first: each passes if
# nobody moves it, and each notices when its state is spoilt.

load build

setup() {
	. "$BATS_TEST_DIRNAME/move/programs.bash"
	export CHECK_DIR=$BATS_TEST_TMPDIR
}

# Run every program, eight at a time; exit statuses go to files.
run_all() {
	local line argv n=0
	while read -r line; do
		[ -n "$line" ] || continue
		move_argv "$line"
		{
			timeout 300 "${argv[@]}" >"$CHECK_DIR/out.$n" 2>&1
			echo "$? $line" >"$CHECK_DIR/status.$n"
		} 3>&- &
		n=$((n + 1))
		[ $n -lt 8 ] || wait -n
	done <<<"$1"
	wait
	cat "$CHECK_DIR"/status.* | sort
}

things() {
	"$STINT_BUILD/tests/move/check-unsupported" --list |
		sed 's/\t.*//; s/^/check-unsupported /'
}

@test "the self-checking programs pass unmoved" {
	run run_all "$move_programs$move_perhaps
$(things)"
	echo "$output"
	[ "${#lines[@]}" -ge 40 ]
	[ -z "$(grep -vE '^(0|77) ' <<<"$output")" ]
	[ "$(grep -c '^77 ' <<<"$output")" -le 4 ]
}

@test "the self-checking programs fail when their state is spoilt" {
	export CHECK_SABOTAGE=1
	run run_all "$move_programs$move_perhaps"
	echo "$output"
	[ -z "$(grep -vE '^(1|77) ' <<<"$output")" ]
	[ "$(grep -c '^1 ' <<<"$output")" -ge 25 ]
}

@test "a TCP peer checks the stream of the one that is to be moved" {
	local p=$STINT_BUILD/tests/move/check-tcppeer port
	local server=$CHECK_DIR/server
	{ timeout 300 "$p" serve 0; echo "exit $?"; } >"$server" 2>&1 3>&- &
	eventually grep -q READY "$server"
	port=$(sed -n 's/^port //p' "$server")
	run timeout 300 "$p" call 127.0.0.1 "$port"
	echo "$output"
	eventually grep -q ^exit "$server"
	cat "$server"
	[ "$status" = 0 ]
	grep -q PASS "$server"
	grep -qx "exit 0" "$server"
}

@test "heat gives the same bits whatever the number of ranks" {
	local n
	for n in 1 2 3; do
		timeout 300 mpiexec.mpich -n $n "$STINT_BUILD/examples/heat" -n 60 \
			-i 50 -q -o "$CHECK_DIR/field.$n" >"$CHECK_DIR/heat.$n" 3>&-
		grep -o 'checksum=.*' "$CHECK_DIR/heat.$n" >"$CHECK_DIR/sum.$n"
	done
	cmp "$CHECK_DIR/field.1" "$CHECK_DIR/field.2"
	cmp "$CHECK_DIR/field.1" "$CHECK_DIR/field.3"
	cmp "$CHECK_DIR/sum.1" "$CHECK_DIR/sum.2"
	cmp "$CHECK_DIR/sum.1" "$CHECK_DIR/sum.3"
}

@test "heat explains its options and refuses others" {
	run "$STINT_BUILD/examples/heat" -h
	[ "$status" = 0 ]
	[[ $output == *usage:* ]]
	run "$STINT_BUILD/examples/heat" -n many
	[ "$status" = 2 ]
	[[ $output == *"not a number"* ]]
}

@test "chkmpi passes, and notices one wrong byte" {
	run timeout 300 mpiexec.mpich -n 2 "$STINT_BUILD/tests/mpi/chkmpi" \
		--rounds 5 --max 100000
	[ "$status" = 0 ]
	[[ $output == *"PASS 5 rounds"* ]]
	run timeout 300 mpiexec.mpich -n 2 "$STINT_BUILD/tests/mpi/chkmpi" \
		--rounds 5 --max 100000 --sabotage 3
	[ "$status" != 0 ]
	[[ $output == *"is wrong"* ]]
}
