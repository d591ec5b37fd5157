# Plans, results, rows of every kind, conditions, ledgers. Nothing here needs another package.
source("harness/harness.R")
library(tamis)
options(tamis.threads = 2L)
in_folder()

rows <- 40
people <- data.frame(income = (seq_len(rows) - 1) %% 10, region = rep(c("north", "south"), rows / 2))
known <- list(income = c(0, 10), region = c("north", "south"))
plain <- list(srs = list(population = 400, sample = rows))
fresh <- 0
survey_of <- function(data = people, columns = known, name = "people", ledger = NULL, ...) {
  fresh <<- fresh + 1
  tamis_survey(if (is.null(list(...)$design)) plain else list(...)$design, name, unit = "person", columns = columns,
               ledger = if (is.null(ledger)) paste0(fresh, ".ledger") else ledger, budget = 4, data = data)
}
quiet <- function(code) suppressMessages(suppressWarnings(code))
block <- c(stat_total(~income, by = ~region), stat_count())
class(block) <- "tamis_statistics"

# ---- plans

test("amounts are exact", {
  plan <- tamis_plan(survey_of(), stat_count(), epsilon = 0.1)
  expect(plan$keys$privacy$epsilon == "0.1")
  expect(tamis_plan(survey_of(), stat_count(), epsilon = "1/3")$keys$privacy$epsilon == "1/3")
  expect(tamis_plan(survey_of(), stat_count(), epsilon = 1e5)$keys$privacy$epsilon == "100000")
  signals(tamis_plan(survey_of(), stat_count(), epsilon = 1 / 3), "tamis_inexact", "more than 15 digits")
  for (wrong in list(TRUE, NA, Inf, NaN, c(1, 2), list(1), "x"))
    invalid(quiet(tamis_release(survey_of(), stat_count(), epsilon = wrong)), "epsilon")
})
test("a plan, its file and its text are the same", {
  plan <- tamis_plan(survey_of(), block, epsilon = 1)
  tamis_write_plan(plan, "plan.yaml")
  expect(all.equal(plan, tamis_read_plan("plan.yaml")))
  expect(identical(all.equal(plan, tamis_plan(survey_of(), block, epsilon = 2)), "the plans differ"))
  invalid(tamis_read_plan("nowhere.yaml"), "no such file")
  invalid(tamis_plan(plan, stat_count()), "plan already")
})
test("formulas", {
  item <- function(s, i = 1) unclass(s)[[i]]
  expect(length(unclass(stat_total(~a + b))) == 2 && item(stat_total(~a + b), 2)$total == "b")
  expect(identical(item(stat_share(~status == "employed" & age >= 16 & age <= 64))$share,
                   list(status = "employed", age = list(from = "16", to = "64"))))
  kinds <- c("a", "b")
  expect(identical(item(stat_total(~x, where = ~k %in% kinds))$where, list(k = list("a", "b"))))
  expect(identical(item(stat_count(by = ~region + cut(age, c(16, 65))))$by, list("region", list(age = list("16", "65")))))
  expect(identical(item(stat_table(~a + b))$table, list("a", "b")))
  expect(identical(item(stat_quantile(~x, c(0.25, 0.5)))$at, list("0.25", "0.5")))
  expect(identical(item(stat_difference(stat_mean(~x), between = list(sex = c("m", "f")), by = ~region)),
                   list(difference = list(mean = "x", between = list(sex = list("m", "f"))), by = list("region"))))
  expect(identical(item(stat_difference(stat_share(~v == "A"), minus = stat_share(~v == "B")))$difference,
                   list(share = list(v = "A"), minus = list(share = list(v = "B")))))
  expect(identical(item(stat_contrast(stat_total(~x), over = ~cut(age, c(30, 50)), weights = c(-1, 2, -1)))$contrast,
                   list(total = "x", by = list(list(age = list("30", "50"))), weights = list("-1", "2", "-1"))))
  expect(identical(item(stat_quotient(stat_count(), between = list(sex = c("m", "f"))))$quotient,
                   list(count = "units", between = list(sex = list("m", "f")))))
  expect(identical(item(stat_change(stat_mean(~x), since = "w1-release", independent = TRUE, by = ~g)),
                   list(change = list(mean = "x"), since = "w1-release", samples = "independent", by = list("g"))))
  expect(identical(item(stat_change(stat_mean(~x), since = "w1-release", overlap = list(size = 5, before = "y")))$overlap,
                   list(size = 5, before = "y")))
  expect(identical(item(stat_correlation(~x + y))$correlation, list("x", "y")))
  expect(identical(item(stat_regression(status == "u" ~ sex + cut(age, c(30, 50)) + sex:age, family = "logistic", baseline = list(sex = "m"))),
                   list(regression = list(of = list(status = "u"), on = list("sex", list(age = list("30", "50"))), family = "logistic",
                                          interactions = list(list("sex", "age"))), baseline = list(sex = "m"))))
  expect(identical(item(stat_regression(x ~ y, typical = list(r2 = 0.3)))$typical, list(r2 = "0.3")))
  invalid(stat_regression(~x), "a formula with two sides")
  invalid(stat_regression(x ~ log(y)), "expected columns, cut")
  invalid(stat_correlation(~x), "expected two columns")
  invalid(stat_difference(stat_mean(~x, by = ~g), between = list(sex = c("m", "f"))), "one statistic alone")
  invalid(stat_quotient(stat_mean(~x), between = list(sex = "m")), "two of its values")
  expect(identical(item(stat_ratio(~a, ~b == 1))$ratio, list(of = "a", to = list(b = "1"))))
  for (wrong in list(~a > 1, ~a != 1, ~log(a) == 1, ~a == 1 | b == 2, ~!a))
    invalid(stat_total(~x, where = wrong), "not a condition of a plan")
  invalid(stat_total(~x, where = ~a == 1 & a == 2), "two conditions on one column")
  invalid(stat_total(x ~ y), "expected a formula with one side")
  invalid(stat_total(~x, colour = 1), "unused arguments")
  invalid(stat_total(~x, by = ~a:b), "by: expected columns")
})
test("models", {
  s <- survey_of()
  r <- quiet(tamis_glm(income ~ region, s, epsilon = 2))
  expect(identical(r$term, c("(intercept)", "region=south")) && all(r$statistic == "regression"))
  shown <- paste(utils::capture.output(print(r)), collapse = "\n")
  expect(grepl("Std. Error +of it noise +t value +Pr", shown) && grepl("region=south", shown, fixed = TRUE), shown)
  e <- quiet(tamis_estimate(s, stat_regression(income ~ region)))
  plain_fit <- stats::lm(income ~ region, people)
  expect(max(abs(unname(e$estimate) - unname(coef(plain_fit)))) < 1e-12, e$estimate)
  expect(grepl("Regression of income", paste(utils::capture.output(print(e)), collapse = "\n")))
  expect(identical(tamis:::family_of(stats::quasibinomial()), "logistic") && identical(tamis:::family_of(stats::poisson), "poisson"))
  invalid(tamis_glm(income ~ region, s, family = stats::Gamma(), epsilon = 1), "expected gaussian, binomial or poisson")
})
test("every key of the schema has an argument", {
  schema <- Sys.getenv("TAMIS_TEST_SCHEMA")
  if (nzchar(schema)) {
    text <- paste(readLines(schema, encoding = "UTF-8"), collapse = "\n")
    schema <- tamis:::from_json(text)
    keys <- names(schema$definitions$statistic$properties)
    kinds <- sub("^stat_", "", grep("^stat_", getNamespaceExports("tamis"), value = TRUE))
    kinds[kinds == "var"] <- "variance"
    expect(setequal(keys, c(kinds, "by", "where", "budget_share", "confidence", "at", "line", "since", "samples", "overlap", "baseline", "typical",
                            tamis:::shared_keys)),
           setdiff(keys, kinds))
    columns <- c("from", names(formals(tamis_number)), names(formals(tamis_values)), "values")
    expect(setequal(names(schema$definitions$column$properties), setdiff(columns, c("...", "file", "column"))))
    arguments <- names(formals(tamis_survey))
    plan <- setdiff(c(names(schema$properties), names(schema$properties$privacy$properties)),
                    c("tamis", "survey", "privacy", "source", "statistics", "epsilon", "delta", "rho", "outsider", "insider"))
    expect(all(plan %in% arguments), setdiff(plan, arguments))
    # A design object has a column of weights of its own, and cannot know who did not respond; a list has both.
    design <- names(schema$properties$design$properties)
    beside <- setdiff(design, c(names(schema$definitions), "stratified", "weight", "nonresponse"))
    expect("max_weight" %in% beside && all(beside %in% arguments), setdiff(beside, arguments))
  }
})
test("keys of a plan beside a design", {
  s <- tamis_survey(list(weights = list(population = 400), weight = "w"), "s", "person", known, "l", 4, max_weight = 20,
                    max_unit_weight = 30, weight_step = "1/8", regularise = 0.5, data = cbind(people, w = 10))
  expect(tamis:::to_json(s$plan$design) == paste0('{"weights": {"population": "400"}, "weight": "w", "max_weight": "20", ',
                                                  '"max_unit_weight": "30", "weight_step": "1/8", "regularise": "0.5"}'))
})
test("a factor's levels are never taken as declared values", {
  invalid(survey_of(columns = list(income = c(0, 10), region = factor(c("north", "south")))), "a factor")
  invalid(tamis_values(factor("a")), "a factor")
  invalid(tamis_values(), "expected values, or file =, or strata =")
  invalid(tamis_values("a", strata = list(b = "c")), "expected values, or file =, or strata =")
  expect(tamis:::to_json(unclass(tamis_values(strata = list(low = "E", high = c("M", "H"))))) ==
           '{"strata": {"low": ["E"], "high": ["M", "H"]}}')
  for (wrong in list(1:3, NULL, function() 1, NA_character_)) invalid(survey_of(columns = list(income = wrong)), "")
  invalid(survey_of(columns = c(0, 1)), "columns: expected a list with names")
})

