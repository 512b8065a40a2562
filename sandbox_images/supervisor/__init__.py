"""The supervisor of a slot: trusted code inside bubblewrap that forks one child per run into namespaces of
its own. It holds no data, runs nothing of a researcher, and a run never comes back to it.

Reading order: main (the loop), run (one run), confine (what the child does to itself), payload (its end).
"""
