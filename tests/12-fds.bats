# Connections that carry a checked two-way load are moved again and again
# between two network namespaces; no byte may be wrong or missing.

load build

setup() {
	[ "$(id -u)" = 0 ] || skip "makes network namespaces"
}

fdload() {
	run timeout 300 "$STINT_BUILD/src/move/fdload" "$@"
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *'"ok":true'* ]]
}

@test "streams and small messages survive 100 moves" {
	fdload 100 2 5000000
}

@test "full queues, closed windows and IPv6 survive 20 moves" {
	fdload 20 6 1000000
}

@test "so they do with the kernel's usual retransmission time" {
	fdload 30 4 1000000 200000
}
