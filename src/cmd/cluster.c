/* cluster.c - the program of daemons, test hosts and single moves */
#define IN_client ELSEWHERE
#define IN_daemon HERE
#define IN_keeper ELSEWHERE
#define IN_move	  HERE
#define IN_sim	  ELSEWHERE
#include "cmd/kit/table.h"

int main(int argc, char **argv)
{
	return command_main(commands, argc, argv);
}
