/* libpq, loaded when the first connection is made: it brings Kerberos, LDAP and TLS, half of the time that `tamis --version`
 * would take, and most sources are files. libpq-fe.h gives the types; the functions are looked up by name, so nothing links
 * against libpq. */
#ifndef TMI_ENGINE_POSTGRES_API_H
#define TMI_ENGINE_POSTGRES_API_H

#include <libpq-fe.h>

#include "base/error.h"

/* Every function of libpq that we call, without its prefix. */
/* clang-format off */
#define TMI_PQ_FUNCTIONS(X) \
    X(cancel) X(clear) X(connectionNeedsPassword) X(connectionUsedPassword) X(connectPoll) X(connectStartParams) \
    X(consumeInput) X(finish) X(fname) X(freeCancel) X(ftype) X(getCancel) X(getisnull) \
    X(getlength) X(getResult) X(getvalue) X(isBusy) X(libVersion) X(nfields) X(ntuples) X(parameterStatus) X(pingParams) \
    X(resultErrorField) X(resultStatus) X(sendQuery) X(sendQueryParams) X(serverVersion) X(setNoticeReceiver) \
    X(setSingleRowMode) X(socket) X(status)
/* clang-format on */

typedef struct tmi_pq_api {
#define TMI_PQ_MEMBER(name) __typeof__(&PQ##name) name;
    TMI_PQ_FUNCTIONS(TMI_PQ_MEMBER)
#undef TMI_PQ_MEMBER
} tmi_pq_api;

/* Loads it once per process. SYSTEM if it is not installed or lacks a function. */
tamis_status tmi_pq_load(tamis_error *err);

/* The loaded functions. Needs a tmi_pq_load that succeeded. */
const tmi_pq_api *tmi_pq(void);

#endif
