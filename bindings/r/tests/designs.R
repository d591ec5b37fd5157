# Every row of the table in the help of tamis_survey: the estimate equals survey's, or the design is refused with the words of the
# table. Data are those of the package survey; with TAMIS_TEST_DATA=tests/data/estimates (of the source tree) also samples of other
# populations.
source("harness/harness.R")
library(tamis)
folder <- Sys.getenv("TAMIS_TEST_DATA")
if (!requireNamespace("survey", quietly = TRUE)) {
  skip("designs of the package survey", "survey is not installed")
  done()
  quit()
}
suppressPackageStartupMessages(library(survey))
options(tamis.threads = 2L, survey.lonely.psu = "fail")
for (set in c("api", "election", "nhanes", "yrbs", "scd", "fpc", "hospital", "mu284", "crowd"))
  data(list = set, package = "survey", envir = environment())
in_folder()

survey_of <- function(design, columns, ...)
  tamis_survey(design, "s", unit = "unit", columns = stats::setNames(lapply(columns, function(x) c(-1e9, 1e9)), columns),
               ledger = "l", budget = 1, ...)

# Totals and means of some columns, by both.
equal <- function(name, design, columns, ..., tolerance = 1e-9, se = TRUE, kind = NULL) test(name, {
  s <- survey_of(design, columns, ...)
  if (!is.null(kind)) expect(kind %in% names(s$plan$design), " but ", paste(names(s$plan$design), collapse = " "))
  here <- tamis_estimate(s, stat_total(columns), stat_mean(columns))
  formula <- stats::reformulate(columns)
  there <- list(svytotal(formula, design, na.rm = TRUE), svymean(formula, design, na.rm = TRUE))
  near(here$estimate, unlist(lapply(there, coef)), tolerance)
  if (se) near(here$se, unlist(lapply(there, SE)), tolerance)
})

# ---- sizes

equal("srs with counts", svydesign(~1, fpc = ~fpc, data = apisrs), c("api00", "enroll"), kind = "srs")
equal("srs with fractions", svydesign(~1, fpc = ~I(0 * fpc + 200 / 6194), data = apisrs), c("api00", "enroll"), kind = "srs")
equal("a census", svydesign(~1, fpc = ~I(rep(6194, 6194)), data = transform(apipop, enroll = ifelse(is.na(enroll), 0, enroll))),
      c("api00", "enroll"), kind = "census")
equal("strata with fpc", svydesign(~1, strata = ~stype, fpc = ~fpc, data = apistrat), c("api00", "enroll"), kind = "stratified")
equal("strata with fpc and weights in single precision",
      svydesign(~1, strata = ~stype, weights = ~pw, fpc = ~fpc, data = apistrat), c("api00", "enroll"),
      tolerance = 1e-6, kind = "stratified")
equal("weights that are not those of fpc", svydesign(~dnum, weights = ~pw, fpc = ~fpc, data = apiclus1), c("api00", "enroll"),
      smallest = 1,
      largest = 200, max_weight = 60, kind = "weight")
equal("clusters", svydesign(~dnum, fpc = ~fpc, data = apiclus1), c("api00", "enroll"), smallest = 1, largest = 200,
      kind = "cluster")
equal("two stages", svydesign(~dnum + snum, fpc = ~fpc1 + fpc2, data = apiclus2), c("api00", "api99"), max_weight = 500,
      kind = "two_stage")
equal("two stages of mu284", svydesign(~id1 + id2, fpc = ~n1 + n2, data = mu284), "y1", max_weight = 100, kind = "two_stage")
equal("clusters with weights of their own", svydesign(~id1, fpc = ~n1, weights = ~I(n1 / 5 * n2 / 3), data = mu284), "y1",
      smallest = 1, largest = 10,
      max_weight = 100, kind = "weight")
equal("strata of clusters", svydesign(~psuid, strata = ~stratid, weights = ~weight, fpc = ~Nh, nest = TRUE, data = fpc), "x",
      smallest = 1, largest = 5,
      max_weight = 10, kind = "stratified")
equal("hospitals in strata", svydesign(~1, strata = ~oblevel, fpc = ~tothosp, weights = ~weighta, data = hospital), "births",
      tolerance = 1e-6,
      kind = "stratified")
