/* Numbers in [0, 1) of a fixed sequence (splitmix64), for inputs without a pattern. */
#ifndef TESTS_RELEASE_RANDOM_UNIT_H
#define TESTS_RELEASE_RANDOM_UNIT_H

static double random_unit(void)
{
    static uint64_t seed = 5;
    uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

#endif
