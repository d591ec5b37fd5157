# From the design objects of the package survey to the design of a plan. Only these parts of an object are read: class, variables,
# groups, cluster, strata, has.strata, prob, fpc, pps, dcheck, variance, postStrata; never `call`, which other packages rewrite.
# Numbers that shape the guarantee come from fpc, where they are public by design, or from the caller: the largest weight, or the
# smallest cluster, of the rows is data.

cannot_map <- function(message) fail(message, "tamis_refused", "refused")

joint_help <- "a plan has no matrix of joint probabilities: give a frame, and method =, and they are computed"
subset_help <- "this is a subset of a design: give the whole design, and the condition as where ="

map_design <- function(d, data, terms) {
  if (!is.null(data)) fail("data: the design has its rows")
  if (inherits(d, "svyrep.design"))
    cannot_map(paste("replicate weights do not say how the sample was drawn: give the svydesign() that they were made from,",
                     "or weights and a public deff"))
  if (inherits(d, c("twophase", "twophase2"))) cannot_map("two-phase designs: no guarantee for the second phase is proved")
  if (inherits(d, "DBIsvydesign") || (inherits(d, "survey.design") && inherits(d$variables, "tbl_lazy")))
    cannot_map("the rows are in a database: write a plan with source: {postgres: ...}")
  if (!inherits(d, c("survey.design2", "pps")))
    fail("design: expected an object of survey's svydesign(), or a design as a plan writes it, and data =")
  if (length(d$groups) > 0) cannot_map("a grouped survey: give by =")
  if (!is.data.frame(d$variables)) fail("design: it has no rows", code = "source")
  if (ncol(d$strata) > ncol(d$cluster))
    cannot_map("more columns of strata than of ids, of which survey uses the first alone: make one column with interaction()")
  if (any(is.infinite(d$prob))) cannot_map(subset_help)
  if (has_second_strata(d)) cannot_map("strata within clusters are not supported")
  final <- !is.null(d$postStrata)
  if (final && !identical(terms$weights_are, "final"))
    cannot_map(paste("its weights depend on everybody's answers. Give the design before that, and the public totals as",
                     "calibrate =. Or weights_are = \"final\": they are then taken as public, and what they reveal is",
                     "not covered"))
  if (is_subset(d)) cannot_map(subset_help)
  made <- new_mapping(d, terms)
  if (inherits(d, "pps") || isTRUE(d$pps)) map_pps(made)
  else if (final || is.null(d$fpc$popsize)) map_weights(made)
  else map_sizes(made)
}

# What is being mapped: the object, the caller's terms, the rows with the columns that are added to them.
new_mapping <- function(d, terms) list(d = d, terms = terms, rows = as.data.frame(d$variables), stratum = first_stratum(d))

first_stratum <- function(d) if (isTRUE(d$has.strata)) as_label(d$strata[[1]]) else rep("all", nrow(d$variables))

as_label <- function(x) if (is.numeric(x) && !is.object(x)) sprintf("%.15g", x) else as.character(x)

distinct <- function(x, by) tapply(x, by, function(v) length(unique(v)))

has_second_strata <- function(d)
  ncol(d$strata) > 1 && ncol(d$cluster) > 1 && any(distinct(as_label(d$strata[[2]]), as_label(d$cluster[[1]])) > 1, na.rm = TRUE)

# subset() drops rows and keeps the sizes of the samples.
is_subset <- function(d) {
  strata <- d$strata[[1]]
  if (isTRUE(d$has.strata) && is.factor(strata) && any(table(strata) == 0)) return(TRUE)
  for (stage in seq_len(ncol(d$fpc$sampsize))) {
    within <- if (stage == 1) first_stratum(d) else as_label(d$cluster[[stage - 1]])
    here <- distinct(as_label(d$cluster[[stage]]), within)[within]
    if (any(here != d$fpc$sampsize[, stage])) return(TRUE)
  }
  FALSE
}

