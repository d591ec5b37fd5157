/* A tally is published by the driver of publish/publish.h. Its numbers were counted before, and what protects people are the lies
 * in their reports, so that the steps have no data to read. What the ledger keeps is the saved tally. */
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options.h"
#include "collect/tally/certificate.h"
#include "num/number.h"
#include "publish/publish.h"

typedef struct job {
    const tamis_tally *tally;
    const tamis_tally_publication *how;
    tmi_tally_results results;
    tamis_number *amount;
    char measures[sizeof "tally " + TMI_SHA256_TEXT];
    tmi_account account;
    tmi_tally_signs signs;
    char *text, *saved, *files[TMI_TALLY_FILES];
    const char *written[2]; /* files beside the folder */
} job;

/* The loss of a person is the local epsilon: it was spent when the report was sent, whoever reads it. The same counts again may
 * be the same reports, or not: the caller says it. A hash of the reports themselves would tell, but the hash of the entry is
 * published in the certificate, and whoever knows all other reports could try out the missing one. */
static tamis_status make_bill(tmi_bill *bill, void *job_, tamis_error *err)
{
    static const char frozen[] = "{\"unit\": \"person\", \"collected\": \"randomized response\"}";
    job *j = job_;
    memcpy(j->measures, "tally ", sizeof "tally ");
    tmi_sha256_text(j->measures + strlen("tally "), j->saved, strlen(j->saved));
    tamis_status status = tmi_number_double(&j->amount, j->results.guarantee.local.upper, err);
    *bill = (tmi_bill){.ledger = j->how->ledger,
                       .charge = {.survey = j->how->survey,
                                  .release = "tally",
                                  .amount = {.epsilon = j->amount},
                                  .budget = {.epsilon = j->how->budget},
                                  .frozen = frozen,
                                  .measures = j->measures,
                                  .again = j->how->repeat == TAMIS_TALLY_REPEAT_CHARGED}};
    return status;
}

/* A tally that was charged and kept, and whose process ended before it was published, goes on. */
static tamis_status check_repeat(const tamis_charged *kept, void *job_, tamis_error *err)
{
    const job *j = job_;
    if (j->how->repeat != TAMIS_TALLY_REPEAT_REFUSED || kept->unfinished) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED,
                    "%s was charged for the same counts before; nothing was spent. If they are of the same reports, they are "
                    "free: --repeat free. If they are of other reports, they are charged: --repeat charged",
                    j->how->survey);
}

static tamis_status was_charged(void *job_, tamis_error *err)
{
    job *j = job_;
    (void)err;
    j->signs.survey = j->how->survey;
    j->signs.entry = j->account.charged.entry;
    memcpy(j->signs.entry_hash, j->account.charged.hash, sizeof j->signs.entry_hash);
    return TAMIS_OK;
}

static tamis_status keep(const char **text, void *job_, tamis_error *err)
{
    (void)err;
    *text = ((job *)job_)->saved;
    return TAMIS_OK;
}

static tamis_status write_files(char **certificate, char hash[TMI_SHA256_TEXT], tmi_folder *folder, void *job_, tamis_error *err)
{
    job *j = job_;
    tamis_status status = TAMIS_OK;
    if (folder) {
        TMI_TRY(tmi_tally_write_files(j->files, &j->results, err));
        TMI_TRY(tmi_tally_certify(certificate, j->files, &j->results, &j->signs, err));
        tmi_sha256_text(hash, *certificate, strlen(*certificate));
        for (size_t i = 0; i < TMI_TALLY_FILES; i++)
            TMI_TRY(tmi_folder_write(folder, tmi_tally_files[i].name, j->files[i], strlen(j->files[i]), err));
    }
    if (j->how->save) TMI_TRY(tamis_tally_save(j->tally, j->how->save, err));
    j->written[0] = j->how->save;
    if (j->how->shuffle) TMI_TRY(tamis_tally_shuffle(j->tally, j->how->shuffle, err));
    j->written[1] = j->how->shuffle;

done:
    return status;
}

static void undo(void *job_)
{
    const job *j = job_;
    for (size_t i = 0; i < 2; i++)
        if (j->written[i]) unlink(j->written[i]);
}

static const tmi_publishing steps = {.again = "Publish the same tally again",
                                     .bill = make_bill,
                                     .repeat = check_repeat,
                                     .charged = was_charged,
                                     .keep = keep,
                                     .write = write_files,
                                     .undo = undo};

static tamis_status check(tamis_tally_publication *how, const tamis_tally_publication *given, tamis_error *err)
{
    if (!given) return tmi_fail(err, TAMIS_INVALID, "publication: NULL");
    const tamis_status status = tmi_options_take(how, sizeof *how, given, "publication", err);
    if (status != TAMIS_OK) return status;
    if (how->sign && !how->folder) return tmi_fail(err, TAMIS_INVALID, "sign: needs a folder, in which the signature is written");
    if (how->form < TAMIS_TALLY_TEXT || how->form > TAMIS_TALLY_CSV)
        return tmi_fail(err, TAMIS_INVALID, "form: there is no such form");
    if (!how->ledger != !how->survey) return tmi_fail(err, TAMIS_INVALID, "ledger, survey: give both or neither");
    if (how->budget && !how->ledger) return tmi_fail(err, TAMIS_INVALID, "budget: needs a ledger");
    return TAMIS_OK;
}

tamis_status tamis_tally_publish(char **text, const tamis_tally *tally, const tamis_tally_question *question,
                                 const tamis_tally_publication *publication, tamis_error *err)
{
    static tmi_tally_form *const forms[] = {tmi_tally_put_text, tmi_tally_put_json, tmi_tally_put_csv};
    tamis_tally_publication how;
    job j = {.tally = tally, .how = &how};
    tmi_text made;
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: NULL");
    *text = NULL;
    tamis_status status = check(&how, publication, err);
    if (status != TAMIS_OK) return status;
    tmi_text_init(&made);
    TMI_TRY(tmi_tally_results_make(&j.results, tally, question, TMI_BOUNDS_NOW, err));
    TMI_TRY(forms[how.form](&made, &j.results, err));
    TMI_TRY(tmi_text_take(&j.text, &made, err));
    TMI_TRY(tamis_tally_write(&j.saved, tally, err));
    TMI_TRY(tmi_publish(&(tmi_publication){.steps = &steps,
                                           .job = &j,
                                           .ledger = how.ledger,
                                           .folder = how.folder,
                                           .sign = how.sign,
                                           .signed_by = j.signs.signed_by,
                                           .account = &j.account,
                                           .charge = how.charge},
                        err));
    *text = j.text;
    j.text = NULL;
done:
    tmi_text_clear(&made);
    tmi_account_clear(&j.account);
    tamis_number_free(j.amount);
    for (size_t i = 0; i < TMI_TALLY_FILES; i++) tmi_free(j.files[i]);
    tmi_free(j.text);
    tmi_free(j.saved);
    tmi_tally_results_clear(&j.results);
    return status;
}
