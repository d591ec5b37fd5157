/* What a guarantee means for a person: how much an attacker can learn, in numbers that need no logarithm.
 *
 * Compare what an attacker believes about one person after the release with what the same attacker would believe had that
 * person's answers been replaced by a guess from everything else. For an eps-private release, whatever the attacker knew
 * and believed before, the odds of any statement about the person are at most e^eps times what they would have been:
 *
 *     belief  <=  p e^eps / (1 - p + p e^eps),     p the belief without the person's answers.
 *
 * Proof: for each possible rest d of the data let a(d) be the belief given d, and q(d) the weight of d given the output.
 * Given d the odds change by at most e^eps; p e^eps / (1 - p + p e^eps) is concave in p, so by Jensen's inequality the
 * average over q obeys the same bound. The bound is a supremum: an optimal release comes as near as one likes.
 *
 * The same guarantee seen as a test: somebody who must distinguish the person's true record from another one, and who raises a
 * false alarm with probability at most a, is right with probability at most min(e^eps a + delta, 1 - e^-eps (1 - a - delta)).
 *
 * For whom: the nosy neighbour knows that the person was sampled, the journalist picks any sampled record; neither gains
 * anything less because the sample was random. Only the outsider, who does not know who was sampled, meets the smaller loss
 * that sampling leaves, where a theorem gives one.
 *
 * Paper    settings, 5.1 (docs/papers.md#settings-5-1, #settings-5-1-3).
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_MEANING_H
#define TAMIS_EXPERIMENTAL_MEANING_H

#include <tamis/experimental/profile.h>

TAMIS_BEGIN

#define TAMIS_PRIORS 3 /* beliefs of 1 %, 10 %, 50 % */
#define TAMIS_ALARMS 2 /* false alarms of 1 %, 5 % */

typedef struct tamis_meaning {
    tamis_bound odds;                    /* the odds of a guess grow at most by this factor ... */
    tamis_bound except;                  /* ... except with at most this probability; 0 if delta is 0 */
    tamis_bound posterior[TAMIS_PRIORS]; /* what a belief of 1 %, 10 %, 50 % becomes at most, with the same exception */
    tamis_bound found[TAMIS_ALARMS];     /* the share of true records found at 1 %, 5 % false alarms, at most */
} tamis_meaning;

/* If delta is above 0, no factor holds for every output: `odds` is then 1.1 e^eps, and `except` 11 delta, for an attacker
 * who knows all other records. (The odds exceed c e^eps with probability at most delta c / (c - 1): on these outputs
 * P - e^eps Q is at least (1 - 1/c) P. Whoever is in doubt about the others can meet the exceptions more often: an output that
 * is one for few of the possible others, at delta each, can be a common one for the rest.) `found` holds for everybody.
 *
 * Needs    eps >= 0, 0 <= delta <= 1.
 * Gives    enclosures; the upper ends are what to publish. On failure {1, inf}, {0, 1}, {0, 1}, {0, 1}.
 * Cost     O(1).
 * Errors   INVALID, UNABLE.                                                                                          */
TAMIS_USE tamis_status tamis_meaning_of(tamis_meaning *meaning, const tamis_number *eps, const tamis_number *delta,
                                        tamis_error *err);

/* From a whole profile: (eps, delta) is read off it at `delta`, and `found` is the least bound over many points of it.
 *
 * Errors   INVALID, UNABLE, SYSTEM.                                                                                  */
TAMIS_USE tamis_status tamis_meaning_of_profile(tamis_meaning *meaning, const tamis_profile *profile, const tamis_number *delta,
                                                tamis_error *err);

/* What a belief of `prior` becomes at most. Needs 0 <= prior <= 1. Gives {0, 1} on failure. Errors: INVALID, UNABLE. */
TAMIS_USE tamis_status tamis_meaning_posterior(tamis_bound *posterior, const tamis_number *prior, const tamis_number *eps,
                                               tamis_error *err);

/* A guarantee, and who has it. The outsider's is NULL where none is proved. */
typedef struct tamis_promise {
    const tamis_number *eps, *delta;                   /* of a sampled person */
    const tamis_number *outsider_eps, *outsider_delta; /* both or none */
    const char *unit;                                  /* whom it is about, in texts: school, household; NULL: person */
} tamis_promise;

/* Three lines for people: the nosy neighbour, the journalist, the outsider, with all of the numbers above rounded up; and
 * the same as a JSON list of objects. The caller frees the text with tamis_free; NULL on failure. */
TAMIS_USE tamis_status tamis_meaning_text(char **text, const tamis_promise *promise, tamis_error *err);
TAMIS_USE tamis_status tamis_meaning_json(char **json, const tamis_promise *promise, tamis_error *err);

/* A picture: belief without the person's answers against the highest belief with them, a curve for a sampled person and
 * one for an outsider. Errors: as above. */
TAMIS_USE tamis_status tamis_meaning_svg(char **svg, const tamis_promise *promise, tamis_error *err);

TAMIS_END

#endif
