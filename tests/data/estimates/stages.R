# Two stages whose clusters are drawn with unequal probabilities: svydesign with pps = "brewer", and the same clusters as if drawn
# with replacement (survey 4.1-1, R 4.2.2). Run in this folder:  Rscript stages.R > stages.json
# The samples are drawn once (set.seed) and written to api_pps_stages.csv and api_strat_pps_stages.csv. In both, rows are in
# the order of the labels of clusters: survey 4.1-1 pairs the factors 1 - pi, in the order of the rows, with totals in the order of
# the labels. For the same reason no call is by groups that some cluster has no row of. And clusters that are a simple random sample,
# with units that are drawn by themselves in them: by joint probabilities.
suppressMessages(library(survey))
data(api)
set.seed(20261118)
frame <- data.frame(dnum = sprintf("d%03d", apipop$dnum), region = c("a", "b", "c")[1 + (apipop$dnum > 250) + (apipop$dnum > 500)],
                    api00 = apipop$api00, enroll = apipop$enroll, api.stu = apipop$api.stu)
frame <- frame[!is.na(frame$enroll), ]
frame <- frame[order(frame$dnum), ]
take <- 5
# n times the share of the size; those that would have more than 1 have 1, and the rest is shared again.
probabilities <- function(size, n) {
  certain <- rep(FALSE, length(size))
  repeat {
    pi <- ifelse(certain, 1, (n - sum(certain)) * size / sum(size[!certain]))
    if (!any(pi > 1)) return(pi)
    certain <- certain | pi >= 1
  }
}
draw <- function(frame, n) {
  size <- table(frame$dnum)
  pi <- probabilities(as.numeric(size), n)
  start <- runif(1) # systematic sampling of a shuffled list
  order <- sample(length(pi))
  steps <- floor(cumsum(pi[order]) - start + 1e-9)
  drawn <- sort(order[diff(c(-1, steps)) > 0])
  do.call(rbind, lapply(drawn, function(k) {
    rows <- frame[frame$dnum == names(size)[k], ]
    m <- min(take, nrow(rows))
    cbind(rows[sort(sample.int(nrow(rows), m)), ], drawn = m, fpc2 = nrow(rows), pi = pi[k])
  }))
}
write <- function(d, name) {
  d$pi <- sprintf("%.17g", d$pi)
  write.csv(d, name, row.names = FALSE, quote = FALSE)
  read.csv(name)
}
one <- write(draw(frame, 40), "api_pps_stages.csv")
strata <- c(a = 12, b = 14, c = 16)
two <- write(do.call(rbind, lapply(names(strata), function(p) draw(frame[frame$region == p, ], strata[[p]]))), "api_strat_pps_stages.csv")
for (name in c("one", "two")) assign(name, within(get(name), {row <- seq_along(pi); p2 <- drawn / fpc2; w <- 1 / (pi * p2)}))
second <- '"second": {"population": "fpc2", "sample": "drawn"}'
first <- function(method, sizes) sprintf('"first": {"by": "dnum", "pps": {"method": "%s", "probability": "pi"%s}}', method, sizes)
alone <- sprintf('{"two_stage": {%s, %s}, "max_weight": 100000%%s}', first("systematic_random", ', "sample": 40'), second)
stratified <- sprintf('{"stratified": {"by": "region", "within": {"two_stage": {%s, %s}}, "strata": {%s}}, "max_weight": 100000%%s}',
                      first("systematic_random", ""), second, paste(sprintf('"%s": {"sample": %d}', names(strata), strata), collapse = ", "))
replaced <- ', "variance": "with_replacement"'
designs <- list(
  list("dpps", "api_pps_stages.csv", sprintf(alone, ""), svydesign(ids = ~dnum + row, fpc = ~pi + p2, pps = "brewer", data = one)),
  list("dpps_replaced", "api_pps_stages.csv", sprintf(alone, replaced), svydesign(ids = ~dnum, weights = ~w, data = one)),
  list("dstrat_pps", "api_strat_pps_stages.csv", sprintf(stratified, ""),
       svydesign(ids = ~dnum + row, strata = ~region, fpc = ~pi + p2, pps = "brewer", data = two, nest = TRUE)),
  list("dstrat_pps_replaced", "api_strat_pps_stages.csv", sprintf(stratified, replaced),
       svydesign(ids = ~dnum, strata = ~region, weights = ~w, data = two, nest = TRUE)))
