"""Residual channels as people call them: what one run could read of another, in a few words each.

Pages show these words where policies, files and certificates have the channel's name.
"""

from __future__ import annotations

from collections.abc import Iterable

from domain.channels import CHANNELS, Channel, ChannelName, ordered

CHANNEL_WORDS: dict[ChannelName, str] = {
    "run_times": "how long earlier runs took",
    "lateness": "runs and releases that are late",
    "caches": "what earlier runs left in caches",
    "page_faults": "which files of the image were read before",
    "host_pages": "how much of the host's own Python is in memory",
    "filesystem_numbers": "numbers of file systems",
    "large_input_inodes": "how many files large inputs had",
    "image_access_times": "when files of the host were last read",
    "core_counters": "how busy the processors of the host were",
    "commit_limit": "how much memory the host has promised",
    "contention": "how busy shared cores and memory are",
    "shared_waits": "waits on pages that two runs share",
    "file_times": "the times of new files",
    "rdseed": "how often the processor is asked for random numbers",
    "preemption": "how often a run waits for its core",
    "user_quotas": "quotas of the host's user",
    "rehearsals": "rehearsals beside a run",
    "pipe_count": "how many pipes and sockets were made",
    "mount_numbers": "how many mounts were made",
    "shared_pages": "which pages of the image another run uses",
    "standard_calls": "what the wider table of system calls allows",
    "pid_numbers": "how many processes a container had",
}


def channels_of(names: Iterable[str]) -> tuple[Channel, ...]:
    """The channels of these names, in the order of the table; a name that this version lacks is left out."""
    wanted = frozenset(names)
    return tuple(channel for channel in CHANNELS if channel.name in wanted)


def in_words(names: Iterable[ChannelName]) -> str:
    """All of them in one line."""
    return ", ".join(CHANNEL_WORDS[name] for name in ordered(names))
