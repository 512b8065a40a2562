"""The attack laboratory: what unsound noise gives away, and what the platform's mechanisms keep.

It runs on data that the owner holds, on the owner's machine, and its report holds numbers computed from the
original data. Nothing of it is a release. Unsound mechanisms live in `flawed` and nowhere else, and nothing
outside this package imports it but its commands.

    subjects      the people under attack: one number for each, and their table
    flawed        mechanisms that fail, each with its mistake
    contenders/   all mechanisms as their attackers see them; the pipeline is computed here, in no sandbox
    attacks/      each attack as plain functions over arrays
    chapters/     one chapter of the report for each experiment
    drawing       figures as inline SVG
    report        the chapters as one HTML file that loads nothing
"""
