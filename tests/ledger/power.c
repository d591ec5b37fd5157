/* The power fails. A few charges and releases are recorded as a disk sees them (recorder.h); then, for each moment between two
 * operations of the disk, the files are made as they may be found afterwards: what was not synced is lost, or there, or there in
 * part, sector by sector, in any order, or garbage. The ledger that is opened then has every charge that was acknowledged, and
 * none that was not asked for; its chain verifies; and what it still allows, together with what it has, is the budget. So never
 * more is published than charged: nothing is published before its charge is acknowledged.                               */
#include "tests/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "ledger/ledger.h"
#include "tests/ledger/kit.h"
#include "tests/ledger/recorder.h"

#define SECTOR 512
#define FILES 32  /* that the work ever creates */
#define CHARGES 8 /* of 1/8 fit into the budget of 1 */
#define AMOUNT "1/8"

/* ---- the work ---- */

enum { BEGUN, CHARGED, RELEASED }; /* notes of the record */

static char hashes[CHARGES][TAMIS_LEDGER_HASH];

static void charge_once(tamis_ledger *ledger, int number, bool release)
{
    sample_charge s;
    tamis_charged charged;
    tamis_error err = {0};
    sample_charge_make(&s, AMOUNT, "1", "[]");
    s.charge.again = 1;
    record_note(BEGUN);
    if (tamis_ledger_charge(&charged, ledger, &s.charge, &err) != TAMIS_OK) fail_msg("%s", err.message);
    record_note(CHARGED);
    memcpy(hashes[number], charged.hash, sizeof charged.hash);
    if (release) {
        assert_int_equal(tamis_ledger_released(ledger, charged.entry, "{\"noisy\": [5, -3]}", &err), TAMIS_OK);
        record_note(RELEASED);
    }
    tamis_charged_clear(&charged);
    sample_charge_clear(&s);
}

/* A ledger is made, used, closed, and used again. */
static void work(tmi_opening how)
{
    tamis_error err = {0};
    recorder_start();
    for (int session = 0, number = 0; session < 2; session++) {
        tamis_ledger *ledger = NULL;
        if (tmi_ledger_open(&ledger, path, how, &err) != TAMIS_OK) fail_msg("%s", err.message);
        charge_once(ledger, number++, true);
        charge_once(ledger, number++, false);
        tamis_ledger_free(ledger);
    }
    recorder_stop();
}

/* ---- the disk ---- */

typedef struct content {
    unsigned char *bytes;
    int64_t size, room;
} content;

static void grow(content *c, int64_t size)
{
    if (size > c->room) {
        c->room = size > 2 * c->room ? size : 2 * c->room;
        c->bytes = realloc(c->bytes, (size_t)c->room);
        assert_non_null(c->bytes);
    }
    if (size > c->size) memset(c->bytes + c->size, 0, (size_t)(size - c->size));
    if (size > c->size) c->size = size;
}

static void put(content *c, int64_t at, const unsigned char *bytes, int64_t length)
{
    grow(c, at + length);
    memcpy(c->bytes + at, bytes, (size_t)length);
}

static void apply(content *c, const recorded *r)
{
    if (r->kind == WRITTEN) put(c, r->offset, r->bytes, r->length);
    else if (r->length < c->size) c->size = r->length;
    else grow(c, r->length);
}

/* What is on the disk for good, and from where in the record on a file's operations are not. */
typedef struct disk {
    content files[FILES];
    size_t synced[FILES]; /* operations before this one */
    int names[NAMES];
    size_t folder_synced;
} disk;

static void disk_clear(disk *d)
{
    for (size_t i = 0; i < FILES; i++) free(d->files[i].bytes);
}

static bool is_of_file(const recorded *r, int file) { return (r->kind == WRITTEN || r->kind == CUT) && r->file == file; }

static bool is_of_folder(const recorded *r) { return r->kind == CREATED || r->kind == DELETED; }

static void apply_name(int names[NAMES], const recorded *r) { names[r->name] = r->kind == CREATED ? r->file : -1; }

