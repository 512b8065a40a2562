# app.R INPUT OUTPUT group: a mixed model of reading speed, with lme4.
#
# Each person has a speed of their own at the start and a gain of their own a week. Released are two of the
# fixed effects: the gain a week in the usual programme, and how much more it is in the new one.

suppressPackageStartupMessages(library(lme4))

# One row for each visit, of a table with one row for each person and one column for each visit.
visits_of <- function(path) {
  people <- read.delim(path, na.strings = "n/a", quote = "", stringsAsFactors = FALSE)
  columns <- grep("^week_", names(people), value = TRUE)
  each <- function(column) {
    data.frame(
      person = people$person, new = as.numeric(people$programme == "new"),
      week = rep(as.numeric(sub("week_", "", column)), nrow(people)), words = as.numeric(people[[column]])
    )
  }
  do.call(rbind, lapply(columns, each))
}

# Both are NA where a block cannot tell: too few people, or all of one programme.
effects <- function(visits) {
  model <- words ~ week * new + (1 + week | person)
  fitted <- tryCatch(suppressMessages(suppressWarnings(lmer(model, visits))), error = function(problem) NULL)
  if (is.null(fitted)) c(NA, NA) else fixef(fitted)[c("week", "week:new")]
}

given <- commandArgs(trailingOnly = TRUE)
found <- effects(visits_of(file.path(given[1], "speed.tsv")))
results <- ifelse(is.na(found), "n/a", sprintf("%.9g", found))
lines <- c("effect\testimate", paste(c("week", "week:new"), results, sep = "\t"))
writeLines(lines, file.path(given[2], "effects.tsv"))
