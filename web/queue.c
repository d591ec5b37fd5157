/* Queues of requests, each answered by a thread of its own; and lanes, in which the latest wins.
 *
 * A page that asks for a preview after each key does not want the answers in between. Requests of one lane replace each other:
 * one that waits is answered 409 at once, one that is being worked on is ended by its watch. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server.h"

#define END_SECONDS 3

/* From here on the request belongs to the thread of libmicrohttpd, which may free it at once. */
static void answered(web_request *r) { MHD_resume_connection(r->connection); }

static void overtake(web_request *r)
{
    web_refuse(r, MHD_HTTP_CONFLICT, "overtaken", "a newer request has replaced this one");
    answered(r);
}

static web_request *next(web_queue *queue)
{
    web_request *r = NULL;
    pthread_mutex_lock(&queue->lock);
    while (!queue->first && !queue->ending) pthread_cond_wait(&queue->came, &queue->lock);
    if (queue->first) {
        r = queue->first;
        queue->first = r->next;
        queue->count--;
        r->next = NULL;
        queue->running = r;
    }
    pthread_mutex_unlock(&queue->lock);
    return r;
}

static void *work(void *context)
{
    web_queue *queue = context;
    for (web_request *r; (r = next(queue));) {
        /* what became of a release is said to the end */
        if (atomic_load(&r->server->ending) && r->route->run != web_route_job)
            web_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "busy", "the server is ending");
        else r->route->run(r);
        if (!r->answered) web_refuse(r, MHD_HTTP_INTERNAL_SERVER_ERROR, "system", "internal error");
        pthread_mutex_lock(&queue->lock);
        queue->running = NULL;
        pthread_mutex_unlock(&queue->lock);
        answered(r);
    }
    tamis_thread_done();
    return NULL;
}

bool web_queue_start(web_queue *queue)
{
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->came, NULL);
    queue->started = pthread_create(&queue->thread, NULL, work, queue) == 0;
    return queue->started;
}

void web_queue_add(web_queue *queue, web_request *r)
{
    web_request *overtaken = NULL, **at = &queue->first;
    pthread_mutex_lock(&queue->lock);
    while (*at) {
        web_request *other = *at;
        if (r->lane && other->lane && strcmp(r->lane, other->lane) == 0) {
            *at = other->next;
            other->next = overtaken;
            overtaken = other;
            queue->count--;
        } else {
            at = &other->next;
        }
    }
    if (r->lane && queue->running && queue->running->lane && strcmp(r->lane, queue->running->lane) == 0)
        atomic_store(&queue->running->overtaken, true);
    const bool full = queue->count >= WEB_WAITING || queue->ending;
    if (!full) {
        *at = r;
        queue->count++;
        pthread_cond_signal(&queue->came);
    }
    pthread_mutex_unlock(&queue->lock);
    while (overtaken) {
        web_request *other = overtaken;
        overtaken = other->next;
        other->next = NULL;
        overtake(other);
    }
    if (full) {
        web_refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "busy", "too many requests are waiting");
        answered(r);
    }
}

bool web_queue_end(web_queue *queue)
{
    struct timespec until;
    if (!queue->started) return true;
    pthread_mutex_lock(&queue->lock);
    queue->ending = true;
    pthread_cond_broadcast(&queue->came);
    pthread_mutex_unlock(&queue->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_SECONDS;
    if (pthread_timedjoin_np(queue->thread, NULL, &until) != 0) return false;
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->came);
    queue->started = false;
    return true;
}