/* A disk that lies says that it has synced and has not. */
static void step(disk *d, size_t at, bool lies)
{
    const recorded *r = &tape.list[at];
    if (lies) return;
    if (r->kind == SYNCED) {
        for (size_t i = d->synced[r->file]; i < at; i++)
            if (is_of_file(&tape.list[i], r->file)) apply(&d->files[r->file], &tape.list[i]);
        d->synced[r->file] = at;
    } else if (r->kind == FOLDER_SYNCED) {
        for (size_t i = d->folder_synced; i < at; i++)
            if (is_of_folder(&tape.list[i])) apply_name(d->names, &tape.list[i]);
        d->folder_synced = at;
    }
}

/* ---- what is found afterwards ---- */

typedef enum { ALL_LOST, ALL_KEPT, SOME_KEPT, TORN, FATES } fate;

static uint64_t random_state;

static unsigned draw(unsigned below) { return (unsigned)next_number(&random_state) % below; }

/* One operation that was not synced: whole, not at all, or each sector by itself kept, lost or spoilt. */
static void maybe_apply(content *c, const recorded *r, fate f)
{
    if (f == ALL_LOST || (f == SOME_KEPT && draw(2)) || (f == TORN && r->kind == CUT && draw(2))) return;
    if (f != TORN || r->kind == CUT) {
        apply(c, r);
        return;
    }
    for (int64_t from = 0, to; from < r->length; from = to) {
        to = (r->offset + from) / SECTOR * SECTOR + SECTOR - r->offset;
        if (to > r->length) to = r->length;
        unsigned what = draw(8);
        unsigned char garbage[SECTOR];
        for (int64_t i = 0; i < to - from; i++) garbage[i] = (unsigned char)draw(256);
        if (what < 4) put(c, r->offset + from, r->bytes + from, to - from);
        else if (what == 4) put(c, r->offset + from, garbage, to - from);
    }
}

static void write_file(const char *name, const content *c)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_true(c->size == 0 || write(file, c->bytes, (size_t)c->size) == c->size);
    close(file);
}

static char found[200]; /* the ledger as it is found */

static void make_files(const disk *d, size_t end, fate f)
{
    int names[NAMES];
    size_t changes = 0, kept;
    memcpy(names, d->names, sizeof names);
    for (size_t i = d->folder_synced; i < end; i++) changes += is_of_folder(&tape.list[i]);
    kept = f == ALL_LOST ? 0 : f == ALL_KEPT ? changes : draw((unsigned)changes + 1); /* a folder changes in order */
    for (size_t i = d->folder_synced; i < end && kept > 0; i++) {
        if (!is_of_folder(&tape.list[i])) continue;
        apply_name(names, &tape.list[i]);
        kept--;
    }
    for (int n = 0; n < NAMES; n++) {
        char name[220];
        content c = {0};
        snprintf(name, sizeof name, "%s%s", found, name_ends[n]);
        unlink(name);
        if (names[n] < 0) continue;
        const content *durable = &d->files[names[n]];
        if (durable->size > 0) put(&c, 0, durable->bytes, durable->size);
        for (size_t i = d->synced[names[n]]; i < end; i++)
            if (is_of_file(&tape.list[i], names[n])) maybe_apply(&c, &tape.list[i], f);
        write_file(name, &c);
        free(c.bytes);
    }
    char shared[220]; /* memory, which the failure has emptied */
    snprintf(shared, sizeof shared, "%s-shm", found);
    unlink(shared);
}

/* What was begun, acknowledged and released before the moment. */
typedef struct history {
    size_t begun, charged, released;
} history;

