/* ring.i - Yorick's ranks pass a number around; rank 0 prints what each has at the end */
func ring(rounds)
{
	sum = double(mp_rank);
	for (i = 1; i <= rounds; i++) {
		mp_send, (mp_rank + 1) % mp_size, sum;
		sum = (mp_recv((mp_rank + mp_size - 1) % mp_size) * 31 + i) % 1000003;
	}
	if (mp_rank) {
		mp_send, 0, sum;
		return;
	}
	write, format="ring 0 %.0f\n", sum;
	for (rank = 1; rank < mp_size; rank++)
		write, format="ring %ld %.0f\n", rank, mp_recv(rank);
}
ring, 20000;
