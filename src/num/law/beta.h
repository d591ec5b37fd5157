/* The beta law, for intervals of shares (Clopper and Pearson's, with an effective sample size). */
#ifndef TMI_NUM_LAW_BETA_H
#define TMI_NUM_LAW_BETA_H

/* P(X <= x) for X of the law beta(a, b), to 12 digits or so. Needs 0 <= x <= 1, a, b > 0. */
double tmi_beta_share(double x, double a, double b);

/* The x with P(X <= x) = p. Needs 0 <= p <= 1, a, b >= 0, not both 0; a law with a = 0 is the point 0, with b = 0 the point 1. */
double tmi_beta_quantile(double p, double a, double b);

#endif
