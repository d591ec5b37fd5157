#include "plan/names.h"

const char *tmi_statistic_kind_name(tmi_statistic_kind kind)
{
    static const char *const names[] = {
        [TMI_COUNT] = "count",
        [TMI_TOTAL] = "total",
        [TMI_MEAN] = "mean",
        [TMI_SHARE] = "share",
        [TMI_RATIO] = "ratio",
        [TMI_TABLE] = "table",
        [TMI_HISTOGRAM] = "histogram",
        [TMI_VARIANCE] = "variance",
        [TMI_QUANTILE] = "quantile",
        [TMI_MEDIAN] = "median",
        [TMI_IQR] = "iqr",
        [TMI_SHARE_BELOW] = "share_below",
        [TMI_CONTRAST_DIFFERENCE] = "difference",
        [TMI_CONTRAST_QUOTIENT] = "quotient",
        [TMI_CONTRAST_WEIGHTED] = "contrast",
        [TMI_CONTRAST_CHANGE] = "change",
        [TMI_CORRELATION] = "correlation",
        [TMI_REGRESSION] = "regression",
        [TMI_PRODUCTS] = "product",
        [TMI_POVERTY] = "poverty",
        [TMI_GINI] = "gini",
        [TMI_S80S20] = "s80s20",
    };
    return names[kind];
}

const char *tmi_model_family_name(tmi_model_family family)
{
    static const char *const names[] = {[TMI_LINEAR] = "linear", [TMI_LOGISTIC] = "logistic", [TMI_POISSON] = "poisson"};
    return names[family];
}

const char *tmi_variance_name(tmi_variance_method method)
{
    static const char *const names[] = {
        [TMI_VARIANCE_BEST] = NULL,
        [TMI_VARIANCE_EXACT] = "exact",
        [TMI_VARIANCE_HORVITZ_THOMPSON] = "horvitz_thompson",
        [TMI_VARIANCE_YATES_GRUNDY] = "yates_grundy",
        [TMI_VARIANCE_HAJEK] = "hajek",
        [TMI_VARIANCE_DEVILLE] = "deville",
        [TMI_VARIANCE_BREWER] = "brewer",
        [TMI_VARIANCE_HARTLEY_RAO] = "hartley_rao",
        [TMI_VARIANCE_OVERTON] = "overton",
        [TMI_VARIANCE_WITH_REPLACEMENT] = "with_replacement",
    };
    return names[method];
}
