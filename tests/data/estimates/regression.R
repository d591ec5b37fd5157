# What tests/cli/regression.py expects: svyglm of R's survey 4.1.1 on the rows that the script makes, for four designs.
#   Rscript regression.R rows.csv > regression.json
suppressMessages(library(survey))
d <- read.csv(commandArgs(TRUE)[1])
d$g <- factor(d$g, c("a", "b")); d$h <- factor(d$h, c("u", "v", "w"))
d$yc <- cut(d$y, c(-1, 2, 4, 10)); d$high <- as.numeric(d$x >= 20)
d$N <- 3000; d$Nh <- ifelse(d$s == "p", 1200, 1800); d$M <- 500
designs <- list(srs = svydesign(~1, data = d, fpc = ~N), stratified = svydesign(~1, strata = ~s, data = d, fpc = ~Nh),
                cluster = svydesign(~c, data = d, fpc = ~M), weights = svydesign(~1, data = d, weights = ~w))
models <- list(linear = list(x ~ g + h, gaussian()), crossed = list(x ~ g * yc, gaussian()),
               logistic = list(high ~ relevel(g, "b") + h, quasibinomial()), poisson = list(y ~ g + h, quasipoisson()))
out <- lapply(designs, function(s) lapply(models, function(m) {
  fit <- svyglm(m[[1]], s, family = m[[2]], control = glm.control(epsilon = 1e-14, maxit = 100))
  list(estimate = unname(coef(fit)), se = unname(SE(fit)))
}))
num <- function(x) paste0("[", paste(formatC(x, digits = 12, format = "g"), collapse = ", "), "]")
cat("{\n", paste(sapply(names(out), function(n) paste0(" \"", n, "\": {\n", paste(sapply(names(out[[n]]), function(m)
  paste0("  \"", m, "\": {\"estimate\": ", num(out[[n]][[m]]$estimate), ", \"se\": ", num(out[[n]][[m]]$se), "}")),
  collapse = ",\n"), "\n }")), collapse = ",\n"), "\n}\n", sep = "")
