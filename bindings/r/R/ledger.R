# Ledgers: who spent what on which sample. Each call opens the file anew, so that it sees what other processes wrote.

ledger_path <- function(x) {
  if (inherits(x, "tamis_survey")) x$ledger
  else if (inherits(x, "tamis_ledger")) x$path
  else path.expand(one_text(x, "ledger"))
}

tamis_ledger <- function(path) {
  path <- ledger_path(path)
  facts <- from_json(call_tamis(r_ledger_text, path, "json"))
  end <- function(amounts, coin, which) if (is.null(amounts[[coin]])) NA_real_ else bounds_of(amounts[[coin]])[[which]]
  accounts <- data.frame(survey = vapply(facts$accounts, function(a) a$survey, ""))
  for (what in c("budget", "spent", "left")) for (coin in c("epsilon", "delta", "rho"))
    accounts[[paste0(what, "_", coin)]] <- vapply(facts$accounts,
                                                  function(a) end(a[[what]], coin, if (what == "spent") "upper" else "lower"), 0)
  rows <- unlist(lapply(facts$accounts, function(a) lapply(a$entries, function(e) c(list(survey = a$survey), e))),
                 recursive = FALSE)
  text <- function(name) vapply(rows, function(e) as.character(or_na(e[[name]])), "")
  entries <- data.frame(survey = text("survey"), number = vapply(rows, function(e) as.numeric(e$number), 0), time = text("time"),
                        release = text("release"), wave = text("wave"), state = text("state"), reason = text("reason"))
  for (coin in c("epsilon", "delta", "rho")) entries[[coin]] <- vapply(rows, function(e) end(e$charge, coin, "upper"), 0)
  structure(class = "tamis_ledger", list(path = path, accounts = accounts, entries = entries))
}

print.tamis_ledger <- function(x, ...) {
  cat(call_tamis(r_ledger_text, x$path, "text"))
  invisible(x)
}

tamis_left <- function(survey, ledger = survey) {
  path <- ledger_path(ledger)
  name <- if (inherits(survey, "tamis_survey")) survey$name else one_text(survey, "survey")
  if (inherits(survey, "tamis_survey") && !file.exists(path))
    return(lapply(survey$plan$budget, function(b) c(lower = as.numeric(b), upper = as.numeric(b))))
  facts <- from_json(call_tamis(r_ledger_text, path, "json"))
  for (account in facts$accounts) if (account$survey == name) return(bounds_of(account$left))
  if (inherits(survey, "tamis_survey"))
    return(lapply(survey$plan$budget, function(b) c(lower = as.numeric(b), upper = as.numeric(b))))
  fail(paste0("the ledger has no account of ", name), "tamis_refused", "refused")
}

tamis_raise_budget <- function(ledger, survey, epsilon = NULL, delta = NULL, rho = NULL, reason) {
  amounts <- given(epsilon = plan_value(epsilon, "epsilon"), delta = plan_value(delta, "delta"), rho = plan_value(rho, "rho"))
  survey <- if (inherits(survey, "tamis_survey")) survey$name else one_text(survey, "survey")
  call_tamis(r_ledger_raise, ledger_path(ledger), survey, amounts, one_text(reason, "reason"))
  invisible(tamis_ledger(ledger))
}

tamis_void <- function(ledger, entry, reason) {
  call_tamis(r_ledger_void, ledger_path(ledger), whole_number(entry, "entry"), one_text(reason, "reason"))
  invisible(tamis_ledger(ledger))
}
