/* How much may be lost, by one release and by all of a sample: epsilon; epsilon and delta; or rho. And in which book that is
 * kept. One budget fixes one kind of loss for the account; other kinds are added where a theorem allows it.            */
#include <stddef.h>
#include <tamis/experimental/profile.h>

#include "base/memory.h"
#include "num/number.h"
#include "plan/sections.h"

static bool read_positive(tmi_reader *reader, const tmi_value *value, tamis_number **number, const char *what,
                          const char *example)
{
    if (!tmi_read_exact(reader, value, number, example)) return false;
    if (tmi_number_sign(*number) > 0) return true;
    tmi_complain(reader, value, "expected %s larger than 0, e.g. %s", what, example);
    return false;
}

static void read_loss(tmi_reader *reader, const tmi_value *value, tamis_number **number, const char *what, const char *example)
{
    if (read_positive(reader, value, number, what, example) && tmi_number_compare_int(*number, TAMIS_MAX_LOSS) > 0)
        tmi_complain(reader, value, "expected %s of at most %d, e.g. %s", what, TAMIS_MAX_LOSS, example);
}

void tmi_read_epsilon(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_loss *loss = target;
    loss->line = tmi_value_place(value).line;
    loss->column = tmi_value_place(value).column;
    read_loss(reader, value, &loss->epsilon, "an epsilon", "1");
}

void tmi_read_rho(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_loss *loss = target;
    loss->line = tmi_value_place(value).line;
    loss->column = tmi_value_place(value).column;
    read_loss(reader, value, &loss->rho, "a rho", "0.5");
}

void tmi_read_delta(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_loss *loss = target;
    if (read_positive(reader, value, &loss->delta, "a delta", "1e-6") && tmi_number_compare_int(loss->delta, 1) >= 0)
        tmi_complain(reader, value, "expected a delta below 1, e.g. 1e-6");
}

void tmi_read_outsider(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_loss *loss = target;
    loss->line = tmi_value_place(value).line;
    loss->column = tmi_value_place(value).column;
    read_loss(reader, value, &loss->outsider, "an epsilon", "0.5");
}

void tmi_read_insider(tmi_reader *reader, const tmi_value *value, void *target)
{
    read_loss(reader, value, &((tmi_plan_loss *)target)->insider, "an epsilon", "5");
}

void tmi_check_loss(tmi_reader *reader, const tmi_value *map, const tmi_plan_loss *loss)
{
    if (map->kind != TMI_VALUE_MAP) return;
    const tmi_value *epsilon = tmi_value_get(map, "epsilon"), *delta = tmi_value_get(map, "delta"),
                    *rho = tmi_value_get(map, "rho"), *outsider = tmi_value_get(map, "outsider"),
                    *insider = tmi_value_get(map, "insider");
    if (outsider || insider) {
        if (epsilon || delta || rho)
            tmi_complain_key(reader, outsider ? outsider : insider,
                             "expected either outsider and insider, or epsilon, delta or rho: a target for outsiders is a pure "
                             "epsilon, and each stratum's own epsilon follows from it");
        else if (!insider)
            tmi_complain_key(
                reader, outsider,
                "expected insider with it: the most that a sampled person may lose, e.g. {outsider: 0.5, insider: 5}");
        else if (!outsider)
            tmi_complain_key(reader, insider,
                             "expected outsider with it: the epsilon of somebody of whom nobody knows whether they were sampled, "
                             "e.g. {outsider: 0.5, insider: 5}");
        else if (loss->outsider && loss->insider && tmi_number_compare(loss->insider, loss->outsider) < 0)
            tmi_complain(reader, insider,
                         "expected at least outsider: outsiders never lose more than those who were sampled, so that the target "
                         "would have no effect, e.g. {outsider: 0.5, insider: 5}");
    } else if (rho && (epsilon || delta)) {
        tmi_complain_key(reader, rho, "expected either rho or epsilon and delta, not both");
    } else if (delta && !epsilon) {
        tmi_complain_key(reader, delta, "expected an epsilon with it, e.g. {epsilon: 1, delta: 1e-6}");
    } else if (!epsilon && !rho) {
        tmi_complain_key(reader, map, "expected the key epsilon, e.g. epsilon: 1");
    }
}

void tmi_read_budget(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "epsilon", .read = tmi_read_epsilon}, {.name = "delta", .read = tmi_read_delta},
        {.name = "rho", .read = tmi_read_rho},         {.name = "outsider", .read = tmi_read_outsider},
        {.name = "insider", .read = tmi_read_insider},
    };
    tamis_plan *plan = target;
    tmi_read_map(reader, value, keys, 5, "{epsilon: 4}", &plan->budget);
    tmi_check_loss(reader, value, &plan->budget);
}

static void read_ledger_file(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    tmi_read_path(reader, value, plan->name, &plan->ledger, "schools.ledger");
}

void tmi_read_ledger(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "file", .read = read_ledger_file},
        {.name = "existing", .plain = tmi_plain_yes_no, .field = offsetof(tamis_plan, ledger_exists)},
    };
    if (value->kind == TMI_VALUE_MAP) tmi_read_map(reader, value, keys, 2, "{file: schools.ledger, existing: yes}", target);
    else read_ledger_file(reader, value, target);
}

/* ---- after the noise ---- */

static void read_cv(tmi_reader *reader, const tmi_value *value, void *target)
{
    read_positive(reader, value, target, "a cv", "0.3");
}

static void read_units(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_whole(reader, value, target, 1, TMI_MAX_POPULATION, "10");
}

static void read_rule(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "cv_above", .read = read_cv, .field = offsetof(tmi_plan_rule, cv_above)},
        {.name = "units_below", .read = read_units, .field = offsetof(tmi_plan_rule, units_below)},
    };
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, 2, "{cv_above: 0.3}", target);
    if (reader->count == before && value->count == 0)
        tmi_complain(reader, value, "expected a rule, e.g. {cv_above: 0.3} or {units_below: 10}");
}

void tmi_read_postprocess(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "nonnegative", .plain = tmi_plain_yes_no, .field = offsetof(tmi_plan_postprocess, nonnegative)},
        {.name = "consistent", .plain = tmi_plain_yes_no, .field = offsetof(tmi_plan_postprocess, consistent)},
        {.name = "caution", .read = read_rule, .field = offsetof(tmi_plan_postprocess, rules[TMI_CAUTION])},
        {.name = "unreliable", .read = read_rule, .field = offsetof(tmi_plan_postprocess, rules[TMI_UNRELIABLE])},
        {.name = "suppress", .read = read_rule, .field = offsetof(tmi_plan_postprocess, rules[TMI_SUPPRESS])},
    };
    tmi_read_map(reader, value, keys, 5, "{nonnegative: yes}", &((tamis_plan *)target)->postprocess);
}
