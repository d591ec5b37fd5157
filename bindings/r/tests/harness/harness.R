# Tests without a package for tests: a line in the Test Anything Protocol for each case, and an end that fails if one did.
harness <- new.env()
harness$failed <- 0
harness$count <- 0

test <- function(name, code) {
  problem <- tryCatch({
    force(code)
    NULL
  }, error = function(e) paste0(conditionMessage(e), "\n"))
  harness$count <- harness$count + 1
  harness$failed <- harness$failed + !is.null(problem)
  cat(if (is.null(problem)) "ok" else "not ok", " ", harness$count, " - ", name, "\n", sep = "")
  if (!is.null(problem)) cat("# ", gsub("\n", "\n# ", problem), "\n", sep = "")
}

skip <- function(name, why) {
  harness$count <- harness$count + 1
  cat("ok ", harness$count, " - ", name, " # SKIP ", why, "\n", sep = "")
}

done <- function() {
  cat("1..", harness$count, "\n", sep = "")
  if (harness$failed > 0) quit(status = 1)
}

expect <- function(condition, ...) if (!isTRUE(condition)) stop("not true: ", paste(deparse(substitute(condition)), collapse = " "), ..., call. = FALSE)

# The condition that an expression signals, which has this class and contains these words.
signals <- function(code, class, words = "") {
  caught <- tryCatch({
    force(code)
    NULL
  }, condition = identity)
  if (is.null(caught)) stop("no condition was signalled", call. = FALSE)
  if (!inherits(caught, class)) stop("expected ", class, ", but got ", class(caught)[1], ": ", conditionMessage(caught), call. = FALSE)
  if (!grepl(words, conditionMessage(caught), fixed = TRUE)) stop("not the expected words: ", conditionMessage(caught), call. = FALSE)
  invisible(caught)
}

refused <- function(code, words) signals(code, "tamis_refused", words)
invalid <- function(code, words) signals(code, "tamis_invalid", words)

near <- function(a, b, tolerance = 1e-9) {
  a <- unname(a)
  b <- unname(b)
  if (length(a) != length(b) || any(is.na(a) != is.na(b))) stop("different lengths, or missing numbers", call. = FALSE)
  off <- abs(a - b) > tolerance * pmax(abs(b), 1e-300)
  if (any(off, na.rm = TRUE)) stop(paste(format(a, digits = 17), "is not", format(b, digits = 17), collapse = "; "), call. = FALSE)
}

in_folder <- function() {
  folder <- tempfile("tamis")
  dir.create(folder)
  setwd(folder)
}
options(warn = 1, digits = 7)
