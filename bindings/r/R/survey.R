# Surveys and plans: rows with their design, bounds, account and budget, and what is released of them.

tamis_survey <- function(design, name, unit, columns, ledger, budget, max_weight = NULL, max_unit_weight = NULL, method = NULL,
                         variance = NULL, smallest = NULL, largest = NULL, weights_are = NULL, calibrate = NULL, id = NULL, rows_per_unit = NULL,
                         protect = NULL, given = NULL, secret_sample = NULL, data_name = NULL, frame = NULL, data = NULL,
                         title = NULL, wave = NULL, postprocess = NULL, design_variables = NULL, typical = NULL, weight_step = NULL,
                         regularise = NULL, replicates = NULL) {
  name <- one_text(name, "name")
  ledger <- one_text(ledger, "ledger")
  id <- column_name(id, "id")
  terms <- given(max_weight = max_weight, method = method, variance = variance, smallest = smallest, largest = largest,
                 weights_are = weights_are, frame = frame, id = id, typical = typical)
  mapped <- if (is.list(design) && !is.object(design)) plain_design(design, data, terms) else map_design(design, data, terms)
  beside <- given(max_unit_weight = max_unit_weight, weight_step = weight_step, regularise = regularise)
  mapped$design[names(beside)] <- plan_value(beside, "design")
  if (!is.null(replicates)) mapped$design$replicates <- plan_value(replicates, "replicates")
  plan <- given(tamis = 1, survey = name, title = plan_value(title, "title"), wave = plan_value(wave, "wave"),
                source = list(caller = if (is.null(data_name)) name else one_text(data_name, "data_name")),
                design = mapped$design,
                privacy = given(unit = one_text(unit, "unit"), id = id,
                                rows_per_unit = plan_value(rows_per_unit, "rows_per_unit"),
                                protect = plan_value(protect, "protect"), given = plan_value(given, "given"),
                                secret_sample = if (!is.null(secret_sample)) one_flag(secret_sample, "secret_sample"),
                                design_variables = plan_value(design_variables, "design_variables")),
                columns = columns_of(columns), ledger = ledger, budget = budget_of(budget),
                calibrate = calibrate_of(calibrate), postprocess = plan_value(postprocess, "postprocess"))
  structure(class = "tamis_survey", list(name = name, plan = plan, data = mapped$rows, ledger = absolute(ledger)))
}

column_name <- function(x, what) if (!is.null(x)) as.character(one_target(x, what))

absolute <- function(path) {
  path <- path.expand(path)
  if (startsWith(path, "/")) path else file.path(getwd(), path)
}

budget_of <- function(budget) {
  if (is.null(names(budget))) list(epsilon = amount(budget, "budget")) else plan_value(as.list(budget), "budget")
}

calibrate_of <- function(x) {
  if (is.null(x)) return(NULL)
  if (!is.list(x)) fail("calibrate: expected list(to = list(list(count = \"units\", by = ..., totals = c(...))))")
  plan_value(if (is.null(names(x))) list(to = x) else x, "calibrate")
}

# A design as a plan writes it: list(srs = list(population = 6194, sample = 200)), with the rows in `data`.
plain_design <- function(design, data, terms) {
  if (!is.data.frame(data)) fail("data: expected a data frame, since the design is a list", code = "source")
  beside <- terms[intersect(names(terms), c("max_weight", "variance", "weights_are", "typical"))]
  list(design = plan_value(c(design, beside), "design"), rows = data)
}

print.tamis_survey <- function(x, ...) {
  cat("survey ", x$name, ": ", nrow(x$data), " rows\ndesign: ", to_json(x$plan$design), "\nledger: ", x$plan$ledger, "; budget: ",
      paste(names(x$plan$budget), unlist(x$plan$budget), collapse = ", "), "\n", sep = "")
  invisible(x)
}

tamis_plan <- function(survey, ..., epsilon = NULL, delta = NULL, rho = NULL, outsider = NULL, insider = NULL) {
  if (inherits(survey, "tamis_plan")) {
    if (...length() > 0 || !is.null(c(epsilon, delta, rho, outsider, insider)))
      fail("this is a plan already: its statistics and amounts are in it")
    return(survey)
  }
  if (inherits(survey, c("survey.design", "svyrep.design", "twophase", "twophase2")))
    fail("make a tamis_survey() of it: bounds, a ledger and a budget are needed")
  if (!inherits(survey, "tamis_survey")) fail("expected a tamis_survey() or a plan")
  if (is.null(epsilon) && is.null(rho) && is.null(outsider)) fail("epsilon: how much may this spend? For example epsilon = 1; or rho =")
  keys <- survey$plan
  keys$privacy <- c(keys$privacy, given(epsilon = plan_value(epsilon, "epsilon"), delta = plan_value(delta, "delta"),
                                        rho = plan_value(rho, "rho"), outsider = plan_value(outsider, "outsider"),
                                        insider = plan_value(insider, "insider")))
  keys$statistics <- block_of(...)
  structure(class = "tamis_plan", list(name = name_in_memory(survey$name), text = to_json(keys), keys = keys, data = survey$data,
                                       ledger = survey$ledger))
}

