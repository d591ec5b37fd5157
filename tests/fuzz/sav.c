#define ENDING ".sav"
#include "tests/fuzz/statistics.h"
