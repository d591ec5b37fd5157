/* tamis privacy: the group. */
#include "cli.h"

extern const cli_command cli_command_privacy_srs, cli_command_privacy_design, cli_command_privacy_noise,
    cli_command_privacy_amplify, cli_command_privacy_compose, cli_command_privacy_anonymous, cli_command_privacy_meaning;

static const cli_command *const members[] = {
    &cli_command_privacy_srs,     &cli_command_privacy_design,    &cli_command_privacy_noise,   &cli_command_privacy_amplify,
    &cli_command_privacy_compose, &cli_command_privacy_anonymous, &cli_command_privacy_meaning, NULL,
};

extern const cli_command cli_command_privacy;
const cli_command cli_command_privacy = {
    .name = "privacy",
    .purpose = "how private is it? sampling, noise and both, exactly",
    .about = "Answers what a guarantee is worth before anything is released, without data: which delta goes with which "
             "epsilon, how much noise a target needs, and what that means for a person. All numbers are certified: "
             "an epsilon, a delta or a scale that is printed is rounded up.",
    .members = members,
};
