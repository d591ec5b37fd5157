/* The accounts of a ledger for people. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"
#include "base/table.h"
#include "ledger/show/show.h"
#include "num/bound.h"
#include "num/number.h"

/* Labels share the left margin; one that is longer than the widest has its words behind it. */
enum { NARROWEST_LABEL = 15, WIDEST_LABEL = 40 };

/* "sampled household", the longest label. */
static void put_sampled(tmi_text *text, const tmi_shown_account *x)
{
    tmi_text_put(text, "sampled ");
    tmi_text_shown(text, x->unit);
}

/* The columns of the labels of an account. */
static int label_width(tmi_text *text, const tmi_shown_account *x)
{
    tmi_text name;
    tmi_text_init(&name);
    put_sampled(&name, x);
    const size_t columns = name.failed ? 0 : tmi_text_columns(name.bytes);
    if (name.failed) text->failed = true;
    tmi_text_clear(&name);
    return columns > WIDEST_LABEL || columns < NARROWEST_LABEL ? NARROWEST_LABEL : (int)columns;
}

static void write_line(tmi_text *text, int width, const char *name, const char *words)
{
    tmi_text_format(text, "  %-*s %s\n", width, name, words);
}

/* As write_line, for a label that need not be ASCII. */
static void write_sample(tmi_text *text, int width, const tmi_shown_account *x)
{
    tmi_text name;
    tmi_text_init(&name);
    put_sampled(&name, x);
    if (name.failed) {
        text->failed = true;
    } else {
        const int columns = (int)tmi_text_columns(name.bytes);
        tmi_text_format(text, "  %s%*s %s\n", name.bytes, columns < width ? width - columns : 0, "", x->sample.words);
    }
    tmi_text_clear(&name);
}

/* The upper ends of an epsilon and a delta. */
static const char *say_loss(tamis_spending *s, tamis_bound epsilon, tamis_bound delta)
{
    *s = (tamis_spending){0};
    tmi_say_end(s, "epsilon", epsilon.upper, true);
    if (delta.upper > 0) tmi_say_end(s, "delta", delta.upper, true);
    return s->words;
}

