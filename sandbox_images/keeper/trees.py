"""Files into a volume, below a descriptor of its root. No name leads out of it, and no link is followed."""

import os
import sys

LONG_AGO = 946_684_800  # the time of every file that a run can see, whenever it was written
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def open_folder(path):
    return os.open(path, _FOLDER)


def write_tree(root, request, mode, made):
    """From a list of path, content, path, content... `made` knows the folders, as tuples of names, that exist
    already; those that are made here join it.
    """
    touched = {()}
    while request.left:
        *parents, name = steps_of(request.item())
        size = request.integer(4)
        here = make_folders(root, parents, made)
        descriptor = os.open(name, _NEW, mode, dir_fd=here)
        request.to_file(descriptor, size)
        seal(descriptor)
        os.close(here)
        touched |= {tuple(parents[:depth]) for depth in range(len(parents) + 1)}
    seal_folders(root, touched)


def steps_of(path):
    steps = path.decode().split("/")
    if any(step in ("", ".", "..") for step in steps):
        sys.exit("not a tree")
    return steps


def make_folders(root, parents, made):
    """A descriptor of the folder; those on the way to it that are not there yet are made."""
    here = os.dup(root)
    for depth, name in enumerate(parents, start=1):
        if tuple(parents[:depth]) not in made:
            os.mkdir(name, 0o700, dir_fd=here)
            made.add(tuple(parents[:depth]))
        here = step(here, name)
    return here


def step(here, name):
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def seal(descriptor):
    """Close it; its times say nothing."""
    os.utime(descriptor, (LONG_AGO, LONG_AGO))
    os.close(descriptor)


def seal_folders(root, folders):
    for parents in folders:
        here = os.dup(root)
        for name in parents:
            here = step(here, name)
        seal(here)
