# The simulations of Figure 8 of the paper `gain`, written as a statistician would: formula (4) for each sample, vector by vector, ended as
# soon as no later term can be larger. One run of all rates and epsilons (tamis makes a thousand); one JSON object per line.
set.seed(1)
N <- 10001
delta <- 1 / (2 * N)
population <- pmin(rlnorm(N, 5, 0.5), 1000)
smooth <- function(x, beta, low, high) {
  x <- sort(x)
  n <- length(x)
  m <- (n + 1) / 2
  y <- c(rep(low, n + 1), x, rep(high, n + 1)) # order statistics beyond the data are the ends of the range
  best <- 0
  for (k in 0:n) {
    if ((high - low) * exp(-k * beta) <= best) break
    t <- 0:(k + 1)
    best <- max(best, exp(-k * beta) * max(y[n + 1 + m + t] - y[n + 1 + m + t - k - 1]))
  }
  best
}
rlaplace <- function(scale) rexp(1, 1 / scale) - rexp(1, 1 / scale)
run <- function() {
  for (rate in c(0.01, seq(0.1, 0.9, by = 0.1), 1)) {
    n <- if (rate < 1) round(rate * (N - 1)) + 1 else N
    for (eps in c(0.01, 0.1, 0.5, 1, 3, 5)) {
      x <- sample(population, n)
      eps_n <- log(1 + N / n * (exp(eps) - 1))
      beta <- eps_n / (2 * log(2 / (N / n * delta)))
      noisy <- median(x) + rlaplace(2 * smooth(x, beta, 0, 1000) / eps_n)
    }
  }
}
elapsed <- system.time(run())[["elapsed"]]
cat(sprintf('{"what": "R: figure 8", "n": 1, "seconds": %.6f}\n', elapsed))
