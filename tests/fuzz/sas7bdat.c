#define ENDING ".sas7bdat"
#include "statistics.h"
