#ifndef TAMIS_R_JSON_H
#define TAMIS_R_JSON_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

/* One text of JSON as R lists and vectors; an error if it is none. Values of the outermost object are NULL if their names are
 * among `left_out`. */
SEXP r_json(SEXP text, SEXP left_out);

#endif
