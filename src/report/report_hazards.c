/* What NIST SP 800-226 asks of a claim of differential privacy, answered for this release in words; and what the promise means
 * for three readers. */
#include <math.h>
#include <stdio.h>
#include <tamis/experimental/meaning.h>

#include "base/article.h"
#include "num/number.h"
#include "report/report.h"
#include "report/report_words.h"

/* ---- meaning ---- */

/* `picks`: what the reader picks, or nothing. It and `unit` are escaped already. */
static void put_reader(tmi_text *html, const char *who, const char *picks, const char *unit, const tamis_meaning *m)
{
    char odds[TAMIS_DECIMAL], ten[TAMIS_DECIMAL], half[TAMIS_DECIMAL], hit[TAMIS_DECIMAL];
    tmi_text_format(html, "<tr><th scope=row>%s%s", who, picks);
    if (!m) {
        tmi_text_format(html, "<td colspan=4>no separate guarantee: the same as for a sampled %s\n", unit);
        return;
    }
    tamis_decimal_up(odds, m->odds.upper, 3);
    tamis_decimal_up(ten, 100 * m->posterior[1].upper, 3);
    tamis_decimal_up(half, 100 * m->posterior[2].upper, 3);
    tamis_decimal_up(hit, 100 * m->found[1].upper, 3);
    tmi_text_format(html, "<td class=n>%s<td class=\"n p\">%s&nbsp;%%<td class=n>%s&nbsp;%%<td class=n>%s&nbsp;%%\n", odds, ten,
                    half, hit);
}

void tmi_report_meaning(tmi_text *html, const tmi_schedule *s, const tmi_outsider *o)
{
    tamis_meaning sampled, outside;
    tamis_number *eps = NULL, *delta = NULL;
    tmi_text name;
    tmi_text_init(&name);
    tmi_html_text(&name, s->plan->privacy.unit);
    const char *unit = name.failed ? "" : name.bytes;
    if (name.failed) html->failed = true;
    tamis_status status = tamis_meaning_of(&sampled, s->epsilon, s->delta, NULL);
    if (status == TAMIS_OK && o->proved) status = tmi_number_double(&eps, o->epsilon.upper, NULL);
    if (status == TAMIS_OK && o->proved) status = tmi_number_double(&delta, o->delta.upper, NULL);
    if (status == TAMIS_OK && o->proved) status = tamis_meaning_of(&outside, eps, delta, NULL);
    if (status != TAMIS_OK) html->failed = true;
    tmi_text_format(html,
                    "<section class=k><div class=wide tabindex=0><table><caption><h3>What an attacker can learn about one %s, at "
                    "most</h3></caption>\n"
                    "<thead><tr><th scope=col>Who wants to know<th scope=col class=n>Odds grow by a factor of<th scope=col "
                    "class=\"n p\">10&nbsp;%% belief "
                    "becomes<th scope=col class=n>50&nbsp;%% belief becomes<th scope=col class=n>Detected with 5&nbsp;%% false "
                    "positives</thead>\n"
                    "<tbody>\n",
                    unit);
    put_reader(html, "a neighbour who saw the interviewer", "", unit, status == TAMIS_OK ? &sampled : NULL);
    put_reader(html, "a journalist who picks any sampled ", unit, unit, status == TAMIS_OK ? &sampled : NULL);
    put_reader(html, "an outsider who does not know who was sampled", "", unit,
               status == TAMIS_OK && o->proved ? &outside : NULL);
    tmi_text_format(html,
                    "</table></div>\n<p class=\"soft\">Compared with what the attacker would believe if that %s's answers had "
                    "%s, whatever is known about all the others.",
                    unit, s->plan->privacy.setting->may_be_absent ? "not been used" : "been replaced by any others");
    if (status == TAMIS_OK && sampled.except.upper > 0) {
        char except[TAMIS_DECIMAL];
        tamis_decimal_up(except, sampled.except.upper, 3);
        tmi_text_format(html, " The bounds on odds and beliefs may fail with probability at most %s.", except);
    }
    tmi_text_put(html, "</p></section>\n");
    tmi_text_clear(&name);
    tmi_number_frees(&eps, &delta, NULL);
}

/* ---- hazards ---- */

static void put_answer(tmi_text *html, const char *question, tmi_text *answer)
{
    tmi_text_format(html, "<dt>%s</dt><dd>", question);
    if (answer->failed) html->failed = true;
    else tmi_html_text(html, answer->bytes);
    tmi_text_put(html, "</dd>\n");
    tmi_text_clear(answer);
}

