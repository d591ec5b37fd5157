#include "release/source_changed.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

void tmi_source_changed(tmi_text *text, const tmi_plan_source *source, const char *time)
{
    struct tm utc = {0};
    struct stat facts;
    size_t changed = 0;
    if (source->table || !strptime(time, "%Y-%m-%dT%H:%M:%SZ", &utc)) return;
    const time_t then = timegm(&utc);
    for (size_t i = 0; i < source->file_count; i++) {
        if (stat(source->files[i], &facts) != 0 || facts.st_mtim.tv_sec <= then) continue;
        tmi_text_format(text, "%s%s", changed ? ", " : "", source->files[i]);
        changed++;
    }
    if (changed > 0)
        tmi_text_format(text, " %s changed after %s, when these numbers were released: they are those of the earlier data. To pay for numbers from the "
                        "data as they are now: tamis release --again\n", changed > 1 ? "were" : "was", time);
}
