# Correlations from svyvar by svycontrast, and linear, logistic and Poisson models by svyglm (survey 4.1-1, R 4.2.2).
# Run in this folder:  Rscript models.R > models.json
# One entry per design and statistic of a plan. glm stops at a change of the deviance of 1e-8 unless told otherwise, which leaves
# six digits or so: here it goes on to the last ones.
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
  dclus1_nofpc = svydesign(id = ~dnum, weights = ~pw, data = clus1),
  dclus2 = svydesign(id = ~dnum + row, fpc = ~fpc1 + fpc2, data = clus2))
tight <- list(epsilon = 1e-15, maxit = 60)
number <- function(x) paste0("[", paste(ifelse(is.na(x), "null", sprintf("%.17g", x)), collapse = ", "), "]")
first <- TRUE
open <- function(design, statistic) {
  cat(if (first) "[" else ",\n ", sprintf('{"design": "%s", "statistic": %s,\n  ', design, statistic), sep = "")
  first <<- FALSE
}
# The terms in the order of a plan; `joint`: tests of all terms of a factor.
put_model <- function(design, statistic, m, joint = NULL) {
  s <- coef(summary(m))
  all <- names(coef(m))
  row <- match(all, rownames(s))
  ends <- suppressMessages(confint(m))
  open(design, statistic)
  cat(sprintf('"estimate": %s,\n  "se": %s,\n  "p": %s,\n  "lower": %s,\n  "upper": %s,\n  "df": %d',
              number(unname(coef(m))), number(s[row, 2]), number(s[row, 4]), number(ends[match(all, rownames(ends)), 1]),
              number(ends[match(all, rownames(ends)), 2]), as.integer(m$df.residual)))
  if (!is.null(joint)) cat(sprintf(',\n  "joint": {%s}', paste(sprintf('"%s": %.17g', names(joint),
    vapply(joint, function(f) c(regTermTest(m, f, df = m$df.residual)$p), 0)), collapse = ", ")))
  cat("}")
}
put_correlation <- function(design, statistic, formula, d) {
  v <- svyvar(formula, d, na.rm = TRUE)
  names <- all.vars(formula)
  # svyvar gives the matrix by columns: xx, xy, yx, yy
  m <- as.matrix(v); class(m) <- NULL
  b <- c(m); V <- attr(v, "var")
  r <- b[2] / sqrt(b[1] * b[4])
  g <- c(-r / 2 / b[1], 1 / sqrt(b[1] * b[4]), 0, -r / 2 / b[4])
  open(design, statistic)
  cat(sprintf('"estimate": %s, "se": %s, "df": null}', number(r), number(sqrt(drop(t(g) %*% V %*% g)))))
}
for (name in names(designs)) {
  d <- update(designs[[name]], stype = factor(stype, levels = sort(unique(stype))), comp.imp = factor(comp.imp, levels = c("No", "Yes")))
  put_correlation(name, '{"correlation": ["api00", "enroll"]}', ~api00 + enroll, d)
  put_correlation(name, '{"correlation": ["api.stu", "api00"], "where": {"comp.imp": "Yes"}}', ~api.stu + api00, subset(d, comp.imp == "Yes"))
  put_model(name, '{"regression": {"of": "api00", "on": ["api.stu"]}}', svyglm(api00 ~ api.stu, d))
  put_model(name, '{"regression": {"of": "api00", "on": ["api.stu", "enroll", "comp.imp", "stype"]}}',
            svyglm(api00 ~ api.stu + enroll + comp.imp + stype, d), list(stype = ~stype))
  put_model(name, '{"regression": {"of": "api00", "on": ["stype", "comp.imp"], "interactions": [["stype", "comp.imp"]]}}',
            svyglm(api00 ~ stype * comp.imp, d), list(stype = ~stype))
  put_model(name, '{"regression": {"of": "enroll", "on": ["comp.imp", "api00"]}, "where": {"stype": ["E", "M"]}, "confidence": "0.95"}',
            svyglm(enroll ~ comp.imp + api00, subset(d, stype %in% c("E", "M"))))
  put_model(name, '{"regression": {"of": {"comp.imp": "Yes"}, "on": ["stype", {"api00": [550, 700]}], "family": "logistic"}}',
            svyglm(I(comp.imp == "Yes") ~ stype + cut(api00, c(-Inf, 550, 700, Inf), right = FALSE), d, family = quasibinomial(),
                   control = tight), list(stype = ~stype))
  put_model(name, '{"regression": {"of": "enroll", "on": ["stype", "comp.imp"], "family": "poisson"}}',
            svyglm(enroll ~ stype + comp.imp, d, family = quasipoisson(), control = tight), list(stype = ~stype))
  put_model(name, '{"regression": {"of": "api00", "on": ["stype"]}, "baseline": {"stype": "H"}, "where": {"stype": ["E", "H"]}}',
            svyglm(api00 ~ relevel(factor(stype, levels = c("E", "H")), "H"), subset(d, stype %in% c("E", "H"))))
}
n <- svydesign(id = ~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = nhanes)
n <- update(n, race = factor(race), RIAGENDR = factor(RIAGENDR), agecat = factor(agecat, levels = sort(unique(agecat))))
put_model("nhanes", '{"regression": {"of": {"HI_CHOL": "1"}, "on": ["RIAGENDR", "race", "agecat"], "family": "logistic"}}',
          svyglm(HI_CHOL ~ RIAGENDR + race + agecat, n, family = quasibinomial(), control = tight), list(race = ~race, agecat = ~agecat))
put_model("nhanes", '{"regression": {"of": {"HI_CHOL": "1"}, "on": ["race", "agecat"], "family": "logistic"}, "where": {"RIAGENDR": "2"}}',
          svyglm(HI_CHOL ~ race + agecat, subset(n, RIAGENDR == "2"), family = quasibinomial(), control = tight), list(race = ~race))
brewer <- svydesign(ids = ~1, fpc = ~pik, pps = "brewer", data = rd("mu284_pps_A_brewer"))
drawn <- rd("mu284_pps_B_poisson")
poisson <- svydesign(ids = ~1, fpc = ~pik, pps = poisson_sampling(drawn$pik), data = drawn)
for (name in c("br_A_brewer", "poi")) {
  d <- if (name == "poi") poisson else brewer
  put_correlation(name, '{"correlation": ["RMT85", "P85"]}', ~RMT85 + P85, d)
  put_model(name, '{"regression": {"of": "RMT85", "on": ["P85", "REV84"]}}', svyglm(RMT85 ~ P85 + REV84, d))
  put_model(name, '{"regression": {"of": "P85", "on": [{"REV84": [2000, 6000]}], "family": "poisson"}}',
            svyglm(P85 ~ cut(REV84, c(-Inf, 2000, 6000, Inf), right = FALSE), d, family = quasipoisson(), control = tight))
}
cat("]\n")
