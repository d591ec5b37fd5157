#include "release/sensitivity.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t size(int64_t a)
{
    return a < 0 ? -a : a;
}

int64_t tmi_sensitivity(int64_t low, int64_t high, size_t cells)
{
    int64_t farthest = larger(size(low), size(high));
    return cells > 1 ? 2 * farthest : larger(farthest, high - low);
}

const char *tmi_sensitivity_words(size_t cells)
{
    return cells > 1 ? "a replaced record leaves one cell and enters another: |c| + |c'| <= 2 max(|low|, |high|)"
                     : "a replaced record changes one number, or is left out: |c - c'| <= max(|low|, |high|, high - low)";
}
