/* tamis ledger: the budget book, looked at, checked, exported; charges that were never published voided, budgets raised. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"

/* ---- show ---- */

static int run_show(const cli_call *call)
{
    const char *path = call->operands[0];
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    tamis_number *at = NULL;
    char *text = NULL;
    int code = cli_number(&at, call, "delta");
    if (code != 0) return code;
    tamis_status status = tamis_ledger_look(&ledger, path, &err);
    if (status == TAMIS_OK) status = (call->json ? tamis_ledger_json : tamis_ledger_text)(&text, ledger, at, &err);
    tamis_ledger_free(ledger);
    tamis_number_free(at);
    return status == TAMIS_OK ? cli_print(text) : cli_failed(&err, path);
}

static const cli_command show_command = {
    .name = "ledger show",
    .purpose = "what each survey has spent and has left, and its releases",
    .about = "For each account of the ledger: its budget, what was spent and what is left; the guarantee of a sampled unit, and "
             "that of an outsider, by stratum, where the design, the setting and a secret sample allow one. All releases of a "
             "sample are added up first, and then amplified once.\n\n"
             "A release is 'charged' as soon as it may have looked at the data, and 'released' once its numbers are written. One "
             "that stays charged was interrupted: it published nothing, and its budget is spent until the same plan is run "
             "again, which takes over the charge, or 'tamis ledger void' returns it. Voided charges no longer count.",
    .operands = {{"FILE", .needed = true, .files = CLI_ANY_FILES, .help = "the ledger, as the plan names it"}},
    .options = {{"delta", "D", .help = "delta used to convert accounts in rho (zCDP) to epsilon; default 1e-9"}},
    .examples = {{"tamis ledger show schools.ledger", "how much is left?"},
                 {"tamis ledger show schools.ledger --json", "the same for a program"}},
    .run = run_show,
};

/* ---- verify ---- */

static int run_verify(const cli_call *call)
{
    const char *path = call->operands[0], *against = cli_value(call, "against");
    const size_t count = against ? 1 + (size_t)call->more_count : 0;
    const char **certificates = calloc(count + 1, sizeof *certificates);
    tamis_error err = {.status = TAMIS_SYSTEM, .message = "out of memory"};
    tamis_status status = TAMIS_SYSTEM;
    char *text = NULL;
    int ok = 0, code;
    if (!against && call->more_count > 0) {
        free(certificates);
        return cli_wrong_usage(call->command, "unexpected argument '%s'; certificates come after --against", call->more[0]);
    }
    for (size_t i = 0; certificates && i < count; i++) certificates[i] = i == 0 ? against : call->more[i - 1];
    if (certificates)
        status = (call->json ? tamis_ledger_verify_json : tamis_ledger_verify_text)(&ok, &text, path, certificates, count, &err);
    free(certificates);
    if (status != TAMIS_OK) return cli_failed(&err, NULL);
    if (ok && !call->json) {
        tamis_free(text);
        puts(count > 0 ? "no problem found in the ledger, and it has the charges that the certificates name; `tamis verify` "
                         "checks the certificates themselves"
                       : "no problem found in the ledger");
        return cli_finish_output();
    }
    code = cli_print(text);
    return code != TAMIS_OK ? code : ok ? TAMIS_OK : TAMIS_INVALID;
}

static const cli_command verify_command = {
    .name = "ledger verify",
    .purpose = "detect edited, deleted, reordered or rolled-back entries",
    .about = "Recomputes the chain of hashes, the sums and the budgets, and checks every page of the file. A ledger that was "
             "rolled back to an earlier state is internally consistent; only certificates of later releases reveal the rollback. "
             "Each names an entry and its hash, which must be in the chain, and the ledger must have charged what the "
             "certificate says (survey, amount, measurements, sums of the account) and kept the measurements that it names.\n\n"
             "The exit code is 3 if a problem was found.",
    .operands = {{"FILE", .needed = true, .files = CLI_ANY_FILES, .help = "the ledger"},
                 {"CERTIFICATE", .more = true, .files = CLI_ANY_FILES, .help = "further ones after --against"}},
    .options = {{"against", "CERTIFICATE", .files = CLI_ANY_FILES,
                 .help = "the certificate.json of a release, or its folder; or several"}},
    .examples = {{"tamis ledger verify schools.ledger", "was it tampered with?"},
                 {"tamis ledger verify schools.ledger --json", "the same for a program"}},
    .run = run_verify,
};

