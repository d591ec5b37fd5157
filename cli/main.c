#include <stdio.h>
#include <string.h>
#include <tamis/tamis.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("tamis %s\n", tamis_version());
        return 0;
    }
    fputs("usage: tamis --version\n", stderr);
    return 2;
}
