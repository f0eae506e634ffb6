// From files and what is sliced to files and what is sliced: runs, plans, permutations and products.
#include "files.hpp"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace sepconv::python {
namespace {

namespace fs = std::filesystem;

ImageJob prepare(JobEndpoints ends, const Chain& chain, const Settings& settings) {
  return settings.plan ? plan_job(std::move(ends), chain, *settings.plan, settings.files)
                       : plan_job(std::move(ends), chain, settings.run, settings.files);
}

/// A source that is an object is opened at once, by the thread that may ask it.
JobEndpoints ends_of(nb::handle source, nb::handle sink, const Settings& settings) {
  JobEndpoints ends = sink_of({sink}, settings);
  const End end{source};
  if (end.is_path()) {
    ends.input = nb::cast<fs::path>(source);
  } else {
    ends.sources = open_source(end, settings);
  }
  return ends;
}

/// The plan's chain, unless another is given next to it.
Chain chain_of(const Settings& settings, const Chain& given) {
  if (!settings.plan) return given;
  Chain planned = Chain::parse(settings.plan->stages);
  if (!given.stages().empty() && given.text() != planned.text())
    throw InvalidArgument("the plan is for another chain: '" + planned.text() + "' in it and '" +
                          given.text() + "' now; leave the chain out, or make the plan anew");
  return planned;
}

/// What is there of a result of this path that is made in several runs; null: of what is not a path.
std::optional<CheckpointState> state_of(nb::handle sink) {
  if (!End{sink}.is_path()) return std::nullopt;
  return partial_state(nb::cast<fs::path>(sink));
}

/// `discards`: an unfinished result is removed, once the run is planned.
RunReport run_job(nb::handle source, nb::handle sink, const Chain& given, const nb::dict& options,
                  bool discards, const nb::object& told) {
  Settings settings = settings_of(options);
  const Chain chain = chain_of(settings, given);
  JobEndpoints ends = ends_of(source, sink, settings);
  const std::optional<CheckpointState> left = state_of(sink);
  const fs::path output = discards ? nb::cast<fs::path>(sink) : fs::path();
  RunReport report;
  run_told(settings.run, told, [&] {
    if (discards) discard_finished(output);
    ImageJob job = prepare(std::move(ends), chain, settings);
    if (discards) Checkpoint::discard(output);
    report = run(job, settings.run);
  });
  if (left && !discards) report.plan.warnings.push_back(describe(*left));
  return report;
}

/// Its text, its description, warnings and notes.
nb::tuple plan_of_job(nb::handle source, nb::handle sink, const Chain& chain, const nb::dict& options) {
  Settings settings = settings_of(options);
  settings.files.output.overwrite = true;  // nothing is made, and the run will say that it is there
  JobEndpoints ends = ends_of(source, sink, settings);
  Plan made;
  std::string description;
  run_told(settings.run, nb::none(), [&] {
    ImageJob job = prepare(std::move(ends), chain, settings);
    description = describe(job.plan, *job.source, *job.sink);
    made = std::move(job.plan);
  });
  return nb::make_tuple(sentence_of(to_json(made)), sentence_of(description), sentences_of(made.warnings),
                        sentences_of(made.notes));
}

/// Its pixels as bytes, their shape, level, scale and notes.
nb::tuple preview_of_file(const fs::path& source, const Chain& chain, const nb::dict& options,
                          std::int64_t size, std::optional<int> level) {
  Settings settings = settings_of(options);
  Preview seen;
  run_told(settings.run, nb::none(), [&] {
    seen = preview(source, chain,
                   {.size = size,
                    .region = settings.run.region,
                    .level = level,
                    .open = settings.files.open,
                    .missing = settings.run.missing,
                    .max_memory_bytes = settings.run.max_memory_bytes,
                    .threads = settings.run.threads,
                    .stop = settings.run.stop});
  });
  const auto [rows, cols] = seen.extent;
  const nb::object shape = seen.channels == 1 ? nb::object(nb::make_tuple(rows, cols))
                                              : nb::object(nb::make_tuple(rows, cols, seen.channels));
  return nb::make_tuple(nb::bytes(seen.pixels.data(), seen.pixels.size()), shape, seen.level, seen.scale,
                        sentences_of(seen.notes));
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

/// A matrix to be read: a source, and what it is opened with.
struct Operand {
  End source;
  Settings settings;
  std::unique_ptr<RasterSet> set{};
  std::unique_ptr<Reader> reader{};

  void open() {
    set = open_source(source, settings);
    reader = only_raster(*set, "the matrix");
  }
};

struct Product {
  std::vector<Operand> operands;  ///< A, B, and what is added, if anything is
  std::unique_ptr<RasterSetWriter> sinks{};
  std::unique_ptr<Writer> out{};
  GemmPlan plan{};

  Reader& a() { return *operands[0].reader; }
  Reader& b() { return *operands[1].reader; }
  Reader* added() { return operands.size() > 2 ? operands[2].reader.get() : nullptr; }
};

void plan_product(Product& product, const JobEndpoints& end, const GemmOp& op, const Settings& settings) {
  const ImageSpec spec = gemm_result_spec(op, product.a().spec(), product.b().spec());
  const auto plan = [&] {
    product.plan = plan_gemm(op, product.a(), product.b(), product.added(), *product.out, settings.run);
  };
  if (end.make_sinks) {
    product.sinks = end.make_sinks({spec}, {});
    product.out = product.sinks->next({});
    return plan();
  }
  const LayoutCandidates geometries =
      geometries_of(end.output, spec, nullptr, settings.files.output, std::nullopt, Work::neighbours);
  plan_in_either(geometries, [&](const CreateOptions& create) {
    product.out = fill_levels(create_writer(end.output, spec, create));
    plan();
  });
}

GemmReport multiply(const std::vector<std::pair<nb::object, nb::dict>>& operands, nb::handle sink,
                    double alpha, double beta, bool trans_a, bool trans_b, const nb::dict& options,
                    const nb::object& told) {
  Settings settings = settings_of(options);
  const GemmOp op{.trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
  const JobEndpoints end = sink_of({sink}, settings);
  constexpr const char* names[] = {"the matrix A", "the matrix B", "the matrix that is added"};
  Product product;
  PathsInUse taken;
  for (const auto& [source, opening] : operands) {
    product.operands.push_back({{source}, settings_of(opening)});
    product.operands.back().settings.run.max_memory_bytes = settings.run.max_memory_bytes;
    if (product.operands.back().source.is_path())
      taken.emplace_back(nb::cast<fs::path>(source), names[product.operands.size() - 1]);
  }
  GemmReport report;
  run_told(settings.run, told, [&] {
    if (!end.make_sinks) check_not_read(end.output, taken);
    for (Operand& operand : product.operands) operand.open();
    plan_product(product, end, op, settings);
    report = run_gemm(product.a(), product.b(), product.added(), *product.out, product.plan, settings.run);
  });
  return report;
}

}  // namespace

void bind_files(nb::module_& module) {
  const auto options = nb::arg("options");
  const auto told = nb::arg("told").none();
  module.def("run", run_job, nb::arg("source"), nb::arg("sink"), nb::arg("chain"), options,
             nb::arg("discards"), told);
  module.def("plan", plan_of_job, nb::arg("source"), nb::arg("sink"), nb::arg("chain"), options);
  module.def("preview", preview_of_file, nb::arg("source"), nb::arg("chain"), options, nb::arg("size"),
             nb::arg("level").none());
  module.def("permute", permute, nb::arg("source"), nb::arg("sink"), nb::arg("permutation"), options, told);
  module.def("multiply", multiply, nb::arg("operands"), nb::arg("sink"), nb::arg("alpha"), nb::arg("beta"),
             nb::arg("trans_a"), nb::arg("trans_b"), options, told);
}

}  // namespace sepconv::python
