/* client.c - the program that has the subcommands which ask the controller */
#define IN_client HERE
#define IN_daemon ELSEWHERE
#define IN_keeper ELSEWHERE
#define IN_move	  ELSEWHERE
#define IN_sim	  ELSEWHERE
#include "cmd/kit/table.h"

int main(int argc, char **argv)
{
	return command_main(commands, argc, argv);
}