equal("two stages, clusters of unequal probabilities",
      svydesign(~id1 + id2, fpc = ~p1 + p2, pps = "brewer", data = transform(mu284[order(mu284$id1), ], p1 = 5 * n2 / 284, p2 = 3 / n2)), "y1",
      method = "systematic", max_weight = 100, kind = "two_stage")
test("two ids and fpc for one: survey itself stops", {
  stopped <- tryCatch(svydesign(~dnum + snum, fpc = ~fpc1, data = apiclus2), error = identity)
  expect(inherits(stopped, "error"))
})
test("more than two stages with fpc", {
  three <- transform(apiclus2, one = 1:126, many = 10)
  refused(survey_of(svydesign(~dnum + snum + one, fpc = ~fpc1 + fpc2 + many, data = three), "api00"),
          "more than two stages: without fpc the first stage counts as drawn with replacement")
})
test("a size that is not whole", {
  d <- svydesign(~1, fpc = ~I(fpc + 0.5), data = apisrs)
  invalid(survey_of(d, "api00"), "fpc: a population size is not a whole number")
})
test("missing bounds of clusters are the plan's own message", {
  s <- survey_of(svydesign(~dnum, fpc = ~fpc, data = apiclus1), "api00")
  invalid(tamis_estimate(s, stat_total(~api00)), "design.cluster")
})

# ---- weights

equal("weights only", svydesign(~1, weights = ~pw, data = apisrs), c("api00", "enroll"), max_weight = 60, kind = "weights")
equal("probabilities only", svydesign(~1, probs = ~I(1 / pw), data = apisrs), c("api00", "enroll"), max_weight = 60,
      kind = "weights")
equal("clusters without fpc", svydesign(~dnum, weights = ~pw, data = apiclus1), c("api00", "enroll"), max_weight = 60,
      kind = "weights")
equal("two ids without fpc", svydesign(~dnum + snum, weights = ~pw, data = apiclus2), c("api00", "api99"), max_weight = 200,
      kind = "weights")
equal("nested clusters", svydesign(~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = nhanes), "HI_CHOL",
      max_weight = 2e5,
      kind = "weights")
equal("clusters in strata", svydesign(~psu, strata = ~stratum, weights = ~weight, data = yrbs), "qn8", max_weight = 100,
      kind = "weights")
equal("no weights at all", suppressWarnings(svydesign(~ambulance, strata = ~ESA, prob = ~1, nest = TRUE, data = scd)), "alive",
      max_weight = 1,
      kind = "weights")
equal("strata without fpc", svydesign(~psuid, strata = ~stratid, weights = ~weight, nest = TRUE, data = fpc), "x",
      max_weight = 10, kind = "weights")
equal("the probabilities of a pps sample as weights", svydesign(~1, weights = ~wt, data = election_pps), "Bush",
      max_weight = 1e4, kind = "weights")
test("weights need a bound",
     invalid(survey_of(svydesign(~1, weights = ~pw, data = apisrs), "api00"), "the largest weight in these rows is data"))
test("single clusters are tamis's own rule: the option is ignored", {
  at <- function(how) {
    options(survey.lonely.psu = how)
    tamis_estimate(survey_of(svydesign(~cluster, strata = ~stratum, weights = ~weight, nest = TRUE, data = crowd), "weight",
                             max_weight = 10),
                   stat_count())$estimate
  }
  near(at("remove"), sum(crowd$weight))
  near(at("adjust"), at("certainty"))
})
test("more columns of strata than ids", {
  d <- svydesign(~dnum, strata = ~stype + awards, weights = ~pw, nest = TRUE, data = apiclus1)
  refused(survey_of(d, "api00", max_weight = 60), "make one column with interaction()")
})
test("strata within clusters", {
  d <- svydesign(~dnum + snum, strata = ~cname + stype, weights = ~pw, nest = TRUE, data = apiclus2)
  refused(survey_of(d, "api00", max_weight = 500), "strata within clusters are not supported")
})

# ---- unequal probabilities

equal("brewer", svydesign(~1, fpc = ~p, pps = "brewer", data = election_pps), c("Bush", "Kerry"), method = "tille",
      max_weight = 1e4, kind = "pps")
