// Releases statistics of columns that a C++ program has in memory; no file is read.
//
//     c++ -std=c++11 arrays.cpp $(pkg-config --cflags --libs tamis) -o arrays
//     ./arrays book.ledger
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <tamis/tamis.h>
#include <vector>

namespace {

// What tamis hands out is freed by its own function: a unique_ptr does that.
template <typename T> using owned = std::unique_ptr<T, void (*)(T *)>;

struct text_free {
    void operator()(char *text) const { tamis_free(text); }
};

void check(tamis_status status, const tamis_error &err)
{
    if (status != TAMIS_OK) throw std::runtime_error(err.message);
}

const char plan_text[] = R"(
tamis: 1
survey: shops
source: {file: in-memory.csv}
design: {srs: {population: 5000, sample: 400}}
budget: {epsilon: 1}
privacy: {unit: shop, epsilon: 1}
columns:
  turnover: {from: 0, to: 1000, step: 1, typical: 300}
  kind: {values: [food, clothes, other]}
statistics:
  - {count: units, by: kind}
  - {total: turnover}
)";

std::string release(const char *ledger)
{
    tamis_error err = {};

    // A plan without a file: the rows are passed below, and the source of the plan is not used.
    tamis_plan *plan = nullptr;
    check(tamis_plan_read_text(&plan, "plan", plan_text, sizeof plan_text - 1, &err), err);
    const owned<tamis_plan> keeps_plan(plan, tamis_plan_free);

    // The columns. They stay ours, and stay as they are until the release is made.
    std::vector<double> turnover;
    std::vector<const char *> kind;
    static const char *const kinds[] = {"food", "clothes", "other"};
    for (int i = 0; i < 400; i++) {
        turnover.push_back(100 + (i * 37) % 500);
        kind.push_back(kinds[i % 3]);
    }
    tamis_source *rows = nullptr;
    check(tamis_source_new(&rows, static_cast<std::int64_t>(turnover.size()), &err), err);
    const owned<tamis_source> keeps_rows(rows, tamis_source_free);
    check(tamis_source_numbers(rows, "turnover", turnover.data(), &err), err);
    check(tamis_source_texts(rows, "kind", kind.data(), &err), err);

    // Nothing is written but the ledger: the folder is a null pointer.
    tamis_release_options options = {};
    options.size = sizeof options;
    options.ledger = ledger;
    options.rows = rows;
    tamis_release *made = nullptr;
    check(tamis_release_new(&made, plan, nullptr, &options, &err), err);
    const owned<tamis_release> keeps_release(made, tamis_release_free);

    char *text = nullptr;
    check(tamis_release_text(&text, made, &err), err);
    return std::unique_ptr<char, text_free>(text).get();
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: arrays LEDGER\n");
        return 2;
    }
    try {
        std::fputs(release(argv[1]).c_str(), stdout);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "arrays: %s\n", e.what());
        return 1;
    }
    return 0;
}
