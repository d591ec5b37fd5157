#define ENDING ".sav"
#include "statistics.h"