# Adds a column to the rows, unless one of them has this name and these values already: list(mapping, its name).
with_column <- function(made, values, name, own = NULL) {
  if (!is.null(own) && own %in% names(made$rows) && is.null(dim(made$rows[[own]])) && !is.list(made$rows[[own]]) &&
      identical(as_label(made$rows[[own]]), as_label(values)))
    return(list(made, own))
  while (name %in% names(made$rows)) name <- paste0(name, "_")
  made$rows[[name]] <- values
  list(made, name)
}

stratum_column <- function(made) with_column(made, made$stratum, "design_stratum", names(made$d$strata)[1])
psu_column <- function(made) with_column(made, as_label(made$d$cluster[[1]]), "design_psu", names(made$d$cluster)[1])

# Whether the first stage draws single rows.
draws_rows <- function(d) !anyDuplicated(paste(first_stratum(d), as_label(d$cluster[[1]]), sep = "\r"))

size <- function(x, what) {
  if (any(!is.finite(x)) || any(abs(x - round(x)) > 1e-6)) fail(paste0("fpc: a ", what, " is not a whole number"))
  round(x)
}

needs <- function(terms, name, message) if (is.null(terms[[name]])) fail(message) else terms[[name]]

needs_max_weight <- function(terms)
  amount(needs(terms, "max_weight",
               "max_weight: give a public upper bound of the weights; the largest weight in these rows is data"), "max_weight")

# The keys beside the design, and the end of every mapping.
finished <- function(made, design, ...) {
  beside <- c(given(...), given(typical = plan_value(made$terms$typical, "typical")))
  beside <- beside[!duplicated(names(beside))]
  list(design = c(design, beside), rows = made$rows)
}

with_weight <- function(made) with_column(made, unname(1 / made$d$prob), "design_weight")

# Weights, or probabilities, and nothing else that is public: the first stage counts as drawn with replacement.
map_weights <- function(made) {
  d <- made$d
  most <- needs_max_weight(made$terms)
  keys <- structure(list(), names = character())
  if (isTRUE(d$has.strata)) {
    step <- stratum_column(made)
    made <- step[[1]]
    keys$strata <- step[[2]]
  }
  if (!draws_rows(d)) {
    step <- psu_column(made)
    made <- step[[1]]
    keys$cluster <- step[[2]]
  }
  step <- with_weight(made)
  finished(step[[1]], list(weights = keys), weight = step[[2]], max_weight = most,
           weights_are = if (!is.null(d$postStrata)) "final" else plan_value(made$terms$weights_are, "weights_are"))
}

