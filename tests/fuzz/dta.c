#define ENDING ".dta"
#include "statistics.h"
