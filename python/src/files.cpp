// From files and what is sliced to files and what is sliced: runs, plans, permutations and products.
#include "files.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace sepconv::python {
namespace {

namespace fs = std::filesystem;

FileJob prepare(JobEnds ends, const Chain& chain, const Settings& settings) {
  return settings.plan ? plan_job(std::move(ends), chain, *settings.plan, settings.files)
                       : plan_job(std::move(ends), chain, settings.run, settings.files);
}

/// The plan's chain, unless another is given beside it.
Chain chain_of(const Settings& settings, const Chain& given) {
  if (!settings.plan) return given;
  Chain planned = Chain::parse(settings.plan->stages);
  if (!given.stages().empty() && given.text() != planned.text())
    throw InvalidArgument("the plan is for another chain: '" + planned.text() + "' in it and '" +
                          given.text() + "' now; leave the chain out, or make the plan anew");
  return planned;
}

RunReport run_job(nb::handle source, nb::handle sink, const Chain& given, const nb::dict& options,
                  const nb::object& told) {
  Settings settings = settings_of(options);
  const Chain chain = chain_of(settings, given);
  JobEnds ends = ends_of(source, sink);
  RunReport report;
  run_told(settings.run, told, [&] {
    FileJob job = prepare(std::move(ends), chain, settings);
    report = run(job, settings.run);
  });
  return report;
}

/// Its text, its description, warnings and notes.
nb::tuple plan_of_job(nb::handle source, nb::handle sink, const Chain& chain, const nb::dict& options) {
  Settings settings = settings_of(options);
  settings.files.output.overwrite = true;  // nothing is made, and the run will say that it is there
  JobEnds ends = ends_of(source, sink);
  Plan made;
  std::string description;
  run_told(settings.run, nb::none(), [&] {
    FileJob job = prepare(std::move(ends), chain, settings);
    description = describe(job.plan, *job.source, *job.sink);
    made = std::move(job.plan);
  });
  return nb::make_tuple(to_json(made), sentence_of(description), sentences_of(made.warnings),
                        sentences_of(made.notes));
}

RunReport permute(const fs::path& source, const fs::path& sink, const std::string& permutation,
                  const nb::dict& options, const nb::object& told) {
  Settings settings = settings_of(options);
  RunReport report;
  run_told(settings.run, told, [&] {
    report = permute_file(source, sink, parse_permutation(permutation), settings.run, settings.files);
  });
  return report;
}

struct Product {
  std::unique_ptr<RasterSet> sets[3];
  std::unique_ptr<Reader> a, b, added;
  std::unique_ptr<RasterSetWriter> sinks;
  std::unique_ptr<Writer> out;
  GemmPlan plan;
};

std::unique_ptr<Reader> open_matrix(nb::handle source, const OpenOptions& options,
                                    std::unique_ptr<RasterSet>& set) {
  set = open_source(source, options);
  return only_raster(*set, "the matrix");
}

void plan_product(Product& product, nb::handle sink, const fs::path& output, const GemmOp& op,
                  const Settings& settings) {
  const ImageSpec spec = gemm_result_spec(op, product.a->spec(), product.b->spec());
  const auto plan = [&] {
    product.plan = plan_gemm(op, *product.a, *product.b, product.added.get(), *product.out, settings.run);
  };
  if (output.empty()) {
    product.sinks = open_sinks(sink, {spec}, std::nullopt);
    product.out = product.sinks->next({});
    return plan();
  }
  const Geometries geometries =
      geometries_of(output, spec, nullptr, settings.files.output, std::nullopt, Work::neighbours);
  plan_in_either(geometries, [&](const CreateOptions& create) {
    product.out = fill_levels(create_writer(output, spec, create));
    plan();
  });
}

GemmReport multiply(nb::handle a, nb::handle b, nb::handle added, nb::handle sink, double alpha, double beta,
                    bool trans_a, bool trans_b, const nb::dict& options, const nb::object& told) {
  Settings settings = settings_of(options);
  const GemmOp op{.trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
  const bool to_file = !nb::hasattr(sink, "memory"), adds = !added.is_none();
  const fs::path output = to_file ? nb::cast<fs::path>(sink) : fs::path();
  TakenFiles taken;
  for (const auto& [operand, what] : {std::pair(a, "the matrix A"), std::pair(b, "the matrix B"),
                                      std::pair(added, "the matrix that is added")})
    if (!operand.is_none() && !nb::hasattr(operand, "memory"))
      taken.emplace_back(nb::cast<fs::path>(operand), what);
  GemmReport report;
  run_told(settings.run, told, [&] {
    if (to_file) check_not_read(output, taken);
    Product product;
    product.a = open_matrix(a, settings.files.open, product.sets[0]);
    product.b = open_matrix(b, settings.files.open, product.sets[1]);
    if (adds) product.added = open_matrix(added, settings.files.open, product.sets[2]);
    plan_product(product, sink, output, op, settings);
    report = run_gemm(*product.a, *product.b, product.added.get(), *product.out, product.plan, settings.run);
  });
  return report;
}

}  // namespace

void bind_files(nb::module_& module) {
  const auto options = nb::arg("options");
  const auto told = nb::arg("told").none();
  module.def("run", run_job, nb::arg("source"), nb::arg("sink"), nb::arg("chain"), options, told);
  module.def("plan", plan_of_job, nb::arg("source"), nb::arg("sink"), nb::arg("chain"), options);
  module.def("permute", permute, nb::arg("source"), nb::arg("sink"), nb::arg("permutation"), options, told);
  module.def("multiply", multiply, nb::arg("a"), nb::arg("b"), nb::arg("added").none(), nb::arg("sink"),
             nb::arg("alpha"), nb::arg("beta"), nb::arg("trans_a"), nb::arg("trans_b"), options, told);
}

}  // namespace sepconv::python
