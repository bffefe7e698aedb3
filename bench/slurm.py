"""slurm.py - Slurm beside Stint: a cluster of Debian's slurm-wlm on loopback, as root, with as
many nodes, each with its slurmd.

It does without what costs it time and is not needed here: no munge, no accounting, no
step's plugin for tasks, schedules at each event, and keeps track of processes by their group.  So its
jobs have neither namespaces nor a control group of their own."""
import os
import shutil
import signal
import subprocess
import sys
import time

CONTROLLER_PORT, NODE_PORT = 17010, 17020  # and one more for each node
PROGRAMS = "slurmctld", "slurmd", "srun", "sbatch", "squeue"
SETTINGS = """
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
MailProg=/bin/true
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldDebug=error
SlurmdDebug=error
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=1000,default_queue_depth=1000
SlurmdParameters=config_overrides
MaxJobCount=20000
MaxArraySize=10001
MinJobAge=10
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
PropagateResourceLimits=NONE
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def installed():
    return all(shutil.which(name) for name in PROGRAMS)


class Slurm:
    """Use it with `with`; folder is empty, and the caller's to remove."""

    def __init__(self, folder, nodes):
        self.folder, self.nodes, self.daemons = folder, nodes, []
        self.env = {"PATH": os.environ["PATH"], "SLURM_CONF": folder + "/slurm.conf"}
        host = os.uname().nodename
        lines = ["NodeName=n%d NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=16" %
                 (i, host, NODE_PORT + i) for i in range(nodes)]
        with open(folder + "/slurm.conf", "w") as f:
            f.write(SETTINGS.format(host=host, port=CONTROLLER_PORT, folder=folder,
                                    nodes="\n".join(lines)))
        os.mkdir(folder + "/state")

    def __enter__(self):
        try:
            self.start("slurmctld", "-D")
            for i in range(self.nodes):
                self.start("slurmd", "-D", "-N", "n%d" % i)
            self.until_it_runs_a_job()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in self.daemons:
            daemon.send_signal(signal.SIGTERM)
        for daemon in self.daemons:
            daemon.wait()

    def start(self, *words):
        with open("%s/log.%d" % (self.folder, len(self.daemons)), "w") as log:
            self.daemons.append(subprocess.Popen(words, env=self.env, stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log))

    def __call__(self, *words, check=True):
        return subprocess.run(words, env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=check,
                              timeout=600)

    def until_it_runs_a_job(self):
        for _ in range(50):
            if self("srun", "-N%d" % self.nodes, "true", check=False).returncode == 0:
                return
            time.sleep(0.2)
        sys.exit("slurm: no job runs; see %s/log.*" % self.folder)

    def run(self):
        self("srun", "-Q", "true")

    def submit(self, *options):
        self("sbatch", "-Q", "-o", "/dev/null", *options, "--wrap", "true")

    def wait(self):
        """Until no job waits or runs."""
        while self("squeue", "-h", "-t", "PD,R").stdout:
            time.sleep(0.05)