equal("Hartley and Rao", svydesign(~1, fpc = ~p, pps = HR(), data = election_pps), c("Bush", "Kerry"), method = "tille",
      variance = "hartley_rao",
      max_weight = 1e4, kind = "pps")
equal("Overton", svydesign(~1, fpc = ~p, pps = "overton", data = election_pps), c("Bush", "Kerry"), method = "tille",
      variance = "overton",
      max_weight = 1e4, kind = "pps")
equal("Poisson", svydesign(~1, fpc = ~p, pps = poisson_sampling(election_pps$p), data = election_pps), c("Bush", "Kerry"),
      method = "poisson",
      max_weight = 1e4, kind = "poisson")
test("the method is not recorded", {
  invalid(survey_of(svydesign(~1, fpc = ~p, pps = "brewer", data = election_pps), "Bush", max_weight = 1e4),
          "survey does not record how the sample was drawn")
  invalid(survey_of(svydesign(~1, fpc = ~p, pps = HR(), data = election_pps), "Bush", method = "tille", max_weight = 1e4),
          "variance")
  invalid(survey_of(svydesign(~1, fpc = ~p, pps = poisson_sampling(election_pps$p), data = election_pps), "Bush",
                    max_weight = 1e4), "method")
})
test("joint probabilities", {
  for (d in list(svydesign(~1, fpc = ~p, pps = HR(), variance = "YG", data = election_pps),
                 svydesign(~1, fpc = ~p, pps = HR(sum(election$p^2) / 40), data = election_pps),
                 svydesign(~1, fpc = ~p, pps = ppsmat(election_jointprob), data = election_pps),
                 svydesign(~1, probs = ~p, pps = ppsmat(election_jointprob), data = election_pps)))
    refused(survey_of(d, "Bush", method = "tille", variance = "hartley_rao", max_weight = 1e4),
            "a plan has no matrix of joint probabilities: give a frame, and method =, and they are computed")
})

# ---- what is refused, or taken as final

before <- svydesign(~dnum, weights = ~pw, fpc = ~fpc, data = apiclus1)
sizes <- data.frame(stype = c("E", "H", "M"), Freq = c(4421, 755, 1018))
after <- list(postStratify = postStratify(before, ~stype, sizes), calibrate = calibrate(before, ~stype, c(6194, 755, 1018)),
              rake = rake(before, list(~stype, ~sch.wide),
                          list(sizes, data.frame(sch.wide = c("No", "Yes"), Freq = c(1072, 5122)))))
for (how in names(after)) {
  test(paste(how, "is refused"),
       refused(survey_of(after[[how]], "api00", max_weight = 100),
               "its weights depend on everybody's answers. Give the design before that, and the public totals as calibrate ="))
  equal(paste(how, "as final weights"), after[[how]], c("api00", "enroll"), weights_are = "final", max_weight = 100, se = FALSE,
        kind = "weights_are")
}
whole <- svydesign(~1, strata = ~stype, fpc = ~fpc, data = apistrat)
subset_words <- "this is a subset of a design: give the whole design, and the condition as where ="
test("subsets", {
  for (d in list(subset(whole, stype != "E"), subset(whole, api00 > 600), whole[1:150, ],
                 subset(svydesign(~1, fpc = ~fpc, data = apisrs), awards == "Yes"),
                 subset(svydesign(~1, fpc = ~p, pps = "brewer", data = election_pps), Bush > 1000)))
    refused(survey_of(d, names(d$variables)[sapply(d$variables, is.numeric)][1], max_weight = 1e4, method = "tille"),
            subset_words)
  refused(survey_of(subset(after$calibrate, stype != "E"), "api00", weights_are = "final", max_weight = 100), subset_words)
})
test("a subset is a condition of the whole design", {
  here <- tamis_estimate(tamis_survey(whole, "s", "school", list(enroll = c(0, 4000), stype = c("E", "H", "M")), "l", 1),
                         stat_total(~enroll, where = ~stype == "E"))
  there <- svytotal(~enroll, subset(whole, stype == "E"))
  near(here$estimate, coef(there))
  near(here$se, SE(there))
})
test("replicate weights",
     refused(survey_of(as.svrepdesign(whole), "api00"),
             "replicate weights do not say how the sample was drawn: give the svydesign() that they were made from, or weights and a public deff"))
