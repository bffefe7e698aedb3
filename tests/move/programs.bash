# The self-checking programs and how to start them, one a line: what must
# move, and what is not moved for now but must pass unmoved.
# shellcheck disable=SC2034 # for who loads this
move_programs='
check-altstack
check-attrs
check-bigmem 64 10000
check-clocks
check-brief journal
check-brief children
check-brief vfork
check-brief mapping
check-churn
check-cputime
check-cuts
check-cuts vfork
check-epolls
check-eventfds
check-eventfds memfd
check-guards
check-handed
check-handed 1
check-holes
check-interrupts
check-late file
check-late private
check-libsignals
check-libsignals cancel
check-libsignals setuid
check-files
check-files locks
check-locks
check-many files 300
check-many churn 20
check-many pipes 20
check-many sockets 20
check-many eventfds 100
check-many epoll 100
check-memory
check-merges
check-multicast
check-netns
check-pipes
check-pipes fifo
check-queues
check-queues 100 16
check-quiet
check-rewrite 32
check-rows
check-rseqs
check-settings
check-settings mdwe
check-shared
check-signals
check-signals many
check-sigwait
check-sleeps
check-socketpairs
check-sockopts
check-steps
check-tcp
check-tcp ipv6
check-tcp closing
check-threads
check-threads 50
check-unseen
check-unseen direct
check-vectors
check-threads-static
check-memory-static
check-memory sparse
check-storm
check-threadstorm
check-timers
check-timers-static
check-epolls stale
check-memory shared
check-storm runs
pychk.py
pychk.py wal
'
# shellcheck disable=SC2034
move_perhaps='
check-tcp connecting
'

# The command line of one such line, as an array named argv.
move_argv() {
	read -ra argv <<<"$1"
	case ${argv[0]} in
	*.py) argv[0]=$BATS_TEST_DIRNAME/move/${argv[0]}
	      argv=(/usr/bin/python3 "${argv[@]}") ;;
	*) argv[0]=$STINT_BUILD/tests/move/${argv[0]} ;;
	esac
}
