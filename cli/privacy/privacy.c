/* tamis privacy: the group. */
#include "cli.h"

extern const cli_command cli_command_privacy_srs, cli_command_privacy_design, cli_command_privacy_noise,
    cli_command_privacy_amplify, cli_command_privacy_compose, cli_command_privacy_anonymous, cli_command_privacy_meaning,
    cli_command_privacy_strata;

static const cli_command *const members[] = {
    &cli_command_privacy_srs,       &cli_command_privacy_design,  &cli_command_privacy_noise,
    &cli_command_privacy_amplify,   &cli_command_privacy_strata,  &cli_command_privacy_compose,
    &cli_command_privacy_anonymous, &cli_command_privacy_meaning, NULL,
};

const cli_command cli_command_privacy = {
    .name = "privacy",
    .purpose = "how private is it? sampling, noise, and both together",
    .about = "Computes guarantees before anything is released, without data: which delta goes with which epsilon, how much noise "
             "a target needs, and what that means for a person. All numbers are certified: a printed epsilon, delta or scale is "
             "rounded up.",
    .members = members,
};
