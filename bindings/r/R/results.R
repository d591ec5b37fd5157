# Results: data frames with a row for each number, survey's generics, and what belongs to the whole release as attributes.

result_of <- function(made, class, ...) {
  columns <- call_tamis(r_columns, made)
  rows <- length(columns[[1]])
  structure(columns, class = c(class, "tamis_result", "data.frame"), row.names = .set_row_names(rows), made = made, ...)
}

release_of <- function(made, folder, ledger, unit) {
  json <- call_tamis(r_text, made, "json")
  facts <- from_json(json, c("results", "measured_in"))
  result_of(made, "tamis_release", json = json, survey = facts$survey, guarantee = bounds_of(facts$guarantee),
            spent = bounds_of(facts$spent), left = bounds_of(facts$left), entry = facts$ledger$entry, ledger = ledger,
            unit = unit, repeated = .Call(r_repeated, made), warnings = facts$warnings, folder = folder)
}

estimate_of <- function(made) result_of(made, "tamis_estimate", json = call_tamis(r_text, made, "json"))

needed_columns <- c("statistic", "column", "where", "at", "line", "estimate", "se", "noise_sd", "lower", "upper", "confidence",
                    "df", "cv")

# Rows keep what belongs to the release; without the columns of a result it is a plain data frame.
`[.tamis_result` <- function(x, ...) {
  made <- NextMethod()
  if (!is.data.frame(made)) return(made)
  if (!all(needed_columns %in% names(made))) return(as.data.frame.tamis_result(made))
  for (name in setdiff(names(attributes(x)), c("names", "row.names", "class"))) attr(made, name) <- attr(x, name)
  made
}

as.data.frame.tamis_result <- function(x, ...) {
  names <- names(x)
  rows <- attr(x, "row.names")
  attributes(x) <- NULL
  structure(x, names = names, class = "data.frame", row.names = rows)
}

group_columns <- function(x) {
  after <- match("where", names(x))
  before <- match("at", names(x))
  setdiff(names(x)[seq_len(before - after - 1) + after], "p") # the test of a coefficient
}

# "E:enroll"; with `full`, "total:E:enroll", which is different for each number of a release.
labels_of <- function(x, full = TRUE) {
  parts <- c(if (full) list(x$statistic), lapply(group_columns(x), function(g) x[[g]]), list(x$column), list(x$where),
             list(ifelse(is.na(x$at), NA, paste0("p", format_each(x$at)))),
             list(ifelse(is.na(x$line), NA, paste0("line ", format_each(x$line)))))
  made <- vapply(seq_len(nrow(x)), function(i) {
    words <- vapply(parts, function(p) as.character(p[i]), "")
    paste(words[!is.na(words)], collapse = ":")
  }, "")
  ifelse(made == "", "units", made)
}

format_each <- function(x) vapply(x, function(v) if (is.na(v)) NA_character_ else format(v, digits = 7), "")

coef.tamis_result <- function(object, ...) stats::setNames(object$estimate, labels_of(object))

SE.tamis_result <- function(object, ...) stats::setNames(object$se, labels_of(object))

cv.tamis_result <- function(object, ...) stats::setNames(object$cv, labels_of(object))

degf.tamis_result <- function(design, ...) stats::setNames(design$df, labels_of(design))

# Covariances of noisy numbers are not estimated: NA, and not 0, beside the diagonal.
vcov.tamis_result <- function(object, ...) {
  names <- labels_of(object)
  made <- matrix(NA_real_, nrow(object), nrow(object), dimnames = list(names, names))
  diag(made) <- object$se^2
  made
}

confint.tamis_result <- function(object, parm, level, ...) {
  if (!missing(level) && any(abs(object$confidence - level) > 1e-12, na.rm = TRUE))
    fail("level: an interval has the level that was released; give confidence = to the statistic")
  names <- labels_of(object)
  made <- cbind(lower = object$lower, upper = object$upper)
  rownames(made) <- names
  if (missing(parm)) made else made[parm, , drop = FALSE]
}

print.tamis_result <- function(x, digits = max(3, getOption("digits") - 1), ...) {
  if (inherits(x, "tamis_estimate")) cat("Not protected: for use inside only.\n")
  for (kind in unique(x$statistic)) {
    here <- which(x$statistic == kind)
    rows <- as.data.frame.tamis_result(x)[here, , drop = FALSE]
    if (kind == "regression") {
      print_models(rows, inherits(x, "tamis_release"), digits)
      next
    }
    shown <- cbind(rows$estimate, SE = rows$se, if (inherits(x, "tamis_release")) cbind(noise = rows$noise_sd))
    dimnames(shown)[[1]] <- labels_of(rows, full = FALSE)
    dimnames(shown)[[2]][1] <- kind
    print(shown, digits = digits, ...)
  }
  without <- which(is.na(x$estimate) & !is.na(x$notes))
  for (i in without) cat(labels_of(x)[i], ": ", x$notes[i], "\n", sep = "")
  if (inherits(x, "tamis_release")) cat(summary_line(x), "\n", sep = "")
  invisible(x)
}

