/* libFuzzer: whatever is read as a number is written and read again as the same number. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/experimental.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    tamis_number *x = NULL, *again = NULL;
    char *text = malloc(size + 1), *written = NULL, *rewritten = NULL;
    if (!text) return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    if (tamis_number_read(&x, text, NULL) == TAMIS_OK) {
        if (tamis_number_write(&written, x, NULL) != TAMIS_OK) abort();
        /* What is written may have more digits than may be read: 1e1000 / 3. */
        tamis_status status = tamis_number_read(&again, written, NULL);
        if (status == TAMIS_OK) {
            if (tamis_number_write(&rewritten, again, NULL) != TAMIS_OK || strcmp(written, rewritten) != 0) abort();
        } else if (status != TAMIS_INVALID || strlen(written) <= TAMIS_NUMBER_DIGITS) {
            abort();
        }
    } else if (x) {
        abort();
    }
    tamis_free(written);
    tamis_free(rewritten);
    tamis_number_free(x);
    tamis_number_free(again);
    free(text);
    return 0;
}
