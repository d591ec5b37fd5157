/* typical: public guesses of sizes, means and shares. They serve previews and the split of the budget and nothing else, so that a
 * wrong one costs accuracy and never privacy. A guess of what the plan already says is refused: one of the two would be idle. */
#include <stddef.h>

#include "base/memory.h"
#include "plan/design_fields.h"

/* ---- of the design ---- */

typedef enum range { COUNT, SIZE, SPREAD, SHARE, CORRELATION } range;

static const struct {
    const char *example, *expected;
} ranges[] = {
    [COUNT] = {"50000", "a number from 1 to 2^40"},
    [SIZE] = {"12", "a number from 1 to 2^40"},
    [SPREAD] = {"4", "a number from 0 to 2^40"},
    [SHARE] = {"0.6", "a share above 0 and at most 1"},
    [CORRELATION] = {"0.05", "an intraclass correlation from 0 to 1"},
};

static void read_guess(tmi_reader *reader, const tmi_value *value, void *field, const tmi_plan_key *key)
{
    const range r = (range)key->as;
    tamis_number **number = field;
    if (!tmi_read_exact(reader, value, number, ranges[r].example)) return;
    const int64_t most = r == SHARE || r == CORRELATION ? 1 : TMI_MAX_POPULATION;
    const bool counts = r == COUNT || r == SIZE;
    const bool low = counts ? tmi_number_compare_int(*number, 1) < 0
                            : tmi_number_sign(*number) < 0 || (r == SHARE && tmi_number_sign(*number) == 0);
    if (low || tmi_number_compare_int(*number, most) > 0)
        tmi_complain(reader, value, "expected %s, e.g. %s", ranges[r].expected, ranges[r].example);
}

#define GUESS(key, member, range) .name = key, .plain = read_guess, .field = offsetof(tmi_plan_typical, member), .as = range

/* A mean size, or {mean, sd}. */
static void read_cluster(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {{GUESS("mean", cluster, SIZE), .required = "mean: 12"},
                                        {GUESS("sd", cluster_sd, SPREAD)}};
    if (value->kind == TMI_VALUE_MAP) tmi_read_map(reader, value, keys, 2, "{mean: 12, sd: 4}", target);
    else read_guess(reader, value, &((tmi_plan_typical *)target)->cluster, &keys[0]);
}

/* A mean number, or {mean, sd}. */
static void read_rows(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {{GUESS("mean", rows, SIZE), .required = "mean: 2.5"}, {GUESS("sd", rows_sd, SPREAD)}};
    if (value->kind == TMI_VALUE_MAP) tmi_read_map(reader, value, keys, 2, "{mean: 2.5, sd: 1}", target);
    else read_guess(reader, value, &((tmi_plan_typical *)target)->rows, &keys[0]);
}

void tmi_read_typical(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {GUESS("population", population, COUNT)},  {GUESS("sample", sample, COUNT)},
        {.name = "cluster", .read = read_cluster}, {GUESS("taken", taken, SIZE)},
        {.name = "rows", .read = read_rows},       {GUESS("response", response, SHARE)},
        {GUESS("icc", icc, CORRELATION)},
    };
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, "{population: 50000, sample: 2000}",
                 &((tamis_plan *)target)->design.typical);
}

bool tmi_guesses_population(const tmi_plan_design *d) { return d->population == 0 && !d->frame; }

bool tmi_guesses_sample(const tmi_plan_design *d)
{
    return d->kind->only_weights || (d->kind->unequal && !d->kind->fixed_size && !d->frame);
}

bool tmi_guesses_cluster(const tmi_plan_design *d)
{
    bool alike = d->largest > 0 && d->smallest == d->largest;
    return d->cluster && !alike;
}

bool tmi_guesses_taken(const tmi_plan_design *d) { return d->kind->staged && d->second_take == 0 && !d->second_rate; }

/* What nothing is asked about. */
void tmi_check_typical(tmi_reader *reader, const tmi_value *design, const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    const bool rows = tmi_counts_rows(plan);
    const struct {
        const char *key;
        bool asked;
        const char *why;
    } guesses[] = {
        {"population", tmi_guesses_population(d), "not needed: the design gives the population, or its frame does"},
        {"sample", tmi_guesses_sample(d), "not needed: the design gives the sample, or what it follows from"},
        {"cluster", tmi_guesses_cluster(d), "not needed: the design has no clusters, or gives the size of each"},
        {"taken", tmi_guesses_taken(d),
         "not needed: only two_stage with a column as sample leaves open how many units are taken per "
         "cluster"},
        {"rows", rows, "not needed: a unit has several rows only with rows_per_unit above 1"},
        {"response", d->nonresponse, "not needed without nonresponse: yes"},
        {"icc", d->cluster || rows, "not needed: units are drawn one by one, without clusters"},
    };
    const tmi_value *typical = design && design->kind == TMI_VALUE_MAP ? tmi_value_get(design, "typical") : NULL;
    if (!typical || typical->kind != TMI_VALUE_MAP) return;
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        const tmi_value *guess = tmi_value_get(typical, guesses[i].key);
        if (guess && !guesses[i].asked) tmi_complain_key(reader, guess, "%s", guesses[i].why);
    }
    const tmi_value *cluster = tmi_value_get(typical, "cluster"), *sample = tmi_value_get(typical, "sample"),
                    *each = tmi_value_get(typical, "rows");
    const tmi_plan_typical *t = &d->typical;
    if (cluster && t->cluster && d->largest > 0 &&
        (tmi_number_compare_int(t->cluster, d->smallest) < 0 || tmi_number_compare_int(t->cluster, d->largest) > 0))
        tmi_complain(reader, cluster, "expected a mean between smallest (%lld) and largest (%lld)", (long long)d->smallest,
                     (long long)d->largest);
    if (each && rows && t->rows && tmi_number_compare_int(t->rows, plan->privacy.rows_per_unit) > 0)
        tmi_complain(reader, each, "expected a mean of at most rows_per_unit (%lld)", (long long)plan->privacy.rows_per_unit);
    const bool more = t->sample && (t->population ? tmi_number_compare(t->sample, t->population) > 0
                                                  : d->population > 0 && tmi_number_compare_int(t->sample, d->population) > 0);
    if (sample && more) tmi_complain(reader, sample, "expected a sample no larger than the population");
}

