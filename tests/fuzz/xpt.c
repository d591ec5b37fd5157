#define ENDING ".xpt"
#include "tests/fuzz/statistics.h"
