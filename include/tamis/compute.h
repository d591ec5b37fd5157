/* The batch calculator: one request, one answer, each a line of JSON.
 *
 *     {"id": "a", "area": "amplification", "kind": "forward", "in": {"N": 100, "n": 1, "eps": "5", "delta": "0"}}
 *     {"id": "a", "out": {"eps_pop": {"lower": 0.90588946213773913, "upper": ...}, "delta_pop": ...}}
 *
 * It is meant for spreadsheets, scripts and other languages: names are stable, inputs are exact, real outputs are
 * enclosures. A number in "in" is a JSON integer or a string such as "0.1", "1e-6" or "3/10"; a JSON real such as 0.1 is
 * refused, because it has usually been through a double already.
 *
 * Every line gets exactly one answer, an empty one too, so that the k-th answer always belongs to the k-th line. A bad
 * request is answered
 *
 *     {"id": "a", "error": {"code": "invalid", "message": "..."}}
 *
 * with one of the codes invalid, unknown (area or kind), refused, unable, system. The id is a string that is repeated as
 * it is; it is null where it could not be read. docs/compute.md lists the areas and kinds with their fields.         */
#ifndef TAMIS_COMPUTE_H
#define TAMIS_COMPUTE_H

#include <tamis/base.h>

TAMIS_BEGIN

/* The longest line that is looked at, in bytes: some hundred times the largest sensible request, and small enough that
 * answering it never takes more than about a gigabyte. */
#define TAMIS_COMPUTE_LINE_MAX ((size_t)16 << 20)

/* Answers one line (without its newline). A line that is too long may be cut by the caller to any length above
 * TAMIS_COMPUTE_LINE_MAX.
 *
 * Needs    line not NULL unless length is 0.
 * Gives    in *answer one line of JSON without a newline, which the caller frees with tamis_free, whatever the status is;
 *          NULL only if there was no memory to write it. OK if the answer has "out", otherwise the status that the
 *          answer's "error" says (INVALID also for the code unknown); err then holds the same message.
 * Errors   INVALID, REFUSED, UNABLE, SYSTEM.                                                                         */
TAMIS_USE tamis_status tamis_compute_line(char **answer, const char *line, size_t length, tamis_error *err);

TAMIS_END

#endif