# Sizes of the population: simple random samples of rows, of clusters, or of both.
map_sizes <- function(made) {
  d <- made$d
  stages <- ncol(d$fpc$popsize)
  if (stages > 2) cannot_map("more than two stages: without fpc the first stage counts as drawn with replacement")
  if (stages < ncol(d$cluster)) cannot_map("fpc: give it for each stage, or for none")
  single <- stages == 1 && draws_rows(d)
  population <- size(d$fpc$popsize[, 1], "population size")
  sample <- d$fpc$sampsize[, 1]
  beside <- list()
  inner <- if (single) structure(list(), names = character()) else {
    step <- psu_column(made)
    made <- step[[1]]
    list(by = step[[2]])
  }
  if (stages == 2) {
    if (anyDuplicated(paste(made$stratum, as_label(d$cluster[[1]]), as_label(d$cluster[[2]]), sep = "\r")) &&
        is.null(made$terms$id))
      cannot_map("the second stage draws clusters of rows: give id =, the column of the second stage, and rows_per_unit =")
    step <- with_column(made, size(d$fpc$popsize[, 2], "population size"), "ssu_population")
    second <- with_column(step[[1]], as.numeric(d$fpc$sampsize[, 2]), "ssu_sample")
    made <- second[[1]]
    beside$max_weight <- needs_max_weight(made$terms)
  }
  kind <- if (single) "srs" else if (stages == 1) "cluster" else "two_stage"
  extent <- if (kind == "cluster") plan_value(made$terms[intersect(c("smallest", "largest"), names(made$terms))], "cluster")
  describe <- function(sizes) {
    if (kind == "two_stage") return(list(first = c(inner, sizes), second = list(population = step[[2]], sample = second[[2]])))
    c(inner, sizes, extent)
  }
  sizes_at <- function(i) list(population = amount(population[i], "population"), sample = amount(sample[i], "sample"))
  if (!isTRUE(d$has.strata)) {
    if (length(unique(population)) != 1) fail("fpc: it differs between rows, and there are no strata")
    sizes <- sizes_at(1)
    is_census <- single && population[1] == sample[1]
    design <- if (is_census) list(census = sizes["population"]) else stats::setNames(list(describe(sizes)), kind)
  } else {
    column <- stratum_column(made)
    made <- column[[1]]
    first <- which(!duplicated(made$stratum))
    if (any(population != population[first][match(made$stratum, made$stratum[first])])) fail("fpc: it differs within a stratum")
    strata <- stats::setNames(lapply(first, sizes_at), enc2utf8(made$stratum[first]))
    design <- list(stratified = list(by = column[[2]],
                                     within = if (single) "srs" else stats::setNames(list(describe(NULL)), kind),
                                     strata = strata))
  }
  if (!weights_follow(d)) {
    step <- with_weight(made)
    made <- step[[1]]
    beside$weight <- step[[2]]
    beside$max_weight <- needs_max_weight(made$terms)
  }
  do.call(finished, c(list(made, design), beside, given(weights_are = plan_value(made$terms$weights_are, "weights_are"),
                                                        variance = plan_value(made$terms$variance, "variance"))))
}

# Whether the weights are those of the sizes, up to Stata's single precision.
weights_follow <- function(d) {
  implied <- apply(d$fpc$popsize / d$fpc$sampsize, 1, prod)
  all(abs(unname(1 / d$prob) / implied - 1) < 1e-6)
}

pps_method <- function(terms) {
  method <- as.character(needs(terms, "method",
                               "method: survey does not record how the sample was drawn; name it, such as \"sampford\""))
  if (length(method) != 1) fail("method: expected one text")
  method
}

# Clusters of unequal probabilities, and a simple random sample of rows in each: pps = "brewer" with fpc for both stages.
map_pps_stages <- function(made) {
  d <- made$d
  step <- psu_column(made)
  by <- step[[2]]
  probability <- with_column(step[[1]], as.numeric(d$fpc$sampsize[, 1] / d$fpc$popsize[, 1]), "psu_probability")
  population <- with_column(probability[[1]], size(d$fpc$popsize[, 2], "population size"), "ssu_population")
  taken <- with_column(population[[1]], as.numeric(d$fpc$sampsize[, 2]), "ssu_sample")
  made <- taken[[1]]
  inner <- list(method = pps_method(made$terms), probability = probability[[2]])
  stages <- function(pps) list(first = list(by = by, pps = pps), second = list(population = population[[2]], sample = taken[[2]]))
  drawn_at <- function(i) list(sample = amount(d$fpc$sampsize[i, 1], "sample"))
  if (!isTRUE(d$has.strata)) {
    design <- list(two_stage = stages(c(inner, drawn_at(1))))
  } else {
    column <- stratum_column(made)
    made <- column[[1]]
    first <- which(!duplicated(made$stratum))
    design <- list(stratified = list(by = column[[2]], within = list(two_stage = stages(inner)),
                                     strata = stats::setNames(lapply(first, drawn_at), enc2utf8(made$stratum[first]))))
  }
  finished(made, design, max_weight = needs_max_weight(made$terms), variance = plan_value(made$terms$variance, "variance"))
}

