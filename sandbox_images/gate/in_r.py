"""The gate's part in R: a script that looks at what R tells a run of itself, or tries to leave a trace there.

What every run is told, whatever it is written in (paths, calls, descriptors, room), the look in Python writes
down, which an R run starts as a child of its own: the steps that confine both are the same. So what is here
is R's own: its options, generators, namespaces, connections, counts and places.
"""

COMMAND = ("Rscript", "/pipeline/gate.R")
SCRIPT = "gate.R"
ASKED = "asked.txt"  # the role, seconds to go on, then names of senders
SEEN = "seen.tsv"  # a key and a value in each line

_LOOK = r"""
shown <- function(value) gsub("[\t\n]", " ", paste(deparse(value), collapse = " "))
look <- function() {
  found <- list(
    "place R environment" = capture.output(print(new.env())), "R kinds" = memory.profile(),
    "R memory" = gc()[, 1:2], "R attached" = search(), "R loaded" = sort(loadedNamespaces()),
    "R order of namespaces" = ls(.Internal(getNamespaceRegistry()), sorted = FALSE),
    "R libraries" = names(getLoadedDLLs()), "R locale" = Sys.getlocale(), "R generators" = RNGkind(),
    "R seed" = exists(".Random.seed"), "R variables" = ls(globalenv(), all.names = TRUE),
    "R base" = ls(baseenv(), all.names = TRUE), "R methods" = ls(get(".__S3MethodsTable__.", baseenv())),
    "R classes" = getClasses(globalenv()), "R connections" = showConnections(all = TRUE),
    "R mask" = format(Sys.umask(NA)), "R process" = Sys.getpid(), "R compiles" = compiler::enableJIT(-1),
    "R tortured" = gctorture(FALSE), "R traces" = tracingState(), "R place" = getwd(),
    "R warned" = exists("last.warning", baseenv()), "R arguments" = commandArgs(),
    "R mean" = body(mean.default), "R paths" = .libPaths(), "R home" = R.home(), "R session" = interactive(),
    "R hooks" = ls(.userHooksEnv, all.names = TRUE), "R devices" = dev.list(), "R frames" = sys.nframe(),
    "R callbacks" = getTaskCallbackNames(), "R limits" = memory.limits(), "R about" = Sys.info(),
    "R profiled" = Rprofmem(NULL), "R capabilities" = capabilities(), "R errors" = geterrmessage(),
    "R zone" = Sys.timezone(), "R temporary" = list.files(tempdir(), all.files = TRUE),
    "R drawn with a seed" = {set.seed(1); runif(3)}, "drawn R number" = {
      suppressWarnings(rm(".Random.seed", envir = globalenv())); runif(1)
    }, "drawn R name" = basename(tempfile()), "R began" = proc.time()[["elapsed"]],
    "R code" = file.info("/pipeline/gate.R", R.home("bin"))[c("size", "mode", "mtime", "ctime", "atime")]
  )
  opened <- textConnection("a")
  found[["R next connection"]] <- as.integer(opened)
  close(opened)
  for (name in names(options())) found[[paste("R option", name)]] <- getOption(name)
  said <- Sys.getenv()
  for (name in setdiff(names(said), "R_SESSION_TMPDIR")) found[[paste("R environment", name)]] <- said[[name]]
  empty <- numeric(5e5)
  found[["R new memory"]] <- sum(abs(empty))
  said <- paste(names(found), vapply(found, shown, ""), sep = "\t")
  unlink(tempdir(), recursive = TRUE)
  Sys.unsetenv("R_SESSION_TMPDIR")
  system2("python3", c("/pipeline/gate.py", "/in", "/out", "group"))
  writeLines(said, "/out/seen.tsv")
}
memory.limits <- function() tryCatch(mem.maxVSize(), error = function(e) "none")
"""
# of each: as much of it as there is, and no offence at being refused
_SENDERS = r"""
attempt <- function(...) {
  for (each in as.list(substitute(list(...)))[-1]) try(eval(each, globalenv()), silent = TRUE)
}
text <- strrep("x7qMarkOfAnother", 50)
base <- asNamespace("base")
places <- c("/pipeline/gate.R", "/dev/null", "/dev/urandom", R.home("bin"), R.home(), "/in", "/usr/lib", "/")
senders <- list(
  files = function() for (place in c("/tmp", "/dev/shm", "/out", tempdir())) attempt({
    dir.create(file.path(place, "left")); writeLines(text, file.path(place, "left", "a"))
    for (n in 1:500) file.create(file.path(place, paste0("f", n)))
  }),
  times = function() for (place in places) attempt({
    Sys.setFileTime(place, Sys.time()); Sys.setFileTime(place, 1); Sys.chmod(place, "0600")
    file.remove(place)
  }),
  processes = function() attempt(for (n in 1:30) system("true"), system("sleep 5 &"),
    parallel::mcparallel(Sys.sleep(5)), parallel::mclapply(1:8, function(n) n, mc.cores = 8)),
  memory = function() attempt({many <- lapply(1:3e5, function(n) c(n, 1)); rm(many)}, gc(), gctorture(FALSE),
    {large <- raw(6e7); large[] <- as.raw(1); rm(large)}, for (n in 1:50) new.env(size = 10000L)),
  descriptors = function() attempt(opened <<- lapply(1:60, function(n) file(tempfile(), "w")),
    textConnection("left"), pipe("cat", "w"), fifo("/tmp/fifo", "w+"), rawConnection(raw(9), "w"),
    for (n in 3:40) seek(file(paste0("/dev/fd/", n), "rb"), 100)),
  environment = function() attempt(Sys.setenv(LEFT = text, TZ = "UTC-9", R_LIBS = "/tmp", LANG = "C"),
    Sys.unsetenv("PATH"), Sys.umask("0"), setwd("/dev/shm"), .libPaths("/tmp")),
  generators = function() attempt(set.seed(7, "Wichmann-Hill"), RNGkind("user"), RNGkind("Knuth-TAOCP-2002"),
    RNGkind(sample.kind = "Rounding"), runif(1e5), tempfile(), sample(9)),
  options = function() attempt(options(digits = 3, warn = 1, left = text, OutDec = ",", scipen = 9,
    error = quote(q()), expressions = 100, keep.source = TRUE, encoding = "latin1", prompt = text),
    tracingState(FALSE), compiler::enableJIT(0), Rprof("/tmp/rprof"), tracemem(text)),
  locale = function() attempt(Sys.setlocale("LC_ALL", "C"), Sys.setlocale("LC_COLLATE", "POSIX"),
    bindtextdomain("R", "/tmp"), Sys.setLanguage("de"), iconv(text, "UTF-8", "UTF-16")),
  namespaces = function() attempt(for (name in rownames(installed.packages())) loadNamespace(name),
    attach(list(left = text)), library(stats4), unloadNamespace("jsonlite"),
    dyn.load(file.path(R.home("modules"), "lapack.so"))),
  bindings = function() attempt(assign(text, text, globalenv()), unlockBinding("mean.default", base),
    assign("mean.default", function(x) 0, base), registerS3method("print", "left", function(x) 0, base),
    assign("left", text, .userHooksEnv), setHook("left", function(...) 0),
    addTaskCallback(function(...) TRUE, name = "left"), setClass("Left", representation(x = "numeric")),
    setGeneric("left", function(x) 0), options(left = function() text)),
  ends = function() attempt(reg.finalizer(globalenv(), function(e) writeLines(text, "/out/own"), TRUE),
    assign(".Last", function() writeLines(text, "/out/last"), globalenv()), warning(text)),
  stops = function() stop("halted"),
  quits = function() quit(status = 9, runLast = FALSE),
  crashes = function() tools::pskill(Sys.getpid(), 11)
)
"""
_MAIN = r"""
asked <- readLines("/in/asked.txt")
if (asked[1] == "look") {
  look()
} else {
  if (asked[1] == "send") repeat {
    for (name in asked[-(1:2)]) senders[[name]]()
    if (proc.time()[["elapsed"]] >= as.numeric(asked[2])) break
  }
  writeLines("{}", "/out/seen.json")
  writeLines("sent\t1", "/out/seen.tsv")
}
"""
SOURCE = (_LOOK + _SENDERS + _MAIN).encode()
LASTING = (
    *("files", "times", "processes", "memory", "descriptors", "environment", "generators"),
    *("options", "locale", "namespaces", "bindings", "ends"),
)
ENDING = ("stops", "quits", "crashes")
