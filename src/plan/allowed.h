/* Where the files that a plan names may be, for programs that open plans of strangers. */
#ifndef TMI_PLAN_ALLOWED_H
#define TMI_PLAN_ALLOWED_H

/* Below `root`, or at or below one of `also`, which ends with NULL; root NULL: anywhere. */
typedef struct tmi_plan_allowed {
    const char *root;
    const char *const *also;
} tmi_plan_allowed;

#endif
