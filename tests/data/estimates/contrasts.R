# Differences, quotients and contrasts by svycontrast, of svyby and svymean with covmat (survey 4.1-1, R 4.2.2).
# Run in this folder:  Rscript contrasts.R > contrasts.json
# One line per design and statistic of a plan: the call in words, the estimates and the standard errors.
suppressMessages(library(survey))
rd <- function(name) read.csv(paste0(name, ".csv"), na.strings = "")
srs <- rd("api_apisrs"); strat <- rd("api_apistrat"); clus1 <- rd("api_apiclus1"); clus2 <- rd("api_apiclus2")
strat$fpc <- c(E = 4421, M = 1018, H = 755)[strat$stype]
clus2$row <- seq_len(nrow(clus2)); clus2$fpc1 <- 757
nhanes <- rd("nhanes0910_nhanes")
designs <- list(
  dsrs = svydesign(id = ~1, fpc = rep(6194, 200), data = srs),
  dstrat = svydesign(id = ~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = strat),
  dclus1 = svydesign(id = ~dnum, weights = ~pw, fpc = rep(757, 183), data = clus1),
  dclus2 = svydesign(id = ~dnum + row, fpc = ~fpc1 + fpc2, data = clus2))
number <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
first <- TRUE
put <- function(design, statistic, result, groups = "null") {
  se <- if (is.matrix(vcov(result))) sqrt(diag(vcov(result))) else sqrt(vcov(result))
  cat(if (first) "[" else ",\n ", sprintf('{"design": "%s", "groups": %s, "statistic": %s,\n  "estimate": %s, "se": %s}', design,
      groups, statistic, number(unname(coef(result))), number(unname(se))), sep = "")
  first <<- FALSE
}
# In each of several groups: one call for each.
each <- function(d, by, what, f) {
  names <- sort(unique(d$variables[[by]]))
  list(lapply(names, function(v) f(d[!is.na(d$variables[[by]]) & d$variables[[by]] == v, ])),
       paste0("[", paste(sprintf('{"%s": "%s"}', by, names), collapse = ", "), "]"))
}
for (name in names(designs)) {
  d <- designs[[name]]
  types <- svyby(~api00, ~stype, d, svymean, covmat = TRUE)
  put(name, '{"difference": {"mean": "api00", "between": {"stype": ["E", "H"]}}}', svycontrast(types, c(E = 1, H = -1)))
  put(name, '{"quotient": {"mean": "api00", "between": {"stype": ["H", "E"]}}}', svycontrast(types, quote(H / E)))
  put(name, '{"contrast": {"mean": "api00", "by": "stype", "weights": [-1, 0.5, 0.5]}}',
      svycontrast(types, c(E = -1, H = 0.5, M = 0.5)))
  sums <- svyby(~enroll, ~stype, subset(d, !is.na(enroll)), svytotal, covmat = TRUE)
  put(name, '{"difference": {"total": "enroll", "between": {"stype": ["E", "M"]}}}', svycontrast(sums, c(E = 1, M = -1)))
  put(name, '{"quotient": {"total": "enroll", "between": {"stype": ["M", "E"]}}}', svycontrast(sums, quote(M / E)))
  ratios <- svyby(~api00, ~stype, denominator = ~api.stu, d, svyratio, covmat = TRUE)
  v <- vcov(ratios); b <- coef(ratios); w <- c(1, -1, 0)
  cat(",\n ", sprintf('{"design": "%s", "groups": null, "statistic": %s,\n  "estimate": %s, "se": %s}', name,
      '{"difference": {"ratio": {"of": "api00", "to": "api.stu"}, "between": {"stype": ["E", "H"]}}}', number(sum(w * b)),
      number(sqrt(drop(t(w) %*% v %*% w)))), sep = "")
  shares <- svymean(~factor(stype), d)
  put(name, '{"difference": {"share": {"stype": "E"}, "minus": {"share": {"stype": "H"}}}}',
      svycontrast(shares, c(`factor(stype)E` = 1, `factor(stype)H` = -1)))
  counts <- svytotal(~factor(stype), d)
  put(name, '{"difference": {"count": "units", "between": {"stype": ["E", "H"]}}}',
      svycontrast(counts, c(`factor(stype)E` = 1, `factor(stype)H` = -1)))
  means <- svymean(~api00 + api.stu, d)
  put(name, '{"difference": {"mean": "api00", "minus": {"mean": "api.stu"}}}', svycontrast(means, c(api00 = 1, api.stu = -1)))
  inside <- subset(d, comp.imp == "Yes")
  put(name, '{"difference": {"mean": "api00", "between": {"stype": ["E", "H"]}}, "where": {"comp.imp": "Yes"}}',
      svycontrast(svyby(~api00, ~stype, inside, svymean, covmat = TRUE), c(E = 1, H = -1)))
  grouped <- each(d, "stype", "api00", function(part)
    svycontrast(svyby(~api00, ~comp.imp, part, svymean, covmat = TRUE), c(Yes = 1, No = -1)))
  cat(",\n ", sprintf('{"design": "%s", "groups": %s, "statistic": %s,\n  "estimate": %s, "se": %s}', name, grouped[[2]],
      '{"difference": {"mean": "api00", "between": {"comp.imp": ["Yes", "No"]}}, "by": "stype"}',
      number(sapply(grouped[[1]], coef)), number(sapply(grouped[[1]], function(x) sqrt(c(vcov(x)))))), sep = "")
}
n <- subset(svydesign(id = ~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = nhanes), !is.na(HI_CHOL))
put("nhanes", '{"difference": {"share": {"HI_CHOL": "1"}, "between": {"RIAGENDR": ["1", "2"]}}}',
    svycontrast(svyby(~HI_CHOL, ~RIAGENDR, n, svymean, covmat = TRUE), c(`1` = 1, `2` = -1)))
put("nhanes", '{"quotient": {"share": {"HI_CHOL": "1"}, "between": {"RIAGENDR": ["1", "2"]}}}',
    svycontrast(svyby(~HI_CHOL, ~RIAGENDR, n, svymean, covmat = TRUE), quote(`1` / `2`)))
cat("]\n")
