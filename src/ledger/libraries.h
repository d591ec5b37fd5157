/* The libraries that only this room uses. */
#ifndef TMI_LEDGER_LIBRARIES_H
#define TMI_LEDGER_LIBRARIES_H

#include "base/libraries.h"

void tmi_ledger_libraries(tmi_library_list *list); /* SQLite */

#endif
