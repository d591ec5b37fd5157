# The R package: what it adds to a release of the demo, and 10^5 cells into a data frame. `bench/run r` installs the package and calls
# this with the folder of the examples. Times are of the processor, in sums over many runs, since R's clock counts milliseconds.
library(tamis)
examples <- commandArgs(TRUE)[[1]]
setwd(tempdir())

say <- function(what, ...) {
  numbers <- c(...)
  cat(sprintf('{"what": "r: %s", %s}\n', what, paste0('"', names(numbers), '": ', sprintf("%.9g", numbers), collapse = ", ")))
}

processor <- function() sum(proc.time()[c("user.self", "sys.self")])

# The release of the schools, in memory: the call of the library, and what is around it.
measure_demo <- function(runs = 100) {
  schools <- read.csv(file.path(examples, "schools", "apistrat.csv"))
  design <- list(stratified = list(by = "stype", within = "srs", strata = list(
    E = list(population = 4421, sample = 100), M = list(population = 1018, sample = 50), H = list(population = 755, sample = 50))))
  s <- tamis_survey(design, "schools", unit = "school", ledger = "demo.ledger", budget = 1e6, data = schools,
                    columns = list(enroll = c(0, 4000), api00 = c(200, 1000), stype = c("E", "M", "H")))
  inside <- 0
  call_tamis <- get("call_tamis", asNamespace("tamis"))
  timed <- function(entry, ...) {
    start <- processor()
    on.exit(if (identical(entry$name, "r_release")) inside <<- inside + processor() - start)
    call_tamis(entry, ...)
  }
  once <- function() suppressMessages(as.data.frame(
    tamis_release(s, stat_total(~enroll, by = ~stype), stat_mean(~api00), epsilon = 1, again = TRUE, progress = FALSE)))
  once()
  assignInNamespace("call_tamis", timed, "tamis")
  start <- processor()
  for (i in seq_len(runs)) once()
  whole <- processor() - start
  assignInNamespace("call_tamis", call_tamis, "tamis")
  stopifnot(inside > 0, inside < whole)
  say("added to a release of the demo", seconds = (whole - inside) / runs)
  say("the library's part of it", seconds = inside / runs)
}

measure_cells <- function(runs = 5) {
  rows <- data.frame(a = paste0("a", (0:999) %% 316), b = paste0("b", (0:999) %% 317))
  s <- tamis_survey(list(srs = list(population = 10000, sample = 1000)), "cells", unit = "person", ledger = "cells.ledger", budget = 1000,
                    data = rows, columns = list(a = paste0("a", 0:315), b = paste0("b", 0:316)))
  result_of <- get("result_of", asNamespace("tamis"))
  seconds <- 0
  timed <- function(...) {
    start <- proc.time()[["elapsed"]]
    on.exit(seconds <<- c(seconds, proc.time()[["elapsed"]] - start))
    result_of(...)
  }
  assignInNamespace("result_of", timed, "tamis")
  for (i in seq_len(runs)) {
    made <- suppressMessages(tamis_release(s, stat_table(~a + b), epsilon = 1, again = TRUE, progress = FALSE))
    stopifnot(nrow(made) == 316 * 317)
  }
  assignInNamespace("result_of", result_of, "tamis")
  say("10^5 cells into a data frame", n = 316 * 317, seconds = median(seconds[-1]))
}

measure_demo()
measure_cells()
