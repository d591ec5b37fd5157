/* What else is in the folder of a release: the certificate says nothing about it, and a reader may take it for a part. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/json_fields.h"
#include "release/verify/verification.h"

/* The plan's frame and its list of clusters may be kept with the release: they are compared by their facts. */
static bool is_public_file(const tmi_verification *v, const char *name)
{
    const tamis_plan *plan = v->schedule.plan;
    const char *frame = plan ? tmi_last_name(plan->design.frame) : NULL, *psus = plan ? tmi_last_name(plan->design.psus) : NULL;
    return (frame && strcmp(frame, name) == 0) || (psus && strcmp(psus, name) == 0);
}

static bool is_known(const tmi_verification *v, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return true;
    if (strcmp(name, TMI_CERTIFICATE) == 0 || strcmp(name, TMI_SIGNATURE) == 0 || is_public_file(v, name)) return true;
    for (size_t i = 0; i < TMI_FILES; i++)
        if (v->files[i] != TMI_NOT_NAMED && strcmp(name, tmi_files[i].name) == 0) return true;
    return false;
}

tamis_status tmi_verify_others(tmi_verification *v, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    DIR *folder = v->whole ? opendir(v->folder) : NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (is_known(v, entry->d_name)) continue;
        char **others = tmi_realloc(v->others, v->other_count + 1, sizeof *others);
        if (others) v->others = others;
        char *name = others ? tmi_copy_text(entry->d_name, strlen(entry->d_name)) : NULL;
        if (!name) TMI_TRY(tmi_fail_memory(err));
        others[v->other_count++] = name;
    }
    if (v->other_count > 1) qsort(v->others, v->other_count, sizeof *v->others, tmi_compare_strings);

done:
    if (folder) closedir(folder);
    return status;
}
