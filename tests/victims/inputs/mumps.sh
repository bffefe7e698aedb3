#!/bin/bash
# mumps.sh SIDE: MUMPS's own example solves an equation of five points on a square grid
awk -v k="$1" 'BEGIN {
	n = k * k
	print n
	print n + 4 * k * (k - 1)
	for (i = 1; i <= n; i++) {
		print i, i, 4.5
		if (i % k)
			print i, i + 1, -1 "\n" i + 1, i, -1
		if (i + k <= n)
			print i, i + k, -1 "\n" i + k, i, -1
	}
	for (i = 1; i <= n; i++)
		print i % 7
}' >/tmp/equation && exec /usr/lib/mumps/dsimpletest </tmp/equation
