# What the library gives is freed, also after failures. A process of its own: the heap that others leave behind would hide a leak.
source("harness/harness.R")
library(tamis)
options(tamis.threads = 1L)
in_folder()

resident <- function() {
  invisible(gc())
  as.numeric(strsplit(readLines("/proc/self/statm"), " ")[[1]][2]) * 4096
}
people <- data.frame(income = rep(0:9, 4), region = rep(c("north", "south"), 20))
s <- tamis_survey(list(srs = list(population = 400, sample = 40)), "people", "person",
                  list(income = c(0, 10), region = c("north", "south")), "people.ledger", 4, data = people)
plan <- tamis_plan(s, stat_total(~income, by = ~region), epsilon = 1)
work <- function(times) for (i in seq_len(times)) {
  tamis_estimate(plan)
  tamis_text(tamis_estimate(plan), "csv")
  tryCatch(tamis_estimate(s, stat_total(~nothing)), error = identity)
  tryCatch(tamis_estimate(plan, data = people[1:3, ]), error = identity)
}
if (!file.exists("/proc/self/statm") || nzchar(Sys.getenv("ASAN_OPTIONS"))) {
  skip("memory is given back, also after failures", "the memory of this process cannot be measured")
} else test("memory is given back, also after failures", {
  work(200)
  before <- resident()
  work(200)
  grown <- resident() - before
  expect(grown < 1e6, " grown by ", grown)
})
done()
