#define ENDING ".xpt"
#include "statistics.h"
