/* Whether a source was changed after a release whose numbers are returned. Its answer depends on the data's files: it is
 * for the operator alone, and enters no file. */
#ifndef TMI_RELEASE_SOURCE_CHANGED_H
#define TMI_RELEASE_SOURCE_CHANGED_H

#include "base/text.h"
#include "plan/plan.h"

/* A line on the files that were modified after `time` (as in the ledger), one on those that came to their place after it with an
 * older time of modification, and how to pay for new numbers; for a table of a DuckDB file, one that its file was changed.
 * Nothing for servers, nor where the time of a file is not known. */
void tmi_source_changed(tmi_text *text, const tmi_plan_source *source, const char *time);

#endif
