/* tamis --version */
#include "cli.h"

int cli_version(bool json)
{
    printf(json ? "{\"tamis\": \"%s\"}\n" : "tamis %s\n", tamis_version());
    return cli_finish_output();
}