# ---- releases and results

test("a release is a data frame with generics", {
  r <- quiet(tamis_release(survey_of(), block, epsilon = 1))
  expect(inherits(r, "tamis_release") && inherits(r, "data.frame") && nrow(r) == 3)
  expect(identical(names(r),
                   c("statistic", "column", "where", "region", "at", "line", "estimate", "se", "sampling_se", "noise_sd",
                     "lower", "upper",
                               "confidence", "df", "cv", "quality", "notes")))
  expect(identical(names(coef(r)), c("total:north:income", "total:south:income", "count")))
  v <- vcov(r)
  expect(identical(unname(diag(v)), r$se^2) && all(is.na(v[row(v) != col(v)])))
  expect(identical(unname(confint(r)), unname(cbind(r$lower, r$upper))))
  expect(nrow(confint(r, "count")) == 1)
  invalid(confint(r, level = 0.9), "give confidence = to the statistic")
  expect(identical(confint(r, level = 0.95), confint(r)))
  expect(inherits(head(r, 1), "tamis_release") && attr(head(r, 1), "entry") == 2)
  expect(identical(class(as.data.frame(r)), "data.frame") && identical(class(r[, c("estimate", "se")]), "data.frame"))
  expect(is.numeric(r[["estimate"]]) && attr(r, "left")$epsilon[["lower"]] == 3)
  shown <- capture.output(print(r))
  expect(any(grepl("north:income", shown)) &&
         any(grepl("Protected: epsilon 1 for a sampled person; left of the budget: epsilon 3", shown)))
  expect(any(grepl("What is guaranteed", capture.output(print(summary(r))))))
  grDevices::pdf(NULL)
  plot(r)
  plot(r, statistic = "count")
  grDevices::dev.off()
  expect(grepl("\"protected\": true", attr(r, "json"), fixed = TRUE))
  if (requireNamespace("survey", quietly = TRUE)) {
    expect(identical(unname(survey::SE(r)), r$se) && identical(unname(survey::cv(r)), r$cv) &&
           identical(unname(survey::degf(r)), r$df))
  }
})
test("an estimate says that it is not protected", {
  e <- tamis_estimate(survey_of(), stat_total(~income), stat_mean(~income, by = ~region))
  near(e$estimate[1], sum(people$income) * 10)
  expect(any(grepl("Not protected: for use inside only.", capture.output(print(e)), fixed = TRUE)))
  expect(!file.exists(paste0(fresh, ".ledger")))
})
test("the same release again", {
  s <- survey_of()
  first <- quiet(tamis_release(s, block, epsilon = 1))
  caught <- NULL
  again <- withCallingHandlers(tamis_release(s, block, epsilon = 1), warning = function(w) {
    caught <<- c(caught, class(w)[1])
    invokeRestart("muffleWarning")
  })
  expect("tamis_repeated_release" %in% caught && attr(again, "repeated") && identical(again$estimate, first$estimate))
  expect(tamis_left(s)$epsilon[["lower"]] == 3)
  quiet(tamis_release(s, block, epsilon = 1, again = TRUE))
  expect(tamis_left(s)$epsilon[["lower"]] == 2)
  quiet(tamis_release(s, stat_total(~income), epsilon = "0.5", rows_version = "first"))
  caught <- signals(tamis_release(s, stat_total(~income), epsilon = "0.5", rows_version = "corrected"), "tamis_repeated",
                    "again = TRUE")
  expect(inherits(caught, "tamis_refused") && caught$code == "rows_version")
  quiet(tamis_release(s, stat_total(~income), epsilon = "0.5", rows_version = "corrected", same_rows = TRUE))
  invalid(tamis_release(s, block, epsilon = 1, again = TRUE, same_rows = TRUE), "expected one of them")
})
test("a new ledger is announced by a message",
     signals(tamis_release(survey_of(), stat_count(by = ~region), epsilon = 1), "tamis_notice", "New ledger"))
