/* The libraries that only this room uses. */
#ifndef TMI_LEDGER_PARTS_H
#define TMI_LEDGER_PARTS_H

#include "base/libraries.h"

void tmi_ledger_parts(tmi_part_list *list); /* SQLite */

#endif
