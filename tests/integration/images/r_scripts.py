"""Scripts in R that look at all that a run can find, that leave behind what they can, and that end."""

SURROUNDINGS = b"""
environment <- Sys.getenv()
print(environment[setdiff(names(environment), "R_SESSION_TMPDIR")])
print(commandArgs()); print(search()); print(getwd()); print(interactive()); print(ls(all.names = TRUE))
print(dirname(tempdir())); print(file.exists(tempdir())); print(Sys.getpid()); print(Sys.getlocale())
opened <- file("stdin"); print(readLines(opened)); close(opened)
print(.libPaths()); print(RNGkind()); set.seed(3); print(runif(1))
print(system("echo said", intern = TRUE)); deep <- function(n) deep(n + 1)
print(class(try(deep(1), silent = TRUE))); print(options()[c("digits", "warn", "OutDec", "encoding")])
print(unlist(parallel::mclapply(1:4, function(n) n^2, mc.cores = 2)))
Counter <- setRefClass("Counter", fields = list(n = "numeric"), methods = list(add = function() n <<- n + 1))
counter <- Counter$new(n = 1); counter$add(); print(counter$n)
setClass("Point", representation(x = "numeric")); setGeneric("size", function(p) standardGeneric("size"))
setMethod("size", "Point", function(p) p@x); print(size(new("Point", x = 2)))
source(textConnection("a <- 5")); print(a)
set.seed(1); y <- rnorm(50); x <- cbind(1, rnorm(50)); print(sprintf("%a", coef(lm(y ~ x))))
print(sprintf("%a", c(var(y), median(y), t.test(y)$p.value, svd(x)$d)))
print(sprintf("%a", optimize(function(z) (z - .3)^2, 0:1)$minimum))
library(jsonlite); print(search()[2]); print(list.files("/proc/self/fd"))
library(lme4); print(sprintf("%a", fixef(lmer(Reaction ~ Days + (Days | Subject), sleepstudy))))
library(nlme); print(sprintf("%a", coef(summary(gls(distance ~ age, Orthodont)))))
library(data.table); print(sprintf("%a", data.table(a = c(1, 1, 2), b = y[1:3])[, mean(b), by = a]$V1))
1:3
warning("careful")
.Last <- function() cat("last\\n")
(function() stop("no such column"))()
"""

# what R itself draws, and when its clock began; then what a profile has found
OWN = b"""
draws <- c(basename(tempdir()), basename(tempfile()), runif(1))
cat(file = "/out/own", draws, proc.time()[["elapsed"]] < 0.5, exists("unconfined"))
"""

# the environment's: R reads it when it starts
PROFILE = b"""
if (file.exists("/run/dpgate")) unconfined <- TRUE
"""

LOOK = b"""
shown <- function(value) paste(deparse(value), collapse = " ")
found <- list(
  fresh = capture.output(print(new.env())), kinds = memory.profile(), memory = gc()[, 1:2],
  attached = search(), loaded = sort(loadedNamespaces()), dlls = names(getLoadedDLLs()), options = options(),
  locale = Sys.getlocale(), generators = RNGkind(), seed = exists(".Random.seed"),
  variables = ls(globalenv(), all.names = TRUE), base = ls(baseenv(), all.names = TRUE),
  methods = ls(get(".__S3MethodsTable__.", baseenv())), classes = getClasses(globalenv()),
  connections = showConnections(all = TRUE), mask = format(Sys.umask(NA)), process = Sys.getpid(),
  compiles = compiler::enableJIT(-1), tortured = gctorture(FALSE), traces = tracingState(),
  warned = exists("last.warning", baseenv()), arguments = commandArgs(), place = getwd(),
  mean = body(mean.default),
  files = list.files(c("/tmp", "/dev/shm", "/out", "/in", "/pipeline"), all.files = TRUE),
  code = file.info("/pipeline/profile.R", R.home("bin"))[c("size", "mode", "mtime", "ctime", "atime")],
  random = {set.seed(1); runif(3)},
  environment = {found <- Sys.getenv(); found[names(found) != "R_SESSION_TMPDIR"]}
)
opened <- textConnection("a")
found$connection <- as.integer(opened)
found$files <- sub("Rtmp.*", "Rtmp", found$files)
writeLines(paste(names(found), vapply(found, shown, "")), "/out/own")
"""

