# A BIDS app: app.R INPUT OUTPUT participant|group. Base R and jsonlite.
#
# The participant level has nothing to do here; the group level writes the mean age, height and weight of the
# people in INPUT, one row without a header, to OUTPUT/derivatives/group/results.tsv.

library(jsonlite)

columns <- c("age", "Height", "Weight")

# One mean per column over the people who have a value; `n/a` where nobody has.
means <- function(table) {
  people <- read.delim(table, colClasses = "character", na.strings = "n/a", quote = "", check.names = FALSE)
  vapply(columns, function(column) {
    values <- as.numeric(na.omit(people[[column]]))
    if (length(values) > 0) sprintf("%.17g", sum(values) / length(values)) else "n/a"
  }, "")
}

write_results <- function(folder, results) {
  dir.create(folder, recursive = TRUE)
  writeLines(paste(results, collapse = "\t"), file.path(folder, "results.tsv"))
  description <- list(Name = "mean-height", BIDSVersion = "1.8.0", DatasetType = "derivative")
  write_json(description, file.path(dirname(folder), "dataset_description.json"), auto_unbox = TRUE)
}

given <- commandArgs(trailingOnly = TRUE)
if (given[3] == "group") {
  write_results(file.path(given[2], "derivatives", "group"), means(file.path(given[1], "participants.tsv")))
}
