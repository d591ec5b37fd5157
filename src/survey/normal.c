#include "survey/normal.h"

#include <math.h>
#include <string.h>

#define DEPENDENT 1e-11

tamis_status tmi_normal_factor(double *matrix, size_t size, tmi_watch *watch, tamis_error *err)
{
    for (size_t j = 0; j < size; j++) {
        if (tmi_watch_beat(watch, err) != TAMIS_OK) return TAMIS_SYSTEM;
        double *row = &matrix[j * size], pivot = row[j];
        for (size_t l = 0; l < j; l++) pivot -= row[l] * row[l];
        row[j] = pivot > DEPENDENT * row[j] ? sqrt(pivot) : 0;
        for (size_t i = j + 1; i < size; i++) {
            double *below = &matrix[i * size], x = below[j];
            for (size_t l = 0; l < j; l++) x -= below[l] * row[l];
            below[j] = row[j] > 0 ? x / row[j] : 0;
        }
    }
    return TAMIS_OK;
}

void tmi_normal_solve(double *x, const double *factor, size_t size)
{
    for (size_t j = 0; j < size; j++) {
        for (size_t l = 0; l < j; l++) x[j] -= factor[j * size + l] * x[l];
        x[j] = factor[j * size + j] > 0 ? x[j] / factor[j * size + j] : 0;
    }
    for (size_t j = size; j-- > 0;) {
        for (size_t l = j + 1; l < size; l++) x[j] -= factor[l * size + j] * x[l];
        x[j] = factor[j * size + j] > 0 ? x[j] / factor[j * size + j] : 0;
    }
}

/* A pivot that is smaller than this part of its diagonal is taken as 0: what is left of it in doubles. */
#define SINGULAR 1e-10

bool tmi_positive_factor(double *L, const double *J, size_t n, double ridge)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = J[i * n + j] + (i == j ? ridge * fabs(J[i * n + i]) : 0);
            for (size_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
            if (i == j && !(sum > SINGULAR * fabs(J[i * n + i]))) return false;
            L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
        }
    }
    return true;
}

void tmi_positive_inverse(double *inverse, const double *L, size_t n)
{
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t j = 0; j < n; j++) { /* columns are rows: it is symmetric */
        inverse[j * n + j] = 1;
        tmi_normal_solve(inverse + j * n, L, n);
    }
}
