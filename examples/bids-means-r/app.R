# A BIDS app: app.R INPUT OUTPUT participant|group. Base R and jsonlite.
#
# participant: the three numbers of each person in INPUT, to OUTPUT/sub-XX/sub-XX_measures.tsv.
# group: the means over OUTPUT/sub-*, one row without a header, to OUTPUT/derivatives/group/results.tsv.

library(jsonlite)

columns <- c("age", "Height", "Weight")
missing <- "n/a"

# Cells stay the text that they are: `n/a` does not become empty, nor 25 become 25.0.
read_table <- function(path) {
  read.delim(path, colClasses = "character", na.strings = NULL, quote = "", check.names = FALSE)
}

write_rows <- function(path, ...) {
  writeLines(vapply(list(...), paste, "", collapse = "\t"), path)
}

write_person <- function(person, output) {
  name <- person$participant_id
  dir.create(file.path(output, name))
  write_rows(file.path(output, name, paste0(name, "_measures.tsv")), columns, unlist(person[columns]))
}

# Over the people who have a value; `n/a` where nobody has.
mean_of <- function(values) {
  numbers <- as.numeric(values[values != missing])
  if (length(numbers) > 0) sprintf("%.12g", mean(numbers)) else missing
}

write_results <- function(output, results) {
  folder <- file.path(output, "derivatives", "group")
  dir.create(folder, recursive = TRUE)
  write_rows(file.path(folder, "results.tsv"), results)
  description <- list(Name = "bids-means", BIDSVersion = "1.8.0", DatasetType = "derivative")
  write_json(description, file.path(output, "dataset_description.json"), auto_unbox = TRUE)
}

given <- commandArgs(trailingOnly = TRUE)
input <- given[1]
output <- given[2]
if (given[3] == "participant") {
  people <- read_table(file.path(input, "participants.tsv"))
  for (row in seq_len(nrow(people))) write_person(people[row, ], output)
} else {
  files <- Sys.glob(file.path(output, "sub-*", "*_measures.tsv"))
  people <- do.call(rbind, lapply(files, read_table))
  write_results(output, vapply(columns, function(column) mean_of(people[[column]]), ""))
}
