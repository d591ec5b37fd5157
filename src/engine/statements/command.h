/* A client of the user's own, such as spark-sql or psql, that runs statements: its words are in the plan. It is started
 * without a shell, once per statement, gets the SQL as its standard input and answers on its standard output.
 *
 * Clients greet, print headers and prompts, go on after an error or end in the middle. So each row of an answer begins with a
 * random word that nobody else can have written, a statement always has a row, and a second statement says that the answer is
 * complete. Other lines are ignored; a row with anything but integers, NULL and words of types in it is a failure. What the
 * client writes to its standard error may quote data: it goes nowhere, or into a file that the plan names. */
#ifndef TMI_ENGINE_STATEMENTS_COMMAND_H
#define TMI_ENGINE_STATEMENTS_COMMAND_H

#include "engine/files/source.h"

/* What a client may answer to one statement before the charge. After it there is no limit: how long a list of points is
 * depends on values, and then no failure may. */
#define TMI_COMMAND_BYTES ((size_t)64 << 20)

typedef struct tmi_client tmi_client;

/* The command is copied. */
tamis_status tmi_client_new(tmi_client **client, const tmi_command *command, tamis_error *err);
void tmi_client_free(tmi_client *client);

/* Whoever is asked, while a statement runs, whether to go on; NULL: nobody. */
void tmi_client_watched(tmi_client *client, const tamis_watch *watch);

/* From now on answers may be of any length. */
void tmi_client_charged(tmi_client *client);

/* Runs a statement, with a client as the context. The message of a failure is ours, and says nothing that the client wrote. */
tamis_run_sql tmi_client_run;
bool tmi_client_was_stopped(const tmi_client *client); /* the last statement, by the watch */

#endif
