# Replicate weights: svrepdesign of every type that a plan has, on one sample of 8 strata with 2 or 3 clusters (survey 4.1-1, R 4.2.2).
# Run in this folder:  Rscript replicates.R > replicates.json
# The sample and its weights are made once (set.seed) and written to replicates.csv; some values are missing.
suppressMessages(library(survey))
set.seed(20261119)
strata <- 8
sample <- do.call(rbind, lapply(seq_len(strata), function(h) do.call(rbind, lapply(1:2, function(k) {
  n <- sample(4:7, 1)
  data.frame(h = h, psu = sprintf("%d.%d", h, k), w = round(runif(n, 20, 80), 2), x = round(rnorm(n, 50 + 3 * h, 12)), y = round(rexp(n, 1 / 20) + 1),
             k = sample(c("a", "b", "c"), n, TRUE), z = sample(c("no", "yes"), n, TRUE))
}))))
sample$x[c(5, 40)] <- NA
plain <- svydesign(ids = ~psu, strata = ~h, weights = ~w, data = sample)
one <- svydesign(ids = ~psu, weights = ~w, data = sample)
made <- list(jkn = as.svrepdesign(plain, type = "JKn"), brr = as.svrepdesign(plain, type = "BRR"),
             fay = as.svrepdesign(plain, type = "Fay", fay.rho = 0.3), jk = as.svrepdesign(one, type = "JK1"),
             boot = as.svrepdesign(plain, type = "subbootstrap", replicates = 12))
for (name in names(made)) {
  weights <- round(weights(made[[name]], "analysis"), 6)
  colnames(weights) <- sprintf("%s%d", name, seq_len(ncol(weights)))
  sample <- cbind(sample, weights)
}
write.csv(sample, "replicates.csv", row.names = FALSE, quote = FALSE, na = "")
d <- read.csv("replicates.csv", na.strings = "")
columns <- function(name) d[, grep(paste0("^", name, "[0-9]+$"), names(d))]
rscales <- made$jkn$rscales
made_of <- function(name, type, ...) suppressWarnings(svrepdesign(repweights = columns(name), weights = ~w, data = d, type = type, combined.weights = TRUE, ...))
list_of <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
designs <- list(
  list('{"weights": "jk*", "type": "jk1", "scale": 0.9375}', NULL),
  list(sprintf('{"weights": "jkn*", "type": "jkn", "rscales": %s}', list_of(rscales)), made_of("jkn", "JKn", rscales = rscales, scale = 1)),
  list('{"weights": "brr*", "type": "brr"}', made_of("brr", "BRR")),
  list('{"weights": "brr*", "type": "brr", "mse": true}', made_of("brr", "BRR", mse = TRUE)),
  list('{"weights": "fay*", "type": "fay", "rho": 0.3}', made_of("fay", "Fay", rho = 0.3)),
  list('{"weights": "boot*", "type": "bootstrap"}', made_of("boot", "bootstrap")),
  list('{"weights": "boot*", "type": "other", "scale": 0.125}', made_of("boot", "other", scale = 0.125, rscales = base::rep(1, 12))),
  list(sprintf('{"weights": [%s], "type": "jk1"}', paste0('"jk', 1:16, '"', collapse = ", ")), made_of("jk", "JK1", scale = 15 / 16)))
designs <- designs[-1] # the pattern jk* would match jkn too
put <- function(statistic, estimate, se, lower = NULL, upper = NULL) {
  cat(sprintf('%s\n   {"statistic": %s, "estimate": %s, "se": %s%s}', if (first) "" else ",", statistic, list_of(estimate), list_of(se),
              if (is.null(lower)) "" else sprintf(', "lower": %s, "upper": %s', list_of(lower), list_of(upper))))
  first <<- FALSE
}
put_stat <- function(statistic, v, df) { e <- confint(v, df = df); put(statistic, unname(coef(v)), unname(c(SE(v))), e[, 1], e[, 2]) }
cat("[")
for (i in seq_along(designs)) {
  r <- designs[[i]][[2]]
  df <- degf(r)
  first <- TRUE
  cat(sprintf('%s{"replicates": %s, "df": %d, "results": [', if (i > 1) ",\n " else "", designs[[i]][[1]], as.integer(df)))
  put_stat('{"total": "x"}', svytotal(~x, r, na.rm = TRUE), df)
  put_stat('{"mean": "x"}', svymean(~x, r, na.rm = TRUE), df)
  put_stat('{"count": "units", "by": "k"}', svytotal(~k, r), df)
  put_stat('{"share": {"z": "yes"}}', svymean(~I(1 * (z == "yes")), r), df)
  put_stat('{"ratio": {"of": "x", "to": "y"}}', svyratio(~x, ~y, r, na.rm = TRUE), df)
  by <- svyby(~x, ~k, r, svymean, na.rm = TRUE)
  put('{"mean": "x", "by": "k"}', unname(coef(by)), unname(SE(by)))
  by <- svyby(~y, ~z, r, svytotal)
  put('{"total": "y", "by": "z"}', unname(coef(by)), unname(SE(by)))
  v <- svyvar(~y, r)
  put('{"variance": "y"}', c(v), sqrt(c(attr(v, "var"))))
  c1 <- svycontrast(svyby(~x, ~z, r, svymean, na.rm = TRUE, covmat = TRUE), list(c(-1, 1)))
  put('{"difference": {"mean": "x", "between": {"z": ["yes", "no"]}}}', coef(c1), SE(c1))
  for (type in "mean") { # survey 4.1-1 takes this one whatever is asked for: svyquantile does not pass the type on
    q <- svyquantile(~y, r, c(0.25, 0.5), interval.type = type)$y
    put(sprintf('{"quantile": "y", "at": [0.25, 0.5], "interval": "%s"}', type), q[, 1], q[, 4], q[, 2], q[, 3])
  }
  for (family in c("linear", "logistic", "poisson")) {
    m <- switch(family, linear = svyglm(x ~ y + k, r), logistic = svyglm(I(z == "yes") ~ k, r, family = quasibinomial()),
                poisson = svyglm(y ~ k + z, r, family = quasipoisson()))
    m <- switch(family, linear = m, update(m, epsilon = 1e-15, maxit = 60))
    statistic <- switch(family, linear = '{"of": "x", "on": ["y", "k"]}', logistic = '{"of": {"z": "yes"}, "on": ["k"], "family": "logistic"}',
                        poisson = '{"of": "y", "on": ["k", "z"], "family": "poisson"}')
    put(sprintf('{"regression": %s}', statistic), unname(coef(m)), unname(sqrt(diag(vcov(m)))))
  }
  cat("]}")
}
cat("]\n")
