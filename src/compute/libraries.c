/* The libraries of all rooms in one list. It is in the topmost room because it looks into every other one. */
#include "base/libraries.h"
#include "base/value/json.h"
#include "engine/core/libraries.h"
#include "ledger/libraries.h"
#include "num/libraries.h"
#include "plan/libraries.h"

static void collect(tmi_library_list *list)
{
    list->count = 0;
    tmi_library_add(list, "tamis", tamis_version());
    tmi_num_libraries(list);
    tmi_base_libraries(list);
    tmi_plan_libraries(list);
    tmi_engine_libraries(list);
    tmi_postgres_libraries(list);
    tmi_readstat_libraries(list);
    tmi_ledger_libraries(list);
}

tamis_status tamis_parts_text(char **text, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    tmi_library_list list;
    tmi_text lines;
    collect(&list);
    tmi_text_init(&lines);
    for (size_t i = 0; i < list.count; i++)
        tmi_text_format(&lines, "%s %s\n", list.parts[i].name,
                        list.parts[i].version[0] ? list.parts[i].version : "was not found");
    return tmi_text_take(text, &lines, err);
}

tamis_status tamis_parts_json(char **json, tamis_error *err)
{
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    tmi_library_list list;
    tmi_text text;
    tmi_json_out out;
    collect(&list);
    tmi_text_init(&text);
    tmi_json_out_init(&out, &text, false);
    tmi_json_open(&out, '{');
    for (size_t i = 0; i < list.count; i++) {
        tmi_json_add_string(&out, list.parts[i].name, list.parts[i].version[0] ? list.parts[i].version : NULL);
    }
    tmi_json_close(&out, '}');
    tmi_text_put(&text, "\n");
    return tmi_text_take(json, &text, err);
}
