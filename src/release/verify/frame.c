/* The facts of a frame, computed again from its file where that is at hand. */
#include <stdio.h>
#include <string.h>
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

/* In the folder above, a file of that name may be the frame of another release. */
tamis_status tmi_verify_frame(tmi_verification *v, const char *given, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    const char *const above[] = {"", "../"};
    char *found = NULL, hash[TMI_SHA256_TEXT];
    size_t where = 0;
    tamis_status status = TAMIS_OK;
    v->has_frame = s->plan && tmi_frame_of(s);
    v->frame = TMI_MISSING;
    if (given && !v->has_frame) {
        tmi_check_note(&v->check, "frame", "a frame was given, but the certificate has none");
        return v->check.status;
    }
    if (!v->has_frame) return TAMIS_OK;
    for (; where < 2 && !found; where++) {
        tmi_text t;
        tmi_text_init(&t);
        if (given) tmi_text_put(&t, given);
        else tmi_text_format(&t, "%s%s%s", v->folder, above[where], tmi_last_name(s->plan->design.frame));
        TMI_TRY(tmi_text_take(&found, &t, err));
        if (given || access(found, F_OK) == 0) break;
        tmi_free(found);
        found = NULL;
    }
    if (!found) goto done;
    TMI_TRY(tmi_sha256_file(hash, found, err));
    if (strcmp(hash, tmi_frame_of(s)->hash) == 0) TMI_TRY(compare_facts(v, found, err));
    else if (given || where == 0) {
        v->frame = TMI_DIFFERS;
        tmi_check_note(&v->check, "frame.sha256", "the frame's file is not the one that the certificate names");
        status = v->check.status;
    }

done:
    tmi_free(found);
    return status;
}