test("two phases", {
  rows <- transform(apistrat, seen = rep(c(TRUE, FALSE), 100))
  refused(survey_of(twophase(list(~1, ~1), strata = list(NULL, ~stype), subset = ~seen, data = rows), "api00"),
          "two-phase designs: no guarantee for the second phase is proved")
})
test("rows in a database", {
  words <- "the rows are in a database: write a plan with source: {postgres: ...}"
  d <- whole
  class(d) <- c("DBIsvydesign", class(d))
  refused(survey_of(d, "api00"), words)
  d <- whole
  class(d) <- c("tbl_svy", class(d))
  class(d$variables) <- c("tbl_lazy", "tbl")
  refused(survey_of(d, "api00"), words)
})
test("srvyr", {
  d <- whole
  class(d) <- c("tbl_svy", class(d))
  d$call <- "called via srvyr"
  class(d$variables) <- c("tbl_df", "tbl", "data.frame")
  near(tamis_estimate(survey_of(d, "api00"), stat_mean("api00"))$se, SE(svymean(~api00, whole)))
  d$groups <- list(as.name("stype"))
  refused(survey_of(d, "api00"), "give by =")
})
test("a call that says something else", {
  d <- update(whole, twice = 2 * enroll)
  near(tamis_estimate(survey_of(d, "twice"), stat_total("twice"))$estimate, coef(svytotal(~twice, d)))
})
test("survey's functions name those of tamis", {
  s <- survey_of(svydesign(~1, fpc = ~fpc, data = apisrs), "api00")
  invalid(svymean(~api00, s), "tamis_mean(x, design, epsilon = 1)")
  invalid(svytotal(~api00, s), "tamis_total(x, design, epsilon = 1)")
  invalid(svyquantile(~api00, s, 0.5), "tamis_quantile(x, design, epsilon = 1)")
})
test("what is no design", {
  for (x in list(1, "a", lm(api00 ~ 1, apisrs), apisrs, NULL)) invalid(survey_of(x, "api00"), "expected")
  invalid(tamis_total(~api00, whole, epsilon = 1), "make a tamis_survey() of it: bounds, a ledger and a budget are needed")
})
test("a column of the design that the rows have already is not added again", {
  s <- survey_of(whole, "api00")
  expect(identical(names(s$data), names(apistrat)))
  expect(s$plan$design$stratified$by == "stype")
  s <- survey_of(svydesign(~SDMVPSU, strata = ~SDMVSTRA, weights = ~WTMEC2YR, nest = TRUE, data = nhanes), "HI_CHOL",
                 max_weight = 2e5)
  expect(identical(s$plan$design$weights, list(strata = "SDMVSTRA", cluster = "design_psu")))
})

# ---- samples of other populations

