"""A pipeline on a twin, where its author may see everything: the core of `dpgate run` and of rehearsals.

Reading order: slots, levels, runs; twin_source and passing_outputs for a twin that is nowhere on disk;
ladder for the error to expect.
"""
