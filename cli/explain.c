/* tamis explain: the settings and the designs in plain words. */
#include "cli.h"

#define TOPICS 64

static int unknown(const cli_call *call, const char *topic)
{
    const char *names[TOPICS + 1] = {0};
    for (size_t i = 0; i < TOPICS && tamis_explain_topic(i); i++) names[i] = tamis_explain_topic(i);
    const char *nearest = cli_nearest(topic, names);
    if (nearest) return cli_wrong_usage(call->command, "there is no topic '%s'; did you mean '%s'?", topic, nearest);
    return cli_wrong_usage(call->command, "there is no topic '%s'; 'tamis explain' lists the topics", topic);
}

static int run(const cli_call *call)
{
    const char *topic = call->operand_count > 0 ? call->operands[0] : NULL;
    tamis_error err = {0};
    char *text = NULL;
    tamis_status status = (call->json ? tamis_explain_json : tamis_explain_text)(&text, topic, &err);
    if (status == TAMIS_INVALID && topic) return unknown(call, topic);
    return status == TAMIS_OK ? cli_print(text) : cli_failed(&err, NULL);
}

const cli_command cli_command_explain = {
    .name = "explain",
    .purpose = "the ten settings and the designs, in plain words",
    .about = "Explains whose data a guarantee protects, and from whom (settings), and how much smaller epsilon becomes for an "
             "outsider under each sampling design (designs). One screen per topic. The amplified epsilon, which replaces "
             "epsilon, is computed when it is printed, and refused where nothing is proved. Without a topic: the list of topics.",
    .operands = {{"TOPIC", .help = "settings, designs, a setting such as \"sample given frame\", or a design such as srs"}},
    .examples = {{"tamis explain settings", "which one do I need?"},
                 {"tamis explain \"sample given frame\"", "what does the default assume?"},
                 {"tamis explain designs", "what does epsilon become under each design?"},
                 {"tamis explain stratified --json", "one design, for a program"}},
    .run = run,
};
