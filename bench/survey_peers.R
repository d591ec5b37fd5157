# The same samples by R's package sampling, where its methods end within a minute: one JSON object per line. UPmaxentropy 2.9
# stops with an error at 200 of 20000 and at 400 of 10000 (NaN), UPsampford at 1000 of 20000 (too many
# rejected samples).
suppressMessages(library(sampling))
measure <- function(what, method, population, sample) {
  set.seed(1)
  p <- inclusionprobabilities(100 + floor(2000 * runif(population)), sample)
  times <- if (population < 1000) 20 else 1 # R's clock counts milliseconds
  elapsed <- replicate(6, system.time(for (i in seq_len(times)) method(p))[["elapsed"]] / times)
  elapsed <- median(elapsed[-1]) # as timing.h: one run that does not count, then the median of five
  cat(sprintf('{"what": "R: %s", "n": 1, "seconds": %.6f}\n', what, elapsed))
}
measure("draw, conditional_poisson, 200 of 5000", UPmaxentropy, 5000, 200)
measure("draw, sampford, 20 of 500", UPsampford, 500, 20)
measure("draw, pivotal, 10000 of 1000000", UPpivotal, 1000000, 10000)
# last, because it may stop with an error: it gives up after 500 rejected samples
measure("draw, sampford, 1000 of 100000", UPsampford, 100000, 1000)
