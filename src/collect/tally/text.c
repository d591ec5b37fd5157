/* The results of a tally as text for readers, and its guarantee in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tamis/experimental/anonymous.h>

#include "base/decimal.h"
#include "base/table.h"
#include "collect/tally/output.h"
#include "num/bound.h"
#include "num/number.h"

#define CELL 96

/* For a row of the table. */
static void put_cell(char cell[CELL], tmi_text_table *table, double x, int decimals)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_rounded(&text, x, decimals);
    snprintf(cell, CELL, "%s", text.bytes ? text.bytes : "");
    table->failed = table->failed || text.failed;
    tmi_text_clear(&text);
}

static void put_table(tmi_text *text, const tmi_tally_results *r)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    const bool grouped = r->asked.groups > 0;
    bool outside = false;
    tmi_text_table table;
    tmi_table_init(&table, grouped ? 6 : 5, align);
    char heading[CELL], percent[CELL];
    put_cell(percent, &table, 100 * tmi_number_nearest(r->asked.confidence), 3);
    for (size_t end = 0; percent[end]; end++) /* 95.000 is 95 */
        if (percent[end] == '.') {
            size_t last = end;
            while (percent[last + 1]) last++;
            while (last > end && percent[last] == '0') percent[last--] = 0;
            if (last == end) percent[last] = 0;
            break;
        }
    snprintf(heading, sizeof heading, "%.16s %% interval", percent);
    tmi_table_row(&table, (const char *const[]){"share of", "ones reported", "estimate", "se", heading, "consistent"});
    for (size_t j = 0; j < r->tally->bits; j++) {
        const tamis_tally_share *s = &r->shares[j];
        const int decimals = s->se > 0 ? tmi_decimals_of(s->se) + 1 : 4;
        char ones[CELL], estimate[CELL], se[CELL], lower[CELL], upper[CELL], interval[2 * CELL + 8], consistent[CELL] = "";
        put_cell(ones, &table, (double)r->tally->ones[j], 0);
        put_cell(estimate, &table, s->estimate, decimals);
        put_cell(se, &table, s->se, decimals);
        put_cell(lower, &table, s->lower, decimals);
        put_cell(upper, &table, s->upper, decimals);
        if (!isnan(s->consistent)) put_cell(consistent, &table, s->consistent, decimals);
        const bool out = s->estimate < 0 || s->estimate > 1;
        outside = outside || out;
        snprintf(interval, sizeof interval, "%s to %s%s", lower, upper, out ? " *" : "");
        tmi_table_row(&table, (const char *const[]){r->tally->names[j], ones, estimate, se, interval, consistent});
    }
    tmi_table_write(text, &table);
    if (outside) tmi_text_put(text, "* this estimate is outside the range of possible values: rely on the interval\n");
    text->failed = text->failed || table.failed;
    tmi_table_clear(&table);
}

#define ANSWERS_SHOWN 16 /* of up to 1024, so that a screen holds them */

static void put_bits(char word[CELL], size_t answer, size_t bits)
{
    for (size_t j = 0; j < bits; j++) word[j] = answer >> j & 1 ? '1' : '0';
    word[bits] = 0;
}

/* The whole answers with the largest shares, the largest first. */
static void put_answers(tmi_text *text, const tmi_tally_results *r)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    const size_t bits = r->tally->bits, cells = (size_t)1 << bits;
    const double *consistent = r->cells + cells;
    size_t order[ANSWERS_SHOWN], shown = 0;
    double rest = 1;
    tmi_text names;
    tmi_text_table table;
    for (size_t i = 0; i < cells; i++) {
        size_t k = shown;
        if (cells > ANSWERS_SHOWN && !(consistent[i] > 0)) continue;
        while (k > 0 && consistent[order[k - 1]] < consistent[i]) k--;
        if (k == ANSWERS_SHOWN) continue;
        if (shown < ANSWERS_SHOWN) shown++;
        memmove(order + k + 1, order + k, (shown - 1 - k) * sizeof *order);
        order[k] = i;
    }
    tmi_text_init(&names);
    tmi_text_put(&names, "Whole answers, one digit per bit in this order: ");
    for (size_t j = 0; j < bits; j++) tmi_text_format(&names, j == 0 ? "%s" : ", %s", r->tally->names[j]);
    tmi_text_put(&names, ".");
    tmi_text_wrap_taken(text, "", "", &names);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, 5, align);
    tmi_table_row(&table, (const char *const[]){"answer", "reports", "estimate", "se", "consistent"});
    for (size_t k = 0; k < shown; k++) {
        const size_t i = order[k];
        const double se = sqrt(fmax(r->covariance[i * cells + i], 0));
        const int decimals = se > 0 ? tmi_decimals_of(se) + 1 : 4;
        char word[CELL], reports[CELL], estimate[CELL], error[CELL], share[CELL];
        put_bits(word, i, bits);
        put_cell(reports, &table, (double)r->tally->cells[i], 0);
        put_cell(estimate, &table, r->cells[i], decimals);
        put_cell(error, &table, se, decimals);
        put_cell(share, &table, consistent[i], decimals > 3 ? decimals : 3);
        tmi_table_row(&table, (const char *const[]){word, reports, estimate, error, share});
        rest -= consistent[i];
    }
    tmi_table_write(text, &table);
    text->failed = text->failed || table.failed;
    tmi_table_clear(&table);
    if (cells > shown)
        tmi_text_format(text, "The other %zu answers together: %.3f. --json has all of them.\n", cells - shown, fmax(rest, 0));
    tmi_text_put(text, "\n");
}