# What the ledger calls a release of a plan that is in no file; not a path, since files would be relative to it.
name_in_memory <- function(survey) paste0("plan of ", gsub("[/[:cntrl:]]", "_", substr(survey, 1, 200)))

tamis_read_plan <- function(path) {
  path <- absolute(one_text(path, "path"))
  size <- file.info(path)$size
  if (is.na(size)) fail(paste0(path, ": there is no such file"))
  text <- readChar(path, size, useBytes = TRUE)
  Encoding(text) <- "UTF-8"
  plan <- structure(class = "tamis_plan", list(name = path, text = text, keys = NULL, data = NULL, ledger = NULL))
  call_tamis(r_plan_text, plan$name, plan$text, "json")
  plan
}

tamis_write_plan <- function(plan, path, ...) {
  plan <- tamis_plan(plan, ...)
  text <- if (is.null(plan$keys)) plan$text else to_yaml(plan$keys)
  connection <- file(path.expand(one_text(path, "path")), "wb")
  on.exit(close(connection))
  writeLines(text, connection, sep = "", useBytes = TRUE)
  invisible(path)
}

format.tamis_plan <- function(x, ...) if (is.null(x$keys)) x$text else to_yaml(x$keys)

print.tamis_plan <- function(x, ...) {
  cat(format(x))
  invisible(x)
}

# The library's own form, as certificates have it: equal plans have equal texts.
canonical <- function(plan) call_tamis(r_plan_text, plan$name, plan$text, "json")

all.equal.tamis_plan <- function(target, current, ...) {
  if (!inherits(current, "tamis_plan")) return("not a plan")
  if (identical(canonical(target), canonical(current))) TRUE else "the plans differ"
}

optional_path <- function(path, what) if (!is.null(path)) path.expand(one_text(path, what))

whole_number <- function(x, what) {
  if (!is.numeric(x) || length(x) != 1 || is.na(x) || x < 0 || x != round(x) || x > 2^53)
    fail(paste0(what, ": must be a whole number from 0 on"))
  as.numeric(x)
}

# The numbers of tamis_repeat.
repeat_of <- function(again, same_rows) {
  again <- one_flag(again, "again")
  if (!is.logical(same_rows) || length(same_rows) != 1) fail("same_rows: expected TRUE, FALSE or NA")
  if (again && isTRUE(same_rows)) fail("again, same_rows: expected one of them")
  if (again) 2 else if (isTRUE(same_rows)) 1 else 0
}

tamis_release <- function(survey, ..., epsilon = NULL, delta = NULL, rho = NULL, outsider = NULL, insider = NULL, folder = NULL, data = NULL, ledger = NULL,
                          again = FALSE, same_rows = NA, rows_version = NULL, new_account = NULL, sign = NULL, engine = NULL,
                          threads = getOption("tamis.threads", 0L), memory = 0, progress = interactive()) {
  plan <- tamis_plan(survey, ..., epsilon = epsilon, delta = delta, rho = rho, outsider = outsider, insider = insider)
  check_progress(progress)
  options <- list(folder = optional_path(folder, "folder"), ledger = ledger_of(plan, ledger),
                  `repeat` = repeat_of(again, same_rows),
                  rows_version = if (!is.null(rows_version)) one_text(rows_version, "rows_version"),
                  new_account = if (!is.null(new_account)) one_text(new_account, "new_account"),
                  sign = optional_path(sign, "sign"),
                  engine = if (!is.null(engine)) one_text(engine, "engine"), threads = whole_number(threads, "threads"),
                  memory = whole_number(memory, "memory"))
  rows <- rows_of(if (is.null(data)) plan$data else data, plan)
  made <- call_tamis(r_release, plan$name, plan$text, rows, options, watcher(progress))
  release <- release_of(made, options$folder, options$ledger, from_json(canonical(plan))$privacy$unit)
  about <- trimws(call_tamis(r_text, made, "notice"))
  remarks <- strsplit(call_tamis(r_text, made, "remarks"), "\n", fixed = TRUE)[[1]]
  repeated <- attr(release, "repeated")
  if (any(grepl("rows in memory were not read", remarks, fixed = TRUE))) about <- ""  # says it all, with the way on
  for (text in c(about, remarks)) if (nzchar(text)) if (repeated) warn(text, "tamis_repeated_release") else notice(text)
  release
}

