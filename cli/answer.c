/* What every `tamis privacy` command about one mechanism prints, in this order. */
#include "target.h"

static tamis_status put_json(const cli_answer *a, cli_guarantee *g, tamis_error *err)
{
    tamis_status status = cli_guarantee_ready(g, err);
    if (status != TAMIS_OK) return status;
    a->json_head(a->what);
    cli_guarantee_json(g);
    if (a->json) a->json(a->what, g);
    puts("}");
    return TAMIS_OK;
}

static tamis_status put_text(const cli_answer *a, cli_guarantee *g, tamis_error *err)
{
    cli_paragraph(stdout, a->title, 0);
    if (a->subtitle) cli_paragraph(stdout, a->subtitle, 0);
    putchar('\n');
    tamis_status status = cli_guarantee_show(g, err);
    if (status == TAMIS_OK && a->show) status = a->show(a->what, g, err);
    if (status == TAMIS_OK) a->explain(a->what, g);
    return status;
}

int cli_answer_guarantee(const cli_answer *a, const cli_mechanism *mechanism)
{
    tamis_error err = {0};
    cli_guarantee *g = &(cli_guarantee){0};
    int code = cli_guarantee_begin(g, a->noise->call);
    if (code == 0) {
        tamis_status status = cli_guarantee_compute(g, mechanism, &err);
        if (status == TAMIS_OK && a->find) status = a->find(a->what, g, &err);
        if (status == TAMIS_OK) status = a->noise->call->json ? put_json(a, g, &err) : put_text(a, g, &err);
        code = status == TAMIS_OK ? cli_finish_output() : cli_noise_failed(a->noise, &err);
    }
    cli_guarantee_clear(g);
    return code;
}

int cli_answer_target(const cli_answer *a, const cli_noisy *noisy)
{
    tamis_error err = {0};
    cli_target target;
    if (cli_target_find(&target, a->noise, noisy, &err) != TAMIS_OK) return cli_noise_failed(a->noise, &err);
    if (a->noise->call->json) {
        a->json_head(a->what);
        cli_target_json(&target);
        puts("}");
    } else {
        cli_paragraph(stdout, a->title, 0);
        cli_target_show(&target);
        a->explain(a->what, NULL);
    }
    return cli_finish_output();
}

int cli_answer_asked(const cli_answer *a, const cli_mechanism *mechanism, const cli_noisy *noisy)
{
    return a->noise->target_eps ? cli_answer_target(a, noisy) : cli_answer_guarantee(a, mechanism);
}
