/* One name for several, such as `north × urban` of a stratum by two columns. */
#ifndef TMI_BASE_JOINT_NAME_H
#define TMI_BASE_JOINT_NAME_H

#include "base/text.h"

/* Adds a name, after ` × ` unless it is the first. Each × of a name is written twice, so that the joint names of different names
 * differ: runs of an odd number of × are separators, as no name begins or ends with a blank. */
void tmi_put_joint_name(tmi_text *text, const char *name, bool first);

#endif