# Unequal probabilities.
map_pps <- function(made) {
  d <- made$d
  terms <- made$terms
  if (!inherits(d, "pps") && ncol(d$cluster) == 2 && ncol(d$fpc$popsize) == 2) return(map_pps_stages(made))
  if (ncol(d$cluster) > 1) cannot_map("more than two stages: without fpc the first stage counts as drawn with replacement")
  if (!draws_rows(d)) cannot_map("clusters of unequal probabilities that are taken whole are not supported")
  variance <- pps_variance(d, terms)
  method <- pps_method(terms)
  step <- with_column(made, unname(d$prob), "design_probability")
  made <- step[[1]]
  most <- if (is.null(terms$frame)) needs_max_weight(terms) else plan_value(terms$max_weight, "max_weight")
  inner <- c(if (method != "poisson") list(method = method), list(probability = step[[2]]),
             given(frame = plan_value(terms$frame, "frame")))
  kind <- if (method == "poisson") "poisson" else "pps"
  design <- if (!isTRUE(d$has.strata)) {
    stats::setNames(list(c(inner, if (kind == "pps") list(sample = amount(d$fpc$sampsize[1, 1], "sample")))), kind)
  } else {
    column <- stratum_column(made)
    made <- column[[1]]
    first <- which(!duplicated(made$stratum))
    sizes <- lapply(first, function(i) if (kind == "pps") list(sample = amount(d$fpc$sampsize[i, 1], "sample")) else
      structure(list(), names = character()))
    list(stratified = list(by = column[[2]], within = stats::setNames(list(inner), kind),
                           strata = stats::setNames(sizes, enc2utf8(made$stratum[first]))))
  }
  finished(made, design, max_weight = most, variance = variance)
}

# Which estimator of the variance the object has. Of a matrix of joint probabilities only the two that follow from the first-order
# probabilities can be named in a plan, and the object must have the one that is named.
pps_variance <- function(d, terms) {
  if (!inherits(d, "pps")) return(if (is.null(terms$variance)) "brewer" else plan_value(terms$variance, "variance"))
  if (is.null(d$fpc$popsize) || !identical(d$variance, "HT")) cannot_map(joint_help)
  joint <- as_plain_matrix(d$dcheck[[1]]$dcheck)
  is_diagonal <- all(joint[row(joint) != col(joint)] == 0)
  if (is_diagonal) {
    if (!identical(terms$method, "poisson"))
      fail("method: the units of this design are drawn independently: give method = \"poisson\"")
    return(plan_value(terms$variance, "variance"))
  }
  variance <- needs(terms, "variance", "variance: give hartley_rao for HR(), or overton; the object does not name the one it has")
  if (!variance %in% c("hartley_rao", "overton")) fail("variance: expected hartley_rao or overton")
  if (!is_approximation(joint, paste0("s", first_stratum(d)), variance)) cannot_map(joint_help)
  variance
}

# A block of the sparse matrices that survey makes, by the generic of whoever defines their class.
as_plain_matrix <- function(x) {
  if (is.matrix(x)) return(x)
  n <- dim(x)[1]
  vapply(seq_len(n), function(j) as.numeric(x[, j]), numeric(n))
}

# 1 - pi_i pi_j / pi_ij within strata, by Hartley and Rao (1962) with the sum of squares estimated from the sample, or by Overton
# (1985).
is_approximation <- function(matrix, strata, variance) {
  p <- 1 - diag(matrix)
  n <- as.numeric(table(strata)[strata])
  sums <- outer(p, p, "+")
  expected <- 1 - (if (variance == "overton") n - sums / 2 else n - sums + as.numeric(tapply(p, strata, mean)[strata])) / (n - 1)
  compared <- row(matrix) != col(matrix) & outer(strata, strata, "==") & sums != 1 & sums != 2
  nrow(matrix) == length(strata) && max(0, abs(matrix - expected)[compared]) < 1e-9
}