/* ---- of columns ---- */

static void read_mean(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_column *column = target;
    if (tmi_read_exact(reader, value, &column->typical, "600") && column->from && column->to &&
        tmi_number_compare(column->from, column->to) < 0 &&
        (tmi_number_compare(column->typical, column->from) < 0 || tmi_number_compare(column->typical, column->to) > 0))
        tmi_complain(reader, value, "expected a number between from and to");
}

static void read_sd(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_column *column = target;
    if (tmi_read_exact(reader, value, &column->typical_sd, "120") && tmi_number_sign(column->typical_sd) <= 0)
        tmi_complain(reader, value, "expected a standard deviation above 0, e.g. 120");
}

static void read_share(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_column *column = target;
    if (tmi_read_exact(reader, value, &column->typical_share, "0.5") &&
        (tmi_number_sign(column->typical_share) <= 0 || tmi_number_compare_int(column->typical_share, 1) > 0))
        tmi_complain(reader, value, "expected a share above 0 and at most 1, e.g. 0.5");
}

/* No law on [from, to] with this mean has a larger variance than (mean - from) (to - mean). */
static void check_sd(tmi_reader *reader, const tmi_value *value, const tmi_plan_column *column)
{
    if (!column->from || !column->to || !column->typical || !column->typical_sd) return;
    double from = tmi_number_nearest(column->from), to = tmi_number_nearest(column->to),
           mean = tmi_number_nearest(column->typical);
    double sd = tmi_number_nearest(column->typical_sd);
    if (mean >= from && mean <= to && sd * sd > (mean - from) * (to - mean))
        tmi_complain(reader, value,
                     "expected a smaller standard deviation: with this mean, and values between from and to, it is at most %.4g",
                     __builtin_sqrt((mean - from) * (to - mean)));
}

void tmi_read_typical_number(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    static const tmi_plan_key keys[] = {{.name = "mean", .read = read_mean},
                                        {.name = "sd", .read = read_sd},
                                        {.name = "share", .read = read_share}};
    if (value->kind != TMI_VALUE_MAP) {
        read_mean(reader, value, column);
        return;
    }
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, 3, "{mean: 600, sd: 120}", column);
    const tmi_value *sd = tmi_value_get(value, "sd"), *share = tmi_value_get(value, "share");
    if (!tmi_value_get(value, "mean") && (sd || !share)) tmi_complain_key(reader, value, "expected the key mean, e.g. mean: 600");
    if (reader->count == before && sd) check_sd(reader, sd, column);
    if (share && column->missing != TMI_LEAVE_OUT)
        tmi_complain(reader, share, "expected no share of units with a value, since `missing` says that all have one");
}

void tmi_read_typical_shares(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    tamis_number *sum = NULL;
    size_t before = reader->count, silent = 0;
    if (value->kind != TMI_VALUE_MAP || value->count == 0) {
        tmi_complain(reader, value, "expected a map from values to their shares, e.g. {\"Yes\": 0.3}");
        return;
    }
    column->shares = tmi_alloc(column->value_count, sizeof *column->shares);
    if (!column->shares || tmi_number_ratio(&sum, 0, 1, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_value *item = tmi_value_first(value); item && !reader->no_memory; item = tmi_value_next(item)) {
        if (tmi_value_get(value, tmi_value_key(item)) != item) continue; /* complained about already */
        int32_t code = tmi_read_key_code(reader, item, column);
        if (code < 0) continue;
        tamis_number **share = &column->shares[code], *next = NULL;
        if (!tmi_read_exact(reader, item, share, "0.3")) continue;
        if (tmi_number_sign(*share) <= 0 || tmi_number_compare_int(*share, 1) > 0)
            tmi_complain(reader, item, "expected a share above 0 and at most 1, e.g. 0.3");
        if (tmi_number_add(&next, sum, *share, NULL) != TAMIS_OK) reader->no_memory = true;
        tamis_number_free(sum);
        sum = next;
    }
    if (reader->count == before && sum && tmi_number_compare_int(sum, 1) > 0)
        tmi_complain(reader, value, "expected shares that add up to at most 1");
    while (silent < column->value_count && column->shares[silent]) silent++;
    if (reader->count == before && sum && silent < column->value_count && tmi_number_compare_int(sum, 1) == 0)
        tmi_complain(reader, value, "expected shares that add up to less than 1, since %.100s has none and gets the rest",
                     column->values[silent]);
    tamis_number_free(sum);
}
