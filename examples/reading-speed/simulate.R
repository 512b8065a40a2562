# Writes data/: 1000 invented people who read aloud in four weeks of a training. The same bytes every time.
set.seed(20260101, kind = "Mersenne-Twister", normal.kind = "Inversion")

people <- 1000
weeks <- c(0, 4, 8, 12)
person <- sprintf("p%04d", seq_len(people))
programme <- sample(rep(c("usual", "new"), each = people / 2))
at_start <- rnorm(people, mean = 180, sd = 25)                              # words a minute
gain <- rnorm(people, mean = ifelse(programme == "new", 3.2, 2), sd = 0.8)  # words a minute, a week

words <- at_start + outer(gain, weeks) + rnorm(people * length(weeks), sd = 8)
shown <- ifelse(runif(length(words)) < 0.03, "n/a", sprintf("%.1f", words))
table <- cbind(person, programme, matrix(shown, nrow = people))

dir.create("data", showWarnings = FALSE)
header <- c("person", "programme", paste0("week_", weeks))
writeLines(apply(rbind(header, table), 1, paste, collapse = "\t"), "data/speed.tsv")