static void put_delta(tmi_text *t, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    if (tmi_number_sign(s->delta) == 0) {
        tmi_text_put(t, "Delta is 0: the guarantee holds without exception.");
        return;
    }
    tmi_text_put(t, "Delta is ");
    tmi_text_number_up(t, s->delta);
    double n = (double)d->sample;
    if (n > 0 && tmi_number_nearest(s->delta) * n > 1)
        tmi_text_put(t, ", which is more than one over the sample size: too large to protect every single unit.");
    else if (n > 0)
        tmi_text_format(t, ", %sbelow one over the sample size.", tmi_number_nearest(s->delta) * n < 0.01 ? "far " : "");
    else tmi_text_put(t, "; compare it with one over the number of sampled units.");
}

void tmi_report_hazards(tmi_text *html, const tmi_schedule *s)
{
    const tmi_plan_privacy *p = &s->plan->privacy;
    const tmi_plan_postprocess *post = &s->plan->postprocess;
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_put(html, "<h2>The hazards of NIST SP 800-226</h2>\n<dl>\n");
    tmi_text_format(&t, "The guarantee is for one %s%s. If several of them belong to one person, that person is protected less.",
                    p->unit, p->id ? ", identified by a column" : ", one row each");
    put_answer(html, "Is the unit of privacy smaller than a person?", &t);
    tmi_text_format(&t,
                    "At most %lld row%s of %s %s count%s; every value is clamped to the bounds in the plan, and every weight to "
                    "a public bound.",
                    (long long)(p->rows_per_unit > 1 ? p->rows_per_unit : 1), p->rows_per_unit > 1 ? "s" : "",
                    tmi_article(p->unit), p->unit, p->rows_per_unit > 1 ? "" : "s");
    put_answer(html, "Is a contribution unbounded?", &t);
    tmi_text_put(&t, "Bounds, grids, groups and budgets are in the plan. tamis takes none of them from the data. That the plan "
                     "was written without looking at the data is declared, not checked.");
    put_answer(html, "Do bounds or tuning depend on the data?", &t);
    put_delta(&t, s);
    put_answer(html, "Is delta too large?", &t);
    tmi_text_put(
        &t, "Yes. All releases of this sample share one account in one ledger. The charge is stored durably before the data are "
            "read, and nothing is released beyond the budget. A second ledger for the same people would not be noticed.");
    put_answer(html, "Are repeated releases accounted for?", &t);
    tmi_text_put(&t, "Public and the same for all neighbours: ");
    tmi_describe_design_by(&t, &s->plan->design, s->plan->design.by ? tmi_column_label(s->plan->design.by) : NULL);
    tmi_text_put(&t, ". What these numbers reveal by themselves is not covered.");
    put_answer(html, "Are there invariants?", &t);
    tmi_text_put(&t, "No. Sums and noise are exact integers, and the noise is drawn exactly from its distribution with random "
                     "bits from the operating system.");
    put_answer(html, "Is noise computed in floating point?", &t);
    tmi_text_put(&t, "All noise is drawn before the first value is read. Only the operator sees how long the query takes; no "
                     "duration is published.");
    put_answer(html, "Can timing be observed?", &t);
    tmi_text_put(&t, "Values outside the bounds count as the nearest bound, which biases totals and means towards the middle; "
                     "intervals are for "
                     "the clamped values.");
    if (post->nonnegative) tmi_text_put(&t, " Negative numbers were set to 0, which biases small groups upwards.");
    if (post->consistent) tmi_text_put(&t, " Margins add up: all results are read from the same noisy tables.");
    if (s->calibrated)
        tmi_text_put(&t, s->control_number ? " Numbers were calibrated to public totals."
                                           : " Numbers were calibrated to public counts.");
    tmi_text_put(&t, " Post-processing costs no privacy.");
    put_answer(html, "What bias do clipping and post-processing cause?", &t);
    tmi_text_format(&t, "No synthetic data are published, only the noisy tables%s and what is computed from them.",
                    s->quantile_task_count > 0 ? ", the chosen quantiles" : "");
    put_answer(html, "Are synthetic data published without protection?", &t);
    tmi_text_put(&t, "The operator who runs tamis sees the data and is trusted; readers of this folder are not.");
    put_answer(html, "Who is trusted?", &t);
    tmi_text_put(html, "</dl>\n");
}
