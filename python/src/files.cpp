// Runs, plans, permutations and products from files or sliceable objects to files or sliceable objects.
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

/// The endpoints of a job. An object source is opened immediately, because only this thread may call it.
JobEndpoints endpoints_of(nb::handle source, nb::handle sink, const Settings& settings) {
  JobEndpoints ends = sink_of({sink}, settings);
  const Endpoint end{source};
  if (end.is_path()) {
    ends.input = nb::cast<fs::path>(source);
  } else {
    ends.sources = open_source(end, settings);
  }
  return ends;
}

/// The plan's chain, or `given` without a plan. Throws if both are given and differ.
Chain chain_of(const Settings& settings, const Chain& given) {
  if (!settings.plan) return given;
  Chain planned = Chain::parse(settings.plan->stages);
  if (!given.stages().empty() && given.text() != planned.text())
    throw InvalidArgument("the plan is for another chain: '" + planned.text() + "' in it and '" +
                          given.text() + "' now; leave the chain out, or make a new plan");
  return planned;
}

/// `discards`: remove an unfinished result after the run is planned.
RunReport run_job(nb::handle source, nb::handle sink, const Chain& given, const nb::dict& options,
                  bool discards, const nb::object& callback) {
  Settings settings = settings_of(options);
  const Chain chain = chain_of(settings, given);
  JobEndpoints ends = endpoints_of(source, sink, settings);
  const std::string checkpoint =
      Endpoint{sink}.is_path() ? describe_checkpoint(nb::cast<fs::path>(sink)) : std::string();
  const fs::path output = discards ? nb::cast<fs::path>(sink) : fs::path();
  RunReport report;
  run_with_progress(settings.run, callback, [&] {
    if (discards) discard_completed(output);
    ImageJob job = prepare(std::move(ends), chain, settings);
    if (discards) Checkpoint::discard(output);
    report = run(job, settings.run);
  });
  if (!checkpoint.empty() && !discards) report.plan.warnings.push_back(checkpoint);
  return report;
}

/// The plan as JSON text, its description, warnings and notes.
nb::tuple plan_of_job(nb::handle source, nb::handle sink, const Chain& chain, const nb::dict& options) {
  Settings settings = settings_of(options);
  settings.files.output.overwrite = true;  // nothing is written; the run will report an existing file
  JobEndpoints ends = endpoints_of(source, sink, settings);
  Plan plan;
  std::string description;
  run_with_progress(settings.run, nb::none(), [&] {
    ImageJob job = prepare(std::move(ends), chain, settings);
    description = describe(job.plan, *job.source, *job.sink);
    plan = std::move(job.plan);
  });
  return nb::make_tuple(sentence_of(to_json(plan)), sentence_of(description), sentences_of(plan.warnings),
                        sentences_of(plan.notes));
}

/// The preview's pixels as bytes, their shape, level, scale and notes.
nb::tuple preview_of_file(const fs::path& source, const Chain& chain, const nb::dict& options,
                          std::int64_t size, std::optional<int> level) {
  Settings settings = settings_of(options);
  Preview result;
  run_with_progress(settings.run, nb::none(), [&] {
    result = preview(source, chain,
                     {.size = size,
                      .region = settings.run.region,
                      .level = level,
                      .open = settings.files.open,
                      .missing = settings.run.missing,
                      .max_memory_bytes = settings.run.max_memory_bytes,
                      .threads = settings.run.threads,
                      .stop = settings.run.stop});
  });
  const auto [rows, cols] = result.extent;
  const nb::object shape = result.channels == 1 ? nb::object(nb::make_tuple(rows, cols))
                                                : nb::object(nb::make_tuple(rows, cols, result.channels));
  return nb::make_tuple(nb::bytes(result.pixels.data(), result.pixels.size()), shape, result.level,
                        result.scale, sentences_of(result.notes));
}

RunReport permute(const fs::path& source, const fs::path& sink, const std::string& permutation,
                  const nb::dict& options, const nb::object& callback) {
  Settings settings = settings_of(options);
  RunReport report;
  run_with_progress(settings.run, callback, [&] {
    report = permute_file(source, sink, parse_permutation(permutation), settings.run, settings.files);
  });
  return report;
}

/// A matrix operand: its source and the settings for opening it.
struct Operand {
  Endpoint source;
  Settings settings;
  std::unique_ptr<RasterSet> set{};
  std::unique_ptr<Reader> reader{};

  void open() {
    set = open_source(source, settings);
    reader = only_raster(*set, "the matrix");
  }
};

struct Product {
  std::vector<Operand> operands;  ///< A, B and optionally the added matrix
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
  const LayoutCandidates geometries = layout_candidates_of(end.output, spec, nullptr, settings.files.output,
                                                           {.map = std::nullopt, .values = true});
  plan_with_fallback(geometries, [&](const CreateOptions& create) {
    product.out = fill_levels(create_writer(end.output, spec, create));
    plan();
  });
}

GemmReport multiply(const std::vector<std::pair<nb::object, nb::dict>>& operands, nb::handle sink,
                    double alpha, double beta, bool trans_a, bool trans_b, const nb::dict& options,
                    const nb::object& callback) {
  Settings settings = settings_of(options);
  const GemmOp op{.trans_a = trans_a, .trans_b = trans_b, .alpha = alpha, .beta = beta};
  const JobEndpoints end = sink_of({sink}, settings);
  constexpr const char* names[] = {"the matrix A", "the matrix B", "the matrix that is added"};
  Product product;
  PathsInUse input_paths;
  for (const auto& [source, open_options_dict] : operands) {
    product.operands.push_back({{source}, settings_of(open_options_dict)});
    product.operands.back().settings.run.max_memory_bytes = settings.run.max_memory_bytes;
    if (product.operands.back().source.is_path())
      input_paths.emplace_back(nb::cast<fs::path>(source), names[product.operands.size() - 1]);
  }
  GemmReport report;
  run_with_progress(settings.run, callback, [&] {
    if (!end.make_sinks) check_not_read(end.output, input_paths);
    for (Operand& operand : product.operands) operand.open();
    plan_product(product, end, op, settings);
    report = run_gemm(product.a(), product.b(), product.added(), *product.out, product.plan, settings.run);
  });
  return report;
}

}  // namespace

void bind_files(nb::module_& module) {
  const auto options = nb::arg("options");
  const auto callback = nb::arg("told").none();
  module.def("run", run_job, nb::arg("source"), nb::arg("sink"), nb::arg("chain"), options,
             nb::arg("discards"), callback);
  module.def("plan", plan_of_job, nb::arg("source"), nb::arg("sink"), nb::arg("chain"), options);
  module.def("preview", preview_of_file, nb::arg("source"), nb::arg("chain"), options, nb::arg("size"),
             nb::arg("level").none());
  module.def("permute", permute, nb::arg("source"), nb::arg("sink"), nb::arg("permutation"), options,
             callback);
  module.def("multiply", multiply, nb::arg("operands"), nb::arg("sink"), nb::arg("alpha"), nb::arg("beta"),
             nb::arg("trans_a"), nb::arg("trans_b"), options, callback);
}

}  // namespace sepconv::python
