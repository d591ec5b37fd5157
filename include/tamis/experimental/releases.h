/* Lists of releases, composed: as the calculator reads them.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_RELEASES_H
#define TAMIS_EXPERIMENTAL_RELEASES_H

#include <tamis/experimental/profile.h>

TAMIS_BEGIN

/* Releases as they are written in a request, composed: [{"law": "laplace", "scale": "10", "count": 5}, ...].
 *
 * Gives    the profile of all together, which the caller frees with tamis_profile_free, and how many releases that are,
 *          each counted as often as its "count" says; NULL and 0 on failure.
 * Errors   INVALID (also for an empty list), SYSTEM (memory).                                                        */
TAMIS_USE tamis_status tamis_releases_read(tamis_profile **all, int64_t *count, const char *json, tamis_error *err);

/* The same from a file, YAML or JSON, whose numbers are taken exactly as they are written. */
TAMIS_USE tamis_status tamis_releases_read_file(tamis_profile **all, int64_t *count, const char *path, tamis_error *err);

TAMIS_END

#endif
