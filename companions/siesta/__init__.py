"""The tools of the SIESTA workflow for people who script its steps themselves: folders in, folders out.

They keep the names and argument orders of the tools that the SIESTA project's work package 15 published, and
refuse, in one sentence that names the place, wherever a person could slip through. What they release is
`empirical`: it is matched to leave-one-out stability and is no differential privacy.

    leaveoneout, singlesubject    selection: people (who), places (what belongs to whom), tables (rows)
    mergesubjects                 merging
    mergegroup                    samples, from group_files (numbers and labels of a result)
    calibratenoise, addnoise      calibration, noise_table, noising
    --format wp15                 wp15
    cleanup                       cleaning
"""
