#define ENDING ".sas7bdat"
#include "tests/fuzz/statistics.h"
