"""One line for each word that a newcomer may not know, as the glossary has it."""

from __future__ import annotations

from domain.mechanisms import MECHANISMS

WORDS = {
    "block": "A group of whole privacy units; a job splits the data set into disjoint blocks.",
    "certificate": "What was released, how and at what loss, signed.",
    "cohort": "The people behind one or more data sets; they share one budget.",
    "delta": "The small probability with which the promise of epsilon may not hold; near zero.",
    "epsilon": "How much one person can change what is published: smaller protects more and costs accuracy.",
    "grant": "A rights holder's permission for a project: one data set, a share of its budget, a last day.",
    "guarantee": "What is promised about each person whose data are analysed; there are four classes. "
    "What has none, such as a scrambled twin, is marked none.",
    "image": "A root file system in which pipelines run, approved by the operator, named by digest.",
    "mechanism": "How outputs of runs, or sums over rows, become a value that may be released: "
    f"{', '.join(MECHANISMS)}.",
    "nats": "The unit of PAC privacy: how much may be learned about which half was analysed.",
    "pipeline": "Manifest and sources: an image, a command, and declared outputs with bounds.",
    "privacy budget": "The most that all releases together may tell about the people behind a data set.",
    "project": "People who work together for one purpose; rights holders grant it data sets.",
    "release": "The noised values and files, with their certificate.",
    "releases": "A count, where no formal guarantee is given: each release takes one.",
    "rho": "Another measure of the same promise as epsilon and delta, in which many releases add up better.",
    "run": "One sandboxed execution of a pipeline: on a block, a half-sample, or everybody but one.",
    "snapshot": "The sealed form of a data set in the worker zone.",
    "trusted query": "An aggregate that the platform computes itself, of one of eight kinds: no pipeline and "
    "no runs.",
    "twin": "The anonymised stand-in: same files, columns and types, random content, from the declaration "
    "alone or from counts with noise.",
}
