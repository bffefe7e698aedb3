/*
 * play_contract.h - for tests: a host with a contract, and what happens there
 */
#ifndef MODEL_PLAY_CONTRACT_H
#define MODEL_PLAY_CONTRACT_H

#include "model/contract.h"

#define SEC  USEC_PER_SEC
#define MIN  (60 * SEC)
#define HOUR (60 * MIN)
#define DAY  USEC_PER_DAY

extern struct owner_terms terms;
extern struct contract c;
extern struct scene scene; /* that the contract is fed with */
extern usec_t now, step;   /* the wall clock is ahead by step */
extern char *paper;	   /* as on_paper() wrote it */

/* Of cmocka, before each test: eight in the morning, and nobody was there. */
int fresh(void **state);

/* The contract by both clocks: told what there is, and asked. */
struct moment moment(void);
void feed(void);
enum closed closed(void);
usec_t next(void);

/* So many run there; the owner comes or goes. */
void guests(uint32_t n);
void owner(bool here);
/* Comes, finds what there is, and goes; the guests are gone then. */
void visit(void);

/* Write the contract to paper, as in that boot of the host. */
void on_paper(const char *boot);
/* Read it again, and free the paper; what contract_read() returns. */
int from_paper(const char *boot);

#endif