/* What is wrong with the ledger that was found; NULL if nothing is. `spend`: it is also spent to the end. */
static const char *problem(const history *h, tmi_opening how, bool spend)
{
    static char message[600];
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    char *faults = NULL;
    int ok = 0;
    message[0] = '\0';
    if (tmi_ledger_open(&ledger, found, how, &err) != TAMIS_OK) {
        snprintf(message, sizeof message, "it cannot be opened: %.400s", err.message);
        return message;
    }
    const tmi_book *book = &ledger->book;
    size_t charges = book->charge_count, released = 0;
    for (size_t i = 0; i < charges; i++) {
        released += book->charges[i].released > 0;
        if (i < h->charged && strcmp(book->charges[i].hash, hashes[i]) != 0)
            snprintf(message, sizeof message, "charge %zu is another one", i);
    }
    if (charges < h->charged || charges > h->begun)
        snprintf(message, sizeof message, "%zu charges, but %zu were acknowledged and %zu begun", charges, h->charged, h->begun);
    else if (released < h->released) snprintf(message, sizeof message, "%zu of %zu releases", released, h->released);
    while (spend && !*message && charge_as(ledger, AMOUNT, "1", &err) > 0) charges++;
    if (spend && !*message && (charges != CHARGES || err.status != TAMIS_REFUSED))
        snprintf(message, sizeof message, "%zu charges of " AMOUNT " in all: %.300s", charges, err.message);
    tamis_ledger_free(ledger);
    if (!*message && tamis_ledger_verify_text(&ok, &faults, found, NULL, 0, &err) != TAMIS_OK)
        snprintf(message, sizeof message, "it cannot be verified: %.400s", err.message);
    else if (!*message && !ok) snprintf(message, sizeof message, "%.500s", faults);
    tamis_free(faults);
    return *message ? message : NULL;
}

/* Every moment of the record, with each fate of what was not synced, the random ones `seeds` times. Counts the images that have a
 * problem, or fails with the first. */
static size_t fail_at_every_moment(tmi_opening how, int seeds, bool lies, bool expected)
{
    disk d = {.names = {0, -1, -1}};
    history h = {0};
    size_t problems = 0, images = 0;
    for (size_t end = 0; end <= tape.count; end++) {
        for (int f = 0; f < FATES; f++) {
            for (int seed = 0; seed < (f >= SOME_KEPT ? seeds : 1); seed++) {
                random_state = (uint64_t)(1 + end * 1000 + (size_t)seed) * 7919 + (uint64_t)f;
                make_files(&d, end, (fate)f);
                const char *wrong = problem(&h, how, ++images % 16 == 0);
                problems += wrong != NULL;
                if (wrong && !expected)
                    fail_msg("power failed after %zu of %zu operations (fate %d, seed %d): %s", end, tape.count, f, seed, wrong);
            }
        }
        if (end == tape.count) break;
        step(&d, end, lies);
        if (tape.list[end].kind != NOTED) continue;
        h.begun += tape.list[end].note == BEGUN;
        h.charged += tape.list[end].note == CHARGED;
        h.released += tape.list[end].note == RELEASED;
    }
    disk_clear(&d);
    return problems;
}

/* ---- the tests ---- */

static void record_work(tmi_opening how)
{
    char inside[100];
    snprintf(inside, sizeof inside, "%s/found", folder);
    mkdir(inside, 0700);
    snprintf(found, sizeof found, "%s/a.ledger", inside);
    work(how);
    size_t writes = 0;
    for (size_t i = 0; i < tape.count; i++) writes += tape.list[i].kind == WRITTEN;
    assert_true(tape.files <= FILES);
    assert_true(writes > 20); /* the recorder was in use */
}

static void with_a_write_ahead_log(void **state)
{
    (void)state;
    record_work(TMI_CHARGE);
    fail_at_every_moment(TMI_CHARGE, test_size(1, 40), false, false);
    recorder_clear();
}

static void with_a_rollback_journal(void **state)
{
    (void)state;
    record_work(TMI_CHARGE_SHARED);
    fail_at_every_moment(TMI_CHARGE_SHARED, test_size(1, 40), false, false);
    recorder_clear();
}

/* The test can fail: on a disk that does not sync, charges that were acknowledged are lost. */
static void a_disk_that_lies_is_noticed(void **state)
{
    static const tmi_opening ways[] = {TMI_CHARGE, TMI_CHARGE_SHARED};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        unlink(path);
        record_work(ways[i]);
        assert_true(fail_at_every_moment(ways[i], 0, true, true) > 10);
        recorder_clear();
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {IN_A_FOLDER(with_a_write_ahead_log), IN_A_FOLDER(with_a_rollback_journal),
                                     IN_A_FOLDER(a_disk_that_lies_is_noticed)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
