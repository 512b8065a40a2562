#!/bin/sh
# A BIDS app: app.sh INPUT OUTPUT participant|group. A shell and awk.
#
# The participant level has nothing to do here; the group level writes the mean age, height and weight of the
# people in INPUT, one row without a header, to OUTPUT/derivatives/group/results.tsv.
set -eu

input=$1 output=$2 level=$3
[ "$level" = group ] || exit 0

folder=$output/derivatives/group
mkdir -p "$folder"
awk -f "${0%/*}/means.awk" "$input/participants.tsv" >"$folder/results.tsv"
printf '{"Name": "mean-height", "BIDSVersion": "1.8.0", "DatasetType": "derivative"}\n' \
    >"$output/derivatives/dataset_description.json"
