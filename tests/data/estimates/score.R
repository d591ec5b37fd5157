# Score intervals of svyquantile (survey 4.1-1, R 4.2.2), for designs of all kinds, their groups, and columns with missing values.
# Run in this folder:  Rscript score.R > score.json
# One line per design, column and group: the quantiles, and the ends of their intervals; null where R stops with an error.
suppressMessages(library(survey))
at <- c(0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95)
rd <- function(name) read.csv(paste0(name, ".csv"), na.strings = "")
types <- data.frame(stype = c("E", "H", "M"), Freq = c(4421, 755, 1018))

srs <- rd("api_apisrs"); strat <- rd("api_apistrat"); clus1 <- rd("api_apiclus1"); clus2 <- rd("api_apiclus2")
strat$fpc <- c(E = 4421, M = 1018, H = 755)[strat$stype]
clus2$row <- seq_len(nrow(clus2))
dsrs <- svydesign(id = ~1, fpc = rep(6194, 200), data = srs)
dstrat <- svydesign(id = ~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = strat)
dclus1 <- svydesign(id = ~dnum, weights = ~pw, fpc = rep(757, 183), data = clus1)
clus2$fpc1 <- 757
dclus2 <- svydesign(id = ~dnum + row, fpc = ~fpc1 + fpc2, data = clus2)
dps <- postStratify(dclus1, ~stype, types)
drake <- rake(dclus1, list(~stype, ~sch.wide), list(types, data.frame(sch.wide = c("No", "Yes"), Freq = c(1072, 5122))),
              control = list(maxit = 200, epsilon = 1e-10))
dcal_linear <- calibrate(dclus1, ~stype + api99, c(`(Intercept)` = 6194, stypeH = 755, stypeM = 1018, api99 = 3914069))
dgreg_srs <- calibrate(dsrs, ~api99 + stype, c(`(Intercept)` = 6194, api99 = 3914069, stypeH = 755, stypeM = 1018))

mu_srs <- rd("mu284_srs40"); mu_wr <- rd("mu284_pps_wr"); mu_cl2 <- rd("mu284_cluster2"); mu_poi <- rd("mu284_pps_B_poisson")
mu_br <- rd("mu284_pps_A_brewer"); mu_sequal <- rd("mu284_strat_equal")
mu_cl2$row <- seq_len(nrow(mu_cl2)); mu_cl2$fpc1 <- 50
mu_sequal$fpc <- c(25, 48, 32, 38, 56, 41, 15, 29)[mu_sequal$REG]
m_srs <- svydesign(id = ~1, fpc = rep(284, 40), data = mu_srs)
m_hh <- svydesign(id = ~1, weights = ~wt, data = mu_wr)
m_cl2 <- svydesign(id = ~CL + row, fpc = ~fpc1 + fpc2, data = mu_cl2)
m_poi <- svydesign(id = ~1, fpc = ~pik, pps = poisson_sampling(mu_poi$pik), data = mu_poi)
m_br <- svydesign(id = ~1, fpc = ~pik, pps = "brewer", data = mu_br)
m_sequal <- svydesign(id = ~1, strata = ~REG, fpc = ~fpc, data = mu_sequal)

be_sney <- rd("belgium_strat_neyman")
be_sney$fpc <- c(70, 111, 64, 65, 69, 84, 44, 44, 38)[be_sney$Province]
b_sney <- svydesign(id = ~1, strata = ~Province, fpc = ~fpc, data = be_sney)
silc <- rd("eusilc_eusilc")
e_d <- svydesign(id = ~db030, strata = ~db040, weights = ~rb050, data = silc)

number <- function(x) ifelse(is.na(x), "null", sprintf("%.17g", x))
list_of <- function(x) paste0("[", paste(x, collapse = ", "), "]")
first <- TRUE
put <- function(data, design, d, column, by = NULL, group = NULL) {
  part <- if (is.null(by)) d else subset(d, d$variables[[by]] == group)
  f <- as.formula(paste0("~", column))
  r <- sapply(at, function(p) {
    q <- svyquantile(f, part, p, ci = FALSE, na.rm = TRUE)[[1]][1]
    ends <- suppressWarnings(tryCatch(svyquantile(f, part, p, interval.type = "score", na.rm = TRUE)[[1]][1, 2:3],
                                      error = function(e) c(NA, NA)))
    c(q, ends)
  })
  cat(if (first) "[" else ",\n ", sprintf('{"data": "%s", "design": "%s", "column": "%s", ', data, design, column),
      if (!is.null(by)) sprintf('"by": "%s", "group": "%s", ', by, group), '"at": ', list_of(at), ', "quantile": ',
      list_of(number(r[1, ])), ', "ci95": ',
      list_of(apply(r[2:3, ], 2, function(e) if (any(is.na(e))) "null" else list_of(number(e)))), "}", sep = "")
  first <<- FALSE
}
for (column in c("api00", "enroll")) {
  for (name in c("dsrs", "dstrat", "dclus1", "dclus2", "dps", "drake", "dcal_linear", "dgreg_srs")) {
    put("api", name, get(name), column)
    for (group in c("E", "H", "M")) put("api", name, get(name), column, "stype", group)
  }
}
for (column in c("P85", "REV84", "RMT85"))
  for (name in c("srs", "hh", "cl2", "poi", "br_A_brewer", "sequal"))
    put("mu284", name, get(paste0("m_", if (name == "br_A_brewer") "br" else name)), column)
for (column in c("Tot04", "averageincome")) put("belgium", "sney", b_sney, column)
put("eusilc", "d", e_d, "eqIncome")
for (group in c("female", "male")) put("eusilc", "d", e_d, "age", "rb090", group)
cat("]\n")