# A simple random sample of clusters, and in each of them every unit by itself at the rate f: some clusters are drawn and have no row.
# survey has all joint probabilities (ppsmat), so that its Horvitz-Thompson variance is exact: with pi_c and pi_cc of the clusters,
# pi_c f^2 in one cluster, pi_cc f^2 in two of one stratum.
set.seed(20261119)
f <- 0.4
some <- function(frame, n) {
  all <- unique(frame$dnum)
  rows <- frame[frame$dnum %in% sample(all, n) & runif(nrow(frame)) < f, ]
  cbind(rows, pi = n / length(all), both = n * (n - 1) / length(all) / (length(all) - 1))
}
joint <- function(d) {
  p <- outer(d$pi, d$pi) * f^2
  same <- outer(d$region, d$region, "==")
  p[same] <- (d$both * f^2 + 0 * p)[same]
  together <- outer(d$dnum, d$dnum, "==")
  p[together] <- (d$pi * f^2 + 0 * p)[together]
  diag(p) <- d$pi * f
  p
}
three <- write(cbind(some(transform(frame, region = "all"), 60)), "api_bernoulli_stages.csv")
four <- write(do.call(rbind, lapply(names(strata), function(p) some(frame[frame$region == p, ], 2 * strata[[p]]))),
              "api_strat_bernoulli_stages.csv")
random <- function(d) svydesign(ids = ~1, fpc = ~p, pps = ppsmat(joint(d)), variance = "HT", data = transform(d, p = pi * f))
clusters <- tapply(frame$dnum, frame$region, function(x) length(unique(x)))
inside <- '"second": {"method": "bernoulli", "rate": 0.4}'
designs <- c(designs, list(
  list("dbernoulli", "api_bernoulli_stages.csv",
       sprintf('{"two_stage": {"first": {"by": "dnum", "population": %d, "sample": 60}, %s}}', length(unique(frame$dnum)), inside),
       random(three)),
  list("dstrat_bernoulli", "api_strat_bernoulli_stages.csv",
       sprintf('{"stratified": {"by": "region", "within": {"two_stage": {"first": {"by": "dnum"}, %s}}, "strata": {%s}}}', inside,
               paste(sprintf('"%s": {"population": %d, "sample": %d}', names(strata), clusters[names(strata)], 2 * strata),
                     collapse = ", ")),
       random(four))))
number <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
entries <- sapply(designs, function(e) {
  d <- e[[4]]
  put <- function(call, statistic, numbers, result)
    sprintf('  {"call": "%s", "statistic": %s, "numbers": [%s], "categories": [], "where": null, "groups": null, "estimate": %s, "se": %s}',
            call, statistic, numbers, number(unname(coef(result))), number(unname(as.numeric(SE(result)))))
  calls <- c(
    put("svytotal(~enroll, d)", '{"total": "enroll"}', '"enroll"', svytotal(~enroll, d)),
    put("svytotal(~api.stu, d)", '{"total": "api.stu"}', '"api.stu"', svytotal(~api.stu, d)),
    put("svymean(~api00, d)", '{"mean": "api00"}', '"api00"', svymean(~api00, d)),
    put("svyratio(~api.stu, ~enroll, d)", '{"ratio": {"of": "api.stu", "to": "enroll"}}', '"api.stu", "enroll"',
        svyratio(~api.stu, ~enroll, d)))
  sprintf(' {"data": "api", "design": "%s", "file": "%s", "plan": {"design": %s}, "statistics": [\n%s]}', e[[1]], e[[2]], e[[3]],
          paste(calls, collapse = ",\n"))
})
cat("[\n", paste(entries, collapse = ",\n"), "\n]\n", sep = "")
