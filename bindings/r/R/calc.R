# Verification, the calculator, and small things.

tamis_verify <- function(x, key = NULL, frame = NULL, certificates = character()) {
  key <- optional_path(key, "key")
  frame <- optional_path(frame, "frame")
  if (inherits(x, "tamis_ledger"))
    return(verification_of(call_tamis(r_ledger_verify, x$path, path.expand(as.character(certificates)))))
  if (inherits(x, "tamis_release")) {
    folder <- tempfile("release")
    on.exit(unlink(folder, recursive = TRUE))
    x <- tamis_save(x, folder)
  }
  if (!is.character(x) || anyNA(x)) fail("expected a folder, a release, a ledger, or texts with the names of their files")
  verification_of(if (is.null(names(x))) call_tamis(r_verify, path.expand(one_text(x, "folder")), key, frame)
                  else call_tamis(r_verify_texts, enc2utf8(names(x)), enc2utf8(unname(x)), key, frame))
}

verification_of <- function(json) {
  facts <- from_json(as.character(json))
  problems <- data.frame(field = vapply(facts$problems, function(p) as.character(or_na(p$field)), ""),
                         message = vapply(facts$problems, function(p) p$message, ""))
  structure(class = "tamis_verification", list(ok = attr(json, "ok"), problems = problems, guarantee = bounds_of(facts$guarantee),
                                               signature = facts$signature))
}

print.tamis_verification <- function(x, ...) {
  if (x$ok) cat("No problem was found.\n")
  else cat("Problems:\n", paste0("  ", x$problems$field, ": ", x$problems$message, "\n"), sep = "")
  invisible(x)
}

as.logical.tamis_verification <- function(x, ...) x$ok

# Integers stay what they are; other numbers become exact texts.
inputs_of <- function(x, what) {
  if (is.list(x)) {
    made <- lapply(seq_along(x), function(i) inputs_of(x[[i]], if (is.null(names(x))) what else names(x)[i]))
    names(made) <- names(x)
    return(made)
  }
  if (is.numeric(x) && !is.object(x) && length(x) == 1 && is.finite(x) && x == round(x) && abs(x) < 1e15) return(as.numeric(x))
  if (length(x) > 1) return(inputs_of(as.list(x), what))
  plan_value(x, what)
}

tamis_compute <- function(area, kind, ...) {
  inputs <- inputs_of(list(...), "in")
  if (length(inputs) == 0) inputs <- structure(list(), names = character())
  request <- to_json(list(id = "r", area = one_text(area, "area"), kind = one_text(kind, "kind"), `in` = inputs))
  answer <- from_json(call_tamis(r_compute, request))
  if (is.null(answer$error)) return(bounds_of(answer$out))
  class <- switch(answer$error$code, refused = "tamis_refused", unable = "tamis_unable", system = "tamis_system", "tamis_invalid")
  fail(answer$error$message, class, answer$error$code)
}

tamis_init <- function(data, name = NULL, table = NULL) {
  text <- if (is.data.frame(data))
    call_tamis(r_init_columns, enc2utf8(names(data)), vapply(data, format_of, "", USE.NAMES = FALSE),
               if (!is.null(name)) one_text(name, "name"))
  else call_tamis(r_init_file, path.expand(one_text(data, "data")), if (!is.null(table)) one_text(table, "table"))
  structure(class = "tamis_text", text)
}

tamis_explain <- function(topic = NULL)
  structure(class = "tamis_text", call_tamis(r_explain, if (!is.null(topic)) one_text(topic, "topic")))

tamis_parts <- function() unlist(lapply(from_json(call_tamis(r_parts)), or_na))
