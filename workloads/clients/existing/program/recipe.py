"""A lock that is a program: one that runs a command for as long as it holds."""

import os

import zooquake


class Adapter(zooquake.HolderProcess):
    command = ["./batch-lock", os.environ["ZOOQUAKE_CONNECT"], "/batch/locks", "sh", "-c", "echo held; exec cat"]


zooquake.run(Adapter)
