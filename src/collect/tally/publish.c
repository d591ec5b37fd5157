/* Publishes a tally: charges an account, writes a folder, certifies and signs it. */
#include <string.h>

#include "base/memory.h"
#include "base/sign.h"
#include "collect/tally/certificate.h"
#include "num/number.h"
#include "release/certificate.h"
#include "release/files.h"
#include "release/folder.h"

typedef struct job {
    const tamis_tally_publication *how;
    tmi_tally_results results;
    tmi_folder folder;
    tmi_key *key;
    tamis_ledger *ledger;
    tamis_charged charged;
    tmi_tally_signs signs;
    char *tally, *files[TMI_TALLY_FILES], *certificate;
} job;

/* The loss of a person is the local epsilon: it was spent when the report was sent, whoever reads it. The same counts again may
 * be the same reports, or not: the caller says it. A hash of the reports themselves would tell, but the hash of the entry is
 * published in the certificate, and whoever knows all other reports could try out the missing one. */
static tamis_status charge(job *j, tamis_error *err)
{
    static const char frozen[] = "{\"unit\": \"person\", \"collected\": \"randomized response\"}";
    tamis_number *amount = NULL;
    tamis_status status;
    char measures[sizeof "tally " + TMI_SHA256_TEXT] = "tally ";
    tmi_sha256_text(measures + strlen(measures), j->tally, strlen(j->tally));
    TMI_TRY(tmi_number_double(&amount, j->results.guarantee.local.upper, err));
    const tamis_charge asked = {.survey = j->how->survey,
                                .release = "tally",
                                .amount = {.epsilon = amount},
                                .budget = {.epsilon = j->how->budget},
                                .frozen = frozen,
                                .measures = measures,
                                .again = j->how->repeat == TAMIS_TALLY_REPEAT_CHARGED};
    TMI_TRY(tamis_ledger_open(&j->ledger, j->how->ledger, err));
    TMI_TRY(tamis_ledger_charge(&j->charged, j->ledger, &asked, err));
    if (j->charged.measurements && j->how->repeat == TAMIS_TALLY_REPEAT_REFUSED)
        TMI_TRY(
            tmi_fail(err, TAMIS_REFUSED,
                     "%s was charged for the same counts before; nothing was spent. If they are of the same reports, they are "
                     "free: --repeat free. If they are of other reports, they are charged: --repeat charged",
                     j->how->survey));
    j->signs.survey = j->how->survey;
    j->signs.entry = j->charged.entry;
    memcpy(j->signs.entry_hash, j->charged.hash, sizeof j->signs.entry_hash);
done:
    tamis_number_free(amount);
    return status;
}

static tamis_status write_folder(job *j, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_tally_write_files(j->files, &j->results, err));
    TMI_TRY(tmi_tally_certify(&j->certificate, j->files, &j->results, &j->signs, err));
    for (size_t i = 0; i < TMI_TALLY_FILES; i++)
        TMI_TRY(tmi_folder_write(&j->folder, tmi_tally_files[i].name, j->files[i], strlen(j->files[i]), err));
    TMI_TRY(tmi_folder_write(&j->folder, TMI_CERTIFICATE, j->certificate, strlen(j->certificate), err));
    if (j->key) {
        unsigned char signature[TMI_SIGNATURE_BYTES];
        char message[TMI_CERTIFICATE_MESSAGE], hash[TMI_SHA256_TEXT];
        tmi_sha256_text(hash, j->certificate, strlen(j->certificate));
        tmi_certificate_message(message, hash);
        TMI_TRY(tmi_sign(signature, j->key, message, err));
        TMI_TRY(tmi_folder_write(&j->folder, TMI_SIGNATURE, (const char *)signature, sizeof signature, err));
    }
done:
    return status;
}

static tamis_status check(const tamis_tally_publication *how, tamis_error *err)
{
    if (!how) return tmi_fail(err, TAMIS_INVALID, "publication: NULL");
    if (how->sign && !how->folder) return tmi_fail(err, TAMIS_INVALID, "sign: needs a folder, in which the signature is written");
    if (!how->ledger != !how->survey) return tmi_fail(err, TAMIS_INVALID, "ledger, survey: give both or neither");
    if (how->budget && !how->ledger) return tmi_fail(err, TAMIS_INVALID, "budget: needs a ledger");
    return TAMIS_OK;
}

tamis_status tamis_tally_publish(const tamis_tally *tally, const tamis_tally_question *question,
                                 const tamis_tally_publication *publication, tamis_error *err)
{
    job j = {.how = publication};
    tamis_status status = check(publication, err);
    if (status != TAMIS_OK) return status;
    TMI_TRY(tmi_tally_results_make(&j.results, tally, question, err));
    TMI_TRY(tamis_tally_write(&j.tally, tally, err));
    if (publication->sign) {
        TMI_TRY(tmi_key_read_secret(&j.key, publication->sign, err));
        TMI_TRY(tmi_key_fingerprint(j.signs.signed_by, j.key, err));
    }
    if (publication->folder) TMI_TRY(tmi_folder_begin(&j.folder, publication->folder, err));
    if (publication->ledger) TMI_TRY(charge(&j, err));
    if (publication->folder) TMI_TRY(write_folder(&j, err));
    if (publication->ledger && !j.charged.measurements) TMI_TRY(tamis_ledger_released(j.ledger, j.charged.entry, j.tally, err));
    if (publication->folder) TMI_TRY(tmi_folder_end(&j.folder, err));
done:
    if (publication->folder) tmi_folder_clear(&j.folder);
    tamis_charged_clear(&j.charged);
    tamis_ledger_free(j.ledger);
    tmi_key_free(j.key);
    for (size_t i = 0; i < TMI_TALLY_FILES; i++) tmi_free(j.files[i]);
    tmi_free(j.certificate);
    tmi_free(j.tally);
    tmi_tally_results_clear(&j.results);
    return status;
}
