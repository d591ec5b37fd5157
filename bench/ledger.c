/* Charges a second, each on the disk before the next begins; beside it what the disk itself can do: one block written and
 * waited for. The two take turns, because disks have moods. The same in memory shows what the ledger itself costs. One JSON
 * object a line; the folder to work in is the first argument.                                                        */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/experimental.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 20
#define A_ROUND 50
#define IN_MEMORY 10000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void give_up(const char *what)
{
    fprintf(stderr, "ledger: %s\n", what);
    exit(1);
}

static tamis_number *number(const char *text)
{
    tamis_number *x = NULL;
    if (tamis_number_read(&x, text, NULL) != TAMIS_OK) give_up(text);
    return x;
}

static double charge(tamis_ledger *ledger, const tamis_charge *c, int times)
{
    tamis_charged charged;
    tamis_error err = {0};
    double start = now();
    for (int i = 0; i < times; i++) {
        if (tamis_ledger_charge(&charged, ledger, c, &err) != TAMIS_OK) give_up(err.message);
        tamis_charged_clear(&charged);
    }
    return now() - start;
}

static double write_blocks(int file, int times)
{
    static const char block[4096];
    double start = now();
    for (int i = 0; i < times; i++)
        if (write(file, block, sizeof block) != sizeof block || fdatasync(file) != 0) give_up("the disk cannot be written to");
    return now() - start;
}

static tamis_ledger *open_ledger(const char *path)
{
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    if (tamis_ledger_open(&ledger, path, &err) != TAMIS_OK) give_up(err.message);
    return ledger;
}

int main(int argc, char **argv)
{
    char path[4096], blocks[4096];
    tamis_number *amount = number("1/1000"), *budget = number("1000");
    const tamis_charge c = {
        .survey = "schools",
        .release = "plan.yaml",
        .amount = {.epsilon = amount},
        .budget = {.epsilon = budget},
        .frozen = "{\"design\": {\"srs\": {\"population\": 6194, \"sample\": 200}}, \"unit\": \"school\"}",
        .measures = "[{\"measure\": \"sum\", \"column\": \"enroll\", \"by\": [\"stype\"], \"scale\": \"4000\"}]",
        .again = 1};
    snprintf(path, sizeof path, "%s/bench.ledger", argc > 1 ? argv[1] : ".");
    snprintf(blocks, sizeof blocks, "%s/bench.blocks", argc > 1 ? argv[1] : ".");
    unlink(path);
    tamis_ledger *ledger = open_ledger(path);
    int file = open(blocks, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    double ours = 0, disk = 0;
    charge(ledger, &c, 1);
    for (int i = 0; i < ROUNDS; i++) {
        ours += charge(ledger, &c, A_ROUND);
        disk += write_blocks(file, A_ROUND);
    }
    tamis_ledger_free(ledger);
    close(file);
    unlink(blocks);
    unlink(path);
    printf("{\"what\": \"ledger charges\", \"n\": %d, \"seconds\": %.6g}\n", ROUNDS * A_ROUND, ours);
    printf("{\"what\": \"ledger disk\", \"n\": %d, \"seconds\": %.6g}\n", ROUNDS * A_ROUND, disk);

    snprintf(path, sizeof path, "/dev/shm/tamis-bench-%d.ledger", (int)getpid());
    ledger = open_ledger(path);
    ours = charge(ledger, &c, IN_MEMORY);
    tamis_ledger_free(ledger);
    printf("{\"what\": \"ledger charges in memory\", \"n\": %d, \"seconds\": %.6g}\n", IN_MEMORY, ours);
    double start = now();
    tamis_ledger_free(open_ledger(path));
    printf("{\"what\": \"ledger opened\", \"n\": %d, \"seconds\": %.6g}\n", IN_MEMORY, now() - start);
    unlink(path);
    tamis_number_free(amount);
    tamis_number_free(budget);
    return 0;
}
