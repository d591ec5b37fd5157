#include "engine/core/loose.h"

#include <string.h>

#include "base/memory.h"

static void free_points(int64_t *points, size_t count)
{
    if (points) tmi_wipe(points, count * sizeof *points);
    tmi_free(points);
}

static void free_first(tmi_loose *loose)
{
    tmi_loose_piece *piece = loose->first;
    loose->first = piece->next;
    free_points(piece->points, TMI_LOOSE_PIECE);
    free_points(piece->weights, TMI_LOOSE_PIECE);
    tmi_free(piece);
}

void tmi_loose_clear(tmi_loose *loose)
{
    while (loose->first) free_first(loose);
}

tmi_loose_piece *tmi_loose_reserve(tmi_loose *loose, size_t n)
{
    if (loose->first && TMI_LOOSE_PIECE - loose->first->count >= n) return loose->first;
    tmi_loose_piece *piece = tmi_alloc(1, sizeof *piece);
    if (!piece) return NULL;
    piece->next = loose->first;
    loose->first = piece;
    piece->points = tmi_alloc(TMI_LOOSE_PIECE, sizeof *piece->points);
    if (loose->weighted) piece->weights = tmi_alloc(TMI_LOOSE_PIECE, sizeof *piece->weights);
    if (piece->points && (!loose->weighted || piece->weights)) return piece;
    free_first(loose);
    return NULL;
}

void tmi_loose_take(tmi_loose *loose, tmi_loose *other)
{
    tmi_loose_piece **end = &other->first;
    while (*end) end = &(*end)->next;
    *end = loose->first;
    loose->first = other->first;
    other->first = NULL;
}

bool tmi_loose_take_list(int64_t **points, int64_t **weights, size_t *count, tmi_loose *loose)
{
    size_t all = 0, at = 0;
    for (const tmi_loose_piece *piece = loose->first; piece; piece = piece->next) all += piece->count;
    *points = tmi_alloc(all, sizeof **points);
    *weights = loose->weighted ? tmi_alloc(all, sizeof **weights) : NULL;
    *count = all;
    if (!*points || (loose->weighted && !*weights)) {
        tmi_free(*points);
        tmi_free(*weights);
        *points = *weights = NULL;
        *count = 0;
        return false;
    }
    for (; loose->first; free_first(loose)) {
        const tmi_loose_piece *piece = loose->first;
        memcpy(*points + at, piece->points, piece->count * sizeof **points);
        if (loose->weighted) memcpy(*weights + at, piece->weights, piece->count * sizeof **weights);
        at += piece->count;
    }
    return true;
}
