/* tamis --version */
#include "cli.h"

int cli_version(bool json)
{
    char *text = NULL;
    tamis_error err = {0};
    tamis_status status = (json ? tamis_parts_json : tamis_parts_text)(&text, &err);
    return status == TAMIS_OK ? cli_print(text) : cli_failed(&err, NULL);
}
