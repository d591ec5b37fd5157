#include <string.h>
#include <tamis/compute.h>

#include "survey/design/form.h"

tamis_status tamis_design_read(tamis_design **design, const char *json, tamis_error *err)
{
    tmi_json *document = NULL;
    tamis_status status = TAMIS_OK;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    TMI_TRY(tmi_json_read(&document, json, strlen(json), err));
    TMI_TRY(tmi_design_from_json(design, document, true, err));
done:
    tmi_json_free(document);
    return status;
}
