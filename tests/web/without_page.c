/* `tamis serve` as it is built where libmicrohttpd is missing. */
#include "cli.h"

extern const cli_command cli_command_serve;

int main(void)
{
    const cli_call call = {.command = &cli_command_serve};
    return cli_command_serve.run(&call);
}
