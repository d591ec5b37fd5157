#define ENDING ".zsav"
#include "statistics.h"
