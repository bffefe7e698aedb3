/* keeper.c - the program of the processes beside ranks */
#define IN_client ELSEWHERE
#define IN_daemon ELSEWHERE
#define IN_keeper HERE
#define IN_move	  ELSEWHERE
#define IN_sim	  ELSEWHERE
#include "cmd/kit/table.h"

int main(int argc, char **argv)
{
	return command_main(commands, argc, argv);
}
