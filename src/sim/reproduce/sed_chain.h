/*
 * sed_chain.h - shortest expected delay on system 2 as a Markov chain (Schnor 1997
 * Figure 4.4)
 *
 * Jobs take as many hosts as they get, so the mapping states of Figure 4.4 are all there
 * are: 0, 20, 20/10, 10, 10+10 and 10+10/10, where 20 and 10 are the hosts of jobs on fast
 * hosts and /10 is one on the slow ones.  Jobs wait in 20/10 and 10+10/10 alone.  A demand
 * is exponential, of a mean that is drawn when its job starts; so with how many wait, and
 * which mean each job that runs has got, the states are a Markov chain.  Moves take no time
 * in it.
 */
#ifndef SIM_REPRODUCE_SED_CHAIN_H
#define SIM_REPRODUCE_SED_CHAIN_H

/* Of demands: two means, in seconds on a fastest host, and how often each is drawn. */
struct sed_demand {
	double mean[2], weight[2];
};

/*
 * Mean seconds between migrations while jobs from to jobs from + count arrive, rate a
 * second, in a system that was empty at first.
 */
double sed_chain_gap(const struct sed_demand *demand, double rate, double from,
		     double count);

/*
 * The same in the long run where all demands have one mean, in such means, at that load.
 * A queue is geometric with ratio rho, and the balance of flows gives the other states as
 * multiples of P(20):
 *
 *	P(0) = 1 + (20 - 5/2 rho) / (22.5 rho)
 *	P(10) = 2 rho		P(10+10) = 9/4 rho^2
 *	P(20/10, any queue) = rho / (1 - rho)
 *	P(10+10/10, any queue) = P(10+10) rho / (1 - rho)
 *
 * A migration is an end on a fast host in 20/10 or 10+10/10 while nobody waits.
 */
double sed_chain_closed(double rho);

#endif