static void say(tmi_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(tmi_lines *lines, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    tmi_lines_add(lines, line);
}

/* What is said of whole reports that are hardly better protected than by the flips alone. Earlier certificates have the words of
 * their time. */
static void put_alike(tmi_lines *lines, const tmi_tally_results *r)
{
    const bool nothing = r->guarantee.anonymous.upper >= r->guarantee.local.upper;
    const tamis_tally *t = r->tally;
    const double alike = tamis_reports_alike(&(tamis_reports){.reports = t->reports,
                                                              .form = TAMIS_REPORT_WHOLE,
                                                              .positions = (int64_t)t->bits,
                                                              .lie_one = t->lie,
                                                              .lie_zero = t->lie_zero});
    char now[TAMIS_DECIMAL], more[64] = "";
    if (!t->cells || r->asked.bounds == TMI_BOUNDS_FIRST) return;
    if (r->asked.bounds == TMI_BOUNDS_SECOND) {
        if (nothing)
            say(lines,
                "Anonymity adds nothing that is proved to whole reports here: too few reports look alike. It does from about 20 "
                "/ "
                "(2 x lie probability)^%zu reports on; or publish the counts of the bits alone.",
                t->bits);
        return;
    }
    if (!(alike < TAMIS_REPORTS_ALIKE)) return;
    tamis_decimal_down(now, alike, 2);
    const double needed = ceil((double)t->reports * TAMIS_REPORTS_ALIKE / alike);
    if (needed <= TAMIS_MAX_REPORTS) snprintf(more, sizeof more, " (about %.0f)", needed);
    say(lines,
        "Anonymity adds %s to whole reports here, because too few of them look alike: number of reports x (sum of the two lie "
        "probabilities)^%zu is %s, and should be at least %d. Fewer bits per report, a larger lie probability or more reports%s "
        "would help; so would the counts of the bits, without --table.",
        nothing ? "nothing that is proved" : "little", t->bits, now, TAMIS_REPORTS_ALIKE, more);
}

void tmi_tally_words(tmi_lines *lines, const tmi_tally_results *r)
{
    char local[TAMIS_DECIMAL], anonymous[TAMIS_DECIMAL], delta[TAMIS_DECIMAL];
    const char *what = r->tally->cells ? "the table of whole reports is" : "the counts are";
    tamis_decimal_up(local, r->guarantee.local.upper, 4);
    tamis_decimal_up(anonymous, r->guarantee.anonymous.upper, 4);
    if (tmi_number_decimal_up(delta, r->asked.delta, NULL) != TAMIS_OK) lines->failed = true;
    say(lines, "Trusting nobody: epsilon %s, delta 0, against anybody who sees a report and knows its sender.", local);
    if (r->tally->weight)
        say(lines,
            "Trusting the anonymiser, who removes the senders: still epsilon %s, for %lld reports. Weighted sums can show who "
            "reported a one, so nothing better is proved.",
            local, (long long)r->tally->reports);
    else
        say(lines,
            "Trusting the anonymiser, who removes the senders: epsilon %s, delta %s, for %lld reports, if only %s published. "
            "The guarantee is weaker if reports are missing or the attacker knows reports of others.",
            anonymous, delta, (long long)r->tally->reports, what);
    put_alike(lines, r);
    say(lines, "The collector's file of reports has only the first guarantee, epsilon %s, if it shows who sent which report.",
        local);
}

void tmi_tally_warnings(tmi_lines *lines, const tmi_tally_results *r)
{
    if (r->asked.promised > r->tally->reports) {
        char promised[TAMIS_DECIMAL], now[TAMIS_DECIMAL];
        tamis_decimal_up(promised, r->guarantee.promised.upper, 4);
        tamis_decimal_up(now, r->guarantee.anonymous.upper, 4);
        say(lines,
            "%lld reports were promised and %lld received: the anonymous epsilon is %s instead of %s. Inform the people who "
            "reported, or do not publish.",
            (long long)r->asked.promised, (long long)r->tally->reports, now, promised);
    }
    if (r->tally->repeated > 0)
        say(lines, "%lld reports were left out because their clients had already reported.", (long long)r->tally->repeated);
}

tamis_status tmi_tally_put_text(tmi_text *text, const tmi_tally_results *r, tamis_error *err)
{
    (void)err;
    tmi_lines lines = {0};
    put_table(text, r);
    tmi_text_put(text, "\n");
    if (r->cells) put_answers(text, r);
    const char *who = r->tally->weight ? "Weighted estimates; intervals from Student's t distribution."
                      : r->asked.population > 0
                          ? "Exact intervals for the population from which the reporters are a simple random sample."
                          : "Exact intervals for a large population from which the reporters were drawn.";
    tmi_lines_add(&lines, who);
    tmi_tally_words(&lines, r);
    tmi_lines_wrap(text, "", "", &lines);
    tmi_tally_warnings(&lines, r);
    tmi_lines_wrap(text, "Warning: ", "", &lines);
    return TAMIS_OK;
}
