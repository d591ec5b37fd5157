# What goes wrong becomes a condition. No message contains a cell of the data.

new_condition <- function(message, class, call = NULL, ...)
  structure(class = c(class, "condition"), list(message = message, call = call, ...))

# An error that R code finds, in the form of those of the library.
fail <- function(message, class = "tamis_invalid", code = "invalid") {
  errors <- data.frame(key = NA_character_, message = message, file = NA_character_, line = NA_real_, column = NA_real_)
  stop(new_condition(message, c(class, "tamis_error", "error"), code = code, errors = errors, charged = NULL))
}

# The library names its own options; here they have other names.
for_r <- function(message) {
  message <- gsub("repeat = TAMIS_REPEAT_PAID", "again = TRUE", message, fixed = TRUE)
  message <- gsub("repeat = TAMIS_REPEAT_KEPT", "same_rows = TRUE", message, fixed = TRUE)
  message <- sub("its rows are those of a program, which gives them with the call; the command has none",
                 "its rows come with the call; give them as data =", message, fixed = TRUE)
  message <- sub("tamis ledger void .* --reason TEXT", "tamis_void()", message)
  sub("tamis ledger raise .* --reason TEXT", "tamis_raise_budget()", message)
}

class_of <- function(status, reason) {
  if (status == 3) return("tamis_invalid")
  if (status == 5) return("tamis_unable")
  if (status != 4) return("tamis_system")
  c(switch(reason, budget = "tamis_budget", rows_version = "tamis_repeated"), "tamis_refused")
}

or_na <- function(x) if (is.null(x)) NA else x

# Where an error is in a file; a plan that R made has no places.
place_of <- function(e) {
  if (is.null(e$file) || (grepl("^plan of [^/]*$", e$file) && !grepl("\\.(ya?ml|json)$", e$file))) return("")
  place <- if (is.null(e$line)) "" else if (is.null(e$column)) paste0(": line ", e$line) else paste0(":", e$line, ":", e$column)
  paste0(e$file, place, ": ")
}

signal_failure <- function(failure) {
  facts <- from_json(failure[[2]])
  stopped_by <- failure[[3]]
  errors <- data.frame(key = vapply(facts$errors, function(e) as.character(or_na(e$key)), ""),
                       message = vapply(facts$errors, function(e) for_r(e$message), ""),
                       file = vapply(facts$errors, function(e) as.character(or_na(e$file)), ""),
                       line = vapply(facts$errors, function(e) as.numeric(or_na(e$line)), 0),
                       column = vapply(facts$errors, function(e) as.numeric(or_na(e$column)), 0))
  message <- paste0(vapply(facts$errors, place_of, ""), errors$message, collapse = "\n")
  reason <- if (is.null(facts$reason)) "" else facts$reason
  code <- if (nzchar(reason)) reason else facts$code
  if (inherits(stopped_by, "error")) {  # of the progress function: it is the caller's own
    stopped_by$message <- paste0(conditionMessage(stopped_by), "\ntamis: ", message)
    stopped_by$charged <- facts$charged
    stop(stopped_by)
  }
  class <- if (inherits(stopped_by, "interrupt") || reason == "cancelled") "tamis_interrupted" else class_of(failure[[1]], reason)
  stop(new_condition(message, c(class, "tamis_error", "error"), code = code, errors = errors, charged = facts$charged))
}

# Calls the library; its failures become the conditions above.
call_tamis <- function(entry, ...) {
  made <- .Call(entry, ...)
  if (inherits(made, "tamis_failure")) signal_failure(made)
  made
}

# What the library asks 4 to 20 times a second: NULL, or the condition that stops the work.
watcher <- function(progress) {
  tell <- if (is.function(progress)) progress else if (isTRUE(progress)) progress_line() else NULL
  function(share, rows) tryCatch({
    .Call(r_interrupt)
    if (!is.null(tell)) tell(share, rows)
    NULL
  }, error = identity, interrupt = identity)
}

# One line on stderr every second.
progress_line <- function() {
  told <- proc.time()[["elapsed"]]
  function(share, rows) {
    now <- proc.time()[["elapsed"]]
    if (now - told < 1) return()
    told <<- now
    cat("tamis: ", if (!is.na(share)) sprintf("%.0f%%, ", 100 * share), format(rows, scientific = FALSE), " rows\n",
        sep = "", file = stderr())
  }
}

check_progress <- function(progress) {
  if (!is.function(progress) && !isTRUE(progress) && !isFALSE(progress))
    fail("progress: expected TRUE, FALSE or a function of the share done and the rows")
}

warn <- function(message, class) warning(new_condition(for_r(message), c(class, "tamis_warning", "warning")))
notice <- function(message) message(new_condition(paste0(for_r(message), "\n"), c("tamis_notice", "message")))
