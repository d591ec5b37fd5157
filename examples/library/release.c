/* Releases the statistics of a plan, as `tamis release` does:
 *
 *     cc release.c $(pkg-config --cflags --libs tamis) -o release
 *     ./release plan.yaml book.ledger published
 *
 * prints what the plan promises and how wrong its numbers will be, then publishes them in the folder `published`. The loss is
 * charged to the account of the survey in book.ledger before a value is read.                                         */
#include <stdio.h>
#include <tamis/tamis.h>

int main(int argc, char **argv)
{
    tamis_error err = {0};
    tamis_plan *plan = NULL;
    tamis_preview *preview = NULL;
    tamis_release *release = NULL;
    char *text = NULL;
    tamis_status status = TAMIS_OK;

    if (argc != 4) {
        fprintf(stderr, "usage: release PLAN.yaml LEDGER FOLDER\n");
        return 2;
    }
    const tamis_release_options options = {.size = sizeof options, .ledger = argv[2]};

    /* Before the data: a wrong plan ends here, and has cost nothing. */
    status = tamis_plan_read(&plan, argv[1], &err);
    if (status == TAMIS_OK) status = tamis_preview_new(&preview, plan, &err);
    if (status == TAMIS_OK) status = tamis_preview_text(&text, preview, TAMIS_DETAIL_SHORT, &err);
    if (status == TAMIS_OK) fputs(text, stdout);
    tamis_free(text);

    /* The release: folder `argv[3]`, all of it or nothing. */
    text = NULL;
    if (status == TAMIS_OK) status = tamis_release_new(&release, plan, argv[3], &options, &err);
    if (status == TAMIS_OK) status = tamis_release_csv(&text, release, &err);
    if (status == TAMIS_OK) printf("\n%s", text);
    else fprintf(stderr, "release: %s\n", err.message);

    tamis_free(text);
    tamis_release_free(release);
    tamis_preview_free(preview);
    tamis_plan_free(plan);
    return (int)status;
}
