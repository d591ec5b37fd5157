# Plans travel as JSON, whose numbers are exact texts: a plan never goes through a double.

# The exact text of an amount; 0.1 is one tenth.
amount <- function(x, what) {
  if (is.character(x) && length(x) == 1 && !is.na(x)) return(enc2utf8(x))
  if (inherits(x, "integer64") && length(x) == 1) return(format(x))
  if (!is.numeric(x) || is.object(x) || length(x) != 1 || is.na(x) || is.infinite(x)) fail(paste0(what, ": expected a number"))
  text <- if (x == round(x) && abs(x) < 1e15) sprintf("%.0f", x) else sprintf("%.15g", x)
  if (as.numeric(text) != x) {
    text <- sprintf("%.17g", x)
    warn(paste0(what, ": ", text, " has more than 15 digits; give a text such as \"1/3\", which is exact"), "tamis_inexact")
  }
  text
}

one_text <- function(x, what) {
  if (!is.character(x) || length(x) != 1 || is.na(x)) fail(paste0(what, ": expected one text"))
  enc2utf8(x)
}

one_flag <- function(x, what) {
  if (!is.logical(x) || length(x) != 1 || is.na(x)) fail(paste0(what, ": expected TRUE or FALSE"))
  x
}

# The keys that are given.
given <- function(...) Filter(Negate(is.null), list(...))

# A value of a plan: numbers become texts, at any depth; vectors with names are maps.
plan_value <- function(x, what) {
  if (is.null(x) || (is.logical(x) && length(x) == 1 && !is.na(x))) return(x)
  if (is.list(x)) {
    made <- lapply(seq_along(x), function(i) plan_value(x[[i]], if (is.null(names(x))) what else paste0(what, ".", names(x)[i])))
    names(made) <- names(x)
    return(made)
  }
  if (is.factor(x)) fail(paste0(what, ": a factor; write the texts"))
  if (!is.numeric(x) && !is.character(x)) fail(paste0(what, ": expected numbers or texts"))
  if (length(x) == 1 && is.null(names(x))) return(amount(x, what))
  made <- lapply(seq_along(x), function(i) amount(x[[i]], what))
  names(made) <- names(x)
  made
}

quoted <- function(x) {
  x <- gsub("\\", "\\\\", enc2utf8(x), fixed = TRUE)
  x <- gsub("\"", "\\\"", x, fixed = TRUE)
  if (any(grepl("[\001-\037\177]", x, useBytes = TRUE)))  # hardly ever, and 32 replacements of every text take milliseconds
    for (code in c(1:31, 127)) x <- gsub(intToUtf8(code), sprintf("\\u%04x", code), x, fixed = TRUE)
  paste0("\"", x, "\"")
}

to_json <- function(x) {
  if (is.null(x)) return("null")
  if (is.list(x)) {
    items <- vapply(x, to_json, "")
    if (is.null(names(x))) return(paste0("[", paste(items, collapse = ", "), "]"))
    if (length(x) == 0) return("{}")
    return(paste0("{", paste0(quoted(names(x)), ": ", items, collapse = ", "), "}"))
  }
  if (is.logical(x)) return(if (x) "true" else "false")
  if (is.numeric(x)) return(sprintf("%.0f", x))
  quoted(x)
}

from_json <- function(text, left_out = character()) .Call(r_json, text, left_out)

# Words that mean something else in YAML.
yaml_words <- c("yes", "no", "true", "false", "on", "off", "y", "n", "null")

# Maps as blocks, all else as JSON, which is YAML.
to_yaml <- function(x, depth = 0) {
  indent <- strrep("  ", depth)
  lines <- vapply(names(x), function(name) {
    value <- x[[name]]
    plain <- grepl("^[A-Za-z_][A-Za-z0-9_]*$", name) && !tolower(name) %in% yaml_words
    key <- paste0(indent, if (plain) name else quoted(name), ":")
    is_map <- function(v) is.list(v) && length(v) > 0 && !is.null(names(v))
    if (is_map(value)) paste0(key, "\n", to_yaml(value, depth + 1))
    else if (is.list(value) && length(value) > 0 && all(vapply(value, is_map, NA)))
      paste0(key, "\n", paste0(indent, "  - ", vapply(value, to_json, ""), "\n", collapse = ""))
    else paste0(key, " ", to_json(value), "\n")
  }, "")
  paste(lines, collapse = "")
}

# {"lower", "upper"} becomes c(lower, upper), at any depth.
bounds_of <- function(x) {
  if (!is.list(x)) return(x)
  if (setequal(names(x), c("lower", "upper")))
    return(vapply(x[c("lower", "upper")], function(v) if (is.null(v) || identical(v, "inf")) Inf else as.numeric(v), 0))
  made <- lapply(x, bounds_of)
  attributes(made) <- attributes(x)
  made
}
