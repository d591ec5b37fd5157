#define ENDING ".dta"
#include "tests/fuzz/statistics.h"
