# What is released. Each function makes one or more items of `statistics` of a plan.

condition_help <- paste("not a condition of a plan: expected column == value, column %in% values, column >= number,",
                        "column <= number, joined by &")

# The right-hand side of ~x.
right_side <- function(formula, what) {
  if (!inherits(formula, "formula") || length(formula) != 2)
    fail(paste0(what, ": expected a formula with one side, such as ", if (what == "where") "~age >= 16" else "~income"))
  formula[[2]]
}

is_call <- function(e, names) is.call(e) && is.name(e[[1]]) && as.character(e[[1]]) %in% names

# The parts of a + b.
terms_of <- function(e) if (is_call(e, "+") && length(e) == 3) c(terms_of(e[[2]]), terms_of(e[[3]])) else list(e)

# One comparison: list(column = value).
comparison <- function(e, environment) {
  if (is_call(e, "(")) return(condition(e[[2]], environment))
  if (!is_call(e, c("==", "%in%", ">=", "<=")) || !is.name(e[[2]])) fail(condition_help)
  value <- eval(e[[3]], environment)
  if (!is.numeric(value) && !is.character(value) && !is.logical(value)) fail(condition_help)
  part <- switch(as.character(e[[1]]),
                 `==` = if (length(value) == 1) condition_value(value) else fail(condition_help),
                 `%in%` = lapply(as.list(value), condition_value),
                 `>=` = list(from = amount(value, "where")),
                 `<=` = list(to = amount(value, "where")))
  stats::setNames(list(part), as.character(e[[2]]))
}

condition_value <- function(x) if (is.logical(x)) tolower(as.character(x)) else amount(x, "where")

# Comparisons joined by &: a map from columns to conditions.
condition <- function(e, environment) {
  if (!is_call(e, "&")) return(comparison(e, environment))
  made <- condition(e[[2]], environment)
  more <- condition(e[[3]], environment)
  for (name in names(more)) {
    is_range <- function(x) is.list(x) && !is.null(names(x))
    if (is.null(made[[name]])) made[[name]] <- more[[name]]
    else if (is_range(made[[name]]) && is_range(more[[name]]) && !any(names(more[[name]]) %in% names(made[[name]])))
      made[[name]] <- c(made[[name]], more[[name]])[c("from", "to")]
    else fail(paste0(name, ": two conditions on one column; use %in% for several values"))
  }
  made
}

condition_of <- function(x, what) {
  if (is.list(x) && !is.null(names(x))) return(plan_value(x, what))
  condition(right_side(x, what), environment(x))
}

# The columns or indicators of ~x, ~a + b, ~status == "employed", "x" or list(status = "employed").
targets_of <- function(x, what) {
  if (is.character(x) && length(x) > 0) return(as.list(vapply(x, one_text, "", what, USE.NAMES = FALSE)))
  if (is.list(x) && !is.null(names(x))) return(list(plan_value(x, what)))
  lapply(terms_of(right_side(x, what)), function(e) {
    if (is.name(e)) return(as.character(e))
    if (!is_call(e, c("==", "%in%", ">=", "<=", "&", "(")))
      fail(paste0(what, ": expected columns of the data or conditions, joined by +; make a column of a computed value first"))
    condition(e, environment(x))
  })
}

one_target <- function(x, what) {
  found <- targets_of(x, what)
  if (length(found) != 1) fail(paste0(what, ": expected one column"))
  found[[1]]
}

# by = ~region + cut(age, c(16, 65)), "region", or list("region", list(age = c(16, 65))).
by_of <- function(x) {
  if (is.null(x)) return(NULL)
  parts <- if (is.character(x)) as.list(x)
  else if (is.list(x)) if (is.null(names(x))) x else list(x)
  else lapply(terms_of(right_side(x, "by")), function(e) {
    if (is.name(e)) return(as.character(e))
    if (!is_call(e, "cut") || length(e) != 3 || !is.name(e[[2]])) fail("by: expected columns, or cut(column, cuts), joined by +")
    stats::setNames(list(eval(e[[3]], environment(x))), as.character(e[[2]]))
  })
  lapply(parts, function(part) if (is.list(part)) lapply(part, listed, "by") else one_text(part, "by"))
}