if (!nzchar(folder)) {
  skip("samples of Belgian and Swedish municipalities and of EU-SILC", "TAMIS_TEST_DATA names no folder")
} else {
  rows <- function(name) read.csv(file.path(folder, paste0(name, ".csv")))
  fits <- function(name, design, columns, ...) equal(name, design, columns[columns %in% names(design$variables)], ...)
  towns <- c("Tot04", "TaxableIncome", "averageincome")
  swedish <- c("P85", "RMT85", "REV84")
  provinces <- c(70, 111, 64, 65, 69, 84, 44, 44, 38)
  regions <- c(25, 48, 32, 38, 56, 41, 15, 29)
  districts <- c(3, 4, 8, 6, 7, 4, 3, 5, 3) # in each province
  numbered <- function(x) transform(x, unit = seq_len(nrow(x)))
  fits("Belgium, srs", svydesign(~1, fpc = ~rep(589, 80), data = rows("belgium_srs80")), towns, kind = "srs")
  fits("Belgium, Neyman's allocation",
       svydesign(~1, strata = ~Province, fpc = ~provinces[Province], data = rows("belgium_strat_neyman")), towns)
  here <- rows("belgium_cluster1")
  fits("Belgium, clusters", svydesign(~Arrondiss, fpc = ~rep(43, nrow(here)), data = here), towns, smallest = 1, largest = 50,
       kind = "cluster")
  here <- numbered(rows("belgium_cluster2"))
  fits("Belgium, two stages", svydesign(~Arrondiss + unit, fpc = ~rep(43, nrow(here)) + fpc2, data = here), towns,
       max_weight = 1000, kind = "two_stage")
  here <- numbered(rows("belgium_strat_cluster2"))
  fits("Belgium, two stages in strata",
       svydesign(~Arrondiss + unit, strata = ~Province, fpc = ~districts[Province] + fpc2, nest = TRUE, data = here), towns,
       max_weight = 1000, kind = "stratified")
  here <- rows("belgium_strat_pps")
  fits("Belgium, pps in strata", svydesign(~1, strata = ~Province, fpc = ~pik, pps = "brewer", data = here), towns,
       method = "sampford", max_weight = 1e4,
       kind = "stratified")
  for (how in c("hartley_rao", "overton"))
    fits(paste("Belgium, pps in strata,", how),
         svydesign(~1, strata = ~Province, fpc = ~pik, pps = if (how == "overton") how else HR(), data = here), towns,
         method = "sampford", variance = how, max_weight = 1e4)
  test("Belgium, calibrated to public totals", {
    d <- svydesign(~1, fpc = ~rep(589, 80), data = rows("belgium_srs80"))
    s <- survey_of(d, c("averageincome", "Tot03", "Men03"),
                   calibrate = list(list(count = "units", totals = 589), list(total = "Tot03", totals = 10372469),
                                                                            list(total = "Men03", totals = 5075268)))
    here <- tamis_estimate(s, stat_total(~averageincome))
    there <- svytotal(~averageincome, calibrate(d, ~Tot03 + Men03, c(589, 10372469, 5075268)))
    near(here$estimate, coef(there))
    near(here$se, SE(there))
  })
  fits("Sweden, srs", svydesign(~1, fpc = ~rep(284, 40), data = rows("mu284_srs40")), swedish, kind = "srs")
  fits("Sweden, with replacement", svydesign(~1, weights = ~rep(7.1, 40), data = rows("mu284_srswr40")), swedish, max_weight = 10)
  for (how in c("prop", "equal"))
    fits(paste("Sweden, strata,", how),
         svydesign(~1, strata = ~REG, fpc = ~regions[REG], data = rows(paste0("mu284_strat_", how))), swedish)
  here <- rows("mu284_cluster1")
  fits("Sweden, clusters", svydesign(~CL, fpc = ~rep(50, nrow(here)), data = here), swedish, smallest = 1, largest = 20)
  here <- numbered(rows("mu284_cluster2"))
  fits("Sweden, two stages", svydesign(~CL + unit, fpc = ~rep(50, nrow(here)) + fpc2, data = here), swedish, max_weight = 1000)
  for (drawn in c("A_sampford", "A_systematic", "A_brewer", "A_pivotal", "B_systematic", "B_brewer")) {
    here <- rows(paste0("mu284_pps_", drawn))
    method <- sub(".*_", "", drawn)
    for (variance in c("brewer", "overton", "hartley_rao")) {
      d <- svydesign(~1, fpc = ~pik, pps = if (variance == "hartley_rao") HR() else variance, data = here)
      equal(paste("Sweden, pps,", drawn, variance), d, intersect(swedish, names(here)), method = method, variance = variance,
            max_weight = 1e4)
    }
    equal(paste("Sweden, pps as weights,", drawn), svydesign(~1, weights = ~I(1 / pik), data = here),
          intersect(swedish, names(here)), max_weight = 1e4)
  }
  here <- rows("mu284_pps_B_poisson")
  fits("Sweden, Poisson", svydesign(~1, fpc = ~pik, pps = poisson_sampling(here$pik), data = here), swedish, method = "poisson",
       max_weight = 1e4)
  fits("Sweden, pps with replacement", svydesign(~1, weights = ~wt, data = rows("mu284_pps_wr")), swedish, max_weight = 1e4)
  fits("EU-SILC, households in states", svydesign(~db030, strata = ~db040, weights = ~rb050, data = rows("eusilc_eusilc")),
       c("eqIncome", "age"),
       max_weight = 5000)
}
done()
