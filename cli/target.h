/* Noise on the command line: which kind was chosen, and the smallest of each kind for a target. Shared by the commands of
 * `tamis privacy`.                                                                                                   */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include "guarantee.h"

#define CLI_KINDS 5 /* of tamis_noise_kind */

typedef struct cli_kind {
    const char *option, *words, *law;
} cli_kind;

extern const cli_kind cli_kinds[CLI_KINDS];

/* The options that choose a noise, and the one that asks for it. `on` and `discrete_on` say where it is added. */
/* clang-format off */
#define CLI_NOISE_OPTIONS(on, discrete_on)                                                 \
    {"laplace", "B", .help = "Laplace noise of scale B" on},                               \
    {"gaussian", "S", .help = "Gaussian noise of standard deviation S" on},                \
    {"discrete-laplace", "S", .help = "discrete Laplace noise of scale S" discrete_on},    \
    {"discrete-gaussian", "S", .help = "discrete Gaussian noise of scale S" discrete_on},  \
    {"target", "E,D", .help = "the smallest noise of each kind for epsilon E and delta D; of one kind if its option is given"}
/* clang-format on */

typedef struct cli_noise {
    const cli_call *call;
    tamis_noise_kind kind;
    tamis_number *scale;                     /* NULL without noise */
    tamis_number *target_eps, *target_delta; /* NULL: no target */
} cli_noise;

/* Reads the options; the exit code, 0: go on. Clear it whatever happens. */
int cli_noise_read(cli_noise *noise, const cli_call *call);
void cli_noise_clear(cli_noise *noise);

/* The scale as it was given. */
const char *cli_noise_scale(const cli_noise *noise);

/* "noise": {...}, after a comma; `on` may be NULL. */
void cli_noise_json(const cli_noise *noise, const char *on);

/* A paragraph about continuous noise, which no program can draw. */
void cli_noise_warn(void);

/* Prints an error; what the library says about its parameters is said about the options. The exit code. */
int cli_noise_failed(const cli_noise *noise, const tamis_error *err);

/* A mechanism whose noise is looked for. */
typedef struct cli_noisy {
    const void *what;
    tamis_status (*scale)(tamis_bound *scale, const void *what, tamis_noise_kind kind, const tamis_number *eps,
                          const tamis_number *delta, tamis_error *err);
    tamis_status (*delta)(tamis_bound *delta, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                          const tamis_number *eps, tamis_error *err);
    /* epsilon at delta, for targets that are met exactly; may be NULL */
    tamis_status (*epsilon)(tamis_bound *eps, const void *what, tamis_noise_kind kind, const tamis_number *scale,
                            const tamis_number *delta, tamis_error *err);
    double (*unit)(const void *what,
                   tamis_noise_kind kind); /* of the scale: one unit of scale moves what is published by this much */
    const char *(*missing)(const void *what,
                           tamis_noise_kind kind); /* why there is no such noise, in few words; NULL: there is */
    const char *on[CLI_KINDS];                     /* what the noise is added to; NULL in the first place: not shown */
} cli_noisy;

typedef struct cli_scale {
    tamis_noise_kind kind;
    tamis_bound scale;
    bool unable;
    const char *missing;       /* as in cli_noisy */
    char shown[TAMIS_DECIMAL]; /* a scale that was checked to meet the target; empty if none is needed or suffices */
} cli_scale;

typedef struct cli_target {
    const cli_noise *noise;
    const cli_noisy *noisy;
    tamis_bound given; /* delta of the scale that was given */
    bool enough;       /* it meets the target */
    cli_scale scales[CLI_KINDS];
    size_t count;
} cli_target;

/* Errors   those of the functions; UNABLE only if no kind of noise could be certified. */
tamis_status cli_target_find(cli_target *target, const cli_noise *noise, const cli_noisy *noisy, tamis_error *err);

/* A table on stdout; and the fields of the JSON object, a comma before each. */
void cli_target_show(const cli_target *target);
void cli_target_json(const cli_target *target);

/* ---- the answer of one command ---- */

/* What a command says beside the numbers that all of them have; `what` is handed to the functions. */
typedef struct cli_answer {
    const cli_noise *noise;
    const char *title, *subtitle; /* the first lines; without a subtitle NULL */
    void *what;
    void (*json_head)(const void *what);                               /* "{" and the fields that say what was asked */
    void (*explain)(const void *what, const cli_guarantee *guarantee); /* the end of the text; NULL: --target */
    /* What else belongs to a guarantee, or NULL: found before anything is printed, fields after a comma, lines. */
    tamis_status (*find)(void *what, const cli_guarantee *guarantee, tamis_error *err);
    void (*json)(const void *what, const cli_guarantee *guarantee);
    tamis_status (*show)(const void *what, const cli_guarantee *guarantee, tamis_error *err);
} cli_answer;

/* For --epsilon, --delta or the curve alone; for --target; for what the call asks. The exit code. */
int cli_answer_guarantee(const cli_answer *answer, const cli_mechanism *mechanism);
int cli_answer_target(const cli_answer *answer, const cli_noisy *noisy);
int cli_answer_asked(const cli_answer *answer, const cli_mechanism *mechanism, const cli_noisy *noisy);

#endif
