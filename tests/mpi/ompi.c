/* ompi.c - a program that is linked to Open MPI, which is fake_ompi.c */
#include "fake_ompi.h"

int main(void)
{
	return MPI_Init();
}
