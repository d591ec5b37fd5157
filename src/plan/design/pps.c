/* A fixed number of units, each with its own probability.
 *
 * For an outsider's promise: as poisson. With a fixed sample size that is right because a record that is not there is one that
 * adds nothing, and where there is a coupling that exchanges one unit; methods without one are refused. */
#include "base/memory.h"
#include "plan/design_fields.h"
#include "survey/design/method.h"

static void read_method(tmi_reader *reader, const tmi_value *value, void *target)
{
    const char *names[TMI_PPS_METHODS];
    size_t i;
    for (i = 0; i < TMI_PPS_METHODS; i++) names[i] = tamis_method_name(tmi_method_pps(i));
    if (tmi_read_word(reader, value, &i, names, TMI_PPS_METHODS)) ((tmi_drawn *)target)->design->method = tmi_method_pps(i);
}

static const tmi_plan_key keys[] = {{.name = "method", .read = read_method, .required = "method: sampford"},
                                    {TMI_KEY_PROBABILITY},
                                    {TMI_KEY_FRAME},
                                    {0}};
static const tmi_plan_key sizes[] = {{TMI_KEY_SAMPLE}, {TMI_KEY_PUBLIC_POPULATION}, {0}};

static void write(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_put_text_field(out, "probability", d->probability);
    tmi_put_text_field(out, "frame", tmi_last_name(d->frame));
    tmi_put_text_field(out, "method", tamis_method_name(d->method));
    tmi_put_design_sizes(out, d, s);
}

/* Whether a method has a proved coupling is asked of the smallest sample that it can draw. */
static tamis_status check_method(tamis_method method, tamis_error *err)
{
    tamis_design *design = NULL;
    tamis_exposure *list = NULL;
    tamis_number *half = NULL;
    size_t count = 0;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&half, 1, 2, err));
    TMI_TRY(tamis_design_pps(&design, method, (const tamis_number *const[]){half, half}, 2, err));
    TMI_TRY(tamis_design_exposures(&list, &count, design, err));
    if (!list[0].theorem)
        status = tmi_fail(err, TAMIS_REFUSED, "design.pps: %s; an outsider has the guarantee of a sampled person",
                          list[0].reason);

done:
    tmi_free(list);
    tamis_design_free(design);
    tamis_number_free(half);
    return status;
}

static tamis_status knows_law(const tmi_plan_design *d, const struct tmi_frame_facts *frame, tamis_error *err)
{
    tamis_status status = tmi_needs_frame(d, frame, err);
    return status == TAMIS_OK ? check_method(d->method, err) : status;
}

const tmi_plan_kind tmi_plan_kind_pps = {
    .name = "pps",
    .words = "sample with unequal probabilities",
    .example = "{method: sampford, probability: inclusion_probability, sample: 50}",
    .example_sizes = TMI_EXAMPLE_STRATUM,
    .keys = keys,
    .sizes = sizes,
    .write = write,
    .fixed_size = true,
    .unequal = true,
    .law = &tmi_poisson_form,
    .theorem = "strongly_rayleigh",
    .knows_law = knows_law,
};
