/* What follows, and what a file says: compared leaf by leaf, and the differences noted. */
#ifndef TMI_PUBLISH_CHECKING_H
#define TMI_PUBLISH_CHECKING_H

#include "ledger/book.h"

typedef struct tmi_checking {
    tmi_faults *faults;
    tamis_error *err;
    tamis_status status; /* of the first note that could not be made */
} tmi_checking;

/* Notes a problem, unless there are a hundred already. */
void tmi_check_note(tmi_checking *c, const char *field, const char *message);

/* Notes where the two differ, each place as a path behind `path`. `may_miss`: a field may be left out. */
void tmi_check_same(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path, bool may_miss);

/* The same of the fields of two objects, but for those named in `except`, a list that ends with NULL. */
void tmi_check_fields(tmi_checking *c, const tmi_value *follows, const tmi_value *says, const char *path,
                      const char *const *except);

/* What cannot be computed from what a file says is a problem of the file; what failed here is not. */
tamis_status tmi_check_noted(tmi_checking *c, const char *field, tamis_status status, const tamis_error *reason,
                             tamis_error *err);

#endif
