# Reference values of estimate.c, by R's package survey. Run in the folder of apisrs.csv:
#   Rscript estimate_reference.R > estimate_reference.inc
# Each line: statistic, column, by, group, estimate, standard error, lower, upper (95 %, Student with degf(design)).
suppressMessages(library(survey))
d <- read.csv("apisrs.csv", na.strings = "")
dsrs <- svydesign(id = ~1, fpc = ~fpc, weights = ~pw, data = d)
df <- degf(dsrs)
put <- function(statistic, column, by, group, estimate, se) {
  t <- qt(0.975, df) * se
  cat(sprintf('    {"%s", "%s", "%s", "%s", %.17g, %.17g, %.17g, %.17g},\n', statistic, column, by, group, estimate, se,
              estimate - t, estimate + t))
}
for (column in c("api00", "enroll", "acs.k3", "acs.core", "avg.ed")) {
  f <- as.formula(paste0("~", column))
  m <- svymean(f, dsrs, na.rm = TRUE)
  put("mean", column, "", "", coef(m), SE(m))
  s <- svytotal(f, dsrs, na.rm = TRUE)
  put("total", column, "", "", coef(s), SE(s))
}
for (by in c("stype", "yr.rnd")) {
  g <- as.formula(paste0("~", by))
  groups <- sort(unique(na.omit(d[[by]])))
  for (group in groups) {
    z <- as.numeric(!is.na(d[[by]]) & d[[by]] == group)
    count <- svytotal(z, dsrs)
    put("count", "", by, group, coef(count), SE(count))
  }
  for (column in c("api00", "enroll", "acs.k3", "acs.core")) {
    f <- as.formula(paste0("~", column))
    for (group in groups) {
      part <- subset(dsrs, !is.na(d[[by]]) & d[[by]] == group)
      if (sum(!is.na(part$variables[[column]])) == 0) next
      m <- svymean(f, part, na.rm = TRUE)
      put("mean", column, by, group, coef(m), SE(m))
      s <- svytotal(f, part, na.rm = TRUE)
      put("total", column, by, group, coef(s), SE(s))
    }
  }
}
for (group in c("E.No", "E.Yes", "M.No", "M.Yes", "H.No", "H.Yes")) {
  part <- subset(dsrs, paste(stype, awards, sep = ".") == group)
  m <- svymean(~api00, part)
  put("mean", "api00", "stype.awards", group, coef(m), SE(m))
}