/* ---- export ---- */

static int run_export(const cli_call *call)
{
    const char *path = call->operands[0];
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    char *text = NULL;
    tamis_status status = tamis_ledger_look(&ledger, path, &err);
    if (status == TAMIS_OK) status = (call->json ? tamis_ledger_entries_json : tamis_ledger_csv)(&text, ledger, &err);
    tamis_ledger_free(ledger);
    return status == TAMIS_OK ? cli_print(text) : cli_failed(&err, path);
}

static const cli_command export_command = {
    .name = "ledger export",
    .purpose = "every charge as CSV, or every entry as it was hashed",
    .about = "Without --json: one line per charge, with exact amounts, for a spreadsheet. With --json: every entry exactly as it "
             "was hashed, its hash, and the noisy numbers that were kept with a release. From this anybody can recompute the "
             "chain, as docs/ledger.md describes.",
    .operands = {{"FILE", .needed = true, .files = CLI_ANY_FILES, .help = "the ledger"}},
    .examples = {{"tamis ledger export schools.ledger", "for a spreadsheet"},
                 {"tamis ledger export schools.ledger --json", "for somebody who does not trust tamis"}},
    .run = run_export,
};

/* ---- void ---- */

/* Opens a ledger that is there: tamis_ledger_open alone would create one. */
static tamis_status open_existing(tamis_ledger **ledger, const char *path, tamis_error *err)
{
    tamis_status status = tamis_ledger_look(ledger, path, err);
    tamis_ledger_free(*ledger);
    *ledger = NULL;
    return status == TAMIS_OK ? tamis_ledger_open(ledger, path, err) : status;
}

static int run_void(const cli_call *call)
{
    const char *path = call->operands[0], *number = call->operands[1], *reason = cli_value(call, "reason");
    tamis_error err = {0};
    tamis_ledger *ledger = NULL;
    char *end = NULL;
    errno = 0;
    const long long entry = strtoll(number, &end, 10);
    if (errno != 0 || end == number || *end || entry <= 0)
        return cli_wrong_usage(call->command, "'%s' is not the number of an entry; 'tamis ledger show %s' lists them", number,
                               path);
    if (!reason)
        return cli_wrong_usage(call->command,
                               "--reason TEXT is needed: the reason for voiding the charge is recorded in the ledger");
    tamis_status status = open_existing(&ledger, path, &err);
    if (status == TAMIS_OK) status = tamis_ledger_void(ledger, entry, reason, &err);
    tamis_ledger_free(ledger);
    if (status != TAMIS_OK) return cli_failed(&err, path);
    if (call->json) printf("{\"entry\": %lld, \"state\": \"voided\"}\n", entry);
    else printf("Entry %lld is voided: what was charged for it no longer counts.\n", entry);
    return cli_finish_output();
}

static const cli_command void_command = {
    .name = "ledger void",
    .purpose = "return a charge that was never published",
    .about = "A release that was stopped after its charge, by Ctrl-C, a crash or a power failure, has published nothing. Voiding "
             "the charge returns its amount; the entry stays in the ledger, with the reason, and 'tamis ledger show' lists it as "
             "'voided'. What the stopped run left in its temporary folder is deleted first. Alternatively, run the same plan "
             "again: it takes over the charge and pays nothing.\n\nRefused with exit code 4: a release that was published, a "
             "charge that was already voided, a release that is still running.",
    .operands = {{"FILE", .needed = true, .files = CLI_ANY_FILES, .help = "the ledger"},
                 {"ENTRY", .needed = true, .help = "the number of the charge, as 'tamis ledger show' lists it"}},
    .options = {{"reason", "TEXT", .help = "the reason, recorded in the ledger"}},
    .examples = {{"tamis ledger void schools.ledger 4 --reason 'stopped by a power failure'",
                  "the budget of entry 4 is available again"}},
    .run = run_void,
};

