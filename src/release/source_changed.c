#include "release/source_changed.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The files of which `is` holds, with commas; how many. */
static size_t put_files(tmi_text *text, const tmi_plan_source *source, time_t then,
                        bool (*is)(const struct stat *facts, time_t then))
{
    struct stat facts;
    size_t count = 0;
    for (size_t i = 0; i < source->file_count; i++)
        if (stat(source->files[i], &facts) == 0 && is(&facts, then))
            tmi_text_format(text, "%s%s", count++ ? ", " : "", source->files[i]);
    return count;
}

static bool is_modified(const struct stat *facts, time_t then) { return facts->st_mtim.tv_sec > then; }

/* Copies often keep the time of the original (cp -p, rsync -t, unzip): the inode's own time is newer then. */
static bool is_put_in_place(const struct stat *facts, time_t then)
{
    return !is_modified(facts, then) && facts->st_ctim.tv_sec > then;
}

static bool is_changed(const struct stat *facts, time_t then) { return is_modified(facts, then) || is_put_in_place(facts, then); }

void tmi_source_changed(tmi_text *text, const tmi_plan_source *source, const char *time)
{
    struct tm utc = {0};
    if (!strptime(time, "%Y-%m-%dT%H:%M:%SZ", &utc)) return;
    const time_t then = timegm(&utc);
    if (source->table) { /* other tables of the file may be what has changed */
        if (put_files(text, source, then, is_changed) > 0)
            tmi_text_format(text,
                            " was changed after %s, when these numbers were released. If the rows of %s are other ones now, to "
                            "pay for numbers from them: tamis release --again\n",
                            time, source->table);
        return;
    }
    const size_t modified = put_files(text, source, then, is_modified);
    if (modified > 0)
        tmi_text_format(text,
                        " %s changed after %s, when these numbers were released: they are those of the earlier data. "
                        "To pay for numbers from the data as they are now: tamis release --again\n",
                        modified > 1 ? "were" : "was", time);
    const size_t placed = put_files(text, source, then, is_put_in_place);
    if (placed > 0)
        tmi_text_format(text,
                        " %s put in place, or renamed, after %s, when these numbers were released. If the rows are "
                        "other ones now, to pay for numbers from them: tamis release --again\n",
                        placed > 1 ? "were" : "was", time);
}