static void write_entries(tmi_text *text, const tamis_ledger *ledger, const tmi_shown_account *x)
{
    static const tmi_align align[] = {TMI_RIGHT, TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_LEFT, TMI_LEFT};
    const bool waves = x->a->wave_count > 1 || x->a->waves[0].wave.name; /* else there is no column for them */
    tmi_text_table table;
    tmi_table_init(&table, waves ? 7 : 6, align);
    tmi_table_row(&table, waves ? (const char *const[]){"entry", "time", "release", "state", "charge", "hash", "wave"}
                                : (const char *const[]){"entry", "time", "release", "state", "charge", "hash"});
    for (size_t i = 0; i < ledger->book.charge_count; i++) {
        const tmi_ledger_charge *c = &ledger->book.charges[i];
        tmi_text cells[7] = {0};
        if (c->account != x->place) continue;
        const char *wave = x->a->waves[c->wave].wave.name;
        tmi_text_format(&cells[0], "%" PRId64, c->number);
        tmi_text_put(&cells[1], c->time);
        tmi_text_shown(&cells[2], c->release);
        tmi_text_put(&cells[3], tmi_shown_state(c));
        tmi_coin_words(&cells[4], &c->amount, true);
        tmi_text_format(&cells[5], "%.8s", c->hash);
        if (wave) tmi_text_shown(&cells[6], wave);
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
}

/* Why charges were voided, and what can be done about those that were never published. */
static void write_remarks(tmi_text *text, const tamis_ledger *ledger, size_t place)
{
    tmi_text lines;
    tmi_text_init(&lines);
    for (size_t i = 0; i < ledger->book.charge_count; i++) {
        const tmi_ledger_charge *c = &ledger->book.charges[i];
        if (c->account != place || !c->voided) continue;
        tmi_text_format(&lines, "Entry %" PRId64 " was voided on %s: ", c->number, c->voided_time);
        tmi_text_shown(&lines, c->void_reason);
        tmi_text_put(&lines, "\n");
    }
    tmi_ledger_unpublished(&lines, ledger, place, 0);
    if (lines.failed) text->failed = true;
    for (const char *line = lines.bytes; !lines.failed && line && *line;) {
        const size_t length = strcspn(line, "\n");
        char *one = tmi_copy_text(line, length);
        if (one) tmi_text_wrap(text, "  ", "    ", one);
        else text->failed = true;
        tmi_free(one);
        line += length + 1;
    }
    tmi_text_clear(&lines);
}

/* The worst case, and then each stratum. */
static void write_outsider(tmi_text *text, int width, const tmi_shown_account *x)
{
    const tamis_amplified *o = &x->outsider.amplified;
    tamis_spending loss;
    write_line(text, width, "outsider", say_loss(&loss, o->eps, o->delta));
    for (size_t i = 0; o->count > 1 && i < o->count; i++) {
        const tamis_amplified_part *p = &o->parts[i];
        const char *name = tmi_shown_stratum(x, p->stratum);
        tmi_text_put(text, "    ");
        tmi_text_shown(text, name ? name : p->take_all ? "always drawn" : "others");
        if (name && p->take_all) tmi_text_put(text, ", always drawn");
        tmi_text_put(text, ": ");
        tmi_text_format(text, "%s\n", say_loss(&loss, p->eps, p->delta));
    }
}

/* A line that may be too long for one; it is cleared. */
static void write_long(tmi_text *text, int width, const char *name, tmi_text *line)
{
    char first[WIDEST_LABEL + 8], rest[WIDEST_LABEL + 8];
    snprintf(first, sizeof first, "  %-*s ", width, name);
    snprintf(rest, sizeof rest, "  %-*s ", width, "");
    tmi_text_wrap_taken(text, first, rest, line);
}

/* Why there is a second account over the same source. */
static void write_reason(tmi_text *text, int width, const char *reason)
{
    tmi_text shown;
    tmi_text_init(&shown);
    tmi_text_shown(&shown, reason);
    write_long(text, width, "new account", &shown);
}

static void write_raise(tmi_text *text, int width, const tmi_raise *raise)
{
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(&line, "from ");
    tmi_coin_words(&line, &raise->from, false);
    tmi_text_put(&line, " to ");
    tmi_coin_words(&line, &raise->to, false);
    tmi_text_format(&line, " on %s (entry %" PRId64 "): ", raise->time, raise->number);
    tmi_text_shown(&line, raise->reason);
    write_long(text, width, "raised", &line);
}

/* Of each rotation group, of which the lines above are the worst. */
static tamis_status write_groups(tmi_text *text, const tmi_shown_account *x, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < x->a->losses.count; i++) {
        const tmi_ledger_group *g = &x->a->losses.groups[i];
        tamis_spending spent, left;
        TMI_TRY(tmi_losses_spending_of(&spent, &left, &x->a->losses, &x->a->budget, i, err));
        tmi_text_put(text, x->a->budget.strata.count > 0 ? "    stratum " : "    group ");
        tmi_text_shown(text, g->name);
        tmi_text_format(text, ": spent %s; left %s\n", spent.words, left.words);
    }
done:
    return status;
}

tamis_status tmi_show_account(tmi_text *text, const tamis_ledger *ledger, const tmi_shown_account *x, tamis_error *err)
{
    const int width = label_width(text, x);
    tamis_status status;
    tmi_text_shown(text, x->a->survey);
    tmi_text_put(text, "\n");
    if (x->a->new_account) write_reason(text, width, x->a->new_account);
    write_line(text, width, "budget", x->budget.words);
    write_line(text, width, "spent", x->spent.words);
    write_line(text, width, "left", x->left.words);
    for (size_t i = 0; i < x->a->raise_count; i++) write_raise(text, width, &x->a->raises[i]);
    TMI_TRY(write_groups(text, x, err));
    write_sample(text, width, x);
    if (x->outsider.proved) {
        write_outsider(text, width, x);
    } else {
        tmi_text reason;
        tmi_text_init(&reason);
        tmi_text_format(&reason, "no number: %s", x->outsider.reason ? x->outsider.reason : "the ledger names no design");
        write_long(text, width, "outsider", &reason);
    }
    tmi_text_put(text, "\n");
    write_entries(text, ledger, x);
    write_remarks(text, ledger, x->place);
done:
    return status;
}