HOSTILE = b"""
asked <- readLines("/in/asked"); kept <- readBin("/in/more", "raw", 1e6); text <- rawToChar(kept)
base <- asNamespace("base"); places <- c("/pipeline/app.R", "/dev/null", R.home("bin"))
attempt <- function(...) {
  for (each in as.list(substitute(list(...)))[-1]) try(eval(each, globalenv()), silent = TRUE)
}
attempt(
  set.seed(7, "Wichmann-Hill"), options(digits = 3, warn = 1, left = text),
  Sys.setenv(LEFT = text, TZ = "UTC-9"),
  Sys.umask("0"), Sys.setlocale("LC_ALL", "C"), assign(text, kept, globalenv()), setwd("/dev/shm"),
  unlockBinding("mean.default", base), assign("mean.default", function(x) 0, base), dir.create("/tmp/left"),
  registerS3method("print", "left", function(x) 0, base), setClass("Left", representation(x = "numeric")),
  setGeneric("left", function(x) 0), attach(list(left = text)), library(lme4),
  opened <- lapply(1:60, function(n) file(tempfile(), "w")), gctorture(FALSE), compiler::enableJIT(0),
  gc(), many <- lapply(1:2e5, function(n) c(n, 1)), rm(many), tracingState(FALSE),
  writeLines(text, "/tmp/left/a"), writeLines(text, "/dev/shm/left"), writeLines(text, "/out/left"),
  for (place in places) Sys.setFileTime(place, 0), file.remove(places[1]), cat("x", file = places[1]),
  reg.finalizer(globalenv(), function(e) writeLines(text, "/out/own"), TRUE), Sys.chmod("/dev/shm", "0000"),
  for (n in 3:40) seek(file(paste0("/dev/fd/", n), "rb"), 100),
  dyn.load(file.path(R.home("modules"), "lapack.so")),
  tempfile(), system("sleep 60 &"), warning(text)
)
cat("all sent\\n")
if (asked == "crash") tools::pskill(Sys.getpid(), 11)
if (asked == "quit") {write("halted", stderr()); quit(status = 9)}
stop("halted")
"""

# how they end, and with which words
ENDS = {
    "a quit with a status": (
        b".Last <- function() cat('last')\nquit(status = 7)",
        ("EXIT", 7, "last"),
    ),
    "an error inside": (
        b"f <- function(x) {\n  log(-1)\n  x + 'a'\n}\nf(1)",
        (
            "EXIT",
            1,
            'Error in x + "a" : non-numeric argument to binary operator\n'
            "Calls: f\nIn addition: Warning message:\nIn log(-1) : NaNs produced\nExecution halted\n",
        ),
    ),
    "no R": (
        b"1\n2 +\n)\n",
        ("EXIT", 1, "[1] 1\nError: unexpected ')' in:\n\"2 +\n)\"\nExecution halted\n"),
    ),
    "a hook": (
        b"options(error = quote({cat('hook'); q(status = 4)}))\nstop('a')",
        ("EXIT", 4, "Error: a\nhook"),
    ),
    "its words": (
        b"commandArgs(TRUE)",
        ("OUTPUT", 0, '[1] "a word" "group" \n'),
    ),
}

# and these, as a cold run does
MORE = {
    "nothing": b"",
    "a quit": b"q()",
    "without its last": b".Last <- function() cat('last')\nq('no', 300, FALSE)",
    "a stop": b"cat('a')\nstop('no such column')",
    "an open end": b"f <- function() {\n  1",
    "a letter that is none": b"x <- '\xff'\nnchar(x)",
    "a crash": b"tools::pskill(Sys.getpid(), 11)",
    "asked to end": b"tools::pskill(Sys.getpid(), 15)\nSys.sleep(5)",
    "interrupted": b"tools::pskill(Sys.getpid(), 2)\nSys.sleep(5)",
    "saves at a signal": b"tools::pskill(Sys.getpid(), 10)\nSys.sleep(5)",
    "a full pipe": b"tools::pskill(Sys.getpid(), 13)\ncat('on')",
    "a file too large": b"writeBin(raw(9e7), '/tmp/large')\ncat('on')",
    "an exit of a child": b"""system('exit 3')
print(system2('Rscript', c('-e', shQuote('cat(commandArgs(TRUE))'), 'b'), stdout = TRUE))
""",
    "another script": b"cat('cat(1)\\nstop(2)', file = '/tmp/b.R')\nsource('/tmp/b.R')",
    "many warnings": b"for (n in 1:60) warning(n)",
    "no end of line": b"cat('a')",
    "from standard input": b"print(scan('stdin', quiet = TRUE)); print(nchar(readline('? ')))\nabc\n",
    "a package that is not there": b"library(nosuch)",
    "out of memory": b"x <- numeric(2e9)",
    "a browser": b"browser()\nx <- 2\nQ\ncat('on')",
    "a debugger": b"f <- function() stop('a')\ndebug(f)\nf()\n",
    "an image": b"x <- 5; setwd('/tmp'); save.image(); rm(x); load('.RData'); print(x)",
    "a finalizer": b"reg.finalizer(globalenv(), function(e) cat('end'), TRUE)\ninvisible(1)",
    "a size": b"print(Sys.getpid()); print(parallel::detectCores()); print(nchar(tempdir()))",
}