# Coefficients as the summary of svyglm has them; of a release with what noise adds to their standard errors.
print_models <- function(rows, protected, digits) {
  before <- setdiff(group_columns(rows), c("contrast", "term"))
  models <- do.call(paste, c(rows[c("column", "where", before)], sep = "\r"))
  for (model in unique(models)) {
    own <- rows[models == model, , drop = FALSE]
    about <- unlist(own[1, before, drop = TRUE])
    about <- about[!is.na(about)]
    cat("Regression of ", own$column[1], if (length(about) > 0) paste0(", ", paste(names(about), about, sep = " = ", collapse = ", ")),
        if (!is.na(own$where[1])) paste0(", where ", own$where[1]), ":\n", sep = "")
    shown <- cbind(Estimate = own$estimate, `Std. Error` = own$se, if (protected) cbind(`of it noise` = own$noise_sd),
                   `t value` = own$estimate / own$se, `Pr(>|t|)` = own$p)
    rownames(shown) <- own$term
    stats::printCoefmat(shown, digits = digits, cs.ind = seq_len(2 + protected), tst.ind = 3 + protected, has.Pvalue = TRUE,
                        P.values = TRUE, na.print = "", signif.legend = FALSE)
  }
}

coins <- function(amounts, end) {
  made <- vapply(names(amounts), function(name) {
    value <- amounts[[name]]
    if (!is.numeric(value) || length(value) != 2 || value[[end]] == 0) "" else paste(name, format(value[[end]], digits = 7))
  }, "")
  paste(made[made != ""], collapse = ", ")
}

summary_line <- function(x) {
  spent <- coins(attr(x, "guarantee")$sample, "upper")
  left <- coins(attr(x, "left"), "lower")
  ledger <- attr(x, "ledger")
  paste0("Protected: ", spent, " for a sampled ", attr(x, "unit"), "; left of the budget: ",
         if (nzchar(left)) left else "nothing",
         if (!is.null(attr(x, "entry")))
           paste0(" (entry ", attr(x, "entry"), if (!is.null(ledger)) paste0(" of ", basename(ledger)), ")"),
         if (isTRUE(attr(x, "repeated"))) "; the numbers of an earlier release")
}

summary.tamis_result <- function(object, ...) structure(class = "tamis_text", tamis_text(object, "text"))

print.tamis_text <- function(x, ...) {
  cat(unclass(x))
  invisible(x)
}

plot.tamis_result <- function(x, statistic = NULL, xlab = "", ...) {
  chosen <- as.data.frame.tamis_result(x)
  chosen <- chosen[!is.na(chosen$estimate) & (is.null(statistic) | chosen$statistic %in% statistic), , drop = FALSE]
  if (nrow(chosen) == 0) fail("nothing to plot")
  at <- rev(seq_len(nrow(chosen)))
  names <- labels_of(chosen)
  old <- graphics::par(mar = c(4, 1 + min(20, 0.55 * max(nchar(names))), 1, 1))
  on.exit(graphics::par(old))
  graphics::plot(chosen$estimate, at, xlim = range(chosen$estimate, chosen$lower, chosen$upper, na.rm = TRUE),
                 ylim = c(0.5, length(at) + 0.5),
                 pch = 19, yaxt = "n", ylab = "", xlab = xlab, ...)
  graphics::segments(chosen$lower, at, chosen$upper, at)
  graphics::axis(2, at = at, labels = names, las = 1)
  invisible(x)
}

# The texts of a release: release.json, release.csv, ...
tamis_text <- function(x, what = "text") {
  what <- match.arg(what, c("text", "json", "csv", "report", "certificate", "measurements", "registry", "all", "compare"))
  call_tamis(r_text, attr(x, "made"), what)
}

tamis_save <- function(release, folder, sign = NULL) {
  if (!inherits(release, "tamis_release")) fail("release: expected what tamis_release() gave")
  call_tamis(r_save, attr(release, "made"), path.expand(one_text(folder, "folder")), optional_path(sign, "sign"))
  invisible(folder)
}

preview_of <- function(made) {
  facts <- from_json(call_tamis(r_text, made, "json"))
  column <- function(name) vapply(facts$statistics, function(s) as.numeric(or_na(s[[name]])), 0)
  shown <- data.frame(statistic = vapply(facts$statistics, function(s) s$statistic, ""),
                      column = vapply(facts$statistics, function(s) as.character(or_na(s$column)), ""),
                      by = vapply(facts$statistics, function(s) paste(unlist(s$by), collapse = " x "), ""),
                      noise_sd = column("noise_sd"), sampling_se = column("sampling_se"), se = column("se"), cv = column("cv"))
  refused <- attr(made, "refused")
  structure(class = "tamis_preview",
            list(statistics = shown, refused = if (!is.null(refused)) for_r(refused), would_spend = bounds_of(facts$would_spend),
                                          left = bounds_of(facts$left), guarantee = bounds_of(facts$guarantee),
                                          assumed = facts$assumed, warnings = facts$warnings), made = made)
}

as.data.frame.tamis_preview <- function(x, ...) x$statistics

print.tamis_preview <- function(x, ...) {
  cat(gsub("--all", "tamis_text(x, \"all\")", tamis_text(x, "text"), fixed = TRUE))
  if (!is.null(x$refused)) cat("\nRefused: ", x$refused, "\n", sep = "")
  invisible(x)
}