shared_keys <- c("deff", "label", "shrink", "for_change", "method", "interval", "cuts")

# One item per target, with the keys that all of them take.
statistics_of <- function(kind, targets, by, where, share, confidence, ..., keys = list()) {
  more <- list(...)
  if (length(more) > 0 && (is.null(names(more)) || !all(names(more) %in% shared_keys)))
    fail(paste0("stat_", kind, ": unused arguments; known are ", paste(shared_keys, collapse = ", ")))
  if (!is.null(more$cuts)) more$cuts <- listed(more$cuts, "cuts")
  shared <- c(keys, given(by = by_of(by), where = if (!is.null(where)) condition_of(where, "where"),
                          budget_share = plan_value(share, "share"), confidence = plan_value(confidence, "confidence")),
              plan_value(more, kind))
  structure(class = "tamis_statistics", lapply(targets, function(target) c(stats::setNames(list(target), kind), shared)))
}

# A share is of those who meet a condition; of a column alone it would be of nothing.
condition_only <- function(target) {
  if (is.list(target)) return(target)
  fail(paste0("x: expected a condition, such as ~", target, " == \"a\"; stat_table(~", target, ") counts all its values"))
}

stat_count <- function(by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("count", list("units"), by, where, share, confidence, ...)
stat_total <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("total", targets_of(x, "x"), by, where, share, confidence, ...)
stat_mean <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("mean", targets_of(x, "x"), by, where, share, confidence, ...)
stat_share <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("share", lapply(targets_of(x, "x"), condition_only), by, where, share, confidence, ...)
stat_ratio <- function(of, to, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("ratio", list(list(of = one_target(of, "of"), to = one_target(to, "to"))), by, where, share, confidence, ...)
stat_table <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("table", list(by_of(x)), by, where, share, confidence, ...)
stat_histogram <- function(x, cuts, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("histogram", targets_of(x, "x"), by, where, share, confidence, cuts = cuts, ...)
stat_var <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("variance", targets_of(x, "x"), by, where, share, confidence, ...)
stat_quantile <- function(x, p, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("quantile", targets_of(x, "x"), by, where, share, confidence, ..., keys = list(at = listed(p, "p")))
stat_median <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("median", targets_of(x, "x"), by, where, share, confidence, ...)
stat_iqr <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("iqr", targets_of(x, "x"), by, where, share, confidence, ...)
stat_share_below <- function(x, line, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("share_below", targets_of(x, "x"), by, where, share, confidence, ..., keys = list(line = amount(line, "line")))
stat_poverty <- function(x, line = NULL, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("poverty", targets_of(x, "x"), by, where, share, confidence, ..., keys = given(line = plan_value(line, "line")))
stat_gini <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("gini", targets_of(x, "x"), by, where, share, confidence, ...)
stat_s80s20 <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("s80s20", targets_of(x, "x"), by, where, share, confidence, ...)

# What a contrast compares: one statistic without anything beside it.
compared <- function(x, what) {
  if (!inherits(x, "tamis_statistics") || length(x) != 1 || length(unclass(x)[[1]]) != 1)
    fail(paste0(what, ": expected one statistic alone, such as stat_mean(~income); give by, where and the like to the contrast"))
  unclass(x)[[1]]
}

# between = list(sex = c("m", "f"))
between_of <- function(x) {
  if (!is.list(x) || length(x) != 1 || is.null(names(x)) || length(x[[1]]) != 2)
    fail("between: expected a column and two of its values, such as list(sex = c(\"m\", \"f\"))")
  lapply(x, function(values) lapply(as.list(values), condition_value))
}

stat_difference <- function(of, between = NULL, minus = NULL, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("difference", list(c(compared(of, "of"), given(between = if (!is.null(between)) between_of(between),
                                                               minus = if (!is.null(minus)) compared(minus, "minus")))),
                by, where, share, confidence, ...)
stat_quotient <- function(of, between, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("quotient", list(c(compared(of, "of"), list(between = between_of(between)))), by, where, share, confidence, ...)
stat_contrast <- function(of, over, weights, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("contrast", list(c(compared(of, "of"), list(by = by_of(over), weights = listed(weights, "weights")))), by, where,
                share, confidence, ...)

# Since the folder of an earlier release.
stat_change <- function(of, since, independent = FALSE, overlap = NULL, by = NULL, where = NULL, share = NULL, confidence = NULL, ...)
  statistics_of("change", list(compared(of, "of")), by, where, share, confidence, ...,
                keys = given(since = one_text(since, "since"), samples = if (isTRUE(independent)) "independent",
                             overlap = overlap))

stat_correlation <- function(x, by = NULL, where = NULL, share = NULL, confidence = NULL, ...) {
  columns <- targets_of(x, "x")
  if (length(columns) != 2 || !all(vapply(columns, is.character, NA))) fail("x: expected two columns, such as ~income + age")
  statistics_of("correlation", list(columns), by, where, share, confidence, ...)
}

# What a model explains its left side by: ~ age + sex + cut(age, c(30, 50)) + sex:region.
predictors_of <- function(e, environment) {
  parts <- terms_of(e)
  pairs <- vapply(parts, is_call, NA, ":")
  names_of <- function(pair) {
    if (!all(vapply(as.list(pair)[-1], is.name, NA))) fail("formula: expected the names of two categories around :, such as sex:region")
    lapply(as.list(pair)[-1], as.character)
  }
  on <- lapply(parts[!pairs], function(e) {
    if (is.name(e)) return(as.character(e))
    if (!is_call(e, "cut") || length(e) != 3 || !is.name(e[[2]]))
      fail("formula: expected columns, cut(column, cuts), or a:b, joined by +")
    stats::setNames(list(listed(eval(e[[3]], environment), "cut")), as.character(e[[2]]))
  })
  c(list(on = on), given(interactions = if (any(pairs)) lapply(parts[pairs], names_of)))
}

stat_regression <- function(formula, family = NULL, baseline = NULL, typical = NULL, by = NULL, where = NULL, share = NULL,
                            confidence = NULL, ...) {
  if (!inherits(formula, "formula") || length(formula) != 3) fail("formula: expected a formula with two sides, such as income ~ age + sex")
  left <- formula[[2]]
  of <- if (is.name(left)) as.character(left) else condition(left, environment(formula))
  made <- predictors_of(formula[[3]], environment(formula))
  model <- c(list(of = of, on = made$on), given(family = if (!is.null(family)) one_text(family, "family"), interactions = made$interactions))
  named <- function(x, what) if (!is.null(x)) plan_value(as.list(x), what)
  statistics_of("regression", list(model), by, where, share, confidence, ...,
                keys = given(baseline = named(baseline, "baseline"), typical = named(typical, "typical")))
}

# All statistics of a call, one after the other; a list of statistics is a block.
block_of <- function(...) {
  made <- list()
  parts <- list(...)
  strange <- setdiff(names(parts), "")
  if ("na.rm" %in% strange) fail("na.rm: missing values are always left out, so there is no such argument")
  if (length(strange) > 0) fail(paste0(strange[[1]], ": there is no such argument"))
  for (part in parts) {
    if (is.list(part) && !is.object(part) && is.null(names(part)) && length(part) > 0) made <- c(made, do.call(block_of, part))
    else if (inherits(part, "tamis_statistics")) made <- c(made, unclass(part))
    else if (is.list(part) && !is.null(names(part))) made <- c(made, list(plan_value(part, "statistics")))
    else fail("expected statistics, such as stat_total(~income)")
  }
  if (length(made) == 0) fail("no statistics: give at least one, such as stat_total(~income)")
  made
}

print.tamis_statistics <- function(x, ...) {
  for (item in unclass(x)) cat(to_json(item), "\n", sep = "")
  invisible(x)
}
