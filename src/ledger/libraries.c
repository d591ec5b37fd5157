#include "ledger/libraries.h"

#include <sqlite3.h>

void tmi_ledger_libraries(tmi_library_list *list) { tmi_library_add(list, "SQLite", sqlite3_libversion()); }