ledger_of <- function(plan, ledger) if (is.null(ledger)) plan$ledger else absolute(one_text(ledger, "ledger"))

tamis_estimate <- function(survey, ..., data = NULL, engine = NULL, threads = getOption("tamis.threads", 0L), memory = 0,
                           progress = interactive()) {
  if (any(c("epsilon", "delta", "rho", "outsider", "insider") %in% names(list(...)))) fail("tamis_estimate: an estimate is not protected and has no epsilon, delta or rho")
  # An estimate spends nothing; a plan has to name an amount.
  plan <- if (inherits(survey, "tamis_plan")) tamis_plan(survey, ...) else tamis_plan(survey, ..., epsilon = 1)
  check_progress(progress)
  options <- list(engine = if (!is.null(engine)) one_text(engine, "engine"), threads = whole_number(threads, "threads"),
                  memory = whole_number(memory, "memory"))
  rows <- rows_of(if (is.null(data)) plan$data else data, plan)
  estimate_of(call_tamis(r_estimate, plan$name, plan$text, rows, options, watcher(progress)))
}

tamis_check <- function(survey, ..., epsilon = NULL, delta = NULL, rho = NULL, outsider = NULL, insider = NULL, ledger = NULL, again = FALSE, new_account = NULL,
                        advice = TRUE, progress = FALSE) {
  plan <- tamis_plan(survey, ..., epsilon = epsilon, delta = delta, rho = rho, outsider = outsider, insider = insider)
  check_progress(progress)
  options <- list(ledger = ledger_of(plan, ledger), `repeat` = repeat_of(again, NA),
                  no_advice = as.numeric(!one_flag(advice, "advice")),
                  new_account = if (!is.null(new_account)) one_text(new_account, "new_account"))
  preview_of(call_tamis(r_preview, plan$name, plan$text, options, watcher(progress)))
}

# A block of one statistic.
tamis_count <- function(design, by = NULL, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_count(by, where, confidence = confidence), epsilon = epsilon, ...)
tamis_total <- function(x, design, by = NULL, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_total(x, by, where, confidence = confidence), epsilon = epsilon, ...)
tamis_mean <- function(x, design, by = NULL, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_mean(x, by, where, confidence = confidence), epsilon = epsilon, ...)
tamis_share <- function(x, design, by = NULL, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_share(x, by, where, confidence = confidence), epsilon = epsilon, ...)
tamis_ratio <- function(of, to, design, by = NULL, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_ratio(of, to, by, where, confidence = confidence), epsilon = epsilon, ...)
tamis_table <- function(x, design, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_table(x, where = where, confidence = confidence), epsilon = epsilon, ...)
tamis_quantile <- function(x, design, p, by = NULL, epsilon = NULL, ..., where = NULL, confidence = NULL)
  tamis_release(design, stat_quantile(x, p, by, where, confidence = confidence), epsilon = epsilon, ...)

# family = "logistic", or a family of R: binomial(), quasipoisson.
family_of <- function(x) {
  if (is.function(x)) x <- x()
  if (inherits(x, "family")) {
    links <- c(gaussian = "identity", binomial = "logit", quasibinomial = "logit", poisson = "log", quasipoisson = "log")
    if (!x$family %in% names(links) || links[[x$family]] != x$link) fail("family: expected gaussian, binomial or poisson, with its usual link")
    x <- c(gaussian = "linear", binomial = "logistic", quasibinomial = "logistic", poisson = "poisson", quasipoisson = "poisson")[[x$family]]
  }
  x
}
tamis_glm <- function(formula, design, family = "linear", epsilon = NULL, ..., by = NULL, where = NULL, baseline = NULL, confidence = NULL)
  tamis_release(design, stat_regression(formula, family_of(family), baseline, by = by, where = where, confidence = confidence),
                epsilon = epsilon, ...)

# Whoever is used to the package survey.
instead <- function(name) function(x, design, ...)
  fail(paste0("a tamis_survey is released, for a part of its budget: ", name, "(x, design, epsilon = 1)"))
svytotal.tamis_survey <- instead("tamis_total")
svymean.tamis_survey <- instead("tamis_mean")
svyquantile.tamis_survey <- instead("tamis_quantile")
