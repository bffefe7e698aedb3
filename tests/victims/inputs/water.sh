#!/bin/bash
# water.sh DIR: some picoseconds of water by GROMACS, whose log is what it prints
cd /tmp && ln -s /dev/stdout o.log
{
	gmx -quiet genconf -f /usr/share/gromacs/top/spc216.gro -nbox 2 2 2 -o box.gro &&
		gmx -quiet grompp -f "$1/water.mdp" -p "$1/water.top" -c box.gro -o w.tpr
} &>prepared || exit
GMX_MAXBACKUP=-1 exec gmx_mpi -quiet mdrun -s w.tpr -reprod -ntomp 1 -g o.log -deffnm o
