#define ENDING ".zsav"
#include "tests/fuzz/statistics.h"
