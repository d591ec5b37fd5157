/* The facts of the public files that a plan names, a frame and a list of sampled clusters, computed again from the files where
 * these are at hand. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "plan/json_fields.h"
#include "release/verify/verification.h"

static tamis_status facts_tree(tmi_value **tree, const tmi_frame_facts *facts, tamis_error *err)
{
    tmi_json_tree made;
    tmi_json_tree_begin(&made, NULL);
    tmi_put_frame_facts(&made.out, facts);
    return tmi_json_tree_end(tree, &made, err);
}

static tamis_status compare_facts(tmi_verification *v, const char *path, tamis_error *err)
{
    tamis_plan plan = *v->schedule.plan; /* the same plan with its frame in another place; nothing of it is freed */
    char *place = tmi_copy_text(path, strlen(path));
    tmi_frame_file frame = {0};
    tmi_value *follows = NULL, *says = NULL;
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    if (!place) return tmi_fail_memory(err);
    plan.design.frame = place;
    status = tmi_frame_file_read(&frame, &plan, &reason);
    if (status != TAMIS_OK) v->frame = TMI_DIFFERS;
    TMI_TRY(tmi_check_noted(&v->check, "frame", status, &reason, err));
    if (v->frame == TMI_DIFFERS) goto done;
    TMI_TRY(facts_tree(&follows, &frame.facts, err));
    TMI_TRY(facts_tree(&says, tmi_frame_of(&v->schedule), err));
    const size_t before = v->check.faults->count;
    tmi_check_same(&v->check, follows, says, "frame", false);
    v->frame = v->check.faults->count == before ? TMI_MATCHES : TMI_DIFFERS;
    status = v->check.status;

done:
    tmi_value_free(follows);
    tmi_value_free(says);
    tmi_frame_file_clear(&frame);
    tmi_free(place);
    return status;
}

/* ---- files ---- */

static const char no_file[] = "is no regular file, or outside of the folder that files may be in here";

bool tmi_may_open(const tmi_verification *v, const char *path)
{
    struct stat there;
    return tmi_is_within(&v->places, path) && stat(path, &there) == 0 && S_ISREG(there.st_mode);
}

/* The path of a file that the plan names: `given`, or of that name beside the certificate or in the folder above; NULL if there
 * is none that may be opened. *compared: whether another file would be a problem. In the folder above it may be that of another
 * release. What is beside the certificate and may not be opened is a problem, noted for `field`. */
static tamis_status find_file(char **found, bool *compared, tmi_verification *v, const char *field, const char *name,
                              const char *given, tamis_error *err)
{
    static const char *const above[] = {"", "../"};
    *found = NULL;
    *compared = false;
    for (size_t where = 0; where < 2; where++) {
        tmi_text t;
        tmi_text_init(&t);
        if (given) tmi_text_put(&t, given);
        else tmi_text_format(&t, "%s%s%s", v->folder, above[where], tmi_last_name(name));
        tamis_status status = tmi_text_take(found, &t, err);
        if (status != TAMIS_OK) return status;
        *compared = given || where == 0;
        if (given && access(given, F_OK) != 0) return TAMIS_OK; /* who opens it says why it cannot be */
        if (tmi_may_open(v, *found)) return TAMIS_OK;
        if (given) status = tmi_fail_file(err, TAMIS_INVALID, given, 0, "%s", no_file);
        struct stat there;
        const bool wrong = !given && where == 0 && lstat(*found, &there) == 0;
        tmi_free(*found);
        *found = NULL;
        if (wrong) tmi_check_note(&v->check, field, no_file);
        if (given || wrong) return given ? status : v->check.status;
    }
    *compared = false;
    return TAMIS_OK;
}

tamis_status tmi_verify_frame(tmi_verification *v, const char *given, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    char *found = NULL, hash[TMI_SHA256_TEXT];
    bool compared;
    tamis_status status = TAMIS_OK;
    v->has_frame = s->plan && tmi_frame_of(s);
    v->frame = TMI_MISSING;
    if (given && !v->has_frame) {
        tmi_check_note(&v->check, "frame", "a frame was given, but the certificate has none");
        return v->check.status;
    }
    if (!v->has_frame) return TAMIS_OK;
    TMI_TRY(find_file(&found, &compared, v, "frame", s->plan->design.frame, given, err));
    if (!found && compared) v->frame = TMI_DIFFERS;
    if (!found) goto done;
    TMI_TRY(tmi_sha256_file(hash, found, err));
    if (strcmp(hash, tmi_frame_of(s)->hash) == 0) TMI_TRY(compare_facts(v, found, err));
    else if (compared) {
        v->frame = TMI_DIFFERS;
        tmi_check_note(&v->check, "frame.sha256", "the frame's file is not the one that the certificate names");
        status = v->check.status;
    }

done:
    tmi_free(found);
    return status;
}

/* ---- clusters ---- */

static tamis_status compare_clusters(tmi_verification *v, const char *path, tamis_error *err)
{
    const tmi_psu_facts *says = tmi_psus_of(&v->schedule);
    tamis_plan plan = *v->schedule.plan; /* as with the frame */
    char *place = tmi_copy_text(path, strlen(path));
    tmi_psu_file list = {0};
    tamis_error reason = {0};
    if (!place) return tmi_fail_memory(err);
    plan.design.psus = place;
    tamis_status status = tmi_psu_file_read(&list, &plan, &reason);
    bool same = status == TAMIS_OK && list.facts.strata == says->strata;
    for (size_t h = 0; same && h < says->strata; h++) same = list.facts.clusters[h] == says->clusters[h];
    v->psus = same ? TMI_MATCHES : TMI_DIFFERS;
    if (status == TAMIS_OK && !same) tmi_check_note(&v->check, "psus.clusters", "are not those of the file");
    status = tmi_check_noted(&v->check, "psus", status, &reason, err);
    tmi_psu_file_clear(&list);
    tmi_free(place);
    return status == TAMIS_OK ? v->check.status : status;
}

tamis_status tmi_verify_psus(tmi_verification *v, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    char *found = NULL, hash[TMI_SHA256_TEXT];
    bool compared;
    tamis_status status = TAMIS_OK;
    v->has_psus = s->plan && tmi_psus_of(s);
    v->psus = TMI_MISSING;
    if (!v->has_psus) return TAMIS_OK;
    TMI_TRY(find_file(&found, &compared, v, "psus", s->plan->design.psus, NULL, err));
    if (!found && compared) v->psus = TMI_DIFFERS;
    if (!found) goto done;
    TMI_TRY(tmi_sha256_file(hash, found, err));
    if (strcmp(hash, tmi_psus_of(s)->hash) == 0) TMI_TRY(compare_clusters(v, found, err));
    else if (compared) {
        v->psus = TMI_DIFFERS;
        tmi_check_note(&v->check, "psus.sha256", "the list of clusters is not the one that the certificate names");
        status = v->check.status;
    }

done:
    tmi_free(found);
    return status;
}
