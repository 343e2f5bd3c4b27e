"""A Slurm cluster of one node on this machine, from Debian's packages slurm-wlm and munge; needs root."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

CONFIGURATION = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmdPort={next_port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=5,sched_interval=5
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
KillWait=20
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
AccountingStorageType=accounting_storage/none
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE MaxTime=INFINITE State=UP
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF MaxTime=INFINITE State=UP
"""
PROGRAMS = ("sbatch", "slurmctld", "slurmd", "munged")


def lacking():
    """Why there can be no such cluster here; None if there can."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"Slurm is not installed: {', '.join(missing)} missing (apt-get install slurm-wlm munge)"
    return "a Slurm node can only be started by root" if os.geteuid() else None


@contextmanager
def slurm_node(folder):
    """Start the three daemons, and stop them in the end; yields the variables with which Slurm's commands find them.

    There are two partitions: jobs of ``high`` preempt those of ``low``, the default.
    """
    for name in ("state", "spool"):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = CONFIGURATION.format(host=socket.gethostname(), folder=folder, port=port, next_port=port + 1)
    (folder / "slurm.conf").write_text(text)
    variables = {"SLURM_CONF": str(folder / "slurm.conf")}
    files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid", "log-file": "munged.log"}
    options = [f"--{name}={folder / file}" for name, file in {**files, "seed-file": "munged.seed"}.items()]
    daemons = []
    try:
        for words in (["munged", "--foreground", "--force", *options], ["slurmctld", "-D"], ["slurmd", "-D"]):
            with open(folder / f"{words[0]}.out", "w") as said:
                environment = {**os.environ, **variables}
                daemons.append(subprocess.Popen(words, env=environment, stdout=said, stderr=subprocess.STDOUT))
            time.sleep(1)
        until = time.monotonic() + 60
        while (
            "idle"
            not in subprocess.run(
                ["sinfo", "--noheader", "--format=%T"], env={**os.environ, **variables}, capture_output=True, text=True
            ).stdout.split()
        ):
            assert time.monotonic() < until, [file.read_text()[-2000:] for file in folder.glob("*.out")]
            time.sleep(1)
        yield variables
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()
