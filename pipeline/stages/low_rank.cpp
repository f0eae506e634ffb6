#include "pipeline/stages/low_rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace sepconv {
namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void rotate(Vector& a, Vector& b, double cosine, double sine) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}

/// Rotates pairs of rows of `rows` until all are orthogonal, and the rows of `basis` likewise.
void orthogonalise(Table& rows, Table& basis) {
  constexpr double kTolerance = 1e-15;
  constexpr int kMaxSweeps = 60;
  bool is_changed = true;
  for (int sweep = 0; sweep < kMaxSweeps && is_changed; ++sweep) {
    is_changed = false;
    for (std::size_t p = 0; p < rows.size(); ++p) {
      for (std::size_t q = p + 1; q < rows.size(); ++q) {
        const double pp = dot(rows[p], rows[p]), qq = dot(rows[q], rows[q]), pq = dot(rows[p], rows[q]);
        if (std::abs(pq) <= kTolerance * std::sqrt(pp * qq)) continue;
        is_changed = true;
        const double zeta = (qq - pp) / (2 * pq);
        const double tangent = std::copysign(1, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double cosine = 1 / std::sqrt(1 + tangent * tangent);
        rotate(rows[p], rows[q], cosine, cosine * tangent);
        rotate(basis[p], basis[q], cosine, cosine * tangent);
      }
    }
  }
}

double abs_sum(const Table& table) {
  double sum = 0;
  for (const Vector& row : table)
    for (const double value : row) sum += std::abs(value);
  return sum;
}

}  // namespace

LowRank low_rank(const Table& kernel, double tolerance, std::size_t max_terms) {
  // kernel = basis^T rows: each orthogonal row is a singular value times a vector along x.
  double largest = 0;  // the kernel is divided by it, because squares of its weights may overflow
  for (const Vector& row : kernel)
    for (const double weight : row) largest = std::max(largest, std::abs(weight));
  Table scaled = kernel;
  for (Vector& row : scaled)
    for (double& weight : row) weight /= largest > 0 ? largest : 1;
  Table rows = scaled, basis(kernel.size(), Vector(kernel.size()));
  for (std::size_t i = 0; i < basis.size(); ++i) basis[i][i] = 1;
  orthogonalise(rows, basis);
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return dot(rows[i], rows[i]); });
  LowRank result{{}, std::numeric_limits<double>::infinity()};
  Table rest = scaled;
  const double total = abs_sum(scaled);
  for (const std::size_t i : order) {
    if (result.terms.size() == max_terms || result.error <= tolerance) break;
    const double scale = std::sqrt(std::sqrt(dot(rows[i], rows[i])));  // shared by both passes
    SeparableTaps term{rows[i], basis[i]};
    for (double& tap : term.row) tap /= scale > 0 ? scale : 1;
    for (double& tap : term.col) tap *= scale;
    for (std::size_t y = 0; y < rest.size(); ++y)
      for (std::size_t x = 0; x < rest[y].size(); ++x) rest[y][x] -= term.col[y] * term.row[x];
    for (double& tap : term.col) tap *= largest;
    result.terms.push_back(std::move(term));
    result.error = total > 0 ? abs_sum(rest) / total : 0;
  }
  return result;
}

}  // namespace sepconv