/* ---- raise ---- */

static int run_raise(const cli_call *call)
{
    const char *path = call->operands[0], *survey = cli_value(call, "survey"), *reason = cli_value(call, "reason");
    tamis_number *epsilon = NULL, *delta = NULL, *rho = NULL;
    tamis_ledger *ledger = NULL;
    tamis_error err = {0};
    char *text = NULL;
    if (!survey) return cli_wrong_usage(call->command, "--survey is missing: the survey whose budget is raised");
    if (!reason)
        return cli_wrong_usage(
            call->command,
            "--reason is missing: the reason for the raise, which is recorded and shown in every later certificate");
    if (!cli_value(call, "epsilon") == !cli_value(call, "rho") || (cli_value(call, "rho") && cli_value(call, "delta")))
        return cli_wrong_usage(call->command, "expected the new budget: --epsilon, or --epsilon and --delta, or --rho");
    int code = cli_number(&epsilon, call, "epsilon");
    if (code == 0) code = cli_number(&delta, call, "delta");
    if (code == 0) code = cli_number(&rho, call, "rho");
    if (code == 0) {
        const tamis_coin budget = {epsilon, delta, rho};
        tamis_status status = open_existing(&ledger, path, &err);
        if (status == TAMIS_OK) status = tamis_ledger_raise(ledger, survey, &budget, reason, &err);
        if (status == TAMIS_OK) status = (call->json ? tamis_ledger_json : tamis_ledger_text)(&text, ledger, NULL, &err);
        tamis_ledger_free(ledger);
        code = status == TAMIS_OK ? cli_print(text) : cli_failed(&err, path);
    }
    tamis_number_free(epsilon);
    tamis_number_free(delta);
    tamis_number_free(rho);
    return code;
}

static const cli_command raise_command = {
    .name = "ledger raise",
    .purpose = "raise the budget of a survey, on record",
    .about = "The first release of a survey fixes what all its releases together may spend. To spend more is a decision for "
             "those who are responsible for the promise to the respondents, not for whoever runs a release: it is a separate "
             "entry in the ledger, with its reason, and every later certificate reports it. A budget is never lowered; the "
             "budget of a plan may be anything up to that of the account.\n\n"
             "If you can, decide before looking at released numbers. A guarantee with delta or rho holds at the highest budget "
             "only, and, if the raise was decided after seeing released numbers, at the highest budget that could have been "
             "chosen. Epsilons without a delta add up in any case. docs/ledger.md has the argument.\n\n"
             "A survey of other people has its own account and budget, so nothing needs to be raised for it. Prints the ledger "
             "as 'tamis ledger show' does.",
    .operands = {{"FILE", .needed = true, .files = CLI_ANY_FILES, .help = "the ledger"}},
    .options = {{"survey", "S", .help = "the survey whose budget is raised, as the plan names it; required"},
                {"epsilon", "NEWCAP", .help = "the new total budget, not the amount added"},
                {"delta", "D", .help = "with --epsilon, if the budget has a delta"},
                {"rho", "NEWCAP", .help = "the same for a budget in rho"},
                {"reason", "TEXT", .help = "the reason, recorded in the ledger and published in certificates; required"}},
    .examples = {{"tamis ledger raise schools.ledger --survey pupils --epsilon 8 --reason '3 May'",
                  "from a total of 4 to a total of 8"}},
    .run = run_raise,
};

/* ---- the group ---- */

const cli_command cli_command_ledger = {
    .name = "ledger",
    .purpose = "what was spent, what is left, is the record intact?",
    .about = "A ledger is the file that a plan names under 'ledger'. It contains one account per survey, with every charge and "
             "with a budget that the first release fixes and only a recorded decision can raise. Entries are only ever added, "
             "each chained to the previous one by its hash. docs/ledger.md describes the file.",
    .members = (const cli_command *const[]){&show_command, &verify_command, &export_command, &void_command, &raise_command, NULL},
};
