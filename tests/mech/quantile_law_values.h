#ifndef TESTS_MECH_QUANTILE_LAW_VALUES_H
#define TESTS_MECH_QUANTILE_LAW_VALUES_H

/* Reference values by enumeration with exact fractions and 40 digits: the largest absolute log ratio between the laws of two
 * query vectors under AboveThreshold, and over all neighbours of the inverse sensitivity mechanism on a grid. */
static const struct {
    size_t count;
    int y[20], y_prime[20];
    bool monotone;
    const char *eps;
    double loss;
} pair_values[] = {
    {20,
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -8},
     {1, 1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, -8},
     false,
     "3",
     2.08448011551431449540},
    {5, {-5, -3, -3, 2, 0}, {-5, -4, -3, 3, 1}, false, "3", 1.08847035187551719101},
    {2, {-5, 6}, {-5, 7}, false, "1", 0.23558852296749358453},
    {1, {-1}, {-1}, false, "0.5", 0},
    {1, {4}, {5}, true, "1", 0.38221696434361654546},
    {1, {-3}, {-2}, true, "1", 0.34584932017274169570},
    {2, {4, -3}, {5, -2}, true, "3", 1.33197362681345198135},
    {2, {4, 2}, {5, 3}, false, "1", 0.37491855088003854619},
    {2, {4, 4}, {4, 5}, true, "3", 0.89966962614704305873},
    {1, {0}, {1}, false, "1", 0.17885857082816774161},
};

static const struct {
    size_t n;
    int points; /* the grid is 0, ..., points - 1 */
    int64_t rank;
    const char *eps;
    double loss;
} grid_values[] = {
    {2, 3, 1, "1", 0.61410709877590860463}, {3, 3, 2, "1", 0.61410709877590860463},   {3, 4, 2, "0.5", 0.35899711518918013391},
    {4, 3, 2, "2", 1.14383874948767078457}, {4, 3, 3, "0.1", 0.06611280825911974856},
};

#endif
