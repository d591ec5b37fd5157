/* libFuzzer: lines are entries of a ledger, chained as they should be. Whatever they say, a book is built or refused; and
 * one that collects faults finds none exactly when the strict one takes them all. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/book.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tmi_book strict, lenient;
    tmi_faults faults = {0};
    char *text = malloc(size + 1), *rest = NULL, before[TMI_SHA256_TEXT], hash[TMI_SHA256_TEXT];
    bool taken = true;
    int64_t number = 0;
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    tmi_book_init(&strict);
    tmi_book_init(&lenient);
    memcpy(before, strict.hash, sizeof before);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        number++;
        if (tmi_chain_hash(hash, before, line, NULL) != TAMIS_OK) abort();
        taken = taken && tmi_book_add(&strict, number, line, hash, NULL, NULL) == TAMIS_OK;
        if (tmi_book_add(&lenient, number, line, hash, &faults, NULL) != TAMIS_OK) abort();
        memcpy(before, hash, sizeof before);
    }
    if (taken != (faults.count == 0)) abort();
    tmi_book_clear(&strict);
    tmi_book_clear(&lenient);
    tmi_faults_clear(&faults);
    free(text);
    return 0;
}