test("folders, verification, saving", {
  s <- survey_of()
  r <- quiet(tamis_release(s, block, epsilon = 1, folder = "june"))
  expect(file.exists("june/report.html") && tamis_verify("june")$ok && tamis_verify(r)$ok && as.logical(tamis_verify(r)))
  tamis_save(r, "copy")
  expect(tamis_verify("copy")$ok && identical(readLines("copy/release.csv"), readLines("june/release.csv")))
  invalid(tamis_save(r, "copy"), "copy")
  texts <- c(certificate.json = sub("\"epsilon\": \"1\"", "\"epsilon\": \"2\"", tamis_text(r, "certificate"), fixed = TRUE))
  v <- tamis_verify(texts)
  expect(!v$ok && nrow(v$problems) > 0)
  v <- tamis_verify(tamis_ledger(s), certificates = "june")
  expect(v$ok)
  invalid(tamis_verify("nowhere"), "nowhere")
  saveRDS(r, "r.rds")
  later <- readRDS("r.rds")
  expect(identical(coef(later), coef(r)))
  problem <- tryCatch(tamis_text(later, "csv"), error = conditionMessage)
  expect(grepl("another session", problem))
})
test("a plan file with a source of its own", {
  write.csv(people, "people.csv", row.names = FALSE)
  s <- survey_of()
  plan <- tamis_plan(s, block, epsilon = 1)
  plan$keys$source <- list(file = "people.csv")
  plan$keys$ledger <- "file.ledger"
  tamis_write_plan(plan, "file.yaml")
  from_file <- tamis_read_plan("file.yaml")
  near(tamis_estimate(from_file, engine = "memory")$estimate, tamis_estimate(s, block)$estimate)
  quiet(tamis_release(from_file, engine = "memory"))
  expect(file.exists("file.ledger"))
  invalid(tamis_release(from_file, engine = "abacus"), "abacus")
  invalid(tamis_release(tamis_plan(s, block, epsilon = 1), data = 1:3), "data: expected a data frame")
})
test("rows of the caller are asked for", {
  tamis_write_plan(tamis_plan(survey_of(), block, epsilon = 1), "caller.yaml")
  invalid(tamis_release(tamis_read_plan("caller.yaml")), "its rows come with the call; give them as data =")
  expect(nrow(tamis_estimate(tamis_read_plan("caller.yaml"), data = people)) == 3)
})
test("previews", {
  s <- survey_of()
  p <- tamis_check(s, block, epsilon = 1)
  expect(is.null(p$refused) && nrow(as.data.frame(p)) == 2 && p$would_spend$epsilon[["upper"]] == 1)
  expect(any(grepl("no data were read", capture.output(print(p)))))
  quiet(tamis_release(s, block, epsilon = 1))
  p <- tamis_check(s, stat_mean(~income), epsilon = 9)
  expect(grepl("would exceed the budget", p$refused) && grepl("tamis_raise_budget()", p$refused, fixed = TRUE))
})
test("ledgers", {
  s <- survey_of()
  expect(tamis_left(s)$epsilon[["lower"]] == 4)
  invalid(tamis_ledger("nowhere.ledger"), "nowhere.ledger")
  quiet(tamis_release(s, block, epsilon = 1))
  book <- tamis_ledger(s)
  expect(book$accounts$left_epsilon == 3 && book$entries$epsilon == 1 && book$entries$state == "released")
  expect(any(grepl("spent +epsilon 1", capture.output(print(book)))))
  expect(book$entries$release == "plan of people")
  other <- survey_of(name = "a/b")
  quiet(tamis_release(other, block, epsilon = 1))
  expect(tamis_ledger(other)$entries$release == "plan of a_b")
  tamis_raise_budget(s, s, epsilon = 6, reason = "approved")
  expect(tamis_left("people", s)$epsilon[["lower"]] == 5)
  signals(tamis_raise_budget(s, s, epsilon = 5, reason = "less"), "tamis_error")
  signals(tamis_void(s, 2, reason = "x"), "tamis_error")
  signals(tamis_left("nobody", s), "tamis_refused", "no account")
})
test("the calculator, the words, the parts", {
  near(tamis_compute("amplification", "forward", N = 100, n = 1, eps = 5, delta = 0)$eps_pop[["upper"]], 0.90588946213773913)
  signals(tamis_compute("amplification", "nothing"), "tamis_invalid")
  expect(any(grepl("srs", capture.output(print(tamis_explain("designs"))))))
  invalid(tamis_explain("nothing"), "nothing")
  expect("tamis" %in% names(tamis_parts()))
  expect(grepl("caller: people", tamis_init(people, "people"), fixed = TRUE))
  expect(grepl("region", tamis_init("people.csv"), fixed = TRUE))
})
test("JSON", {
  read <- tamis:::from_json
  expect(identical(read('{"a": [1, 2.5e1, -3], "b": ["x", "\\u00e4\\ud83d\\ude00\\n\\""], "c": null, "d": [], "e": [true, 1], "f": {}}'),
                   list(a = c(1, 25, -3), b = c("x", "\u00e4\U0001f600\n\""), c = NULL, d = list(), e = list(TRUE, 1),
                        f = structure(list(), names = character()))))
  for (wrong in c("", "{", "[1,", "nul", "\"a", "{\"a\" 1}", "1 2", strrep("[", 200), "\"\\u12\""))
    expect(inherits(tryCatch(read(wrong), error = identity), "error"))
  expect(identical(read('{"results": [{"a": "]\\"}"}, [1]], "b": -1.5e-3, "c": "x", "d": {"b": 2}}', c("results", "b", "c")),
                   list(results = NULL, b = NULL, c = NULL, d = list(b = 2))))
  long <- paste0("[", paste(rep("0.1234567890123456", 2e5), collapse = ", "), "]")
  expect(system.time(numbers <- read(long))[["user.self"]] < 5 && identical(numbers, rep(0.1234567890123456, 2e5)))
  told <- list(a = "b\"\\\n\u00e4", n = NULL)
  expect(identical(read(tamis:::to_json(told)), told))
})

