/* The promise as a specification: which datasets are compared, how far apart they are, how the laws of the output are
 * compared, and the budget. The five parts are those of settings, Definitions 2.4 and 2.5. With these a third party knows
 * what exactly is claimed, whatever the words around it.                                                            */
#ifndef TMI_REPORT_SPECIFICATION_H
#define TMI_REPORT_SPECIFICATION_H

#include "base/value/json.h"
#include "schedule/schedule.h"

/* Value of the key "specification". */
void tmi_put_specification(tmi_json_out *out, const tmi_schedule *schedule);

/* The same as a few lines. */
void tmi_write_specification(tmi_text *text, const tmi_schedule *schedule);

#endif
