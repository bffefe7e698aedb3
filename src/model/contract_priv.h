/* contract_priv.h - what the files of contract.h share: contract.c and contract_paper.c */
#ifndef MODEL_CONTRACT_PRIV_H
#define MODEL_CONTRACT_PRIV_H

#include "model/contract.h"

#define AGES_AGO (-USEC_MAX / 4)

/* If the clock is where it was when c was written, that long it has been. */
void contract_settle(struct contract *c, const struct moment *now);

#endif
