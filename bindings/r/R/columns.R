# What is public about a column: its bounds or its values. Nothing is taken from the data.

tamis_number <- function(from, to, step = 1, typical = NULL, missing = NULL, missing_codes = NULL, contribution = NULL,
                         unit_contribution = NULL, label = NULL, unit_of_measure = NULL)
  structure(class = "tamis_column", given(
    from = plan_value(from, "from"), to = plan_value(to, "to"), step = plan_value(step, "step"),
    typical = plan_value(typical, "typical"), missing = plan_value(missing, "missing"),
    missing_codes = listed(missing_codes, "missing_codes"), contribution = plan_value(contribution, "contribution"),
    unit_contribution = plan_value(unit_contribution, "unit_contribution"), label = plan_value(label, "label"), unit_of_measure = plan_value(unit_of_measure, "unit_of_measure")))

tamis_values <- function(..., file = NULL, column = NULL, strata = NULL, of = NULL, parts = NULL, typical = NULL, missing = NULL, missing_codes = NULL,
                         label = NULL) {
  values <- unlist(lapply(list(...), value_texts), use.names = FALSE)
  if (is.null(file) + is.null(values) + is.null(strata) + is.null(parts) != 3)
    fail("tamis_values: expected values, or file =, or strata =, or of = and parts =")
  if (is.null(of) != is.null(parts)) fail("tamis_values: expected both of = and parts =")
  listed_values <- if (!is.null(values)) as.list(values)
  else if (!is.null(file)) given(file = one_text(file, "file"), column = plan_value(column, "column"))
  structure(class = "tamis_column", given(
    values = listed_values, strata = if (!is.null(strata)) lapply(as.list(strata), function(s) as.list(value_texts(s))),
    of = if (!is.null(of)) one_text(of, "of"), parts = if (!is.null(parts)) lapply(as.list(parts), function(s) as.list(value_texts(s))),
    typical = plan_value(typical, "typical"), missing = plan_value(missing, "missing"),
    missing_codes = if (!is.null(missing_codes)) as.list(value_texts(missing_codes)), label = plan_value(label, "label")))
}

listed <- function(x, what) if (!is.null(x)) lapply(as.list(x), amount, what)

value_texts <- function(x) {
  if (is.factor(x)) fail("values: a factor, whose levels may be what the data happen to have; write the values as texts")
  if (is.logical(x) && !anyNA(x)) return(tolower(as.character(x)))
  if (is.numeric(x)) return(vapply(as.list(x), amount, "", "values"))
  if (!is.character(x) || anyNA(x)) fail("values: expected texts")
  enc2utf8(x)
}

# A column, or its short form: c(from, to), or texts.
column_of <- function(name, x) {
  what <- paste0("columns.", name)
  if (inherits(x, "tamis_column")) return(unclass(x))
  if (is.factor(x)) fail(paste0(what, ": a factor, whose levels may be what the data happen to have; write the values as texts"))
  if (is.list(x) && !is.null(names(x))) return(plan_value(x, what))
  if (is.numeric(x) && !is.object(x) && length(x) == 2) {
    if (!all(is.finite(x))) fail(paste0(what, ": expected two numbers, c(from, to)"))
    return(unclass(tamis_number(x[[1]], x[[2]])))
  }
  if ((is.character(x) || is.logical(x)) && length(x) > 0) return(unclass(tamis_values(x)))
  fail(paste0(what, ": expected c(from, to), texts, tamis_number() or tamis_values()"))
}

columns_of <- function(columns) {
  if (is.null(columns)) return(NULL)
  if (!is.list(columns) || is.data.frame(columns) || is.null(names(columns)) || any(names(columns) == ""))
    fail("columns: expected a list with names, such as list(income = c(0, 4000), sex = c(\"f\", \"m\"))")
  made <- lapply(names(columns), function(name) column_of(name, columns[[name]]))
  names(made) <- enc2utf8(names(columns))
  made
}
