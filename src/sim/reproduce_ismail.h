/* reproduce_ismail.h - the entries of reproduce_ismail_dynamic.c */
#ifndef SIM_REPRODUCE_ISMAIL_H
#define SIM_REPRODUCE_ISMAIL_H

#include "sim/reproduce.h"

int ismail_i4a(struct reproduce *r, struct error *err);
int ismail_i4b(struct reproduce *r, struct error *err);
int ismail_i4c(struct reproduce *r, struct error *err);
int ismail_i4d(struct reproduce *r, struct error *err);
int ismail_i4e(struct reproduce *r, struct error *err);

#endif
