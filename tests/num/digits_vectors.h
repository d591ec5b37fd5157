/* Written by digits_vectors.py. */
static const struct {
    int kind;
    const char *x;
    unsigned i;
    uint64_t first, words[3];
} source_vectors[] = {
    {TMI_DIGITS_EXP, "1", 0, 0, {UINT64_C(0x5e2d58d8b3bcdf1a), UINT64_C(0xbadec7829054f90d), UINT64_C(0xda9805aab56c7733)}},
    {TMI_DIGITS_EXP, "1/10", 0, 0, {UINT64_C(0xe7a36ccea959d401), UINT64_C(0x51e5380f2cede803), UINT64_C(0xb3319390a1726976)}},
    {TMI_DIGITS_EXP, "7/3", 0, 5, {UINT64_C(0x1a64f4d3677cb512), UINT64_C(0x123e8367d5073274), UINT64_C(0xcf0941aaaa43eabc)}},
    {TMI_DIGITS_EXP, "0.001", 0, 64, {UINT64_C(0x2e4295a3f09843f7), UINT64_C(0x2bb3b131814e8ffd), UINT64_C(0x52b7de78bf442335)}},
    {TMI_DIGITS_EXP, "1e-12", 0, 128, {UINT64_C(0x16138a3901112f41), UINT64_C(0xc0e5bcdbb98b3723), UINT64_C(0xaa3b4e7075fa6cef)}},
    {TMI_DIGITS_EXP, "30.5", 0, 0, {UINT64_C(0x00000000000ff9c3), UINT64_C(0x21195a03485839ea), UINT64_C(0x388337a3f59b9d24)}},
    {TMI_DIGITS_EXP, "1000", 0, 1400, {UINT64_C(0x0000000000278843), UINT64_C(0x3c8312a81e649e8d), UINT64_C(0xcf28b7d70e1478eb)}},
    {TMI_DIGITS_EXP, "700", 0, 0, {UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
    {TMI_DIGITS_EXP, "1e6", 0, 0, {UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
    {TMI_DIGITS_LOGISTIC, "1", 0, 0, {UINT64_C(0x44d9585152ea1935), UINT64_C(0xdae23bc7349ee58b), UINT64_C(0x066cd42fa414b2df)}},
    {TMI_DIGITS_LOGISTIC,
     "1/10",
     3,
     0,
     {UINT64_C(0x4f5dd5187b7a5475), UINT64_C(0x1ea2d6d0c6c74151), UINT64_C(0x44a5392ca93bf13a)}},
    {TMI_DIGITS_LOGISTIC,
     "1e-6",
     0,
     64,
     {UINT64_C(0xff14472d0f36740a), UINT64_C(0x80c608e97a689690), UINT64_C(0x13cfcddb945d6b25)}},
    {TMI_DIGITS_LOGISTIC,
     "1e-6",
     20,
     0,
     {UINT64_C(0x426e80c338562a0c), UINT64_C(0x134e6f29ec397ae5), UINT64_C(0xed7b590e736db0e0)}},
    {TMI_DIGITS_LOGISTIC,
     "1e-15",
     50,
     7,
     {UINT64_C(0x597db99f165a7725), UINT64_C(0x5a836908fccaaccd), UINT64_C(0x4f08bcc14d55f394)}},
    {TMI_DIGITS_LOGISTIC,
     "1/1024",
     80,
     0,
     {UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
    {TMI_DIGITS_LOGISTIC,
     "5",
     4,
     100,
     {UINT64_C(0x00017fd974d372e4), UINT64_C(0x486f72358acdd126), UINT64_C(0x6cec6afa8d885684)}},
};
static const struct {
    const char *variance;
    unsigned m;
    bool half;
    size_t j;
    uint64_t first, words[3];
} share_vectors[] = {
    {"1", 0, true, 0, 0, {UINT64_C(0x662114c625dcf1a1), UINT64_C(0xfc08d67b80011622), UINT64_C(0x83fbcd4490a4ec6e)}},
    {"1", 0, true, 1, 0, {UINT64_C(0xe204aaf3d33038cf), UINT64_C(0xad4e0445d7880aed), UINT64_C(0x3baf23986c6810b4)}},
    {"1", 0, true, 7, 0, {UINT64_C(0xfffffffffffd27be), UINT64_C(0x2b4d6d320bc1767d), UINT64_C(0x919a4c7151e09015)}},
    {"1", 0, true, 12, 128, {UINT64_C(0x900ebbf083895af9), UINT64_C(0x60c465edfae8df3d), UINT64_C(0xb457ee31a96c2e9a)}},
    {"1", 0, false, 0, 0, {UINT64_C(0x92025b19482ce72b), UINT64_C(0xd40241fe3d8503e0), UINT64_C(0xa90d8b163a7013a0)}},
    {"1/1000", 0, true, 0, 0, {UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)}},
    {"1/1000", 0, true, 1, 0, {UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)}},
    {"100", 0, true, 0, 0, {UINT64_C(0x0a368214bb48ed05), UINT64_C(0x39847e866b116c13), UINT64_C(0x2ec0431e6e83e715)}},
    {"100", 0, true, 9, 0, {UINT64_C(0xa878854f8534a947), UINT64_C(0x348493a2444b143d), UINT64_C(0xb8767e94a98beecf)}},
    {"100", 0, true, 100, 0, {UINT64_C(0xffffffffffffffff), UINT64_C(0xfff55a493ce20573), UINT64_C(0x1d5aa754229c4475)}},
    {"100", 0, true, 150, 128, {UINT64_C(0xfffffffffed2be6a), UINT64_C(0x297773684ae6c8ec), UINT64_C(0xeb09ac783b20ceae)}},
    {"1000000", 5, false, 0, 0, {UINT64_C(0x0674316bef384236), UINT64_C(0xec5c2845af41e873), UINT64_C(0x9f1bcb35d60b25ee)}},
    {"1000000", 5, false, 31, 0, {UINT64_C(0xb0c5ba676b0bd082), UINT64_C(0x89d6fdbba7496187), UINT64_C(0xaedfa3b1c91fcb90)}},
    {"1000000", 5, false, 200, 0, {UINT64_C(0xffffffff68636bde), UINT64_C(0xc0d8ba0ccb7c38b6), UINT64_C(0x66d7307364189f9a)}},
    {"2.5e11", 14, false, 1, 0, {UINT64_C(0x0d35c29f6a970be7), UINT64_C(0x92e86e8a0abe9f5c), UINT64_C(0x2e613844016bc871)}},
    {"2.5e11", 14, false, 40, 128, {UINT64_C(0x0c9df4beca29f7ee), UINT64_C(0xcd0c128c6e963083), UINT64_C(0x9c89dbe1b82edb48)}},
};
