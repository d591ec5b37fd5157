# Two stages whose clusters are drawn with unequal probabilities: svydesign with pps = "brewer", and the same clusters as if drawn
# with replacement (survey 4.1-1, R 4.2.2). Run in this folder:  Rscript stages.R > stages.json
# The samples are drawn once (set.seed) and written to api_pps_stages.csv and api_strat_pps_stages.csv. In both, rows are in
# the order of the labels of clusters: survey 4.1-1 pairs the factors 1 - pi, in the order of the rows, with totals in the order of
# the labels. For the same reason no call is by groups that some cluster has no row of.
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
