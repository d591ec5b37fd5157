#include "ledger/libraries.h"

#include <sqlite3.h>

void tmi_ledger_parts(tmi_part_list *list)
{
    tmi_part_add(list, "SQLite", sqlite3_libversion());
}
