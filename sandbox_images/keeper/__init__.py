"""The keeper: PID 1 of a container of ours that puts inputs in and takes outputs out, where the worker has no
path to them. Trusted code in an operator's image. It has no network, no capability and no writable file
system but the volumes of a batch of runs: `/code`, `/parts`, and `/runs/<n>/in` and `/runs/<n>/out`.

Reading order: main (the loop and its table), pipes (the wire), trees (files in), parts (what many inputs
share), collecting (files out), emptying. All of them travel in the container's command line.
"""
