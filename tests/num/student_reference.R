# Quantiles of Student's law for student.c: Rscript student_reference.R > student_reference.inc
for (p in c(0.5, 0.9, 0.95, 0.99, 0.999999))
  for (df in c(1, 2, 3, 5, 10, 29, 199, 1000, 99999, 100001, 1e6, 1e9, 2^40))
    cat(sprintf('    {"%.9g", %.0f, %.17g},\n', p, df, qt((1 + p) / 2, df)))
