#include "report/specification.h"

#include <stdio.h>

#include "base/table.h"
#include "report/promise.h"

/* Pure privacy: one number bounds all sets of outputs. Zero-concentrated privacy: all orders. */
static const char pure[] = "largest |log(P(S) / Q(S))| over all sets S of outputs";
static const char concentrated[] = "largest Renyi divergence of order a of P from Q, divided by a, over all a above 1";

static const char *divergence(const tmi_schedule *schedule) { return schedule->gaussian ? concentrated : pure; }

void tmi_put_specification(tmi_json_out *out, const tmi_schedule *schedule)
{
    const tamis_setting *s = schedule->plan->privacy.setting;
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "domain", s->domain);
    tmi_json_add_string(out, "multiverse", s->universes);
    tmi_json_add_open(out, "input_premetric", '{');
    tmi_json_add_string(out, "counts", "steps from one dataset to the other");
    tmi_json_add_string(out, "step", s->neighbours);
    tmi_json_close(out, '}');
    tmi_json_add_string(out, "divergence", divergence(schedule));
    tmi_json_add_open(out, "budget", '{');
    tmi_add_exact(out, schedule->gaussian ? "rho" : "epsilon", schedule->spent);
    if (!schedule->gaussian) tmi_json_add_string(out, "delta", "0");
    tmi_json_close(out, '}');
    tmi_json_key(out, "invariants");
    tmi_put_design(out, schedule);
    tmi_json_close(out, '}');
}

static void write_part(tmi_text *text, const char *label, const char *words)
{
    char first[16];
    snprintf(first, sizeof first, "  %-12s", label);
    tmi_text_wrap(text, first, "              ", words);
}

void tmi_write_specification(tmi_text *text, const tmi_schedule *schedule)
{
    const tamis_setting *s = schedule->plan->privacy.setting;
    tmi_text p;
    tmi_text_init(&p);
    tmi_text_put(text, "\nThe guarantee as a specification\n");
    tmi_text_format(&p, "%s; %s", s->domain, s->universes);
    if (!p.failed) write_part(text, "compared", p.bytes);
    write_part(text, "one step", s->neighbours);
    write_part(text, "measured by", divergence(schedule));
    bool failed = p.failed;
    tmi_text_clear(&p);
    tmi_text_put(&p, schedule->gaussian ? "rho " : "epsilon ");
    tmi_text_number(&p, schedule->spent);
    tmi_text_put(&p, schedule->gaussian ? " per step" : " per step, delta 0");
    if (!p.failed) write_part(text, "budget", p.bytes);
    failed = failed || p.failed;
    tmi_text_clear(&p);
    tmi_describe_design(&p, &schedule->plan->design);
    tmi_text_put(&p, ": the same in all of them");
    if (!p.failed) write_part(text, "fixed", p.bytes);
    if (failed || p.failed) text->failed = true;
    tmi_text_clear(&p);
}
