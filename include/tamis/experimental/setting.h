/* The ten settings: what exactly a privacy guarantee for a survey is about.
 *
 * A survey runs from a population over a frame and a sample to the people who answered. A setting says at which of these
 * the promise begins (protect: whose record may change) and up to which of them everything is taken as fixed and public
 * (given: what no neighbour may change). What is given comes before what is protected, so there are 1 + 2 + 3 + 4 = 10.
 *
 * A setting is a row of a table. Everything that depends on it, from the sensitivity of a total to the words of a report,
 * reads the row; there is no other list of settings anywhere.
 *
 * Paper    settings, Definitions 3.1 to 3.3, Tables 3.1, 4.1, 4.2 (docs/papers.md#settings-tables).
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_SETTING_H
#define TAMIS_EXPERIMENTAL_SETTING_H

#include <tamis/num.h>

TAMIS_BEGIN

/* The phases of a survey, in order. The numbers are frozen. */
typedef enum tamis_level {
    TAMIS_NOTHING = 0,
    TAMIS_POPULATION = 1,
    TAMIS_FRAME = 2,
    TAMIS_SAMPLE = 3,
    TAMIS_RESPONDENTS = 4
} tamis_level;

#define TAMIS_LEVELS 5
#define TAMIS_SETTINGS 10

typedef struct tamis_setting {
    tamis_level protect, given;
    const char *name; /* "sample given frame" */

    /* What follows from it. */
    int may_be_absent;      /* a neighbour may hold no record of the person at all: not covered, or did not answer */
    int size_is_public;     /* how many records there are is the same for all neighbours */
    int may_protect_design; /* strata, sizes and clusters may be protected too: the frame is not taken as given */
    int may_amplify;        /* if the sample is secret, sampling may be counted for an outsider */

    /* In words, without a full stop. */
    const char *domain;        /* the datasets that the promise compares */
    const char *universes;     /* which of them are compared with each other */
    const char *neighbours;    /* when two of them are one step apart */
    const char *weights;       /* over whom the largest weight is taken, and whether weights can move */
    const char *amplification; /* what sampling may add */
    const char *attacker;      /* what the setting assumes of the attacker */
    const char *verdict;       /* when to use it */
} tamis_setting;

/* The table, in the paper's order: population, frame, sample, respondents; within a level the least given first. */
TAMIS_API const tamis_setting *tamis_settings(void);

/* The row of a pair; NULL if `given` does not come before `protect`. */
TAMIS_API const tamis_setting *tamis_setting_of(tamis_level protect, tamis_level given);

/* The row of "sample given frame" (case and spaces do not matter); NULL if there is none of that name. */
TAMIS_API const tamis_setting *tamis_setting_named(const char *name);

/* "nothing", "population", "frame", "sample", "respondents"; NULL for any other number. */
TAMIS_API const char *tamis_level_name(tamis_level level);

/* Whether sampling may be counted for an outsider. The design itself must also be on the proved list, which this room
 * does not know.
 *
 * Needs    a row of the table; design_protected: strata, sizes and clusters are protected; secret: the plan says that
 *          nobody outside knows who was sampled.
 * Errors   INVALID (setting NULL), REFUSED with the reason and the nearest setting that works.                       */
TAMIS_USE tamis_status tamis_setting_outsider(const tamis_setting *setting, int secret, int design_protected, tamis_error *err);

/* Whether the design variables may be protected. Errors: INVALID, REFUSED with the nearest setting that works. */
TAMIS_USE tamis_status tamis_setting_protects_design(const tamis_setting *setting, tamis_error *err);

TAMIS_END

#endif
