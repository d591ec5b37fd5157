/* A kind of design as a plan declares it: one file in this folder and one row, which also says what the schedule, the estimates,
 * the report and the certificate need to know of it. They ask the row and never which row it is, so that a new kind is a new file
 * and a line in kinds.c.
 *
 * How samples are drawn, and the probabilities and exposures that follow, are in survey/design/.                     */
#ifndef TMI_PLAN_DESIGN_KIND_H
#define TMI_PLAN_DESIGN_KIND_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/experimental/survey.h>

#include "base/value/json.h"
#include "survey/design/form.h"

typedef struct tmi_plan_design tmi_plan_design;
typedef struct tmi_plan_stratum tmi_plan_stratum;
struct tmi_frame_facts;
struct tmi_plan_key;
struct tmi_reader;

typedef struct tmi_plan_kind tmi_plan_kind;

struct tmi_plan_kind {
    const char *name;  /* its key in a plan: "srs" */
    const char *words; /* in a sentence: "simple random sample" */

    /* How it is read. Without strata its keys and sizes are in one map; a stratified design has the keys under `within` and the
     * sizes under the name of each stratum. Both lists end with a row without a name and are read into a tmi_drawn. */
    const char *example;
    const char *example_sizes; /* of a stratum */
    const struct tmi_plan_key *keys, *sizes;
    bool sizes_inside; /* without strata the sizes are in the map of one of the keys */
    void (*check)(struct tmi_reader *reader, const tmi_value *map, const tmi_plan_design *design); /* NULL: no check */

    /* How it is written, as a plan: the keys of its map, with the sizes of the stratum unless it is NULL. */
    void (*write)(tmi_json_out *out, const tmi_plan_design *design, const tmi_plan_stratum *stratum);

    /* What is drawn. */
    bool takes_all;        /* a census: no sampling error, no outsiders */
    bool with_replacement; /* sizes count draws, and a unit may have several rows */
    bool clusters;         /* sizes count clusters */
    bool fixed_size;       /* the number of sampled units is fixed */
    bool independent;      /* each unit is drawn by itself */
    bool equal;            /* a fixed number of units, each as likely as the others, none twice */
    bool in_order;         /* the order of the list matters */
    bool known_count;      /* how many sampled units have a property has a known law, given how many units have it */

    /* Where weights come from. None of these: population / sample of the stratum. */
    bool rate;         /* 1 / rate */
    bool unequal;      /* 1 / probability, which is in a column */
    bool staged;       /* the weight of the cluster times that in the cluster */
    bool only_weights; /* a column, which is all that is known of the design */

    /* The law of the sample as an outsider's promise needs it (plan/law.h). */
    const tmi_design_form *law; /* a kind that promises no more and may be shorter to write; NULL: none is known */
    const char *theorem;        /* behind that promise; NULL: the theorem of that kind */

    /* OK if plan and frame (NULL: it was not read) say the law, else REFUSED with the reason; NULL: the plan always does. */
    tamis_status (*knows_law)(const tmi_plan_design *design, const struct tmi_frame_facts *frame, tamis_error *err);
};

extern const tmi_plan_kind tmi_plan_kind_srs, tmi_plan_kind_census, tmi_plan_kind_srs_with_replacement, tmi_plan_kind_bernoulli,
    tmi_plan_kind_poisson, tmi_plan_kind_pps, tmi_plan_kind_systematic, tmi_plan_kind_cluster, tmi_plan_kind_two_stage,
    tmi_plan_kind_weights;

#define TMI_PLAN_KINDS 10
extern const tmi_plan_kind *const tmi_plan_kinds[TMI_PLAN_KINDS];

/* By its name; NULL if there is none. */
const tmi_plan_kind *tmi_plan_kind_find(const char *name);

#endif
