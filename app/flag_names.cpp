#include "flag_names.hpp"

namespace sepconv::app {

std::string with_flags(std::string_view text) {
  struct Name {
    std::string_view member, flag;
  };
  constexpr Name names[] = {
      {"OpenOptions::page", "--page"},
      {"OpenOptions::select", "--page"},
      {"OpenOptions::axes", "--axes"},
      {"OpenOptions::raw", "--raw"},
      {"OpenOptions::missing_chunks = error", "--missing-chunks error"},
      {"OpenOptions::missing_chunks = fill", "--missing-chunks fill"},
      {"OpenOptions::missing_chunks", "--missing-chunks"},
      {"CreateOptions::overwrite", "--force"},
      {"OutputOptions::compression", "--compress"},
      {"OutputOptions::tile", "--tile"},
      {"OutputOptions::planar", "--planar"},
      {"OutputOptions::shard", "--shard"},
      {"OutputOptions::zarr", "--zarr"},
      {"OutputOptions::no_predictor", "--no-predictor"},
      {"OutputOptions::pyramid = false", "--pyramid none"},
      {"OutputOptions::pyramid", "--pyramid"},
      {"OutputOptions::nearest_levels", "--pyramid nearest"},
      {"OutputOptions::cog", "--cog"},
      {"OutputOptions::big_tiff = true", "--bigtiff=yes"},
      {"OutputOptions::big_tiff = false", "--bigtiff=no"},
      {"FileOptions::orient", "--orient"},
      {"OutputOptions::to_8bit", "--to-8bit"},
      {"OutputOptions::range_of_8bit", "--to-8bit=LOW:HIGH"},
      {"OutputOptions::background = white", "--background=white"},
      {"OutputOptions::background", "--background"},
      {"PlanOptions::max_memory_bytes", "--max-memory"},
      {"PlanOptions::max_device_memory_bytes", "--max-device-memory"},
      {"PlanOptions::devices", "--device"},
      {"PlanOptions::threads", "--threads"},
      {"PlanOptions::slots", "--slots"},
      {"PlanOptions::band_rows", "--band-rows"},
      {"PlanOptions::band_cols", "--band-cols"},
      {"PlanOptions::region", "--region"},
      {"resume_file()", "--resume"},
      {"run_part()", "--part"},
      {"finish_file()", "finish"},
      {"Checkpoint::discard()", "--discard"},
      {"to_json() of a run", "run --stats"},
      {"permute_file()", "sepconv transpose --perm"},
      {"MissingOptions::none", "--nodata none"},
      {"MissingOptions::value", "--nodata"},
      {"MissingOptions::all_channels", "--nodata-bands"},
      {"MissingOptions::result", "--dst-nodata"},
      {"MissingOptions::alpha_rule", "--alpha"},
  };
  std::string result(text);
  for (const auto& [member, flag] : names) {
    for (std::size_t at = 0; (at = result.find(member, at)) != result.npos; at += flag.size())
      result.replace(at, member.size(), flag);
  }
  return result;
}

}  // namespace sepconv::app