# ---- rows of every kind

counted <- function(column, values, ..., kind = "category") {
  data <- data.frame(row = seq_len(rows))
  data$x <- column
  e <- tamis_estimate(survey_of(data, list(x = values)), if (kind == "category") stat_count(by = ~x) else stat_total(~x))
  stats::setNames(e$estimate / 10, if (kind == "category") e$x else NULL)
}
half <- rep(c(1, 2), rows / 2)
test("numbers, integers, logicals, factors, texts, dates", {
  near(counted(half, c(0, 10), kind = "number"), 60)
  near(counted(as.integer(half), c(0, 10), kind = "number"), 60)
  near(counted(c(NA, as.integer(half)[-1]), c(0, 10), kind = "number"), 59)
  near(counted(c(NA, NaN, Inf, -Inf, half[-(1:4)]), c(0, 10), kind = "number"), 54)
  near(counted(half, tamis_values(1:2)), c(20, 20))
  near(counted(as.integer(half), tamis_values(1:2)), c(20, 20))
  near(counted(half == 1, c(FALSE, TRUE)), c(20, 20))
  near(counted(c(NA, (half == 1)[-1]), c(FALSE, TRUE)), c(20, 19))
  near(counted(factor(c("a", "b")[half]), c("a", "b")), c(20, 20))
  near(counted(factor(c("a", "b")[half], levels = c("b", "unused", "a")), c("a", "b")), c(20, 20))
  near(counted(factor(c(NA, c("a", "b")[half][-1])), c("a", "b")), c(19, 20))
  near(counted(ordered(c("a", "b")[half]), c("a", "b")), c(20, 20))
  near(counted(addNA(factor(c(NA, c("a", "b")[half][-1]))), c("a", "b")), c(19, 20))
  near(counted(c(NA, c("a", "b")[half][-1]), c("a", "b")), c(19, 20))
  near(counted(I(c("a", "b")[half]), c("a", "b")), c(20, 20))
  near(counted(as.Date(c("2000-01-31", "2001-02-28"))[half], c("2000-01-31", "2001-02-28")), c(20, 20))
  near(counted(structure(as.integer(c(10987, 11381))[half], class = "Date"), c("2000-01-31", "2001-02-28")), c(20, 20))
})
test("texts in other encodings", {
  latin <- iconv(c("N\u00f6rd", "S\u00fcd"), "UTF-8", "latin1")
  expect(Encoding(latin[1]) == "latin1")
  near(counted(latin[half], c("N\u00f6rd", "S\u00fcd")), c(20, 20))
  near(counted(factor(latin[half]), c("N\u00f6rd", "S\u00fcd")), c(20, 20))
})
test("integer64 is read by its class", {
  as_integer64 <- function(x) {
    bytes <- writeBin(as.integer(rbind(x, 0L)), raw())
    structure(readBin(bytes, "double", length(x)), class = "integer64")
  }
  near(counted(as_integer64(half), c(0, 10), kind = "number"), 60)
})
test("labelled columns of haven are codes or labels", {
  labelled <- structure(half, labels = c(employed = 1, unemployed = 2), class = c("haven_labelled", "vctrs_vctr", "double"))
  near(counted(labelled, tamis_values(1, 2)), c(20, 20))
  near(counted(labelled, c("employed", "unemployed")), c(20, 20))
  near(counted(labelled, c("employed", "2")), c(20, 20))
  near(counted(labelled, c(0, 10), kind = "number"), 60)
  spss <- structure(half, labels = c(employed = 1), na_values = 2,
                    class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double"))
  near(counted(spss, c(0, 10), kind = "number"), 20)
  texts <- structure(c("a", "b")[half], labels = c(first = "a"), class = c("haven_labelled", "vctrs_vctr", "character"))
  near(counted(texts, c("first", "b")), c(20, 20))
})

# ---- bad input: a condition, nothing charged, no cell in a message

canary <- "canary4711"
no_canary <- function(code) {
  said <- character()
  note <- function(c) said <<- c(said, conditionMessage(c),
                                 unlist(lapply(unclass(c), function(x) if (is.data.frame(x)) unlist(x) else as.character(x))))
  output <- capture.output(tryCatch(withCallingHandlers(code, warning = function(w) {
    note(w)
    invokeRestart("muffleWarning")
  }, message = function(m) {
    note(m)
    invokeRestart("muffleMessage")
  }), error = note))
  said <- c(said, output)
  expect(!any(grepl("canary|4711", said)), " ", paste(said, collapse = "; "))
  said
}
test("rows that cannot be used: nothing is charged, and no cell is quoted", {
  bad <- list(list = as.list(rep(canary, rows)),
              times = rep(as.POSIXct("4711-01-01", tz = "UTC"), rows),
              lt = as.POSIXlt(rep("4711-01-01", rows), tz = "UTC"),
              spans = as.difftime(rep(4711, rows), units = "days"),
              complex = rep(complex(real = 4711), rows),
              raw = as.raw(rep(1, rows)),
              texts = rep(canary, rows),
              factor = factor(rep(canary, rows)),
              date = rep(as.Date("4711-01-01"), rows),
              flags = rep(TRUE, rows),
              odd = structure(rep(4711, rows), class = "units"),
              broken = structure(rep(4711L, rows), levels = canary, class = "factor"),
              nolevels = structure(rep(1, rows), class = "factor"))
  for (name in names(bad)) {
    data <- data.frame(region = rep(canary, rows))
    data$x <- bad[[name]]
    s <- survey_of(data, list(x = c(0, 10), region = c("north", "south")))
    said <- no_canary(tamis_release(s, stat_total(~x, by = ~region), epsilon = 1))
    if (name != "broken") expect(any(grepl("x", said)), name)
    if (file.exists(s$ledger)) expect(name %in% "broken" || nrow(tamis_ledger(s)$entries) == 0, name)
  }
  data <- data.frame(region = rep(canary, rows))
  data$x <- matrix(4711, rows, 2)
  invalid(tamis_release(survey_of(data, list(x = c(0, 10))), stat_total(~x), epsilon = 1), "a matrix")
})
test("a canary in every cell is in no message, no print and no summary", {
  data <- data.frame(x = rep(4711.25, rows), region = rep(canary, rows), w = rep(4711, rows))
  s <- survey_of(data, list(x = c(0, 10), region = c("north", "south")))
  no_canary(print(s))
  no_canary(print(tamis_release(s, stat_total(~x, by = ~region), epsilon = 1)))
  no_canary(print(tamis_check(s, stat_total(~x), epsilon = 1)))
  no_canary(tamis_release(s, stat_total(~x), epsilon = 99))
  no_canary(tamis_release(s, stat_total(~w), epsilon = 1))
  no_canary(tamis_survey(data, "s", "u", list(), "l", 1))
  no_canary(tamis_release(s, stat_total(~x), epsilon = 1, rows_version = 4711.5))
})
test("missing columns", {
  invalid(tamis_release(survey_of(people["region"]), stat_total(~income), epsilon = 1), "income")
  expect(!file.exists(paste0(fresh, ".ledger")))
  invalid(tamis_release(survey_of(), stat_total(~incme), epsilon = 1), "incme is not declared under `columns`")
  invalid(tamis_release(survey_of(people[0]), stat_total(~income), epsilon = 1), "income")
})
test("no rows, one row, another number of rows than the design says", {
  for (data in list(people[0, ], people[1, ], people[1:39, ])) {
    caught <- signals(tamis_release(survey_of(data), stat_total(~income), epsilon = 1), "tamis_invalid", "")
    expect(!file.exists(paste0(fresh, ".ledger")) && is.null(caught$charged))
  }
  one <- survey_of(people[1, ], design = list(srs = list(population = 10, sample = 1)))
  expect(nrow(quiet(tamis_release(one, stat_total(~income), epsilon = 1))) == 1)
  none <- tamis_survey(list(bernoulli = list(rate = "0.1")), "none", "person", known, "none.ledger", 4, data = people[0, ])
  expect(nrow(quiet(tamis_release(none, stat_total(~income), epsilon = 1))) == 1)
})
test("wrong arguments", {
  s <- survey_of()
  invalid(tamis_release(s, epsilon = 1), "no statistics")
  invalid(tamis_release(s, "income", epsilon = 1), "expected statistics")
  invalid(tamis_release(people, stat_count(), epsilon = 1), "expected a tamis_survey() or a plan")
  for (wrong in list(-1, 1.5, NA, "2", c(1, 2))) invalid(tamis_release(s, block, epsilon = 1, threads = wrong), "threads")
  for (wrong in list(NA, "yes", 1, c(TRUE, FALSE))) invalid(tamis_release(s, block, epsilon = 1, again = wrong), "again")
  invalid(tamis_release(s, block, epsilon = 1, progress = "yes"), "progress")
  invalid(tamis_release(s, block, epsilon = 1, folder = c("a", "b")), "folder: expected one text")
  invalid(tamis_survey(plain, NA, "u", known, "l", 1, data = people), "name: expected one text")
  invalid(tamis_survey(plain, "s", "u", known, "l", 1), "data: expected a data frame")
  signals(tamis_release(s, block, epsilon = 9), "tamis_budget", "would exceed the budget")
  problems <- invalid(tamis_release(s, stat_total(~a), stat_total(~b), epsilon = 1), "is not declared")
  expect(nrow(problems$errors) == 2 && all(grepl("statistics", problems$errors$key)) && problems$code == "plan")
  expect(startsWith(conditionMessage(problems), "statistics"))
})

# ---- interrupts, callbacks, forks

many <- data.frame(x = rep(as.numeric(1:10), 4e5), g = rep(c("a", "b"), 2e6))
large <- function() tamis_survey(list(srs = list(population = 1e8, sample = nrow(many))), "many", "person",
                                 list(x = c(0, 10), g = c("a", "b")),
                                 tempfile("m", getwd(), ".ledger"), 9, data = many)
test("progress is reported, and a progress function may stop the work with an error of its own", {
  told <- NULL
  quiet(tamis_release(large(), stat_total(~x, by = ~g), epsilon = 1, progress = function(share, rows) told <<- c(told, rows)))
  expect(is.null(told) || (is.numeric(told) && all(told >= 0 & told <= nrow(many))))
  problem <- structure(class = c("mine", "error", "condition"), list(message = "enough", call = NULL))
  calls <- 0
  s <- large()
  caught <- signals(quiet(tamis_release(s, stat_total(~x, by = ~g), epsilon = 1, progress = function(share, rows) {
    calls <<- calls + 1
    stop(problem)
  })), "mine", "enough")
  expect(calls == 1 && grepl("tamis: ", conditionMessage(caught), fixed = TRUE))
})
test("Ctrl-C after the charge: the condition says what was charged, and the same call takes it over", {
  s <- large()
  caught <- signals(quiet(tamis_release(s, stat_total(~x, by = ~g), stat_quantile(~x, c("0.1", "0.5")), epsilon = 1,
                                        progress = function(share, rows) {
    if (rows > 0 && file.exists(s$ledger)) tools::pskill(Sys.getpid(), tools::SIGINT) # rows are counted before the charge too
  })), "tamis_interrupted", "entry")
  expect(inherits(caught, "error") && caught$code == "cancelled")
  expect(identical(normalizePath(caught$charged$ledger), normalizePath(s$ledger)) && caught$charged$entry == 2 &&
         caught$charged$amount == "epsilon 1")
  r <- quiet(tamis_release(s, stat_total(~x, by = ~g), stat_quantile(~x, c("0.1", "0.5")), epsilon = 1))
  expect(nrow(r) == 4 && tamis_left(s)$epsilon[["lower"]] == 8)
})
test("Ctrl-C before the charge: nothing was charged", {
  s <- large()
  caught <- signals(quiet(tamis_estimate(s, stat_total(~x, by = ~g), stat_median(~x),
                                         progress = function(share, rows) tools::pskill(Sys.getpid(), tools::SIGINT))),
                    "tamis_interrupted", "")
  expect(is.null(caught$charged) && !file.exists(s$ledger))
})
test("what a first user gets wrong is named", {
  s <- survey_of()
  expect(isTRUE(all.equal(tamis_plan(s, list(stat_count(), list(stat_total(~income))), epsilon = 1),
                          tamis_plan(s, stat_count(), stat_total(~income), epsilon = 1))))
  invalid(tamis_plan(s, list(), epsilon = 1), "expected statistics")
  invalid(tamis_estimate(s, stat_count(), epsilon = 1), "an estimate is not protected and has no epsilon")
  invalid(stat_total(~log(income)), "x: expected columns of the data or conditions")
  invalid(stat_total(~income, where = "income >= 1"), "such as ~age >= 16")
  invalid(survey_of(columns = list(income = c(0, NA))), "columns.income: expected two numbers")
  invalid(tamis_total(~income, s), "epsilon: how much may this spend? For example epsilon = 1")
  invalid(tamis_mean(~income, s, epsilon = 1, na.rm = TRUE), "na.rm: missing values are always left out")
  invalid(tamis_mean(~income, s, epsilon = 1, weights = 1), "weights: there is no such argument")
  invalid(stat_share(~region), 'x: expected a condition, such as ~region == "a"; stat_table(~region) counts all its values')
  invalid(tamis_explain("epsilon"), "there is no topic epsilon; without a topic, all are listed")
  expect(!any(grepl("--all", capture.output(print(tamis_check(s, block, epsilon = 1))), fixed = TRUE)))
})
test("a repeat from memory warns once, with the way on", {
  s <- survey_of()
  quiet(tamis_release(s, stat_total(~income), epsilon = 1))
  said <- character()
  withCallingHandlers(tamis_release(s, stat_total(~income), epsilon = 1), warning = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  expect(length(said) == 1 && grepl("the rows in memory were not read. To pay for numbers from them: again = TRUE", said, fixed = TRUE))
})
test("a number that was not released is printed with the reason", {
  r <- quiet(tamis_release(survey_of(), stat_total(~income), epsilon = 1))
  r$estimate <- NA_real_
  r$notes <- "the reason"
  expect("total:income: the reason" %in% capture.output(print(r)))
})
test("a charge that stands names R's function", {
  expect(tamis:::for_r("Or void the charge: tamis ledger void a.ledger 2 --reason TEXT") == "Or void the charge: tamis_void()")
})
test("a forked child is refused", {
  s <- survey_of()
  if (.Platform$OS.type == "unix") {
    inside <- parallel::mcparallel(tryCatch(tamis_release(s, block, epsilon = 1),
                                            error = function(e) c(class(e)[1], conditionMessage(e))))
    said <- parallel::mccollect(inside)[[1]]
    expect(said[1] == "tamis_invalid" && grepl("fork", said[2]) && !file.exists(s$ledger))
    inside <- parallel::mcparallel(tryCatch(tamis_ledger(s), error = function(e) conditionMessage(e)))
    expect(grepl("fork", parallel::mccollect(inside)[[1]]))
  }
  quiet(tamis_release(s, block, epsilon = 1))
})
done()
