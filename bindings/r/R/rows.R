# From a data frame to what C hands to the library: list(number of rows, list of list(name, type, values, levels)). Only the
# columns that the plan reads are looked at. Numbers, integers, logicals and factors are not copied.

rows_of <- function(data, plan) {
  if (is.null(data)) return(NULL)
  if (!is.data.frame(data)) fail("data: expected a data frame", code = "source")
  uses <- from_json(call_tamis(r_plan_text, plan$name, plan$text, "columns"))
  wanted <- unique(vapply(uses, function(use) use$name, ""))
  # A column that is not there is the library's to report.
  present <- wanted[wanted %in% enc2utf8(names(data))]
  at <- match(present, enc2utf8(names(data)))
  declared <- from_json(call_tamis(r_plan_text, plan$name, plan$text, "json"))$columns
  list(as.numeric(nrow(data)), lapply(seq_along(present), function(i)
    column_for(data[[at[i]]], present[i], unlist(declared[[present[i]]]$values), nrow(data))))
}

cannot <- function(name, why) fail(paste0("column ", name, ": ", why), code = "source")

# Classes whose vectors are what they seem to be.
plain_classes <- c("AsIs", "noquote", "labelled", "ordered", "factor", "Date", "integer64", "haven_labelled",
                   "haven_labelled_spss",
                   "vctrs_vctr", "double", "integer", "character", "numeric", "logical", "IDate")

column_for <- function(x, name, values, rows) {
  class <- if (is.object(x)) oldClass(x) else character()
  if (!is.null(dim(x))) cannot(name, "a matrix; expected a vector")
  if (any(class %in% c("POSIXct", "POSIXlt")))
    cannot(name, "times cannot be used; make a date (as.Date), a year or an age of them")
  if ("difftime" %in% class) cannot(name, "differences of times cannot be used; make a number of them (as.numeric, with units)")
  if (is.list(x)) cannot(name, "a list; expected a vector")
  unknown <- setdiff(class, plain_classes)
  if (length(unknown) > 0) cannot(name, paste0("the class ", unknown[1], " is not known; make numbers or texts of it"))
  if (length(x) != rows) cannot(name, "it has another length than the data frame")
  if (is.factor(x)) return(factor_for(x, name))
  if ("haven_labelled" %in% class) return(column_for(unlabelled(x, values), name, NULL, rows))
  if ("Date" %in% class) return(list(name, "date", as.double(unclass(x)), NULL))
  if ("integer64" %in% class) return(list(name, "integer64", x, NULL))
  switch(typeof(x),
         double = list(name, "number", x, NULL),
         integer = list(name, "integer", x, NULL),
         logical = list(name, "logical", x, NULL),
         character = list(name, "text", enc2utf8(as.vector(x)), NULL),
         cannot(name, paste0("values of the type ", typeof(x), " cannot be used")))
}

factor_for <- function(x, name) {
  levels <- levels(x)
  if (typeof(x) != "integer" || !is.character(levels)) cannot(name, "a damaged factor: make it again with factor()")
  list(name, "factor", x, enc2utf8(levels))
}

# A column of haven, as the library reads such files: declared missing values are missing; a value that the plan lists means
# itself, others the label that they have, if the plan lists that.
unlabelled <- function(x, values) {
  codes <- attr(x, "labels", exact = TRUE)
  absent <- attr(x, "na_values", exact = TRUE)
  range <- attr(x, "na_range", exact = TRUE)
  x <- as.vector(unclass(x))
  if (!is.null(absent)) x[x %in% absent] <- NA
  if (!is.null(range)) x[!is.na(x) & x >= range[1] & x <= range[2]] <- NA
  if (is.null(codes) || !any(names(codes) %in% values)) return(x)
  texts <- if (is.character(x)) x else ifelse(is.na(x), NA_character_, sprintf("%.15g", as.numeric(x)))
  labels <- names(codes)[match(x, as.vector(unclass(codes)))]
  ifelse(!texts %in% values & !is.na(labels) & !is.na(x), labels, texts)
}

# The formats of Arrow for names and types alone, of which tamis_init makes a plan.
format_of <- function(x) {
  if (is.factor(x) || is.character(x)) "u"
  else if (inherits(x, "Date")) "tdD"
  else if (inherits(x, "integer64")) "l"
  else if (inherits(x, c("POSIXt", "difftime")) || is.list(x)) "tsu:"
  else switch(typeof(x), double = "g", integer = "i", logical = "b", "z")
}
